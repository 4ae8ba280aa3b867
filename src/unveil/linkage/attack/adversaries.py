"""Who is looking? Adversaries, and which record each of them names.

An adversary knows a few things x about a person, each an attribute with a value, and has all records. It considers some
of them and names one. If the choice is left to chance, the probability of naming the target is computed, never
simulated. With s for the attributes in x, adversaries consider

- **the records that have all of x**, D_x = {y : sim(xᵢ, yᵢ) ≥ α for all i in s}. :func:`scoreboard_adversary` names any
  of them (Narayanan and Shmatikov 2008, §3) and is right with probability 1/|D_x| if the target is among them.
  :func:`least_support_adversary` names one of least support (Â of Merener 2012, §4.1), any of those that tie;
- **the records that have the attributes**, whatever their values, s ⊆ supp(y). :func:`attributes_only_adversary` names
  one of least support (B̂);
- **every record, by a score** S(y) = Σᵢ wᵢ · sim(xᵢ, yᵢ) with wᵢ = 1/log |supp(i)|, so that rare attributes weigh more.
  This is Scoreboard-RH (ibid. §4). :func:`eccentricity_adversary` names the record with the highest score if it leads
  the next by at least φ standard deviations of all scores, and nobody otherwise. :func:`entropic_adversary` names y
  with probability proportional to exp(S(y)/σ). Because log 1 = 0, an attribute that only one record has weighs as much
  as one that two records have;
- **every record, by probability**, P(y | x) ∝ P(x | y), with all records equally likely a priori.
  :func:`bayesian_adversary` names y with that probability, :func:`likeliest_adversary` names a most probable record.

Naming nobody, for example because D_x is empty, is a failure.

**The likelihood.** Things are learned one after the other. With probability u a thing comes from *elsewhere*: it is a
random attribute that y lacks and that was not named yet, with a value drawn as frequently as in the release. Otherwise
it is a random attribute of y not named yet. Its value is wrong, that is, drawn as above, with probability q, and
otherwise a value similar to that of y. If y has k of the c attributes in question and t of the m known ones, and pᵢ is
the share of xᵢ among the values of attribute i,

    P(x | y) = (1 − u)ᵗ uᵐ⁻ᵗ · (k − t)!/k! · (c − k − m + t)!/(c − k)! · Πᵢ p(xᵢ | y),
    p(xᵢ | y) = (1 − q)·[sim(xᵢ, yᵢ) ≥ α]/aᵢ + q·pᵢ  if y has i, else pᵢ,

where aᵢ is the number of values similar to xᵢ, and u is 0 for a record that has all attributes. So it also matters
which attributes are known. If q = u = 0, the records that have all of x have probabilities proportional to (k − m)!/k!:
**Â names the likeliest record, and no adversary who knows the exact values of m random attributes does better on
average.** :mod:`unveil.linkage.attack.auxiliary` draws x with this probability if there is no noise and no rare
attribute, so :func:`likeliest_adversary` with the same q and u is then optimal. (Records that lack fewer
attributes than come from elsewhere are an exception: some of what is drawn is then an attribute they have.)

**How it is computed.** Records are numbered by rising support, so that those of least support come first. The holders
of an attribute are listed by value, so that the holders of similar values are consecutive. If a list is long for its
number of values, every value gets a bit set of the records with a lower value; two of these sets give any range of
values. D_x starts from the shortest range. It is a bit set while it is large and a list afterwards. Each number of
known things continues from the one before. Scores are integer multiples of 2⁻³⁰ added along the lists, so that the
order of records and things changes nothing. Equal records are named with equal probability; different weights with
equal sums, such as 1/ln 2 and 2/ln 4, may miss a tie by 2⁻³⁰.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.attack._candidates import narrow_candidates
from unveil.linkage.attack._posting_index import PostingIndex, fill_planes, search_holders
from unveil.linkage.attack._scoring import (
    ScoreModel,
    TargetOutcomes,
    outcomes_of_beliefs,
    plan_scores,
    score_records,
)
from unveil.linkage.attack._target_similarity import Grades, RecordComparison
from unveil.linkage.attack.auxiliary import Auxiliary
from unveil.linkage.postings import build_postings
from unveil.linkage.records import CodeRanges, Records
from unveil.linkage.similarity import check_threshold
from unveil.linkage.sparsity.record_similarity import RecordSimilarity
from unveil.run import Run
from unveil.slices import chunks, parallel_for
from unveil.wording import count_text, list_text

__all__ = [
    "Adversary",
    "Evidence",
    "attributes_only_adversary",
    "bayesian_adversary",
    "eccentricity_adversary",
    "entropic_adversary",
    "least_support_adversary",
    "likeliest_adversary",
    "posting_index",
    "record_comparison",
    "scoreboard_adversary",
    "search_holders",
    "target_outcomes",
]


_MAX_WORDS_PER_HOLDER = 4.0  # words of bits per holder of an attribute, at most
_MAX_PLANE_BYTES = 1 << 30  # bytes of bit sets in total, at most
_LIST_RATIO = 1 / 16  # candidates per word of bits up to which a list is faster
_MIN_LIST = 8
_SLICE_STEPS = 50_000_000  # steps between two checks for interruption: a tenth of a second
_SLACK = 1e-9
_LEAST_SIMILARITY = 1e-12  # similarity from which a value adds to a score
_ANY_VALUE = 0.0  # no similarity is required: any value will do


@dataclass(frozen=True)
class Evidence:
    """The evidence an adversary considers: ``candidates`` that are at least ``alpha`` similar in everything known (0
    accepts any value), ``scores`` of all records, or their ``posterior`` probabilities."""

    kind: Literal["candidates", "scores", "posterior"]
    alpha: float
    wrong: float = -1.0
    elsewhere: float = 0.0


@dataclass(frozen=True)
class Adversary:
    """Someone who names a record. ``output`` says whether that is the ``best`` record or one drawn from all they
    consider; ``phi`` is the lead that the best record needs."""

    name: str
    evidence: Evidence
    output: Literal["best", "any"]
    phi: float = 0.0

    def chances(self, seen: TargetOutcomes) -> tuple[Floats, Floats, Floats]:
        """Given what it sees, for every target and number of things known: the probability that it names the target's
        row, the probability that it names a similar record, and how many attributes of that record agree. The last two
        are empty if records are not compared."""
        if self.output == "any":
            return seen.spread, seen.spread_similar, seen.spread_learned
        if self.phi == 0:
            return seen.best, seen.best_similar, seen.best_learned
        behind = seen.lead < self.phi * (1 - _SLACK)  # NaN, if nothing is known, is not behind
        row, similar, learned = (
            np.where(behind, 0.0, x) if x.size else x for x in (seen.best, seen.best_similar, seen.best_learned)
        )
        return row, similar, learned


def scoreboard_adversary(alpha: float = 1.0) -> Adversary:
    """Names any record that has everything known."""
    return Adversary("scoreboard", _candidate_evidence(alpha), "any")


def least_support_adversary(alpha: float = 1.0) -> Adversary:
    """Â: names a record of least support among those that have everything known."""
    return Adversary("smallest", _candidate_evidence(alpha), "best")


def attributes_only_adversary() -> Adversary:
    """B̂: names a record of least support among those that have the known attributes, whatever their values."""
    return Adversary("bare", Evidence("candidates", _ANY_VALUE), "best")


def eccentricity_adversary(phi: float = 1.5) -> Adversary:
    """Scoreboard-RH, best guess: names the record with the highest score if it leads by φ standard deviations."""
    if not (np.isfinite(phi) and phi >= 0):
        raise UnveilError("φ must be a number, 0 or more")
    return Adversary("eccentric", _SCORE_EVIDENCE, "best", phi)


def entropic_adversary() -> Adversary:
    """Scoreboard-RH, entropic: names each record with a probability that grows with its score."""
    return Adversary("entropic", _SCORE_EVIDENCE, "any")


def bayesian_adversary(wrong: float = 0.0, elsewhere: float = 0.0, alpha: float = 1.0) -> Adversary:
    """Names each record with its posterior probability."""
    return Adversary("bayesian", _posterior_evidence(wrong, elsewhere, alpha), "any")


def likeliest_adversary(wrong: float = 0.0, elsewhere: float = 0.0, alpha: float = 1.0) -> Adversary:
    """Names a record with the highest posterior probability."""
    return Adversary("likeliest", _posterior_evidence(wrong, elsewhere, alpha), "best")


_SCORE_EVIDENCE = Evidence("scores", _LEAST_SIMILARITY)


def _candidate_evidence(alpha: float) -> Evidence:
    check_threshold(alpha)
    return Evidence("candidates", alpha)


def _posterior_evidence(wrong: float, elsewhere: float, alpha: float) -> Evidence:
    if not (0 <= wrong < 1 and 0 <= elsewhere < 1):
        raise UnveilError("the probability of an error must be at least 0 and below 1")
    if elsewhere > 0 and wrong == 0:
        raise UnveilError("an adversary who expects attributes from elsewhere must also expect wrong values")
    return replace(_candidate_evidence(alpha), kind="posterior", wrong=wrong, elsewhere=elsewhere)


# ---- the index -------------------------------------------------------------------------------------------------------


def posting_index(records: Records, run: Run | None = None) -> tuple[PostingIndex, Ints]:
    """The holders of every value, with records numbered by ascending support, and the place of every record. Several
    attacks on the same records share it."""
    return records.once("posting index", lambda: _build_posting_index(records, run or Run()))


def _build_posting_index(records: Records, run: Run) -> tuple[PostingIndex, Ints]:
    order = np.argsort(records.support, kind="stable")
    place = np.empty(records.n, np.int64)
    place[order] = np.arange(records.n)
    moved = records.select(order)
    starts, holder, code = build_postings(moved)
    words = max(1, (records.n + 63) >> 6)
    codes = np.array([len(own) for own in records.values], np.int64)
    worth = _MAX_WORDS_PER_HOLDER
    fine, rows = _plane_rows(records, codes, words, worth)
    while 8 * words * int(rows.sum()) > _MAX_PLANE_BYTES:
        worth /= 2
        fine, rows = _plane_rows(records, codes, words, worth)
    plane, total = np.where(rows > 0, np.cumsum(rows) - rows, -1), int(rows.sum())
    before, planes = np.zeros(total, np.int64), np.zeros((total, words), np.uint64)
    for first, until in chunks(starts, run):
        fill_planes(starts, holder, code, plane, fine.astype(np.int64), rows, first, until, before, planes)
    found = PostingIndex(
        indptr=moved.indptr,
        attribute=moved.attribute,
        value=moved.value,
        last=np.searchsorted(moved.support, moved.support, "right"),
        starts=starts,
        holder=holder,
        code=code,
        plane=np.where(fine | (plane < 0), plane, -2 - plane),
        before=before + np.repeat(starts[:-1], rows),
        planes=planes,
    )
    return found, place


def _plane_rows(records: Records, codes: Ints, words: int, worth: float) -> tuple[Bools, Ints]:
    """Which attributes get a bit set for every value, and how many sets each attribute gets, if ``worth`` words of bits
    cost as much as one holder in a list."""
    most = worth * records.popularity
    fine = np.asarray((codes + 1) * words <= most)
    return fine, np.where(fine, codes + 1, np.where(2 * words <= most, 2, 0))


def record_comparison(
    records: Records, sim: str | None = None, least: float = 1.0, sigma: float = 0.0
) -> RecordComparison:
    """How records are compared: not at all, or by one of the record similarities with threshold σ."""
    if sim not in (None, *get_args(RecordSimilarity)):
        raise UnveilError(f"compare records by {list_text(get_args(RecordSimilarity))}")
    ranges = records.code_ranges(least)
    grades = _value_grades(records, ranges.starts, len(ranges.low)) if sim == "sum" else None
    if sim == "support":
        grades = Grades(np.zeros(len(ranges.low)), np.full(records.c, np.inf))
    elif grades is not None and not grades.scale.any():
        grades = None
    return RecordComparison(ranges.starts, ranges.low, ranges.high, -1.0 if sim is None else float(sigma), grades)


def _value_grades(records: Records, starts: Ints, values: int) -> Grades:
    """The numbers and scales of attributes whose similarity falls with the distance."""
    number, scale = np.zeros(values), np.zeros(records.c)
    for i, (own, similarity, name) in enumerate(zip(records.values, records.similarities, records.names, strict=True)):
        if similarity.kind == "linear":
            number[starts[i] : starts[i] + len(own)] = similarity.numeric_values(own, name)
            scale[i] = similarity.scale
    return Grades(number, scale)


# ---- what they find -------------------------------------------------------------------------------------------------


def target_outcomes(
    records: Records,
    auxiliary: Auxiliary,
    evidence: Evidence,
    ms: Sequence[int],
    comparison: RecordComparison,
    run: Run | None = None,
) -> TargetOutcomes:
    """What the evidence about each target yields for an adversary who knows ``ms`` things (rising numbers); NaN for
    targets with fewer."""
    known, (index, place) = np.asarray(ms, np.int64), posting_index(records, run)
    if (known[known <= auxiliary.usable.max(initial=0)] > auxiliary.max_known).any():
        raise UnveilError(f"only {count_text(auxiliary.max_known, 'thing')} about each target were drawn")
    targets, scoring = place[auxiliary.targets], evidence.kind != "candidates"
    usable, counts = auxiliary.usable * auxiliary.attributes_per_fact, known * auxiliary.attributes_per_fact
    found = np.full((len(auxiliary), len(known), (9 if comparison.sigma >= 0 else 5) + scoring), np.nan)
    if not (usable >= counts[0]).any():
        return _split_outcomes(found[..., scoring:])
    attribute, value = (np.ascontiguousarray(part[:, : counts[-1]]) for part in (auxiliary.attribute, auxiliary.value))
    low, high = _known_code_ranges(records, evidence, index, np.maximum(attribute, 0), value)
    if evidence.alpha == _ANY_VALUE:
        index = index._replace(plane=np.where(index.plane < -1, -2 - index.plane, index.plane))
    rows = found.reshape(-1, found.shape[2])
    if scoring:
        model = _score_model(records, evidence, place, auxiliary, comparison)
        plan, grades = plan_scores(index, comparison, model, attribute, value, low, high, counts)
        step = partial(score_records, index, comparison, plan, grades, targets, usable, counts, rows)
    else:
        few = max(_MIN_LIST, int(index.planes.shape[1] * _LIST_RATIO))
        step = partial(narrow_candidates, index, comparison, targets, usable, attribute, low, high, counts, few, rows)
    parallel_for(lambda first, last: step(first, last, _SLICE_STEPS), len(auxiliary), "attacking", run or Run())
    return _split_outcomes(outcomes_of_beliefs(found) if scoring else found)


def _split_outcomes(found: Floats) -> TargetOutcomes:
    """What is seen, from its columns; what is missing is empty."""
    columns = [found[..., k] for k in range(found.shape[-1])]
    return TargetOutcomes(*columns, *(np.empty((0, 0)) for _ in range(9 - len(columns))))


def _known_code_ranges(
    records: Records, evidence: Evidence, index: PostingIndex, attribute: Int32s, value: Int32s
) -> tuple[Int32s, Int32s]:
    """The ranges of codes similar to what is known. If any value will do, all; attributes with two rows of planes count
    as if they had one code."""
    if evidence.alpha == _ANY_VALUE:
        last = np.array([len(own) - 1 for own in records.values], np.int32)
        return np.zeros_like(value), np.where(index.plane < -1, 0, last).astype(np.int32)[attribute]
    ranges: CodeRanges = records.code_ranges(evidence.alpha)
    at = ranges.starts[attribute] + np.maximum(value, 0)
    return ranges.low[at], ranges.high[at]


def _score_model(
    records: Records, evidence: Evidence, place: Ints, auxiliary: Auxiliary, comparison: RecordComparison
) -> ScoreModel:
    from scipy.special import gammaln

    asked = np.zeros(records.c, np.bool_)
    asked[auxiliary.columns] = True
    own = np.empty(records.n, np.int64)
    own[place] = np.diff(np.append(0, np.cumsum(asked[records.attribute]))[records.indptr])
    weight = 1 / np.log(np.maximum(records.popularity, 2))
    factorial = gammaln(np.arange(records.c + 2) / records.attributes_per_fact + 1.0)  # of things
    grades = _value_grades(records, comparison.starts, len(comparison.low))
    return ScoreModel(weight, grades, evidence.wrong, evidence.elsewhere, own, len(auxiliary.columns), factorial)
