"""Finding a known subgraph: against every sequence of nodes on small graphs, and against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import GraphMatcher

from reference.naive_active import all_copies, edge_set, symmetries, target_of_copy
from unveil import Graph, UnveilError
from unveil.network.active.search import (
    EXACT,
    KnownSubgraph,
    Tolerance,
    find_copies,
    has_symmetry,
    identify_targets,
    recover_nodes,
    search_order,
)

NO_TARGETS = np.empty(0, np.int64)


def random_graph(nodes: int, density: float, seed: int) -> Graph:
    return Graph.from_networkx(nx.gnp_random_graph(nodes, density, seed=seed))


def random_links(k: int, rng: np.random.Generator) -> np.ndarray:
    upper = np.triu(rng.random((k, k)) < 0.5, 1) | np.eye(k, k=1, dtype=bool)
    return ((upper | upper.T).astype(np.int64) << np.arange(k)).sum(axis=1)


def subgraph_of(graph: Graph, nodes: list[int], sets: np.ndarray = NO_TARGETS) -> KnownSubgraph:
    edges = edge_set(graph)
    links = [sum(1 << j for j, w in enumerate(nodes) if (v, w) in edges) for v in nodes]
    return KnownSubgraph(np.array(links, np.int64), graph.degrees[nodes], sets)


GRAPHS = (st.integers(4, 8), st.floats(0.2, 1), st.integers(0, 10**6))


@settings(max_examples=60, deadline=None)
@given(*GRAPHS, st.integers(2, 4))
def test_finds_the_copies_that_trying_every_sequence_finds(n: int, p: float, seed: int, k: int) -> None:
    graph, rng = random_graph(n, p, seed), np.random.default_rng(seed)
    known = KnownSubgraph(random_links(k, rng), rng.choice(graph.degrees, k), NO_TARGETS)
    found = find_copies(graph, known)
    copies = [tuple(row) for row in found.nodes.tolist()]
    assert found.complete and len(set(copies)) == len(copies)
    assert set(copies) == set(all_copies(graph, known))
    assert found.starts == (graph.degrees == known.degrees[0]).sum()


@settings(max_examples=80, deadline=None)
@given(*GRAPHS, st.integers(2, 4), st.integers(0, 2), st.integers(0, 3))
def test_a_tolerant_search_finds_what_its_definition_says(
    n: int, p: float, seed: int, k: int, degree: int, links: int
) -> None:
    graph, rng, tolerance = random_graph(n, p, seed), np.random.default_rng(seed), Tolerance(degree, links)
    known = KnownSubgraph(random_links(k, rng), rng.choice(graph.degrees, k), NO_TARGETS)
    order, edges = search_order(graph.degrees, known, tolerance).tolist(), edge_set(graph)
    wanted = {
        copy: differences
        for copy, differences in all_copies(graph, known, tolerance).items()
        if all(
            any(known.links[i] >> j & 1 and (copy[i], copy[j]) in edges for j in order[:place])
            for place, i in enumerate(order)
            if place
        )
    }
    found = find_copies(graph, known, tolerance)
    assert found.complete and len(found.nodes) == len(wanted)
    assert {tuple(c): d for c, d in zip(found.nodes.tolist(), found.differences.tolist(), strict=True)} == wanted


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 40), st.floats(0.05, 0.5), st.integers(0, 10**6), st.integers(2, 6))
def test_agrees_with_networkx_on_larger_graphs(n: int, p: float, seed: int, k: int) -> None:
    network, rng = nx.gnp_random_graph(n, p, seed=seed), np.random.default_rng(seed)
    walk = [int(rng.integers(n))]
    while len(walk) < k and (left := sorted(set(network[walk[-1]]) - set(walk))):
        walk.append(int(rng.choice(left)))
    if len(walk) < 2:
        return
    graph = Graph.from_networkx(network)
    nx.set_node_attributes(network, dict(network.degree()), "degree")
    matches = GraphMatcher(network, network.subgraph(walk), node_match=lambda a, b: a["degree"] == b["degree"])
    found = find_copies(graph, subgraph_of(graph, walk))
    assert len(found.nodes) == sum(1 for _ in matches.subgraph_isomorphisms_iter())
    assert walk in found.nodes.tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6), st.integers(1, 3))
def test_symmetries_are_noticed(k: int, seed: int, different: int) -> None:
    rng = np.random.default_rng(seed)
    links, degrees = random_links(k, rng), rng.integers(6, 6 + different, k)
    assert has_symmetry(links, degrees) == (symmetries(links.tolist(), degrees.tolist()) > 1)


@settings(max_examples=60, deadline=None)
@given(*GRAPHS, st.integers(0, 2))
def test_copies_lead_to_the_nodes_that_a_slow_search_finds(n: int, p: float, seed: int, wrong: int) -> None:
    graph, rng = random_graph(n, p, seed), np.random.default_rng(seed)
    copies = np.array([rng.choice(n, 3, replace=False) for _ in range(5)])
    sets = rng.permutation(np.arange(1, 8))[:4]
    known = KnownSubgraph(np.zeros(3, np.int64), np.zeros(3, np.int64), sets)
    wanted = [[target_of_copy(graph, copy, int(s), wrong) for s in sets] for copy in copies.tolist()]
    assert identify_targets(graph, known, copies, wrong).tolist() == wanted


def test_several_equally_good_copies_recover_nothing() -> None:
    """Two separate triangles with a tail look the same; so does everything around them."""
    half = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]
    graph = Graph.from_networkx(nx.Graph(half + [(a + 5, b + 5) for a, b in half]))
    found = recover_nodes(graph, subgraph_of(graph, [4, 3, 2]))
    assert (len(found.copies.nodes), found.nodes, found.single_copy) == (2, None, False)


def test_a_target_is_found_if_all_copies_lead_to_it() -> None:
    """Nodes 1 and 2 can change places, but node 3 is linked with both wherever they are."""
    graph = Graph.from_networkx(nx.Graph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]))
    found = recover_nodes(graph, subgraph_of(graph, [0, 1, 2], np.array([0b110])))
    assert (len(found.copies.nodes), found.nodes, found.targets.tolist()) == (2, None, [3])


def test_a_changed_release_has_no_exact_copy_but_a_tolerant_one() -> None:
    """The link of 1 and 2 was removed: node 1 and node 2 have one link less, and one link is wrong."""
    before = nx.gnp_random_graph(30, 0.3, seed=5)
    walk = [3, *nx.shortest_path(before, 3)[max(before)][1:]]
    walk += [v for v in sorted(before[walk[-1]]) if v not in walk][:2]
    walk += [v for v in sorted(before[walk[-1]]) if v not in walk][:2]
    known = subgraph_of(Graph.from_networkx(before), walk)
    after = before.copy()
    after.remove_edge(walk[0], walk[1])
    release = Graph.from_networkx(after)
    assert len(find_copies(release, known).nodes) == 0
    assert walk in find_copies(release, known, Tolerance(degree=1, links=1)).nodes.tolist()


@pytest.mark.parametrize(
    ("network", "copies"),
    [
        (nx.path_graph(2), 2),  # the two ends can be exchanged
        (nx.complete_graph(5), 20),
        (nx.star_graph(1), 2),
        (nx.empty_graph(4), 0),
        (nx.disjoint_union(nx.complete_graph(3), nx.empty_graph(2)), 6),
        (nx.disjoint_union(nx.path_graph(2), nx.path_graph(2)), 4),
    ],
)
def test_pairs_in_simple_graphs(network: nx.Graph, copies: int) -> None:
    graph = Graph.from_networkx(network)
    known = KnownSubgraph(np.array([2, 1]), np.full(2, max(1, graph.degrees.max())), NO_TARGETS)
    found = find_copies(graph, known)
    assert found.complete and len(found.nodes) == copies


def test_what_cannot_be_searched_is_refused() -> None:
    directed = Graph.from_networkx(nx.path_graph(4, create_using=nx.DiGraph))
    with pytest.raises(UnveilError, match="the edges have directions"):
        find_copies(directed, KnownSubgraph(np.array([2, 1]), np.array([1, 1]), NO_TARGETS))
    apart = KnownSubgraph(np.array([2, 1, 0]), np.array([1, 1, 1]), NO_TARGETS)
    with pytest.raises(UnveilError, match="each but the first linked with one before it"):
        find_copies(Graph.from_networkx(nx.path_graph(4)), apart, EXACT)
    with pytest.raises(UnveilError, match="at least one tolerance"):
        recover_nodes(Graph.from_networkx(nx.path_graph(4)), apart, [])
    with pytest.raises(UnveilError, match="must not be negative"):
        Tolerance(degree=-1)


def test_a_search_that_is_cut_short_says_so_and_recovers_nothing() -> None:
    """A star of 12: every order of 8 leaves is a copy, millions of them."""
    graph = Graph.from_networkx(nx.star_graph(12))
    found = recover_nodes(graph, subgraph_of(graph, list(range(9))))
    assert not found.copies.complete and found.nodes is None and not found.single_copy


def test_a_copy_that_leads_to_few_targets_is_not_believed() -> None:
    """A path 0–1–2 with 2 linked to 3 more; node 6 is linked with 0 and 1. No node is linked with all three."""
    graph = Graph.from_networkx(nx.Graph([(0, 1), (1, 2), (2, 3), (2, 4), (2, 5), (0, 6), (1, 6), (0, 7)]))
    one_of_two, one_of_three = np.array([0b011, 0b111]), np.array([0b011, 0b111, 0b101])
    believed = recover_nodes(graph, subgraph_of(graph, [0, 1, 2], one_of_two))
    assert believed.nodes is not None and believed.targets.tolist() == [6, -1]
    doubted = recover_nodes(graph, subgraph_of(graph, [0, 1, 2], one_of_three))
    assert doubted.single_copy and doubted.nodes is None and doubted.targets.tolist() == [-1, -1, -1]


def test_a_target_that_lost_a_link_is_found_if_that_is_allowed() -> None:
    """Three known nodes in a row, of 3, 8 and 12 links; nodes 3 and 4 are the targets, all others have one link."""
    network = nx.Graph([(0, 1), (1, 2), (0, 3), (0, 4), (1, 4), (2, 4)])
    for node, links in ((1, 8), (2, 12)):
        network.add_edges_from((node, network.number_of_nodes()) for _ in range(links - network.degree[node]))
    known = subgraph_of(Graph.from_networkx(network), [0, 1, 2], np.array([0b001, 0b111]))
    network.remove_edge(2, 4)
    release = Graph.from_networkx(network)
    assert recover_nodes(release, known, [Tolerance(degree=1)]).targets.tolist() == [3, -1]
    assert recover_nodes(release, known, [Tolerance(degree=1, target_links=1)]).targets.tolist() == [3, 4]


def test_of_several_copies_the_nearest_is_taken() -> None:
    """Two paths 0–1–2 and 4–5–6, whose last nodes have one and two more links."""
    graph = Graph.from_networkx(nx.Graph([(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7), (6, 8)]))
    found = recover_nodes(graph, subgraph_of(graph, [4, 5, 6]), [Tolerance(degree=1)])
    assert {(0, 1, 2), (4, 5, 6)} <= {tuple(copy) for copy in found.copies.nodes.tolist()}
    assert found.nodes is not None and found.nodes.tolist() == [4, 5, 6]


def test_a_search_that_is_cut_short_does_not_trust_the_copies_it_has() -> None:
    """The first of millions of copies is the only one found that leads to all targets; others might as well."""
    star = [(0, leaf) for leaf in range(1, 13)]
    targets = [(leaf, 100 + j) for j in range(1, 8) for leaf in (j, j + 1)]
    links = nx.Graph(star + targets)
    for leaf in range(1, 13):
        links.add_edges_from((leaf, 200 + 10 * leaf + extra) for extra in range(4 - links.degree(leaf)))
    graph = Graph.from_networkx(nx.convert_node_labels_to_integers(links, ordering="sorted"))
    sets = np.array([0b11 << j for j in range(1, 8)])
    found = recover_nodes(graph, subgraph_of(graph, list(range(9)), sets))
    assert list(range(9)) in found.copies.nodes.tolist()
    assert not found.copies.complete and found.nodes is None and (found.targets == -1).all()
