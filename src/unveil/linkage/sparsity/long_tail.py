"""Which attributes are rare? The long tail.

Attributes are ranked by the number of records that have them, the most popular first. Attributes that nobody has are
ignored, as in Merener (2012, §4.4), and c counts the others.

- The records have a **(τ, κ)-tail** (Definition 13) if κ·n of them have the attribute of rank τ·c, so that at most κ·n
  records have any attribute of that rank or beyond (Remark 8). Ranks are rounded up, because *i ≥ τ·c* does the same to
  integers i.
- An attribute is **rare** if no more records have it than have the one of rank ⌈τ·c⌉.
- A record is **supported on τ-ranks** if it has a rare attribute (Definition 14). D_{≥τ} are these records.

The paper calls an attribute rare if its rank is at least τ·c, without saying how ties are ranked. Here *equally
popular attributes are all rare or all not rare*, so that nothing depends on the order of columns. Everything rare by
rank is also rare here. More attributes may be rare, and more records may have one, but Remark 8 and Theorem 9 only use
that at most κ·n records have a rare attribute, which still holds. κ as a function of τ is the same either way, because
it depends on the popularity of a rank and not on who has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.errors import UnveilError
from unveil.linkage.records import Records
from unveil.linkage.theorems.exact_numbers import Number, written_fraction

__all__ = ["LongTail", "attribute_tail", "rare_attributes"]


_ROUNDING_GUARD = 1 - Fraction(1, 10**12)  # a binary number may lie slightly above the k/c it stands for


@dataclass(frozen=True, eq=False)
class LongTail:
    """The popularity of attributes: ``popularity[i − 1]`` records have the attribute of rank i. ``rarest`` says for
    each record how many records have its rarest attribute, 0 if it has none."""

    popularity: Ints
    rarest: Ints

    @property
    def attributes(self) -> int:
        """Number of attributes that anybody has."""
        return len(self.popularity)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.rarest)

    def rank(self, tau: Number) -> int:
        """The rank at which τ-ranks begin."""
        exactly = written_fraction(tau) * (1 if isinstance(tau, Fraction) else _ROUNDING_GUARD)
        return max(1, ceil(exactly * self.attributes))

    def max_rare_count(self, tau: Number) -> int:
        """How many records have a rare attribute, at most: as many as have the attribute at which τ-ranks begin."""
        return int(self.popularity[self.rank(tau) - 1])

    def kappa(self, tau: Number) -> float:
        """The κ of the (τ, κ)-tail: the largest share of records that have the same rare attribute."""
        return self.max_rare_count(tau) / self.records

    def rows(self, tau: Number) -> Ints:
        """The records supported on τ-ranks: D_{≥τ}."""
        return np.flatnonzero((self.rarest > 0) & (self.rarest <= self.max_rare_count(tau)))

    def share(self, tau: Number) -> float:
        """The share of records that are supported on τ-ranks."""
        return len(self.rows(tau)) / self.records

    def curve(self, points: int = 200) -> tuple[Ints, Ints]:
        """Ranks and the number of records that have the attribute of each, with points closer together where the curve
        is steep."""
        if points < 2:
            raise UnveilError("a curve needs at least 2 points")
        ranks = np.unique(np.rint(np.geomspace(1, self.attributes, min(points, self.attributes))).astype(np.int64))
        return ranks, self.popularity[ranks - 1]


def attribute_tail(records: Records) -> LongTail:
    """Rank the attributes of records by popularity.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_ratings
    >>> from unveil.release.codes import encode_column
    >>> user, film = ["ann", "bob", "cy", "ann", "bob", "dot"], ["Alien", "Alien", "Alien", "Brazil", "Brazil", "Crash"]
    >>> found = attribute_tail(records_from_ratings(*(encode_column(pa.chunked_array([c])) for c in (user, film))))
    >>> found.kappa(0.5), found.share(0.5), found.rows(1).tolist()
    (0.5, 0.75, [3])
    """
    popularity, some = records.popularity, np.flatnonzero(records.support)
    if not len(some):
        raise UnveilError("no record has any attribute")
    rarest = np.zeros(records.n, np.int64)
    rarest[some] = np.minimum.reduceat(popularity[records.attribute], records.indptr[some])
    return LongTail(-np.sort(-popularity[popularity > 0]), rarest)


def rare_attributes(records: Records, tau: Number) -> Bools:
    """Which attributes are rare."""
    there = records.popularity > 0
    most = attribute_tail(records).max_rare_count(tau) if there.any() else 0
    return np.asarray(there & (records.popularity <= most))
