"""Linkage with a file of known people, the slow, obvious way: every person against every row, every assignment.

A record is a list of values, None where null; an attribute has a function sim(known, released) from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, inf, log, sqrt
from typing import Any

__all__ = ["Found", "assignments", "best_links", "link_person", "one_to_one", "possible_rows"]

Record = Sequence[Any]
Sim = Callable[[Any, Any], float]
UNIT = 2.0**-36


def possible_rows(
    person: Record, rows: Sequence[Record], sims: Sequence[Sim], least: float = 1.0, differ: bool = False
) -> list[int]:
    """The rows that nothing known rules out."""

    def fits(row: Record) -> bool:
        for x, y, sim in zip(person, row, sims, strict=True):
            if x is None or (y is None and not differ):
                continue
            if y is None or sim(x, y) < least - 1e-12:
                return False
        return True

    return [k for k, row in enumerate(rows) if fits(row)]


@dataclass(frozen=True)
class Found:
    """What is found for one person: score and log-likelihood ratio of every row, and what follows from them."""

    score: list[float]
    likelihood: list[float]
    posterior: list[float]
    outside: float
    informed: bool

    @property
    def best(self) -> list[int]:
        """The rows that are as good as the best."""
        if not self.informed:
            return []
        top = max(zip(self.score, self.likelihood, strict=True))
        return [k for k, pair in enumerate(zip(self.score, self.likelihood, strict=True)) if pair == top]

    @property
    def second(self) -> float | None:
        """The second highest score."""
        return sorted(self.score)[-2] if len(self.score) > 1 else None

    @property
    def eccentricity(self) -> float:
        """(best − second)/σ."""
        n = len(self.score)
        if n < 2:
            return 0.0
        mean = sum(self.score) / n
        sigma = sqrt(sum((s - mean) ** 2 for s in self.score) / n)
        top, second = sorted(self.score)[:-3:-1]
        return (top - second) / sigma if top > second else 0.0


def link_person(
    person: Record,
    rows: Sequence[Record],
    sims: Sequence[Sim],
    scoring: str = "rarity",
    errors: float = 0.05,
    outside: float = 0.0,
    differ: bool = False,
) -> Found:
    """All rows scored for one person. Scores are in whole units, as sums of rounded terms."""
    score, likelihood = [0] * len(rows), [0] * len(rows)
    base, q = 0.0, max(errors, 1e-300)
    for i, sim in enumerate(sims):
        if person[i] is None:
            continue
        there = [row[i] for row in rows if row[i] is not None]
        total = len(rows) if differ else len(there)
        share = sum(sim(person[i], y) for y in there) / max(1, total)
        base += log(q)
        for k, row in enumerate(rows):
            gain, more = 0.0, 0.0
            if row[i] is not None and sim(person[i], row[i]) > 0:
                alike = sim(person[i], row[i])
                more = log(q + (1 - q) * alike / share) - log(q)
                gain = {
                    "rarity": -alike * log(share),
                    "support": alike / log(max(2, len(there))),
                    "likelihood": more,
                }[scoring]
            elif row[i] is None and not differ:
                more = -log(q)
                gain = more if scoring == "likelihood" else 0.0
            score[k] += round(gain / UNIT)
            likelihood[k] += round(more / UNIT)
    start = base if scoring == "likelihood" else 0.0
    ratios = [base + x * UNIT for x in likelihood]
    top = max([*ratios, 0.0 if outside else -inf])
    odds = [exp(x - top) * (1 - outside) / len(rows) for x in ratios]
    none = outside * exp(-top) if outside else 0.0
    everything = sum(odds) + none
    return Found(
        [start + s * UNIT for s in score],
        ratios,
        [x / everything for x in odds],
        none / everything if rows else 1.0,
        max(score, default=0) > 0,
    )


def assignments(fits: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give people rows of their own among those that fit, or none (−1)."""
    for chosen in product(*([*rows, -1] for rows in fits)):
        taken = [row for row in chosen if row >= 0]
        if len(set(taken)) == len(taken):
            yield chosen


def one_to_one(fits: Sequence[Sequence[int]], rows: int) -> list[list[float]]:
    """How likely each person is each row, if all assignments that place the most people are."""
    ways = list(assignments(fits))
    most = max(sum(row >= 0 for row in way) for way in ways)
    ways = [way for way in ways if sum(row >= 0 for row in way) == most]
    return [[sum(way[i] == k for way in ways) / len(ways) for k in range(rows)] for i in range(len(fits))]


def best_links(worth: Sequence[dict[int, float]]) -> float:
    """The greatest total worth of links of people and rows, one to one."""
    ways = assignments([list(own) for own in worth])
    return max(sum(own[row] for own, row in zip(worth, way, strict=True) if row >= 0) for way in ways)
