"""Tables in which several rows are one person, and the owner did not say so."""

from __future__ import annotations

import csv
import dataclasses
import json
import random
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil import Policy, Table, UnveilError
from unveil.release.repeated_subjects import RepeatedSubjects, find_repeated_subjects
from unveil.release.roles import complete_roles

Unveil = Callable[..., subprocess.CompletedProcess[str]]

VISITS = {
    "client": [f"c{i // 6}" for i in range(60)],
    "place": [f"p{i % 6 + 6 * (i // 30)}" for i in range(60)],
    "stars": [i * 7 % 5 for i in range(60)],
    "on": [f"2024-05-{i % 28 + 1:02}" for i in range(60)],
}


def found(columns: dict[str, list[object]], policy: Policy | None = None) -> RepeatedSubjects | None:
    table = unveil.read(pa.table(columns))
    assert isinstance(table, Table)
    return find_repeated_subjects(table, complete_roles(policy or Policy(), table)[0])


def test_a_person_in_several_rows_is_noticed() -> None:
    assert found(VISITS) == RepeatedSubjects(
        "client", 6.0, "name", smallest_class=1, ratings=("client", "place", "stars", "on")
    )
    bare = {name: VISITS[name] for name in ("client", "place")}
    assert found(bare) == RepeatedSubjects("client", 6.0, "name", smallest_class=5, ratings=("client", "place"))


@pytest.mark.parametrize("users", [20, 60])
def test_people_are_no_films_and_no_orders(users: int) -> None:
    """Whichever there are more of, and though all of them are ids."""
    rated = [(u, f) for u in range(users) for f in range(40) if (u * f) % 3 == 0]
    user, film = ([pair[k] for pair in rated] for k in (0, 1))
    more = {"rating": [(u + f) % 5 for u, f in rated], "timestamp": [1_000 + k for k in range(len(rated))]}
    made = found({"userId": user, "movieId": film, **more})
    assert made is not None and made.ratings == ("userId", "movieId", "rating")
    orders = {"order_id": list(range(len(rated))), "customer_id": user, "product_id": film}
    made = found(orders)
    assert made is not None and (made.person, made.ratings) == ("customer_id", ("customer_id", "product_id"))


def test_where_an_item_comes_again_there_are_no_ratings() -> None:
    again = {**VISITS, "place": ["p0", "p0", *VISITS["place"][2:]]}
    made = found(again)
    assert made == RepeatedSubjects("client", 6.0, "name", smallest_class=1)
    assert "If rows with the same value belong to one person, say so with --subject client; or" in made.sentence


def test_roles_that_were_given_stay() -> None:
    made = found(VISITS, Policy(identifier=("client",), quasi=(("place",),)))
    assert made == RepeatedSubjects("client", 6.0, "identifier", smallest_class=5)
    assert "say so with --subject client as well; or" in made.sentence
    some = [None if i == 7 else who for i, who in enumerate(VISITS["client"])]
    made = found({**VISITS, "client": some})
    assert made is not None and (made.rows_lacking, made.ratings) == (1, ())
    assert made.sentence.endswith("First remove 1 row without a value.")
    same = {**VISITS, "stars": [i // 6 for i in range(60)]}
    assert found(same) == RepeatedSubjects("client", 6.0, "name", smallest_class=1, ratings=("client", "place", "on"))


@pytest.mark.parametrize(
    ("columns", "policy"),
    [
        (VISITS, Policy(subject="client")),
        (VISITS, Policy(ratings=("client", "place", "stars", "on"))),
        ({**VISITS, "client": [f"c{i}" for i in range(60)]}, None),
        ({"surname": [f"s{i // 6}" for i in range(60)], "age": list(range(60))}, None),
        ({**VISITS, "client": ["a", "b", "c"] * 20}, None),
        ({"account_type": ["a", "b"] * 30, "subject": list("mathsart" * 8)[:60], "age": list(range(60))}, None),
    ],
    ids=["subject", "ratings", "once each", "a name is no person", "three values", "kinds"],
)
def test_where_nothing_is_to_be_said(columns: dict[str, list[object]], policy: Policy | None) -> None:
    assert found(columns, policy) is None


@pytest.mark.parametrize("name", ["client id", "client, id", 'the "client"'])
def test_what_is_said_can_be_typed(name: str, unveil: Unveil, tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[name, *list(VISITS)[1:]], *zip(*VISITS.values(), strict=True)])
    found = json.loads(unveil("assess", "t.csv", "--format", "json").stdout)["findings"]
    text = next(f["sentence"] for f in found if f["id"] == "release.repeated_people")
    said = text[text.index("--subject") : text.index(" if each says")]
    subject, ratings = said.split(", or with ")
    for option, word in ((subject, "10 people"), (ratings, "random ratings")):
        done = unveil("assess", "t.csv", *shlex.split(option))
        assert done.returncode in (0, 1, 3), done.stderr
        assert word in " ".join(done.stdout.split())
        assert "counted as a person" not in done.stdout


def test_names_that_cannot_be_typed_are_not_proposed() -> None:
    made = found({"client\x1b[31m": VISITS["client"], "place": VISITS["place"]})
    assert made is not None
    assert "say so in the policy, which unveil init writes; or" in made.sentence and "\x1b" not in made.sentence


def test_a_declared_identifier_stays_one(unveil: Unveil, tmp_path: Path) -> None:
    """Following the advice makes no release of a file that names people."""
    rows = zip(*VISITS.values(), strict=True)
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in [VISITS, *rows]) + "\n")
    asked = ("assess", "t.csv", "--quasi", "stars", "--identifier", "client", "--insensitive", "place,on")
    assert "--subject client as well" in " ".join(unveil(*asked).stdout.split())
    done = unveil(*asked, "--subject", "client", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"][0]["status"] == "over"


def test_init_proposes_it(unveil: Unveil, tmp_path: Path) -> None:
    rows = zip(*VISITS.values(), strict=True)
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in [VISITS, *rows]) + "\n")
    assert unveil("init", "t.csv").returncode == 0
    text = (tmp_path / "unveil.toml").read_text()
    assert '# subject = "client"' in text and "client is in 6.0 rows on average" in text
    proposed = '# ratings = ["client", "place", "stars", "on"]'
    assert proposed in text
    kept = [line for line in text.splitlines() if not line.startswith(("    ", "]", "guessed", "quasi", "identifier"))]
    (tmp_path / "unveil.toml").write_text("\n".join(kept).replace(proposed, proposed[2:]))
    done = unveil("assess", "t.csv")
    assert done.returncode == 3 and "ratings" in done.stdout, done.stderr


def visits(seed: int, **changed: Callable[[int, int], object]) -> dict[str, list[object]]:
    """400 people with 5 visits each, in random order; ``changed`` makes values from the person and the visit."""
    rng = random.Random(seed)
    people = [(rng.randrange(18, 90), rng.randrange(100), rng.choice("fm")) for _ in range(400)]
    rows = [(who, visit) for who in range(400) for visit in range(5)]
    rng.shuffle(rows)
    columns: dict[str, list[object]] = {
        name: [people[who][k] for who, _ in rows] for k, name in enumerate(("age", "zip", "sex"))
    }
    columns["diag"] = [f"d{rng.randrange(40)}" for _ in rows]
    return columns | {name: [make(*row) for row in rows] for name, make in changed.items()}


GIVEN = Policy(quasi=("age", "zip", "sex"), insensitive=("diag",))


@pytest.mark.parametrize("name", ["pid", "x17", "Fallnummer"])
def test_repeated_people_were_released_as_five_anonymous_ones(name: str) -> None:
    """k = 5 by rows, though everybody is unique: whatever the column of people is called."""
    data = pa.table(visits(1, **{name: lambda who, visit: f"v{who}"}))
    policy = dataclasses.replace(GIVEN, insensitive=("diag", name))
    found = unveil.assess(unveil.read(data), policy)
    assert found["classes.k"].value == 5
    assert found.verdict.decision == "your call"
    sentence = found["release.repeated_people"].sentence
    assert found.verdict.reasons == (sentence,)
    assert f"Each value of {name} occurs in 5 rows on average" in sentence
    assert f"Rows with the same {name} nearly always agree in age, zip and sex." in sentence
    assert f"Counted by {name}, the smallest class has 1 person." in sentence
    assert f"say so with --subject {name}; or say --rows-are-people" in sentence
    assert found["release.repeated_people"].value == pytest.approx(0.8)
    told = unveil.assess(unveil.read(data), dataclasses.replace(policy, subject=name, insensitive=("diag",)))
    assert (told["classes.k"].value, told.verdict.decision) == (1, "protect first")
    assert not [f for f in told.findings if f.id == "release.repeated_people"]
    sure = unveil.assess(unveil.read(data), dataclasses.replace(policy, rows_are_people=True))
    assert sure.verdict.decision == "release"
    assert "The policy says that every row is a different person." in sure["release.repeated_people"].sentence


def test_a_few_changed_values_hide_nobody() -> None:
    """Most of the quasi-identifiers are fixed, and one in a hundred values was changed."""
    data = visits(2, code=lambda who, visit: who * 7)
    rng = random.Random(3)
    data["age"] = [rng.randrange(99) if rng.random() < 0.01 else age for age in data["age"]]
    data["zip"] = [rng.randrange(100) for _ in data["zip"]]
    data["town"] = [rng.randrange(100) if rng.random() < 0.01 else 0 for _ in data["zip"]]
    made = found(data, Policy(quasi=("age", "sex", "zip"), insensitive=("code", "diag", "town")))
    assert made is not None
    assert (made.person, made.fixed, made.evidence) == ("code", ("age", "sex"), "fixed columns")


def test_copies_of_rows_are_reported() -> None:
    """Everybody is in the file five times."""
    rng = random.Random(5)
    rows = [(rng.randrange(18, 90), rng.randrange(100), f"d{rng.randrange(40)}") for _ in range(400)] * 5
    data = {name: [row[k] for row in rows] for k, name in enumerate(("age", "zip", "diag"))}
    policy = Policy(quasi=("age", "zip"), insensitive=("diag",))
    made = unveil.assess(unveil.read(pa.table(data)), policy)
    copies = 2000 - len(set(rows))
    assert made["release.repeated_people"].value == pytest.approx(copies / 2000)
    assert made.verdict.decision == "your call"
    assert made.verdict.reasons[0].startswith("80")
    assert "of the rows are exact copies of others, more than chance explains" in made.verdict.reasons[0]


def test_people_who_are_different_are_no_copies() -> None:
    """Rows that agree by chance are counted, and nothing is suspected: not even where codes have labels."""
    rng = random.Random(6)
    rows = [(age := rng.randrange(20, 24), "fm"[rng.randrange(2)], rng.randrange(3), f"a{age}") for _ in range(500)]
    data = {name: [row[k] for row in rows] for k, name in enumerate(("age", "sex", "diag", "label"))}
    policy = Policy(quasi=("age", "sex"), sensitive=("diag",), insensitive=("label",))
    made = unveil.assess(unveil.read(pa.table(data)), policy)
    assert made.verdict.decision == "release"
    finding = made["release.repeated_people"]
    copies = 500 - len(set(rows))
    assert (finding.value, finding.method) == (0, "estimate")
    said = f"No column suggests that several rows belong to one person. {copies} rows are exact copies of others."
    assert finding.sentence == said


def test_identifiers_are_counted_in_every_class() -> None:
    data = visits(7, number=lambda who, visit: who)
    made = found(data, Policy(identifier=("number",), quasi=("sex",), insensitive=("age", "zip", "diag")))
    by_sex = {sex: {n for n, s in zip(data["number"], data["sex"], strict=True) if s == sex} for sex in "fm"}
    assert made is not None and made.is_declared
    assert made.smallest_class == min(map(len, by_sex.values()))
    twice = {"number": [1, *range(1, 60)], "sex": ["f"] * 60}
    made = found(twice, Policy(identifier=("number",), quasi=("sex",)))
    assert made is not None and (made.person, made.smallest_class) == ("number", 59)


def test_rows_are_people_or_subjects_but_not_both() -> None:
    with pytest.raises(UnveilError, match="rows_are_people contradicts subject"):
        Policy(subject="a", rows_are_people=True)


def test_a_weight_that_depends_on_sex_and_race_is_no_person() -> None:
    """Weights of a survey recur within strata: they fix what is coarse, and say nothing about age."""
    rng = random.Random(9)
    rows = [(rng.randrange(17, 90), "fm"[rng.randrange(2)], "abc"[rng.randrange(3)]) for _ in range(3000)]
    data: dict[str, list[object]] = {name: [r[k] for r in rows] for k, name in enumerate(("age", "sex", "race"))}
    data["weight"] = [f"{sex}{race}{rng.randrange(150)}" for _, sex, race in rows]
    policy = Policy(quasi=("age", "sex", "race"), insensitive=("weight",))
    assert found(data, policy) is None
    made = found(data, dataclasses.replace(policy, quasi=(("sex", "race"),)))
    assert made is not None and made.fixed == ("sex", "race")


def test_a_person_was_not_noticed_behind_a_single_quasi_identifier() -> None:
    """Sixty people with eight rows each, whose number fixes age, sex and zip; only the age is a quasi-identifier."""
    rng = random.Random(4)
    people = [(20 + i, rng.choice("fm"), str(1000 + rng.randrange(30))) for i in range(60)]
    rows = [(k, *person, rng.choice("abc")) for k, person in enumerate(people) for _ in range(8)]
    k, age, sex, code, ill = zip(*rows, strict=True)
    table = unveil.read(pa.table({"k": k, "age": age, "sex": sex, "zip": code, "ill": ill}))
    policy = Policy(quasi=("age",), sensitive=("ill",), insensitive=("k", "sex", "zip"))
    assert unveil.assess(table, policy).verdict.decision == "your call"
    one = find_repeated_subjects(table, policy)
    assert one is not None and one.person == "k" and set(one.fixed) == {"age", "sex", "zip"}
    alone = Policy(quasi=("ill",), insensitive=("k", "sex", "zip", "age"))
    assert find_repeated_subjects(table, alone) is None, "what is fixed are no quasi-identifiers"


def test_people_who_grow_older_were_not_noticed() -> None:
    """Ten visits each, in two years: the column of people fixes the zip code, and the age changes once."""
    people = [(20 + i % 40, 1000 + i) for i in range(400)]
    rows = [(who, age + visit // 5, code) for who, (age, code) in enumerate(people) for visit in range(10)]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("pid", "age", "zip"))}
    made = found(columns, Policy(quasi=(("age", "zip"),), insensitive=("pid",)))
    assert made is not None and (made.person, made.fixed, made.smallest_class) == ("pid", ("zip",), 1)
    assert found({**columns, "pid": [row % 400 for row in range(4000)]}, Policy(quasi=(("age", "zip"),))) is None


def test_a_column_named_after_patients_was_not_noticed_behind_one_quasi_identifier() -> None:
    who = [i // 5 for i in range(500)]
    columns: dict[str, list[object]] = {
        "dob": [f"19{i % 90 + 10}" for i in who],
        "ill": [f"d{i % 7}" for i in range(500)],
    }
    made = found({"patient_id": who, **columns}, Policy(quasi=(("dob",),), insensitive=("patient_id", "ill")))
    assert made is not None and (made.person, made.evidence) == ("patient_id", "name")
    table = unveil.read(pa.table({"ref": who, **columns}))
    found_people = unveil.assess(table, Policy(quasi=(("dob",),), insensitive=("ref", "ill")))
    sentence = found_people["release.repeated_people"].sentence
    assert "Without two quasi-identifiers that vary, only names of columns could." in sentence


def test_a_quasi_identifier_that_is_the_person_was_not_noticed() -> None:
    rng = random.Random(3)
    people = [(f"{1900 + i // 4}-{i % 4}", rng.randrange(50), rng.choice("fm")) for i in range(400)]
    rows = [person for person in people for _ in range(5)]
    columns: dict[str, list[object]] = {name: [row[k] for row in rows] for k, name in enumerate(("dob", "zip", "sex"))}
    made = found(columns, Policy(quasi=(("dob", "zip", "sex"),)))
    assert made is not None and (made.person, made.fixed) == ("dob", ("zip", "sex"))


@pytest.mark.parametrize("names", [("zip", "city", "county"), ("occ4", "occ2", "occ1")])
def test_parts_of_a_hierarchy_are_no_people(names: tuple[str, str, str]) -> None:
    rng = random.Random(8)
    codes = [rng.randrange(1000) for _ in range(3000)]
    columns: dict[str, list[object]] = {names[0]: codes, names[1]: [c // 10 for c in codes]}
    columns[names[2]] = [c % 7 for c in codes] if names[0] == "zip" else [c // 100 for c in codes]
    assert found(columns, Policy(quasi=(names,))) is None


def test_few_people_with_several_rows_were_not_noticed() -> None:
    rows = [(f"h{i}", 20 + i % 30, i % 2) for i in range(600)] + [(f"x{i}", 90 + i, i % 2) for i in range(6)] * 5
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("ref", "age", "sex"))}
    made = found(columns, Policy(quasi=(("age", "sex"),), insensitive=("ref",)))
    assert made is not None and (made.person, made.smallest_class) == ("ref", 1)


def visits_by_halves(first: str, second: str, seed: int = 1) -> dict[str, list[object]]:
    """Visits of people who are told apart by two columns: neither tells them apart alone."""
    rng, rows = random.Random(seed), list[tuple[object, ...]]()
    for one in range(60):
        zipcode = rng.randrange(100, 140)
        for other in range(1, rng.randint(2, 5)):
            known = (one, other, zipcode, rng.randint(1, 90), rng.choice("fm"))
            rows += [(*known, rng.choice(["flu", "gout", "cold"])) for _ in range(rng.randint(1, 5))]
    rng.shuffle(rows)
    names = (first, second, "zip", "age", "sex", "ill")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


@pytest.mark.parametrize(
    ("first", "second", "policy"),
    [
        ("family_no", "member_no", Policy()),
        ("family_no", "member_no", Policy(quasi=(("zip", "age", "sex"),), identifier=("family_no",))),
        ("site", "number", Policy(quasi=(("zip", "age", "sex"),), sensitive=("ill",))),
        ("a", "b", Policy(quasi=(("zip", "age", "sex"),), insensitive=("a", "b"))),
    ],
)
def test_an_id_in_two_columns_was_not_noticed(first: str, second: str, policy: Policy) -> None:
    columns = visits_by_halves(first, second)
    made = found(columns, policy)
    assert made is not None and (made.person, made.second, made.ratings) == (first, second, ())
    people = dict.fromkeys(zip(columns[first], columns[second], strict=True))
    assert made.rows == len(columns["age"]) / len(people)
    assert {"age", "sex"} <= set(made.fixed)
    assert f"Each pair of values of {first} and {second} occurs in" in made.sentence
    assert "make one column of the two and name it with --subject COLUMN; or say --rows-are-people if" in made.sentence
    joined = {"who": [f"{a}-{b}" for a, b in zip(columns[first], columns[second], strict=True)], **columns}
    assert found(joined, dataclasses.replace(policy, subject="who")) is None
    last = {pair: k for k, pair in enumerate(zip(columns[first], columns[second], strict=True))}.values()
    once = {name: [values[k] for k in last] for name, values in columns.items()}
    assert (again := found(once, policy)) is None or not again.second


def test_columns_of_a_survey_are_no_halves_of_an_id() -> None:
    """Codes beside their labels, answers that go with age or place, and numbers of interviewers and days."""
    for seed in range(6):
        rng = random.Random(seed)
        rows = [(rng.randint(18, 90), rng.randrange(40), rng.choice("fm"), rng.randrange(12)) for _ in range(1500)]
        columns: dict[str, list[object]] = {
            "age": [age for age, *_ in rows],
            "place": [f"p{place}" for _, place, *_ in rows],
            "sex": [sex for _, _, sex, _ in rows],
            "job": [f"j{job}" for *_, job in rows],
            "place_no": [place for _, place, *_ in rows],
            "job_no": [job for *_, job in rows],
            "age_group_no": [age // 5 for age, *_ in rows],
            "interviewer_no": [place * 3 + rng.randrange(3) for _, place, *_ in rows],
            "day": [rng.randrange(60) for _ in rows],
            "q1": [min(5, 1 + age // 20 + rng.randrange(2)) for age, *_ in rows],
            "q2": [rng.randint(1, 5) for _ in rows],
            "children": [rng.randrange(4) for _ in rows],
        }
        for quasi in (("age", "place", "sex"), ("age", "place", "sex", "job"), ("place", "job")):
            made = found(columns, Policy(quasi=(quasi,), insensitive=tuple(c for c in columns if c not in quasi)))
            assert made is None or not made.second, (seed, quasi, made)


def test_ranges_of_numbers_were_taken_for_people() -> None:
    """Each class of a protected table may have a range of its own, which fixes what else is known about it."""
    ages = ["20–24", "21–30", "25", "31–39", "40–44", "[45, 49.5]", "50–80", "*"]
    columns = {
        "age": [age for age in ages for _ in range(10)],
        "zip": [f"0{81 + k // 10 % 4}**" for k in range(80)],
        "sex": ["fm"[k // 10 % 2] for k in range(80)],
        "job": ["abc"[k // 10 % 3] for k in range(80)],
    }
    asked = Policy(quasi=(("age", "zip", "sex", "job"),))
    assert found(columns, asked) is None
    assert found({**columns, "age": [f"person {age}" for age in columns["age"]]}, asked) is not None
