"""GraphML (Brandes et al., *GraphML progress report*, 2001)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.release import source
from unveil.release.graph import Graph
from unveil.release.records import Records
from unveil.wording import shown

__all__ = ["read_graphml"]

_BATCH = 1 << 16


def read_graphml(path: str | Path) -> Graph:
    """A graph from GraphML. A node is called by its data named ``label``, or by its id where those lack or repeat.

    The XML parser is stopped at a document type declaration, so that no entity is ever expanded or fetched.
    """
    from xml.parsers import expat

    path = Path(path)
    data = source.load(path)
    name = shown(path.name)
    parser = expat.ParserCreate(namespace_separator="}")
    records = Records(name, lambda place: place)
    _GraphMLHandler(parser, records)
    view = memoryview(data)
    try:
        for start in range(0, len(data), _BATCH):
            parser.Parse(bytes(view[start : start + _BATCH]), False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code) or "error"
        raise UnveilError(
            f"{name}: line {error.lineno:,}, column {error.offset + 1:,}: not well-formed XML ({what}); export it again"
        ) from None
    except (LookupError, ValueError):
        raise UnveilError(f"{name}: its XML encoding is not supported; save the file as UTF-8") from None
    return records.graph(path)


class _GraphMLHandler:
    """Hears the parser's events and fills the records."""

    def __init__(self, parser: Any, records: Records) -> None:
        self.parser = parser
        self.records = records
        self.open: list[str] = []  # elements of GraphML's own namespace only; others are content of tools
        self.space: str | None = None
        self.graphs = 0
        self.label_keys: set[str] = set()
        self.node: str | None = None
        self.label: str | None = None
        self.hears_label = False
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self.refuse
        parser.EntityDeclHandler = self.refuse
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters

    def wrong(self, what: str) -> UnveilError:
        return self.records.wrong(self.parser.CurrentLineNumber, what)

    def refuse(self, *_: object) -> None:
        raise self.wrong("document type and entity declarations are refused; remove them")

    def local(self, element: str) -> str | None:
        """The element's name if it is GraphML's own."""
        space, _, name = element.rpartition("}")
        if self.space is None:
            if name != "graphml":
                raise self.wrong("not GraphML; the first element must be graphml")
            self.space = space
        return name if space == self.space else None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        name = self.local(element)
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
            raise self.wrong("hyperedges are not supported; write them as edges")
        elif name == "node" and within == "graph":
            self.node, self.label = attributes.get("id"), None
        elif name == "edge" and within == "graph":
            self.start_edge(attributes)
        elif name == "data" and within == "node":
            self.hears_label = attributes.get("key") in self.label_keys
            self.label = "" if self.hears_label else self.label

    def start_graph(self, attributes: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise self.wrong("several or nested graphs in a file are not supported; keep one")
        self.records.directed = attributes.get("edgedefault") == "directed"

    def start_edge(self, attributes: dict[str, str]) -> None:
        directed = attributes.get("directed")
        if directed is not None and (directed == "true") != self.records.directed:
            raise self.wrong("directed and undirected edges are mixed; use one of them")
        self.records.edge(attributes.get("source"), attributes.get("target"), self.parser.CurrentLineNumber)

    def characters(self, text: str) -> None:
        if self.hears_label:
            self.label = (self.label or "") + text

    def end(self, element: str) -> None:
        name = self.local(element)
        if name is None:
            return
        self.open.pop()
        if name == "data":
            self.hears_label = False
        elif name == "node" and self.open[-1:] == ["graph"]:
            self.records.node(self.node, self.label, self.parser.CurrentLineNumber)
