"""Protections that draw at random: mean and variance over many releases."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.usefulness.repeated_measure import summarise_releases
from unveil.usefulness.use_measure import UseMeasure


def repeat(numbers: Sequence[float | None]) -> list[tuple[int, float, float | None]]:
    """What is said of a measure that has these numbers, one for each release."""
    found = summarise_releases([UseMeasure("size", "Size", 1.0, number, "")] for number in numbers)
    assert all((m.id, m.title, m.before) == ("size", "Size", 1.0) for m in found)
    return [(m.releases, m.mean, m.variance) for m in found]


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_mean_and_variance(numbers: list[float]) -> None:
    assert repeat(numbers) == [(len(numbers), pytest.approx(mean(numbers)), pytest.approx(variance(numbers), abs=1e-9))]


def test_releases_without_a_number_do_not_count() -> None:
    assert repeat([None, 2.0, None, 4.0]) == [(2, 3.0, 2.0)]
    assert repeat([None, None]) == []
    assert repeat([5.0]) == [(1, 5.0, None)]


def test_intervals_contain_the_mean_of_all_releases() -> None:
    """Of 300 means of 10 normal values with 95% confidence, fewer than 270 hold with a probability below .001 (seed
    fixed)."""
    rng = np.random.default_rng(4)
    drawn = ([[UseMeasure("size", "Size", 1.0, float(rng.normal(7, 3)), "")] for _ in range(10)] for _ in range(300))
    found = [summarise_releases(releases)[0].interval for releases in drawn]
    assert sum(ends is not None and ends[0] <= 7 <= ends[1] for ends in found) >= 270
