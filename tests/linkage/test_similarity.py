"""Dates and Unix times: compared by the days between them."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Policy, UnveilError
from unveil.linkage.similarity import within_days

UNITS = (1, 1_000, 1_000_000, 1_000_000_000)


@pytest.mark.parametrize("per_second", UNITS)
@pytest.mark.parametrize("text", [True, False])
def test_unix_times_were_no_dates(per_second: int, text: bool) -> None:
    """As numbers and as text, they are as near as the calendar says."""
    rng = np.random.default_rng(0)
    days = [datetime.date(1990, 1, 1) + datetime.timedelta(int(d)) for d in rng.choice(12_000, 60, replace=False)]
    expected = [[float(abs(a - b).days <= 400) for b in days] for a in days]
    epoch = datetime.date(1970, 1, 1)
    times = [(day - epoch).days * 86_400 * per_second for day in days]
    values = pa.array(map(str, times)) if text else pa.array(times)
    assert within_days(400).matrix(values).tolist() == expected
    assert within_days(400).matrix(pa.array(days)).tolist() == expected


def test_the_time_of_day_counts() -> None:
    values = pa.array([1_600_000_000, 1_600_000_000 + 86_400, 1_600_000_000 + 86_401])
    assert within_days(1).matrix(values)[0].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "values",
    [
        [20201231, 20210101],  # a day written as a number
        [2020123123, 2021010100],  # with its hour
        [202012312359, 202101010000],  # with its minute
        [20201231235959, 20210101000000],
        [0, 1_600_000_000],  # 0 stands for missing
        [1_600_000_000, 1_600_000_000_000],  # two units
        [34, 51],
        ["1600000000", "soon"],
        ["1600000000", "2020-01-01"],
        [True, False],
    ],
)
def test_other_numbers_are_no_times(values: list[object]) -> None:
    with pytest.raises(UnveilError, match=r"^seen: not all values are dates such as 1987-06-05, or Unix times from"):
        within_days(14).order(pa.array(values), "seen")


def test_ratings_with_unix_times_are_attacked_like_those_with_dates(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    first = datetime.date(2020, 1, 1)
    rows = [(p, f, int(rng.integers(1, 6)), first + datetime.timedelta(int(rng.integers(300)))) for p in range(40)
            for f in rng.choice(20, 5, replace=False)]  # fmt: skip
    epoch = datetime.date(1970, 1, 1)
    writings = {"date": lambda day: day, "seconds": lambda day: (day - epoch).days * 86_400}
    answers = []
    for name, write in writings.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("who,film,stars,seen\n" + "".join(f"{p},{f},{s},{write(day)}\n" for p, f, s, day in rows))
        policy = Policy(
            ratings=("who", "film", "stars", "seen"), settings={"linkage": {"known": 2, "compare": {"seen": "14d"}}}
        )
        found = unveil.assess(unveil.read(path), policy, only="linkage")
        answers.append([(f.id, f.value, f.sentence) for f in found.findings])
    assert answers[0] == answers[1]
    assert {"linkage.success"} <= {answer[0] for answer in answers[0]}
