"""What can a column become? Its values under coarser and coarser labels, with rare ones merged, or nothing.

A *ladder* holds the steps that a column can take: unchanged, then one step for every level of its hierarchy that merges
values and still says something, and above the last one the column is left out. The hierarchy is the one that the policy
names. Without one it is made from the values:

- dates by day, month, quarter, year and decade;
- codes of equal length that contain digits, such as zip codes: fewer and fewer leading characters;
- numbers: intervals whose widths double, from a width with clearly fewer labels than numbers, unless there are very
  many distinct numbers, such as timestamps;
- other values: rare ones together, on each level more of them (at most 100,000 different values).

On any step the labels of fewer than t rows can be merged into one. A missing value stays missing and no other value
becomes missing: the fewer values a row has, the less can be known about it, which would look like protection.

The information that a column keeps is the Shannon entropy of its labels divided by that of its values, with missing as
a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count, pairwise
from math import floor, log10
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.policy import Policy
from unveil.release.codes import Codes, cast_to_text
from unveil.release.generalised_labels import parse_fraction
from unveil.run import Run
from unveil.wording import count_text, number_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.hierarchy import Hierarchy
    from unveil.release.table import Table

__all__ = [
    "ColumnLadder",
    "LadderStep",
    "code_entropy",
    "column_ladders",
    "default_rule",
    "effective_limits",
    "flat_ladder",
    "labels_on_level",
]


_FEW_NUMBERS = 20  # numbers up to which the first intervals may have a width of two
_MAX_LABEL_SHARE = 0.6  # labels of the first intervals as a share of the numbers, at most
_MAX_LABELS = 500  # labels of the first intervals, at most
_MAX_VALUES = 100_000  # distinct values up to which there are intervals or rare ones: half a minute
_MIN_CODE_LENGTH = 3  # characters of a code, at least
_RARITY_LIMITS = tuple(digit * 10**power for power in range(7) for digit in (1, 2, 5))[1:]


@dataclass(frozen=True, eq=False)
class LadderStep:
    """``labels[becomes[v]]`` is the label of value v, and ``covered[label]`` the share of the hierarchy's values that
    the label may stand for. ``description`` says what the level is, to follow the column's name, and ``rare`` counts
    the labels merged into the last one. ``level`` is the level of the hierarchy."""

    description: str
    becomes: Int32s
    labels: pa.Array
    covered: Floats
    rare: int = 0
    level: int = 0

    def label_codes(self, codes: Int32s) -> Int32s:
        """The label of each of these codes, as a position in ``labels``; −1 stays −1."""
        found: Int32s = np.append(self.becomes, np.int32(-1))[codes]
        return found


@dataclass(frozen=True, eq=False)
class ColumnLadder:
    """The steps of one column. ``steps[0]`` is the unchanged column; on level ``left_out_level`` it is left out. The
    levels come from ``hierarchy``, which was made by ``rule`` or read from the file of that name."""

    name: str
    codes: Int32s
    steps: tuple[LadderStep, ...]
    hierarchy: Hierarchy | None
    missing: tuple[str, ...] = ()
    rule: str | None = None
    _step_cache: dict[tuple[int, int], LadderStep] = field(default_factory=dict, init=False)

    @property
    def left_out_level(self) -> int:
        """The level on which the column is left out."""
        return len(self.steps)

    def step(self, level: int, rare: int = 0) -> LadderStep:
        """A step, with the labels of fewer than ``rare`` rows merged if there are several."""
        if (level, rare) not in self._step_cache:
            self._step_cache[level, rare] = self._merge_rare_labels(self.steps[level], rare)
        return self._step_cache[level, rare]

    def counts(self, level: int) -> Ints:
        """The number of rows with each label of a level."""
        codes = self.steps[level].label_codes(self.codes)
        return np.bincount(codes[codes >= 0], minlength=len(self.steps[level].labels))

    def rarity_limits(self, level: int) -> tuple[int, ...]:
        """The limits of a rising series at which more labels become rare, as long as there is one more."""
        return effective_limits(self.counts(level), _RARITY_LIMITS, so_far=1, left=1)

    def _merge_rare_labels(self, step: LadderStep, rare: int) -> LadderStep:
        import pyarrow as pa

        some = self.counts(self.steps.index(step)) < rare
        few = int(some.sum())
        if few < 2:
            return step
        texts = cast_to_text(step.labels).to_pylist()
        kept = [text for text, gone in zip(texts, some.tolist(), strict=True) if not gone]
        becomes = np.where(some, len(kept), np.cumsum(~some) - 1).astype(np.int32)
        labels = pa.array([*kept, _unused_label("other", texts, self.missing)], pa.string())
        covered = np.append(step.covered[~some], step.covered[some].sum())
        return LadderStep(step.description, becomes[step.becomes], labels, covered, few, step.level)


def effective_limits(counts: Ints, limits: Sequence[int], so_far: int, left: int) -> tuple[int, ...]:
    """The rising limits at which more labels become rare, given the ``counts`` of labels, as long as some are ``left``;
    limits at which no more than ``so_far`` are rare do not count."""
    found, ordered = list[int](), np.sort(counts)
    for t in limits:
        rare = int(np.searchsorted(ordered, t))
        if rare > len(counts) - left:
            break
        if rare > so_far:
            found, so_far = [*found, t], rare
    return tuple(found)


def column_ladders(
    table: Table, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy], policy: Policy, run: Run
) -> list[ColumnLadder]:
    """The ladders of these columns."""
    codes = table.codes(columns, policy.missing, run)
    made = []
    for place, name in enumerate(columns):
        run.progress("preparing coarser columns", place / len(columns))
        run.check()
        made.append(_column_ladder(table, name, codes[name], hierarchies.get(name), policy, run))
    return made


def _column_ladder(
    table: Table, name: str, codes: Codes, given: Hierarchy | None, policy: Policy, run: Run
) -> ColumnLadder:
    from unveil.release.policy_hierarchies import load_hierarchies

    texts = cast_to_text(codes.values).to_pylist()
    rule, hierarchy = policy.hierarchy.get(name), given
    if hierarchy is None and (rule := default_rule(texts)) is not None:
        hierarchy = load_hierarchies({name: rule}, [table], policy, run)[name]
    steps = list(flat_ladder(name, codes).steps)
    if hierarchy is not None:
        steps[0] = replace(steps[0], covered=_own_shares(hierarchy, texts))
        for level, (labels, covered) in enumerate(_labels_by_level(hierarchy, texts), 1):
            step = _make_step(_describe_level(rule, level, hierarchy), labels, covered, texts, policy.missing)
            if len(step.labels) < len(steps[-1].labels) and step.covered.min() < 1:
                steps.append(replace(step, level=level))
    return ColumnLadder(name, codes.codes, tuple(steps), hierarchy, policy.missing, rule)


def flat_ladder(name: str, codes: Codes) -> ColumnLadder:
    """A ladder without coarser levels."""
    n = len(codes.values)
    unchanged = LadderStep("", np.arange(n, dtype=np.int32), codes.values, np.full(n, 1 / max(n, 1)))
    return ColumnLadder(name, codes.codes, (unchanged,), None)


def _make_step(
    description: str, labels: Sequence[str], covered: Floats, texts: Sequence[str], missing: tuple[str, ...]
) -> LadderStep:
    """A step with these labels, one per value, and what they cover. A label that would be read as missing is
    renamed."""
    import pyarrow as pa

    there = sorted(set(labels))
    names = {label: label for label in there}
    for label in there:
        if label.strip() in missing:
            names[label] = _unused_label("other", [*there, *texts, *names.values()], missing)
    shown = sorted(names.values())
    place = {label: shown.index(name) for label, name in names.items()}
    becomes = np.array([place[label] for label in labels], np.int32)
    shares = np.zeros(len(shown))
    np.maximum.at(shares, becomes, covered)
    return LadderStep(description, becomes, pa.array(shown, pa.string()), shares)


def _unused_label(name: str, taken: Sequence[str], missing: tuple[str, ...]) -> str:
    """A label that is neither taken nor read as missing."""
    used = {text.strip().casefold() for text in (*taken, *missing)}
    return next(n for n in (name, *(f"{name} ({k})" for k in range(2, len(used) + 3))) if n not in used)


def _labels_by_level(hierarchy: Hierarchy, texts: Sequence[str]) -> Iterator[tuple[list[str], Floats]]:
    """The labels of values on each level, and the share of all values that each may stand for. A value that is itself a
    label stays up to its own level; a value that the hierarchy does not know stays unchanged."""
    start, leaf = _places_in_hierarchy(hierarchy, texts)
    covered = _own_shares(hierarchy, texts)
    for level in range(1, hierarchy.height + 1):
        labels = hierarchy.labels(level).to_pylist()
        codes = hierarchy.generalise(leaf, level)
        moved = start < level
        under = np.append(np.diff(hierarchy.leaves_under(level).indptr), 0) / len(hierarchy.values)
        covered = np.where(moved, under[codes], covered)
        yield [labels[c] if m else t for t, c, m in zip(texts, codes.tolist(), moved.tolist(), strict=True)], covered


def labels_on_level(hierarchy: Hierarchy, texts: Sequence[str], level: int) -> list[str | None]:
    """The labels of values on one level, as above; None for a value that the hierarchy does not know."""
    found = next(labels for at, (labels, _) in enumerate(_labels_by_level(hierarchy, texts), 1) if at == level)
    known = _places_in_hierarchy(hierarchy, texts)[1] >= 0
    return [label if is_known else None for label, is_known in zip(found, known.tolist(), strict=True)]


def _own_shares(hierarchy: Hierarchy, texts: Sequence[str]) -> Floats:
    """The share of the hierarchy's values that each of these values or labels stands for."""
    start, leaf = _places_in_hierarchy(hierarchy, texts)
    own = np.ones(len(texts))
    for i in np.flatnonzero((start > 0) & (leaf >= 0)).tolist():
        indptr = hierarchy.leaves_under(int(start[i])).indptr
        own[i] = np.diff(indptr)[hierarchy.generalise(leaf[i : i + 1], int(start[i]))[0]]
    return own / len(hierarchy.values)


def _places_in_hierarchy(hierarchy: Hierarchy, texts: Sequence[str]) -> tuple[Int32s, Int32s]:
    """The level of each value or label, and a value under it; the highest level and −1 if the hierarchy does not know
    it."""
    leaves = {text: place for place, text in enumerate(hierarchy.values.to_pylist())}
    below: dict[str, tuple[int, int]] = {}
    for level in range(hierarchy.height, 0, -1):
        tree = hierarchy.leaves_under(level)
        for place, label in enumerate(hierarchy.labels(level).to_pylist()):
            below[label] = level, int(tree.leaves[tree.indptr[place]])
    found = [(0, leaves[text]) if text in leaves else below.get(text, (hierarchy.height, -1)) for text in texts]
    start, leaf = np.array(found, np.int32).reshape(-1, 2).T
    return start, leaf


def _describe_level(rule: str | None, level: int, hierarchy: Hierarchy) -> str:
    """A level in words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from unveil.release.hierarchy import DATE_UNITS
    from unveil.release.top_bottom_coding import parse_coding_limits

    kind, _, numbers = (rule or "").partition(":")
    if kind == "intervals":
        return f"in intervals of {numbers.split(',')[level - 1]}" if level < hierarchy.height else ""
    if kind == "dates" and level < hierarchy.height:
        return f"by {DATE_UNITS[level - hierarchy.height]}"
    if kind == "prefixes" and level < hierarchy.height:
        length = int(numbers.split(",")[level - 1]) if numbers else hierarchy.height - level
        return f"cut to {count_text(length, 'leading character')}"
    if kind in ("top", "bottom", "ends") and level < hierarchy.height:
        low, high = parse_coding_limits(kind, numbers.split(","), "")[level - 1]
        ends = [*([f"below {low}"] if low is not None else []), *([f"from {high} on"] if high is not None else [])]
        return f"with numbers {' and '.join(ends)} together"
    if kind == "frequency" and level < hierarchy.height:
        labels = hierarchy.labels(level).take(pa.array(hierarchy.levels[level - 1].codes))
        return f"with its {number_text(pc.sum(pc.not_equal(labels, hierarchy.values)).as_py())} rarest values together"
    return f"on level {level} of {hierarchy.height} of its hierarchy"


# ---- made from values ------------------------------------------------------------------------------------------------


def default_rule(texts: Sequence[str]) -> str | None:
    """The rule for making a hierarchy from values, as a policy would name it; None if there is nothing between the
    values and a single label for all.

    >>> default_rule(["1987-06-05", "1990-01-31"]), default_rule(["81667", "04109"]), default_rule(["red", "green"])
    ('dates', 'prefixes', None)
    >>> default_rule([str(age) for age in range(17, 91)]), default_rule(["red", "green", "blue"])
    ('intervals:5,10,20,40', 'frequency')
    """
    return _rule_by_form(texts) or ("frequency" if 2 < len(texts) <= _MAX_VALUES else None)


def _rule_by_form(texts: Sequence[str]) -> str | None:
    """The rule for values that are dates, codes or numbers; None for others."""
    from unveil.release.hierarchy import is_date

    if len(texts) < 2:
        return None
    if all(is_date(text) for text in texts):
        return "dates"
    lengths = {len(text) for text in texts}
    if len(lengths) == 1 and min(lengths) >= _MIN_CODE_LENGTH and all(map(_is_code, texts)):
        return "prefixes"
    if len(texts) > _MAX_VALUES:
        return None
    numbers = [parse_fraction(text.strip()) for text in texts]
    known = sorted({number for number in numbers if number is not None})
    if len(known) < 2 or None in numbers:
        return None
    widths = _interval_widths(known)
    return f"intervals:{','.join(widths)}" if widths else None


def _is_code(text: str) -> bool:
    return text.isalnum() and any(c.isdigit() for c in text)


def _interval_widths(numbers: Sequence[Fraction]) -> list[str]:
    """Interval widths, each twice the one before, as long as there are more than two intervals."""
    most = max(
        2, min(_MAX_LABELS, int(_MAX_LABEL_SHARE * len(numbers)))
    )  # intervals on both sides of 0 are never merged
    beginnings = (2, 5, 10) if len(numbers) <= _FEW_NUMBERS else (5, 10)
    gap = float(median(b - a for a, b in pairwise(numbers)))
    power = floor(log10(gap)) - 1
    first = next(
        width
        for p in count(power)
        for b in beginnings
        if len(_occupied_intervals(numbers, width := Decimal(b) * Decimal(10) ** p)) <= most
    )
    widths = []
    while len(_occupied_intervals(numbers, first)) > 2:
        widths.append(format(first.normalize(), "f"))
        first *= 2
    return widths


def _occupied_intervals(numbers: Sequence[Fraction], width: Decimal) -> set[int]:
    wide = Fraction(width)
    return {floor(number / wide) for number in numbers}


def code_entropy(codes: Int32s) -> float:
    """Shannon entropy of codes, with −1 as a code of its own.

    >>> code_entropy(np.array([0, 1, -1, -1], np.int32))
    1.5
    """
    counts = np.bincount(codes + 1)
    share = counts[counts > 0] / max(1, len(codes))
    return float(-(share * np.log2(share)).sum()) + 0.0
