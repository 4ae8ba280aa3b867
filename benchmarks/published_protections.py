"""What the published k-degree methods do to real networks: the figures of sections 9.7 and 9.8 of M. Vanhoef, *Privacy
in databases*, 2012, measured again.

    python benchmarks/published_protections.py cost         figures 9.6 and 9.7
    python benchmarks/published_protections.py probing      figures 9.8 to 9.13
    python benchmarks/published_protections.py comparison   figures 9.14 to 9.18, by the protocol of table 9.2
    python benchmarks/published_protections.py swaps        how long GreedySwap has to go on

All of it takes hours; ``comparison --graph caltech --k 5 26 --runs 2`` is a part of it.
Tables are in Markdown; a cell has the mean over runs and, in brackets, their variance.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from _measure import data_folder

from unveil import Graph, read
from unveil.network.measures.graph_measures import density, measure_clustering
from unveil.network.measures.path_lengths import measure_path_lengths
from unveil.network.measures.power_law import fit_power_law
from unveil.network.protections.degree_sequences import anonymise_degrees
from unveil.network.protections.published_methods import relaxed_graph, simultaneous_swap_graph, supergraph
from unveil.network.protections.published_probing import ProbedGraph, ProbingScheme
from unveil.release.graph import edge_endpoints

__all__ = ["main"]

_RUNS_OF_PROBING = 20
_ROUNDING_ERROR = 1e-20
_SCHEMES: tuple[ProbingScheme, ...] = (1, 2, 3, 4)
_PATIENCES = (1, 100, 1_000, 10_000)
_METHODS: dict[str, Callable[..., ProbedGraph]] = {
    "SuperGraph": supergraph,
    "Relaxed": relaxed_graph,
    "SimulSwap": simultaneous_swap_graph,
}


@dataclass(frozen=True)
class _Network:
    """A data set, and how often and at which distances of k it was measured (table 9.2)."""

    load: Callable[[Path], Graph]
    runs: int
    step: int


def _load_enron(folder: Path) -> Graph:
    """A link if both wrote to each other, and more than five messages in total."""
    sent = Counter[tuple[int, int]]()
    with (folder / "enron_exec_counts.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sent[int(row["sender"]), int(row["receiver"])] += int(row["messages"])
    links = [(a, b) for a, b in sent if a < b and sent[b, a] and sent[a, b] + sent[b, a] > 5]
    return Graph.from_edges([a for a, _ in links], [b for _, b in links], name="enron")


def _load_file(name: str) -> Callable[[Path], Graph]:
    def load(folder: Path) -> Graph:
        graph = read(folder / name)
        assert isinstance(graph, Graph)
        return graph

    return load


_NETWORKS = {
    "enron": _Network(_load_enron, 20, 2),
    "power": _Network(_load_file("power.gml"), 5, 3),
    "caltech": _Network(_load_file("Caltech36.edges.gz"), 4, 3),
    "bowdoin": _Network(_load_file("Bowdoin47.edges.gz"), 2, 5),
}


def main() -> None:
    """Print the tables that the command line asks for."""
    asked = _parse_arguments()
    data = data_folder()
    if data is None:
        return
    for name in asked.graph:
        network = _NETWORKS[name]
        graph = network.load(data / "graphs")
        print(f"\n{name}: {graph.nodes:,} nodes, {graph.edges:,} edges\n", flush=True)
        ks = [k for k in asked.k or range(2, 99, network.step) if k <= graph.nodes]
        if asked.part == "cost":
            _print_costs(graph, ks)
        elif asked.part == "probing":
            _print_probing(graph, ks, asked.runs or _RUNS_OF_PROBING, asked.probes)
        elif asked.part == "comparison":
            _print_comparison(graph, ks, asked.runs or network.runs, asked.probes, asked.patience)
        else:
            _print_swaps(graph, ks, asked.runs or 1)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure what the published k-degree methods do.")
    parser.add_argument("part", choices=["cost", "probing", "comparison", "swaps"])
    parser.add_argument("--graph", nargs="+", choices=[*_NETWORKS], default=[*_NETWORKS])
    parser.add_argument("--k", nargs="+", type=int, help="default: those of table 9.2")
    parser.add_argument("--runs", type=int, help="default: those of table 9.2, 20 for probing and 1 for swaps")
    parser.add_argument("--probes", type=int, default=100_000, help="after how many changes probing gives up")
    parser.add_argument("--patience", type=int, default=1_000, help="after how many samples without a gain swaps end")
    return parser.parse_args()


def _print_row(*cells: object) -> None:
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


def _print_head(*titles: str) -> None:
    _print_row(*titles)
    _print_row(*("---" for _ in titles))


def _spread(values: Sequence[float], digits: int = 0) -> str:
    """The mean and, in brackets, the variance."""
    if not values:
        return "–"
    variance = np.var(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):,.{digits}f} ({variance if variance > _ROUNDING_ERROR else 0:.2g})"


def _distance(one: np.ndarray, other: np.ndarray) -> int:
    """The L1 distance of two degree sequences."""
    return int(np.abs(np.sort(one) - np.sort(other)).sum())


# ---- degree sequences ------------------------------------------------------------------------------------------------


def _print_costs(graph: Graph, ks: Sequence[int]) -> None:
    _print_head("k", "L1, additions only", "L1, additions and deletions", "share of it")
    for k in ks:
        raised, changed = (
            _distance(anonymise_degrees(graph.degrees, k, price), graph.degrees) for price in (None, 1.0)
        )
        _print_row(k, f"{raised:,}", f"{changed:,}", f"{changed / raised:.0%}" if raised else "–")


# ---- probing ---------------------------------------------------------------------------------------------------------


def _print_probing(graph: Graph, ks: Sequence[int], runs: int, most_probes: int) -> None:
    print(
        f"{runs} runs; distance of the degrees from the nearest anonymous ones; gives up after {most_probes:,} probes\n"
    )
    _print_head("k", "nearest to original", "scheme", "L1 beyond the nearest", "probes", "failed", "CPU s a run")
    for k in ks:
        nearest = _distance(anonymise_degrees(graph.degrees, k), graph.degrees)
        for scheme in _SCHEMES:
            start = process_time()
            found = [
                supergraph(graph, k, np.random.default_rng([scheme, seed]), scheme, most_probes) for seed in range(runs)
            ]
            seconds = (process_time() - start) / runs
            beyond = [_distance(each.graph.degrees, each.nearest) for each in found if each.graph is not None]
            probes = [each.probes for each in found]
            failed = runs - len(beyond)
            _print_row(k, f"{nearest:,}", scheme, _spread(beyond), _spread(probes), failed, f"{seconds:.2f}")


# ---- comparison ------------------------------------------------------------------------------------------------------


def _print_comparison(graph: Graph, ks: Sequence[int], runs: int, most_probes: int, patience: int) -> None:
    print(f"{runs} runs; probing scheme 4; swaps end after {patience:,} samples without a gain\n")
    _print_head(
        "k", "method", "diameter", "path length", "density", "exponent", "clustering", "edges kept", "CPU s a run"
    )
    measured = _measure_graph(graph, graph)
    _print_row("", "original", *(_spread([value], digits).split()[0] for value, digits in measured), "")
    for k in ks:
        for name, method in _METHODS.items():
            options = {} if method is supergraph else {"patience": patience}
            start = process_time()
            found = [
                method(graph, k, np.random.default_rng(seed), most_probes=most_probes, **options).graph
                for seed in range(runs)
            ]
            seconds = (process_time() - start) / runs
            rows = [_measure_graph(made, graph) for made in found if made is not None]
            cells = [_spread([value for value, _ in column], column[0][1]) for column in zip(*rows, strict=True)] or [
                "probing failed"
            ]
            _print_row(k, name, *cells, f"{seconds:.1f}")


def _measure_graph(made: Graph, original: Graph) -> list[tuple[float, int]]:
    """The columns, and how many digits each has."""
    paths = measure_path_lengths(made)
    law = fit_power_law(made.degrees, x_min=3)
    return [
        (paths.diameter, 1),
        (paths.over_all, 3),
        (density(made), 7),
        (law.exponent if law is not None else float("nan"), 3),
        (measure_clustering(made).over_all, 4),
        (_kept_share(made, original), 4),
    ]


def _kept_share(made: Graph, original: Graph) -> float:
    """The share of the original edges that are still there."""
    kept, there = (
        sources.astype(np.int64) * original.nodes + targets
        for sources, targets in map(edge_endpoints, (made, original))
    )
    return float(np.isin(there, kept).mean())


# ---- swaps -----------------------------------------------------------------------------------------------------------


def _print_swaps(graph: Graph, ks: Sequence[int], runs: int) -> None:
    print(f"{runs} runs of SimulSwap; it ends after so many samples without a gain\n")
    _print_head("k", "samples", "path length", "clustering", "edges kept", "CPU s a run")
    for k in ks:
        for patience in _PATIENCES:
            start = process_time()
            found = [
                simultaneous_swap_graph(graph, k, np.random.default_rng(seed), patience=patience).graph
                for seed in range(runs)
            ]
            seconds = (process_time() - start) / runs
            rows = [_measure_graph(made, graph) for made in found if made is not None]
            cells = [_spread([row[column][0] for row in rows], rows[0][column][1]) for column in (1, 4, 5)]
            _print_row(k, f"{patience:,}", *cells, f"{seconds:.1f}")


if __name__ == "__main__":
    main()
