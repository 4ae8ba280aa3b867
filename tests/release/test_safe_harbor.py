"""Columns of the kinds that HIPAA's Safe Harbor names: what is found, what is not, and how it is said."""

from __future__ import annotations

import pyarrow as pa
import pytest

import unveil
from unveil.finding import Finding
from unveil.policy import Policy
from unveil.release.safe_harbor import check_safe_harbor


def kinds(name: str, values: list[object]) -> tuple[str, ...]:
    table = unveil.read(pa.table({name: values, "other": ["a"] * len(values)}))
    return check_safe_harbor(table, ("", "*")).kinds.get(name, ())


def finding(columns: dict[str, list[object]], policy: Policy | None = None) -> Finding:
    assessed = unveil.assess(unveil.read(pa.table(columns)), policy, only="release.safe_harbor")
    return next(f for f in assessed.findings if f.id == "release.safe_harbor")


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("surname", ["Li", "Ek", "Wu"], "names"),
        ("county", ["Kent", "Essex", "Devon"], "places smaller than a state"),
        ("zip", ["47677", "47602", "47678"], "places smaller than a state"),
        ("zip", [47677, 2139, 47678], "places smaller than a state"),
        ("zip", ["4767*", "4760*", "*"], "places smaller than a state"),
        ("zip", ["[47677, 47699]", "476", "477"], "places smaller than a state"),
        ("zip", ["036", "476", "477"], "ZIP codes of few people"),
        ("zip", [36, 476, 477], "ZIP codes of few people"),
        ("zip3", ["893**", "476**", "477**"], "ZIP codes of few people"),
        ("x", ["2020-01-05", "2020-02-07", "2020-02-08"], "dates more precise than a year"),
        ("x", ["2020-01", "2020-02", "2020-03"], "dates more precise than a year"),
        ("x", ["2020 Q1", "2020 Q2", "2020 Q3"], "dates more precise than a year"),
        ("dob", ["12 Mar 1980", "1 May 1981", "3 May 1990"], "dates more precise than a year"),
        ("birth_month", [1, 2, 12], "dates more precise than a year"),
        ("age", [89, 90, 30], "ages over 89"),
        ("age", ["30.5", "101", "12"], "ages over 89"),
        ("contact", ["call 555-123-4567", "none", "x"], "phone numbers"),
        ("contact", ["Fax: see a@b.org", "none", "x"], "email addresses"),
        ("fax", ["1", "2", "3"], "fax numbers"),
        ("note", ["his number is 123-45-6789", "none", "x"], "social security numbers"),
        ("mrn", ["1", "2", "3"], "medical record numbers"),
        ("beneficiary", ["1", "2", "3"], "health plan numbers"),
        ("account", ["1", "2", "3"], "account numbers"),
        ("licence", ["1", "2", "3"], "certificate or licence numbers"),
        ("plate", ["1", "2", "3"], "vehicle identifiers"),
        ("imei", ["1", "2", "3"], "device identifiers"),
        ("x", ["see www.a.org/b", "y", "z"], "web addresses"),
        ("x", ["10.0.0.1", "y", "z"], "IP addresses"),
        ("fingerprint_hash", ["1", "2", "3"], "biometric identifiers"),
        ("photo_file", ["1", "2", "3"], "photographs"),
        ("patient_id", ["1", "2", "3"], "other identifying numbers"),
    ],
)
def test_each_kind_is_found_by_name_or_by_values(name: str, values: list[object], kind: str) -> None:
    assert kind in kinds(name, values)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", ["476", "477", "478"]),
        ("zip", ["476**", "*", "478**"]),
        ("zip", ["000", "477", "478"]),
        ("year_of_birth", [1980, 1981, 1990]),
        ("date", ["1980", "1981", "1990"]),
        ("date", ["1980s", "1990s", "2000s"]),
        ("age", [1, 50, 89]),
        ("age", ["30-39", "40-49", "90+"]),
        ("patient_age", [1, 50, 89]),
        ("state", ["Ohio", "Iowa", "Utah"]),
        ("own_telephone", ["yes", "no", "yes"]),
        ("rent_per_month", [100, 200, 300]),
        ("diagnosis", ["E11.9", "I10", "C50.911"]),
        ("x", [None, None, None]),
    ],
)
def test_what_the_rule_lets_stay_is_not_found(name: str, values: list[object]) -> None:
    assert kinds(name, values) == ()


def test_the_sentence_names_columns_and_kinds_but_never_values() -> None:
    said = finding({"contact": ["a@b.org", "c@d.org"], "dob": ["1980-03-12", "1981-05-01"], "sex": ["f", "m"]}).sentence
    assert said.startswith("By name or values, 2 columns look like one of the 18 kinds of identifiers")
    assert "email addresses (contact); dates more precise than a year (dob)" in said
    assert "Not checked: names in free text" in said
    assert "a@b.org" not in said and "1980" not in said


def test_a_release_without_such_columns_is_never_called_compliant() -> None:
    found = finding({"sex": ["f", "m"], "band": ["x", "y"]})
    assert found.value == 0 and found.sentence.startswith("No column looks like one of the 18 kinds")
    assert not any(word in found.sentence.lower() for word in ("complian", "safe to", "meets"))


def test_the_check_informs_and_never_decides_even_with_a_tolerance() -> None:
    policy = Policy(quasi=(("sex",),), insensitive=("contact",), tolerance={"release.safe_harbor": 0})
    columns: dict[str, list[object]] = {"contact": ["a@b.org", "c@d.org"], "sex": ["f", "f"]}
    assessed = unveil.assess(unveil.read(pa.table(columns)), policy, only="release.safe_harbor")
    assert not assessed.findings[0].decides and assessed.findings[0].status == "open"
    assert any("an estimate, so it cannot decide" in reason for reason in assessed.verdict.reasons)
