"""How many friends do people have? Degrees of a graph, released with noise.

Three neighbourhoods (Section 7.4; Hay, Li, Miklau and Jensen 2009). *Edge*: one edge, or one node without edges, more
or less. *k edges*: up to k of such steps. *Node*: a node with all its edges more or less, in graphs of at most n
nodes. The sensitivity, in each of these:

====================  ==========  =========
what is released      k edges     node
====================  ==========  =========
degree sequence       2k          2(n − 1)
degree histogram      4k          2n − 1
====================  ==========  =========

- *Sequence*, in a public order of a public list of n nodes, or sorted downwards and filled up with zeros to a public
  length n (cut off there, if there are more). An edge changes two degrees by 1. A node with d edges changes d other
  degrees by 1 and its own, from the zero that stood for it, to d: 2d ≤ 2(n − 1). Sorting does not increase Σ|xᵢ − yᵢ|,
  since pairing the i-th largest with the i-th largest minimises that sum; nor does cutting off. In a public order, the
  list of nodes is public, so only edges count as steps; sorted, a node without edges is a zero and changes nothing.
- *Histogram* over the degrees 0 … top, the last meaning "top or more". An edge moves two nodes to another bin, and a
  move changes two bins by 1: 4. A node without edges changes one bin. A node with d edges moves d others and adds
  itself: 2d + 1 ≤ 2n − 1. The sequence's 2k is too little for a histogram.

Both bounds are attained: k edges between 2k different nodes (whose degrees differ by more than 1), and a hub that
joins n − 1 nodes without edges. Under node neighbours the noise exceeds most degrees, which is the price of hiding a
hub.

*Constrained inference*: a sorted sequence is known to fall, so the noisy one is replaced by the nearest falling one,
in Σ(xᵢ − yᵢ)². That uses only what was released, so it costs nothing; it averages the noise over nodes of equal
degree.

*Triangles.* An edge {u, v} more or less changes their number by the number c(u, v) of common neighbours of u and v, so
the sensitivity *of this graph* is L = max c(u, v) over all pairs, also pairs without an edge. L itself changes by at
most 1 when an edge {i, j} changes: that edge makes a node w a common neighbour of u and v only if {i, j} is {u, w} or
{v, w}, which for a given pair is at most one w. So release L~ = L + Z₁ + s, with Z₁ of scale 1/ε₁ and the shift s such
that P(Z₁ < −s) ≤ δ, and then the number with noise of scale L~/ε₂. This is (ε₁ + ε₂, δ)-differentially private for
edges: let f be the number of triangles, and call l *large enough* if l ≥ L(D). For any event S,

P_D(S) ≤ P_D(L~ not large enough) + Σ_{l ≥ L(D)} P_D(L~ = l) P_D(f + noise(l) ∈ S_l) ≤ δ + Σ e^(ε₁) P_D′(L~ = l) e^(ε₂)
P_D′(f + noise(l) ∈ S_l) ≤ δ + e^(ε₁+ε₂) P_D′(S),

because |f(D) − f(D′)| ≤ L(D) ≤ l for every l in the sum. (Smooth sensitivity, Nissim, Raskhodnikova and Smith 2007, is
the other known way.) ∎
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.dp.mechanisms.laplace import add_laplace, laplace_accuracy
from unveil.dp.mechanisms.parameters import check_budget, check_count, check_delta, check_integers
from unveil.errors import UnveilError

__all__ = [
    "NoisyTriangles",
    "add_histogram_noise",
    "add_sequence_noise",
    "add_sorted_noise",
    "add_triangle_noise",
    "degree_sensitivity",
    "nearest_falling",
    "triangle_statistics",
]


@dataclass(frozen=True)
class NoisyTriangles:
    """The noisy number of triangles, and the scale of its noise, which is public too."""

    value: int
    scale: int


def degree_sensitivity(
    released: Literal["sequence", "histogram"], edges: int | None = None, nodes: int | None = None
) -> int:
    """By how much neighbouring graphs' answers differ: with ``edges`` = k, graphs that differ by k edges; with
    ``nodes`` = n, graphs of at most n nodes that differ by one node.

    >>> degree_sensitivity("sequence", edges=1), degree_sensitivity("histogram", edges=1)
    (2, 4)
    >>> degree_sensitivity("sequence", nodes=100), degree_sensitivity("histogram", nodes=100)
    (198, 199)
    """
    if (edges is None) == (nodes is None):
        raise UnveilError("neighbouring graphs differ by edges or by a node: give one of the two")
    if edges is not None:
        return check_count(edges, "the number of edges") * {"sequence": 2, "histogram": 4}[released]
    most = check_count(nodes, "the largest number of nodes", least=2)
    return {"sequence": 2 * (most - 1), "histogram": 2 * most - 1}[released]


def add_sequence_noise(degrees: npt.ArrayLike, epsilon: Fraction, edges: int = 1) -> list[int]:
    """Noisy degrees in the public order of a public list of nodes. Neighbours differ by edges."""
    return add_laplace(_check_degrees(degrees), degree_sensitivity("sequence", edges), epsilon)


def add_sorted_noise(
    degrees: npt.ArrayLike, length: int, epsilon: Fraction, edges: int | None = 1, nodes: int | None = None
) -> Floats:
    """The ``length`` largest degrees with noise, made to fall and to lie in 0 … ``length`` − 1. The length is
    public."""
    size = check_count(length, "length")
    largest = np.sort(_check_degrees(degrees))[::-1][:size]
    filled = np.concatenate([largest, np.zeros(size - len(largest), np.int64)])
    noisy = add_laplace(filled, degree_sensitivity("sequence", edges, nodes), epsilon)
    return np.clip(nearest_falling(noisy), 0, size - 1)


def add_histogram_noise(
    degrees: npt.ArrayLike, top: int, epsilon: Fraction, edges: int | None = 1, nodes: int | None = None
) -> list[int]:
    """How many nodes have degree 0, 1, …, ``top`` or more, with noise. The top is public."""
    most = check_count(top, "top")
    counts = np.bincount(np.minimum(_check_degrees(degrees), most), minlength=most + 1)
    return add_laplace(counts, degree_sensitivity("histogram", edges, nodes), epsilon)


def nearest_falling(values: Iterable[float]) -> Floats:
    """The sequence that never rises and is nearest to ``values``.

    >>> nearest_falling([5, 2, 4, 1]).tolist()
    [5.0, 3.0, 3.0, 1.0]
    """
    from scipy.optimize import isotonic_regression

    fitted: Floats = isotonic_regression(np.asarray(list(values), np.float64), increasing=False).x
    return fitted


def triangle_statistics(edges: npt.ArrayLike, nodes: int) -> tuple[int, int]:
    """The number of triangles and the largest number of common neighbours of two nodes, in an undirected graph without
    loops whose edges are given once each.

    >>> triangle_statistics([[0, 1], [1, 2], [0, 2], [2, 3]], 4)
    (1, 1)
    """
    from scipy.sparse import coo_array

    ends = np.asarray(edges, np.int64).reshape(-1, 2)
    both = np.concatenate([ends, ends[:, ::-1]])
    adjacency = coo_array((np.ones(len(both), np.int64), (both[:, 0], both[:, 1])), shape=(nodes, nodes)).tocsr()
    common = adjacency @ adjacency
    triangles = int((common * adjacency).sum()) // 6
    pairs = common.tocoo()
    apart = pairs.row != pairs.col
    return triangles, int(pairs.data[apart].max(initial=0))


def add_triangle_noise(triangles: int, most_common: int, epsilon: Fraction, delta: Fraction) -> NoisyTriangles:
    """The number of triangles with noise, (ε, δ)-differentially private for edges, given the two numbers of
    :func:`triangle_statistics`. A quarter of ε finds the scale."""
    budget, miss = check_budget(epsilon), check_delta(delta)
    exact, largest = check_integers([triangles, most_common], "triangles")
    shift = laplace_accuracy(1, budget / 4, 1 - miss)  # P(|Z₁| > shift) ≤ δ
    (bound,) = add_laplace([largest + shift], 1, budget / 4)
    scale = max(bound, 1)
    (value,) = add_laplace([exact], scale, budget * 3 / 4)
    return NoisyTriangles(value, scale)


def _check_degrees(degrees: npt.ArrayLike) -> Ints:
    """Degrees as an array."""
    given = np.asarray(degrees)
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or given.size == 0):
        raise UnveilError("degrees must be a list of whole numbers")
    if given.size and given.min() < 0:
        raise UnveilError("degrees must not be negative")
    return given.astype(np.int64)
