"""The findings about the population that a release is part of: the journalist, who does not know who is in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unveil.case import Case
from unveil.classes.attacker import Attacker
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, listed, number, percent, shown

if TYPE_CHECKING:
    from unveil.classes.estimates import Estimate
    from unveil.classes.population import InPopulation

__all__ = ["check_population", "population_findings"]

_SWEENEY = "L. Sweeney, Computational disclosure control: a primer on data privacy protection, 2001 (k-map)"
_NERGIZ = "M. Nergiz, M. Atzori, C. Clifton, Hiding the presence of individuals from shared databases, SIGMOD 2007"
_SKINNER = (
    "C. J. Skinner, M. J. Elliot, A measure of disclosure risk for microdata, JRSS B 64(4), 2002; N. Hoshino, "
    "JOS 17(4), 2001 (Pitman); L. V. Zayatz, US Bureau of the Census, 1991; G. Chen, S. Keller-McNulty, JOS 14(1), "
    "1998 (SNB); F. K. Dankar and others, BMC Medical Informatics and Decision Making 12:66, 2012"
)
_FITS = "A missing value fits anything, in the release as in the population."


def check_population(case: Case, policy: Policy) -> None:
    """A population must be a table with the quasi-identifiers of some set; every row of the release is a person."""
    held = case.holds.get("population")
    if held is None and policy.population is None:
        return
    if policy.subject is not None:
        raise UnveilError("a population is held against tables with one row per person; leave out subject, or it")
    if held is not None:
        if not isinstance(held, Table):
            raise UnveilError(f"{shown(held.name)}: was read as {held.kind}; a population is a table of people")
        if policy.quasi and not any(set(group) <= set(held.columns) for group in policy.quasi):
            lacking = [c for c in policy.quasi[0] if c not in held.columns]
            raise UnveilError(f"{shown(held.name)}: there is no column {listed(lacking)}; check the header")
    rows = case.release.rows if isinstance(case.release, Table) else 0
    if held is None and policy.population is not None and 1 < policy.population < rows:
        raise UnveilError(f"a population of {number(policy.population)} cannot have a sample of {counted(rows, 'row')}")


def population_findings(case: Case, attackers: Sequence[Attacker], policy: Policy, run: Run) -> Iterator[Finding]:
    """What is known of the population, for every set of quasi-identifiers that is known of it."""
    table, held = case.release, case.holds.get("population")
    assert isinstance(table, Table)
    if isinstance(held, Table):
        there = [a for a in attackers if set(a.columns) <= set(held.columns)]
        if not there:
            raise UnveilError(f"{shown(held.name)} has the columns of none of the sets of quasi-identifiers")
        lacking = [listed(a.columns, 3) for a in attackers if a not in there]
        aside = f" Not held against the population, which lacks a column: {'; '.join(lacking)}." if lacking else ""
        for attacker in there:
            yield from _counted(case, table, held, attacker, policy, run, aside)
    elif policy.population is not None:
        for attacker in attackers:
            yield _estimated(table, policy.population, attacker, policy, run)


def _counted(
    case: Case, table: Table, held: Table, knows: Attacker, policy: Policy, run: Run, aside: str
) -> Iterator[Finding]:
    from unveil.classes.population import fitting_people
    from unveil.release.meaning import reading

    people, released = (list(t.codes(knows.columns, policy.missing, run).values()) for t in (held, table))
    known = fitting_people(people, released, reading(knows.columns, case.hierarchies), run)
    make = _maker(knows, policy, known.crowds.total, held.name, known.population)
    lacking = ""
    if known.lacking:
        lacking = (
            f" {counted(known.lacking, 'row fits', 'rows fit')} fewer people than there are such rows: the file lacks "
            "some, and such rows are taken to be as rare as in the release."
        )
    yield from _by_count(known, make, policy, lacking + aside)


def _by_count(known: InPopulation, make: Any, policy: Policy, lacking: str) -> Iterator[Finding]:
    rows, k = known.crowds.total, policy.tolerated("classes.k_map") or policy.wanted("classes.k")
    alone, below = known.uniques / rows, known.crowds.below(k) / rows
    yield make(
        "classes.population_uniques",
        "Rows that fit one person of the population only",
        alone,
        f"{known.uniques:,} of {counted(rows, 'row')} ({percent(alone)}) fit one person of {known.population:,} only. "
        f"Alone in the release are {known.sample_uniques:,}; {percent(known.share)} of them fit one person only."
        f"{lacking}",
        share=(alone, alone),
        source=_SKINNER.split(";")[0],
    )
    yield make(
        "classes.k_map",
        "Fewest people of the population that a row fits (k-map)",
        float(known.k_map),
        f"Whoever takes a row and looks for its person among all {known.population:,} is right with a probability of "
        f"{percent(known.highest)} at most, {percent(known.average)} on average; {percent(below)} of the rows fit "
        f"fewer than {number(k)} people.{lacking}",
        unit="people",
        direction="higher",
        share=(below, below),
        curves=(known.crowds.risk_curve("rows", "Rows by the probability to be found in the population", k),),
        source=_SWEENEY,
    )
    low, high = known.presence
    surely = "" if known.several else " This is exact: everybody fits one class at most."
    yield make(
        "classes.presence",
        "Surest presence of somebody in the release (δ)",
        high,
        f"Of the people of the population, some are in the release with a probability of {percent(high)}, others of "
        f"{percent(low)}.{surely}",
        method="estimate" if known.several else "exact",
        baseline=min(1.0, rows / known.population),
        source=_NERGIZ,
    )


def _estimated(table: Table, population: float, knows: Attacker, policy: Policy, run: Run) -> Finding:
    from unveil.classes.estimates import Sample, bounds, dankar, pitman, snb, zayatz
    from unveil.classes.sizes import class_sizes

    crowds = class_sizes(table, knows.columns, None, run)
    sized = {"fraction": float(population)} if population <= 1 else {"population": int(population)}
    sample = Sample.from_crowds(crowds, **sized)
    limits = bounds(sample, run.confidence)
    low, high = (x / sample.rows for x in limits.uniques)
    chosen = dankar(sample)
    others = [pitman(sample), zayatz(sample), snb(sample)]
    make = _maker(knows, policy, sample.rows, "", sample.population)
    found: Finding = make(
        "classes.population_uniques",
        "Rows that are unique in the population, at most",
        high,
        f"{counted(sample.uniques, 'row is', 'rows are')} alone in the release. If the rows are a random sample, "
        f"{number(round(limits.uniques[0]))} to {number(round(limits.uniques[1]))} of these are alone among all "
        f"{sample.population:,} people too, {percent(low)} to {percent(high)} of all rows, whatever the people are "
        f"like ({percent(run.confidence)} confidence). Somebody of the population who matches a row that is alone is "
        f"the right one with a probability of {percent(limits.match_interval[0])} to "
        f"{percent(limits.match_interval[1])}. {_said(chosen, others, sample.rows)}",
        method="bound",
        interval=(low, high),
        confidence=run.confidence,
        share=(low, high),
        missing="A missing value is a value of its own.",
        curves=(_by_method(others, chosen, low, high, sample.rows),),
        source=_SKINNER,
    )
    return found


def _said(chosen: Estimate, others: list[Estimate], rows: int) -> str:
    """The estimates, each with what it assumes."""
    each = "; ".join(
        f"{e.method} {percent(e.uniques / rows)}{'' if e.converged else ' (no fit, a limit)'}, if "
        f"{e.assumes[0].lower()}{e.assumes[1:].rstrip('.')}"
        for e in others
    )
    return (
        f"Estimates, as shares of all rows and without a valid interval: {each}. The rule of Dankar and others picks "
        f"{chosen.method.removeprefix('Dankar: ')}; the average risk is then {percent(chosen.risk)}."
    )


def _by_method(others: list[Estimate], chosen: Estimate, low: float, high: float, rows: int) -> Curve:
    return Curve(
        title="Rows that are unique in the population, by method",
        kind="bars",
        x_label="method",
        y_label="share of rows",
        x=("at least", *(e.method for e in others), "at most"),
        y=(low, *(e.uniques / rows for e in others), high),
        x_scale="category",
        reading=f"The truth lies between the outer bars, at the stated confidence; an estimate beyond them is wrong. "
        f"The rule of Dankar and others picks {chosen.method.removeprefix('Dankar: ')}, "
        f"{percent(chosen.uniques / rows)}.",
    )


def _maker(knows: Attacker, policy: Policy, rows: int, name: str, population: int) -> Any:
    """Makes findings with what all of them have in common."""
    holds = f"holds {shown(name)} with {counted(population, 'person', 'people')}" if name else "could ask all of them"

    def make(finding_id: str, title: str, value: float, sentence: str, **more: Any) -> Finding:
        tolerance = policy.tolerated(finding_id)
        facts: dict[str, Any] = {
            "id": finding_id + knows.ending,
            "question": "classes",
            "title": title + knows.heading,
            "value": value,
            "unit": "share",
            "method": "exact",
            "subjects": rows,
            "tolerance": tolerance,
            "direction": "lower",
            "decides": tolerance is not None and more.get("method") != "estimate",
            "attacker": f"Knows the {listed(knows.columns)} of people of a population of {population:,}, not who of "
            f"them is in the release, and {holds}.",
            "missing": _FITS,
            "sentence": sentence,
        }
        return Finding(**(facts | more))

    return make
