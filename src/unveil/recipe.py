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
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from unveil.errors import UnveilError
from unveil.policy import Policy, is_hierarchy_rule
from unveil.release.value_rules import ValueRule
from unveil.settings import declared_settings
from unveil.toml_reader import parse_toml
from unveil.toml_writer import drop_values, toml_lines
from unveil.wording import list_text, safe_text

__all__ = ["ColumnFate", "Recipe", "RecipeColumn"]

_FORMAT = 1
_MAX_BYTES = 50_000_000
ColumnFate = Literal["unchanged", "coarser", "left out", "pseudonyms", "random numbers"]


@dataclass(frozen=True)
class RecipeColumn:
    """What becomes of a column; coarser labels are found by a rule."""

    name: str
    becomes: ColumnFate
    rule: ValueRule | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Recipe:
    """What a protection did to a table, to be done to new rows. Made by :meth:`ProtectedRelease.recipe`, written with
    :meth:`write` and read with :meth:`read`.

    ``method`` is the protection whose rule says which rows are left out, and ``strictness`` how much more it asked than
    the policy. ``hierarchy_hashes`` are those of hierarchies that the policy reads from files, and ``key_id`` is the
    reference of the key for pseudonyms.
    """

    method: str
    columns: tuple[RecipeColumn, ...]
    policy: Policy
    strictness: float = 1.0
    hierarchy_hashes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    key_id: str | None = None
    name: str = "recipe"

    @property
    def pseudonymised_columns(self) -> tuple[str, ...]:
        """The columns that are replaced by keyed pseudonyms."""
        return tuple(column.name for column in self.columns if column.becomes == "pseudonyms")

    @property
    def lists_values(self) -> bool:
        """Whether it lists values of the data, and so must be kept secret."""
        secrets = (
            getattr(chosen, name)
            for room, chosen in self.policy.settings.items()
            for name, declaration in declared_settings(chosen).items()
            if declaration.secret and room in _table_rooms()
        )
        return any(column.rule is not None and column.rule.labels for column in self.columns) or any(secrets)

    def to_toml(self, folder: str | Path | None = None) -> str:
        """The recipe as TOML, to lie in a folder; files of hierarchies are named as seen from there."""
        data = self._to_dict(None if folder is None else Path(folder))
        said = "# What unveil did to the columns of a table; unveil protect --recipe does the same to new rows."
        secret = ["# It lists values of the data: keep it secret."] if self.lists_values else []
        return "\n".join([said, *secret, *toml_lines({**data, "sha256": _checksum(data)}), ""])

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
        if (
            not isinstance(strictness, float)
            or not 0 < strictness <= 1
            or (key is None) == any(c.becomes == "pseudonyms" for c in columns)
        ):
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
            hierarchy_hashes=MappingProxyType(dict(hashes)),
            key_id=key,
            name=name,
        )

    def _to_dict(self, folder: Path | None) -> dict[str, Any]:
        """The recipe as plain values, without its checksum."""
        from importlib.metadata import version

        from unveil.questions import room_settings

        others = {"tolerance", *room_settings()} - _table_rooms()  # what is tolerated stands among the goals
        own = {name: value for name, value in self.policy.to_dict().items() if name not in others}
        policy = drop_values(own, [None, {}])  # TOML has no None
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
            **({"key": self.key_id} if self.key_id is not None else {}),
            "columns": [
                {"name": c.name, "becomes": c.becomes, **(c.rule.to_dict() if c.rule else {})} for c in self.columns
            ],
            "goals": _goals(self.policy),
            **({"hierarchies": dict(self.hierarchy_hashes)} if self.hierarchy_hashes else {}),
            "policy": policy,
        }

    def __repr__(self) -> str:
        lines = [f"{safe_text(self.name)}, method {safe_text(self.method)}"]
        lines += [f"  {safe_text(c.name)}: {c.becomes}" for c in self.columns]
        return "\n".join(lines)


# ---- in and out ------------------------------------------------------------------------------------------------------


def _checksum(data: Mapping[str, Any]) -> str:
    """The SHA-256 of everything that a recipe says."""
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_column(data: Mapping[str, Any], where: str) -> RecipeColumn:
    name, becomes = data["name"], data["becomes"]
    if not isinstance(name, str) or becomes not in get_args(ColumnFate):
        raise ValueError
    rest = {key: value for key, value in data.items() if key not in ("name", "becomes")}
    if becomes != "coarser":
        if rest:
            raise ValueError
        return RecipeColumn(name, becomes)
    return RecipeColumn(name, becomes, ValueRule.from_dict(rest, f"{where}: column {safe_text(name)!r}"))


def _table_rooms() -> set[str]:
    """The rooms whose settings say something about tables."""
    from unveil.questions import questions_about

    return {question.name for question in questions_about("table")}


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
