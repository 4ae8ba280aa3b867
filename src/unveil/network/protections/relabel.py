"""New names and a new order for the nodes of a graph: what is published never says who a node is, or who came first.

Every other protection changes edges between nodes that keep their positions; this one is the last step of each of them,
and the first one that is offered (naive anonymisation: L. Backstrom, C. Dwork, J. Kleinberg, *Wherefore art thou
R3579X?*, WWW 2007, show how little it is worth by itself). All randomness comes from the operating system: from a known
seed anyone could compute the names back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unveil.release.graph import Graph, edge_endpoints, simple_graph
from unveil.secret_order import secret_coins, secret_permutation

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Ints

__all__ = ["fresh_labels", "relabel_graph"]

_LETTER = "n"


def relabel_graph(graph: Graph) -> tuple[Graph, Ints]:
    """The graph with random numbers for labels and its edges in random order, an undirected edge beginning at either
    end; and the new position of each node."""
    place = secret_permutation(graph.nodes)
    ends = np.stack([place[nodes] for nodes in edge_endpoints(graph)], axis=1).astype(np.int32)
    sequence = ends[secret_permutation(len(ends))]
    if not graph.directed:
        turned = secret_coins(len(sequence))
        sequence[turned] = sequence[turned, ::-1]
    sequence.setflags(write=False)
    labels = fresh_labels(graph.labels)
    made = simple_graph(ends.reshape(-1), labels, graph.directed, graph.name, None)
    return Graph(made.indptr, made.neighbours, made.directed, labels, made.name, made.digest, (), sequence), place


def fresh_labels(labels: pa.Array) -> pa.Array:
    """As many labels that none of these is equal to: 1, 2, 3 …, or n1, n2, n3 …, or nn1, nn2 …"""
    import pyarrow as pa
    import pyarrow.compute as pc

    fresh = pa.array(np.arange(1, len(labels) + 1)).cast(pa.string())
    while pc.any(pc.is_in(fresh, value_set=labels.cast(pa.string()))).as_py():
        fresh = pc.binary_join_element_wise(_LETTER, fresh, "")
    return fresh
