"""Read a release: a file in any known format, or a frame in memory.

The file's content decides the kind where it is unmistakable, then the file's name, then the content again; ``kind=``
overrides both. Only the format is guessed, never what the values mean.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import inspect
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unveil.engine import default_engine
from unveil.errors import UnveilError
from unveil.release import (
    Graph,
    Matrix,
    Release,
    edge_list,
    gml,
    graphml,
    matrix,
    matrix_market,
    pajek,
    statistics_file,
    table,
    transactions,
    workbook,
)
from unveil.release.kinds import KIND_SINGULARS, Kind
from unveil.release.source_file import format_ending, peek_bytes, raw_head, size_limit
from unveil.release.standard_input import STANDARD_INPUT, spool_standard_input
from unveil.settings import option_text
from unveil.wording import list_text, safe_text

__all__ = ["kind_in_memory", "read"]

_OPTION_PHRASES = {"engine": "memory limit or spill"}  # what the command line calls an option
_Reader = Callable[..., Release]

_BASKET_HEADERS = {"basket", "transaction", "invoice", "receipt", "order", "tid", "basket_id"}
_ITEM_HEADERS = {"item", "product"}


def read(source: Any, kind: Kind | None = None, **options: Any) -> Release:
    """Read what would be published.

    Parameters
    ----------
    source
        A file name, ``-`` for standard input, or a pandas, polars or pyarrow frame, or a networkx graph, or (with its
        kind) rows of numbers.
    kind
        ``"table"``, ``"transactions"`` or ``"graph"``, detected if not given; or ``"matrix"``, a matrix of candidates,
        which is never guessed.
    options
        For text tables: ``encoding``, ``delimiter``, ``quote``, ``header``, ``strip``; for workbooks: ``sheet``,
        ``header``; for files of statistics packages: ``encoding``; for tables: ``engine``; for edge lists:
        ``directed``; for compressed files: ``max_size``, how much they may hold, such as ``"100GB"``.

    Returns
    -------
    Table, Transactions, Graph or Matrix
    """
    if kind is not None and kind not in KIND_SINGULARS:
        raise UnveilError(f"unknown kind {safe_text(kind)!r}; choose {', '.join(KIND_SINGULARS)}")
    with size_limit(options.pop("max_size", None)):
        return _read_source(source, kind, options)


def _read_source(source: Any, kind: Kind | None, options: dict[str, Any]) -> Release:
    if isinstance(source, (str, os.PathLike)):
        path = Path(os.fspath(source))
        if source == STANDARD_INPUT:
            path = spool_standard_input((options.get("engine") or default_engine()).scratch_directory())
        name, reader = path.name, functools.partial(_choose_file_reader(path, kind), path)
    else:
        name, reader = "data in memory", functools.partial(_choose_memory_reader(source, kind), source)
    known = inspect.signature(reader).parameters
    unknown = [_OPTION_PHRASES.get(option, option) for option in options if option not in known]
    if unknown:
        options_do, them = ("options {} do", "them") if len(unknown) > 1 else ("option {} does", "it")
        applies = options_do.format(list_text(unknown))
        raise UnveilError(f"{safe_text(name)}: the {applies} not apply to this kind of source; leave {them} out")
    return reader(**options)


def kind_in_memory(source: Any) -> Kind | None:
    """What an object in memory holds: a graph of networkx, a frame of any library, or nothing that can be read."""
    if hasattr(source, "nodes") and hasattr(source, "edges") and hasattr(source, "is_directed"):
        return "graph"
    frame = any(hasattr(source, name) for name in ("__arrow_c_stream__", "__dataframe__", "to_batches"))
    return "table" if frame else None


def _choose_memory_reader(source: Any, kind: Kind | None) -> _Reader:
    if kind == "matrix":
        return Matrix.from_array
    found = kind_in_memory(source)
    if found is None:
        raise UnveilError(f"cannot read a {type(source).__name__}: give a file name, a data frame or a networkx graph")
    if kind is not None and kind != found:
        raise UnveilError(
            f"a {type(source).__name__} holds {KIND_SINGULARS[found]}, not {KIND_SINGULARS[kind]}; leave out kind"
        )
    return Graph.from_networkx if found == "graph" else table.table_from_frame


_READER_BY_ENDING: Mapping[str, tuple[Kind, _Reader]] = {
    ".parquet": ("table", table.read_parquet),
    ".pq": ("table", table.read_parquet),
    ".arrow": ("table", table.read_arrow),
    ".feather": ("table", table.read_arrow),
    ".ipc": ("table", table.read_arrow),
    ".dat": ("transactions", transactions.read_fimi),
    ".fimi": ("transactions", transactions.read_fimi),
    ".basket": ("transactions", transactions.read_fimi),
    ".jsonl": ("transactions", transactions.read_jsonl),
    ".ndjson": ("transactions", transactions.read_jsonl),
    ".gml": ("graph", gml.read_gml),
    ".graphml": ("graph", graphml.read_graphml),
    ".mtx": ("graph", matrix_market.read_matrix_market),
    ".net": ("graph", pajek.read_pajek),
    ".edges": ("graph", edge_list.read_edges),
    ".edgelist": ("graph", edge_list.read_edges),
}

_WORKBOOK_ENDINGS = (".xlsx", ".xlsm")
_FOREIGN_READER_BY_ENDING: Mapping[str, _Reader] = {
    **dict.fromkeys(_WORKBOOK_ENDINGS, workbook.read_workbook),
    ".sav": statistics_file.read_spss,
    ".zsav": statistics_file.read_spss,
    ".por": statistics_file.read_spss_portable,
    ".dta": statistics_file.read_stata,
    ".sas7bdat": statistics_file.read_sas,
    ".xpt": statistics_file.read_sas_transport,
}
_FOREIGN_READER_BY_MAGIC: Mapping[bytes, _Reader] = {
    b"$FL2": statistics_file.read_spss,
    b"$FL3": statistics_file.read_spss,
    b"<stata_dta>": statistics_file.read_stata,
    b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf": statistics_file.read_sas,
    b"HEADER RECORD*******LIB": statistics_file.read_sas_transport,
}
_PORTABLE_FILE = b"ASCII SPSS PORT FILE"  # after 40 characters that may be anything

_TEXT_READER_BY_KIND: Mapping[Kind, _Reader] = {
    "table": table.read_csv,
    "transactions": transactions.read_fimi,
    "graph": edge_list.read_edges,
    "matrix": matrix.read_matrix,
}

_TEXT_READERS = (*_TEXT_READER_BY_KIND.values(), transactions.read_long)


def _choose_file_reader(path: Path, kind: Kind | None) -> _Reader:
    """The reader for this file: by unmistakable content, then by file name, then by content in general."""
    foreign = _foreign_reader(path)
    if foreign is not None and kind in (None, "table"):
        return foreign
    head = peek_bytes(path, 1 << 16)
    if head.startswith(b"MATLAB ") or format_ending(path) == ".mat":
        raise UnveilError(
            f"{safe_text(path.name)}: MATLAB files are not read; save the adjacency matrix with mmwrite as .mtx, or as "
            "an edge list"
        )
    if not head:
        raise UnveilError(f"{safe_text(path.name)}: the file is empty")
    if kind == "matrix" and _reader_by_magic(head) is None:
        return matrix.read_matrix
    found = _reader_by_magic(head) or _READER_BY_ENDING.get(format_ending(path)) or _reader_by_content(head, path, kind)
    if kind is None and found[1] is transactions.read_fimi and _looks_fixed_width(head):
        raise UnveilError(
            f"{safe_text(path.name)}: looks like fixed-width records, not baskets; "
            f"save it as CSV, or pass {option_text('kind')} transactions"
        )
    if kind is None or kind == found[0]:
        return found[1]
    if kind == "transactions" and found[1] is table.read_csv:
        return transactions.read_long
    if found[1] not in _TEXT_READERS:
        raise UnveilError(
            f"{safe_text(path.name)}: this format holds {KIND_SINGULARS[found[0]]}, not {KIND_SINGULARS[kind]}; "
            "convert the file"
        )
    return _TEXT_READER_BY_KIND[kind]


def _foreign_reader(path: Path) -> _Reader | None:
    """The reader for a file of another program, by its first bytes, then by its name."""
    head = raw_head(path)
    if head.startswith(b"PK\x03\x04") and workbook.is_workbook(path):
        return workbook.read_workbook
    if _PORTABLE_FILE in head:
        return statistics_file.read_spss_portable
    found = next((reader for magic, reader in _FOREIGN_READER_BY_MAGIC.items() if head.startswith(magic)), None)
    return found or (_FOREIGN_READER_BY_ENDING.get(format_ending(path)) if head else None)


def _looks_fixed_width(head: bytes) -> bool:
    """Whether all lines are equally long and padded: fixed-width microdata, which would pass for baskets."""
    lines = head.splitlines()[: -1 if len(head) >= 1 << 16 else None]
    padded = sum(b"  " in line.strip() for line in lines)
    return len(lines) > 2 and len({len(line) for line in lines}) == 1 and 2 * padded > len(lines)


def _reader_by_magic(head: bytes) -> tuple[Kind, _Reader] | None:
    if head.startswith(b"PAR1\x15"):
        return "table", table.read_parquet
    if head.startswith(b"ARROW1\0\0"):
        return "table", table.read_arrow
    if head.startswith(b"%%MatrixMarket"):
        return "graph", matrix_market.read_matrix_market
    return None


def _reader_by_content(head: bytes, path: Path, kind: Kind | None) -> tuple[Kind, _Reader]:
    """Guess the format from the text.

    Delimited text with a header is a table, unless its two columns say otherwise. Bare words are an edge list if every
    line has two or three of them, and baskets if all are numbers; anything else is unclear.
    """
    ending = format_ending(path)
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = head.decode("utf-16" if wide else "utf-8", errors="replace").removeprefix("\ufeff")
    lines = [line for line in text.splitlines()[:200] if line.strip() and line.lstrip()[0] not in "#%"]
    if not lines:
        return "table", table.read_csv
    if ending not in (".csv", ".tsv") and (found := _reader_by_markup(text, lines[0])):
        return found
    if ending in (".csv", ".tsv") or any(d in lines[0] for d in ",;|"):
        return _reader_by_header(lines[0])
    complete = lines[:-1] if len(lines) > 1 and len(head) >= 1 << 16 else lines
    widths = {len(line.split()) for line in complete}
    if widths in ({2}, {3}):
        return "graph", edge_list.read_edges
    if "\t" in lines[0]:
        return "table", table.read_csv
    if kind is None and not all(word.isdigit() for line in complete for word in line.split()):
        raise UnveilError(
            f"{safe_text(path.name)}: unclear what this file holds; pass {option_text('kind')} table, "
            "transactions or graph"
        )
    return "transactions", transactions.read_fimi


def _reader_by_markup(text: str, line: str) -> tuple[Kind, _Reader] | None:
    """The reader for a format that names itself in its first words."""
    if line.lstrip().startswith(("<?xml", "<graphml")):
        return "graph", graphml.read_graphml
    if re.match(r"(?i)\*(vertices|network)\b", line.lstrip()):
        return "graph", pajek.read_pajek
    if re.match(r"(?i)(\s*(#|comment\b|creator\b|version\b).*\n)*\s*graph\s*\[", text):
        return "graph", gml.read_gml
    with contextlib.suppress(ValueError, RecursionError):
        if isinstance(json.loads(line), (list, dict)):
            return "transactions", transactions.read_jsonl
    return None


def _reader_by_header(line: str) -> tuple[Kind, _Reader]:
    delimiter = max(",;\t|", key=line.count)
    names = [n.strip().strip('"').lower() for n in line.split(delimiter)]
    if len(names) == 2 and names[0] in _BASKET_HEADERS and names[1] in _ITEM_HEADERS:
        return "transactions", transactions.read_long
    if len(names) in (2, 3) and tuple(names[:2]) in edge_list.EDGE_HEADERS:
        return "graph", edge_list.read_edges
    return "table", table.read_csv
