"""A protected graph is attacked with the nodes in the order of its original."""

from __future__ import annotations

import numpy as np
import pytest

import unveil
from unveil import Case, Graph, UnveilError
from unveil.network.node_order import sort_nodes
from unveil.network.original_order import compare_with_release
from unveil.release.graph import edge_endpoints

FRIENDS = Graph.from_edges(["eve", "ann", "bob", "eve"], ["dan", "bob", "eve", "cay"])


def relabelled(place: list[int]) -> Graph:
    """FRIENDS with node v at ``place[v]``."""
    sources, targets = (np.array(place)[ends] for ends in edge_endpoints(FRIENDS))
    return Graph.from_edges(sources, targets, nodes=5)


@pytest.mark.parametrize("place", [[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [1, 2, 3, 4, 0]])
def test_attacks_meet_the_same_nodes_before_and_after(place: list[int]) -> None:
    before = sort_nodes(FRIENDS)
    compared = compare_with_release(Case(relabelled(place), FRIENDS, np.array(place)))
    assert compared.is_unchanged and compared.place.tolist() == [0, 1, 2, 3, 4]
    for after in (compared.original, compared.released, compare_with_release(Case(FRIENDS)).released):
        assert np.array_equal(before.indptr, after.indptr)
        assert np.array_equal(before.neighbours, after.neighbours)


def test_nodes_that_were_left_out_leave_no_gap() -> None:
    """Ann and cay are gone: bob, dan, eve."""
    release = Graph.from_edges([0, 0], [1, 2], nodes=3)  # eve with bob and dan
    truth = np.array([0, -1, 2, 1, -1])  # of eve, ann, bob, dan, cay
    compared = compare_with_release(Case(release, FRIENDS, truth))
    assert compared.place.tolist() == [-1, 0, -1, 1, 2]
    assert compared.released.degrees.tolist() == [1, 1, 2]
    assert not compared.is_unchanged


def test_without_a_mapping_nodes_with_the_same_label_are_the_same() -> None:
    release = Graph.from_edges(["eve", "zoe"], ["dan", "eve"])
    compared = compare_with_release(Case(release, FRIENDS))
    assert compared.place.tolist() == [-1, -1, -1, 0, 1], "of ann, bob, cay, dan, eve"
    assert compared.released.degrees.tolist() == [1, 2, 1], "of dan, eve, zoe"


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (Case(FRIENDS, truth=np.arange(5)), "give both the original graph and the mapping"),
        (Case(FRIENDS, FRIENDS, np.arange(4)), "what became of each node"),
        (Case(FRIENDS, FRIENDS, np.array([0, 1, 2, 3, 3])), "several nodes became one node"),
        (Case(FRIENDS, FRIENDS, np.array([0, 1, 2, 3, 5])), "a node of the release, or −1, for each node"),
        (
            Case(FRIENDS, Graph.from_edges(["a"] * 4, list("bcde"), directed=True), np.arange(5)),
            "the release is directed and its original is not",
        ),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(case: Case, complaint: str) -> None:
    with pytest.raises(UnveilError, match=complaint):
        unveil.assess(case)
