"""Policies: what they say, what is wrong with them, and that nothing gets lost on the way to a file and back."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from unveil.classes.settings import ClassesSettings
from unveil.errors import UnveilError
from unveil.linkage.settings import LinkageSettings
from unveil.policy import PRESETS, Policy
from unveil.questions import all_risks

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

[linkage]
known = 6

[linkage.compare]
age = "2"

[classes.ruled_out]
diagnosis = ["flu"]

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
    assert policy.settings_for(LinkageSettings) == LinkageSettings(known=6, compare={"age": "2"})
    assert policy.settings_for(ClassesSettings).ruled_out == {"diagnosis": ("flu",)}
    assert policy.tolerance_for("classes.k") == 3  # overridden
    assert policy.tolerance_for("classes.reidentification") is None  # informs
    assert policy.tolerance_for("network.degree_k") is None  # turned off


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
        ("preset = 'nist'", "preset must be one of default, ema-0070"),
        ("[tolerance]\nclasses.kk = 5", "did you mean 'classes.k'"),
        ("[tolerance]\nclasses.k = 'five'", "must be a number"),
        ("[tolerance]\nclasses.k = true", "must be a number"),
        ("[tolerance]\nclasses.k = -1", "0 or more"),
        ("[tolerance]\nclasses.k = nan", "0 or more"),
        ("tolerance = 3", "[tolerance]"),
        ("things_known = 3", "write known = ... under [linkage]"),
        ("[linkage]\nthings_known = 3", "'things_known' in [linkage]; write known = ... under [linkage]"),
        ("[classes]\nstrict = true", "'strict' in [classes]; write others_known = ... under [classes]"),
        ("known = 3", "write known = ... under ["),
        ("[compare]\nage = '2'", "write [linkage.compare]"),
        ("strict = true", "write others_known = ... under [classes]"),
        ("width = 0.1", "write frequency_precision = ... under [items]"),
        ("danger = 0.1", "write [inference.danger] or itemset_threshold = ... under [items]"),
        ("[columns]\nquasy = ['age']", "in [columns]; did you mean 'quasi'"),
        ("[linkage]\nknwon = 3", "in [linkage]; did you mean 'known'"),
        ("[linkage]\nknown = 0", "linkage.known must be a whole number, 1 or more"),
        ("[linkage]\nknown = true", "linkage.known must be a whole number"),
        ("[linkage]\nknown = 2.5", "linkage.known must be a whole number"),
        ("[classes]\nknown = 10", "classes.known must be a whole number from 1 to 9"),
        ("[classes]\nothers_known = 1", "classes.others_known must be true or false"),
        ("[classes]\nruled_out = 3", "[classes.ruled_out] must be a table"),
        ("[classes.ruled_out]\nage = ['3']", "sensitive"),
        ("[classes]\npopulation_size = 9\nsampling_fraction = 0.1", "say the same thing; keep one"),
        (
            "[items]\nfrequency_precision = 'wide'",
            "median-gap, mean-gap, a multiple of the median gap such as 2x, or a share",
        ),
        ("[items]\nfrequency_precision = 2", "a share between 0 and 1"),
        ("[items]\nfrequency_precision = 'x'", "such as 2x, or a share between 0 and 1"),
        ("[items]\nitemset_threshold = 0", "above 0 and up to 1"),
        ("[items]\nitemsets = 'some'", "items.itemsets must be pairs, top:10"),
        ("[linkage.compare]\nage = 'soon'", "cannot be 'soon'; write equal, support"),
        ("linkage = 3", "[linkage] must be a table"),
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


def test_every_preset_has_a_source_and_tolerances_of_risks_that_there_are() -> None:
    assert all(len(source) > 40 for source in PRESETS.values())
    for risk in all_risks().values():
        assert set(risk.presets) <= set(PRESETS), risk.id
        for value in risk.presets.values():
            risk.check_tolerance(value)


def test_a_preset_overrides_what_a_risk_declares_and_the_policy_overrides_both() -> None:
    assert [Policy(preset=name).tolerance_for("classes.k") for name in PRESETS] == [5, 11, 11, 11, 3]
    assert Policy(preset="cms-11", tolerance={"classes.k": 2}).tolerance_for("classes.k") == 2
    off = Policy(preset="cms-11", tolerance={"classes.k": False})
    assert (off.tolerance_for("classes.k"), off.threshold("classes.k")) == (None, 11)
    assert Policy().threshold("classes.uniques") == 1  # no tolerance anywhere


def test_a_risk_that_follows_another_has_its_tolerance() -> None:
    assert Policy().tolerance_for("items.correlation") == 0.1
    policy = Policy(tolerance={"items.expected_cracks": 0.3})
    assert policy.tolerance_for("items.correlation") == policy.tolerance_for("items.never_together") == 0.3
    assert Policy(tolerance={"items.correlation": 0.2}).tolerance_for("items.expected_cracks") == 0.1


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
    assert data["linkage"].keys() <= known["linkage"].keys()


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
        ({"preset": []}, "preset must be one of"),
        ({"quasi": 3}, "list of names"),
        ({"settings": {"linkege": {}}}, "did you mean 'linkage'"),
        ({"settings": {"linkage": {"things_known": 3}}}, "unknown setting 'things_known' in \\[linkage\\]"),
        ({"quasi": [["a", "b"], ["b", "a"]]}, "named twice"),
    ],
)
def test_a_policy_made_in_python_is_checked_too(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        Policy(**given)


def test_what_a_policy_file_contains_was_refused_as_a_dictionary(tmp_path: Path) -> None:
    """The [columns] table of a file is understood wherever its contents come from."""
    text = 'seed = 3\n[columns]\nquasi = ["age", "sex"]\nsensitive = ["ill"]\n[tolerance]\nclasses.k = 11\n'
    (tmp_path / "unveil.toml").write_text(text)
    from_file = Policy.from_toml(tmp_path / "unveil.toml")
    assert Policy.from_dict(tomllib.loads(text)) == from_file
    assert (from_file.quasi, from_file.sensitive, from_file.seed) == ((("age", "sex"),), ("ill",), 3)
    for wrong, said in (
        ({"columns": 3}, "[columns] must be a table"),
        ({"columns": {"quasy": ["a"]}}, "unknown setting 'quasy' in [columns]; did you mean 'quasi'?"),
        ({"quasi": ["a"], "columns": {"quasi": ["b"]}}, "quasi is both at the top and under [columns]"),
    ):
        with pytest.raises(UnveilError, match=re.escape(f"policy: {said}")):
            Policy.from_dict(wrong)
