"""The settings of the question ``classes``, and what a protection has to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.settings import setting
from unveil.wording import list_text

if TYPE_CHECKING:
    from unveil.policy import Policy

__all__ = ["ClassesSettings"]

_MOST_PEOPLE = 10**12


@dataclass(frozen=True, kw_only=True)
class ClassesSettings:
    """What an attacker knows beside the quasi-identifiers, and how large the population is."""

    known: int = setting(
        2,
        kind="whole number",
        at_least=1,
        at_most=9,
        release_kinds=("transactions",),
        former_names=("items_known",),
        metavar="NUMBER",
        help="How many items of one basket the attacker knows.",
    )
    ruled_out: Mapping[str, tuple[str, ...]] = setting(
        {},
        kind="texts per column",
        release_kinds=("table",),
        metavar="COLUMN=VALUE",
        example='diagnosis = ["flu"]',
        secret=True,
        help="A value of a sensitive column that the attacker can rule out.",
    )
    others_known: bool = setting(
        False,
        kind="flag",
        release_kinds=("table",),
        former_names=("strict",),
        help="Apply the tolerances also to an attacker who knows every other sensitive column.",
    )
    population_size: int | None = setting(
        None,
        kind="whole number",
        at_least=1,
        at_most=_MOST_PEOPLE,
        release_kinds=("table",),
        former_names=("population",),
        metavar="NUMBER",
        help="Size of the population from which the rows are a random sample.",
    )
    sampling_fraction: float | None = setting(
        None,
        kind="share",
        greater_than=0,
        at_least=1 / _MOST_PEOPLE,
        release_kinds=("table",),
        former_names=("population",),
        metavar="SHARE",
        example=0.01,
        help="Share of the population in the release, if its rows are a random sample.",
    )
    keep: tuple[str, ...] = setting(
        (),
        kind="columns",
        release_kinds=("table",),
        protecting=True,
        metavar="COLUMNS",
        help="Quasi-identifiers that a protection must leave as they are.",
    )
    suppress: float = setting(
        0.05,
        kind="share",
        release_kinds=("table",),
        protecting=True,
        metavar="SHARE",
        help="Largest share of people that a protection may leave out; unless you say so, methods that leave out rows "
        "by design take what they need.",
    )
    importance: Mapping[str, str] = setting(
        {},
        kind="text per column",
        release_kinds=("table",),
        protecting=True,
        pattern=r"\d+(\.\d+)?",
        expected_form="a number, such as 3",
        metavar="COLUMN=NUMBER",
        help="How much it matters that a protection keeps a quasi-identifier, compared with 1 for others.",
    )
    divide_ties: bool = setting(
        False,
        kind="flag",
        release_kinds=("table",),
        protecting=True,
        help="Let the protection mondrian put people with the same values into different classes.",
    )
    loss: str = setting(
        "loss",
        kind="text",
        choices=("loss", "entropy", "discernibility", "classes"),
        release_kinds=("table",),
        protecting=True,
        help="How a protection measures what is lost.",
    )

    def check(self, policy: Policy) -> None:
        """Refuse settings that do not fit the policy or each other."""
        strange = [column for column in self.ruled_out if column not in policy.sensitive]
        if strange:
            are = "which is" if len(strange) == 1 else "which are"
            raise UnveilError(f"classes.ruled_out names {list_text(strange)}, {are} not among the sensitive columns")
        if self.population_size is not None and self.sampling_fraction is not None:
            raise UnveilError("classes.population_size and classes.sampling_fraction say the same thing; keep one")
