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
        metavar="NUMBER",
        help="How many quasi-identifiers of a person, or items of a basket, an attacker knows at most who wants to "
        "learn more.",
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
        help="How the privacy score weighs what has no weight of its own. rarity: sensitive values are the more "
        "dangerous the rarer they are. k-anonymity: all are equally dangerous. complementary: what is known with "
        "likelihood l has the danger 1 - l, and the other way round.",
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
        help="What stands beside the sum of dangers D in the danger score D / (offset + D): the smaller, the sooner a "
        "few dangers count fully.",
    )
    score_threshold: float = setting(
        0.3,
        kind="share",
        metavar="NUMBER",
        help="The weight from which on an inference counts as bad, for the privacy score.",
    )
