"""The intersection attack against Algorithm 3.1 as it is written; classes that fit a person against trying all."""

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
from unveil.classes import fitting as fitting_module
from unveil.classes import intersection
from unveil.classes.fitting import fitting
from unveil.classes.intersection import Seen, Step, intersect, possible, posterior
from unveil.release.codes import Codes, encode
from unveil.release.hierarchy import Hierarchy
from unveil.release.labels import interval_of, mask_matches
from unveil.release.meaning import meaning, meaning_in

# ---- slow and obvious ------------------------------------------------------------------------------------------------

Rows = list[tuple[int, int]]
"""The class and the sensitive value of every row."""
Placed = tuple[Rows, list[list[int]]]
"""A release: its rows, and the classes that fit each person."""


def naive_set(rows: Rows, classes: Sequence[int]) -> set[int]:
    """GetEquivalenceClass and SensitiveValueSet of Algorithm 3.1."""
    return {value for where, value in rows if where in classes and value >= 0}


def naive_sets(releases: list[Placed], person: int) -> list[set[int] | None]:
    """Sᵢ after every release; None while none of them says anything."""
    left: set[int] | None = None
    after = []
    for rows, fits in releases:
        found = naive_set(rows, fits[person])
        if found:
            left = found if left is None else left & found
        after.append(left)
    return after


def naive_step(releases: list[Placed], people: int, upto: int) -> Step:
    sets = [naive_sets(releases[:upto], p)[-1] for p in range(people)]
    singles = [[len(s) for rows, fits in releases[:upto] if (s := naive_set(rows, fits[p]))] for p in range(people)]
    found = [(s, min(one)) for s, one in zip(sets, singles, strict=True) if s is not None]
    left = [Fraction(1, len(s)) for s, _ in found if s]
    return Step(
        releases=upto,
        found=len(found),
        perfect=sum(len(s) == 1 for s, _ in found),
        combined=sum(len(s) == 1 < least for s, least in found),
        partial=sum(1 < len(s) < least for s, least in found),
        failed=sum(not s for s, _ in found),
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
    """Whether one label fits one value that is no label itself."""
    if label is None or value is None or label == value or mask_matches(label, value):
        return True
    wide, number = interval_of(label), interval_of(value)
    return bool(wide and number and wide.holds(number.low))


# ---- random releases -------------------------------------------------------------------------------------------------


@st.composite
def placed(draw: st.DrawFn) -> tuple[list[Placed], int]:
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


def seen(release: Placed, rows: Sequence[int] | None = None) -> Seen:
    table, fits = release
    table = table if rows is None else [table[i] for i in rows]
    indptr = np.append(0, np.cumsum([len(f) for f in fits])).astype(int)
    return Seen.among([c for c, _ in table], [v for _, v in table], indptr, [c for f in fits for c in f])


@settings(max_examples=200, deadline=None)
@given(placed())
def test_agrees_with_the_algorithm_as_it_is_written(drawn: tuple[list[Placed], int]) -> None:
    releases, people = drawn
    views = [seen(r) for r in releases]
    found = intersect(views)
    for p in range(people):
        expected = naive_sets(releases, p)
        assert found.together[:, p].tolist() == [-1 if s is None else len(s) for s in expected]
        assert found.alone[:, p].tolist() == [len(naive_set(rows, fits[p])) for rows, fits in releases]
        left = possible(views, p)
        assert (None if left is None else set(left.tolist())) == expected[-1]
    steps = [naive_step(releases, people, upto) for upto in range(1, len(releases) + 1)]
    assert found.steps == steps
    assert [int(x.sum()) for x in (found.perfect[-1], found.combined[-1], found.partial[-1], found.failed[-1])] == [
        getattr(steps[-1], name) for name in ("perfect", "combined", "partial", "failed")
    ]
    assert found.confidence.tolist() == [[1 / s if s > 0 else 0 for s in row] for row in found.together.tolist()]


@settings(max_examples=150, deadline=None)
@given(placed(), st.sampled_from(["same", "others", "others with equal shares"]))
@example(([([(0, -1)], [])], 0), "others with equal shares")  # no value at all
def test_the_posterior_is_the_product(drawn: tuple[list[Placed], int], how: str) -> None:
    releases, people = drawn
    size = 1 + max(value for rows, _ in releases for _, value in rows)
    counts = Counter(value for rows, _ in releases for _, value in rows)
    prior = [1.0] * size if how == "others with equal shares" else [float(counts[v] or 1) for v in range(size)]
    views = [seen(r) for r in releases]
    found = posterior(views) if how == "same" else posterior(views, "others", None if how == "others" else prior)
    for p, r in product(range(people), range(len(releases))):
        expected = naive_posterior(releases[: r + 1], p, None if how == "same" else prior)
        if naive_sets(releases[: r + 1], p)[-1]:
            assert found.chance[r, p] == pytest.approx(max(expected.values()))
            assert expected[int(found.value[r, p])] == pytest.approx(max(expected.values()))
        else:
            assert not expected
            assert (found.chance[r, p], found.value[r, p]) == (0, -1)


@settings(max_examples=60, deadline=None)
@given(placed(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing_and_that_of_releases_not_the_end(
    drawn: tuple[list[Placed], int], random: object
) -> None:
    releases, _ = drawn
    views, shuffled = [seen(r) for r in releases], []
    for release in releases:
        order = list(range(len(release[0])))
        random.shuffle(order)  # type: ignore[attr-defined]
        shuffled.append(seen(release, order))
    first, second = intersect(views), intersect(shuffled)
    assert first.together.tolist() == second.together.tolist()
    assert first.alone.tolist() == second.alone.tolist()
    assert posterior(views).chance.tolist() == posterior(shuffled).chance.tolist()
    assert posterior(views).value.tolist() == posterior(shuffled).value.tolist()
    assert intersect(views[::-1]).together[-1].tolist() == first.together[-1].tolist()


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
        views = [Seen.at([0] * 3, first, [0]), Seen.at([0] * 2, second, [0])]
        found = posterior(views, "others", [float(p) for p in prior])
        if total:
            assert found.chance[1, 0] == pytest.approx(float(max(weight.values()) / total))
        else:
            assert found.value[1, 0] == -1


# ---- on paper --------------------------------------------------------------------------------------------------------


def column(values: Sequence[str | None]) -> Codes:
    return encode(pa.chunked_array([pa.array(values, pa.string())]))


def columns(rows: Sequence[Sequence[str | None]]) -> list[Codes]:
    return [column(c) for c in zip(*rows, strict=True)]


def numbered(*tables: Sequence[str]) -> list[list[int]]:
    """The same value has the same number in all tables."""
    values = sorted({v for table in tables for v in table})
    return [[values.index(v) for v in table] for table in tables]


def diversity(labels: Sequence[tuple[str, ...]], values: Sequence[str]) -> tuple[int, int, float]:
    """k, ℓ by counting and ℓ by entropy, by comparing all rows."""
    classes = [[v for other, v in zip(labels, values, strict=True) if other == row] for row in labels]
    shares = [[n / len(c) for n in Counter(c).values()] for c in classes]
    entropy = min(math.exp(-sum(p * math.log(p) for p in s)) for s in shares)
    return min(map(len, classes)), min(len(set(c)) for c in classes), entropy


def test_alice_has_cancer() -> None:
    """Document 004, §3.4.1: {heart disease, cancer} ∩ {flu, cancer}."""
    a, b = numbered(["heart disease", "cancer"], ["flu", "cancer"])
    found = intersect([Seen.at([0, 0], a, [0]), Seen.at([0, 0], b, [0])])
    assert found.steps == [Step(1, 1, 0, 0, 0, 0, 0.5), Step(2, 1, 1, 1, 0, 0, 1.0)]


def test_two_releases_that_are_safe_alone_break_each_other() -> None:
    """Nine patients of two hospitals, one of which published their ages, the other their zip codes. Both releases are
    3-anonymous and 3-diverse, by counting and by entropy; together they give everyone away."""
    people = [(age, code) for age in ("23", "31", "64") for code in ("47602", "47781", "47905")]
    ill = ["flu", "ulcer", "asthma", "cancer", "diabetes", "gout", "measles", "angina", "anaemia"]
    ages = {"23": "[20, 30)", "31": "30-39", "64": "≥ 60"}
    first = [(ages[age], "*") for age, _ in people]
    second = [("*", code[:3] + "**") for _, code in people]
    assert diversity(first, ill) == diversity(second, ill) == (3, 3, pytest.approx(3))
    (value,) = numbered(ill)
    views = [fitting(columns(people), columns(released)).seen(value) for released in (first, second)]
    found = intersect(views)
    assert found.alone.tolist() == [[3] * 9] * 2
    assert found.together[1].tolist() == [1] * 9
    assert found.steps[1] == Step(2, 9, 9, 9, 0, 0, 1.0)
    assert [possible(views, p).tolist() for p in range(9)] == [[v] for v in value]
    assert posterior(views).value[1].tolist() == value


def test_tables_3_1_and_3_2_taken_together() -> None:
    """Document 004: the 4-anonymous and the 3-diverse table, as if they were of the same people."""
    heart, virus, cancer = "Heart Disease", "Viral Infection", "Cancer"
    first = [("130**", "< 30", "*"), ("1485*", "≥ 40", "*"), ("130**", "3*", "*")]
    second = [("1305*", "≤ 40", "*"), ("1485*", "> 40", "*"), ("1306*", "≤ 40", "*")]
    ill = (
        ["AIDS", heart, virus, virus, cancer, heart, virus, virus, *[cancer] * 4],
        [heart, virus, cancer, cancer, cancer, heart, virus, virus, heart, virus, cancer, cancer],
    )
    labels = [[row for row in table for _ in range(4)] for table in (first, second)]
    assert diversity(labels[0], ill[0])[:2] == (4, 1)
    assert diversity(labels[1], ill[1]) == (4, 3, pytest.approx(2**1.5))
    people = columns([("13053", "28", "Russian"), ("14853", "50", "Indian"), ("13068", "35", "Japanese")])
    codes = numbered(*ill)
    views = [fitting(people, columns(rows)).seen(value) for rows, value in zip(labels, codes, strict=True)]
    found = intersect(views)
    assert found.together.tolist() == [[3, 3, 1], [2, 3, 1]]
    assert found.steps[1] == Step(2, 3, 1, 0, 1, 0, pytest.approx((1 / 2 + 1 / 3 + 1) / 3))


def test_one_release_only_brings_no_gain() -> None:
    steps = intersect([Seen.at([0, 0, 1], [0, 1, 2], [0, 1, -1])]).steps
    assert steps == [Step(1, 2, 1, 0, 0, 0, 0.75)]


def test_the_same_release_again_brings_no_gain() -> None:
    view = Seen.at([0, 0, 1, 1, 1], [0, 1, 2, 0, 1], [0, 1])
    steps = intersect([view, view, view]).steps
    assert posterior([view, view, view]).chance.tolist() == [pytest.approx([1 / 2, 1 / 3])] * 3
    assert [(s.perfect, s.partial, s.confidence) for s in steps] == [(0, 0, pytest.approx(5 / 12))] * 3


def test_an_empty_intersection_is_no_breach_and_stays_empty() -> None:
    views = [Seen.at([0], [v], [0]) for v in (0, 1, 0)]
    found = intersect(views)
    assert found.together.tolist() == [[1], [0], [0]]
    assert found.steps[1:] == [Step(2, 1, 0, 0, 0, 1, 0.0), Step(3, 1, 0, 0, 0, 1, 0.0)]
    assert possible(views, 0).tolist() == []
    assert posterior(views).value.tolist() == [[0], [-1], [-1]]


def test_who_is_nowhere_and_classes_without_values_are_passed_over() -> None:
    views = [Seen.at([0, 0], [-1, -1], [0, -1]), Seen.at([0, 0], [0, 1], [0, -1]), Seen.at([], [], [-1, -1])]
    assert intersect(views).together.tolist() == [[-1, -1], [2, -1], [2, -1]]
    assert intersect(views).alone.tolist() == [[0, 0], [2, 0], [0, 0]]
    assert possible(views, 1) is None
    assert [s.found for s in intersect(views).steps] == [0, 1, 1]


def test_nobody_and_nothing() -> None:
    assert intersect([Seen.at([], [], [])]).steps == [Step(1, 0, 0, 0, 0, 0, 0.0)]
    assert posterior([Seen.at([], [], [])]).chance.shape == (1, 0)


def test_many_values_and_several_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is different for everyone, more than fit in one word by far, and sets of many words."""
    monkeypatch.setattr(intersection, "_STEPS", 500)
    rng = np.random.default_rng(5)
    value = rng.permutation(5000)
    where = [rng.integers(0, n, 5000) for n in (3, 60, 70)]
    where = [np.unique(w, return_inverse=True)[1] for w in where]
    views = [Seen.at(w, value, w) for w in where]
    found = intersect(views)
    for p in range(0, 5000, 250):
        sets = [set(value[w == w[p]].tolist()) for w in where]
        assert found.alone[:, p].tolist() == [len(s) for s in sets]
        assert found.together[:, p].tolist() == [len(sets[0]), len(sets[0] & sets[1]), len(set.intersection(*sets))]
    both = np.sort(np.stack([where[1], (where[1] + 1) % 60]), axis=0).T
    wide = Seen.among(where[1], value, np.arange(0, 10001, 2), both.ravel())
    assert intersect([wide, views[2]]).together[1, 7] == len(
        set(value[np.isin(where[1], both[7])].tolist()) & set(value[where[2] == where[2][7]].tolist())
    )


def test_a_run_can_be_stopped() -> None:
    run = Run()
    run.cancelled.set()
    view = Seen.at([0], [0], [0])
    for work in (intersect, posterior):
        with pytest.raises(KeyboardInterrupt):
            work([view], run=run)
    with pytest.raises(KeyboardInterrupt):
        fitting([column(["a"])], [column(["a"])], run=run)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (lambda: Seen.at([0, 0], [0], [0]), "2 rows have a class and 1 a value"),
        (lambda: Seen.at([-1], [0], [0]), "numbered from 0"),
        (lambda: Seen.at([0], [-2], [0]), "missing"),
        (lambda: Seen.at([0.5], [0], [0]), "whole numbers"),
        (lambda: Seen.at([0], [0], [1]), "−1 is for"),
        (lambda: Seen.at([[0]], [[0]], [0]), "one class and one value per row"),
        (lambda: Seen.among([0], [0], [0, 1], [1]), "a class that no row has"),
        (lambda: Seen.among([0, 1], [0, 0], [0, 2], [1, 0]), "rise"),
        (lambda: Seen.among([0, 1], [0, 0], [0, 2], [1, 1]), "each named once"),
        (lambda: Seen.among([0], [0], [0, 2], [0]), "indptr"),
        (lambda: intersect([]), "at least one release"),
        (lambda: intersect([Seen.at([0], [0], [0]), Seen.at([0], [0], [0, 0])]), "the same people"),
        (lambda: posterior([Seen.at([0], [3], [0])], "others", [1, 1]), "each of the 4 values"),
        (lambda: posterior([Seen.at([0], [1], [0])], "others", [1, 0]), "positive"),
        (lambda: posterior([Seen.at([0], [0], [0])], "others", [math.nan]), "0 or more"),
        (lambda: fitting([], []), "at least one"),
        (lambda: fitting(columns([("a", "b")]), [column(["a"])]), "same quasi-identifiers"),
        (lambda: fitting([column(["a"]), column([])], columns([("a", "b")])), "for each person"),
        (lambda: fitting([column(["a"])], [column(["a"])], [meaning, meaning]), "as many interpretations"),
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
    found = fitting(columns(people), columns(rows))
    for i, j in product(range(len(rows)), repeat=2):
        assert (found.row_class[i] == found.row_class[j]) == (rows[i] == rows[j])
    for p, person in enumerate(people):
        q = found.spot[p]
        classes = found.classes[found.indptr[q] : found.indptr[q + 1]].tolist()
        fits = [i for i, row in enumerate(rows) if all(map(_fits, row, person))]
        assert classes == sorted({int(found.row_class[i]) for i in fits})
    for c, strange in enumerate(found.strange):
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
    found = fitting([column(["25", "33"])], rows)
    assert np.diff(found.indptr)[found.spot].tolist() == [2, 2]
    view = found.seen([0, 0, 1, 2])
    assert intersect([view]).together.tolist() == [[2, 2]]
    assert [possible([view], p).tolist() for p in (0, 1)] == [[0, 1], [1, 2]]
    assert posterior([view]).chance.tolist() == [[2 / 3, 0.5]]


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
    ],
)
def test_what_is_written(value: str, label: str, fits: bool) -> None:
    assert (len(meaning([value], [label])[0]) == 1) == fits


def test_labels_of_a_hierarchy_and_labels_that_are_just_written() -> None:
    places = Hierarchy.of_rows([["Spain", "Europe", "*"], ["Italy", "Europe", "*"], ["Peru", "America", "*"]])
    known, labels = ["Spain", "Peru", "Mars", "Europe"], ["Europe", "Peru", "*", "S****", "Mars", "Asia"]
    pairs = sorted(zip(*(a.tolist() for a in meaning_in(places)(known, labels)), strict=True))
    assert pairs == [(0, 0), (0, 2), (0, 3), (1, 1), (1, 2), (2, 2), (2, 4), (3, 0), (3, 2)]
    people, rows = columns([("Spain", "25")]), columns([("Europe", "20-29"), ("America", "20-29"), ("*", "≥ 30")])
    assert fitting(people, rows).classes.tolist() == []
    found = fitting(people, rows, [meaning_in(places), meaning])
    assert found.classes.tolist() == [found.row_class[0]]
    assert found.strange == (1, 1)


def test_columns_that_are_no_text() -> None:
    ages = encode(pa.chunked_array([pa.array([25, 61])]))
    found = fitting([ages], [encode(pa.chunked_array([pa.array([25.0, 61.0, 7.0])]))])
    assert found.classes[found.indptr[found.spot]].tolist() == found.row_class[:2].tolist()


def test_everyone_fits_one_box_of_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Widths differ, so that columns are not gone through in the order in which they are given; in several portions."""
    monkeypatch.setattr(fitting_module, "_PROFILES", 100)
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 100, (2000, 3))
    known = [column([str(n) for n in c]) for c in numbers.T]
    labels = [[f"[{n - n % w}, {n - n % w + w})" for n in c] for c, w in zip(numbers.T, (5, 50, 10), strict=True)]
    found = fitting(known, [column(c) for c in labels])
    assert np.diff(found.indptr).tolist() == [1] * (len(found.indptr) - 1)
    assert found.classes[found.indptr[found.spot]].tolist() == found.row_class.tolist()
