"""The finding about sets of items: which are cracked, and how much the attacker may know until too many are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Curve, Finding
from unveil.items.paper import LAKSHMANAN
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import number, percent

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs
    from unveil.items.itemset_recipe import ItemsetRecipe, ItemsetsElsewhere
    from unveil.items.itemsets import Theta, Vulnerable
    from unveil.items.recipe import Recipe

__all__ = ["itemset_findings", "itemsets_wanted"]

_MIXED_SETS = 500  # items up to which wrong items are also mixed up with each other
_LISTED = 1000  # listed itemsets up to which they are


def itemset_findings(
    case: Case, baskets: Transactions, beliefs: Beliefs, recipe: Recipe, attacker: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """Itemsets that are cracked with too high a probability. Where nobody named any, all pairs, which then inform."""
    from unveil.items.itemsets import vulnerable

    tau = policy.tolerated("items.itemsets_vulnerable")
    given = case.holds.get("itemsets")
    asked = given is not None or policy.itemsets is not None
    if isinstance(given, Table):
        from unveil.items.given import itemsets
        from unveil.items.knowledge import released_codes

        thetas = itemsets(given, released_codes(case), policy.danger, 0.1 if tau is None else tau)
    else:
        thetas = [itemsets_wanted(policy, 0.1 if tau is None else tau)]
    for k, (kind, theta) in enumerate(thetas, 1):
        found = vulnerable(beliefs, theta, run, solution=recipe.solution)
        name = f"items.itemsets_vulnerable{f'.{k}' if k > 1 else ''}"
        decides = asked and tau is not None
        steps, curves = _itemset_recipe(found, theta, beliefs, recipe, run, name) if decides else ("", ())
        yield _vulnerable(found, kind, name, theta.tau if decides else None, attacker, run.confidence, steps, curves)


def itemsets_wanted(policy: Policy, tau: float) -> tuple[str, Theta]:
    """The itemsets that the policy names, by default all pairs, and what to call them."""
    from unveil.items.itemsets import Theta

    which = policy.itemsets or "pairs"
    top = int(which[4:]) / 100 if which.startswith("top:") else 0.0
    size = int(which) if which.isdecimal() else 2
    kind = f"pairs without the most frequent {percent(top)} of the items" if top else f"sets of {size} items"
    return "pairs of items" if kind == "sets of 2 items" else kind, Theta(size, top, sigma=policy.danger, tau=tau)


def _itemset_recipe(
    found: Vulnerable, theta: Theta, beliefs: Beliefs, items: Recipe, run: Run, name: str
) -> tuple[str, tuple[Curve, ...]]:
    """The recipe for itemsets that the owner named, in words and as curves."""
    from unveil.items.itemset_recipe import assess_risk_itemsets, itemsets_elsewhere

    solution = items.solution
    recipe = assess_risk_itemsets(beliefs, theta, run, believed=found, solution=solution)
    few = beliefs.n <= _MIXED_SETS and (theta.listed is None or len(theta.listed) <= _LISTED)
    elsewhere = None
    if recipe.stopped == 3 and few and solution.exact:
        elsewhere = itemsets_elsewhere(beliefs, theta, run.rng(name), run, solution=solution)
    curves = _sets_excluded(recipe), *(() if elsewhere is None else (_sets_elsewhere(elsewhere),))
    return f" {_itemset_steps(recipe, elsewhere)}", curves


def _itemset_steps(recipe: ItemsetRecipe, elsewhere: ItemsetsElsewhere | None) -> str:
    """The recipe for itemsets, step by step, as far as it had to go."""
    point, believed, alpha_max = recipe.point.share, recipe.believed, recipe.alpha_max
    may_be = percent(believed.theta.tau)
    steps = [f"Step 1, every frequency known: {percent(point)} are vulnerable where {may_be} may be"]
    if recipe.stopped >= 2:
        steps.append(f"Step 2, frequencies known as believed: {percent(believed.share)}")
    if recipe.stopped <= 2:
        return f"{'. '.join(steps)}. That is tolerated, and the recipe stops."
    ends = [percent(end) for end in recipe.interval]
    unsure = f", between {ends[0]} and {ends[1]}" if recipe.interval[0] < recipe.interval[1] else ""
    steps.append(
        f"Step 3: only an attacker who is right about no more than {percent(alpha_max)} of the items "
        f"({number(round(alpha_max * recipe.items))}{unsure}) is tolerated, if a set with an item they are wrong about "
        "counts as not cracked"
    )
    if elsewhere is not None:
        mixed = elsewhere.alpha_max
        up_to = "not even one who is right about none" if mixed is None else percent(mixed)
        steps.append(f"If they mix up those they are wrong about, {up_to}")
    return ". ".join(steps) + ". The owner has to judge whether anyone knows that much."


def _sets_excluded(recipe: ItemsetRecipe) -> Curve:
    n = recipe.items
    right = sorted({round(k * n / 20) for k in range(21)})
    return Curve(
        title="Vulnerable itemsets by how much the attacker is right about",
        kind="line",
        x_label="share of items the attacker is right about",
        y_label="share of the itemsets that are vulnerable",
        x=tuple(m / max(n, 1) for m in right),
        y=tuple(float(recipe.excluded[m]) for m in right),
        mark=recipe.alpha_max if recipe.alpha_max < 1 else None,
        mark_label="more is not tolerated",
        reading="A set with an item that the attacker is wrong about counts as not cracked, the others are as before; "
        "the mean over all choices of right items.",
    )


def _sets_elsewhere(found: ItemsetsElsewhere) -> Curve:
    return Curve(
        title="The same when wrong items are mixed up",
        kind="line",
        x_label="share of items the attacker is right about",
        y_label="share of the itemsets that are vulnerable",
        x=tuple(float(m) for m in found.right / max(found.items, 1)),
        y=tuple(float(v) for v in found.share),
        low=tuple(float(v) for v in found.least),
        high=tuple(float(v) for v in found.most),
        mark=found.alpha_max if found.alpha_max is not None and found.alpha_max < 1 else None,
        mark_label="more is not tolerated",
        reading="Each item that the attacker is wrong about is taken for another such item, and a set is also cracked "
        "by its items taking each other's pseudonyms; mean, least and most of five random choices of right items"
        f"{f', for {number(found.looked_at)} itemsets' if found.sampled else ''}.",
    )


def _vulnerable(
    found: Vulnerable,
    kind: str,
    name: str,
    tolerance: float | None,
    attacker: str,
    confidence: float,
    steps: str,
    curves: tuple[Curve, ...],
) -> Finding:
    part = f" Of {number(found.itemsets)}, {number(found.looked_at)} were drawn at random." * (
        found.looked_at < found.itemsets
    )
    unclear = f" {number(found.undecided)} could not be decided and are counted as vulnerable." * bool(found.undecided)
    return Finding(
        id=name,
        question="items",
        title=f"Itemsets cracked with probability {percent(found.theta.sigma)} or more",
        value=found.share,
        unit="share",
        method=found.method,
        interval=None if found.method == "exact" else found.interval,
        confidence=confidence if found.method == "simulation" else None,
        subjects=found.itemsets,
        share=(max(0.0, found.interval[0]), min(1.0, found.interval[1])),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None,
        attacker=attacker,
        sentence=f"Among {kind}, {percent(found.share)} of {number(found.itemsets)} are vulnerable: the attacker gives "
        f"such a set just its own pseudonyms, in whatever order. The OS estimate says {percent(found.estimate)}."
        f"{part}{unclear}{steps}",
        curves=curves,
        source=f"{LAKSHMANAN}, Definition 2.1 and Figure 9; exact probabilities instead of OS",
    )
