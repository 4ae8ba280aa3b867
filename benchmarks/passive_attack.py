"""The passive attack: recall and precision on public networks against the published method, and its speed."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from _measure import data_folder, peak_memory, print_figure, run_in_process
from scipy.optimize import quadratic_assignment
from scipy.sparse import csr_array

from unveil import Graph, Run, read
from unveil.arrays import Ints
from unveil.network.passive_attack import Matches, passive_attack
from unveil.network.passive_calibration import calibrate_matches
from unveil.network.passive_evidence import ComparedGraph, Evidence
from unveil.network.passive_published import published_attack
from unveil.network.two_views import TwoViews, match_by_degree, match_quality, random_recall, two_views, wrong_seeds

__all__ = ["main"]

_FILES = {
    "Caltech": "Caltech36.edges.gz",
    "Bowdoin": "Bowdoin47.edges.gz",
    "polblogs": "polblogs.gml",
    "ca-GrQc": "ca-GrQc.txt",
}
_SEEDS = range(3)


def main() -> None:
    """Print the figures."""
    _print_speed()
    _against_faq()
    data = data_folder()
    if data is not None:
        _quality(data)


# ---- quality ---------------------------------------------------------------------------------------------------------


def _quality(data: Path) -> None:
    """Without any seeds; the published method gets the seeds that ours finds."""
    print("passive attack: recall/precision without seeds, node overlap .8, views 0 … 2, mean")
    for name, file in _FILES.items():
        graph = _load_graph(data / "graphs" / file, directed=name == "polblogs")
        for overlap, correlation in ((0.8, 0.0), (0.8, 0.5), (0.5, 0.0)):
            rows = [_one_pair(graph, overlap, correlation, seed) for seed in _SEEDS]
            means = {key: float(np.nanmean([row[key] for row in rows])) for key in rows[0]}
            noise = "independent" if not correlation else "correlated"
            print(
                f"  {name}, edge overlap {overlap}, {noise} noise: "
                f"ours {means['recall']:.3f}/{means['precision']:.3f}, "
                f"published {means['published recall']:.3f}/{means['published precision']:.3f}, "
                f"ours at its precision {means['recall at its precision']:.3f} recall; "
                f"from the truth {means['ceiling recall']:.3f}/{means['ceiling precision']:.3f}; "
                f"stated ≥ .95: {means['share sure']:.3f} of nodes, {means['sure right']:.3f} right "
                f"(least {min(row['sure right'] for row in rows):.3f}); near misses {means['near']:.0f}; "
                f"by degree {means['degree recall']:.4f}, at random {means['random recall']:.4f}",
                flush=True,
            )


def _load_graph(path: Path, directed: bool) -> Graph:
    if not directed:
        return read(path, kind="graph")
    text = path.read_text(encoding="latin-1")  # the file says that it is undirected, but keeps who links to whom
    return Graph.from_edges(*(re.findall(rf"{end} (\d+)", text) for end in ("source", "target")), directed=True)


def _one_pair(graph: Graph, overlap: float, correlation: float, seed: int) -> dict[str, float]:
    views = two_views(graph, 0.8, overlap, np.random.default_rng(seed), correlation=correlation)
    run = Run(seed=seed)
    found = passive_attack(views.left, views.right, run)
    published = match_quality(views, published_attack(views.left, views.right, found.seeds, run))
    ceiling = match_quality(views, passive_attack(views.left, views.right, run, views.truth).stated_mapping())
    sure = calibrate_matches(found, views.left, views.right, False, run).probability(found)
    stated = match_quality(views, found.stated_mapping())
    surest = match_quality(views, np.where(sure >= 0.95, found.mapping, -1))
    return {
        "recall": stated.recall,
        "precision": stated.precision,
        "near": stated.near,
        "published recall": published.recall,
        "published precision": published.precision,
        "recall at its precision": _recall_at(views, found, published.precision),
        "ceiling recall": ceiling.recall,
        "ceiling precision": ceiling.precision,
        "share sure": surest.right / surest.common,
        "sure right": surest.precision,
        "degree recall": match_quality(views, match_by_degree(views)).recall,
        "random recall": random_recall(views),
    }


def _recall_at(views: TwoViews, found: Matches, precision: float) -> float:
    """The largest recall of the matches with the highest scores at this precision or better."""
    levels = [
        match_quality(views, np.where(found.score >= score, found.mapping, -1)) for score in np.unique(found.score)
    ]
    return max((one.recall for one in levels if one.precision >= precision), default=0.0)


# ---- speed -----------------------------------------------------------------------------------------------------------


def _power_law(nodes: int, edges: int, seed: int, exponent: float = 2.5) -> Graph:
    """A random graph with expected degrees that follow a power law (Chung, Lu)."""
    rng = np.random.default_rng(seed)
    weights = (np.arange(nodes) + 10.0) ** (-1 / (exponent - 1))
    weights /= weights.sum()
    keys = np.empty(0, np.int64)
    while len(keys) < edges:
        ends = rng.choice(nodes, (2, int(1.3 * (edges - len(keys))) + 100), p=weights)
        ends = ends[:, ends[0] != ends[1]]
        keys = np.unique(np.append(keys, ends.min(axis=0) * nodes + ends.max(axis=0)))
    keys = rng.permutation(keys)[:edges]
    return Graph.from_edges(keys // nodes, keys % nodes, nodes=nodes)


def _print_speed() -> None:
    print("passive attack: power-law graphs")
    sweep, product = (run_in_process(__file__, what) for what in ("sweep", "product"))
    print_figure("one sweep, 36,371 nodes all mapped", sweep["cpu"], product["cpu"], "scipy's sparse product A·A")
    print(f"    peak memory {sweep['memory']:.0f} MB against {product['memory']:.0f} MB")
    for what in ("seedless", "million"):
        figures = run_in_process(__file__, what)
        print(
            f"  {what}: {figures['seconds']:.0f} s, {figures['memory']:.0f} MB, "
            f"recall {figures['recall']:.3f}, precision {figures['precision']:.3f}"
        )


def _against_faq() -> None:
    """1,000 nodes, both methods from the same 20 seeds."""
    graph = _power_law(1_000, 20_000, 1)
    views = two_views(graph, 1.0, 0.8, np.random.default_rng(1))
    seeds = wrong_seeds(views, 20, 0.0, np.random.default_rng(2))
    start = process_time()
    ours = match_quality(views, passive_attack(views.left, views.right, Run(), seeds).stated_mapping())
    middle = process_time()
    matrices = [_adjacency(side).toarray() for side in (views.left, views.right)]
    known = np.flatnonzero(seeds >= 0)
    match = np.stack([known, seeds[known]], axis=1)
    faq = quadratic_assignment(*matrices, method="faq", options={"maximize": True, "partial_match": match})
    theirs, end = match_quality(views, faq.col_ind), process_time()
    print_figure("1,000 nodes, 20 seeds", middle - start, end - middle, "scipy's FAQ")
    print(
        f"    recall/precision {ours.recall:.3f}/{ours.precision:.3f} "
        f"against {theirs.recall:.3f}/{theirs.precision:.3f}"
    )


def _adjacency(graph: Graph) -> csr_array:
    ones = np.ones(len(graph.neighbours), np.float32)
    return csr_array((ones, graph.neighbours, graph.indptr), shape=(graph.nodes, graph.nodes))


def _measure_sweep() -> dict[str, float]:
    side = ComparedGraph(_power_law(36_371, 1_590_655, 0))
    everyone, free = np.arange(side.nodes), np.zeros(side.nodes)

    def sweep(_: int = 0) -> float:
        start = process_time()
        Evidence(side, side, everyone, np.full(side.nodes, 0.9), (0.8, 0.8)).find_partners((free, free), Run())
        return process_time() - start

    sweep()
    return {"cpu": min(map(sweep, range(2))), "memory": peak_memory()}


def _measure_product() -> dict[str, float]:
    matrix = _adjacency(_power_law(36_371, 1_590_655, 0))
    start = process_time()
    for first in range(0, matrix.shape[0], 2_000):  # all at once would take more than 10 GB
        _ = matrix[first : first + 2_000] @ matrix
    return {"cpu": process_time() - start, "memory": peak_memory()}


def _measure_attack(nodes: int, edges: int, seeds: int) -> dict[str, float]:
    views = two_views(_power_law(nodes, edges, 0), 0.8, 0.8, np.random.default_rng(0))
    known: Ints | None = wrong_seeds(views, seeds, 0.0, np.random.default_rng(1), by_degree=True) if seeds else None
    start = perf_counter()
    found = match_quality(views, passive_attack(views.left, views.right, Run(), known).stated_mapping())
    return {
        "seconds": perf_counter() - start,
        "memory": peak_memory(),
        "recall": found.recall,
        "precision": found.precision,
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work = {
            "sweep": _measure_sweep,
            "product": _measure_product,
            "seedless": partial(_measure_attack, 36_371, 1_590_655, 0),
            "million": partial(_measure_attack, 1_000_000, 3_700_000, 100),
        }[sys.argv[1]]
        print(json.dumps(work()))
    else:
        main()
