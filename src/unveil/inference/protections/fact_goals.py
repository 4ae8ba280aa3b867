"""What a few facts may tell, and what they do tell of a table whose columns or sensitive values were changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unveil.arrays import Int32s
from unveil.inference.belief_gains import affordable_facts, measure_gains, reaches
from unveil.run import Run

__all__ = ["FactGoal", "worst_excess"]


@dataclass(frozen=True, eq=False)
class FactGoal:
    """For how many people facts in ``columns`` may give the sensitive ``target`` away: at most ``learned`` of all by a
    gain, and ``certain`` for certain; None if nothing is said about it."""

    columns: tuple[str, ...]
    target: str
    facts: int
    fewest: int
    gain: float
    learned: float | None
    certain: float | None


def worst_excess(
    goals: Sequence[FactGoal],
    columns: Mapping[str, Int32s],
    targets: Mapping[str, Sequence[Int32s]],
    person: Int32s | None,
    run: Run,
) -> float:
    """By how much the goal that is missed most is missed, as a share of people; 0 or less if all are met. Columns that
    are not given were left out."""
    return max((_excess(goal, columns, targets[goal.target], person, run) for goal in goals), default=0.0)


def _excess(
    goal: FactGoal, columns: Mapping[str, Int32s], targets: Sequence[Int32s], person: Int32s | None, run: Run
) -> float:
    """By how much one goal is missed."""
    known = [columns[name] for name in goal.columns if name in columns]
    facts = affordable_facts(len(targets[0]), len(known), goal.facts)
    found = [
        measure_gains(known, target, facts=facts, fewest=goal.fewest, gain=goal.gain, person=person, run=run)
        for target in targets
    ]
    people = found[0].best.shape[1]
    excess = []
    if goal.learned is not None:
        best = found[0].best[-1]
        for other in found[1:]:
            best = best.clip(min=other.best[-1])
        excess.append(float(reaches(best, goal.gain).mean()) - goal.learned if people else 0.0)
    if goal.certain is not None:
        certain = found[0].certain[-1]
        for other in found[1:]:
            certain = certain | other.certain[-1]
        excess.append(float(certain.mean()) - goal.certain if people else 0.0)
    return max(excess, default=0.0)
