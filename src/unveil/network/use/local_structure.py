"""What becomes of connections, of how many each node has, and of triangles.

- **Connections**: the Jaccard index |E ∩ Ê| / |E ∪ Ê| of the edges before and after.
- **Numbers of connections**: ½ Σ|d̂(v) − d(v)| over all nodes, the fewest edges to add or remove for such a change,
  because each of them changes two degrees by one (equation 9.1 of Vanhoef, *Privacy in databases*, 2012). In a directed
  graph both directions are added up. A node that is not in a graph has no connections there.
- **Density**, **clustering** (equations 7.1 and 7.2, numbered so there) and the exponent of the nearest **power law**,
  fitted to both graphs from the same number of connections on; that from 3 on is the one of section 9.8 there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.arrays import Ints
from unveil.network.compared_graphs import ComparedGraphs, compare_edges, measure_both
from unveil.network.measures.graph_measures import density, measure_clustering
from unveil.network.measures.power_law import fit_power_law
from unveil.network.use.change_text import change_measure
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.usefulness.use_measure import UseMeasure
from unveil.wording import count_text, number_text, percent_text

__all__ = [
    "clustering_use",
    "connection_use",
    "degree_distance",
    "degree_use",
    "density_use",
    "power_law_use",
    "published_exponent_use",
]

_PUBLISHED_START = 3


def connection_use(compared: ComparedGraphs) -> Iterator[UseMeasure]:
    """How many connections are the same, and how many were added and removed."""
    changes = compare_edges(compared)
    added, removed = int(changes.added.sum()), int(changes.removed.sum())
    edges = compared.original.edges
    if added or removed:
        share = percent_text(changes.jaccard)
        said = f"Of the connections before or after protection, {share} are in both."
    elif edges == 0:
        said = "There are no connections, before or after protection."
    else:
        said = f"{'The only connection is' if edges == 1 else f'All {edges:,} connections are'} as before."
    yield UseMeasure("connections", "Connections in both", 1.0, changes.jaccard, said, is_comparison=True)
    for change, count in (("added", added), ("removed", removed)):
        what = f"{count_text(count, 'connection was', 'connections were') if count else 'No connection was'} {change}."
        title = f"Connections {change}"
        yield UseMeasure(change, title, 0.0, float(count), what, is_share=False, is_comparison=True)


def degree_distance(compared: ComparedGraphs) -> tuple[int, int]:
    """Half the sum of all changes of degrees, and of how many nodes a degree changes.

    >>> from unveil.network.compared_graphs import compare_graphs
    >>> before, after = Graph.from_edges([0, 1], [1, 2], nodes=3), Graph.from_edges([0, 0], [1, 2], nodes=3)
    >>> degree_distance(compare_graphs(before, after, np.arange(3)))
    (1, 2)
    """
    changes = [_changes(compared, compared.original.degrees, compared.released.degrees)]
    if compared.original.directed:
        changes.append(_changes(compared, compared.original.in_degrees, compared.released.in_degrees))
    total: Ints = np.sum(changes, axis=0)
    return int(total.sum()) // 2, int((total > 0).sum())


def _changes(compared: ComparedGraphs, was: Ints, now: Ints) -> Ints:
    """How far the number of each node moves, those that were added last."""
    kept = compared.place >= 0
    of_kept = np.zeros(len(was), np.int64)
    of_kept[kept] = now[compared.place[kept]]
    is_new = np.ones(len(now), np.bool_)
    is_new[compared.place[kept]] = False
    return np.append(np.abs(of_kept - was), now[is_new])


def degree_use(compared: ComparedGraphs) -> UseMeasure:
    """How far nodes' numbers of connections move."""
    distance, changed = degree_distance(compared)
    edges = compared.original.edges
    directed = compared.original.directed
    if distance:
        share = f" ({_share_text(distance / edges)} the {edges:,} there were)" if edges else ""
        ways = "outgoing or incoming connections" if directed else "connections"
        said = (
            f"{count_text(changed, 'node has', 'nodes have')} more or fewer {ways} than before; for that, at least "
            f"{count_text(distance, 'connection')} must be added or removed{share}."
        )
    else:
        ways = "outgoing and incoming connections" if directed else "connections"
        said = f"Every node has as many {ways} as before."
    return UseMeasure(
        "degrees", "Numbers of connections off by", 0.0, distance, said, is_share=False, is_comparison=True
    )


def _share_text(share: float) -> str:
    return f"{percent_text(share)} of" if share <= 1 else f"{number_text(share)} times"


def density_use(compared: ComparedGraphs) -> list[UseMeasure]:
    """How many of the possible connections there are."""
    numbers = density(compared.original), density(compared.released)
    what = "The share of all possible connections that exist"
    return change_measure("density", "Density", numbers, what, "there are no two nodes", _small_percent, is_share=True)


def _small_percent(share: float) -> str:
    """A share in percent, however small it is."""
    return f"{number_text(100 * share)}%"


def power_law_use(compared: ComparedGraphs, run: Run) -> list[UseMeasure]:
    """Whether the same power law is nearest to the numbers of connections."""
    was = run.once(
        ("network.use", "power law", compared.original.digest), lambda: fit_power_law(_connections(compared.original))
    )
    if was is None:
        return []
    now = fit_power_law(_connections(compared.released), was.x_min)
    numbers = was.exponent, float("nan") if now is None else now.exponent
    what = f"The exponent of the power law nearest to the numbers of connections, from {was.x_min:,} on,"
    return change_measure("power_law", "Exponent of the power law", numbers, what, "none can be fitted")


def published_exponent_use(compared: ComparedGraphs, run: Run) -> list[UseMeasure]:
    """The exponent as published comparisons of protections give it: from the same small number of connections on."""

    def exponent(graph: Graph) -> float:
        law = fit_power_law(_connections(graph), _PUBLISHED_START)
        return float("nan") if law is None else law.exponent

    numbers = measure_both(compared, "exponent from 3", exponent, run)
    what = f"The exponent of the power law for the numbers of connections from {_PUBLISHED_START} on"
    title = f"Exponent from {_PUBLISHED_START} connections on"
    return change_measure("power_law_3", title, numbers, what, "none can be fitted")


def _connections(graph: Graph) -> Ints:
    """How many connections each node has, in either direction."""
    return graph.degrees + graph.in_degrees if graph.directed else graph.degrees


def clustering_use(compared: ComparedGraphs, run: Run) -> Iterator[UseMeasure]:
    """How likely two neighbours of a node are connected."""
    was, now = measure_both(compared, "clustering", lambda graph: measure_clustering(graph, run), run)
    what = (
        "The share of the pairs of a node's neighbours that are connected, averaged over nodes (0 with fewer than two "
        "neighbours),"
    )
    numbers = was.over_all, now.over_all
    yield from change_measure("clustering", "Clustering", numbers, what, "", percent_text, is_share=True)
    what, why_none = "The share of all pairs of neighbours of a node that are connected", "no node has two neighbours"
    numbers, title = (was.of_pairs, now.of_pairs), "Connected pairs of neighbours"
    yield from change_measure("clustering_pairs", title, numbers, what, why_none, percent_text, is_share=True)
