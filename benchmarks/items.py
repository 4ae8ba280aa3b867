"""Estimates of a million items against one sort of their frequencies; itemsets by OS against the exact probability."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _measure import data_folder, figure, in_process, measured

from unveil import assess, read
from unveil.items.beliefs import Beliefs
from unveil.items.estimates import o_estimate, os_estimates
from unveil.items.groups import Groups
from unveil.items.itemsets import Theta, itemset_chances, vulnerable
from unveil.matching import solve

__all__ = ["main"]

_ITEMS = 1_000_000
_BASKETS = 1_000_000
_WIDTH = 5
_DRAWN = 10_000  # itemsets, as many as in Figure 18 of the paper
_PRINTED = {4: (0.0304, 0.00196), 5: (0.0121, 0.000335), 6: (0.0057, 0.00029)}


def main() -> None:
    """Print the figures and tables."""
    print(f"items: the O-estimate of a million items, random counts, intervals ± {_WIDTH}")
    took = {part: in_process(__file__, part)["cpu"] for part in _JOBS}
    for part, what in (
        ("counts", "counts, no propagation"),
        ("shares", "frequencies that are no counts, no propagation"),
        ("nothing", "counts, propagation, nothing to propagate"),
        ("cascades", "counts, propagation, intervals of random widths"),
    ):
        figure(what, took[part], took["sort"], "one numpy.sort", goal=3 if part == "counts" else None)
    data = data_folder()
    if data is not None:
        _whole(data)
        _itemsets(data)
        _pairs(data)


def _whole(data: Path) -> None:
    """All of ``assess`` on retail, reading included, against the bare exact solution of the same intervals."""
    file = data / "transactions" / "retail.dat"
    candidates = Beliefs.around(read(file).counts, 1.0).candidates
    for warm in (lambda: assess(read(file)), lambda: solve(candidates)):
        warm()
    whole, bare = (
        min(_cpu(work) for _ in range(3)) for work in (lambda: assess(read(file)), lambda: solve(candidates))
    )
    figure("assess retail.dat, all findings", whole, bare, "the bare exact solution", goal=5)


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _counts() -> np.ndarray:
    return np.random.default_rng(0).integers(1, _BASKETS, _ITEMS).astype(np.float64)


def _sort() -> dict[str, float]:
    frequencies = _counts() / _BASKETS
    return measured(lambda: np.sort(frequencies))


def _shares() -> dict[str, float]:
    beliefs = Beliefs.around(_counts() / _BASKETS, _WIDTH / _BASKETS)
    return measured(lambda: o_estimate(beliefs, propagate=False))


def _uniform(propagate: bool) -> dict[str, float]:
    beliefs = Beliefs.around(_counts(), _WIDTH)
    return measured(lambda: o_estimate(beliefs, propagate))


def _cascades() -> dict[str, float]:
    counts = _counts()
    beliefs = Beliefs.around(counts, np.random.default_rng(1).integers(0, _WIDTH + 1, len(counts)))
    return measured(lambda: o_estimate(beliefs))


def _median_gap(data: Path, name: str) -> Beliefs:
    counts = read(data / "transactions" / f"{name}.dat").counts
    return Beliefs.around(counts, Groups.of(counts).median_gap)


def _itemsets(data: Path) -> None:
    """Figure 18 of the paper, with the exact probability beside it."""
    print(f"items: {_DRAWN:,} random itemsets of mushroom, mean probability to be cracked (± standard error)")
    beliefs = _median_gap(data, "mushroom")
    rows = []
    for k, (printed, simulated) in _PRINTED.items():
        rng = np.random.default_rng(k)
        sets = np.array([rng.choice(beliefs.n, k, replace=False) for _ in range(_DRAWN)])
        start = time.process_time()
        low, high = itemset_chances(beliefs, sets)
        seconds = time.process_time() - start
        assert np.array_equal(low, high)
        by_os = os_estimates(beliefs, sets)
        rows.append((f"{k}", _mean(low), _mean(by_os), f"{printed}", f"{simulated}", f"{seconds:.1f}"))
    _table(("items", "exact", "OS", "OS in print", "simulated in print", "s CPU, exact"), rows)


def _pairs(data: Path) -> None:
    """Pairs that are cracked with probability 1/2 or more."""
    print("items: share of the pairs that are cracked with probability σ or more")
    rows = []
    for name in ("chess", "mushroom", "retail"):
        beliefs = _median_gap(data, name)
        for sigma in (0.5, 0.25, 0.1):
            start = time.process_time()
            found = vulnerable(beliefs, Theta(sigma=sigma))
            seconds = time.process_time() - start
            assert found.method == "exact"
            shares = f"{found.share:.3%}", f"{found.estimate:.3%}"
            rows.append((name, f"{found.itemsets:,}", f"{sigma}", *shares, f"{seconds:.1f}"))
    _table(("", "pairs", "σ", "exact", "OS", "s CPU"), rows)


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():.5f} ± {values.std(ddof=1) / np.sqrt(len(values)):.5f}"


def _table(top: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    for row in (top, ("---",) * len(top), *rows):
        print("| " + " | ".join(row) + " |")


_JOBS = {
    "sort": _sort,
    "counts": lambda: _uniform(False),
    "shares": _shares,
    "nothing": lambda: _uniform(True),
    "cascades": _cascades,
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(_JOBS[sys.argv[1]]()))
