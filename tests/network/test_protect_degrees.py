"""Networks in which numbers of connections are shared: what is released, what is said, and which method is tried."""

from __future__ import annotations

import csv
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference.naive_active import edge_set
from unveil import Graph, Policy, UnveilError
from unveil.network import published_offers
from unveil.network.protect import PROTECTIONS, protection_hints
from unveil.protect import ProtectedRelease
from unveil.wording import ends_text, percent_text

Unveil = Callable[..., subprocess.CompletedProcess[str]]

FRIENDS = nx.barabasi_albert_graph(60, 3, seed=2)


def goal(k: int, **more: object) -> Policy:
    return Policy(tolerance={"network.degree_k": k}, settings={"network": more})


def named(network: nx.Graph) -> Graph:
    return Graph.from_networkx(nx.relabel_nodes(network, {v: f"person {v}" for v in network}))


def changed_edges(before: Graph, made: ProtectedRelease) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The edges that were added and removed, by positions in the original."""
    assert made.case is not None and made.case.truth is not None
    was, place = edge_set(before), np.argsort(made.case.truth)
    assert isinstance(made.release, Graph)
    now = {(min(place[u], place[v]), max(place[u], place[v])) for u, v in edge_set(made.release)}
    was = {(min(pair), max(pair)) for pair in was}
    return now - was, was - now


def sentence(made: ProtectedRelease) -> str:
    (said,) = (p.sentence for p in made.assessment.protections if p.chosen)
    return said


@pytest.mark.parametrize("additions_only", [False, True])
def test_what_is_said_is_what_was_done(additions_only: bool) -> None:
    graph = named(FRIENDS)
    made = unveil.protect(graph, goal(6, additions_only=additions_only))
    assert isinstance(made.release, Graph)
    assert min(Counter(made.release.degrees.tolist()).values()) >= 6
    added, removed = changed_edges(graph, made)
    assert bool(removed) != additions_only
    said = sentence(made)
    verb = "is" if len(added) == 1 else "are"
    assert f"{len(added)} connections {verb} added and {len(removed)} of {graph.edges} removed; " in said
    assert "afterwards, at least 6 nodes share each number of connections." in said
    (least,) = re.findall(r"At least (\d+) connections? must be added(?: or removed)?, whatever", said)
    assert 0 < int(least) <= len(added) + len(removed)
    (kept,) = (p.usefulness for p in made.assessment.protections if p.chosen)
    assert kept == pytest.approx((graph.edges - len(removed)) / (graph.edges + len(added)))


def test_the_first_sentence_says_whom_it_does_not_protect_from() -> None:
    made = unveil.protect(named(nx.gnm_random_graph(50, 300, seed=4)), goal(5))
    passive = made.assessment["network.passive"]
    assert passive.value is not None and passive.value > 0.5
    assert sentence(made).startswith(
        "This protects only from people who know how many connections somebody has, and nothing else. Someone who "
        f"holds part of the original's connections, with names, finds {percent_text(passive.value)} of the nodes "
        f"({ends_text(*passive.interval)})."
    )
    assert "of the original's connections with names finds" in passive.sentence


def test_an_attack_that_was_not_made_is_told() -> None:
    for offer in PROTECTIONS.values():
        if not offer.is_harmless:
            text = offer.describe_remaining_risk(())
            assert text.endswith(" What someone with an overlapping network finds was not measured.")


def test_a_tolerance_of_another_attacker_decides_as_well() -> None:
    policy = Policy(tolerance={"network.degree_k": 4, "network.passive": 0.05})
    graph = named(nx.gnm_random_graph(80, 900, seed=4))
    made = unveil.protect(graph, policy, method="degrees")
    assert made.case is None and made.closest_method == "degrees"
    assert "network.passive" in made.blocking_findings
    assert any("if --method worlds was not tried, try it; else, publish measures" in said for said in made.advice)


@pytest.mark.parametrize(
    ("in_the_way", "additions_only", "said"),
    [
        (["network.degree_k"], False, []),
        (["network.degree_k", "network.degree_unique"], True, []),
        (["network.passive"], False, ["the rest of the structure; if --method worlds was not tried, try it; else, "]),
        (["network.passive"], True, ["the rest of the structure; leave out --additions-only for --method worlds, or "]),
        (["network.degree_found"], False, ["with each number of connections (a higher network.degree_k), or "]),
        (["network.degree_found", "network.active"], True, ["(a higher network.degree_k), or ", "--additions-only"]),
    ],
)
def test_hints_name_only_what_may_help(in_the_way: list[str], additions_only: bool, said: list[str]) -> None:
    policy = goal(3, additions_only=additions_only)
    hints = list(protection_hints(unveil.Case(named(FRIENDS)), policy, in_the_way, unveil.Run()))
    assert len(hints) == len(said)
    assert all(text in hint and "publish measures" in hint for text, hint in zip(said, hints, strict=True))


def test_only_drawing_anew_is_tried_against_attackers_who_hold_more_than_numbers() -> None:
    """It is the only method that withstands them, and costs more than a goal for numbers of connections needs."""
    graph = named(nx.gnm_random_graph(80, 900, seed=4))
    policy = Policy(tolerance={"network.degree_k": 4, "network.passive": 0.3})
    made = unveil.protect(graph, policy)
    assert [p.id for p in made.assessment.protections] == ["none", "degrees", "worlds"]
    assert [p.id for p in made.assessment.protections if p.chosen] == ["worlds"]
    assert made.assessment["network.passive"].interval[1] <= 0.3


def test_published_methods_are_tried_only_if_they_are_named() -> None:
    graph = named(FRIENDS)
    assert [p.id for p in unveil.protect(graph, goal(3)).assessment.protections] == ["none", "degrees"]
    for method in ("supergraph", "relaxed", "simultaneous"):
        made = unveil.protect(graph, goal(3), method=method)
        assert isinstance(made.release, Graph)
        assert min(Counter(made.release.degrees.tolist()).values()) >= 3
        _, removed = changed_edges(graph, made)
        assert f"{len(removed)} of {graph.edges} removed" in sentence(made)
        assert not removed or method != "supergraph"


def test_a_published_method_may_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A triangle and a node that would have to be connected twice, with nodes that must not get another connection."""
    monkeypatch.setattr(published_offers, "_MOST_PROBES", 0)
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], nodes=4)
    with pytest.raises(UnveilError, match="supergraph found no network in 0 attempts; try --method degrees"):
        unveil.protect(graph, goal(4), method="supergraph")
    assert unveil.protect(graph, goal(4), method="degrees").assessment["network.degree_k"].value == 4


def test_a_method_that_removes_connections_is_not_one_that_only_adds() -> None:
    for method in ("relaxed", "simultaneous"):
        with pytest.raises(UnveilError, match=f"{method} also removes connections; leave out --additions-only, or try"):
            unveil.protect(named(FRIENDS), goal(3, additions_only=True), method=method)


def test_more_nodes_than_there_are_cannot_share_anything() -> None:
    made = unveil.protect(named(nx.path_graph(4)), goal(5))
    assert made.case is None
    assert made.assessment.protections[1].sentence.startswith("Nothing of this kind that was tried meets")


@settings(deadline=None, max_examples=12)
@given(st.integers(2, 9), st.integers(0, 10_000), st.floats(0, 1))
def test_any_network_can_be_protected(nodes: int, seed: int, share: float) -> None:
    network = nx.gnp_random_graph(nodes, share, seed=seed)
    made = unveil.protect(named(network), goal(2), method="degrees")
    assert made.case is not None and made.assessment["network.degree_k"].value >= 2


def test_the_command_keeps_every_edge_if_asked_to(unveil: Unveil, tmp_path: Path) -> None:
    pairs = {frozenset((f"person-{u}", f"person-{v}")) for u, v in FRIENDS.edges}
    (tmp_path / "friends.edges").write_text("".join(" ".join(sorted(pair)) + "\n" for pair in pairs))
    done = unveil("protect", "friends.edges", "--goal", "network.degree_k=4", "--additions-only", "-o", "safe.edges")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "safe.mapping.csv", newline="", encoding="utf-8") as file:
        name = {row["pseudonym"]: row["node"] for row in csv.DictReader(file)}
    ends = (line.split() for line in (tmp_path / "safe.edges").read_text().splitlines()[1:])
    released = {frozenset((name[u], name[v])) for u, v in ends}
    assert released > pairs
    assert "protects only from people who know how many connections" in done.stdout.replace("\n", " ")
