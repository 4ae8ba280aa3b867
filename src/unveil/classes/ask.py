"""The question ``classes``: how many look alike?

For every set of quasi-identifiers in the policy: the smallest class (k), the share of people who are alone in theirs,
the share in classes smaller than the policy's k, and the average probability of being re-identified. Where the set was
only guessed, the same is measured for an attacker who knows all other columns too: no attacker with less can do better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unveil.case import Case
from unveil.classes.ask_items import item_findings
from unveil.classes.ask_known import LOOKED_AT, known_findings
from unveil.classes.ask_population import check_population, population_findings
from unveil.classes.ask_releases import check_releases, release_findings
from unveil.classes.ask_values import Known, value_findings
from unveil.classes.attacker import Attacker
from unveil.classes.missing import Missing
from unveil.classes.sizes import by_value, class_sizes, smallest_classes, values_of
from unveil.crowds import Crowds
from unveil.finding import Exposed, Finding
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

__all__ = ["QUESTION"]

_SWEENEY = "L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002"
_EL_EMAM = "K. El Emam, Guide to the De-Identification of Personal Health Information, 2013"
_BLAMED = 16  # columns at most among which those are sought that make a row unique


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question, set by set."""
    if isinstance(case.release, Transactions):
        yield from item_findings(case.release, policy, run)
        return
    table, missing = case.release, Missing.of(policy)
    assert isinstance(table, Table)
    for knowledge in _attackers(table, policy):
        after = tuple(c for c in policy.sensitive if c not in knowledge.columns)
        if knowledge.bound or (not after and missing.plain):
            crowds = class_sizes(table, knowledge.columns, policy.subject, run)
            yield from _findings(table, knowledge, crowds, policy, run)
        else:
            found = by_value(table, knowledge.columns, after, policy.subject, missing, run)
            beside = "" if missing.plain else _as_values(table, knowledge, found.crowds.total, policy, run)
            yield from _findings(table, knowledge, found.crowds, policy, run, beside)
            for place, values in enumerate(found.values):
                yield from value_findings(values, _after(knowledge, values.column, place, case, policy), policy)
    known = known_findings(table, policy, run)
    if known is not None:
        yield known
    yield from release_findings(case, policy, run)
    yield from population_findings(case, [a for a in _attackers(table, policy) if not a.bound], policy, run)


def check(case: Case, policy: Policy) -> None:
    """Releases that are laid on top of each other, and a population, must have the columns for it."""
    check_releases(case, policy)
    check_population(case, policy)


def _after(knows: Attacker, column: str, place: int, case: Case, policy: Policy) -> Known:
    """An attacker who is after a sensitive column."""
    return Known(
        attacker=_attacker(knows, policy),
        ending=f"{knows.ending}.{place + 1}" if place else knows.ending,
        heading=knows.heading,
        sensitive=shown(column),
        missing=Missing.of(policy).said(sensitive=True),
        who="people" if policy.subject else "rows",
        decides=column not in policy.guessed,
        hierarchy=case.hierarchies.get(column),
        ruled_out=policy.ruled_out.get(column, ()),
    )


def _attackers(table: Table, policy: Policy) -> list[Attacker]:
    several = len(policy.quasi) > 1
    sets = [
        Attacker(group, f".{i}" if i > 1 else "", f" by {listed(group, 3)}" if several else "")
        for i, group in enumerate(policy.quasi, 1)
    ]
    if not policy.quasi or set(policy.guessed) - set(policy.identifier):
        others = tuple(c for c in table.columns if c not in policy.identifier and c != policy.subject)
        if others and others not in policy.quasi:
            sets.append(Attacker(others, ".all", " with all other columns known", bound=True))
    return sets


def _as_values(table: Table, knows: Attacker, counted_ones: int, policy: Policy, run: Run) -> str:
    """What was left out, and what the reading of missing values that never understates the risk would have said."""
    crowds = class_sizes(table, knows.columns, policy.subject, run)
    one, who = ("person", "people") if policy.subject else ("row", "rows")
    left = crowds.total - counted_ones
    gone = f" {left:,} of {counted(crowds.total, one, who)} lack a value and were left out." if left else ""
    return (
        f"{gone} With missing values as values of their own, the smallest class would have {number(crowds.smallest)}, "
        f"and {percent(crowds.below(2) / crowds.total)} of the {who} would be unique."
    )


def _findings(
    table: Table, knows: Attacker, crowds: Crowds, policy: Policy, run: Run, beside: str = ""
) -> Iterator[Finding]:
    k = policy.wanted("classes.k")
    people = crowds.total
    who = "people" if policy.subject else "rows"
    one = "person" if policy.subject else "row"
    alone, at_risk, found = crowds.below(2) / people, crowds.below(k) / people, crowds.found / people
    same = "the same values in all these columns" if knows.bound else f"the same {listed(knows.columns)}"
    if policy.missing_as == "wildcard" and not knows.bound:
        same = f"{listed(knows.columns)} that may be the same"

    def finding(name: str, title: str, value: float, unit: str, harmed: float, sentence: str, **more: Any) -> Finding:
        higher = name == "classes.k"
        tolerance = policy.tolerated(name)
        bound = (value, float(people)) if higher else (0.0, value)
        return Finding(
            id=name + knows.ending,
            question="classes",
            title=title + knows.heading,
            value=value,
            unit=unit,
            method="bound" if knows.bound else "exact",
            interval=bound if knows.bound else None,
            subjects=people,
            share=(0.0, harmed) if knows.bound else (harmed, harmed),
            tolerance=tolerance,
            direction="higher" if higher else "lower",
            decides=tolerance is not None and not knows.bound,
            attacker=_attacker(knows, policy),
            missing=Missing().said() if knows.bound else Missing.of(policy).said(),
            sentence=sentence,
            **more,
        )

    yield finding(
        "classes.k",
        "Smallest class (k)",
        crowds.smallest,
        who,
        at_risk,
        (
            f"Every class of {who} with {same} has at least {counted(crowds.smallest, one, who)}."
            if crowds.smallest >= k
            else f"{crowds.below(k):,} of {counted(people, one, who)} ({percent(at_risk)}) stand in classes of fewer "
            f"than {number(k)} with {same}; the smallest class has {counted(crowds.smallest, one, who)}."
        )
        + beside,
        curves=(crowds.sizes_curve(who, f"{who.capitalize()} by class size", k),),
        exposed=_exposed(table, knows, k, policy, run),
        source=_SWEENEY,
    )
    yield finding(
        "classes.uniques",
        f"Unique {who}",
        alone,
        "share",
        alone,
        f"{crowds.below(2):,} of {counted(people, one, who)} ({percent(alone)}) can be singled out: nobody else has "
        f"{same}."
        if alone
        else f"Nobody can be singled out: somebody else has {same}.",
        source=_EL_EMAM,
    )
    yield finding(
        "classes.at_risk",
        f"{who.capitalize()} in classes smaller than {number(k)}",
        at_risk,
        "share",
        at_risk,
        f"{crowds.below(k):,} of {counted(people, one, who)} ({percent(at_risk)}) have fewer than {number(k)} to hide "
        "among.",
        curves=(crowds.below_curve(who, f"{who.capitalize()} in classes smaller than k", k),),
        source=_EL_EMAM,
    )
    yield finding(
        "classes.reidentification",
        "Average re-identification risk",
        found,
        "share",
        found,
        f"Picking at random among the {who} that match is right with probability {percent(found)} on average.",
        baseline=1 / people,
        curves=(crowds.risk_curve(who, f"{who.capitalize()} by the probability to be found", k),),
        source=_EL_EMAM,
    )


def _attacker(knows: Attacker, policy: Policy) -> str:
    rows = "all of the person's rows" if policy.subject else "the person's row"
    if knows.bound:
        return f"Knows every column of {rows} but the direct identifiers. Nobody who knows fewer columns does better."
    guess = " (a guess: nobody said what an attacker knows)" if set(knows.columns) & set(policy.guessed) else ""
    where = f" in {rows}" if policy.subject else ""
    return f"Knows that the person is in the data, and their {listed(knows.columns)}{where}{guess}."


def _exposed(table: Table, knows: Attacker, k: float, policy: Policy, run: Run) -> tuple[Exposed, ...]:
    if not run.exposed:
        return ()
    missing = Missing() if knows.bound else Missing.of(policy)
    small = smallest_classes(table, knows.columns, k, run.exposed, policy.subject, missing, run)
    if not small:
        return ()
    shown_columns = [c for c in table.columns if c in policy.roles and c not in policy.insensitive]
    rows = (
        values_of(table, [s.row for s in small], shown_columns, run).to_pylist() if run.reveal else [None] * len(small)
    )
    one, who = ("person", "people") if policy.subject else ("row", "rows")
    alone = [s.row for s in small if s.size == 1] if missing.plain and not policy.subject else []
    blamed = _blamed(table, knows.columns, alone, run)

    def because(row: int, size: int) -> str:
        if size > 1:
            return f"one of {size} {who} with these values" if missing.plain else f"one of {size} {who} who fit"
        return f"unique because of {blamed[row]}" if row in blamed else f"the only {one} with these values"

    return tuple(
        Exposed(
            subject=f"row {s.row:,}",
            risk=1 / s.size,
            because=because(s.row, s.size),
            learns=tuple(c for c in policy.sensitive if c not in knows.columns),
            values={shown(c): shown(v) for c, v in values.items()} if values is not None else None,
        )
        for s, values in zip(small, rows, strict=True)
    )


def _blamed(table: Table, columns: tuple[str, ...], rows: list[int], run: Run) -> dict[int, str]:
    """The smallest sets of columns that make rows unique, where there are not too many rows and columns to look."""
    import pyarrow.compute as pc

    from unveil.classes.tally import tally
    from unveil.classes.uniques import why_unique

    if not rows or not 1 < len(columns) <= _BLAMED or table.rows > LOOKED_AT:
        return {}
    found = tally(table, columns, run=run)
    values = values_of(table, rows, columns, run)
    own = [pc.index_in(values[c].combine_chunks(), found.columns[c].values).fill_null(-1).to_pylist() for c in columns]
    blamed = {}
    for row, codes in zip(rows, zip(*own, strict=True), strict=True):
        run.check()
        chosen = why_unique(found.codes(columns), found.counts, codes)
        if chosen is not None:
            blamed[row] = listed(columns[c] for c in chosen)
    return blamed


QUESTION = Question(
    name="classes",
    title="How many look alike?",
    kinds=("table", "transactions"),
    findings=(
        "classes.k",
        "classes.uniques",
        "classes.at_risk",
        "classes.reidentification",
        "classes.l_distinct",
        "classes.l_entropy",
        "classes.t",
        "classes.homogeneity",
        "classes.known_columns",
        "classes.intersection",
        "classes.population_uniques",
        "classes.k_map",
        "classes.presence",
        "classes.known_items",
    ),
    sampled=("classes.population_uniques",),
    ask=ask,
    check=check,
)
