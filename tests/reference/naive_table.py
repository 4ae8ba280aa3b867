"""Slow, obvious readers of tables: Python's csv module on the decoded text, a dictionary for codes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

__all__ = ["naive_codes", "naive_table"]


def naive_table(text: str, delimiter: str = ",", quote: str = '"') -> list[tuple[str, ...]] | None:
    """All rows, the header first, every value text; None where the text is not a table.

    An empty line is no row, except below the header of a table of one column, where it is an empty value.
    """
    quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, quotechar=quote or None, quoting=quoting, strict=True))
    except csv.Error:
        return None
    while rows and not rows[0]:
        rows.pop(0)
    width = len(rows[0]) if rows else 0
    kept = [tuple(row) or ("",) for row in rows if row or width == 1]
    return kept if all(len(row) == width for row in kept) else None


def naive_codes(values: Sequence[object], missing: Sequence[str] = ()) -> tuple[list[int], list[object]]:
    """The place of each value among the sorted distinct ones, −1 for None, NaN and the missing tokens."""

    def gone(value: object) -> bool:
        return value is None or value != value or (isinstance(value, str) and value.strip() in missing)

    distinct = sorted({v for v in values if not gone(v)})  # type: ignore[type-var]
    place = {v: i for i, v in enumerate(distinct)}
    return [-1 if gone(v) else place[v] for v in values], list(distinct)
