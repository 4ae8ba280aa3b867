"""What comes from other files: a table of beliefs, similar baskets, itemsets of interest."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.itemsets import Theta
from unveil.matching.candidates import Floats, Ints
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.wording import listed, shown

__all__ = ["believed", "counts_in", "itemsets"]

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


def itemsets(given: Table, baskets: Transactions, sigma: float, tau: float) -> list[tuple[str, Theta]]:
    """Itemsets of interest from a column items, names separated by blanks, with their own sigma and tau if there are
    such columns; one Theta per class and pair of thresholds, and what to call it."""
    name = shown(given.name)
    if "items" not in given.columns:
        raise UnveilError(f"{name}: there is no column items; list one itemset a row, names separated by blanks")
    rows = pa.Table.from_batches(given.batches()).to_pylist()
    codes = {label: code for code, label in enumerate(baskets.labels.to_pylist())}
    found: dict[tuple[str, float, float], list[list[int]]] = {}
    for number, row in enumerate(rows, 1):
        labels = str(row["items"] or "").split()
        if not labels or any(label not in codes for label in labels) or len(set(labels)) < len(labels):
            raise UnveilError(f"{name}: row {number:,} does not list different items of the baskets; mend it")
        kind = str(row.get("class") or "")
        own = _share(row.get("sigma"), sigma, "sigma", number, name), _share(row.get("tau"), tau, "tau", number, name)
        found.setdefault((kind, *own), []).append([codes[label] for label in labels])
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


def counts_in(similar: Transactions, baskets: Transactions) -> Ints:
    """How often the items of a release occur in similar baskets, by their names."""
    found = pc.index_in(baskets.labels.cast("string"), similar.labels.cast("string"))
    codes = np.asarray(found.fill_null(-1), np.int64)
    if not (codes >= 0).any():
        raise UnveilError(
            f"{shown(similar.name)}: has no item of {shown(baskets.name)}; items must have the same names in both"
        )
    return np.where(codes >= 0, similar.counts[codes], 0)
