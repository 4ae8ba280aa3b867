"""What the policy tolerates about classes, as goals that every class must meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.protections.class_goals import ClassGoals, ValueGoal, count_values
from unveil.classes.protections.combinations import Combinations
from unveil.classes.settings import ClassesSettings
from unveil.classes.value_distances import ValueDistances
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import Risk

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats, Ints
    from unveil.classes.diversity import SensitiveClasses

__all__ = ["goals_from_policy"]


def goals_from_policy(
    case: Case, policy: Policy, people: Combinations, sensitive_values: Sequence[pa.Array], strictness: float
) -> ClassGoals:
    """What the policy tolerates, as goals for the classes of these people, given what the codes of each sensitive
    column stand for."""
    columns = policy.quasi_columns
    k = max(policy.tolerance_for(risks.K) or 1, 2 if policy.tolerance_for(risks.UNIQUES) is not None else 1)
    k_map, average = policy.tolerance_for(risks.K_MAP), policy.tolerance_for(risks.REIDENTIFICATION)
    if k_map is not None:
        k = max(k, _sample_size(case, policy, k_map))
    return ClassGoals(
        sets=tuple(tuple(columns.index(c) for c in group) for group in policy.quasi),
        k=ceil(k / strictness),
        average_risk=None if average is None else average * strictness,
        k_map=ceil((k_map or 1) / strictness),
        values=tuple(
            goal
            for number, name in enumerate(policy.sensitive)
            for goal in _value_goals(case, policy, number, name, sensitive_values[number], strictness)
        ),
        table=tuple(count_values(people, column) for column in range(len(sensitive_values))),
    )


def _sample_size(case: Case, policy: Policy, k_map: float) -> int:
    """The size from which on a class plausibly comes from so many people of the population, of which the table is a
    random sample; 1 if nothing says so."""
    table, chosen = case.release, policy.settings_for(ClassesSettings)
    assert isinstance(table, Table)
    size, fraction = chosen.population_size, chosen.sampling_fraction
    if case.held_releases("population") or (size is None and fraction is None):
        return 1
    from unveil.classes.population_estimates import smallest_sample_class

    return smallest_sample_class(ceil(k_map), fraction or table.rows / (size or 1))


def _value_goals(
    case: Case, policy: Policy, number: int, name: str, values: pa.Array, strictness: float
) -> Sequence[ValueGoal]:
    """The goals for one sensitive column."""
    distances = ValueDistances.from_values(values, case.hierarchies.get(name))
    few = max(2, int(policy.threshold(risks.L_DISTINCT) or 2))
    measures: dict[Risk, Callable[[SensitiveClasses], Floats | Ints]] = {
        risks.L_DISTINCT: lambda classes: classes.diversity,
        risks.L_ENTROPY: lambda classes: classes.entropy_l,
        risks.RECURSIVE_C: lambda classes: classes.recursive_c(few),
        risks.ALPHA: lambda classes: classes.alpha,
        risks.T: distances.from_table,
        risks.BETA: lambda classes: classes.beta,
        risks.BETA_ENHANCED: lambda classes: classes.beta_enhanced,
        risks.DELTA_DISCLOSURE: lambda classes: classes.delta,
        risks.HOMOGENEITY: lambda classes: classes.is_certain.astype("int64"),
    }
    goals = []
    for risk, measure in measures.items():
        limit = policy.tolerance_for(risk)
        if limit is None:
            continue
        from_table = risk in (risks.T, risks.BETA, risks.BETA_ENHANCED, risks.DELTA_DISCLOSURE)
        limit = limit * strictness if from_table else 0 if risk is risks.HOMOGENEITY else limit
        lasting = risk in (risks.L_DISTINCT, risks.HOMOGENEITY) and policy.subject is None
        goals.append(ValueGoal(risk, number, measure, limit, lasting))
    return goals
