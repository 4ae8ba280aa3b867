"""Baskets of items: what was bought, clicked, prescribed or visited together.

A release of transactions is a list of *baskets*; a basket is a set of *items*. Items are named by labels, which stay
text ("01" is not "1"), and numbered by codes 0 … n − 1. The codes follow the sorted labels, so that no result depends
on the order of baskets: by number if all labels are whole numbers without leading zeros, otherwise by text, character
by character (10 before 9). The codes of basket ``b`` are ``items[indptr[b] : indptr[b + 1]]``. A repeated item counts
once per basket; empty items and empty baskets are dropped, and ``notes`` say how many.

Three file formats are read and written, compressed or not:

* **FIMI** (the Frequent Itemset Mining Implementations repository): one basket per line, items separated by blanks;
* **long CSV**: a header, then a row ``basket,item`` for each item, separated by commas, semicolons or tabs;
* **JSON lines**: a JSON array of items per line, or an object with such an array as ``items``.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.json_items import is_container, item_text, parse_items, stream_items
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from unveil.arrays import Int32s, Ints

__all__ = ["Transactions", "read_fimi", "read_jsonl", "read_long", "write_fimi", "write_jsonl", "write_long"]

_BATCH = 1 << 14
_MIN_BLOCK, _MAX_BLOCK = 1 << 18, 1 << 24  # Arrow reads some blocks ahead; a CSV row must fit into one
_PIECE = 1 << 15  # items and baskets that are numbered together
_LONG_LINE = 1 << 18
_FIMI_LAYOUT = "expected one basket per line, its items separated by blanks"
_INNER_LINE_END = re.compile(rb"\r(?!\n?\Z)|\n(?!\Z)")
_JSON_LAYOUT = "expected a JSON array of items, or an object with such an array as items, on each line"


@dataclass(frozen=True, eq=False, repr=False)
class Transactions:
    """A release of baskets of items.

    >>> tx = Transactions.from_baskets([["bread", "milk"], ["milk"], ["milk", "milk"]], name="shop")
    >>> tx
    Transactions shop
      3 baskets of 2 distinct items, 4 entries
      1 repeated item in a basket counted once
    >>> tx.counts.tolist()
    [1, 3]
    """

    indptr: Int32s | Ints
    items: Int32s
    labels: pa.Array
    name: str
    digest: str
    notes: tuple[str, ...] = ()

    kind: ClassVar[str] = "transactions"

    def __post_init__(self) -> None:
        import numpy as np

        from unveil.release.label_table import number_dtype
        from unveil.release.text_tokens import freeze_array

        object.__setattr__(self, "indptr", freeze_array(self.indptr, number_dtype(len(self.items))))
        object.__setattr__(self, "items", freeze_array(self.items, np.int32))

    @classmethod
    def from_baskets(cls, baskets: Iterable[Iterable[object]], name: str = "baskets") -> Transactions:
        """Baskets from memory; items become text, and empty or missing ones are dropped."""
        return _number_items(_basket_texts(baskets, safe_text(name)), name, None)

    @property
    def size(self) -> Mapping[str, int]:
        """The number of baskets, distinct items and entries."""
        return {"baskets": self.baskets, "items": len(self.labels), "entries": len(self.items)}

    @property
    def baskets(self) -> int:
        """The number of baskets."""
        return len(self.indptr) - 1

    @property
    def entry_baskets(self) -> Ints:
        """For each entry, the number of its basket."""
        import numpy as np

        return np.repeat(np.arange(self.baskets), np.diff(self.indptr))

    @cached_property
    def counts(self) -> Ints:
        """For each item, the number of baskets that contain it."""
        import numpy as np

        return np.bincount(self.items, minlength=len(self.labels)).astype(np.int64, copy=False)

    @cached_property
    def appearance_ranks(self) -> Ints:
        """For each item, how many others appear before it."""
        import numpy as np

        first, ranks = np.full(len(self.labels), len(self.items)), np.empty(len(self.labels), np.int64)
        first[self.items[::-1]] = np.arange(len(self.items) - 1, -1, -1)  # the last assignment wins
        ranks[np.argsort(first, kind="stable")] = np.arange(len(ranks))
        return ranks

    def shuffle_baskets(self, rng: np.random.Generator) -> Ints:
        """The numbers of the baskets in random order: a sample is the same whatever order they were read in."""
        return self._content_order[rng.permutation(self.baskets)]

    @cached_property
    def _content_order(self) -> Ints:
        """The numbers of the baskets, sorted by what is in them: by the sum of a fixed random number for each item
        (Carter and Wegman 1979), which different baskets hardly ever share."""
        import numpy as np

        factors = np.random.default_rng(0).integers(1 << 64, size=len(self.labels), dtype=np.uint64)
        return np.argsort(np.add.reduceat(factors[self.items], self.indptr[:-1]), kind="stable")

    def __repr__(self) -> str:
        size = f"{count_text(self.baskets, 'basket')} of {count_text(len(self.labels), 'distinct item')}"
        entries = count_text(len(self.items), "entry", "entries")
        return "\n  ".join([f"Transactions {safe_text(self.name)}", f"{size}, {entries}", *self.notes])


class _BasketRows:
    """Baskets that arrive piece by piece. Empty ones are dropped at once, so that they take no memory."""

    def __init__(self) -> None:
        from unveil.release.label_table import GrowingArray, LabelTable

        self._table, self._codes, self._ends = LabelTable(), GrowingArray(), GrowingArray(0)
        self._open_size: int | None = None
        self._empty = 0

    def add(self, texts: pa.Array, sizes: Ints, goes_on: bool) -> None:
        """Add items, and the number of them in each basket; the last basket may go on in the next piece."""
        self._codes.extend(self._table.encode(texts))
        if len(sizes) == 0:
            return
        sizes[0] += self._open_size or 0
        self._open_size = int(sizes[-1]) if goes_on else None
        self._close(sizes[:-1] if goes_on else sizes)

    def _close(self, sizes: Ints) -> None:
        held = sizes[sizes > 0]
        self._empty += len(sizes) - len(held)
        self._ends.extend(self._ends.last + held.cumsum())

    def build(self, name: str, digest: str | None, nameless: int, layout: str) -> Transactions:
        import numpy as np

        from unveil.release.label_table import sort_labels

        if self._open_size is not None:
            self._close(np.array([self._open_size]))
        codes, labels = self._codes.take(), self._table.take_labels()
        labels = sort_labels(labels, codes)
        return _make_transactions(self._ends.take(), codes, labels, name, digest, nameless, self._empty, layout)


def _make_transactions(
    indptr: Int32s | Ints,
    items: Int32s,
    labels: pa.Array,
    name: str,
    digest: str | None,
    nameless: int,
    empty: int,
    layout: str,
) -> Transactions:
    """Baskets as sets, with notes on what was dropped. If no digest is given, it is computed from the content. Both
    arrays are changed."""
    import numpy as np

    from unveil.release import _kernels, text_tokens

    if len(items) == 0:
        raise UnveilError(f"{safe_text(name)}: there are no baskets; {layout}")
    baskets, filled = _kernels.unique_basket_items(indptr, items, np.full(len(labels), -1, indptr.dtype))
    repeated, empty = len(items) - filled, empty + len(indptr) - 1 - baskets
    indptr, items = indptr[: baskets + 1], items[:filled]
    notes = []
    if nameless:
        notes.append(f"{count_text(nameless, 'empty item')} dropped")
    if empty:
        notes.append(f"{count_text(empty, 'empty basket')} dropped")
    if repeated:
        notes.append(f"{count_text(repeated, 'repeated item')} in a basket counted once")
    digest = digest or text_tokens.content_digest(labels, indptr.astype(np.int64), items)
    return Transactions(indptr, items, labels, name, digest, tuple(notes))


# ---- from memory and JSON --------------------------------------------------------------------------------------------


def _basket_texts(baskets: Iterable[Iterable[object]], name: str) -> Iterator[tuple[list[str], bool]]:
    try:
        rows = enumerate(baskets, 1)
    except TypeError:
        raise UnveilError(f"{name}: the baskets are not a list; give a list of lists of items") from None
    for number, basket in rows:
        listed = isinstance(basket, Iterable) and not isinstance(basket, (str, bytes))
        items = list(basket) if listed else []
        if not listed or any(is_container(item) for item in items):
            raise UnveilError(f"{name}: basket {number:,} is not a list of items; put its items in a list")
        yield [item_text(item) for item in items], False


def _number_items(
    baskets: Iterable[tuple[list[str], bool]], name: str, digest: str | None, layout: str = _FIMI_LAYOUT
) -> Transactions:
    """Number the items of baskets that arrive one by one, or in parts: each comes with whether the next goes on with
    it."""
    import numpy as np

    from unveil.release.text_tokens import label_array

    rows, nameless = _BasketRows(), 0
    texts, sizes, goes_on = list[str](), list[int](), False
    for basket, goes_on in baskets:
        named = [item for item in basket if item]
        nameless += len(basket) - len(named)
        texts += named
        sizes.append(len(named))
        if goes_on or len(texts) + len(sizes) >= _PIECE:
            rows.add(label_array(texts, safe_text(name)), np.array(sizes, np.int64), goes_on)
            texts, sizes = [], []
    rows.add(label_array(texts, safe_text(name)), np.array(sizes, np.int64), goes_on)
    return rows.build(name, digest, nameless, layout)


def read_jsonl(path: str | Path) -> Transactions:
    """Baskets from JSON lines. Numbers keep the spelling of the file, ``null`` is an empty item."""
    path = Path(path)
    return _number_items(_json_baskets(path), path.name, source_file.file_digest(path), _JSON_LAYOUT)


def _json_baskets(path: Path) -> Iterator[tuple[list[str], bool]]:
    from unveil.release.text_tokens import text_pieces

    for data, before, _ in text_pieces(path):
        if len(data) < _LONG_LINE or _INNER_LINE_END.search(data):
            lines: Iterable[str] = io.TextIOWrapper(io.BytesIO(data), "utf-8")
        else:
            lines = (data.decode(),)
        del data
        for number, line in enumerate(lines, before + 1):
            if line.isspace():
                continue
            try:
                yield from [(parse_items(line), False)] if len(line) < _LONG_LINE else _long_basket(line)
            except ValueError:
                raise UnveilError(f"{safe_text(path.name)}: line {number:,} is not a basket; {_JSON_LAYOUT}") from None


def _long_basket(line: str) -> Iterator[tuple[list[str], bool]]:
    for items in stream_items(line):
        yield items, True
    yield [], False


# ---- FIMI ------------------------------------------------------------------------------------------------------------


def read_fimi(path: str | Path) -> Transactions:
    """Baskets from a FIMI file; a blank line is an empty basket."""
    import numpy as np

    from unveil.release import text_tokens

    path = Path(path)
    rows = _BasketRows()
    for data, _, goes_on in text_tokens.text_pieces(path, cut_lines=True):
        texts, widths = text_tokens.split_tokens(data)
        del data  # a long label is in memory often enough
        rows.add(texts, widths.astype(np.int64), goes_on)
    return rows.build(path.name, source_file.file_digest(path), 0, _FIMI_LAYOUT)


# ---- long CSV --------------------------------------------------------------------------------------------------------


def read_long(path: str | Path, basket: str | None = None, item: str | None = None) -> Transactions:
    """Baskets from a CSV file with a row for each item; baskets come in order of first appearance.

    ``basket`` and ``item`` name the two columns. By default they are the columns with these names, or the two columns
    of a file that has only two.
    """
    path = Path(path)
    name = safe_text(path.name)
    quotes, longest = _scan_rows(path)
    delimiter, header = _read_header(path)
    columns = _find_columns(header, basket, item, name)
    if quotes % 2:
        _raise_first_fault(path, delimiter, len(header))  # an open quote would silently swallow the rest of the file
    return _group_by_basket(_two_columns(path, delimiter, len(header), columns, longest), path)


def _scan_rows(path: Path) -> tuple[int, int]:
    """The number of quotes, and the length of the longest row."""
    import numpy as np

    from unveil.release import _kernels, text_tokens

    quotes, length, longest = 0, 0, 0
    for piece in text_tokens.text_pieces(path):
        quotes, length, longest = _kernels.scan_rows(np.frombuffer(piece.data, np.uint8), quotes, length, longest)
    return quotes, max(length, longest)


def _group_by_basket(batches: Iterator[tuple[pa.Array, pa.Array]], path: Path) -> Transactions:
    """Baskets from pieces of their two columns."""
    import numpy as np
    import pyarrow.compute as pc

    from unveil.release import _kernels
    from unveil.release.label_table import GrowingArray, LabelTable, number_dtype, sort_labels

    basket_table, item_table, found_rows, found_codes = LabelTable(), LabelTable(), GrowingArray(), GrowingArray()
    count = 0
    for baskets, items in batches:
        first = pc.index(baskets, "").as_py()
        if first >= 0:
            place = count + first + 1
            raise UnveilError(f"{safe_text(path.name)}: data row {place:,} has no basket; complete or remove it")
        there = pc.not_equal(items, "")
        found_rows.extend(basket_table.encode(baskets)[there.to_numpy(zero_copy_only=False)])
        found_codes.extend(item_table.encode(items.filter(there)))
        count += len(items)
    indptr = np.zeros(len(basket_table) + 1, number_dtype(count))
    del basket_table  # what the baskets are called does not matter
    rows, codes = found_rows.take(), found_codes.take()
    labels, nameless = sort_labels(item_table.take_labels(), codes), count - len(codes)
    if not _kernels.count_rows(rows, indptr):
        gathered = np.empty(len(codes), np.int32)
        _kernels.group_by_row(rows, codes, indptr, gathered)
        codes = gathered
    del rows
    layout = "expected a header, then one row per item with its basket"
    digest = source_file.file_digest(path)
    return _make_transactions(indptr, codes, labels, path.name, digest, nameless, 0, layout)


def _text_lines(path: Path, newline: str | None) -> Iterator[str]:
    from unveil.release.text_tokens import text_pieces

    for piece in text_pieces(path):
        yield from io.TextIOWrapper(io.BytesIO(piece.data), "utf-8", newline=newline)


def _csv_rows(path: Path, delimiter: str) -> Any:
    """Python's own CSV reader, for the header and for finding errors: slow, but it knows line numbers."""
    return csv.reader(_text_lines(path, ""), delimiter=delimiter, strict=True)


def _read_header(path: Path) -> tuple[str, list[str]]:
    """The delimiter, which is the most frequent candidate in the first line, and the column names."""
    name = safe_text(path.name)
    delimiter = max(",;\t", key=next((line for line in _text_lines(path, None) if line != "\n"), "").count)
    rows = _csv_rows(path, delimiter)
    try:
        header: list[str] = next((row for row in rows if row), [])
    except csv.Error:
        raise UnveilError(f"{name}: line {rows.line_num:,} is not a CSV header; close or double its quotes") from None
    if len(header) < 2:
        raise UnveilError(f"{name}: there are no baskets; expected a header with a basket and an item column")
    return delimiter, [column.strip() for column in header]


def _find_columns(header: list[str], basket: str | None, item: str | None, name: str) -> tuple[int, int]:
    """The positions of the two columns."""
    at = _find_column(header, basket, "basket", name)
    of = _find_column(header, item, "item", name)
    if len(header) == 2:  # a column without a known name is the remaining one
        at = (0 if of is None else 1 - of) if at is None else at
        of = 1 - at if of is None else of
    for role, place in (("basket", at), ("item", of)):
        if place is None:
            raise UnveilError(f"{name}: no column is called {role}; name the column that holds the {role}")
    if at == of or at is None or of is None:
        raise UnveilError(f"{name}: the basket and the item column are the same; name two columns")
    return at, of


def _find_column(header: list[str], requested: str | None, role: str, name: str) -> int | None:
    """The position of the requested column or, if none is requested, of the column named like its role."""
    called = [
        k for k, column in enumerate(header) if (column.lower() == role if requested is None else column == requested)
    ]
    if len(called) > 1:
        raise UnveilError(f"{name}: several columns are called {safe_text(requested or role)}; rename all but one")
    if requested is not None and not called:
        raise UnveilError(f"{name}: no column is called {safe_text(requested)}; check the header")
    return called[0] if called else None


def _two_columns(
    path: Path, delimiter: str, width: int, columns: tuple[int, int], longest: int
) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Two columns of text, some rows at a time. Arrow's messages quote the data, so errors are located again and
    reported without it."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    names = [str(k) for k in range(width)]
    kept_names = [str(k) for k in columns]
    try:
        batches = arrow_csv.open_csv(
            pa.PythonFile(io.BufferedReader(_RowStream(path)), mode="r"),
            arrow_csv.ReadOptions(
                column_names=names,
                skip_rows_after_names=1,
                use_threads=False,
                block_size=min(max(_MIN_BLOCK, 2 * longest), _MAX_BLOCK),
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(kept_names, pa.string()), include_columns=kept_names),
        )
        for batch in batches:
            yield batch[kept_names[0]], batch[kept_names[1]]
    except MemoryError:
        raise
    except pa.ArrowException:
        _raise_first_fault(path, delimiter, width)
        raise UnveilError(f"{safe_text(path.name)}: cannot be read as CSV; check that every quote is closed") from None


class _RowStream(io.RawIOBase):
    """The text of a file as Arrow's CSV parser wants it: it takes a blank line before the header for the header, and
    no header for one that does not end."""

    def __init__(self, path: Path) -> None:
        self._pieces = self._edit_text(path)
        self._rest = memoryview(b"")

    @staticmethod
    def _edit_text(path: Path) -> Iterator[bytes]:
        from unveil.release.text_tokens import text_pieces

        ended, begun = False, False
        for piece in text_pieces(path):
            data = piece.data if begun else piece.data.lstrip(b"\r\n")
            begun, ended = begun or data != b"", ended or b"\n" in data or b"\r" in data
            yield data
        if not ended:
            yield b"\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and (data := next(self._pieces, None)) is not None:
            self._rest = memoryview(data)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _raise_first_fault(path: Path, delimiter: str, width: int) -> None:
    """Raise an error that names the first faulty line, if there is one."""
    rows, name = _csv_rows(path, delimiter), safe_text(path.name)
    try:
        for row in rows:
            if row and len(row) != width:
                raise UnveilError(
                    f"{name}: line {rows.line_num:,} has {count_text(len(row), 'value')} where the header has {width}; "
                    f"complete it, or put quotes around values that contain the separator"
                )
    except csv.Error:
        raise UnveilError(
            f"{name}: line {rows.line_num:,} has a quote that is not closed or not doubled; double quotes inside values"
        ) from None


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_fimi(tx: Transactions, file: BinaryIO) -> None:
    """Write one basket per line, items separated by a space."""
    _refuse_labels(
        tx, r"[\s\x0b\x00\x{FEFF}]", "labels with blanks cannot be written as FIMI; write JSON lines instead"
    )
    _write_rows(tx, tx.labels, ("", " ", "\n"), file)


def write_jsonl(tx: Transactions, file: BinaryIO) -> None:
    """Write one JSON array per line."""
    from unveil.release.text_tokens import label_array

    quoted = [json.dumps(label, ensure_ascii=False) for label in tx.labels.to_pylist()]
    _write_rows(tx, label_array(quoted, safe_text(tx.name)), ("[", ", ", "]\n"), file)


def write_long(tx: Transactions, file: BinaryIO) -> None:
    """Write a CSV row for each item; baskets are numbered from 1."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    _refuse_labels(tx, r"\x00", "labels with NUL characters cannot be written as CSV; write JSON lines instead")
    file.write(b'"basket","item"\n')
    plain = arrow_csv.WriteOptions(include_header=False)
    for start in range(0, tx.baskets, _BATCH):
        indptr = tx.indptr[start : start + _BATCH + 1]
        baskets = np.repeat(np.arange(start + 1, start + len(indptr)), np.diff(indptr))
        items = tx.labels.take(pa.array(tx.items[indptr[0] : indptr[-1]]))
        arrow_csv.write_csv(pa.table({"basket": baskets, "item": items}), file, plain)


def _refuse_labels(tx: Transactions, pattern: str, why: str) -> None:
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(tx.labels, pattern)).as_py():
        raise UnveilError(f"{safe_text(tx.name)}: {why}")


def _write_rows(tx: Transactions, texts: pa.Array, marks: tuple[str, str, str], file: BinaryIO) -> None:
    """Write each basket between an opening and a closing mark, with the middle mark between items."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string()
    before, between, after = (pa.scalar(mark, kind) for mark in marks)
    texts = texts.cast(kind)
    for start in range(0, tx.baskets, _BATCH):
        indptr = tx.indptr[start : start + _BATCH + 1]
        items = texts.take(pa.array(tx.items[indptr[0] : indptr[-1]]))
        lines = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(indptr - indptr[0], pa.int64()), items), between)
        rows = pc.binary_join_element_wise(before, lines, after, pa.scalar("", kind))
        file.write(
            pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), pa.scalar("", kind))[0].as_buffer()
        )
