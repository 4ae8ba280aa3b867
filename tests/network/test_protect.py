"""Protection of graphs: what is written, who can read it back, and what is said of what it does not do."""

from __future__ import annotations

import csv
import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import unveil
from unveil import Case, Graph, Policy, UnveilError
from unveil.network.protections.relabel import relabel_graph
from unveil.release.graph import edge_endpoints
from unveil.release.secret_csv import secret_csv
from unveil.release.secret_mapping import mapping_table, truth_from_mapping

Unveil = Callable[..., subprocess.CompletedProcess[str]]

RING = [(f"canary-{k}", f"canary-{(k + 1) % 12}") for k in range(12)]
STAR = [("hub", f"canary-{k}") for k in range(7)]
ANY_K = Policy(tolerance={"network.degree_k": 1})
WRITABLE_LABELS = st.text(st.sampled_from("abn1230=@'-äß"), min_size=1, max_size=4)


def graph_of(pairs: list[tuple[str, str]], directed: bool = False) -> Graph:
    return Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], directed=directed, name="friends.edges")


def named_edges(graph: Graph, names: dict[str, str] | None = None) -> set[tuple[str, ...]]:
    """The edges by their labels, renamed; the ends of undirected ones sorted."""
    labels = graph.labels.to_pylist()
    called = [labels[k] if names is None else names[labels[k]] for k in range(graph.nodes)]
    ends = zip(*(nodes.tolist() for nodes in edge_endpoints(graph)), strict=True)
    each = ((called[u], called[v]) for u, v in ends)
    return {pair if graph.directed else tuple(sorted(pair)) for pair in each}


def mapping_of(path: Path) -> dict[str, str]:
    with open(path, newline="", encoding="utf-8") as file:
        return {row["node"].removeprefix("'"): row["pseudonym"] for row in csv.DictReader(file)}


def save(pairs: list[tuple[str, str]], path: Path) -> Path:
    path.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    return path


# ---- in Python -------------------------------------------------------------------------------------------------------


def test_a_graph_within_tolerance_is_relabelled() -> None:
    graph = graph_of(RING)
    made = unveil.protect(graph)
    assert [p.id for p in made.assessment.protections] == ["none", "relabel"]
    assert made.assessment.verdict.decision == made.before.verdict.decision == "release"
    assert isinstance(made.release, Graph)
    mapping = made.mapping().to_pydict()
    assert mapping["node"] == graph.labels.to_pylist()
    assert len(set(mapping["release"])) == 1
    names = dict(zip(mapping["node"], mapping["pseudonym"], strict=True))
    assert named_edges(made.release) == named_edges(graph, names)


@pytest.mark.parametrize("directed", [False, True])
def test_no_finding_about_structure_changes(directed: bool) -> None:
    """Not even those of simulated attacks, which draw at random among the nodes: the sentence is a claim."""
    edges = nx.gnm_random_graph(25, 60, seed=3, directed=directed).edges
    made = unveil.protect(graph_of([(f"p{u}", f"p{v}") for u, v in edges], directed), ANY_K)
    said = [p.sentence for p in made.assessment.protections if p.chosen]
    assert said == ["Only names and order change, so findings about structure stay the same. Weights and attributes "
                    "are not released."]  # fmt: skip
    before, after = (
        {f.id: (f.value, f.interval, f.share, f.sentence, f.baseline, f.curves) for f in found.findings}
        for found in (made.before, made.assessment)
    )
    assert before == after
    assert {"network.active", "network.passive", "network.automorphism"} <= set(after)


def test_an_owner_is_told_that_names_are_not_enough() -> None:
    (caveat,) = unveil.protect(graph_of(RING)).caveats
    assert caveat.startswith("People can be found by structure even without names")


def test_nothing_is_tried_where_nothing_could_help() -> None:
    made = unveil.protect(graph_of(STAR, directed=True))
    assert made.case is None and made.closest_method is None
    assert made.blocking_findings == ("network.degree_k",)
    assert made.advice == (
        "network.degree_k is 1 and must be at least 5, and no protection changes that",
        "no protection changes a network with directions yet; remove the directions (for an edge list, leave out "
        "--directed), or publish measures of the network instead of its connections (unveil describe)",
    )
    with pytest.raises(UnveilError, match=r"still over: network\.degree_k"):
        made.mapping()


def test_relabel_by_name_says_that_it_does_not_suffice() -> None:
    made = unveil.protect(graph_of(STAR), method="relabel")
    assert made.case is None and made.closest_method == "relabel"
    assert made.advice[0] == "relabel comes closest: network.degree_k is then 1 and must be at least 5"


def test_what_is_protected_already_is_refused() -> None:
    made = unveil.protect(graph_of(RING))
    assert made.case is not None
    with pytest.raises(UnveilError, match="protect the original instead"):
        unveil.protect(made.case)


def test_a_graph_has_no_rows_to_keep_in_order() -> None:
    with pytest.raises(UnveilError, match="only the rows of a table can keep their order"):
        unveil.protect(graph_of(RING), keep_order=True)


def test_no_protection_of_another_kind_is_offered() -> None:
    with pytest.raises(UnveilError, match="no protection is called 'rename'; choose from relabel, degrees"):
        unveil.protect(graph_of(RING), method="rename")


# ---- round trips -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(WRITABLE_LABELS, WRITABLE_LABELS), min_size=1, max_size=12), st.booleans())
@pytest.mark.parametrize("ending", ["edges", "gml"])
def test_what_is_written_is_read_back_with_its_truth(
    tmp_path: Path, ending: str, pairs: list[tuple[str, str]], directed: bool
) -> None:
    if ending == "edges":
        linked = {label for u, v in pairs if u != v for label in (u, v)}
        assume({label for pair in pairs for label in pair} <= linked)  # an edge list cannot hold isolated nodes
    original = graph_of(pairs, directed)
    release, place = relabel_graph(original)
    unveil.write(release, tmp_path / f"safe.{ending}")
    (tmp_path / "m.csv").write_bytes(secret_csv(mapping_table(original, release, place)))
    back = unveil.read(tmp_path / f"safe.{ending}")
    assert isinstance(back, Graph)
    assert (back.directed, back.nodes, back.edges, back.notes) == (directed, original.nodes, original.edges, ())
    mapping = unveil.read(tmp_path / "m.csv", "table", header=True)
    assert isinstance(mapping, unveil.Table)
    truth = truth_from_mapping(mapping, original, back)
    assert sorted(truth.tolist()) == list(range(original.nodes))
    became = {label: back.labels[int(k)].as_py() for label, k in zip(original.labels.to_pylist(), truth, strict=True)}
    assert named_edges(back) == named_edges(original, became)


def test_a_mapping_of_another_graph_is_refused(tmp_path: Path) -> None:
    """Both have the same pseudonyms, so that only the mark tells them apart."""
    original = graph_of([*RING, ("canary-0", "canary-6")])
    (first, place), (second, _) = relabel_graph(original), relabel_graph(original)
    (tmp_path / "m.csv").write_bytes(secret_csv(mapping_table(original, first, place)))
    mapping = unveil.read(tmp_path / "m.csv", "table", header=True)
    assert isinstance(mapping, unveil.Table)
    with pytest.raises(UnveilError, match="belongs to another release"):
        truth_from_mapping(mapping, original, second)
    cut = unveil.read(made_by_hand(tmp_path, [*[f"canary-{k},{k + 1}" for k in range(11)], "nobody,12"]), "table")
    assert isinstance(cut, unveil.Table)
    with pytest.raises(UnveilError, match=r"row 12 names a node that is not in friends\.edges"):
        truth_from_mapping(cut, original, first)
    cut = unveil.read(made_by_hand(tmp_path, [f"canary-{k},{k + 1}" for k in range(11)]), "table")
    assert isinstance(cut, unveil.Table)
    with pytest.raises(UnveilError, match=r"does not name every node of friends\.edges"):
        truth_from_mapping(cut, original, first)


def made_by_hand(folder: Path, rows: list[str]) -> Path:
    path = folder / "hand.csv"
    path.write_text("\n".join(["node,pseudonym", *rows]) + "\n")
    return path


def test_a_mapping_of_items_is_not_one_of_nodes(tmp_path: Path) -> None:
    mapping = tmp_path / "m.csv"
    mapping.write_text("item,pseudonym\na,1\n")
    table = unveil.read(mapping, "table", header=True)
    assert isinstance(table, unveil.Table)
    with pytest.raises(UnveilError, match="needs the columns node and pseudonym"):
        truth_from_mapping(table, graph_of(RING), graph_of(RING))


# ---- command line ----------------------------------------------------------------------------------------------------


def test_the_command_writes_release_and_mapping(unveil: Unveil, tmp_path: Path) -> None:
    source = save(RING, tmp_path / "friends.edges")
    done = unveil("protect", source, "-o", "safe.edges", "--report", "safe.html", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "friends.edges", "safe.edges", "safe.html", "safe.mapping.csv",
    ]  # fmt: skip
    mapping = tmp_path / "safe.mapping.csv"
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600
    assert "safe.edges written; safe.mapping.csv maps nodes to their new names: keep it secret" in done.stderr
    assert "People can be found by structure even without names" in done.stderr
    for published in (done.stdout, *((tmp_path / name).read_text() for name in ("safe.edges", "safe.html"))):
        assert "canary" not in published
    assert "findings about structure stay the same" in (tmp_path / "safe.html").read_text()
    rows = [line.split() for line in (tmp_path / "safe.edges").read_text().splitlines()[1:]]
    names = mapping_of(mapping)
    assert {frozenset(row) for row in rows} == {frozenset((names[u], names[v])) for u, v in RING}


def test_the_result_is_assessed_with_original_and_mapping_as_it_was(unveil: Unveil, tmp_path: Path) -> None:
    source = save([*RING, ("canary-0", "canary-6")], tmp_path / "friends.edges")
    how = ("--directed", "--tolerance", "network.degree_k=1", "--format", "json", "--exit-zero")
    done = unveil("protect", source, "-o", "safe.edges", *how)
    held = ("--original", source, "--mapping", "safe.mapping.csv")
    again = unveil("assess", "safe.edges", *held, *how)
    assert again.returncode == 0, again.stderr
    first, second = (
        {f["id"]: (f["value"], f["sentence"]) for f in json.loads(text)["findings"]}
        for text in (done.stdout, again.stdout)
    )
    assert first == second
    alone = unveil("assess", "safe.edges", "--original", source, *how)
    assert alone.returncode == 2 and "no node has the label of a node of the release" in alone.stderr
    other = unveil("assess", "safe.edges", *held, *how[1:])
    assert other.returncode == 2 and "the release is directed and its original is not" in other.stderr


def test_a_mapping_is_never_overwritten(unveil: Unveil, tmp_path: Path) -> None:
    source = save(RING, tmp_path / "friends.edges")
    (tmp_path / "safe.mapping.csv").write_text("old")
    written = set[str]()
    for name in ("safe.mapping.2.csv", "safe.mapping.3.csv"):
        done = unveil("protect", source, "-o", "safe.edges", "--seed", "7")
        assert f"{name} maps nodes" in done.stderr
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        written.add((tmp_path / "safe.edges").read_text())
    assert (tmp_path / "safe.mapping.csv").read_text() == "old"
    assert len(written) == 2, "two runs differ whatever the seed"


def test_a_node_without_edges_needs_a_format_that_holds_it(unveil: Unveil, tmp_path: Path) -> None:
    source = save([*RING, *[(f"alone-{k}", f"alone-{k}") for k in range(5)]], tmp_path / "friends.edges")
    done = unveil("protect", source, "-o", "safe.edges")
    assert done.returncode == 2
    assert done.stderr == ("unveil: friends.edges: an edge list cannot hold nodes without edges; write .gml instead\n")
    assert [p.name for p in tmp_path.iterdir()] == ["friends.edges"]
    done = unveil("protect", source, "-o", "safe.gml")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "safe.gml").read_text().count("node [") == 17
    assert len(mapping_of(tmp_path / "safe.mapping.csv")) == 17


def test_weights_and_attributes_are_left_out_and_told(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "w.edges").write_text("".join(f"{u} {v} 77.5\n" for u, v in RING))
    done = unveil("protect", "w.edges", "-o", "safe.edges")
    assert "w.edges: values after the second on a line, such as weights, are left out" in done.stderr
    assert "77.5" not in (tmp_path / "safe.edges").read_text()
    assert "Weights and attributes are not released." in done.stdout.replace("\n", " ")


def test_out_of_reach_writes_nothing(unveil: Unveil, tmp_path: Path) -> None:
    source = save(STAR, tmp_path / "friends.edges")
    done = unveil("protect", source, "-o", "safe.edges", "--directed")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "unveil: no protection meets the tolerances; nothing was written",
        "unveil: network.degree_k is 1 and must be at least 5, and no protection changes that",
        "unveil: no protection changes a network with directions yet; remove the directions (for an edge list, leave "
        "out --directed), or publish measures of the network instead of its connections (unveil describe)",
    ]
    done = unveil("protect", source, "-o", "safe.edges", "--method", "relabel", "--report", "r.html")
    assert done.returncode == 1
    assert "none of the protections tried meets the tolerances" in done.stderr
    assert "r.html shows what was tried" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["friends.edges", "r.html"]


def test_other_formats_of_graphs_are_refused_by_name(unveil: Unveil, tmp_path: Path) -> None:
    source = save(RING, tmp_path / "friends.edges")
    done = unveil("protect", source, "-o", "safe.net")
    assert done.returncode == 2
    assert "a graph can be written as .edges and .gml; rename the file" in done.stderr


def test_an_original_of_another_kind_is_refused() -> None:
    baskets = unveil.Transactions.from_baskets([["a", "b"]])
    with pytest.raises(UnveilError, match="must be a graph"):
        unveil.assess(Case(graph_of(RING), holds={"original": baskets}))
    with pytest.raises(UnveilError, match="give both"):
        unveil.assess(Case(graph_of(RING), baskets, np.arange(12)))
