"""A network: who is connected with whom.

A release of a network is a *graph*: nodes, named by labels and numbered 0 … n − 1, and edges between them. It is
simple, without loops or duplicate edges (in an undirected graph a–b and b–a are the same edge), and holds neither
weights nor attributes; ``notes`` say what was left out. The neighbours of node ``v``, in rising order, are
``neighbours[indptr[v] : indptr[v + 1]]``. An undirected edge is in both rows, a directed one in the row of its source.
``edge_sequence`` holds the ends of each edge in the order in which they are written; without one, edges are sorted.

The file formats are in ``edge_list.py``, ``gml.py``, ``graphml.py`` and ``matrix_market.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from unveil.errors import UnveilError
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from unveil.arrays import Int32s, Ints

__all__ = ["REPEATED_LABELS", "Graph", "attribute_notes", "edge_endpoints", "edges_in_sequence", "simple_graph"]

REPEATED_LABELS = "labels repeat, so ids are used instead"


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A release of a network.

    >>> g = Graph.from_edges(["ann", "bob", "ann"], ["bob", "cay", "ann"], name="friends")
    >>> g
    Graph friends
      undirected, 3 nodes, 2 edges
      1 loop dropped
    >>> g.degrees.tolist()
    [1, 2, 1]
    """

    indptr: Ints
    neighbours: Int32s
    directed: bool
    labels: pa.Array
    name: str
    digest: str
    notes: tuple[str, ...] = ()
    edge_sequence: Int32s | None = None

    kind: ClassVar[str] = "graph"

    def __post_init__(self) -> None:
        import numpy as np

        from unveil.release.text_tokens import freeze_array

        object.__setattr__(self, "indptr", freeze_array(self.indptr, np.int64))
        object.__setattr__(self, "neighbours", freeze_array(self.neighbours, np.int32))

    @classmethod
    def from_edges(
        cls,
        sources: Sequence[Any] | NDArray[Any],
        targets: Sequence[Any] | NDArray[Any],
        labels: Iterable[str] | None = None,
        nodes: int | None = None,
        directed: bool = False,
        name: str = "graph",
    ) -> Graph:
        """A graph from its edges.

        With ``labels`` or the number of ``nodes``, sources and targets are positions 0 … n − 1; otherwise they are
        labels themselves.
        """
        import numpy as np

        if len(sources) != len(targets):
            raise UnveilError(
                f"{safe_text(name)}: {count_text(len(sources), 'source')} but {count_text(len(targets), 'target')}; "
                "give one of each per edge"
            )
        if labels is None and nodes is None:
            return _graph_from_labels([*map(str, sources), *map(str, targets)], directed, name)
        texts = _check_labels(labels, nodes, safe_text(name))
        places = [_check_positions(ends, len(texts), safe_text(name)) for ends in (sources, targets)]
        return simple_graph(np.stack(places, axis=1).astype(np.int32).reshape(-1), texts, directed, name, None)

    @classmethod
    def from_networkx(cls, graph: Any, name: str = "graph") -> Graph:
        """A graph from networkx, or from any object with ``nodes()``, ``edges()`` and ``is_directed()``."""
        import numpy as np

        from unveil.release.text_tokens import label_array

        try:
            index = {node: k for k, node in enumerate(graph.nodes())}
            ends = np.array([[index[u], index[v]] for u, v, *_ in graph.edges()], np.int32).reshape(-1, 2)
            directed = bool(graph.is_directed())
        except (AttributeError, TypeError):
            raise UnveilError(f"{safe_text(name)}: not a networkx graph; use Graph.from_edges for arrays") from None
        texts, notes = [str(node) for node in index], _networkx_notes(graph)
        if len(set(texts)) < len(texts):
            texts, notes = [str(k) for k in range(len(index))], (*notes, REPEATED_LABELS)
        return simple_graph(ends.reshape(-1), label_array(texts, safe_text(name)), directed, name, None, notes)

    @property
    def size(self) -> Mapping[str, int]:
        """The number of nodes and edges."""
        return {"nodes": self.nodes, "edges": self.edges}

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self.neighbours) if self.directed else len(self.neighbours) // 2

    @cached_property
    def degrees(self) -> Ints:
        """The number of neighbours of each node; in a directed graph, of those it points to."""
        import numpy as np

        return np.diff(self.indptr)

    @cached_property
    def in_degrees(self) -> Ints:
        """The number of nodes that point to each node; in an undirected graph, the degree."""
        import numpy as np

        return np.bincount(self.neighbours, minlength=self.nodes).astype(np.int64, copy=False)

    def __repr__(self) -> str:
        how = "directed" if self.directed else "undirected"
        size = f"{how}, {count_text(self.nodes, 'node')}, {count_text(self.edges, 'edge')}"
        return "\n  ".join([f"Graph {safe_text(self.name)}", size, *self.notes])


def attribute_notes(of_nodes: bool, of_edges: bool) -> tuple[str, ...]:
    """What to say about attributes, which a graph does not hold."""
    notes = ("attributes of nodes are left out",) if of_nodes else ()
    return (*notes, "attributes of edges, such as weights, are left out") if of_edges else notes


def _networkx_notes(graph: Any) -> tuple[str, ...]:
    """What to say about the attributes of an object that may know none."""
    try:
        nodes, edges = graph.nodes(data=True), graph.edges(data=True)
    except (TypeError, ValueError):
        return ()
    return attribute_notes(any(data for _, data in nodes), any(data for *_, data in edges))


def simple_graph(
    ends: NDArray[Any],
    labels: pa.Array,
    directed: bool,
    name: str,
    digest: str | None,
    notes: tuple[str, ...] = (),
    empty: str = "there are no nodes; add at least one",
) -> Graph:
    """The simple graph of these edges, with notes on what was dropped. Without a digest, the content is hashed.

    ``ends`` are the source and the target of each edge, one after another, and are changed: sorting the edges where
    they are takes no further memory.
    """
    import numpy as np

    from unveil.release import _kernels, text_tokens

    if len(labels) == 0:
        raise UnveilError(f"{safe_text(name)}: {empty}")
    edges = ends.view(np.int64)
    loops = len(edges) - (kept := _kernels.pack_edges(ends, edges, directed))
    edges = edges[:kept]
    edges.sort()
    duplicates = kept - (kept := _kernels.drop_repeats(edges))
    indptr, neighbours = np.zeros(len(labels) + 1, np.int64), np.empty(kept if directed else 2 * kept, np.int32)
    _kernels.build_adjacency(edges[:kept], not directed, indptr, neighbours)
    if loops:
        notes += (f"{count_text(loops, 'loop')} dropped",)
    if duplicates:
        notes += (f"{count_text(duplicates, 'duplicate edge')} dropped",)
    digest = digest or text_tokens.content_digest(labels, indptr, neighbours, np.array([directed]))
    return Graph(indptr, neighbours, directed, labels, name, digest, notes)


def _graph_from_labels(ends: list[str], directed: bool, name: str) -> Graph:
    from unveil.release import text_tokens

    codes, labels = text_tokens.encode_texts([text_tokens.label_array(ends, safe_text(name))], by_appearance=True)
    return simple_graph(codes.reshape(2, -1).T.flatten(), labels, directed, name, None)


def _check_labels(labels: Iterable[str] | None, nodes: int | None, name: str) -> pa.Array:
    from unveil.release.text_tokens import label_array

    texts = [str(k) for k in range(nodes or 0)] if labels is None else [str(label) for label in labels]
    if len(set(texts)) < len(texts):
        raise UnveilError(f"{name}: two nodes have the same label; make the labels distinct")
    if nodes is not None and nodes != len(texts):
        raise UnveilError(
            f"{name}: {count_text(len(texts), 'label')} for {count_text(nodes, 'node')}; give one for each"
        )
    return label_array(texts, name)


def _check_positions(ends: Sequence[Any] | NDArray[Any], nodes: int, name: str) -> NDArray[Any]:
    import numpy as np

    places = np.asarray(ends)
    if len(places) == 0:
        return np.empty(0, np.int32)
    if places.ndim != 1 or not np.issubdtype(places.dtype, np.integer):
        raise UnveilError(
            f"{name}: the ends of edges are not whole numbers; give positions, or leave out labels and nodes"
        )
    if int(places.min()) < 0 or int(places.max()) >= nodes:
        raise UnveilError(f"{name}: an edge ends at a position outside 0 … {nodes - 1}; check nodes or labels")
    return places


def edge_endpoints(graph: Graph) -> tuple[Int32s, Int32s]:
    """The sources and targets of all edges, each undirected edge once."""
    import numpy as np

    sources = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.degrees)
    once = slice(None) if graph.directed else sources < graph.neighbours
    return sources[once], graph.neighbours[once]


def edges_in_sequence(graph: Graph) -> tuple[Int32s, Int32s]:
    """The sources and targets of all edges as they are written."""
    if graph.edge_sequence is None:
        return edge_endpoints(graph)
    return graph.edge_sequence[:, 0], graph.edge_sequence[:, 1]
