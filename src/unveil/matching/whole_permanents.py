"""The permanent of a matrix of whole numbers, as a whole number.

Blocks are independent, so the permanent is a product over blocks. Each of them is counted without rounding:

- a block of up to 24 entries by the sum over sets of columns (``column_subsets``), once in floating point and once
  modulo 2⁶⁴, where overflow does no harm. All terms are non-negative, so that the first is off by less than a share
  10⁻¹² of the permanent. Up to 2⁶³·10¹² only one whole number is that close and has the right remainder;
- any other block along a frontier (``frontier``) with Python's whole numbers, as long as few states are open at a time.
"""

from __future__ import annotations

import math

import numpy as np

from unveil.errors import UnveilError
from unveil.matching._column_subsets import subset_permanent
from unveil.matching.blocks import Block, InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.column_subsets import LARGEST_MATRIX
from unveil.matching.frontier import neighbour_order, plan_frontier

__all__ = ["whole_permanent"]

_TOO_COSTLY = (
    "the permanent of this matrix is too costly to count exactly; use log_permanent, or solve(...).log_permanent for "
    "bounds"
)
_SMALLEST_MATRIX = 4
_MOST_ROUNDED = 2.0**63 * 1e12  # a permanent up to here is known from its remainder modulo 2⁶⁴ and its rounded value
_MOST_STATES = 20_000  # of a frontier at a time,
_MOST_STEPS = 1_000_000  # and from state to state along all of it


def whole_permanent(candidates: Candidates) -> int:
    """The total weight of all perfect matchings, if all weights are whole numbers.

    >>> whole_permanent(Candidates.from_matrix(np.kron(np.eye(50), np.ones((2, 2))))) == 2**50
    True
    """
    try:
        flow = feasible_flow(candidates, None)
    except InfeasibleError:
        return 0
    return math.prod(_count_block(block) for block in independent_blocks(candidates, flow))


def _count_block(block: Block) -> int:
    if len(block.a) == 1:
        weight = int(block.weights[0])
        return math.factorial(block.n) * math.prod([weight] * block.n)
    if block.n <= LARGEST_MATRIX:
        matrix = np.eye(max(block.n, _SMALLEST_MATRIX))
        matrix[: block.n, : block.n] = block.to_matrix()
        if (rounded := subset_permanent(matrix)) <= _MOST_ROUNDED and matrix.max() < 2**53:
            return _nearest_whole(int(rounded), int(subset_permanent(matrix.astype(np.uint64))))
    return _count_along_frontier(block)


def _nearest_whole(rounded: int, remainder: int) -> int:
    """The whole number with this remainder modulo 2⁶⁴ that is nearest to a rounded one."""
    off = (remainder - rounded) % 2**64
    return rounded + (off if off < 2**63 else off - 2**64)


def _count_along_frontier(block: Block) -> int:
    """Take one group of pseudonyms after another, and of each group one class. A state is how many entries of each
    class are left, and how many pseudonyms of the group."""
    if plan_frontier(block, _MOST_STATES) is None:
        raise UnveilError(_TOO_COSTLY)
    order = neighbour_order(block)
    place = np.argsort(order)[block.b]
    last = np.zeros(len(block.r), np.int64)
    np.maximum.at(last, block.a, place)
    ways, steps = {tuple(block.r.tolist()): 1}, 0
    for at, size in enumerate(block.c[order].tolist()):
        open_ways = {(left, size): many * math.factorial(size) for left, many in ways.items()}
        for edge in np.flatnonzero(place == at).tolist():
            a, weight = int(block.a[edge]), int(block.weights[edge])
            found: dict[tuple[tuple[int, ...], int], int] = {}
            for (left, room), many in open_ways.items():
                least = left[a] if last[a] == at else 0  # a class that ends here must be used up
                for x in range(least, min(left[a], room) + 1):
                    key = (*left[:a], left[a] - x, *left[a + 1 :]), room - x
                    found[key] = found.get(key, 0) + many * math.comb(left[a], x) * weight**x
                    steps += 1
            open_ways = found
            if steps > _MOST_STEPS:
                raise UnveilError(_TOO_COSTLY)
        ways = {left: many for (left, room), many in open_ways.items() if room == 0}
    return sum(ways.values())
