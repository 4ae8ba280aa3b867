"""Protection plans: what is given up, what that leaves, and how a plan is evaluated.

A *plan* gives the ladder step of every column, how rare labels must be to be given up, and who is left out. It is
evaluated by attacking what it leaves (:mod:`unveil.linkage.attack.success`): the exact success, or the upper end of its
interval, must reach the aim. **Usefulness** is the share of rows kept times the mean share of entropy kept by the
columns that an attacker may know; a column that is left out keeps none.

**Having little is no protection.** Leaving out much of what can be known leaves fewer people about whom m things can be
known, which must not count as protection. Two numbers must therefore reach the aim: success against the people who have
m things, and against everyone who has anything, known by m things or by all they have.

:mod:`.table_search` and :mod:`.ratings_search` say what tables and ratings can give up and how they are attacked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.intervals import wilson_interval
from unveil.linkage.attack.experiment import Outcome
from unveil.linkage.attack.success import SAMPLED_TARGETS
from unveil.linkage.records import Records
from unveil.linkage.similarity import Similarity
from unveil.release.coarsening import ColumnLadder, LadderStep, code_entropy
from unveil.run import Run
from unveil.secret_order import secret_permutation

__all__ = ["AttackResult", "PlanMove", "PlanSearch", "ProtectionPlan", "attack_result", "people_by_known_count"]


_MOVE_SHARE = 0.01  # share of rows or people left out by one move
_MAX_LEFT_OUT_SHARE = 0.9  # share of rows or people that can be left out
_MAX_REMEMBERED = 8  # attacks that are kept


@dataclass(frozen=True, eq=False)
class ProtectionPlan:
    """The level of every column, how rare labels must be to be given up (0: none are), and who is left out, in that
    order."""

    levels: tuple[int, ...]
    rare: tuple[int, ...]
    left_out_ids: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...], bytes]:
        """Equal for equal plans."""
        return self.levels, self.rare, sha256(self.left_out_ids.tobytes()).digest()

    def move_column(self, column: int, level: int, rare: int) -> ProtectionPlan:
        """The same plan with one column on another level or with another rarity limit."""
        levels, t = list(self.levels), list(self.rare)
        levels[column], t[column] = level, rare
        return replace(self, levels=tuple(levels), rare=tuple(t))


@dataclass(frozen=True)
class PlanMove:
    """Raise a column to a level, or give up labels rarer than a limit; without a column, leave out the next ones."""

    column: int | None = None
    level: int | None = None
    rare: int | None = None


# ---- the attack ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AttackResult:
    """The chance of being found of those ``attacked``; ``success_bound``, the upper limit for the worse of the two
    numbers that must reach the aim; and whether the attack ``covers_everyone``."""

    attacked: Ints
    chance: Floats
    success_bound: float
    covers_everyone: bool


def people_by_known_count(records: Records, known: int) -> dict[int, int]:
    """How many people are known by how many things: by ``known``, or by all they have if fewer. Rising; people about
    whom nothing can be known are not counted."""
    there, people = np.unique(np.minimum(known, records.support // records.attributes_per_fact), return_counts=True)
    return {int(m): int(n) for m, n in zip(there, people, strict=True) if m}


def attack_result(
    outcomes: Sequence[Outcome], people: Mapping[int, int], who: Ints, confidence: float, count_equal: bool
) -> AttackResult:
    """Summarise the attack on everyone: one outcome for each number of things known, rising, and the number of
    ``people`` known by as many. ``who`` says whose the records are. With ``count_equal``, naming a record
    equal to the person's is enough."""
    last = outcomes[-1]
    rows, chances = list[Ints](), list[Floats]()
    for outcome in outcomes:
        own = outcome.support >= outcome.known if outcome is last else outcome.support == outcome.known
        rows.append(outcome.rows[own])
        chances.append((outcome.equal_found if count_equal else outcome.found)[own])
    share = np.array(list(people.values())) / sum(people.values())
    everyone = float(share @ [_mean_chance(own) for own in chances])
    place, chance = np.concatenate(rows), np.concatenate(chances)
    often = np.bincount(place, minlength=len(who))
    there = np.flatnonzero(often)
    exact = all(outcome.exact for outcome in outcomes)
    worst = max(
        _upper_share(_mean_chance(chances[-1]), len(np.unique(rows[-1])), last.exact, confidence),
        _upper_share(everyone, len(there), exact, confidence),
    )
    mean = np.bincount(place, weights=chance, minlength=len(who))[there] / often[there]
    return AttackResult(who[there], mean, worst, len(last.rows) + last.excluded >= len(who))


def _mean_chance(chances: Floats) -> float:
    """The mean chance of being found; 1 if nobody was attacked."""
    return float(np.sort(chances).mean()) if len(chances) else 1.0


def _upper_share(mean: float, people: int, exact: bool, confidence: float) -> float:
    """The upper limit of a mean chance measured on this many people, however often each was attacked."""
    mean, count = min(1.0, mean), max(1, min(SAMPLED_TARGETS, people))
    return mean if exact else wilson_interval(mean * count, count, confidence)[1]


# ---- the search ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class PlanSearch(ABC):
    """The search space: the ladders of all columns that an attacker may know, how many things are ``known``, how values
    are compared, and whether naming an equal record is enough (``count_equal``) or only the person's own. Evaluations
    are remembered.

    Rows and people are numbered by their values, so that nothing depends on their original order; ``row[i]`` is the row
    of the table with number i. ``size`` is how many rows or people can be left out. ``others`` are the kinds of moves
    besides columns: giving up rare labels, and leaving out those who are found.
    """

    ladders: Sequence[ColumnLadder]
    known: int
    similarities: Mapping[str, Similarity]
    run: Run
    count_equal: bool
    row: Ints = field(init=False)
    size: int = field(init=False)
    _codes: list[Int32s] = field(init=False)
    _whole: list[float] = field(init=False)
    _tie_order: Ints = field(init=False)
    _bound_cache: dict[object, float] = field(default_factory=dict, init=False)
    _usefulness_cache: dict[object, float] = field(default_factory=dict, init=False)
    _attack_cache: dict[object, AttackResult] = field(default_factory=dict, init=False)
    others: ClassVar[tuple[str, str]]

    def _set_row_order(self, row: Ints, size: int) -> None:
        """Set the order of rows."""
        self.row, self.size = row, size
        self._codes = [ladder.codes[row] for ladder in self.ladders]
        self._whole = [code_entropy(codes) for codes in self._codes]
        self._tie_order = secret_permutation(size)
        self.run = replace(self.run, progress=lambda doing, fraction: None)

    # where tables and ratings differ

    @abstractmethod
    def released_records(self, plan: ProtectionPlan) -> tuple[Records, Ints, Ints | None]:
        """The records that a plan leaves, whose they are, and how many count as the same as each if not its copies."""

    @abstractmethod
    def play_attack(self, records: Records, ms: list[int], equals: Ints | None, everyone: bool) -> tuple[Outcome, ...]:
        """The outcomes for these numbers of things known, on everyone or on a sufficient sample."""

    @abstractmethod
    def kept_rows(self, plan: ProtectionPlan) -> Ints:
        """The rows that a plan keeps, in the numbering of the search."""

    @abstractmethod
    def rarity_limits(self, column: int, level: int) -> tuple[int, ...]:
        """The rarity limits at which labels of a column may be given up."""

    @abstractmethod
    def can_leave_out(self, plan: ProtectionPlan, column: int) -> bool:
        """Whether a column can be left out."""

    def step(self, plan: ProtectionPlan, column: int) -> LadderStep:
        """The step of a column that is not left out."""
        return self.ladders[column].step(plan.levels[column], plan.rare[column])

    def next_batch_size(self, plan: ProtectionPlan) -> int:
        """How many to leave out next."""
        return max(1, round(_MOVE_SHARE * self.size))

    def start_plans(self, kinds: Sequence[str]) -> list[ProtectionPlan]:
        """Plans from which moves of these kinds may start."""
        return [self.unchanged_plan]

    def last_resorts(self) -> Iterator[ProtectionPlan]:
        """Plans that only move columns, to be tried if the greedy search fails."""
        return iter(())

    # what they share

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.row)

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of moves."""
        return "columns", *self.others

    @property
    def unchanged_plan(self) -> ProtectionPlan:
        """The plan that changes nothing."""
        return ProtectionPlan((0,) * len(self.ladders), (0,) * len(self.ladders))

    def kept_columns(self, plan: ProtectionPlan) -> list[int]:
        """The columns that a plan keeps."""
        return [i for i, ladder in enumerate(self.ladders) if plan.levels[i] < ladder.left_out_level]

    def kept_mask(self, plan: ProtectionPlan) -> Bools:
        """Which rows or people a plan keeps."""
        kept = np.ones(self.size, np.bool_)
        kept[plan.left_out_ids] = False
        return kept

    def kept_ids(self, plan: ProtectionPlan) -> Ints:
        """The rows or people that a plan keeps."""
        return np.flatnonzero(self.kept_mask(plan))

    def attack_plan(self, plan: ProtectionPlan, everyone: bool = False) -> AttackResult:
        """Attack what a plan leaves, on everyone or on a sufficient sample."""
        records, who, equals = self.released_records(plan)
        people = people_by_known_count(records, self.known)
        if not people:
            return AttackResult(who[:0], np.empty(0), 1.0, True)
        outcomes = self.play_attack(records, list(people), equals, everyone)
        return attack_result(outcomes, people, who, self.run.confidence, self.count_equal)

    def success_bound(self, plan: ProtectionPlan) -> float:
        """The upper limit for the share of people found under a plan."""
        if plan.key not in self._bound_cache:
            self._bound_cache[plan.key] = self._cached_attack(plan).success_bound
        return self._bound_cache[plan.key]

    def _cached_attack(self, plan: ProtectionPlan) -> AttackResult:
        """The attack on what a plan leaves, remembered for a while."""
        if plan.key not in self._attack_cache:
            self.run.check()
            if len(self._attack_cache) >= _MAX_REMEMBERED:
                del self._attack_cache[next(iter(self._attack_cache))]
            self._attack_cache[plan.key] = self.attack_plan(plan)
        return self._attack_cache[plan.key]

    def plan_usefulness(self, plan: ProtectionPlan) -> float:
        """How useful a plan leaves the data: 1 if unchanged."""
        if plan.key not in self._usefulness_cache:
            self._usefulness_cache[plan.key] = len(self.kept_rows(plan)) / self.rows * self.kept_information(plan)
        return self._usefulness_cache[plan.key]

    def kept_information(self, plan: ProtectionPlan) -> float:
        """The mean share of information that columns keep."""
        kept, shares = self.kept_rows(plan), [0.0] * len(self.ladders)
        for i in self.kept_columns(plan):
            now = code_entropy(self.labels(plan, i, kept))
            shares[i] = min(1.0, now / self._whole[i]) if self._whole[i] else 1.0
        return sum(shares) / len(shares)

    def labels(self, plan: ProtectionPlan, column: int, kept: Ints) -> Int32s:
        """The labels of a column in these rows."""
        return self.step(plan, column).label_codes(self._codes[column][kept])

    def kept_similarities(self, plan: ProtectionPlan, columns: Iterable[int]) -> dict[str, Similarity]:
        """The similarities of columns that are unchanged; coarser labels are compared for equality."""
        same = [self.ladders[i] for i in columns if self.step(plan, i) is self.ladders[i].steps[0]]
        return {x.name: self.similarities[x.name] for x in same if x.name in self.similarities}

    def highest_risk_ids(self, plan: ProtectionPlan, number: int) -> Ints:
        """The kept rows or people most likely found; ties are broken by a secret order."""
        kept, seen = self.kept_ids(plan), self._cached_attack(plan)
        if not seen.covers_everyone:
            seen = self.attack_plan(plan, everyone=True)
        chance = np.zeros(self.size)
        chance[seen.attacked] = seen.chance
        return kept[np.lexsort((self._tie_order[kept], -chance[kept].round(9)))[:number]]

    # moves and their reversal

    def moves(self, kinds: Sequence[str]) -> Iterator[PlanMove]:
        """All moves of some kinds."""
        rare, who = self.others
        for i, ladder in enumerate(self.ladders):
            if "columns" in kinds:
                yield from (PlanMove(i, level=level) for level in range(1, ladder.left_out_level + 1))
            if rare in kinds:
                levels = range(ladder.left_out_level if "columns" in kinds else 1)
                yield from (PlanMove(i, rare=t) for t in sorted({t for x in levels for t in self.rarity_limits(i, x)}))
        if who in kinds:
            yield PlanMove()

    def apply_move(self, plan: ProtectionPlan, move: PlanMove) -> ProtectionPlan | None:
        """The plan after a move; None if the move no longer changes anything."""
        if move.column is None:
            number = self.next_batch_size(plan)
            if len(plan.left_out_ids) + number > _MAX_LEFT_OUT_SHARE * self.size:
                return None
            return replace(plan, left_out_ids=np.append(plan.left_out_ids, self.highest_risk_ids(plan, number)))
        at = move.column
        ladder, level, rare = self.ladders[at], plan.levels[at], plan.rare[at]
        if level == ladder.left_out_level:
            return None
        if move.level is not None:
            if move.level <= level or (move.level == ladder.left_out_level and not self.can_leave_out(plan, at)):
                return None
            return plan.move_column(at, move.level, 0 if move.level == ladder.left_out_level else rare)
        assert move.rare is not None
        if move.rare <= rare or move.rare not in self.rarity_limits(at, level):
            return None
        return plan.move_column(at, level, move.rare)

    def relaxed_plans(self, plan: ProtectionPlan) -> Iterator[ProtectionPlan]:
        """All plans with one column unchanged or one step finer, with fewer rare labels given up, or with the last
        percent of those left out restored."""
        for i in range(len(self.ladders)):
            level, rare = plan.levels[i], plan.rare[i]
            if (level, rare) != (0, 0):
                yield plan.move_column(i, 0, 0)
            if level:
                yield plan.move_column(i, level - 1, rare)
            if rare:
                less = [t for t in self.rarity_limits(i, level) if t < rare]
                yield plan.move_column(i, level, max(less, default=0))
                yield plan.move_column(i, level, 0)
        if len(plan.left_out_ids):
            yield replace(plan, left_out_ids=plan.left_out_ids[:0])
            yield replace(plan, left_out_ids=plan.left_out_ids[: -max(1, round(_MOVE_SHARE * self.size))])
