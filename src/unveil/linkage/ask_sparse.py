"""The findings about how alike records are, and what that guarantees an attacker without attacking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.finding import Curve, Finding
from unveil.linkage.alike.sparsity import Sparsity, sparsity
from unveil.linkage.alike.tail import Tail, tail
from unveil.linkage.ask_found import numbers, scale
from unveil.linkage.intervals import estimated
from unveil.linkage.people import People
from unveil.linkage.telling import MERENER, RARE, maker, with_interval
from unveil.linkage.theorems.agreeing import agreeing, work
from unveil.linkage.theorems.best_bound import best_bound, steps
from unveil.policy import Policy
from unveil.run import Run
from unveil.wording import counted, percent

__all__ = ["sparse_findings"]

_ALL = 30_000_000_000  # records times values up to which each record is compared with all others: a few seconds
_SAMPLE = 400
_FEW = 100
_WORK = 1_000_000_000
_LIKELY = 0.5
_HALF = 0.5


def sparse_findings(people: People, known: int, policy: Policy, run: Run) -> Iterator[Finding]:
    """Sparsity, and the success that is guaranteed. Dates are left out: they only tell people apart further."""
    records = people.records.part(0)
    make, long = maker(people, known, policy), tail(records)
    found = sparsity(records, sample=None if records.n * len(records.value) <= _ALL else _SAMPLE, run=run)
    yield _sparsity(found, long, people, run, make)
    yield _bound(found, long, people, known, run, make)


def _sparsity(found: Sparsity, long: Tail, people: People, run: Run, make: Any) -> Finding:
    value, interval = found.f(_HALF), found.interval(_HALF, run.confidence)
    equal = with_interval(found.f(1), found.interval(1, run.confidence))
    finding: Finding = make(
        "linkage.sparsity",
        f"{people.many.capitalize()} {people.who} share half of their {people.values} or more with another",
        value,
        f"For {with_interval(value, interval)} of the {people.many} there is another one with which they share half of "
        f"all {people.values} that either has; for {equal} one that is equal. The fewer there are, "
        f"the less must be known to find someone.{_long_tail(long, people)}",
        method="exact" if found.exact else "simulation",
        interval=None if found.exact else interval,
        confidence=None if found.exact else run.confidence,
        direction="higher",
        curves=tuple(_curves(found, long, people, run.confidence)),
        source=MERENER,
    )
    return finding


def _long_tail(long: Tail, people: People) -> str:
    """How rare the rarer half of the things is, where that is rare."""
    if not _is_long(long):
        return ""
    kappa, share = percent(long.kappa(RARE)), percent(long.share(RARE))
    if people.rated:
        return f" Each item of the rarer half was rated by {kappa} of the people at most; {share} rated one of these."
    if people.thing == "value":
        return f" Each value of the rarer half is had by {kappa} of the people at most; {share} have one of these."
    return f" Each column of the rarer half has values in {kappa} of the rows at most; {share} have one of these."


def _is_long(long: Tail) -> bool:
    """Whether half of the things are had by the minority."""
    return long.kappa(RARE) <= _HALF


def _curves(found: Sparsity, long: Tail, people: People, confidence: float) -> Iterator[Curve]:
    sigma, share = found.curve(21)
    limits = [found.interval(s, confidence) for s in sigma]
    bands = "" if found.exact else f" Bands are intervals at {percent(confidence)} confidence."
    yield Curve(
        title=f"How many {people.many} have another one that is similar",
        kind="line",
        x_label=f"similarity: shared {people.values} over all that either has",
        y_label=f"share of {people.many} with another at least as similar",
        x=tuple(float(s) for s in sigma),
        y=tuple(float(s) for s in share),
        low=None if found.exact else tuple(low for low, _ in limits),
        high=None if found.exact else tuple(high for _, high in limits),
        reading=f"At .5, {percent(found.f(_HALF))} of the {people.many} have another that shares half of their "
        f"{people.values}.{bands}",
    )
    if not _is_long(long):
        return
    ranks, counts = long.curve(100)
    things, title, had = {
        "rating": ("items", "How many people rated each item", "share of people who rated it"),
        "value": ("values", "How many people have each value", "share of people who have it"),
        "column": ("columns", "How many rows have a value in each column", "share of rows with a value"),
    }[people.thing]
    yield Curve(
        title=title,
        kind="line",
        x_label=f"{things}, from the most frequent to the rarest",
        y_label=had,
        x=tuple(float(r) for r in ranks),
        y=tuple(float(c) / long.records for c in counts),
        x_scale="log",
        reading=f"From {percent(counts[0] / long.records)} of the {people.many} for the most frequent down to "
        f"{percent(counts[-1] / long.records)} for the rarest. What few have tells who someone is.",
    )


# ---- what is guaranteed ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Counted:
    """What counting guarantees for each number of things known, and whether that is from a sample."""

    success: dict[int, float]
    sampled: bool


def _bound(found: Sparsity, long: Tail, people: People, known: int, run: Run, make: Any) -> Finding:
    records = people.records.part(0)
    ms = [m for m in numbers(known, int(people.support.max())) if (records.support >= m).any()]
    each = 1 - (1 - run.confidence) / (2 + len(ms))  # bounds that hold together
    having = {m: _among(found, records.support >= m, each) for m in ms}
    some = int((records.support > 0).sum())
    share = {m: int((records.support >= m).sum()) / some for m in ms}
    theorem = {m: 0.0 if f is None else share[m] * best_bound(records.n, m, f).p for m, f in having.items()}
    rarely = _with_something_rare(found, long, people, ms, each) if people.rated else {}
    counted_from = _from_the_data(people, ms, each, run)
    value = max(theorem[known], counted_from.success[known])
    finding: Finding = make(
        "linkage.success_bound",
        f"Guaranteed to someone who knows {counted(known, f'random {people.thing}')}",
        value,
        f"{_said(counted_from.success[known], theorem, people, known)}{_rarely(rarely, known)}",
        method="bound",
        interval=(value, 1.0),
        confidence=run.confidence if counted_from.sampled or not found.exact else None,
        share=(value, 1.0),
        curves=(_guaranteed(theorem, rarely, counted_from, people),),
        source=f"{MERENER}, Theorem 8(a) with the two errors apart, Theorem 11 and the union bound over the records at "
        "hand",
    )
    return finding


def _among(found: Sparsity, some: npt.NDArray[np.bool_], confidence: float) -> Any:
    """f of some records only, or what it is at most with this confidence; None if none of them was looked at."""
    own = some[found.found.rows]
    if not own.any():
        return None
    part = Sparsity(found.found.only(own), int(some.sum()))
    return steps(part.found.similarity) if part.exact else part.limits(101, confidence)


def _with_something_rare(
    found: Sparsity, long: Tail, people: People, ms: list[int], confidence: float
) -> dict[int, float]:
    """What the theorem guarantees of those who have something rare, if that is among what is known."""
    records = people.records.part(0)
    some, kappa, found_so = np.zeros(records.n, np.bool_), long.kappa(RARE), dict[int, float]()
    some[long.rows(RARE)] = True
    for m in ms:
        near = _among(found, some & (records.support >= m), confidence)
        if near is not None:
            found_so[m] = best_bound(records.n, m, near, theorem="8(a), long tail", kappa=kappa).p
    return found_so


def _rarely(found: dict[int, float], known: int) -> str:
    if not found.get(known):
        return ""
    return f" If one of them is of an item of the rarer half, the theorem guarantees {percent(found[known])}."


def _said(counting: float, theorem: dict[int, float], people: People, known: int) -> str:
    thing = counted(known, f"random {people.thing}")
    if not counting and not theorem[known]:
        said = f"Nothing is guaranteed to someone who knows {thing}, whatever the attack finds."
    elif counting >= theorem[known]:
        said = f"From how far {people.many} agree it follows that {percent(counting)} are found at least."
    else:
        said = f"From how alike {people.many} are it follows that {percent(theorem[known])} are found at least."
    reached = next((m for m, p in theorem.items() if p >= _LIKELY), None)
    if reached is None:
        return said
    enough = "is enough" if reached == 1 else "are enough"
    return (
        f"{said} By the theorem, {counted(reached, f'random {people.thing}')} {enough} to find one in two of the "
        f"{people.many}."
    )


def _from_the_data(people: People, ms: list[int], confidence: float, run: Run) -> _Counted:
    """What the agreement of records with all others guarantees, each with this confidence if that is from a sample."""
    records = people.records.part(0)
    count = max(_FEW, int(_WORK / work(records)))
    rows = np.flatnonzero(records.support >= 1)
    sampled = len(rows) > count
    if sampled:
        rows = np.sort(run.rng("linkage.success_bound").choice(rows, count, replace=False))
    found = agreeing(records, rows, ms, run)
    return _Counted(
        {m: _mean(found.union[:, j], found.jensen[:, j], sampled, confidence) for j, m in enumerate(ms)}, sampled
    )


def _mean(union: Any, jensen: Any, sampled: bool, confidence: float) -> float:
    """The better of two bounds on the mean."""
    there = ~np.isnan(union)
    if not there.any():
        return 0.0
    each = 1 - (1 - confidence) / 2
    if sampled:
        return max(estimated(x[there], each).sure[0] for x in (union, jensen))
    return max(float(np.sort(x[there]).mean()) for x in (union, jensen))


def _guaranteed(theorem: dict[int, float], rarely: dict[int, float], counted_from: _Counted, people: People) -> Curve:
    lines = {
        "by counting agreement": counted_from.success,
        "by the theorem": theorem,
        "by the theorem, one of them rare": rarely,
    }
    points = [(name, point) for name, line in lines.items() for point in line.items()]
    last, p = list(counted_from.success.items())[-1]
    return Curve(
        title=f"Guaranteed by how many {people.thing}s are known",
        kind="line",
        x_label=f"{people.thing}s known, chosen at random",
        y_label=f"share of {people.many} found, at least",
        x=tuple(float(m) for _, (m, _) in points),
        y=tuple(value for _, (_, value) in points),
        series=tuple(name for name, _ in points),
        x_scale=scale(last),
        reading=f"With {counted(last, people.thing)} known, counting guarantees {percent(p)} and the theorem "
        f"{percent(theorem[last])}.",
    )
