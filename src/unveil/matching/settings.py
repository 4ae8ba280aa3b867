"""The settings of the question ``matching``."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.settings import setting

__all__ = ["MatchingSettings"]


@dataclass(frozen=True, kw_only=True)
class MatchingSettings:
    """What a matrix of candidates may look like."""

    may_exclude_truth: bool = setting(
        False,
        kind="flag",
        former_names=("may_be_wrong",),
        help="Allow a matrix that excludes true pairs. Such entries are never cracked.",
    )
