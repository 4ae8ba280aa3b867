"""The findings about someone who also knows which items are bought together, and which never are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.items.attack import LAKSHMANAN, MISSING_VALUES, FrequencyAttack
from unveil.items.risks import CORRELATION, NEVER_TOGETHER
from unveil.items.settings import ItemsSettings
from unveil.matching.crack_text import average_text
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import count_text

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs
    from unveil.items.correlation import RefinedAttack
    from unveil.items.item_pairs import ItemPairs
    from unveil.items.item_recipe import ItemRecipe
    from unveil.items.never_together import ConditionalCracks
    from unveil.matching.solver import Solution

__all__ = ["MAX_VARIED_ITEMS", "correlation_findings", "never_together_findings"]

MAX_VARIED_ITEMS = 2000  # items up to which the number of pairs is varied

_DEFAULT_KNOWN_PAIRS = 20
_EXAMINED_FACTORS = (1.5, 2, 3, 5)  # times as many pairs of the release as are known


def correlation_findings(attack: FrequencyAttack, policy: Policy, run: Run) -> Iterator[Finding]:
    """What is identified if the most frequent pairs are known as well; for information only unless the policy says how
    many are known."""
    from unveil.items.correlation import match_known_pairs, refine_and_match
    from unveil.items.item_pairs import top_pairs

    beliefs, baskets, recipe = attack.beliefs, attack.baskets, attack.recipe
    given, small = policy.settings_for(ItemsSettings).known_pairs, recipe.items <= MAX_VARIED_ITEMS
    pair_count = given or _DEFAULT_KNOWN_PAIRS
    examined = top_pairs(baskets, pair_count * (int(_EXAMINED_FACTORS[-1]) if small else 1), run)
    pairs = examined.take_first(pair_count)
    if not len(pairs):
        return
    after, worse = match_known_pairs(beliefs, pairs, pairs, run, recipe.solution), None
    curves: tuple[Curve, ...] = ()
    sentence = (
        "What the attacker believes about frequencies contradicts what they know about pairs. No assignment of "
        "pseudonyms fits both, so they would notice."
    )
    if after is not None:
        other = refine_and_match(beliefs, pairs, baskets.counts, run)
        worse = _riskier_solution(after, other)
        sentence = (
            f"{_gain_sentence(after, recipe, len(pairs))} {_refinement_sentence(after, other, worse is not None)}"
        )
    if after is not None and small:
        curves = (
            *_curve_by_known_pairs(beliefs, pairs, after, run),
            *_curve_by_examined_pairs(beliefs, pairs, examined, after, run),
        )
    known = "the pair of items that is bought together most often"
    if len(pairs) > 1:
        known = f"the {len(pairs):,} pairs of items that are bought together most often, though not how they rank"
    assumes = ", and assumes that items which are nearly always bought together are equally frequent" if worse else ""
    yield _added_knowledge_finding(
        CORRELATION,
        worse or after,
        attack,
        policy,
        run,
        tolerance=None if given is None else "policy",
        knows=f"knows {known}{assumes}",
        sentence=sentence,
        curves=curves,
        source=f"{LAKSHMANAN}, Figures 22 to 26, with the reverse filter of its example",
    )


def _riskier_solution(first: Solution, other: RefinedAttack | None) -> Solution | None:
    """The other attacker's solution if they certainly identify more than the first one."""
    cracks = None if other is None else other.solution
    more = cracks is not None and cracks.interval[0] > first.interval[1] + 1e-9 * first.candidates.n
    return cracks if more else None


def _refinement_sentence(first: Solution, other: RefinedAttack | None, riskier: bool) -> str:
    """What comes of the assumption that items which are nearly always bought together are equally frequent."""
    if other is None:
        return "No known pair is nearly always bought together."
    pairs = "the known pair that is"
    if other.pairs > 1:
        pairs = f"the {other.pairs:,} known pairs that are"
    who = (
        f"A second attacker also assumes that the items of {pairs} nearly always bought together are equally frequent."
    )
    wrong = "This makes no right belief wrong."
    if other.falsified_intervals:
        wrong = f"This makes {count_text(other.falsified_intervals, 'right belief')} wrong."
    if other.solution is None:
        return (
            f"{who} {wrong} Then no assignment of pseudonyms fits, so they would notice; the finding reports the first."
        )
    cracks = other.solution.expected_cracks
    than = "no more than the first attacker; the finding reports the first"
    if riskier:
        than = "more than the first attacker; the finding reports the second"
    elif cracks > first.expected_cracks and not (first.exact and other.solution.exact):
        than = "not certainly more than the first attacker; the finding reports the first"
    return f"{who} {wrong} They identify {average_text(cracks, other.solution.exact)} on average, {than}."


def _curve_by_known_pairs(beliefs: Beliefs, pairs: ItemPairs, after: Solution, run: Run) -> tuple[Curve, ...]:
    """What the first few of the known pairs are worth, each time matched with as many pairs of the release."""
    from unveil.items.correlation import match_known_pairs

    sizes = [w for w in (1, 2, 5, 10, 20, 50, 100, 200, 500) if w < len(pairs)]
    found = [(w, match_known_pairs(beliefs, pairs.take_first(w), pairs.take_first(w), run, after)) for w in sizes]
    points = [(w, s.expected_cracks) for w, s in [*found, (len(pairs), after)] if s is not None]
    if len(points) < 3:
        return ()
    return (
        Curve(
            title="Items identified, by how many pairs are known",
            kind="line",
            x_label="pairs known",
            y_label="items identified on average",
            x=tuple(float(w) for w, _ in points),
            y=tuple(y for _, y in points),
            x_scale="log",
            reading="Someone who knows more pairs has more pseudonyms to choose from for each of them, so knowing more "
            "pairs need not identify more items.",
        ),
    )


def _curve_by_examined_pairs(
    beliefs: Beliefs, pairs: ItemPairs, examined: ItemPairs, after: Solution, run: Run
) -> tuple[Curve, ...]:
    """What the known pairs are worth when they are matched with more and more pairs of the release. Not drawn where
    the first value is simulated: the change would be lost in the noise."""
    from unveil.items.correlation import match_known_pairs

    known = len(pairs)
    sizes = sorted({math.ceil(times * known) for times in _EXAMINED_FACTORS if times * known <= len(examined)})
    if len(sizes) < 2 or not after.exact:
        return ()
    wider = [(k, match_known_pairs(beliefs, pairs, examined.take_first(k), run, after)) for k in sizes]
    found = [(k, s) for k, s in [(known, after), *wider] if s is not None]
    what = f"the {known:,} known pairs" if known > 1 else "the known pair"
    exact = all(s.exact for _, s in found)
    last, solution = found[-1]
    return (
        Curve(
            title="Items identified, by how many pairs the known ones are matched with",
            kind="line",
            x_label="pairs of the release that are considered",
            y_label="items identified on average",
            x=tuple(float(k) for k, _ in found),
            y=tuple(s.expected_cracks for _, s in found),
            low=None if exact else tuple(s.interval[0] for _, s in found),
            high=None if exact else tuple(s.interval[1] for _, s in found),
            reading=f"Matched with more of the release's pairs, the items of {what} may fit more pseudonyms: among "
            f"{count_text(last, 'pair')}, {average_text(solution.expected_cracks, solution.exact)} items are "
            "identified on average.",
        ),
    )


def never_together_findings(attack: FrequencyAttack, policy: Policy, run: Run) -> Iterator[Finding]:
    """What is identified if some items are known never to be bought together, where the owner says which."""
    from unveil.items.attacker_files import parse_never_together
    from unveil.items.never_together import pairs_still_apart, solve_never_together

    case, baskets = attack.case, attack.baskets
    given, original = case.holds.get("never_together"), baskets if case.original is None else case.original
    if not isinstance(given, Table) or not isinstance(original, Transactions):
        return
    a, b = parse_never_together(given, original, run)
    known, found = len(a), None
    if case.truth is not None:
        a, b = pairs_still_apart(a, b, case.truth, baskets)
    try:
        found = solve_never_together(attack.beliefs.candidates, a, b, baskets, run)
        sentence = _gain_sentence(found, attack.recipe, known)
    except UnveilError as error:
        sentence = f"This could not be measured: {error}."
    pairs = count_text(
        known, "pair of items that is never bought together", "pairs of items that are never bought together"
    )
    yield _added_knowledge_finding(
        NEVER_TOGETHER,
        found,
        attack,
        policy,
        run,
        knows=f"knows {pairs}",
        sentence=sentence,
        source=f"{LAKSHMANAN}, section 7.3, which leaves this open",
    )


def _gain_sentence(found: Solution | ConditionalCracks, recipe: ItemRecipe, pairs: int) -> str:
    """What is identified, and how much of that is due to the added knowledge. Simulated numbers count as different
    only if their intervals are apart."""
    cracks, before, n = float(found.crack.sum()), recipe.solution, recipe.items
    exact = found.exact and before.exact
    more = cracks - before.expected_cracks
    close = abs(more) <= 1e-6 * n
    if not exact:
        close = found.interval[0] <= before.interval[1] and before.interval[0] <= found.interval[1]
    compared = f"{average_text(abs(more), exact)} {'more' if more > 0 else 'fewer'} than"
    if close:
        compared = "as many as" if exact else "about as many as"
    return (
        f"On average, someone who knows {'this pair' if pairs == 1 else 'these pairs'} identifies "
        f"{average_text(cracks, found.exact)} of {count_text(n, 'item')}, {compared} without that knowledge."
    )


def _added_knowledge_finding(
    risk: Risk,
    found: Solution | ConditionalCracks | None,
    attack: FrequencyAttack,
    policy: Policy,
    run: Run,
    *,
    knows: str,
    sentence: str,
    source: str,
    curves: tuple[Curve, ...] = (),
    tolerance: Literal["policy"] | None = "policy",
) -> Finding:
    """What someone identifies who knows more than frequencies; without a value if no assignment was found."""
    n = attack.recipe.items
    interval = None if found is None else found.interval
    return risk.finding(
        policy,
        value=None if found is None else float(found.crack.sum()),
        unit="items",
        method=None if found is None else found.method,
        interval=interval,
        confidence=None if found is None else run.confidence,
        subjects=n,
        share=None if interval is None else (min(1.0, interval[0] / n), min(1.0, interval[1] / n)),
        tolerance=tolerance,
        attacker=f"{attack.attacker} Also {knows}.",
        missing=MISSING_VALUES,
        baseline=None if found is None else 1.0,
        sentence=sentence,
        curves=curves,
        source=source,
    )
