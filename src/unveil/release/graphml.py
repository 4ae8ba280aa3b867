"""GraphML (Brandes et al., *GraphML progress report*, 2001). Attributes are left out, with a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.graph import Graph
from unveil.release.graph_records import GraphRecords
from unveil.wording import safe_text

__all__ = ["read_graphml"]


def read_graphml(path: str | Path) -> Graph:
    """A graph from GraphML. Nodes are named by their ``label`` data, or by their id if labels are missing or repeat.

    The parser stops at a document type declaration, so that it never expands or fetches an entity.
    """
    from xml.parsers import expat

    path = Path(path)
    name = safe_text(path.name)
    parser = expat.ParserCreate(namespace_separator="}")
    records = GraphRecords(name, lambda place: place)
    _GraphMLHandler(parser, records)
    try:
        for chunk in source_file.stream_bytes(path):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        records.number_records()  # a node before this place may be at fault
        what = expat.ErrorString(error.code) or "error"
        raise UnveilError(
            f"{name}: line {error.lineno:,}, column {error.offset + 1:,}: not well-formed XML ({what}); export it again"
        ) from None
    except (LookupError, ValueError):
        raise UnveilError(
            f"{name}: the encoding that its XML declares is not supported; save the file as UTF-8"
        ) from None
    return records.build_graph(path)


class _GraphMLHandler:
    """Receives the parser's events and fills the records."""

    def __init__(self, parser: Any, records: GraphRecords) -> None:
        self.parser = parser
        self.records = records
        self.open: list[str] = []  # elements of GraphML's own namespace only; tools add others
        self.namespace: str | None = None
        self.graphs = 0
        self.label_keys: set[str] = set()
        self.node: str | None = None
        self.label: str | None = None
        self.in_label = False
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self.refuse_declaration
        parser.EntityDeclHandler = self.refuse_declaration
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters

    def error_here(self, what: str) -> UnveilError:
        return self.records.error_at(self.parser.CurrentLineNumber, what)

    def refuse_declaration(self, *_: object) -> None:
        raise self.error_here("a document type or entity declaration is not allowed; remove it")

    def local_name(self, element: str) -> str | None:
        """The element's name if it is in GraphML's own namespace."""
        space, _, name = element.rpartition("}")
        if self.namespace is None:
            if name != "graphml":
                raise self.error_here("the first element is not graphml; export the graph as GraphML")
            self.namespace = space
        return name if space == self.namespace else None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        name = self.local_name(element)
        if name is None:
            return
        within = self.open[-1] if self.open else ""
        self.open.append(name)
        if name == "key" and attributes.get("attr.name", "").lower() == "label":
            if attributes.get("for", "all") in ("node", "all"):
                self.label_keys.add(attributes.get("id", ""))
        elif name == "graph":
            self.start_graph(attributes)
        elif name == "hyperedge":
            raise self.error_here("hyperedges are not supported; write them as edges")
        elif name == "node" and within == "graph":
            self.node, self.label = attributes.get("id"), None
        elif name == "edge" and within == "graph":
            self.start_edge(attributes)
        elif name == "data" and within == "node":
            self.in_label = attributes.get("key") in self.label_keys
            self.label = "" if self.in_label else self.label
            self.records.has_node_attributes |= not self.in_label
        elif name == "data" and within == "edge":
            self.records.has_edge_attributes = True

    def start_graph(self, attributes: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise self.error_here("a second or nested graph begins here; keep one graph per file")
        self.records.directed = attributes.get("edgedefault") == "directed"

    def start_edge(self, attributes: dict[str, str]) -> None:
        directed = attributes.get("directed")
        if directed is not None and (directed == "true") != self.records.directed:
            raise self.error_here("directed and undirected edges are mixed; make all edges alike")
        self.records.add_edge(attributes.get("source"), attributes.get("target"), self.parser.CurrentLineNumber)

    def characters(self, text: str) -> None:
        if self.in_label:
            self.label = (self.label or "") + text

    def end(self, element: str) -> None:
        name = self.local_name(element)
        if name is None:
            return
        self.open.pop()
        if name == "data":
            self.in_label = False
        elif name == "node" and self.open[-1:] == ["graph"]:
            self.records.add_node(self.node, self.label, self.parser.CurrentLineNumber)
