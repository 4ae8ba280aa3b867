"""A matrix of candidates or weights from a text file: a row per entry, a column per pseudonym, labels optional."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from unveil.errors import UnveilError
from unveil.matching.candidates import Floats, Ints
from unveil.wording import shown

__all__ = ["LabelledMatrix", "read_matrix", "read_truth"]

LabelledMatrix = tuple[Floats, list[str], list[str]]
"""The matrix, the entries' labels and the pseudonyms' labels."""


def read_matrix(path: Path) -> LabelledMatrix:
    """Read a square matrix; labels are the row and column numbers where the file has none."""
    rows = _rows(path)
    name = shown(path.name)
    labelled = not _number(rows[0][-1])
    body = rows[1:] if labelled else rows
    with_names = bool(body) and ((labelled and len(body[0]) == len(body) + 1) or not _number(body[0][0]))
    cells = [row[1:] for row in body] if with_names else body
    width = len(cells[0]) if cells else 0
    for number, row in enumerate(cells, 2 if labelled else 1):
        if len(row) != width or not all(map(_number, row)):
            raise UnveilError(f"{name}: line {number} is not a row of {width} numbers like the first; mend it")
    matrix = np.array(cells, np.float64).reshape(len(cells), width)
    if matrix.shape[0] != matrix.shape[1]:
        raise UnveilError(f"{name}: {matrix.shape[0]} entries and {matrix.shape[1]} pseudonyms; there must be as many")
    entries = [row[0] for row in body] if with_names else [str(i + 1) for i in range(len(body))]
    pseudonyms = rows[0][-width:] if labelled else [str(j + 1) for j in range(width)]
    for labels in (entries, pseudonyms):
        if len(set(labels)) < len(labels):
            raise UnveilError(f"{name}: two rows or two columns have the same label; rename one")
    return matrix, entries, pseudonyms


def read_truth(path: Path, entries: list[str], pseudonyms: list[str]) -> Ints:
    """Read the secret mapping: lines ``entry,pseudonym``, in any order, a header allowed."""
    name = shown(path.name)
    of_entry, of_pseudonym = ({label: i for i, label in enumerate(labels)} for labels in (entries, pseudonyms))
    truth = np.full(len(entries), -1, np.int64)
    for number, row in enumerate(_rows(path), 1):
        if len(row) != 2 or row[0] not in of_entry or row[1] not in of_pseudonym:
            if number == 1 and len(row) == 2:
                continue
            raise UnveilError(f"{name}: line {number} does not name an entry and a pseudonym of the matrix; mend it")
        truth[of_entry[row[0]]] = of_pseudonym[row[1]]
    if sorted(truth.tolist()) != list(range(len(entries))):
        raise UnveilError(f"{name}: not every entry has one pseudonym of its own; complete the truth")
    return truth


def _rows(path: Path) -> list[list[str]]:
    from unveil.release.text import read_text

    lines = read_text(path).decode().splitlines()
    text = [line for line in lines if line.strip()]
    if not text:
        raise UnveilError(f"{shown(path.name)}: the file is empty")
    delimiter = max(",;\t ", key=text[0].count)
    return [[cell.strip() for cell in row] for row in csv.reader(text, delimiter=delimiter, skipinitialspace=True)]


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
