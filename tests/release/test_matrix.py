"""Matrices of candidates: read, written and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unveil
from unveil import Matrix, UnveilError
from unveil.release.matrix import read_truth


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for matrix in (Matrix.from_array([[1, 1], [0, 0.25]]), Matrix.from_array(np.random.default_rng(1).random((5, 5)))):
        unveil.write(matrix, tmp_path / "m.csv")
        again = unveil.read(tmp_path / "m.csv", "matrix")
        assert isinstance(again, Matrix)
        assert (again.weights == matrix.weights).all()
        assert (again.entries, again.pseudonyms) == (matrix.entries, matrix.pseudonyms)


@pytest.mark.parametrize(
    "text",
    ["1,0\n0,1\n", "1 0 \n0 1 \n", "x,y\n1,0\n0,1\n", ",x,y\na,1,0\nb,0,1\n", "a;1;0\nb;0;1\n", ",1,2\n1,1,0\n2,0,1\n"],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    matrix = unveil.read(tmp_path / "m.csv", "matrix")
    assert isinstance(matrix, Matrix)
    assert (matrix.weights == np.eye(2)).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('a,"b\n1,0\n0,1\n', "a quote is not closed"),
        ("1,0\n0,-1\n", "row 2, column 2 is negative"),
        ("1,0,0\n0,1,0\n", "as many"),
    ],
)
def test_what_is_no_matrix(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(UnveilError, match=said):
        unveil.read(tmp_path / "m.csv", "matrix")


@pytest.mark.parametrize("source", [[["a"]], [1, 2], 3, [[1, 2], [3]], np.zeros((0, 0)), [[1, 2]]])
def test_sources_that_are_none(source: object) -> None:
    with pytest.raises(UnveilError):
        unveil.read(source, "matrix")


def test_truths(tmp_path: Path) -> None:
    matrix = Matrix.from_array(np.ones((2, 2)))
    (tmp_path / "t.csv").write_text("entry,pseudonym\n2,1\n1,2\n")
    assert read_truth(tmp_path / "t.csv", matrix).tolist() == [1, 0]
    (tmp_path / "t.csv").write_text("1,2\n1,1\n")
    with pytest.raises(UnveilError, match="second time"):
        read_truth(tmp_path / "t.csv", matrix)
