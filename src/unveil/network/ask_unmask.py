"""The finding about a network that somebody holds, with names: how many nodes of the release they name rightly.

**What is counted.** The attacker names every node whose match is clear, and each name is right with some probability.
The value is the share of nodes named rightly: counted if the true matches are known, and otherwise the sum of these
probabilities. Names that are less than 95% probable count as well, since most of them are right on real networks, and
the people behind them are found. What guessing achieves is at most one over the number of nodes of the larger network,
the expected share of right pairs if the nodes are paired at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.finding import Curve, ExposedSubject, Finding
from unveil.holding import Holding
from unveil.network.risks import UNMASKED
from unveil.policy import Policy
from unveil.question import Artefact
from unveil.release.graph import Graph
from unveil.release.table import Table
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, number_text, percent_text, safe_text, verb

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Ints
    from unveil.network.passive.unmasking import MeasuredNames, NamedNodes

__all__ = ["KNOWN_NETWORK", "SEEDS", "TRUE_MATCHES", "check_known_network", "name_table", "unmask_findings"]

_SOURCE = (
    "A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009; M. Bayati, D. Gleich, A. Saberi, Y. Wang, "
    "Message-passing algorithms for sparse network alignment, ACM TKDD 7, 2013"
)
_SURE = 0.95
_BARS = 10
_MOST_POINTS = 50  # of a line
_SCORE_STEPS = (0, 1, 2, 4, 8, 12)


# ---- what is read ----------------------------------------------------------------------------------------------------


KNOWN_NETWORK = Holding(
    UNMASKED.needs, "graph", "The network that the attacker holds, with names; it shows some of the same people."
)
SEEDS = Holding(
    "seeds",
    "table",
    "Pairs of nodes that the attacker believes to know beforehand: columns known and node, with the label of a node in "
    "the network held and in the release.",
    only_after_protection=True,
)
TRUE_MATCHES = Holding(
    "true_matches",
    "table",
    "All true pairs of nodes, to measure the attack against: columns known and node. Nodes without a pair are in one "
    "network only.",
    only_after_protection=True,
)


def _held_pairs(held: Holding, case: Case) -> Ints | None:
    """Which node of the release each node of the network held is by a file of pairs, −1 where none."""
    pairs = case.holds.get(held.name)
    if pairs is None:
        return None
    what = held.name.replace("_", " ")
    from unveil.network.node_pairs import parse_node_pairs

    known, name = case.holds.get(KNOWN_NETWORK.name), safe_text(pairs.name)
    if not isinstance(pairs, Table):
        raise UnveilError(f"{name}: {what} must be a table")
    if not isinstance(known, Graph) or not isinstance(case.release, Graph):
        raise UnveilError(
            f"{name}: {what} need the network that they are about; add {option_text(KNOWN_NETWORK.name, 'FILE')}"
        )
    return parse_node_pairs(pairs, known, case.release)


def check_known_network(case: Case, policy: Policy) -> None:
    """Refuse a network that cannot be compared with the release, and pairs of nodes that are not there."""
    known, release = case.holds.get(KNOWN_NETWORK.name), case.release
    if known is not None:
        if not isinstance(known, Graph):
            raise UnveilError(f"{safe_text(known.name)}: the network that somebody holds must be a graph")
        assert isinstance(release, Graph)
        if known.directed != release.directed:
            one, other = (safe_text(graph.name) for graph in sorted((known, release), key=lambda graph: graph.directed))
            raise UnveilError(
                f"{other} was read as a directed graph and {one} as an undirected one; save both as edge lists and "
                f"read both with {option_text('directed')}, or both without"
            )
        if known.digest == release.digest:
            raise UnveilError(
                f"{safe_text(known.name)}: the network held is the release itself, names included; name another file"
            )
    for pairs in (SEEDS, TRUE_MATCHES):
        _held_pairs(pairs, case)


# ---- what is found ---------------------------------------------------------------------------------------------------


def unmask_findings(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
    """Who is who in the release, if somebody holds a network with names; and the names, for the owner's eyes only."""
    from unveil.network.passive.unmasking import NetworkPair, measure_names, name_nodes

    known, release = case.holds.get(KNOWN_NETWORK.name), case.release
    if not isinstance(known, Graph) or not isinstance(release, Graph):
        return
    pair = NetworkPair.draw(known, release, run, UNMASKED.id)
    seeds, truth = (_held_pairs(pairs, case) for pairs in (SEEDS, TRUE_MATCHES))
    found = name_nodes(pair, run, UNMASKED.id, seeds)
    measured = None if truth is None else measure_names(found, pair, truth, run)
    share = (found.expected_right() if measured is None else measured.right) / release.nodes
    yield UNMASKED.finding(
        policy,
        title=f"Nodes named by someone who holds the network “{safe_text(known.name)}”",
        value=share,
        method="estimate" if measured is None else "exact",
        subjects=release.nodes,
        share=share,
        attacker=_attacker_text(known, seeds),
        baseline=1 / max(known.nodes, release.nodes),
        sentence=" ".join(_sentences(found, known, release, seeds, measured)),
        curves=tuple(_curves(found, release, measured)),
        exposed=_exposed_nodes(found, known, release, run),
        source=_SOURCE,
    )
    yield Artefact("matches", table=partial(name_table, found, known, release))


def name_table(found: NamedNodes, known: Graph, release: Graph) -> pa.Table:
    """The names that the attacker gives to nodes, the clearest first: ``known``, the label in the network held, and
    ``node``, the label in the release, with the score of the match and how probable it is to be right (missing if the
    attack was not rehearsed)."""
    import numpy as np
    import pyarrow as pa

    rehearsed = found.probability is not None
    probability = found.probability if rehearsed else np.zeros(len(found.node))
    return pa.table(
        {
            "known": known.labels.take(pa.array(found.known)),
            "node": release.labels.take(pa.array(found.node)),
            "score": found.score,
            "probability": pa.array(probability, mask=np.full(len(found.node), not rehearsed)),
        }
    )


def _exposed_nodes(found: NamedNodes, known: Graph, release: Graph, run: Run) -> tuple[ExposedSubject, ...]:
    """The nodes whose names are most probably right; none if nothing is known about that."""
    from unveil.network.passive.unmasking import preserved_edges

    if found.probability is None:
        return ()
    edges = release.degrees + (release.in_degrees if release.directed else 0)
    kept = preserved_edges(found, known, release)
    return tuple(
        ExposedSubject(
            subject=f"node {int(found.node[i]) + 1:,}",
            risk=float(found.probability[i]),
            because=_kept_edges_text(int(kept[i]), int(edges[found.node[i]])),
            learns=("who it is", "all its connections"),
            values={
                "node": safe_text(release.labels[int(found.node[i])].as_py()),
                "named": safe_text(known.labels[int(found.known[i])].as_py()),
            }
            if run.reveal
            else None,
        )
        for i in range(min(run.exposed, len(found.node)))
        if found.probability[i] > 0
    )


def _kept_edges_text(kept: int, edges: int) -> str:
    if edges == 1:
        return f"its only connection is {'' if kept else 'not '}in the network held as well"
    return f"{kept:,} of its {count_text(edges, 'connection')} {verb(kept, 'is', 'are')} in the network held as well"


# ---- in words --------------------------------------------------------------------------------------------------------


def _attacker_text(known: Graph, seeds: Ints | None) -> str:
    pairs = 0 if seeds is None else int((seeds >= 0).sum())
    before = f"believes to know {count_text(pairs, 'pair')} of nodes" if pairs else "does not know who any node is"
    return (
        f"Holds a network with names ({safe_text(known.name)}, {count_text(known.nodes, 'node')} and "
        f"{count_text(known.edges, 'edge')}) that shows some of the same people, and {before}."
    )


def _sentences(
    found: NamedNodes, known: Graph, release: Graph, seeds: Ints | None, measured: MeasuredNames | None
) -> Iterator[str]:
    """What the finding says, sentence by sentence."""
    who, names, nodes = f"Someone who holds {safe_text(known.name)}", len(found.node), release.nodes
    if not names:
        yield f"{who} names nobody: no match is more likely right than wrong."
    elif measured is not None:
        yield _right_sentence(who, measured.right, nodes)
        yield _precision_sentence(measured.right, names)
    elif found.probability is not None:
        expected = found.expected_right()
        yield (
            f"{who} names {names:,} of {count_text(nodes, 'node')}, and {_about_text(expected)} of the names are "
            f"expected to be right ({percent_text(expected / nodes)} of all nodes)."
        )
    else:
        yield f"{who} names {names:,} of {count_text(nodes, 'node')} ({percent_text(names / nodes)})."
    if found.probability is not None:
        yield from _probability_sentences(found, nodes, measured)
    elif names:
        yield f"Names have scores, not probabilities: {_unrehearsed_text(names, known.edges + release.edges)}."
        if measured is None:
            yield "How many of them are right is not known: the share counts all of them."
    if seeds is not None and (seeds >= 0).any():
        yield from _seed_sentences(found, seeds)
    if measured is not None:
        yield from _truth_sentences(measured)


def _right_sentence(who: str, right: int, nodes: int) -> str:
    if not right:
        return f"{who} names none of {count_text(nodes, 'node')} rightly."
    return f"{who} names {right:,} of {count_text(nodes, 'node')} rightly ({percent_text(right / nodes)})."


def _precision_sentence(right: int, names: int) -> str:
    if names == 1:
        return f"The only name given is {'right' if right else 'wrong'}."
    return f"Of the {names:,} names given, {percent_text(right / names)} are right."


def _probability_sentences(found: NamedNodes, nodes: int, measured: MeasuredNames | None) -> Iterator[str]:
    """How many names are probable, what is expected of all, and where probabilities come from."""
    assert found.probability is not None
    is_sure = found.probability >= _SURE
    sure = int(is_sure.sum())
    names = f"{count_text(sure, 'name')} {verb(sure, 'has', 'have')}" if sure else "No name has"
    text = f"{names} a stated probability of at least {percent_text(_SURE)}"
    if measured is not None and sure:
        right = int(measured.is_right[is_sure].sum())
        text += f"; {right:,} of {sure:,} {verb(right, 'is', 'are')} right"
    yield f"{text}."
    if measured is not None:
        expected = found.expected_right()
        yield f"Without the true matches, one would expect {_about_text(expected)} to be right."
    yield (
        "Probabilities come from rehearsing the attack on networks like these, for which the truth is known; they may "
        "be too high or too low if the two networks differ in other ways than by edges that are missing at random."
    )


def _unrehearsed_text(names: int, edges: int) -> str:
    """Why names have no probability."""
    from unveil.network.passive.unmasking import LEAST_NAMES, MOST_REHEARSED_EDGES

    if names < LEAST_NAMES:
        return f"with fewer than {LEAST_NAMES} names there is too little to rehearse the attack on"
    if edges > MOST_REHEARSED_EDGES:
        return (
            f"with more than {MOST_REHEARSED_EDGES:,} edges in the two networks together, the attack was not rehearsed"
        )
    return "in rehearsals, the attack named less than half or more than twice as many nodes as here"


def _seed_sentences(found: NamedNodes, seeds: Ints) -> Iterator[str]:
    """What became of the pairs known beforehand."""
    import numpy as np

    known = np.flatnonzero(seeds >= 0)
    named = found.partner(len(seeds))
    confirmed = named[known] == seeds[known]
    rejected = ~confirmed & ((named[known] >= 0) | np.isin(seeds[known], found.node))
    pairs, right, wrong = len(known), int(confirmed.sum()), int(rejected.sum())
    yield (
        f"Of {count_text(pairs, 'pair')} known beforehand, the attack confirms {right:,}, rejects {wrong:,} "
        f"({percent_text(wrong / pairs)}) and leaves {pairs - right - wrong:,} open"
        f"{'; confirmed pairs count as named' if right else ''}."
    )


def _truth_sentences(measured: MeasuredNames) -> Iterator[str]:
    """How many there were to find, and how many other attacks find."""
    common, right = measured.common, measured.right
    if not common:
        yield "By the true matches, nobody is in both networks."
        return
    if common == 1:
        yield "By the true matches, 1 node is in both networks."
    else:
        yield f"By the true matches, {common:,} nodes are in both networks; {percent_text(right / common)} are found."
    yield (
        f"Started from the truth, the same attack names {_none_or(measured.from_truth)} rightly, which is no strict "
        f"limit; matching nodes by rank of how many connections they have gets {_none_or(measured.by_degree)} right."
    )


def _none_or(count: int) -> str:
    return f"{count:,}" if count else "none"


def _about_text(expected: float) -> str:
    """An expected number; of few, with decimals, so that it agrees with the percentage beside it."""
    return f"about {number_text(round(expected) if expected >= 100 else float(f'{expected:.3g}'))}"


# ---- charts ----------------------------------------------------------------------------------------------------------


def _curves(found: NamedNodes, release: Graph, measured: MeasuredNames | None) -> Iterator[Curve]:
    if len(found.node):
        yield _probability_curve(found) if found.probability is not None else _score_curve(found)
        if measured is not None:
            yield _precision_curve(measured, release.nodes)


def _probability_curve(found: NamedNodes) -> Curve:
    import numpy as np

    assert found.probability is not None
    bar = np.minimum((found.probability * _BARS).astype(np.int64), _BARS - 1)
    sure = int((found.probability >= _SURE).sum())
    return Curve(
        title="Named nodes, by the probability that the name is right",
        kind="bars",
        x_label="probability that the name is right",
        y_label="nodes",
        x=tuple(f"{100 * i // _BARS}–{100 * (i + 1) // _BARS}%" for i in range(_BARS)),
        y=tuple(np.bincount(bar, minlength=_BARS).tolist()),
        x_scale="category",
        reading=f"For {sure:,} of {count_text(len(found.node), 'named node')}, the probability is at least "
        f"{percent_text(_SURE)}.",
    )


def _score_curve(found: NamedNodes) -> Curve:
    import numpy as np

    bar = np.searchsorted(_SCORE_STEPS, found.score, side="right") - 1
    ends = [f"{low}–{high}" for low, high in pairwise(_SCORE_STEPS)]
    return Curve(
        title="Named nodes, by score",
        kind="bars",
        x_label="score",
        y_label="nodes",
        x=(*ends, f"{_SCORE_STEPS[-1]} or more"),
        y=tuple(np.bincount(bar, minlength=len(_SCORE_STEPS)).tolist()),
        x_scale="category",
        reading="A score is the logarithm of the odds that a match is right, if all other matches are, and 3 more "
        "where the published attack makes the same match. It is not a probability.",
    )


def _precision_curve(measured: MeasuredNames, nodes: int) -> Curve:
    """Precision and recall of the clearest names, for more and more of them."""
    import numpy as np

    names = len(measured.is_right)
    ends = np.unique(np.linspace(1, names, min(names, _MOST_POINTS)).astype(np.int64))
    right = np.cumsum(measured.is_right)[ends - 1]
    return Curve(
        title="How many names are right, from the clearest to the least clear",
        kind="line",
        x_label="share of nodes named rightly",
        y_label="share of names that are right",
        x=tuple((right / nodes).tolist()),
        y=tuple((right / ends).tolist()),
        reading="Precision and recall: each point is an attacker who gives the clearest names only, the last one all "
        f"{count_text(names, 'name')}.",
    )
