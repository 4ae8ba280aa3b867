"""Estimates of a million items against one sort of their frequencies; itemsets by OS against the exact probability; the
published simulator against exact values."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _measure import data_folder, measure_work, print_figure, run_in_process

from reference.published_simulator import simulate_as_published
from unveil import Case, Policy, Run, assess, read
from unveil.items.ask import QUESTION
from unveil.items.beliefs import Beliefs
from unveil.items.degree_estimates import o_estimate, os_estimates
from unveil.items.frequency_groups import FrequencyGroups
from unveil.items.itemset_recipe import assess_risk_itemsets
from unveil.items.itemsets import ItemsetRequirement, itemset_chances, measure_vulnerable_share
from unveil.items.mixed_up_itemsets import assess_mixed_up_itemsets
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
    took = {part: run_in_process(__file__, part)["cpu"] for part in _JOBS}
    for part, what in (
        ("counts", "counts, no propagation"),
        ("shares", "frequencies that are no counts, no propagation"),
        ("nothing", "counts, propagation, nothing to propagate"),
        ("cascades", "counts, propagation, intervals of random widths"),
    ):
        print_figure(what, took[part], took["sort"], "one numpy.sort", goal=3 if part == "counts" else None)
    data = data_folder()
    if data is not None:
        _whole(data)
        _itemsets(data)
        _pairs(data)
        _recipe(data)
        _published(data)


def _whole(data: Path) -> None:
    """All that is asked of the items of retail, reading included, against the bare exact solution of the same
    intervals; and all of ``assess``, which looks for known baskets as well."""
    file = data / "transactions" / "retail.dat"
    candidates = Beliefs.from_half_width(read(file).counts, 1.0).candidates
    works: tuple[Callable[[], object], ...] = (
        lambda: list(QUESTION.ask(Case(read(file)), Policy(), Run())),
        lambda: assess(read(file)),
        lambda: solve(candidates),
    )
    for warm in works:
        warm()
    asked, whole, bare = (min(_cpu(work) for _ in range(3)) for work in works)
    print_figure("retail.dat, all findings about items", asked, bare, "the bare exact solution", goal=5)
    print_figure("assess retail.dat, all findings", whole, bare, "the bare exact solution")


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _counts() -> np.ndarray:
    return np.random.default_rng(0).integers(1, _BASKETS, _ITEMS).astype(np.float64)


def _sort() -> dict[str, float]:
    frequencies = _counts() / _BASKETS
    return measure_work(lambda: np.sort(frequencies))


def _shares() -> dict[str, float]:
    beliefs = Beliefs.from_half_width(_counts() / _BASKETS, _WIDTH / _BASKETS)
    return measure_work(lambda: o_estimate(beliefs, propagate=False))


def _uniform(propagate: bool) -> dict[str, float]:
    beliefs = Beliefs.from_half_width(_counts(), _WIDTH)
    return measure_work(lambda: o_estimate(beliefs, propagate))


def _cascades() -> dict[str, float]:
    counts = _counts()
    beliefs = Beliefs.from_half_width(counts, np.random.default_rng(1).integers(0, _WIDTH + 1, len(counts)))
    return measure_work(lambda: o_estimate(beliefs))


def _median_gap(data: Path, name: str) -> Beliefs:
    counts = read(data / "transactions" / f"{name}.dat").counts
    return Beliefs.from_half_width(counts, FrequencyGroups.from_counts(counts).median_gap)


def _itemsets(data: Path) -> None:
    """Figure 18 of the paper, with the exact probability beside it."""
    print(f"items: {_DRAWN:,} random itemsets of mushroom, mean probability to be cracked (± standard error)")
    beliefs = _median_gap(data, "mushroom")
    rows = []
    for k, (printed, simulated) in _PRINTED.items():
        sets = _random_sets(beliefs.n, k)
        start = time.process_time()
        low, high = itemset_chances(beliefs, sets)
        seconds = time.process_time() - start
        assert np.array_equal(low, high)
        by_os = os_estimates(beliefs, sets)
        rows.append((f"{k}", _mean(low), _mean(by_os), f"{printed}", f"{simulated}", f"{seconds:.1f}"))
    _table(("items", "exact", "OS", "OS in print", "simulated in print", "s CPU, exact"), rows)


def _random_sets(n: int, k: int) -> np.ndarray:
    rng = np.random.default_rng(k)
    return np.array([rng.choice(n, k, replace=False) for _ in range(_DRAWN)])


def _pairs(data: Path) -> None:
    """Pairs that are cracked with probability 1/2 or more."""
    print("items: share of the pairs that are cracked with probability σ or more")
    rows = []
    for name in ("chess", "mushroom", "retail"):
        beliefs = _median_gap(data, name)
        for sigma in (0.5, 0.25, 0.1):
            start = time.process_time()
            found = measure_vulnerable_share(beliefs, ItemsetRequirement(sigma=sigma))
            seconds = time.process_time() - start
            assert found.method == "exact"
            shares = f"{found.share:.3%}", f"{found.estimate:.3%}"
            rows.append((name, f"{found.itemsets:,}", f"{sigma}", *shares, f"{seconds:.1f}"))
    _table(("", "pairs", "σ", "exact", "OS", "s CPU"), rows)


def _recipe(data: Path) -> None:
    """Figures 20 and 21 of the paper: how much the attacker may be right about before too many pairs are cracked."""
    print("items: the recipe for pairs, σ = .5, τ = .1: all, and without the most frequent 10% and 20% of the items")
    rows = []
    for name in ("chess", "mushroom"):
        beliefs = _median_gap(data, name)
        for top in (0.0, 0.1, 0.2):
            theta, start = ItemsetRequirement(without_top=top), time.process_time()
            found = assess_risk_itemsets(beliefs, theta)
            mixed = assess_mixed_up_itemsets(beliefs, found).alpha_max
            seconds = time.process_time() - start
            shares = f"{found.known_exactly.share:.1%}", f"{found.known_roughly.share:.1%}"
            rows.append(
                (
                    name,
                    f"{top:.0%}",
                    *shares,
                    f"{found.last_step}",
                    f"{found.alpha_max:.1%}",
                    " to ".join(dict.fromkeys("none" if end is None else f"{end:.1%}" for end in mixed)),
                    f"{seconds:.1f}",
                )
            )
    _table(("", "left out", "step 1", "step 2", "stops at", "α_max, excluded", "α_max, mixed up", "s CPU"), rows)


def _published(data: Path) -> None:
    """The paper's simulator with its own settings: 20 restarts of 250 samples; itemsets of mushroom in the same run."""
    print("items: the published simulator (5,000 samples) against exact values, expected cracks at one median gap")
    rows = []
    sets = [x for k in _PRINTED for x in _random_sets(_median_gap(data, "mushroom").n, k).tolist()]
    for name in ("chess", "mushroom"):
        beliefs = _median_gap(data, name)
        solve(beliefs.candidates)
        start = time.process_time()
        exact = solve(beliefs.candidates).expected_cracks
        middle = time.process_time()
        found = simulate_as_published(beliefs, np.random.default_rng(0), sets if name == "mushroom" else ())
        took = f"{middle - start:.3f}", f"{time.process_time() - middle:.0f}"
        error = found.restart_deviation / np.sqrt(len(found.restart_means))
        rows.append(
            (
                name,
                f"{exact:.5f}",
                f"{found.cracks:.4f}",
                f"{found.restart_deviation:.4f}",
                f"{(found.cracks - exact) / error:+.1f}",
                *took,
            )
        )
    top = "", "exact", "simulated", "deviation of a restart", "standard errors off", "s CPU, exact", "s CPU, simulated"
    _table(top, rows)
    means = found.itemset_shares.reshape(len(_PRINTED), -1).mean(axis=1)
    for k, mean in zip(_PRINTED, means, strict=True):
        print(f"  mushroom, the same {_DRAWN:,} itemsets of {k}: simulated mean probability {mean:.5f}")


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
