"""Match items with pseudonyms by what is bought together: the attack of someone with baskets that name the items.

Both sides have a table of the share of baskets that contain each pair of items. The attacker looks for the assignment
of pseudonyms to items under which the two tables agree best (a quadratic assignment). On the scale arcsin √share, a
share that was counted in N baskets has a variance of about 1/(4N), whatever it is. What is compared is

- for each item, its frequency on that scale, and
- for each pair, how far its share is from that of independent items, on that scale.

The score of an assignment is the log-likelihood of the differences if all of them were independent, up to a constant:
Σᵢ −2N(aᵢ − b_p(i))² + Σᵢⱼ 2N·Aᵢⱼ·B_p(i)p(j). It is maximised by annealing: every item has a weight on every pseudonym,
each weight follows from the score given all other weights, rows and columns are scaled to sums of 1 (Sinkhorn), and
the score counts more and more (S. Gold, A. Rangarajan, A graduated assignment algorithm for graph matching, IEEE TPAMI
18(4), 1996). The best assignment for these weights is then improved by exchanging two pseudonyms at a time. There are
several starts. The best score wins; the truth plays no part in it.

If one side has fewer items, items that were never seen fill it up: an item of the attacker's that may not be released,
or a pseudonym of an item that the attacker never saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.run import Run

__all__ = ["ItemMatching", "PairProblem", "PairShares", "match_items"]

FIRST_WEIGHTS = (0.3, 0.1, 1.0)  # how much the score counts at first, one per start; in the end it counts fully
_STEPS = 15  # from the first weight to 1
_ROUNDS = 3  # at each weight
_SCALINGS = 20  # of rows and columns per round
_MAX_EXPONENT = 80.0
_SETTLED = 1e-3  # the largest change of a weight that counts as none
_MAX_EXCHANGES_PER_ITEM = 5


@dataclass(frozen=True, eq=False)
class PairShares:
    """The share of ``baskets`` baskets that contain each pair of items; the diagonal is the items' own frequencies."""

    shares: Floats
    baskets: int

    def __post_init__(self) -> None:
        if self.shares.ndim != 2 or self.shares.shape[0] != self.shares.shape[1]:
            raise UnveilError("the shares of pairs need one row and one column per item")

    @property
    def frequencies(self) -> Floats:
        """The items' own frequencies on the scale arcsin √share."""
        return _stabilise(np.diag(self.shares))

    @property
    def associations(self) -> Floats:
        """How far each pair is from independent items on the scale arcsin √share; 0 on the diagonal."""
        own = np.diag(self.shares)
        found: Floats = _stabilise(self.shares) - _stabilise(np.outer(own, own))
        np.fill_diagonal(found, 0.0)
        return found


def _stabilise(shares: Floats) -> Floats:
    found: Floats = np.arcsin(np.sqrt(np.clip(shares, 0.0, 1.0)))
    return found


@dataclass(frozen=True, eq=False)
class ItemMatching:
    """What the attack says: ``assigned[i]`` is the pseudonym of the attacker's item i, −1 if none is left for it, and
    ``weights`` how much speaks for each pseudonym (columns) of each item (rows): in proportion to exp(score) after
    exchanging it with the assigned one. A weight is an estimate and not calibrated: the differences are treated as
    independent, which they are not, and no more than two pseudonyms are exchanged."""

    assigned: Ints
    weights: Floats
    score: float

    @property
    def confidence(self) -> Floats:
        """The weight on the assigned pseudonym; 0 where there is none."""
        found: Floats = np.where(self.assigned >= 0, self.weights[np.arange(len(self.assigned)), self.assigned], 0.0)
        return found


@dataclass(frozen=True, eq=False)
class PairProblem:
    """The tables of both sides, filled up to the same size: ``own`` and ``released`` associations, the former times 2N,
    and the log-likelihood ``fit`` of every pseudonym's frequency for every item."""

    own: Floats
    released: Floats
    fit: Floats

    @classmethod
    def from_shares(cls, own: PairShares, released: PairShares) -> PairProblem:
        """The problem of an attacker with these shares before a release with those."""
        baskets = 1 / (1 / own.baskets + 1 / released.baskets)
        m, n = len(own.shares), len(released.shares)
        fit = np.zeros((max(m, n), max(m, n)))
        fit[:m, :n] = -2 * baskets * (own.frequencies[:, None] - released.frequencies[None, :]) ** 2
        if m < n:  # an item that was never seen has the frequency 0
            fit[m:, :] = -2 * baskets * released.frequencies**2
        elif n < m:  # whether an item is released at all: its fit with a pseudonym at random
            top = fit[:, :n].max(axis=1)
            fit[:, n:] = (top + np.log(np.exp(fit[:, :n] - top[:, None]).mean(axis=1)))[:, None]
        size = len(fit)
        return cls(_fill_up(2 * baskets * own.associations, size), _fill_up(released.associations, size), fit)

    @property
    def n(self) -> int:
        """The number of items on either side."""
        return len(self.fit)

    def score(self, assigned: Ints) -> float:
        """The score of an assignment of all items."""
        pairs = (self.own * self.released[np.ix_(assigned, assigned)]).sum()
        return float(pairs + self.fit[np.arange(self.n), assigned].sum())

    def gains(self, weights: Floats) -> Floats:
        """What each pseudonym adds to the score for each item, given the weights of all items."""
        found: Floats = 2 * (self.own @ weights @ self.released) + self.fit
        return found

    @cached_property
    def start(self) -> Floats:
        """The weights that follow from frequencies alone."""
        return _scale_weights(self.fit)


def _fill_up(table: Floats, size: int) -> Floats:
    filled = np.zeros((size, size))
    filled[: len(table), : len(table)] = table
    return filled


def match_items(
    own: PairShares,
    released: PairShares,
    rng: np.random.Generator,
    *,
    first_weights: Sequence[float] = FIRST_WEIGHTS,
    start: Floats | None = None,
    run: Run | None = None,
) -> ItemMatching:
    """The best assignment found for someone with these shares before a release with those.

    ``start`` are known probabilities of pseudonyms (columns) for items (rows) to start from as well. Released items are
    shuffled first, so that nothing is decided by the order in which they are given.

    >>> rng = np.random.default_rng(0)
    >>> shares = PairShares(np.array([[0.9, 0.5, 0.1], [0.5, 0.6, 0.2], [0.1, 0.2, 0.3]]), 100)
    >>> match_items(shares, shares, rng).assigned.tolist()
    [0, 1, 2]
    """
    run = run or Run()
    m, n = len(own.shares), len(released.shares)
    order = rng.permutation(n)
    problem = PairProblem.from_shares(own, PairShares(released.shares[np.ix_(order, order)], released.baskets))
    starts = [(first, problem.start) for first in first_weights]
    if start is not None and m == n:
        starts.append((first_weights[0], start[:, order]))
    found: list[tuple[float, Ints, Floats]] = []
    for done, (first, weights) in enumerate(starts):
        annealed = _anneal_weights(problem, weights, first, run, (done / len(starts), (done + 1) / len(starts)))
        assigned, gain = climb_by_exchanges(problem, linear_sum_assignment(-annealed)[1], run)
        found.append((problem.score(assigned), assigned, gain))
    score, assigned, gain = max(found, key=lambda result: result[0])
    names = np.append(order, np.arange(n, problem.n))  # the released item in each place; beyond n there is none
    weights = np.zeros((problem.n, problem.n))
    weights[:, names[assigned]] = np.exp(np.minimum(gain, 0.0))
    weights /= weights.sum(axis=1, keepdims=True)
    own_names = names[assigned[:m]]
    return ItemMatching(np.where(own_names < n, own_names, -1), weights[:m, :n], score)


def _anneal_weights(
    problem: PairProblem, weights: Floats, first: float, run: Run, fractions: tuple[float, float]
) -> Floats:
    """The weights after the score has come to count fully."""
    begin, end = fractions
    for step, counts in enumerate(np.geomspace(first, 1.0, _STEPS).tolist()):
        for _ in range(_ROUNDS):
            run.progress("comparing what is bought together", begin + (end - begin) * step / _STEPS)
            run.check()
            before, weights = weights, _scale_weights(counts * problem.gains(weights))
            if np.abs(weights - before).max() < _SETTLED:
                break
    return weights


def _scale_weights(gains: Floats) -> Floats:
    """Weights in proportion to exp(gain), with rows and columns scaled to sums of 1."""
    exponents = gains - gains.max(axis=1, keepdims=True)
    exponents -= exponents.max(axis=0, keepdims=True)
    raw = np.exp(np.maximum(exponents, -_MAX_EXPONENT))
    columns = np.ones(len(raw))
    for _ in range(_SCALINGS):
        rows = 1 / np.einsum("ij,j->i", raw, columns)  # threads would cost more than they save here
        columns = 1 / np.einsum("i,ij->j", rows, raw)
    raw *= columns
    found: Floats = raw / raw.sum(axis=1, keepdims=True)
    return found


def climb_by_exchanges(problem: PairProblem, assigned: Ints, run: Run | None = None) -> tuple[Ints, Floats]:
    """Exchange the pseudonyms of two items, always the two that raise the score most, until none does. The result, and
    what each exchange would still change."""
    run, assigned = run or Run(), assigned.copy()
    partner = problem.released[np.ix_(assigned, assigned)]
    product = problem.own @ partner
    for left in reversed(range(_MAX_EXCHANGES_PER_ITEM * problem.n)):
        run.check()
        own, fit = np.diag(product), problem.fit[:, assigned]
        gain = 2 * (product + product.T - own[:, None] - own[None, :]) + 4 * problem.own * partner
        gain += fit + fit.T - np.diag(fit)[:, None] - np.diag(fit)[None, :]
        np.fill_diagonal(gain, 0.0)
        r, s = divmod(int(gain.argmax()), problem.n)
        if not left or gain[r, s] <= 1e-9 * (1 + np.abs(problem.fit).max()):
            break
        assigned[[r, s]] = assigned[[s, r]]
        product += np.outer(problem.own[:, r] - problem.own[:, s], partner[s] - partner[r])
        product[:, [r, s]] = product[:, [s, r]]
        partner[[r, s]] = partner[[s, r]]
        partner[:, [r, s]] = partner[:, [s, r]]
    return assigned, gain
