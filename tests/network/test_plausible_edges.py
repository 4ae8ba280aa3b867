"""Added edges that are moved to where they are plausible: what stays as it was, and who tells them apart."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_active import edge_set
from unveil import Graph
from unveil.network.protections.changed_graph import (
    ChangedGraph,
    apply_changes,
    changed_degrees,
    edges_in,
    make_room,
    start_changes,
)
from unveil.network.protections.degree_completion import anonymise_graph
from unveil.network.protections.plausible_edges import move_to_plausible
from unveil.network.use.edge_plausibility import fake_edge_auc
from unveil.run import Run


def with_additions(network: nx.Graph, pairs: list[tuple[int, int]]) -> tuple[Graph, ChangedGraph]:
    """A graph, and the same with edges that were not there."""
    graph = Graph.from_edges(*map(np.array, zip(*network.edges, strict=True)), nodes=len(network))
    free = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1] and not network.has_edge(*p)})
    packed = np.array([(u << 32 | v) + 1 for u, v in free], np.int64)
    changed = make_room(start_changes(graph)._replace(added=packed), 0, 0)
    return graph, changed


def auc(graph: Graph, changed: ChangedGraph) -> float:
    """How well someone tells added edges who takes them for the less plausible ones."""
    found = fake_edge_auc(graph, apply_changes(graph, changed), np.arange(graph.nodes))
    assert found is not None
    return max(found.by_excess, found.by_adamic_adar)


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 30), st.floats(0.05, 0.9), st.integers(0, 9999), st.integers(1, 20))
def test_nothing_but_where_edges_are_added_changes(nodes: int, dense: float, seed: int, count: int) -> None:
    network = nx.gnp_random_graph(nodes, dense, seed=seed)
    if not network.edges:
        return
    pairs = np.random.default_rng(seed).integers(0, nodes, (count, 2)).tolist()
    graph, changed = with_additions(network, [(u, v) for u, v in pairs])
    before, ends = changed_degrees(changed), edges_in(changed.added)
    moved = move_to_plausible(graph, changed, Run())
    assert len(edges_in(moved.added)) == len(ends)
    assert not len(edges_in(moved.removed))
    assert sorted(changed_degrees(moved)) == sorted(before)
    made = apply_changes(graph, moved)
    assert edge_set(graph) <= edge_set(made), "still a supergraph, and simple"
    assert made.edges == graph.edges + len(ends)
    if len(ends) and max(auc(graph, changed), 0.5) < 0.999:
        assert max(auc(graph, moved), 0.5) <= max(auc(graph, changed), 0.5) + 1e-9


def test_an_added_edge_moves_to_nodes_with_common_neighbours() -> None:
    """Two cliques; an edge between them stands out, and two of them are exchanged for one in each."""
    network = nx.disjoint_union(nx.complete_graph(8), nx.complete_graph(8))
    network.remove_edges_from([(0, 1), (8, 9)])
    graph, changed = with_additions(network, [(0, 8), (1, 9)])
    moved = move_to_plausible(graph, changed, Run())
    assert edges_in(moved.added).tolist() == [[0, 1], [8, 9]]


def test_added_edges_are_harder_to_tell() -> None:
    network = nx.powerlaw_cluster_graph(400, 8, 0.8, seed=2)
    pairs = np.random.default_rng(1).integers(0, 400, (120, 2)).tolist()
    graph, changed = with_additions(network, [(u, v) for u, v in pairs])
    first = auc(graph, changed)
    moved = move_to_plausible(graph, changed, Run())
    assert first > 0.8 and auc(graph, moved) < 0.6
    again = move_to_plausible(graph, changed, Run())
    assert np.array_equal(edges_in(again.added), edges_in(moved.added)), "a fixed rule"


@pytest.mark.parametrize("additions_only", [False, True])
def test_k_anonymity_stays_with_as_few_changes(additions_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil.network.protections import degree_completion

    network = nx.powerlaw_cluster_graph(300, 5, 0.5, seed=7)
    graph = Graph.from_edges(*map(np.array, zip(*network.edges, strict=True)), nodes=300)
    made = anonymise_graph(graph, 8, Run(), additions_only)
    monkeypatch.setattr(degree_completion, "move_to_plausible", lambda graph, changed, run: changed)
    plain = anonymise_graph(graph, 8, Run(), additions_only)
    assert made.changes == plain.changes and made.bounds == plain.bounds
    assert sorted(made.graph.degrees) == sorted(plain.graph.degrees)
    assert not (edge_set(graph) - edge_set(made.graph)) or not additions_only
    assert min(np.bincount(made.graph.degrees)[made.graph.degrees]) >= 8


def test_it_can_be_interrupted() -> None:
    graph, changed = with_additions(nx.gnp_random_graph(60, 0.2, seed=1), [(u, 59 - u) for u in range(20)])
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        move_to_plausible(graph, changed, run)
