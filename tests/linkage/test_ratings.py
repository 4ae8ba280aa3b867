"""Ratings as a release: who rated what, how and when, in a long table."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Policy, UnveilError
from unveil.linkage.attack.adversaries import (
    bayesian_adversary,
    eccentricity_adversary,
    least_support_adversary,
    likeliest_adversary,
    scoreboard_adversary,
)
from unveil.linkage.attack.auxiliary import Knowledge, draw_knowledge
from unveil.linkage.attack.experiment import attack_records
from unveil.linkage.records import Records, records_from_ratings
from unveil.linkage.similarity import equal_values, within_days, within_distance
from unveil.release.codes import encode_column

Unveil = Callable[..., subprocess.CompletedProcess[str]]
Rating = tuple[str, str, int, str]


def some_ratings(people: int, items: int, seed: int) -> list[Rating]:
    rng = random.Random(seed)
    return [
        (f"u{p}", f"i{i}", rng.randrange(1, 6), f"2020-01-{rng.randrange(1, 29):02d}")
        for p in range(people)
        for i in rng.sample(range(items), rng.randrange(1, items))
    ]


def table_of(path: Path, ratings: list[Rating], header: str = "user,film,stars,day") -> unveil.Table:
    path.write_text(header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in ratings))
    table = unveil.read(path, "table")
    assert isinstance(table, unveil.Table)
    return table


def records_of(ratings: list[Rating], apart: int = 0, late: int = 0) -> Records:
    columns = [encode_column(pa.chunked_array([list(column)])) for column in zip(*ratings, strict=True)]
    similar = (within_distance(apart) if apart else equal_values(), within_days(late) if late else equal_values())
    return records_from_ratings(*columns, similarities=similar)


def expected(ratings: list[Rating], m: int, apart: int = 0, late: int = 0, short: bool = False) -> tuple[float, float]:
    """Over all sets of m ratings of everybody, or all of those who have fewer if ``short``: how often Â names them, and
    how often nobody else fits."""
    rated: dict[str, dict[str, tuple[int, int]]] = {}
    for person, film, stars, day in ratings:
        rated.setdefault(person, {})[film] = (stars, int(day[-2:]))
    found, alone, targets = 0.0, 0.0, 0
    for own in rated.values():
        if len(own) < m and not short:
            continue
        targets += 1
        sets = list(combinations(own, min(m, len(own))))
        for s in sets:
            fits = [
                o
                for o in rated.values()
                if all(f in o and abs(o[f][0] - own[f][0]) <= apart and abs(o[f][1] - own[f][1]) <= late for f in s)
            ]
            least = min(map(len, fits))
            ties = sum(len(o) == least for o in fits)
            found += (len(own) == least) / ties / len(sets)
            alone += (len(fits) == 1) / len(sets)
    return found / targets, alone / targets


@pytest.mark.parametrize(("apart", "late"), [(0, 0), (1, 0), (0, 6), (1, 6)])
def test_success_is_what_all_sets_of_ratings_give(apart: int, late: int) -> None:
    """Value and date have to fit together. 400 random sets of each of 40 people: half the width of the interval at 99 %
    for so many is below .03, and the seed is fixed."""
    ratings = some_ratings(40, 6, 5)
    records = records_of(ratings, apart, late)
    assert records.attributes_per_fact == 2
    many = np.tile(np.arange(records.n), 400)
    for m in (1, 2):
        outcome = attack_records(records, [least_support_adversary()], [m], rng=np.random.default_rng(m), targets=many)[
            0
        ]
        found, alone = expected(ratings, m, apart, late)
        assert outcome.found.mean() == pytest.approx(found, abs=0.03)
        assert outcome.unique_probability.mean() == pytest.approx(alone, abs=0.03)


def test_a_rating_and_its_date_are_one_thing() -> None:
    ratings = some_ratings(30, 8, 2)
    records = records_of(ratings)
    known = draw_knowledge(records, np.arange(records.n), 3, np.random.default_rng(0))
    things = known.attribute.reshape(records.n, -1, 2)
    there = things[..., 0] >= 0
    assert (things[..., 1][there] == things[..., 0][there] + 1).all()
    assert (things[..., 0][there] % 2 == 0).all()
    assert known.max_known == 3
    assert (known.usable == records.support // 2).all()
    array = records.array
    for r in range(records.n):
        for i, v in zip(known.attribute[r], known.value[r], strict=True):
            assert i < 0 or array[r, i] == v
    outcome = attack_records(records, [least_support_adversary()], [1, 2], rng=np.random.default_rng(1))[1]
    assert outcome.known == 2
    assert set(outcome.support.tolist()) <= set((records.support // 2).tolist())
    assert outcome.excluded == (records.support // 2 < 2).sum()


def test_values_and_dates_are_wrong_independently() -> None:
    """Of 20,000 things, with one value in two drawn anew among 5 and one date in two among 28, .5 · .8 and .5 · 27/28
    are wrong, .4 · .48 both; deviations of .02 are 5 standard deviations away."""
    rng = random.Random(0)
    ratings = [
        (f"u{p}", f"i{i}", rng.randrange(1, 6), f"2020-01-{rng.randrange(1, 29):02d}")
        for p in range(400)
        for i in range(5)
    ]
    records = records_of(ratings)
    rows = np.repeat(np.arange(400), 10)
    known = draw_knowledge(records, rows, 5, np.random.default_rng(3), Knowledge(wrong_rate=0.5))
    off = known.value != records.array[rows[:, None], known.attribute]
    stars, day = off[:, ::2], off[:, 1::2]
    assert stars.mean() == pytest.approx(0.4, abs=0.02)
    assert day.mean() == pytest.approx(0.5 * 27 / 28, abs=0.02)
    assert (stars & day).mean() == pytest.approx(0.4 * 0.5 * 27 / 28, abs=0.02)


def test_with_right_facts_all_adversaries_agree_where_one_fits() -> None:
    records = records_of(some_ratings(25, 7, 11))
    everyone = [
        least_support_adversary(),
        scoreboard_adversary(),
        bayesian_adversary(),
        likeliest_adversary(),
        eccentricity_adversary(0.0),
    ]
    found = attack_records(records, everyone, [2], rng=np.random.default_rng(4))
    alone = found[0].unique_probability == 1
    assert alone.any()
    for outcome in found:
        assert outcome.found[alone] == pytest.approx(1)


def test_the_likeliest_person_is_the_one_with_fewest_ratings() -> None:
    """With two parts to a thing the likelihood counts things, not parts: it is that of Â."""
    records = records_of(some_ratings(60, 5, 7), apart=4, late=27)
    found = attack_records(
        records, [least_support_adversary(), likeliest_adversary()], [1, 2], rng=np.random.default_rng(4)
    )
    half = len(found) // 2
    for a, b in zip(found[:half], found[half:], strict=True):
        assert a.found == pytest.approx(b.found)
        assert 0 < a.success.value < 1


def test_findings_of_ratings(tmp_path: Path) -> None:
    ratings = some_ratings(80, 9, 1)
    table = table_of(tmp_path / "r.csv", ratings)
    policy = Policy(
        ratings=("user", "film", "stars", "day"), settings={"linkage": {"known": 2, "compare": {"day": "3d"}}}
    )
    found = unveil.assess(table, policy)
    success, alone = expected(ratings, 2, 0, 3, short=True)
    for name, truth in (("linkage.success", success), ("linkage.unicity", alone)):
        interval = found[name].interval
        assert interval is not None
        assert interval[0] <= truth <= interval[1]
    bound = found["linkage.success_bound"]
    plain, _ = expected([(*r[:3], "2020-01-01") for r in ratings], 2, short=True)
    assert bound.value is not None
    assert 0 < bound.value <= plain
    assert found["linkage.success"].subjects == 80
    assert "random ratings" in found["linkage.success"].attacker
    assert found.verdict.decision == "your call"
    assert "linkage.success has no tolerance" in found.verdict.sentence
    less = Policy(ratings=policy.ratings, tolerance={"linkage.success": 0.01}, settings={"linkage": {"known": 2}})
    over = unveil.assess(table, less)
    assert over.verdict.because == "linkage.success"


def test_a_rating_with_its_date_is_one_fact_where_sets_could_be_counted(tmp_path: Path) -> None:
    """Few items, values and dates compared for equality."""
    rows = [
        ("a", "x", 1, "2020-01-01"),
        ("a", "y", 2, "2020-01-02"),
        ("b", "x", 1, "2020-02-05"),
        ("b", "y", 3, "2020-01-02"),
    ]
    table = table_of(tmp_path / "r.csv", rows)
    for known in (1, 2):
        policy = Policy(ratings=("user", "film", "stars", "day"), settings={"linkage": {"known": known}})
        found = unveil.assess(table, policy)
        assert found["linkage.success"].value == found["linkage.unicity"].value == 1


def test_few_ratings_are_no_protection(tmp_path: Path) -> None:
    """People with fewer ratings than are known are found by all they have; of ten who are identical, one is."""
    alike = [(f"u{i}", f"i{j}", 3, "2020-01-01") for i in range(10) for j in range(4)]
    few = [(f"v{i}", f"j{i}", 3, "2020-01-01") for i in range(90)]
    policy = Policy(ratings=("user", "film", "stars"), insensitive=("day",), tolerance={"linkage.success": 0.2})
    found = unveil.assess(table_of(tmp_path / "r.csv", alike + few), policy)
    assert found["linkage.success"].value == pytest.approx(0.91)
    assert found["linkage.everything_learned"].value == 1
    assert found["linkage.unicity"].value == pytest.approx(0.9)
    assert found.verdict.decision == "protect first"


def test_what_is_drawn_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    ratings = some_ratings(50, 7, 3)
    policy = Policy(ratings=("user", "film", "stars", "day"), settings={"linkage": {"known": 2}})
    one = unveil.assess(table_of(tmp_path / "a.csv", ratings), policy)
    random.Random(1).shuffle(ratings)
    other = unveil.assess(table_of(tmp_path / "b.csv", ratings), policy)
    for name in ("linkage.success", "linkage.unicity", "linkage.sparsity", "linkage.success_bound"):
        assert one[name].value == other[name].value
        assert one[name].curves == other[name].curves


def test_what_was_visited_counts_once_without_values(tmp_path: Path) -> None:
    visits = [("ann", "bar"), ("ann", "bar"), ("ann", "spa"), ("bob", "bar"), ("cy", "zoo"), ("cy", "bar")]
    who, where = (encode_column(pa.chunked_array([list(column)])) for column in zip(*visits, strict=True))
    assert records_from_ratings(who, where).support.tolist() == [2, 1, 2]
    path = tmp_path / "v.csv"
    path.write_text("who,where\n" + "".join(f"{a},{b}\n" for a, b in visits))
    policy = Policy(ratings=("who", "where"), settings={"linkage": {"known": 2}})
    found = unveil.assess(unveil.read(path, "table"), policy)
    assert found["linkage.unicity"].value == pytest.approx(2 / 3)  # both others were at the bar, as Bob
    assert found["linkage.success"].value == 1  # but he was nowhere else
    assert found["linkage.sparsity"].value == 1
    assert "1 person has fewer ratings; the attacker knew all of them." in found["linkage.success"].sentence


def test_ratings_without_a_value_are_left_out_and_counted(tmp_path: Path) -> None:
    ratings = [
        ("a", "x", 1, "2020-01-01"),
        ("a", "y", "", "2020-01-02"),
        ("b", "x", 2, ""),
        ("b", "y", 3, "2020-01-05"),
    ]
    table = table_of(tmp_path / "r.csv", ratings)  # type: ignore[arg-type]
    policy = Policy(ratings=("user", "film", "stars", "day"), settings={"linkage": {"known": 1}})
    found = unveil.assess(table, policy)
    assert "2 ratings without a value or date were left out" in found["linkage.success"].sentence


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([("a", "x", 1, "2020-01-01"), ("a", "x", 2, "2020-01-02")], "rated the same item twice"),
        ([("a", "", 1, "2020-01-01"), ("a", "x", 2, "2020-01-02")], "1 row has no value in 'film'"),
        ([("", "y", 1, "2020-01-01"), ("a", "x", 2, "2020-01-02")], "1 row has no value in 'user'"),
        ([("a", "x", 1, "soon"), ("b", "x", 2, "2020-01-02")], "not all values are dates"),
    ],
)
def test_ratings_that_cannot_be_right(rows: list[Rating], error: str, tmp_path: Path) -> None:
    policy = Policy(ratings=("user", "film", "stars", "day"), settings={"linkage": {"compare": {"day": "3d"}}})
    with pytest.raises(UnveilError, match=error):
        unveil.assess(table_of(tmp_path / "r.csv", rows), policy)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"ratings": ("user",)}, "two to four columns"),
        ({"ratings": ("user", "user")}, "two to four columns"),
        ({"ratings": ("user", "film"), "subject": "person"}, "leave out subject"),
        (
            {"ratings": ("user", "film"), "settings": {"linkage": {"compare": {"film": "2"}}}},
            "compare names film; for ratings, name only the columns of value and date",
        ),
    ],
)
def test_a_policy_that_cannot_be_right(settings: dict[str, object], error: str) -> None:
    with pytest.raises(UnveilError, match=error):
        Policy(**settings)  # type: ignore[arg-type]


def test_a_policy_with_ratings_reads_back_as_it_is() -> None:
    policy = Policy(ratings=("user", "film"))
    assert policy.subject == "user"
    assert Policy.from_dict(policy.to_dict()) == policy


def test_on_the_command_line(tmp_path: Path, unveil: Unveil) -> None:
    table_of(tmp_path / "r.csv", some_ratings(60, 8, 4), "customer,product,stars,day")
    said = ["assess", str(tmp_path / "r.csv"), "--ratings", "customer,product,stars,day", "--compare", "day=14d"]
    done = unveil(*said, "--known", "2")
    assert done.returncode == 3
    assert "People found by someone" in done.stdout
    assert unveil(*said, "--tolerance", "linkage.success=.1").returncode == 1
    done = unveil(*said[:3], "customer,nothing")
    assert done.returncode == 2
    assert "no column is called 'nothing'" in done.stderr


def test_ratings_that_are_all_equal_could_not_be_measured(tmp_path: Path) -> None:
    """A value and a date that never differ say no more than who rated what."""
    rng = random.Random(3)
    rated = sorted({(f"u{rng.randrange(30)}", f"f{rng.randrange(12)}") for _ in range(160)})
    (tmp_path / "t.csv").write_text("user,film,stars,date\n" + "".join(f"{u},{f},3,2020-01-05\n" for u, f in rated))
    table = unveil.read(tmp_path / "t.csv")
    settings = {"linkage": {"known": 2}}
    found = [
        unveil.assess(table, Policy(ratings=columns, settings=settings), only="linkage.success")["linkage.success"]
        for columns in (("user", "film", "stars", "date"), ("user", "film", "stars"), ("user", "film"))
    ]
    assert found[0].value is not None
    assert found[0].value == found[1].value == found[2].value
