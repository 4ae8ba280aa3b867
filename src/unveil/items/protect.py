"""How the items of baskets can be protected: rename them, leave some out, replace some with categories, or change how
often they occur."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

_MARGIN = 0.5  # the part of the attacker's precision that a protection should withstand, if it can
_TRIED_PARTS = (1.0, 0.75, 0.5, 0.25, 0.0)  # parts of it for which a protection is tried


def _rename_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
    from unveil.items.item_changes import identity_change

    baskets = _unprotected_baskets(case)
    return _make_protection("Only names and order change.", case, identity_change(baskets.counts), run)


def _suppress_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.items import protection_search

    baskets = _unprotected_baskets(case)
    change = _find_change(case, policy, run, strictness, lambda search, part: protection_search.suppress_items(search))
    if change is None:
        return None
    gone = int((change.becomes < 0).sum())
    sentence = f"{gone:,} of {count_text(len(baskets.labels), 'item')} {verb(gone, 'is', 'are')} left out."
    return _make_protection(sentence + _withstands_text(case, policy, run, change), case, change, run)


def _merge_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    from unveil.items import protection_search

    baskets = _unprotected_baskets(case)

    def merge(search: ProtectionSearch, part: float) -> ItemChange | None:
        if isinstance(given := case.holds.get("categories"), Table):
            from unveil.items.attacker_files import parse_categories

            return protection_search.collapse_categories(search, parse_categories(given, baskets), baskets)
        return protection_search.merge_items(search, baskets)

    change = _find_change(case, policy, run, strictness, merge)
    if change is None:
        return None
    sizes = change.members[change.members > 1]
    replaced = int(sizes.sum())
    sentence = (
        f"{replaced:,} of {count_text(len(baskets.labels), 'item')} {verb(replaced, 'is', 'are')} replaced with "
        f"{count_text(len(sizes), 'category')}."
    )
    return _make_protection(sentence + _withstands_text(case, policy, run, change), case, change, run)


def _recount_items(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    import numpy as np

    from unveil.items import protection_search
    from unveil.items.attacker_beliefs import gap_function

    baskets, gap = _unprotected_baskets(case), gap_function(case, policy)

    def recount(search: ProtectionSearch, part: float) -> ItemChange | None:
        return protection_search.recount_items(search, None if gap is None else lambda counts: part * gap(counts))

    change = _find_change(case, policy, run, strictness, recount)
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
    return _make_protection(sentence + _withstands_text(case, policy, run, change), case, change, run)


def _unprotected_baskets(case: Case) -> Transactions:
    assert isinstance(case.release, Transactions)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    return case.release


def _find_change(
    case: Case,
    policy: Policy,
    run: Run,
    strictness: float,
    search_change: Callable[[ProtectionSearch, float], ItemChange | None],
) -> ItemChange | None:
    """A change that also withstands someone who knows frequencies twice as precisely as assumed; if there is none, or
    the attacker's beliefs come from a file, one that withstands the attacker as assumed."""
    from unveil.items.attacker_beliefs import has_precision

    for part in (_MARGIN, 1.0) if has_precision(case) else (1.0,):
        change = search_change(_make_search(case, policy, run, strictness, part), part)
        if change is not None and (part == 1 or _make_search(case, policy, run, strictness).is_sufficient(change)):
            return change
    return None


def _withstands_text(case: Case, policy: Policy, run: Run, change: ItemChange) -> str:
    """How precisely frequencies may be known before too many items are identified, as far as that can be computed."""
    from unveil.items.attacker_beliefs import build_beliefs, has_precision, precision_in_baskets
    from unveil.items.crack_evaluation import CrackEvaluator
    from unveil.items.item_changes import carry_beliefs

    precision = precision_in_baskets(_unprotected_baskets(case), policy)
    if not has_precision(case) or not precision:
        return ""
    evaluator, limit = CrackEvaluator(run), policy.threshold(EXPECTED_CRACKS) * len(change.counts) * (1 + 1e-9)
    held = broken = None

    def precision_text(part: float) -> str:
        assumed = f"{number_text(precision)} {verb(precision, 'basket', 'baskets')}"
        return f"{number_text(part * precision)} instead of {assumed}"

    for part in _TRIED_PARTS:
        cracks = evaluator.evaluate_cracks(carry_beliefs(build_beliefs(case, policy, part), change))
        if not evaluator.exact:
            return ""
        if cracks > limit:
            broken = part
            break
        held = part
    if held is None:
        return ""
    if broken is None:
        return " This also withstands someone who knows every frequency exactly."
    closer = "someone who knows every frequency exactly"
    if broken:
        closer = f"someone who knows frequencies to within {precision_text(broken)}"
    if held == 1:
        return f" This does not withstand {closer}."
    return f" This also withstands someone who knows frequencies to within {precision_text(held)}, but not {closer}."


def _make_search(case: Case, policy: Policy, run: Run, strictness: float, part: float = 1.0) -> ProtectionSearch:
    from unveil.items.attacker_beliefs import build_beliefs
    from unveil.items.crack_evaluation import CrackEvaluator
    from unveil.items.protection_search import ProtectionSearch

    beliefs, evaluator = build_beliefs(case, policy, part).cover_true_counts(), CrackEvaluator(run)
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
