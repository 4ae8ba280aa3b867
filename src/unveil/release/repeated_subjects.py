"""Detect tables in which several rows belong to one person: visits, orders, ratings, copies.

Unless the policy says which rows belong together, every row counts as a person, and whoever has five rows seems to hide
among five people. Four things give repeated people away:

- a declared identifier, or a column with a name such as ``patient_id``, whose values recur;
- any other column, also a quasi-identifier, whose recurring values fix most of what the (other) quasi-identifiers say:
  rows with the same value agree in it, though other rows rarely do; or two columns, one of them a number, whose pairs
  do so though neither does alone: the number of a family and of the member, a site and a number there; but no range of
  numbers is anybody's name;
- rows that agree in everything, among rows with the same quasi-identifiers, though other rows rarely do;
- rows with the same quasi-identifiers that hardly ever agree in another column, such as the year, though chance would
  often make them: one row for each year of a person.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from unveil.arrays import Ints
from unveil.grouping import class_ids
from unveil.policy import Policy
from unveil.release.codes import Codes, arrow_integers
from unveil.release.column_dependence import (
    AGREES,
    agreement_within,
    chance_of_agreement,
    explained_information,
    fixed_columns,
    information,
)
from unveil.release.column_profile import infer_type
from unveil.release.column_topics import find_topics, name_words
from unveil.release.roles import quote_names
from unveil.release.table import Table
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import capitalise_text, count_text, list_text, number_text, percent_text, safe_text

__all__ = ["RepeatedSubjects", "can_be_fixed", "count_copies", "find_repeated_subjects"]

_PERSON_WORDS = name_words(
    "patient_person_customer_client_member_user_username_login_employee_student_participant_respondent"
)
_ID_WORDS = name_words("id_uid_uuid_guid_mrn_nr_no")
_NUMBER_WORDS = _ID_WORDS | name_words("num_number_nummer_seq_index_line")
_MIN_ROWS_PER_VALUE = 2.0  # mean rows per value of a column that only its name gives away
_TOO_FEW_VALUES = 5  # a column of people has more values than this
_MIN_ITEMS = 10
_AGREES_ANYWAY = 0.8  # probability above which agreement of random rows shows nothing
_RARELY_AGREES = 0.1  # probability below which random rows that agree in everything must be few
_MOSTLY_COPIES = 0.5  # probability from which rows that agree in what is known are mostly copies
_MAX_NUMBERS, _MAX_PARTS = 6, 12  # columns that may be one half of an id, and those that may be the other
_MAX_PAIR_ROWS = 100_000  # rows up to which all are looked at to find halves of an id

_LEAST_SPREAD_PAIRS = 20  # pairs of rows that would agree by chance, at least
_HARDLY_AGREE = 0.3  # the most that do agree, as a share of these
_SURELY_FEWER = 5.0  # standard deviations by which fewer agree
_NUMBER = r"-?[0-9]+(\.[0-9]+)?"
_RANGE = rf"^({_NUMBER}–{_NUMBER}|\[{_NUMBER}, {_NUMBER}\])$"
_SINGLE = rf"^({_NUMBER}|\*)$"

Evidence = Literal["identifier", "name", "fixed columns", "copies", "spread"]


@dataclass(frozen=True)
class RepeatedSubjects:
    """A column that seems to say whose row it is, or "" if none does. If there is a ``second``, only the two together
    say so. ``spread`` is a column in which rows with the same quasi-identifiers hardly ever agree.

    ``rows`` is the mean number of rows per value, ``rows_lacking`` the number of rows without a value. ``fixed`` are
    the quasi-identifiers that its values fix. ``smallest_class`` is the smallest number of its values in a class, for
    the set of quasi-identifiers in which it is smallest. If each row of a person is about another item, ``ratings`` are
    the columns of a rating: person, item and, where they exist, value and date.
    """

    person: str
    rows: float
    evidence: Evidence
    rows_lacking: int = 0
    fixed: tuple[str, ...] = ()
    smallest_class: int | None = None
    ratings: tuple[str, ...] = ()
    second: str = ""
    spread: str = ""

    @property
    def is_declared(self) -> bool:
        """Whether the owner called the column an identifier."""
        return self.evidence == "identifier"

    @property
    def repeated_share(self) -> float:
        """The share of rows that are not the first of their person."""
        return 1 - 1 / self.rows

    @property
    def sentence(self) -> str:
        """What the owner should know, and how to declare it."""
        every = f"{option_text('rows_are_people')} if every row is another person"
        if self.spread:
            return (
                f"Rows with the same quasi-identifiers hardly ever agree in {safe_text(self.spread)}, though chance "
                "would often make them: several rows seem to belong to one person, but every row was counted as a "
                f"different one. Say which column tells people apart with {option_text('subject', 'COLUMN')}, or say "
                f"{every}."
            )
        if not self.person:
            return (
                f"{capitalise_text(percent_text(self.repeated_share))} of the rows are exact copies of others, more "
                "than chance explains, so every copy was counted as a different person. Remove the copies, say which "
                f"column tells people apart with {option_text('subject', 'COLUMN')}, or say {every}."
            )
        name, of = safe_text(self.person), "value"
        if self.second:
            name, of = list_text([self.person, self.second]), "pair of values"
        said = (
            f"Each {of} of {name} occurs in {number_text(round(self.rows, 1))} rows on average, but every row was "
            "counted as a different person."
        )
        if self.fixed:
            said += f" Rows with the same {name} nearly always agree in {list_text(self.fixed, 6)}."
        if self.smallest_class is not None:
            said += f" Counted by {name}, the smallest class has {count_text(self.smallest_class, 'person', 'people')}."
        said += f" If rows with the same {of} belong to one person, {self._how_to_declare()}; or say {every}."
        if self.rows_lacking:
            said += f" First remove {count_text(self.rows_lacking, 'row')} without a value."
        return said

    def _how_to_declare(self) -> str:
        if self.second:
            return f"make one column of the two and name it with {option_text('subject', 'COLUMN')}"
        subject, ratings = _shell_word(self.person), _shell_word(",".join(quote_names(self.ratings)))
        if not subject:
            return "say so in the policy, which unveil init writes"
        said = f"say so with {option_text('subject')} {subject}{' as well' if self.is_declared else ''}"
        if self.ratings and ratings and not self.is_declared:
            said += f", or with {option_text('ratings')} {ratings} if each says what they rated, bought or visited"
        return said


def find_repeated_subjects(table: Table, policy: Policy, run: Run | None = None) -> RepeatedSubjects | None:
    """The column that most likely says whose row it is; None if none does, or if the policy says what a person is."""
    if policy.subject is not None or policy.ratings or policy.rows_are_people:
        return None
    codes, run = table.codes(table.columns, policy.missing, run), run or Run()
    quasi = [codes[c] for c in policy.quasi_columns if c in codes]
    repeated = {c: own for c, own in codes.items() if c not in (policy.weight, policy.household) and _recurs(own)}
    declared = [c for c in policy.identifier if c in codes and c not in policy.guessed and _recurs_at_all(codes[c])]
    says = _column_information(policy, codes)
    called = [c for c, own in repeated.items() if _names_people(c) and _recurs_often(own)]
    called = [c for c in called if c in policy.identifier or _fixes_any(c, says, codes)]
    others = {c: [{x: s for x, s in each.items() if x != c} for each in says] for c in repeated}
    fixed = {c: fixed_columns(own, others[c], codes, run) for c, own in repeated.items() if c not in declared}
    suspected = [
        c
        for c, columns in fixed.items()
        if set(columns) & set(policy.quasi_columns)
        and (c not in policy.quasi_columns or _fixes_independent_columns(c, columns, says, codes))
    ]
    if not suspected and (halves := _find_halves(codes, policy, says, run)):
        return _describe_halves(halves, codes, policy)
    by_evidence: dict[Evidence, list[str]] = {"name": called, "identifier": declared, "fixed columns": suspected}
    for evidence, names in by_evidence.items():
        if names:
            person = max(names, key=lambda c: len(codes[c].values))
            shown: Evidence = "identifier" if person in declared else evidence
            return _describe(person, shown, fixed.get(person, ()), codes, policy, run)
    rest = [own for c, own in codes.items() if c not in policy.quasi_columns and c not in policy.identifier]
    copies = count_copies(table, policy, run)
    if copies and quasi and _are_copies_suspicious(quasi, rest, table.rows):
        return RepeatedSubjects("", table.rows / (table.rows - copies), "copies")
    return _find_spread(codes, policy)


def count_copies(table: Table, policy: Policy, run: Run) -> int:
    """How many rows are equal to an earlier row in all columns."""
    columns = [own.codes for own in table.codes(table.columns, policy.missing, run).values()]
    return run.once("copies of rows", lambda: table.rows - class_ids(columns, table.rows)[1])


def _describe(
    person: str, evidence: Evidence, fixed: tuple[str, ...], codes: Mapping[str, Codes], policy: Policy, run: Run
) -> RepeatedSubjects:
    own = codes[person]
    there = int((own.codes >= 0).sum())
    given = {c for c, role in policy.roles.items() if c not in policy.guessed or role == "sensitive"}
    others = [c for c in codes if c != person and c not in given]
    is_complete = there == len(own.codes)
    return RepeatedSubjects(
        person,
        there / len(own.values),
        evidence,
        len(own.codes) - there,
        fixed,
        _smallest_class(own, codes, policy) if is_complete else None,
        _rating_columns(person, codes, others, policy.identifier, run) if is_complete else (),
    )


def _smallest_class(person: Codes, codes: Mapping[str, Codes], policy: Policy) -> int | None:
    """The smallest number of different people in a class of rows."""
    found = []
    for group in policy.quasi:
        ids, count = class_ids([codes[c].codes for c in group if c in codes], len(person.codes))
        pairs = np.unique(ids * len(person.values) + person.codes)
        found.append(int(np.bincount(pairs // len(person.values), minlength=count).min()))
    return min(found, default=None)


# ---- evidence --------------------------------------------------------------------------------------------------------


def _fixes_any(column: str, sets: Sequence[Mapping[str, float]], codes: Mapping[str, Codes]) -> bool:
    """Whether the values of a column fix another one that varies."""
    return any(
        agreement_within(codes[column].codes, codes[other].codes, information) >= AGREES
        for says in sets
        for other, information in says.items()
        if other != column
    )


def _fixes_independent_columns(
    column: str, fixed: tuple[str, ...], sets: Sequence[Mapping[str, float]], codes: Mapping[str, Codes]
) -> bool:
    """Whether a quasi-identifier fixes two others of which neither says half of what the other says. A place fixes the
    larger places that it is part of, and a code its groups; neither says whose row it is."""
    if all("place" in find_topics(c) for c in (column, *fixed)):
        return False
    says = {c: information for each in sets for c, information in each.items()}

    def says_half(one: str, other: str) -> bool:
        within = agreement_within(codes[one].codes, codes[other].codes, says[other])
        return explained_information(within, says[other]) >= says[other] / 2

    return any(not says_half(a, b) and not says_half(b, a) for a, b in combinations(fixed, 2))


def _recurs(column: Codes) -> bool:
    """Whether values recur, and there are enough of them to be people."""
    return len(column.values) > _TOO_FEW_VALUES and _recurs_at_all(column) and not _holds_ranges(column)


def _holds_ranges(column: Codes) -> bool:
    """Whether the column holds ranges of numbers, such as 20–34 or [0.5, 2], beside nothing but numbers and hidden
    values. Nobody is called by a range, but it may fix much of what is known about a small class."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return False
    is_range = pc.match_substring_regex(column.values, _RANGE)
    others = column.values.filter(pc.invert(is_range))
    return len(others) < len(column.values) and bool(
        pc.all(pc.match_substring_regex(others, _SINGLE), min_count=0).as_py()
    )


def _recurs_at_all(column: Codes) -> bool:
    return int((column.codes >= 0).sum()) > len(column.values)


def _recurs_often(column: Codes) -> bool:
    return int((column.codes >= 0).sum()) >= _MIN_ROWS_PER_VALUE * len(column.values)


def _names_people(name: str) -> bool:
    called = name_words(name)
    singular = {word.removesuffix("s") for word in called} | {word.removesuffix("id") for word in called}
    return bool((called | singular) & _PERSON_WORDS) or called <= _ID_WORDS


def can_be_fixed(table: Table, policy: Policy, run: Run) -> bool:
    """Whether there are two quasi-identifiers that vary, without which a column may fix them unseen."""
    codes = table.codes(table.columns, policy.missing, run)
    return any(len(set(says) & set(policy.quasi_columns)) >= 2 for says in _column_information(policy, codes))


def _column_information(policy: Policy, codes: Mapping[str, Codes]) -> list[dict[str, float]]:
    """For each set of quasi-identifiers, what those that vary say about a person, the most first: −ln p, where p is the
    probability that two random rows agree. Where a single one varies, insensitive columns are looked at as well."""
    looked_at = (*policy.quasi_columns, *policy.insensitive)
    chances = {c: chance_of_agreement(codes[c].codes) for c in looked_at if c in codes}
    says = {c: information(p) for c, p in chances.items() if p < _AGREES_ANYWAY}
    groups = [[c for c in group if c in says] for group in policy.quasi]
    groups = [[*g, *(c for c in policy.insensitive if c in says)] if len(g) == 1 else g for g in groups]
    return [{c: says[c] for c in sorted(group, key=lambda c: -says[c])} for group in groups]


def _are_copies_suspicious(quasi: Sequence[Codes], others: Sequence[Codes], rows: int) -> bool:
    """Whether rows with the same quasi-identifiers mostly agree in all other columns, though random rows rarely do."""
    ids, _ = class_ids([own.codes for own in quasi], rows)
    rest, _ = class_ids([own.codes for own in others], rows)
    chance = chance_of_agreement(rest)
    return chance < _RARELY_AGREES and agreement_within(ids, rest, information(chance)) >= _MOSTLY_COPIES


def _find_spread(codes: Mapping[str, Codes], policy: Policy) -> RepeatedSubjects | None:
    """A column in which rows with the same quasi-identifiers agree far less often than random rows."""
    rows = len(next(iter(codes.values())).codes)
    others = [c for c in codes if c not in (*policy.quasi_columns, *policy.sensitive) and _recurs_at_all(codes[c])]
    for group in policy.quasi:
        varying = [codes[c].codes for c in group if c in codes and len(codes[c].values) > 1]
        if len(varying) < 2:
            continue
        ids, count = class_ids(varying, rows)
        sizes = np.bincount(ids, minlength=count)
        pairs = int((sizes * (sizes - 1) // 2).sum())
        for column in others:
            both = class_ids([ids.astype(np.int64), codes[column].codes], rows)[0]
            agree = np.bincount(both)
            found, by_chance = int((agree * (agree - 1) // 2).sum()), pairs * chance_of_agreement(codes[column].codes)
            fewer = by_chance - found >= _SURELY_FEWER * math.sqrt(by_chance)
            if by_chance >= _LEAST_SPREAD_PAIRS and found <= _HARDLY_AGREE * by_chance and fewer:
                return RepeatedSubjects("", rows / count, "spread", spread=column)
    return None


# ---- two halves of an id ---------------------------------------------------------------------------------------------


class _Halves(NamedTuple):
    """Two columns that only together say whose row it is, and the quasi-identifiers that they fix."""

    first: str
    second: str
    fixed: tuple[str, ...]


def _find_halves(
    codes: Mapping[str, Codes], policy: Policy, sets: Sequence[Mapping[str, float]], run: Run
) -> _Halves | None:
    """Two columns whose pairs fix most of what the quasi-identifiers say beyond what either of them fixes alone."""
    told = {c for c in policy.quasi_columns if c not in policy.guessed or not _is_called_number(c)}
    told |= {policy.weight or "", policy.household or ""}
    parts = [c for c, own in codes.items() if c not in told and len(own.values) > 1 and _recurs_at_all(own)]
    parts.sort(key=lambda c: (not _is_called_number(c), -len(codes[c].values)))
    numbers = [c for c in parts if _is_called_number(c) or infer_type(codes[c].values) == "whole number"]
    tried = dict.fromkeys(frozenset((a, b)) for a in numbers[:_MAX_NUMBERS] for b in parts[:_MAX_PARTS] if a != b)
    alone: dict[str, frozenset[str]] = {}
    for pair in tried if any(len(says) > 1 for says in sets) else ():
        run.check()
        first, second = sorted(pair, key=lambda c: (len(codes[c].values), c))
        rows = _some_rows(codes[second])
        near = {c: Codes(codes[c].codes[rows], codes[c].values) for c in {first, second}.union(*sets)}
        if not _recurs(both := _pair_codes(near[first], near[second])):
            continue
        for half in (first, second):
            if half not in alone:
                alone[half] = frozenset(
                    column
                    for says in sets
                    for column, information in says.items()
                    if agreement_within(near[half].codes, near[column].codes, information) >= AGREES
                )
        left_out = {first, second} | alone[first] | alone[second]
        left = [{c: says[c] for c in says if c not in left_out} for says in sets]
        if fixed := fixed_columns(both, left, near, run):
            one, other = sorted(pair, key=list(codes).index)
            return _Halves(one, other, tuple(c for c in codes if c in fixed))
    return None


def _some_rows(column: Codes) -> Ints:
    """All rows, or of many those of every k-th value of the column: no person's rows are torn apart."""
    step = 1 + len(column.codes) // _MAX_PAIR_ROWS
    return np.flatnonzero(column.codes % step == 0)


def _pair_codes(first: Codes, second: Codes) -> Codes:
    """The pairs of two columns as one; a pair lacks what either lacks."""
    ids, count = class_ids([first.codes, second.codes], len(first.codes))
    there = (first.codes >= 0) & (second.codes >= 0)
    kept, ids = np.unique(np.where(there, ids, count), return_inverse=True)
    values = len(kept) - bool((~there).any())
    return Codes(np.where(there, ids, -1).astype(np.int32), arrow_integers(np.arange(values)))


def _describe_halves(halves: _Halves, codes: Mapping[str, Codes], policy: Policy) -> RepeatedSubjects:
    own = _pair_codes(codes[halves.first], codes[halves.second])
    lacking = int((own.codes < 0).sum())
    return RepeatedSubjects(
        halves.first,
        (len(own.codes) - lacking) / len(own.values),
        "fixed columns",
        lacking,
        halves.fixed,
        None if lacking else _smallest_class(own, codes, policy),
        second=halves.second,
    )


def _is_called_number(name: str) -> bool:
    return bool(name_words(name) & _NUMBER_WORDS)


# ---- ratings ---------------------------------------------------------------------------------------------------------


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
