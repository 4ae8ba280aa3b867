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

If one side has fewer items, empty places fill it up: for pseudonyms of items that the attacker does not have, or for
items that are not released. Pairs with an empty place do not count, so the squares of the associations, which are the
same for all assignments otherwise, count for the others: −N·B² or −N·A².
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.run import Run

__all__ = ["ItemMatching", "PairProblem", "PairShares", "climb_by_exchanges", "find_ties", "group_ties", "match_items"]

_TIE = 1e-9  # scores that differ by less, relative to their size, are equal up to rounding
_FIRST_WEIGHTS = (0.3, 0.003, 1.0, 0.03)  # how much the score counts at first, in turn; in the end it counts fully
_NOISE = 2.0  # what is added to the frequencies' log-likelihood from the fifth start on, times Gumbel noise
_STEPS = 15  # from the first weight to 1
_ROUNDS = 3  # at each weight
_SCALINGS = 20  # of rows and columns per round, at most
_SCALED = 1e-4  # the largest relative change of a scale that counts as none
_MAX_UNTHREADED_WORK = 1 << 18  # multiplications that OpenBLAS does in one thread
_LEAST_ROWS = 3
_MAX_STACKED_ITEMS = 60  # up to which all starts are annealed at once
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
    independent, which they are not, and no more than two pseudonyms are exchanged. ``is_tied``: the item could be
    exchanged with another at no loss; items of one ``tie_group`` can all be exchanged with each other at no loss."""

    assigned: Ints
    weights: Floats
    score: float
    is_tied: Bools
    tie_group: Ints

    @property
    def confidence(self) -> Floats:
        """The weight on the assigned pseudonym; 0 where there is none."""
        found: Floats = np.where(self.assigned >= 0, self.weights[np.arange(len(self.assigned)), self.assigned], 0.0)
        return found


@dataclass(frozen=True, eq=False)
class PairProblem:
    """The tables of both sides, filled up to the same size. The score adds up, over all items and all pairs of items,
    the log-likelihood ``fit`` of the pseudonym's frequency and, for each of the ``terms``, the product of the entry in
    its own table and the entry of the pseudonyms in its released table. All tables of terms are symmetric, with a
    diagonal of 0."""

    terms: tuple[tuple[Floats, Floats], ...]
    fit: Floats

    @classmethod
    def from_shares(cls, own: PairShares, released: PairShares) -> PairProblem:
        """The problem of an attacker with these shares before a release with those."""
        baskets = 1 / (1 / own.baskets + 1 / released.baskets)
        m, n = len(own.shares), len(released.shares)
        fit = np.zeros((max(m, n), max(m, n)))
        known = -2 * baskets * (own.frequencies[:, None] - released.frequencies[None, :]) ** 2
        fit[:m, :n] = known
        mine, theirs = (_fill_up(side.associations, len(fit)) for side in (own, released))
        terms = [(2 * baskets * mine, theirs)]
        if m < n:  # the item was missed by chance, or does not exist for the attacker
            fit[m:, :] = np.maximum(-2 * baskets * released.frequencies**2, _log_mean(known, axis=0))
            terms.append((_fill_up(1 - np.eye(m), n), -baskets * theirs**2))
        elif n < m:
            fit[:, n:] = _log_mean(known, axis=1)[:, None]
            terms.append((-baskets * mine**2, _fill_up(1 - np.eye(n), m)))
        return cls(tuple(terms), fit)

    @property
    def n(self) -> int:
        """The number of items on either side."""
        return len(self.fit)

    def score(self, assigned: Ints) -> float:
        """The score of an assignment of all items."""
        pairs = sum((own * released[np.ix_(assigned, assigned)]).sum() for own, released in self.terms)
        return float(pairs + self.fit[np.arange(self.n), assigned].sum())

    def gains(self, weights: Floats) -> Floats:
        """What each pseudonym adds to the score for each item, given the weights of all items."""
        found: Floats = np.broadcast_to(self.fit, weights.shape).copy()
        for own, released in self.terms:
            found += 2 * _multiply(_multiply(own, weights), released)
        return found

    @cached_property
    def start(self) -> Floats:
        """The weights that follow from frequencies alone."""
        return _scale_weights(self.fit)


def _multiply(a: Floats, b: Floats) -> Floats:
    """The product of two square matrices, or of stacks of them. Small ones are multiplied a few rows at a time, which
    keeps the library from starting threads: on a busy machine, waiting for them takes a hundred times longer than the
    product."""
    n = a.shape[-1]
    rows = _MAX_UNTHREADED_WORK // (n * n)
    found: Floats
    if rows >= n or rows < _LEAST_ROWS or a.ndim > 2 or b.ndim > 2:
        found = a @ b
        return found
    parts = -(-n // rows)
    stacked = np.zeros((parts * rows, n))
    stacked[:n] = a
    found = (stacked.reshape(parts, rows, n) @ b).reshape(parts * rows, n)[:n]
    return found


def _log_mean(logarithms: Floats, axis: int) -> Floats:
    """The logarithm of the mean of what these are the logarithms of: the fit with a partner at random."""
    found: Floats = logsumexp(logarithms, axis=axis) - np.log(logarithms.shape[axis])
    return found


def _fill_up(table: Floats, size: int) -> Floats:
    filled = np.zeros((size, size))
    filled[: len(table), : len(table)] = table
    return filled


def match_items(
    own: PairShares,
    released: PairShares,
    rng: np.random.Generator,
    *,
    starts: int = len(_FIRST_WEIGHTS),
    marginals: Floats | None = None,
    run: Run | None = None,
) -> ItemMatching:
    """The best assignment found for someone with these shares before a release with those.

    ``marginals`` are known probabilities of pseudonyms (columns) for items (rows), to start from once more. Released
    items are shuffled first, so that nothing is decided by the order in which they are given.

    >>> rng = np.random.default_rng(0)
    >>> shares = PairShares(np.array([[0.9, 0.5, 0.1], [0.5, 0.6, 0.2], [0.1, 0.2, 0.3]]), 100)
    >>> match_items(shares, shares, rng).assigned.tolist()
    [0, 1, 2]
    """
    run = run or Run()
    m, n = len(own.shares), len(released.shares)
    order = rng.permutation(n)
    problem = PairProblem.from_shares(own, PairShares(released.shares[np.ix_(order, order)], released.baskets))
    begin = list(islice(_starting_weights(problem, rng), starts))
    if marginals is not None and m == n:
        begin.append((_FIRST_WEIGHTS[0], marginals[:, order]))
    found: list[tuple[float, Ints, Floats]] = []
    together = len(begin) if problem.n <= _MAX_STACKED_ITEMS else 1
    for done in range(0, len(begin), together):
        some = begin[done : done + together]
        progress = (done / len(begin), (done + together) / len(begin))
        stacked = some[0][1] if together == 1 else np.array([own for _, own in some])
        annealed = _anneal_weights(problem, stacked, np.array([first for first, _ in some]), run, progress)
        for each in annealed.reshape(-1, problem.n, problem.n):
            assigned, gain = climb_by_exchanges(problem, linear_sum_assignment(-each)[1], run)
            found.append((problem.score(assigned), assigned, gain))
    score, assigned, gain = max(found, key=lambda result: result[0])
    names = np.append(order, np.arange(n, problem.n))  # the released item in each place; beyond n there is none
    weights = np.zeros((problem.n, problem.n))
    weights[:, names[assigned]] = np.exp(np.minimum(gain, 0.0))
    weights /= weights.sum(axis=1, keepdims=True)
    own_names = names[assigned[:m]]
    tied = find_ties(gain, score)
    return ItemMatching(
        np.where(own_names < n, own_names, -1), weights[:m, :n], score, tied[:m].sum(axis=1) > 0, group_ties(tied)[:m]
    )


def find_ties(gain: Floats, score: float) -> Bools:
    """Which two places could be exchanged at no loss, given what each exchange gains."""
    tied: Bools = gain >= -_TIE * (1 + abs(score))
    tied &= ~np.eye(len(gain), dtype=bool)
    return tied


def group_ties(tied: Bools) -> Ints:
    """A number for each place, the same for those that are all tied with each other and with no others."""
    _, group = connected_components(csr_array(tied), directed=False)
    sizes, links = np.bincount(group), np.bincount(group, tied.sum(axis=1))
    found: Ints = np.where((links == sizes * (sizes - 1))[group], group, len(sizes) + np.arange(len(group)))
    return found


def _starting_weights(problem: PairProblem, rng: np.random.Generator) -> Iterator[tuple[float, Floats]]:
    """How much the score counts at first, and the weights to start from: by frequencies, later with noise."""
    for first in _FIRST_WEIGHTS:
        yield first, problem.start
    for first in cycle(_FIRST_WEIGHTS):
        yield first, _scale_weights(problem.fit + _NOISE * rng.gumbel(size=problem.fit.shape))


def _anneal_weights(
    problem: PairProblem, weights: Floats, first: Floats, run: Run, fractions: tuple[float, float]
) -> Floats:
    """The weights of one start, or of a stack of them, after the score has come to count fully."""
    begin, end = fractions
    for step, at in enumerate(np.linspace(1.0, 0.0, _STEPS).tolist()):
        counts = first**at if weights.ndim == 2 else (first**at)[:, None, None]
        for _ in range(_ROUNDS):
            run.progress("comparing what is bought together", begin + (end - begin) * step / _STEPS)
            run.check()
            before, weights = weights, _scale_weights(counts * problem.gains(weights))
            if np.abs(weights - before).max() < _SETTLED:
                break
    return weights


def _scale_weights(gains: Floats) -> Floats:
    """Weights in proportion to exp(gain), with rows and columns scaled to sums of 1."""
    exponents = gains - gains.max(axis=-1, keepdims=True)
    exponents -= exponents.max(axis=-2, keepdims=True)
    raw = np.exp(np.maximum(exponents, -_MAX_EXPONENT))
    columns = np.ones(raw.shape[:-1])
    for _ in range(_SCALINGS):
        rows = 1 / np.einsum("...ij,...j->...i", raw, columns)  # threads would cost more than they save here
        before, columns = columns, 1 / np.einsum("...i,...ij->...j", rows, raw)
        if (np.abs(columns - before) <= _SCALED * columns).all():
            break
    raw *= columns[..., None, :]
    found: Floats = raw / raw.sum(axis=-1, keepdims=True)
    return found


def climb_by_exchanges(problem: PairProblem, assigned: Ints, run: Run | None = None) -> tuple[Ints, Floats]:
    """Exchange the pseudonyms of two items, always the two that raise the score most, until none does. The result, and
    what each exchange would still change."""
    run, assigned = run or Run(), assigned.copy()
    tables = [(own, released[np.ix_(assigned, assigned)]) for own, released in problem.terms]
    products = [_multiply(own, partner) for own, partner in tables]
    for left in reversed(range(_MAX_EXCHANGES_PER_ITEM * problem.n)):
        run.check()
        gain = _exchange_gains(tables, products, problem.fit[:, assigned])
        r, s = divmod(int(gain.argmax()), problem.n)
        if not left or gain[r, s] <= 1e-9 * (1 + np.abs(problem.fit).max()):
            break
        assigned[[r, s]] = assigned[[s, r]]
        for (own, partner), product in zip(tables, products, strict=True):
            product += np.outer(own[:, r] - own[:, s], partner[s] - partner[r])
            product[:, [r, s]] = product[:, [s, r]]
            partner[[r, s]] = partner[[s, r]]
            partner[:, [r, s]] = partner[:, [s, r]]
    return assigned, gain


def _exchange_gains(tables: list[tuple[Floats, Floats]], products: list[Floats], fit: Floats) -> Floats:
    """What each exchange of two pseudonyms adds to the score, given the released tables in the order of the items and
    their products with the attacker's."""
    gain: Floats = fit + fit.T - np.diag(fit)[:, None] - np.diag(fit)[None, :]
    for (own, partner), product in zip(tables, products, strict=True):
        kept = np.diag(product)
        gain += 2 * (product + product.T - kept[:, None] - kept[None, :]) + 4 * own * partner
    np.fill_diagonal(gain, 0.0)
    return gain
