"""Someone with a tenth of the baskets who matches all pairs, against scipy's FAQ on the same tables and start."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from _measure import data_folder
from scipy.optimize import quadratic_assignment

from unveil import Case, read
from unveil.items.pair_attack import AttackTarget, draw_baskets
from unveil.items.pair_matching import PairProblem, match_items
from unveil.release.transactions import Transactions

__all__ = ["main"]

_SAMPLES = 3


def main() -> None:
    """Print right names and seconds of both."""
    data = data_folder()
    if data is None:
        return
    print("similar pairs: right names with a sample, against scipy's quadratic_assignment (faq)")
    for name, limit, part in (("chess", 75, 10), ("mushroom", 119, 10), ("retail", 300, 10), ("retail", 300, 50)):
        _compare(data, name, limit, part)


def _compare(data: Path, name: str, limit: int, part: int) -> None:
    baskets = read(data / "transactions" / f"{name}.dat")
    assert isinstance(baskets, Transactions)
    target = AttackTarget(Case(baskets).release, baskets, None, limit)  # type: ignore[arg-type]
    ours, theirs = np.zeros((2, 2))
    for seed in range(_SAMPLES):
        rng = np.random.default_rng(seed)
        own, items = target.carry_shares(
            draw_baskets(baskets, rng.permutation(baskets.baskets)[: baskets.baskets // part])
        )
        released, pseudonyms = target.released_shares()
        begun = time.perf_counter()
        found = match_items(own, released, rng)
        ours += (pseudonyms[found.assigned] == items)[found.assigned >= 0].sum(), time.perf_counter() - begun
        problem = PairProblem.from_shares(own, released)
        order = rng.permutation(problem.n)
        (mine, table), start = problem.terms[0], problem.start[:, order]
        begun = time.perf_counter()
        options = {"maximize": True, "P0": _doubly_stochastic(start), "rng": rng, "maxiter": 100}
        answer = quadratic_assignment(mine, table[np.ix_(order, order)], method="faq", options=options)
        place = order[answer.col_ind][: len(items)]
        right = sum(k < len(pseudonyms) and pseudonyms[k] == i for i, k in zip(items, place, strict=True))
        theirs += right, time.perf_counter() - begun
    (right, seconds), (faq, faq_seconds) = ours / _SAMPLES, theirs / _SAMPLES
    print(
        f"  {name}, {limit} items, 1 in {part} baskets: {right:.1f} right in {seconds:.2f} s; "
        f"faq {faq:.1f} in {faq_seconds:.2f} s; "
        f"{right / max(faq, 1):.2f} times as many in {seconds / faq_seconds:.1f} times the time"
    )


def _doubly_stochastic(table: np.ndarray) -> np.ndarray:
    """A positive table with rows and columns scaled until scipy accepts it."""
    table = table + 0.1 / len(table)
    for _ in range(2000):
        table = table / table.sum(axis=0)
        table = table / table.sum(axis=1, keepdims=True)
    return table


if __name__ == "__main__":
    main()
