"""The settings of the question ``matching``."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.settings import setting

__all__ = ["MatchingSettings"]


@dataclass(frozen=True, kw_only=True)
class MatchingSettings:
    """What a matrix of candidates may look like, and what the attacker reads from it."""

    may_exclude_truth: bool = setting(
        False,
        kind="flag",
        former_names=("may_be_wrong",),
        help="Allow a matrix that excludes true pairs. Such entries are never cracked.",
    )
    set_threshold: float = setting(
        0.5,
        kind="share",
        greater_than=0,
        example=0.5,
        metavar="PROBABILITY",
        help="A set of entries is vulnerable if it is cracked with at least this probability.",
    )
    pattern_only: bool = setting(
        False,
        kind="flag",
        former_names=("pattern",),
        help="Look only at which numbers are 0; otherwise the numbers are weights.",
    )
