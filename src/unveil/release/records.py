"""Nodes and edges as records, as GML and GraphML write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release import source
from unveil.release.graph import Graph, distinct, simple_graph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Records"]


@dataclass
class Records:
    """Nodes and edges as they come from a file; an edge may come before its nodes."""

    file: str
    line: Callable[[int], int]  # from a place in the file
    directed: bool = False
    index: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def wrong(self, place: int, what: str) -> UnveilError:
        return UnveilError(f"{self.file}: line {self.line(place):,}: {what}")

    def node(self, key: str | None, name: str | None, place: int) -> None:
        if key is None:
            raise self.wrong(place, "a node has no id; add one")
        if key in self.index:
            raise self.wrong(place, "two nodes have the same id; make ids distinct")
        self.index[key] = len(self.index)
        self.names.append(key if name is None else name)

    def edge(self, start: str | None, end: str | None, place: int) -> None:
        if start is None or end is None:
            raise self.wrong(place, "an edge lacks its source or target; complete or remove it")
        self.sources.append(start)
        self.targets.append(end)
        self.places.append(place)

    def ends(self, keys: list[str]) -> NDArray[np.int32]:
        import numpy as np

        found = np.array([self.index.get(key, -1) for key in keys], np.int32)
        if (found < 0).any():
            place = self.places[int((found < 0).argmax())]
            raise self.wrong(place, "an edge names a node that the file does not have; add the node or remove the edge")
        return found

    def graph(self, path: Path) -> Graph:
        labels, notes = distinct(self.names, list(self.index), self.file)
        ends = self.ends(self.sources), self.ends(self.targets)
        empty = "no nodes; expected a graph with nodes"
        return simple_graph(*ends, labels, self.directed, path.name, source.digest(path), notes, empty)
