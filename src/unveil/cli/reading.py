"""Options that say how to read a file, and the release they lead to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from unveil.release import Graph, Release, Table
from unveil.release.kinds import KIND_SINGULARS
from unveil.release.standard_input import STANDARD_INPUT
from unveil.wording import safe_text

__all__ = [
    "READING_NAMES",
    "add_options",
    "graph_reading_options",
    "read_graph",
    "read_release",
    "read_table",
    "reading_options",
    "reading_text",
    "table_reading_options",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_DIRECTED = click.option("--directed", is_flag=True, help="Edges point from the first node to the second.")
_MAX_SIZE = click.option(
    "--max-size",
    metavar="SIZE",
    help="How much a compressed file may hold, such as 100GB; by default 256MB or 100 times its size, whichever is "
    "more, and at most 64GB.",
)

_SHAPE = (
    click.option(
        "--kind",
        type=click.Choice(tuple(KIND_SINGULARS)),
        help="What the file contains; detected by default.",
    ),
    _DIRECTED,
)

_TEXT = (
    click.option("--delimiter", metavar="CHAR", help="The character between values; detected by default."),
    click.option("--encoding", help="The text's encoding; UTF-8 by default."),
    click.option("--quote", metavar="CHAR", help='The character around quoted values; " by default.'),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns (recommended)."),
    click.option("--strip", is_flag=True, help="Drop spaces around values."),
    click.option("--sheet", metavar="NAME", help="The sheet of an Excel file to read; the first by default."),
    _MAX_SIZE,
    click.option("--memory-limit", metavar="SIZE", help="How much memory the engine may use, such as 4GB."),
    click.option(
        "--spill",
        type=click.Path(exists=True, file_okay=False, writable=True),
        help="Directory for data that does not fit in memory.",
    ),
)


READING_NAMES = frozenset(
    ("kind", "directed", "delimiter", "encoding", "quote", "header", "strip", "sheet", "memory_limit", "spill")
)
"""The names of these options."""


def reading_text(file: str) -> str:
    """What is being done while a file is read."""
    return f"reading {'standard input' if file == STANDARD_INPUT else safe_text(file)}"


def add_options(options: tuple[Callable[[Any], Any], ...], command: _Command) -> _Command:
    """Add options to a command, so that its help lists them in this order."""
    decorated: _Command = functools.reduce(lambda so_far, option: option(so_far), reversed(options), command)
    return decorated


def reading_options(command: _Command) -> _Command:
    """Add the options that say how to read any release."""
    return add_options((*_SHAPE, *_TEXT), command)


def table_reading_options(command: _Command) -> _Command:
    """Add the options that say how to read a table."""
    return add_options(_TEXT, command)


def graph_reading_options(command: _Command) -> _Command:
    """Add the options that say how to read a graph."""
    return add_options((_DIRECTED, _MAX_SIZE), command)


def read_release(file: str, given: Mapping[str, Any]) -> Release:
    """Read the release that the command line names."""
    from unveil.release.read import read

    named = ("delimiter", "encoding", "quote", "header", "sheet", "max_size")
    options = {name: given[name] for name in named if given[name] is not None}
    options |= {name: True for name in ("strip", "directed") if given.get(name)}
    if options.get("delimiter") == "\\t":
        options["delimiter"] = "\t"
    return read(file, given["kind"] or ("table" if given.get("ratings") else None), **options, **_engine(given))


def read_table(file: str, given: Mapping[str, Any]) -> Table:
    """Read the table that the command line names."""
    release = read_release(file, {**given, "kind": "table"})
    assert isinstance(release, Table)
    return release


def read_graph(file: str, given: Mapping[str, Any]) -> Graph:
    """Read a graph that the command line names."""
    from unveil.release.read import read

    options = {"directed": True} if given["directed"] else {}
    release = read(file, "graph", max_size=given["max_size"], **options)
    assert isinstance(release, Graph)
    return release


def _engine(given: Mapping[str, Any]) -> dict[str, Any]:
    from unveil.engine import Engine

    limits = given["memory_limit"], given["spill"]
    return {"engine": Engine(*limits)} if any(limits) else {}
