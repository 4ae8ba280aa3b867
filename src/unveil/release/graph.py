"""Who is connected with whom.

A release of a network is a *graph*: nodes, named by labels and numbered 0 … n − 1, and edges between them. It is
simple: no loops, no duplicate edges (in an undirected graph a–b and b–a are the same edge); what was dropped is said in
``notes``. The neighbours of node ``v``, in rising order, are ``neighbours[indptr[v] : indptr[v + 1]]``. An undirected
edge lies in both rows, a directed one in the row of its source.

The file formats stand beside this file: ``edges.py``, ``gml.py``, ``graphml.py`` and ``matrix_market.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from unveil.errors import UnveilError
from unveil.wording import counted, shown

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["Graph", "distinct", "each_edge", "simple_graph"]


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

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    directed: bool
    labels: pa.Array
    name: str
    digest: str
    notes: tuple[str, ...] = ()

    kind: ClassVar[str] = "graph"

    def __post_init__(self) -> None:
        import numpy as np

        from unveil.release.text import frozen

        object.__setattr__(self, "indptr", frozen(self.indptr, np.int64))
        object.__setattr__(self, "neighbours", frozen(self.neighbours, np.int32))

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
        if len(sources) != len(targets):
            raise UnveilError(f"{shown(name)}: as many sources as targets are needed, one of each for an edge")
        if labels is None and nodes is None:
            return _from_labels([*map(str, sources), *map(str, targets)], directed, name)
        texts = _checked_labels(labels, nodes, shown(name))
        places = [_checked_places(ends, len(texts), shown(name)) for ends in (sources, targets)]
        return simple_graph(places[0], places[1], texts, directed, name, None)

    @classmethod
    def from_networkx(cls, graph: Any, name: str = "graph") -> Graph:
        """A graph from networkx or whatever has its ``nodes()``, ``edges()`` and ``is_directed()``."""
        import numpy as np

        try:
            index = {node: k for k, node in enumerate(graph.nodes())}
            ends = np.array([[index[u], index[v]] for u, v, *_ in graph.edges()], np.int32).reshape(-1, 2)
            directed = bool(graph.is_directed())
        except (AttributeError, TypeError):
            raise UnveilError(f"{shown(name)}: a networkx graph is expected; use Graph.from_edges for arrays") from None
        texts, notes = distinct([str(node) for node in index], [str(k) for k in range(len(index))], shown(name))
        return simple_graph(ends[:, 0], ends[:, 1], texts, directed, name, None, notes)

    @property
    def size(self) -> Mapping[str, int]:
        """How much there is."""
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
    def degrees(self) -> NDArray[np.int64]:
        """For each node the number of its neighbours; in a directed graph, of those it points to."""
        import numpy as np

        return np.diff(self.indptr)

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        """For each node the number of those that point to it; the degree in an undirected graph."""
        import numpy as np

        return np.bincount(self.neighbours, minlength=self.nodes).astype(np.int64, copy=False)

    def __repr__(self) -> str:
        how = "directed" if self.directed else "undirected"
        size = f"{how}, {counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}"
        return "\n  ".join([f"Graph {shown(self.name)}", size, *self.notes])


def simple_graph(
    sources: NDArray[Any],
    targets: NDArray[Any],
    labels: pa.Array,
    directed: bool,
    name: str,
    digest: str | None,
    notes: tuple[str, ...] = (),
    empty: str = "no nodes; add at least one",
) -> Graph:
    """The simple graph of these edges; what was dropped is noted. Without a digest it is taken over the content."""
    import numpy as np

    from unveil.release import _kernels, text

    if len(labels) == 0:
        raise UnveilError(f"{shown(name)}: {empty}")
    ends = text.frozen(sources, np.int32), text.frozen(targets, np.int32)
    indptr, neighbours, loops = _kernels.adjacency(*ends, len(labels), not directed)
    duplicates = len(sources) - loops - len(neighbours) // (1 if directed else 2)
    if loops:
        notes += (f"{counted(loops, 'loop')} dropped",)
    if duplicates:
        notes += (f"{counted(duplicates, 'duplicate edge')} dropped",)
    digest = digest or text.fingerprint(labels, indptr, neighbours, np.array([directed]))
    return Graph(indptr, neighbours, directed, labels, name, digest, notes)


def _from_labels(ends: list[str], directed: bool, name: str) -> Graph:
    from unveil.release import text

    codes, labels = text.encoded(text.strings(ends, shown(name)))
    return simple_graph(codes[: len(ends) // 2], codes[len(ends) // 2 :], labels, directed, name, None)


def _checked_labels(labels: Iterable[str] | None, nodes: int | None, name: str) -> pa.Array:
    from unveil.release.text import strings

    texts = [str(k) for k in range(nodes or 0)] if labels is None else [str(label) for label in labels]
    if len(set(texts)) < len(texts):
        raise UnveilError(f"{name}: two nodes have the same label; make labels distinct")
    if nodes is not None and nodes != len(texts):
        raise UnveilError(f"{name}: {counted(len(texts), 'label')} for {counted(nodes, 'node')}; give one for each")
    return strings(texts, name)


def _checked_places(ends: Sequence[Any] | NDArray[Any], nodes: int, name: str) -> NDArray[Any]:
    import numpy as np

    places = np.asarray(ends)
    if len(places) == 0:
        return np.empty(0, np.int32)
    if places.ndim != 1 or not np.issubdtype(places.dtype, np.integer):
        raise UnveilError(f"{name}: with labels or nodes given, the ends of edges are their positions, whole numbers")
    if int(places.min()) < 0 or int(places.max()) >= nodes:
        raise UnveilError(f"{name}: an edge ends at a position outside 0 … {nodes - 1}; check nodes or labels")
    return places


def distinct(names: list[str], ids: list[str], name: str) -> tuple[pa.Array, tuple[str, ...]]:
    """Names as labels if they tell all nodes apart, else ids."""
    from unveil.release.text import strings

    if len(set(names)) == len(names):
        return strings(names, name), ()
    return strings(ids, name), ("labels repeat, ids used instead",)


def each_edge(graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sources and targets, an undirected edge once."""
    import numpy as np

    sources = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.degrees)
    once = slice(None) if graph.directed else sources < graph.neighbours
    return sources[once], graph.neighbours[once]
