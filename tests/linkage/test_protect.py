"""Protection of tables: what is chosen against every choice there is, what is written, and that it holds when attacked
again."""

from __future__ import annotations

import datetime
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Case, Policy, Run, Table, UnveilError
from unveil.assess import resolve
from unveil.linkage.finding_text import MIN_COLUMNS
from unveil.linkage.protect import PROTECTIONS, apply_plan, coarse_columns, describe_plan, plan_search
from unveil.linkage.protections.greedy_search import relax_plan, smallest_plan
from unveil.linkage.protections.plan_search import PlanMove, PlanSearch, ProtectionPlan
from unveil.linkage.protections.table_search import TableSearch
from unveil.protect import policy_for_what_is_left
from unveil.release.coarse_table import describe_leaks
from unveil.release.coarsening import code_entropy, column_ladders, default_rule
from unveil.release.hierarchy import Hierarchy
from unveil.verdict import Verdict

QUASI = ("age", "sex", "zip", "job", "from")
TABLES = ("columns", "values", "rows", "mixed")
OFF = {"classes.k": 1, "classes.l_distinct": 1}


def is_all_but_off(verdict: Verdict) -> bool:
    """Whether everything is within tolerance, but for the checks that are off."""
    return len(verdict.reasons) == 1 and "a tolerance that every release meets for 2 checks" in verdict.sentence


def people(n: int = 400, seed: int = 0) -> pa.Table:
    """A column for every kind of ladder, one called like a word of SQL, some values missing, others untouched. Two in
    three are much alike."""
    rng = np.random.default_rng(seed)
    alike = rng.random(n) < 2 / 3
    days = np.where(alike, 0, 9 * rng.geometric(0.05, n)).tolist()
    day = [datetime.date(2020, 1, 6) + datetime.timedelta(days=d) for d in days]
    job = rng.choice(["clerk", "nurse", "smith", "cook", "?", "poet"], n, p=[0.4, 0.3, 0.2, 0.05, 0.03, 0.02])
    codes = np.where(alike, 1001, rng.choice([1001, 1002, 11013, 20100, 20155], n)).tolist()
    return pa.table(
        {
            "weight": np.round(rng.normal(70, 9, n), 3),
            "age": np.where(alike, rng.integers(40, 44, n), rng.integers(18, 80, n)),
            "sex": rng.choice(["f", "m"], n),
            "zip": [f"{code:05d}" for code in codes],
            "job": np.where(alike, "clerk", job),
            "from": pa.array([None if i % 50 == 7 else d for i, d in enumerate(day)], pa.date32()),
            "result": rng.integers(0, 4, n).astype(np.int16),
        }
    )


@pytest.fixture(scope="module")
def table() -> Table:
    return unveil.read(people())


def policy(tolerance: float | None = None, quasi: tuple[str, ...] = QUASI, **more: Any) -> Policy:
    said = {**OFF, "linkage.success": tolerance}
    return Policy(quasi=quasi, insensitive=("weight", "result"), tolerance=said, **more)


def search_of(table: Table, quasi: tuple[str, ...] = QUASI, known: int = 4, **hierarchies: Hierarchy) -> PlanSearch:
    said = Policy(quasi=quasi)
    made = column_ladders(table, quasi, hierarchies, said, Run())
    return TableSearch(made, known, {}, Run(), False, np.arange(table.rows))


def test_ties_are_broken_by_an_order_that_no_seed_replays() -> None:
    """Of forty equal rows, five are the likeliest to be found: not the same five each time."""
    table = unveil.read(pa.table({c: ["1"] * 40 for c in QUASI}))
    chosen = set()
    for _ in range(3):
        search = search_of(table)
        chosen.add(tuple(sorted(search.highest_risk_ids(search.unchanged_plan, 5).tolist())))
    assert len(chosen) > 1  # by chance the same three times: once in 10¹¹


# ---- ladders ---------------------------------------------------------------------------------------------------------


def test_every_kind_of_column_gets_its_ladder(table: Table) -> None:
    made = {ladder.name: ladder for ladder in search_of(table).ladders}
    said = {name: [step.description for step in ladder.steps] for name, ladder in made.items()}
    assert said["age"] == ["", "in intervals of 5", "in intervals of 10", "in intervals of 20"]
    assert said["from"] == ["", "by month", "by quarter", "by year"]
    assert said["zip"] == ["", "cut to 4 leading characters", "cut to 3 leading characters"]
    assert said["sex"] == [""]
    assert said["job"] == ["", "with its 2 rarest values together", "with its 4 rarest values together"]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.fractions(-1000, 1000, max_denominator=20), min_size=2, max_size=40, unique=True))
def test_intervals_nest_and_leave_fewer_labels(numbers: list[object]) -> None:
    texts = [str(float(n)) for n in numbers]  # type: ignore[arg-type]
    if default_rule(texts) in (None, "frequency"):
        return
    table = unveil.read(pa.table({"x": texts}))
    (ladder,) = column_ladders(table, ["x"], {}, Policy(), Run())
    for low, high in zip(ladder.steps, ladder.steps[1:], strict=False):
        assert 1 < len(high.labels) < len(low.labels)
        pairs = set(zip(low.becomes.tolist(), high.becomes.tolist(), strict=True))
        assert len(pairs) == len({a for a, _ in pairs})


def test_rare_labels_come_together_under_a_fresh_name() -> None:
    values = ["a"] * 10 + ["other"] * 10 + ["Other (2)"] * 5 + ["b", "c", "c"]
    (ladder,) = column_ladders(
        unveil.read(pa.table({"x": values})), ["x"], {}, Policy(missing=("?", "other (3)")), Run()
    )
    assert ladder.rarity_limits(0) == (5, 10)
    step = ladder.step(0, 5)
    assert step.labels.to_pylist() == ["Other (2)", "a", "other", "other (4)"]
    assert step.rare == 2
    assert ladder.step(0, 2) is ladder.steps[0]  # one value alone would only be renamed


def test_a_label_that_would_be_missing_is_called_differently() -> None:
    rows = [["a", "*", "*"], ["b", "*", "*"], ["c", "NA", "*"], ["d", "NA", "*"]]
    given_one = Hierarchy.from_rows(rows)
    (ladder,) = column_ladders(unveil.read(pa.table({"x": list("abcd")})), ["x"], {"x": given_one}, Policy(), Run())
    labels = ladder.steps[1].labels.to_pylist()
    assert labels == ["other", "other (2)"]


def test_labels_among_the_values_go_up_from_where_they_are() -> None:
    """What is a label already stays until the level above it; what the hierarchy does not know stays."""
    rows = [
        ["flu", "lungs", "inside"],
        ["asthma", "lungs", "inside"],
        ["ulcer", "stomach", "inside"],
        ["cut", "skin", "outside"],
    ]
    table = unveil.read(pa.table({"x": ["flu", "lungs", "ulcer", "cut", "unknown"]}))
    (ladder,) = column_ladders(table, ["x"], {"x": Hierarchy.from_rows(rows)}, Policy(), Run())
    shown = [[step.labels[c].as_py() for c in step.label_codes(ladder.codes)] for step in ladder.steps]
    assert shown[1] == ["lungs", "lungs", "stomach", "skin", "unknown"]
    assert shown[2] == ["inside", "inside", "inside", "outside", "unknown"]


def test_entropy_of_what_is_constant() -> None:
    assert code_entropy(np.zeros(5, np.int32)) == 0
    assert code_entropy(np.array([0, 1, 2, 3], np.int32)) == 2


# ---- the choice ------------------------------------------------------------------------------------------------------


def tiny(seed: int) -> PlanSearch:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 40))
    zips = rng.choice(["1100", "1101", "1210", "2200", "2311"], n)
    job = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    table = unveil.read(
        pa.table({"age": rng.integers(20, 50, n), "sex": rng.choice(["f", "m"], n), "zip": zips, "job": job})
    )
    return search_of(table, ("age", "sex", "zip", "job"), known=int(rng.integers(1, 5)))


def every_plan(search: PlanSearch) -> list[ProtectionPlan]:
    """All combinations of levels that leave enough columns."""
    made = (
        ProtectionPlan(levels, search.unchanged_plan.rare)
        for levels in product(*(range(x.left_out_level + 1) for x in search.ladders))
    )
    return [plan for plan in made if len(search.kept_columns(plan)) >= MIN_COLUMNS]


def test_columns_against_every_combination() -> None:
    """A plan is found whenever there is one. Greedy need not be best: it keeps 99.5% of the usefulness of the best plan
    on average, 92% at worst, and is the best in 86% of the cases (163 cases of 100 such tables)."""
    shares = []
    for seed in range(16):
        search = tiny(seed)
        plans = every_plan(search)
        for aim in (0.7, 0.4, 0.2):
            if search.success_bound(search.unchanged_plan) <= aim:
                continue
            best = max((search.plan_usefulness(p) for p in plans if search.success_bound(p) <= aim), default=None)
            found = smallest_plan(search, aim, ("columns",))
            assert (best is None) == (found is None), (seed, aim)
            if best is not None and found is not None:
                assert search.success_bound(found) <= aim
                assert search.plan_usefulness(found) <= best + 1e-12
                shares.append(search.plan_usefulness(found) / best)
    assert len(shares) > 15
    assert np.mean(shares) > 0.97


@pytest.mark.parametrize("kinds", [("columns",), ("values",), ("rows",), ("columns", "values", "rows")])
def test_nothing_that_was_given_up_can_be_taken_back(table: Table, kinds: tuple[str, ...]) -> None:
    search = search_of(table)
    aim = 0.7 * search.success_bound(search.unchanged_plan)
    plan = smallest_plan(search, aim, kinds)
    assert plan is not None
    assert search.success_bound(plan) <= aim
    for less in search.relaxed_plans(plan):
        assert search.success_bound(less) > aim or search.plan_usefulness(less) <= search.plan_usefulness(plan)


def test_a_move_that_harms_is_taken_back() -> None:
    """Leaving out what tells little makes it likelier that the rest is known."""
    search = search_of(unveil.read(people(60, 3)), known=2)
    out = search.unchanged_plan.move_column(1, search.ladders[1].left_out_level, 0)
    assert search.ladders[1].name == "sex"
    assert search.success_bound(out) > search.success_bound(search.unchanged_plan)
    assert relax_plan(search, search.success_bound(out), out).key == search.unchanged_plan.key


def test_the_rows_that_are_found_go_first() -> None:
    """Of thirty that are alike and three that are not, those three."""
    values = [("a", "b", "c")] * 30 + [("a", "b", "x"), ("y", "b", "c"), ("a", "z", "c")]
    table = unveil.read(pa.table({name: [row[i] for row in values] for i, name in enumerate("klm")}))
    search = search_of(table, ("k", "l", "m"), known=3)
    assert sorted(search.row[search.highest_risk_ids(search.unchanged_plan, 3)].tolist()) == [30, 31, 32]


def test_usefulness_in_numbers() -> None:
    """Four values in two intervals keep half of the entropy; a constant column loses nothing; one left out all."""
    columns = {"age": [10, 20, 30, 40] * 2, "one": ["x"] * 8, "sex": ["f", "m"] * 4, "job": ["a", "a", "b", "b"] * 2}
    search = search_of(
        unveil.read(pa.table(columns)),
        ("age", "one", "sex", "job"),
        age=Hierarchy.from_intervals([10, 20, 30, 40], [[25]]),
    )
    assert search.plan_usefulness(search.unchanged_plan) == 1
    assert search.plan_usefulness(search.unchanged_plan.move_column(0, 1, 0)) == pytest.approx((0.5 + 1 + 1 + 1) / 4)
    out = search.unchanged_plan.move_column(2, 1, 0)
    assert search.plan_usefulness(out) == pytest.approx(3 / 4)
    fewer = ProtectionPlan(out.levels, out.rare, np.array([0, 1]))
    assert search.plan_usefulness(fewer) == pytest.approx(6 / 8 * search.kept_information(fewer))


def test_at_least_three_columns_stay(table: Table) -> None:
    search = search_of(table, ("age", "sex", "zip", "job"))
    plan = search.unchanged_plan.move_column(0, search.ladders[0].left_out_level, 0)
    assert search.apply_move(plan, PlanMove(1, level=search.ladders[1].left_out_level)) is None
    assert smallest_plan(search, 0.0, ("columns",)) is None
    assert smallest_plan(search, 0.0, ("values",)) is None


def test_the_plan_does_not_depend_on_the_order_of_rows() -> None:
    rows = people(200, 5)
    shuffled = rows.take(np.random.default_rng(1).permutation(200))
    found = []
    for one in (rows, shuffled):
        protection = PROTECTIONS["mixed"].fit(Case(unveil.read(one)), policy(0.2), Run(), 1.0)
        assert protection is not None
        released = pa.Table.from_batches(protection.apply().release.batches()).to_pylist()
        found.append((protection.sentence, protection.usefulness, sorted(map(str, released))))
    assert found[0] == found[1]


@pytest.mark.parametrize("method", ["columns", "values"])  # which of several like rows are left out is random
def test_the_same_bytes_twice(tmp_path: Path, method: str) -> None:
    for name in ("one.csv", "two.csv"):
        protection = PROTECTIONS[method].fit(Case(unveil.read(people(200, 5))), policy(0.1), Run(), 1.0)
        assert protection is not None
        unveil.write(protection.apply().release, tmp_path / name)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


# ---- what comes out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", TABLES)
def test_every_offer_holds_when_it_is_attacked_again(table: Table, method: str) -> None:
    before = unveil.assess(table, policy())["linkage.success"].value
    assert before is not None
    made = unveil.protect(table, policy(round(0.8 * before, 3)), method=method)
    assert made.case is not None
    assert is_all_but_off(made.assessment.verdict)
    after = made.assessment["linkage.success"]
    assert after.status == "within"
    (chosen,) = [p for p in made.assessment.protections if p.chosen]
    assert chosen.id == method
    assert chosen.usefulness is not None and 0 < chosen.usefulness < 1
    truth = made.case.truth
    assert truth is not None and (truth >= 0).sum() == made.release.size["rows"]
    assert isinstance(made.release, Table) and made.case.original is table


def own_rows_found(rows: list[tuple[object, ...]], m: int) -> float:
    """How often someone names the very row who knows m random values of it, all of whose values are there."""
    total = 0.0
    for row in rows:
        sets = list(combinations(range(len(row)), m))
        total += sum(1 / sum(all(o[i] == row[i] for i in s) for o in rows) for s in sets) / len(sets)
    return total / len(rows)


@pytest.mark.parametrize("method", ["values", "mixed"])
def test_where_rows_become_equal_only_the_own_one_may_count(method: str) -> None:
    """In a table of nothing but quasi-identifiers, whatever is coarsened makes rows equal, which reveals everything."""
    rng = np.random.default_rng(3)
    rows = pa.table(
        {c: np.minimum(rng.geometric(p, 200), 9) for c, p in zip("abcd", (0.3, 0.4, 0.5, 0.6), strict=True)}
    )
    said = {**OFF, "linkage.everything_learned": 0.05}
    of_all = Policy(quasi=tuple("abcd"), tolerance=said, settings={"linkage": {"known": 3}})
    assert unveil.protect(unveil.read(rows), of_all, method=method).case is None
    own = replace(of_all, tolerance={**OFF, "linkage.success": 0.05})
    made = unveil.protect(unveil.read(rows), own, method=method)
    assert made.case is not None and isinstance(made.release, Table)
    left = pa.Table.from_batches(made.release.batches())
    found = own_rows_found(list(zip(*left.to_pydict().values(), strict=True)), 3)
    assert found <= 0.05 < own_rows_found(list(zip(*rows.to_pydict().values(), strict=True)), 3)
    assert made.assessment["linkage.success"].value == pytest.approx(found)


def test_what_was_not_changed_is_as_it_was(table: Table) -> None:
    protection = PROTECTIONS["columns"].fit(Case(table), policy(0.15), Run(), 1.0)
    assert protection is not None
    release = protection.apply().release
    assert isinstance(release, Table)
    was, now = (pa.Table.from_batches(t.batches()) for t in (table, release))
    assert [c for c in was.column_names if c in now.column_names] == now.column_names
    assert "age in intervals" in protection.sentence or "age" not in now.column_names
    done = protection.sentence.partition("The quasi")[0]
    for name in now.column_names:
        assert now[name].equals(was[name]) == (name not in done), name
    assert {"weight", "result"} <= set(now.column_names)


def test_missing_values_stay_as_they_are(table: Table) -> None:
    """A null stays a null and ? stays ?, and no value becomes either."""
    for name in ("columns", "values", "mixed"):
        protection = PROTECTIONS[name].fit(Case(table), policy(0.1), Run(), 1.0)
        assert protection is not None
        case = protection.apply()
        assert case.truth is not None and isinstance(case.release, Table)
        kept = case.truth >= 0
        for column in set(QUASI) & set(case.release.columns):
            was = table.codes([column], Policy().missing)[column].codes[kept] < 0
            now = case.release.codes([column], Policy().missing)[column].codes < 0
            assert (was == now).all(), (name, column)
        jobs = pa.Table.from_batches(case.release.batches())["job"].to_pylist()
        before = pa.Table.from_batches(table.batches())["job"].to_pylist()
        assert jobs.count("?") == sum(job == "?" and keep for job, keep in zip(before, kept, strict=True))


def test_rows_keep_their_order(table: Table) -> None:
    protection = PROTECTIONS["rows"].fit(Case(table), policy(0.3), Run(), 1.0)
    assert protection is not None
    case = protection.apply()
    assert isinstance(case.release, Table) and case.truth is not None
    was, now = (pa.Table.from_batches(t.batches()) for t in (table, case.release))
    assert now.equals(was.take(np.flatnonzero(case.truth >= 0)))
    assert (np.diff(case.truth[case.truth >= 0]) == 1).all()


def test_another_column_that_gives_one_away_is_named() -> None:
    rows = people(200)
    number = {"clerk": 1, "nurse": 2, "smith": 3, "cook": 4, "?": 9, "poet": 6}
    table = unveil.read(rows.append_column("job-no", pa.array([number[j] for j in rows["job"].to_pylist()])))
    said = Policy(quasi=QUASI, insensitive=("weight", "result", "job-no"), tolerance={**OFF, "linkage.success": 0.05})
    search = search_of(table)
    job = search.unchanged_plan.move_column(QUASI.index("job"), 1, 0)
    assert describe_leaks(table, coarse_columns(search, job), said).startswith(
        "Column job-no is unchanged and still reveals job: leave it out"
    )
    assert describe_leaks(table, coarse_columns(search, search.unchanged_plan.move_column(0, 1, 0)), said) == ""


@pytest.mark.parametrize("twin", [False, True])
def test_what_is_given_away_or_lost_is_left_to_a_person(twin: bool) -> None:
    """Three numbers of 100 each: so few may be found that all of them have to be coarser."""
    rng = np.random.default_rng(4)
    columns = {name: rng.integers(0, 100, 600) for name in "abc"}
    rows = pa.table(
        {**columns, "s": rng.integers(0, 9, 600), "other": columns["a"] + 1000 if twin else rng.integers(0, 9, 600)}
    )
    said = Policy(
        quasi=tuple("abc"),
        insensitive=("s", "other"),
        tolerance={**OFF, "linkage.success": 0.1},
        settings={"linkage": {"known": 3}},
    )
    made = unveil.protect(unveil.read(rows), said, method="columns")
    assert made.case is not None
    assert made.assessment.verdict.decision == "your call" and is_all_but_off(made.assessment.verdict) == (not twin)
    assert ("still reveals a" in made.assessment.verdict.sentence) == twin


def test_no_values_are_told(table: Table) -> None:
    for name in TABLES:
        protection = PROTECTIONS[name].fit(Case(table), policy(0.3), Run(), 1.0)
        assert protection is not None, name
        for value in ("clerk", "poet", "01001", "2020", "20155"):
            assert value not in protection.sentence


@pytest.mark.parametrize(
    ("column", "said", "done"),
    [
        ("age", "intervals:10,30", "age in intervals of 30"),
        ("zip", "prefixes:3,1", "zip cut to 3 leading characters"),
        ("from", "dates", "from by year"),
        ("job", "job.csv", "job on level 1 of 2 of its hierarchy"),
    ],
)
def test_hierarchies_of_the_policy(table: Table, tmp_path: Path, column: str, said: str, done: str) -> None:
    """Whatever the policy names is climbed, and what comes out can be assessed, its labels still understood."""
    rows = [("clerk", "desk"), ("poet", "desk"), ("nurse", "hands"), ("smith", "hands"), ("cook", "hands")]
    (tmp_path / "job.csv").write_text("".join(f"{job};{kind};*\n" for job, kind in rows))
    file = str(tmp_path / said) if said.endswith("csv") else said
    resolved = resolve(Case(table), policy(0.5, hierarchy={column: file}), Run())
    case, full = resolved.case, resolved.policy
    search = plan_search(case, full, Run())
    at = QUASI.index(column)
    plan = search.unchanged_plan.move_column(at, search.ladders[at].left_out_level - 1, 0)
    assert describe_plan(search, plan) == f"{done}."
    safer = apply_plan(case, table, search, plan)
    left = policy_for_what_is_left(full, table, safer.release)
    value = unveil.assess(safer, left)["linkage.success"].value
    assert value is not None
    assert value <= search.success_bound(plan) <= value + 0.01  # two rows with fewer values are weighed, too
    known = safer.hierarchies[column]
    labels = safer.release.codes([column], full.missing)[column].values.to_pylist()  # type: ignore[union-attr]
    assert all(len(known.covered_values(label)) for label in labels)


def test_columns_compared_by_distance_become_labels(table: Table) -> None:
    """Ages two apart are alike as long as they are numbers; intervals are compared for equality."""
    made = unveil.protect(table, policy(0.08, settings={"linkage": {"compare": {"age": "2"}}}))
    assert made.case is not None
    assert is_all_but_off(made.assessment.verdict)


def test_guessed_roles_stay_the_same_attacker(table: Table) -> None:
    made = unveil.protect(table, Policy(tolerance={**OFF, "linkage.success": 0.3}), method="columns")
    assert made.case is not None
    assert made.assessment.verdict.decision == "your call"
    before, after = ({c.name: c.role for c in a.columns} for a in (made.before, made.assessment))
    assert all(before[name] == role for name, role in after.items())


def test_what_is_within_tolerance_stays_as_it_is_but_for_its_order(table: Table) -> None:
    made = unveil.protect(table, policy(1.0), keep_order=True)
    assert made.release is table
    assert made.assessment.verdict.decision == "your call"
    made = unveil.protect(table, policy(1.0))
    assert made.release is not table
    assert made.release.size == table.size
    assert [(p.id, p.chosen) for p in made.assessment.protections] == [("none", True)]
    with pytest.raises(UnveilError, match="only baskets"):
        made.mapping()


def test_what_cannot_be_reached_gives_no_release(table: Table) -> None:
    made = unveil.protect(table, policy(1e-6))
    assert made.case is None
    assert {p.usefulness for p in made.assessment.protections if p.id != "none"} == {None}
    with pytest.raises(UnveilError, match="none of the protections tried meets the tolerances"):
        _ = made.release


def test_what_stands_in_the_way_is_named(table: Table) -> None:
    said = policy(0.3)
    k = Policy(quasi=said.quasi, insensitive=said.insensitive, tolerance={**said.tolerance, "classes.k": 401})
    made = unveil.protect(table, k)
    assert made.case is None
    assert made.closest_method in TABLES
    assert made.blocking_findings == ("classes.k",)
    with pytest.raises(UnveilError, match=r"still over: classes\.k"):
        _ = made.release


def test_rows_with_few_values_cannot_be_used_to_cheat() -> None:
    """Rows of fewer than three values are no targets of someone who knows three. They are weighed all the same, or only
    1 in 30 would be found here."""
    few = [("a", "b", None), ("c", None, "d"), (None, "e", "f"), ("g", "h", None), ("i", None, "j")] * 2
    few = [tuple(v and f"{v}{i}" for v in row) for i, row in enumerate(few)]
    rows = [("x", "y", "z")] * 30 + few
    table = unveil.read(pa.table({name: [row[i] for row in rows] for i, name in enumerate("klm")}))
    search = search_of(table, ("k", "l", "m"), known=3)
    assert search.success_bound(search.unchanged_plan) == pytest.approx((1 + 10) / 40)
    assert sorted(search.row[search.highest_risk_ids(search.unchanged_plan, 10)].tolist()) == list(range(30, 40))


def test_refusals_name_the_remedy(table: Table) -> None:
    run = Run()
    for said in (policy(0.1, ("age", "sex")), policy(0.1, subject="weight"), policy(None)):
        with pytest.raises(UnveilError, match="no protection for such data is called 'mixed'; choose from levels"):
            unveil.protect(table, said, method="mixed")
    with pytest.raises(UnveilError, match="protect the original"):
        PROTECTIONS["columns"].fit(Case(table, table), policy(0.1), run, 1.0)
    with pytest.raises(
        UnveilError,
        match="choose from levels, local, mondrian, cells, microaggregation, columns, values, rows and 1 more",
    ):
        unveil.protect(table, policy(0.1), method="merge")


def test_links_of_known_people_move_along(table: Table) -> None:
    """The truth about a file of people, and not about the original's rows, is what linking is measured by."""
    known = unveil.read(people().slice(0, 5))
    case = Case(table, truth=np.arange(5), holds=MappingProxyType({"people": known}))
    protection = PROTECTIONS["rows"].fit(case, policy(0.3), Run(), 1.0)
    assert protection is not None
    truth = protection.apply().truth
    assert truth is not None and len(truth) == 5
    nobody = PROTECTIONS["rows"].fit(Case(table, holds=case.holds), policy(0.3), Run(), 1.0)
    assert nobody is not None and nobody.apply().truth is None


def test_a_cancelled_search_stops(table: Table) -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        PROTECTIONS["columns"].fit(Case(table), policy(0.1), run, 1.0)


def test_progress_rises(table: Table) -> None:
    seen: list[float] = []
    run = Run(
        progress=lambda doing, done: (
            seen.append(done) if done is not None and "choosing a protection" in doing else None
        )
    )
    PROTECTIONS["columns"].fit(Case(table), policy(0.1), run, 1.0)
    assert seen and seen[0] == 0 and all(x <= 1 for x in seen)
