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
from unveil.run import Run

__all__ = ["anonymise_degrees", "is_k_anonymous"]

_STEPS = 1 << 25  # groups between two looks at whether to stop


def is_k_anonymous(degrees: Ints, k: int) -> bool:
    """Whether every number occurs at least k times.

    >>> is_k_anonymous(np.array([5, 5, 3, 3, 2, 2, 2]), 2)
    True
    """
    return bool((np.unique(degrees, return_counts=True)[1] >= k).all())


def anonymise_degrees(
    degrees: Ints, k: int, lowering_price: float | None = None, even_sum: bool = False, run: Run | None = None
) -> Ints:
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
        price = min(price, lowering_price)  # which may be infinite
    runs = _find_runs(degrees, 7 * k)
    chosen = _choose_targets(runs, k, price, even_sum, len(degrees) - 1, run or Run())
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


def _choose_targets(runs: _Runs, k: int, price: float, even_sum: bool, most: int, run: Run) -> Ints:
    """The targets of those who take part."""
    falling, ends = np.repeat(runs.degrees, runs.parts), np.cumsum(runs.parts)
    sums = np.append(0, np.cumsum(falling))
    sequence = falling, sums, np.repeat(ends - runs.parts, runs.parts), np.repeat(ends, runs.parts)
    before = (np.arange(2 * k) / (1 + price)).astype(np.int64)
    states = 2 if even_sum else 1
    costs, choices = np.full((len(sums), states), np.inf), np.zeros((len(sums), states, 2), np.int64)
    costs[0, 0] = 0
    some = _STEPS // k + 1
    for first in range(k, len(sums), some):
        run.check()
        last = min(first + some, len(sums))
        _degree_groups.group_degrees(first, last, sequence, before, k, price, most, costs, choices)
    # those who take no part keep their degrees, so the changes of the others have the parity of the sum that was there
    parity = int((runs.degrees * runs.sizes).sum()) & (states - 1)
    targets = np.empty_like(falling)
    _degree_groups.trace_groups(parity, sums, choices, targets)
    return targets


def _give_out(degrees: Ints, runs: _Runs, chosen: Ints) -> Ints:
    """The target of each node. Nodes of the same degree are given theirs in falling order."""
    ends = np.cumsum(runs.parts)
    changes = np.append(0, np.cumsum(chosen != np.repeat(runs.degrees, runs.parts)))
    has_changed = changes[ends] > changes[ends - runs.parts]
    repeats = np.repeat(has_changed, runs.parts).astype(np.int64)
    for r in np.flatnonzero(has_changed & (runs.sizes > runs.parts)):  # those who took no part keep their degree
        begin = ends[r] - runs.parts[r]
        kept = begin + np.flatnonzero(chosen[begin : ends[r]] == runs.degrees[r])[0]
        repeats[kept] += runs.sizes[r] - runs.parts[r]
    is_affected = np.zeros(degrees.max() + 1, np.bool_)
    is_affected[runs.degrees[has_changed]] = True
    nodes = np.flatnonzero(is_affected[degrees])
    targets = degrees.astype(np.int64)
    targets[nodes[np.argsort(-degrees[nodes], kind="stable")]] = np.repeat(chosen, repeats)
    return targets
