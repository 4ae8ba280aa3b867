"""Estimate cracked items and itemsets from degrees, without counting matchings.

Let N(x) be the pseudonyms that item x may have, x′ its own, and X′ the pseudonyms of an itemset X (Lakshmanan, Ng and
Ramesh 2008, sections 4.1 to 4.3):

- O = Σ 1/|N(x)| over the items whose interval is right, optionally after removing forced pairs (``Propagate``,
  Figure 5);
- OS(X) = ∏ |N(x) ∩ X′| / |N(x)| over the items of X, 0 if one has no candidates;
- OS2(X) = 1 / (|∪ N(x)| − |X| + 1), 0 if X′ is not within the union.

None of them is a bound: each can lie on either side of the truth. O does not rise when intervals widen (Lemmas 4.2 and
4.4, the latter without propagation); OS may (Lemmas 4.5 and 4.6 are false).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.matching.candidates import Candidates

__all__ = ["crack_estimates", "o_estimate", "os2_estimates", "os_estimates"]

_TABLE_FACTOR = 4  # a table of counts may be this many times as long as the list of items
_SLICE_CELLS = 1 << 22


def o_estimate(beliefs: Beliefs, propagate: bool = True) -> float:
    """The O-estimate of the number of cracked items.

    >>> figure_6a = Beliefs.from_intervals([1, 1, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4])
    >>> round(12 * o_estimate(figure_6a, propagate=False)), o_estimate(figure_6a)
    (25, 4.0)
    """
    return float(crack_estimates(beliefs, propagate).sum())


def crack_estimates(beliefs: Beliefs, propagate: bool = True) -> Floats:
    """1/|N(x)| for every item; 0 where N(x) is empty or lacks the true pseudonym.

    Propagation removes an item and its own pseudonym when one is the only candidate of the other, until no such pair
    remains. An item with a wrong interval is never removed: the pair it would be forced into is not a crack. Counts
    are looked up in a table if they are small, and by binary search otherwise.
    """
    from unveil.items import _degree_estimates

    n, counts, most = beliefs.n, beliefs.counts, beliefs.counts.max(initial=0.0)
    found, order, runs = np.zeros(n), np.empty(n if propagate else 0, np.int64), np.empty((2, n), np.int64)
    is_short = most <= _TABLE_FACTOR * n + 1024
    tables = np.zeros((2, int(most) + 2 if is_short else 0), np.int32)
    if not is_short or not _degree_estimates.look_up_runs(
        beliefs.low, beliefs.high, counts, *tables, runs, order, found
    ):
        order = np.argsort(counts)
        row = counts[order]
        slack = 1e-9 * np.maximum(1.0, np.abs(row))  # as in ``Beliefs``
        runs[0] = np.searchsorted(row, beliefs.low[order] - slack)
        runs[1] = np.maximum(runs[0], np.searchsorted(row, beliefs.high[order] + slack, side="right"))
        places = np.arange(n)
        is_right = (runs[0] <= places) & (places < runs[1])
        found[order] = _degree_estimates.estimates_of_degrees(runs[1] - runs[0], is_right)
    propagated = _degree_estimates.propagate_estimates(runs[0], runs[1]) if propagate else None
    if propagated is not None:
        found[order] = propagated
    return found


def os_estimates(known: Beliefs | Candidates, itemsets: npt.ArrayLike) -> Floats:
    """The OS estimates of the probability that itemsets of equal size, one per row, are cracked as a set.

    N(x) is what the attacker believes. An itemset with a wrong interval may therefore have OS > 0: it is cracked as a
    set if its items take each other's pseudonyms.

    >>> figure_6b = Candidates.from_matrix([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
    >>> (1 / os_estimates(figure_6b, [[0, 1], [0, 2], [1, 2]])).round().tolist()
    [1.0, 6.0, 3.0]
    """
    candidates, sets = check_itemsets(known, itemsets)
    found = np.empty(len(sets))
    for rows in _row_slices(sets):
        chosen = sets[rows]
        own = (edges_within(candidates, chosen) >= 0).sum(axis=2)
        degrees = candidates.degrees[chosen]
        found[rows] = np.where(degrees > 0, own / np.maximum(degrees, 1), 0.0).prod(axis=1)
    return found


def os2_estimates(known: Beliefs | Candidates, itemsets: npt.ArrayLike) -> Floats:
    """The OS2 estimates of the probability that itemsets of equal size, one per row, are cracked as a set.

    >>> os2_estimates(Candidates.from_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]]), [[0, 2]]).tolist()
    [0.5]
    """
    candidates, sets = check_itemsets(known, itemsets)
    found = np.zeros(len(sets))
    for rows in _row_slices(sets):
        is_reached = np.all(np.any(edges_within(candidates, sets[rows]) >= 0, axis=1), axis=1)
        union = _union_sizes(candidates, sets[rows])
        found[rows] = np.where(is_reached, 1 / np.maximum(union - sets.shape[1] + 1, 1), 0.0)
    return found


def as_candidates(known: Beliefs | Candidates) -> Candidates:
    """What the attacker considers possible."""
    return known.candidates if isinstance(known, Beliefs) else known


def check_itemsets(known: Beliefs | Candidates, itemsets: npt.ArrayLike) -> tuple[Candidates, Ints]:
    """The candidates, and the itemsets as an array with one row each, or an error that says what is wrong."""
    candidates = as_candidates(known)
    sets = np.asarray(itemsets, np.int64)
    if sets.ndim != 2:
        raise UnveilError("itemsets must have equal sizes, one per row")
    ordered = np.sort(sets, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any() or (sets.size and not 0 <= sets.min() <= sets.max() < candidates.n):
        raise UnveilError(f"an itemset repeats an item or names one outside 0 … {candidates.n - 1}; correct it")
    return candidates, sets


def edges_within(candidates: Candidates, sets: Ints, onto: Ints | None = None) -> Ints:
    """For every itemset, the edge from its item x (second axis) to the pseudonym of its item y (third axis), or −1; of
    the items of ``onto`` instead, if given."""
    size = sets.shape[1]
    items, pseudonyms = np.repeat(sets, size, axis=1), np.tile(sets if onto is None else onto, (1, size))
    return candidates.find_edges(items.reshape(-1), pseudonyms.reshape(-1)).reshape(len(sets), size, size)


def _row_slices(sets: Ints) -> Iterator[slice]:
    """Slices of rows, so that all pairs within the itemsets of a slice fit in memory."""
    step = max(1, _SLICE_CELLS // max(1, sets.shape[1] ** 2))
    return (slice(start, start + step) for start in range(0, len(sets), step))


def _union_sizes(candidates: Candidates, sets: Ints) -> Ints:
    """The number of pseudonyms that the items of each itemset may have together."""
    classes = candidates.entry_class[sets]
    sizes = np.diff(candidates.indptr)[classes].reshape(-1)
    itemset = np.repeat(np.repeat(np.arange(len(sets)), sets.shape[1]), sizes)
    starts = np.repeat(candidates.indptr[classes].reshape(-1) - np.cumsum(sizes) + sizes, sizes)
    groups = candidates.groups[starts + np.arange(len(starts))]
    keys = np.unique(itemset * len(candidates.group_sizes) + groups)
    count = max(1, len(candidates.group_sizes))
    return np.bincount(keys // count, candidates.group_sizes[keys % count], len(sets)).astype(np.int64)
