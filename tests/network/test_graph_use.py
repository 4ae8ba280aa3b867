"""What a changed graph can still be used for: against definitions, against networkx, and by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import sqrt

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import unveil
from reference import naive_graph_use as naive
from unveil import Case, Graph, Policy, Run, questions
from unveil.assessment import Assessment, ProtectionResult
from unveil.network.compared_graphs import ComparedGraphs, compare_edges, compare_graphs
from unveil.network.measures.path_lengths import measure_path_lengths
from unveil.network.measures.power_law import fit_power_law
from unveil.network.protections.relabel import relabel_graph
from unveil.network.use import global_structure, spectrum
from unveil.network.use.global_structure import distance_use
from unveil.network.use.local_structure import degree_distance
from unveil.network.use.measure import measure_graph_use
from unveil.network.use.page_rank import page_ranks, shares_at_top, top_overlap
from unveil.network.use.spectrum import largest_singular_values, spectral_distance
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import edge_endpoints
from unveil.report.phrases import use_summary
from unveil.report.schema import assessment_schema
from unveil.usefulness.use_measure import UseMeasure

SOME = settings(max_examples=100, deadline=None)
RNG = np.random.default_rng


def graph_of(other: nx.Graph) -> Graph:
    """The same graph, with node numbers for positions."""
    ends = np.array(list(other.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=len(other), directed=other.is_directed())


def networkx_graph(nodes: int, edges: list[tuple[int, int]], directed: bool) -> nx.Graph:
    made = nx.DiGraph() if directed else nx.Graph()
    made.add_nodes_from(range(nodes))
    made.add_edges_from((u % nodes, v % nodes) for u, v in edges if u % nodes != v % nodes)
    return made


PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


@st.composite
def changes(draw: st.DrawFn) -> tuple[nx.Graph, nx.Graph, list[int]]:
    """A graph, another one, and what became of each node: some are left out, and some were added."""
    nodes, directed = draw(st.integers(1, 12)), draw(st.booleans())
    order = draw(st.permutations(range(nodes)))
    kept = draw(st.integers(1, nodes))
    truth = [place if place < kept else -1 for place in order]
    released = kept + draw(st.integers(0, 3))
    before, after = (networkx_graph(size, draw(PAIRS), directed) for size in (nodes, released))
    if draw(st.booleans()):  # mostly the same edges
        names = naive.original_names(after, truth)
        same = [(x, y) for x in after for y in after if before.has_edge(names[x], names[y])]
        after.add_edges_from(same[: len(same) * 3 // 4])
    return before, after, truth


def compared(before: nx.Graph, after: nx.Graph, truth: list[int]) -> ComparedGraphs:
    return compare_graphs(graph_of(before), graph_of(after), np.array(truth))


def use_of(before: Graph, after: Graph, truth: np.ndarray | None = None) -> dict[str, UseMeasure]:
    place = np.arange(before.nodes) if truth is None else truth
    return {m.id: m for m in measure_graph_use(Case(before), Case(after, before, place), Run())}


# ---- both graphs in the same order -----------------------------------------------------------------------------------


@SOME
@given(changes())
def test_both_graphs_keep_their_structure(change: tuple[nx.Graph, nx.Graph, list[int]]) -> None:
    before, after, truth = change
    found = compared(*change)
    for made, other in ((found.original, before), (found.released, after)):
        edges = {*zip(*(ends.tolist() for ends in edge_endpoints(made)), strict=True)}
        copy = networkx_graph(made.nodes, sorted(edges), made.directed)
        assert sorted(dict(copy.degree).values()) == sorted(dict(other.degree).values())
        assert nx.faster_could_be_isomorphic(copy, other)
    assert (found.place >= 0).sum() == sum(place >= 0 for place in truth)
    assert np.diff(found.place[found.place >= 0]).tolist() == [1] * (sum(place >= 0 for place in truth) - 1)


@SOME
@given(changes())
def test_a_relabelled_graph_is_the_same_array_by_array(change: tuple[nx.Graph, nx.Graph, list[int]]) -> None:
    graph = graph_of(change[0])
    found = compare_graphs(graph, *relabel_graph(graph))
    assert found.original.digest == found.released.digest
    assert found.place.tolist() == list(range(graph.nodes))


@SOME
@given(changes())
def test_edges_and_degrees(change: tuple[nx.Graph, nx.Graph, list[int]]) -> None:
    was, now = naive.edge_sets(*change)
    found = compare_edges(compared(*change))
    assert (found.removed.sum(), found.added.sum()) == (len(was - now), len(now - was))
    assert found.jaccard == naive.jaccard(was, now)
    assert degree_distance(compared(*change))[0] == naive.half_degree_change(*change)


@SOME
@given(changes())
def test_so_many_edges_must_change(change: tuple[nx.Graph, nx.Graph, list[int]]) -> None:
    """Half the change of degrees is what the sentence says: no fewer edges could have been added or removed."""
    found = compare_edges(compared(*change))
    assert degree_distance(compared(*change))[0] <= found.added.sum() + found.removed.sum()


# ---- singular values -------------------------------------------------------------------------------------------------

SYMMETRIC = {
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(21, 21)),  # many eigenvalues four times
    "pairs": nx.disjoint_union_all([nx.path_graph(2)] * 201),
    "stars": nx.disjoint_union_all([nx.star_graph(20)] * 20),
    "complete": nx.complete_graph(401),
    "one edge": nx.disjoint_union(nx.path_graph(2), nx.empty_graph(400)),
    "random": nx.gnm_random_graph(401, 1_200, seed=1),
    "directed": nx.gnm_random_graph(401, 1_200, seed=2, directed=True),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_singular_values_of_large_graphs_are_all_found(name: str) -> None:
    other = SYMMETRIC[name]
    assert len(other) > 400, "small enough for all singular values"
    matrix = nx.to_numpy_array(other)
    exact = np.sort(np.sqrt(np.abs(np.linalg.eigvalsh(matrix.T @ matrix))))[::-1][:10]
    found = largest_singular_values(graph_of(other), RNG(0))
    assert found is not None
    assert found[::-1].tolist() == sorted(found)
    assert found == pytest.approx(exact, abs=1e-3)


def test_singular_values_that_take_too_long_are_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a long ring are almost the same, so that the search for them goes on and on."""
    graph = graph_of(nx.cycle_graph(500))
    monkeypatch.setattr(spectrum, "_MOST_WORK", 10_000_000)
    assert largest_singular_values(graph, RNG(0)) is None
    measure = use_of(graph, graph)["spectrum"]
    assert (measure.before, measure.after) == (None, None)
    assert measure.sentence.endswith("are not compared: finding them takes too long.")


def test_singular_values_by_hand() -> None:
    """A star of 16 leaves has ±4. In a directed one, AᵀA is one row of ones: √16 and nothing else."""
    for directed, wanted in ((False, [4, 4, 0]), (True, [4, 0, 0])):
        star = Graph.from_edges([0] * 16, range(1, 17), nodes=17, directed=directed)
        found = largest_singular_values(star, RNG(0))
        assert found is not None and found[:3] == pytest.approx(wanted, abs=1e-9)
    empty = largest_singular_values(Graph.from_edges([], [], nodes=3), RNG(0))
    assert empty is not None and empty.tolist() == [0] * 10
    assert spectral_distance(empty, empty) == 0
    assert spectral_distance(empty, np.arange(10.0)) == 1


# ---- PageRank --------------------------------------------------------------------------------------------------------


@SOME
@given(changes())
def test_page_rank(change: tuple[nx.Graph, nx.Graph, list[int]]) -> None:
    wanted = nx.pagerank(change[0], alpha=0.85, tol=1e-12, max_iter=1_000)
    assert page_ranks(graph_of(change[0])) == pytest.approx([wanted[v] for v in change[0]], abs=1e-8)


@SOME
@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.data())
def test_places_at_the_top_are_shared(ranks: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(ranks)))
    found = shares_at_top(np.array(ranks) / sum(ranks), size)
    assert found.sum() == pytest.approx(size)
    assert found.min() >= 0 and found.max() <= 1
    ordered = sorted(zip(ranks, found.tolist(), strict=True))
    assert [share for _, share in ordered] == sorted(share for _, share in ordered)
    assert len({*ordered}) == len({*ranks}), "equal ranks have equal shares"


def test_the_most_important_nodes_that_stay() -> None:
    graph, all_kept = Graph.from_edges([0], [1], nodes=4), np.arange(4)
    same = ComparedGraphs(graph, graph, all_kept)
    before = np.array([0.4, 0.3, 0.2, 0.1])
    assert top_overlap(same, before, before, 2) == 1
    assert top_overlap(same, before, before[[0, 3, 2, 1]], 2) == 0.5  # 0 and 2 instead of 0 and 1
    assert top_overlap(same, before, before[::-1], 2) == 0
    assert top_overlap(same, np.full(4, 0.25), np.full(4, 0.25), 3) == 1  # nobody differs, and nothing has changed
    left_out = ComparedGraphs(graph, graph, np.array([-1, 0, 1, 2]))
    assert top_overlap(left_out, before, before, 2) == 0.5


# ---- what is said ----------------------------------------------------------------------------------------------------

TRIANGLE_AND_TAIL = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], nodes=4)
NO_EDGES = Graph.from_edges([], [], nodes=4)


def test_every_sentence_of_a_change_by_hand() -> None:
    """The tail moves from node 2 to node 1, and its end gets a second edge, to node 0."""
    after = Graph.from_edges([0, 1, 2, 1, 0], [1, 2, 0, 3, 3], nodes=4)
    found = use_of(TRIANGLE_AND_TAIL, after)
    assert {name: (m.before, m.after) for name, m in found.items() if name not in ("communities", "spectrum")} == {
        "connections": (1.0, 3 / 6),
        "added": (0.0, 2),
        "removed": (0.0, 1),
        "degrees": (0.0, 2),  # |2 − 3| + |2 − 3| + |3 − 2| + |1 − 2|, halved
        "added_recognised": (None, pytest.approx((2 + 4 / 2) / 6)),  # 0–1 is above both, four pairs are equal
        "density": (4 / 6, 5 / 6),
        "clustering": (pytest.approx((1 + 1 + 1 / 3) / 4), pytest.approx((2 / 3 + 2 / 3 + 1 + 1) / 4)),
        "clustering_pairs": (3 / 5, pytest.approx(6 / 8)),
        "distance": (pytest.approx(8 / 6), pytest.approx(7 / 6)),
        "distance_all": (pytest.approx(8 / 6), pytest.approx(7 / 6)),
        "diameter": (2, 2),
        "page_rank": (1.0, 0.0),
        "power_law": (found["power_law"].before, found["power_law"].after),
    }
    assert found["connections"].sentence == "Of the connections before or after protection, 50% are in both."
    assert (found["added"].sentence, found["removed"].sentence) == (
        "2 connections were added.",
        "1 connection was removed.",
    )
    assert found["degrees"].sentence == (
        "4 nodes have more or fewer connections than before; for that, at least 2 connections must be added or removed "
        "(50% of the 4 there were)."
    )
    assert found["density"].sentence == "The share of all possible connections that exist rises from 66.67% to 83.33%."
    assert found["distance"].sentence == (
        "The average number of steps between two nodes that a path joins falls from 1.333 to 1.167."
    )
    assert found["diameter"].sentence == "The largest number of steps between two nodes that a path joins stays at 2."
    assert found["page_rank"].sentence == (
        "The node with the highest PageRank, which says how important a node is, is another one than before."
    )


def test_the_published_exponent_is_that_from_three_connections_on() -> None:
    before, after = (graph_of(nx.barabasi_albert_graph(60, m, seed=3)) for m in (2, 3))
    found = use_of(before, after)["power_law_3"]
    laws = [fit_power_law(graph.degrees, x_min=3) for graph in (before, after)]
    assert (found.before, found.after) == tuple(law.exponent for law in laws if law is not None)
    assert found.sentence.startswith("The exponent of the power law for the numbers of connections from 3 on ")


@pytest.mark.parametrize(("before", "told"), [(0.0, " (was 0%)"), (1.0, " (was 100%)"), (0.5, "")])
def test_none_and_all_are_told_unless_they_are_what_no_change_gives(before: float, told: str) -> None:
    def summary(is_comparison: bool) -> str:
        use = (UseMeasure("a", "Clustering", before, 0.5, "", is_comparison=is_comparison),)
        protection = ProtectionResult(id="x", title="X", sentence="", chosen=True, use=use)
        return use_summary(replace(unveil.assess(RING_WITH_CHORD, only="network.degree_k"), protections=(protection,)))

    if told:
        assert summary(False) == f"Still usable: clustering 50%{told}."
        assert summary(True) == "Still usable: clustering 50%."
    else:
        assert summary(False) == summary(True) == "Still usable as before, by 1 measure."


def test_the_spectrum_of_a_change_by_hand() -> None:
    """K₃ has 2, 1, 1 and a path of three nodes √2, √2, 0: |2 − √2| + |1 − √2| + 1 of 2 + √2 + 1."""
    triangle, path = Graph.from_edges([0, 1, 2], [1, 2, 0], nodes=3), Graph.from_edges([0, 1], [1, 2], nodes=3)
    found = use_of(triangle, path)["spectrum"]
    assert found.after == pytest.approx((2 - sqrt(2) + sqrt(2) - 1 + 1) / (2 + sqrt(2) + 1))
    assert "differ by 45.3% of the larger ones" in found.sentence


def test_what_there_is_no_number_for_is_said() -> None:
    found = use_of(TRIANGLE_AND_TAIL, NO_EDGES)
    assert (found["distance"].before, found["distance"].after) == (pytest.approx(8 / 6), None)
    assert found["distance"].sentence.endswith("was 1.333; after protection no path joins any two.")
    assert found["clustering_pairs"].sentence.endswith("was 60%; after protection no node has two neighbours.")
    assert found["power_law"].sentence.endswith("; after protection none can be fitted.")
    assert found["connections"].after == found["clustering"].after == found["distance_all"].after == 0
    assert found["connections"].sentence.endswith(" 0% are in both.")
    assert (found["added"].sentence, found["removed"].sentence) == (
        "No connection was added.",
        "4 connections were removed.",
    )
    assert found["spectrum"].after == 1
    turned = use_of(NO_EDGES, TRIANGLE_AND_TAIL)
    assert turned["distance"].sentence.endswith("is 1.333 after protection; before, no path joins any two.")
    assert turned["degrees"].sentence.endswith("at least 4 connections must be added or removed.")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "other",
    [
        nx.empty_graph(1), nx.empty_graph(2), nx.path_graph(2), nx.empty_graph(5), nx.complete_graph(6),
        nx.star_graph(7), nx.cycle_graph(8), nx.disjoint_union(nx.path_graph(4), nx.complete_graph(4)),
        nx.gnm_random_graph(30, 80, seed=1),
    ],
)  # fmt: skip
def test_of_a_relabelled_graph_nothing_has_changed(other: nx.Graph, directed: bool) -> None:
    graph = graph_of(other.to_directed() if directed else other)
    release, place = relabel_graph(graph)
    found = use_of(graph, release, place)
    assert {"connections", "degrees", "spectrum", "page_rank"} <= set(found)
    for measure in found.values():
        assert measure.before == measure.after, measure
        assert measure.interval is None
        unchanged = (
            "stays at", "as before", "the same as before", "as many", "There are no connections", "agree to",
            "No connection was",
        )  # fmt: skip
        assert any(words in measure.sentence for words in unchanged), measure.sentence


@SOME
@given(changes())
def test_any_change_can_be_measured(change: tuple[nx.Graph, nx.Graph, list[int]]) -> None:
    """Numbers are numbers, and shares are shares; those who read the sentence meet no "nan"."""
    before, after, truth = change
    for measure in use_of(graph_of(before), graph_of(after), np.array(truth)).values():
        for number in (measure.before, measure.after):
            assert number is None or np.isfinite(number)
            assert number is None or not measure.is_share or 0 <= number <= 1
        assert measure.sentence.endswith(".") and "nan" not in measure.sentence and "None" not in measure.sentence
        assert (measure.before, measure.after) != (None, None)


def test_merged_nodes_leave_measures_of_the_whole_graph() -> None:
    found = use_of(TRIANGLE_AND_TAIL, Graph.from_edges([0], [1], nodes=2), np.array([0, 0, 0, 1]))
    assert set(found) == {"density", "clustering", "clustering_pairs", "distance", "distance_all", "diameter",
                          "communities", "spectrum", "power_law"}  # fmt: skip


def test_directions_are_named() -> None:
    before = Graph.from_edges([0, 1], [1, 2], nodes=3, directed=True)
    after = Graph.from_edges([1, 1], [0, 2], nodes=3, directed=True)
    found = use_of(before, after)
    assert found["degrees"].after == 2  # an edge turned round is removed and added
    assert "more or fewer outgoing or incoming connections" in found["degrees"].sentence
    assert "that a path joins, along directions, falls from 1.333 to 1." in found["distance"].sentence


# ---- samples ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> int:
    """Distances are measured from 60 nodes, however small a graph is."""
    monkeypatch.setattr(global_structure, "affordable_sources", lambda graph: 60)
    return 60


def test_sampled_distances_say_so(sampled: int) -> None:
    before = nx.barabasi_albert_graph(300, 2, seed=1)
    after = before.copy()
    after.add_edges_from([(k, k + 150) for k in range(0, 140, 7)])
    found = {m.id: m for m in distance_use(compared(before, after, list(range(300))), Run())}
    for name, true in (("distance", nx.average_shortest_path_length(after)), ("diameter", nx.diameter(after))):
        interval = found[name].interval
        assert "60 nodes drawn at random" in found[name].sentence
        assert interval is None if name == "diameter" else interval is not None and interval[0] <= true <= interval[1]
    assert found["diameter"].title == "Largest distance found"
    assert "there may be larger ones" in found["diameter"].sentence
    same = {m.id: m for m in distance_use(compared(before, before, list(range(300))[::-1]), Run())}
    assert same["distance"].before != same["distance"].after  # another graph, since its nodes are turned round
    release, place = relabel_graph(graph_of(before))
    again = {m.id: m for m in distance_use(compare_graphs(graph_of(before), release, place), Run())}
    assert all(m.before == m.after and " stays at " in m.sentence for m in again.values())


def test_intervals_of_sampled_averages_hold() -> None:
    """Of 200 samples with 95% confidence, fewer than 181 hold with a probability below .002 (seed fixed)."""
    graph = graph_of(nx.disjoint_union(nx.barabasi_albert_graph(300, 2, seed=1), nx.path_graph(40)))
    true, rng, holds = measure_path_lengths(graph).over_all, RNG(6), 0
    for _ in range(200):
        low, high = measure_path_lengths(graph, rng=rng, sample=60).over_all_interval()
        holds += low <= true <= high
    assert holds >= 181


def test_what_takes_too_long_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_structure, "_MOST_EDGES", 3)
    found = use_of(TRIANGLE_AND_TAIL, TRIANGLE_AND_TAIL)
    for name, beginning in (("communities", "Communities are"), ("spectrum", "The ten largest singular values")):
        assert (found[name].before, found[name].after) == (None, None)
        assert found[name].sentence.startswith(beginning)
        assert found[name].sentence.endswith("not compared in networks of more than 1,000,000 connections.")


def test_the_original_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def count_and_find(graph: Graph, run: Run | None = None) -> np.ndarray:
        measured.append(graph.edges)
        return page_ranks(graph, run)

    monkeypatch.setattr(global_structure, "page_ranks", count_and_find)
    run, place = Run(), np.arange(4)
    for after in (NO_EDGES, TRIANGLE_AND_TAIL, NO_EDGES):
        list(measure_graph_use(Case(TRIANGLE_AND_TAIL), Case(after, TRIANGLE_AND_TAIL, place), run))
    assert measured == [4, 0, 0]


# ---- to the end ------------------------------------------------------------------------------------------------------


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside relabelling, a protection that turns a ring with a chord into one with another chord."""

    def fit(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
        def apply() -> Case:
            assert isinstance(case.release, Graph)
            sources, targets = edge_endpoints(case.release)
            chord = (targets - sources != 1) & (targets - sources != 11)
            targets = np.where(chord, sources + 5, targets)
            changed = Graph.from_edges(sources, targets, nodes=12, name="ring.edges")
            release, place = relabel_graph(changed)
            return replace(case, release=release, original=case.release, truth=place)

        return Protection(sentence="The chord moves.", usefulness=0.9, apply=apply)

    offer = ProtectionOffer("Move the chord", "Move the chord.", fit, is_harmless=True)
    asked = [
        replace(q, protections={**q.protections, "move": offer}) if q.name == "network" else q
        for q in questions.QUESTIONS
    ]
    monkeypatch.setattr(questions, "QUESTIONS", tuple(asked))


RING_WITH_CHORD = Graph.from_edges([*range(12), 0], [*range(1, 12), 0, 6], nodes=12, name="ring.edges")
ANY_K = Policy(tolerance={"network.degree_k": 1})


@pytest.mark.usefixtures("offers")
def test_the_use_of_every_protection_is_reported() -> None:
    made = unveil.protect(RING_WITH_CHORD, ANY_K)
    results = {p.id: {m.id: m for m in p.use} for p in made.assessment.protections}
    assert set(results) == {"none", "relabel", "move"} and not results["none"]
    assert results["move"]["connections"].after == 12 / 14
    assert results["move"]["connections"].sentence.endswith("85.7% are in both.")
    assert (results["move"]["added"].after, results["move"]["removed"].after) == (1, 1)
    assert results["move"]["degrees"].after == 1
    assert all(m.before == m.after for m in results["relabel"].values())
    document = json.loads(made.assessment.to_json())
    assert Draft202012Validator(assessment_schema()).is_valid(document)
    assert Assessment.from_json(made.assessment.to_json()).protections == made.assessment.protections
    text = " ".join(made.assessment.to_text().split())
    assert f"Still usable as before, by {len(results['relabel'])} measures." in text
    page = made.assessment.to_html()
    assert "All 13 connections are as before." in page and "a coarse value" not in page


@pytest.mark.usefixtures("offers")
def test_what_has_changed_is_told_in_a_line() -> None:
    made = unveil.protect(RING_WITH_CHORD, ANY_K, method="move")
    text = " ".join(made.assessment.to_text().split())
    assert "Still usable: connections in both 85.7%; connections added 1; connections removed 1; numbers of" in text
    assert re.search(r"recognised \(about 50%: guessing\) [\d.]+%; density 19\.7%; ", text)
    assert "average distance 2.818 (was 2.742);" in text and "largest distance 6;" in text
    details = made.assessment.to_text(details=True)
    assert "Of the connections before or after protection, 85.7% are in both" in " ".join(details.split())
    assert "coarse value" not in details
