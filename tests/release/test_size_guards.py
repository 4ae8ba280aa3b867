"""A small file must not fill the memory or the disk: what it declares or unpacks to is checked first."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil.errors import UnveilError
from unveil.release.hierarchy import Hierarchy

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("size_line", ["1048577 1048577 1", "999999999 999999999 1"])
def test_a_few_bytes_declared_a_matrix_that_filled_the_memory(tmp_path: Path, size_line: str) -> None:
    path = tmp_path / "graph.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n{size_line}\n1 2\n")
    with pytest.raises(UnveilError, match=r"graph\.mtx: the size line says .* nodes, more than"):
        unveil.read(path)


def test_a_declared_matrix_may_have_nodes_without_edges(tmp_path: Path) -> None:
    path = tmp_path / "graph.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n9000 9000 1\n1 2")
    assert unveil.read(path).size == {"nodes": 9000, "edges": 1}


def test_prefixes_of_long_texts_filled_the_memory() -> None:
    texts = [f"{k:04}" + "x" * 4000 for k in range(200)]
    with pytest.raises(UnveilError, match=r"have too many prefixes; say how many characters to keep, such as prefix"):
        Hierarchy.from_prefixes(texts, name="the hierarchy of note")
    assert Hierarchy.from_prefixes(texts, lengths=[4, 2]).height == 3


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.csv.zst", "bomb.dat.gz"])
def test_a_compressed_file_could_hold_any_amount(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = b"a,b\n" + b"1,2\n" * 100_000 if ".csv" in name else b"1 2 3\n" * 100_000
    with pa.CompressedOutputStream(str(path), "zstd" if name.endswith("zst") else "gzip") as file:
        file.write(text)
    with pytest.raises(
        UnveilError, match=r"holds more than 0.2 MB when decompressed, from .* MB; pass --max-size SIZE"
    ):
        unveil.read(path, max_size="200KB")
    assert unveil.read(path, max_size=len(text)).kind in ("table", "transactions")
    with pytest.raises(UnveilError, match="max_size is not a size"):
        unveil.read(path, max_size="much")


def test_a_file_of_zeros_is_refused_without_an_option(tmp_path: Path, unveil: Cli) -> None:
    """270 MB of empty lines are 260 KB of gzip."""
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n") + 27 * gzip.compress(b"\n" * 10_000_000))
    done = unveil("describe", path)
    assert done.returncode == 2
    assert "holds more than 256 MB when decompressed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_workbook_declares_what_it_holds(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 2_000_000)
    with pytest.raises(UnveilError, match="holds more than 1 MB when decompressed"):
        unveil.read(path, max_size="1MB")


# ---- memory for reading

_MEASURE = """
import re, sys, pathlib, unveil
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
kind, tiny, large = sys.argv[1:]
unveil.read(tiny, kind)
before = peak()
unveil.read(large, kind)
print((peak() - before) / pathlib.Path(large).stat().st_size)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the operating system does not tell peak memory")
@pytest.mark.parametrize(
    ("kind", "name", "tiny", "large"),
    [
        ("transactions", "blank.dat", "a b\n\nc\n", "a b\n" + "\n" * 8_000_000),
        ("transactions", "array.jsonl", '["a"]\n["b"]\n', '["a"]\n' + json.dumps([f"{k:08}" for k in range(600_000)])),
        ("transactions", "line.dat", "a b\nc\n", "a b c d " * 1_000_000),
        ("graph", "hex.edges", "a b\nb c\n", "".join(f"{k * 7919 % 2**28:07x} {k:07x}\n" for k in range(500_000))),
    ],
    ids=["blank lines", "a long JSON array", "a long line", "edges of many nodes"],
)
def test_reading_took_many_times_the_size_of_the_file(
    tmp_path: Path, kind: str, name: str, tiny: str, large: str
) -> None:
    paths = [tmp_path / f"tiny-{name}", tmp_path / name]
    for path, text in zip(paths, (tiny, large), strict=True):
        path.write_text(text)
    run = subprocess.run(
        [sys.executable, "-c", _MEASURE, kind, *map(str, paths)], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) < 6  # 4, and some room: what does not depend on the size weighs more in a small file
