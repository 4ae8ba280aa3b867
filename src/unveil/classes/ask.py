"""The question ``classes``: how many look alike?

Whatever an attacker knows divides the people into classes of those who look the same. Each ``ask_*.py`` makes findings
about one idea: for every set of quasi-identifiers in the policy, how large the classes are, what they give away, how
many people in the population match a row, and what weights and households say; for the table as a whole, how many
columns an attacker must know, and what several releases give away together; for baskets, how many contain the few items
that an attacker knows.

Where the quasi-identifiers were only guessed, class sizes are also measured for an attacker who knows all other
columns: nobody who knows less does better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unveil.case import Case
from unveil.classes import risks
from unveil.classes.ask_known_columns import known_columns_findings
from unveil.classes.ask_known_items import item_findings
from unveil.classes.ask_population import check_population, population_findings
from unveil.classes.ask_releases import check_releases, other_release_doubts, release_findings
from unveil.classes.ask_sizes import size_findings
from unveil.classes.ask_survey import check_survey, survey_findings
from unveil.classes.ask_values import SensitiveTarget, value_findings
from unveil.classes.attacker import KnownColumnsAttacker, Subjects, attackers, bounding_attackers
from unveil.classes.protect import PROTECTED_RISKS, PROTECTIONS
from unveil.classes.protections.class_protector import has_classes
from unveil.classes.settings import ClassesSettings
from unveil.classes.table_classes import classes_with_values, count_class_sizes
from unveil.finding import Finding
from unveil.holding import PEOPLE, Holding
from unveil.policy import Policy
from unveil.question import Artefact, Question
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, list_text

__all__ = ["QUESTION"]

POPULATION = Holding(
    "population",
    "table",
    "A table of the whole population, with the same quasi-identifiers as the release.",
    release_kinds=("table",),
)
EARLIER = Holding(
    "earlier",
    "table",
    "Another release of the same people, with the same columns.",
    release_kinds=("table",),
    repeatable=True,
)

_ABOUT_POPULATION = (risks.POPULATION_UNIQUES, risks.K_MAP, risks.PRESENCE)
_ABOUT_SURVEYS = (risks.INDIVIDUAL_RISK, risks.HOUSEHOLD_RISK, risks.HOUSEHOLD_UNIQUES)
_ABOUT_CLASSES = {
    risk.id
    for risk in (
        *risks.SIZE_RISKS,
        *risks.VALUE_RISKS,
        risks.KNOWN_COLUMNS,
        risks.DIS_SUDA,
        *_ABOUT_POPULATION,
        *_ABOUT_SURVEYS,
    )
}


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """The findings of this question."""
    if isinstance(case.release, Transactions):
        if run.asks(risks.KNOWN_ITEMS):
            yield from item_findings(case.release, policy, run)
        return
    table = case.release
    assert isinstance(table, Table)
    if run.asks(*risks.SIZE_RISKS, *risks.VALUE_RISKS):
        for attacker in (*attackers(policy), *bounding_attackers(table, policy)):
            yield from _class_findings(case, table, attacker, policy, run)
    if run.asks(risks.KNOWN_COLUMNS, risks.DIS_SUDA):
        yield from known_columns_findings(table, policy, run)
    if run.asks(risks.INTERSECTION):
        yield from release_findings(case, policy, run)
    if run.asks(*_ABOUT_POPULATION):
        yield from population_findings(case, attackers(policy), policy, run)
    if run.asks(*_ABOUT_SURVEYS):
        yield from survey_findings(table, attackers(policy), policy, run)


def _class_findings(
    case: Case, table: Table, attacker: KnownColumnsAttacker, policy: Policy, run: Run
) -> Iterator[Finding]:
    """What the classes that one attacker sees are like, and what they give away."""
    sensitive = tuple(c for c in policy.sensitive if c not in attacker.columns) if run.asks(*risks.VALUE_RISKS) else ()
    if attacker.is_upper_bound or (not sensitive and attacker.missing.is_own_value):
        class_sizes = count_class_sizes(table, attacker.columns, policy.subject, run)
        yield from size_findings(table, attacker, class_sizes, policy, run)
        return
    found = classes_with_values(table, attacker.columns, sensitive, policy.subject, attacker.missing, run)
    yield from size_findings(table, attacker, found.class_sizes, policy, run)
    for values in found.values:
        people = Subjects.from_policy(policy).many
        if values.classes.people < found.class_sizes.total:
            people += " with a value"
        target = SensitiveTarget(
            column=values.column,
            attacker=attacker,
            people=f"the {people}",
            other_columns=tuple(c for c in sensitive if c != values.column),
            hierarchy=case.hierarchies.get(values.column),
            ruled_out=policy.settings_for(ClassesSettings).ruled_out.get(values.column, ()),
        )
        yield from value_findings(values, target, policy, run)


def check(case: Case, policy: Policy) -> None:
    """Other releases and a population must have the columns that they are compared by, and every row its weight."""
    check_releases(case, policy)
    check_population(case, policy)
    check_survey(case, policy)


def doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """What other releases lack or give away alone, and rows left out: nothing is known about the people in them."""
    yield from other_release_doubts(case, policy, findings)
    if not isinstance(case.release, Table) or policy.missing_as != "excluded" or policy.subject is not None:
        return
    sizes = {risk.id for risk in risks.SIZE_RISKS}
    rows = case.release.rows
    left_out = rows - min((f.subjects for f in findings if f.id in sizes), default=rows)
    if left_out:
        lack = "lacks a quasi-identifier and was" if left_out == 1 else "lack a quasi-identifier and were"
        yield f"{left_out:,} of {count_text(rows, 'row')} {lack} left out."


def hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """Which goals for classes are out of reach, and what would make the others reachable."""
    if own := [name for name in in_the_way if name in _ABOUT_CLASSES]:
        yield from _class_hints(case, policy, own, run)
    if risks.INTERSECTION.id in in_the_way:
        yield (
            f"no protection targets {risks.INTERSECTION.id}; leave out the people who are in another release already, "
            "or group them into the same classes as in that release"
        )
    if risks.KNOWN_ITEMS.id in in_the_way:
        yield (
            f"no protection targets {risks.KNOWN_ITEMS.id}; leave out rare items, or replace them with their category, "
            "so that more baskets look alike"
        )


def _class_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    from unveil.classes.protections.reachable_goals import goals_out_of_reach, settings_in_the_way

    said = list[str]()
    goals = {risk.id for risk in (*risks.SIZE_RISKS, *risks.VALUE_RISKS, risks.K_MAP)}
    if has_classes(case, policy) and case.original is None and goals.intersection(in_the_way):
        said = list(goals_out_of_reach(case, policy, run)) or list(settings_in_the_way(case, policy, run))
    yield from said
    if not said:
        columns = list_text(policy.quasi_columns) if policy.quasi_columns else "the quasi-identifiers"
        yield (
            f"for {list_text(in_the_way)}: give columns coarser levels ({option_text('hierarchy')}), or release fewer "
            f"of {columns}"
        )


QUESTION = Question(
    name="classes",
    title="How many look alike?",
    kinds=("table", "transactions"),
    risks=risks.RISKS,
    ask=ask,
    settings=ClassesSettings,
    holdings=(POPULATION, EARLIER, PEOPLE),
    check=check,
    doubts=doubts,
    hints=hints,
    protections=PROTECTIONS,
    protected_risks=PROTECTED_RISKS,
)
