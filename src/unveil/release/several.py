"""Are several rows one person? What a table of visits, orders or ratings looks like.

A column that is called after people, and whose values come again and again, says whose row it is. Unless the policy
says so too, every row counts as a person, and nothing that is measured holds.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unveil.policy import Policy
from unveil.release.codes import Codes
from unveil.release.profile import infer
from unveil.release.roles import quoted, words
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import counted, number, shown

__all__ = ["Several", "several"]

_PEOPLE = words("patient_person_customer_client_member_user_username_login_employee_student_participant_respondent")
_BARE = words("id_uid_uuid_guid_mrn_nr_no")
_OFTEN = 2.0  # rows for each value, on average
_FEW = 5  # values, of which people have more
_ITEMS = 10


@dataclass(frozen=True)
class Several:
    """The column that says whose row it is, in how many rows each of its values is on average, how many rows lack one,
    whether it was called an identifier by the owner, and all columns of a rating if each row of a person is about
    something else: person, item and perhaps value and date."""

    person: str
    rows: float
    lacking: int = 0
    declared: bool = False
    ratings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the owner should know, and can say."""
        name, subject, ratings = shown(self.person), _typed(self.person), _typed(",".join(quoted(self.ratings)))
        said = "in the policy, which unveil init writes"
        if subject:
            said = f"with --subject {subject}{' as well' if self.declared else ''}"
            if self.ratings and ratings and not self.declared:
                said += f", or with --ratings {ratings} if each says what they rated, bought or visited"
        told = (
            f"Each value of {name} is in {number(round(self.rows, 1))} rows on average, and every row was taken for a "
            f"person: if these rows are one person's{'' if self.declared else ' under a pseudonym'}, say so {said}."
        )
        return f"{told} Before that, {counted(self.lacking, 'row')} without it must go." if self.lacking else told


def several(table: Table, policy: Policy, run: Run | None = None) -> Several | None:
    """What seems to be so, of an identifier that was given or guessed, where the policy does not say it."""
    names = [c for c in policy.identifier if c in table.columns and _called_after_people(c)]
    if policy.subject is not None or policy.ratings or not names:
        return None
    codes, run = table.codes(table.columns, policy.missing, run), run or Run()
    there = {c: int((codes[c].codes >= 0).sum()) for c in names}
    likely = [c for c in names if there[c] >= _OFTEN * len(codes[c].values) and len(codes[c].values) > _FEW]
    if not likely:
        return None
    person = max(likely, key=lambda c: len(codes[c].values))
    given = {c for c, role in policy.roles.items() if c not in policy.guessed or role == "sensitive"}
    others = [c for c in codes if c != person and c not in given]
    return Several(
        person,
        there[person] / len(codes[person].values),
        table.rows - there[person],
        person not in policy.guessed,
        _ratings(person, codes, others, policy.identifier, run) if there[person] == table.rows else (),
    )


def _called_after_people(name: str) -> bool:
    called = {word for word in words(name) if word}
    singular = {word.removesuffix("s") for word in called} | {word.removesuffix("id") for word in called}
    return bool((called | singular) & _PEOPLE) or called <= _BARE


def _ratings(
    person: str, codes: Mapping[str, Codes], others: list[str], names: tuple[str, ...], run: Run
) -> tuple[str, ...]:
    """Person, item, value and date, as far as there are such columns; what names something is no value."""
    who = codes[person]
    dates = [c for c in others if infer(codes[c].values) == "date"]
    item = next((c for c in others if c not in dates and _once(who, codes[c], run)), None)
    if item is None:
        return ()
    values = _varying(who, codes, [c for c in others if c not in (item, *dates, *names)], run)
    return person, item, *([value] if (value := next(values, None)) else []), *dates[:1]


def _once(person: Codes, item: Codes, run: Run) -> bool:
    """Whether items come again, but not with the same person."""
    run.check()
    size = len(item.values)
    if size < _ITEMS or 2 * size > len(item.codes) or int(np.bincount(person.codes).max()) > size:
        return False
    if (item.codes < 0).any():
        return False
    key = np.sort(person.codes.astype(np.int64) * size + item.codes)
    return bool((np.diff(key) > 0).all())


def _varying(person: Codes, codes: Mapping[str, Codes], others: list[str], run: Run) -> Iterator[str]:
    """Columns that are not the same in all rows of a person."""
    for column in others:
        run.check()
        first = np.empty(len(person.values), np.int64)
        first[person.codes] = codes[column].codes
        if (first[person.codes] != codes[column].codes).any():
            yield column


def _typed(text: str) -> str | None:
    """As it is typed on the command line, if it can be."""
    quoted = shlex.quote(text)
    return quoted if shown(quoted, 200) == quoted else None
