"""What fuzzing has found so far, one input each: it ends as it should now, with one line and without a defect."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from fuzz.harness import FuzzInput, find_defects

TABLE = b"name,age,zip\nAda,34,012\nBen,34,012\nCleo,51,013\n"
ASK = ("--quasi", "age,zip", "--only", "classes.k", "--quiet")


def assess_table(code: int, *arguments: str) -> FuzzInput:
    return FuzzInput("options", ("assess", "t.csv", *arguments, *ASK), {"t.csv": TABLE}, code=code)


def assess_policy(text: str) -> FuzzInput:
    given = ("assess", "t.csv", "--policy", "p.toml", *ASK)
    return FuzzInput("toml", given, {"t.csv": TABLE, "p.toml": text.encode()}, code=2)


def ask_about(code: int, column: pa.Array, *arguments: str, form: str = "arrow") -> FuzzInput:
    """A table with such a column in a file of this form."""
    table = pa.table({"x": column, "y": pa.array(["a", "b", "a", "b"])})
    written, name = io.BytesIO(), f"t.{form}"
    if form == "parquet":
        pq.write_table(table, written)
    else:
        with pa.ipc.new_file(written, table.schema) as writer:
            writer.write_table(table)
    command = ("assess", name, "--quasi", "x,y", "--only", "release,classes.k", "--quiet", *arguments)
    return FuzzInput("arrow", command, {name: written.getvalue()}, code=code)


def odd_workbook() -> bytes:
    """A workbook with a print area that is none, of which its library warns."""
    book, written, packed = Workbook(), io.BytesIO(), io.BytesIO()
    assert book.active is not None
    for row in (["age", "zip"], [34, 12], [51, 13]):
        book.active.append(row)
    book.save(written)
    odd = b'<definedNames><definedName name="_xlnm.Print_Area" localSheetId="0">Kq0001zj</definedName></definedNames>'
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"<definedNames />", odd))
    return packed.getvalue()


DECIMALS = [Decimal("1.5"), Decimal("2.5"), None, Decimal("1.5")]
HUNDREDS = [Decimal(1500), Decimal(2500), None, Decimal(1500)]
UUIDS = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * 4, pa.binary(16)))
FOUND = {
    "a line break in a list of columns": assess_table(2, "--insensitive", "na\nme"),
    "an empty column option": assess_table(2, "--subject", ""),
    "a file name that is too long": assess_table(2, "--people", "x" * 300),
    "an empty subject in a policy": assess_policy('subject = ""'),
    "lists that nest deeply": assess_policy("quasi = " + "[" * 5000),
    "tables that nest deeply": assess_policy("x = " + "{a=" * 5000),
    "a dotted name that took minutes": assess_policy("a" + ".a" * 100_000 + " = 1"),
    "a number of 5,000 digits": assess_policy("seed = " + "1" * 5000),
    "a policy of a megabyte": assess_policy("# " + "x" * 1_000_001),
    "narrow decimals": ask_about(1, pa.array(DECIMALS, pa.decimal32(5, 2)), form="parquet"),
    "decimals of 64 bits": ask_about(1, pa.array(DECIMALS, pa.decimal64(12, 2)), form="parquet"),
    "hundreds": ask_about(1, pa.array(HUNDREDS, pa.decimal128(5, -2))),
    "narrow hundreds": ask_about(1, pa.array(HUNDREDS, pa.decimal32(5, -2))),
    "hundreds beyond 38 digits": ask_about(2, pa.array(HUNDREDS, pa.decimal128(38, -2))),
    "nanoseconds in days": ask_about(
        3, pa.array([1, 2, None, 1001], pa.timestamp("ns")), "--compare", "x=30d", "--only", "linkage.unicity"
    ),
    "a moment after the year 9999": ask_about(2, pa.array([2**62, 2, None, 1], pa.timestamp("s"))),
    "a day after the year 9999": ask_about(
        2, pa.array([2**31 - 1, 0, 1, 1], pa.int32()).view(pa.date32()), form="parquet"
    ),
    "a day of 25 hours": ask_about(2, pa.array([9 * 10**10, 0, 1, 1], pa.int64()).view(pa.time64("us"))),
    "a time zone that is none": ask_about(
        2, pa.array([1, 2, 3, 4], pa.timestamp("us", "Nowhere/Land")), "--hierarchy", "x=dates", form="parquet"
    ),
    "bytes with prefixes": ask_about(2, pa.array([b"\xffKq0001zj", b"b", None, b"c"]), "--hierarchy", "x=prefixes"),
    "identifiers of a type of their own": ask_about(1, UUIDS, form="parquet"),
    "a workbook that its library warns of": FuzzInput(
        "workbook", ("describe", "w.xlsx", "--quiet"), {"w.xlsx": odd_workbook()}, code=0
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def defects() -> dict[str, str]:
    """What is wrong with each of them, if anything."""
    names = list(FOUND)
    found = find_defects(list(FOUND.values()).__getitem__, range(len(names)))
    return {names[defect.number]: str(defect) for defect in found}


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found_is_mended(defects: dict[str, str], what: str) -> None:
    assert what not in defects, defects[what]
