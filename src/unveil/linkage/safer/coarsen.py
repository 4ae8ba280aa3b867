"""What a column can become: its values under coarser and coarser labels, rare ones put together, or nothing.

A *ladder* holds the steps that one column can take: as it is, then one step for every level of its hierarchy that puts
values together, and above the last of them the column is left out. The hierarchy is the one that the policy names;
without one it is made from the values:

- dates by day, month and year;
- codes of equal length with digits in them, such as zips: fewer and fewer leading characters;
- numbers: intervals whose widths double, from one at which there are clearly fewer labels than numbers, unless there
  are a great many, such as timestamps;
- all others have no levels in between.

On any step the labels of fewer than t rows can be put under one label. A missing value stays missing and nothing else
becomes missing: the fewer values a row has, the fewer can be known of it, which would pass for protection.

How much a column still tells is the Shannon entropy of its labels over that of its values, a missing value counted as
one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import count, pairwise
from math import floor, log10
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.policy import Policy
from unveil.release.codes import Codes, as_text
from unveil.release.labels import fraction
from unveil.run import Run
from unveil.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.hierarchy import Hierarchy
    from unveil.release.table import Table

__all__ = ["Ladder", "Step", "entropy", "ladders", "plain_ladder", "rule_for"]

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_FEW = 20  # numbers up to which intervals may begin with a width of two
_FEWER = 0.6  # labels of the first intervals, at most, as a share of the numbers
_LABELS = 500  # and at most so many
_NUMBERS = 100_000  # different numbers up to which there are intervals: half a minute for so many
_SHORTEST = 3  # characters of a code
_RARE = tuple(digit * 10**power for power in range(7) for digit in (1, 2, 5))[1:]
_TIMES = ("by day", "by month", "by year")


@dataclass(frozen=True, eq=False)
class Step:
    """``labels[becomes[v]]`` is what value v is called. ``said`` is the level, to stand after the column's name, and
    ``rare`` how many labels were put together into the last one."""

    said: str
    becomes: Small
    labels: pa.Array
    rare: int = 0

    def of(self, codes: Small) -> Small:
        """The labels of rows with these values; −1 stays −1."""
        found: Small = np.append(self.becomes, np.int32(-1))[codes]
        return found


@dataclass(frozen=True, eq=False)
class Ladder:
    """The steps of one column. ``steps[0]`` is the column as it is; on level ``out`` it is left out. ``hierarchy`` is
    what the levels come from."""

    name: str
    codes: Small
    steps: tuple[Step, ...]
    hierarchy: Hierarchy | None
    missing: tuple[str, ...] = ()
    _made: dict[tuple[int, int], Step] = field(default_factory=dict, init=False)

    @property
    def out(self) -> int:
        """The level on which the column is left out."""
        return len(self.steps)

    def step(self, level: int, rare: int = 0) -> Step:
        """A step, the labels of fewer than ``rare`` rows put together where there are several of them."""
        if (level, rare) not in self._made:
            self._made[level, rare] = self._together(self.steps[level], rare)
        return self._made[level, rare]

    def counts(self, level: int) -> Ints:
        """In how many rows each label of a level is."""
        codes = self.steps[level].of(self.codes)
        return np.bincount(codes[codes >= 0], minlength=len(self.steps[level].labels))

    def rarities(self, level: int) -> tuple[int, ...]:
        """How rare labels must be to be put together: the numbers of a rising series that each add some, as long as two
        labels are left."""
        counts, found, so_far = np.sort(self.counts(level)), list[int](), 1
        for t in _RARE:
            rare = int(np.searchsorted(counts, t))
            if rare > len(counts) - 1:
                break
            if rare > so_far:
                found, so_far = [*found, t], rare
        return tuple(found)

    def _together(self, step: Step, rare: int) -> Step:
        import pyarrow as pa

        some = self.counts(self.steps.index(step)) < rare
        few = int(some.sum())
        if few < 2:
            return step
        texts = as_text(step.labels).to_pylist()
        kept = [text for text, gone in zip(texts, some.tolist(), strict=True) if not gone]
        becomes = np.where(some, len(kept), np.cumsum(~some) - 1).astype(np.int32)
        labels = pa.array([*kept, _fresh("other", texts, self.missing)], pa.string())
        return Step(step.said, becomes[step.becomes], labels, few)


def ladders(
    table: Table, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy], policy: Policy, run: Run
) -> list[Ladder]:
    """The ladders of some columns."""
    codes = table.codes(columns, policy.missing, run)
    made = []
    for place, name in enumerate(columns):
        run.progress("how columns can be coarsened", place / len(columns))
        run.check()
        made.append(_ladder(table, name, codes[name], hierarchies.get(name), policy, run))
    return made


def _ladder(table: Table, name: str, codes: Codes, given: Hierarchy | None, policy: Policy, run: Run) -> Ladder:
    from unveil.release.hierarchies import hierarchies

    texts = as_text(codes.values).to_pylist()
    rule, hierarchy = policy.hierarchy.get(name), given
    if hierarchy is None and (rule := rule_for(texts)) is not None:
        hierarchy = hierarchies({name: rule}, [table], policy, run)[name]
    steps = list(plain_ladder(name, codes).steps)
    for level, labels in enumerate(_levels(hierarchy, texts), 1) if hierarchy is not None else ():
        assert hierarchy is not None
        step = _step(_said(rule, level, hierarchy), labels, texts, policy.missing)
        if 1 < len(step.labels) < len(steps[-1].labels):
            steps.append(step)
    return Ladder(name, codes.codes, tuple(steps), hierarchy, policy.missing)


def plain_ladder(name: str, codes: Codes) -> Ladder:
    """A column that has no levels."""
    return Ladder(name, codes.codes, (Step("", np.arange(len(codes.values), dtype=np.int32), codes.values),), None)


def _step(said: str, labels: Sequence[str], texts: Sequence[str], missing: tuple[str, ...]) -> Step:
    """Values with their labels. One that would be read as missing is called differently."""
    import pyarrow as pa

    there = sorted(set(labels))
    names = {label: label for label in there}
    for label in there:
        if label.strip() in missing:
            names[label] = _fresh("other", [*there, *texts, *names.values()], missing)
    shown = sorted(names.values())
    place = {label: shown.index(name) for label, name in names.items()}
    becomes = np.array([place[label] for label in labels], np.int32)
    return Step(said, becomes, pa.array(shown, pa.string()))


def _fresh(name: str, taken: Sequence[str], missing: tuple[str, ...]) -> str:
    """A label that is none of those there are, nor stands for missing."""
    used = {text.strip().casefold() for text in (*taken, *missing)}
    return next(n for n in (name, *(f"{name} ({k})" for k in range(2, len(used) + 3))) if n not in used)


def _levels(hierarchy: Hierarchy, texts: Sequence[str]) -> Iterator[list[str]]:
    """What values are called on each level. One that is itself a label stays as it is up to its level; one that the
    hierarchy does not know stays as it is."""
    leaves = {text: place for place, text in enumerate(hierarchy.values.to_pylist())}
    below: dict[str, tuple[int, int]] = {}
    for level in range(hierarchy.height, 0, -1):
        tree = hierarchy.leaves_under(level)
        for place, label in enumerate(hierarchy.labels(level).to_pylist()):
            below[label] = level, int(tree.leaves[tree.indptr[place]])
    found = [(0, leaves[text]) if text in leaves else below.get(text, (hierarchy.height, -1)) for text in texts]
    start, leaf = np.array(found, np.int32).reshape(-1, 2).T
    for level in range(1, hierarchy.height + 1):
        labels = hierarchy.labels(level).to_pylist()
        codes = hierarchy.generalise(leaf, level).tolist()
        moved = (start < level).tolist()
        yield [labels[c] if m else text for text, c, m in zip(texts, codes, moved, strict=True)]


def _said(rule: str | None, level: int, hierarchy: Hierarchy) -> str:
    """What a level is, for people."""
    kind, _, numbers = (rule or "").partition(":")
    if kind == "intervals":
        return f"in intervals of {numbers.split(',')[level - 1]}" if level < hierarchy.height else ""
    if kind == "dates" and level < hierarchy.height:
        return _TIMES[level - hierarchy.height]
    if kind == "prefixes" and level < hierarchy.height:
        length = int(numbers.split(",")[level - 1]) if numbers else hierarchy.height - level
        return f"to {counted(length, 'leading character')}"
    return f"on level {level} of {hierarchy.height} of its hierarchy"


# ---- made from values ------------------------------------------------------------------------------------------------


def rule_for(texts: Sequence[str]) -> str | None:
    """The rule by which a hierarchy of values is made, as a policy would name it; None where there is nothing between
    the values and their all.

    >>> rule_for(["1987-06-05", "1990-01-31"]), rule_for(["81667", "04109"]), rule_for(["red", "green"])
    ('dates', 'prefixes', None)
    >>> rule_for([str(age) for age in range(17, 91)])
    'intervals:5,10,20,40'
    """
    from unveil.release.hierarchy import is_date

    if len(texts) < 2:
        return None
    if all(is_date(text) for text in texts):
        return "dates"
    lengths = {len(text) for text in texts}
    if len(lengths) == 1 and min(lengths) >= _SHORTEST and all(map(_is_code, texts)):
        return "prefixes"
    if len(texts) > _NUMBERS:
        return None
    numbers = [fraction(text.strip()) for text in texts]
    known = sorted({number for number in numbers if number is not None})
    if len(known) < 2 or None in numbers:
        return None
    widths = _widths(known)
    return f"intervals:{','.join(widths)}" if widths else None


def _is_code(text: str) -> bool:
    return text.isalnum() and any(c.isdigit() for c in text)


def _widths(numbers: Sequence[Fraction]) -> list[str]:
    """Widths of intervals, each twice the one before, while there are more than two intervals."""
    most = max(2, min(_LABELS, int(_FEWER * len(numbers))))  # two are left on both sides of 0 however wide
    beginnings = (2, 5, 10) if len(numbers) <= _FEW else (5, 10)
    gap = float(median(b - a for a, b in pairwise(numbers)))
    power = floor(log10(gap)) - 1
    first = next(
        width
        for p in count(power)
        for b in beginnings
        if len(_intervals(numbers, width := Decimal(b) * Decimal(10) ** p)) <= most
    )
    widths = []
    while len(_intervals(numbers, first)) > 2:
        widths.append(format(first.normalize(), "f"))
        first *= 2
    return widths


def _intervals(numbers: Sequence[Fraction], width: Decimal) -> set[int]:
    wide = Fraction(width)
    return {floor(number / wide) for number in numbers}


def entropy(codes: Small) -> float:
    """Shannon's entropy of some codes, −1 being one of them.

    >>> entropy(np.array([0, 1, -1, -1], np.int32))
    1.5
    """
    counts = np.bincount(codes + 1)
    share = counts[counts > 0] / max(1, len(codes))
    return float(-(share * np.log2(share)).sum()) + 0.0
