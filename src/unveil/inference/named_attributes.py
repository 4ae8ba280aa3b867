"""Attributes with names: the values of a table's columns, or the items of baskets.

Numbers and dates with many values are cut into ranges (:mod:`unveil.inference.fact_columns`). A missing value is a
value of its own, but in the column of a target: there it neither supports nor refutes anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.inference.fact_columns import cut_column
from unveil.inference.relation import Relation
from unveil.release import Release
from unveil.release.codes import cast_to_text
from unveil.release.kinds import KIND_SINGULARS, check_kind
from unveil.release.roles import check_column
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import list_text, safe_text, verb

__all__ = ["NamedAttribute", "NamedAttributes", "name_attributes", "number_values"]

_MOST_CELLS = 1 << 34  # baskets × items, a bit each


@dataclass(frozen=True)
class NamedAttribute:
    """An item, or a ``value`` of a ``column``; None if it is missing there. ``number`` stands for the value where it is
    not shown: 1 for the most frequent one of its column, or of all items."""

    column: str | None
    value: str | None
    number: int

    def text(self, reveal: bool = True) -> str:
        """What it is called; values only if they are revealed."""
        if self.column is None:
            return safe_text(self.value) if reveal else f"item {self.number}"
        column = safe_text(self.column)
        if self.value is None:
            return f"no {column}"
        return f"{column} = {safe_text(self.value)}" if reveal else f"{column} {self.number}"

    def to_dict(self) -> dict[str, str | None]:
        """The name as JSON values."""
        return {"item": self.value} if self.column is None else {"column": self.column, "value": self.value}


@dataclass(frozen=True, eq=False)
class NamedAttributes:
    """A relation, and the name of each of its attributes. ``ranges`` says, of columns that were cut, to which attribute
    each value belongs."""

    relation: Relation
    names: tuple[NamedAttribute, ...]
    ranges: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def notes(self) -> Iterator[str]:
        """What a reader of the names must know."""
        if self.ranges:
            yield f"{list_text(self.ranges)} {verb(len(self.ranges), 'is', 'are')} cut into ranges"

    def find(self, column: str | None, value: str) -> int | None:
        """The attribute of a value of a column, or of a range that is called so or contains it; None if there is
        none."""
        for number, name in enumerate(self.names):
            if (name.column, name.value) == (column, value):
                return number
        return self.ranges.get(column or "", {}).get(value)


def name_attributes(
    release: Release,
    columns: Sequence[str] = (),
    *,
    missing: tuple[str, ...] = (),
    target: str | None = None,
    run: Run | None = None,
) -> NamedAttributes:
    """The attributes of the rows of a table, by default of all its columns, or those of baskets. ``target`` is the
    column in which a missing value may be any."""
    if columns:
        check_kind(option_text("columns"), ["table"], release.name, release.kind)
    if isinstance(release, Transactions):
        if release.baskets * len(release.labels) > _MOST_CELLS:
            raise UnveilError(f"{safe_text(release.name)}: has too many baskets of too many items; take fewer of them")
        relation = Relation.from_items(release.indptr.astype(np.int64), release.items, len(release.labels))
        labels = cast_to_text(release.labels).to_pylist()
        return NamedAttributes(relation, tuple(_name_values(None, labels, release.counts)))
    if not isinstance(release, Table):
        raise UnveilError(
            f"{safe_text(release.name)}: was read as {KIND_SINGULARS[release.kind]}, which has no attributes; "
            "give a table or transactions"
        )
    for name in columns:
        check_column(release, name)
    chosen = tuple(dict.fromkeys(columns or release.columns))
    found, sizes, names = list[Int32s](), list[int](), list[NamedAttribute]()
    ranges: dict[str, dict[str, int]] = {}
    for name, codes in release.codes(chosen, missing, run).items():
        fact = cut_column(name, codes)
        own = fact.codes
        if name != target:
            own = np.where(own < 0, len(fact.labels), own).astype(np.int32)
        values = [*fact.labels, *([None] if int(own.max(initial=-1)) == len(fact.labels) else [])]
        if fact.is_cut:
            ranges[name] = {text: len(names) + code for text, code in fact.ranges.items()}
        names += _name_values(name, values, np.bincount(own[own >= 0], minlength=len(values)))
        found.append(own)
        sizes.append(len(values))
    ones = [1.0] * len(found)
    return NamedAttributes(Relation.from_columns(found, ones, ones, sizes=sizes), tuple(names), ranges)


def number_values(counts: Ints) -> Ints:
    """Numbers from 1 on, the most frequent first.

    >>> number_values(np.array([3, 9, 3])).tolist()
    [2, 1, 3]
    """
    found = np.empty(len(counts), np.int64)
    found[np.argsort(-counts, kind="stable")] = np.arange(1, len(counts) + 1)
    return found


def _name_values(column: str | None, values: Sequence[str | None], counts: Ints) -> Iterator[NamedAttribute]:
    for value, number in zip(values, number_values(counts).tolist(), strict=True):
        yield NamedAttribute(column, value, number)
