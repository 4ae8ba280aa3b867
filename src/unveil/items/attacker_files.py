"""Parse what the attacker holds: beliefs, similar baskets, itemsets of interest, items often or never bought
together."""

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
    "number_classes",
    "parse_beliefs",
    "parse_categories",
    "parse_itemsets",
    "parse_never_together",
    "parse_pairs",
    "similar_codes",
    "similar_counts",
]


def parse_beliefs(given: Table, baskets: Transactions) -> Beliefs:
    """Beliefs from the columns item, low and high, an interval per item; with a column weight, any number of ranges per
    item. Nothing is known about an item that is not named."""
    name, weighted = safe_text(given.name), "weight" in given.columns
    names = ("item", "low", "high", *(["weight"] if weighted else []))
    items, *columns = _read_columns(given, names, "beliefs need the columns item, low and high")
    low, high = (_parse_numbers(column, end, name) for column, end in zip(columns[:2], names[1:3], strict=True))
    for column, ends in (("low", low), ("high", high)):
        outside = ~((ends >= 0) & (ends <= 1))
        _refuse_first_row(outside, f"has no frequency between 0 and 1 as {column}; write 0.1 for a tenth", name)
    _refuse_first_row(low > high, "has a low end above its high end; swap them", name)
    known = _item_codes(items, baskets)
    there = known >= 0
    if not there.any():
        raise UnveilError(f"{name}: none of its items is in {safe_text(baskets.name)}; use the item names of that file")
    rows = low[there] * baskets.baskets, high[there] * baskets.baskets
    if weighted:
        weights = _parse_numbers(columns[2], "weight", name)
        _refuse_first_row(~((weights > 0) & (weights < np.inf)), "has no weight above 0; remove it", name)
        return Beliefs.from_ranges(known[there], *rows, weights[there], baskets.counts)
    _refuse_repeated_item(known, "keep one interval per item, or add a column weight", name)
    ends = np.tile([0.0, float(baskets.baskets)], (len(baskets.labels), 1))
    ends[known[there]] = np.stack(rows, axis=1)
    return Beliefs.from_intervals(ends[:, 0], ends[:, 1], baskets.counts)


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


def _parse_numbers(values: pa.Array, column: str, name: str) -> Floats:
    """A column of numbers; an empty value is not a number."""
    texts = values.cast("string").to_pylist()
    found = np.array([_number_of(text) for text in texts])
    _refuse_first_row(np.isnan(found), f"has no number as {column}; correct it", name)
    return found


def _number_of(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


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


def number_classes(given: Table) -> dict[str, int]:
    """The classes of a file of itemsets, numbered from 1 in the order in which they first appear."""
    named = pa.Table.from_batches(given.batches()).column("class").to_pylist() if "class" in given.columns else []
    return {kind: number for number, kind in enumerate(dict.fromkeys(str(kind) for kind in named if kind), 1)}


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
    """Distinct pairs of items that are never bought together. Pairs that do occur together are refused: such knowledge
    would be false."""
    x, y = _parse_pair_columns(given, baskets)
    met = pair_counts(baskets, x, y, run) > 0
    _refuse_first_row(met, "names two items that do occur in one basket; remove the row", safe_text(given.name))
    return _distinct_pairs(x, y)


def parse_pairs(given: Table, baskets: Transactions, run: Run | None = None) -> tuple[Ints, Ints]:
    """Distinct pairs of items that are bought together. Pairs that never occur together are refused."""
    x, y = _parse_pair_columns(given, baskets)
    apart = pair_counts(baskets, x, y, run) == 0
    _refuse_first_row(apart, "names two items that never occur in one basket; remove the row", safe_text(given.name))
    return _distinct_pairs(x, y)


def _parse_pair_columns(given: Table, baskets: Transactions) -> tuple[Ints, Ints]:
    """The codes of two different items in each row, from the columns item and other."""
    name = safe_text(given.name)
    named = _read_columns(given, ("item", "other"), "name a pair in each row as item and other")
    x, y = (_item_codes(column, baskets) for column in named)
    _refuse_first_row(
        (x < 0) | (y < 0), "names an item that is not in the baskets; use the item names of that file", name
    )
    _refuse_first_row(x == y, "names the same item twice; name two items", name)
    return x, y


def _distinct_pairs(x: Ints, y: Ints) -> tuple[Ints, Ints]:
    """Each pair once, the lower code first."""
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
