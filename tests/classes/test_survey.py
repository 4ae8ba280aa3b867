"""Sampling weights and households: the model's risk against slow sums, bounds against every dependence, and wording."""

from __future__ import annotations

import math
import random
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Case, Policy
from unveil.classes.sampling_weights import combine_household_risks, individual_risks
from unveil.errors import UnveilError
from unveil.finding import Finding


def slow_risk(f: int, p: float) -> float:
    """E[1/F | f], summed over the negative binomial distribution, in 40 digits, until less than 1e-16 of it is left."""
    with localcontext(prec=40):
        success = Decimal(p)
        probability, left, total, h = success**f, Decimal(1), Decimal(0), f
        while left > Decimal("1e-16") and probability:
            left -= probability
            total += probability / h
            probability *= Decimal(h) / (h - f + 1) * (1 - success)
            h += 1
        return float(total)


@pytest.mark.parametrize("f", [1, 2, 3, 4, 7, 15, 29, 30, 31, 60, 200])
@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.49, 0.5, 0.51, 0.8, 0.999, 1.0])
def test_individual_risk_is_the_mean_of_one_over_the_population_in_the_negative_binomial_model(
    f: int, p: float
) -> None:
    (found,) = individual_risks(np.array([f]), np.array([f / p]))
    assert found == pytest.approx(slow_risk(f, p), rel=1e-10)


def test_individual_risk_equals_the_closed_forms_exactly() -> None:
    """f = 1: (p/q) ln(1/p); f = 2: p/q − (p/q)² ln(1/p); f = 3 likewise, with exact fractions for the odds."""
    for weight in (1.0001, 1.5, 2.0, 17.0, 541.0, 1e6, 1e12):
        for f in (1, 2, 3):
            p = Fraction(1) / Fraction(weight)
            odds = p / (1 - p)
            log = Fraction(-math.log(float(p)) if weight > 1.01 else math.log1p(weight - 1))
            closed = {
                1: odds * log,
                2: odds * (1 - odds * log),
                3: odds * (Fraction(1, 2) - odds * (1 - odds * log)),
            }[f]
            (found,) = individual_risks(np.array([f]), np.array([f * weight]))
            tolerance = 1e-9 if weight > 1.01 else 0.05  # the closed form itself cancels for p near 1
            assert found == pytest.approx(float(closed), rel=tolerance)


def test_individual_risk_of_the_example_that_sdcmicro_ships() -> None:
    """Class sizes and sums of weights of francdat; the risks by the closed forms, such as (1/16) ln 17."""
    size = np.array([2, 2, 1, 1, 1, 1])
    weight = np.array([110.0, 84.5, 17.0, 541.0, 8.0, 5.0])
    assert individual_risks(size, weight).round(3).tolist() == [0.017, 0.022, 0.177, 0.012, 0.297, 0.402]


def test_individual_risk_lies_between_the_inverse_of_the_expected_and_of_the_smallest_number() -> None:
    rng = np.random.default_rng(1)
    size = rng.integers(1, 500, 4000)
    weight = size * np.exp(rng.uniform(0, 20, 4000))
    risk = individual_risks(size, weight)
    assert (risk <= 1 / size + 1e-15).all()
    assert (risk >= 1 / weight - 1e-15).all()  # Jensen: E[1/F] ≥ 1/E[F], and E[F] = f/p


def test_household_bounds_hold_for_every_dependence_between_members() -> None:
    rng = random.Random(3)
    for _ in range(200):
        risks = [rng.random() ** 2 for _ in range(rng.randint(1, 4))]
        least, independent, most = (
            float(x[0]) for x in combine_household_risks(np.zeros(len(risks), np.int64), np.array(risks))
        )
        together = max(risks)  # all found by the same draw
        apart = min(1.0, sum(risks))  # one excludes the other as far as possible
        alone = 1 - math.prod(1 - r for r in risks)
        assert (least, most) == pytest.approx((together, apart))
        assert independent == pytest.approx(alone)
        assert least <= independent <= most


def survey(rows: int = 60, seed: int = 5) -> pa.Table:
    rng = random.Random(seed)
    return pa.table(
        {
            "age": [str(rng.choice([20, 30, 40])) for _ in range(rows)],
            "sex": [rng.choice("fm") for _ in range(rows)],
            "w": [str(round(rng.uniform(1, 40), 1)) for _ in range(rows)],
            "hh": [None if i % 20 == 0 else str(rng.randrange(rows // 3)) for i in range(rows)],
            "income": [str(rng.randrange(5)) for _ in range(rows)],
        }
    )


def find(table: pa.Table, risk: str, **given: object) -> Finding:
    policy = Policy(quasi=(("age", "sex"),), sensitive=("income",), **given)  # type: ignore[arg-type]
    return unveil.assess(unveil.read(table), policy, only=risk)[risk]


def test_the_finding_averages_the_risk_of_every_row_and_never_decides() -> None:
    table = survey()
    f = find(table, "classes.individual_risk", weight="w", tolerance={"classes.individual_risk": 0.0})
    keys = list(zip(table["age"].to_pylist(), table["sex"].to_pylist(), strict=True))
    sizes, sums = Counter(keys), Counter[tuple[str, str]]()
    for key, w in zip(keys, table["w"].to_pylist(), strict=True):
        sums[key] += float(w)  # type: ignore[assignment]
    each = [slow_risk(sizes[key], sizes[key] / sums[key]) for key in keys]
    assert f.value == pytest.approx(sum(each) / len(each), rel=1e-9)
    assert (f.method, f.decides, f.status) == ("estimate", False, "open")
    assert "This estimate assumes" in f.sentence


def households(table: pa.Table) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for i, h in enumerate(table["hh"].to_pylist()):
        found.setdefault(f"alone {i}" if h is None else h, []).append(i)
    return list(found.values())


def test_household_risk_is_that_somebody_in_the_household_is_found() -> None:
    table = survey()
    f = find(table, "classes.household_risk", household="hh")
    keys = list(zip(table["age"].to_pylist(), table["sex"].to_pylist(), strict=True))
    sizes = Counter(keys)
    low = alone = high = 0.0
    for members in households(table):
        risks = [1 / sizes[keys[i]] for i in members]
        low += len(members) * max(risks)
        alone += len(members) * (1 - math.prod(1 - r for r in risks))
        high += len(members) * min(1.0, sum(risks))
    assert f.method == "bound" and f.interval == pytest.approx((low / 60, high / 60))
    assert f.value == pytest.approx(alone / 60)


def test_households_unique_by_the_combination_of_their_members_are_counted_as_multisets() -> None:
    for seed in range(20):
        table = survey(seed=seed)
        keys = list(zip(table["age"].to_pylist(), table["sex"].to_pylist(), strict=True))
        groups = [tuple(sorted(keys[i] for i in members)) for members in households(table)]
        often = Counter(groups)
        expected = sum(len(g) for g in groups if often[g] == 1) / 60
        assert find(table, "classes.household_uniques", household="hh").value == pytest.approx(expected)


def test_two_equal_children_are_not_the_same_household_as_one() -> None:
    table = pa.table({"age": ["5", "5", "5"], "sex": ["f", "f", "f"], "hh": ["a", "a", "b"], "income": ["1"] * 3})
    assert find(table, "classes.household_uniques", household="hh").value == 1.0


def test_household_risk_with_weights_is_an_estimate() -> None:
    f = find(survey(), "classes.household_risk", household="hh", weight="w")
    assert f.method == "estimate" and f.interval is None
    assert "estimate from the weights" in f.sentence


@pytest.mark.parametrize("bad", ["0", "-3", "0.5", "nan", "inf", "x", "", None, "1,5"])
def test_a_weight_that_is_no_number_of_at_least_one_is_refused_in_one_line(bad: str | None) -> None:
    table = pa.table({"age": ["1", "2"], "sex": ["f", "m"], "w": pa.array(["3", bad]), "income": ["1", "2"]})
    with pytest.raises(UnveilError) as refused:
        find(table, "classes.individual_risk", weight="w")
    said = str(refused.value)
    assert "1 row has no number of at least 1 in 'w'" in said and "\n" not in said
    assert bad is None or len(bad) < 2 or bad not in said, "no value is quoted"


def test_a_weight_or_household_column_that_is_not_there_or_has_another_role_is_refused() -> None:
    with pytest.raises(UnveilError, match="no column is called 'ww'"):
        find(survey(), "classes.individual_risk", weight="ww")
    with pytest.raises(UnveilError, match="both quasi and weight"):
        Policy(quasi=(("age",),), weight="age")
    with pytest.raises(UnveilError, match="one row per person"):
        Policy(subject="person", household="hh")


def test_weight_and_household_have_a_role_of_their_own_and_are_not_taken_for_people() -> None:
    policy = Policy(quasi=(("age", "sex"),), sensitive=("income",), weight="w", household="hh")
    assessed = unveil.assess(Case(unveil.read(survey())), policy)
    whys = {c.name: (c.origin, c.why) for c in assessed.columns if c.name in ("w", "hh")}
    assert whys == {
        "w": ("assumed", "says how many people a row stands for"),
        "hh": ("assumed", "says which people live in the same household"),
    }
    assert assessed["release.repeated_people"].value == 0
