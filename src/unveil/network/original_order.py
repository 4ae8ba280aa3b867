"""A protected graph in the order of its original, for attacks that make random choices among its nodes.

Who knows the original compares a release with it: an attack that chooses other nodes after the protection than before
would differ by chance where the protection changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.graph import Graph, edge_endpoints
from unveil.settings import option_text
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.case import Case

__all__ = ["check_original_and_mapping", "in_original_order"]


def check_original_and_mapping(case: Case) -> None:
    """Refuse a graph of which the case does not say what became of each node of its original."""
    import numpy as np

    release, original, truth = case.release, case.original, case.truth
    if original is None and truth is None:
        return
    assert isinstance(release, Graph)
    name = safe_text(release.name)
    if not isinstance(original, Graph):
        raise UnveilError(f"{name}: give both the original graph and the mapping of its nodes")
    if original.directed != release.directed:
        raise UnveilError(
            f"{name}: the release is directed and its original is not, or the other way round; read both with "
            f"{option_text('directed')}, or both without"
        )
    if truth is None:
        return  # nodes with the same label are the same
    if len(truth) != original.nodes:
        raise UnveilError(f"{name}: the mapping must say what became of each node of the original")
    if not np.array_equal(np.unique(truth[truth >= 0]), np.arange(release.nodes)):
        raise UnveilError(f"{name}: the mapping lacks some of its nodes; check the mapping")


def in_original_order(case: Case) -> Graph:
    """The released graph with its nodes sorted by their labels in the original; as it is if there is none. Labels are
    numbers of equal length, which sort in the same order."""
    import pyarrow.compute as pc

    release, original, truth = case.release, case.original, case.truth
    assert isinstance(release, Graph)
    if original is None or truth is None:
        return release
    assert isinstance(original, Graph)
    released = truth[pc.array_sort_indices(original.labels).to_numpy()]
    place = _rank_by_first_place(released[released >= 0], release.nodes)
    sources, targets = (place[ends] for ends in edge_endpoints(release))
    digits = len(str(release.nodes))
    labels = [f"{k:0{digits}}" for k in range(release.nodes)]
    return Graph.from_edges(sources, targets, labels=labels, directed=release.directed, name=release.name)


def _rank_by_first_place(nodes: Ints, many: int) -> Ints:
    """For each of so many nodes, how many others occur before it."""
    import numpy as np

    found, first = np.unique(nodes, return_index=True)
    place = np.empty(many, np.int64)
    place[found[np.argsort(first)]] = np.arange(len(found))
    return place
