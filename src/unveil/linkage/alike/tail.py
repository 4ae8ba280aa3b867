"""Which attributes are rare? The long tail.

Let attributes be ranked by how many records have them, the most popular as 1. Attributes that nobody has are left out,
as document 002 does (§4.4), and c counts the others.

- The records have a **(τ, κ)-tail** (Definition 13) if κ·n of them have the attribute of rank τ·c, so that no attribute
  of that rank or a later one is had by more (Remark 8). A rank that is no whole number is rounded up, which is what
  *i ≥ τ·c* does to whole numbers i.
- An attribute is **rare** if no more records have it than have the one of rank ⌈τ·c⌉.
- A record is **supported on τ-ranks** if it has a rare attribute (Definition 14). D_{≥τ} are these records.

The document calls rare what has rank τ·c or more, and leaves open which of equally popular attributes has the lower
rank. Here *of equally popular ones all are rare or none*: nothing depends on the order of columns, and what is rare by
rank is rare here, whichever the order. More attributes may be rare, and more records have one; but all that Remark 8
and Theorem 9 use of a rare attribute is that at most κ·n records have it, and that is so. The κ of a τ and the τ of a κ
are the same either way: they are about how popular a rank is, not about who has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.records import Records
from unveil.linkage.theorems.whole import Number, written

__all__ = ["Tail", "mean_kappa", "rare", "tail", "with_rare"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_NEAR = 1 - Fraction(1, 10**12)  # a binary number may lie a little above the k/c that it stands for


@dataclass(frozen=True, eq=False)
class Tail:
    """How popular attributes are, from the most to the least: ``popularity[i − 1]`` records have that of rank i. Of
    each record, ``rarest`` is how many have its rarest attribute, 0 if it has none."""

    popularity: Ints
    rarest: Ints

    @property
    def attributes(self) -> int:
        """How many attributes anybody has."""
        return len(self.popularity)

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.rarest)

    def rank(self, tau: Number) -> int:
        """The rank with which τ-ranks begin."""
        exactly = written(tau) * (1 if isinstance(tau, Fraction) else _NEAR)
        return max(1, ceil(exactly * self.attributes))

    def most(self, tau: Number) -> int:
        """How many records have a rare attribute at most: as many as have the one with which τ-ranks begin."""
        return int(self.popularity[self.rank(tau) - 1])

    def kappa(self, tau: Number) -> float:
        """The κ of the (τ, κ)-tail: the same as a share."""
        return self.most(tau) / self.records

    def tau(self, kappa: Number) -> float | None:
        """The τ from whose rank on no attribute has more than κ·n records; None if all have more.

        Every τ a little smaller, down to the rank before, says the same; this is the one that the document writes.
        """
        rank = int((self.popularity > int(written(kappa) * self.records)).sum()) + 1
        return rank / self.attributes if rank <= self.attributes else None

    def rows(self, tau: Number) -> Ints:
        """The records that are supported on τ-ranks: D_{≥τ}."""
        return np.flatnonzero((self.rarest > 0) & (self.rarest <= self.most(tau)))

    def share(self, tau: Number) -> float:
        """Their share of all."""
        return len(self.rows(tau)) / self.records

    def curve(self, points: int = 200) -> tuple[Ints, Ints]:
        """Ranks and how many records have the attribute of each: so many points, closer together where it is steep."""
        if points < 2:
            raise UnveilError("a curve has 2 points or more")
        ranks = np.unique(np.rint(np.geomspace(1, self.attributes, min(points, self.attributes))).astype(np.int64))
        return ranks, self.popularity[ranks - 1]


def tail(records: Records) -> Tail:
    """How popular the attributes of records are.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_ratings
    >>> from unveil.release.codes import encode
    >>> user, film = ["ann", "bob", "cy", "ann", "bob", "dot"], ["Alien", "Alien", "Alien", "Brazil", "Brazil", "Crash"]
    >>> found = tail(records_of_ratings(*(encode(pa.chunked_array([c])) for c in (user, film))))
    >>> found.kappa(0.5), found.tau(0.5), found.share(0.5), found.rows(1).tolist()
    (0.5, 0.6666666666666666, 0.75, [3])
    """
    popularity, some = records.popularity, np.flatnonzero(records.support)
    if not len(some):
        raise UnveilError("no record has any attribute")
    rarest = np.zeros(records.n, np.int64)
    rarest[some] = np.minimum.reduceat(popularity[records.attribute], records.indptr[some])
    return Tail(-np.sort(-popularity[popularity > 0]), rarest)


def rare(records: Records, tau: Number) -> Bools:
    """Which attributes are rare."""
    there = records.popularity > 0
    most = tail(records).most(tau) if there.any() else 0
    return np.asarray(there & (records.popularity <= most))


def with_rare(records: Records, marked: npt.ArrayLike) -> Bools:
    """Which records have a rare attribute, ``marked`` saying of each attribute whether it is."""
    own = _marks(records, marked)[records.attribute]
    return np.asarray(np.bincount(_owner(records), own, minlength=records.n) > 0)


def mean_kappa(records: Records, marked: npt.ArrayLike) -> float:
    """The average of |supp(I)|/n for a random rare attribute I of a random record that has one.

    Given the record and I, what is named is wrong with probability |supp(I)| γ^(m−1) at most, which is proportional to
    |supp(I)|: this average may stand for the κ of the tail, which is the largest of them.
    """
    entries = _marks(records, marked)[records.attribute]
    owner, sizes = _owner(records)[entries], records.popularity[records.attribute[entries]]
    counts = np.bincount(owner, minlength=records.n)
    if not counts.any():
        raise UnveilError("no record has a rare attribute")
    some = counts > 0
    return float((np.bincount(owner, sizes, minlength=records.n)[some] / counts[some]).mean()) / records.n


def _marks(records: Records, marked: npt.ArrayLike) -> Bools:
    few = np.asarray(marked)
    if few.shape != (records.c,) or few.dtype != np.bool_:
        raise UnveilError("each attribute is rare or not: one truth value for each")
    return few


def _owner(records: Records) -> Ints:
    return np.repeat(np.arange(records.n), records.support)
