"""All measures of what a protected table can still be used for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from unveil.arrays import Ints
from unveil.case import Case
from unveil.policy import Policy
from unveil.release.codes import Codes, cast_to_text
from unveil.release.table import Table
from unveil.run import Run
from unveil.usefulness.correlations import correlation_changes
from unveil.usefulness.count_errors import count_errors
from unveil.usefulness.use_measure import UseMeasure
from unveil.usefulness.value_groups import ComparedColumn, compare_column, hide_column
from unveil.wording import percent_text

__all__ = ["measure_use", "unchanged_cells"]


def measure_use(
    before: Case, after: Case, policy: Policy, run: Run, identifiers: Sequence[str] = (), predict: str | None = None
) -> list[UseMeasure]:
    """What a protected table can still be used for, beside the table as it was; nothing for other releases.

    Identifiers, also those that became pseudonyms, and the numbers that say which rows are the same person do not
    count.
    """
    original, release = before.release, after.release
    if not isinstance(original, Table) or not isinstance(release, Table) or not original.rows or not release.rows:
        return []
    run.progress("measuring what the data can still be used for", None)
    excluded = {*identifiers, *policy.identifier, policy.subject, *policy.ratings[:1]}
    names = [c for c in original.columns if c not in excluded]
    was, now = original.codes(names), release.codes([c for c in names if c in release.columns])
    columns = [found for name in names if (found := _compare(name, was[name], now.get(name), after, release.rows))]
    if not columns:
        return []
    place = after.truth
    knows_rows = before.truth is None and place is not None and len(place) == original.rows  # not people in a list
    measures = [_describe_cells(unchanged_cells(was, now, place))] if place is not None and knows_rows else []
    measures += count_errors(columns, run.rng("usefulness.queries"))
    measures += correlation_changes(columns)
    if predict is not None:
        from unveil.usefulness.prediction import prediction_accuracy

        measures.append(prediction_accuracy(columns, predict, run))
    return measures


def _compare(name: str, was: Codes, now: Codes | None, after: Case, rows: int) -> ComparedColumn | None:
    return hide_column(name, was, rows) if now is None else compare_column(name, was, now, after.hierarchies.get(name))


def unchanged_cells(was: dict[str, Codes], now: dict[str, Codes], place: Ints) -> float:
    """The share of the original's cells that the release shows as they were; ``place`` is where each row went."""
    kept = np.flatnonzero(place >= 0)
    same = 0
    for name, column in now.items():
        values, labels = cast_to_text(was[name].values), cast_to_text(column.values)
        found = pc.index_in(values, value_set=labels).fill_null(-2).to_numpy(zero_copy_only=False)
        equal = np.append(found, -1)[was[name].codes[kept]] == column.codes[place[kept]]
        same += int(equal.sum())
    return same / (len(place) * len(was))


def _describe_cells(share: float) -> UseMeasure:
    said = f"{percent_text(share)} of the cells are as they were; those of rows and columns left out are not."
    return UseMeasure("cells", "Cells unchanged", 1.0, share, said, is_comparison=True)
