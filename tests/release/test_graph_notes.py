"""A graph holds neither weights nor attributes: whoever reads a file or an object that has some is told."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

import unveil

NODES, EDGES = "attributes of nodes are left out", "attributes of edges, such as weights, are left out"
VALUES, ENTRIES = "values after the second on a line, such as weights", "values of entries, such as weights"


def gml(node: str = "", edge: str = "") -> str:
    return f'graph [ node [ id 1 label "a" {node} ] node [ id 2 ] edge [ source 1 target 2 {edge} ] ]'


def graphml(node: str = "", edge: str = "") -> str:
    keys = '<key id="l" for="node" attr.name="label"/><key id="x" attr.name="x"/>'
    nodes = f'<node id="1"><data key="l">a</data>{node}</node><node id="2"/>'
    return f"<graphml>{keys}<graph>{nodes}<edge source='1' target='2'>{edge}</edge></graph></graphml>"


def matrix(kind: str, value: str) -> str:
    return f"%%MatrixMarket matrix coordinate {kind} symmetric\n2 2 1\n2 1 {value}\n"


@pytest.mark.parametrize(
    ("name", "text", "notes"),
    [
        ("g.gml", gml(), []),
        ("g.gml", gml(edge="id 7 key 0"), []),
        ("g.gml", gml(node="age 30"), [NODES]),
        ("g.gml", gml(node="graphics [ x 1 y 2 ]"), [NODES]),
        ("g.gml", gml(edge="weight 2.5"), [EDGES]),
        ("g.gml", gml(node="age 30", edge='label "friend"'), [NODES, EDGES]),
        ("g.graphml", graphml(), []),
        ("g.graphml", graphml(node='<data key="x">1</data>'), [NODES]),
        ("g.graphml", graphml(edge='<data key="x">1</data>'), [EDGES]),
        ("g.mtx", matrix("pattern", ""), []),
        ("g.mtx", matrix("real", "2.5"), [f"{ENTRIES}, are left out"]),
        ("g.edges", "a b\nb c\n", []),
        ("g.edges", "a b 1\nb c 3\n", [f"{VALUES}, are left out"]),
        ("g.edges", "a b {'weight': 3}\n", [f"{VALUES}, are left out"]),
        ("g.csv", "source,target,weight\na,b,3\n", ["the header line was skipped", f"{VALUES}, are left out"]),
        ("g.net", '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n', []),
        ("g.net", '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 2.5\n', ["weights of edges are left out"]),
    ],
)
def test_what_a_file_says_of_nodes_and_edges_is_left_out_and_told(
    tmp_path: Path, name: str, text: str, notes: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    graph = unveil.read(tmp_path / name)
    assert [note for note in graph.notes if "direction" not in note] == notes


def test_attributes_in_memory_are_left_out_and_told() -> None:
    assert unveil.read(nx.path_graph(3)).notes == ()
    assert unveil.read(nx.Graph([("a", "b", {"weight": 2})])).notes == (EDGES,)
    named = nx.path_graph(3)
    named.nodes[1]["age"] = 30
    assert unveil.read(named).notes == (NODES,)


def test_an_object_that_knows_no_attributes_is_read() -> None:
    class Plain:
        def nodes(self) -> list[int]:
            return [1, 2]

        def edges(self) -> list[tuple[int, int]]:
            return [(1, 2)]

        def is_directed(self) -> bool:
            return False

    assert unveil.Graph.from_networkx(Plain()).notes == ()
