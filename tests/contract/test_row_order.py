"""The order in which rows, baskets, items or edges are written changes no number and no sentence.

Only ``release.order`` speaks about the order itself, and the most exposed subjects are named by their row numbers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import unveil

AWKWARD_LABELS = ["10", "9", "009", "01", "1", "x", "X", "8.0", "ä", "100"]
Rows = Sequence[Sequence[Any]]


def baskets_of(labels: Sequence[str]) -> Rows:
    draw = random.Random(1)
    popularity = [1 / (k + 1) for k in range(len(labels))]
    return [list(dict.fromkeys(draw.choices(labels, popularity, k=draw.randint(1, 5)))) for _ in range(60)]


def table_rows() -> Rows:
    draw = random.Random(2)
    values = [range(18, 80), ["10115", "9001", "009", "80331"], ["m", "f"], ["cook", "nurse", "", "clerk"]]
    return [[*map(draw.choice, values), draw.choice(["flu", "ulcer", "none"])] for _ in range(80)]  # type: ignore[arg-type]


def ratings_rows() -> Rows:
    draw = random.Random(3)
    return [
        [f"u{user}", film, draw.randint(1, 5), f"2020-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"]
        for user in range(30)
        for film in draw.sample(range(25), draw.randint(2, 6))
    ]


def edge_rows() -> Rows:
    draw = random.Random(4)
    return [draw.sample([*AWKWARD_LABELS, *"abcdefgh"], 2) for _ in range(60)]


CASES: dict[str, tuple[Rows, str, str, dict[str, Any]]] = {  # rows, separator, header, policy
    "awkward.dat": (baskets_of(AWKWARD_LABELS), " ", "", {}),
    "numbers.dat": (baskets_of([str(k) for k in range(3, 15)]), " ", "", {}),
    "people.csv": (
        table_rows(),
        ",",
        "age,zip,sex,job,diagnosis",
        {"quasi": (("age", "zip", "sex", "job"),), "sensitive": ("diagnosis",)},
    ),
    "ratings.csv": (ratings_rows(), ",", "user,film,stars,date", {"ratings": ("user", "film", "stars", "date")}),
    "friends.edges": (edge_rows(), " ", "", {}),
}


def findings_of(path: Path, rows: Rows, separator: str, header: str, policy: dict[str, Any]) -> list[dict[str, Any]]:
    """All findings but the one about order, without seconds, and without the names of the most exposed subjects."""
    kind = "transactions" if path.suffix == ".dat" else None
    lines = [header] if header else []
    path.write_text("\n".join([*lines, *(separator.join(map(str, row)) for row in rows)]) + "\n")
    made = unveil.assess(unveil.read(path, kind), unveil.Policy(**policy))
    found = [finding.to_dict() for finding in made.findings if finding.id != "release.order"]
    for finding in found:
        del finding["seconds"]
        finding["exposed"] = sorted(subject["risk"] for subject in finding["exposed"])
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_rows_changes_no_number(name: str, tmp_path: Path) -> None:
    rows, *layout = CASES[name]
    draw = random.Random(5)
    shuffled = [draw.sample(row, len(row)) if name.endswith(".dat") else row for row in draw.sample(rows, len(rows))]
    assert findings_of(tmp_path / name, shuffled, *layout) == findings_of(tmp_path / name, rows, *layout)


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["10", "9", "009"], ["009", "10", "9"]),  # by text: 009 is no whole number as it would be written
        (["10", "9", "0"], ["0", "9", "10"]),
        (["b", "10", "a", "9"], ["10", "9", "a", "b"]),
        (["9" * 19, "10", "9"], ["10", "9", "9" * 19]),
    ],
)
def test_items_are_numbered_by_their_labels(labels: list[str], order: list[str]) -> None:
    assert unveil.Transactions.from_baskets([labels]).labels.to_pylist() == order
