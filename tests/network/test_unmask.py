"""Someone who holds another network with names: what is counted, and what is said about it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Case, Finding, Graph, Policy, Run, UnveilError
from unveil.network import NamedNodes, NetworkPair, TwoViews, ask_passive, measure_names, name_nodes
from unveil.network.node_pairs import parse_node_pairs
from unveil.network.passive import unmasking
from unveil.network.passive.attack import attack_from_truth
from unveil.network.passive.two_views import draw_seeds, two_views
from unveil.network.passive.unmasking import preserved_edges
from unveil.wording import percent_text

RISK = "network.unmasked"


def relabel(graph: Graph, name: str, number: int = 0) -> Graph:
    """The same graph, with nodes called after its name."""
    sources = np.repeat(np.arange(graph.nodes), graph.degrees)
    once = slice(None) if graph.directed else sources < graph.neighbours
    labels = [f"{name}{k + number}" for k in range(graph.nodes)]
    return Graph.from_edges(
        sources[once], graph.neighbours[once].astype(np.int64), labels=labels, directed=graph.directed, name=name
    )


def dense_graph(nodes: int = 150, seed: int = 0, directed: bool = False) -> Graph:
    made: nx.Graph = nx.powerlaw_cluster_graph(nodes, 12, 0.3, seed=seed)
    ends = np.array(list(made.edges()))
    if directed:
        back = np.random.default_rng(seed).random((len(ends), 1)) < 0.5
        ends = np.where(back, ends[:, ::-1], ends)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=nodes, directed=directed)


def overlapping(nodes: float = 0.9, edges: float = 0.8, directed: bool = False, seed: int = 1) -> TwoViews:
    views = two_views(dense_graph(directed=directed), nodes, edges, np.random.default_rng(seed))
    return replace(views, left=relabel(views.left, "p"), right=relabel(views.right, "n"))


@pytest.fixture(scope="module")
def views() -> TwoViews:
    return overlapping()


def pairs_table(mapping: np.ndarray) -> pa.Table:
    known = np.flatnonzero(mapping >= 0)
    return pa.table({"known": [f"p{k}" for k in known], "node": [f"n{k}" for k in mapping[known]]})


def unmask(known: Graph, release: Graph, truth: Any = None, reveal: bool = False, **held: Any) -> unveil.Assessment:
    if truth is not None:
        held["true_matches"] = pairs_table(truth)
    case = Case(release, holds=MappingProxyType({"known_network": known, **held}))
    return unveil.assess(case, Policy(), only=RISK, reveal=reveal)


def names_given(assessment: unveil.Assessment) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = assessment.artefacts["matches"]().to_pylist()
    return rows


# ---- what is counted -------------------------------------------------------------------------------------------------


def test_without_the_truth_probabilities_are_summed() -> None:
    views = overlapping(0.9, 0.7, seed=3)
    made = unmask(views.left, views.right)
    found, names = made[RISK], names_given(made)
    expected, nodes = sum(row["probability"] for row in names), views.right.nodes
    sure = sum(row["probability"] >= 0.95 for row in names)
    assert found.value == pytest.approx(expected / nodes)
    assert (found.method, found.subjects, found.share) == ("estimate", nodes, (found.value, found.value))
    assert found.value > 0.6
    assert len({row["probability"] for row in names}) > 5
    text = percent_text(expected / nodes)
    assert found.sentence.startswith(f"Someone who holds p names {len(names)} of {nodes} nodes, and about ")
    assert f" of the names are expected to be right ({text} of all nodes). " in found.sentence
    assert f" {sure} names have a stated probability of at least 95%. " in found.sentence
    assert "Probabilities come from rehearsing the attack on networks like these" in found.sentence
    order = [(row["probability"], row["score"]) for row in names]
    assert order == sorted(order, reverse=True)
    assert min(row["score"] for row in names) >= 0
    for side in ("known", "node"):
        assert len({row[side] for row in names}) == len(names)


def test_with_the_truth_right_names_are_counted(views: TwoViews) -> None:
    """Eight people have exchanged their places in what is given as the truth, so that some names are wrong."""
    truth, moved = views.truth.copy(), views.common_nodes()[:8]
    truth[moved] = np.roll(truth[moved], 1)
    made, unmeasured = unmask(views.left, views.right, truth), unmask(views.left, views.right)
    found, names = made[RISK], names_given(made)
    assert names == names_given(unmeasured), "the truth must not help the attacker"
    is_right = [f"n{truth[int(row['known'][1:])]}" == row["node"] for row in names]
    assert 80 < sum(is_right) < len(names) - 4
    right, nodes, common = sum(is_right), views.right.nodes, int((views.truth >= 0).sum())
    sure = [ok for ok, row in zip(is_right, names, strict=True) if row["probability"] >= 0.95]
    assert (found.value, found.method) == (right / nodes, "exact")
    for said in (
        f"Someone who holds p names {right} of {nodes} nodes rightly ({percent_text(right / nodes)}). ",
        f"Of the {len(names)} names given, {percent_text(right / len(names))} are right. ",
        f" {len(sure)} names have a stated probability of at least 95%; {sum(sure)} of {len(sure)} are right. ",
        f"By the true matches, {common} nodes are in both networks; {percent_text(right / common)} are found. ",
    ):
        assert said in found.sentence, said
    again = re.search(r"one would expect about ([\d.]+) to be right", found.sentence)
    assert again is not None
    assert float(again[1]) == pytest.approx(sum(row["probability"] for row in names), abs=0.6)


def test_a_run_from_the_truth_and_ranks_of_degrees_are_told(views: TwoViews) -> None:
    """The first is nearly the same on any numbering of the nodes. The second is known on a network in which only two
    nodes have the same degree."""
    found = unmask(views.left, views.right, views.truth)[RISK]
    told = re.search(r"the same attack names (\d+) rightly, which is no strict limit; ", found.sentence)
    assert told is not None
    again = attack_from_truth(views.left, views.right, views.truth, Run()).stated_mapping()
    assert int(told[1]) == pytest.approx(int(((again == views.truth) & (again >= 0)).sum()), abs=3)
    edges = [(a, b) for a in range(12) for b in range(a) if a + b >= 12]
    left, right = (relabel(Graph.from_edges(*zip(*edges, strict=True), nodes=12), name) for name in "pn")
    assert sorted(Counter(left.degrees.tolist()).values()) == [1] * 10 + [2]
    by_degree = re.search(
        r"how many connections they have gets (\d+) right", unmask(left, right, np.arange(12))[RISK].sentence
    )
    assert by_degree is not None
    assert int(by_degree[1]) in (10, 12)


def test_guessing_pairs_nodes_at_random(views: TwoViews) -> None:
    some = Graph.from_edges([0, 1], [1, 2], labels=["x", "y", "z"])
    for graphs in ((views.left, some), (some, views.left)):
        assert unmask(*graphs)[RISK].baseline == 1 / views.left.nodes


def test_charts_count_what_the_names_say(views: TwoViews) -> None:
    made = unmask(views.left, views.right, views.truth)
    bars, line = made[RISK].curves
    names = names_given(made)
    counted = Counter(min(int(row["probability"] * 10), 9) for row in names)
    assert bars.y == tuple(counted[k] for k in range(10))
    is_right = [f"n{views.truth[int(row['known'][1:])]}" == row["node"] for row in names]
    points = {(sum(is_right[:k]) / views.right.nodes, sum(is_right[:k]) / k) for k in range(1, len(names) + 1)}
    assert set(zip(line.x, line.y, strict=True)) <= points
    assert (line.x[-1], line.y[-1]) == (sum(is_right) / views.right.nodes, sum(is_right) / len(names))
    assert len(line.x) == 50


def test_exposed_nodes_have_numbers_and_no_names(views: TwoViews) -> None:
    made, shown = (unmask(views.left, views.right, reveal=reveal) for reveal in (False, True))
    names = names_given(made)
    edges = {frozenset(e) for e in labelled_edges(views.left)}
    known_as = {row["node"]: row["known"] for row in names}
    for row, hidden, revealed in zip(names, made[RISK].exposed, shown[RISK].exposed, strict=False):
        assert hidden.subject == f"node {views.right.labels.to_pylist().index(row['node']) + 1}"
        assert hidden.risk == row["probability"]
        assert hidden.values is None
        assert revealed.values == {"node": row["node"], "named": row["known"]}
        own = [e for e in labelled_edges(views.right) if row["node"] in e]
        kept = sum(frozenset(known_as.get(x, "") for x in e) in edges for e in own)
        assert hidden.because == f"{kept} of its {len(own)} connections are in the network held as well"
    assert len(made[RISK].exposed) == 10
    assert not re.search(r"\b[pn]\d", repr(made[RISK]) + made.to_json() + made.to_text(details=True))


def labelled_edges(graph: Graph) -> list[tuple[str, str]]:
    labels = graph.labels.to_pylist()
    rows = [
        (v, w) for v in range(graph.nodes) for w in graph.neighbours[graph.indptr[v] : graph.indptr[v + 1]].tolist()
    ]
    return [(labels[v], labels[w]) for v, w in rows if graph.directed or v < w]


def test_names_do_not_depend_on_the_order_of_the_files(views: TwoViews) -> None:
    rng = np.random.default_rng(3)
    again = []
    for graph in (views.left, views.right):
        edges = rng.permutation(labelled_edges(graph))
        again.append(Graph.from_edges(edges[:, 0].tolist(), edges[:, 1].tolist(), name=graph.name))
    connected = all((graph.degrees > 0).all() for graph in (views.left, views.right))
    assert connected, "otherwise the files do not have the same nodes"
    first, second = unmask(views.left, views.right), unmask(*again)
    assert [(row["known"], row["node"]) for row in names_given(first)] == [
        (row["known"], row["node"]) for row in names_given(second)
    ]
    assert first[RISK].value == pytest.approx(second[RISK].value)


def test_directed_networks_are_matched_too() -> None:
    views = overlapping(directed=True)
    found = unmask(views.left, views.right, views.truth)[RISK]
    assert found.value is not None and found.value > 0.6


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_kept_edges_are_those_between_the_same_two_nodes(data: st.DataObject) -> None:
    directed = data.draw(st.booleans())
    sizes = data.draw(st.tuples(st.integers(2, 7), st.integers(2, 7)))
    graphs = []
    for size in sizes:
        ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda e: e[0] != e[1])
        edges = data.draw(st.lists(ends, max_size=20))
        graphs.append(Graph.from_edges([a for a, _ in edges], [b for _, b in edges], nodes=size, directed=directed))
    known, release = graphs
    names = data.draw(st.integers(0, min(sizes)))
    mine = data.draw(st.permutations(range(sizes[0])))[:names]
    theirs = data.draw(st.permutations(range(sizes[1])))[:names]
    found = NamedNodes(np.array(mine, int), np.array(theirs, int), np.ones(names), None)
    known_as = dict(zip((str(k) for k in theirs), (str(k) for k in mine), strict=True))
    there = {e for a, b in labelled_edges(known) for e in ([(a, b)] if directed else [(a, b), (b, a)])}
    kept = [e for e in labelled_edges(release) if tuple(known_as.get(x) for x in e) in there]
    assert preserved_edges(found, known, release).tolist() == [sum(str(k) in e for e in kept) for k in theirs]


# ---- pairs known beforehand ------------------------------------------------------------------------------------------


def test_seeds_find_what_structure_alone_does_not() -> None:
    views = overlapping(0.8, 0.5, seed=3)
    seeds = draw_seeds(views, 40, 0.0, np.random.default_rng(2))
    without = unmask(views.left, views.right, views.truth)[RISK]
    started = unmask(views.left, views.right, views.truth, seeds=pairs_table(seeds))[RISK]
    assert without.value is not None and started.value is not None
    assert started.value > without.value + 0.2
    assert "and believes to know 40 pairs of nodes." in started.attacker
    assert "and does not know who any node is." in without.attacker
    assert "known beforehand" not in without.sentence


@pytest.mark.parametrize(("count", "wrong"), [(3, 0.0), (40, 1.0), (40, 0.25)])
def test_what_became_of_seeds_is_said(views: TwoViews, count: int, wrong: float) -> None:
    """Whoever knows a few pairs, or wrong ones, finds no fewer people than without."""
    seeds = draw_seeds(views, count, wrong, np.random.default_rng(2))
    made = unmask(views.left, views.right, views.truth, seeds=pairs_table(seeds))
    found, without = made[RISK], unmask(views.left, views.right, views.truth)[RISK]
    assert found.value is not None and without.value is not None
    assert found.value >= without.value - 0.02
    named = {row["known"]: row["node"] for row in names_given(made)}
    given_pairs = [(row["known"], row["node"]) for row in pairs_table(seeds).to_pylist()]
    confirmed = sum(named.get(k) == v for k, v in given_pairs)
    open_pairs = sum(k not in named and v not in named.values() for k, v in given_pairs)
    rejected = count - confirmed - open_pairs
    share = percent_text(rejected / count)
    said = f"the attack confirms {confirmed}, rejects {rejected} ({share}) and leaves {open_pairs} open"
    assert f"Of {count} pairs known beforehand, {said}{'; confirmed pairs count as named' if confirmed else ''}." in (
        found.sentence
    )
    assert rejected >= 0.9 * wrong * count
    assert (rejected == 0) == (wrong == 0)


def test_a_node_that_is_named_otherwise_rejects_its_pair(views: TwoViews) -> None:
    """The attacker takes three people who are not in the release for three who are named."""
    seeds = np.full(views.left.nodes, -1)
    outside, named = np.flatnonzero(views.truth < 0)[:3], names_given(unmask(views.left, views.right))[:3]
    seeds[outside] = [int(row["node"][1:]) for row in named]
    found = unmask(views.left, views.right, seeds=pairs_table(seeds))[RISK]
    assert "Of 3 pairs known beforehand, the attack confirms 0, rejects 3 (100%) and leaves 0 open." in found.sentence


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_pairs_are_read_by_label(data: st.DataObject) -> None:
    known, release = (Graph.from_edges([0], [1], labels=[f"{name}{k}" for k in range(6)]) for name in "pn")
    count = data.draw(st.integers(1, 6))
    mine = data.draw(st.permutations(range(6)))[:count]
    theirs = data.draw(st.permutations(range(6)))[:count]
    table = unveil.read(
        pa.table({"note": ["x"] * count, "node": [f"n{k}" for k in theirs], "known": [f"p{k}" for k in mine]})
    )
    assert isinstance(table, unveil.Table)
    expected = [-1] * 6
    for k, v in zip(mine, theirs, strict=True):
        expected[k] = v
    assert parse_node_pairs(table, known, release).tolist() == expected


# ---- networks that tell little ---------------------------------------------------------------------------------------

REGULAR = {
    "two nodes": nx.path_graph(2),
    "complete": nx.complete_graph(8),
    "ring": nx.cycle_graph(30),
    "no edges": nx.empty_graph(5),
}


@pytest.mark.parametrize("what", REGULAR)
def test_networks_without_structure_name_nobody(what: str) -> None:
    """The true partner of each node has the same number in both files, which must not help."""
    left, right = (relabel(Graph.from_networkx(REGULAR[what]), name) for name in "pn")
    found = unmask(left, right, np.arange(left.nodes))[RISK]
    assert found.value == 0
    assert found.sentence.startswith(
        "Someone who holds p names nobody: no match is more likely right than wrong. By the true "
        f"matches, {left.nodes} nodes are in both networks; 0% are found."
    )
    assert not found.curves and not found.exposed


def test_the_centre_of_a_star_is_the_only_node_that_differs() -> None:
    left, right = (relabel(Graph.from_networkx(nx.star_graph(8)), name) for name in "pn")
    made = unmask(left, right, np.arange(9))
    assert [(row["known"], row["node"]) for row in names_given(made)] == [("p0", "n0")]
    assert "names 1 of 9 nodes rightly" in made[RISK].sentence
    assert "The only name given is right." in made[RISK].sentence


def test_isolated_nodes_stay_unnamed(views: TwoViews) -> None:
    ends = np.array([[int(x[1:]) for x in e] for e in labelled_edges(views.right)])
    more = Graph.from_edges(
        ends[:, 0], ends[:, 1], labels=[*views.right.labels.to_pylist(), "alone 1", "alone 2"], name="n"
    )
    made = unmask(views.left, more)
    assert made[RISK].subjects == views.right.nodes + 2
    assert len(names_given(made)) > 80
    assert not {row["node"] for row in names_given(made)} & {"alone 1", "alone 2"}


def test_a_network_with_other_labels_is_named_completely() -> None:
    """Everything in it differs from everything else, so that everybody is found."""
    graph = dense_graph()
    found = unmask(relabel(graph, "p"), relabel(graph, "n"), np.arange(graph.nodes))[RISK]
    assert found.value is not None and found.value > 0.97
    assert "100% are right" in found.sentence


def test_networks_with_nobody_in_common_name_hardly_anybody() -> None:
    left, right = relabel(dense_graph(seed=7), "p"), relabel(dense_graph(seed=8), "n")
    expected = unmask(left, right)[RISK]
    assert expected.value is not None and expected.value < 0.05


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_two_small_networks_can_be_compared(data: st.DataObject) -> None:
    """Names are one to one, the share is what was counted, and every word is there."""
    directed, sizes = data.draw(st.booleans()), data.draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    graphs = []
    for name, size in zip("pn", sizes, strict=True):
        ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
        edges = data.draw(st.lists(ends, max_size=40))
        graphs.append(
            Graph.from_edges(
                [a for a, _ in edges], [b for _, b in edges],
                labels=[f"{name}{k}" for k in range(size)], directed=directed, name=name,
            )
        )  # fmt: skip
    count = data.draw(st.integers(1, min(sizes)))
    truth = np.full(sizes[0], -1)
    truth[data.draw(st.permutations(range(sizes[0])))[:count]] = data.draw(st.permutations(range(sizes[1])))[:count]
    held = {"seeds": pairs_table(truth)} if data.draw(st.booleans()) else {}
    made = unmask(*graphs, data.draw(st.sampled_from([None, truth])), **held)
    names = names_given(made)
    assert not [f for f in made.findings if f.value is None]
    assert len({row["known"] for row in names}) == len({row["node"] for row in names}) == len(names)
    if made[RISK].method == "exact":
        right = sum(f"n{truth[int(row['known'][1:])]}" == row["node"] for row in names)
        assert made[RISK].value == right / sizes[1]
    elif len(names) < 10:
        assert made[RISK].value == len(names) / sizes[1]
    assert ("names nobody" in made[RISK].sentence) == (not names)


# ---- names without probabilities -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [
        (
            "MOST_REHEARSED_EDGES",
            10,
            "with more than 10 edges in the two networks together, the attack was not rehearsed",
        ),
        ("LEAST_NAMES", 1000, "with fewer than 1000 names there is too little to rehearse the attack on"),
    ],
)
def test_names_that_were_not_rehearsed_have_scores(
    views: TwoViews, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, why: str
) -> None:
    monkeypatch.setattr(unmasking, limit, value)
    made = unmask(views.left, views.right)
    found, names = made[RISK], names_given(made)
    assert found.value == len(names) / views.right.nodes
    assert f"Someone who holds p names {len(names)} of {views.right.nodes} nodes " in found.sentence
    assert f"Names have scores, not probabilities: {why}. " in found.sentence
    assert found.sentence.endswith("How many of them are right is not known: the share counts all of them.")
    assert "probability" not in found.sentence
    assert not found.exposed
    assert {row["probability"] for row in names} == {None}
    (bars,) = found.curves
    low = (0, 1, 2, 4, 8, 12)
    assert bars.y == tuple(
        sum(a <= row["score"] < b for row in names) for a, b in zip(low, (*low[1:], np.inf), strict=True)
    )
    assert "It is not a probability." in bars.reading


# ---- the verdict and what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("tolerance", "status"), [(0.1, "over"), (0.999, "within")])
def test_a_tolerance_decides_if_the_truth_is_known(views: TwoViews, tolerance: float, status: str) -> None:
    held = {"known_network": views.left}
    measured = Case(views.right, holds=MappingProxyType({**held, "true_matches": pairs_table(views.truth)}))
    policy = Policy(tolerance={RISK: tolerance})
    found = unveil.assess(measured, policy, only=RISK)[RISK]
    assert (found.status, found.decides) == (status, True)
    estimated = unveil.assess(Case(views.right, holds=MappingProxyType(held)), policy, only=RISK)
    assert not estimated[RISK].decides
    assert estimated.verdict.decision == "your call"
    assert any("this is an estimate, so it cannot decide" in reason for reason in estimated.verdict.reasons)


def test_without_a_network_nothing_is_found() -> None:
    assert RISK not in {f.id for f in unveil.assess(relabel(nx_graph(), "n")).findings}


def nx_graph() -> Graph:
    return Graph.from_networkx(nx.karate_club_graph())


def test_other_attackers_do_not_matter_to_who_asks_about_this_one(
    views: TwoViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a simulated attack was left out for its size says nothing about a real one."""
    monkeypatch.setattr(ask_passive, "_MOST_EDGES", 10)
    left_out = "Someone who holds an overlapping network was not tried"
    assert not any(left_out in reason for reason in unmask(views.left, views.right).verdict.reasons)
    case = Case(views.right, holds=MappingProxyType({"known_network": views.left}))
    every = unveil.assess(case, Policy(tolerance={"network.degree_k": None}), only=[RISK, "network.degree_k"])
    assert any(left_out in reason for reason in every.verdict.reasons)


def refusal(release: Graph, **held: Any) -> str:
    with pytest.raises(UnveilError) as caught:
        unveil.assess(Case(release, holds=MappingProxyType(held)), only=RISK)
    return str(caught.value)


def test_what_cannot_be_compared_is_refused() -> None:
    graph, other = relabel(nx_graph(), "n"), relabel(nx_graph(), "p")
    directed = replace(other, directed=True)
    said = refusal(graph, known_network=directed)
    assert said == (
        "p was read as a directed graph and n as an undirected one; save both as edge lists and read both with "
        "--directed, or both without"
    )
    assert refusal(directed, known_network=graph) == said
    assert refusal(graph, known_network=graph) == (
        "n: the network held is the release itself, names included; name another file"
    )
    table = pa.table({"known": ["p1"], "node": ["n1"]})
    assert "must be a graph" in refusal(graph, known_network=table)
    assert "seeds must be a table" in refusal(graph, known_network=other, seeds=other)
    for held in ({"seeds": table}, {"true_matches": table}):
        assert refusal(graph, **held).endswith("need the network that they are about; add --known-network FILE")


@pytest.mark.parametrize("which", ["seeds", "true_matches"])
@pytest.mark.parametrize(
    ("known", "node", "said"),
    [
        (["p1", "p99"], ["n1", "n2"], "row 2 has a known label that is not in p"),
        (["p1", "p2", None], ["n1", "n2", "n3"], "row 3 has a known label that is not in p"),
        (["p1", "p2"], ["p1", "n2"], "row 1 has a node label that is not in n"),
        (
            ["p1", "p2", "p1"],
            ["n1", "n2", "n3"],
            "row 3 repeats the known label of an earlier row; keep one row for each",
        ),
        (
            ["p1", "p2", "p3"],
            ["n1", "n2", "n1"],
            "row 3 repeats the node label of an earlier row; keep one row for each",
        ),
    ],
)
def test_pairs_that_cannot_be_are_refused_by_row(which: str, known: list[str], node: list[str], said: str) -> None:
    graphs = relabel(nx_graph(), "n"), relabel(nx_graph(), "p")
    table = pa.table({"known": known, "node": node})
    assert refusal(graphs[0], known_network=graphs[1], **{which: table}).endswith(said)
    lacking = pa.table({"known": known, "nodes": node})
    assert "the columns known and node are needed" in refusal(graphs[0], known_network=graphs[1], **{which: lacking})


def test_the_library_names_nodes_without_an_assessment(views: TwoViews) -> None:
    pair = NetworkPair.draw(views.left, views.right, Run(), "example")
    assert sorted(pair.known_number.tolist()) == list(range(views.left.nodes))
    assert pair.known_number.tolist() != list(range(views.left.nodes))
    moved = pair.renumber(views.truth)
    assert np.array_equal(np.append(pair.node_number, -1)[moved], views.truth[pair.known_number])
    found = name_nodes(pair, Run(), "example")
    measured = measure_names(found, pair, views.truth, Run())
    assert measured.right == (views.truth[found.known] == found.node).sum() > 80
    assert measured.common == len(views.common_nodes())


def test_the_finding_survives_json(views: TwoViews) -> None:
    found = unmask(views.left, views.right)[RISK]
    assert Finding.from_dict(found.to_dict()).sentence == found.sentence


# ---- real networks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "names", "sure", "right", "expected"),
    [("Caltech36.edges.gz", 592, 552, 586, 585), ("ca-GrQc.txt", 1464, 700, 1279, 1279)],
)
def test_what_the_documentation_says_about_real_networks(
    data: Path, file: str, names: int, sure: int, right: int, expected: int
) -> None:
    """Give or take 5%, or 10% of those that are sure."""
    graph = unveil.read(data / "graphs" / file, "graph")
    assert isinstance(graph, Graph)
    views = two_views(graph, 0.8, 0.8, np.random.default_rng(1))
    views = replace(views, left=relabel(views.left, "p"), right=relabel(views.right, "n"))
    made = unmask(views.left, views.right, views.truth)
    found, given_names = made[RISK], names_given(made)
    assert len(given_names) == pytest.approx(names, rel=0.05)
    assert sum(row["probability"] >= 0.95 for row in given_names) == pytest.approx(sure, rel=0.1)
    assert found.value is not None
    assert found.value * views.right.nodes == pytest.approx(right, rel=0.05)
    assert sum(row["probability"] for row in given_names) == pytest.approx(expected, rel=0.05)
