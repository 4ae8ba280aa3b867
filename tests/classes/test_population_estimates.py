"""Population estimates: against populations that are known, against other derivations, and where they must not break.

Seeds are fixed: a test that passes once passes always. Comparisons with the truth of drawn populations allow three
standard errors of the mean error over the repetitions (a false alarm in 0.3% of seeds) and 3% of the truth.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import hypergeom, nbinom

from unveil.arrays import Ints
from unveil.class_sizes import ClassSizes
from unveil.classes import ask_population
from unveil.classes.attacker import Subjects
from unveil.classes.known_population import PopulationMatches, summarise_matches
from unveil.classes.population_estimates import (
    ClassSample,
    PopulationBounds,
    PopulationEstimate,
    dankar_estimate,
    fit_pitman,
    fit_snb,
    harmonic_sums,
    log_rising_factorials,
    pitman_estimate,
    population_bounds,
    snb_estimate,
    zayatz_estimate,
)
from unveil.errors import UnveilError


def compare_with_population(sample: npt.ArrayLike, population: npt.ArrayLike) -> PopulationMatches:
    """Match classes with these numbers of rows and people; nobody fits two classes."""
    inside, everybody = np.asarray(sample, np.int64), np.asarray(population, np.int64)
    each = np.arange(len(inside) + 1)
    return summarise_matches(inside, everybody, each, each[:-1], everybody)


METHODS: dict[str, Callable[[ClassSample], PopulationEstimate]] = {
    "Pitman": pitman_estimate,
    "Zayatz": zayatz_estimate,
    "SNB": snb_estimate,
    "Dankar": dankar_estimate,
}
MODELS = (pitman_estimate, zayatz_estimate, snb_estimate)


# --- populations ------------------------------------------------------------------------------------------------------


def pitman_classes(rng: np.random.Generator, people: int, alpha: float, theta: float) -> Ints:
    """Pitman's process, one person at a time: a new class, or the class of an earlier person."""
    where = np.zeros(people, np.int64)
    first: list[int] = []
    for i, luck in enumerate(rng.random(people).tolist()):
        if luck * (theta + i) < theta + alpha * len(first):
            where[i] = len(first)
            first.append(i)
            continue
        while True:  # a class of j in proportion to j − α: its founder is passed over with probability α
            like = int(rng.integers(i))
            if like != first[where[like]] or rng.random() >= alpha:
                break
        where[i] = where[like]
    return np.bincount(where)


def spread_classes(rng: np.random.Generator, people: int, weights: npt.NDArray[np.float64]) -> Ints:
    found = rng.multinomial(people, weights / weights.sum())
    return found[found > 0]


Make = Callable[[np.random.Generator, int], Ints]
POPULATIONS: dict[str, Make] = {
    "Pitman .5, 100": lambda rng, people: pitman_classes(rng, people, 0.5, 100),
    "Pitman .2, 1000": lambda rng, people: pitman_classes(rng, people, 0.2, 1000),
    "negative binomial .5": lambda rng, people: 1 + rng.negative_binomial(0.5, 0.5 / 3.5, people // 4),
    "negative binomial 2": lambda rng, people: 1 + rng.negative_binomial(2, 2 / 6, people // 5),
    "uniform": lambda rng, people: spread_classes(rng, people, np.ones(people * 2 // 3)),
    "Zipf": lambda rng, people: spread_classes(rng, people, 1 / np.arange(1.0, people * 2 // 3)),
    "lognormal 1.5": lambda rng, people: spread_classes(rng, people, rng.lognormal(0, 1.5, people * 2 // 3)),
    "lognormal 3": lambda rng, people: spread_classes(rng, people, rng.lognormal(0, 3, people * 2 // 3)),
}


def draw_sample(rng: np.random.Generator, population: Ints, fraction: float) -> Ints:
    rows: Ints = rng.multivariate_hypergeometric(population, round(fraction * int(population.sum())))
    return rows


def make_sample(rows: Ints, population: int) -> ClassSample:
    size, classes = np.unique(rows[rows > 0], return_counts=True)
    return ClassSample.from_counts(size, classes, population=population)


def estimates_and_truths(name: str, fraction: float, method: str) -> npt.NDArray[np.float64]:
    """Eight draws of (uniques estimated, true, risk estimated, true)."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng([seed, 1])
        population = POPULATIONS[name](rng, 20_000)
        rows = draw_sample(rng, population, fraction)
        told, known = (
            METHODS[method](make_sample(rows, int(population.sum()))),
            compare_with_population(rows, population),
        )
        found.append((told.uniques, known.uniques, told.risk, known.average_risk))
    return np.array(found)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.6])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("Pitman .5, 100", "Pitman"),
        ("Pitman .2, 1000", "Pitman"),
        ("negative binomial .5", "SNB"),
        ("negative binomial 2", "SNB"),
        ("uniform", "SNB"),  # the largest shape: Poisson's distribution
    ],
)
def test_a_model_that_is_right_is_near_the_truth(name: str, method: str, fraction: float) -> None:
    found = estimates_and_truths(name, fraction, method)
    for told, true in (found[:, :2].T, found[:, 2:].T):
        error = told - true
        assert abs(error.mean()) <= 3 * error.std(ddof=1) / math.sqrt(8) + 0.03 * true.mean()
    assert abs(found[:, 2] / found[:, 3] - 1).max() < (0.5 if fraction < 0.3 else 0.05)  # the worst of the eight


@pytest.mark.parametrize(
    ("name", "fraction", "method", "low", "high"),
    [
        ("Zipf", 0.1, "Pitman", 1.3, 1.7),
        ("Zipf", 0.6, "Pitman", 1.0, 1.2),
        ("lognormal 1.5", 0.1, "Pitman", 1.3, 1.8),
        ("lognormal 3", 0.1, "Pitman", 1.2, 1.7),
        ("lognormal 1.5", 0.1, "SNB", 1.6, 2.4),
        ("lognormal 3", 0.1, "SNB", 2.0, 3.0),
        ("lognormal 1.5", 0.1, "Zayatz", 2.0, 3.0),
        ("lognormal 1.5", 0.6, "Zayatz", 1.0, 1.15),
        ("lognormal 3", 0.6, "Zayatz", 0.95, 1.1),
        ("Zipf", 0.6, "Zayatz", 0.98, 1.1),
        ("Pitman .5, 100", 0.6, "Zayatz", 0.95, 1.05),
        ("uniform", 0.1, "Zayatz", 2.5, 4.5),
        ("lognormal 1.5", 0.3, "Dankar", 1.2, 1.6),
    ],
)
def test_a_model_that_is_wrong_errs_by_so_much(
    name: str, fraction: float, method: str, low: float, high: float
) -> None:
    """Not a promise but a record of how far the assumption holds: mean estimate over mean truth."""
    told, true, risk, average = estimates_and_truths(name, fraction, method).mean(0)
    assert low <= told / true <= high
    assert 0.98 <= risk / average <= 2


def test_why_the_models_have_no_interval() -> None:
    """Lognormal classes, 10% sampled: Pitman's estimate varies little from sample to sample, always on one side."""
    rng = np.random.default_rng(8)
    population = POPULATIONS["lognormal 1.5"](rng, 20_000)
    off = []
    for _ in range(12):
        rows = draw_sample(rng, population, 0.1)
        off.append(
            pitman_estimate(make_sample(rows, 20_000)).uniques - compare_with_population(rows, population).uniques
        )
    assert np.mean(off) > 3 * np.std(off)
    assert min(off) > 0


# --- the same by other derivations ------------------------------------------------------------------------------------


def likelihood_of_pitman(size: Ints, classes: Ints, alpha: float, theta: float) -> float:
    """Hoshino's likelihood, factor by factor."""
    u, n = int(classes.sum()), int(classes @ size)
    found = math.fsum(math.log(theta + i * alpha) for i in range(1, u))
    found -= math.fsum(math.log(theta + i) for i in range(1, n))
    for j, f in zip(size.tolist(), classes.tolist(), strict=True):
        found += f * math.fsum(math.log(i - alpha) for i in range(1, j))
    return found


def likelihood_of_snb(size: Ints, classes: Ints, shape: float, mean: float, pi: float) -> float:
    """By summing over every size that a class of the population may have."""
    population = np.arange(1, 3000)
    chance = nbinom.pmf(population - 1, shape, shape / (shape + mean))
    unseen = chance @ (1 - pi) ** population
    seen = [chance[j - 1 :] @ _binomials(population[j - 1 :], j, pi) for j in size.tolist()]
    with np.errstate(divide="ignore"):
        return float(classes @ np.log(seen) - classes.sum() * np.log1p(-unseen))


def _binomials(n: Ints, j: int, pi: float) -> npt.NDArray[np.float64]:
    ways = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return np.exp(ways + j * math.log(pi) + (n - j) * math.log1p(-pi))


def small_samples(number: int) -> Iterator[tuple[Ints, Ints]]:
    rng = np.random.default_rng(3)
    for _ in range(number):
        kinds = int(rng.integers(2, 5))
        yield np.sort(rng.choice(np.arange(1, 9), kinds, replace=False)), rng.integers(1, 9, kinds)


def test_no_point_of_a_grid_is_more_likely_under_pitman() -> None:
    for size, classes in small_samples(40):
        alpha, theta, converged = fit_pitman(ClassSample.from_counts(size, classes, fraction=0.1))
        best = likelihood_of_pitman(size, classes, alpha, theta)
        grid = itertools.product(np.linspace(0, 0.98, 22).tolist(), np.exp(np.linspace(-5, 9, 30)).tolist())
        assert converged
        assert max(likelihood_of_pitman(size, classes, a, x - a) for a, x in grid) <= best + 1e-9


def test_no_point_of_a_grid_is_more_likely_under_snb() -> None:
    for (size, classes), pi in zip(small_samples(6), (0.1, 0.3, 0.7, 0.1, 0.3, 0.7), strict=True):
        sample = ClassSample.from_counts(size, classes, fraction=pi)
        (shape, mean), _ = fit_snb(sample)
        best = likelihood_of_snb(size, classes, shape, mean / sample.fraction, sample.fraction)
        grid = itertools.product(np.exp(np.linspace(-4, 6, 9)).tolist(), np.exp(np.linspace(-3, 5, 11)).tolist())
        assert max(likelihood_of_snb(size, classes, a, m, sample.fraction) for a, m in grid) <= best + 1e-6


@pytest.mark.parametrize("classes", [[30, 12, 6, 2], [5, 5, 5, 9], [60, 1, 0, 0]])
def test_what_pitman_expects_step_by_step(classes: list[int]) -> None:
    """Adds one row at a time, starting from the sample, and from nothing for Hoshino's expectation."""
    sample = ClassSample.from_counts([1, 2, 3, 7], classes, population=1500)
    alpha, theta, _ = fit_pitman(sample)
    stays, different = 1.0, float(sample.class_count)
    for i in range(sample.rows, 1500):
        stays *= 1 - (1 - alpha) / (theta + i)
        different += (theta + alpha * different) / (theta + i)
    unique, everything = 1.0, 1.0
    for i in range(1, 1500):
        new = (theta + alpha * everything) / (theta + i)
        unique, everything = unique + new - unique * (1 - alpha) / (theta + i), everything + new
    found = pitman_estimate(sample)
    assert found.uniques == pytest.approx(sample.uniques * stays, rel=1e-9)
    assert found.population_uniques == pytest.approx(unique, rel=1e-9)
    assert found.risk == pytest.approx(different / 1500, rel=1e-9)


def test_hoshinos_approximation_for_large_populations() -> None:
    sample = ClassSample.from_counts([1, 2, 3, 7], [300, 120, 60, 20], population=10**9)
    alpha, theta, _ = fit_pitman(sample)
    about = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * 1e9**alpha
    assert pitman_estimate(sample).population_uniques == pytest.approx(about, rel=1e-5)


def test_zayatz_by_the_hypergeometric_distribution() -> None:
    size, classes = np.array([1, 2, 3, 8]), np.array([40, 15, 5, 2])
    sample = ClassSample.from_counts(size, classes, population=400)
    share = classes / classes.sum()
    one = hypergeom.pmf(1, 400, size, sample.rows)
    seen = 1 - share @ hypergeom.pmf(0, 400, size, sample.rows)
    found = zayatz_estimate(sample)
    stays = share[0] * one[0] / (share @ one)
    assert found.uniques == pytest.approx(40 * stays)
    assert found.population_uniques == pytest.approx(40 * stays * 400 / sample.rows)
    assert found.risk == pytest.approx(classes.sum() / seen / 400)


def test_snb_by_bayes_rule_over_every_size() -> None:
    sample = ClassSample.from_counts([1, 2, 3, 5], [200, 80, 30, 10], fraction=0.2)
    (shape, mean), _ = fit_snb(sample)
    sizes = np.arange(1, 3000)
    chance = nbinom.pmf(sizes - 1, shape, shape / (shape + mean / 0.2))
    one = chance * sizes * 0.2 * 0.8 ** (sizes - 1)
    seen = 1 - chance @ 0.8**sizes
    found = snb_estimate(sample)
    assert found.uniques == pytest.approx(200 * one[0] / one.sum())
    assert found.population_uniques == pytest.approx(320 / seen * chance[0])
    assert found.risk == pytest.approx(320 / seen / sample.population)


@pytest.mark.parametrize("x", [0.3, 7.5, 999.0, 1001.0, 1e6, 1e15])
@pytest.mark.parametrize("m", [1, 40, 1000])
def test_differences_of_gamma_functions_keep_their_digits(x: float, m: int) -> None:
    steps = [x + i for i in range(m)]
    assert log_rising_factorials(np.array([x]), np.array([float(m)]))[0] == pytest.approx(
        math.fsum(map(math.log, steps)), rel=1e-12
    )
    assert harmonic_sums(x, np.array([float(m)]))[0] == pytest.approx(math.fsum(1 / s for s in steps), rel=1e-10)


# --- the decision rule ------------------------------------------------------------------------------------------------


def test_the_rule_takes_pitman_up_to_a_tenth_and_the_lower_of_the_others_above() -> None:
    size, classes = [1, 2, 3, 5], [200, 80, 30, 10]
    few, many = (
        ClassSample.from_counts(size, classes, fraction=0.1),
        ClassSample.from_counts(size, classes, fraction=0.11),
    )
    assert dankar_estimate(few).method == "Dankar: Pitman"
    assert dankar_estimate(few).uniques == pitman_estimate(few).uniques
    lower = min((zayatz_estimate(many), snb_estimate(many)), key=lambda e: e.population_uniques)
    assert dankar_estimate(many).method == f"Dankar: {lower.method}"
    assert dankar_estimate(many).population_uniques == lower.population_uniques


def test_the_rule_takes_zayatz_where_pitman_has_no_fit() -> None:
    assert dankar_estimate(ClassSample.from_counts([1], [50], fraction=0.01)).method == "Dankar: Zayatz"


# --- bounds that assume nothing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("members", [1, 2, 3, 6])
@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_the_identity_behind_the_bounds(members: int, r: int) -> None:
    """For a class of F: E G(G−1)…(G−r+1) 1{f = 1} = (r+1)! λ^r P(f = r+1)."""
    pi, others = 0.3, members - 1
    alone = members * pi * (1 - pi) ** others
    more = math.comb(members, r + 1) * pi ** (r + 1) * (1 - pi) ** (members - r - 1) if members > r else 0.0
    assert alone * math.perm(others, r) == pytest.approx(math.factorial(r + 1) * ((1 - pi) / pi) ** r * more)


HARD: dict[str, Make] = {
    **POPULATIONS,
    "ones and twos": lambda rng, people: np.repeat([1, 2], people // 3),
    "ones and fours": lambda rng, people: np.repeat([1, 4], people // 5),
    "ones and fifties": lambda rng, people: np.repeat([1, 50], [people // 3, people // 75]),
}


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.3, 0.6])
def test_bounds_cover(fraction: float) -> None:
    """300 samples of each population: how often an interval with 95% confidence holds the truth (-s prints it).

    The standard error of a measured 95% is 1.3%.
    """
    for name, make in HARD.items():
        rng = np.random.default_rng([17, round(100 * fraction)])
        population = make(rng, 6000)
        uniques = match = 0
        for _ in range(300):
            rows = draw_sample(rng, population, fraction)
            known, found = (
                compare_with_population(rows, population),
                population_bounds(make_sample(rows, int(population.sum()))),
            )
            truth = known.sample_uniques / int(population[rows == 1].sum())
            uniques += found.uniques[0] <= known.uniques <= found.uniques[1]
            match += found.match_interval[0] <= truth + 1e-12 and truth <= found.match_interval[1] + 1e-12
        print(f"{fraction:5} {name:22} uniques {uniques / 300:.3f} match {match / 300:.3f}")
        assert uniques / 300 >= 0.95
        assert match / 300 >= 0.92


def test_bounds_narrow_with_the_fraction_and_widen_with_the_confidence() -> None:
    size, classes = [1, 2, 3, 4, 5], [400, 90, 30, 12, 5]
    widths = [
        np.diff(population_bounds(ClassSample.from_counts(size, classes, fraction=f)).uniques)[0]
        for f in (0.1, 0.4, 0.8, 1.0)
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 0
    sample = ClassSample.from_counts(size, classes, fraction=0.8)
    sure, less = population_bounds(sample, 0.999), population_bounds(sample, 0.8)
    assert sure.uniques[0] < less.uniques[0] < less.uniques[1] < sure.uniques[1]
    assert sure.match_interval[0] < less.match_interval[0] < less.match < less.match_interval[1]
    with pytest.raises(UnveilError, match="confidence"):
        population_bounds(sample, 1.0)


# --- a known population -----------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.booleans()), min_size=1, max_size=40))
def test_a_known_population_row_by_row(table: list[tuple[str, str, bool]]) -> None:
    people = [row[:2] for row in table]
    sample = [row[:2] for row in table if row[2]]
    classes = sorted(set(people), reverse=True)
    if not sample:
        with pytest.raises(UnveilError, match="nobody in the population"):
            compare_with_population([sample.count(c) for c in classes], [people.count(c) for c in classes])
        return
    found = compare_with_population([sample.count(c) for c in classes], [people.count(c) for c in classes])
    risks = [1 / sum(other == row for other in people) for row in sample]
    alone = [row for row in sample if sample.count(row) == 1]
    presence = [sum(r == row for r in sample) / sum(r == row for r in people) for row in people]
    assert found.sample_uniques == len(alone)
    assert found.uniques == sum(people.count(row) == 1 for row in alone)
    assert found.share == (sum(people.count(row) == 1 for row in alone) / len(alone) if alone else 0)
    assert 1 / found.k_map == max(risks)
    assert found.average_risk == pytest.approx(sum(risks) / len(risks))
    assert found.k_map == min(people.count(row) for row in sample)
    assert found.presence == (min(presence), max(presence))
    histogram = Counter(people.count(row) for row in sample)
    assert dict(zip(found.class_sizes.size.tolist(), found.class_sizes.subjects.tolist(), strict=True)) == dict(
        histogram
    )


def test_the_order_of_classes_changes_no_bit() -> None:
    rng = np.random.default_rng(1)
    population = rng.integers(1, 60, 5000)
    rows = rng.binomial(population, 0.3)
    order = rng.permutation(5000)
    assert (
        compare_with_population(rows, population).average_risk
        == compare_with_population(rows[order], population[order]).average_risk
    )


def test_the_average_over_samples_is_classes_over_people() -> None:
    """The identity that turns a number of classes into a risk: E Σ f/F = πK."""
    rng = np.random.default_rng(4)
    population = rng.integers(1, 12, 400)
    averages = [compare_with_population(draw_sample(rng, population, 0.2), population).average_risk for _ in range(300)]
    assert np.mean(averages) == pytest.approx(400 / population.sum(), rel=0.01)


# --- where it must not break ------------------------------------------------------------------------------------------


def is_possible(found: PopulationEstimate, sample: ClassSample) -> bool:
    return (
        0 <= found.uniques <= sample.uniques
        and 0 <= found.population_uniques <= sample.population
        and sample.class_count / sample.population * (1 - 1e-12) <= found.risk
        and found.risk <= sample.class_count / sample.rows
    )


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(1, 12) | st.integers(1, 10**6), st.integers(1, 9) | st.integers(1, 10**9), min_size=1),
    st.sampled_from([1e-12, 1e-3, 0.1, 0.5, 0.999, 1.0]),
)
def test_every_sample_has_an_answer_that_is_possible(histogram: dict[int, int], fraction: float) -> None:
    sample = ClassSample.from_counts(list(histogram), list(histogram.values()), fraction=fraction)
    for method in MODELS:
        assert is_possible(method(sample), sample)
    low, high = population_bounds(sample).uniques
    assert 0 <= low <= high <= sample.uniques


@pytest.mark.parametrize("method", MODELS)
def test_all_rows_unique(method: Callable[[ClassSample], PopulationEstimate]) -> None:
    """No row suggests a double, so all stay unique; only Zayatz, which needs no fit, converges."""
    found = method(ClassSample.from_counts([1], [50], population=1000))
    assert (found.uniques, found.population_uniques, found.risk, found.interval) == (50, 1000, 1, None)
    assert found.converged is (method is zayatz_estimate)


@pytest.mark.parametrize("method", MODELS)
def test_no_row_unique(method: Callable[[ClassSample], PopulationEstimate]) -> None:
    found = method(ClassSample.from_counts([3, 5], [40, 10], fraction=0.2))
    assert (found.uniques, found.interval) == (0, (0, 0))
    assert 50 / 850 <= found.risk <= 50 / 170


@pytest.mark.parametrize("method", MODELS)
def test_one_class(method: Callable[[ClassSample], PopulationEstimate]) -> None:
    found = method(ClassSample.from_counts([200], [1], fraction=0.1))
    assert found.uniques == 0
    assert found.risk == pytest.approx(1 / 2000, rel=0.01)


@pytest.mark.parametrize("method", MODELS)
def test_everybody_sampled(method: Callable[[ClassSample], PopulationEstimate]) -> None:
    found = method(ClassSample.from_counts([1, 2, 7], [20, 5, 3], fraction=1))
    assert (found.uniques, found.population_uniques, found.risk) == (20, 20, pytest.approx(28 / 51))
    assert (found.interval, found.converged) == ((20, 20), True)


@pytest.mark.parametrize("method", MODELS)
def test_nearly_everybody_sampled(method: Callable[[ClassSample], PopulationEstimate]) -> None:
    found = method(ClassSample.from_counts([1, 2, 7], [2000, 500, 300], population=5101))
    assert found.uniques == pytest.approx(2000, rel=1e-3)
    assert found.risk == pytest.approx(2800 / 5100, rel=1e-3)


def test_one_pair_among_a_thousand_million() -> None:
    sample = ClassSample.from_counts([1, 2], [10**9, 1], fraction=0.3)
    for method in MODELS:
        assert method(sample).uniques == pytest.approx(1e9, rel=1e-6)
        assert method(sample).population_uniques == pytest.approx(1e9 / 0.3, rel=1e-6)


def test_large_counts_behave_like_small_ones() -> None:
    """A thousand million classes, sizes up to 1,000,000: ratios of gamma functions are powers."""
    size = np.unique(np.geomspace(1, 10**6, 300).astype(np.int64))
    many = (1e9 / size.astype(float) ** 2).astype(np.int64) + 1
    sample = ClassSample.from_counts(size, many, fraction=0.05)
    alpha, theta, converged = fit_pitman(sample)
    assert converged
    growth = (theta + sample.population) / (theta + sample.rows)
    assert pitman_estimate(sample).uniques / sample.uniques == pytest.approx(growth ** (alpha - 1), rel=1e-6)
    assert all(is_possible(method(sample), sample) for method in MODELS)


def test_a_sample_from_the_classes_of_a_release() -> None:
    crowds = ClassSizes(np.array([1, 2, 5]), np.array([7, 6, 10]))
    sample = ClassSample.from_class_sizes(crowds, fraction=0.5)
    assert (sample.size.tolist(), sample.classes.tolist(), sample.population) == ([1, 2, 5], [7, 3, 2], 46)
    with pytest.raises(UnveilError, match="a multiple of s"):
        ClassSample.from_class_sizes(ClassSizes(np.array([2]), np.array([3])), fraction=0.5)


def test_sizes_in_any_order_and_empty_ones() -> None:
    sample = ClassSample.from_counts([5, 1, 2, 1, 9], [1, 3, 4, 2, 0], population=100)
    assert (sample.size.tolist(), sample.classes.tolist()) == ([1, 2, 5], [5, 4, 1])
    assert (sample.rows, sample.class_count, sample.uniques, sample.fraction) == (18, 10, 5, 0.18)


@pytest.mark.parametrize(
    ("size", "classes", "given_as", "says"),
    [
        ([1], [1], {}, "either"),
        ([1], [1], {"population": 5, "fraction": 0.2}, "either"),
        ([1, 2], [1], {"fraction": 0.2}, "every class size"),
        ([0], [1], {"fraction": 0.2}, "at least 1"),
        ([1], [-1], {"fraction": 0.2}, "negative"),
        ([1], [0], {"fraction": 0.2}, "has no rows"),
        ([], [], {"fraction": 0.2}, "has no rows"),
        ([1.5], [1], {"fraction": 0.2}, "whole numbers"),
        ([math.nan], [1], {"fraction": 0.2}, "whole numbers"),
        ([1e300], [1], {"fraction": 0.2}, "whole numbers"),
        ([5], [2], {"population": 9}, "cannot have a sample"),
        ([5], [2], {"population": 10.5}, "whole number"),
        ([5], [2], {"fraction": 0.0}, "sampling fraction"),
        ([5], [2], {"fraction": 1.5}, "sampling fraction"),
        ([5], [2], {"fraction": math.nan}, "sampling fraction"),
        ([5], [2], {"fraction": 1e-320}, "sampling fraction"),
    ],
)
def test_impossible_samples(size: list[float], classes: list[float], given_as: dict[str, float], says: str) -> None:
    with pytest.raises(UnveilError, match=says):
        ClassSample.from_counts(size, classes, **given_as)  # type: ignore[arg-type]


# --- Adult as a population --------------------------------------------------------------------------------------------

SETS = {
    3: ("age", "sex", "race"),
    4: ("age", "sex", "race", "marital-status"),
    5: ("age", "sex", "race", "marital-status", "education"),
    6: ("age", "education", "occupation", "relationship", "sex", "native-country"),
    9: (
        *("age", "workclass", "education", "marital-status", "occupation"),
        *("relationship", "race", "sex", "native-country"),
    ),
}


def test_adult_sampled(data: Path) -> None:
    """All 32,561 rows as the population, samples of 10% and 30%: how far off each estimator is (-s prints the table).

    Five samples each, seeds 0 … 4; the table has means.
    """
    adult = pd.read_csv(data / "tables" / "adult.csv", skipinitialspace=True)
    heads = [f"{name:>14}" for name in ("truth", *METHODS)]
    print("\ncolumns  π    unique |", *heads, "| bounds")
    off: dict[tuple[str, float], list[float]] = {}
    for fraction, columns in itertools.product((0.1, 0.3), SETS):
        codes = adult.groupby(list(SETS[columns])).ngroup().to_numpy()
        population = np.bincount(codes)
        means = np.zeros((2, 1 + len(METHODS)))
        ends, alone = np.zeros(2), 0.0
        for seed in range(5):
            rows = draw_sample(np.random.default_rng(seed), population, fraction)
            known, sample = compare_with_population(rows, population), make_sample(rows, len(adult))
            found = [method(sample) for method in METHODS.values()]
            means[0] += np.array([known.uniques, *(f.uniques for f in found)]) / 5
            means[1] += np.array([known.average_risk, *(f.risk for f in found)]) / 5
            ends += np.array(population_bounds(sample).uniques) / 5
            alone += known.sample_uniques / 5
            assert population_bounds(sample).uniques[0] <= known.uniques <= population_bounds(sample).uniques[1]
        cells = [f"{u:7.0f} {r:6.3f}" for u, r in means.T]
        print(f"{columns:7} {fraction:3} {alone:7.0f}  |", *cells, f"| {ends[0]:.0f} … {ends[1]:.0f}")
        for name, risk in zip(METHODS, means[1, 1:], strict=True):
            off.setdefault((name, fraction), []).append(float(risk / means[1, 0] - 1))
    assert max(map(abs, off["Pitman", 0.1])) < 0.15
    assert max(map(abs, off["Pitman", 0.3])) < 0.1
    assert max(map(abs, off["SNB", 0.1])) < 0.6
    assert max(map(abs, off["SNB", 0.3])) < 0.2
    assert min(off["Zayatz", 0.1]) > 0.2
    assert max(map(abs, off["Zayatz", 0.3])) < 0.2


@pytest.mark.parametrize(
    ("uniques", "said"), [((1.0, 1.0), "1 of them (0.5% of all rows) is also"), ((1.0, 2.0), "are also")]
)
def test_one_of_them_were_also_unique(uniques: tuple[float, float], said: str) -> None:
    """The verb agrees with the number of rows."""
    sample = ClassSample.from_counts([1, 2], [4, 98], population=1_000)
    limits = PopulationBounds(uniques, 0.5, (0.4, 0.6), 0.95)
    assert f"{said} unique in the population" in ask_population._bounds_sentence(
        sample, limits, 0.95, Subjects("row", "rows")
    )
