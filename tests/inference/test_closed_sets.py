"""The lattice of closed sets and the Dowker complexes against their definitions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from reference.naive_inference import all_closed_sets, maximal_simplices, minimal_generators, subsets
from reference.random_relations import SetData, relation_from_sets, set_data
from unveil.errors import UnveilError
from unveil.inference.closed_sets import (
    betti_numbers,
    find_closed_sets,
    find_free_faces,
    find_minimal_non_faces,
    find_simplices,
)
from unveil.inference.relation import Relation

SOME = settings(max_examples=200, deadline=None)


@SOME
@given(set_data(6))
def test_closed_sets_generators_and_covers(data: SetData) -> None:
    found = find_closed_sets(relation_from_sets(data))
    assert set(found.sets) == all_closed_sets(data.rows)
    for k, one in enumerate(found.sets):
        assert found.people[k] == sum(one <= row for row in data.rows)
        assert set(found.generators[k]) == minimal_generators(data.rows, one)
        below = {found.sets[b] for b in found.covers[k]}
        smaller = {other for other in found.sets if other < one}
        assert below == {other for other in smaller if not any(other < between for between in smaller)}
    assert json.loads(json.dumps(found.as_plain()))["sets"][0]["attributes"] == sorted(found.sets[0])
    assert len(found.edges) == sum(map(len, found.covers))


@SOME
@given(set_data(5))
def test_faces_follow_their_definitions(data: SetData) -> None:
    attributes, people = find_simplices(relation_from_sets(data))
    assert set(attributes) == maximal_simplices(data.rows)
    by_attribute = [frozenset(i for i, row in enumerate(data.rows) if a in row) for a in range(len(data.danger))]
    assert set(people) == maximal_simplices([one for one in by_attribute if one])
    faces = {face for one in attributes for face in subsets(one)}
    in_one = {face for face in faces if sum(face <= one for one in attributes) == 1 and face not in attributes}
    assert set(find_free_faces(attributes)) == in_one
    lacking = [one for one in subsets(frozenset(range(len(data.danger)))) if one not in faces]
    minimal = {one for one in lacking if not any(other < one for other in lacking)}
    assert set(find_minimal_non_faces(attributes, len(data.danger))) == minimal


@SOME
@given(set_data(7))
def test_both_complexes_have_the_same_betti_numbers(data: SetData) -> None:
    """Dowker's duality."""
    attributes, people = find_simplices(relation_from_sets(data))
    one, other = (betti_numbers(complex_) for complex_ in (attributes, people))
    longest = max(len(one), len(other))
    assert one + [0] * (longest - len(one)) == other + [0] * (longest - len(other))


def test_a_hollow_tetrahedron_has_a_void() -> None:
    assert betti_numbers([frozenset("abcd") - {x} for x in "abcd"]) == [1, 0, 1]  # type: ignore[misc]
    assert betti_numbers([]) == []


def test_too_many_sets_and_faces_are_refused() -> None:
    rows = ["".join(x for x in "abcdefghijkl" if x != y) for y in "abcdefghijkl"]
    with pytest.raises(UnveilError, match="more than 1,000 closed sets"):
        find_closed_sets(Relation.from_sets(rows), most=1000)
    with pytest.raises(UnveilError, match="faces"):
        betti_numbers([frozenset(range(20))])
    with pytest.raises(UnveilError, match="faces"):
        find_free_faces([frozenset(range(20))])
