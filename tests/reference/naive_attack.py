"""The adversaries of linkage attacks, the slow, obvious way: every record looked at, every probability written out.

A record is a dictionary from attributes to codes; ``sims[i][a][b]`` says how alike codes a and b of attribute i are.
What is known is a list of pairs of an attribute and a code. Every adversary returns the probability with which it names
each record; none is named with the probability that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import exp, log, sqrt

__all__ = [
    "bayesian_attack",
    "eccentricity_attack",
    "entropy_attack",
    "fewest_matches",
    "fitting_records",
    "least_support_holders",
    "likeliest_records",
    "likelihood",
    "record_similarity",
    "scoreboard_attack",
    "smallest_candidates",
]

Record = dict[int, int]
Records = Sequence[Record]
Known = Sequence[tuple[int, int]]
Sims = Sequence[Sequence[Sequence[float]]]
Output = dict[int, float]

SLACK = 1e-9


def fitting_records(records: Records, sims: Sims, known: Known, alpha: float) -> list[int]:
    """D_x: the records that are alike in all that is known."""
    return [
        r
        for r, y in enumerate(records)
        if all(i in y and (alpha == 0 or sims[i][v][y[i]] >= alpha - SLACK) for i, v in known)
    ]


def _equal_weights(rows: Sequence[int]) -> Output:
    return {r: 1 / len(rows) for r in rows}


def scoreboard_attack(records: Records, sims: Sims, known: Known, alpha: float) -> Output:
    """Any candidate."""
    return _equal_weights(fitting_records(records, sims, known, alpha))


def smallest_candidates(records: Records, sims: Sims, known: Known, alpha: float) -> Output:
    """Any candidate of least support."""
    found = fitting_records(records, sims, known, alpha)
    least = min((len(records[r]) for r in found), default=0)
    return _equal_weights([r for r in found if len(records[r]) == least])


def least_support_holders(records: Records, sims: Sims, known: Known) -> Output:
    """Any record of least support among those that have the attributes."""
    return smallest_candidates(records, sims, known, 0)


def _scores(records: Records, sims: Sims, known: Known) -> tuple[list[float], float]:
    """The score of each record, and the standard deviation of all. What each thing adds is a multiple of 2⁻³⁰, so that
    sums are exact: 1/ln 2 and 2/ln 4 are no tie."""
    found = []
    for y in records:
        score = 0.0
        for i, v in known:
            support = sum(i in z for z in records)
            score += round(2**30 * sims[i][v][y[i]] / log(max(support, 2))) / 2**30 if i in y else 0
        found.append(score)
    mean = sum(found) / len(found)
    return found, sqrt(sum((s - mean) ** 2 for s in found) / len(found))


def eccentricity_attack(records: Records, sims: Sims, known: Known, phi: float) -> Output:
    """The record of highest score, if it is ahead."""
    scores, deviation = _scores(records, sims, known)
    best = [r for r, s in enumerate(scores) if s == max(scores)]
    if len(records) == 1:
        return {0: 1.0}
    second = sorted(scores)[-2]
    ahead = 0.0 if len(best) > 1 or deviation < SLACK else (max(scores) - second) / deviation
    return _equal_weights(best) if ahead >= phi - SLACK else {}


def entropy_attack(records: Records, sims: Sims, known: Known) -> Output:
    """Each record in proportion to exp(score/σ)."""
    scores, deviation = _scores(records, sims, known)
    return _normalise_logs([s / deviation if deviation > SLACK else 0.0 for s in scores])


def _normalise_logs(logs: Sequence[float]) -> Output:
    top = max(logs)
    if top == float("-inf"):
        return {}
    total = sum(exp(x - top) for x in logs)
    return {r: exp(x - top) / total for r, x in enumerate(logs) if x > float("-inf")}


def likelihood(
    records: Records,
    sims: Sims,
    known: Known,
    row: int,
    wrong: float,
    elsewhere: float,
    alpha: float,
    columns: set[int],
) -> float:
    """log P(x | y), thing after thing."""
    y, total = records[row], 0.0
    have, others = len(columns & set(y)), len(columns - set(y))
    for i, v in known:
        values = [z[i] for z in records if i in z]
        share = max(1, values.count(v)) / len(values)
        if i not in y:
            if elsewhere == 0 or others == 0:
                return float("-inf")
            total += log(elsewhere / others * share)
            others -= 1
            continue
        alike = [b for b in range(len(sims[i])) if sims[i][v][b] >= alpha - SLACK]
        p = (1 - wrong) * (y[i] in alike) / len(alike) + wrong * share
        if p == 0:
            return float("-inf")
        total += log((1 - elsewhere if columns - set(y) else 1) / have * p)
        have -= 1
    return total


def bayesian_attack(
    records: Records, sims: Sims, known: Known, wrong: float, elsewhere: float, alpha: float, columns: set[int]
) -> Output:
    """Each record with its probability."""
    rows = range(len(records))
    return _normalise_logs([likelihood(records, sims, known, r, wrong, elsewhere, alpha, columns) for r in rows])


def likeliest_records(
    records: Records, sims: Sims, known: Known, wrong: float, elsewhere: float, alpha: float, columns: set[int]
) -> Output:
    """Any record with the highest probability."""
    found = bayesian_attack(records, sims, known, wrong, elsewhere, alpha, columns)
    return _equal_weights([r for r, p in found.items() if p >= max(found.values()) * (1 - 1e-7)])


def record_similarity(x: Record, y: Record, sims: Sims, sim: str, least: float) -> float:
    """Sim of two records: (2.1), (2.2) or (2.3)."""
    both, union = set(x) & set(y), set(x) | set(y)
    if sim == "alike":
        return sum(sims[i][x[i]][y[i]] >= least - SLACK for i in both) / len(union)
    return (sum(sims[i][x[i]][y[i]] for i in both) if sim == "sum" else len(both)) / len(union)


def fewest_matches(
    records: Records, sims: Sims, row: int, size: int, allowed: Callable[[set[int]], bool] = lambda s: True
) -> int:
    """How few records have the same points, of all sets of as many points, or of all points there are."""
    x = records[row]
    sets = [set(s) for s in combinations(x, min(size, len(x))) if allowed(set(s))]
    return min(len(fitting_records(records, sims, [(i, x[i]) for i in s], 1)) for s in sets)
