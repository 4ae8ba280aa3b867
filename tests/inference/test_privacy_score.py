"""The privacy score against all subsets, by every method; intervals, interruptions, and what must not change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_inference import poset_scores, scores_by_enumeration
from reference.random_relations import (
    SetData,
    TableData,
    relation_from_sets,
    relation_from_table,
    set_data,
    table_data,
)
from unveil.arrays import Floats
from unveil.errors import Termination, UnveilError
from unveil.inference import generator_search, hitting_sets
from unveil.inference.privacy_score import PrivacyScores, choose_method, score
from unveil.inference.relation import Relation
from unveil.run import Run

PLENTY = settings(max_examples=700, deadline=None)
SOME = settings(max_examples=200, deadline=None)
ZERO_OR_ONE = st.sampled_from([0.0, 1.0])


def assert_exactly(found: PrivacyScores, expected: list[float]) -> None:
    assert found.is_exact
    assert found.lower.tolist() == expected


def assert_contains(found: PrivacyScores, expected: list[float]) -> None:
    assert (found.lower <= np.array(expected)).all() and (np.array(expected) <= found.upper).all()


SEARCHES = {
    "at once": {},
    "with floors": {"_FIRST_WORK": 0},
    "with floors and without room for lines": {"_FIRST_WORK": 0, "_MOST_WORDS": 0},
}


@contextmanager
def search_as(how: str, **limits: int) -> Iterator[None]:
    """Search small relations as large ones are searched."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**SEARCHES[how], **limits}.items():
            patch.setattr(generator_search, name, value)
        yield


# ---- equality with the definition ------------------------------------------------------------------------------------


@PLENTY
@given(set_data(10), st.sampled_from([1.0, 0.5, 4.0]), st.sampled_from([None, None, 0, 1, 2, 3]))
def test_sets_score_as_all_subsets_do(data: SetData, offset: float, most: int | None) -> None:
    relation = relation_from_sets(data, offset)
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger, offset, most)
    for method in (None, "subset lattice", "generator search"):
        assert_exactly(score(relation, method, most_known=most), expected)


@PLENTY
@given(set_data(likelihoods=ZERO_OR_ONE))
def test_certain_knowledge_scores_as_the_least_hitting_set(data: SetData) -> None:
    relation = relation_from_sets(data)
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
    for method in (None, "hitting sets", "subset lattice", "generator search"):
        assert_exactly(score(relation, method), expected)


@PLENTY
@given(table_data(), st.sampled_from([None, None, 1, 2]))
def test_tables_score_as_all_subsets_do_and_missing_values_refute_nothing(data: TableData, most: int | None) -> None:
    relation = relation_from_table(data)
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger, most=most)
    for method in (None, "subset lattice", "generator search", "column search"):
        assert_exactly(score(relation, method, most_known=most), expected)


@SOME
@given(set_data(10), st.integers(65, 300))
def test_widths_beyond_a_word_change_nothing(data: SetData, width: int) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
    relation = relation_from_sets(data, width=width)
    assert_exactly(score(relation), expected)
    assert_exactly(score(relation, "generator search"), expected)


@SOME
@given(set_data(6, ZERO_OR_ONE), st.integers(65, 200))
def test_hitting_sets_of_more_than_a_word(data: SetData, width: int) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
    assert_exactly(score(relation_from_sets(data, width=width), "hitting sets"), expected)


@pytest.mark.parametrize("how", SEARCHES)
@SOME
@given(set_data(10), st.sampled_from([None, None, 1, 2, 3]))
def test_sets_score_the_same_however_they_are_searched(how: str, data: SetData, most: int | None) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger, most=most)
    with search_as(how):
        assert_exactly(score(relation_from_sets(data), "generator search", most_known=most), expected)


@pytest.mark.parametrize("how", SEARCHES)
@SOME
@given(table_data(), st.sampled_from([None, None, 1, 2]))
def test_tables_score_the_same_however_they_are_searched(how: str, data: TableData, most: int | None) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger, most=most)
    with search_as(how):
        assert_exactly(score(relation_from_table(data), "column search", most_known=most), expected)


@pytest.mark.parametrize("how", SEARCHES)
def test_more_than_64_attributes_that_people_have(how: str) -> None:
    rng = np.random.default_rng(7)
    for certain in (False, True):
        rows = [frozenset(rng.choice(90, rng.integers(0, 8), replace=False).tolist()) for _ in range(60)]
        rows += [frozenset([*rows[0], 89]), rows[1], frozenset(range(82, 90))]
        likelihood, danger = rng.integers(0, 5, (2, 90)) / 4
        likelihood = np.rint(likelihood) if certain else likelihood
        data = SetData(rows, likelihood.tolist(), danger.tolist())
        expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
        with search_as(how):
            assert_exactly(score(relation_from_sets(data), "generator search"), expected)
        if certain:
            assert_exactly(score(relation_from_sets(data), "hitting sets"), expected)


@SOME
@given(set_data())
def test_the_documents_poset_gives_the_same(data: SetData) -> None:
    matrix = np.array([[a in row for a in range(len(data.danger))] for row in data.rows])
    found = poset_scores(matrix, np.array(data.likelihood), np.array(data.danger))
    assert found == pytest.approx(scores_by_enumeration(data.individuals, data.likelihood, data.danger), rel=1e-12)


def random_matrix(rng: np.random.Generator, people: int, attributes: int, density: float) -> Relation:
    weights = rng.random(attributes), rng.random(attributes)
    return Relation.from_matrix(rng.random((people, attributes)) < density, *weights)


def test_methods_agree_on_larger_relations_with_any_weights() -> None:
    rng = np.random.default_rng(5)
    for people, attributes, density in ((200, 14, 0.5), (1500, 16, 0.3), (60, 18, 0.7)):
        relation = random_matrix(rng, people, attributes, density)
        one, other = score(relation, "subset lattice"), score(relation, "generator search")
        assert one.is_exact and other.is_exact
        assert one.lower == pytest.approx(other.lower, rel=1e-12)
        certain = Relation.from_matrix(rng.random((people, attributes)) < density, 1.0, rng.random(attributes))
        one, other = score(certain, "subset lattice"), score(certain, "hitting sets")
        assert np.array_equal(one.lower, other.lower)


@pytest.mark.parametrize("how", SEARCHES)
@pytest.mark.parametrize("missing", [0, 1])
def test_large_tables_score_as_the_lattice_says(how: str, missing: int) -> None:
    rng = np.random.default_rng(8)
    sizes = (2, 3, 4, 5, 6, 4)
    columns = [np.sort(rng.integers(-missing, size, (3, 6000)), axis=0)[1].astype(np.int32) for size in sizes]
    for c in rng.permutation(6):
        columns[c] = columns[c][rng.permutation(6000)] if c else columns[c]
    relation = Relation.from_columns(columns, [0.5, 0.75, 0.25, 0.5, 1.0, 0.0], [0.25, 0, 0.5, 1, 0.0, 1.0])
    expected = score(relation, "subset lattice").lower
    with search_as(how):
        assert score(relation, "column search").lower == pytest.approx(expected, rel=1e-12)
        assert score(relation, "generator search").lower == pytest.approx(expected, rel=1e-12)


def test_tables_with_many_values_and_missing_ones_agree() -> None:
    rng = np.random.default_rng(6)
    sizes = (300, 70_000, 3, 2)
    columns = [rng.integers(-1, min(size, 40), 400).astype(np.int32) for size in sizes]
    weights = [0.5, 0.25, 0.75, 0.0], [0.25, 1.0, 0.5, 1.0]
    relation = Relation.from_columns(columns, *weights, sizes=sizes)
    narrow = Relation.from_columns(columns, *weights)
    assert np.array_equal(score(relation, "column search").lower, score(narrow, "generator search").lower)


def test_nobody_nothing_and_no_danger() -> None:
    assert score(Relation.from_sets([])).lower.tolist() == []
    assert np.isnan(score(Relation.from_sets([])).average.low)
    assert score(Relation.from_sets([""], names=["a"])).lower.tolist() == [0]
    assert score(Relation.from_sets(["a", "b"], danger=0.0)).lower.tolist() == [0, 0]
    assert score(Relation.from_sets(["a", "a"], likelihood=0.0)).lower.tolist() == [0.5, 0.5]


# ---- what must not change it -----------------------------------------------------------------------------------------


@SOME
@given(set_data(), st.randoms(use_true_random=False))
def test_order_of_individuals_and_attributes_changes_nothing(data: SetData, random: object) -> None:
    rng = np.random.default_rng(random.randrange(1 << 30))  # type: ignore[attr-defined]
    m, n = len(data.danger), len(data.rows)
    likelihood, danger = rng.random(m), rng.random(m)
    people, attributes = rng.permutation(n), rng.permutation(m)
    matrix = np.array([[a in row for a in range(m)] for row in data.rows])
    shuffled = Relation.from_matrix(matrix[people][:, attributes], likelihood[attributes], danger[attributes])
    for method in ("subset lattice", "generator search"):
        one, other = score(Relation.from_matrix(matrix, likelihood, danger), method), score(shuffled, method)
        assert one.lower[people].tolist() == other.lower.tolist()
        assert one.average == other.average


@SOME
@given(set_data(), st.integers(0, 255))
def test_adding_a_person_never_raises_anybodys_score(data: SetData, mask: int) -> None:
    extra = frozenset(a for a in range(len(data.danger)) if mask >> a & 1)
    before, after = (
        score(relation_from_sets(data._replace(rows=rows))).lower for rows in (data.rows, [*data.rows, extra])
    )
    assert (after[:-1] <= before).all()


def test_removing_a_person_can_raise_anothers() -> None:
    assert score(Relation.from_sets(["ab", "a"], names="ab")).lower[0] == 0.5
    assert score(Relation.from_sets(["ab"], names="ab")).lower[0] == pytest.approx(2 / 3)


@SOME
@given(table_data(missing=False), st.integers(0, 8), st.integers(0, 3))
def test_a_missing_dangerous_value_of_somebody_else_never_lowers_a_score(data: TableData, person: int, c: int) -> None:
    """Whoever has a value cannot become safer because another's is missing, where the column cannot be known."""
    c, person = c % len(data.columns), person % len(data.columns[0])
    begin = sum(data.sizes[:c])
    for v in range(data.sizes[c]):
        data.likelihood[begin + v] = 0.0
    before = score(relation_from_table(data)).lower
    data.columns[c][person] = -1
    after = score(relation_from_table(data)).lower
    others = np.arange(len(before)) != person
    assert (after[others] >= before[others]).all()


def test_copies_of_individuals_change_nothing_but_their_number() -> None:
    once, thrice = (Relation.from_sets(times * ["abcd", "abce", "abfg", "bcfg"]) for times in (1, 3))
    assert score(thrice).lower.tolist() == 3 * score(once).lower.tolist()
    assert score(thrice).count_at_least(0.7) == (6, 6)
    assert score(thrice).share_at_least(0.7) == (0.5, 0.5)


# ---- certified intervals ---------------------------------------------------------------------------------------------


class ImpatientRun(Run):
    """A run that is cancelled the n-th time it is checked."""

    def __init__(self, checks: int, stop: type[BaseException]) -> None:
        super().__init__()
        object.__setattr__(self, "left", [checks, stop])

    def check(self) -> None:
        left: list[object] = self.left  # type: ignore[attr-defined]
        left[0] -= 1  # type: ignore[operator]
        if left[0] == 0:
            raise left[1]  # type: ignore[misc]


@pytest.mark.parametrize("how", SEARCHES)
@SOME
@given(
    table_data(),
    st.integers(0, 40),
    st.sampled_from(["column search", "generator search"]),
    st.sampled_from([None, 1, 2]),
)
def test_intervals_contain_the_score_whatever_the_budget(
    how: str, data: TableData, budget: int, method: str, most: int | None
) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger, most=most)
    with search_as(how):
        found = score(relation_from_table(data), method, budget, most_known=most)  # type: ignore[arg-type]
    assert_contains(found, expected)


@PLENTY
@given(set_data(likelihoods=ZERO_OR_ONE), st.integers(0, 12))
def test_intervals_of_hitting_sets_contain_the_score(data: SetData, budget: int) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
    assert_contains(score(relation_from_sets(data), "hitting sets", budget), expected)


@pytest.mark.parametrize("method", ["subset lattice", "hitting sets", "generator search"])
@SOME
@given(set_data(10, likelihoods=ZERO_OR_ONE), st.integers(1, 25))
def test_intervals_of_sets_contain_the_score_after_an_interruption(method: str, data: SetData, checks: int) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
    run = ImpatientRun(checks, KeyboardInterrupt)
    with search_as("with floors", _SLICE=1), pytest.MonkeyPatch.context() as patch:
        patch.setattr(hitting_sets, "_SLICE", 1)  # so that work is interrupted at any row
        found = score(relation_from_sets(data), method, run=run)  # type: ignore[arg-type]
    assert_contains(found, expected)


@pytest.mark.parametrize("how", SEARCHES)
@SOME
@given(table_data(), st.sampled_from(["column search", "generator search", "subset lattice"]), st.integers(1, 60))
def test_intervals_of_tables_contain_the_score_after_an_interruption(
    how: str, data: TableData, method: str, checks: int
) -> None:
    expected = scores_by_enumeration(data.individuals, data.likelihood, data.danger)
    run = ImpatientRun(checks, KeyboardInterrupt)
    with search_as(how, _SLICE=1):
        found = score(relation_from_table(data), method, run=run)  # type: ignore[arg-type]
    assert_contains(found, expected)


def test_an_interruption_of_hitting_sets_keeps_what_was_found() -> None:
    rng = np.random.default_rng(3)
    relation = Relation.from_matrix(rng.random((150, 30)) < 0.5)
    exact = score(relation, "hitting sets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hitting_sets, "_SLICE", 1)
        found = score(relation, "hitting sets", run=ImpatientRun(80, KeyboardInterrupt))
    assert_contains(found, exact.lower.tolist())
    assert 0 < (found.lower == found.upper).sum() < 150


@pytest.mark.parametrize("method", ["subset lattice", "hitting sets", "generator search"])
def test_a_termination_is_no_interruption(method: str) -> None:
    with pytest.raises(Termination):
        score(Relation.from_sets(["ab", "bc"]), method, run=ImpatientRun(1, Termination))  # type: ignore[arg-type]


def test_intervals_shrink_with_the_budget() -> None:
    relation = random_matrix(np.random.default_rng(1), 300, 60, 0.5)
    exact = score(relation, "generator search")
    assert exact.is_exact
    widths = list[float]()
    for budget in (0, 100, 10_000, 100_000):
        found = score(relation, budget=budget)
        assert_contains(found, exact.lower.tolist())
        widths.append(found.average.high - found.average.low)
    assert widths == sorted(widths, reverse=True) and widths[-1] < widths[0]


def test_the_likeliest_sets_come_first_where_a_budget_ends_the_search() -> None:
    """Going through sets by size, 200,000 of them leave the scores open by more than .3."""
    found = score(random_matrix(np.random.default_rng(2), 1000, 100, 0.5), budget=200_000).average
    assert found.high - found.low < 0.2


def test_rows_about_which_nothing_can_follow_take_no_search() -> None:
    """Everybody shares what can be known with somebody who has another sensitive value."""
    rng = np.random.default_rng(4)
    known = [rng.integers(0, 6, 2000).astype(np.int32) for _ in range(7)]
    columns = [np.concatenate([c, c]) for c in known]
    sensitive = np.repeat(np.array([0, 1], np.int32), 2000)
    found = score(Relation.from_columns([*columns, sensitive], [0.8] * 7 + [0], [0] * 7 + [1.0]))
    assert found.sets <= 1
    assert found.average == (0, 0)


@pytest.mark.parametrize("how", SEARCHES)
@SOME
@given(table_data(), st.floats(0, 1))
def test_a_threshold_says_who_reaches_it_and_brackets_the_others(how: str, data: TableData, share: float) -> None:
    expected = np.array(scores_by_enumeration(data.individuals, data.likelihood, data.danger))
    for threshold in {*expected.tolist(), share}:
        with search_as(how):
            found = score(relation_from_table(data), threshold=threshold)
        assert_contains(found, expected.tolist())
        reach = int((expected >= threshold).sum())
        assert found.count_at_least(threshold) == (reach, reach)


def test_a_threshold_saves_work() -> None:
    relation = random_matrix(np.random.default_rng(1), 1000, 30, 0.3)
    everything, over = score(relation), score(relation, threshold=0.3)
    assert over.sets < everything.sets / 2
    assert over.count_at_least(0.3) == everything.count_at_least(0.3)


# ---- the choice of a method ------------------------------------------------------------------------------------------


def test_the_cheapest_method_is_chosen_and_named() -> None:
    rng = np.random.default_rng(0)
    many = Relation.from_matrix(rng.random((20_000, 14)) < 0.5, 0.5, 0.5)
    wide = Relation.from_matrix(rng.random((300, 40)) < 0.5, 0.5, 0.5)
    certain = Relation.from_matrix(rng.random((300, 40)) < 0.5)
    table = Relation.from_columns([rng.integers(0, 9, 500).astype(np.int32) for _ in range(6)], 6 * [0.5], 6 * [0.5])
    chosen = [choose_method(one) for one in (many, wide, certain, table)]
    assert chosen == ["subset lattice", "generator search", "hitting sets", "column search"]
    assert score(many).method == "subset lattice"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"method": "guessing"}, "no method is called"),
        ({"method": "subset lattice"}, "at most 26 attributes"),
        ({"method": "hitting sets"}, "likelihoods of 0 or 1"),
        ({"method": "column search"}, "made from columns"),
        ({"most_known": -1}, "must not be negative"),
        ({"threshold": 2.0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: dict[str, object], said: str) -> None:
    relation = Relation.from_matrix(np.ones((2, 27), np.bool_), 0.5)
    with pytest.raises(UnveilError, match=said):
        score(relation, **arguments)  # type: ignore[arg-type]


def test_homogeneity_is_the_score_of_the_documents_weights() -> None:
    """§5.1: quasi-identifiers are known and harmless. The score then says whose class has a single sensitive value."""
    rng = np.random.default_rng(2)
    quasi = [rng.integers(0, 4, 300).astype(np.int32) for _ in range(4)]
    sensitive = rng.integers(0, 2, 300).astype(np.int32)
    found = score(Relation.from_columns([*quasi, sensitive], [1, 1, 1, 1, 0], [0, 0, 0, 0, 1]))
    values = dict[tuple[int, ...], set[int]]()
    for row in zip(*quasi, sensitive, strict=True):
        values.setdefault(row[:-1], set()).add(int(row[-1]))
    alike: Floats = np.array([0.5 if len(values[row]) == 1 else 0.0 for row in zip(*quasi, strict=True)])
    assert found.lower.tolist() == alike.tolist()
    assert {*chain(*values.values())} == {0, 1}
