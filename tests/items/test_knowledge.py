"""Who holds similar data: when no mapping fits, they trust it less, and no more than that."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_matching as naive
from unveil import Case, Policy, Transactions
from unveil.items.beliefs import Beliefs
from unveil.items.knowledge import beliefs_of

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
def test_strain_is_the_least_widening_that_lets_a_mapping_fit(rows: list[tuple[int, int, int, int]]) -> None:
    counts, low, width, unit = (np.array(x, float) for x in zip(*rows, strict=True))
    beliefs = Beliefs.of(low, low + width, counts)
    strain = beliefs.strain(unit)
    assert (strain == 0) == fits(beliefs)
    assert fits(beliefs.widened((strain + 1e-9) * unit))
    if strain:
        assert not fits(beliefs.widened((strain - 2e-3) * unit))


def halves(seed: int) -> tuple[Transactions, Transactions]:
    from unveil.demo.grocery import grocery

    rows = grocery(np.random.default_rng(seed), 1200, 50)
    return Transactions.from_baskets(rows[:600], "mine"), Transactions.from_baskets(rows[600:], "theirs")


@pytest.mark.parametrize("seed", range(4))
def test_an_honest_sample_leads_to_an_answer(seed: int) -> None:
    """Half of one shop's baskets against the other half: wrong about some items, and still a measured danger."""
    mine, theirs = halves(seed)
    found = unveil.assess(Case(mine, holds={"similar": theirs}), Policy())
    cracks = found["items.expected_cracks"]
    assert cracks.method == "exact"
    assert 1 < (cracks.value or 0) < len(mine.labels)
    assert "standard errors" in cracks.attacker
    assert not [f for f in found.findings if f.status == "failed"]


def test_similar_data_that_fits_is_taken_as_it_is() -> None:
    mine, _ = halves(1)
    beliefs = beliefs_of(Case(mine, holds={"similar": mine}), Policy())
    assert beliefs.alpha == 1
    assert beliefs.strain() == 0
    gap = float((beliefs.high - beliefs.low)[0]) / 2
    assert beliefs.low.tolist() == (mine.counts - gap).tolist()


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
        ("--itemsets", "items\na nothing\n", "row 1"),
        ("--itemsets", "sets\na b\n", "no column items"),
        ("--similar", "x y\n", "no item"),
    ],
)
def test_what_does_not_fit_the_baskets_is_refused(
    unveil: Unveil, tmp_path: Path, option: str, text: str, complaint: str
) -> None:
    (tmp_path / "b.dat").write_text("a b\na\nb c\n")
    given = tmp_path / ("given.dat" if option == "--similar" else "given.csv")
    given.write_text(text)
    done = unveil("assess", tmp_path / "b.dat", option, given)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stdout == ""


def test_a_list_of_itemsets_is_not_overwritten(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_text("a b\na\nb c\n")
    (tmp_path / "sets.csv").write_text("items\na b\n")
    done = unveil("assess", tmp_path / "b.dat", "--itemsets", tmp_path / "sets.csv", "-o", tmp_path / "sets.csv")
    assert done.returncode == 2
    assert (tmp_path / "sets.csv").read_text() == "items\na b\n"
