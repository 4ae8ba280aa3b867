"""SQL that counts what a question asks about, so that no person counts for more than was declared.

Each row that matches the condition falls into a *cell*: an interval or category of a histogram, a number in steps, or
the only cell of a count. What is asked is a function of how many rows are in each cell. With an id column, the rows of
a person are put into an order that depends on nothing but that person's id and cells, and the first
``rows_per_person`` count: whoever joins or leaves changes only their own rows, and at most so many.

Values never leave the engine, and no text of a question gets into SQL but as a quoted literal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from unveil.dp.declarations import (
    MISSING,
    OTHER,
    CategoryColumn,
    DeclaredColumn,
    DeclaredTable,
    NumberColumn,
    plain_text,
)
from unveil.dp.query_language import AllOf, AnyOf, Comparison, Condition, IsMissing, IsOther, Not, Question
from unveil.engine import sql_literal
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CellCounts", "candidate_steps", "cell_labels", "cell_sql", "column_kind", "count_cells"]

_MOST_CANDIDATES = 1_000


@dataclass(frozen=True)
class CellCounts:
    """The aggregates that noise is added to: ``counts`` of cells by their numbers; and, for sums and means, the
    ``total`` of numbers in steps."""

    counts: dict[int, int]
    total: int = 0


def count_cells(question: Question, declared: DeclaredTable, table: Table, run: Run | None = None) -> CellCounts:
    """Count on the engine."""
    rows = table.query(cell_sql(question, declared, table), run).to_pylist()
    if question.measure in ("sum", "mean"):
        return CellCounts({0: int(rows[0]["n"] or 0)}, int(rows[0]["total"] or 0))
    return CellCounts({int(row["cell"] or 0): int(row["n"] or 0) for row in rows})


def cell_labels(column: DeclaredColumn) -> tuple[str, ...]:
    """What the cells of a column in a histogram are called; the last is that of missing values."""
    if isinstance(column, NumberColumn):
        return (*column.interval_labels(), MISSING)
    return (*column.values, OTHER, MISSING)


def candidate_steps(column: NumberColumn) -> range:
    """The numbers, in steps, among which a quantile is chosen: all of them, or about a thousand at equal distances."""
    lower, upper = column.steps
    distance = -(-(upper - lower) // _MOST_CANDIDATES)
    return range(lower, upper + 1, distance)


# ---- the query -------------------------------------------------------------------------------------------------------


def cell_sql(question: Question, declared: DeclaredTable, table: Table) -> str:
    """The query. It returns rows of a ``cell`` and its count ``n``; of a ``total`` and ``n`` for sums and means."""
    writer = _SqlWriter(declared, table)
    cell = writer.cell(question)
    conditions = [] if question.condition is None else [writer.condition(question.condition)]
    person = key = "NULL"
    if declared.person_column is not None:
        person, key = table.column(declared.person_column), writer.order_key(declared.person_column)
        conditions.append(f"{writer.present(declared.person_column)} IS NOT NULL")
    if question.measure in ("sum", "mean", "quantile"):
        conditions.append(f"{writer.number(question.columns[0])} IS NOT NULL")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    listed = "".join(writer.joins)
    rows = f"SELECT {person} AS person, {key} AS person_key, {cell} AS cell FROM {table.relation}{listed}{where}"
    if question.measure == "count people":
        counted = "count(*)" if declared.person_column is None else "count(DISTINCT person)"
        return f"SELECT 0 AS cell, {counted} AS n FROM ({rows}) AS matching"
    if question.measure == "count":
        return f"SELECT 0 AS cell, {_limited_count(rows, declared)}"
    limited = _limit_rows(rows, declared)
    if question.measure in ("sum", "mean"):
        return f"SELECT sum(CAST(cell AS HUGEINT) * n) AS total, sum(n) AS n FROM ({limited}) AS limited"
    return f"SELECT cell, sum(n) AS n FROM ({limited}) AS limited GROUP BY cell"


def _limited_count(rows: str, declared: DeclaredTable) -> str:
    if declared.person_column is None:
        return f"count(*) AS n FROM ({rows}) AS matching"
    counted = f"SELECT count(*) AS n FROM ({rows}) AS matching GROUP BY person"
    return f"sum(least(n, {declared.rows_per_person})) AS n FROM ({counted}) AS people"


def _limit_rows(rows: str, declared: DeclaredTable) -> str:
    """Cells with the number of rows that count, one or several times each."""
    if declared.person_column is None:
        return f"SELECT cell, count(*) AS n FROM ({rows}) AS matching GROUP BY cell"
    most = declared.rows_per_person
    if most == 1:
        return f"SELECT arg_min(cell, hash(person_key, cell)) AS cell, 1 AS n FROM ({rows}) AS matching GROUP BY person"
    cells = (
        f"SELECT person, any_value(hash(person_key, cell)) AS place, cell, count(*) AS n FROM ({rows}) AS matching "
        "GROUP BY person, cell"
    )
    before = (
        "coalesce(sum(n) OVER (PARTITION BY person ORDER BY place, cell "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)"
    )
    ordered = f"SELECT cell, n, {before} AS before FROM ({cells}) AS cells"
    return f"SELECT cell, least(n, {most} - before) AS n FROM ({ordered}) AS ordered WHERE before < {most}"


class _SqlWriter:
    """Expressions over one declared table. ``joins`` are the lists of categories that cells refer to."""

    def __init__(self, declared: DeclaredTable, table: Table) -> None:
        self._declared, self._table = declared, table
        self.joins: list[str] = []

    def text(self, column: str) -> str:
        """The text of a column; null if it is missing. A number has one text, whatever its type: 1 for 1.0 and 1.00."""
        raw = self._table.column(column)
        text = _number_text_sql(raw, self._table.types.get(column))
        for value in self._declared.missing:
            text = f"nullif({text}, {sql_literal(value)})"
        return text

    def present(self, column: str) -> str:
        """What is null if a value is missing."""
        return self._table.column(column) if self._holds_numbers(column) else self.text(column)

    def order_key(self, column: str) -> str:
        """What the order of a person's rows is made of: the same for numbers of any type."""
        raw = self._table.column(column)
        return f"CAST({raw} AS DOUBLE)" if self._holds_numbers(column) else self.text(column)

    def number(self, column: str) -> str:
        """The number in a column; null if there is none."""
        parsed = f"TRY_CAST({self.text(column)} AS DOUBLE)"
        if self._holds_numbers(column):  # as text, it would be the same number
            parsed = f"CAST({self._table.column(column)} AS DOUBLE)"
        return f"CASE WHEN isfinite({parsed}) THEN {parsed} END"

    def _holds_numbers(self, column: str) -> bool:
        """Whether a column has a type of numbers, none of which stands for a missing value."""
        is_number = _is_number_type(self._table.types.get(column))
        return is_number and not any(character.isdigit() for text in self._declared.missing for character in text)

    def steps(self, column: NumberColumn) -> str:
        """The number in a column, clamped and in steps."""
        lower, upper = column.steps
        bounded = f"least(greatest({self.number(column.name)}, {_double(column.lower)}), {_double(column.upper)})"
        rounded = f"CAST(round({bounded} / {_double(column.step)}) AS BIGINT)"
        return f"least(greatest({rounded}, {lower}), {upper})"

    def cell(self, question: Question) -> str:
        """The number of the cell that a row falls into."""
        if question.measure in ("count", "count people"):
            return "0"
        if question.measure in ("histogram", "top"):
            cell = "0"
            for name in question.columns:
                column = self._declared.column(name)
                cell = f"({cell}) * {len(cell_labels(column))} + {self._place(column)}"
            return cell
        column = self._declared.column(question.columns[0])
        assert isinstance(column, NumberColumn)
        if question.measure != "quantile":
            return self.steps(column)
        candidates = candidate_steps(column)
        nearest = f"CAST(round(({self.steps(column)} - ({candidates.start})) / {candidates.step}.0) AS BIGINT)"
        return f"least({nearest}, {len(candidates) - 1})"

    def _place(self, column: DeclaredColumn) -> str:
        """The place of a value among the cells of its column."""
        if isinstance(column, NumberColumn):
            interval = _interval_sql(self.steps(column), [cut / column.step for cut in column.cuts], 0)
            return f"CASE WHEN {self.number(column.name)} IS NULL THEN {len(column.cuts) + 1} ELSE {interval} END"
        listed = f"listed{len(self.joins)}"
        values = ", ".join(f"({place}, {sql_literal(value)})" for place, value in enumerate(column.values))
        text = self.text(column.name)
        self.joins.append(f" LEFT JOIN (VALUES {values}) AS {listed}(place, value) ON {listed}.value = {text}")
        count = len(column.values)
        return f"CASE WHEN {text} IS NULL THEN {count + 1} ELSE coalesce({listed}.place, {count}) END"

    def condition(self, condition: Condition) -> str:
        """True or false, never null."""
        match condition:
            case AllOf(parts):
                return f"({' AND '.join(self._each(parts))})"
            case AnyOf(parts):
                return f"({' OR '.join(self._each(parts))})"
            case Not(inner):
                return f"(NOT {self.condition(inner)})"
            case IsMissing(name):
                is_text = isinstance(self._declared.column(name), CategoryColumn)
                return f"({self.text(name) if is_text else self.number(name)} IS NULL)"
            case IsOther(name):
                column = self._declared.column(name)
                assert isinstance(column, CategoryColumn)
                declared = ", ".join(map(sql_literal, column.values))
                return f"coalesce({self.text(name)} NOT IN ({declared}), FALSE)"
            case Comparison(name, sign, values):
                left, literals = self._comparison_sides(name, values)
                right = f"({', '.join(literals)})" if sign == "in" else literals[0]
                return f"coalesce({left} {'<>' if sign == '!=' else sign} {right}, FALSE)"

    def _each(self, parts: Sequence[Condition]) -> Iterator[str]:
        return map(self.condition, parts)

    def _comparison_sides(self, name: str, values: Sequence[str | Decimal]) -> tuple[str, list[str]]:
        """A value and what it is compared with; numbers are clamped and in steps."""
        column = self._declared.column(name)
        if isinstance(column, CategoryColumn):
            return self.text(name), [sql_literal(str(value)) for value in values]
        steps = f"CASE WHEN {self.number(name)} IS NOT NULL THEN {self.steps(column)} END"
        return steps, [_double(value / column.step) for value in values if isinstance(value, Decimal)]


def column_kind(kind: pa.DataType | None) -> str:
    """What a column holds: numbers, text, or values of another type, by its name.

    >>> import pyarrow as pa
    >>> column_kind(pa.int32()), column_kind(pa.float64()), column_kind(None), column_kind(pa.date32())
    ('numbers', 'numbers', 'text', 'date32[day]')
    """
    import pyarrow.types as kinds

    while kind is not None and kinds.is_dictionary(kind):
        kind = kind.value_type
    if kind is None or kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return "text"
    return "numbers" if _is_number_type(kind) or kinds.is_null(kind) else str(kind)


def _is_number_type(kind: pa.DataType | None) -> bool:
    import pyarrow.types as kinds

    return kind is not None and (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


def _number_text_sql(raw: str, kind: pa.DataType | None) -> str:
    """The text of a value, without the decimals that a type adds to whole numbers."""
    import pyarrow.types as kinds

    text = f"CAST({raw} AS VARCHAR)"
    if kind is not None and kinds.is_floating(kind):
        whole = f"CAST(CAST({raw} AS BIGINT) AS VARCHAR)"
        return f"CASE WHEN {raw} = trunc({raw}) AND abs({raw}) < 1e15 THEN {whole} ELSE {text} END"
    if kind is not None and kinds.is_decimal(kind):
        return f"CASE WHEN contains({text}, '.') THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"
    return text


def _interval_sql(number: str, cuts: Sequence[Decimal], first: int) -> str:
    """How many cuts a number has reached, plus ``first``: by halves, since there may be many."""
    if not cuts:
        return str(first)
    half = len(cuts) // 2
    below, above = _interval_sql(number, cuts[:half], first), _interval_sql(number, cuts[half + 1 :], first + half + 1)
    return f"CASE WHEN {number} < {_double(cuts[half])} THEN {below} ELSE {above} END"


def _double(value: Decimal) -> str:
    return f"CAST({sql_literal(plain_text(value))} AS DOUBLE)"
