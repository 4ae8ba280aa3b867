"""Classes of Adult × 1, × 10 and × 100 (Parquet, six quasi-identifiers; also with a random zip) against the bare GROUP
BY of the same columns and the sensitive one."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from pathlib import Path

from _measure import data_folder, measure_work, print_figure, run_in_process

__all__ = ["main"]

SIX = ("age", "education", "occupation", "relationship", "sex", "native-country")


def main() -> None:
    """Print the figures."""
    data = data_folder()
    if data is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        for times, zips in ((1, False), (10, False), (100, False), (100, True)):
            print(f"classes: Adult × {times}{', with a random zip of 1,000 values' * zips}")
            file = Path(folder) / f"adult{'-zip' * zips}.parquet"
            _enlarge(data / "tables" / "adult.csv", file, times, zips)
            parts = ("bare", "findings", *(("exposed", "roles") if times == 100 and not zips else ()))
            took = {part: run_in_process(__file__, part, str(file)) for part in parts}
            bare, findings = took["bare"], took["findings"]
            print_figure("k, ℓ, entropy ℓ and t", findings["cpu"], bare["cpu"], "bare GROUP BY", goal=1.5)
            print_figure("peak memory", findings["memory"], bare["memory"], "bare GROUP BY", "MB", goal=1.5)
            if "exposed" in took:
                print_figure("with ten exposed rows", took["exposed"]["cpu"], bare["cpu"], "bare GROUP BY")
                print_figure("suggesting roles for all 15 columns", took["roles"]["cpu"], bare["cpu"], "bare GROUP BY")


def _enlarge(source: Path, target: Path, times: int, zips: bool) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    adult = csv.read_csv(source)
    table = pa.concat_tables([adult] * times).combine_chunks()
    if zips:
        drawn = np.random.default_rng(0).integers(10_000, 11_000, table.num_rows)
        table = table.append_column("zip", pa.array(drawn.astype(str)))
    pq.write_table(table, target)


def _bare(file: str) -> dict[str, float]:
    """What the engine alone needs for the same grouping; the imports are the same as for the findings."""
    import duckdb

    import unveil

    assert unveil.read  # imported, so that both processes carry the same libraries
    by = ", ".join(f'"{c}"' for c in (*_quasi(file), "salary-class"))
    sql = f"SELECT count(*) AS size FROM '{file}' GROUP BY {by}"
    connection = duckdb.connect()
    return measure_work(lambda: connection.sql(sql).to_arrow_table())


def _findings(file: str, exposed: int) -> dict[str, float]:
    import unveil
    from unveil.classes.ask import QUESTION

    policy = unveil.Policy(quasi=(_quasi(file),), sensitive=("salary-class",))
    case = unveil.Case(unveil.read(file))
    wanted = ("classes.k", "classes.l_distinct", "classes.l_entropy", "classes.t")

    def work() -> list[object]:
        """All findings of the classes, and no more: what an attacker must know is another question."""
        case.release._codes.clear()
        found = itertools.takewhile(
            lambda f: f.id != "classes.homogeneity", QUESTION.ask(case, policy, unveil.Run(exposed=exposed))
        )
        return [f for f in found if f.id in wanted]

    return measure_work(work)


def _quasi(file: str) -> tuple[str, ...]:
    return (*SIX, "zip") if "zip" in file else SIX


def _roles(file: str) -> dict[str, float]:
    import unveil
    from unveil.release.roles import suggest_roles

    return measure_work(lambda: suggest_roles(unveil.read(file), ("?",)), repeat=2)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        part, file = sys.argv[1:]
        jobs = {
            "bare": lambda: _bare(file),
            "findings": lambda: _findings(file, 0),
            "exposed": lambda: _findings(file, 10),
            "roles": lambda: _roles(file),
        }
        print(json.dumps(jobs[part]()))
