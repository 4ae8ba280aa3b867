"""The finding about attackers who planted nodes before the release."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.finding import Curve, Finding
from unveil.network import risks
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import count_text, number_text, percent_text

if TYPE_CHECKING:
    from unveil.network.active_attack import InsiderAttack

__all__ = ["active_finding"]

_BACKSTROM = (
    "L. Backstrom, C. Dwork, J. Kleinberg, Wherefore art thou R3579X? Anonymized social networks, hidden patterns, and "
    "structural steganography, WWW 2007 (walk-based attack)"
)
_TRIALS, _FEW_TRIALS = 40, 10
_LARGE = 2_000_000  # edges from which on fewer trials are made
_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12)


def active_finding(graph: Graph, policy: Policy, run: Run) -> Finding:
    """How many of those whom an attacker linked with planted nodes are found."""
    from unveil.network.node_order import sort_nodes

    trials = _TRIALS if graph.edges < _LARGE else _FEW_TRIALS
    planted = policy.settings_for(NetworkSettings).planted_nodes
    graph = sort_nodes(graph)
    attack = _measure(graph, planted, trials, run)
    found = {planted: attack}
    for size in _SIZES:
        with suppress(UnveilError):  # a small network has no room for so many
            found[size] = _measure(graph, size, trials, run)
    value = attack.targets_found
    return risks.ACTIVE.finding(
        policy,
        value=value.value,
        method="simulation",
        interval=value.interval,
        confidence=run.confidence,
        subjects=graph.nodes,
        attacker=f"Created {count_text(planted, 'account')} before the release, linked with each other and with the "
        "people they are interested in.",
        baseline=1 / graph.nodes,
        sentence=_active_sentence(attack, trials),
        curves=(_planted_curve([found[size] for size in sorted(found)], planted),),
        source=_BACKSTROM,
    )


def _measure(graph: Graph, planted: int, trials: int, run: Run) -> InsiderAttack:
    """So many trials, the same whatever else is measured."""
    from unveil.network.active_attack import measure_active_attack

    return measure_active_attack(graph, planted, trials, run.rng(f"{risks.ACTIVE.id} {planted}"), run=run)


def _active_sentence(attack: InsiderAttack, trials: int) -> str:
    low, high = (percent_text(end) for end in attack.targets_found.interval)
    own = round(attack.recovered.value * trials)
    targets = number_text(attack.targets / trials)
    wrong = f", and {count_text(attack.mistaken, 'time')} took others for them" if attack.mistaken else ""
    searches = count_text(attack.cut_short, "search", "searches")
    cut = f" {searches} took too long and counted as failed." if attack.cut_short else ""
    return (
        f"Someone who created {count_text(attack.k, 'account')} before the release finds "
        f"{percent_text(attack.targets_found.value)} of the people they linked them with ({low} to {high}; {targets} "
        f"on average in each of {trials} trials). They found their own accounts in {own} of {trials} trials{wrong}, "
        f"and learned of {count_text(attack.links_revealed, 'connection')} of {attack.links_among_targets:,} among "
        f"their targets.{cut}"
    )


def _planted_curve(found: list[InsiderAttack], planted: int) -> Curve:
    lines = {
        "found": [attack.recovered for attack in found],
        "no other place fits": [attack.single_copy for attack in found],
    }
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
        reading="Found: the place that leads to most of the people they know is theirs. No other place fits: the "
        "attack as it was published succeeds.",
    )
