"""A risk: something a room can find, declared once.

The declaration holds everything that is the same for every release: the id, what the number is called, its unit, which
way is safer, and the tolerance that applies when the policy names none, by default and in each preset. Tolerances in a
policy, their checks, ``unveil init``, the documentation and the report follow from it. :meth:`Risk.finding` turns a
measured number into a :class:`~unveil.finding.Finding`, so that no room fills in an id, a tolerance or a direction by
hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from unveil.errors import UnveilError
from unveil.finding import Direction, Drawing, ExposedSubject, Finding, Method
from unveil.wording import number_text

if TYPE_CHECKING:
    from unveil.policy import Policy

__all__ = ["AVERAGE_RISK", "CLASS_SIZE", "Risk", "Unit"]

AVERAGE_RISK = "the mean of 1 over the number of people who look the same to someone who knows all quasi-identifiers"
CLASS_SIZE = "the fewest people who look the same to someone who knows all quasi-identifiers"

Unit = Literal["share", "count", "number"]
"""What a tolerance may be: a share from 0 to 1, a whole number, or any number from 0."""


@dataclass(frozen=True)
class Risk:
    """What a room can find.

    ``summary`` says in one line what is measured. ``presets``: the tolerance in presets other than the default one.
    ``per_subject``: the value counts subjects, and the tolerance is a share of all of them. ``release_kinds``: the
    kinds of release it says something about; without any, all that its question is asked of. ``needs``: what the
    attacker must hold for it to be measured. ``sampled``: the value may come from a simulation, so that it shares the
    verdict's error rate. ``tolerance_from``: without a tolerance of its own, the one of that risk applies.
    ``detail_of``: the risk under which the report folds this one away. ``quantity``: what it measures, if
    others are never higher: those name the same as their ``upper_bound``, and protections that lower it lower them.
    ``baseline_name``: what the baseline of its findings is, where it is not what guessing achieves.
    """

    id: str
    title: str
    unit: Unit
    safer: Direction
    summary: str
    tolerance: float | None = None
    presets: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    per_subject: bool = False
    release_kinds: tuple[str, ...] = ()
    needs: str = ""
    sampled: bool = False
    tolerance_from: Risk | None = None
    detail_of: Risk | None = None
    quantity: str = ""
    upper_bound: str = ""
    baseline_name: str = ""

    @property
    def question(self) -> str:
        """The name of the question that finds it."""
        return self.id.partition(".")[0]

    def check_tolerance(self, value: float) -> None:
        """Refuse a tolerance that this risk cannot have."""
        if not math.isfinite(value) or value < 0:
            raise UnveilError(f"the tolerance of {self.id} must be 0 or more")
        if self.unit == "count" and value != int(value):
            raise UnveilError(f"the tolerance of {self.id} must be a whole number")
        if self.unit == "share" and value > 1:
            raise UnveilError(f"the tolerance of {self.id} is a share between 0 and 1; write 0.05 for 5%")

    def limit_text(self, limit: float) -> str:
        """What is tolerated of it, as a number or in percent."""
        return f"{100 * limit:g}%" if self.unit == "share" else number_text(limit)

    def is_always_met(self, tolerance: float) -> bool:
        """Whether no release can fail this tolerance: a share of at most 100%, or a class of at least one."""
        if self.safer == "lower":
            return self.unit == "share" and tolerance >= 1
        return tolerance <= (0 if self.unit == "share" else 1)

    def finding(
        self,
        policy: Policy,
        *,
        value: float | None,
        sentence: str,
        attacker: str,
        subjects: int,
        method: Method | None = "exact",
        title: str | None = None,
        unit: str | None = None,
        column: str | None = None,
        known: tuple[str, ...] | None = None,
        interval: tuple[float, float] | None = None,
        confidence: float | None = None,
        share: float | tuple[float, float] | None = None,
        tolerance: float | Literal["policy"] | None = "policy",
        may_decide: bool = True,
        missing: str = "",
        baseline: float | None = None,
        curves: tuple[Drawing, ...] = (),
        exposed: tuple[ExposedSubject, ...] = (),
        source: str = "",
    ) -> Finding:
        """The finding that this risk has this value.

        ``column`` is the column the finding is about, ``known`` the quasi-identifiers the attacker knows, where a
        policy can name several. An exact value has neither interval nor confidence, and an estimate never decides.
        ``may_decide`` is false for what is for information only, whatever the policy says.
        """
        limit = policy.tolerance_for(self) if tolerance == "policy" else tolerance
        measured = None if value is None else method
        return Finding(
            id=self.id,
            question=self.question,
            column=column,
            known=known,
            title=title or self.title,
            value=value,
            unit=self.unit if unit is None else unit,
            method=measured,
            interval=None if measured == "exact" else interval,
            confidence=None if measured == "exact" else confidence,
            subjects=subjects,
            share=(share, share) if isinstance(share, (int, float)) else share,
            tolerance=limit * subjects if limit is not None and self.per_subject else limit,
            direction=self.safer,
            decides=limit is not None and may_decide and measured != "estimate",
            attacker=attacker,
            missing=missing,
            baseline=baseline,
            sentence=sentence,
            curves=curves,
            exposed=exposed,
            source=source,
        )
