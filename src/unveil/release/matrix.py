"""A matrix of candidates: what an attacker who has done their work knows about pseudonyms.

A row for every entry, a column for every pseudonym; 0 where the pair is impossible, 1 or a weight where it is not. It
is not the release itself but what is left of its secret after an attack, and it is assessed like one. The file is text:
numbers separated by commas, semicolons, tabs or blanks, with labels in the first row and column or without.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from unveil.errors import UnveilError
from unveil.wording import counted, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Matrix", "read_matrix", "read_truth", "write_matrix"]


@dataclass(frozen=True, eq=False, repr=False)
class Matrix:
    """Entries by pseudonyms: what is possible, or how much it weighs.

    >>> Matrix.of([[1, 1], [0, 1]], name="two")
    Matrix two
      2 entries and 2 pseudonyms, 3 possible pairs
    """

    weights: NDArray[np.float64]
    entries: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    name: str
    digest: str
    notes: tuple[str, ...] = ()

    kind: ClassVar[str] = "matrix"

    @classmethod
    def of(cls, source: Any, name: str = "matrix") -> Matrix:
        """A matrix from memory: anything that numpy takes for a square array of numbers."""
        import numpy as np

        try:
            weights = np.array(source, np.float64)
        except (TypeError, ValueError):
            raise UnveilError(f"{shown(name)}: not a matrix of numbers") from None
        if weights.ndim != 2:
            raise UnveilError(f"{shown(name)}: not a matrix but {weights.ndim}-dimensional; give rows of numbers")
        rows, columns = ([str(i + 1) for i in range(n)] for n in weights.shape)
        return _made(weights, rows, columns, name, None)

    @property
    def size(self) -> Mapping[str, int]:
        """How much there is."""
        return {"entries": len(self.entries), "pairs": int((self.weights > 0).sum())}

    def pattern(self) -> Matrix:
        """The same with every weight 1: only what is possible."""
        import numpy as np

        return Matrix(
            (self.weights > 0).astype(np.float64), self.entries, self.pseudonyms, self.name, self.digest, self.notes
        )

    def __repr__(self) -> str:
        n = f"{counted(len(self.entries), 'entry', 'entries')} and {counted(len(self.pseudonyms), 'pseudonym')}"
        return "\n  ".join(
            [f"Matrix {shown(self.name)}", f"{n}, {counted(self.size['pairs'], 'possible pair')}", *self.notes]
        )


def _made(
    weights: NDArray[np.float64], entries: list[str], pseudonyms: list[str], name: str, digest: str | None
) -> Matrix:
    import numpy as np

    from unveil.release.text import frozen

    if len(entries) != len(pseudonyms):
        raise UnveilError(
            f"{shown(name)}: {len(entries):,} entries and {len(pseudonyms):,} pseudonyms; there must be as many"
        )
    if not entries:
        raise UnveilError(f"{shown(name)}: there are no entries")
    for labels in (entries, pseudonyms):
        if len(set(labels)) < len(labels):
            raise UnveilError(f"{shown(name)}: two rows or two columns have the same label; rename one")
    for wrong, why in ((~np.isfinite(weights), "is infinite or not a number"), (weights < 0, "is negative")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise UnveilError(
                f"{shown(name)}: the weight in row {i + 1:,}, column {j + 1:,} {why}; weights are finite and 0 or more"
            )
    weights = frozen(weights + 0.0, np.float64)
    return Matrix(weights, tuple(entries), tuple(pseudonyms), name, digest or _fingerprint(weights))


def _fingerprint(weights: NDArray[np.float64]) -> str:
    import hashlib

    return hashlib.sha256(repr(weights.shape).encode() + weights.tobytes()).hexdigest()


def read_matrix(path: Path) -> Matrix:
    """Read a square matrix; labels are the row and column numbers where the file has none."""
    import numpy as np

    from unveil.release import source

    lines = _rows(path)
    rows = [row for _, row in lines]
    name = shown(path.name)
    labelled = rows[0][0] == "" or not all(map(_number, rows[0][1:]))
    body = rows[1:] if labelled else rows
    with_names = bool(body) and ((labelled and len(body[0]) == len(body) + 1) or not _number(body[0][0]))
    cells = [row[1:] for row in body] if with_names else body
    width = len(cells[0]) if cells else 0
    for row, (line, _) in zip(cells, lines[1:] if labelled else lines, strict=True):
        if len(row) != width or not all(map(_number, row)):
            raise UnveilError(f"{name}: line {line:,} is not a row of {width} numbers like the first; mend it")
    weights = np.array(cells, np.float64).reshape(len(cells), width)
    entries = [row[0] for row in body] if with_names else [str(i + 1) for i in range(len(body))]
    pseudonyms = rows[0][-width:] if labelled and width else [str(j + 1) for j in range(width)]
    if labelled and len(rows[0]) not in (width, width + with_names):
        raise UnveilError(f"{name}: the first line names {len(rows[0]):,} columns, the others have {width:,}; mend it")
    return _made(weights, entries, pseudonyms, path.name, source.digest(path))


def write_matrix(matrix: Matrix, file: BinaryIO) -> None:
    """Write a matrix as comma-separated text with labels."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["", *matrix.pseudonyms])
    for entry, row in zip(matrix.entries, matrix.weights.tolist(), strict=True):
        rows.writerow([entry, *(f"{w:.17g}" for w in row)])
    file.write(text.getvalue().encode())


def read_truth(path: Path, matrix: Matrix) -> NDArray[np.int64]:
    """Read the secret mapping: lines ``entry,pseudonym`` by the matrix's labels, in any order, a header allowed."""
    import numpy as np

    name = shown(path.name)
    of_entry, of_pseudonym = ({x: i for i, x in enumerate(side)} for side in (matrix.entries, matrix.pseudonyms))
    truth = np.full(len(of_entry), -1, np.int64)
    for k, (line, row) in enumerate(_rows(path)):
        if len(row) != 2 or row[0] not in of_entry or row[1] not in of_pseudonym:
            if k == 0 and len(row) == 2:
                continue
            raise UnveilError(f"{name}: line {line:,} does not name an entry and a pseudonym of the matrix; mend it")
        if truth[of_entry[row[0]]] >= 0:
            raise UnveilError(f"{name}: line {line:,} names an entry for the second time; keep one")
        truth[of_entry[row[0]]] = of_pseudonym[row[1]]
    if sorted(truth.tolist()) != list(range(len(truth))):
        raise UnveilError(f"{name}: not every entry has one pseudonym of its own; complete the truth")
    return truth


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of every line that is not blank, with the line's number."""
    from unveil.release.text import read_text

    lines = read_text(path).decode().splitlines()
    text = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not text:
        raise UnveilError(f"{shown(path.name)}: the file is empty")
    delimiter = max(",;\t ", key=text[0][1].count)
    try:
        rows = list(csv.reader((line.strip(" ") for _, line in text), delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        rows = []
    if len(rows) != len(text):
        raise UnveilError(f"{shown(path.name)}: a quotation mark is not closed, or a value is too long; mend it")
    return [(number, [cell.strip() for cell in row]) for (number, _), row in zip(text, rows, strict=True)]


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
