"""The smallest protection that holds: which items to suppress, to put into a category, or to recount.

Expected cracks ε are to be at most τ times the items that are released, a category being one. All that is done is
judged by exact re-evaluation (``weighing``). None of these problems is known to have a fast exact solution: items are
chosen greedily, by how many cracks fewer there are per item taken, and whatever turns out not to be needed is put
back. The result is compared with the plain way, which takes items by their crack probability; it is never larger.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from unveil.items import _coarsen
from unveil.items.beliefs import Beliefs
from unveil.items.change import Change, carried
from unveil.items.weighing import Scales, Stretch
from unveil.matching.candidates import Floats, Ints
from unveil.release.transactions import Transactions

__all__ = ["Search", "by_probability", "collapse", "merge", "recount", "suppress"]

_TRIED = 4  # items of a stretch whose removal is tried, the likeliest cracked first
_SCANNED = 500  # items up to which every length of a list is tried
_WINDOWS = 200  # items up to which all runs of neighbours are tried where nothing else helps
_RESTORED = 2000  # items at most that are tried to be put back,
_LOOKED_AT = 1_000_000  # while no more than so many items are looked at in all, one to be solved for a hundred
_PRICES = 40
_SLACK = 1e-9

_Goal = Callable[[Ints], bool]


@dataclass(frozen=True, eq=False)
class Search:
    """What the attacker believes of the original items, what share of them may be cracked, and how that is weighed."""

    beliefs: Beliefs
    tolerance: float
    scales: Scales

    def holds(self, change: Change) -> bool:
        """Whether no more than the tolerated share of what is still released would be cracked."""
        items = len(change.counts)
        return items > 0 and self.enough(self.scales.weigh(carried(self.beliefs, change)), items)

    def enough(self, cracks: float, items: int) -> bool:
        """Whether so many cracks among so many items are tolerated."""
        return cracks <= self.tolerance * items * (1 + _SLACK)


# ---- suppress --------------------------------------------------------------------------------------------------------


def suppress(search: Search) -> Change | None:
    """The fewest items to leave out; None if nothing would be left."""
    chosen = _fewest(search, lambda items: search.holds(_without(search, items)), least=1)
    return None if chosen is None else _without(search, chosen)


def _without(search: Search, items: Ints) -> Change:
    becomes = np.zeros(search.beliefs.n, np.int64)
    becomes[items] = -1
    becomes[becomes >= 0] = np.arange(search.beliefs.n - len(items))
    return Change(becomes, search.beliefs.counts[becomes >= 0].astype(np.int64))


# ---- merge -----------------------------------------------------------------------------------------------------------


def merge(search: Search, baskets: Transactions) -> Change | None:
    """The fewest items to put together into one category; None if even all of them do not help."""
    held = _Union(baskets)
    chosen = _fewest(search, lambda items: search.holds(_together(search, items, held.count(items))), least=2)
    return None if chosen is None else _together(search, chosen, held.count(chosen))


def _together(search: Search, items: Ints, union: int) -> Change:
    """The items as one category, which comes last."""
    n = search.beliefs.n
    becomes, rest = np.full(n, n - len(items)), np.setdiff1d(np.arange(n), items)
    becomes[rest] = np.arange(len(rest))
    return Change(becomes, np.append(search.beliefs.counts[rest], union).astype(np.int64))


class _Union:
    """In how many baskets at least one of some items is. Successive questions mostly differ in a few items."""

    def __init__(self, baskets: Transactions) -> None:
        order = np.argsort(baskets.items, kind="stable")
        self.baskets = np.repeat(np.arange(baskets.baskets), np.diff(baskets.indptr))[order]
        self.begins = np.append(0, np.cumsum(baskets.counts))
        self.held = np.zeros(baskets.baskets, np.int32)
        self.chosen = np.zeros(len(baskets.labels), np.bool_)

    def count(self, items: Ints) -> int:
        """The number of baskets with any of these items."""
        wanted = np.zeros(len(self.chosen), np.bool_)
        wanted[items] = True
        for item in np.flatnonzero(wanted != self.chosen).tolist():
            self.held[self.baskets[self.begins[item] : self.begins[item + 1]]] += 1 if wanted[item] else -1
        self.chosen = wanted
        return int((self.held > 0).sum())


def collapse(search: Search, category: Ints, baskets: Transactions) -> Change | None:
    """The fewest items to replace by their categories, each as a whole; ``category[i]`` is −1 for an item that has
    none. None if that does not help even where all categories are taken."""
    sizes = np.bincount(category[category >= 0])
    held, left = _Union(baskets), np.flatnonzero(sizes > 1).tolist()
    unions = {c: held.count(np.flatnonzero(category == c)) for c in left}
    taken: list[int] = []
    while left:
        now = _cracks(search, category, taken, unions)
        weights = [_cracks(search, category, [*taken, c], unions) for c in left]
        best = max(range(len(left)), key=lambda k: (now - weights[k]) / sizes[left[k]])
        taken.append(left.pop(best))
        if search.holds(_categories(search, category, taken, unions)):
            break
    else:
        return None
    for c in sorted(taken, key=lambda c: -int(sizes[c])):
        fewer = [x for x in taken if x != c]
        if search.holds(_categories(search, category, fewer, unions)):
            taken = fewer
    return _categories(search, category, taken, unions)


def _cracks(search: Search, category: Ints, taken: list[int], unions: dict[int, int]) -> float:
    return search.scales.weigh(carried(search.beliefs, _categories(search, category, taken, unions)))


def _categories(search: Search, category: Ints, taken: list[int], unions: dict[int, int]) -> Change:
    """Some categories in place of their items; they come last."""
    inside = np.isin(category, taken)
    becomes = np.cumsum(~inside) - 1
    kept = int((~inside).sum())
    for place, c in enumerate(taken):
        becomes[category == c] = kept + place
    counts = np.append(search.beliefs.counts[~inside], [unions[c] for c in taken])
    return Change(becomes, counts.astype(np.int64))


# ---- which items -----------------------------------------------------------------------------------------------------


def _fewest(search: Search, goal: _Goal, least: int) -> Ints | None:
    """The fewest items found that reach a goal: greedily, or by probability if that takes fewer. Where neither reaches
    it, all but the longest run of neighbours in frequency that does."""
    found = [_greedy(search, goal, least), by_probability(search, goal, least)]
    if all(items is None for items in found) and search.beliefs.n <= _WINDOWS:
        found = [_around_the_densest(search, goal, least)]
    trimmed = [_restored(search, goal, items, least) for items in found if items is not None]
    return min(trimmed, key=len, default=None)


def by_probability(search: Search, goal: _Goal, least: int = 1) -> Ints | None:
    """The plain way: the shortest list of the likeliest cracked items that reaches a goal. Beyond some hundred items
    the length is bisected, which may miss a shorter one: more need not be better."""
    parts = search.scales.stretches(search.beliefs)
    if parts is None:
        return None
    crack = np.zeros(search.beliefs.n)
    for part in parts:
        crack[part.items] = part.crack
    order = np.lexsort((search.beliefs.counts, -crack.round(12)))
    n = len(order)
    if n <= _SCANNED:
        return next((order[:k] for k in range(least, n + 1) if goal(order[:k])), None)
    low, high = least - 1, least
    while not goal(order[:high]):
        if high == n:
            return None
        low, high = high, min(n, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if goal(order[:middle]) else (middle, high)
    return order[:high]


def _around_the_densest(search: Search, goal: _Goal, least: int) -> Ints | None:
    """All items but the longest run of neighbours in frequency that reaches a goal."""
    n, order = search.beliefs.n, np.argsort(search.beliefs.counts, kind="stable")
    runs = ((start, kept) for kept in range(n - least, 0, -1) for start in range(n - kept + 1))
    rest = (np.append(order[:start], order[start + kept :]) for start, kept in runs)
    return next((items for items in rest if goal(items)), None)


def _greedy(search: Search, goal: _Goal, least: int) -> Ints | None:
    chosen = np.empty(0, np.int64)
    for item in _removals(search):
        chosen = np.append(chosen, item)
        search.scales.run.progress("choosing items", len(chosen) / search.beliefs.n)
        if len(chosen) >= least and goal(chosen):
            return chosen
    return None


def _removals(search: Search) -> Iterator[int]:
    """All items, one by one: those first whose removal, or that of all around them, prevents the most cracks per item.

    Where it takes a whole stretch to prevent a crack, its items come one after the other: the fewer are left, the more
    cracks each of them costs.
    """
    number = count()
    heap: list[tuple[float, float, int, int, Stretch]] = []

    def consider(part: Stretch) -> None:
        prevented, entries, item = _best_move(search, part)
        heapq.heappush(heap, (-prevented, entries, next(number), item, part))

    for part in search.scales.stretches(search.beliefs) or ():
        consider(part)
    while heap:
        *_, item, part = heapq.heappop(heap)
        rest = part.items[part.items != item]
        for new in (search.scales.stretches(search.beliefs.only(rest)) or ()) if len(rest) else ():
            consider(Stretch(rest[new.items], new.crack))
        yield item


def _best_move(search: Search, part: Stretch) -> tuple[float, float, int]:
    """The item of a stretch to take out first; with the cracks prevented per item, by that or by taking all of them,
    and the entries lost, which settle a tie."""
    beliefs, size = search.beliefs, len(part.items)
    tried = np.argsort(-part.crack, kind="stable")[:_TRIED]
    gains = [
        part.cracks - search.scales.weigh(beliefs.only(np.delete(part.items, at))) if size > 1 else 1.0 for at in tried
    ]
    order = [
        (-gain, beliefs.counts[part.items[at]], int(part.items[at])) for gain, at in zip(gains, tried, strict=True)
    ]
    gain, entries, item = min(order)
    return max(-gain, part.cracks / size), float(entries), item


def _restored(search: Search, goal: _Goal, items: Ints, least: int) -> Ints:
    """Put back what is not needed, the most frequent first."""
    spent = search.scales.spent
    for item in items[np.argsort(-search.beliefs.counts[items], kind="stable")][:_RESTORED].tolist():
        if search.scales.spent - spent > _LOOKED_AT:
            break
        fewer = items[items != item]
        if len(fewer) >= least and goal(fewer):
            items = fewer
    return items


# ---- recount ---------------------------------------------------------------------------------------------------------


def recount(search: Search, width: Callable[[Floats], float] | None = None) -> Change | None:
    """Counts moved onto each other, with as few entries added and removed as could be found.

    Groups of successive counts are gathered at their median, at the least total movement for a price per group; the
    price is bisected to the lowest at which the tolerance holds. For someone who knows every frequency exactly, a
    group is cracked once, and no other choice of as many groups moves less. Counts that need not move are put back.

    With ``width``, which says how the attacker's accuracy follows from the counts, the tolerance also has to hold for
    the accuracy that follows from the moved ones: as for someone who assesses the release by itself.
    """
    counts = search.beliefs.counts

    def holds(new: Floats) -> bool:
        if not search.holds(_change(new)):
            return False
        if width is None:
            return True
        alone = Beliefs.around(new, width(new))
        return search.enough(search.scales.weigh(alone), alone.n)

    values, group, weights = np.unique(counts, return_inverse=True, return_counts=True)
    low, high = 0.0, float(np.abs(counts - np.median(counts)).sum()) + 1.0
    found: Floats | None = None
    for step in range(_PRICES):
        search.scales.run.progress("moving counts", step / _PRICES)
        price = high if found is None else (low + high) / 2
        new = _coarsen.gathered(values, weights.astype(np.float64), price)[group]
        if holds(new):
            found, high = new, price
        elif found is None:
            return None
        else:
            low = price
    return None if found is None else _change(_put_back(search, holds, found))


def _put_back(search: Search, holds: Callable[[Floats], bool], new: Floats) -> Floats:
    counts = search.beliefs.counts
    moved = np.flatnonzero(new != counts)
    spent = search.scales.spent
    for item in moved[np.argsort(-np.abs(new - counts)[moved], kind="stable")][:_RESTORED].tolist():
        if search.scales.spent - spent > _LOOKED_AT:
            break
        tried = new.copy()
        tried[item] = counts[item]
        if holds(tried):
            new = tried
    return new


def _change(new: Floats) -> Change:
    return Change(np.arange(len(new)), new.astype(np.int64))
