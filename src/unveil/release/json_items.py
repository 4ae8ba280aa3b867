"""The items of a basket that is written as JSON: an array, or an object with such an array as ``items``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterator
from typing import Any

__all__ = ["is_container", "item_text", "parse_items", "stream_items"]

_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)  # numbers keep their spelling
_SPACE = r"[ \t\r\n]*+"
_SCALAR = r'(?:"(?:[^"\\]++|\\.)*+"|[^"\[\]{},: \t\r\n]++)'
_SOME_ITEMS = re.compile(rf"(?:{_SPACE}{_SCALAR}{_SPACE},){{1,4096}}+")
_LAST_ITEM = re.compile(rf"{_SPACE}{_SCALAR}?{_SPACE}\]")
_MEMBER = re.compile(rf"{_SPACE}({_SCALAR}){_SPACE}:{_SPACE}")
_MORE = re.compile(rf"{_SPACE}([,}}])")
_BEGIN = re.compile(rf"{_SPACE}([\[{{])")


def item_text(item: object) -> str:
    """An item as text: None and NaN are empty, booleans are written as in JSON."""
    import numpy as np

    if isinstance(item, (bool, np.bool_)):
        return "true" if item else "false"
    return "" if item is None or (isinstance(item, float) and math.isnan(item)) else str(item)


def is_container(item: object) -> bool:
    import numpy as np

    return isinstance(item, (bytes, list, tuple, dict, set, frozenset, np.ndarray))


def parse_items(line: str) -> list[str]:
    """The items of one line; a ValueError says that it is not a basket."""
    try:
        basket: Any = _DECODER.decode(line)
    except RecursionError:
        raise ValueError from None
    if isinstance(basket, dict):
        basket = basket.get("items")
    if not isinstance(basket, list) or any(is_container(item) for item in basket):
        raise ValueError
    items = [item_text(item) for item in basket]
    if "\\u" in line:  # only an escape can produce half a surrogate pair, which fails to encode
        "".join(items).encode()
    return items


def stream_items(line: str) -> Iterator[list[str]]:
    """As :func:`parse_items`, some items at a time: an object for each item of a long line would fill the memory."""
    found = _BEGIN.match(line)
    if found is None:
        raise ValueError
    if found[1] == "[":
        end = yield from _array_items(line, found.end())
    else:
        begin, end = _find_items(line, found.end())
        yield from _array_items(line, begin)
    if line[end:].strip(" \t\r\n"):
        raise ValueError


def _array_items(line: str, place: int) -> Generator[list[str], None, int]:
    """The items of the array that is open at this place. Returns where it ends."""
    begin = place
    while found := _SOME_ITEMS.match(line, place):
        yield parse_items(f"[{line[place : found.end() - 1]}]")
        place = found.end()
    found = _LAST_ITEM.match(line, place)
    if found is None:
        raise ValueError
    items = parse_items(f"[{found.group()}")
    if not items and place > begin:  # a comma before the closing bracket
        raise ValueError
    yield items
    return found.end()


def _find_items(line: str, place: int) -> tuple[int, int]:
    """Where the array begins that is the value of ``items``, the last if there are several, and where the object ends
    that is open at this place."""
    begin, more = -1, ","
    while more == ",":
        found = _MEMBER.match(line, place)
        if found is None:
            raise ValueError
        name, place = _DECODER.decode(found[1]), found.end()
        if not isinstance(name, str) or not found[1].startswith('"'):
            raise ValueError
        if name == "items":
            begin = place + 1 if line.startswith("[", place) else -1
        place = _skip_value(line, place, name == "items")
        found = _MORE.match(line, place)
        if found is None:
            raise ValueError
        more, place = found[1], found.end()
    if begin < 0:
        raise ValueError
    return begin, place


def _skip_value(line: str, place: int, may_be_long: bool) -> int:
    """Where the value ends that begins at this place."""
    if may_be_long and line.startswith("[", place):
        items = _array_items(line, place + 1)
        while True:
            try:
                next(items)
            except StopIteration as stop:
                return int(stop.value)
    try:
        return _DECODER.raw_decode(line, place)[1]
    except RecursionError:
        raise ValueError from None
