"""How likely is it that an attacker finds a record, whatever the data are? What theorems guarantee.

An attacker knows m random attributes of a random record r, with small errors, and names the candidate with the fewest
attributes: adversary Â takes as candidates the records whose values are alike on all m, adversary B̂ those that have
all m attributes. The theorems say, without attacking, how often the record named is *similar* to r, and where few
records have a similar one (the data are *sparse*), how often it *is* r.

**Definitions** (M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data
Privacy 5, 2012: document 002). D are the n records, D′ the same with the attacker's errors, D and D′ (1 − ε/2)-similar
(every value is alike to that degree; Â asks for as much). Sim(r, y) compares records by how many of the attributes that
either has (2.1) are 1 − ε alike, (2.2) are alike, by degree, or (2.3) both have. With w = 1 − ε for (2.2), else 1, let

    γ = 2σ / (w + σ).

| | adversary, Sim | guarantees, if D is ``supported`` (every record has m attributes) |
|---|---|---|
| 4(1), 4(2), 6 | Â (2.1), Â (2.2), B̂ (2.3) | P[Sim > σ] ≥ 1 − n γ^m |
| 8(a), 8(b), 8(c) | the same | P[found] ≥ 1 − n γ^m − f(σ), f(σ) = P[some other record is more than σ similar] |
| 9, … , 10 | the same, long tail | n γ^m becomes κn γ^(m−1), the records are those with a rare attribute |

**Proof.** Take a wrong y with at most as many attributes as r, Sim(r, y) ≤ σ; let u = |supp(r)| and Γ the attributes on
which they agree, g = |Γ|. Both have those in Γ, so |supp(r) ∪ supp(y)| ≤ 2u − g, and g ≤ σ(2u − g): g ≤ γu (Lemma 2).
If y is a candidate, the m attributes all lie in Γ (by the triangle inequality for 1 − sim, where D′ is not D). Their
probability to do so is C(g, m)/C(u, m) = ∏ (g−j)/(u−j) ≤ (g/u)^m ≤ γ^m (Lemma 1). There are fewer than n such y. For
(2.2), Sim ≥ (1−ε) Sim(2.1), so that σ/(1−ε) takes the place of σ. If what Â names is more than σ similar and still not
r, then r has another record that similar, which happens with probability f(σ) (Theorem 7). The document has Sim ≥ σ
throughout; the proof also gives Sim > σ, which is slightly more.

**Long tail.** The attacker knows m − 1 random attributes and one of r's attributes i that at most κn records have. All
candidates have i, so that there are at most |supp(i)| ≤ κn; but only m − 1 attributes are random, so that each is one
with probability γ^(m−1). (If they are drawn from the u − 1 attributes other than i, it is
C(g−1, m−1)/C(u−1, m−1) ≤ (g/u)^(m−1) just the same.) Hence κn γ^(m−1), ``safe``. The document prints m > L =
log(κn/(1−p)) / log(1/γ), which is κn γ^m < 1−p: one attribute too few unless L is whole, and false (counterexamples are
among the tests). Nothing but the number of records that have i was used, so that κ = |supp(i)|/n of the attribute at
hand will do (:func:`unveil.linkage.hypotheses.mean_kappa` averages it). The records that count are those with a rare
attribute, and *f must be taken over them*: Theorem 10 takes it over all records, with which it is false again.

**How it is computed.** m is whole and must not be lost to rounding: numbers are taken as they are written (.1 is a
tenth), logarithms have 60 digits, and a probability is rounded down. Whether the hypotheses hold is the business
of :mod:`unveil.linkage.hypotheses`; what more the data at hand guarantee, of :mod:`unveil.linkage.agreement`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.whole import Number, exact, least_power, precisely, rounded_down, rounded_up
from unveil.wording import counted, listed, number, percent

__all__ = [
    "THEOREMS",
    "Guarantee",
    "Hypothesis",
    "Setting",
    "Theorem",
    "best_bound",
    "doubling_width",
    "guaranteed",
    "halving_kappa",
    "learned",
    "smallest_m",
    "steps",
    "sufficient",
]

Floats = npt.NDArray[np.float64]
Need = Literal["pseudometric", "similar", "same support", "below", "supported", "sparse", "tail"]
Sparsity = Callable[[float], float] | tuple[npt.ArrayLike, npt.ArrayLike]

_GRID = 10_000  # places at which a sparsity function is asked, so that 1/10,000 of the probability is lost at most
_FAR = 1 << 30  # more attributes than anyone knows
_NEAR = 1e-12
_TIED = 64  # places that look equally good and are compared exactly


@dataclass(frozen=True)
class Theorem:
    """What a theorem is about; ``perfect`` if it is about finding the record itself, not a similar one."""

    name: str
    adversary: Literal["Â", "B̂"]
    similarity: Literal["2.1", "2.2", "2.3"]
    perfect: bool = False
    tail: bool = False

    @property
    def needs(self) -> tuple[Need, ...]:
        """The hypotheses."""
        values: tuple[Need, ...] = ("pseudometric", "similar") if self.adversary == "Â" else ("same support",)
        below: tuple[Need, ...] = ("below",) if self.similarity == "2.2" else ()
        sparse: tuple[Need, ...] = ("sparse",) if self.perfect else ()
        return (*values, *below, "supported", *sparse, *(("tail",) if self.tail else ()))


THEOREMS = {
    theorem.name: theorem
    for theorem in (
        Theorem("4(1)", "Â", "2.1"),
        Theorem("4(2)", "Â", "2.2"),
        Theorem("6", "B̂", "2.3"),
        Theorem("8(a)", "Â", "2.1", perfect=True),
        Theorem("8(b)", "Â", "2.2", perfect=True),
        Theorem("8(c)", "B̂", "2.3", perfect=True),
        Theorem("9", "Â", "2.1", tail=True),
        Theorem("4(2), long tail", "Â", "2.2", tail=True),
        Theorem("6, long tail", "B̂", "2.3", tail=True),
        Theorem("8(a), long tail", "Â", "2.1", perfect=True, tail=True),
        Theorem("8(b), long tail", "Â", "2.2", perfect=True, tail=True),
        Theorem("10", "B̂", "2.3", perfect=True, tail=True),
    )
}
"""The theorems by name: 9 is the long-tail version of 4(1), and 10 that of 8(c)."""


@dataclass(frozen=True)
class Setting:
    """What a theorem is applied to. ``kappa`` is for the long tail: at most κn records have the rare attribute.

    >>> netflix = Setting("8(b)", 480_000, 0.25)
    >>> round(netflix.limit(0.08), 4), netflix.attributes(0.08)
    (17.0331, 18)
    """

    theorem: str
    n: int
    sigma: Number
    epsilon: Number = 0
    kappa: Number | None = None
    bound: Literal["safe", "printed"] = "safe"

    def __post_init__(self) -> None:
        if self.theorem not in THEOREMS:
            raise UnveilError(f"there is no theorem {self.theorem}; there are {listed(THEOREMS, 20)}")
        if self.n < 1:
            raise UnveilError("a theorem needs one record at least")
        if not 0 <= self.epsilon < 1:
            raise UnveilError("ε lies between 0 and 1, below 1")
        with precisely():
            if not 0 <= self.sigma < 1 or exact(self.sigma) >= self._width:
                raise UnveilError("σ lies between 0 and 1, below 1, and for similarity (2.2) below 1 − ε")
        if (self.kappa is not None) != self.law.tail:
            raise UnveilError("κ belongs to the theorems about a long tail, and they need it")
        if self.kappa is not None and not 0 < self.kappa <= 1:
            raise UnveilError("κ is a share of the records, above 0 and at most 1")
        if self.bound not in ("safe", "printed"):
            raise UnveilError("a bound is safe, or as printed")

    @property
    def law(self) -> Theorem:
        """The theorem."""
        return THEOREMS[self.theorem]

    def limit(self, eta: Number) -> float:
        """L = log(n/η) / log(1/γ), with κn for n in a long tail: the real number that the document prints."""
        with precisely():
            return float(self._limit(_chance(eta)))

    def attributes(self, eta: Number) -> int:
        """The smallest m with which the record named is more than σ similar but for a probability η."""
        with precisely():
            return self._attributes(_chance(eta))

    def missed(self, m: int) -> float:
        """η, the probability that the record named is not more than σ similar, at most."""
        with precisely():
            return rounded_up(self._missed(m))

    # what follows is exact to 60 digits, and called with that precision

    @property
    def _width(self) -> Decimal:
        """w: what σ stays below."""
        return 1 - exact(self.epsilon) if self.law.similarity == "2.2" else Decimal(1)

    @property
    def _gamma(self) -> Decimal:
        sigma = exact(self.sigma)
        return 2 * sigma / (self._width + sigma)

    @property
    def _crowd(self) -> Decimal:
        """How many records there are to confuse, n or κn."""
        return exact(self.n) * exact(1 if self.kappa is None else self.kappa)

    def _limit(self, eta: Decimal) -> Decimal:
        gamma = self._gamma
        return (self._crowd / eta).ln() / -gamma.ln() if gamma else Decimal(0)

    @property
    def _known(self) -> int:
        """How many of the m attributes do not count: the rare one."""
        return int(self.law.tail and self.bound == "safe")

    @property
    def _strict(self) -> bool:
        return self.law.tail and self.bound == "printed"

    def _attributes(self, eta: Decimal) -> int:
        return max(1, self._known + least_power(self._crowd, eta, self._gamma, self._strict))

    def _missed(self, m: int) -> Decimal:
        if m < 1:
            raise UnveilError("an attacker knows one attribute at least")
        power = m - self._known
        return min(Decimal(1), self._crowd * (self._gamma**power if power else 1))


@dataclass(frozen=True)
class Hypothesis:
    """What a theorem needs. ``holds`` is None where it was not, or cannot be, checked."""

    kind: Need
    statement: str
    holds: bool | None = None


@dataclass(frozen=True)
class Guarantee:
    """Success with probability ``p`` or more for an attacker who knows ``m`` attributes, if the hypotheses hold.

    ``sparsity`` is f(σ) or an upper limit of it, which holds with ``confidence``.
    """

    setting: Setting
    m: int
    p: float
    sparsity: float
    confidence: float
    hypotheses: tuple[Hypothesis, ...]

    @property
    def adversary(self) -> str:
        """Â or B̂."""
        return self.setting.law.adversary

    @property
    def similarity(self) -> str:
        """Of records: (2.1), (2.2) or (2.3)."""
        return self.setting.law.similarity

    @property
    def proven(self) -> bool | None:
        """Whether all hypotheses hold; None if some were not checked and none is false."""
        found = [h.holds for h in self.hypotheses]
        return False if False in found else None if None in found else True

    @property
    def sentence(self) -> str:
        """For people."""
        at, law = self.setting, self.setting.law
        name = f"Theorem {law.name}{', as printed, which is not proven' if at._strict else ''}"
        wrong = [h.statement for h in self.hypotheses if h.holds is False]
        if wrong:
            return f"Theorem {law.name} does not apply here. It needs that {'; '.join(wrong)}."
        known = counted(self.m, "random attribute")
        if law.tail:
            known = f"{counted(self.m, 'attribute')}, one of them rare and the others random,"
        if not self.p:
            return f"To whoever knows {known} of a random record, Theorem {law.name} guarantees nothing."
        found = "it" if law.perfect else f"one that {_likeness(at)}"
        sure = f", with a confidence of {percent(self.confidence)}" if self.confidence < 1 else ""
        unknown = [h.statement for h in self.hypotheses if h.holds is None]
        terms = f" It is not known whether, as it must be, {'; '.join(unknown)}." if unknown else ""
        return (
            f"Whoever knows {known} of a random record finds {found} among {counted(at.n, 'record')} with probability "
            f"{percent(_to_four_digits(self.p))} or more ({name}){sure}.{terms}"
        )


def guaranteed(setting: Setting, m: int, sparsity: Number = 0, confidence: float = 1.0) -> Guarantee:
    """Given m: success with probability 1 − η − f(σ) or more.

    >>> guaranteed(Setting("8(a)", 8619, 0.73), 69, 0.079).p
    0.8501038234899474
    """
    if not 0 <= sparsity <= 1 or (sparsity and not setting.law.perfect):
        raise UnveilError("a sparsity is a share of the records, and belongs to theorems about finding the record")
    with precisely():
        missed, left = setting._missed(m), 1 - exact(sparsity)
        lost = missed > 0 and left - missed == left  # in rounding to 60 digits
        p = rounded_down(max(Decimal(0), left - missed), setting._strict or lost)
    needs = tuple(Hypothesis(n, _statement(n, setting, m, float(sparsity)), _given(n)) for n in setting.law.needs)
    return Guarantee(setting, m, p, float(sparsity), confidence, needs)


def sufficient(setting: Setting, p: Number, sparsity: Number = 0, confidence: float = 1.0) -> Guarantee:
    """Given p: the smallest m that guarantees success with probability p. Theorem 8 as printed has p = 1 − 2δ, f = δ.

    >>> sufficient(Setting("4(1)", 10**6, 0.35), 0.99).m
    29
    """
    with precisely():
        eta = 1 - exact(p) - exact(sparsity)
        if not 0 < eta <= 1:
            raise UnveilError("no number of attributes is enough: p must stay below 1 − f(σ), and be 0 or more")
        m = setting._attributes(eta)
    return guaranteed(setting, m, sparsity, confidence)


def steps(nearest: npt.ArrayLike) -> tuple[Floats, Floats]:
    """f from each record's greatest similarity to another one: the σ at which it falls, and f just above each.

    >>> steps([0.5, 0.2, 0.5, 1.0])
    (array([0. , 0.2, 0.5, 1. ]), array([1.  , 0.75, 0.25, 0.  ]))
    """
    own = np.asarray(nearest, np.float64)
    if not own.size or not ((own >= 0) & (own <= 1)).all():
        raise UnveilError("the sparsity function needs a record at least, and similarities from 0 to 1")
    sigma, counts = np.unique(np.append(0.0, own), return_counts=True)
    counts[0] -= 1
    return sigma, (own.size - np.cumsum(counts)) / own.size


def best_bound(
    n: int,
    m: int,
    sparsity: Sparsity,
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee:
    """Theorem 7 with two errors, at the best σ: the largest of 1 − n γ(σ)^m − f(σ), and 0 if that is negative.

    ``sparsity`` is f, or places σ_k with f_k, the most that f is beyond σ_k. γ rises with σ and f falls in steps, so
    the best σ lies just above a step, and with Sim > σ just above is at: it is found exactly. A function is asked where
    η is 0, 1/10,000, …: between two such places nothing better than by 1/10,000 is missed.

    Where f is known from a sample, pass upper limits of it. As σ is chosen after seeing them, they must hold all at
    once, as those of a confidence band do.

    >>> guarantee = best_bound(8619, 69, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> guarantee.setting.sigma, round(guarantee.p, 4)
    (0.73, 0.8501)
    """
    first = Setting(theorem, n, 0, epsilon, kappa, bound)
    sigma, f = _places_of(sparsity, first, m)
    width, power = float(first._width), m - first._known
    gamma = 2 * sigma / (width + sigma)
    with np.errstate(divide="ignore"):
        log_missed = math.log(float(first._crowd)) + (power * np.log(gamma) if power else np.zeros_like(gamma))
    value = 1 - np.exp(np.minimum(log_missed, 0.0)) - f
    near = np.flatnonzero(value >= value.max() - _NEAR)[:_TIED]
    found = [guaranteed(replace(first, sigma=float(sigma[k])), m, float(f[k]), confidence) for k in near]
    return max(found, key=lambda guarantee: guarantee.p)


def smallest_m(
    n: int,
    p: Number,
    sparsity: Sparsity,
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee | None:
    """The smallest m with which :func:`best_bound` reaches p; None where none does, because f stays above 1 − p.

    >>> found = smallest_m(8619, 0.842, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> found and (found.m, found.setting.sigma)
    (69, 0.73)
    """

    def best(m: int) -> Guarantee:
        return best_bound(
            n, m, sparsity, theorem=theorem, epsilon=epsilon, kappa=kappa, bound=bound, confidence=confidence
        )

    low, high, found = 0, 1, best(1)
    while found.p < p:
        if high >= _FAR:
            return None
        low, high = high, 2 * high
        found = best(high)
    while high - low > 1:
        middle = (low + high) // 2
        other = best(middle)
        low, high, found = (low, middle, other) if other.p >= p else (middle, high, found)
    return found


def learned(c: int, sigma: Number) -> int:
    """Corollary 5: where no value is null and c attributes are compared for equality, whoever finds a record σ similar
    learns ⌈σc⌉ values of the true one, those known before included.

    >>> learned(160, 0.35)
    56
    """
    with precisely():
        return int((c * exact(sigma)).to_integral_value(ROUND_CEILING))


def doubling_width(n: int, p: Number, sigma: Number) -> tuple[float, int]:
    """Example 1: how many attributes c there must be for Corollary 5 to double what the attacker knows: 2m ≤ σc. The
    real number for m = L, as printed, and the whole one for a whole m."""
    setting = Setting("4(1)", n, sigma)
    m = sufficient(setting, p).m
    with precisely():
        limit = 2 * setting._limit(1 - exact(p)) / exact(sigma)
        return float(limit), int((2 * m / exact(sigma)).to_integral_value(ROUND_CEILING))


def halving_kappa(n: int, p: Number) -> float:
    """κ = √((1−p)/n), with which the L of a long tail is half of that without (§4.4); the safe m is one more."""
    with precisely():
        return float(((1 - exact(p)) / n).sqrt())


def _places_of(sparsity: Sparsity, setting: Setting, m: int) -> tuple[Floats, Floats]:
    """Places σ below w, 0 among them, and the most that f is beyond each."""
    width = float(setting._width)
    if callable(sparsity):
        sigma = _even(setting, m, width)
        f = np.array([float(sparsity(float(s))) for s in sigma])
    else:
        sigma, f = (np.asarray(part, np.float64) for part in sparsity)
    if sigma.shape != f.shape or sigma.ndim != 1:
        raise UnveilError("every σ needs its share of records that have another one more similar")
    if not ((sigma >= 0) & (sigma <= 1) & (f >= 0) & (f <= 1)).all():
        raise UnveilError("similarities and shares of records lie between 0 and 1")
    kept = sigma < width
    return np.append(0.0, sigma[kept]), np.append(1.0, f[kept])


def _even(setting: Setting, m: int, width: float) -> Floats:
    """The σ where η is 0, 1/10,000, … 1; those evenly spread where η does not depend on σ."""
    power = m - setting._known
    part = np.arange(_GRID) / _GRID
    gamma = np.minimum((part / float(setting._crowd)) ** (1 / power), 1.0) if power else part
    return np.asarray(width * gamma / (2 - gamma))


def _chance(eta: Number) -> Decimal:
    if not 0 < eta <= 1:
        raise UnveilError("η is a probability, above 0")
    return exact(eta)


def _given(need: Need) -> bool | None:
    return True if need == "below" else None


def _statement(need: Need, at: Setting, m: int, sparsity: float) -> str:
    few, sigma = "records with a rare attribute" if at.law.tail else "records", float(at.sigma)
    return {
        "pseudometric": "1 − sim satisfies the triangle inequality",
        "similar": f"what the attacker knows is {number(1 - float(at.epsilon) / 2)} or more alike to the truth",
        "same support": "the attacker knows of no attribute that the record has not",
        "below": "σ is below 1 − ε",
        "supported": f"all {few} have {counted(m, 'attribute')} or more",
        "sparse": f"{percent(sparsity)} of the {few} or fewer have another one more than {percent(sigma)} similar",
        "tail": f"a rare attribute is one that {_rarity(at)}",
    }[need]


def _likeness(at: Setting) -> str:
    return {
        "2.1": "agrees with it on more than {} of the attributes that either has",
        "2.2": "is more than {} similar to it",
        "2.3": "shares with it more than {} of the attributes that either has",
    }[at.law.similarity].format(percent(float(at.sigma)))


def _rarity(at: Setting) -> str:
    return f"{number(float(at.n * (at.kappa or 0)))} of {counted(at.n, 'record')} or fewer have"


def _to_four_digits(p: float) -> float:
    return float(Decimal(repr(p)).quantize(Decimal("1e-4"), ROUND_FLOOR))
