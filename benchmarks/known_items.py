"""The rarest set of at most two or three items of every basket, against DuckDB's joins of the baskets with themselves.

The baseline makes all sets of two or three items of every basket, counts how often each occurs, and takes the least of
each basket. The triples of retail, which take it 6 GB, are measured against its pairs.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from _measure import data_folder, measure_work, print_figure, run_in_process

from unveil import Transactions, read
from unveil.classes.known_items import KnownItems, measure_known_items

__all__ = ["main"]

_SETS = {
    2: "SELECT x.basket, x.item AS a, y.item AS b FROM baskets AS x JOIN baskets AS y "
    "ON x.basket = y.basket AND x.item < y.item",
    3: "SELECT x.basket, x.item AS a, y.item AS b, z.item AS c FROM baskets AS x JOIN baskets AS y "
    "ON x.basket = y.basket AND x.item < y.item JOIN baskets AS z ON x.basket = z.basket AND y.item < z.item",
}
_SQL = """
WITH sets AS MATERIALIZED ({sets}),
supports AS (SELECT {items}, count(*) AS support FROM sets GROUP BY ALL)
SELECT basket, min(support) AS least FROM sets JOIN supports USING ({items}) GROUP BY basket
"""


def main() -> None:
    """Print the figures."""
    print("known items: the rarest set of every basket")
    data = data_folder()
    if data is None:
        return
    for name in ("chess", "mushroom", "retail"):
        file, theirs = str(data / "transactions" / f"{name}.dat"), dict[str, float]()
        for size in (2, 3):
            ours, what = run_in_process(__file__, "ours", file, str(size)), f"{name}, at most {size} items"
            if size == 2 or name != "retail":
                theirs, named = run_in_process(__file__, "theirs", file, str(size)), f"DuckDB's sets of {size} items"
                assert ours["check"] == theirs["check"]
            print_figure(what, ours["cpu"], theirs["cpu"], named, goal=0.1)
            print_figure(f"{what}, peak memory", ours["memory"], theirs["memory"], named, "MB")


def _ours(transactions: Transactions, size: int) -> dict[str, float]:
    assert transactions.counts is not None  # known before anything is asked
    found = list[KnownItems]()
    figures = measure_work(lambda: found.append(measure_known_items(transactions, most=size)), repeat=3)
    assert not found[0].truncated
    long = np.flatnonzero(np.diff(transactions.indptr) >= size)  # no set of a shorter basket is so large
    return {**figures, "check": _check(long, found[0].rarest_supports[long])}


def _theirs(transactions: Transactions, size: int) -> dict[str, float]:
    """The query alone; the baskets are in DuckDB's own table before."""
    import duckdb
    import pyarrow as pa

    of = np.repeat(np.arange(transactions.baskets, dtype=np.int32), np.diff(transactions.indptr))
    connection = duckdb.connect()
    connection.register("arrived", pa.table({"basket": of, "item": transactions.items}))
    connection.execute("CREATE TABLE baskets AS SELECT * FROM arrived")
    sql = _SQL.format(sets=_SETS[size], items=", ".join("abc"[:size]))
    rows = list[dict[str, np.ndarray]]()
    figures = measure_work(lambda: rows.append(connection.execute(sql).fetchnumpy()), repeat=1)
    return {**figures, "check": _check(rows[0]["basket"], rows[0]["least"])}


def _check(baskets: np.ndarray, least: np.ndarray) -> float:
    """A number that, as good as surely, only the same results have."""
    return float(((baskets.astype(np.int64) + 1) * least).sum())


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        who, source, size = sys.argv[1:]
        print(json.dumps({"ours": _ours, "theirs": _theirs}[who](read(source), int(size))))
