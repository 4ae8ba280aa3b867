"""What a private answer costs on top of counting: a histogram of 100 bins of 10 million rows.

Each person has 2.5 rows on average. The baselines are queries that an expert would write for DuckDB, on the same file:
a GROUP BY of which at most C rows of each person count, by row numbers; and one in two steps that limits each value of
a person by itself. CPU seconds of all threads, with the noise; the library of noise is loaded, and the file hashed,
before.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from _measure import measure_work, print_figure, run_in_process

__all__ = ["main"]

_ROWS, _PEOPLE, _BINS, _LARGEST = 10_000_000, 4_000_000, 100, 10_000


def main() -> None:
    """Print the figures."""
    print("private answers")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder  # the register of this ledger goes with it
        file = Path(folder) / "rows.parquet"
        _write_rows(file)
        for most in (1, 3):
            by_number, in_steps = (run_in_process(__file__, part, str(file), str(most)) for part in _BASELINES)
            baselines = {"the same by row numbers in DuckDB": by_number, "two-step GROUP BY in DuckDB": in_steps}
            for question in ("histogram kind", "histogram amount"):
                own = run_in_process(__file__, question, str(file), str(most))
                for name, baseline in baselines.items():
                    said = f"{question}, {most} rows of each person"
                    print_figure(said, own["cpu"], baseline["cpu"], name, goal=1.3)


def _write_rows(file: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    kinds = pa.array([f"k{kind}" for kind in range(_BINS)])
    table = {
        "id": rng.integers(0, _PEOPLE, _ROWS),
        "amount": rng.integers(0, _LARGEST, _ROWS),
        "kind": kinds.take(pa.array(rng.integers(0, _BINS, _ROWS))),
    }
    pq.write_table(pa.table(table), file)


def _count_by_row_number(file: str, most: int) -> dict[str, float]:
    import duckdb

    numbered = f"SELECT kind, row_number() OVER (PARTITION BY id ORDER BY hash(kind)) AS place FROM '{file}'"
    sql = f"SELECT kind, count(*) FROM ({numbered}) WHERE place <= {most} GROUP BY kind"
    return measure_work(lambda: duckdb.sql(sql).fetchall(), 2)


def _count_in_two_steps(file: str, most: int) -> dict[str, float]:
    """Limits each kind of each person by itself: not the same, and the least that any way has to do."""
    import duckdb

    counted = f"SELECT id, kind, count(*) AS n FROM '{file}' GROUP BY id, kind"
    sql = f"SELECT kind, sum(least(n, {most})) FROM ({counted}) GROUP BY kind"
    return measure_work(lambda: duckdb.sql(sql).fetchall(), 2)


def _answer(file: str, most: int, question: str) -> dict[str, float]:
    """Another answer each time: asking again would cost nothing."""
    import unveil
    from unveil.dp.curator import make_ledger, query

    table = unveil.read(file)
    cuts = tuple(Decimal(cut) for cut in range(_LARGEST // _BINS, _LARGEST, _LARGEST // _BINS))
    columns = (
        unveil.NumberColumn("amount", Decimal(0), Decimal(_LARGEST), cuts=cuts),
        unveil.CategoryColumn("kind", tuple(f"k{kind}" for kind in range(_BINS))),
    )
    path = Path(file).with_name(f"{question} {most}.ledger")
    declared = unveil.DeclaredTable(columns, "id", most)
    ledger = make_ledger(path, table, declared, 1000, another_budget=True)
    prices = iter(range(1, 100))
    return measure_work(lambda: query(table, ledger, question, epsilon=next(prices)), 2)


_BASELINES = {"row number": _count_by_row_number, "two steps": _count_in_two_steps}

if __name__ == "__main__":
    if len(sys.argv) == 4:
        part, file, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
        count = _BASELINES.get(part)
        print(json.dumps(count(file, most) if count else _answer(file, most, part)))
    else:
        main()
