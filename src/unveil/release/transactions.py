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
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from unveil.arrays import Bools, Int32s, Ints

__all__ = ["Transactions", "read_fimi", "read_jsonl", "read_long", "write_fimi", "write_jsonl", "write_long"]

_BATCH = 1 << 14
_BLOCK = 1 << 24  # a CSV row must fit into it
_PIECE = 1 << 18  # items that are numbered together
_FIMI_LAYOUT = "expected one basket per line, its items separated by blanks"
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

    indptr: Ints
    items: Int32s
    labels: pa.Array
    name: str
    digest: str
    notes: tuple[str, ...] = ()

    kind: ClassVar[str] = "transactions"

    def __post_init__(self) -> None:
        import numpy as np

        from unveil.release.text_tokens import freeze_array

        object.__setattr__(self, "indptr", freeze_array(self.indptr, np.int64))
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


def _make_transactions(
    indptr: Ints,
    items: Int32s,
    labels: pa.Array,
    name: str,
    digest: str | None,
    nameless: int,
    layout: str,
) -> Transactions:
    """Baskets as sets, with notes on what was dropped. If no digest is given, it is computed from the content."""
    import numpy as np

    from unveil.release import _kernels, text_tokens

    if len(items) == 0:
        raise UnveilError(f"{safe_text(name)}: there are no baskets; {layout}")
    frozen = text_tokens.freeze_array
    seen, starts = np.full(len(labels), -1), np.zeros(len(indptr), np.int64)
    baskets, filled = _kernels.unique_basket_items(  # in place: what is kept never overtakes what is read
        frozen(indptr, np.int64), frozen(items, np.int32), seen, starts, items
    )
    repeated, empty = len(items) - filled, len(indptr) - 1 - baskets
    indptr, items = starts[: baskets + 1], items[:filled]
    notes = []
    if nameless:
        notes.append(f"{count_text(nameless, 'empty item')} dropped")
    if empty:
        notes.append(f"{count_text(empty, 'empty basket')} dropped")
    if repeated:
        notes.append(f"{count_text(repeated, 'repeated item')} in a basket counted once")
    digest = digest or text_tokens.content_digest(labels, indptr, items)
    return Transactions(indptr, items, labels, name, digest, tuple(notes))


# ---- from memory and JSON --------------------------------------------------------------------------------------------


def _item_text(item: object) -> str:
    """An item as text: None and NaN are empty, booleans are written as in JSON."""
    import numpy as np

    if isinstance(item, (bool, np.bool_)):
        return "true" if item else "false"
    return "" if item is None or (isinstance(item, float) and math.isnan(item)) else str(item)


def _basket_texts(baskets: Iterable[Iterable[object]], name: str) -> Iterator[list[str]]:
    try:
        rows = enumerate(baskets, 1)
    except TypeError:
        raise UnveilError(f"{name}: the baskets are not a list; give a list of lists of items") from None
    for number, basket in rows:
        listed = isinstance(basket, Iterable) and not isinstance(basket, (str, bytes))
        items = list(basket) if listed else []
        if not listed or any(_is_container(item) for item in items):
            raise UnveilError(f"{name}: basket {number:,} is not a list of items; put its items in a list")
        yield [_item_text(item) for item in items]


def _is_container(item: object) -> bool:
    import numpy as np

    return isinstance(item, (bytes, list, tuple, dict, set, frozenset, np.ndarray))


def _number_items(
    baskets: Iterable[list[str]], name: str, digest: str | None, layout: str = _FIMI_LAYOUT
) -> Transactions:
    """Number the items of baskets that arrive one by one."""
    import numpy as np

    from unveil.release.text_tokens import encode_texts, label_array

    ends, nameless = array("q", [0]), 0

    def pieces() -> Iterator[pa.Array]:
        nonlocal nameless
        texts = list[str]()
        for basket in baskets:
            named = [item for item in basket if item]
            nameless += len(basket) - len(named)
            ends.append(ends[-1] + len(named))
            texts += named
            if len(texts) >= _PIECE:
                yield label_array(texts, safe_text(name))
                texts = []
        yield label_array(texts, safe_text(name))

    items, labels = encode_texts(pieces())
    return _make_transactions(np.asarray(ends, np.int64), items, labels, name, digest, nameless, layout)


def read_jsonl(path: str | Path) -> Transactions:
    """Baskets from JSON lines. Numbers keep the spelling of the file, ``null`` is an empty item."""
    path = Path(path)
    return _number_items(_json_baskets(path), path.name, source_file.file_digest(path), _JSON_LAYOUT)


def _json_baskets(path: Path) -> Iterator[list[str]]:
    from unveil.release.text_tokens import text_pieces

    for piece in text_pieces(path):
        for number, line in enumerate(io.TextIOWrapper(io.BytesIO(piece.data), "utf-8"), piece.lines_before + 1):
            if line.isspace():
                continue
            try:
                yield _json_items(line)
            except ValueError:
                raise UnveilError(f"{safe_text(path.name)}: line {number:,} is not a basket; {_JSON_LAYOUT}") from None


def _json_items(line: str) -> list[str]:
    """The items of one line; a ValueError says that it is not a basket."""
    try:
        basket: Any = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError:
        raise ValueError from None
    if isinstance(basket, dict):
        basket = basket.get("items")
    if not isinstance(basket, list) or any(_is_container(item) for item in basket):
        raise ValueError
    items = [_item_text(item) for item in basket]
    if "\\u" in line:  # only an escape can produce half a surrogate pair, which fails to encode
        "".join(items).encode()
    return items


# ---- FIMI ------------------------------------------------------------------------------------------------------------


def read_fimi(path: str | Path) -> Transactions:
    """Baskets from a FIMI file; a blank line is an empty basket."""
    import numpy as np

    from unveil.release import text_tokens

    path = Path(path)
    widths: list[Int32s] = []

    def pieces() -> Iterator[pa.Array]:
        for piece in text_tokens.text_pieces(path):
            found = text_tokens.split_tokens(piece.data)
            widths.append(found.widths.copy())
            yield found.texts

    items, labels = text_tokens.encode_texts(pieces())
    indptr = np.zeros(sum(map(len, widths)) + 1, np.int64)
    np.cumsum(np.concatenate(widths), out=indptr[1:])
    return _make_transactions(indptr, items, labels, path.name, source_file.file_digest(path), 0, _FIMI_LAYOUT)


# ---- long CSV --------------------------------------------------------------------------------------------------------


def read_long(path: str | Path, basket: str | None = None, item: str | None = None) -> Transactions:
    """Baskets from a CSV file with a row for each item; baskets come in order of first appearance.

    ``basket`` and ``item`` name the two columns. By default they are the columns with these names, or the two columns
    of a file that has only two.
    """
    from unveil.release import text_tokens

    path = Path(path)
    data = text_tokens.read_text(path)
    name = safe_text(path.name)
    delimiter, header = _read_header(data, name)
    columns = _find_columns(header, basket, item, name)
    return _group_by_basket(_two_columns(data, delimiter, len(header), columns, name), path)


def _group_by_basket(batches: Iterator[tuple[pa.Array, pa.Array]], path: Path) -> Transactions:
    """Baskets from pieces of their two columns."""
    import numpy as np
    import pyarrow.compute as pc

    from unveil.release import _kernels, text_tokens

    named: list[pa.Array] = []  # the items of the pieces whose baskets were encoded, as dictionaries
    filled: list[Bools] = [np.empty(0, np.bool_)]
    count = 0

    def basket_pieces() -> Iterator[pa.Array]:
        nonlocal count
        for baskets, items in batches:
            first = pc.index(baskets, "").as_py()
            if first >= 0:
                place = count + first + 1
                raise UnveilError(f"{safe_text(path.name)}: data row {place:,} has no basket; complete or remove it")
            there = pc.not_equal(items, "")
            named.append(items.filter(there).dictionary_encode())
            filled.append(there.to_numpy(zero_copy_only=False))
            count += len(items)
            yield baskets

    rows, names = text_tokens.encode_texts(basket_pieces(), by_appearance=True)
    codes, labels = text_tokens.encode_texts(named.pop(0) for _ in range(len(named)))
    rows, gathered = rows[np.concatenate(filled)], np.empty(len(codes), np.int32)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(names))))
    _kernels.group_by_row(
        text_tokens.freeze_array(rows, np.int32),
        text_tokens.freeze_array(codes, np.int32),
        indptr[:-1].copy(),
        gathered,
    )
    layout = "expected a header, then one row per item with its basket"
    return _make_transactions(
        indptr, gathered, labels, path.name, source_file.file_digest(path), count - len(codes), layout
    )


def _csv_rows(data: bytes, delimiter: str) -> Any:
    """Python's own CSV reader, for the header and for finding errors: slow, but it knows line numbers."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    return csv.reader(text, delimiter=delimiter, strict=True)


def _read_header(data: bytes, name: str) -> tuple[str, list[str]]:
    """The delimiter, which is the most frequent candidate in the first line, and the column names."""
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8")
    delimiter = max(",;\t", key=next((line for line in lines if line != "\n"), "").count)
    rows = _csv_rows(data, delimiter)
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
    data: bytes, delimiter: str, width: int, columns: tuple[int, int], name: str
) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Two columns of text, some rows at a time. Arrow's messages quote the data, so errors are located again and
    reported without it."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    names = [str(k) for k in range(width)]
    kept_names = [str(k) for k in columns]
    if data.count(b'"') % 2:
        _raise_first_fault(data, delimiter, width, name)  # an open quote would silently swallow the rest of the file
    rows = data.lstrip(b"\r\n")  # Arrow takes a blank line before the header for the header
    try:
        batches = arrow_csv.open_csv(
            pa.BufferReader(rows if b"\n" in rows or b"\r" in rows else rows + b"\n"),
            arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=_BLOCK),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(kept_names, pa.large_string()), include_columns=kept_names
            ),
        )
        for batch in batches:
            yield batch[kept_names[0]], batch[kept_names[1]]
    except MemoryError:
        raise
    except pa.ArrowException:
        _raise_first_fault(data, delimiter, width, name)
        raise UnveilError(f"{name}: cannot be read as CSV; check that every quote is closed") from None


def _raise_first_fault(data: bytes, delimiter: str, width: int, name: str) -> None:
    """Raise an error that names the first faulty line, if there is one."""
    rows = _csv_rows(data, delimiter)
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
        lines = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(indptr - indptr[0]), items), between)
        rows = pc.binary_join_element_wise(before, lines, after, pa.scalar("", kind))
        file.write(
            pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), pa.scalar("", kind))[0].as_buffer()
        )
