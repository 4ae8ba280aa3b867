"""Who asks, and what a policy may say: doubts, provenance, what was left out, and checks at their exact limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unveil
from contract.cases import CASES, PEOPLE, assessed, table
from unveil import Case, Finding, Policy, Run, Transactions, UnveilError, questions
from unveil.owner_key import load_owner_key
from unveil.policy import is_hierarchy_rule
from unveil.question import Artefact, Question
from unveil.questions import find_risk
from unveil.risk import Risk
from unveil.settings import Setting, check_value, option_text

GIVEN = Policy(
    identifier=("name",), quasi=(("age", "zip"),), sensitive=("diagnosis",), insensitive=("job", "income", "sex")
)


def people(**more: Any) -> Case:
    return Case(table(PEOPLE, "people"), **more)


# ---- doubts ----------------------------------------------------------------------------------------------------------


def harmless() -> Any:
    return table([{"sex": "fm"[k % 2], "shoe": "ab"[k // 2 % 2]} for k in range(20)], "harmless")


@pytest.mark.parametrize(
    ("policy", "only", "reasons"),
    [
        (Policy(quasi=("sex",)), None, ()),
        (
            Policy(quasi=("sex",), require=("network", "matching")),
            None,
            ("The policy requires an answer, but no finding has a tolerance to compare with: network and matching.",),
        ),
        (
            Policy(quasi=("sex",), tolerance={"classes.k_map": 3, "linkage.success": 0.1}),
            None,
            ("Not measured, although the policy sets a tolerance: classes.k_map and linkage.success.",),
        ),
        (Policy(quasi=("sex",), tolerance={"classes.k": 4, "classes.intersection": 0}), None, ()),
        (
            Policy(quasi=("sex",), tolerance={"classes.dis_suda": 1.0}, settings={"classes": {"population_size": 99}}),
            None,
            ("Not measured, although the policy sets a tolerance: classes.dis_suda.",),
        ),
        (Policy(sensitive=("shoe",), quasi=("sex",)), "release", (
            "Not asked, although there is a tolerance: classes.k and classes.l_distinct.",
        )),
        (Policy(insensitive=("sex", "shoe")), None, ("The policy does not say what an attacker may know.",)),
        (Policy(sensitive=("shoe",)), None, (
            "The role of sex is a guess; confirm it in the policy.",
        )),
    ],
)  # fmt: skip
def test_doubts(policy: Policy, only: str | None, reasons: tuple[str, ...]) -> None:
    assert unveil.assess(harmless(), policy, only=only).verdict.reasons[: len(reasons) or None] == reasons


def test_an_estimate_that_only_the_policy_holds_against_a_tolerance_is_a_doubt() -> None:
    tolerance = {"matching.o_estimate": 0.9, "matching.expected_cracks": 0.99}
    verdict = unveil.assess(CASES["matrix"]().case, Policy(tolerance=tolerance)).verdict
    assert verdict.reasons == (
        "Cracks by the O-estimate: 1.833, must be at most 2.7; this is an estimate, so it cannot decide.",
    )
    without = unveil.assess(CASES["matrix"]().case, Policy(tolerance={"matching.expected_cracks": 0.99})).verdict
    assert without.decision == "release"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (1, "1 of 11 rows lacks a quasi-identifier and was left out."),
        (2, "2 of 12 rows lack a quasi-identifier and were left out."),
    ],
)
def test_rows_that_were_left_out_are_a_doubt(rows: int, said: str) -> None:
    made = table([{"sex": "f"}] * 10 + [{"sex": None}] * rows, "some")
    policy = Policy(quasi=("sex",), missing_as="excluded")
    assert said in unveil.assess(made, policy).verdict.reasons
    assert said not in unveil.assess(made, Policy(quasi=("sex",))).verdict.reasons


def test_ratings_without_a_tolerance_are_a_doubt() -> None:
    said = "linkage.success has no tolerance, so nothing says how many people may be found from a few ratings."
    (reason,) = assessed("dated ratings").verdict.reasons
    assert reason.endswith(said) and reason.startswith("People found by someone who knows 3 random ratings: 80%")
    assert not any(said in r for r in assessed("ratings").verdict.reasons)


def test_ratings_are_no_doubt_where_only_known_people_are_asked_about() -> None:
    ratings = CASES["dated ratings"]()
    known = table([{"film": "alien", "stars": "5", "date": "2020-01-01"}], "known")
    case = Case(ratings.case.release, holds={"people": known})
    policy = Policy(ratings=("person", "film", "stars", "date"))
    said = "nothing says how many people may be found from a few ratings"
    assert any(said in r for r in unveil.assess(case, policy, only="linkage.success").verdict.reasons)
    assert not any(said in r for r in unveil.assess(case, policy, only="linkage.matched").verdict.reasons)
    (silent,) = [r for r in unveil.assess(case, policy, only="release").verdict.reasons if said in r] or [""]
    assert not silent


# ---- what is asked, what is left out ---------------------------------------------------------------------------------


def test_what_was_not_asked_is_told() -> None:
    found = unveil.assess(people(), GIVEN, only=["classes.k", "release"])
    release = ["release.identifiers", "release.repeated_people", "release.safe_harbor", "release.order"]
    assert [f.id for f in found.findings] == [*release, "classes.k"]
    own = {risk.id for risk in questions.risks_about("table") if risk.question == "classes"}
    assert "classes.known_items" not in own
    assert set(found.not_asked) == (own - {"classes.k"}) | {"linkage", "inference"}
    assert unveil.assess(people(), GIVEN).not_asked == ()
    with pytest.raises(UnveilError, match=r"no question is called 'classes\.kk'; did you mean 'classes\.k'\?"):
        unveil.assess(people(), GIVEN, only="classes.kk")


@pytest.mark.parametrize("case", ["people", "visits", "population", "intersection", "holes as excluded", "baskets"])
def test_a_risk_alone_is_what_it_is_among_all(case: str) -> None:
    attacked = CASES[case]()
    for risk in dict.fromkeys(f.id for f in assessed(case).findings if not find_risk(f.id).sampled):
        alone = unveil.assess(attacked.case, attacked.policy, only=risk).findings
        among = [f for f in assessed(case).findings if f.id == risk]
        assert [(f.id, f.value, f.sentence, f.known, f.exposed) for f in alone] == [
            (f.id, f.value, f.sentence, f.known, f.exposed) for f in among
        ]


TOY = Risk("toy.level", title="Level", unit="share", safer="lower", tolerance=0.5, summary="A level.")


def toy(ask: Any, **more: Any) -> Question:
    return Question(name="toy", title="Toy?", kinds=("table",), risks=(TOY,), ask=ask, **more)


def level(policy: Policy) -> Finding:
    return TOY.finding(policy, value=0.1, subjects=1, attacker="Knows it.", sentence="It is low.")


def test_what_a_question_could_not_finish_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(case: Case, policy: Policy, run: Run) -> Iterator[Finding | Artefact]:
        yield level(policy)
        yield Artefact("links", table=lambda: None)
        raise UnveilError("the file ends too early")

    def none(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
        raise MemoryError
        yield

    monkeypatch.setattr(questions, "QUESTIONS", (toy(some),))
    found = unveil.assess(harmless(), Policy(quasi=("sex",)))
    assert [f.id for f in found.findings] == ["toy.level", "toy.failed"]
    failed = found["toy.failed"]
    assert failed.sentence == "The rest could not be measured: the file ends too early."
    assert (failed.title, failed.question, failed.subjects, failed.decides) == ("Part of “Toy?”", "toy", 0, True)
    assert (failed.value, failed.method, failed.unit, failed.status) == (None, None, "", "failed")
    assert found.verdict.reasons == ("Part of “Toy?”: could not be measured.",)
    assert list(found.artefacts) == ["links"]
    monkeypatch.setattr(questions, "QUESTIONS", (toy(none),))
    assert unveil.assess(harmless()).findings[0].sentence.startswith("This could not be measured: not enough memory")
    kept = unveil.assess(harmless(), only="toy.level")
    assert [f.id for f in kept.findings] == ["toy.failed"], "a failure is no risk, and is told all the same"


def test_questions_may_refuse_and_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(case: Case, policy: Policy) -> None:
        raise UnveilError("that cannot be right")

    def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
        yield level(policy)

    doubting = toy(ask, doubts=lambda case, policy, findings: [f"Sees {len(findings)} finding."])
    monkeypatch.setattr(questions, "QUESTIONS", (doubting, toy(ask, check=None)))
    assert unveil.assess(harmless()).verdict.reasons == ("Sees 2 finding.",)
    monkeypatch.setattr(questions, "QUESTIONS", (toy(ask, check=refuse),))
    with pytest.raises(UnveilError, match="that cannot be right"):
        unveil.assess(harmless())


def test_progress_and_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    found = unveil.assess(people(), GIVEN, progress=lambda doing, done: said.append(doing))
    assert {"How many look alike?", "Does the release itself name anyone?"} <= set(said)
    assert all(f.seconds >= 0 for f in found.findings)
    assert found.provenance.seconds >= sum(f.seconds for f in found.findings) - 0.01


# ---- provenance ------------------------------------------------------------------------------------------------------


def test_provenance_tells_how_to_make_it_again() -> None:
    attacked = CASES["intersection"]()
    told = assessed("intersection").provenance
    key = load_owner_key()
    assert told.hmac_sha256 == key.hash_text(attacked.case.release.digest) and len(told.hmac_sha256) == 64
    assert told.beside == {name: key.hash_text(held.digest) for name, held in attacked.case.holds.items()}
    assert told.key_id == key.id and told.plain_sha256 is None
    digests = {"release": attacked.case.release.digest, **{n: h.digest for n, h in attacked.case.holds.items()}}
    assert assessed("intersection", reveal=True).provenance.plain_sha256 == digests
    assert (
        told.seed == 0 and unveil.assess(people(), Policy(seed=5, quasi=("age",)), only="release").provenance.seed == 5
    )
    assert set(told.versions) == {"python", "unveil", "numpy", "pyarrow", "duckdb"}
    assert Policy.from_dict(told.policy) == attacked.policy
    assert told.started.endswith("+00:00")
    assert set(assessed("icd").provenance.beside) == {"hierarchy of icd"}
    baskets = Transactions.from_baskets([["a"]])
    made = unveil.assess(Case(baskets, baskets, truth=__import__("numpy").array([0])), only="items.point_knowledge")
    assert made.provenance.beside == {"original": key.hash_text(baskets.digest)}


def test_values_that_are_ruled_out_are_hidden_unless_revealed() -> None:
    hidden, shown = (assessed("people", reveal=r).provenance.policy["classes"]["ruled_out"] for r in (False, True))
    assert hidden == {"diagnosis": ["hidden", "hidden"]}
    assert shown == {"diagnosis": ["flu", "leprosy"]}


def test_the_summary_and_the_columns() -> None:
    found = assessed("people")
    assert (found.release.kind, found.release.name, dict(found.release.size)) == (
        "table", "people", {"rows": 10, "columns": 7},
    )  # fmt: skip
    assert {c.name: (c.role, c.origin) for c in found.columns}["diagnosis"] == ("sensitive", "given")
    assert found.suggestion is None
    assert assessed("guessed").suggestion == ("--quasi age,zip,sex,job --identifier name --sensitive diagnosis,income")
    assert assessed("graph").columns == ()


def test_roles_are_for_tables() -> None:
    for policy in (Policy(quasi=("a",)), Policy(subject="a"), Policy(hierarchy={"a": "prefixes"})):
        with pytest.raises(UnveilError, match="was read as a graph, which has no columns"):
            unveil.assess(CASES["graph"]().case, policy)
    with pytest.raises(UnveilError, match="no question is called 'clases'; did you mean 'classes'"):
        unveil.assess(people(), Policy(require=("clases",)))
    with pytest.raises(UnveilError, match=r"cannot assess a str: give what unveil\.read"):
        unveil.assess(Case("x"))  # type: ignore[arg-type]
    with pytest.raises(UnveilError, match="the policy is a dict"):
        unveil.assess(people(), {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("compare", "said"),
    [
        ({"shoe": "2"}, "no column is called 'shoe'"),
        ({"income": "2"}, "compare names income, which is not a quasi-identifier"),
        ({"sex": "2"}, "sex"),
    ],
)
def test_comparisons_that_cannot_be_made_are_refused(compare: dict[str, str], said: str) -> None:
    quasi = ("age", "zip", "sex")
    policy = Policy(quasi=quasi, insensitive=("income",), settings={"linkage": {"compare": compare}})
    with pytest.raises(UnveilError, match=said):
        unveil.assess(people(), policy)
    fine = Policy(quasi=quasi, insensitive=("income",), settings={"linkage": {"compare": {"age": "2"}}})
    found = unveil.assess(people(), fine, only="linkage.success")["linkage.success"]
    assert found.attacker.endswith(" These count as the same: age at most 2 apart.")


def test_ratings_that_cannot_be_used_are_refused() -> None:
    rows = CASES["ratings"]().rows
    policy = Policy(ratings=("person", "film", "stars"))
    lacking = table([*rows, {"person": "u9", "film": None, "stars": "1"}], "lacking")
    with pytest.raises(UnveilError, match="lacking: 1 row has no value in 'film'"):
        unveil.assess(lacking, policy)
    with pytest.raises(UnveilError, match="twice"):
        unveil.assess(table([*rows, rows[0]], "twice"), policy)


def test_what_is_held_beside_baskets_must_fit_them() -> None:
    baskets = CASES["plain baskets"]().case.release
    beliefs = table([{"item": "1", "low": "0.1", "high": "0.9"}], "beliefs")
    strange = table([{"item": "?", "low": "0.1", "high": "0.9"}], "strange")
    with pytest.raises(UnveilError, match="beliefs and similar baskets exclude each other"):
        unveil.assess(Case(baskets, holds={"beliefs": beliefs, "similar": baskets}))
    with pytest.raises(UnveilError, match="strange: none of its items is in"):
        unveil.assess(Case(baskets, holds={"beliefs": strange}))
    with pytest.raises(UnveilError, match="strange: there is no column category"):
        unveil.assess(Case(baskets, holds={"categories": strange}))
    with pytest.raises(UnveilError, match="no item of baskets occurs"):
        unveil.assess(Case(baskets, holds={"similar": Transactions.from_baskets([["z"]])}))
    with pytest.raises(UnveilError, match="itemsets 9: there are none among 6 items"):
        unveil.assess(Case(baskets), Policy(settings={"items": {"itemsets": "9"}}))


# ---- what a policy may say -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("risk", "right", "wrong", "said"),
    [
        ("classes.k", (0, 1, 5, 5.0), (-1, 2.5, float("inf"), float("nan")), "must be"),
        ("classes.uniques", (0, 0.5, 1), (1.01, -0.1, 5), "must be 0 or more|write 0.05 for 5%"),
        ("classes.beta", (0, 0.3, 7.5), (-0.1, float("inf")), "must be 0 or more"),
    ],
)
def test_tolerances_at_their_limits(risk: str, right: tuple[float, ...], wrong: tuple[float, ...], said: str) -> None:
    for value in right:
        assert Policy(tolerance={risk: value}).tolerance_for(risk) == value
    for value in wrong:
        with pytest.raises(UnveilError, match=said):
            Policy(tolerance={risk: value})
        with pytest.raises(UnveilError, match=f"the tolerance of {risk}"):
            find_risk(risk).check_tolerance(value)


def test_the_threshold_is_the_tolerance_or_what_the_preset_would_say() -> None:
    assert Policy(tolerance={"classes.k": 0}).threshold("classes.k") == 0
    assert Policy(tolerance={"classes.k": None}).threshold("classes.k") == 5
    assert Policy(preset="ema-0070", tolerance={"classes.k": None}).threshold("classes.k") == 11
    assert Policy(preset="ema-0070").tolerance_for("classes.reidentification") == 0.09
    assert Policy().preset_tolerance("items.correlation") == 0.1
    assert Policy(tolerance={"items.expected_cracks": None}).tolerance_for("items.correlation") is None
    assert Policy(tolerance={"items.expected_cracks": 0.3}).preset_tolerance("items.correlation") == 0.1
    with pytest.raises(UnveilError, match=r"no finding is called 'classes\.q'"):
        Policy().tolerance_for("classes.q")


def test_ratings_name_two_to_four_columns() -> None:
    for columns in (("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")):
        assert Policy(ratings=columns).subject == "a"
    for columns in (("a",), ("a", "b", "c", "d", "e"), ("a", "a"), ("a", "b", "b")):
        with pytest.raises(UnveilError, match="ratings must name two to four columns"):
            Policy(ratings=columns)
    assert Policy(ratings=("a", "b"), subject="a").subject == "a"
    with pytest.raises(UnveilError, match="the first column of ratings says whose they are"):
        Policy(ratings=("a", "b"), subject="b")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"missing_as": "wildcard", "subject": "a"}, "is for tables with one row per person"),
        ({"missing_as": "some"}, "missing_as must be one of value, wildcard and excluded"),
        ({"hierarchy": {"a": "prefixes:x"}}, "the hierarchy of a: 'prefixes:x' is not a rule"),
        ({"hierarchy": {"a": "intervals"}}, "is not a rule"),
        ({"hierarchy": {"a": "dates:3"}}, "is not a rule"),
        ({"hierarchy": {"a": ""}}, "hierarchy for a must be a file name or a rule such as prefixes"),
        ({"hierarchy": {"a": True}}, "hierarchy for a must be"),
        ({"hierarchy": 3}, r"\[hierarchy\] must be a table such as \[hierarchy\] with zip = \"prefixes\" under it"),
        ({"identifier": ("a",), "quasi": ("a",)}, "'a' is named as both identifier and quasi"),
        ({"identifier": ("a", "a")}, "'a' is named as identifier twice"),
        ({"quasi": (("a",), ())}, "a set of quasi-identifiers is empty"),
        ({"quasi": (("a", "b"), ("b", "a"))}, "is named twice"),
        ({"quasi": (("a", "b", "a"),)}, "names a column twice"),
        ({"settings": {"classes": 3}}, r"\[classes\] must be a table of settings"),
        ({"seed": -1}, "seed must be a whole number, 0 or more"),
        ({"subject": 3}, "subject must be the name of one column"),
        ({"sensitive": [3]}, "sensitive must be a list of names"),
        ({"settings": {"classes": {"ruled_out": {"a": [3]}}}}, "ruled_out for a must be a list of names"),
        ({"settings": {"classes": {"sampling_fraction": 0}}}, "above 0 and up to 1"),
        ({"settings": {"classes": {"population_size": 0}}}, "from 1 to 1,000,000,000,000"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        Policy(**given)


def test_columns_and_roles_in_their_order() -> None:
    policy = Policy(quasi=(("b", "a"), ("a", "c")), identifier="i", sensitive="s", insensitive="n")
    assert policy.quasi_columns == ("b", "a", "c")
    assert policy.roles == {
        "i": "identifier",
        "b": "quasi",
        "a": "quasi",
        "c": "quasi",
        "s": "sensitive",
        "n": "insensitive",
    }
    assert Policy(missing_as="wildcard").missing_as == "wildcard" and Policy(subject="a").subject == "a"


def test_rules_and_files_for_hierarchies(tmp_path: Path) -> None:
    rules = ("prefixes", "prefixes:4,2", "intervals:5,10", "dates")
    assert all(map(is_hierarchy_rule, rules)) and not any(
        map(is_hierarchy_rule, ("prefixes:", "interval:5", "zip.csv", "dates2"))
    )
    text = '[hierarchy]\nzip = "prefixes:3"\njob = "jobs.csv"\n'
    (tmp_path / "p.toml").write_text(text)
    assert Policy.from_toml(tmp_path / "p.toml").hierarchy == {"zip": "prefixes:3", "job": str(tmp_path / "jobs.csv")}


SETTINGS = [
    ("flag", {}, [(True, True), (False, False)], [1, "yes", None, 0]),
    ("whole number", {"at_least": 1, "at_most": 9}, [(1, 1), (9, 9), (4.0, 4)], [0, 10, 2.5, True, "4"]),
    ("share", {}, [(0, 0.0), (1, 1.0), (0.25, 0.25)], [-0.01, 1.01, True, "x"]),
    ("share", {"greater_than": 0}, [(0.001, 0.001), (1, 1.0)], [0, 2]),
    ("share", {"choices": ("gap",)}, [("gap", "gap"), (0.5, 0.5)], ["gaps", 3]),
    ("text", {"choices": ("a", "b")}, [("a", "a")], ["c", 3]),
    ("text", {"pattern": "x+", "expected_form": "some x"}, [("xx", "xx")], ["y", "xy"]),
    ("column", {}, [("a", "a")], [3, ["a"]]),
    ("columns", {}, [("a", ("a",)), (["a", "b"], ("a", "b"))], [3, [1]]),
    ("texts", {}, [((), ())], [{}]),
    ("sets of columns", {}, [(["a", "b"], (("a", "b"),)), ([["a"], ["b"]], (("a",), ("b",))), ([], ()),
     ("a", (("a",),))], [3, [["a"], 3]]),
    ("text per column", {}, [({"a": "x"}, {"a": "x"}), ({"a": 2}, {"a": "2"})], [3, {"a": ""}, {"a": True}, {"a": []}]),
    ("text per column", {"pattern": r"\d"}, [({"a": 2}, {"a": "2"})], [{"a": "x"}]),
    ("texts per column", {}, [({"a": "x"}, {"a": ("x",)}), ({"a": []}, {})], [3, {"a": 3}]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "limits", "right", "wrong"), SETTINGS)
def test_settings_at_their_limits(kind: Any, limits: dict[str, Any], right: list[Any], wrong: list[Any]) -> None:
    declaration = Setting(kind, "", **limits)
    for given, kept in right:
        found = check_value("room.name", declaration, given)
        assert (found == kept and type(found) is type(kept)) or dict(found) == kept
    for given in (x for x in wrong if x is not None):
        with pytest.raises(UnveilError, match="name"):
            check_value("room.name", declaration, given)
    assert check_value("room.name", declaration, None) is None


@pytest.mark.parametrize(
    ("kind", "limits", "given", "said"),
    [
        ("whole number", {"at_least": 1, "at_most": 9}, 0, "n must be a whole number from 1 to 9"),
        ("whole number", {"at_least": 2}, 0, "n must be a whole number, 2 or more"),
        ("whole number", {}, "x", "n must be a whole number$"),
        ("share", {}, 2, "n must be a share between 0 and 1 such as 0.1"),
        ("share", {"greater_than": 0, "example": 0.3}, 0, "n must be a share above 0 and up to 1 such as 0.3"),
        ("share", {"choices": ("a", "b")}, 2, "n must be a or b, or a share between 0 and 1 such as 0.1"),
        ("text", {}, 3, "n must be a text"),
        ("text", {"choices": ("a", "b")}, "c", "n must be one of a and b"),
        ("text", {"choices": ("a",), "expected_form": "an a"}, "c", "n must be an a"),
        ("text per column", {}, {"x": []}, "n for x must be a text"),
        ("text per column", {"pattern": "a", "expected_form": "an a"}, {"x": "b"}, "n for x cannot be 'b'; write an a"),
        ("text per column", {"example": 'x = "a"'}, 3, r"\[n\] must be a table such as \[n\] with x = \"a\" under it"),
        ("sets of columns", {}, [["a"], 3], "each set of n must be a list of names"),
    ],
)
def test_what_is_said_about_wrong_settings(kind: Any, limits: dict[str, Any], given: Any, said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        check_value("n", Setting(kind, "", **limits), given)


def test_how_settings_are_typed() -> None:
    assert option_text("missing_as", "excluded") == "--missing-as excluded"
    assert option_text("people") == "--people"
