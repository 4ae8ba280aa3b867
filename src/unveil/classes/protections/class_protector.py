"""What the protections of classes have in common: a table with the levels of its quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.settings import ClassesSettings
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats, Int32s, Ints
    from unveil.classes.protections.class_goals import ClassGoals
    from unveil.classes.protections.column_levels import ColumnLevels
    from unveil.classes.protections.combinations import Combinations
    from unveil.classes.protections.full_domain import FullDomain

__all__ = ["ClassProtector", "class_protector", "has_classes", "row_combinations"]


def has_classes(case: Case, policy: Policy) -> bool:
    """Whether there are quasi-identifiers by which people can look alike."""
    return bool(policy.quasi) and not policy.ratings


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
        from unveil.classes.protections.policy_goals import goals_from_policy

        return goals_from_policy(self.case, self.policy, self.people, self.sensitive_values, strictness)

    def full_domain(self, strictness: float) -> FullDomain:
        """The search for the levels that lose least."""
        from unveil.classes.protections.full_domain import FullDomain
        from unveil.classes.protections.loss_measures import LOSS_MEASURES

        loss = LOSS_MEASURES[self.settings.loss](self.columns, self.people, self.weights)
        goals, most = self.goals(strictness), self.max_left_out
        return FullDomain(self.columns, self.everybody, goals, loss, most, self.kept_columns)


def row_combinations(
    table: Table, labels: Sequence[Int32s], policy: Policy, run: Run
) -> tuple[Combinations, tuple[pa.Array, ...]]:
    """Every row of a table as a combination of these labels and its sensitive values, and what the codes of the latter
    stand for."""
    import numpy as np

    from unveil.classes.protections.combinations import Combinations
    from unveil.release.codes import mark_missing

    subject = policy.subject
    codes = table.codes((*policy.sensitive, *([subject] if subject else [])), (), run)
    sensitive = [mark_missing(codes[c], policy.missing) for c in policy.sensitive]
    rows = Combinations(
        tuple(labels),
        tuple(own.codes for own in sensitive),
        np.ones(table.rows, np.int64),
        None if subject is None else _person_codes(codes[subject].codes),
    )
    return rows, tuple(own.values for own in sensitive)


def _person_codes(codes: Int32s) -> Int32s:
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
    from unveil.release.stacked_tables import stack_tables

    table = case.release
    assert isinstance(table, Table)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    names, held = policy.quasi_columns, _known_population(case, policy)
    both = table if held is None else stack_tables([table, held], names)
    ladders = column_ladders(both, names, case.hierarchies, policy, run)
    quasi = both.codes(names, (), run)
    levels = tuple(
        column_levels(replace(ladder, codes=ladder.codes[: table.rows]), quasi[ladder.name]) for ladder in ladders
    )
    labels = labels_on(levels, [quasi[name].codes for name in names], (0,) * len(names))
    rows, values = row_combinations(table, [own[: table.rows] for own in labels], policy, run)
    population = None
    if held is not None:
        beyond = tuple(own[table.rows :] for own in labels)
        nobody, each = np.zeros(held.rows, np.int64), np.ones(held.rows, np.int64)
        population = Combinations(beyond, (), nobody, population=each).coarsen([None] * len(names))
    return ClassProtector(case, table, policy, levels, values, rows, population)


def _known_population(case: Case, policy: Policy) -> Table | None:
    """The population that the attacker knows, if it matters how many in it look alike; it is compared with tables of
    one row per person, by all quasi-identifiers."""
    held = next(iter(case.held_releases("population")), None)
    if not isinstance(held, Table) or policy.tolerance_for(risks.K_MAP) is None or policy.subject is not None:
        return None
    return held if set(policy.quasi_columns) <= set(held.columns) else None
