"""Microaggregation: groups of k or a few more people with similar numbers, who all get the mean of their group.

MDAV (Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, 2005):
somebody farthest from the mean of all and the k − 1 nearest to them are a group; then somebody farthest from that
person, and the k − 1 nearest; and so on, as long as 3 k are left. Of the rest, if there are 2 k, the one farthest from
their mean and the k − 1 nearest are a group, and the others the last. So a group has k to 2 k − 1 people. Numbers count
in standard deviations, times the square root of their column's weight.

The work grows with the square of the number of people, so more than 2¹⁷ are first cut in two at the median of the
number that varies most, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Floats, Int32s, Ints
from unveil.classes._microaggregation import form_groups
from unveil.classes.protections.class_goals import ClassGoals
from unveil.classes.protections.column_order import ColumnOrder
from unveil.classes.protections.combinations import Combinations
from unveil.grouping import class_ids
from unveil.release.coarse_table import RelabelledColumn
from unveil.release.codes import arrow_integers
from unveil.run import Run

__all__ = ["AveragedPeople", "average_people", "group_neighbours"]

_MAX_PEOPLE = 1 << 17  # who are grouped at a time
_WORK = 50_000_000  # distances between two checks for an interruption


@dataclass(frozen=True, eq=False)
class AveragedPeople:
    """The group of each person, and what becomes of the columns of numbers, by their places. ``lost_variance`` is the
    sum of squared distances from numbers to what is released, as a share of that to their means."""

    group: Int32s
    columns: Mapping[int, RelabelledColumn]
    lost_variance: float

    @property
    def classes(self) -> int:
        """The number of groups."""
        return int(self.group.max(initial=-1)) + 1


def average_people(
    orders: Sequence[ColumnOrder],
    people: Combinations,
    goals: ClassGoals,
    weights: Floats,
    run: Run,
    kept_columns: frozenset[int] = frozenset(),
) -> AveragedPeople | None:
    """Group people, one per combination, who agree in all columns but those of numbers; a missing number agrees with
    the same only. None if there are no numbers, or too few people agree, or a goal about sensitive values fails."""
    places = [order.place[own] for order, own in zip(orders, people.labels, strict=True)]
    chosen = [c for c, order in enumerate(orders) if order.numbers and c not in kept_columns]
    if not chosen:
        return None
    numbers = np.stack([_numbers_at(orders[c], places[c]) for c in chosen], axis=1)
    deviation = np.nanstd(numbers, axis=0)
    centred = (numbers - np.nanmean(numbers, axis=0)) / np.where(deviation > 0, deviation, 1)
    agree = [
        np.where(place < len(order.numbers), np.int32(-1), place) if c in chosen else place
        for c, (order, place) in enumerate(zip(orders, places, strict=True))
    ]
    points = np.nan_to_num(centred) * np.sqrt(weights[chosen])
    group = _group_within(points, class_ids(agree, len(people))[0], goals.k, run)
    if group is None or goals.failing_classes(people, group.astype(np.int64), int(group.max()) + 1).any():
        return None
    columns, lost = dict[int, RelabelledColumn](), 0.0
    for own, c in enumerate(chosen):
        columns[c], released = _average_column(orders[c], people.labels[c], numbers[:, own], group)
        lost += float(np.nansum(((numbers[:, own] - released) / (deviation[own] or 1)) ** 2))
    return AveragedPeople(group, columns, lost / max(1.0, float((np.nan_to_num(centred) ** 2).sum())))


def _numbers_at(order: ColumnOrder, place: Int32s) -> Floats:
    """The numbers at some places, NaN where they are missing."""
    known = np.append([float(number) for number in order.numbers], np.nan)
    found: Floats = known[np.minimum(place, len(order.numbers))]
    return found


def _group_within(points: Floats, class_of: Ints, k: int, run: Run) -> Int32s | None:
    """Groups of people of the same class."""
    order = np.argsort(class_of, kind="stable")
    found, groups = np.empty(len(points), np.int32), 0
    for some in np.split(order, np.flatnonzero(np.diff(class_of[order])) + 1):
        own = group_neighbours(points[some], k, run)
        if own is None:
            return None
        found[some] = own + groups
        groups += int(own.max()) + 1
    return found


def _average_column(
    order: ColumnOrder, labels: Int32s, numbers: Floats, group: Int32s
) -> tuple[RelabelledColumn, Floats]:
    """The column with the means of groups, with no more decimals than its numbers have; and these as numbers."""
    is_number = ~np.isnan(numbers)
    sums = np.bincount(group, np.where(is_number, numbers, 0))
    sizes = np.bincount(group, is_number)
    decimals = max(_decimals(number) for number in order.numbers)
    means = (sums / np.maximum(sizes, 1)).round(decimals) + 0.0
    used, code_of_group = np.unique(means, return_inverse=True)
    values = order.column.ladder.steps[0].labels
    shown = pa.array([f"{mean:.{decimals}f}" for mean in used.tolist()]).cast(values.type)
    codes = code_of_group[group].astype(np.int32)
    own = order.column.own[np.where(is_number, labels, 0)].clip(min=0)
    differs = pc.not_equal(values.take(arrow_integers(own)), shown.take(arrow_integers(codes)))
    changed = is_number & np.asarray(differs.to_numpy(zero_copy_only=False), np.bool_)
    return RelabelledColumn(order.column.ladder, shown, codes, changed, "averaged"), means[group]


def _decimals(number: Fraction) -> int:
    """The decimals of a number that has finitely many."""
    found = 0
    while (number * 10**found).denominator > 1:
        found += 1
    return found


def group_neighbours(points: Floats, k: int, run: Run) -> Int32s | None:
    """The group of each of the points, numbered from 0; None if there are fewer than k."""
    if len(points) < k:
        return None
    if k == 1:
        return np.arange(len(points), dtype=np.int32)
    found, groups = np.empty(len(points), np.int32), 0
    for some in _blocks(points, np.arange(len(points)), max(_MAX_PEOPLE, 2 * k)):
        own = _form_all_groups(points[some], k, run)
        found[some] = own + groups
        groups += int(own.max()) + 1
    return found


def _blocks(points: Floats, some: Ints, most: int) -> Iterator[Ints]:
    if len(some) <= most:
        yield some
        return
    widest = int(points[some].var(axis=0).argmax())
    order = some[np.argsort(points[some, widest], kind="stable")]
    for half in np.array_split(order, 2):
        yield from _blocks(points, half, most)


def _form_all_groups(points: Floats, k: int, run: Run) -> Int32s:
    space = np.vstack([points, np.zeros((1, points.shape[1]))])
    left, group = np.arange(len(points), dtype=np.int32), np.full(len(points), -1, np.int32)
    near, distances = np.empty(k, np.int32), np.empty(k)
    count, number = len(points), 0
    while count:
        run.check()
        run.progress("grouping neighbours", 1 - count / len(points))
        steps = max(1, _WORK // (4 * count * points.shape[1]))
        count, number = form_groups(space, left, count, group, number, k, near, distances, steps)
    return group
