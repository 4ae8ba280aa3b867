"""Columns of the kinds that the Safe Harbor method of the US HIPAA rule names.

The rule (45 CFR 164.514(b)(2)) lists eighteen kinds of identifiers of the person, their relatives, employers and
household members that must be removed. Some of them can be told by a column's name or by the form of its values:

- places smaller than a state; the first three digits of a ZIP code may stay if more than 20,000 people live where codes
  begin so, which by the census of 2000 is not the case for seventeen beginnings;
- dates more precise than a year; ages over 89;
- numbers and addresses of all kinds.

What nobody can tell from a table is whether a text contains a name, whether a code derives from an identifier, and what
the releasing organisation knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from unveil.release.codes import Codes, cast_to_text
from unveil.release.column_profile import ColumnType, infer_type
from unveil.release.column_topics import find_topics, name_words
from unveil.release.table import Table
from unveil.release.value_topics import MOST_VALUES_READ, is_flag, topics_in_texts
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SafeHarborCheck", "check_safe_harbor"]

_KINDS_BY_TOPIC = {
    "name": "names",
    "address": "places smaller than a state",
    "place": "places smaller than a state",
    "phone": "phone numbers",
    "fax": "fax numbers",
    "email": "email addresses",
    "social security": "social security numbers",
    "medical record": "medical record numbers",
    "health plan": "health plan numbers",
    "account": "account numbers",
    "licence": "certificate or licence numbers",
    "vehicle": "vehicle identifiers",
    "device": "device identifiers",
    "url": "web addresses",
    "ip address": "IP addresses",
    "biometric": "biometric identifiers",
    "photograph": "photographs",
    "number": "other identifying numbers",
}
_DATES, _AGES = "dates more precise than a year", "ages over 89"
_PLACES, _ZIPS = _KINDS_BY_TOPIC["place"], "ZIP codes of few people"
_OLDEST_AGE, _OLDEST_POSSIBLE = 89, 130
_AGE_WORDS = frozenset({"age", "ages", "alter", "edad"})
_ZIP_WORDS = frozenset({"zip", "zipcode", "zcta", "postal", "postcode"})
_DATE_WORDS = frozenset({"date", "dob", "birthdate", "birthday", "timestamp", "datetime", "datum", "fecha"})
_MONTH_WORDS = frozenset({"month", "birthmonth", "monat", "mois"})
_YEAR = r"^(1[89]|20|21)[0-9]([0-9]|0s)$"
_SMALL_ZIP_AREAS = frozenset(
    f"{area:03}" for area in (36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893)
)


class SafeHarborCheck(NamedTuple):
    """The kinds that each column looks like, and the columns of which not all values were looked at."""

    kinds: Mapping[str, tuple[str, ...]]
    partly_read: tuple[str, ...]

    @property
    def columns_by_kind(self) -> dict[str, list[str]]:
        """The columns that look like each kind."""
        found: dict[str, list[str]] = {}
        for column, kinds in self.kinds.items():
            for kind in kinds:
                found.setdefault(kind, []).append(column)
        return found


def check_safe_harbor(table: Table, missing: tuple[str, ...], run: Run | None = None) -> SafeHarborCheck:
    """The columns that look like one of the kinds, by their names or values."""
    encoded = table.codes(table.columns, missing, run)
    kinds = {name: tuple(dict.fromkeys(_column_kinds(name, column))) for name, column in encoded.items()}
    return SafeHarborCheck(
        {name: found for name, found in kinds.items() if found},
        tuple(name for name, column in encoded.items() if len(column.values) > MOST_VALUES_READ),
    )


def _column_kinds(name: str, column: Codes) -> Iterator[str]:
    if not len(column.values):
        return
    words, kind = name_words(name), infer_type(column.values)
    if words & _ZIP_WORDS:
        yield from _zip_kinds(column.values)
    elif not is_flag(column.values):
        yield from _kinds_by_name(name)
    if kind == "date" or (_is_called_date(words) and not _are_years(column.values)):
        yield _DATES
    if words & _AGE_WORDS and _tells_old_age(column.values, kind):
        yield _AGES
    if kind == "text":
        yield from (_KINDS_BY_TOPIC[topic] for topic in topics_in_texts(column.values))


def _kinds_by_name(name: str) -> list[str]:
    topics = find_topics(name)
    if len(topics) > 1:  # the age of a patient is not a number of theirs
        topics.pop("number", None)
    return [_KINDS_BY_TOPIC[topic] for topic in topics if topic in _KINDS_BY_TOPIC]


def _is_called_date(words: set[str]) -> bool:
    return bool(words & _DATE_WORDS) or bool(words & _MONTH_WORDS and "per" not in words)


def _zip_kinds(values: pa.Array) -> Iterator[str]:
    """What is wrong with ZIP codes: more than three digits, or three that stand for few people. Whole numbers have lost
    their leading zeros."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(cast_to_text(values))
    first = pc.replace_substring_regex(texts, r"^[^0-9A-Za-z]+", "")
    digits = pc.replace_substring_regex(first, r"[^0-9A-Za-z].*$", "")
    longest = pc.max(pc.utf8_length(digits)).as_py() or 0
    if longest > 3:
        yield _PLACES
    elif longest:
        areas = set(pc.utf8_lpad(pc.unique(digits), 3, "0").to_pylist())
        if areas & _SMALL_ZIP_AREAS:
            yield _ZIPS


def _are_years(values: pa.Array) -> bool:
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(cast_to_text(values))
    return bool(pc.all(pc.match_substring_regex(texts, _YEAR)).as_py())


def _tells_old_age(values: pa.Array, kind: ColumnType) -> bool:
    """Whether a number over 89 is among the ages; a label such as 90+ is not a number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind not in ("whole number", "number"):
        return False
    ages = pc.cast(pc.utf8_trim_whitespace(cast_to_text(values)), pa.float64())
    return bool(pc.any(pc.and_(pc.greater(ages, _OLDEST_AGE), pc.less(ages, _OLDEST_POSSIBLE))).as_py())
