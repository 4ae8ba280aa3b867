"""Rows by what an attacker knows about them, grouped into classes under each reading of missing values.

A row may stand for several people (equal rows, counted), or several rows for one person. If missing values are
wildcards, a class is what an attacker sees who looks for people with the same quasi-identifiers, so classes overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.class_sizes import ClassSizes
from unveil.classes.diversity import SensitiveClasses, group_sensitive_values
from unveil.classes.missing_values import MissingValues
from unveil.classes.tally import Tally
from unveil.errors import UnveilError
from unveil.grouping import group_people, pack_columns
from unveil.release.codes import mark_missing
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.classes.wildcard import Neighbourhoods

__all__ = ["KnownRows", "select_known_rows"]


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Some of the given rows, by their codes in the columns that the attacker knows.

    ``where`` numbers them among the given rows (None: all rows). A row stands for ``weights`` people (None: one), or
    ``person`` says whose it is. ``max_sensitive_values`` is the most values that a sensitive column has.
    """

    known: tuple[Int32s, ...]
    count: int
    weights: Ints | None
    person: Int32s | None
    where: Ints | None
    has_wildcards: bool
    max_sensitive_values: int
    run: Run | None = None

    def with_known_columns(self, columns: Sequence[Int32s]) -> KnownRows:
        """The same rows with more columns known; a missing value there is a value of its own."""
        more = [codes if self.where is None else codes[self.where] for codes in columns]
        return replace(self, known=(*self.known, *(codes + 1 for codes in more)))  # no −1, hence no wildcards

    def select(self, some: Ints) -> KnownRows:
        """Some of these rows, as if the others did not exist."""
        return replace(
            self,
            known=tuple(column[some] for column in self.known),
            count=len(some),
            weights=None if self.weights is None else self.weights[some],
            person=None if self.person is None else self.person[some],
            where=None,
        )

    def classes(self, codes: Int32s) -> SensitiveClasses:
        """The classes with the values of a column, one per given row; rows without a value are left out."""
        codes = codes if self.where is None else codes[self.where]
        if self.person is not None:  # all rows of a person tell who looks the same, also those without a value
            of_person, who = self.people_classes
            there = np.flatnonzero(codes >= 0)
            pair = who[there] * (int(codes.max(initial=-1)) + 1) + codes[there]
            once = there[np.unique(pair, return_index=True)[1]]
            found = group_sensitive_values(of_person[who[once]], int(of_person.max(initial=-1)) + 1, codes[once])
            holders = np.bincount(of_person[np.unique(who[there])], minlength=len(of_person))
            return replace(found, holders=holders[found.key])
        there = np.flatnonzero(codes >= 0)
        if len(there) < len(codes):
            return self.select(there).classes(codes[there])
        if self.has_wildcards:
            from unveil.classes.wildcard import neighbourhood_classes

            return neighbourhood_classes(self._neighbourhoods, codes, self.weights, self.run)
        return group_sensitive_values(*self._row_keys, codes, self.weights)

    def class_sizes(self) -> ClassSizes:
        """The number of people in classes of each size."""
        if self.has_wildcards:
            found = self._neighbourhoods
            return ClassSizes.from_classes(found.size, found.members)
        if self.person is not None:
            return ClassSizes.from_classes(np.bincount(self.people_classes[0]))
        everyone_alike = np.zeros(self.count, np.int32)
        return ClassSizes.from_classes(group_sensitive_values(*self._row_keys, everyone_alike, self.weights).size)

    def smallest_classes(self, below: float, limit: int) -> list[tuple[int, int]]:
        """The smallest classes of fewer than ``below`` people: the first row of each, from 0, and its size. Every row
        must stand for itself."""
        if self.has_wildcards:
            found = self._neighbourhoods
            of_row, sizes = found.row_profile, found.size
        elif self.person is not None:
            of_person, who = self.people_classes
            of_row, sizes = of_person[who], np.bincount(of_person)
        else:
            _, of_row, sizes = np.unique(self._row_keys[0], return_inverse=True, return_counts=True)
        classes, first = np.unique(of_row, return_index=True)
        small = classes[sizes[classes] < below]
        rows = first[sizes[classes] < below]
        order = np.lexsort((rows, sizes[small]))[:limit]
        rows = rows if self.where is None else self.where[rows]
        return list(zip(rows[order].tolist(), sizes[small[order]].tolist(), strict=True))

    @cached_property
    def _row_keys(self) -> tuple[Ints, int]:
        return pack_columns(self.known, self.count, self.max_sensitive_values)

    @cached_property
    def people_classes(self) -> tuple[Ints, Ints]:
        """The class of every person, and the person of every row."""
        assert self.person is not None
        return group_people(np.unique(self._row_keys[0], return_inverse=True)[1], self.person)

    @cached_property
    def _neighbourhoods(self) -> Neighbourhoods:
        from unveil.classes.wildcard import find_neighbourhoods

        return find_neighbourhoods(self.known, self.weights, self.count, self.run)


def select_known_rows(
    found: Tally,
    quasi: Sequence[str],
    subject: str | None,
    missing: MissingValues,
    max_sensitive_values: int = 2,
    run: Run | None = None,
) -> KnownRows:
    """The rows of a tally, with missing values read as ``missing`` says."""
    known = tuple(mark_missing(found.columns[c], missing.quasi_texts).codes for c in quasi)
    person = found.columns[subject].codes if subject else None
    rows = KnownRows(known, len(found), found.counts, person, None, False, max_sensitive_values, run)
    if missing.is_own_value or not any((codes < 0).any() for codes in known):
        return rows
    if missing.read_as == "wildcard":
        return replace(rows, has_wildcards=True)
    kept = np.flatnonzero(np.logical_and.reduce([codes >= 0 for codes in known]))
    if not len(kept):
        raise UnveilError("every row lacks a quasi-identifier; read missing values differently")
    return replace(rows.select(kept), where=kept)
