"""Collect the nodes and edges that GML and GraphML write as records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.graph import Graph, distinct_labels, simple_graph

if TYPE_CHECKING:
    from unveil.arrays import Int32s

__all__ = ["GraphRecords"]


@dataclass
class GraphRecords:
    """Nodes and edges in the order of the file; an edge may precede its nodes."""

    file: str
    line_number: Callable[[int], int]  # the line number of a position in the file
    directed: bool = False
    index: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def error_at(self, place: int, what: str) -> UnveilError:
        return UnveilError(f"{self.file}: line {self.line_number(place):,}: {what}")

    def add_node(self, key: str | None, name: str | None, place: int) -> None:
        if key is None:
            raise self.error_at(place, "a node has no id; add one")
        if key in self.index:
            raise self.error_at(place, "two nodes have the same id; make the ids distinct")
        self.index[key] = len(self.index)
        self.names.append(key if name is None else name)

    def add_edge(self, start: str | None, end: str | None, place: int) -> None:
        if start is None or end is None:
            raise self.error_at(place, "an edge lacks its source or target; complete or remove it")
        self.sources.append(start)
        self.targets.append(end)
        self.places.append(place)

    def resolve_ends(self, keys: list[str]) -> Int32s:
        import numpy as np

        found = np.array([self.index.get(key, -1) for key in keys], np.int32)
        if (found < 0).any():
            place = self.places[int((found < 0).argmax())]
            raise self.error_at(place, "an edge names a node that is not in the file; add the node or remove the edge")
        return found

    def build_graph(self, path: Path) -> Graph:
        labels, notes = distinct_labels(self.names, list(self.index), self.file)
        import numpy as np

        ends = np.stack([self.resolve_ends(self.sources), self.resolve_ends(self.targets)], axis=1).reshape(-1)
        empty = "there are no nodes; add at least one"
        return simple_graph(ends, labels, self.directed, path.name, source_file.file_digest(path), notes, empty)
