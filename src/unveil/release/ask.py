"""The question ``release``: does the release itself name anyone?

A column that the policy calls an identifier and that is still in the release names people for certain. A column that
only looks like one is reported as an estimate, which decides nothing, but it keeps the verdict from being ``release``.
So does a sign that several rows are one person. Columns of the kinds that the US HIPAA rule names, and what the order
of rows tells, are for information.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unveil.case import Case
from unveil.finding import Finding
from unveil.holding import ORIGINAL
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.ask_order import ORDER, order_doubts, order_finding
from unveil.release.ask_original import INTERVAL_DISCLOSURE, check_original, interval_findings
from unveil.release.roles import likely_attackers, too_many_guesses
from unveil.release.table import Table
from unveil.release.value_topics import MOST_VALUES_READ
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import count_text, list_text, percent_text

__all__ = ["IDENTIFIERS", "QUESTION", "RISKS_OF_ANY_TABLE"]

_SOURCE = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (singling out)"
_HIPAA = "US Code of Federal Regulations, 45 CFR 164.514(b)(2) (HIPAA Privacy Rule, Safe Harbor)"

IDENTIFIERS = Risk(
    "release.identifiers",
    title="Columns that name people",
    unit="count",
    safer="lower",
    tolerance=0,
    summary="How many columns that the policy calls identifiers are still in the release.",
)
SUSPECTED_IDENTIFIERS = Risk(
    "release.suspected_identifiers",
    title="Columns that seem to name people",
    unit="count",
    safer="lower",
    tolerance_from=IDENTIFIERS,
    summary="How many columns look like identifiers, by their name or because nearly every value is different.",
)
REPEATED_PEOPLE = Risk(
    "release.repeated_people",
    title="Rows that seem to repeat a person",
    unit="share",
    safer="lower",
    summary="The share of rows that seem to belong to a person who has other rows, although each row is counted as a "
    "person.",
)
SAFE_HARBOR = Risk(
    "release.safe_harbor",
    title="Columns that look like identifiers listed by HIPAA's Safe Harbor",
    unit="count",
    safer="lower",
    summary="How many columns look, by their name or values, like one of the 18 kinds of identifiers listed by the "
    "Safe Harbor method of the US HIPAA rule.",
)

RISKS_OF_ANY_TABLE = (IDENTIFIERS.id, SUSPECTED_IDENTIFIERS.id, REPEATED_PEOPLE.id)
"""The risks that every command about tables asks about, whatever else it is for: no table that names people or counts
them several times may be called releasable."""


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The identifiers that were declared, those that are suspected, the people who seem to have several rows, the
    columns of kinds that HIPAA names, what the order of rows tells, and the numbers that stay close to the original."""
    table = case.release
    assert isinstance(table, Table)
    suspected = [c for c in policy.identifier if c in policy.guessed]
    declared = [c for c in policy.identifier if c not in policy.guessed]
    yield _identifiers_finding(IDENTIFIERS, table, declared, policy, run)
    if suspected:
        yield _identifiers_finding(SUSPECTED_IDENTIFIERS, table, suspected, policy, run)
    if run.asks(REPEATED_PEOPLE) and policy.subject is None:
        yield _repeated_people_finding(table, policy, run)
    if run.asks(SAFE_HARBOR):
        yield _safe_harbor_finding(table, policy, run)
    if run.asks(ORDER):
        yield from order_finding(case, policy, run)
    if run.asks(INTERVAL_DISCLOSURE):
        yield from interval_findings(case, table, policy, run)


def _identifiers_finding(risk: Risk, table: Table, columns: Sequence[str], policy: Policy, run: Run) -> Finding:
    named = _rows_with_a_value(table, columns, policy.missing, run) / table.rows
    suspected = risk is SUSPECTED_IDENTIFIERS
    return risk.finding(
        policy,
        value=len(columns),
        unit="columns",
        method="estimate" if suspected else "exact",
        subjects=table.rows,
        share=(0.0 if suspected else named, named),
        attacker="Anyone who reads the release.",
        missing="A row whose identifiers are all missing names nobody.",
        sentence=_identifier_sentence(columns, suspected, named),
        source=_SOURCE,
    )


def _repeated_people_finding(table: Table, policy: Policy, run: Run) -> Finding:
    from unveil.release.repeated_subjects import can_be_fixed, count_copies, find_repeated_subjects

    repeated = find_repeated_subjects(table, policy, run)
    if repeated is not None:
        sentence = repeated.sentence
    elif policy.rows_are_people:
        sentence = "The policy says that every row is a different person."
    else:
        sentence = "No column suggests that several rows belong to one person."
        if not can_be_fixed(table, policy, run):
            sentence += " Without two quasi-identifiers that vary, only names of columns could."
    copies = count_copies(table, policy, run)
    if copies and (repeated is None or repeated.person):
        sentence += f" {count_text(copies, 'row is an exact copy of another', 'rows are exact copies of others')}."
    return REPEATED_PEOPLE.finding(
        policy,
        value=0.0 if repeated is None else repeated.repeated_share,
        method="estimate",
        subjects=table.rows,
        attacker="Knows which rows belong together.",
        missing="A missing value says nothing about whose row it is.",
        sentence=sentence,
        source=_SOURCE,
    )


def _safe_harbor_finding(table: Table, policy: Policy, run: Run) -> Finding:
    from unveil.release.safe_harbor import check_safe_harbor

    found = check_safe_harbor(table, policy.missing, run)
    rule = "the 18 kinds of identifiers listed by the Safe Harbor method of the US HIPAA rule"
    if found.kinds:
        kinds = "; ".join(f"{kind} ({list_text(columns, 4)})" for kind, columns in found.columns_by_kind.items())
        columns = count_text(len(found.kinds), "column looks", "columns look")
        sentence = f"By name or values, {columns} like one of {rule}: {kinds}."
    else:
        sentence = f"No column looks like one of {rule}, by its name or values."
    sentence += (
        " Not checked: names in free text, ages implied by years of birth, and codes derived from an identifier."
    )
    if found.partly_read:
        sentence += f" Of {list_text(found.partly_read, 4)}, only {MOST_VALUES_READ:,} different values were looked at."
    return SAFE_HARBOR.finding(
        policy,
        value=len(found.kinds),
        unit="columns",
        method="estimate",
        subjects=table.rows,
        attacker="Anyone who reads the release.",
        missing="A missing value does not count.",
        sentence=sentence,
        source=_HIPAA,
    )


def _identifier_sentence(columns: Sequence[str], suspected: bool, named: float) -> str:
    if not columns:
        return "No column that the policy calls an identifier is in the release."
    one = len(columns) == 1
    filled = f"filled in {percent_text(named)} of the rows: drop {'it' if one else 'them'}"
    if suspected:
        looks = "looks like a direct identifier" if one else "look like direct identifiers"
        return f"{list_text(columns)} {looks}, {filled}, or say what role {'it has' if one else 'they have'}."
    return (
        f"The release contains {count_text(len(columns), 'direct identifier')} ({list_text(columns)}), {filled} before "
        "releasing."
    )


def _rows_with_a_value(table: Table, columns: Sequence[str], missing: tuple[str, ...], run: Run) -> int:
    """The number of rows in which at least one of these columns has a value."""
    import numpy as np

    filled = np.zeros(table.rows, bool)
    for column in table.codes(columns, missing, run).values():
        filled |= column.codes >= 0
    return int(filled.sum())


def doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """Roles that the policy does not give, and people who seem to have several rows."""
    yield from (f.sentence for f in findings if f.id == REPEATED_PEOPLE.id and f.value)
    yield from (f.sentence for f in findings if f.id == IDENTIFIERS.id and f.value and f.status != "over")
    yield from order_doubts(case, findings)
    if not (policy.quasi or policy.ratings):
        yield "The policy does not say what an attacker may know."
    yield from _many_guesses_doubt(policy)
    if policy.guessed:
        one = len(policy.guessed) == 1
        yield (
            f"The {'role' if one else 'roles'} of {list_text(policy.guessed)} "
            f"{'is a guess' if one else 'are guesses'}; confirm {'it' if one else 'them'} in the policy."
        )


def _many_guesses_doubt(policy: Policy) -> Iterator[str]:
    """More quasi-identifiers than anyone is likely to know at once, and who may know which of them."""
    quasi = too_many_guesses(policy)
    if not quasi:
        return
    sets = [f"{list_text(columns)} ({who})" for who, columns in likely_attackers(quasi).items()]
    likely = ""
    if sets:
        likely = f" By the names of the columns, some are likely to be known together: {'; '.join(sets)}."
    yield (
        f"{count_text(len(quasi), 'quasi-identifier')} were guessed, more than anyone is likely to know at once, so "
        "nearly everybody may look unique. Say what an attacker may know, one set of columns for each attacker."
        + likely
    )


QUESTION = Question(
    name="release",
    title="Does the release itself name anyone?",
    kinds=("table",),
    risks=(IDENTIFIERS, SUSPECTED_IDENTIFIERS, REPEATED_PEOPLE, SAFE_HARBOR, ORDER, INTERVAL_DISCLOSURE),
    ask=ask,
    holdings=(ORIGINAL,),
    check=check_original,
    doubts=doubts,
    protected_risks=(IDENTIFIERS,),
)
