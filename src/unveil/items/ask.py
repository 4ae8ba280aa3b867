"""The question ``items``: what if the attacker roughly knows how popular each item is?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.crowds import Crowds
from unveil.errors import UnveilError
from unveil.finding import Curve, Exposed, Finding
from unveil.items.groups import Groups
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
    from unveil.items.correlation import Refined
    from unveil.items.itemset_recipe import ItemsetRecipe, ItemsetsElsewhere
    from unveil.items.itemsets import Theta, Vulnerable
    from unveil.items.never import Conditional
    from unveil.items.pairs import Pairs
    from unveil.items.recipe import Elsewhere, Recipe
    from unveil.items.sampling import Knowledge
    from unveil.matching.ladder import Solution

__all__ = ["QUESTION"]

_LAKSHMANAN = (
    "L. Lakshmanan, R. Ng, G. Ramesh, On disclosure risk analysis of anonymized itemsets in the presence of prior "
    "knowledge, ACM TKDD 2(3), 2008"
)
_MISSING = "Empty baskets are left out; an item counts once per basket."
_SAMPLE = 0.1  # the sample that a competitor is assumed to hold
_PAIRS = 20  # known pairs where nobody said how many
_MIXED = 2000  # items up to which wrong items are also mixed up with each other, and pairs are varied
_MIXED_SETS = 500  # items up to which that is done for itemsets as well
_LISTED = 1000  # listed itemsets up to which it is
_LOOKED_AT = (1.5, 2, 3, 5)  # times as many pairs of the release as are known


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question. In a protected release an item may be a category, which stands for several."""
    import numpy as np

    from unveil.items.knowledge import attacker_of, beliefs_of, change_of
    from unveil.items.recipe import assess_risk, wrong_elsewhere
    from unveil.items.sampling import sample_knowledge

    baskets = case.release
    assert isinstance(baskets, Transactions)
    change = change_of(case)
    members = np.ones(len(baskets.labels), np.int64) if change is None else change.members
    yield _point_knowledge(baskets, members, policy, run)
    beliefs = beliefs_of(case, policy)
    attacker = attacker_of(case, policy, beliefs)
    recipe = assess_risk(beliefs, policy.wanted("items.expected_cracks"), run, items=int(members.sum()))
    yield _expected_cracks(recipe, beliefs, baskets, members, attacker, policy, run)
    yield _o_estimate(recipe, beliefs, attacker, policy, run)
    elsewhere = None
    if recipe.stopped == 3 and recipe.solution.exact and beliefs.n <= _MIXED:
        elsewhere = wrong_elsewhere(beliefs, recipe.solution, recipe.allowed, run.rng("items.alpha_max"), run)
    yield _alpha_max(recipe, elsewhere, attacker, policy)
    yield from _itemsets(case, baskets, beliefs, recipe, attacker, policy, run)
    knowledge = sample_knowledge(baskets, run.rng("items.sample_knowledge"), confidence=run.confidence, run=run)
    yield _sample_knowledge(knowledge, recipe, policy, run)
    yield from _correlation(baskets, beliefs, recipe, attacker, policy, run)
    yield from _never_together(case, baskets, beliefs, recipe, attacker, policy, run)


def check(case: Case, policy: Policy) -> None:
    """Items that do occur together, or do not occur at all, cannot be known never to be bought together. What a
    protected release was made from must fit it."""
    from unveil.items.knowledge import change_of

    change_of(case)
    given, baskets = case.holds.get("never"), case.original or case.release
    if isinstance(given, Table) and isinstance(baskets, Transactions):
        from unveil.items.given import apart

        apart(given, baskets)


def _point_knowledge(baskets: Transactions, members: npt.NDArray[np.int64], policy: Policy, run: Run) -> Finding:
    sizes = Groups.of(baskets.counts).size_of_each
    crowds = Crowds.from_members(sizes)
    items = int(members.sum())
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
        missing=_MISSING,
        baseline=1 / items,
        sentence=f"Of {counted(items, 'item')}, {number(groups)} ({percent(share)}) can be expected to be named; "
        f"for {number(crowds.below(2))} of them that is certain, because no other item is bought as often.",
        curves=(crowds.sizes_curve("items", "Items by how many share their frequency", None),),
        exposed=_exposed(baskets, 1 / (sizes * members), lambda i: _alike(int(sizes[i])), run),
        source=f"{_LAKSHMANAN}, Lemmas 3.1, 3.2 and 3.5",
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
    members: npt.NDArray[np.int64],
    attacker: str,
    policy: Policy,
    run: Run,
) -> Finding:
    solution, n = recipe.solution, recipe.items
    tolerance = policy.tolerated("items.expected_cracks")
    degrees = beliefs.candidates.degrees
    crack = solution.crack / members
    certain = int((crack > 1 - 1e-9).sum())
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
        missing=_MISSING,
        baseline=1.0,
        sentence=f"Of {counted(n, 'item')}, {number(solution.expected_cracks)} "
        f"({percent(solution.expected_cracks / n)}) can be expected to be named, {number(certain)} of them "
        "for certain.",
        curves=(_by_rank(crack),),
        exposed=_exposed(baskets, crack, lambda i: counted(int(degrees[i]), "pseudonym fits", "pseudonyms fit"), run),
        source=f"{_LAKSHMANAN}, section 4; exact values instead of estimates",
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
        source=f"{_LAKSHMANAN}, Figures 4 and 5",
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
        source=f"{_LAKSHMANAN}, Figure 8 (Assess-Risk)",
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


def _itemsets(
    case: Case, baskets: Transactions, beliefs: Beliefs, recipe: Recipe, attacker: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """Itemsets that are cracked with too high a probability. Where nobody named any, all pairs, which then inform."""
    from unveil.items.itemsets import Theta, vulnerable

    tau = policy.tolerated("items.itemsets_vulnerable")
    given = case.holds.get("itemsets")
    asked = given is not None or policy.itemsets is not None
    if isinstance(given, Table):
        from unveil.items.given import itemsets

        thetas = itemsets(given, baskets, policy.danger, 0.1 if tau is None else tau)
    else:
        which = policy.itemsets or "pairs"
        top = int(which[4:]) / 100 if which.startswith("top:") else 0.0
        size = int(which) if which.isdecimal() else 2
        kind = f"pairs without the most frequent {percent(top)} of the items" if top else f"sets of {size} items"
        theta = Theta(size, top, sigma=policy.danger, tau=0.1 if tau is None else tau)
        thetas = [("pairs of items" if kind == "sets of 2 items" else kind, theta)]
    for k, (kind, theta) in enumerate(thetas, 1):
        found = vulnerable(beliefs, theta, run, solution=recipe.solution)
        name = f"items.itemsets_vulnerable{f'.{k}' if k > 1 else ''}"
        decides = asked and tau is not None
        steps, curves = _itemset_recipe(found, theta, beliefs, recipe, run, name) if decides else ("", ())
        yield _vulnerable(found, kind, name, theta.tau if decides else None, attacker, run.confidence, steps, curves)


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
        source=f"{_LAKSHMANAN}, Definition 2.1 and Figure 9; exact probabilities instead of OS",
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
        source=f"{_LAKSHMANAN}, Figure 15",
    )


def _correlation(
    baskets: Transactions, beliefs: Beliefs, recipe: Recipe, attacker: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """The cracks when the most frequent pairs are known as well. Where nobody said how many, they inform."""
    from unveil.items.correlation import matched, refined
    from unveil.items.pairs import top_pairs

    wanted, small = policy.pairs_known or _PAIRS, recipe.items <= _MIXED
    looked_at = top_pairs(baskets, wanted * (int(_LOOKED_AT[-1]) if small else 1), run)
    pairs = looked_at.first(wanted)
    if not len(pairs):
        return
    after, worse = matched(beliefs, pairs, pairs, run), None
    curves: tuple[Curve, ...] = ()
    sentence = "What they believe of the frequencies and know of the pairs leaves no mapping: they would notice."
    if after is not None:
        other = refined(beliefs, pairs, baskets.counts, run)
        worse = _riskier(after, other)
        sentence = f"{_gained(after, recipe)} {_equally_frequent(after, other, worse is not None)}"
    if after is not None and small:
        curves = (*_by_pairs(beliefs, pairs, after, run), *_by_looked_at(beliefs, pairs, looked_at, after, run))
    also = "; and takes items that nearly always go together for equally frequent" if worse else ""
    yield _also_known(
        "items.correlation",
        "Items cracked by someone who also knows what is bought together",
        worse or after,
        recipe,
        tolerance=policy.tolerated("items.correlation") if policy.pairs_known is not None else None,
        attacker=f"{attacker.removesuffix('.')}; and knows the {counted(len(pairs), 'pair')} of items that are bought "
        f"together most often, though not in which order{also}.",
        sentence=sentence,
        curves=curves,
        source=f"{_LAKSHMANAN}, Figures 22 to 26, with the reverse filter of its example",
        run=run,
    )


def _riskier(first: Solution, other: Refined | None) -> Solution | None:
    """The other attacker's cracks if they are more than the first one's for certain."""
    cracks = None if other is None else other.solution
    more = cracks is not None and cracks.interval[0] > first.interval[1] + 1e-9 * first.candidates.n
    return cracks if more else None


def _equally_frequent(first: Solution, other: Refined | None, riskier: bool) -> str:
    """What comes of taking items that nearly always go together for equally frequent."""
    if other is None:
        return "None of the pairs goes together nearly always."
    many, wrong = other.pairs, other.wrong
    pairs = f"the {many:,} pairs that nearly always go" if many > 1 else "the pair that nearly always goes"
    spoilt = "no right interval becomes a wrong one by it"
    if wrong:
        spoilt = counted(wrong, "right interval becomes a wrong one by it", "right intervals become wrong ones by it")
    who = f"who also takes the items of {pairs} together for equally frequent"
    if other.solution is None:
        return f"Someone {who} is left with no mapping and would notice, so that the first counts here; {spoilt}."
    cracks = other.solution.expected_cracks
    than = "no more, so that the first counts here"
    if riskier:
        than = "the riskier of the two, which counts here"
    elif cracks > first.expected_cracks and not (first.exact and other.solution.exact):
        than = "not more for certain, so that the first counts here"
    return f"By someone {who}: {number(cracks)}, {than}; {spoilt}."


def _by_pairs(beliefs: Beliefs, pairs: Pairs, after: Solution, run: Run) -> tuple[Curve, ...]:
    """What the first few of the known pairs are worth, each as many as are looked for."""
    from unveil.items.correlation import matched

    sizes = [w for w in (1, 2, 5, 10, 20, 50, 100, 200, 500) if w < len(pairs)]
    found = [(w, matched(beliefs, pairs.first(w), pairs.first(w), run)) for w in sizes]
    points = [(w, s.expected_cracks) for w, s in [*found, (len(pairs), after)] if s is not None]
    if len(points) < 3:
        return ()
    return (
        Curve(
            title="Expected cracks by how many pairs are known",
            kind="line",
            x_label="pairs known",
            y_label="items cracked",
            x=tuple(float(w) for w, _ in points),
            y=tuple(y for _, y in points),
            x_scale="log",
            reading="Who knows more pairs has more pseudonyms to choose from for each of them, so that more knowledge "
            "need not crack more.",
        ),
    )


def _by_looked_at(beliefs: Beliefs, pairs: Pairs, looked_at: Pairs, after: Solution, run: Run) -> tuple[Curve, ...]:
    """What the known pairs are worth when they are matched with ever more pairs of the release. Not drawn where the
    first value is simulated: what changes would be lost in the noise."""
    from unveil.items.correlation import matched

    known = len(pairs)
    sizes = sorted({math.ceil(times * known) for times in _LOOKED_AT if times * known <= len(looked_at)})
    if len(sizes) < 2 or not after.exact:
        return ()
    wider = [(k, matched(beliefs, pairs, looked_at.first(k), run)) for k in sizes]
    found = [(k, s) for k, s in [(known, after), *wider] if s is not None]
    what = f"the {known:,} known pairs" if known > 1 else "the known pair"
    exact = all(s.exact for _, s in found)
    return (
        Curve(
            title="Expected cracks by how many pairs the known ones are matched with",
            kind="line",
            x_label="pairs of the release looked at",
            y_label="items cracked",
            x=tuple(float(k) for k, _ in found),
            y=tuple(s.expected_cracks for _, s in found),
            low=None if exact else tuple(s.interval[0] for _, s in found),
            high=None if exact else tuple(s.interval[1] for _, s in found),
            reading=f"Matched with more of the release's pairs, the items of {what} may fit more pseudonyms: "
            f"among {found[-1][0]:,} pairs, {number(found[-1][1].expected_cracks)} items are cracked on average.",
        ),
    )


def _never_together(
    case: Case, baskets: Transactions, beliefs: Beliefs, recipe: Recipe, attacker: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """The cracks when some items are known never to be bought together, if the owner says which."""
    from unveil.items.given import apart
    from unveil.items.never import never_together, still_apart

    given, original = case.holds.get("never"), case.original or baskets
    if not isinstance(given, Table) or not isinstance(original, Transactions):
        return
    a, b = apart(given, original, run)
    known, found = len(a), None
    if case.truth is not None:
        a, b = still_apart(a, b, case.truth, baskets)
    try:
        found = never_together(beliefs.candidates, a, b, baskets, run)
        sentence = _gained(found, recipe)
    except UnveilError as error:
        sentence = f"That could not be measured: {error}."
    yield _also_known(
        "items.never_together",
        "Items cracked by someone who also knows what is never bought together",
        found,
        recipe,
        tolerance=policy.tolerated("items.never_together"),
        attacker=f"{attacker.removesuffix('.')}; and knows {counted(known, 'pair')} of items that are never bought "
        "together.",
        sentence=sentence,
        source=f"{_LAKSHMANAN}, section 7.3, which leaves this open",
        run=run,
    )


def _gained(found: Solution | Conditional, recipe: Recipe) -> str:
    cracks, n = float(found.crack.sum()), recipe.items
    more = cracks - recipe.solution.expected_cracks
    gained = f"{number(abs(more))} {'more' if more > 0 else 'fewer'} than" if abs(more) > 1e-6 * n else "as many as"
    return f"{number(cracks)} of {counted(n, 'item')} can be expected to be named, {gained} without that knowledge."


def _also_known(
    id: str,
    title: str,
    found: Solution | Conditional | None,
    recipe: Recipe,
    *,
    tolerance: float | None,
    attacker: str,
    sentence: str,
    source: str,
    run: Run,
    curves: tuple[Curve, ...] = (),
) -> Finding:
    """The cracks of someone who knows more than frequencies; without a value if no mapping was found."""
    n = recipe.items
    interval = found.interval if found is not None and found.method != "exact" else None
    return Finding(
        id=id,
        question="items",
        title=title,
        value=None if found is None else float(found.crack.sum()),
        unit="items",
        method=None if found is None else found.method,
        interval=interval,
        confidence=None if interval is None else run.confidence,
        subjects=n,
        share=None if found is None else (min(1.0, found.interval[0] / n), min(1.0, found.interval[1] / n)),
        tolerance=None if tolerance is None else tolerance * n,
        direction="lower",
        decides=tolerance is not None,
        attacker=attacker,
        missing=_MISSING,
        sentence=sentence,
        curves=curves,
        source=source,
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
