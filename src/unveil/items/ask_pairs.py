"""The findings about someone who also knows which items are bought together, and which never are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.items.attack import LAKSHMANAN, MISSING_VALUES, FrequencyAttack
from unveil.items.risks import CORRELATION, NEVER_TOGETHER
from unveil.items.settings import ItemsSettings
from unveil.matching.crack_text import average_text
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.risk import Risk
from unveil.run import Run
from unveil.wording import count_text, verb

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs
    from unveil.items.correlation import PairAttack
    from unveil.items.item_pairs import ItemPairs
    from unveil.items.item_recipe import ItemRecipe
    from unveil.items.never_together import ConditionalCracks
    from unveil.matching.solver import Solution

__all__ = ["MAX_VARIED_ITEMS", "correlation_findings", "never_together_findings"]

MAX_VARIED_ITEMS = 2000  # items up to which the number of pairs is varied

_DEFAULT_KNOWN_PAIRS = 20
_EXAMINED_FACTORS = (1.5, 2, 3, 5)  # times as many pairs of the release as are known
_MOST_PAIRS = 1_000_000  # pairs of the release among which named pairs are looked for


def correlation_findings(attack: FrequencyAttack, policy: Policy, run: Run) -> Iterator[Finding]:
    """What is identified if pairs that are bought together are known as well: those that a file names, or the most
    frequent ones; for information only unless the file or the policy says which."""
    from unveil.items.correlation import attack_with_pairs

    known = _named_pairs(attack, run) if "pairs" in attack.case.holds else _most_frequent_pairs(attack, policy, run)
    if known is None and "pairs" in attack.case.holds:
        yield CORRELATION.finding(
            policy,
            value=None,
            subjects=attack.recipe.items,
            attacker=attack.attacker,
            sentence="None of the named pairs is in the release, or frequent enough to be looked for, so that what "
            "they give away was not measured.",
        )
    if known is None:
        return
    recipe, pairs = attack.recipe, known.pairs
    attacks = attack_with_pairs(
        attack.beliefs, pairs, known.examined, attack.baskets.counts, run, before=recipe.solution
    )
    first = _best_attack([(each, each.solution) for each in attacks])
    second = _best_attack([(each, None if each.refined is None else each.refined.solution) for each in attacks])
    worse = first is not None and second is not None and _is_certainly_more(second.solution, first.solution)
    best = second if worse else first
    ignores = best is not None and _is_certainly_more(recipe.solution, best.solution)
    sentence = (
        "What the attacker believes about frequencies contradicts what they know about pairs. No assignment of "
        "pseudonyms fits both, so they would notice."
    )
    if first is not None and best is not None:
        told = [_ignored_sentence(recipe, best)]
        if not ignores:
            told = [
                _gain_sentence(first.solution, recipe, known.known_text(first.attack)),
                known.scope_text(first),
                _refinement_sentence(first, second, attacks, known),
            ]
        sentence = " ".join(part for part in told if part)
    assumes = ", and assumes that items which are nearly always bought together are equally frequent" if worse else ""
    yield _added_knowledge_finding(
        CORRELATION,
        None if best is None else recipe.solution if ignores else best.solution,
        attack,
        policy,
        run,
        tolerance="policy" if known.decides else None,
        knows=f"knows {known.attacker_text(None if best is None or ignores else best.attack)}"
        f"{'' if ignores else assumes}",
        sentence=sentence,
        curves=tuple(_pair_curves(attack, known, attacks, run)),
        source=f"{LAKSHMANAN}, Figures 22 to 26, with the reverse filter of its example",
    )


@dataclass(frozen=True, eq=False)
class _KnownPairs:
    """The pairs that the attacker knows at most, and the pairs of the release among which they look for them.

    ``named`` says that the owner named them; otherwise they are the ``asked`` most frequent ones, and those that are as
    frequent as the last of these. ``lost`` of the named pairs are not in the release, or too rare to be looked for.
    """

    pairs: ItemPairs
    examined: ItemPairs
    decides: bool
    asked: int
    named: bool = False
    lost: int = 0

    def known_text(self, attack: PairAttack) -> str:
        """What the attacker relies on: these pairs, or the most frequent of them."""
        count = len(attack.known)
        if count == len(self.pairs):
            return verb(count, "this pair", "these pairs")
        of = " of the named pairs" if self.named else verb(count, " pair", " pairs")
        return f"the {'' if count == 1 else f'{count:,} '}most frequent{of}"

    def attacker_text(self, attack: PairAttack | None) -> str:
        """The pairs, as the end of "Also knows", and which of them an attack relies on, if not on all."""
        count, used = len(self.pairs), len(self.pairs if attack is None else attack.known)
        which = ""
        if used < count:
            which = f" and which {'is' if used == 1 else f'{used:,} of them are'} the most frequent"
        if self.named:
            pairs = "pair of items that is often bought together", "pairs of items that are often bought together"
            return f"{count_text(count, *pairs)}{which}"
        if count == 1:
            return "the pair of items that is bought together most often"
        return (
            f"the {count:,} pairs of items that are bought together most often{which or ', though not how they rank'}"
        )

    def scope_text(self, used: _UsedPairs) -> str:
        """Which pairs were considered beside those that an attack relies on."""
        told, count = [], len(self.pairs)
        if (more := count - self.asked) > 0:
            others = count_text(more, "more pair is", "more pairs are")
            last = "it" if self.asked == 1 else f"the last of the {self.asked:,} most frequent"
            told.append(f"{others} as frequent as {last} and {verb(more, 'counts', 'count')} as known, too.")
        if len(used.attack.known) < count:
            no_more = "identifies no more" if used.solution.exact else "does not certainly identify more"
            told.append(f"Relying on any other number of the {count:,} known pairs {no_more}.")
        if self.lost:
            told.append(
                f"{count_text(self.lost, 'named pair')} {verb(self.lost, 'is', 'are')} not in the release, or too rare "
                "to be looked for."
            )
        return " ".join(told)


@dataclass(frozen=True, eq=False)
class _UsedPairs:
    """The attack in which the pairs identify most, with its solution."""

    attack: PairAttack
    solution: Solution


def _most_frequent_pairs(attack: FrequencyAttack, policy: Policy, run: Run) -> _KnownPairs | None:
    from unveil.items.item_pairs import top_pairs

    given, small = policy.settings_for(ItemsSettings).known_pairs, attack.recipe.items <= MAX_VARIED_ITEMS
    pair_count = given or _DEFAULT_KNOWN_PAIRS
    examined = top_pairs(attack.baskets, pair_count * (int(_EXAMINED_FACTORS[-1]) if small else 1), run)
    pairs = examined.take_top(pair_count)
    return _KnownPairs(pairs, examined, given is not None, pair_count) if len(pairs) else None


def _named_pairs(attack: FrequencyAttack, run: Run) -> _KnownPairs | None:
    """The pairs that a file names, as far as they are in the release."""
    import numpy as np

    from unveil.items.attacker_files import parse_pairs
    from unveil.items.correlation import pairs_still_together
    from unveil.items.item_pairs import top_pairs

    case, baskets = attack.case, attack.baskets
    given = case.holds["pairs"]
    assert isinstance(given, Table)
    a, b = parse_pairs(given, attack.original, run)
    becomes = np.arange(len(baskets.labels)) if case.truth is None else case.truth
    pairs = pairs_still_together(a, b, becomes, baskets, run)
    if not len(pairs):
        return None
    examined = top_pairs(baskets, _MOST_PAIRS, run, least=int(pairs.counts.min()))
    kept = pairs.take_frequent(int(examined.counts[-1]))
    return _KnownPairs(kept, examined, True, len(kept), named=True, lost=len(a) - len(kept)) if len(kept) else None


def _best_attack(attacks: list[tuple[PairAttack, Solution | None]]) -> _UsedPairs | None:
    """The attack that identifies most; of equals, the one with the most pairs. A simulated one must certainly identify
    more than those before it."""
    best: _UsedPairs | None = None
    for attack, solution in attacks:
        if solution is None:
            continue
        exact = solution.exact and (best is None or best.solution.exact)
        if best is None or (
            not _is_certainly_more(best.solution, solution) if exact else _is_certainly_more(solution, best.solution)
        ):
            best = _UsedPairs(attack, solution)
    return best


def _is_certainly_more(one: Solution, other: Solution) -> bool:
    """Whether the first identifies more than the other by more than rounding or chance may add."""
    return one.interval[0] > other.interval[1] + 1e-9 * other.candidates.n


def _ignored_sentence(recipe: ItemRecipe, best: _UsedPairs) -> str:
    """If every use of the pairs identifies fewer items, the attacker does not use them."""
    before, fewer = recipe.solution, best.solution
    return (
        "To rely on the known pairs would only mislead the attacker: they would identify "
        f"{average_text(fewer.expected_cracks, fewer.exact)} of {count_text(recipe.items, 'item')} on average. Without "
        f"the pairs they identify {average_text(before.expected_cracks, before.exact)}."
    )


def _refinement_sentence(
    first: _UsedPairs, second: _UsedPairs | None, attacks: list[PairAttack], known: _KnownPairs
) -> str:
    """What comes of the assumption that items which are nearly always bought together are equally frequent."""
    used = attacks[-1] if second is None else second.attack
    refined = used.refined
    if refined is None:
        return "No known pair is nearly always bought together."
    pairs = "the known pair that is"
    if refined.pairs > 1:
        pairs = f"the {refined.pairs:,} known pairs that are"
    knows = "" if used is first.attack else f", who knows {known.known_text(used)},"
    who = (
        f"A second attacker{knows} also assumes that the items of {pairs} nearly always bought together are equally "
        "frequent."
    )
    wrong = "This makes no right belief wrong."
    if refined.falsified_intervals:
        wrong = f"This makes {count_text(refined.falsified_intervals, 'right belief')} wrong."
    if second is None:
        return (
            f"{who} {wrong} Then no assignment of pseudonyms fits, so they would notice; the finding reports the first."
        )
    cracks, exact = second.solution.expected_cracks, second.solution.exact
    than = "no more than the first attacker; the finding reports the first"
    if _is_certainly_more(second.solution, first.solution):
        than = "more than the first attacker; the finding reports the second"
    elif cracks > first.solution.expected_cracks and not (first.solution.exact and exact):
        than = "not certainly more than the first attacker; the finding reports the first"
    return f"{who} {wrong} They identify {average_text(cracks, exact)} on average, {than}."


def _pair_curves(attack: FrequencyAttack, known: _KnownPairs, attacks: list[PairAttack], run: Run) -> Iterator[Curve]:
    yield from _curve_by_known_pairs(attacks)
    last = attacks[-1].solution
    if not known.named and last is not None and attack.recipe.items <= MAX_VARIED_ITEMS:
        yield from _curve_by_examined_pairs(attack.beliefs, known.pairs, known.examined, last, run)


def _curve_by_known_pairs(attacks: list[PairAttack]) -> tuple[Curve, ...]:
    """What each number of the most frequent pairs is worth."""
    points = [(len(each.known), each.solution) for each in attacks if each.solution is not None]
    if len(points) < 3:
        return ()
    return (
        Curve(
            title="Items identified, by how many pairs are relied on",
            kind="line",
            x_label="known pairs relied on",
            y_label="items identified on average",
            x=tuple(float(w) for w, _ in points),
            y=tuple(solution.expected_cracks for _, solution in points),
            x_scale="log",
            reading="Someone who relies on more pairs has more pseudonyms to choose from for each of them, so relying "
            "on more pairs need not identify more items.",
        ),
    )


def _curve_by_examined_pairs(
    beliefs: Beliefs, pairs: ItemPairs, examined: ItemPairs, after: Solution, run: Run
) -> tuple[Curve, ...]:
    """What the known pairs are worth when they are matched with more and more pairs of the release. Not drawn where
    the first value is simulated: the change would be lost in the noise."""
    from unveil.items.correlation import match_known_pairs

    known = len(pairs)
    wanted = [math.ceil(times * known) for times in _EXAMINED_FACTORS if times * known <= len(examined)]
    more = {len(found): found for found in map(examined.take_top, wanted)}
    if len(more) < 2 or not after.exact:
        return ()
    wider = [(k, match_known_pairs(beliefs, pairs, found, run, after)) for k, found in more.items()]
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
    given = case.holds.get("never_together")
    if not isinstance(given, Table):
        return
    a, b = parse_never_together(given, attack.original, run)
    known, found = len(a), None
    if case.truth is not None:
        a, b = pairs_still_apart(a, b, case.truth, baskets)
    try:
        found = solve_never_together(attack.beliefs.candidates, a, b, baskets, run)
        sentence = _gain_sentence(found, attack.recipe, verb(known, "this pair", "these pairs"))
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


def _gain_sentence(found: Solution | ConditionalCracks, recipe: ItemRecipe, known: str) -> str:
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
        f"On average, someone who knows {known} identifies {average_text(cracks, found.exact)} of "
        f"{count_text(n, 'item')}, {compared} without that knowledge."
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
