"""What a column looks like: its type as read from the text, how many different values, how many missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unveil.release.codes import Codes
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Profile", "Type", "infer", "profile"]

Type = Literal["whole number", "number", "date", "text", "nothing"]

_WHOLE = r"^[+-]?[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|nan|infinity)$"
_DATE = (
    r"^[0-9]{4}-[0-9]{1,2}(-[0-9]{1,2})?([ T][0-9:.]+(Z|[+-][0-9:]+)?)?$"
    r"|^[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}$|^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$"
)


@dataclass(frozen=True)
class Profile:
    """One column: ``distinct`` counts the values that are not missing."""

    name: str
    type: Type
    rows: int
    distinct: int
    missing: int

    @property
    def nearly_unique(self) -> bool:
        """Whether (almost) every row has a value of its own."""
        present = self.rows - self.missing
        return present >= 20 and self.distinct > 0.9 * present


def profile(table: Table, missing: tuple[str, ...], run: Run | None = None) -> dict[str, Profile]:
    """Look at every column once."""
    encoded = table.codes(table.columns, missing, run)
    return {name: _of(name, codes) for name, codes in encoded.items()}


def _of(name: str, column: Codes) -> Profile:
    gone = int((column.codes < 0).sum())
    return Profile(name, infer(column.values), len(column.codes), len(column.values), gone)


def infer(values: pa.Array) -> Type:
    """The narrowest type that every value has. The values themselves stay as they are: ``007`` is a whole number here
    and still ``007``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if not len(values):
        return "nothing"
    if pa.types.is_integer(kind):
        return "whole number"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_temporal(kind):
        return "date"
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return "text"
    bare = pc.utf8_trim_whitespace(values)
    patterns: dict[Type, str] = {"whole number": _WHOLE, "number": _NUMBER, "date": _DATE}
    return next((t for t, p in patterns.items() if pc.all(pc.match_substring_regex(bare, p)).as_py()), "text")
