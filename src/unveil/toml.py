"""Settings as TOML text that reads back as the same settings."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence

__all__ = ["toml"]


def toml(value: object) -> str:
    """A text, number, truth value, list or small table as TOML.

    >>> toml(["a", 'b "c"', 3, False])
    '["a", "b \\\\"c\\\\"", 3, false]'
    >>> toml("\\x1b😀")
    '"\\\\u001b😀"'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml(str(k))} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(toml, value)) + "]"
    return "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))


def _escaped(character: str) -> str:
    """JSON escapes what TOML needs escaped, but for DEL; what cannot be seen is escaped as well."""
    if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
        return f"\\U{ord(character):08x}"
    return character
