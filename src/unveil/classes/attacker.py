"""One attacker: the columns they know, and how findings about them are told apart from others."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Attacker"]


@dataclass(frozen=True)
class Attacker:
    """The columns that someone knows, what that adds to ids and titles, and whether it only bounds what others do."""

    columns: tuple[str, ...]
    ending: str
    heading: str
    bound: bool = False
