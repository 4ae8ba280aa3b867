"""Excel, SPSS, Stata and SAS: files written by the libraries that others use, read back value by value."""

from __future__ import annotations

import datetime
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyreadstat
import pytest

import unveil
from unveil import Policy, Table, UnveilError
from unveil.release.foreign_columns import typed_column

DAY = datetime.date(1987, 6, 5)
MOMENT = datetime.datetime(2020, 1, 2, 10, 30)
PEOPLE = pd.DataFrame(
    {
        "age": [34.0, 99.0, None, 51.0],
        "sex": [1.0, 2.0, 1.0, 2.0],
        "income": [1.5, 2.0, None, 3.25],
        "zip": ["01234", "b", "", "d"],
        "birth": [DAY, DAY, None, datetime.date(1900, 1, 1)],
        "seen": pd.to_datetime([MOMENT, None, MOMENT, MOMENT]),
    }
)
LABELS = {"variable_value_labels": {"sex": {1: "f", 2: "m"}}}
WRITERS: dict[str, Callable[[Path], Any]] = {
    "t.sav": lambda path: pyreadstat.write_sav(PEOPLE, path, missing_ranges={"age": [99]}, **LABELS),
    "t.zsav": lambda path: pyreadstat.write_sav(PEOPLE, path, compress=True, missing_ranges={"age": [99]}, **LABELS),
    "t.por": lambda path: pyreadstat.write_por(PEOPLE, path),
    "t.dta": lambda path: pyreadstat.write_dta(PEOPLE, path, **LABELS),
    "t.xpt": lambda path: pyreadstat.write_xport(PEOPLE, path),
}


def read_table(path: Path, **options: Any) -> Table:
    table = unveil.read(path, **options)
    assert isinstance(table, Table)
    return table


def values(path: Path, **options: Any) -> dict[str, list[Any]]:
    table = read_table(path, **options)
    found: dict[str, list[Any]] = {name: [] for name in table.columns}
    for batch in table.batches():
        for name, column in batch.to_pydict().items():
            found[name] += column
    return found


def workbook(path: Path, rows: list[list[Any]], title: str = "People", **others: list[list[Any]]) -> Path:
    """A workbook with these rows on its first sheet."""
    made = openpyxl.Workbook()
    first = made.active
    assert first is not None
    first.title = title
    for sheet, content in [(first, rows), *((made.create_sheet(name), content) for name, content in others.items())]:
        for row in content:
            sheet.append(row)
    made.save(path)
    return path


@pytest.mark.parametrize("name", list(WRITERS))
@pytest.mark.parametrize("called", ["", "standard input"])
def test_files_of_statistics_packages_were_refused(tmp_path: Path, name: str, called: str) -> None:
    """Numbers, text and dates are what was written; what a file declares as missing is missing; codes, not labels. The
    beginning of the file tells its format, whatever it is called."""
    path = tmp_path / (called or name)
    WRITERS[name](path)
    found = {column.lower(): content for column, content in values(path).items()}
    assert found == {
        "age": [34, None if "sav" in name else 99, None, 51],
        "sex": [1, 2, 1, 2],
        "income": [1.5, 2.0, None, 3.25],
        "zip": ["01234", "b", "", "d"],
        "birth": [DAY, DAY, None, datetime.date(1900, 1, 1)],
        "seen": [MOMENT, None, MOMENT, MOMENT],
    }
    assert [type(x) for x in found["age"][:1] + found["income"][:1]] == [int, float]
    labelled = ("1 column has value labels; the codes were read, not the labels",)
    assert read_table(path).notes == (() if name in ("t.por", "t.xpt") else labelled)


def test_the_same_people_are_as_exposed_in_every_format(tmp_path: Path) -> None:
    """A file of another program gives the findings that its CSV gives."""
    frame = pd.DataFrame({"age": [30 + i % 7 for i in range(60)], "sex": [1 + i % 2 for i in range(60)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    pyreadstat.write_sav(frame.astype(float), tmp_path / "t.sav")
    pyreadstat.write_dta(frame, tmp_path / "t.dta")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    policy = Policy(quasi=(("age", "sex"),), rows_are_people=True)
    answers = [
        [(f.id, f.value, f.sentence) for f in unveil.assess(unveil.read(tmp_path / name), policy).findings]
        for name in ("t.csv", "t.sav", "t.dta", "t.xlsx")
    ]
    assert answers[1:] == answers[:1] * 3


def test_workbooks_were_refused(tmp_path: Path) -> None:
    rows = [
        ["age", "zip", "income", "birth", "seen", "well", "note", "at"],
        [34, "01234", 1.5, DAY, MOMENT, True, "x", datetime.time(10, 5)],
        [51, "20100", None, DAY, datetime.datetime(2020, 1, 1), False, 7, None],
        [None, "01234", 2, None, None, None, DAY, datetime.time(1)],
    ]
    path = workbook(tmp_path / "t.xlsx", rows)
    assert values(path) == {
        "age": [34, 51, None],
        "zip": ["01234", "20100", "01234"],
        "income": [1.5, None, 2.0],
        "birth": [DAY, DAY, None],
        "seen": [MOMENT, datetime.datetime(2020, 1, 1), None],
        "well": [True, False, None],
        "note": ["x", "7", "1987-06-05"],
        "at": [datetime.time(10, 5), None, datetime.time(1)],
    }
    assert read_table(path).notes == ("the sheet 'People' was read",)
    assert read_table(path.rename(tmp_path / "standard input")).rows == 3


def test_the_sheet_that_is_read_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a"], ["x"]], Others=[["b"], ["y"], ["z"]], More=[["c"], ["w"]])
    first, second = read_table(path), read_table(path, sheet="Others")
    assert (first.columns, second.columns, second.rows) == (("a",), ("b",), 2)
    said = "the sheet 'People' was read; 2 other sheets of the file were not (--sheet NAME reads another)"
    assert first.notes == (said,)
    with pytest.raises(UnveilError, match=r"^t.xlsx: no sheet is called 'Other'; did you mean 'Others'\?$"):
        unveil.read(path, sheet="Other")


def test_blank_rows_and_columns_are_no_people(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", None, "b"], [1, None, "x"], [None] * 3, [2, None, "y"], [None] * 3])
    table = read_table(path)
    assert (table.columns, table.rows) == (("a", "b"), 2)
    assert table.notes[1:] == ("1 blank row was left out",)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "the sheet 'People' is empty"),
        ([["a", "b"]], "there are no rows, only column names"),
        ([["a", None], [1, 2]], "column 2 has no name"),
        ([["a", "a"], [1, 2]], "columns 1 and 2 have the same name"),
        ([[34, "f"], [51, "m"], [34, "m"]], "line 1 looks like data; pass --no-header"),
        ([["a", "b"], [1, "=A2+1"], [2, "=A3+1"]], "2 cells hold a formula that was never calculated"),
    ],
)
def test_a_doubtful_sheet_is_refused(tmp_path: Path, rows: list[list[Any]], said: str) -> None:
    with pytest.raises(UnveilError, match=rf"^t\.xlsx: {said}"):
        unveil.read(workbook(tmp_path / "t.xlsx", rows))


def test_a_sheet_without_header(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [[34, "f"], [51, "m"]])
    assert values(path, header=False) == {"column 1": [34, 51], "column 2": ["f", "m"]}
    assert read_table(path, header=True).columns == ("34", "f")


@pytest.mark.parametrize("name", ["t.xlsx", "t.sav", "t.zsav", "t.dta", "t.por", "t.xpt", "t.sas7bdat"])
def test_a_damaged_file_is_said_in_one_line(tmp_path: Path, name: str) -> None:
    what = {".xlsx": "Excel", ".dta": "Stata", ".xpt": "SAS", ".sas7bdat": "SAS"}.get(Path(name).suffix, "SPSS")
    path, whole = tmp_path / name, b"CANARY" * 1000
    if name == "t.xlsx":
        whole = workbook(path, [["a"], ["CANARY"]]).read_bytes()
    elif name in WRITERS:
        WRITERS[name](path)
        whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"CANARY,x\n1,2\n", whole[:20]):
        path.write_bytes(content)
        with pytest.raises(UnveilError) as raised:
            unveil.read(path)
        assert str(raised.value) == f"{name}: not a readable {what} file; write it again, or export it as CSV"


@pytest.mark.parametrize(
    ("name", "library"), [("t.xlsx", "openpyxl"), ("t.sav", "pyreadstat"), ("t.xpt", "pyreadstat")]
)
def test_a_missing_library_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UnveilError, match=rf"^{name}: reading \w+ files needs {library}; install it with: pip install"):
        unveil.read(tmp_path / name)


def test_other_archives_and_kinds_are_still_refused(tmp_path: Path) -> None:
    (tmp_path / "t.zip").write_bytes(b"PK\x03\x04\x14\0")
    with pytest.raises(UnveilError, match="is a spreadsheet or a zip archive"):
        unveil.read(tmp_path / "t.zip")
    path = workbook(tmp_path / "t.xlsx", [["a"], ["x"]])
    with pytest.raises(UnveilError, match="is a spreadsheet or a zip archive"):
        unveil.read(path, "graph")
    with pytest.raises(UnveilError, match="the option delimiter does not apply to this kind of source"):
        unveil.read(path, delimiter=";")
    (tmp_path / "t.sav").write_bytes(b"")
    with pytest.raises(UnveilError, match="the file is empty"):
        unveil.read(tmp_path / "t.sav")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([1, None, 2.0], [1, None, 2]),
        ([2**70], [float(2**70)]),
        ([True, 1], ["TRUE", "1"]),
        ([None, None], [None, None]),
        ([float("inf"), 1.0], [float("inf"), 1.0]),
        ([MOMENT, "x"], ["2020-01-02 10:30:00", "x"]),
        ([DAY, datetime.datetime(2020, 1, 1)], [DAY, datetime.date(2020, 1, 1)]),
    ],
)
def test_a_column_gets_the_type_that_its_values_share(given: list[Any], found: list[Any]) -> None:
    made = typed_column(given).to_pylist()
    assert (made, list(map(type, made))) == (found, list(map(type, found)))


@pytest.mark.parametrize("name", ["b.csv", "b.xlsx"])
def test_a_zip_archive_of_an_unknown_version_was_a_defect(tmp_path: Path, name: str) -> None:
    """A damaged byte may say that version 17.7 is needed to unpack an archive."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    data = bytearray(whole.getvalue())
    data[data.index(b"PK\x01\x02") + 6] = 177
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnveilError):
        unveil.read(tmp_path / name)
