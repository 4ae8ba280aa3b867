"""A column before and after protection, with its values in few groups.

Numbers and dates are cut into tenths of the original rows; of other values, the nine most common are groups of their
own, and all others are one. Missing values are a further group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from unveil.arrays import Floats, Ints
from unveil.release.codes import Codes, cast_to_text
from unveil.release.column_profile import cast_to_numbers
from unveil.release.generalised_labels import ROOT_LABEL, parse_interval
from unveil.release.hierarchy import Hierarchy
from unveil.release.label_matching import LabelMatcher, hierarchy_matcher, match_labels
from unveil.release.row_order import ordered_ranks

__all__ = ["ComparedColumn", "compare_column", "hide_column"]

_GROUPS = 10
_MAX_PAIRS = 20_000_000  # of values and labels that are compared as texts


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column before and after protection.

    ``value_of_row`` is the code of each original row's value, −1 for none, and ``group_of_row`` its group, the last for
    missing values. ``label_of_row`` is the place of
    each released row's label in ``group_shares``, which holds how likely a label is to mean each group. ``numbers`` and
    ``label_numbers`` are the number in each original row and the mean of what each label covers, NaN for none; None if
    the column has no numbers. ``has_new_labels``: some label is none of the values that the column had, or hides one.
    """

    name: str
    value_of_row: Ints
    group_of_row: Ints
    label_of_row: Ints
    group_shares: Floats
    numbers: Floats | None
    label_numbers: Floats | None
    has_new_labels: bool

    @property
    def groups(self) -> int:
        """How many groups there are, that of missing values included."""
        return int(self.group_shares.shape[1])


def compare_column(name: str, before: Codes, after: Codes, hierarchy: Hierarchy | None) -> ComparedColumn | None:
    """The column in groups; None if it has so many labels and values that they cannot be compared."""
    values, labels = (cast_to_text(c.values).to_pylist() for c in (before, after))
    group_of_value, groups = _group_values(before)
    numbers = cast_to_numbers(before.values)
    covered = _covered_values(values, labels, numbers, hierarchy)
    if covered is None:
        return None
    shares, means = np.zeros((len(labels) + 1, groups + 1)), np.full(len(labels) + 1, np.nan)
    for label, (members, own_number) in enumerate(covered):
        shares[label, :groups] = np.bincount(group_of_value[members], minlength=groups) / max(1, len(members))
        means[label] = own_number if own_number is not None else numbers[members].mean() if len(members) else np.nan
    gone = _share_hidden(before, after)
    shares[-1, :groups], shares[-1, -1] = (
        gone * np.bincount(group_of_value, minlength=groups) / max(1, len(values)),
        1 - gone,
    )
    has_numbers = len(values) > 0 and not np.isnan(numbers).any() and not any(map(_is_code, values))
    return ComparedColumn(
        name,
        before.codes.astype(np.int64),
        np.append(group_of_value, groups)[before.codes],
        np.where(after.codes < 0, len(labels), after.codes).astype(np.int64),
        shares,
        np.append(numbers, np.nan)[before.codes] if has_numbers else None,
        means if has_numbers else None,
        gone > 0 or not set(labels) <= set(values),
    )


def _share_hidden(before: Codes, after: Codes) -> float:
    """The share of the release's missing values that were not missing before, judging by how many there are."""
    was, now = (int((c.codes < 0).sum()) for c in (before, after))
    return 1 - was / now if now > was else 0.0


def hide_column(name: str, before: Codes, rows: int) -> ComparedColumn:
    """A column that was left out: every released row hides its value."""
    everything = Codes(np.zeros(rows, np.int32), pa.array([ROOT_LABEL]))
    found = compare_column(name, before, everything, None)
    assert found is not None
    missing = float((before.codes < 0).mean()) if len(before.codes) else 0.0
    shares = found.group_shares.copy()
    shares[0] *= 1 - missing
    shares[0, -1] = missing
    return replace(found, group_shares=shares)


def _is_code(text: str) -> bool:
    """Whether a text of digits is a code: 02139 is no number."""
    return text[:1] == "0" and text[1:2].isdigit()


def _group_values(column: Codes) -> tuple[Ints, int]:
    """The group of each value, and how many groups there are."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    if len(counts) <= _GROUPS:
        return np.arange(len(counts)), max(1, len(counts))
    ranks, is_ordered = ordered_ranks(replace(column, codes=np.arange(len(counts), dtype=np.int32)))
    if not is_ordered:
        common = np.argsort(-counts, kind="stable")[: _GROUPS - 1]
        found = np.full(len(counts), _GROUPS - 1)
        found[common] = np.arange(_GROUPS - 1)
        return found, _GROUPS
    below = np.cumsum(np.bincount(ranks, counts)) - np.bincount(ranks, counts) / 2
    tenth = np.minimum((below * _GROUPS / counts.sum()).astype(np.int64), _GROUPS - 1)
    _, dense = np.unique(tenth, return_inverse=True)
    return dense[ranks], int(dense.max()) + 1


def _covered_values(
    values: Sequence[str], labels: Sequence[str], numbers: Floats, hierarchy: Hierarchy | None
) -> list[tuple[Ints, float | None]] | None:
    """The values that each label covers, and its own number if it is one that no row had. A label that covers none
    hides everything."""
    place = {value: i for i, value in enumerate(values)}
    everything = np.arange(len(values))
    found: list[tuple[Ints, float | None] | None] = [
        (everything, None) if text == ROOT_LABEL else (np.array([place[text]]), None) if text in place else None
        for text in labels
    ]
    if len(values) and not np.isnan(numbers).any():
        _cover_intervals(found, labels, numbers)
    left = [i for i, known in enumerate(found) if known is None]
    if len(left) * len(values) > _MAX_PAIRS:
        return None
    matcher: LabelMatcher = match_labels if hierarchy is None else hierarchy_matcher(hierarchy)
    at, label = (np.asarray(a) for a in matcher(values, [labels[i] for i in left]))
    by_label = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[by_label], np.arange(len(left) + 1))
    for i, begin, end in zip(left, ends[:-1], ends[1:], strict=True):
        found[i] = (at[by_label[begin:end]] if begin < end else everything, None)
    return [known for known in found if known is not None]


def _cover_intervals(found: list[tuple[Ints, float | None] | None], labels: Sequence[str], numbers: Floats) -> None:
    """Fill in the numbers that intervals cover. A single number that no row had is in the group of the nearest."""
    order = np.argsort(numbers, kind="stable")
    rising = numbers[order]
    for i, text in enumerate(labels):
        interval = None if found[i] is not None else parse_interval(text)
        if interval is None:
            continue
        begin = int(np.searchsorted(rising, interval.low, "left" if interval.low_closed else "right"))
        end = int(np.searchsorted(rising, interval.high, "right" if interval.high_closed else "left"))
        if begin < end:
            found[i] = (order[begin:end], None)
        elif interval.low == interval.high:
            nearest = int(np.abs(rising - interval.low).argmin())
            found[i] = (order[nearest : nearest + 1], interval.low)
