"""How to protect tables from someone who knows people's quasi-identifiers: coarser values, and rows left out, until
every class is large and diverse enough.

:mod:`unveil.classes.protections.full_domain` puts each column on one level for all rows, at the least loss;
:mod:`unveil.classes.protections.local_recoding` coarsens only the rows that need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.settings import ClassesSettings
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats, Int32s, Ints
    from unveil.classes.diversity import SensitiveClasses
    from unveil.classes.protections.class_goals import ClassGoals, ValueGoal
    from unveil.classes.protections.column_levels import ColumnLevels
    from unveil.classes.protections.combinations import Combinations
    from unveil.classes.protections.full_domain import FullDomain
    from unveil.classes.protections.lattice_search import LatticeOptimum, Levels
    from unveil.release.coarse_table import CoarseColumn

__all__ = [
    "PROTECTED_RISKS",
    "PROTECTIONS",
    "ClassProtector",
    "class_goals",
    "class_protector",
    "person_codes",
    "proof_text",
]

PROTECTED_RISKS = tuple(r for r in risks.RISKS if "table" in r.release_kinds and r is not risks.INTERSECTION)
_MAX_NAMED_COLUMNS = 1000


# ---- what must hold --------------------------------------------------------------------------------------------------


def class_goals(
    case: Case, policy: Policy, columns: Sequence[str], sensitive_values: Sequence[pa.Array], strictness: float
) -> ClassGoals:
    """What the policy tolerates, as goals for classes, given the values of each sensitive column."""
    from unveil.classes.protections.class_goals import ClassGoals

    k = max(policy.tolerance_for(risks.K) or 1, 2 if policy.tolerance_for(risks.UNIQUES) is not None else 1)
    average = policy.tolerance_for(risks.REIDENTIFICATION)
    return ClassGoals(
        sets=tuple(tuple(columns.index(c) for c in group) for group in policy.quasi),
        k=ceil(k / strictness),
        average_risk=None if average is None else average * strictness,
        values=tuple(
            goal
            for number, name in enumerate(policy.sensitive)
            for goal in _value_goals(case, policy, number, name, sensitive_values[number], strictness)
        ),
    )


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
        goals.append(ValueGoal(number, measure, limit, risk.safer == "higher", lasting))
    return goals


# ---- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassProtector:
    """A table with the levels of its quasi-identifiers, and what the search needs to know about it: every row as a
    combination, and the values that the codes of sensitive columns stand for."""

    case: Case
    table: Table
    policy: Policy
    columns: tuple[ColumnLevels, ...]
    sensitive_values: tuple[pa.Array, ...]
    rows: Combinations

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
        return FullDomain(self.columns, self.people, self.goals(strictness), loss, self.max_left_out, self.kept_columns)


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
    ladders = column_ladders(table, names, case.hierarchies, policy, run)
    codes = table.codes((*names, *policy.sensitive, *([subject] if subject else [])), (), run)
    levels = tuple(column_levels(ladder, codes[ladder.name]) for ladder in ladders)
    sensitive = [mark_missing(codes[c], policy.missing) for c in policy.sensitive]
    rows = Combinations(
        labels_on(levels, [codes[name].codes for name in names], (0,) * len(names)),
        tuple(own.codes for own in sensitive),
        np.ones(table.rows, np.int64),
        None if subject is None else person_codes(codes[subject].codes),
    )
    return ClassProtector(case, table, policy, levels, tuple(own.values for own in sensitive), rows)


# ---- every column on one level ---------------------------------------------------------------------------------------


def _full_domain_protection(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    protector = class_protector(case, policy, run)
    search = protector.full_domain(strictness)
    found = search.find_optimum(run)
    if found.levels is None:
        return None
    columns, kept = _coarse_columns(protector, search, found.levels)
    return replace(_protection(protector, columns, kept, proof_text(found)), columns=columns, strictness=strictness)


def _keep_rows(case: Case, together: Table | None, policy: Policy, run: Run, strictness: float) -> Ints | None:
    from unveil.classes.protections.left_out_rows import rows_that_stay

    return rows_that_stay(case, together, policy, run, strictness)


def _coarse_columns(
    protector: ClassProtector, search: FullDomain, levels: Levels
) -> tuple[dict[str, CoarseColumn], Ints]:
    """What becomes of each column, and the rows that stay."""
    import numpy as np

    from unveil.classes.protections.class_goals import keep_safe_people
    from unveil.classes.protections.column_levels import labels_on
    from unveil.release.coarse_table import CoarseColumn

    kept = keep_safe_people(
        protector.people.with_labels(labels_on(search.columns, protector.people.labels, levels)), search.goals
    )
    columns = {
        c.ladder.name: CoarseColumn(c.ladder, (None if level == c.height else c.ladder.steps[level],))
        for c, level in zip(search.columns, levels, strict=True)
    }
    return columns, np.flatnonzero(kept[protector.combination_of_row])


def proof_text(found: LatticeOptimum) -> str:
    """Whether other levels could lose less."""
    checked = f"{number_text(found.checked)} of {count_text(found.nodes, 'combination')} of levels checked"
    if found.is_proven:
        return f"No other levels lose less ({checked})."
    lost, bound = number_text(found.loss), number_text(found.bound)
    return f"These levels lose {lost}; others may lose less, but not less than {bound} ({checked})."


# ---- every class on its own levels -----------------------------------------------------------------------------------


def _local_protection(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    import numpy as np

    from unveil.classes.protections.local_recoding import recode_with_average
    from unveil.release.coarse_table import CoarseColumn

    protector = class_protector(case, policy, run)
    goals, people = protector.goals(strictness), protector.people
    found = recode_with_average(protector.columns, people, goals, protector.weights, run, protector.kept_columns)
    if found is None:
        return None
    level_of_row = found.levels[found.class_of[protector.combination_of_row]]
    columns = {}
    for number, column in enumerate(protector.columns):
        used, step_of = np.unique(level_of_row[:, number], return_inverse=True)
        steps = tuple(None if level == column.height else column.ladder.steps[level] for level in used.tolist())
        columns[column.ladder.name] = CoarseColumn(
            column.ladder, steps, None if len(steps) == 1 else step_of.astype(np.int32)
        )
    return _protection(protector, columns, np.arange(protector.table.rows), "")


# ---- in words --------------------------------------------------------------------------------------------------------


def _protection(protector: ClassProtector, columns: dict[str, CoarseColumn], kept: Ints, proof: str) -> Protection:
    from unveil.release.coarse_table import coarsen_case, describe_leaks, kept_information

    rows = protector.table.rows
    information = sum(kept_information(column, kept) for column in columns.values()) / max(1, len(columns))
    said = f"The quasi-identifiers keep {percent_text(information)} of their information."
    return Protection(
        sentence=f"{_describe_change(columns, rows - len(kept), rows)} {said} {proof}".strip(),
        usefulness=information * len(kept) / max(1, rows),
        apply=partial(coarsen_case, protector.case, protector.table, columns, kept),
        doubt=describe_leaks(protector.table, columns, protector.policy),
    )


def _describe_change(columns: dict[str, CoarseColumn], gone: int, rows: int) -> str:
    """What becomes of the table, column by column."""
    coarser, partly, out = list[str](), list[str](), list[str]()
    for name, column in columns.items():
        if column.is_left_out:
            out.append(name)
        elif column.step_of is not None:
            partly.append(f"{safe_text(name)} in {percent_text(_share_changed(column))}")
        elif not column.is_unchanged and column.steps[0] is not None:
            coarser.append(f"{safe_text(name)} {column.steps[0].description}")
    parts = [", ".join(coarser)] if coarser else []
    if partly:
        parts.append(f"{'coarser' if parts else 'Coarser'} or hidden in some rows: {', '.join(partly)} of the rows")
    if out:
        parts.append(f"{list_text(out, _MAX_NAMED_COLUMNS)} left out")
    if gone:
        parts.append(f"{number_text(gone)} of {count_text(rows, 'row')} left out")
    return f"{'; '.join(parts)}." if parts else "Nothing is changed."


def _share_changed(column: CoarseColumn) -> float:
    """The share of rows that do not keep their value."""
    assert column.step_of is not None
    unchanged = [number for number, step in enumerate(column.steps) if step is column.ladder.steps[0]]
    return float((column.step_of != unchanged[0]).mean()) if unchanged else 1.0


def _has_classes(case: Case, policy: Policy) -> bool:
    return bool(policy.quasi) and not policy.ratings


def _has_one_row_per_person(case: Case, policy: Policy) -> bool:
    return _has_classes(case, policy) and policy.subject is None


PROTECTIONS = MappingProxyType(
    {
        "levels": ProtectionOffer(
            "Coarsen columns, the same for all rows",
            "Coarsen columns to the levels that lose least, for all rows alike.",
            _full_domain_protection,
            release_kinds=("table",),
            applies_to=_has_classes,
            has_recipe=True,
            keep_rows=_keep_rows,
        ),
        "local": ProtectionOffer(
            "Coarsen only where needed",
            "Coarsen each row only as far as needed; nobody is left out.",
            _local_protection,
            release_kinds=("table",),
            applies_to=_has_one_row_per_person,
        ),
    }
)
