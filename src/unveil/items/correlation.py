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

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.item_pairs import ItemPairs, check_pairs, pair_counts
from unveil.matching.blocks import InfeasibleError
from unveil.matching.candidates import Candidates
from unveil.matching.solver import Solution, solve
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = [
    "PairAttack",
    "RefinedAttack",
    "attack_with_pairs",
    "identify_and_filter",
    "match_known_pairs",
    "pairs_still_together",
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


def refine_beliefs(beliefs: Beliefs, steps: Iterable[ItemPairs]) -> Beliefs:
    """RefineBeliefs (Figure 24): items that nearly always occur together are about equally frequent, so both get the
    intersection of their intervals; if that is empty, the intervals stay.

    Each step starts from the intervals that the earlier ones left. The pairs of one step are refined at once: an item
    gets what its interval has in common with those of all its partners that it overlaps, if that is not empty. So the
    result does not depend on how the pairs of a step are ordered. The items are only *about* equally frequent: a right
    interval may become wrong.
    """
    low, high = beliefs.low.copy(), beliefs.high.copy()
    for pairs in steps:
        check_pairs(pairs.a, pairs.b, beliefs.n)
        least, most = low.copy(), high.copy()
        for one, other in ((pairs.a, pairs.b), (pairs.b, pairs.a)):
            overlap = (low[one] <= high[other]) & (low[other] <= high[one])
            np.maximum.at(least, one[overlap], low[other[overlap]])
            np.minimum.at(most, one[overlap], high[other[overlap]])
        low, high = np.where(least <= most, least, low), np.where(least <= most, most, high)
    return beliefs.clip_intervals(low, high)


def select_nearly_always(pairs: ItemPairs, counts: Ints) -> list[ItemPairs]:
    """The pairs found in nearly all baskets with the more frequent item, hence in nearly all with either item: the most
    correlated first, equally correlated ones together. ``counts`` are the counts of single items."""
    share = pairs.counts / np.maximum(counts[pairs.a], counts[pairs.b])
    steps = (share == one for one in np.unique(share[share >= NEARLY_ALWAYS_SHARE])[::-1])
    return [ItemPairs(pairs.a[now], pairs.b[now], pairs.counts[now]) for now in steps]


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


def refine_and_match(
    beliefs: Beliefs, known: ItemPairs, found: ItemPairs, counts: Ints, run: Run | None = None
) -> RefinedAttack | None:
    """The attacker first refines their beliefs by the known pairs that are nearly always bought together, then matches
    all known pairs with the found pairs; None if there is no such pair."""
    close = select_nearly_always(known, counts)
    if not close:
        return None
    narrower = refine_beliefs(beliefs, close)
    wrong = int((beliefs.compliant & ~narrower.compliant).sum())
    return RefinedAttack(sum(map(len, close)), wrong, match_known_pairs(narrower, known, found, run))


def pairs_still_together(
    a: Ints, b: Ints, becomes: Ints, transactions: Transactions, run: Run | None = None
) -> ItemPairs:
    """What remains of known pairs in a release in which item i became ``becomes[i]``, −1 if suppressed: the pairs of
    different released items that occur together there, the most frequent first."""
    both = np.sort(np.stack([becomes[a], becomes[b]]), axis=0)
    x, y = np.unique(both[:, (both[0] >= 0) & (both[0] < both[1])], axis=1)
    counts = pair_counts(transactions, x, y, run)
    order = np.lexsort((y, x, -counts))[: int((counts > 0).sum())]
    return ItemPairs(x[order], y[order], counts[order])


@dataclass(frozen=True, eq=False)
class PairAttack:
    """The attack by someone who knows ``known`` and looks for it among ``found`` pairs of the release: ``solution``
    without any assumption, and ``refined``. No solution if no mapping is left."""

    known: ItemPairs
    found: ItemPairs
    solution: Solution | None
    refined: RefinedAttack | None


def attack_with_pairs(
    beliefs: Beliefs, known: ItemPairs, found: ItemPairs, counts: Ints, run: Run, before: Solution | None = None
) -> list[PairAttack]:
    """The attacks by those who know the most frequent 1, 2, … of the known pairs, each of whom looks among all pairs of
    the release that are at least as frequent.

    Both kinds of pairs come with their counts in the release, the most frequent first. Equally frequent pairs are known
    together or not at all, so the result does not depend on how they are ordered. Where one more pair adds no item,
    nothing is solved again. Simulated results share the error rate of the run.

    The expected cracks need not rise with the number of known pairs: whoever knows more pairs also has more pseudonyms
    to choose from. But nobody has to use all they know, so what k pairs are worth is the most that 1 … k are worth.
    """
    levels = [(known.take_frequent(c), found.take_frequent(c)) for c in np.unique(known.counts)[::-1].tolist()]
    strict = replace(run, confidence=1 - (1 - run.confidence) / max(1, 2 * len(levels)))
    attacks: list[PairAttack] = []
    last: tuple[int, ...] = ()
    for done, (mine, theirs) in enumerate(levels):
        run.progress("matching known pairs", done / len(levels))
        close = sum(map(len, select_nearly_always(mine, counts)))
        key = len(mine.items), len(theirs.items), len(mine) == len(theirs), close
        if key == last:
            attacks[-1] = replace(attacks[-1], known=mine, found=theirs)
            continue
        last = key
        solution = match_known_pairs(beliefs, mine, theirs, strict, before)
        attacks.append(PairAttack(mine, theirs, solution, refine_and_match(beliefs, mine, theirs, counts, strict)))
    return attacks
