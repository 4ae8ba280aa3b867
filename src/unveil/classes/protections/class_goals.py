"""What must hold of every class, and whose rows have to go so that it does.

A class *fails* if it has fewer than k people, or if a sensitive column in it is not diverse enough (ℓ, α, recursive
(c, ℓ)) or too different from the whole table (t, β, δ). People in failing classes are left out. If the average risk is
still too high, those in the smallest classes are left out as well, up to the smallest size that will do.

With several sets of quasi-identifiers, leaving someone out makes classes of the other sets smaller, so this is repeated
until no class of any set fails. In what is left, all goals hold; for k and distinct ℓ, nobody else could have stayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.classes.diversity import SensitiveClasses, group_sensitive_values
from unveil.classes.protections.combinations import Combinations

if TYPE_CHECKING:
    from collections.abc import Callable

    from unveil.arrays import Floats
    from unveil.risk import Risk

_Grouping = TypeVar("_Grouping", bound="_HasClasses")

__all__ = [
    "ClassGoals",
    "ValueGoal",
    "classes_with_values",
    "count_values",
    "keep_safe_people",
    "meet_average_risk",
]

_NOISE = 1e-12  # what sums of floating-point numbers may be off by; it must not decide


@dataclass(frozen=True, eq=False)
class ValueGoal:
    """A number that every class has for a sensitive column, the most or the least that it may be, and for which risk.

    ``is_lasting``: a class that meets the goal still does after it was merged with any other."""

    risk: Risk
    column: int
    measure: Callable[[SensitiveClasses], Floats | Ints]
    limit: float
    is_lasting: bool = False

    def fails(self, classes: SensitiveClasses) -> Bools:
        """Whether each class fails."""
        found = self.measure(classes)
        failing: Bools = found < self.limit - _NOISE if self.risk.safer == "higher" else found > self.limit + _NOISE
        return failing


@dataclass(frozen=True, eq=False)
class ClassGoals:
    """What must hold for every set of quasi-identifiers, given by the places of their columns. ``average_risk`` is the
    most that the number of classes divided by that of people may be. At least ``k_map`` people of the population must
    look like every class. ``table`` holds, for each sensitive column, how
    many people of the whole table have each value, with which classes are compared, whoever is left out."""

    sets: tuple[tuple[int, ...], ...]
    k: int = 1
    average_risk: float | None = None
    values: tuple[ValueGoal, ...] = ()
    table: tuple[Ints, ...] = ()
    k_map: int = 1

    @property
    def lasting(self) -> ClassGoals:
        """The goals that fewer people fail on higher levels: if too many fail these, too many do on any level below."""
        lasting = tuple(goal for goal in self.values if goal.is_lasting)
        return replace(self, average_risk=None, values=lasting)

    def failing_classes(self, people: Combinations, class_of: Ints, classes: int, sizes: Ints | None = None) -> Bools:
        """Whether each class has too few people, or values that give away too much."""
        if sizes is None:
            sizes = np.bincount(class_of, people.people, minlength=classes)
        fails: Bools = sizes < self.k
        if people.population is not None:
            fails |= np.bincount(class_of, people.population, minlength=classes) < self.k_map
        for goal in self.values:
            found = classes_with_values(people, class_of, classes, goal.column)
            if self.table:
                found = _compare_with_table(found, self.table[goal.column])
            fails[found.key[goal.fails(found)]] = True
        return fails

    @property
    def are_lasting(self) -> bool:
        """Whether all goals are."""
        return self.average_risk is None and all(goal.is_lasting for goal in self.values)


def keep_safe_people(combinations: Combinations, goals: ClassGoals) -> Bools:
    """The combinations of people who can stay."""
    kept = np.ones(len(combinations), np.bool_)
    while True:
        some = combinations if kept.all() else combinations.select(kept)
        stays = np.ones(len(some), np.bool_)
        for columns in goals.sets:
            stays &= _stays_in_classes(some, columns, goals)
        if stays.all():
            return kept
        kept[np.flatnonzero(kept)[~stays]] = False
        if len(goals.sets) == 1 or not kept.any():  # classes stay or go as a whole
            return kept


def _stays_in_classes(people: Combinations, columns: Sequence[int], goals: ClassGoals) -> Bools:
    class_of, sizes = people.class_of(columns)
    fails = goals.failing_classes(people, class_of, len(sizes), sizes)
    if goals.average_risk is not None:
        fails |= sizes < _smallest_size(sizes[~fails & (sizes > 0)], goals.average_risk)
    stays: Bools = ~fails[class_of]
    return stays if people.population is None else stays | (people.people == 0)  # a population stays what it is


def _compare_with_table(classes: SensitiveClasses, counts: Ints) -> SensitiveClasses:
    """The same classes, beside a table in which so many people have each value."""
    codes = np.flatnonzero(counts)
    value = np.searchsorted(codes, classes.codes[classes.value]).astype(np.int32)
    return replace(classes, value=value, codes=codes, table_counts=counts[codes])


def count_values(people: Combinations, column: int) -> Ints:
    """How many people have each value of a sensitive column."""
    found = classes_with_values(people, np.zeros(len(people), np.int64), 1, column)
    counts = np.zeros(int(people.values[column].max(initial=-1)) + 1, np.int64)
    counts[found.codes[found.value]] = found.count
    return counts


def classes_with_values(people: Combinations, class_of: Ints, classes: int, column: int) -> SensitiveClasses:
    """The classes with the values of a sensitive column, without people whose value is missing."""
    codes = people.values[column]
    there = np.flatnonzero(codes >= 0)
    if people.person is None:
        return group_sensitive_values(class_of[there], classes, codes[there], people.people[there])
    pair = people.person[there].astype(np.int64) * (int(codes.max(initial=-1)) + 1) + codes[there]
    once = there[np.unique(pair, return_index=True)[1]]
    found = group_sensitive_values(class_of[once], classes, codes[once])
    _, first = np.unique(people.person[there], return_index=True)
    holders = np.bincount(class_of[there[first]], minlength=classes)
    return replace(found, holders=holders[found.key])


def _smallest_size(sizes: Ints, average_risk: float) -> int:
    """The size from which on classes can stay if classes divided by people may be at most this."""
    ordered = np.sort(sizes)[::-1]
    people, classes = np.cumsum(ordered), np.arange(1, len(ordered) + 1)
    last_of_size = np.append(ordered[1:] != ordered[:-1], True) if len(ordered) else np.empty(0, np.bool_)
    fine = np.flatnonzero(last_of_size & (classes <= average_risk * people * (1 + _NOISE)))
    return int(ordered[fine[-1]]) if len(fine) else int(ordered[0]) + 1 if len(ordered) else 1


class _HasClasses(Protocol):
    @property
    def classes(self) -> int:
        """The number of classes."""
        ...


def meet_average_risk(
    group: Callable[[ClassGoals], _Grouping | None], goals: ClassGoals, people: int
) -> _Grouping | None:
    """Group people so that all goals hold; if the average risk is still too high, in larger classes, by bisection."""

    def with_size(k: int) -> _Grouping | None:
        return group(replace(goals, k=k))

    def is_fine(found: _Grouping | None) -> bool:
        return found is not None and found.classes <= (goals.average_risk or 1.0) * people

    best = with_size(goals.k)
    if best is None or goals.average_risk is None or is_fine(best):
        return best
    low, high = goals.k, min(people, ceil(1 / goals.average_risk))  # classes of this size are enough
    if high <= low or not is_fine(best := with_size(high)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if is_fine(found := with_size(middle)):
            high, best = middle, found
        else:
            low = middle
    return best
