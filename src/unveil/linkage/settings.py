"""The settings of this room: how much the attacker knows, and which values count as the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.settings import setting
from unveil.wording import list_text

if TYPE_CHECKING:
    from unveil.linkage.similarity import Similarity
    from unveil.policy import Policy

__all__ = ["LinkageSettings"]


@dataclass(frozen=True, kw_only=True)
class LinkageSettings:
    """What an attacker who links records knows."""

    known: int = setting(
        4,
        kind="whole number",
        at_least=1,
        metavar="NUMBER",
        former_names=("things_known",),
        help="How many of a person's quasi-identifiers or ratings, chosen at random, the attacker knows.",
    )
    compare: Mapping[str, str] = setting(
        {},
        kind="text per column",
        metavar="COLUMN=HOW",
        example='birth = "30d"',
        pattern=r"equal|support|~?(\d+(\.\d*)?|\.\d+)|(\d+(\.\d*)?|\.\d+)d",
        expected_form="equal, support, a number such as 2, ~5, or 30d for days",
        help="How two values of a column are compared: equal (the default); 2 for numbers at most 2 apart; 30d for "
        "dates or Unix times at most 30 days apart; ~5 for numbers that agree less the further apart they are, and not "
        "at all from 5 on; support if any two values count as the same.",
    )

    def check(self, policy: Policy) -> None:
        """Refuse comparisons that do not fit the policy."""
        refused = [column for column in self.compare if column in policy.ratings[:2]]
        if refused:
            raise UnveilError(
                f"compare names {list_text(refused)}; for ratings, name only the columns of value and date"
            )

    def similarities(self, columns: Collection[str]) -> dict[str, Similarity]:
        """How the values of these columns are compared, where not for equality."""
        from unveil.linkage.similarity import parse_similarity

        return {column: parse_similarity(how) for column, how in self.compare.items() if column in columns}
