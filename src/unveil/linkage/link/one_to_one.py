"""Who is who, when no row can be two people: the candidates of all people taken together.

If John is the only one who fits a row, Mary cannot be it, though she fits it too. Every person is in the release once
at most and every row is one person's, so what is left are *assignments*: each of the known people gets a row of their
own among their candidates. An attacker who knows no more takes any of them alike. How likely each pair then is, and how
many of them are right on average, is what :mod:`unveil.matching` says (document 003 §8.1: John is Chinese and owns a
Toyota, Mary is 30 to 35, nothing is known of Bob).

**Definition.** All assignments that place as many of the known people as possible are equally likely. Where everybody
can be placed, that is everybody. If two people compete for one row, as happens when somebody is outside the release or
something known is wrong, one of the two is left out.

**How it is computed.** ``matching`` wants as many pseudonyms as entries, all of them matched. Let a part of the graph
that hangs together have n people and N rows, and let m people be placed. It gets N − m unknown people who may be any of
its rows, and n − m places outside that any of its people may take: every assignment then stands for the same number,
(N − m)! (n − m)!, of perfect matchings. Rows that nobody known fits need not be looked at. People of whom nothing is
known would tie all parts together; they go last, to any row that is left: to each one with (1 − P(row taken)) over the
number of those rows.

Parts in which all people fit all rows have 1/max(n, N) for every pair. Parts that are too large for an exact answer get
the beliefs of :func:`unveil.matching.screening.bethe`, and those too large even for that one in as many as a person has
candidates: then the method is an *estimate*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unveil.linkage.link.paired import Floats, Ints, Marks, Paired
from unveil.linkage.link.possible import Possible
from unveil.matching import Budget, Candidates, solve
from unveil.matching.blocks import flow_between
from unveil.run import Run

__all__ = ["OneToOne", "one_to_one"]

_LARGEST = 200_000  # pairs of classes in a part up to which beliefs are passed
_BUDGET = Budget(states=1_000_000, transitions=1_000_000_000)


@dataclass(frozen=True, eq=False, repr=False)
class OneToOne:
    """``probability[e]``, beside ``possible.classes``: how likely a given person and a given row of that pair of
    classes belong together. ``placed`` is how many people can be placed at once; ``guessed`` for how many people the
    probabilities are estimates."""

    possible: Possible
    probability: Floats
    placed: int
    guessed: int

    @property
    def method(self) -> Literal["exact", "estimate"]:
        """Whether all probabilities are exact."""
        return "estimate" if self.guessed else "exact"

    @property
    def paired(self) -> Paired:
        """Whose twins these are."""
        return self.possible.paired

    @cached_property
    def _owner(self) -> Ints:
        return np.repeat(np.arange(self.paired.people.n), np.diff(self.possible.indptr))

    @cached_property
    def best(self) -> Ints:
        """The likeliest row of every person, the first among equals; −1 for people without candidates."""
        kind = _likeliest(self._owner, self.possible.classes, self.probability, self.paired)
        return np.append(self.paired.first_row, -1)[kind][self.paired.person_class]

    @cached_property
    def chance(self) -> Floats:
        """How likely that row is."""
        top = np.zeros(self.paired.people.n)
        np.maximum.at(top, self._owner, self.probability)
        return top[self.paired.person_class]

    @property
    def expected(self) -> float:
        """How many people an attacker gets right who takes one of the assignments at random, if the truth is any of
        them as well: Σ P(pair)²."""
        each = np.bincount(
            self._owner, self.probability**2 * self.paired.row_sizes[self.possible.classes], self.paired.people.n
        )
        return float((each * self.paired.person_sizes).sum())

    @property
    def expected_best(self) -> float:
        """How many people the likeliest row of each is expected to be right for."""
        return float(self.chance.sum())

    def of(self, people: npt.ArrayLike, rows: npt.ArrayLike) -> Floats:
        """How likely people and rows belong together; their sum along the true links is the expected number of links
        that a random assignment gets right."""
        who, where = (np.asarray(side, np.int64) for side in (people, rows))
        wide = self.paired.rows.n
        key = self.paired.person_class[who] * wide + self.paired.row_class[where]
        keys = self._owner * wide + self.possible.classes
        at = np.minimum(np.searchsorted(keys, key), max(0, len(keys) - 1))
        return np.where(keys[at] == key, self.probability[at], 0.0) if len(keys) else np.zeros(len(key))

    def __repr__(self) -> str:
        return (
            f"OneToOne: {self.placed:,} of {self.paired.n:,} people placed at once, {self.expected:.6g} right on "
            f"average ({self.method})"
        )


def one_to_one(found: Possible, run: Run | None = None, *, budget: Budget | None = None) -> OneToOne:
    """How likely each candidate is when no row is two people."""
    paired = found.paired
    a, b = np.repeat(np.arange(paired.people.n), np.diff(found.indptr)), found.classes
    r, c = paired.person_sizes, paired.row_sizes
    anything = np.bincount(a, c[b], len(r)) == paired.released
    known = ~anything[a]
    flow = np.zeros(len(a), np.int64)
    flow[known] = flow_between(a[known], b[known], r, c)
    placed, last = int(flow.sum()), int(r[anything].sum())
    if placed + last > paired.released:  # not enough rows are left for those of whom nothing is known
        known[:], last = True, 0
        flow = flow_between(a, b, r, c)
        placed = int(flow.sum())
    probability = np.zeros(len(a))
    probability[known], guessed = _known(_Graph(a[known], b[known], r, c, flow[known]), run, budget or _BUDGET)
    if last:
        taken = np.bincount(b[known], probability[known] * r[a[known]], len(c))
        probability[~known] = (1 - taken[b[~known]]).clip(0) / (paired.released - placed)
    return OneToOne(found, probability, placed + last, guessed)


@dataclass(frozen=True, eq=False)
class _Graph:
    """Classes of r people and c rows, the pairs (a, b) that fit, rising, and how many go along each in one of the
    largest assignments."""

    a: Ints
    b: Ints
    r: Ints
    c: Ints
    flow: Ints

    @cached_property
    def part(self) -> tuple[Ints, Ints]:
        """Which part each class of people and each class of rows is in."""
        size = len(self.r) + len(self.c)
        joined = csr_array((np.ones(len(self.a), np.int8), (self.a, self.b + len(self.r))), shape=(size, size))
        label = connected_components(joined, directed=False)[1].astype(np.int64)
        return label[: len(self.r)], label[len(self.r) :]

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.r) + len(self.c)

    def only(self, kept: Marks) -> _Graph:
        """Some of the pairs."""
        return _Graph(self.a[kept], self.b[kept], self.r, self.c, self.flow[kept])


def _known(graph: _Graph, run: Run | None, budget: Budget) -> tuple[Floats, int]:
    """The probability of every pair, and for how many people it is an estimate."""
    people, rows = graph.part
    n = np.bincount(people, graph.r, graph.parts).astype(np.int64)
    released = np.bincount(rows, graph.c, graph.parts).astype(np.int64)
    part = people[graph.a]
    pairs = np.bincount(part, minlength=graph.parts)
    full = np.bincount(people, minlength=graph.parts) * np.bincount(rows, minlength=graph.parts) == pairs
    found = 1 / np.maximum(np.maximum(n, released), 1)[part]
    large = ~full & (pairs > _LARGEST)
    candidates = np.bincount(graph.a, graph.c[graph.b], len(graph.r))
    found = np.where(large[part], 1 / np.maximum(candidates, 1)[graph.a], found)
    rest = ~full[part] & ~large[part]
    found[rest], guessed = _solved(graph.only(rest), run, budget)
    return found, guessed + int(n[large].sum())


def _solved(graph: _Graph, run: Run | None, budget: Budget) -> tuple[Floats, int]:
    """By ``matching``, with unknown people and places outside added to every part."""
    if not len(graph.a):
        return np.zeros(0), 0
    people, a = np.unique(graph.a, return_inverse=True)
    rows, b = np.unique(graph.b, return_inverse=True)
    r, c = graph.r[people], graph.c[rows]
    part_of, part_of_row = graph.part[0][people], graph.part[1][rows]
    parts, part_of_row = np.unique(part_of_row, return_inverse=True)
    part_of = np.searchsorted(parts, part_of)
    placed = np.bincount(part_of[a], graph.flow, len(parts)).astype(np.int64)
    unknown = np.bincount(part_of_row, c, len(parts)).astype(np.int64) - placed
    outside = np.bincount(part_of, r, len(parts)).astype(np.int64) - placed
    guests, places = _numbered(unknown, len(r)), _numbered(outside, len(c))
    with_guest, with_place = np.flatnonzero(unknown[part_of_row]), np.flatnonzero(outside[part_of])
    edges = (
        np.concatenate([a, guests[part_of_row[with_guest]], with_place]),
        np.concatenate([b, with_guest, places[part_of[with_place]]]),
    )
    entries = np.concatenate([r, unknown[unknown > 0]])
    pseudonyms = np.concatenate([c, outside[outside > 0]])
    candidates = Candidates.from_classes(
        np.repeat(np.arange(len(entries)), entries),
        np.repeat(np.arange(len(pseudonyms)), pseudonyms),
        *edges,
        np.ones(len(edges[0])),
    )
    solution = solve(candidates, run=run, budget=budget, may_be_wrong=True, simulate=False)
    key = candidates.edge_class * len(pseudonyms) + candidates.groups
    unsure = np.zeros(len(r) + len(entries), np.bool_)
    for block, how in zip(solution.blocks, solution.parts, strict=True):
        if how.rung == "screening":
            unsure[candidates.edge_class[block.edges]] = True
    marginals = solution.marginals[np.searchsorted(key, a * len(pseudonyms) + b)]
    return marginals, int(r[unsure[: len(r)]].sum())


def _numbered(sizes: Ints, start: int) -> Ints:
    """Numbers from ``start`` on for those that are there."""
    return start + np.cumsum(sizes > 0) - 1


def _likeliest(owner: Ints, row: Ints, probability: Floats, paired: Paired) -> Ints:
    """The likeliest class of rows of each class of people, −1 if it has none."""
    order = np.lexsort((row, -probability, owner))
    found = np.full(paired.people.n, -1)
    found[owner[order][::-1]] = row[order][::-1]
    return found
