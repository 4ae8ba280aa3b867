"""Protection of ratings: what is chosen, what is written, and that it holds against an attack that tries everything."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import unveil
from unveil import Case, Policy, Run, Table, UnveilError
from unveil.linkage.protect import PROTECTIONS, apply_plan, coarse_columns, describe_plan, plan_search
from unveil.linkage.protections.greedy_search import smallest_plan
from unveil.linkage.protections.plan_search import PlanMove, ProtectionPlan
from unveil.linkage.protections.ratings_search import ITEM_COLUMN, RatingsSearch
from unveil.linkage.risks import SUCCESS
from unveil.linkage.settings import LinkageSettings
from unveil.protect import policy_for_what_is_left
from unveil.protection import Protection
from unveil.release.coarse_table import describe_leaks

Unveil = Callable[..., subprocess.CompletedProcess[str]]

OFFERS = ("columns", "items", "people", "mixed")
RATINGS = ("user", "film", "stars", "day")
OFF: dict[str, float] = {}


def ratings(people: int = 200, items: int = 12, seed: int = 0, days: int = 40) -> pa.Table:
    """Two to five ratings each, of popular films mostly, and a column that nobody may know. Every fifth person has a
    taste that is rare."""
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, items + 1) ** 2
    rows = []
    for person in range(people):
        chance = often[::-1] if person % 5 == 0 else often
        for film in rng.choice(items, rng.integers(2, 6), replace=False, p=chance / chance.sum()):
            day = datetime.date(2020, 1, 6) + datetime.timedelta(days=int(rng.integers(days)))
            stars = int(rng.choice([1, 2, 3, 4, 5], p=[0.02, 0.03, 0.05, 0.1, 0.8]))
            rows.append((f"u{person:03d}", f"CANARY{film:02d}", stars, day, round(float(rng.normal()), 3)))
    order = rng.permutation(len(rows))
    columns = list(zip(*(rows[i] for i in order), strict=True))
    kinds = (pa.string(), pa.string(), pa.int16(), pa.date32(), pa.float64())
    names = (*RATINGS, "mood")
    return pa.table({n: pa.array(c, kind) for n, c, kind in zip(names, columns, kinds, strict=True)})


@pytest.fixture(scope="module")
def table() -> Table:
    return unveil.read(ratings())


def policy(
    tolerance: float | None = None, known: int = 2, compare: dict[str, str] | None = None, **more: Any
) -> Policy:
    said: dict[str, Any] = {"ratings": RATINGS, "insensitive": ("mood",), **more}
    settings = {"linkage": {"known": known, "compare": compare or {}}}
    return Policy(tolerance={**OFF, "linkage.success": tolerance}, settings=settings, **said)


def search_of(table: Table, known: int = 2, columns: tuple[str, ...] = RATINGS) -> RatingsSearch:
    search = plan_search(Case(table), policy(ratings=columns, known=known), Run())
    assert isinstance(search, RatingsSearch)
    return search


def attacked(rows: pa.Table, m: int, columns: tuple[str, ...]) -> tuple[float, float]:
    """All sets of m ratings of everybody who has as many, and of everybody, of whom all are known if there are fewer:
    how often someone who names a person with the fewest ratings that fits has found them."""
    rated: dict[str, dict[str, tuple[object, ...]]] = defaultdict(dict)
    for person, item, *said in zip(*(rows[c].to_pylist() for c in columns), strict=True):
        rated[person][item] = tuple(said)
    chances = {}
    for person, own in rated.items():
        sets = list(combinations(own, min(m, len(own))))
        chances[person] = 0.0
        for known in sets:
            fits = [o for o in rated.values() if all(i in o and o[i] == own[i] for i in known)]
            least = min(map(len, fits))
            if len(own) == least:
                chances[person] += 1 / sum(len(o) == least for o in fits) / len(sets)
    enough = [chance for person, chance in chances.items() if len(rated[person]) >= m]
    return float(np.mean(enough)), float(np.mean(list(chances.values())))


def released(case: Case) -> pa.Table:
    assert isinstance(case.release, Table)
    return pa.Table.from_batches(case.release.batches())


# ---- the choice ------------------------------------------------------------------------------------------------------


def aimed(
    method: str, columns: tuple[str, ...], rows: pa.Table, risk: str = "linkage.success"
) -> tuple[Case, Policy, Protection | None]:
    """What is made of ratings to make a risk a fifth less, for a policy with the tolerance that this is."""
    said = policy(ratings=columns, insensitive=tuple(set(rows.column_names) - set(columns)))
    said, case, run = replace(said, tolerance={**OFF, risk: 1.0}), Case(unveil.read(rows)), Run()
    search = plan_search(case, said, run)
    aim = 0.8 * search.success_bound(search.unchanged_plan)
    wanted = replace(said, tolerance={**OFF, risk: aim})
    return case, wanted, PROTECTIONS[method].fit(case, wanted, run, 1.0)


@pytest.mark.parametrize(
    ("method", "columns"),
    [
        *product(("columns",), (RATINGS[:3], RATINGS)),
        *product(("items", "people"), (RATINGS[:2], RATINGS[:3])),
        *product(("mixed",), (RATINGS[:2], RATINGS[:3], RATINGS)),
    ],
)
def test_what_is_left_withstands_every_attack(method: str, columns: tuple[str, ...]) -> None:
    """Played by the search, and counted here over all sets of ratings, for those with enough of them and for all."""
    rows = rare_and_common() if method == "items" else ratings(days=3)
    case, wanted, protection = aimed(method, columns, rows)
    assert protection is not None
    safer = protection.apply()
    found = attacked(released(safer), 2, policy_for_what_is_left(wanted, case.release, safer.release).ratings)
    assert max(found) <= wanted.threshold(SUCCESS)
    assert 0 < protection.usefulness < 1


@pytest.mark.parametrize(
    ("method", "columns"), [("columns", RATINGS[:2]), *product(("items",), (RATINGS[:2], RATINGS)), ("people", RATINGS)]
)
def test_what_one_kind_of_move_cannot_reach(method: str, columns: tuple[str, ...]) -> None:
    """There is no column to coarsen, no film is rare, and dates tell almost everyone apart. People who become identical
    are fully disclosed."""
    assert aimed(method, columns, ratings(days=3), "linkage.everything_learned")[2] is None


def test_success_is_what_all_sets_of_ratings_give(table: Table) -> None:
    """Where values have no dates it is counted. Else 10,000 sets are drawn: the mean is within .02 of the truth, and
    what is weighed is above it by the interval that an assessment of so many people would give."""
    rows = released(Case(table))
    for m, columns in product((1, 2, 4), (RATINGS[:3], RATINGS)):
        search = search_of(table, m, columns)
        found = search.attack_plan(search.unchanged_plan)
        defined, everyone = attacked(rows, m, columns)
        exact = len(columns) == 3
        assert found.covers_everyone and len(found.attacked) == 200
        assert found.chance.mean() == pytest.approx(everyone, abs=1e-9 if exact else 0.02)
        assert found.success_bound == pytest.approx(max(defined, everyone), abs=1e-9 if exact else 0.12)
        assert exact or found.success_bound >= max(defined, everyone)


def test_columns_against_every_combination() -> None:
    for seed in range(4):
        search = search_of(unveil.read(ratings(100, 8, seed, days=100)))
        every = [
            ProtectionPlan((0, *levels), (0, 0, 0))
            for levels in product(*(range(x.left_out_level + 1) for x in search.ladders[1:]))
        ]
        for aim in (0.9, 0.7, 0.5):
            best = max((search.plan_usefulness(p) for p in every if search.success_bound(p) <= aim), default=None)
            found = smallest_plan(search, aim, ("columns",))
            assert (best is None) == (found is None), (seed, aim)
            if best is not None and found is not None:
                assert search.success_bound(found) <= aim
                assert search.plan_usefulness(found) >= 0.9 * best


def rare_and_common() -> pa.Table:
    """Six of twelve films that all see, and one or two that few do."""
    rng, rows = np.random.default_rng(0), list[tuple[str, str, int, float]]()
    for person in range(120):
        films = [f"a{i:02d}" for i in rng.choice(12, 6, replace=False)]
        films += [f"b{i:02d}" for i in rng.choice(60, rng.integers(1, 3), replace=False)]
        rows += [(f"u{person:03d}", film, int(rng.integers(1, 3)), 0.0) for film in films]
    return pa.table(dict(zip(("user", "film", "stars", "mood"), zip(*rows, strict=True), strict=True)))


@pytest.mark.parametrize("kinds", [("columns",), ("items",), ("people",), ("columns", "items", "people")])
def test_nothing_that_was_given_up_can_be_taken_back(kinds: tuple[str, ...]) -> None:
    rows = ratings(days=3) if kinds == ("people",) else rare_and_common()
    search = search_of(unveil.read(rows), columns=RATINGS[:3])
    aim = 0.85 * search.success_bound(search.unchanged_plan)
    plan = smallest_plan(search, aim, kinds)
    assert plan is not None
    assert search.success_bound(plan) <= aim
    assert bool(plan.rare[ITEM_COLUMN]) == ("items" in kinds)
    for less in search.relaxed_plans(plan):
        assert search.success_bound(less) > aim or search.plan_usefulness(less) <= search.plan_usefulness(plan)


def test_the_people_who_are_found_go_first() -> None:
    """Of twenty who saw two of the same three films and three who did not, those three."""
    rows = [(f"a{p:02d}", film) for p in range(20) for film in ("x", "y", f"z{p}")]
    rows += [(p, film) for p in ("b", "c", "d") for film in (p, p + p, p + p + p)]
    who, what = zip(*rows, strict=True)
    search = search_of(unveil.read(pa.table({"user": who, "film": what, "mood": [0] * len(who)})), 1, RATINGS[:2])
    assert sorted(search.highest_risk_ids(search.unchanged_plan, 3).tolist()) == [20, 21, 22]


def test_who_has_few_ratings_left_is_known_by_all_of_them() -> None:
    """Twenty people with two or three ratings are not all found; forty with a single one that nobody else has are, and
    would not even be looked for by someone who insists on two."""
    rows = [(f"a{p}", film) for p in range(10) for film in ("v", f"w{p % 2}")]
    rows += [(f"b{p:02d}", f"x{p:02d}") for p in range(40)]
    rows += [(f"c{p}", film) for p in range(10) for film in ("v", f"w{p % 2}", f"z{p % 5}")]
    who, what = zip(*rows, strict=True)
    table = unveil.read(pa.table({"user": who, "film": what, "mood": [0] * len(who)}))
    enough, everyone = attacked(released(Case(table)), 2, RATINGS[:2])
    assert enough < 0.5 < 0.7 < everyone
    search = search_of(table, 2, RATINGS[:2])
    assert search.success_bound(search.unchanged_plan) == pytest.approx(everyone)
    assert set(search.attack_plan(search.unchanged_plan).attacked) == set(range(60))


def test_people_without_any_rating_left_do_not_count(table: Table) -> None:
    search = search_of(table, columns=RATINGS[:2])
    t = search.rarity_limits(ITEM_COLUMN, 0)[-1]
    plan = search.unchanged_plan.move_column(ITEM_COLUMN, 0, t)
    left = search.people_with_ratings(plan)
    assert len(left) < search.size
    assert search.attack_plan(plan).attacked.tolist() == left.tolist()
    assert f"{search.size - len(left)} people who rated nothing else" in describe_plan(search, plan)


def test_items_are_counted_by_people() -> None:
    visits = [("a", "bar")] * 5 + [("b", "bar"), ("b", "spa"), ("c", "spa"), ("c", "bar"), ("d", "zoo"), ("d", "zoo")]
    who, where = zip(*visits, strict=True)
    search = search_of(unveil.read(pa.table({"user": who, "film": where, "mood": [0] * 11})), 1, RATINGS[:2])
    assert search.raters_per_item.tolist() == [3, 2, 1]
    assert search.rarity_limits(ITEM_COLUMN, 0) == (2,)
    plan = search.unchanged_plan.move_column(ITEM_COLUMN, 0, 2)
    assert len(search.kept_rows(plan)) == 9
    assert describe_plan(search, plan) == (
        "1 of 3 items left out (rated by fewer than 2 people), and with them 1 person who rated nothing else."
    )


def test_usefulness_in_numbers() -> None:
    """Four films, four days in two months, one kind of stars: by month half of the days' entropy is left; without two
    of the films, half of the ratings and half of the films' entropy."""
    films, days = ["a", "b", "c", "d"] * 4, ["2020-01-01", "2020-01-02", "2020-02-01", "2020-02-02"]
    rows = {"user": [f"u{i // 2}" for i in range(16)], "film": films, "stars": [3] * 16}
    table = unveil.read(pa.table({**rows, "day": [days[i // 4] for i in range(16)], "mood": [0] * 16}))
    search = search_of(table)
    assert search.plan_usefulness(search.unchanged_plan) == 1
    assert search.ladders[2].steps[1].description == "by month"
    assert search.plan_usefulness(search.unchanged_plan.move_column(2, 1, 0)) == pytest.approx((1 + 1 + 0.5) / 3)
    assert search.plan_usefulness(
        search.unchanged_plan.move_column(2, search.ladders[2].left_out_level, 0)
    ) == pytest.approx(2 / 3)
    gone = ProtectionPlan((0, 0, 0), (0, 0, 0), np.array([0, 2, 4, 6]))
    assert search.plan_usefulness(gone) == pytest.approx(0.5 * (0.5 + 1 + 1) / 3)


def test_the_item_stays(table: Table) -> None:
    search = search_of(table)
    assert search.apply_move(search.unchanged_plan, PlanMove(ITEM_COLUMN, level=1)) is None
    assert smallest_plan(search, 0.0, ("columns",)) is None
    for method in OFFERS:
        assert PROTECTIONS[method].fit(Case(table), policy(1e-4), Run(), 1.0) is None


# ---- what comes out --------------------------------------------------------------------------------------------------


def test_the_choice_does_not_depend_on_the_order_of_rows() -> None:
    rows = ratings(150, 10, 5, days=3)
    shuffled = rows.take(np.random.default_rng(1).permutation(len(rows)))
    found = []
    for one in (rows, rows, shuffled):
        protection = PROTECTIONS["mixed"].fit(Case(unveil.read(one)), policy(0.4), Run(), 1.0)
        assert protection is not None
        found.append((protection.sentence, protection.usefulness, released(protection.apply())))
    assert found[0][2].equals(found[1][2])
    assert found[0][:2] == found[1][:2] == found[2][:2]
    bags = [sorted(map(str, rows.to_pylist())) for *_, rows in found]
    assert bags[0] == bags[2]


@pytest.mark.parametrize("method", ["columns", "mixed"])
def test_what_was_not_changed_is_as_it_was(method: str) -> None:
    rows = ratings(days=100)
    table = unveil.read(rows)
    protection = PROTECTIONS[method].fit(Case(table), policy(0.5), Run(), 1.0)
    assert protection is not None
    case = protection.apply()
    now, truth = released(case), case.truth
    assert truth is not None and case.original is table
    was = rows.take(np.flatnonzero(truth >= 0))
    assert now.column_names == [c for c in was.column_names if c in now.column_names]
    assert {"user", "film", "mood"} <= set(now.column_names)
    done = protection.sentence.partition(" of the ratings")[0]
    for name in now.column_names:
        if name in ("user", "film", "mood") or name not in done:
            assert now[name].equals(was[name]), name
    assert "CANARY" not in protection.sentence and "2020" not in protection.sentence


def test_the_whole_way(table: Table) -> None:
    made = unveil.protect(table, policy(0.5))
    assert [p.id for p in made.assessment.protections] == ["none", *OFFERS]
    assert made.assessment.verdict.decision == "release"
    assert made.assessment["linkage.success"].status == "within"
    assert made.case is not None
    left = made.assessment.provenance.policy["ratings"]
    assert max(attacked(released(made.case), 2, tuple(left))) <= 0.5
    (chosen,) = [p for p in made.assessment.protections if p.chosen]
    assert chosen.usefulness == max(p.usefulness or 0 for p in made.assessment.protections if p.id != "none")


def test_a_date_without_a_value_is_what_is_compared(table: Table) -> None:
    """With the value gone the date stands third; how it was compared goes with its labels."""
    said = policy(0.5, compare={"day": "3d", "stars": "1"})
    search = plan_search(Case(table), said, Run())
    assert isinstance(search, RatingsSearch)
    plan = search.unchanged_plan.move_column(1, search.ladders[1].left_out_level, 0)
    safer = apply_plan(Case(table), table, search, plan)
    left = policy_for_what_is_left(said, table, safer.release)
    assert left.ratings == ("user", "film", "day")
    assert dict(left.settings_for(LinkageSettings).compare) == {"day": "3d"}
    value = unveil.assess(safer, left)["linkage.success"].value
    assert value is not None and value <= search.success_bound(plan) <= value + 0.15
    by_month = apply_plan(Case(table), table, search, plan.move_column(2, 1, 0))
    month = policy_for_what_is_left(said, table, by_month.release)
    assert dict(month.settings_for(LinkageSettings).compare) == {}


def test_ratings_without_a_value_stay() -> None:
    rows = ratings(days=3)
    stars = [None if i % 9 == 0 else s for i, s in enumerate(rows["stars"].to_pylist())]
    rows = rows.set_column(2, "stars", pa.array(stars, pa.int16()))
    tolerant = replace(policy(), tolerance={**OFF, "linkage.everything_learned": 0.8})
    protection = PROTECTIONS["columns"].fit(Case(unveil.read(rows)), tolerant, Run(), 1.0)
    assert protection is not None
    assert protection.sentence.startswith("stars in intervals of 2.")
    now = released(protection.apply())
    assert len(now) == len(rows)
    assert now["stars"].null_count == rows["stars"].null_count > 0


def test_another_column_that_tells_the_date_is_named() -> None:
    rows = ratings()
    week = [str(day.isocalendar()[1]) + "/" + str(day.weekday()) for day in rows["day"].to_pylist()]
    table = unveil.read(rows.append_column("week", pa.array(week)))
    search = search_of(table)
    said = policy(0.5)
    told = describe_leaks(table, coarse_columns(search, search.unchanged_plan.move_column(2, 1, 0)), said)
    assert told.startswith("Column week is unchanged and still reveals day: leave it out")
    assert (
        describe_leaks(table, coarse_columns(search, search.unchanged_plan.move_column(ITEM_COLUMN, 0, 5)), said) == ""
    )


def test_what_suits_is_offered(table: Table) -> None:
    with pytest.raises(
        UnveilError, match="for such data is called 'rows'; choose from columns, items, people and mixed"
    ):
        unveil.protect(table, policy(0.5), method="rows")
    quasi = Policy(quasi=("film", "stars", "day"), tolerance={**OFF, "linkage.success": 0.1})
    with pytest.raises(
        UnveilError, match="'people'; choose from levels, local, mondrian, cells, microaggregation, columns"
    ):
        unveil.protect(table, quasi, method="people")
    several = Policy(subject="user", quasi=("film", "stars", "day"), tolerance=quasi.tolerance)
    with pytest.raises(UnveilError, match="'columns'; choose from levels"):
        unveil.protect(table, several, method="columns")


def test_a_cancelled_search_stops(table: Table) -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        PROTECTIONS["items"].fit(Case(table), policy(0.1), run, 1.0)


# ---- on the command line ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "method"), [("csv", None), ("parquet", "columns")])
def test_on_the_command_line(tmp_path: Path, unveil: Unveil, ending: str, method: str | None) -> None:
    rows, path, safe = ratings(), tmp_path / f"films.{ending}", tmp_path / f"safe.{ending}"
    if ending == "csv":
        pyarrow.csv.write_csv(rows, path)
    else:
        pq.write_table(rows, path)
    said = ("--insensitive", "mood", "--known", 2, "--tolerance", "linkage.success=.5")
    only = () if method is None else ("--method", method)
    done = unveil("protect", path, "--ratings", ",".join(RATINGS), *said, *only, "-o", safe, "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [p["id"] for p in told["protections"]] == ["none", *((method,) if method else OFFERS)]
    assert "CANARY" not in done.stdout + done.stderr
    left = told["provenance"]["policy"]["ratings"]
    now = pyarrow.csv.read_csv(safe) if ending == "csv" else pq.read_table(safe)
    assert max(attacked(now, 2, tuple(left))) <= 0.5
    if ending == "parquet":
        assert now.schema.field("mood").type == pa.float64()


def test_where_nothing_reaches(tmp_path: Path, unveil: Unveil) -> None:
    pyarrow.csv.write_csv(ratings(), tmp_path / "films.csv")
    said = ("films.csv", "--ratings", ",".join(RATINGS), "--insensitive", "mood")
    out = ("--tolerance", "linkage.success=.0001", "-o", "safe.csv", "--method")
    done = unveil("protect", *said, *out, "columns")
    assert done.returncode == 1, done.stderr
    assert "nothing was written" in done.stderr and "publish statistics about many people" in done.stderr
    done = unveil("protect", *said, *out, "values")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].endswith("choose from columns, items, people and mixed")
    assert [p.name for p in tmp_path.iterdir()] == ["films.csv"]
