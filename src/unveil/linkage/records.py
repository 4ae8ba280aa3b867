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
from dataclasses import dataclass
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

__all__ = ["Records", "records_of", "records_of_codes", "records_of_ratings"]

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_DENSE = 0.05  # the share of values that are not null from which on a plain array is better
_MOST = 1 << 31  # bytes of a plain array


@dataclass(frozen=True, eq=False)
class Records:
    """n records over c attributes. ``values[i]`` are the values of attribute i by code; several attributes may share
    one array of values. ``similarities[i]`` says how its values are compared."""

    indptr: Ints
    attribute: Small
    value: Small
    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    similarities: tuple[Similarity, ...]

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
        return Records(indptr, self.attribute[at], self.value[at], self.names, self.values, self.similarities)

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
    user: Codes, item: Codes, value: Codes | None = None, similarity: Similarity | None = None
) -> Records:
    """From triples: who rated what how. Each pair of a user and an item must occur once at most; triples without user
    or item are refused, those without a value left out. Without values, only what was rated counts.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode
    >>> triples = [["ann", "bob", "ann"], ["Brazil", "Brazil", "Alien"], [5, 4, 3]]
    >>> made = records_of_ratings(*(encode(pa.chunked_array([column])) for column in triples))
    >>> made.names, made.array.tolist()
    (('Alien', 'Brazil'), [[0, 2], [-1, 1]])
    """
    import pyarrow as pa

    if (user.codes < 0).any() or (item.codes < 0).any():
        raise UnveilError("some ratings have no user or no item; leave them out")
    sim = similarity or equal()
    if value is None:
        own, codes = pa.nulls(1, pa.int8()).fill_null(0), np.zeros(len(user.codes), np.int32)
    else:
        order = sim.order(value.values, "value")
        own = value.values.take(_places(order))
        codes = np.append(np.argsort(order), -1).astype(np.int32)[value.codes]
    there = np.flatnonzero(codes >= 0)
    key = user.codes[there].astype(np.int64) * max(1, len(item.values)) + item.codes[there]
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) == 0).any():
        raise UnveilError("someone rated the same item twice; keep one rating of each")
    indptr = np.append(0, np.cumsum(np.bincount(user.codes[there], minlength=len(user.values))))
    names = tuple(shown(n) for n in item.values.to_pylist())
    width = len(names)
    return Records(indptr, item.codes[there][order], codes[there][order], names, (own,) * width, (sim,) * width)


def _places(order: Ints) -> pa.Array:
    from unveil.release.codes import arrow_numbers

    return arrow_numbers(order.astype(np.int64))
