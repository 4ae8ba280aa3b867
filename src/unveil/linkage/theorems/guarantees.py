"""What does a theorem promise? Success with some probability, for an attacker who knows some number of attributes.

A theorem (:mod:`unveil.linkage.theorems.statements`) applied to a case says that the record named is more than σ
similar to the target except with probability η, and that it is the target except with probability η + f(σ), where f(σ)
is the share of records that have another one more than σ similar. :func:`guarantee_for_m` gives the probability p for
an m; :func:`guarantee_for_p` gives the m for a p. A guarantee lists the hypotheses that it rests on, each in words and
as true, false or unchecked.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from unveil.errors import UnveilError
from unveil.linkage.theorems.exact_numbers import Number, exact_decimal, high_precision, round_down
from unveil.linkage.theorems.statements import HypothesisKind, TheoremCase
from unveil.wording import count_text, number_text, percent_text

__all__ = ["Guarantee", "Hypothesis", "guarantee_for_m", "guarantee_for_p"]


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis of a theorem. ``holds`` is None if it was not, or cannot be, checked."""

    kind: HypothesisKind
    statement: str
    holds: bool | None = None


@dataclass(frozen=True)
class Guarantee:
    """Success with probability at least ``p`` for an attacker who knows ``m`` attributes, if the hypotheses hold.

    ``sparsity`` is f(σ) or an upper limit for it that holds with ``confidence``.
    """

    applied: TheoremCase
    m: int
    p: float
    sparsity: float
    confidence: float
    hypotheses: tuple[Hypothesis, ...]

    @property
    def adversary(self) -> str:
        """Â or B̂."""
        return self.applied.statement.adversary

    @property
    def similarity(self) -> str:
        """The record similarity: (2.1), (2.2) or (2.3)."""
        return self.applied.statement.similarity

    @property
    def sentence(self) -> str:
        """The guarantee in words."""
        applied, theorem = self.applied, self.applied.statement
        name = f"Theorem {theorem.name}{', as printed, which is not proven' if applied.needs_strict else ''}"
        wrong = [h.statement for h in self.hypotheses if h.holds is False]
        if wrong:
            return f"Theorem {theorem.name} does not apply here. It requires that {'; '.join(wrong)}."
        known = count_text(self.m, "random attribute")
        if theorem.needs_rare_attribute:
            known = f"{count_text(self.m, 'attribute')}, one of them rare and the others random,"
        if not self.p:
            return f"For an attacker who knows {known} of a random record, Theorem {theorem.name} guarantees nothing."
        rounded = Decimal(repr(self.p)).quantize(Decimal("1e-4"), ROUND_FLOOR)
        among, chance = count_text(applied.n, "record"), percent_text(float(rounded))
        finds = (
            f"finds it among {among} with probability {chance} or more"
            if theorem.finds_own_record
            else f"finds, among {among} and with probability {chance} or more, one that {_similarity_phrase(applied)}"
        )
        sure = f", with a confidence of {percent_text(self.confidence)}" if self.confidence < 1 else ""
        unknown = [h.statement for h in self.hypotheses if h.holds is None]
        terms = f" This requires, unchecked, that {'; '.join(unknown)}." if unknown else ""
        return f"An attacker who knows {known} of a random record {finds} ({name}){sure}.{terms}"


def guarantee_for_m(applied: TheoremCase, m: int, sparsity: Number = 0, confidence: float = 1.0) -> Guarantee:
    """The guarantee for a given m: success with probability at least 1 − η − f(σ).

    >>> guarantee_for_m(TheoremCase("8(a)", 8619, 0.73), 69, 0.079).p
    0.8501038234899474
    """
    if not 0 <= sparsity <= 1 or (sparsity and not applied.statement.finds_own_record):
        raise UnveilError("sparsity must be a share of the records, and only theorems about finding the record take it")
    with high_precision():
        missed, left = applied.exact_miss_probability(m), 1 - exact_decimal(sparsity)
        lost = missed > 0 and left - missed == left  # to rounding at 60 digits
        p = round_down(max(Decimal(0), left - missed), applied.needs_strict or lost)
    needs = tuple(
        Hypothesis(n, _hypothesis_statement(n, applied, m, float(sparsity)), True if n == "sigma below limit" else None)
        for n in applied.statement.needs
    )
    return Guarantee(applied, m, p, float(sparsity), confidence, needs)


def guarantee_for_p(applied: TheoremCase, p: Number, sparsity: Number = 0, confidence: float = 1.0) -> Guarantee:
    """The guarantee for a given p: the smallest m that suffices. Theorem 8 as printed has p = 1 − 2δ, f = δ.

    >>> guarantee_for_p(TheoremCase("4(1)", 10**6, 0.35), 0.99).m
    29
    """
    with high_precision():
        eta = 1 - exact_decimal(p) - exact_decimal(sparsity)
        if not 0 < eta <= 1:
            raise UnveilError("no number of attributes suffices: p must be at least 0 and below 1 − f(σ)")
        m = applied.exact_attributes(eta)
    return guarantee_for_m(applied, m, sparsity, confidence)


def _hypothesis_statement(need: HypothesisKind, applied: TheoremCase, m: int, sparsity: float) -> str:
    few = "records with a rare attribute" if applied.statement.needs_rare_attribute else "records"
    sigma, rare = float(applied.sigma), number_text(float(applied.n * (applied.kappa or 0)))
    return {
        "pseudometric": "1 − sim satisfies the triangle inequality",
        "similar values": f"what the attacker knows is {'at least ' if applied.epsilon else ''}"
        f"{percent_text(1 - float(applied.epsilon) / 2)} similar to the truth",
        "same support": "the attacker knows only attributes that the record has",
        "sigma below limit": "σ is below 1 − ε",
        "enough attributes": f"all {few} have at least {count_text(m, 'attribute')}",
        "sparse": f"at most {percent_text(sparsity)} of the {few} have another one more than {percent_text(sigma)} "
        "similar",
        "tail": f"a rare attribute is one that at most {rare} of {count_text(applied.n, 'record')} have",
    }[need]


def _similarity_phrase(applied: TheoremCase) -> str:
    return {
        "2.1": "agrees with it on more than {} of the attributes that either has",
        "2.2": "is more than {} similar to it",
        "2.3": "shares with it more than {} of the attributes that either has",
    }[applied.statement.similarity].format(percent_text(float(applied.sigma)))
