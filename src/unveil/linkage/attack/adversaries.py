"""Who would be looking? Adversaries, and which record each of them names.

An adversary knows a few things x about somebody, an attribute and its value each, and has all records. It considers
some of them and names one. What it names may be chance: then what counts is the probability that it is the target, and
that is computed, never played out. With s for the attributes in x, adversaries differ in what they consider:

- **those who have all of it**, D_x = {y : sim(xᵢ, yᵢ) ≥ α for all i in s}. :func:`scoreboard` names any of them
  (Narayanan and Shmatikov 2008, §3), and is right with probability 1/|D_x| if the target is among them;
  :func:`smallest` names one of least support (Â of document 002, §4.1), any of those that tie;
- **those who have the attributes**, whatever their values, s ⊆ supp(y). :func:`bare` names one of least support (B̂);
- **everyone, by a score** S(y) = Σᵢ wᵢ · sim(xᵢ, yᵢ) with wᵢ = 1/log |supp(i)|: rare attributes count for more. This is
  Scoreboard-RH (ibid. §4). :func:`eccentric` names the record of highest score if it is ahead of the next by at least φ
  standard deviations of all scores, and nobody otherwise; :func:`entropic` names y with a probability in proportion to
  exp(S(y)/σ). The logarithm of 1 is 0: an attribute that only one record has counts like one that two have;
- **everyone, by probability**, P(y | x) ∝ P(x | y), all records being as likely before. :func:`bayesian` names y with
  that probability, :func:`likeliest` one for which it is highest.

Nobody named, as when D_x is empty, is a failure.

**The likelihood.** Things are learned one after the other. With probability u a thing is from *elsewhere*: one of the
attributes that y lacks and that was not said yet, each as likely, with a value as frequent as in the release. Otherwise
it is one of the attributes of y not yet said, each as likely; its value is wrong, that is, drawn as above, with
probability q, and otherwise one that is alike to that of y. If k of the c attributes in question are in supp(y), t of
them among the m that are known, and pᵢ is the share of xᵢ among the values of attribute i,

    P(x | y) = (1 − u)ᵗ uᵐ⁻ᵗ · (k − t)!/k! · (c − k − m + t)!/(c − k)! · Πᵢ p(xᵢ | y),
    p(xᵢ | y) = (1 − q)·[sim(xᵢ, yᵢ) ≥ α]/aᵢ + q·pᵢ  if y has i, else pᵢ,

where aᵢ is the number of values alike to xᵢ, and u is 0 for a record that has all attributes. So which attributes are
known tells as well. If q = u = 0, records that have all of x have probabilities in proportion to (k − m)!/k!: **Â names
the likeliest record, and nobody who knows exact values of m random attributes does better on average.** This is the
probability with which :mod:`unveil.linkage.attack.auxiliary` draws x, without noise and without a rare attribute: there
:func:`likeliest` with the same q and u is the best there is. (But for records with fewer attributes to lack than come
from elsewhere: what is drawn then is one that they have.)

**How it is computed.** Records are numbered by rising support, so that those of least support come first. Who has an
attribute is listed by value: those alike to a value are a run. Where a list is long for its number of values, there is
for each value a set of bits, one for each record with a lower value; two of these make the set of any run. D_x begins
with the shortest run. It is a set of bits as long as it is large, and a list then. Each number of known things goes on
from the one before. Scores are whole numbers of 2⁻³⁰ and added up along the lists; so ties are exact in whatever order
records and things come. Records that are equal are named with equal probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.attack._candidates import narrowed
from unveil.linkage.attack._index import Index, planed
from unveil.linkage.attack._likeness import Like
from unveil.linkage.attack._scoring import Model, scored
from unveil.linkage.attack._seen import Seen
from unveil.linkage.attack.auxiliary import Auxiliary, postings
from unveil.linkage.records import Ranges, Records
from unveil.run import Run
from unveil.slices import pieces, spread
from unveil.wording import counted, listed

__all__ = [
    "Adversary",
    "Sight",
    "bare",
    "bayesian",
    "eccentric",
    "entropic",
    "indexed",
    "likeliest",
    "liking",
    "scoreboard",
    "seen",
    "smallest",
]

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_PLANED = 4.0  # words of bits for each holder of an attribute, at most
_PLANES = 1 << 30  # bytes of them in all, at most
_FEW = 1 / 16  # candidates for each word of bits, up to which a list is faster
_FEWEST = 8
_WORK = 50_000_000  # steps between two looks at the clock: a tenth of a second
_SLACK = 1e-9
_LEAST = 1e-12  # the least similarity that adds to a score
_ANY = 0.0  # stands for a similarity that need not be reached: that there is a value is enough


@dataclass(frozen=True)
class Sight:
    """What an adversary considers: ``candidates`` that are alike at least ``alpha`` in all that is known (any value
    will do if that is 0), ``scores`` of all records, or their ``posterior`` probabilities."""

    kind: Literal["candidates", "scores", "posterior"]
    alpha: float
    wrong: float = -1.0
    elsewhere: float = 0.0


@dataclass(frozen=True)
class Adversary:
    """One of the adversaries of this module. ``output`` says whether it names the ``best`` of what it considers, or
    draws from all; ``phi`` by how much the best must be ahead."""

    name: str
    said: str
    sight: Sight
    output: Literal["best", "any"]
    phi: float = 0.0

    def chances(self, seen: Seen) -> Outputs:
        """What it achieves with what it sees."""
        if self.output == "any":
            return Outputs(seen.spread, seen.spread_similar, seen.spread_learned)
        if self.phi == 0:
            return Outputs(seen.best, seen.best_similar, seen.best_learned)
        behind = seen.apart < self.phi * (1 - _SLACK)  # and not where nothing is known
        parts = (seen.best, seen.best_similar, seen.best_learned)
        return Outputs(*(np.where(behind, 0.0, x) if x.size else x for x in parts))


@dataclass(frozen=True, eq=False)
class Outputs:
    """For every target and number of things known, the probability that an adversary names the target's row, that what
    it names is similar enough, and how many attributes agree; the last two are empty if records are not compared."""

    row: npt.NDArray[np.float64]
    similar: npt.NDArray[np.float64]
    learned: npt.NDArray[np.float64]


def scoreboard(alpha: float = 1.0) -> Adversary:
    """Any record that has all that is known."""
    return Adversary("scoreboard", "names any record that has all of it", _candidates(alpha), "any")


def smallest(alpha: float = 1.0) -> Adversary:
    """Â: of the records that have all that is known, one of least support."""
    return Adversary(
        "smallest", "names a record that has all of it and as little else as possible", _candidates(alpha), "best"
    )


def bare() -> Adversary:
    """B̂: of the records that have the known attributes, whatever their values, one of least support."""
    return Adversary(
        "bare",
        "knows attributes without values and names a record that has them and as little else as possible",
        Sight("candidates", _ANY),
        "best",
    )


def eccentric(phi: float = 1.5) -> Adversary:
    """Scoreboard-RH, best guess: the record of highest score, if it stands out by φ standard deviations."""
    if not (np.isfinite(phi) and phi >= 0):
        raise UnveilError("φ must be a number, 0 or more")
    return Adversary("eccentric", f"names the best match if it stands out by {phi:g} σ", _SCORES, "best", phi)


def entropic() -> Adversary:
    """Scoreboard-RH, entropic output: each record with a probability that grows with its score."""
    return Adversary("entropic", "names each record the more likely, the better it matches", _SCORES, "any")


def bayesian(wrong: float = 0.0, elsewhere: float = 0.0, alpha: float = 1.0) -> Adversary:
    """Each record with its probability, given what is known."""
    sight = _posterior(wrong, elsewhere, alpha)
    return Adversary("bayesian", "names each record with the probability that it is the one", sight, "any")


def likeliest(wrong: float = 0.0, elsewhere: float = 0.0, alpha: float = 1.0) -> Adversary:
    """The record with the highest probability, given what is known."""
    return Adversary("likeliest", "names the likeliest record", _posterior(wrong, elsewhere, alpha), "best")


_SCORES = Sight("scores", _LEAST)


def _candidates(alpha: float) -> Sight:
    if not 0 < alpha <= 1:
        raise UnveilError("a similarity to be reached lies above 0 and is at most 1")
    return Sight("candidates", alpha)


def _posterior(wrong: float, elsewhere: float, alpha: float) -> Sight:
    if not (0 <= wrong < 1 and 0 <= elsewhere < 1):
        raise UnveilError("the probability of an error is 0 or more and below 1")
    if elsewhere > 0 and wrong == 0:
        raise UnveilError("who expects attributes from elsewhere must expect wrong values, too")
    return replace(_candidates(alpha), kind="posterior", wrong=wrong, elsewhere=elsewhere)


# ---- the index -------------------------------------------------------------------------------------------------------


_indices: WeakKeyDictionary[Records, tuple[Index, Ints]] = WeakKeyDictionary()
"""As long as records are there, so is their index: several attacks share it."""


def indexed(records: Records, run: Run | None = None) -> tuple[Index, Ints]:
    """Who has which value, with records numbered by rising support; and the place of every record."""
    if records not in _indices:
        _indices[records] = _indexed(records, run or Run())
    return _indices[records]


def _indexed(records: Records, run: Run) -> tuple[Index, Ints]:
    order = np.argsort(records.support, kind="stable")
    place = np.empty(records.n, np.int64)
    place[order] = np.arange(records.n)
    moved = records.only(order)
    starts, holder, code = postings(moved, run)
    words = max(1, (records.n + 63) >> 6)
    codes = np.array([len(own) for own in records.values], np.int64)
    worth = _PLANED
    fine, rows = _rows_of_planes(records, codes, words, worth)
    while 8 * words * int(rows.sum()) > _PLANES:
        worth /= 2
        fine, rows = _rows_of_planes(records, codes, words, worth)
    plane, total = np.where(rows > 0, np.cumsum(rows) - rows, -1), int(rows.sum())
    last = np.searchsorted(moved.support, moved.support, "right")
    bits = np.zeros(total, np.int64), np.zeros((total, words), np.uint64)
    found = Index(moved.indptr, moved.attribute, moved.value, last, starts, holder, code, codes, fine, plane, *bits)
    for first, until in pieces(starts, run):
        planed(found, first, until)
    return found, place


def _rows_of_planes(records: Records, codes: Ints, words: int, worth: float) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Which attributes have a set of bits for every value, and how many sets each has, if ``worth`` words of bits are
    as good as a holder in a list."""
    most = worth * records.popularity
    fine = np.asarray((codes + 1) * words <= most)
    return fine, np.where(fine, codes + 1, np.where(2 * words <= most, 2, 0))


_KINDS: dict[str | None, int] = {None: 0, "alike": 1, "sum": 2, "support": 3}


def liking(records: Records, sim: str | None = None, least: float = 1.0, sigma: float = 0.0) -> Like:
    """How records are compared: not at all, or by one of the similarities of records, of which σ is to be reached."""
    if sim not in _KINDS:
        raise UnveilError(f"records are compared by {listed(k for k in _KINDS if k)}")
    ranges = records.ranges(least)
    number, scale = np.zeros(len(ranges.low)), np.zeros(records.c)
    for i, (own, said, name) in enumerate(zip(records.values, records.similarities, records.names, strict=True)):
        if said.kind == "linear":
            number[ranges.starts[i] : ranges.starts[i] + len(own)] = said.numbers(own, name)
            scale[i] = said.scale
    return Like(ranges.starts, ranges.low, ranges.high, number, scale, _KINDS[sim], float(sigma))


# ---- what they see ---------------------------------------------------------------------------------------------------


def seen(
    records: Records,
    index: tuple[Index, Ints],
    auxiliary: Auxiliary,
    sight: Sight,
    ms: Sequence[int],
    like: Like,
    run: Run | None = None,
) -> Seen:
    """What is considered of each target by someone who knows ``ms`` things (rising numbers); NaN where there are
    fewer."""
    known, (who, place), each = np.asarray(ms, np.int64), index, auxiliary.together
    if (known[known <= auxiliary.usable.max(initial=0)] > auxiliary.most).any():
        raise UnveilError(f"no more than {counted(auxiliary.most, 'thing')} about each target were drawn")
    shape, compared = (len(auxiliary), len(known)), like.kind > 0
    found = Seen(*(np.full(shape if k < 5 or compared else (0, 0), np.nan) for k in range(9)))
    at = np.where(auxiliary.attribute < 0, 0, auxiliary.attribute)
    low, high = _runs(records, sight, at, auxiliary.value)
    things = place[auxiliary.targets], auxiliary.usable * each, auxiliary.attribute
    if sight.kind == "candidates":
        few = max(_FEWEST, int(who.planes.shape[1] * _FEW))
        step = partial(narrowed, who, like, *things, low, high, known * each, few)
    else:
        step = partial(
            scored, who, like, _model(records, sight, place, auxiliary), *things, auxiliary.value, low, high,
            known * each,
        )  # fmt: skip
    spread(lambda first, last: step(first, last, _WORK, found), len(auxiliary), "attacking", run or Run())
    return found


def _runs(records: Records, sight: Sight, attribute: Small, value: Small) -> tuple[Small, Small]:
    """The codes that are alike to what is known."""
    if sight.alpha == _ANY:
        last = np.array([len(own) - 1 for own in records.values], np.int32)
        return np.zeros_like(value), last[attribute] if len(last) else value
    ranges: Ranges = records.ranges(sight.alpha)
    if not len(ranges.low):
        return value, value
    at = ranges.starts[attribute] + np.maximum(value, 0)
    return ranges.low[at], ranges.high[at]


def _model(records: Records, sight: Sight, place: Ints, auxiliary: Auxiliary) -> Model:
    from scipy.special import gammaln

    asked = np.zeros(records.c, np.bool_)
    asked[auxiliary.columns] = True
    own = np.empty(records.n, np.int64)
    own[place] = np.diff(np.append(0, np.cumsum(asked[records.attribute]))[records.indptr])
    weight = 1 / np.log(np.maximum(records.popularity, 2))
    factorial = gammaln(np.arange(records.c + 2) / records.together + 1.0)  # of things
    return Model(weight, sight.wrong, sight.elsewhere, own, len(auxiliary.columns), factorial)
