"""The median mechanism: what leaves it, how accurate it is, and beside noise on each answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from reference.exact_noise import chi_squared
from unveil.dp.mechanisms.laplace import laplace_probability
from unveil.dp.mechanisms.median_mechanism import compare_mechanisms, start_median_mechanism
from unveil.errors import UnveilError

_ERROR_RATE = 1e-6
_MILLIONTH = Fraction(1, 10**6)


def intervals(cells: int, many: int, rng: np.random.Generator) -> list[np.ndarray]:
    ends = np.sort(rng.integers(0, cells + 1, (many, 2)), axis=1)
    return [(np.arange(cells) >= low) & (np.arange(cells) < high) for low, high in ends]


def test_easy_answers_come_from_the_public_state_alone() -> None:
    mechanism = start_median_mechanism([50] * 20, Fraction(1), 3, 10**6)
    question = np.arange(20) < 7
    easy = mechanism.answer(question)
    assert (easy.hard, easy.checked) == (False, True)
    assert easy.value == round(float(mechanism.guess[question].sum())) == round(mechanism.total * 7 / 20)
    assert mechanism.released == []


def test_a_hard_answer_is_learnt_and_then_easy() -> None:
    counts = [100_000, *[0] * 9]
    mechanism = start_median_mechanism(counts, Fraction(10), 4, 1_000)
    first = np.arange(10) < 1
    answer = mechanism.answer(first)
    assert answer.hard and abs(answer.value - 100_000) < 1_000
    again = mechanism.answer(first)
    assert not again.hard and abs(again.value - 100_000) < 1_000
    assert mechanism.guess.sum() == pytest.approx(mechanism.total)


def test_after_the_last_hard_answer_nothing_is_compared_any_more() -> None:
    mechanism = start_median_mechanism([10**6, 0, 0, 10**6], Fraction(10), 1, 100)
    assert mechanism.answer(np.array([True, False, False, False])).hard
    mechanism.counts[:] = [0, 0, 0, 0]  # if they were looked at, the answers below would change
    unchecked = mechanism.answer(np.array([False, False, True, True]))
    assert (unchecked.hard, unchecked.checked) == (False, False)
    assert unchecked.value > 10**5


def test_comparisons_and_hard_answers_have_the_noise_of_the_proof() -> None:
    """All cells are meant, so the guess is off by Z₀ alone, and a question is hard if |Z₀| + Z₁ ≥ T + Z."""
    epsilon, hard_limit, threshold, runs, reach = Fraction(4), 20, 20, 4_000, 600
    asked = [
        start_median_mechanism([300, 300], epsilon, hard_limit, threshold).answer(np.array([True, True]))
        for _ in range(runs)
    ]

    def noise(sensitivity: int, share: str) -> np.ndarray:
        scaled = epsilon * Fraction(share)
        return np.array([laplace_probability(z, sensitivity, scaled) for z in range(-reach, reach + 1)])

    off = noise(1, "1/20")
    off[reach + 1 :] *= 2  # |Z₀|
    off[:reach] = 0
    difference = np.convolve(np.convolve(off, noise(2 * hard_limit, "1/2")), noise(1, "1/5"))  # Z is symmetric
    hard = float(difference[3 * reach + threshold :].sum())
    assert binomtest(sum(answer.hard for answer in asked), runs, hard).pvalue > _ERROR_RATE
    released = [answer.value - 600 for answer in asked if answer.hard]
    share = epsilon / 4
    assert chi_squared(released, lambda z: laplace_probability(z, hard_limit, share), range(-4, 5)) > _ERROR_RATE


def test_total_and_threshold_have_the_noise_of_the_proof() -> None:
    epsilon = Fraction(4)
    started = [start_median_mechanism([50, 50], epsilon, 3, 7) for _ in range(4_000)]
    for draws, share in (
        ([mechanism.total - 100 for mechanism in started], epsilon / 20),
        ([mechanism.noisy_threshold - 7 for mechanism in started], epsilon / 5),
    ):
        assert chi_squared(draws, lambda z, share=share: laplace_probability(z, 1, share), range(-4, 5)) > _ERROR_RATE


def test_accuracy_holds_at_its_rate() -> None:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(3_000, rng.dirichlet(np.full(30, 0.3))).tolist()
    questions = intervals(30, 12, rng)
    runs, hits = 150, 0
    for _ in range(runs):
        mechanism = start_median_mechanism(counts, Fraction(4), 3, 150)
        within = mechanism.accuracy(len(questions), 0.8)
        answers = [(mechanism.answer(question), question) for question in questions]
        hits += all(abs(a.value - sum(np.array(counts)[q])) <= within for a, q in answers if a.checked)
    assert binomtest(hits, runs, 0.8, alternative="less").pvalue > _ERROR_RATE


def test_secrets_are_not_shown() -> None:
    mechanism = start_median_mechanism([12345, 1], Fraction(1), 1, 10**9)
    assert "12345" not in repr(mechanism)
    assert str(mechanism.noisy_threshold) not in repr(mechanism) or mechanism.noisy_threshold == 10**9


def test_counts_of_any_size_are_added_without_overflow() -> None:
    mechanism = start_median_mechanism([2**62, 2**62, 2**62, 2**70], Fraction(10), 1, 0)
    answer = mechanism.answer(np.array([True, True, True, False]))
    assert answer.hard and abs(answer.value - 3 * 2**62) < 10**6


def test_many_questions_are_compared_by_mechanism() -> None:
    """5,000 intervals over 64 cells at ε = 1, δ = 10⁻⁶: noise on each answer is far worse than answers from few."""
    rng = np.random.default_rng(2)
    counts = rng.multinomial(20_000, rng.dirichlet(np.full(64, 0.5))).tolist()
    table = compare_mechanisms(counts, intervals(64, 5_000, rng), Fraction(1), _MILLIONTH, 12, 600)
    mean = {name: error for name, error, _ in table}
    assert list(mean) == ["laplace", "gaussian", "histogram", "median"]
    assert mean["laplace"] == pytest.approx(5_000, rel=0.1)
    assert mean["gaussian"] == pytest.approx(0.7979 * 320.3, rel=0.1)  # √(2/π) σ
    assert mean["histogram"] < mean["gaussian"] < mean["laplace"]
    assert mean["median"] < mean["laplace"] / 3
    assert all(mean_error <= largest for _, mean_error, largest in table)


def test_impossible_parameters_are_refused() -> None:
    for counts, epsilon, hard, threshold, complaint in (
        ([], Fraction(1), 1, 1, "there are no cells"),
        ([5], Fraction(1), 1, 1, "at least two cells"),
        ([5, 5], Fraction(0), 1, 1, "epsilon must be above 0"),
        ([5, 5], Fraction(1), 0, 1, "number of hard questions must be at least 1"),
        ([5, 5], Fraction(1), 1, -1, "threshold must be at least 0"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            start_median_mechanism(counts, epsilon, hard, threshold)
    mechanism = start_median_mechanism([5, 5], Fraction(1), 1, 1)
    for question in ([1, 0], [True], [True, False, True]):
        with pytest.raises(UnveilError, match="marks each cell"):
            mechanism.answer(np.array(question))
