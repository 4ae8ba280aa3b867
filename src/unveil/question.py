"""A question: one way of attacking. Each room asks one, through the door of its ``ask.py``.

The question declares everything that others need to know about its room: which risks it can find, which settings it
has, what an attacker may hold, which protections it offers, and what it has to say about a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Finding
from unveil.holding import Holding
from unveil.policy import Policy
from unveil.protection import ProtectionOffer
from unveil.release import Release
from unveil.risk import Risk
from unveil.run import Run
from unveil.usefulness.use_measure import UseMeasure

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Artefact", "Question", "WeighedBy"]


@dataclass(frozen=True, eq=False)
class Artefact:
    """Something a question found beside its findings, such as who is linked to which row. It is for the owner's eyes
    only, so that no report contains it; ``table`` makes it when somebody asks for it."""

    name: str
    table: Callable[[], pa.Table]


@dataclass(frozen=True)
class WeighedBy:
    """What protections are weighed by: the risk from those who know more than protections are made for, the id of the
    measure of use that is set against it, and the risks whose tolerance protections are fitted to."""

    risk: Risk
    use: str
    goals: tuple[Risk, ...]


def _no_doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterable[str]:
    return ()


def _no_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterable[str]:
    return ()


def _can_be_protected(case: Case, policy: Policy) -> str:
    return ""


def _no_use(before: Case, after: Case, run: Run) -> Iterable[UseMeasure]:
    return ()


def _no_facts(release: Release) -> Mapping[str, float | bool]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a room asks.

    Parameters
    ----------
    kinds
        The kinds of release it can be asked of.
    risks
        What it can find.
    ask
        The attack: yields findings, and artefacts where there are any. It asks ``run.asks(risk)`` before it measures
        what takes long.
    settings
        The room's settings, a frozen dataclass of :func:`~unveil.settings.setting` fields.
    holdings
        What the attacker may hold.
    check
        Refuses input that cannot be right, before anything is measured.
    doubts
        Why a person has to decide, whatever was measured.
    facts
        What there is to say about a release before any attack (``unveil describe``).
    protections
        The protections it offers, by their names on the command line.
    protected_risks
        The risks that these protections lower.
    why_unprotectable
        Why none of its protections suits a case, as a sentence without a capital and a stop; empty if one does.
    hints
        What an owner can do if no protection reaches what is tolerated, given the ids of the findings in the way.
    measure_use
        What a protected release can still be used for, given the case before and after. Tables, which several
        questions protect, are measured in ``usefulness``.
    weighed_by
        What its protections are weighed by, if they can be.
    """

    name: str
    title: str
    kinds: tuple[str, ...]
    risks: tuple[Risk, ...]
    ask: Callable[[Case, Policy, Run], Iterable[Finding | Artefact]]
    settings: type | None = None
    holdings: tuple[Holding, ...] = ()
    check: Callable[[Case, Policy], None] | None = None
    doubts: Callable[[Case, Policy, Sequence[Finding]], Iterable[str]] = _no_doubts
    facts: Callable[[Release], Mapping[str, float | bool]] = _no_facts
    protections: Mapping[str, ProtectionOffer] = field(default_factory=lambda: MappingProxyType({}))
    protected_risks: tuple[Risk, ...] = ()
    why_unprotectable: Callable[[Case, Policy], str] = _can_be_protected
    hints: Callable[[Case, Policy, Sequence[str], Run], Iterable[str]] = _no_hints
    measure_use: Callable[[Case, Case, Run], Iterable[UseMeasure]] = _no_use
    weighed_by: WeighedBy | None = None
