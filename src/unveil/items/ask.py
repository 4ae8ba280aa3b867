"""The question ``items``: what if the attacker roughly knows how popular each item is?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.crowds import Crowds
from unveil.errors import UnveilError
from unveil.finding import Curve, Exposed, Finding
from unveil.items.ask_itemsets import itemset_findings, itemsets_wanted
from unveil.items.ask_together import correlation_findings, never_findings
from unveil.items.groups import Groups
from unveil.items.paper import LAKSHMANAN, MISSING
from unveil.items.protect import PROTECTIONS
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import counted, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from unveil.items.beliefs import Beliefs
    from unveil.items.recipe import Elsewhere, Recipe
    from unveil.items.sampling import Knowledge

__all__ = ["QUESTION"]

_SAMPLE = 0.1  # the sample that a competitor is assumed to hold
_MIXED = 2000  # items up to which wrong items are also mixed up with each other


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question. In a protected release an item may be a category, which counts as one."""
    from unveil.items.knowledge import attacker_of, beliefs_of
    from unveil.items.recipe import assess_risk, wrong_elsewhere
    from unveil.items.sampling import sample_knowledge

    baskets = case.release
    assert isinstance(baskets, Transactions)
    yield _point_knowledge(baskets, policy, run)
    beliefs = beliefs_of(case, policy)
    attacker = attacker_of(case, policy, beliefs)
    recipe = assess_risk(beliefs, policy.wanted("items.expected_cracks"), run)
    yield _expected_cracks(recipe, beliefs, baskets, attacker, policy, run)
    yield _o_estimate(recipe, beliefs, attacker, policy, run)
    elsewhere = None
    if recipe.stopped == 3 and recipe.solution.exact and beliefs.n <= _MIXED:
        elsewhere = wrong_elsewhere(beliefs, recipe.solution, recipe.allowed, run.rng("items.alpha_max"), run)
    yield _alpha_max(recipe, elsewhere, attacker, policy)
    yield from itemset_findings(case, baskets, beliefs, recipe, attacker, policy, run)
    knowledge = sample_knowledge(baskets, run.rng("items.sample_knowledge"), confidence=run.confidence, run=run)
    yield _sample_knowledge(knowledge, recipe, policy, run)
    yield from correlation_findings(baskets, beliefs, recipe, attacker, policy, run)
    yield from never_findings(case, baskets, beliefs, recipe, attacker, policy, run)


def check(case: Case, policy: Policy) -> None:
    """What was given beside the baskets must fit them."""
    from unveil.items import given
    from unveil.items.knowledge import beliefs_of, change_of, released_codes

    change_of(case)
    baskets = case.original or case.release
    assert isinstance(baskets, Transactions)
    tables = {name: held for name, held in case.holds.items() if isinstance(held, Table)}
    if "beliefs" in tables:
        given.believed(tables["beliefs"], baskets)
    if "itemsets" in tables:
        given.itemsets(tables["itemsets"], released_codes(case), policy.danger, 0.1)
    if "never" in tables:
        given.apart(tables["never"], baskets)
    if "categories" in tables:
        given.categories(tables["categories"], baskets)
    if policy.itemsets is not None and not itemsets_wanted(policy, 0.1)[1].count(beliefs_of(case, policy)):
        raise UnveilError(f"itemsets {policy.itemsets}: there are none among {counted(len(baskets.labels), 'item')}")
    if isinstance(similar := case.holds.get("similar"), Transactions):
        given.counts_in(similar, baskets)


def _point_knowledge(baskets: Transactions, policy: Policy, run: Run) -> Finding:
    sizes = Groups.of(baskets.counts).size_of_each
    crowds = Crowds.from_members(sizes)
    items = crowds.total
    groups = round(crowds.found)
    share = groups / items
    tolerance = policy.tolerated("items.point_knowledge")
    return Finding(
        id="items.point_knowledge",
        question="items",
        title="Items given away to someone who knows every frequency",
        value=share,
        unit="share",
        method="exact",
        subjects=items,
        share=(share, share),
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None,
        attacker="Knows exactly how often every item was bought, and tries to tell which pseudonym is which item.",
        missing=MISSING,
        baseline=1 / items,
        sentence=f"Of {counted(items, 'item')}, {number(groups)} ({percent(share)}) can be expected to be named; "
        f"for {number(crowds.below(2))} of them that is certain, because no other item is bought as often.",
        curves=(crowds.sizes_curve("items", "Items by how many share their frequency", None),),
        exposed=_exposed(baskets, 1 / sizes, lambda i: _alike(int(sizes[i])), run),
        source=f"{LAKSHMANAN}, Lemmas 3.1, 3.2 and 3.5",
    )


def _alike(size: int) -> str:
    if size == 1:
        return "no other item is bought as often"
    return f"only {size - 1:,} other{'s are' if size > 2 else ' is'} bought as often"


def _exposed(
    baskets: Transactions, risk: npt.NDArray[np.float64], because: Callable[[int], str], run: Run
) -> tuple[Exposed, ...]:
    """The items most at risk, the most frequent first. Items are numbered as they first appear."""
    import numpy as np

    order = np.lexsort((-baskets.counts, -risk.round(12)))[: run.exposed]
    return tuple(
        Exposed(
            subject=f"item {i + 1:,}",
            risk=float(min(risk[i], 1.0)),
            because=because(i),
            learns=("which item it is",),
            values={"item": shown(baskets.labels[i].as_py())} if run.reveal else None,
        )
        for i in order.tolist()
    )


def _expected_cracks(
    recipe: Recipe,
    beliefs: Beliefs,
    baskets: Transactions,
    attacker: str,
    policy: Policy,
    run: Run,
) -> Finding:
    solution, n = recipe.solution, recipe.items
    tolerance = policy.tolerated("items.expected_cracks")
    degrees = beliefs.candidates.degrees
    certain = int((solution.crack > 1 - 1e-9).sum())
    return Finding(
        id="items.expected_cracks",
        question="items",
        title="Items cracked by someone who roughly knows how often each is bought",
        value=solution.expected_cracks,
        unit="items",
        method=solution.method,
        interval=None if solution.exact else solution.interval,
        confidence=None if solution.exact else run.confidence,
        subjects=n,
        share=(min(1.0, solution.interval[0] / n), min(1.0, solution.interval[1] / n)),
        tolerance=None if tolerance is None else tolerance * n,
        direction="lower",
        decides=tolerance is not None,
        attacker=attacker,
        missing=MISSING,
        baseline=1.0,
        sentence=f"Of {counted(n, 'item')}, {number(solution.expected_cracks)} "
        f"({percent(solution.expected_cracks / n)}) can be expected to be named, {number(certain)} of them "
        "for certain.",
        curves=(_by_rank(solution.crack),),
        exposed=_exposed(
            baskets, solution.crack, lambda i: counted(int(degrees[i]), "pseudonym fits", "pseudonyms fit"), run
        ),
        source=f"{LAKSHMANAN}, section 4; exact values instead of estimates",
    )


def _by_rank(crack: npt.NDArray[np.float64]) -> Curve:
    """The crack probabilities from the highest to the lowest, at no more than a hundred places."""
    import numpy as np

    ranked = np.sort(np.minimum(crack, 1.0))[::-1]
    at = np.unique(np.linspace(0, len(ranked) - 1, 100).round().astype(int))
    half = int((ranked >= 0.5).sum())
    who = counted(half, "item is", "items are") if half else "No item is"
    return Curve(
        title="Crack probability by rank",
        kind="line",
        x_label="items, the most exposed first",
        y_label="probability of being cracked",
        x=tuple(float(k + 1) for k in at),
        y=tuple(float(p) for p in ranked[at]),
        reading=f"{who} as likely cracked as not, or likelier.",
    )


def _o_estimate(recipe: Recipe, beliefs: Beliefs, attacker: str, policy: Policy, run: Run) -> Finding:
    from unveil.items.estimates import crack_estimates, o_estimate
    from unveil.items.recipe import printed

    estimates = crack_estimates(beliefs, propagate=False)
    plain, value = float(estimates.sum()), o_estimate(beliefs)
    so_far = printed(estimates, recipe.allowed, run.rng("items.o_estimate"))
    exact = recipe.solution.expected_cracks
    tolerance = policy.tolerated("items.o_estimate")
    off = value / exact - 1 if exact else 0.0
    beside = f"{percent(abs(off))} {'above' if off > 0 else 'below'}" if abs(off) > 5e-4 else "equal to"
    return Finding(
        id="items.o_estimate",
        question="items",
        title="Items cracked by the O-estimate",
        value=value,
        unit="items",
        method="estimate",
        subjects=recipe.items,
        tolerance=None if tolerance is None else tolerance * recipe.items,
        direction="lower",
        decides=False,
        attacker=attacker,
        sentence=f"One in as many as pseudonyms fit an item, after what is certain has been propagated "
        f"({number(plain)} before): {beside} the {'exact' if recipe.solution.exact else 'simulated'} value. By this "
        f"estimate the recipe, as printed, tolerates someone who is right about {percent(so_far)} of the items.",
        source=f"{LAKSHMANAN}, Figures 4 and 5",
    )


def _alpha_max(recipe: Recipe, elsewhere: Elsewhere | None, attacker: str, policy: Policy) -> Finding:
    tolerance = policy.tolerated("items.alpha_max")
    solution = recipe.solution
    low, high = (min(1.0, recipe.allowed / x) if x else 1.0 for x in reversed(solution.interval))
    return Finding(
        id="items.alpha_max",
        question="items",
        title="Share of items the attacker may be right about",
        value=recipe.alpha_max,
        unit="share",
        method=solution.method,
        interval=None if solution.exact else (low, high),
        subjects=recipe.items,
        tolerance=tolerance,
        direction="higher",
        decides=tolerance is not None,
        attacker=attacker,
        sentence=_steps(recipe, elsewhere),
        curves=(_excluded(recipe), *(() if elsewhere is None else (_elsewhere(recipe, elsewhere),))),
        source=f"{LAKSHMANAN}, Figure 8 (Assess-Risk)",
    )


def _steps(recipe: Recipe, elsewhere: Elsewhere | None) -> str:
    """The recipe, step by step, as far as it had to go."""
    allowed = f"{number(recipe.allowed)} of {number(recipe.items)} items may be cracked"
    cracks = recipe.solution.expected_cracks
    steps = [f"Step 1, every frequency known: {number(recipe.groups)} cracked where {allowed}"]
    if recipe.stopped == 1:
        return f"{steps[0]}. That is tolerated, and the recipe stops: release."
    steps.append(f"Step 2, frequencies known roughly: {number(cracks)} cracked")
    if recipe.stopped == 2:
        return f"{'. '.join(steps)}. That is tolerated, and the recipe stops: release."
    right = int(recipe.alpha_max * recipe.items)
    steps.append(
        f"Step 3: only an attacker who is right about no more than {percent(recipe.alpha_max)} of the items "
        f"({number(right)}) is tolerated"
    )
    if elsewhere is not None:
        steps.append(f"If they mix up those they are wrong about, {percent(elsewhere.alpha_max)}")
    return ". ".join(steps) + ". The owner has to judge whether anyone knows that much."


def _excluded(recipe: Recipe) -> Curve:
    alphas = tuple(k / 10 for k in range(11))
    return Curve(
        title="Expected cracks by how much the attacker is right about",
        kind="line",
        x_label="share of items the attacker is right about",
        y_label="items cracked",
        x=alphas,
        y=tuple(a * recipe.solution.expected_cracks for a in alphas),
        mark=recipe.alpha_max if recipe.alpha_max < 1 else None,
        mark_label="more is not tolerated",
        reading="Items that the attacker is wrong about are never cracked and change nothing else.",
    )


def _elsewhere(recipe: Recipe, found: Elsewhere) -> Curve:
    return Curve(
        title="The same when wrong items are mixed up",
        kind="line",
        x_label="share of items the attacker is right about",
        y_label="items cracked",
        x=found.alpha,
        y=tuple(float(v) for v in found.cracks),
        low=tuple(float(v) for v in found.least),
        high=tuple(float(v) for v in found.most),
        mark=found.alpha_max if found.alpha_max < 1 else None,
        mark_label="more is not tolerated",
        reading="Each item that the attacker is wrong about is taken for another such item; mean, least and most of "
        "five random choices of right items, each computed exactly.",
    )


def _sample_knowledge(knowledge: Knowledge, recipe: Recipe, policy: Policy, run: Run) -> Finding:
    alpha, low, high = knowledge.at(_SAMPLE)
    tolerance = policy.tolerated("items.sample_knowledge")
    who = f"Someone with a {percent(_SAMPLE)} sample of the baskets"
    right = f"{who} is right about {percent(alpha)} of the items"
    if recipe.stopped < 3:
        joined = f"{right}; being right about all of them would be tolerated."
    elif low >= recipe.alpha_max:
        joined = f"{right}, and {percent(recipe.alpha_max)} suffice to crack too many: that already is enough."
    elif high < recipe.alpha_max:
        joined = f"{right}; it takes more than {percent(recipe.alpha_max)} to crack too many."
    else:
        joined = f"{right}, about as many as it takes to crack too many ({percent(recipe.alpha_max)})."
    return Finding(
        id="items.sample_knowledge",
        question="items",
        title=f"Items someone with a {percent(_SAMPLE)} sample is right about",
        value=alpha,
        unit="share",
        method="simulation",
        interval=(low, high),
        confidence=run.confidence,
        subjects=recipe.items,
        tolerance=tolerance,
        direction="lower",
        decides=tolerance is not None,
        attacker="Holds a random sample of the baskets with the items' names, and believes every frequency to be as in "
        "the sample, give or take the sample's median gap.",
        sentence=joined,
        curves=(
            Curve(
                title="What a sample is worth",
                kind="line",
                x_label="share of the baskets in the sample",
                y_label="share of items believed rightly",
                x=knowledge.shares,
                y=tuple(float(a) for a in knowledge.alpha),
                low=tuple(float(a) for a in knowledge.low),
                high=tuple(float(a) for a in knowledge.high),
                reading="Intervals narrow as a sample grows, so that a larger sample may be right about fewer items. "
                "Mean of ten samples of each size.",
            ),
        ),
        source=f"{LAKSHMANAN}, Figure 15",
    )


QUESTION = Question(
    name="items",
    title="What do the frequencies give away?",
    kinds=("transactions",),
    findings=(
        "items.point_knowledge",
        "items.expected_cracks",
        "items.o_estimate",
        "items.alpha_max",
        "items.itemsets_vulnerable",
        "items.sample_knowledge",
        "items.correlation",
        "items.never_together",
    ),
    ask=ask,
    protect=PROTECTIONS,
    sampled=(
        "items.correlation",
        "items.never_together",
        "items.itemsets_vulnerable",
        "items.expected_cracks",
        "items.alpha_max",
        "items.sample_knowledge",
    ),
    check=check,
)
