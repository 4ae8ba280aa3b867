"""Policies: what they say, what is wrong with them, and that nothing gets lost on the way to a file and back."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from unveil.errors import UnveilError
from unveil.policy import PRESETS, Policy

FULL = """
seed = 7
preset = "cms-11"
missing = ["", "-9"]
require = ["classes"]

[columns]
identifier = ["name"]
quasi = [["age", "zip"], ["age", "job title"]]
sensitive = ["diagnosis"]
insensitive = ["cost"]
subject = "patient"

[tolerance]
classes.k = 3
classes.uniques = 0.01
"network.degree_k" = false
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_full_policy_file(tmp_path: Path) -> None:
    policy = Policy.from_toml(write(tmp_path / "unveil.toml", FULL))
    assert policy.quasi == (("age", "zip"), ("age", "job title"))
    assert policy.roles == {
        "name": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "job title": "quasi",
        "diagnosis": "sensitive",
        "cost": "insensitive",
    }
    assert (policy.seed, policy.subject, policy.missing) == (7, "patient", ("", "-9"))
    assert policy.tolerated("classes.k") == 3  # overridden
    assert policy.tolerated("classes.reidentification") is None  # informs
    assert policy.tolerated("network.degree_k") is None  # turned off


def test_there_and_back(tmp_path: Path) -> None:
    policy = Policy.from_toml(write(tmp_path / "unveil.toml", FULL))
    assert Policy.from_dict(policy.to_dict()) == policy


def test_one_set_of_quasi_identifiers_needs_no_inner_list() -> None:
    assert Policy.from_dict({"quasi": ["age", "zip"]}).quasi == (("age", "zip"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quasy = ['age']", "did you mean 'quasi'"),
        ("quasi = 5", "quasi must be a list of names"),
        ("quasi = [['age'], []]", "empty"),
        ("quasi = ['age', 'age']", "twice"),
        ("[columns]\nquasi = ['age']\nsensitive = ['age']", "both sensitive and quasi"),
        ("quasi = ['a']\n[columns]\nquasi = ['b']", "keep one"),
        ("columns = 3", "[columns]"),
        ("seed = -1", "seed"),
        ("seed = true", "seed"),
        ("seed = 'x'", "seed"),
        ("subject = ['a']", "subject"),
        ("preset = 'nist'", "choose one of default"),
        ("[tolerance]\nclasses.kk = 5", "did you mean 'classes.k'"),
        ("[tolerance]\nclasses.k = 'five'", "must be a number"),
        ("[tolerance]\nclasses.k = true", "must be a number"),
        ("[tolerance]\nclasses.k = -1", "0 or more"),
        ("[tolerance]\nclasses.k = nan", "0 or more"),
        ("tolerance = 3", "[tolerance]"),
        ("this is not toml", "not valid TOML near line 1"),
        ("a = 1\nb = = 2", "line 2"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_that_names_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnveilError) as error:
        Policy.from_toml(write(tmp_path / "p.toml", text))
    assert said in str(error.value)
    assert str(error.value).startswith("p.toml: ")
    assert "\n" not in str(error.value)


def test_a_policy_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnveilError, match="not UTF-8"):
        Policy.from_toml(tmp_path / "p.toml")


def test_every_preset_has_a_source_and_knows_every_tolerance() -> None:
    for preset in PRESETS.values():
        assert len(preset.source) > 40
        assert preset.tolerance.keys() == PRESETS["default"].tolerance.keys()


def test_a_policy_cannot_be_changed() -> None:
    policy = Policy(tolerance=MappingProxyType({"classes.k": 3}))
    with pytest.raises(AttributeError):
        policy.seed = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        policy.tolerance["classes.k"] = 4  # type: ignore[index]


def test_settings_in_the_file_are_the_fields_of_the_policy() -> None:
    known: dict[str, Any] = Policy().to_dict()
    data = tomllib.loads(FULL)
    assert {*data, *data["columns"]} - {"columns"} <= known.keys()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"tolerance": {"classes.k": False}}, {"tolerance": {"classes.k": None}}),
        ({"quasi": ("age", "zip")}, {"quasi": (("age", "zip"),)}),
        ({"quasi": [["age"], ["zip"]]}, {"quasi": (("age",), ("zip",))}),
        ({"identifier": "name"}, {"identifier": ("name",)}),
        ({"missing": "NA"}, {"missing": ("NA",)}),
    ],
)
def test_what_is_given_in_another_form_is_understood(given: dict[str, Any], kept: dict[str, Any]) -> None:
    policy = Policy(**given)
    assert {name: getattr(policy, name) for name in kept} == kept


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tolerance": {"classes.k": True}}, "must be a number"),
        ({"tolerance": {"classes.k": "5"}}, "must be a number"),
        ({"tolerance": {"classes.k": 5.5}}, "whole number"),
        ({"tolerance": {"classes.uniques": 5}}, "write 0.05 for 5%"),
        ({"preset": []}, "unknown preset"),
        ({"quasi": 3}, "list of names"),
        ({"quasi": [["a", "b"], ["b", "a"]]}, "named twice"),
    ],
)
def test_a_policy_made_in_python_is_checked_too(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        Policy(**given)
