"""How graphs can be protected from someone who knows their structure, or the names of their nodes.

Protections change edges between nodes that keep their positions, so that what became of whom is known.
:mod:`unveil.network.protections.relabel` gives nodes new names in a new order, which is the last step of every
protection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.network import risks
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, percent_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.network.protections.published_probing import ProbedGraph

    PublishedMethod = Callable[..., ProbedGraph]
    """From a graph, k and randomness to what came of probing."""

__all__ = ["PROTECTIONS", "protection_hints"]

_MOST_PROBES = 2_000


def _relabel_nodes(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
    return _make_protection(
        "Only names and order change, so no finding about structure does. Weights and attributes are not released.",
        1.0,
        case,
        _unprotected_graph(case),
    )


def _unprotected_graph(case: Case) -> Graph:
    assert isinstance(case.release, Graph)
    if case.original is not None:
        raise UnveilError("this release is already protected; protect the original instead")
    return case.release


def _make_protection(sentence: str, usefulness: float, case: Case, changed: Graph) -> Protection:
    """What releases a changed graph, whose nodes have the positions that they have in the original."""

    def apply() -> Case:
        from unveil.network.protections.relabel import relabel_graph

        release, place = relabel_graph(changed)
        return replace(case, release=release, original=case.release, truth=place)

    return Protection(sentence=sentence, usefulness=usefulness, apply=apply)


# ---- k-degree anonymity ----------------------------------------------------------------------------------------------


def _share_degrees(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """A graph in which at least k nodes have each degree, with few changed edges."""
    from unveil.network.protections.degree_completion import anonymise_graph

    graph, k = _unprotected_graph(case), _degree_class_to_aim_at(policy, strictness)
    if k > graph.nodes:
        return None
    additions_only = policy.settings_for(NetworkSettings).additions_only
    made = anonymise_graph(graph, k, run, additions_only)
    least = (
        f" No way of doing this changes fewer than {count_text(made.bounds.half_distance, 'connection')}."
        if made.changes
        else ""
    )
    return _describe_shared_degrees(case, k, graph, made.graph, least)


def _degree_class_to_aim_at(policy: Policy, strictness: float) -> int:
    """How many nodes must have each degree that occurs: as many as are asked for; at least two, which is enough for
    those who ask only that no degree is unique."""
    wanted = policy.tolerance_for(risks.DEGREE_K)
    return max(2, ceil((wanted or 2) / strictness))


def _describe_shared_degrees(case: Case, k: int, before: Graph, after: Graph, more: str = "") -> Protection:
    import numpy as np

    from unveil.network.compared_graphs import ComparedGraphs, compare_edges

    changes = compare_edges(ComparedGraphs(before, after, np.arange(before.nodes)))
    added, removed = int(changes.added.sum()), int(changes.removed.sum())
    what = (
        f"{count_text(added, 'connection')} {verb(added, 'is', 'are')} made up and {removed:,} of {before.edges:,} "
        "removed, so that"
        if added or removed
        else "No connection has to change:"
    )
    sentence = (
        f"{what} each number of connections that occurs is that of at least {count_text(k, 'node')}.{more} Names and "
        "order are new; weights and attributes are not released."
    )
    return _make_protection(sentence, changes.jaccard, case, after)


def _published_offer(name: str, title: str, summary: str) -> ProtectionOffer:
    """A published method, which is tried only if it is asked for: it may find nothing."""

    def fit(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
        from unveil.secret_order import secret_generator

        graph, k = _unprotected_graph(case), _degree_class_to_aim_at(policy, strictness)
        if k > graph.nodes:
            return None
        run.progress(f"probing degrees, at most {_MOST_PROBES:,} times", None)
        found = _published_method(name)(graph, k, secret_generator(), most_probes=_MOST_PROBES, run=run)
        if found.graph is None:
            raise UnveilError(
                f"{safe_text(graph.name)}: {name} found no network in {_MOST_PROBES:,} attempts; the method degrees "
                "always finds one"
            )
        tried = f" {count_text(found.probes, 'attempt')} failed before." if found.probes else ""
        return _describe_shared_degrees(case, k, graph, found.graph, tried)

    return ProtectionOffer(
        title, summary, fit, applies_to=_is_undirected, only_if_named=True, describe_rest=_describe_rest
    )


def _published_method(name: str) -> PublishedMethod:
    from unveil.network.protections.published_methods import relaxed_graph, simultaneous_swap_graph, supergraph

    methods: dict[str, PublishedMethod] = {
        "supergraph": supergraph,
        "relaxed": relaxed_graph,
        "simultaneous": simultaneous_swap_graph,
    }
    return methods[name]


def _is_undirected(case: Case, policy: Policy) -> bool:
    return isinstance(case.release, Graph) and not case.release.directed


def _describe_rest(findings: Sequence[Finding]) -> str:
    """Whom k-degree anonymity does not protect from, with the share that such an attacker still finds."""
    passive = next((f for f in findings if f.id == risks.PASSIVE.id and f.value is not None), None)
    said = "This protects only against people who know numbers of connections"
    if passive is None or passive.value is None:
        return f"{said}; what someone finds who holds an overlapping network was not measured."
    found = percent_text(passive.value)
    return f"{said}: someone who holds part of the original's connections with names still finds {found} of the nodes."


# ---- what is on offer ------------------------------------------------------------------------------------------------


def protection_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what is tolerated."""
    if not in_the_way:
        return
    if not _is_undirected(case, policy):
        yield (
            "no protection is for connections with directions yet; release the network without them "
            f"(leave out {option_text('directed')}), or publish measures of it instead"
        )
    elif set(in_the_way) - {risks.DEGREE_K.id, risks.DEGREE_UNIQUE.id}:
        yield (
            "the methods for networks make numbers of connections alike, but people are found by the rest of the "
            "structure; publish measures of the network instead of its connections"
        )


PROTECTIONS = MappingProxyType(
    {
        "relabel": ProtectionOffer(
            "Rename nodes",
            "Number nodes at random, and put edges in random order.",
            _relabel_nodes,
            is_harmless=True,
            caveat="People can be found by structure even without names: see docs/network.md.",
        ),
        "degrees": ProtectionOffer(
            "Share numbers of connections",
            "Add and remove few edges, until nodes share their degrees.",
            _share_degrees,
            applies_to=_is_undirected,
            describe_rest=_describe_rest,
        ),
        "supergraph": _published_offer(
            "supergraph",
            "SuperGraph, as published",
            "Add edges by chance; may find nothing; only if named.",
        ),
        "relaxed": _published_offer(
            "relaxed",
            "Relaxed, as published",
            "Build a new network, swap edges; only if named.",
        ),
        "simultaneous": _published_offer(
            "simultaneous",
            "SimultaneousSwap, as published",
            "The same, with degrees that may also fall; only if named.",
        ),
    }
)
