"""Hierarchies of values: read, built, checked and measured as a slow reading of their rows says."""

from __future__ import annotations

import codecs
import datetime as dt
import gzip
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import UnveilError
from unveil.release.generalised_labels import Interval, mask_matches, parse_interval
from unveil.release.hierarchy import Hierarchy

ILLNESSES = [
    ("flu", "viral", "lungs", "*"),
    ("asthma", "other", "lungs", "*"),
    ("bronchitis", "other", "lungs", "*"),
    ("ulcer", "sore", "stomach", "*"),
    ("gastritis", "sore", "stomach", "*"),
]
ADULT = {
    "age": (100, [20, 10, 5, 1]),
    "education": (16, [5, 3, 1]),
    "marital-status": (7, [2, 1]),
    "native-country": (41, [5, 1]),
    "occupation": (14, [3, 1]),
    "race": (5, [1]),
    "salary-class": (2, [1]),
    "sex": (2, [1]),
    "workclass": (8, [3, 1]),
}
TEXT = st.text("ab1*; ,é\t\"'\n-", max_size=4)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Rows in which each level is a function of the one below, with labels that may stand on several levels."""
    values = draw(st.lists(TEXT, min_size=1, max_size=12, unique=True))
    rows = [[v] for v in values]
    for _ in range(draw(st.integers(1, 4))):
        labels = st.sampled_from(["A", "B", "C", "a", "b", "*"])
        above: dict[str, str] = {}
        for row in rows:
            if row[-1] not in above:
                above[row[-1]] = draw(labels)
            row.append(above[row[-1]])
    return [tuple(row) for row in rows]


def naive_rows(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows with the root that an unfinished hierarchy gets."""
    return rows if len({row[-1] for row in rows}) == 1 else [(*row, "*") for row in rows]


def naive_level(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a == b)


def naive_covers(rows: list[tuple[str, ...]], label: str) -> list[int]:
    return [i for i, row in enumerate(rows) if label in row or label == "*"]


def contains(interval: Interval, number: float) -> bool:
    above = number > interval.low or (interval.low_closed and number == interval.low)
    return above and (number < interval.high or (interval.high_closed and number == interval.high))


def refused(doing: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(UnveilError) as caught:
        doing(*arguments, **options)
    said = str(caught.value)
    assert "\n" not in said and "\x1b" not in said
    return said


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def written(text: str | bytes) -> Path:
        path = tmp_path / "h.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def levels_of(hierarchy: Hierarchy) -> list[list[str]]:
    places = np.arange(len(hierarchy.values), dtype=np.int32)
    return [
        hierarchy.labels(level).take(pa.array(hierarchy.generalise(places, level))).to_pylist()
        for level in range(hierarchy.height + 1)
    ]


# What a hierarchy says


def test_by_hand() -> None:
    h = Hierarchy.from_rows(ILLNESSES)
    assert h.height == 3
    assert h.values.to_pylist() == ["flu", "asthma", "bronchitis", "ulcer", "gastritis"]
    assert [h.labels(level).to_pylist() for level in (1, 2, 3)] == [
        ["viral", "other", "sore"],
        ["lungs", "stomach"],
        ["*"],
    ]
    assert [level.codes.tolist() for level in h.levels] == [[0, 1, 1, 2, 2], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]
    assert [h.parents(level).tolist() for level in (0, 1, 2)] == [[0, 1, 1, 2, 2], [0, 0, 1], [0, 0]]
    one = np.arange(5, dtype=np.int32)
    assert h.lowest_common_level(one[:, None], one).tolist() == [
        [0, 2, 2, 3, 3],
        [2, 0, 1, 3, 3],
        [2, 1, 0, 3, 3],
        [3, 3, 3, 0, 1],
        [3, 3, 3, 1, 0],
    ]
    assert h.distance(one, one[::-1]).tolist() == [1, 1, 0, 1, 1]
    assert float(h.distance(np.int32(0), np.int32(1))) == 2 / 3
    indptr, leaves = h.leaves_under(2)
    assert (indptr.tolist(), leaves.tolist()) == ([0, 3, 5], [0, 1, 2, 3, 4])
    assert h.covered_values("other").tolist() == [1, 2]
    assert h.covered_values("flu").tolist() == [0]
    assert repr(h) == "Hierarchy hierarchy: 5 values, then 3, 2 and 1 labels"


def test_distance_in_a_tree_of_diseases() -> None:
    """Height 3: flu is 1/3 away from another infection, 2/3 from another disease of the lungs, 3/3 from all else."""
    h = Hierarchy.from_rows(
        [
            ["flu", "respiratory infection", "respiratory system", "*"],
            ["bronchitis", "respiratory infection", "respiratory system", "*"],
            ["pulmonary embolism", "vascular lung disease", "respiratory system", "*"],
            ["stomach cancer", "stomach disease", "digestive system", "*"],
        ]
    )
    flu, *others = h.codes(["flu", "bronchitis", "pulmonary embolism", "stomach cancer"])
    assert h.distance(flu, np.array(others)).tolist() == [1 / 3, 2 / 3, 1]


def test_several_tops_get_a_root() -> None:
    h = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    assert h.height == 2
    assert list(h.rows()) == [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]
    assert h.distance(np.array([0, 0]), np.array([1, 2])).tolist() == [0.5, 1.0]
    assert Hierarchy.from_rows([["a", "any"], ["b", "any"]]).labels(1).to_pylist() == ["any"]


def test_missing_is_a_value_of_its_own() -> None:
    h = Hierarchy.from_rows(ILLNESSES)
    codes = h.codes(["ulcer", None, "flu"])
    assert codes.dtype == np.int32
    assert codes.tolist() == [3, -1, 0]
    assert [h.generalise(codes, level).tolist() for level in range(4)] == [
        [3, -1, 0],
        [2, -1, 0],
        [1, -1, 0],
        [0, -1, 0],
    ]
    assert h.distance(codes, np.int32(-1)).tolist() == [1, 0, 1]


def test_label_on_several_levels() -> None:
    """A label that is also a value, and one that means more on a higher level."""
    h = Hierarchy.from_rows([["lungs", "lungs", "body"], ["flu", "lungs", "body"], ["x", "body", "body"]])
    assert h.covered_values("lungs").tolist() == [0, 1]
    assert h.covered_values("body").tolist() == [0, 1, 2]
    assert h.covered_values("*").tolist() == [0, 1, 2]
    assert h.covered_values("x").tolist() == [2]
    for label in ("", "Lungs", "y"):
        found = h.covered_values(label)
        assert found.dtype == np.int32 and len(found) == 0


@settings(deadline=None)
@given(trees())
@example([("a", "*")])
@example([("", "*"), ("*", "A")])
def test_as_the_rows_say(rows: list[tuple[str, ...]]) -> None:
    h = Hierarchy.from_rows(rows)
    expected = naive_rows(rows)
    n = len(rows)
    assert list(h.rows()) == expected
    assert [list(level) for level in zip(*expected, strict=True)] == levels_of(h)
    assert len(h.labels(h.height)) == 1
    one = h.codes([row[0] for row in rows])
    assert one.tolist() == list(range(n))
    common = h.lowest_common_level(one[:, None], one)
    assert common.dtype == np.int32
    assert common.tolist() == [[naive_level(a, b) for b in expected] for a in expected]
    for label in {cell for row in expected for cell in row} | {"*", "none"}:
        assert h.covered_values(label).tolist() == naive_covers(expected, label)
    for level in range(h.height + 1):
        indptr, leaves = h.leaves_under(level)
        assert (indptr.dtype, leaves.dtype) == (np.int64, np.int32)
        for code, label in enumerate(h.labels(level).to_pylist()):
            under = leaves[indptr[code] : indptr[code + 1]].tolist()
            assert under == [i for i, row in enumerate(expected) if row[level] == label]
        assert indptr[-1] == n


@settings(deadline=None)
@given(trees())
def test_generalisation_composes(rows: list[tuple[str, ...]]) -> None:
    h = Hierarchy.from_rows(rows)
    codes = np.arange(-1, len(rows), dtype=np.int32)
    climbed = codes
    for level in range(h.height):
        assert np.array_equal(h.generalise(codes, level), climbed)
        climbed = np.append(h.parents(level), np.int32(-1))[climbed]
        assert climbed.dtype == np.int32
    assert np.array_equal(h.generalise(codes, h.height), climbed)


@settings(deadline=None)
@given(trees())
def test_distance_is_an_ultrametric(rows: list[tuple[str, ...]]) -> None:
    h = Hierarchy.from_rows(rows)
    codes = np.arange(-1, len(rows), dtype=np.int32)
    d = h.distance(codes[:, None], codes)
    assert np.array_equal(d == 0, np.eye(len(codes), dtype=bool))
    assert np.array_equal(d, d.T)
    assert d.min() >= 0 and d.max() <= 1
    assert (d[:, None, :] <= np.maximum(d[:, :, None], d[None, :, :])).all()


@settings(deadline=None)
@given(trees(), st.randoms(use_true_random=False))
def test_round_trip_and_repeated_rows(rows: list[tuple[str, ...]], random: Any) -> None:
    h = Hierarchy.from_rows(rows)
    again = Hierarchy.from_rows([*h.rows(), *random.choices(list(h.rows()), k=3)])
    assert again.values.equals(h.values)
    assert len(again.levels) == len(h.levels)
    for one, other in zip(h.levels, again.levels, strict=True):
        assert np.array_equal(one.codes, other.codes)
        assert one.labels.equals(other.labels)


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        (pa.array([34, None, 7]), [["7", "x"], ["34", "x"]]),
        (pa.array([34.0, math.nan, 7.5]), [["7.5", "x"], ["34", "x"]]),
        (pa.array([True, None]), [["false", "x"], ["true", "x"]]),
        (pa.array([dt.date(1987, 6, 5)]), [["1987-06-05", "x"]]),
        (pa.array(["a", None, "b"]).dictionary_encode(), [["b", "x"], ["a", "x"]]),
        (pa.chunked_array([["a"], [], ["b", None]]), [["b", "x"], ["a", "x"]]),
        (pa.array([], pa.string()), [["b", "x"]]),
        (pa.array([None, None]), [["b", "x"]]),
        ([3, 4], [[4, "x"], [3, "y"]]),
        (np.array([3, 4]), [["3", "x"], ["4", "y"]]),
    ],
)
def test_columns_of_all_kinds(column: Any, rows: list[list[Any]]) -> None:
    h = Hierarchy.from_rows(rows)
    codes = h.codes(column)
    values = column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else column
    assert codes.dtype == np.int32
    for code, value in zip(codes.tolist(), values, strict=True):
        if code < 0:
            assert value is None or value != value
        else:
            assert h.values[code].as_py() == pa.array([value]).cast("string")[0].as_py()


def test_many_values() -> None:
    values = [f"{i:05}" for i in range(100_000)]
    h = Hierarchy.from_prefixes(values)
    assert [len(level.labels) for level in h.levels] == [10_000, 1_000, 100, 10, 1]
    assert h.codes(values[::-1]).tolist() == list(range(99_999, -1, -1))
    assert h.covered_values("123**").tolist() == list(range(12_300, 12_400))


# What is refused


def test_values_that_are_not_covered() -> None:
    h = Hierarchy.from_rows(ILLNESSES, name="illness.csv")
    h.codes(["flu", None, "ulcer", "flu"])
    assert refused(h.codes, ["flu", "cold", "cold"]) == (
        "illness.csv: the 2nd value is not in the hierarchy; add the missing values"
    )
    assert refused(h.codes, ["warts", "flu", "cold", "warts", "x\x1b[31m"]) == (
        "illness.csv: 3 values are not in the hierarchy, the first of them the 1st value; add the missing values"
    )
    assert "--strip" in refused(h.codes, [" flu", "ulcer"])
    assert "--strip" not in refused(h.codes, [" cold", "ulcer"])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "there are no values"),
        ([["a"], ["b"]], "there are values but no levels above them"),
        ([["a", "x", "*"], ["b", "*"]], "row 2 has 2 columns instead of 3"),
        ([["a", "x"], ["b", ""]], "row 2 has no label on level 1"),
        ([["a", "x", "*"], ["b", "x", None]], "row 2 has no label on level 2"),
        ([[None, "x"]], "row 1 has no value"),
        ([[1.0, "x"], [math.nan, "x"]], "row 2 has no value"),
        ([["a", "x", "*"], ["b", "x", "*"], ["a", "y", "*"]], "rows 1 and 3 have the same value but different labels"),
        ([["a", "x", "1"], ["b", "y", "1"], ["a", "x", "2"]], "rows 1 and 3 have the same value but different labels"),
        (
            [["a", "x", "1"], ["b", "y", "1"], ["c", "x", "2"]],
            "rows 1 and 3 have the same label on level 1 but different labels on level 2; put it under one",
        ),
        (
            [["a", "x", "u", "1"], ["b", "y", "v", "1"], ["c", "z", "v", "2"]],
            "rows 2 and 3 have the same label on level 2 but different labels on level 3; put it under one",
        ),
        ([["a", "x"], [1, "x"]], "the values are not all of one kind"),
        ([["\ud800", "x"]], "the values are not all of one kind"),
        ([[b"\xff", "x"]], "the values cannot be written as text"),
    ],
)
def test_refused_rows(rows: list[list[Any]], said: str) -> None:
    assert refused(Hierarchy.from_rows, rows, name="t").startswith(f"t: {said}")


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("ab")] * 4), min_size=1, max_size=5))
def test_refused_exactly_if_not_a_function(rows: list[tuple[str, ...]]) -> None:
    distinct = set(rows)
    nested = all(
        len({row[: level + 1][-1] for row in distinct if row[below] == key}) == 1
        for level in range(1, 4)
        for below in {0, level - 1}
        for key in {row[below] for row in distinct}
    )
    if nested:
        assert set(Hierarchy.from_rows(rows).rows()) == set(naive_rows(list(distinct)))
    else:
        assert "but different labels" in refused(Hierarchy.from_rows, rows)


def test_no_such_level() -> None:
    h = Hierarchy.from_rows(ILLNESSES)
    for doing in (h.labels, h.leaves_under, lambda level: h.generalise(np.array([0]), level)):
        for level in (-1, 4):
            assert refused(doing, level) == f"hierarchy: there is no level {level}; levels go from 0 to 3"
    assert "no level 4" in refused(h.parents, 3)


def test_hostile_text_is_shown_harmless() -> None:
    assert "\x1b" not in refused(Hierarchy.from_rows, [["a\x1b[31m", "x"], ["a\x1b[31m", "y"]], name="\x1b[31m")
    assert len(refused(Hierarchy.with_root_only(["b"]).codes, ["a" * 9999])) < 200


# Files


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_reads_what_was_written(write: Any, delimiter: str, end: str, last: bool) -> None:
    path = write(end.join(delimiter.join(row) for row in ILLNESSES) + end * last)
    for h in (Hierarchy.read(path), Hierarchy.read(str(path), delimiter=delimiter)):
        assert list(h.rows()) == ILLNESSES
        assert h.name == "h.csv"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1;[0, 5[;*\n6;[5, 10[;*\n", [("1", "[0, 5[", "*"), ("6", "[5, 10[", "*")]),
        ("a;{a, b, c};*\nb;{a, b, c};*\n", [("a", "{a, b, c}", "*"), ("b", "{a, b, c}", "*")]),
        ('"a, b",x;y\nc,"x;y"\n', [("a, b", "x;y"), ("c", "x;y")]),
        ('"a;""b""";*\n', [('a;"b"', "*")]),
        (' a ; "x y"; *\n\n  \nb;x y;*\n', [("a", "x y", "*"), ("b", "x y", "*")]),
        ("a;*\na;*\n", [("a", "*")]),
        (";*\na;*\n", [("", "*"), ("a", "*")]),
        ('"a\nb";*\n', [("a\nb", "*")]),
        ("only;one\n", [("only", "one")]),
    ],
)
def test_read_by_hand(write: Any, text: str, rows: list[tuple[str, ...]]) -> None:
    assert list(Hierarchy.read(write(text)).rows()) == rows


@pytest.mark.parametrize(
    "encoded",
    [
        "é;*\nb;*".encode(),
        codecs.BOM_UTF8 + "é;*\nb;*".encode(),
        codecs.BOM_UTF16_LE + "é;*\nb;*".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "é;*\nb;*".encode("utf-16-be"),
        gzip.compress("é;*\nb;*".encode(), mtime=0),
    ],
)
def test_encodings(write: Any, encoded: bytes) -> None:
    assert Hierarchy.read(write(encoded)).values.to_pylist() == ["é", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\r\n\n", "the file is empty"),
        (codecs.BOM_UTF8, "the file is empty"),
        (b"a;x;*\n\nb;*\n", "line 3 has 2 columns instead of 3; give every value a label on every level"),
        (b"a;x;*\nb;x;*;*\n", "line 2 has 4 columns instead of 3"),
        (b"a,x,*\nb,*\nc,*\n", "line 2 has 2 columns instead of 3"),
        (b"a;x;*\n\nb;;*\n", "line 3 has no label on level 1; write one, such as *"),
        (b"a;x;*\nb; ;*\n", "line 2 has no label on level 1"),
        (b"a\nb\n", "there are values but no levels above them; add a column of labels, or name the delimiter"),
        (b"a;*\nb;*\n\xe9;*\n", "line 3 is not UTF-8 text; save the file as UTF-8"),
        (b"a;*\rb\xe9;*\r", "line 2 is not UTF-8 text; save the file as UTF-8"),
        (codecs.BOM_UTF16_LE + "a;*\nb;*".encode("utf-16-le")[:-1], "line 2 is not UTF-8 text"),
        (b"a;*\nb\0;*\n", "line 2 holds a NUL byte; save the file as UTF-8 text"),
        ("a;*\n".encode("utf-16-le"), "line 1 holds a NUL byte"),
        (b'a;*\n"b;*\nc;*\n', "line 2 cannot be split into values; correct its quotes"),
        (b'a;*\n"b"c;*\n', "line 2 cannot be split into values; correct its quotes"),
        (b"a;x;*\nb;x;*\na;y;*\n", "lines 1 and 3 have the same value but different labels; keep one"),
        (b"a;x;1\nb;x;2\n", "lines 1 and 2 have the same label on level 1 but different labels on level 2"),
        (b"age;decade;all\n1;0-9;*\n11;10-19;*\n", "line 1 looks like column names; remove it"),
        (b"a;" + b"x" * 200_000 + b"\n", "line 1 cannot be split into values"),
        (b"%PDF-1.4", "is a PDF"),
    ],
)
def test_refused_files(write: Any, text: bytes, said: str) -> None:
    assert refused(Hierarchy.read, write(text)).startswith(f"h.csv: {said}")


def test_refused_delimiter_and_places(write: Any, tmp_path: Path) -> None:
    path = write("a;*\n")
    for delimiter in ("ab", "€€"):
        assert "name another delimiter" in refused(Hierarchy.read, path, delimiter=delimiter)
    assert "values but no levels" in refused(Hierarchy.read, path, delimiter=",")
    assert refused(Hierarchy.read, tmp_path / "none.csv").endswith("none.csv: no such file")
    assert "is a directory" in refused(Hierarchy.read, tmp_path)


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=40), st.text('ab;,*"\n\r |\t', max_size=30).map(str.encode)))
def test_any_bytes(tmp_path_factory: Any, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.csv"
    path.write_bytes(data)
    try:
        said = repr(Hierarchy.read(path)).removeprefix("Hierarchy ")
    except UnveilError as error:
        said = str(error)
    assert said.startswith("junk.csv: ")
    assert "\n" not in said


@pytest.mark.parametrize("column", ADULT)
def test_adult(data: Path, column: str) -> None:
    """The hierarchies that ARX gives with its copy of Adult cover all of it."""
    folder = data / "tables" / "adult-hierarchies"
    h = Hierarchy.read(folder / f"adult_hierarchy_{column}.csv")
    values, sizes = ADULT[column]
    assert (len(h.values), [len(level.labels) for level in h.levels]) == (values, sizes)
    table = unveil.read(folder / "adult.csv")
    codes = table.codes([column])[column]
    places = h.codes(codes.values)
    assert h.values.take(pa.array(places)).equals(codes.values)
    assert len(h.generalise(places[codes.codes], h.height)) == table.rows


# Builders


def test_flat() -> None:
    h = Hierarchy.with_root_only(["b", None, "a", "b"])
    assert list(h.rows()) == [("a", "*"), ("b", "*")]
    assert h.distance(np.array([0, 0]), np.array([0, 1])).tolist() == [0, 1]
    assert repr(h) == "Hierarchy hierarchy: 2 values, then 1 label"


def test_prefixes_by_hand() -> None:
    h = Hierarchy.from_prefixes(["81667", "81925"])
    assert list(h.rows()) == [
        ("81667", "8166*", "816**", "81***", "8****", "*"),
        ("81925", "8192*", "819**", "81***", "8****", "*"),
    ]
    assert list(Hierarchy.from_prefixes(["1", "123"], [2, 1]).rows()) == [
        ("1", "1**", "1**", "*"),
        ("123", "12*", "1**", "*"),
    ]
    assert list(Hierarchy.from_prefixes(["a", "b"]).rows()) == [("a", "*"), ("b", "*")]
    assert list(Hierarchy.from_prefixes(pa.array([12, 3])).rows()) == [("3", "3*", "*"), ("12", "1*", "*")]


@pytest.mark.parametrize("lengths", [[0], [3, 3], [1, 2], [2, -1]])
def test_refused_prefixes(lengths: list[int]) -> None:
    assert "must be in falling order" in refused(Hierarchy.from_prefixes, ["123"], lengths)


@settings(deadline=None)
@given(
    st.lists(st.text("01*é", max_size=6), min_size=1, max_size=15),
    st.one_of(st.none(), st.sets(st.integers(1, 7)).map(lambda s: sorted(s, reverse=True))),
)
def test_prefixes_nest_and_cover(values: list[str], lengths: list[int] | None) -> None:
    h = Hierarchy.from_prefixes(values, lengths)  # which checks that each level is a function of the one below
    h.codes(values)
    longest = max(1, *map(len, values))
    kept = lengths if lengths is not None else list(range(longest - 1, 0, -1))
    assert h.height == len(kept) + 1
    for row in h.rows():
        value, *labels, root = row
        assert root == "*"
        for label, n in zip(labels, kept, strict=True):
            assert label == value[:n] + "*" * (longest - len(value[:n]))
        assert all(mask_matches(label, value) for label in row)


def test_intervals_by_hand() -> None:
    h = Hierarchy.from_intervals([34, 7, 60, 61, None], [10, 20, [20, 60]])
    assert list(h.rows()) == [
        ("7", "0–9", "0–19", "<20", "*"),
        ("34", "30–39", "20–39", "20–59", "*"),
        ("60", "60–69", "60–79", "≥60", "*"),
        ("61", "60–69", "60–79", "≥60", "*"),
    ]
    assert list(Hierarchy.from_intervals(["-5", "3"], [5, 10], origin=-5).rows()) == [
        ("-5", "[-5, -1]", "[-5, 4]", "*"),
        ("3", "0–4", "[-5, 4]", "*"),
    ]
    assert list(Hierarchy.from_intervals(["3.0", "2"], [1, 2]).rows()) == [
        ("2", "2", "2–3", "*"),
        ("3.0", "3", "2–3", "*"),
    ]
    assert list(Hierarchy.from_intervals(["0.3", "2"], [0.1, "1.5"]).rows()) == [
        ("0.3", "[0.3, 0.4)", "[0, 1.5)", "*"),
        ("2", "[2, 2.1)", "[1.5, 3)", "*"),
    ]
    assert list(Hierarchy.from_intervals(["7"], [[5, 6, 8], [6]]).rows()) == [("7", "6–7", "≥6", "*")]
    assert list(Hierarchy.from_intervals(["1e3", "2000"], [np.float64(1000)]).rows()) == [
        ("1e3", "1000–1999", "*"),
        ("2000", "2000–2999", "*"),
    ]


@pytest.mark.parametrize(
    ("values", "steps", "options", "said"),
    [
        (
            ["1", "x", "y"],
            [5],
            {},
            "2 values are not numbers, the first of them the 2nd value; leave out other values",
        ),
        (["1", "?"], [5], {}, "the 2nd value is not a number"),
        (["1", "inf"], [5], {}, "the 2nd value is not a number"),
        (["1_0"], [5], {}, "the 1st value is not a number"),
        (["1e999999999"], [5], {}, "the 1st value is not a number"),
        (["1", "٣"], [5], {}, "the 2nd value is not a number"),
        (["1"], [], {}, "there are no intervals"),
        (["1"], [0], {}, "the width 0 is not above 0"),
        (["1"], [-2.5], {}, "the width -2.5 is not above 0"),
        (["1"], ["wide"], {}, "the width 'wide' is not a number"),
        (["1"], [math.nan], {}, "the width 'nan' is not a number"),
        (["1"], [5], {"origin": "here"}, "the origin 'here' is not a number"),
        (["1"], [10, 25], {}, "the width 25 is not a multiple of 10, the width before it"),
        (["1"], [10, 5], {}, "the width 5 is not a multiple of 10"),
        (["1"], [[]], {}, "cut points must be in rising order; give at least one"),
        (["1"], [[1, 1]], {}, "cut points must be in rising order"),
        (["1"], [[2, 1]], {}, "cut points must be in rising order"),
        (["1"], [[1, "x"]], {}, "the cut point 'x' is not a number"),
        (["1"], [10, [15]], {}, "the cut point 15 lies inside an interval of the level below"),
        (["1"], [10, [10]], {"origin": 5}, "the cut point 10 lies inside an interval of the level below"),
        (["1"], [[5, 10], [7]], {}, "the cut point 7 lies inside an interval of the level below"),
        (["1"], [[5, 10], 10], {}, "a width cannot come after cut points"),
        ([None], [5], {}, "there are no values"),
    ],
)
def test_refused_intervals(values: list[Any], steps: list[Any], options: dict[str, Any], said: str) -> None:
    assert refused(Hierarchy.from_intervals, values, steps, **options).startswith(f"hierarchy: {said}")


NUMBERS = st.one_of(
    st.integers(-300, 300).map(str), st.decimals(-99, 99, places=2).map(str), st.sampled_from(["1e2", "+7", "-0", ".5"])
)


@settings(deadline=None)
@given(
    st.lists(NUMBERS, min_size=1, max_size=15),
    st.sampled_from(["1", "5", "0.25", "2.5"]),
    st.lists(st.integers(1, 4), max_size=3),
    st.sampled_from(["0", "3", "-0.5"]),
    st.one_of(st.none(), st.sets(st.integers(-4, 4), min_size=1).map(sorted)),
)
def test_intervals_nest_and_cover(
    values: list[str], width: str, factors: list[int], origin: str, cuts: list[int] | None
) -> None:
    widths = [Fraction(width)]
    for factor in factors:
        widths.append(widths[-1] * factor)
    steps: list[Any] = [float(w) for w in widths]
    start = Fraction(origin)
    places = [start + c * widths[-1] for c in cuts or ()]
    if cuts:
        steps.append([float(p) for p in places])
    h = Hierarchy.from_intervals(values, steps, origin)  # which checks that each level is a function of the one below
    h.codes(values)
    assert h.height == len(steps) + 1
    for value, *labels, root in h.rows():
        assert root == "*"
        number = Fraction(value)
        for label, w in zip(labels, widths, strict=False):
            expected = start + (number - start) // w * w
            found = parse_interval(label)
            assert found is not None and contains(found, float(number)) and found.low == expected
            assert found.high == expected + w if not found.high_closed else found.high == expected + w - 1
        if cuts:
            found = parse_interval(labels[-1])
            assert found is not None and contains(found, float(number))
            below = [p for p in places if p <= number]
            assert found.low == (below[-1] if below else -math.inf)
    numbers = [Fraction(v) for v in h.values.to_pylist()]
    assert numbers == sorted(numbers)


def test_quarters_and_decades_were_no_levels_of_dates() -> None:
    h = Hierarchy.from_dates([dt.date(1987, 6, 5), dt.date(1987, 12, 1), None])
    assert list(h.rows()) == [
        ("1987-06-05", "1987-06", "1987 Q2", "1987", "1980s", "*"),
        ("1987-12-01", "1987-12", "1987 Q4", "1987", "1980s", "*"),
    ]
    assert list(Hierarchy.from_dates(["1987-06-05", "1987-06-05T10:00"]).rows()) == [
        ("1987-06-05", "1987-06-05", "1987-06", "1987 Q2", "1987", "1980s", "*"),
        ("1987-06-05T10:00", "1987-06-05", "1987-06", "1987 Q2", "1987", "1980s", "*"),
    ]
    assert Hierarchy.from_dates(pa.array([dt.datetime(1987, 6, 5, 1)])).labels(1).to_pylist() == ["1987-06-05"]


@given(st.lists(st.dates(), min_size=1, max_size=30))
def test_every_date_is_in_its_month_quarter_year_and_decade(days: list[dt.date]) -> None:
    for text, month, quarter, year, decade, _ in Hierarchy.from_dates(days).rows():
        day = dt.date.fromisoformat(text)
        assert (month, year) == (f"{day.year:04}-{day.month:02}", f"{day.year:04}")
        assert decade == f"{day.year // 10 * 10:04}s"
        year_of, number = quarter.split(" Q")
        assert year_of == year and day.month in range(3 * int(number) - 2, 3 * int(number) + 1)


@pytest.mark.parametrize("wrong", ["1987-02-30", "1987-6-5", "05.06.1987", "19870605", "1987-W01-1", "", "x"])
def test_refused_dates(wrong: str) -> None:
    said = refused(Hierarchy.from_dates, ["1987-06-05", wrong])
    assert said == "hierarchy: the 2nd value is not a date; write dates like 1987-06-05, or leave out other values"


@pytest.mark.parametrize("build", [Hierarchy.with_root_only, Hierarchy.from_prefixes, Hierarchy.from_dates])
@pytest.mark.parametrize("values", [[], [None], pa.array([], pa.string()), pa.array([math.nan])])
def test_nothing_to_build_from(build: Callable[[Iterable[Any]], Hierarchy], values: Iterable[Any]) -> None:
    assert refused(build, values) == "hierarchy: there are no values; give at least one that is not missing"


# Generalised values without a hierarchy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[20, 30)", (20, 30, True, False)),
        ("[20,30[", (20, 30, True, False)),
        ("]20;30]", (20, 30, False, True)),
        ("(20, 30)", (20, 30, False, False)),
        (" ( 20.5 ; 3e1 ] ", (20.5, 30, False, True)),
        ("[20-29]", (20, 29, True, True)),
        ("20-29", (20, 29, True, True)),
        ("20–29", (20, 29, True, True)),
        ("20 — 29", (20, 29, True, True)),
        ("20 to 29", (20, 29, True, True)),
        ("20..29", (20, 29, True, True)),
        ("20...29", (20, 29, True, True)),
        ("1.5..2.5", (1.5, 2.5, True, True)),
        ("-5–-1", (-5, -1, True, True)),
        ("-5-3", (-5, 3, True, True)),
        ("−5 – −1", (-5, -1, True, True)),
        ("[-5, -1]", (-5, -1, True, True)),
        ("≥ 60", (60, math.inf, True, False)),
        (">=60", (60, math.inf, True, False)),
        (">60", (60, math.inf, False, False)),
        ("60+", (60, math.inf, True, False)),
        ("<5", (-math.inf, 5, False, False)),
        ("<= 5", (-math.inf, 5, False, True)),
        ("≤5", (-math.inf, 5, False, True)),
        ("(-inf, 5]", (-math.inf, 5, False, True)),
        ("[-Inf,5)", (-math.inf, 5, False, False)),
        ("[60, ∞]", (60, math.inf, True, False)),
        ("34", (34, 34, True, True)),
        ("-.5", (-0.5, -0.5, True, True)),
        ("5-5", (5, 5, True, True)),
    ],
)
def test_interval_of(text: str, expected: tuple[float, float, bool, bool]) -> None:
    assert parse_interval(text) == Interval(*expected)


@pytest.mark.parametrize(
    "text",
    [
        *("", "*", "a", "41**", "20-", "-", "[20, 30", "20, 30", "20-29 years", "<>5", "٣", "1987-06-05", "1987-06"),
        *("30-20", "[30, 20]", "[5, 5)", "]5, 5[", "1e999", ">1e999", "inf", "[inf, inf]"),
        *("1" * 200, "1" * 99 + "x", "[" * 99),
    ],
)
def test_no_interval(text: str) -> None:
    assert parse_interval(text) is None


@given(st.integers(-5, 5), st.integers(0, 5), st.booleans(), st.booleans())
def test_holds(low: int, width: int, low_closed: bool, high_closed: bool) -> None:
    text = f"{'[' if low_closed else '('}{low}, {low + width}{']' if high_closed else ')'}"
    inside = [low + k / 2 for k in range(2 * width + 1)]
    inside = [x for x in inside if (x != low or low_closed) and (x != low + width or high_closed)]
    found = parse_interval(text)
    if found is None:
        assert not inside
    else:
        assert [k / 2 for k in range(-20, 30) if contains(found, k / 2)] == inside


def naive_matches(pattern: str, value: str) -> bool:
    """Drop stars at the end one after the other until the lengths agree, then compare."""
    if pattern == "*":
        return True
    while len(pattern) > len(value) and pattern.endswith("*"):
        pattern = pattern[:-1]
    return len(pattern) == len(value) and all(p == v or p == "*" for p, v in zip(pattern, value, strict=True))


@settings(max_examples=300)
@given(st.text("ab*", max_size=5), st.text("ab*", max_size=5))
@example("*", "ab")
@example("", "")
def test_mask_matches(pattern: str, value: str) -> None:
    assert mask_matches(pattern, value) == naive_matches(pattern, value)


@given(st.text(max_size=30))
def test_any_text_is_an_interval_or_none(text: str) -> None:
    found = parse_interval(text)
    assert found is None or found.low <= found.high
