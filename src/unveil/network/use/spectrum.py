"""The largest singular values of a graph, which say how things spread in it.

They are those of its adjacency matrix; in an undirected graph, the absolute eigenvalues. The first is the factor by
which the number of walks grows with their length, and so how easily a disease or a rumour spreads along edges
(Y. Wang et al., Epidemic spreading in real networks: an eigenvalue viewpoint, SRDS 2003); those that follow depend on
large communities. X. Ying and X. Wu measure by eigenvalues what randomising edges does (Randomizing social networks: a
spectrum preserving approach, SDM 2008).

The **spectral distance** of two graphs with singular values σ₁ ≥ σ₂ ≥ … and τ₁ ≥ τ₂ ≥ … is
Σ|σᵢ − τᵢ| / Σ max(σᵢ, τᵢ) over the first ten: 0 if they are the same, 1 if only one of the graphs has edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.arrays import Floats
from unveil.release.graph import Graph
from unveil.run import Run

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["SINGULAR_VALUES", "largest_singular_values", "spectral_distance"]

SINGULAR_VALUES = 10
_DENSE = 400  # nodes up to which all of them are computed
_TOLERANCE = 1e-4  # by what share of itself a value may be off; it is mostly far less
_LANCZOS_VECTORS = 40
_MOST_WORK = 5_000_000_000  # numbers that are multiplied and added, some seconds


class _OutOfWorkError(Exception):
    """The values have not been found with the work that is allowed."""


def largest_singular_values(graph: Graph, rng: np.random.Generator, run: Run | None = None) -> Floats | None:
    """The ten largest singular values, the largest first, or 0 where there are fewer; None if finding them takes too
    long, since so many are almost the same.

    >>> triangle = Graph.from_edges([0, 1, 2], [1, 2, 0], nodes=3)
    >>> found = largest_singular_values(triangle, np.random.default_rng(0))
    >>> found[:4].round(9).tolist()
    [2.0, 1.0, 1.0, 0.0]
    """
    from scipy.sparse import csr_array

    found = np.zeros(SINGULAR_VALUES)
    if graph.edges == 0:
        return found
    ones = np.ones(len(graph.neighbours))
    edges = csr_array((ones, graph.neighbours, graph.indptr), shape=(graph.nodes, graph.nodes))
    values = (
        np.linalg.svd(edges.toarray(), compute_uv=False)
        if graph.nodes <= _DENSE
        else _search_values(edges, graph.directed, rng, run or Run())
    )
    if values is None:
        return None
    largest = np.sort(values)[::-1][:SINGULAR_VALUES]
    found[: len(largest)] = largest
    return found


def _search_values(edges: csr_array[Any], directed: bool, rng: np.random.Generator, run: Run) -> Floats | None:
    """The largest singular values, from eigenvalues of A, or of AᵀA in a directed graph.

    Of several that are equal, Lanczos' method is sure to find one only. So it looks again at what is left without those
    found, until nothing there is larger.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    nodes, work = edges.shape[0], 0
    values, vectors = np.empty(0), np.empty((nodes, 0))

    def apply_rest(x: Floats) -> Floats:
        nonlocal work
        run.check()
        work += edges.nnz * (1 + directed) + 2 * nodes * _LANCZOS_VECTORS
        if work > _MOST_WORK:
            raise _OutOfWorkError
        image = edges @ x
        rest: Floats = (edges.T @ image if directed else image) - vectors @ (values * (vectors.T @ x))
        return rest

    rest = LinearOperator((nodes, nodes), matvec=apply_rest, dtype=np.float64)
    while True:
        wanted, start = 1 if len(values) else SINGULAR_VALUES, rng.standard_normal(nodes)
        try:
            new, of_new = eigsh(rest, wanted, v0=start, ncv=_LANCZOS_VECTORS, tol=_TOLERANCE)
        except (ArpackNoConvergence, _OutOfWorkError):
            return None
        found = np.sort(np.abs(values))[-SINGULAR_VALUES:]
        if len(found) and abs(new[0]) <= found[0] * (1 + _TOLERANCE):
            return np.sqrt(found) if directed else found
        values, vectors = np.append(values, new), np.hstack([vectors, of_new])


def spectral_distance(first: Floats, second: Floats) -> float:
    """How far two lists of singular values differ: 0 if they are the same, at most 1.

    >>> spectral_distance(np.array([4.0, 2.0]), np.array([3.0, 2.0]))
    0.16666666666666666
    """
    larger = float(np.maximum(first, second).sum())
    return float(np.abs(first - second).sum()) / larger if larger else 0.0
