"""Two files side by side: what is released, and what somebody knows of people by name.

Both say something about the same attributes. A value that is known and a value that is released may be of the same
person if they are *alike*: by the similarity of the attribute (:mod:`unveil.linkage.similarity`), or because the
released value is a label that covers the known one (``30-39`` covers 34, ``476**`` covers 47677). What can be said of a
person and a row is said of all that are the same in every attribute: such *twins* are merged into classes here, once.

**Nulls.** Somebody does not know the attribute of a person: then it rules nothing out. In the release a null can mean
two things. In a table it is a value that was left out, and it rules nothing out either (``unknown``). In ratings it is
a film that was not rated, unlike any rating of it (``differ``; document 002, Definition 4).

**How it is computed.** Both files share one sorted list of values per attribute, so that a value is the same code on
both sides. The classes of rows are listed by attribute and code (*postings*). Those alike to a known value are one or a
few runs of codes, hence runs of postings: nobody has to look at rows that have nothing in common with a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.records import Records, records_of_codes
from unveil.linkage.similarity import Similarity
from unveil.wording import counted, listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.codes import Codes

__all__ = ["Alike", "Nulls", "Paired", "Postings", "Reading", "paired", "postings", "records_of_both", "twins"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]
Small = npt.NDArray[np.int32]

Nulls = Literal["unknown", "differ"]

Reading = Callable[[Sequence[str], Sequence[str]], tuple[npt.ArrayLike, npt.ArrayLike]]
"""Called with the known values and the released labels of one attribute, as text; returns the pairs that may be true of
the same person, as places in the one and in the other. ``unveil.classes.fitting.meaning`` is one."""

_LISTED = 1 << 26  # runs of codes, or nulls, over all attributes: some gigabytes
_GIVEN = 2_000  # values up to which a similarity that is given by a function is asked for all pairs
_FAINT = 1e-9  # a similarity below counts as none


@dataclass(frozen=True, eq=False)
class Alike:
    """The released codes that are alike to known value v of attribute i: ``low[e] … high[e]``, both included, with
    similarity ``sim[e]``, for e in ``indptr[base[i] + v] … indptr[base[i] + v + 1]``, rising."""

    indptr: Ints
    low: Small
    high: Small
    sim: Floats

    @cached_property
    def owner(self) -> Ints:
        """The place base[i] + v of every run."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


@dataclass(frozen=True, eq=False)
class Postings:
    """The classes of rows that have code v of attribute i: ``classes[indptr[base[i] + v] … indptr[base[i] + v + 1]]``.
    Those without attribute i, where that rules nothing out: ``missing[missing_indptr[i] … missing_indptr[i + 1]]``."""

    indptr: Ints
    classes: Small
    missing_indptr: Ints
    missing: Small


@dataclass(frozen=True, eq=False, repr=False)
class Paired:
    """A release and known people. Record k of ``rows`` stands for the rows of class k, ``row_class`` of them by row and
    ``row_sizes`` many; the same for people. Attribute i has the codes ``base[i] … base[i + 1]`` of all codes."""

    rows: Records
    people: Records
    row_class: Ints
    person_class: Ints
    nulls: Nulls
    base: Ints
    alike: Alike
    postings: Postings

    @property
    def n(self) -> int:
        """How many people are known."""
        return len(self.person_class)

    @property
    def released(self) -> int:
        """How many rows are released."""
        return len(self.row_class)

    @cached_property
    def row_sizes(self) -> Ints:
        """How many rows each class has."""
        return np.bincount(self.row_class, minlength=self.rows.n)

    @cached_property
    def first_row(self) -> Ints:
        """The first row of each class."""
        first = np.empty(self.rows.n, np.int64)
        first[self.row_class[::-1]] = np.arange(self.released)[::-1]
        return first

    @cached_property
    def person_sizes(self) -> Ints:
        """How many people each class has."""
        return np.bincount(self.person_class, minlength=self.people.n)

    @cached_property
    def attribute(self) -> Ints:
        """The attribute of every run of alike codes."""
        return np.searchsorted(self.base, self.alike.owner, "right") - 1

    def ends_in(self, lists: Postings) -> tuple[Ints, Ints]:
        """Where the postings of every run of alike codes begin and end."""
        first = self.base[self.attribute]
        return lists.indptr[first + self.alike.low], lists.indptr[first + self.alike.high + 1]

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """Where the postings of all rows of every run of alike codes begin and end."""
        return self.ends_in(self.postings)

    @cached_property
    def agreeing(self) -> Ints:
        """How many rows have a code of each run of alike codes."""
        begin, end = self.ends
        rows = np.append(0, np.cumsum(self.row_sizes[self.postings.classes]))
        found: Ints = rows[end] - rows[begin]
        return found

    @cached_property
    def popularity(self) -> Ints:
        """How many rows have each attribute."""
        return np.bincount(self.rows.attribute, np.repeat(self.row_sizes, self.rows.support), self.rows.c).astype(
            np.int64
        )

    @cached_property
    def share(self) -> Floats:
        """For every known value of every attribute, the mean similarity of the rows to it: where similarities are 0 or
        1, the share of rows that agree, of those that have the attribute if nulls are unknown, else of all."""
        width = np.diff(self.base)
        total = np.repeat(self.popularity, width) if self.nulls == "unknown" else np.full(self.base[-1], self.released)
        found = np.bincount(self.alike.owner, self.agreeing * self.alike.sim, self.base[-1])
        return np.asarray(found / np.maximum(total, 1))

    @cached_property
    def places(self) -> Ints:
        """The place base[i] + v of every known value, beside ``people.value``."""
        return self.base[self.people.attribute] + self.people.value

    @cached_property
    def kernel_sides(self) -> tuple[tuple[object, ...], tuple[object, ...], tuple[object, ...]]:
        """People, rows, and which codes are alike, as the compiled code takes them."""
        rows, alike = self.rows, self.alike
        array = rows.array if rows.dense else np.empty((0, 0), np.int32)
        return (
            (self.people.indptr, self.people.attribute, self.places),
            (rows.indptr, rows.attribute, rows.value, array),
            (alike.indptr, alike.low, alike.high, alike.sim),
        )

    @property
    def kernel_lists(self) -> tuple[object, ...]:
        """Postings and missing values, as the compiled code takes them; nothing of the latter where nulls differ."""
        missing = self.postings.missing_indptr if self.nulls == "unknown" else np.empty(0, np.int64)
        return self.postings.classes, missing, self.postings.missing

    def __repr__(self) -> str:
        return (
            f"Paired: {counted(self.n, 'known person', 'known people')} ({self.people.n:,} different), "
            f"{counted(self.released, 'released row')} ({self.rows.n:,} different)\n  {listed(self.rows.names)}"
        )


def records_of_both(
    released: Mapping[str, Codes], known: Mapping[str, Codes], similarities: Mapping[str, Similarity] | None = None
) -> tuple[Records, Records]:
    """The records of a release and of known people, from the same columns of two files, with values in common.

    Where one file has numbers and the other text, numbers are compared as they are written.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode
    >>> made = [{"age": encode(pa.chunked_array([ages]))} for ages in ([30, 40], ["40", "50", None])]
    >>> [records.array.tolist() for records in records_of_both(*made)]
    [[[0], [1]], [[1], [2], [-1]]]
    """
    if set(released) != set(known):
        raise UnveilError(
            f"the release and the known people need the same columns; {listed(sorted(set(released) ^ set(known)))} "
            "is only in one of them"
        )
    if any(len({len(c.codes) for c in side.values()}) > 1 for side in (released, known)):
        raise UnveilError("every column needs a value, or null, for each record")
    joined = records_of_codes({name: _joined(released[name], known[name]) for name in released}, similarities)
    rows = len(next(iter(released.values())).codes) if released else 0
    return joined.only(np.arange(rows)), joined.only(np.arange(rows, joined.n))


def _joined(first: Codes, second: Codes) -> Codes:
    """Two columns, one after the other, with the values of both in order."""
    import pyarrow as pa

    from unveil.release.codes import Codes, encode

    values = [c.values.cast(_common(first.values.type, second.values.type)) for c in (first, second)]
    both = encode(pa.chunked_array(values))  # no value is missing, so that it numbers those of the one, then the other
    parts = both.codes[: len(values[0])], both.codes[len(values[0]) :]
    codes = [np.append(part, -1).astype(np.int32)[c.codes] for part, c in zip(parts, (first, second), strict=True)]
    return Codes(np.concatenate(codes), both.values)


def _common(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_null(first) or pa.types.is_null(second) or first == second:
        return second if pa.types.is_null(first) else first
    whole = [pa.types.is_integer(t) and not pa.types.is_uint64(t) for t in (first, second)]
    number = [pa.types.is_integer(t) or pa.types.is_floating(t) for t in (first, second)]
    date = [pa.types.is_date(t) or pa.types.is_timestamp(t) for t in (first, second)]
    kinds = ((whole, pa.int64()), (number, pa.float64()), (date, pa.timestamp("us")))
    return next((kind for both, kind in kinds if all(both)), pa.string())


def paired(
    released: Records, known: Records, *, labels: Mapping[str, Reading] | None = None, nulls: Nulls = "unknown"
) -> Paired:
    """Put the two side by side. ``labels`` says for some attributes what released labels mean; the similarity of such
    an attribute does not count."""
    _check(released, known, labels or {})
    row_class, first_row = twins(released)
    person_class, first_person = twins(known)
    rows, people = released.only(first_row), known.only(first_person)
    base = np.append(0, np.cumsum([len(own) for own in rows.values])).astype(np.int64)
    known_codes = np.bincount(base[people.attribute] + people.value, minlength=base[-1]) > 0
    released_codes = np.bincount(base[rows.attribute] + rows.value, minlength=base[-1]) > 0
    alike = _alike(rows, base, known_codes, released_codes, labels or {})
    return Paired(rows, people, row_class, person_class, nulls, base, alike, postings(rows, base, nulls))


def postings(records: Records, base: Ints, nulls: Nulls, attributes: Marks | None = None) -> Postings:
    """The lists of some attributes, or of all."""
    chosen = np.ones(records.c, np.bool_) if attributes is None else attributes
    kept = chosen[records.attribute]
    key = (base[records.attribute] + records.value)[kept]
    owner = np.repeat(np.arange(records.n, dtype=np.int32), records.support)[kept]
    indptr = np.append(0, np.cumsum(np.bincount(key, minlength=base[-1])))
    return Postings(indptr, owner[np.argsort(key, kind="stable")], *_missing(records, nulls, chosen))


def _check(released: Records, known: Records, labels: Mapping[str, Reading]) -> None:
    same = released.names == known.names and all(
        a is b or a.equals(b) for a, b in zip(released.values, known.values, strict=True)
    )
    if not same or released.similarities != known.similarities:
        raise UnveilError("the release and the known people need the same attributes and values; see records_of_both")
    strange = [name for name in labels if name not in released.names]
    if strange:
        raise UnveilError(f"there is no attribute {listed(strange)} with labels; there are {listed(released.names)}")


def twins(records: Records) -> tuple[Ints, Ints]:
    """The class of every record, numbered by content and not by the order of records, and the first record of each."""
    ends = records.indptr.tolist()
    keys = [records.attribute[s:e].tobytes() + records.value[s:e].tobytes() for s, e in pairwise(ends)]
    first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
    number = {key: k for k, key in enumerate(sorted(first))}
    return (
        np.fromiter((number[key] for key in keys), np.int64, len(keys)),
        np.fromiter((first[key] for key in number), np.int64, len(number)),
    )


def _missing(records: Records, nulls: Nulls, chosen: Marks) -> tuple[Ints, Small]:
    """The records without each of some attributes, where that matters."""
    if nulls == "differ":
        return np.zeros(records.c + 1, np.int64), np.empty(0, np.int32)
    if records.n * records.c - len(records.value) > _LISTED:
        raise UnveilError("most values are null; for ratings and the like, say that nulls differ from values")
    attribute, record = np.nonzero((records.array.T < 0) & chosen[:, None])
    indptr = np.append(0, np.cumsum(np.bincount(attribute, minlength=records.c)))
    return indptr.astype(np.int64), record.astype(np.int32)


# ---- which codes are alike -------------------------------------------------------------------------------------------

Runs = tuple[npt.NDArray[np.integer], npt.NDArray[np.integer], npt.NDArray[np.integer], Floats]
"""Known codes, rising, and the first and last released code and the similarity of each run that is alike to them."""


def _alike(rows: Records, base: Ints, known: Marks, released: Marks, labels: Mapping[str, Reading]) -> Alike:
    """Of the codes that somebody is known to have, those that are alike."""
    found, total = list[Runs](), 0
    for i, (name, own, sim) in enumerate(zip(rows.names, rows.values, rows.similarities, strict=True)):
        inside = slice(base[i], base[i + 1])
        sides = np.flatnonzero(known[inside]), released[inside]
        runs = _covered(own, *sides, labels[name]) if name in labels else _similar(sim, own, *sides, name)
        total += len(runs[0])
        if total > _LISTED:
            raise UnveilError(f"{shown(name)}: too many pairs of values are alike; round them, or tolerate less")
        found.append((runs[0] + base[i], *runs[1:]))
    nothing = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    owner, low, high, sims = (np.concatenate(parts) for parts in zip(nothing, *found, strict=True))
    indptr = np.append(0, np.cumsum(np.bincount(owner, minlength=base[-1])))
    return Alike(indptr, low.astype(np.int32), high.astype(np.int32), sims)


def _similar(sim: Similarity, values: pa.Array, known: Ints, released: Marks, name: str) -> Runs:
    """By a similarity: one run for each known code, or single codes where similarity comes in degrees."""
    if sim.kind == "given":
        if len(values) > _GIVEN:
            raise UnveilError(f"{shown(name)}: a similarity given by a function takes at most {_GIVEN:,} values")
        matrix = np.where(released, sim.matrix(values, name)[known], 0.0)
        k, code = np.nonzero(matrix >= _FAINT)
        return known[k], code, code, matrix[k, code]
    low, high = (ends[known] for ends in sim.ranges(values, _FAINT if sim.kind == "linear" else 1.0, name))
    if sim.kind != "linear":
        return known, low, high, np.ones(len(known))
    codes = np.flatnonzero(released)
    first, last = np.searchsorted(codes, low), np.searchsorted(codes, high, "right")
    size = last - first
    if size.sum() > _LISTED:
        raise UnveilError(f"{shown(name)}: too many pairs of values are alike; round them, or tolerate less")
    at = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(size.sum())
    owner, code = np.repeat(known, size), codes[at]
    x = sim.numbers(values, name)
    return owner, code, code, np.maximum(1 - np.abs(x[owner] - x[code]) / sim.scale, _FAINT)


def _covered(values: pa.Array, known: Ints, released: Marks, reading: Reading) -> Runs:
    """By what labels mean."""
    import pyarrow as pa

    texts, codes = values.cast(pa.string()).to_pylist(), np.flatnonzero(released)
    v, x = (
        np.asarray(side, np.int64)
        for side in reading([texts[k] for k in known.tolist()], [texts[k] for k in codes.tolist()])
    )
    pairs = np.unique(known[v] * len(texts) + codes[x]) if len(v) else np.empty(0, np.int64)
    owner, code = pairs // max(1, len(texts)), pairs % max(1, len(texts))
    return owner, code, code, np.ones(len(pairs))
