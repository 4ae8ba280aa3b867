"""The findings about sets of items: which are identified, and how much the attacker may know until too many are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Curve, Finding
from unveil.items.ask_recipe import (
    MIXED_UP_READING,
    curve_places,
    mixed_up_text,
    recipe_text,
    right_items_curve,
)
from unveil.items.attack import LAKSHMANAN, FrequencyAttack
from unveil.items.risks import ITEMSETS_VULNERABLE
from unveil.items.settings import ItemsSettings
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.items.itemset_recipe import ItemsetRecipe
    from unveil.items.itemsets import ItemsetRequirement, VulnerableShare
    from unveil.items.mixed_up_itemsets import MixedUpItemsets

__all__ = ["ItemsetGroup", "itemset_findings", "policy_itemsets"]

_MAX_ITEMS_FOR_SETS = 500  # items up to which wrong items are also mixed up with each other
_MAX_LISTED_SETS = 1000  # listed sets up to which they are


@dataclass(frozen=True)
class ItemsetGroup:
    """Sets of items with a threshold and a tolerance, and what to call one and several of them.

    ``label`` tells the groups of a file apart: the number of the class and, where a group has thresholds of its own,
    these. Names of classes come from the data, so that they are called by them only if values are to be revealed.
    """

    requirement: ItemsetRequirement
    singular: str
    plural: str
    label: tuple[str, ...] | None = None


def itemset_findings(attack: FrequencyAttack, policy: Policy, run: Run) -> Iterator[Finding]:
    """One finding for each group of sets. If none are named, all pairs, for information only."""
    from unveil.items.itemsets import measure_vulnerable_share

    asked = "itemsets_file" in attack.case.holds or policy.settings_for(ItemsSettings).itemsets is not None
    decides = asked and policy.tolerance_for(ITEMSETS_VULNERABLE) is not None
    for group in policy_itemsets(attack.case, policy, default=None if asked else "pairs", reveal=run.reveal):
        found = measure_vulnerable_share(attack.beliefs, group.requirement, run, solution=attack.recipe.solution)
        steps, curves = _run_itemset_recipe(found, attack, run) if decides else ("", ())
        threshold = percent_text(found.requirement.sigma)
        yield ITEMSETS_VULNERABLE.finding(
            policy,
            title=f"{capitalise_text(group.plural)} identified with a probability of {threshold} or more",
            known=group.label,
            value=found.share,
            method=found.method,
            interval=found.interval,
            confidence=run.confidence if found.method == "simulation" else None,
            subjects=found.itemsets,
            share=(max(0.0, found.interval[0]), min(1.0, found.interval[1])),
            tolerance=found.requirement.tau if decides else None,
            attacker=attack.attacker,
            baseline=found.requirement.share_guessed(attack.recipe.items),
            sentence=f"{_vulnerable_text(found, group, threshold)}{steps}",
            curves=curves,
            source=f"{LAKSHMANAN}, Definition 2.1 and Figure 9; exact probabilities instead of OS",
        )


def policy_itemsets(case: Case, policy: Policy, default: str | None = None, reveal: bool = False) -> list[ItemsetGroup]:
    """The sets of items that a file lists, and those that the policy names, if any."""
    from unveil.items.itemsets import ItemsetRequirement

    settings = policy.settings_for(ItemsSettings)
    sigma, tau = settings.itemset_threshold, policy.threshold(ITEMSETS_VULNERABLE)
    listed = _listed_itemsets(case, sigma, tau, reveal)
    which = settings.itemsets or default
    if which is None:
        return listed
    top = int(which[4:]) / 100 if which.startswith("top:") else 0.0
    size = int(which) if which.isdecimal() else 2
    requirement = ItemsetRequirement(size, top, sigma=sigma, tau=tau)
    if top:
        outside = f"of items outside the most frequent {percent_text(top)}"
        return [*listed, ItemsetGroup(requirement, f"pair {outside}", f"pairs {outside}")]
    return [*listed, ItemsetGroup(requirement, *_set_names(size))]


def _set_names(size: int) -> tuple[str, str]:
    if size == 1:
        return "single item", "single items"
    return ("pair of items", "pairs of items") if size == 2 else (f"set of {size} items", f"sets of {size} items")


def _listed_itemsets(case: Case, sigma: float, tau: float, reveal: bool) -> list[ItemsetGroup]:
    """The groups of sets in a file: one for each class and pair of thresholds."""
    given = case.holds.get("itemsets_file")
    if not isinstance(given, Table):
        return []
    from unveil.items.attacker_beliefs import released_codes
    from unveil.items.attacker_files import number_classes, parse_itemsets

    groups, numbers = [], number_classes(given)
    for kind, requirement in parse_itemsets(given, released_codes(case), sigma, tau):
        own = [f"threshold {requirement.sigma}"] if requirement.sigma != sigma else []
        own += [f"tolerance {requirement.tau}"] if requirement.tau != tau else []
        singular, plural, label = "listed itemset", "listed itemsets", "listed itemsets"
        if kind:
            label = f"class {numbers[kind]} of your file"
            shown = f"class {safe_text(kind)}" if reveal else label
            singular, plural = f"itemset of {shown}", f"itemsets of {shown}"
        groups.append(ItemsetGroup(requirement, singular, plural, label=(label, *own)))
    return groups


def _run_itemset_recipe(found: VulnerableShare, attack: FrequencyAttack, run: Run) -> tuple[str, tuple[Curve, ...]]:
    """The recipe for sets that the owner named, in words and as curves."""
    from unveil.items.itemset_recipe import assess_risk_itemsets
    from unveil.items.mixed_up_itemsets import assess_mixed_up_itemsets

    requirement, beliefs, solution = found.requirement, attack.beliefs, attack.recipe.solution
    recipe = assess_risk_itemsets(beliefs, requirement, run, believed=found, solution=solution)
    few = beliefs.n <= _MAX_ITEMS_FOR_SETS and (
        requirement.listed is None or len(requirement.listed) <= _MAX_LISTED_SETS
    )
    elsewhere = None
    if recipe.last_step == 3 and few and solution.exact:
        elsewhere = assess_mixed_up_itemsets(beliefs, recipe, run, solution=solution)
    return f" {_itemset_recipe_text(recipe, elsewhere)}", tuple(_itemset_curves(recipe, elsewhere))


def _itemset_recipe_text(recipe: ItemsetRecipe, elsewhere: MixedUpItemsets | None) -> str:
    believed, alpha_max = recipe.known_roughly, recipe.alpha_max
    low, high = (percent_text(end) for end in recipe.interval)
    unsure = f"; the exact limit lies between {low} and {high}" if recipe.interval[0] < recipe.interval[1] else ""
    return recipe_text(
        recipe.last_step,
        f"{percent_text(recipe.known_exactly.share)} are vulnerable, against a limit of "
        f"{percent_text(believed.requirement.tau)}",
        f"as believed: {_share_text(believed)} are vulnerable",
        f"{percent_text(alpha_max)} of the items ({round(alpha_max * recipe.items):,} of {recipe.items:,}{unsure}), if "
        "no set with an item they are wrong about is identified",
        "" if elsewhere is None else mixed_up_text(*elsewhere.alpha_max, recipe.items, elsewhere.is_exact),
    )


def _itemset_curves(recipe: ItemsetRecipe, elsewhere: MixedUpItemsets | None) -> Iterator[Curve]:
    right = curve_places(recipe.items)
    alphas = [m / max(recipe.items, 1) for m in right]
    yield right_items_curve(
        "Vulnerable sets, by how many items the attacker is right about",
        "share of the sets that are vulnerable",
        alphas,
        [recipe.excluded_shares[right]],
        recipe.alpha_max,
        "A set with an item that the attacker is wrong about counts as not identified; all other sets stay as they "
        "are. The line is the mean over all choices of right items.",
    )
    if elsewhere is not None:
        lines = [elsewhere.share, *([] if elsewhere.is_exact else [elsewhere.low, elsewhere.high])]
        drawn = "" if elsewhere.is_exact else ", simulated; the band is where it lies with the confidence of the report"
        yield right_items_curve(
            "Vulnerable sets when wrong items are mixed up",
            "share of the sets that are vulnerable",
            alphas,
            [line[right] for line in lines],
            elsewhere.alpha_max[0],
            f"{MIXED_UP_READING} A set is also identified if its items take each other's pseudonyms. The line is the "
            f"mean over all choices of right items and all ways to mix up the others{drawn}.",
        )


def _vulnerable_text(found: VulnerableShare, group: ItemsetGroup, threshold: str) -> str:
    """Which share is vulnerable, what that means, how it was found and what could not be decided."""
    if not found.itemsets:
        return f"There are no {group.plural}."
    meaning = "A set is vulnerable if the attacker assigns it exactly its own pseudonyms, in any order,"
    if found.requirement.listed is None and found.requirement.size == 1:
        meaning = "An item is vulnerable if the attacker assigns it its own pseudonym"
    return (
        f"{_vulnerable_share_sentence(found, group)} {meaning} with a probability of {threshold} or more."
        f"{_undecided_text(found, group)} The published estimate (OS) is {percent_text(found.estimate)}."
    )


def _vulnerable_share_sentence(found: VulnerableShare, group: ItemsetGroup) -> str:
    if found.itemsets == 1:
        maybe = "may be" if found.undecided_count else "is" if found.share else "is not"
        return f"The only {group.singular} {maybe} vulnerable."
    if found.inspected_count == found.itemsets:
        return f"Of {found.itemsets:,} {group.plural}, {_share_text(found)} are vulnerable."
    low, high = (percent_text(end) for end in found.interval)
    most = "at most " if found.undecided_count else ""
    return (
        f"Of {found.inspected_count:,} {group.plural} drawn at random from {found.itemsets:,}, "
        f"{most}{percent_text(found.share)} are vulnerable; of all, between {low} and {high}."
    )


def _share_text(found: VulnerableShare) -> str:
    """The share that is vulnerable, or between what it lies."""
    low, high = (percent_text(end) for end in found.interval)
    return low if low == high else f"between {low} and {high}"


def _undecided_text(found: VulnerableShare, group: ItemsetGroup) -> str:
    """Whether sets were simulated, and how many could not be decided."""
    simulated = " Sets that cannot be computed exactly were simulated." * found.is_simulated
    if not found.undecided_count:
        return simulated
    return f"{simulated} {count_text(found.undecided_count, group.singular, group.plural)} could not be decided."
