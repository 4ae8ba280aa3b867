"""Errors of counts, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from reference import naive_use as naive
from unveil.usefulness.count_errors import column_distance, query_errors
from usefulness.samples import compared


def test_a_random_count_is_off_by_what_the_definition_says() -> None:
    rng = np.random.default_rng(1)
    ages, sexes = ([str(a) for a in rng.integers(20, 30, 50)], [str(s) for s in rng.choice(["f", "m"], 50)])
    coarse = ["20–24" if int(a) < 25 else "25–29" for a in ages]
    original = [{"age": a, "sex": s} for a, s in zip(ages, sexes, strict=True)]
    released = [{"age": a, "sex": s} for a, s in zip(coarse[5:], sexes[5:], strict=True)]
    columns = [compared("age", ages, coarse[5:]), compared("sex", sexes, sexes[5:])]
    errors = {round(float(e), 9) for e in query_errors(columns, 200, np.random.default_rng(7))}
    possible = set()
    values = sorted(set(ages))
    for width in range(1, len(values) // 2 + 1):
        for begin in range(len(values) - width + 1):
            for also in ({}, {"sex": {"f"}}, {"sex": {"m"}}):
                true, guess = naive.count(original, released, {"age": set(values[begin : begin + width])} | also)
                possible.add(round(abs(guess - true) / max(true, 1), 9))
    assert errors <= possible
    assert len(errors) > 20


def test_numbers_are_counted_in_tenths_of_the_rows() -> None:
    ages = [str(a) for a in range(20, 80)] * 2
    assert compared("age", ages, ages).groups == 11  # ten, and missing values
    lower_half = ["20–49" if int(a) < 50 else a for a in ages]
    assert column_distance(compared("age", ages, lower_half)) == pytest.approx(0)
    hidden = ["20–79" if int(a) < 50 else a for a in ages]  # half of them may be any age
    assert column_distance(compared("age", ages, hidden)) == pytest.approx(0.25)
