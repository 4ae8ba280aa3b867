"""Compiled: a score of every record, or how much each is believed.

Scores are added up along the lists of who has which value (see ``_index``). Few different scores come out, and
records with the same score are a *kind*: what is believed is computed for each of these. Arrays of two axes go by
target and by thing or number of things known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats, Ints, Small
from unveil.compilation import helper, kernel
from unveil.linkage.attack._outcomes import TargetOutcomes, summarise_beliefs
from unveil.linkage.attack._posting_index import PostingIndex, locate_things
from unveil.linkage.attack._target_similarity import RecordComparison, clear_target, compare_records, load_target

__all__ = ["ScoreModel", "score_records"]


_SCORE_FRACTION = (
    1 << 30
)  # scores are whole numbers of this fraction: their sums are exact, and ties are ties in any order
_COUNT_UNIT = 1 << 48  # counts things above the bits of the score
_SCORE_MASK = _COUNT_UNIT - 1
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: brings what is close together far apart


class ScoreModel(NamedTuple):
    """How records are scored: by weights if ``wrong`` is below 0, and by the probability that a value is ``wrong`` or
    an attribute from ``elsewhere`` otherwise. ``own`` is how many of the ``usable`` attributes each place has and
    ``factorial[k]`` is log k!."""

    weight: Floats
    wrong: float
    elsewhere: float
    own: Ints
    usable: int
    factorial: Floats


@helper
def _add_gain(holder: Any, begin: Any, end: Any, gain: Any, score: Any) -> None:
    for at in range(begin, end):
        score[holder[at]] += gain


@helper
def _add_graded_gain(
    holder: Any, code: Any, begin: Any, end: Any, number: Any, start: Any, own: Any, scale: Any, weight: Any, score: Any
) -> None:
    """Add a weight times how alike the number is."""
    for at in range(begin, end):
        apart = abs(own - number[start + code[at]]) / scale
        score[holder[at]] += np.int64(np.rint(_SCORE_FRACTION * weight * max(0.0, 1.0 - apart)))


# ---- kinds -----------------------------------------------------------------------------------------------------------


class _ScoreKinds(NamedTuple):
    """Records with the same ``score`` that have as many attributes (``own``): how ``many``, how many of these are
    similar enough to the target, and how many attributes of theirs agree, in total. Kinds are found by ``slot``, which
    holds their number, or −1, near where their score would be; the slot of each is in ``place``."""

    slot: Small
    place: Ints
    score: Ints
    own: Ints
    many: Ints
    similar: Ints
    learned: Ints


def _empty_kinds(most: int) -> _ScoreKinds:
    """Room for so many."""
    size = 2 << max(0, most - 1).bit_length()
    return _ScoreKinds(np.full(size, -1, np.int32), *(np.empty(most, np.int64) for _ in range(6)))


@helper
def _find_slot(slot: Any, scores: Any, owns: Any, score: Any, own: Any) -> Any:
    """The slot of a kind, or the one where it would be."""
    at = np.int64(((np.uint64(score) ^ (np.uint64(own) << np.uint64(17))) * _HASH_FACTOR) >> np.uint64(33)) & (
        len(slot) - 1
    )
    while slot[at] >= 0 and (scores[slot[at]] != score or owns[slot[at]] != own):
        at = (at + 1) & (len(slot) - 1)
    return at


@helper
def _gather_kinds(score: Any, own: Any, even: Any, least: Any, similar: Any, learned: Any, kinds: Any) -> Any:
    """Fill the kinds of all records whose score is not below the ``least``, and return how many there are. If it is
    ``even``, all have as many attributes as the first."""
    slot, place, scores, owns, many, alike, agreeing = kinds
    count, o = 0, own[0]
    for y in range(len(score)):
        s = score[y]
        if s < least:
            continue
        if not even:
            o = own[y]
        at = _find_slot(slot, scores, owns, s, o)
        k = np.int64(slot[at])
        if k < 0:
            k = np.int64(count)
            count += 1
            slot[at] = k
            place[k], scores[k], owns[k], many[k], alike[k], agreeing[k] = at, s, o, 0, 0, 0
        many[k] += 1
        if len(similar):
            alike[k] += similar[y]
            agreeing[k] += learned[y]
    return count


@helper
def _one_kind_each(score: Any, own: Any, similar: Any, learned: Any, kinds: Any) -> Any:
    """Fill a kind for every record, of the same number."""
    _, _, scores, owns, many, alike, agreeing = kinds
    for y in range(len(score)):
        scores[y], owns[y], many[y] = score[y], own[y], 1
        if len(similar):
            alike[y], agreeing[y] = similar[y], learned[y]
    return len(score)


# ---- belief ----------------------------------------------------------------------------------------------------------


@helper
def _standardise_scores(kinds: Any, count: Any, n: Any, logs: Any) -> None:
    """Scores in standard deviations of all scores."""
    total, squares = 0, 0.0
    for k in range(count):
        total += kinds.many[k] * kinds.score[k]
    mean = total / n
    for k in range(count):
        squares += kinds.many[k] * (kinds.score[k] - mean) * (kinds.score[k] - mean)
    deviation = np.sqrt(squares / n)
    scale = 1.0 / deviation if deviation > 0.0 else 0.0
    for k in range(count):
        logs[k] = kinds.score[k] * scale


@helper
def _log_likelihoods(model: Any, kinds: Any, count: Any, all_have: Any, known: Any, logs: Any) -> None:
    """The logarithm of the probability of what is known, for every kind, up to what is the same for all. All have
    ``all_have`` of the attributes known, and the others as their scores say."""
    wrong = np.log(model.wrong) if model.wrong > 0.0 else 0.0
    sure = np.log1p(-model.elsewhere)
    there = np.log(model.elsewhere) if model.elsewhere > 0.0 else -np.inf
    for k in range(count):
        have, own = all_have + (kinds.score[k] >> 48), kinds.own[k]
        lack = known - have
        if lack > model.usable - own:
            logs[k] = -np.inf
            continue
        others = model.usable - own
        here = wrong + sure if others > 0 else wrong
        logs[k] = (
            (kinds.score[k] & _SCORE_MASK) / _SCORE_FRACTION
            + have * here
            + model.factorial[own - have]
            - model.factorial[own]
        )
        if lack > 0:
            logs[k] += lack * there + model.factorial[others - lack] - model.factorial[others]


class _Room(NamedTuple):
    """Room to work in: the score of every place, what is believed of every kind, all places; where the list of holders
    of each thing known begins and ends, of all alike and of all with the same value; what the target has, by attribute,
    and what is found of each place that is compared with it."""

    score: Ints
    logs: Floats
    places: Small
    begin: Ints
    end: Ints
    under: Ints
    upto: Ints
    exact_begin: Ints
    exact_end: Ints
    low: Small
    high: Small
    number: Floats
    similar: Bools
    learned: Ints


def score_records(
    index: PostingIndex, like: RecordComparison, model: ScoreModel, targets: Ints, usable: Ints, attribute: Small,
    value: Small, low: Small,
    high: Small, ms: Ints, first: int, last: int, work: int, seen: TargetOutcomes,
) -> int:  # fmt: skip
    """Fill what is seen by someone who gives every record a score, from target ``first`` to ``last`` or as far as
    ``work`` allows; returns the target to go on with."""
    n, most, c = len(index.last), attribute.shape[1], len(index.plane) if like.kind else 0
    compared = n if like.kind else 0
    room = _Room(*(
        np.empty(n, np.int64), np.empty(n), np.arange(n, dtype=np.int32), *np.empty((6, most), np.int64),
        np.ones(c, np.int32), np.zeros(c, np.int32), np.empty(c),
        np.empty(compared, np.bool_), np.empty(compared, np.int64),
    ))  # fmt: skip
    even = model.wrong < 0.0 or bool((model.own == model.own[:1]).all())
    reached: int = _fill_scores(
        index, like, model, targets, usable, attribute, value, low, high, ms, first, last, work, seen, room,
        _empty_kinds(n), even,
    )  # fmt: skip
    return reached


@kernel
def _fill_scores(
    index: Any, like: Any, model: Any, targets: Any, usable: Any, attribute: Any, value: Any, low: Any, high: Any,
    ms: Any, first: Any, last: Any, work: Any, seen: Any, room: Any, kinds: Any, even: Any,
) -> Any:  # fmt: skip
    """Fill what is seen by someone who gives every record a score: the weight of what is known to those who have
    something alike; or, to count what is known, 2⁴⁸ to those who have the attribute, and to those who have something
    alike also how much likelier that is if it is right. Where nothing is wrong, only these are counted."""
    starts, holder, code, codes = index.starts, index.holder, index.code, index.codes
    fine, plane, before = index.fine, index.plane, index.before
    like_starts, number, scale = like.starts, like.number, like.scale
    weight, wrong, weighing, one = model.weight, model.wrong, model.wrong < 0.0, np.int64(_COUNT_UNIT)
    n, own = len(index.last), model.own
    score, logs, places, begin, end, under, upto = room[:7]
    exact_begin, exact_end, own_low, own_high, own_number, similar, learned = room[7:]
    each = not even and model.elsewhere > 0.0  # all are possible, and most differ
    done = 0
    for t in range(first, last):
        if done >= work:
            return t
        target, known, things, all_have = targets[t], np.int64(0), np.int64(0), np.int64(0)
        for y in range(n):
            score[y] = 0
        if like.kind and usable[t] >= ms[0]:
            support = index.indptr[target + 1] - index.indptr[target]
            load_target(index, like, target, own_low, own_high, own_number)
            done += compare_records(index, like, places, n, support, own_low, own_high, own_number, similar, learned)
            clear_target(index, target, own_low, own_high)
        for j in range(len(ms)):
            m = ms[j]
            if usable[t] < m:
                break
            if wrong > 0.0:
                locate_things(
                    starts, code, codes, fine, plane, before, attribute, value, value, t, known, m, exact_begin,
                    exact_end, under, upto,
                )  # fmt: skip
            locate_things(
                starts, code, codes, fine, plane, before, attribute, low, high, t, known, m, begin, end, under, upto
            )
            for k in range(known, m):
                i = attribute[t, k]
                if i < 0:
                    continue
                things += 1
                done += starts[i + 1] - starts[i]
                gain: Any = one
                if weighing:
                    gain = np.int64(np.rint(_SCORE_FRACTION * weight[i]))
                    if scale[i] > 0.0:
                        x = number[like_starts[i] + value[t, k]]
                        _add_graded_gain(
                            holder, code, begin[k], end[k], number, like_starts[i], x, scale[i], weight[i], score
                        )
                        continue
                elif wrong > 0.0:
                    share = max(1, exact_end[k] - exact_begin[k]) / (starts[i + 1] - starts[i])
                    odds = (1.0 - wrong) / (high[t, k] - low[t, k] + 1) / (share * wrong)
                    gain = np.int64(np.rint(_SCORE_FRACTION * np.log1p(odds)))
                    if starts[i + 1] - starts[i] == n:
                        all_have += 1
                    else:
                        gain += one
                        _add_gain(holder, starts[i], begin[k], one, score)
                        _add_gain(holder, end[k], starts[i + 1], one, score)
                _add_gain(holder, begin[k], end[k], gain, score)
            known = m
            least = np.int64(0)
            if not weighing and model.elsewhere == 0.0:  # who lacks an attribute is out of the question
                least = (things - all_have) * one
            if each:
                count, which = _one_kind_each(score, own, similar, learned, kinds), np.int64(target)
            else:
                count = _gather_kinds(score, own, even, least, similar, learned, kinds)
                at = _find_slot(kinds.slot, kinds.score, kinds.own, score[target], own[0 if even else target])
                which = np.int64(kinds.slot[at])
                for k in range(count):
                    kinds.slot[kinds.place[k]] = -1
            if weighing:
                _standardise_scores(kinds, count, n, logs)
            else:
                _log_likelihoods(model, kinds, count, all_have, things, logs)
            summarise_beliefs(logs, kinds, count, which, like.kind > 0, t, j, seen)
            done += 3 * n
    return last
