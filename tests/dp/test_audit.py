"""The audit: it never exceeds what a right mechanism loses, and catches those that lose more than they claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from reference.wrong_mechanisms import (
    Rows,
    draw_integer_laplace,
    floating_laplace,
    half_scale_count,
    histogram_with_sequence_noise,
    kmeans_with_ties,
    printed_density,
)
from unveil.dp.audit import audit, audit_outputs
from unveil.dp.mechanisms.degree_noise import add_histogram_noise, add_sequence_noise, add_triangle_noise
from unveil.dp.mechanisms.exponential import choose_best, choose_exponentially
from unveil.dp.mechanisms.gaussian import add_gaussian, rho_of_epsilon
from unveil.dp.mechanisms.laplace import add_laplace
from unveil.dp.mechanisms.median_mechanism import start_median_mechanism
from unveil.dp.mechanisms.pan_private import first_memory, plan_counter, record_items, release_density
from unveil.dp.mechanisms.randomised_response import randomise_answers
from unveil.errors import UnveilError

_CONFIDENCE = 1 - 1e-6  # each test of a right mechanism fails once in a million runs
_ONE = Fraction(1)
_PLAN = plan_counter(2, Fraction(3))


def laplace(neighbour: int, runs: int) -> object:
    return add_laplace([100 + neighbour] * runs, 1, _ONE)


def sequence(neighbour: int, runs: int) -> object:
    """An edge more between two of four nodes."""
    degrees = [1, 2, 3, 2] if neighbour else [1, 1, 3, 1]
    return np.array(add_sequence_noise(degrees * runs, _ONE)).reshape(runs, 4)


def response(neighbour: int, runs: int) -> object:
    return randomise_answers(np.full(runs, neighbour), 3, _ONE)


@pytest.mark.parametrize(("sample", "least"), [(laplace, 0.7), (sequence, 0.35), (response, 0.7)])
def test_mechanisms_that_draw_many_at_once_keep_epsilon_1(sample: Callable[[int, int], object], least: float) -> None:
    found = audit_outputs(sample(0, 20_000), sample(1, 20_000), _CONFIDENCE)  # type: ignore[arg-type]
    assert least < found.epsilon <= 1


def one_choice(choose: Callable[..., int]) -> Callable[[int], int]:
    return lambda neighbour: choose([5, 4] if neighbour else [4, 5], 1, _ONE)


def histogram(neighbour: int) -> list[int]:
    """The edge between a node of degree 0 and one of degree 2."""
    return add_histogram_noise([1, 3] if neighbour else [0, 2], 3, _ONE)


def triangles(neighbour: int) -> tuple[int, int]:
    """K₄ without an edge, and with it."""
    found = add_triangle_noise(4 if neighbour else 2, 2, Fraction(4), Fraction(1, 1000))
    return found.value, found.scale


def density(neighbour: int) -> tuple[float, float]:
    """The first of two items occurs after the look, or never: its bit at the look, and the output."""
    memory = first_memory(_PLAN)
    bit = float(memory[0])
    if neighbour:
        record_items(memory, [0], _PLAN)
    return bit, release_density(memory, _PLAN).value


def median(neighbour: int) -> list[int]:
    """Two questions about four cells, one of which has a person more: answers, and which were hard."""
    mechanism = start_median_mechanism([40 + neighbour, 0, 0, 0], Fraction(8), 1, 6)
    answers = [mechanism.answer(np.arange(4) < end) for end in (3, 1)]
    return [n for answer in answers for n in (answer.value, int(answer.hard))]


@pytest.mark.parametrize(
    ("mechanism", "runs", "epsilon", "delta", "least"),
    [
        (one_choice(choose_best), 4_000, 1, 0.0, 0.3),
        (one_choice(choose_exponentially), 4_000, 1, 0.0, 0.0),
        (histogram, 8_000, 1, 0.0, 0.0),
        (triangles, 3_000, 4, 0.001, 0.0),
        (density, 3_000, 3, 0.0, 0.25),
        (median, 3_000, 8, 0.0, 0.5),
    ],
)
def test_mechanisms_keep_their_epsilon(
    mechanism: Callable[[int], object], runs: int, epsilon: float, delta: float, least: float
) -> None:
    """How much of ε an audit sees depends on the mechanism: several noises hide one another."""
    found = audit(mechanism, runs, _CONFIDENCE, delta=delta)
    assert least <= found.epsilon <= epsilon


def test_gaussian_noise_keeps_epsilon_1_with_delta() -> None:
    rho = rho_of_epsilon(_ONE, Fraction(1, 100))
    outputs = [add_gaussian([neighbour] * 20_000, 1, rho) for neighbour in (0, 1)]
    assert 0.2 < audit_outputs(*outputs, _CONFIDENCE, delta=0.01).epsilon <= 1


@pytest.mark.parametrize(
    ("wrong", "runs", "least"),
    [
        (half_scale_count, 10_000, 1.5),  # 2ε
        (floating_laplace, 10_000, 3.0),  # without limit
        (histogram_with_sequence_noise, 40_000, 1.3),  # 2ε
        (kmeans_with_ties, 100_000, 1.2),  # 3ε
        (printed_density, 20_000, 1.5),  # 3.5 instead of 2ε = 1
    ],
)
def test_wrong_mechanisms_that_claim_epsilon_1_are_caught(
    wrong: Callable[[int, int, np.random.Generator], Rows], runs: int, least: float
) -> None:
    rng = np.random.default_rng(20)
    found = audit_outputs(wrong(0, runs, rng), wrong(1, runs, rng), _CONFIDENCE)
    assert found.epsilon > least, found


def test_the_bound_exceeds_the_truth_at_most_at_its_rate() -> None:
    """Randomised bits with ln 3, audited 400 times at 80%: at most 20% of the bounds are too high."""
    rng = np.random.default_rng(3)
    too_high = 0
    for _ in range(400):
        first, second = rng.random(300) < 0.75, rng.random(300) < 0.25
        too_high += audit_outputs(first, second, 0.8).epsilon > math.log(3)
    assert too_high <= 110  # binomial(400, .2) exceeds it with probability 2·10⁻⁴


def test_given_events_are_the_only_ones() -> None:
    rng = np.random.default_rng(4)
    outputs = [draw_integer_laplace(1.0, (5_000, 1), rng) + neighbour for neighbour in (0, 1)]
    found = audit_outputs(*outputs, 0.99, events=[lambda row: row[0] > 100, lambda row: row[0] > 0])
    assert found.event == "event 2" and 0.7 < found.epsilon <= 1
    assert audit_outputs(*outputs, 0.99, events=[lambda row: row[0] > 100]).epsilon == 0


def test_equal_outputs_prove_nothing_and_different_ones_almost_everything() -> None:
    assert audit(lambda neighbour: 7, 50).epsilon == 0
    disjoint = audit(lambda neighbour: neighbour, 2_000, 0.95)
    assert disjoint.epsilon == pytest.approx(math.log(0.025 ** (1 / 1000) / (1 - 0.025 ** (1 / 1000))), abs=1e-9)
    assert sorted(disjoint.occurred) == [0, 1000] and disjoint.runs == 1000


def test_delta_is_subtracted() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.random(10_000) < 0.02, np.zeros(10_000)
    assert audit_outputs(first, second, 0.99).epsilon > 1
    assert audit_outputs(first, second, 0.99, delta=0.02).epsilon == 0


def test_impossible_audits_are_refused() -> None:
    for first, second, complaint in (
        ([1, 2, 3], [1, 2, 3], "at least 4"),
        ([1] * 5, [1] * 6, "equally many"),
        ([[1, 2]] * 5, [1] * 5, "equal length"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            audit_outputs(first, second)
    with pytest.raises(UnveilError, match="confidence"):
        audit_outputs([1] * 5, [1] * 5, 1.0)
    with pytest.raises(UnveilError, match="delta"):
        audit_outputs([1] * 5, [1] * 5, delta=1.0)
    with pytest.raises(UnveilError, match="at least one event"):
        audit_outputs([1] * 5, [1] * 5, events=[])
    with pytest.raises(UnveilError, match="runs must be at least 4"):
        audit(lambda neighbour: 0, 3)
