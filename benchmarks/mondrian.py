"""Classes of neighbours on Adult with ARX's hierarchies (30,162 rows, nine quasi-identifiers, k = 10) against anjana,
from a table in memory to a protected one.

anjana puts each column on one level for all rows and leaves rows out, up to a share that one gives it; it is run with
0, 2 and 5%, and the best of its losses is compared. Both losses are computed from the labels that each side releases,
in the same way. Then memory for 3 million rows: Adult 100 times over, where equal rows are put together first, and rows
that are drawn at random and split one by one.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import process_time

from _measure import data_folder, install_peer, peak_memory, print_figure, run_in_process

__all__ = ["main"]

_QUASI = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
    "salary-class",
)
_K, _ROWS = 10, 30_162
_LEFT_OUT = (0, 2, 5)  # percent
_RANDOM_VALUES = (2, 72, 5, 7, 16, 41, 8, 14, 2)  # about as many as Adult has in each column


def main() -> None:
    """Print the figures."""
    print("mondrian: Adult, nine quasi-identifiers, k = 10")
    data = data_folder()
    if data is None:
        return
    folder = str(data / "tables" / "adult-hierarchies")
    ours = run_in_process(__file__, "unveil", folder)
    peer = install_peer("anjana", "anjana==1.2.3")
    if peer is None:
        print("  anjana could not be installed in benchmarks/peers; nothing to compare with")
    else:
        command = [peer, __file__, "anjana", folder]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        theirs = json.loads(done.stdout.splitlines()[-1])
        ratio = theirs["cpu"] / ours["cpu"]
        print(f"  {ratio:.0f} × as fast as anjana  ({ours['cpu']:.3f} against {theirs['cpu']:.3f} s CPU, goal ≥ 20)")
        print_figure("loss", ours["loss"], theirs["loss"], "anjana", unit="", goal=1)
    print_figure("loss", ours["loss"], ours["local"], "local recoding", unit="")
    for what, rows in (("Adult 100 times over", "adult"), ("3 million random rows", "random")):
        found = run_in_process(__file__, rows, folder)
        print_figure(f"memory of the split, {what}", found["memory"], found["codes"], "the codes", unit="MB", goal=1.5)
        print(f"    {found['cpu']:.2f} s CPU")


# ---- what labels lose ------------------------------------------------------------------------------------------------


def _read_hierarchies(folder: str) -> dict[str, list[list[str]]]:
    found = {}
    for name in _QUASI:
        with Path(folder, f"adult_hierarchy_{name}.csv").open(newline="") as file:
            found[name] = [row for row in csv.reader(file, delimiter=";") if row]
    return found


def _covered_share(label: str, hierarchy: Sequence[Sequence[str]]) -> float:
    """The share of all values that a label of any level, or a range of numbers, may stand for."""
    low, dash, high = label.partition("–")
    if dash:
        return sum(int(low) <= int(row[0]) <= int(high) for row in hierarchy) / len(hierarchy)
    return sum(label in row for row in hierarchy) / len(hierarchy)


def _loss(columns: Mapping[str, Iterable[str]], hierarchies: Mapping[str, Sequence[Sequence[str]]]) -> float:
    """ARX's loss; rows and columns that are not there are covered by everything."""
    logarithm = 0.0
    for name, hierarchy in hierarchies.items():
        counts = Counter(columns.get(name, ()))
        covered = sum(n * _covered_share(str(label), hierarchy) for label, n in counts.items())
        covered += _ROWS - sum(counts.values())
        least = 1 / len(hierarchy)
        logarithm += math.log1p((covered / _ROWS - least) / (1 - least)) / len(hierarchies)
    return math.exp(logarithm) - 1


# ---- both sides ------------------------------------------------------------------------------------------------------


def _run_unveil(folder: str) -> dict[str, float]:
    import pyarrow as pa
    import pyarrow.csv

    import unveil
    from unveil import Case, Policy
    from unveil.classes.protect import PROTECTIONS
    from unveil.release.hierarchy import Hierarchy
    from unveil.release.table import Table
    from unveil.run import Run

    semicolon = pyarrow.csv.ParseOptions(delimiter=";")
    table = pyarrow.csv.read_csv(Path(folder, "adult.csv"), parse_options=semicolon)
    hierarchies = {c: Hierarchy.read(Path(folder, f"adult_hierarchy_{c}.csv")) for c in _QUASI}
    policy = Policy(quasi=(_QUASI,), missing=(), tolerance={"classes.k": _K})

    def protect(method: str) -> pa.Table:
        made = PROTECTIONS[method].fit(Case(unveil.read(table), hierarchies=hierarchies), policy, Run(), 1.0)
        assert made is not None
        release = made.apply().release
        assert isinstance(release, Table)
        return pa.Table.from_batches(release.batches())

    seconds = []
    for _ in range(4):
        start = process_time()
        split = protect("mondrian")
        seconds.append(process_time() - start)
    counts = Counter(zip(*(split.column(c).to_pylist() for c in split.column_names), strict=True))
    assert min(counts.values()) >= _K and split.num_rows == _ROWS
    trees = _read_hierarchies(folder)
    losses = [_loss({c: t.column(c).to_pylist() for c in t.column_names}, trees) for t in (split, protect("local"))]
    return {"cpu": min(seconds[1:]), "loss": losses[0], "local": losses[1]}


def _run_anjana(folder: str) -> dict[str, float]:
    import pandas as pd
    from anjana.anonymity import k_anonymity

    frame = pd.read_csv(Path(folder, "adult.csv"), sep=";", dtype=str)
    hierarchies = _read_hierarchies(folder)
    levels = {c: dict(enumerate(pd.DataFrame(rows, dtype=str).to_numpy().T.copy())) for c, rows in hierarchies.items()}
    seconds, losses = [], []
    for percent in _LEFT_OUT:
        start = process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            made = k_anonymity(frame, [], list(_QUASI), _K, percent, levels)
        seconds.append(process_time() - start)
        losses.append(_loss({c: made[c] for c in _QUASI}, hierarchies))
    return {"cpu": min(seconds), "loss": min(losses)}


# ---- 3 million rows --------------------------------------------------------------------------------------------------


def _measure_memory(rows: str, folder: str) -> dict[str, float]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    import unveil
    from unveil import Case, Policy
    from unveil.classes.protections.class_protector import class_protector
    from unveil.classes.protections.column_order import column_order
    from unveil.classes.protections.mondrian import split_people
    from unveil.run import Run

    if rows == "adult":
        once = pyarrow.csv.read_csv(Path(folder, "adult.csv"), parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
        table = pa.concat_tables([once] * 100)
    else:
        rng = np.random.default_rng(1)
        table = pa.table({f"c{m}-{c}": rng.integers(0, m, 100 * _ROWS) for c, m in enumerate(_RANDOM_VALUES)})
    policy = Policy(quasi=(tuple(table.column_names),), missing=(), tolerance={"classes.k": _K})
    protector = class_protector(Case(unveil.read(table)), policy, Run())
    orders, goals = [column_order(column) for column in protector.columns], protector.goals(1.0)
    before, start = peak_memory(), process_time()
    people = protector.people if rows == "adult" else protector.rows
    split_people(orders, people, goals, protector.weights, Run())
    codes = sum(own.nbytes for own in protector.rows.labels) / 2**20
    return {"cpu": process_time() - start, "memory": peak_memory() - before, "codes": codes}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sides = {"unveil": _run_unveil, "anjana": _run_anjana}
        side = sides.get(sys.argv[1])
        print(json.dumps(side(sys.argv[2]) if side else _measure_memory(sys.argv[1], sys.argv[2])))
    else:
        main()
