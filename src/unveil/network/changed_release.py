"""What all protections that change a network have in common: what they start from, what they aim at, what they say.

Protections change edges between nodes that keep their positions, so that what became of whom is known; nodes that are
added come last. :mod:`unveil.network.protections.relabel` gives all nodes new names in a new order at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.network import risks
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.protection import Protection
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, verb

if TYPE_CHECKING:
    from unveil.network.compared_graphs import EdgeChanges

__all__ = [
    "ChangeCounts",
    "always",
    "change_text",
    "count_changes",
    "degree_class_to_aim_at",
    "if_enough_nodes",
    "is_undirected",
    "make_protection",
    "nobody_shares_degrees",
    "refuse_additions_only",
    "unprotected_graph",
]

_NOT_RELEASED = "Weights and attributes are not released."


def unprotected_graph(case: Case) -> Graph:
    """The graph to protect; refuse one that is protected already."""
    assert isinstance(case.release, Graph)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    return case.release


def is_undirected(case: Case, policy: Policy) -> bool:
    """Whether edges may be changed: protections do not know directions."""
    return isinstance(case.release, Graph) and not case.release.directed


def always(case: Case, policy: Policy) -> bool:
    """Whatever the case and the policy."""
    return True


def degree_class_to_aim_at(policy: Policy, strictness: float) -> int:
    """How many nodes must have each degree that occurs: as many as are asked for; at least two, which is enough for
    those who ask only that no degree is unique."""
    wanted = policy.tolerance_for(risks.DEGREE_K)
    return max(2, ceil((wanted or 2) / strictness))


def nobody_shares_degrees(policy: Policy) -> bool:
    """Whether the owner tolerates that a number of connections is unique."""
    return (policy.tolerance_for(risks.DEGREE_K) or 1) <= 1 and policy.tolerance_for(risks.DEGREE_UNIQUE) is None


def if_enough_nodes(
    protect: Callable[[Case, Policy, Graph, int, Run], Protection | None],
) -> Callable[[Case, Policy, Run, float], Protection | None]:
    """What fits a protection that makes at least k nodes of a graph alike; it makes nothing of one with fewer nodes."""

    def fit(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
        graph, k = unprotected_graph(case), degree_class_to_aim_at(policy, strictness)
        return None if k > graph.nodes else protect(case, policy, graph, k, run)

    return fit


def refuse_additions_only(policy: Policy, method: str) -> None:
    """Refuse a method that also removes edges where none may go."""
    if policy.settings_for(NetworkSettings).additions_only:
        raise UnveilError(
            f"{method} also removes connections; leave out {option_text('additions_only')}, or try "
            f"{option_text('method', 'degrees')}"
        )


def make_protection(case: Case, changed: Graph, said: str) -> Protection:
    """What releases a changed graph, whose nodes have the positions that they have in the original."""
    before = unprotected_graph(case)

    def apply() -> Case:
        from unveil.network.protections.relabel import relabel_graph

        release, place = relabel_graph(changed)
        return replace(case, release=release, original=case.release, truth=place[: before.nodes])

    usefulness = 1.0 if changed is before else _changes(before, changed).jaccard
    new = "" if changed is before else " Names and order are new."
    return Protection(sentence=f"{said}{new} {_NOT_RELEASED}", usefulness=usefulness, apply=apply)


class ChangeCounts(NamedTuple):
    """How many edges one graph has that another lacks, and the other way round."""

    added: int
    removed: int


def count_changes(before: Graph, after: Graph) -> ChangeCounts:
    """How many edges were added and removed, between nodes that kept their positions."""
    changes = _changes(before, after)
    return ChangeCounts(int(changes.added.sum()), int(changes.removed.sum()))


def change_text(before: Graph, after: Graph) -> str:
    """The same, for the owner, as a sentence without its end."""
    added, removed = count_changes(before, after)
    connections = count_text(added, "connection")
    return f"{connections} {verb(added, 'is', 'are')} added and {removed:,} of {before.edges:,} removed"


def _changes(before: Graph, after: Graph) -> EdgeChanges:
    import numpy as np

    from unveil.network.compared_graphs import ComparedGraphs, compare_edges

    return compare_edges(ComparedGraphs(before, after, np.arange(before.nodes)))
