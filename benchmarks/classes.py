"""Class sizes on Adult × 100 (3.26 million rows, Parquet, six quasi-identifiers) against the bare GROUP BY."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from _measure import data_folder, figure, in_process, measured

__all__ = ["main"]

SIX = ("age", "education", "occupation", "relationship", "sex", "native-country")


def main() -> None:
    """Print the figures."""
    print("classes: Adult × 100")
    data = data_folder()
    if data is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult100.parquet"
        _enlarge(data / "tables" / "adult.csv", file)
        took = {part: in_process(__file__, part, str(file)) for part in ("bare", "findings", "exposed", "roles")}
    bare, findings = took["bare"], took["findings"]
    figure("findings", findings["cpu"], bare["cpu"], "bare GROUP BY", goal=1.5)
    figure("findings, peak memory", findings["memory"], bare["memory"], "bare GROUP BY", "MB", goal=1.5)
    figure("findings with ten exposed rows", took["exposed"]["cpu"], bare["cpu"], "bare GROUP BY")
    figure("suggesting roles for all 15 columns", took["roles"]["cpu"], bare["cpu"], "bare GROUP BY")


def _enlarge(source: Path, target: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    adult = csv.read_csv(source)
    pq.write_table(pa.concat_tables([adult] * 100), target)


def _bare(file: str) -> dict[str, float]:
    """What the engine alone needs for the same grouping; the imports are the same as for the findings."""
    import duckdb

    import unveil

    assert unveil.read  # imported, so that both processes carry the same libraries
    by = ", ".join(f'"{c}"' for c in SIX)
    sql = f"SELECT count(*) AS size FROM '{file}' GROUP BY {by}"
    connection = duckdb.connect()
    return measured(lambda: connection.sql(sql).to_arrow_table())


def _findings(file: str, exposed: int) -> dict[str, float]:
    import unveil
    from unveil.classes.ask import QUESTION

    policy = unveil.Policy(quasi=(SIX,), sensitive=("salary-class",))
    case = unveil.Case(unveil.read(file))
    return measured(lambda: list(QUESTION.ask(case, policy, unveil.Run(exposed=exposed))))


def _roles(file: str) -> dict[str, float]:
    import unveil
    from unveil.release.roles import suggest

    return measured(lambda: suggest(unveil.read(file), ("?",)), repeat=2)


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
