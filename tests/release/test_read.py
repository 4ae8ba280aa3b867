"""The kind of a release is told by its name and its content; what does not fit is said."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import UnveilError
from unveil.release.read import read

GML = "graph [\n  node [ id 1 ]\n  node [ id 2 ]\n  edge [ source 1 target 2 ]\n]\n"
GRAPHML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
)
MTX = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"


def parquet() -> bytes:
    file = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1]}), file)
    return bytes(file.getvalue())


def arrow() -> bytes:
    file = pa.BufferOutputStream()
    with pa.ipc.new_file(file, pa.schema([("a", pa.int64())])) as writer:
        writer.write_table(pa.table({"a": [1]}))
    return bytes(file.getvalue())


CASES: list[tuple[str, bytes, str]] = [
    ("t.csv", b"a,b\n1,2\n", "table"),
    ("T.CSV", b"a;b\r\n1;2\r\n", "table"),
    ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), "table"),
    ("t.tsv", b"a\tb\n1\t2\n", "table"),
    ("t.txt", b"a|b\n1|2\n", "table"),
    ("t", b"a,b\n1,2\n", "table"),
    ("t", b"a\tb c\td\te\n1\t2\t3\t4\n", "table"),
    ("t.csv", b"age\n1\n", "table"),
    ("t.csv", b"a b\n1 2\n", "table"),
    ("utf16", "a;b\nä;2\n".encode("utf-16"), "table"),
    ("t.csv", b"PAR1,PAR2\n1,2\n", "table"),
    ("t.csv", b"ARROW1,b\n1,2\n", "table"),
    ("t.parquet", parquet(), "table"),
    ("t.csv", parquet(), "table"),
    ("t", arrow(), "table"),
    ("t.feather", arrow(), "table"),
    ("b.csv", b"basket,item\n1,x\n1,y\n", "transactions"),
    ("b.tsv", b'"Order"\t"Product"\n1\tx\n', "transactions"),
    ("b.csv", b"basket,item,price\n1,x,2\n", "table"),
    ("b.dat", b"1 2 3\n4\n", "transactions"),
    ("B.DAT.GZ", gzip.compress(b"1 2\n3\n", mtime=0), "transactions"),
    ("b", b"1 2 3 4\n5 6\n", "transactions"),
    ("b.jsonl", b'["a", "b"]\n["c"]\n', "transactions"),
    ("b", b'["a", "b"]\n["c"]\n', "transactions"),
    ("b.txt", b'{"items": ["a", "b"]}\n', "transactions"),
    ("g.csv", b"source,target\na,b\n", "graph"),
    ("g.csv", b"From;To;weight\na;b;1\n", "graph"),
    ("g.edges", b"a b\nb c\n", "graph"),
    ("g", b"# a comment\n1 2\n2 3\n", "graph"),
    ("g.txt", b"1\t2\n2\t3\n", "graph"),
    ("g.gml", GML.encode(), "graph"),
    ("g", GML.encode(), "graph"),
    ("g.txt", b'Creator "me"\n' + GML.encode(), "graph"),
    ("g.graphml", GRAPHML.encode(), "graph"),
    ("g.xml", GRAPHML.encode(), "graph"),
    ("g.mtx", MTX.encode(), "graph"),
    ("g.txt", MTX.encode(), "graph"),
]


@pytest.mark.parametrize(("name", "data", "kind"), CASES)
def test_kind_is_told(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert read(path).kind == kind
    assert read(str(path), kind).kind == kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("b.csv", b"x,y\n1,x\n", "transactions"),
        ("b", b"x;y\n1;x\n", "transactions"),
        ("g.csv", b"x,y\na,b\n", "graph"),
        ("g.dat", b"1 2\n2 3\n", "graph"),
        ("t.dat", b"a,b\n1,2\n", "table"),
        ("t.edges", b"a,b\n1,2\n", "table"),
        ("t.csv", b"source,target\na,b\n", "table"),
        ("t.csv", b"basket,item\na,b\n", "table"),
    ],
)
def test_kind_is_given(tmp_path: Path, name: str, data: bytes, kind: Any) -> None:
    (tmp_path / name).write_bytes(data)
    assert read(tmp_path / name, kind).kind == kind


@pytest.mark.parametrize(
    ("name", "data", "kind", "said"),
    [
        ("t.parquet", parquet(), "graph", "this format holds a table, not a graph"),
        ("t.csv", arrow(), "transactions", "this format holds a table, not transactions"),
        ("g.gml", GML.encode(), "table", "this format holds a graph, not a table"),
        ("g.graphml", GRAPHML.encode(), "transactions", "this format holds a graph, not transactions"),
        ("g", MTX.encode(), "table", "this format holds a graph, not a table"),
        ("b.jsonl", b'["a"]\n', "table", "this format holds transactions, not a table"),
    ],
)
def test_wrong_kind(tmp_path: Path, name: str, data: bytes, kind: Any, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnveilError) as caught:
        read(tmp_path / name, kind)
    assert str(caught.value).startswith(f"{name}: {said}")


def test_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(UnveilError, match="unknown kind 'picture'; choose table, transactions, graph, matrix"):
        read(tmp_path / "x", "picture")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "data", "option"),
    [
        ("t.csv", b"a,b\n1,2\n", "directed"),
        ("t.csv", b"a,b\n1,2\n", "nonsense"),
        ("t.parquet", parquet(), "delimiter"),
        ("t.arrow", arrow(), "header"),
        ("g.edges", b"a b\n", "strip"),
        ("g.gml", GML.encode(), "encoding"),
        ("b.dat", b"1 2\n", "quote"),
    ],
)
def test_options_that_do_not_apply(tmp_path: Path, name: str, data: bytes, option: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(
        UnveilError, match=f"^{name}: the option (no-)?{option} does not apply to this kind of source; leave it out$"
    ):
        read(tmp_path / name, **{option: "x"})


def test_options_that_apply(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a|b\n 1 |2\n")
    table = read(tmp_path / "t.csv", delimiter="|", header=False, strip=True)
    assert table.size == {"rows": 2, "columns": 2}  # type: ignore[union-attr]
    (tmp_path / "g.edges").write_text("a b\n")
    assert read(tmp_path / "g.edges", directed=True).directed  # type: ignore[union-attr]


def test_in_memory() -> None:
    assert read(pd.DataFrame({"a": [1]})).kind == "table"
    assert read(pa.table({"a": [1]}), "table").kind == "table"
    assert read(nx.path_graph(3)).kind == "graph"
    with pytest.raises(UnveilError, match=r"^a DataFrame holds a table, not a graph; leave out kind$"):
        read(pd.DataFrame({"a": [1]}), "graph")
    with pytest.raises(UnveilError, match=r"^a Graph holds a graph, not transactions; leave out kind$"):
        read(nx.path_graph(3), "transactions")
    with pytest.raises(UnveilError, match=r"^data in memory: the option delimiter does not apply"):
        read(pd.DataFrame({"a": [1]}), delimiter=",")


@pytest.mark.parametrize("source", [None, 3, b"t.csv", {"a": [1]}, ["a"], object()])
def test_no_source(source: Any) -> None:
    with pytest.raises(UnveilError, match=f"^cannot read a {type(source).__name__}: give a file name"):
        read(source)


@pytest.mark.parametrize("name", ["t.csv", "t", "t.parquet", "t.dat", "t.edges", "t.csv.gz"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"", mtime=0) if name.endswith("gz") else b"")
    with pytest.raises(UnveilError, match=f"^{name}: the file is empty$"):
        read(tmp_path / name)


def test_places(tmp_path: Path) -> None:
    with pytest.raises(UnveilError, match="no such file"):
        read(tmp_path / "no.csv")
    with pytest.raises(UnveilError, match="is a directory; name the file inside it"):
        read(tmp_path)


def test_parquet_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(
        UnveilError, match=r"^t\.parquet: not a readable Parquet file; write it again, or export it as CSV$"
    ):
        read(tmp_path / "t.parquet")


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(["x", "x.csv", "x.parquet", "x.arrow"]),
    st.one_of(st.binary(max_size=50), st.text(max_size=30).map(str.encode)),
)
def test_any_bytes(tmp_path_factory: Any, name: str, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data)
    try:
        said = f"{name}: {read(path, 'table').kind}"
    except UnveilError as error:
        said = str(error)
    assert said.startswith(f"{name}: ")
    assert "\n" not in said


def test_records_of_fixed_width_are_no_baskets(tmp_path: Path) -> None:
    (tmp_path / "survey.dat").write_text("0034  1 77\n0051  2 13\n0034  1   \n")
    with pytest.raises(UnveilError, match="fixed-width"):
        read(tmp_path / "survey.dat")
    assert read(tmp_path / "survey.dat", "transactions").kind == "transactions"
    (tmp_path / "baskets.dat").write_text("10 20 30\n11 21 31\n12 22 32\n")
    assert read(tmp_path / "baskets.dat").kind == "transactions"
