"""The privacy score and gains in belief against what somebody would write who knows numpy and pandas: the document's
poset of intersections, transforms of whole arrays, and all sets of attributes or columns in turn. Every baseline
computes the same numbers, which is asserted; those that would take hours do so for a few people, and are scaled.

Random relations have independent attributes of the stated density; likelihoods and dangers are uniform between 0 and 1
unless stated. Times are for the score, from rows that are already distinct. "Adult" is the table with age and hours in
tens, capital gain and loss as yes or no, and without fnlwgt: 14 columns, 140 values.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations
from subprocess import CalledProcessError
from time import process_time
from typing import Any

from _measure import data_folder, measure_work, print_figure, run_in_process

__all__ = ["main"]

_BUDGET = "170000000"  # sets that take about a minute


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
    _print_tables()
    found = run_in_process(__file__, "budget", _BUDGET)
    print(f"  10,000 × 120 at .5, {int(_BUDGET):,} sets: scores known to within {found['width']:.4f} on average, "
          f"of at most {found['before']:.4f} before  ({found['cpu']:.1f} s CPU)")  # fmt: skip
    _print_gains("1,000,000 × 13 columns", "synthetic")
    data = data_folder()
    if data is not None:
        _print_gains("Adult, 32,561 × 14 columns", str(data))
        _print_public(str(data))


def _print_poset() -> None:
    ours, other = (run_in_process(__file__, part, "300", "19", ".3") for part in ("random", "poset"))
    print_figure("300 × 19 at .3", ours["cpu"], other["cpu"], "the document's poset")
    print(f"    that is {other['cpu'] / ours['cpu']:,.0f} times as fast")
    for people in (600, 1_200, 2_400, 4_800):
        try:
            seconds = run_in_process(__file__, "poset", str(people), "19", ".3")["cpu"]
        except CalledProcessError:
            print(f"    the poset of {people:,} × 19 needs more memory than there is")
            break
        print(f"    the poset of {people:,} × 19 takes {seconds:.1f} s")
        if seconds > 60:
            break


def _print_tables() -> None:
    one_class = "pandas, the class by all 12 columns"
    for people, weights, baseline in (
        ("1000000", "at most 3 facts, l=.8", "numpy, all sets of at most 3 columns"),
        ("1000000", "all subsets, l=1", one_class),
        ("100000", "all subsets, l=.8", "numpy, all 4,096 sets of columns"),
        ("10000", "all subsets, l=.8, all dangerous", "numpy, all 8,192 sets of columns"),
    ):
        ours = run_in_process(__file__, "table", people, weights)
        other = run_in_process(__file__, "table-baseline", people, weights)
        print_figure(f"{int(people):,} × 13 columns, {weights}", ours["cpu"], other["cpu"], baseline)


def _print_gains(what: str, source: str) -> None:
    ours, other = (run_in_process(__file__, part, source) for part in ("gains", "gains-pandas"))
    print_figure(f"gains of at most 3 facts, {what}, {ours['sets']:,.0f} sets of columns", ours["cpu"], other["cpu"],
                 "pandas, two groupbys for each set")  # fmt: skip
    print(f"    {ours['rows'] * ours['sets'] / ours['cpu'] / 1e6:,.0f} million rows × sets per second")


def _print_public(data: str) -> None:
    for name in ("mushroom", "chess"):
        ours, other = (run_in_process(__file__, part, data, name) for part in ("items", "integer-programs"))
        print_figure(f"{name}, all weights 1", ours["cpu"], other["cpu"], "an integer program each, ten people scaled")
    every = run_in_process(__file__, "adult-sets", data)
    for weights in _ADULT_WEIGHTS:
        ours = run_in_process(__file__, "adult", data, weights)
        print_figure(f"Adult, {weights}", ours["cpu"], every["cpu"], "numpy, all 16,384 sets of columns")
    ours, other = (run_in_process(__file__, part, data, "known or dangerous") for part in ("adult", "adult-class"))
    print_figure("Adult, known or dangerous", ours["cpu"], other["cpu"], "pandas, the class by all 13 columns")


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
    return measure_work(lambda: score(relation), repeat=20 if int(people) < 1000 else 2)


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
        found.append(best[rows])

    found: list[Any] = []
    start = process_time()
    work()
    seconds = process_time() - start
    assert np.allclose(found[0], _our_scores(matrix, likelihood, danger), rtol=1e-9)
    return {"cpu": seconds}


def _our_scores(matrix, likelihood, danger):  # type: ignore[no-untyped-def]
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    return score(Relation.from_matrix(matrix, likelihood, danger)).lower


def _poset(people: str, attributes: str, density: str) -> dict[str, float]:
    import numpy as np

    from reference.naive_inference import poset_scores

    given = _matrix(people, attributes, density)
    start = process_time()
    found = poset_scores(*given)
    seconds = process_time() - start
    assert np.allclose(found, _our_scores(*given), rtol=1e-9)
    return {"cpu": seconds}


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
    found = _all_subsets(matrix, likelihood, danger, 2)
    seconds = process_time() - start
    assert np.allclose(found, _our_scores(matrix, likelihood, danger)[:2], rtol=1e-9)
    return {"cpu": seconds / 2 * len(matrix)}


def _table_columns(people: str):  # type: ignore[no-untyped-def]
    """Thirteen columns; the k-th value of each is 1/k as frequent as the first."""
    import numpy as np

    rng = np.random.default_rng(0)
    columns = []
    for size in (2, 2, 3, 4, 5, 5, 6, 7, 8, 9, 12, 16, 20):
        shares = 1 / np.arange(1, size + 1)
        columns.append(rng.choice(size, int(people), p=shares / shares.sum()).astype(np.int32))
    return columns


def _table_weights(weights: str) -> tuple[list[float], list[float], int | None]:
    if weights.endswith("all dangerous"):
        return [0.8] * 13, [1.0] * 13, None
    likelihood = 1.0 if weights.endswith("l=1") else 0.8
    return [likelihood] * 12 + [0.0], [0.0] * 12 + [1.0], 3 if weights.startswith("at most 3") else None


def _table(people: str, weights: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    likelihood, danger, most = _table_weights(weights)
    relation = Relation.from_columns(_table_columns(people), likelihood, danger)
    assert len(relation.rows.counts)
    return measure_work(lambda: score(relation, most_known=most), repeat=1)


def _table_baseline(people: str, weights: str) -> dict[str, float]:
    import numpy as np

    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    columns, (likelihood, danger, most) = _table_columns(people), _table_weights(weights)
    start = process_time()
    if weights.endswith("l=1"):
        found = _alike_by_pandas(columns) * 0.5
    else:
        (found,) = _weigh_all_sets(columns, [(likelihood, danger)], most)
    seconds = process_time() - start
    relation = Relation.from_columns(columns, likelihood, danger)
    assert np.allclose(found, score(relation, most_known=most).lower, rtol=1e-9)
    return {"cpu": seconds}


def _alike_by_pandas(columns):  # type: ignore[no-untyped-def]
    """Who is in a class by all columns but the last with a single value of that."""
    import numpy as np
    import pandas as pd

    frame = pd.DataFrame(dict(enumerate(columns)))
    last = len(columns) - 1
    return np.asarray(frame.groupby(list(range(last)), sort=False)[last].transform("nunique") == 1)


def _weigh_all_sets(columns, weightings, most):  # type: ignore[no-untyped-def]
    """The score of every row: for each set of columns that can be known, the classes, and which columns are constant in
    them. Rows are sorted by class, so that one pass over a column compares neighbours."""
    import numpy as np

    rows, width = len(columns[0]), len(columns)
    knowable = [c for c in range(width) if any(likelihood[c] > 0 for likelihood, _ in weightings)]
    dangerous = [c for c in range(width) if any(danger[c] > 0 for _, danger in weightings)]
    best = [np.zeros(rows) for _ in weightings]
    sizes = [int(c.max()) + 1 for c in columns]
    for size in range(1 + (len(knowable) if most is None else most)):
        for known in combinations(knowable, size):
            key = np.zeros(rows, np.int64)
            for c in known:
                key = key * sizes[c] + columns[c]
            order = np.argsort(key, kind="stable")
            key = key[order]
            begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
            lengths = np.diff(begins, append=rows)
            alike = {}
            for c in dangerous:
                own = columns[c][order]
                if c not in known:
                    alike[c] = np.minimum.reduceat(own, begins) == np.maximum.reduceat(own, begins)
            for most_weight, (likelihood, danger) in zip(best, weightings, strict=True):
                total = sum((one * danger[c] for c, one in alike.items()), np.zeros(len(begins)))
                weight = np.prod([likelihood[c] for c in known]) * total / (1 + total)
                most_weight[order] = np.maximum(most_weight[order], np.repeat(weight, lengths))
    return best


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


_ADULT_WEIGHTS = {"l=.5 d=1": (0.5, 1.0), "l=.9 d=.1": (0.9, 0.1), "l=1 d=1": (1.0, 1.0)}


def _adult_weights(weights: str) -> tuple[list[float], list[float]]:
    if weights in _ADULT_WEIGHTS:
        likelihood, danger = _ADULT_WEIGHTS[weights]
        return [likelihood] * 14, [danger] * 14
    return [1.0] * 13 + [0.0], [0.0] * 13 + [1.0]


def _adult_score(folder: str, weights: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    relation = Relation.from_columns(_adult(folder), *_adult_weights(weights))
    assert len(relation.rows.counts)
    return measure_work(lambda: score(relation), repeat=2)


def _adult_sets(folder: str) -> dict[str, float]:
    """All sets of columns of the distinct rows, for three weightings; the time for one of them."""
    import numpy as np

    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    columns = [np.ascontiguousarray(c) for c in np.unique(np.stack(_adult(folder)), axis=1)]
    weightings = [_adult_weights(weights) for weights in _ADULT_WEIGHTS]
    start = process_time()
    found = _weigh_all_sets(columns, weightings, None)
    seconds = process_time() - start
    for weighting, one in zip(weightings, found, strict=True):
        assert np.allclose(one, score(Relation.from_columns(columns, *weighting)).lower, rtol=1e-9)
    return {"cpu": seconds / len(weightings)}


def _adult_class(folder: str, weights: str) -> dict[str, float]:
    import numpy as np

    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    columns = _adult(folder)
    start = process_time()
    found = _alike_by_pandas(columns) * 0.5
    seconds = process_time() - start
    assert np.array_equal(found, score(Relation.from_columns(columns, *_adult_weights(weights))).lower)
    return {"cpu": seconds}


# ---- gains in belief -------------------------------------------------------------------------------------------------

_FEWEST = 5


def _facts(source: str):  # type: ignore[no-untyped-def]
    return _table_columns("1000000") if source == "synthetic" else _adult(source)


def _our_gains(columns):  # type: ignore[no-untyped-def]
    from unveil.inference.belief_gains import measure_gains

    return measure_gains(columns[:-1], columns[-1], facts=3, fewest=_FEWEST, gain=0.5)


def _gains(source: str) -> dict[str, float]:
    from math import comb

    columns = _facts(source)
    sets = sum(comb(len(columns) - 1, facts) for facts in range(4))
    return {**measure_work(lambda: _our_gains(columns), repeat=1), "sets": sets, "rows": len(columns[0])}


def _gains_by_pandas(source: str) -> dict[str, float]:
    """For each set of columns: how many share a row's facts, and how many of these its sensitive value."""
    import numpy as np
    import pandas as pd

    columns = _facts(source)
    frame = pd.DataFrame(dict(enumerate(columns)))
    last = len(columns) - 1
    start = process_time()
    share = np.asarray(frame.groupby(last, sort=False)[last].transform("size")) / len(frame)
    best = np.zeros(len(frame)) if len(frame) >= _FEWEST else np.full(len(frame), -1.0)
    for size in range(1, 4):
        for known in combinations(range(last), size):
            sharing = np.asarray(frame.groupby(list(known), sort=False)[last].transform("size"))
            having = np.asarray(frame.groupby([*known, last], sort=False)[last].transform("size"))
            best = np.maximum(best, np.where(sharing >= _FEWEST, having / sharing - share, -1.0))
    seconds = process_time() - start
    assert np.allclose(best, _our_gains(columns).best[-1], atol=1e-9)
    return {"cpu": seconds}


# ---- sets of items ---------------------------------------------------------------------------------------------------


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


def _integer_programs(folder: str, name: str) -> dict[str, float]:
    """The least set that rules out everybody who lacks something of a person's: with all weights 1 that is the score.
    People are chosen at random."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    from unveil.inference.privacy_score import score
    from unveil.inference.relation import unpack_bits

    relation = _item_relation(folder, name)
    matrix = unpack_bits(relation.rows.has, relation.attributes)
    people, found = np.random.default_rng(0).choice(len(matrix), 10, replace=False), []
    start = process_time()
    for i in people:
        lacks = np.unique(~matrix[:, matrix[i]], axis=0)
        lacks = lacks[lacks.any(axis=1)]
        width = lacks.shape[1]
        least = milp(np.ones(width), constraints=LinearConstraint(lacks.astype(float), lb=1),
                     integrality=np.ones(width), bounds=Bounds(0, 1)).fun  # fmt: skip
        found.append((width - round(least)) / (1 + width - round(least)))
    seconds = process_time() - start
    first = [int(np.flatnonzero(relation.rows.row_of == i)[0]) for i in people]
    assert np.allclose(found, score(relation).lower[first])
    return {"cpu": seconds / len(people) * len(matrix)}


def _budget(sets: str) -> dict[str, float]:
    from unveil.inference.privacy_score import score
    from unveil.inference.relation import Relation

    relation = Relation.from_matrix(*_matrix("10000", "120", ".5"))
    before = score(relation, budget=0).average
    start = process_time()
    found = score(relation, budget=int(sets)).average
    return {"cpu": process_time() - start, "width": found.high - found.low, "before": before.high - before.low}


JOBS = {
    "random": _random,
    "transforms": _transforms,
    "poset": _poset,
    "subsets": _subsets,
    "table": _table,
    "table-baseline": _table_baseline,
    "budget": _budget,
    "gains": _gains,
    "gains-pandas": _gains_by_pandas,
    "items": _items,
    "integer-programs": _integer_programs,
    "adult": _adult_score,
    "adult-sets": _adult_sets,
    "adult-class": _adult_class,
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
