"""What to give up, so that someone who knows m random things about a person finds them no more often than is tolerated.

A plan (:mod:`.search`) is found greedily: of all moves (a column up to any of its levels, labels rarer than some number
given up, the next percent of those most likely found) the one that prevents most success for the usefulness it costs.
What a move prevents changes slowly, so only the best one is weighed anew, until it stays the best; of equals that one
is made which was weighed last, so that a plateau costs one attack a move. A move may do harm: without a column that
tells little, those that tell more are known more often. So whatever turns out not to be needed is taken back in the
end, the most useful first, each time attacking again.

A search may have several plans to start from; the most useful result counts. Where all choices end above the aim, moves
of each kind alone are tried, since others may have spoiled them; where columns alone are moved, the search may have
more plans to try.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, islice

from unveil.linkage.safer.search import Move, Plan, Search

__all__ = ["greedy", "relaxed", "smallest_plan"]

_LEAST = 1e-9


def smallest_plan(
    search: Search, aim: float, kinds: Sequence[str], told: Callable[[float], None] = lambda done: None
) -> Plan | None:
    """A plan that reaches the aim by moves of some kinds, none of which can be taken back; None if none was found.
    ``told`` hears how far it has come."""
    starts = search.starts(kinds)
    reached = [p for start in starts if (p := greedy(search, aim, kinds, told, start)) is not None]
    if not reached and tuple(kinds) == ("columns",):
        reached = list(islice((p for p in search.last_resorts() if search.weigh(p) <= aim), 1))
    elif not reached:
        reached = [p for kind in kinds if (p := greedy(search, aim, (kind,), told)) is not None]
    told(1.0)
    return max((relaxed(search, aim, p) for p in reached), key=search.useful, default=None)


def greedy(
    search: Search,
    aim: float,
    kinds: Sequence[str],
    told: Callable[[float], None] = lambda done: None,
    start: Plan | None = None,
) -> Plan | None:
    """The first plan that reaches the aim, always making the move that prevents most for what it costs."""
    plan, number = start or search.start, count()
    first = now = search.weigh(plan)
    heap: list[tuple[float, int, int, Move]] = []  # what a move brings, minus the step it was weighed at
    step = 0

    def consider(move: Move) -> None:
        after = search.applied(plan, move)
        if after is not None:
            cost = max(_LEAST, search.useful(plan) - search.useful(after))
            heapq.heappush(heap, ((search.weigh(after) - now) / cost, -step, next(number), move))

    if now > aim:
        for move in search.moves(kinds):
            consider(move)
    while now > aim:
        told((first - now) / max(_LEAST, first - aim))
        if not heap:
            return None
        _, seen, _, move = heapq.heappop(heap)
        if -seen < step:
            consider(move)
            continue
        after = search.applied(plan, move)
        assert after is not None
        plan, now, step = after, search.weigh(after), step + 1
        if move.column is None:
            consider(move)
    return plan


# ---- taking back -----------------------------------------------------------------------------------------------------


def relaxed(search: Search, aim: float, plan: Plan) -> Plan:
    """The plan without what is not needed: the most useful is taken back first, then as many as possible of those who
    are left out, until nothing more can be."""
    while True:
        better = sorted(search.undone(plan), key=lambda p: (-search.useful(p), p.key))
        useful = search.useful(plan)
        held = (p for p in better if search.useful(p) > useful and search.weigh(p) <= aim)
        found = next(held, None) or _with_more(search, aim, plan)
        if found.key == plan.key:
            return plan
        plan = found


def _with_more(search: Search, aim: float, plan: Plan) -> Plan:
    """The plan with as few left out as bisection finds."""
    low, high = -1, len(plan.gone)
    while high - low > 1:
        middle = (low + high) // 2
        if search.weigh(replace(plan, gone=plan.gone[:middle])) <= aim:
            high = middle
        else:
            low = middle
    return replace(plan, gone=plan.gone[:high])
