"""Numbers and names as people read them, safe to show in a terminal, a page or an error message.

Names of files, columns and policies come from outside. :func:`safe_text` replaces whatever could act on the reader's
screen (control characters, terminal escape codes, direction overrides) and shortens long names. Templates escape HTML
later.

Plurals, units, rounding and intervals are written here and nowhere else.
"""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

__all__ = [
    "at_least_text",
    "at_most_text",
    "capitalise_text",
    "ceiling_text",
    "count_text",
    "did_you_mean",
    "ends_text",
    "floor_text",
    "list_text",
    "number_text",
    "number_word",
    "ordinal_text",
    "percent_text",
    "plural_noun",
    "range_text",
    "safe_text",
    "singular_noun",
    "unit_noun",
    "verb",
]

_IRREGULAR = {"person": "people"}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def safe_text(name: object, limit: int = 60) -> str:
    """``name`` on one line, without invisible characters, cut to ``limit`` characters.

    >>> safe_text("a\\x1b[31mred")
    'a�[31mred'
    >>> safe_text("x" * 99, limit=5)
    'xxxx…'
    """
    text = "".join("�" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in str(name))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def list_text(names: Iterable[object], limit: int = 8, longest: int = 60) -> str:
    """At most ``limit`` names joined as a list in a sentence, each cut to ``longest`` characters.

    >>> list_text(["age"]), list_text(["age", "zip", "sex"])
    ('age', 'age, zip and sex')
    >>> list_text("abcdefghijk", limit=3)
    'a, b, c and 8 more'
    """
    words = [safe_text(n, longest) for n in names]
    if len(words) > limit:
        return f"{', '.join(words[:limit])} and {len(words) - limit:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to add after "unknown name": the nearest known name, or all of them.

    >>> did_you_mean("quasy", ["quasi", "seed"]), did_you_mean("x", ["quasi", "seed"])
    ("; did you mean 'quasi'?", '; known are quasi and seed')
    """
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {list_text(names, 12)}"


def count_text(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, singular or plural.

    >>> count_text(1, "row"), count_text(12345, "row"), count_text(2, "class"), count_text(0, "entry")
    ('1 row', '12,345 rows', '2 classes', '0 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or plural_noun(noun)}"


def number_word(n: int) -> str:
    """A small number as a word.

    >>> number_word(3), number_word(12)
    ('three', '12')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[n] if 0 <= n < len(words) else f"{n:,}"


def ordinal_text(n: int) -> str:
    """A place in an order.

    >>> [ordinal_text(n) for n in (1, 2, 3, 4, 11, 12, 13, 38, 101, 1111, 1022)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '38th', '101st', '1,111th', '1,022nd']
    """
    last = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{last}"


def verb(count: float, singular: str, plural: str) -> str:
    """The form of a verb, or of another word, that goes with a number.

    >>> verb(1, "is", "are"), verb(0, "fits", "fit")
    ('is', 'fit')
    """
    return singular if count == 1 else plural


def plural_noun(noun: str) -> str:
    """The plural of a noun.

    >>> plural_noun("basket"), plural_noun("class"), plural_noun("entry"), plural_noun("known person")
    ('baskets', 'classes', 'entries', 'known people')
    """
    first, space, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        return first + space + _IRREGULAR[last]
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def singular_noun(noun: str) -> str:
    """The noun whose plural this is; a noun that is not a plural stays as it is.

    >>> singular_noun("baskets"), singular_noun("classes"), singular_noun("people"), singular_noun("distance")
    ('basket', 'class', 'person', 'distance')
    """
    first, space, last = noun.rpartition(" ")
    irregular = {plural: singular for singular, plural in _IRREGULAR.items()}
    for singular in (irregular.get(last, ""), last.removesuffix("ies") + "y", last.removesuffix("es"), last[:-1]):
        if singular and plural_noun(singular) == last:
            return first + space + singular
    return noun


def unit_noun(value: str, unit: str) -> str:
    """The unit that goes with a number as it is written: singular after 1, plural otherwise.

    >>> unit_noun("1", "rows"), unit_noun("at least 1", "people"), unit_noun("1 (1 to 3)", "rows")
    ('row', 'person', 'rows')
    """
    return singular_noun(unit) if value.rpartition(" ")[2] == "1" else unit


def capitalise_text(text: str) -> str:
    """``text`` as the beginning of a sentence.

    >>> capitalise_text(f"{percent_text(1e-9)} of the rows"), capitalise_text("4 rows")
    ('Under 0.01% of the rows', '4 rows')
    """
    return text[:1].upper() + text[1:]


def ceiling_text(x: float) -> str:
    """A number as an upper limit: rounded up.

    >>> ceiling_text(1.00010001), ceiling_text(11.3047), ceiling_text(-0.33335), ceiling_text(12345.61), ceiling_text(2)
    ('1.001', '11.31', '-0.3333', '12,345.7', '2')
    """
    return _rounded_text(x, ROUND_CEILING)


def floor_text(x: float) -> str:
    """A number as a lower limit: rounded down.

    >>> floor_text(0.33337), floor_text(-2.00001), floor_text(0)
    ('0.3333', '-2.001', '0')
    """
    return _rounded_text(x, ROUND_FLOOR)


def _rounded_text(x: float, rounding: str) -> str:
    if not math.isfinite(x) or x == 0:
        return number_text(x)
    exact = Decimal(repr(x))
    place = -1 if abs(x) >= 1000 else exact.adjusted() - 3
    return number_text(float(exact.quantize(Decimal(1).scaleb(place), rounding)))


def percent_text(share: float) -> str:
    """A share in percent. It reads 0% or 100% only if it is exactly that.

    >>> percent_text(0), percent_text(1), percent_text(0.5), percent_text(0.0183)
    ('0%', '100%', '50%', '1.83%')
    >>> percent_text(1e-9), percent_text(0.99999)
    ('under 0.01%', 'over 99.99%')
    """
    p = 100 * share
    if p in (0, 100):
        return f"{p:.0f}%"
    if p < 0.01:
        return "under 0.01%"
    if p > 99.99:
        return "over 99.99%"
    digits = 2 if p < 10 or p > 99 else 1
    return f"{p:.{digits}f}".rstrip("0").rstrip(".") + "%"


def at_least_text(share: float) -> str:
    """A share as a lower bound, however close it is to 0 or 1.

    >>> at_least_text(0.5), at_least_text(0.99999), at_least_text(1e-6), at_least_text(1)
    ('at least 50%', 'over 99.99%', 'at least 1 × 10⁻⁴%', '100%')
    """
    text = percent_text(share)
    if text.startswith("under"):
        text = f"{number_text(100 * share)}%"
    return text if text.startswith("over") or share == 1 else f"at least {text}"


def at_most_text(share: float) -> str:
    """A share as an upper bound, however close it is to 0 or 1.

    >>> at_most_text(0.5), at_most_text(0.999999), at_most_text(1e-6), at_most_text(0)
    ('at most 50%', 'at most 99.9999%', 'under 0.01%', '0%')
    """
    text = percent_text(share)
    if text.startswith("over"):
        text = f"{100 * share:.12g}%"
    return text if text.startswith("under") or share == 0 else f"at most {text}"


def ends_text(low: float, high: float, write: Callable[[float], str] = percent_text) -> str:
    """Both ends of an interval, or one number where they read the same.

    >>> ends_text(0.31, 0.65), ends_text(0.49999, 0.50001)
    ('31% to 65%', '50%')
    """
    first, last = write(low), write(high)
    return first if first == last else f"{first} to {last}"


def range_text(value: float, interval: tuple[float, float], write: Callable[[float], str] = percent_text) -> str:
    """A value with its interval; the value alone where both ends of the interval read the same as the value.

    >>> range_text(0.48, (0.31, 0.65)), range_text(1.0, (1.0, 1.0)), range_text(0.5, (0.49999, 0.50001))
    ('48% (31% to 65%)', '100%', '50%')
    """
    text, low, high = (write(x) for x in (value, *interval))
    return text if low == high == text else f"{text} ({low} to {high})"


def number_text(x: float) -> str:
    """A number with thousands separators and at most four significant decimals.

    Numbers that would need many zeros are written with a power of ten.

    >>> number_text(3), number_text(15093.0), number_text(1.2096e6), number_text(0.31186), number_text(float("inf"))
    ('3', '15,093', '1,209,600', '0.3119', '∞')
    >>> number_text(1.2e-7), number_text(-2.5e18)
    ('1.2 × 10⁻⁷', '-2.5 × 10¹⁸')
    """
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x != 0 and not 1e-4 <= abs(x) < 1e15:
        digits, exponent = f"{abs(x):.3e}".split("e")
        sign = "-" if x < 0 else ""
        return f"{sign}{digits.rstrip('0').rstrip('.')} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    if x == int(x):
        return f"{int(x):,}"
    return f"{x:,.1f}" if abs(x) >= 1000 else f"{x:,.4g}"
