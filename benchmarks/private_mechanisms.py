"""How wrong private answers are by each mechanism, at the same ε.

Many interval queries on a histogram (how many people are between two cells?), answered with ε = 1 and δ = 10⁻⁶ in all:
by Laplace noise on each answer, by Gaussian noise on each, by the median mechanism, and by Laplace noise on each cell,
once, and sums of noisy cells. Mean errors over all queries: mean, least and greatest over runs with fresh noise.
The density of 10,000 items, pan-private at total ε = 1: by Algorithm 6.1 with enough noise for both state and output,
and by symmetric randomised response.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["main"]

_EPSILON, _DELTA = Fraction(1), Fraction(1, 10**6)
_RUNS = 5
_CASES = (  # cells, people, queries; hard queries and the threshold of the median mechanism, set by hand
    (64, 20_000, 5_000, 12, 600),
    (1_024, 100_000, 20_000, 20, 800),
)
_ITEMS = 10_000


def main() -> None:
    """Print the figures."""
    print(f"private mechanisms: mean error of interval queries, ε = {_EPSILON}, {_RUNS} runs")
    for cells, people, queries, hard, threshold in _CASES:
        _print_errors(cells, people, queries, hard, threshold)
    _print_density()


def _print_errors(cells: int, people: int, queries: int, hard: int, threshold: int) -> None:
    from unveil.dp.mechanisms.median_mechanism import compare_mechanisms

    rng = np.random.default_rng(7)
    where = rng.normal(0.4, 0.1, people).clip(0, 0.9999)
    counts = np.bincount((where * cells).astype(int), minlength=cells).tolist()
    ends, places = np.sort(rng.integers(0, cells + 1, (queries, 2)), axis=1), np.arange(cells)
    asked = [(places >= first) & (places < last) for first, last in ends]
    errors: dict[str, list[float]] = {}
    for _ in range(_RUNS):
        for name, mean, _ in compare_mechanisms(counts, asked, _EPSILON, _DELTA, hard, threshold):
            errors.setdefault(name, []).append(mean)
    said = ", ".join(f"{name} {np.mean(e):,.0f} [{min(e):,.0f} to {max(e):,.0f}]" for name, e in errors.items())
    print(f"  {cells:,} cells, {people:,} people, {queries:,} queries: {said}", flush=True)


def _print_density() -> None:
    from unveil.dp.mechanisms.pan_private import plan_counter

    ours = plan_counter(_ITEMS, _EPSILON).standard_deviation
    printed = _printed_density_deviation(float(_EPSILON) / 2)
    print(f"  density of {_ITEMS:,} items, ε = {_EPSILON}: sd {ours:.4f}, as printed with mended noise {printed:.4f}")


def _printed_density_deviation(epsilon: float) -> float:
    """Algorithm 6.1 with ε each for state and output: a bit is 1 with probability 1/2, or 1/2 + ε/4 once its item
    occurred; the mean θ of the bits is released as 4(θ − 1/2)/ε, with Lap(4/(ε²n)) noise."""
    bits = 0.25 / _ITEMS * (4 / epsilon) ** 2
    noise = 2 * (4 / (epsilon**2 * _ITEMS)) ** 2
    return float(np.sqrt(bits + noise))


if __name__ == "__main__":
    main()
