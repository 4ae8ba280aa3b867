"""Records: what is known of each person, attribute by attribute, most of it often nothing.

A database is an array of n records over c attributes (document 002, Definition 2). Where a value is null, the person
does not show the attribute: nobody rated that film, the question was not asked. The *support* of a record is the set of
its attributes that are not null, and the support of an attribute the set of records that have it.

Records are held by their support: those of record r are at ``indptr[r] … indptr[r + 1]``, which ``attribute`` (rising)
and which ``value``, a code. The values of attribute i are ``values[i]``, in the order in which its similarity compares
them, so that the values that are alike are a run of codes (:mod:`unveil.linkage.similarity`). Where density allows,
kernels make a plain array or planes of bits of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.similarity import Similarity, equal
from unveil.wording import counted, listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.codes import Codes
    from unveil.release.table import Table
    from unveil.run import Run

__all__ = ["Records", "ratings_in_order", "records_of", "records_of_codes", "records_of_ratings"]

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_DENSE = 0.05  # the share of values that are not null from which on a plain array is better
_MOST = 1 << 31  # bytes of a plain array


@dataclass(frozen=True, eq=False)
class Records:
    """n records over c attributes. ``values[i]`` are the values of attribute i by code; several attributes may share
    one array of values. ``similarities[i]`` says how its values are compared.

    So many attributes in a row are *one thing* as ``together`` says: a rating and its date, where a record that has the
    one has the other, and whoever knows the one knows the other. They are numbered i·together, i·together + 1, …
    """

    indptr: Ints
    attribute: Small
    value: Small
    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    similarities: tuple[Similarity, ...]
    together: int = 1

    @property
    def n(self) -> int:
        """How many records."""
        return len(self.indptr) - 1

    @property
    def c(self) -> int:
        """How many attributes."""
        return len(self.names)

    @cached_property
    def support(self) -> Ints:
        """How many attributes each record has."""
        return np.diff(self.indptr)

    @cached_property
    def popularity(self) -> Ints:
        """How many records have each attribute."""
        return np.bincount(self.attribute, minlength=self.c).astype(np.int64, copy=False)

    @property
    def density(self) -> float:
        """The share of values that are not null."""
        return len(self.value) / max(1, self.n * self.c)

    @property
    def dense(self) -> bool:
        """Whether a plain array of them is better than lists."""
        return self.density >= _DENSE and 4 * self.n * self.c <= _MOST

    @cached_property
    def array(self) -> Small:
        """Codes as a plain array of n × c, −1 where null."""
        found = np.full((self.n, self.c), -1, np.int32)
        found[np.repeat(np.arange(self.n), self.support), self.attribute] = self.value
        return found

    def ranges(self, least: float) -> Ranges:
        """The codes that are alike enough, for every value of every attribute."""
        shared: dict[tuple[int, int], int] = {}
        starts, lows, highs, filled = np.empty(self.c, np.int64), list[Ints](), list[Ints](), 0
        for i, (name, own, sim) in enumerate(zip(self.names, self.values, self.similarities, strict=True)):
            key = (id(own), id(sim))
            if key not in shared:
                low, high = sim.ranges(own, least, name)
                lows.append(low)
                highs.append(high)
                shared[key] = filled
                filled += len(own)
            starts[i] = shared[key]
        empty = np.empty(0, np.int64)
        return Ranges(
            starts,
            np.concatenate([empty, *lows]).astype(np.int32),
            np.concatenate([empty, *highs]).astype(np.int32),
        )

    def only(self, rows: npt.ArrayLike) -> Records:
        """Some of the records, in that order."""
        chosen = np.asarray(rows, np.int64)
        sizes = self.support[chosen]
        indptr = np.append(0, np.cumsum(sizes))
        at = np.repeat(self.indptr[chosen] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return replace(self, indptr=indptr, attribute=self.attribute[at], value=self.value[at])

    def part(self, k: int) -> Records:
        """Of every thing the attribute number k: ratings without their dates."""
        step = self.together
        if step == 1:
            return self
        return Records(
            self.indptr // step,
            self.attribute[k::step] // step,
            self.value[k::step],
            self.names[k::step],
            self.values[k::step],
            self.similarities[k::step],
        )

    def some(self, attributes: Sequence[int]) -> Records:
        """All records, with some of the attributes only, in that order."""
        place = np.full(self.c, -1, np.int32)
        place[list(attributes)] = np.arange(len(attributes), dtype=np.int32)
        kept = np.flatnonzero(place[self.attribute] >= 0)
        owner = np.repeat(np.arange(self.n), self.support)[kept]
        moved = place[self.attribute[kept]]
        order = np.lexsort((moved, owner))
        indptr = np.append(0, np.cumsum(np.bincount(owner, minlength=self.n)))
        chosen = list(attributes)
        return Records(
            indptr,
            moved[order],
            self.value[kept][order],
            tuple(self.names[i] for i in chosen),
            tuple(self.values[i] for i in chosen),
            tuple(self.similarities[i] for i in chosen),
        )

    def __repr__(self) -> str:
        return (
            f"Records: {counted(self.n, 'record')}, {counted(self.c, 'attribute')}, {self.density:.1%} not null\n"
            f"  {listed(self.names)}"
        )


@dataclass(frozen=True, eq=False)
class Ranges:
    """Value v of attribute i is alike enough to the codes ``low[starts[i] + v] … high[starts[i] + v]``."""

    starts: Ints
    low: Small
    high: Small


def records_of_codes(columns: Mapping[str, Codes], similarities: Mapping[str, Similarity] | None = None) -> Records:
    """From columns of codes, −1 where null.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode
    >>> made = {"age": encode(pa.chunked_array([[30, None, 30]])), "sex": encode(pa.chunked_array([["f", "m", None]]))}
    >>> records_of_codes(made).array.tolist()
    [[0, 0], [-1, 1], [0, -1]]
    """
    said = similarities or {}
    strange = [name for name in said if name not in columns]
    if strange:
        raise UnveilError(f"there is no column {listed(strange)} to compare; there are {listed(columns)}")
    names, sims = tuple(columns), tuple(said.get(name, equal()) for name in columns)
    if len({len(c.codes) for c in columns.values()}) > 1:
        raise UnveilError("every column needs a value, or null, for each record")
    parts, values = list[Small](), list["pa.Array"]()
    for name, sim in zip(names, sims, strict=True):
        own = columns[name]
        order = sim.order(own.values, name)
        rank = np.append(np.argsort(order), -1).astype(np.int32)
        parts.append(rank[own.codes])
        values.append(own.values.take(_places(order)))
    array = np.stack(parts, axis=1) if parts else np.empty((0, 0), np.int32)
    rows, attribute = np.nonzero(array >= 0)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(array))))
    return Records(indptr, attribute.astype(np.int32), array[rows, attribute], names, tuple(values), sims)


def records_of(
    table: Table,
    columns: Sequence[str],
    missing: tuple[str, ...] = (),
    similarities: Mapping[str, Similarity] | None = None,
    run: Run | None = None,
) -> Records:
    """From columns of a table; what stands for missing is null."""
    return records_of_codes(table.codes(columns, missing, run), similarities)


def records_of_ratings(
    user: Codes,
    item: Codes,
    value: Codes | None = None,
    date: Codes | None = None,
    similarities: tuple[Similarity, Similarity] | None = None,
) -> Records:
    """From triples: who rated what how, and when. Ratings without user or item are refused, those without a value or
    date left out. Each pair of a user and an item must occur once at most; without values and dates only what was rated
    counts, however often. ``similarities`` are those of values and of dates.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode
    >>> triples = [["ann", "bob", "ann"], ["Brazil", "Brazil", "Alien"], [5, 4, 3]]
    >>> made = records_of_ratings(*(encode(pa.chunked_array([column])) for column in triples))
    >>> made.names, made.array.tolist()
    (('Alien', 'Brazil'), [[0, 2], [-1, 1]])
    """
    said = similarities or (equal(), equal())
    kinds = [(own, sim) for own, sim in zip((value, date), said, strict=True) if own is not None]
    rows = ratings_in_order(user, item, value, date)
    indptr = np.append(0, np.cumsum(np.bincount(user.codes[rows], minlength=len(user.values))))
    names = [shown(n) for n in item.values.to_pylist()]
    parts = [_rated(own, sim, rows) for own, sim in kinds] or [_bare(len(rows))]
    step = len(parts)
    spread = np.arange(step, dtype=np.int32)
    return Records(
        indptr * step,
        (item.codes[rows, None] * step + spread).ravel().astype(np.int32),
        np.stack([codes for codes, _, _ in parts], axis=1).ravel(),
        tuple(f"{name}, {k}" if k else name for name in names for k in ("", "when")[:step]),
        tuple(own for _, own, _ in parts) * len(names),
        tuple(sim for _, _, sim in parts) * len(names),
        step,
    )


def ratings_in_order(user: Codes, item: Codes, value: Codes | None = None, date: Codes | None = None) -> Ints:
    """The rows of the ratings that count, by user and item."""
    if (user.codes < 0).any() or (item.codes < 0).any():
        raise UnveilError("some ratings have no person or no item; leave them out")
    more = [own for own in (value, date) if own is not None]
    rows = np.flatnonzero(np.logical_and.reduce([np.ones(len(user.codes), np.bool_), *(o.codes >= 0 for o in more)]))
    key = user.codes[rows].astype(np.int64) * max(1, len(item.values)) + item.codes[rows]
    order = np.argsort(key, kind="stable")
    fresh = np.append(True, np.diff(key[order]) > 0)[: len(rows)]
    if more and not fresh.all():
        raise UnveilError("someone rated the same item twice; keep one rating of each")
    found: Ints = rows[order[fresh]]
    return found


def _rated(own: Codes, sim: Similarity, rows: Ints) -> tuple[Small, pa.Array, Similarity]:
    """The codes of some rows, in the order in which they are compared."""
    order = sim.order(own.values, "value")
    return np.argsort(order).astype(np.int32)[own.codes[rows]], own.values.take(_places(order)), sim


def _bare(count: int) -> tuple[Small, pa.Array, Similarity]:
    """The same value for all."""
    import pyarrow as pa

    return np.zeros(count, np.int32), pa.nulls(1, pa.int8()).fill_null(0), equal()


def _places(order: Ints) -> pa.Array:
    from unveil.release.codes import arrow_numbers

    return arrow_numbers(order.astype(np.int64))
