"""Why does no protection reach a goal for classes, and what would make it reachable?

Nothing hides more than leaving all quasi-identifiers out, which puts everybody into one class. A goal that even this
class misses is out of reach. Any other is missed because of what the owner wants to keep: columns that must stay, and
people who must not be left out. Each of these wishes is given up on trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.protections.class_protector import ClassProtector, class_protector
from unveil.policy import Policy
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.risk import Risk

__all__ = ["goals_out_of_reach", "settings_in_the_way"]

_SHARES_LEFT_OUT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_MAX_CHECKED = 2_000  # levels, for each wish


def goals_out_of_reach(case: Case, policy: Policy, run: Run) -> Iterator[str]:
    """The goals that are missed even if no quasi-identifier is released."""
    protector = class_protector(case, policy, run)
    people = protector.people.total
    if (k := policy.tolerance_for(risks.K)) is not None and people < k:
        yield _describe_miss(risks.K, k, people, "")
    average = policy.tolerance_for(risks.REIDENTIFICATION)
    if average is not None and average * people < 1:
        wanted, least = percent_text(average), percent_text(1 / people)  # another risk that it bounds may want it
        yield f"the average risk must be at most {wanted}, and is {least} even if no quasi-identifier is released"
    for risk, column, limit, value in _value_misses(protector):
        yield _describe_miss(risk, limit, value, f" for {safe_text(column)}")


def _describe_miss(risk: Risk, limit: float, value: float, about: str) -> str:
    as_text = percent_text if risk.unit == "share" else number_text
    wanted = f"at {'least' if risk.safer == 'higher' else 'most'} {as_text(limit)}"
    return (
        f"{risk.id} must be {wanted}{about}, and is {as_text(value)} even if no quasi-identifier is released"
        f"{': leave that column out' if about else ''}"
    )


def _value_misses(protector: ClassProtector) -> Iterator[tuple[Risk, str, float, float]]:
    """Risk, sensitive column, limit and value for each goal that one class of everybody misses."""
    import numpy as np

    from unveil.classes.protections.class_goals import classes_with_values

    goals = protector.goals(1.0)
    for goal in goals.values:
        everybody = np.zeros(len(protector.people), np.int64)
        found = classes_with_values(protector.people, everybody, 1, goal.column)
        if len(found.key) and goal.fails(found).any():
            limit = protector.policy.tolerance_for(goal.risk)
            assert limit is not None
            yield goal.risk, protector.policy.sensitive[goal.column], limit, float(goal.measure(found)[0])


def settings_in_the_way(case: Case, policy: Policy, run: Run) -> Iterator[str]:
    """What the owner could give up, so that coarser columns reach all goals for classes."""
    protector = class_protector(case, policy, run)
    if _is_reachable(protector, run=run):
        yield f"coarser values alone can reach the goals for classes ({option_text('method', 'levels')})"
        return
    kept = [name for name in protector.names if name in protector.settings.keep]
    free = [name for name in kept if _is_reachable(protector, keep=tuple(c for c in kept if c != name), run=run)]
    now = f"now in {option_text('keep')}"
    if free:
        yield f"the goals for classes can be reached if {_either(free)} may be coarsened ({now})"
    elif kept and _is_reachable(protector, keep=(), run=run):
        yield f"the goals for classes can be reached if {list_text(kept)} may all be coarsened ({now})"
    for share in _SHARES_LEFT_OUT:
        if share > protector.settings.suppress and _is_reachable(protector, suppress=share, run=run):
            left, option = percent_text(share), option_text("suppress", percent_text(share))
            yield f"the goals for classes can be reached if {left} of the people may be left out ({option})"
            return


def _either(names: Sequence[str]) -> str:
    return safe_text(names[0]) if len(names) == 1 else f"one of {list_text(names)}"


def _is_reachable(
    protector: ClassProtector, *, run: Run, keep: tuple[str, ...] | None = None, suppress: float | None = None
) -> bool:
    """Whether some levels reach all goals under other wishes."""
    wishes = protector.settings
    wishes = replace(
        wishes, keep=wishes.keep if keep is None else keep, suppress=wishes.suppress if suppress is None else suppress
    )
    settings = {**protector.policy.settings, "classes": wishes}
    other = replace(protector, policy=replace(protector.policy, settings=settings))
    return other.full_domain(1.0).find_optimum(run, _MAX_CHECKED).levels is not None
