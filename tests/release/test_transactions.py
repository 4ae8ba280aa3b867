"""Baskets: what is read is what a slow reader reads, and what is written reads back."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reference.naive_text import naive_fimi, naive_lines
from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release import text_tokens as texts
from unveil.release.transactions import (
    Transactions,
    read_fimi,
    read_jsonl,
    read_long,
    write_fimi,
    write_jsonl,
    write_long,
)

quick = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
readers = pytest.mark.parametrize("reader", [read_fimi, read_jsonl, read_long])

words = st.text(st.characters(codec="utf-8", exclude_characters="\0 \t\v\f\r\n\ufeff"), min_size=1, max_size=3)
labels = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
fimi_text = st.text(st.sampled_from("012 \t\r\n#é,"), max_size=60)


def baskets_of(tx: Transactions) -> list[list[str]]:
    texts = tx.labels.take(pa.array(tx.items)).to_pylist()
    return [texts[a:b] for a, b in zip(tx.indptr[:-1], tx.indptr[1:], strict=True)]


def saved(folder: Path, data: bytes | str, name: str = "shop.dat") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def refusal(reader: Callable[..., Transactions], path: Path, **options: str) -> str:
    with pytest.raises(UnveilError) as caught:
        reader(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


# ---- FIMI


def test_fimi_by_hand(tmp_path: Path) -> None:
    tx = read_fimi(saved(tmp_path, "1 01 2\n\n2 2\t3 \r\n1"))
    assert baskets_of(tx) == [["1", "01", "2"], ["2", "3"], ["1"]]
    assert tx.labels.to_pylist() == ["01", "1", "2", "3"]
    assert tx.notes == ("1 empty basket dropped", "1 repeated item in a basket counted once")
    assert tx.counts.tolist() == [1, 2, 2, 1]
    assert (tx.baskets, tx.name, tx.kind) == (3, "shop.dat", "transactions")


@quick
@given(fimi_text)
@example("1 2\r\r\n3")
@example("\n1")
@example("1\n\r2")
@example("1")
def test_fimi_equals_reference(tmp_path: Path, text: str) -> None:
    expected = naive_fimi(text)
    path = saved(tmp_path, text)
    if not expected.baskets:
        assert "no baskets" in refusal(read_fimi, path)
        return
    tx = read_fimi(path)
    assert baskets_of(tx) == expected.baskets
    assert tx.counts.tolist() == [Counter(i for b in expected.baskets for i in b)[x] for x in tx.labels.to_pylist()]
    assert any("empty" in note for note in tx.notes) == (expected.empty > 0)
    assert any(note.startswith(f"{expected.repeated} repeated") for note in tx.notes) == (expected.repeated > 0)


@quick
@given(fimi_text, st.booleans(), st.integers(0, 3))
def test_tokens_with_limit_comments_and_wide_offsets(text: str, comments: bool, limit: int) -> None:
    lines = [line.replace("\t", " ").split(" ") for line in naive_lines(text)]
    lines = [[word for word in line if word] for line in lines]
    lines = [[] if comments and line and line[0][0] in "#%" else line for line in lines]
    for wide in (False, True):
        found = texts.split_tokens(text.encode(), comments=comments, limit=limit, wide=wide)
        assert found.texts.to_pylist() == [word for line in lines for word in line[: limit or None]]
        assert found.widths.tolist() == [len(line) for line in lines]
        assert pa.types.is_large_string(found.texts.type) == wide
        assert texts.encode_texts([found.texts])[1].type == pa.string()


def test_byte_order_mark_and_compression(tmp_path: Path) -> None:
    plain = b"\xef\xbb\xbfa b\nb c\n"
    path = saved(tmp_path, gzip.compress(plain), "shop.dat.gz")
    tx = read_fimi(path)
    assert baskets_of(tx) == [["a", "b"], ["b", "c"]]
    assert tx.digest == hashlib.sha256(path.read_bytes()).hexdigest()


# ---- what is not text


@readers
def test_not_text(tmp_path: Path, reader: Callable[..., Transactions]) -> None:
    assert "contains NUL bytes, so it is not a text file" in refusal(reader, saved(tmp_path, b"1 2\n\x00"))
    assert "contains NUL bytes" in refusal(reader, saved(tmp_path, "basket,item\n1,2\n".encode("utf-16")))
    assert "line 3 is not UTF-8" in refusal(reader, saved(tmp_path, b"1,2\r\n3,4\r\n\xff\n"))
    assert "no baskets" in refusal(reader, saved(tmp_path, b""))
    assert "no such file" in refusal(reader, tmp_path / "absent.dat")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_pieces_are_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(source_file, "_CHUNK", size)
    for text in ("ää\r\nö €\r\r\n\n𝄞", "a\rb\r\rc", "a b\r", "\r\n", ""):
        pieces = list(texts.text_pieces(saved(tmp_path, b"\xef\xbb\xbf" + text.encode())))
        assert b"".join(piece.data for piece in pieces).decode() == text
        lines = [line for piece in pieces for line in naive_lines(piece.data.decode())]
        assert lines == naive_lines(text)
        for piece, later in itertools.pairwise(pieces):
            assert later.lines_before == piece.lines_before + len(naive_lines(piece.data.decode()))


def test_utf8_is_checked_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_file, "_CHUNK", 4)
    good = "ääää\nöö€𝄞\n".encode() * 3
    for cut in range(len(good)):
        broken = good[:cut] + b"\xff" + good[cut:]
        assert f"line {1 + good[:cut].count(10):,} is not UTF-8" in refusal(read_fimi, saved(tmp_path, broken))
    assert "line 1 is not UTF-8" in refusal(read_fimi, saved(tmp_path, "€".encode()[:2]))


@quick
@given(st.binary(max_size=80), st.sampled_from([b"", b"basket,item\n", b'["a', b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]))
@readers
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, reader: Callable[..., Transactions], data: bytes, start: bytes
) -> None:
    path = saved(tmp_path, start + data)
    try:
        tx = reader(path)
    except UnveilError:
        refusal(reader, path)
        return
    assert 0 < tx.baskets <= len(tx.items)
    assert set(tx.items.tolist()) == set(range(len(tx.labels)))
    assert all(len(set(basket)) == len(basket) > 0 for basket in baskets_of(tx))


# ---- long CSV


@quick
@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(st.sampled_from('xy" ,;\t\n\ré'), max_size=3)), max_size=8))
@pytest.mark.parametrize("delimiter", ",;\t")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_long_equals_python_csv(tmp_path: Path, delimiter: str, end: str, rows: list[tuple[str, str]]) -> None:
    file = io.StringIO()
    if end == "\r\n":
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
    else:  # where lines end with \n, Python writes \r without quotes
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("basket", "item"), *rows])
    expected: dict[str, list[str]] = {}
    for basket, item in rows:
        expected.setdefault(basket, []).append(item)
    kept = [list(dict.fromkeys(item for item in items if item)) for items in expected.values()]
    path = saved(tmp_path, file.getvalue(), "shop.csv")
    if any(kept):
        assert baskets_of(read_long(path)) == [items for items in kept if items]
    else:
        assert "no baskets" in refusal(read_long, path)


def test_long_columns(tmp_path: Path) -> None:
    path = saved(tmp_path, "\n\nday,item,basket\n1,a,x\n\n1,b,x\n2,,x\n2,,y\n2,c,z")
    tx = read_long(path)
    assert baskets_of(tx) == [["a", "b"], ["c"]]
    assert tx.notes == ("2 empty items dropped", "1 empty basket dropped")
    assert baskets_of(read_long(path, basket="day")) == [["a", "b"], ["c"]]
    two = saved(tmp_path, "product;visit\r1;x\r2;x\r", "two.csv")
    assert baskets_of(read_long(two)) == [["x"], ["x"]]
    assert baskets_of(read_long(two, basket="visit")) == [["1", "2"]]
    assert baskets_of(read_long(two, item="product")) == [["1", "2"]]
    assert baskets_of(read_long(saved(tmp_path, "item,x\na,1\nb,1", "named.csv"))) == [["a", "b"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("basket,item\n1,a\n2\n", {}, "line 3 has 1 value where the header has 2"),
        ("basket,item\n1,a\n2,b,secret\n", {}, "line 3 has 3 values where the header has 2"),
        ('basket,item\n1,a\n2,"secret\n3,b\n', {}, "quote that is not closed"),
        ('basket,"item\n1,secret\n', {}, "quotes"),
        ("basket,item\n1,a\n,secret\n", {}, "data row 2 has no basket"),
        ("basket,item", {}, "no baskets"),
        ("basket,item\n", {}, "no baskets"),
        ("basket,item\n1,\n", {}, "no baskets"),
        ("basket\n1\n", {}, "expected a header"),
        ("a,b,c\n1,2,3\n", {}, "no column is called basket"),
        ("a,basket,c\n1,2,3\n", {}, "no column is called item"),
        ("a,b\n1,2\n", {"basket": "x"}, "no column is called x"),
        ("a,b\n1,2\n", {"basket": "a", "item": "a"}, "are the same"),
        ("item,item,basket\n1,2,3\n", {}, "several columns are called item"),
    ],
)
def test_long_refusals(tmp_path: Path, text: str, options: dict[str, str], message: str) -> None:
    told = refusal(read_long, saved(tmp_path, text, "shop.csv"), **options)
    assert message in told
    assert "secret" not in told


def test_long_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.release.transactions._MIN_BLOCK", 64)
    path = saved(tmp_path, "basket,item\n" + "".join(f'{k // 3},"two\nlines {k}"\n' for k in range(300)))
    assert baskets_of(read_long(path)) == [[f"two\nlines {k}" for k in range(b, b + 3)] for b in range(0, 300, 3)]
    monkeypatch.setattr("unveil.release.transactions._MAX_BLOCK", 4)
    assert "cannot be read as CSV" in refusal(read_long, path)


def test_long_with_an_inch_mark(tmp_path: Path) -> None:
    assert baskets_of(read_long(saved(tmp_path, 'basket,item\n1,5" pipe\n1,b\n'))) == [['5" pipe', "b"]]


# ---- JSON lines


def test_jsonl_by_hand(tmp_path: Path) -> None:
    text = '["a", 1, 1.50, true, null, ""]\r\n\n{"id": 7, "items": ["a", "a", "\\u00e9"]}\n[]\n[1e400, -0, NaN]'
    tx = read_jsonl(saved(tmp_path, text))
    assert baskets_of(tx) == [["a", "1", "1.50", "true"], ["a", "é"], ["1e400", "-0", "NaN"]]
    assert tx.notes == (
        "2 empty items dropped",
        "1 empty basket dropped",
        "1 repeated item in a basket counted once",
    )


@pytest.mark.parametrize(
    "line",
    ["secret", '"secret"', "{}", '{"items": "secret"}', "[[1]]", '[{"secret": 1}]', "[1", '["\\ud800"]', "[" * 100_000],
)
def test_jsonl_refusals(tmp_path: Path, line: str) -> None:
    told = refusal(read_jsonl, saved(tmp_path, f'["a"]\r\n\r\n{line}\n'))
    assert "line 3 is not a basket" in told
    assert "secret" not in told


@quick
@given(st.lists(st.lists(labels, max_size=4), max_size=5))
def test_jsonl_equals_json(tmp_path: Path, baskets: list[list[str]]) -> None:
    path = saved(tmp_path, "".join(json.dumps(basket) + "\n" for basket in baskets))
    if any(baskets):
        assert baskets_of(read_jsonl(path)) == [list(dict.fromkeys(basket)) for basket in baskets if basket]
    else:
        assert "no baskets" in refusal(read_jsonl, path)


# ---- writing, memory


def test_writers_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.release.transactions._BATCH", 2)
    tx = Transactions.from_baskets([["a", "b"], ["b"], ["c"], ["a"], ["d", "a"]])
    for write, text in (
        (write_fimi, b"a b\nb\nc\na\nd a\n"),
        (write_jsonl, b'["a", "b"]\n["b"]\n["c"]\n["a"]\n["d", "a"]\n'),
        (write_long, b'"basket","item"\n1,"a"\n1,"b"\n2,"b"\n3,"c"\n4,"a"\n5,"d"\n5,"a"\n'),
    ):
        file = io.BytesIO()
        write(tx, file)
        assert file.getvalue() == text


@quick
@given(st.data(), st.sampled_from([("fimi", words), ("jsonl", labels), ("long", labels)]))
def test_round_trip(tmp_path: Path, data: st.DataObject, way: tuple[str, st.SearchStrategy[str]]) -> None:
    write, read = {
        "fimi": (write_fimi, read_fimi),
        "jsonl": (write_jsonl, read_jsonl),
        "long": (write_long, read_long),
    }[way[0]]
    tx = Transactions.from_baskets(
        data.draw(st.lists(st.lists(way[1], min_size=1, max_size=4), min_size=1, max_size=4))
    )
    file = io.BytesIO()
    write(tx, file)
    back = read(saved(tmp_path, file.getvalue()))
    assert baskets_of(back) == baskets_of(tx)
    assert back.notes == ()
    assert back.labels.equals(tx.labels)
    assert np.array_equal(back.items, tx.items)


@pytest.mark.parametrize("label", ["a b", "a\tb", "a\n", "a\r", "\ufeffa", "\0"])
def test_fimi_cannot_hold_blanks(label: str) -> None:
    file = io.BytesIO()
    with pytest.raises(UnveilError, match="JSON lines"):
        write_fimi(Transactions.from_baskets([[label]]), file)
    assert file.getvalue() == b""


def test_csv_cannot_hold_nul() -> None:
    with pytest.raises(UnveilError, match="JSON lines"):
        write_long(Transactions.from_baskets([["\0"]]), io.BytesIO())


def test_from_baskets() -> None:
    tx = Transactions.from_baskets([[1, "1", 2.5, True, None, float("nan")], (np.int64(2),), set()], name="x")
    assert baskets_of(tx) == [["1", "2.5", "true"], ["2"]]
    assert tx.notes[0] == "2 empty items dropped"
    assert tx.digest != Transactions.from_baskets([["1", "2.5", "true"], ["3"]]).digest
    assert tx.digest == Transactions.from_baskets([["1", "2.5", "true"], ["2"]], name="y").digest


@pytest.mark.parametrize("baskets", [[], [[]], [[""]], ["abc"], [b"abc"], [[["a"]]], [5], 5, [["\ud800"]]])
def test_from_baskets_refusals(baskets: object) -> None:
    with pytest.raises(UnveilError, match=r"^bag: "):
        Transactions.from_baskets(baskets, name="bag")  # type: ignore[arg-type]


def test_repr_shows_no_labels_and_arrays_are_frozen() -> None:
    tx = Transactions.from_baskets([["secret", "secret"], ["other"]], name="shop\x1b")
    assert repr(tx).splitlines() == [
        "Transactions shop�",
        "  2 baskets of 2 distinct items, 2 entries",
        "  1 repeated item in a basket counted once",
    ]
    with pytest.raises(ValueError, match="read-only"):
        tx.items[0] = 1


def test_import_is_light() -> None:
    code = (
        "import sys, types; package = types.ModuleType('unveil.release');"
        "import importlib.util as u; root = u.find_spec('unveil').submodule_search_locations[0];"
        "top = types.ModuleType('unveil'); top.__path__ = [root]; sys.modules['unveil'] = top;"
        "package.__path__ = [root + '/release']; sys.modules['unveil.release'] = package;"
        "import unveil.release.transactions, unveil.release.graph;"
        "print(sorted({'numba', 'pyarrow', 'networkx'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
