"""Published numbers about linkage, recomputed (ERRATA, section 002).

M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on Data Privacy 5 (2012);
A. Narayanan and V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008 (Theorem 1).
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from reference.counterexamples import theorem_1_claim
from reference.union_bounds import uniform_values_bound
from unveil.linkage.theorems.best_bound import best_bound
from unveil.linkage.theorems.corollaries import doubling_width, halving_kappa, learned_values
from unveil.linkage.theorems.guarantees import guarantee_for_m, guarantee_for_p
from unveil.linkage.theorems.statements import TheoremCase

NETFLIX = 480_000


def test_corollary_5_and_example_1() -> None:
    """n = 10⁶, p = .99, σ = .35: 28.047, so 29 values, of which 56 of 160 are made. The printed c ≈ 160 is right for
    28.047 values; with 29 whole ones it takes 166 attributes to double them (56 < 58)."""
    applied = TheoremCase("4(1)", 10**6, 0.35)
    assert applied.limit(Fraction(1, 100)) == pytest.approx(28.047, abs=5e-4)
    assert guarantee_for_p(applied, 0.99).m == 29
    assert learned_values(160, 0.35) == 56
    limit, c = doubling_width(10**6, 0.99, 0.35)
    assert limit == pytest.approx(16 / (0.35 * math.log10(1.35 / 0.7)))
    assert (round(limit), c) == (160, 166)


@pytest.mark.parametrize(
    ("sigma", "f", "limit", "m", "printed", "success"),
    [
        (0.45, 1.0, 19.0004, 20, 19, -1.0),
        (0.50, 0.988, 22.379, 23, 23, -0.98),
        (0.55, 0.955, 26.558, 27, 27, -0.91),
        (0.60, 0.673, 32.876, 33, 33, -0.35),
        (0.65, 0.455, 41.312, 42, 42, 0.09),
        (0.70, 0.145, 56.618, 57, 57, 0.71),
        (0.73, 0.079, 68.362, 69, 69, 0.842),
        (0.75, 0.063, 76.719, 77, 77, 0.87),
    ],
)
def test_table_3(sigma: float, f: float, limit: float, m: int, printed: int, success: float) -> None:
    """Theorem 8(a), n = 8,619, δ = f(σ). The first row needs 20, not 19; the success printed is 1 − 2f."""
    applied = TheoremCase("8(a)", 8619, sigma)
    assert applied.limit(f) == pytest.approx(limit, abs=5e-4 if limit != 19.0004 else 5e-5)
    assert applied.attributes_needed(f) == m == math.ceil(limit)
    assert (m == printed) == (sigma != 0.45)
    assert success == pytest.approx(1 - 2 * f, abs=0.006)
    if success > 0:
        assert guarantee_for_p(applied, Fraction(1) - 2 * Fraction(str(f)), f).m == m
    assert guarantee_for_m(applied, m, f).p >= max(0, 1 - 2 * f - 1e-12)


def test_the_last_row_of_table_3_is_no_certainty() -> None:
    """σ = .80, f = 0 of 400 drawn: "N/A (divide by 0)" and success 1 in print. At most .00746 with 95 % confidence."""
    found = guarantee_for_m(TheoremCase("8(a)", 8619, 0.80), 150, 0.00746, confidence=0.95)
    assert 0.97 < found.p < 1 - 0.00746
    assert found.applied.limit(0.00746) == pytest.approx(118.5, abs=0.05)


def test_table_3_at_the_best_sigma() -> None:
    """With two errors instead of one δ: from the same f, 69 attributes guarantee .850 where .842 is printed."""
    sigma, f = (0.65, 0.70, 0.73, 0.75), (0.455, 0.145, 0.079, 0.063)
    found = best_bound(8619, 69, (sigma, f))
    assert found.applied.sigma == 0.73
    assert found.p == pytest.approx(0.850, abs=5e-4)


def test_netflix() -> None:
    """Theorem 8(b), (.25, .08)-sparse: 17.0331, so 18 ratings for .84."""
    applied = TheoremCase("8(b)", NETFLIX, 0.25)
    assert applied.limit(0.08) == pytest.approx(17.0331, abs=5e-5)
    assert guarantee_for_p(applied, 0.84, 0.08).m == 18


def test_the_long_tail() -> None:
    """§4.4: σ = .25, δ = .08, κ = 10⁻⁴: L = 6.981; 7 as printed, 8 by the proof. κ = 1.4434·10⁻⁴ halves L."""
    for theorem in ("8(b), long tail", "10"):
        safe = TheoremCase(theorem, NETFLIX, 0.25, kappa=1e-4)
        printed = TheoremCase(theorem, NETFLIX, 0.25, kappa=1e-4, bound="printed")
        assert safe.limit(0.08) == printed.limit(0.08) == pytest.approx(6.981, abs=5e-4)
        assert (guarantee_for_p(printed, 0.84, 0.08).m, guarantee_for_p(safe, 0.84, 0.08).m) == (7, 8)
    kappa = halving_kappa(NETFLIX, 0.99)
    assert kappa == pytest.approx(1.4434e-4, abs=5e-9)
    whole, half = TheoremCase("4(1)", NETFLIX, 0.25), TheoremCase("9", NETFLIX, 0.25, kappa=kappa)
    assert 2 * half.limit(0.01) == pytest.approx(whole.limit(0.01))


def test_theorem_11_on_the_toy() -> None:
    """§4.6, n = 480,000: two values and k = 4: 22.873 and 16/17; ten values and k = 2: 7.681 and 100/101."""
    limit, m, p = uniform_values_bound(NETFLIX, 2, 4)
    assert (round(limit, 3), m) == (22.873, 23)
    assert p == pytest.approx(16 / 17, abs=1e-15)
    limit, m, p = uniform_values_bound(NETFLIX, 10, 2)
    assert (round(limit, 3), m) == (7.681, 8)
    assert p == pytest.approx(100 / 101, abs=1e-15)
    assert uniform_values_bound(8, 2, 0)[1] == 3


@pytest.mark.parametrize(
    ("n", "epsilon", "delta", "limit", "m", "sigma", "p"),
    [
        (10**6, 0.4, 0.5, 21.2535, 22, 0.1, 0.6),
        (10**5, 0.25, 0.125, 96.6007, 97, 0.625, 0.75),
        (10**5, 0.2, 0.6, 14.3212, 15, 0.2, 0.8),
    ],
)
def test_cases_1_to_3(n: int, epsilon: float, delta: float, limit: float, m: int, sigma: float, p: float) -> None:
    """§3.1, what Theorem 1 of Narayanan and Shmatikov claims for the three counterexamples."""
    found = theorem_1_claim(n, epsilon, delta)
    assert found.limit == pytest.approx(limit, abs=5e-5)
    assert (found.m, found.sigma, found.p) == (m, sigma, p)


def test_remark_7() -> None:
    """Theorem 4(2) at σ = 1 − ε − δ, p = 1 − ε: log(n/ε) / log(1 + δ/(2 − 2ε − 2δ))."""
    n, epsilon, delta = 10**5, 0.2, 0.5
    found = TheoremCase("4(2)", n, 0.3, epsilon).limit(epsilon)
    assert found == pytest.approx(math.log(n / epsilon) / math.log(1 + delta / (2 - 2 * epsilon - 2 * delta)))
    assert found > theorem_1_claim(n, epsilon, delta).limit
