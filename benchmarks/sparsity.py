"""The sparsity function of all records, against the ways to compute it that come to mind.

A table like the survey of document 002, § 4.5 (8,619 × 353, half of it null), against products of one-hot matrices by
BLAS and against comparing bytes in compiled code. Ratings (6,040 × 3,706, 0.9 million) against products of sparse
matrices by scipy. Then 100,000 × 10,000 with 10 million ratings on a sample; ``python sparsity.py large`` takes all of
them, and a sample of 480,000 × 17,770 with 100 million. All data is made up: popularity falls like Zipf's law.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from _measure import measure_work, print_figure, run_in_process

if TYPE_CHECKING:
    from unveil.linkage.records import Records

__all__ = ["main"]

_BLOCK = 500  # records that the products are made of at a time
_SIZES = {"survey": (8_619, 353, 0), "ratings": (6_040, 3_706, 920_000), "many": (100_000, 10_000, 10_000_000),
          "most": (480_000, 17_770, 100_000_000)}  # fmt: skip


def main() -> None:
    """Print the figures."""
    print("sparsity: 8,619 records × 353 attributes, half of them null, f of all records")
    ours = run_in_process(__file__, "ours", "survey")
    for part, named in (("onehot", "products of one-hot matrices"), ("bytes", "comparing bytes")):
        print_figure("planes of bits", ours["cpu"], run_in_process(__file__, part, "survey")["cpu"], named, goal=0.2)
    tolerant = run_in_process(__file__, "ours", "survey", "within")
    print_figure("with a tolerance", tolerant["cpu"], ours["cpu"], "without")
    print("sparsity: 6,040 records × 3,706 attributes, 0.9 million ratings, f of all records")
    ours = run_in_process(__file__, "ours", "ratings")
    products = run_in_process(__file__, "products", "ratings")
    print_figure("planes and lists", ours["cpu"], products["cpu"], "products of sparse matrices", goal=0.2)
    graded = run_in_process(__file__, "ours", "ratings", "linear")
    print_figure("a graded similarity", graded["cpu"], ours["cpu"], "equality")
    _large("many", 5_000)


def _large(size: str, sample: int) -> None:
    n, c, entries = _SIZES[size]
    took = run_in_process(__file__, "sample", size, str(sample))
    print(
        f"sparsity: {n:,} records × {c:,} attributes, about {entries:,} ratings, {min(sample, n):,} records looked at"
    )
    print(f"  {took['seconds']:.1f} s, {took['cpu']:.1f} s CPU, {took['memory']:,.0f} MB with the data")
    print(f"  f(0.2) from {took['low']:.5f} to {took['high']:.5f}; f(0.5) at most {took['upper']:.5f}")


# ---- data ------------------------------------------------------------------------------------------------------------


def _made(size: str, said: str = "equal") -> Records:
    from unveil.linkage import similarity

    sim = {
        "equal": similarity.equal_values(),
        "within": similarity.within_distance(1),
        "linear": similarity.linear_similarity(4),
    }[said]
    n, c, entries = _SIZES[size]
    return _ratings(n, c, entries, sim) if entries else _survey(n, sim)


def _survey(n: int, sim: Any) -> Records:
    """213 questions with 2 answers, 97 with 3 to 13, and 43 with up to 103. A question is put to some and not to
    others, and people answer more of them or fewer."""
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.records import Records

    random = np.random.default_rng(0)
    spans = np.concatenate([np.full(213, 2), random.integers(3, 14, 97), random.integers(14, 103, 42), [103]])
    asked, willing = random.beta(0.7, 0.7, len(spans)), 0.6 + 0.8 * random.random((n, 1))
    there = random.random((n, len(spans))) < np.clip(asked * willing, 0, 1)
    codes = np.empty((n, len(spans)), np.int32)
    for i, span in enumerate(spans):
        weights = 1 / np.arange(1, span + 1) ** 1.5
        codes[:, i] = random.choice(span, n, p=weights / weights.sum())
    rows, attribute = np.nonzero(there)
    indptr = np.append(0, np.cumsum(there.sum(axis=1)))
    names = tuple(f"q{i}" for i in range(len(spans)))
    values = tuple(pa.array(np.arange(span)) for span in spans)
    return Records(indptr, attribute.astype(np.int32), codes[rows, attribute], names, values, (sim,) * len(spans))


def _ratings(n: int, c: int, entries: int, sim: Any) -> Records:
    """Some rate few films and some very many, from 1 to 5."""
    import numba
    import numpy as np
    import pyarrow as pa

    from unveil.linkage.records import Records

    @numba.njit
    def rated(indptr: Any, chance: Any, values: Any, attribute: Any, value: Any) -> None:
        np.random.seed(0)
        seen = np.full(len(chance), -1)
        for r in range(len(indptr) - 1):
            for p in range(indptr[r], indptr[r + 1]):
                item = np.searchsorted(chance, np.random.random())
                while seen[item] == r:
                    item = np.searchsorted(chance, np.random.random())
                seen[item] = r
                attribute[p] = item
                value[p] = np.searchsorted(values, np.random.random())
            attribute[indptr[r] : indptr[r + 1]].sort()

    random = np.random.default_rng(0)
    size = random.lognormal(0, 1, n).clip(0.05, 20)
    size = np.clip(size * entries / size.sum(), 5, c // 4).astype(np.int64)
    popularity = 1 / (np.arange(1, c + 1) + c / 100) ** 0.9
    chance = np.cumsum(popularity) / popularity.sum()
    chance[-1] = 1
    indptr = np.append(0, np.cumsum(size))
    attribute, value = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.int32)
    rated(indptr, chance, np.array([0.06, 0.17, 0.43, 0.78, 1.0]), attribute, value)
    own = pa.array(np.arange(1, 6))
    return Records(indptr, attribute, value, tuple(f"film {i}" for i in range(c)), (own,) * c, (sim,) * c)


# ---- ways to compute it ----------------------------------------------------------------------------------------------


def _ours(size: str, said: str = "equal") -> dict[str, float]:
    from unveil.linkage.sparsity.nearest_records import nearest_records

    records = _made(size, said)
    return measure_work(lambda: nearest_records(records, "sum"), repeat=3)


def _once(work: Any, *arguments: Any) -> dict[str, float]:
    """CPU seconds of what takes too long to be repeated; it is warmed up with a few of the records."""
    work(*arguments, 10)
    start = process_time()
    found = work(*arguments, None)
    took = process_time() - start
    _check(found)
    return {"cpu": took}


def _check(found: Any) -> None:
    """That all ways find the same."""
    import numpy as np

    from unveil.linkage.sparsity.nearest_records import nearest_records

    records = _made(sys.argv[2])
    assert np.abs(nearest_records(records).similarity - found).max() < 1e-6


def _onehot(size: str) -> dict[str, float]:
    """A column for every value of every attribute; the product of two rows is how many values are equal."""
    import numpy as np

    records = _made(size)
    spans = np.array([len(v) for v in records.values])
    starts = np.cumsum(spans) - spans
    owner = np.repeat(np.arange(records.n), records.support)
    values = np.zeros((records.n, int(spans.sum())), np.float32)
    values[owner, starts[records.attribute] + records.value] = 1
    has = (records.array >= 0).astype(np.float32)
    return _once(_by_products, values, has, records.support)


def _products(size: str) -> dict[str, float]:
    import numpy as np
    from scipy import sparse

    records = _made(size)
    ones, most = np.ones(len(records.value), np.float32), int(records.value.max()) + 1
    shape = records.n, records.c * most
    values = sparse.csr_array((ones, records.attribute.astype(np.int64) * most + records.value, records.indptr), shape)
    has = sparse.csr_array((ones, records.attribute, records.indptr), (records.n, records.c))
    return _once(_by_products, values, has, records.support)


def _by_products(values: Any, has: Any, support: Any, rows: int | None) -> Any:
    import numpy as np

    n = rows or len(support)
    best = np.empty(n)
    turned = values.T, has.T
    for first in range(0, n, _BLOCK):
        last = min(first + _BLOCK, n)
        equal, both = values[first:last] @ turned[0], has[first:last] @ turned[1]
        if not isinstance(equal, np.ndarray):
            equal, both = equal.toarray(), both.toarray()
        similar = equal / np.maximum(support[first:last, None] + support - both, 1)
        similar[np.arange(last - first), np.arange(first, last)] = -1
        best[first:last] = similar.max(axis=1)
    return best


def _bytes(size: str) -> dict[str, float]:
    """One byte per value, as there are at most 103, and a plain loop over all pairs."""
    import numba
    import numpy as np

    codes = (_made(size).array + 1).astype(np.uint8)

    @numba.njit
    def compared(codes: Any, rows: Any) -> Any:
        n = len(codes) if rows is None else rows
        best = np.zeros(n)
        for x in range(n):
            for y in range(len(codes)):
                equal = either = 0
                for i in range(codes.shape[1]):
                    a, b = codes[x, i], codes[y, i]
                    equal += (a == b) & (a > 0)
                    either += (a | b) > 0
                if y != x:
                    best[x] = max(best[x], equal / max(either, 1))
        return best

    compared(codes[:10], None)
    return _once(compared, codes)


def _sample(size: str, sample: str) -> dict[str, float]:
    from unveil.linkage.sparsity.nearest_records import nearest_records
    from unveil.linkage.sparsity.sparsity_function import measure_sparsity

    records = _made(size)
    nearest_records(_made("ratings"), rows=[0])  # compiled before
    wall, start = perf_counter(), process_time()
    found = measure_sparsity(records, sample=int(sample))
    took = {"seconds": perf_counter() - wall, "cpu": process_time() - start}
    low, high = found.interval(0.2)
    return measure_work(lambda: None, repeat=1) | took | {"low": low, "high": high, "upper": found.upper_limit(0.5)}


JOBS = {"ours": _ours, "onehot": _onehot, "bytes": _bytes, "products": _products, "sample": _sample}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "large":
        _large("many", _SIZES["many"][0])
        _large("most", 1_000)
    else:
        job, *arguments = sys.argv[1:]
        print(json.dumps(JOBS[job](*arguments)))
