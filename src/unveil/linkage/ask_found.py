"""The findings about someone who attacks: how often people are found, and how often nobody else fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unveil.finding import Curve, Exposed, Finding
from unveil.linkage.attack.adversaries import Adversary, bare, eccentric, likeliest, scoreboard, smallest
from unveil.linkage.attack.auxiliary import Knowledge
from unveil.linkage.attack.experiment import Floats, Ints, Outcome, attack, everyone, with_shorter
from unveil.linkage.attack.success import TARGETS, success
from unveil.linkage.attack.worst import Worst, worst_case
from unveil.linkage.intervals import Estimate, estimated
from unveil.linkage.people import People
from unveil.linkage.telling import MERENER, MONTJOYE, NARAYANAN, PHI, RARE, lead, maker, with_interval
from unveil.policy import Policy
from unveil.run import Run
from unveil.wording import counted, percent

__all__ = ["found_findings", "numbers", "scale"]

_FEW_TARGETS = 100
_WORK = 50_000_000  # records that are scored for each number of things known
_POINTS = 12
_LIKELY = 0.5
_WRONG = 0.1
_ALIKE = 0.5
_LOOKED, _DRAWS = 10, 50  # people looked at for each one that is listed, and draws for each of them
_WORST = 1_000  # people for whom the worst is looked for
_LOOKED_AT = 1_000_000_000


def found_findings(people: People, known: int, policy: Policy, run: Run) -> Iterator[Finding]:
    """Success with so many things known, and unicity."""
    ms = numbers(known, int(people.support.max()))
    right = success(
        people.records, ms, rng=run.rng("linkage.success"), equals=people.equals, confidence=run.confidence, run=run
    )
    make = maker(people, known, policy)
    yield _success(right, _others(people, ms, run), people, known, policy, run, make)
    if policy.tolerated("linkage.own_row") is not None or _differs(right):
        yield _own_row(right, people, known, make)
    singled_out = _singled_out(_at(right, known), people, known, run)
    yield _unicity(right, singled_out, people, known, make)


def _worst(people: People, known: int, run: Run) -> Worst:
    """What is found by someone who knows what singles each of some random people out best."""
    records = people.records
    rows = np.flatnonzero(records.support > 0)
    if len(rows) > _WORST:
        rows = np.sort(run.rng("linkage.unicity worst").choice(rows, _WORST, replace=False))
    return worst_case(records, known, targets=rows, work=_LOOKED_AT, run=run)


@dataclass(frozen=True, eq=False)
class _Line:
    """One attacker's curve."""

    name: str
    outcomes: tuple[Outcome, ...]


def _others(people: People, ms: Sequence[int], run: Run) -> dict[str, _Line]:
    """Attackers beside the one whose facts are right and who makes the best of them."""
    records = people.records
    fewer = max(_FEW_TARGETS, min(TARGETS, _WORK // records.n))  # where all records are looked at for each

    def played(key: str, name: str, adversary: Adversary, targets: int = TARGETS, **more: Any) -> tuple[str, _Line]:
        rng = run.rng(f"linkage.success {key}")
        found = attack(
            records, [adversary], with_shorter(ms, people.support), rng=rng, targets=min(targets, records.n),
            equals=people.equals, confidence=run.confidence, run=run, **more,
        )  # fmt: skip
        return key, _Line(name, everyone(found.outcomes, ms))

    valued = records.value.max(initial=0) > 0  # otherwise things are had or not, and a wrong one is one not had
    amiss = Knowledge(wrong=_WRONG) if valued else Knowledge(elsewhere=_WRONG)
    expecting = likeliest(wrong=_WRONG, elsewhere=0.0 if valued else _WRONG)
    lines = [
        played("wrong", "one fact in ten wrong", expecting, fewer, knowledge=amiss),
        played("scores", "best score, if it stands out", eccentric(PHI), fewer),
        played("alike", "similar", smallest(), fewer, sigma=_ALIKE),
    ]
    if int(people.support.min()) < int(people.support.max()):
        lines.append(played("any", f"any {people.one} that fits", scoreboard()))
    if records.density < 1 and valued:
        lines.append(played("bare", f"without values: which {people.thing}s there are", bare()))
    if people.rated:
        lines.append(played("rare", "one of the facts rare", smallest(), knowledge=Knowledge(rare=RARE)))
    return dict(lines)


def numbers(known: int, most: int) -> list[int]:
    """How many things are known in turn: all numbers if they are few, else further and further apart."""
    few = [m for m in range(1, most + 1) if m <= _POINTS // 2]
    step, far = 2, list[int]()
    while (few + far)[-1] < min(most, _reach(known)):
        far += [min(most, (few + far)[-1] + step)]
        step += len(far) % 2
    return sorted({*(range(1, most + 1) if most <= _POINTS else few + far), known})


def _reach(known: int) -> int:
    """How far a curve goes where people have thousands of things."""
    return max(24, 4 * known)


def scale(most: int) -> Literal["linear", "log"]:
    """Where numbers of things are far apart, the first few are what matters."""
    return "log" if most > _POINTS else "linear"


def _at(outcomes: Sequence[Outcome], known: int) -> Outcome:
    return next(o for o in outcomes if o.known == known)


def _measured(at: Outcome, found: Estimate) -> dict[str, Any]:
    """How a share was found, and how sure it is."""
    sampled = {"method": "simulation", "interval": found.interval, "confidence": at.confidence}
    return {**({"method": "exact"} if at.exact else sampled), "share": found.interval}


# ---- success ---------------------------------------------------------------------------------------------------------


def _success(
    right: Sequence[Outcome],
    others: dict[str, _Line],
    people: People,
    known: int,
    policy: Policy,
    run: Run,
    make: Any,
) -> Finding:
    at, off = _at(right, known), _at(others["wrong"].outcomes, known)
    found: Finding = make(
        "linkage.success",
        f"{people.many.capitalize()} found by someone who knows {counted(known, f'random {people.thing}')}",
        at.success.value,
        _said(right, off, people, known, policy),
        **_measured(at, at.success),
        baseline=at.baseline,
        curves=tuple(_curves(right, others, people, known, policy.tolerated("linkage.success"))),
        exposed=_exposed(at, people, policy, run),
        source=f"{MERENER}; {NARAYANAN}",
    )
    return found


def _differs(right: Sequence[Outcome]) -> bool:
    """Whether some are as good as others, which are found in their place."""
    return any(percent(o.success.value) != percent(o.row_success.value) for o in right)


def _own_row(right: Sequence[Outcome], people: People, known: int, make: Any) -> Finding:
    at = _at(right, known)
    share = with_interval(at.row_success.value, at.row_success.interval)
    only = f"their own {people.one}" if people.one == "row" else "themselves"
    found: Finding = make(
        "linkage.own_row",
        f"{people.many.capitalize()} found by someone who knows {counted(known, f'random {people.thing}')}, counting "
        f"only {only}",
        at.row_success.value,
        f"For {share} of the {people.many}, it is {only} that someone finds who knows "
        f"{counted(known, people.thing)}, and not one that is equal in everything released.",
        **_measured(at, at.row_success),
        baseline=1 / at.records,
        curves=(
            _line_of(
                f"The same by how many {people.thing}s are known", right, people, lambda o: o.row_success,
                f"share of {people.many} found",
            ),
        ),
        source=MERENER,
    )  # fmt: skip
    return found


def _said(right: Sequence[Outcome], off: Outcome, people: People, known: int, policy: Policy) -> str:
    at = _at(right, known)
    value, row = at.success.value, at.row_success
    share, own = with_interval(value, at.success.interval), with_interval(row.value, row.interval)
    apart = f" ({own} if equal ones do not count)" if percent(row.value) != percent(value) else ""
    less = with_interval(off.success.value, off.success.interval) if off.success.value < value else "about as many"
    said = (
        f"With {counted(known, people.thing)} known, {share} of the {people.many} are found{apart}, {less} if "
        f"one fact in ten is wrong. {_crossings(right, people, policy)}"
    )
    short, none = int((people.support < known).sum()), int((people.support == 0).sum())
    if short > none:
        said += f" Of {counted(short - none, people.one, people.many)} with fewer {people.values} all were known."
    if none:
        said += f" {counted(none, people.one, people.many)} without any were left out."
    if policy.things_known > known:
        said += f" Nobody has {policy.things_known:,}."
    if people.left_out:
        said += f" {counted(people.left_out, 'rating')} without a value or date were left out."
    return said


def _crossings(outcomes: Sequence[Outcome], people: People, policy: Policy) -> str:
    """From how many things on more are found than is tolerated, and one in two."""
    tolerance = policy.tolerated("linkage.success")
    likely = _crossing(outcomes, people, lambda share: share >= _LIKELY, "fewer than one in two is", "one in two is")
    if tolerance is None:
        return likely
    few, many = (
        f"no more than the tolerated {percent(tolerance)} are",
        f"more than the tolerated {percent(tolerance)} are",
    )
    return f"{_crossing(outcomes, people, lambda share: share > tolerance, few, many)} {likely}"


def _crossing(outcomes: Sequence[Outcome], people: People, over: Callable[[float], bool], few: str, many: str) -> str:
    """From how many things on ``many`` found."""

    def reached(success: Callable[[Outcome], float]) -> int | None:
        under = [o.known for o in outcomes if not over(success(o))]
        return next((o.known for o in outcomes if o.known > max(under, default=0)), None)

    first = reached(lambda o: o.success.value)
    sure = reached(lambda o: o.success.interval[0]) == reached(lambda o: o.success.interval[1])
    far = "" if sure else ", as far as the draws tell"
    if first is None:
        last, most = outcomes[-1].known, int(people.support.max())
        all_of = f"However many {people.thing}s are" if last == most else f"With up to {counted(last, people.thing)}"
        return f"{all_of} known, {few} found{far}."
    if first > 1 and first == int(people.support.max()):
        return f"Only with all {first:,} known {many} found{far}."
    before = max((o.known for o in outcomes if o.known < first), default=0)
    gap = "" if before == first - 1 else ", if not before"
    return f"From {counted(first, f'known {people.thing}')} on{gap}, {many} found{far}."


def _curves(
    right: Sequence[Outcome], others: dict[str, _Line], people: People, known: int, tolerance: float | None
) -> Iterator[Curve]:
    yield _by_known(right, others, people, tolerance)
    yield _learned(others["alike"].outcomes, people)
    if len(_at(right, known).by_support()) > 1:
        yield _by_support(_at(right, known), people)
    scored = _at(others["scores"].outcomes, known)
    if len(scored.apart):
        yield lead(scored.apart, people.many, f"With {counted(known, people.thing)} known: ", scored.confidence)


def _by_known(right: Sequence[Outcome], others: dict[str, _Line], people: People, tolerance: float | None) -> Curve:
    """Success of all attackers."""
    named = [others[key] for key in ("any", "bare", "scores", "wrong", "rare") if key in others]
    lines = [_Line("all facts right", tuple(right)), *named]
    points = [(line.name, o) for line in lines for o in line.outcomes if len(o.rows)]
    ends = {line.name: line.outcomes[-1] for line in lines if len(line.outcomes[-1].rows)}
    last = ends[lines[0].name]
    baseline = last.baseline
    return Curve(
        title=f"{people.many.capitalize()} found by how many {people.thing}s are known",
        kind="line",
        x_label=f"{people.thing}s known, chosen at random",
        y_label=f"share of {people.many} found",
        x=tuple(float(o.known) for _, o in points),
        y=tuple(o.success.value for _, o in points),
        low=tuple(o.success.interval[0] for _, o in points),
        high=tuple(o.success.interval[1] for _, o in points),
        series=tuple(name for name, _ in points),
        levels=_levels(baseline, tolerance),
        x_scale=scale(last.known),
        reading=f"With all facts right, {percent(last.success.value)} are found with "
        f"{counted(last.known, people.thing)} known; bands are intervals at {percent(last.confidence)} confidence, and "
        f"guessing finds {percent(baseline)}, 1 in {round(1 / baseline):,}.",
    )


def _levels(baseline: float, tolerance: float | None) -> tuple[tuple[float, str], ...]:
    """What guessing achieves, and what is tolerated."""
    guessing = (baseline, f"guessing: {percent(baseline)}")
    return (guessing,) if tolerance is None else (guessing, (tolerance, f"tolerated: {percent(tolerance)}"))


def _line_of(title: str, outcomes: Sequence[Outcome], people: People, which: Any, label: str) -> Curve:
    """One number of one attacker by how much is known."""
    some = [o for o in outcomes if len(o.rows)]
    found: list[Estimate] = [which(o) for o in some]
    exact = all(o.exact for o in some)
    return Curve(
        title=title,
        kind="line",
        x_label=f"{people.thing}s known, chosen at random",
        y_label=label,
        x=tuple(float(o.known) for o in some),
        y=tuple(f.value for f in found),
        x_scale=scale(some[-1].known),
        low=None if exact else tuple(f.interval[0] for f in found),
        high=None if exact else tuple(f.interval[1] for f in found),
        reading=f"With {counted(some[-1].known, people.thing)} known: {percent(found[-1].value)}.",
    )


def _learned(outcomes: Sequence[Outcome], people: People) -> Curve:
    """How much of what is named is true, whoever was named."""
    each = people.records.together
    some = [o for o in outcomes if len(o.rows)]
    found = [estimated(o.learned / (each * o.support), o.confidence) for o in some if o.learned is not None]
    last, similar, values = found[-1], some[-1].similar_success, people.values
    assert similar is not None
    alike = (
        f" {with_interval(similar.value, similar.interval)} of those named share half of all {values} that either has."
    )
    return Curve(
        title="How much is right of what is named, whoever it is",
        kind="line",
        x_label=f"{people.thing}s known, chosen at random",
        y_label=f"share of the person's {values}, on average",
        x=tuple(float(o.known) for o in some),
        y=tuple(f.value for f in found),
        low=tuple(f.interval[0] for f in found),
        high=tuple(f.interval[1] for f in found),
        x_scale=scale(some[-1].known),
        reading=f"With {counted(some[-1].known, people.thing)} known, {percent(last.value)} of {values} are right."
        f"{alike}",
    )


def _by_support(at: Outcome, people: People) -> Curve:
    """Who is easiest to find."""
    parts = at.by_support()
    names = [f"{p.low:,}" if p.low == p.high else f"{p.low:,}–{p.high:,}" for p in parts]
    best = max(range(len(parts)), key=lambda k: parts[k].success.value)
    values = people.values
    return Curve(
        title=f"Who is easiest to find: {people.many} by how many {values} they have",
        kind="bars",
        x_label=f"{values} of a {people.one}",
        y_label=f"share of these {people.many} found",
        x=tuple(names),
        y=tuple(p.success.value for p in parts),
        low=None if at.exact else tuple(p.success.interval[0] for p in parts),
        high=None if at.exact else tuple(p.success.interval[1] for p in parts),
        x_scale="category",
        reading=f"With {counted(at.known, people.thing)} known, {percent(parts[best].success.value)} of those with "
        f"{names[best]} {values} are found.",
    )


def _exposed(outcome: Outcome, people: People, policy: Policy, run: Run) -> tuple[Exposed, ...]:
    rows, risk = (outcome.rows, outcome.found) if outcome.exact else _likeliest(outcome, people, run)
    place = people.row[rows]
    most = np.lexsort((place, -risk))[: run.exposed]
    drawn = "" if outcome.exact else f", on average of {_DRAWS} draws"
    return tuple(
        Exposed(
            subject=f"row {row + 1:,}" if people.one == "row" else f"person of row {row + 1:,}",
            risk=chance,
            because=f"found with {counted(outcome.known, f'random {people.thing}')} known{drawn}",
            learns=policy.sensitive,
        )
        for row, chance in zip(place[most].tolist(), risk[most].tolist(), strict=True)
        if chance > 1 / outcome.records
    )


def _likeliest(outcome: Outcome, people: People, run: Run) -> tuple[Ints, Floats]:
    """Those who were found, few others fitting, with what they risk over many draws of what is known."""
    order = np.lexsort((outcome.rows, outcome.size, -outcome.found))[: _LOOKED * max(1, run.exposed)]
    rows = np.sort(outcome.rows[order])
    many = np.repeat(rows, _DRAWS)
    known = with_shorter([outcome.known], people.support)
    again = attack(
        people.records, [smallest()], known, rng=run.rng("linkage.success exposed"), targets=many,
        equals=people.equals, run=run,
    )  # fmt: skip
    found = np.zeros(people.records.n)
    for o in again.outcomes:
        own = (o.support == o.known) | (o.known == outcome.known)
        np.add.at(found, o.rows[own], o.found[own])
    return rows, found[rows] / _DRAWS


# ---- unicity ---------------------------------------------------------------------------------------------------------


def _unicity(right: Sequence[Outcome], singled_out: str, people: People, known: int, make: Any) -> Finding:
    at, random = _at(right, known), "random rating" if people.rated else "random value"
    share = with_interval(at.unicity.value, at.unicity.interval)
    found: Finding = make(
        "linkage.unicity",
        f"{people.many.capitalize()} {people.who} are unique given {counted(known, f'random {people.thing}')}",
        at.unicity.value,
        f"{share} of the {people.many} are the only ones with {counted(known, random)} of theirs."
        f"{singled_out}",
        **_measured(at, at.unicity),
        curves=(
            _line_of(
                f"Unique {people.many} by how many {people.thing}s are known", right, people, lambda o: o.unicity,
                f"share of {people.many} {people.who} are unique",
            ),
        ),
        source=MONTJOYE,
    )  # fmt: skip
    return found


def _singled_out(at: Outcome, people: People, known: int, run: Run) -> str:
    """How many are unique in the worst case, in words. Who is ever alone, where all sets were counted, is so in the
    worst. Dates that come with ratings are not looked at: nothing is said then."""
    if people.records.together > 1:
        return ""
    of, share = f"the {people.many}", percent(float((at.alone > 0).mean()))
    if not at.exact:
        worst, everyone = _worst(people, known, run), int((people.support > 0).sum())
        found = estimated(worst.least == 1, run.confidence)
        low, high = (found.value,) * 2 if found.count == everyone else found.interval
        share = f"at least {percent(low)}" if worst.truncated else with_interval(found.value, (low, high))
        of = of if found.count == everyone else f"{found.count:,} random {people.many}"
    return f" Given the {known} that single each out best, {share} of {of} are."
