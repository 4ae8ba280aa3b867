"""Detect tables in which several rows belong to one person: visits, orders, ratings.

A column with a name such as ``patient_id`` whose values recur probably says whose row it is. Unless the policy says so
too, every row counts as a person, and no measurement is valid.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unveil.policy import Policy
from unveil.release.codes import Codes
from unveil.release.column_profile import infer_type
from unveil.release.roles import name_words, quote_names
from unveil.release.table import Table
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, number_text, safe_text

__all__ = ["RepeatedSubjects", "find_repeated_subjects"]

_PERSON_WORDS = name_words(
    "patient_person_customer_client_member_user_username_login_employee_student_participant_respondent"
)
_ID_WORDS = name_words("id_uid_uuid_guid_mrn_nr_no")
_MIN_ROWS_PER_VALUE = 2.0  # mean rows per value
_TOO_FEW_VALUES = 5  # a column of people has more values than this
_MIN_ITEMS = 10


@dataclass(frozen=True)
class RepeatedSubjects:
    """A column that seems to say whose row it is.

    ``rows`` is the mean number of rows per value, ``rows_lacking`` the number of rows without a value; ``is_declared``
    says whether the owner called the column an identifier. If each row of a person is about another item, ``ratings``
    are the columns of a rating: person, item and, where they exist, value and date.
    """

    person: str
    rows: float
    rows_lacking: int = 0
    is_declared: bool = False
    ratings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the owner should know, and how to declare it."""
        name, subject, ratings = (
            safe_text(self.person),
            _shell_word(self.person),
            _shell_word(",".join(quote_names(self.ratings))),
        )
        said = "in the policy, which unveil init writes"
        if subject:
            said = f"with {option_text('subject')} {subject}{' as well' if self.is_declared else ''}"
            if self.ratings and ratings and not self.is_declared:
                said += f", or with {option_text('ratings')} {ratings} if each says what they rated, bought or visited"
        told = (
            f"Each value of {name} occurs in {number_text(round(self.rows, 1))} rows on average, but every row was "
            f"counted as a different person. If rows with the same value belong to one person, say so {said}."
        )
        return (
            f"{told} First remove {count_text(self.rows_lacking, 'row')} without a value."
            if self.rows_lacking
            else told
        )


def find_repeated_subjects(table: Table, policy: Policy, run: Run | None = None) -> RepeatedSubjects | None:
    """The identifier that most likely says whose row it is; None if none does, or if the policy names the subject."""
    names = [c for c in policy.identifier if c in table.columns and _names_people(c)]
    if policy.subject is not None or policy.ratings or not names:
        return None
    codes, run = table.codes(table.columns, policy.missing, run), run or Run()
    there = {c: int((codes[c].codes >= 0).sum()) for c in names}
    likely = [
        c
        for c in names
        if there[c] >= _MIN_ROWS_PER_VALUE * len(codes[c].values) and len(codes[c].values) > _TOO_FEW_VALUES
    ]
    if not likely:
        return None
    person = max(likely, key=lambda c: len(codes[c].values))
    given = {c for c, role in policy.roles.items() if c not in policy.guessed or role == "sensitive"}
    others = [c for c in codes if c != person and c not in given]
    return RepeatedSubjects(
        person,
        there[person] / len(codes[person].values),
        table.rows - there[person],
        person not in policy.guessed,
        _rating_columns(person, codes, others, policy.identifier, run) if there[person] == table.rows else (),
    )


def _names_people(name: str) -> bool:
    called = {word for word in name_words(name) if word}
    singular = {word.removesuffix("s") for word in called} | {word.removesuffix("id") for word in called}
    return bool((called | singular) & _PERSON_WORDS) or called <= _ID_WORDS


def _rating_columns(
    person: str, codes: Mapping[str, Codes], others: list[str], names: tuple[str, ...], run: Run
) -> tuple[str, ...]:
    """Person, item, value and date, as far as such columns exist. An identifier is never the value."""
    who = codes[person]
    dates = [c for c in others if infer_type(codes[c].values) == "date"]
    item = next((c for c in others if c not in dates and _is_rated_once(who, codes[c], run)), None)
    if item is None:
        return ()
    values = _varying_columns(who, codes, [c for c in others if c not in (item, *dates, *names)], run)
    return person, item, *([value] if (value := next(values, None)) else []), *dates[:1]


def _is_rated_once(person: Codes, item: Codes, run: Run) -> bool:
    """Whether items recur, but never for the same person."""
    run.check()
    size = len(item.values)
    if size < _MIN_ITEMS or 2 * size > len(item.codes) or int(np.bincount(person.codes).max()) > size:
        return False
    if (item.codes < 0).any():
        return False
    key = np.sort(person.codes.astype(np.int64) * size + item.codes)
    return bool((np.diff(key) > 0).all())


def _varying_columns(person: Codes, codes: Mapping[str, Codes], others: list[str], run: Run) -> Iterator[str]:
    """Columns that vary between the rows of a person."""
    for column in others:
        run.check()
        first = np.empty(len(person.values), np.int64)
        first[person.codes] = codes[column].codes
        if (first[person.codes] != codes[column].codes).any():
            yield column


def _shell_word(text: str) -> str | None:
    """The text as a word of a shell command; None if it cannot be typed."""
    quoted = shlex.quote(text)
    return quoted if safe_text(quoted, 200) == quoted else None
