"""A recipe: what a protection did to each column of a table, so that the same can be done to new rows.

It says which columns a table has and what becomes of each, how coarser labels are found
(:mod:`unveil.release.value_rules`), the policy with what it tolerates, and by which method rows are left out. Hierarchy
files are named with the hash of what they contain; a key for pseudonyms is named by its reference, which does not
reveal it.

A recipe may list values of the data. Its checksum shows that it was not changed by mistake; it is not a signature.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from unveil.errors import UnveilError
from unveil.policy import Policy, is_hierarchy_rule
from unveil.release.value_rules import ValueRule
from unveil.settings import declared_settings
from unveil.toml_reader import parse_toml
from unveil.toml_writer import to_toml
from unveil.wording import list_text, safe_text

__all__ = ["Recipe", "RecipeColumn"]

_FORMAT = 1
_MAX_BYTES = 50_000_000
_Fate = Literal["unchanged", "coarser", "left out", "pseudonyms", "random numbers"]
_SECRET = "It lists values of the data: keep it secret."


@dataclass(frozen=True)
class RecipeColumn:
    """What becomes of a column; coarser labels are found by a rule."""

    name: str
    becomes: _Fate
    rule: ValueRule | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Recipe:
    """What a protection did to a table, to be done to new rows. Made by :meth:`ProtectedRelease.recipe`, written with
    :meth:`write` and read with :meth:`read`.

    ``method`` is the protection whose rule says which rows are left out, and ``strictness`` how much more it asked than
    the policy. ``hierarchies`` holds the hashes of hierarchies that the policy reads from files, and ``key`` the
    reference of the key for pseudonyms.
    """

    method: str
    columns: tuple[RecipeColumn, ...]
    policy: Policy
    strictness: float = 1.0
    hierarchies: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    key: str | None = None
    name: str = "recipe"

    @property
    def pseudonymised(self) -> tuple[str, ...]:
        """The columns that are replaced by keyed pseudonyms."""
        return tuple(column.name for column in self.columns if column.becomes == "pseudonyms")

    @property
    def lists_values(self) -> bool:
        """Whether it lists values of the data, and so must be kept secret."""
        secrets = (
            getattr(chosen, name)
            for chosen in self.policy.settings.values()
            for name, declaration in declared_settings(chosen).items()
            if declaration.secret
        )
        return any(column.rule is not None and column.rule.labels for column in self.columns) or any(secrets)

    def to_toml(self, folder: str | Path | None = None) -> str:
        """The recipe as TOML, to lie in a folder; files of hierarchies are named as seen from there."""
        data = self._to_dict(None if folder is None else Path(folder))
        return "\n".join([*_lines({**data, "sha256": _checksum(data)}, self.lists_values), ""])

    def write(self, path: str | Path) -> None:
        """Write the recipe to a file that only its owner can read."""
        from unveil.release.delivery import OutputFile, deliver_files

        deliver_files([OutputFile(path, self.to_toml(Path(path).parent).encode(), private=True)])

    @classmethod
    def read(cls, path: str | Path) -> Recipe:
        """Read what :meth:`write` wrote."""
        from unveil.release.source_file import load_bytes

        path = Path(path)
        return cls.from_toml(load_bytes(path), safe_text(path.name, 200), path.parent)

    @classmethod
    def from_toml(cls, text: str | bytes, name: str = "recipe", folder: str | Path = ".") -> Recipe:
        """The inverse of :meth:`to_toml`."""
        data = parse_toml(text.encode() if isinstance(text, str) else text, name, "recipe", _MAX_BYTES)
        if data.get("format") != _FORMAT:
            known = f"this unveil reads recipes of format {_FORMAT}"
            what = "is not a recipe" if "format" not in data else "is a recipe of another format"
            raise UnveilError(f"{name}: {what}; {known}")
        checksum = data.pop("sha256", None)
        if checksum != _checksum(data):
            raise UnveilError(f"{name}: was changed after unveil wrote it; use the recipe as it was written")
        try:
            return cls._from_dict(data, name, Path(folder))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UnveilError(f"{name}: a part of the recipe is missing or malformed; write it again") from None

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any], name: str, folder: Path) -> Recipe:
        columns = tuple(_read_column(each, name) for each in data["columns"])
        names, strictness, key = [c.name for c in columns], data["strictness"], data.get("key")
        if len(set(names)) < len(names) or not isinstance(data["method"], str) or not isinstance(key, str | None):
            raise ValueError
        if not isinstance(strictness, float) or not 0 < strictness <= 1 or (key is None) == bool(_keyed(columns)):
            raise ValueError
        hashes = data.get("hierarchies", {})
        if not all(isinstance(text, str) for text in hashes.values()):
            raise ValueError
        own = dict(data["policy"])
        own["hierarchy"] = {
            column: text if is_hierarchy_rule(text) else str(folder / text)
            for column, text in own.get("hierarchy", {}).items()
        }
        policy = _with_goals(Policy.from_dict(own, name), data["goals"], name)
        if strange := [c for c in policy.roles if c not in names]:
            raise UnveilError(f"{name}: its policy names {list_text(strange)}, which the recipe has no column for")
        changed = [c.name for c in columns if c.becomes in ("coarser", "left out")]
        if not set(changed) <= {*policy.quasi_columns, *policy.identifier}:
            raise ValueError
        return cls(
            method=data["method"],
            columns=columns,
            policy=policy,
            strictness=strictness,
            hierarchies=MappingProxyType(dict(hashes)),
            key=key,
            name=name,
        )

    def _to_dict(self, folder: Path | None) -> dict[str, Any]:
        """The recipe as plain values, without its checksum."""
        from importlib.metadata import version

        policy = _without_nothing(self.policy.to_dict())
        if folder is not None and "hierarchy" in policy:
            policy["hierarchy"] = {
                column: text if is_hierarchy_rule(text) else os.path.relpath(text, folder)
                for column, text in policy["hierarchy"].items()
            }
        return {
            "format": _FORMAT,
            "unveil": version("unveil"),
            "method": self.method,
            "strictness": self.strictness,
            **({"key": self.key} if self.key is not None else {}),
            "columns": [
                {"name": c.name, "becomes": c.becomes, **(c.rule.to_dict() if c.rule else {})} for c in self.columns
            ],
            "goals": _goals(self.policy),
            **({"hierarchies": dict(self.hierarchies)} if self.hierarchies else {}),
            "policy": policy,
        }

    def __repr__(self) -> str:
        lines = [f"Recipe {safe_text(self.name)}, method {safe_text(self.method)}"]
        lines += [f"  {safe_text(c.name)}: {c.becomes}" for c in self.columns]
        return "\n".join(lines)


# ---- in and out ------------------------------------------------------------------------------------------------------


def _lines(data: Mapping[str, Any], is_secret: bool) -> Iterator[str]:
    """The lines of a TOML file: plain values first, then a table for each column, goals, and the policy."""
    yield "# What unveil did to the columns of a table; unveil protect --recipe does the same to new rows."
    if is_secret:
        yield f"# {_SECRET}"
    tables = {name: value for name, value in data.items() if isinstance(value, Mapping)}
    yield from (f"{name} = {to_toml(value)}" for name, value in data.items() if name not in ("columns", *tables))
    for column in data["columns"]:
        yield from ("", "[[columns]]", *(f"{name} = {to_toml(value)}" for name, value in column.items()))
    for name, table in tables.items():
        yield from _table_lines(name, table)


def _table_lines(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"[{name}]")
    deeper = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    yield from (f"{_toml_key(key)} = {to_toml(value)}" for key, value in table.items() if key not in deeper)
    for key, value in deeper.items():
        yield from _table_lines(f"{name}.{_toml_key(key)}", value)


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"\w+", name, re.ASCII) else to_toml(name)


def _checksum(data: Mapping[str, Any]) -> str:
    """The SHA-256 of everything that a recipe says."""
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _without_nothing(value: Any) -> Any:
    """Plain values without what is None, which TOML does not have, and without what is empty."""
    if not isinstance(value, Mapping):
        return value
    inside = {name: _without_nothing(each) for name, each in value.items()}
    return {name: each for name, each in inside.items() if each is not None and each != {}}


def _read_column(data: Mapping[str, Any], where: str) -> RecipeColumn:
    name, becomes = data["name"], data["becomes"]
    if not isinstance(name, str) or becomes not in get_args(_Fate):
        raise ValueError
    rest = {key: value for key, value in data.items() if key not in ("name", "becomes")}
    if becomes != "coarser":
        if rest:
            raise ValueError
        return RecipeColumn(name, becomes)
    return RecipeColumn(name, becomes, ValueRule.from_dict(rest, f"{where}: column {safe_text(name)!r}"))


def _keyed(columns: tuple[RecipeColumn, ...]) -> list[str]:
    return [column.name for column in columns if column.becomes == "pseudonyms"]


# ---- goals -----------------------------------------------------------------------------------------------------------


def _goals(policy: Policy) -> dict[str, float]:
    """What the policy tolerates, risk by risk, whatever its preset says in other versions."""
    from unveil.questions import risks_about

    tolerated = {risk.id: policy.tolerance_for(risk) for risk in risks_about("table")}
    return {name: value for name, value in tolerated.items() if value is not None}


def _with_goals(policy: Policy, goals: Mapping[str, Any], where: str) -> Policy:
    """The policy with these goals and no others."""
    from unveil.questions import risks_about

    known, before = [risk.id for risk in risks_about("table")], _goals(policy)
    if strange := [name for name in goals if name not in known]:
        raise UnveilError(f"{where}: this version of unveil does not measure {list_text(strange)}")
    changed = {name: goals.get(name) for name in known if goals.get(name) != before.get(name)}
    return replace(policy, tolerance={**policy.tolerance, **changed}) if changed else policy
