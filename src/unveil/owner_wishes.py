"""What an owner wants to keep, whatever the protection: columns as they are, and enough people.

Rooms declare these settings where they aim at them; whatever else changes a table is checked against them as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unveil.policy import Policy
from unveil.release import Release, Table
from unveil.settings import declared_settings, option_text

__all__ = ["OwnerWishes", "owner_wishes"]


@dataclass(frozen=True)
class OwnerWishes:
    """``keep``: columns that must stay as they are. ``importance``: columns that matter more or less than others.
    ``most_left_out``: the largest share of rows that may go; None if the owner did not say."""

    keep: tuple[str, ...] = ()
    importance: tuple[str, ...] = ()
    most_left_out: float | None = None

    def named_columns(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Every option that names columns, with these."""
        yield option_text("keep"), self.keep
        yield option_text("importance"), self.importance

    def are_met(self, before: Release, after: Release) -> bool:
        """Whether a protected release keeps what it must."""
        if not isinstance(before, Table) or not isinstance(after, Table):
            return True
        gone = 1 - after.rows / max(1, before.rows)
        if self.most_left_out is not None and gone > self.most_left_out + 1e-9:
            return False
        return all(_is_unchanged(before, after, name) for name in self.keep)


def _is_unchanged(before: Table, after: Table, name: str) -> bool:
    """Whether a column is there with values that it had, and none of them was hidden."""
    import pyarrow.compute as pc

    if name not in after.columns:
        return False
    was, now = before.codes([name])[name], after.codes([name])[name]
    if was.values.type != now.values.type or not pc.all(pc.is_in(now.values, value_set=was.values)).as_py():
        return False
    return int((now.codes < 0).sum()) <= int((was.codes < 0).sum())


def owner_wishes(policy: Policy) -> OwnerWishes:
    """The wishes in the settings of all rooms."""
    found: dict[str, Any] = {}
    for chosen in policy.settings.values():
        for name, declaration in declared_settings(chosen).items():
            if declaration.protecting and getattr(chosen, name) != getattr(type(chosen)(), name):
                found[name] = getattr(chosen, name)
    return OwnerWishes(tuple(found.get("keep", ())), tuple(found.get("importance", ())), found.get("suppress"))
