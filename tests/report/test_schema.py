"""The JSON: it obeys the published schema, comes back unchanged, and nothing else obeys the schema."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from report import samples
from unveil.assessment import SCHEMA_VERSION, Assessment, Column, Provenance, Summary
from unveil.demo.examples import EXAMPLES
from unveil.errors import UnveilError
from unveil.finding import Curve, ExposedSubject, Finding, GraphChart, LatticeChart, LinkChart
from unveil.policy import Policy
from unveil.questions import room_settings
from unveil.report.schema import assessment_schema, policy_schema
from unveil.verdict import Verdict

OPEN = ("beside", "size", "versions", "tolerance", "values", "likelihood", "danger")  # keys are free there
PLAIN = samples.hospital().to_dict()
PLAIN["findings"].append(samples.linked().findings[0].to_dict())
LINKS = ("findings", len(PLAIN["findings"]) - 1, "curves", 0)


def valid(document: object) -> bool:
    return Draft202012Validator(assessment_schema()).is_valid(document)


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


def test_the_schema_is_a_assessment_schema() -> None:
    Draft202012Validator.check_schema(assessment_schema())
    assert assessment_schema()["$id"] == f"urn:unveil:assessment:{SCHEMA_VERSION}"
    assert assessment_schema()["properties"]["schema_version"]["const"] == SCHEMA_VERSION


def test_assessments_obey(sample: Assessment) -> None:
    errors = list(Draft202012Validator(assessment_schema()).iter_errors(json.loads(sample.to_json())))
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
        (lambda s: s["$defs"]["links"], LinkChart),
        (lambda s: s["$defs"]["lattice"], LatticeChart),
        (lambda s: s["$defs"]["graph"], GraphChart),
        (lambda s: s["$defs"]["exposed"], ExposedSubject),
        (lambda s: s["$defs"]["column"], Column),
    ],
)
def test_every_key_is_described_in_order(described: Any, cls: type) -> None:
    part = described(assessment_schema())
    assert list(part["properties"]) == part["required"] == [f.name for f in fields(cls)]
    assert part["additionalProperties"] is False


def test_the_policy_in_an_assessment_is_described_as_it_is_written() -> None:
    part, plain = assessment_schema()["$defs"]["policy"], Policy().to_dict()
    assert list(part["properties"]) == part["required"] == list(plain)
    assert part["additionalProperties"] is False
    for room in room_settings():
        assert list(part["properties"][room]["properties"]) == list(plain[room])


POLICY_FILE = {
    "quasi": ["age", "zip"],
    "columns": {"identifier": "name", "sensitive": ["ill"]},
    "tolerance": {"classes": {"k": 5, "uniques": False}, "linkage.success": 0.1},
    "linkage": {"known": 3, "compare": {"age": "2"}},
    "classes": {"ruled_out": {"ill": ["flu"]}, "others_known": True, "population_size": 1000},
    "items": {"frequency_precision": "mean-gap", "itemsets": "top:10"},
}


def test_policy_files_obey_the_schema_of_policies() -> None:
    Draft202012Validator.check_schema(policy_schema())
    validator = Draft202012Validator(policy_schema())
    assert list(validator.iter_errors(POLICY_FILE)) == []
    assert validator.is_valid({})
    assert validator.is_valid({"items": {"frequency_precision": "2.5x"}})
    for example in EXAMPLES:
        assert list(validator.iter_errors(tomllib.loads(example.policy))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"quasy": ["age"]},
        {"columns": {"quasy": ["age"]}},
        {"seed": -1},
        {"preset": "nist"},
        {"missing_as": "nothing"},
        {"tolerance": {"classes": {"k": 5.5}}},
        {"tolerance": {"classes": {"kk": 5}}},
        {"tolerance": {"classes.uniques": 2}},
        {"linkage": {"known": 0}},
        {"linkage": {"knwon": 4}},
        {"linkage": {"compare": {"age": "soon"}}},
        {"classes": {"known": 10}},
        {"classes": {"ruled_out": {"ill": 3}}},
        {"items": {"frequency_precision": "wide"}},
        {"items": {"itemset_threshold": 0}},
    ],
)
def test_what_a_policy_refuses_its_schema_refuses(wrong: dict[str, Any]) -> None:
    assert not Draft202012Validator(policy_schema()).is_valid(wrong)
    with pytest.raises(UnveilError):
        Policy.from_dict({**{k: v for k, v in wrong.items() if k != "columns"}, **wrong.get("columns", {})})


def test_every_key_has_a_description() -> None:
    whole = assessment_schema()
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
    validator = Draft202012Validator(assessment_schema())
    for path in places(PLAIN):
        document = copy.deepcopy(PLAIN)
        at(document, path[:-1])[path[-1]] = {"no": []}
        assert not validator.is_valid(document), path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 1),
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
        (("provenance", "hmac_sha256"), "abc"),
        (("provenance", "key_id"), "abc"),
        (("provenance", "plain_sha256"), {"release": "abc"}),
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
    assessment_schema()["properties"].clear()
    assert assessment_schema()["properties"]
