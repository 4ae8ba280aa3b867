"""What is written reads back as the same table."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.engine import Engine
from unveil.errors import UnveilError
from unveil.release.read import read
from unveil.release.table import Table, table_from_frame
from unveil.release.write import write

TEXT = st.text(alphabet=st.characters(codec="utf-8", blacklist_characters="\0"), max_size=6)
HOSTILE = st.sampled_from(
    ["", " ", " x ", '"', '""', "a,b", "a\tb", "a\nb", "a\r\nb", "\r", "01", "1.50", "=cmd()", "é", "\x1b[0m", "NULL"]
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    return [row for batch in table.batches() for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]


@st.composite
def frames(draw: Any) -> pa.Table:
    width, rows = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    name = st.one_of(TEXT, HOSTILE).map(str.strip).filter(bool)
    names = draw(st.lists(name, min_size=width, max_size=width, unique=True))
    value = st.one_of(st.none(), TEXT, HOSTILE)
    column = st.lists(value, min_size=rows, max_size=rows)
    return pa.table([pa.array(draw(column), pa.string()) for _ in names], names)


@settings(deadline=None, max_examples=150)
@given(frames(), st.sampled_from(["csv", "tsv", "parquet", "arrow"]))
def test_round_trip_of_text(tmp_path_factory: Any, engine: Engine, frame: pa.Table, ending: str) -> None:
    """A missing value becomes an empty one in text files, which do not know the difference."""
    path = tmp_path_factory.getbasetemp() / f"written.{ending}"
    table = table_from_frame(frame, engine=engine)
    write(table, path)
    options = {"delimiter": "," if ending == "csv" else "\t", "header": True} if ending.endswith("sv") else {}
    back = read(path, "table", engine=engine, **options)
    assert isinstance(back, Table)
    assert back.columns == table.columns
    text = ending.endswith("sv")
    assert rows_of(back) == [tuple("" if v is None and text else v for v in row) for row in rows_of(table)]


TYPED = pa.table(
    {
        "i": [1, None],
        "f": [0.1, 1e300],
        "b": [True, None],
        "d": [dt.date(2020, 1, 1), None],
        "t": [dt.datetime(2020, 1, 1, 2, 3, 4, 5), None],
        "m": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
        "c": pa.array(["x", None]).dictionary_encode(),
        "s": ["01", ""],
    }
)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_round_trip_of_types(tmp_path: Path, engine: Engine, ending: str) -> None:
    table = table_from_frame(TYPED, engine=engine)
    write(table, tmp_path / f"t.{ending}")
    back = read(tmp_path / f"t.{ending}", engine=engine)
    assert isinstance(back, Table)
    assert rows_of(back) == rows_of(table)
    assert next(back.batches()).schema == next(table.batches()).schema


def test_types_become_text(tmp_path: Path, engine: Engine) -> None:
    write(table_from_frame(TYPED, engine=engine), tmp_path / "t.csv")
    back = read(tmp_path / "t.csv", engine=engine)
    assert isinstance(back, Table)
    first, second = rows_of(back)
    assert first == ("1", "0.1", "true", "2020-01-01", "2020-01-01 02:03:04.000005", "1.50", "x", "01")
    assert second == ("", "1e+300", "", "", "", "", "", "")


def test_upper_case_endings_and_file_on_itself(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "T.CSV"
    path.write_text("a;b\n1;2\n")
    table = read(path, engine=engine)
    write(table, path)
    assert path.read_text() == '"a","b"\n"1","2"\n'
    assert os.listdir(tmp_path) == ["T.CSV"]


def test_large_table_is_written_in_batches(tmp_path: Path, engine: Engine) -> None:
    table = table_from_frame(pa.table({"x": range(200_000)}), engine=engine)
    write(table, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet")["x"].to_pylist() == list(range(200_000))


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.csv.gz", "t.edges", ".csv"])
def test_unknown_endings(tmp_path: Path, engine: Engine, name: str) -> None:
    with pytest.raises(UnveilError, match=r": a table can be written as \.csv, \.tsv, \.parquet and \.arrow"):
        write(table_from_frame(pa.table({"x": [1]}), engine=engine), tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_bytes_are_no_text(tmp_path: Path, engine: Engine) -> None:
    table = table_from_frame(pa.table({"x": [b"\xff"]}), engine=engine)
    with pytest.raises(
        UnveilError, match=r"^t\.csv: a column holds values that \.csv cannot store; write another format$"
    ):
        write(table, tmp_path / "t.csv")
    assert os.listdir(tmp_path) == []


def test_missing_directory(tmp_path: Path, engine: Engine) -> None:
    with pytest.raises(UnveilError, match="the directory does not exist; nothing was written"):
        write(table_from_frame(pa.table({"x": [1]}), engine=engine), tmp_path / "no" / "t.csv")


def test_interrupted(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def batches(self: Table) -> Any:
        yield pa.record_batch({"x": ["half"]})
        raise KeyboardInterrupt

    monkeypatch.setattr(Table, "batches", batches)
    for ending in ("csv", "tsv", "parquet", "arrow"):
        with pytest.raises(KeyboardInterrupt):
            write(table_from_frame(pa.table({"x": ["half"]}), engine=engine), tmp_path / f"t.{ending}")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
def test_disk_full(tmp_path: Path) -> None:
    script = (
        "import resource, sys; import pyarrow as pa; from unveil.release.table import table_from_frame\n"
        "from unveil.release.write import write\n"
        "table = table_from_frame(pa.table({'x': [str(i * 7919 % 1000003) for i in range(50_000)]}))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "for ending in ('csv', 'tsv', 'parquet', 'arrow'):\n"
        "    try: write(table, f'{sys.argv[1]}/t.{ending}')\n"
        "    except Exception as error: print(type(error).__name__, str(error).rpartition('/')[2])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    endings = ("csv", "tsv", "parquet", "arrow")
    said = [f"UnveilError t.{e}: cannot be written: File too large; nothing was written" for e in endings]
    assert done.stdout.splitlines() == said
    assert os.listdir(tmp_path) == []
