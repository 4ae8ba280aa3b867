"""Profile each column: its type as the text shows it, its distinct values and its missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unveil.release.codes import Codes, cast_to_text
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats

__all__ = ["ColumnProfile", "ColumnType", "cast_to_numbers", "infer_type", "profile_columns"]

ColumnType = Literal["whole number", "number", "date", "text", "nothing"]

_WHOLE = r"^[+-]?[0-9]+(\.0*)?$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|nan|infinity)$"
_DATE = (
    r"^[0-9]{4}-[0-9]{1,2}(-[0-9]{1,2})?([ T][0-9:.]+(Z|[+-][0-9:]+)?)?$"
    r"|^[0-9]{4} Q[1-4]$|^[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}$|^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$"
)


@dataclass(frozen=True)
class ColumnProfile:
    """One column: ``distinct`` counts the values that are not missing."""

    name: str
    type: ColumnType
    rows: int
    distinct: int
    missing: int

    @property
    def is_nearly_unique(self) -> bool:
        """Whether almost every row has a value of its own."""
        present = self.rows - self.missing
        return present >= 20 and self.distinct > 0.9 * present


def profile_columns(table: Table, missing: tuple[str, ...], run: Run | None = None) -> dict[str, ColumnProfile]:
    """The profile of every column."""
    encoded = table.codes(table.columns, missing, run)
    return {name: _profile_column(name, codes) for name, codes in encoded.items()}


def _profile_column(name: str, column: Codes) -> ColumnProfile:
    gone = int((column.codes < 0).sum())
    return ColumnProfile(name, infer_type(column.values), len(column.codes), len(column.values), gone)


def infer_type(values: pa.Array) -> ColumnType:
    """The narrowest type that every value has: 3.0 is a whole number, however it is stored. The values themselves stay
    as they are: ``007`` is a whole number here and still ``007``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if not len(values):
        return "nothing"
    if pa.types.is_integer(kind):
        return "whole number"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64(), safe=False)
        return "whole number" if pc.all(pc.equal(pc.floor(numbers), numbers)).as_py() else "number"
    if pa.types.is_temporal(kind):
        return "date"
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return "text"
    bare = pc.utf8_trim_whitespace(values)
    patterns: dict[ColumnType, str] = {"whole number": _WHOLE, "number": _NUMBER, "date": _DATE}
    return next((t for t, p in patterns.items() if pc.all(pc.match_substring_regex(bare, p)).as_py()), "text")


def cast_to_numbers(values: pa.Array) -> Floats:
    """The values as numbers, all NaN if any is not a number."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if infer_type(values) not in ("number", "whole number"):
        return np.full(len(values), np.nan)
    return np.asarray(pc.cast(pc.utf8_trim_whitespace(cast_to_text(values)), pa.float64()))
