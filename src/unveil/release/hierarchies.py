"""The hierarchies that a policy names, made or read.

A policy says for a column either the name of a file, in the format of ARX (a row for every value: the value, then its
label on each level), or a rule by which one is made from the column's values:

- ``prefixes``: fewer and fewer leading characters; ``prefixes:4,2``: four of them, then two;
- ``intervals:5,10,20``: numbers in intervals of these widths, each a multiple of the one before;
- ``dates``: by day, month and year.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.policy import Policy, is_rule
from unveil.release.labels import fraction
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.hierarchy import Hierarchy

__all__ = ["hierarchies"]


def hierarchies(
    said: Mapping[str, str], tables: Sequence[Table], policy: Policy, run: Run | None = None
) -> Mapping[str, Hierarchy]:
    """What a policy says, column by column; rules are applied to the values in all these tables. Where a column is not
    sensitive some of its values may be labels already, such as 1987-06 among dates: a rule leaves those out."""
    from unveil.release.hierarchy import Hierarchy

    made = dict[str, Hierarchy]()
    for column, text in said.items():
        having = [t for t in tables if column in t.columns]
        if not having:
            raise UnveilError(
                f"there is a hierarchy for {shown(column)!r}, but no such column; there are {listed(tables[0].columns)}"
            )
        if not is_rule(text):
            made[column] = Hierarchy.read(Path(text))
            _check_known(made[column], _values(having, column, policy.missing, run), column)
            continue
        values = _values(having, column, policy.missing, run)
        made[column] = _by_rule(text, values if column in policy.sensitive else _ungeneralised(text, values), column)
    return MappingProxyType(made)


def _check_known(hierarchy: Hierarchy, values: pa.ChunkedArray, column: str) -> None:
    """Refuse a hierarchy that knows none of the values; some may be labels already."""
    known = {label for level in range(hierarchy.height + 1) for label in hierarchy.labels(level).to_pylist()}
    texts = values.to_pylist()
    if texts and known.isdisjoint(texts):
        spaces = any(text.strip() in known for text in texts)
        remedy = "read the table with --strip to drop its spaces" if spaces else "is it another column's?"
        raise UnveilError(f"{shown(hierarchy.name)}: knows no value of {shown(column)!r}; {remedy}")


def _values(tables: Sequence[Table], column: str, missing: tuple[str, ...], run: Run | None) -> pa.ChunkedArray:
    import pyarrow as pa

    parts = [t.codes([column], missing, run)[column].values.cast(pa.string()) for t in tables]
    return pa.chunked_array(parts, pa.string())


def _ungeneralised(text: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values that a rule can be applied to; all if there are none, so that the rule says what is wrong."""
    import pyarrow as pa

    from unveil.release.hierarchy import is_date

    def fits(value: str) -> bool:
        rule = text.partition(":")[0]
        return is_date(value) if rule == "dates" else rule != "intervals" or fraction(value.strip()) is not None

    kept = [value for value in values.to_pylist() if fits(value)]
    return pa.chunked_array([kept], pa.string()) if kept else values


def _by_rule(text: str, values: pa.ChunkedArray, column: str) -> Hierarchy:
    from unveil.release.hierarchy import Hierarchy

    rule, _, numbers = text.partition(":")
    name = f"the hierarchy of {column}"
    if rule == "dates":
        return Hierarchy.dates(values, name)
    if rule == "intervals":
        return Hierarchy.intervals(values, numbers.split(","), name=name)
    lengths = [int(n) for n in numbers.split(",")] if numbers else None
    return Hierarchy.prefixes(values, lengths, name)
