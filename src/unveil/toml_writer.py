"""Write settings as TOML text that reads back as the same settings."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence

__all__ = ["to_toml"]


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


def _escape_character(character: str) -> str:
    """Escape DEL, which JSON leaves alone and TOML forbids, and all other invisible characters."""
    if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
        return f"\\U{ord(character):08x}"
    return character
