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
from unveil.wording import count_text, ends_text, number_text, percent_text

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.items.item_recipe import ItemRecipe

__all__ = [
    "MIXED_UP_READING",
    "alpha_max_finding",
    "curve_places",
    "mixed_up_text",
    "recipe_text",
    "right_items_curve",
]

MIXED_UP_READING = "The attacker mistakes each item they are wrong about for another such item."


def alpha_max_finding(attack: FrequencyAttack, policy: Policy, run: Run) -> Finding:
    """About how many items the attacker may be right without identifying too many."""
    from unveil.items.item_recipe import mixed_up_cracks

    recipe, solution = attack.recipe, attack.recipe.solution
    elsewhere = mixed_up_cracks(solution) if recipe.last_step == 3 and solution.exact and recipe.items > 1 else None
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


def _item_recipe_text(recipe: ItemRecipe, elsewhere: Floats | None) -> str:
    from unveil.items.item_recipe import largest_safe_share

    cracks = average_text(recipe.solution.expected_cracks, recipe.solution.exact)
    right, mixed_up = int(recipe.alpha_max * recipe.items + 1e-9), ""
    if elsewhere is not None:
        alpha_max = largest_safe_share(elsewhere, recipe.tolerated_cracks)
        mixed_up = mixed_up_text(alpha_max, alpha_max, recipe.items)
    return recipe_text(
        recipe.last_step,
        f"{recipe.cracks_if_exact:,} of {count_text(recipe.items, 'item')} identified on average, against a limit of "
        f"{number_text(recipe.tolerated_cracks)}",
        f"roughly: {cracks} identified on average",
        f"{percent_text(recipe.alpha_max)} of the items ({right:,} of {recipe.items:,}), if those they are wrong about "
        "are never identified",
        mixed_up,
    )


def _item_curves(recipe: ItemRecipe, elsewhere: Floats | None) -> Iterable[Curve]:
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
        from unveil.items.item_recipe import largest_safe_share

        right = curve_places(recipe.items)
        yield right_items_curve(
            "Items identified when wrong items are mixed up",
            "items identified on average",
            [m / recipe.items for m in right],
            [elsewhere[right]],
            largest_safe_share(elsewhere, recipe.tolerated_cracks),
            f"{MIXED_UP_READING} The line is the mean over all choices of right items and all ways to mix up the "
            "others.",
        )


def curve_places(items: int) -> list[int]:
    """Numbers of right items for a curve: about twenty, and the last three, between which it may jump."""
    return sorted({round(k * items / 20) for k in range(21)} | {m for m in (items - 2, items - 1) if m >= 0})


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


def mixed_up_text(least: float | None, most: float | None, items: int, exact: bool = True) -> str:
    """What is tolerated if wrong items are mixed up: a share between two others. Without a share, nothing is tolerated;
    nothing is said if that is not certain."""
    if least is None and most is not None:
        return ""
    tolerated = "even an attacker who is right about none identifies too many"
    if least is not None and most is not None:
        how = f" ({round(least * items):,} of {items:,})" if exact else ", by a simulation"
        tolerated = f"the attacker may be right about no more than {ends_text(least, most)}{how}"
        if not most:
            tolerated = "the attacker may not be right about any"
    return f"If, instead, the items they are wrong about are mixed up with each other at random, {tolerated}."


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
