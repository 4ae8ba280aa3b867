"""Estimates from degrees: how many items, and which itemsets, are given away, without counting matchings.

With N(x) the pseudonyms that item x may have, x′ its own, and X′ the pseudonyms of an itemset X (Lakshmanan, Ng and
Ramesh 2008, sections 4.1 to 4.3):

- O = Σ 1/|N(x)| over the items whose interval is right, where pairs that are forced are taken out first (``Propagate``,
  Figure 5) if so asked;
- OS(X) = ∏ |N(x) ∩ X′| / |N(x)| over the items of X, 0 if one has no candidates;
- OS2(X) = 1 / (|∪ N(x)| − |X| + 1), 0 if X′ is not within the union.

None of them is a bound: each can lie on either side of the truth. O does not rise when intervals widen (Lemmas 4.2 and
4.4, the latter without propagation); OS may (Lemmas 4.5 and 4.6 are false).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.matching.candidates import Candidates, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["checked", "crack_estimates", "o_estimate", "os2_estimate", "os2_estimates", "os_estimate", "os_estimates"]

_ROOMY = 4  # a table of counts may be so many times longer than there are items
_SLICE = 1 << 22


def o_estimate(beliefs: Beliefs, propagate: bool = True, compliant_only: bool = True) -> float:
    """The number of items cracked, estimated by O.

    >>> figure_6a = Beliefs.of([1, 1, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4])
    >>> round(12 * o_estimate(figure_6a, propagate=False)), o_estimate(figure_6a)
    (25, 4.0)
    """
    return float(crack_estimates(beliefs, propagate, compliant_only).sum())


def crack_estimates(beliefs: Beliefs, propagate: bool = True, compliant_only: bool = True) -> Floats:
    """1/|N(x)| for every item; 0 where N(x) is empty or, with ``compliant_only``, lacks the true pseudonym.

    Propagation takes out an item and its own pseudonym when one is all that the other has left, until no such pair
    remains. An item whose interval is wrong is never taken out: the pair it would be forced into is not a crack.
    Counts of baskets are looked up in a table; other numbers are sorted and sought.
    """
    from unveil.items import _degrees

    ends, counts = (beliefs.low, beliefs.high), beliefs.counts
    most = counts.max(initial=0.0)
    below = _degrees.tally(counts, int(most)) if most <= _ROOMY * len(counts) + 1024 else np.empty(0, np.int32)
    found: Floats
    if len(below) and not propagate:
        found = _degrees.by_table(*ends, counts, below, compliant_only)
        return found
    if len(below):
        first, last, order = _degrees.runs_by_table(*ends, counts, below)
    else:
        order = np.argsort(counts)
        first, last = _degrees.runs_by_search(*ends, counts, order)
    by = _degrees.propagated if propagate else _degrees.by_runs
    found = by(first, last, order, compliant_only)
    return found


def os_estimate(known: Beliefs | Candidates, itemset: Sequence[int]) -> float:
    """The probability that an itemset is cracked as a set, estimated by OS.

    N(x) is what the attacker believes. So an itemset with an item whose interval is wrong may have OS > 0: as a set it
    can be cracked, by its items taking each other's pseudonyms.

    >>> figure_6b = Candidates.from_matrix([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
    >>> [round(1 / os_estimate(figure_6b, pair)) for pair in ([0, 1], [0, 2], [1, 2])]
    [1, 6, 3]
    """
    return float(os_estimates(known, [itemset])[0])


def os_estimates(known: Beliefs | Candidates, itemsets: npt.ArrayLike) -> Floats:
    """OS of many itemsets of equal size, one per row."""
    candidates, sets = checked(known, itemsets)
    found = np.empty(len(sets))
    for rows in _slices(sets):
        chosen = sets[rows]
        own = _possible(candidates, chosen).sum(axis=2)
        degrees = candidates.degrees[chosen]
        found[rows] = np.where(degrees > 0, own / np.maximum(degrees, 1), 0.0).prod(axis=1)
    return found


def os2_estimate(known: Beliefs | Candidates, itemset: Sequence[int]) -> float:
    """The probability that an itemset is cracked as a set, estimated by OS2.

    >>> os2_estimate(Candidates.from_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]]), [0, 2])
    0.5
    """
    return float(os2_estimates(known, [itemset])[0])


def os2_estimates(known: Beliefs | Candidates, itemsets: npt.ArrayLike) -> Floats:
    """OS2 of many itemsets of equal size, one per row."""
    candidates, sets = checked(known, itemsets)
    found = np.zeros(len(sets))
    for rows in _slices(sets):
        reached = np.any(_possible(candidates, sets[rows]), axis=1)
        union = _union(candidates, sets[rows])
        found[rows] = np.where(np.all(reached, axis=1), 1 / np.maximum(union - sets.shape[1] + 1, 1), 0.0)
    return found


def checked(known: Beliefs | Candidates, itemsets: npt.ArrayLike) -> tuple[Candidates, Ints]:
    """The candidates, and itemsets of equal size, one per row."""
    candidates = known.candidates if isinstance(known, Beliefs) else known
    sets = np.asarray(itemsets, np.int64)
    if sets.ndim != 2:
        raise UnveilError("itemsets of equal size are needed, one per row")
    ordered = np.sort(sets, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any() or (sets.size and not 0 <= sets.min() <= sets.max() < candidates.n):
        raise UnveilError(f"an itemset names items 0 … {candidates.n - 1}, each once")
    return candidates, sets


def _slices(sets: Ints) -> Iterator[slice]:
    """Rows that are looked at together, so that all pairs within their itemsets fit in memory."""
    step = max(1, _SLICE // max(1, sets.shape[1] ** 2))
    return (slice(start, start + step) for start in range(0, len(sets), step))


def _possible(candidates: Candidates, sets: Ints) -> npt.NDArray[np.bool_]:
    """For every itemset, whether its item x (second axis) may have the pseudonym of its item y (third axis)."""
    size = sets.shape[1]
    items, pseudonyms = np.repeat(sets, size, axis=1), np.tile(sets, (1, size))
    edges = candidates.edge_of(items.reshape(-1), pseudonyms.reshape(-1))
    possible: npt.NDArray[np.bool_] = edges.reshape(len(sets), size, size) >= 0
    return possible


def _union(candidates: Candidates, sets: Ints) -> Ints:
    """How many pseudonyms the items of each itemset may have together."""
    classes = candidates.entry_class[sets]
    sizes = np.diff(candidates.indptr)[classes].reshape(-1)
    itemset = np.repeat(np.repeat(np.arange(len(sets)), sets.shape[1]), sizes)
    starts = np.repeat(candidates.indptr[classes].reshape(-1) - np.cumsum(sizes) + sizes, sizes)
    groups = candidates.groups[starts + np.arange(len(starts))]
    keys = np.unique(itemset * len(candidates.group_sizes) + groups)
    count = max(1, len(candidates.group_sizes))
    union = np.bincount(keys // count, candidates.group_sizes[keys % count], len(sets))
    return union.astype(np.int64)
