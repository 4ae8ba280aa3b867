"""The findings about what is bought together and what never is, against listing all mappings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

import unveil
from reference.naive_matching import all_matchings
from unveil import Case, Policy, Transactions, UnveilError
from unveil.items.attacker_files import parse_never_together
from unveil.items.never_together import pairs_still_apart
from unveil.release.table import Table
from unveil.report.schema import assessment_schema

BIGMART = [[1, 2, 3], [1, 2, 3, 4], [4, 6], [3, 4, 5, 6], [5, 6], [6], [1, 2], [1, 3, 4], [1, 3, 5], [2, 4, 6]]
EXACTLY = {"items": {"frequency_precision": 0.0}}
FREQUENCY = {"1": 5, "2": 4, "3": 5, "4": 5, "5": 3, "6": 5}


def table(**columns: list[str | None]) -> Table:
    made = unveil.read(pa.table(columns))
    assert isinstance(made, Table)
    return made


def never(*pairs: str) -> Table:
    return table(item=[pair[0] for pair in pairs], other=[pair[1] for pair in pairs])


def enumerated(width: int, pairs: list[str]) -> float:
    """The expected cracks at BigMart of someone who knows counts to within a width and that these pairs never meet."""
    items = list(FREQUENCY)
    matrix = np.array([[1.0 * (abs(FREQUENCY[i] - FREQUENCY[j]) <= width) for j in items] for i in items])
    met = {frozenset((str(x), str(y))) for basket in BIGMART for x in basket for y in basket if x != y}
    cracks = []
    for mapping, _ in all_matchings(matrix):
        held = {item: items[mapping[k]] for k, item in enumerate(items)}
        if not any(frozenset((held[a], held[b])) in met for a, b in pairs):
            cracks.append(sum(held[i] == i for i in items))
    return sum(cracks) / len(cracks)


def asked(width: int, *pairs: str, more: int = 0) -> unveil.Assessment:
    """BigMart, and so many more items that differ in frequency from all others."""
    others = [[f"more {i}" for i in range(more) if b < 20 + 10 * i] for b in range(10 + 10 * more)]
    baskets = Transactions.from_baskets([*BIGMART, *(basket for basket in others if basket)])
    case = Case(baskets, holds={"never_together": never(*pairs)})
    each = dict.fromkeys(("items.expected_cracks", "items.never_together"), 0.6)
    precision = {"frequency_precision": width / baskets.baskets}
    return unveil.assess(case, Policy(settings={"items": precision}, tolerance=each))


def test_only_what_is_never_together_tips_it() -> None:
    """Items 1, 3, 4 and 6 are in five baskets each, and of their pairs only 1 and 6 never meet. So these have the
    pseudonyms 1′ and 6′, and the other two theirs: two of four are cracked on average instead of one."""
    found = asked(0, "16")
    told = found["items.never_together"]
    assert (told.value, told.method, told.interval) == (pytest.approx(4), "exact", None)
    assert enumerated(0, ["16"]) == 4
    assert enumerated(0, []) == 3 == pytest.approx(found["items.expected_cracks"].value)
    assert told.sentence == (
        "On average, someone who knows this pair identifies 4 of 6 items, 1 more than without that knowledge."
    )
    assert told.attacker.endswith(" Also knows 1 pair of items that is never bought together.")
    assert told.share == pytest.approx((4 / 6, 4 / 6))
    assert (told.tolerance, told.status) == (pytest.approx(3.6), "over")
    assert found.verdict.because == "items.never_together"
    without = unveil.assess(
        Transactions.from_baskets(BIGMART), Policy(settings=EXACTLY, tolerance={"items.expected_cracks": 0.6})
    )
    assert without.verdict.decision == "release"
    assert "items.never_together" not in [f.id for f in without.findings]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("pair", ["16", "61", "25"])
def test_a_pair_against_all_mappings(width: int, pair: str) -> None:
    told = asked(width, pair)["items.never_together"]
    assert told.method == "exact"
    assert told.value == pytest.approx(enumerated(width, [pair]))
    assert told.value != pytest.approx(enumerated(width, []))


def test_pairs_against_all_mappings() -> None:
    """Two pairs that few mappings allow: all of them are counted."""
    told = asked(2, "16", "25")["items.never_together"]
    assert told.method == "exact" and told.value == pytest.approx(enumerated(2, ["16", "25"]))
    assert told.value != pytest.approx(enumerated(2, ["16"]))
    assert "knows 2 pairs" in told.attacker


def naive_named(width: int, named: list[str]) -> float:
    """The most that any use of named pairs identifies at BigMart, by listing all mappings: of the pairs down to some
    count, the items have the pseudonyms of the release's pairs down to that count."""
    items = list(FREQUENCY)
    count = {pair: sum({*pair} <= {*map(str, basket)} for basket in BIGMART) for pair in combinations(items, 2)}
    found = [enumerated(width, [])]
    for least in {count[pair[0], pair[1]] for pair in named}:
        known = {item for pair in named if count[pair[0], pair[1]] >= least for item in pair}
        pairs = [pair for pair, n in count.items() if n >= least]
        theirs = {item for pair in pairs for item in pair}
        same = len(pairs) == sum(count[pair[0], pair[1]] >= least for pair in named)
        matrix = np.array(
            [
                [
                    1.0 * (abs(FREQUENCY[i] - FREQUENCY[j]) <= width)
                    * (i not in known or j in theirs) * (not same or i in known or j not in theirs)
                    for j in items
                ]
                for i in items
            ]
        )  # fmt: skip
        mappings = all_matchings(matrix)
        if mappings:
            found.append(sum(sum(p[k] == k for k in range(6)) for p, _ in mappings) / len(mappings))
    return max(found)


@pytest.mark.parametrize("width", [0, 1, 2])
@pytest.mark.parametrize("named", [["13"], ["12"], ["13", "12"], ["13", "34", "56"], ["35"], ["12", "13", "34", "46"]])
def test_pairs_that_are_bought_together_can_be_named(width: int, named: list[str]) -> None:
    """1 and 3 are the most frequent pair, in four baskets; three pairs are in three, and five in two."""
    case = Case(Transactions.from_baskets(BIGMART), holds={"pairs": never(*named)})
    policy = Policy(settings={"items": {"frequency_precision": width / 10}}, tolerance={"items.correlation": 0.1})
    told = unveil.assess(case, policy)["items.correlation"]
    assert told.value == pytest.approx(naive_named(width, named))
    assert told.decides
    assert "often bought together" in told.attacker


def test_named_pairs_that_nobody_can_know() -> None:
    baskets = Transactions.from_baskets(BIGMART)
    for pairs, said in (
        (["13", "16"], "row 2 names two items that never occur in one basket"),
        (["1?"], "row 1 names"),
    ):
        with pytest.raises(UnveilError, match=said):
            unveil.assess(Case(baskets, holds={"pairs": never(*pairs)}))
    with pytest.raises(UnveilError, match="exclude each other"):
        unveil.assess(Case(baskets, holds={"pairs": never("13")}), Policy(settings={"items": {"known_pairs": 1}}))


def test_named_pairs_in_a_renamed_and_in_a_protected_release() -> None:
    """The value of a renamed release is that of the original; a pair whose item is left out is no longer known."""
    original = Transactions.from_baskets(BIGMART)
    renamed = [[f"r{(item * 5) % 7}" for item in basket] for basket in reversed(BIGMART)]
    release = Transactions.from_baskets(renamed)
    names = release.labels.to_pylist()
    truth = np.array([names.index(f"r{(int(label) * 5) % 7}") for label in original.labels.to_pylist()])
    case = Case(release, original, truth, {"pairs": never("13", "46")})
    assert unveil.assess(case, Policy(settings=EXACTLY))["items.correlation"].value == pytest.approx(
        naive_named(0, ["13", "46"])
    )
    without = Transactions.from_baskets([[f"r{item}" for item in b if item != 6] for b in BIGMART if b != [6]])
    left = without.labels.to_pylist()
    truth = np.array([left.index(f"r{label}") if label != "6" else -1 for label in original.labels.to_pylist()])
    told = unveil.assess(Case(without, original, truth, {"pairs": never("13", "46")}))["items.correlation"]
    assert "1 named pair is not in the release" in told.sentence
    gone = unveil.assess(Case(without, original, truth, {"pairs": never("46")}))
    assert gone["items.correlation"].status == "failed"


def test_beliefs_that_leave_no_mapping() -> None:
    """The attacker takes c for a and d for b, which meet; and a for c and b for d, which do not."""
    baskets = Transactions.from_baskets([*[["a", "b"]] * 2, ["a"], *[["c"]] * 4, ["d"]])
    at = [(k / 8) for k in (4, 1, 3, 2)]
    beliefs = unveil.read(pa.table({"item": list("abcd"), "low": at, "high": at}))
    found = unveil.assess(Case(baskets, holds={"beliefs": beliefs, "never_together": never("cd")}))
    told, pairs = found["items.never_together"], found["items.correlation"]
    assert (told.value, told.status, told.decides) == (None, "failed", True)
    assert "no mapping keeps apart all items" in told.sentence
    assert (pairs.value, pairs.status, pairs.decides) == (None, "failed", False)
    assert "No assignment of pseudonyms fits both, so they would notice" in pairs.sentence
    assert (found.verdict.decision, found.verdict.because) == ("your call", "items.never_together")
    assert Draft202012Validator(assessment_schema()).is_valid(found.to_dict())
    assert "not measured" in found.to_text()
    assert "not measured" in found.to_html()
    asked_for = unveil.assess(Case(baskets, holds={"beliefs": beliefs}), Policy(settings={"items": {"known_pairs": 1}}))
    assert asked_for.verdict.because == "items.correlation"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"item": ["1"], "others": ["6"]}, "no column other; name a pair in each row"),
        ({"a": ["1"], "b": ["6"]}, "no column item and other"),
        ({"item": ["1", "lipstick"], "other": ["6", "1"]}, "row 2 names an item that is not in the baskets"),
        ({"item": ["1", "2", "1"], "other": ["6", "5", None]}, "row 3 names an item that is not in the baskets"),
        ({"item": ["1", "2"], "other": ["6", "2"]}, "row 2 names the same item twice"),
        ({"item": ["1", "2", "5"], "other": ["6", "5", "4"]}, "row 3 names two items that do occur in one basket"),
    ],
)
def test_pairs_that_nobody_can_know(columns: dict[str, list[str | None]], said: str) -> None:
    baskets = Transactions.from_baskets(BIGMART)
    with pytest.raises(UnveilError, match=said) as caught:
        parse_never_together(table(**columns), baskets)
    assert "lipstick" not in str(caught.value)
    with pytest.raises(UnveilError, match=said):
        unveil.assess(Case(baskets, holds={"never_together": table(**columns)}))


def test_what_a_protected_release_leaves_of_it() -> None:
    """Item 3 is left out, 0 and 1 become a category, 4 and 5 another; 6 was put into baskets with what 2 became."""
    release = Transactions.from_baskets([["a", "b"], ["c", "b"], ["d", "b"], ["c"], ["d"]])
    assert release.labels.to_pylist() == ["a", "b", "c", "d"]
    becomes = np.array([0, 0, 2, -1, 3, 3, 1])
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3), (0, 4), (0, 5), (1, 4), (2, 4), (2, 5), (2, 6)]
    a, b = pairs_still_apart(*np.array(pairs).T, becomes, release)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 2), (2, 3)]
    a, b = pairs_still_apart(*np.array([*pairs, (1, 5)]).T, becomes, release)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 2), (0, 3), (2, 3)]
    assert pairs_still_apart(*np.array(pairs[:1]).T, becomes, release)[0].tolist() == []


def test_a_renamed_release_is_attacked_with_the_same_knowledge() -> None:
    renamed = [[f"r{(item * 5) % 7}" for item in basket] for basket in reversed(BIGMART)]
    release, original = Transactions.from_baskets(renamed), Transactions.from_baskets(BIGMART)
    names = release.labels.to_pylist()
    truth = np.array([names.index(f"r{(int(label) * 5) % 7}") for label in original.labels.to_pylist()])
    case = Case(release, original, truth, {"never_together": never("16")})
    assert unveil.assess(case, Policy(settings=EXACTLY))["items.never_together"].value == pytest.approx(4)
    with pytest.raises(UnveilError, match="row 1 names two items"):
        unveil.assess(Case(release, original, truth, {"never_together": never("12")}))


def test_pairs_are_read_once_each() -> None:
    baskets = Transactions.from_baskets(BIGMART)
    codes = {label: code for code, label in enumerate(baskets.labels.to_pylist())}
    a, b = parse_never_together(never("61", "25", "16"), baskets)
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == sorted(
        [tuple(sorted((codes["1"], codes["6"]))), tuple(sorted((codes["2"], codes["5"])))]
    )


def test_named_pairs_that_a_protection_left_out_vanished_without_a_word() -> None:
    original = Transactions.from_baskets([["a", "b"], ["a", "b"], ["b", "c"], ["c", "d"], ["a"]])
    release = Transactions.from_baskets([["1"], ["1"], ["2"], ["2", "3"], ["1"]])
    pairs = unveil.read(pa.table({"item": ["a"], "other": ["b"]}))
    names = original.labels.to_pylist()
    truth = np.array([{"a": 0, "b": -1, "c": 1, "d": 2}[name] for name in names])
    found = unveil.assess(Case(release, original=original, truth=truth, holds={"pairs": pairs}), only="items")
    assert (found["items.correlation"].value, found["items.correlation"].status) == (None, "failed")
    assert found["items.correlation"].sentence.startswith("None of the named pairs is in the release")
