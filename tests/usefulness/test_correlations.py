"""Changes of correlations, against the definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import unveil
from reference import naive_use as naive
from unveil.wording import number_text
from usefulness.samples import NUMBERS, numbers, rows_of, use_of


def test_correlations_change_by_what_the_numbers_covered_say() -> None:
    table = numbers()
    made = unveil.protect(table, NUMBERS, method="levels")
    rows, original = rows_of(made.release), table.to_pylist()
    names = ("age", "height", "income")
    values = {c: sorted({str(r[c]) for r in original}, key=int) for c in names}

    def number(row: dict[str, str | None], column: str) -> float:
        own = naive.covered(str(row.get(column, "*")), values[column])
        return sum(map(float, own)) / len(own)

    changes = {}
    for pair in combinations(names, 2):
        was = naive.pearson([(float(r[pair[0]]), float(r[pair[1]])) for r in original])
        now = naive.pearson([(number(r, pair[0]), number(r, pair[1])) for r in rows])
        changes[pair] = abs(was - now), was, now
    found = use_of(made)["correlations"]
    assert found.after == pytest.approx(np.mean([c[0] for c in changes.values()]), abs=1e-9)
    pair, (_, was, now) = max(changes.items(), key=lambda item: item[1][0])
    assert f"most that of {pair[0]} and {pair[1]}: from {number_text(was)} to {number_text(now)}." in found.sentence
    assert found.after > 0
