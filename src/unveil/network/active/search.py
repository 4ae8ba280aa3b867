"""Find a known subgraph in a network without names, and the people linked with it.

An attacker who has a few nodes of their own in a network (*known nodes*: planted accounts, or a coalition of members)
knows how these are linked with each other, how many links each has, and which of them are linked with each *target*.
When the network is released without names, they look for their own nodes, and from there find the targets.

**Copies.** A copy of the known subgraph is a sequence of nodes with the same numbers of links and the same links among
them. All copies are found by a tree search (Backstrom, Dwork and Kleinberg 2007): the children of the root are the
nodes with as many links as the first known node; a path is extended by a neighbour that passes the *degree test* and
has the right links with every node of the path, the *internal structure test*.

**Tolerance.** If the owner changed the network before the release, no exact copy may be left. A :class:`Tolerance`
allows the number of links of each known node to differ by up to ``degree``, and up to ``links`` links among the known
nodes, in total, to be missing or added. Each known node but the first must have kept a link with one of those before it
in the order of the search (:func:`search_order`).

**Targets.** A copy leads to a target if exactly one node outside it is linked with the known nodes that the target is
linked with and with no others.

**Recovery.** The published attack stops at the copies and succeeds if there is *exactly one*. Ours also asks where each
copy leads. The best copies lead to the most targets; among those, the links and degrees differ the least. If they lead
to fewer than half the targets, or if the search was cut short, the attacker concludes nothing. Otherwise they have
recovered their nodes if exactly one copy is best. If several are, they have not, but a target to which all of these
lead is still found. With a tolerance, up to ``target_links`` links of a target may differ in this last step, if exactly
one node is nearest. An attacker who does not know how much was changed tries several tolerances, such as ``WIDENING``,
roughly from narrow to wide, and stops at the first that leads to a conclusion.

L. Backstrom, C. Dwork, J. Kleinberg, Wherefore art thou R3579X? Anonymized social networks, hidden patterns, and
structural steganography, WWW 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.arrays import Bools, Int32s, Ints

__all__ = [
    "EXACT",
    "MAX_KNOWN_NODES",
    "WIDENING",
    "KnownSubgraph",
    "Recovery",
    "SubgraphCopies",
    "Tolerance",
    "find_copies",
    "has_symmetry",
    "identify_targets",
    "nodes_linked_with",
    "recover_nodes",
    "search_order",
]

MAX_KNOWN_NODES = 62  # their links are the bits of an integer
_SLICE = 2_000_000  # steps between checks for cancellation: about a tenth of a second
_MAX_STEPS = 200_000_000  # about ten seconds
_MAX_COPIES = 100_000
_MAX_ENTRIES = 1 << 20  # neighbours of copies that are looked at together


@dataclass(frozen=True, eq=False)
class KnownSubgraph:
    """What the attacker knows of their own nodes, numbered 0 … k − 1.

    Bit j of ``links[i]`` says whether nodes i and j are linked. ``degrees`` are the numbers of all links of each node.
    Bit i of ``target_sets[t]`` says whether node i is linked with target t.
    """

    links: Ints
    degrees: Ints
    target_sets: Ints


@dataclass(frozen=True)
class Tolerance:
    """How far a copy may differ from the known subgraph (see the module)."""

    degree: int = 0
    links: int = 0
    target_links: int = 0

    def __post_init__(self) -> None:
        if min(self.degree, self.links, self.target_links) < 0:
            raise UnveilError("a tolerance must not be negative; use 0 for an exact match")


EXACT = Tolerance()
WIDENING = (EXACT, *(Tolerance(d, links, 1) for d, links in ((1, 1), (2, 1), (4, 1), (8, 1), (4, 2), (8, 2), (16, 1))))


@dataclass(frozen=True, eq=False)
class SubgraphCopies:
    """All copies of a known subgraph, one per row of ``nodes``.

    ``differences`` counts, for each copy, the wrong links and by how much the degrees differ. ``starts`` is the number
    of nodes that may be the first, ``tree_size`` the number of nodes of the search tree without its root. If
    ``complete`` is False, the search was cut short and there may be more copies.
    """

    nodes: Ints
    differences: Ints
    starts: int
    tree_size: int
    complete: bool


@dataclass(frozen=True, eq=False)
class Recovery:
    """What the attacker concludes.

    ``nodes`` are the positions of the known nodes, or None if they were not recovered. ``targets`` are the positions of
    the targets, −1 for those not found. ``copies`` are those with the tolerance that was tried last.
    """

    copies: SubgraphCopies
    nodes: Ints | None
    targets: Ints

    @property
    def single_copy(self) -> bool:
        """Whether the published attack succeeds: there is exactly one copy."""
        return self.copies.complete and len(self.copies.nodes) == 1


def recover_nodes(
    graph: Graph, known: KnownSubgraph, tolerances: Sequence[Tolerance] = (EXACT,), run: Run | None = None
) -> Recovery:
    """Look for the known nodes and their targets in a released graph, with one tolerance after another."""
    if not tolerances:
        raise UnveilError("give at least one tolerance to search with")
    for tolerance in tolerances:
        recovery = _recover_with(graph, known, tolerance, run)
        if recovery.nodes is not None or (recovery.targets >= 0).any():
            break
    return recovery


def _recover_with(graph: Graph, known: KnownSubgraph, tolerance: Tolerance, run: Run | None) -> Recovery:
    import numpy as np

    copies = find_copies(graph, known, tolerance, run)
    wanted = len(known.target_sets)
    if not copies.complete or len(copies.nodes) == 0:
        return Recovery(copies, None, np.full(wanted, -1))
    led_to = identify_targets(graph, known, copies.nodes)
    reached = (led_to >= 0).sum(axis=1)
    if 2 * reached.max() < wanted:
        return Recovery(copies, None, np.full(wanted, -1))
    best = np.flatnonzero(reached == reached.max())
    best = best[copies.differences[best] == copies.differences[best].min()]
    led_to = led_to[best]
    if tolerance.target_links:
        led_to = identify_targets(graph, known, copies.nodes[best], tolerance.target_links)
    agreed = np.where((led_to == led_to[0]).all(axis=0), led_to[0], -1)
    return Recovery(copies, copies.nodes[best[0]] if len(best) == 1 else None, agreed)


def find_copies(
    graph: Graph, known: KnownSubgraph, tolerance: Tolerance = EXACT, run: Run | None = None
) -> SubgraphCopies:
    """All copies of the known subgraph in an undirected graph.

    An exact search takes the known nodes in their order, as published. A tolerant one starts at the node with the
    fewest candidates, which makes its tree smaller.
    """
    import numpy as np

    if graph.directed:
        raise UnveilError(f"{safe_text(graph.name)}: the edges have directions; drop them before this attack")
    order = np.arange(len(known.links)) if tolerance == EXACT else search_order(graph.degrees, known, tolerance)
    copies = _search(graph.indptr, graph.neighbours, graph.degrees, known, order, tolerance, _MAX_COPIES, run or Run())
    nodes = copies.nodes
    if tolerance != EXACT and len(nodes):
        copies.differences[:] += np.abs(graph.degrees[nodes] - known.degrees).sum(axis=1)
    return copies


def has_symmetry(links: Ints, degrees: Ints) -> bool:
    """Whether the known nodes can change places unnoticed: other than by staying, with all links and degrees kept.

    >>> import numpy as np
    >>> path = np.array([0b010, 0b101, 0b010])
    >>> has_symmetry(path, np.array([4, 5, 4])), has_symmetry(path, np.array([4, 5, 6]))
    (True, False)
    """
    import numpy as np

    from unveil.release.text_tokens import freeze_array

    k = len(links)
    matrix = _bit_matrix(links, k)
    indptr = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int64)
    known = KnownSubgraph(links, degrees, np.empty(0, np.int64))
    order = search_order(degrees, known, EXACT)
    frozen = freeze_array(indptr, np.int64), freeze_array(np.nonzero(matrix)[1], np.int32)  # as in a Graph
    return len(_search(*frozen, degrees, known, order, EXACT, 2, Run()).nodes) > 1


def identify_targets(graph: Graph, known: KnownSubgraph, copies: Ints, wrong_links: int = 0) -> Ints:
    """For each copy (row) and each target, the node that it leads to, or −1 if there is none or more than one.

    Up to so many links of the node with the copy may be wrong, but at least one must be right.
    """
    import numpy as np

    targets = len(known.target_sets)
    found = np.full((len(copies), targets), -1, np.int64)
    entries = np.concatenate([[0], np.cumsum(graph.degrees[copies].sum(axis=1))])
    first = 0 if targets else len(copies)
    while first < len(copies):
        last = max(first + 1, int(np.searchsorted(entries, entries[first] + _MAX_ENTRIES, "right")) - 1)
        copy, node, linked_with = nodes_linked_with(graph, copies[first:last])
        part = found[first:last].reshape(-1)
        open_cells = np.ones(len(part), np.bool_)
        for allowed in range(wrong_links + 1):
            near, target = _near_sets(linked_with, known.target_sets, allowed)
            cell = copy[near] * targets + target
            near, cell = near[open_cells[cell]], cell[open_cells[cell]]
            count = np.bincount(cell, minlength=len(part))
            only = count[cell] == 1
            part[cell[only]] = node[near[only]]
            open_cells &= count == 0
        first = last
    return found


def _near_sets(linked_with: Ints, sets: Ints, wrong: int) -> tuple[Ints, Ints]:
    """All pairs of an entry and a set that differ in exactly so many members and share at least one."""
    import numpy as np

    if wrong == 0:
        order = np.argsort(sets)
        place = order[np.minimum(np.searchsorted(sets[order], linked_with), len(sets) - 1)]
        equal = np.flatnonzero(sets[place] == linked_with)
        return equal, place[equal]
    near = [np.flatnonzero((np.bitwise_count(linked_with ^ s) == wrong) & (linked_with & s != 0)) for s in sets]
    return np.concatenate(near), np.repeat(np.arange(len(sets)), [len(each) for each in near])


def nodes_linked_with(graph: Graph, copies: Ints) -> tuple[Ints, Ints, Ints]:
    """The nodes linked with each copy and outside it: (copy, node, bits of the known nodes it is linked with)."""
    import numpy as np

    from unveil.network.active._copy_search import follow_links

    most = int(graph.degrees[copies].sum())
    copy, node, linked_with = (np.empty(most, np.int64) for _ in range(3))
    bits, near = np.zeros(graph.nodes, np.int64), np.empty(graph.nodes, np.int64)
    found = follow_links(graph.indptr, graph.neighbours, copies, bits, near, copy, node, linked_with)
    return copy[:found], node[:found], linked_with[:found]


def search_order(degrees: Ints, known: KnownSubgraph, tolerance: Tolerance) -> Ints:
    """The order in which a tolerant search takes the known nodes.

    The first has the fewest candidates by its degree. The next has the most links with earlier ones, counted up to the
    number of links that may be wrong plus one; among those, the fewest candidates.
    """
    import numpy as np

    ranked = np.sort(degrees)
    low = np.searchsorted(ranked, known.degrees - tolerance.degree, "left")
    candidates = np.searchsorted(ranked, known.degrees + tolerance.degree, "right") - low
    order = [int(np.argmin(candidates))]
    while len(order) < len(known.links):
        placed = sum(1 << i for i in order)
        earlier = np.minimum(np.bitwise_count(known.links & placed), tolerance.links + 1).astype(np.int64)
        earlier[order] = -1
        order.append(int(np.lexsort((candidates, -earlier))[0]))
    return np.array(order)


def _search(
    indptr: Ints,
    neighbours: Int32s,
    degrees: Ints,
    known: KnownSubgraph,
    order: Ints,
    tolerance: Tolerance,
    most_copies: int,
    run: Run,
) -> SubgraphCopies:
    """Run the compiled search in slices; copies come back in the order of the known nodes, with their wrong links."""
    import numpy as np

    from unveil.network.active._copy_search import search_copies

    k = len(order)
    matrix = _bit_matrix(known.links, k)[np.ix_(order, order)]
    if not 2 <= k <= MAX_KNOWN_NODES or not all(matrix[i, :i].any() for i in range(1, k)):
        raise UnveilError(
            f"the known nodes must be 2 to {MAX_KNOWN_NODES}, each but the first linked with one before it"
        )
    links = (matrix.astype(np.int64) << np.arange(k)).sum(axis=1)
    least, most = known.degrees[order] - tolerance.degree, known.degrees[order] + tolerance.degree
    starts = np.flatnonzero((degrees >= least[0]) & (degrees <= most[0]))
    state, path, wrong = np.zeros(4, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64)
    anchor, cursor = np.zeros((k, 2), np.int64), np.zeros((k, 2), np.int64)
    copies = np.empty((64, k + 1), np.int64)
    ended, steps = False, 0
    while not ended and steps < _MAX_STEPS and state[2] < most_copies:
        run.check()
        if state[2] == len(copies):
            copies = np.concatenate([copies, np.empty_like(copies)])
        ended = search_copies(
            indptr, neighbours, degrees, starts, links, least, most, tolerance.links, _SLICE,
            state, path, wrong, anchor, cursor, copies,
        )  # fmt: skip
        steps += _SLICE if not ended and state[2] < len(copies) else 0
    nodes = np.empty((int(state[2]), k), np.int64)
    nodes[:, order] = copies[: state[2], :k]
    return SubgraphCopies(nodes, copies[: state[2], k].copy(), len(starts), int(state[3]), bool(ended))


def _bit_matrix(links: Ints, k: int) -> Bools:
    import numpy as np

    bits: Bools = (links[:, None] >> np.arange(k)) & 1 == 1
    return bits
