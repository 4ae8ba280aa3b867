"""What the protections of classes have in common: a table with the levels of its quasi-identifiers, and what must hold.

What the policy tolerates about classes becomes goals that every class must meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.settings import ClassesSettings
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats, Int32s, Ints
    from unveil.classes.diversity import SensitiveClasses
    from unveil.classes.protections.class_goals import ClassGoals, ValueGoal
    from unveil.classes.protections.column_levels import ColumnLevels
    from unveil.classes.protections.combinations import Combinations
    from unveil.classes.protections.full_domain import FullDomain

__all__ = ["ClassProtector", "class_goals", "class_protector", "has_classes", "person_codes"]


def has_classes(case: Case, policy: Policy) -> bool:
    """Whether there are quasi-identifiers by which people can look alike."""
    return bool(policy.quasi) and not policy.ratings


# ---- what must hold --------------------------------------------------------------------------------------------------


def class_goals(
    case: Case, policy: Policy, columns: Sequence[str], sensitive_values: Sequence[pa.Array], strictness: float
) -> ClassGoals:
    """What the policy tolerates, as goals for classes, given the values of each sensitive column."""
    from unveil.classes.protections.class_goals import ClassGoals

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
    from unveil.classes.protections.class_goals import ValueGoal
    from unveil.classes.value_distances import ValueDistances

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


# ---- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassProtector:
    """A table with the levels of its quasi-identifiers, and what the search needs to know about it: every row as a
    combination, the values that the codes of sensitive columns stand for, and the population that an attacker knows if
    that matters."""

    case: Case
    table: Table
    policy: Policy
    columns: tuple[ColumnLevels, ...]
    sensitive_values: tuple[pa.Array, ...]
    rows: Combinations
    population: Combinations | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.ladder.name for column in self.columns)

    @property
    def settings(self) -> ClassesSettings:
        """The owner's wishes."""
        return self.policy.settings_for(ClassesSettings)

    @property
    def max_left_out(self) -> int:
        """The most people who may be left out."""
        return int(self.settings.suppress * self.people.total)

    @property
    def weights(self) -> Floats:
        """How much each column matters."""
        import numpy as np

        return np.array([float(self.settings.importance.get(name, 1)) for name in self.names])

    @cached_property
    def people(self) -> Combinations:
        """The distinct combinations in the table."""
        return self._distinct[0]

    @cached_property
    def everybody(self) -> Combinations:
        """The distinct combinations in the table, and after them those of the population."""
        return self.people if self.population is None else self.people.with_population(self.population)

    @property
    def combination_of_row(self) -> Ints:
        """The place of each row among the distinct combinations."""
        return self._distinct[1]

    @cached_property
    def _distinct(self) -> tuple[Combinations, Ints]:
        return self.rows.distinct()

    @property
    def kept_columns(self) -> frozenset[int]:
        """The columns that must stay as they are."""
        return frozenset(i for i, name in enumerate(self.names) if name in self.settings.keep)

    def goals(self, strictness: float) -> ClassGoals:
        """What must hold."""
        from unveil.classes.protections.class_goals import count_values

        goals = class_goals(self.case, self.policy, self.names, self.sensitive_values, strictness)
        return replace(goals, table=tuple(count_values(self.people, c) for c in range(len(self.sensitive_values))))

    def full_domain(self, strictness: float) -> FullDomain:
        """The search for the levels that lose least."""
        from unveil.classes.protections.full_domain import FullDomain
        from unveil.classes.protections.loss_measures import LOSS_MEASURES

        loss = LOSS_MEASURES[self.settings.loss](self.columns, self.people, self.weights)
        goals, most = self.goals(strictness), self.max_left_out
        return FullDomain(self.columns, self.everybody, goals, loss, most, self.kept_columns)


def person_codes(codes: Int32s) -> Int32s:
    """Who each row is about; a row without a person is a person of its own."""
    import numpy as np

    nobody = codes < 0
    found = codes.copy()
    found[nobody] = int(codes.max(initial=-1)) + 1 + np.arange(int(nobody.sum()))
    return found


def class_protector(case: Case, policy: Policy, run: Run) -> ClassProtector:
    """What the protections of classes have in common; made once in a run."""
    return run.once(("class protector", case), lambda: _make_protector(case, policy, run))


def _make_protector(case: Case, policy: Policy, run: Run) -> ClassProtector:
    import numpy as np

    from unveil.classes.protections.column_levels import column_levels, labels_on
    from unveil.classes.protections.combinations import Combinations
    from unveil.release.coarsening import column_ladders
    from unveil.release.codes import mark_missing

    table = case.release
    assert isinstance(table, Table)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    names, subject = policy.quasi_columns, policy.subject
    held = _known_population(case, policy)
    both = table if held is None else _join_tables(table, held, names)
    ladders = column_ladders(both, names, case.hierarchies, policy, run)
    codes, quasi = (
        table.codes((*policy.sensitive, *([subject] if subject else [])), (), run),
        both.codes(names, (), run),
    )
    levels = tuple(
        column_levels(replace(ladder, codes=ladder.codes[: table.rows]), quasi[ladder.name]) for ladder in ladders
    )
    sensitive = [mark_missing(codes[c], policy.missing) for c in policy.sensitive]
    labels = labels_on(levels, [quasi[name].codes for name in names], (0,) * len(names))
    rows = Combinations(
        tuple(own[: table.rows] for own in labels),
        tuple(own.codes for own in sensitive),
        np.ones(table.rows, np.int64),
        None if subject is None else person_codes(codes[subject].codes),
    )
    population = None
    if held is not None:
        beyond = tuple(own[table.rows :] for own in labels)
        nobody, each = np.zeros(held.rows, np.int64), np.ones(held.rows, np.int64)
        population = Combinations(beyond, (), nobody, population=each).coarsen([None] * len(names))
    return ClassProtector(case, table, policy, levels, tuple(own.values for own in sensitive), rows, population)


def _known_population(case: Case, policy: Policy) -> Table | None:
    """The population that the attacker knows, if it matters how many in it look alike; it is compared with tables of
    one row per person, by all quasi-identifiers."""
    held = next(iter(case.held_releases("population")), None)
    if not isinstance(held, Table) or policy.tolerance_for(risks.K_MAP) is None or policy.subject is not None:
        return None
    return held if set(policy.quasi_columns) <= set(held.columns) else None


def _join_tables(table: Table, other: Table, columns: Sequence[str]) -> Table:
    """These columns of both tables as text, one below the other."""
    import pyarrow as pa

    from unveil.release.codes import cast_to_text
    from unveil.release.table import table_from_frame

    parts = [pa.Table.from_batches(t.batches()).select(list(columns)) for t in (table, other)]
    texts = [pa.table({name: cast_to_text(part.column(name)) for name in columns}) for part in parts]
    return table_from_frame(pa.concat_tables(texts), engine=table.engine, name=table.name)
