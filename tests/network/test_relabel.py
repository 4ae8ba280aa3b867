"""Relabelled graphs: the same structure under names and in an order that nobody can replay."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Graph
from unveil.network.protections.relabel import fresh_labels, relabel_graph
from unveil.release.graph import edge_endpoints, edges_in_sequence
from unveil.secret_order import secret_coins

PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]))


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    """All edges, undirected ones in both directions."""
    sources, targets = (ends.tolist() for ends in edge_endpoints(graph))
    found = set(zip(sources, targets, strict=True))
    return found if graph.directed else found | {(v, u) for u, v in found}


@settings(deadline=None)
@given(PAIRS, st.booleans())
def test_the_structure_stays_as_it_is(pairs: list[tuple[int, int]], directed: bool) -> None:
    graph = Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], nodes=8, directed=directed)
    made, place = relabel_graph(graph)
    assert sorted(place.tolist()) == list(range(8))
    assert edge_set(made) == {(place[u], place[v]) for u, v in edge_set(graph)}
    assert made.directed == directed
    assert not set(made.labels.to_pylist()) & set(graph.labels.to_pylist())


@settings(deadline=None)
@given(PAIRS, st.booleans())
def test_every_edge_is_written_once(pairs: list[tuple[int, int]], directed: bool) -> None:
    graph = Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], nodes=8, directed=directed)
    made, _ = relabel_graph(graph)
    sources, targets = (ends.tolist() for ends in edges_in_sequence(made))
    written = list(zip(sources, targets, strict=True))
    assert len(written) == made.edges
    assert len({frozenset(edge) if not directed else edge for edge in written}) == made.edges
    assert set(written) <= edge_set(made)


def test_the_mapping_is_an_isomorphism_by_trying_all() -> None:
    """A path of four nodes has two automorphisms, so that two of 24 mappings fit: the one that was drawn is one."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=4)
    for _ in range(20):
        made, place = relabel_graph(graph)
        fits = [p for p in permutations(range(4)) if edge_set(made) == {(p[u], p[v]) for u, v in edge_set(graph)}]
        assert len(fits) == 2
        assert tuple(place.tolist()) in fits


def test_all_orders_and_ends_are_equally_likely() -> None:
    """600 draws: each of 6 orders about 100 times, and either end of an edge first about 300 times. By chance, more
    than six standard deviations away: below 10⁻⁷."""
    graph = Graph.from_edges([0, 1], [1, 2], nodes=3)
    orders, first_edges, turned = Counter[tuple[int, ...]](), 0, 0
    for _ in range(600):
        made, place = relabel_graph(graph)
        orders[tuple(place.tolist())] += 1
        sources, targets = edges_in_sequence(made)
        first_edges += int(place[0] in (sources[0], targets[0]))
        turned += int(place[1] == sources[0])
    assert len(orders) == 6
    assert all(abs(many - 100) < 6 * np.sqrt(600 * 1 / 6 * 5 / 6) for many in orders.values())
    assert all(abs(many - 300) < 6 * np.sqrt(600 / 4) for many in (first_edges, turned))


def test_no_seed_replays_it() -> None:
    graph = Graph.from_edges(range(30), range(1, 31), nodes=31)
    made = []
    for _ in range(2):
        np.random.seed(1)
        made.append(relabel_graph(graph)[0])
    assert made[0].digest != made[1].digest  # by chance the same: once in 10³³


def test_the_direction_of_an_edge_stays() -> None:
    graph = Graph.from_edges(["hub"] * 9, [f"f{k}" for k in range(9)], directed=True)
    for _ in range(5):
        made, place = relabel_graph(graph)
        assert set(edges_in_sequence(made)[0].tolist()) == {place[0]}


@pytest.mark.parametrize(
    ("labels", "fresh"),
    [
        (["ann", "bob"], ["1", "2"]),
        (["2", "3"], ["n1", "n2"]),
        (["3", "4"], ["1", "2"]),
        (["1", "n2", "nn3"], ["nn1", "nn2", "nn3"]),
    ],
)
def test_a_new_name_is_never_an_old_one(labels: list[str], fresh: list[str]) -> None:
    made = fresh_labels(pa.array(labels)).to_pylist()
    if set(fresh) & set(labels):
        fresh = [f"n{label}" for label in fresh]
    assert made == fresh


def test_coins_are_as_many_as_asked_for() -> None:
    assert [len(secret_coins(n)) for n in (0, 1, 7, 8, 9)] == [0, 1, 7, 8, 9]
    assert 300 < int(secret_coins(800).sum()) < 500  # by chance otherwise: 10⁻¹²
