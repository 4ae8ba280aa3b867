"""How often do a few insiders find themselves, and others, in a network that was released without names?

**Active attack** (Backstrom, Dwork and Kleinberg 2007): the attacker plants k nodes before the release
(``planted_nodes.py``) and looks for them in it (``search.py``). :func:`measure_active_attack` repeats this with
new planted nodes and new targets, and counts.

**Coalition**, the same attack without planting: a member of the network and k − 1 of their neighbours put together what
they know: their links with each other, how many links each has, and who these lead to. They look for themselves in the
release. Their targets are the others who can be told apart from there: no two of them are linked with the same members.

What counts: the attacker's nodes are *recovered* in a trial if the attacker concludes where they are (the rule is in
``search.py``) and every one of them is right. A wrong conclusion is counted as ``mistaken``, never as success. A
target is *found* if the attacker names the right node. For every two targets found, the attacker learns whether they
are linked; a link is *revealed* if it was there before the release and is in it.

In a directed graph, directions are dropped first. An attacker who uses them has one more test for every link, and so
finds no fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.intervals import Estimate, estimate_mean
from unveil.network.active.planted_nodes import AttackedGraph, accidental_copy_bound, choose_degree_window, plant_nodes
from unveil.network.active.search import (
    EXACT,
    MAX_KNOWN_NODES,
    KnownSubgraph,
    Recovery,
    Tolerance,
    nodes_linked_with,
    recover_nodes,
)
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Bools, Ints

    Publication = Callable[[Graph, np.random.Generator], Graph]
    """What the owner does to a graph before its release. All nodes keep their positions."""

__all__ = ["InsiderAttack", "form_coalition", "measure_active_attack", "measure_coalition_attack"]


@dataclass(frozen=True)
class InsiderAttack:
    """What attackers with k nodes of their own achieved in several trials.

    ``recovered`` is the share of trials in which they recovered their nodes, ``single_copy`` the share in which the
    published rule suffices: there is exactly one copy, and it is theirs. ``mistaken`` counts trials with a wrong
    conclusion, ``cut_short`` those whose last search ran out of budget; neither is a success. ``targets_found`` is
    the mean share of targets found; NaN if there were none. The other fields are sums over the trials, or means where
    they say so. ``copy_bound`` is the bound on an accidental copy, for planted nodes only.
    """

    k: int
    nodes: int
    window: tuple[int, int] | None
    recovered: Estimate
    single_copy: Estimate
    mistaken: int
    cut_short: int
    targets: int
    targets_found: Estimate
    targets_mistaken: int
    links_among_targets: int
    links_revealed: int
    pairs_learned: int
    mean_tree_size: float
    mean_starts: float
    mean_copies: float
    copy_bound: float | None


def measure_active_attack(
    graph: Graph,
    k: int,
    trials: int,
    rng: np.random.Generator,
    window: tuple[int, int] | None = None,
    targets: int | Sequence[int] | None = None,
    tolerances: Sequence[Tolerance] = (EXACT,),
    publish: Publication | None = None,
    run: Run | None = None,
) -> InsiderAttack:
    """Plant k nodes, release the graph and look for them, in so many trials.

    ``window`` and ``targets`` are as in :func:`plant_nodes`. ``publish`` is what the owner does to the graph before its
    release, with all nodes keeping their positions; by default nothing but removing names. ``tolerances`` are
    tried one after another until one leads to a conclusion.
    """
    graph = _drop_directions(graph)
    window = window or choose_degree_window(graph, k)

    def plant(trial_rng: np.random.Generator) -> AttackedGraph:
        return plant_nodes(graph, k, trial_rng, window, targets)

    outcomes = list(_repeat_attack(plant, trials, rng, tolerances, publish, run or Run()))
    bound = accidental_copy_bound(graph.nodes + k, k)
    return _summarise(outcomes, k, graph.nodes + k, window, bound, (run or Run()).confidence)


def measure_coalition_attack(
    graph: Graph,
    k: int,
    trials: int,
    rng: np.random.Generator,
    tolerances: Sequence[Tolerance] = (EXACT,),
    publish: Publication | None = None,
    run: Run | None = None,
) -> InsiderAttack:
    """Form a coalition of k members of the network, release the graph and let them look for themselves."""
    graph = _drop_directions(graph)

    def form(trial_rng: np.random.Generator) -> AttackedGraph:
        return form_coalition(graph, k, trial_rng)

    outcomes = list(_repeat_attack(form, trials, rng, tolerances, publish, run or Run()))
    return _summarise(outcomes, k, graph.nodes, None, None, (run or Run()).confidence)


def form_coalition(graph: Graph, k: int, rng: np.random.Generator) -> AttackedGraph:
    """A random node with at least k − 1 neighbours, and k − 1 of these at random. A node outside is a target if it is
    linked with members, and no other node outside with the same ones."""
    import numpy as np

    if not 2 <= k <= MAX_KNOWN_NODES:
        raise UnveilError(f"the number of members of a coalition must be 2 to {MAX_KNOWN_NODES}")
    centres = np.flatnonzero(graph.degrees >= k - 1)
    if not len(centres):
        raise UnveilError(
            f"{safe_text(graph.name)}: no node has {count_text(k - 1, 'neighbour')} to form a coalition with; "
            "choose a smaller coalition"
        )
    centre = int(rng.choice(centres))
    around = graph.neighbours[graph.indptr[centre] : graph.indptr[centre + 1]]
    members = np.concatenate([[centre], rng.choice(around, k - 1, replace=False)]).astype(np.int64)
    links = (_linked_pairs(graph, members).astype(np.int64) << np.arange(k)).sum(axis=1)
    _, node, linked_with = nodes_linked_with(graph, members[None, :])
    sets, first, count = np.unique(linked_with, return_index=True, return_counts=True)
    known = KnownSubgraph(links, graph.degrees[members], sets[count == 1])
    return AttackedGraph(graph, known, members, node[first[count == 1]])


@dataclass(frozen=True)
class _Outcome:
    """One trial."""

    recovered: bool
    single_copy: bool
    mistaken: bool
    cut_short: bool
    targets: int
    found: int
    targets_mistaken: int
    links: int
    revealed: int
    tree_size: int
    starts: int
    copies: int


def _repeat_attack(
    prepare: Callable[[np.random.Generator], AttackedGraph],
    trials: int,
    rng: np.random.Generator,
    tolerances: Sequence[Tolerance],
    publish: Publication | None,
    run: Run,
) -> Iterator[_Outcome]:
    if trials < 1:
        raise UnveilError("the number of trials must be at least 1")
    for trial, trial_rng in enumerate(rng.spawn(trials)):
        run.check()
        run.progress("looking for insiders in the network", trial / trials)
        attacked = prepare(trial_rng)
        released = attacked.graph if publish is None else publish(attacked.graph, trial_rng)
        yield _judge(attacked, released, recover_nodes(released, attacked.known, tolerances, run))
    run.progress("looking for insiders in the network", 1.0)


def _judge(attacked: AttackedGraph, released: Graph, recovery: Recovery) -> _Outcome:
    """Compare what the attacker concluded with the truth."""
    import numpy as np

    right = recovery.nodes is not None and np.array_equal(recovery.nodes, attacked.nodes)
    single = recovery.single_copy and np.array_equal(recovery.copies.nodes[0], attacked.nodes)
    found = recovery.targets == attacked.targets
    before = _linked_pairs(attacked.graph, attacked.targets)
    after = _linked_pairs(released, attacked.targets) & found & found[:, None]
    return _Outcome(
        recovered=right,
        single_copy=single,
        mistaken=recovery.nodes is not None and not right,
        cut_short=not recovery.copies.complete,
        targets=len(found),
        found=int(found.sum()),
        targets_mistaken=int(((recovery.targets >= 0) & ~found).sum()),
        links=int(before.sum()) // 2,
        revealed=int((before & after).sum()) // 2,
        tree_size=recovery.copies.tree_size,
        starts=recovery.copies.starts,
        copies=len(recovery.copies.nodes),
    )


def _summarise(
    outcomes: list[_Outcome],
    k: int,
    nodes: int,
    window: tuple[int, int] | None,
    bound: float | None,
    confidence: float,
) -> InsiderAttack:
    trials = len(outcomes)
    return InsiderAttack(
        k=k,
        nodes=nodes,
        window=window,
        recovered=estimate_mean([o.recovered for o in outcomes], confidence),
        single_copy=estimate_mean([o.single_copy for o in outcomes], confidence),
        mistaken=sum(o.mistaken for o in outcomes),
        cut_short=sum(o.cut_short for o in outcomes),
        targets=sum(o.targets for o in outcomes),
        targets_found=estimate_mean([o.found / o.targets for o in outcomes if o.targets], confidence),
        targets_mistaken=sum(o.targets_mistaken for o in outcomes),
        links_among_targets=sum(o.links for o in outcomes),
        links_revealed=sum(o.revealed for o in outcomes),
        pairs_learned=sum(comb(o.found, 2) for o in outcomes),
        mean_tree_size=sum(o.tree_size for o in outcomes) / trials,
        mean_starts=sum(o.starts for o in outcomes) / trials,
        mean_copies=sum(o.copies for o in outcomes) / trials,
        copy_bound=bound,
    )


def _linked_pairs(graph: Graph, some: Ints) -> Bools:
    """Which of some nodes are linked with which."""
    import numpy as np

    linked = np.zeros((len(some), len(some)), np.bool_)
    for place, node in enumerate(some.tolist()):
        linked[place] = np.isin(some, graph.neighbours[graph.indptr[node] : graph.indptr[node + 1]])
    return linked


def _drop_directions(graph: Graph) -> Graph:
    if not graph.directed:
        return graph
    sources, ends = edge_endpoints(graph)
    return Graph.from_edges(sources, ends, nodes=graph.nodes, name=graph.name)
