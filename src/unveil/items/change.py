"""What becomes of the items of a release that is protected: they stay, become a category, are suppressed or recounted.

The attacker is taken to know what was done: which items are left, which were put together, and how far a count was
moved. They know the released frequencies as well as they knew the original ones: the interval of an item moves along
with its count, and a category is known as well as the item in it that is known best. What an attacker is kept from is
telling apart what has become alike.

Names are replaced by numbers in random order, baskets are shuffled and the items in a basket sorted by their new
number, for the order of either may tell items apart. All that is random comes from the operating system: from a seed
that can be found out, the names could be computed back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.pairs import pair_counts, top_pairs
from unveil.matching.candidates import Ints
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import shown

__all__ = ["Change", "Usefulness", "applied", "carried", "pseudonymised", "unchanged", "usefulness"]

_TOP = 100  # pairs of items by which usefulness is judged


@dataclass(frozen=True, eq=False)
class Change:
    """``becomes[i]`` is the released item that item i becomes, −1 if it is suppressed; ``counts`` is in how many
    baskets each released item is to be."""

    becomes: Ints
    counts: Ints

    @property
    def members(self) -> Ints:
        """How many items each released item stands for."""
        return np.bincount(self.becomes[self.becomes >= 0], minlength=len(self.counts))


@dataclass(frozen=True)
class Usefulness:
    """What a change leaves: the Jaccard index of the most frequent pairs of items before and after, weighted by in how
    many baskets they are; how many were compared; and the share of entries that were removed, replaced or added."""

    pairs: float
    compared: int
    altered: float


def unchanged(counts: Ints) -> Change:
    """Every item stays as it is."""
    return Change(np.arange(len(counts)), counts)


def carried(beliefs: Beliefs, change: Change) -> Beliefs:
    """What the attacker believes of the released items. A released item takes the interval of the item in it that is
    known best, rightly rather than wrongly and then narrowly, moved along with its count."""
    known = np.flatnonzero(change.becomes >= 0)
    width = beliefs.high - beliefs.low
    order = known[np.lexsort((width[known], ~beliefs.compliant[known], change.becomes[known]))]
    first = np.unique(change.becomes[order], return_index=True)[1]
    best = order[first]
    moved = change.counts - beliefs.counts[best]
    return Beliefs(beliefs.low[best] + moved, beliefs.high[best] + moved, change.counts.astype(np.float64))


def applied(baskets: Transactions, change: Change) -> Transactions:
    """The baskets with their items changed, under the same name and with numbers as labels: not yet a release, for
    the numbers are in the order of the original."""
    basket = np.repeat(np.arange(baskets.baskets), np.diff(baskets.indptr))
    item = change.becomes[baskets.items]
    keys = np.unique(basket[item >= 0] * len(change.counts) + item[item >= 0])
    basket, item = np.divmod(keys, max(1, len(change.counts)))
    basket, item = _recounted(basket, item, change.counts, baskets.baskets)
    return _made(basket, item, np.arange(len(change.counts)), baskets.name)


def pseudonymised(baskets: Transactions) -> tuple[Transactions, Ints]:
    """The baskets under random numbers and in random order, and which of its items each item has become."""
    numbers = _shuffled(len(baskets.labels))
    keys = np.repeat(_shuffled(baskets.baskets), np.diff(baskets.indptr)) * len(numbers) + numbers[baskets.items]
    basket, item = np.divmod(np.sort(keys), len(numbers))
    order = np.argsort(np.unique(item, return_index=True)[1])  # codes follow the first appearance, as in a file
    made = _made(basket, item, order, baskets.name)
    return made, np.argsort(order)[numbers]


def usefulness(before: Transactions, change: Change, after: Transactions, run: Run | None = None) -> Usefulness:
    """How much of what is mined from baskets is still there; ``after`` is what :func:`applied` returns."""
    alone = change.members == 1
    original = np.full(len(change.counts), -1)
    kept = np.flatnonzero(change.becomes >= 0)
    original[change.becomes[kept]] = kept
    original[~alone] = -1
    old, new = top_pairs(before, _TOP, run), top_pairs(after, _TOP, run)
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
    return Usefulness(agree, len(old), _altered(before, change))


def _altered(before: Transactions, change: Change) -> float:
    """The share of the entries that were removed or hidden in a category, plus those that were added."""
    stays = np.flatnonzero(change.becomes >= 0)
    alone = stays[change.members[change.becomes[stays]] == 1]
    moved = np.abs(change.counts[change.becomes[alone]] - before.counts[alone]).sum()
    hidden = before.counts.sum() - before.counts[alone].sum()
    return float((moved + hidden) / max(1, before.counts.sum()))


def _recounted(basket: Ints, item: Ints, wanted: Ints, baskets: int) -> tuple[Ints, Ints]:
    """Add items to random baskets that lack them, and take them out of random ones that hold them."""
    counts = np.bincount(item, minlength=len(wanted))
    if (wanted > baskets).any() or (wanted < 0).any():
        raise UnveilError("no item can be in more baskets than there are")
    order = np.argsort(item, kind="stable")
    begins = np.append(0, np.cumsum(counts))
    gone, more = [], []
    for j in np.flatnonzero(counts != wanted).tolist():
        own = order[begins[j] : begins[j + 1]]
        if wanted[j] < counts[j]:
            gone.append(own[_shuffled(len(own))[: counts[j] - wanted[j]]])
            continue
        more.append(_others(basket[own], int(wanted[j] - counts[j]), baskets) * len(wanted) + j)
    keys = basket * len(wanted) + item
    kept = np.delete(keys, np.concatenate(gone)) if gone else keys
    basket, item = np.divmod(np.sort(np.concatenate([kept, *more])), max(1, len(wanted)))
    return basket, item


def _others(held: Ints, many: int, baskets: int) -> Ints:
    """So many random baskets that are not among those held."""
    if 4 * (len(held) + many) > baskets:
        free = np.setdiff1d(np.arange(baskets), held, assume_unique=True)
        return free[_shuffled(len(free))[:many]]
    found = np.empty(0, np.int64)
    while len(found) < many:  # at least three in four draws are new
        drawn = (np.frombuffer(os.urandom(8 * (2 * many + 8)), np.uint64) % np.uint64(baskets)).astype(np.int64)
        seen = np.concatenate([found, drawn])
        first = np.sort(np.unique(seen, return_index=True)[1])
        seen = seen[first]
        found = seen[~np.isin(seen, held)]
    return found[:many]


def _shuffled(n: int) -> Ints:
    """0 … n − 1 in an order that nobody can replay."""
    return np.argsort(np.frombuffer(os.urandom(8 * n), np.uint64))


def _made(basket: Ints, item: Ints, order: Ints, name: str) -> Transactions:
    """Baskets from sorted entries, without empty ones; the item with code c is labelled by its number, order[c] + 1."""
    import pyarrow as pa

    from unveil.release.text import fingerprint

    if not len(item):
        raise UnveilError(f"{shown(name)}: nothing would be left")
    indptr = np.append(0, np.cumsum(np.unique(basket, return_counts=True)[1]))
    items = np.argsort(order)[item].astype(np.int32)
    labels = pa.array([str(number + 1) for number in order.tolist()], pa.string())
    return Transactions(indptr, items, labels, name, fingerprint(labels, indptr, items))
