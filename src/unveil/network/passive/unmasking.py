"""Name the nodes of a release with the help of a network that somebody holds, with names.

This is the passive attack (:mod:`unveil.network.passive.attack`) on two real networks. Nodes are numbered at random
first, so that an equal order of the two files gives nothing away.

Only clear matches count as *names* (:data:`unveil.network.passive.attack.CLEAR`). How probable a name is to be right
is found by rehearsals (:mod:`unveil.network.passive.calibration`). With few names there is too little to rehearse, and
large networks would take too long; names then have a score only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from unveil.network.node_order import shuffle_nodes
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Ints
    from unveil.network.passive.two_views import MatchQuality

__all__ = [
    "LEAST_NAMES",
    "MOST_REHEARSED_EDGES",
    "MeasuredNames",
    "NamedNodes",
    "NetworkPair",
    "measure_names",
    "name_nodes",
    "preserved_edges",
]

LEAST_NAMES = 10
"""With fewer names, the attack is not rehearsed."""
MOST_REHEARSED_EDGES = 2_000_000
"""With more edges in both networks together, the attack is not rehearsed."""


@dataclass(frozen=True, eq=False)
class NetworkPair:
    """The network held and the release, each with its nodes in a random order: ``known_number`` and ``node_number`` are
    the original numbers of these."""

    known: Graph
    release: Graph
    known_number: Ints
    node_number: Ints

    @classmethod
    def draw(cls, known: Graph, release: Graph, run: Run, stream: str) -> NetworkPair:
        """Draw both orders from a random stream; they do not depend on the order of the files."""
        rng = run.rng(f"{stream} order")
        (left, left_number), (right, right_number) = (shuffle_nodes(graph, rng) for graph in (known, release))
        return cls(left, right, left_number, right_number)

    def renumber(self, partner: Ints) -> Ints:
        """A mapping of original numbers, −1 for none, in the random order."""
        import numpy as np

        place = np.full(self.release.nodes + 1, -1)  # the last place stands for none
        place[self.node_number] = np.arange(self.release.nodes)
        moved: Ints = place[partner[self.known_number]]
        return moved


@dataclass(frozen=True, eq=False)
class NamedNodes:
    """Which node of the network held is which node of the release, by their original numbers, the clearest first, with
    the score of each match. ``probability`` is None if the attack was not rehearsed."""

    known: Ints
    node: Ints
    score: Floats
    probability: Floats | None

    def expected_right(self) -> float:
        """How many names are expected to be right; all of them if nothing is known about that."""
        return float(len(self.node) if self.probability is None else self.probability.sum())

    def partner(self, known_nodes: int) -> Ints:
        """For each node of the network held, the node of the release that it names, or −1."""
        import numpy as np

        found = np.full(known_nodes, -1)
        found[self.known] = self.node
        return found


def name_nodes(pair: NetworkPair, run: Run, stream: str, seeds: Ints | None = None) -> NamedNodes:
    """Attack the release. ``seeds`` is, for each node of the network held, the node it is believed to be, or −1;
    ``stream`` names the random stream."""
    import numpy as np

    from unveil.network.passive.attack import passive_attack

    matches = passive_attack(pair.known, pair.release, run, None if seeds is None else pair.renumber(seeds))
    named = np.flatnonzero(matches.stated_mapping() >= 0)
    named = named[np.argsort(-matches.score[named], kind="stable")]
    probability = None
    if len(named) >= LEAST_NAMES and pair.known.edges + pair.release.edges <= MOST_REHEARSED_EDGES:
        from unveil.network.passive.calibration import calibrate_matches

        calibration = calibrate_matches(matches, pair.known, pair.release, run, stream)
        if calibration.base is not None:
            probability = calibration.probability(matches)[named]
            likeliest = np.lexsort((-matches.score[named], -probability))
            named, probability = named[likeliest], probability[likeliest]
    return NamedNodes(
        pair.known_number[named],
        pair.node_number[matches.mapping[named]],
        matches.score[named],
        probability,
    )


# ---- measured against the truth --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MeasuredNames:
    """How good names are. ``is_right`` marks them one by one, and ``common`` is how many nodes are in both networks.
    ``from_truth`` is how many nodes the same attack names rightly if it starts from the truth, ``by_degree`` how many
    are named rightly by rank of degree alone."""

    is_right: Bools
    common: int
    from_truth: int
    by_degree: int

    @property
    def right(self) -> int:
        """How many names are right."""
        return int(self.is_right.sum())


def measure_names(found: NamedNodes, pair: NetworkPair, truth: Ints, run: Run) -> MeasuredNames:
    """Compare names with the truth: for each node of the network held, the node of the release, or −1."""
    import numpy as np

    from unveil.network.passive.attack import attack_from_truth
    from unveil.network.passive.two_views import TwoViews, match_by_degree, match_quality

    everywhere = (np.ones(graph.nodes, np.bool_) for graph in (pair.known, pair.release))
    views = TwoViews(pair.known, pair.release, pair.renumber(truth), *everywhere)
    by_degree: MatchQuality = match_quality(views, match_by_degree(views))
    from_truth = 0
    if by_degree.common:
        again = attack_from_truth(pair.known, pair.release, views.truth, run).stated_mapping()
        from_truth = match_quality(views, again).right
    return MeasuredNames(truth[found.known] == found.node, by_degree.common, from_truth, by_degree.right)


def preserved_edges(found: NamedNodes, known: Graph, release: Graph) -> Ints:
    """For each name, how many edges of the named node are between the same two nodes in the network held."""
    import numpy as np

    from unveil.network.edge_keys import edge_keys

    partner = np.full(release.nodes, -1)
    partner[found.node] = found.known
    sources, targets = edge_endpoints(release)
    named = (partner[sources] >= 0) & (partner[targets] >= 0)
    sources, targets = sources[named], targets[named]
    keys = partial(edge_keys, nodes=known.nodes, directed=known.directed)
    there = np.isin(keys(partner[sources], partner[targets]), keys(*edge_endpoints(known)))
    both = np.append(sources[there], targets[there])
    return np.bincount(both, minlength=release.nodes)[found.node]
