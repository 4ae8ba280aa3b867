"""What there is to say about a graph before any attack (``unveil describe``)."""

from __future__ import annotations

from math import isnan

from unveil.release.graph import Graph

__all__ = ["describe_graph"]

_EXACT_WORK = 5_000_000_000  # nodes × edges up to which all distances are measured
_SAMPLE = 512


def describe_graph(graph: Graph) -> dict[str, float | bool]:
    """Measures of the whole graph, by name. Distances in a large graph are from a sample of nodes, and called so."""
    import numpy as np

    from unveil.network.graph_measures import assortativity, component_sizes, density, measure_clustering
    from unveil.network.path_lengths import measure_path_lengths
    from unveil.network.power_law import fit_power_law

    without = graph.degrees == 0
    if graph.directed:
        without &= graph.in_degrees == 0
    parts, clustering = component_sizes(graph), measure_clustering(graph)
    is_sample = graph.nodes * (graph.nodes + len(graph.neighbours)) > _EXACT_WORK
    paths = measure_path_lengths(graph, rng=np.random.default_rng(0), sample=_SAMPLE if is_sample else None)
    sampled = f", from {_SAMPLE} nodes drawn at random" if is_sample else ""
    law = fit_power_law(graph.degrees)
    found: dict[str, float | bool] = {
        "directed": graph.directed,
        "largest degree": int(graph.degrees.max()),
        "nodes without edges": int(without.sum()),
        "density": density(graph),
        "connected parts": len(parts),
        "nodes in the largest part": int(parts[0]),
        "clustering, mean over all nodes": clustering.over_all,
        "clustering, share of all pairs of neighbours": clustering.of_pairs,
        "clustering, mean over nodes with two neighbours or more": clustering.over_pairs,
        f"average distance of connected pairs{sampled}": paths.over_reachable,
        f"average distance, counting unconnected pairs as 0{sampled}": paths.over_all,
        f"largest distance{sampled and ' found'}{sampled}": paths.diameter,
        "correlation of degrees at both ends of an edge": assortativity(graph),
    }
    if law is not None:
        found |= {"power-law exponent of degrees": law.exponent, "power law begins at degree": law.x_min}
    return {name: value for name, value in found.items() if isinstance(value, bool) or not isnan(value)}
