"""The settings of the question ``inference``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from unveil.risk import CLASS_SIZE
from unveil.settings import setting

if TYPE_CHECKING:
    from unveil.policy import Policy

__all__ = ["InferenceSettings", "least_sharing"]


def least_sharing(policy: Policy) -> int:
    """How many people must share facts at least: the smallest class that the policy tolerates."""
    return max(1, ceil(policy.threshold_of(CLASS_SIZE)))


@dataclass(frozen=True, kw_only=True)
class InferenceSettings:
    """How much somebody knows who wants to learn more, and from when on they have learned something."""

    facts_known: int = setting(
        3,
        kind="whole number",
        at_least=1,
        at_most=9,
        metavar="NUMBER",
        help="The most quasi-identifiers of a person, or items of a basket, that an attacker knows who wants to learn "
        "more.",
    )
    gain: float = setting(
        0.5,
        kind="share",
        greater_than=0,
        metavar="SHARE",
        help="By how much belief in a sensitive value or an item must rise to count as learned; 0.5 is from 20% to "
        "70%, say.",
    )
    sensitive_items: tuple[str, ...] = setting(
        (),
        kind="texts",
        release_kinds=("transactions",),
        metavar="ITEM",
        secret=True,
        help="An item that must not be learned from the others in a basket. Unless one is named, all are.",
    )
    score_weights: str = setting(
        "rarity",
        kind="text",
        choices=("rarity", "k-anonymity", "complementary"),
        help="How the privacy score weighs what has no weight of its own. rarity: the rarer a sensitive value, the "
        "more dangerous it is. k-anonymity: all are equally dangerous. complementary: what is known with likelihood "
        "l has the danger 1 - l, and the other way round.",
    )
    likelihood: Mapping[str, float] = setting(
        {},
        kind="share per column",
        metavar="WHAT=NUMBER",
        example="age = 0.9",
        secret=True,
        help="How likely it is that an attacker knows a column, a value (written column=value) or an item, for the "
        "privacy score. By default, quasi-identifiers and items are known and sensitive columns are not.",
    )
    danger: Mapping[str, float] = setting(
        {},
        kind="share per column",
        metavar="WHAT=NUMBER",
        example="diagnosis = 0.8",
        secret=True,
        help="How dangerous it is if a column, a value (written column=value) or an item is learned, for the privacy "
        "score. By default, sensitive columns and items are, and quasi-identifiers are not.",
    )
    score_offset: float = setting(
        1.0,
        kind="share",
        greater_than=0,
        metavar="NUMBER",
        help="The offset in the danger score D / (offset + D), where D is a sum of dangers: with a smaller one, a few "
        "dangers count almost fully. Above 0, up to 1.",
    )
    score_threshold: float = setting(
        0.3,
        kind="share",
        metavar="NUMBER",
        help="The privacy score from which on somebody counts as exposed.",
    )
