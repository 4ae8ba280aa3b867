"""Guessed roles: a broad vocabulary in four languages, what values say, and too many quasi-identifiers."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from unveil.policy import Policy
from unveil.release.column_topics import TOPICS, find_topics
from unveil.release.roles import RoleGuess, likely_attackers, suggest_roles
from unveil.release.value_topics import MOST_VALUES_READ, recognise_topic, topics_in_texts


def guess_role(name: str, values: list[object]) -> RoleGuess:
    return suggest_roles(unveil.read(pa.table({name: values})), ("", "?"))[name]


@pytest.mark.parametrize(
    "name",
    [
        "stroke",
        "hypertension",
        "depression",
        "drug_use",
        "sexual_orientation",
        "prevalentStroke",
        "HIVStatus",
        "BPMeds",
        "diabetes2",
        "smoker",
        "Schlaganfall",
        "Hauptdiagnose",
        "Nettoeinkommen",
        "Konfession",
        "Raucherstatus",
        "Bluthochdruck",
        "maladie_chronique",
        "revenu_annuel",
        "dépression",
        "enfermedad",
        "diagnóstico",
        "ingresos",
        "hipertensión",
        "religión",
    ],
)
def test_an_outcome_is_sensitive_and_not_a_quasi_identifier(name: str) -> None:
    assert guess_role(name, ["yes", "no"] * 20).role == "sensitive"


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "MaritalStatus",
        "zip",
        "Geschlecht",
        "Familienstand",
        "Staatsangehörigkeit",
        "staatsangehoerigkeit",
        "Körpergröße",
        "Wohnort",
        "Krankenhaus",
        "sexe",
        "âge",
        "code_postal",
        "état_civil",
        "edad",
        "provincia",
        "fecha_nacimiento",
        "ocupación",
    ],
)
def test_what_others_know_is_a_quasi_identifier_in_four_languages(name: str) -> None:
    assert guess_role(name, ["a", "b", "c", "d"] * 10).role == "quasi"


@pytest.mark.parametrize(
    "name",
    [
        "Vorname",
        "Straße",
        "Telefonnummer",
        "prénom",
        "courriel",
        "numéro_sécurité_sociale",
        "apellidos",
        "teléfono",
        "dni",
    ],
)
def test_names_and_numbers_of_people_are_identifiers_in_four_languages(name: str) -> None:
    assert guess_role(name, ["a", "b", "c", "d"] * 10).role == "identifier"


@pytest.mark.parametrize(
    "name", ["report", "transport", "support", "importance", "Cabin", "cluster", "angel", "Auswahl"]
)
def test_a_word_inside_another_word_says_nothing(name: str) -> None:
    assert find_topics(name) == {}


def test_no_word_of_the_vocabulary_belongs_to_two_topics() -> None:
    words = [word for topic in TOPICS.values() for word in topic.words]
    assert len(words) == len(set(words))


def test_an_amount_is_sensitive_only_as_a_number() -> None:
    assert guess_role("capital", [float(i) for i in range(40)]).role == "sensitive"
    assert guess_role("capital", ["Paris", "Rome", "Bern"] * 10).role == "quasi"


def test_a_date_of_a_diagnosis_is_a_quasi_identifier() -> None:
    assert guess_role("date_of_diagnosis", [f"2020-01-{d:02}" for d in range(1, 29)]).role == "quasi"


@pytest.mark.parametrize(
    ("values", "role", "why"),
    [
        (["a@x.org", "b.c@y.co.uk", "d@z.de"], "identifier", "email addresses"),
        (["10.0.0.1", "192.168.1.77", "8.8.8.8"], "identifier", "IP addresses"),
        (["https://a.org/x", "www.b.de", "http://c.fr"], "identifier", "web addresses"),
        (["(555) 123-4567", "555-987-6543", "+49 30 1234567"], "identifier", "phone numbers"),
        (["123-45-6789", "987-65-4321", "111-22-3333"], "identifier", "social security numbers"),
        (["E11.9", "I10", "C50.911", "J45"], "sensitive", "codes of diagnoses"),
        ([f"{c}1{i}" for i, c in enumerate("ABCDEFGHIJKL")], "sensitive", "codes of diagnoses"),
        (["positive", "negative"], "sensitive", "results of a test"),
    ],
)
def test_values_say_what_a_column_is_about(values: list[object], role: str, why: str) -> None:
    guess = guess_role("x7", values * 10)
    assert (guess.role, guess.why) == (role, f"its values look like {why}")
    assert guess.is_evident


@pytest.mark.parametrize(
    "values", [["B12", "C85", "E46"], ["M14", "B33", "N16"], ["1.2", "3.4"], ["12-34", "2020-01-01"], ["a@b", "c@d"]]
)
def test_rooms_postcodes_numbers_and_handles_are_not_taken_for_codes_or_addresses(values: list[str]) -> None:
    assert recognise_topic(pa.array(values)) is None


def test_yes_or_no_is_sensitive_only_in_a_table_about_health() -> None:
    flags = ["yes", "no"] * 10
    health = pa.table({"stroke": flags, "diabetes": flags, "asthma": flags, "x7": flags})
    assert suggest_roles(unveil.read(health), ())["x7"].role == "sensitive"
    assert suggest_roles(unveil.read(health.drop_columns("asthma")), ())["x7"].role == "quasi"


def test_a_sampling_weight_or_a_household_number_is_not_taken_for_what_others_know() -> None:
    assert "--weight" in guess_role("sampling_weight", [1.5, 2.0, 3.5] * 10).why
    assert "--household" in guess_role("household_id", [1, 2, 3, 4] * 10).why
    assert guess_role("weight", [70, 80, 90] * 10).role == "quasi"


@pytest.mark.parametrize(
    "name",
    ["Drogenkonsum", "consumo_drogas", "union_member", "gambling", "MI", "CKD", "t2dm", "has_hep_c"],
)
def test_names_of_what_nobody_should_learn_were_taken_for_something_else(name: str) -> None:
    assert guess_role(name, ["0", "1", "2"] * 20).role == "sensitive"


def test_a_middle_initial_is_no_heart_attack() -> None:
    assert guess_role("MI", list("ABCDEFGHIJ") * 10).role == "quasi"
    assert guess_role("MI", ["yes", "no"] * 10).role == "sensitive"


def test_incomes_under_a_neutral_name_were_taken_for_measurements() -> None:
    rng = random.Random(3)
    incomes = [round(rng.lognormvariate(10.4, 0.6), -2) for _ in range(200)]
    for values in (incomes, [str(int(x)) for x in incomes]):
        guess = guess_role("c", list(values))
        assert (guess.role, guess.is_evident, guess.why) == ("sensitive", True, "its values look like amounts of money")
    others = {
        "codes": [rng.randrange(1_000, 99_000) for _ in range(200)],
        "years": [rng.randrange(1_900, 2_020, 10) for _ in range(200)],
        "steps": list(range(100, 40_000, 200)),
        "height": [rng.gauss(170, 10) for _ in range(200)],
    }
    assert all("money" not in guess_role("x", list(values)).why for values in others.values())


def test_text_inside_values_is_found_up_to_a_stated_number_of_values() -> None:
    assert topics_in_texts(pa.array(["call 555-123-4567 or write to a@b.org", "nothing"])) == ["email", "phone"]
    many = pa.array([f"{i:07}" for i in range(MOST_VALUES_READ + 5)])
    assert topics_in_texts(many) == []


def wide_table(columns: int) -> pa.Table:
    rng = random.Random(7)
    named = ["age", "sex", "zip", "occupation", "visit_month", "hair"]
    names = named + [f"q{i}" for i in range(columns - len(named))]
    return pa.table({name: [str(rng.randint(0, 5)) for _ in range(60)] for name in names})


def test_65_guessed_quasi_identifiers_are_called_too_many_and_likely_attackers_are_proposed() -> None:
    doubts = unveil.assess(unveil.read(wide_table(65)), only="release").verdict.reasons
    said = next(d for d in doubts if "were guessed" in d)
    assert said.startswith("65 quasi-identifiers were guessed, more than anyone is likely to know at once")
    for text in ("age, sex and zip (a neighbour)", "age, sex and occupation (a colleague)", "visit_month", "hair"):
        assert text in said
    assert not any(
        "were guessed" in d for d in unveil.assess(unveil.read(wide_table(12)), only="release").verdict.reasons
    )


def test_options_to_type_were_broken_inside_words(tmp_path: Path) -> None:
    """Sets of columns stood as options in a sentence, which wraps. 65 guesses are better settled in a file."""
    csv.write_csv(wide_table(65), tmp_path / "wide.csv")
    found = unveil.assess(unveil.read(tmp_path / "wide.csv"), only="classes.k")
    text = found.to_text()
    (command,) = [line.strip() for line in text.splitlines() if line.strip().startswith("unveil ")]
    names = ",".join(c.name for c in found.columns if c.role == "quasi")
    assert command.startswith(f"unveil protect wide.csv --quasi {names} ") and names.count(",") == 64
    assert sum("--quasi" in line for line in text.splitlines()) == 1


def test_given_quasi_identifiers_are_never_called_too_many() -> None:
    table = wide_table(20)
    reasons = unveil.assess(unveil.read(table), Policy(quasi=(tuple(table.column_names),))).verdict.reasons
    assert not any("were guessed" in reason for reason in reasons)


def test_no_attackers_are_proposed_for_columns_whose_names_say_nothing() -> None:
    assert likely_attackers(["q1", "q2"]) == {}
    assert likely_attackers(["age", "sex"]) == {"a neighbour": ("age", "sex")}
