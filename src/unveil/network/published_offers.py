"""The published methods that make numbers of connections alike, to compare with.

They draw at random and begin again when that fails, so that they may find nothing. They are tried only if they are
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.network.changed_release import always, if_enough_nodes, is_undirected, refuse_additions_only
from unveil.network.degree_offers import describe_degree_risk, describe_shared_degrees
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    from unveil.network.protections.published_probing import ProbedGraph

    PublishedMethod = Callable[..., ProbedGraph]
    """From a graph, k and randomness to what came of probing."""

__all__ = ["PUBLISHED"]

_MOST_PROBES = 2_000


def _published_offer(name: str, title: str, summary: str) -> ProtectionOffer:
    """A published method."""

    @if_enough_nodes
    def fit(case: Case, policy: Policy, graph: Graph, k: int, run: Run) -> Protection | None:
        from unveil.secret_order import secret_generator

        if name != "supergraph":
            refuse_additions_only(policy, name)
        run.progress(f"probing degrees, at most {_MOST_PROBES:,} times", None)
        found = _published_method(name)(graph, k, secret_generator(), most_probes=_MOST_PROBES, run=run)
        if found.graph is None:
            raise UnveilError(
                f"{safe_text(graph.name)}: {name} found no network in {_MOST_PROBES:,} attempts; try "
                f"{option_text('method', 'degrees')}"
            )
        tried = f" {count_text(found.probes, 'attempt')} failed first." if found.probes else ""
        return describe_shared_degrees(case, k, graph, found.graph, tried)

    return ProtectionOffer(
        title,
        summary,
        fit,
        applies_to=is_undirected,
        only_if_named=always,
        describe_remaining_risk=describe_degree_risk,
    )


def _published_method(name: str) -> PublishedMethod:
    from unveil.network.protections.published_methods import relaxed_graph, simultaneous_swap_graph, supergraph

    methods: dict[str, PublishedMethod] = {
        "supergraph": supergraph,
        "relaxed": relaxed_graph,
        "simultaneous": simultaneous_swap_graph,
    }
    return methods[name]


PUBLISHED = MappingProxyType(
    {
        "supergraph": _published_offer(
            "supergraph",
            "SuperGraph, as published",
            "Add edges at random (Liu, Terzi); may fail; only if named.",
        ),
        "relaxed": _published_offer(
            "relaxed",
            "Relaxed, as published",
            "Build a network, swap its edges; may fail; only if named.",
        ),
        "simultaneous": _published_offer(
            "simultaneous",
            "SimulSwap, as published",
            "As relaxed, but degrees may also be lowered; only if named.",
        ),
    }
)
