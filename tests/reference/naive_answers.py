"""What falls into which cell, row by row: the slow, obvious way to count what a question asks about.

Which rows of a person count is not determined here: any choice of as many as allowed will do.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal

from unveil.dp.aggregate_sql import candidate_steps, cell_labels
from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn
from unveil.dp.query_language import AllOf, AnyOf, Comparison, Condition, IsMissing, IsOther, Not, Question

Row = Mapping[str, str]

__all__ = ["cells_by_person", "naive_matches", "naive_number", "naive_text"]


def naive_text(row: Row, column: str, table: DeclaredTable) -> str | None:
    """The text in a column, if it is there."""
    return None if row[column] in table.missing else row[column]


def naive_number(row: Row, column: str, table: DeclaredTable) -> float | None:
    """The number in a column, if there is one."""
    text = naive_text(row, column, table)
    try:
        value = float(text) if text is not None and "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def naive_matches(row: Row, condition: Condition | None, table: DeclaredTable) -> bool:
    """Whether a row meets a condition."""
    match condition:
        case None:
            return True
        case AllOf(parts):
            return all(naive_matches(row, part, table) for part in parts)
        case AnyOf(parts):
            return any(naive_matches(row, part, table) for part in parts)
        case Not(inner):
            return not naive_matches(row, inner, table)
        case IsMissing(column):
            return _value(row, column, table) is None
        case IsOther(column):
            declared = table.column(column)
            assert isinstance(declared, CategoryColumn)
            text = naive_text(row, column, table)
            return text is not None and text not in declared.values
        case Comparison(column, sign, values):
            value = _value(row, column, table)
            if value is None:
                return False
            declared = table.column(column)
            if isinstance(declared, NumberColumn):
                value = float(_steps(float(value), declared))
                others: list[str | float] = [float(Decimal(v) / declared.step) for v in values]
            else:
                others = [str(other) for other in values]
            if sign == "in":
                return value in others
            other = others[0]
            if sign in ("=", "!="):
                return (value == other) == (sign == "=")
            assert isinstance(value, float) and isinstance(other, float)
            return {"<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other}[sign]


def _value(row: Row, column: str, table: DeclaredTable) -> str | float | None:
    declared = table.column(column)
    return (naive_text if isinstance(declared, CategoryColumn) else naive_number)(row, column, table)


def cells_by_person(rows: Sequence[Row], question: Question, table: DeclaredTable) -> dict[object, Counter[int]]:
    """For each person, how many matching rows are in each cell."""
    found: defaultdict[object, Counter[int]] = defaultdict(Counter)
    for number, row in enumerate(rows):
        person: object = number if table.person_column is None else naive_text(row, table.person_column, table)
        if person is None or not naive_matches(row, question.condition, table):
            continue
        cell = _cell(row, question, table)
        if cell is not None:
            found[person][cell] += 1
    return dict(found)


def _cell(row: Row, question: Question, table: DeclaredTable) -> int | None:
    if question.measure in ("count", "count people"):
        return 0
    if question.measure in ("histogram", "top"):
        cell = 0
        for name in question.columns:
            cell = cell * len(cell_labels(table.column(name))) + _place(row, name, table)
        return cell
    column = table.column(question.columns[0])
    assert isinstance(column, NumberColumn)
    value = naive_number(row, column.name, table)
    if value is None:
        return None
    steps = _steps(value, column)
    if question.measure != "quantile":
        return steps
    candidates = candidate_steps(column)
    return min(_round((steps - candidates.start) / candidates.step), len(candidates) - 1)


def _place(row: Row, name: str, table: DeclaredTable) -> int:
    column = table.column(name)
    if isinstance(column, CategoryColumn):
        text = naive_text(row, name, table)
        if text is None:
            return len(column.values) + 1
        return column.values.index(text) if text in column.values else len(column.values)
    value = naive_number(row, name, table)
    if value is None:
        return len(column.cuts) + 1
    return sum(_steps(value, column) >= cut / column.step for cut in column.cuts)


def _steps(value: float, column: NumberColumn) -> int:
    """A number, clamped and in steps."""
    lower, upper = column.steps
    clamped = min(max(value, float(column.lower)), float(column.upper))
    return min(max(_round(clamped / float(column.step)), lower), upper)


def _round(value: float) -> int:
    """Halves away from 0."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))
