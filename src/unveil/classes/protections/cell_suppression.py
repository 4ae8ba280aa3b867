"""Cell suppression: hide single values of the people whose class fails, until no class does.

People with the same values left and the same values hidden are a class: a hidden value is a missing one, which is a
value of its own here. A class that is large enough in this reading is so in any other, where missing values fit
anything, or rows with missing values do not count.

A *pattern* is a set of columns to hide together; it costs the sum of their weights. Patterns are tried from the
cheapest on. With each, those who still fail and agree in all other columns become a class if that meets the goals. A
few people who stand apart are too few for a class. If k is the only goal, others who agree with them, and whose own
class is large enough without them, hide the same columns, where that costs less than hiding more of the few. Those who
are left at the end hide everything, with the people of the classes that lose least by joining them.

No algorithm is known that finds the fewest cells in reasonable time (Meyerson and Williams, On the complexity of
optimal k-anonymity, PODS 2004). What is known is a bound: whatever is hidden, somebody with some columns hidden is in a
class of people who agree in all other columns, and these are at least k in the original table as well. So nobody hides
fewer cells than the smallest pattern outside of which k people agree with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import comb

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes.protections.class_goals import ClassGoals
from unveil.classes.protections.combinations import Combinations
from unveil.grouping import class_ids
from unveil.run import Run

__all__ = ["HiddenCells", "fewest_cells", "hide_cells"]

_MAX_PATTERNS = 4096  # that are tried, beside those that hide one column more each
_MIN_PATTERNS = 64  # of them, however many combinations there are
_WORK = 200_000_000  # combinations times patterns, about a minute


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Which columns are hidden: of combination ``combination[i]``, ``people[i]`` people hide ``hidden[i]``, a flag for
    each column. A combination occurs several times if its people hide different columns. ``classes`` counts the
    classes that result."""

    combination: Ints
    people: Ints
    hidden: Bools
    classes: int = 0

    @property
    def cells(self) -> int:
        """The number of hidden cells."""
        return int(self.people @ self.hidden.sum(axis=1))

    def hidden_in_rows(self, combination_of_row: Ints, order: Ints) -> Bools:
        """What is hidden in each row; people of a combination who hide different columns are taken in an order."""
        rows = order[np.argsort(combination_of_row[order], kind="stable")]
        groups = np.argsort(self.combination, kind="stable")
        found = np.empty((len(rows), self.hidden.shape[1]), np.bool_)
        found[rows] = self.hidden[np.repeat(groups, self.people[groups])]
        return found

    def labels(self, people: Combinations) -> tuple[Int32s, ...]:
        """The labels that are left, −1 where they are hidden."""
        return tuple(
            np.where(self.hidden[:, c], np.int32(-1), own[self.combination]) for c, own in enumerate(people.labels)
        )


def hide_cells(
    people: Combinations, goals: ClassGoals, weights: Floats, run: Run, kept_columns: frozenset[int] = frozenset()
) -> HiddenCells | None:
    """Hide cells until all classes meet the goals; None if even all hidden is not enough. If k is the only goal, people
    with the same labels must be one combination."""
    class_of, sizes = people.class_of(range(len(people.labels)))
    fails = goals.failing_classes(people, class_of, len(sizes), sizes)[class_of]
    patterns = _cheapest_patterns(weights, kept_columns, len(people))
    search = _CellSearch(people, goals, weights, patterns, patterns @ weights, run)
    alone = search.assign_patterns(fails, None)
    found = alone if goals.values else search.assign_patterns(fails, search.costs_alone(alone))
    return search.hide_rest(found)


def _cheapest_patterns(weights: Floats, kept_columns: frozenset[int], work: int) -> Bools:
    """Sets of columns from the cheapest to the dearest, none first and all last: all sets, or as many of the smallest
    as can be tried if each takes so much work, and then one for each larger size."""
    free = [c for c in range(len(weights)) if c not in kept_columns]
    most = min(_MAX_PATTERNS, max(_MIN_PATTERNS, _WORK // max(1, work)))
    found = list[tuple[int, ...]]()
    for size in range(len(free) + 1):
        room = max(1, most - len(found))
        found += islice(combinations(free, size), room)
    made = np.zeros((len(found), len(weights)), np.bool_)
    for row, columns in zip(made, found, strict=True):
        row[list(columns)] = True
    return made[np.lexsort((made.sum(axis=1), (made @ weights).round(9)))]


@dataclass(frozen=True, eq=False)
class _Assignment:
    """The pattern of each combination, and of those who hide more: their combination, pattern and number. ``is_open``
    marks combinations that have found no class."""

    pattern: Ints
    is_open: Bools
    donors: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class _CellSearch:
    """Who must hide something, and the patterns by cost."""

    people: Combinations
    goals: ClassGoals
    weights: Floats
    patterns: Bools
    costs: Floats
    run: Run

    def assign_patterns(self, fails: Bools, costs_alone: Floats | None) -> _Assignment:
        """Give each failing combination the first pattern with which it is in a class that does not fail. Given what
        each costs without others, others hide columns as well where that is cheaper."""
        pattern = np.where(fails, len(self.patterns) - 1, 0)
        is_open, donors = fails.copy(), list[tuple[int, int, int]]()
        spare = np.where(fails, 0, np.maximum(self.people.people - self.goals.k, 0))
        for p in range(1, len(self.patterns)):
            if not is_open.any():
                break
            self.run.check()
            some = np.flatnonzero(is_open)
            if costs_alone is None:
                fine = self._fine_alone(some, p)
            else:
                fine, given = self._fine_together(some, p, spare, costs_alone)
                donors += given
            pattern[some[fine]] = p
            is_open[some[fine]] = False
        return _Assignment(pattern, is_open, tuple(donors))

    def costs_alone(self, found: _Assignment) -> Floats:
        """What each person of a combination costs; those without a class need others who hide everything with them."""
        costs = self.costs[found.pattern]
        few = max(1, int(self.people.people[found.is_open].sum()))
        costs[found.is_open] *= max(1.0, self.goals.k / few)
        return costs

    def _keys(self, some: Ints, pattern: int) -> tuple[Ints, int]:
        """The class of each combination without the columns of a pattern."""
        shown = [own[some] for own, gone in zip(self.people.labels, self.patterns[pattern], strict=True) if not gone]
        return class_ids(shown, len(some)) if shown else (np.zeros(len(some), np.int64), 1)

    def _fine_alone(self, some: Ints, pattern: int) -> Bools:
        key, keys = self._keys(some, pattern)
        fine: Bools = ~self.goals.failing_classes(self.people.select(some), key, keys)[key]
        return fine

    def _fine_together(
        self, some: Ints, pattern: int, spare: Ints, costs_alone: Floats
    ) -> tuple[Bools, list[tuple[int, int, int]]]:
        """Which combinations are in a class that is large enough, with others who hide the same columns."""
        pool = np.flatnonzero(spare)
        key, keys = self._keys(np.concatenate([some, pool]), pattern)
        own, theirs = key[: len(some)], key[len(some) :]
        counts, cost = self.people.people[some], self.costs[pattern]
        few = np.bincount(own, counts, minlength=keys).astype(np.int64)
        others = np.bincount(theirs, spare[pool], minlength=keys).astype(np.int64)
        saved = np.bincount(own, counts * (costs_alone[some] - cost), minlength=keys)
        lacking = np.where(few > 0, np.maximum(self.goals.k - few, 0), 0)
        is_last = pattern == len(self.patterns) - 1
        fine = (few > 0) & ((lacking == 0) | ((lacking <= others) & ((lacking * cost <= saved) | is_last)))
        given = list[tuple[int, int, int]]()
        for group in np.flatnonzero(fine & (lacking > 0)).tolist():
            wanted = int(lacking[group])
            for c in pool[theirs == group].tolist():
                taken = min(wanted, int(spare[c]))
                spare[c] -= taken
                wanted -= taken
                given += [(c, pattern, taken)] if taken else []
        return fine[own], given

    def hide_rest(self, found: _Assignment) -> HiddenCells | None:
        """Everybody's hidden columns; those without a class hide everything, with whole classes that join them."""
        combination = np.append(np.arange(len(self.people)), [c for c, _, _ in found.donors]).astype(np.int64)
        pattern = np.append(found.pattern, [p for _, p, _ in found.donors]).astype(np.int64)
        counts = np.append(self.people.people, [n for _, _, n in found.donors]).astype(np.int64)
        for c, _, n in found.donors:
            counts[c] -= n
        there = counts > 0
        return self._join_open(HiddenCells(combination[there], counts[there], self.patterns[pattern[there]]))

    def _join_open(self, made: HiddenCells) -> HiddenCells | None:
        """Let those who fail hide everything, and then whole classes, those that lose least first, until nobody
        fails."""
        everything, hidden = self.patterns[-1], made.hidden.copy()
        kept = class_ids(
            [own[made.combination] for own, gone in zip(self.people.labels, everything, strict=True) if not gone],
            len(hidden),
        )[0]
        while True:
            self.run.check()
            found = replace(made, hidden=hidden)
            class_of, fails = self._failing_people(found)
            if not fails.any():
                return replace(found, classes=int(class_of.max(initial=-1)) + 1)
            can_lose = (hidden != everything).any(axis=1)
            if (fails & can_lose).any():
                hidden[fails] = everything
                continue
            joins = can_lose & np.isin(kept, kept[fails])
            if not joins.any():
                return None
            lost = np.bincount(class_of, made.people * ((everything & ~hidden) @ self.weights))
            best = class_of[joins][np.argmin(lost[class_of[joins]])]
            hidden[joins & (class_of == best)] = everything

    def _failing_people(self, found: HiddenCells) -> tuple[Ints, Bools]:
        """The class of each group of people by what they show, and whether it fails."""
        class_of, classes = class_ids(found.labels(self.people), len(found.people))
        shown = Combinations((), tuple(own[found.combination] for own in self.people.values), found.people)
        return class_of, self.goals.failing_classes(shown, class_of, classes)[class_of]


def fewest_cells(
    people: Combinations, k: int, is_missing: Bools, run: Run, kept_columns: frozenset[int] = frozenset()
) -> int:
    """What has to be hidden at least so that all classes have k people. ``is_missing[combination, column]``: nothing is
    left to hide there."""
    patterns = _cheapest_patterns(np.ones(len(people.labels)), kept_columns, len(people))
    is_missing = is_missing & patterns[-1]
    sizes = patterns.sum(axis=1)
    free, size = len(people.labels) - len(kept_columns), 0  # all patterns of up to this size are there
    while size < free and int((sizes == size + 1).sum()) == comb(free, size + 1):
        size += 1
    needed = np.full(len(people), size + 1 if size < free else free) - is_missing.sum(axis=1)
    is_open = np.ones(len(people), np.bool_)
    for pattern in patterns[sizes <= size]:
        if not is_open.any():
            break
        run.check()
        shown = [own for own, gone in zip(people.labels, pattern, strict=True) if not gone]
        key, keys = class_ids(shown, len(people)) if shown else (np.zeros(len(people), np.int64), 1)
        is_large = np.bincount(key, people.people, minlength=keys) >= k
        served = is_open & is_large[key] & ~(is_missing & ~pattern).any(axis=1)
        needed[served] = int(pattern.sum()) - is_missing[served].sum(axis=1)
        is_open &= ~served
    return int(people.people @ np.maximum(needed, 0))
