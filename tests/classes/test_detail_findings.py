"""The detail findings against their definitions, on random tables, and what is measured only when it is asked for."""

from __future__ import annotations

import math
import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_models, naive_uniques
from unveil import Assessment, Case, Engine, Policy, UnveilError
from unveil.classes import known_columns
from unveil.classes.ask import QUESTION
from unveil.questions import find_risk
from unveil.release.table import table_from_frame
from unveil.run import Run

ENGINE = Engine()
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=25)
ELDERS = {
    "classes.alpha": "classes.l_distinct",
    "classes.recursive_c": "classes.l_distinct",
    "classes.beta": "classes.t",
    "classes.beta_enhanced": "classes.t",
    "classes.delta_disclosure": "classes.t",
    "classes.distinction": "classes.uniques",
    "classes.separation": "classes.uniques",
    "classes.dis_suda": "classes.known_columns",
}


def table(rows: list[tuple[object, ...]], names: str, name: str = "t") -> unveil.Table:
    columns = [pa.array(list(map(str, column)), pa.string()) for column in zip(*rows, strict=True)]
    return table_from_frame(pa.table(columns, names.split()), engine=ENGINE, name=name)


def test_every_detail_names_its_elder_and_has_no_tolerance_of_its_own() -> None:
    details = {risk.id: risk.detail_of.id for risk in QUESTION.risks if risk.detail_of is not None}
    assert details == ELDERS
    assert all(find_risk(name).tolerance is None for name in ELDERS)


# ---- sensitive values ------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(2, 3))
def test_values_in_classes_are_as_defined(rows: list[tuple[int, int, int]], wanted: int) -> None:
    policy = Policy(quasi=("a", "b"), sensitive=("s",), tolerance={"classes.l_distinct": wanted})
    found = unveil.assess(table(rows, "a b s"), policy)
    sensitive: list[object] = [s for *_, s in rows]
    groups = naive_models.values_by_class([(a, b) for a, b, _ in rows], sensitive)
    each = [naive_models.class_measures(members, sensitive) for members in groups.values()]
    for name, measure in (
        ("alpha", "alpha"),
        ("beta", "beta"),
        ("beta_enhanced", "beta_enhanced"),
        ("delta_disclosure", "delta"),
    ):
        expected = max(m[measure] for m in each)
        assert found.find(f"classes.{name}", column="s", known=("a", "b")).value == pytest.approx(expected), name
    c = max(naive_models.recursive_c(members, wanted) for members in groups.values())
    assert found["classes.recursive_c"].value == pytest.approx(c)
    assert {f.method for f in found.findings if f.column == "s" and f.question == "classes"} == {"exact"}


def test_elders_leave_the_details_to_the_details() -> None:
    found = unveil.assess(table([(0, 1), (0, 2), (1, 1)], "q s"), Policy(quasi=("q",), sensitive=("s",)))
    for f in found.findings:
        if f.id not in ELDERS:
            assert not any(word in f.sentence for word in ("α", "β", "δ", "recursive", "SUDA")), f.sentence


def test_a_detail_with_a_tolerance_decides_and_counts_whom_it_harms() -> None:
    """Of 1, 1, 1, 2 in the first class and 1, 2 in the second, the largest shares are 3/4 and 1/2."""
    rows = [(0, 1), (0, 1), (0, 1), (0, 2), (1, 1), (1, 2)]
    tolerance = {"classes.k": 1, "classes.alpha": 0.6, "classes.recursive_c": 3, "classes.delta_disclosure": 9}
    found = unveil.assess(table(rows, "q s"), Policy(quasi=("q",), sensitive=("s",), tolerance=tolerance))
    alpha, c, delta = (found[f"classes.{name}"] for name in ("alpha", "recursive_c", "delta_disclosure"))
    assert (alpha.value, alpha.status, alpha.decides, alpha.share) == (0.75, "over", True, (4 / 6, 4 / 6))
    assert (c.value, c.status, c.share) == (3, "within", (0, 0))
    assert delta.status == "within"
    assert found.verdict.because == "classes.alpha"
    assert found["classes.beta"].status is None
    assert not found["classes.beta"].decides


def test_what_no_number_is_enough_for_is_infinite() -> None:
    rows = [(0, 1), (0, 1), (1, 1), (1, 2), (1, 2), (1, 2)]
    tolerance = {"classes.delta_disclosure": 100, "classes.recursive_c": 100}
    found = unveil.assess(table(rows, "q s"), Policy(quasi=("q",), sensitive=("s",), tolerance=tolerance))
    for name in ("delta_disclosure", "recursive_c"):
        assert (found[f"classes.{name}"].value, found[f"classes.{name}"].status) == (math.inf, "over")
        assert found[f"classes.{name}"].share == pytest.approx((2 / 6, 2 / 6))
        assert found[f"classes.{name}"].sentence.startswith("No ")
    read_back = Assessment.from_json(found.to_json())
    assert read_back["classes.recursive_c"].value == math.inf


def test_knowing_the_other_sensitive_columns_is_measured_in_all_three_ways() -> None:
    """By brute force: the classes of q and r together, with the shares of s in the whole table."""
    rng = random.Random(3)
    rows = [(rng.randrange(3), rng.choice("xyz"), rng.choice("ab")) for _ in range(60)]
    policy = Policy(quasi=("q",), sensitive=("s", "r"), tolerance={"classes.t": 0.01})
    found = unveil.assess(table(rows, "q s r"), policy)
    sensitive: list[object] = [s for _, s, _ in rows]
    groups = naive_models.values_by_class([(q, r) for q, _, r in rows], sensitive)
    each = [naive_models.class_measures(members, sensitive) for members in groups.values()]
    t, entropy = (found.find(f"classes.{x}", column="s", known=("q", "r")) for x in ("t", "l_entropy"))
    assert t.value == pytest.approx(max(m["t_equal"] for m in each))
    assert entropy.value == pytest.approx(min(m["entropy_l"] for m in each))
    assert (t.decides, t.tolerance, t.share) == (False, None, None)
    assert found.find("classes.t", column="s", known=("q",)).decides


def test_rows_without_a_sensitive_value_are_not_spoken_of() -> None:
    rows = [(0, "a"), (0, "a"), (0, "?"), (1, "b"), (1, "a")]
    found = unveil.assess(table(rows, "q s"), Policy(quasi=("q",), sensitive=("s",)))["classes.l_distinct"]
    assert found.sentence.startswith("50% of the rows with a value are in classes with fewer than 2")
    assert found.subjects == 4


def test_people_with_several_values_count_once_for_each() -> None:
    rows = [("p", 30, "a"), ("q", 30, "a"), ("r", 40, "b"), ("r", 40, "c")]
    policy = Policy(quasi=("age",), subject="who", sensitive=("ill",))
    found = unveil.assess(table(rows, "who age ill"), policy)["classes.homogeneity"]
    assert (found.value, found.subjects) == (1, 3)
    assert found.sentence.startswith("The class alone reveals ill for 100% of the people.")


# ---- class sizes -----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_distinction_and_separation_of_every_set(rows: list[tuple[int, int, int]]) -> None:
    sets = {("a", "b", "c"): (0, 1, 2), ("b", "c"): (1, 2), ("a",): (0,)}
    found = unveil.assess(table(rows, "a b c"), Policy(quasi=tuple(sets)))
    for known, columns in sets.items():
        distinction = found.find("classes.distinction", known=known)
        assert distinction.value == pytest.approx(naive_uniques.count_classes(rows, columns) / len(rows))
        assert distinction.subjects == len(rows)
        if len(rows) > 1:
            separation = found.find("classes.separation", known=known)
            assert separation.value == pytest.approx(naive_uniques.separated_pairs(rows, columns))
            assert separation.subjects == len(rows)


def test_wildcards_have_a_separation_but_no_distinction() -> None:
    """Of 30, ? and 40 only 30 and 40 differ for certain: one pair of three."""
    policy = Policy(quasi=("age",), missing_as="wildcard")
    found = unveil.assess(table([(30,), ("?",), (40,)], "age"), policy)
    assert found["classes.separation"].value == pytest.approx(1 / 3)
    assert "certainly differ" in found["classes.separation"].sentence
    assert not [f for f in found.findings if f.id == "classes.distinction"]


def test_nobody_and_somebody_in_small_classes() -> None:
    one = unveil.assess(table([(0,)] * 5 + [(1,)], "q"), Policy(quasi=("q",)))
    assert one["classes.at_risk"].sentence == "1 of 6 rows (16.7%) is in a class of fewer than 5 rows."
    assert one["classes.uniques"].sentence == "1 of 6 rows (16.7%) can be singled out: no other row has the same q."
    none = unveil.assess(table([(0,)] * 6, "q"), Policy(quasi=("q",)))
    assert none["classes.k"].sentence == "Every class of rows with the same q has at least 6 rows."
    assert none["classes.at_risk"].sentence == "No row is in a class of fewer than 5 rows."
    assert none["classes.uniques"].sentence.startswith("No row can be singled out")


# ---- DIS-SUDA --------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=20), st.floats(0.01, 1))
def test_dis_suda_scores_are_as_defined(rows: list[tuple[int, ...]], fraction: float) -> None:
    policy = Policy(quasi=("a", "b", "c", "d"), settings={"classes": {"sampling_fraction": fraction}})
    found = unveil.assess(table(rows, "a b c d"), policy, only="classes.dis_suda")["classes.dis_suda"]
    assert found.value == pytest.approx(max(naive_uniques.dis_suda(rows, 4, 4, fraction)))
    assert (found.method, found.decides, found.subjects) == ("estimate", False, len(rows))


def test_dis_suda_by_the_size_of_the_population() -> None:
    rows = [(0, 0), (0, 0), (1, 0), (0, 1), (1, 1)]
    by_size, by_share = (
        unveil.assess(table(rows, "a b"), Policy(quasi=("a", "b"), settings={"classes": chosen}))["classes.dis_suda"]
        for chosen in ({"population_size": 50}, {"sampling_fraction": 0.1})
    )
    assert by_size.value == by_share.value == pytest.approx(max(naive_uniques.dis_suda(rows, 2, 2, 0.1)))
    without = unveil.assess(table(rows, "a b"), Policy(quasi=("a", "b")))
    assert not [f for f in without.findings if f.id == "classes.dis_suda"]
    equal = Policy(quasi=("a", "b"), settings={"classes": {"sampling_fraction": 0.1}})
    none = unveil.assess(table([(0, 0)] * 2, "a b"), equal)["classes.dis_suda"]
    assert (none.value, none.sentence) == (0, "No row is unique on 2 columns or fewer, so none has a score.")


def test_a_tolerance_for_an_estimate_is_a_doubt() -> None:
    policy = Policy(
        quasi=("a", "b"),
        tolerance={"classes.k": 1, "classes.dis_suda": 0.01},
        settings={"classes": {"sampling_fraction": 0.5}},
    )
    found = unveil.assess(table([(0, 0), (1, 1)], "a b"), policy)
    assert found.verdict.decision == "your call"
    assert "Highest DIS-SUDA score" in found.verdict.sentence


# ---- only what is asked for ------------------------------------------------------------------------------------------


def test_only_what_is_asked_for_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object, **more: object) -> None:
        raise AssertionError("nobody asked for this")

    for name in ("risk_by_columns_known", "find_identifying_sets", "shapley_values"):
        monkeypatch.setattr(known_columns, name, never)
    rows = [(0, 0, "x", 2, 1), (0, 0, "y", 3, 1), (1, 1, "x", 4, 2)]
    release = table(rows, "a b s w h")
    survey = {"weight": "w", "household": "h"}
    policy = Policy(quasi=("a", "b"), sensitive=("s",), settings={"classes": {"population_size": 9}}, **survey)
    for risk in QUESTION.risks:
        if risk.id in ("classes.known_columns", "classes.known_items", "classes.presence"):
            continue
        case = Case(release, holds={"earlier 1": release})
        found = unveil.assess(case, policy, only=risk.id)
        assert {f.id for f in found.findings} == {risk.id}


# ---- how much must be known ------------------------------------------------------------------------------------------


def test_a_search_that_was_cut_short_is_not_called_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, alone = Policy(quasi=("a", "b")), [(0, 0), (0, 1), (1, 1), (1, 0)]
    for size, rows, said in (
        (1, alone, "No set of up to 1 column singles out 5% of the rows. These columns single out 5% of the rows or "
                   "more: a and b (100%). Not all sets of columns were searched."),
        (0, alone, "These columns single out 5% of the rows or more: a and b (100%). Not all sets of columns were "
                   "searched."),
        (1, alone * 2, "No set of up to 1 column singles out 5% of the rows; not all larger sets were searched."),
        (0, alone * 2, "No set that was searched singles out 5% of the rows; not all sets were searched."),
    ):  # fmt: skip
        stopped = known_columns.IdentifyingSets((), size, True)
        monkeypatch.setattr(known_columns, "find_identifying_sets", lambda *args, stopped=stopped, **more: stopped)
        assert said in unveil.assess(table(rows, "a b"), policy)["classes.known_columns"].sentence


def test_few_columns_may_not_be_enough() -> None:
    found = unveil.assess(table([(0, 0)] * 9 + [(0, 1)], "a b"), Policy(quasi=("a", "b")))["classes.known_columns"]
    assert found.sentence.startswith(
        "Even if both columns are known, fewer than half of the rows are found on average."
    )
    one = unveil.assess(table([(0, 0), (1, 0)], "a b"), Policy(quasi=("a", "b")))["classes.known_columns"]
    assert one.sentence.startswith("1 known column is enough to find half of the rows or more on average, if it is the")


# ---- several releases ------------------------------------------------------------------------------------------------

FIRST = [("130**", "20-29", v) for v in ("flu", "gout", "hiv")] + [
    ("148**", "30-39", v) for v in ("flu", "cold", "gout")
]
SECOND = [("1305*", "2*", v) for v in ("hiv", "cold", "acne")] + [("148**", "3*", v) for v in ("cold", "flu", "acne")]
TOGETHER = Policy(quasi=("zip", "age"), sensitive=("ill",))


def test_two_diverse_releases_break_each_other() -> None:
    """Whoever is 28 and lives in 13053 has what both classes have in common; the other has the flu or a cold."""
    people = table([("13053", "28"), ("14850", "35")], "zip age")
    holds = {"earlier 1": table(SECOND, "zip age ill"), "people": people}
    found = unveil.assess(Case(table(FIRST, "zip age ill"), holds=holds), TOGETHER, only="classes.intersection")
    together = found.find("classes.intersection", column="ill", known=("zip", "age"))
    assert (together.value, together.baseline, together.subjects, together.status) == (0.5, None, 2, "over")
    assert together.sentence == (
        "For 1 of 2 people (50%), the releases together leave only one value. For 1 of them, no single release does. "
        "For 1, several values are left, but fewer than in any single release. Where values are left (2 people), the "
        "likeliest by the most telling release, or by all of them together, is expected to be right for 75%; without "
        "the releases, guessing the most frequent value is expected to be right for 33.3%. Taken one by one, the "
        "releases have smallest classes of 3 rows and 3 rows."
    )
    assert together.curves[0].y == (0.0, 0.5)
    assert "hiv" not in found.to_json()


def test_three_releases_and_people_whom_nothing_fits() -> None:
    release = table(FIRST, "zip age ill")
    case = Case(release, holds={"earlier 1": release, "earlier 2": release})
    found = unveil.assess(case, TOGETHER)["classes.intersection"]
    assert (found.value, found.status, found.subjects) == (0, "within", 6)
    assert found.title == "Values of ill known from 3 releases together"
    assert (
        "For 0 of 6 rows (0%), the releases together leave only one value, the right one as far as it is recorded."
        in found.sentence
    )
    strangers = Case(release, holds={"earlier 1": release, "people": table([("99999", "77")], "zip age")})
    nobody = unveil.assess(strangers, TOGETHER)["classes.intersection"]
    assert (nobody.value, nobody.subjects) == (0, 1)
    assert nobody.sentence.startswith("No release has a row that fits any of the people. 8 labels match none of")


def test_releases_need_roles_and_columns() -> None:
    release = table(FIRST, "zip age ill")
    for policy, held, says in (
        (Policy(quasi=("zip",)), release, "which are sensitive"),
        (TOGETHER, table([("13053", "28")], "zip age"), "no column ill"),
    ):
        with pytest.raises(UnveilError, match=says):
            unveil.assess(Case(release, holds={"earlier 1": held}), policy)


# ---- settings, doubts and hints --------------------------------------------------------------------------------------


def test_a_population_has_a_size_or_a_fraction() -> None:
    with pytest.raises(UnveilError, match="keep one"):
        Policy(settings={"classes": {"population_size": 9, "sampling_fraction": 0.1}})


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("items_known", 2, "known = "),
        ("strict", True, "others_known = "),
        ("population", 1000, "population_size = "),
        ("ruled_out", {"s": ["a"]}, "[classes.ruled_out]"),
    ],
)
def test_old_settings_are_refused_with_their_new_name(old: str, value: object, new: str) -> None:
    with pytest.raises(UnveilError) as caught:
        Policy.from_dict({old: value})
    assert new in str(caught.value)
    assert "classes" in str(caught.value)


def test_one_row_that_was_left_out_is_a_doubt() -> None:
    rows = [(30,)] * 10 + [("?",)]
    policy = Policy(quasi=("age",), missing_as="excluded")
    for only in (None, "classes.uniques"):
        found = unveil.assess(table(rows, "age"), policy, only=only)
        assert "1 of 11 rows lacks a quasi-identifier and was left out." in found.verdict.reasons


def test_hints_name_what_is_in_the_way_and_never_turn_it_off() -> None:
    case, policy = Case(table([(0, "x")], "q s")), Policy(quasi=("q",), sensitive=("s",))
    for name, says in (
        ("classes.k", "even if no quasi-identifier is released"),
        ("classes.known_columns", "or release fewer of q"),
        ("classes.intersection", "another release"),
        ("classes.known_items", "rare items"),
    ):
        hint, *_ = QUESTION.hints(case, policy, [name, "linkage.success"], Run())
        assert name in hint
        assert says in hint
        assert "off" not in hint.split()
    assert not list(QUESTION.hints(case, policy, ["linkage.success"], Run()))
