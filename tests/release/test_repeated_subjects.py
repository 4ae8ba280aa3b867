"""Tables in which several rows are one person, and the owner did not say so."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil import Policy, Table
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
    assert found(VISITS) == RepeatedSubjects("client", 6.0, ratings=("client", "place", "stars", "on"))
    bare = {name: VISITS[name] for name in ("client", "place")}
    assert found(bare) == RepeatedSubjects("client", 6.0, ratings=("client", "place"))


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
    assert made == RepeatedSubjects("client", 6.0)
    assert made.sentence.endswith("If rows with the same value belong to one person, say so with --subject client.")


def test_roles_that_were_given_stay() -> None:
    made = found(VISITS, Policy(identifier=("client",), quasi=(("place",),)))
    assert made == RepeatedSubjects("client", 6.0, is_declared=True)
    assert made.sentence.endswith("say so with --subject client as well.")
    some = [None if i == 7 else who for i, who in enumerate(VISITS["client"])]
    made = found({**VISITS, "client": some})
    assert made is not None and (made.rows_lacking, made.ratings) == (1, ())
    assert made.sentence.endswith("First remove 1 row without a value.")
    same = {**VISITS, "stars": [i // 6 for i in range(60)]}
    assert found(same) == RepeatedSubjects("client", 6.0, ratings=("client", "place", "on"))


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
    text = next(f["sentence"] for f in json.loads(unveil("assess", "t.csv", "--format", "json").stdout)["findings"][1:])
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
    assert made.sentence.endswith("say so in the policy, which unveil init writes.") and "\x1b" not in made.sentence


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
