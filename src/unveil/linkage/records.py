"""Records: what the release says about each person, attribute by attribute, with most values often missing.

A database is an array of n records over c attributes (Merener 2012, Definition 2). A null means that the person does
not have the attribute: they did not rate the film, or nobody asked the question. The *support* of a record is the set
of attributes that are not null. The support of an attribute is the set of records that have it.

Records are stored by support, like a sparse matrix. The entries of record r are at ``indptr[r] … indptr[r + 1]``:
``attribute`` (rising) and ``value``, a code. ``values[i]`` holds the values of attribute i in the order in which its
similarity compares them, so that similar values have consecutive codes (:mod:`unveil.linkage.similarity`). Kernels turn
this into a plain array or into bit planes where the records are dense enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.similarity import Similarity, equal_values
from unveil.release.codes import arrow_integers
from unveil.wording import count_text, list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.codes import Codes

__all__ = ["Records", "records_from_codes", "records_from_ratings", "sorted_rating_rows"]

_T = TypeVar("_T")
_MIN_DENSITY = 0.05  # share of non-null values from which a plain array is faster
_MAX_ARRAY_BYTES = 1 << 31  # bytes of a plain array, at most


@dataclass(frozen=True, eq=False)
class Records:
    """n records over c attributes. ``values[i]`` lists the values of attribute i by code; several attributes may share
    one array of values. ``similarities[i]`` says how they are compared.

    Each run of k = ``attributes_per_fact`` consecutive attributes is *one thing*: a rating and its date, for example. A
    record that has one of them has all of them, and an attacker who knows one knows all. Thing i has the attributes
    i·k, i·k + 1, …
    """

    indptr: Ints
    attribute: Int32s
    value: Int32s
    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    similarities: tuple[Similarity, ...]
    attributes_per_fact: int = 1
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.indptr) - 1

    @property
    def c(self) -> int:
        """Number of attributes."""
        return len(self.names)

    @cached_property
    def support(self) -> Ints:
        """Number of attributes that each record has."""
        return np.diff(self.indptr)

    @cached_property
    def popularity(self) -> Ints:
        """Number of records that have each attribute."""
        return np.bincount(self.attribute, minlength=self.c).astype(np.int64, copy=False)

    @property
    def density(self) -> float:
        """The share of values that are not null."""
        return len(self.value) / max(1, self.n * self.c)

    @property
    def is_dense(self) -> bool:
        """Whether a plain array is faster than lists."""
        return self.density >= _MIN_DENSITY and 4 * self.n * self.c <= _MAX_ARRAY_BYTES

    @cached_property
    def array(self) -> Int32s:
        """Codes as a plain n × c array, −1 where null."""
        found = np.full((self.n, self.c), -1, np.int32)
        found[np.repeat(np.arange(self.n), self.support), self.attribute] = self.value
        return found

    def codes_at(self, record: Ints, attribute: npt.NDArray[np.integer]) -> Int32s:
        """The code of each of these records in each of these attributes, −1 where null."""
        keys = np.repeat(np.arange(self.n), self.support) * self.c + self.attribute
        key = record * self.c + attribute
        if not len(keys):
            return np.full(len(key), -1, np.int32)
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        return np.where(keys[at] == key, self.value[at], np.int32(-1))

    def code_ranges(self, least: float) -> CodeRanges:
        """For every value of every attribute, the range of codes at least ``least`` similar to it."""
        shared: dict[tuple[int, int], int] = {}
        starts, lows, highs, filled = np.empty(self.c, np.int64), list[Ints](), list[Ints](), 0
        for i, (name, own, sim) in enumerate(zip(self.names, self.values, self.similarities, strict=True)):
            key = (id(own), id(sim))
            if key not in shared:
                low, high = sim.code_ranges(own, least, name)
                lows.append(low)
                highs.append(high)
                shared[key] = filled
                filled += len(own)
            starts[i] = shared[key]
        empty = np.empty(0, np.int64)
        return CodeRanges(
            starts,
            np.concatenate([empty, *lows]).astype(np.int32),
            np.concatenate([empty, *highs]).astype(np.int32),
        )

    def select(self, rows: npt.ArrayLike) -> Records:
        """The records of these rows, in this order."""
        chosen = np.asarray(rows, np.int64)
        sizes = self.support[chosen]
        indptr = np.append(0, np.cumsum(sizes))
        at = np.repeat(self.indptr[chosen] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return replace(self, indptr=indptr, attribute=self.attribute[at], value=self.value[at])

    def part(self, k: int) -> Records:
        """Only attribute k of every thing: ratings without their dates, for example."""
        step = self.attributes_per_fact
        if step == 1:
            return self
        return Records(
            self.indptr // step,
            self.attribute[k::step] // step,
            np.ascontiguousarray(self.value[k::step]),  # kernels are compiled for arrays without gaps
            self.names[k::step],
            self.values[k::step],
            self.similarities[k::step],
        )

    def once(self, key: str, make: Callable[[], _T]) -> _T:
        """What ``make`` returns, made once and kept as long as the records: for what several attacks on them share."""
        if key not in self._kept:
            self._kept[key] = make()
        found: _T = self._kept[key]
        return found

    def __repr__(self) -> str:
        return (
            f"Records: {count_text(self.n, 'record')}, {count_text(self.c, 'attribute')}, {self.density:.1%} not null\n"
            f"  {list_text(self.names)}"
        )


@dataclass(frozen=True, eq=False)
class CodeRanges:
    """Value v of attribute i is similar enough to the codes ``low[starts[i] + v] … high[starts[i] + v]``."""

    starts: Ints
    low: Int32s
    high: Int32s


def records_from_codes(columns: Mapping[str, Codes], similarities: Mapping[str, Similarity] | None = None) -> Records:
    """Records from columns of codes, −1 where null.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode_column
    >>> made = {"age": encode_column(pa.chunked_array([[30, None, 30]])), "sex": encode_column(pa.chunked_array([["f",
    ...     "m", None]]))}
    >>> records_from_codes(made).array.tolist()
    [[0, 0], [-1, 1], [0, -1]]
    """
    said = similarities or {}
    strange = [name for name in said if name not in columns]
    if strange:
        raise UnveilError(f"no column is called {list_text(strange)}; the columns are {list_text(columns)}")
    names, sims = tuple(columns), tuple(said.get(name, equal_values()) for name in columns)
    if len({len(c.codes) for c in columns.values()}) > 1:
        raise UnveilError("all columns must have the same number of values")
    parts, values = list[Int32s](), list["pa.Array"]()
    for name, sim in zip(names, sims, strict=True):
        own = columns[name]
        order = sim.order(own.values, name)
        rank = np.append(np.argsort(order), -1).astype(np.int32)
        parts.append(rank[own.codes])
        values.append(own.values.take(arrow_integers(order)))
    array = np.stack(parts, axis=1) if parts else np.empty((0, 0), np.int32)
    rows, attribute = np.nonzero(array >= 0)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(array))))
    return Records(indptr, attribute.astype(np.int32), array[rows, attribute], names, tuple(values), sims)


def records_from_ratings(
    user: Codes,
    item: Codes,
    value: Codes | None = None,
    date: Codes | None = None,
    similarities: tuple[Similarity, Similarity] | None = None,
) -> Records:
    """Records from ratings: who rated which item, how, and when. A rating without user or item is refused; one without
    value or date is dropped. A user may rate an item only once. Without values and dates only the set of rated items
    counts, so repetitions are allowed. ``similarities`` are those of values and of dates.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode_column
    >>> triples = [["ann", "bob", "ann"], ["Brazil", "Brazil", "Alien"], [5, 4, 3]]
    >>> made = records_from_ratings(*(encode_column(pa.chunked_array([column])) for column in triples))
    >>> made.names, made.array.tolist()
    (('Alien', 'Brazil'), [[0, 2], [-1, 1]])
    """
    said = similarities or (equal_values(), equal_values())
    kinds = [(own, sim) for own, sim in zip((value, date), said, strict=True) if own is not None]
    rows = sorted_rating_rows(user, item, value, date)
    indptr = np.append(0, np.cumsum(np.bincount(user.codes[rows], minlength=len(user.values))))
    names = [safe_text(n) for n in item.values.to_pylist()]
    if not any(np.ptp(own.codes[rows]) for own, _ in kinds if len(rows)):
        kinds = []  # values and dates that never differ say no more than that there is a rating
    parts = [_encode_ratings(own, sim, rows) for own, sim in kinds] or [_constant_values(len(rows))]
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


def sorted_rating_rows(user: Codes, item: Codes, value: Codes | None = None, date: Codes | None = None) -> Ints:
    """Row numbers of the complete ratings, sorted by user and item."""
    if (user.codes < 0).any() or (item.codes < 0).any():
        raise UnveilError("some ratings have no person or no item; remove them")
    more = [own for own in (value, date) if own is not None]
    rows = np.flatnonzero(np.logical_and.reduce([np.ones(len(user.codes), np.bool_), *(o.codes >= 0 for o in more)]))
    key = user.codes[rows].astype(np.int64) * max(1, len(item.values)) + item.codes[rows]
    order = np.argsort(key, kind="stable")
    fresh = np.append(True, np.diff(key[order]) > 0)[: len(rows)]
    if more and not fresh.all():
        raise UnveilError("someone rated the same item twice; keep one rating per person and item")
    found: Ints = rows[order[fresh]]
    return found


def _encode_ratings(own: Codes, sim: Similarity, rows: Ints) -> tuple[Int32s, pa.Array, Similarity]:
    """Codes of some rows, renumbered in the order in which the similarity compares values."""
    order = sim.order(own.values, "value")
    return np.argsort(order).astype(np.int32)[own.codes[rows]], own.values.take(arrow_integers(order)), sim


def _constant_values(count: int) -> tuple[Int32s, pa.Array, Similarity]:
    """The same value for every rating."""
    import pyarrow as pa

    return np.zeros(count, np.int32), pa.nulls(1, pa.int8()).fill_null(0), equal_values()
