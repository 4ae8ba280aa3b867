"""The paper's own simulator, for comparison: random swaps, without an error bar (Lakshmanan, Ng and Ramesh 2008,
sections 6.1 and 6.3 and Figure 16).

It starts from the true mapping, in which every item is cracked. An *iteration* draws a random permutation P of the
items; then each item i in turn swaps its pseudonym with that of P(i) if both may have what they would get. After
100,000 iterations there is a *seed*; every 10,000 more give a sample, 250 of them, and then it starts again from the
true mapping. The paper used 5,000 samples, hence 20 restarts. An itemset counts in every sample in which it has exactly
its own pseudonyms, in any order.

Every swap preserves the uniform distribution over mappings. The simulator has four flaws nevertheless:

- **It need not reach every mapping.** Three items in a ring, each of which may have its own pseudonym or the next,
  cannot swap: the simulator says that all three are cracked, where the truth is 3/2. Intervals do not form rings, but
  known pairs and other knowledge do. Swaps of one iteration may also undo each other: two interchangeable items never
  move, because P leaves both alone or makes them swap twice, and with three items and intervals it may reach only two
  mappings of four.
- **It mixes slowly.** Among many items, two random ones can hardly ever swap. Swaps are proved to mix in polynomial
  time if the intervals are in the same order by both their ends (Dyer, Jerrum and Müller 2017), but nothing checks
  whether this many iterations are enough. All restarts begin at the same mapping, the most cracked of all. Whatever a
  chain remembers of it overstates the risk in every restart alike, so the agreement of restarts does not reveal it.
- **It has no error bar.** The standard deviation over restarts, which the paper reports, is the error of one restart,
  not of their mean, and no diagnostic says whether 10,000 iterations make samples independent.
- **It needs beliefs that are right about every item**, because it starts from the true mapping. The paper simulates
  wrong beliefs too, without saying from where.

``matching.solve`` computes the same numbers exactly where it can. Elsewhere it simulates a chain that reaches every
mapping, from several starts, with an interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.matching.candidates import Candidates
from unveil.matching.solver import check_truth_possible
from unveil.run import Run

__all__ = ["PublishedResult", "simulate_as_published"]

_SWAPS_PER_CALL = 1 << 22  # tried per kernel call: well under a tenth of a second


@dataclass(frozen=True, eq=False)
class PublishedResult:
    """The mean number of cracks over all samples, the standard deviation of the restarts' means (nan for one restart),
    those means, and for every itemset the share of samples in which it is cracked."""

    cracks: float
    restart_deviation: float
    restart_means: Floats
    itemset_shares: Floats


def simulate_as_published(
    known: Beliefs | Candidates,
    rng: np.random.Generator,
    itemsets: Sequence[Sequence[int]] = (),
    *,
    restarts: int = 20,
    samples: int = 250,
    burn_in: int = 100_000,
    between: int = 10_000,
    run: Run | None = None,
) -> PublishedResult:
    """The expected cracks, and the probabilities that itemsets are cracked, as the paper simulates them.

    Parameters
    ----------
    known
        What the attacker believes; item i has pseudonym i, which must be possible.
    itemsets
        Items are numbered from 0; sizes may differ.
    restarts, samples
        The number of starts from the true mapping, and of samples after each.
    burn_in, between
        Iterations, with one swap per item, before the first sample and between samples.

    >>> ring = Candidates.from_matrix([[1, 1, 0], [0, 1, 1], [1, 0, 1]])  # the truth is 1.5
    >>> simulate_as_published(ring, np.random.default_rng(0), restarts=2, samples=10, burn_in=100, between=10).cracks
    3.0
    """
    candidates, run = known.candidates if isinstance(known, Beliefs) else known, run or Run()
    if min(restarts, samples) < 1 or min(burn_in, between) < 0:
        raise UnveilError("give at least 1 restart, 1 sample and 0 iterations")
    if candidates.is_weighted:
        raise UnveilError("the published simulator does not support weights; give candidates whose weights are all 1")
    check_truth_possible(candidates, np.arange(candidates.n))
    starts, members = _join_itemsets(itemsets, candidates.n)
    hits, cracks = np.zeros(len(itemsets), np.int64), np.empty((restarts, samples))
    allowed = np.zeros((len(candidates.class_sizes), len(candidates.group_sizes)), bool)
    allowed[candidates.edge_class, candidates.groups] = True
    graph = allowed, candidates.entry_class, candidates.pseudonym_group
    for k in range(restarts):
        held = np.arange(candidates.n)
        _iterate_swaps(graph, held, burn_in, rng, run)
        for m in range(samples):
            run.progress("simulating as published", (k * samples + m) / (restarts * samples))
            _iterate_swaps(graph, held, between, rng, run)
            cracks[k, m] = _count_cracks(held, starts, members, hits)
    means = cracks.mean(axis=1)
    deviation = float(means.std(ddof=1)) if restarts > 1 else math.nan
    return PublishedResult(float(means.mean()), deviation, means, hits / (restarts * samples))


def _iterate_swaps(
    graph: tuple[np.ndarray, Ints, Ints], held: Ints, many: int, rng: np.random.Generator, run: Run
) -> None:
    """Make the given number of iterations, in slices between which the run can be stopped."""
    order, step = np.arange(len(held)), max(1, _SWAPS_PER_CALL // max(len(held), 1))
    for done in range(0, many, step):
        run.check()
        _swap(*graph, held, order, min(step, many - done), rng)


def _join_itemsets(itemsets: Sequence[Sequence[int]], n: int) -> tuple[Ints, Ints]:
    """The start of each itemset, and all members, one itemset after another."""
    if any(len(set(x)) < len(x) or not all(0 <= i < n for i in x) for x in itemsets):
        raise UnveilError(f"an itemset repeats an item or names one outside 0 … {n - 1}; correct it")
    starts = np.append(0, np.cumsum([len(x) for x in itemsets])).astype(np.int64)
    return starts, np.array([i for x in itemsets for i in x], np.int64)


@njit(cache=True)
def _swap(allowed: Any, of_entry: Any, of_slot: Any, held: Any, order: Any, iterations: Any, random: Any) -> None:
    """So often: draw a permutation P; then each entry i in turn and P(i) swap what they hold if both can have it."""
    n = len(held)
    for _ in range(iterations):
        for k in range(n - 1, 0, -1):
            j = int(random.random() * (k + 1))
            order[k], order[j] = order[j], order[k]
        for i in range(n):
            k = order[i]
            if allowed[of_entry[i], of_slot[held[k]]] and allowed[of_entry[k], of_slot[held[i]]]:
                held[i], held[k] = held[k], held[i]


@njit(cache=True)
def _count_cracks(held: Any, starts: Any, members: Any, counts: Any) -> Any:
    """How many entries hold their own pseudonym. One is added to ``counts`` for every itemset that has just its own;
    those of itemset x are ``members[starts[x] : starts[x + 1]]``."""
    for x in range(len(counts)):
        begin, end = starts[x], starts[x + 1]
        inside = 0
        for i in range(begin, end):
            for j in range(begin, end):
                inside += held[members[i]] == members[j]
        counts[x] += inside == end - begin
    own = 0
    for i in range(len(held)):
        own += held[i] == i
    return own
