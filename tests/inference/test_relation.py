"""Relations: how they are made, closures both ways, and the propositions and lemmas about them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference.naive_inference import closure, maximal_simplices, subsets
from reference.random_relations import (
    SetData,
    TableData,
    relation_from_sets,
    relation_from_table,
    set_data,
    table_data,
)
from unveil.errors import UnveilError
from unveil.inference.closed_sets import find_free_faces
from unveil.inference.privacy_score import score
from unveil.inference.relation import Relation, pack_bits, unpack_bits

SOME = settings(max_examples=200, deadline=None)


# ---- constructors ----------------------------------------------------------------------------------------------------


def test_all_constructors_make_the_same_relation() -> None:
    matrix = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 0]], np.bool_)
    made = [
        Relation.from_matrix(matrix),
        Relation.from_sets(["ab", "bc", "ab"]),
        Relation.from_items(np.array([0, 2, 4, 6]), np.array([0, 1, 2, 1, 1, 0]), 3),
    ]
    for relation in made:
        assert [relation.attributes_of(i) for i in range(3)] == [{0, 1}, {1, 2}, {0, 1}]
        assert sorted(relation.rows.counts.tolist()) == [1, 2]


def test_a_table_has_an_attribute_for_each_value() -> None:
    columns = [np.array([0, 1, -1], np.int32), np.array([2, 0, 1], np.int32)]
    relation = Relation.from_columns(columns, [0.5, [0.1, 0.2, 0.3]], [0.0, 1.0])
    assert relation.likelihood.tolist() == [0.5, 0.5, 0.1, 0.2, 0.3]
    assert [relation.attributes_of(i) for i in range(3)] == [{0, 4}, {1, 2}, {3}]
    assert relation.columns_with_gaps == (0,)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Relation.from_sets(["a"], likelihood=1.5), "likelihood of every attribute"),
        (lambda: Relation.from_sets(["a"], danger=float("nan")), "danger of every attribute"),
        (lambda: Relation.from_sets(["a"], danger=[1.0, 1.0]), "2 weights were given for 1 attributes"),
        (lambda: Relation.from_sets(["ab"], names="a"), "not among the names"),
        (lambda: Relation.from_sets(["a"], danger_offset=0.0), "greater than 0"),
        (lambda: Relation.from_items(np.array([0, 1]), np.array([3]), 2), "does not exist"),
        (lambda: Relation.from_columns([], [], []), "at least one column"),
        (lambda: Relation.from_columns([np.array([4], np.int32)], [1.0], [1.0], sizes=[2]), "more values than weights"),
        (lambda: Relation.from_matrix(np.ones((1, 2), np.bool_), names="a"), "1 names were given for 2"),
    ],
)
def test_relations_that_cannot_be_are_refused(make: object, said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        make()  # type: ignore[operator]


@given(st.integers(0, 200), st.integers(0, 5), st.integers(0, 1 << 30))
def test_bits_survive_packing(width: int, rows: int, seed: int) -> None:
    marks = np.random.default_rng(seed).random((rows, width)) < 0.5
    assert np.array_equal(unpack_bits(pack_bits(marks), width), marks)


# ---- closures --------------------------------------------------------------------------------------------------------


@SOME
@given(set_data(6))
def test_closures_are_closure_operators_both_ways(data: SetData) -> None:
    """Lemma 2.19."""
    relation, everything = relation_from_sets(data), frozenset(range(len(data.danger)))
    closed = {known: relation.closure(known) for known in subsets(everything)}
    for known, found in closed.items():
        assert known <= found and closed[found] == found
        assert all(found <= closed[known | {x}] for x in everything)
    for size in range(len(data.rows) + 1):
        for some in combinations(range(len(data.rows)), size):
            people = np.isin(np.arange(len(data.rows)), some)
            found_people = relation.closure_of_people(people)
            assert found_people[people].all()
            assert np.array_equal(relation.closure_of_people(found_people), found_people)


@SOME
@given(table_data())
def test_closures_of_tables_follow_their_definition(data: TableData) -> None:
    relation = relation_from_table(data)
    for i, (has, _) in enumerate(data.individuals):
        assert relation.attributes_of(i) == has
        for known in subsets(has):
            found = relation.closure(known)
            assert found == closure(data.individuals, known)
            columns = [sum(a >= sum(data.sizes[: c + 1]) for c in range(len(data.sizes))) for a in found]
            assert len(set(columns)) == len(columns)  # at most one value of each column follows


def test_a_missing_value_neither_refutes_nor_confirms() -> None:
    """Two with a fact and a value, one with the fact and none; one with another fact and none; one with other ones."""
    columns = [np.array([0, 0, 0, 1, 2], np.int32), np.array([1, 1, -1, -1, 0], np.int32)]
    relation = Relation.from_columns(columns, [1, 0], [0, 1], sizes=[3, 2])
    assert relation.closure({0}) == {0, 4}
    assert relation.closure({1}) == {1}
    assert score(relation).lower.tolist() == [0.5, 0.5, 0.5, 0.0, 0.5]


# ---- propositions 3.7 to 3.16 ----------------------------------------------------------------------------------------


@SOME
@given(set_data(6))
def test_propositions_about_weights(data: SetData) -> None:
    relation = relation_from_sets(data)
    for has in data.rows:
        for known in subsets(has):
            lk, inferred, weight = (
                relation.likelihood_of(known),
                relation.inferred_attributes(known),
                relation.risk_weight(known),
            )
            assert weight == lk * relation.danger_of(inferred)
            if any(data.likelihood[x] == 0 for x in known):
                assert lk == 0  # 3.7 (ii)
            if all(data.likelihood[x] == 1 for x in known):
                assert lk == 1  # 3.7 (iii)
            if all(data.danger[x] == 0 for x in inferred):
                assert relation.danger_of(inferred) == 0  # 3.10
            if not inferred:
                assert weight == 0  # 3.11 (ii)
            for x in has - known:
                more = known | {x}
                assert relation.likelihood_of(more) <= lk  # 3.7 (i)
                assert relation.danger_of(known) <= relation.danger_of(more)  # 3.9
                if data.danger[x] == 0:
                    assert relation.danger_of(more) == relation.danger_of(known)  # 3.8
                if relation.inferred_attributes(more) == inferred or relation.closure(more) == relation.closure(known):
                    assert relation.risk_weight(more) <= weight  # 3.11 (i), 3.14, lemma 4.11


@SOME
@given(set_data(6))
def test_propositions_about_individuals(data: SetData) -> None:
    relation = relation_from_sets(data)
    found = score(relation).lower
    assert ((found >= 0) & (found < 1)).all()
    for i, has in enumerate(data.rows):
        for j, other in enumerate(data.rows):
            if has <= other:
                assert found[i] <= found[j]  # 3.12
        if all(not relation.inferred_attributes(known) for known in subsets(has)):
            assert found[i] == 0  # 3.13


@SOME
@given(set_data(6), set_data(6))
def test_danger_and_scores_do_not_depend_on_the_size_of_the_database(one: SetData, other: SetData) -> None:
    """3.15 and 3.16: the danger of a set is the same in any database; copies of everybody change no score."""
    m = min(len(one.danger), len(other.danger))
    other = SetData([frozenset(a for a in row if a < m) for row in other.rows], one.likelihood[:m], one.danger[:m])
    relation, twice = relation_from_sets(one), relation_from_sets(one._replace(rows=one.rows * 2))
    for some in subsets(frozenset(range(m))):
        assert relation.danger_of(some) == relation_from_sets(other).danger_of(some)
    assert score(twice).lower.tolist() == 2 * score(relation).lower.tolist()


# ---- lemmas 2.25 to 2.30, as corrected -------------------------------------------------------------------------------


@SOME
@given(set_data(6))
def test_free_faces_infer_if_no_row_is_in_another(data: SetData) -> None:
    """Lemma 2.25, which must read K̄ ≠ K."""
    rows = sorted(maximal_simplices(data.rows), key=sorted)
    relation = relation_from_sets(data._replace(rows=rows))
    for face in find_free_faces(rows):
        assert relation.closure(face) != face


@SOME
@given(set_data(6))
def test_intersections_of_rows_infer_nothing(data: SetData) -> None:
    """Lemma 2.27."""
    relation = relation_from_sets(data)
    for has in data.rows:
        for known in subsets(has):
            if known == frozenset.intersection(*(row for row in data.rows if known <= row)):
                assert relation.closure(known) == known


@SOME
@given(set_data(5))
def test_without_free_faces_nothing_is_inferred(data: SetData) -> None:
    """Theorem 2.28, with proper faces including ∅."""
    assume(not find_free_faces(sorted(maximal_simplices(data.rows), key=sorted)))
    relation = relation_from_sets(data)
    assert all(not relation.inferred_attributes(known) for has in data.rows for known in subsets(has))


def test_theorem_2_28_needs_the_empty_face() -> None:
    """A row {a} has no proper non-empty free face, yet a follows from nothing."""
    assert find_free_faces([frozenset({0})]) == [frozenset()]
    assert score(Relation.from_sets(["a"])).lower.tolist() == [0.5]


@SOME
@given(set_data(6))
def test_largest_faces_that_are_not_free_infer_nothing(data: SetData) -> None:
    """Lemma 2.30."""
    relation, maximal = relation_from_sets(data), maximal_simplices(data.rows)
    shared = {face for has in data.rows for face in subsets(has) if sum(face <= one for one in maximal) > 1}
    for face in maximal_simplices(list(shared)):
        assert relation.closure(face) == face
