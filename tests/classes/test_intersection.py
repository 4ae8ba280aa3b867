"""The intersection attack against Algorithm 3.1 as written; candidate classes against trying every class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unveil import Run, UnveilError
from unveil.classes import candidate_classes as fitting_module
from unveil.classes import intersection
from unveil.classes.candidate_classes import find_candidate_classes
from unveil.classes.intersection import (
    IntersectionStep,
    ReleaseView,
    intersect_releases,
    posterior_values,
)
from unveil.release.codes import Codes, encode_column
from unveil.release.generalised_labels import mask_matches, parse_interval
from unveil.release.hierarchy import Hierarchy
from unveil.release.label_matching import hierarchy_matcher, match_labels

# ---- slow and obvious ------------------------------------------------------------------------------------------------

Rows = list[tuple[int, int]]
"""The class and the sensitive value of every row."""
Placed = tuple[Rows, list[list[int]]]
"""A release: its rows, and the classes that fit each person."""


def naive_set(rows: Rows, classes: Sequence[int]) -> set[int]:
    """GetEquivalenceClass and SensitiveValueSet of Algorithm 3.1."""
    return {value for where, value in rows if where in classes and value >= 0}


def naive_sets(releases: list[Placed], person: int) -> list[set[int] | None]:
    """Sᵢ after every release; None while no release shows anything."""
    left: set[int] | None = None
    after = []
    for rows, fits in releases:
        found = naive_set(rows, fits[person])
        if found:
            left = found if left is None else left & found
        after.append(left)
    return after


def naive_step(releases: list[Placed], people: int, upto: int) -> IntersectionStep:
    sets = [naive_sets(releases[:upto], p)[-1] for p in range(people)]
    singles = [[len(s) for rows, fits in releases[:upto] if (s := naive_set(rows, fits[p]))] for p in range(people)]
    found = [(s, min(one)) for s, one in zip(sets, singles, strict=True) if s is not None]
    left = [Fraction(1, len(s)) for s, _ in found if s]
    return IntersectionStep(
        releases=upto,
        found=len(found),
        perfect_breaches=sum(len(s) == 1 for s, _ in found),
        combined_breaches=sum(len(s) == 1 < least for s, least in found),
        partial_breaches=sum(1 < len(s) < least for s, least in found),
        contradictions=sum(not s for s, _ in found),
        confidence=pytest.approx(float(sum(left) / len(left)) if left else 0.0),
    )


def naive_posterior(releases: list[Placed], person: int, prior: Sequence[float] | None) -> dict[int, float]:
    """π(v) · Π c(v)/π(v) over all values, made to sum to 1; without a prior, the geometric mean of the counts."""
    shown = [Counter(v for where, v in rows if where in fits[person] and v >= 0) for rows, fits in releases]
    shown = [counts for counts in shown if counts]
    if not shown:
        return {}
    every = range(max(max(counts) for counts in shown) + 1)
    if prior is None:
        weights = {v: math.prod(counts[v] for counts in shown) ** (1 / len(shown)) for v in every}
    else:
        weights = {v: prior[v] * math.prod(counts[v] / prior[v] for counts in shown) for v in every}
    total = sum(weights.values())
    return {v: w / total for v, w in weights.items() if w} if total else {}


def naive_fits(label: str | None, value: str | None) -> bool:
    """Whether one label fits one ungeneralised value."""
    if label is None or value is None or label == value or mask_matches(label, value):
        return True
    wide, number = parse_interval(label), parse_interval(value)
    if wide is None or number is None:
        return False
    inside = wide.low < number.low < wide.high
    return inside or (wide.low_closed and number.low == wide.low) or (wide.high_closed and number.low == wide.high)


# ---- random releases -------------------------------------------------------------------------------------------------


@st.composite
def released_tables(draw: st.DrawFn) -> tuple[list[Placed], int]:
    people = draw(st.integers(0, 8))
    values = draw(st.sampled_from([2, 5, 70, 200]))
    releases = []
    for _ in range(draw(st.integers(1, 4))):
        classes = draw(st.integers(1, 4))
        value = st.integers(-1, values - 1)
        rows = [(c, draw(value)) for c in range(classes)]
        rows += draw(st.lists(st.tuples(st.integers(0, classes - 1), value), max_size=20))
        fit = st.sets(st.integers(0, classes - 1)).map(sorted)
        releases.append((rows, draw(st.lists(fit, min_size=people, max_size=people))))
    return releases, people


def from_candidate_classes(
    row_class: Sequence[int], value: Sequence[int], indptr: Sequence[int], classes: Sequence[int]
) -> ReleaseView:
    """Person p may be in any of ``classes[indptr[p]:indptr[p + 1]]``."""
    person = np.arange(len(indptr) - 1)
    return ReleaseView(*(np.asarray(x, np.int64) for x in (row_class, value, person, indptr, classes)))


def possible_values(releases: Sequence[ReleaseView], person: int) -> np.ndarray | None:
    """The values that all releases leave possible for one person, ascending; None if no release shows any."""
    left = None
    for seen in releases:
        spot = seen.person_profile[person]
        fits = seen.classes[seen.indptr[spot] : seen.indptr[spot + 1]] if spot >= 0 else seen.classes[:0]
        values = np.unique(seen.value[np.isin(seen.row_class, fits) & (seen.value >= 0)])
        if len(values):
            left = values if left is None else np.intersect1d(left, values)
    return left


def view_release(release: Placed, rows: Sequence[int] | None = None) -> ReleaseView:
    table, fits = release
    table = table if rows is None else [table[i] for i in rows]
    indptr = np.append(0, np.cumsum([len(f) for f in fits])).astype(int)
    return from_candidate_classes([c for c, _ in table], [v for _, v in table], indptr, [c for f in fits for c in f])


@settings(max_examples=200, deadline=None)
@given(released_tables())
def test_agrees_with_the_algorithm_as_it_is_written(drawn: tuple[list[Placed], int]) -> None:
    releases, people = drawn
    views = [view_release(r) for r in releases]
    found = intersect_releases(views)
    for p in range(people):
        expected = naive_sets(releases, p)
        assert found.together[:, p].tolist() == [-1 if s is None else len(s) for s in expected]
        assert found.single_release_values[:, p].tolist() == [len(naive_set(rows, fits[p])) for rows, fits in releases]
        left = possible_values(views, p)
        assert (None if left is None else set(left.tolist())) == expected[-1]
    steps = [naive_step(releases, people, upto) for upto in range(1, len(releases) + 1)]
    assert found.steps == steps
    assert [
        int(x.sum())
        for x in (
            found.perfect_breaches[-1],
            found.combined_breaches[-1],
            found.partial_breaches[-1],
            found.contradictions[-1],
        )
    ] == [
        getattr(steps[-1], name)
        for name in ("perfect_breaches", "combined_breaches", "partial_breaches", "contradictions")
    ]


@settings(max_examples=150, deadline=None)
@given(released_tables(), st.sampled_from(["same", "others", "others with equal shares"]))
@example(([([(0, -1)], [])], 0), "others with equal shares")  # no value at all
def test_the_posterior_is_the_product(drawn: tuple[list[Placed], int], how: str) -> None:
    releases, people = drawn
    size = 1 + max(value for rows, _ in releases for _, value in rows)
    counts = Counter(value for rows, _ in releases for _, value in rows)
    prior = [1.0] * size if how == "others with equal shares" else [float(counts[v] or 1) for v in range(size)]
    views = [view_release(r) for r in releases]
    found = (
        posterior_values(views)
        if how == "same"
        else posterior_values(views, "others", None if how == "others" else prior)
    )
    for p, r in product(range(people), range(len(releases))):
        expected = naive_posterior(releases[: r + 1], p, None if how == "same" else prior)
        if naive_sets(releases[: r + 1], p)[-1]:
            assert found.chance[r, p] == pytest.approx(max(expected.values()))
            assert expected[int(found.value[r, p])] == pytest.approx(max(expected.values()))
        else:
            assert not expected
            assert (found.chance[r, p], found.value[r, p]) == (0, -1)


@settings(max_examples=60, deadline=None)
@given(released_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing_and_that_of_releases_not_the_end(
    drawn: tuple[list[Placed], int], random: object
) -> None:
    releases, _ = drawn
    views, shuffled = [view_release(r) for r in releases], []
    for release in releases:
        order = list(range(len(release[0])))
        random.shuffle(order)  # type: ignore[attr-defined]
        shuffled.append(view_release(release, order))
    first, second = intersect_releases(views), intersect_releases(shuffled)
    assert first.together.tolist() == second.together.tolist()
    assert first.single_release_values.tolist() == second.single_release_values.tolist()
    assert posterior_values(views).chance.tolist() == posterior_values(shuffled).chance.tolist()
    assert posterior_values(views).value.tolist() == posterior_values(shuffled).value.tolist()
    assert intersect_releases(views[::-1]).together[-1].tolist() == first.together[-1].tolist()


def test_the_posterior_with_other_companions_is_that_of_its_model() -> None:
    """All that can have happened, one by one: the person's value by the prior, two companions in the first release and
    one in the second, drawn by the prior as well; what is left are the cases that show the released values."""
    prior = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    for first, second in product(
        combinations_with_replacement(range(3), 3), combinations_with_replacement(range(3), 2)
    ):
        weight = dict.fromkeys(range(3), Fraction(0))
        for v, a, b, c in product(range(3), repeat=4):
            if (tuple(sorted((v, a, b))), tuple(sorted((v, c)))) == (first, second):
                weight[v] += prior[v] * prior[a] * prior[b] * prior[c]
        total = sum(weight.values())
        views = [
            ReleaseView.from_known_classes([0] * 3, first, [0]),
            ReleaseView.from_known_classes([0] * 2, second, [0]),
        ]
        found = posterior_values(views, "others", [float(p) for p in prior])
        if total:
            assert found.chance[1, 0] == pytest.approx(float(max(weight.values()) / total))
        else:
            assert found.value[1, 0] == -1


# ---- on paper --------------------------------------------------------------------------------------------------------


def column(values: Sequence[str | None]) -> Codes:
    return encode_column(pa.chunked_array([pa.array(values, pa.string())]))


def columns(rows: Sequence[Sequence[str | None]]) -> list[Codes]:
    return [column(c) for c in zip(*rows, strict=True)]


def number_values(*tables: Sequence[str]) -> list[list[int]]:
    """Give equal values the same number in all tables."""
    values = sorted({v for table in tables for v in table})
    return [[values.index(v) for v in table] for table in tables]


def class_diversity(labels: Sequence[tuple[str, ...]], values: Sequence[str]) -> tuple[int, int, float]:
    """k, ℓ by counting and ℓ by entropy, by comparing all rows."""
    classes = [[v for other, v in zip(labels, values, strict=True) if other == row] for row in labels]
    shares = [[n / len(c) for n in Counter(c).values()] for c in classes]
    entropy = min(math.exp(-sum(p * math.log(p) for p in s)) for s in shares)
    return min(map(len, classes)), min(len(set(c)) for c in classes), entropy


def test_alice_has_cancer() -> None:
    """Document 004, §3.4.1: {heart disease, cancer} ∩ {flu, cancer}."""
    a, b = number_values(["heart disease", "cancer"], ["flu", "cancer"])
    found = intersect_releases(
        [ReleaseView.from_known_classes([0, 0], a, [0]), ReleaseView.from_known_classes([0, 0], b, [0])]
    )
    assert found.steps == [IntersectionStep(1, 1, 0, 0, 0, 0, 0.5), IntersectionStep(2, 1, 1, 1, 0, 0, 1.0)]


def test_two_releases_that_are_safe_alone_break_each_other() -> None:
    """Nine patients of two hospitals, one of which published their ages, the other their zip codes. Both releases are
    3-anonymous and 3-diverse, by counting and by entropy; together they give everyone away."""
    people = [(age, code) for age in ("23", "31", "64") for code in ("47602", "47781", "47905")]
    ill = ["flu", "ulcer", "asthma", "cancer", "diabetes", "gout", "measles", "angina", "anaemia"]
    ages = {"23": "[20, 30)", "31": "30-39", "64": "≥ 60"}
    first = [(ages[age], "*") for age, _ in people]
    second = [("*", code[:3] + "**") for _, code in people]
    assert class_diversity(first, ill) == class_diversity(second, ill) == (3, 3, pytest.approx(3))
    (value,) = number_values(ill)
    views = [
        find_candidate_classes(columns(people), columns(released)).with_values(value) for released in (first, second)
    ]
    found = intersect_releases(views)
    assert found.single_release_values.tolist() == [[3] * 9] * 2
    assert found.together[1].tolist() == [1] * 9
    assert found.steps[1] == IntersectionStep(2, 9, 9, 9, 0, 0, 1.0)
    assert [possible_values(views, p).tolist() for p in range(9)] == [[v] for v in value]
    assert posterior_values(views).value[1].tolist() == value


def test_tables_3_1_and_3_2_taken_together() -> None:
    """Document 004: the 4-anonymous and the 3-diverse table, treated as releases of the same people."""
    heart, virus, cancer = "Heart Disease", "Viral Infection", "Cancer"
    first = [("130**", "< 30", "*"), ("1485*", "≥ 40", "*"), ("130**", "3*", "*")]
    second = [("1305*", "≤ 40", "*"), ("1485*", "> 40", "*"), ("1306*", "≤ 40", "*")]
    ill = (
        ["AIDS", heart, virus, virus, cancer, heart, virus, virus, *[cancer] * 4],
        [heart, virus, cancer, cancer, cancer, heart, virus, virus, heart, virus, cancer, cancer],
    )
    labels = [[row for row in table for _ in range(4)] for table in (first, second)]
    assert class_diversity(labels[0], ill[0])[:2] == (4, 1)
    assert class_diversity(labels[1], ill[1]) == (4, 3, pytest.approx(2**1.5))
    people = columns([("13053", "28", "Russian"), ("14853", "50", "Indian"), ("13068", "35", "Japanese")])
    codes = number_values(*ill)
    views = [
        find_candidate_classes(people, columns(rows)).with_values(value)
        for rows, value in zip(labels, codes, strict=True)
    ]
    found = intersect_releases(views)
    assert found.together.tolist() == [[3, 3, 1], [2, 3, 1]]
    assert found.steps[1] == IntersectionStep(2, 3, 1, 0, 1, 0, pytest.approx((1 / 2 + 1 / 3 + 1) / 3))


def test_one_release_only_brings_no_gain() -> None:
    steps = intersect_releases([ReleaseView.from_known_classes([0, 0, 1], [0, 1, 2], [0, 1, -1])]).steps
    assert steps == [IntersectionStep(1, 2, 1, 0, 0, 0, 0.75)]


def test_the_same_release_again_brings_no_gain() -> None:
    view = ReleaseView.from_known_classes([0, 0, 1, 1, 1], [0, 1, 2, 0, 1], [0, 1])
    steps = intersect_releases([view, view, view]).steps
    assert posterior_values([view, view, view]).chance.tolist() == [pytest.approx([1 / 2, 1 / 3])] * 3
    assert [(s.perfect_breaches, s.partial_breaches, s.confidence) for s in steps] == [
        (0, 0, pytest.approx(5 / 12))
    ] * 3


def test_an_empty_intersection_is_no_breach_and_stays_empty() -> None:
    views = [ReleaseView.from_known_classes([0], [v], [0]) for v in (0, 1, 0)]
    found = intersect_releases(views)
    assert found.together.tolist() == [[1], [0], [0]]
    assert found.steps[1:] == [IntersectionStep(2, 1, 0, 0, 0, 1, 0.0), IntersectionStep(3, 1, 0, 0, 0, 1, 0.0)]
    assert possible_values(views, 0).tolist() == []
    assert posterior_values(views).value.tolist() == [[0], [-1], [-1]]


def test_who_is_nowhere_and_classes_without_values_are_passed_over() -> None:
    views = [
        ReleaseView.from_known_classes([0, 0], [-1, -1], [0, -1]),
        ReleaseView.from_known_classes([0, 0], [0, 1], [0, -1]),
        ReleaseView.from_known_classes([], [], [-1, -1]),
    ]
    assert intersect_releases(views).together.tolist() == [[-1, -1], [2, -1], [2, -1]]
    assert intersect_releases(views).single_release_values.tolist() == [[0, 0], [2, 0], [0, 0]]
    assert possible_values(views, 1) is None
    assert [s.found for s in intersect_releases(views).steps] == [0, 1, 1]


def test_nobody_and_nothing() -> None:
    assert intersect_releases([ReleaseView.from_known_classes([], [], [])]).steps == [
        IntersectionStep(1, 0, 0, 0, 0, 0, 0.0)
    ]
    assert posterior_values([ReleaseView.from_known_classes([], [], [])]).chance.shape == (1, 0)


def test_many_values_and_several_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is different for everyone, more than fit in one word by far, and sets of many words."""
    monkeypatch.setattr(intersection, "_STEPS_PER_SLICE", 500)
    rng = np.random.default_rng(5)
    value = rng.permutation(5000)
    where = [rng.integers(0, n, 5000) for n in (3, 60, 70)]
    where = [np.unique(w, return_inverse=True)[1] for w in where]
    views = [ReleaseView.from_known_classes(w, value, w) for w in where]
    found = intersect_releases(views)
    for p in range(0, 5000, 250):
        sets = [set(value[w == w[p]].tolist()) for w in where]
        assert found.single_release_values[:, p].tolist() == [len(s) for s in sets]
        assert found.together[:, p].tolist() == [len(sets[0]), len(sets[0] & sets[1]), len(set.intersection(*sets))]
    both = np.sort(np.stack([where[1], (where[1] + 1) % 60]), axis=0).T
    wide = from_candidate_classes(where[1], value, np.arange(0, 10001, 2), both.ravel())
    assert intersect_releases([wide, views[2]]).together[1, 7] == len(
        set(value[np.isin(where[1], both[7])].tolist()) & set(value[where[2] == where[2][7]].tolist())
    )


def test_a_run_can_be_stopped() -> None:
    run = Run()
    run.cancelled.set()
    view = ReleaseView.from_known_classes([0], [0], [0])
    for work in (intersect_releases, posterior_values):
        with pytest.raises(KeyboardInterrupt):
            work([view], run=run)
    with pytest.raises(KeyboardInterrupt):
        find_candidate_classes([column(["a"])], [column(["a"])], run=run)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (lambda: ReleaseView.from_known_classes([0, 0], [0], [0]), "2 rows have a class but 1 have a value"),
        (lambda: ReleaseView.from_known_classes([-1], [0], [0]), "numbered from 0"),
        (lambda: ReleaseView.from_known_classes([0], [-2], [0]), "missing"),
        (lambda: ReleaseView.from_known_classes([0.5], [0], [0]), "whole numbers"),
        (lambda: ReleaseView.from_known_classes([0], [0], [1]), "use −1 for"),
        (lambda: ReleaseView.from_known_classes([[0]], [[0]], [0]), "one class and one value per row"),
        (lambda: from_candidate_classes([0], [0], [0, 1], [1]), "a class without rows"),
        (lambda: from_candidate_classes([0, 1], [0, 0], [0, 2], [1, 0]), "ascend"),
        (lambda: from_candidate_classes([0, 1], [0, 0], [0, 2], [1, 1]), "without repeats"),
        (lambda: from_candidate_classes([0], [0], [0, 2], [0]), "indptr"),
        (lambda: intersect_releases([]), "at least one release"),
        (
            lambda: intersect_releases(
                [ReleaseView.from_known_classes([0], [0], [0]), ReleaseView.from_known_classes([0], [0], [0, 0])]
            ),
            "the same people",
        ),
        (
            lambda: posterior_values([ReleaseView.from_known_classes([0], [3], [0])], "others", [1, 1]),
            "each of the 4 values",
        ),
        (lambda: posterior_values([ReleaseView.from_known_classes([0], [1], [0])], "others", [1, 0]), "positive"),
        (lambda: posterior_values([ReleaseView.from_known_classes([0], [0], [0])], "others", [math.nan]), "0 or more"),
        (lambda: find_candidate_classes([], []), "at least one"),
        (lambda: find_candidate_classes(columns([("a", "b")]), [column(["a"])]), "same quasi-identifiers"),
        (lambda: find_candidate_classes([column(["a"]), column([])], columns([("a", "b")])), "one value per person"),
        (
            lambda: find_candidate_classes([column(["a"])], [column(["a"])], [match_labels, match_labels]),
            "one interpretation",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(given: object, word: str) -> None:
    with pytest.raises(UnveilError, match=word):
        given()  # type: ignore[operator]


# ---- where a person may be -------------------------------------------------------------------------------------------

LABEL = st.sampled_from(
    ["21", "35", "21.0", "021", "*", "2*", "**", "[20, 30)", "(21, 35]", "20-29", "≥ 35", "> 35", "<35", "Spain", None]
)
VALUE = st.sampled_from(["21", "35", "60", "2", "Spain", "Sp", "29.5", None])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[str | None, ...]], list[tuple[str | None, ...]]]:
    width = draw(st.integers(1, 3))
    people = draw(st.lists(st.tuples(*[VALUE] * width), min_size=1, max_size=12))
    return people, draw(st.lists(st.tuples(*[LABEL] * width), min_size=1, max_size=25))


@settings(max_examples=200, deadline=None)
@given(tables())
def test_fits_where_every_label_fits(drawn: tuple[list[tuple[str | None, ...]], list[tuple[str | None, ...]]]) -> None:
    people, rows = drawn
    found = find_candidate_classes(columns(people), columns(rows))
    for i, j in product(range(len(rows)), repeat=2):
        assert (found.row_class[i] == found.row_class[j]) == (rows[i] == rows[j])
    for p, person in enumerate(people):
        q = found.person_profile[p]
        classes = found.classes[found.indptr[q] : found.indptr[q + 1]].tolist()
        fits = [i for i, row in enumerate(rows) if all(map(_fits, row, person))]
        assert classes == sorted({int(found.row_class[i]) for i in fits})
    for c, strange in enumerate(found.unmatched_labels):
        labels = {row[c] for row in rows} - {None}
        known = {person[c] for person in people} - {None}
        assert strange == sum(not any(_fits(x, v) for v in known) for x in labels)


def _fits(label: str | None, value: str | None) -> bool:
    if {label, value} == {"21", "021"}:
        return False  # a code is no number
    return naive_fits(label, value)


def test_classes_that_overlap_are_all_possible() -> None:
    """Ages 25 and 33; the rows of the two classes that fit 25 show two values, and one of them is out for 33."""
    rows = columns([("20-29",), ("20-29",), ("[25, 35)",), ("30-39",)])
    found = find_candidate_classes([column(["25", "33"])], rows)
    assert np.diff(found.indptr)[found.person_profile].tolist() == [2, 2]
    view = found.with_values([0, 0, 1, 2])
    assert intersect_releases([view]).together.tolist() == [[2, 2]]
    assert [possible_values([view], p).tolist() for p in (0, 1)] == [[0, 1], [1, 2]]
    assert posterior_values([view]).chance.tolist() == [[2 / 3, 0.5]]


@pytest.mark.parametrize(
    ("value", "label", "fits"),
    [
        ("29", "[20, 30)", True),
        ("30", "[20, 30)", False),
        ("30", "[20, 30]", True),
        ("02135", "[02130, 02139]", True),
        ("02139", "2139", False),
        ("30", "30.0", True),
        ("20–29", "[25, 35)", True),  # all that the attacker knows is a range
        ("20–29", "30–39", False),
        ("[20, 30)", "[30, 40)", False),
        ("1305*", "130**", True),
        ("130**", "1305*", True),
        ("130**", "1485*", False),
        ("*", "1485*", True),
        ("Spain", " Spain ", True),
        ("Spain", "Europe", False),
        ("2", "2*", True),
        ("2019-05-07", "2019 Q2", True),
        ("2019-05-07", "2019 Q3", False),
        ("2019-05", "2019 Q2", True),
        ("2019 Q2", "2019", True),
        ("2019-05-07", "2010s", True),
        ("2010s", "2019 Q2", True),
        ("2020", "2010s", False),
        ("2019", "2019 Q2", True),
    ],
)
def test_what_is_written(value: str, label: str, fits: bool) -> None:
    assert (len(match_labels([value], [label])[0]) == 1) == fits


def test_labels_of_a_hierarchy_and_labels_that_are_just_written() -> None:
    places = Hierarchy.from_rows([["Spain", "Europe", "*"], ["Italy", "Europe", "*"], ["Peru", "America", "*"]])
    known, labels = ["Spain", "Peru", "Mars", "Europe"], ["Europe", "Peru", "*", "S****", "Mars", "Asia"]
    pairs = sorted(zip(*(a.tolist() for a in hierarchy_matcher(places)(known, labels)), strict=True))
    assert pairs == [(0, 0), (0, 2), (0, 3), (1, 1), (1, 2), (2, 2), (2, 4), (3, 0), (3, 2)]
    people, rows = columns([("Spain", "25")]), columns([("Europe", "20-29"), ("America", "20-29"), ("*", "≥ 30")])
    assert find_candidate_classes(people, rows).classes.tolist() == []
    found = find_candidate_classes(people, rows, [hierarchy_matcher(places), match_labels])
    assert found.classes.tolist() == [found.row_class[0]]
    assert found.unmatched_labels == (1, 1)


def test_columns_that_are_no_text() -> None:
    ages = encode_column(pa.chunked_array([pa.array([25, 61])]))
    found = find_candidate_classes([ages], [encode_column(pa.chunked_array([pa.array([25.0, 61.0, 7.0])]))])
    assert found.classes[found.indptr[found.person_profile]].tolist() == found.row_class[:2].tolist()


def test_everyone_fits_one_box_of_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns differ in width, so they are searched in another order than given; in several slices."""
    monkeypatch.setattr(fitting_module, "_PROFILES_PER_SLICE", 100)
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 100, (2000, 3))
    known = [column([str(n) for n in c]) for c in numbers.T]
    labels = [[f"[{n - n % w}, {n - n % w + w})" for n in c] for c, w in zip(numbers.T, (5, 50, 10), strict=True)]
    found = find_candidate_classes(known, [column(c) for c in labels])
    assert np.diff(found.indptr).tolist() == [1] * (len(found.indptr) - 1)
    assert found.classes[found.indptr[found.person_profile]].tolist() == found.row_class.tolist()
