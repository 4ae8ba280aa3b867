"""What is declared about a table before anybody asks: everything that may be known of it without looking at a row.

Bounds, categories and cuts are *public*: they are declared, never read from the data, since the smallest value of a
column, or the fact that a category occurs, may give a person away. Whatever the rows say, a declared column takes one
of its declared values:

- A *number* is clamped to its bounds and rounded to its step, so that sums are sums of integers and do not depend on
  the order of rows. What cannot be read as a finite number is missing.
- A *category* that was not declared counts as other.
- Missing values match no condition but ``is missing``, and count for no sum, mean or quantile; histograms count them
  by themselves.

**Who is protected.** Two tables are neighbours if one has one person more, with all of that person's rows (Vanhoef,
Definition 5.2, for people instead of rows). With an id column, at most ``rows_per_person`` rows of each person count,
chosen by that person's own rows alone; rows without an id are left out. Without one, each row is a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from unveil.errors import UnveilError
from unveil.wording import did_you_mean, list_text, safe_text

__all__ = [
    "MISSING",
    "OTHER",
    "CategoryColumn",
    "DeclaredColumn",
    "DeclaredTable",
    "NumberColumn",
    "parse_decimal",
    "plain_text",
]

OTHER, MISSING = "(other)", "(missing)"
"""What histograms call categories that were not declared, and missing values."""

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_MOST_DIGITS = 40
_MOST_MISSING = 100
_MOST_STEPS = 10**12
_MOST_CATEGORIES = 100_000
_MOST_ROWS_PER_PERSON = 1_000_000


@dataclass(frozen=True)
class NumberColumn:
    """Numbers from ``lower`` to ``upper``, in multiples of ``step``. ``cuts`` divide them into intervals that each
    begin at a cut and end before the next: in rising order, so that no value is in two of them."""

    name: str
    lower: Decimal
    upper: Decimal
    step: Decimal = Decimal(1)
    cuts: tuple[Decimal, ...] = ()

    def __post_init__(self) -> None:
        said = f"column {safe_text(self.name)!r}"
        for value in (self.lower, self.upper, self.step, *self.cuts):
            if not value.is_finite() or (value and abs(value.adjusted()) >= _MOST_DIGITS):
                raise UnveilError(
                    f"{said}: bounds, steps and cuts must be finite numbers of at most {_MOST_DIGITS} digits"
                )
        if self.lower >= self.upper:
            raise UnveilError(f"{said}: the lower bound must be less than the upper one")
        if self.step <= 0:
            raise UnveilError(f"{said}: the step must be more than 0")
        if self.lower % self.step or self.upper % self.step:
            raise UnveilError(f"{said}: both bounds must be multiples of the step")
        if max(abs(self.lower), abs(self.upper)) / self.step > _MOST_STEPS:
            raise UnveilError(f"{said}: more than {_MOST_STEPS:,} steps from 0 to a bound; choose a larger step")
        if any(first >= second for first, second in zip(self.cuts, self.cuts[1:], strict=False)):
            raise UnveilError(f"{said}: cuts must rise, so that no value is in two intervals")
        if any(not self.lower < cut <= self.upper for cut in self.cuts):
            raise UnveilError(f"{said}: cuts must lie above the lower bound, and not above the upper one")

    @property
    def steps(self) -> tuple[int, int]:
        """The bounds, in steps."""
        return int(self.lower / self.step), int(self.upper / self.step)

    @property
    def interval_starts(self) -> tuple[Decimal, ...]:
        """Where intervals begin; there is only one without cuts."""
        return (self.lower, *self.cuts)

    def interval_labels(self) -> tuple[str, ...]:
        """What the intervals are called.

        >>> NumberColumn("age", Decimal(0), Decimal(120), cuts=(Decimal(18), Decimal(65))).interval_labels()
        ('0 to <18', '18 to <65', '65 to 120')
        """
        starts = self.interval_starts
        ends = [f"<{plain_text(start)}" for start in starts[1:]] + [plain_text(self.upper)]
        return tuple(f"{plain_text(start)} to {end}" for start, end in zip(starts, ends, strict=True))

    def to_json(self) -> dict[str, Any]:
        """What a ledger keeps of it."""
        return {
            "kind": "number",
            "name": self.name,
            "lower": str(self.lower),
            "upper": str(self.upper),
            "step": str(self.step),
            "cuts": [str(cut) for cut in self.cuts],
        }


@dataclass(frozen=True)
class CategoryColumn:
    """Texts, of which the ``values`` are known."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        said = f"column {safe_text(self.name)!r}"
        if not self.values:
            raise UnveilError(f"{said}: declare at least one category")
        if len(self.values) > _MOST_CATEGORIES:
            raise UnveilError(f"{said}: more than {_MOST_CATEGORIES:,} categories; group them first")
        if len(set(self.values)) < len(self.values):
            raise UnveilError(f"{said}: a category is declared twice")
        if reserved := [value for value in self.values if value in (OTHER, MISSING)]:
            raise UnveilError(f"{said}: {list_text(reserved)} is what unveil calls values itself; rename that category")
        if any(not value or value != value.strip() for value in self.values):
            raise UnveilError(f"{said}: a category is empty, or begins or ends with a space")

    def to_json(self) -> dict[str, Any]:
        """What a ledger keeps of it."""
        return {"kind": "category", "name": self.name, "values": list(self.values)}


DeclaredColumn = NumberColumn | CategoryColumn


@dataclass(frozen=True)
class DeclaredTable:
    """The columns that may be asked about, the ``person_column`` that says whose row it is (None: each row is a
    person), how many rows of a person count, and which texts stand for a missing value."""

    columns: tuple[DeclaredColumn, ...]
    person_column: str | None = None
    rows_per_person: int = 1
    missing: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise UnveilError(f"declared twice: {list_text(repeated)}")
        if self.person_column in names:
            raise UnveilError(
                f"column {safe_text(self.person_column)!r} says who a row is about, so that it cannot be asked about"
            )
        if len(self.missing) > _MOST_MISSING:
            raise UnveilError(f"more than {_MOST_MISSING} texts that stand for a missing value; declare fewer")
        for column in self.columns:
            if isinstance(column, CategoryColumn) and (both := [v for v in column.values if v in self.missing]):
                raise UnveilError(
                    f"column {safe_text(column.name)!r}: {list_text(both)} cannot be a category, as it stands for a "
                    "missing value; declare other texts as missing"
                )
        if not 1 <= self.rows_per_person <= _MOST_ROWS_PER_PERSON:
            raise UnveilError(f"the rows that count of each person must be 1 to {_MOST_ROWS_PER_PERSON:,}")
        if self.person_column is None and self.rows_per_person != 1:
            raise UnveilError("without a column that says who a row is about, each row is a person")

    def column(self, name: str) -> DeclaredColumn:
        """The declared column with this name."""
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        known = did_you_mean(name, names) if names else "; none was"
        raise UnveilError(f"no column called {safe_text(name)!r} was declared{known}")

    def needed_columns(self) -> Iterator[str]:
        """The columns that the table must have."""
        yield from (column.name for column in self.columns)
        if self.person_column is not None:
            yield self.person_column

    def to_json(self) -> dict[str, Any]:
        """What a ledger keeps of it."""
        return {
            "columns": [column.to_json() for column in self.columns],
            "person_column": self.person_column,
            "rows_per_person": self.rows_per_person,
            "missing": list(self.missing),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DeclaredTable:
        """What was kept."""
        return cls(
            tuple(_column_from_json(column) for column in data["columns"]),
            data["person_column"],
            data["rows_per_person"],
            tuple(data["missing"]),
        )


def _column_from_json(data: Mapping[str, Any]) -> DeclaredColumn:
    if data["kind"] == "category":
        return CategoryColumn(data["name"], tuple(data["values"]))
    lower, upper, step = (Decimal(data[name]) for name in ("lower", "upper", "step"))
    return NumberColumn(data["name"], lower, upper, step, tuple(map(Decimal, data["cuts"])))


def plain_text(value: Decimal) -> str:
    """A number without an exponent or needless zeros.

    >>> plain_text(Decimal("1E+2")), plain_text(Decimal("0.50"))
    ('100', '0.5')
    """
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_decimal(text: str, what: str) -> Decimal:
    """A number that somebody typed, exactly; −0 is 0.

    >>> parse_decimal("-0", "a bound"), parse_decimal("1.50", "a bound")
    (Decimal('0'), Decimal('1.50'))
    """
    if not _NUMBER.fullmatch(text):
        raise UnveilError(f"{what}: {safe_text(text)!r} is not a number")
    value = Decimal(text)
    if (value and abs(value.adjusted()) >= _MOST_DIGITS) or len(text) > 2 * _MOST_DIGITS:
        raise UnveilError(f"{what}: {safe_text(text)!r} has too many digits")
    return value or Decimal(0)
