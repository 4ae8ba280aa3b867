"""All measures of what a protected graph can still be used for.

Where several nodes became one, only measures of the whole graph are left.
"""

from __future__ import annotations

from collections.abc import Iterator

from unveil.case import Case
from unveil.network.compared_graphs import compare_graphs
from unveil.network.use.edge_plausibility import plausibility_use
from unveil.network.use.global_structure import community_use, distance_use, page_rank_use, spectrum_use
from unveil.network.use.local_structure import (
    clustering_use,
    connection_use,
    degree_use,
    density_use,
    power_law_use,
    published_exponent_use,
)
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.usefulness.use_measure import UseMeasure

__all__ = ["measure_graph_use"]


def measure_graph_use(before: Case, after: Case, run: Run) -> Iterator[UseMeasure]:
    """What a protected graph can still be used for, beside the graph as it was."""
    original, released, truth = before.release, after.release, after.truth
    assert isinstance(original, Graph) and isinstance(released, Graph) and truth is not None
    run.progress("measuring what the network can still be used for", None)
    compared = compare_graphs(original, released, truth)
    if compared.is_one_to_one:
        yield from connection_use(compared)
        yield degree_use(compared)
        yield from plausibility_use(compared, run)
    yield from density_use(compared)
    yield from clustering_use(compared, run)
    yield from distance_use(compared, run)
    yield from community_use(compared, run)
    if compared.is_one_to_one:
        yield page_rank_use(compared, run)
    yield spectrum_use(compared, run)
    yield from power_law_use(compared, run)
    yield from published_exponent_use(compared, run)
