"""How to protect tables from someone who knows people's quasi-identifiers: coarser values, and rows left out, until
every class is large and diverse enough.

:mod:`unveil.classes.protections.full_domain` puts each column on one level for all rows, at the least loss;
:mod:`unveil.classes.protections.local_recoding` coarsens only the rows that need it;
:mod:`unveil.classes.protections.mondrian` makes ranges of numbers as narrow as each class allows;
:mod:`unveil.classes.protections.cell_suppression` hides single values;
:mod:`unveil.classes.protections.microaggregation` replaces numbers by means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.protections.class_protector import class_protector, has_classes
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, number_text

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.classes.protections.class_protector import ClassProtector
    from unveil.classes.protections.full_domain import FullDomain
    from unveil.classes.protections.lattice_search import LatticeOptimum, Levels
    from unveil.release.coarse_table import ChangedColumn, CoarseColumn

__all__ = ["PROTECTED_RISKS", "PROTECTIONS", "proof_text"]

PROTECTED_RISKS = tuple(r for r in risks.RISKS if "table" in r.release_kinds and r is not risks.INTERSECTION)


# ---- every column on one level ---------------------------------------------------------------------------------------


def _full_domain_protection(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    protector = class_protector(case, policy, run)
    search = protector.full_domain(strictness)
    found = search.find_optimum(run)
    if found.levels is None:
        return None
    columns, kept = _coarse_columns(protector, search, found.levels)
    made = _protection(protector, columns, kept, proof_text(found))
    return None if made is None else replace(made, recipe_columns=columns, strictness=strictness)


def _keep_rows(case: Case, together: Table | None, policy: Policy, run: Run, strictness: float) -> Ints | None:
    from unveil.classes.protections.kept_rows import rows_that_stay

    return rows_that_stay(case, together, policy, run, strictness)


def _coarse_columns(
    protector: ClassProtector, search: FullDomain, levels: Levels
) -> tuple[dict[str, CoarseColumn], Ints]:
    """What becomes of each column, and the rows that stay."""
    import numpy as np

    from unveil.classes.protections.class_goals import keep_safe_people
    from unveil.classes.protections.column_levels import labels_on
    from unveil.release.coarse_table import CoarseColumn

    everybody = protector.everybody
    kept = keep_safe_people(everybody.with_labels(labels_on(search.columns, everybody.labels, levels)), search.goals)
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


# ---- every class on its own ------------------------------------------------------------------------------------------


def _protect_all_rows(method: str, case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    import numpy as np

    from unveil.classes.protections.class_changes import CHANGES

    protector = class_protector(case, policy, run)
    made = CHANGES[method](protector, protector.goals(strictness), run)
    if made is None:
        return None
    return _protection(protector, made.columns, np.arange(protector.table.rows), made.sentence)


# ---- what is offered -------------------------------------------------------------------------------------------------


def _protection(
    protector: ClassProtector, columns: Mapping[str, ChangedColumn], kept: Ints, proof: str
) -> Protection | None:
    """The protection that makes these columns of the rows that are kept; None if it leaves no column."""
    from unveil.release.change_text import describe_change, describe_kept_information
    from unveil.release.coarse_table import coarsen_case, describe_leaks, mean_kept_information

    if all(name in columns and columns[name].is_left_out for name in protector.table.columns):
        return None
    rows = protector.table.rows
    information = mean_kept_information(columns, kept)
    said = f"{describe_change(columns, rows - len(kept), rows)} {describe_kept_information(information)} {proof}"
    return Protection(
        sentence=said.strip(),
        usefulness=information * len(kept) / max(1, rows),
        apply=partial(coarsen_case, protector.case, protector.table, columns, kept),
        doubt=describe_leaks(protector.table, columns, protector.policy),
    )


def _has_one_row_per_person(case: Case, policy: Policy) -> bool:
    return has_classes(case, policy) and policy.subject is None


def _has_numbers(case: Case, policy: Policy) -> bool:
    from unveil.release.column_profile import infer_type

    if not _has_one_row_per_person(case, policy) or not isinstance(case.release, Table):
        return False
    codes = case.release.codes(policy.quasi_columns, policy.missing)
    return any(infer_type(own.values) in ("whole number", "number") for own in codes.values())


PROTECTIONS = MappingProxyType(
    {
        "levels": ProtectionOffer(
            "Coarsen columns, the same for all rows",
            "Coarsen columns to the levels that lose least, for all rows alike.",
            _full_domain_protection,
            release_kinds=("table",),
            applies_to=has_classes,
            has_recipe=True,
            keep_rows=_keep_rows,
        ),
        "local": ProtectionOffer(
            "Coarsen only where needed",
            "Coarsen each row only as far as needed; nobody is left out.",
            partial(_protect_all_rows, "local"),
            release_kinds=("table",),
            applies_to=_has_one_row_per_person,
        ),
        "mondrian": ProtectionOffer(
            "Group similar people; numbers become ranges",
            "Group people alike in most columns; numbers become ranges.",
            partial(_protect_all_rows, "mondrian"),
            release_kinds=("table",),
            applies_to=_has_one_row_per_person,
        ),
        "cells": ProtectionOffer(
            "Hide single values",
            "Hide a few single values; leave all others as they are.",
            partial(_protect_all_rows, "cells"),
            release_kinds=("table",),
            applies_to=_has_one_row_per_person,
        ),
        "microaggregation": ProtectionOffer(
            "Replace numbers with averages of similar people",
            "Turn numbers into averages over k or more similar people.",
            partial(_protect_all_rows, "microaggregation"),
            release_kinds=("table",),
            applies_to=_has_numbers,
            caveat="Released numbers are averages over groups, not anyone's own: tell everyone who uses the table.",
        ),
    }
)
