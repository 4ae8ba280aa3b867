"""A matrix of candidates: what an attacker knows about pseudonyms after an attack.

It has a row for every entry and a column for every pseudonym: 0 where the pair is impossible, otherwise 1 or a weight.
It is not the release but what remains of its secret, and it is assessed like a release. The file is text: numbers
separated by commas, semicolons, tabs or blanks, with or without labels in the first row and column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from unveil.errors import UnveilError
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Floats, Ints

__all__ = ["Matrix", "read_matrix", "read_truth", "write_matrix"]


@dataclass(frozen=True, eq=False, repr=False)
class Matrix:
    """Entries by pseudonyms: which pairs are possible, or how much they weigh.

    >>> Matrix.from_array([[1, 1], [0, 1]], name="two")
    Matrix two
      2 entries and 2 pseudonyms, 3 possible pairs
    """

    weights: Floats
    entries: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    name: str
    digest: str
    notes: tuple[str, ...] = ()

    kind: ClassVar[str] = "matrix"

    @classmethod
    def from_array(cls, source: Any, name: str = "matrix") -> Matrix:
        """A matrix from memory: anything that numpy can turn into a square array of numbers."""
        import numpy as np

        try:
            weights = np.array(source, np.float64)
        except (TypeError, ValueError):
            raise UnveilError(f"{safe_text(name)}: not a matrix of numbers; give rows of numbers") from None
        if weights.ndim != 2:
            raise UnveilError(
                f"{safe_text(name)}: has {count_text(weights.ndim, 'dimension')} instead of 2; give rows of numbers"
            )
        rows, columns = ([str(i + 1) for i in range(n)] for n in weights.shape)
        return _make_matrix(weights, rows, columns, name, None)

    @property
    def size(self) -> Mapping[str, int]:
        """The number of entries and of possible pairs."""
        return {"entries": len(self.entries), "pairs": int((self.weights > 0).sum())}

    def drop_weights(self) -> Matrix:
        """The matrix with every weight 1: only what is possible."""
        import numpy as np

        return Matrix(
            (self.weights > 0).astype(np.float64), self.entries, self.pseudonyms, self.name, self.digest, self.notes
        )

    def __repr__(self) -> str:
        n = f"{count_text(len(self.entries), 'entry', 'entries')} and {count_text(len(self.pseudonyms), 'pseudonym')}"
        return "\n  ".join(
            [f"Matrix {safe_text(self.name)}", f"{n}, {count_text(self.size['pairs'], 'possible pair')}", *self.notes]
        )


def _make_matrix(weights: Floats, entries: list[str], pseudonyms: list[str], name: str, digest: str | None) -> Matrix:
    import numpy as np

    from unveil.release.text_tokens import freeze_array

    if len(entries) != len(pseudonyms):
        raise UnveilError(
            f"{safe_text(name)}: {count_text(len(entries), 'entry', 'entries')} but "
            f"{count_text(len(pseudonyms), 'pseudonym')}; there must be as many of each"
        )
    if not entries:
        raise UnveilError(f"{safe_text(name)}: there are no entries; give at least one row")
    for labels in (entries, pseudonyms):
        if len(set(labels)) < len(labels):
            raise UnveilError(f"{safe_text(name)}: two rows or two columns have the same label; rename one")
    for wrong, why in ((~np.isfinite(weights), "is infinite or not a number"), (weights < 0, "is negative")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise UnveilError(
                f"{safe_text(name)}: the weight in row {i + 1:,}, column {j + 1:,} {why}; give a finite weight of 0 or "
                "more"
            )
    weights = freeze_array(weights + 0.0, np.float64)
    return Matrix(weights, tuple(entries), tuple(pseudonyms), name, digest or _weights_digest(weights))


def _weights_digest(weights: Floats) -> str:
    import hashlib

    return hashlib.sha256(repr(weights.shape).encode() + weights.tobytes()).hexdigest()


def read_matrix(path: Path) -> Matrix:
    """Read a square matrix; without labels in the file, the row and column numbers serve as labels."""
    import numpy as np

    from unveil.release import source_file

    lines = _read_cells(path)
    rows = [row for _, row in lines]
    name = safe_text(path.name)
    labelled = rows[0][0] == "" or not all(map(_is_number, rows[0][1:]))
    body = rows[1:] if labelled else rows
    with_names = bool(body) and ((labelled and len(body[0]) == len(body) + 1) or not _is_number(body[0][0]))
    cells = [row[1:] for row in body] if with_names else body
    width = len(cells[0]) if cells else 0
    for row, (line, _) in zip(cells, lines[1:] if labelled else lines, strict=True):
        if len(row) != width or not all(map(_is_number, row)):
            raise UnveilError(
                f"{name}: line {line:,} is not a row of {count_text(width, 'number')} like the first; correct it"
            )
    weights = np.array(cells, np.float64).reshape(len(cells), width)
    entries = [row[0] for row in body] if with_names else [str(i + 1) for i in range(len(body))]
    pseudonyms = rows[0][-width:] if labelled and width else [str(j + 1) for j in range(width)]
    if labelled and len(rows[0]) not in (width, width + with_names):
        raise UnveilError(
            f"{name}: line 1 names {count_text(len(rows[0]), 'column')}, but the others have {width:,}; correct it"
        )
    return _make_matrix(weights, entries, pseudonyms, path.name, source_file.file_digest(path))


def write_matrix(matrix: Matrix, file: BinaryIO) -> None:
    """Write a matrix as comma-separated text with labels."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["", *matrix.pseudonyms])
    for entry, row in zip(matrix.entries, matrix.weights.tolist(), strict=True):
        rows.writerow([entry, *(f"{w:.17g}" for w in row)])
    file.write(text.getvalue().encode())


def read_truth(path: Path, matrix: Matrix) -> Ints:
    """Read the secret mapping: lines ``entry,pseudonym`` by the matrix's labels, in any order; a header is optional."""
    import numpy as np

    name = safe_text(path.name)
    of_entry, of_pseudonym = ({x: i for i, x in enumerate(side)} for side in (matrix.entries, matrix.pseudonyms))
    truth = np.full(len(of_entry), -1, np.int64)
    for k, (line, row) in enumerate(_read_cells(path)):
        if len(row) != 2 or row[0] not in of_entry or row[1] not in of_pseudonym:
            if k == 0 and len(row) == 2:
                continue
            raise UnveilError(f"{name}: line {line:,} does not name an entry and a pseudonym of the matrix; correct it")
        if truth[of_entry[row[0]]] >= 0:
            raise UnveilError(f"{name}: line {line:,} names an entry a second time; keep one of the lines")
        truth[of_entry[row[0]]] = of_pseudonym[row[1]]
    if sorted(truth.tolist()) != list(range(len(truth))):
        raise UnveilError(f"{name}: not every entry has a pseudonym of its own; complete the truth")
    return truth


def _read_cells(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of every line that is not blank, with the line's number."""
    from unveil.release.text_tokens import read_text

    lines = read_text(path).decode().splitlines()
    text = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not text:
        raise UnveilError(f"{safe_text(path.name)}: the file is empty")
    delimiter = max(",;\t ", key=text[0][1].count)
    try:
        rows = list(csv.reader((line.strip(" ") for _, line in text), delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        rows = []
    if len(rows) != len(text):
        raise UnveilError(f"{safe_text(path.name)}: a quote is not closed, or a value is too long; correct it")
    return [(number, [cell.strip() for cell in row]) for (number, _), row in zip(text, rows, strict=True)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
