"""Two files side by side: the release, and what an attacker knows about people by name.

Both describe the same attributes. A known value and a released value may belong to the same person if they are *alike*:
by the similarity of the attribute (:mod:`unveil.linkage.similarity`), or because the released value is a label that
covers the known one (``30-39`` covers 34, ``476**`` covers 47677). People or rows that are equal in every attribute are
*twins*. Whatever holds for one holds for all, so they are merged into classes once.

**Nulls.** A null in the file of people means that the attacker does not know the attribute, so it rules nothing out. In
the release it can mean two things. In a table, a value was left out, which rules nothing out either (``unknown``). In
ratings, the person did not rate the film, which differs from any rating (``differ``; Merener 2012, Definition 4).

**How it is computed.** Both files share one sorted list of values per attribute, so that a value has the same code on
both sides. The classes of rows are listed by attribute and code (*postings*). The codes alike to a known value are one
or a few ranges, hence ranges of postings, and rows that have nothing in common with a person are never visited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.postings import build_postings
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import Similarity
from unveil.wording import count_text, list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.codes import Codes

__all__ = [
    "ClassPostings",
    "FilePair",
    "LabelReader",
    "NullRule",
    "SimilarCodeRanges",
    "class_postings",
    "distinct_rows",
    "pair_files",
    "pair_other_people",
    "records_from_both",
    "twin_classes",
]


NullRule = Literal["unknown", "differ"]

LabelReader = Callable[[Sequence[str], Sequence[str]], tuple[npt.ArrayLike, npt.ArrayLike]]
"""Called with the known values and the released labels of one attribute, as text; returns the pairs that may describe
the same person, as positions in the two lists. ``unveil.release.label_matching.match_labels`` is one."""

_MAX_LISTED = 1 << 26  # ranges of codes, or nulls, over all attributes: some gigabytes
_LEAST_SIMILARITY = 1e-9  # similarities below this count as 0


@dataclass(frozen=True, eq=False)
class SimilarCodeRanges:
    """The released codes similar to known value v of attribute i are the ranges ``low[e] … high[e]``, both ends
    included, with similarity ``sim[e]``, for e in ``indptr[base[i] + v] … indptr[base[i] + v + 1]``, ascending."""

    indptr: Ints
    low: Int32s
    high: Int32s
    sim: Floats

    @cached_property
    def owner(self) -> Ints:
        """The place base[i] + v of every range."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


@dataclass(frozen=True, eq=False)
class ClassPostings:
    """The classes of rows that have code v of attribute i: ``classes[indptr[base[i] + v] … indptr[base[i] + v + 1]]``.
    Those that lack attribute i, if that rules nothing out: ``missing[missing_indptr[i] … missing_indptr[i + 1]]``."""

    indptr: Ints
    classes: Int32s
    missing_indptr: Ints
    missing: Int32s


@dataclass(frozen=True, eq=False, repr=False)
class FilePair:
    """A release and known people. Record k of ``rows`` stands for the ``row_sizes[k]`` rows whose ``row_class`` is k;
    the same for people. Attribute i has the codes ``base[i] … base[i + 1]`` in a common numbering. ``labels`` says what
    the released labels of some attributes mean. ``subjects``, if several rows may belong to one person, says whose each
    row is; a person's rows then differ from each other."""

    rows: Records
    people: Records
    row_class: Ints
    person_class: Ints
    nulls: NullRule
    base: Ints
    alike: SimilarCodeRanges
    postings: ClassPostings
    labels: Mapping[str, LabelReader]
    subjects: Ints | None = None

    @property
    def n(self) -> int:
        """Number of known people."""
        return len(self.person_class)

    @property
    def row_count(self) -> int:
        """Number of released rows."""
        return len(self.row_class)

    @cached_property
    def row_sizes(self) -> Ints:
        """Number of rows in each class."""
        return np.bincount(self.row_class, minlength=self.rows.n)

    @cached_property
    def first_row(self) -> Ints:
        """The first row of each class."""
        first = np.empty(self.rows.n, np.int64)
        first[self.row_class[::-1]] = np.arange(self.row_count)[::-1]
        return first

    @cached_property
    def person_sizes(self) -> Ints:
        """Number of people in each class."""
        return np.bincount(self.person_class, minlength=self.people.n)

    @cached_property
    def attribute(self) -> Ints:
        """The attribute of every range of alike codes."""
        return np.searchsorted(self.base, self.alike.owner, "right") - 1

    def posting_ends(self, lists: ClassPostings) -> tuple[Ints, Ints]:
        """Where the postings of every range of alike codes begin and end in these lists."""
        first = self.base[self.attribute]
        return lists.indptr[first + self.alike.low], lists.indptr[first + self.alike.high + 1]

    @cached_property
    def all_posting_ends(self) -> tuple[Ints, Ints]:
        """Where the postings of every range of alike codes begin and end in the lists of all rows."""
        return self.posting_ends(self.postings)

    @cached_property
    def agreeing_rows(self) -> Ints:
        """Number of rows with a code in each range of alike codes."""
        begin, end = self.all_posting_ends
        rows = np.append(0, np.cumsum(self.row_sizes[self.postings.classes]))
        found: Ints = rows[end] - rows[begin]
        return found

    @cached_property
    def popularity(self) -> Ints:
        """Number of rows that have each attribute."""
        return np.bincount(self.rows.attribute, np.repeat(self.row_sizes, self.rows.support), self.rows.c).astype(
            np.int64
        )

    @cached_property
    def mean_similarity(self) -> Floats:
        """For every known value of every attribute, the mean similarity of the rows to it. If similarities are 0 or 1,
        it is the share of rows that agree: among the rows that have the attribute if nulls are unknown, else among all.
        """
        width = np.diff(self.base)
        total = np.repeat(self.popularity, width) if self.nulls == "unknown" else np.full(self.base[-1], self.row_count)
        found = np.bincount(self.alike.owner, self.agreeing_rows * self.alike.sim, self.base[-1])
        return np.asarray(found / np.maximum(total, 1))

    @cached_property
    def has_agreeing_rows(self) -> Bools:
        """Whether any row agrees with each known value of each attribute."""
        return np.bincount(self.alike.owner, self.agreeing_rows, self.base[-1]) > 0

    @cached_property
    def value_places(self) -> Ints:
        """The place base[i] + v of every known value, beside ``people.value``."""
        return self.base[self.people.attribute] + self.people.value

    @cached_property
    def kernel_arrays(self) -> tuple[tuple[object, ...], tuple[object, ...], tuple[object, ...]]:
        """People, rows, and alike codes, in the form that kernels take."""
        rows, alike = self.rows, self.alike
        array = rows.array if rows.is_dense else np.empty((0, 0), np.int32)
        return (
            (self.people.indptr, self.people.attribute, self.value_places),
            (rows.indptr, rows.attribute, rows.value, array),
            (alike.indptr, alike.low, alike.high, alike.sim),
        )

    def find_ranges(self, places: Ints, codes: npt.NDArray[np.integer]) -> Ints:
        """The range of alike codes that contains each released code, among those of the known value at each place; −1
        if none does."""
        if not len(self.alike.low):
            return np.full(len(places), -1)
        step = int(np.diff(self.base).max()) + 1
        at = np.searchsorted(self.alike.owner * step + self.alike.low, places * step + codes, "right") - 1
        inside = (at >= 0) & (codes >= 0) & (self.alike.owner[at] == places) & (codes <= self.alike.high[at])
        return np.where(inside, at, -1)

    def find_pairs(self, person_class: Ints, row_class: Ints, people: npt.ArrayLike, classes: Ints) -> Ints:
        """Where each of these ``people`` with one of these ``classes`` of rows stands among rising pairs of classes; −1
        if nowhere."""
        keys = person_class * self.rows.n + row_class
        key = self.person_class[np.asarray(people, np.int64)] * self.rows.n + classes
        if not len(keys):
            return np.full(len(key), -1)
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        return np.where(keys[at] == key, at, -1)

    @property
    def kernel_postings(self) -> tuple[object, ...]:
        """Postings and missing values, in the form that kernels take; no missing values if nulls differ."""
        missing = self.postings.missing_indptr if self.nulls == "unknown" else np.empty(0, np.int64)
        return self.postings.classes, missing, self.postings.missing

    def __repr__(self) -> str:
        return (
            f"Paired: {count_text(self.n, 'known person', 'known people')} ({self.people.n:,} different), "
            f"{count_text(self.row_count, 'released row')} ({self.rows.n:,} different)\n  {list_text(self.rows.names)}"
        )


def records_from_both(
    released: Mapping[str, Codes], known: Mapping[str, Codes], similarities: Mapping[str, Similarity] | None = None
) -> tuple[Records, Records]:
    """The records of a release and of known people, from the same columns of two files and with a common list of
    values.

    If one file has numbers and the other text, numbers are compared as written.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode_column
    >>> made = [{"age": encode_column(pa.chunked_array([ages]))} for ages in ([30, 40], ["40", "50", None])]
    >>> [records.array.tolist() for records in records_from_both(*made)]
    [[[0], [1]], [[1], [2], [-1]]]
    """
    if set(released) != set(known):
        raise UnveilError(
            "the release and the known people need the same columns; not in both: "
            f"{list_text(sorted(set(released) ^ set(known)))}"
        )
    if any(len({len(c.codes) for c in side.values()}) > 1 for side in (released, known)):
        raise UnveilError("all columns of a file must have the same number of values")
    joined = records_from_codes({name: _join_codes(released[name], known[name]) for name in released}, similarities)
    rows = len(next(iter(released.values())).codes) if released else 0
    return joined.select(np.arange(rows)), joined.select(np.arange(rows, joined.n))


def _join_codes(first: Codes, second: Codes) -> Codes:
    """Two columns, one after the other, with a common sorted list of values."""
    import pyarrow as pa

    from unveil.release.codes import Codes, encode_column

    values = [c.values.cast(_common_type(first.values.type, second.values.type)) for c in (first, second)]
    both = encode_column(
        pa.chunked_array(values)
    )  # nothing is missing, so codes are those of the first, then of the second
    parts = both.codes[: len(values[0])], both.codes[len(values[0]) :]
    codes = [np.append(part, -1).astype(np.int32)[c.codes] for part, c in zip(parts, (first, second), strict=True)]
    return Codes(np.concatenate(codes), both.values)


def _common_type(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_null(first) or pa.types.is_null(second) or first == second:
        return second if pa.types.is_null(first) else first
    whole = [pa.types.is_integer(t) and not pa.types.is_uint64(t) for t in (first, second)]
    number = [pa.types.is_integer(t) or pa.types.is_floating(t) for t in (first, second)]
    date = [pa.types.is_date(t) or pa.types.is_timestamp(t) for t in (first, second)]
    kinds = ((whole, pa.int64()), (number, pa.float64()), (date, pa.timestamp("us")))
    return next((kind for both, kind in kinds if all(both)), pa.string())


def pair_files(
    released: Records,
    known: Records,
    *,
    labels: Mapping[str, LabelReader] | None = None,
    nulls: NullRule = "unknown",
    subjects: Ints | None = None,
) -> FilePair:
    """Put the two files side by side. ``labels`` says for some attributes what released labels mean; the similarity of
    these attributes is ignored. ``subjects`` says whose each row is; :func:`distinct_rows` leaves out repetitions."""
    _check_files(released, known, labels or {})
    row_class, first_row = twin_classes(released)
    paired = _pair_classes(released.select(first_row), row_class, known, labels or {}, nulls)
    return replace(paired, subjects=subjects)


def distinct_rows(released: Records, subjects: Ints) -> Ints:
    """The rows that repeat no earlier row of the same person, rising."""
    return np.sort(np.unique(subjects * max(1, released.n) + twin_classes(released)[0], return_index=True)[1])


def pair_other_people(file_pair: FilePair, sizes: Ints, known: Records) -> FilePair:
    """The same release with only so many rows of each class, beside other people."""
    kept = np.flatnonzero(sizes)
    row_class = np.repeat(np.arange(len(kept)), sizes[kept])
    return _pair_classes(file_pair.rows.select(kept), row_class, known, file_pair.labels, file_pair.nulls)


def _pair_classes(
    rows: Records, row_class: Ints, known: Records, labels: Mapping[str, LabelReader], nulls: NullRule
) -> FilePair:
    person_class, first_person = twin_classes(known)
    people = known.select(first_person)
    base = np.append(0, np.cumsum([len(own) for own in rows.values])).astype(np.int64)
    known_codes = np.bincount(base[people.attribute] + people.value, minlength=base[-1]) > 0
    released_codes = np.bincount(base[rows.attribute] + rows.value, minlength=base[-1]) > 0
    alike = _similar_code_ranges(rows, base, known_codes, released_codes, labels)
    postings = class_postings(rows, base, nulls)
    return FilePair(rows, people, row_class, person_class, nulls, base, alike, postings, labels)


def class_postings(records: Records, base: Ints, nulls: NullRule, attributes: Bools | None = None) -> ClassPostings:
    """The lists of the marked attributes, by default of all."""
    chosen = np.ones(records.c, np.bool_) if attributes is None else attributes
    starts, holder, code = build_postings(records, chosen)
    place = np.repeat(base[:-1], np.diff(starts)) + code
    indptr = np.append(0, np.cumsum(np.bincount(place, minlength=base[-1])))
    return ClassPostings(indptr, holder, *_missing_postings(records, nulls, chosen))


def _check_files(released: Records, known: Records, labels: Mapping[str, LabelReader]) -> None:
    same = released.names == known.names and all(
        a is b or a.equals(b) for a, b in zip(released.values, known.values, strict=True)
    )
    if not same or released.similarities != known.similarities:
        raise UnveilError("the release and the known people need the same attributes and values; see records_from_both")
    strange = [name for name in labels if name not in released.names]
    if strange:
        raise UnveilError(
            f"no attribute is called {list_text(strange)}; the attributes are {list_text(released.names)}"
        )


def twin_classes(records: Records) -> tuple[Ints, Ints]:
    """The class of every record, numbered by content rather than by position, and the first record of each class."""
    ends = records.indptr.tolist()
    keys = [records.attribute[s:e].tobytes() + records.value[s:e].tobytes() for s, e in pairwise(ends)]
    first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
    number = {key: k for k, key in enumerate(sorted(first))}
    return (
        np.fromiter((number[key] for key in keys), np.int64, len(keys)),
        np.fromiter((first[key] for key in number), np.int64, len(number)),
    )


def _missing_postings(records: Records, nulls: NullRule, chosen: Bools) -> tuple[Ints, Int32s]:
    """The records that lack each of the marked attributes, if that matters."""
    if nulls == "differ":
        return np.zeros(records.c + 1, np.int64), np.empty(0, np.int32)
    if records.n * records.c - len(records.value) > _MAX_LISTED:
        raise UnveilError("most values are null; if these are ratings, let nulls differ from values")
    attribute, record = np.nonzero((records.array.T < 0) & chosen[:, None])
    indptr = np.append(0, np.cumsum(np.bincount(attribute, minlength=records.c)))
    return indptr.astype(np.int64), record.astype(np.int32)


# ---- similar codes ---------------------------------------------------------------------------------------------------

CodeRuns = tuple[npt.NDArray[np.integer], npt.NDArray[np.integer], npt.NDArray[np.integer], Floats]
"""Known codes, rising, with the first and last released code of each range alike to them, and its similarity."""


def _similar_code_ranges(
    rows: Records, base: Ints, known: Bools, released: Bools, labels: Mapping[str, LabelReader]
) -> SimilarCodeRanges:
    """The released codes similar to each code that occurs among the known people."""
    found, total = list[CodeRuns](), 0
    for i, (name, own, sim) in enumerate(zip(rows.names, rows.values, rows.similarities, strict=True)):
        inside = slice(base[i], base[i + 1])
        sides = np.flatnonzero(known[inside]), released[inside]
        runs = _covered_codes(own, *sides, labels[name]) if name in labels else _similar_codes(sim, own, *sides, name)
        total += len(runs[0])
        if total > _MAX_LISTED:
            raise UnveilError(f"{safe_text(name)}: too many pairs of values are alike; round them or tolerate less")
        found.append((runs[0] + base[i], *runs[1:]))
    nothing = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    owner, low, high, sims = (np.concatenate(parts) for parts in zip(nothing, *found, strict=True))
    indptr = np.append(0, np.cumsum(np.bincount(owner, minlength=base[-1])))
    return SimilarCodeRanges(indptr, low.astype(np.int32), high.astype(np.int32), sims)


def _similar_codes(sim: Similarity, values: pa.Array, known: Ints, released: Bools, name: str) -> CodeRuns:
    """By similarity: one range for each known code, or single codes if the similarity is graded."""
    low, high = (
        ends[known] for ends in sim.code_ranges(values, _LEAST_SIMILARITY if sim.kind == "linear" else 1.0, name)
    )
    if sim.kind != "linear":
        return known, low, high, np.ones(len(known))
    codes = np.flatnonzero(released)
    first, last = np.searchsorted(codes, low), np.searchsorted(codes, high, "right")
    size = last - first
    if size.sum() > _MAX_LISTED:
        raise UnveilError(f"{safe_text(name)}: too many pairs of values are alike; round them or tolerate less")
    at = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(size.sum())
    owner, code = np.repeat(known, size), codes[at]
    x = sim.numeric_values(values, name)
    return owner, code, code, np.maximum(1 - np.abs(x[owner] - x[code]) / sim.scale, _LEAST_SIMILARITY)


def _covered_codes(values: pa.Array, known: Ints, released: Bools, reading: LabelReader) -> CodeRuns:
    """By the meaning of labels."""
    import pyarrow as pa

    texts, codes = values.cast(pa.string()).to_pylist(), np.flatnonzero(released)
    v, x = (
        np.asarray(side, np.int64)
        for side in reading([texts[k] for k in known.tolist()], [texts[k] for k in codes.tolist()])
    )
    pairs = np.unique(known[v] * len(texts) + codes[x]) if len(v) else np.empty(0, np.int64)
    owner, code = pairs // max(1, len(texts)), pairs % max(1, len(texts))
    return owner, code, code, np.ones(len(pairs))
