"""The findings about what a node's surroundings give away: who is found by them, and which edges follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unveil.finding import Curve, Finding
from unveil.network import risks
from unveil.policy import Policy
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import count_text, ends_text, list_text, percent_text, verb

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.network.fingerprints import Refinement

__all__ = ["fingerprint_findings", "nodes_text"]

_HAY = (
    "M. Hay, G. Miklau, D. Jensen, D. Towsley, P. Weis, Resisting structural re-identification in anonymized social "
    "networks, VLDB 2008 (vertex refinement)"
)
_MOST_STEPS = 30  # of the curve
_FIGURE = "M. Vanhoef, Privacy in databases, thesis, 2012, section 7.1 and Fig. 7.2"


def nodes_text(some: int, nodes: int) -> str:
    """Some of all nodes, as the subject of a sentence; none of them is singular."""
    return f"{some:,} of {count_text(nodes, 'node')} ({percent_text(some / nodes)})" if some else "No node"


def fingerprint_findings(graph: Graph, policy: Policy, run: Run) -> Iterator[Finding]:
    """All findings about surroundings."""
    from unveil.network.fingerprints import refine_to_the_end

    if not run.asks(risks.SIGNATURE_UNIQUE, risks.AUTOMORPHISM, risks.EDGES_DISCLOSED):
        return
    refinement = refine_to_the_end(graph, run)
    yield _signature_finding(graph, refinement, policy, run)
    if run.asks(risks.AUTOMORPHISM):
        yield _automorphism_finding(graph, refinement, policy, run)
    if graph.edges:
        yield _edges_finding(graph, refinement.by_degree, policy)


def _signature_finding(graph: Graph, refinement: Refinement, policy: Policy, run: Run) -> Finding:
    import numpy as np

    from unveil.network.fingerprints import ego_classes

    nodes, alone = graph.nodes, refinement.alone
    by_neighbours = alone[min(1, len(alone) - 1)]
    ego = int((np.bincount(ego_classes(graph, run)) == 1).sum())
    single = verb(by_neighbours, "is", "are") if by_neighbours else "is"
    far = "at any distance" if refinement.is_complete else f"up to {count_text(len(alone) - 1, 'step')} away"
    return risks.SIGNATURE_UNIQUE.finding(
        policy,
        value=by_neighbours / nodes,
        subjects=nodes,
        share=by_neighbours / nodes,
        attacker="Knows how many connections each of the person's neighbours has.",
        baseline=1 / nodes,
        sentence=f"{nodes_text(by_neighbours, nodes)} {single} singled out by the numbers of connections of "
        f"{verb(by_neighbours, 'its', 'their') if by_neighbours else 'its'} neighbours. Someone who knows instead how "
        f"many neighbours the person shares with each neighbour singles out {percent_text(ego / nodes)}, and someone "
        f"who knows the neighbourhood {far} {percent_text(alone[-1] / nodes)}.",
        curves=(_steps_curve(nodes, alone[:_MOST_STEPS]),),
        source=_HAY,
    )


def _steps_curve(nodes: int, alone: Sequence[int]) -> Curve:
    return Curve(
        title="Nodes singled out, by how far around them somebody knows",
        kind="line",
        x_label="steps around the node",
        y_label="share of nodes",
        x=tuple(float(step) for step in range(len(alone))),
        y=tuple(count / nodes for count in alone),
        reading="0 steps: the number of connections. 1: that of every neighbour as well. Further right, that of "
        "everybody so many steps away.",
    )


def _automorphism_finding(graph: Graph, refinement: Refinement, policy: Policy, run: Run) -> Finding:
    import numpy as np

    from unveil.network.automorphisms import find_orbits

    found, nodes = find_orbits(graph, refinement, run), graph.nodes
    fewest, most = (int((sizes == 1).sum()) for sizes in (found.largest_sizes, found.smallest_sizes))
    ends = fewest / nodes, most / nodes
    largest = int(np.max(found.smallest_sizes))
    if fewest == most:
        others = (
            f"the others can be exchanged with up to {count_text(largest - 1, 'other node')}"
            if fewest < nodes
            else "there are no others"
        )
        sentence = (
            f"{nodes_text(fewest, nodes)} {verb(fewest, 'differs', 'differ') if fewest else 'differs'} from all others "
            f"in structure; {others} without changing the network. No attacker who has no names does better."
        )
    else:
        sentence = (
            f"{ends_text(*ends)} of {count_text(nodes, 'node')} differ from all others in structure; for the "
            f"rest, it would take too long to find out. No attacker who has no names does better."
        )
    return risks.AUTOMORPHISM.finding(
        policy,
        value=ends[1],
        method="exact" if fewest == most else "bound",
        interval=ends,
        share=ends,
        subjects=nodes,
        attacker="Knows the whole network, but for the names.",
        baseline=1 / nodes,
        sentence=sentence,
        source=_HAY,
    )


def _edges_finding(graph: Graph, classes: Ints, policy: Policy) -> Finding:
    import numpy as np

    from unveil.network.fingerprints import edge_classes

    follows = edge_classes(graph, classes)
    sizes = np.bincount(classes)[classes]
    sources = np.repeat(np.arange(graph.nodes), graph.degrees)
    unfound = follows & (sizes[sources] > 1) & (sizes[graph.neighbours] > 1)
    once = 1 if graph.directed else 2
    some, hidden, edges = int(follows.sum()) // once, int(unfound.sum()) // once, graph.edges
    degree = list_text(["outgoing", "incoming"]) + " connections" if graph.directed else "connections"
    who = f"Someone who knows the numbers of {degree} of two people"
    told = f"{some:,} of {count_text(edges, 'connection')} ({percent_text(some / edges)})" if some else "no connection"
    sentence = f"{who} can be certain of {told}"
    if some:
        sentence += (
            f"; for {hidden:,} of these, neither of the two is found" if hidden else ", all by finding one of the two"
        )
    return risks.EDGES_DISCLOSED.finding(
        policy,
        value=some / edges,
        subjects=edges,
        share=some / edges,
        attacker=f"Knows the numbers of {degree} of two people, and wants to know whether they are connected.",
        sentence=f"{sentence}.",
        source=_FIGURE,
    )
