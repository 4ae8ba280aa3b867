"""Tables for the owner's eyes as CSV that a spreadsheet does not mistake for formulas.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@`` or a control character as a formula, and labels
come from data that anyone may have entered. An apostrophe in front makes such a cell text. A label that begins with an
apostrophe gets another one, so that every label can be read back.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["secret_csv", "unescape_formulas"]

_FORMULA_START = r"^(['=+\-@\t\r\n＝＋－＠])"


def secret_csv(table: pa.Table) -> bytes:
    """A table as CSV, in which no text reads as a formula."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as arrow_csv

    for at, column in enumerate(table.columns):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            escaped = pc.replace_substring_regex(column, _FORMULA_START, r"'\1")
            table = table.set_column(at, table.column_names[at], escaped)
    text = io.BytesIO()
    arrow_csv.write_csv(table, text)
    return text.getvalue()


def unescape_formulas(labels: pa.Array) -> pa.Array:
    """The labels as they were before :func:`secret_csv` wrote them."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(labels, "^'", "")
