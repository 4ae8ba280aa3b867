"""The question ``linkage``: which record is the person I know a few things about?

Someone knows a few random things about a person and looks for the record. How often they find it is measured by
attacking; what a theorem guarantees them, without attacking, stands beside it. Asked of tables with at least three
quasi-identifiers, and of ratings. Who is who in a file of known people is :mod:`.ask_link`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Finding
from unveil.linkage.ask_link import check_link, link_findings, similarities
from unveil.linkage.protect import PROTECTIONS
from unveil.linkage.telling import FEWEST, MOST
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.linkage.people import People

__all__ = ["QUESTION"]


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question."""
    from unveil.linkage.ask_found import found_findings
    from unveil.linkage.ask_sparse import sparse_findings

    yield from link_findings(case, policy, run)
    assert isinstance(case.release, Table)
    people = _people(case.release, policy, run)
    if people is None or not len(people.records.value):
        return
    known = min(policy.things_known, int(people.support.max()))
    yield from found_findings(people, known, policy, run)
    yield from sparse_findings(people, known, policy, run)


def _people(table: Table, policy: Policy, run: Run) -> People | None:
    """Whom someone would look for, if it can be asked."""
    from unveil.linkage.people import people_of_ratings, people_of_rows, people_of_several_rows

    if policy.ratings:
        return people_of_ratings(table, policy, similarities(policy, policy.ratings), run)
    columns = policy.quasi_columns
    if len(columns) < FEWEST or table.rows > MOST:
        return None
    if policy.subject is not None:  # what is known of several rows is not compared but for equality
        return None if similarities(policy, columns) else people_of_several_rows(table, columns, policy, run)
    return people_of_rows(table, columns, policy, similarities(policy, columns), run)


def _check(case: Case, policy: Policy) -> None:
    check_link(case, policy)
    if isinstance(case.release, Table) and "known" not in case.holds:
        _check_compared(case.release, policy)
    if policy.ratings and isinstance(case.release, Table) and set(policy.ratings) <= set(case.release.columns):
        from unveil.linkage.people import check_ratings

        check_ratings(case.release, policy, similarities(policy, policy.ratings))


def _check_compared(table: Table, policy: Policy) -> None:
    """Values that are to be compared must be such that they can be, in columns that someone may know."""
    from unveil.errors import UnveilError
    from unveil.release.roles import check_column
    from unveil.wording import listed

    known = {*policy.ratings[2:], *policy.quasi_columns}
    for column in policy.compare:
        check_column(table, column)
    strange = [c for c in policy.compare if c not in known] if known else []
    if strange:
        raise UnveilError(f"compare names {listed(strange)}, which is not among what an attacker may know")
    for column, sim in similarities(policy, tuple(known & set(table.columns))).items():
        sim.numbers(table.codes([column], policy.missing)[column].values, column)


QUESTION = Question(
    name="linkage",
    title="Which record is the person I know a few things about?",
    kinds=("table",),
    findings=(
        "linkage.success",
        "linkage.own_row",
        "linkage.unicity",
        "linkage.sparsity",
        "linkage.success_bound",
        "linkage.matched",
    ),
    sampled=("linkage.success", "linkage.own_row", "linkage.unicity", "linkage.sparsity"),
    ask=ask,
    check=_check,
    protect=PROTECTIONS,
)
