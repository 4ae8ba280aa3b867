"""Which protections are worth a look? Those of which no other keeps more of the data without harming more people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from unveil.assessment import ProtectionResult

__all__ = ["add_comparisons", "placed_protections", "unbeaten_protections"]


class _Weighable(Protocol):
    """What keeps a share of the data, and harms a share of people."""

    @property
    def usefulness(self) -> float | None: ...

    @property
    def harmed(self) -> tuple[float, float] | None: ...


_Protection = TypeVar("_Protection", bound=_Weighable)


def placed_protections(protections: Iterable[_Protection]) -> list[_Protection]:
    """The protections of which it is known how useful they leave the data, and how many they harm."""
    return [p for p in protections if _place(p) is not None]


def unbeaten_protections(protections: Iterable[_Protection]) -> list[_Protection]:
    """The protections that no other beats, the most useful first."""
    placed = placed_protections(protections)
    best = [p for p in placed if not any(_beats(other, p) for other in placed)]
    return sorted(best, key=lambda p: -(p.usefulness or 0))


def add_comparisons(protections: Sequence[ProtectionResult]) -> tuple[ProtectionResult, ...]:
    """The same protections; each says whether another beats it."""
    return tuple(replace(p, comparison=_comparison(p, protections)) for p in protections)


def _comparison(protection: ProtectionResult, others: Sequence[ProtectionResult]) -> str:
    if _place(protection) is None:
        return ""
    better = [p for p in unbeaten_protections(others) if _beats(p, protection)]
    if not better:
        return "Nothing else that was tried keeps more without harming more."
    best = better[0]
    assert protection.harmed is not None and best.harmed is not None
    keeps = "keeps as much" if best.usefulness == protection.usefulness else "keeps more"
    harms = "harms as few" if best.harmed[1] == protection.harmed[1] else "harms fewer"
    return f"“{best.title}” {keeps} and {harms}."


def _place(protection: _Weighable) -> tuple[float, float] | None:
    """How useful a protection leaves the data, and how many it harms at most; None if either is unknown."""
    if protection.usefulness is None or protection.harmed is None:
        return None
    return protection.usefulness, protection.harmed[1]


def _beats(one: _Weighable, other: _Weighable) -> bool:
    """Whether one is at least as good in both respects, and better in one."""
    first, second = _place(one), _place(other)
    assert first is not None and second is not None
    return first != second and first[0] >= second[0] and first[1] <= second[1]
