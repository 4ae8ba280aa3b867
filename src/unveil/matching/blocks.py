"""Blocks: the parts of a matching problem that can be solved separately.

An edge that lies in no perfect matching carries no information and is removed. What remains falls into independent
blocks, so ln permanent and expected cracks are sums over blocks.

Both steps need one feasible matching and the strongly connected components of its residual graph. An edge lies in some
perfect matching if and only if its ends are in the same component (Tassa, *Finding all maximally-matchable edges in a
bipartite graph*, 2012). The components are the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.matching.candidates import Candidates, twin_classes
from unveil.wording import count_text, list_text, ordinal_text, verb

__all__ = ["Block", "InfeasibleError", "feasible_flow", "flow_between", "independent_blocks"]


class InfeasibleError(UnveilError):
    """There is no perfect matching; the message names entries with too few candidates between them."""


@dataclass(frozen=True, eq=False)
class Block:
    """An independent part of the problem, with classes and groups merged once more and numbered from 0.

    ``r`` and ``c`` are the sizes of classes and groups; edge e joins class ``a[e]`` to group ``b[e]``. The candidates'
    edge ``edges[k]`` is the block's edge ``part[k]``.
    """

    a: Ints
    b: Ints
    weights: Floats
    r: Ints
    c: Ints
    edges: Ints
    part: Ints

    @property
    def n(self) -> int:
        """The number of entries in the block."""
        return int(self.r.sum())

    def remaining_edges(self, r: Ints, c: Ints) -> Bools:
        """Which edges remain with these numbers of entries per class and pseudonyms per group."""
        left: Bools = (r[self.a] > 0) & (c[self.b] > 0)
        return left

    def with_sizes(self, r: Ints, c: Ints) -> Candidates:
        """The block's candidates with r entries per class and c pseudonyms per group."""
        kept = self.remaining_edges(r, c)
        classes, groups = np.cumsum(r > 0) - 1, np.cumsum(c > 0) - 1
        return Candidates.from_classes(
            np.repeat(np.arange((r > 0).sum()), r[r > 0]),
            np.repeat(np.arange((c > 0).sum()), c[c > 0]),
            classes[self.a[kept]],
            groups[self.b[kept]],
            self.weights[kept],
        )

    @property
    def shape(self) -> bytes:
        """A key that is equal for blocks with the same solution."""
        return b"|".join(x.tobytes() for x in (self.r, self.c, self.a, self.b, self.weights))

    def to_matrix(self) -> Floats:
        """The matrix of weights, entries by pseudonyms, both in the order of their classes and groups."""
        matrix = np.zeros((len(self.r), len(self.c)))
        matrix[self.a, self.b] = self.weights
        return np.repeat(np.repeat(matrix, self.r, axis=0), self.c, axis=1)


def feasible_flow(candidates: Candidates, truth: Ints | None) -> Ints:
    """The number of entries along each edge in one perfect matching: the true one if it is possible, else any.

    Without a perfect matching, raises an error that names a set of entries with too few candidates (Hall).
    """
    if truth is not None:
        edge = candidates.find_edges(np.arange(candidates.n), truth)
        if (edge >= 0).all():
            return np.bincount(edge, minlength=len(candidates.groups))
    flow = flow_between(candidates.edge_class, candidates.groups, candidates.class_sizes, candidates.group_sizes)
    if flow.sum() < candidates.n:
        raise InfeasibleError(_describe_hall_violation(candidates, flow))
    return flow


def flow_between(a: Ints, b: Ints, r: Ints, c: Ints) -> Ints:
    """The number of entries along each edge (a, b) in a maximum flow: at most r from each class and c into each
    group."""
    if not len(a):
        return np.zeros(0, np.int64)
    classes, groups = len(r), len(c)
    source, sink = classes + groups, classes + groups + 1
    rows = np.concatenate([np.full(classes, source), a, np.arange(groups) + classes])
    columns = np.concatenate([np.arange(classes), b + classes, np.full(groups, sink)])
    capacity = np.concatenate([r, np.minimum(r[a], c[b]), c]).astype(np.int32)
    network = csr_array((capacity, (rows, columns)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(network, source, sink).flow
    found: Ints = np.asarray(flow[a, b + classes]).reshape(-1).astype(np.int64)
    return found


def _describe_hall_violation(candidates: Candidates, used: Ints) -> str:
    """Describe a set of entries with fewer candidates than members: those an unmatched entry can reach."""
    a, b, classes = candidates.edge_class, candidates.groups, len(candidates.class_sizes)
    sent = np.bincount(a, used, classes)
    reached = sent < candidates.class_sizes
    while True:
        touched = np.bincount(b, reached[a], len(candidates.group_sizes)) > 0
        grown = reached | (np.bincount(a, touched[b] & (used > 0), classes) > 0)
        if (grown == reached).all():
            break
        reached = grown
    members = np.flatnonzero(reached[candidates.entry_class])
    have = int(candidates.group_sizes[touched].sum())
    named = f"the {list_text([ordinal_text(int(i) + 1) for i in members])} {verb(len(members), 'entry', 'entries')}"
    lack = f"{named} have only {count_text(have, 'candidate pseudonym')} between them"
    if not have:
        lack = f"no pseudonym is possible for {named}"
    return f"no perfect matching: {lack}; widen what the attacker considers possible"


def independent_blocks(candidates: Candidates, flow: Ints) -> Iterator[Block]:
    """The independent blocks, without the edges that lie in no perfect matching."""
    classes, groups = len(candidates.indptr) - 1, len(candidates.group_sizes)
    a, b = candidates.edge_class, candidates.groups
    back = flow > 0
    rows = np.concatenate([a, b[back] + classes])
    columns = np.concatenate([b + classes, a[back]])
    size = classes + groups
    residual = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    _, component = connected_components(residual, connection="strong")
    kept = np.flatnonzero(component[a] == component[b + classes])
    order = kept[np.argsort(component[a[kept]], kind="stable")]
    starts = np.flatnonzero(np.diff(component[a[order]], prepend=-1))
    for edges in np.split(order, starts[1:]) if len(order) else []:
        yield _make_block(candidates, np.sort(edges))


def _make_block(candidates: Candidates, edges: Ints) -> Block:
    """Build one block; removing useless edges may have created more twins."""
    if len(edges) == 1:
        r, c = candidates.class_sizes[candidates.edge_class[edges]], candidates.group_sizes[candidates.groups[edges]]
        zero = np.zeros(1, np.int64)
        return Block(zero, zero, candidates.weights[edges], r, c, edges, zero)
    classes, a = np.unique(candidates.edge_class[edges], return_inverse=True)
    groups, b = np.unique(candidates.groups[edges], return_inverse=True)
    w, r, c = candidates.weights[edges], candidates.class_sizes[classes], candidates.group_sizes[groups]
    merged_a = twin_classes(a, b, w, len(classes))
    order = np.lexsort((merged_a[a], b))
    first = np.isin(a[order], np.unique(merged_a, return_index=True)[1])
    merged_b = twin_classes(b[order][first], merged_a[a[order]][first], w[order][first], len(groups))
    count = int(merged_b.max()) + 1
    keys, where, part = np.unique(merged_a[a] * count + merged_b[b], return_index=True, return_inverse=True)
    return Block(
        a=keys // count,
        b=keys % count,
        weights=w[where],
        r=np.bincount(merged_a, r).astype(np.int64),
        c=np.bincount(merged_b, c).astype(np.int64),
        edges=edges,
        part=part,
    )
