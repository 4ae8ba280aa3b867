"""Whom a fingerprint singles out, against definitions written out."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from network.test_graph_measures import graphs
from unveil import Graph
from unveil.network import automorphisms, fingerprints
from unveil.network.automorphisms import find_orbits
from unveil.network.degrees import degree_classes
from unveil.network.fingerprints import edge_classes, ego_classes, refine_to_the_end

SOME = settings(max_examples=200, deadline=None)
Made = tuple[Graph, nx.Graph]


def same(classes: np.ndarray, knowledge: list[object]) -> bool:
    """Whether nodes are in one class if and only if the same is known about them."""
    n = len(knowledge)
    return all((classes[i] == classes[j]) == (knowledge[i] == knowledge[j]) for i in range(n) for j in range(n))


@SOME
@given(graphs())
def test_refinement_is_as_defined(made: Made) -> None:
    """H₁ is the degree, and each round the multiset of the neighbours' last, beside one's own."""
    graph, other = made
    known: list[object] = [
        (other.out_degree[v], other.in_degree[v]) if other.is_directed() else other.degree[v]
        for v in range(graph.nodes)
    ]
    found, first = refine_to_the_end(graph), known
    for alone in found.alone:
        assert alone == sum(known.count(one) == 1 for one in known)
        last = known
        ways = [other.successors, other.predecessors] if other.is_directed() else [other.neighbors]
        known = [
            (known[v], *(sorted(map(repr, (known[u] for u in way(v)))) for way in ways)) for v in range(graph.nodes)
        ]
    assert same(found.by_degree, first)
    assert same(found.classes, last) and same(found.classes, known)  # one round more divides nothing
    assert found.is_complete


@SOME
@given(graphs(directed=False))
def test_ego_networks_are_as_defined(made: Made) -> None:
    graph, other = made
    known = [sorted(len(set(nx.common_neighbors(other, v, u))) for u in other[v]) for v in range(graph.nodes)]
    assert same(ego_classes(graph), known)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.data())
def test_orbits_are_as_defined(nodes: int, data: st.DataObject) -> None:
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda p: p[0] != p[1])
    edges, directed = data.draw(st.lists(pairs, max_size=14)), data.draw(st.booleans())
    there = {*edges} | (set() if directed else {(b, a) for a, b in edges})
    ends = np.array(edges, np.int64).reshape(-1, 2)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], nodes=nodes, directed=directed)
    reach = {(i, i) for i in range(nodes)}
    for renamed in permutations(range(nodes)):
        if {(renamed[a], renamed[b]) for a, b in there} == there:
            reach |= set(enumerate(renamed))
    last = refine_to_the_end(graph)
    found = find_orbits(graph, last)
    assert found.is_certain.all()
    assert all((found.orbit[i] == found.orbit[j]) == ((i, j) in reach) for i in range(nodes) for j in range(nodes))


def test_two_triangles_and_a_hexagon_are_told_apart() -> None:
    """Refinement cannot: everybody has two neighbours. Orbits can: a triangle is no part of a hexagon."""
    graph = Graph.from_edges([0, 1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 0, 4, 5, 6, 7, 8, 3], nodes=9)
    last = refine_to_the_end(graph)
    assert len(set(last.classes)) == 1
    assert find_orbits(graph, last).orbit.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_directions_tell_nodes_apart() -> None:
    """Two rings of four; in the second, edges alternate instead of going round. Both ways, everybody has two edges."""
    around = [(0, 1), (1, 2), (2, 3), (3, 0)]
    graph = Graph.from_edges(*zip(*around, (4, 5), (6, 5), (6, 7), (4, 7), strict=True), nodes=8, directed=True)
    last = refine_to_the_end(graph)
    assert find_orbits(graph, last).orbit.tolist() == [0, 0, 0, 0, 1, 2, 1, 2]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    rings = Graph.from_edges(*zip(*triangles, (6, 7), (7, 8), (8, 9), (9, 6), strict=True), nodes=10, directed=True)
    last = refine_to_the_end(rings)
    assert len(set(last.classes)) == 1
    assert find_orbits(rings, last).orbit.tolist() == [0] * 6 + [1] * 4


def test_components_that_are_too_large_stay_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Graph.from_edges(np.arange(20), (np.arange(20) + 1) % 20, nodes=20)
    last = refine_to_the_end(ring)
    assert find_orbits(ring, last).smallest_sizes.tolist() == [20] * 20
    monkeypatch.setattr(automorphisms, "_LARGEST_COMPONENT", 10)
    found = find_orbits(ring, last)
    assert not found.is_certain.any()
    assert found.smallest_sizes.tolist() == [1] * 20
    assert found.largest_sizes.tolist() == [20] * 20


def test_too_many_ways_stay_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automorphisms, "_MOST_STEPS", 10)
    other = nx.random_regular_graph(3, 40, seed=1)
    ends = np.array(other.edges, np.int64)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], nodes=40)
    last = refine_to_the_end(graph)
    assert not find_orbits(graph, last).is_certain.any()


@SOME
@given(graphs())
def test_edges_that_follow_from_degrees(made: Made) -> None:
    """Fig. 7.2: an edge follows if everybody who could be the one is connected to everybody who could be the other."""
    graph, other = made
    classes = degree_classes(graph)
    follows = edge_classes(graph, classes)
    sources = np.repeat(np.arange(graph.nodes), graph.degrees)
    for u, v, found in zip(sources.tolist(), graph.neighbours.tolist(), follows.tolist(), strict=True):
        like_u, like_v = (np.flatnonzero(classes == classes[w]).tolist() for w in (u, v))
        assert found == all(other.has_edge(a, b) for a in like_u for b in like_v if a != b)


def test_a_refinement_that_took_too_long_was_told_as_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a path of 41 nodes each step tells one more pair from the middle, and only at the end is the middle alone."""
    monkeypatch.setattr(fingerprints, "_MOST_WORK", 0)
    path = nx.path_graph(41)
    found = unveil.assess(Graph.from_networkx(path), only=["network"])
    refinement = refine_to_the_end(Graph.from_networkx(path))
    assert not refinement.is_complete
    steps = len(refinement.alone) - 1
    assert f"the neighbourhood up to {steps} steps away" in found["network.signature_unique"].sentence
    whole = found["network.automorphism"]
    assert (whole.method, whole.interval) == ("bound", (0.0, 1.0))
    assert whole.sentence.startswith("0% to 100% of 41 nodes differ from all others in structure")
    assert not any(f.status == "failed" for f in found.findings)
