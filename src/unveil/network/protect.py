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


def _make_degrees_anonymous(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """A graph in which at least k nodes have each degree, with few changed edges."""
    from unveil.network.protections.degree_completion import anonymise_graph

    graph, k = _unprotected_graph(case), _degree_class_to_aim_at(policy, strictness)
    if k > graph.nodes:
        return None
    additions_only = policy.settings_for(NetworkSettings).additions_only
    how = "added" if additions_only else "added or removed"
    made = anonymise_graph(graph, k, run, additions_only)
    least = (
        f" At least {count_text(made.bounds.half_distance, 'connection')} must be {how}, whatever the method."
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
        f"{count_text(added, 'connection')} {verb(added, 'is', 'are')} added and {removed:,} of {before.edges:,} "
        f"removed; afterwards, at least {count_text(k, 'node')} share each number of connections."
        if added or removed
        else f"No connection had to change: at least {count_text(k, 'node')} already share each number of connections."
    )
    sentence = f"{what}{more} Names and order are new; weights and attributes are not released."
    return _make_protection(sentence, changes.jaccard, case, after)


def _published_offer(name: str, title: str, summary: str) -> ProtectionOffer:
    """A published method, which is tried only if it is asked for: it may find nothing."""

    def fit(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
        from unveil.secret_order import secret_generator

        graph, k = _unprotected_graph(case), _degree_class_to_aim_at(policy, strictness)
        if k > graph.nodes:
            return None
        if name != "supergraph" and policy.settings_for(NetworkSettings).additions_only:
            raise UnveilError(
                f"{name} also removes connections; leave out {option_text('additions_only')}, or try "
                f"{option_text('method', 'degrees')}"
            )
        run.progress(f"probing degrees, at most {_MOST_PROBES:,} times", None)
        found = _published_method(name)(graph, k, secret_generator(), most_probes=_MOST_PROBES, run=run)
        if found.graph is None:
            raise UnveilError(
                f"{safe_text(graph.name)}: {name} found no network in {_MOST_PROBES:,} attempts; try "
                f"{option_text('method', 'degrees')}"
            )
        tried = f" {count_text(found.probes, 'attempt')} failed first." if found.probes else ""
        return _describe_shared_degrees(case, k, graph, found.graph, tried)

    return ProtectionOffer(
        title,
        summary,
        fit,
        applies_to=_is_undirected,
        only_if_named=True,
        describe_remaining_risk=_describe_remaining_risk,
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


def _describe_remaining_risk(findings: Sequence[Finding]) -> str:
    """Whom k-degree anonymity does not protect from, with the share that such an attacker still finds."""
    passive = next((f for f in findings if f.id == risks.PASSIVE.id and f.value is not None), None)
    said = "This protects only from people who know how many connections somebody has, and nothing else."
    if passive is None or passive.value is None:
        return f"{said} What someone with an overlapping network finds was not measured."
    found = f"{percent_text(passive.value)} of" if passive.value else "none of"
    return f"{said} Someone who holds part of the original's connections, with names, finds {found} the nodes."


# ---- what is on offer ------------------------------------------------------------------------------------------------


def protection_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what is tolerated."""
    if not in_the_way:
        return
    if not _is_undirected(case, policy):
        yield (
            "no protection changes a network with directions yet; remove the directions (for an edge list, leave out "
            f"{option_text('directed')}), or publish measures of the network instead"
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
            is_deterministic=True,
            caveat="People can be found by structure even without names: see docs/network.md.",
        ),
        "degrees": ProtectionOffer(
            "Make numbers of connections alike",
            "Add and remove few edges, until k nodes share each degree.",
            _make_degrees_anonymous,
            is_deterministic=True,
            applies_to=_is_undirected,
            describe_remaining_risk=_describe_remaining_risk,
        ),
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
            "As relaxed, but degrees may fall; may fail; only if named.",
        ),
    }
)
