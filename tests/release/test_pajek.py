"""Pajek networks: read as what they are, or refused with the line and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

import unveil
from unveil import Graph
from unveil.errors import UnveilError


def read(folder: Path, text: str, name: str = "friends.net") -> Graph:
    (folder / name).write_text(text, encoding="utf-8")
    found = unveil.read(folder / name)
    assert isinstance(found, Graph)
    return found


def edges_of(graph: Graph) -> set[tuple[str, str]]:
    names = graph.labels.to_pylist()
    return {
        (names[v], names[int(u)])
        for v in range(graph.nodes)
        for u in graph.neighbours[graph.indptr[v] : graph.indptr[v + 1]]
    }


def test_vertices_were_read_as_edges(tmp_path: Path) -> None:
    """Without a reader for this format, ``1 "ann"`` was an edge from 1 to "ann"."""
    graph = read(tmp_path, '*Vertices 4\n1 "ann" 0.1 0.2\n2 "bob"\n3 cay\n*Edges\n1 2 1\n2 3 4.5\n')
    assert graph.labels.to_pylist() == ["ann", "bob", "cay", "4"]
    assert edges_of(graph) == {("ann", "bob"), ("bob", "ann"), ("bob", "cay"), ("cay", "bob")}
    assert not graph.directed
    assert graph.notes == ("weights of edges are left out",)


def test_arcs_have_directions(tmp_path: Path) -> None:
    graph = read(tmp_path, "% made by hand\n*network friends\n*vertices 3\n*arcs\n1 2 1\n3 1 1\n")
    assert graph.directed and edges_of(graph) == {("1", "2"), ("3", "1")} and graph.notes == ()


def test_lists_have_all_neighbours_on_a_line(tmp_path: Path) -> None:
    assert edges_of(read(tmp_path, "*Vertices 4\n*Arcslist\n1 2 3 4\n")) == {("1", "2"), ("1", "3"), ("1", "4")}
    assert read(tmp_path, "*Vertices 3\n*Edgeslist\n1 2 3\n").edges == 2


def test_the_content_tells_the_format(tmp_path: Path) -> None:
    assert read(tmp_path, "*Vertices 2\n*Edges\n1 2\n", "friends.txt").edges == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*Vertices 2\n*Edges\n1 2\n*Arcs\n2 1\n", "line 5: directed and undirected edges are mixed"),
        ("*Vertices 2\n*Edges\n1 3\n", "line 3: an edge names a node that is not in the file"),
        ("*Vertices 2\n*Edges\n1\n", "line 3: an edge needs the numbers of two nodes"),
        ("*Vertices 2\n7 seven\n", "line 2: a node must begin with its number, from 1 to 2"),
        ("*Vertices 2\n1 a\n1 b\n", "two nodes have the same id"),
        ("*Vertices\n", "line 1: .Vertices must be followed by the number of nodes alone"),
        ("*Vertices 5 2\n", "line 1: .Vertices must be followed by the number of nodes alone"),
        ("*Vertices 2\n*Matrix\n0 1\n", "line 2: this section is not supported"),
        ("*Vertices 2\n*Edges :1 friends\n1 2\n", "line 2: several relations in one file are not supported"),
        ("*Vertices 1\n*Vertices 1\n", "line 2: a second network begins here"),
        ("*Network x\n1 2\n", "line 2: nothing may precede"),
        ("*Vertices 2000000000\n", "line 1: there are far more nodes than lines"),
        ("*Vertices " + 30 * "9" + "\n", "line 1: .Vertices must be followed by the number of nodes alone"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnveilError, match=message):
        read(tmp_path, text)


def test_matlab_files_are_refused_with_a_remedy(tmp_path: Path) -> None:
    for name, content in (("a.mat", b"anything"), ("b.dat", b"MATLAB 5.0 MAT-file, Platform: GLNXA64")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnveilError, match="MATLAB files are not read; save the adjacency matrix with mmwrite"):
            unveil.read(tmp_path / name)


@pytest.mark.parametrize(
    ("comment", "asks"),
    [
        ("# Directed graph (each unordered pair of nodes is saved once)", True),
        ("% directed", True),
        ("# Undirected graph", False),
        ("# non-directed graph", False),
        ("# friends", False),
    ],
)
def test_a_comment_that_calls_the_graph_directed_was_ignored(tmp_path: Path, comment: str, asks: bool) -> None:
    graph = read(tmp_path, f"{comment}\n1 2\n2 1\n", "a.edges")
    assert not graph.directed
    assert any("a comment calls the graph directed" in note for note in graph.notes) == asks
    again = unveil.read(tmp_path / "a.edges", directed=True)
    assert isinstance(again, Graph) and again.directed and not any("comment" in note for note in again.notes)


def test_directions_survive_a_file_of_our_own(tmp_path: Path) -> None:
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], directed=True)
    unveil.write(graph, tmp_path / "a.edges")
    again = unveil.read(tmp_path / "a.edges")
    assert isinstance(again, Graph) and again.directed and edges_of(again) == edges_of(graph)
