"""Write settings as TOML text that reads back as the same settings."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["drop_values", "to_toml", "toml_lines"]


def to_toml(value: object) -> str:
    """A string, number, boolean, list or small table as TOML.

    >>> to_toml(["a", 'b "c"', 3, False])
    '["a", "b \\\\"c\\\\"", 3, false]'
    >>> to_toml("\\x1b😀")
    '"\\\\u001b😀"'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{to_toml(str(k))} = {to_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    return "".join(map(_escape_character, json.dumps(value, ensure_ascii=False)))


def toml_lines(data: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The lines of a TOML file: plain values first, then a part for each table, and for each element of a list of
    tables; what is deeper in such a list stays on one line.

    >>> list(toml_lines({"a": 1, "b c": {"d": {"e": [2]}}, "f": [{"g": 3}]}))
    ['a = 1', '', '[[f]]', 'g = 3', '', '["b c".d]', 'e = [2]']
    """
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lists = {key: value for key, value in data.items() if _is_list_of_tables(value)}
    yield from _value_lines({key: value for key, value in data.items() if key not in tables and key not in lists})
    for key, each in ((key, each) for key, elements in lists.items() for each in elements):
        yield from ("", f"[[{path}{_toml_key(key)}]]", *_value_lines(each))
    for key, table in tables.items():
        inside = list(toml_lines(table, f"{path}{_toml_key(key)}."))
        yield from ([] if inside[:1] == [""] else ["", f"[{path}{_toml_key(key)}]"])
        yield from inside


def _value_lines(values: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_toml_key(key)} = {to_toml(value)}" for key, value in values.items())


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else to_toml(name)


def drop_values(value: Any, unwanted: Sequence[object]) -> Any:
    """A table without what is unwanted, at any depth.

    >>> drop_values({"a": None, "b": {"c": None}, "d": 0}, [None, {}])
    {'d': 0}
    """
    if not isinstance(value, Mapping):
        return value
    inside = {name: drop_values(each, unwanted) for name, each in value.items()}
    return {name: each for name, each in inside.items() if each not in unwanted}


def _escape_character(character: str) -> str:
    """Escape DEL, which JSON leaves alone and TOML forbids, and all other invisible characters."""
    if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
        return f"\\U{ord(character):08x}"
    return character
