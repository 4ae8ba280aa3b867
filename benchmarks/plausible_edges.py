"""Do added edges look like real ones, and what does it cost to choose them so?

``python benchmarks/plausible_edges.py`` makes public networks k-degree anonymous, once as edges come and once with
added edges moved to where they are plausible, and prints for both: how many edges change, how well someone tells added
edges from real ones (AUC of the better of two scores, from its better end; guessing: 50%), clustering, average path
length, agreement of communities with those of the original (mean adjusted Rand index; in the first row, of the original
with itself), the share of edges in both networks, and seconds of CPU.
"""

from __future__ import annotations

from contextlib import nullcontext
from time import process_time
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from _measure import data_folder

if TYPE_CHECKING:
    from unveil import Graph
    from unveil.network.protections.degree_completion import AnonymisedGraph

__all__ = ["main"]

_FILES = {"Caltech": "Caltech36.edges.gz", "Bowdoin": "Bowdoin47.edges.gz", "power grid": "power.gml"}
_KS = (5, 25, 100)


def main() -> None:
    """Print the figures."""
    import unveil

    data = data_folder()
    if data is None:
        return
    for name, file in _FILES.items():
        graph = unveil.read(data / "graphs" / file, kind="graph")
        assert isinstance(graph, unveil.Graph)
        print(f"{name}: {graph.nodes:,} nodes, {graph.edges:,} edges")
        print("  edges changed | AUC | clustering | path length | communities | edges in both | s CPU")
        print(f"  original: {_use_text(graph, graph)}")
        for additions_only in (False, True):
            for k in _KS:
                for is_moved in (False, True):
                    start = process_time()
                    made = _anonymise(graph, k, additions_only, is_moved)
                    seconds = process_time() - start
                    kind = "additions only" if additions_only else "both kinds"
                    said = f"{kind}, k = {k}, {'moved' if is_moved else 'as they come'}: {made.changes:,}"
                    print(f"  {said} | {_auc_text(graph, made.graph)} | {_use_text(graph, made.graph)} | {seconds:.2f}")


def _anonymise(graph: Graph, k: int, additions_only: bool, is_moved: bool) -> AnonymisedGraph:
    from unveil.network.protections import degree_completion
    from unveil.run import Run

    keep = patch.object(degree_completion, "move_to_plausible", lambda graph, changed, run: changed)
    with nullcontext() if is_moved else keep:
        return degree_completion.anonymise_graph(graph, k, Run(), additions_only)


def _auc_text(graph: Graph, made: Graph) -> str:
    from unveil.network.use.edge_plausibility import fake_edge_auc

    found = fake_edge_auc(graph, made, np.arange(graph.nodes))
    return "nothing added" if found is None else f"{found.auc:.3f}"


def _use_text(graph: Graph, made: Graph) -> str:
    from unveil import Case
    from unveil.network.use.measure import measure_graph_use
    from unveil.run import Run

    found = {m.id: m.after for m in measure_graph_use(Case(graph), Case(made, graph, np.arange(graph.nodes)), Run())}
    names = ("clustering", "distance", "communities", "connections")
    return " | ".join("–" if found.get(name) is None else f"{found[name]:.4f}" for name in names)


if __name__ == "__main__":
    main()
