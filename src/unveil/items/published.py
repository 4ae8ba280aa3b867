"""The simulator of the paper, to compare with: random swaps, without an error bar (Lakshmanan, Ng and Ramesh 2008,
sections 6.1 and 6.3 and Figure 16).

It starts from the true mapping, every item cracked. An *iteration* draws a random permutation P of the items; then each
item i in turn, and P(i), swap the pseudonyms they hold if both can have what they would get. After 100,000 iterations
there is a *seed*; every 10,000 more give a sample, 250 of them, and then it starts again from the true mapping. The
paper used 5,000 samples, hence 20 restarts. An itemset is counted in every sample in which it has just its own
pseudonyms, in whatever order.

Every swap keeps the uniform distribution over mappings. What is wrong with the simulator all the same:

- **It need not reach every mapping.** Three items in a ring, each of which may be its own pseudonym or the next,
  cannot swap: it says that all three are cracked, where the truth is 3/2. Intervals make no rings, but known pairs
  and other knowledge do. And swaps of one iteration may undo each other: two items that may be either never move,
  because P leaves both alone or has them swap twice, and of three items with intervals it may reach two mappings of
  four.
- **It mixes slowly**: two items picked at random can hardly ever swap when there are many. That swaps mix in polynomial
  time is proved where the intervals are in order by both their ends (Dyer, Jerrum and Müller 2017); whether so many
  iterations are enough is not checked. All restarts are from the same mapping, the most cracked of all, so that what
  has not been forgotten tends to overstate the risk in each of them alike, and their agreement does not show it.
- **It has no error bar.** The standard deviation over restarts, which the paper records, is how far one restart is off
  and not how far their mean is; no diagnostic says whether 10,000 iterations make samples independent.
- **It needs beliefs that are right about every item**, for the true mapping to start from. The paper simulates wrong
  beliefs as well and does not say from where.

``matching.solve`` computes the same exactly where it can, and elsewhere simulates by a chain that reaches every
mapping, from several starts, with an interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.errors import UnveilError
from unveil.items import _published
from unveil.items.beliefs import Beliefs
from unveil.matching.candidates import Candidates, Floats, Ints
from unveil.matching.ladder import possible
from unveil.run import Run

__all__ = ["Published", "simulate"]

_SWAPS = 1 << 22  # tried by one call: well under a tenth of a second


@dataclass(frozen=True, eq=False)
class Published:
    """The mean number of cracks over all samples, the standard deviation of the restarts' means (nan for a single one),
    those means, and of every itemset the share of the samples in which it is cracked."""

    cracks: float
    deviation: float
    means: Floats
    chances: Floats


def simulate(
    known: Beliefs | Candidates,
    rng: np.random.Generator,
    itemsets: Sequence[Sequence[int]] = (),
    *,
    restarts: int = 20,
    samples: int = 250,
    burn_in: int = 100_000,
    between: int = 10_000,
    run: Run | None = None,
) -> Published:
    """Expected cracks, and the probability of itemsets to be cracked, as the paper simulates them.

    Parameters
    ----------
    known
        What the attacker believes; item i has pseudonym i, which must be possible.
    itemsets
        Items are numbered from 0; sizes may differ.
    restarts, samples
        How often it starts again from the true mapping, and how many samples it takes each time.
    burn_in, between
        Iterations, of as many swaps as items, before the first seed and from one sample to the next.

    >>> ring = Candidates.from_matrix([[1, 1, 0], [0, 1, 1], [1, 0, 1]])  # the truth is 1.5
    >>> simulate(ring, np.random.default_rng(0), restarts=2, samples=10, burn_in=100, between=10).cracks
    3.0
    """
    candidates, run = known.candidates if isinstance(known, Beliefs) else known, run or Run()
    if min(restarts, samples) < 1 or min(burn_in, between) < 0:
        raise UnveilError("at least one restart and one sample are needed, and no fewer than 0 iterations")
    if candidates.weighted:
        raise UnveilError("the published simulator knows what is possible, not what is likelier; all weights must be 1")
    possible(candidates, np.arange(candidates.n))
    starts, members = _joined(itemsets, candidates.n)
    hits, cracks = np.zeros(len(itemsets), np.int64), np.empty((restarts, samples))
    allowed = np.zeros((len(candidates.class_sizes), len(candidates.group_sizes)), bool)
    allowed[candidates.edge_class, candidates.groups] = True
    graph = allowed, candidates.entry_class, candidates.pseudonym_group
    for k in range(restarts):
        held = np.arange(candidates.n)
        _iterated(graph, held, burn_in, rng, run)
        for m in range(samples):
            run.progress("simulating as published", (k * samples + m) / (restarts * samples))
            _iterated(graph, held, between, rng, run)
            cracks[k, m] = _published.count(held, starts, members, hits)
    means = cracks.mean(axis=1)
    deviation = float(means.std(ddof=1)) if restarts > 1 else math.nan
    return Published(float(means.mean()), deviation, means, hits / (restarts * samples))


def _iterated(graph: tuple[np.ndarray, Ints, Ints], held: Ints, many: int, rng: np.random.Generator, run: Run) -> None:
    """So many iterations, in slices between which the run can be stopped."""
    order, step = np.arange(len(held)), max(1, _SWAPS // max(len(held), 1))
    for done in range(0, many, step):
        run.check()
        _published.iterate(*graph, held, order, min(step, many - done), rng)


def _joined(itemsets: Sequence[Sequence[int]], n: int) -> tuple[Ints, Ints]:
    """All members, one itemset after the other, and where each begins."""
    if any(len(set(x)) < len(x) or not all(0 <= i < n for i in x) for x in itemsets):
        raise UnveilError(f"an itemset names items 0 … {n - 1}, each once")
    starts = np.append(0, np.cumsum([len(x) for x in itemsets])).astype(np.int64)
    return starts, np.array([i for x in itemsets for i in x], np.int64)
