"""Every method that changes a network: what is released and said, and what becomes of networks that are hard to
change."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import unveil
from reference.naive_active import edge_set
from unveil import Graph, Policy, UnveilError
from unveil.network.protect import PROTECTIONS
from unveil.protect import ProtectedRelease
from unveil.release.graph import edge_endpoints
from unveil.wording import ends_text, percent_text

Unveil = Callable[..., subprocess.CompletedProcess[str]]

METHODS = tuple(name for name, offer in PROTECTIONS.items() if not offer.is_harmless)
AT_RANDOM = ("random", "switch", "worlds")
PROBING = ("supergraph", "relaxed", "simultaneous")
FRIENDS = nx.barabasi_albert_graph(40, 3, seed=2)

HARD = {
    "one node": nx.empty_graph(1),
    "two nodes": nx.empty_graph(2),
    "one edge": nx.path_graph(2),
    "three nodes": nx.path_graph(3),
    "empty": nx.empty_graph(12),
    "complete": nx.complete_graph(9),
    "star": nx.star_graph(11),
    "regular": nx.cycle_graph(12),
    "disconnected": nx.disjoint_union(nx.star_graph(4), nx.disjoint_union(nx.complete_graph(4), nx.empty_graph(4))),
    "more than there are": nx.path_graph(4),
}


def goal(k: int, **more: object) -> Policy:
    return Policy(tolerance={"network.degree_k": k}, settings={"network": more})


def named(network: nx.Graph) -> Graph:
    return Graph.from_networkx(nx.relabel_nodes(network, {v: f"person {v}" for v in network}))


def sentence(made: ProtectedRelease) -> str:
    (said,) = (p.sentence for p in made.assessment.protections if p.chosen)
    return said


def in_original_order(made: ProtectedRelease) -> set[tuple[int, int]]:
    """The edges of the release between nodes of the original, by positions in the original."""
    assert made.case is not None and made.case.truth is not None and isinstance(made.release, Graph)
    back = {int(now): was for was, now in enumerate(made.case.truth)}
    return {(back[u], back[v]) for u, v in edge_set(made.release) if u in back and v in back}


def half(edges: set[tuple[int, int]]) -> int:
    return len(edges) // 2


def numbers(text: str, pattern: str) -> tuple[int, ...]:
    (found,) = re.findall(pattern, text)
    return tuple(int(x.replace(",", "")) for x in (found if isinstance(found, tuple) else (found,)))


# ---- what is said is what was done -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [m for m in METHODS if m not in PROBING])
def test_what_is_said_is_what_was_done(method: str) -> None:
    graph = named(FRIENDS)
    made = unveil.protect(graph, goal(3, changed_edges=0.2), method=method)
    assert isinstance(made.release, Graph) and made.case is not None
    assert min(Counter(made.release.degrees.tolist()).values()) >= 3
    was, now, said = edge_set(graph), in_original_order(made), sentence(made)
    if method == "nodes":
        assert now == was
        new, edges = numbers(said, r"(\d+) nodes? (?:is|are) added, with (\d+) connections, and those between other")
        assert (new, edges) == (made.release.nodes - graph.nodes, made.release.edges - graph.edges)
        return
    added, removed = numbers(said, rf"(\d+) connections? (?:is|are) added and (\d+) of {graph.edges} removed")
    assert (added, removed) == (half(now - was), half(was - now))
    assert (method in ("neighbourhoods",)) <= (removed == 0)
    (kept,) = (p.usefulness for p in made.assessment.protections if p.chosen)
    assert kept == pytest.approx((graph.edges - removed) / (graph.edges + added))


def test_random_methods_change_the_share_that_is_asked_for() -> None:
    graph = named(FRIENDS)
    off = Policy(
        tolerance={"network.degree_k": 1, "network.degree_found": 1}, settings={"network": {"changed_edges": 0.3}}
    )
    made = unveil.protect(graph, off, method="random")
    assert f"{round(0.3 * graph.edges)} of {graph.edges} connections, drawn at random, are replaced by" in sentence(
        made
    )
    assert half(edge_set(graph) - in_original_order(made)) == round(0.3 * graph.edges)
    switched = unveil.protect(graph, off, method="switch")
    assert isinstance(switched.release, Graph)
    assert sorted(switched.release.degrees) == sorted(graph.degrees), "nothing made numbers of connections alike"
    assert " Then " not in sentence(switched)


def test_switching_changes_up_to_twice_the_share() -> None:
    graph = named(nx.gnm_random_graph(60, 300, seed=1))
    off = Policy(
        tolerance={"network.degree_k": 1, "network.degree_found": 1}, settings={"network": {"changed_edges": 0.1}}
    )
    made = unveil.protect(graph, off, method="switch")
    gone = half(edge_set(graph) - in_original_order(made))
    assert 30 < gone <= 60
    assert f"{gone} of 300 connections are replaced." in sentence(made)


def test_none_is_said_of_exact_numbers_only() -> None:
    offer, graph = PROTECTIONS["random"], named(nx.path_graph(6))
    found = {f.id: f for f in unveil.assess(graph).findings}
    exact = replace(found["network.degree_found"], value=0.0)
    sampled = replace(found["network.passive"], value=0.0, interval=(0.0, 0.4), method="simulation")
    said = offer.describe_remaining_risk([exact, sampled])
    assert "and nothing else, finds none of the nodes." in said
    assert "with names, finds 0% of the nodes (0% to 40%)." in said


def test_two_releases_of_random_methods_differ() -> None:
    graph = named(FRIENDS)
    for method in AT_RANDOM:
        one, other = (in_original_order(unveil.protect(graph, goal(2), method=method)) for _ in range(2))
        assert one != other, method


def test_a_world_keeps_the_number_of_edges_between_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil.network.protections import super_nodes

    drawn = []

    def draw(graph: Graph, groups: np.ndarray, rng: np.random.Generator) -> Graph:
        drawn.append(groups)
        return original(graph, groups, rng)

    original = super_nodes.draw_possible_world
    monkeypatch.setattr(super_nodes, "draw_possible_world", draw)
    graph = named(FRIENDS)
    policy = Policy(tolerance={"network.degree_k": 1, "network.degree_found": 1})
    made = unveil.protect(graph, policy, method="worlds")
    (groups,) = drawn
    assert f"Nodes are put into {groups.max() + 1} groups of 2 or more" in sentence(made)
    assert min(np.bincount(groups)) >= 2
    was, now = (
        Counter((groups[u], groups[v]) for u, v in edges) for edges in (edge_set(graph), in_original_order(made))
    )
    assert was == now


@pytest.mark.parametrize("method", METHODS)
def test_the_first_sentences_say_whom_it_does_not_protect_from(method: str) -> None:
    made = unveil.protect(named(FRIENDS), goal(2), method=method)
    said, found = sentence(made), made.assessment
    assert said.startswith(
        ("This protects only from people who ", "This makes it uncertain ", "This hides who is who ")
    )
    for risk_id, what in (
        ("network.passive", "of the original's connections, with names, finds "),
        ("network.active", "who created accounts in the original finds "),
    ):
        measured = found[risk_id]
        assert measured.value is not None and measured.interval is not None
        assert f"{what}{percent_text(measured.value)} of" in said
        assert f" ({ends_text(*measured.interval)})." in said


# ---- mapping and assessing again -------------------------------------------------------------------------------------


def test_nodes_that_were_added_are_nobodys(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "friends.edges").write_text("".join(f"p{u} p{v}\n" for u, v in FRIENDS.edges))
    how = ("--tolerance", "network.degree_k=3", "--format", "json", "--exit-zero")
    done = unveil("protect", "friends.edges", "-o", "safe.edges", "--method", "nodes", *how)
    assert done.returncode == 0, done.stderr
    again = unveil("assess", "safe.edges", "--original", "friends.edges", "--mapping", "safe.mapping.csv", *how)
    assert again.returncode == 0, again.stderr
    first, second = ({f["id"]: (f["value"], f["sentence"]) for f in json.loads(text)["findings"]}
                     for text in (done.stdout, again.stdout))  # fmt: skip
    assert first == second
    assert len((tmp_path / "safe.mapping.csv").read_text().splitlines()) == 1 + len(FRIENDS)
    released = {label for line in (tmp_path / "safe.edges").read_text().splitlines()[1:] for label in line.split()}
    assert len(released) > len(FRIENDS)


def protect_or_refuse(graph: Graph, policy: Policy, method: str) -> ProtectedRelease | str:
    """The safer release, or why there is none."""
    try:
        return unveil.protect(graph, policy, method=method)
    except UnveilError as error:
        return str(error)


# ---- hard networks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", HARD)
def test_hard_networks_end_in_a_result_or_in_one_line(name: str, method: str) -> None:
    k = 6 if name == "more than there are" else 3
    graph = Graph.from_edges(
        *(np.array([e[i] for e in HARD[name].edges], int) for i in range(2)), nodes=len(HARD[name])
    )
    made = protect_or_refuse(graph, goal(k), method)
    if isinstance(made, str):
        assert "\n" not in made and method in (*PROBING, "random", "switch"), made
        return
    if graph.nodes < k:
        assert made.case is None
        return
    assert made.case is not None, made.advice
    assert isinstance(made.release, Graph)
    assert min(Counter(made.release.degrees.tolist()).values()) >= k
    assert made.release.nodes == graph.nodes or method == "nodes"
    ends = np.stack(edge_endpoints(made.release))
    assert (ends[0] != ends[1]).all() and len(np.unique(ends, axis=1).T) == made.release.edges


@pytest.mark.parametrize("method", METHODS)
def test_networks_with_directions_are_refused_in_one_line(method: str, unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "friends.edges").write_text("a b\nb c\nc d\na d\n")
    done = unveil("protect", "friends.edges", "--directed", "-o", "safe.edges", "--method", method)
    assert done.returncode == 2
    assert done.stderr == f"unveil: no protection for such data is called '{method}'; choose from relabel\n"
    assert [p.name for p in tmp_path.iterdir()] == ["friends.edges"]


@pytest.mark.parametrize("method", [*AT_RANDOM, "relaxed"])
def test_what_removes_connections_is_refused_with_additions_only(method: str) -> None:
    with pytest.raises(UnveilError, match=f"{method} also removes connections; leave out --additions-only, or try"):
        unveil.protect(named(FRIENDS), goal(3, additions_only=True), method=method)


def test_drawing_anew_is_tried_by_default_where_it_may_help() -> None:
    offer, graph = PROTECTIONS["worlds"], unveil.Case(named(FRIENDS))
    for risk_id in ("network.passive", "network.active", "network.signature_found"):
        assert not offer.only_if_named(graph, Policy(tolerance={risk_id: 0.1}))
        only_added = Policy(tolerance={risk_id: 0.1}, settings={"network": {"additions_only": True}})
        assert offer.only_if_named(graph, only_added), "it would be refused"
    assert offer.only_if_named(graph, goal(5)), "fewer changes do"


def test_a_result_with_unconnected_nodes_does_not_blame_the_input(unveil: Unveil, tmp_path: Path) -> None:
    """The hub is connected with everybody, so that whatever all its edges are replaced by leaves it out."""
    (tmp_path / "star.edges").write_text("".join(f"hub p{v}\n" for v in range(8)))
    done = unveil("protect", "star.edges", "-o", "safe.edges", "--goal", "network.degree_k=1", "--method", "random",
                  "--changed-edges", "1")  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.endswith("safe.edges: an edge list cannot hold nodes without edges; write .gml instead\n")
    assert [p.name for p in tmp_path.iterdir()] == ["star.edges"]


# ---- what to do next -------------------------------------------------------------------------------------------------


def advised(assessment: unveil.Assessment) -> str:
    from unveil.report.next_steps import next_steps

    return " ".join(step.sentence + (step.command or "") for step in next_steps(assessment))


def test_protecting_is_not_advised_where_no_protection_suits() -> None:
    star = named(nx.star_graph(8))
    assert "Make a safer version" in advised(unveil.assess(star, goal(3)))
    directed = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], directed=True)
    too_few = unveil.assess(star, goal(30))
    made = unveil.protect(star, goal(2))
    assert made.case is not None
    protected = unveil.assess(made.case, goal(8))
    for found, why in (
        (
            unveil.assess(directed, goal(2)),
            "No protection changes a network with directions yet; remove the directions",
        ),
        (too_few, "30 nodes cannot share a number of connections where there are only 9; publish measures"),
        (protected, "This release is protected already; protect the original instead, with other goals."),
    ):
        assert found.verdict.decision == "protect first"
        assert why in advised(found) and "Make a safer version" not in advised(found)


def test_measures_name_nobody(unveil: Unveil, tmp_path: Path) -> None:
    """What the docs call publishing measures: numbers about the whole network, and no label."""
    (tmp_path / "friends.edges").write_text("".join(f"canary-{u} canary-{v}\n" for u, v in FRIENDS.edges))
    done = unveil("describe", "friends.edges", "--format", "json", "-o", "measures.json")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "measures.json").read_text()
    assert "canary" not in text
    measures = json.loads(text)
    assert (measures["nodes"], measures["edges"]) == (len(FRIENDS), FRIENDS.number_of_edges())
    assert measures["most connections of a node"] == max(d for _, d in FRIENDS.degree), "exact, and of one node"
    assert not any(isinstance(value, (list, dict)) and value for value in measures.values())


@pytest.mark.parametrize(("method", "graph"), [("random", nx.path_graph(4)), ("switch", nx.star_graph(9))])
def test_what_replaces_nothing_is_refused(method: str, graph: nx.Graph) -> None:
    """5% of three edges are none, and no two edges of a star can exchange ends: nothing would be uncertain."""
    release = Graph.from_networkx(graph)
    with pytest.raises(UnveilError, match=f"{method} could not replace any of"):
        unveil.protect(release, Policy(tolerance={"network.degree_k": 2}), method=method)


def test_nothing_changes_where_nobody_has_to_share_degrees() -> None:
    made = unveil.protect(
        Graph.from_networkx(nx.star_graph(9)), Policy(tolerance={"network.degree_k": 1}), method="degrees"
    )
    (said,) = (p.sentence for p in made.assessment.protections if p.id == "degrees")
    assert "No connection had to change, since nobody has to share a number of connections." in said
    assert made.case is not None and isinstance(made.case.release, Graph)
    assert made.case.release.edges == 9
