"""What becomes of the columns and rows of a protected table, in words."""

from __future__ import annotations

from collections.abc import Mapping

from unveil.release.coarse_table import ChangedColumn, RelabelledColumn
from unveil.wording import capitalise_text, count_text, list_text, number_text, percent_text, safe_text

__all__ = ["describe_change", "describe_kept_information"]

_MAX_NAMED_COLUMNS = 1000


def describe_change(columns: Mapping[str, ChangedColumn], gone: int, rows: int) -> str:
    """What becomes of the table, column by column, if some of its rows are left out."""
    coarser, partly, out, how = list[str](), list[str](), list[str](), "coarser or hidden"
    for name, column in columns.items():
        if column.is_left_out:
            out.append(name)
        elif column.is_unchanged:
            continue
        elif isinstance(column, RelabelledColumn) or column.step_of is not None:
            partly.append(f"{safe_text(name)} in {percent_text(column.share_changed)}")
            how = column.change_text if isinstance(column, RelabelledColumn) else how
        elif column.steps[0] is not None:
            coarser.append(f"{safe_text(name)} {column.steps[0].description}")
    parts = [", ".join(coarser)] if coarser else []
    if partly:
        said = f"{how}: {', '.join(partly)} of the rows"
        parts.append(said if parts else capitalise_text(said))
    if out:
        parts.append(f"{list_text(out, _MAX_NAMED_COLUMNS)} left out")
    if gone:
        parts.append(f"{number_text(gone)} of {count_text(rows, 'row')} left out")
    return f"{'; '.join(parts)}." if parts else "Nothing is changed."


def describe_kept_information(information: float) -> str:
    """How much the quasi-identifiers still say."""
    return f"The quasi-identifiers keep {percent_text(information)} of their information."
