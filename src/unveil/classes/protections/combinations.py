"""Distinct combinations of quasi-identifiers and sensitive values, and how many people have each.

That is all a search needs to know about a table. On coarser levels, combinations that have become equal are put
together, so the work on a level depends on the number of combinations of a finer one, never on the number of rows.

With several rows per person, a combination belongs to a person, and each counts once for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unveil.arrays import Bools, Int32s, Ints
from unveil.classes.known_rows import KnownRows
from unveil.grouping import pack_columns

__all__ = ["Combinations"]

_DENSE = 4  # keys up to so many times the combinations are counted in an array; otherwise they are sorted


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combination i has the label ``labels[c][i]`` in quasi-identifier c and the value ``values[s][i]`` in sensitive
    column s. ``people[i]`` people have it; or it is one of those that ``person[i]`` has. ``are_distinct`` if no two
    combinations are known to be equal. ``population[i]`` people of a population that the attacker knows have the
    combination's labels; those who are not in the table have combinations of their own, with no people."""

    labels: tuple[Int32s, ...]
    values: tuple[Int32s, ...]
    people: Ints
    person: Int32s | None = None
    are_distinct: bool = False
    population: Ints | None = None

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def total(self) -> int:
        """The number of people."""
        return int(self.people.sum()) if self.person is None else len(np.unique(self.person))

    def coarsen(self, becomes: Sequence[Int32s | None]) -> Combinations:
        """The combinations after label x of column c has become ``becomes[c][x]``; None if the column stays."""
        labels = [own if map_ is None else map_[own] for own, map_ in zip(self.labels, becomes, strict=True)]
        columns = [*labels, *self.values, *([] if self.person is None else [self.person])]
        weights = [self.people] if self.population is None else [self.people, self.population]
        first, (people, *population) = _put_together(*pack_columns(columns, len(self)), weights)
        if self.person is not None:
            people = np.ones(len(first), np.int64)
        return Combinations(
            tuple(own[first] for own in labels),
            tuple(own[first] for own in self.values),
            people,
            None if self.person is None else self.person[first],
            are_distinct=True,
            population=population[0] if population else None,
        )

    def with_population(self, others: Combinations) -> Combinations:
        """These combinations, and after them those of a population; each person is in a combination of their own."""
        assert others.population is not None and self.person is None
        return Combinations(
            tuple(np.concatenate(both) for both in zip(self.labels, others.labels, strict=True)),
            tuple(np.append(own, np.full(len(others), -1, np.int32)) for own in self.values),
            np.append(self.people, np.zeros(len(others), np.int64)),
            population=np.append(np.zeros(len(self), np.int64), others.population),
        )

    def distinct(self) -> tuple[Combinations, Ints]:
        """Equal combinations put together, and the place of each among them."""
        columns = [*self.labels, *self.values, *([] if self.person is None else [self.person])]
        keys, _ = pack_columns(columns, len(self))
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        found = replace(self.select(first), are_distinct=True)
        if self.person is not None:
            return found, place
        return replace(found, people=np.bincount(place, self.people).astype(np.int64)), place

    def with_labels(self, labels: Sequence[Int32s]) -> Combinations:
        """The same combinations under other labels."""
        return replace(self, labels=tuple(labels), are_distinct=False)

    def select(self, some: Bools | Ints) -> Combinations:
        """Some of the combinations, as if there were no others."""
        return Combinations(
            tuple(own[some] for own in self.labels),
            tuple(own[some] for own in self.values),
            self.people[some],
            None if self.person is None else self.person[some],
            self.are_distinct,
            None if self.population is None else self.population[some],
        )

    def _known_rows(self, columns: Sequence[int]) -> KnownRows:
        return KnownRows(tuple(self.labels[c] for c in columns), len(self), None, self.person, None, False, 2)

    def class_of(self, columns: Sequence[int]) -> tuple[Ints, Ints]:
        """The class of each combination to an attacker who knows these columns, and the number of people in each."""
        if self.person is not None:
            of_person, who = self._known_rows(columns).people_classes
            return of_person[who], np.bincount(of_person)
        if self.are_distinct and not self.values and len(columns) == len(self.labels):
            return np.arange(len(self)), self.people
        key, bound = pack_columns([self.labels[c] for c in columns], len(self))
        if bound <= _DENSE * len(self):
            return key, np.bincount(key, self.people, minlength=bound).astype(np.int64)
        _, ids = np.unique(key, return_inverse=True)
        return ids, np.bincount(ids, self.people).astype(np.int64)


def _put_together(key: Ints, bound: int, weights: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """The first place of each key, and the sums of its weights; in the order of keys."""
    if bound <= _DENSE * len(key):
        first = np.empty(bound, np.int64)
        first[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # the last assignment wins
        there = np.flatnonzero(np.bincount(key, minlength=bound))
        return first[there], [np.bincount(key, own, minlength=bound)[there].astype(np.int64) for own in weights]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(key) else np.empty(0, np.int64)
    return order[starts], [np.add.reduceat(own[order], starts) if len(starts) else own[:0] for own in weights]
