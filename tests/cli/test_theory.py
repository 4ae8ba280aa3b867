"""``unveil theory``: the numbers of documents 002 and 003, from the command line (ERRATA, sections 002 and 003)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from math import comb
from typing import Any

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]


def answer(unveil: Unveil, *arguments: str) -> dict[str, Any]:
    done = unveil("theory", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_corollary_5_and_the_halving_kappa(unveil: Unveil) -> None:
    """n = 10⁶, p = .99, σ = .35: L = 28.047, so 29 facts, which reveal 56 of 160 values; 166 columns double them."""
    given = ("linkage", "--people", "1000000", "--similarity", ".35", "--success", ".99", "--columns", "160")
    found = answer(unveil, *given)
    (row,) = found["guarantees"]
    assert found["theorem"] == "4(1)"
    assert row["limit"] == pytest.approx(28.047, abs=5e-4)
    assert row["m"] == row["m_printed"] == 29
    assert row["sparsity"] is None
    assert found["corollary_5"] == {"columns": 160, "learned": 56, "known": 29, "columns_to_double": 166}
    assert found["long_tail"]["kappa"] == pytest.approx(1e-4)
    assert found["long_tail"]["limit"] == pytest.approx(row["limit"] / 2)
    assert found["long_tail"]["m"] == 16
    text = unveil("theory", *given).stdout
    for said in (
        "28.047",
        "29 random attributes",
        "reveals 56 of 160 values",
        "166 columns",
        "0.01% of people",
        "16 facts",
    ):
        assert said in text
    kappa = answer(unveil, "linkage", "--people", "480000", "--similarity", ".25")["long_tail"]["kappa"]
    assert kappa == pytest.approx(1.4434e-4, abs=5e-9)


def test_table_3(unveil: Unveil) -> None:
    """n = 8,619, Theorem 8(a) with η = f(σ). The first row needs 20, not 19."""
    sigmas, f = ".45,.50,.55,.60,.65,.70,.73,.75", (1.0, 0.988, 0.955, 0.673, 0.455, 0.145, 0.079, 0.063)
    given = ("linkage", "--people", "8619", "--similarity", sigmas, "--sparsity", ",".join(map(str, f)))
    found = answer(unveil, *given)
    limits = (19.0004, 22.379, 26.558, 32.876, 41.312, 56.618, 68.362, 76.719)
    assert found["theorem"] == "8(a)"
    assert [row["limit"] for row in found["guarantees"]] == pytest.approx(limits, abs=5e-4)
    assert [row["m"] for row in found["guarantees"]] == [20, 23, 27, 33, 42, 57, 69, 77]
    for row, share in zip(found["guarantees"], f, strict=True):
        assert row["sparsity"] == share
        assert max(0, 1 - 2 * share) <= row["success"] <= 1 - share
    text = unveil("theory", *given).stdout
    assert "22.379" in text and "nothing" in text and "85%" in text


def test_success_is_reached_with_the_given_sparsity(unveil: Unveil) -> None:
    """Netflix, (.25, .08)-sparse: 18 ratings for .84; one rare rating among 8 (7 as printed, without a proof)."""
    given = ("linkage", "--people", "480000", "--similarity", ".25", "--sparsity", ".08", "--success", ".84")
    (row,) = answer(unveil, *given, "--theorem", "8(b)")["guarantees"]
    assert (row["m"], row["limit"]) == (18, pytest.approx(17.0331, abs=5e-5))
    found = answer(unveil, *given, "--rare-share", ".0001")
    (row,) = found["guarantees"]
    assert found["theorem"] == "8(a), long tail"
    assert (row["m_printed"], row["m"], row["limit"]) == (7, 8, pytest.approx(6.981, abs=5e-4))
    assert "corollary_5" not in found


def test_a_table_over_similarities_by_default(unveil: Unveil) -> None:
    rows = answer(unveil, "linkage", "--people", "8619")["guarantees"]
    assert [row["similarity"] for row in rows][:3] == [0.3, 0.35, 0.4]
    assert all(row["success"] >= 0.99 for row in rows)
    assert [row["m"] for row in rows] == sorted(row["m"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("linkage", "--people", "9", "--similarity", "x"), "--similarity: 'x' is not a number such as .5"),
        (("linkage", "--people", "9", "--similarity", "1.2"), "σ must be at least 0 and below 1"),
        (("linkage", "--people", "9", "--success", "nan"), "--success: 'nan' is not a number"),
        (("linkage", "--people", "9", "--success", "1"), "no number of attributes suffices"),
        (("linkage", "--people", "9", "--similarity", ".1,.2", "--sparsity", "1,1,1"), "--sparsity has 3 numbers"),
        (("linkage", "--people", "9", "--theorem", "12"), "there is no theorem 12"),
        (("linkage", "--people", "9", "--columns", "4"), "--columns belongs to Theorem 4(1)"),
        (("items",), "say how many items there are"),
        (("items", "--items", "3", "--groups", "4"), "3 items cannot have 4 frequencies"),
        (("items", "--items", "3", "--sizes", "1,2"), "leave out the others"),
        (("items", "--sizes", "0,2"), "--sizes: '0,2' is not a list of whole numbers"),
        (("items", "--sizes", "1,2", "--interest", "2,2"), "--interest needs a number for each of 2 groups"),
        (("items", "--sizes", "1,2", "--itemset", "0,0"), "not only zeros"),
        (("items", "--sizes", "1,2", "--set-size", "4"), "there is no set of 4 among 3 items"),
    ],
)
def test_bad_numbers_are_refused_in_one_line(unveil: Unveil, arguments: tuple[str, ...], said: str) -> None:
    done = unveil("theory", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not done.stdout and done.stderr.count("\n") == 1


def test_the_example_of_lemma_3_5(unveil: Unveil) -> None:
    """100 items in 4 groups of 25: one 3-itemset is cracked by guessing, 20 with all frequencies known."""
    found = answer(unveil, "items", "--items", "100", "--groups", "4", "--set-size", "3")
    assert found["group_sizes"] == [25] * 4
    assert found["sets"]["sets"] == comb(100, 3)
    assert found["sets"]["knows_nothing"] == pytest.approx(1)
    assert found["sets"]["knows_frequencies"] == pytest.approx(20)
    assert found["sets"]["share_with_frequencies"] == pytest.approx(20 / comb(100, 3))
    assert found["single_items"]["knows_frequencies"] == pytest.approx(4)
    text = unveil("theory", "items", "--items", "100", "--groups", "4", "--set-size", "3").stdout
    assert "sets of 3 cracked, of 161,700" in text and "20  3.2, 3.5" in text


def test_items_of_interest_and_given_sets(unveil: Unveil) -> None:
    """Lemmas 3.1, 3.3, 3.4 and 3.6 by hand, for groups of 3 and 2 items of which 2 and 1 matter."""
    found = answer(unveil, "items", "--sizes", "3,2", "--interest", "2,1", "--itemset", "1,1", "--itemset", "2,0")
    assert found["single_items"]["knows_nothing"] == pytest.approx(3 / 5)
    assert found["single_items"]["knows_frequencies"] == pytest.approx(2 / 3 + 1 / 2)
    assert found["sets"]["knows_nothing"] == pytest.approx(3 / 10)
    assert found["sets"]["knows_frequencies"] == pytest.approx(1 / 3 + 2 / 3 * 1 / 2)
    assert found["itemsets"]["knows_nothing"] == pytest.approx(2 / 10)
    assert found["itemsets"]["knows_frequencies"] == pytest.approx(1 / 6 + 1 / 3)


def test_numbers_beyond_what_a_float_holds(unveil: Unveil) -> None:
    given = ("items", "--items", "16470", "--groups", "8000", "--set-size", "400")
    found = answer(unveil, *given)
    assert found["sets"]["knows_frequencies"] is None
    assert 0 < found["sets"]["share_with_frequencies"] < 1e-4
    assert "more than 10³⁰⁷" in unveil("theory", *given).stdout


def test_every_subcommand_has_examples(unveil: Unveil) -> None:
    for name in ("linkage", "items"):
        text = unveil("theory", name, "--help").stdout
        assert text.count(f"unveil theory {name} --") >= 3
