"""Are several rows one person? What a table of visits, orders or ratings looks like.

A column that is called after people, and whose values come again and again, says whose row it is. Unless the policy
says so too, every row counts as a person, and nothing that is measured holds.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unveil.policy import Policy
from unveil.release.codes import Codes
from unveil.release.profile import infer
from unveil.release.roles import quoted, words
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import number, shown

__all__ = ["Several", "several"]

_CALLED = words("id_uid_uuid_guid_mrn_patient_subject_person_customer_client_member_user_username_login_account")
_OFTEN = 2.0  # rows for each value, on average


@dataclass(frozen=True)
class Several:
    """The column that says whose row it is, in how many rows each of its values is on average, and all columns of a
    rating if each row of a person is about something else: person, item and perhaps value and date."""

    person: str
    rows: float
    ratings: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What the owner should know, and can say."""
        said = f"with --subject {_typed((self.person,))}"
        if self.ratings:
            said += f", or with --ratings {_typed(self.ratings)} if each says what they rated, bought or visited"
        return (
            f"Each value of {shown(self.person)} is in {number(round(self.rows, 1))} rows on average, and every row "
            f"was taken for a person: if these rows are one person's, say so {said}."
        )


def several(table: Table, policy: Policy, run: Run | None = None) -> Several | None:
    """What seems to be so, of an identifier that was given or guessed, where the policy does not say it."""
    names = [c for c in policy.identifier if c in table.columns and words(c) & _CALLED]
    if policy.subject is not None or policy.ratings or not names:
        return None
    codes = table.codes(table.columns, policy.missing, run)
    often = {c: (codes[c].codes >= 0).sum() / max(1, len(codes[c].values)) for c in names}
    likely = [c for c in names if often[c] >= _OFTEN and len(codes[c].values) > 1]
    if not likely:
        return None
    person = max(likely, key=lambda c: len(codes[c].values))
    return Several(person, float(often[person]), _ratings(person, codes, [c for c in codes if c not in names]))


def _ratings(person: str, codes: Mapping[str, Codes], others: list[str]) -> tuple[str, ...]:
    """Person, item, value and date, as far as there are such columns."""
    dates = [c for c in others if infer(codes[c].values) == "date"]
    items = [c for c in others if c not in dates and _once(codes[person], codes[c])]
    if not items:
        return ()
    values = [c for c in others if c not in (items[0], *dates)]
    return person, items[0], *values[:1], *dates[:1]


def _once(person: Codes, item: Codes) -> bool:
    """Whether items come again, but not with the same person."""
    if (person.codes < 0).any() or (item.codes < 0).any() or 2 * len(item.values) > len(item.codes):
        return False
    key = person.codes.astype(np.int64) * len(item.values) + item.codes
    return len(np.unique(key)) == len(key)


def _typed(names: tuple[str, ...]) -> str:
    """Names as they are typed after an option."""
    return shown(shlex.quote(",".join(quoted(names))), 200)
