"""Compiled: a score for every record, or how strongly each is believed to be the target.

Scores are summed along the lists of holders (see ``_posting_index``). Only few different scores occur; records with the
same score are of one *kind*, and beliefs are computed once per kind. Arrays with two axes are indexed by target, and by
known thing or number of known things.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.compilation import helper, kernel
from unveil.linkage.attack._posting_index import PostingIndex, search_holders
from unveil.linkage.attack._target_similarity import (
    Grades,
    RecordComparison,
    TargetValues,
    compare_records,
    load_target,
    target_values,
)

__all__ = ["ScoreModel", "ScorePlan", "TargetOutcomes", "outcomes_of_beliefs", "plan_scores", "score_records"]


_SCORE_FRACTION = 1 << 30  # scores are multiples of 1 / 2³⁰: sums are exact, in any order
_COUNT_UNIT = 1 << 48  # one known thing, counted above the bits of the score
_SCORE_MASK = _COUNT_UNIT - 1
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio: spreads neighbouring keys (Fibonacci hashing)
_NOBODY = -1e300  # below the logarithm of any positive probability
_SLACK = 1e-9
_NEGLIGIBLE = 50.0  # nats below the maximum: even a million such terms do not change a sum


class TargetOutcomes(NamedTuple):
    """What an attacker sees, by target and number of known things. They name the target with probability ``spread`` if
    their answer is drawn from all candidates, and ``best`` if it is drawn from the best ones. ``size`` is the number of
    candidates, ``ties`` the number of best ones, and ``lead`` how far these are ahead. The other fields are
    expectations over the answer: how often it is similar enough to the target, and how many attributes agree."""

    spread: Floats
    best: Floats
    size: Floats
    ties: Floats
    lead: Floats
    spread_similar: Floats
    spread_learned: Floats
    best_similar: Floats
    best_learned: Floats


def outcomes_of_beliefs(beliefs: Floats) -> Floats:
    """The columns of :class:`TargetOutcomes`, from the rows that :func:`score_records` fills."""
    top, second, own, whole, moment, ties = np.moveaxis(beliefs[..., :6], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # if no record is believed
        found = [
            np.exp(own - top) / whole,
            np.where(own >= top - _SLACK, 1 / ties, 0.0),
            np.exp(np.log(whole) - moment / whole),
            ties,
            np.where(ties == 1, top - np.where(second > _NOBODY, second, -np.inf), 0.0),
            *(beliefs[..., 6 + k] / (whole if k < 2 else ties) for k in range(beliefs.shape[-1] - 6)),
        ]
    believed = np.where(ties[..., None] > 0, np.stack(found, axis=-1), 0.0)
    return np.where(np.isnan(top)[..., None], np.nan, believed)


class ScoreModel(NamedTuple):
    """How records are scored: by ``weight`` times similarity, which may be graded (``grades``); or, if ``wrong`` ≥ 0,
    by likelihood, where ``wrong`` is the probability of a wrong value and ``elsewhere`` that of an attribute the target
    lacks. ``own`` is the number of ``usable`` attributes of the record at each place, and ``factorial[k]`` is ln k!."""

    weight: Floats
    grades: Grades
    wrong: float
    elsewhere: float
    own: Ints
    usable: int
    factorial: Floats


class ScorePlan(NamedTuple):
    """The terms of all scores. Known thing k, counted target by target, gives ``gain[3k + j]`` to the holders
    ``cut[4k + j] … cut[4k + j + 1]``, for j = 0, 1, 2. By target and number of known things: the number of ``things``
    that say something, how many of them every record has (``shared``), and the ``least`` possible score.

    If scores are likelihoods, ``here`` is the log-probability that an attribute is the record's own, by the record's
    number of attributes, and ``there`` that it comes from elsewhere; ``factorial[k]`` is ln k!, and ``left[k]`` is ln
    (usable − k)!. If ``alone``, every record is a kind of its own, because few share both score and number of
    attributes.
    """

    cut: Ints
    gain: Ints
    things: Ints
    shared: Ints
    least: Ints
    own: Ints
    here: Floats
    factorial: Floats
    left: Floats
    there: float
    weighing: bool
    alone: bool


class _GradedThings(NamedTuple):
    """Known things with graded gains, by target and known thing; ``scale`` is 0 for all others. The gain falls with the
    distance between the holder's number, ``numbers[start + code]``, and the known ``number``."""

    scale: Floats
    number: Floats
    weight: Floats
    start: Ints
    numbers: Floats
    code: Int32s


def plan_scores(
    index: PostingIndex, like: RecordComparison, model: ScoreModel, attribute: Int32s, value: Int32s,
    low: Int32s, high: Int32s, ms: Ints,
) -> tuple[ScorePlan, _GradedThings | None]:  # fmt: skip
    """The terms of the scores of all targets. By weight, the holders of a similar value gain the thing's weight. By
    likelihood, all holders of the attribute gain 2⁴⁸, which counts known things, and the holders of a similar value
    also gain the logarithm of how much likelier that value is if it is right. If no value can be wrong, only holders of
    a similar value are counted."""
    one, n, no, most = _COUNT_UNIT, len(index.last), np.zeros(attribute.shape, np.int64), attribute.shape[1]
    there, i = attribute >= 0, np.maximum(attribute, 0)
    first, last = index.starts[i], index.starts[i + 1]
    begin, end, everyone, weighing = search_holders(index, i, low), search_holders(index, i, high + 1), no, False
    gains = no, no + one, no
    if model.wrong < 0:
        weighing, gains = True, (no, np.rint(_SCORE_FRACTION * model.weight[i]).astype(np.int64), no)
    elif model.wrong > 0:
        code = np.maximum(value, 0)
        exact = search_holders(index, i, code + 1) - search_holders(index, i, code)
        odds = (1 - model.wrong) / (high - low + 1) / (np.maximum(1, exact) / np.maximum(1, last - first) * model.wrong)
        everyone = there & (last - first == n)
        counts = np.where(everyone, 0, one)
        gains = counts, counts + np.rint(_SCORE_FRACTION * np.log1p(odds)).astype(np.int64), counts
    if not gains[0].any():
        first, last = begin, end
    cut, at = np.stack([first, begin, end, last], axis=-1) * there[..., None], np.minimum(ms, most) - 1
    things = np.cumsum(there, axis=1)[:, at] * np.int64(not weighing)
    shared = np.cumsum(everyone, axis=1)[:, at]
    certain = not weighing and model.elsewhere == 0  # a record that lacks a known attribute is impossible
    left = np.full(model.usable + most + 1, -np.inf)
    left[: model.usable + 1] = model.factorial[model.usable :: -1]
    here = np.full(model.usable + 1, np.log(model.wrong) if model.wrong > 0 else 0.0)
    here[:-1] += np.log1p(-model.elsewhere)
    plan = ScorePlan(
        cut.ravel(), np.stack(gains, axis=-1).ravel(), things.ravel(), shared.ravel(),
        ((things - shared) * (one * certain)).ravel(), model.own * (not weighing), here, model.factorial, left,
        np.log(model.elsewhere) if model.elsewhere > 0 else 0.0, weighing,
        model.elsewhere > 0 and bool((model.own != model.own[0]).any()),
    )  # fmt: skip
    scale = model.grades.scale[i] * there
    if not weighing or not scale.any():
        return plan, None
    start = like.starts[i]
    number = model.grades.number[start + np.maximum(value, 0)]
    return plan, _GradedThings(*(
        scale.ravel(), number.ravel(), model.weight[i].ravel(), start.ravel(), model.grades.number, index.code
    ))  # fmt: skip


class _ScoreKinds(NamedTuple):
    """Kinds of records, which share the ``score`` and the number of attributes (``own``), and ``many`` records of each
    kind. They are kept in a hash table: ``slot`` holds the number of a kind, or −1, and ``place`` is the slot of each
    kind. ``logs`` is the log-belief in each."""

    slot: Int32s
    place: Ints
    many: Ints
    score: Ints
    own: Ints
    logs: Floats


class _KindComparison(NamedTuple):
    """The records to compare with the target, and the values of the target; whether ``each`` record is similar enough
    (1 or 0) and how many attributes agree; and the sums of both over each of the ``kinds``, possibly in the same
    arrays."""

    indptr: Ints
    attribute: Int32s
    value: Int32s
    like: RecordComparison
    own: TargetValues
    places: Ints
    each: tuple[Ints, ...]
    kinds: tuple[Ints, ...]


def score_records(
    index: PostingIndex, like: RecordComparison, plan: ScorePlan, grades: _GradedThings | None, targets: Ints,
    usable: Ints, ms: Ints, found: Floats, first: int, last: int, work: int,
) -> int:  # fmt: skip
    """Fill the beliefs of an attacker who scores every record. Processes the targets ``first`` to ``last``, or as many
    as ``work`` allows; returns the next target.

    ``found`` has a row for every target and number of known things. Let xᵧ be the log-belief in record y and bᵧ =
    exp(xᵧ − max x). The columns are max x, x of the next kind, x of the target, Σ b, Σ b ln b and the number of records
    with b = 1. If records are compared, four more: Σ b over the records that are similar enough, Σ b times the number
    of attributes that agree, and both sums over the records with b = 1.
    """
    n, compared = len(index.last), None
    if like.sigma >= 0:
        each, kinds_of_each = (tuple(np.empty((2, n), np.int64)) for _ in range(2))
        compared = _KindComparison(*(
            index.indptr, index.attribute, index.value, like, target_values(len(index.plane), like.grades),
            np.arange(n), each, each if plan.alone else kinds_of_each,
        ))  # fmt: skip
    slots = np.full(2 << max(0, n - 1).bit_length(), -1, np.int32)
    kinds = _ScoreKinds(
        *(slots, *np.zeros((1, n), np.int64), *np.ones((1, n), np.int64), *np.empty((2, n), np.int64), np.empty(n))
    )
    reached: int = _fill_scores(
        index.holder, plan, grades, compared, targets, usable, ms, found, first, last, work, kinds,
        np.empty(n, np.int64),
    )  # fmt: skip
    return reached


@kernel
def _fill_scores(
    holder, plan, grades, compared, targets, usable, ms, found, first,
    last, work, kinds, score,
):  # fmt: skip
    """The loop over targets of :func:`score_records`."""
    zero: Any = np.int64(0)  # not a literal, for which the helpers would be compiled a second time
    cut, gain, n, done = plan.cut, plan.gain, len(score), zero
    most = len(cut) // (4 * len(targets))
    for t in range(first, last):
        if done >= work:
            return t
        target, known = targets[t], zero
        for y in range(n):
            score[y] = 0
        if compared is not None:
            indptr, attribute, value, like, own, places, each, _ = compared
            load_target(indptr, attribute, value, like, like.grades, target, own)
            done += compare_records(
                indptr, attribute, value, like, like.grades, target, own, places, n, 0, each
            )[0]  # fmt: skip
        for j in range(len(ms)):
            if usable[t] < ms[j]:
                break
            for k in range(t * most + known, t * most + ms[j]):
                for part in range(3):
                    more = gain[3 * k + part]
                    for at in range(cut[4 * k + part], cut[4 * k + part + 1]):
                        if grades is not None and grades.scale[k] > 0.0:
                            apart = abs(grades.number[k] - grades.numbers[grades.start[k] + grades.code[at]])
                            near = max(0.0, 1.0 - apart / grades.scale[k])
                            more = np.int64(np.rint(_SCORE_FRACTION * grades.weight[k] * near))
                        score[holder[at]] += more
                done += cut[4 * k + 3] - cut[4 * k]
            known = ms[j]
            at = t * len(ms) + j
            scores, owns, count, total = score, plan.own, n, zero
            if not plan.alone:
                scores, owns = kinds.score, kinds.own
                count, total = _gather_kinds(score, plan.own, plan.least[at], compared, kinds)
            _fill_beliefs(
                plan, plan.things[at], plan.shared[at], score[target], plan.own[target], total / n, n, scores, owns,
                kinds, compared, count, found[at],
            )  # fmt: skip
            done += 3 * n
    return last


@helper
def _gather_kinds(score, own, least, compared, kinds):
    """Sort all records with a score of at least ``least`` into kinds. Returns the number of kinds, and the sum of the
    scores."""
    slot, place, many, scores, owns, _ = kinds
    count, total, mask = 0, 0, len(slot) - 1
    k: Any = 0
    for y in range(len(score)):
        s, o = score[y], own[y]
        if s < least:
            continue
        total += s
        at = np.int64(((np.uint64(s) ^ (np.uint64(o) << np.uint64(17))) * _HASH_FACTOR) >> np.uint64(33)) & mask
        k = np.int64(slot[at])
        while k >= 0 and (scores[k] != s or owns[k] != o):
            at = (at + 1) & mask
            k = np.int64(slot[at])
        if k < 0:
            k = count
            count += 1
            slot[at], place[k], scores[k], owns[k], many[k] = k, at, s, o, 0
            if compared is not None:
                compared.kinds[0][k], compared.kinds[1][k] = 0, 0
        many[k] += 1
        if compared is not None:
            compared.kinds[0][k] += compared.each[0][y]
            compared.kinds[1][k] += compared.each[1][y]
    return count, total


@helper
def _fill_beliefs(
    plan, things, shared, target_score, target_own, mean, n, scores, owns,
    kinds, compared, count, seen,
):  # fmt: skip
    """Fill one row of :func:`score_records` from all kinds. A log-belief is the log-likelihood of what is known, up to
    a common constant, or the score in standard deviations of all scores. Frees the slots of the kinds."""
    slot, place, many, logs = kinds.slot, kinds.place, kinds.many, kinds.logs
    here, factorial, left, scale = plan.here, plan.factorial, plan.left, 1.0 / _SCORE_FRACTION
    top, second, squares, target_log = _NOBODY, _NOBODY, 0.0, -np.inf
    if plan.weighing:
        for k in range(count):
            squares += many[k] * (scores[k] - mean) * (scores[k] - mean)
        scale = 1.0 / np.sqrt(squares / n) if squares > 0.0 else 0.0
    for k in range(count):
        slot[place[k]] = -1
        own, have = owns[k], shared + (scores[k] >> 48)
        lack = things - have
        x = (scores[k] & _SCORE_MASK) * scale + have * here[own] + factorial[own - have] - factorial[own]
        x += lack * plan.there + left[own + lack] - left[own]
        logs[k] = x
        if scores[k] == target_score and own == target_own:
            target_log = x
        if x > top:
            top, second = x, top
        elif x > second:
            second = x
    whole, moment, ties = 0.0, 0.0, 0
    spread_similar, spread_learned, best_similar, best_learned = 0.0, 0.0, 0, 0
    for k in range(count):
        x = logs[k] - top
        if x >= -_NEGLIGIBLE:
            e, tied = np.exp(x), x >= -_SLACK
            whole += many[k] * e
            moment += many[k] * e * x
            ties += many[k] * tied
            if compared is not None:
                spread_similar += e * compared.kinds[0][k]
                spread_learned += e * compared.kinds[1][k]
                best_similar += tied * compared.kinds[0][k]
                best_learned += tied * compared.kinds[1][k]
    seen[0], seen[1], seen[2], seen[3], seen[4], seen[5] = top, second, target_log, whole, moment, ties
    if compared is not None:
        seen[6], seen[7], seen[8], seen[9] = spread_similar, spread_learned, best_similar, best_learned
