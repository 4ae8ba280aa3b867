"""Protections weighed against each other: what each does at several goals, what it leaves to attackers, what it costs.

It is plain, immutable data. The page, the terminal text and the JSON are renderings of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from unveil.assessment import Provenance, Summary, TypedCommand
from unveil.usefulness.repeated_measure import RepeatedMeasure
from unveil.wording import number_text

__all__ = ["WEIGHED_SCHEMA_VERSION", "WeighedProtection", "WeighedProtections"]

WEIGHED_SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class WeighedProtection:
    """One protection at one goal.

    ``failure`` says why there is no release; it is empty if there is one. ``releases`` is how many were made,
    ``attacked`` how many of them were attacked in full, and ``reached`` whether all of them reach the goal.
    ``usefulness`` and ``harmed`` are what it is weighed by: a measure of use, and an interval of the share found.
    ``is_unbeaten``: no other keeps more without harming more. ``attacks`` are what attackers find. ``remaining_risk``
    says what the first release leaves to attackers, and ``sentence`` what was done to it.
    """

    method: str
    title: str
    limit: float
    failure: str = ""
    reached: bool = False
    releases: int = 0
    attacked: int = 0
    usefulness: float | None = None
    harmed: tuple[float, float] | None = None
    is_unbeaten: bool = False
    attacks: tuple[RepeatedMeasure, ...] = ()
    use: tuple[RepeatedMeasure, ...] = ()
    remaining_risk: str = ""
    sentence: str = ""

    @property
    def measures(self) -> tuple[RepeatedMeasure, ...]:
        """What attackers find, and what the data can still be used for."""
        return (*self.attacks, *self.use)

    def find(self, measure_id: str) -> RepeatedMeasure | None:
        """The measure with this id, if it has a number."""
        return next((m for m in self.measures if m.id == measure_id), None)

    def to_dict(self) -> dict[str, Any]:
        """The protection as plain JSON values."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        harmed = None if self.harmed is None else list(self.harmed)
        lists = {name: [measure.to_dict() for measure in values[name]] for name in ("attacks", "use")}
        return {**values, "harmed": harmed, **lists}


@dataclass(frozen=True, kw_only=True)
class WeighedProtections:
    """The result of :func:`unveil.weigh`.

    ``goal`` is the id of the risk whose tolerance is varied, ``risk`` that of the risk and ``use`` that of the measure
    of use by which protections are weighed. ``before`` is what attackers find in the release as it is, and what stands
    for use there. ``not_measured`` says what was left out, and why.
    """

    release: Summary
    goal: str
    goal_title: str
    risk: str
    risk_title: str
    use: str
    before: tuple[RepeatedMeasure, ...]
    protections: tuple[WeighedProtection, ...]
    not_measured: tuple[str, ...]
    provenance: Provenance
    typed: TypedCommand | None = field(default=None, repr=False, compare=False)

    @property
    def methods(self) -> dict[str, str]:
        """The titles of the protections by their names, in the order in which they were asked for."""
        return {p.method: p.title for p in self.protections}

    @property
    def limits(self) -> tuple[float, ...]:
        """The goals, in rising order."""
        return tuple(sorted({p.limit for p in self.protections}))

    def find(self, method: str, limit: float) -> WeighedProtection:
        """A protection at a goal."""
        for protection in self.protections:
            if (protection.method, protection.limit) == (method, limit):
                return protection
        raise KeyError(f"no protection {method!r} at {number_text(limit)} here")

    def measures(self) -> list[RepeatedMeasure]:
        """Everything that was measured of any release, with the number before: attacks first."""
        return list(_first_by_id([*self.before, *(m for p in self.protections for m in p.measures)]))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values, as the published schema describes them."""
        return {
            "schema_version": WEIGHED_SCHEMA_VERSION,
            "release": self.release.to_dict(),
            **{name: getattr(self, name) for name in ("goal", "goal_title", "risk", "risk_title", "use")},
            "before": [measure.to_dict() for measure in self.before],
            "protections": [protection.to_dict() for protection in self.protections],
            "not_measured": list(self.not_measured),
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """The result as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def to_text(self, details: bool = False) -> str:
        """The result as plain text: a line for each protection and goal or, with details, everything."""
        from unveil.report.weighed_text import weighed_text

        return weighed_text(self, details)

    def to_html(self) -> str:
        """The result as one self-contained page."""
        from unveil.report.html import render_weighed

        return render_weighed(self)

    def __repr__(self) -> str:
        return self.to_text()


def _first_by_id(measures: Iterable[RepeatedMeasure]) -> Iterable[RepeatedMeasure]:
    found: dict[str, RepeatedMeasure] = {}
    for measure in measures:
        found.setdefault(measure.id, measure)
    return found.values()
