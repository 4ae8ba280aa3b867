"""What may be learned about a row: the value of a sensitive column, and its labels on coarser levels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.arrays import Int32s
from unveil.case import Case
from unveil.inference.fact_columns import FactColumn, cut_column
from unveil.policy import Policy
from unveil.release.codes import Codes, cast_to_text
from unveil.release.hierarchy import Hierarchy
from unveil.release.table import Table
from unveil.run import Run

__all__ = ["coarser_targets", "people_of_rows", "sensitive_targets"]


def sensitive_targets(case: Case, table: Table, column: str, policy: Policy, run: Run) -> list[FactColumn]:
    """What can be learned of a sensitive column: its values, or ranges of them, and their labels on each level of its
    hierarchy."""
    own = table.codes([column], policy.missing, run)[column]
    return [cut_column(column, own), *coarser_targets(column, own, case.hierarchies.get(column))]


def coarser_targets(column: str, own: Codes, hierarchy: Hierarchy | None) -> Iterator[FactColumn]:
    """The labels of a sensitive column on each level of its hierarchy below the root."""
    if hierarchy is None:
        return
    place = {text: i for i, text in enumerate(hierarchy.values.to_pylist())}
    leaf = np.array([place.get(text, -1) for text in cast_to_text(own.values).to_pylist()] + [-1], np.int32)
    if (leaf[:-1] < 0).any():
        return
    for level in range(1, hierarchy.height):
        codes = hierarchy.generalise(leaf, level)[own.codes].astype(np.int32)
        yield FactColumn(column, codes, tuple(hierarchy.labels(level).to_pylist()))


def people_of_rows(table: Table, policy: Policy, run: Run) -> Int32s | None:
    """Whom each row is about; None if each is about somebody else."""
    if policy.subject is None:
        return None
    codes = table.codes([policy.subject], policy.missing, run)[policy.subject].codes.copy()
    nobody = np.flatnonzero(codes < 0)
    codes[nobody] = int(codes.max(initial=-1)) + 1 + np.arange(len(nobody))
    return codes
