"""How often is someone found who is known by m random things? Exactly where that can be counted, else by playing.

The one measure that findings state and protections bring down: the success of the adversary with minimum support, who
is as good as anyone while what is known is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.linkage.attack.adversaries import smallest
from unveil.linkage.attack.exact import Exact, cost, countable, exactly
from unveil.linkage.attack.experiment import Ints, Outcome, attack, everyone, with_shorter
from unveil.linkage.copies import copies
from unveil.linkage.records import Records
from unveil.run import Run

__all__ = ["TARGETS", "success"]

TARGETS = 5_000
_WORK = 300_000_000  # rows times sets of columns that are counted: a few seconds
_RESULTS = 10_000_000  # rows times numbers of things known: about a gigabyte


def success(
    records: Records,
    ms: Sequence[int],
    *,
    rng: np.random.Generator,
    equals: Ints | None = None,
    targets: int = TARGETS,
    confidence: float = 0.95,
    work: float = _WORK,
    run: Run | None = None,
) -> tuple[Outcome, ...]:
    """What someone achieves who knows ``ms`` random things, or all there are of somebody who has fewer, for each of
    these numbers. ``equals`` says of each record how many are as good as it, itself included. It is counted for the
    first numbers, as far as that takes no more than ``work``, and played on as many random ``targets`` for the
    others."""
    alike = copies(records, run) if equals is None else equals
    known = with_shorter(ms, records.support // records.together)
    counted = _counted(records, known, work)
    found = [_outcome(e, records, alike, confidence) for e in exactly(records, counted, run)] if counted else []
    first = everyone(found, [m for m in ms if m in counted])
    if not (rest := sorted({m for m in ms if m not in counted})):
        return first
    played = attack(
        records, [smallest()], known, rng=rng, targets=min(targets, records.n), equals=alike, confidence=confidence,
        run=run,
    )  # fmt: skip
    return (*first, *everyone(played.outcomes, rest))


def _counted(records: Records, known: list[int], work: float) -> list[int]:
    """The first numbers of things, as many as can be counted with so much work."""
    if records.together > 1 or not countable(records):
        return []
    most = min(len(known), _RESULTS // max(1, records.n))
    return next((known[:k] for k in range(most, 0, -1) if cost(records, known[:k]) <= work), [])


def _outcome(found: Exact, records: Records, equals: Ints, confidence: float) -> Outcome:
    rows = np.flatnonzero(records.support >= found.known)
    row = found.row[rows]
    return Outcome(
        smallest(),
        found.known,
        rows,
        records.n - len(rows),
        records.n,
        row,
        np.minimum(1.0, row * equals[rows]),
        found.size[rows],
        records.support[rows],
        equals[rows],
        None,
        None,
        confidence,
        found.unique[rows],
        np.full(len(rows), np.nan),
        exact=True,
    )
