"""A protected graph is attacked with the nodes in the order of its original."""

from __future__ import annotations

import numpy as np
import pytest

import unveil
from unveil import Case, Graph, UnveilError
from unveil.network.node_order import sort_nodes
from unveil.network.original_order import in_original_order
from unveil.release.graph import edge_endpoints

FRIENDS = Graph.from_edges(["eve", "ann", "bob", "eve"], ["dan", "bob", "eve", "cay"])


def relabelled(place: list[int]) -> Graph:
    """FRIENDS with node v at ``place[v]``."""
    sources, targets = (np.array(place)[ends] for ends in edge_endpoints(FRIENDS))
    return Graph.from_edges(sources, targets, nodes=5)


@pytest.mark.parametrize("place", [[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [1, 2, 3, 4, 0]])
def test_attacks_meet_the_same_nodes_before_and_after(place: list[int]) -> None:
    before = sort_nodes(FRIENDS)
    after = sort_nodes(in_original_order(Case(relabelled(place), FRIENDS, np.array(place))))
    assert np.array_equal(before.indptr, after.indptr)
    assert np.array_equal(before.neighbours, after.neighbours)


def test_numbers_sort_like_the_labels_they_stand_for() -> None:
    """Of twelve nodes the eleventh comes after the second, although "10" sorts before "2"."""
    line = Graph.from_edges([f"p{k:02}" for k in range(11)], [f"p{k:02}" for k in range(1, 12)])
    after = sort_nodes(in_original_order(Case(line, line, np.arange(12))))
    assert np.array_equal(after.neighbours, line.neighbours)


def test_nodes_that_were_left_out_or_merged_leave_no_gap() -> None:
    """Ann is gone, dan and cay became one: bob, cay and dan, eve."""
    release = Graph.from_edges([0, 0], [1, 2], nodes=3)  # eve with bob, and with cay and dan
    truth = np.array([0, -1, 1, 2, 2])  # of eve, ann, bob, dan, cay
    after = in_original_order(Case(release, FRIENDS, truth))
    assert after.degrees.tolist() == [1, 1, 2]


def test_a_release_without_an_original_is_left_as_it_is() -> None:
    assert in_original_order(Case(FRIENDS)) is FRIENDS


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (Case(FRIENDS, truth=np.arange(5)), "give both the original graph and the mapping"),
        (Case(FRIENDS, FRIENDS, np.arange(4)), "what became of each node"),
        (Case(FRIENDS, FRIENDS, np.array([0, 1, 2, 3, 3])), "lacks some of its nodes"),
        (Case(FRIENDS, FRIENDS, np.array([0, 1, 2, 3, 5])), "lacks some of its nodes"),
        (
            Case(FRIENDS, Graph.from_edges(["a"] * 4, list("bcde"), directed=True), np.arange(5)),
            "the release is directed and its original is not",
        ),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(case: Case, complaint: str) -> None:
    with pytest.raises(UnveilError, match=complaint):
        unveil.assess(case)
