"""The kinds of release, and what they are called in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from unveil.errors import UnveilError
from unveil.wording import safe_text

__all__ = ["KIND_SINGULARS", "Kind", "check_kind", "kinds_text"]

Kind = Literal["table", "transactions", "graph", "matrix"]

KIND_SINGULARS: Mapping[str, str] = {
    "table": "a table",
    "transactions": "transactions",
    "graph": "a graph",
    "matrix": "a matrix of candidates",
}
"""One release of each kind."""

_PLURALS = {
    "table": "tables of people",
    "transactions": "baskets of items",
    "graph": "graphs",
    "matrix": "matrices of candidates",
}


def kinds_text(kinds: Iterable[str]) -> str:
    """Some kinds of release, in the plural.

    >>> kinds_text(["table", "graph"])
    'tables of people and graphs'
    """
    return " and ".join(_PLURALS[kind] for kind in dict.fromkeys(kinds))


def check_kind(option: str, kinds: Iterable[str], name: str, kind: str) -> None:
    """Refuse an option that is for other kinds of release than this one."""
    if kind not in kinds:
        raise UnveilError(f"{option} is for {kinds_text(kinds)}; {safe_text(name)} was read as {KIND_SINGULARS[kind]}")
