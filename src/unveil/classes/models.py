"""What a class gives away together: ℓ, t, β, δ and their kin, of every class at once.

A class of people that cannot be told apart still tells what they have in common. With p the shares of the sensitive
values in a class, and q those in the whole table:

- (α, k): α is the largest share p of one value (Wong and others 2006);
- distinct ℓ: how many values there are; entropy ℓ: e to the entropy of p, as many equally frequent values would tell
  as little (Machanavajjhala and others 2006; Øhrn and Ohno-Machado 1999); recursive (c, ℓ): the largest count is less
  than c times the sum of all but the ℓ − 1 largest, reported as the least c that is enough, exclusively;
- t: how far p is from q by the earth mover's distance, with values equally far apart, on a line, or in a tree (Li, Li
  and Venkatasubramanian 2007);
- basic β: the largest relative gain (p − q)/q; enhanced β: the same where it must not exceed −ln q either, infinite
  where it does (Cao and Karras 2012);
- δ-disclosure: the largest |ln p/q|, infinite where a value of the table is absent from a class (Brickell and
  Shmatikov 2008).

Counts are whole numbers until the last division, and values are gone through in a fixed order: the order of rows and
columns changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.grouping import Ints

__all__ = ["Classes", "Floats", "classes_of"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Classes:
    """All classes of a table with the sensitive values in them, in the order of their keys.

    The pairs of class c lie at ``begins[c] … begins[c + 1]``: which value, and how often. ``codes`` are the values
    that occur, rising; a missing one, −1, comes last. Where classes overlap, as those of wildcards do, ``members`` says
    for how many people each is the one that is seen, and ``whole`` how often each value occurs in the table.
    """

    key: Ints
    begins: Ints
    value: npt.NDArray[np.int32]
    count: Ints
    codes: Ints
    members: Ints | None = None
    whole: Ints | None = None

    def __len__(self) -> int:
        return len(self.key)

    @property
    def values(self) -> int:
        """How many different values the table has."""
        return len(self.codes)

    @cached_property
    def size(self) -> Ints:
        """How many people are in each class."""
        return np.add.reduceat(self.count, self.begins[:-1])

    @cached_property
    def top(self) -> Ints:
        """How often each class's most frequent value occurs."""
        return np.maximum.reduceat(self.count, self.begins[:-1])

    @cached_property
    def inside(self) -> Floats:
        """The share of the class that each pair is."""
        shares: Floats = self.count / np.repeat(self.size, self.distinct)
        return shares

    @cached_property
    def share(self) -> Floats:
        """The share of each value in the whole table."""
        totals = self.whole
        if totals is None:
            totals = np.zeros(self.values, np.int64)
            np.add.at(totals, self.value, self.count)
        shares: Floats = totals / max(1, int(totals.sum()))
        return shares

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.seen_by.sum())

    @property
    def seen_by(self) -> Ints:
        """For how many people each class is the one that is seen."""
        return self.size if self.members is None else self.members

    @property
    def alpha(self) -> Floats:
        """The largest share of a value."""
        found: Floats = self.top / self.size
        return found

    @property
    def distinct(self) -> Ints:
        """How many different values there are."""
        return np.diff(self.begins)

    @property
    def entropy_l(self) -> Floats:
        """e to the entropy."""
        p = self.inside
        entropy = -np.add.reduceat(p * np.log(p), self.begins[:-1])
        found: Floats = np.exp(np.where(self.distinct > 1, entropy, 0.0))
        return found

    def recursive_c(self, few: int) -> Floats:
        """The c that (c, ℓ) diversity has to exceed, with ℓ = ``few``; infinite where there are fewer than ℓ values."""
        if few < 1:
            raise UnveilError("ℓ must be 1 or more")
        if few <= 2:  # all but the largest, or all
            rest = self.size - (few - 1) * self.top
            least: Floats = np.divide(self.top, rest, out=np.full(len(self), np.inf), where=rest > 0)
            return least
        from unveil.classes import _kernels

        found: Floats = _kernels.recursive(self.begins, self.count, few)
        return found

    @property
    def guessed(self) -> float:
        """The share of people whose value is right when each class's most frequent one is guessed."""
        if self.members is None:
            return float(self.top.sum() / self.people)
        return fsum((self.members * self.top / self.size).tolist()) / self.people

    def revealed_without(self, ruled: npt.NDArray[np.bool_]) -> float:
        """How many people have the only value of their class that is left when those are ruled out for which ``ruled``
        (one truth value per code) holds. Those who have one of these are not among them."""
        left = ~np.append(ruled, False)[self.codes][self.value]
        starts = self.begins[:-1]
        people = np.add.reduceat(np.where(left, self.count, 0), starts)
        one = np.add.reduceat(left, starts, dtype=np.int64) == 1
        if self.members is None:
            return float(people[one].sum())
        return fsum((self.members * people / self.size)[one].tolist())

    def distinct_kinds(self, kinds: npt.ArrayLike) -> Ints:
        """How many different kinds of values there are, where ``kinds[code]`` is what a value is a kind of. A missing
        value is a kind of its own."""
        of_code = np.append(np.asarray(kinds, np.int64), np.int64(-1))[self.codes]
        names, kind = np.unique(of_code, return_inverse=True)
        of_class = np.repeat(np.arange(len(self)), self.distinct)
        pairs = np.unique(of_class * len(names) + kind[self.value])
        return np.bincount(pairs // len(names), minlength=len(self))

    @cached_property
    def t_equal(self) -> Floats:
        """The distance from the table when all values are equally far apart."""
        more = self.inside - self.share[self.value]
        found: Floats = np.minimum(1.0, np.add.reduceat(np.maximum(more, 0.0, out=more), self.begins[:-1]))
        return found

    def t_ordered(self, rank: npt.ArrayLike | None = None) -> Floats:
        """The same when values stand on a line, in the order of ``rank`` (one number per code; the codes themselves by
        default). A missing value stands last."""
        from unveil.classes import _kernels

        codes = self.codes
        of_code = codes if rank is None else np.append(np.asarray(rank, np.float64), np.inf)[codes]
        places = np.argsort(np.lexsort((codes, of_code, codes < 0)))
        line = np.empty(self.values)
        line[places] = self.share
        upto = np.cumsum(line)
        area = np.append(0.0, np.cumsum(upto))
        found: Floats = _kernels.ordered_distance(self.begins, self.value, self.count, self.size, places, upto, area)
        return found

    def t_tree(self, levels: Sequence[npt.ArrayLike]) -> Floats:
        """The same when values stand in a tree: ``levels[l][code]`` is the node of a value at level l + 1. A missing
        value has nothing in common with any other."""
        from unveil.classes import _kernels

        parents = np.zeros((max(1, len(levels)), self.values), np.int64)
        widths = np.ones(max(1, len(levels)), np.int64)
        below = np.arange(self.values)
        for row, level in enumerate(levels):
            nodes = np.append(np.asarray(level, np.int64), np.int64(-1))[self.codes]
            _, dense = np.unique(nodes, return_inverse=True)
            names, first = np.unique(below, return_index=True)
            if (dense != dense[first][below]).any():
                raise UnveilError("a level of the tree does not follow from the one below")
            parents[row, : len(names)], widths[row], below = dense[first], int(dense.max(initial=0)) + 1, dense
        found: Floats = _kernels.tree_distance(
            self.begins, self.value, self.count, self.size, self.share, parents, widths
        )
        return found

    @cached_property
    def _gains(self) -> tuple[Floats, Floats, Floats]:
        starts, q = self.begins[:-1], self.share[self.value]
        ratio = self.inside / q
        gain = np.maximum(ratio - 1, 0.0)
        basic: Floats = np.maximum.reduceat(gain, starts)
        too_much = gain > -np.log(q) * (1 + 1e-12)
        enhanced: Floats = np.maximum.reduceat(np.where((gain > 0) & too_much, np.inf, gain), starts)
        disclosure = np.maximum.reduceat(np.abs(np.log(ratio)), starts)
        return basic, enhanced, np.where(self.distinct < self.values, np.inf, disclosure)

    @property
    def beta(self) -> Floats:
        """Basic β."""
        return self._gains[0]

    @property
    def beta_enhanced(self) -> Floats:
        """Enhanced β; infinite where none is enough."""
        return self._gains[1]

    @property
    def delta(self) -> Floats:
        """δ of δ-disclosure; infinite where a value is absent."""
        return self._gains[2]


def classes_of(key: Ints, bound: int, sensitive: npt.NDArray[np.int32], weights: Ints | None = None) -> Classes:
    """The classes of rows with these keys, all below ``bound``, and sensitive codes; −1 (missing) is one more value.
    A row stands for as many people as its weight says.

    >>> found = classes_of(np.array([0, 0, 1, 1, 1]), 2, np.array([0, 1, 1, 1, 1], np.int32))
    >>> found.size.tolist(), found.distinct.tolist(), found.t_equal.round(3).tolist()
    ([2, 3], [2, 1], [0.3, 0.2])
    """
    most = int(sensitive.max(initial=-1)) + 1
    seen = np.zeros(most + 1, np.bool_)
    seen[sensitive] = True  # −1 is the last place
    codes = np.append(np.flatnonzero(seen[:-1]), np.full(int(seen[-1]), -1))
    dense = sensitive if seen[:-1].all() and not seen[-1] else (np.cumsum(seen) - 1)[sensitive]
    values = max(1, len(codes))
    keys = key * values
    keys += dense
    if weights is None:
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        count = np.diff(starts, append=len(keys))
    else:
        order = np.argsort(keys)
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        count = np.add.reduceat(weights[order], starts)
    pairs = keys[starts]
    del keys
    of_class = pairs // values
    begins = np.flatnonzero(np.diff(of_class, prepend=-1))
    value = (pairs - of_class * values).astype(np.int32)
    return Classes(of_class[begins], np.append(begins, len(pairs)), value, count, codes)
