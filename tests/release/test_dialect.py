"""How a text table is written is found out right, or the file is refused in one line."""

from __future__ import annotations

import codecs
import functools
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.dialect import check_column_names, inspect_dialect, stream_utf8

CANARY = "Xk7canary"


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(UnveilError) as caught:
        inspect_dialect(path, **options)
    said = str(caught.value)
    assert "\n" not in said
    assert CANARY not in said
    return said


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted", [True, False])
def test_finds_the_delimiter(tmp_path: Path, delimiter: str, end: str, quoted: bool) -> None:
    rows = [["name", "zip code", "n"], ["Ann; or | so", "01234", "1,5"], ["Bob", "1.50", ""]]
    mark = '"' if quoted else ""
    if not quoted:
        rows[1][0] = "Ann"
        rows[1][2] = "1.5"
    path = tmp_path / "t.txt"
    path.write_bytes(end.join(delimiter.join(mark + v + mark for v in row) for row in rows).encode())
    found = inspect_dialect(path)
    assert (found.delimiter, found.names, found.rows) == (delimiter, ("name", "zip code", "n"), 2)
    assert not found.needs_rewrite


def test_prefers_what_the_name_says(tmp_path: Path) -> None:
    for name, delimiter in (("t.csv", ","), ("t.tsv", "\t"), ("t.csv.gz", ",")):
        (tmp_path / name).write_text("a,b\tc\n1,2\t3\n")
        assert inspect_dialect(tmp_path / name).delimiter == delimiter


def test_one_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age\n1\n2\n")
    assert inspect_dialect(path).names == ("age",)
    path.write_text("remark\nyes, well\n")
    assert "line 2 has 2 values instead of 1" in refused(path)
    assert inspect_dialect(path, delimiter=";").rows == 1


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ],
)
def test_encoding_by_byte_order_mark(tmp_path: Path, encoding: str, bom: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(bom + '"näme",b\n"ü\n",2\n'.encode(encoding))
    assert inspect_dialect(path).names == ("näme", "b")


@pytest.mark.parametrize("encoding", ["latin-1", "CP1252", "utf-16", "utf-16-le", "utf_8_sig", "shift_jis", "utf-32"])
def test_encoding_given(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    name = "ｶﾅ表" if encoding == "shift_jis" else "Größe"
    path.write_bytes(f"{name},b\n1,2\n".encode(encoding))
    assert inspect_dialect(path, encoding=encoding).names == (name, "b")


@pytest.mark.parametrize("encoding", ["klingon", "", "rot13", "base64", "hex", "undefined", "a\0b", "\n", "zlib"])
def test_unknown_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    assert "unknown encoding" in refused(path, encoding=encoding)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_bytes_that_are_not_text(tmp_path: Path, end: bytes, packed: bool) -> None:
    path = tmp_path / "t.csv"
    data = b"a,b" + end + b'"1' + end + b'2",3' + end + CANARY.encode() + b"\xe9,4" + end
    path.write_bytes(gzip.compress(data) if packed else data)
    assert refused(path).startswith("t.csv: line 4 is not utf-8 text; pass its encoding with --encoding")
    assert inspect_dialect(path, encoding="latin-1").rows == 2


def test_nul_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\r\n1,2\r\n" + CANARY.encode() + b"\0,4\r\n")
    assert "line 3 holds a NUL byte" in refused(path)
    path.write_bytes("a,b\n1,2\n".encode("utf-16-le"))
    assert "pass --encoding" in refused(path)
    path.write_bytes("a,b\n1,\0\n".encode("utf-16"))
    assert "line 2 holds a NUL byte" in refused(path)


def test_cut_character_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,é".encode()[:-1])
    assert "line 2 is not utf-8 text" in refused(path)
    path.write_bytes("a,b\n1,2\n3,4".encode("utf-16")[:-1])
    assert "line 3 is not utf-16 text" in refused(path)


@settings(deadline=None, max_examples=100)
@given(
    st.text(alphabet="aé€😀\n,", max_size=20),
    st.integers(1, 5),
    st.sampled_from(["utf-8", "utf-16", "cp1252", "gb18030"]),
)
def test_chunks_that_cut_characters(tmp_path_factory: Any, text: str, size: int, encoding: str) -> None:
    path = tmp_path_factory.getbasetemp() / "chunks.csv"
    path.write_bytes(text.encode(encoding, "replace"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_file, "_CHUNK", size)
        assert b"".join(stream_utf8(path, encoding)).decode() == text.encode(encoding, "replace").decode(encoding)


@pytest.mark.parametrize("packed", [False, True])
def test_line_numbers_beyond_the_first_chunk(tmp_path: Path, packed: bool) -> None:
    """Characters of three bytes and rows of 17 lie across every edge of a chunk of 4 MiB."""
    row = '"€\r\n€€",€\r\n'.encode()
    n = (2 * source_file._CHUNK) // len(row) + 1000
    for bad, said in (
        (b"1\r\n", "has 1 value instead of 2"),
        (b"\xff,1\r\n", "is not utf-8 text"),
        (b"1,\0\r\n", "holds a NUL byte"),
    ):
        data = b"a,b\r\n" + row * n + bad + row
        path = tmp_path / "t.csv"
        path.write_bytes(gzip.compress(data, 1) if packed else data)
        assert f"line {2 * n + 2:,} {said}" in refused(path)  # fmt: skip


@pytest.mark.parametrize("delimiter", ["", ",,", "\n", "\r", "\0", "a", "7", '"', "é"])
def test_impossible_delimiter(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    said = refused(path, delimiter=delimiter)
    assert "delimiter" in said or "quote" in said


@pytest.mark.parametrize("quote", ["''", "\n", "\0", " ", "a", ";", "«"])
def test_impossible_quote(tmp_path: Path, quote: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n")
    assert "quote" in refused(path, quote=quote, delimiter=";")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "the file is empty"),
        (b"\n\r\n\n", "the file is empty"),
        (codecs.BOM_UTF8, "the file is empty"),
        (b"a,b,a\n1,2,3\n", "columns 1 and 3 have the same name; rename one"),
        (b"a,b, a \n1,2,3\n", "columns 1 and 3 have the same name; rename one"),
        (b"a,,b\n1,2,3\n", "column 2 has no name; give it one"),
        (b'a," ",b\n1,2,3\n', "column 2 has no name; give it one"),
        (b"a,b,\n1,2,\n", "column 3 has no name; give it one"),
        (b'"a,b\n1,2\n', "line 1 has a quote that is not closed"),
        (b'"a"b,c\n1,2\n', "line 1 has text after a closing quote"),
    ],
)
def test_refused_headers(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    assert refused(path).startswith(f"t.csv: {said}")


def test_hostile_names_are_shown_harmless(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"x\x1b[31m\n","x\x1b[31m\n"\n1,2\n')
    assert "\x1b" not in refused(path)
    assert inspect_dialect(path, header=False).names == ("column 1", "column 2")


def test_names_that_differ_in_case(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('age,Age,"AGE "\n1,2,3\n')
    assert inspect_dialect(path).names == ("age", "Age", "AGE")


def test_header_with_spaces_before_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a, "b, c" ,"d"\n1, "2, 3" ,4\n')
    assert inspect_dialect(path).names == ("a", "b, c", "d")


def test_number_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for n in (10_000, 20_000):
        path.write_text(",".join(f"column number {i}" for i in range(n)) + "\n" + ",".join("1" * n) + "\n")
        if n == 10_000:
            assert len(inspect_dialect(path).names) == n
        else:
            assert refused(path) == "t.csv: 20,000 columns are too many; keep at most 10,000"


def test_header_longer_than_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a" * (3 << 20) + ",b\n1,2\n")
    assert [len(n) for n in inspect_dialect(path).names] == [3 << 20, 1]
    path.write_text('"' + "a\n" * (1 << 20) + '",b\n1,2\n')
    assert [len(n) for n in inspect_dialect(path).names] == [(2 << 20) - 1, 1]


def test_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1," + b"x" * (1 << 25), 1))
    assert "a row is longer than 16,777,216 bytes" in refused(path)


def test_notes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\r\n1, x\n")
    notes = " ".join(inspect_dialect(path).notes)
    assert "lines end in different ways" in notes
    assert "begin or end with spaces" in notes
    path.write_bytes(b"a, b\r\n1,x y\r\n")
    assert inspect_dialect(path).notes == ()


def test_field_limit_of_the_csv_module_is_not_lowered(tmp_path: Path) -> None:
    import csv

    before = csv.field_size_limit()
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    inspect_dialect(path)
    assert csv.field_size_limit() >= before


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(st.sampled_from([b"a", b",", b'"', b"\n", b"\r", b"\0", b"\xff", b" "])).map(b"".join),
        st.binary(max_size=20).map(lambda b: b"\x1f\x8b" + b),
        st.binary(max_size=20).map(functools.partial(gzip.compress, mtime=0)),
        st.binary(max_size=20).map(lambda b: pa.compress(b, codec="zstd", asbytes=True)),
    ),
    st.sampled_from([None, "utf-8", "latin-1", "utf-16", "utf-7", "unicode_escape", "idna", "punycode", "iso2022_jp"]),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")
def test_any_bytes(tmp_path_factory: Any, data: bytes, encoding: str | None) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.csv"
    path.write_bytes(data)
    try:
        said = f"junk.csv: {inspect_dialect(path, encoding=encoding).rows} rows"
    except UnveilError as error:
        said = str(error)
    assert said.startswith("junk.csv: ")
    assert "\n" not in said


def test_checked_names() -> None:
    assert check_column_names("f", ("a", "A", "<script>")) == ("a", "A", "<script>")
    with pytest.raises(UnveilError, match="no columns"):
        check_column_names("f", ())


@pytest.mark.parametrize(
    ("text", "delimiter", "said"),
    [
        (
            "a;b;c\n1;2;3\n4;5;6\n",
            ",",
            'semicolons divide each of the first 3 lines into 3 values; pass --delimiter ";"',
        ),
        ("a,b\n1,2\n", ";", 'commas divide each of the first 2 lines into 2 values; pass --delimiter ","'),
        ("a\tb\n1\t2\n", ",", r'tabs divide each of the first 2 lines into 2 values; pass --delimiter "\t" if'),
        ("a b c\n1 2 3\n", None, 'spaces divide each of the first 2 lines into 3 values; pass --delimiter " "'),
        ("a:b\n1:2\n", None, "colons divide"),
    ],
)
def test_a_wrong_delimiter_passed_unnoticed(tmp_path: Path, text: str, delimiter: str | None, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    (note,) = inspect_dialect(path, delimiter=delimiter, header=True).notes
    assert note.startswith("read as a single column, but ") and said in note


@pytest.mark.parametrize(
    "text", ["time\n12:30\n9:15\n", "name\nLee, Ann\nLi, Bo\n", "a;b;c\n1\n2;3\n", "full name\nAnn\n"]
)
def test_a_single_column_is_not_suspected_without_reason(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert inspect_dialect(path, delimiter="|", header=True).notes == ()


def test_stripping_spaces_hid_the_note_about_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1, 2\r\n3,4\n")
    assert inspect_dialect(path, strip=True).notes == ("lines end in different ways; all were read as line ends",)
