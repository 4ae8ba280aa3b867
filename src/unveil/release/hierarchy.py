"""Hierarchies of values, from specific to general.

A hierarchy is a tree over the values of a column. Level 0 holds the values themselves, every level above is coarser,
and the last level has a single label: 81667 → 8166* → 816** → … → ``*``. Each level is a function of the one below:
values that share a label share all labels above it. The height is the number of levels above the values.

Two values meet on the lowest level where they have the same label. That level divided by the height is their distance
(Li, Li, Venkatasubramanian, t-closeness, ICDE 2007): 0 for a value and itself, 1 for two values that
have only the root in common. It is an ultrametric: d(a, c) ≤ max(d(a, b), d(b, c)).

If the last given level has several labels, a root ``*`` is added above it, so that values under different labels are at
the greatest distance. A missing value (−1) is a value of its own that meets the others only at the root.

Errors in this module name the place of what is wrong (a line, a row, the third value), never the value itself.
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

from unveil.arrays import Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.release.codes import Codes, encode_column, rows_error
from unveil.release.generalised_labels import ROOT_LABEL, Number, interval_labels, parse_fraction
from unveil.release.nested_lists import parse_nested_lists
from unveil.release.source_file import load_bytes
from unveil.settings import option_text
from unveil.wording import count_text, list_text, ordinal_text, safe_text

__all__ = ["DATE_UNITS", "Hierarchy", "HierarchyLevel", "LeafIndex", "date_label", "is_date"]

_DELIMITERS = (";", ",", "\t", "|")
_SAMPLE_ROWS = 1000
_MAX_CELL_LENGTH = 100_000
_MAX_PREFIX_CHARACTERS = 200_000_000  # in all labels together
_ISO_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T].*)?")

DATE_UNITS = ("day", "month", "quarter", "year", "decade")
"""The levels of dates, from fine to coarse."""

ColumnValues: TypeAlias = pa.Array | pa.ChunkedArray | Iterable[Any]


@dataclass(frozen=True, eq=False)
class HierarchyLevel:
    """One level above the values: ``labels[codes[i]]`` is the label of value i."""

    codes: Int32s
    labels: pa.Array


class LeafIndex(NamedTuple):
    """The values under each label of a level: those of label j are ``leaves[indptr[j]:indptr[j + 1]]``, rising."""

    indptr: Ints
    leaves: Int32s


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Values, and the label of each value on every level above.

    >>> h = Hierarchy.from_rows([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]])
    >>> h
    Hierarchy hierarchy: 3 values, then 2 and 1 labels
    >>> flu, asthma, ulcer = h.codes(["flu", "asthma", "ulcer"])
    >>> float(h.distance(flu, asthma)), float(h.distance(flu, ulcer))
    (0.5, 1.0)
    >>> h.covered_values("lungs").tolist()
    [0, 1]
    """

    values: pa.Array
    levels: tuple[HierarchyLevel, ...]
    name: str = "hierarchy"

    @classmethod
    def read(cls, path: str | Path, delimiter: str | None = None) -> Hierarchy:
        """Read a file in the format of ARX: a row for every value, with the value and then its label on each level; or
        nested lists, if its name ends in .json.

        There is no header. The delimiter is ``;``, a comma, a tab or ``|``; spaces around values and labels are
        dropped.
        """
        path = Path(path)
        if path.suffix.lower() == ".json":
            nested = parse_nested_lists(load_bytes(path), path.name)
            return _build_hierarchy(nested, path.name, "value", range(1, len(nested) + 1))
        text = _read_text(path)
        delimiter = delimiter or _detect_delimiter(text)
        rows, lines = [], []
        for line, row in _parse_rows(text, delimiter, path.name):
            rows.append([cell.strip() for cell in row])
            lines.append(line)
        if not rows:
            raise UnveilError(f"{safe_text(path.name)}: the file is empty; give it a row for every value")
        hierarchy = _build_hierarchy(rows, path.name, "line", lines)
        if _has_header(rows):
            raise UnveilError(
                f"{safe_text(path.name)}: line {lines[0]:,} looks like column names; remove it, "
                "or, if it is a value, give it the same last label as the others"
            )
        return hierarchy

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]], name: str = "hierarchy") -> Hierarchy:
        """A hierarchy from rows of a value and its labels, from specific to general."""
        all_rows = list(rows)
        return _build_hierarchy(all_rows, name, "row", range(1, len(all_rows) + 1))

    @classmethod
    def with_root_only(cls, values: ColumnValues, name: str = "hierarchy") -> Hierarchy:
        """A root above the values, so that any two values are equally far apart."""
        return cls.from_rows(((v, ROOT_LABEL) for v in _distinct_texts(values, name)), name)

    @classmethod
    def from_prefixes(
        cls, values: ColumnValues, lengths: Sequence[int] | None = None, name: str = "hierarchy"
    ) -> Hierarchy:
        """Ever fewer leading characters: as many as ``lengths`` says for each level, or one fewer each time.

        >>> list(Hierarchy.from_prefixes(["81667", "81925"], lengths=[4, 2]).rows())
        [('81667', '8166*', '81***', '*'), ('81925', '8192*', '81***', '*')]
        """
        texts = _distinct_texts(values, name)
        longest = max(1, *map(len, texts))
        lengths = tuple(range(longest - 1, 0, -1)) if lengths is None else tuple(lengths)
        if any(n < 1 for n in lengths) or any(a <= b for a, b in itertools.pairwise(lengths)):
            raise UnveilError(f"{safe_text(name)}: prefix lengths must be in falling order and at least 1")
        if len(texts) * (len(lengths) + 1) * longest > _MAX_PREFIX_CHARACTERS:
            raise UnveilError(
                f"{safe_text(name)}: {count_text(len(texts), 'value')} of up to {count_text(longest, 'character')} "
                f"have too many prefixes; say how many characters to keep, such as prefixes:{_prefix_example(longest)}"
            )
        return cls.from_rows(((t, *(t[:n].ljust(longest, "*") for n in lengths), ROOT_LABEL) for t in texts), name)

    @classmethod
    def from_intervals(
        cls,
        values: ColumnValues,
        steps: Sequence[Number | Sequence[Number]],
        origin: Number = 0,
        name: str = "hierarchy",
    ) -> Hierarchy:
        """Numbers in ever wider intervals. A step is a width, counted from ``origin``, or a list of cut points.

        An interval includes its lower end but not its upper end; among integers its label shows the last number that
        belongs to it.

        >>> list(Hierarchy.from_intervals(["34", "7"], [10, [20, 60]]).rows())
        [('7', '0–9', '<20', '*'), ('34', '30–39', '20–59', '*')]
        >>> list(Hierarchy.from_intervals(["0.5"], [0.25, 1]).rows())
        [('0.5', '[0.5, 0.75)', '[0, 1)', '*')]
        """
        labels = interval_labels(_parse_numbers(values, name), steps, origin, name)
        return cls.from_rows(((*row, ROOT_LABEL) for row in labels), name)

    @classmethod
    def from_dates(cls, values: ColumnValues, name: str = "hierarchy") -> Hierarchy:
        """Dates by month, quarter, year and decade, and by day if the values have times.

        >>> list(Hierarchy.from_dates(["1987-06-05"]).rows())
        [('1987-06-05', '1987-06', '1987 Q2', '1987', '1980s', '*')]
        """
        values = _to_chunked_array(values, name)
        texts = _distinct_texts(values, name)
        wrong = [text for text in texts if not is_date(text)]
        if wrong:
            remedy = "write dates like 1987-06-05, or leave out other values"
            raise _values_error(name, values, wrong, "is not a date", "are not dates", remedy)
        units = DATE_UNITS if any(len(t) > 10 for t in texts) else DATE_UNITS[1:]
        return cls.from_rows(((t, *(date_label(t, unit) for unit in units), ROOT_LABEL) for t in texts), name)

    @property
    def digest(self) -> str:
        """The SHA-256 of its values and labels."""
        rows = "\n".join(repr(row) for row in self.rows())
        return hashlib.sha256(rows.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.levels)

    def labels(self, level: int) -> pa.Array:
        """The labels of a level; on level 0, the values."""
        self._check_level(level)
        return self.levels[level - 1].labels if level else self.values

    def check_column(self, column: Codes, table: str, name: str) -> None:
        """Refuse a column with values that the hierarchy does not know, except missing ones."""
        texts = _to_text(column.values, self.name)
        unknown = pc.index_in(texts, self.values).is_null()
        if pc.any(unknown).as_py():
            remedy = self._unknown_remedy(texts.filter(unknown)[0].as_py())
            what = f"a value in {safe_text(name)!r} that {safe_text(self.name)} lacks"
            raise rows_error(table, column.rows_with(np.asarray(unknown)), what, remedy)

    def codes(self, values: ColumnValues) -> Int32s:
        """The position of each value in :attr:`values`, −1 if missing. Unknown values are refused."""
        given = _to_chunked_array(values, self.name)
        column = encode_column(given)
        texts = _to_text(column.values, self.name)
        found = pc.index_in(texts, self.values)
        if found.null_count:
            lacking = texts.filter(found.is_null()).to_pylist()
            remedy = self._unknown_remedy(lacking[0])
            raise _values_error(
                self.name, given, lacking, "is not in the hierarchy", "are not in the hierarchy", remedy
            )
        return np.append(found.to_numpy(), np.int32(-1)).astype(np.int32)[column.codes]

    def generalise(self, codes: Int32s, level: int) -> Int32s:
        """The labels of values on a level: positions in :attr:`values` become positions in ``labels(level)``."""
        self._check_level(level)
        return np.append(self.levels[level - 1].codes, np.int32(-1))[codes] if level else np.asarray(codes, np.int32)

    def parents(self, level: int) -> Int32s:
        """For each label of a level below the root, its label on the next level."""
        self._check_level(level + 1)
        if not level:
            return self.levels[0].codes
        below, above = self.levels[level - 1], self.levels[level]
        return _first_values(below.codes, above.codes, len(below.labels))

    def lowest_common_level(self, a: Int32s, b: Int32s) -> Int32s:
        """The lowest level on which two values are the same, pair by pair (arrays are broadcast).

        Values that agree on a level agree above it, so this is the number of levels on which the two differ.
        """
        below = (self.generalise(a, level) != self.generalise(b, level) for level in range(self.height))
        return sum(below, np.zeros(np.broadcast(a, b).shape, np.int32))

    def distance(self, a: Int32s, b: Int32s) -> Floats:
        """The lowest common level divided by the height, from 0 to 1."""
        return self.lowest_common_level(a, b) / np.float64(self.height)

    def leaves_under(self, level: int) -> LeafIndex:
        """The values under each label of a level."""
        self._check_level(level)
        return self._leaf_indices[level]

    def covered_values(self, label: str) -> Int32s:
        """The positions of all values that a label may stand for, on whatever level it is, in rising order.

        The root covers everything; a label that the hierarchy does not know covers nothing.

        >>> h = Hierarchy.from_rows([["other", "*"], ["flu", "other"], ["ulcer", "other"]])
        >>> h.covered_values("other").tolist(), h.covered_values("*").tolist(), h.covered_values("cold").tolist()
        ([0, 1, 2], [0, 1, 2], [])
        """
        if label == ROOT_LABEL:
            return np.arange(len(self.values), dtype=np.int32)
        parts = [np.empty(0, np.int32)]
        for level, code in self._label_positions.get(label, ()):
            indptr, leaves = self._leaf_indices[level]
            parts.append(leaves[indptr[code] : indptr[code + 1]])
        return np.unique(np.concatenate(parts))

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Each value with its labels, as :meth:`from_rows` takes them."""
        columns = (level.labels.take(pa.array(level.codes)) for level in self.levels)
        return zip(self.values.to_pylist(), *(c.to_pylist() for c in columns), strict=True)

    @cached_property
    def _leaf_indices(self) -> tuple[LeafIndex, ...]:
        n = len(self.values)
        flat = LeafIndex(np.arange(n + 1), np.arange(n, dtype=np.int32))
        return flat, *(_leaf_index(level) for level in self.levels)

    @cached_property
    def _label_positions(self) -> dict[str, list[tuple[int, int]]]:
        """The levels and codes of each label."""
        places: dict[str, list[tuple[int, int]]] = {}
        for level in range(self.height + 1):
            for code, label in enumerate(self.labels(level).to_pylist()):
                places.setdefault(label, []).append((level, code))
        return places

    def _check_level(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise UnveilError(f"{safe_text(self.name)}: there is no level {level}; levels go from 0 to {self.height}")

    def _unknown_remedy(self, lacking: str) -> str:
        """What to do about a value that the hierarchy does not know."""
        bare = lacking.strip()
        stripped = bare != lacking and bare in self.values.to_pylist()
        return (
            f"read the table with {option_text('strip')} to drop its spaces" if stripped else "add the missing values"
        )

    def __repr__(self) -> str:
        sizes = [f"{len(level.labels):,}" for level in self.levels]
        noun = "label" if sizes == ["1"] else "labels"
        return (
            f"Hierarchy {safe_text(self.name)}: {count_text(len(self.values), 'value')}, then {list_text(sizes)} {noun}"
        )


def _prefix_example(longest: int) -> str:
    return ",".join(str(n) for n in (8, 4, 2) if n < longest) or "1"


def _read_text(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 if it begins with that byte order mark."""
    data = load_bytes(path)
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_number(data[: error.start].decode(encoding, "ignore"))
        raise UnveilError(f"{safe_text(path.name)}: line {line:,} is not UTF-8 text; save the file as UTF-8") from None
    before, nul, _ = text.partition("\0")
    if nul:
        raise UnveilError(
            f"{safe_text(path.name)}: line {_line_number(before):,} holds a NUL byte; save the file as UTF-8 text"
        )
    return text


def _line_number(before: str) -> int:
    return len(re.findall(r"\r\n|\r|\n", before)) + 1


def _parse_rows(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line on which it begins."""
    line = 1
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
        for row in reader:
            if any(len(cell) > _MAX_CELL_LENGTH for cell in row):
                raise ValueError  # the reader's own limit may have been raised for another file
            if row and row != [""]:
                yield line, row
            line = reader.line_num + 1
    except (csv.Error, TypeError, ValueError):
        raise UnveilError(
            f"{safe_text(name)}: line {line:,} cannot be split into values; correct its quotes, or name another "
            "delimiter"
        ) from None


def _detect_delimiter(text: str) -> str:
    """The delimiter under which most rows have as many columns as the first; the one rarer in labels wins a tie."""

    def agreement(delimiter: str) -> float:
        try:
            widths = [len(row) for _, row in itertools.islice(_parse_rows(text, delimiter, ""), _SAMPLE_ROWS)]
        except UnveilError:
            return 0.0
        return widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0

    return max(_DELIMITERS, key=agreement)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row has no label in common with the others, which all end in the same label."""
    first, *others = rows
    labels = {cell for row in others for cell in row[1:]}
    return len(others) > 1 and len({row[-1] for row in others}) == 1 and labels.isdisjoint(first[1:])


def _build_hierarchy(rows: Sequence[Sequence[Any]], name: str, unit: str, places: Sequence[int]) -> Hierarchy:
    """Check rows and turn them into a hierarchy; ``places`` are their line or row numbers for error messages."""
    _check_row_shape(rows, name, unit, places)
    columns = [_encode_level(column, level, name, unit, places) for level, column in enumerate(zip(*rows, strict=True))]
    base = columns[0]
    for upper in columns[1:]:
        for one, other in _find_clashes(base, upper):
            raise UnveilError(
                f"{safe_text(name)}: {unit}s {places[one]:,} and {places[other]:,} have the same value but different "
                "labels; keep one of them"
            )
    for level, (lower, upper) in enumerate(itertools.pairwise(columns[1:]), 1):
        for one, other in _find_clashes(lower, upper):
            raise UnveilError(
                f"{safe_text(name)}: {unit}s {places[one]:,} and {places[other]:,} have the same label on level "
                f"{level} but different labels on level {level + 1}; put it under one label, or call it differently"
            )
    firsts = np.unique(base.codes, return_index=True)[1]
    levels = [HierarchyLevel(column.codes[firsts], column.labels) for column in columns[1:]]
    if len(levels[-1].labels) > 1:
        levels.append(HierarchyLevel(np.zeros(len(firsts), np.int32), pa.array([ROOT_LABEL])))
    return Hierarchy(base.labels, tuple(levels), name)


def _check_row_shape(rows: Sequence[Sequence[Any]], name: str, unit: str, places: Sequence[int]) -> None:
    if not rows:
        raise UnveilError(f"{safe_text(name)}: there are no values; give a row for every value")
    width = len(rows[0])
    if width < 2:
        raise UnveilError(
            f"{safe_text(name)}: there are values but no levels above them; add a column of labels, or name the "
            "delimiter"
        )
    for row, place in zip(rows, places, strict=True):
        if len(row) != width:
            raise UnveilError(
                f"{safe_text(name)}: {unit} {place:,} has {count_text(len(row), 'column')} instead of {width:,}; "
                "give every value a label on every level"
            )


def _encode_level(column: Sequence[Any], level: int, name: str, unit: str, places: Sequence[int]) -> HierarchyLevel:
    """The labels of a column in order of appearance, and the code of each row."""
    for cell, place in zip(column, places, strict=True):
        if cell is None or cell != cell or (level and cell == ""):
            lacks = (
                f"label on level {level}; write one, such as {ROOT_LABEL}" if level else "value; write one or remove it"
            )
            raise UnveilError(f"{safe_text(name)}: {unit} {place:,} has no {lacks}")
    encoded = _to_text(_to_array(column, name), name).dictionary_encode()
    return HierarchyLevel(encoded.indices.to_numpy().astype(np.int32), encoded.dictionary)


def _find_clashes(lower: HierarchyLevel, upper: HierarchyLevel) -> Iterator[tuple[int, int]]:
    """Positions of two rows that have the same label on the lower level, but different ones on the upper level."""
    first = _first_values(lower.codes, np.arange(len(lower.codes), dtype=np.int32), len(lower.labels))[lower.codes]
    for i in np.flatnonzero(upper.codes[first] != upper.codes):
        yield int(first[i]), int(i)


def _first_values(keys: Int32s, values: Int32s, n: int) -> Int32s:
    """The value at the first occurrence of each key."""
    first = np.empty(n, np.int32)
    first[keys[::-1]] = values[::-1]  # the last assignment wins
    return first


def _leaf_index(level: HierarchyLevel) -> LeafIndex:
    sizes = np.bincount(level.codes, minlength=len(level.labels))
    return LeafIndex(np.append(0, np.cumsum(sizes)), np.argsort(level.codes, kind="stable").astype(np.int32))


def _to_array(values: ColumnValues, name: str) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    try:
        return pa.array(list(values))
    except MemoryError:
        raise
    except (pa.ArrowException, UnicodeError, OverflowError):
        raise UnveilError(f"{safe_text(name)}: the values are not all of one kind; give them all as text") from None


def _to_chunked_array(values: ColumnValues, name: str) -> pa.ChunkedArray:
    array = _to_array(values, name)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _to_text(values: pa.Array, name: str) -> pa.Array:
    """Values as text: 34.0 is 34, a date is 1987-06-05."""
    try:
        return values.cast(pa.string())
    except MemoryError:
        raise
    except pa.ArrowException:
        raise UnveilError(f"{safe_text(name)}: the values cannot be written as text; give them as text") from None


def _distinct_texts(values: ColumnValues, name: str) -> list[str]:
    """The distinct values as text, without missing ones."""
    texts: list[str] = _to_text(encode_column(_to_chunked_array(values, name)).values, name).to_pylist()
    if not texts:
        raise UnveilError(f"{safe_text(name)}: there are no values; give at least one that is not missing")
    return texts


def is_date(text: str) -> bool:
    """Whether a text is a date such as 1987-06-05, with or without a time."""
    found = _ISO_DATE.fullmatch(text)
    try:
        return bool(found and dt.date.fromisoformat(found[1]))
    except ValueError:
        return False


def date_label(text: str, unit: str) -> str:
    """A date by one of the units.

    >>> [date_label("1987-06-05 13:45", unit) for unit in DATE_UNITS]
    ['1987-06-05', '1987-06', '1987 Q2', '1987', '1980s']
    """
    if unit == "quarter":
        return f"{text[:4]} Q{(int(text[5:7]) + 2) // 3}"
    return f"{text[:3]}0s" if unit == "decade" else text[: {"day": 10, "month": 7, "year": 4}[unit]]


def _values_error(
    name: str, given: ColumnValues, wrong: Sequence[str], one: str, several: str, remedy: str
) -> UnveilError:
    """The error that some of the given values are not what they must be; it says which is the first of them."""
    place = pc.is_in(_to_text(_to_chunked_array(given, name), name), value_set=pa.array(wrong, pa.string()))
    first = f"the {ordinal_text(pc.index(place, True).as_py() + 1)} value"
    said = f"{first} {one}" if len(wrong) == 1 else f"{len(wrong):,} values {several}, the first of them {first}"
    return UnveilError(f"{safe_text(name)}: {said}; {remedy}")


def _parse_numbers(values: ColumnValues, name: str) -> dict[str, Fraction]:
    values = _to_chunked_array(values, name)
    parsed = {text: parse_fraction(text.strip()) for text in _distinct_texts(values, name)}
    wrong = [text for text, number in parsed.items() if number is None]
    if wrong:
        remedy = "leave out other values, or declare them missing"
        raise _values_error(name, values, wrong, "is not a number", "are not numbers", remedy)
    return {text: number for text, number in parsed.items() if number is not None}
