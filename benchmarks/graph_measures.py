"""Distances, clustering and fingerprints of a large network, against igraph on the same edges.

The network is synthetic: 36,371 nodes whose degrees follow a power law, 1,590,655 edges. igraph's distances are those
from 100 random nodes, scaled to all; its clustering is measured for all nodes. ``python benchmarks/graph_measures.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import install_peer, measure_work, print_figure, run_in_process

__all__ = ["main"]

_WANTED = "igraph==1.0.0 numpy"
_NODES, _EDGES, _SOURCES = 36_371, 1_590_655, 100
_LARGE_NODES, _LARGE_EDGES = 1_000_000, 3_700_000

_PEER_CODE = """
import json, sys
from time import process_time
import igraph, numpy
data = numpy.load(sys.argv[1])
graph = igraph.Graph(n=int(data["nodes"]), edges=data["edges"])

def seconds(work):
    start = process_time()
    work()
    return process_time() - start

some = numpy.random.default_rng(0).choice(graph.vcount(), int(data["sources"]), replace=False).tolist()
print(json.dumps({
    "distances": seconds(lambda: graph.distances(source=some)) * graph.vcount() / len(some),
    "clustering": seconds(lambda: graph.transitivity_local_undirected()),
    "triangles": float(sum(x for x in graph.transitivity_local_undirected(mode="zero"))),
}))
"""


def main() -> None:
    """Print the figures."""
    print(f"graph measures: {_NODES:,} nodes, {_EDGES:,} edges")
    ours = {part: run_in_process(__file__, part) for part in ("paths", "clustering", "refinement", "orbits")}
    peer = install_peer("igraph", _WANTED)
    if peer is None:
        print("  igraph could not be installed: nothing to compare with")
    else:
        with tempfile.TemporaryDirectory() as folder:
            import numpy as np

            edges = Path(folder) / "edges.npz"
            np.savez(edges, nodes=_NODES, edges=_ends(_NODES, _EDGES), sources=_SOURCES)
            done = subprocess.run([peer, "-c", _PEER_CODE, edges], capture_output=True, text=True, check=True)
        theirs = json.loads(done.stdout)
        assert abs(theirs["triangles"] - ours["clustering"]["sum"]) < 1e-6 * theirs["triangles"]
        print_figure(
            "all distances and the diameter", ours["paths"]["cpu"], theirs["distances"],
            f"igraph, {_SOURCES} nodes scaled",
        )  # fmt: skip
        print(f"    that is {theirs['distances'] / ours['paths']['cpu']:.0f} times as fast")
        print_figure("local clustering of all nodes", ours["clustering"]["cpu"], theirs["clustering"], "igraph")
    print(f"  refinement to the end {ours['refinement']['cpu']:.2f} s CPU, orbits {ours['orbits']['cpu']:.2f} s CPU")
    large = run_in_process(__file__, "large")
    print(f"  {_LARGE_NODES:,} nodes, {_LARGE_EDGES:,} edges: clustering, refinement and distances from 1,024 nodes "
          f"{large['cpu']:.1f} s CPU, {large['peak'] / 1e9:.1f} GB")  # fmt: skip


def _ends(nodes: int, edges: int):  # type: ignore[no-untyped-def]
    """So many different edges between nodes that are the more frequent the lower their number."""
    import numpy as np

    rng = np.random.default_rng(0)
    shares = (np.arange(1, nodes + 1) + 10.0) ** -0.5
    ends = np.sort(rng.choice(nodes, (edges * 5 // 4, 2), p=shares / shares.sum()), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return rng.permutation(ends)[:edges]


def _graph(nodes: int, edges: int):  # type: ignore[no-untyped-def]
    from unveil import Graph

    ends = _ends(nodes, edges)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=nodes)


def _measure_paths() -> dict[str, float]:
    from unveil.network.measures.path_lengths import measure_path_lengths

    graph = _graph(_NODES, _EDGES)
    measure_path_lengths(graph, sample=1)
    return measure_work(lambda: measure_path_lengths(graph), repeat=1)


def _measure_clustering() -> dict[str, float]:
    import numpy as np

    from unveil.network.measures.graph_measures import local_clustering

    graph = _graph(_NODES, _EDGES)
    found = float(np.nansum(local_clustering(graph)))
    return {**measure_work(lambda: local_clustering(graph), repeat=2), "sum": found}


def _measure_refinement() -> dict[str, float]:
    from unveil.network.fingerprints import refine_to_the_end

    graph = _graph(_NODES, _EDGES)
    return measure_work(lambda: refine_to_the_end(graph), repeat=1)


def _measure_orbits() -> dict[str, float]:
    from unveil.network.automorphisms import find_orbits
    from unveil.network.fingerprints import refine_to_the_end

    graph = _graph(_NODES, _EDGES)
    last = refine_to_the_end(graph)
    return measure_work(lambda: find_orbits(graph, last), repeat=1)


def _measure_large() -> dict[str, float]:
    import resource
    from time import process_time

    from unveil.network.fingerprints import refine_to_the_end
    from unveil.network.measures.graph_measures import measure_clustering
    from unveil.network.measures.path_lengths import measure_path_lengths

    graph = _graph(_LARGE_NODES, _LARGE_EDGES)
    start = process_time()
    measure_clustering(graph)
    refine_to_the_end(graph)
    measure_path_lengths(graph, sample=1_024)
    seconds = process_time() - start
    return {"cpu": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0}


JOBS = {
    "paths": _measure_paths,
    "clustering": _measure_clustering,
    "refinement": _measure_refinement,
    "orbits": _measure_orbits,
    "large": _measure_large,
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
