"""The finding of the recipe for items, and what the recipes for items and for sets of items have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unveil.finding import Curve, Finding
from unveil.items.attack import LAKSHMANAN, FrequencyAttack
from unveil.items.risks import ALPHA_MAX
from unveil.matching.crack_text import average_text
from unveil.policy import Policy
from unveil.run import Run
from unveil.wording import count_text, number_text, percent_text

if TYPE_CHECKING:
    from unveil.items.item_recipe import ItemRecipe, MixedUpItems

__all__ = ["alpha_max_finding", "mixed_up_text", "recipe_text", "right_items_curve"]

_MAX_MIXED_UP_ITEMS = 2000  # items up to which wrong items are also mixed up with each other


def alpha_max_finding(attack: FrequencyAttack, policy: Policy, run: Run) -> Finding:
    """About how many items the attacker may be right without identifying too many."""
    from unveil.items.item_recipe import assess_mixed_up_items

    recipe, solution = attack.recipe, attack.recipe.solution
    elsewhere = None
    if recipe.last_step == 3 and solution.exact and recipe.items <= _MAX_MIXED_UP_ITEMS:
        elsewhere = assess_mixed_up_items(
            attack.beliefs, solution, recipe.tolerated_cracks, run.rng("items.alpha_max"), run
        )
    low, high = (min(1.0, recipe.tolerated_cracks / x) if x else 1.0 for x in reversed(solution.interval))
    return ALPHA_MAX.finding(
        policy,
        value=recipe.alpha_max,
        method=solution.method,
        interval=(low, high),
        confidence=run.confidence,
        subjects=recipe.items,
        attacker=attack.attacker,
        sentence=_item_recipe_text(recipe, elsewhere),
        curves=tuple(_item_curves(recipe, elsewhere)),
        source=f"{LAKSHMANAN}, Figure 8 (Assess-Risk)",
    )


def _item_recipe_text(recipe: ItemRecipe, elsewhere: MixedUpItems | None) -> str:
    cracks = average_text(recipe.solution.expected_cracks, recipe.solution.exact)
    right, mixed_up = int(recipe.alpha_max * recipe.items), ""
    if elsewhere is not None:
        mixed_up = mixed_up_text(None if elsewhere.cracks[0] > recipe.tolerated_cracks else elsewhere.alpha_max)
    return recipe_text(
        recipe.last_step,
        f"{recipe.cracks_if_exact:,} of {count_text(recipe.items, 'item')} identified on average, against a limit of "
        f"{number_text(recipe.tolerated_cracks)}",
        f"roughly: {cracks} identified on average",
        f"{percent_text(recipe.alpha_max)} of the items ({right:,} of {recipe.items:,}), if those they are wrong about "
        "are never identified",
        mixed_up,
    )


def _item_curves(recipe: ItemRecipe, elsewhere: MixedUpItems | None) -> Iterable[Curve]:
    alphas = tuple(k / 10 for k in range(11))
    yield right_items_curve(
        "Items identified, by how many the attacker is right about",
        "items identified on average",
        alphas,
        [[a * recipe.solution.expected_cracks for a in alphas]],
        recipe.alpha_max,
        "Items that the attacker is wrong about are never identified and change nothing else.",
    )
    if elsewhere is not None:
        yield right_items_curve(
            "Items identified when wrong items are mixed up",
            "items identified on average",
            elsewhere.alpha,
            [elsewhere.cracks, elsewhere.lowest, elsewhere.highest],
            elsewhere.alpha_max,
            "The attacker mistakes each item they are wrong about for another such item. The line is the mean of five "
            "random choices of right items, each computed exactly; the band runs from the least to the most.",
        )


def recipe_text(last_step: int, step_1: str, step_2: str, right_items: str, mixed_up: str) -> str:
    """A recipe, step by step, as far as it had to go."""
    steps = [f"Step 1, every frequency known: {step_1}."]
    if last_step > 1:
        steps.append(f"Step 2, frequencies known {step_2}.")
    if last_step < 3:
        return " ".join([*steps, "That is within the limit, so the recipe ends here."])
    steps.append(f"Step 3: to stay within the limit, the attacker may be right about no more than {right_items}.")
    if mixed_up:
        steps.append(mixed_up)
    return " ".join([*steps, "You have to judge whether anyone knows that much."])


def mixed_up_text(alpha_max: float | None) -> str:
    """What is tolerated if wrong items are mixed up; without a share, nothing is."""
    most = "even an attacker who is right about none identifies too many"
    if alpha_max is not None:
        most = f"the attacker may be right about no more than {percent_text(alpha_max)}"
    return f"If, instead, the items they are wrong about are mixed up with each other, {most}."


def right_items_curve(
    title: str,
    y_label: str,
    alphas: Iterable[float],
    values: list[Iterable[float]],
    alpha_max: float | None,
    reading: str,
) -> Curve:
    """What is identified by the share of items the attacker is right about: values, and the ends of a band if any."""
    y, *band = (tuple(float(v) for v in line) for line in values)
    low, high = band or (None, None)
    return Curve(
        title=title,
        kind="line",
        x_label="share of items the attacker is right about",
        y_label=y_label,
        x=tuple(float(a) for a in alphas),
        y=y,
        low=low,
        high=high,
        mark=alpha_max if alpha_max is not None and alpha_max < 1 else None,
        mark_label="more is not tolerated",
        reading=reading,
    )
