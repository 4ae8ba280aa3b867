"""Linking 3,000 known people with 20,000 rows of 8 columns, against blocking and expectation maximisation in numpy.

People and rows are made up as in febrl's data (``tests/reference/made_people.py``): one value in ten is wrong, one in
twenty missing, and three people in ten are not in the release. Both sides get the columns as integers and estimate
everything else. The baseline does what record-linkage packages do, by hand: pairs that agree in a name, the street or
the birth are compared; expectation maximisation on patterns of agreement gives m and u of every column; the weight of
an agreement is adjusted to the rarity of the value; the best row of each person is linked at odds above 1. CPU seconds
are the least of three runs after one to warm up.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import numpy.typing as npt
from _measure import measure_work, print_figure, run_in_process

from reference.made_people import make_linked_files

__all__ = ["main"]

_BLOCKS = ("given_name", "surname", "street", "birth")
_ROUNDS = 50

Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], float]
"""The best row of each person, the probability that it is theirs, and the share of people outside."""


def main() -> None:
    """Print how fast and how well calibrated both sides are."""
    print("link: 3,000 people, 20,000 rows, 8 columns, 30% outside, 10% wrong")
    ours, theirs = (run_in_process(__file__, side) for side in ("ours", "baseline"))
    print_figure("estimates and links", ours["cpu"], theirs["cpu"], "blocking and EM in numpy")
    for name, said in (("unveil", ours), ("numpy", theirs)):
        print(
            f"    {name}: {said['outside']:.1%} said to be outside; links above one half are said to be right "
            f"{said['promised']:.4f}, are {said['right']:.4f}; {said['found']:.0f} people found, calibration error "
            f"{said['calibration']:.4f}"
        )


def _measure(side: str) -> dict[str, float]:
    import pyarrow as pa

    from unveil.release.codes import encode_column

    files = make_linked_files(1, rows=20_000, people=3_000, outside=0.3)
    columns = [
        {name: encode_column(pa.chunked_array([pa.array(own, pa.string())])) for name, own in each.items()}
        for each in (files.released, files.known)
    ]

    def work() -> Found:
        return _link_by_rehearsal(*columns) if side == "ours" else _link_by_blocks(*columns)

    best, said, outside = work()
    right, likely = (best == files.truth) & (files.truth >= 0), said >= 0.5
    step = np.minimum((said * 10).astype(np.int64), 9)
    return {
        "cpu": measure_work(work, 3)["cpu"],
        "outside": outside,
        "promised": float(said[likely].mean()),
        "right": float(right[likely].mean()),
        "found": float(right[likely].sum()),
        "calibration": sum(abs(float((said - right)[step == k].sum())) for k in range(10)) / len(said),
    }


def _link_by_rehearsal(released: dict, known: dict) -> Found:  # type: ignore[type-arg]
    from unveil.linkage.link.best_match import link_people
    from unveil.linkage.link.error_rates import estimate_error_rates
    from unveil.linkage.link.file_pair import pair_files, records_from_both

    sides = pair_files(*records_from_both(released, known))
    rates = estimate_error_rates(sides)
    found = link_people(
        sides, scoring="likelihood", errors=rates.errors, outside=rates.outside, evidence=rates.evidence
    )
    return found.best, found.posterior, rates.outside


def _link_by_blocks(released: dict, known: dict) -> Found:  # type: ignore[type-arg]
    from unveil.linkage.link.file_pair import records_from_both

    rows, people = (side.array for side in records_from_both(released, known))
    names = list(released)
    pairs = np.unique(np.concatenate([_equal_pairs(people[:, i], rows[:, i]) for i in map(names.index, _BLOCKS)]))
    who, where = pairs // len(rows), pairs % len(rows)
    left, right = people[who], rows[where]
    level = np.where((left < 0) | (right < 0), 2, (left == right).astype(np.int64))
    patterns, counts = np.unique(level @ 3 ** np.arange(len(names)), return_counts=True)
    levels = patterns[:, None] // 3 ** np.arange(len(names)) % 3
    m, u, share = _expectation_maximisation(levels, counts)
    weight = np.zeros(len(pairs))
    for i in range(len(names)):
        size = np.bincount(rows[rows[:, i] >= 0, i], minlength=int(rows[:, i].max()) + 1) / len(rows)
        rarity = u[i] / np.maximum(size[np.minimum(np.maximum(left[:, i], 0), len(size) - 1)], 1e-9)
        agrees = np.log(m[i] / u[i] * rarity)
        weight += np.choose(level[:, i], [np.log((1 - m[i]) / (1 - u[i])), agrees, 0.0])
    odds = np.exp(np.minimum(weight + np.log(share / (1 - share)), 50))
    total = 1 + np.bincount(who, odds, len(people))
    order = np.lexsort((odds, who))
    best, said = np.full(len(people), -1), np.zeros(len(people))
    best[who[order]], said[who[order]] = where[order], (odds / total[who])[order]
    return best, said, float((1 / total).mean())


def _equal_pairs(known: npt.NDArray[np.int32], released: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """All pairs of a person and a row with the same value, as numbers."""
    order = np.argsort(released, kind="stable")
    low, high = (np.searchsorted(released[order], known, side) for side in ("left", "right"))
    size = np.where(known >= 0, high - low, 0)
    who = np.repeat(np.arange(len(known)), size)
    at = np.repeat(low - (np.cumsum(size) - size), size) + np.arange(size.sum())
    return np.asarray(who * len(released) + order[at], np.int64)


def _expectation_maximisation(
    levels: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """m and u of every column and the share of matches, from how often patterns of agreement occur."""
    agrees, compared = (levels == 1).astype(np.float64), (levels < 2).astype(np.float64)
    m, u, share = np.full(levels.shape[1], 0.9), np.full(levels.shape[1], 0.05), 0.01
    for _ in range(_ROUNDS):
        match, other = (
            np.exp(agrees @ np.log(p) + (compared - agrees) @ np.log(1 - p)) * part
            for p, part in ((m, share), (u, 1 - share))
        )
        weights = counts * match / (match + other)
        rest = counts - weights
        m, u = (np.clip(w @ agrees / (w @ compared), 1e-6, 1 - 1e-6) for w in (weights, rest))
        share = float(weights.sum() / counts.sum())
    return m, u, share


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(_measure(sys.argv[1])))
