"""Who would an attacker look for? One record for each person in a table.

If every row is a person, the record holds the quasi-identifiers of the row. If a person has several rows, the record
holds every quasi-identifier value that occurs in one of them. For ratings it holds what the person rated, how, and
when.

Records are sorted by their values, so that random draws do not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.grouping import class_ids, group_people
from unveil.linkage.equal_records import count_copies, group_equal_records
from unveil.linkage.records import Records, records_from_codes, records_from_ratings, sorted_rating_rows
from unveil.linkage.similarity import equal_values
from unveil.release.codes import Codes, arrow_integers
from unveil.run import Run
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    from unveil.linkage.similarity import Similarity
    from unveil.policy import Policy
    from unveil.release.table import Table

__all__ = ["People", "check_ratings", "people_from_ratings", "people_from_repeated_rows", "people_from_rows"]


@dataclass(frozen=True, eq=False)
class People:
    """The ``records`` of people, the number of the (first) ``row`` of each, and ``identical_counts``: how many people,
    including themselves, are identical in everything released. ``singular`` and ``plural`` name a person and people in
    sentences, ``fact_noun`` names what is known about them, and ``columns`` are those it comes from. ``left_out``
    counts incomplete rows that were dropped."""

    records: Records
    row: Ints
    identical_counts: Ints
    singular: str
    plural: str
    fact_noun: str
    columns: tuple[str, ...]
    left_out: int = 0

    @property
    def has_ratings(self) -> bool:
        """Whether people are known by ratings rather than by the rows of a table."""
        return self.fact_noun == "rating"

    @property
    def relative_pronoun(self) -> str:
        """The relative pronoun: people *who*, rows *that*."""
        return "that" if self.singular == "row" else "who"

    @property
    def values(self) -> str:
        """What a person has several of: ratings or values."""
        return "ratings" if self.has_ratings else "values"

    @property
    def support(self) -> Ints:
        """Number of things that can be known about each person."""
        return self.records.support // self.records.attributes_per_fact

    def with_facts(self) -> People:
        """Those about whom there is anything to know."""
        some = np.flatnonzero(self.support > 0)
        if len(some) == self.records.n:
            return self
        counts = self.identical_counts[some]
        return replace(self, records=self.records.select(some), row=self.row[some], identical_counts=counts)


def people_from_rows(
    table: Table, columns: tuple[str, ...], policy: Policy, similarities: Mapping[str, Similarity], run: Run
) -> People:
    """Every row is a person, known by these columns."""
    records = records_from_codes(table.codes(columns, policy.missing, run), similarities)
    order, fresh = group_equal_records(records, records.value, run)
    kind = np.cumsum(fresh) - 1
    equals = np.empty(records.n, np.int64)
    equals[order] = np.bincount(kind, minlength=1)[kind]
    equals = _count_equal_rows(table, equals, policy, run)
    row = order[np.lexsort((equals[order], kind))]
    return People(records.select(row), row, equals[row], "row", "rows", "column", columns)


def _count_equal_rows(table: Table, like: Ints, policy: Policy, run: Run) -> Ints:
    """How many rows are identical in all columns except identifiers. ``like`` counts the rows that are identical in the
    known columns; only those above 1 need comparing."""
    found = np.ones(len(like), np.int64)
    rows = np.flatnonzero(like > 1)
    names = [c for c in table.columns if c not in policy.identifier]
    kind, _ = class_ids([own.codes[rows] for own in table.codes(names, (), run).values()], len(rows))
    found[rows] = np.bincount(kind, minlength=1)[kind]
    return found


def people_from_repeated_rows(table: Table, columns: tuple[str, ...], policy: Policy, run: Run) -> People:
    """Every person is known by the values that these columns have in their rows, each present or absent."""
    assert policy.subject is not None
    who = table.codes([policy.subject], policy.missing, run)[policy.subject]
    owners, things, size = list[Ints](), list[Ints](), 0
    for own in table.codes(columns, policy.missing, run).values():
        there = np.flatnonzero(own.codes >= 0)
        owners.append(who.codes[there].astype(np.int64))
        things.append(size + own.codes[there].astype(np.int64))
        size += len(own.values)
    owner, thing = (np.concatenate(parts).astype(np.int32) for parts in (owners, things))
    records = records_from_ratings(replace(who, codes=owner), Codes(thing, arrow_integers(np.arange(size))))
    names = [c for c in table.columns if c in columns or c not in (*policy.identifier, policy.subject)]
    shows, _ = class_ids([own.codes for own in table.codes(names, (), run).values()], table.rows)
    numbered: list[Any] = [shows, _occurrence_numbers(shows, who.codes)]
    kind, _ = group_people(class_ids(numbered, table.rows)[0], who.codes)
    first = _first_row_per_person(who)
    return People(records, first, np.bincount(kind)[kind], "person", "people", "value", columns)


def _occurrence_numbers(shows: Ints, who: Int32s) -> Ints:
    """For every row, how many earlier rows of the same person show the same values."""
    order = np.lexsort((shows, who))
    fresh = np.append(True, (np.diff(shows[order]) != 0) | (np.diff(who[order]) != 0))[: len(order)]
    place = np.arange(len(order))
    found = np.empty(len(order), np.int64)
    found[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    return found


def _first_row_per_person(who: Codes) -> Ints:
    first = np.full(len(who.values), len(who.codes), np.int64)
    np.minimum.at(first, who.codes, np.arange(len(who.codes)))
    return first


def people_from_ratings(table: Table, policy: Policy, similarities: Mapping[str, Similarity], run: Run) -> People:
    """Every person is known by what they rated."""
    columns = policy.ratings
    user, item, *more = table.codes(columns, policy.missing, run).values()
    value, date = (*more, None, None)[:2]
    compared = [similarities.get(c, equal_values()) for c in (*columns[2:], "", "")]
    records = records_from_ratings(user, item, value, date, (compared[0], compared[1]))
    first = _first_row_per_person(user)
    gone = [own.codes < 0 for own in (value, date) if own is not None]
    left_out = int(np.logical_or.reduce(gone).sum()) if gone else 0
    return People(records, first, count_copies(records, run), "person", "people", "rating", columns[1:], left_out)


def check_ratings(table: Table, policy: Policy, similarities: Mapping[str, Similarity]) -> None:
    """Refuse ratings that are incomplete, repeated, or not comparable as the policy asks."""
    codes = table.codes(policy.ratings, policy.missing)
    for column in policy.ratings[:2]:
        gone = int((codes[column].codes < 0).sum())
        if gone:
            raise UnveilError(
                f"{safe_text(table.name)}: {count_text(gone, 'row has', 'rows have')} no value in "
                f"{safe_text(column)!r}; remove them"
            )
    for column in policy.ratings[2:]:
        if column in similarities:
            similarities[column].numeric_values(codes[column].values, column)
    try:
        sorted_rating_rows(*codes.values())
    except UnveilError as error:
        raise UnveilError(f"{safe_text(table.name)}: {error}") from None
