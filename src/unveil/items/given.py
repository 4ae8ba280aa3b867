"""What comes from other files: a table of beliefs, similar baskets, itemsets of interest, items never together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.itemsets import Theta
from unveil.items.pairs import pair_counts
from unveil.matching.candidates import Floats, Ints
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.wording import listed, shown

__all__ = ["apart", "believed", "categories", "counts_in", "itemsets"]

_COLUMNS = ("item", "low", "high")


def believed(given: Table, baskets: Transactions) -> Beliefs:
    """Intervals of frequencies from columns item, low and high. Nothing is known of an item that is not named."""
    name = shown(given.name)
    lacking = [c for c in _COLUMNS if c not in given.columns]
    if lacking:
        raise UnveilError(f"{name}: there is no column {listed(lacking)}; beliefs have the columns item, low and high")
    whole = pa.Table.from_batches(given.batches())
    items = whole.column("item").combine_chunks()
    ends = [_frequencies(whole.column(end).combine_chunks(), end, name) for end in ("low", "high")]
    codes = pc.index_in(items.cast("string"), baskets.labels.cast("string"))
    known = np.asarray(codes.fill_null(-1), np.int64)
    if len(np.unique(known[known >= 0])) < (known >= 0).sum():
        raise UnveilError(f"{name}: an item is named twice; keep one interval for each")
    if not (known >= 0).any():
        raise UnveilError(f"{name}: none of its items is in {shown(baskets.name)}; items are named as there")
    intervals = np.tile([0.0, 1.0], (len(baskets.labels), 1))
    intervals[known[known >= 0]] = np.stack(ends, axis=1)[known >= 0]
    low, high = intervals.T * baskets.baskets
    return Beliefs.of(low, high, baskets.counts)


def _frequencies(values: pa.Array, column: str, name: str) -> Floats:
    try:
        found = np.asarray(values.cast("double").fill_null(np.nan), np.float64)
    except (ValueError, TypeError):
        raise UnveilError(f"{name}: column {column} holds something that is not a number; mend it") from None
    wrong = ~((found >= 0) & (found <= 1))
    if wrong.any():
        row = int(wrong.argmax()) + 1
        raise UnveilError(f"{name}: {column} in row {row:,} is not a frequency between 0 and 1; write .1 for a tenth")
    return found


def itemsets(given: Table, codes: dict[str, int | None], sigma: float, tau: float) -> list[tuple[str, Theta]]:
    """Itemsets of interest from a column items, names separated by blanks, with their own sigma and tau if there are
    such columns; one Theta per class and pair of thresholds, and what to call it.

    ``codes`` are the items' numbers by name. An item without one is not in the release by itself, and no set that holds
    it can be cracked: such sets are left out.
    """
    name = shown(given.name)
    if "items" not in given.columns:
        raise UnveilError(f"{name}: there is no column items; list one itemset a row, names separated by blanks")
    rows = pa.Table.from_batches(given.batches()).to_pylist()
    found: dict[tuple[str, float, float], list[list[int]]] = {}
    for number, row in enumerate(rows, 1):
        text = str(row["items"] or "")
        labels = [x.strip() for x in text.split(";")] if ";" in text else text.split()
        if not labels or any(label not in codes for label in labels) or len(set(labels)) < len(labels):
            raise UnveilError(f"{name}: row {number:,} does not list different items of the baskets; mend it")
        kind = str(row.get("class") or "")
        own = _share(row.get("sigma"), sigma, "sigma", number, name), _share(row.get("tau"), tau, "tau", number, name)
        members = [code for label in labels if (code := codes[label]) is not None]
        if len(members) == len(labels):
            found.setdefault((kind, *own), []).append(members)
    return [(kind or "the listed itemsets", Theta.of(sets, s, t)) for (kind, s, t), sets in found.items()]


def _share(value: object, default: float, column: str, row: int, name: str) -> float:
    if value is None or str(value).strip() == "":
        return default
    try:
        share = float(str(value))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UnveilError(f"{name}: {column} in row {row:,} is not a share between 0 and 1; mend it")
    return share


def apart(given: Table, baskets: Transactions, run: Run | None = None) -> tuple[Ints, Ints]:
    """Different pairs of items that are known never to be bought together, from columns item and other; the lower code
    first. Pairs that do occur together are refused: such knowledge would be false."""
    name = shown(given.name)
    lacking = [c for c in ("item", "other") if c not in given.columns]
    if lacking:
        raise UnveilError(f"{name}: there is no column {listed(lacking)}; each row names a pair as item and other")
    whole, labels = pa.Table.from_batches(given.batches()), baskets.labels.cast("string")
    named = (whole.column(c).combine_chunks().cast("string") for c in ("item", "other"))
    x, y = (np.asarray(pc.index_in(column, labels).fill_null(-1), np.int64) for column in named)
    _refuse((x < 0) | (y < 0), "names an item that is not in the baskets; items are named as there", name)
    _refuse(x == y, "names the same item twice; a pair has two", name)
    _refuse(pair_counts(baskets, x, y, run) > 0, "names two items that do occur in one basket; take it out", name)
    a, b = np.unique(np.sort(np.stack([x, y]), axis=0), axis=1)
    return a, b


def _refuse(wrong: npt.NDArray[np.bool_], why: str, name: str) -> None:
    """An error for the first row that is wrong."""
    if wrong.any():
        raise UnveilError(f"{name}: row {int(wrong.argmax()) + 1:,} {why}")


def categories(given: Table, baskets: Transactions) -> Ints:
    """The category of every item from columns item and category, as numbers; −1 for an item that has none."""
    name = shown(given.name)
    lacking = [c for c in ("item", "category") if c not in given.columns]
    if lacking:
        raise UnveilError(f"{name}: there is no column {listed(lacking)}; categories have the columns item, category")
    whole = pa.Table.from_batches(given.batches())
    codes = pc.index_in(whole.column("item").combine_chunks().cast("string"), baskets.labels.cast("string"))
    known = np.asarray(codes.fill_null(-1), np.int64)
    names = whole.column("category").combine_chunks().dictionary_encode().indices
    empty = pc.equal(pc.fill_null(whole.column("category").combine_chunks().cast("string"), ""), "")
    of_row = np.where(np.asarray(empty), -1, np.asarray(names.fill_null(-1), np.int64))
    if len(np.unique(known[known >= 0])) < (known >= 0).sum():
        raise UnveilError(f"{name}: an item is named twice; give it one category")
    if not ((known >= 0) & (of_row >= 0)).any():
        raise UnveilError(f"{name}: puts no item of {shown(baskets.name)} into a category; items are named as there")
    found = np.full(len(baskets.labels), -1)
    found[known[known >= 0]] = of_row[known >= 0]
    return found


def counts_in(similar: Transactions, baskets: Transactions) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """How often the items of a release occur in similar baskets, by their names, and which of them do."""
    found = pc.index_in(baskets.labels.cast("string"), similar.labels.cast("string"))
    codes = np.asarray(found.fill_null(-1), np.int64)
    if not (codes >= 0).any():
        raise UnveilError(
            f"{shown(similar.name)}: has no item of {shown(baskets.name)}; items must have the same names in both"
        )
    return np.where(codes >= 0, similar.counts[codes], 0), codes >= 0
