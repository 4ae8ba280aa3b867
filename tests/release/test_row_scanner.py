"""Rows of a delimited text: the compiled scan agrees with the csv module, whatever the chunks."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference.naive_table import naive_table

from unveil.release.row_scanner import RowScanner

TEXT = st.text(alphabet='ab,"\n\r', max_size=30)


def fed(text: str, width: int, size: int = 1 << 20, skip: int = 0) -> tuple[RowScanner, bytes]:
    rows, data, kept = RowScanner(width, skip=skip), text.encode(), b""
    for i in range(0, len(data), size):
        kept += rows.feed(data[i : i + size])
    return rows, kept + rows.close()


@settings(deadline=None, max_examples=500)
@given(st.sampled_from(["x", "x,y", "x,y,z"]), st.sampled_from(["\n", "\r", "\r\n"]), TEXT, st.integers(1, 9))
@example("x,y", "\n", '1,2,,\n"a" "b,c"', 3)
@example("x", "\n", '"\r', 1)
def test_agrees_with_csv(head: str, end: str, body: str, size: int) -> None:
    text = head + end + body
    expected = naive_table(text)
    rows, kept = fed(text, head.count(",") + 1, size)
    assert (rows.describe_problems() == "") == (expected is not None)
    if expected is not None:
        assert rows.row_count == len(expected)
        assert naive_table(kept.decode()) == expected
        assert fed(kept.decode(), head.count(",") + 1)[0].has_mixed_line_ends is False


@settings(deadline=None, max_examples=200)
@given(TEXT, st.integers(1, 9))
def test_chunks_make_no_difference(body: str, size: int) -> None:
    whole, kept = fed("x,y\n" + body, 2, skip=1)
    parts, pieces = fed("x,y\n" + body, 2, size, skip=1)
    assert kept == pieces
    assert (
        whole.row_count,
        whole.describe_problems(),
        whole.has_mixed_line_ends,
        whole.has_odd_layout,
        whole.has_inner_newline,
        whole.longest_row,
    ) == (
        (
            parts.row_count,
            parts.describe_problems(),
            parts.has_mixed_line_ends,
            parts.has_odd_layout,
            parts.has_inner_newline,
            parts.longest_row,
        )
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a,b\n1\n", "line 2 has 1 value instead of 2"),
        ("a,b\n1,2,3", "line 2 has 3 values instead of 2"),
        ("a,b\n1,2,\n", "line 2 has 3 values instead of 2"),
        ('a,b\n"x\r\ny\n",2\n3\n', "line 5 has 1 value instead of 2"),
        ('a,b\r"x\ry",2\r3\r', "line 4 has 1 value instead of 2"),
        ('a,b\n1,2\n"x\n"\n', "line 3 has 1 value instead of 2"),
        ("\n\na,b\n\n1\n", "line 5 has 1 value instead of 2"),
        ('a,b\n"x"y,2\n', "line 2 has text after a closing quote"),
        ('a,b\n"x" "y,2\n', "line 2 has text after a closing quote"),
        ('a,b\n1,2\n3,"4\n5,6\n', "line 3 has a quote that is not closed"),
        ('a,b\n"1\n2","', "line 3 has a quote that is not closed"),
        ("a,b\n1\n\n3\n", "line 2 has 1 value instead of 2; line 4 has 1 value instead of 2"),
        ("a,b\n" + "1\n" * 4, "; ".join(f"line {n} has 1 value instead of 2" for n in (2, 3, 4)) + " and more"),
    ],
)
def test_says_which_line(text: str, wrong: str) -> None:
    assert fed(text, 2)[0].describe_problems() == wrong


def test_spaces_around_quotes_are_dropped() -> None:
    rows, kept = fed('a,b\n "x,\ny" ,  "" \n z , "" ', 2, size=3)
    assert kept == b'a,b\n"x,\ny",""\n z ,""\n'
    assert rows.has_odd_layout


def test_spaces_at_the_very_end_are_kept() -> None:
    assert fed("a,b\n1,  ", 2, size=2)[1] == b"a,b\n1,  \n"


@pytest.mark.parametrize(
    ("text", "mixed", "odd", "inner"),
    [
        ("a,b\n1,2\n", False, False, False),
        ("a,b\r\n1,2\r\n", False, False, False),
        ("a,b\r\n1,2\n", True, False, False),
        ("a,b\r1,2\n", True, False, False),
        ('a,b\r\n"1\n",2\r\n', False, False, True),
        ('"a\n",b\r\n1,2\r\n', False, True, True),
        ("\na,b\n1,2\n", False, True, False),
    ],
)
def test_line_ends(text: str, mixed: bool, odd: bool, inner: bool) -> None:
    rows, _ = fed(text, 2, size=1)
    assert (rows.has_mixed_line_ends, rows.has_odd_layout, rows.has_inner_newline) == (mixed, odd, inner)


@pytest.mark.parametrize("quote", ["'", ""])
def test_other_marks(quote: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter="|", quotechar="'", lineterminator="\n").writerows([["a", "b"], ["it's", 'x"y']])
    rows = RowScanner(2, "|", quote)
    rows.feed(text.getvalue().encode())
    rows.close()
    assert (rows.row_count, rows.describe_problems()) == (2, "")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a place where nobody can write")
def test_nowhere_to_keep_compiled_code() -> None:
    script = "from unveil.release.row_scanner import RowScanner; print(RowScanner(1).feed(b'a\\r'))"
    where = {**os.environ, "NUMBA_CACHE_DIR": "/proc/nowhere"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=where)
    assert done.stdout == "b'a\\n'\n"
