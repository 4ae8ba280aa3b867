"""Read which node of the network held is which node of the release, from a table of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.graph import Graph
from unveil.release.table import Table
from unveil.wording import safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Bools, Ints

__all__ = ["KNOWN_COLUMN", "NODE_COLUMN", "parse_node_pairs"]

KNOWN_COLUMN, NODE_COLUMN = "known", "node"


def parse_node_pairs(pairs: Table, known: Graph, release: Graph) -> Ints:
    """For each node of the network held, the node of the release in the same row of the table, or −1. Other columns
    than the two with labels do not matter."""
    import numpy as np
    import pyarrow as pa

    name = safe_text(pairs.name)
    if not {KNOWN_COLUMN, NODE_COLUMN} <= set(pairs.columns):
        raise UnveilError(
            f"{name}: the columns {KNOWN_COLUMN} and {NODE_COLUMN} are needed; name them in the first line, separated "
            "by a comma, and write the labels of a node in the network held and in the release below"
        )
    whole = pa.Table.from_batches(pairs.batches())
    ends = []
    for column, graph in ((KNOWN_COLUMN, known), (NODE_COLUMN, release)):
        numbers = _node_numbers(whole.column(column), graph)
        _refuse_first_row(numbers < 0, f"has a {column} label that is not in {safe_text(graph.name)}", name)
        _refuse_first_row(
            _is_repeated(numbers), f"repeats the {column} label of an earlier row; keep one row for each", name
        )
        ends.append(numbers)
    partner = np.full(known.nodes, -1)
    partner[ends[0]] = ends[1]
    return partner


def _node_numbers(labels: pa.ChunkedArray, graph: Graph) -> Ints:
    """The number of each labelled node; −1 if it is not there."""
    import numpy as np
    import pyarrow.compute as pc

    found = pc.index_in(labels.combine_chunks().cast("string"), graph.labels.cast("string"))
    return np.asarray(found.fill_null(-1), np.int64)


def _is_repeated(numbers: Ints) -> Bools:
    """Whether an earlier row has the same number."""
    import numpy as np

    repeated = np.ones(len(numbers), np.bool_)
    repeated[np.unique(numbers, return_index=True)[1]] = False
    return repeated


def _refuse_first_row(wrong: Bools, why: str, name: str) -> None:
    """Raise an error with the number of the first wrong row; labels stay out of it."""
    if wrong.any():
        raise UnveilError(f"{name}: row {int(wrong.argmax()) + 1:,} {why}")
