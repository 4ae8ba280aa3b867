"""How many edges change when a network is made k-degree anonymous, and how long that takes.

Edges are counted beside two lower bounds: half the distance to the nearest k-anonymous degrees, which no method can be
below, and the bound for the degrees that were chosen. The large networks are synthetic: degrees follow a power law.
Seconds are those of the CPU, with kernels compiled beforehand; the last figure is compared with the time to read the
same network from a file. ``python benchmarks/protect_graphs.py``.

The published methods run beside ours on two networks, with a limit on their seconds: ``python
benchmarks/protect_graphs.py against-published`` prints that alone.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from _measure import data_folder, measure_work, peak_memory, print_figure, run_in_process

if TYPE_CHECKING:
    from unveil import Graph
    from unveil.arrays import Ints

__all__ = ["main"]

_FILES = {"Caltech": "Caltech36.edges.gz", "Bowdoin": "Bowdoin47.edges.gz", "power grid": "power.gml"}
_SIZES = ((36_371, 1_590_655), (1_000_000, 3_950_000))
_KS = (5, 25, 100)
_LARGE_K = 50
_COMPARED_K = 25
_MOST_SECONDS = 600  # of CPU for one run of a published method
_PUBLISHED = {
    "SuperGraph, scheme 1": ("supergraph", 1, "additions"),
    "SuperGraph, scheme 4": ("supergraph", 4, "additions"),
    "Relaxed, scheme 4": ("relaxed_graph", 4, "both"),
    "SimulSwap, scheme 4": ("simultaneous_swap_graph", 4, "both"),
}
"""What is compared with which kind of ours: a method that only adds edges with the kind that only adds them."""


def main() -> None:
    """Print the figures."""
    print("protect_graphs: k-degree anonymity")
    data = data_folder()
    if data is not None:
        for name, file in _FILES.items():
            _print_changes(name, str(data / "graphs" / file))
    with tempfile.TemporaryDirectory() as folder:
        for nodes, edges in _SIZES:
            path = Path(folder) / f"{nodes}.edges"
            _write_edges(path, nodes, edges)
            _print_changes(f"{nodes:,} nodes, {edges:,} edges", str(path))
        _print_against_published(Path(folder))
        reading = run_in_process(__file__, "reading", str(path))
        for kind in ("both", "additions"):
            found = run_in_process(__file__, kind, str(path), str(_LARGE_K))
            print_figure(f"k = {_LARGE_K}, {kind}", found["cpu"], reading["cpu"], "reading the file", goal=5)
            print(f"    {found['memory']:.0f} MB; {reading['memory']:.0f} MB to read it")


def _print_changes(name: str, path: str) -> None:
    print(f"  {name}")
    for kind, title in (("both", "additions and deletions"), ("additions", "additions only")):
        found = run_in_process(__file__, kind, path, *map(str, _KS))
        for k in _KS:
            changes, half, chosen = (int(found[f"{what} {k}"]) for what in ("changes", "half", "chosen"))
            print(
                f"    {title}, k = {k}: {changes:,} edges ({changes / half:.3f} × ½·L1 = {half:,}; "
                f"{changes / chosen:.3f} × {chosen:,}, the bound for its degrees), {found[f'cpu {k}']:.2f} s CPU"
            )


def _print_against_published(folder: Path) -> None:
    """Seconds and edges changed beside those of the published methods, on Bowdoin and the smaller synthetic network."""
    nodes, edges = _SIZES[0]
    synthetic = folder / f"{nodes}.edges"
    if not synthetic.exists():
        _write_edges(synthetic, nodes, edges)
    paths = {f"{nodes:,} nodes, {edges:,} edges": str(synthetic)}
    if (data := data_folder()) is not None:
        paths = {"Bowdoin": str(data / "graphs" / _FILES["Bowdoin"]), **paths}
    for name, path in paths.items():
        print(f"  {name}, k = {_COMPARED_K}, beside the published methods (one run each)", flush=True)
        k = str(_COMPARED_K)
        ours = {kind: run_in_process(__file__, kind, path, k) for kind in ("both", "additions")}
        for title, (method, scheme, kind) in _PUBLISHED.items():
            own = ours[kind]
            try:
                found = run_in_process(__file__, "published", path, k, method, str(scheme))
            except subprocess.CalledProcessError:
                print(f"    {title}: no result within {_MOST_SECONDS} s CPU; ours {own['cpu']:.2f} s CPU", flush=True)
                continue
            changes, less = own[f"changes {k}"], found["changes"]
            print(
                f"    {title} ({found['probes']:,.0f} probes): {found['cpu'] / own['cpu']:.0f} × our seconds "
                f"({found['cpu']:.2f} against {own['cpu']:.3f} s CPU), {less / changes:.2f} × our changed edges "
                f"({less:,.0f} against {changes:,.0f}, {'additions only' if kind == 'additions' else 'both kinds'})",
                flush=True,
            )


def _write_edges(path: Path, nodes: int, edges: int) -> None:
    import numpy as np

    np.savetxt(path, _power_law_ends(nodes, edges), fmt="%d")


def _power_law_ends(nodes: int, edges: int) -> Ints:
    """So many different edges between nodes that are the more frequent the lower their number."""
    import numpy as np

    rng = np.random.default_rng(0)
    shares = (np.arange(1, nodes + 1) + 10.0) ** -0.5
    ends = np.sort(rng.choice(nodes, (edges * 5 // 4, 2), p=shares / shares.sum()), axis=1)
    ends = rng.permutation(np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0))
    return ends[:edges]


def _read_graph(path: str) -> Graph:
    from unveil import Graph, read

    graph = read(path, kind="graph")
    assert isinstance(graph, Graph)
    return graph


def _measure_reading(path: str) -> dict[str, float]:
    return measure_work(lambda: _read_graph(path), repeat=2)


def _measure_changes(path: str, ks: list[int], additions_only: bool) -> dict[str, float]:
    from unveil.network.protections.degree_completion import anonymise_graph
    from unveil.run import Run

    graph = _read_graph(path)
    anonymise_graph(graph, 2, Run(), additions_only)
    found = dict[str, float]()
    for k in ks:
        start = process_time()
        made = anonymise_graph(graph, k, Run(), additions_only)
        found |= {f"cpu {k}": process_time() - start, f"changes {k}": made.changes}
        found |= {f"half {k}": made.bounds.half_distance, f"chosen {k}": made.bounds.chosen_degrees}
    return {**found, "cpu": found[f"cpu {ks[-1]}"], "memory": peak_memory()}


def _measure_published(path: str, k: int, method: str, scheme: int) -> dict[str, float]:
    """One run of a published method; the process is ended at the limit."""
    import numpy as np

    from unveil import Graph
    from unveil.network.compared_graphs import ComparedGraphs, compare_edges
    from unveil.network.protections import published_methods

    protect = getattr(published_methods, method)
    path_graph = Graph.from_edges(range(9), range(1, 10), nodes=10)
    protect(path_graph, 2, np.random.default_rng(0), scheme)  # compiles kernels
    graph, start = _read_graph(path), process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(start) + _MOST_SECONDS, int(start) + _MOST_SECONDS + 5))
    found = protect(graph, k, np.random.default_rng(0), scheme)
    seconds = process_time() - start
    changes = compare_edges(ComparedGraphs(graph, found.graph, np.arange(graph.nodes)))
    return {"cpu": seconds, "probes": found.probes, "changes": int(changes.added.sum() + changes.removed.sum())}


def _run_job(job: str, path: str, *ks: str) -> dict[str, float]:
    if job == "reading":
        return _measure_reading(path)
    if job == "published":
        k, method, scheme = ks
        return _measure_published(path, int(k), method, int(scheme))
    return _measure_changes(path, [int(k) for k in ks], job == "additions")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1:] == ["against-published"]:
        with tempfile.TemporaryDirectory() as made:
            _print_against_published(Path(made))
    else:
        print(json.dumps(_run_job(*sys.argv[1:])))
