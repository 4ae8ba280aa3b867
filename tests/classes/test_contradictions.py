"""What findings about classes said although it was not so, or contradicted each other."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest

import unveil
from unveil import Assessment, Policy
from unveil.classes.population_estimates import least_population_class
from unveil.finding import Finding

Row = dict[str, str | None]


def assess(rows: list[Row], *, only: str | list[str], **policy: object) -> Assessment:
    columns = {c: pa.array([r[c] for r in rows], pa.string()) for c in rows[0]}
    given = Policy(quasi=(("age",),), sensitive=("ill",), **policy)  # type: ignore[arg-type]
    return unveil.assess(unveil.read(pa.table(columns)), given, only=only)


def shares(said: str) -> list[float]:
    return [float(word.rstrip("%.")) / 100 for word in said.split() if word.rstrip(".").endswith("%")]


def expected_rise(rows: list[Row]) -> tuple[float, float]:
    """By people: who has a value, in the table and in each class of people with the same set of ages."""
    ages, ills = defaultdict(set), defaultdict(set)
    for i, r in enumerate(rows):
        who = r.get("who") or str(i)
        ages[who].add(r["age"])
        ills[who].add(r["ill"])
    classes = defaultdict(list)
    for who, known in ages.items():
        classes[frozenset(known)].append(who)
    table = Counter(ill for found in ills.values() for ill in found)
    best = (0.0, 0.0, 0.0)
    for members in classes.values():
        here = Counter(ill for who in members for ill in ills[who])
        for ill, n in here.items():
            before, after = table[ill] / len(ills), n / len(members)
            best = max(best, (after - before, before, after))
    return best[1], best[2]


@pytest.mark.parametrize("several", [False, True])
def test_the_most_skewed_class_never_contradicted_the_largest_share_of_a_value(several: bool) -> None:
    """The sentence spoke of the most skewed class, with a share of values, while α was a larger share of people."""
    for seed in range(30):
        rng = random.Random(seed)
        rows: list[Row] = [{"age": rng.choice("ab"), "ill": rng.choice("xyzzz")} for _ in range(14)]
        if several:
            rows = [{**r, "who": str(i // 2)} for i, r in enumerate(rows)]
        found = assess(rows, only=["classes.alpha", "classes.homogeneity"], **({"subject": "who"} if several else {}))
        said = found["classes.homogeneity"].sentence
        before, after = expected_rise(rows)
        assert after <= found["classes.alpha"].value + 1e-12
        assert "most skewed" not in said
        if after > before:
            rise = said.split("rise in the share of a value is ")[1]
            assert shares(rise)[:2] == pytest.approx([before, after], abs=6e-4)
        else:
            assert "No class differs from the whole table" in said


def test_nothing_is_learned_where_the_sensitive_value_is_missing() -> None:
    rows: list[Row] = [{"age": "1", "ill": "flu"}, {"age": "2", "ill": None}, {"age": "3", "ill": " ? "}]
    exposed = assess(rows, only="classes.k")["classes.k"].exposed
    assert {e.subject: e.learns for e in exposed} == {"row 1": ("ill",), "row 2": (), "row 3": ()}


def test_a_single_row_has_no_pairs_to_tell_apart() -> None:
    found = assess([{"age": "1", "ill": "flu"}], only=["classes.k", "classes.separation"])
    assert [f.id for f in found.findings] == ["classes.k"]
    two = assess([{"age": "1", "ill": "flu"}, {"age": "1", "ill": "cold"}], only="classes.separation")
    assert two["classes.separation"].value == 0


def sampled(**policy: object) -> Finding:
    rng = random.Random(2)
    rows: list[Row] = [{"age": str(min(rng.randrange(40), rng.randrange(40))), "ill": "flu"} for _ in range(60)]
    found = assess(rows, only="classes.population_uniques", settings={"classes": {"population_size": 300}}, **policy)
    return found["classes.population_uniques"]


def test_one_sentence_never_has_two_limits() -> None:
    """A bound of at most 46.7% stood beside a tolerance of at most 10%, as if both were limits of the same kind."""
    f = sampled(tolerance={"classes.population_uniques": 0.01})
    assert f.method == "bound" and f.interval is not None
    low, high = f.interval
    assert f.value_text == f"{f.text_in_unit(low)} to {f.text_in_unit(high)}"
    assert f"{f.value_text} [bound], must be at most 1%" in repr(f)
    assert sampled().value_text.startswith("at most ")


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_the_plausible_population_class_is_the_smallest_that_the_test_does_not_reject(
    size: int, fraction: float
) -> None:
    """P(X ≥ f | X ≥ 1) of a Poisson variable, summed term by term."""
    from math import exp, factorial

    def tail(people: int) -> float:
        mean = fraction * people
        none = exp(-mean)
        fewer = sum(none * mean**i / factorial(i) for i in range(1, size))
        return (1 - none - fewer) / (1 - none)

    found = least_population_class(size, fraction)
    rejected = [people for people in range(1, 2000) if tail(people) <= 0.05]
    assert found == max(size, (rejected[-1] if rejected else 0) + 1)


def test_a_class_of_few_people_rarely_looks_larger_than_it_is() -> None:
    """Of 4,000 samples of a class of 30 people at 5% that show any, the stated number exceeds 30 in at most 5%, by the
    test's own error rate; a binomial sample varies less than a Poisson one. Chance alone fails 1 of 10⁵ runs."""
    rng = random.Random(11)
    seen = [n for n in (sum(rng.random() < 0.05 for _ in range(30)) for _ in range(4000)) if n]
    wrong = sum(least_population_class(n, 0.05) > 30 for n in seen)
    assert wrong / len(seen) <= 0.05 + 4.3 * (0.05 * 0.95 / len(seen)) ** 0.5
    assert wrong > 0, "the test is not idle"


def test_k_map_from_a_sampling_fraction_is_an_estimate_that_says_what_a_single_row_tells() -> None:
    rows: list[Row] = [{"age": str(i // 3), "ill": "flu"} for i in range(60)]
    settings = {"classes": {"sampling_fraction": 0.01}}
    f = assess(rows, only="classes.k_map", settings=settings, tolerance={"classes.k_map": 50})["classes.k_map"]
    assert (f.value, f.method, f.decides, f.unit) == (60, "estimate", False, "people")
    assert "plausibly comes from at least 60 people" in f.sentence and "No row is in a class" in f.sentence
    alone = assess([*rows, {"age": "x", "ill": "flu"}], only="classes.k_map", settings=settings)["classes.k_map"]
    assert alone.value == 1
    assert "has 1 row, which does not tell how many people it comes from" in alone.sentence


def test_no_row_could_be_singled_out_but_one_was_unique() -> None:
    """Sets of columns were counted with missing values as values of their own, beside findings with wildcards."""
    rows: list[Row] = [{"age": "xy"[i % 2], "sex": "pq"[i // 2 % 2], "ill": "ab"[i % 3 % 2]} for i in range(40)]
    rows[0]["age"], rows[1]["sex"] = None, None
    columns = {c: pa.array([r[c] for r in rows], pa.string()) for c in rows[0]}
    policy = Policy(quasi=(("age", "sex"),), missing_as="wildcard", settings={"classes": {"population_size": 400}})
    found = unveil.assess(unveil.read(pa.table(columns)), policy, only="classes")
    assert found["classes.uniques"].value == 0
    known = found["classes.known_columns"]
    assert "2 rows are unique" in known.sentence
    for finding in (known, found["classes.dis_suda"]):
        assert finding.sentence.startswith("Here, a missing value counts as a value of its own, not as a wildcard.")
        assert finding.missing.startswith("A missing quasi-identifier counts as a value of its own")
    assert "including which of their values are missing" in known.attacker
    assert known.title.endswith("known, at worst, missing values included")
    assert all("if a missing value is a value of its own" in row.because for row in known.exposed) and known.exposed
    plain = unveil.assess(unveil.read(pa.table(columns)), replace(policy, missing_as="value"), only="classes")
    assert "Here," not in plain["classes.known_columns"].sentence


def test_guessing_alone_found_nothing_although_the_most_frequent_value_is_often_right() -> None:
    """The finding counts values that are certain, and guessing is never certain; a guess is compared with a guess."""
    rng = random.Random(4)
    ages = [rng.choice("pqrs") for _ in range(200)]
    ills = [rng.choice("xxyyz") for _ in range(200)]
    release = unveil.read(pa.table({"age": ages, "ill": ills}))
    case = unveil.Case(release, holds={"earlier 1": release})
    found = unveil.assess(case, Policy(quasi=(("age",),), sensitive=("ill",)), only="classes.intersection")
    (finding,) = found.findings
    frequent = max(Counter(ills).values()) / 200
    assert finding.baseline is None
    assert (
        f"without the releases, guessing the most frequent value is right for {100 * frequent:.3g}%" in finding.sentence
    )
