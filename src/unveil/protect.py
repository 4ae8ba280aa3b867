"""Who protects: every protection that is offered, each assessed again in full, and the most useful that holds.

Risk and usefulness stand side by side: what was tried, what it leaves of the data, and the verdict after it. A
protection whose result is still over the tolerance is asked for again, more strictly, a few times.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unveil.assess import QUESTIONS, assess
from unveil.assessment import Assessment, Weighed
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Offer, Protection
from unveil.release import Release, Transactions
from unveil.run import Progress, Run
from unveil.wording import listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Protected", "protect"]

_STRICTNESS = (1.0, 0.95, 0.9, 0.8, 0.6, 0.4)
_RANK = {"release": 0, "your call": 1, "protect first": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Protected:
    """A safer release: the case (with the original and the truth, which stay with the owner), its assessment, and the
    assessment of the original. ``case`` is None where no protection reaches what is tolerated."""

    case: Case | None
    assessment: Assessment
    before: Assessment

    @property
    def release(self) -> Release:
        """What may be published."""
        if self.case is None:
            raise UnveilError(f"{shown(self.before.release.name)}: no protection that was tried reaches the tolerance")
        return self.case.release

    def mapping(self) -> pa.Table:
        """What has become of every item: columns item and pseudonym, missing where it was left out. To be kept."""
        from unveil.release.mapping import mapped

        release = self.release
        assert self.case is not None and self.case.truth is not None
        original = self.case.original
        assert isinstance(original, Transactions) and isinstance(release, Transactions)
        return mapped(original, release, self.case.truth)

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
    offered = {name: offer for q in QUESTIONS if case.release.kind in q.kinds for name, offer in q.protect.items()}
    if not offered:
        raise UnveilError(f"{shown(case.release.name)}: there is no protection for a {case.release.kind} yet")
    if method is not None and method not in offered:
        raise UnveilError(f"no protection is called {shown(method)!r}; choose from {listed(offered)}")
    before = assess(case, policy, reveal=reveal, exposed=exposed, progress=progress)
    over = before.verdict.decision == "protect first"
    wanted = [method] if method is not None else [name for name, offer in offered.items() if over != offer.harmless]
    run = Run(policy.seed, exposed, reveal)
    if progress is not None:
        run = replace(run, progress=progress)
    again = functools.partial(assess, policy=policy, reveal=reveal, exposed=exposed, progress=progress)
    tried = [_tried(name, offered[name], case, policy, run, again) for name in wanted]
    held = [t for t in tried if t.rank < 2 and _answers(before) <= _answers(t.assessment)]
    best = min(held, key=_Tried.order, default=None)
    weighed = (_as_it_is(before), *(t.weighed(t is best) for t in tried))
    if best is None or best.assessment is None:
        return Protected(None, replace(before, protections=weighed), before)
    return Protected(best.case, replace(best.assessment, protections=weighed), before)


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

    def order(self) -> tuple[int, float]:
        """The better, the lower: the verdict first, then usefulness."""
        return self.rank, 0.0 if self.protection is None else -self.protection.usefulness

    def weighed(self, chosen: bool) -> Weighed:
        """What to tell about it."""
        if self.protection is None or self.assessment is None:
            said = "Nothing of this kind that leaves something to release reaches what is tolerated."
            return Weighed(id=self.name, title=self.offer.title, sentence=said)
        told = self.protection.sentence, self.protection.usefulness
        return _told(self.name, self.offer.title, *told, self.assessment, chosen)


def _tried(
    name: str, offer: Offer, case: Case, policy: Policy, run: Run, again: Callable[[Case], Assessment]
) -> _Tried:
    """A protection as strict as it needs to be for its result not to be over a tolerance."""
    best = _Tried(name, offer)
    for strictness in _STRICTNESS[: 1 if offer.harmless else None]:
        run.progress(f"{offer.title.lower()}, aiming at {strictness:.0%}", None)
        protection = offer.make(case, policy, run, strictness)
        if protection is None:
            break
        safer = protection.apply()
        tried = _Tried(name, offer, protection, safer, again(safer))
        if best.assessment is None or tried.rank < best.rank:
            best = tried
        if tried.rank == 0:
            break
    return best


def _answers(assessment: Assessment | None) -> set[str]:
    """The findings that decide and have a value. One that is gone after a protection was not made safe by it."""
    return set() if assessment is None else {f.id for f in assessment.findings if f.decides and f.value is not None}


def _as_it_is(before: Assessment) -> Weighed:
    return _told("none", "As it is", "Nothing is changed.", 1.0, before, False)


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
