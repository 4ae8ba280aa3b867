"""Every finding follows from the declaration of its risk and from the policy, whatever room it comes from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

import unveil
from contract.cases import CASES, DEMOS, INCOMES, assessed
from contract.oracles import harmful, tolerated
from unveil import Finding, Policy
from unveil.finding import Curve
from unveil.questions import QUESTIONS, all_risks, find_risk, questions_about, room_settings

FOUND_IN_AN_ATTACK = {  # somebody or something is found, so that guessing finds some as well
    "release.interval_disclosure", "release.order", "classes.k", "classes.l_distinct", "matching.sets_vulnerable",
    "classes.reidentification", "classes.known_columns", "classes.presence", "linkage.success",
    "linkage.everything_learned", "linkage.matched", "linkage.original_matched",
    "items.point_knowledge", "items.expected_cracks", "items.correlation", "items.never_together",
    "items.sample_knowledge", "items.similar_pairs", "matching.expected_cracks", "network.degree_unique",
    "network.degree_found", "network.signature_found",
    "network.signature_unique", "network.automorphism", "network.active", "network.passive", "network.unmasked",
    "dp.membership",
    "items.itemsets_vulnerable", "inference.learned", "inference.certain",
}  # fmt: skip
IN_THEIR_OWN_UNIT = {  # units that are told differently from the unit of the tolerance
    "classes.known_items": "baskets", "classes.k_map": "people", "classes.l_distinct": "values",
    "classes.l_entropy": "values", "classes.t": "", "classes.recursive_c": "", "classes.beta": "",
    "classes.beta_enhanced": "", "classes.delta_disclosure": "", "items.expected_cracks": "items",
    "items.o_estimate": "items", "items.correlation": "items", "items.never_together": "items",
    "items.sample_knowledge": "items", "items.similar_pairs": "items",
    "matching.expected_cracks": "cracks", "matching.o_estimate": "cracks", "matching.heuristic": "cracks",
    "matching.bethe": "cracks", "matching.degree_of_anonymity": "", "network.degree_k": "nodes",
    "release.identifiers": "columns", "release.suspected_identifiers": "columns", "release.safe_harbor": "columns",
    "inference.facts": "facts", "inference.score": "",
}  # fmt: skip
METHODS = {  # how values are obtained, where not by exact computation alone
    "classes.k": "exact bound", "classes.uniques": "exact bound", "classes.at_risk": "exact bound",
    "classes.reidentification": "exact bound", "classes.population_uniques": "exact bound",
    "classes.dis_suda": "estimate", "linkage.success": "exact simulation",
    "linkage.everything_learned": "exact simulation",
    "linkage.unicity": "exact simulation", "linkage.success_bound": "bound", "linkage.matched": "exact estimate",
    "linkage.original_matched": "exact simulation", "dp.membership": "bound",
    "items.o_estimate": "estimate", "items.sample_knowledge": "simulation", "matching.o_estimate": "estimate",
    "items.similar_pairs": "simulation bound",
    "matching.heuristic": "estimate", "matching.bethe": "estimate", "release.suspected_identifiers": "estimate",
    "release.repeated_people": "estimate", "release.safe_harbor": "estimate", "classes.individual_risk": "estimate",
    "classes.household_risk": "exact bound estimate", "classes.k_map": "exact estimate",
    "network.automorphism": "exact bound", "network.active": "simulation", "network.passive": "simulation",
    "network.unmasked": "exact estimate",
    "inference.facts": "exact bound", "inference.score": "exact bound",
}  # fmt: skip
BOUND = "Nobody who knows fewer columns does better."


HIGHER = {"classes.k", "classes.l_distinct", "classes.l_entropy", "classes.known_items", "classes.k_map",
          "linkage.sparsity", "items.alpha_max", "matching.alpha_max", "matching.degree_of_anonymity",
          "network.degree_k", "inference.facts"}  # fmt: skip
TOLERATED = {"classes.k": 5, "classes.l_distinct": 2, "classes.intersection": 0, "items.expected_cracks": 0.1,
             "items.itemsets_vulnerable": 0.1, "matching.expected_cracks": 0.1, "matching.sets_vulnerable": 0.1,
             "network.degree_k": 5, "release.identifiers": 0}  # fmt: skip
COUNTS = {"classes.k", "classes.l_distinct", "classes.known_items", "classes.k_map", "network.degree_k",
          "release.identifiers", "release.suspected_identifiers", "release.safe_harbor",
          "inference.facts"}  # fmt: skip
NUMBERS = {f"classes.{name}" for name in ("recursive_c", "l_entropy", "beta", "beta_enhanced", "delta_disclosure")}
NUMBERS |= {"inference.score"}
OF_ALL = {"items.expected_cracks", "items.o_estimate", "items.correlation", "items.never_together",
          "items.sample_knowledge", "items.similar_pairs",
          *(f"matching.{name}" for name in ("expected_cracks", "o_estimate", "heuristic", "bethe"))}  # fmt: skip
SAMPLED = {"classes.population_uniques", "items.expected_cracks", "items.alpha_max", "items.itemsets_vulnerable",
           "items.sample_knowledge", "items.similar_pairs", "items.correlation", "items.never_together",
           "linkage.success", "linkage.everything_learned", "linkage.unicity", "linkage.sparsity",
           "inference.learned", "inference.certain", "network.active", "network.passive",
           "linkage.original_matched", "matching.expected_cracks", "matching.alpha_max",
           "matching.sets_vulnerable"}  # fmt: skip


def test_declarations() -> None:
    """Which way is safer, what is tolerated and in which unit, written down once more."""
    for name, risk in all_risks().items():
        assert risk.id == name and risk.question == name.partition(".")[0]
        assert risk.safer == ("higher" if name in HIGHER else "lower"), name
        assert risk.tolerance == TOLERATED.get(name), name
        assert risk.unit == ("count" if name in COUNTS else "number" if name in NUMBERS else "share"), name
        assert risk.per_subject == (name in OF_ALL), name
        assert risk.sampled == (name in SAMPLED), name


def every(*names: str) -> Iterator[tuple[str, Finding]]:
    """All findings of these cases, or of all."""
    for name in names or CASES:
        for finding in assessed(name).findings:
            yield name, finding


def setting(policy: Policy, room: str, name: str) -> object:
    return getattr(policy.settings_for(room_settings()[room]), name)


def test_every_risk_is_found_somewhere() -> None:
    found = {f.id for _, f in every()}
    assert found == set(all_risks())
    assert {f.question for _, f in every()} == {q.name for q in QUESTIONS}


@pytest.mark.parametrize("name", CASES)
def test_findings_are_told_apart_and_name_columns_that_exist(name: str) -> None:
    release, findings = CASES[name]().case.release, assessed(name).findings
    keys = [(f.id, f.column, f.known) for f in findings]
    assert len(set(keys)) == len(keys)
    assert len({f.title for f in findings}) == len(findings)
    for f in findings:
        if f.id == "items.itemsets_vulnerable":
            continue
        columns = getattr(release, "columns", ())
        assert f.column is None or f.column in columns
        assert set(f.known or ()) <= set(columns)
        assert f.column not in (f.known or ())
        assert assessed(name).find(f.id, column=f.column, known=f.known) is f


@pytest.mark.parametrize("name", CASES)
def test_findings_follow_from_declarations_and_policy(name: str) -> None:
    policy, assessment = CASES[name]().policy, assessed(name)
    guessed = {c.name for c in assessment.columns if c.origin == "guessed"}
    sensitive = {c.name for c in assessment.columns if c.role == "sensitive"}
    for f in assessment.findings:
        risk, limit = find_risk(f.id), tolerated(policy, find_risk(f.id))
        assert (f.question, f.direction) == (f.id.partition(".")[0], risk.safer)
        people = "people" if policy.subject else "rows"
        unit = IN_THEIR_OWN_UNIT.get(f.id, people if f.id == "classes.k" else "share")
        assert f.unit == ("items" if unit == "facts" and CASES[name]().case.release.kind == "transactions" else unit)
        informs = (
            (f.question == "classes" and sensitive & set(f.known or ()) and BOUND not in f.attacker
             and not setting(policy, "classes", "others_known"))
            or (f.id == "items.similar_pairs" and "similar" not in CASES[name]().case.holds)
            or (f.id == "items.correlation" and setting(policy, "items", "known_pairs") is None)
            or (f.id == "items.itemsets_vulnerable" and setting(policy, "items", "itemsets") is None)
        )  # fmt: skip
        if informs or limit is None:
            assert f.tolerance is None
        else:
            assert f.tolerance == pytest.approx(limit * f.subjects if risk.per_subject else limit)
        may_decide = f.method != "estimate" and BOUND not in f.attacker and f.column not in guessed
        assert f.decides == (f.tolerance is not None and may_decide)
        expected = None
        if f.tolerance is not None:
            ends = [harmful(f, x) for x in f.interval or (f.value, f.value)]
            expected = "over" if all(ends) else "open" if any(ends) else "within"
            expected = "open" if f.method == "estimate" else expected
        assert f.status == expected


@pytest.mark.parametrize("name", CASES)
def test_methods_intervals_and_confidence(name: str) -> None:
    attacked, assessment = CASES[name](), assessed(name)
    kind = attacked.case.release.kind
    asked = [risk for q in questions_about(kind) for risk in q.risks]
    sampled = sum(risk.sampled and tolerated(attacked.policy, risk) is not None for risk in asked)
    for f in assessment.findings:
        assert f.value is not None and not math.isnan(f.value)
        assert f.subjects >= 0
        assert f.source
        assert f.method in METHODS.get(f.id, "exact").split(), f.id
        if f.method == "exact":
            assert f.interval is None and f.confidence is None
        if f.method == "estimate":
            assert f.interval is None and not f.decides
        if f.method in ("bound", "simulation"):
            assert f.interval is not None and f.interval[0] <= f.value <= f.interval[1]
        if f.method == "simulation":
            assert find_risk(f.id).sampled
            assert f.confidence is not None
        if f.confidence is not None:
            assert f.confidence == pytest.approx(1 - 0.05 / max(1, sampled))
        if f.share is not None:
            assert 0 <= f.share[0] <= f.share[1] <= 1
        if f.unit == "share":
            assert 0 <= f.value <= 1
        if f.unit == "share" and f.direction == "lower" and f.share and f.id != "classes.alpha":
            assert f.share == pytest.approx(f.interval or (f.value, f.value)), "the value is the share"


def test_some_findings_are_bounds_and_some_are_sampled() -> None:
    """Otherwise the rules for them would hold for nothing."""
    methods = {f.method for _, f in every()}
    assert methods >= {"exact", "bound", "simulation", "estimate"}
    confidences = {round(f.confidence, 9) for _, f in every() if f.confidence is not None}
    assert len(confidences) >= 3, "several numbers of sampled findings that decide"
    assert {f.status for _, f in every()} == {None, "over", "within", "open"}


def test_attacks_that_find_somebody_have_a_baseline() -> None:
    for name, f in every():
        assert (f.baseline is not None) == (f.id in FOUND_IN_AN_ATTACK), (name, f.id)


@pytest.mark.parametrize("name", CASES)
def test_guessing_achieves_the_baseline(name: str) -> None:
    """One of all subjects, or one item or entry on average: a random assignment has one fixed point. Where higher is
    safer, it is what someone who knows nothing faces."""
    attacked = CASES[name]()
    for f in assessed(name).findings:
        if (f.question == "items" and f.unit == "items") or f.id == "matching.expected_cracks":
            assert f.baseline == 1 or f.id == "items.o_estimate"
        elif f.id == "linkage.matched":
            assert f.baseline == pytest.approx(1 / attacked.case.release.rows)
        elif f.id == "network.unmasked":
            (known,) = attacked.case.held_releases("known_network")
            assert f.baseline == pytest.approx(1 / max(known.nodes, attacked.case.release.nodes))
        elif f.id == "classes.presence":
            (people,) = attacked.case.held_releases("population")
            assert f.baseline == pytest.approx(f.subjects / people.rows)
        elif f.question == "inference" or f.id in (
            "matching.sets_vulnerable", "items.itemsets_vulnerable", "network.passive",
        ):  # fmt: skip
            assert f.baseline is None or 0 <= f.baseline <= 1
        elif f.id == "linkage.everything_learned":
            assert f.baseline >= 1 / f.subjects - 1e-12
        elif f.id == "release.order":
            assert f.baseline == 0
        elif f.id == "dp.membership":  # who believes with even chances before
            assert f.baseline == 0.5
        elif f.id == "classes.k":
            assert f.baseline == f.subjects
        elif f.id == "classes.l_distinct":
            assert f.value <= f.baseline <= attacked.case.release.rows
        elif f.id == "release.interval_disclosure":
            far = 0.01 * statistics.pstdev(x for x, _ in INCOMES)
            close = sum(abs(x - y) <= far for x, _ in INCOMES for _, y in INCOMES)
            assert f.baseline == pytest.approx(close / len(INCOMES) ** 2)
        elif f.baseline is not None:
            assert f.baseline == pytest.approx(1 / f.subjects)


@pytest.mark.parametrize("name", CASES)
def test_curves_can_be_drawn(name: str) -> None:
    for f in assessed(name).findings:
        assert len({c.title for c in f.curves}) == len(f.curves)
        for c in f.curves:
            if not isinstance(c, Curve):
                continue
            assert len(c.x) == len(c.y) >= 1
            assert all(math.isfinite(y) for y in c.y)
            if c.low is not None and c.high is not None:
                assert all(a - 1e-9 <= y <= b + 1e-9 for a, y, b in zip(c.low, c.y, c.high, strict=True))
            if c.y_label.startswith("share"):
                assert all(0 <= y <= 1 for y in c.y)
            if c.kind == "line" and c.series is None:
                assert list(c.x) == sorted(c.x)


# ---- tolerances just above and just below ----------------------------------------------------------------------------


@cache
def first_of_each() -> tuple[tuple[str, Finding], ...]:
    """One finding of every risk that can decide, from the first small case in which a tolerance can be on either side
    of its value."""
    found: dict[str, tuple[str, Finding]] = {}
    for name, f in every(*(name for name in CASES if name not in DEMOS)):
        may_decide = (f.decides or f.tolerance is None) and f.method != "estimate" and BOUND not in f.attacker
        low, high = f.interval or (f.value, f.value)
        most = f.subjects if find_risk(f.id).per_subject else 1
        room_left = low > 0 and math.isfinite(high) and (find_risk(f.id).unit != "share" or high < most)
        names_columns = len(f.known or ()) <= max((len(g) for g in CASES[name]().policy.quasi), default=0)
        if may_decide and room_left and (names_columns or not f.column) and f.id != "items.itemsets_vulnerable":
            found.setdefault(f.id, (name, f))
    return tuple(found.values())


def test_a_tolerance_decides_from_exactly_the_value_on() -> None:
    for name, f in first_of_each():
        risk, (low, high) = find_risk(f.id), f.interval or (f.value, f.value)
        scale = f.subjects if risk.per_subject else 1
        below, above = (low - 1, high + 1) if risk.unit == "count" else (low * (1 - 1e-6), high * (1 + 1e-6))
        over, within = (below, above) if risk.safer == "lower" else (above, below)
        for limit, status in ((over, "over"), (within, "within"), (f.value, "within")):
            if status == "within" and limit == f.value and f.interval is not None:
                continue
            policy = CASES[name]().policy
            tolerance = {**policy.tolerance, f.id: round(limit) if risk.unit == "count" else limit / scale}
            found = unveil.assess(CASES[name]().case, replace(policy, tolerance=tolerance), only=f.id)
            again = found.find(f.id, column=f.column, known=f.known)
            if f.id != "items.similar_pairs":  # of which samples are drawn until it is clear on which side it is
                assert again.value == pytest.approx(f.value)
            assert again.tolerance == pytest.approx(limit)
            assert (again.status, again.decides) == (status, True), (name, f.id, limit)
            assert (found.verdict.decision == "protect first") == any(x.status == "over" for x in found.findings)


def test_nearly_every_risk_is_tried_on_both_sides_of_a_tolerance() -> None:
    left = set(all_risks()) - {f.id for _, f in first_of_each()}
    estimates = {"classes.dis_suda", "release.suspected_identifiers", "items.o_estimate", "release.safe_harbor"}
    estimates |= {"classes.individual_risk"}
    estimates |= {f"matching.{name}" for name in ("o_estimate", "heuristic", "bethe")}
    assert left <= {
        *estimates,
        "network.passive",  # nobody is found in such small networks; tests/network has larger ones
        "items.itemsets_vulnerable",
        "items.sample_knowledge",
        "items.similar_pairs",
        "classes.population_uniques",
        "linkage.success_bound",
        "release.repeated_people",
    }


def test_a_tolerance_inside_the_interval_leaves_it_open() -> None:
    case = CASES["sample"]()
    f = assessed("sample")["classes.population_uniques"]
    assert f.interval is not None
    middle = sum(f.interval) / 2
    policy = replace(case.policy, tolerance={"classes.population_uniques": middle})
    found = unveil.assess(case.case, policy, only="classes.population_uniques")
    assert found["classes.population_uniques"].status == "open"
    assert found.verdict.decision == "your call"
    assert found.verdict.because == "classes.population_uniques"


def test_a_tolerance_that_is_off_only_informs() -> None:
    case = CASES["people"]()
    policy = replace(case.policy, tolerance={**case.policy.tolerance, "classes.k": None})
    found = unveil.assess(case.case, policy, only=["classes.k", "classes.at_risk"])
    for f in found.findings:
        assert f.decides == (f.id == "classes.at_risk")
        assert f.share == assessed("people").find(f.id, known=f.known).share or True
    assert found["classes.k"].tolerance is None
    assert "fewer than 5" in found["classes.at_risk"].sentence, "the preset still says what few means"


@pytest.mark.parametrize("exposed", [0, 1, 3])
def test_no_more_subjects_are_listed_than_asked_for(exposed: int) -> None:
    for name in ("people", "visits", "baskets", "matrix", "directed graph", "ratings", "linked", "holes as wildcard"):
        for few, many in zip(assessed(name, exposed=exposed).findings, assessed(name).findings, strict=True):
            assert few.exposed == many.exposed[:exposed], few.id
