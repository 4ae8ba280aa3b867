"""How many edges change when a network is made k-degree anonymous, and how long that takes.

Edges are counted beside two lower bounds: half the distance to the nearest k-anonymous degrees, which no method can be
below, and the bound for the degrees that were chosen. The large networks are synthetic: degrees follow a power law.
Seconds are those of the CPU, with kernels compiled beforehand; the last figure is compared with the time to read the
same network from a file. ``python benchmarks/protect_graphs.py``.
"""

from __future__ import annotations

import json
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


def _run_job(job: str, path: str, *ks: str) -> dict[str, float]:
    if job == "reading":
        return _measure_reading(path)
    return _measure_changes(path, [int(k) for k in ks], job == "additions")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(_run_job(*sys.argv[1:])))
