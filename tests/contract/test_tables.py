"""Values, shares and subjects of findings about tables, against slow computations from the raw rows."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import pytest

from contract.cases import CASES, EARLIER, KNOWN, LINKS, PEOPLE, TABLES, Attacked, assessed
from contract.oracles import (
    Crowd,
    Found,
    Values,
    average_risk,
    crowd,
    distance_between,
    found_by_facts,
    is_missing,
    values_of,
)
from unveil import Finding, Policy
from unveil.wording import percent_text

BOUND = "Nobody who knows fewer columns does better."
VALUE_RISKS = ("l_distinct", "alpha", "recursive_c", "l_entropy", "t", "beta", "beta_enhanced", "delta_disclosure")


def of(name: str, *ids: str) -> list[Finding]:
    """The findings with these ids, of the room classes if only the last part is given."""
    wanted = {i if "." in i else f"classes.{i}" for i in ids}
    return [f for f in assessed(name).findings if f.id in wanted]


def k_of(attacked: Attacked) -> float:
    return attacked.policy.tolerance.get("classes.k", 5) or 5


@cache
def seen_in(name: str, finding_known: tuple[str, ...], bound: bool = False) -> Crowd:
    attacked = CASES[name]()
    policy = Policy(subject=attacked.policy.subject) if bound else attacked.policy
    quasi = [c for c in finding_known if bound or c not in attacked.policy.sensitive]
    guessed = [c.name for c in assessed(name).columns if c.role == "sensitive" and c.origin == "guessed"]
    quasi = quasi if bound else [c for c in quasi if c not in guessed]
    return crowd(attacked.rows, quasi, policy, [c for c in finding_known if c not in quasi])


@pytest.mark.parametrize("name", TABLES)
def test_sizes_of_classes(name: str) -> None:
    k = k_of(CASES[name]())
    checked = 0
    for f in of(name, "k", "uniques", "at_risk", "reidentification", "distinction", "separation"):
        bound = BOUND in f.attacker
        seen = seen_in(name, f.known, bound)
        value, share = {
            "k": (min(seen.sizes), seen.below(k)),
            "uniques": (seen.below(2), seen.below(2)),
            "at_risk": (seen.below(k), seen.below(k)),
            "reidentification": (seen.found, seen.found),
            "distinction": (seen.classes / seen.n, None),
            "separation": (seen.told_apart if seen.n > 1 else None, None),
        }[f.id.removeprefix("classes.")]
        assert f.value == pytest.approx(value)
        assert f.subjects == seen.n
        assert f.method == ("bound" if bound else "exact")
        if share is None:
            assert f.share is None
        else:
            assert f.share == pytest.approx((0.0 if bound else share, share))
        if bound:
            assert f.interval == ((value, seen.n) if f.id == "classes.k" else pytest.approx((0.0, value)))
        checked += 1
    expected = 5 if "wildcard" in name or name == "single" else 6
    sets = len(CASES[name]().policy.quasi) or 1
    assert checked == expected * sets + (4 if name == "guessed" else 0)


@pytest.mark.parametrize("name", TABLES)
def test_sentences_about_sizes_tell_the_numbers(name: str) -> None:
    attacked = CASES[name]()
    k, one, many = k_of(attacked), *(("person", "people") if attacked.policy.subject else ("row", "rows"))
    for f in of(name, "k", "uniques", "at_risk", "distinction"):
        seen = seen_in(name, f.known, BOUND in f.attacker)
        below = sum(s < (2 if f.id == "classes.uniques" else k) for s in seen.sizes)
        left = seen.classes if f.id == "classes.distinction" else below
        everybody = f"{seen.n} {one if seen.n == 1 else many}"
        if f.id == "classes.distinction":
            assert (
                f"were kept, {left} of {seen.n} " in f.sentence
                and f"({percent_text(left / seen.n)}) would be left" in f.sentence
            )
        elif below:
            assert f.sentence.startswith(f"{below} of {everybody} ({percent_text(below / seen.n)}) ")
        if f.id in ("classes.k", "classes.at_risk") and below:
            where = "is in a class" if below == 1 else "are in classes"
            assert f"{where} of fewer than {k:g} {many}" in f.sentence
        if f.id == "classes.k":
            smallest = min(seen.sizes)
            has = f"{smallest} {one if smallest == 1 else many}"
            said = f"the smallest class has {has}." if below else f"has at least {has}."
            assert said in f.sentence
            assert ("If missing values counted" in f.sentence) == (attacked.policy.missing_as != "value")
        if not below and f.id == "classes.uniques":
            assert f.sentence.startswith(f"No {one} can be singled out")
        if not below and f.id == "classes.at_risk":
            assert f.sentence == f"No {one} is in a class of fewer than {k:g} {many}."


@pytest.mark.parametrize("reading", ["wildcard", "excluded"])
def test_another_reading_of_missing_values_is_compared_with_the_default(reading: str) -> None:
    rows, policy = CASES["holes as value"]().rows, Policy()
    seen, (f,) = crowd(rows, ("age", "zip", "sex"), policy), of(f"holes as {reading}", "k")
    lacking = sum(any(is_missing(r[c]) for c in ("age", "zip", "sex")) for r in rows)
    left_out = f"{lacking} of 8 rows lack a value and were left out. " if reading == "excluded" else ""
    assert f.sentence.endswith(
        f" {left_out}If missing values counted as values of their own, the smallest class would have "
        f"{min(seen.sizes)} row, and {percent_text(seen.below(2))} of the rows would be unique."
    )
    doubts = assessed(f"holes as {reading}").verdict
    assert doubts.decision == "protect first"


@cache
def values_in(name: str, known: tuple[str, ...], column: str) -> Values:
    return values_of(seen_in(name, known), column)


def limit_of(attacked: Attacked, risk: str, f: Finding) -> float | None:
    """What a class must not violate for the people in it not to count as harmed."""
    tolerance = attacked.policy.tolerance
    informs = set(f.known or ()) & {*attacked.policy.sensitive, "diagnosis", "income"} and attacked.name != "people"
    fewest = tolerance.get("classes.l_distinct", 2)
    if risk == "l_distinct":
        return fewest
    if risk == "l_entropy":
        return tolerance.get("classes.l_entropy", fewest)
    return None if informs else tolerance.get(f"classes.{risk}")


@pytest.mark.parametrize("name", TABLES)
def test_what_classes_give_away(name: str) -> None:
    attacked, checked = CASES[name](), 0
    for f in of(name, *VALUE_RISKS):
        assert f.column is not None and f.known is not None
        risk = f.id.removeprefix("classes.")
        found = values_in(name, f.known, f.column)
        few = max(2, int(attacked.policy.tolerance.get("classes.l_distinct", 2)))
        measured = found.measured(risk, few, distance_between(attacked, f.column))
        higher = f.direction == "higher"
        worst = min(measured) if higher else max(measured)
        assert f.value == pytest.approx(worst, abs=1e-9), (f.id, f.column, f.known)
        assert f.subjects == found.n
        limit = limit_of(attacked, risk, f)
        if limit is None:
            assert f.share is None
        else:
            harmed = sum(x < limit - 1e-9 if higher else x > limit + 1e-9 for x in measured) / found.n
            assert f.share == pytest.approx((harmed, harmed)), (f.id, f.column, f.known)
        checked += 1
    assert checked or not (attacked.policy.sensitive or name == "guessed")


@pytest.mark.parametrize("name", TABLES)
def test_what_is_known_without_finding_anybody(name: str) -> None:
    for f in of(name, "homogeneity"):
        found = values_in(name, f.known, f.column)
        assert f.value == pytest.approx(found.homogeneous)
        assert f.share == pytest.approx((found.homogeneous, found.homogeneous))
        assert f.subjects == found.n
        reveals = f"reveals {f.column} for {percent_text(found.homogeneous)} of"
        assert (reveals if found.homogeneous else f"No class alone reveals {f.column}.") in f.sentence
        assert f"is right for {percent_text(found.guessed)} of the" in f.sentence
        table = found.table
        shares = [(table.count(v) / found.n, some.count(v) / n) for v, some, n in found.pairs]
        most = max(after - before for before, after in shares)
        if most > 0:
            skews = [(percent_text(a), percent_text(b)) for a, b in shares if b - a == pytest.approx(most)]
            assert any(f"is from {a} in the whole table to {b} in a class." in f.sentence for a, b in skews)
        else:
            assert "No class differs from the whole table." in f.sentence


def test_values_that_can_be_ruled_out() -> None:
    for f in of("people", "l_distinct"):
        ruled = "Someone who can rule out" in f.sentence
        assert ruled == (f.column == "diagnosis" and "income" not in f.known)
        if ruled:
            found = values_in("people", f.known, "diagnosis")
            share = percent_text(found.people_revealed_without({"flu", "leprosy"}))
            assert (
                f"the 2 listed values (1 found in the column) learns diagnosis for {share} of the rows with a value."
                in f.sentence
            )


def test_background_knowledge_is_drawn() -> None:
    (f, *_) = of("drawn 1", "l_distinct")
    found = values_in("drawn 1", f.known, f.column)
    (curve,) = f.curves
    for m, share in zip(curve.x, curve.y, strict=True):
        assert share == pytest.approx(sum(len(set(some)) <= m + 1 for some in found.around) / found.n)


def test_columns_that_must_be_known() -> None:
    for name in TABLES:
        policy = CASES[name]().policy
        assert [f.known for f in of(name, "known_columns")] == [
            q for q in policy.quasi or (("age", "zip", "sex", "job"),) if len(q) > 1
        ]
        for f in of(name, "known_columns"):
            columns = f.known
            reading = Policy(
                subject=policy.subject, missing_as="excluded" if policy.missing_as == "excluded" else "value"
            )
            rows = CASES[name]().rows
            if policy.missing_as == "excluded":
                rows = [r for r in rows if not any(is_missing(r[c]) for c in columns)]
            assert f.value == pytest.approx(average_risk(rows, columns, reading, 3)), name
            assert f.share == pytest.approx((f.value, f.value))
            assert f.subjects == len({r[policy.subject] for r in rows} if policy.subject else rows)
            (curve, *_) = f.curves
            for known, mean, low, high in zip(curve.x, curve.y, curve.low, curve.high, strict=True):
                risks = [crowd(rows, some, reading).found for some in combinations(columns, int(known))]
                assert (mean, low, high) == pytest.approx((sum(risks) / len(risks), min(risks), max(risks)))


# ---- populations and other releases ----------------------------------------------------------------------------------


def test_a_population_file() -> None:
    attacked = CASES["population"]()
    register = [{c: r[c] for c in ("age", "zip", "sex")} for r in PEOPLE for _ in range(1 + len(r["job"]) % 3)]
    for f in of("population", "population_uniques", "k_map", "presence"):
        rows = [tuple(r[c] for c in f.known) for r in PEOPLE]
        people = [tuple(r[c] for c in f.known) for r in register]
        fit = [max(people.count(r), rows.count(r)) for r in rows]
        below, alone = sum(x < 4 for x in fit) / 10, sum(x == 1 for x in fit) / 10
        present = [rows.count(p) / people.count(p) for p in people]
        value, share = {
            "classes.population_uniques": (alone, alone),
            "classes.k_map": (min(fit), below),
            "classes.presence": (max(present), None),
        }[f.id]
        assert f.value == pytest.approx(value)
        assert f.share == (None if share is None else pytest.approx((share, share)))
        assert f.subjects == 10
        assert f"Holds a file (register) of {len(people)} people" in f.attacker
        if f.id == "classes.k_map":
            assert (
                f"at most {percent_text(1 / min(fit))}, and {percent_text(sum(1 / x for x in fit) / 10)} on average"
                in f.sentence
            )
    assert {f.known for f in of("population", "k_map")} == {("age", "zip"), ("zip", "sex")}
    assert attacked.policy.quasi[2] == ("job", "sex")


def test_a_population_of_known_size() -> None:
    (f,) = of("sample", "population_uniques")
    unique = seen_in("sample", f.known).below(2)
    assert f.value == pytest.approx(f.interval[1]) and f.share == f.interval
    assert f.value <= unique + 1e-12
    assert f"{round(unique * 60)} rows are unique in the release." in f.sentence
    (suda,) = of("sample", "dis_suda")
    assert suda.subjects == 60 and suda.share is None
    assert f"{percent_text(60 / 300)}" in suda.attacker


def test_several_releases_together() -> None:
    (f,) = of("intersection", "intersection")
    columns = ("age", "zip", "sex")

    def possible(rows: list[dict[str, Any]], person: dict[str, Any]) -> set[str]:
        fit = [r["diagnosis"] for r in rows if all(r[c] == person[c] for c in columns)]
        return {v for v in fit if v is not None}

    sets = [(possible(PEOPLE, p), possible(EARLIER, p)) for p in KNOWN]
    perfect = sum(len(a & b) == 1 for a, b in sets) / len(sets)
    assert f.subjects == len(sets) == 6
    assert f.value == pytest.approx(perfect)
    assert f.share == pytest.approx((perfect, perfect))
    assert f.baseline is None
    share = percent_text(perfect)
    assert f.sentence.startswith(f"For 4 of 6 people ({share}), the releases together leave only one value.")
    assert "1 person fits no row of any release. Taken one by one, the releases have smallest" in f.sentence


def test_known_people_with_their_true_rows() -> None:
    """Three fit one row only, one fits three rows, one four, and one is not in the release."""
    (f,) = of("intersection", "linkage.matched")
    fits = [sum(all(r[c] == p[c] for c in p) for r in PEOPLE) for p in KNOWN]
    right = sum(1 / n for n, row in zip(fits, LINKS, strict=True) if n and row >= 0)
    assert (f.value, f.method, f.subjects) == (pytest.approx(right / 6), "exact", 6)
    assert f.share == pytest.approx((right / 6, right / 6))
    assert f"({percent_text(right / 6)})" in f.sentence
    (guess,) = of("linked", "linkage.matched")
    assert (guess.method, guess.status, guess.decides) == ("estimate", None, False)
    assert 0 < guess.value < 1


# ---- a few facts -----------------------------------------------------------------------------------------------------

FACTS = {
    "people": 3, "alike": 3, "single": 4, "pair": 3, "drawn 1": 4, "holes as value": 3, "visits": 2, "ratings": 2,
    "intersection": 3,
}  # fmt: skip


@cache
def facts(name: str) -> Found:
    return found_by_facts(CASES[name](), FACTS[name])


@pytest.mark.parametrize("name", FACTS)
def test_people_found_by_a_few_facts(name: str) -> None:
    found = facts(name)
    people = len(found.first)
    measured = {"success": found.own, "everything_learned": found.learned, "unicity": found.unique}
    for f in of(name, *(f"linkage.{risk}" for risk in measured)):
        each = measured[f.id.removeprefix("linkage.")]
        assert f.value == pytest.approx(sum(each) / people)
        assert f.share == pytest.approx((f.value, f.value))
        assert f.subjects == people
        assert percent_text(f.value) in f.sentence
    (success,) = of(name, "linkage.success")
    assert success.baseline == pytest.approx(1 / people)
    for f in of(name, "linkage.everything_learned"):
        assert f.baseline == pytest.approx(found.guessing)
    (bound,) = of(name, "linkage.success_bound")
    assert bound.value <= success.value + 1e-12
    assert bound.interval == bound.share == (bound.value, 1.0)


def test_people_with_a_similar_record() -> None:
    for name in ("drawn 1", "people", "pair", "alike"):
        columns, rows = CASES[name]().policy.quasi_columns, CASES[name]().rows
        near = [
            any(2 * sum(a[c] == b[c] for c in columns) >= len(columns) for j, b in enumerate(rows) if j != i)
            for i, a in enumerate(rows)
        ]
        (f,) = of(name, "linkage.sparsity")
        assert f.value == pytest.approx(sum(near) / len(rows))
        assert (f.share, f.subjects) == (None, len(rows))


@pytest.mark.parametrize("name", ["ratings", "dated ratings", "visits", "films.csv", "patients.csv"])
def test_theorems_promise_no_more_than_attacks_find(name: str) -> None:
    for success, bound in zip(of(name, "linkage.success"), of(name, "linkage.success_bound"), strict=True):
        assert success.known == bound.known
        assert bound.value <= (success.interval or (0, success.value))[1] + 1e-12


# ---- identifiers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_identifiers_that_are_still_there(name: str) -> None:
    attacked, (f,) = CASES[name](), of(name, "release.identifiers")
    columns = attacked.policy.identifier
    named = sum(any(not is_missing(r[c]) for c in columns) for r in attacked.rows) / len(attacked.rows)
    assert (f.value, f.subjects) == (len(columns), len(attacked.rows))
    assert f.share == pytest.approx((named, named))
    if columns:
        assert f.sentence.startswith(
            f"The release contains 1 direct identifier ({columns[0]}), filled in {percent_text(named)}"
        )


def test_identifiers_that_are_suspected() -> None:
    (f,) = of("guessed", "release.suspected_identifiers")
    assert (f.value, f.method, f.share) == (1, "estimate", (0.0, 1.0))
    assert f.sentence.startswith("name looks like a direct identifier, filled in 100% of the rows")
    reasons = assessed("guessed").verdict
    assert reasons.because == "classes.k"
