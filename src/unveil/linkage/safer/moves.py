"""Which columns, values and rows to give up, so that someone who knows m random things about a person finds the row no
more often than is tolerated.

A *plan* says for every column on which step of its ladder it is and how rare labels must be to be put together, and
which rows are left out. It is weighed by attacking what it leaves (:mod:`unveil.linkage.attack.success`): the upper end
of the interval, or the exact share, has to come down to the aim. **Usefulness** is the share of rows that are kept
times the mean, over the quasi-identifiers, of the entropy that a column still has; one that is left out has none.

The plan is found greedily: of all moves (a column up to any of its levels, labels rarer than some number put together,
the next percent of rows) the one that prevents most success for the usefulness it costs. What a move prevents changes
slowly, so only the best one is weighed anew, until it stays the best. A move may do harm: without a column that tells
little, those that tell more are known more often. So whatever turns out not to be needed is taken back in the end, the
most useful first, each time attacking again.

Where columns alone are moved and the greedy choice ends above the aim, all sets of columns are tried on their coarsest
labels, for with the same columns nobody is found more often under coarser labels, copies aside.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations, count

import numpy as np
import numpy.typing as npt

from unveil.linkage.attack.experiment import Outcome
from unveil.linkage.attack.success import TARGETS, success
from unveil.linkage.records import records_of_codes
from unveil.linkage.safer.coarsen import Ladder, entropy
from unveil.linkage.similarity import Similarity
from unveil.release.codes import Codes
from unveil.run import Run

__all__ = ["FEWEST", "Move", "Plan", "Search", "greedy", "relaxed", "smallest_plan", "undone"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

FEWEST = 3  # columns that must be left: the question is not asked of fewer
_PERCENT = 0.01
_MOST = 0.9  # rows that may be left out
_WORK = 4_000_000  # rows that are attacked to try sets of columns
_REMEMBERED = 8  # attacks
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Plan:
    """The level of every column, how rare labels must be to be put together (0: none are), and the rows that are left
    out, in the order in which they went."""

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
    """A column to a level, or its labels that are rarer than so many put together; without a column, the next rows."""

    column: int | None = None
    level: int | None = None
    rare: int | None = None


@dataclass(eq=False)
class Search:
    """The ladders of all quasi-identifiers; for every row the number of the class it is in by all ``other`` columns
    that are released; how many things are known, and how values are compared. What was weighed is remembered.

    Rows are put into an order of their values, so that nothing depends on the order they come in; ``row[i]`` is the row
    of the table that is number i here.
    """

    ladders: Sequence[Ladder]
    other: Ints
    known: int
    similarities: Mapping[str, Similarity]
    run: Run
    row: Ints = field(init=False)
    _codes: list[Small] = field(init=False)
    _whole: list[float] = field(init=False)
    _turn: Ints = field(init=False)
    _weighed: dict[object, float] = field(default_factory=dict, init=False)
    _useful: dict[object, float] = field(default_factory=dict, init=False)
    _outcomes: dict[object, Outcome] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        keys: list[npt.NDArray[np.integer]] = [self.other, *(ladder.codes for ladder in reversed(self.ladders))]
        self.row = np.lexsort(keys)
        self._codes = [ladder.codes[self.row] for ladder in self.ladders]
        self.other = self.other[self.row]
        self._whole = [entropy(codes) for codes in self._codes]
        self._turn = self.run.rng("linkage.protect rows").permutation(self.rows)
        self.run = replace(self.run, progress=lambda doing, fraction: None)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.row)

    @property
    def start(self) -> Plan:
        """Everything as it is."""
        return Plan((0,) * len(self.ladders), (0,) * len(self.ladders))

    def left(self, plan: Plan) -> list[int]:
        """The columns that are not left out."""
        return [i for i, ladder in enumerate(self.ladders) if plan.levels[i] < ladder.out]

    def weigh(self, plan: Plan) -> float:
        """How many are found at most, as far as the attack can tell."""
        if plan.key not in self._weighed:
            self._weighed[plan.key] = self._outcome(plan).success.interval[1]
        return self._weighed[plan.key]

    def useful(self, plan: Plan) -> float:
        """How useful a plan leaves the data: 1 as it is."""
        if plan.key not in self._useful:
            kept = self.kept(plan)
            self._useful[plan.key] = len(kept) / self.rows * self.told(plan, kept)
        return self._useful[plan.key]

    def told(self, plan: Plan, kept: Ints) -> float:
        """What columns still tell, on average."""
        shares = [0.0] * len(self.ladders)
        for i in self.left(plan):
            now = entropy(self._labels(plan, i, kept))
            shares[i] = min(1.0, now / self._whole[i]) if self._whole[i] else 1.0
        return sum(shares) / len(shares)

    def kept(self, plan: Plan) -> Ints:
        """The rows that are not left out, as they are numbered here."""
        stays = np.ones(self.rows, np.bool_)
        stays[plan.gone] = False
        return np.flatnonzero(stays)

    def attacked(self, plan: Plan, targets: int = TARGETS) -> Outcome:
        """The attack on what a plan leaves."""
        kept = self.kept(plan)
        columns, compared = dict[str, Codes](), dict[str, Similarity]()
        for i in self.left(plan):
            ladder = self.ladders[i]
            step = ladder.step(plan.levels[i], plan.rare[i])
            columns[ladder.name] = Codes(self._labels(plan, i, kept), step.labels)
            if step is ladder.steps[0] and ladder.name in self.similarities:
                compared[ladder.name] = self.similarities[ladder.name]
        records = records_of_codes(columns, compared)
        equals = _equals([self.other[kept], *(c.codes for c in columns.values())])
        return success(
            records, [max(1, min(self.known, int(records.support.max())))], rng=self.run.rng("linkage.protect"),
            equals=equals, targets=targets, confidence=self.run.confidence, run=self.run,
        )[0]  # fmt: skip

    def _outcome(self, plan: Plan) -> Outcome:
        """The same, remembered for a while."""
        if plan.key not in self._outcomes:
            self.run.check()
            if len(self._outcomes) >= _REMEMBERED:
                del self._outcomes[next(iter(self._outcomes))]
            self._outcomes[plan.key] = self.attacked(plan)
        return self._outcomes[plan.key]

    def likeliest(self, plan: Plan, number: int) -> Ints:
        """The rows that are still there and most likely found; among equals a random choice that stays the same."""
        kept, outcome = self.kept(plan), self._outcome(plan)
        if len(outcome.rows) + outcome.excluded < len(kept):
            outcome = self.attacked(plan, len(kept))
        chance = np.zeros(len(kept))
        chance[outcome.rows] = outcome.found
        return kept[np.lexsort((self._turn[kept], -chance.round(9)))[:number]]

    def _labels(self, plan: Plan, column: int, kept: Ints) -> Small:
        step = self.ladders[column].step(plan.levels[column], plan.rare[column])
        return step.of(self._codes[column][kept])


def _equals(columns: Sequence[npt.NDArray[np.integer]]) -> Ints:
    """How many rows are the same in all columns of codes, for each row."""
    kind = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        _, kind = np.unique(kind * (int(codes.max(initial=-1)) + 2) + codes + 1, return_inverse=True)
    return np.bincount(kind, minlength=1)[kind]


# ---- choosing --------------------------------------------------------------------------------------------------------


def smallest_plan(
    search: Search, aim: float, kinds: Sequence[str], told: Callable[[float], None] = lambda done: None
) -> Plan | None:
    """A plan that reaches the aim by moves of some kinds (columns, values, rows), none of which can be taken back; None
    if none was found. ``told`` hears how far it has come."""
    plan = greedy(search, aim, kinds, told)
    if plan is None and tuple(kinds) == ("columns",):
        plan = _of_all_sets(search, aim)
    told(1.0)
    return None if plan is None else relaxed(search, aim, plan)


def greedy(
    search: Search, aim: float, kinds: Sequence[str], told: Callable[[float], None] = lambda done: None
) -> Plan | None:
    """The first plan that reaches the aim, always making the move that prevents most for what it costs."""
    plan, number = search.start, count()
    first = now = search.weigh(plan)
    heap: list[tuple[float, int, int, Move]] = []
    step = 0

    def consider(move: Move) -> None:
        after = applied(search, plan, move)
        if after is not None:
            cost = max(_LEAST, search.useful(plan) - search.useful(after))
            heapq.heappush(heap, ((search.weigh(after) - now) / cost, next(number), step, move))

    if now > aim:
        for move in _moves(search, kinds):
            consider(move)
    while now > aim:
        told((first - now) / max(_LEAST, first - aim))
        if not heap:
            return None
        _, _, seen, move = heapq.heappop(heap)
        if seen < step:
            consider(move)
            continue
        after = applied(search, plan, move)
        assert after is not None
        plan, now, step = after, search.weigh(after), step + 1
        if move.column is None:
            consider(move)
    return plan


def _moves(search: Search, kinds: Sequence[str]) -> Iterator[Move]:
    for i, ladder in enumerate(search.ladders):
        if "columns" in kinds:
            yield from (Move(i, level=level) for level in range(1, ladder.out + 1))
        if "values" in kinds:
            rarities = {t for level in range(ladder.out if "columns" in kinds else 1) for t in ladder.rarities(level)}
            yield from (Move(i, rare=t) for t in sorted(rarities))
    if "rows" in kinds:
        yield Move()


def applied(search: Search, plan: Plan, move: Move) -> Plan | None:
    """The plan after a move; None if it is no move any more."""
    if move.column is None:
        number = max(1, round(_PERCENT * search.rows))
        if len(plan.gone) + number > _MOST * search.rows:
            return None
        return replace(plan, gone=np.append(plan.gone, search.likeliest(plan, number)))
    at = move.column
    ladder, level, rare = search.ladders[at], plan.levels[at], plan.rare[at]
    if level == ladder.out:
        return None
    if move.level is not None:
        if move.level <= level or (move.level == ladder.out and len(search.left(plan)) <= FEWEST):
            return None
        return plan.moved(at, move.level, 0 if move.level == ladder.out else rare)
    assert move.rare is not None
    if move.rare <= rare or move.rare not in ladder.rarities(level):
        return None
    return plan.moved(at, level, move.rare)


def _of_all_sets(search: Search, aim: float) -> Plan | None:
    """The first set of columns, the largest ones first, that reaches the aim on their coarsest labels."""
    size, tried = len(search.ladders), 0
    for left in range(size, FEWEST - 1, -1):
        for columns in combinations(range(size), left):
            levels = tuple(x.out - 1 if i in columns else x.out for i, x in enumerate(search.ladders))
            plan = replace(search.start, levels=levels)
            if search.weigh(plan) <= aim:
                return plan
            tried += 1
            if tried * search.rows > _WORK:
                return None
    return None


# ---- taking back -----------------------------------------------------------------------------------------------------


def relaxed(search: Search, aim: float, plan: Plan) -> Plan:
    """The plan without what is not needed: the most useful is taken back first, then as many rows as possible."""
    while True:
        better = sorted(undone(search, plan), key=lambda p: (-search.useful(p), p.key))
        useful = search.useful(plan)
        held = (p for p in better if search.useful(p) > useful and search.weigh(p) <= aim)
        found = next(held, None)
        if found is None:
            return _with_rows(search, aim, plan)
        plan = found


def undone(search: Search, plan: Plan) -> Iterator[Plan]:
    """All plans with one column as it was or a step finer, fewer rare labels together, or the last percent of rows
    back."""
    for i, ladder in enumerate(search.ladders):
        level, rare = plan.levels[i], plan.rare[i]
        if (level, rare) != (0, 0):
            yield plan.moved(i, 0, 0)
        if level:
            yield plan.moved(i, level - 1, rare)
        if rare:
            less = [t for t in ladder.rarities(level) if t < rare]
            yield plan.moved(i, level, max(less, default=0))
            yield plan.moved(i, level, 0)
    if len(plan.gone):
        yield replace(plan, gone=plan.gone[:0])
        yield replace(plan, gone=plan.gone[: -max(1, round(_PERCENT * search.rows))])


def _with_rows(search: Search, aim: float, plan: Plan) -> Plan:
    """The plan with as few rows left out as bisection finds."""
    low, high = -1, len(plan.gone)
    while high - low > 1:
        middle = (low + high) // 2
        if search.weigh(replace(plan, gone=plan.gone[:middle])) <= aim:
            high = middle
        else:
            low = middle
    return replace(plan, gone=plan.gone[:high])
