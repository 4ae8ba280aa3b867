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
hand will do (:func:`unveil.linkage.alike.tail.mean_kappa` averages it). The records that count are those with a rare
attribute, and *f must be taken over them*: Theorem 10 takes it over all records, with which it is false again.

**How it is computed.** m is whole and must not be lost to rounding: numbers are taken as they are written (.1 is a
tenth), logarithms have 60 digits, and a probability is rounded down (:mod:`unveil.linkage.theorems.whole`).

Given m or p, a theorem makes a guarantee (:mod:`unveil.linkage.theorems.guarantees`), and the best one for a good
choice of σ (:mod:`unveil.linkage.theorems.best_bound`). Whether its hypotheses hold is the business of
:mod:`unveil.linkage.theorems.hypotheses`; which attributes are rare, of :mod:`unveil.linkage.alike.tail`; what more the
data at hand guarantee, of :mod:`unveil.linkage.theorems.agreement`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unveil.errors import UnveilError
from unveil.linkage.theorems.whole import Number, exact, least_power, precisely, rounded_up
from unveil.wording import listed

__all__ = ["THEOREMS", "Need", "Setting", "Theorem"]

Need = Literal["pseudometric", "similar", "same support", "below", "supported", "sparse", "tail"]


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
            if not 0 <= self.sigma < 1 or exact(self.sigma) >= self.width:
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
            return float(self.exact_limit(_chance(eta)))

    def attributes(self, eta: Number) -> int:
        """The smallest m with which the record named is more than σ similar but for a probability η."""
        with precisely():
            return self.least(_chance(eta))

    def missed(self, m: int) -> float:
        """η, the probability that the record named is not more than σ similar, at most."""
        with precisely():
            return rounded_up(self.exact_missed(m))

    # what follows is exact to 60 digits, and called with that precision (:func:`precisely`)

    @property
    def width(self) -> Decimal:
        """w: what σ stays below."""
        return 1 - exact(self.epsilon) if self.law.similarity == "2.2" else Decimal(1)

    @property
    def gamma(self) -> Decimal:
        """γ."""
        sigma = exact(self.sigma)
        return 2 * sigma / (self.width + sigma)

    @property
    def crowd(self) -> Decimal:
        """How many records there are to confuse, n or κn."""
        return exact(self.n) * exact(1 if self.kappa is None else self.kappa)

    def exact_limit(self, eta: Decimal) -> Decimal:
        """L, not rounded."""
        gamma = self.gamma
        return (self.crowd / eta).ln() / -gamma.ln() if gamma else Decimal(0)

    @property
    def certain(self) -> int:
        """How many of the m attributes do not count: the rare one."""
        return int(self.law.tail and self.bound == "safe")

    @property
    def strict(self) -> bool:
        """Whether m must be above L: what is printed says so, and is not proven."""
        return self.law.tail and self.bound == "printed"

    def least(self, eta: Decimal) -> int:
        """The smallest m for η."""
        return max(1, self.certain + least_power(self.crowd, eta, self.gamma, self.strict))

    def exact_missed(self, m: int) -> Decimal:
        """η, not rounded."""
        if m < 1:
            raise UnveilError("an attacker knows one attribute at least")
        power = m - self.certain
        return min(Decimal(1), self.crowd * (self.gamma**power if power else 1))


def _chance(eta: Number) -> Decimal:
    if not 0 < eta <= 1:
        raise UnveilError("η is a probability, above 0")
    return exact(eta)
