"""The finding about attackers who planted nodes before the release, or who are in the network themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Drawing, Finding
from unveil.network import risks
from unveil.network.original_order import compare_with_release
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, number_text, percent_text, verb

if TYPE_CHECKING:
    from unveil.network.active.attack import InsiderAttack
    from unveil.network.active.search import Tolerance
    from unveil.network.owner_changes import OwnerChanges

__all__ = ["active_finding", "check_original", "original_doubts"]

_BACKSTROM = (
    "L. Backstrom, C. Dwork, J. Kleinberg, Wherefore art thou R3579X? Anonymized social networks, hidden patterns, and "
    "structural steganography, WWW 2007 (walk-based attack)"
)
_TRIALS, _FEW_TRIALS = 40, 10
_LARGE = 2_000_000  # edges from which on fewer trials are made
_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12)
_TOLERANT_SIZES = (3, 5, 7)  # a search that allows for changes takes longer
_TOLERANT_TRIALS = 20
_DETECTION_TRIALS = 10


def check_original(case: Case) -> None:
    """Refuse an original whose nodes are not those of the release."""
    if isinstance(case.release, Graph) and isinstance(case.original, Graph):
        _changes(case, Run())


def _changes(case: Case, run: Run) -> OwnerChanges | None:
    """What the owner changed, if the case says what the release was made from."""
    from unveil.network.owner_changes import compare_with_original

    release, original = case.release, case.original
    if not isinstance(release, Graph) or not isinstance(original, Graph):
        return None
    return run.once("changes of the owner", lambda: compare_with_original(release, original, case.truth))


def original_doubts(case: Case, findings: Sequence[Finding]) -> Iterator[str]:
    """That the original seems to have other nodes; a mapping says which ones they are."""
    changes = None if case.truth is not None else _changes(case, Run())
    if changes is None or not any(f.id in (risks.ACTIVE.id, risks.PASSIVE.id) for f in findings):
        return
    if 2 * changes.lost > changes.original.edges:
        yield (
            f"Only {percent_text(1 - changes.lost / changes.original.edges)} of the original's connections are in the "
            f"release. If its nodes were renamed, add their mapping ({option_text('mapping', 'FILE')}); without one, "
            "leave the original out."
        )


def active_finding(case: Case, policy: Policy, run: Run) -> Finding:
    """How many of those whom an attacker linked with planted nodes are found."""
    assert isinstance(case.release, Graph)
    planted = policy.settings_for(NetworkSettings).planted_nodes
    changes = _changes(case, run)
    if changes and not changes.lost and not changes.added:
        changes = None  # nothing but names is different
    attacks = _Attacks(compare_with_release(case).released, changes, planted, run)
    value = attacks.main.targets_found
    return risks.ACTIVE.finding(
        policy,
        value=value.value,
        method="simulation",
        interval=value.interval,
        confidence=run.confidence,
        subjects=attacks.graph.nodes,
        attacker=f"Created {count_text(planted, 'account')} before the release, linked with each other and with the "
        "people they are interested in.",
        baseline=1 / attacks.graph.nodes,
        sentence=" ".join(_sentences(attacks)),
        curves=_charts(attacks),
        source=_BACKSTROM,
    )


class _Attacks:
    """Attacks on one release with several numbers of accounts, or of members. Each has a random stream of its own, so
    that a number of trials does not depend on what else is measured."""

    def __init__(self, release: Graph, changes: OwnerChanges | None, planted: int, run: Run) -> None:
        from unveil.network.measures.graph_measures import undirected_graph

        self.graph = undirected_graph(release) if changes is None else changes.original
        self.changes, self.planted, self.run = changes, planted, run
        self.trials = _TRIALS if self.graph.edges < _LARGE else _FEW_TRIALS
        if changes is not None:
            self.trials = min(self.trials, _TOLERANT_TRIALS)

    @cached_property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """What the attacker tries: exact places, and after changes also places that differ a little."""
        from unveil.network.active.search import EXACT, WIDENING

        return (EXACT,) if self.changes is None else WIDENING

    @cached_property
    def main(self) -> InsiderAttack:
        """The attack with as many accounts as are assumed."""
        return self.plant(self.planted, self.tolerances)

    @property
    def sizes(self) -> set[int]:
        """The numbers of accounts or members that are tried."""
        return {*(_SIZES if self.changes is None else _TOLERANT_SIZES), self.planted}

    def plant(self, k: int, tolerances: tuple[Tolerance, ...]) -> InsiderAttack:
        """The attack with k accounts."""
        from unveil.network.active.attack import measure_active_attack

        return measure_active_attack(
            self.graph,
            k,
            self.trials,
            self.run.rng(f"{risks.ACTIVE.id} {k}"),
            tolerances=tolerances,
            publish=None if self.changes is None else self.changes.publish,
            run=self.run,
        )

    @cached_property
    def by_number(self) -> list[InsiderAttack]:
        """Attacks by the number of accounts, as far as the network has room for them."""
        return self._by_number({self.planted: self.main}, self.tolerances)

    @cached_property
    def exact_by_number(self) -> list[InsiderAttack]:
        """The same attacks by somebody who takes only places that fit exactly."""
        from unveil.network.active.search import EXACT

        return self._by_number({self.planted: self.plant(self.planted, (EXACT,))}, (EXACT,))

    def _by_number(self, found: dict[int, InsiderAttack], tolerances: tuple[Tolerance, ...]) -> list[InsiderAttack]:
        for size in self.sizes - {self.planted}:
            with suppress(UnveilError):
                found[size] = self.plant(size, tolerances)
        return [found[size] for size in sorted(found)]

    @cached_property
    def coalitions(self) -> list[InsiderAttack]:
        """Attacks by so many members, where there are any with as many neighbours."""
        from unveil.network.active.attack import measure_coalition_attack

        found: list[InsiderAttack] = []
        for size in sorted(self.sizes):
            with suppress(UnveilError):
                rng = self.run.rng(f"{risks.ACTIVE.id} coalition {size}")
                publish = None if self.changes is None else self.changes.publish
                found.append(
                    measure_coalition_attack(self.graph, size, self.trials, rng, self.tolerances, publish, self.run)
                )
        return found


def _sentences(attacks: _Attacks) -> Iterator[str]:
    attack, trials = attacks.main, attacks.trials
    low, high = (percent_text(end) for end in attack.targets_found.interval)
    own = round(attack.recovered.value * trials)
    targets = number_text(attack.targets / trials)
    wrong = f", took others for them in {attack.mistaken}" if attack.mistaken else ""
    yield (
        f"Someone who created {count_text(attack.k, 'account')} before the release finds "
        f"{percent_text(attack.targets_found.value)} of the people they linked them with ({low} to {high}; {targets} "
        f"on average in each of {trials} trials)."
    )
    learned = (
        f"and learned of {count_text(attack.links_revealed, 'connection')} of {attack.links_among_targets:,} among "
        "their targets"
        if attack.links_among_targets
        else "and there are no connections among their targets"
    )
    yield f"They found their own accounts in {own} of {trials} trials{wrong}, {learned}."
    if attack.cut_short:
        yield f"{count_text(attack.cut_short, 'search', 'searches')} took too long and counted as failed."
    if attacks.changes is not None:
        yield from _change_sentences(attacks, attacks.changes)
    yield _detection_sentence(attacks)
    yield _coalition_sentence(attacks)


def _change_sentences(attacks: _Attacks, changes: OwnerChanges) -> Iterator[str]:
    lost, before = changes.lost, changes.original.edges
    gone = int((~changes.present).sum())
    less = f", {count_text(gone, 'node')} of the original {verb(gone, 'is', 'are')} not in it" if gone else ""
    yield (
        f"The release lacks {lost:,} of {count_text(before, 'connection')} of the original and has "
        f"{count_text(changes.added, 'other', 'others')}{less}; connections of the accounts were changed at random, "
        "equally often, because what the owner would have done to them is not known."
    )
    (exact,) = (attack for attack in attacks.exact_by_number if attack.k == attacks.planted)
    yield (
        "This attacker allows for such changes; one who looks for places that fit exactly finds "
        f"{percent_text(exact.targets_found.value)}."
    )


def _detection_sentence(attacks: _Attacks) -> str:
    from unveil.network.active.planted_detection import measure_detection

    rng = attacks.run.rng(f"{risks.ACTIVE.id} detection")
    trials = min(attacks.trials, _DETECTION_TRIALS)
    found = measure_detection(attacks.graph, attacks.planted, trials, rng, run=attacks.run)
    more, fewer = (percent_text(estimate.value) for estimate in (found.by_degree, found.by_clustering))
    return (
        f"On average, such an account has more connections than {more} of the nodes, and a smaller share of its "
        f"neighbours know each other than for {fewer} of the nodes with about as many connections (ties count half; "
        "50% does not stand out, 0% and 100% do)."
    )


def _coalition_sentence(attacks: _Attacks) -> str:
    k = attacks.planted
    found = next((attack for attack in attacks.coalitions if attack.k == k), None)
    if found is None:
        return f"No node has {count_text(k - 1, 'neighbour')} to put together what they know."
    who = f"One member and {count_text(k - 1, 'neighbour')} of theirs, who put together what they know,"
    own = f"their own places in {round(found.recovered.value * attacks.trials)} of {attacks.trials} trials"
    if not found.targets:
        return f"{who} can tell nobody else apart; they find {own}."
    low, high = (percent_text(end) for end in found.targets_found.interval)
    average = number_text(found.targets / attacks.trials)
    cut = f"; {count_text(found.cut_short, 'search', 'searches')} took too long" if found.cut_short else ""
    return (
        f"{who} find {percent_text(found.targets_found.value)} of the people whom they can tell apart "
        f"({low} to {high}; {average} on average), and {own}{cut}."
    )


def _charts(attacks: _Attacks) -> tuple[Drawing, ...]:
    from unveil.network.active import charts

    planted = attacks.planted
    drawing = charts.planted_drawing(attacks.graph, planted, attacks.run.rng(f"{risks.ACTIVE.id} drawing"))
    coalitions = charts.coalition_chart(attacks.coalitions)
    if attacks.changes is not None:
        changed = charts.changed_chart(attacks.by_number, attacks.exact_by_number, planted)
        return (changed, *coalitions, *drawing)
    found = attacks.by_number
    searches = charts.search_chart(found, planted)
    return (charts.planted_chart(found, planted), *coalitions, searches, *drawing)
