"""Candidates: which pseudonyms each entry may have, and with what weight.

A release maps n entries to n pseudonyms by a secret bijection. The attacker's knowledge leaves every entry a set of
candidate pseudonyms, possibly with weights. Entries with the same candidates are *twins*, and so are pseudonyms that
are candidates of the same entries with the same weights: nothing tells them apart. They are merged here, once, into
classes of entries and groups of pseudonyms. Up to twins, a matching is determined by how many entries of class a go to
group b. Real data shrinks by orders of magnitude."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError

__all__ = ["Candidates", "Floats", "Ints", "twin_classes"]

_MOST_PAIRS = 100_000_000  # pairs of a class and a group: a few gigabytes


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Entries and pseudonyms in classes of twins.

    ``entry_class[i]`` is the class of entry i, ``pseudonym_group[j]`` the group of pseudonym j. The candidates of class
    a are the groups ``groups[indptr[a] : indptr[a + 1]]`` with their ``weights``, all 1 if the attacker only knows what
    is possible.
    """

    entry_class: Ints
    pseudonym_group: Ints
    indptr: Ints
    groups: Ints
    weights: Floats

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Candidates:
        """From an n × n matrix of weights, 0 for impossible. Rows are entries, columns are pseudonyms.

        >>> Candidates.from_matrix([[1, 1, 0], [1, 1, 0], [1, 0, 1]])
        Candidates: 3 entries in 2 classes, 3 pseudonyms in 3 groups, 0/1
        """
        try:
            full = np.asarray(matrix, np.float64)
        except (TypeError, ValueError):
            raise UnveilError("the matrix has a weight that is not a number") from None
        if full.ndim != 2 or full.shape[0] != full.shape[1]:
            shape = " × ".join(map(str, full.shape)) or "a single number"
            raise UnveilError(f"the matrix must be square, one row per entry; this one is {shape}")
        _check_weights(full)
        full = full + 0.0  # −0 is 0
        rows, entry_class = np.unique(full, axis=0, return_inverse=True)
        columns, pseudonym_group = np.unique(rows, axis=1, return_inverse=True)
        a, b = np.nonzero(columns)
        return cls.from_classes(entry_class, pseudonym_group, a, b, columns[a, b])

    @classmethod
    def from_edges(
        cls, entries: npt.ArrayLike, pseudonyms: npt.ArrayLike, weights: npt.ArrayLike | None = None, *, n: int
    ) -> Candidates:
        """From the possible pairs (entry, pseudonym), numbered from 0, with optional weights."""
        i, j = np.asarray(entries, np.int64), np.asarray(pseudonyms, np.int64)
        w = np.ones(len(i)) if weights is None else np.asarray(weights, np.float64)
        if not len(i) == len(j) == len(w):
            raise UnveilError("give one entry, one pseudonym and one weight for every edge")
        if len(i) and (min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= n):
            raise UnveilError(f"an edge names an entry or pseudonym outside 0 … {n - 1}")
        _check_weights(w)
        kept = w > 0
        i, j, w = i[kept], j[kept], w[kept]
        order = np.lexsort((j, i))
        i, j, w = i[order], j[order], w[order]
        if (twice := (i[1:] == i[:-1]) & (j[1:] == j[:-1])).any():
            raise UnveilError(f"entry {int(i[1:][twice][0])} has the same pseudonym twice; give every edge once")
        entry_class = twin_classes(i, j, w, n)
        first = np.unique(entry_class, return_index=True)[1]
        keep = np.isin(i, first)
        a, b, w = entry_class[i[keep]], j[keep], w[keep]
        order = np.lexsort((a, b))
        pseudonym_group = twin_classes(b[order], a[order], w[order], n)
        keep = np.isin(b, np.unique(pseudonym_group, return_index=True)[1])
        return cls.from_classes(entry_class, pseudonym_group, a[keep], pseudonym_group[b[keep]], w[keep])

    @classmethod
    def from_intervals(cls, low: npt.ArrayLike, high: npt.ArrayLike, values: npt.ArrayLike) -> Candidates:
        """Entry i may have every pseudonym j with ``low[i] ≤ values[j] ≤ high[i]``. Groups keep the order of values.

        >>> Candidates.from_intervals([3, 3, 4], [4, 4, 5], [3, 4, 5])
        Candidates: 3 entries in 2 classes, 3 pseudonyms in 3 groups, 0/1
        """
        lows, highs, at = (np.asarray(x, np.float64) for x in (low, high, values))
        if not (lows.ndim == 1 and lows.shape == highs.shape == at.shape):
            raise UnveilError("give one lower end, one upper end and one value for every entry")
        if np.isnan(lows).any() or np.isnan(highs).any() or np.isnan(at).any():
            raise UnveilError("an interval or value is not a number")
        distinct, pseudonym_group = np.unique(at, return_inverse=True)
        ends = np.stack([np.searchsorted(distinct, lows, "left"), np.searchsorted(distinct, highs, "right")], axis=1)
        ends[:, 1] = np.maximum(ends[:, 0], ends[:, 1])
        spans, entry_class = np.unique(ends, axis=0, return_inverse=True)
        widths = spans[:, 1] - spans[:, 0]
        if widths.sum() > _MOST_PAIRS:
            raise UnveilError("the intervals leave too many pairs; narrow them, or round the values")
        a = np.repeat(np.arange(len(spans)), widths)
        b = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths - spans[:, 0], widths)
        return cls.from_classes(entry_class, pseudonym_group, a, b, np.ones(len(a)))

    @classmethod
    def from_classes(cls, entry_class: Ints, pseudonym_group: Ints, a: Ints, b: Ints, w: Floats) -> Candidates:
        """From classes and groups of twins, and the weighted edges (a, b) between them."""
        order = np.lexsort((b, a))
        classes = int(entry_class.max()) + 1 if len(entry_class) else 0
        indptr = np.append(0, np.cumsum(np.bincount(a, minlength=classes)))
        return cls(
            entry_class.reshape(-1).astype(np.int64),
            pseudonym_group.reshape(-1).astype(np.int64),
            indptr.astype(np.int64),
            b[order].astype(np.int64),
            w[order].astype(np.float64),
        )

    @property
    def n(self) -> int:
        """The number of entries, which equals the number of pseudonyms."""
        return len(self.entry_class)

    @cached_property
    def class_sizes(self) -> Ints:
        """The number of entries in each class."""
        return np.bincount(self.entry_class)

    @cached_property
    def group_sizes(self) -> Ints:
        """The number of pseudonyms in each group."""
        return np.bincount(self.pseudonym_group)

    @cached_property
    def edge_class(self) -> Ints:
        """The class of every edge, parallel to ``groups``."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @property
    def is_weighted(self) -> bool:
        """Whether some candidates weigh more than others."""
        return bool((self.weights != 1).any())

    @cached_property
    def degrees(self) -> Ints:
        """The number of candidate pseudonyms of every entry."""
        per_class = np.bincount(self.edge_class, self.group_sizes[self.groups], len(self.indptr) - 1)
        return per_class.astype(np.int64)[self.entry_class]

    def find_edges(self, entries: Ints, pseudonyms: Ints) -> Ints:
        """The position in ``groups`` of the edge between each entry and pseudonym; −1 if they have none."""
        a, b = self.entry_class[entries], self.pseudonym_group[pseudonyms]
        if not len(self.groups):
            return np.full(len(a), -1)
        count = len(self.group_sizes)
        keys = self.edge_class * count + self.groups
        found = np.searchsorted(keys, a * count + b)
        hit = keys[np.minimum(found, len(keys) - 1)] == a * count + b
        return np.where(hit, found, -1)

    def to_matrix(self) -> Floats:
        """The n × n matrix of weights."""
        small = np.zeros((len(self.class_sizes), len(self.group_sizes)))
        small[self.edge_class, self.groups] = self.weights
        return small[np.ix_(self.entry_class, self.pseudonym_group)]

    def __repr__(self) -> str:
        return (
            f"Candidates: {self.n:,} entries in {len(self.indptr) - 1:,} classes, {self.n:,} pseudonyms in "
            f"{len(self.group_sizes):,} groups, {'weighted' if self.is_weighted else '0/1'}"
        )


def _check_weights(weights: Floats) -> None:
    if not np.isfinite(weights).all():
        raise UnveilError("a weight is infinite or not a number; weights are finite and 0 or more")
    if (weights < 0).any():
        raise UnveilError("a weight is negative; weights are 0 or more")


def twin_classes(rows: Ints, columns: Ints, weights: Floats, n: int) -> Ints:
    """The class of every row: rows with the same columns and weights share one, numbered by first appearance."""
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
    content = np.stack([columns.astype(np.float64), weights], axis=1)
    seen: dict[bytes, int] = {}
    keys = (content[indptr[i] : indptr[i + 1]].tobytes() for i in range(n))
    return np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.int64, n)
