"""Do numbers still go together as they did? Pearson's correlation of every pair of columns, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from unveil.arrays import Floats
from unveil.usefulness.use_measure import UseMeasure
from unveil.usefulness.value_groups import ComparedColumn
from unveil.wording import list_text, number_text

__all__ = ["correlation", "correlation_changes"]

_MAX_COLUMNS = 20
_NOISE = 1e-12  # what sums of floating-point numbers may be off by


def correlation_changes(columns: Sequence[ComparedColumn]) -> list[UseMeasure]:
    """How far correlations move; nothing if fewer than two columns have numbers that vary."""
    numeric = [c for c in columns if c.numbers is not None and np.nanstd(c.numbers) > 0][:_MAX_COLUMNS]
    pairs = list(combinations(numeric, 2))
    if not pairs:
        return []
    before = [correlation(*map(_original_numbers, pair)) for pair in pairs]
    after = [correlation(*map(_released_numbers, pair)) for pair in pairs]
    changes = np.abs(np.array(after) - before)
    changes[changes < _NOISE] = 0
    worst = int(changes.argmax())
    names = list_text([c.name for c in pairs[worst]])
    from_to = f"from {number_text(before[worst])} to {number_text(after[worst])}"
    mean = f"The {len(pairs)} correlations of two columns change by {number_text(float(changes.mean()))} on average"
    said = f"{mean}, most that of {names}: {from_to}."
    if len(pairs) == 1:
        said = f"The correlation of {names} changes {from_to}."
    if not changes.any():
        said = (
            f"The correlation of {names} stays as it was." if len(pairs) == 1 else "All correlations stay as they were."
        )
    return [
        UseMeasure(
            "correlations",
            "Correlations change by",
            0.0,
            float(changes.mean()),
            said,
            is_share=False,
            is_comparison=True,
        )
    ]


def correlation(first: Floats, second: Floats) -> float:
    """Pearson's correlation over the rows that have both numbers; 0 if one of them does not vary."""
    there = ~(np.isnan(first) | np.isnan(second))
    a, b = first[there], second[there]
    if not len(a) or a.min() == a.max() or b.min() == b.max():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _original_numbers(column: ComparedColumn) -> Floats:
    assert column.numbers is not None
    return column.numbers


def _released_numbers(column: ComparedColumn) -> Floats:
    assert column.label_numbers is not None
    found: Floats = column.label_numbers[column.label_of_row]
    return found
