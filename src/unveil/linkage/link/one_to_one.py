"""Who is who, if no two people share a row? The candidates of all people considered together.

If John is the only person who fits a row, Mary cannot be that row, although she fits it too. Every person is in the
release at most once and every row belongs to one person. What remains are *assignments*: each known person gets a row
of their own among their candidates. An attacker who knows nothing more considers them equally likely. The probability
of each pair, and how many pairs are right on average, come from :mod:`unveil.matching` (Lakshmanan, Ng and Ramesh 2008,
§8.1: John is Chinese and owns a Toyota, Mary is 30 to 35, nothing is known about Bob).

**Definition.** All assignments that place as many of the known people as possible are equally likely. If everybody can
be placed, everybody is. If two people compete for one row, because somebody is outside the release or something known
is wrong, one of them is left out.

**How it is computed.** ``matching`` needs as many pseudonyms as entries, all matched. Let a connected part of the graph
have n people and N rows, and let m people be placed. Add N − m unknown people who may be any of its rows, and n − m
places outside that any of its people may take. Every assignment then corresponds to the same number of perfect
matchings, (N − m)! (n − m)!. Rows that fit nobody known are ignored. People about whom nothing is known would connect
all parts. They come last and take any row that is left: each with probability (1 − P(row taken)) divided by the number
of rows left.

In a part in which all people fit all rows, every pair has probability 1/max(n, N). Parts too large for an exact answer
get the beliefs of :func:`unveil.matching.screening.bethe_estimate`. Parts too large even for that get one divided by
the number of a person's candidates. The method is then an *estimate*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unveil.arrays import Bools, Floats, Ints
from unveil.linkage.link.candidates import CandidateRows
from unveil.linkage.link.file_pair import FilePair
from unveil.matching import Budget, Candidates, solve
from unveil.matching.blocks import flow_between
from unveil.run import Run

__all__ = ["OneToOne", "one_to_one_chances"]

_MAX_PART_PAIRS = 200_000  # pairs of classes in a part up to which beliefs are computed
_ROUNDING = 1e-9  # probabilities that differ by less are equal
_MATCHING_BUDGET = Budget(states=1_000_000, transitions=1_000_000_000)


@dataclass(frozen=True, eq=False, repr=False)
class OneToOne:
    """``probability[e]``, beside ``candidate_rows.classes``, is the probability that a given person and a given row of
    that pair of classes belong together. ``placed_people`` is how many people can be placed at once,
    ``estimated_people`` for how many the probabilities are estimates."""

    candidate_rows: CandidateRows
    probability: Floats
    placed_people: int
    estimated_people: int

    @property
    def method(self) -> Literal["exact", "estimate"]:
        """Whether all probabilities are exact."""
        return "estimate" if self.estimated_people else "exact"

    @property
    def files(self) -> FilePair:
        """The two files."""
        return self.candidate_rows.file_pair

    @cached_property
    def _pair_owner(self) -> Ints:
        return np.repeat(np.arange(self.files.people.n), np.diff(self.candidate_rows.indptr))

    @cached_property
    def likeliest_row(self) -> Ints:
        """The likeliest row of every person, the first of those that are equally likely up to rounding; −1 for people
        without candidates."""
        equal = self.probability >= self._class_chance[self._pair_owner] - _ROUNDING
        first = np.full(self.files.people.n, self.files.row_count)
        np.minimum.at(first, self._pair_owner[equal], self.files.first_row[self.candidate_rows.classes[equal]])
        return np.where(first < self.files.row_count, first, -1)[self.files.person_class]

    @cached_property
    def _class_chance(self) -> Floats:
        """The highest probability of a row for each class of people."""
        top = np.zeros(self.files.people.n)
        np.maximum.at(top, self._pair_owner, self.probability)
        return top

    @property
    def best_chance(self) -> Floats:
        """The probability of that row."""
        return self._class_chance[self.files.person_class]

    @property
    def expected_random(self) -> float:
        """How many people an attacker gets right by choosing an assignment at random, if the truth is a random one too:
        Σ P(pair)²."""
        each = np.bincount(
            self._pair_owner,
            self.probability**2 * self.files.row_sizes[self.candidate_rows.classes],
            self.files.people.n,
        )
        return float((each * self.files.person_sizes).sum())

    @property
    def expected_best(self) -> float:
        """How many people are expected to be at their likeliest row."""
        return float(self.best_chance.sum())

    def link_chances(self, people: npt.ArrayLike, rows: npt.ArrayLike) -> Floats:
        """The probability that these people and rows belong together. Summed over the true links, it is the expected
        number of links that a random assignment gets right."""
        row_class = self.files.row_class[np.asarray(rows, np.int64)]
        at = self.files.find_pairs(self._pair_owner, self.candidate_rows.classes, people, row_class)
        return np.append(self.probability, 0.0)[at]

    def __repr__(self) -> str:
        return (
            f"OneToOne: {self.placed_people:,} of {self.files.n:,} people placed at once, "
            f"{self.expected_random:.6g} right on average ({self.method})"
        )


def one_to_one_chances(found: CandidateRows, run: Run | None = None, *, budget: Budget | None = None) -> OneToOne:
    """The probability of each candidate if no two people share a row."""
    file_pair = found.file_pair
    a, b = np.repeat(np.arange(file_pair.people.n), np.diff(found.indptr)), found.classes
    r, c = file_pair.person_sizes, file_pair.row_sizes
    anything = np.bincount(a, c[b], len(r)) == file_pair.row_count
    known = ~anything[a]
    flow = np.zeros(len(a), np.int64)
    flow[known] = flow_between(a[known], b[known], r, c)
    placed, last = int(flow.sum()), int(r[anything].sum())
    if placed + last > file_pair.row_count:  # too few rows are left for the people about whom nothing is known
        known[:], last = True, 0
        flow = flow_between(a, b, r, c)
        placed = int(flow.sum())
    probability = np.zeros(len(a))
    probability[known], guessed = _known_probabilities(
        _CandidateGraph(a[known], b[known], r, c, flow[known]), run, budget or _MATCHING_BUDGET
    )
    if last:
        taken = np.bincount(b[known], probability[known] * r[a[known]], len(c))
        probability[~known] = (1 - taken[b[~known]]).clip(0) / (file_pair.row_count - placed)
    return OneToOne(found, probability, placed + last, guessed)


@dataclass(frozen=True, eq=False)
class _CandidateGraph:
    """Classes of r people and c rows, the pairs (a, b) that fit, rising, and the ``flow`` along each in one of the
    largest assignments."""

    a: Ints
    b: Ints
    r: Ints
    c: Ints
    flow: Ints

    @cached_property
    def component(self) -> tuple[Ints, Ints]:
        """The part that each class of people and each class of rows belongs to."""
        size = len(self.r) + len(self.c)
        joined = csr_array((np.ones(len(self.a), np.int8), (self.a, self.b + len(self.r))), shape=(size, size))
        label = connected_components(joined, directed=False)[1].astype(np.int64)
        return label[: len(self.r)], label[len(self.r) :]

    @property
    def parts(self) -> int:
        """An upper bound for the number of parts."""
        return len(self.r) + len(self.c)

    def keep_pairs(self, kept: Bools) -> _CandidateGraph:
        """The graph with only these pairs."""
        return _CandidateGraph(self.a[kept], self.b[kept], self.r, self.c, self.flow[kept])


def _known_probabilities(graph: _CandidateGraph, run: Run | None, budget: Budget) -> tuple[Floats, int]:
    """The probability of every pair, and for how many people it is an estimate."""
    people, rows = graph.component
    n = np.bincount(people, graph.r, graph.parts).astype(np.int64)
    released = np.bincount(rows, graph.c, graph.parts).astype(np.int64)
    part = people[graph.a]
    pairs = np.bincount(part, minlength=graph.parts)
    full = np.bincount(people, minlength=graph.parts) * np.bincount(rows, minlength=graph.parts) == pairs
    found = 1 / np.maximum(np.maximum(n, released), 1)[part]
    large = ~full & (pairs > _MAX_PART_PAIRS)
    candidates = np.bincount(graph.a, graph.c[graph.b], len(graph.r))
    found = np.where(large[part], 1 / np.maximum(candidates, 1)[graph.a], found)
    rest = ~full[part] & ~large[part]
    found[rest], guessed = _solve_graph(graph.keep_pairs(rest), run, budget)
    return found, guessed + int(n[large].sum())


def _solve_graph(graph: _CandidateGraph, run: Run | None, budget: Budget) -> tuple[Floats, int]:
    """The same by ``matching``, with unknown people and places outside added to every part."""
    if not len(graph.a):
        return np.zeros(0), 0
    people, a = np.unique(graph.a, return_inverse=True)
    rows, b = np.unique(graph.b, return_inverse=True)
    r, c = graph.r[people], graph.c[rows]
    part_of, part_of_row = graph.component[0][people], graph.component[1][rows]
    parts, part_of_row = np.unique(part_of_row, return_inverse=True)
    part_of = np.searchsorted(parts, part_of)
    placed = np.bincount(part_of[a], graph.flow, len(parts)).astype(np.int64)
    unknown = np.bincount(part_of_row, c, len(parts)).astype(np.int64) - placed
    outside = np.bincount(part_of, r, len(parts)).astype(np.int64) - placed
    guests, places = _number_present(unknown, len(r)), _number_present(outside, len(c))
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
    solution = solve(candidates, run=run, budget=budget, may_exclude_truth=True, simulate=False)
    key = candidates.edge_class * len(pseudonyms) + candidates.groups
    unsure = np.zeros(len(r) + len(entries), np.bool_)
    for block, how in zip(solution.blocks, solution.parts, strict=True):
        if how.method == "screening":
            unsure[candidates.edge_class[block.edges]] = True
    marginals = solution.marginals[np.searchsorted(key, a * len(pseudonyms) + b)]
    return marginals, int(r[unsure[: len(r)]].sum())


def _number_present(sizes: Ints, start: int) -> Ints:
    """Consecutive numbers from ``start`` for those of nonzero size."""
    return start + np.cumsum(sizes > 0) - 1
