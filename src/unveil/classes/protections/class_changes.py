"""What becomes of the columns of a table if every class is treated by itself, and nobody is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from unveil.classes.protections.cell_suppression import fewest_cells, hide_cells
from unveil.classes.protections.class_goals import ClassGoals, meet_average_risk
from unveil.classes.protections.column_order import column_order
from unveil.classes.protections.local_recoding import recode_locally
from unveil.classes.protections.mondrian import split_people
from unveil.release.coarse_table import ChangedColumn, CoarseColumn, RelabelledColumn
from unveil.run import Run
from unveil.secret_order import secret_permutation
from unveil.wording import count_text, percent_text, verb

if TYPE_CHECKING:
    from unveil.classes.protections.class_protector import ClassProtector

__all__ = ["CHANGES", "TableChange", "average_numbers", "coarsen_classes", "hide_values", "split_into_ranges"]


@dataclass(frozen=True, eq=False)
class TableChange:
    """What becomes of each quasi-identifier, and what else there is to say."""

    columns: Mapping[str, ChangedColumn]
    sentence: str = ""


def coarsen_classes(protector: ClassProtector, goals: ClassGoals, run: Run) -> TableChange | None:
    """Every class on its own levels."""
    people, weights, kept = protector.people, protector.weights, protector.kept_columns
    found = meet_average_risk(
        lambda goals: recode_locally(protector.columns, people, goals, weights, run, kept), goals, people.total
    )
    if found is None:
        return None
    level_of_row = found.levels[found.class_of[protector.combination_of_row]]
    return TableChange({c.ladder.name: c.on_levels(level_of_row[:, i]) for i, c in enumerate(protector.columns)})


def split_into_ranges(protector: ClassProtector, goals: ClassGoals, run: Run) -> TableChange | None:
    """Classes of neighbours, with ranges of numbers."""
    orders = [column_order(column) for column in protector.columns]
    weights, kept, ties = protector.weights, protector.kept_columns, protector.settings.divide_ties
    rows = secret_permutation(protector.table.rows) if ties else protector.combination_of_row
    people = protector.rows.select(rows) if ties else protector.people
    found = meet_average_risk(
        lambda goals: split_people(orders, people, goals, weights, run, kept, ties), goals, people.total
    )
    if found is None:
        return None
    group = found.class_of[np.argsort(rows) if ties else rows]
    changed = (order.changed_column(found.low[group, c], found.high[group, c]) for c, order in enumerate(orders))
    return TableChange(dict(zip(protector.names, changed, strict=True)))


def hide_values(protector: ClassProtector, goals: ClassGoals, run: Run) -> TableChange | None:
    """Single values hidden; the sentence says how many, and how many it takes."""
    weights, kept = protector.weights, protector.kept_columns
    rows = protector.rows if goals.values else replace(protector.rows, values=())
    people, place = rows.distinct()
    found = meet_average_risk(lambda goals: hide_cells(people, goals, weights, run, kept), goals, people.total)
    if found is None:
        return None
    hidden = found.hidden_in_rows(place, secret_permutation(len(place)))
    there = [~c.is_missing[own[place]] for c, own in zip(protector.columns, people.labels, strict=True)]
    hidden &= np.stack(there, axis=1)
    cells = int(hidden.sum())
    columns = {
        c.ladder.name: RelabelledColumn(c.ladder, pa.nulls(1), np.zeros(len(place), np.int32), gone, "hidden")
        for c, gone in zip(protector.columns, hidden.T, strict=True)
    }
    gaps = [c.is_missing[own] for c, own in zip(protector.columns, people.labels, strict=True)]
    least = fewest_cells(people, goals.k, np.stack(gaps, axis=1), run, kept)
    said = f"{count_text(cells, 'cell')} {verb(cells, 'is', 'are')} hidden"
    bound = f"classes of {count_text(goals.k, 'person', 'people')} need at least {count_text(least, 'hidden cell')}"
    return TableChange(columns, f"{said}; {bound}.")


def average_numbers(protector: ClassProtector, goals: ClassGoals, run: Run) -> TableChange | None:
    """Numbers replaced by the means of groups; the sentence says how much of their variance that loses."""
    from unveil.classes.protections.microaggregation import average_people  # has a kernel to compile

    orders = [column_order(column) for column in protector.columns]
    rows, weights, kept = protector.rows, protector.weights, protector.kept_columns
    found = meet_average_risk(lambda goals: average_people(orders, rows, goals, weights, run, kept), goals, len(rows))
    if found is None:
        return None
    columns: dict[str, ChangedColumn] = {
        c.ladder.name: found.columns.get(number) or CoarseColumn(c.ladder, c.ladder.steps[:1])
        for number, c in enumerate(protector.columns)
    }
    lost = percent_text(found.lost_variance)
    return TableChange(columns, f"Averaging loses {lost} of the variance of the numbers (SSE/SST).")


CHANGES: Mapping[str, Callable[[ClassProtector, ClassGoals, Run], TableChange | None]] = MappingProxyType(
    {
        "local": coarsen_classes,
        "mondrian": split_into_ranges,
        "cells": hide_values,
        "microaggregation": average_numbers,
    }
)
