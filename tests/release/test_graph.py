"""Graphs: what is read is what networkx, scipy and a slow reader read, and what is written reads back."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from reference.naive_text import naive_adjacency, naive_edges, naive_lines
from unveil.errors import UnveilError
from unveil.release.edge_list import read_edges, write_edges
from unveil.release.gml import read_gml, write_gml
from unveil.release.graph import Graph
from unveil.release.graphml import read_graphml
from unveil.release.matrix_market import read_matrix_market

quick = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
readers = pytest.mark.parametrize("reader", [read_edges, read_gml, read_graphml, read_matrix_market])

pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)
labels = st.text(st.characters(codec="utf-8"), max_size=4)
xml_labels = st.text(st.sampled_from("aé<&\"' ]"), min_size=1, max_size=4)


@st.composite
def graphs(draw: st.DrawFn, names: st.SearchStrategy[str] = labels) -> nx.Graph:
    """A networkx graph, simple or not, with nodes that may have no edge."""
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))()
    nodes = draw(st.lists(names, min_size=1, max_size=7, unique=True))
    graph.add_nodes_from(nodes)
    ends = st.sampled_from(nodes)
    graph.add_edges_from(draw(st.lists(st.tuples(ends, ends), max_size=12)))
    return graph


def edges_of(graph: Graph) -> set[tuple[str, str]]:
    names = graph.labels.to_pylist()
    sources = np.repeat(np.arange(graph.nodes), graph.degrees)
    found = {(names[u], names[v]) for u, v in zip(sources, graph.neighbours, strict=True)}
    assert len(found) == len(graph.neighbours), "an edge is stored twice"
    if graph.directed:
        return found
    assert found == {(v, u) for u, v in found}, "an undirected edge lacks its other half"
    return {(u, v) for u, v in found if u < v}


def check(graph: Graph, expected: nx.Graph) -> None:
    """The same nodes in the same order, and the same edges but for loops and duplicates."""
    names = [str(node) for node in expected.nodes()]
    plain = naive_adjacency([(str(u), str(v)) for u, v in expected.edges()], expected.is_directed())
    assert graph.labels.to_pylist() == names
    assert graph.directed == expected.is_directed()
    assert edges_of(graph) == plain.edges
    assert graph.edges == len(plain.edges)
    assert (f"{plain.loops} loop" in " ".join(graph.notes)) == (plain.loops > 0)
    assert (f"{plain.duplicates} duplicate edge" in " ".join(graph.notes)) == (plain.duplicates > 0)
    for v in range(graph.nodes):
        row = graph.neighbours[graph.indptr[v] : graph.indptr[v + 1]]
        assert (np.diff(row) > 0).all()


def saved(folder: Path, data: bytes | str, name: str = "net.txt") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def refusal(reader: Callable[[Path], Graph], path: Path) -> str:
    with pytest.raises(UnveilError) as caught:
        reader(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert "secret" not in message
    return message


# ---- from memory


def test_by_hand() -> None:
    g = Graph.from_edges([0, 1, 1, 2, 1], [1, 0, 2, 2, 2], nodes=4, name="square")
    assert repr(g).splitlines() == [
        "Graph square",
        "  undirected, 4 nodes, 2 edges",
        "  1 loop dropped",
        "  2 duplicate edges dropped",
    ]
    assert (g.nodes, g.edges, g.kind) == (4, 2, "graph")
    assert g.indptr.tolist() == [0, 1, 3, 4, 4]
    assert g.neighbours.tolist() == [1, 0, 2, 1]
    assert g.degrees.tolist() == g.in_degrees.tolist() == [1, 2, 1, 0]
    d = Graph.from_edges([0, 1, 0], [1, 0, 2], labels=["a", "b", "c"], directed=True)
    assert d.edges == 3
    assert d.degrees.tolist() == [2, 1, 0]
    assert d.in_degrees.tolist() == [1, 1, 1]
    assert d.digest != Graph.from_edges([0, 1, 0], [1, 0, 2], labels=["a", "b", "d"], directed=True).digest
    with pytest.raises(ValueError, match="read-only"):
        d.neighbours[0] = 1


@quick
@given(pairs, st.booleans())
def test_adjacency_equals_reference(ends: list[tuple[int, int]], directed: bool) -> None:
    g = Graph.from_edges([u for u, _ in ends], [v for _, v in ends], nodes=7, directed=directed)
    expected = nx.MultiDiGraph() if directed else nx.MultiGraph()
    expected.add_nodes_from(range(7))
    expected.add_edges_from(ends)
    check(g, expected)


@quick
@given(graphs())
def test_from_networkx(expected: nx.Graph) -> None:
    check(Graph.from_networkx(expected), expected)


def test_from_networkx_with_labels_that_look_alike() -> None:
    g = Graph.from_networkx(nx.Graph([(1, "1"), ("1", 2)]))
    assert g.labels.to_pylist() == ["0", "1", "2"]
    assert g.notes == ("labels repeat, so ids are used instead",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph.from_edges([], []), "no nodes"),
        (lambda: Graph.from_edges([0], [1, 2], nodes=3), "1 source but 2 targets"),
        (lambda: Graph.from_edges([0], [3], nodes=3), "outside 0 … 2"),
        (lambda: Graph.from_edges([-1], [0], nodes=3), "outside"),
        (lambda: Graph.from_edges([0.5], [0], nodes=3), "whole numbers"),
        (lambda: Graph.from_edges([0], [1], labels=["a", "a"]), "same label"),
        (lambda: Graph.from_edges([0], [1], labels=["a", "b"], nodes=3), "2 labels for 3 nodes"),
        (lambda: Graph.from_edges(["\ud800"], ["a"]), "not valid Unicode"),
        (lambda: Graph.from_networkx(nx.Graph()), "no nodes"),
        (lambda: Graph.from_networkx([1, 2]), "networkx"),
    ],
)
def test_memory_refusals(make: Callable[[], Graph], message: str) -> None:
    with pytest.raises(UnveilError, match=message):
        make()


# ---- edge lists


@quick
@given(st.lists(st.text(st.sampled_from("ab1 \t#%"), max_size=8), max_size=6), st.sampled_from(["\n", "\r\n", "\r"]))
@pytest.mark.parametrize("directed", [False, True])
def test_blank_separated_equals_reference(tmp_path: Path, directed: bool, lines: list[str], end: str) -> None:
    text = end.join(lines)
    rows = [line.replace("\t", " ").split() for line in naive_lines(text)]
    rows = [row for row in rows if row and row[0][0] not in "#%"]
    path = saved(tmp_path, "9 9" + end + text)
    if any(len(row) < 2 for row in rows):
        assert "lacks one of the two nodes" in refusal(read_edges, path)
        return
    g = read_edges(path, directed=directed)
    expected = naive_edges("9 9" + end + text, directed)
    assert g.labels.to_pylist() == expected.labels
    assert edges_of(g) == expected.edges
    assert ("values after the second on a line, such as weights, are left out" in g.notes) == any(
        len(row) > 2 for row in rows
    )
    assert (f"{expected.loops} loop" in " ".join(g.notes)) == (expected.loops > 0)
    assert (f"{expected.duplicates} duplicate" in " ".join(g.notes)) == (expected.duplicates > 0)


@quick
@given(
    st.lists(st.tuples(*[st.text(st.sampled_from('xyé" ,;\t'), min_size=1, max_size=3)] * 2), min_size=1, max_size=6)
)
@example([('"', "a")])
@pytest.mark.parametrize("delimiter", ",;\t")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quoted_values(tmp_path: Path, delimiter: str, end: str, rows: list[tuple[str, str]]) -> None:
    quoted = [[f' "{value.replace(chr(34), chr(34) * 2)}" ' for value in row] for row in [("from", "to"), *rows]]
    g = read_edges(saved(tmp_path, end.join(delimiter.join(row) for row in quoted)), directed=True)
    expected = naive_adjacency(rows, directed=True)
    assert g.labels.to_pylist() == expected.labels
    assert edges_of(g) == expected.edges
    assert g.notes[0] == "the header line was skipped"


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("sender,receiver,messages\n1,2,9\n", {("1", "2")}),
        ("Source;Target\nb;a\n", {("a", "b")}),
        ("# made by x\n\n u , v \na,b", {("a", "b")}),
        ('"FROM"\t"TO"\nJohn Smith\tX', {("John Smith", "X")}),
        ("node1 node2\na b\n", {("a", "b")}),
        ("u v\nv w\n", {("u", "v"), ("v", "w")}),
        ("a,b\nu,v\n", {("a", "b"), ("u", "v")}),
        ("1\t2\n3 4\n5 6\t1", {("1", "2"), ("3", "4"), ("5", "6")}),
        ("a b {'w': 1, 'c': 2}\nb c {}\n", {("a", "b"), ("b", "c")}),
        ("% c\n# d\na b\n  # e\n", {("a", "b")}),
        ("01 1\n", {("01", "1")}),
        ("a , b c \t\n d, e", {("a", "b c"), ("d", "e")}),
        ("\ufeffa b\n", {("a", "b")}),
    ],
)
def test_edge_list_dialects(tmp_path: Path, text: str, edges: set[tuple[str, str]]) -> None:
    assert edges_of(read_edges(saved(tmp_path, text))) == edges


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\r\n\r\nsecret\r\n", "line 3 lacks one of the two nodes"),
        ("a,b\nsecret\nc,d\n", "line 2 lacks one of the two nodes"),
        ("a,b\rsecret,\r", "line 2 lacks one of the two nodes"),
        ("a,b\n,secret", "line 2 lacks one of the two nodes"),
        ('a,b\n"","secret"', "line 2 lacks one of the two nodes"),
        ('a,b\n"secret,c\nd,e', "line 2 has a quote that is not closed"),
        ('a,b\n# "\n"secret"x,c\n', "line 3 has text after a closing quote"),
        ('"secret one" "b"\n', "quoted values with blanks"),
        ("# only\n\n% comments", "no nodes"),
        ("source,target\n", "no nodes"),
    ],
)
def test_edge_list_refusals(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(read_edges, saved(tmp_path, text))


def test_compressed(tmp_path: Path) -> None:
    path = saved(tmp_path, gzip.compress(b"a b\n"), "net.edges.gz")
    g = read_edges(path)
    assert (g.nodes, g.name, g.digest) == (2, "net.edges.gz", hashlib.sha256(path.read_bytes()).hexdigest())


# ---- GML


@quick
@given(graphs())
def test_gml_equals_networkx(tmp_path: Path, expected: nx.Graph) -> None:
    lines = list(nx.generate_gml(expected))
    check(read_gml(saved(tmp_path, "\n".join(lines))), expected)


@quick
@given(graphs())
def test_gml_round_trip(tmp_path: Path, expected: nx.Graph) -> None:
    g = Graph.from_networkx(expected)
    file = io.BytesIO()
    write_gml(g, file)
    back = read_gml(saved(tmp_path, file.getvalue()))
    assert back.labels.equals(g.labels)
    assert np.array_equal(back.indptr, g.indptr)
    assert np.array_equal(back.neighbours, g.neighbours)
    assert back.directed == g.directed
    assert back.notes == ()
    theirs = nx.parse_gml(file.getvalue().decode())
    assert list(theirs.nodes()) == g.labels.to_pylist()
    assert theirs.number_of_edges() == g.edges


def test_gml_by_hand(tmp_path: Path) -> None:
    text = """Creator "x [ # y"  # remark
graph
[ # remark ]
  comment "two
lines" directed 1
  edge [ source 7 target "8" graphics [ source 9 Line [ point [ x 1 ] ] ] ]
  node [ id 7 label "A &amp; &quot;B&quot; &#228; &#xE4; &nothing; &#55296;" color #f00 graphics [ id 3 label "no" ] ]
# node [ id 9 ]
  node [ id 8 value -1.5E+3 ]
]
"""
    g = read_gml(saved(tmp_path, text.replace("\n", "\r\n")))
    assert g.labels.to_pylist() == ['A & "B" ä ä &nothing; &#55296;', "8"]
    assert g.directed
    assert g.degrees.tolist() == [1, 0]


def test_gml_labels_that_repeat(tmp_path: Path) -> None:
    g = read_gml(
        saved(tmp_path, 'graph [ node [ id 1 label "x" ] node [ id 2 label "x" ] edge [ source 1 target 2 ] ]')
    )
    assert g.labels.to_pylist() == ["1", "2"]
    assert g.notes == ("labels repeat, so ids are used instead",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph [\n node [ id 1 ]\n node [ id 1 ]\n]", "line 3: two nodes have the same id"),
        ("graph [\r node [ label secret ]\r]", "line 2: a node has no id"),
        ("graph [\n edge [ source 1 target secret ]\n node [ id 1 ]\n]", "line 2: an edge names a node"),
        ("graph [ node [ id 1 ]\n edge [ source 1 ]\n]", "line 2: an edge lacks its source or target"),
        ("graph [\n node [ id 1 ]\n", "line 3: the file ends inside a list"),
        ("graph [ node [ id 1 ] ]\n]", "line 2: ] closes no list"),
        ('graph [\n\n label "secret ]', "line 3: a key has no value, or a quote is not closed"),
        ('graph [\n "secret" ]', "line 2: expected a key"),
        ("graph [\n key ]", "line 2: a key has no value"),
        ("graph [\n directed secret ]", "line 2: directed is neither 0 nor 1"),
        ("graph [ node [ id 1 ] ]\ngraph [ ]", "line 2: a second graph"),
        ("graph [ ]", "no nodes"),
        ("secret 1", "no nodes"),
    ],
)
def test_gml_refusals(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(read_gml, saved(tmp_path, text))


# ---- GraphML


@quick
@given(graphs(xml_labels))
def test_graphml_equals_networkx(tmp_path: Path, expected: nx.Graph) -> None:
    file = io.BytesIO()
    nx.write_graphml_xml(expected, file)
    path = saved(tmp_path, file.getvalue())
    check(read_graphml(path), nx.read_graphml(path, force_multigraph=True))


NODES = '<node id="1"><data key="d">A</data></node><node id="2"><data key="d">B&amp;C<x:y>no</x:y></data></node>'


def graphml(body: str, attributes: str = 'edgedefault="directed"') -> str:
    return (
        '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:x="urn:x">\n'
        '<key id="d" for="node" attr.name="Label"/><key id="e" for="edge" attr.name="label"/>\n'
        f"<graph {attributes}>\n{body}\n</graph></graphml>"
    )


def test_graphml_by_hand(tmp_path: Path) -> None:
    body = f'<x:node id="9"/><edge source="1" target="2"><data key="e">no</data></edge>{NODES}'
    g = read_graphml(saved(tmp_path, graphml(body)))
    assert g.labels.to_pylist() == ["A", "B&Cno"]
    assert g.directed
    assert g.degrees.tolist() == [1, 0]
    plain = '<graphml><graph><node id="a"/><node id="b"/><edge source="b" target="a"/></graph></graphml>'
    assert edges_of(read_graphml(saved(tmp_path, plain))) == {("a", "b")}
    for encoding in ("utf-16", "iso-8859-1"):
        text = f'<?xml version="1.0" encoding="{encoding}"?><graphml><graph><node id="ä"/></graph></graphml>'
        assert read_graphml(saved(tmp_path, text.encode(encoding))).labels.to_pylist() == ["ä"]
    repeated = graphml(NODES.replace("A", "B&amp;Cno"))
    assert read_graphml(saved(tmp_path, repeated)).labels.to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '<!DOCTYPE x [<!ENTITY a "secret">]><graphml/>',
            "line 1: a document type or entity declaration is not allowed",
        ),
        ("<!DOCTYPE graphml SYSTEM 'secret'>\n<graphml/>", "document type"),
        ("<svg/>", "line 1: the first element is not graphml"),
        ("<graphml><graph></graphml>", "line 1, column"),
        ("", "not well-formed XML"),
        ("secret", "not well-formed XML"),
        ("<?xml version='1.0' encoding='secret'?><graphml/>", "XML"),
        ("<?xml version='1.0' encoding='utf-7'?><graphml/>", "encoding"),
        ("<graphml/>", "no nodes"),
        (graphml("<node/>"), "line 5: a node has no id"),
        (graphml('<node id="secret"/>\n<node id="secret"/>'), "line 6: two nodes have the same id"),
        (graphml('<node id="1"/><edge source="1" target="secret"/>'), "line 5: an edge names a node"),
        (graphml('<node id="1"/><edge source="1"/>'), "line 5: an edge lacks"),
        (graphml('<node id="1"/>\n<edge source="1" target="1" directed="false"/>'), "line 6: directed and undirected"),
        (graphml('<node id="1"><graph/></node>'), "line 5: a second or nested graph"),
        (graphml('<node id="1"/><hyperedge/>'), "line 5: hyperedges"),
    ],
)
def test_graphml_refusals(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(read_graphml, saved(tmp_path, text))


# ---- Matrix Market


@quick
@given(
    st.integers(1, 6),
    st.data(),
    st.sampled_from(["pattern", "real", "integer", "complex"]),
    st.sampled_from(["general", "symmetric", "skew-symmetric", "hermitian"]),
)
def test_matrix_market_equals_scipy(tmp_path: Path, size: int, data: st.DataObject, field: str, symmetry: str) -> None:
    assume(symmetry != "hermitian" or field == "complex")
    assume(symmetry != "skew-symmetric" or field != "pattern")
    places = st.tuples(st.integers(1, size), st.integers(1, size))
    cells = data.draw(st.lists(places, unique=True, max_size=10))
    if symmetry != "general":
        cells = sorted({(max(cell), min(cell)) for cell in cells})
    if symmetry == "skew-symmetric":
        cells = [cell for cell in cells if cell[0] != cell[1]]
    value = {"pattern": "", "real": " 1.5e0", "integer": " 2", "complex": " 1 0"}[field]
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", "% c", f"{size} {size} {len(cells)}"]
    path = saved(tmp_path, "\n".join([*lines, *(f"{i} {j}{value}" for i, j in cells), ""]), "net.mtx")
    g = read_matrix_market(path)
    oracle = scipy.sparse.coo_array(scipy.io.mmread(path))
    ends = [(str(i + 1), str(j + 1)) for i, j in zip(*oracle.coords, strict=True)]
    assert g.directed == (symmetry == "general")
    assert g.labels.to_pylist() == [str(k + 1) for k in range(size)]
    assert edges_of(g) == naive_adjacency(ends, g.directed).edges


BANNER = "%%MatrixMarket matrix coordinate pattern general\n"


def test_matrix_market_by_hand(tmp_path: Path) -> None:
    text = BANNER.upper() + "%\n\n 4 4 3 \n1 2\n% c\n\n2 1\n3\t3"
    g = read_matrix_market(saved(tmp_path, text.replace("\n", "\r\n")))
    assert (g.nodes, g.edges, g.notes) == (4, 2, ("1 loop dropped",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 is not the first line of a Matrix Market matrix"),
        ("1 1 1\n1 1\n", "line 1 is not the first line of a Matrix Market matrix"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "coordinate"),
        ("%%MatrixMarket matrix coordinate secret general\n1 1 0\n", "unknown kind"),
        ("%%MatrixMarket matrix coordinate real secret\n1 1 0\n", "unknown kind"),
        (BANNER, "size line"),
        (BANNER + "3 3\n", "size line"),
        (BANNER + "3 secret 1\n", "size line"),
        (BANNER + "3 4 0\n", "not square"),
        (BANNER + "0 0 0\n", "no nodes"),
        (BANNER + "999999999999 999999999999 0\n", "999,999,999,999 nodes, more than"),
        (BANNER + "3 3 2\n1 2\n", "1 entry, but the size line says 2"),
        (BANNER + "3 3 2\n1 2\n%\n1 4\n", "line 5 has an index that is not a whole number from 1 to 3"),
        (BANNER + "3 3 1\n0 1\n", "line 3 has an index"),
        (BANNER + "3 3 1\nsecret 1\n", "line 3 has an index"),
        (BANNER + "3 3 1\n1 18446744073709551617\n", "line 3 has an index"),
        (BANNER + "3 3 2\n1 2\n1\n", "line 4 must have 2 values"),
        (BANNER.replace("pattern", "real") + "3 3 1\n1 2\n", "line 3 must have 3 values"),
    ],
)
def test_matrix_market_refusals(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(read_matrix_market, saved(tmp_path, text))


# ---- any reader


@pytest.mark.parametrize("reader", [read_edges, read_gml, read_matrix_market])
def test_not_text(tmp_path: Path, reader: Callable[[Path], Graph]) -> None:
    assert "contains NUL bytes, so it is not a text file" in refusal(reader, saved(tmp_path, b"1 2\n\x00"))
    assert "line 2 is not UTF-8" in refusal(reader, saved(tmp_path, b"1 2\n3 \xff\n"))


@readers
def test_no_file(tmp_path: Path, reader: Callable[[Path], Graph]) -> None:
    assert "no such file" in refusal(reader, tmp_path / "absent.gml")
    refusal(reader, saved(tmp_path, b""))


STARTS = [
    b"",
    b"a,b\n",
    b'graph [ node [ id 1 label "',
    b"<graphml><graph><node id='1'>",
    b"<?xml version='1.0' encoding='",
    BANNER.encode() + b"3 3 1\n",
    BANNER.encode(),
    b"\x1f\x8b",
]


@quick
@given(st.one_of(st.binary(max_size=60), st.text('"[]<>/ \n\r\t,;#%019ae&', max_size=60).map(str.encode)))
@pytest.mark.parametrize("start", STARTS)
@readers
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, reader: Callable[[Path], Graph], start: bytes, data: bytes
) -> None:
    path = saved(tmp_path, start + data)
    try:
        g = reader(path)
    except UnveilError:
        refusal(reader, path)
        return
    assert g.nodes == len(g.labels) == len(set(g.labels.to_pylist())) > 0
    assert g.indptr[-1] == len(g.neighbours)
    assert ((g.neighbours >= 0) & (g.neighbours < g.nodes)).all()


# ---- writing edge lists


@quick
@given(pairs, st.booleans())
def test_edges_round_trip(tmp_path: Path, ends: list[tuple[int, int]], directed: bool) -> None:
    ends = [(u, v) for u, v in ends if u != v]
    assume(ends)
    g = Graph.from_edges([u for u, _ in ends], [v for _, v in ends], directed=directed)
    file = io.BytesIO()
    write_edges(g, file)
    back = read_edges(saved(tmp_path, file.getvalue()), directed=directed)
    assert edges_of(back) == edges_of(g)
    assert back.notes == ()
    assert len(file.getvalue().splitlines()) == 1 + g.edges


def test_writers_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("edge_list", "gml"):
        monkeypatch.setattr(f"unveil.release.{place}._BATCH", 2)
    g = Graph.from_edges(["u", "v", "c", "d"], ["v", "c", "d", "u"])
    file = io.BytesIO()
    write_edges(g, file)
    assert file.getvalue() == b"# undirected graph, 4 nodes, 4 edges\nu v\nu d\nv c\nc d\n"
    file = io.BytesIO()
    write_gml(g, file)
    assert file.getvalue().count(b"node [") == file.getvalue().count(b"edge [") == 4


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([0], [1], nodes=3),
        *(Graph.from_edges([label], ["z"]) for label in ["a b", "a,b", "a;b", "a\n", "#a", "%a", "", "\ufeffa", "\0"]),
        Graph.from_edges(["Source"], ["target"]),
    ],
)
def test_edge_list_cannot_hold_everything(graph: Graph) -> None:
    file = io.BytesIO()
    with pytest.raises(UnveilError, match=r"write \.gml instead"):
        write_edges(graph, file)
    assert file.getvalue() == b""
