"""What a column is about, as its values say: email addresses, phone numbers, codes of diagnoses, amounts, yes or no.

Only what can be told from the form of a text is recognised. A name is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.release.codes import cast_to_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats

__all__ = [
    "MOST_VALUES_READ",
    "are_round_amounts",
    "are_test_results",
    "is_flag",
    "pick_values",
    "recognise_topic",
    "topics_in_texts",
]

MOST_VALUES_READ = 100_000
"""The number of different values of a column up to which all are looked at; of more, so many evenly spaced ones are."""

_OCTET = r"(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_PATTERNS = {
    "email": r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    "url": r"(?i:\b(https?://|www\.)[^\s]+)",
    "ip address": rf"\b{_OCTET}(\.{_OCTET}){{3}}\b|\b([0-9A-Fa-f]{{1,4}}:){{7}}[0-9A-Fa-f]{{1,4}}\b",
    "device": r"\b([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b",
    "social security": r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
    "phone": r"\+[0-9]{1,3}[ (./-]{1,2}[0-9][0-9 ().-]{5,}[0-9]|\(?\b[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b"
    r"|\b0[0-9]{2,5}[ /-]{1,3}[0-9]{4,9}\b",
    "account": r"\b[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?\b",
}
_DIAGNOSIS_CODE = r"^[A-TV-Z][0-9][0-9AB](\.[0-9A-TV-Z]{1,4})?$"
_DIAGNOSIS_CODE_WITHOUT_DOT = r"^[A-TV-Z][0-9][0-9AB][0-9A-TV-Z]{0,4}$"
_MIN_CHAPTERS = 10  # first letters from which codes without a dot are taken for diagnoses, not for rooms or postcodes
_MIN_DIAGNOSES = 3
_MIN_AMOUNTS, _MIN_MEDIAN, _ROUND, _MIN_SPREAD = 30, 1_000, 50, 3  # of amounts of money
_MOSTLY = 0.9  # share of the different values that must have the form


def _pairs(text: str) -> list[frozenset[str]]:
    return [frozenset(pair.split("/")) for pair in text.split()]


_FLAGS = _pairs("0/1 yes/no y/n true/false t/f ja/nein j/n oui/non o/n si/no sí/no s/n present/absent")
_TEST_RESULTS = _pairs("positive/negative positiv/negativ positif/négatif positivo/negativo")


def recognise_topic(values: pa.Array) -> str | None:
    """The topic that nearly all of a column's different values are about."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)) or not len(values):
        return None
    texts = pc.utf8_trim_whitespace(pick_values(values))
    if _are_diagnosis_codes(texts):
        return "health"
    patterns = {topic: rf"^({pattern})$" for topic, pattern in _PATTERNS.items()}
    return next((topic for topic, pattern in patterns.items() if _share_like(texts, pattern) >= _MOSTLY), None)


def topics_in_texts(values: pa.Array) -> list[str]:
    """The topics of whatever stands somewhere in a column's values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)) or not len(values):
        return []
    texts = pick_values(values)
    return [t for t, pattern in _PATTERNS.items() if pc.any(pc.match_substring_regex(texts, pattern)).as_py()]


def pick_values(values: pa.Array) -> pa.Array:
    """The values that are looked at: all, or evenly spaced ones."""
    import numpy as np

    if len(values) <= MOST_VALUES_READ:
        return values
    return values.take(np.linspace(0, len(values) - 1, MOST_VALUES_READ).astype(np.int64))


def is_flag(values: pa.Array) -> bool:
    """Whether a column says only yes or no."""
    return _folded_texts(values) in _FLAGS


def are_test_results(values: pa.Array) -> bool:
    """Whether a column says only positive or negative."""
    return _folded_texts(values) in _TEST_RESULTS


def are_round_amounts(values: Floats) -> bool:
    """Whether a column's different values look like incomes or other sums of money: many large round numbers, of which
    the largest is several times the median. Postcodes are not round, and years are not that far apart."""
    import numpy as np

    some = values[values > 0]
    if len(some) < max(_MIN_AMOUNTS, _MOSTLY * len(values)) or not np.isfinite(some).all():
        return False
    middle = float(np.median(some))
    is_spread = middle >= _MIN_MEDIAN and float(some.max()) >= _MIN_SPREAD * middle
    return is_spread and float((some % _ROUND == 0).mean()) >= _MOSTLY


def _folded_texts(values: pa.Array) -> frozenset[str]:
    few = cast_to_text(values).to_pylist() if len(values) == 2 else []
    return frozenset(str(text).strip().lower() for text in few)


def _share_like(texts: pa.Array, pattern: str) -> float:
    import pyarrow.compute as pc

    return float(pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0) / len(texts)


def _are_diagnosis_codes(texts: pa.Array) -> bool:
    """Whether values are codes of ICD-10. Without any dot, they must come from many chapters: B12 may be a room."""
    import pyarrow.compute as pc

    if len(texts) < _MIN_DIAGNOSES:
        return False
    if _share_like(texts, _DIAGNOSIS_CODE) >= _MOSTLY and pc.any(pc.match_substring(texts, ".")).as_py():
        return True
    chapters = len(pc.unique(pc.utf8_slice_codeunits(texts, 0, 1)))
    return chapters >= _MIN_CHAPTERS and _share_like(texts, _DIAGNOSIS_CODE_WITHOUT_DOT) >= _MOSTLY
