"""A protected graph beside its original, for attacks that make random choices among its nodes.

Who knows the original compares a release with it: an attack that chooses other nodes after the protection than before
would differ by chance where the protection changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.graph import Graph
from unveil.settings import option_text
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.case import Case
    from unveil.network.compared_graphs import ComparedGraphs

__all__ = ["check_original_and_mapping", "compare_with_release", "same_labels"]


def check_original_and_mapping(case: Case) -> None:
    """Refuse a graph of which the case does not say what became of each node of its original."""
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
    if truth is not None and len(truth) != original.nodes:
        raise UnveilError(f"{name}: the mapping must say what became of each node of the original")


def compare_with_release(case: Case) -> ComparedGraphs:
    """The original and what was released of it, with nodes in the order of their labels in the original; twice the
    release if the case has no original."""
    import numpy as np

    from unveil.network.compared_graphs import compare_graphs

    release, original, truth = case.release, case.original, case.truth
    assert isinstance(release, Graph)
    if original is None:
        return compare_graphs(release, release, np.arange(release.nodes))
    assert isinstance(original, Graph)
    return compare_graphs(original, release, same_labels(original, release) if truth is None else truth)


def same_labels(original: Graph, release: Graph) -> Ints:
    """For each node of the original, the node of the release with the same label, or −1."""
    import numpy as np
    import pyarrow.compute as pc

    places = pc.index_in(original.labels, value_set=release.labels)
    return np.asarray(places.fill_null(-1), np.int64)
