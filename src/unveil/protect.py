"""Who protects: every protection that is offered, each assessed again in full, and the most useful that holds.

Risk and usefulness stand side by side: what was tried, what it leaves of the data, and the verdict after it. A
protection whose result is still over the tolerance is asked for again, more strictly, a few times, unless the strictest
is over as well. A release in which nothing is over a tolerance stays as it is, but for what does no harm; where there
is nothing of that kind, what is open counts as over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from unveil.assess import QUESTIONS, assess, ready, run_for
from unveil.assessment import Assessment, Weighed
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Offer, Protection
from unveil.release import Release, Table, Transactions
from unveil.run import Progress, Run
from unveil.wording import listed, percent, shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Protected", "protect"]

_STRICTNESS = (1.0, 0.95, 0.9, 0.8, 0.6, 0.4)
_LITTLE = 0.1  # usefulness below which a person has to decide
_RANK = {"release": 0, "your call": 1, "protect first": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Protected:
    """A safer release: the case (with the original and the truth, which stay with the owner), its assessment, and the
    assessment of the original. ``case`` is None where no protection reaches what is tolerated; ``in_the_way`` are then
    the findings that the protection which came closest leaves beyond their tolerance, or that it leaves unanswered,
    and ``closest`` is its name; None where nothing was even made."""

    case: Case | None
    assessment: Assessment
    before: Assessment
    closest: str | None = None
    in_the_way: tuple[str, ...] = ()

    @property
    def release(self) -> Release:
        """What may be published."""
        if self.case is None:
            way = f"; in the way: {listed(self.in_the_way)}" if self.in_the_way else ""
            name = shown(self.before.release.name)
            raise UnveilError(f"{name}: no protection that was tried reaches the tolerance{way}")
        return self.case.release

    def mapping(self) -> pa.Table:
        """What has become of every item: columns item and pseudonym, missing where it was left out. To be kept. There
        is none of a table, whose rows keep their order."""
        from unveil.release.mapping import mapped

        release = self.release
        assert self.case is not None
        original, truth = self.case.original, self.case.truth
        if not isinstance(original, Transactions) or not isinstance(release, Transactions) or truth is None:
            raise UnveilError(f"{shown(release.name)}: only baskets of items have a mapping")
        return mapped(original, release, truth)

    def __repr__(self) -> str:
        return repr(self.assessment)


def protect(
    release: Release | Case,
    policy: Policy | None = None,
    *,
    method: str | None = None,
    reveal: bool = False,
    exposed: int = 10,
    progress: Progress | None = None,
) -> Protected:
    """Make a release safer: try what protections there are, assess each result, and take the most useful that holds.

    Parameters
    ----------
    release
        What would be published, or a :class:`Case` that adds what the attacker holds.
    policy
        What the attacker knows and what is tolerated.
    method
        The name of the only protection to try; otherwise all are tried, if the release is over a tolerance at all.
    reveal, exposed, progress
        As for :func:`unveil.assess`.
    """
    policy = policy or Policy()
    case = release if isinstance(release, Case) else Case(release)
    there = {name: offer for q in QUESTIONS if case.release.kind in q.kinds for name, offer in q.protect.items()}
    offered = {name: offer for name, offer in there.items() if offer.suits(case, policy)}
    if not offered:
        raise UnveilError(f"{shown(case.release.name)}: there is no protection for a {case.release.kind} yet")
    if method is not None and method not in offered:
        of = "for such data " if method in there else ""
        raise UnveilError(f"no protection {of}is called {shown(method)!r}; choose from {listed(offered)}")
    before = assess(case, policy, reveal=reveal, exposed=exposed, progress=progress)
    over = before.verdict.decision == "protect first" or (
        _open(before) and not any(o.harmless for o in offered.values())
    )
    wanted = [method] if method is not None else [name for name, offer in offered.items() if over != offer.harmless]
    run = run_for(case, policy, reveal=reveal, exposed=exposed, progress=progress)
    if not wanted and not over:
        return Protected(case, replace(before, protections=(_as_it_is(before, chosen=True),)), before)
    case, policy, _ = ready(case, policy, run)  # so that the same attackers are met before and after
    policy = replace(policy, guessed=tuple(c for c in policy.guessed if c in policy.roles))

    def again(safer: Case) -> Assessment:
        left = _left(policy, case.release, safer.release)
        return assess(safer, left, reveal=reveal, exposed=exposed, progress=progress)

    tried = [_tried(name, offered[name], case, policy, run, before, again) for name in wanted]
    tried = [t.doubted() for t in tried]
    made = [t for t in tried if t.assessment is not None]
    best = min((t for t in made if not t.in_the_way(before)), key=_Tried.order, default=None)
    weighed = (_as_it_is(before), *(t.weighed(t is best) for t in tried))
    if best is None or best.assessment is None:
        closest = min(made, key=lambda t: (len(t.in_the_way(before)), t.order()), default=None)
        stopped = (None, ()) if closest is None else (closest.name, closest.in_the_way(before))
        return Protected(None, replace(before, protections=weighed), before, *stopped)
    return Protected(best.case, replace(best.assessment, protections=weighed), before)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _left(policy: Policy, before: Release, after: Release) -> Policy:
    """The policy for what is left of a table: without the columns that are gone, and without rules for those that hold
    labels now. Their hierarchies are in the case."""
    if not isinstance(before, Table) or not isinstance(after, Table):
        return policy
    there = set(after.columns)
    groups = (tuple(c for c in group if c in there) for group in policy.quasi)
    quasi = {frozenset(group): group for group in groups if group}
    labelled = set(_labelled(before, after, policy))
    return replace(
        policy,
        quasi=tuple(quasi.values()),
        sensitive=tuple(c for c in policy.sensitive if c in there),
        insensitive=tuple(c for c in policy.insensitive if c in there),
        ratings=tuple(c for c in policy.ratings if c in there),
        hierarchy={},
        compare={c: how for c, how in policy.compare.items() if c in there and c not in labelled},
    )


def _labelled(before: Table, after: Table, policy: Policy) -> Iterator[str]:
    """The columns to be compared in some way that hold values which were not there before."""
    import pyarrow.compute as pc

    for column in policy.compare:
        if column in after.columns:
            was, now = (t.codes([column], policy.missing)[column].values for t in (before, after))
            if was.type != now.type or not pc.all(pc.is_in(now, value_set=was)).as_py():
                yield column


# ---- what was tried --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Tried:
    """An offer, and what it led to; nothing where none of its kind reaches what is tolerated."""

    name: str
    offer: Offer
    protection: Protection | None = None
    case: Case | None = None
    assessment: Assessment | None = None

    @property
    def rank(self) -> int:
        """0 if it may be released, 1 if that is the owner's call, 2 if it is still over a tolerance."""
        return 2 if self.assessment is None else _RANK[self.assessment.verdict.decision]

    def doubted(self) -> _Tried:
        """The same, with the verdict that is left to a person if there is a reason for that."""
        if self.protection is None or self.assessment is None:
            return self
        doubts = [self.protection.doubt] if self.protection.doubt else []
        if self.protection.usefulness < _LITTLE:
            left = percent(self.protection.usefulness)
            doubts.append(f"Little is left of the data: {left} of its usefulness. {self.protection.sentence}")
        verdict = self.assessment.verdict
        if not doubts or verdict.decision == "protect first":
            return self
        reasons = (*(verdict.reasons if verdict.decision == "your call" else ()), *doubts)
        changed = replace(verdict, decision="your call", sentence=" ".join(reasons), reasons=reasons)
        return replace(self, assessment=replace(self.assessment, verdict=changed))

    @property
    def over(self) -> bool:
        """Whether it was made and is over a tolerance all the same."""
        return self.assessment is not None and self.rank == 2

    def unsettled(self, before: Assessment) -> bool:
        """Whether a stricter one could do better: something that decides was not found to be within its tolerance. A
        bound that leaves it open and has not moved at all is none that will."""
        deciding = [] if self.assessment is None else [f for f in self.assessment.findings if f.decides]
        still = {(f.id, f.value, "open") for f in before.findings if f.method == "bound"}
        moved = [f for f in deciding if (f.id, f.value, f.status) not in still]
        return any(f.status != "within" or f.method == "truncated" for f in moved)

    def in_the_way(self, before: Assessment) -> tuple[str, ...]:
        """The findings for which it cannot be taken: those over their tolerance, and those that have no answer any
        more, which were not made safe by that."""
        findings = () if self.assessment is None else self.assessment.findings
        over = [f.id for f in findings if f.decides and f.status == "over"]
        return tuple(dict.fromkeys([*over, *sorted(_answers(before) - _answers(self.assessment))]))

    def order(self) -> tuple[int, float]:
        """The better, the lower: the verdict first, then usefulness."""
        return self.rank, 0.0 if self.protection is None else -self.protection.usefulness

    def weighed(self, chosen: bool) -> Weighed:
        """What to tell about it."""
        if self.protection is None or self.assessment is None:
            said = "Nothing of this kind that leaves something to release reaches what is tolerated."
            return Weighed(id=self.name, title=self.offer.title, sentence=said)
        said = f"{self.protection.sentence} {self.protection.doubt}".strip()
        return _told(self.name, self.offer.title, said, self.protection.usefulness, self.assessment, chosen)


def _tried(
    name: str,
    offer: Offer,
    case: Case,
    policy: Policy,
    run: Run,
    before: Assessment,
    again: Callable[[Case], Assessment],
) -> _Tried:
    """A protection as strict as it needs to be for its result not to be over a tolerance."""

    @cache
    def attempt(strictness: float) -> _Tried:
        run.progress(f"{offer.title.lower()}, aiming at {strictness:.0%}", None)
        protection = offer.make(case, policy, run, strictness)
        if protection is None:
            return _Tried(name, offer)
        safer = protection.apply()
        return _Tried(name, offer, protection, safer, again(safer))

    best = attempt(_STRICTNESS[0])
    if offer.harmless or (best.over and attempt(_STRICTNESS[-1]).over):
        return best
    for strictness in _STRICTNESS[1:]:
        if not best.unsettled(before):
            break
        tried = attempt(strictness)
        if tried.protection is None:
            break
        if tried.rank < best.rank:
            best = tried
    return best


def _answers(assessment: Assessment | None) -> set[str]:
    """The findings that decide and have a value."""
    return set() if assessment is None else {f.id for f in assessment.findings if f.decides and f.value is not None}


def _open(assessment: Assessment) -> bool:
    return any(f.decides and f.status == "open" for f in assessment.findings)


def _as_it_is(before: Assessment, chosen: bool = False) -> Weighed:
    return _told("none", "As it is", "Nothing is changed.", 1.0, before, chosen)


def _told(name: str, title: str, sentence: str, usefulness: float, after: Assessment, chosen: bool) -> Weighed:
    worst = after.decided_by
    return Weighed(
        id=name,
        title=title,
        sentence=sentence,
        usefulness=usefulness,
        decision=after.verdict.decision,
        harmed=None if worst is None else worst.share,
        chosen=chosen,
    )
