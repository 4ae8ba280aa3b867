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

    outside: float | None = setting(
        None,
        kind="share",
        example=0.1,
        metavar="SHARE",
        help="The share of the known people who are not in the release. By default, it is estimated from the two "
        "files if they are large enough; otherwise everybody is assumed to be in the release.",
    )
    errors: float | None = setting(
        None,
        kind="share",
        example=0.02,
        metavar="SHARE",
        help="The share of the values known about people that differ from their row, in every column. By default, it "
        "is estimated from the two files if they are large enough, and 0.02 otherwise.",
    )
    column_errors: Mapping[str, str] = setting(
        {},
        kind="text per column",
        metavar="COLUMN=SHARE",
        example='birth = "0.05"',
        pattern=r"0|0?\.\d+|\d{1,2}(\.\d*)?%",
        expected_form="a share below 1 such as 0.05 or 5%",
        help="The same share for one column, instead of errors.",
    )

    def check(self, policy: Policy) -> None:
        """Refuse comparisons that do not fit the policy, and shares that leave nothing."""
        for name, share in (("outside", self.outside), ("errors", self.errors)):
            if share == 1:
                raise UnveilError(f"linkage.{name} must be below 1")
        refused = [column for column in self.compare if column in policy.ratings[:2]]
        if refused:
            raise UnveilError(
                f"compare names {list_text(refused)}; for ratings, name only the columns of value and date"
            )

    def wrong_shares(self, columns: Collection[str]) -> dict[str, float]:
        """The share of wrong values of these columns, where it is given."""
        shares = {column: _parse_share(text) for column, text in self.column_errors.items()}
        given = {column: shares.get(column, self.errors) for column in columns}
        return {column: share for column, share in given.items() if share is not None}

    def similarities(self, columns: Collection[str]) -> dict[str, Similarity]:
        """How the values of these columns are compared, where not for equality."""
        from unveil.linkage.similarity import parse_similarity

        return {column: parse_similarity(how) for column, how in self.compare.items() if column in columns}


def _parse_share(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)
