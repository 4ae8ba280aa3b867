"""What a few facts tell, beside what they would tell if they had nothing to do with what is learned.

With many columns and few people, chance alone makes some facts telling. So the sensitive values are shuffled among the
people a few times, and the same is measured again: what is then still learned is the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import comb

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.grouping import class_ids
from unveil.inference.basket_gains import Baskets, measure_basket_gains, shuffle_baskets
from unveil.inference.belief_gains import (
    BeliefGains,
    TellingColumns,
    affordable_facts,
    count_people,
    measure_gains,
    most_telling_first,
    reaches,
)
from unveil.inference.sampled_gains import affordable_sample, measure_sampled_baskets, measure_sampled_rows
from unveil.intervals import wilson_interval
from unveil.run import Run

__all__ = [
    "LearnedValues",
    "TellingRule",
    "find_best_rule",
    "find_rules",
    "measure_learned_items",
    "measure_learned_values",
    "value_shares",
]

_SHUFFLES = (3, 10)  # the fewest and the most
_SHUFFLED_WORK = 200_000_000  # rows × sets of columns, over all shuffles
_BASKET_WORK = 5_000_000_000  # entries of baskets
_FEWEST_BASKETS = 30  # to be drawn, however long they take
_EXACT_SETS = 8  # the most telling sets of a sample, which are counted for everybody


@dataclass(frozen=True, eq=False)
class LearnedValues:
    """Gains in belief, with ``wanted`` facts or as many as could be looked at. ``by_chance`` and ``certain_by_chance``
    are the shares of people after each shuffle, for each number of facts. ``most_facts``: how many there
    are. ``drawn``: the gains are about these people only, drawn at random; None if about everybody."""

    gains: BeliefGains
    by_chance: Floats
    certain_by_chance: Floats
    facts: int
    wanted: int
    gain: float
    fewest: int
    people: int
    most_facts: int
    drawn: Ints | None = None

    def share(self, facts: int) -> float:
        """The share of people about whom so many facts, or fewer, tell enough."""
        return self.gains.share_of_people(facts, self.gain)

    def certain_share(self, facts: int) -> float:
        """The share of people whose value then follows with certainty."""
        return float(self.gains.certain[min(facts, self.facts)].mean()) if self.people else 0.0

    def interval(self, share: float, confidence: float) -> tuple[float, float]:
        """Between which ends the share of everybody lies, given that of those who were looked at."""
        if self.drawn is None:
            return share, share
        return wilson_interval(share * len(self.drawn), len(self.drawn), confidence)

    @property
    def is_limited(self) -> bool:
        """Whether fewer facts were tried than wanted."""
        return self.facts < self.wanted

    @property
    def fewest_facts(self) -> int | None:
        """The fewest facts that tell enough about anybody; None if none do."""
        return next((f for f in range(self.facts + 1) if self.share(f) > 0), None)


# ---- tables ----------------------------------------------------------------------------------------------------------


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
    order: Sequence[int] | None = None,
) -> LearnedValues:
    """What facts in these columns tell about a sensitive column. ``targets`` are its values, and their labels on each
    level of its hierarchy; the largest gain counts. Shuffles depend on the contents of the columns in this ``order``,
    and not on the order of rows."""
    rows, wanted = len(targets[0]), min(facts, len(columns))
    known = affordable_facts(rows, len(columns), facts)
    ordered = [columns[c] for c in order] if order is not None else columns
    canonical = np.lexsort((*targets, *ordered, *(() if person is None else (person,))))
    drawn = None
    if known < wanted and person is None:
        drawn, known = _draw_rows(canonical, len(columns), len(targets), wanted, known, rng)

    def measure(own: Sequence[Int32s]) -> BeliefGains:
        if drawn is not None:
            return measure_sampled_rows(columns, own, drawn, facts=known, fewest=fewest, gain=gain, run=run)
        found = (measure_gains(columns, t, facts=known, fewest=fewest, gain=gain, person=person, run=run) for t in own)
        return reduce(_larger_gains, found)

    def mix() -> BeliefGains:
        source = np.empty(rows, np.int64)
        source[canonical] = canonical[rng.permutation(rows)]
        return measure([target[source] for target in targets])

    sets = sum(comb(len(columns), f) for f in range(known + 1))
    by_chance = _measure_chance(mix, _SHUFFLED_WORK // max(1, rows * len(targets) * sets), gain)
    found = measure(targets)
    if drawn is not None:
        found = replace(found, telling=_count_everybody(found.telling, columns, targets, fewest, gain))
    people = rows if person is None else found.best.shape[1]
    return LearnedValues(found, *by_chance, known, wanted, gain, fewest, people, len(columns), drawn)


def _draw_rows(
    canonical: Ints, columns: int, targets: int, wanted: int, known: int, rng: np.random.Generator
) -> tuple[Ints | None, int]:
    """Rows to look at, and how many facts are then known; nobody if too few could be looked at."""
    for facts in range(wanted, known, -1):
        if size := affordable_sample(len(canonical), columns, facts, targets):
            return canonical[rng.choice(len(canonical), size, replace=False)], facts
    return None, known


def _measure_chance(mix: Callable[[], BeliefGains], affordable: int, gain: float) -> tuple[Floats, Floats]:
    """The shares of people after each shuffle, for each number of facts: who learn enough, and who are certain."""
    gains = [mix() for _ in range(int(np.clip(affordable, *_SHUFFLES)))]
    return (
        np.array([[mixed.share_of_people(f, gain) for f in range(len(mixed.best))] for mixed in gains]),
        np.array([mixed.certain.mean(axis=1) for mixed in gains]),
    )


def _larger_gains(one: BeliefGains, other: BeliefGains) -> BeliefGains:
    telling = {t.columns: t for t in one.telling}
    for t in other.telling:
        if t.columns not in telling or t.people > telling[t.columns].people:
            telling[t.columns] = t
    ordered = tuple(most_telling_first(telling.values()))
    return BeliefGains(np.maximum(one.best, other.best), one.certain | other.certain, ordered)


@dataclass(frozen=True)
class TellingRule:
    """Facts and what follows from them: the columns, a row with the facts and the value, which target the value belongs
    to, how many people share the facts, how many of these have any value recorded, and how many this one."""

    columns: tuple[int, ...]
    row: int
    target: int
    sharing: int
    recorded: int
    having: int

    @property
    def belief(self) -> float:
        """The share of those with a recorded value who have this one."""
        return self.having / self.recorded


def find_rules(
    chosen: tuple[int, ...],
    columns: Sequence[Int32s],
    targets: Sequence[Int32s],
    fewest: int,
    gain: float,
    person: Int32s | None = None,
) -> list[TellingRule]:
    """The facts in some columns that tell enough, those about most people first."""
    everyone = np.arange(len(targets[0]), dtype=np.int32) if person is None else person
    rows = np.flatnonzero(np.all([columns[c] >= 0 for c in chosen], axis=0)) if chosen else np.arange(len(everyone))
    who = everyone[rows]
    cell, cells = class_ids([columns[c][rows] for c in chosen], len(who))
    sharing = count_people(cell, who, cells)
    found = list[TellingRule]()
    for level, whole in enumerate(targets):
        target = whole[rows]
        there = np.flatnonzero(target >= 0)
        values = int(target.max(initial=-1)) + 1
        shares = value_shares(whole, everyone, values)
        recorded = count_people(cell[there], who[there], cells)
        pairs, first, pair = np.unique(cell[there] * values + target[there], return_index=True, return_inverse=True)
        having, of = count_people(pair, who[there], len(pairs)), pairs // max(1, values)
        raised = having / np.maximum(1, recorded[of]) - shares[pairs % max(1, values)]
        for p in np.flatnonzero(reaches(raised, gain) & (sharing[of] >= fewest)).tolist():
            counts = int(sharing[of[p]]), int(recorded[of[p]]), int(having[p])
            found.append(TellingRule(chosen, int(rows[there[first[p]]]), level, *counts))
    return sorted(found, key=lambda rule: (-rule.having, rule.sharing, rule.target, rule.row))


def _count_everybody(
    telling: Sequence[TellingColumns],
    columns: Sequence[Int32s],
    targets: Sequence[Int32s],
    fewest: int,
    gain: float,
) -> tuple[TellingColumns, ...]:
    """The columns that tell most about those who were drawn, with everybody about whom they do."""
    found = list[TellingColumns]()
    for one in telling[:_EXACT_SETS]:
        rules = [r for r in find_rules(one.columns, columns, targets, fewest, gain) if r.target == 0]
        cells = {tuple(int(columns[c][r.row]) for c in one.columns): r.sharing for r in rules}
        if rules:
            found.append(TellingColumns(one.columns, sum(r.having for r in rules), sum(cells.values())))
    return tuple(most_telling_first(found))


def value_shares(target: Int32s, who: Int32s, values: int) -> Floats:
    """The share of the people with a recorded value who have each."""
    there = target >= 0
    people = count_people(target[there].astype(np.int64), who[there], values)
    found: Floats = people / max(1, len(np.unique(who[there])))
    return found


def find_best_rule(
    rows: Sequence[int],
    columns: Sequence[Int32s],
    targets: Sequence[Int32s],
    telling: Sequence[TellingColumns],
    fewest: int,
    person: Int32s | None,
) -> TellingRule | None:
    """The facts in one of a person's rows that raise belief in a value of it most, or in a label on a level of its
    hierarchy; of several, the fewest. None if none are among the sets of columns that tell something."""
    best: tuple[float, int, TellingRule] | None = None
    who = np.arange(len(targets[0]), dtype=np.int32) if person is None else person
    shares = [value_shares(target, who, int(target.max(initial=-1)) + 1) for target in targets]
    for row, found in product(rows, telling):
        same: Bools = np.ones(len(who), np.bool_)
        for c in found.columns:
            same &= (columns[c] == columns[c][row]) & (columns[c] >= 0)
        sharing = len(np.unique(who[same]))
        if sharing < fewest:
            continue
        for level, target in enumerate(targets):
            if target[row] >= 0:
                recorded = len(np.unique(who[same & (target >= 0)]))
                having = len(np.unique(who[same & (target == target[row])]))
                rule = TellingRule(found.columns, row, level, sharing, recorded, having)
                key = (shares[level][target[row]] - rule.belief, len(found.columns), rule)
                if best is None or key[:2] < best[:2]:
                    best = key
    return None if best is None else best[2]


# ---- baskets ---------------------------------------------------------------------------------------------------------


def measure_learned_items(
    baskets: Baskets, *, facts: int, fewest: int, gain: float, run: Run, rng: np.random.Generator
) -> LearnedValues:
    """What a few items of a basket tell about the others. The baskets must come in random order: if it would take too
    long to look at all sets of items, the first baskets are the sample."""
    sizes = np.diff(baskets.indptr)
    known = wanted = max(1, min(facts, int(sizes.max(initial=0))))
    drawn: Ints | None = None

    def measure(some: Baskets, most_work: int | None = None) -> BeliefGains | None:
        if drawn is not None:
            return measure_sampled_baskets(some, drawn, facts=known, fewest=fewest, gain=gain, run=run)
        return measure_basket_gains(some, facts=known, fewest=fewest, gain=gain, most_work=most_work, run=run)

    found = measure(baskets, _BASKET_WORK)
    if found is None:
        typical = int(np.quantile(sizes, 0.9))
        while known > 1 and not affordable_sample(len(baskets), typical, known, typical):
            known -= 1
        size = max(_FEWEST_BASKETS, affordable_sample(len(baskets), typical, known, typical))
        drawn = np.arange(min(len(baskets), size))
        found = measure(baskets)
    assert found is not None

    def mix() -> BeliefGains:
        mixed = measure(shuffle_baskets(baskets, rng))
        assert mixed is not None
        return mixed

    by_chance = _measure_chance(mix, _SHUFFLES[0], gain)
    return LearnedValues(found, *by_chance, known, wanted, gain, fewest, len(baskets), int(sizes.max(initial=0)), drawn)
