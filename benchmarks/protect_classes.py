"""Large classes on Adult with ARX's hierarchies (30,162 rows, nine quasi-identifiers, k = 5, 2% left out at most): the
optimum over all 12,960 combinations of levels, and local recoding.

The baseline counts the classes of every combination once, from the distinct rows, with numpy: what exhaustive search
costs somebody who knows that rows need not be counted again. The same table 100 times over, with k = 500, shows what
rows cost.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
from _measure import data_folder, peak_memory, print_figure, run_in_process

if TYPE_CHECKING:
    from unveil.classes.protections.class_protector import ClassProtector

__all__ = ["main"]

_QUASI = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
    "salary-class",
)
_K = (2, 5, 10, 100)


def main() -> None:
    """Print the figures."""
    print("protect_classes: Adult, nine quasi-identifiers, ARX's hierarchies")
    data = data_folder()
    if data is None:
        return
    folder = str(data / "tables" / "adult-hierarchies")
    once, often = (run_in_process(__file__, folder, str(times)) for times in (1, 100))
    named = "counting every combination"
    print_figure("optimum, proven", once["optimum"], once["exhaustive"], named)
    print_figure("nodes checked", once["checked"], once["nodes"], "nodes in all", unit="nodes")
    print_figure("optimum, 3 million rows", often["optimum"], once["optimum"], "the same with 30,162 rows", goal=3)
    print_figure("distinct rows, 3 million", often["distinct"], often["lexsort"], "numpy's lexsort of the codes")
    print_figure("local recoding, 3 million rows", often["local"], often["lexsort"], "numpy's lexsort of the codes")
    print_figure("memory, 3 million rows", often["memory"], often["codes"], "the codes", unit="MB")
    for k in _K:
        print_figure(
            f"loss of local recoding, k = {k}", once[f"local {k}"], once[f"levels {k}"], "best levels", unit=""
        )
        print_figure(f"loss of Mondrian, k = {k}", once[f"mondrian {k}"], once[f"levels {k}"], "best levels", unit="")


def _protector(folder: str, times: int) -> ClassProtector:
    import pyarrow as pa

    import unveil
    from unveil import Case, Policy
    from unveil.classes.protections.class_protector import class_protector
    from unveil.release.hierarchy import Hierarchy
    from unveil.run import Run

    table = unveil.read(Path(folder, "adult.csv"))
    if times > 1:
        rows = pa.Table.from_batches(table.batches())  # type: ignore[union-attr]
        table = unveil.read(pa.concat_tables([rows] * times))
    hierarchies = {c: Hierarchy.read(Path(folder, f"adult_hierarchy_{c}.csv")) for c in _QUASI}
    settings = {"classes": {"suppress": 0.02}}
    policy = Policy(quasi=(_QUASI,), missing=(), tolerance={"classes.k": 5 * times}, settings=settings)
    return class_protector(Case(table, hierarchies=hierarchies), policy, Run())


def _count_all(protector: ClassProtector) -> None:
    columns, people = protector.columns, protector.people
    for levels in product(*(range(c.height + 1) for c in columns)):
        key = np.zeros(len(people), np.int64)
        for column, own, level in zip(columns, people.labels, levels, strict=True):
            key *= len(column.covered[level])
            key += column.becomes[level][own]
        np.unique(key, return_inverse=True)


def _measure(folder: str, times: int) -> dict[str, float]:
    from dataclasses import replace

    from unveil.classes.protections.column_order import column_order
    from unveil.classes.protections.local_recoding import recode_locally
    from unveil.classes.protections.loss_measures import covered_shares
    from unveil.classes.protections.mondrian import split_people
    from unveil.run import Run

    protector, run, found = _protector(folder, times), Run(), dict[str, float]()
    before = peak_memory()
    start = process_time()
    people = protector.people
    found["distinct"] = process_time() - start
    search = protector.full_domain(1.0)
    start = process_time()
    optimum = search.find_optimum(run)
    found |= {"optimum": process_time() - start, "checked": optimum.checked, "nodes": optimum.nodes}
    start = process_time()
    recode_locally(protector.columns, people, search.goals, protector.weights, run)
    found["local"] = process_time() - start
    codes = protector.rows.labels
    found |= {"memory": peak_memory() - before, "codes": sum(own.nbytes for own in codes) / 2**20}
    start = process_time()
    np.lexsort(codes)
    found["lexsort"] = process_time() - start
    if times > 1:
        return found
    start = process_time()
    _count_all(protector)
    found["exhaustive"] = process_time() - start
    loss = covered_shares(protector.columns, people, protector.weights)
    for k in _K:
        goals = replace(search.goals, k=k)
        search.goals = goals
        best = search.find_optimum(run)
        recoded = recode_locally(protector.columns, people, goals, protector.weights, run)
        assert recoded is not None
        found[f"levels {k}"] = best.loss
        found[f"local {k}"] = loss.measure_rows(recoded.levels[recoded.class_of], people)
        orders = [column_order(column) for column in protector.columns]
        split = split_people(orders, people, goals, protector.weights, run)
        assert split is not None
        ends = zip(split.low[split.class_of].T, split.high[split.class_of].T, strict=True)
        shares = np.stack([order.shares(*own) for order, own in zip(orders, ends, strict=True)], axis=1)
        found[f"mondrian {k}"] = loss.measure_shares(shares, people)
    return found


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2])))) if len(sys.argv) > 1 else main()
