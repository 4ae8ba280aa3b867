"""Minimal sample uniques and sets of known columns on Adult (30,162 rows, nine columns) against plain group-bys.

All start from columns of codes. The baselines group the rows by every set of at most four columns; numpy's compares
each set with its parts as well, DuckDB's only finds who is alone. What is known by number of columns, and Shapley
values, go through all 512 sets; their baseline counts the classes and those alone in them, by numpy.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations

from _measure import data_folder, measure_work, print_figure, run_in_process

__all__ = ["main"]

_MOST = 4


def main() -> None:
    """Print the figures."""
    print("uniques: Adult, nine columns")
    data = data_folder()
    if data is None:
        return
    file = str(data / "tables" / "adult-hierarchies" / "adult.csv")
    took = {part: run_in_process(__file__, part, file) for part in JOBS}
    ours, by_numpy, by_duckdb = (took[part] for part in ("minimal", "numpy", "duckdb"))
    print_figure("minimal sample uniques of at most 4 columns", ours["cpu"], by_numpy["cpu"], "numpy over all sets")
    print_figure("the same", ours["cpu"], by_duckdb["cpu"], "DuckDB over all sets")
    print_figure("of any number of columns", took["all sizes"]["cpu"], by_numpy["cpu"], "numpy up to 4 columns")
    for part in ("known", "shapley"):
        print_figure(f"{part}, 512 sets", took[part]["cpu"], took["classes"]["cpu"], "numpy over all sets")
    print_figure(
        "sets that single out a quarter", took["discover"]["cpu"], took["classes"]["cpu"], "numpy over all sets"
    )


def _codes(file: str):  # type: ignore[no-untyped-def]
    import numpy as np
    import pyarrow.csv as csv

    table = csv.read_csv(file, parse_options=csv.ParseOptions(delimiter=";"))
    return [np.asarray(c.combine_chunks().dictionary_encode().indices, np.int32) for c in table.columns]


def _minimal(file: str, most: int) -> dict[str, float]:
    from unveil.classes.minimal_uniques import find_minimal_uniques

    codes = _codes(file)
    return measure_work(lambda: find_minimal_uniques(codes, None, most).score)


def _numpy(file: str) -> dict[str, float]:
    from reference.naive_uniques import minimal_sets_by_numpy

    codes = _codes(file)
    return measure_work(lambda: minimal_sets_by_numpy(codes, _MOST), repeat=2)


def _duckdb(file: str) -> dict[str, float]:
    import duckdb
    import pyarrow as pa

    codes = _codes(file)
    connection = duckdb.connect()
    names = [f"c{k}" for k in range(len(codes))]
    connection.register("given", pa.table(dict(zip(names, codes, strict=True))))
    connection.execute("CREATE TABLE codes AS SELECT *, row_number() OVER () AS row_no FROM given")

    def work() -> None:
        for size in range(1, _MOST + 1):
            for some in combinations(names, size):
                sql = f"SELECT min(row_no) FROM codes GROUP BY {', '.join(some)} HAVING count(*) = 1"
                connection.sql(sql).to_arrow_table()

    return measure_work(work, repeat=1)


def _classes(file: str) -> dict[str, float]:
    """The classes of all sets and who is alone in them."""
    import numpy as np

    from unveil.grouping import pack_columns

    codes = _codes(file)

    def work() -> None:
        for size in range(len(codes) + 1):
            for some in combinations(codes, size):
                key = np.sort(pack_columns(some, len(codes[0]))[0])
                sizes = np.diff(np.flatnonzero(np.diff(key, prepend=-1)), append=len(key))
                assert len(sizes) and (sizes == 1).sum() >= 0

    return measure_work(work, repeat=2)


def _known(file: str) -> dict[str, float]:
    import numpy as np

    from unveil.classes.known_columns import risk_by_columns_known

    codes = _codes(file)
    return measure_work(lambda: risk_by_columns_known(codes, None, np.random.default_rng(0)))


def _shapley(file: str) -> dict[str, float]:
    import numpy as np

    from unveil.classes.known_columns import shapley_values

    codes = _codes(file)
    return measure_work(lambda: shapley_values(codes, None, np.random.default_rng(0)))


def _discover(file: str) -> dict[str, float]:
    from unveil.classes.known_columns import find_identifying_sets

    codes = _codes(file)
    return measure_work(lambda: find_identifying_sets(codes, None, 0.25, 9))


JOBS = {
    "minimal": lambda file: _minimal(file, _MOST),
    "all sizes": lambda file: _minimal(file, 9),
    "numpy": _numpy,
    "duckdb": _duckdb,
    "classes": _classes,
    "known": _known,
    "shapley": _shapley,
    "discover": _discover,
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(JOBS[sys.argv[1]](sys.argv[2])))
