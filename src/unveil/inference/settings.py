"""The settings of the question ``inference``."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.settings import setting

__all__ = ["InferenceSettings"]


@dataclass(frozen=True, kw_only=True)
class InferenceSettings:
    """How much somebody knows who wants to learn more, and from when on they have learned something."""

    facts_known: int = setting(
        3,
        kind="whole number",
        at_least=1,
        at_most=9,
        release_kinds=("table",),
        metavar="NUMBER",
        help="How many quasi-identifiers of a person an attacker knows at most who wants to learn a sensitive value.",
    )
    gain: float = setting(
        0.5,
        kind="share",
        greater_than=0,
        release_kinds=("table",),
        metavar="SHARE",
        help="By how much belief in a sensitive value must rise to count as learned; 0.5 is from 20% to 70%, say.",
    )
