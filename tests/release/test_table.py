"""Tables: every value arrives as it was written, from any source; what is no table is refused in one line."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import os
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference.naive_table import naive_table

from unveil.engine import Engine
from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.table import Table, read_arrow, read_csv, read_parquet, table_from_frame

CANARY = "Xk7canary"
HOSTILE = [
    "", " ", "  x ", "01234", "1.50", "-0", "1e3", "NULL", "NA", "nan", "\\N", "\\", "#x", '"', '""', '"a', 'a"b', "'",
    "a,b", "a;b", "a\tb", "a|b", "a\nb", "a\r\nb", "a\rb", "\n", "=cmd()", "+1", "@x", "\x1b[31m", "<script>", "é",
    "\u2028", "\x85", "\x0c", "\x1c", "true", "2020-01-01",
]  # fmt: skip
NAMES = [
    "a", "A", "row_no", "size", "c0", "c1", "C1", "select", "t1", "<script>", "=cmd()", "a,b", 'q"x', "l1\nl2",
    "\x1b[31m", "rowid", "*", "a;b", "'; DROP TABLE t1; --", "{}", "%s", "é",
]  # fmt: skip
LATIN = st.text(alphabet=st.characters(max_codepoint=255, blacklist_characters="\0"), max_size=6)
ANY = st.text(alphabet=st.characters(codec="utf-8", blacklist_characters="\0"), max_size=6)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    return [row for batch in table.batches() for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]


def write_arrow(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(UnveilError) as caught:
        read_csv(path, **options)
    said = str(caught.value)
    assert "\n" not in said
    assert CANARY not in said
    return said


# ---- text against the csv module -------------------------------------------------------------------------------------


@st.composite
def tables(draw: Any, values: Any = ANY) -> list[list[str]]:
    width = draw(st.integers(1, 4))
    value = st.one_of(st.sampled_from(HOSTILE), values)
    name = st.one_of(st.sampled_from(NAMES), values).map(str.strip).filter(bool)
    names = draw(st.lists(name, min_size=width, max_size=width, unique=True))
    return [names, *draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=1, max_size=6))]


def written(rows: list[list[str]], delimiter: str, end: str, quoting: int) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def check(path: Path, text: str, delimiter: str, engine: Engine, **options: Any) -> None:
    expected = naive_table(text, delimiter)
    if expected is None:  # the csv module of Python 3.11 leaves a carriage return unquoted
        refused(path, engine=engine, delimiter=delimiter, **options)
        return
    table = read_csv(path, engine=engine, delimiter=delimiter, **{"header": True, **options})
    assert table.columns == tuple(n.strip() for n in expected[0])
    assert rows_of(table) == expected[1:]
    assert table.rows == len(expected) - 1
    for i, name in enumerate(table.columns):  # one column alone is the same column
        alone = table.query(f"SELECT {table.column(name)} FROM {table.relation}").column(0).to_pylist()
        assert alone == [row[i] for row in expected[1:]]


@settings(deadline=None, max_examples=120)
@given(
    rows=tables(),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    packed=st.sampled_from(["", "gzip", "zstd"]),
    final=st.booleans(),
)
def test_same_values_as_the_csv_module(
    tmp_path_factory: Any,
    engine: Engine,
    rows: Any,
    delimiter: str,
    end: str,
    quoting: Any,
    encoding: str,
    packed: str,
    final: bool,
) -> None:
    text = written(rows, delimiter, end, quoting)
    text = text if final else text.removesuffix(end)
    data = text.encode(encoding)
    path = tmp_path_factory.getbasetemp() / "values.csv"
    path.write_bytes(
        gzip.compress(data) if packed == "gzip" else pa.compress(data, "zstd", asbytes=True) if packed else data
    )
    check(path, text, delimiter, engine)


@settings(deadline=None, max_examples=40)
@given(tables(LATIN), st.sampled_from(["latin-1", "cp1252", "cp437"]), st.integers(1, 5))
def test_same_values_in_other_encodings(
    tmp_path_factory: Any, engine: Engine, rows: Any, encoding: str, chunk: int
) -> None:
    data = written(rows, ",", "\n", csv.QUOTE_ALL).encode(encoding, "replace")
    path = tmp_path_factory.getbasetemp() / "encoded.csv"
    path.write_bytes(data)
    text = data.decode(encoding)
    names = [n.strip() for n in (naive_table(text) or [()])[0]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_file, "_CHUNK", chunk)
        if len(set(names)) == len(rows[0]) and all(names):
            check(path, text, ",", engine, encoding=encoding)
        else:
            refused(path, engine=engine, encoding=encoding, delimiter=",")


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(["x", "x,y"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.text(alphabet='a,"\n\r', min_size=1, max_size=14),
)
def test_any_text_is_read_like_the_csv_module_or_refused(
    tmp_path_factory: Any, engine: Engine, head: str, end: str, body: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes((head + end + body).encode())
    expected = naive_table(head + end + body)
    if expected is None or len(expected) == 1:
        assert refused(path, engine=engine, delimiter=",").startswith("any.csv: ")
    else:
        check(path, head + end + body, ",", engine)


def test_large_files_with_lines_in_quotes(tmp_path: Path, engine: Engine) -> None:
    """Several buffers and threads, and values that look like rows."""
    rng = random.Random(1)
    values = ["", "a", '"q"', "x,y", "1,2,3\n" * 5, '1,"2",3\n' * 5, "é€😀", '"\n', "\r\n", "x" * 50]
    rows = [[str(i), rng.choice(values), rng.choice(values)] for i in range(250_000)]
    path = tmp_path / "large.csv"
    path.write_bytes(written([["a", "b", "c"], *rows], ",", "\n", csv.QUOTE_MINIMAL).encode())
    assert path.stat().st_size > 2 * source_file._CHUNK
    assert rows_of(read_csv(path, engine=engine)) == [tuple(r) for r in rows]


def test_large_files_keep_their_order(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "large.csv"
    path.write_bytes(b"a,b\r\n" + b"".join(b'%d,"%d x y z"\r\n' % (i, i) for i in range(800_000)))
    assert path.stat().st_size > 16 << 20
    table = read_csv(path, engine=engine)
    numbered = f"SELECT c0, row_number() OVER () AS n FROM {table.relation}"
    assert (
        table.query(f"SELECT count(*) FROM ({numbered}) AS t WHERE CAST(c0 AS BIGINT) + 1 = n").column(0)[0].as_py()
        == 800_000
    )


# ---- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "columns", "rows"),
    [
        (b"a,b\n1,2\n", "ab", ["12"]),
        (b"a,b\n1,2", "ab", ["12"]),
        (b"a\n1\n", "a", ["1"]),
        (b"\xef\xbb\xbfa,b\n1,2\n", "ab", ["12"]),
        (b'\xef\xbb\xbf"a",b\n1,2\n', "ab", ["12"]),
        (b"\n\r\na,b\n1,2\n", "ab", ["12"]),
        (b"a,b\n1,2\n\n\n3,4\n\n", "ab", ["12", "34"]),
        (b"a\n1\n\n3\n", "a", ["1", ("",), "3"]),
        (b"a,b\r\n1,2\n3,4\r5,6\r\r\n", "ab", ["12", "34", "56"]),
        (b'a,b\r\n"1\n",2\r\n', "ab", [("1\n", "2")]),
        (b'"a\n",b\r\n"1\r",2\r\n', "ab", [("1\r", "2")]),
        (b'a,b\nx"y,2\n', "ab", [('x"y', "2")]),
        (b'a,b\n "1, 1" , 2 \n', "ab", [("1, 1", " 2 ")]),
        (b'a,b\n"",\n,""\n', "ab", [("", ""), ("", "")]),
        (b"a,b\n#,2\n", "ab", ["#2"]),
        (b"a,b\n=cmd(),\x1b[31m\n", "ab", [("=cmd()", "\x1b[31m")]),
    ],
)
def test_right_results(tmp_path: Path, engine: Engine, data: bytes, columns: str, rows: list[Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    table = read_csv(path, engine=engine)
    assert table.columns == tuple(columns)
    assert rows_of(table) == [tuple(r) for r in rows]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"a,b\n", "there are no rows, only column names"),
        (b"a,b", "there are no rows, only column names"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 value instead of 2; correct the file, or pass its --delimiter or --quote"),
        (b"a,b\n1,2,\n", "line 2 has 3 values instead of 2"),
        (b"a,b\n1,2,,\n", "line 2 has 4 values instead of 2"),
        (b'a,b\n"1\n\n",2\n3,4,5\n', "line 5 has 3 values instead of 2"),
        (b'a,b\r\n"1\n",2\n3\r', "line 4 has 1 value instead of 2"),
        (b"a,b\n1,\xe9\n", "line 2 is not utf-8 text"),
        (b'a,b\n1,"2\n3,4\n', "line 2 has a quote that is not closed"),
        (b'a,b\n"1" "2,3"\n', "line 2 has text after a closing quote"),
        (b"a,b\n1,\0\n", "line 2 holds a NUL byte"),
        (b"PK\x03\x04\x14\0", "is a spreadsheet or a zip archive"),
        (b"BZh91AY&SY\0", "is compressed with bzip2; decompress it first"),
        (b"\x1f\x8b\x08", "cannot be read: the file or its compression is damaged; get a fresh copy"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_refused(tmp_path: Path, engine: Engine, data: bytes, said: str, packed: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(data) if packed and said.startswith("line") else data)
    assert refused(path, engine=engine).startswith(f"t.csv: {said}")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_line_numbers_of_rewritten_files(tmp_path: Path, engine: Engine, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f'a,b\r\n"é\n",2\n\r\n{CANARY}\n'.encode(encoding))
    assert "line 5 has 1 value instead of 2" in refused(path, engine=engine, encoding=encoding)


def test_options(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t.csv"
    path.write_text("  a ;' x;y '\n 1 ;''\n")
    table = read_csv(path, engine=engine, quote="'", header=False, strip=True)
    assert table.columns == ("column 1", "column 2")
    assert rows_of(table) == [("a", "x;y"), ("1", "")]
    path.write_text('a,b\n"1,2"\n')
    assert rows_of(read_csv(path, engine=engine, quote="")) == [('"1', '2"')]
    path.write_text("a b\n1 2\n")
    assert rows_of(read_csv(path, engine=engine, delimiter=" ")) == [("1", "2")]
    path.write_bytes('"x\r\n",1\n2,é\r\n'.encode("utf-16"))
    assert rows_of(read_csv(path, engine=engine, header=False)) == [("x\r\n", "1"), ("2", "é")]


def test_ten_thousand_columns(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t.csv"
    names = [f"n{i}" for i in range(10_000)]
    path.write_text(",".join(names) + "\n" + ",".join(map(str, range(10_000))) + "\n")
    table = read_csv(path, engine=engine)
    assert table.query(f"SELECT {table.column('n9999')} FROM {table.relation}").column(0).to_pylist() == ["9999"]


def test_long_line(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1," + "x" * (9 << 20) + "\n3,4\n")
    assert [len(b) for _, b in rows_of(read_csv(path, engine=engine))] == [9 << 20, 1]


NAMES_OF_FILES = [
    "star*.csv", "q?.csv", "[ab].csv", "{a,b}.csv", "it's.csv", 'dq".csv', " s p .csv", "ü—😀.csv", "-dash.csv",
    "%41.csv", "a%2Fb.csv", "back\\slash.csv", "#x.csv", "~x.csv", "$HOME.csv", "new\nline.csv", "**.csv",
    "year=2020.csv",
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed on Windows")
@pytest.mark.parametrize("name", NAMES_OF_FILES)
def test_names_of_files(tmp_path: Path, engine: Engine, name: str) -> None:
    """Neither a wildcard nor ``key=value`` in the path means anything; other files that would match are left alone."""
    for folder in (tmp_path, tmp_path / "x=1", tmp_path / name):
        folder.mkdir(exist_ok=True)
        (folder / "starry.csv").write_text("other\n1\n")
        (folder / "a.csv").write_text("other\n1\n")
    for folder in (tmp_path / "x=1", tmp_path / name):
        path = folder / name
        path.write_text("a,b\n1,2\n")
        assert rows_of(read_csv(path, engine=engine)) == [("1", "2")]
        path.write_bytes("a,b\né,2\n".encode("latin-1"))
        assert rows_of(read_csv(path, engine=engine, encoding="latin-1")) == [("é", "2")]
        pq.write_table(pa.table({"a": [1]}), path)
        assert rows_of(read_parquet(path, engine=engine)) == [(1,)]
        write_arrow(pa.table({"a": [1]}), path)
        assert rows_of(read_arrow(path, engine=engine)) == [(1,)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not allow such names")
def test_names_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.csv")
    path.write_text("a,b\n1,2\n")
    assert refused(path).endswith("the file name is not valid text; rename the file")
    assert "the file name is not valid text" in refused(tmp_path / "a\0b.csv")


def test_places_that_are_no_files(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"{tmp_path.name}: is a directory; name the file inside it"
    assert refused(Path("/")) == "/: is a directory; name the file inside it"
    assert refused(tmp_path / "no.csv").endswith("no.csv: no such file")
    assert refused(Path(os.devnull)) == "null: is not a regular file; save it to disk first"
    os.mkfifo(tmp_path / "fifo")
    assert refused(tmp_path / "fifo") == "fifo: is not a regular file; save it to disk first"
    (tmp_path / "loop").symlink_to("loop")
    assert refused(tmp_path / "loop").startswith("loop: cannot be read: ")
    (tmp_path / "f").write_text("a\n1\n")
    assert refused(tmp_path / "f" / "x").startswith("x: cannot be read: ")


def test_no_permission(tmp_path: Path) -> None:
    """In a process that gives up being root, should it be root."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    script = (
        "import os, sys; from pathlib import Path; from unveil.release.table import read_csv\n"
        "path = Path(sys.argv[1]); read_csv(path); path.chmod(0)\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try: read_csv(path)\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "UnveilError t.csv: no permission to read it; check its permissions\n"


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_broken_compression(tmp_path: Path, engine: Engine, kind: str) -> None:
    rng = random.Random(3)
    data = b"a,b\n" + b"".join(b"%d,%d\n" % (i, rng.getrandbits(60)) for i in range(20_000))
    whole = gzip.compress(data) if kind == "gzip" else pa.compress(data, "zstd", asbytes=True)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(whole)
    assert read_csv(path, engine=engine).rows == 20_000
    for cut in (5, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert "its compression is damaged" in refused(path, engine=engine)
    path.write_bytes(whole + whole)
    assert read_csv(path, engine=engine).rows == 40_001


# ---- files that change -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_file_that_changes(tmp_path: Path, engine: Engine, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    content = pa.table({"a": ["1", "2"], "b": ["3", "4"]})
    if ending == "csv":
        path.write_text("a,b\n1,3\n2,4\n")
        table = read_csv(path, engine=engine)
    elif ending == "parquet":
        pq.write_table(content, path)
        table = read_parquet(path, engine=engine)
    else:
        write_arrow(content, path)
        table = read_arrow(path, engine=engine)
    assert len(rows_of(table)) == 2
    path.write_text(CANARY)
    with pytest.raises(UnveilError, match=rf"^t\.{ending}: the file has changed since it was read; read it again$"):
        rows_of(table)
    path.unlink()
    with pytest.raises(UnveilError, match="no such file"):
        rows_of(table)


def test_file_that_changes_unseen(tmp_path: Path, engine: Engine) -> None:
    """Same size, same time: what the engine says about the broken line goes no further."""
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,2\n{CANARY},4\n")
    before = path.stat()
    table = read_csv(path, engine=engine)
    path.write_text(f"a,b\n1,2\n{CANARY}\n,4"[: before.st_size])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(UnveilError) as caught:
        rows_of(table)
    assert str(caught.value).startswith("t.csv: ")
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_rewritten_copies_are_independent(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\r\n1,2\n")
    table = read_csv(path, engine=engine)
    path.unlink()
    assert rows_of(table) == [("1", "2")]


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
def test_no_room_for_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n".encode("utf-16") + f"{CANARY},é\n".encode("utf-16-le") * 20_000)
    script = (
        "import resource, sys; from pathlib import Path; import duckdb, numba\n"
        "from unveil.engine import Engine; from unveil.release.table import read_csv\n"
        "engine = Engine(spill=sys.argv[2]); resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: read_csv(Path(sys.argv[1]), engine=engine)\n"
        "except Exception as error: print(type(error).__name__, error, list(engine.scratch_directory().glob('*.csv')))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path), str(tmp_path)], capture_output=True, text=True)
    assert done.stdout.startswith("UnveilError t.csv: cannot make a copy in the temporary directory")
    assert done.stdout.endswith("pass --spill with a directory on a larger disk []\n")


# ---- Parquet, Arrow, frames ------------------------------------------------------------------------------------------

D = Decimal
UTC = dt.UTC
COLUMNS: dict[str, pa.Array] = {
    "int8": pa.array([1, -2, None], pa.int8()),
    "uint64": pa.array([2**64 - 1, 0, None], pa.uint64()),
    "float": pa.array([1.5, float("inf"), -0.0]),
    "float32": pa.array([1.5, None, 0.1], pa.float32()),
    "bool": pa.array([True, None, False]),
    "nothing": pa.nulls(3),
    "text": pa.array(["01", None, ""]),
    "large text": pa.array(["a", None, "<script>"], pa.large_string()),
    "text view": pa.array(["a", None, "long enough not to be inlined"], pa.string_view()),
    "bytes": pa.array([b"\xff", None, b""]),
    "date": pa.array([dt.date(2020, 1, 1), None, dt.date(1, 1, 1)]),
    "time": pa.array([dt.time(1, 2, 3), None, dt.time(0)]),
    "timestamp": pa.array([dt.datetime(2020, 1, 1, 2, 3, 4, 5), None, dt.datetime(1900, 1, 1)]),
    "moment": pa.array([dt.datetime(2020, 7, 1, tzinfo=UTC), None, dt.datetime(1970, 1, 1, tzinfo=UTC)]).cast(
        pa.timestamp("us", "Europe/Berlin")
    ),
    "decimal": pa.array([D("1.50"), None, D("-2.00")], pa.decimal128(10, 2)),
    "category": pa.array(["b", None, "a"]).dictionary_encode(),
    "numbers as category": pa.array([5, None, 3]).dictionary_encode(),
    "category with null": pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["a", None])),
}


@pytest.mark.parametrize(
    ("name", "how"),
    [(n, h) for n in COLUMNS for h in ("memory", "parquet", "arrow") if (n, h) != ("category with null", "parquet")],
)
def test_values_of_every_type(tmp_path: Path, engine: Engine, name: str, how: str) -> None:
    frame = pa.table({name: COLUMNS[name]})
    if how == "memory":
        table = table_from_frame(frame, engine=engine)
    elif how == "parquet":
        pq.write_table(frame, tmp_path / "t.parquet")
        table = read_parquet(tmp_path / "t.parquet", engine=engine)
    else:
        write_arrow(frame, tmp_path / "t.arrow")
        table = read_arrow(tmp_path / "t.arrow", engine=engine)
    assert table.columns == (name,)
    assert [v for (v,) in rows_of(table)] == COLUMNS[name].to_pylist()
    codes = table.codes([name])[name]
    assert [None if c < 0 else codes.values[c].as_py() for c in codes.codes] == COLUMNS[name].to_pylist()


def test_nan_is_missing_as_nothing_is(engine: Engine, tmp_path: Path) -> None:
    made = pa.table({"x": [1.0, float("nan"), None]})
    pq.write_table(made, tmp_path / "t.parquet")
    read = read_parquet(tmp_path / "t.parquet", engine=engine)
    assert [v for (v,) in rows_of(read)] == [1.0, None, None]
    table = table_from_frame(made, engine=engine)
    assert [v for (v,) in rows_of(table)] == [1.0, None, None]
    assert table.codes(["x"])["x"].codes.tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    ("kind", "plain"),
    [(pa.array([1, None, 3], pa.duration("s")), [1, None, 3]), (pa.array(np.float16([1, 2, 0.5])), [1, 2, 0.5])],
)
def test_types_that_the_engine_does_not_know(engine: Engine, kind: pa.Array, plain: list[Any]) -> None:
    assert [v for (v,) in rows_of(table_from_frame(pa.table({"x": kind}), engine=engine))] == plain


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], None, []]),
        pa.array([{"x": 1}, None, {"x": 2}]),
        pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        pa.array([(1, 2, 3), None, (0, 0, 0)], pa.month_day_nano_interval()),
        pa.array([D("1.5"), None, D(2)], pa.decimal256(50, 2)),
        pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["a"])]
        ),
    ],
    ids=lambda column: str(column.type)[:8],
)
def test_columns_that_cannot_be_compared(tmp_path: Path, column: pa.Array) -> None:
    frame = pa.table({"a": [1] * len(column), "b\n": column})
    with pytest.raises(UnveilError, match=r"^table in memory: column 2 \('b'\) holds lists or other values") as caught:
        table_from_frame(frame)
    assert "leave the column out" in str(caught.value)


def test_nested_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [[1]]}), tmp_path / "t.parquet")
    with pytest.raises(UnveilError, match=r"^t\.parquet: column 2 \('b'\) holds lists"):
        read_parquet(tmp_path / "t.parquet")


def test_pandas(engine: Engine) -> None:
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "s": ["x", None, "z"],
            "f": [1.5, float("nan"), 2.0],
            "c": pd.Categorical(["u", "v", None]),
            "d": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            7: [True, False, True],
        }
    ).rename(columns=str)
    table = table_from_frame(frame[frame["i"] > 1], engine=engine)
    assert table.columns == ("i", "s", "f", "c", "d", "7")
    assert rows_of(table)[1] == (3, "z", 2.0, None, dt.datetime(2021, 1, 1), True)
    assert table.codes(["s", "f"])["f"].codes.tolist() == [-1, 0]


def test_polars(engine: Engine) -> None:
    frame = pl.DataFrame(
        {"i": [1, None], "s": ["x", ""], "e": pl.Series(["u", "v"], dtype=pl.Enum(["v", "u"])), "d": [D("1.50"), None]}
    )
    table = table_from_frame(frame, engine=engine)
    assert rows_of(table) == [(1, "x", "u", D("1.50")), (None, "", "v", None)]
    assert table.digest == table_from_frame(frame, engine=engine).digest
    assert table.digest != table_from_frame(frame[:1], engine=engine).digest


def test_pyarrow(engine: Engine) -> None:
    batch = pa.record_batch({"a": [1, 2]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
    assert rows_of(table_from_frame(batch, engine=engine)) == [(1,), (2,)]
    assert rows_of(table_from_frame(reader, engine=engine)) == [(1,), (2,), (1,), (2,)]


class Interchange:
    """Has nothing but the DataFrame interface."""

    def __dataframe__(self, **options: Any) -> Any:
        return pa.table({"a": [1, 2]}).__dataframe__(**options)


def test_dataframe_interface(engine: Engine) -> None:
    assert rows_of(table_from_frame(Interchange(), engine=engine)) == [(1,), (2,)]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1 and 2 have the same name; rename one"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", " a"]), "columns 1 and 2 have the same name"),
        (pl.DataFrame({"a": [1], "a ": [2]}), "columns 1 and 2 have the same name; rename one"),
        (pd.DataFrame({"": [1]}), "column 1 has no name; give it one"),
        (pd.DataFrame(), "there are no columns"),
        (pd.DataFrame(index=range(3)), "there are no columns"),
        (pa.table({}), "there are no columns"),
        (pl.DataFrame(), "there are no columns"),
        (pd.DataFrame({"a": []}), "there are no rows, only column names"),
        (pa.table({"a": pa.array([], pa.int64())}), "there are no rows, only column names"),
        (pl.DataFrame({"a": [1]})[:0], "there are no rows, only column names"),
        (pd.DataFrame({"a": [1, CANARY]}, dtype=object), "Arrow cannot hold a; give each"),
        (pd.DataFrame({"a": [1j]}), "Arrow cannot hold a; give each"),
        (pd.Series([1]), "Arrow cannot hold this frame"),
        (pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), "Arrow cannot hold this frame"),
        (pa.table({f"n{i}": [1] for i in range(10_001)}), "10,001 columns are too many; keep at most 10,000"),
    ],
)  # fmt: skip
def test_refused_frames(frame: Any, said: str) -> None:
    with pytest.raises(UnveilError) as caught:
        table_from_frame(frame)
    assert str(caught.value).startswith(f"table in memory: {said}")
    assert CANARY not in str(caught.value)


@settings(deadline=None, max_examples=150)
@example("parquet", [(722, 0)], 0.0, False)  # DuckDB refuses what pyarrow reads
@given(
    st.sampled_from(["parquet", "arrow"]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
    st.floats(0, 1),
    st.booleans(),
)
def test_damaged_files(tmp_path_factory: Any, engine: Engine, ending: str, flips: Any, kept: float, cut: bool) -> None:
    """A damaged file gives values or one line, and never harms the process."""
    frame = pa.table(
        {"a": [f"{CANARY} {i % 50}" for i in range(500)], "b": list(range(500)), "c": [i / 2 for i in range(500)]}
    )
    path = tmp_path_factory.getbasetemp() / f"damaged.{ending}"
    write = pq.write_table if ending == "parquet" else write_arrow
    write(frame, path)
    data = bytearray(path.read_bytes())
    for place, byte in flips:
        data[-1 - place % len(data)] = byte
    path.write_bytes(data[: int(len(data) * kept)] if cut else data)
    try:
        table = (read_parquet if ending == "parquet" else read_arrow)(path, engine=engine)
        said = f"damaged.{ending}: {len(table.codes(table.columns))} columns"
    except UnveilError as error:
        said = str(error)
    assert said.startswith(f"damaged.{ending}: ")
    assert CANARY not in said
    assert "\n" not in said


# ---- the table itself ------------------------------------------------------------------------------------------------


def test_columns_are_called_by_place(engine: Engine) -> None:
    table = table_from_frame(pa.table({"c1": [1], "c0": [2], "C0": [3], "row_no": [4]}), engine=engine)
    assert [table.column(c) for c in ("c1", "c0", "C0", "row_no")] == ["c0", "c1", "c2", "c3"]
    assert rows_of(table) == [(1, 2, 3, 4)]
    assert next(table.batches()).schema.names == ["c1", "c0", "C0", "row_no"]


def test_size_and_words(engine: Engine) -> None:
    table = table_from_frame(pa.table({"age": [1, 2], "x\x1b": [3, 4]}), engine=engine, name="people")
    assert table.size == {"rows": 2, "columns": 2}
    assert repr(table) == "Table people: 2 rows, 2 columns\n  age and x�"


def test_digest_is_of_the_file(tmp_path: Path, engine: Engine) -> None:
    import hashlib

    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_csv(path, engine=engine).digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_zip_codes_and_decimals_stay_text(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t.csv"
    path.write_text("zip,price,day\n01234,1.50,2020-01-01\n")
    assert rows_of(read_csv(path, engine=engine)) == [("01234", "1.50", "2020-01-01")]
