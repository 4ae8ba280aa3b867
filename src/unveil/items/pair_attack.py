"""What does someone identify who holds baskets with the items' names, and compares what is bought together?

The attacker's baskets may be similar ones or a random sample of the original ones. The release is attacked with
:func:`~unveil.items.pair_matching.match_items`; since it is known which pseudonym is which item, success is counted and
not estimated. The attacker knows what was done to protect a release, so they do the same to their own baskets: items
that were left out go, items of a category become one, and the expected effect of moved counts is added to the table of
pairs.

An attack that fails may have failed only because its search did. The truth shows whether it did: a second search starts
from the true assignment. If it ends with a higher score than the attack, a better search could have found what it
found, and that many items count as ``reachable``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from unveil.arrays import Bools, Floats, Ints
from unveil.items.item_changes import ItemChange
from unveil.items.pair_matching import (
    ItemMatching,
    PairProblem,
    PairShares,
    climb_by_exchanges,
    find_ties,
    group_ties,
    match_items,
)
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["AttackTarget", "NamedBaskets", "NamedItems", "attack_by_pairs", "draw_baskets", "named_baskets"]

_SURE = 0.9
_EQUAL_SCORE = 1e-6  # relative difference up to which two scores count as equal


class NamedBaskets(NamedTuple):
    """Entries of the attacker's baskets: the basket, and the item's number in the original. Items that the original
    lacks have numbers beyond its own."""

    basket: Ints
    item: Ints


@dataclass(frozen=True, eq=False)
class NamedItems:
    """What came of an attack, for each released item: whether the attacker ``named`` an item for it, whether they were
    ``right``, how confident they are of the item they named, and how much weight they gave to the right one.
    ``reachable`` items are right at most if the same score is searched better. ``attacked`` released items took part,
    and ``seen`` of all occur in the attacker's baskets. ``tied`` items could be exchanged with others without changing
    the score: none of them counts as right. ``expected`` items are right on average if ties are broken by chance, and
    so it is with the reachable ones."""

    named: Bools
    right: Bools
    expected: float
    confidence: Floats
    weight: Floats
    reachable: float
    attacked: int
    seen: int
    tied: int

    @property
    def sure(self) -> Bools:
        """The items that the attacker is at least 90% sure of."""
        return self.named & (self.confidence >= _SURE)


@dataclass(frozen=True, eq=False)
class AttackTarget:
    """A release, and how it came from the original. Only the ``limit`` most frequent items on either side are
    compared."""

    release: Transactions
    original: Transactions
    change: ItemChange | None
    limit: int

    @property
    def released_number(self) -> Ints:
        """The released item that each item of the original became."""
        return np.arange(len(self.original.labels)) if self.change is None else self.change.becomes

    def carry_shares(self, baskets: NamedBaskets) -> tuple[PairShares, Ints]:
        """The pairs of the attacker's baskets after what was done to the original, and the items they are about, by
        their number in the release; items that the original lacks come after those."""
        basket, item = _change_entries(baskets, self.released_number, len(self.release.labels))
        items, code, counts = np.unique(item, return_inverse=True, return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[: self.limit])
        held = len(np.unique(basket))
        shares = _pair_shares(basket, code, held, kept)
        return PairShares(self._move_counts(shares, items[kept]), held), items[kept]

    def _move_counts(self, shares: Floats, items: Ints) -> Floats:
        """The shares that are to be expected after counts were moved: an item stays in a basket with some probability,
        and joins one without it with another."""
        if self.change is None:
            return shares
        entries = NamedBaskets(self.original.entry_baskets, self.original.items.astype(np.int64))
        before = np.bincount(_change_entries(entries, self.change.becomes, 0)[1], minlength=len(self.change.counts))
        stays, joins = np.ones(len(items)), np.zeros(len(items))
        known = items < len(before)
        was, now = before[items[known]], self.change.counts[items[known]]
        stays[known] = np.minimum(1.0, now / np.maximum(was, 1))
        joins[known] = np.maximum(0.0, (now - was) / np.maximum(self.original.baskets - was, 1))
        own, lift = np.diag(shares), stays - joins
        moved = shares * np.outer(lift, lift) + np.outer(own * lift, joins) + np.outer(joins, own * lift)
        moved += np.outer(joins, joins)
        np.fill_diagonal(moved, own * lift + joins)
        found: Floats = moved
        return found

    def released_shares(self) -> tuple[PairShares, Ints]:
        """The pairs of the release, and the released items they are about."""
        kept = np.sort(np.argsort(-self.release.counts, kind="stable")[: self.limit])
        entries = self.release.entry_baskets, self.release.items.astype(np.int64)
        return PairShares(_pair_shares(*entries, self.release.baskets, kept), self.release.baskets), kept


def named_baskets(similar: Transactions, codes: Ints, items: int) -> NamedBaskets:
    """The entries of baskets whose items have these numbers among the original's ``items``, −1 if they are not
    there."""
    foreign = items + np.cumsum(codes < 0) - 1
    return NamedBaskets(similar.entry_baskets, np.where(codes >= 0, codes, foreign)[similar.items])


def draw_baskets(original: Transactions, chosen: Ints) -> NamedBaskets:
    """The entries of some of the original baskets."""
    basket = original.entry_baskets
    inside = np.isin(np.arange(original.baskets), chosen)[basket]
    return NamedBaskets(basket[inside], original.items[inside].astype(np.int64))


def attack_by_pairs(
    target: AttackTarget,
    held: NamedBaskets,
    rng: np.random.Generator,
    *,
    starts: int = 4,
    marginals: Floats | None = None,
    run: Run | None = None,
) -> NamedItems:
    """Attack a release with some baskets that have the items' names. ``marginals`` are probabilities of the released
    pseudonyms (columns) for the released items (rows) that follow from frequencies."""
    released, pseudonyms = target.released_shares()
    own, items = target.carry_shares(held)
    n = len(target.release.labels)
    if not len(items):
        return NamedItems(
            np.zeros(n, np.bool_), np.zeros(n, np.bool_), 0.0, np.zeros(n), np.zeros(n), 0, len(pseudonyms), 0, 0
        )
    if marginals is not None:
        marginals = marginals[np.ix_(items, pseudonyms)] if np.array_equal(items, pseudonyms) else None
    found = match_items(own, released, rng, starts=starts, marginals=marginals, run=run)
    place = np.full(max(n, int(items.max()) + 1), -1)
    place[pseudonyms] = np.arange(len(pseudonyms))
    truth = place[items]  # where the pseudonym of each of the attacker's items is
    right = (found.assigned == truth) & (truth >= 0) & ~found.is_tied
    named, correct, confidence, weight = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n), np.zeros(n)
    taken, there = found.assigned >= 0, truth >= 0
    named[pseudonyms[found.assigned[taken]]] = True
    confidence[pseudonyms[found.assigned[taken]]] = found.confidence[taken]
    correct[items[right]] = True
    weight[items[there]] = found.weights[there, truth[there]]
    searched = min(_reachable_items(own, released, truth, found.score, run), _count_told_apart(released))
    expected = _expected_right(found, truth)
    reachable = max(expected, searched)
    tied = int((found.is_tied & (found.assigned >= 0)).sum())
    return NamedItems(
        named, correct, expected, confidence, weight, reachable, len(pseudonyms), int((items < n).sum()), tied
    )


def _reachable_items(own: PairShares, released: PairShares, truth: Ints, score: float, run: Run | None) -> float:
    """How many items are right on average where a search ends that starts from the truth, if ties are broken by chance;
    0 if its score is lower."""
    problem = PairProblem.from_shares(own, released)
    assigned = np.full(problem.n, -1)
    assigned[: len(truth)] = truth
    rest, free = np.flatnonzero(assigned < 0), np.setdiff1d(np.arange(problem.n), assigned)
    assigned[rest] = free[linear_sum_assignment(-problem.fit[np.ix_(rest, free)])[1]]
    reached, gain = climb_by_exchanges(problem, assigned, run)
    best = problem.score(reached)
    if best < score - _EQUAL_SCORE * (1 + abs(score)):
        return 0.0
    right = np.zeros(problem.n, np.bool_)
    right[: len(truth)] = (reached[: len(truth)] == truth) & (truth >= 0)
    return _right_among_ties(right, find_ties(gain, best))


def _expected_right(found: ItemMatching, truth: Ints) -> float:
    """How many items are right on average if those that tie are exchanged at random."""
    expected = 0.0
    for group in np.unique(found.tie_group):
        inside = found.tie_group == group
        possible = np.isin(truth[inside], found.assigned[inside]) & (truth[inside] >= 0)
        expected += float(possible.sum() / inside.sum())
    return expected


def _count_told_apart(released: PairShares) -> int:
    """How many items anyone can name correctly on average: of those that are in the very same baskets, one."""
    own = np.diag(released.shares)
    same = (released.shares == own) & (released.shares == own[:, None])
    return len(np.unique(same.argmax(axis=1)))


def _right_among_ties(right: Bools, tied: Bools) -> float:
    """How many of the right places stay right on average if the tied ones are exchanged at random; where not all of
    those that hang together are tied with each other, all of them may stay."""
    group = np.unique(group_ties(tied), return_inverse=True)[1]
    return float((np.bincount(group, right) / np.bincount(group)).sum())


def _change_entries(entries: NamedBaskets, becomes: Ints, released: int) -> tuple[Ints, Ints]:
    """Entries after each item became another, without those left out and each item once per basket."""
    known = entries.item < len(becomes)
    item = np.where(known, 0, entries.item - len(becomes) + released)
    item[known] = becomes[entries.item[known]]
    left = item >= 0
    width = int(item.max(initial=0)) + 1
    basket, changed = np.divmod(np.unique(entries.basket[left] * width + item[left]), width)
    return basket, changed


def _pair_shares(basket: Ints, item: Ints, baskets: int, among: Ints) -> Floats:
    """The share of the baskets that contain each pair of these items."""
    items = int(max(item.max(initial=0), among.max(initial=0))) + 1
    shape = (int(basket.max(initial=0)) + 1, items)
    whole = csr_array((np.ones(len(item), np.float64), (basket, item)), shape)[:, among]
    shares: Floats = (whole.T @ whole).toarray() / max(baskets, 1)
    return shares
