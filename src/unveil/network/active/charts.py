"""Charts of attackers who planted nodes, or are in the network themselves: how many succeed, how long they search, and
what a planted subgraph looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unveil.finding import Curve, GraphChart
from unveil.intervals import Estimate
from unveil.network.active.attack import InsiderAttack
from unveil.network.active.planted_nodes import plant_nodes, planted_nodes_for_bound
from unveil.release.graph import Graph

if TYPE_CHECKING:
    import numpy as np

__all__ = ["changed_chart", "coalition_chart", "planted_chart", "planted_drawing", "search_chart"]

_MOST_DRAWN = 16  # planted nodes


def planted_chart(found: Sequence[InsiderAttack], planted: int) -> Curve:
    """In how many trials attackers find their accounts, by how many these are, and what is proved."""
    proved = [1 - (attack.copy_bound or 0.0) for attack in found]
    lines = {
        "found": [attack.recovered for attack in found],
        "no other place fits": [attack.single_copy for attack in found],
        "proved": [Estimate(share, (share, share), (share, share), 0) for share in proved],
    }
    least = planted_nodes_for_bound(found[0].nodes - found[0].k)
    return _success_chart(
        lines,
        found,
        planted,
        "Found: the place that leads to most of the people they know is theirs. No other place fits: the attack as it "
        "was published succeeds. Proved: at least this share has no such place in the rest of the network by accident; "
        f"that is at least 99% from {least:,} accounts on.",
    )


def changed_chart(found: Sequence[InsiderAttack], exact: Sequence[InsiderAttack], planted: int) -> Curve:
    """In how many trials attackers find their accounts in a release that was changed."""
    lines = {
        "allowing for changes": [attack.recovered for attack in found],
        "exact places only": [attack.recovered for attack in exact],
    }
    return _success_chart(
        lines,
        found,
        planted,
        "The owner changed connections before the release. Attackers who allow for that look for places that differ a "
        "little from what they know.",
    )


def _success_chart(
    lines: dict[str, list[Estimate]], found: Sequence[InsiderAttack], planted: int, reading: str
) -> Curve:
    points = [estimate for line in lines.values() for estimate in line]
    return Curve(
        title="Attackers who find their own accounts, by how many they created",
        kind="line",
        x_label="accounts created before the release",
        y_label="share of trials",
        x=tuple(float(attack.k) for attack in found) * len(lines),
        y=tuple(estimate.value for estimate in points),
        low=tuple(estimate.interval[0] for estimate in points),
        high=tuple(estimate.interval[1] for estimate in points),
        series=tuple(label for label in lines for _ in found),
        mark=float(planted),
        mark_label="accounts assumed",
        reading=reading,
    )


def search_chart(found: Sequence[InsiderAttack], planted: int) -> Curve:
    """How many places the search looks at, beside the nodes that it begins with."""
    lines = {
        "places looked at": [attack.mean_tree_size for attack in found],
        "nodes that the search begins with": [attack.mean_starts for attack in found],
    }
    return Curve(
        title="How long attackers search for their accounts, by how many they created",
        kind="line",
        x_label="accounts created before the release",
        y_label="mean number in a search",
        x=tuple(float(attack.k) for attack in found) * len(lines),
        y=tuple(number for line in lines.values() for number in line),
        series=tuple(label for label in lines for _ in found),
        mark=float(planted),
        mark_label="accounts assumed",
        reading="The search begins at every node with as many connections as the first account, and goes on from each "
        "place where the accounts so far may be.",
    )


def coalition_chart(found: Sequence[InsiderAttack]) -> tuple[Curve, ...]:
    """How many people coalitions of members find; nothing if no coalition can tell anybody apart."""
    found = [attack for attack in found if attack.targets]
    if not found:
        return ()
    return (
        Curve(
            title="People found by members who put together what they know",
            kind="line",
            x_label="members, one and neighbours of theirs",
            y_label="share of people whom they can tell apart",
            x=tuple(float(attack.k) for attack in found),
            y=tuple(attack.targets_found.value for attack in found),
            low=tuple(attack.targets_found.interval[0] for attack in found),
            high=tuple(attack.targets_found.interval[1] for attack in found),
            reading="Members know their connections with each other and with others, and created no accounts. They can "
            "tell people apart who are connected with different ones of them.",
        ),
    )


def planted_drawing(graph: Graph, planted: int, rng: np.random.Generator) -> tuple[GraphChart, ...]:
    """Planted nodes of one more trial with their targets; nothing if there are too many to see."""
    if planted > _MOST_DRAWN:
        return ()
    known = plant_nodes(graph, planted, rng).known
    among = [(i, j) for i in range(planted) for j in range(i + 1, planted) if known.links[i] >> j & 1]
    sets = known.target_sets.tolist()
    outward = [(i, planted + t) for t, members in enumerate(sets) for i in range(planted) if members >> i & 1]
    return (
        GraphChart(
            title="Accounts of an attacker, and the people they want to find",
            inner_label="created account",
            outer_label="person to be found",
            inner=planted,
            outer=len(sets),
            edges=tuple(among + outward),
            reading="Accounts were drawn and linked at random. Nobody else is connected with the same accounts as a "
            "person to be found. Other connections of accounts and people are left out.",
        ),
    )
