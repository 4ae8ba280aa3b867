"""What linkage finds, counted over all sets of columns, against grouping the rows by each set on its own.

A table like Adult (32,561 × 9) and one of a million rows (× 8), both made up: values are independent and fall off like
Zipf's law. The baselines only count the groups of every set, which is the success of Scoreboard and no more; ours are
all figures of every row. Then the same with every fifth value null, and the table like Adult with 14 columns.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations
from typing import TYPE_CHECKING, Any

from _measure import measure_work, print_figure, run_in_process

if TYPE_CHECKING:
    from unveil.linkage.records import Records

__all__ = ["main"]

_SPANS = (73, 16, 7, 15, 6, 5, 2, 41, 120, 73, 16, 7, 15, 6)
_FALLS = (0.4, 1, 1.5, 0.5, 0.8, 2.5, 0.5, 3, 1.5, 0.4, 1, 1.5, 0.5, 0.8)
_ADULT, _MILLION = (32_561, 9), (1_000_000, 8)


def main() -> None:
    """Print the figures."""
    for n, c in (_ADULT, _MILLION):
        print(f"exact: {n:,} rows × {c} columns")
        for said, sizes in (("4 things known", "4"), (f"1 to {c} things known", f"1-{c}")):
            ours = _took("ours", n, c, sizes)
            print_figure(said, ours, _took("duckdb", n, c, sizes), "a GROUP BY of DuckDB for each set")
            print_figure(said, ours, _took("numpy", n, c, sizes), "sorting packed keys by numpy for each set")
    n, c = _ADULT
    print(f"exact: variants of {n:,} rows")
    print_figure("every fifth value null", _took("nulls", n, c, "4"), _took("ours", n, c, "4"), "without nulls")
    ours = _took("ours", n, 14, "4")
    print_figure("14 columns, 4 things known", ours, _took("numpy", n, 14, "4"), "sorting packed keys by numpy")
    print_figure("14 columns, all 16,384 sets", _took("ours", n, 14, "1-14"), ours, "4 things known")


def _took(part: str, n: int, c: int, sizes: str) -> float:
    return run_in_process(__file__, part, str(n), str(c), sizes)["cpu"]


def _columns(n: int, c: int) -> list[Any]:
    import numpy as np

    random, columns = np.random.default_rng(0), []
    for span, fall in zip(_SPANS[:c], _FALLS[:c], strict=True):
        weights = 1 / np.arange(1, span + 1) ** fall
        columns.append(random.choice(span, n, p=weights / weights.sum()).astype(np.int32))
    return columns


def _sizes(said: str) -> range:
    low, _, high = said.partition("-")
    return range(int(low), int(high or low) + 1)


# ---- ways to compute it ----------------------------------------------------------------------------------------------


def _records(n: int, c: int, nulls: float) -> Records:
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.records import records_from_codes
    from unveil.release.codes import encode_column

    random = np.random.default_rng(1)
    given = (pa.array(column, mask=random.random(n) < nulls) for column in _columns(n, c))
    return records_from_codes({f"c{k}": encode_column(pa.chunked_array([column])) for k, column in enumerate(given)})


def _ours(n: int, c: int, sizes: str, nulls: float = 0.0) -> dict[str, float]:
    from unveil.linkage.attack.exact_success import count_success

    records = _records(n, c, nulls)
    return measure_work(lambda: count_success(records, _sizes(sizes)), repeat=5 if n < 1_000_000 else 2)


def _numpy(n: int, c: int, sizes: str) -> dict[str, float]:
    import numpy as np

    from unveil.grouping import pack_columns

    columns = _columns(n, c)

    def work() -> None:
        for m in _sizes(sizes):
            for some in combinations(columns, m):
                np.unique(pack_columns(some, n)[0])

    return measure_work(work, repeat=1)


def _duckdb(n: int, c: int, sizes: str) -> dict[str, float]:
    import duckdb
    import pyarrow as pa

    names = [f"c{k}" for k in range(c)]
    connection = duckdb.connect()
    connection.register("given", pa.table(dict(zip(names, _columns(n, c), strict=True))))
    connection.execute("CREATE TABLE codes AS SELECT * FROM given")

    def work() -> None:
        for m in _sizes(sizes):
            for some in combinations(names, m):
                by = ", ".join(some)
                connection.sql(f"SELECT count(*) FROM (SELECT {by} FROM codes GROUP BY {by})").fetchall()

    return measure_work(work, repeat=1)


JOBS = {
    "ours": _ours,
    "nulls": lambda n, c, sizes: _ours(n, c, sizes, 0.2),
    "numpy": _numpy,
    "duckdb": _duckdb,
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        part, rows, width, sizes = sys.argv[1:]
        print(json.dumps(JOBS[part](int(rows), int(width), sizes)))
