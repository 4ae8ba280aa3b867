"""What does a class reveal without singling anyone out? ℓ, t, β, δ and their relatives, for all classes at once.

People in a class cannot be told apart, but the class still reveals what they have in common. With p the shares of the
sensitive values in a class, and q those in the whole table:

- (α, k): α is the largest share p of one value (Wong and others 2006);
- distinct ℓ: the number of values; entropy ℓ: e to the entropy of p, the number of equally frequent values with the
  same entropy (Machanavajjhala and others 2006; Øhrn and Ohno-Machado 1999); recursive (c, ℓ): the largest count is
  less than c times the sum of all but the ℓ − 1 largest; reported is the c that must be exceeded;
- t: the earth mover's distance from p to q, with values equally far apart, on a line, or in a tree (Li, Li and
  Venkatasubramanian 2007);
- basic β: the largest relative gain (p − q)/q; enhanced β: also requires the gain not to exceed −ln q, and is infinite
  where it does (Cao and Karras 2012);
- δ-disclosure: the largest |ln p/q|, infinite if a class lacks a value of the table (Brickell and Shmatikov 2008).

Counts stay integers until the last division, and values are visited in a fixed order, so the order of rows and columns
changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError

__all__ = ["SensitiveClasses", "group_sensitive_values"]


@dataclass(frozen=True, eq=False)
class SensitiveClasses:
    """All classes of a table with their sensitive values, in the order of their keys.

    The pairs of class c, a value and its count, lie at ``begins[c] … begins[c + 1]``. ``codes`` are the values that
    occur, ascending, with a missing one, −1, last. If classes overlap, as with wildcards, ``members`` is the number of
    people whose own class each one is, and ``table_counts`` is the count of each value in the table. If people may have
    several values, ``holders`` is the number of people in each class who have any; a value counts once for each person.
    """

    key: Ints
    begins: Ints
    value: Int32s
    count: Ints
    codes: Ints
    members: Ints | None = None
    table_counts: Ints | None = None
    holders: Ints | None = None

    def __len__(self) -> int:
        return len(self.key)

    @property
    def values(self) -> int:
        """The number of different values in the table."""
        return len(self.codes)

    @cached_property
    def size(self) -> Ints:
        """The sum of each class's counts: its people, if everybody has one value."""
        return np.add.reduceat(self.count, self.begins[:-1])

    @cached_property
    def largest_counts(self) -> Ints:
        """The count of each class's most frequent value."""
        return np.maximum.reduceat(self.count, self.begins[:-1])

    @cached_property
    def class_shares(self) -> Floats:
        """The share of each pair's value in its class."""
        shares: Floats = self.count / np.repeat(self.size, self.distinct)
        return shares

    @cached_property
    def table_shares(self) -> Floats:
        """The share of each value in the whole table."""
        totals = self.table_counts
        if totals is None:
            totals = np.zeros(self.values, np.int64)
            np.add.at(totals, self.value, self.count)
        shares: Floats = totals / max(1, int(totals.sum()))
        return shares

    @property
    def largest_rise(self) -> tuple[float, float]:
        """The share of people in the table, and in a class, who have the value whose share rises most from one to the
        other. The second exceeds no ``alpha``; both are equal if no share rises."""
        several = 1.0 if self.holders is None else float(self.size.sum() / self.holders.sum())
        of_class: Floats = self.count / np.repeat(self._class_people, self.distinct)
        of_table: Floats = self.table_shares[self.value] * several
        at = int(np.argmax(of_class - of_table))
        return float(of_table[at]), max(float(of_table[at]), float(of_class[at]))

    @property
    def people(self) -> int:
        """The number of people."""
        return int(self.target_counts.sum())

    @property
    def target_counts(self) -> Ints:
        """The number of people whose own class each one is."""
        return self._class_people if self.members is None else self.members

    @property
    def _class_people(self) -> Ints:
        return self.size if self.holders is None else self.holders

    @property
    def alpha(self) -> Floats:
        """The largest share of each class's people who have the same value."""
        found: Floats = self.largest_counts / self._class_people
        return found

    @cached_property
    def is_certain(self) -> Bools:
        """Whether everybody in the class has the same value, among others or alone."""
        certain: Bools = self.largest_counts == self._class_people
        return certain

    @property
    def diversity(self) -> Ints:
        """Distinct ℓ: the number of different values in each class; 1 if everybody has one of them."""
        return np.where(self.is_certain, 1, self.distinct)

    @property
    def distinct(self) -> Ints:
        """The number of different values in each class."""
        return np.diff(self.begins)

    @property
    def entropy_l(self) -> Floats:
        """e to the entropy of each class."""
        p = self.class_shares
        entropy = -np.add.reduceat(p * np.log(p), self.begins[:-1])
        found: Floats = np.exp(np.where(self.is_certain, 0.0, entropy))
        return found

    def recursive_c(self, few: int) -> Floats:
        """The value that c must exceed for (c, ℓ)-diversity, ℓ = ``few``; infinite for fewer than ℓ values."""
        if few < 1:
            raise UnveilError("ℓ must be 1 or more")
        if few <= 2:  # the sum of all counts, or of all but the largest
            rest = self.size - (few - 1) * self.largest_counts
            return self._top_over(np.where(self.is_certain & (few > 1), 0, rest))
        of_class = np.repeat(np.arange(len(self)), self.distinct)
        falling = self.count[np.lexsort((-self.count, of_class))]
        falling[np.arange(len(falling)) - self.begins[of_class] < few - 1] = 0
        return self._top_over(np.where(self.is_certain, 0, np.add.reduceat(falling, self.begins[:-1])))

    def _top_over(self, rest: Ints) -> Floats:
        """The largest count over another number, infinite if that is 0."""
        found: Floats = np.divide(self.largest_counts, rest, out=np.full(len(self), np.inf), where=rest > 0)
        return found

    @property
    def guess_accuracy(self) -> float:
        """The share of people for whom guessing their class's most frequent value is right."""
        if self.members is None:
            return float(self.largest_counts.sum() / self.people)
        return fsum((self.members * self.largest_counts / self.size).tolist()) / self.people

    def people_revealed_if_ruled_out(self, ruled: Bools) -> float:
        """The number of people whose value is the only one left in their class once the values in ``ruled`` (one
        boolean per code) are ruled out. People with a value that is ruled out do not count."""
        left = ~np.append(ruled, False)[self.codes][self.value]
        starts = self.begins[:-1]
        people = np.add.reduceat(np.where(left, self.count, 0), starts)
        one = np.add.reduceat(left, starts, dtype=np.int64) == 1
        if self.members is None:
            return float(people[one].sum())
        return fsum((self.members * people / self.size)[one].tolist())

    def distinct_kinds(self, kinds: npt.ArrayLike) -> Ints:
        """The number of different kinds of values in each class, where ``kinds[code]`` is the kind of a value. Missing
        is a kind of its own."""
        of_code = np.append(np.asarray(kinds, np.int64), np.int64(-1))[self.codes]
        names, kind = np.unique(of_code, return_inverse=True)
        of_class = np.repeat(np.arange(len(self)), self.distinct)
        pairs = np.unique(of_class * len(names) + kind[self.value])
        return np.bincount(pairs // len(names), minlength=len(self))

    @cached_property
    def t_equal(self) -> Floats:
        """t with all values equally far apart."""
        more = self.class_shares - self.table_shares[self.value]
        found: Floats = np.minimum(1.0, np.add.reduceat(np.maximum(more, 0.0, out=more), self.begins[:-1]))
        return found

    def t_ordered(self, rank: npt.ArrayLike | None = None) -> Floats:
        """t with values on a line, in the order of ``rank`` (one number per code; by default the codes themselves). A
        missing value comes last."""
        from unveil.classes import _diversity

        codes = self.codes
        of_code = codes if rank is None else np.append(np.asarray(rank, np.float64), np.inf)[codes]
        places = np.argsort(np.lexsort((codes, of_code, codes < 0)))
        line = np.empty(self.values)
        line[places] = self.table_shares
        upto = np.cumsum(line)
        area = np.append(0.0, np.cumsum(upto))
        place, count, found = places[self.value], self.count, np.empty(len(self))
        if (np.diff(places) < 0).any():  # values rise in each class, but not on the line
            order = np.lexsort((place, np.repeat(np.arange(len(self)), self.distinct)))
            place, count = place[order], count[order]
        _diversity.ordered_distance(self.begins, place, count, self.size, upto, area, found)
        return found

    def t_tree(self, levels: Sequence[npt.ArrayLike]) -> Floats:
        """t with values in a tree: ``levels[l][code]`` is the node of a value at level l + 1. A missing value shares no
        node with any other."""
        from unveil.classes import _diversity

        parents = np.zeros((max(1, len(levels)), self.values), np.int64)
        widths = np.ones(max(1, len(levels)), np.int64)
        below = np.arange(self.values)
        for row, level in enumerate(levels):
            nodes = np.append(np.asarray(level, np.int64), np.int64(-1))[self.codes]
            _, dense = np.unique(nodes, return_inverse=True)
            names, first = np.unique(below, return_index=True)
            if (dense != dense[first][below]).any():
                raise UnveilError("values that share a node at one level of the tree must share one at the next")
            parents[row, : len(names)], widths[row], below = dense[first], int(dense.max(initial=0)) + 1, dense
        found, workspace = np.empty(len(self)), np.empty((3, self.values))
        _diversity.tree_distance(
            self.begins, self.value, self.count, self.size, self.table_shares, parents, widths, workspace, found
        )
        return found

    @cached_property
    def _belief_gains(self) -> tuple[Floats, Floats, Floats]:
        starts, q = self.begins[:-1], self.table_shares[self.value]
        ratio = self.class_shares / q
        gain = np.maximum(ratio - 1, 0.0)
        basic: Floats = np.maximum.reduceat(gain, starts)
        too_much = gain > -np.log(q) * (1 + 1e-12)
        enhanced: Floats = np.maximum.reduceat(np.where((gain > 0) & too_much, np.inf, gain), starts)
        disclosure = np.maximum.reduceat(np.abs(np.log(ratio)), starts)
        return basic, enhanced, np.where(self.distinct < self.values, np.inf, disclosure)

    @property
    def beta(self) -> Floats:
        """Basic β."""
        return self._belief_gains[0]

    @property
    def beta_enhanced(self) -> Floats:
        """Enhanced β; infinite where no β suffices."""
        return self._belief_gains[1]

    @property
    def delta(self) -> Floats:
        """δ of δ-disclosure; infinite where a value of the table is absent."""
        return self._belief_gains[2]


def group_sensitive_values(key: Ints, bound: int, sensitive: Int32s, weights: Ints | None = None) -> SensitiveClasses:
    """Group rows with these keys, all below ``bound``, into classes with their sensitive codes. −1 (missing) is one
    more value. A row stands for ``weights`` people, or for one by default.

    >>> found = group_sensitive_values(np.array([0, 0, 1, 1, 1]), 2, np.array([0, 1, 1, 1, 1], np.int32))
    >>> found.size.tolist(), found.distinct.tolist(), found.t_equal.round(3).tolist()
    ([2, 3], [2, 1], [0.3, 0.2])
    """
    most = int(sensitive.max(initial=-1)) + 1
    seen = np.zeros(most + 1, np.bool_)
    seen[sensitive] = True  # −1 is the last position
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
    return SensitiveClasses(of_class[begins], np.append(begins, len(pairs)), value, count, codes)
