"""Numbers and names as people read them, safe to show in a terminal, a page or an error message.

Names of files, columns and policies come from outside. :func:`shown` takes away what could act on the reader's screen
(control characters, terminal escape codes, direction overrides) and shortens what is endless; HTML is escaped later,
by the template.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable

__all__ = ["counted", "listed", "number", "percent", "shown"]


def shown(name: object, limit: int = 60) -> str:
    """``name`` on one line, without invisible characters, cut after ``limit`` characters.

    >>> shown("a\\x1b[31mred")
    'a�[31mred'
    >>> shown("x" * 99, limit=5)
    'xxxx…'
    """
    text = "".join("�" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in str(name))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listed(names: Iterable[object], limit: int = 8) -> str:
    """Names as a list in a sentence.

    >>> listed(["age"]), listed(["age", "zip", "sex"])
    ('age', 'age, zip and sex')
    >>> listed("abcdefghijk", limit=3)
    'a, b, c and 8 more'
    """
    words = [shown(n) for n in names]
    if len(words) > limit:
        return f"{', '.join(words[:limit])} and {len(words) - limit:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(12345, "row"), counted(2, "class", "classes")
    ('1 row', '12,345 rows', '2 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """A share in percent; never rounded to 0 % or 100 % unless it is exactly that.

    >>> percent(0), percent(1), percent(0.5), percent(1e-9), percent(0.99999), percent(0.0183)
    ('0%', '100%', '50%', 'under 0.01%', 'over 99.99%', '1.83%')
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


def number(x: float) -> str:
    """A number with at most four significant decimals and separators.

    >>> number(3), number(15093.0), number(0.31186), number(1e-7), number(float("inf"))
    ('3', '15,093', '0.3119', '1e-07', '∞')
    """
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x == int(x) and abs(x) < 1e15:
        return f"{int(x):,}"
    return f"{x:,.1f}" if 1000 <= abs(x) < 1e15 else f"{x:.4g}"
