"""The JSON: it obeys the published schema, comes back unchanged, and nothing else obeys the schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from report import samples
from unveil.assessment import SCHEMA_VERSION, Assessment, Column, Provenance, Summary
from unveil.finding import Curve, Exposed, Finding, Links
from unveil.policy import Policy
from unveil.report.schema import schema
from unveil.verdict import Verdict

OPEN = ("beside", "size", "versions", "tolerance", "values")  # keys are free there
PLAIN = samples.hospital().to_dict()
PLAIN["findings"].append(samples.linked().findings[0].to_dict())
LINKS = ("findings", len(PLAIN["findings"]) - 1, "curves", 0)


def valid(document: object) -> bool:
    return Draft202012Validator(schema()).is_valid(document)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document."""
    if path:
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


KEYS = [p for p in places(PLAIN) if isinstance(p[-1], str) and not (len(p) > 1 and p[-2] in OPEN)]
OBJECTS = [(), *(p for p in places(PLAIN) if isinstance(at(PLAIN, p), dict) and p[-1] not in OPEN)]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema()["$id"] == f"urn:unveil:assessment:{SCHEMA_VERSION}"
    assert schema()["properties"]["schema_version"]["const"] == SCHEMA_VERSION


def test_assessments_obey(sample: Assessment) -> None:
    errors = list(Draft202012Validator(schema()).iter_errors(json.loads(sample.to_json())))
    assert errors == []


def test_assessments_come_back(sample: Assessment) -> None:
    back = Assessment.from_json(sample.to_json())
    assert back == sample
    assert back.to_json() == sample.to_json()


@pytest.mark.parametrize(
    ("described", "cls"),
    [
        (lambda s: s["properties"]["release"], Summary),
        (lambda s: s["properties"]["verdict"], Verdict),
        (lambda s: s["properties"]["provenance"], Provenance),
        (lambda s: s["$defs"]["finding"], Finding),
        (lambda s: s["$defs"]["curve"], Curve),
        (lambda s: s["$defs"]["links"], Links),
        (lambda s: s["$defs"]["exposed"], Exposed),
        (lambda s: s["$defs"]["column"], Column),
        (lambda s: s["$defs"]["policy"], Policy),
    ],
)
def test_every_key_is_described_in_order(described: Any, cls: type) -> None:
    part = described(schema())
    assert list(part["properties"]) == part["required"] == [f.name for f in fields(cls)]
    assert part["additionalProperties"] is False


def test_every_key_has_a_description() -> None:
    whole = schema()
    parts = [whole, *whole["$defs"].values(), *(whole["properties"][k] for k in ("release", "verdict", "provenance"))]
    for part in parts:
        for key, rule in part["properties"].items():
            described = whole["$defs"][rule["$ref"].rpartition("/")[2]] if "$ref" in rule else rule
            assert len(described["description"]) > 10, key


@pytest.mark.parametrize("path", KEYS, ids=str)
def test_no_key_can_be_left_out(path: tuple[Any, ...]) -> None:
    document = copy.deepcopy(PLAIN)
    del at(document, path[:-1])[path[-1]]
    assert not valid(document)


@pytest.mark.parametrize("path", OBJECTS, ids=str)
def test_no_key_can_be_added(path: tuple[Any, ...]) -> None:
    document = copy.deepcopy(PLAIN)
    at(document, path)["extra"] = 1
    assert not valid(document)


def test_no_value_can_be_of_another_type() -> None:
    validator = Draft202012Validator(schema())
    for path in places(PLAIN):
        document = copy.deepcopy(PLAIN)
        at(document, path[:-1])[path[-1]] = {"no": []}
        assert not validator.is_valid(document), path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 2),
        (("release", "kind"), "picture"),
        (("release", "size", "rows"), -1),
        (("verdict", "decision"), "safe"),
        (("verdict", "because"), "Not an id"),
        (("findings", 0, "id"), "k"),
        (("findings", 0, "method"), "guess"),
        (("findings", 0, "status"), "failed"),
        (("findings", 0, "value"), None),
        (("findings", 0, "interval"), [1]),
        (("findings", 0, "share"), [0, 1.5]),
        (("findings", 0, "direction"), "up"),
        (("findings", 0, "method"), "simulation"),
        (("findings", 0, "method"), "estimate"),
        (("findings", 1, "curves", 0, "kind"), "pie"),
        (("findings", 1, "curves", 0, "x_scale"), "sqrt"),
        (("findings", 1, "curves", 0, "series"), "one"),
        (("findings", 1, "curves", 0, "series"), [1]),
        ((*LINKS, "kind"), "bars"),
        ((*LINKS, "risk", 0), 1.5),
        ((*LINKS, "pairs", 0), [0, 2]),
        ((*LINKS, "pairs", 0), [0, 2, 0.5, 1]),
        ((*LINKS, "pairs", 0), [0, 2, -0.5]),
        ((*LINKS, "pairs", 0), [0.5, 2, 0.5]),
        ((*LINKS, "true"), [[0]]),
        ((*LINKS, "true"), [[0, -1]]),
        (("columns", 0, "role"), "key"),
        (("columns", 0, "origin"), "unknown"),
        (("provenance", "sha256"), "abc"),
        (("provenance", "seed"), 1.5),
        (("provenance", "policy", "tolerance", "classes.at_risk"), True),
    ],
)
def test_no_other_value_obeys(path: tuple[Any, ...], value: object) -> None:
    assert valid(PLAIN)
    document = copy.deepcopy(PLAIN)
    at(document, path[:-1])[path[-1]] = value
    assert not valid(document)


def test_the_schema_is_a_fresh_copy() -> None:
    schema()["properties"].clear()
    assert schema()["properties"]
