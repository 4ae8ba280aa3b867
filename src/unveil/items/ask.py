"""The question ``items``: what if the attacker roughly knows how often each item is bought?

Someone who knows every frequency exactly comes first (``items.point_knowledge``), then someone who believes what the
policy or a file says. What that attacker identifies follows here; the recipe for deciding whether it is too much is in
``ask_recipe``, sets of items are in ``ask_itemsets``, knowledge about pairs is in ``ask_pairs``, and similar baskets
are in ``ask_similar``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.class_sizes import ClassSizes
from unveil.errors import UnveilError
from unveil.finding import TOLERANCE_SLACK, Curve, Finding
from unveil.holding import MAPPING, ORIGINAL, Holding
from unveil.items import risks
from unveil.items.ask_itemsets import itemset_findings, policy_itemsets
from unveil.items.ask_pairs import correlation_findings, never_together_findings
from unveil.items.ask_recipe import alpha_max_finding
from unveil.items.ask_similar import SAMPLE_SHARE, similar_pairs_finding
from unveil.items.attack import LAKSHMANAN, MISSING_VALUES, FrequencyAttack, exposed_items
from unveil.items.protect import PROTECTIONS
from unveil.items.settings import ItemsSettings
from unveil.matching.crack_text import BEST_GUESS_TEXT, average_text, certain_text, compare_with_estimate, count_certain
from unveil.policy import Policy
from unveil.question import Question
from unveil.release import Release
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, number_text, percent_text, range_text

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.items.sample_similarity import SampleKnowledge

__all__ = ["QUESTION"]


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question. In a protected release an item may be a category, which counts as one."""
    baskets = case.release
    assert isinstance(baskets, Transactions)
    if run.asks(risks.POINT_KNOWLEDGE):
        yield _point_knowledge_finding(baskets, policy, run)
    if not run.asks(*(risk for risk in risks.RISKS if risk is not risks.POINT_KNOWLEDGE)):
        return
    from unveil.items.attacker_beliefs import build_beliefs, describe_attacker
    from unveil.items.item_recipe import assess_risk

    beliefs = build_beliefs(case, policy)
    recipe = assess_risk(beliefs, policy.threshold(risks.EXPECTED_CRACKS), run)
    attack = FrequencyAttack(case, baskets, beliefs, recipe, describe_attacker(case, policy, beliefs))
    yield _expected_cracks_finding(attack, policy, run)
    if run.asks(risks.O_ESTIMATE) and beliefs.ranges is None:  # O counts candidates, whatever their weights
        yield _o_estimate_finding(attack, policy)
    if run.asks(risks.ALPHA_MAX):
        yield alpha_max_finding(attack, policy, run)
    if run.asks(risks.ITEMSETS_VULNERABLE):
        yield from itemset_findings(attack, policy, run)
    if run.asks(risks.SAMPLE_KNOWLEDGE):
        yield _sample_knowledge_finding(attack, policy, run)
    if run.asks(risks.SIMILAR_PAIRS):
        yield similar_pairs_finding(attack, policy, run)
    if run.asks(risks.CORRELATION):
        yield from correlation_findings(attack, policy, run)
    if run.asks(risks.NEVER_TOGETHER):
        yield from never_together_findings(attack, policy, run)


def check(case: Case, policy: Policy) -> None:
    """Refuse what was given beside the baskets if it does not fit them."""
    from unveil.items import attacker_files
    from unveil.items.attacker_beliefs import build_beliefs, find_change

    if "beliefs" in case.holds and "similar" in case.holds:
        raise UnveilError("beliefs and similar baskets exclude each other; give one of them")
    find_change(case)
    baskets = case.release if case.original is None else case.original
    assert isinstance(baskets, Transactions)
    tables = {name: held for name, held in case.holds.items() if isinstance(held, Table)}
    if "beliefs" in tables:
        weighted = attacker_files.parse_beliefs(tables["beliefs"], baskets).ranges is not None
        if weighted and "never_together" in tables:
            raise UnveilError(
                "items that are never bought together need beliefs without weights; remove the column weight"
            )
    if "pairs" in tables and policy.settings_for(ItemsSettings).known_pairs is not None:
        raise UnveilError("named pairs and a number of known pairs exclude each other; give one of them")
    if "pairs" in tables:
        attacker_files.parse_pairs(tables["pairs"], baskets)
    if "never_together" in tables:
        attacker_files.parse_never_together(tables["never_together"], baskets)
    if "categories" in tables:
        attacker_files.parse_categories(tables["categories"], baskets)
    if isinstance(similar := case.holds.get("similar"), Transactions):
        attacker_files.similar_counts(similar, baskets)
    which = policy.settings_for(ItemsSettings).itemsets
    for group in policy_itemsets(case, policy):
        if group.label is None and which is not None and not group.requirement.count(build_beliefs(case, policy)):
            raise UnveilError(f"itemsets {which}: there are none among {count_text(len(baskets.labels), 'item')}")


def doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """An attack with a sample that names more items than are tolerated, or may do so, although nobody said that it
    decides."""
    tolerated = policy.tolerance_for(risks.EXPECTED_CRACKS)
    for found in findings:
        if found.id != risks.SIMILAR_PAIRS.id or found.decides or tolerated is None or found.share is None:
            continue
        low, high = found.share
        if high <= tolerated * (1 + TOLERANCE_SLACK):
            continue
        more = "more than" if low > tolerated else "which may be more than"
        yield (
            f"{found.title}: {found.value_text} {found.unit_text}, {more} {percent_text(tolerated)} of all items. "
            f"Nobody said what attackers hold: give {option_text('similar', 'FILE')}, or a tolerance for {found.id}."
        )


def hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what is tolerated."""
    if risks.SIMILAR_PAIRS.id in in_the_way:
        yield (
            "what is bought together identifies items to anyone who holds similar baskets, even after items were left "
            "out, merged or recounted; publish statistics about many baskets instead of the baskets themselves"
        )
    if any(risk.id in in_the_way for risk in risks.RISKS if risk is not risks.SIMILAR_PAIRS):
        yield (
            "items that differ widely in how often they are bought are identified by their counts, whatever else is "
            "changed; publish statistics about many baskets instead of the baskets themselves"
        )


def facts(release: Release) -> dict[str, float | bool]:
    """Sizes, and the gaps between frequencies as shares of the baskets (Figure 10 of Lakshmanan and others)."""
    from unveil.items.frequency_groups import FrequencyGroups

    assert isinstance(release, Transactions)
    groups = FrequencyGroups.from_counts(release.counts)
    found: dict[str, float | bool] = {
        "items per basket": len(release.items) / release.baskets,
        "frequency groups": len(groups.values),
        "groups of a single item": groups.singletons,
    }
    if len(groups.gaps):
        gaps = {"smallest": groups.gaps.min(), "median": groups.median_gap, "mean": groups.mean_gap}
        gaps["largest"] = groups.gaps.max()
        found |= {f"{name} gap": float(gap) / release.baskets for name, gap in gaps.items()}
    return found


def _point_knowledge_finding(baskets: Transactions, policy: Policy, run: Run) -> Finding:
    from unveil.items.frequency_groups import FrequencyGroups

    sizes = FrequencyGroups.from_counts(baskets.counts).own_group_sizes
    class_sizes = ClassSizes.from_subjects(sizes)
    items, certain = class_sizes.total, class_sizes.count_below(2)
    groups = round(class_sizes.expected_reidentifications)
    share = groups / items
    why = "no other item is bought exactly as often" if certain else "every item shares its frequency with another"
    return risks.POINT_KNOWLEDGE.finding(
        policy,
        value=share,
        subjects=items,
        share=share,
        attacker="Knows exactly how often every item was bought, and tries to tell which pseudonym is which item.",
        missing=MISSING_VALUES,
        baseline=1 / items,
        sentence=f"On average, the attacker identifies {number_text(groups)} of {count_text(items, 'item')} "
        f"({percent_text(share)}), {certain_text(certain, items)}, because {why}.",
        curves=(class_sizes.sizes_curve("items", "Items, by how many have the same frequency", None),),
        exposed=exposed_items(baskets, 1 / sizes, lambda i: _same_frequency_text(int(sizes[i])), run),
        source=f"{LAKSHMANAN}, Lemmas 3.1, 3.2 and 3.5",
    )


def _same_frequency_text(size: int) -> str:
    if size == 1:
        return "no other item is bought exactly as often"
    return f"only {count_text(size - 1, 'other item is', 'other items are')} bought exactly as often"


def _expected_cracks_finding(attack: FrequencyAttack, policy: Policy, run: Run) -> Finding:
    solution, n = attack.recipe.solution, attack.recipe.items
    cracks = solution.expected_cracks
    fitting, secret = attack.beliefs.candidates.degrees, attack.case.truth is not None and not run.reveal
    return risks.EXPECTED_CRACKS.finding(
        policy,
        value=cracks,
        unit="items",
        method=solution.method,
        interval=solution.interval,
        confidence=run.confidence,
        subjects=n,
        share=(min(1.0, solution.interval[0] / n), min(1.0, solution.interval[1] / n)),
        attacker=attack.attacker,
        missing=MISSING_VALUES,
        baseline=1.0,
        sentence=f"On average, the attacker identifies {average_text(cracks, solution.exact)} of "
        f"{count_text(n, 'item')} ({percent_text(cracks / n)}), {certain_text(count_certain(solution), n)}.",
        curves=(_crack_rank_curve(solution.crack),),
        exposed=exposed_items(
            attack.baskets,
            solution.shown_risk(secret),
            lambda i: (
                count_text(int(fitting[i]), "pseudonym fits", "pseudonyms fit") + (BEST_GUESS_TEXT if secret else "")
            ),
            run,
        ),
        source=f"{LAKSHMANAN}, section 4; exact values instead of estimates",
    )


def _crack_rank_curve(crack: Floats) -> Curve:
    """The probabilities of being identified from the highest to the lowest, at no more than a hundred places."""
    import numpy as np

    ranked = np.sort(np.minimum(crack, 1.0))[::-1]
    at = np.unique(np.linspace(0, len(ranked) - 1, 100).round().astype(int))
    half = int((ranked >= 0.5).sum())
    who = count_text(half, "item is", "items are") if half else "No item is"
    return Curve(
        title="Probability of being identified, by rank",
        kind="line",
        x_label="items, the most exposed first",
        y_label="probability of being identified",
        x=tuple(float(k + 1) for k in at),
        y=tuple(float(p) for p in ranked[at]),
        reading=f"{who} identified with a probability of 50% or more.",
    )


def _o_estimate_finding(attack: FrequencyAttack, policy: Policy) -> Finding:
    from unveil.items.degree_estimates import crack_estimates, o_estimate
    from unveil.items.item_recipe import published_alpha_max

    recipe = attack.recipe
    estimates = crack_estimates(attack.beliefs, propagate=False)
    value = o_estimate(attack.beliefs)
    tolerated = published_alpha_max(estimates, recipe.tolerated_cracks)
    return risks.O_ESTIMATE.finding(
        policy,
        value=value,
        unit="items",
        method="estimate",
        subjects=recipe.items,
        attacker=attack.attacker,
        sentence="The O-estimate is the sum, over all items, of 1 / (number of pseudonyms that fit), after fixing what "
        f"is certain ({number_text(float(estimates.sum()))} without that). It is "
        f"{compare_with_estimate(value, recipe.solution)}. By this estimate, the published recipe tolerates an "
        f"attacker who is right about {percent_text(tolerated)} of the items.",
        source=f"{LAKSHMANAN}, Figures 4 and 5",
    )


def _sample_knowledge_finding(attack: FrequencyAttack, policy: Policy, run: Run) -> Finding:
    from unveil.items.attacker_beliefs import beliefs_from_sample
    from unveil.items.sample_similarity import sample_knowledge

    stream, n = run.rng("items.sample_knowledge"), attack.recipe.items
    believe = partial(beliefs_from_sample, attack.case)
    knowledge = sample_knowledge(attack.original, stream, believe=believe, confidence=run.confidence, run=run)
    at = knowledge.shares.index(SAMPLE_SHARE)
    cracks = knowledge.cracks
    value, low, high = (float(x[at]) for x in (cracks.mean, cracks.low, cracks.high))
    right = percent_text(float(knowledge.alpha.mean[at]))
    share = percent_text(SAMPLE_SHARE)
    return risks.SAMPLE_KNOWLEDGE.finding(
        policy,
        title=f"Items identified by someone who knows the frequencies in a {share} sample",
        value=value,
        unit="items",
        method="simulation",
        interval=(low, high),
        confidence=run.confidence,
        subjects=n,
        share=(low / n, high / n),
        attacker="Holds a random sample of the baskets with the items' names, and believes that every item is as "
        "frequent as in the sample, give or take the sample's median gap (plus a standard error if too many items "
        "would not fit otherwise). Treats items that fit no pseudonym as unknown, and goes by frequencies alone.",
        missing=MISSING_VALUES,
        baseline=1.0,
        sentence=f"Someone with a {share} sample of the baskets identifies "
        f"{range_text(value, (low, high), number_text)} of {count_text(n, 'item')} on average, going by frequencies "
        f"alone. What they believe about frequencies is right for {right} of the items, on average over the samples.",
        curves=(_sample_curve(knowledge, attack.recipe.tolerated_cracks),),
        source=f"{LAKSHMANAN}, Figure 15, and the exact cracks of each sample",
    )


def _sample_curve(knowledge: SampleKnowledge, tolerated: float) -> Curve:
    cracks = knowledge.cracks
    return Curve(
        title="Items identified by frequencies, by the size of the sample",
        kind="line",
        x_label="share of the baskets in the sample",
        y_label="items identified on average",
        x=knowledge.shares,
        y=tuple(float(c) for c in cracks.mean),
        low=tuple(float(c) for c in cracks.low),
        high=tuple(float(c) for c in cracks.high),
        x_scale="log",
        levels=((tolerated, "tolerated"),),
        reading=f"Mean of {knowledge.replicates} samples of each size, each attacked by frequencies alone.",
    )


HOLDINGS = (
    Holding(
        "beliefs",
        "table",
        "What the attacker believes about item frequencies: columns item, low and high, and optionally weight, which "
        "allows several ranges per item.",
    ),
    Holding("similar", "transactions", "Similar baskets that the attacker holds, with the items' names."),
    Holding(
        "itemsets_file",
        "table",
        "Sets of items to protect: a column items (names separated by blanks or semicolons) and optionally sigma, tau "
        "and class.",
    ),
    Holding(
        "pairs",
        "table",
        "Items that the attacker knows are often bought together: columns item and other, one pair per row.",
    ),
    Holding(
        "never_together",
        "table",
        "Items that the attacker knows are never bought together: columns item and other, one pair per row.",
        former_names=("never",),
    ),
    ORIGINAL,
    MAPPING,
    Holding(
        "categories", "table", "Categories that may replace items: columns item and category.", only_for_protection=True
    ),
)

QUESTION = Question(
    name="items",
    title="What do the frequencies give away?",
    kinds=("transactions",),
    risks=risks.RISKS,
    ask=ask,
    settings=ItemsSettings,
    holdings=HOLDINGS,
    check=check,
    doubts=doubts,
    facts=facts,
    protections=PROTECTIONS,
    protected_risks=risks.RISKS,
    hints=hints,
)
