"""Which new rows can stay on levels that were chosen before: those whose classes are fine, among the new rows and
together with the rows that were released already.

Rows that were released cannot be taken back. They count in the classes of new rows; only new rows are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.case import Case
from unveil.classes.protections.class_goals import ClassGoals, keep_safe_people
from unveil.classes.protections.class_protector import row_combinations
from unveil.classes.protections.combinations import Combinations
from unveil.classes.protections.policy_goals import goals_from_policy
from unveil.classes.settings import ClassesSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run

__all__ = ["rows_that_stay"]


@dataclass(frozen=True, eq=False)
class _View:
    """All rows of a table, new ones first, and what must hold of their classes."""

    rows: Combinations
    goals: ClassGoals

    def safe_rows(self, kept: Bools) -> Bools:
        """The new rows that can stay if only these are there beside the old ones."""
        there = np.append(np.flatnonzero(kept), np.arange(len(kept), len(self.rows)))
        found = np.zeros(len(self.rows), np.bool_)
        found[there] = keep_safe_people(self.rows.select(there), self.goals)
        safe: Bools = found[: len(kept)]
        return safe


def rows_that_stay(case: Case, together: Table | None, policy: Policy, run: Run, strictness: float) -> Ints | None:
    """The rows of a coarse table that can stay; None if more people are left out than the policy allows. ``together``
    holds the same rows, and after them those that were released before."""
    table = case.release
    assert isinstance(table, Table)
    views = [_make_view(case, each, policy, run, strictness) for each in (table, together) if each is not None]
    kept = np.ones(table.rows, np.bool_)
    while True:
        stays = np.logical_and.reduce([view.safe_rows(kept) for view in views])
        if (stays == kept).all():
            break
        kept = stays
    people = views[0].rows
    left = people.select(kept).total
    if people.total - left > int(policy.settings_for(ClassesSettings).suppress * people.total):
        return None
    return np.flatnonzero(kept)


def _make_view(case: Case, table: Table, policy: Policy, run: Run, strictness: float) -> _View:
    names = policy.quasi_columns
    codes = table.codes([name for name in names if name in table.columns], (), run)
    nothing = np.zeros(table.rows, np.int32)
    labels = [codes[name].codes if name in codes else nothing for name in names]
    rows, values = row_combinations(table, labels, policy, run)
    return _View(rows, goals_from_policy(case, policy, rows, values, strictness))
