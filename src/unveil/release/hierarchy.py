"""Hierarchies of values: what each value is a kind of.

A hierarchy is a tree over the values of a column. Level 0 holds the values themselves, every level above is coarser,
and on the last level everything is one: 81667 → 8166* → 816** → … → ``*``. Each level is a function of the one below:
what is alike once stays alike. The height is the number of levels above the values.

Two values meet on the lowest level where they have the same label. That level divided by the height is their distance
(Li, Li, Venkatasubramanian, t-closeness, ICDE 2007): 0 for a value and itself, 1 for two values that
have nothing but the root in common. It is an ultrametric: d(a, c) ≤ max(d(a, b), d(b, c)).

Where the last given level still has several labels, a root ``*`` is put above it, so that values under different ones
are at the greatest distance. A missing value (−1) is a value of its own that meets the others nowhere below the root.

An error here names the value that it is about, for nobody could mend the hierarchy otherwise.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import UnveilError
from unveil.release.codes import encode
from unveil.release.labels import ROOT, Number, fraction, interval_labels
from unveil.release.source import load
from unveil.wording import counted, listed, shown

__all__ = ["Hierarchy", "Level", "Tree", "is_date"]

_DELIMITERS = (";", ",", "\t", "|")
_SAMPLE = 1000
_LONGEST = 100_000
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T].*)?")

Values: TypeAlias = pa.Array | pa.ChunkedArray | Iterable[Any]


@dataclass(frozen=True, eq=False)
class Level:
    """One level above the values: ``labels[codes[i]]`` is the label of value i."""

    codes: NDArray[np.int32]
    labels: pa.Array


class Tree(NamedTuple):
    """The values under each label of a level: those of label j are ``leaves[indptr[j]:indptr[j + 1]]``, rising."""

    indptr: NDArray[np.int64]
    leaves: NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Values, and for each level above them what each value is called there.

    >>> h = Hierarchy.of_rows([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]])
    >>> h
    Hierarchy hierarchy: 3 values, then 2 and 1 labels
    >>> flu, asthma, ulcer = h.codes(["flu", "asthma", "ulcer"])
    >>> float(h.distance(flu, asthma)), float(h.distance(flu, ulcer))
    (0.5, 1.0)
    >>> h.covers("lungs").tolist()
    [0, 1]
    """

    values: pa.Array
    levels: tuple[Level, ...]
    name: str = "hierarchy"

    @classmethod
    def read(cls, path: str | Path, delimiter: str | None = None) -> Hierarchy:
        """A file in the format of ARX: a row for every value, in it the value and then its label on each level.

        There is no header. The delimiter is ``;``, a comma, a tab or ``|``; spaces around values and labels are
        dropped.
        """
        path = Path(path)
        text = _decoded(path)
        delimiter = delimiter or _delimiter(text)
        rows, lines = [], []
        for line, row in _parsed(text, delimiter, path.name):
            rows.append([cell.strip() for cell in row])
            lines.append(line)
        if not rows:
            raise UnveilError(f"{shown(path.name)}: the file is empty; give it a row for every value")
        hierarchy = _made(rows, path.name, "line", lines)
        if _names_columns(rows):
            raise UnveilError(
                f"{shown(path.name)}: line {lines[0]:,} looks like names of columns; take it out, "
                "or if it is a value, give it the last label of all others"
            )
        return hierarchy

    @classmethod
    def of_rows(cls, rows: Iterable[Sequence[Any]], name: str = "hierarchy") -> Hierarchy:
        """From rows of a value and its labels, the more general ones to the right."""
        all_rows = list(rows)
        return _made(all_rows, name, "row", range(1, len(all_rows) + 1))

    @classmethod
    def flat(cls, values: Values, name: str = "hierarchy") -> Hierarchy:
        """Only a root: any two values are equally far apart."""
        return cls.of_rows(((v, ROOT) for v in _distinct(values, name)), name)

    @classmethod
    def prefixes(cls, values: Values, lengths: Sequence[int] | None = None, name: str = "hierarchy") -> Hierarchy:
        """Fewer and fewer leading characters: as many as ``lengths`` says for each level, or always one less.

        >>> list(Hierarchy.prefixes(["81667", "81925"], lengths=[4, 2]).rows())
        [('81667', '8166*', '81***', '*'), ('81925', '8192*', '81***', '*')]
        """
        texts = _distinct(values, name)
        longest = max(1, *map(len, texts))
        lengths = tuple(range(longest - 1, 0, -1)) if lengths is None else tuple(lengths)
        if any(n < 1 for n in lengths) or any(a <= b for a, b in itertools.pairwise(lengths)):
            raise UnveilError(f"{shown(name)}: the lengths of prefixes must fall and end at 1 or above")
        return cls.of_rows(((t, *(t[:n].ljust(longest, "*") for n in lengths), ROOT) for t in texts), name)

    @classmethod
    def intervals(
        cls, values: Values, steps: Sequence[Number | Sequence[Number]], origin: Number = 0, name: str = "hierarchy"
    ) -> Hierarchy:
        """Numbers in wider and wider intervals. A step is a width, counted from ``origin``, or a list of cut points.

        An interval begins with its lower end and stops before its upper end; among integers it is written with the
        last number that belongs to it.

        >>> list(Hierarchy.intervals(["34", "7"], [10, [20, 60]]).rows())
        [('7', '0–9', '<20', '*'), ('34', '30–39', '20–59', '*')]
        >>> list(Hierarchy.intervals(["0.5"], [0.25, 1]).rows())
        [('0.5', '[0.5, 0.75)', '[0, 1)', '*')]
        """
        labels = interval_labels(_numbers(values, name), steps, origin, name)
        return cls.of_rows(((*row, ROOT) for row in labels), name)

    @classmethod
    def dates(cls, values: Values, name: str = "hierarchy") -> Hierarchy:
        """Dates by day if there are times, by month and by year.

        >>> list(Hierarchy.dates(["1987-06-05"]).rows())
        [('1987-06-05', '1987-06', '1987', '*')]
        """
        texts = _distinct(values, name)
        wrong = [t for t in texts if not is_date(t)]
        if wrong:
            raise _refused(
                name, wrong, "is not a date", "are not dates", "write dates like 1987-06-05, or leave out what is none"
            )
        kept = (10, 7, 4) if any(len(t) > 10 for t in texts) else (7, 4)
        return cls.of_rows(((t, *(t[:n] for n in kept), ROOT) for t in texts), name)

    @property
    def digest(self) -> str:
        """The SHA-256 of its values and labels."""
        rows = "\n".join(repr(row) for row in self.rows())
        return hashlib.sha256(rows.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def height(self) -> int:
        """How many levels there are above the values."""
        return len(self.levels)

    def labels(self, level: int) -> pa.Array:
        """What there is on a level; on level 0, the values."""
        self._check_level(level)
        return self.levels[level - 1].labels if level else self.values

    def check(self, values: Values) -> None:
        """Refuse values that the hierarchy does not know; missing ones aside."""
        self.codes(values)

    def codes(self, values: Values) -> NDArray[np.int32]:
        """The place of each value in :attr:`values`, −1 for a missing one. All must be known."""
        column = encode(_column(values, self.name))
        texts = _text(column.values, self.name)
        found = pc.index_in(texts, self.values)
        if found.null_count:
            self._refuse(texts.filter(found.is_null()).to_pylist())
        return np.append(found.to_numpy(), np.int32(-1)).astype(np.int32)[column.codes]

    def generalise(self, codes: NDArray[np.int32], level: int) -> NDArray[np.int32]:
        """What values are on a level: from places in :attr:`values` to places in ``labels(level)``; −1 stays −1."""
        self._check_level(level)
        return np.append(self.levels[level - 1].codes, np.int32(-1))[codes] if level else np.asarray(codes, np.int32)

    def parents(self, level: int) -> NDArray[np.int32]:
        """For each label of a level below the root, its label on the next level."""
        self._check_level(level + 1)
        if not level:
            return self.levels[0].codes
        below, above = self.levels[level - 1], self.levels[level]
        return _first(below.codes, above.codes, len(below.labels))

    def lowest_common_level(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int32]:
        """The lowest level on which two values are the same, pair by pair (arrays are broadcast).

        What is alike on a level is alike above it, so this is the number of levels on which the two differ.
        """
        below = (self.generalise(a, level) != self.generalise(b, level) for level in range(self.height))
        return sum(below, np.zeros(np.broadcast(a, b).shape, np.int32))

    def distance(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float64]:
        """The lowest common level divided by the height, from 0 to 1."""
        return self.lowest_common_level(a, b) / np.float64(self.height)

    def leaves_under(self, level: int) -> Tree:
        """The values under each label of a level."""
        self._check_level(level)
        return self._trees[level]

    def covers(self, label: str) -> NDArray[np.int32]:
        """The places of all values that a label may stand for, on whatever level it is; rising.

        The root covers everything; a label that the hierarchy does not know covers nothing.

        >>> h = Hierarchy.of_rows([["other", "*"], ["flu", "other"], ["ulcer", "other"]])
        >>> h.covers("other").tolist(), h.covers("*").tolist(), h.covers("cold").tolist()
        ([0, 1, 2], [0, 1, 2], [])
        """
        if label == ROOT:
            return np.arange(len(self.values), dtype=np.int32)
        parts = [np.empty(0, np.int32)]
        for level, code in self._places.get(label, ()):
            indptr, leaves = self._trees[level]
            parts.append(leaves[indptr[code] : indptr[code + 1]])
        return np.unique(np.concatenate(parts))

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Each value with its labels, as :meth:`of_rows` takes them."""
        columns = (level.labels.take(pa.array(level.codes)) for level in self.levels)
        return zip(self.values.to_pylist(), *(c.to_pylist() for c in columns), strict=True)

    @cached_property
    def _trees(self) -> tuple[Tree, ...]:
        n = len(self.values)
        flat = Tree(np.arange(n + 1), np.arange(n, dtype=np.int32))
        return flat, *(_tree(level) for level in self.levels)

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        """On which level and where there a label stands."""
        places: dict[str, list[tuple[int, int]]] = {}
        for level in range(self.height + 1):
            for code, label in enumerate(self.labels(level).to_pylist()):
                places.setdefault(label, []).append((level, code))
        return places

    def _check_level(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise UnveilError(f"{shown(self.name)}: there is no level {level}; levels go from 0 to {self.height}")

    def _refuse(self, lacking: list[str]) -> None:
        bare = lacking[0].strip()
        stripped = bare != lacking[0] and bare in self.values.to_pylist()
        remedy = "read the table with --strip to drop its spaces" if stripped else "add what is lacking"
        raise _refused(self.name, lacking, "is not in the hierarchy", "are not in the hierarchy", remedy)

    def __repr__(self) -> str:
        sizes = [f"{len(level.labels):,}" for level in self.levels]
        noun = "label" if sizes == ["1"] else "labels"
        return f"Hierarchy {shown(self.name)}: {counted(len(self.values), 'value')}, then {listed(sizes)} {noun}"


def _decoded(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 if it begins with the mark of that."""
    data = load(path)
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line(data[: error.start].decode(encoding, "ignore"))
        raise UnveilError(f"{shown(path.name)}: line {line:,} is not UTF-8 text; save the file as UTF-8") from None
    before, nul, _ = text.partition("\0")
    if nul:
        raise UnveilError(f"{shown(path.name)}: line {_line(before):,} holds a NUL byte; save the file as UTF-8 text")
    return text


def _line(before: str) -> int:
    return len(re.findall(r"\r\n|\r|\n", before)) + 1


def _parsed(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines on which they begin, empty lines aside."""
    line = 1
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
        for row in reader:
            if any(len(cell) > _LONGEST for cell in row):
                raise ValueError  # the reader's own limit may have been raised for another file
            if row and row != [""]:
                yield line, row
            line = reader.line_num + 1
    except (csv.Error, TypeError, ValueError):
        raise UnveilError(
            f"{shown(name)}: line {line:,} cannot be split into values; mend its quotes, or name another delimiter"
        ) from None


def _delimiter(text: str) -> str:
    """The one under which most rows have as many columns as the first; of several, the one that is rarer in labels."""

    def agreement(delimiter: str) -> float:
        try:
            widths = [len(row) for _, row in itertools.islice(_parsed(text, delimiter, ""), _SAMPLE)]
        except UnveilError:
            return 0.0
        return widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0

    return max(_DELIMITERS, key=agreement)


def _names_columns(rows: list[list[str]]) -> bool:
    """Whether the first row has no label in common with the others, which all end in the same one."""
    first, *others = rows
    labels = {cell for row in others for cell in row[1:]}
    return len(others) > 1 and len({row[-1] for row in others}) == 1 and labels.isdisjoint(first[1:])


def _made(rows: Sequence[Sequence[Any]], name: str, unit: str, places: Sequence[int]) -> Hierarchy:
    """Check rows and turn them into a hierarchy; ``places`` are their numbers as lines of a file or rows of a list."""
    _check_shape(rows, name, unit, places)
    columns = [_encoded(column, level, name, unit, places) for level, column in enumerate(zip(*rows, strict=True))]
    base = columns[0]
    for upper in columns[1:]:
        for value, _, _ in _clashes(base, upper):
            raise UnveilError(f"{shown(name)}: the value {shown(value)!r} has two rows that differ; keep one of them")
    for level, (lower, upper) in enumerate(itertools.pairwise(columns[1:]), 1):
        for label, one, other in _clashes(lower, upper):
            raise UnveilError(
                f"{shown(name)}: {shown(label)!r} on level {level} is under both {shown(one)!r} and {shown(other)!r} "
                f"on level {level + 1}; put it under one, or call it differently"
            )
    firsts = np.unique(base.codes, return_index=True)[1]
    levels = [Level(column.codes[firsts], column.labels) for column in columns[1:]]
    if len(levels[-1].labels) > 1:
        levels.append(Level(np.zeros(len(firsts), np.int32), pa.array([ROOT])))
    return Hierarchy(base.labels, tuple(levels), name)


def _check_shape(rows: Sequence[Sequence[Any]], name: str, unit: str, places: Sequence[int]) -> None:
    if not rows:
        raise UnveilError(f"{shown(name)}: there are no values; give a row for every value")
    width = len(rows[0])
    if width < 2:
        raise UnveilError(
            f"{shown(name)}: there are only values and no levels above them; add a column of labels, "
            "or name the delimiter between the columns"
        )
    for row, place in zip(rows, places, strict=True):
        if len(row) != width:
            raise UnveilError(
                f"{shown(name)}: {unit} {place:,} has {counted(len(row), 'column')} instead of {width:,}; "
                "give every value a label on every level"
            )


def _encoded(column: Sequence[Any], level: int, name: str, unit: str, places: Sequence[int]) -> Level:
    """A column as the labels in it, in order of appearance, and their places."""
    for cell, place in zip(column, places, strict=True):
        if cell is None or cell != cell or (level and cell == ""):
            lacks = f"label on level {level}; write one, such as {ROOT}" if level else "value; write one or take it out"
            raise UnveilError(f"{shown(name)}: {unit} {place:,} has no {lacks}")
    encoded = _text(_array(column, name), name).dictionary_encode()
    return Level(encoded.indices.to_numpy().astype(np.int32), encoded.dictionary)


def _clashes(lower: Level, upper: Level) -> Iterator[tuple[str, str, str]]:
    """What of the lower level is under two different labels of the upper one, and those two."""
    first = _first(lower.codes, upper.codes, len(lower.labels))[lower.codes]
    for i in np.flatnonzero(first != upper.codes):
        label = lower.labels[lower.codes[i]].as_py()
        yield label, upper.labels[first[i]].as_py(), upper.labels[upper.codes[i]].as_py()


def _first(keys: NDArray[np.int32], values: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """The value that stands at the first occurrence of each key."""
    first = np.empty(n, np.int32)
    first[keys[::-1]] = values[::-1]  # the last assignment stays
    return first


def _tree(level: Level) -> Tree:
    sizes = np.bincount(level.codes, minlength=len(level.labels))
    return Tree(np.append(0, np.cumsum(sizes)), np.argsort(level.codes, kind="stable").astype(np.int32))


def _array(values: Values, name: str) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    try:
        return pa.array(list(values))
    except (pa.ArrowException, UnicodeError, OverflowError):
        raise UnveilError(f"{shown(name)}: the values are not all of one kind; give them all as text") from None


def _column(values: Values, name: str) -> pa.ChunkedArray:
    array = _array(values, name)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _text(values: pa.Array, name: str) -> pa.Array:
    """Values as they are written: 34.0 is 34, a date is 1987-06-05."""
    try:
        return values.cast(pa.string())
    except pa.ArrowException:
        raise UnveilError(f"{shown(name)}: the values cannot be written as text; give them as text") from None


def _distinct(values: Values, name: str) -> list[str]:
    """The different values as text, missing ones aside."""
    texts: list[str] = _text(encode(_column(values, name)).values, name).to_pylist()
    if not texts:
        raise UnveilError(f"{shown(name)}: there are no values; give at least one that is not missing")
    return texts


def is_date(text: str) -> bool:
    """Whether a text is a date such as 1987-06-05, with or without a time."""
    found = _DATE.fullmatch(text)
    try:
        return bool(found and dt.date.fromisoformat(found[1]))
    except ValueError:
        return False


def _refused(name: str, wrong: Sequence[str], one: str, several: str, remedy: str) -> UnveilError:
    first = repr(shown(wrong[0]))
    if len(wrong) == 1:
        said = f"the value {first} {one}"
    else:
        said = f"{counted(len(wrong), 'value')} {several}, the first is {first}"
    return UnveilError(f"{shown(name)}: {said}; {remedy}")


def _numbers(values: Values, name: str) -> dict[str, Fraction]:
    parsed = {text: fraction(text.strip()) for text in _distinct(values, name)}
    wrong = [text for text, number in parsed.items() if number is None]
    if wrong:
        raise _refused(
            name, wrong, "is not a number", "are not numbers", "leave out what is none, or name it as missing"
        )
    return {text: number for text, number in parsed.items() if number is not None}
