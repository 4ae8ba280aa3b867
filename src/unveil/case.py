"""The case: the release under attack and everything that is known about it.

Rooms read no files. Whatever an attack needs (the original the release was made from, which row is whom, what the
attacker holds) is loaded beforehand and stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from unveil.release import Release
    from unveil.release.hierarchy import Hierarchy

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """A release under attack.

    ``truth[i]`` says what has become of subject ``i`` of the original: which row, item or node of the release, or −1
    if it is not in there; several may have become one. ``holds`` are the releases in the attacker's hands, by name.
    ``hierarchies`` say of some columns what their values are kinds of; those that the policy names are added.
    """

    release: Release
    original: Release | None = None
    truth: np.ndarray | None = None
    holds: Mapping[str, Release] = field(default_factory=lambda: MappingProxyType({}))
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=lambda: MappingProxyType({}))
