"""The published descriptions of the JSON form of an assessment, and of a policy (JSON Schema 2020-12).

The shape of an assessment is written down in ``assessment.schema.json``, that of weighed protections in
``weighed.schema.json``; everything about policies follows from what
the policy and the rooms declare, so that an editor can complete ``unveil.toml`` and check it.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from unveil import questions
from unveil.assessment import SCHEMA_VERSION
from unveil.policy import COLUMN_SETTINGS, Policy
from unveil.risk import Risk
from unveil.settings import Kind, Setting, declared_settings

__all__ = ["assessment_schema", "policy_schema", "weighed_schema"]


def _read_schema(name: str) -> dict[str, Any]:
    return dict(json.loads(files("unveil.report").joinpath(name).read_text(encoding="utf-8")))


def weighed_schema() -> dict[str, Any]:
    """The schema that :meth:`unveil.WeighedProtections.to_dict` obeys; a fresh copy."""
    schema, shared = _read_schema("weighed.schema.json"), assessment_schema()
    for name in ("release", "provenance"):
        schema["properties"][name] = shared["properties"][name]
    schema["$defs"]["policy"] = shared["$defs"]["policy"]
    return schema


def assessment_schema() -> dict[str, Any]:
    """The schema that :meth:`unveil.assessment.Assessment.to_dict` obeys; a fresh copy."""
    schema = _read_schema("assessment.schema.json")
    schema["$defs"]["policy"] = _object_schema(
        _policy_properties(optional=False), "The policy as it was given.", closed=True
    )
    return schema


def policy_schema() -> dict[str, Any]:
    """The schema of a policy file. Roles may stand at the top or below ``[columns]``."""
    properties = _policy_properties(optional=True)
    roles = {name: properties[name] for name in COLUMN_SETTINGS}
    properties["columns"] = _object_schema(roles, "What each column is.")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:unveil:policy:{SCHEMA_VERSION}",
        "title": "An unveil policy",
    } | _object_schema(properties, "What is asked of a release, and what is tolerated.")


def _policy_properties(optional: bool) -> dict[str, Any]:
    """What a policy can say: all of it, or in the form of a file, where everything is optional."""
    properties = {name: _setting_schema(setting, optional) for name, setting in declared_settings(Policy).items()}
    properties["tolerance"] = _tolerances_schema(nested=optional)
    for question in questions.QUESTIONS:
        if question.settings is not None:
            own = {
                name: _setting_schema(setting, optional)
                for name, setting in declared_settings(question.settings).items()
            }
            properties[question.name] = _object_schema(own, f"Settings of: {question.title}", closed=not optional)
    return properties


def _object_schema(properties: dict[str, Any], description: str, closed: bool = False) -> dict[str, Any]:
    required = {"required": list(properties)} if closed else {}
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        **required,
        "properties": properties,
    }


_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_NON_EMPTY = {**_TEXTS, "minItems": 1}
_SHAPES: dict[Kind, dict[str, Any]] = {
    "flag": {"type": "boolean"},
    "whole number": {"type": "integer"},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "text": {"type": "string"},
    "column": {"type": "string"},
    "columns": _TEXTS,
    "sets of columns": {"type": "array", "items": _NON_EMPTY},
    "texts": _TEXTS,
    "text per column": {"type": "object", "additionalProperties": {"type": "string"}},
    "texts per column": {"type": "object", "additionalProperties": _NON_EMPTY},
    "share per column": {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
    },
}


def _setting_schema(setting: Setting, optional: bool) -> dict[str, Any]:
    """What a setting may be. In a file one text may stand for a list of one, and one set for several."""
    shape = dict(_SHAPES[setting.kind])
    if setting.kind in ("whole number", "share"):
        limits = {
            "minimum": setting.at_least,
            "maximum": setting.at_most,
            "exclusiveMinimum": setting.greater_than,
        }
        shape |= {key: limit for key, limit in limits.items() if limit is not None}
    if setting.pattern and setting.kind != "share":
        target = shape["additionalProperties"] if setting.kind == "text per column" else shape
        if setting.kind == "text per column":
            shape["additionalProperties"] = {**target, "pattern": f"^({setting.pattern})$"}
        else:
            shape["pattern"] = f"^({setting.pattern})$"
    forms: list[dict[str, Any]] = (
        [shape] if setting.kind != "text" or not setting.choices else [{"enum": list(setting.choices)}]
    )
    if setting.kind == "share" and setting.choices:
        forms.append({"enum": list(setting.choices)})
    if setting.kind == "share" and setting.pattern:
        forms.append({"type": "string", "pattern": f"^({setting.pattern})$"})
    if optional and setting.kind in ("columns", "texts"):
        forms.append({"type": "string"})
    if optional and setting.kind == "texts per column":
        forms = [{"type": "object", "additionalProperties": {"anyOf": [_TEXTS, {"type": "string"}]}}]
    if optional and setting.kind == "sets of columns":
        forms += [_TEXTS, {"type": "string"}]
    if not optional:
        forms.append({"type": "null"})
    return {"description": setting.help, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}


def _tolerances_schema(nested: bool) -> dict[str, Any]:
    """A number for every risk, or false; in a file, ``classes.k = 5`` is a table within the table."""
    description = "What is tolerated, by finding; false turns a check off."
    risks = questions.all_risks()
    flat = {risk.id: _tolerance_schema(risk) for risk in risks.values()}
    if not nested:
        return {"description": description, "type": "object", "additionalProperties": False, "properties": flat}
    rooms: dict[str, Any] = {}
    for risk in risks.values():
        room = rooms.setdefault(risk.question, {"type": "object", "additionalProperties": False, "properties": {}})
        room["properties"][risk.id.partition(".")[2]] = _tolerance_schema(risk)
    return {"description": description, "type": "object", "additionalProperties": False, "properties": flat | rooms}


def _tolerance_schema(risk: Risk) -> dict[str, Any]:
    number: dict[str, Any] = {"type": "integer" if risk.unit == "count" else "number", "minimum": 0}
    if risk.unit == "share":
        number["maximum"] = 1
    return {"description": risk.summary, "oneOf": [number, {"const": False}]}
