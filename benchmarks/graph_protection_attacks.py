"""What each protection of a network leaves to attackers who know more than it was made for.

``python benchmarks/graph_protection_attacks.py`` protects public networks in every way that there is, and prints for
each: how many edges differ; who is found by someone who knows exactly how many connections a person had in the
original, or how many each of their friends had (H₂), and picks one of the nodes with the same at random; how many of
the people are found with whom 7 accounts were linked before the release, by a search that allows for no changes and by
one that does; and how many someone finds who holds 70% of the original's edges, drawn at random, with names, and knows
no pair to begin with: the share of nodes named rightly where 95% of the names still are, and the share of names and the
share of right ones among them if all clear matches are stated.

Random protections are drawn again in each trial. Intervals are those of 95% by Student over draws, and by Wilson over
people; the wider ends count.
"""

from __future__ import annotations

import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from _measure import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from unveil import Graph

    Protect = Callable[[Graph, np.random.Generator], Graph]

__all__ = ["main"]

_SEED = 19
_KNOWN = 0.7
_KS = (5, 25, 100)
_SHARES = (0.05, 0.2)
_ACCOUNTS, _TRIALS = 7, 20


class _Network(NamedTuple):
    """A file, how many times it is attacked by someone who holds part of it, and for which k only that is measured."""

    file: str
    draws: int
    neighbourhoods: tuple[int, ...] = ()
    passive_only: tuple[int, ...] = ()


_NETWORKS = {
    "Caltech": _Network("Caltech36.edges.gz", 10),
    "power grid": _Network("power.gml", 5, neighbourhoods=(2, 5, 10)),
    "Bowdoin": _Network("Bowdoin47.edges.gz", 5, passive_only=(5, 100)),
}


def main() -> None:
    """Print the figures."""
    import unveil

    data = data_folder()
    if data is None:
        return
    for name in sys.argv[1:] or _NETWORKS:
        network, start = _NETWORKS[name], process_time()
        graph = unveil.read(data / "graphs" / network.file, kind="graph")
        print(f"{name}: {graph.nodes:,} nodes, {graph.edges:,} edges; {network.draws} draws, seed {_SEED}", flush=True)
        protections = _protections(network)
        if not network.passive_only:
            _print_knowledge(graph, protections, network.draws)
            _print_planted(graph, protections)
        _print_passive(graph, protections, network.draws)
        print(f"  {process_time() - start:.0f} s CPU", flush=True)


# ---- protections -----------------------------------------------------------------------------------------------------


def _protections(network: _Network) -> dict[str, Protect]:
    if network.passive_only:
        return {"names removed": _remove_names, **_degree_protections(network.passive_only)}
    return {
        "names removed": _remove_names,
        **_degree_protections(_KS),
        **{f"nodes added, k = {k}": partial(_add_nodes, k=k) for k in _KS},
        **{f"{share:.0%} deleted, as many added": partial(_change_edges, share=share) for share in _SHARES},
        **{f"{share:.0%} switched": partial(_switch_edges, share=share) for share in _SHARES},
        **{f"super-nodes, k = {k}": partial(_draw_world, k=k) for k in _KS},
        **{f"neighbourhoods, k = {k}": partial(_anonymise_neighbourhoods, k=k) for k in network.neighbourhoods},
    }


def _degree_protections(ks: tuple[int, ...]) -> dict[str, Protect]:
    return {
        f"degrees, {'additions only, ' if additions_only else ''}k = {k}": partial(
            _anonymise_degrees, k=k, additions_only=additions_only
        )
        for additions_only in (False, True)
        for k in ks
    }


def _remove_names(graph: Graph, rng: np.random.Generator) -> Graph:
    return graph


def _anonymise_degrees(graph: Graph, rng: np.random.Generator, k: int, additions_only: bool) -> Graph:
    from unveil.network.protections.degree_completion import anonymise_graph
    from unveil.run import Run

    return anonymise_graph(graph, k, Run(), additions_only).graph


def _add_nodes(graph: Graph, rng: np.random.Generator, k: int) -> Graph:
    from unveil.network.protections.added_nodes import add_nodes

    return add_nodes(graph, k, rng)


def _change_edges(graph: Graph, rng: np.random.Generator, share: float) -> Graph:
    from unveil.network.protections.random_changes import change_edges_at_random

    return change_edges_at_random(graph, share, rng)


def _switch_edges(graph: Graph, rng: np.random.Generator, share: float) -> Graph:
    from unveil.network.protections.random_changes import switch_edges

    return switch_edges(graph, share, rng)


def _draw_world(graph: Graph, rng: np.random.Generator, k: int) -> Graph:
    from unveil.network.protections.super_nodes import draw_possible_world, group_nodes
    from unveil.run import Run

    return draw_possible_world(graph, group_nodes(graph, k, Run()), rng)


def _anonymise_neighbourhoods(graph: Graph, rng: np.random.Generator, k: int) -> Graph:
    from unveil.network.protections.neighbourhoods import anonymise_neighbourhoods
    from unveil.run import Run

    return anonymise_neighbourhoods(graph, k, rng, Run())


# ---- who knows numbers of connections --------------------------------------------------------------------------------


def _print_knowledge(graph: Graph, protections: dict[str, Protect], draws: int) -> None:
    print(
        "  protection | edges that differ | smallest class of degrees | alone by degree, by H2 | found by degree, by H2"
    )
    for said, protect in protections.items():
        found = []
        for draw in range(1 if protect is _remove_names else draws):
            released = protect(graph, np.random.default_rng([_SEED, draw]))
            found.append(
                [_differing_edges(graph, released), *_class_figures(released), *_found_by_knowledge(graph, released)]
            )
        differ, smallest, *shares = np.mean(found, axis=0)
        alone, alone_by_h2, found_by_degree, found_by_h2 = (f"{share:.1%}" for share in shares)
        print(
            f"  {said} | {differ / graph.edges:.1%} | {smallest:.0f} | {alone}, {alone_by_h2} | {found_by_degree}, "
            f"{found_by_h2}",
            flush=True,
        )


def _differing_edges(graph: Graph, released: Graph) -> int:
    from unveil.network.edge_keys import edge_keys
    from unveil.release.graph import edge_endpoints

    keys = [edge_keys(*edge_endpoints(each), released.nodes) for each in (graph, released)]
    return len(np.setxor1d(*keys, assume_unique=True))


def _class_figures(released: Graph) -> tuple[int, float, float]:
    """The smallest class by degree, and the shares of nodes alone in theirs by degree and by H₂."""
    from unveil.network.degrees import degree_classes
    from unveil.network.fingerprints import refine_classes

    classes = degree_classes(released)
    sizes = [np.bincount(each) for each in (classes, refine_classes(released, classes))]
    return int(sizes[0].min()), *((size == 1).sum() / released.nodes for size in sizes)


def _found_by_knowledge(graph: Graph, released: Graph) -> list[float]:
    """The share of people whom someone finds who knows their degree, or H₂, in the original, and picks a node with the
    same in the release."""
    from unveil import Graph
    from unveil.network.degrees import degree_classes
    from unveil.network.fingerprints import refine_classes
    from unveil.release.graph import edge_endpoints

    ends = [np.append(a, b + graph.nodes) for a, b in zip(edge_endpoints(graph), edge_endpoints(released), strict=True)]
    both = Graph.from_edges(*ends, nodes=graph.nodes + released.nodes)
    by_degree = degree_classes(both)
    shares = []
    for classes in (by_degree, refine_classes(both, by_degree)):
        known, shown = classes[: graph.nodes], classes[graph.nodes :]
        sizes = np.bincount(shown, minlength=len(classes))
        shares.append(float((np.equal(known, shown[: graph.nodes]) / np.maximum(sizes[known], 1)).mean()))
    return shares


# ---- who created accounts --------------------------------------------------------------------------------------------


def _print_planted(graph: Graph, protections: dict[str, Protect]) -> None:
    from unveil.network.active.attack import measure_active_attack
    from unveil.network.active.search import EXACT, WIDENING

    print(f"  protection | targets of {_ACCOUNTS} accounts found in {_TRIALS} trials: exactly | allowing for changes")
    for said, protect in protections.items():
        kept: list[Graph] = []
        shares = []
        for tolerances in ((EXACT,), WIDENING):
            publish = _publish_once(protect, kept)
            rng = np.random.default_rng(_SEED)
            shares.append(
                measure_active_attack(
                    graph, _ACCOUNTS, _TRIALS, rng, tolerances=tolerances, publish=publish
                ).targets_found
            )
        print(f"  {said} | {' | '.join(_share_text(share.value, share.interval) for share in shares)}", flush=True)


def _publish_once(protect: Protect, kept: list[Graph]) -> Protect:
    """Protect the network with accounts; when the same trials are made again, what was released then is released."""
    again = iter(list(kept))

    def publish(graph: Graph, rng: np.random.Generator) -> Graph:
        released = next(again, None)
        if released is None:
            released = protect(graph, rng)
            kept.append(released)
        return released

    return publish


# ---- who holds part of the edges -------------------------------------------------------------------------------------


def _print_passive(graph: Graph, protections: dict[str, Protect], draws: int) -> None:
    print(f"  protection | found by someone who holds {_KNOWN:.0%} of the edges | all that is stated: of nodes, right")
    for said, protect in protections.items():
        recalls, right, stated = [], 0, 0
        for draw in range(draws):
            recall, all_right, all_stated = _attack_passively(graph, protect, draw)
            recalls.append(recall)
            right, stated = right + all_right, stated + all_stated
        value, interval = _mean_share(recalls, graph.nodes)
        of_nodes, precision = stated / (draws * graph.nodes), right / max(stated, 1)
        print(f"  {said} | {_share_text(value, interval)} | {of_nodes:.1%}, {precision:.1%}", flush=True)


def _attack_passively(graph: Graph, protect: Protect, draw: int) -> tuple[float, int, int]:
    """The share of nodes found at a precision of 95%; and how many matches are right, and stated."""
    from unveil.network.passive.attack import passive_attack
    from unveil.network.passive.two_views import held_part
    from unveil.network.stopping_points import stopping_points
    from unveil.run import Run

    rng = np.random.default_rng([_SEED, draw])
    released = protect(graph, rng)
    views = held_part(graph, released, np.arange(graph.nodes), _KNOWN, rng)
    matches = passive_attack(views.left, views.right, Run(seed=draw))
    mapping = matches.stated_mapping()
    named = np.flatnonzero(mapping >= 0)
    is_right = mapping[named] == views.truth[named]
    found = stopping_points(matches.score[named], is_right).last_precise()[1]
    return found / graph.nodes, int(is_right.sum()), len(named)


def _mean_share(shares: list[float], nodes: int) -> tuple[float, tuple[float, float]]:
    from unveil.intervals import student_half_width, wilson_interval

    values = np.array(shares)
    mean, half = float(values.mean()), float(student_half_width(values))
    low, high = wilson_interval(float(values.sum()) * nodes, nodes * len(values))
    return mean, (max(0.0, min(low, mean - half)), min(1.0, max(high, mean + half)))


def _share_text(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.1%} [{interval[0]:.1%}, {interval[1]:.1%}]"


if __name__ == "__main__":
    main()
