"""Which pseudonym is which? The exact-probability kernel that the rooms stand on.

``Candidates`` says what an attacker considers possible; ``solve`` how likely each pseudonym is to be cracked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unveil.matching.candidates import Candidates
    from unveil.matching.ladder import Budget, Solution, solve

__all__ = ["Budget", "Candidates", "Solution", "solve"]


def __getattr__(name: str) -> Any:
    """Load the kernel when it is first used: the command line must start fast."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"unveil.matching.{'candidates' if name == 'Candidates' else 'ladder'}"), name)
