"""Which plan reaches the tolerated success at the least cost?

A plan (:mod:`.plan_search`) is found greedily. A move raises a column to any of its levels, gives up labels rarer than
some limit, or leaves out the next percent of those most likely found. The next move is the one that prevents most
success for the usefulness it costs. What a move prevents changes slowly, so only the best one is evaluated again, until
it stays the best. Among equals, the one evaluated last is chosen, so that a plateau costs one attack per move. A move
can do harm: without a column that tells little, those that tell more are known more often. Moves that turn out to be
unnecessary are therefore undone in the end, the most useful first, with a new attack each time.

A search may have several plans to start from; the most useful result counts. If every choice ends above the aim, moves
of each kind alone are tried, because other kinds may have spoiled them. If only columns are moved, the search may have
further plans to try.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, islice

from unveil.linkage.protections.plan_search import PlanMove, PlanSearch, ProtectionPlan

__all__ = ["greedy_plan", "relax_plan", "smallest_plan"]

_LEAST_COST = 1e-9


def smallest_plan(
    search: PlanSearch, aim: float, kinds: Sequence[str], report_progress: Callable[[float], None] = lambda done: None
) -> ProtectionPlan | None:
    """A plan that reaches the aim with moves of these kinds, none of which can be undone; None if none was found.
    ``report_progress`` receives the progress."""
    starts = search.start_plans(kinds)
    reached = [p for start in starts if (p := greedy_plan(search, aim, kinds, report_progress, start)) is not None]
    if not reached and tuple(kinds) == ("columns",):
        reached = list(islice((p for p in search.last_resorts() if search.success_bound(p) <= aim), 1))
    elif not reached:
        reached = [p for kind in kinds if (p := greedy_plan(search, aim, (kind,), report_progress)) is not None]
    report_progress(1.0)
    return max((relax_plan(search, aim, p) for p in reached), key=search.plan_usefulness, default=None)


def greedy_plan(
    search: PlanSearch,
    aim: float,
    kinds: Sequence[str],
    report_progress: Callable[[float], None] = lambda done: None,
    start: ProtectionPlan | None = None,
) -> ProtectionPlan | None:
    """The first plan that reaches the aim, always making the move that prevents most for its cost."""
    plan, number = start or search.unchanged_plan, count()
    first = now = search.success_bound(plan)
    heap: list[tuple[float, int, int, PlanMove]] = []  # gain of a move, minus the step at which it was evaluated
    step = 0

    def push_move(move: PlanMove) -> None:
        after = search.apply_move(plan, move)
        if after is not None:
            cost = max(_LEAST_COST, search.plan_usefulness(plan) - search.plan_usefulness(after))
            heapq.heappush(heap, ((search.success_bound(after) - now) / cost, -step, next(number), move))

    if now > aim:
        for move in search.moves(kinds):
            push_move(move)
    while now > aim:
        report_progress((first - now) / max(_LEAST_COST, first - aim))
        if not heap:
            return None
        _, seen, _, move = heapq.heappop(heap)
        if -seen < step:
            push_move(move)
            continue
        after = search.apply_move(plan, move)
        assert after is not None
        plan, now, step = after, search.success_bound(after), step + 1
        if move.column is None:
            push_move(move)
    return plan


# ---- undoing moves ---------------------------------------------------------------------------------------------------


def relax_plan(search: PlanSearch, aim: float, plan: ProtectionPlan) -> ProtectionPlan:
    """The plan without unnecessary moves: the most useful ones are undone first, then as many as possible of those left
    out are restored, until nothing more can be undone."""
    while True:
        better = sorted(search.relaxed_plans(plan), key=lambda p: (-search.plan_usefulness(p), p.key))
        useful = search.plan_usefulness(plan)
        held = (p for p in better if search.plan_usefulness(p) > useful and search.success_bound(p) <= aim)
        found = next(held, None) or _restore_left_out(search, aim, plan)
        if found.key == plan.key:
            return plan
        plan = found


def _restore_left_out(search: PlanSearch, aim: float, plan: ProtectionPlan) -> ProtectionPlan:
    """The plan with as few left out as bisection finds."""
    low, high = -1, len(plan.left_out_ids)
    while high - low > 1:
        middle = (low + high) // 2
        if search.success_bound(replace(plan, left_out_ids=plan.left_out_ids[:middle])) <= aim:
            high = middle
        else:
            low = middle
    return replace(plan, left_out_ids=plan.left_out_ids[:high])
