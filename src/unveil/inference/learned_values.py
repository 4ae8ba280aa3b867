"""What a few facts tell about one sensitive column, beside what they would tell if it had nothing to do with them.

With many columns and few people, chance alone makes some facts telling. So the sensitive values are shuffled among the
people a few times, and the same is measured again: what is then still learned is the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import comb

import numpy as np

from unveil.arrays import Bools, Floats, Int32s
from unveil.inference.belief_gains import BeliefGains, TellingColumns, affordable_facts, measure_gains
from unveil.run import Run

__all__ = ["LearnedValues", "TellingFacts", "measure_learned_values", "telling_facts"]

_SHUFFLES = (3, 10)  # the fewest and the most
_SHUFFLED_WORK = 200_000_000  # rows × sets of columns, over all shuffles


@dataclass(frozen=True, eq=False)
class LearnedValues:
    """Gains in belief about one sensitive column, ``wanted`` facts or as many as could be looked at. ``by_chance`` and
    ``certain_by_chance`` are the shares of people after each shuffle, for each number of facts."""

    gains: BeliefGains
    by_chance: Floats
    certain_by_chance: Floats
    facts: int
    wanted: int
    gain: float
    fewest: int

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.gains.best.shape[1])

    def share(self, facts: int) -> float:
        """The share of people about whom so many facts, or fewer, tell enough."""
        return self.gains.share_of_people(facts, self.gain)

    def certain_share(self, facts: int) -> float:
        """The share of people whose value then follows with certainty."""
        return float(self.gains.certain[min(facts, self.facts)].mean()) if self.people else 0.0

    @property
    def is_limited(self) -> bool:
        """Whether fewer facts were tried than wanted."""
        return self.facts < self.wanted

    @property
    def fewest_facts(self) -> int | None:
        """The fewest facts that tell enough about anybody; None if none do."""
        return next((f for f in range(self.facts + 1) if self.share(f) > 0), None)


def measure_learned_values(
    columns: Sequence[Int32s],
    targets: Sequence[Int32s],
    *,
    facts: int,
    fewest: int,
    gain: float,
    person: Int32s | None,
    run: Run,
    rng: np.random.Generator,
) -> LearnedValues:
    """What facts in these columns tell about a sensitive column. ``targets`` are its values, and their labels on each
    level of its hierarchy; the largest gain counts."""
    known = affordable_facts(len(targets[0]), len(columns), facts)
    rows = len(targets[0])

    def measure(own: Sequence[Int32s]) -> BeliefGains:
        found = (measure_gains(columns, t, facts=known, fewest=fewest, gain=gain, person=person, run=run) for t in own)
        return reduce(_larger_gains, found)

    sets = sum(comb(len(columns), f) for f in range(known + 1))
    shuffles = int(np.clip(_SHUFFLED_WORK // max(1, rows * len(targets) * sets), *_SHUFFLES))
    by_chance, certain = np.empty((shuffles, known + 1)), np.empty((shuffles, known + 1))
    canonical = np.lexsort((*targets, *columns, *(() if person is None else (person,))))  # whatever the order of rows
    for shuffle in range(shuffles):
        source = np.empty(rows, np.int64)
        source[canonical] = canonical[rng.permutation(rows)]
        mixed = measure([target[source] for target in targets])
        by_chance[shuffle] = [mixed.share_of_people(f, gain) for f in range(known + 1)]
        certain[shuffle] = mixed.certain.mean(axis=1)
    wanted = min(facts, len(columns))
    return LearnedValues(measure(targets), by_chance, certain, known, wanted, gain, fewest)


def _larger_gains(one: BeliefGains, other: BeliefGains) -> BeliefGains:
    telling = {t.columns: t for t in one.telling}
    for t in other.telling:
        if t.columns not in telling or t.people > telling[t.columns].people:
            telling[t.columns] = t
    ordered = sorted(telling.values(), key=lambda t: (-t.people, len(t.columns), t.columns))
    return BeliefGains(np.maximum(one.best, other.best), one.certain | other.certain, tuple(ordered))


@dataclass(frozen=True)
class TellingFacts:
    """Facts about somebody that tell their own value: the columns, how many people share them, how many of these have
    the value, and the row that they are from."""

    columns: tuple[int, ...]
    sharing: int
    having: int
    row: int


def telling_facts(
    rows: Sequence[int],
    columns: Sequence[Int32s],
    targets: Sequence[Int32s],
    telling: Sequence[TellingColumns],
    fewest: int,
    person: Int32s | None,
) -> TellingFacts | None:
    """The facts in one of a person's rows of which most who share them have the same value, or the same label on a
    level of its hierarchy; of several, the fewest. None if none are among the sets of columns that tell something."""
    best: tuple[float, int, TellingFacts] | None = None
    who = np.arange(len(targets[0])) if person is None else person
    for row, found in product(rows, telling):
        same: Bools = np.ones(len(who), np.bool_)
        for c in found.columns:
            same &= columns[c] == columns[c][row]
        sharing = len(np.unique(who[same]))
        if sharing < fewest:
            continue
        for target in (t for t in targets if t[row] >= 0):
            known = len(np.unique(who[same & (target >= 0)]))
            having = len(np.unique(who[same & (target == target[row])]))
            key = (-having / known, len(found.columns), TellingFacts(found.columns, sharing, having, row))
            if best is None or key[:2] < best[:2]:
                best = key
    return None if best is None else best[2]
