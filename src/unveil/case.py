"""The case: the release under attack, and what else an attack needs.

Rooms read no files. The original that the release was made from, the truth (who is which row) and what the attacker
holds are loaded beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from unveil.holding import PEOPLE

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Ints
    from unveil.release import Release
    from unveil.release.hierarchy import Hierarchy

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """A release under attack.

    ``truth[i]`` is the row, item or node of the release that subject ``i`` of the original became, or −1 if the release
    does not contain it. Several subjects may have become one. ``holds`` maps names to the releases that the attacker
    holds. ``hierarchies`` maps columns to the generalisation of their values; the policy's hierarchies are added to it.
    """

    release: Release
    original: Release | None = None
    truth: np.ndarray | None = None
    holds: Mapping[str, Release] = field(default_factory=lambda: MappingProxyType({}))
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=lambda: MappingProxyType({}))

    def moved_truth(self, place: Ints) -> Ints | None:
        """The truth after row ``i`` of the table has moved to row ``place[i]``, or is gone (−1); None if the case says
        nothing about the people to be found, of whom the attacker has a list."""
        import numpy as np

        if self.truth is None:
            return None if PEOPLE.name in self.holds else place
        return np.where(self.truth >= 0, place[self.truth], -1)

    def held_releases(self, name: str) -> list[Release]:
        """What the attacker holds under a name; several releases are held as ``name 1``, ``name 2`` and so on."""
        return [held for key, held in self.holds.items() if key == name or re.fullmatch(rf"{name} \d+", key)]
