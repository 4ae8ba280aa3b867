"""One measure of what a release can still be used for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["UseMeasure"]


@dataclass(frozen=True)
class UseMeasure:
    """A number before and after protection, and what it says. There may be none: None. ``is_share``: it is a share, not
    another number. ``interval``: where the number after protection lies with 95% confidence, if it was sampled.
    ``is_comparison``: it compares the data after protection with the data before, so that ``before`` is what no change
    would give."""

    id: str
    title: str
    before: float | None
    after: float | None
    sentence: str
    is_share: bool = True
    interval: tuple[float, float] | None = None
    is_comparison: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The measure as plain JSON values."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> UseMeasure:
        """The inverse of :meth:`to_dict`."""
        return cls(**{**data, "interval": None if data["interval"] is None else tuple(data["interval"])})
