"""The question ``linkage``: which record is the person I know a few things about?

Someone knows a few random facts about a person and looks for the record. An attack measures how often they find it;
beside it stands what theorems guarantee them without attacking. Asked of tables with at least three quasi-identifiers,
and of ratings. Who is who in a file of known people is :mod:`.ask_link`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.holding import ORIGINAL, PEOPLE
from unveil.linkage.ask_link import TRUE_LINKS, check_known_people, link_findings
from unveil.linkage.ask_original import original_findings
from unveil.linkage.finding_text import MAX_ROWS, MIN_COLUMNS, RandomFactsAttacker
from unveil.linkage.protect import PROTECTIONS, targeted_risk
from unveil.linkage.risks import (
    EVERYTHING_LEARNED,
    MATCHED,
    ORIGINAL_MATCHED,
    RISKS,
    SPARSITY,
    SUCCESS,
    SUCCESS_BOUND,
    UNICITY,
)
from unveil.linkage.settings import LinkageSettings
from unveil.policy import Policy
from unveil.question import Artefact, Question
from unveil.release.roles import check_column
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import list_text, verb

__all__ = ["QUESTION"]

_PROTECTED = (SUCCESS, EVERYTHING_LEARNED)


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """The findings of this question, and the matches of known people."""
    if run.asks(MATCHED):
        yield from link_findings(case, policy, run)
    if run.asks(ORIGINAL_MATCHED):
        yield from original_findings(case, policy, run)
    if not run.asks(SUCCESS, EVERYTHING_LEARNED, UNICITY, SPARSITY, SUCCESS_BOUND):
        return
    assert isinstance(case.release, Table)
    for attacker in _random_facts_attackers(case, policy, run):
        if run.asks(SUCCESS, EVERYTHING_LEARNED, UNICITY):
            from unveil.linkage.ask_success import success_findings

            yield from success_findings(attacker, policy, run)
        if run.asks(SPARSITY, SUCCESS_BOUND):
            from unveil.linkage.ask_sparsity import sparsity_findings

            yield from sparsity_findings(attacker, policy, run)


def _random_facts_attackers(case: Case, policy: Policy, run: Run) -> Iterator[RandomFactsAttacker]:
    """Those who look for the people in the table: one for ratings, or for every set of quasi-identifiers that can be
    attacked."""
    from unveil.linkage.people import people_from_ratings, people_from_repeated_rows, people_from_rows

    table, settings = case.release, policy.settings_for(LinkageSettings)
    assert isinstance(table, Table)
    for columns in [policy.ratings] if policy.ratings else _attacked_sets(case, policy):
        if policy.ratings:
            people = people_from_ratings(table, policy, settings.similarities(columns), run)
        elif policy.subject is None:
            people = people_from_rows(table, columns, policy, settings.similarities(columns), run)
        else:
            people = people_from_repeated_rows(table, columns, policy, run)
        if len(people.records.value):
            several = len(policy.quasi) > 1 and not policy.ratings
            yield RandomFactsAttacker(people, min(settings.known, int(people.support.max())), settings, several)


def _attacked_sets(case: Case, policy: Policy) -> list[tuple[str, ...]]:
    """The sets of quasi-identifiers of which someone may know some at random."""
    table = case.release
    assert isinstance(table, Table)
    return [q for q in _large_sets(case, policy) if not _left_out_reason(table, q, policy)]


def _large_sets(case: Case, policy: Policy) -> list[tuple[str, ...]]:
    """The sets of quasi-identifiers with enough to choose from; all of them after a protection, which may have left
    some out, if the policy says what is tolerated."""
    limited = any(policy.tolerance_for(risk) is not None for risk in (SUCCESS, EVERYTHING_LEARNED, UNICITY))
    least = 1 if limited and case.original is not None else MIN_COLUMNS
    return [q for q in policy.quasi if len(q) >= least]


def _left_out_reason(table: Table, columns: tuple[str, ...], policy: Policy) -> str:
    """Why nobody looks for people by a set of quasi-identifiers that is large enough; nothing if somebody does."""
    if table.rows > MAX_ROWS:
        return f"the table has more than {MAX_ROWS:,} rows"
    compared = policy.settings_for(LinkageSettings).similarities(columns)
    if policy.subject is not None and compared:
        return f"values of several rows per person are compared for equality only, not {list_text(compared)} otherwise"
    return ""


def check(case: Case, policy: Policy) -> None:
    """Refuse known people, comparisons and ratings that cannot be used."""
    check_known_people(case, policy)
    table = case.release
    if not isinstance(table, Table):
        return
    if PEOPLE.name not in case.holds:
        _check_comparisons(table, policy)
    if policy.ratings and set(policy.ratings) <= set(table.columns):
        from unveil.linkage.people import check_ratings

        check_ratings(table, policy, policy.settings_for(LinkageSettings).similarities(policy.ratings))


def _check_comparisons(table: Table, policy: Policy) -> None:
    """Refuse comparisons of columns that no attacker knows, or of values that cannot be compared that way."""
    settings, known = policy.settings_for(LinkageSettings), {*policy.ratings[2:], *policy.quasi_columns}
    for column in settings.compare:
        check_column(table, column)
    unknown = [column for column in settings.compare if column not in known] if known else []
    if unknown:
        what = verb(len(unknown), "is not a quasi-identifier", "are not quasi-identifiers")
        if policy.ratings:
            what = verb(
                len(unknown), "is neither the value nor the date of a rating", "are not values or dates of ratings"
            )
        raise UnveilError(f"compare names {list_text(unknown)}, which {what}")
    for column, similarity in settings.similarities(known & set(table.columns)).items():
        similarity.numeric_values(table.codes([column], policy.missing)[column].values, column)


def doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """Sets of quasi-identifiers that nobody looked for people by, and ratings without a tolerance for people found."""
    if isinstance(case.release, Table) and not policy.ratings:
        for columns in _large_sets(case, policy):
            if why := _left_out_reason(case.release, columns, policy):
                yield f"{QUESTION.title} was not asked for someone who knows some of {list_text(columns, 12)}: {why}."
    if not policy.ratings or any(policy.tolerance_for(risk) is not None for risk in (SUCCESS, EVERYTHING_LEARNED)):
        return
    found = next((f for f in findings if f.id == SUCCESS.id), None)
    if found is None and any(f.id == MATCHED.id for f in findings):  # only the known people were asked about
        return
    measured = "" if found is None else f"{found.title}: {found.value_text}. "
    yield (f"{measured}{SUCCESS.id} has no tolerance, so nothing says how many people may be found from a few ratings.")


def hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what this room tolerates."""
    own = [risk.id for risk in RISKS if risk.id in in_the_way]
    if policy.ratings and own:
        yield (
            "people with many ratings are identified by a few of them, however coarse; publish statistics about many "
            "people instead, or try another method or fewer columns"
        )
        return
    if untargeted := [risk_id for risk_id in own if risk_id not in {risk.id for risk in _PROTECTED}]:
        aim, columns = targeted_risk(policy), list_text(policy.quasi_columns) or "the quasi-identifiers"
        stricter = "set a tolerance" if policy.tolerance_for(aim) is None else "set a lower tolerance"
        yield (
            f"no protection targets {list_text(untargeted)}; {stricter} for {aim.id}, so that protections change more, "
            f"or release coarser values of {columns}, or fewer of these columns"
        )
    if len(untargeted) < len(own):
        yield "try another method or fewer columns, or publish statistics about many people instead"


QUESTION = Question(
    name="linkage",
    title="Which record is the person I know a few things about?",
    kinds=("table",),
    risks=RISKS,
    ask=ask,
    settings=LinkageSettings,
    holdings=(PEOPLE, TRUE_LINKS, ORIGINAL),
    check=check,
    doubts=doubts,
    protections=PROTECTIONS,
    protected_risks=RISKS,
    hints=hints,
)
