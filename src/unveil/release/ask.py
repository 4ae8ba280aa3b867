"""The question ``release``: does the release itself name anyone?

A column that the policy calls an identifier and that is still in the release names people for certain. A column that
only looks like one is reported as an estimate: it informs, and it keeps the verdict from being ``release``. Where its
values come again and again, several rows may be one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Finding
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, percent

if TYPE_CHECKING:
    from unveil.release.several import Several

__all__ = ["QUESTION"]

_SOURCE = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (singling out)"


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """One finding for the identifiers that were declared, one for those that are suspected."""
    from unveil.release.several import several

    table = case.release
    assert isinstance(table, Table)
    suspected = [c for c in policy.identifier if c in policy.guessed]
    declared = [c for c in policy.identifier if c not in policy.guessed]
    rows = several(table, policy, run)
    yield _finding(table, declared, False, policy, run, rows if rows and rows.person in declared else None)
    if suspected:
        yield _finding(table, suspected, True, policy, run, rows if rows and rows.person in suspected else None)


def _finding(
    table: Table, columns: Sequence[str], suspected: bool, policy: Policy, run: Run, rows: Several | None
) -> Finding:
    named = _named(table, columns, policy.missing, run) / table.rows
    tolerance = policy.tolerated("release.identifiers")
    return Finding(
        id="release.identifiers.suspected" if suspected else "release.identifiers",
        question="release",
        title="Columns that seem to name people" if suspected else "Columns that name people",
        value=len(columns),
        unit="columns",
        method="estimate" if suspected else "exact",
        subjects=table.rows,
        share=(0.0 if suspected else named, named),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None and not suspected,
        attacker="Reads the release.",
        missing="A row whose identifiers are all missing names nobody.",
        sentence=_sentence(columns, suspected, named) + (f" {rows.sentence}" if rows else ""),
        source=_SOURCE,
    )


def _sentence(columns: Sequence[str], suspected: bool, named: float) -> str:
    if not columns:
        return "No column that the policy calls an identifier is in the release."
    one = len(columns) == 1
    held = f"with a value in {percent(named)} of the rows: drop {'it' if one else 'them'}"
    if suspected:
        looks = "looks like a direct identifier" if one else "look like direct identifiers"
        return f"{listed(columns)} {looks}, {held}, or say what role {'it has' if one else 'they have'}."
    return f"{counted(len(columns), 'direct identifier')} ({listed(columns)}) in the release, {held} before releasing."


def _named(table: Table, columns: Sequence[str], missing: tuple[str, ...], run: Run) -> int:
    """The number of rows in which one of these columns holds a value."""
    import numpy as np

    held = np.zeros(table.rows, bool)
    for column in table.codes(columns, missing, run).values():
        held |= column.codes >= 0
    return int(held.sum())


QUESTION = Question(
    name="release",
    title="Does the release itself name anyone?",
    kinds=("table",),
    findings=("release.identifiers",),
    ask=ask,
)
