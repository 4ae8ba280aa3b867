"""How a protection changes items: each item stays, joins a category, is suppressed or is recounted.

We assume that the attacker knows what was done: which items are left, which were merged, and how far each count moved.
They know the released frequencies as well as the original ones: the interval of an item moves along with its count, and
a category is known as well as its best-known item. The protection only keeps them from distinguishing items that have
become alike.

Numbers in random order replace the names, baskets are shuffled, and the items of a basket are sorted by their new
number, because either order could identify items. All randomness comes from the operating system: from a known seed
anyone could compute the names back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.item_pairs import pair_counts, top_pairs
from unveil.items.item_triples import top_triples, triple_counts
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.secret_order import secret_permutation
from unveil.wording import safe_text

__all__ = [
    "ItemChange",
    "Usefulness",
    "apply_change",
    "carry_beliefs",
    "identity_change",
    "measure_usefulness",
    "pseudonymise_baskets",
]

_TOP_PAIRS = 100  # most frequent pairs by which usefulness is measured
_TOP_TRIPLES = 100  # most frequent triples by which it is measured


@dataclass(frozen=True, eq=False)
class ItemChange:
    """``becomes[i]`` is the released item that item i becomes, −1 if it is suppressed; ``counts`` is the number of
    baskets in which each released item is to occur."""

    becomes: Ints
    counts: Ints

    @property
    def members(self) -> Ints:
        """The number of items that each released item stands for."""
        return np.bincount(self.becomes[self.becomes >= 0], minlength=len(self.counts))


@dataclass(frozen=True)
class Usefulness:
    """What a change preserves.

    ``pair_agreement`` is the overlap of the counts of the most frequent pairs before and after: the smaller counts over
    the larger ones, each summed. ``pairs_compared`` most frequent pairs are compared; ``pair_jaccard`` is the share of
    those frequent before or after that are frequent both times. ``triple_recall`` is the share of the
    ``triples_compared`` most frequent triples that are still as frequent as the last of as many triples after.
    ``baskets_lost`` baskets have no item left; ``basket_sizes`` are the mean numbers of items before and after, and
    ``resized_baskets`` says whether any basket has more or fewer items.
    """

    pair_agreement: float
    pairs_compared: int
    pair_jaccard: float
    triple_recall: float
    triples_compared: int
    baskets_lost: int
    basket_sizes: tuple[float, float]
    resized_baskets: bool


def identity_change(counts: Ints) -> ItemChange:
    """The change that keeps every item as it is."""
    return ItemChange(np.arange(len(counts)), counts)


def carry_beliefs(beliefs: Beliefs, change: ItemChange) -> Beliefs:
    """The attacker's beliefs about the released items. A released item takes the interval of its best-known item (a
    right interval before a wrong one, then the narrowest), moved along with its count."""
    known = np.flatnonzero(change.becomes >= 0)
    width = beliefs.high - beliefs.low
    order = known[np.lexsort((width[known], ~beliefs.compliant[known], change.becomes[known]))]
    first = np.unique(change.becomes[order], return_index=True)[1]
    best = order[first]
    moved = change.counts - beliefs.counts[best]
    return replace(beliefs.select(best).move_intervals(moved, moved), counts=change.counts.astype(np.float64))


def apply_change(baskets: Transactions, change: ItemChange) -> Transactions:
    """The baskets with their items changed, with numbers as labels. They are not yet a release, because the numbers
    follow the order of the original."""
    basket = baskets.entry_baskets
    item = change.becomes[baskets.items]
    keys = np.unique(basket[item >= 0] * len(change.counts) + item[item >= 0])
    basket, item = np.divmod(keys, max(1, len(change.counts)))
    basket, item = _adjust_counts(basket, item, change.counts, baskets.baskets)
    return _make_baskets(basket, item, len(change.counts), baskets.name)


def pseudonymise_baskets(baskets: Transactions) -> tuple[Transactions, Ints]:
    """The baskets with random numbers as labels and in random order, and the new code of each item."""
    numbers = secret_permutation(len(baskets.labels))
    keys = (
        np.repeat(secret_permutation(baskets.baskets), np.diff(baskets.indptr)) * len(numbers) + numbers[baskets.items]
    )
    basket, item = np.divmod(np.sort(keys), len(numbers))
    return _make_baskets(basket, item, len(numbers), baskets.name), numbers


def measure_usefulness(
    before: Transactions, change: ItemChange, after: Transactions, run: Run | None = None
) -> Usefulness:
    """How much of what is mined from baskets remains; ``after`` is the result of :func:`apply_change`."""
    alone = change.members == 1
    original = np.full(len(change.counts), -1)
    kept = np.flatnonzero(change.becomes >= 0)
    original[change.becomes[kept]] = kept
    original[~alone] = -1
    old, new = (top_pairs(baskets, _TOP_PAIRS, run).take_first(_TOP_PAIRS) for baskets in (before, after))
    named = original[new.a], original[new.b]
    there = (named[0] >= 0) & (named[1] >= 0)
    a = np.append(old.a, np.minimum(*named)[there])
    b = np.append(old.b, np.maximum(*named)[there])
    pairs = np.unique(np.stack([a, b]), axis=1)
    was = pair_counts(before, pairs[0], pairs[1], run)
    now = np.zeros(pairs.shape[1], np.int64)
    both = np.where(change.becomes[pairs] >= 0, alone[change.becomes[pairs]], False).all(axis=0)
    first, second = change.becomes[pairs[:, both]]
    now[both] = pair_counts(after, first, second, run)
    frequent = np.isin(pairs[0] * before.counts.size + pairs[1], old.a * before.counts.size + old.b)
    made_up = np.maximum(now - was, 0)[~frequent].sum() + new.counts[~there].sum()
    either = int(np.maximum(was, now)[frequent].sum() + made_up)
    agree = int(np.minimum(was, now)[frequent].sum()) / either if either else 1.0
    kept_pairs = len(old) + int(there.sum()) - pairs.shape[1]  # frequent both times
    recall, triples = _triple_recall(before, change, after, run)
    sizes = [np.diff(baskets.indptr) for baskets in (before, after)]
    return Usefulness(
        pair_agreement=agree,
        pairs_compared=len(old),
        pair_jaccard=kept_pairs / max(1, len(old) + len(new) - kept_pairs) if len(old) else 1.0,
        triple_recall=recall,
        triples_compared=triples,
        baskets_lost=before.baskets - after.baskets,
        basket_sizes=(float(sizes[0].mean()), float(sizes[1].mean())),
        resized_baskets=before.baskets != after.baskets or bool((sizes[0] != sizes[1]).any()),
    )


def _triple_recall(before: Transactions, change: ItemChange, after: Transactions, run: Run | None) -> tuple[float, int]:
    """The share of the most frequent triples that are still among the most frequent, and how many there were. A triple
    is lost if one of its items was left out or is in a category."""
    old, new = top_triples(before, _TOP_TRIPLES, run), top_triples(after, _TOP_TRIPLES, run)
    if not len(old.items):
        return 1.0, 0
    becomes = change.becomes[old.items]
    alone = np.where(becomes >= 0, (change.members == 1)[becomes], False).all(axis=1)
    least = max(1, int(new.counts[-1])) if len(new.counts) else 1
    kept = int((triple_counts(after, becomes[alone]) >= least).sum())
    return kept / len(old.items), len(old.items)


def _adjust_counts(basket: Ints, item: Ints, target_counts: Ints, baskets: int) -> tuple[Ints, Ints]:
    """Add items to random baskets without them, and remove them from random baskets with them."""
    counts = np.bincount(item, minlength=len(target_counts))
    if (target_counts > baskets).any() or (target_counts < 0).any():
        raise UnveilError("an item cannot be in more baskets than there are, or in fewer than none")
    order = np.argsort(item, kind="stable")
    begins = np.append(0, np.cumsum(counts))
    gone, more = [], []
    for j in np.flatnonzero(counts != target_counts).tolist():
        own = order[begins[j] : begins[j + 1]]
        if target_counts[j] < counts[j]:
            gone.append(own[secret_permutation(len(own))[: counts[j] - target_counts[j]]])
            continue
        more.append(
            _draw_other_baskets(basket[own], int(target_counts[j] - counts[j]), baskets) * len(target_counts) + j
        )
    keys = basket * len(target_counts) + item
    kept = np.delete(keys, np.concatenate(gone)) if gone else keys
    basket, item = np.divmod(np.sort(np.concatenate([kept, *more])), max(1, len(target_counts)))
    return basket, item


def _draw_other_baskets(held: Ints, many: int, baskets: int) -> Ints:
    """The given number of random baskets that are not among those held."""
    if 4 * (len(held) + many) > baskets:
        free = np.setdiff1d(np.arange(baskets), held, assume_unique=True)
        return free[secret_permutation(len(free))[:many]]
    found = np.empty(0, np.int64)
    while len(found) < many:  # at least three in four draws are new
        drawn = (np.frombuffer(os.urandom(8 * (2 * many + 8)), np.uint64) % np.uint64(baskets)).astype(np.int64)
        seen = np.concatenate([found, drawn])
        first = np.sort(np.unique(seen, return_index=True)[1])
        seen = seen[first]
        found = seen[~np.isin(seen, held)]
    return found[:many]


def _make_baskets(basket: Ints, item: Ints, count: int, name: str) -> Transactions:
    """Baskets from sorted entries, without empty ones; the item with code c has the label c + 1."""
    import pyarrow as pa

    from unveil.release.text_tokens import content_digest

    if not len(item):
        raise UnveilError(f"{safe_text(name)}: no item would be left; protect fewer items")
    indptr = np.append(0, np.cumsum(np.unique(basket, return_counts=True)[1]))
    items = item.astype(np.int32)
    numbers = pa.array(np.arange(1, count + 1)).cast(pa.string())
    return Transactions(indptr, items, numbers, name, content_digest(numbers, indptr, items))
