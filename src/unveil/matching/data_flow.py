"""Data-flow networks of randomising nodes.

An owner may build the secret bijection by sending entries through nodes, each of which shuffles its inputs onto its
outputs at random. Anyone who knows the layout knows, for every entry and output label, the probability that the label
belongs to the entry: each output of a node carries each of its m inputs with probability 1/m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unveil.arrays import Floats
from unveil.errors import UnveilError
from unveil.wording import ordinal_text

__all__ = ["network_matrix"]


def network_matrix(
    entries: Sequence[str], labels: Sequence[str], nodes: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> Floats:
    """The probability of every label (column) for every entry (row).

    ``nodes`` maps a node's name to its inputs and outputs. An input is an entry or a node, an output a label or a node.
    If one node feeds another, each lists the other once per channel.
    """
    for number, (inputs, outputs) in enumerate(nodes.values(), 1):
        if len(inputs) != len(outputs):
            raise UnveilError(
                f"the {ordinal_text(number)} node has {len(inputs)} inputs but {len(outputs)} outputs; give equally "
                "many"
            )
    position = {entry: i for i, entry in enumerate(entries)}
    carried: dict[str, Floats] = {}

    def output_distribution(name: str, waiting: frozenset[str]) -> Floats:
        """The distribution over entries that each output of a node, or an entry itself, carries."""
        if name in position:
            own: Floats = np.eye(len(entries))[position[name]]
            return own
        if name in waiting or name not in nodes:
            raise UnveilError("an input is neither an entry nor an earlier node; the network must not have cycles")
        if name not in carried:
            inputs = nodes[name][0]
            carried[name] = np.mean([output_distribution(i, waiting | {name}) for i in inputs], axis=0)
        return carried[name]

    found = np.zeros((len(entries), len(labels)))
    for name, (_, outputs) in nodes.items():
        for output in outputs:
            if output in labels:
                found[:, labels.index(output)] = output_distribution(name, frozenset())
    sums = np.concatenate([found.sum(axis=0), found.sum(axis=1)])
    if np.abs(sums - 1).max(initial=0.0) > 1e-9:
        raise UnveilError("the network loses or duplicates entries; connect every output to exactly one input")
    return found
