"""Linking a release with a file of known people, against every pair and every assignment."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from datetime import date
from math import inf, isnan, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_link
from unveil.errors import UnveilError
from unveil.linkage.ask_link import people_text
from unveil.linkage.link import row_kinds as kinds_module
from unveil.linkage.link.assignment import assign_links
from unveil.linkage.link.best_match import Linkage, link_people
from unveil.linkage.link.candidates import count_candidates, find_candidates
from unveil.linkage.link.error_rates import estimate_error_rates
from unveil.linkage.link.file_pair import FilePair, pair_files, records_from_both
from unveil.linkage.link.link_quality import assignment_quality, assignment_range, match_quality
from unveil.linkage.link.one_to_one import one_to_one_chances
from unveil.linkage.link.row_scores import MIN_POSTERIOR
from unveil.linkage.similarity import (
    Similarity,
    any_value,
    equal_values,
    linear_similarity,
    within_days,
    within_distance,
)
from unveil.release.codes import Codes, encode_column
from unveil.release.label_matching import match_labels
from unveil.run import Run

Rows = Sequence[Sequence[Any]]


def columns(rows: Rows, names: Sequence[str], types: Mapping[str, pa.DataType] | None = None) -> dict[str, Codes]:
    kinds = types or {}
    return {
        name: encode_column(pa.chunked_array([pa.array([row[i] for row in rows], kinds.get(name, pa.int64()))]))
        for i, name in enumerate(names)
    }


def pair(rows: Rows, people: Rows, sims: Mapping[str, Similarity], **options: Any) -> FilePair:
    names = list(sims)
    return pair_files(*records_from_both(columns(rows, names), columns(people, names), sims), **options)


# ---- against the slow way --------------------------------------------------------------------------------------------

SIMS: dict[str, Similarity] = {
    "same": equal_values(),
    "near": within_distance(1),
    "less": within_distance(2, closed=False),
    "graded": linear_similarity(3),
    "there": any_value(),
}
PLAIN: dict[str, naive_link.Sim] = {
    "same": lambda a, b: float(a == b),
    "near": lambda a, b: float(abs(a - b) <= 1),
    "less": lambda a, b: float(abs(a - b) < 2),
    "graded": lambda a, b: max(1 - abs(a - b) / 3, 0.0),
    "there": lambda a, b: 1.0,
}


@st.composite
def two_files(draw: st.DrawFn, most: int = 8) -> tuple[list[str], list[list[int | None]], list[list[int | None]]]:
    names = draw(st.lists(st.sampled_from(list(SIMS)), min_size=1, max_size=4, unique=True))
    value = st.one_of(st.none(), st.integers(0, draw(st.sampled_from([1, 3, 6]))))
    record = st.lists(value, min_size=len(names), max_size=len(names))
    return names, draw(st.lists(record, min_size=1, max_size=most)), draw(st.lists(record, max_size=most))


def made(files: tuple[list[str], Rows, Rows], differ: bool) -> FilePair:
    names, rows, people = files
    return pair(rows, people, {name: SIMS[name] for name in names}, nulls="differ" if differ else "unknown")


@settings(max_examples=60, deadline=None)
@given(two_files(), st.sampled_from([0.2, 0.5, 2 / 3, 1.0]), st.booleans())
def test_candidates_are_the_rows_that_nothing_rules_out(files: Any, least: float, differ: bool) -> None:
    names, rows, people = files
    sides = made(files, differ)
    found = find_candidates(sides, least)
    expected = [naive_link.possible_rows(x, rows, [PLAIN[n] for n in names], least, differ) for x in people]
    assert [found.rows(i).tolist() for i in range(len(people))] == expected
    assert found.counts.tolist() == [len(rows) for rows in expected]
    assert count_candidates(sides, least).tolist() == found.counts.tolist()


@settings(max_examples=60, deadline=None)
@given(
    two_files(),
    st.sampled_from(["rarity", "support", "likelihood"]),
    st.sampled_from([0.0, 0.05, 0.4]),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.booleans(),
)
def test_scores_and_posterior_are_those_over_all_rows(
    files: Any, scoring: Any, errors: float, outside: float, differ: bool, by_kind: bool
) -> None:
    names, rows, people = files
    with pytest.MonkeyPatch.context() as patch:
        if not by_kind:
            patch.setattr(kinds_module, "_MAX_TRIED", 0)
        found = link_people(made(files, differ), scoring=scoring, errors=errors, outside=outside)
    for i, person in enumerate(people):
        slow = naive_link.link_person(person, rows, [PLAIN[n] for n in names], scoring, errors, outside, differ)
        assert found.score[i] == pytest.approx(max(slow.score), abs=1e-9)
        assert found.outside[i] == pytest.approx(slow.outside, abs=1e-9)
        if slow.second is None:
            assert isnan(found.second[i])
        else:
            assert found.second[i] == pytest.approx(slow.second, abs=1e-9)
        assert found.eccentricity[i] == pytest.approx(slow.eccentricity, rel=1e-6, abs=1e-9)
        if slow.informed:
            assert found.best[i] == slow.best[0] and found.ties[i] == len(slow.best)
            assert found.posterior[i] == pytest.approx(slow.posterior[slow.best[0]], abs=1e-9)
        else:
            assert found.best[i] == -1 and found.posterior[i] == 0
        check_kept(found, i, slow, len(rows))


def check_kept(found: Linkage, person: int, slow: naive_link.Found, rows: int) -> None:
    """Every pair is kept that is likely enough and agrees in something, and has its posterior."""
    pairs, sides = found.pairs, found.file_pair
    own = pairs.person == sides.person_class[person]
    kept = dict(zip(pairs.row[own].tolist(), zip(pairs.posterior[own], pairs.score[own], strict=True), strict=True))
    nothing = min(slow.likelihood)
    for row in range(rows):
        held = kept.get(int(sides.row_class[row]))
        if held is not None:
            assert held[0] == pytest.approx(slow.posterior[row], abs=1e-9)
            assert held[1] == pytest.approx(slow.score[row], abs=1e-9)
        elif slow.likelihood[row] > nothing:
            assert slow.posterior[row] < MIN_POSTERIOR + 1e-9


@settings(max_examples=60, deadline=None)
@given(two_files(most=5), st.booleans())
def test_one_to_one_is_the_share_of_assignments(files: Any, differ: bool) -> None:
    names, rows, people = files
    found = one_to_one_chances(find_candidates(made(files, differ)))
    fits = [naive_link.possible_rows(x, rows, [PLAIN[n] for n in names], 1.0, differ) for x in people]
    expected = naive_link.one_to_one(fits, len(rows))
    for i in range(len(people)):
        assert found.link_chances([i] * len(rows), range(len(rows))).tolist() == pytest.approx(expected[i], abs=1e-9)
        assert found.best_chance[i] == pytest.approx(max(expected[i]), abs=1e-9)
        row = found.likeliest_row[i]
        likeliest = [k for k, p in enumerate(expected[i]) if p > max(expected[i]) - 1e-9]
        assert row == (likeliest[0] if fits[i] else -1)
    assert found.expected_random == pytest.approx(sum(p * p for own in expected for p in own), abs=1e-9)
    assert found.placed_people == round(sum(p for own in expected for p in own)) and found.method == "exact"


@settings(max_examples=60, deadline=None)
@given(two_files(most=5), st.sampled_from([0.0, 0.3]), st.sampled_from([0.5, 1.0, 4.0]))
def test_the_assignment_is_the_best_of_all(files: Any, outside: float, odds: float) -> None:
    names, rows, people = files
    found = link_people(made(files, False), outside=outside)
    links = assign_links(found, odds)
    share = max(outside, 1 / (max(1, len(people)) + 1))
    offset = log((1 - share) / share / len(rows))
    worth = []
    for person in people:
        slow = naive_link.link_person(person, rows, [PLAIN[n] for n in names], outside=outside)
        nothing = sum(log(0.05) for x in person if x is not None)
        good = {
            k: slow.likelihood[k] + offset
            for k in range(len(rows))
            if slow.likelihood[k] + offset >= max(0.0, log(odds))
            and slow.posterior[k] >= MIN_POSTERIOR
            and slow.likelihood[k] > nothing + 1e-9
        }
        worth.append(good)
    total = float((links.links * links.log_odds).sum())
    assert total == pytest.approx(naive_link.best_links(worth) if worth else 0.0, abs=1e-6)
    sides = found.file_pair
    assert (np.bincount(links.person, links.links, sides.people.n) <= sides.person_sizes).all()
    assert (np.bincount(links.row, links.links, sides.rows.n) <= sides.row_sizes).all()


@settings(max_examples=150, deadline=None)
@given(two_files(most=5), st.sampled_from([0.0, 0.3]), st.randoms(use_true_random=False))
def test_ties_between_links_chosen_together_were_broken_arbitrarily(files: Any, outside: float, random: Any) -> None:
    """The fewest and the most links that are right in any optimal assignment, by looking at all of them."""
    _, rows, people = files
    found = link_people(made(files, False), outside=outside)
    sides, (pairs, size) = found.file_pair, (found.pairs, len(rows))
    true = split([(i, k) for i, k in enumerate(random.sample(range(size), min(size, len(people))))])
    share = max(outside, 1 / (max(1, len(people)) + 1))
    worth = []
    for i in range(len(people)):
        own = np.flatnonzero((pairs.person == sides.person_class[i]) & (pairs.posterior >= MIN_POSTERIOR))
        odds = {int(pairs.row[e]): float(pairs.likelihood[e]) + log((1 - share) / share / size) for e in own}
        worth.append({k: odds[c] for k, c in enumerate(sides.row_class.tolist()) if odds.get(c, -1.0) > -1e-9})
    ways, right = list(naive_link.assignments([list(own) for own in worth])), list[float]()
    totals = [sum(own[k] + 1e-7 for own, k in zip(worth, way, strict=True) if k >= 0) for way in ways]  # rather linked
    for way, total in zip(ways, totals, strict=True):
        if total > max(totals) - 1e-8:
            linked = [(sides.person_class[i], sides.row_class[k]) for i, k in enumerate(way) if k >= 0]
            chances = [
                linked.count((a, b)) / (sides.person_sizes[a] * sides.row_sizes[b])
                for a, b in ((sides.person_class[i], sides.row_class[k]) for i, k in zip(*true, strict=True))
            ]
            right.append(sum(chances))
    few, many = assignment_range(found, *true)
    assert few.right_links == pytest.approx(min(right), abs=1e-9)
    assert many.right_links == pytest.approx(max(right), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(two_files(), st.randoms(use_true_random=False))
def test_order_does_not_matter(files: Any, random: Any) -> None:
    names, rows, people = files
    to_rows, to_people = list(range(len(rows))), list(range(len(people)))
    random.shuffle(to_rows)
    random.shuffle(to_people)
    first = made(files, False)
    second = made((names, [rows[k] for k in to_rows], [people[k] for k in to_people]), False)
    one, two = link_people(first), link_people(second)
    for field in ("score", "second", "eccentricity", "posterior", "outside", "ties", "candidates"):
        assert np.array_equal(getattr(one, field)[to_people], getattr(two, field), equal_nan=True)
    true = list(zip(range(min(len(rows), len(people))), range(len(rows)), strict=False))
    moved = [(to_people.index(i), to_rows.index(k)) for i, k in true]
    both = (match_quality(found, *split(pairs)) for found, pairs in ((one, true), (two, moved)))
    first_quality, second_quality = both
    assert first_quality.links == second_quality.links
    assert first_quality.right_links == pytest.approx(second_quality.right_links)
    ranges = [assignment_range(found, *split(pairs)) for found, pairs in ((one, true), (two, moved))]
    for before, after in zip(*ranges, strict=True):
        assert (before.links, before.right_links) == (after.links, pytest.approx(after.right_links))


def split(pairs: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


# ---- small cases that can be checked on paper ------------------------------------------------------------------------

CARS = [["32", "Chinese", "Toyota"], ["34", "Chinese", "Toyota"], ["31", "Indian", "Ford"], ["50", "Chinese", "Honda"]]
JOHN, MARY, BOB = [None, "Chinese", "Toyota"], ["30-35", None, None], [None, None, None]


def cars(people: Rows) -> FilePair:
    names, text = ("age", "ethnicity", "car"), dict.fromkeys(("age", "ethnicity", "car"), pa.string())
    sides = records_from_both(columns(CARS, names, text), columns(people, names, text))
    return pair_files(*sides, labels={"age": match_labels})


def test_john_mary_and_bob() -> None:
    """Lakshmanan, Ng and Ramesh 2008, §8.1. John is row 0 or 1; Mary one of 0, 1, 2 that he is not; Bob one of the two
    that are left: 2 · 2 · 2 assignments."""
    sides = cars([JOHN, MARY, BOB])
    fits = find_candidates(sides)
    assert [fits.rows(i).tolist() for i in range(3)] == [[0, 1], [0, 1, 2], [0, 1, 2, 3]]
    found = one_to_one_chances(fits)
    assert found.link_chances([0] * 4, range(4)).tolist() == pytest.approx([1 / 2, 1 / 2, 0, 0])
    assert found.link_chances([1] * 4, range(4)).tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2, 0])
    assert found.link_chances([2] * 4, range(4)).tolist() == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2])
    assert found.method == "exact" and found.placed_people == 3
    assert found.expected_random == pytest.approx(39 / 32) and found.expected_best == pytest.approx(3 / 2)
    assert found.link_chances([0, 1, 2], [0, 2, 3]).sum() == pytest.approx(3 / 2)  # cracks, if that is the truth
    assert "3 of 3 people" in repr(found)


def test_everyone_is_known_and_more_people_than_rows() -> None:
    everyone = one_to_one_chances(find_candidates(cars([JOHN, MARY, BOB, BOB])))
    assert everyone.link_chances([2] * 4, range(4)).tolist() == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2])
    crowd = one_to_one_chances(find_candidates(cars([JOHN] * 5)))
    assert crowd.placed_people == 2 and crowd.link_chances(range(5), [0] * 5).tolist() == pytest.approx([1 / 5] * 5)
    ford = [None, "Indian", "Ford"]
    rivals = one_to_one_chances(
        find_candidates(cars([ford, ford, MARY]))
    )  # one of the first two is left out, Mary is 0 or 1
    assert rivals.placed_people == 2
    assert rivals.link_chances([0, 1, 2, 2, 2], [2, 2, 0, 1, 2]).tolist() == pytest.approx(
        [1 / 2, 1 / 2, 1 / 2, 1 / 2, 0]
    )


def test_posterior_by_hand() -> None:
    """Sex of three rows f, f, m; what is known is wrong in one case of ten. G(m) = 1/3: the likelihood ratio of the man
    is .1 + .9 · 3 = 2.8, of a woman .1; together 3."""
    found = link_people(pair([[0], [0], [1]], [[1]], {"sex": equal_values()}), errors=0.1)
    assert found.best.tolist() == [2] and found.posterior[0] == pytest.approx(2.8 / 3)
    assert found.score[0] == pytest.approx(log(3)) and found.second[0] == 0
    assert found.eccentricity[0] == pytest.approx(3 / 2**0.5)  # scores 0, 0, s: σ = s √2/3
    outside = link_people(pair([[0], [0], [1]], [[1]], {"sex": equal_values()}), errors=0.1, outside=0.5)
    assert outside.posterior[0] == pytest.approx(2.8 / 6) and outside.outside[0] == pytest.approx(1 / 2)
    assert (
        found.expected_links == pytest.approx(2.8 / 3)
        and found.people_with_one_candidate == 1
        and found.people_without_candidates == 0
    )


def test_scoreboard_rh_weighs_rare_attributes() -> None:
    """Film 0 was rated by all four, film 1 by two: weights 1/ln 4 and 1/ln 2."""
    rows = [[5, 5], [5, None], [1, 5], [4, None]]
    found = link_people(
        pair(rows, [[5, 5], [4, 5]], {"a": equal_values(), "b": equal_values()}, nulls="differ"), scoring="support"
    )
    assert found.best.tolist()[0] == 0
    assert found.score.tolist() == pytest.approx([1 / log(4) + 1 / log(2), 1 / log(2)])
    assert found.second.tolist() == pytest.approx([1 / log(2)] * 2)
    assert found.ties.tolist() == [1, 2] and found.eccentricity[1] == 0


def test_a_null_rules_nothing_out_or_everything() -> None:
    rows, people = [[1], [None], [2]], [[1]]
    assert find_candidates(pair(rows, people, {"a": equal_values()})).rows(0).tolist() == [0, 1]
    assert find_candidates(pair(rows, people, {"a": equal_values()}, nulls="differ")).rows(0).tolist() == [0]


def test_days_and_labels() -> None:
    born = [[date(1990, 1, 1)], [date(1990, 3, 1)], [None]]
    sides = [columns(side, ["born"], {"born": pa.date32()}) for side in (born, [[date(1990, 1, 20)]])]
    assert find_candidates(pair_files(*records_from_both(*sides, {"born": within_days(30)}))).rows(0).tolist() == [0, 2]
    text = {"age": pa.string(), "zip": pa.string()}
    rows = [["30-39", "476**"], ["*", "47677"], ["20-29", "*"], ["30-39", "479**"]]
    sides = [columns(side, list(text), text) for side in (rows, [["34", "47677"], ["22", "47900"], ["25", None]])]
    found = find_candidates(pair_files(*records_from_both(*sides), labels={"age": match_labels, "zip": match_labels}))
    assert [found.rows(i).tolist() for i in range(3)] == [[0, 1], [2], [1, 2]]


def test_numbers_and_text_meet() -> None:
    def sides(first: pa.Array, second: pa.Array) -> list[list[int]]:
        made = ({"a": encode_column(pa.chunked_array([side]))} for side in (first, second))
        found = find_candidates(pair_files(*records_from_both(*made)))
        return [found.rows(i).tolist() for i in range(len(second))]

    assert sides(pa.array([30, 40]), pa.array(["40", "x", None])) == [[1], [], [0, 1]]
    assert sides(pa.array([1.0, 2.5]), pa.array([1, 2], pa.int32())) == [[0], []]
    assert sides(pa.array([2.0]), pa.array(["2"])) == [[0]]
    assert sides(pa.array(["02139"]), pa.array([2139])) == [[]]
    assert sides(pa.nulls(2), pa.array(["2"])) == [[0, 1]]
    assert sides(pa.array([date(2000, 1, 1)]), pa.array([date(2000, 1, 1)]).cast(pa.timestamp("s"))) == [[0]]


# ---- duplicates, nothing, too much -----------------------------------------------------------------------------------


def test_duplicates_share_what_is_true_of_them() -> None:
    sides = pair([[1], [1], [2]], [[1], [1], [3]], {"a": equal_values()})
    assert sides.rows.n == 2 and sides.people.n == 2 and "3 known people (2 different)" in repr(sides)
    found = link_people(sides, errors=0.0)
    assert found.best.tolist() == [0, 0, -1] and found.ties.tolist() == [2, 2, 3]
    assert found.posterior.tolist() == pytest.approx([1 / 2, 1 / 2, 0]) and found.candidates.tolist() == [2, 2, 0]
    assert found.eccentricity.tolist() == [0, 0, 0] and found.people_without_candidates == 1
    together = one_to_one_chances(find_candidates(sides))
    assert (
        together.link_chances([0, 0, 1], [0, 1, 0]).tolist() == pytest.approx([1 / 2] * 3)
        and together.placed_people == 2
    )
    half = match_quality(found, [0, 1], [0, 1], [0, 1])
    assert (half.links, half.right_links, half.true_pairs) == (
        2,
        pytest.approx(1.0),
        2,
    ) and half.expected_precision == pytest.approx(0.5)
    links = assign_links(found, 0.5)
    assert links.total == 2 and links.link_chances([0, 1, 2], [0, 1, 2]).tolist() == pytest.approx([1 / 2, 1 / 2, 0])


def test_nobody_nothing_and_one() -> None:
    none = link_people(pair([[1], [2]], [], {"a": equal_values()}))
    assert none.n == 0 and none.expected_links == 0 and none.likely_matches().tolist() == []
    assert assign_links(none).total == 0 and one_to_one_chances(find_candidates(none.file_pair)).placed_people == 0
    assert match_quality(none, [], []).f1 == 1
    empty = pair([], [[1], [None]], {"a": equal_values()})
    found = link_people(empty)
    assert found.best.tolist() == [-1, -1] and found.outside.tolist() == [1, 1] and found.candidates.tolist() == [0, 0]
    assert (
        one_to_one_chances(find_candidates(empty)).likeliest_row.tolist() == [-1, -1] and assign_links(found).total == 0
    )
    one = link_people(pair([[1]], [[1]], {"a": equal_values()}))
    assert one.posterior.tolist() == [0] and one.best.tolist() == [-1]  # a value that every row has tells nothing
    assert isnan(one.second[0]) and one.eccentricity[0] == 0 and one.people_with_one_candidate == 1
    assert one_to_one_chances(find_candidates(one.file_pair)).best_chance.tolist() == [1]
    blank = link_people(pair_files(*records_from_both({}, {})))
    assert blank.n == 0


def test_nothing_is_known_of_anyone() -> None:
    sides = pair([[1], [2], [3]], [[None], [None]], {"a": equal_values()})
    found = link_people(sides)
    assert found.best.tolist() == [-1, -1] and found.candidates.tolist() == [3, 3]
    assert one_to_one_chances(find_candidates(sides)).link_chances([0, 1], [0, 2]).tolist() == pytest.approx(
        [1 / 3, 1 / 3]
    )


def test_budgets_are_told() -> None:
    sides = pair(
        [[k % 2, k] for k in range(20)], [[k % 2, None] for k in range(4)], {"a": equal_values(), "b": equal_values()}
    )
    with pytest.raises(UnveilError, match="20 pairs of a person and a row fit, more than 19"):
        find_candidates(sides, most=19)
    with pytest.raises(UnveilError, match="too many rows agree"):
        link_people(sides, work=5)


def test_a_part_that_is_too_large_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.linkage.link.one_to_one._MAX_PART_PAIRS", 2)
    found = one_to_one_chances(find_candidates(cars([JOHN, MARY, BOB])))
    assert found.method == "estimate" and found.estimated_people == 2
    assert found.best_chance[:2].tolist() == pytest.approx([1 / 2, 1 / 3])


def test_a_cancelled_run_stops() -> None:
    sides, run = pair([[1], [2]], [[1]], {"a": equal_values()}), Run()
    run.cancelled.set()
    for work in (find_candidates, link_people, estimate_error_rates):
        with pytest.raises(KeyboardInterrupt):
            work(sides, run=run)


def test_progress_is_told() -> None:
    told: list[str] = []
    sides = pair([[1], [2]], [[1]], {"a": equal_values()})
    link_people(sides, run=Run(progress=lambda doing, _: told.append(doing)))
    assert told == ["scoring rows", "finding candidates"]


def test_bad_input_is_refused() -> None:
    sims = {"a": equal_values()}
    sides = pair([[1], [2]], [[1]], sims)
    first, second = (columns([[1]], [name]) for name in "ab")
    with pytest.raises(UnveilError, match="the same columns; not in both: a and b"):
        records_from_both(first, second)
    with pytest.raises(UnveilError, match="see records_from_both"):
        pair_files(records_from_both(first, first)[0], records_from_both(second, second)[0])
    with pytest.raises(UnveilError, match="no attribute is called z"):
        pair([[1]], [[1]], sims, labels={"z": match_labels})
    for options, said in (
        ({"least": 0.0}, "above 0"),
        ({"errors": 1.0}, "error rate"),
        ({"errors": float("nan")}, "error rate"),
        ({"errors": {}}, "error rates are missing for a"),
        ({"outside": 1.0}, "outside the release"),
        ({"scoring": "guess"}, "rarity, support or likelihood"),
    ):
        with pytest.raises(UnveilError, match=said):
            link_people(sides, **options)
    for people, rows, said in (
        ([0], [0, 1], "pairs"),
        ([0.5], [0], "pairs"),
        ([1], [0], "person outside 0 … 0"),
        ([0], [2], "row outside 0 … 1"),
        ([0, 0], [1, 1], "twice"),
    ):
        with pytest.raises(UnveilError, match=said):
            match_quality(link_people(sides), people, rows)
    with pytest.raises(UnveilError, match="odds"):
        assign_links(link_people(sides), 0.0)


# ---- how good it is --------------------------------------------------------------------------------------------------


def simulated(n: int, rates: Sequence[float], outside: int = 0) -> tuple[FilePair, np.ndarray]:
    """People of a release whose values are wrong at some rates, and a few others."""
    rng = np.random.default_rng(6)
    sizes = [2, 12, 60, 600]
    rows = np.stack([rng.integers(0, s, n) for s in sizes], axis=1)
    true = rng.permutation(n)
    people = rows[true]
    wrong = rng.random(people.shape) < rates
    people = np.where(wrong, np.stack([rng.integers(0, s, n) for s in sizes], axis=1), people)
    others = np.stack([rng.integers(0, s, outside) for s in sizes], axis=1)
    names = dict.fromkeys("abcd", equal_values())
    return pair(rows.tolist(), np.concatenate([people, others]).tolist(), names), true


def test_error_rates_are_found_and_the_posterior_is_calibrated() -> None:
    """2,500 people, 2,000 of them in the release. If every link were known, the standard errors were at most .01; as
    they are not, three times that is allowed, and in the calibration four standard errors of each step. One seed."""
    rates = [0.05, 0.3, 0.1, 0.02]
    sides, true = simulated(2000, rates, outside=500)
    found = estimate_error_rates(sides)
    assert list(found.errors.values()) == pytest.approx(rates, abs=0.05)
    assert found.outside == pytest.approx(0.2, abs=0.03)
    found = link_people(sides, errors=found.errors, outside=found.outside, evidence=found.evidence)
    result = match_quality(found, range(2000), true)
    assert result.precision == pytest.approx(result.expected_precision, abs=0.04)
    step = np.where(found.best >= 0, np.minimum(10 * found.posterior, 9).astype(np.int64), 10)
    steps = [match_quality(found, range(2000), true, np.flatnonzero(step == k)) for k in range(10)]
    count, right = np.array([s.links for s in steps]), np.array([s.precision for s in steps])
    sure = np.nan_to_num([s.expected_precision for s in steps])
    assert count.sum() == 2500
    spread = 4 * np.sqrt(sure * (1 - sure) / np.maximum(count, 1)) + 0.03
    assert (np.abs(sure - right) < spread)[count > 20].all()
    together = assignment_quality(assign_links(found), range(2000), true)
    assert together.f1 > match_quality(found, range(2000), true, found.likely_matches(0.0)).f1
    assert "precision" in repr(together) and isnan(together.expected_precision)


def test_febrl_without_names(data: Path) -> None:
    """5,000 people and their records with errors, by address and birth alone."""
    files = []
    for name in ("4a", "4b"):
        with open(data / "records" / "febrl" / f"dataset{name}.csv", newline="") as file:
            rows = [[value.strip() or None for value in row] for row in csv.reader(file) if row]
        files.append((rows[0], rows[1:]))
    used = ["street_number", "address_1", "address_2", "suburb", "postcode", "state", "date_of_birth"]
    places = {str(row[0]).split("-")[1]: k for k, row in enumerate(files[0][1])}
    true = [places[str(row[0]).split("-")[1]] for row in files[1][1]]
    sides = [
        columns([[row[head.index(c)] for c in used] for row in rows], used, dict.fromkeys(used, pa.string()))
        for head, rows in files
    ]
    joined = pair_files(*records_from_both(*sides))
    rates = estimate_error_rates(joined)
    assert rates.outside_interval is not None and rates.outside_interval[0] == 0 and rates.outside < 0.005
    found = link_people(joined, errors=rates.errors, outside=rates.outside, evidence=rates.evidence)
    best = match_quality(found, range(len(true)), true)
    assert (
        best.precision > 0.999
        and best.recall > 0.995
        and best.expected_precision == pytest.approx(best.precision, abs=0.001)
    )
    together = assignment_quality(assign_links(found), range(len(true)), true)
    assert together.precision > 0.999 and together.recall > 0.998
    assert max(found.posterior) <= 1 + 1e-12 and max(found.eccentricity) < inf


@pytest.mark.parametrize(
    ("expected", "told"),
    [(3.5833, "about 3.58"), (4.0, "4"), (3.999, "about 4"), (0.04, "about 0.04"), (358.2, "about 358")],
)
def test_the_number_of_people_did_not_agree_with_the_percentage(expected: float, told: str) -> None:
    """3.58 of 6 people, 59.7%, read as about 4 of 6."""
    assert people_text(expected) == told
