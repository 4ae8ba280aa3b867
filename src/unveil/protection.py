"""A protection: a function from a release to a safer one, and what it costs.

A room offers protections in its ``protect.py``. ``unveil.protect`` applies them, assesses each result in full, and
picks the most useful one within tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.finding import Finding
from unveil.policy import Policy
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.release.coarse_table import CoarseColumn
    from unveil.release.table import Table

__all__ = ["Protection", "ProtectionOffer"]


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What a protection would do, in words, and how useful it would leave the data (1: as before).

    ``apply`` makes the safer release, together with the original and the truth, so that the attacker in its assessment
    knows the original. It uses the operating system's randomness, so that nobody can replay it. ``doubt`` is a reason
    why a person has to decide, whatever the assessment says. ``recipe_columns`` says what became of each column,
    with this strictness, if that follows from its values alone and rows are left out by the offer's rule only; a recipe
    is made of it.
    """

    sentence: str
    usefulness: float
    apply: Callable[[], Case]
    doubt: str = ""
    recipe_columns: Mapping[str, CoarseColumn] | None = None
    strictness: float = 1.0


@dataclass(frozen=True)
class ProtectionOffer:
    """A kind of protection. ``summary`` says in one line what it does.

    ``fit`` adapts it to a case, and returns None if no protection of this kind reaches the tolerance. Its last
    argument, the strictness, multiplies the tolerance to aim at: 1 at first, less while the assessment still finds the
    result over. ``release_kinds``: the kinds of release it is for; without any, all that its question is asked of.
    ``is_deterministic`` protections release the same whenever they are applied, but for names and order.
    ``is_harmless`` protections change only names and order. They suffice where nothing is over its tolerance, and do
    not help where something is. ``only_if_named`` says for which cases and policies the protection is tried only if
    the owner names it, and ``applies_to`` which cases it is for. ``caveat`` is what an owner should know about any
    release made this way, and ``describe_remaining_risk`` what attackers still find, given the findings about it.
    ``has_recipe``: what it does can be done to new rows.
    ``keep_rows(case, together, policy, run, strictness)`` returns the rows of ``case`` that stay, or None if too many
    must go; ``together`` also holds the rows released before.
    """

    title: str
    summary: str
    fit: Callable[[Case, Policy, Run, float], Protection | None]
    is_harmless: bool = False
    is_deterministic: bool = False
    only_if_named: Callable[[Case, Policy], bool] = lambda case, policy: False
    applies_to: Callable[[Case, Policy], bool] = lambda case, policy: True
    caveat: str = ""
    describe_remaining_risk: Callable[[Sequence[Finding]], str] = lambda findings: ""
    release_kinds: tuple[str, ...] = ()
    has_recipe: bool = False
    keep_rows: Callable[[Case, Table | None, Policy, Run, float], Ints | None] | None = None
