"""Attackers who know some columns of a table, and what is counted: rows or people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from unveil.classes.missing_values import MissingValues
from unveil.policy import Policy
from unveil.release.table import Table
from unveil.wording import count_text, list_text

__all__ = ["GUESSED_TEXT", "KnownColumnsAttacker", "Subjects", "attackers", "bounding_attackers"]

GUESSED_TEXT = " (guessed: the policy does not say what an attacker knows)"


class Subjects(NamedTuple):
    """What is counted: rows, or people where the policy says which rows are the same person."""

    one: str
    many: str

    @classmethod
    def from_policy(cls, policy: Policy) -> Subjects:
        """As the policy says."""
        return cls("person", "people") if policy.subject else cls("row", "rows")

    def count_text(self, n: int) -> str:
        """So many of them."""
        return count_text(n, self.one, self.many)

    @property
    def relative_pronoun(self) -> str:
        """People *who*, rows *that*."""
        return "that" if self.one == "row" else "who"

    def row_text(self, number: int) -> str:
        """The one that a row belongs to, by the number of the row."""
        return f"row {number:,}" if self.one == "row" else f"person of row {number:,}"


class AttackerFields(TypedDict):
    """What findings about one attacker have in common."""

    title: str
    known: tuple[str, ...]
    attacker: str
    missing: str


@dataclass(frozen=True)
class KnownColumnsAttacker:
    """Someone who knows some columns.

    ``text`` says what they know. ``title_suffix`` is what titles add to tell this attacker from others. ``missing`` is
    how they read missing values. ``is_upper_bound``: nobody who knows less does better, so findings about them bound
    the risk.
    """

    columns: tuple[str, ...]
    text: str
    title_suffix: str
    missing: MissingValues
    is_upper_bound: bool = False

    def finding_fields(self, title: str, sensitive: bool = False) -> AttackerFields:
        """What findings about this attacker have in common, also about a sensitive column."""
        return AttackerFields(
            title=title + self.title_suffix,
            known=self.columns,
            attacker=self.text,
            missing=self.missing.describe(sensitive),
        )

    def lookup_text(self, whom: str = "everybody in the population") -> str:
        """The same columns, known of people who need not be in the data."""
        return f"Can look up {list_text(self.columns)} for {whom}, but does not know who is in the release."


def attackers(policy: Policy) -> list[KnownColumnsAttacker]:
    """One attacker for every set of quasi-identifiers."""
    several, where = len(policy.quasi) > 1, " in all of the person's rows" if policy.subject else ""
    return [
        KnownColumnsAttacker(
            columns=group,
            text=f"Knows that the person is in the data, and their {list_text(group)}{where}"
            f"{GUESSED_TEXT if set(group) & set(policy.guessed) else ''}.",
            title_suffix=f", knowing {list_text(group, 3)}" if several else "",
            missing=MissingValues.from_policy(policy),
        )
        for group in policy.quasi
    ]


def bounding_attackers(table: Table, policy: Policy) -> list[KnownColumnsAttacker]:
    """Someone who knows every column except identifiers, where the policy does not say what attackers know. Of ratings,
    attackers know some."""
    if policy.ratings or (policy.quasi and not set(policy.guessed) - set(policy.identifier)):
        return []
    others = tuple(c for c in table.columns if c not in (*policy.identifier, policy.subject, policy.household))
    if not others or others in policy.quasi:
        return []
    household = "" if policy.household is None else " and the number of the household"
    rows = "all of the person's rows" if policy.subject else "the person's row"
    return [
        KnownColumnsAttacker(
            columns=others,
            text=f"Knows every column of {rows} except direct identifiers{household}. Nobody who knows fewer columns "
            "does better.",
            title_suffix=", knowing every column",
            missing=MissingValues(),
            is_upper_bound=True,
        )
    ]
