"""The sparsity function, the slow, obvious way: every record compared with every other, in fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

__all__ = [
    "equal_similarity",
    "linear_similarity",
    "nearest_records",
    "record_similarity",
    "share_near",
    "tail_share",
    "threshold_similarity",
]

Value = int | None
Row = Sequence[Value]
Sim = Callable[[int, int], Fraction]


def equal_similarity(a: int, b: int) -> Fraction:
    return Fraction(a == b)


def threshold_similarity(rho: int, closed: bool = True) -> Sim:
    return lambda a, b: Fraction(abs(a - b) <= rho if closed else abs(a - b) < rho)


def linear_similarity(scale: int) -> Sim:
    return lambda a, b: max(1 - Fraction(abs(a - b), scale), Fraction(0))


def record_similarity(x: Row, y: Row, sims: Sequence[Sim], kind: str, least: Fraction) -> Fraction:
    """(2.1), (2.2) or (2.3); 1 for two records without any attribute."""
    total, either = Fraction(0), 0
    for a, b, sim in zip(x, y, sims, strict=True):
        either += a is not None or b is not None
        if a is not None and b is not None:
            near = sim(a, b)
            total += {"alike": Fraction(near >= least), "sum": near, "support": Fraction(1)}[kind]
    return total / either if either else Fraction(1)


def nearest_records(
    rows: Sequence[Row], sims: Sequence[Sim], kind: str = "alike", least: Fraction = Fraction(1)
) -> list[tuple[Fraction, int]]:
    """Of every record the largest similarity to another and the first that has it; −1 if there is no other."""
    found = []
    for k, x in enumerate(rows):
        best = Fraction(0), -1
        for other, y in enumerate(rows):
            if other != k:
                near = record_similarity(x, y, sims, kind, least)
                if best[1] < 0 or near > best[0]:
                    best = near, other
        found.append(best)
    return found


def share_near(found: Sequence[tuple[Fraction, int]], sigma: Fraction) -> Fraction:
    """f(σ)."""
    return Fraction(sum(other >= 0 and near >= sigma for near, other in found), len(found))


def tail_share(rows: Sequence[Row], rank: int) -> Fraction:
    """The share of records with an attribute of this rank (from 1) or a rarer one, or one that as few records have."""
    have = [sum(row[i] is not None for row in rows) for i in range(len(rows[0]))]
    rare = [i for i in range(len(have)) if have[i] <= sorted(have, reverse=True)[rank - 1]]
    return Fraction(sum(any(row[i] is not None for i in rare) for row in rows), len(rows))
