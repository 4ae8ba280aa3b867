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
from unveil.network.passive.attack import Matches, attack_from_truth, passive_attack
from unveil.network.passive.calibration import calibrate_matches
from unveil.network.passive.compared_graph import ComparedGraph
from unveil.network.passive.evidence import Evidence
from unveil.network.passive.overlap import EdgeOverlap
from unveil.network.passive.partner_probabilities import certain_matrix
from unveil.network.passive.published_attack import published_attack
from unveil.network.passive.two_views import (
    MatchQuality,
    TwoViews,
    match_by_degree,
    match_quality,
    random_recall,
    two_views,
    wrong_seeds,
)

__all__ = ["main"]

_FILES = {
    "Caltech": "Caltech36.edges.gz",
    "Bowdoin": "Bowdoin47.edges.gz",
    "polblogs": "polblogs.gml",
    "ca-GrQc": "ca-GrQc.txt",
}
_SEEDS = range(5)


def main() -> None:
    """Print the figures."""
    _print_speed()
    _against_faq()
    data = data_folder()
    if data is not None:
        _quality(data)


# ---- quality ---------------------------------------------------------------------------------------------------------


class _Pooled:
    """The matches of several pairs of views: how clear they are, and whether they are right."""

    def __init__(self) -> None:
        self.score, self.probability, self.right = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        self.common, self.least = 0, 1.0

    def add(self, views: TwoViews, found: Matches, probability: np.ndarray) -> None:
        """Add the matches of one pair of views."""
        nodes = np.flatnonzero(found.mapping >= 0)
        right = found.mapping[nodes] == views.truth[nodes]
        self.score.append(found.score[nodes])
        self.probability.append(probability[nodes])
        self.right.append(right)
        self.common += len(views.common_nodes())
        sure = probability[nodes] >= 0.95
        self.least = min(self.least, float(right[sure].mean()) if sure.any() else 1.0)

    def recall_at(self, clearness: list[np.ndarray], precision: float) -> float:
        """The largest recall of the clearest matches of all views, at this precision or better."""
        order = np.argsort(-np.concatenate(clearness), kind="stable")
        right = np.cumsum(np.concatenate(self.right)[order])
        enough = right >= precision * np.arange(1, len(right) + 1) - 1e-9
        return float(right[enough].max(initial=0) / self.common)

    def stated_as_sure(self) -> tuple[float, float, int]:
        """Of the matches stated at .95 or more: recall, precision, how many."""
        sure, right = np.concatenate(self.probability) >= 0.95, np.concatenate(self.right)
        return right[sure].sum() / self.common, right[sure].mean() if sure.any() else np.nan, int(sure.sum())


def _quality(data: Path) -> None:
    """Without any seeds; the published method gets the seeds that ours finds."""
    print(f"passive attack: recall/precision without seeds, node overlap .8, {len(_SEEDS)} pairs of views each")
    for name, file in _FILES.items():
        graph = _load_graph(data / "graphs" / file, directed=name == "polblogs")
        for overlap, correlation in ((0.8, 0.0), (0.8, 0.5), (0.5, 0.0)):
            _print_quality(name, graph, overlap, correlation)


def _print_quality(name: str, graph: Graph, overlap: float, correlation: float) -> None:
    pooled, sums = _Pooled(), dict[str, list[MatchQuality]]()
    by_chance, seconds = list[float](), 0.0
    for seed in _SEEDS:
        views = two_views(graph, 0.8, overlap, np.random.default_rng(seed), correlation=correlation)
        run, start = Run(seed=seed), process_time()
        found = passive_attack(views.left, views.right, run)
        seconds += (process_time() - start) / len(_SEEDS)
        pooled.add(views, found, calibrate_matches(found, views.left, views.right, run).probability(found))
        for method, mapping in (
            ("ours", found.stated_mapping()),
            ("published", published_attack(views.left, views.right, found.seeds, run)),
            ("ceiling", attack_from_truth(views.left, views.right, views.truth, run).stated_mapping()),
            ("by degree", match_by_degree(views)),
        ):
            sums.setdefault(method, []).append(match_quality(views, mapping))
        by_chance.append(random_recall(views))
    recall, precision = (
        {method: _share(each, part) for method, each in sums.items()} for part in ("common", "matched")
    )
    sure, sure_right, sure_count = pooled.stated_as_sure()
    near = sum(one.near for one in sums["ours"]) / len(_SEEDS)
    print(
        f"  {name}, edge overlap {overlap}, {'correlated' if correlation else 'independent'} noise: "
        f"ours {recall['ours']:.3f}/{precision['ours']:.3f}, published {recall['published']:.3f}/"
        f"{precision['published']:.3f}, ours at its precision "
        f"{pooled.recall_at(pooled.score, precision['published']):.3f} by score, "
        f"{pooled.recall_at(pooled.probability, precision['published']):.3f} by probability; at .95 "
        f"{pooled.recall_at(pooled.probability, 0.95):.3f}, at .86 {pooled.recall_at(pooled.probability, 0.86):.3f}; "
        f"from the truth {recall['ceiling']:.3f}/{precision['ceiling']:.3f}; "
        f"stated at .95 or more: {sure:.3f} of nodes, {sure_right:.3f} of {sure_count} right "
        f"(least {pooled.least:.3f}); near misses {near:.0f} a pair; "
        f"by degree {recall['by degree']:.4f}, at random {np.mean(by_chance):.4f}; {seconds:.1f} s CPU",
        flush=True,
    )


def _share(found: list[MatchQuality], part: str) -> float:
    return sum(one.right for one in found) / max(sum(getattr(one, part) for one in found), 1)


def _load_graph(path: Path, directed: bool) -> Graph:
    if not directed:
        return read(path, kind="graph")
    text = path.read_text(encoding="latin-1")  # the file says that it is undirected, but keeps who links to whom
    return Graph.from_edges(*(re.findall(rf"{end} (\d+)", text) for end in ("source", "target")), directed=True)


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
    everyone = certain_matrix(np.arange(side.nodes), side.nodes, 0.9)
    overlap = EdgeOverlap((0.8, 0.8), (200.0, 200.0))

    def sweep(_: int = 0) -> float:
        start = process_time()
        Evidence(side, side, everyone, overlap, np.full(side.nodes, -1)).find_candidates(2.0, 0.0, Run())
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
