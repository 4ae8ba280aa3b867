"""How graphs can be protected from someone who knows their structure, or the names of their nodes.

:mod:`unveil.network.protections.relabel` gives nodes new names in a new order, which is the last step of every
protection. Until then nodes keep their positions, so that what became of whom is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import Graph
from unveil.run import Run

__all__ = ["PROTECTIONS", "protection_hints"]


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


def protection_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what is tolerated."""
    if in_the_way:
        yield (
            "relabel removes names only, and people are found by the structure that it leaves; publish measures of the "
            "network instead of its edges"
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
    }
)
