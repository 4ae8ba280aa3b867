"""How likely does an attacker find a record, whatever the data? What theorems guarantee.

An attacker knows m random attributes of a random record r, with small errors, and names the candidate with the fewest
attributes. The candidates of adversary Â are the records whose values are alike on all m, those of adversary B̂ the
records that have all m attributes. The theorems say, without an attack, how often the record named is *similar* to r
and, if few records have a similar one (the data are *sparse*), how often it *is* r.

**Definitions** (M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data
Privacy 5, 2012). D are the n records, D′ the same with the attacker's errors. D and D′ are (1 −
ε/2)-similar: every value is alike to that degree, and Â requires as much. Sim(r, y) is the share, among the attributes
that either record has, of those that (2.1) are 1 − ε alike, (2.2) are alike, by degree, or (2.3) both have. With w = 1
− ε for (2.2), else 1, let

    γ = 2σ / (w + σ).

| | adversary, Sim | guarantees, if every record has m attributes |
|---|---|---|
| 4(1), 4(2), 6 | Â (2.1), Â (2.2), B̂ (2.3) | P[Sim > σ] ≥ 1 − n γ^m |
| 8(a), 8(b), 8(c) | the same | P[found] ≥ 1 − n γ^m − f(σ), f(σ) = P[some other record is more than σ similar] |
| 9, … , 10 | the same, long tail | n γ^m becomes κn γ^(m−1), the records are those with a rare attribute |

**Proof.** Take a wrong y with at most as many attributes as r and Sim(r, y) ≤ σ. Let u = |supp(r)|, let Γ be the
attributes on which they agree, and g = |Γ|. Both have those in Γ, so |supp(r) ∪ supp(y)| ≤ 2u − g and g ≤ σ(2u − g),
hence g ≤ γu (Lemma 2). If y is a candidate, all m attributes lie in Γ (by the triangle inequality for 1 − sim, if D′ is
not D). The probability is C(g, m)/C(u, m) = ∏ (g−j)/(u−j) ≤ (g/u)^m ≤ γ^m (Lemma 1). There are fewer than n such y. For
(2.2), Sim ≥ (1−ε) Sim(2.1), so σ/(1−ε) replaces σ. If the record that Â names is more than σ similar but not r, then r
has another record that similar, which has probability f(σ) (Theorem 7). The paper has Sim ≥ σ throughout; the proof
also gives Sim > σ, which is slightly more.

**Long tail.** The attacker knows m − 1 random attributes and one attribute i of r that at most κn records have. All
candidates have i, so there are at most |supp(i)| ≤ κn of them. Only m − 1 attributes are random, so each is a candidate
with probability at most γ^(m−1). (If they are drawn from the u − 1 attributes other than i, the probability is C(g−1,
m−1)/C(u−1, m−1) ≤ (g/u)^(m−1) just the same.) Hence κn γ^(m−1), ``safe``. The paper prints m > L = log(κn/(1−p)) /
log(1/γ), which is κn γ^m < 1−p. That is one attribute too few unless L is an integer, and false (the tests have
counterexamples). The proof uses only the number of records that have i, so κ = |supp(i)|/n of the attribute at hand
suffices, or its mean over rare attributes. The records that count are those with a rare attribute, and *f must be taken
over them*: Theorem 10 takes it over all records, and is false again.

Numbers are exact (:mod:`unveil.linkage.theorems.exact_numbers`): m is an integer and must not be lost to rounding.
Given m or p, a theorem makes a guarantee (:mod:`unveil.linkage.theorems.guarantees`), the best one for a good choice of
σ (:mod:`unveil.linkage.theorems.best_bound`). :mod:`unveil.linkage.sparsity.long_tail` says which attributes are rare,
and :mod:`unveil.linkage.theorems.record_agreement` what more the data at hand guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unveil.errors import UnveilError
from unveil.linkage.theorems.exact_numbers import Number, exact_decimal, high_precision, smallest_exponent
from unveil.wording import list_text

__all__ = ["THEOREMS", "HypothesisKind", "Theorem", "TheoremCase"]

HypothesisKind = Literal[
    "pseudometric", "similar values", "same support", "sigma below limit", "enough attributes", "sparse", "tail"
]


@dataclass(frozen=True)
class Theorem:
    """What a theorem is about: finding the person's own record rather than a similar one (``finds_own_record``), by an
    attacker who knows a rare attribute (``needs_rare_attribute``)."""

    name: str
    adversary: Literal["Â", "B̂"]
    similarity: Literal["2.1", "2.2", "2.3"]
    finds_own_record: bool = False
    needs_rare_attribute: bool = False

    @property
    def needs(self) -> tuple[HypothesisKind, ...]:
        """The hypotheses."""
        values: tuple[HypothesisKind, ...] = ("same support",)
        if self.adversary == "Â":
            values = ("pseudometric", "similar values")
        below: tuple[HypothesisKind, ...] = ("sigma below limit",) if self.similarity == "2.2" else ()
        sparse: tuple[HypothesisKind, ...] = ("sparse",) if self.finds_own_record else ()
        return (*values, *below, "enough attributes", *sparse, *(("tail",) if self.needs_rare_attribute else ()))


THEOREMS = {
    theorem.name: theorem
    for theorem in (
        Theorem("4(1)", "Â", "2.1"),
        Theorem("4(2)", "Â", "2.2"),
        Theorem("6", "B̂", "2.3"),
        Theorem("8(a)", "Â", "2.1", finds_own_record=True),
        Theorem("8(b)", "Â", "2.2", finds_own_record=True),
        Theorem("8(c)", "B̂", "2.3", finds_own_record=True),
        Theorem("9", "Â", "2.1", needs_rare_attribute=True),
        Theorem("4(2), long tail", "Â", "2.2", needs_rare_attribute=True),
        Theorem("6, long tail", "B̂", "2.3", needs_rare_attribute=True),
        Theorem("8(a), long tail", "Â", "2.1", finds_own_record=True, needs_rare_attribute=True),
        Theorem("8(b), long tail", "Â", "2.2", finds_own_record=True, needs_rare_attribute=True),
        Theorem("10", "B̂", "2.3", finds_own_record=True, needs_rare_attribute=True),
    )
}
"""The theorems by name. 9 is the long-tail version of 4(1), and 10 that of 8(c)."""


@dataclass(frozen=True)
class TheoremCase:
    """What a theorem is applied to. ``kappa`` belongs to a long tail: at most κn records have the rare attribute.

    >>> netflix = TheoremCase("8(b)", 480_000, 0.25)
    >>> round(netflix.limit(0.08), 4), netflix.attributes_needed(0.08)
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
            raise UnveilError(f"there is no theorem {self.theorem}; the theorems are {list_text(THEOREMS, 20)}")
        if self.n < 1:
            raise UnveilError("a theorem needs at least one record")
        if not 0 <= self.epsilon < 1:
            raise UnveilError("ε must be at least 0 and below 1")
        with high_precision():
            if not 0 <= self.sigma < 1 or exact_decimal(self.sigma) >= self.sigma_limit:
                raise UnveilError("σ must be at least 0 and below 1, and below 1 − ε for similarity (2.2)")
        if (self.kappa is not None) != self.statement.needs_rare_attribute:
            raise UnveilError("theorems about a long tail need κ, and no others take it")
        if self.kappa is not None and not 0 < self.kappa <= 1:
            raise UnveilError("κ must be a share of the records, above 0 and at most 1")
        if self.bound not in ("safe", "printed"):
            raise UnveilError("a bound must be safe or printed")

    @property
    def statement(self) -> Theorem:
        """The theorem."""
        return THEOREMS[self.theorem]

    def limit(self, eta: Number) -> float:
        """L = log(n/η) / log(1/γ), with κn for n in a long tail: the real number that the paper prints."""
        with high_precision():
            return float(self.exact_limit(_check_probability(eta)))

    def attributes_needed(self, eta: Number) -> int:
        """The smallest m with which the record named is more than σ similar except with probability η."""
        with high_precision():
            return self.exact_attributes(_check_probability(eta))

    # the rest is exact to 60 digits and must be called with that precision (:func:`high_precision`)

    @property
    def sigma_limit(self) -> Decimal:
        """w, which σ must stay below."""
        return 1 - exact_decimal(self.epsilon) if self.statement.similarity == "2.2" else Decimal(1)

    @property
    def gamma(self) -> Decimal:
        """γ."""
        sigma = exact_decimal(self.sigma)
        return 2 * sigma / (self.sigma_limit + sigma)

    @property
    def confusable_records(self) -> Decimal:
        """The number of records that can be confused, n or κn."""
        return exact_decimal(self.n) * exact_decimal(1 if self.kappa is None else self.kappa)

    def exact_limit(self, eta: Decimal) -> Decimal:
        """L, unrounded."""
        gamma = self.gamma
        return (self.confusable_records / eta).ln() / -gamma.ln() if gamma else Decimal(0)

    @property
    def certain_attributes(self) -> int:
        """How many of the m attributes do not count: the rare one."""
        return int(self.statement.needs_rare_attribute and self.bound == "safe")

    @property
    def needs_strict(self) -> bool:
        """Whether m must be above L: the printed bound says so, without a proof."""
        return self.statement.needs_rare_attribute and self.bound == "printed"

    def exact_attributes(self, eta: Decimal) -> int:
        """The smallest m for η."""
        return max(
            1, self.certain_attributes + smallest_exponent(self.confusable_records, eta, self.gamma, self.needs_strict)
        )

    def exact_miss_probability(self, m: int) -> Decimal:
        """η, unrounded."""
        if m < 1:
            raise UnveilError("the attacker must know at least one attribute")
        power = m - self.certain_attributes
        return min(Decimal(1), self.confusable_records * (self.gamma**power if power else 1))


def _check_probability(eta: Number) -> Decimal:
    if not 0 < eta <= 1:
        raise UnveilError("η must be a probability above 0")
    return exact_decimal(eta)
