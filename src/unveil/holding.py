"""What an attacker may hold beside the release, declared by the room that reads it.

A holding has a name, the kind of file it is, and a line of help. The command line takes an option from it
(``--population FILE``), reads the file, and puts it into the :class:`~unveil.case.Case` under that name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unveil.errors import UnveilError
from unveil.wording import safe_text

if TYPE_CHECKING:
    import numpy as np

    from unveil.case import Case
    from unveil.release import Release

__all__ = ["MAPPING", "ORIGINAL", "PEOPLE", "Holding"]


@dataclass(frozen=True)
class Holding:
    """Something that can be read beside a release.

    ``kind`` is the kind of release that the file is read as; *same*: as the release itself; *ledger*: a ledger of
    private answers, as a table of these. ``release_kinds`` are the
    kinds of release it belongs to; without any, all that its question is asked of.
    ``repeatable``: the option may be repeated. ``is_original``: it is the release that the one under attack was made
    from. ``read_truth``: it says which row or item is which, worked out by this function. ``only_for_protection``: only
    a protection reads it. ``only_after_protection``: it belongs to a release that was protected already.
    ``former_names``: the names it had before.
    """

    name: str
    kind: Literal["table", "transactions", "graph", "ledger", "same"]
    help: str
    release_kinds: tuple[str, ...] = ()
    repeatable: bool = False
    is_original: bool = False
    read_truth: Callable[[Release, Case], np.ndarray] | None = None
    only_for_protection: bool = False
    only_after_protection: bool = False
    former_names: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """The option that names the file."""
        return f"--{self.name.replace('_', '-')}"


PEOPLE = Holding(
    "people",
    "table",
    "People the attacker knows, in a table with some of the release's columns.",
    release_kinds=("table",),
)
"""Read by several rooms: who is to be found among the rows (``linkage``), or in several releases (``classes``)."""

ORIGINAL = Holding(
    "original",
    "same",
    "The table, baskets or graph that the release was made from.",
    is_original=True,
    only_after_protection=True,
)
"""Read by several rooms: what became of its items (``items``), nodes (``network``) or numbers (``release``)."""


def _truth_from_mapping(mapping: Release, case: Case) -> np.ndarray:
    """What each item or node of the original became."""
    from unveil.release.secret_mapping import Labelled, truth_from_mapping
    from unveil.release.table import Table

    original, release = case.original, case.release
    assert isinstance(mapping, Table) and isinstance(release, Labelled)
    if not isinstance(original, Labelled) or original.kind != release.kind:
        what = "baskets" if release.kind == "transactions" else "graph"
        raise UnveilError(f"{safe_text(mapping.name)}: give both the mapping and the original {what}")
    return truth_from_mapping(mapping, original, release)


MAPPING = Holding(
    "mapping",
    "table",
    "What each item or node of the original became: columns item or node, and pseudonym.",
    read_truth=_truth_from_mapping,
    only_after_protection=True,
)
"""Read by several rooms: what became of items (``items``) or nodes (``network``)."""
