"""The findings about someone who attacks: how often people are found, how often everything released about them is
learned, and how often nobody else fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.finding import ExposedSubject, Finding
from unveil.intervals import Estimate, estimate_mean
from unveil.linkage.attack.adversaries import (
    Adversary,
    attributes_only_adversary,
    eccentricity_adversary,
    least_support_adversary,
    likeliest_adversary,
    scoreboard_adversary,
)
from unveil.linkage.attack.auxiliary import Knowledge
from unveil.linkage.attack.experiment import Outcome, add_smaller_supports, attack_records, outcomes_for_everyone
from unveil.linkage.attack.success import SAMPLED_TARGETS, measure_success
from unveil.linkage.attack.worst_case import WorstCase, worst_case
from unveil.linkage.finding_text import (
    HALF_FOUND,
    MERENER,
    MISSING,
    MONTJOYE,
    NARAYANAN,
    PHI,
    RARE_RANK,
    RandomFactsAttacker,
    estimate_text,
)
from unveil.linkage.people import People
from unveil.linkage.risks import EVERYTHING_LEARNED, SUCCESS, UNICITY
from unveil.linkage.success_charts import (
    AttackerCurve,
    known_counts,
    outcome_at,
    outcome_curve,
    success_curves,
)
from unveil.policy import Policy
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import (
    at_least_text,
    capitalise_text,
    count_text,
    percent_text,
    plural_noun,
    range_text,
    singular_noun,
    verb,
)

__all__ = ["success_findings"]

_MIN_TARGETS = 100
_MAX_SCORED_RECORDS = 50_000_000  # for each number of facts known
_WRONG_SHARE = 0.1
_ALIKE_SIGMA = 0.5
_CHECKED_PER_EXPOSED, _DRAWS_PER_PERSON = 10, 50
_WORST_CASE_PEOPLE = 1_000
_WORST_CASE_WORK = 1_000_000_000


def success_findings(attacker: RandomFactsAttacker, policy: Policy, run: Run) -> Iterator[Finding]:
    """People found, people about whom everything is learned, and unicity."""
    people = attacker.people
    counts = known_counts(attacker.known, int(people.support.max()))
    right = measure_success(
        people.records,
        counts,
        rng=run.rng("linkage.success"),
        equals=people.identical_counts,
        confidence=run.confidence,
        run=run,
    )
    if run.asks(SUCCESS):
        yield _success_finding(right, _other_attackers(people, counts, run), attacker, policy, run)
    checked = policy.tolerance_for(EVERYTHING_LEARNED) is not None
    if run.asks(EVERYTHING_LEARNED) and (checked or _identical_ones_matter(right)):
        yield _everything_learned_finding(right, attacker, policy)
    if run.asks(UNICITY):
        yield _unicity_finding(right, attacker, policy, run)


def _attack_finding(
    risk: Risk, measured: Estimate, at: Outcome, attacker: RandomFactsAttacker, policy: Policy, **more: Any
) -> Finding:
    """What was measured of an attack, as a finding."""
    return risk.finding(
        policy,
        value=measured.value,
        method="exact" if at.exact else "simulation",
        interval=measured.interval,
        confidence=at.confidence,
        subjects=attacker.subjects,
        share=measured.interval,
        known=attacker.known_columns,
        attacker=attacker.sentence,
        missing=MISSING,
        **more,
    )


# ---- other attackers -------------------------------------------------------------------------------------------------


def _other_attackers(people: People, counts: Sequence[int], run: Run) -> dict[str, AttackerCurve]:
    """Attackers beside the one who makes the best of facts that are all right."""
    records = people.records
    fewer = max(
        _MIN_TARGETS, min(SAMPLED_TARGETS, _MAX_SCORED_RECORDS // records.n)
    )  # for those who score every record

    def simulate(
        key: str,
        name: str,
        adversary: Adversary,
        targets: int = SAMPLED_TARGETS,
        knowledge: Knowledge | None = None,
        sigma: float | None = None,
    ) -> tuple[str, AttackerCurve]:
        found = attack_records(
            records, [adversary], add_smaller_supports(counts, people.support), rng=run.rng(f"linkage.success {key}"),
            targets=min(targets, records.n), equals=people.identical_counts, confidence=run.confidence,
            knowledge=knowledge, sigma=sigma, run=run,
        )  # fmt: skip
        return key, AttackerCurve(name, outcomes_for_everyone(found, counts))

    valued = records.value.max(initial=0) > 0  # else a fact is that someone has a value, and a wrong one that they lack
    errors = Knowledge(wrong_rate=_WRONG_SHARE) if valued else Knowledge(elsewhere_rate=_WRONG_SHARE)
    expecting_errors = likeliest_adversary(wrong=_WRONG_SHARE, elsewhere=0.0 if valued else _WRONG_SHARE)
    curves = [
        simulate("wrong", "one fact in ten wrong", expecting_errors, fewer, knowledge=errors),
        simulate("scores", "names the best score only if it stands out", eccentricity_adversary(PHI), fewer),
        simulate("alike", "similar", least_support_adversary(), fewer, sigma=_ALIKE_SIGMA),
    ]
    if int(people.support.min()) < int(people.support.max()):
        curves.append(
            simulate("any", f"names any {people.singular} {people.relative_pronoun} fits", scoreboard_adversary())
        )
    if records.density < 1 and valued:
        bare = "knows which columns are filled, not their values"
        if people.has_ratings:
            bare = "knows which items were rated, nothing else"
        curves.append(simulate("bare", bare, attributes_only_adversary()))
    if people.has_ratings:
        curves.append(
            simulate("rare", "knows one rare fact", least_support_adversary(), knowledge=Knowledge(rare_rank=RARE_RANK))
        )
    return dict(curves)


# ---- success ---------------------------------------------------------------------------------------------------------


def _success_finding(
    right: Sequence[Outcome], others: dict[str, AttackerCurve], attacker: RandomFactsAttacker, policy: Policy, run: Run
) -> Finding:
    people, at = attacker.people, outcome_at(right, attacker.known)
    return _attack_finding(
        SUCCESS,
        at.success,
        at,
        attacker,
        policy,
        title=f"{capitalise_text(people.plural)} found by someone who knows {attacker.facts_in_title}",
        baseline=at.baseline,
        sentence=_success_sentence(right, others["wrong"].outcomes, attacker, policy),
        curves=tuple(success_curves(right, others, attacker, policy.tolerance_for(SUCCESS))),
        exposed=_exposed_people(at, people, policy, run),
        source=f"{MERENER}; {NARAYANAN}",
    )


def _success_sentence(
    right: Sequence[Outcome], wrong: Sequence[Outcome], attacker: RandomFactsAttacker, policy: Policy
) -> str:
    people, at, off = attacker.people, outcome_at(right, attacker.known), outcome_at(wrong, attacker.known)
    fewer = estimate_text(off.success) if off.success.value < at.success.value else "about as many"
    return (
        f"Someone who knows {attacker.facts} finds {estimate_text(at.success)} of the {people.plural}. If one "
        f"fact in ten is wrong, they find {fewer}. {_crossing_sentences(right, people, policy)}"
        f"{_left_out_sentences(attacker)}"
    )


def _left_out_sentences(attacker: RandomFactsAttacker) -> str:
    """Who has fewer facts than the attacker would know, or none, and what else could not be used."""
    people, known, asked = attacker.people, attacker.known, attacker.settings.known
    fewer = int((people.support < known).sum()) - (people.records.n - attacker.subjects)
    text = ""
    if fewer:
        whose = f"{count_text(fewer, people.singular, people.plural)} {verb(fewer, 'has', 'have')}"
        text += f" {whose} fewer {people.values}; the attacker knew all of them."
    text += attacker.left_out_sentence
    if asked > known:
        many = count_text(asked, singular_noun(people.values))
        text += f" The attacker may know up to {many}, but no {people.singular} has more than {known:,}."
    if people.left_out:
        was = verb(people.left_out, "was", "were")
        text += f" {count_text(people.left_out, 'rating')} without a value or date {was} left out."
    return text


class _Crossing(NamedTuple):
    """The number of known facts from which on a limit is reached, for every higher number, too; None if it never is.
    ``before`` is the highest number tried that does not reach it, ``certain`` whether the whole interval agrees."""

    first: int | None
    before: int
    certain: bool


def _find_crossing(outcomes: Sequence[Outcome], reached: Callable[[float], bool]) -> _Crossing:
    def first_crossing(share: Callable[[Outcome], float]) -> int | None:
        under = [o.known for o in outcomes if not reached(share(o))]
        return next((o.known for o in outcomes if o.known > max(under, default=0)), None)

    first = first_crossing(lambda o: o.success.value)
    certain = first_crossing(lambda o: o.success.interval[0]) == first_crossing(lambda o: o.success.interval[1])
    before = max((o.known for o in outcomes if first is None or o.known < first), default=0)
    return _Crossing(first, before, certain)


def _crossing_sentences(outcomes: Sequence[Outcome], people: People, policy: Policy) -> str:
    """How many facts must be known for more people to be found than is tolerated, and for half of them."""
    tolerance, who = policy.tolerance_for(SUCCESS), f"of the {people.plural}"
    few, many_enough = f"fewer than half {who}", f"at least half {who}"
    half = _find_crossing(outcomes, lambda share: share >= HALF_FOUND)
    if tolerance is None:
        return _crossing_sentence(half, people, few, many_enough)
    over = _find_crossing(outcomes, lambda share: share > tolerance)
    tolerated = f"than the tolerated {percent_text(tolerance)}"
    if over == half and tolerance < HALF_FOUND:
        return _crossing_sentence(half, people, f"no more {tolerated} {who}", f"{many_enough} (more {tolerated})")
    return (
        f"{_crossing_sentence(over, people, f'no more {tolerated} {who}', f'more {tolerated} {who}')} "
        f"{_crossing_sentence(half, people, few, many_enough)}"
    )


def _crossing_sentence(crossing: _Crossing, people: People, below: str, above: str) -> str:
    """From how many known facts on ``above`` are found."""
    first, before, certain = crossing
    doubt = "" if certain else ", as far as the sample shows"
    if first is None:
        if before == int(people.support.max()):
            return f"However many {plural_noun(people.fact_noun)} are known, {below} are found{doubt}."
        return f"With up to {count_text(before, people.fact_noun)} known, {below} are found{doubt}."
    if before == first - 1 and first > 1 and (people.support[people.support > 0] == first).all():
        every = "Both" if first == 2 else f"All {first:,}"
        return f"{every} {plural_noun(people.fact_noun)} must be known before {above} are found{doubt}."
    untried = "" if before == first - 1 else ", if not before"
    facts = f"{count_text(first, people.fact_noun)} {verb(first, 'is', 'are')}"
    return f"Once {facts} known{untried}, {above} are found{doubt}."


def _exposed_people(outcome: Outcome, people: People, policy: Policy, run: Run) -> tuple[ExposedSubject, ...]:
    """The people who are found most easily, unless guessing finds them as easily."""
    rows, risk = (outcome.rows, outcome.found) if outcome.exact else _estimate_highest_risks(outcome, people, run)
    place = people.row[rows]
    most = np.lexsort((place, -risk))[: run.exposed]
    drawn = "" if outcome.exact else f", on average over {_DRAWS_PER_PERSON} draws"
    return tuple(
        ExposedSubject(
            subject=f"row {row + 1:,}" if people.singular == "row" else f"person of row {row + 1:,}",
            risk=chance,
            because=f"found by someone who knows {count_text(outcome.known, f'random {people.fact_noun}')}{drawn}",
            learns=policy.sensitive,
        )
        for row, chance in zip(place[most].tolist(), risk[most].tolist(), strict=True)
        if chance > 1 / outcome.records
    )


def _estimate_highest_risks(outcome: Outcome, people: People, run: Run) -> tuple[Ints, Floats]:
    """The people who were found although few others fit, with their risk over many draws of what is known."""
    order = np.lexsort((outcome.rows, outcome.size, -outcome.found))[: _CHECKED_PER_EXPOSED * max(1, run.exposed)]
    rows = np.sort(outcome.rows[order])
    repeated = np.repeat(rows, _DRAWS_PER_PERSON)
    known = add_smaller_supports([outcome.known], people.support)
    again = attack_records(
        people.records, [least_support_adversary()], known, rng=run.rng("linkage.success exposed"), targets=repeated,
        equals=people.identical_counts, run=run,
    )  # fmt: skip
    found = np.zeros(people.records.n)
    for o in again:
        own = (o.support == o.known) | (o.known == outcome.known)
        np.add.at(found, o.rows[own], o.found[own])
    return rows, found[rows] / _DRAWS_PER_PERSON


# ---- everything learned ----------------------------------------------------------------------------------------------


def _identical_ones_matter(right: Sequence[Outcome]) -> bool:
    """Whether naming an identical record makes a difference to what is learned."""
    return any(percent_text(o.success.value) != percent_text(o.equal_success.value) for o in right)


def _everything_learned_finding(right: Sequence[Outcome], attacker: RandomFactsAttacker, policy: Policy) -> Finding:
    people, at = attacker.people, outcome_at(right, attacker.known)
    named = "the person, or someone whose data is identical"
    if people.singular == "row":
        columns = "all columns except identifiers" if policy.identifier else "all columns"
        named = f"the row itself, or one that is identical in {columns}"
    return _attack_finding(
        EVERYTHING_LEARNED,
        at.equal_success,
        at,
        attacker,
        policy,
        title=f"{capitalise_text(people.plural)} fully disclosed to someone who knows {attacker.facts_in_title}",
        baseline=at.equal_baseline,
        sentence=f"Someone who knows {attacker.facts} learns everything released about "
        f"{estimate_text(at.equal_success)} of the {people.plural}: they name {named}.",
        curves=(outcome_curve(right, people, lambda o: o.equal_success, "fully disclosed"),),
        source=MERENER,
    )


# ---- unicity ---------------------------------------------------------------------------------------------------------


def _unicity_finding(right: Sequence[Outcome], attacker: RandomFactsAttacker, policy: Policy, run: Run) -> Finding:
    people, at = attacker.people, outcome_at(right, attacker.known)
    facts = count_text(attacker.known, "random rating" if people.has_ratings else "random value")
    single = verb(attacker.known, "singles", "single")
    return _attack_finding(
        UNICITY,
        at.unicity,
        at,
        attacker,
        policy,
        title=f"{capitalise_text(people.plural)} singled out by {attacker.facts_in_title}",
        sentence=f"{facts} of each {people.singular} {single} out {estimate_text(at.unicity)} of the {people.plural}."
        f"{_worst_case_sentence(at, attacker, run)}",
        curves=(outcome_curve(right, people, lambda o: o.unicity, "singled out"),),
        source=MONTJOYE,
    )


def _worst_case_sentence(at: Outcome, attacker: RandomFactsAttacker, run: Run) -> str:
    """How many are singled out by the facts that reveal most about each. Where all sets of facts were counted, whoever
    is ever alone is alone with the best of them. Nothing is said about ratings with dates, which are not searched."""
    people = attacker.people
    if people.records.attributes_per_fact > 1:
        return ""
    whom, share = f"the {people.plural}", percent_text(float((at.unique_probability > 0).mean()))
    if not at.exact:
        worst = _sample_worst_case(people, attacker.known, run)
        found = estimate_mean(worst.least == 1, run.confidence)
        complete = found.count == attacker.subjects
        low, high = (found.value, found.value) if complete else found.interval
        share = at_least_text(low) if worst.is_truncated else range_text(found.value, (low, high))
        whom = whom if complete else f"{found.count:,} random {people.plural}"
    value = "rating" if people.has_ratings else "value"
    best = "most revealing " + value
    if attacker.known > 1:
        best = f"{attacker.known:,} {plural_noun(best)}"
    return f" The {best} of each {people.singular} {verb(attacker.known, 'singles', 'single')} out {share} of {whom}."


def _sample_worst_case(people: People, known: int, run: Run) -> WorstCase:
    """Some random people, each known by the facts that single them out best."""
    records = people.records
    rows = np.flatnonzero(records.support > 0)
    if len(rows) > _WORST_CASE_PEOPLE:
        rows = np.sort(run.rng("linkage.unicity worst").choice(rows, _WORST_CASE_PEOPLE, replace=False))
    return worst_case(records, known, targets=rows, work=_WORST_CASE_WORK, run=run)
