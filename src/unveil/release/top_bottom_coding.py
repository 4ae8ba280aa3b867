"""Top and bottom coding: numbers that few people reach are put together, all others stay as they are.

On a level with a ``low`` and a ``high`` end, numbers below the one become ``<low`` and numbers from the other on
``≥high``. Either may be lacking. Each level puts at least as many numbers together as the one below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from unveil.errors import UnveilError
from unveil.release.generalised_labels import ROOT_LABEL, interval_label, parse_fraction
from unveil.release.hierarchy import Hierarchy
from unveil.wording import safe_text

__all__ = ["CodingLimits", "coded_label", "parse_coding_limits", "top_bottom_hierarchy"]

CodingLimits: TypeAlias = tuple[str | None, str | None]
"""Below which number, and from which number on, numbers are put together."""


def parse_coding_limits(rule: str, numbers: Sequence[str], name: str) -> list[CodingLimits]:
    """The ends on each level, as the rules ``top``, ``bottom`` and ``ends`` name them.

    >>> parse_coding_limits("top", ["90", "80"], "age"), parse_coding_limits("ends", ["18", "90"], "age")
    ([(None, '90'), (None, '80')], [('18', '90')])
    """
    levels: list[CodingLimits] = [(None, n) if rule == "top" else (n, None) for n in numbers]
    if rule == "ends":
        levels = [(numbers[0], numbers[1])]
    ends = [tuple(None if end is None else _number(end, at, name) for end in own) for at, own in enumerate(levels, 1)]
    for at, (low, high) in enumerate(ends, 1):
        if low is not None and high is not None and low > high:
            raise UnveilError(f"{safe_text(name)}: on level {at} the low end lies above the high end; swap them")
    for at, (below, above) in enumerate(pairwise(ends), 2):
        rises = below[0] is None or (above[0] is not None and above[0] > below[0])
        falls = below[1] is None or (above[1] is not None and above[1] < below[1])
        if not rises or not falls:
            raise UnveilError(
                f"{safe_text(name)}: level {at} does not put more numbers together than level {at - 1}; write "
                "top:90,80 or bottom:18,30"
            )
    return levels


def _number(text: str, level: int, name: str) -> Fraction:
    found = parse_fraction(text)
    if found is None:
        raise UnveilError(f"{safe_text(name)}: an end on level {level} is not a number; write top:90 or bottom:18")
    return found


def coded_label(text: str, number: Fraction, ends: CodingLimits) -> str:
    """What becomes of a number, written as this text.

    >>> [coded_label(str(n), Fraction(n), ("18", "90")) for n in (17, 18, 89, 90)]
    ['<18', '18', '89', '≥90']
    """
    low, high = (None if end is None else parse_fraction(end) for end in ends)
    if low is not None and number < low:
        return interval_label(number, [ends[0] or ""], True, "ends")
    if high is not None and number >= high:
        return interval_label(number, [ends[1] or ""], True, "ends")
    return text


def top_bottom_hierarchy(numbers: Mapping[str, Fraction], levels: Sequence[CodingLimits], name: str) -> Hierarchy:
    """A hierarchy of numbers, written as these texts, with these ends on each level."""
    rows = ((text, *(coded_label(text, n, ends) for ends in levels), ROOT_LABEL) for text, n in numbers.items())
    return Hierarchy.from_rows(rows, name)
