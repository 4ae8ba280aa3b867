"""The findings about how similar records are, and what that guarantees an attacker without attacking."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.arrays import Bools, Floats
from unveil.finding import Curve, Finding
from unveil.intervals import estimate_mean
from unveil.linkage.finding_text import HALF_FOUND, MERENER, MISSING, RARE_RANK, RandomFactsAttacker
from unveil.linkage.people import People
from unveil.linkage.risks import SPARSITY, SUCCESS_BOUND
from unveil.linkage.sparsity.long_tail import LongTail, attribute_tail
from unveil.linkage.sparsity.sparsity_function import SparsityFunction, measure_sparsity
from unveil.linkage.success_charts import curve_by_known, known_counts
from unveil.linkage.theorems.best_bound import best_bound, sparsity_steps
from unveil.linkage.theorems.record_agreement import agreement_bounds, agreement_work
from unveil.policy import Policy
from unveil.run import Run
from unveil.wording import at_least_text, capitalise_text, count_text, percent_text, plural_noun, range_text, verb

__all__ = ["sparsity_findings"]

_Steps = tuple[Floats, Floats]

_MAX_FULL_WORK = 30_000_000_000  # records times values up to which all pairs of records are compared: a few seconds
_SAMPLE_SIZE = 400
_MIN_SAMPLE = 100
_MAX_AGREEMENT_WORK = 1_000_000_000
_HALF_SHARED = 0.5
_MAX_RARE_SHARE = 0.5
_LEAST_TOLD_SHARE = 1e-4  # a guarantee that so few are found guarantees nothing


def sparsity_findings(attacker: RandomFactsAttacker, policy: Policy, run: Run) -> Iterator[Finding]:
    """Sparsity, and the success that it guarantees. Dates are left out: they could only tell people apart further; and
    so are people without a value, who would be similar to each other in nothing."""
    records = attacker.people.with_facts().records.part(0)
    sample = None if records.n * len(records.value) <= _MAX_FULL_WORK else _SAMPLE_SIZE
    found, popularity = measure_sparsity(records, sample=sample, run=run), attribute_tail(records)
    if run.asks(SPARSITY):
        yield _sparsity_finding(found, popularity, attacker, policy, run)
    if run.asks(SUCCESS_BOUND):
        yield _bound_finding(found, popularity, attacker, policy, run)


# ---- sparsity --------------------------------------------------------------------------------------------------------


def _sparsity_finding(
    found: SparsityFunction, popularity: LongTail, attacker: RandomFactsAttacker, policy: Policy, run: Run
) -> Finding:
    people = attacker.people
    value, interval = found.similar_share(_HALF_SHARED), found.interval(_HALF_SHARED, run.confidence)
    equal = range_text(found.similar_share(1), found.interval(1, run.confidence))
    rows = ", whichever rows they stand in" if people.fact_noun == "value" else ""
    dates = " Dates are not compared here." if people.records.attributes_per_fact > 1 else ""
    return SPARSITY.finding(
        policy,
        title=f"{capitalise_text(people.plural)} with a similar {people.singular} in the release"
        f"{f', comparing {attacker.title_columns}' if attacker.is_one_of_several else ''}",
        known=attacker.known_columns,
        value=value,
        method="exact" if found.exact else "simulation",
        interval=interval,
        confidence=run.confidence,
        subjects=attacker.subjects,
        attacker=attacker.sentence,
        missing=MISSING,
        sentence=f"{capitalise_text(range_text(value, interval))} of the {people.plural} have a similar "
        f"{people.singular}: at least half of the {people.values} that either has are the same. "
        f"{capitalise_text(equal)} have one with all {people.values} the same{rows}. The fewer {people.plural} have a "
        f"similar one, the less an attacker must know to find someone.{dates}{_rarity_sentence(popularity, people)}"
        f"{attacker.left_out_sentence}",
        curves=tuple(_sparsity_curves(found, popularity, people, run.confidence)),
        source=MERENER,
    )


def _rarity_sentence(popularity: LongTail, people: People) -> str:
    """How rare the rarer half of all items, values or columns is, if it is rare."""
    if not _has_long_tail(popularity):
        return ""
    most, share = percent_text(popularity.kappa(RARE_RANK)), capitalise_text(percent_text(popularity.share(RARE_RANK)))
    if people.has_ratings:
        return (
            f" Each item of the rarer half was rated by at most {most} of the people. {share} of the people rated at "
            "least one of these items."
        )
    if people.fact_noun == "value":
        return (
            f" Each value of the rarer half occurs for at most {most} of the people. {share} of the people have at "
            "least one of these values."
        )
    return (
        f" Each column of the emptier half has a value in at most {most} of the rows. {share} of the rows have a value "
        "in at least one of these columns."
    )


def _has_long_tail(popularity: LongTail) -> bool:
    """Whether only a minority has each of the rarer half of items, values or columns."""
    return popularity.kappa(RARE_RANK) <= _MAX_RARE_SHARE


def _sparsity_curves(
    found: SparsityFunction, popularity: LongTail, people: People, confidence: float
) -> Iterator[Curve]:
    sigma, share = found.curve(21)
    limits = [found.interval(s, confidence) for s in sigma]
    half = range_text(found.similar_share(_HALF_SHARED), found.interval(_HALF_SHARED, confidence))
    bands = "" if found.exact else f" Bands are intervals at {percent_text(confidence)} confidence."
    yield Curve(
        title=f"{capitalise_text(people.plural)} with a similar {people.singular}, by similarity",
        kind="line",
        x_label=f"similarity: shared {people.values} over all that either has",
        y_label=f"share of {people.plural} with a {people.singular} at least that similar",
        x=tuple(float(s) for s in sigma),
        y=tuple(float(s) for s in share),
        low=None if found.exact else tuple(low for low, _ in limits),
        high=None if found.exact else tuple(high for _, high in limits),
        reading=f"{capitalise_text(half)} of the {people.plural} have another {people.singular} of similarity 0.5 or "
        f"more: at least half of the {people.values} that either has are the same.{bands}",
    )
    if _has_long_tail(popularity):
        yield _popularity_curve(popularity, people)


def _popularity_curve(popularity: LongTail, people: People) -> Curve:
    """How many people have each item, value or column."""
    ranks, counts = popularity.curve(100)
    most, least = (percent_text(count / popularity.records) for count in (counts[0], counts[-1]))
    things, title, having, ends = {
        "rating": (
            "items",
            "How many people rated each item",
            "share of people who rated it",
            f"The most frequent item was rated by {most} of the people, the rarest by {least}.",
        ),
        "value": (
            "values",
            "How many people have each value",
            "share of people who have it",
            f"The most frequent value occurs for {most} of the people, the rarest for {least}.",
        ),
        "column": (
            "columns",
            "How many rows have a value in each column",
            "share of rows with a value",
            f"The fullest column has a value in {most} of the rows, the emptiest in {least}.",
        ),
    }[people.fact_noun]
    return Curve(
        title=title,
        kind="line",
        x_label=f"{things}, from the most frequent to the rarest",
        y_label=having,
        x=tuple(float(r) for r in ranks),
        y=tuple(float(c) / popularity.records for c in counts),
        x_scale="log",
        reading=f"{ends} The rarer something is, the more it reveals about who someone is.",
    )


# ---- what is guaranteed ----------------------------------------------------------------------------------------------


def _bound_finding(
    found: SparsityFunction, popularity: LongTail, attacker: RandomFactsAttacker, policy: Policy, run: Run
) -> Finding:
    people, known = attacker.people.with_facts(), attacker.known
    records = people.records.part(0)
    ms = [m for m in known_counts(known, int(people.support.max())) if (records.support >= m).any()]
    each = 1 - (1 - run.confidence) / (2 + len(ms))  # so that all bounds hold together
    having = {m: _sparsity_among(found, records.support >= m, each) for m in ms}
    some = int((records.support > 0).sum())
    share = {m: int((records.support >= m).sum()) / some for m in ms}
    theorem = {m: 0.0 if f is None else share[m] * best_bound(records.n, m, f).p for m, f in having.items()}
    rare = _rare_bounds(found, popularity, people, ms, each) if people.has_ratings else {}
    counted, sampled = _counted_bounds(people, ms, each, run)
    value = max(theorem[known], counted[known])
    confidence = run.confidence if sampled or not found.exact else None
    return SUCCESS_BOUND.finding(
        policy,
        title=f"Guaranteed share of {people.plural} found by someone who knows {attacker.facts_in_title}",
        known=attacker.known_columns,
        value=value,
        method="bound",
        interval=(value, 1.0),
        confidence=confidence,
        subjects=attacker.subjects,
        share=(value, 1.0),
        attacker=attacker.sentence,
        missing=MISSING,
        sentence=_bound_sentence(counted[known], theorem, attacker, confidence)
        + _rare_bound_sentence(rare, known, confidence),
        curves=(_guarantee_curve(theorem, rare, counted, people),),
        source=f"{MERENER}, Theorem 8(a) with its two errors apart, Theorem 11, and the union bound over the records "
        "at hand",
    )


def _bound_sentence(
    counting: float, theorem: dict[int, float], attacker: RandomFactsAttacker, confidence: float | None
) -> str:
    people, by_theorem = attacker.people, theorem[attacker.known]
    sure = _confidence_text(confidence)
    if not counting and not by_theorem:
        text = (
            f"No theorem guarantees that someone who knows {attacker.facts} finds anyone; an attack may find people "
            "all the same."
        )
    else:
        value, many = max(counting, by_theorem), people.plural
        because = f"how many {people.values} {many} share" if counting >= by_theorem else f"how similar {many} are"
        share = "all" if value == 1 else at_least_text(value)
        text = (
            f"Someone who knows {attacker.facts} finds {share} of the {many}{sure}. This is calculated from {because}; "
            "no attack was run."
        )
    reached = next((m for m, p in theorem.items() if p >= HALF_FOUND), None)
    if reached is None:
        return text
    enough = f"{count_text(reached, f'random {people.fact_noun}')} {verb(reached, 'is', 'are')} enough"
    return f"{text} By a theorem on sparse data, {enough} to find at least half of the {people.plural}{sure}."


def _confidence_text(confidence: float | None) -> str:
    return "" if confidence is None else f", with {percent_text(confidence)} confidence"


def _rare_bound_sentence(rare: dict[int, float], known: int, confidence: float | None) -> str:
    if rare.get(known, 0.0) < _LEAST_TOLD_SHARE:
        return ""
    others = f" and {count_text(known - 1, 'random other')}" if known > 1 else ""
    share = "all are" if rare[known] == 1 else f"{at_least_text(rare[known])} are"
    return (
        f" Of the people with at least {count_text(known, 'rating')}, one of them of an item in the rarer half, "
        f"{share} found by someone who knows such a rating{others}, by a theorem{_confidence_text(confidence)}."
    )


def _sparsity_among(found: SparsityFunction, some: Bools, confidence: float) -> _Steps | None:
    """f of some records only, or what it is at most with this confidence; None if none of them was looked at."""
    own = some[found.found.rows]
    if not own.any():
        return None
    part = SparsityFunction(found.found.select(own), int(some.sum()))
    return sparsity_steps(part.found.similarity) if part.exact else part.upper_curve(101, confidence)


def _rare_bounds(
    found: SparsityFunction, popularity: LongTail, people: People, ms: list[int], confidence: float
) -> dict[int, float]:
    """What the theorem guarantees about those who have something rare, if it is among what is known."""
    records = people.records.part(0)
    some, kappa, bounds = np.zeros(records.n, np.bool_), popularity.kappa(RARE_RANK), dict[int, float]()
    some[popularity.rows(RARE_RANK)] = True
    for m in ms:
        near = _sparsity_among(found, some & (records.support >= m), confidence)
        if near is not None:
            bounds[m] = best_bound(records.n, m, near, theorem="8(a), long tail", kappa=kappa).p
    return bounds


def _counted_bounds(people: People, ms: list[int], confidence: float, run: Run) -> tuple[dict[int, float], bool]:
    """What the agreement of records with all others guarantees for each number of known facts, with this confidence
    each if only a sample was counted; and whether it was."""
    records = people.records.part(0)
    count = max(_MIN_SAMPLE, int(_MAX_AGREEMENT_WORK / agreement_work(records)))
    rows = np.flatnonzero(records.support >= 1)
    sampled = len(rows) > count
    if sampled:
        rows = np.sort(run.rng("linkage.success_bound").choice(rows, count, replace=False))
    found = agreement_bounds(records, rows, ms, run)
    return {
        m: _mean_bound(found.union[:, j], found.jensen[:, j], sampled, confidence) for j, m in enumerate(ms)
    }, sampled


def _mean_bound(union: Floats, jensen: Floats, sampled: bool, confidence: float) -> float:
    """The better of two bounds on the mean."""
    there = ~np.isnan(union)
    if not there.any():
        return 0.0
    each = 1 - (1 - confidence) / 2
    if sampled:
        return max(estimate_mean(x[there], each).sure[0] for x in (union, jensen))
    return max(float(np.sort(x[there]).mean()) for x in (union, jensen))


def _guarantee_curve(
    theorem: dict[int, float], rare: dict[int, float], counted: dict[int, float], people: People
) -> Curve:
    lines = {
        "by counting agreement": counted,
        "by the theorem": theorem,
        "by the theorem, one fact rare": rare,
    }
    points = [(name, point) for name, line in lines.items() for point in line.items()]
    last, p = list(counted.items())[-1]
    return curve_by_known(
        people,
        [m for _, (m, _) in points],
        [value for _, (_, value) in points],
        title=f"Guaranteed share of {people.plural} found, by number of {plural_noun(people.fact_noun)} known",
        y_label=f"guaranteed share of {people.plural} found",
        series=tuple(name for name, _ in points),
        reading=f"With {count_text(last, people.fact_noun)} known, counting shared {people.values} guarantees "
        f"{percent_text(p)} and the theorem {percent_text(theorem[last])}.",
    )
