"""The question ``network``: which node is this person? So far: by the number of their connections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.crowds import Crowds
from unveil.finding import Exposed, Finding
from unveil.network.degrees import degree_class_sizes
from unveil.policy import Policy
from unveil.question import Question
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import counted, number, percent, shown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["QUESTION"]

_LIU = "K. Liu, E. Terzi, Towards identity anonymization on graphs, SIGMOD 2008 (k-degree anonymity)"


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """The findings of this question."""
    graph = case.release
    assert isinstance(graph, Graph)
    sizes = degree_class_sizes(graph)
    crowds = Crowds.from_members(sizes)
    degree = "numbers of outgoing and incoming connections" if graph.directed else "number of connections"
    attacker = f"Knows a person's {degree} in the network."
    k = policy.tolerated("network.degree_k")
    wanted = policy.wanted("network.degree_k")
    nodes, at_risk, alone = crowds.total, crowds.below(wanted), crowds.below(2)
    yield Finding(
        id="network.degree_k",
        question="network",
        title="Smallest degree class (k)",
        value=crowds.smallest,
        unit="nodes",
        method="exact",
        subjects=nodes,
        share=(at_risk / nodes, at_risk / nodes),
        tolerance=k,
        direction="higher",
        decides=k is not None,
        attacker=attacker,
        sentence=f"{at_risk:,} of {counted(nodes, 'node')} ({percent(at_risk / nodes)}) stand in classes of fewer than "
        f"{number(wanted)} with the same {degree}; the smallest class has {counted(crowds.smallest, 'node')}.",
        curves=(crowds.sizes_curve("nodes", "Nodes by how many share their degree", wanted),),
        exposed=_exposed(graph, sizes, wanted, degree, run),
        source=_LIU,
    )
    limit = policy.tolerated("network.degree_unique")
    yield Finding(
        id="network.degree_unique",
        question="network",
        title="Nodes with a degree of their own",
        value=alone / nodes,
        unit="share",
        method="exact",
        subjects=nodes,
        share=(alone / nodes, alone / nodes),
        tolerance=limit,
        direction="lower",
        decides=limit is not None,
        attacker=attacker,
        baseline=1 / nodes,
        sentence=f"{alone:,} of {counted(nodes, 'node')} ({percent(alone / nodes)}) can be singled out by their "
        f"{degree}.",
        source=_LIU,
    )


def _exposed(graph: Graph, sizes: npt.NDArray[np.int64], k: float, degree: str, run: Run) -> tuple[Exposed, ...]:
    """The nodes in the smallest classes, those with most connections first. Nodes are numbered as they first appear."""
    import numpy as np

    connections = graph.degrees + graph.in_degrees if graph.directed else graph.degrees
    order = np.lexsort((-connections, sizes))[: run.exposed]
    return tuple(
        Exposed(
            subject=f"node {i + 1:,}",
            risk=1 / int(sizes[i]),
            because=f"nobody else has the same {degree}"
            if sizes[i] == 1
            else f"only {int(sizes[i]) - 1} other{'s have' if sizes[i] > 2 else ' has'} the same {degree}",
            learns=("which node it is", "all its connections"),
            values={"node": shown(graph.labels[i].as_py())} if run.reveal else None,
        )
        for i in order.tolist()
        if sizes[i] < k
    )


QUESTION = Question(
    name="network",
    title="Which node is this person?",
    kinds=("graph",),
    findings=("network.degree_k", "network.degree_unique"),
    ask=ask,
)
