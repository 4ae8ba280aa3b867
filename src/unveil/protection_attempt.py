"""One protection on trial: what an offer makes of a case, how that is assessed, and what it can still be used for.

If the result is still over a tolerance, the offer is tried again a few times with more strictness, unless the strictest
attempt is over as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from unveil.assessment import Assessment, ProtectionResult
from unveil.case import Case
from unveil.owner_wishes import owner_wishes
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.run import Run
from unveil.usefulness.use_measure import UseMeasure
from unveil.wording import percent_text

__all__ = [
    "Attempt",
    "add_doubts",
    "has_open_finding",
    "protection_result",
    "try_offer",
    "unchanged_result",
]

_STRICTNESS_STEPS = (1.0, 0.95, 0.9, 0.8, 0.6, 0.4)
_LOW_USEFULNESS = 0.1  # usefulness below which a person has to decide
_DECISION_RANK = {"release": 0, "your call": 1, "protect first": 2}


@dataclass(frozen=True, eq=False)
class Attempt:
    """An offer and its outcome; there is none if no protection of its kind reaches the tolerance."""

    name: str
    offer: ProtectionOffer
    protection: Protection | None = None
    case: Case | None = None
    assessment: Assessment | None = None
    use: tuple[UseMeasure, ...] = ()

    @property
    def rank(self) -> int:
        """0 if the result may be released, 1 if that is the owner's call, 2 if it is still over a tolerance."""
        return 2 if self.assessment is None else _DECISION_RANK[self.assessment.verdict.decision]

    def with_doubts(self, doubt: str) -> Attempt:
        """The same attempt; its verdict is ``your call`` if there is this or another doubt that the assessment does not
        see."""
        if self.protection is None or self.assessment is None:
            return self
        doubts = [said for said in (self.protection.doubt, doubt) if said]
        if self.protection.usefulness < _LOW_USEFULNESS:
            left = percent_text(self.protection.usefulness)
            doubts.append(f"The protected data keeps only {left} of its usefulness. {self.protection.sentence}")
        return replace(self, assessment=add_doubts(self.assessment, doubts))

    def with_identifier_sentence(self, text: str) -> Attempt:
        """The same attempt; it also says what became of identifiers."""
        if not text or self.protection is None:
            return self
        rest = self.protection.sentence.replace("Nothing is changed.", "Nothing else is changed.", 1)
        return replace(self, protection=replace(self.protection, sentence=f"{text} {rest}"))

    def with_use(self, use: tuple[UseMeasure, ...]) -> Attempt:
        """The same attempt, with what the result can still be used for."""
        return replace(self, use=use)

    @property
    def is_over(self) -> bool:
        """Whether there is a result, and it is over a tolerance."""
        return self.assessment is not None and self.rank == 2

    def may_improve(self, before: Assessment) -> bool:
        """Whether more strictness could help: a deciding finding is not within its tolerance.

        An open bound that has not moved does not count, since it will not move.
        """
        deciding = [] if self.assessment is None else [f for f in self.assessment.findings if f.decides]
        still = {(f.id, f.value, "open") for f in before.findings if f.method == "bound"}
        moved = [f for f in deciding if (f.id, f.value, f.status) not in still]
        return any(f.status != "within" or f.method == "truncated" for f in moved)

    def blocking_findings(self, before: Assessment) -> tuple[str, ...]:
        """The findings that rule the result out: those over their tolerance, and those that had a value before and have
        none now, although there is still something to be known."""
        findings = () if self.assessment is None else self.assessment.findings
        over = [f.id for f in findings if f.decides and f.status == "over"]
        lost = _answered_findings(before) - _answered_findings(self.assessment)
        if self.assessment is not None and not any(c.role == "quasi" for c in self.assessment.columns):
            lost = set() if any(c.role == "quasi" for c in before.columns) else lost
        return tuple(dict.fromkeys([*over, *sorted(risk_id for risk_id, _, _ in lost)]))

    def describe_shortfalls(self, before: Assessment) -> Iterator[str]:
        """How far the result gets, for every finding that rules it out."""
        assert self.assessment is not None
        over = {f.id: f for f in self.assessment.findings if f.decides and f.status == "over"}
        for risk_id in self.blocking_findings(before):
            if (f := over.get(risk_id)) is not None:
                yield f"{self.name} comes closest: {f.id} is then {f.value_text} and must be {f.tolerance_text}"
            else:
                yield f"{self.name} comes closest: {risk_id} can then no longer be measured"

    def sort_key(self) -> tuple[int, bool, float]:
        """Lower is better: first by verdict, then by whether a finding is left open, then by usefulness."""
        is_open = self.assessment is not None and has_open_finding(self.assessment)
        return self.rank, is_open, 0.0 if self.protection is None else -self.protection.usefulness

    def to_result(self, before: Assessment, chosen: bool) -> ProtectionResult:
        """The outcome for the report."""
        if self.protection is None or self.assessment is None:
            said = (
                "Nothing of this kind that was tried meets the tolerances, keeps what must stay, and leaves something "
                "to release."
            )
            return ProtectionResult(id=self.name, title=self.offer.title, sentence=said)
        remaining = self.offer.describe_remaining_risk(self.assessment.findings)
        said = " ".join(part for part in (remaining, self.protection.sentence, self.protection.doubt) if part)
        useful = self.protection.usefulness
        found = protection_result(self.name, self.offer.title, said, useful, before, self.assessment, chosen)
        return replace(found, use=self.use)


def add_doubts(assessment: Assessment, doubts: Sequence[str]) -> Assessment:
    """The assessment with further doubts; the verdict is ``your call`` then, unless it is ``protect first``."""
    verdict = assessment.verdict
    if not doubts or verdict.decision == "protect first":
        return assessment
    reasons = (*(verdict.reasons if verdict.decision == "your call" else ()), *doubts)
    changed = replace(verdict, decision="your call", sentence=" ".join(reasons), reasons=reasons)
    return replace(assessment, verdict=changed, doubts=(*assessment.doubts, *doubts))


def try_offer(
    name: str,
    offer: ProtectionOffer,
    case: Case,
    policy: Policy,
    run: Run,
    before: Assessment,
    assess_again: Callable[[Case], Assessment],
    reorder: Callable[[Case], Case],
) -> Attempt:
    """Try an offer with as much strictness as it needs for a result that is not over a tolerance."""
    wishes = owner_wishes(policy)

    @cache
    def attempt(strictness: float) -> Attempt:
        run.progress(f"{offer.title.lower()}, aiming at {strictness:.0%}", None)
        protection = offer.fit(case, policy, run, strictness)
        if protection is None:
            return Attempt(name, offer)
        safer = reorder(protection.apply())
        if not wishes.are_met(case.release, safer.release):
            return Attempt(name, offer)
        return Attempt(name, offer, protection, safer, assess_again(safer))

    best = attempt(_STRICTNESS_STEPS[0])
    if offer.is_harmless or (best.is_over and attempt(_STRICTNESS_STEPS[-1]).is_over):
        return best
    for strictness in _STRICTNESS_STEPS[1:]:
        if not best.may_improve(before):
            break
        tried = attempt(strictness)
        if tried.protection is None:
            break
        if tried.rank < best.rank:
            best = tried
    return best


def _answered_findings(assessment: Assessment | None) -> set[tuple[str, str | None, tuple[str, ...] | None]]:
    """The deciding findings that have a value: id, column, and what is known unless that is columns of a table, of
    which a protection may leave some out."""
    if assessment is None:
        return set()
    answered = [f for f in assessment.findings if f.decides and f.value is not None]
    return {(f.id, f.column, None if assessment.columns else f.known) for f in answered}


def has_open_finding(assessment: Assessment) -> bool:
    """Whether a deciding finding may be over its tolerance or within it."""
    return any(f.decides and f.status == "open" for f in assessment.findings)


def unchanged_result(before: Assessment, start: Assessment) -> ProtectionResult:
    """The release as it is, which ``start`` assesses without its identifiers."""
    decided = start.deciding_finding
    about = f" The share harmed is about this risk: {decided.title}." if decided and decided.share else ""
    return protection_result("none", "As it is", f"Nothing changes.{about}", 1.0, start, before, chosen=False)


def protection_result(
    name: str, title: str, sentence: str, usefulness: float, before: Assessment, after: Assessment, chosen: bool
) -> ProtectionResult:
    """A protection for the report, with the verdict after it and the share of people that it leaves harmed."""
    return ProtectionResult(
        id=name,
        title=title,
        sentence=sentence,
        usefulness=usefulness,
        decision=after.verdict.decision,
        harmed=_share_harmed(before, after),
        chosen=chosen,
    )


def _share_harmed(before: Assessment, after: Assessment) -> tuple[float, float] | None:
    """The share that the risk which decided before harms after: the same risk for every protection."""
    decided = before.deciding_finding
    if decided is None:
        return None
    same = [
        f.share
        for f in after.findings
        if (f.id, f.column, f.decides) == (decided.id, decided.column, decided.decides) and f.share
    ]
    return max(same, default=None)
