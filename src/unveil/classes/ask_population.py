"""The findings about the population that a release is part of: the attacker does not know who is in the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.classes.attacker import KnownColumnsAttacker, Subjects
from unveil.classes.risks import K_MAP, POPULATION_UNIQUES, PRESENCE, K
from unveil.classes.settings import ClassesSettings
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding, Method
from unveil.policy import Policy
from unveil.release.kinds import KIND_SINGULARS
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, ends_text, list_text, number_text, percent_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.classes.known_population import PopulationMatches
    from unveil.classes.population_estimates import ClassSample, PopulationBounds, PopulationEstimate
    from unveil.release.codes import Codes

__all__ = ["check_population", "population_findings"]

_SWEENEY = "L. Sweeney, Computational disclosure control: a primer on data privacy protection, 2001 (k-map)"
_NERGIZ = "M. Nergiz, M. Atzori, C. Clifton, Hiding the presence of individuals from shared databases, SIGMOD 2007"
_SKINNER = "C. J. Skinner, M. J. Elliot, A measure of disclosure risk for microdata, JRSS B 64(4), 2002"
_ESTIMATES = (
    f"{_SKINNER}; N. Hoshino, JOS 17(4), 2001 (Pitman); L. V. Zayatz, US Bureau of the Census, 1991; G. Chen, "
    "S. Keller-McNulty, JOS 14(1), 1998 (SNB); F. K. Dankar and others, BMC Medical Informatics and Decision Making "
    "12:66, 2012"
)
_EL_EMAM = "K. El Emam, F. K. Dankar, Protecting privacy using k-anonymity, JAMIA 15(5), 2008 (test for k-map)"
_SIGNIFICANCE = 0.05


def check_population(case: Case, policy: Policy) -> None:
    """A population must be a table with the quasi-identifiers of some set, and people in several rows of the release
    must have the same ones in all of them."""
    held, chosen = next(iter(case.held_releases("population")), None), policy.settings_for(ClassesSettings)
    if held is None and chosen.population_size is None and chosen.sampling_fraction is None:
        return
    if held is not None:
        if not isinstance(held, Table):
            raise UnveilError(
                f"{safe_text(held.name)}: was read as {KIND_SINGULARS[held.kind]}; a population is a table of people"
            )
        if policy.quasi and not any(set(group) <= set(held.columns) for group in policy.quasi):
            lacking = [c for c in policy.quasi[0] if c not in held.columns]
            raise UnveilError(f"{safe_text(held.name)}: there is no column {list_text(lacking)}; check the header")
        if isinstance(case.release, Table):
            for group in (group for group in policy.quasi if set(group) <= set(held.columns)):
                _codes_per_person(case.release, group, policy)
        return
    subjects = Subjects.from_policy(policy)
    rows = _count_subjects(case.release, policy) if isinstance(case.release, Table) else 0
    if chosen.population_size is not None and chosen.population_size < rows:
        people = count_text(chosen.population_size, "person", "people")
        raise UnveilError(f"a population of {people} cannot have a sample of {subjects.count_text(rows)}")


def _count_subjects(table: Table, policy: Policy) -> int:
    """The number of people in a table; a row without a person is a person of its own."""
    if policy.subject is None:
        return table.rows
    who = table.codes([policy.subject], policy.missing)[policy.subject]
    return len(who.values) + int((who.codes < 0).sum())


def _codes_per_person(table: Table, columns: Sequence[str], policy: Policy, run: Run | None = None) -> list[Codes]:
    """The codes of these columns, once for each person. People in a population have one value each."""
    import numpy as np

    codes = list(table.codes(columns, policy.missing, run).values())
    if policy.subject is None:
        return codes
    who = table.codes([policy.subject], policy.missing, run)[policy.subject]
    first, told = np.full(len(who.values), table.rows), np.flatnonzero(who.codes >= 0)
    np.minimum.at(first, who.codes[told], told)
    varying = [
        column
        for column, own in zip(columns, codes, strict=True)
        if (own.codes[told] != own.codes[first[who.codes[told]]]).any()
    ]
    if varying:
        raise UnveilError(
            f"{safe_text(table.name)}: {list_text(varying)} {verb(len(varying), 'differs', 'differ')} between rows of "
            "the same person, so that nobody in a population can be compared with them; leave them out of the "
            "quasi-identifiers, or leave out the population"
        )
    kept = np.sort(np.append(first, np.flatnonzero(who.codes < 0)))
    return [replace(own, codes=own.codes[kept]) for own in codes]


def population_findings(
    case: Case, attackers: Sequence[KnownColumnsAttacker], policy: Policy, run: Run
) -> Iterator[Finding]:
    """How many people in the population match a row, for every set of quasi-identifiers that is known about them."""
    table, held = case.release, next(iter(case.held_releases("population")), None)
    assert isinstance(table, Table)
    chosen = policy.settings_for(ClassesSettings)
    if isinstance(held, Table):
        there = [a for a in attackers if set(a.columns) <= set(held.columns)]
        if not there:
            raise UnveilError(
                f"{safe_text(held.name)} lacks columns of every set of quasi-identifiers; add a complete set"
            )
        lacking = "; ".join(list_text(a.columns, 3) for a in attackers if a not in there)
        aside = f" Not compared, because the population file lacks some of these columns: {lacking}." if lacking else ""
        for attacker in there:
            yield from _counted_findings(case, table, held, attacker, policy, run, aside)
    elif chosen.population_size is not None or chosen.sampling_fraction is not None:
        for attacker in attackers:
            sample = _class_sample(table, attacker, policy, run)
            if run.asks(POPULATION_UNIQUES):
                yield _bounded_uniques_finding(sample, attacker, policy, run)
            if run.asks(K_MAP):
                yield _estimated_k_map_finding(sample, attacker, policy)


def _counted_findings(
    case: Case, table: Table, held: Table, attacker: KnownColumnsAttacker, policy: Policy, run: Run, aside: str
) -> Iterator[Finding]:
    from unveil.classes.known_population import match_population
    from unveil.release.label_matching import label_matchers

    columns = attacker.columns
    people = list(held.codes(columns, policy.missing, run).values())
    released = _codes_per_person(table, columns, policy, run)
    found = match_population(people, released, label_matchers(columns, case.hierarchies), run)
    size = count_text(found.population, "person", "people")
    text = (
        f"Holds a file ({safe_text(held.name)}) of {size} with their {list_text(columns)}, but does not know who is in "
        "the release."
    )
    compared = _PopulationComparison(
        found, attacker, text, _incomplete_population_sentence(found, Subjects.from_policy(policy)) + aside, policy
    )
    yield _uniques_finding(compared)
    yield _k_map_finding(compared)
    yield _presence_finding(compared)


@dataclass(frozen=True, eq=False)
class _PopulationComparison:
    """The people who match each row, and the attacker who counts them; ``not_compared`` says what could not be
    counted."""

    found: PopulationMatches
    attacker: KnownColumnsAttacker
    text: str
    not_compared: str
    policy: Policy

    @property
    def subjects(self) -> Subjects:
        """What is counted."""
        return Subjects.from_policy(self.policy)

    def finding(
        self,
        risk: Risk,
        value: float,
        sentence: str,
        source: str,
        *,
        unit: str | None = None,
        method: Method = "exact",
        share: float | None = None,
        baseline: float | None = None,
        curves: tuple[Curve, ...] = (),
    ) -> Finding:
        """A finding about the people who match."""
        return risk.finding(
            self.policy,
            title=risk.title + self.attacker.title_suffix,
            value=value,
            unit=unit,
            method=method,
            share=share,
            baseline=baseline,
            curves=curves,
            known=self.attacker.columns,
            subjects=self.found.class_sizes.total,
            attacker=self.text,
            missing="A missing value fits anything, in the release as in the population.",
            sentence=sentence,
            source=source,
        )


def _uniques_finding(compared: _PopulationComparison) -> Finding:
    found, subjects = compared.found, compared.subjects
    rows, people = found.class_sizes.total, count_text(found.population, "person", "people")
    alone = found.uniques / rows
    if found.uniques:
        match = "matches" if found.uniques == 1 else "match"
        sentence = (
            f"{found.uniques:,} of {subjects.count_text(rows)} ({percent_text(alone)}) {match} only one person in a "
            f"population of {people}. {_unique_text(found.sample_uniques, subjects)} unique in the release; "
            f"{percent_text(found.share)} of these match only one person."
        )
    else:
        unique = _unique_text(found.sample_uniques, subjects)
        sentence = f"No {subjects.one} matches only one person in a population of {people}. {unique} unique in the "
        sentence += "release."
    return compared.finding(POPULATION_UNIQUES, alone, sentence + compared.not_compared, _SKINNER, share=alone)


def _unique_text(count: int, subjects: Subjects) -> str:
    return f"{subjects.count_text(count)} {verb(count, 'is', 'are')}" if count else f"No {subjects.one} is"


def _k_map_finding(compared: _PopulationComparison) -> Finding:
    found, policy, subjects = compared.found, compared.policy, compared.subjects
    rows, k = found.class_sizes.total, policy.tolerance_for(K_MAP) or policy.threshold(K)
    below = found.class_sizes.count_below(k) / rows
    few = f"{capitalise_text(percent_text(below))} of the {subjects.many} match" if below else ""
    few = few or f"No {subjects.one} matches"
    title = f"{capitalise_text(subjects.many)} by the probability of being found in the population"
    whom = "a row's person" if subjects.one == "row" else "a person of the release"
    sentence = (
        f"Someone who looks for {whom} among all {found.population:,} in the population is right with a "
        f"probability of at most {percent_text(1 / found.k_map)}, and {percent_text(found.average_risk)} on "
        f"average. {few} fewer than {count_text(int(k), 'person', 'people')}.{compared.not_compared}"
    )
    curves = (found.class_sizes.risk_curve(subjects.many, title, k),)
    return compared.finding(K_MAP, float(found.k_map), sentence, _SWEENEY, unit="people", share=below, curves=curves)


def _presence_finding(compared: _PopulationComparison) -> Finding:
    found = compared.found
    low, high = found.presence
    if low == high:
        sentence = f"Everybody in the population is in the release with a probability of {percent_text(high)}."
    else:
        sentence = (
            f"Somebody in the population is in the release with a probability of {percent_text(low)} to "
            f"{percent_text(high)}, depending on the person."
        )
    if found.has_ambiguous_people:
        sentence += " This is an estimate, because some people match several classes."
    method: Method = "estimate" if found.has_ambiguous_people else "exact"
    baseline = min(1.0, found.class_sizes.total / found.population)
    return compared.finding(PRESENCE, high, sentence, _NERGIZ, method=method, baseline=baseline)


def _incomplete_population_sentence(found: PopulationMatches, subjects: Subjects) -> str:
    if not found.rows_without_enough_people:
        return ""
    count = found.rows_without_enough_people
    return (
        f" {subjects.count_text(count)} {verb(count, 'matches', 'match')} fewer people in the file than there are such "
        f"{subjects.many} in the release: the file lacks some people, and these {subjects.many} are taken to be as "
        "rare as in the release."
    )


def _class_sample(table: Table, attacker: KnownColumnsAttacker, policy: Policy, run: Run) -> ClassSample:
    from unveil.classes.population_estimates import ClassSample
    from unveil.classes.table_classes import count_class_sizes

    chosen = policy.settings_for(ClassesSettings)
    class_sizes = count_class_sizes(table, attacker.columns, policy.subject, run)
    return ClassSample.from_class_sizes(
        class_sizes, population=chosen.population_size, fraction=chosen.sampling_fraction
    )


def _bounded_uniques_finding(sample: ClassSample, attacker: KnownColumnsAttacker, policy: Policy, run: Run) -> Finding:
    from unveil.classes import population_estimates as estimates

    limits, subjects = estimates.population_bounds(sample, run.confidence), Subjects.from_policy(policy)
    low, high = (x / sample.rows for x in limits.uniques)
    by_model = [
        method(sample) for method in (estimates.pitman_estimate, estimates.zayatz_estimate, estimates.snb_estimate)
    ]
    return POPULATION_UNIQUES.finding(
        policy,
        title=f"{capitalise_text(subjects.many)} {subjects.relative_pronoun} are unique in the population"
        f"{attacker.title_suffix}",
        value=high,
        method="bound",
        interval=(low, high),
        confidence=run.confidence,
        known=attacker.columns,
        subjects=sample.rows,
        share=(low, high),
        attacker=_population_attacker_text(sample, attacker),
        missing="A missing value is a value of its own.",
        sentence=_bounds_sentence(sample, limits, run.confidence, subjects),
        curves=(_methods_curve(by_model, estimates.dankar_estimate(sample), (low, high), sample.rows, subjects),),
        source=_ESTIMATES,
    )


def _population_attacker_text(sample: ClassSample, attacker: KnownColumnsAttacker) -> str:
    return attacker.lookup_text(f"all people in a population of {count_text(sample.population, 'person')}")


def _estimated_k_map_finding(sample: ClassSample, attacker: KnownColumnsAttacker, policy: Policy) -> Finding:
    """k-map from the sizes of the classes in the release, each tested on its own."""
    from unveil.classes.population_estimates import least_population_class, smallest_sample_class

    smallest, k = int(sample.size[0]), policy.tolerance_for(K_MAP) or policy.threshold(K)
    plausible = min(sample.population, least_population_class(smallest, sample.fraction, _SIGNIFICANCE))
    below = sample.size < smallest_sample_class(ceil(k), sample.fraction, _SIGNIFICANCE)
    few = int((sample.size[below] * sample.classes[below]).sum()) / sample.rows
    subjects = Subjects.from_policy(policy)
    rows = subjects.count_text(smallest)
    if smallest == 1:
        said = f"The smallest class has {rows}, which does not tell how many people it comes from: there may be only 1."
    else:
        said = (
            f"The smallest class has {rows}. If the {subjects.many} are a random sample of the population, it "
            f"plausibly comes from at least {count_text(plausible, 'person', 'people')}: a class of fewer people that "
            f"is in the release would have that many {subjects.many} with a probability of at most "
            f"{percent_text(_SIGNIFICANCE)}."
        )
    share = (
        f"{capitalise_text(percent_text(few))} of the {subjects.many} are in classes that may"
        if few
        else f"No {subjects.one} is in a class that may"
    )
    return K_MAP.finding(
        policy,
        title=K_MAP.title + attacker.title_suffix,
        value=plausible,
        unit="people",
        method="estimate",
        known=attacker.columns,
        subjects=sample.rows,
        attacker=_population_attacker_text(sample, attacker),
        missing="A missing value is a value of its own.",
        sentence=f"{said} {share} come from fewer than {count_text(int(k), 'person', 'people')}. This is an estimate: "
        "it tests each class on its own, and among many classes some look larger than they are by chance.",
        source=_EL_EMAM,
    )


def _bounds_sentence(sample: ClassSample, limits: PopulationBounds, confidence: float, subjects: Subjects) -> str:
    people = count_text(sample.population, "person", "people")
    if not sample.uniques:
        return f"No {subjects.one} is unique in the release, so none is unique in a population of {people}."
    rows = ends_text(*limits.uniques, lambda x: number_text(round(x)))
    shares = ends_text(*limits.uniques, lambda x: percent_text(x / sample.rows))
    match = ends_text(*limits.match_interval)
    are = "is" if rows == "1" else "are"
    return (
        f"{_unique_text(sample.uniques, subjects)} unique in the release. If the {subjects.many} are a random sample "
        f"of the population, {rows} of them ({shares} of all {subjects.many}) {are} also unique in the population, "
        f"whatever it looks like ({percent_text(confidence)} confidence). Somebody in the population who matches a "
        f"unique {subjects.one} is the right person with a probability of {match}."
    )


def _methods_curve(
    others: list[PopulationEstimate],
    chosen: PopulationEstimate,
    bounds: tuple[float, float],
    rows: int,
    subjects: Subjects,
) -> Curve:
    """The bounds, and between them the estimates, each with what it assumes."""
    low, high = bounds
    each = "; ".join(
        f"{e.method} {percent_text(e.uniques / rows)}{'' if e.converged else ' (no fit, a limit)'}, if "
        f"{e.assumption[0].lower()}{e.assumption[1:].rstrip('.')}"
        for e in others
    )
    return Curve(
        title=f"{capitalise_text(subjects.many)} {subjects.relative_pronoun} are unique in the population, by method",
        kind="bars",
        x_label="method",
        y_label=f"share of {subjects.many}",
        x=("at least", *(e.method for e in others), "at most"),
        y=(low, *(e.uniques / rows for e in others), high),
        x_scale="category",
        reading=f"The truth lies between the outer bars, at the stated confidence; an estimate beyond them is wrong. "
        f"Estimates have no valid interval: {each}. The rule of Dankar and others picks "
        f"{chosen.method.removeprefix('Dankar: ')}, {percent_text(chosen.uniques / rows)}; the average risk is then "
        f"{percent_text(chosen.risk)}.",
    )
