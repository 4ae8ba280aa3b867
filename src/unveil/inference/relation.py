"""Who has which attribute? A relation between individuals and attributes, and what follows from knowing some of them.

Individual i has the attributes Att_i. Of a set K of attributes, the closure K̄ contains everything that all individuals
with K share, and I_K = K̄ ∖ K is what somebody learns who knows K. Every attribute x has a likelihood l(x) of being
known and a danger d(x) of being learned, both from 0 to 1 (L. A. White, *A privacy score for
anonymous databases*, thesis, 2021, definitions 3.1 to 3.6):

    lk(K) = ∏ l(x) over x ∈ K        dg(I) = Σd / (offset + Σd) over x ∈ I        w(K) = lk(K) · dg(I_K)

The offset is 1 there; a smaller one makes small sums count for more. lk(∅) = 1, so an attribute that everybody has is
learned without knowing anything.

**Tables.** A column is a group of attributes, one for each value, of which an individual has at most one. **A missing
value (−1) never refutes an inference.** An individual without a value in a column

- does not *have* any attribute of it, so K never contains one for them, and they do not count among those who have K
  where K contains one;
- *may have* any attribute of it, so they contradict nothing.

The closure of K is then every attribute that nobody who has K contradicts, and that at least one of them really has:

    K̄ = {x : everybody who has K has or may have x, and somebody who has K has x}.

So at most one value of each column follows. Without missing values this is the closure above; with them it need not
grow with K, since fewer people may confirm a value. To count missing as a value, code it as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from unveil.arrays import BitWords, Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.grouping import class_ids

__all__ = ["DistinctRows", "Relation", "pack_bits", "unpack_bits", "word_classes"]

AttributeWeights: TypeAlias = float | Sequence[float] | Floats
"""One weight for all attributes, or one for each."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The different sets of attributes: which attributes each has (``has``) and may have (``may``), how many
    individuals it belongs to, the row of every individual, and the codes of the columns of a table."""

    has: BitWords
    may: BitWords
    counts: Ints
    row_of: Ints
    codes: Int32s | None


@dataclass(frozen=True, eq=False)
class Relation:
    """Individuals, their attributes, and what each attribute weighs.

    ``words`` has a row of bits for each individual, unless the relation was made from the columns of a table:
    ``columns`` then has their codes, and code v of column c is attribute ``first_attribute[c] + v``.
    """

    people: int
    likelihood: Floats
    danger: Floats
    danger_offset: float = 1.0
    names: tuple[str, ...] | None = None
    words: BitWords | None = None
    columns: tuple[Int32s, ...] | None = None
    first_attribute: Ints | None = None

    def __post_init__(self) -> None:
        for weights, what in ((self.likelihood, "likelihood"), (self.danger, "danger")):
            if not ((weights >= 0) & (weights <= 1)).all():
                raise UnveilError(f"the {what} of every attribute must lie between 0 and 1")
        if not 0 < self.danger_offset < np.inf:
            raise UnveilError("the offset of the danger score must be a number greater than 0")
        if self.names is not None and len(self.names) != self.attributes:
            raise UnveilError(f"{len(self.names)} names were given for {self.attributes} attributes")

    # ---- constructors ------------------------------------------------------------------------------------------------

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[str]],
        likelihood: AttributeWeights = 1.0,
        danger: AttributeWeights = 1.0,
        *,
        names: Sequence[str] | None = None,
        danger_offset: float = 1.0,
    ) -> Relation:
        """A relation from the set of attribute names of each individual. The attributes are ``names``, or all that
        occur, in alphabetical order.

        >>> Relation.from_sets(["ab", "bc", "acd", "bcd"]).closure({3})
        frozenset({2, 3})
        """
        rows = [frozenset(one) for one in sets]
        known = tuple(names) if names is not None else tuple(sorted(frozenset[str]().union(*rows)))
        number = {name: a for a, name in enumerate(known)}
        if any(name not in number for row in rows for name in row):
            raise UnveilError("an individual has an attribute that is not among the names")
        begins = np.append(0, np.cumsum([len(row) for row in rows], dtype=np.int64))
        items = np.array([number[name] for row in rows for name in sorted(row)], np.int64)
        return cls.from_items(begins, items, len(known), likelihood, danger, names=known, danger_offset=danger_offset)

    @classmethod
    def from_items(
        cls,
        begins: Ints,
        items: npt.NDArray[np.integer],
        attributes: int,
        likelihood: AttributeWeights = 1.0,
        danger: AttributeWeights = 1.0,
        *,
        names: Sequence[str] | None = None,
        danger_offset: float = 1.0,
    ) -> Relation:
        """A relation from lists: individual i has the attributes ``items[begins[i] : begins[i + 1]]``."""
        people = len(begins) - 1
        words = np.zeros((people, max(1, -(-attributes // 64))), np.uint64)
        place = np.asarray(items, np.int64)
        if len(place) and not 0 <= place.min() <= place.max() < attributes:
            raise UnveilError("an individual has an attribute that does not exist")
        who = np.repeat(np.arange(people), np.diff(begins))
        np.bitwise_or.at(words, (who, place >> 6), np.uint64(1) << (place & 63).astype(np.uint64))
        return cls(
            people, _spread(likelihood, attributes), _spread(danger, attributes), danger_offset,
            None if names is None else tuple(names), words,
        )  # fmt: skip

    @classmethod
    def from_matrix(
        cls,
        matrix: Bools,
        likelihood: AttributeWeights = 1.0,
        danger: AttributeWeights = 1.0,
        *,
        names: Sequence[str] | None = None,
        danger_offset: float = 1.0,
    ) -> Relation:
        """A relation from a matrix that says who (row) has what (column)."""
        people, attributes = matrix.shape
        return cls(
            people, _spread(likelihood, attributes), _spread(danger, attributes), danger_offset,
            None if names is None else tuple(names), pack_bits(matrix),
        )  # fmt: skip

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Int32s],
        likelihood: Sequence[AttributeWeights],
        danger: Sequence[AttributeWeights],
        *,
        sizes: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        danger_offset: float = 1.0,
    ) -> Relation:
        """A relation from columns of codes, −1 where a value is missing. Weights are given per column: one for all of
        its values, or one for each. ``sizes`` says how many values each column has."""
        if not columns:
            raise UnveilError("a relation needs at least one column")
        sizes = [int(codes.max(initial=-1)) + 1 for codes in columns] if sizes is None else list(sizes)
        if any(int(codes.max(initial=-1)) >= size for codes, size in zip(columns, sizes, strict=True)):
            raise UnveilError("a column has more values than weights")
        weights = [
            np.concatenate([_spread(one, size) for one, size in zip(given, sizes, strict=True)])
            for given in (likelihood, danger)
        ]
        return cls(
            len(columns[0]), weights[0], weights[1], danger_offset, None if names is None else tuple(names),
            columns=tuple(np.asarray(codes, np.int32) for codes in columns),
            first_attribute=np.append(0, np.cumsum(sizes, dtype=np.int64)),
        )  # fmt: skip

    # ---- rows --------------------------------------------------------------------------------------------------------

    @property
    def attributes(self) -> int:
        """The number of attributes."""
        return len(self.likelihood)

    @cached_property
    def rows(self) -> DistinctRows:
        """The distinct rows, in an order that depends on their contents alone."""
        if self.columns is None:
            assert self.words is not None
            ids = word_classes(self.words)
            first, counts = _first_of_each(ids)
            return DistinctRows(self.words[first], self.words[first], counts, ids, None)
        ids, _ = class_ids(self.columns, self.people)
        first, counts = _first_of_each(ids)
        codes = np.stack([column[first] for column in self.columns], axis=1)
        has, may = self._code_bits(codes)
        return DistinctRows(has, may, counts, ids, codes)

    def _code_bits(self, codes: Int32s) -> tuple[BitWords, BitWords]:
        """The attributes that rows of codes have, and those that they may have."""
        assert self.first_attribute is not None
        has = np.zeros((len(codes), max(1, -(-self.attributes // 64))), np.uint64)
        may = has.copy()
        for c, begin in enumerate(self.first_attribute[:-1].tolist()):
            some = np.flatnonzero(codes[:, c] >= 0)
            place = codes[some, c].astype(np.int64) + begin
            bit = np.uint64(1) << (place & 63).astype(np.uint64)
            has[some, place >> 6] |= bit
            may[some, place >> 6] |= bit
            whole = np.zeros(self.attributes, np.bool_)
            whole[begin : self.first_attribute[c + 1]] = True
            may[codes[:, c] < 0] |= pack_bits(whole[None])[0]
        return has, may

    @cached_property
    def columns_with_gaps(self) -> tuple[int, ...]:
        """The columns in which somebody's value is missing."""
        return tuple(c for c, codes in enumerate(self.columns or ()) if len(codes) and int(codes.min()) < 0)

    def values_of(self, column: int) -> slice:
        """The attributes of a column."""
        assert self.first_attribute is not None
        return slice(int(self.first_attribute[column]), int(self.first_attribute[column + 1]))

    def classes_of_rows(self, columns: Sequence[int]) -> Ints:
        """The class of each distinct row by some columns of codes."""
        assert self.rows.codes is not None
        return class_ids([self.rows.codes[:, c] for c in columns], len(self.rows.codes))[0]

    def attributes_of(self, person: int) -> frozenset[int]:
        """Att_i: what an individual has."""
        return frozenset(np.flatnonzero(unpack_bits(self.rows.has[self.rows.row_of[person]], self.attributes)).tolist())

    # ---- closures ----------------------------------------------------------------------------------------------------

    def people_with(self, known: Iterable[int]) -> Bools:
        """ψ(K): who has all of these attributes."""
        mask = self.mask(known)
        found: Bools = ((self.rows.has & mask) == mask).all(axis=1)[self.rows.row_of]
        return found

    def shared_attributes(self, people: Bools) -> frozenset[int]:
        """φ(J): what all of these individuals share. Nobody contradicts it, and somebody has it; no individuals share
        every attribute."""
        if not people.any():
            return frozenset(range(self.attributes))
        some = np.unique(self.rows.row_of[people])
        shared = np.bitwise_and.reduce(self.rows.may[some]) & np.bitwise_or.reduce(self.rows.has[some])
        return frozenset(np.flatnonzero(unpack_bits(shared, self.attributes)).tolist())

    def closure(self, known: Iterable[int]) -> frozenset[int]:
        """K̄ = (φ∘ψ)(K): what all individuals who have K share, K included."""
        return self.shared_attributes(self.people_with(known))

    def closure_of_people(self, people: Bools) -> Bools:
        """(ψ∘φ)(J): everybody who has what all of these individuals share."""
        return self.people_with(self.shared_attributes(people))

    def inferred_attributes(self, known: Iterable[int]) -> frozenset[int]:
        """I_K: what follows from K, without K itself."""
        known = frozenset(known)
        return self.closure(known) - known

    def mask(self, attributes: Iterable[int]) -> BitWords:
        """A row of words with the bits of some attributes."""
        marks = np.zeros((1, self.attributes), np.bool_)
        marks[0, list(attributes)] = True
        found: BitWords = pack_bits(marks)[0]
        return found

    # ---- weights -----------------------------------------------------------------------------------------------------

    @cached_property
    def danger_units(self) -> Ints:
        """The dangers as whole multiples of :attr:`danger_unit`, so that sums do not depend on their order."""
        return np.rint(self.danger / self.danger_unit).astype(np.int64)

    @cached_property
    def danger_unit(self) -> float:
        """A power of two, at most 2⁻⁵² unless the dangers of all attributes add up to more than 512."""
        return float(2.0 ** (max(0, ceil(float(self.danger.sum()) / 512).bit_length() - 1) - 52))

    def likelihood_of(self, known: Iterable[int]) -> float:
        """lk(K): how likely it is that somebody knows all of K."""
        return prod(sorted(self.likelihood[list(frozenset(known))].tolist(), reverse=True), start=1.0)

    def danger_of(self, learned: Iterable[int]) -> float:
        """dg(I): how dangerous it is that somebody learns I."""
        total = int(self.danger_units[list(frozenset(learned))].sum()) * self.danger_unit
        return total / (self.danger_offset + total)

    def risk_weight(self, known: Iterable[int]) -> float:
        """w(K) = lk(K) · dg(I_K)."""
        known = frozenset(known)
        return self.likelihood_of(known) * self.danger_of(self.inferred_attributes(known))


def pack_bits(marks: Bools) -> BitWords:
    """Rows of marks as rows of words, 64 marks to a word, the first in the lowest bit."""
    rows, width = marks.shape
    padded = np.zeros((rows, 8 * max(1, -(-width // 64))), np.uint8)
    packed = np.packbits(marks, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpack_bits(words: BitWords, width: int) -> Bools:
    """The marks that :func:`pack_bits` packed, in one row or several."""
    some = np.ascontiguousarray(words, "<u8").view(np.uint8)
    return np.unpackbits(some, axis=-1, count=width, bitorder="little").astype(np.bool_)


def _spread(weights: AttributeWeights, attributes: int) -> Floats:
    """One weight per attribute."""
    given = np.asarray(weights, np.float64)
    if given.ndim and given.shape != (attributes,):
        raise UnveilError(f"{given.size} weights were given for {attributes} attributes")
    return np.broadcast_to(given, (attributes,)).copy()


def word_classes(words: BitWords) -> Ints:
    """The class of every row of words: equal rows have the same number."""
    _, ids = np.unique(words[:, 0], return_inverse=True)
    for word in words.T[1:]:
        values, rank = np.unique(word, return_inverse=True)
        _, ids = np.unique(ids * len(values) + rank, return_inverse=True)
    return ids.astype(np.int64, copy=False)


def _first_of_each(ids: Ints) -> tuple[Ints, Ints]:
    """The first member of every class, and their sizes."""
    counts = np.bincount(ids)
    first = np.empty(len(counts), np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    return first, counts
