"""How the items of baskets can be protected: renamed, left out, put into categories, or counted differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Offer, Protection
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import counted, number, percent

if TYPE_CHECKING:
    from unveil.items.change import Change
    from unveil.items.smallest import Search

__all__ = ["PROTECTIONS"]


def _rename(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
    from unveil.items.change import unchanged

    baskets = _baskets(case)
    return _protection("Only names and order change.", case, unchanged(baskets.counts), run)


def _suppress(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.items import smallest

    baskets = _baskets(case)
    change = smallest.suppress(_search(case, policy, run, strictness))
    if change is None:
        return None
    gone = int((change.becomes < 0).sum())
    said = f"{counted(gone, 'item')} of {number(len(baskets.labels))} {_is(gone)} left out."
    return _protection(said, case, change, run)


def _merge(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.items import smallest

    baskets, search = _baskets(case), _search(case, policy, run, strictness)
    if isinstance(given := case.holds.get("categories"), Table):
        from unveil.items.given import categories

        change = smallest.collapse(search, categories(given, baskets), baskets)
    else:
        change = smallest.merge(search, baskets)
    if change is None:
        return None
    together = change.members[change.members > 1]
    said = (
        f"{counted(int(together.sum()), 'item')} of {number(len(baskets.labels))} {_is(int(together.sum()))} replaced "
        f"by {counted(len(together), 'category', 'categories')}."
    )
    return _protection(said, case, change, run)


def _recount(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    import numpy as np

    from unveil.items import smallest
    from unveil.items.knowledge import gap_of

    baskets = _baskets(case)
    change = smallest.recount(_search(case, policy, run, strictness), gap_of(case, policy))
    if change is None:
        return None
    by = change.counts - baskets.counts
    moved = int((by != 0).sum())
    said = (
        f"{counted(moved, 'item')} of {number(len(baskets.labels))} {_is(moved)} put into {number(by[by > 0].sum())} "
        f"and taken out of {number(-by[by < 0].sum())} random baskets, "
        f"{percent(float(np.abs(by).sum() / baskets.counts.sum()))} of all entries."
    )
    return _protection(said, case, change, run)


def _is(many: int) -> str:
    return "is" if many == 1 else "are"


def _baskets(case: Case) -> Transactions:
    assert isinstance(case.release, Transactions)
    if case.original is not None:
        raise UnveilError("protect the original: this release already is a protected one")
    return case.release


def _search(case: Case, policy: Policy, run: Run, strictness: float) -> Search:
    from unveil.items.knowledge import beliefs_of
    from unveil.items.smallest import Search
    from unveil.items.weighing import Scales

    beliefs, scales = beliefs_of(case, policy).made_right(), Scales(run)
    aim = min(policy.wanted("items.expected_cracks"), scales.weigh(beliefs) / beliefs.n)
    return Search(beliefs, strictness * aim, scales)


def _protection(sentence: str, case: Case, change: Change, run: Run) -> Protection:
    from unveil.items.change import applied, usefulness

    baskets = _baskets(case)
    changed = applied(baskets, change)
    found = usefulness(baskets, change, changed, run)
    kept = f" The {counted(found.compared, 'most frequent pair')} before and after agree by {percent(found.pairs)}."
    return Protection(
        sentence=sentence + kept * bool(found.compared),
        usefulness=found.pairs,
        apply=_applied(case, change, changed),
    )


def _applied(case: Case, change: Change, changed: Transactions) -> Callable[[], Case]:
    def apply() -> Case:
        import numpy as np

        from unveil.items.change import pseudonymised

        release, place = pseudonymised(changed)
        truth = np.where(change.becomes >= 0, place[change.becomes], -1)
        return replace(case, release=release, original=case.release, truth=truth)

    return apply


PROTECTIONS = MappingProxyType(
    {
        "rename": Offer("Rename items", _rename, harmless=True),
        "suppress": Offer("Leave out items", _suppress),
        "merge": Offer("Put items into categories", _merge),
        "recount": Offer("Move counts onto each other", _recount),
    }
)
