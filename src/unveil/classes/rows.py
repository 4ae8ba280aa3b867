"""Rows by what an attacker knows of them: who is in a class with whom, under each reading of missing values.

Rows may stand for several people (equal rows, counted), or several rows for one person. Where missing values are
wildcards, a class is what someone sees who looks for people with the same quasi-identifiers: classes then overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.classes.missing import Missing
from unveil.classes.models import Classes, classes_of
from unveil.classes.tally import Tally
from unveil.crowds import Crowds
from unveil.errors import UnveilError
from unveil.grouping import Ints, packed, people
from unveil.release.codes import without
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.classes.wildcard import Maybe

__all__ = ["Rows", "rows_of"]

Small = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rows:
    """Some of the rows given, by their codes in the columns that the attacker knows.

    ``where`` says which rows they are (None: all). A row stands for as many people as its weight says (None: one), or
    ``person`` says whose it is. ``room``: how many values a sensitive column has at most.
    """

    known: tuple[Small, ...]
    count: int
    weights: Ints | None
    person: Small | None
    where: Ints | None
    wild: bool
    room: int
    run: Run | None = None

    @property
    def simple(self) -> bool:
        """Whether these are all rows, classes do not overlap, and every row is another person's."""
        return not self.wild and self.person is None and self.where is None

    def divided(self, columns: Sequence[Small]) -> Rows:
        """The same rows, for someone who knows further columns, in which a missing value is one of its own."""
        more = [codes if self.where is None else codes[self.where] for codes in columns]
        return replace(self, known=(*self.known, *(codes + 1 for codes in more)))  # not −1: no wildcards

    def only(self, some: Ints) -> Rows:
        """Some of these rows, as if there were no others."""
        return replace(
            self,
            known=tuple(column[some] for column in self.known),
            count=len(some),
            weights=None if self.weights is None else self.weights[some],
            person=None if self.person is None else self.person[some],
            where=None,
        )

    def classes(self, codes: Small) -> Classes:
        """The values of a column, one for each row given, in the classes; rows without one are left out."""
        codes = codes if self.where is None else codes[self.where]
        there = np.flatnonzero(codes >= 0)
        if len(there) < len(codes):
            return self.only(there).classes(codes[there])
        if self.wild:
            from unveil.classes.wildcard import maybe_classes

            return maybe_classes(self._maybe, codes, self.weights, self.run)
        key, bound = self._key
        if self.person is None:
            return classes_of(key, bound, codes, self.weights)
        of_person, who = self._people
        once = np.unique(who * (int(codes.max(initial=-1)) + 1) + codes, return_index=True)[1]
        return classes_of(of_person[who[once]], int(of_person.max(initial=-1)) + 1, codes[once])

    def crowds(self) -> Crowds:
        """How many people stand in classes of each size."""
        if self.wild:
            found = self._maybe
            return Crowds.of_classes(found.size, found.members)
        if self.person is not None:
            return Crowds.of_classes(np.bincount(self._people[0]))
        return Crowds.of_classes(self.classes(np.zeros(self._given, np.int32)).size)

    def smallest(self, below: float, limit: int) -> list[tuple[int, int]]:
        """The first row, from 0, of each of the smallest classes of fewer than ``below`` people, and the class's size;
        for rows that each stand for themselves."""
        if self.wild:
            found = self._maybe
            of_row, sizes = found.profile, found.size
        elif self.person is not None:
            of_person, who = self._people
            of_row, sizes = of_person[who], np.bincount(of_person)
        else:
            _, of_row, sizes = np.unique(self._key[0], return_inverse=True, return_counts=True)
        classes, first = np.unique(of_row, return_index=True)
        small = classes[sizes[classes] < below]
        rows = first[sizes[classes] < below]
        order = np.lexsort((rows, sizes[small]))[:limit]
        rows = rows if self.where is None else self.where[rows]
        return list(zip(rows[order].tolist(), sizes[small[order]].tolist(), strict=True))

    @property
    def _given(self) -> int:
        return self.count if self.where is None else int(self.where.max()) + 1

    @cached_property
    def _key(self) -> tuple[Ints, int]:
        return packed(self.known, self.count, self.room)

    @cached_property
    def _people(self) -> tuple[Ints, Ints]:
        assert self.person is not None
        return people(np.unique(self._key[0], return_inverse=True)[1], self.person)

    @cached_property
    def _maybe(self) -> Maybe:
        from unveil.classes.wildcard import maybe

        return maybe(self.known, self.weights, self.count, self.run)


def rows_of(
    found: Tally,
    quasi: Sequence[str],
    subject: str | None,
    missing: Missing,
    room: int = 2,
    run: Run | None = None,
) -> Rows:
    """The rows of a tally, missing values read as wanted."""
    known = tuple(without(found.columns[c], missing.in_quasi).codes for c in quasi)
    person = found.columns[subject].codes if subject else None
    rows = Rows(known, len(found), found.counts, person, None, False, room, run)
    if missing.plain or not any((codes < 0).any() for codes in known):
        return rows
    if missing.read_as == "wildcard":
        return replace(rows, wild=True)
    kept = np.flatnonzero(np.logical_and.reduce([codes >= 0 for codes in known]))
    if not len(kept):
        raise UnveilError("every row lacks one of the quasi-identifiers; read missing values differently")
    return replace(rows.only(kept), where=kept)
