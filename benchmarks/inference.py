"""The privacy score against what somebody would write who knows numpy: the document's poset of intersections, and all
sets of attributes or columns in turn.

Random relations have independent attributes of the stated density; likelihoods and dangers are uniform between 0 and 1
unless stated. Times are for the score, from rows that are already packed. "Adult" is the table with age and hours in
tens, capital gain and loss as yes or no, and without fnlwgt: 14 columns, 140 values.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations
from time import process_time

from _measure import data_folder, measure_work, print_figure, run_in_process

__all__ = ["main"]


def main() -> None:
    """Print the figures."""
    print("inference: the privacy score")
    for people, attributes in ((80_000, 19), (1_000_000, 19), (1_000_000, 24)):
        ours = run_in_process(__file__, "random", str(people), str(attributes), ".3")
        other = run_in_process(__file__, "transforms", str(people), str(attributes))
        print_figure(f"{people:,} × {attributes} at .3", ours["cpu"], other["cpu"], "numpy's transforms")
    _print_poset()
    ours, other = (run_in_process(__file__, part, "10000", "40", ".3") for part in ("random", "subsets"))
    print_figure("10,000 × 40 at .3", ours["cpu"], other["cpu"], "numpy over all sets, two people scaled")
    _print_table(1_000_000)
    found = run_in_process(__file__, "budget")
    print(f"  10,000 × 120 at .5, 1,000,000 sets: scores known to within {found['width']:.4f} on average, "
          f"of at most {found['before']:.4f} before  ({found['cpu']:.1f} s CPU)")  # fmt: skip
    data = data_folder()
    if data is None:
        return
    for name in ("mushroom", "chess"):
        ours, other = (run_in_process(__file__, part, str(data), name) for part in ("items", "greedy"))
        print_figure(
            f"{name}, all weights 1", ours["cpu"], other["cpu"], "numpy over all sets by size, two people scaled"
        )
    for weights in ("l=.5 d=1", "l=.9 d=.1", "l=1 d=1", "known or dangerous"):
        ours, other = (run_in_process(__file__, part, str(data), weights) for part in ("adult", "adult-numpy"))
        print_figure(
            f"Adult, {weights}",
            ours["cpu"],
            other["cpu"],
            "numpy, classes of at most 3 columns with one value of the last",
        )


def _print_poset() -> None:
    ours, other = (run_in_process(__file__, part, "300", "19", ".3") for part in ("random", "poset"))
    print_figure("300 × 19 at .3", ours["cpu"], other["cpu"], "the document's poset")
    for people in (600, 1_200, 2_400, 4_800):
        seconds = run_in_process(__file__, "poset", str(people), "19", ".3", "once")["cpu"]
        print(f"    the poset of {people:,} × 19 takes {seconds:.1f} s")
        if seconds > 60:
            break


def _print_table(people: int) -> None:
    for most in ("3", "all"):
        ours = run_in_process(__file__, "table", str(people), most)
        other = run_in_process(__file__, "table-numpy", str(people))
        what = f"{people:,} × 13 columns, " + ("at most 3 facts" if most == "3" else "all subsets, quasi l=1 d=0")
        print_figure(what, ours["cpu"], other["cpu"], "numpy, classes of at most 3 columns with one value of the last")


# ---- what is measured ------------------------------------------------------------------------------------------------


def _matrix(people: str, attributes: str, density: str):  # type: ignore[no-untyped-def]
    import numpy as np

    rng = np.random.default_rng(0)
    matrix = rng.random((int(people), int(attributes))) < float(density)
    return matrix, rng.random(int(attributes)), rng.random(int(attributes))


def _random(people: str, attributes: str, density: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    relation = Relation.from_matrix(*_matrix(people, attributes, density))
    return measure_work(lambda: score(relation), repeat=2)


def _transforms(people: str, attributes: str) -> dict[str, float]:
    """The same two transforms over the lattice of subsets with whole-array operations."""
    import numpy as np

    matrix, likelihood, danger = _matrix(people, attributes, ".3")
    m = int(attributes)
    rows = matrix.astype(np.int64) @ (1 << np.arange(m))

    def work() -> None:
        closed = np.full(1 << m, (1 << m) - 1)
        np.bitwise_and.at(closed, rows, rows)
        for bit in range(m):
            pair = closed.reshape(-1, 2, 1 << bit)
            pair[:, 0] &= pair[:, 1]
        known = np.arange(1 << m)
        lk, total = np.ones(1 << m), np.zeros(1 << m)
        for a in range(m):
            lk *= np.where(known >> a & 1, likelihood[a], 1.0)
            total += np.where((closed & ~known) >> a & 1, danger[a], 0.0)
        best = lk * total / (1 + total)
        for bit in range(m):
            pair = best.reshape(-1, 2, 1 << bit)
            np.maximum(pair[:, 1], pair[:, 0], out=pair[:, 1])
        assert (best[rows] >= 0).all()

    return measure_work(work, repeat=1)


def _poset(people: str, attributes: str, density: str, once: str = "") -> dict[str, float]:
    from reference.naive_inference import poset_scores

    given = _matrix(people, attributes, density)
    start = process_time()
    poset_scores(*given)
    return {"cpu": process_time() - start}


def _all_subsets(matrix, likelihood, danger, people):  # type: ignore[no-untyped-def]
    """priv of some people: who has each set of attributes, one set after the other."""
    import numpy as np

    found = []
    for i in range(people):
        has = np.flatnonzero(matrix[i])
        best = 0.0
        for size in range(len(has) + 1):
            for known in combinations(has.tolist(), size):
                shared = matrix[matrix[:, list(known)].all(axis=1)].all(axis=0)
                shared[list(known)] = False
                total = float(danger[shared].sum())
                best = max(best, float(np.prod(likelihood[list(known)])) * total / (1 + total))
        found.append(best)
    return found


def _subsets(people: str, attributes: str, density: str) -> dict[str, float]:
    import numpy as np

    matrix, likelihood, danger = _matrix(people, attributes, density)
    fewest = np.argsort(matrix.sum(axis=1), kind="stable")[len(matrix) // 2 :][:2]  # people with a median number
    matrix = np.vstack([matrix[fewest], np.delete(matrix, fewest, axis=0)])
    start = process_time()
    _all_subsets(matrix, likelihood, danger, 2)
    return {"cpu": (process_time() - start) / 2 * len(matrix)}


def _table_columns(people: str):  # type: ignore[no-untyped-def]
    """Thirteen columns; the k-th value of each is 1/k as frequent as the first."""
    import numpy as np

    rng = np.random.default_rng(0)
    columns = []
    for size in (2, 2, 3, 4, 5, 5, 6, 7, 8, 9, 12, 16, 20):
        shares = 1 / np.arange(1, size + 1)
        columns.append(rng.choice(size, int(people), p=shares / shares.sum()).astype(np.int32))
    return columns


def _table(people: str, most: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    weights = ([0.8] * 12 + [0.0]) if most == "3" else ([1.0] * 12 + [0.0])
    relation = Relation.from_columns(_table_columns(people), weights, [0.0] * 12 + [1.0])
    assert len(relation.rows.counts)
    return measure_work(lambda: score(relation, most_known=3 if most == "3" else None), repeat=1)


def _sensitive_by_numpy(columns, largest: int) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Who is in a class with a single value of the last column, for all sets of at most so many others."""
    import numpy as np

    from unveil.grouping import class_ids

    def work() -> None:
        sensitive = columns[-1]
        exposed = np.zeros(len(sensitive), np.bool_)
        for size in range(largest + 1):
            for some in combinations(columns[:-1], size):
                ids, count = class_ids(some, len(sensitive))
                least, most = np.full(count, 1 << 30), np.full(count, -1)
                np.minimum.at(least, ids, sensitive)
                np.maximum.at(most, ids, sensitive)
                exposed |= (least == most)[ids]

    start = process_time()
    work()
    return {"cpu": process_time() - start}


def _adult(folder: str):  # type: ignore[no-untyped-def]
    import numpy as np
    import pyarrow.csv as csv

    table = csv.read_csv(f"{folder}/tables/adult.csv")
    numbers = ("age", "hours-per-week", "capital-gain", "capital-loss")
    columns = [
        np.asarray(table[c].combine_chunks().dictionary_encode().indices, np.int32)
        for c in table.column_names
        if c not in ("fnlwgt", *numbers)
    ]
    age, hours, gain, loss = (np.asarray(table[c]) for c in numbers)
    made = (np.minimum((age - 17) // 10, 7), np.minimum(hours // 10, 7), gain > 0, loss > 0)
    return [*(one.astype(np.int32) for one in made), *columns]


def _adult_score(folder: str, weights: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    columns = _adult(folder)
    c = len(columns)
    like, danger = {
        "l=.5 d=1": ([0.5] * c, [1.0] * c),
        "l=.9 d=.1": ([0.9] * c, [0.1] * c),
        "l=1 d=1": ([1.0] * c, [1.0] * c),
        "known or dangerous": ([1.0] * (c - 1) + [0.0], [0.0] * (c - 1) + [1.0]),
    }[weights]
    relation = Relation.from_columns(columns, like, danger)
    assert len(relation.rows.counts)
    return measure_work(lambda: score(relation), repeat=2)


def _item_relation(folder: str, name: str):  # type: ignore[no-untyped-def]
    import numpy as np

    from unveil.inference.relation import Relation

    with open(f"{folder}/transactions/{name}.dat") as file:
        rows = [[int(item) for item in line.split()] for line in file]
    begins, items = np.append(0, np.cumsum([len(row) for row in rows])), np.concatenate([np.array(row) for row in rows])
    return Relation.from_items(begins, items, int(items.max()) + 1)


def _items(folder: str, name: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score

    relation = _item_relation(folder, name)
    assert len(relation.rows.counts)
    return measure_work(lambda: score(relation), repeat=2)


def _greedy(folder: str, name: str) -> dict[str, float]:
    """All sets of one person, from the smallest until one singles them out: with all weights 1 that is the score."""
    import numpy as np

    from unveil.inference.relation import unpack_bits

    relation = _item_relation(folder, name)
    matrix = unpack_bits(relation.rows.has, relation.attributes)
    start = process_time()
    people = 2
    for i in range(people):
        has = np.flatnonzero(matrix[i])
        others = matrix[:, has]
        larger = others.all(axis=1).sum()
        size = 0
        while not any(others[:, list(k)].all(axis=1).sum() == larger for k in combinations(range(len(has)), size)):
            size += 1
    return {"cpu": (process_time() - start) / people * len(matrix)}


def _budget() -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    relation = Relation.from_matrix(*_matrix("10000", "120", ".5"))
    before = score(relation, budget=0).average
    start = process_time()
    found = score(relation, budget=1_000_000).average
    return {"cpu": process_time() - start, "width": found.high - found.low, "before": before.high - before.low}


JOBS = {
    "random": _random,
    "transforms": _transforms,
    "poset": _poset,
    "subsets": _subsets,
    "table": _table,
    "table-numpy": lambda people: _sensitive_by_numpy(_table_columns(people), 3),
    "budget": _budget,
    "items": _items,
    "greedy": _greedy,
    "adult": _adult_score,
    "adult-numpy": lambda folder, weights: _sensitive_by_numpy(_adult(folder), 3),
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
