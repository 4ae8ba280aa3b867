"""What an attacker gains by knowing which items are bought together.

Someone who knows w pairs of items that are bought together most often, and finds the k ≥ w most
frequent pairs of pseudonyms in the release, keeps for the items of the known pairs only pseudonyms of the found ones
(Lakshmanan, Ng and Ramesh 2008, section 7.1, Figures 22 and 23). Who knows just as many pairs as were looked for can
say more: the known pairs then *are* the found ones, so that their items have those pseudonyms and no other item does.
The paper's example takes this step, its procedures do not; it is called ``reverse`` here and does nothing while
k > w, where a found pseudonym may be an item of a pair that is not known.

Items that are nearly always bought together are about equally frequent, which makes their intervals narrower (Figure
24). That may be false by a little: an interval that was right can become a wrong one, and where no mapping is left the
attacker notices.

Both filters keep some entries to some pseudonyms, which parts classes and groups of twins in at most two: edges between
classes stay edges between classes, and those between all entries are never listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.pairs import Pairs, checked_pairs
from unveil.matching.blocks import InfeasibleError
from unveil.matching.candidates import Candidates, Ints
from unveil.matching.ladder import Budget, Solution, solve
from unveil.run import Run

__all__ = [
    "NEARLY_ALWAYS",
    "Adjusted",
    "Cracks",
    "Refined",
    "adjusted",
    "cracks",
    "filter_single_pair",
    "identify_and_filter",
    "matched",
    "nearly_always",
    "refine_beliefs",
    "refined",
]

NEARLY_ALWAYS = 0.95
"""The share of the more frequent item's baskets that must hold both items of a pair that nearly always goes together.
"""


def filter_single_pair(
    candidates: Candidates, pair: tuple[int, int], anonymised: Pairs, reverse: bool = False
) -> Candidates:
    """FilterSinglePairEdges (Figure 22): the two items keep only pseudonyms that are in the given pairs of these.

    With ``reverse``, and if just one pair of pseudonyms is given, no other item keeps these.
    """
    a, b = checked_pairs([pair[0]], [pair[1]], candidates.n)
    return identify_and_filter(candidates, Pairs(a, b, np.zeros(1, np.int64)), anonymised, reverse)


def identify_and_filter(candidates: Candidates, known: Pairs, found: Pairs, reverse: bool = False) -> Candidates:
    """IdentifyAndFilterEdges (Figure 23): the items of all w known pairs keep only pseudonyms of the k found ones.

    With ``reverse``, and if w = k, no other item keeps these. Filtering for one known pair after the other comes to the
    same, as the found pairs are the same each time.
    """
    for pairs in (known, found):
        checked_pairs(pairs.a, pairs.b, candidates.n)
    w, k = _distinct(known), _distinct(found)
    if w > k:
        raise UnveilError(f"{w:,} known pairs cannot be matched with {k:,} pairs of pseudonyms; look for as many")
    return _confined(candidates, known.items, found.items, reverse and w == k) if w else candidates


def _distinct(pairs: Pairs) -> int:
    both = np.sort(np.stack([pairs.a, pairs.b]), axis=0)
    return int(np.unique(both, axis=1).shape[1])


def _confined(candidates: Candidates, entries: Ints, pseudonyms: Ints, both: bool) -> Candidates:
    """These entries have these pseudonyms only and, with ``both``, no other entry has them."""
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


def refine_beliefs(beliefs: Beliefs, pairs: Pairs) -> Beliefs:
    """RefineBeliefs (Figure 24): items that nearly always occur together are about equally frequent, so both get the
    intersection of their intervals; where that is empty, the intervals stay.

    Pairs are gone through in their order, each with the intervals that the earlier ones left, on which the outcome may
    depend. The items are only *about* equally frequent: a right interval may become a wrong one.
    """
    checked_pairs(pairs.a, pairs.b, beliefs.n)
    low, high = beliefs.low.copy(), beliefs.high.copy()
    for i, j in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True):
        least, most = max(low[i], low[j]), min(high[i], high[j])
        if least <= most:
            low[[i, j]], high[[i, j]] = least, most
    return replace(beliefs, low=low, high=high)


def nearly_always(pairs: Pairs, counts: Ints) -> Pairs:
    """The pairs that go together in nearly all baskets that hold the more frequent item, hence in nearly all that hold
    either; the most correlated first. ``counts`` are the items' own."""
    share = pairs.counts / np.maximum(counts[pairs.a], counts[pairs.b])
    order = np.argsort(-share, kind="stable")[: int((share >= NEARLY_ALWAYS).sum())]
    return Pairs(pairs.a[order], pairs.b[order], pairs.counts[order])


def matched(
    beliefs: Beliefs, known: Pairs, found: Pairs, run: Run | None = None, before: Solution | None = None
) -> Solution | None:
    """The cracks of someone who believes this and matches the known pairs with the found ones, with the reverse filter
    where they are as many; None if that leaves no mapping. ``before`` is the solution without the pairs, if known."""
    try:
        graph = identify_and_filter(beliefs.candidates, known, found, reverse=True)
        return solve(graph, run=run, may_be_wrong=True, known=before)
    except InfeasibleError:
        return None


@dataclass(frozen=True, eq=False)
class Refined:
    """What comes of taking items that nearly always go together for equally frequent.

    ``pairs`` is how many pairs do, ``wrong`` how many right intervals became wrong ones by it; ``solution`` are the
    cracks, None if no mapping is left.
    """

    pairs: int
    wrong: int
    solution: Solution | None


def refined(beliefs: Beliefs, pairs: Pairs, counts: Ints, run: Run | None = None) -> Refined | None:
    """Someone who knows these pairs first refines their beliefs by those that nearly always go together, then matches
    all of them with the same pairs of pseudonyms; None if no pair goes together nearly always."""
    close = nearly_always(pairs, counts)
    if not len(close):
        return None
    narrower = refine_beliefs(beliefs, close)
    wrong = int((beliefs.compliant & ~narrower.compliant).sum())
    return Refined(len(close), wrong, matched(narrower, pairs, pairs, run))


@dataclass(frozen=True)
class Cracks:
    """Expected cracks: the O-estimate Σ 1/candidates over the items that may have their own pseudonym, and the true
    number with its interval, of width 0 where it is exact."""

    o_estimate: float
    expected: float
    interval: tuple[float, float]
    exact: bool


@dataclass(frozen=True)
class Adjusted:
    """Expected cracks without and with the knowledge of pairs."""

    before: Cracks
    after: Cracks


def cracks(candidates: Candidates, run: Run | None = None, *, budget: Budget | None = None) -> Cracks:
    """The expected cracks of an attacker who may be wrong about some items. Pseudonym i is item i."""
    solved = solve(candidates, run=run, budget=budget, may_be_wrong=True)
    own = candidates.edge_of(np.arange(candidates.n), np.arange(candidates.n)) >= 0
    estimate = float((1 / candidates.degrees[own]).sum())
    return Cracks(estimate, solved.expected_cracks, solved.interval, solved.exact)


def adjusted(
    candidates: Candidates,
    pairs: Pairs,
    w: int,
    k: int | None = None,
    run: Run | None = None,
    *,
    reverse: bool = False,
    budget: Budget | None = None,
) -> Adjusted:
    """What the knowledge of the w most frequent pairs adds when they are matched with the k most frequent pairs of
    pseudonyms (section 7.3; k = w if not given). ``pairs`` are the release's own most frequent ones, at least k."""
    k = w if k is None else k
    if not 0 <= w <= k <= len(pairs):
        raise UnveilError(f"of {len(pairs):,} pairs, {w:,} cannot be matched with {k:,}; 0 ≤ w ≤ k is needed")
    after = identify_and_filter(candidates, pairs.first(w), pairs.first(k), reverse)
    return Adjusted(cracks(candidates, run, budget=budget), cracks(after, run, budget=budget))
