"""The question ``linkage`` as an owner meets it: what is asked, what it says, and when it is not asked."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest

import unveil
from unveil import Policy, UnveilError
from unveil.finding import Curve
from unveil.wording import percent_text

COLUMNS = ("a", "b", "c", "d")


def written(path: Path, rows: list[tuple[object, ...]], header: str = "a,b,c,d,s") -> unveil.Table:
    path.write_text(header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    table = unveil.read(path)
    assert isinstance(table, unveil.Table)
    return table


def some_rows(n: int, seed: int) -> list[tuple[object, ...]]:
    rng = random.Random(seed)
    return [(*(rng.choice(["1", "2", "3", "?"]) for _ in range(4)), rng.choice("xy")) for _ in range(n)]


def exact_success(rows: list[tuple[object, ...]], m: int) -> tuple[float, float, float, float]:
    """Over all sets of m values of all rows, or all of those with fewer: how often Â names a row that is equal in all
    columns, the row itself, how often it is the only one that fits, and how many rows ever are."""
    values = [{i: v for i, v in enumerate(row[:4]) if v != "?"} for row in rows]
    equal, found, alone, ever, sets = 0.0, 0.0, 0.0, 0.0, 0.0
    for place, row in enumerate(values):
        if not row:
            continue
        own = list(combinations(sorted(row), min(m, len(row))))
        sets += 1
        fitting = [[v for v in values if all(v.get(i) == row[i] for i in s)] for s in own]
        ever += any(len(fits) == 1 for fits in fitting)
        for fits in fitting:
            least = min(len(v) for v in fits)
            ties = [v for v in fits if len(v) == least]
            chance = (len(row) == least) / len(ties) / len(own)
            found += chance
            equal += chance * rows.count(rows[place])
            alone += (len(fits) == 1) / len(own)
    return equal / sets, found / sets, alone / sets, ever / sets


def test_success_and_unicity_are_what_all_sets_of_values_give(tmp_path: Path) -> None:
    for seed in range(4):
        rows = some_rows(300, seed)
        table = written(tmp_path / f"t{seed}.csv", rows)
        found = unveil.assess(
            table, Policy(quasi=COLUMNS, sensitive=("s",), seed=seed, settings={"linkage": {"known": 3}})
        )
        learned, own, alone, ever = exact_success(rows, 3)
        assert 0 < alone < ever < 1
        best = f"The 3 most revealing values of each row single out {percent_text(ever)} of the rows."
        assert found["linkage.unicity"].sentence.endswith(best)
        for finding, truth in ((found["linkage.success"], own), (found["linkage.unicity"], alone)):
            assert finding.method == "exact"
            assert finding.interval is None
            assert finding.value == pytest.approx(truth)
        row = found["linkage.everything_learned"]
        assert row.value == pytest.approx(learned) and row.method == "exact"
        assert isinstance(row.curves[0], Curve)
        assert row.curves[0].y[row.curves[0].x.index(3.0)] == pytest.approx(learned)
        bound = found["linkage.success_bound"]
        assert bound.interval is not None
        assert bound.interval[0] <= own
        some = [row for row in rows if any(v != "?" for v in row[:4])]
        same, targets = sum(rows.count(row) for row in some), len(some)
        assert row.baseline == pytest.approx(same / targets / 300)
        assert found["linkage.success"].baseline == pytest.approx(1 / 300)


def test_where_values_are_alike_success_is_simulated(tmp_path: Path) -> None:
    """The interval holds the truth with 95 %; at these four seeds it does."""
    for seed in range(4):
        rng = random.Random(seed)
        rows = [tuple(rng.randrange(30) for _ in range(4)) for _ in range(200)]
        table = written(tmp_path / f"t{seed}.csv", [(*row, "x") for row in rows])
        compared = {"known": 2, "compare": dict.fromkeys(COLUMNS, "2")}
        policy = Policy(quasi=COLUMNS, seed=seed, settings={"linkage": compared})
        assessed = unveil.assess(table, policy)
        found, total, ever = assessed["linkage.success"], 0.0, 0
        for row in rows:
            fits = [sum(all(abs(o[i] - row[i]) <= 2 for i in s) for o in rows) for s in combinations(range(4), 2)]
            total += sum(1 / fit for fit in fits) / 6
            ever += 1 in fits
        best = f"The 2 most revealing values of each row single out {percent_text(ever / 200)} of the rows."
        assert assessed["linkage.unicity"].sentence.endswith(best)
        assert found.method == "simulation"
        assert found.interval is not None
        assert found.interval[0] <= total / 200 <= found.interval[1]


@pytest.mark.parametrize(("some", "of"), [(900, "of the rows."), (1200, "of 1,000 random rows.")])
def test_who_was_looked_at_in_the_worst_case(some: int, of: str, tmp_path: Path) -> None:
    """Of 6,000 rows, most say nothing."""
    rng = random.Random(2)
    rows = [(*(rng.randrange(40) if i < some else "?" for _ in range(3)), "x") for i in range(6_000)]
    policy = Policy(quasi=("a", "b", "c"), settings={"linkage": {"known": 2, "compare": {"a": "1"}}})
    sentence = unveil.assess(written(tmp_path / "t.csv", rows, "a,b,c,s"), policy)["linkage.unicity"].sentence
    assert sentence.endswith(of) and ("%)" in sentence.rpartition("most revealing ")[2]) == ("random" in of)


def test_sparsity_by_comparing_all_rows(tmp_path: Path) -> None:
    rows = some_rows(60, 9)
    found = unveil.assess(written(tmp_path / "t.csv", rows), Policy(quasi=COLUMNS))["linkage.sparsity"]

    def similar(a: tuple[object, ...], b: tuple[object, ...]) -> float:
        either = [i for i in range(4) if a[i] != "?" or b[i] != "?"]
        return sum(a[i] == b[i] for i in either) / len(either) if either else 1.0

    near = [max(similar(r, o) for j, o in enumerate(rows) if j != i) for i, r in enumerate(rows)]
    assert found.value == pytest.approx(sum(s >= 0.5 for s in near) / 60)
    assert found.method == "exact"
    assert found.curves[0].y[-1] == pytest.approx(sum(s >= 1 for s in near) / 60)


def test_the_curve_rises_and_says_from_where_on_one_in_two_is_found(tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [tuple(rng.randrange(6) for _ in range(5)) for _ in range(200)]
    found = unveil.assess(written(tmp_path / "t.csv", rows), Policy(quasi=COLUMNS))["linkage.success"]
    curve = found.curves[0]
    assert isinstance(curve, Curve)
    assert curve.series is not None
    first = [p for p, name in zip(curve.x, curve.series, strict=True) if name == "all facts right"]
    assert first == [1.0, 2.0, 3.0, 4.0]
    likely = next((int(x) for x, y in zip(first, curve.y, strict=False) if y >= 0.5), None)
    assert likely is not None
    assert likely > 1
    assert f"Once {likely} columns are known, at least half of the rows are found." in found.sentence
    assert found.exposed[0].risk == 1
    assert "row" in found.exposed[0].subject


def test_a_tolerance_decides(tmp_path: Path) -> None:
    rows = [(i % 7, i % 11, i % 13, i % 3, "x" if i % 2 else "y") for i in range(400)]
    table = written(tmp_path / "t.csv", rows)
    tolerance = {"classes.k": 1, "classes.l_distinct": 1, "linkage.success": 0.05}
    found = unveil.assess(table, Policy(quasi=COLUMNS, sensitive=("s",), tolerance=tolerance))
    success = found["linkage.success"]
    assert success.status == "over"
    assert found.verdict.because == "linkage.success"
    assert found.verdict.reasons[0].endswith("%, must be at most 5%")
    curve = success.curves[0]
    assert isinstance(curve, Curve) and curve.series is not None and success.baseline is not None
    assert curve.levels[0][0] == pytest.approx(success.baseline) and curve.levels[1] == (0.05, "tolerated: 5%")
    own = [(x, y) for x, y, s in zip(curve.x, curve.y, curve.series, strict=True) if s == "all facts right"]
    first = next(int(x) for x, y in own if y > 0.05)
    assert 1 < first < 4
    assert f"Once {first} columns are known, more than the tolerated 5% of the rows are found. " in success.sentence
    more = {**tolerance, "linkage.success": 1}
    sentence = unveil.assess(table, Policy(quasi=COLUMNS, sensitive=("s",), tolerance=more))["linkage.success"].sentence
    assert "However many columns are known, no more than the tolerated 100% of the rows are found. " in sentence


def test_where_numbers_are_left_out_it_may_be_fewer(tmp_path: Path) -> None:
    """Of 30 columns, 1 to 6, 8, 11, 14 … are tried."""
    rng, names = random.Random(0), [f"c{i}" for i in range(30)]
    rows = [tuple(int(rng.random() < 0.3) for _ in names) for _ in range(2_000)]
    found = unveil.assess(written(tmp_path / "t.csv", rows, ",".join(names)), Policy(quasi=(tuple(names),)))
    curve, sentence = found["linkage.success"].curves[0], found["linkage.success"].sentence
    assert isinstance(curve, Curve) and 14.0 in curve.x and 13.0 not in curve.x
    assert "Once 14 columns are known, if not before, at least half of the rows are found." in sentence


def test_attackers_say_what_counts_as_the_same(tmp_path: Path) -> None:
    rows = [(i % 9, i % 4, i % 5, 0) for i in range(60)]
    policy = Policy(quasi=("a", "b", "c"), settings={"linkage": {"compare": {"a": "2", "b": "~3"}}})
    said = unveil.assess(written(tmp_path / "t.csv", rows, "a,b,c,d"), policy)["linkage.success"].attacker
    assert "These count as the same: a at most 2 apart. These agree in part" in said
    assert said.endswith(": b less than 3 apart.")


def test_sparsity_is_exact_where_that_takes_seconds(tmp_path: Path) -> None:
    rows = [(i % 97, i % 101, i % 5, i % 2) for i in range(12_000)]
    found = unveil.assess(written(tmp_path / "t.csv", rows, "a,b,c,d"), Policy(quasi=("a", "b", "c")))
    assert found["linkage.sparsity"].method == "exact"


@pytest.mark.parametrize(
    "policy",
    [
        Policy(quasi=("a", "b")),
        Policy(quasi=COLUMNS[:3], subject="d", settings={"linkage": {"compare": {"a": "1"}}}),
    ],
    ids=["two columns", "several rows per person"],
)
def test_where_it_is_not_asked(policy: Policy, tmp_path: Path) -> None:
    found = unveil.assess(written(tmp_path / "t.csv", [(1, 2, 3, i, "x") for i in range(6)]), policy)
    assert not [f for f in found.findings if f.question == "linkage"]


@pytest.mark.parametrize("rows", [[("?", "?", "?", "?", "x")] * 3, [(1, 2, 3, 4, "x")], [(1, 1, 1, 1, "x")] * 5])
def test_the_plainest_tables(rows: list[tuple[object, ...]], tmp_path: Path) -> None:
    """Nothing known of anybody, one row, all rows equal."""
    found = unveil.assess(written(tmp_path / "t.csv", rows), Policy(quasi=COLUMNS))
    asked = [f for f in found.findings if f.question == "linkage"]
    assert not asked or found["linkage.success"].value == found["linkage.success"].baseline == 1 / len(rows)
    assert not asked or found["linkage.unicity"].value == (len(rows) == 1)
    assert bool(asked) == (rows[0][0] != "?")


def test_several_rows_of_a_person_by_all_sets_of_values(tmp_path: Path) -> None:
    """A person is known by three of all values in their rows, or all of these: who has them all, and least else."""
    rng = random.Random(5)
    rows = [
        (*(rng.choice(["1", "2", "3", "4", "?"]) for _ in range(3)), person, rng.choice("xy"))
        for person in range(90)
        for _ in range(rng.randrange(1, 4))
    ]
    rng.shuffle(rows)
    owned: dict[object, set[tuple[int, str]]] = {p: set() for p in range(90)}
    shown: dict[object, list[tuple[object, ...]]] = {p: [] for p in range(90)}
    for *values, person, secret in rows:
        owned[person] |= {(i, str(v)) for i, v in enumerate(values) if v != "?"}
        shown[person].append((*values, secret))
    equal, alone, ever, some = 0.0, 0.0, 0, [p for p in owned if owned[p]]
    for p in some:
        sets = list(combinations(sorted(owned[p]), min(3, len(owned[p]))))
        fits = [[q for q in owned if set(s) <= owned[q]] for s in sets]
        ever += any(len(f) == 1 for f in fits)
        alone += sum(len(f) == 1 for f in fits) / len(sets)
        for fit in fits:
            least = min(len(owned[q]) for q in fit)
            ties = sum(len(owned[q]) == least for q in fit)
            same = sum(sorted(shown[q]) == sorted(shown[p]) for q in owned)
            equal += (len(owned[p]) == least) * min(1.0, same / ties) / len(sets)
    policy = Policy(quasi=("a", "b", "c"), sensitive=("s",), subject="d", settings={"linkage": {"known": 3}})
    found = unveil.assess(written(tmp_path / "t.csv", rows), policy)
    success, unicity = found["linkage.success"], found["linkage.unicity"]
    assert success.method == unicity.method == "exact"
    assert success.value == pytest.approx(equal / len(some)) and success.subjects == len(some)
    assert unicity.value == pytest.approx(alone / len(some))
    assert unicity.sentence.endswith(
        f"most revealing values of each person single out {percent_text(ever / len(some))} of the people."
    )
    assert success.title == "People found by someone who knows 3 random values"
    bound = found["linkage.success_bound"].value
    assert bound is not None and bound <= success.value
    curve = success.curves[0]
    assert isinstance(curve, Curve) and curve.series is not None
    points = zip(curve.series, curve.x, curve.high or (), strict=True)
    off = next(high for name, x, high in points if name == "one fact in ten wrong" and x == 3)
    assert off < success.value - 0.02  # what one does not have tells them apart, too
    assert not [name for name in curve.series if name.startswith("without values")]


@pytest.mark.parametrize(
    ("who", "quasi", "equal"), [("ppq", "abc", False), ("ppqq", "abc", True), ("pq", "abc", True), ("pq", "abd", False)]
)
def test_who_is_as_good_as_another(who: str, quasi: str, equal: bool, tmp_path: Path) -> None:
    """Whoever has the same rows, each as often; but for the one who is known by name."""
    table = written(tmp_path / "t.csv", [(1, 2, 3, person, "x") for person in who])
    found = unveil.assess(table, Policy(quasi=tuple(quasi), subject="d", settings={"linkage": {"known": 2}}))
    learned = [f.value for f in found.findings if f.id == "linkage.everything_learned"]
    assert (found["linkage.success"].value == 0.5 and learned == [1]) == equal


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    table, policy = written(tmp_path / "t.csv", some_rows(100, 3)), Policy(quasi=COLUMNS, seed=5)
    one, two = (unveil.assess(table, policy)["linkage.success"] for _ in range(2))
    assert one.value == two.value
    assert one.curves == two.curves


@pytest.mark.parametrize("width", [4, 60])
def test_the_order_of_rows_does_not_matter(width: int, tmp_path: Path) -> None:
    """Not even where what is known is drawn, in full tables and in those with hardly any value."""
    rng, names = random.Random(4), [f"c{i}" for i in range(width)]
    rows = [tuple(rng.choice("123") if rng.random() < 2.5 / width else "?" for _ in names) for _ in range(300)]
    policy = Policy(quasi=(tuple(names),), settings={"linkage": {"known": 2, "compare": {"c0": "1"}}})
    found = []
    for _ in range(2):
        rng.shuffle(rows)
        made = unveil.assess(written(tmp_path / "t.csv", rows, ",".join(names)), policy)
        assert made["linkage.success"].method == "simulation"
        found.append([(f.id, f.value, f.interval, f.sentence, f.curves) for f in made.findings if "linkage" in f.id])
    assert len(found[0]) == 5 and found[0] == found[1]


def test_how_much_is_known_must_be_sensible() -> None:
    for wrong in (0, 2.5, True, "2"):
        with pytest.raises(UnveilError, match=r"linkage\.known must be a whole number, 1 or more"):
            Policy(settings={"linkage": {"known": wrong}})


def test_no_guarantee_exceeds_what_is_found(tmp_path: Path) -> None:
    """Every line of the bounds stays below the exact success, at every number of columns known."""
    positive = 0
    for seed in range(6):
        rng = random.Random(seed)
        rows = [(*(rng.choice([*range(20 * (1 + c)), "?"]) for c in range(4)), "x") for _ in range(80)]
        found = unveil.assess(
            written(tmp_path / f"t{seed}.csv", rows), Policy(quasi=COLUMNS, settings={"linkage": {"known": 2}})
        )
        assert found["linkage.success"].method == "exact"
        curve, bound = found["linkage.success"].curves[0], found["linkage.success_bound"].curves[0]
        assert isinstance(curve, Curve)
        assert isinstance(bound, Curve)
        assert curve.series is not None
        exact = {x: y for x, y, name in zip(curve.x, curve.y, curve.series, strict=True) if name == "all facts right"}
        assert all(y <= exact[x] + 1e-9 for x, y in zip(bound.x, bound.y, strict=True))
        positive += sum(y > 0.3 for y in bound.y)
    assert positive > 6


def test_missing_values_are_no_protection(tmp_path: Path) -> None:
    """Rows with fewer values than are known are found by all they have."""
    rows: list[tuple[object, ...]] = [("1", "1", "1", "1", i) for i in range(10)]
    for i in range(98):
        row: list[object] = [f"{k}{i}" for k in range(4)]
        row[i % 4] = "?"
        rows.append((*row, "x"))
    tolerance = {"classes.k": 1, "classes.l_distinct": 1, "linkage.success": 0.2}
    policy = Policy(quasi=COLUMNS, sensitive=("s",), tolerance=tolerance)
    found = unveil.assess(written(tmp_path / "t.csv", rows), policy)
    assert found["linkage.success"].value == pytest.approx((98 + 1) / 108)
    assert found.verdict.decision == "protect first"
    assert found["linkage.success"].exposed[0].risk == 1
    assert "98 rows have fewer values; the attacker knew all of them." in found["linkage.success"].sentence


@pytest.mark.parametrize(
    ("compare", "error"),
    [
        ({"agee": "2"}, "no column is called 'agee'"),
        ({"s": "2"}, "compare names s, which is not a quasi-identifier"),
        ({"a": "30d"}, "not all values are dates"),
        ({"b": "2"}, "not all values are numbers"),
    ],
)
def test_comparisons_that_cannot_be_made(compare: dict[str, str], error: str, tmp_path: Path) -> None:
    rows = [(i, "x", 3, 4, 1) for i in range(6)]
    with pytest.raises(UnveilError, match=error):
        unveil.assess(
            written(tmp_path / "t.csv", rows), Policy(quasi=COLUMNS, settings={"linkage": {"compare": compare}})
        )


def test_columns_that_are_rarely_filled(tmp_path: Path) -> None:
    """Half of the columns are filled in few rows: the chart says in how many at most, and at least."""
    rng, names = random.Random(6), [f"c{i}" for i in range(30)]
    rows = [tuple(rng.choice("123") if rng.random() < (i + 1) / 120 else "?" for i in range(30)) for _ in range(400)]
    some = [row for row in rows if set(row) != {"?"}]
    filled = [sum(row[i] != "?" for row in some) / len(some) for i in range(30)]
    found = unveil.assess(written(tmp_path / "t.csv", rows, ",".join(names)), Policy(quasi=(tuple(names),)))
    (curve,) = (c for c in found["linkage.sparsity"].curves if c.title == "How many rows have a value in each column")
    assert isinstance(curve, Curve)
    assert (curve.y[0], curve.y[-1]) == (max(filled), min(filled))
    most, least = percent_text(max(filled)), percent_text(min(filled))
    assert curve.reading.startswith(f"The fullest column has a value in {most} of the rows, the emptiest in {least}.")
