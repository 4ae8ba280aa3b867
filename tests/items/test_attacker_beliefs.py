"""Who holds similar data: when no mapping fits, they trust it less, and no more than that."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_matching as naive
from unveil import Case, Policy, Transactions
from unveil.items.attacker_beliefs import build_beliefs
from unveil.items.beliefs import Beliefs

Unveil = Callable[..., subprocess.CompletedProcess[str]]


def fits(beliefs: Beliefs) -> bool:
    """By definition: some one-to-one mapping keeps every count within its item's interval."""
    possible = (beliefs.low[:, None] <= beliefs.counts) & (beliefs.counts <= beliefs.high[:, None])
    return naive.permanent(possible.astype(float)) > 0


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 6), st.integers(1, 3)), min_size=1, max_size=6
    )
)
def test_as_few_as_can_be_are_taken_for_unknown(rows: list[tuple[int, int, int, int]]) -> None:
    counts, low, width, _ = (np.array(x, float) for x in zip(*rows, strict=True))
    beliefs = Beliefs.from_intervals(low, low + width, counts)
    assert (beliefs.unmatched_count == 0) == fits(beliefs)
    loose = beliefs.forget_unmatched_items()
    assert fits(loose)
    unknown = np.isinf(loose.low)
    assert unknown.sum() == beliefs.unmatched_count
    assert (loose.low[~unknown] == beliefs.low[~unknown]).all()
    for fewer in combinations(range(len(rows)), max(0, beliefs.unmatched_count - 1)):
        if beliefs.unmatched_count:
            assert not fits(beliefs.forget_items(np.isin(np.arange(len(rows)), fewer)))


def halves(seed: int) -> tuple[Transactions, Transactions]:
    from unveil.demo.grocery import make_baskets

    rows = make_baskets(np.random.default_rng(seed), 1200, 50)
    return Transactions.from_baskets(rows[:600], "mine"), Transactions.from_baskets(rows[600:], "theirs")


@pytest.mark.parametrize("seed", range(4))
def test_an_honest_sample_leads_to_an_answer(seed: int) -> None:
    """Half of one shop's baskets against the other half: wrong about some items, and still a measured danger."""
    mine, theirs = halves(seed)
    found = unveil.assess(Case(mine, holds={"similar": theirs}), Policy())
    cracks = found["items.expected_cracks"]
    assert cracks.method == "exact"
    assert 1 < (cracks.value or 0) < len(mine.labels)
    assert "standard error" in cracks.attacker
    assert not [f for f in found.findings if f.status == "failed" and f.decides]


def test_similar_data_that_fits_is_taken_as_it_is() -> None:
    mine, _ = halves(1)
    beliefs = build_beliefs(Case(mine, holds={"similar": mine}), Policy())
    assert beliefs.alpha == 1
    assert beliefs.unmatched_count == 0
    gap = float((beliefs.high - beliefs.low)[0]) / 2
    assert beliefs.low.tolist() == (mine.counts - gap).tolist()


def test_one_item_that_is_named_otherwise_changes_little() -> None:
    """An item that is not in the similar data is unknown; one that sells quite differently is in the way. Neither lets
    the attacker forget the rest."""
    mine, _ = halves(3)
    labels = mine.labels.to_pylist()
    rows = [[labels[i] for i in mine.items[mine.indptr[b] : mine.indptr[b + 1]]] for b in range(mine.baskets)]
    popular = labels[int(mine.counts.argmax())]
    renamed = Transactions.from_baskets([["x" if i == popular else i for i in row] for row in rows])
    gone_up = Transactions.from_baskets([[*row, labels[0]] for row in rows])
    plain, *others = (
        unveil.assess(Case(mine, holds={"similar": other}))["items.expected_cracks"]
        for other in (mine, renamed, gone_up)
    )
    for other in others:
        assert (other.value or 0) > 0.7 * (plain.value or 0)
    assert f"The similar baskets name {len(labels) - 1} of {len(labels)} items." in others[0].attacker


def test_similar_data_can_be_protected_against() -> None:
    mine, theirs = halves(2)
    case, policy = Case(mine, holds={"similar": theirs}), Policy(tolerance={"items.expected_cracks": 0.1})
    assert unveil.assess(case, policy).verdict.decision == "protect first"
    made = unveil.protect(case, policy, method="recount")
    assert made.case is not None
    assert made.assessment["items.expected_cracks"].status == "within"


@pytest.mark.parametrize(
    ("option", "text", "complaint"),
    [
        ("--beliefs", "item,low\na,.1\n", "high"),
        ("--beliefs", "item,low,high\na,.1,7\n", "between 0 and 1"),
        ("--itemsets-file", "items\na nothing\n", "row 1"),
        ("--itemsets-file", "sets\na b\n", "no column items"),
        ("--similar", "x y\n", "no item"),
        ("--itemsets", None, "there are none"),
    ],
)
def test_what_does_not_fit_the_baskets_is_refused(
    unveil: Unveil, tmp_path: Path, option: str, text: str | None, complaint: str
) -> None:
    (tmp_path / "b.dat").write_text("a b\na\nb c\n")
    given = tmp_path / ("given.dat" if option == "--similar" else "given.csv")
    given.write_text(text or "")
    done = unveil("assess", tmp_path / "b.dat", option, given if text else "9")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stdout == ""


def test_a_list_of_itemsets_is_not_overwritten(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_text("a b\na\nb c\n")
    (tmp_path / "sets.csv").write_text("items\na b\n")
    done = unveil("assess", tmp_path / "b.dat", "--itemsets-file", tmp_path / "sets.csv", "-o", tmp_path / "sets.csv")
    assert done.returncode == 2
    assert (tmp_path / "sets.csv").read_text() == "items\na b\n"


def test_nothing_tolerated_is_nothing(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_text("a b\na\nb c\n")
    done = unveil("assess", tmp_path / "b.dat", "--tolerance", "items.expected_cracks=0")
    assert "of 3 items identified on average, against a limit of 0." in " ".join(done.stdout.split())


def test_names_with_blanks_and_names_like_headers(unveil: Unveil, tmp_path: Path) -> None:
    """Itemsets whose names hold blanks are separated by semicolons; a header is one even if items are so called."""
    rows = ['["item", "whole milk"]', '["item"]', '["whole milk", "pseudonym"]', '["item", "pseudonym", "tea"]']
    (tmp_path / "b.jsonl").write_text("\n".join(rows) + "\n")
    (tmp_path / "sets.csv").write_text("items\nwhole milk; tea\n")
    done = unveil(
        "assess",
        tmp_path / "b.jsonl",
        "--itemsets-file",
        tmp_path / "sets.csv",
        "--tolerance",
        "items.expected_cracks=.9",
    )
    assert "The only listed itemset is" in " ".join(done.stdout.split())
    made = unveil("protect", tmp_path / "b.jsonl", "--tolerance", "items.expected_cracks=1", "-o", tmp_path / "s.jsonl")
    assert made.returncode == 0, made.stderr
    mapping = tmp_path / "s.mapping.csv"
    again = unveil("assess", tmp_path / "s.jsonl", "--original", tmp_path / "b.jsonl", "--mapping", mapping)
    assert again.returncode in (0, 1), again.stderr


def test_widths_are_multiples_of_the_gap(unveil: Unveil, tmp_path: Path) -> None:
    """Counts 1, 2, 4, 8 and 16: the median gap is 3, so 2x is 6 baskets, as 6/16 is."""
    rows = ["a b c d e"] + ["b c d e"] + ["c d e"] * 2 + ["d e"] * 4 + ["e"] * 8
    (tmp_path / "b.dat").write_text("\n".join(rows) + "\n")

    def found(precision: str) -> dict[str, Any]:
        how = ("assess", tmp_path / "b.dat", "--frequency-precision", precision, "--format", "json")
        return next(f for f in json.loads(unveil(*how).stdout)["findings"] if f["id"] == "items.expected_cracks")

    assert found("1x")["value"] == found("median-gap")["value"] != found("2x")["value"]
    assert found("2x")["value"] == found("0.375")["value"] == found("37.5%")["value"]
    assert "to within 6 of 16 baskets (2 times the median gap between frequencies)" in found("2x")["attacker"]
    assert found("0x")["value"] == found("0")["value"] == 5
    for wrong in ("x", "2y", "-1x", "1e3x"):
        done = unveil("assess", tmp_path / "b.dat", "--frequency-precision", wrong)
        assert done.returncode == 2
        assert "such as 2x, or a number such as 0.1 or 10%" in " ".join(done.stderr.split())
