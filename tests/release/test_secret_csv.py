"""No cell of a secret file is a formula, and every label can be read back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Transactions, UnveilError
from unveil.release.secret_csv import secret_csv, unescape_formulas
from unveil.release.secret_mapping import mapping_table, truth_from_mapping

LABELS = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\tx", "＝1", "'x", "''=x", "milk", "1"]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="'=+-@ax1＝", min_size=1, max_size=4), min_size=1))
def test_no_cell_is_a_formula_and_all_are_read_back(labels: list[str]) -> None:
    text = secret_csv(pa.table({"item": labels, "score": pa.array([-1.5] * len(labels))})).decode()
    _, *rows = csv.reader(io.StringIO(text))
    assert not [cell for cell, _ in rows if cell[0] in "=+-@＝"]
    assert unescape_formulas(pa.array([cell for cell, _ in rows])).to_pylist() == labels
    assert {score for _, score in rows} == {"-1.5"}, "a number is not text"


def test_a_mapping_with_formulas_for_labels_comes_back_as_it_was(tmp_path: Path) -> None:
    labels = [label for label in LABELS if "\t" not in label]
    original = Transactions.from_baskets([labels, labels[:3]])
    release = Transactions.from_baskets([[str(k) for k in range(len(labels))], ["0", "1", "2"]])
    truth = np.roll(np.arange(len(labels)), 1)
    (tmp_path / "m.csv").write_bytes(secret_csv(mapping_table(original, release, truth)))
    read = unveil.read(tmp_path / "m.csv", "table", header=True)
    assert truth_from_mapping(read, original, release).tolist() == truth.tolist()


def test_a_mapping_whose_mark_was_cut_off_was_said_to_name_unknown_items(tmp_path: Path) -> None:
    original = Transactions.from_baskets([["=1", "milk"], ["milk"]])
    release = Transactions.from_baskets([["a", "b"], ["b"]])
    whole = mapping_table(original, release, np.arange(2))
    (tmp_path / "m.csv").write_bytes(secret_csv(whole.drop_columns(["release"])))
    cut = unveil.read(tmp_path / "m.csv", "table", header=True)
    with pytest.raises(UnveilError, match=r"^m\.csv: has apostrophes .*, but the column release is missing; use the"):
        truth_from_mapping(cut, original, release)
    other = Transactions.from_baskets([["=2", "milk"], ["milk"]])
    with pytest.raises(UnveilError, match="row 1 names an item that is not in"):
        truth_from_mapping(cut, other, release)
