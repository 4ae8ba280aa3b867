"""Planted nodes in released networks: how often they are found, and how fast, against subgraph searches of others.

``python benchmarks/active_attack.py`` plants 3 to 12 nodes in four public networks and in a synthetic one with a power
law of degrees, in 40 trials each, and prints how often they were recovered, with 95% intervals: by exactly one copy, as
published, and with the targets as a further test. Then how conspicuous they are (½ is hidden), how often coalitions of
members find themselves, and how often planted nodes are recovered after changes, by an exact and a tolerant search.

The search is timed against igraph, on the same planted graphs and for the same degrees: LAD (induced copies, the same
ones), on the whole graph and on the part that has the right degrees, and VF2 (all copies, also those with more links).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import data_folder, install_peer, measure_work, print_figure, run_in_process

__all__ = ["main"]

_WANTED = "igraph==1.0.0 numpy"
_TRIALS = 40
_SEED = 18
_SYNTHETIC = "100,000 nodes"
_FILES = ("Caltech36.edges.gz", "Bowdoin47.edges.gz", "power.gml", "ca-GrQc.txt")
_LARGEST_FOR_LAD = 20_000  # nodes: it keeps a matrix of all pairs

_PEER_CODE = """
import json, sys
from time import process_time
import igraph, numpy
data = numpy.load(sys.argv[1])
graph = igraph.Graph(n=int(data["nodes"]), edges=data["edges"])
pattern = igraph.Graph(n=len(data["degrees"]), edges=data["links"])
wanted, degrees = data["degrees"].tolist(), numpy.array(graph.degree())

def whole():
    domains = [numpy.flatnonzero(degrees == d).tolist() for d in wanted]
    return graph.get_subisomorphisms_lad(pattern, domains, induced=True)

def part():
    kept = numpy.flatnonzero(numpy.isin(degrees, wanted))
    small, left = graph.induced_subgraph(kept.tolist()), degrees[kept]
    domains = [numpy.flatnonzero(left == d).tolist() for d in wanted]
    return small.get_subisomorphisms_lad(pattern, domains, induced=True)

def colours():
    return graph.get_subisomorphisms_vf2(pattern, color1=degrees.tolist(), color2=wanted)

found = {}
for name in sys.argv[2:]:
    work, best = globals()[name], float("inf")
    for _ in range(4):
        start = process_time()
        found["copies of " + name] = len(work())
        best = min(best, process_time() - start)
    found[name] = best
print(json.dumps(found))
"""


def main() -> None:
    """Print the figures."""
    data = data_folder()
    sources = [_SYNTHETIC] if data is None else [*(str(data / "graphs" / name) for name in _FILES), _SYNTHETIC]
    for source in sources:
        print(f"active attack: {_name(source)}, {_TRIALS} trials, seed {_SEED}")
        _print_success(source)
        _print_others(source)
    for source in sources[:-1]:
        print(f"active attack: {_name(source)} after changes, {_TRIALS} trials, seed {_SEED}")
        _print_changed(source)
    peer = install_peer("igraph", _WANTED)
    if peer is None:
        print("  igraph could not be installed: the search is not compared")
    for source in sources if peer else []:
        _print_times(source, str(peer))


def _name(source: str) -> str:
    return Path(source).name.split(".")[0]


def _graph(source: str):  # type: ignore[no-untyped-def]
    import numpy as np

    import unveil

    if source != _SYNTHETIC:
        return unveil.read(source, kind="graph")
    rng, nodes = np.random.default_rng(0), 100_000
    degrees = np.minimum(3 * (1 - rng.random(nodes)) ** (-1 / 1.5), 2_000).astype(np.int64)  # exponent 2.5
    ends = rng.permutation(np.repeat(np.arange(nodes), degrees))
    half = len(ends) // 2
    return unveil.Graph.from_edges(ends[:half], ends[half : 2 * half], nodes=nodes)


def _range(estimate) -> str:  # type: ignore[no-untyped-def]
    return f"{estimate.value:.3f} [{estimate.interval[0]:.3f}, {estimate.interval[1]:.3f}]"


def _print_success(source: str) -> None:
    import numpy as np

    from unveil.network.active.attack import measure_active_attack

    graph = _graph(source)
    for k in range(3, 13):
        found = measure_active_attack(graph, k, _TRIALS, np.random.default_rng([_SEED, k]))
        print(
            f"  k = {k}: one copy {_range(found.single_copy)}, recovered {_range(found.recovered)}, "
            f"targets found {_range(found.targets_found)} of {found.targets}, mistaken {found.mistaken}, "
            f"links {found.links_revealed} of {found.links_among_targets}, tree {found.mean_tree_size:.0f}, "
            f"nodes of degree d(x1) {found.mean_starts:.0f}, bound {found.copy_bound:.2g}"
        )


def _print_others(source: str) -> None:
    import numpy as np

    from unveil.network.active.attack import measure_coalition_attack
    from unveil.network.active.planted_detection import measure_detection

    graph = _graph(source)
    seen = measure_detection(graph, 7, _TRIALS, np.random.default_rng(_SEED))
    print(f"  k = 7, detection: by degree {_range(seen.by_degree)}, by clustering {_range(seen.by_clustering)}")
    for k in (3, 5, 8):
        found = measure_coalition_attack(graph, k, _TRIALS, np.random.default_rng([_SEED, k]))
        print(
            f"  coalition of {k}: one copy {_range(found.single_copy)}, recovered {_range(found.recovered)}, "
            f"targets found {_range(found.targets_found)} of {found.targets}, mistaken {found.mistaken}, "
            f"cut short {found.cut_short}"
        )


def _print_changed(source: str) -> None:
    import numpy as np

    from reference.naive_active import anonymise_degrees, change_edges
    from unveil.network.active.attack import measure_active_attack
    from unveil.network.active.search import EXACT, WIDENING

    graph = _graph(source)
    changes = {
        "degrees shared by about 10": lambda graph, rng: anonymise_degrees(graph, 10, rng),
        "1% of edges removed, 1% added": lambda graph, rng: change_edges(graph, 0.01, 0.01, rng),
        "3% of edges removed, 3% added": lambda graph, rng: change_edges(graph, 0.03, 0.03, rng),
    }
    for said, publish in changes.items():
        for way, tolerances in (("exact", (EXACT,)), ("tolerant", WIDENING)):
            rng = np.random.default_rng(_SEED)
            found = measure_active_attack(graph, 10, _TRIALS, rng, tolerances=tolerances, publish=publish)
            print(
                f"  k = 10, {said}, {way}: recovered {_range(found.recovered)}, targets found "
                f"{_range(found.targets_found)}, mistaken {found.mistaken}, cut short {found.cut_short}"
            )


def _print_times(source: str, peer: str) -> None:
    for k in ("7", "12"):
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "planted.npz")
            ours = run_in_process(__file__, source, k, file)
            ways = ["part", "colours"] if ours["nodes"] > _LARGEST_FOR_LAD else ["whole", "part", "colours"]
            command = [peer, "-c", _PEER_CODE, file, *ways]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        theirs = json.loads(done.stdout.splitlines()[-1])
        same = all(theirs[f"copies of {way}"] == ours["copies"] for way in ways if way != "colours")
        print(f"active attack: search in {_name(source)}, k = {k}, {'the same' if same else 'DIFFERENT'} copies")
        for way, said in {"whole": "LAD", "part": "LAD on nodes of these degrees", "colours": "VF2"}.items():
            if way in theirs:
                print_figure(f"igraph's {said}", 1_000 * theirs[way], 1_000 * ours["cpu"], "ours", "ms CPU")


def _search(source: str, k: str, file: str) -> dict[str, float]:
    """Plant, write the planted graph for others, and search it."""
    import numpy as np

    from unveil.network.active.planted_nodes import plant_nodes
    from unveil.network.active.search import find_copies
    from unveil.release.graph import edge_endpoints

    planted = plant_nodes(_graph(source), int(k), np.random.default_rng([_SEED, int(k)]))
    links = np.argwhere(np.triu((planted.known.links[:, None] >> np.arange(int(k))) & 1))
    edges = np.stack(edge_endpoints(planted.graph), axis=1)
    np.savez(file, nodes=planted.graph.nodes, edges=edges, links=links, degrees=planted.known.degrees)
    copies = len(find_copies(planted.graph, planted.known).nodes)
    repeat = 100

    def work() -> None:
        for _ in range(repeat):
            find_copies(planted.graph, planted.known)

    took = measure_work(work)
    return {"cpu": took["cpu"] / repeat, "copies": copies, "nodes": planted.graph.nodes}


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(_search(*sys.argv[1:])))
