"""The finding about someone who holds baskets with the items' names, and compares what is bought together there and in
the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unveil.finding import Curve, ExposedSubject, Finding
from unveil.items.attack import MISSING_VALUES, FrequencyAttack, exposed_items, known_protection_text
from unveil.items.risks import EXPECTED_CRACKS, SIMILAR_PAIRS
from unveil.policy import Policy
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import capitalise_text, count_text, number_text, percent_text, range_text, verb

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.items.pair_attack import AttackTarget, NamedItems

__all__ = ["SAMPLE_SHARE", "similar_pairs_finding"]

SAMPLE_SHARE = 0.1  # the share of the baskets that a competitor is assumed to hold

_MAX_ITEMS = 2000  # most frequent items that are attacked with baskets that the attacker is said to hold
_MAX_SAMPLED_ITEMS = 500  # the same with samples, which are for information
_MAX_REPEATED_ITEMS = 300  # items up to which several samples of several sizes are drawn
_LOOKS = (5, 10, 20, 40)  # numbers of samples after which it is seen whether they tell enough from too many
_CURVE_SAMPLES = 2  # of each other size
_FEWEST_STARTS = 3
_MOST_STARTS = 20
_MOST_SAMPLE_STARTS = 8  # with each of many samples
_MAX_WORK = 300**3 * _MOST_STARTS  # starts times items³, with baskets that the attacker is said to hold
_MAX_SAMPLE_WORK = 60**3 * _MOST_STARTS  # the same with a sample,
_MAX_SAMPLES_WORK = 100 * _MAX_SAMPLE_WORK  # and with all samples of the size that informs
_SHARES = (0.01, 0.02, 0.05, SAMPLE_SHARE, 0.2, 0.5)
_METHOD = (
    "compares how often each item and each pair of items occurs there and in the release, and looks for the assignment "
    "of pseudonyms to items for which both agree best"
)
_SOURCE = (
    "S. Gold, A. Rangarajan, A graduated assignment algorithm for graph matching, IEEE TPAMI 18(4), 1996, applied to "
    "pairs of items"
)


def similar_pairs_finding(attack: FrequencyAttack, policy: Policy, run: Run) -> Finding:
    """What is identified by someone with similar baskets or, for information, with a sample of the original ones."""
    if isinstance(similar := attack.case.holds.get("similar"), Transactions):
        return _held_baskets_finding(attack, similar, policy, run)
    return _sample_finding(attack, policy, run)


def _attack_target(attack: FrequencyAttack, limit: int) -> AttackTarget:
    from unveil.items.attacker_beliefs import find_change
    from unveil.items.pair_attack import AttackTarget

    return AttackTarget(attack.baskets, attack.original, find_change(attack.case), limit)


def _count_starts(target: AttackTarget, work: int) -> int:
    """How often the search starts within an amount of work."""
    items = min(target.limit, len(target.release.labels))
    return max(_FEWEST_STARTS, min(_MOST_STARTS, work // items**3))


def _held_baskets_finding(attack: FrequencyAttack, similar: Transactions, policy: Policy, run: Run) -> Finding:

    from unveil.items.attacker_files import similar_codes
    from unveil.items.pair_attack import attack_by_pairs, named_baskets

    target = _attack_target(attack, _MAX_ITEMS)
    held = named_baskets(similar, similar_codes(similar, target.original), len(target.original.labels))
    starts, marginals = _count_starts(target, _MAX_WORK), _known_marginals(attack)
    found = attack_by_pairs(target, held, run.rng(SIMILAR_PAIRS.id), starts=starts, marginals=marginals, run=run)
    n, right = len(found.right), int(found.right.sum())
    interval = (float(right), float(found.reachable + n - found.attacked))
    return SIMILAR_PAIRS.finding(
        policy,
        value=float(right),
        unit="items",
        method="bound",
        interval=interval,
        subjects=n,
        share=(interval[0] / n, interval[1] / n),
        attacker=f"{known_protection_text(attack.case)}Holds {count_text(similar.baskets, 'similar basket')} with the "
        f"items' names; {number_text(found.seen)} of {count_text(n, 'released item')} "
        f"{verb(found.seen, 'occurs', 'occur')} there. {capitalise_text(_METHOD)}.",
        missing=MISSING_VALUES,
        baseline=1.0,
        sentence=" ".join(
            [
                f"The attack names {right:,} of {count_text(n, 'item')} correctly ({percent_text(right / n)}).",
                *_sure_text(found),
                *_reachable_text(found, right),
                *_left_out_text(found.attacked, n),
            ]
        ),
        curves=_confidence_curve(found),
        exposed=_named_items(found, attack, run),
        source=_SOURCE,
    )


def _named_items(found: NamedItems, attack: FrequencyAttack, run: Run) -> tuple[ExposedSubject, ...]:
    """The items that the attack names correctly. Whoever holds the similar baskets can repeat the attack and would
    learn which of the names are right, so that they are listed only if the owner asked to reveal."""
    import numpy as np

    because = "the attack names it correctly; how sure it is of that is its own estimate"
    risk = np.where(found.right, found.weight, 0.0)
    return exposed_items(attack.baskets, risk, lambda i: because, run)[: int(found.right.sum()) * run.reveal]


def _known_marginals(attack: FrequencyAttack) -> Floats | None:
    """The probability of each pseudonym for each item, where it follows exactly from the attacker's beliefs."""
    solution = attack.recipe.solution
    return solution.matrix() if solution.exact and attack.recipe.items <= _MAX_ITEMS else None


def _sure_text(found: NamedItems) -> Iterator[str]:
    """How right the attack is where it is sure: its confidence is an estimate, this is a count."""
    sure, right = int(found.sure.sum()), int((found.sure & found.right).sum())
    if not sure:
        yield "It is not 90% sure of any."
    elif sure == 1:
        yield f"It is at least 90% sure of 1 item, and {'right' if right else 'wrong'} about it."
    else:
        all_right = "all of them" if right == sure else f"{right:,} of them"
        yield f"It is at least 90% sure of {sure:,} items, and right about {all_right}."


def _reachable_text(found: NamedItems, right: int) -> Iterator[str]:
    if found.tied:
        yield (
            f"{count_text(found.tied, 'item')} could be exchanged with another one at no loss of score, and "
            f"{verb(found.tied, 'counts', 'count')} as not named."
        )
    if found.reachable > right:
        yield (
            "A search that starts from the true names ends with at least as high a score and "
            f"{number_text(found.reachable)} right {verb(found.reachable, 'name', 'names')}"
            f"{' on average, since chance decides between those items' if found.tied else ''}, so an attacker may "
            "reach that."
        )
    elif right < len(found.right):
        yield "A search that starts from the true names finds no assignment that scores higher."


def _left_out_text(attacked: int, items: int) -> Iterator[str]:
    if attacked < items:
        yield f"Only the {attacked:,} most frequent items were attacked; all others count as not named."


def _confidence_curve(found: NamedItems) -> tuple[Curve, ...]:
    """How many of the surest items are right."""
    import numpy as np

    named = np.flatnonzero(found.named)
    if len(named) < 3:
        return ()
    right = np.cumsum(found.right[named[np.argsort(-found.confidence[named], kind="stable")]])
    at = np.unique(np.linspace(1, len(named), 100).round().astype(int))
    return (
        Curve(
            title="Items named correctly, the surest first",
            kind="line",
            x_label="items named, the one that the attack is surest of first",
            y_label="of these, named correctly",
            x=tuple(float(k) for k in at),
            y=tuple(float(right[k - 1]) for k in at),
            reading="As long as the line rises by one for each item, the attacker knows which of the names to trust.",
        ),
    )


def _sample_finding(attack: FrequencyAttack, policy: Policy, run: Run) -> Finding:
    n = len(attack.baskets.labels)
    target, limit = _attack_target(attack, _MAX_SAMPLED_ITEMS), policy.threshold(SIMILAR_PAIRS) * n
    repeated = n <= _MAX_REPEATED_ITEMS
    by_share = _attack_with_samples(target, limit, repeated, run)
    found = by_share[SAMPLE_SHARE]
    value = sum(f.expected for f in found) / len(found) if repeated else float(found[0].right.sum())
    interval = float(found[0].right.sum()), float(found[0].reachable + n - found[0].attacked)
    if repeated:
        interval = _named_interval(found, run.confidence)
    baskets = max(1, round(SAMPLE_SHARE * target.original.baskets))
    return SIMILAR_PAIRS.finding(
        policy,
        title=f"Items identified by someone with a {percent_text(SAMPLE_SHARE)} sample who compares what is bought "
        "together",
        value=value,
        unit="items",
        method="simulation" if repeated else "bound",
        interval=interval,
        confidence=run.confidence if repeated else None,
        subjects=n,
        share=(interval[0] / n, interval[1] / n),
        tolerance="policy" if SIMILAR_PAIRS.id in policy.tolerance else None,
        attacker=f"{known_protection_text(attack.case)}Holds {count_text(baskets, 'random basket')} of the "
        f"{count_text(target.original.baskets, 'original one')}, with the items' names. {capitalise_text(_METHOD)}.",
        missing=MISSING_VALUES,
        baseline=1.0,
        sentence=" ".join(_sample_sentences(found, value, interval, n)),
        curves=_sample_curve(by_share, policy.threshold(EXPECTED_CRACKS) * n),
        source=_SOURCE,
    )


def _sample_sentences(
    found: Sequence[NamedItems], value: float, interval: tuple[float, float], n: int
) -> Iterator[str]:
    who = f"Someone with a {percent_text(SAMPLE_SHARE)} sample of the original baskets"
    if len(found) == 1:
        yield f"{who} names {number_text(value)} of {count_text(n, 'item')} correctly ({percent_text(value / n)})."
        yield "This is one attack with one sample."
        yield from _reachable_text(found[0], int(value))
        yield from _left_out_text(found[0].attacked, n)
        return
    named = range_text(value, interval, number_text)
    yield f"{who} names {named} of {count_text(n, 'item')} correctly on average, over {len(found)} samples."
    if any(f.tied for f in found):
        yield "Where items could be exchanged at no loss of score, chance decides between them."
    best = sum(f.reachable for f in found) / len(found)
    if best > value:
        yield (
            "Searches that start from the true names end with at least as high a score in some samples; an attacker "
            f"who reaches that too names {number_text(best)} on average."
        )


def _attack_with_samples(target: AttackTarget, limit: float, repeated: bool, run: Run) -> dict[float, list[NamedItems]]:
    """Attacks with samples of several sizes, or with one sample only. An order of the baskets serves all sizes. Further
    samples of the size that informs are drawn until it is clear on which side of the limit the mean lies, or the work
    budget is used up."""
    from unveil.items.pair_attack import attack_by_pairs, draw_baskets

    rng, baskets = run.rng(SIMILAR_PAIRS.id), target.original.baskets
    found: dict[float, list[NamedItems]] = {share: [] for share in (_SHARES if repeated else (SAMPLE_SHARE,))}
    starts, enough = min(_MOST_SAMPLE_STARTS, _count_starts(target, _MAX_SAMPLE_WORK)), found[SAMPLE_SHARE]
    affordable = _MAX_SAMPLES_WORK // (starts * len(target.release.labels) ** 3)
    for look in _LOOKS if repeated else (1,):
        while len(enough) < look:
            order = target.original.shuffle_baskets(rng)
            for share in found if len(enough) < _CURVE_SAMPLES else (SAMPLE_SHARE,):
                held = draw_baskets(target.original, order[: max(1, round(share * baskets))])
                found[share].append(attack_by_pairs(target, held, rng, starts=starts, run=run))
        if not repeated or 2 * look > affordable or _is_settled(enough, limit, run.confidence):
            break
    return found


def _is_settled(found: Sequence[NamedItems], limit: float, confidence: float) -> bool:
    """Whether more samples would hardly tell more: too many items are named for certain, or it is clear of both the
    named and the reachable items whether they are too many."""
    named, reachable = _mean_intervals(found, confidence)
    return named[0] > limit or all(low > limit or high <= limit for low, high in (named, reachable))


def _named_interval(found: Sequence[NamedItems], confidence: float) -> tuple[float, float]:
    """The mean number of named items over all samples; at most, that of the reachable ones."""
    named, reachable = _mean_intervals(found, confidence)
    return named[0], max(named[1], reachable[1])


def _mean_intervals(found: Sequence[NamedItems], confidence: float) -> list[tuple[float, float]]:
    """Intervals for the mean numbers of named and of reachable items over all samples. They hold together, whenever
    drawing ended. Numbers that are all equal count as if one of them were off by one item."""
    import numpy as np

    from unveil.intervals import student_half_width

    strict = 1 - (1 - confidence) / (2 * len(_LOOKS))
    intervals = []
    for values in (np.array([f.expected for f in found]), np.array([float(f.reachable) for f in found])):
        one_off = np.eye(len(values))[0]
        width = float(max(student_half_width(values, strict), student_half_width(one_off, strict)))
        mean = float(values.mean())
        intervals.append((max(mean - width, 0.0), min(mean + width, float(len(found[0].right)))))
    return intervals


def _sample_curve(by_share: dict[float, list[NamedItems]], tolerated: float) -> tuple[Curve, ...]:
    if len(by_share) < 2:
        return ()
    right = {share: [f.expected for f in found] for share, found in by_share.items()}
    return (
        Curve(
            title="Items named correctly by comparing pairs, by the size of the sample",
            kind="line",
            x_label="share of the baskets in the sample",
            y_label="items named correctly",
            x=tuple(right),
            y=tuple(sum(values) / len(values) for values in right.values()),
            low=tuple(min(values) for values in right.values()),
            high=tuple(max(values) for values in right.values()),
            x_scale="log",
            levels=((tolerated, "tolerated"),),
            reading=f"Mean of {len(right[SAMPLE_SHARE])} samples at {percent_text(SAMPLE_SHARE)} and of "
            f"{_CURVE_SAMPLES} at each other size; the band runs from the least to the most.",
        ),
    )
