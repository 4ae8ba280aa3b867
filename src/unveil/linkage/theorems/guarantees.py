"""What does a theorem promise? Success with a probability, for an attacker who knows so many attributes.

A theorem (:mod:`unveil.linkage.theorems.statements`) says of a setting that what is named is more than σ similar to the
record but for a probability η, and that it is the record but for η + f(σ), f(σ) being the share of records that have
another one more than σ similar. Given m, :func:`guaranteed` says with which probability p; given p, :func:`sufficient`
says for which m. A guarantee comes with the hypotheses that it rests on, each in words, and as true, false or not
checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from unveil.errors import UnveilError
from unveil.linkage.theorems.statements import Need, Setting
from unveil.linkage.theorems.whole import Number, exact, precisely, rounded_down
from unveil.wording import counted, number, percent

__all__ = ["Guarantee", "Hypothesis", "guaranteed", "sufficient"]


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
        name = f"Theorem {law.name}{', as printed, which is not proven' if at.strict else ''}"
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
        missed, left = setting.exact_missed(m), 1 - exact(sparsity)
        lost = missed > 0 and left - missed == left  # in rounding to 60 digits
        p = rounded_down(max(Decimal(0), left - missed), setting.strict or lost)
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
        m = setting.least(eta)
    return guaranteed(setting, m, sparsity, confidence)


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
