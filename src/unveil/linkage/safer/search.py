"""What could be given up, and what that would leave: plans, moves, and the search that weighs them.

A *plan* says for every column on which step of its ladder it is and how rare labels must be to be given up, and who is
left out. It is weighed by attacking what it leaves (:mod:`unveil.linkage.attack.success`): the upper end of the
interval, or the exact share, has to come down to the aim. **Usefulness** is the share of rows that are kept times the
mean, over the columns that someone may know, of the entropy that a column still has; one that is left out has none.

**Nobody gets away by having little.** Whoever leaves out much of what there is to know has fewer people of whom m
things can be known, which must not pass for protection. So two numbers have to come down: success against those of whom
so many can be known, and against everyone who is left with anything, known by m things or, if there are fewer, by all.

What a table and what ratings can give up, and how they are attacked, is :mod:`.rows` and :mod:`.ratings`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.linkage.attack.experiment import Outcome
from unveil.linkage.attack.success import TARGETS
from unveil.linkage.intervals import wilson
from unveil.linkage.records import Records
from unveil.linkage.safer.coarsen import Ladder, Step, entropy
from unveil.linkage.similarity import Similarity
from unveil.run import Run

__all__ = ["Found", "Move", "Plan", "Search", "found", "numbers_known"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_PERCENT = 0.01
_MOST = 0.9  # of those who can be left out
_REMEMBERED = 8  # attacks


@dataclass(frozen=True, eq=False)
class Plan:
    """The level of every column, how rare labels must be to be given up (0: none are), and who is left out, in the
    order in which they went."""

    levels: tuple[int, ...]
    rare: tuple[int, ...]
    gone: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...], bytes]:
        """Equal for equal plans."""
        return self.levels, self.rare, sha256(self.gone.tobytes()).digest()

    def moved(self, column: int, level: int, rare: int) -> Plan:
        """The same with one column elsewhere."""
        levels, t = list(self.levels), list(self.rare)
        levels[column], t[column] = level, rare
        return replace(self, levels=tuple(levels), rare=tuple(t))


@dataclass(frozen=True)
class Move:
    """A column to a level, or its labels rarer than so many given up; without a column, the next ones left out."""

    column: int | None = None
    level: int | None = None
    rare: int | None = None


# ---- the attack ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Found:
    """How likely those are found ``who`` were looked for, all of them or some, and how many are at most, by the worse
    of the two numbers that have to come down."""

    who: Ints
    chance: Floats
    worst: float
    all: bool


def numbers_known(records: Records, known: int) -> dict[int, int]:
    """How many things are known of people, so many or, if there are fewer, all; and of how many people, rising. Those
    of whom there is nothing to know are not counted."""
    there, people = np.unique(np.minimum(known, records.support // records.together), return_counts=True)
    return {int(m): int(n) for m, n in zip(there, people, strict=True) if m}


def found(outcomes: Sequence[Outcome], people: Mapping[int, int], who: Ints, confidence: float, own_row: bool) -> Found:
    """What the attack says of everyone: one outcome for each of the numbers of things known, in that order, and how
    many ``people`` are known by as many. ``who`` says whose the records are. With ``own_row``, one that is equal is
    not enough."""
    last = outcomes[-1]
    rows, chances = list[Ints](), list[Floats]()
    for outcome in outcomes:
        own = outcome.support >= outcome.known if outcome is last else outcome.support == outcome.known
        rows.append(outcome.rows[own])
        chances.append((outcome.row_found if own_row else outcome.found)[own])
    share = np.array(list(people.values())) / sum(people.values())
    everyone = float(share @ [_mean(own) for own in chances])
    place, chance = np.concatenate(rows), np.concatenate(chances)
    often = np.bincount(place, minlength=len(who))
    there = np.flatnonzero(often)
    exact = all(outcome.exact for outcome in outcomes)
    worst = max(
        _most(_mean(chances[-1]), len(np.unique(rows[-1])), last.exact, confidence),
        _most(everyone, len(there), exact, confidence),
    )
    mean = np.bincount(place, weights=chance, minlength=len(who))[there] / often[there]
    return Found(who[there], mean, worst, len(last.rows) + last.excluded >= len(who))


def _mean(chances: Floats) -> float:
    """How many of some people are found; all, if none of them was looked for."""
    return float(np.sort(chances).mean()) if len(chances) else 1.0


def _most(mean: float, people: int, exact: bool, confidence: float) -> float:
    """How many are found at most, as far as an attack on so many of them can tell, however often it was played."""
    mean, count = min(1.0, mean), max(1, min(TARGETS, people))
    return mean if exact else wilson(mean * count, count, confidence)[1]


# ---- the search ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Search(ABC):
    """The ladders of all columns that someone may know, how many things are known, how values are compared, and whether
    only their ``own_row`` counts as found, or one that is equal, too. What was weighed is remembered.

    Rows and people have numbers of their own here, in an order of their values, so that nothing depends on the order
    they come in; ``row[i]`` is the row of the table that is number i. ``size`` is how many there are who can be left
    out, ``others`` the kinds of moves beside those of columns: what is rare, and who is found.
    """

    ladders: Sequence[Ladder]
    known: int
    similarities: Mapping[str, Similarity]
    run: Run
    own_row: bool
    row: Ints = field(init=False)
    size: int = field(init=False)
    _codes: list[Small] = field(init=False)
    _whole: list[float] = field(init=False)
    _turn: Ints = field(init=False)
    _weighed: dict[object, float] = field(default_factory=dict, init=False)
    _useful: dict[object, float] = field(default_factory=dict, init=False)
    _found: dict[object, Found] = field(default_factory=dict, init=False)
    others: ClassVar[tuple[str, str]]

    def _ordered(self, row: Ints, size: int) -> None:
        """Put rows into an order."""
        self.row, self.size = row, size
        self._codes = [ladder.codes[row] for ladder in self.ladders]
        self._whole = [entropy(codes) for codes in self._codes]
        self._turn = self.run.rng("linkage.protect rows").permutation(size)
        self.run = replace(self.run, progress=lambda doing, fraction: None)

    # what tables and ratings differ in

    @abstractmethod
    def attacked(self, plan: Plan, everyone: bool = False) -> Found:
        """The attack on what a plan leaves, on everyone or on enough of them."""

    @abstractmethod
    def rows_kept(self, plan: Plan) -> Ints:
        """The rows that are not left out, as they are numbered here."""

    @abstractmethod
    def rarities(self, column: int, level: int) -> tuple[int, ...]:
        """How rare labels of a column may have to be to be given up."""

    @abstractmethod
    def may_go(self, plan: Plan, column: int) -> bool:
        """Whether a column can be left out."""

    def step(self, plan: Plan, column: int) -> Step:
        """What a column has become that is not left out."""
        return self.ladders[column].step(plan.levels[column], plan.rare[column])

    def next_number(self, plan: Plan) -> int:
        """How many to leave out next."""
        return max(1, round(_PERCENT * self.size))

    def starts(self, kinds: Sequence[str]) -> list[Plan]:
        """Plans from which to go on by moves of some kinds."""
        return [self.start]

    def last_resorts(self) -> Iterator[Plan]:
        """Plans that move columns alone, to be tried where choosing greedily leads nowhere."""
        return iter(())

    # what they have in common

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.row)

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of moves."""
        return "columns", *self.others

    @property
    def start(self) -> Plan:
        """Everything as it is."""
        return Plan((0,) * len(self.ladders), (0,) * len(self.ladders))

    def left(self, plan: Plan) -> list[int]:
        """The columns that are not left out."""
        return [i for i, ladder in enumerate(self.ladders) if plan.levels[i] < ladder.out]

    def kept(self, plan: Plan) -> Ints:
        """Who is not left out."""
        stays = np.ones(self.size, np.bool_)
        stays[plan.gone] = False
        return np.flatnonzero(stays)

    def weigh(self, plan: Plan) -> float:
        """How many are found at most, as far as the attack can tell."""
        if plan.key not in self._weighed:
            self._weighed[plan.key] = self._attacked(plan).worst
        return self._weighed[plan.key]

    def _attacked(self, plan: Plan) -> Found:
        """The attack on what a plan leaves, remembered for a while."""
        if plan.key not in self._found:
            self.run.check()
            if len(self._found) >= _REMEMBERED:
                del self._found[next(iter(self._found))]
            self._found[plan.key] = self.attacked(plan)
        return self._found[plan.key]

    def useful(self, plan: Plan) -> float:
        """How useful a plan leaves the data: 1 as it is."""
        if plan.key not in self._useful:
            self._useful[plan.key] = len(self.rows_kept(plan)) / self.rows * self.told(plan)
        return self._useful[plan.key]

    def told(self, plan: Plan) -> float:
        """What columns still tell, on average."""
        kept, shares = self.rows_kept(plan), [0.0] * len(self.ladders)
        for i in self.left(plan):
            now = entropy(self.labels(plan, i, kept))
            shares[i] = min(1.0, now / self._whole[i]) if self._whole[i] else 1.0
        return sum(shares) / len(shares)

    def labels(self, plan: Plan, column: int, kept: Ints) -> Small:
        """The labels of a column in some rows."""
        return self.step(plan, column).of(self._codes[column][kept])

    def compared(self, plan: Plan, columns: Iterable[int]) -> dict[str, Similarity]:
        """How columns are compared that are as they were; labels are equal or not."""
        same = [self.ladders[i] for i in columns if self.step(plan, i) is self.ladders[i].steps[0]]
        return {x.name: self.similarities[x.name] for x in same if x.name in self.similarities}

    def likeliest(self, plan: Plan, number: int) -> Ints:
        """Those who are still there and most likely found; among equals a random choice that stays the same."""
        kept, seen = self.kept(plan), self._attacked(plan)
        if not seen.all:
            seen = self.attacked(plan, everyone=True)
        chance = np.zeros(self.size)
        chance[seen.who] = seen.chance
        return kept[np.lexsort((self._turn[kept], -chance[kept].round(9)))[:number]]

    # moves there and back

    def moves(self, kinds: Sequence[str]) -> Iterator[Move]:
        """All moves of some kinds."""
        rare, who = self.others
        for i, ladder in enumerate(self.ladders):
            if "columns" in kinds:
                yield from (Move(i, level=level) for level in range(1, ladder.out + 1))
            if rare in kinds:
                levels = range(ladder.out if "columns" in kinds else 1)
                yield from (Move(i, rare=t) for t in sorted({t for x in levels for t in self.rarities(i, x)}))
        if who in kinds:
            yield Move()

    def applied(self, plan: Plan, move: Move) -> Plan | None:
        """The plan after a move; None if it is no move any more."""
        if move.column is None:
            number = self.next_number(plan)
            if len(plan.gone) + number > _MOST * self.size:
                return None
            return replace(plan, gone=np.append(plan.gone, self.likeliest(plan, number)))
        at = move.column
        ladder, level, rare = self.ladders[at], plan.levels[at], plan.rare[at]
        if level == ladder.out:
            return None
        if move.level is not None:
            if move.level <= level or (move.level == ladder.out and not self.may_go(plan, at)):
                return None
            return plan.moved(at, move.level, 0 if move.level == ladder.out else rare)
        assert move.rare is not None
        if move.rare <= rare or move.rare not in self.rarities(at, level):
            return None
        return plan.moved(at, level, move.rare)

    def undone(self, plan: Plan) -> Iterator[Plan]:
        """All plans with one column as it was or a step finer, fewer rare labels given up, or the last percent of those
        who are left out back."""
        for i in range(len(self.ladders)):
            level, rare = plan.levels[i], plan.rare[i]
            if (level, rare) != (0, 0):
                yield plan.moved(i, 0, 0)
            if level:
                yield plan.moved(i, level - 1, rare)
            if rare:
                less = [t for t in self.rarities(i, level) if t < rare]
                yield plan.moved(i, level, max(less, default=0))
                yield plan.moved(i, level, 0)
        if len(plan.gone):
            yield replace(plan, gone=plan.gone[:0])
            yield replace(plan, gone=plan.gone[: -max(1, round(_PERCENT * self.size))])
