"""A question: one way of attacking. Each room asks one, through the door of its ``ask.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from unveil.case import Case
from unveil.finding import Finding
from unveil.policy import Policy
from unveil.protection import Offer
from unveil.run import Run

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """What a room asks.

    ``kinds`` are the kinds of release it can be asked of; ``findings`` the ids it can answer with; ``sampled`` those
    among them that decide and are simulated, which share the error rate of the verdict. ``check`` refuses input that
    cannot be right, before anything is measured. ``protect`` holds the protections that the room offers, by their names
    on the command line.
    """

    name: str
    title: str
    kinds: tuple[str, ...]
    findings: tuple[str, ...]
    ask: Callable[[Case, Policy, Run], Iterable[Finding]]
    sampled: tuple[str, ...] = ()
    check: Callable[[Case, Policy], None] | None = None
    protect: Mapping[str, Offer] = field(default_factory=lambda: MappingProxyType({}))
