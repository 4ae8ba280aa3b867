"""Weigh protections against each other: fit each of them to several goals for numbers of connections, attack the
results, and measure what they can still be used for.

:func:`unveil.protect` makes one release that is within tolerance. Here nothing is released: the question is what more
protection costs, and by which method it costs least. Protections that draw at random are applied several times, since
one result says little about them (Vanhoef, *Privacy in databases*, 2012, section 9.6.2).
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unveil import questions
from unveil.assess import assess_resolved, check_input, make_run, resolve
from unveil.assessment import Assessment, Summary
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.owner_key import load_owner_key
from unveil.policy import Policy
from unveil.protect import offered_protections
from unveil.protection import ProtectionOffer
from unveil.protection_front import unbeaten_protections
from unveil.provenance import make_provenance
from unveil.question import Question, WeighedBy
from unveil.release.kinds import check_kind
from unveil.risk import Risk
from unveil.run import Progress, Run
from unveil.settings import option_text
from unveil.usefulness.repeated_measure import RepeatedMeasure, summarise_releases
from unveil.usefulness.use_measure import UseMeasure
from unveil.weighed_protections import WeighedProtection, WeighedProtections
from unveil.wording import capitalise_text, list_text, safe_text

if TYPE_CHECKING:
    from unveil.finding import Finding

__all__ = ["MOST_METHODS", "weigh"]

MOST_METHODS = 6
"""How many protections are weighed at once: more lines could not be told apart."""


def weigh(
    release: Any,
    policy: Policy | None = None,
    *,
    goal: str,
    limits: Sequence[float],
    methods: Sequence[str] = (),
    releases: int = 5,
    attack_all: bool = False,
    only: str | Sequence[str] | None = None,
    progress: Progress | None = None,
) -> WeighedProtections:
    """What each protection costs at several goals, and what it leaves to attackers. Nothing is released.

    Parameters
    ----------
    release, policy, progress
        As for :func:`unveil.protect`. Other tolerances stay as the policy sets them and shape what is made.
    goal
        The risk whose tolerance is varied: ``"network.degree_k"`` or ``"network.degree_unique"``.
    limits
        What must hold of it: each protection is fitted to each of these.
    methods
        The protections, by their names, at most six. By default those that :func:`unveil.protect` tries by itself.
    releases
        How many releases are made by a protection that draws at random; their mean and variance are given.
    attack_all
        Whether all of these releases are attacked, instead of the first alone.
    only
        Questions or single risks to ask about, as for :func:`unveil.assess`.
    """
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    case, policy = check_input(release, policy)
    question, by = _weighing_question(case)
    risk = _check_goal(by, goal, limits)
    if releases < 1:
        raise UnveilError("at least one release must be made of each protection")
    run = replace(make_run(case, policy, only=only, exposed=0, progress=progress), charts=False)
    run = run if run.only is None else replace(run, only=run.only | {risk.id})
    resolved = resolve(case, policy, run)
    offered = _offers_to_weigh(case, _with_goal(policy, risk, limits[0]), risk, methods, run)
    place = _Place(run.progress)
    runs = tuple(replace(run, seed=run.seed + i, progress=place.report) for i in range(releases))
    before = assess_resolved(resolved, runs[0])
    scale = _Scale(question, risk, by, runs, attack_all, before, place)
    steps = [(name, limit) for name in offered for limit in sorted(set(limits))]
    made = list[WeighedProtection]()
    for name, limit in steps:
        place.move(f"{name} at {risk.limit_text(limit)}: ", len(made) / len(steps))
        made.append(_weigh_one(name, offered[name], limit, case, policy, scale))
    best = {id(p) for p in unbeaten_protections(made)}
    was = _findings_as_measures(before.findings, before.findings)
    return WeighedProtections(
        release=Summary(case.release.kind, case.release.name, case.release.size, case.release.notes),
        goal=risk.id,
        goal_title=risk.title,
        risk=by.risk.id,
        risk_title=by.risk.title,
        use=by.use,
        before=tuple(summarise_releases([was])),
        protections=tuple(replace(p, is_unbeaten=id(p) in best) for p in made),
        not_measured=tuple(_describe_omissions(made, scale)),
        provenance=make_provenance(
            case, policy, load_owner_key(), run, started, seconds=round(time.perf_counter() - clock, 3)
        ),
    )


class _Place:
    """How far the work has come, said before what a room says that it is doing."""

    def __init__(self, report: Progress) -> None:
        self._report, self._prefix, self._done = report, "", 0.0

    def move(self, prefix: str, done: float) -> None:
        """What is worked at from now on."""
        self._prefix, self._done = prefix, done

    def report(self, doing: str, fraction: float | None) -> None:
        """Report the work of a room."""
        self._report(f"{self._prefix}{doing}", self._done)


@dataclass(frozen=True)
class _Scale:
    """How protections are weighed: at goals for which risk, by what, and beside what is found before.

    There is a run for each release, so that a measure that draws a sample draws another one. They are the same for all
    protections, so that the use of the original is measured once for each; whatever else keeps something for a run gets
    a copy that knows of no other release.
    """

    question: Question
    goal: Risk
    by: WeighedBy
    runs: tuple[Run, ...]
    attack_all: bool
    before: Assessment
    place: _Place


def _weighing_question(case: Case) -> tuple[Question, WeighedBy]:
    """The question whose protections are weighed, and by what."""
    kinds = [kind for q in questions.QUESTIONS if q.weighed_by is not None for kind in q.kinds]
    check_kind("unveil weigh", kinds, case.release.name, case.release.kind)
    for question in questions.questions_about(case.release.kind):
        if question.weighed_by is not None:
            return question, question.weighed_by
    raise AssertionError("check_kind lets no other kinds pass")


def _check_goal(by: WeighedBy, goal: str, limits: Sequence[float]) -> Risk:
    """The risk whose tolerance is varied."""
    known = {risk.id: risk for risk in by.goals}
    if goal not in known:
        raise UnveilError(
            f"{safe_text(goal)}: weigh varies {' or '.join(known)} only; other attackers are measured at each"
        )
    if not limits:
        raise UnveilError(f"{goal}: name at least one goal")
    for limit in limits:
        if known[goal].is_always_met(limit):
            raise UnveilError(f"every release meets {goal} = {known[goal].limit_text(limit)}; ask for more")
    return known[goal]


def _with_goal(policy: Policy, goal: Risk, limit: float) -> Policy:
    return replace(policy, tolerance={**policy.tolerance, goal.id: limit})


def _offers_to_weigh(
    case: Case, policy: Policy, goal: Risk, methods: Sequence[str], run: Run
) -> dict[str, ProtectionOffer]:
    """The protections that are weighed, by name."""
    offered = {name: offer for name, offer in offered_protections(case, policy).items() if not offer.is_harmless}
    name = safe_text(case.release.name)
    if not offered:
        hints = [h for q in questions.questions_about(case.release.kind) for h in q.hints(case, policy, [goal.id], run)]
        raise UnveilError(f"{name}: there is nothing to weigh: {'; '.join(hints) or 'no protection suits it'}")
    for method in methods:
        if method not in offered:
            raise UnveilError(
                f"no protection that can be weighed here is called {safe_text(method)!r}; choose from "
                f"{list_text(offered, len(offered))}"
            )
    chosen = list(dict.fromkeys(methods)) or [
        n for n, offer in offered.items() if not offer.only_if_named(case, policy)
    ]
    if len(chosen) > MOST_METHODS:
        raise UnveilError(
            f"{len(chosen)} protections are too many to weigh at once; choose {MOST_METHODS} with "
            f"{option_text('methods')} from {list_text(offered, len(offered))}"
        )
    return {method: offered[method] for method in chosen}


def _weigh_one(
    name: str, offer: ProtectionOffer, limit: float, case: Case, policy: Policy, scale: _Scale
) -> WeighedProtection:
    """One protection at one goal, applied as often as it needs."""
    aim = _with_goal(policy, scale.goal, limit)
    found = empty = WeighedProtection(method=name, title=offer.title, limit=limit)
    runs = scale.runs[:1] if offer.is_deterministic else scale.runs
    use, attacks, reached = list[list[UseMeasure]](), list[list[UseMeasure]](), list[bool]()
    for number, run in enumerate(runs):
        run.check()
        try:
            protection = offer.fit(case, aim, replace(run), 1.0)
        except UnveilError as error:
            return replace(empty, failure=_failure_text(str(error), case, number, len(runs)))
        if protection is None:
            why = scale.question.why_unprotectable(case, aim)
            nothing = f"no protection of this kind reaches {_goal_text(scale.goal, limit)}"
            return replace(empty, failure=f"{capitalise_text(why or nothing)}.")
        safer = protection.apply()
        is_attacked = number == 0 or scale.attack_all
        asked = replace(run, only=run.only if is_attacked else frozenset([scale.goal.id]))
        after = assess_resolved(resolve(safer, aim, asked), asked)
        reached.append(any(f.id == scale.goal.id and f.status == "within" for f in after.findings))
        if is_attacked:
            attacks.append(_findings_as_measures(scale.before.findings, after.findings))
        if number == 0:
            remaining = offer.describe_remaining_risk(after.findings)
            said = f"{protection.sentence} {protection.doubt}".strip()
            found = replace(found, remaining_risk=remaining, sentence=said)
        rooms = questions.questions_about(case.release.kind)
        use.append([measure for question in rooms for measure in question.measure_use(case, safer, run)])
    found = replace(
        found,
        reached=all(reached),
        releases=len(runs),
        attacked=len(attacks),
        attacks=tuple(summarise_releases(attacks)),
        use=tuple(summarise_releases(use)),
    )
    kept, harm = found.find(scale.by.use), found.find(scale.by.risk.id)
    return replace(found, usefulness=None if kept is None else kept.mean, harmed=_interval_of(harm))


def _failure_text(said: str, case: Case, number: int, releases: int) -> str:
    """Why there is no release, without the name of the file; and whether some were made before that failed."""
    why = said.removeprefix(f"{safe_text(case.release.name)}: ")
    earlier = f"Release {number + 1} of {releases}: " if number else ""
    return f"{earlier}{why[:1].upper() if not earlier else why[:1]}{why[1:]}."


def _goal_text(goal: Risk, limit: float) -> str:
    side = "at least" if goal.safer == "higher" else "at most"
    return f"{goal.id} {side} {goal.limit_text(limit)}"


def _findings_as_measures(before: Sequence[Finding], after: Sequence[Finding]) -> list[UseMeasure]:
    """What attackers find, beside what they find in the release as it is."""
    was: Mapping[str, float | None] = {f.id: f.value for f in before}
    return [
        UseMeasure(f.id, f.title, was.get(f.id), f.value, f.sentence, is_share=f.unit == "share", interval=f.interval)
        for f in after
        if f.value is not None
    ]


def _interval_of(harm: RepeatedMeasure | None) -> tuple[float, float] | None:
    if harm is None:
        return None
    return harm.interval or (harm.mean, harm.mean)


def _describe_omissions(made: Sequence[WeighedProtection], scale: _Scale) -> Iterator[str]:
    """What was not measured."""
    before, run = scale.before, scale.runs[0]
    if any(p.releases > p.attacked > 0 for p in made):
        yield (
            "Of protections that draw at random, the first release of each was attacked, so that there is no variance "
            f"of what attackers find; {option_text('attack_all')} attacks all of them."
        )
    if before.not_asked:
        yield f"Not asked: {list_text(before.not_asked, 12)}."
    yield from (f.sentence for f in before.findings if f.value is None)
    is_known = scale.by.risk.id in {f.id for f in before.findings}
    if not is_known and run.asks(scale.by.risk):
        yield from (doubt for doubt in before.doubts if scale.by.risk.id in doubt)
    missing = [f"{p.method} at {scale.goal.limit_text(p.limit)}" for p in made if not p.failure and p.harmed is None]
    if missing and is_known:
        yield f"{scale.by.risk.title}: not measured for {list_text(missing, 12)}."
