"""Degrees that nobody can be told by, as near to the true ones as can be.

A sequence of numbers is *k-anonymous* if each number in it occurs at least k times; a graph is k-degree anonymous if
its degrees are. Given the degrees of a graph, which k-anonymous sequence is nearest? Raising a degree by one costs 1.
Lowering it by one costs ``lowering_price``, or is not allowed.

**Why it suffices to group neighbours in the sorted sequence.** Whatever numbers are chosen, it is cheapest to give them
out in the order of the degrees, so that nodes with the same number stand side by side once degrees are sorted. A group
of 2k or more can be split in two with the same number, so groups have k to 2k − 1 members.

**What a group costs.** Without lowering, all are raised to the largest. Otherwise the cost of a target is convex: with
c members above it and L − c at or below, the next degree up is better as long as price·c > L − c, so the best target
has ⌊L / (1 + price)⌋ members before it. At price 1 that is the median.

**The dynamic programme.** Let D(j) be the least cost of the j largest degrees. Then D(j) = min D(j − L) + I(j, L) over
k ≤ L < 2k, where I is the cost of a group, which prefix sums give at once: O(nk) in all. If the sum has to be even, as
that of all degrees of a graph is, D has one value for each parity. In a group of even size the sum has the same parity
whatever the target is; in one of odd size the next target on either side has the other parity, and farther ones cost
more. Of many nodes with the same degree only 7k take part: at most 2k − 2 of them belong to a group that begins before
them, 2k − 2 to one that ends after them and 2k − 1 to one whose target is moved for parity's sake (two of these would
be better not moved), so that k are left that keep their degree, and with them those that take no part.

K. Liu, E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008; M. Vanhoef, *Privacy in databases* (2012),
equations 9.3–9.6. The sum in equation 9.3 begins at ℓ = i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.network.protections import _degree_groups

__all__ = ["anonymise_degrees", "is_k_anonymous"]


def is_k_anonymous(degrees: Ints, k: int) -> bool:
    """Whether every number occurs at least k times.

    >>> is_k_anonymous(np.array([5, 5, 3, 3, 2, 2, 2]), 2)
    True
    """
    return bool((np.unique(degrees, return_counts=True)[1] >= k).all())


def anonymise_degrees(degrees: Ints, k: int, lowering_price: float | None = None, even_sum: bool = False) -> Ints:
    """The nearest k-anonymous degrees between 0 and n − 1, in the order given. Without a price, no degree is lowered.

    >>> degrees = np.array([3, 3, 3, 2, 2, 1])
    >>> anonymise_degrees(degrees, 2).tolist()
    [3, 3, 3, 2, 2, 2]
    >>> anonymise_degrees(degrees, 2, even_sum=True).tolist()
    [3, 3, 3, 3, 2, 2]
    >>> anonymise_degrees(np.array([9, 4, 4, 1, 1, 1, 1, 1, 1, 1]), 3, lowering_price=1).tolist()
    [4, 4, 4, 1, 1, 1, 1, 1, 1, 1]
    """
    _check_degrees(degrees, k)
    if lowering_price is not None and not lowering_price > 0:
        raise UnveilError("lowering_price must be positive")
    if len(degrees) == 0:
        return degrees.astype(np.int64)
    price = float(len(degrees)) ** 2  # raising every node to the largest degree costs less
    if lowering_price is not None:
        price = min(price, lowering_price)
    runs = _find_runs(degrees, 7 * k)
    chosen = _choose_targets(runs, k, price, even_sum, len(degrees) - 1)
    return _give_out(degrees, runs, chosen)


def _check_degrees(degrees: Ints, k: int) -> None:
    if k < 1:
        raise UnveilError("k must be at least 1")
    if 0 < len(degrees) < k:
        raise UnveilError(f"k is {k} but there are only {len(degrees)} nodes; lower k")
    if len(degrees) and not 0 <= degrees.min() <= degrees.max() < len(degrees):
        raise UnveilError("a degree is below 0 or not below the number of nodes; give the degrees of a simple graph")


class _Runs(NamedTuple):
    """The different degrees, falling; how many nodes have each; and how many of these take part."""

    degrees: Ints
    sizes: Ints
    parts: Ints


def _find_runs(degrees: Ints, most: int) -> _Runs:
    counts = np.bincount(degrees)
    values = np.flatnonzero(counts)[::-1]
    return _Runs(values, counts[values], np.minimum(counts[values], most))


def _choose_targets(runs: _Runs, k: int, price: float, even_sum: bool, most: int) -> Ints:
    """The targets of those who take part."""
    falling = np.repeat(runs.degrees, runs.parts)
    sums = np.append(0, np.cumsum(falling))
    ends = np.cumsum(runs.parts)
    run_begins, run_ends = np.repeat(ends - runs.parts, runs.parts), np.repeat(ends, runs.parts)
    above = (np.arange(2 * k) / (1 + price)).astype(np.int64)
    states = 2 if even_sum else 1
    work = np.full((len(falling) + 1, states), np.inf), np.zeros((len(falling) + 1, states, 2), np.int64)
    # nodes that take no part keep their degrees, so all that counts is the parity of everybody's change
    change = int((runs.degrees * runs.sizes).sum()) & (states - 1)
    targets = np.empty(len(falling), np.int64)
    _degree_groups.group_degrees(falling, sums, run_begins, run_ends, above, k, price, most, change, *work, targets)
    return targets


def _give_out(degrees: Ints, runs: _Runs, chosen: Ints) -> Ints:
    """The target of each node. Nodes of the same degree are given theirs in falling order."""
    ends = np.cumsum(runs.parts)
    changes = np.append(0, np.cumsum(chosen != np.repeat(runs.degrees, runs.parts)))
    changed = np.flatnonzero(changes[ends] > changes[ends - runs.parts])
    targets = degrees.astype(np.int64)
    is_changed = np.zeros(degrees.max() + 1, np.bool_)
    is_changed[runs.degrees[changed]] = True
    nodes = np.flatnonzero(is_changed[degrees])
    nodes = nodes[np.argsort(-degrees[nodes], kind="stable")]
    given = [_restore_run(chosen[ends[r] - runs.parts[r] : ends[r]], runs.degrees[r], runs.sizes[r]) for r in changed]
    targets[nodes] = np.concatenate([np.empty(0, np.int64), *given])
    return targets


def _restore_run(chosen: Ints, degree: int, size: int) -> Ints:
    """The targets of a whole run: those who took no part keep their degree, beside others who do."""
    if len(chosen) == size:
        return chosen
    return np.insert(chosen, np.flatnonzero(chosen == degree)[0], np.full(size - len(chosen), degree))
