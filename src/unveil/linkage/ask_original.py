"""The finding about a release and the table it was made from: can its rows be linked to the original ones?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Finding
from unveil.holding import PEOPLE
from unveil.linkage.risks import ORIGINAL_MATCHED
from unveil.policy import Policy
from unveil.release.codes import cast_to_text
from unveil.release.column_profile import cast_to_numbers
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import count_text, list_text, percent_text, range_text

if TYPE_CHECKING:
    from unveil.linkage.nearest_rows import ComparedColumn

__all__ = ["original_findings"]

_MAX_WORK = 300_000_000  # values that are compared; beyond, a sample of the original rows is looked for
_MIN_SAMPLE = 500
_SOURCE = (
    "J. Domingo-Ferrer, V. Torra, A quantitative comparison of disclosure control methods for microdata, in: "
    "Confidentiality, Disclosure and Data Access, 2001"
)


def original_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """How many original rows are closest to their own released row, for every set of quasi-identifiers."""
    release, original = case.release, case.original
    if not isinstance(release, Table) or not isinstance(original, Table) or PEOPLE.name in case.holds:
        return
    for known in policy.quasi:
        columns = tuple(c for c in known if c in original.columns)
        compared = _compare_tables(case, original, release, columns, policy, run)
        if compared:
            yield _original_finding(case, original, release, known, compared, policy, run)


def _compare_tables(
    case: Case, original: Table, release: Table, columns: tuple[str, ...], policy: Policy, run: Run
) -> list[ComparedColumn]:
    """The columns of both tables beside each other: as numbers where both sides are numbers."""
    import numpy as np

    from unveil.linkage.nearest_rows import ComparedNumbers, compare_labels
    from unveil.release.label_matching import label_matchers, raw_value_matcher

    before, after = (table.codes(columns, policy.missing, run) for table in (original, release))
    found: list[ComparedColumn] = []
    for column, matcher in zip(columns, label_matchers(columns, case.hierarchies), strict=True):
        sides = before[column], after[column]
        codes = sides[0].codes, sides[1].codes
        numbers = [cast_to_numbers(each.values) for each in sides]
        if all(np.isfinite(values).all() for values in numbers):
            found.append(ComparedNumbers(*codes, *numbers))
        else:
            values, labels = (cast_to_text(each.values).to_pylist() for each in sides)
            pairs = raw_value_matcher(matcher)(values, labels)
            found.append(compare_labels(*codes, pairs, (len(values), len(labels))))
    return found


def _original_finding(
    case: Case,
    original: Table,
    release: Table,
    known: tuple[str, ...],
    compared: list[ComparedColumn],
    policy: Policy,
    run: Run,
) -> Finding:
    import numpy as np

    from unveil.intervals import estimate_mean
    from unveil.linkage.nearest_rows import chances_of_own_row

    columns = [c for c in known if c in original.columns]
    truth = np.arange(original.rows) if case.truth is None else np.asarray(case.truth, np.int64)
    most = max(_MIN_SAMPLE, _MAX_WORK // max(1, release.rows * len(compared)))
    chosen = np.arange(original.rows)
    if most < original.rows:
        chosen = np.sort(run.rng(ORIGINAL_MATCHED.id).choice(original.rows, most, replace=False))
    found = estimate_mean(chances_of_own_row(compared, truth, chosen, run), run.confidence)
    exact = len(chosen) == original.rows
    share = percent_text(found.value) if exact else range_text(found.value, found.interval)
    sample = "" if exact else f" This was measured for {len(chosen):,} random ones."
    order = "" if case.truth is not None else " Rows are compared in their order: row 1 with row 1, and so on."
    return ORIGINAL_MATCHED.finding(
        policy,
        value=found.value,
        method="exact" if exact else "simulation",
        interval=None if exact else found.interval,
        confidence=None if exact else run.confidence,
        known=known,
        subjects=original.rows,
        share=found.value if exact else found.interval,
        attacker=f"Holds the original values of {list_text(columns, 12)} and takes the closest released row, any of "
        "them if several are equally close.",
        missing="A missing value counts as neither close nor far.",
        baseline=float((truth >= 0).mean()) / release.rows,
        sentence=f"For {share} of {count_text(original.rows, 'original row')}, the closest released row is their own."
        f"{sample}{order}",
        source=_SOURCE,
    )
