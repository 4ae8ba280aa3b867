"""Releases that were made from an original: what was changed, and what attackers with accounts in it still find."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from command_runner import run_unveil
from reference.naive_active import edge_set
from unveil import Case, Graph, UnveilError
from unveil.network.active.planted_nodes import plant_nodes
from unveil.network.node_order import sort_nodes
from unveil.network.owner_changes import compare_with_original

PAIRS = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), min_size=1, max_size=20)


def graph(pairs: list[tuple[str, str]], directed: bool = False) -> Graph:
    return Graph.from_edges([a for a, _ in pairs], [b for _, b in pairs], directed=directed)


def named_edges(g: Graph) -> set[frozenset[str]]:
    names = g.labels.to_pylist()
    return {frozenset((names[a], names[b])) for a, b in edge_set(g)}


@settings(max_examples=200, deadline=None)
@given(PAIRS, PAIRS, st.booleans())
def test_changes_are_counted(before: list[tuple[str, str]], after: list[tuple[str, str]], directed: bool) -> None:
    original, release = graph(before, directed), graph(after, directed)
    old, new = named_edges(original), named_edges(release)
    here, there = (set(g.labels.to_pylist()) for g in (original, release))
    if not here & there:
        with pytest.raises(UnveilError, match="no node has the label"):
            compare_with_original(release, original)
        return
    found = compare_with_original(release, original)
    assert (found.lost, found.added) == (len(old - new), len(new - old))
    assert {n for n, is_there in zip(sorted(here), found.present, strict=True) if is_there} == here & there
    possible = {e for e in old if e <= there}
    assert found.lost_share == pytest.approx(len(possible - new) / len(possible) if possible else 0)
    unlinked = len(there) * (len(there) - 1) // 2 - len(possible)
    assert found.added_share == pytest.approx(len(new - old) / unlinked if unlinked else 0)
    names = [*sorted(here), *sorted(there - here)]
    published = found.publish(found.original, np.random.default_rng(0))
    assert {frozenset((names[a], names[b])) for a, b in edge_set(published)} == new


def test_accounts_keep_what_nobody_changed() -> None:
    """Only people were removed: accounts keep all their connections with the others."""
    original = graph([(a, b) for a in "abcdef" for b in "abcdef" if a < b])
    release = graph([(a, b) for a in "abcde" for b in "abcde" if a < b])
    changes = compare_with_original(release, original)
    attacked = plant_nodes(changes.original, 3, np.random.default_rng(1))
    published = changes.publish(attacked.graph, np.random.default_rng(2))
    before, after = edge_set(attacked.graph), edge_set(published)
    assert after == {(a, b) for a, b in before if 5 not in (a, b)}  # f is the last of six


def test_connections_of_accounts_change_as_often_as_others() -> None:
    """8 accounts in each of 200 networks: shares of some 28,000 connections and 74,000 pairs, within eight and three
    standard errors (probability of failure below .002; seed fixed)."""
    original = sort_nodes(Graph.from_networkx(nx.gnm_random_graph(60, 400, seed=1)))
    rng = np.random.default_rng(0)
    sources, targets = np.array(sorted(edge for edge in edge_set(original) if edge[0] < edge[1])).T
    kept = rng.random(len(sources)) < 0.8
    ends = np.append(sources[kept], np.arange(60)), np.append(targets[kept], (np.arange(60) + 7) % 60)
    release = Graph.from_edges(*ends, labels=original.labels.to_pylist())
    changes = compare_with_original(release, original)
    lost = had = new = free = 0
    for _ in range(200):
        grown = plant_nodes(original, 8, rng).graph
        before, after = ({e for e in edge_set(g) if max(e) >= 60} for g in (grown, changes.publish(grown, rng)))
        lost, had, new = lost + len(before - after), had + len(before), new + len(after - before)
        free += 68 * 67 - 60 * 59 - len(before)
    assert lost / had == pytest.approx(changes.lost_share, abs=0.02)
    assert new / free == pytest.approx(changes.added_share, rel=0.06)


def test_new_nodes_and_positions() -> None:
    original, release = graph([("a", "b"), ("b", "c")]), graph([("a", "x"), ("b", "c"), ("x", "y")])
    changes = compare_with_original(release, original)
    grown = plant_nodes(changes.original, 2, np.random.default_rng(0)).graph
    published = changes.publish(grown, np.random.default_rng(0))
    assert published.nodes == 7
    assert {e for e in edge_set(published) if e[0] < e[1] and not {3, 4} & set(e)} == {(0, 5), (1, 2), (5, 6)}


def test_the_truth_says_who_is_who() -> None:
    original = graph([("a", "b"), ("b", "c"), ("c", "d")])
    release = graph([("1", "2"), ("2", "3")])
    changes = compare_with_original(release, original, np.array([2, 1, 0, -1]))
    assert (changes.lost, changes.added) == (1, 0)
    assert changes.present.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        ([0, 1], "for each node of the original"),
        ([0, 1, 9, 2], "for each node of the original"),
        ([0, 1, 1, 2], "several nodes became one"),
        ([-1, -1, -1, -1], "no node has the label"),
    ],
)
def test_a_truth_that_cannot_be_is_refused(truth: list[int], says: str) -> None:
    original, release = graph([("a", "b"), ("b", "c"), ("c", "d")]), graph([("1", "2"), ("2", "3")])
    with pytest.raises(UnveilError, match=says):
        compare_with_original(release, original, np.array(truth))


FRIENDS = nx.barabasi_albert_graph(120, 5, seed=4)


def changed(share: float) -> Graph:
    """Friends, with some connections moved; nodes in another order."""
    rng = np.random.default_rng(1)
    edges = [e for e in FRIENDS.edges if rng.random() >= share]
    edges += [tuple(e) for e in rng.integers(0, 120, (round(share * FRIENDS.number_of_edges()), 2)).tolist()]
    order = rng.permutation(len(edges))
    return graph([(str(edges[k][0]), str(edges[k][1])) for k in order if edges[k][0] != edges[k][1]])


def test_an_exact_search_fails_where_a_tolerant_one_succeeds() -> None:
    release = changed(0.02)
    found = unveil.assess(Case(release, Graph.from_networkx(FRIENDS)), only=["network.active"])["network.active"]
    old, new = named_edges(Graph.from_networkx(FRIENDS)), named_edges(release)
    assert found.value is not None and found.value > 0.6
    assert f"The release lacks {len(old - new)} of {len(old)} connections of the original" in found.sentence
    assert f"and has {len(new - old)} others" in found.sentence
    assert "what the owner would have done to them is not known" in found.sentence
    exact = found.sentence.partition("places that fit exactly finds ")[2].partition("%")[0]
    assert float(exact) / 100 < found.value / 2
    drawn = found.curves[0]
    assert isinstance(drawn, unveil.finding.Curve)
    assert set(drawn.series or ()) == {"allowing for changes", "exact places only"}


def test_an_unchanged_release_is_attacked_as_well_as_without_its_original() -> None:
    friends = Graph.from_networkx(FRIENDS)
    found, alone = (
        unveil.assess(case, only=["network.active"])["network.active"] for case in (Case(friends, friends), friends)
    )
    assert found.value == alone.value == 1
    assert found.sentence == alone.sentence, "there are no changes to speak of"


def test_the_order_of_a_file_changes_nothing() -> None:
    release, friends = changed(0.02), Graph.from_networkx(FRIENDS)
    pairs = [tuple(sorted(e)) for e in named_edges(release)]
    again = graph([(a, b) for a, b in sorted(pairs, reverse=True)])
    one, other = (unveil.assess(Case(g, friends), only=["network.active"])["network.active"] for g in (release, again))
    assert one.sentence == other.sentence


def test_renamed_nodes_were_taken_for_changes() -> None:
    """Numbers that are labels of both, but of other people."""
    friends = Graph.from_networkx(FRIENDS)
    moved = nx.relabel_nodes(FRIENDS, dict(enumerate(np.random.default_rng(0).permutation(120).tolist())))
    found = unveil.assess(Case(Graph.from_networkx(moved), friends), only=["network.active"])
    (doubt,) = (d for d in found.doubts if "of the original's connections are in the release" in d)
    common = len(named_edges(friends) & named_edges(Graph.from_networkx(moved)))
    assert doubt.startswith(f"Only {unveil.wording.percent_text(common / 575)} of")
    same = unveil.assess(Case(friends, friends), only=["network.active"])
    assert not [d for d in same.doubts if "original" in d]


def test_the_command_line_reads_the_original(tmp_path: Path) -> None:
    nx.write_edgelist(FRIENDS, tmp_path / "friends.edges", data=False)
    shorter = FRIENDS.copy()
    shorter.remove_edge(*next(iter(FRIENDS.edges)))
    nx.write_edgelist(shorter, tmp_path / "safe.edges", data=False)
    said = run_unveil(
        ("assess", "safe.edges", "--original", "friends.edges", "--only", "network.active", "--format", "json"),
        tmp_path, os.environ,
    )  # fmt: skip
    assert "lacks 1 of 575 connections of the original" in said.stdout
