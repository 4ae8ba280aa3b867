"""Who holds similar data: when no mapping fits, they trust it less, and no more than that."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_matching as naive
from unveil import Case, Policy, Run, Transactions
from unveil.items.attacker_beliefs import build_beliefs
from unveil.items.beliefs import Beliefs
from unveil.items.crack_evaluation import CrackEvaluator
from unveil.items.protection_search import ProtectionSearch, suppress_items
from unveil.matching.solver import solve

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
    tolerant = Policy(tolerance={"items.expected_cracks": 0.1, "items.similar_pairs": 1})
    made = unveil.protect(case, tolerant, method="recount")
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
    done = unveil("assess", tmp_path / "b.dat", "--tolerance", "items.expected_cracks=0", "--details")
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
        "--details",
    )
    assert "The only listed itemset is" in " ".join(done.stdout.split())
    made = unveil("protect", tmp_path / "b.jsonl", "--tolerance", "items.expected_cracks=1", "-o", tmp_path / "s.jsonl")
    assert made.returncode in (0, 3), made.stderr
    mapping = tmp_path / "s.mapping.csv"
    again = unveil("assess", tmp_path / "s.jsonl", "--original", tmp_path / "b.jsonl", "--mapping", mapping)
    assert again.returncode in (0, 1, 3), again.stderr


def test_widths_are_multiples_of_the_gap(unveil: Unveil, tmp_path: Path) -> None:
    """Counts 1, 2, 4, 8 and 16: the median gap is 3, so 2x is 6 baskets, as 6/16 is."""
    rows = ["a b c d e"] + ["b c d e"] + ["c d e"] * 2 + ["d e"] * 4 + ["e"] * 8
    (tmp_path / "b.dat").write_text("\n".join(rows) + "\n")

    @cache
    def found(precision: str) -> dict[str, Any]:
        only = ("--only", "items.expected_cracks", "--format", "json")
        done = unveil("assess", tmp_path / "b.dat", "--frequency-precision", precision, *only)
        return next(f for f in json.loads(done.stdout)["findings"] if f["id"] == "items.expected_cracks")

    assert found("1x")["value"] == found("median-gap")["value"] != found("2x")["value"]
    assert found("2x")["value"] == found("0.375")["value"] == found("37.5%")["value"]
    assert "to within 6 of 16 baskets (2 times the median gap between frequencies)" in found("2x")["attacker"]
    assert found("0x")["value"] == found("0")["value"] == 5
    for wrong in ("x", "2y", "-1x", "1e3x"):
        done = unveil("assess", tmp_path / "b.dat", "--frequency-precision", wrong)
        assert done.returncode == 2
        assert "such as 2x, or a number such as 0.1 or 10%" in " ".join(done.stderr.split())


# ---- ranges of unequal weight ----------------------------------------------------------------------------------------

RANGES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 5), st.sampled_from([0.1, 1, 2, 5])), min_size=1
)


def weight_matrix(rows: list[tuple[int, int, int, float]], counts: list[int]) -> np.ndarray:
    """By definition: the heaviest range of an item that contains a count; 1 for every count of an item without one."""
    found = np.zeros((len(counts), len(counts)))
    for i in range(len(counts)):
        own = [(low, low + width, weight) for item, low, width, weight in rows if item == i] or [(0, 99, 1.0)]
        for j, count in enumerate(counts):
            found[i, j] = max((w for low, high, w in own if low <= count <= high), default=0.0)
    return found


@settings(max_examples=100, deadline=None)
@given(RANGES, st.lists(st.integers(1, 9), min_size=5, max_size=5), st.permutations(range(5)), st.integers(0, 3))
def test_ranges_weigh_what_they_should(
    rows: list[tuple[int, int, int, float]], counts: list[int], order: list[int], wrong: int
) -> None:
    items, low, width, weight = (np.array(column) for column in zip(*rows, strict=True))
    beliefs = Beliefs.from_ranges(items, low, low + width, weight, counts)
    wanted = weight_matrix(rows, counts)
    scaled = wanted / np.array([max((r[3] for r in rows if r[0] == i), default=1.0) for i in range(5)])[:, None]
    assert beliefs.candidates.to_matrix() == pytest.approx(scaled)
    assert beliefs.compliant.tolist() == (np.diag(wanted) > 0).tolist()
    some = np.array(order[:3])
    assert beliefs.select(some).candidates.to_matrix() == pytest.approx(scaled[np.ix_(some, some)])
    assert beliefs.swap_items(np.array(order)).candidates.to_matrix() == pytest.approx(scaled[order])
    ones = np.ones(5)
    moved = weight_matrix([(i, a - wrong, b + 2 * wrong, w) for i, a, b, w in rows], counts)
    assert (beliefs.widen_intervals(wrong).candidates.to_matrix() > 0).tolist() == (moved > 0).tolist()
    assert beliefs.forget_items(ones > 0).candidates.to_matrix() == pytest.approx(np.ones((5, 5)))
    assert beliefs.cover_true_counts().compliant.all()
    if naive.permanent(wanted) > 0:
        solved = solve(beliefs.candidates, may_exclude_truth=True)
        assert solved.crack == pytest.approx(np.diag(naive.marginals(wanted)))
        search = CrackEvaluator(Run())
        cracks = search.evaluate_cracks(beliefs)
        assert cracks == pytest.approx(np.trace(naive.marginals(wanted))) or not beliefs.compliant.all()


def test_beliefs_of_unequal_weight_reach_the_command_line(unveil: Unveil, tmp_path: Path) -> None:
    """Of b the attacker thinks that it is nine times as likely to be in two of six baskets as in one or three; nothing
    is known of the others."""
    (tmp_path / "b.dat").write_text("a b c\nb c\nc\nd\nd\nd\n")
    (tmp_path / "beliefs.csv").write_text("item,low,high,weight\nb,0.1,0.6,1\nb,0.3,0.4,9\n")
    counts = {"a": 1, "b": 2, "c": 3, "d": 3}
    matrix = np.array([[9.0 if (i, n) == ("b", 2) else 1.0 for n in counts.values()] for i in counts])
    how = ("assess", "b.dat", "--beliefs", "beliefs.csv", "--format", "json")
    found = {f["id"]: f for f in json.loads(unveil(*how).stdout)["findings"]}
    cracks = found["items.expected_cracks"]
    assert cracks["value"] == pytest.approx(np.trace(naive.marginals(matrix)))
    assert (
        "in one of the ranges given there, and takes pseudonyms in a range of more weight for likelier"
        in cracks["attacker"]
    )
    assert "items.o_estimate" not in found
    assert found["items.correlation"]["value"] >= cracks["value"] - 1e-9
    for text, said in (
        ("item,low,high,weight\nb,0.1,0.6,1\nb,0.3,0.4,heavy\n", "beliefs.csv: row 2 has no number as weight"),
        ("item,low,high,weight\nb,0.1,0.6,1\nb,0.5,0.4,1\n", "beliefs.csv: row 2 has a low end above its high end"),
        ("item,low,high,weight\nb,0.1,0.6,-1\n", "beliefs.csv: row 1 has no weight above 0"),
        ("item,low,high\nb,0.1,0.6\nb,0.3,0.4\n", "or add a column weight"),
    ):
        (tmp_path / "beliefs.csv").write_text(text)
        refused = unveil(*how)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr


def test_mixed_up_beliefs_and_protections_heed_weights() -> None:
    counts = [3, 5, 8, 9, 12, 14]
    rows = [(i, c - 3, 6, 1.0) for i, c in enumerate(counts)] + [(i, c, 0, 4.0) for i, c in enumerate(counts[:4])]
    items, low, width, weight = (np.array(column) for column in zip(*rows, strict=True))
    beliefs = Beliefs.from_ranges(items, low, low + width, weight, counts)
    matrix, order = weight_matrix(rows, counts), np.array([2, 0, 3, 1, 5, 4])
    instead = np.arange(6)
    instead[order[2:]] = np.roll(order[2:], -1)
    assert beliefs.swap_items(instead).candidates.to_matrix() == pytest.approx(
        matrix[instead] / matrix[instead].max(axis=1, keepdims=True)
    )
    tolerated = 0.9 * np.trace(naive.marginals(matrix)) / 6
    search = ProtectionSearch(beliefs, tolerated, CrackEvaluator(Run()))
    change = suppress_items(search)
    assert change is not None
    kept = np.flatnonzero(change.becomes >= 0)
    left = naive.marginals(matrix[np.ix_(kept, kept)])
    assert search.cracks_after(change) == pytest.approx(np.trace(left))
    assert np.trace(left) <= tolerated * len(kept) + 1e-9
