"""Whom would someone look for? The records of the people in a table, one for each.

In a table with one row per person, a record holds the quasi-identifiers of a row; with several rows, all values of
these that are in one of them. In ratings it holds what a person rated, how, and when.

Records are put into an order of their values, so that what is drawn does not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.grouping import people as people_in
from unveil.linkage.copies import copies, grouped, same
from unveil.linkage.records import Records, ratings_in_order, records_of, records_of_ratings
from unveil.linkage.similarity import equal
from unveil.release.codes import Codes, arrow_numbers
from unveil.run import Run
from unveil.wording import counted, shown

if TYPE_CHECKING:
    from unveil.linkage.similarity import Similarity
    from unveil.policy import Policy
    from unveil.release.table import Table

__all__ = ["People", "check_ratings", "people_of_ratings", "people_of_rows", "people_of_several_rows"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """Their ``records``, the (first) row of each, from 0, and how many ``equals`` are as good as each: those that are
    the same in everything that is released, itself included. ``one``, ``many`` and ``thing`` are what to call a person,
    people, and what is known of them; ``among`` the columns that it comes from. ``left_out`` rows say too little.
    """

    records: Records
    row: Ints
    equals: Ints
    one: str
    many: str
    thing: str
    among: tuple[str, ...]
    left_out: int = 0

    @property
    def rated(self) -> bool:
        """Whether these are people with ratings, and not rows of a table."""
        return self.thing == "rating"

    @property
    def who(self) -> str:
        """People who, rows that."""
        return "that" if self.one == "row" else "who"

    @property
    def values(self) -> str:
        """What there is to know of each."""
        return "ratings" if self.rated else "values"

    @property
    def support(self) -> Ints:
        """How many things there are to know of each."""
        return self.records.support // self.records.together


def people_of_rows(
    table: Table, columns: tuple[str, ...], policy: Policy, similarities: Mapping[str, Similarity], run: Run
) -> People:
    """Every row is a person, known by these columns."""
    records = records_of(table, columns, policy.missing, similarities, run)
    order, fresh = grouped(records, records.value, run)
    kind = np.cumsum(fresh) - 1
    equals = np.empty(records.n, np.int64)
    equals[order] = np.bincount(kind, minlength=1)[kind]
    equals = _equal_rows(table, equals, policy, run)
    row = order[np.lexsort((equals[order], kind))]
    return People(records.only(row), row, equals[row], "row", "rows", "column", columns)


def _equal_rows(table: Table, like: Ints, policy: Policy, run: Run) -> Ints:
    """How many rows are the same in all columns, those that name people aside, where so many are ``like`` each in
    some."""
    found = np.ones(len(like), np.int64)
    rows = np.flatnonzero(like > 1)
    names = [c for c in table.columns if c not in policy.identifier]
    kind = same([own.codes[rows] for own in table.codes(names, policy.missing, run).values()], len(rows))
    found[rows] = np.bincount(kind, minlength=1)[kind]
    return found


def people_of_several_rows(table: Table, columns: tuple[str, ...], policy: Policy, run: Run) -> People:
    """Every person is known by the values of these columns in their rows, each of which they have or have not."""
    assert policy.subject is not None
    who = table.codes([policy.subject], policy.missing, run)[policy.subject]
    owners, things, size = list[Ints](), list[Ints](), 0
    for own in table.codes(columns, policy.missing, run).values():
        there = np.flatnonzero(own.codes >= 0)
        owners.append(who.codes[there].astype(np.int64))
        things.append(size + own.codes[there].astype(np.int64))
        size += len(own.values)
    owner, thing = (np.concatenate(parts).astype(np.int32) for parts in (owners, things))
    records = records_of_ratings(replace(who, codes=owner), Codes(thing, arrow_numbers(np.arange(size))))
    names = [c for c in table.columns if c in columns or c not in (*policy.identifier, policy.subject)]
    shows = same([own.codes for own in table.codes(names, policy.missing, run).values()], table.rows)
    kind, _ = people_in(same([shows, _times(shows, who.codes)], table.rows), who.codes)
    first = _first_rows(who)
    return People(records, first, np.bincount(kind)[kind], "person", "people", "value", columns)


def _times(shows: Ints, who: npt.NDArray[np.int32]) -> Ints:
    """How many rows of the same person before each one show the same."""
    order = np.lexsort((shows, who))
    fresh = np.append(True, (np.diff(shows[order]) != 0) | (np.diff(who[order]) != 0))[: len(order)]
    place = np.arange(len(order))
    found = np.empty(len(order), np.int64)
    found[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    return found


def _first_rows(who: Codes) -> Ints:
    first = np.full(len(who.values), len(who.codes), np.int64)
    np.minimum.at(first, who.codes, np.arange(len(who.codes)))
    return first


def people_of_ratings(table: Table, policy: Policy, similarities: Mapping[str, Similarity], run: Run) -> People:
    """Every person is known by what they rated."""
    columns = policy.ratings
    user, item, *more = table.codes(columns, policy.missing, run).values()
    value, date = (*more, None, None)[:2]
    said = [similarities.get(c, equal()) for c in (*columns[2:], "", "")]
    records = records_of_ratings(user, item, value, date, (said[0], said[1]))
    first = _first_rows(user)
    gone = [own.codes < 0 for own in (value, date) if own is not None]
    left_out = int(np.logical_or.reduce(gone).sum()) if gone else 0
    return People(records, first, copies(records, run), "person", "people", "rating", columns[1:], left_out)


def check_ratings(table: Table, policy: Policy, similarities: Mapping[str, Similarity]) -> None:
    """Refuse ratings that cannot be right."""
    codes = table.codes(policy.ratings, policy.missing)
    for column in policy.ratings[:2]:
        gone = int((codes[column].codes < 0).sum())
        if gone:
            raise UnveilError(
                f"{shown(table.name)}: {counted(gone, 'row')} without a value in {shown(column)!r}; leave them out"
            )
    for column in policy.ratings[2:]:
        if column in similarities:
            similarities[column].numbers(codes[column].values, column)
    try:
        ratings_in_order(*codes.values())
    except UnveilError as error:
        raise UnveilError(f"{shown(table.name)}: {error}") from None
