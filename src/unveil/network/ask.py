"""The question ``network``: which node is this person?

Names are removed, but the structure stays. How many people are found by the number of their connections comes first;
what their surroundings give away is in ``ask_fingerprints``, and whom attackers find who created accounts before the
release in ``ask_active``, or who hold an overlapping network in ``ask_passive``. ``ask_unmask`` attacks with a network
that somebody does hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.class_sizes import ClassSizes
from unveil.finding import ExposedSubject, Finding
from unveil.holding import MAPPING, ORIGINAL
from unveil.network import risks
from unveil.network.ask_active import active_finding, check_original, original_doubts
from unveil.network.ask_fingerprints import fingerprint_findings, nodes_text
from unveil.network.ask_known_connections import known_connection_findings
from unveil.network.ask_passive import asks_passive, passive_doubts, passive_finding
from unveil.network.ask_unmask import KNOWN_NETWORK, SEEDS, TRUE_MATCHES, check_known_network, unmask_findings
from unveil.network.degree_chart import degree_chart
from unveil.network.degrees import degree_class_sizes
from unveil.network.original_order import check_original_and_mapping, compare_with_release
from unveil.network.protect import PROTECTIONS, protection_hints, why_unprotectable
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.question import Artefact, Question, WeighedBy
from unveil.release import Release
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import count_text, number_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.usefulness.use_measure import UseMeasure

__all__ = ["QUESTION"]

_LIU = "K. Liu, E. Terzi, Towards identity anonymization on graphs, SIGMOD 2008 (k-degree anonymity)"
_CLAUSET = "A. Clauset, C. R. Shalizi, M. E. J. Newman, Power-law distributions in empirical data, SIAM Review 51, 2009"


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """The findings of this question, and the names that somebody gives to nodes."""
    if run.asks(risks.UNMASKED):
        yield from unmask_findings(case, policy, run)
    if run.asks(*(risk for risk in risks.RISKS if risk != risks.UNMASKED)):
        yield from _structure_findings(case, policy, run)


def _structure_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    """What the structure of the release gives away, whatever else somebody holds."""
    graph = case.release
    assert isinstance(graph, Graph)
    class_size = degree_class_sizes(graph)
    class_sizes = ClassSizes.from_subjects(class_size)
    degree = "numbers of outgoing and incoming connections" if graph.directed else "number of connections"
    attacker = f"Knows a person's {degree} in the network."
    k = policy.threshold(risks.DEGREE_K)
    nodes, at_risk, alone = class_sizes.total, class_sizes.count_below(k), class_sizes.count_below(2)
    yield risks.DEGREE_K.finding(
        policy,
        value=class_sizes.smallest_size,
        unit="nodes",
        subjects=nodes,
        share=at_risk / nodes,
        attacker=attacker,
        sentence=f"{nodes_text(at_risk, nodes)} {verb(at_risk, 'is', 'are') if at_risk else 'is'} in a class of fewer "
        f"than {number_text(k)} {verb(k, 'node', 'nodes')} with the same {degree}; the smallest class has "
        f"{count_text(class_sizes.smallest_size, 'node')}.",
        curves=(class_sizes.sizes_curve("nodes", f"Nodes, by how many have the same {degree}", k),),
        exposed=_exposed_nodes(graph, class_size, k, degree, run),
        source=_LIU,
    )
    yield risks.DEGREE_UNIQUE.finding(
        policy,
        value=alone / nodes,
        subjects=nodes,
        share=alone / nodes,
        attacker=attacker,
        baseline=1 / nodes,
        sentence=f"{nodes_text(alone, nodes)} can be singled out by {verb(alone, 'its', 'their') if alone else 'its'} "
        f"{degree}.",
        curves=degree_chart(graph),
        source=f"{_LIU}; {_CLAUSET}",
    )
    yield from fingerprint_findings(graph, policy, run)
    asks_pairs = run.asks(risks.DEGREE_FOUND, risks.SIGNATURE_FOUND)
    if asks_pairs or asks_passive(graph, policy, run):
        compared = compare_with_release(case)
        if asks_pairs:
            yield from known_connection_findings(compared, policy)
        if asks_passive(graph, policy, run) and compared.original.edges:
            yield passive_finding(compared, policy, run)
    if run.asks(risks.ACTIVE) and graph.nodes > 1:
        # last, since it fails where there is no room to plant accounts
        yield active_finding(case, policy, run)


def _exposed_nodes(graph: Graph, sizes: Ints, k: float, degree: str, run: Run) -> tuple[ExposedSubject, ...]:
    """The nodes in the smallest classes, those with most connections first. Nodes are numbered as they first appear."""
    import numpy as np

    connections = graph.degrees + graph.in_degrees if graph.directed else graph.degrees
    order = np.lexsort((-connections, sizes))[: run.exposed]
    return tuple(
        ExposedSubject(
            subject=f"node {i + 1:,}",
            risk=1 / int(sizes[i]),
            because=_same_degree_text(int(sizes[i]), degree),
            learns=("which node it is", "all its connections"),
            values={"node": safe_text(graph.labels[i].as_py())} if run.reveal else None,
        )
        for i in order.tolist()
        if sizes[i] < k
    )


def _same_degree_text(size: int, degree: str) -> str:
    if size == 1:
        return f"no other node has the same {degree}"
    return f"only {count_text(size - 1, 'other node has', 'other nodes have')} the same {degree}"


def check(case: Case, policy: Policy) -> None:
    """Refuse an original, or a network that somebody holds, that does not fit the release."""
    check_original_and_mapping(case)
    check_original(case)
    check_known_network(case, policy)


def facts(release: Release) -> dict[str, float | bool]:
    """What there is to say about a graph before any attack."""
    from unveil.network.measures.graph_facts import describe_graph

    assert isinstance(release, Graph)
    return describe_graph(release)


def measure_use(before: Case, after: Case, run: Run) -> Iterator[UseMeasure]:
    """What a protected graph can still be used for."""
    from unveil.network.use.measure import measure_graph_use

    yield from measure_graph_use(before, after, run)


def doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """What was left out, unless nothing but a network that somebody holds was asked about."""
    if any(f.question == "network" and f.id != risks.UNMASKED.id for f in findings):
        yield from passive_doubts(case, policy, findings)
        yield from original_doubts(case, findings)


QUESTION = Question(
    name="network",
    title="Which node is this person?",
    kinds=("graph",),
    risks=risks.RISKS,
    ask=ask,
    facts=facts,
    settings=NetworkSettings,
    holdings=(ORIGINAL, MAPPING, KNOWN_NETWORK, SEEDS, TRUE_MATCHES),
    check=check,
    doubts=doubts,
    protections=PROTECTIONS,
    protected_risks=(
        risks.DEGREE_K,
        risks.DEGREE_UNIQUE,
        risks.DEGREE_FOUND,
        risks.SIGNATURE_FOUND,
        risks.ACTIVE,
        risks.PASSIVE,
    ),
    why_unprotectable=why_unprotectable,
    hints=protection_hints,
    measure_use=measure_use,
    weighed_by=WeighedBy(risks.PASSIVE, "connections", goals=(risks.DEGREE_K, risks.DEGREE_UNIQUE)),
)
