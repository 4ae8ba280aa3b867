"""What the attacker of a case believes about item frequencies: what a file says, what similar baskets suggest, or the
truth to within some precision.

A protected release is attacked by someone who believes the same about the original, and knows what was done
(``change``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.case import Case
from unveil.errors import UnveilError
from unveil.items.attack import known_protection_text, original_baskets
from unveil.items.attacker_files import parse_beliefs, similar_counts
from unveil.items.beliefs import Beliefs
from unveil.items.frequency_groups import FrequencyGroups
from unveil.items.item_changes import ItemChange, carry_beliefs
from unveil.items.settings import ItemsSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.wording import count_text, number_text, percent_text, safe_text

__all__ = [
    "beliefs_from_sample",
    "build_beliefs",
    "describe_attacker",
    "find_change",
    "gap_function",
    "has_precision",
    "precision_in_baskets",
    "released_codes",
]

_MAX_UNMATCHED_SHARE = 0.05  # the share of items that may fit nothing before similar baskets are trusted less


def build_beliefs(case: Case, policy: Policy, part: float = 1.0) -> Beliefs:
    """What is believed about the released items. With a ``part``, someone whose precision is that part of the policy's.

    Someone who holds similar baskets is usually wrong about some items, so that no mapping fits. A few items that stand
    in the way are treated as unknown; if there are more, every interval is first widened by a standard error.
    """
    change = find_change(case)
    if isinstance(similar := case.holds.get("similar"), Transactions):
        found, _ = similar_counts(similar, original_baskets(case))
        return beliefs_from_sample(case, found, similar.baskets)
    beliefs = _original_beliefs(case, policy, part)
    return beliefs if change is None else carry_beliefs(beliefs, change)


def beliefs_from_sample(case: Case, found: Ints, size: int) -> Beliefs:
    """What someone believes about the released items who holds ``size`` baskets in which the items of the original
    occur ``found`` times."""
    change, baskets = find_change(case), original_baskets(case)
    beliefs = Beliefs.from_sample(found, baskets.baskets / size, baskets.counts)
    beliefs = beliefs if (found > 0).all() else beliefs.forget_items(found == 0)
    if change is not None:
        beliefs = carry_beliefs(beliefs, change)
    if beliefs.unmatched_count > _MAX_UNMATCHED_SHARE * beliefs.n:
        beliefs = beliefs.widen_intervals(_standard_error(beliefs, baskets, size))
    return beliefs.forget_unmatched_items()


def _standard_error(beliefs: Beliefs, baskets: Transactions, size: int) -> Floats:
    """By how much a scaled-up count from similar baskets is off by chance: the binomial standard deviation, and at
    least one similar basket."""
    scale = baskets.baskets / size
    middle = (np.maximum(beliefs.low, 0) + np.minimum(beliefs.high, baskets.baskets)) / 2
    count = np.clip(middle, 0, baskets.baskets)
    off: Floats = np.sqrt(scale * count * (1 - count / baskets.baskets))
    return np.maximum(off, scale)


def describe_attacker(case: Case, policy: Policy, beliefs: Beliefs) -> str:
    """The attacker in words."""
    baskets = original_baskets(case)
    done = known_protection_text(case)
    if isinstance(case.holds.get("beliefs"), Table):
        if beliefs.ranges is not None:
            return (
                f"{done}Believes that the frequency of each item named in a file lies in one of the ranges given "
                "there, and takes pseudonyms in a range of more weight for likelier."
            )
        return f"{done}Believes that the frequency of each item named in a file lies in the interval given there."
    if isinstance(similar := case.holds.get("similar"), Transactions):
        there = similar_counts(similar, baskets)[1]
        return (
            f"{done}Holds {count_text(similar.baskets, 'similar basket')} with the items' names. Believes that each "
            "item is as frequent as in these baskets, give or take their median gap (plus a standard error if too many "
            "items would not fit otherwise), and treats items that fit no pseudonym as unknown. "
            f"The similar baskets name {number_text(int(there.sum()))} of {count_text(len(there), 'item')}. These "
            f"beliefs are right for {percent_text(beliefs.alpha)} of the items."
        )
    precision, exactly = precision_in_baskets(baskets, policy), "Knows exactly how often every item was bought"
    gap = _gap_text(policy.settings_for(ItemsSettings).frequency_precision)
    within = f" to within {number_text(precision)} of {count_text(baskets.baskets, 'basket')}{gap}"
    knows = f"Knows how often every item was bought{within}" if precision else exactly
    return f"{done}{knows}, and tries to tell which pseudonym is which item."


def _gap_text(precision: str | float) -> str:
    """Which gap the attacker's precision is."""
    if not isinstance(precision, str):
        return ""
    if precision.endswith("x"):
        return f" ({number_text(float(precision[:-1]))} times the median gap between frequencies)"
    return f" (the {precision.removesuffix('-gap')} gap between frequencies)"


def released_codes(case: Case) -> dict[str, int | None]:
    """The number that every item has in the release, by its name in the original; None if it is not released by
    itself."""
    change, labels = find_change(case), original_baskets(case).labels.to_pylist()
    if change is None:
        return {label: code for code, label in enumerate(labels)}
    alone = change.members[change.becomes] == 1
    codes = zip(labels, change.becomes.tolist(), alone.tolist(), strict=True)
    return {label: code if code >= 0 and single else None for label, code, single in codes}


def find_change(case: Case) -> ItemChange | None:
    """What was done to the original; None if the case has no original."""
    original, release = case.original, case.release
    if original is None and case.truth is None:
        return None
    assert isinstance(release, Transactions)
    if not isinstance(original, Transactions) or case.truth is None:
        raise UnveilError(f"{safe_text(release.name)}: give both the original baskets and the mapping of their items")
    if len(case.truth) != len(original.labels):
        raise UnveilError(f"{safe_text(release.name)}: the mapping must say what became of each item of the original")
    truth = np.asarray(case.truth, np.int64)
    if not np.array_equal(np.unique(truth[truth >= 0]), np.arange(len(release.labels))):
        raise UnveilError(f"{safe_text(release.name)}: the mapping lacks some of its items; check the mapping")
    return ItemChange(truth, release.counts)


def _original_beliefs(case: Case, policy: Policy, part: float) -> Beliefs:
    """What is believed about the items of the original."""
    baskets = original_baskets(case)
    if isinstance(given := case.holds.get("beliefs"), Table):
        return parse_beliefs(given, baskets)
    return Beliefs.from_half_width(baskets.counts, part * precision_in_baskets(baskets, policy))


def has_precision(case: Case) -> bool:
    """Whether the attacker knows frequencies to within some precision, not what a file says."""
    return "beliefs" not in case.holds and "similar" not in case.holds


def gap_function(case: Case, policy: Policy) -> Callable[[npt.ArrayLike], float] | None:
    """How the attacker's precision follows from the counts of a release; None where it does not."""
    precision = policy.settings_for(ItemsSettings).frequency_precision
    if not isinstance(precision, str) or not has_precision(case):
        return None
    return lambda counts: _gap_of_counts(counts, precision)


def precision_in_baskets(baskets: Transactions, policy: Policy) -> float:
    """By how many baskets the attacker's belief may be off."""
    precision = policy.settings_for(ItemsSettings).frequency_precision
    if not isinstance(precision, str):
        return precision * baskets.baskets
    return _gap_of_counts(baskets.counts, precision)


def _gap_of_counts(counts: npt.ArrayLike, which: str) -> float:
    groups = FrequencyGroups.from_counts(counts)
    if which.endswith("x"):
        return float(which[:-1]) * groups.median_gap
    return groups.median_gap if which == "median-gap" else groups.mean_gap
