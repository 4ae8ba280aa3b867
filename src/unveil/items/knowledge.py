"""What the attacker of a case believes: a given file, similar data, or the truth give or take a width.

A protected release is attacked by someone who believes the same of the original, and knows what was done (``change``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.items.groups import Groups
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.wording import counted, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from unveil.items.beliefs import Beliefs
    from unveil.items.change import Change

__all__ = ["attacker_of", "beliefs_of", "change_of", "gap_of", "released_codes"]

_FEW = 0.05  # of the items that may stand in the way before similar data is trusted less


def beliefs_of(case: Case, policy: Policy) -> Beliefs:
    """What is believed of the released items.

    Whoever holds similar data is mostly wrong about some items, so that no mapping fits. If few items stand in the way
    they are taken for unknown; otherwise every interval is first widened by a standard error.
    """
    from unveil.items.change import carried

    change = change_of(case)
    beliefs = _believed(case, policy)
    if change is not None:
        beliefs = carried(beliefs, change)
    if not isinstance(similar := case.holds.get("similar"), Transactions):
        return beliefs
    if beliefs.strays > _FEW * beliefs.n:
        beliefs = beliefs.widened(_standard_error(beliefs, _original(case), similar))
    return beliefs.loosened()


def _standard_error(beliefs: Beliefs, baskets: Transactions, similar: Transactions) -> npt.NDArray[np.float64]:
    """How far a count in similar baskets, scaled up, is off by chance: the binomial deviation, at least one basket."""
    import numpy as np

    scale = baskets.baskets / similar.baskets
    middle = (np.maximum(beliefs.low, 0) + np.minimum(beliefs.high, baskets.baskets)) / 2
    count = np.clip(middle, 0, baskets.baskets)
    off: npt.NDArray[np.float64] = np.sqrt(scale * count * (1 - count / baskets.baskets))
    return np.maximum(off, scale)


def attacker_of(case: Case, policy: Policy, beliefs: Beliefs) -> str:
    """The attacker in words."""
    baskets = _original(case)
    done = "" if case.original is None else "Knows what was done to protect the release. "
    if isinstance(case.holds.get("beliefs"), Table):
        return f"{done}Believes that every item's frequency lies in the interval given for it."
    if isinstance(similar := case.holds.get("similar"), Transactions):
        return (
            f"{done}Holds {counted(similar.baskets, 'similar basket')} with the items' names, and believes every "
            "frequency to be as there, give or take the median gap there and, where too many would not fit, a "
            f"standard error; takes items that fit nothing for unknown. {_matched(similar, baskets)} That is "
            f"right for {percent(beliefs.alpha)} of the items."
        )
    how = {"median-gap": ", the median gap between frequencies", "mean-gap": ", the mean gap between frequencies"}
    return (
        f"{done}Knows how often every item was bought to within {number(_width(baskets, policy))} of "
        f"{counted(baskets.baskets, 'basket')}{how.get(str(policy.width), '')}, and tries to tell which pseudonym is "
        "which item."
    )


def _matched(similar: Transactions, baskets: Transactions) -> str:
    from unveil.items.given import counts_in

    there = counts_in(similar, baskets)[1]
    return f"Of {counted(len(there), 'item')}, {number(int(there.sum()))} are named there."


def released_codes(case: Case) -> dict[str, int | None]:
    """The released number of every item by its name in the original; None if it is not released by itself."""
    change, labels = change_of(case), _original(case).labels.to_pylist()
    if change is None:
        return {label: code for code, label in enumerate(labels)}
    alone = change.members[change.becomes] == 1
    codes = zip(labels, change.becomes.tolist(), alone.tolist(), strict=True)
    return {label: code if code >= 0 and single else None for label, code, single in codes}


def change_of(case: Case) -> Change | None:
    """What was done to the original, if there is one."""
    import numpy as np

    from unveil.items.change import Change

    original, release = case.original, case.release
    if original is None and case.truth is None:
        return None
    assert isinstance(release, Transactions)
    if not isinstance(original, Transactions) or case.truth is None or len(case.truth) != len(original.labels):
        raise UnveilError(f"{shown(release.name)}: the original baskets and what each item became go together")
    truth = np.asarray(case.truth, np.int64)
    if not np.array_equal(np.unique(truth[truth >= 0]), np.arange(len(release.labels))):
        raise UnveilError(f"{shown(release.name)}: has items that no item of the original became; check the mapping")
    return Change(truth, release.counts)


def _original(case: Case) -> Transactions:
    baskets = case.release if case.original is None else case.original
    assert isinstance(baskets, Transactions)
    return baskets


def _believed(case: Case, policy: Policy) -> Beliefs:
    """What is believed of the original items."""
    from unveil.items.beliefs import Beliefs

    baskets = _original(case)
    if isinstance(given := case.holds.get("beliefs"), Table):
        from unveil.items.given import believed

        return believed(given, baskets)
    if isinstance(similar := case.holds.get("similar"), Transactions):
        from unveil.items.given import counts_in

        found, there = counts_in(similar, baskets)
        beliefs = Beliefs.from_sample(found, baskets.baskets / similar.baskets, baskets.counts)
        return beliefs if there.all() else beliefs.without(~there)
    return Beliefs.around(baskets.counts, _width(baskets, policy))


def gap_of(case: Case, policy: Policy) -> Callable[[npt.ArrayLike], float] | None:
    """How the attacker's accuracy follows from the counts of a release; None where it does not."""
    if not isinstance(policy.width, str) or "beliefs" in case.holds or "similar" in case.holds:
        return None
    median = policy.width == "median-gap"
    return lambda counts: Groups.of(counts).median_gap if median else Groups.of(counts).mean_gap


def _width(baskets: Transactions, policy: Policy) -> float:
    if not isinstance(policy.width, str):
        return policy.width * baskets.baskets
    groups = Groups.of(baskets.counts)
    return groups.median_gap if policy.width == "median-gap" else groups.mean_gap
