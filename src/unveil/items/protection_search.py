"""Search for the smallest sufficient protection: which items to suppress, to merge into a category, or to recount.

The expected cracks ε must be at most τ times the number of released items, where a category counts as one. Every
candidate is evaluated exactly (``crack_evaluation``). No fast exact algorithm is known for these problems, so items are
chosen greedily, by the cracks prevented per item, and items that turn out to be unnecessary are restored. The result is
never larger than that of the simple method, which takes items by their crack probability. Among items that are
equally good to take, a secret order decides (:mod:`unveil.secret_order`): which of them were taken must not follow from
the order of the file.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.items._count_groups import gather_counts
from unveil.items.beliefs import Beliefs
from unveil.items.crack_evaluation import CrackEvaluator, Segment
from unveil.items.item_changes import ItemChange, carry_beliefs
from unveil.release.transactions import Transactions
from unveil.secret_order import secret_permutation

__all__ = [
    "ProtectionSearch",
    "choose_by_probability",
    "collapse_categories",
    "gather_counts",
    "merge_items",
    "recount_items",
    "suppress_items",
    "suppression_change",
]

_REMOVALS_TRIED = 4  # items per segment whose removal is tried, the likeliest cracked first
_MAX_SCANNED_ITEMS = 500  # items up to which every length of a list is tried
_MAX_WINDOW_ITEMS = 200  # items up to which all runs of neighbours are tried if nothing else helps
_MAX_RESTORED = 2000  # most items that are tried for restoring,
_MAX_RESTORE_WORK = (
    1_000_000  # within this amount of work, in evaluated items; one that must be solved counts as a hundred
)
_PRICE_STEPS = 40
_DIGITS = 12  # to which probabilities are compared, so that ties are ties
_TOLERANCE_SLACK = 1e-9

_Goal = Callable[[Ints], bool]


@dataclass(frozen=True, eq=False)
class ProtectionSearch:
    """The attacker's beliefs about the original items, the share that may be cracked, and the evaluator."""

    beliefs: Beliefs
    tolerance: float
    evaluator: CrackEvaluator

    @cached_property
    def tie_order(self) -> Ints:
        """Every item's place in a secret order."""
        return secret_permutation(self.beliefs.n)

    def is_sufficient(self, change: ItemChange) -> bool:
        """Whether at most the tolerated share of the released items would be cracked after a change."""
        items = len(change.counts)
        return items > 0 and self.is_tolerated(self.cracks_after(change), items)

    def cracks_after(self, change: ItemChange) -> float:
        """The expected cracks after a change."""
        return self.evaluator.evaluate_cracks(carry_beliefs(self.beliefs, change))

    def is_tolerated(self, cracks: float, items: int) -> bool:
        """Whether this number of cracks among this number of items is tolerated."""
        return cracks <= self.tolerance * items * (1 + _TOLERANCE_SLACK)


def suppress_items(search: ProtectionSearch) -> ItemChange | None:
    """Leave out the fewest items; None if no item would be left."""
    return _smallest_change(search, lambda items: suppression_change(search, items), least=1)


def suppression_change(search: ProtectionSearch, items: Ints) -> ItemChange:
    becomes = np.zeros(search.beliefs.n, np.int64)
    becomes[items] = -1
    becomes[becomes >= 0] = np.arange(search.beliefs.n - len(items))
    return ItemChange(becomes, search.beliefs.counts[becomes >= 0].astype(np.int64))


def merge_items(search: ProtectionSearch, baskets: Transactions) -> ItemChange | None:
    """Merge the fewest items into one category; None if not even merging all of them suffices."""
    held = _BasketUnion(baskets)
    return _smallest_change(search, lambda items: _merge_change(search, items, held.count_baskets(items)), least=2)


def _smallest_change(
    search: ProtectionSearch, change_of: Callable[[Ints], ItemChange], least: int
) -> ItemChange | None:
    chosen = _fewest_items(search, lambda items: search.is_sufficient(change_of(items)), least)
    return None if chosen is None else change_of(chosen)


def _merge_change(search: ProtectionSearch, items: Ints, union: int) -> ItemChange:
    """The change that makes these items one category, which comes last."""
    return _category_change(search, np.isin(np.arange(search.beliefs.n), items), [True], {True: union})


class _BasketUnion:
    """Counts the baskets with at least one of some items. Successive queries usually differ in few items."""

    def __init__(self, baskets: Transactions) -> None:
        order = np.argsort(baskets.items, kind="stable")
        self.baskets = baskets.entry_baskets[order]
        self.begins = np.append(0, np.cumsum(baskets.counts))
        self.held = np.zeros(baskets.baskets, np.int32)
        self.chosen = np.zeros(len(baskets.labels), np.bool_)

    def count_baskets(self, items: Ints) -> int:
        """The number of baskets with any of these items."""
        chosen = np.zeros(len(self.chosen), np.bool_)
        chosen[items] = True
        for item in np.flatnonzero(chosen != self.chosen).tolist():
            self.held[self.baskets[self.begins[item] : self.begins[item + 1]]] += 1 if chosen[item] else -1
        self.chosen = chosen
        return int((self.held > 0).sum())


def collapse_categories(search: ProtectionSearch, category: Ints, baskets: Transactions) -> ItemChange | None:
    """Replace the fewest items by their given categories, each category as a whole; ``category[i]`` is −1 for an item
    without one. None if not even replacing all of them suffices."""
    sizes = np.bincount(category[category >= 0])
    held, left = _BasketUnion(baskets), [c for c in secret_permutation(len(sizes)).tolist() if sizes[c] > 1]
    unions = {c: held.count_baskets(np.flatnonzero(category == c)) for c in left}
    taken: list[int] = []
    while left:
        now = search.cracks_after(_category_change(search, category, taken, unions))
        weights = [search.cracks_after(_category_change(search, category, [*taken, c], unions)) for c in left]
        best = max(range(len(left)), key=lambda k: (now - weights[k]) / sizes[left[k]])
        taken.append(left.pop(best))
        if search.is_sufficient(_category_change(search, category, taken, unions)):
            break
    else:
        return None
    for c in sorted(taken, key=lambda c: -int(sizes[c])):
        fewer = [x for x in taken if x != c]
        if search.is_sufficient(_category_change(search, category, fewer, unions)):
            taken = fewer
    return _category_change(search, category, taken, unions)


def _category_change(
    search: ProtectionSearch, category: Ints | Bools, taken: list[int], unions: Mapping[int, int]
) -> ItemChange:
    """The change that replaces the items of some categories by the categories, which come last."""
    inside = np.isin(category, taken)
    becomes = np.cumsum(~inside) - 1
    kept = int((~inside).sum())
    for place, c in enumerate(taken):
        becomes[category == c] = kept + place
    counts = np.append(search.beliefs.counts[~inside], [unions[c] for c in taken])
    return ItemChange(becomes, counts.astype(np.int64))


def _fewest_items(search: ProtectionSearch, goal: _Goal, least: int) -> Ints | None:
    """The fewest items found that reach a goal: chosen greedily, or by probability if that takes fewer. If neither
    reaches it, all but the longest possible run of neighbours in frequency."""
    found = [_choose_greedily(search, goal, least), choose_by_probability(search, goal, least)]
    if all(items is None for items in found) and search.beliefs.n <= _MAX_WINDOW_ITEMS:
        found = [_items_outside_dense_run(search, goal, least)]
    trimmed = [_restore_items(search, goal, items, least) for items in found if items is not None]
    return min(trimmed, key=len, default=None)


def _restore_items(search: ProtectionSearch, goal: _Goal, items: Ints, least: int) -> Ints:
    """Restore items whose removal is not needed, the most frequent first."""
    for item in _items_to_restore(search, items, search.beliefs.counts[items]):
        fewer = items[items != item]
        if len(fewer) >= least and goal(fewer):
            items = fewer
    return items


def _items_to_restore(search: ProtectionSearch, items: Ints, weights: Floats) -> Iterator[int]:
    """The changed items that are worth restoring, those of most weight first, while the work allows."""
    spent = search.evaluator.work_spent
    for item in items[np.lexsort((search.tie_order[items], -weights))][:_MAX_RESTORED].tolist():
        if search.evaluator.work_spent - spent > _MAX_RESTORE_WORK:
            return
        yield item


def choose_by_probability(search: ProtectionSearch, goal: _Goal, least: int = 1) -> Ints | None:
    """The simple method: the shortest list of the likeliest cracked items that reaches a goal. Beyond some hundred
    items the length is bisected, which may miss a shorter list: removing more need not be better."""
    parts = search.evaluator.solve_segments(search.beliefs)
    if parts is None:
        return None
    crack = np.zeros(search.beliefs.n)
    for part in parts:
        crack[part.items] = part.crack
    order = np.lexsort((search.tie_order, search.beliefs.counts, -crack.round(_DIGITS)))
    n = len(order)
    if n <= _MAX_SCANNED_ITEMS:
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


def _items_outside_dense_run(search: ProtectionSearch, goal: _Goal, least: int) -> Ints | None:
    """All items except a run of neighbours in frequency, as long as possible, that reach a goal."""
    n, order = search.beliefs.n, np.lexsort((search.tie_order, search.beliefs.counts))
    runs = ((start, kept) for kept in range(n - least, 0, -1) for start in range(n - kept + 1))
    rest = (np.append(order[:start], order[start + kept :]) for start, kept in runs)
    return next((items for items in rest if goal(items)), None)


def _choose_greedily(search: ProtectionSearch, goal: _Goal, least: int) -> Ints | None:
    chosen = np.empty(0, np.int64)
    for item in _greedy_removals(search):
        chosen = np.append(chosen, item)
        search.evaluator.run.progress("choosing items", len(chosen) / search.beliefs.n)
        if len(chosen) >= least and goal(chosen):
            return chosen
    return None


def _greedy_removals(search: ProtectionSearch) -> Iterator[int]:
    """All items, one by one: first those whose removal, alone or with their whole segment, prevents the most cracks per
    item.

    If only the removal of a whole segment prevents a crack, its items come one after another: the fewer are left, the
    more cracks each of them costs.
    """
    heap: list[tuple[float, float, int, int, Segment]] = []

    def push_removal(part: Segment) -> None:
        prevented, entries, item = _best_removal(search, part)
        heapq.heappush(heap, (-prevented, entries, int(search.tie_order[item]), item, part))

    for part in search.evaluator.solve_segments(search.beliefs) or ():
        push_removal(part)
    while heap:
        *_, item, part = heapq.heappop(heap)
        rest = part.items[part.items != item]
        for new in (search.evaluator.solve_segments(search.beliefs.select(rest)) or ()) if len(rest) else ():
            push_removal(Segment(rest[new.items], new.crack))
        yield item


def _best_removal(search: ProtectionSearch, part: Segment) -> tuple[float, float, int]:
    """The item of a segment to remove first, with the cracks prevented per item, by removing it or the whole segment,
    and the entries lost, which settle a tie."""
    beliefs, size = search.beliefs, len(part.items)
    tried = np.lexsort((search.tie_order[part.items], -part.crack.round(_DIGITS)))[:_REMOVALS_TRIED]
    gains = [
        part.cracks - search.evaluator.evaluate_cracks(beliefs.select(np.delete(part.items, at))) if size > 1 else 1.0
        for at in tried
    ]
    items = part.items[tried]
    order = np.lexsort((search.tie_order[items], beliefs.counts[items], -np.round(gains, _DIGITS)))
    best = int(order[0])
    prevented = round(max(gains[best], part.cracks / size), _DIGITS)
    return prevented, float(beliefs.counts[items[best]]), int(items[best])


def recount_items(
    search: ProtectionSearch, precision_of_counts: Callable[[Floats], float] | None = None
) -> ItemChange | None:
    """Move counts onto each other, adding and removing as few entries as could be found.

    Groups of successive counts move to their median, with the least total movement for a price per group; the price is
    bisected to the lowest at which the tolerance holds. For an attacker who knows every frequency exactly, each group
    yields one crack, and no other choice of as many groups moves less. Counts that need not move are restored.

    ``precision_of_counts`` maps counts to the attacker's precision. If it is given, the tolerance must also hold at the
    precision that follows from the moved counts, as for an attacker who sees only the release.
    """
    counts = search.beliefs.counts

    def is_tolerated_after(new: Floats) -> bool:
        if not search.is_sufficient(_count_change(new)):
            return False
        if precision_of_counts is None:
            return True
        alone = Beliefs.from_half_width(new, precision_of_counts(new))
        return search.is_tolerated(search.evaluator.evaluate_cracks(alone), alone.n)

    values, group, weights = np.unique(counts, return_inverse=True, return_counts=True)
    low, high = 0.0, float(np.abs(counts - np.median(counts)).sum()) + 1.0
    found: Floats | None = None
    for step in range(_PRICE_STEPS):
        search.evaluator.run.progress("moving counts", step / _PRICE_STEPS)
        price = high if found is None else (low + high) / 2
        new = gather_counts(values, weights.astype(np.float64), price)[group]
        if is_tolerated_after(new):
            found, high = new, price
        elif found is None:
            return None
        else:
            low = price
    if found is None:
        return None
    moved = np.flatnonzero(found != counts)
    for item in _items_to_restore(search, moved, np.abs(found - counts)[moved]):
        tried = found.copy()
        tried[item] = counts[item]
        if is_tolerated_after(tried):
            found = tried
    return _count_change(found)


def _count_change(new: Floats) -> ItemChange:
    return ItemChange(np.arange(len(new)), new.astype(np.int64))
