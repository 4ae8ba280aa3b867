"""Read or build the hierarchies that a policy names.

For a column, a policy names either a file, in the format of ARX (a row for every value: the value, then its label on
each level) or with nested lists (:mod:`.nested_lists`), or a rule that builds a hierarchy from the column's values:

- ``prefixes``: ever fewer leading characters; ``prefixes:4,2``: four of them, then two;
- ``intervals:5,10,20``: numbers in intervals of these widths, each a multiple of the one before;
- ``cuts:18,65``: numbers in intervals that begin at these;
- ``quantiles:8,4,2``: numbers in so many intervals of about equally many rows, each number a divisor of the one before;
- ``top:90``: numbers from 90 on together, others as they are; ``top:90,80``: from 90 on, then from 80 on;
- ``bottom:18``: numbers below 18 together; ``ends:18,90``: those below 18, and those from 90 on;
- ``dates``: by day, month, quarter, year and decade;
- ``frequency``: rare values together, on each level more of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.policy import Policy, is_hierarchy_rule
from unveil.release.codes import cast_to_text, rows_error
from unveil.release.generalised_labels import parse_fraction
from unveil.release.table import Table
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.release.hierarchy import Hierarchy

__all__ = ["load_hierarchies"]

_RULE_KINDS = {
    "dates": ("date", "write dates like 1987-06-05, or declare other values missing"),
    **dict.fromkeys(
        ("intervals", "cuts", "quantiles", "top", "bottom", "ends"),
        ("number", "use another rule, or declare other values missing"),
    ),
}


def load_hierarchies(
    said: Mapping[str, str], tables: Sequence[Table], policy: Policy, run: Run | None = None
) -> Mapping[str, Hierarchy]:
    """The hierarchy of each column that ``said`` names. Rules apply to the values of all tables. Unless a column is
    sensitive, some of its values may be labels already, such as 1987-06 among dates; a rule leaves those out."""
    from unveil.release.hierarchy import Hierarchy

    made = dict[str, Hierarchy]()
    for column, text in said.items():
        having = [t for t in tables if column in t.columns]
        if not having:
            raise UnveilError(
                f"there is a hierarchy for {safe_text(column)!r}, but no such column; "
                f"the columns are {list_text(tables[0].columns)}"
            )
        if not is_hierarchy_rule(text):
            made[column] = Hierarchy.read(Path(text))
            _check_hierarchy_fits(made[column], _column_values(having, column, policy.missing, run), column)
            continue
        counts = _value_counts(having, column, policy, run) if text.startswith(("quantiles", "frequency")) else {}
        made[column] = _hierarchy_from_rule(text, _raw_values(text, having, column, policy, run), column, counts)
    return MappingProxyType(made)


def _check_hierarchy_fits(hierarchy: Hierarchy, values: pa.ChunkedArray, column: str) -> None:
    """Refuse a hierarchy that contains none of the values, neither as a value nor as a label."""
    known = {label for level in range(hierarchy.height + 1) for label in hierarchy.labels(level).to_pylist()}
    texts = values.to_pylist()
    if texts and known.isdisjoint(texts):
        spaces = any(text.strip() in known for text in texts)
        drop = f"read the table with {option_text('strip')} to drop its spaces"
        remedy = drop if spaces else "check that it belongs to this column"
        raise UnveilError(f"{safe_text(hierarchy.name)}: contains no value of {safe_text(column)!r}; {remedy}")


def _column_values(tables: Sequence[Table], column: str, missing: tuple[str, ...], run: Run | None) -> pa.ChunkedArray:
    import pyarrow as pa

    name = f"column {safe_text(column)!r}"
    parts = [cast_to_text(t.codes([column], missing, run)[column].values, name) for t in tables]
    return pa.chunked_array(parts, pa.string())


def _value_counts(tables: Sequence[Table], column: str, policy: Policy, run: Run | None) -> Counter[str]:
    """How many rows of all tables have each value."""
    import numpy as np

    found = Counter[str]()
    for table in tables:
        codes = table.codes([column], policy.missing, run)[column]
        rows = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.values)).tolist()
        found.update(dict(zip(cast_to_text(codes.values).to_pylist(), rows, strict=True)))
    return found


def _raw_values(text: str, tables: Sequence[Table], column: str, policy: Policy, run: Run | None) -> pa.ChunkedArray:
    """The values that a rule can be applied to. A column without any is refused, and so is a sensitive column that has
    others."""
    import numpy as np
    import pyarrow as pa

    values, rule = _column_values(tables, column, policy.missing, run), text.partition(":")[0]
    if rule not in _RULE_KINDS:
        return values
    fits = _fits_dates if rule == "dates" else _fits_intervals
    kept = [value for value in values.to_pylist() if fits(value)]
    if kept and (len(kept) == len(values) or column not in policy.sensitive):
        return pa.chunked_array([kept], pa.string())
    for table in tables:
        codes = table.codes([column], policy.missing, run)[column]
        wrong = np.array([not fits(value) for value in cast_to_text(codes.values).to_pylist()], bool)
        if wrong.any():
            what, remedy = f"no {_RULE_KINDS[rule][0]} in {safe_text(column)!r}", _RULE_KINDS[rule][1]
            raise rows_error(table.name, codes.rows_with(wrong), what, remedy)
    return values


def _fits_dates(value: str) -> bool:
    from unveil.release.hierarchy import is_date

    return is_date(value)


def _fits_intervals(value: str) -> bool:
    return parse_fraction(value.strip()) is not None


def _hierarchy_from_rule(text: str, values: pa.ChunkedArray, column: str, counts: Mapping[str, int]) -> Hierarchy:
    from unveil.release.counted_hierarchies import frequency_hierarchy, quantile_cuts
    from unveil.release.hierarchy import Hierarchy
    from unveil.release.top_bottom_coding import parse_coding_limits, top_bottom_hierarchy

    rule, _, numbers = text.partition(":")
    name = f"the hierarchy of {column}"
    if rule == "dates":
        return Hierarchy.from_dates(values, name)
    if rule == "intervals":
        return Hierarchy.from_intervals(values, numbers.split(","), name=name)
    if rule == "cuts":
        return Hierarchy.from_intervals(values, [numbers.split(",")], name=name)
    if rule == "quantiles":
        cuts = quantile_cuts(counts, [int(n) for n in numbers.split(",")], name)
        return Hierarchy.from_intervals(values, cuts, name=name)
    if rule in ("top", "bottom", "ends"):
        parsed = {text: parse_fraction(text.strip()) for text in values.to_pylist()}
        known = {text: number for text, number in parsed.items() if number is not None}
        return top_bottom_hierarchy(known, parse_coding_limits(rule, numbers.split(","), name), name)
    if rule == "frequency":
        return frequency_hierarchy(counts, name)
    lengths = [int(n) for n in numbers.split(",")] if numbers else None
    return Hierarchy.from_prefixes(values, lengths, name)
