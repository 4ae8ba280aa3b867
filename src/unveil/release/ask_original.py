"""The findings about a release and the table that it was made from: do protected numbers still tell the original?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.holding import PEOPLE
from unveil.policy import Policy
from unveil.release.column_profile import cast_to_numbers, infer_type
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import count_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Ints
    from unveil.release.codes import Codes
    from unveil.release.interval_disclosure import IntervalDisclosure

__all__ = ["INTERVAL_DISCLOSURE", "check_original", "interval_findings"]

INTERVAL_DISCLOSURE = Risk(
    "release.interval_disclosure",
    title="Protected numbers close to the original",
    unit="share",
    safer="lower",
    summary="The share of rows whose original number differs from the released one by at most 1% of the standard "
    "deviation.",
)
_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MATEO = "J. M. Mateo-Sanz, F. Sebé, J. Domingo-Ferrer, Outlier protection in continuous microdata masking, PSD 2004"


def check_original(case: Case, policy: Policy) -> None:
    """Without the truth, row i of the release was made from row i of the original: there must be equally many."""
    release, original = case.release, case.original
    if original is None or not isinstance(release, Table):
        return
    if not isinstance(original, Table):
        raise UnveilError(f"{safe_text(original.name)}: the original of a table must be a table")
    if case.truth is None and PEOPLE.name not in case.holds and original.rows != release.rows:
        raise UnveilError(
            f"{safe_text(original.name)}: has {count_text(original.rows, 'row')}, but {safe_text(release.name)} has "
            f"{release.rows:,}; the rows of both must be in the same order"
        )
    if case.truth is None and PEOPLE.name not in case.holds and _has_moved_rows(original, release, policy):
        raise UnveilError(
            f"{safe_text(release.name)}: its rows are not in the order of {safe_text(original.name)}; compare a "
            "release in the same order, or say in Python which row became which (Case.truth)"
        )


def _has_moved_rows(original: Table, release: Table, policy: Policy) -> bool:
    """Whether columns with the same values occur, and all of them in another order. One alone may have been swapped."""
    import numpy as np

    shared = [c for c in release.columns if c in original.columns]
    before, after = (table.codes(shared, policy.missing) for table in (original, release))
    unchanged = [
        c
        for c in shared
        if len(before[c].values) > 1
        and before[c].values.equals(after[c].values)
        and np.array_equal(np.bincount(before[c].codes + 1), np.bincount(after[c].codes + 1))
    ]
    return bool(unchanged) and not any(np.array_equal(before[c].codes, after[c].codes) for c in unchanged)


def interval_findings(case: Case, table: Table, policy: Policy, run: Run) -> Iterator[Finding]:
    """How close the numbers of every changed column stay to the original ones."""
    original = case.original
    if not isinstance(original, Table) or PEOPLE.name in case.holds:
        return
    for column in (c for c in table.columns if c in original.columns):
        pair = _paired_numbers(case, original, table, column, policy, run)
        if pair is None or (pair[0] == pair[1]).all():
            continue
        from unveil.release.interval_disclosure import measure_intervals

        found = measure_intervals(*pair, _WIDTHS)
        if found is not None:
            yield _interval_finding(column, found, case, policy)


def _paired_numbers(
    case: Case, original: Table, release: Table, column: str, policy: Policy, run: Run
) -> tuple[Floats, Floats] | None:
    """The original and the released number of every row that has both; None if a column holds anything but numbers."""
    import numpy as np

    before, after = (t.codes([column], policy.missing, run)[column] for t in (original, release))
    if not all(infer_type(each.values) in ("number", "whole number") for each in (before, after)):
        return None
    became: Ints = np.arange(original.rows) if case.truth is None else np.asarray(case.truth, np.int64)
    there = became >= 0
    x, y = _row_numbers(before)[there], _row_numbers(after)[became[there]]
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def _row_numbers(column: Codes) -> Floats:
    import numpy as np

    found: Floats = np.append(cast_to_numbers(column.values), np.nan)[column.codes]
    return found


def _interval_finding(column: str, found: IntervalDisclosure, case: Case, policy: Policy) -> Finding:
    name, share = safe_text(column), found.own[0]
    width = percent_text(found.widths[0])
    order = "" if case.truth is not None else " Rows are compared in their order: row 1 with row 1, and so on."
    return INTERVAL_DISCLOSURE.finding(
        policy,
        title=f"Released values of {name} close to the original",
        value=share,
        share=share,
        column=column,
        subjects=found.rows,
        attacker="Anyone who reads the release and takes its numbers for the original ones.",
        missing="Rows that lack the number in the original or in the release are left out.",
        baseline=found.any_row[0],
        sentence=f"For {percent_text(share)} of the rows, the original {name} differs from the released one by at most "
        f"{width} of the standard deviation; for {percent_text(found.by_rank)}, the rank moved by at most {width} of "
        f"the number of rows. If rows were paired at random, {percent_text(found.any_row[0])} would be that close."
        f"{order}",
        curves=(_width_curve(name, found),),
        source=_MATEO,
    )


def _width_curve(name: str, found: IntervalDisclosure) -> Curve:
    return Curve(
        title=f"Original {name} near the released one, by the width of the interval",
        kind="line",
        x_label="half the width of the interval, in standard deviations",
        y_label="share of rows with the original in the interval",
        x=found.widths * 2,
        y=(*found.own, *found.any_row),
        series=("the row's own original",) * len(found.widths) + ("the original of a random row",) * len(found.widths),
        reading="The closer the lines, the less a released number says about its own original.",
    )
