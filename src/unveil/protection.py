"""A protection: a function from a release to a safer one, and what it costs.

A room offers protections through its ``protect.py``; ``unveil.protect`` applies them, assesses what comes out as
thoroughly as the original, and picks the most useful of those that hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unveil.case import Case
from unveil.policy import Policy
from unveil.run import Run

__all__ = ["Offer", "Protection"]


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What would be done, in words, and how useful it would leave the data (1: as before).

    ``apply`` makes the safer release, with the original and the truth beside it, so that it is attacked by someone who
    knows the original. It draws from the operating system's randomness, so that nobody can replay it. ``doubt`` is a
    reason for which a person has to decide, whatever the assessment says.
    """

    sentence: str
    usefulness: float
    apply: Callable[[], Case]
    doubt: str = ""


@dataclass(frozen=True)
class Offer:
    """A kind of protection, and how one is made for a case: None if none of its kind reaches what is tolerated.

    The number handed to ``make``, 1 at first, is by how much to lower the tolerance aimed at; it falls while the
    assessment still finds the result over. ``harmless`` protections keep the data as it is but for names and order:
    enough where nothing is over its tolerance, and no help where something is. ``suits`` says which cases it is for.
    """

    title: str
    make: Callable[[Case, Policy, Run, float], Protection | None]
    harmless: bool = False
    suits: Callable[[Case, Policy], bool] = lambda case, policy: True
