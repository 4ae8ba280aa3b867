"""The findings about who knows what is bought together, and what never is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.items.paper import LAKSHMANAN, MISSING
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import counted, number

if TYPE_CHECKING:
    from unveil.items.beliefs import Beliefs
    from unveil.items.correlation import Refined
    from unveil.items.never import Conditional
    from unveil.items.pairs import Pairs
    from unveil.items.recipe import Recipe
    from unveil.matching.ladder import Solution

__all__ = ["correlation_findings", "never_findings"]

_PAIRS = 20  # known pairs where nobody said how many
_LOOKED_AT = (1.5, 2, 3, 5)  # times as many pairs of the release as are known
_SMALL = 2000  # items up to which numbers of pairs are varied


def correlation_findings(
    baskets: Transactions, beliefs: Beliefs, recipe: Recipe, attacker: str, policy: Policy, run: Run
) -> Iterator[Finding]:
    """The cracks when the most frequent pairs are known as well. Where nobody said how many, they inform."""
    from unveil.items.correlation import matched, refined
    from unveil.items.pairs import top_pairs

    wanted, small = policy.pairs_known or _PAIRS, recipe.items <= _SMALL
    looked_at = top_pairs(baskets, wanted * (int(_LOOKED_AT[-1]) if small else 1), run)
    pairs = looked_at.first(wanted)
    if not len(pairs):
        return
    after, worse = matched(beliefs, pairs, pairs, run, recipe.solution), None
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
        source=f"{LAKSHMANAN}, Figures 22 to 26, with the reverse filter of its example",
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
    found = [(w, matched(beliefs, pairs.first(w), pairs.first(w), run, after)) for w in sizes]
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
    wider = [(k, matched(beliefs, pairs, looked_at.first(k), run, after)) for k in sizes]
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


def never_findings(
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
        source=f"{LAKSHMANAN}, section 7.3, which leaves this open",
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
        missing=MISSING,
        sentence=sentence,
        curves=curves,
        source=source,
    )
