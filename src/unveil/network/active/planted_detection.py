"""Would the owner of a network notice planted nodes?

Planted nodes can stand out in two ways. They may have unusually many links: those of the window of
``planted_nodes.py``, and those with each other. And most of their neighbours are strangers to each other, while
people's friends often know each other: their *local clustering*, the share of pairs of neighbours that are linked, is
lower. In a network with little clustering it is higher, because planted nodes are linked with each other.

Each is measured by how a planted node ranks among real nodes (the area under the ROC curve): the probability that a
planted node has more links than a real one, and that its clustering is lower than that of a real node with about as
many links; ties count half. At ½, this does not tell planted nodes from real ones; at 0 or 1, it tells all of them.

In a network whose links have directions, planted nodes are easier to notice: few people link back. This is not measured
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.intervals import Estimate, estimate_mean
from unveil.network.active.planted_nodes import plant_nodes
from unveil.release.graph import Graph
from unveil.run import Run

if TYPE_CHECKING:
    import numpy as np


__all__ = ["PlantedDetection", "measure_detection"]

_REAL_NODES = 10  # with which each planted node is compared


@dataclass(frozen=True)
class PlantedDetection:
    """How planted nodes rank among real ones, as means over trials: ½ is hidden, 0 and 1 are conspicuous."""

    by_degree: Estimate
    by_clustering: Estimate


def measure_detection(
    graph: Graph,
    k: int,
    trials: int,
    rng: np.random.Generator,
    window: tuple[int, int] | None = None,
    targets: int | Sequence[int] | None = None,
    run: Run | None = None,
) -> PlantedDetection:
    """Plant k nodes in an undirected graph, in so many trials, and compare them with real ones."""
    import numpy as np

    from unveil.network.measures.graph_measures import local_clustering

    if trials < 1:
        raise UnveilError("the number of trials must be at least 1")
    run, by_degree, by_clustering = run or Run(), [], []
    for trial, trial_rng in enumerate(rng.spawn(trials)):
        run.check()
        run.progress("looking for planted nodes", trial / trials)
        attacked = plant_nodes(graph, k, trial_rng, window, targets)
        degrees = attacked.graph.degrees
        order = np.argsort(degrees[: graph.nodes], kind="stable")
        ranked = degrees[order]
        low, high = (np.searchsorted(ranked, degrees[attacked.nodes], side) for side in ("left", "right"))
        by_degree.append(float((low + high).mean()) / (2 * graph.nodes))
        compared = min(_REAL_NODES, graph.nodes)
        begin = np.clip((low + high - compared) // 2, 0, graph.nodes - compared)
        real = order[begin[:, None] + np.arange(compared)]
        clustering = np.nan_to_num(local_clustering(attacked.graph, run))  # 0 with fewer than two neighbours
        planted_clustering, real_clustering = clustering[attacked.nodes][:, None], clustering[real]
        lower = (planted_clustering < real_clustering) + 0.5 * (planted_clustering == real_clustering)
        by_clustering.append(float(lower.mean()))
    run.progress("looking for planted nodes", 1.0)
    return PlantedDetection(estimate_mean(by_degree, run.confidence), estimate_mean(by_clustering, run.confidence))
