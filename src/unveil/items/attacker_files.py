"""Parse what the attacker holds: beliefs, similar baskets, itemsets of interest, items never bought together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.item_pairs import pair_counts
from unveil.items.itemsets import ItemsetRequirement
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import list_text, safe_text

__all__ = [
    "parse_beliefs",
    "parse_categories",
    "parse_itemsets",
    "parse_never_together",
    "similar_codes",
    "similar_counts",
]


def parse_beliefs(given: Table, baskets: Transactions) -> Beliefs:
    """Beliefs from the columns item, low and high. Nothing is known about an item that is not named."""
    name = safe_text(given.name)
    items, low_ends, high_ends = _read_columns(
        given, ("item", "low", "high"), "beliefs need the columns item, low and high"
    )
    ends = [_parse_frequencies(low_ends, "low", name), _parse_frequencies(high_ends, "high", name)]
    known = _item_codes(items, baskets)
    _refuse_repeated_item(known, "keep one interval per item", name)
    if not (known >= 0).any():
        raise UnveilError(f"{name}: none of its items is in {safe_text(baskets.name)}; use the item names of that file")
    intervals = np.tile([0.0, 1.0], (len(baskets.labels), 1))
    intervals[known[known >= 0]] = np.stack(ends, axis=1)[known >= 0]
    low, high = intervals.T * baskets.baskets
    return Beliefs.from_intervals(low, high, baskets.counts)


def _read_columns(given: Table, columns: Sequence[str], hint: str) -> list[pa.Array]:
    """Some columns of a file, all of which it must have."""
    lacking = [c for c in columns if c not in given.columns]
    if lacking:
        raise UnveilError(f"{safe_text(given.name)}: there is no column {list_text(lacking)}; {hint}")
    whole = pa.Table.from_batches(given.batches())
    return [whole.column(c).combine_chunks() for c in columns]


def _item_codes(names: pa.Array, baskets: Transactions) -> Ints:
    """The number of each named item in the baskets; −1 if it is not there."""
    codes = pc.index_in(names.cast("string"), baskets.labels.cast("string"))
    return np.asarray(codes.fill_null(-1), np.int64)


def _refuse_repeated_item(codes: Ints, hint: str, name: str) -> None:
    """Raise an error for the first row whose item an earlier row names."""
    known = np.flatnonzero(codes >= 0)
    first = np.unique(codes[known], return_index=True)[1]
    again = np.isin(np.arange(len(codes)), np.delete(known, first))
    _refuse_first_row(again, f"names an item again; {hint}", name)


def _parse_frequencies(values: pa.Array, column: str, name: str) -> Floats:
    try:
        found = np.asarray(values.cast("double").fill_null(np.nan), np.float64)
    except (ValueError, TypeError):
        raise UnveilError(f"{name}: column {column} holds a value that is not a number; correct it") from None
    wrong = ~((found >= 0) & (found <= 1))
    if wrong.any():
        row = int(wrong.argmax()) + 1
        raise UnveilError(f"{name}: {column} in row {row:,} is not a frequency between 0 and 1; write 0.1 for a tenth")
    return found


def parse_itemsets(
    given: Table, codes: dict[str, int | None], sigma: float, tau: float
) -> list[tuple[str, ItemsetRequirement]]:
    """Itemsets of interest from a column items, names separated by blanks, with their own sigma and tau if there are
    such columns; one requirement per class and pair of thresholds, with the name of its class or "".

    ``codes`` maps the items' names to their numbers. An item without a number is not released by itself, so a set that
    contains it cannot be cracked and is left out.
    """
    name = safe_text(given.name)
    if "items" not in given.columns:
        raise UnveilError(f"{name}: there is no column items; list one itemset per row, names separated by blanks")
    rows = pa.Table.from_batches(given.batches()).to_pylist()
    found: dict[tuple[str, float, float], list[list[int]]] = {}
    for number, row in enumerate(rows, 1):
        text = str(row["items"] or "")
        labels = [x.strip() for x in text.split(";")] if ";" in text else text.split()
        if not labels or any(label not in codes for label in labels) or len(set(labels)) < len(labels):
            raise UnveilError(
                f"{name}: row {number:,} repeats an item or names one that is not in the baskets; correct it"
            )
        kind = str(row.get("class") or "")
        own = (
            _parse_share(row.get("sigma"), sigma, "sigma", number, name),
            _parse_share(row.get("tau"), tau, "tau", number, name),
        )
        members = [code for label in labels if (code := codes[label]) is not None]
        if len(members) == len(labels):
            found.setdefault((kind, *own), []).append(members)
    return [(kind, ItemsetRequirement.from_itemsets(sets, s, t)) for (kind, s, t), sets in found.items()]


def _parse_share(value: object, default: float, column: str, row: int, name: str) -> float:
    if value is None or str(value).strip() == "":
        return default
    try:
        share = float(str(value))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UnveilError(f"{name}: {column} in row {row:,} is not a share between 0 and 1; write 0.1 for a tenth")
    return share


def parse_never_together(given: Table, baskets: Transactions, run: Run | None = None) -> tuple[Ints, Ints]:
    """Distinct pairs of items that are never bought together, from the columns item and other; the lower code comes
    first. Pairs that do occur together are refused: such knowledge would be false."""
    name = safe_text(given.name)
    named = _read_columns(given, ("item", "other"), "name a pair in each row as item and other")
    x, y = (_item_codes(column, baskets) for column in named)
    _refuse_first_row(
        (x < 0) | (y < 0), "names an item that is not in the baskets; use the item names of that file", name
    )
    _refuse_first_row(x == y, "names the same item twice; name two items", name)
    _refuse_first_row(
        pair_counts(baskets, x, y, run) > 0, "names two items that do occur in one basket; remove the row", name
    )
    a, b = np.unique(np.sort(np.stack([x, y]), axis=0), axis=1)
    return a, b


def _refuse_first_row(wrong: Bools, why: str, name: str) -> None:
    """Raise an error that names the first wrong row."""
    if wrong.any():
        raise UnveilError(f"{name}: row {int(wrong.argmax()) + 1:,} {why}")


def parse_categories(given: Table, baskets: Transactions) -> Ints:
    """The category of every item, as a number, from the columns item and category; −1 for an item without one."""
    name = safe_text(given.name)
    items, categories = _read_columns(given, ("item", "category"), "name item and category in each row")
    known = _item_codes(items, baskets)
    empty = pc.equal(pc.fill_null(categories.cast("string"), ""), "")
    numbers = categories.dictionary_encode().indices.fill_null(-1)
    of_row = np.where(np.asarray(empty), -1, np.asarray(numbers, np.int64))
    _refuse_repeated_item(known, "give each item one category", name)
    if not ((known >= 0) & (of_row >= 0)).any():
        raise UnveilError(
            f"{name}: no item of {safe_text(baskets.name)} has a category; use the item names of that file"
        )
    found = np.full(len(baskets.labels), -1)
    found[known[known >= 0]] = of_row[known >= 0]
    return found


def similar_codes(similar: Transactions, baskets: Transactions) -> Ints:
    """The number in the baskets of each item of similar baskets, matched by name; −1 if it is not there."""
    return _item_codes(similar.labels, baskets)


def similar_counts(similar: Transactions, baskets: Transactions) -> tuple[Ints, Bools]:
    """The count of each released item in similar baskets, matched by name, and which items occur there."""
    codes = _item_codes(baskets.labels, similar)
    if not (codes >= 0).any():
        raise UnveilError(
            f"{safe_text(similar.name)}: no item of {safe_text(baskets.name)} occurs; give items the same names in "
            "both files"
        )
    return np.where(codes >= 0, similar.counts[codes], 0), codes >= 0
