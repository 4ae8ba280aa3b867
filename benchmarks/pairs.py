"""The 100 most frequent pairs of items, against DuckDB's join of the baskets with themselves."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
from _measure import data_folder, measure_work, print_figure, run_in_process

from unveil import Transactions, read
from unveil.items.item_pairs import ItemPairs, top_pairs

__all__ = ["main"]

_TOP = 100
_BASKETS, _SIZE, _ITEMS = 10_000_000, 5, 10_000
_SQL = f"""
SELECT x.item AS a, y.item AS b, count(*) AS together
FROM baskets AS x JOIN baskets AS y ON x.basket = y.basket AND x.item < y.item
GROUP BY ALL ORDER BY together DESC, a, b LIMIT {_TOP}
"""


def main() -> None:
    """Print the figures."""
    print(f"pairs: the {_TOP} most frequent")
    data = data_folder()
    named = {f"{_BASKETS:,} baskets of up to {_SIZE} items": "synthetic"}
    if data is not None:
        named = {"retail": str(data / "transactions" / "retail.dat"), **named}
    for name, source in named.items():
        ours, theirs = (run_in_process(__file__, who, source) for who in ("ours", "theirs"))
        assert ours["check"] == theirs["check"]
        print_figure(name, ours["cpu"], theirs["cpu"], "DuckDB's self-join", goal=2)
        print_figure(f"{name}, peak memory", ours["memory"], theirs["memory"], "DuckDB's self-join", "MB")


def _baskets(source: str) -> Transactions:
    return _synthetic() if source == "synthetic" else read(source)


def _synthetic() -> Transactions:
    """Items drawn by Zipf's law; one that is drawn twice for a basket is dropped."""
    rng = np.random.default_rng(1)
    shares = np.cumsum(1 / np.arange(1, _ITEMS + 1))
    guide = np.searchsorted(shares / shares[-1], (np.arange(1 << 20) + 0.5) / (1 << 20)).astype(np.int32)
    drawn = guide[rng.integers(0, 1 << 20, (_BASKETS, _SIZE), np.int32)]
    drawn.sort(axis=1)
    kept = np.ones(drawn.shape, bool)
    kept[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
    indptr = np.append(0, np.cumsum(kept.sum(axis=1)))
    labels = pa.array([str(i) for i in range(_ITEMS)])
    return Transactions(indptr, drawn[kept], labels, "synthetic", "")


def _ours(transactions: Transactions) -> dict[str, float]:
    assert transactions.counts is not None  # known before anything is asked
    found = list[ItemPairs]()
    figures = measure_work(lambda: found.append(top_pairs(transactions, _TOP)), repeat=3)
    return {**figures, "check": _check(found[0].a, found[0].b, found[0].counts)}


def _theirs(transactions: Transactions) -> dict[str, float]:
    """The query alone; the baskets are in DuckDB's own table before."""
    import duckdb

    of = np.repeat(np.arange(transactions.baskets, dtype=np.int32), np.diff(transactions.indptr))
    connection = duckdb.connect()
    connection.register("arrived", pa.table({"basket": of, "item": transactions.items}))
    connection.execute("CREATE TABLE baskets AS SELECT * FROM arrived")
    rows = list[dict[str, np.ndarray]]()
    many = 1 if transactions.baskets == _BASKETS else 3
    figures = measure_work(lambda: rows.append(connection.execute(_SQL).fetchnumpy()), repeat=many)
    return {**figures, "check": _check(rows[0]["a"], rows[0]["b"], rows[0]["together"])}


def _check(a: np.ndarray, b: np.ndarray, counts: np.ndarray) -> float:
    """A number that only the same pairs in the same order have."""
    place = np.arange(1, len(a) + 1)
    return float((place * (a.astype(np.int64) * _ITEMS * 10 + b) + place * counts).sum())


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        who, source = sys.argv[1:]
        print(json.dumps({"ours": _ours, "theirs": _theirs}[who](_baskets(source))))
