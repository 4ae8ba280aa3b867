"""Data-flow networks of randomising nodes.

An owner may build the secret bijection by sending entries through nodes, each of which shuffles its inputs onto its
outputs at random. Whoever knows the layout knows, for every entry and every output label, the probability that the
label is the entry's: at each node every output carries each input with probability one over the number of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unveil.errors import UnveilError
from unveil.matching.candidates import Floats

__all__ = ["network_matrix"]


def network_matrix(
    entries: Sequence[str], labels: Sequence[str], nodes: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> Floats:
    """The probability of every label (column) for every entry (row).

    ``nodes`` maps a node's name to its inputs and outputs. An input is an entry or a node, an output a label or a node;
    a node that feeds another stands among that one's inputs, and the other among its outputs, once for each channel.
    """
    for name, (inputs, outputs) in nodes.items():
        if len(inputs) != len(outputs):
            raise UnveilError(f"node {name} has {len(inputs)} inputs and {len(outputs)} outputs; it must have as many")
    position = {entry: i for i, entry in enumerate(entries)}
    carried: dict[str, Floats] = {}

    def out(name: str, waiting: frozenset[str]) -> Floats:
        """What each output channel of a node, or an entry itself, carries: a distribution over the entries."""
        if name in position:
            own: Floats = np.eye(len(entries))[position[name]]
            return own
        if name in waiting or name not in nodes:
            raise UnveilError(f"{name} is no entry and no node that comes before; the network must have no cycle")
        if name not in carried:
            inputs = nodes[name][0]
            carried[name] = np.mean([out(i, waiting | {name}) for i in inputs], axis=0)
        return carried[name]

    found = np.zeros((len(entries), len(labels)))
    for name, (_, outputs) in nodes.items():
        for output in outputs:
            if output in labels:
                found[:, labels.index(output)] = out(name, frozenset())
    sums = np.concatenate([found.sum(axis=0), found.sum(axis=1)])
    if np.abs(sums - 1).max(initial=0.0) > 1e-9:
        raise UnveilError("the network loses or doubles something; every channel leads from one output to one input")
    return found
