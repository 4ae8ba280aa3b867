"""The published examples of White's thesis, by its definitions; where it prints something else, the comment
says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unveil
from reference.naive_inference import minimal_hitting_sets
from reference.poset_algorithms import all_intersections, crossing_sets, intersection_poset, minimal_crossing_sets
from unveil.arrays import Int32s
from unveil.inference.belief_gains import measure_gains
from unveil.inference.closed_sets import (
    betti_numbers,
    find_closed_sets,
    find_minimal_non_faces,
    find_simplices,
)
from unveil.inference.closed_sets import minimal_hitting_sets as hitting_sets
from unveil.inference.fake_rows import add_individual, fill_with_fakes, give_attributes, is_free_set
from unveil.inference.privacy_score import score
from unveil.inference.relation import Relation

EXAMPLE_4_3 = ["abcd", "abce", "abfg", "bcfg"]
EXAMPLE_6_1 = ["ACE", "ABD", "BCF"]


def letters(relation: Relation, attributes: frozenset[int]) -> str:
    assert relation.names is not None
    return "".join(relation.names[a] for a in sorted(attributes))


def scores(sets: list[str], **weights: object) -> list[float]:
    return score(Relation.from_sets(sets, **weights)).lower.tolist()  # type: ignore[arg-type]


def test_example_2_9() -> None:
    relation = Relation.from_sets(["ab", "bc", "acd", "bcd"])
    assert letters(relation, relation.closure({3})) == "cd"
    assert relation.people_with({3}).tolist() == [False, False, True, True]
    assert scores(["ab", "bc", "acd", "bcd"]) == [0, 0, 0.5, 0.5]
    for complex_ in find_simplices(relation):
        assert betti_numbers(complex_)[:3] == [1, 1, 0]


def test_the_programs_main() -> None:
    """Its appendix drops rows that are subsets of others; by definition they count."""
    found = score(Relation.from_sets(["abcd", "abce", "abcf", "abde", "ab"]))
    assert found.lower.tolist() == pytest.approx([2 / 3, 2 / 3, 3 / 4, 2 / 3, 2 / 3], abs=1e-15)
    assert found.average.low == found.average.high == pytest.approx(41 / 60, abs=1e-15)


def test_example_4_3() -> None:
    """As printed, Algorithm 2 finds eight of the nine sets."""
    relation = Relation.from_sets(EXAMPLE_4_3)
    found = find_closed_sets(relation)
    generators = {
        letters(relation, one): {letters(relation, k) for k in some}
        for one, some in zip(found.sets, found.generators, strict=True)
    }
    assert generators == {
        "abcd": {"d"}, "abce": {"e"}, "abfg": {"af", "ag"}, "bcfg": {"cf", "cg"}, "bfg": {"f", "g"},
        "abc": {"ac"}, "ab": {"a"}, "bc": {"c"}, "b": {""},
    }  # fmt: skip
    covers = {letters(relation, found.sets[k]): {letters(relation, found.sets[b]) for b in below}
              for k, below in enumerate(found.covers)}  # fmt: skip
    assert (covers["abc"], covers["abfg"], covers["bcfg"]) == ({"ab", "bc"}, {"ab", "bfg"}, {"bc", "bfg"})
    by_algorithms = intersection_poset([frozenset(relation.attributes_of(i)) for i in range(4)])
    assert all_intersections([relation.attributes_of(i) for i in range(4)]) == set(found.sets) == set(by_algorithms)
    abfg, children = relation.attributes_of(2), by_algorithms[relation.attributes_of(2)]
    assert {letters(relation, k) for k in crossing_sets([abfg - one for one in children])} == {"af", "ag"}
    assert scores(EXAMPLE_4_3) == pytest.approx([0.75, 0.75, 2 / 3, 2 / 3], abs=1e-15)
    assert score(relation).average.low == pytest.approx(17 / 24, abs=1e-15)


def test_example_4_13() -> None:
    complements = [frozenset(one) for one in ({0, 1}, {1, 2}, {1, 3, 5}, {4, 5})]
    expected = {"be", "bf", "acf", "acde"}
    for find in (hitting_sets, minimal_hitting_sets, minimal_crossing_sets):
        assert {"".join("abcdef"[a] for a in sorted(k)) for k in find(complements)} == expected


def test_example_5_1() -> None:
    """With dangerous quasi-identifiers, 2-anonymity makes it worse."""
    before, after = ["ACD", "BCE"], ["ABCD", "ABCE"]
    quasi = {"danger": [0.0, 0.0, 1.0, 1.0, 1.0]}
    assert scores(before, **quasi) == pytest.approx([2 / 3, 2 / 3])
    assert scores(after, **quasi) == [0.5, 0.5]
    assert scores(before) == pytest.approx([2 / 3, 2 / 3])
    assert scores(after) == [0.75, 0.75]


def test_theorems_5_2_and_5_3_are_false() -> None:
    """k-anonymising by adding quasi-identifiers that are no danger raises the score of two people."""
    weights = {"likelihood": [1.0, 1.0, 1.0, 1.0], "danger": [0.0, 0.0, 1.0, 1.0]}
    assert scores(["ac", "bc", "ad", "ad", "bd", "bd"], **weights) == [0] * 6
    assert scores(["abc", "abc", "ad", "ad", "bd", "bd"], **weights) == [0.5, 0.5, 0, 0, 0, 0]


def test_example_6_1() -> None:
    relation = Relation.from_sets(EXAMPLE_6_1)
    assert scores(EXAMPLE_6_1) == pytest.approx([2 / 3] * 3)
    attributes, people = find_simplices(relation)
    assert betti_numbers(attributes)[:3] == [1, 1, 0]
    assert betti_numbers(people)[:2] == [1, 1]
    non_faces = {letters(relation, one) for one in find_minimal_non_faces(attributes, relation.attributes)}
    assert non_faces == {"ABC", "AF", "BE", "CD", "DE", "DF", "EF"}


def test_example_6_2() -> None:
    """a ⇔ b, but the score comes from knowing nothing."""
    relation = Relation.from_sets(["abc", "abd"])
    assert letters(relation, relation.closure(())) == letters(relation, relation.closure({0})) == "ab"
    assert scores(["abc", "abd"]) == pytest.approx([2 / 3, 2 / 3])
    assert relation.risk_weight(()) == pytest.approx(2 / 3)


def test_example_6_3() -> None:
    """Option 1 makes it worse; option 2 leaves the real people where they are."""
    relation, hole = Relation.from_sets(EXAMPLE_6_1), {0, 1, 2}
    assert is_free_set(relation, hole)
    changed = relation
    for person in range(3):
        changed = give_attributes(changed, person, hole)
    assert score(changed).lower.tolist() == scores(["ABCE", "ABCD", "ABCF"]) == [0.75, 0.75, 0.75]
    filled = add_individual(relation, hole)
    assert score(filled).lower.tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0])
    assert betti_numbers(find_simplices(filled)[0])[:3] == [1, 0, 0]  # the hole is gone


def adult_codes(data: Path) -> list[Int32s]:
    """Six quasi-identifiers of Adult, age in eight quantiles, and the salary class."""
    known = ("age", "education", "occupation", "relationship", "sex", "native-country")
    codes = unveil.read(data / "tables" / "adult.csv").codes([*known, "salary-class"])
    ages = np.array([int(value) for value in codes["age"].values])[codes["age"].codes]
    bins = np.searchsorted(np.quantile(ages, np.arange(1, 8) / 8), ages).astype(np.int32)
    return [bins, *(codes[c].codes for c in (*known[1:], "salary-class"))]


def test_fakes_end_certainty_in_adult_and_hardly_lower_belief(data: Path) -> None:
    """Certain inferences from two facts fall from 10.4% to 0, beliefs of at least .9 only from 62.3% to below 61%."""
    *columns, salary = adult_codes(data)
    fakes = fill_with_fakes(columns, salary, facts=2, rng=np.random.default_rng(0))
    assert len(fakes.values) < 445
    together = [np.append(own, fakes.facts[:, c]).astype(np.int32) for c, own in enumerate(columns)]
    shares = []
    for facts, values in ((columns, salary), (together, np.append(salary, fakes.values).astype(np.int32))):
        found, real = measure_gains(facts, values, facts=2, fewest=1, gain=0.5), len(salary)
        belief = (found.best[2] + (np.bincount(values) / len(values))[values])[:real]
        shares += [float(found.certain[2][:real].mean()), float((belief >= 0.9 - 1e-12).mean())]
    assert shares == pytest.approx([0.104, 0.623, 0, 0.607], abs=1e-3)


def test_adult_with_the_documents_weights(data: Path) -> None:
    """§5.1's weights make the score the homogeneity of classes, here with age in eight quantiles."""
    columns = adult_codes(data)
    found = score(Relation.from_columns(columns, [1.0] * 6 + [0.0], [0.0] * 6 + [1.0]))
    assert found.share_at_least(0.5) == pytest.approx((0.476859, 0.476859), abs=5e-7)
    assert found.average.low == pytest.approx(0.476859 / 2, abs=5e-7)
