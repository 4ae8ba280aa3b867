"""Guarantees about linkage: never more than what happens, on databases that are small enough to try everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from reference.counterexamples import (
    counterexample_1,
    counterexample_2,
    counterexample_3,
    success_by_definition,
    theorem_1_claim,
)
from reference.hypotheses import check_hypotheses, has_rare_attribute, is_proven, mean_kappa, value_similarities
from reference.union_bounds import expected_candidates, smallest_m, uniform_values_bound, union_bound
from unveil.errors import UnveilError
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import (
    Similarity,
    any_value,
    equal_values,
    linear_similarity,
    within_distance,
)
from unveil.linkage.theorems.best_bound import best_bound, sparsity_steps
from unveil.linkage.theorems.corollaries import doubling_width, halving_kappa, learned_values
from unveil.linkage.theorems.exact_numbers import high_precision
from unveil.linkage.theorems.guarantees import guarantee_for_m, guarantee_for_p
from unveil.linkage.theorems.statements import THEOREMS, TheoremCase
from unveil.release.codes import encode_column

# ---- by definition: small databases, every record, every set of attributes ------------------------------------------

Row = tuple[int | None, ...]
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Small:
    """A database D, what the attacker knows D′, and the similarity of values with its ε."""

    rows: tuple[Row, ...]
    known: tuple[Row, ...]
    kind: str
    epsilon: Fraction

    def sim(self, a: int | None, b: int | None) -> Fraction:
        if a is None or b is None:
            return Fraction(0)
        return {
            "equal": Fraction(a == b),
            "linear": max(Fraction(4 - abs(a - b), 4), Fraction(0)),
            "support": Fraction(1),
        }[self.kind]

    def support(self, r: int) -> tuple[int, ...]:
        return tuple(i for i, v in enumerate(self.rows[r]) if v is not None)

    @property
    def least(self) -> int:
        return min(len(self.support(r)) for r in range(len(self.rows)))

    def record_sim(self, which: str, r: int, y: int) -> Fraction:
        both = set(self.support(r)) | set(self.support(y))
        sims = [self.sim(self.rows[r][i], self.rows[y][i]) for i in both]
        same = {"2.1": [s >= 1 - self.epsilon for s in sims], "2.2": sims}
        same["2.3"] = [i in self.support(r) and i in self.support(y) for i in both]
        return Fraction(sum(same[which])) / len(both)

    def fits(self, adversary: str, r: int, y: int, i: int) -> bool:
        """Whether y is a candidate as far as the attacker's knowledge of r's attribute i goes."""
        if adversary == "B̂":
            return self.rows[y][i] is not None
        return self.sim(self.known[r][i], self.rows[y][i]) >= 1 - self.epsilon / 2

    def agreement(self, adversary: str, r: int, y: int) -> int:
        return sum(self.fits(adversary, r, y, i) for i in self.support(r))

    def original_columns(self, adversary: str, r: int, known: Sequence[int]) -> list[int]:
        """The candidates with the fewest attributes."""
        fitting = [y for y in range(len(self.rows)) if all(self.fits(adversary, r, y, i) for i in known)]
        fewest = min(len(self.support(y)) for y in fitting)
        return [y for y in fitting if len(self.support(y)) == fewest]

    def outcome(self, adversary: str, draws: Draws, good: Callable[[int, int], bool], ties: str) -> Fraction:
        """The probability that what is named is good; of several, the worst or a random one is."""
        total = Fraction(0)
        for r, sets in draws.items():
            for known, weight in sets:
                marks = [good(r, y) for y in self.original_columns(adversary, r, known)]
                total += weight * (all(marks) if ties == "worst" else Fraction(sum(marks), len(marks)))
        return total / len(draws)

    def records(self, known: bool = False) -> Records:
        sims = {
            "equal": equal_values(),
            "linear": linear_similarity(4),
            "support": any_value(),
        }
        return made(self.known if known else self.rows, sims[self.kind])


def missed_share(applied: TheoremCase, m: int) -> float:
    """η, the probability that the record named is not more than σ similar, at most."""
    with high_precision():
        return float(applied.exact_miss_probability(m))


def written(p: float) -> Fraction:
    """A probability as it is written, which is how it was rounded down."""
    return Fraction(repr(p))


Draws = dict[int, list[tuple[tuple[int, ...], Fraction]]]


def made(rows: Sequence[Sequence[Any]], sim: Similarity) -> Records:
    columns = {
        f"a{i}": encode_column(pa.chunked_array([list(c)], pa.int64())) for i, c in enumerate(zip(*rows, strict=True))
    }
    return records_from_codes(columns, dict.fromkeys(columns, sim))


def uniform(small: Small, m: int) -> Draws:
    found = {}
    for r in range(len(small.rows)):
        sets = list(combinations(small.support(r), m))
        found[r] = [(s, Fraction(1, len(sets))) for s in sets]
    return found


def with_one_rare(small: Small, m: int, rare: set[int], apart: bool) -> Draws:
    """One rare attribute, and m − 1 random ones: of all, as the paper draws, or ``apart`` from it."""
    found: Draws = {}
    for r in range(len(small.rows)):
        mine = [i for i in small.support(r) if i in rare]
        for i in mine:
            sets = list(combinations([j for j in small.support(r) if not apart or j != i], m - 1))
            found.setdefault(r, []).extend(((*s, i), Fraction(1, len(sets) * len(mine))) for s in sets)
    return found


@st.composite
def smalls(draw: st.DrawFn) -> Small:
    """With nulls and duplicates, errors where the similarity allows for some, every record with an attribute."""
    n, c = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    cell = st.one_of(st.none(), st.integers(0, 4), st.integers(0, 4))
    rows = draw(st.lists(st.tuples(*[cell] * c), min_size=n, max_size=n))
    assume(all(any(v is not None for v in row) for row in rows))
    kind, epsilon = draw(st.sampled_from([("equal", 0), ("linear", 0), ("linear", Fraction(1, 2)), ("support", 0)]))
    step = {"equal": 0, "linear": int(4 * epsilon / 2), "support": 3}[kind]
    shifts = st.sampled_from([0]) if not step else st.sampled_from([-step, 0, step])
    known = tuple(tuple(None if v is None else v + draw(shifts) for v in row) for row in rows)
    return Small(tuple(rows), known, kind, Fraction(epsilon))


def places(small: Small, which: str) -> list[Fraction]:
    """σ where something happens, and others."""
    n = len(small.rows)
    sims = {small.record_sim(which, r, y) for r in range(n) for y in range(n)}
    width = 1 - small.epsilon if which == "2.2" else 1
    return sorted(s for s in sims | {Fraction(k, 10) for k in range(10)} if s < width)


def nearest_of(small: Small, which: str, rows: Sequence[int] | None = None) -> list[Fraction]:
    n = len(small.rows)
    return [max(small.record_sim(which, r, y) for y in range(n) if y != r) for r in (rows or range(n))]


@settings(max_examples=30, deadline=None)
@given(smalls())
def test_what_is_guaranteed_happens(small: Small) -> None:
    """Theorems 4, 6 and 8, and that Sim > σ, not only ≥; whoever is named among equals."""
    n = len(small.rows)
    for name in ("4(1)", "4(2)", "6"):
        law = THEOREMS[name]
        perfect = {"4(1)": "8(a)", "4(2)": "8(b)", "6": "8(c)"}[name]
        nearest = nearest_of(small, law.similarity)
        for m in range(1, min(4, small.least) + 1):
            draws = uniform(small, m)
            found = small.outcome(law.adversary, draws, lambda r, y: r == y, "worst")
            for sigma in places(small, law.similarity):
                applied = TheoremCase(name, n, sigma, small.epsilon)
                bound = guarantee_for_m(applied, m)
                if bound.p:

                    def similar(r: int, y: int, s: Fraction = sigma, w: str = law.similarity) -> bool:
                        return small.record_sim(w, r, y) > s

                    assert written(bound.p) <= small.outcome(law.adversary, draws, similar, "worst")
                f = Fraction(sum(x > sigma for x in nearest), n)
                assert written(guarantee_for_m(TheoremCase(perfect, n, sigma, small.epsilon), m, f).p) <= found
            best = best_bound(n, m, sparsity_steps([float(x) for x in nearest]), theorem=perfect, epsilon=small.epsilon)
            assert best.p <= found + _ROUNDING


@settings(max_examples=30, deadline=None)
@given(smalls(), st.booleans(), st.integers(1, 3))
def test_what_is_guaranteed_with_a_rare_attribute_happens(small: Small, apart: bool, most: int) -> None:
    """The safe bounds of Theorems 9, 10 and the four others, with κn and with the average popularity."""
    n, records = len(small.rows), small.records()
    rare = {i for i, p in enumerate(records.popularity) if 0 < p <= most}
    assume(rare)
    marks = np.array([i in rare for i in range(records.c)])
    kappa = Fraction(max(int(records.popularity[i]) for i in rare), n)
    for name in ("9", "4(2), long tail", "6, long tail"):
        law = THEOREMS[name]
        perfect = {"9": "8(a), long tail", "4(2), long tail": "8(b), long tail", "6, long tail": "10"}[name]
        some = np.flatnonzero(has_rare_attribute(records, marks)).tolist()
        for m in range(1, min(4, min(len(small.support(r)) for r in some)) + 1):
            draws = with_one_rare(small, m, rare, apart)
            assert sorted(draws) == some
            found = small.outcome(law.adversary, draws, lambda r, y: r == y, "worst")
            nearest = nearest_of(small, law.similarity, some)
            for sigma in places(small, law.similarity):

                def similar(r: int, y: int, s: Fraction = sigma, w: str = law.similarity) -> bool:
                    return small.record_sim(w, r, y) > s

                exact = None
                for k in (kappa, mean_kappa(records, marks)):
                    bound = guarantee_for_m(TheoremCase(name, n, sigma, small.epsilon, k), m)
                    if bound.p:
                        exact = small.outcome(law.adversary, draws, similar, "worst") if exact is None else exact
                        assert bound.p <= exact + _ROUNDING
                f = Fraction(sum(x > sigma for x in nearest), len(some))
                assert written(guarantee_for_m(TheoremCase(perfect, n, sigma, small.epsilon, kappa), m, f).p) <= found
            best = best_bound(
                n, m, sparsity_steps([float(x) for x in nearest]), theorem=perfect, epsilon=small.epsilon, kappa=kappa
            )
            assert best.p <= found + _ROUNDING


@settings(max_examples=30, deadline=None)
@given(smalls())
def test_the_union_bound_lies_between_the_theorems_and_what_happens(small: Small) -> None:
    n = len(small.rows)
    sizes = [len(small.support(r)) for r in range(n)]
    for adversary, which, perfect in (("Â", "2.1", "8(a)"), ("Â", "2.2", "8(b)"), ("B̂", "2.3", "8(c)")):
        table = [[small.agreement(adversary, r, y) for y in range(n)] for r in range(n)]
        nearest = sparsity_steps([float(x) for x in nearest_of(small, which)])
        for m in range(1, min(4, small.least) + 1):
            worst, random = (
                np.mean([union_bound(np.delete(table[r], r), np.delete(sizes, r), sizes[r], m, ties) for r in range(n)])
                for ties in ("worst", "random")
            )
            general = best_bound(n, m, nearest, theorem=perfect, epsilon=small.epsilon)
            draws = uniform(small, m)

            def right(r: int, y: int) -> bool:
                return r == y

            assert general.p <= worst + _ROUNDING
            assert worst <= small.outcome(adversary, draws, right, "worst") + _ROUNDING
            assert worst <= random <= small.outcome(adversary, draws, right, "random") + _ROUNDING


@settings(max_examples=30, deadline=None)
@given(smalls())
def test_the_union_bound_for_similar_records(small: Small) -> None:
    """With the agreement that is known when errors are bounded only, and those more than σ similar left out."""
    n = len(small.rows)
    for sigma in places(small, "2.1")[::3]:
        for m in range(1, min(3, small.least) + 1):
            bounds = []
            for r in range(n):
                others = [y for y in range(n) if small.record_sim("2.1", r, y) <= sigma]
                agree = [
                    sum(small.sim(a, b) >= 1 - small.epsilon for a, b in zip(small.rows[r], small.rows[y], strict=True))
                    for y in others
                ]
                own = len(small.support(r))
                bounds.append(union_bound(agree, [len(small.support(y)) for y in others], own, m))

            def similar(r: int, y: int, s: Fraction = sigma) -> bool:
                return small.record_sim("2.1", r, y) > s

            general = guarantee_for_m(TheoremCase("4(1)", n, sigma, small.epsilon), m)
            exact = small.outcome("Â", uniform(small, m), similar, "worst")
            assert general.p - _ROUNDING <= np.mean(bounds) <= exact + _ROUNDING


@settings(max_examples=30, deadline=None)
@given(smalls())
def test_candidates_are_counted_exactly(small: Small) -> None:
    """Theorem 11: E[1/|D_x|] ≥ 1/E|D_x|."""
    n = len(small.rows)
    for m in range(1, min(3, small.least) + 1):
        for r, sets in uniform(small, m).items():
            sizes = [sum(all(small.fits("Â", r, y, i) for i in s) for y in range(n)) for s, _ in sets]
            agree = [small.agreement("Â", r, y) for y in range(n) if y != r]
            expected = expected_candidates(agree, len(small.support(r)), m)
            assert expected == pytest.approx(np.mean(sizes), rel=1e-12)
            assert np.mean([1 / k for k in sizes]) >= 1 / expected - _ROUNDING


@settings(max_examples=30, deadline=None)
@given(smalls(), st.sampled_from(["Scoreboard", "Â", "B̂"]))
def test_success_by_definition(small: Small, adversary: Literal["Scoreboard", "Â", "B̂"]) -> None:
    m, sigma, n = min(2, small.least), Fraction(2, 5), len(small.rows)
    got = success_by_definition(
        small.records(), small.records(known=True), adversary, m, 1 - float(small.epsilon) / 2, float(sigma)
    )
    similar = found = Fraction(0)
    for r, sets in uniform(small, m).items():
        for known, weight in sets:
            named = [y for y in range(n) if all(small.fits(adversary, r, y, i) for i in known)]
            if adversary != "Scoreboard":
                named = small.original_columns(adversary, r, known)
            near = sum(small.record_sim("2.2", r, y) >= sigma for y in named)
            similar += weight * Fraction(near, len(named)) / n
            found += weight * Fraction(r in named, len(named)) / n
    assert got.similar == pytest.approx(float(similar), abs=_ROUNDING)
    assert got.found == pytest.approx(float(found), abs=_ROUNDING)


# ---- where the bounds are nearly attained ----------------------------------------------------------------------------


def in_pairs(n: int, g: int, private: int, kind: str, common: int = 0) -> Small:
    """Every two records agree on g attributes that no other has, all on ``common`` ones, and each has some to itself.

    Two records never fit both unless a common attribute is all that is known, so that a union bound loses nothing. With
    errors, values that agree are 1/2 alike, and the attacker knows the one between them."""
    pairs = list(combinations(range(n), 2))
    c = common + g * len(pairs) + n * private
    rows: list[list[int | None]] = [[None] * c for _ in range(n)]
    known: list[list[int | None]] = [[None] * c for _ in range(n)]
    for r in range(n):
        for i in range(common):
            rows[r][i] = known[r][i] = 0
        for j in range(private):
            i = c - 1 - n * j - r
            rows[r][i] = known[r][i] = 0
    for k, pair in enumerate(pairs):
        for i in range(common + g * k, common + g * (k + 1)):
            for place, r in enumerate(pair):
                rows[r][i], known[r][i] = (2 * place, 1) if kind == "linear" else (3, 3)
    epsilon = Fraction(1, 2) if kind == "linear" else Fraction(0)
    return Small(tuple(map(tuple, rows)), tuple(map(tuple, known)), kind, epsilon)


@pytest.mark.parametrize("kind", ["equal", "linear", "support"])
@pytest.mark.parametrize(("n", "g", "private"), [(3, 1, 6), (4, 2, 10), (5, 2, 6), (4, 3, 9)])
def test_bounds_are_nearly_attained(n: int, g: int, private: int, kind: str) -> None:
    """m = 1: the theorems give away one record of n, no more. Any m: the union bound is what happens."""
    small = in_pairs(n, g, private, kind)
    u = (n - 1) * g + private
    for name, perfect in (("4(1)", "8(a)"), ("4(2)", "8(b)"), ("6", "8(c)")):
        law = THEOREMS[name]
        sigma = small.record_sim(law.similarity, 0, 1)
        assert set(nearest_of(small, law.similarity)) == {sigma}
        for m in (1, 2, 3):
            lost = (n - 1) * Fraction(math.comb(g, m), math.comb(u, m))
            happens = small.outcome(law.adversary, uniform(small, m), lambda r, y: r == y, "worst")
            applied = TheoremCase(name, n, sigma, small.epsilon)
            assert happens == 1 - lost
            assert (
                guarantee_for_m(applied, m).p
                == guarantee_for_m(TheoremCase(perfect, n, sigma, small.epsilon), m).p
                <= happens
            )
            if m == 1:
                assert missed_share(applied, 1) == pytest.approx(float(lost * n / (n - 1)), abs=_ROUNDING)
            agree = [small.agreement(law.adversary, 0, y) for y in range(1, n)]
            assert agree == [g] * (n - 1)
            assert union_bound(agree, [u] * (n - 1), u, m) == pytest.approx(float(happens), abs=_ROUNDING)


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("kind", ["equal", "support"])
def test_bounds_with_a_rare_attribute_are_nearly_attained(kind: str, apart: bool) -> None:
    """Four records have a rare attribute in common, and every two 9 more of their 80: with one more that is known, 3 of
    4 parts of what the safe bound allows are lost, but for what drawing the rare attribute twice changes."""
    small = in_pairs(4, 9, 52, kind, common=1)
    n, u = 4, 80
    sigma = small.record_sim("2.1", 0, 1)
    applied = TheoremCase("9", n, sigma, kappa=1)
    assert missed_share(applied, 2) == pytest.approx(4 * 10 / u)
    happens = small.outcome("Â", with_one_rare(small, 2, {0}, apart), lambda r, y: r == y, "worst")
    assert 1 - happens == (Fraction(3 * 9, u - 1) if apart else Fraction(1 + 3 * 9, u))
    assert (
        guarantee_for_m(applied, 2).p
        < happens
        < guarantee_for_m(TheoremCase("9", n, sigma, kappa=1, bound="printed"), 2).p
    )
    # the same from the data: keep those that agree on the rare one, take one off every number
    by_data = union_bound([9] * 3, [u - 1] * 3, u - 1, 1)
    assert by_data == pytest.approx(float(1 - Fraction(3 * 9, u - 1)), abs=_ROUNDING)


# ---- the long tail as printed ----------------------------------------------------------------------------------------


def two_with_a_rare_one(shared: int, own: int, m: int) -> Small:
    """Two records have attribute 0, the rarest; they share some more, and each has its own, which fillers of m
    attributes have too. No filler has attribute 0."""
    c = 1 + shared + 2 * own
    first = [i <= shared + own for i in range(c)]
    second = [i <= shared or i > shared + own for i in range(c)]
    rest = [
        i for pair in zip(range(1 + shared, 1 + shared + own), range(1 + shared + own, c), strict=True) for i in pair
    ]
    groups = [rest[k : k + m] for k in range(0, len(rest), m)]
    groups[-1] = rest[-m:]
    fillers = [[i in group for i in range(c)] for group in groups]
    rows = tuple(tuple(1 if has else None for has in row) for row in (first, second, *fillers))
    return Small(rows, rows, "support", Fraction(0))


@pytest.mark.parametrize(
    ("shared", "own", "m", "apart"),
    [(0, 30, 1, True), (0, 30, 1, False), (0, 30, 2, False), (2, 40, 2, True), (5, 54, 3, True)],
)
def test_the_long_tail_as_printed_fails(shared: int, own: int, m: int, apart: bool) -> None:
    """Theorems 9 and 10: two records that share a rare attribute and little else. Even with ties broken at random the
    success stays below what m > L promises; the safe bound holds."""
    small = two_with_a_rare_one(shared, own, m)
    n, records = len(small.rows), small.records()
    assert records.popularity.min() == records.popularity[0] == 2
    draws = with_one_rare(small, m, {0}, apart)
    kappa = Fraction(2, n)
    sigma = max(small.record_sim("2.3", r, y) for r in range(n) for y in range(n) if y != r and r < 2)
    happens = small.outcome("B̂", draws, lambda r, y: r == y, "random")
    for name, adversary in (("9", "Â"), ("6, long tail", "B̂"), ("10", "B̂")):
        printed = guarantee_for_m(TheoremCase(name, n, sigma, 0, kappa, "printed"), m)
        safe = guarantee_for_m(TheoremCase(name, n, sigma, 0, kappa), m)
        assert printed.adversary == adversary, "which here are the same: all values are alike"
        assert safe.p <= happens < printed.p
        assert guarantee_for_p(printed.applied, printed.p).m == m
        rare = np.arange(records.c) == 0
        nearest = [float(x) for x in nearest_of(small, "2.3")]
        assert is_proven(check_hypotheses(printed, records, records, nearest, rare)), "every hypothesis holds"


def test_theorem_10_needs_the_sparsity_of_records_with_a_rare_attribute() -> None:
    """The two that have the rare attribute are nearly equal, and alone in that: f = 2/n, but 1 for those that count."""
    small = two_with_a_rare_one(40, 2, 3)
    fillers = tuple(tuple(1 if i % 20 == k else None for i in range(60)) for k in range(20))
    rows = tuple(r + (None,) * 60 for r in small.rows) + tuple((None,) * len(small.rows[0]) + f for f in fillers)
    small = Small(rows, rows, "support", Fraction(0))
    n, m = len(rows), 3
    nearest = nearest_of(small, "2.3")
    sigma = Fraction(1, 8)
    f = Fraction(sum(x > sigma for x in nearest), n)
    bound = guarantee_for_m(TheoremCase("10", n, sigma, 0, Fraction(2, n)), m, f)
    happens = small.outcome("B̂", with_one_rare(small, m, {0}, False), lambda r, y: r == y, "random")
    assert happens < 0.6 < bound.p
    checked = check_hypotheses(
        bound, small.records(), None, [float(x) for x in nearest], np.arange(small.records().c) == 0
    )
    assert [h.holds for h in checked.hypotheses if h.kind == "sparse"] == [False]
    assert is_proven(checked) is False


# ---- whole numbers ---------------------------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(list(THEOREMS)),
    st.integers(1, 10**6),
    st.integers(0, 899),
    st.integers(0, 999),
    st.sampled_from(["safe", "printed"]),
)
@example("9", 90, 200, 300, "printed")  # what is missed is .6, but for rounding
def test_m_is_the_smallest_that_suffices(
    name: str, n: int, sigma: int, p: int, bound: Literal["safe", "printed"]
) -> None:
    """Checked with fractions: γ^m n ≤ 1 − p for this m, and not for the one before."""
    law, epsilon = THEOREMS[name], Fraction(1, 10)
    width = 1 - epsilon if law.similarity == "2.2" else 1
    s = Fraction(sigma, 1000)
    gamma, eta = 2 * s / (width + s), 1 - Fraction(p, 1000)
    kappa = Fraction(1, 50) if law.needs_rare_attribute else None
    crowd = n * (kappa or 1)
    applied = TheoremCase(name, n, sigma / 1000, 0.1, kappa, bound)
    found = guarantee_for_p(applied, p / 1000)

    def enough(m: int) -> bool:
        if law.needs_rare_attribute and bound == "printed":
            return crowd * gamma**m < eta
        return crowd * gamma ** (m - law.needs_rare_attribute) <= eta

    assert enough(found.m)
    assert found.m == 1 or not enough(found.m - 1)
    assert found.p >= p / 1000
    missed = missed_share(applied, found.m)
    if 1e-12 < missed < 1:
        assert guarantee_for_p(applied, found.p).m == found.m
        assert missed == pytest.approx(1 - found.p, rel=1e-3)


@pytest.mark.parametrize("base", [2, 3, 5, 6, 7, 10, 12])
def test_a_whole_limit_is_not_rounded_up(base: int) -> None:
    """n/(1−p) = base^k and γ = 1/base: L is k, of which floating point makes k and a little more now and then."""
    for k in range(1, 15):
        sigma = Fraction(1, 2 * base - 1)  # 2σ/(1+σ) = 1/base
        assert guarantee_for_p(TheoremCase("4(1)", base**k, sigma), 0).m == k
        assert guarantee_for_p(TheoremCase("9", base**k, sigma, kappa=1), 0).m == k + 1
        assert guarantee_for_p(TheoremCase("9", base**k, sigma, kappa=1, bound="printed"), 0).m == k + 1
    assert all(guarantee_for_p(TheoremCase("4(1)", 10**k, Fraction(1, 19)), 0.9).m == k + 1 for k in range(1, 30))
    assert math.ceil(math.log(125) / math.log(5)) == 4, "this is what a plain logarithm does"


def test_very_many_attributes_and_very_small_probabilities() -> None:
    assert guarantee_for_m(TheoremCase("4(1)", 100, 0.1), 5000).p == math.nextafter(1, 0)
    assert missed_share(TheoremCase("4(1)", 100, 0.1), 100) == pytest.approx(100 * (0.2 / 1.1) ** 100, rel=1e-12)
    limit = math.log(10**8) / math.log1p(1e-6 / 1.999998)
    assert guarantee_for_p(TheoremCase("4(1)", 10**6, 0.999999), 0.99).m == math.ceil(limit) == 36_841_334
    assert guarantee_for_m(TheoremCase("4(1)", 10, 0.9), 1).p == 0
    assert guarantee_for_m(TheoremCase("4(1)", 10, 0), 1).p == 1
    assert guarantee_for_m(TheoremCase("9", 10, 0, kappa=0.5), 1).p == 0


# ---- the best σ ------------------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=30),
    st.integers(2, 10**5),
    st.integers(1, 40),
    st.sampled_from(["8(a)", "8(b)", "8(c)", "8(a), long tail", "8(b), long tail", "10"]),
)
def test_the_best_sigma_is_found(twelfths: list[int], n: int, m: int, name: str) -> None:
    law, epsilon = THEOREMS[name], 0.25
    kappa = 0.125 if law.needs_rare_attribute else None
    nearest = np.array(twelfths) / 12
    options: dict[str, Any] = {"theorem": name, "epsilon": epsilon, "kappa": kappa}
    best = best_bound(n, m, sparsity_steps(nearest), **options)
    width = 0.75 if law.similarity == "2.2" else 1.0
    tried = [
        guarantee_for_m(TheoremCase(name, n, s, epsilon, kappa), m, float((nearest >= s).mean())).p
        for s in np.linspace(0, width, 200, endpoint=False)[1:].tolist()
    ]
    assert best.p >= max(tried) - _ROUNDING
    assert best.p <= max(0, 1 - (nearest > best.applied.sigma).mean()) + _ROUNDING
    least = smallest_m(n, Fraction(best.p), sparsity_steps(nearest), **options)
    assert least is not None
    assert least.m <= m
    assert least.p >= best.p
    assert least.m == 1 or best_bound(n, least.m - 1, sparsity_steps(nearest), **options).p < best.p


def test_no_number_of_attributes_is_enough_where_half_have_a_double() -> None:
    nearest = [1.0, 1.0, 0.2, 0.2]
    assert smallest_m(4, 0.6, sparsity_steps(nearest)) is None
    found = smallest_m(4, 0.4, sparsity_steps(nearest))
    assert found is not None
    assert found.applied.sigma == 0.2
    assert found.p < 0.5
    with pytest.raises(UnveilError, match="no number of attributes"):
        guarantee_for_p(TheoremCase("8(a)", 4, 0.2), 0.5, 0.5)


def test_an_upper_limit_of_f_takes_its_confidence_along() -> None:
    found = best_bound(8619, 100, ([0.7, 0.8], [0.18, 0.00746]), confidence=0.95)
    assert found.p < 1 - 0.00746
    assert found.confidence == 0.95
    assert "with a confidence of 95%" in found.sentence


# ---- hypotheses ------------------------------------------------------------------------------------------------------


def kinds(guarantee: Any) -> dict[str, bool | None]:
    return {h.kind: h.holds for h in guarantee.hypotheses}


def test_every_theorem_says_what_it_needs() -> None:
    assert THEOREMS["4(1)"].needs == ("pseudometric", "similar values", "enough attributes")
    assert THEOREMS["8(b), long tail"].needs == (
        "pseudometric", "similar values", "sigma below limit", "enough attributes", "sparse", "tail"
    )  # fmt: skip
    assert THEOREMS["6"].needs == ("same support", "enough attributes")
    for name, law in THEOREMS.items():
        found = guarantee_for_m(TheoremCase(name, 100, 0.2, kappa=0.1 if law.needs_rare_attribute else None), 5)
        assert tuple(kinds(found)) == law.needs
        assert is_proven(found) is None
        assert found.sentence.startswith("An attacker who knows 5 ") and f"Theorem {name}" in found.sentence


def test_hypotheses_on_the_counterexamples() -> None:
    """What Theorem 1 left out is what fails: the triangle inequality in case 1, the width of the errors in case 2."""
    first = counterexample_1()
    found = check_hypotheses(guarantee_for_m(TheoremCase("4(1)", 6, 0.1), 3), first.records, first.auxiliary)
    assert kinds(found) == {"pseudometric": False, "similar values": True, "enough attributes": True}
    assert (
        found.sentence
        == "Theorem 4(1) does not apply here. It requires that 1 − sim satisfies the triangle inequality."
    )
    second = counterexample_2()
    wide = check_hypotheses(guarantee_for_m(TheoremCase("4(2)", 4, 0.4, 0.5), 3), second.records, second.auxiliary)
    assert is_proven(wide)
    narrow = check_hypotheses(guarantee_for_m(TheoremCase("4(2)", 4, 0.4, 0.25), 3), second.records, second.auxiliary)
    assert kinds(narrow) == {
        "pseudometric": True,
        "similar values": False,
        "sigma below limit": True,
        "enough attributes": True,
    }
    third = counterexample_3()
    assert is_proven(check_hypotheses(guarantee_for_m(TheoremCase("4(2)", 6, 0.1), 4), third.records, third.auxiliary))
    assert (
        kinds(check_hypotheses(guarantee_for_m(TheoremCase("4(2)", 6, 0.1), 5), third.records, third.auxiliary))[
            "enough attributes"
        ]
        is False
    )


def test_without_errors_the_triangle_inequality_is_not_needed() -> None:
    """With D′ = D, Â asks for what Sim counts; property-checked above for pseudometrics, here for one that is none."""
    rows = [[1, 2, 3, 1], [2, 3, 3, 1], [3, 1, 9, None], [9, 9, 9, 2]]
    records = made(rows, within_distance(1))
    bound = guarantee_for_m(TheoremCase("4(1)", 4, 0.1), 3)
    assert is_proven(check_hypotheses(bound, records, records))
    assert kinds(check_hypotheses(bound, records))["pseudometric"] is False
    apart = made([[1, 2, 10, 11]] * 4, within_distance(1))
    assert kinds(check_hypotheses(bound, apart))["pseudometric"] is None, "D′ may have values between"
    assert kinds(check_hypotheses(bound, apart, made([[1, 2, 10, 11]] * 4, within_distance(1))))["pseudometric"] is True


def test_checks_of_support_sparsity_and_tail() -> None:
    small = two_with_a_rare_one(0, 4, 2)
    records, rare = small.records(), np.arange(9) == 0
    known = made([[2 if v else None for v in row] for row in small.rows], any_value())
    other = made([[1] * 9 for _ in small.rows], any_value())
    nearest = [float(x) for x in nearest_of(small, "2.3")]
    n = records.n
    bound = guarantee_for_m(TheoremCase("10", n, 0.25, 0, Fraction(2, n)), 2)
    expected = {"same support": True, "enough attributes": True, "sparse": False, "tail": True}
    assert kinds(check_hypotheses(bound, records, known, nearest, rare)) == {**expected, "sparse": True}
    assert kinds(check_hypotheses(bound, records, other, [1.0] * n, rare)) == {**expected, "same support": False}
    assert kinds(check_hypotheses(bound, records)) == {
        "same support": None,
        "enough attributes": True,
        "sparse": None,
        "tail": None,
    }
    few = guarantee_for_m(TheoremCase("10", n, 0.25, 0, Fraction(1, n)), 2)
    assert kinds(check_hypotheses(few, records, known, nearest, rare))["tail"] is False
    assert (
        kinds(check_hypotheses(guarantee_for_m(bound.applied, 6), records, known, nearest, rare))["enough attributes"]
        is False
    )
    with pytest.raises(UnveilError, match="applied to"):
        check_hypotheses(bound, records.select([0, 1]))
    with pytest.raises(UnveilError, match="same records"):
        check_hypotheses(bound, records, known.select([0, 1]))
    with pytest.raises(UnveilError, match="truth value"):
        check_hypotheses(bound, records, rare=[0])
    with pytest.raises(UnveilError, match="no record has a rare"):
        mean_kappa(records, np.zeros(9, np.bool_))


def test_values_of_two_databases_are_compared() -> None:
    assert value_similarities(equal_values(), pa.array(["a", "b"]), pa.array(["b", "c"])).tolist() == [[0, 0], [1, 0]]
    assert value_similarities(linear_similarity(4), pa.array([1, 2]), pa.array([1.5])).tolist() == [[0.875], [0.875]]
    with pytest.raises(UnveilError, match="another type"):
        value_similarities(equal_values(), pa.array([1]), pa.array(["x"]))
    rows = [[k, None] for k in range(300)]
    shifted = [[k + 1, None] for k in range(300)]
    records, known = made(rows, linear_similarity(10)), made(shifted, linear_similarity(10))
    assert (
        kinds(check_hypotheses(guarantee_for_m(TheoremCase("4(1)", 300, 0.1, 0.2), 1), records, known))[
            "similar values"
        ]
        is True
    )
    assert (
        kinds(check_hypotheses(guarantee_for_m(TheoremCase("4(1)", 300, 0.1, 0.19), 1), records, known))[
            "similar values"
        ]
        is False
    )


# ---- the counterexamples ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adversary", ["Scoreboard", "Â"])
@pytest.mark.parametrize("n", [2, 4, 8])
def test_cases_1_and_2_are_not_cured(adversary: Literal["Scoreboard", "Â"], n: int) -> None:
    for case in (counterexample_1(n, 8), counterexample_2(n, theorem_1_claim(n, 0.25, 0.125).m + 1)):
        said, happens = case.claim, case.success(adversary)
        assert happens.similar == happens.found == 0.5 < said.p
        assert said.m <= case.records.c
        for m in (1, 2, 3):
            assert case.success(adversary, m) == happens
    second = counterexample_2(n, 6)
    assert success_by_definition(second.records, second.auxiliary, adversary, 2, 0.75, 0.5).similar == 1


@pytest.mark.parametrize(("n", "c", "short"), [(2, 16, 3), (4, 21, 4), (6, 21, 4)])
def test_case_3_is_cured(n: int, c: int, short: int) -> None:
    """With q = C(short, m)/C(c, m), the probability that a long record looks short: .75 − q/4 and 1 − q/2."""
    case = counterexample_3(n, c, short)
    said = case.claim
    q = math.comb(short, said.m) / math.comb(c, said.m)
    assert short / c < said.sigma
    assert case.success("Scoreboard").similar == pytest.approx(0.75 - q / 4)
    assert case.success("Scoreboard").similar < said.p
    assert case.success("Â").similar == pytest.approx(1 - q / 2)
    assert case.success("Â").similar > said.p


# ---- at the border ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: TheoremCase("5", 10, 0.5),
        lambda: TheoremCase("4(1)", 0, 0.5),
        lambda: TheoremCase("4(1)", 10, 1),
        lambda: TheoremCase("4(1)", 10, float("nan")),
        lambda: TheoremCase("4(2)", 10, 0.5, 0.5),
        lambda: TheoremCase("4(1)", 10, 0.5, 1),
        lambda: TheoremCase("4(1)", 10, 0.5, kappa=0.1),
        lambda: TheoremCase("9", 10, 0.5),
        lambda: TheoremCase("9", 10, 0.5, kappa=0),
        lambda: TheoremCase("9", 10, 0.5, kappa=0.1, bound="loose"),  # type: ignore[arg-type]
        lambda: TheoremCase("4(1)", 10, 0.5).limit(0),
        lambda: missed_share(TheoremCase("4(1)", 10, 0.5), 0),
        lambda: guarantee_for_m(TheoremCase("4(1)", 10, 0.5), 3, 0.1),
        lambda: guarantee_for_m(TheoremCase("8(a)", 10, 0.5), 3, 1.1),
        lambda: guarantee_for_p(TheoremCase("4(1)", 10, 0.5), 1),
        lambda: guarantee_for_p(TheoremCase("4(1)", 10, 0.5), -0.1),
        lambda: sparsity_steps([]),
        lambda: sparsity_steps([1.5]),
        lambda: best_bound(10, 3, ([0.1, 0.2], [0.5])),
        lambda: best_bound(10, 3, ([0.1], [1.5])),
        lambda: union_bound([3], [2], 4, 1),
        lambda: union_bound([1], [2, 3], 4, 1),
        lambda: union_bound([1], [2], 4, 5),
        lambda: uniform_values_bound(10, 1, 2),
        lambda: theorem_1_claim(10, 0, 0.5),
        lambda: counterexample_1(3),
        lambda: success_by_definition(counterexample_3().records, counterexample_3().auxiliary, "Â", 5, 0.8, 0.2),
        lambda: success_by_definition(
            counterexample_2(4, 40).records, counterexample_2(4, 40).auxiliary, "Â", 20, 0.75, 0.5
        ),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(UnveilError):
        wrong()


def test_union_bounds_of_some_records() -> None:
    assert union_bound([2, 0], [2, 1], 3, 2) == pytest.approx(2 / 3)
    assert union_bound([2, 0], [3, 1], 2, 2) == union_bound([2, 0], [3, 1], 2, 1) == 1
    assert union_bound([2], [2], 2, 1) == 0
    assert union_bound([2], [2], 2, 1, ties="random") == 0.5
    assert union_bound([2] * 3, [2] * 3, 2, 1, ties="random") == 0.25, "three doubles, by Jensen's inequality"
    assert union_bound([], [], 2, 1) == 1


def test_sentences() -> None:
    found = guarantee_for_p(TheoremCase("4(1)", 10**6, 0.35), 0.99)
    assert found.sentence == (
        "An attacker who knows 29 random attributes of a random record finds, among 1,000,000 records and with "
        "probability 99.46% or more, one that agrees with it on more than 35% of the attributes that either has "
        "(Theorem 4(1)). This requires, unchecked, that 1 − sim satisfies the triangle inequality; what the attacker "
        "knows is 100% similar to the truth; all records have at least 29 attributes."
    )
    assert (found.adversary, found.similarity) == ("Â", "2.1")
    own = guarantee_for_p(TheoremCase("8(b)", 480_000, 0.25), 0.84, 0.08).sentence
    assert "random record finds it among 480,000 records with probability 88.7% or more" in own
    nothing = guarantee_for_m(TheoremCase("10", 100, 0.9, kappa=0.5), 2)
    assert nothing.sentence.endswith("Theorem 10 guarantees nothing.")
    printed = guarantee_for_m(TheoremCase("10", 100, 0.1, kappa=0.02, bound="printed"), 2)
    assert "as printed, which is not proven" in printed.sentence


def test_small_facts() -> None:
    assert learned_values(160, 0.35) == 56 and learned_values(161, 0.35) == 57
    assert doubling_width(10**6, 0.99, 0.35)[1] == 166
    assert halving_kappa(480_000, 0.99) == pytest.approx(1.4434e-4, abs=5e-9)
