"""How wrong the cheap estimators are: O, H, one-step and Bethe against exact cracks, and NMAPE by n.

All figures are errors, in percent; every table says of what. Seeds are fixed. For a doubly stochastic matrix H is what
Sinkhorn's scaling and its first step leave as it is; for 0/1 candidates H is taken of their flat matrix, the limit of
that scaling.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from _measure import data_folder

from reference.ensembles import ENSEMBLES, NmapeExperiment, run_nmape_experiment
from unveil import read
from unveil.matching import Candidates, solve
from unveil.matching.screening import instant_estimates

__all__ = ["main"]

_NAMES = ("O", "Sinkhorn", "one-step", "Bethe")
_DRAWN = {5: 100, 10: 50, 20: 10}
_SIZES = {2: 1000, 3: 1000, 4: 1000, 5: 1000, 6: 500, 8: 300, 10: 100, 20: 20}
_PUBLISHED = 30_000  # as many 5 × 5 matrices as Figure 4.2 of the thesis


def main() -> None:
    """Print the tables."""
    print("estimators: the sum of crack probabilities, error in percent of the exact one: mean (least to greatest)")
    cases = _drawn() | _real()
    found = {name: [_compared(candidates) for candidates in some] for name, some in cases.items()}
    _table(("", *_NAMES), [(name, *(_signed(some, k) for k in _NAMES)) for name, some in found.items()])
    print("estimators: the probability that an entry is cracked, greatest error in percentage points")
    _table(("", *_NAMES), [(name, *(_greatest(some, k) for k in _NAMES)) for name, some in found.items()])
    _over_truths()


def _drawn() -> dict[str, list[Candidates]]:
    """Random matrices. Of a flat one the attacker knows the candidates."""
    made = {}
    for name, generator in ENSEMBLES.items():
        for n, count in _DRAWN.items():
            matrices = [generator(n, np.random.default_rng([n, k])) for k in range(count)]
            known = [m > 0 if name == "sparse" else m for m in matrices]
            made[f"{name}, n = {n}"] = [Candidates.from_matrix(m) for m in known]
    return made


def _real() -> dict[str, list[Candidates]]:
    data = data_folder()
    return {} if data is None else {name: [_intervals(data, name)] for name in ("chess", "mushroom", "retail")}


def _intervals(data: Path, name: str) -> Candidates:
    """Intervals of one median gap around the true frequencies."""
    counts = read(data / "transactions" / f"{name}.dat").counts.astype(float)
    gap = np.median(np.diff(np.unique(counts)))
    return Candidates.from_intervals(counts - gap, counts + gap, counts)


def _compared(candidates: Candidates) -> dict[str, tuple[float, float]]:
    """For every estimator the signed error in percent of the exact cracks, and the greatest of an entry."""
    exact = solve(candidates)
    assert exact.exact
    cracks = instant_estimates(candidates, exact.truth)
    return {
        name: (100 * (crack.sum() / exact.expected_cracks - 1), 100 * np.abs(crack - exact.crack).max())
        for name, crack in cracks.items()
    }


def _signed(some: list[dict[str, tuple[float, float]]], name: str) -> str:
    errors = [each[name][0] for each in some]
    spread = f" ({_number(min(errors))} to {_number(max(errors))})" if len(errors) > 1 else ""
    return _number(float(np.mean(errors))) + spread


def _greatest(some: list[dict[str, tuple[float, float]]], name: str) -> str:
    return f"{max(each[name][1] for each in some):.1f}"


def _over_truths() -> None:
    """H against Ψ over all truths, by n and by generator."""
    found = {
        name: {n: run_nmape_experiment(draw, n, count, np.random.default_rng([n, 1])) for n, count in _SIZES.items()}
        for name, draw in ENSEMBLES.items()
    }
    error = max(x[20].standard_error for x in found.values())
    top = ("", *(f"n = {n}" for n in _SIZES))
    drawn = ("matrices", *(f"{count:,}" for count in _SIZES.values()))
    print("estimators: NMAPE of H, percent of n: greatest (mean) over the matrices; exact over all n! truths up to 10,")
    print(f"  for n = 20 estimated from 10,000 random truths of each matrix, standard error at most {error:.2f}")
    _table(top, [drawn, *_rows(found, lambda x: f"{x.nmape.greatest:.2f} ({x.nmape.mean:.2f})")])
    print("estimators: NMAPE of always saying 1, for comparison: greatest (mean)")
    _table(top, _rows(found, lambda x: f"{x.baseline.greatest:.2f} ({x.baseline.mean:.2f})"))
    print("estimators: H at its worst single truth, percent of n, exact: greatest (mean)")
    _table(top, _rows(found, lambda x: f"{x.worst.greatest:.1f} ({x.worst.mean:.1f})"))
    print("estimators: H at the likeliest truth, percent of Ψ: least (mean)")
    _table(top, _rows(found, lambda x: f"{_number(x.planted_error.least)} ({_number(x.planted_error.mean)})"))
    print("estimators: H over truths that are as likely as the attacker deems them, percent of Ψ: least (mean)")
    _table(top, _rows(found, lambda x: f"{_number(x.calibrated_error.least)} ({_number(x.calibrated_error.mean)})"))
    print(f"estimators: NMAPE and worst single truth of {_PUBLISHED:,} matrices 5 × 5, percent of n")
    _published()


def _published() -> None:
    rows = []
    for name in ("uniform", "peaky"):
        x = run_nmape_experiment(ENSEMBLES[name], 5, _PUBLISHED, np.random.default_rng(1))
        parts = (x.nmape.mean, x.nmape.q95, x.nmape.greatest, x.worst.mean, x.worst.greatest)
        rows.append((name, *(f"{part:.2f}" for part in parts), f"{x.understated_share:.1%}"))
    _table(("", "NMAPE, mean", "95% quantile", "greatest", "worst truth, mean", "greatest", "understated"), rows)


def _rows(
    found: dict[str, dict[int, NmapeExperiment]], told: Callable[[NmapeExperiment], str]
) -> list[tuple[str, ...]]:
    return [(name, *map(told, by_n.values())) for name, by_n in found.items()]


def _number(value: float) -> str:
    """With one decimal and a sign; what rounds to 0 has none."""
    return f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def _table(top: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    for row in (top, ("---",) * len(top), *rows):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
