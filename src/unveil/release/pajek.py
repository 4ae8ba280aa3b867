"""Pajek networks (Batagelj and Mrvar, *Pajek: program for large network analysis*, 1998).

``*Vertices 3`` is followed by a line for each node: a number from 1 on, and a label, which may be quoted. Sections of
edges follow: ``*Edges`` and ``*Edgeslist`` without directions, ``*Arcs`` and ``*Arcslist`` with. A list has a node and
all of its neighbours on one line. Weights and drawing parameters are left out, with a note for weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from unveil.release.graph import Graph
from unveil.release.graph_records import GraphRecords
from unveil.wording import safe_text

__all__ = ["read_pajek"]

_SECTIONS = {"*edges": (False, False), "*edgeslist": (False, True), "*arcs": (True, False), "*arcslist": (True, True)}
"""Whether edges have directions, and whether a line has all neighbours of a node."""

_NODE = re.compile(r'\s*(\d{1,10})(?:\s+(?:"([^"]*)"|(\S+)))?')


def read_pajek(path: str | Path) -> Graph:
    """A graph from Pajek's format."""
    path = Path(path)
    return _PajekParser(path).build_graph()


class _PajekParser:
    """What was read so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records = GraphRecords(safe_text(path.name), lambda line: line)
        self.nodes = 0
        self.is_named = bytearray()
        self.directions: set[bool] = set()
        self.has_weights = False

    def build_graph(self) -> Graph:
        """Read everything."""
        section = ""
        for number, line in self._lines():
            if line.startswith("*"):
                section = self._begin_section(line, number)
            elif section == "*vertices":
                self._add_node(line, number)
            elif section in _SECTIONS:
                self._add_edges(line, number, *_SECTIONS[section])
            else:
                raise self.records.error_at(number, "nothing may precede *Vertices; remove this line")
        for node in range(1, self.nodes + 1):
            if not self.is_named[node]:
                self.records.add_node(str(node), None, 0)
        self.records.directed = True in self.directions
        if self.has_weights:
            self.records.notes += ("weights of edges are left out",)
        return self.records.build_graph(self.path)

    def _lines(self) -> Iterator[tuple[int, str]]:
        from unveil.release.text_tokens import text_pieces

        for piece in text_pieces(self.path):
            for number, line in enumerate(piece.data.decode().splitlines(), piece.lines_before + 1):
                stripped = line.strip()
                if stripped and not stripped.startswith("%"):
                    yield number, stripped

    def _begin_section(self, line: str, number: int) -> str:
        word, *rest = line.lower().split()
        if word == "*network":
            return ""
        if word == "*vertices":
            self._begin_nodes(rest, number)
        elif word in _SECTIONS:
            if len(rest) > 0 and rest[0].startswith(":"):
                raise self.records.error_at(number, "several relations in one file are not supported; keep one")
        else:
            raise self.records.error_at(number, "this section is not supported; keep *Vertices, *Edges and *Arcs")
        return word

    def _begin_nodes(self, rest: list[str], number: int) -> None:
        if self.nodes:
            raise self.records.error_at(number, "a second network begins here; keep one per file")
        if len(rest) != 1 or not re.fullmatch(r"\d{1,10}", rest[0]) or not 0 < int(rest[0]) < 1 << 31:
            raise self.records.error_at(number, "*Vertices must be followed by the number of nodes alone")
        self.nodes = int(rest[0])
        if self.nodes > self.path.stat().st_size * 1_000:
            raise self.records.error_at(number, "there are far more nodes than lines; correct their number")
        self.is_named = bytearray(self.nodes + 1)

    def _add_node(self, line: str, number: int) -> None:
        found = _NODE.match(line)
        if found is None or not 1 <= int(found[1]) <= self.nodes:
            raise self.records.error_at(number, f"a node must begin with its number, from 1 to {self.nodes:,}")
        node = int(found[1])
        self.is_named[node] = True
        self.records.add_node(str(node), found[2] if found[2] is not None else found[3], number)

    def _add_edges(self, line: str, number: int, directed: bool, is_list: bool) -> None:
        values = line.split()
        ends = values if is_list else values[:2]
        if len(ends) < 2 or not all(re.fullmatch(r"\d{1,10}", end) for end in ends):
            raise self.records.error_at(number, "an edge needs the numbers of two nodes; complete or remove it")
        self.directions.add(directed)
        if len(self.directions) > 1:
            raise self.records.error_at(number, "directed and undirected edges are mixed; make all edges alike")
        self.has_weights |= not is_list and len(values) > 2 and values[2] != "1"
        for end in ends[1:]:
            self.records.add_edge(ends[0], end, number)
