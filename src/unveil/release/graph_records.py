"""Collect the nodes and edges that GML and GraphML write as records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.graph import REPEATED_LABELS, Graph, attribute_notes, simple_graph

if TYPE_CHECKING:
    from unveil.arrays import Int32s

__all__ = ["GraphRecords"]

_PIECE = 1 << 14  # nodes or edges that are numbered together


class GraphRecords:
    """Nodes and edges in the order of the file; an edge may precede its nodes.

    Ids and names become numbers some thousands at a time, since an object for each would fill the memory.
    """

    def __init__(self, file: str, line_number: Callable[[int], int]) -> None:
        from unveil.release.label_table import GrowingArray, LabelTable

        self.file = file
        self.line_number = line_number  # the line number of a position in the file
        self.directed = False
        self.has_node_attributes = self.has_edge_attributes = False
        self.notes: tuple[str, ...] = ()
        self._ids, self._names, self._end_ids = LabelTable(), LabelTable(), LabelTable()
        self._ends, self._places = GrowingArray(), GrowingArray()
        self._nodes: list[tuple[str, str, int]] = []
        self._edges: list[tuple[str, str, int]] = []

    def error_at(self, place: int, what: str) -> UnveilError:
        self.number_records()  # a node before this place may be at fault
        return UnveilError(f"{self.file}: line {self.line_number(place):,}: {what}")

    def add_node(self, key: str | None, name: str | None, place: int) -> None:
        if key is None:
            raise self.error_at(place, "a node has no id; add one")
        self._nodes.append((key, key if name is None else name, place))
        if len(self._nodes) == _PIECE:
            self.number_records()

    def add_edge(self, start: str | None, end: str | None, place: int) -> None:
        if start is None or end is None:
            raise self.error_at(place, "an edge lacks its source or target; complete or remove it")
        self._edges.append((start, end, place))
        if len(self._edges) == _PIECE:
            self.number_records()

    def number_records(self) -> None:
        """Number what was added; refuses a node whose id is that of another."""
        import numpy as np

        from unveil.release.text_tokens import label_array

        nodes, edges, known = self._nodes, self._edges, len(self._ids)
        self._nodes, self._edges = [], []
        fresh = self._ids.encode(label_array([key for key, _, _ in nodes], self.file)) == np.arange(
            known, known + len(nodes)
        )
        if not fresh.all():
            raise self.error_at(nodes[int(fresh.argmin())][2], "two nodes have the same id; make the ids distinct")
        self._names.encode(label_array([name for _, name, _ in nodes], self.file))
        ends = label_array([key for start, end, _ in edges for key in (start, end)], self.file)
        self._ends.extend(self._end_ids.encode(ends))
        self._places.extend(np.array([place for _, _, place in edges], np.int64))

    def _resolve_ends(self) -> Int32s:
        """The source and the target of each edge, one after another, as numbers of nodes."""
        ends, nodes = self._ends.take(), len(self._ids)
        node_of_end = self._ids.encode(self._end_ids.take_labels())
        ends[:] = node_of_end[ends]
        for side in (ends[::2], ends[1::2]):
            if (side >= nodes).any():
                place = int(self._places.take()[int((side >= nodes).argmax())])
                raise self.error_at(
                    place, "an edge names a node that is not in the file; add the node or remove the edge"
                )
        return ends

    def build_graph(self, path: Path) -> Graph:
        self.number_records()
        distinct = len(self._names) == len(self._ids)
        ends = self._resolve_ends()
        notes = (*self.notes, *attribute_notes(self.has_node_attributes, self.has_edge_attributes))
        labels, notes = (self._names, notes) if distinct else (self._ids, (*notes, REPEATED_LABELS))
        digest = source_file.file_digest(path)
        return simple_graph(ends, labels.take_labels(), self.directed, path.name, digest, notes)
