"""What an attacker gains by knowing which items are bought together.

An attacker who knows the w pairs of items most often bought together, and finds the k ≥ w most frequent pairs of
pseudonyms in the release, keeps for the items of the known pairs only the pseudonyms of the found pairs (Lakshmanan, Ng
and Ramesh 2008, section 7.1, Figures 22 and 23). If w = k they can conclude more: the known pairs *are* the found
pairs, so their items have those pseudonyms and no other item does. The paper's example takes this step, its procedures
do not; here it is called ``reverse``. It does nothing if k > w, where a found pseudonym may belong to an unknown pair.

Items that are nearly always bought together are about equally frequent, which narrows their intervals (Figure 24). The
assumption may be slightly false: a right interval can become wrong, and the attacker notices if no mapping is left.

Both filters confine some entries to some pseudonyms, which splits each class and each group of twins into at most two.
Edges between classes stay edges between classes; edges between single entries are never listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.item_pairs import ItemPairs, check_pairs
from unveil.matching.blocks import InfeasibleError
from unveil.matching.candidates import Candidates
from unveil.matching.solver import Solution, solve
from unveil.run import Run

__all__ = [
    "RefinedAttack",
    "identify_and_filter",
    "match_known_pairs",
    "refine_and_match",
    "refine_beliefs",
    "select_nearly_always",
]

NEARLY_ALWAYS_SHARE = 0.95
"""A pair is nearly always bought together if this share of the more frequent item's baskets contain both items."""


def identify_and_filter(
    candidates: Candidates, known: ItemPairs, found: ItemPairs, reverse: bool = False
) -> Candidates:
    """IdentifyAndFilterEdges (Figure 23): the items of all w known pairs keep only pseudonyms of the k found pairs.

    With ``reverse``, if w = k, no other item keeps these. Filtering by one known pair after another gives the same
    result, because the found pairs are the same each time.
    """
    for pairs in (known, found):
        check_pairs(pairs.a, pairs.b, candidates.n)
    w, k = _count_distinct(known), _count_distinct(found)
    if w > k:
        raise UnveilError(
            f"{w:,} known pairs cannot be matched with {k:,} pairs of pseudonyms; look for at least as many"
        )
    return _confine_candidates(candidates, known.items, found.items, reverse and w == k) if w else candidates


def _count_distinct(pairs: ItemPairs) -> int:
    both = np.sort(np.stack([pairs.a, pairs.b]), axis=0)
    return int(np.unique(both, axis=1).shape[1])


def _confine_candidates(candidates: Candidates, entries: Ints, pseudonyms: Ints, both: bool) -> Candidates:
    """The candidates if these entries have only these pseudonyms and, with ``both``, no other entry has them."""
    n, old_classes, old_groups = candidates.n, len(candidates.class_sizes), len(candidates.group_sizes)
    chosen, kept = np.zeros(n, np.int64), np.zeros(n, np.int64)
    chosen[entries], kept[pseudonyms] = 1, 1
    classes, entry_class = np.unique(2 * candidates.entry_class + chosen, return_inverse=True)
    groups, pseudonym_group = np.unique(2 * candidates.pseudonym_group + kept, return_inverse=True)
    new_class, new_group = np.full(2 * old_classes, -1), np.full(2 * old_groups, -1)
    new_class[classes], new_group[groups] = np.arange(len(classes)), np.arange(len(groups))
    parts = [(0, 0), (1, 1)] if both else [(0, 0), (0, 1), (1, 1)]
    a = np.concatenate([new_class[2 * candidates.edge_class + x] for x, _ in parts])
    b = np.concatenate([new_group[2 * candidates.groups + y] for _, y in parts])
    there = (a >= 0) & (b >= 0)
    weights = np.tile(candidates.weights, len(parts))
    return Candidates.from_classes(entry_class, pseudonym_group, a[there], b[there], weights[there])


def refine_beliefs(beliefs: Beliefs, pairs: ItemPairs) -> Beliefs:
    """RefineBeliefs (Figure 24): items that nearly always occur together are about equally frequent, so both get the
    intersection of their intervals; if that is empty, the intervals stay.

    Each pair starts from the intervals that the earlier pairs left, so the result may depend on the order. The items
    are only *about* equally frequent: a right interval may become wrong.
    """
    check_pairs(pairs.a, pairs.b, beliefs.n)
    low, high = beliefs.low.copy(), beliefs.high.copy()
    for i, j in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True):
        least, most = max(low[i], low[j]), min(high[i], high[j])
        if least <= most:
            low[[i, j]], high[[i, j]] = least, most
    return replace(beliefs, low=low, high=high)


def select_nearly_always(pairs: ItemPairs, counts: Ints) -> ItemPairs:
    """The pairs found in nearly all baskets with the more frequent item, hence in nearly all with either item; the most
    correlated first. ``counts`` are the counts of single items."""
    share = pairs.counts / np.maximum(counts[pairs.a], counts[pairs.b])
    order = np.argsort(-share, kind="stable")[: int((share >= NEARLY_ALWAYS_SHARE).sum())]
    return ItemPairs(pairs.a[order], pairs.b[order], pairs.counts[order])


def match_known_pairs(
    beliefs: Beliefs, known: ItemPairs, found: ItemPairs, run: Run | None = None, before: Solution | None = None
) -> Solution | None:
    """The cracks of an attacker who matches the known pairs with the found pairs, with the reverse filter if there are
    as many; None if that leaves no mapping. ``before`` is the solution without the pairs, if known."""
    try:
        graph = identify_and_filter(beliefs.candidates, known, found, reverse=True)
        return solve(graph, run=run, may_exclude_truth=True, known=before)
    except InfeasibleError:
        return None


@dataclass(frozen=True, eq=False)
class RefinedAttack:
    """The result of assuming that items that are nearly always bought together are equally frequent.

    ``pairs`` is the number of such pairs, ``falsified_intervals`` the number of right intervals that became wrong,
    ``solution`` the cracks, or None if no mapping is left.
    """

    pairs: int
    falsified_intervals: int
    solution: Solution | None


def refine_and_match(beliefs: Beliefs, pairs: ItemPairs, counts: Ints, run: Run | None = None) -> RefinedAttack | None:
    """The attacker first refines their beliefs by the pairs that are nearly always bought together, then matches all
    pairs with the same pairs of pseudonyms; None if there is no such pair."""
    close = select_nearly_always(pairs, counts)
    if not len(close):
        return None
    narrower = refine_beliefs(beliefs, close)
    wrong = int((beliefs.compliant & ~narrower.compliant).sum())
    return RefinedAttack(len(close), wrong, match_known_pairs(narrower, pairs, pairs, run))
