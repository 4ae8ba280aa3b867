"""How the items of baskets can be protected: rename them, leave some out, replace some with categories, or change how
often they occur."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.items.risks import EXPECTED_CRACKS
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import count_text, number_text, percent_text, verb

if TYPE_CHECKING:
    from unveil.items.item_changes import ItemChange, Usefulness
    from unveil.items.protection_search import ProtectionSearch

__all__ = ["PROTECTIONS"]


def _rename_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
    from unveil.items.item_changes import identity_change

    baskets = _unprotected_baskets(case)
    return _make_protection("Only names and order change.", case, identity_change(baskets.counts), run)


def _suppress_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.items import protection_search

    baskets = _unprotected_baskets(case)
    change = protection_search.suppress_items(_make_search(case, policy, run, strictness))
    if change is None:
        return None
    gone = int((change.becomes < 0).sum())
    sentence = f"{gone:,} of {count_text(len(baskets.labels), 'item')} {verb(gone, 'is', 'are')} left out."
    return _make_protection(sentence, case, change, run)


def _merge_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.items import protection_search

    baskets, search = _unprotected_baskets(case), _make_search(case, policy, run, strictness)
    if isinstance(given := case.holds.get("categories"), Table):
        from unveil.items.attacker_files import parse_categories

        change = protection_search.collapse_categories(search, parse_categories(given, baskets), baskets)
    else:
        change = protection_search.merge_items(search, baskets)
    if change is None:
        return None
    sizes = change.members[change.members > 1]
    replaced = int(sizes.sum())
    sentence = (
        f"{replaced:,} of {count_text(len(baskets.labels), 'item')} {verb(replaced, 'is', 'are')} replaced with "
        f"{count_text(len(sizes), 'category')}."
    )
    return _make_protection(sentence, case, change, run)


def _recount_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    import numpy as np

    from unveil.items import protection_search
    from unveil.items.attacker_beliefs import gap_function

    baskets = _unprotected_baskets(case)
    change = protection_search.recount_items(_make_search(case, policy, run, strictness), gap_function(case, policy))
    if change is None:
        return None
    by = change.counts - baskets.counts
    moved = int((by != 0).sum())
    added, removed = int(by[by > 0].sum()), int(-by[by < 0].sum())
    sentence = (
        f"The counts of {moved:,} of {count_text(len(baskets.labels), 'item')} change: {count_text(added, 'entry')} "
        f"{verb(added, 'is', 'are')} added to random baskets and {removed:,} {verb(removed, 'is', 'are')} removed from "
        f"random baskets, together {percent_text(float(np.abs(by).sum() / baskets.counts.sum()))} of all entries."
    )
    return _make_protection(sentence, case, change, run)


def _unprotected_baskets(case: Case) -> Transactions:
    assert isinstance(case.release, Transactions)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    return case.release


def _make_search(case: Case, policy: Policy, run: Run, strictness: float) -> ProtectionSearch:
    from unveil.items.attacker_beliefs import build_beliefs
    from unveil.items.crack_evaluation import CrackEvaluator
    from unveil.items.protection_search import ProtectionSearch

    beliefs, evaluator = build_beliefs(case, policy).cover_true_counts(), CrackEvaluator(run)
    aim = min(policy.threshold(EXPECTED_CRACKS), evaluator.evaluate_cracks(beliefs) / beliefs.n)
    return ProtectionSearch(beliefs, strictness * aim, evaluator)


def _make_protection(sentence: str, case: Case, change: ItemChange, run: Run) -> Protection:
    import numpy as np

    from unveil.items.item_changes import apply_change, measure_usefulness, pseudonymise_baskets

    def apply() -> Case:
        release, place = pseudonymise_baskets(changed)
        truth = np.where(change.becomes >= 0, place[change.becomes], -1)
        return replace(case, release=release, original=case.release, truth=truth)

    baskets = _unprotected_baskets(case)
    changed = apply_change(baskets, change)
    found = measure_usefulness(baskets, change, changed, run)
    return Protection(
        sentence=" ".join([sentence, *_usefulness_text(found)]),
        usefulness=found.pair_agreement,
        apply=apply,
    )


def _usefulness_text(found: Usefulness) -> Iterator[str]:
    """What is left of the most frequent pairs and triples, and of the baskets themselves."""
    if found.pairs_compared:
        pairs = count_text(found.pairs_compared, "most frequent pair")
        yield (
            f"The counts of the {pairs} before and after overlap to {percent_text(found.pair_agreement)}; as sets, "
            f"these pairs agree to {percent_text(found.pair_jaccard)} (Jaccard index)."
        )
    if found.triples_compared:
        yield (
            f"Of the {count_text(found.triples_compared, 'most frequent triple')}, "
            f"{percent_text(found.triple_recall)} {verb(found.triples_compared, 'is', 'are')} still among the most "
            "frequent."
        )
    if found.baskets_lost:
        lost = found.baskets_lost
        left = verb(lost, "in it", "in them")
        yield f"{count_text(lost, 'basket vanishes', 'baskets vanish')}, with no item left {left}."
    if found.resized_baskets:
        before, after = (number_text(size) for size in found.basket_sizes)
        yield f"Basket sizes change: {before} items per basket before, {after} after, on average."


_CAVEAT = (
    "Someone who holds counts of pairs with the items' names, or some of the original baskets, can compare all pairs "
    "at once and may still identify most items: see docs/protect.md."
)

PROTECTIONS = MappingProxyType(
    {
        "rename": ProtectionOffer(
            "Rename items",
            "Number items at random; the other methods do that as well.",
            _rename_items,
            is_harmless=True,
            caveat=_CAVEAT,
        ),
        "suppress": ProtectionOffer(
            "Leave out items", "Leave out as few items as possible.", _suppress_items, caveat=_CAVEAT
        ),
        "merge": ProtectionOffer(
            "Replace items with categories",
            "Replace as few items as possible with categories.",
            _merge_items,
            caveat=_CAVEAT,
        ),
        "recount": ProtectionOffer(
            "Equalise item counts",
            "Add items to random baskets and remove them from others.",
            _recount_items,
            caveat=_CAVEAT,
        ),
    }
)
