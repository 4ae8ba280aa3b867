"""The charts of what attackers achieve, by how many facts they know or by whom they look for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from unveil.finding import Curve
from unveil.intervals import Estimate, estimate_mean
from unveil.linkage.attack.experiment import Outcome
from unveil.linkage.finding_text import RandomFactsAttacker, estimate_text, lead_curve
from unveil.linkage.people import People
from unveil.wording import capitalise_text, count_text, percent_text, plural_noun, singular_noun

__all__ = ["AttackerCurve", "curve_by_known", "known_counts", "outcome_at", "outcome_curve", "success_curves"]

_MAX_POINTS = 12
_RARE_GUESS = 0.1  # below this, a share of guesses is also written as 1 in so many


class AttackerCurve(NamedTuple):
    """What one attacker achieves, by how many facts are known."""

    name: str
    outcomes: tuple[Outcome, ...]


def known_counts(known: int, most: int) -> list[int]:
    """How many facts are known in turn: all numbers if they are few, else further and further apart. A curve ends early
    if there are thousands of facts about a person."""
    few = [m for m in range(1, most + 1) if m <= _MAX_POINTS // 2]
    step, far = 2, list[int]()
    while (few + far)[-1] < min(most, max(24, 4 * known)):
        far += [min(most, (few + far)[-1] + step)]
        step += len(far) % 2
    return sorted({*(range(1, most + 1) if most <= _MAX_POINTS else few + far), known})


def outcome_at(outcomes: Sequence[Outcome], known: int) -> Outcome:
    """The outcome if this many facts are known."""
    return next(o for o in outcomes if o.known == known)


def curve_by_known(
    people: People,
    known: Sequence[int],
    shares: Sequence[float],
    intervals: Sequence[tuple[float, float]] | None = None,
    **texts: Any,
) -> Curve:
    """A share for each number of known facts. Where a curve goes far, its first few points matter most."""
    scale: Literal["linear", "log"] = "log" if max(known) > _MAX_POINTS else "linear"
    return Curve(
        kind="line",
        x_label=f"{plural_noun(people.fact_noun)} known, chosen at random",
        x=tuple(float(m) for m in known),
        y=tuple(shares),
        low=None if intervals is None else tuple(low for low, _ in intervals),
        high=None if intervals is None else tuple(high for _, high in intervals),
        x_scale=scale,
        **texts,
    )


def outcome_curve(
    outcomes: Sequence[Outcome], people: People, measure: Callable[[Outcome], Estimate], are: str
) -> Curve:
    """How many people ``are`` something, by how many facts are known."""
    some = [o for o in outcomes if len(o.rows)]
    found = [measure(o) for o in some]
    return curve_by_known(
        people,
        [o.known for o in some],
        [f.value for f in found],
        None if all(o.exact for o in some) else [f.interval for f in found],
        title=f"{capitalise_text(people.plural)} {are}, by number of {plural_noun(people.fact_noun)} known",
        y_label=f"share of {people.plural} {people.relative_pronoun} are {are}",
        reading=f"With {count_text(some[-1].known, people.fact_noun)} known, {estimate_text(found[-1])} of the "
        f"{people.plural} are {are}.",
    )


def success_curves(
    right: Sequence[Outcome],
    others: Mapping[str, AttackerCurve],
    attacker: RandomFactsAttacker,
    tolerance: float | None,
) -> Iterator[Curve]:
    """The success of all attackers, what is learned, who is easiest to find, and how far the best match leads."""
    people, at = attacker.people, outcome_at(right, attacker.known)
    yield _success_curve(right, others, people, tolerance)
    yield _learned_curve(others["alike"].outcomes, people)
    if len(at.success_by_support()) > 1:
        yield _support_curve(at, people)
    scored = outcome_at(others["scores"].outcomes, attacker.known)
    if len(scored.lead):
        facts = count_text(attacker.known, people.fact_noun)
        yield lead_curve(scored.lead, people.plural, f"With {facts} known, ", scored.confidence)


def _success_curve(
    right: Sequence[Outcome], others: Mapping[str, AttackerCurve], people: People, tolerance: float | None
) -> Curve:
    named = [others[key] for key in ("any", "bare", "scores", "wrong", "rare") if key in others]
    lines = [AttackerCurve("all facts right", tuple(right)), *named]
    points = [(line.name, o) for line in lines for o in line.outcomes if len(o.rows)]
    last = right[-1]
    baseline = last.baseline
    one_in = f" (1 in {round(1 / baseline):,})" if baseline < _RARE_GUESS else ""
    levels = [(baseline, f"guessing: {percent_text(baseline)}")]
    if tolerance is not None:
        levels.append((tolerance, f"tolerated: {percent_text(tolerance)}"))
    return curve_by_known(
        people,
        [o.known for _, o in points],
        [o.success.value for _, o in points],
        [o.success.interval for _, o in points],
        title=f"{capitalise_text(people.plural)} found, by number of {plural_noun(people.fact_noun)} known",
        y_label=f"share of {people.plural} found",
        series=tuple(name for name, _ in points),
        levels=tuple(levels),
        reading=f"With {count_text(last.known, people.fact_noun)} known and all facts right, "
        f"{estimate_text(last.success)} of the {people.plural} are found; guessing finds {percent_text(baseline)}"
        f"{one_in}. Bands are intervals at {percent_text(last.confidence)} confidence.",
    )


def _learned_curve(outcomes: Sequence[Outcome], people: People) -> Curve:
    """How much an attacker learns about the person, whichever record they name."""
    some = [o for o in outcomes if len(o.rows)]
    each = people.records.attributes_per_fact
    found = [estimate_mean(o.learned / (each * o.support), o.confidence) for o in some if o.learned is not None]
    similar, values = some[-1].similar_success, people.values
    assert similar is not None
    whoever = "whichever row" if people.singular == "row" else "whoever"
    return curve_by_known(
        people,
        [o.known for o in some],
        [f.value for f in found],
        [f.interval for f in found],
        title=f"How many of the person's {values} the attacker gets right, {whoever} they name",
        y_label=f"share of the person's {values}, on average",
        reading=f"With {count_text(some[-1].known, people.fact_noun)} known, the attacker gets "
        f"{estimate_text(found[-1])} of the person's {values} right on average. In {estimate_text(similar)} of cases, "
        f"they name a similar {people.singular}: at least half of the {values} that either has are the same.",
    )


def _support_curve(at: Outcome, people: People) -> Curve:
    """Who is easiest to find."""
    parts, values = at.success_by_support(), people.values
    names = [f"{p.low:,}" if p.low == p.high else f"{p.low:,}–{p.high:,}" for p in parts]
    best = max(range(len(parts)), key=lambda k: parts[k].success.value)
    having = f"{names[best]} {singular_noun(values) if parts[best].high == 1 else values}"
    upto = "up to " if parts[0].low < at.known else ""
    return Curve(
        title=f"Who is easiest to find: {people.plural}, by number of {values}",
        kind="bars",
        x_label=f"{values} of a {people.singular}",
        y_label=f"share of these {people.plural} found",
        x=tuple(names),
        y=tuple(p.success.value for p in parts),
        low=None if at.exact else tuple(p.success.interval[0] for p in parts),
        high=None if at.exact else tuple(p.success.interval[1] for p in parts),
        x_scale="category",
        reading=f"With {upto}{count_text(at.known, people.fact_noun)} known, {estimate_text(parts[best].success)} of "
        f"the {people.plural} with {having} are found.",
    )
