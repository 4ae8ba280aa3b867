"""What there is to say about a graph before any attack (``unveil describe``)."""

from __future__ import annotations

from math import isnan

from unveil.release.graph import Graph

__all__ = ["describe_graph"]

_EQUATION = "with 0 for unconnected pairs, which makes a graph in parts look closer"


def describe_graph(graph: Graph) -> dict[str, float | bool]:
    """Measures of the whole graph, by name. Distances in a large graph are from a sample of nodes, and called so."""
    import numpy as np

    from unveil.network.degree_chart import named_degrees
    from unveil.network.measures.graph_measures import assortativity, component_sizes, density, measure_clustering
    from unveil.network.measures.path_lengths import affordable_sources, measure_path_lengths

    without = graph.degrees == 0
    if graph.directed:
        without &= graph.in_degrees == 0
    parts, clustering = component_sizes(graph), measure_clustering(graph)
    sample = affordable_sources(graph)
    paths = measure_path_lengths(graph, rng=np.random.default_rng(0), sample=sample)
    sampled = f", from {sample} nodes drawn at random" if sample is not None else ""
    found: dict[str, float | bool] = {
        "directed": graph.directed,
        **{f"most {name} of a node": int(degrees.max()) for name, degrees in named_degrees(graph).items()},
        "nodes without edges": int(without.sum()),
        "density": density(graph),
        "connected parts": len(parts),
        "nodes in the largest part": int(parts[0]),
        "clustering, mean over all nodes": clustering.over_all,
        "clustering, share of all pairs of neighbours": clustering.of_pairs,
        "clustering, mean over nodes with two neighbours or more": clustering.over_pairs,
        f"average distance of connected pairs{sampled}": paths.over_reachable,
        f"average distance, {_EQUATION}{sampled}": paths.over_all,
        f"largest distance{sampled and ' found'}{sampled}": paths.diameter,
        "correlation of degrees at both ends of an edge": assortativity(graph),
        **_power_laws(graph),
    }
    return {name: value for name, value in found.items() if isinstance(value, bool) or not isnan(value)}


def _power_laws(graph: Graph) -> dict[str, float]:
    """What power law comes nearest to the numbers of connections, and how near."""
    from unveil.network.degree_chart import named_degrees
    from unveil.network.measures.power_law import fit_power_law

    found = dict[str, float]()
    for name, degrees in named_degrees(graph).items():
        law = fit_power_law(degrees)
        if law is not None:
            found |= {
                f"power law of {name}, exponent": law.exponent,
                f"power law of {name}, begins at": law.x_min,
                f"power law of {name}, nodes from there on": law.values,
                f"power law of {name}, largest difference of shares": law.distance,
            }
    return found
