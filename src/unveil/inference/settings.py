"""The settings of the question ``inference``."""

from __future__ import annotations

from collections.abc import Mapping
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
    likelihood: Mapping[str, str] = setting(
        {},
        kind="text per column",
        release_kinds=("table",),
        pattern=r"0|1|0?\.\d+|1\.0+",
        expected_form="a number from 0 to 1, such as 0.5",
        metavar="COLUMN=NUMBER",
        example='age = "0.9"',
        help="How likely it is that an attacker knows a column, for the privacy score. By default, quasi-identifiers "
        "are known and sensitive columns are not.",
    )
    danger: Mapping[str, str] = setting(
        {},
        kind="text per column",
        release_kinds=("table",),
        pattern=r"0|1|0?\.\d+|1\.0+",
        expected_form="a number from 0 to 1, such as 0.5",
        metavar="COLUMN=NUMBER",
        example='diagnosis = "0.8"',
        help="How dangerous it is if a column is learned, for the privacy score. By default, sensitive columns are, "
        "the more the rarer the value; quasi-identifiers are not.",
    )
    score_threshold: float = setting(
        0.3,
        kind="share",
        release_kinds=("table",),
        metavar="NUMBER",
        help="The weight from which on an inference counts as bad, for the privacy score.",
    )
