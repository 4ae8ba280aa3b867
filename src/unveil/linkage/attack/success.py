"""How often is a person found who is known by m random things? Counted exactly where possible, otherwise sampled.

This is the measure that findings report and protections reduce: the success of the least-support adversary, who is
optimal as long as what is known is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.arrays import Ints
from unveil.linkage.attack.adversaries import least_support_adversary
from unveil.linkage.attack.exact_success import ExactSuccess, count_success, counting_cost, is_countable
from unveil.linkage.attack.experiment import Outcome, add_smaller_supports, attack_records, outcomes_for_everyone
from unveil.linkage.equal_records import count_copies
from unveil.linkage.records import Records
from unveil.run import Run

__all__ = ["SAMPLED_TARGETS", "measure_success"]

SAMPLED_TARGETS = 5_000
_MAX_COUNTING_WORK = 300_000_000  # rows times sets of columns to count: a few seconds
_MAX_RESULTS = 10_000_000  # rows times numbers of things known: about a gigabyte


def measure_success(
    records: Records,
    ms: Sequence[int],
    *,
    rng: np.random.Generator,
    equals: Ints | None = None,
    targets: int = SAMPLED_TARGETS,
    confidence: float = 0.95,
    work: float = _MAX_COUNTING_WORK,
    run: Run | None = None,
) -> tuple[Outcome, ...]:
    """The success of an attacker who knows ``ms`` random things, or all things of a person who has fewer; one outcome
    for each number. ``equals`` says for each record how many, itself included, count as the same. The first numbers are
    counted, as long as that takes no more than ``work``; the others are sampled on random ``targets``."""
    alike = count_copies(records, run) if equals is None else equals
    known = add_smaller_supports(ms, records.support // records.attributes_per_fact)
    counted = _countable_numbers(records, known, work)
    found = (
        [_exact_outcome(e, records, alike, confidence) for e in count_success(records, counted, run)] if counted else []
    )
    first = outcomes_for_everyone(found, [m for m in ms if m in counted])
    if not (rest := sorted({m for m in ms if m not in counted})):
        return first
    played = attack_records(
        records, [least_support_adversary()], known, rng=rng, targets=min(targets, records.n), equals=alike,
        confidence=confidence,
        run=run,
    )  # fmt: skip
    return (*first, *outcomes_for_everyone(played, rest))


def _countable_numbers(records: Records, known: list[int], work: float) -> list[int]:
    """The first numbers of things, as many as can be counted with this much work."""
    if records.attributes_per_fact > 1 or not is_countable(records):
        return []
    most = min(len(known), _MAX_RESULTS // max(1, records.n))
    return next((known[:k] for k in range(most, 0, -1) if counting_cost(records, known[:k]) <= work), [])


def _exact_outcome(found: ExactSuccess, records: Records, equals: Ints, confidence: float) -> Outcome:
    rows = np.flatnonzero(records.support >= found.known)
    row = found.row[rows]
    return Outcome(
        adversary=least_support_adversary(),
        known=found.known,
        rows=rows,
        excluded=records.n - len(rows),
        records=records.n,
        found=row,
        equal_found=np.minimum(1.0, row * equals[rows]),
        size=found.size[rows],
        support=records.support[rows],
        copies=equals[rows],
        similar=None,
        learned=None,
        confidence=confidence,
        unique_probability=found.unique[rows],
        lead=np.full(len(rows), np.nan),
        exact=True,
    )
