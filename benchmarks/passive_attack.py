"""The passive attack: recall and precision on public networks against the published method, and its speed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from _measure import data_folder, install_peer, peak_memory, print_figure, run_in_process
from scipy.optimize import quadratic_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unveil import Graph, Run, read
from unveil.arrays import Ints
from unveil.network.passive.attack import Matches, attack_from_truth, passive_attack
from unveil.network.passive.calibration import calibrate_matches
from unveil.network.passive.compared_graph import ComparedGraph
from unveil.network.passive.evidence import Evidence
from unveil.network.passive.overlap import EdgeOverlap
from unveil.network.passive.partner_probabilities import certain_matrix
from unveil.network.passive.published_attack import published_attack
from unveil.network.passive.published_seeds import similarity_seeds
from unveil.network.passive.two_views import (
    MatchQuality,
    TwoViews,
    draw_seeds,
    match_by_degree,
    match_quality,
    random_recall,
    two_views,
)

__all__ = ["main"]

_FILES = {
    "Caltech": "Caltech36.edges.gz",
    "Bowdoin": "Bowdoin47.edges.gz",
    "polblogs": "polblogs.gml",
    "ca-GrQc": "ca-GrQc.txt",
}
_SEEDS = range(100, 110)
_BOOTSTRAPS = 1_000

_PEER_CODE = """
import json, resource, sys
from time import process_time
import numpy
from graspologic.match import graph_match
data = numpy.load(sys.argv[1])
given = data["seeds"][:, 0]
start = process_time()
found = graph_match(data["left"], data["right"], partial_match=data["seeds"], rng=0)
cpu = process_time() - start
truth = data["truth"]
mapping = numpy.full(len(truth), -1)
mapping[found.indices_A] = found.indices_B
mapping[given] = -1
right, stated, sought = (mapping >= 0) & (mapping == truth), mapping >= 0, numpy.delete(truth, given) >= 0
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({
    "cpu": cpu, "memory": memory, "recall": right.sum() / sought.sum(), "precision": right.sum() / stated.sum(),
}))
"""


def main() -> None:
    """Print the figures."""
    _print_speed()
    _print_small()
    data = data_folder()
    if data is not None:
        _quality(data)
        _print_crawls(data)


# ---- quality ---------------------------------------------------------------------------------------------------------


class _Pooled:
    """The matches of several pairs of views: how clear they are, and whether they are right; and those that the
    published method states from the same seeds."""

    def __init__(self) -> None:
        self.score, self.probability, self.right = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        self.common, self.published = list[int](), list[MatchQuality]()
        self.least = 1.0

    def add(self, views: TwoViews, found: Matches, probability: np.ndarray, published: MatchQuality) -> None:
        """Add the matches of one pair of views."""
        nodes = np.flatnonzero(found.mapping >= 0)
        right = found.mapping[nodes] == views.truth[nodes]
        self.score.append(found.score[nodes])
        self.probability.append(probability[nodes])
        self.right.append(right)
        self.common.append(len(views.common_nodes()))
        self.published.append(published)
        sure = probability[nodes] >= 0.95
        self.least = min(self.least, float(right[sure].mean()) if sure.any() else 1.0)

    def recall_at(self, clearness: list[np.ndarray], precision: float, pairs: np.ndarray | None = None) -> float:
        """The largest recall of the clearest matches of some pairs of views, at this precision or better."""
        chosen = range(len(self.right)) if pairs is None else pairs
        by_score, clear = (-np.concatenate([each[k] for k in chosen]) for each in (self.score, clearness))
        order = np.lexsort((by_score, clear))  # probabilities may be equal, or 0 where there is no calibration
        right = np.cumsum(np.concatenate([self.right[k] for k in chosen])[order])
        enough = right >= precision * np.arange(1, len(right) + 1) - 1e-9
        return float(right[enough].max(initial=0) / sum(self.common[k] for k in chosen))

    def lead(self) -> tuple[float, float, float]:
        """By how much the recall exceeds that of the published method at its precision, with a bootstrap interval of
        95% over pairs of views."""
        rng, pairs = np.random.default_rng(0), len(self.right)
        draws = [rng.integers(pairs, size=pairs) for _ in range(_BOOTSTRAPS)]
        low, high = np.quantile([self._lead_over(draw) for draw in draws], (0.025, 0.975))
        return self._lead_over(np.arange(pairs)), float(low), float(high)

    def _lead_over(self, pairs: np.ndarray) -> float:
        published = [self.published[k] for k in pairs]
        ours = self.recall_at(self.probability, _share(published, "matched"), pairs)
        return ours - _share(published, "common")

    def stated_as_sure(self) -> tuple[float, float, int]:
        """Of the matches stated at .95 or more: recall, precision, how many."""
        sure, right = np.concatenate(self.probability) >= 0.95, np.concatenate(self.right)
        return right[sure].sum() / sum(self.common), right[sure].mean() if sure.any() else np.nan, int(sure.sum())


def _quality(data: Path) -> None:
    """Without any seeds. The published method gets the seeds that ours finds, and once those that it finds itself."""
    print(f"passive attack: recall/precision without seeds, node overlap .8, {len(_SEEDS)} pairs of views each")
    print("  (constants of the attack were chosen on other views of the same graphs)")
    for name in _FILES:
        for overlap, correlation in ((0.8, 0.0), (0.8, 0.5), (0.5, 0.0)):
            _print_quality(name, data, overlap, correlation)


def _print_quality(name: str, data: Path, overlap: float, correlation: float) -> None:
    graph = _load_graph(data / "graphs" / _FILES[name], directed=name == "polblogs")
    pooled, sums = _Pooled(), dict[str, list[MatchQuality]]()
    by_chance, connected, seconds = list[float](), 0, 0.0
    for seed in _SEEDS:
        views = two_views(graph, 0.8, overlap, np.random.default_rng(seed), correlation=correlation)
        run, start = Run(seed=seed), process_time()
        found = passive_attack(views.left, views.right, run)
        seconds += (process_time() - start) / len(_SEEDS)
        published = match_quality(views, published_attack(views.left, views.right, found.seeds, run))
        probability = calibrate_matches(found, views.left, views.right, run).probability(found)
        pooled.add(views, found, probability, published)
        own_seeds = similarity_seeds(views.left, views.right, run)
        for method, mapping in (
            ("ours", found.stated_mapping()),
            ("published from its own", published_attack(views.left, views.right, own_seeds, run)),
            ("ceiling", attack_from_truth(views.left, views.right, views.truth, run).stated_mapping()),
            ("by degree", match_by_degree(views)),
        ):
            sums.setdefault(method, []).append(match_quality(views, mapping))
        by_chance.append(random_recall(views))
        connected += _connected_in_both(views)
    sums["published"] = pooled.published
    recall, precision = (
        {method: _share(each, part) for method, each in sums.items()} for part in ("common", "matched")
    )
    sure, sure_right, sure_count = pooled.stated_as_sure()
    near = sum(one.near for one in sums["ours"]) / len(_SEEDS)
    lead, low, high = pooled.lead()
    print(
        f"  {name}, edge overlap {overlap}, {'correlated' if correlation else 'independent'} noise: "
        f"ours {recall['ours']:.3f}/{precision['ours']:.3f}, published from our seeds {recall['published']:.3f}/"
        f"{precision['published']:.3f}, from its own {recall['published from its own']:.3f}/"
        f"{precision['published from its own']:.3f}; ours at the published precision "
        f"{pooled.recall_at(pooled.probability, precision['published']):.3f}, ahead by {lead:+.3f} "
        f"[{low:+.3f}, {high:+.3f}]; at .95 {pooled.recall_at(pooled.probability, 0.95):.3f}, at .86 "
        f"{pooled.recall_at(pooled.probability, 0.86):.3f}; {connected / sum(pooled.common):.3f} of common nodes in "
        f"both largest parts; from the truth {recall['ceiling']:.3f}/{precision['ceiling']:.3f}; "
        f"stated at .95 or more: {sure:.3f} of nodes, {sure_right:.3f} of {sure_count} right "
        f"(least {pooled.least:.3f}); near misses {near:.0f} a pair; "
        f"by degree {recall['by degree']:.4f}, at random {np.mean(by_chance):.4f}; {seconds:.1f} s CPU",
        flush=True,
    )


def _connected_in_both(views: TwoViews) -> int:
    """The number of common nodes that are in the largest component of both views; nobody finds others from there."""
    inside = []
    for graph in (views.left, views.right):
        part = connected_components(_adjacency(graph), directed=False)[1]
        inside.append(part == np.bincount(part).argmax())
    common = views.common_nodes()
    return int((inside[0][common] & inside[1][views.truth[common]]).sum())


def _print_crawls(data: Path) -> None:
    """Crawls of a directed network, beside what was published of other crawls, which are not public."""
    graph = _load_graph(data / "graphs" / _FILES["polblogs"], directed=True)
    print(
        "passive attack: crawls of polblogs, outgoing links known of 7 in 10 nodes; shares of common nodes, without "
        "seeds, named rightly and wrongly"
    )
    for said, overlap, seeds, published in (
        ("edge overlap .8, no seeds", 0.8, 0, "two crawls of Flickr: 64.7% rightly, at 95.2% precision"),
        ("edge overlap .15, 50 seeds", 0.15, 50, "Flickr and Twitter, 150 seeds: 30.8% rightly, 12.1% wrongly"),
    ):
        each = list[MatchQuality]()
        for seed in _SEEDS:
            views = two_views(graph, 0.8, overlap, np.random.default_rng(seed), crawled=0.7)
            given = draw_seeds(views, seeds, 0.0, np.random.default_rng(seed)) if seeds else None
            marks = views.left_crawled, views.right_crawled
            mapping = passive_attack(views.left, views.right, Run(seed=seed), given, *marks).stated_mapping()
            each.append(match_quality(views, mapping if given is None else np.where(given >= 0, -1, mapping)))
        sought = sum(one.common for one in each) - seeds * len(each)
        right, wrong = sum(one.right for one in each), sum(one.matched - one.right for one in each)
        print(
            f"  {said}: {right / sought:.1%} rightly, {wrong / sought:.1%} wrongly (precision "
            f"{right / max(right + wrong, 1):.1%}, {sum(one.near for one in each) / max(wrong, 1):.0%} of the wrong "
            f"ones neighbours); published of {published}"
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


def _print_small() -> None:
    """1,000 nodes, every method from the same 20 seeds."""
    for overlaps in (("1", ".8"), (".8", ".5")):
        print("passive attack: 1,000 nodes, 20,000 edges, node overlap {}, edge overlap {}, 20 seeds".format(*overlaps))
        _print_others(*overlaps)


def _print_others(*overlaps: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "views.npz")
        figures = {"unveil": run_in_process(__file__, "small", *overlaps, file)}
        figures["scipy's FAQ"] = run_in_process(__file__, "faq", *overlaps)
        peer = install_peer("graspologic", "graspologic==3.4.4")
        if peer is None:
            print("  graspologic could not be installed: it is not compared")
        else:
            done = subprocess.run([str(peer), "-c", _PEER_CODE, file], check=True, capture_output=True, text=True)
            figures["graspologic's graph_match"] = json.loads(done.stdout.splitlines()[-1])
    for name, found in figures.items():
        print(
            f"  {name}: recall {found['recall']:.3f}, precision {found['precision']:.3f}, {found['cpu']:.2f} s CPU, "
            f"{found['memory']:.0f} MB ({found['cpu'] / figures['unveil']['cpu']:.1f} × ours)"
        )


def _small_views(*overlaps: str) -> tuple[TwoViews, Ints]:
    views = two_views(_power_law(1_000, 20_000, 1), *map(float, overlaps), np.random.default_rng(1))
    return views, draw_seeds(views, 20, 0.0, np.random.default_rng(2))


def _quality_of(views: TwoViews, mapping: Ints, seeds: Ints) -> dict[str, float]:
    """Recall and precision at the nodes that were not given."""
    given = seeds >= 0
    found = match_quality(views, np.where(given, -1, mapping))
    return {"recall": found.right / (found.common - int(given.sum())), "precision": found.precision}


def _measure_small(nodes: str, edges: str, file: str) -> dict[str, float]:
    views, seeds = _small_views(nodes, edges)
    known = np.flatnonzero(seeds >= 0)
    matrices = {name: _adjacency(side).toarray() for name, side in (("left", views.left), ("right", views.right))}
    np.savez(file, **matrices, seeds=np.stack([known, seeds[known]], axis=1), truth=views.truth)
    passive_attack(views.left, views.right, Run(), seeds)  # compiles
    start = process_time()
    mapping = passive_attack(views.left, views.right, Run(), seeds).stated_mapping()
    return {"cpu": process_time() - start, "memory": peak_memory(), **_quality_of(views, mapping, seeds)}


def _measure_faq(nodes: str, edges: str) -> dict[str, float]:
    views, seeds = _small_views(nodes, edges)
    known = np.flatnonzero(seeds >= 0)
    options = {"maximize": True, "partial_match": np.stack([known, seeds[known]], axis=1)}
    start = process_time()
    matrices = [_adjacency(side).toarray() for side in (views.left, views.right)]
    mapping = quadratic_assignment(*matrices, method="faq", options=options).col_ind
    return {"cpu": process_time() - start, "memory": peak_memory(), **_quality_of(views, mapping, seeds)}


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
    known: Ints | None = draw_seeds(views, seeds, 0.0, np.random.default_rng(1), by_degree=True) if seeds else None
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
            "small": _measure_small,
            "faq": _measure_faq,
        }[sys.argv[1]]
        print(json.dumps(work(*sys.argv[2:])))
    else:
        main()
