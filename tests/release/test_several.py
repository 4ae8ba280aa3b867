"""Tables in which several rows are one person, and the owner did not say so."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil import Policy, Table
from unveil.release.roles import complete
from unveil.release.several import Several, several

Unveil = Callable[..., subprocess.CompletedProcess[str]]

VISITS = {
    "client": [f"c{i // 6}" for i in range(60)],
    "place": [f"p{i % 6 + 2 * (i // 30)}" for i in range(60)],
    "stars": [i * 7 % 5 for i in range(60)],
    "on": [f"2024-05-{i % 28 + 1:02}" for i in range(60)],
}


def found(columns: dict[str, list[object]], policy: Policy | None = None) -> Several | None:
    table = unveil.read(pa.table(columns))
    assert isinstance(table, Table)
    return several(table, complete(policy or Policy(), table)[0])


def test_a_person_in_several_rows_is_noticed() -> None:
    assert found(VISITS) == Several("client", 6.0, ("client", "place", "stars", "on"))
    bare = {name: VISITS[name] for name in ("client", "place")}
    assert found(bare) == Several("client", 6.0, ("client", "place"))


def test_where_an_item_comes_again_there_are_no_ratings() -> None:
    again = {**VISITS, "place": ["p0", "p0", *VISITS["place"][2:]]}
    made = found(again)
    assert made == Several("client", 6.0, ())
    assert made.sentence.endswith("if these rows are one person's, say so with --subject client.")


@pytest.mark.parametrize(
    ("columns", "policy"),
    [
        (VISITS, Policy(subject="client")),
        (VISITS, Policy(ratings=("client", "place", "stars", "on"))),
        ({**VISITS, "client": [f"c{i}" for i in range(60)]}, None),
        ({"surname": [f"s{i // 6}" for i in range(60)], "age": list(range(60))}, None),
        ({**VISITS, "client": ["c"] * 60}, None),
    ],
    ids=["subject", "ratings", "once each", "a name is no person", "one value"],
)
def test_where_nothing_is_to_be_said(columns: dict[str, list[object]], policy: Policy | None) -> None:
    assert found(columns, policy) is None


@pytest.mark.parametrize("given", [(), ("--identifier", "client id")])
def test_what_is_said_can_be_typed(given: tuple[str, ...], unveil: Unveil, tmp_path: Path) -> None:
    names = ["client id", *list(VISITS)[1:]]
    rows = zip(*VISITS.values(), strict=True)
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    text = " ".join(unveil("assess", "t.csv", *given).stdout.split())
    said = text[text.index("--subject") : text.index(" if each says")]
    subject, ratings = said.split(", or with ")
    for option, word in ((subject, "10 people"), (ratings, "random ratings")):
        done = unveil("assess", "t.csv", *shlex.split(option))
        assert done.returncode in (0, 1, 3), done.stderr
        assert word in " ".join(done.stdout.split())
        assert "taken for a person" not in done.stdout


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
