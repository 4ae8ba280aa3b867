"""The findings about someone who attacks: how often people are found, and how often nobody else fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.finding import Curve, ExposedSubject, Finding, Method
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
    lead_curve,
)
from unveil.linkage.people import People
from unveil.linkage.risks import OWN_ROW, SUCCESS, UNICITY
from unveil.policy import Policy
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

__all__ = ["axis_scale", "known_counts", "success_findings"]

_MIN_TARGETS = 100
_MAX_SCORED_RECORDS = 50_000_000  # for each number of facts known
_MAX_POINTS = 12
_WRONG_SHARE = 0.1
_ALIKE_SIGMA = 0.5
_CHECKED_PER_EXPOSED, _DRAWS_PER_PERSON = 10, 50
_WORST_CASE_PEOPLE = 1_000
_WORST_CASE_WORK = 1_000_000_000
_RARE_GUESS = 0.1  # below this, a share of guesses is also written as 1 in so many


def success_findings(attacker: RandomFactsAttacker, policy: Policy, run: Run) -> Iterator[Finding]:
    """Success, also without identical records, and unicity."""
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
    if run.asks(OWN_ROW) and (policy.tolerance_for(OWN_ROW) is not None or _identical_ones_matter(right)):
        yield _own_row_finding(right, attacker, policy)
    if run.asks(UNICITY):
        yield _unicity_finding(right, attacker, policy, run)


def known_counts(known: int, most: int) -> list[int]:
    """How many facts are known in turn: all numbers if they are few, else further and further apart."""
    few = [m for m in range(1, most + 1) if m <= _MAX_POINTS // 2]
    step, far = 2, list[int]()
    while (few + far)[-1] < min(most, _last_point(known)):
        far += [min(most, (few + far)[-1] + step)]
        step += len(far) % 2
    return sorted({*(range(1, most + 1) if most <= _MAX_POINTS else few + far), known})


def _last_point(known: int) -> int:
    """Where a curve ends if there are thousands of facts about a person."""
    return max(24, 4 * known)


def axis_scale(most: int) -> Literal["linear", "log"]:
    """Where a curve goes far, its first few points matter most."""
    return "log" if most > _MAX_POINTS else "linear"


def _outcome_at(outcomes: Sequence[Outcome], known: int) -> Outcome:
    return next(o for o in outcomes if o.known == known)


def _method(outcome: Outcome) -> Method:
    return "exact" if outcome.exact else "simulation"


# ---- other attackers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _AttackerCurve:
    """What one attacker achieves, by how many facts are known."""

    name: str
    outcomes: tuple[Outcome, ...]


def _other_attackers(people: People, counts: Sequence[int], run: Run) -> dict[str, _AttackerCurve]:
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
    ) -> tuple[str, _AttackerCurve]:
        found = attack_records(
            records, [adversary], add_smaller_supports(counts, people.support), rng=run.rng(f"linkage.success {key}"),
            targets=min(targets, records.n), equals=people.identical_counts, confidence=run.confidence,
            knowledge=knowledge, sigma=sigma, run=run,
        )  # fmt: skip
        return key, _AttackerCurve(name, outcomes_for_everyone(found.outcomes, counts))

    valued = records.value.max(initial=0) > 0  # else a fact is that someone has a value, and a wrong one that they lack
    errors = Knowledge(wrong=_WRONG_SHARE) if valued else Knowledge(elsewhere=_WRONG_SHARE)
    expecting_errors = likeliest_adversary(wrong=_WRONG_SHARE, elsewhere=0.0 if valued else _WRONG_SHARE)
    curves = [
        simulate("wrong", "one fact in ten wrong", expecting_errors, fewer, knowledge=errors),
        simulate("scores", "names the best score only if it stands out", eccentricity_adversary(PHI), fewer),
        simulate("alike", "similar", least_support_adversary(), fewer, sigma=_ALIKE_SIGMA),
    ]
    if int(people.support.min()) < int(people.support.max()):
        curves.append(simulate("any", f"names any {people.one} {people.relative_pronoun} fits", scoreboard_adversary()))
    if records.density < 1 and valued:
        bare = "knows which columns are filled, not their values"
        if people.has_ratings:
            bare = "knows which items were rated, nothing else"
        curves.append(simulate("bare", bare, attributes_only_adversary()))
    if people.has_ratings:
        curves.append(
            simulate("rare", "knows one rare fact", least_support_adversary(), knowledge=Knowledge(rare=RARE_RANK))
        )
    return dict(curves)


# ---- success ---------------------------------------------------------------------------------------------------------


def _success_finding(
    right: Sequence[Outcome], others: dict[str, _AttackerCurve], attacker: RandomFactsAttacker, policy: Policy, run: Run
) -> Finding:
    people, at = attacker.people, _outcome_at(right, attacker.known)
    return SUCCESS.finding(
        policy,
        title=f"{capitalise_text(people.many)} found by someone who knows {attacker.facts}",
        value=at.success.value,
        method=_method(at),
        interval=at.success.interval,
        confidence=at.confidence,
        subjects=attacker.subjects,
        share=at.success.interval,
        attacker=attacker.sentence,
        missing=MISSING,
        baseline=at.baseline,
        sentence=_success_sentence(right, others["wrong"].outcomes, attacker, policy),
        curves=tuple(_success_curves(right, others, attacker, policy.tolerance_for(SUCCESS))),
        exposed=_exposed_people(at, people, policy, run),
        source=f"{MERENER}; {NARAYANAN}",
    )


def _success_sentence(
    right: Sequence[Outcome], wrong: Sequence[Outcome], attacker: RandomFactsAttacker, policy: Policy
) -> str:
    people, at, off = attacker.people, _outcome_at(right, attacker.known), _outcome_at(wrong, attacker.known)
    share, counting = range_text(at.success.value, at.success.interval), ""
    if percent_text(at.row_success.value) != percent_text(at.success.value):
        own = range_text(at.row_success.value, at.row_success.interval)
        counting = f" Finding {_identical_one(people)} counts; counting only the right {people.one}, they find {own}."
    fewer = "about as many"
    if off.success.value < at.success.value:
        fewer = range_text(off.success.value, off.success.interval)
    return (
        f"Someone who knows {attacker.facts} finds {share} of the {people.many}.{counting} If one fact in ten is "
        f"wrong, they find {fewer}. {_crossing_sentences(right, people, policy)}{_left_out_sentences(attacker)}"
    )


def _identical_one(people: People) -> str:
    return "an identical row" if people.one == "row" else "someone with identical data"


def _left_out_sentences(attacker: RandomFactsAttacker) -> str:
    """Who has fewer facts than the attacker would know, or none, and what else could not be used."""
    people, known, asked = attacker.people, attacker.known, attacker.settings.known
    none = int((people.support == 0).sum())
    fewer = int((people.support < known).sum()) - none
    text = ""
    if fewer:
        whose = f"{count_text(fewer, people.one, people.many)} {verb(fewer, 'has', 'have')}"
        text += f" {whose} fewer {people.values}; the attacker knew all of them."
    if none:
        value, was = singular_noun(people.values), verb(none, "was", "were")
        text += f" {count_text(none, people.one, people.many)} without any {value} {was} left out."
    if asked > known:
        many = count_text(asked, singular_noun(people.values))
        text += f" The policy lets the attacker know {many}, but no {people.one} has more than {known:,}."
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
    def first_reached(share: Callable[[Outcome], float]) -> int | None:
        under = [o.known for o in outcomes if not reached(share(o))]
        return next((o.known for o in outcomes if o.known > max(under, default=0)), None)

    first = first_reached(lambda o: o.success.value)
    certain = first_reached(lambda o: o.success.interval[0]) == first_reached(lambda o: o.success.interval[1])
    before = max((o.known for o in outcomes if first is None or o.known < first), default=0)
    return _Crossing(first, before, certain)


def _crossing_sentences(outcomes: Sequence[Outcome], people: People, policy: Policy) -> str:
    """How many facts must be known for more people to be found than is tolerated, and for half of them."""
    tolerance, who = policy.tolerance_for(SUCCESS), f"of the {people.many}"
    few, many_enough = f"fewer than half {who}", f"at least half {who}"
    half = _find_crossing(outcomes, lambda share: share >= HALF_FOUND)
    if tolerance is None:
        return _crossing_sentence(half, people, few, many_enough)
    over = _find_crossing(outcomes, lambda share: share > tolerance)
    tolerated = f"than the tolerated {percent_text(tolerance)}"
    if over == half and tolerance < HALF_FOUND:
        return _crossing_sentence(half, people, f"no more {tolerated} {who}", f"{many_enough}, more {tolerated},")
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


def _success_curves(
    right: Sequence[Outcome], others: dict[str, _AttackerCurve], attacker: RandomFactsAttacker, tolerance: float | None
) -> Iterator[Curve]:
    people, at = attacker.people, _outcome_at(right, attacker.known)
    yield _success_curve(right, others, people, tolerance)
    yield _learned_curve(others["alike"].outcomes, people)
    if len(at.success_by_support()) > 1:
        yield _support_curve(at, people)
    scored = _outcome_at(others["scores"].outcomes, attacker.known)
    if len(scored.apart):
        yield lead_curve(
            scored.apart, people.many, f"With {count_text(attacker.known, people.fact_noun)} known, ", scored.confidence
        )


def _success_curve(
    right: Sequence[Outcome], others: dict[str, _AttackerCurve], people: People, tolerance: float | None
) -> Curve:
    """The success of all attackers."""
    named = [others[key] for key in ("any", "bare", "scores", "wrong", "rare") if key in others]
    lines = [_AttackerCurve("all facts right", tuple(right)), *named]
    points = [(line.name, o) for line in lines for o in line.outcomes if len(o.rows)]
    ends = {line.name: line.outcomes[-1] for line in lines if len(line.outcomes[-1].rows)}
    last = ends[lines[0].name]
    baseline = last.baseline
    one_in = f" (1 in {round(1 / baseline):,})" if baseline < _RARE_GUESS else ""
    return Curve(
        title=f"{capitalise_text(people.many)} found, by number of {plural_noun(people.fact_noun)} known",
        kind="line",
        x_label=f"{plural_noun(people.fact_noun)} known, chosen at random",
        y_label=f"share of {people.many} found",
        x=tuple(float(o.known) for _, o in points),
        y=tuple(o.success.value for _, o in points),
        low=tuple(o.success.interval[0] for _, o in points),
        high=tuple(o.success.interval[1] for _, o in points),
        series=tuple(name for name, _ in points),
        levels=_reference_levels(baseline, tolerance),
        x_scale=axis_scale(last.known),
        reading=f"With {count_text(last.known, people.fact_noun)} known and all facts right, "
        f"{range_text(last.success.value, last.success.interval)} of the {people.many} are found; guessing finds "
        f"{percent_text(baseline)}{one_in}. Bands are intervals at {percent_text(last.confidence)} confidence.",
    )


def _reference_levels(baseline: float, tolerance: float | None) -> tuple[tuple[float, str], ...]:
    """What guessing achieves, and what is tolerated."""
    guessing = (baseline, f"guessing: {percent_text(baseline)}")
    return (guessing,) if tolerance is None else (guessing, (tolerance, f"tolerated: {percent_text(tolerance)}"))


def _outcome_curve(
    outcomes: Sequence[Outcome], people: People, measure: Callable[[Outcome], Estimate], title: str, are: str
) -> Curve:
    """How many people ``are`` something, by how many facts are known."""
    some = [o for o in outcomes if len(o.rows)]
    found = [measure(o) for o in some]
    exact = all(o.exact for o in some)
    return Curve(
        title=title,
        kind="line",
        x_label=f"{plural_noun(people.fact_noun)} known, chosen at random",
        y_label=f"share of {people.many} that are {are}" if people.one == "row" else f"share of people who are {are}",
        x=tuple(float(o.known) for o in some),
        y=tuple(f.value for f in found),
        x_scale=axis_scale(some[-1].known),
        low=None if exact else tuple(f.interval[0] for f in found),
        high=None if exact else tuple(f.interval[1] for f in found),
        reading=f"With {count_text(some[-1].known, people.fact_noun)} known, "
        f"{range_text(found[-1].value, found[-1].interval)} of the {people.many} are {are}.",
    )


def _learned_curve(outcomes: Sequence[Outcome], people: People) -> Curve:
    """How much an attacker learns about the person, whichever record they name."""
    each = people.records.together
    some = [o for o in outcomes if len(o.rows)]
    found = [estimate_mean(o.learned / (each * o.support), o.confidence) for o in some if o.learned is not None]
    last, similar, values = found[-1], some[-1].similar_success, people.values
    assert similar is not None
    whoever = "whichever row" if people.one == "row" else "whoever"
    return Curve(
        title=f"How many of the person's {values} the attacker gets right, {whoever} they name",
        kind="line",
        x_label=f"{plural_noun(people.fact_noun)} known, chosen at random",
        y_label=f"share of the person's {values}, on average",
        x=tuple(float(o.known) for o in some),
        y=tuple(f.value for f in found),
        low=tuple(f.interval[0] for f in found),
        high=tuple(f.interval[1] for f in found),
        x_scale=axis_scale(some[-1].known),
        reading=f"With {count_text(some[-1].known, people.fact_noun)} known, the attacker gets "
        f"{range_text(last.value, last.interval)} of the person's {values} right on average. In "
        f"{range_text(similar.value, similar.interval)} of cases, they name a similar {people.one}: at least half of "
        f"the {values} that either has are the same.",
    )


def _support_curve(at: Outcome, people: People) -> Curve:
    """Who is easiest to find."""
    parts, values = at.success_by_support(), people.values
    names = [f"{p.low:,}" if p.low == p.high else f"{p.low:,}–{p.high:,}" for p in parts]
    best = max(range(len(parts)), key=lambda k: parts[k].success.value)
    having = f"{names[best]} {singular_noun(values) if parts[best].high == 1 else values}"
    upto = "up to " if parts[0].low < at.known else ""
    return Curve(
        title=f"Who is easiest to find: {people.many}, by number of {values}",
        kind="bars",
        x_label=f"{values} of a {people.one}",
        y_label=f"share of these {people.many} found",
        x=tuple(names),
        y=tuple(p.success.value for p in parts),
        low=None if at.exact else tuple(p.success.interval[0] for p in parts),
        high=None if at.exact else tuple(p.success.interval[1] for p in parts),
        x_scale="category",
        reading=f"With {upto}{count_text(at.known, people.fact_noun)} known, "
        f"{range_text(parts[best].success.value, parts[best].success.interval)} of the {people.many} with {having} are "
        "found.",
    )


def _exposed_people(outcome: Outcome, people: People, policy: Policy, run: Run) -> tuple[ExposedSubject, ...]:
    """The people who are found most easily, unless guessing finds them as easily."""
    rows, risk = (outcome.rows, outcome.found) if outcome.exact else _likeliest_found(outcome, people, run)
    place = people.row[rows]
    most = np.lexsort((place, -risk))[: run.exposed]
    drawn = "" if outcome.exact else f", on average over {_DRAWS_PER_PERSON} draws"
    return tuple(
        ExposedSubject(
            subject=f"row {row + 1:,}" if people.one == "row" else f"person of row {row + 1:,}",
            risk=chance,
            because=f"found by someone who knows {count_text(outcome.known, f'random {people.fact_noun}')}{drawn}",
            learns=policy.sensitive,
        )
        for row, chance in zip(place[most].tolist(), risk[most].tolist(), strict=True)
        if chance > 1 / outcome.records
    )


def _likeliest_found(outcome: Outcome, people: People, run: Run) -> tuple[Ints, Floats]:
    """Those who were found although few others fit, with their risk over many draws of what is known."""
    order = np.lexsort((outcome.rows, outcome.size, -outcome.found))[: _CHECKED_PER_EXPOSED * max(1, run.exposed)]
    rows = np.sort(outcome.rows[order])
    repeated = np.repeat(rows, _DRAWS_PER_PERSON)
    known = add_smaller_supports([outcome.known], people.support)
    again = attack_records(
        people.records, [least_support_adversary()], known, rng=run.rng("linkage.success exposed"), targets=repeated,
        equals=people.identical_counts, run=run,
    )  # fmt: skip
    found = np.zeros(people.records.n)
    for o in again.outcomes:
        own = (o.support == o.known) | (o.known == outcome.known)
        np.add.at(found, o.rows[own], o.found[own])
    return rows, found[rows] / _DRAWS_PER_PERSON


# ---- the own row -----------------------------------------------------------------------------------------------------


def _identical_ones_matter(right: Sequence[Outcome]) -> bool:
    """Whether it makes a difference that an identical record counts as found."""
    return any(percent_text(o.success.value) != percent_text(o.row_success.value) for o in right)


def _own_row_finding(right: Sequence[Outcome], attacker: RandomFactsAttacker, policy: Policy) -> Finding:
    people, at = attacker.people, _outcome_at(right, attacker.known)
    share, counting = range_text(at.row_success.value, at.row_success.interval), f"counting only the right {people.one}"
    return OWN_ROW.finding(
        policy,
        title=f"{capitalise_text(people.many)} found by someone who knows {attacker.facts}, {counting}",
        value=at.row_success.value,
        method=_method(at),
        interval=at.row_success.interval,
        confidence=at.confidence,
        subjects=attacker.subjects,
        share=at.row_success.interval,
        attacker=attacker.sentence,
        missing=MISSING,
        baseline=1 / at.records,
        sentence=f"Someone who knows {attacker.facts} finds {share} of the {people.many}. Finding "
        f"{_identical_one(people)} does not count here.",
        curves=(
            _outcome_curve(
                right, people, lambda o: o.row_success,
                f"{capitalise_text(people.many)} found, by number of {plural_noun(people.fact_noun)} known, {counting}",
                f"found, {counting}",
            ),
        ),
        source=MERENER,
    )  # fmt: skip


# ---- unicity ---------------------------------------------------------------------------------------------------------


def _unicity_finding(right: Sequence[Outcome], attacker: RandomFactsAttacker, policy: Policy, run: Run) -> Finding:
    people, at = attacker.people, _outcome_at(right, attacker.known)
    facts = count_text(attacker.known, "random rating" if people.has_ratings else "random value")
    single = verb(attacker.known, "singles", "single")
    share = range_text(at.unicity.value, at.unicity.interval)
    return UNICITY.finding(
        policy,
        title=f"{capitalise_text(people.many)} singled out by {attacker.facts}",
        value=at.unicity.value,
        method=_method(at),
        interval=at.unicity.interval,
        confidence=at.confidence,
        subjects=attacker.subjects,
        share=at.unicity.interval,
        attacker=attacker.sentence,
        missing=MISSING,
        sentence=f"{facts} of each {people.one} {single} out {share} of the {people.many}."
        f"{_worst_case_sentence(at, attacker, run)}",
        curves=(
            _outcome_curve(
                right, people, lambda o: o.unicity,
                f"{capitalise_text(people.many)} singled out, by number of {plural_noun(people.fact_noun)} known",
                "singled out",
            ),
        ),
        source=MONTJOYE,
    )  # fmt: skip


def _worst_case_sentence(at: Outcome, attacker: RandomFactsAttacker, run: Run) -> str:
    """How many are singled out by the facts that reveal most about each. Where all sets of facts were counted, whoever
    is ever alone is alone with the best of them. Nothing is said about ratings with dates, which are not searched."""
    people = attacker.people
    if people.records.together > 1:
        return ""
    whom, share = f"the {people.many}", percent_text(float((at.alone > 0).mean()))
    if not at.exact:
        worst = _sample_worst_case(people, attacker.known, run)
        found = estimate_mean(worst.least == 1, run.confidence)
        complete = found.count == attacker.subjects
        low, high = (found.value, found.value) if complete else found.interval
        share = at_least_text(low) if worst.truncated else range_text(found.value, (low, high))
        whom = whom if complete else f"{found.count:,} random {people.many}"
    value = "rating" if people.has_ratings else "value"
    best = "most revealing " + value
    if attacker.known > 1:
        best = f"{attacker.known:,} {plural_noun(best)}"
    return f" The {best} of each {people.one} {verb(attacker.known, 'singles', 'single')} out {share} of {whom}."


def _sample_worst_case(people: People, known: int, run: Run) -> WorstCase:
    """Some random people, each known by the facts that single them out best."""
    records = people.records
    rows = np.flatnonzero(records.support > 0)
    if len(rows) > _WORST_CASE_PEOPLE:
        rows = np.sort(run.rng("linkage.unicity worst").choice(rows, _WORST_CASE_PEOPLE, replace=False))
    return worst_case(records, known, targets=rows, work=_WORST_CASE_WORK, run=run)
