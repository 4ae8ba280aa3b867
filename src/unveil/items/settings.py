"""The settings of the question ``items``."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.settings import setting

__all__ = ["ItemsSettings"]


@dataclass(frozen=True, kw_only=True)
class ItemsSettings:
    """What the attacker knows about items, and which sets of items to protect."""

    frequency_precision: str | float = setting(
        "median-gap",
        kind="share",
        choices=("median-gap", "mean-gap"),
        pattern=r"\d{1,6}(\.\d{1,6})?x",
        expected_form="median-gap, mean-gap, a multiple of the median gap such as 2x",
        example=0.01,
        metavar="PRECISION",
        former_names=("width",),
        help="How precisely the attacker knows item frequencies: to within the median-gap or the mean-gap between "
        "successive frequencies, a multiple of the median gap such as 2x, or a share of the baskets such as 0.01.",
    )
    itemsets: str | None = setting(
        None,
        kind="text",
        pattern=r"pairs|top:\d\d?|[1-9]\d?",
        expected_form="pairs, top:10 (pairs without the most frequent tenth) or a size such as 3",
        example="pairs",
        metavar="WHICH",
        help="Sets of items to protect: pairs, top:10 (pairs without the most frequent tenth of the items) or a size "
        "such as 3. Unless sets are named, pairs are measured for information only.",
    )
    itemset_threshold: float = setting(
        0.5,
        kind="share",
        greater_than=0,
        example=0.5,
        metavar="PROBABILITY",
        former_names=("danger",),
        help="A set of items is vulnerable if it is identified with at least this probability.",
    )
    known_pairs: int | None = setting(
        None,
        kind="whole number",
        at_least=1,
        example=20,
        metavar="NUMBER",
        former_names=("pairs_known",),
        help="How many of the most frequent pairs of items the attacker knows. Unless this is set, 20 are assumed, for "
        "information only.",
    )
