"""What ``unveil.protect`` tries, weighs and chooses, with protections that are made up and tables that are not.

The room ``toy`` finds what a table says about itself: its column ``level`` is the share of people who are harmed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import unveil
from contract.cases import table
from unveil import Case, Finding, Policy, ProtectedRelease, UnveilError, questions
from unveil.protection import Protection, ProtectionOffer
from unveil.question import Question
from unveil.risk import Risk
from unveil.run import Run

LEVEL = Risk("toy.level", title="Level", unit="share", safer="lower", tolerance=0.5, summary="What the table says.")
OTHER = Risk("toy.other", title="Other", unit="share", safer="lower", tolerance=0.5, summary="What else it says.")
OFF = {"classes.k": 2.0}


def saying(level: str | None, other: str | None = None, *, rows: int = 6, width: str = "0", method: str = "") -> Any:
    """A table that says how harmful it is; None if it says nothing about that."""
    said = {"sex": "f", "level": level, "other": other, "width": width, "method": method}
    return table([{**said, "sex": "fm"[k % 2]} for k in range(rows)], f"level {level}")


def ask(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    row = next(iter(case.release.batches())).to_pylist()[0]  # type: ignore[union-attr]
    for risk, value in ((LEVEL, row["level"]), (OTHER, row["other"])):
        if value is None:
            continue
        x, w = float(value), float(row["width"])
        yield risk.finding(
            policy,
            value=x,
            method=row["method"] or ("simulation" if w else "exact"),
            interval=(x - w, x + w) if w else (x, 1.0),
            subjects=10,
            share=x if x <= 1 else 1.0,
            attacker="Reads the table.",
            sentence=f"It says {value}.",
        )


class Toy:
    """Protections by name, each a table for every strictness, and what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float]] = []
        self.offers: dict[str, ProtectionOffer] = {}

    def offer(
        self,
        name: str,
        results: Mapping[float, Any] | Any,
        usefulness: float = 0.8,
        doubt: str = "",
        **more: Any,
    ) -> None:
        """A protection that leads to a table, or to another one for each strictness; to nothing where there is none."""

        def make(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
            self.asked.append((name, strictness))
            made = results.get(strictness) if isinstance(results, Mapping) else results
            if made is None:
                return None
            said = f"Does {name}."
            return Protection(sentence=said, usefulness=usefulness, apply=lambda: Case(made), doubt=doubt)

        self.offers[name] = ProtectionOffer(name.capitalize(), f"{name.capitalize()}.", make, **more)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    room = Toy()
    question = Question(
        name="toy", title="Toy?", kinds=("table",), risks=(LEVEL, OTHER), ask=ask, protections=room.offers
    )
    others = tuple(replace(q, protections={}) for q in questions.QUESTIONS if q.name in ("release", "classes"))
    monkeypatch.setattr(questions, "QUESTIONS", (*others, question))
    return room


def made(release: Any = None, policy: Policy | None = None, **more: Any) -> ProtectedRelease:
    chosen = policy or Policy(quasi=("sex",), tolerance=OFF)
    return unveil.protect(saying("0.9") if release is None else release, chosen, **more)


def weighed(done: ProtectedRelease) -> dict[str, tuple[float | None, str | None, bool]]:
    return {w.id: (w.usefulness, w.decision, w.chosen) for w in done.assessment.protections}


# ---- which is chosen -------------------------------------------------------------------------------------------------


def test_the_most_useful_that_holds_is_chosen(toy: Toy) -> None:
    toy.offer("good", saying("0.4"), 0.6)
    toy.offer("better", saying("0.5"), 0.8)
    toy.offer("over", saying("0.6"), 0.9)
    toy.offer("none of it", {}, 1.0)
    done = made()
    assert done.release.name == "level 0.5"
    assert weighed(done) == {
        "none": (1.0, "protect first", False),
        "good": (0.6, "release", False),
        "better": (0.8, "release", True),
        "over": (0.9, "protect first", False),
        "none of it": (None, None, False),
    }
    told = {w.id: w for w in done.assessment.protections}
    assert (told["better"].title, told["better"].sentence) == ("Better", "Does better.")
    said = f"Nothing changes. The share harmed is about this risk: {LEVEL.title}."
    assert (told["none"].title, told["none"].sentence) == ("As it is", said)
    assert told["none of it"].sentence.startswith("Nothing of this kind that was tried")
    assert (told["none"].harmed, told["over"].harmed) == ((0.9, 0.9), (0.6, 0.6))
    assert told["better"].harmed == (0.5, 0.5) and told["none of it"].harmed is None
    assert done.before.verdict.decision == "protect first"
    assert done.assessment.verdict.decision == "release"
    assert (done.closest_method, done.blocking_findings, done.caveats) == (None, (), ())
    assert repr(done) == repr(done.assessment)


def test_rows_of_protections_showed_the_harm_of_different_risks(toy: Toy) -> None:
    """The other risk harms more after the protection: the row is still about the risk that decided before."""
    toy.offer("good", saying("0.4", other="0.5"), 0.6)
    done = made(saying("0.9", other="0.5"))
    told = {w.id: w.harmed for w in done.assessment.protections}
    assert told == {"none": (0.9, 0.9), "good": (0.4, 0.4)}
    assert f"The share harmed is about this risk: {LEVEL.title}." in " ".join(done.assessment.to_text().split())


def test_a_verdict_counts_more_than_usefulness(toy: Toy) -> None:
    toy.offer("doubtful", saying("0.1"), 0.9, doubt="It gives something away.")
    toy.offer("plain", saying("0.1"), 0.2)
    done = made()
    assert weighed(done)["plain"][2] and not weighed(done)["doubtful"][2]
    (told,) = (w for w in done.assessment.protections if w.id == "doubtful")
    assert (told.decision, told.sentence) == ("your call", "Does doubtful. It gives something away.")


def test_only_the_chosen_method_is_tried(toy: Toy) -> None:
    toy.offer("good", saying("0.4"), 0.6)
    toy.offer("better", saying("0.5"), 0.8)
    done = made(method="good")
    assert set(weighed(done)) == {"none", "good"} and weighed(done)["good"][2]
    assert {name for name, _ in toy.asked} == {"good"}


def test_caveats_of_the_chosen_one_are_told(toy: Toy) -> None:
    toy.offer("good", saying("0.4"), 0.9, caveat="Mind the gap.")
    toy.offer("bad", saying("0.9"), 0.9, caveat="Never mind.")
    assert made().caveats == ("Mind the gap.",)


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("bettr", "no protection is called 'bettr'; choose from good"),
        ("unsuited", "no protection for such data is called 'unsuited'; choose from good"),
    ],
)
def test_methods_that_are_not_offered(toy: Toy, method: str, error: str) -> None:
    toy.offer("good", saying("0.4"))
    toy.offer("unsuited", saying("0.4"), applies_to=lambda case, policy: False)
    with pytest.raises(UnveilError, match=error):
        made(method=method)
    assert "unsuited" not in weighed(made())
    toy.offers.pop("good")
    assert made().case is None, "only identifiers can be left out, and there are none"


# ---- what is tried ---------------------------------------------------------------------------------------------------


def test_what_is_within_tolerance_stays_as_it_is(toy: Toy) -> None:
    toy.offer("good", saying("0.1"))
    done = made(saying("0.5"))
    assert done.release.name == "level 0.5"
    assert weighed(done) == {"none": (1.0, "release", True)}
    assert not toy.asked
    made(saying("0.5"), method="good")
    assert toy.asked, "unless the owner asks for it"


def test_harmless_protections_are_for_what_is_within_tolerance(toy: Toy) -> None:
    toy.offer("rename", saying("0.4"), 1.0, is_harmless=True)
    toy.offer("good", saying("0.1"), 0.5)
    assert set(weighed(made(saying("0.5")))) == {"none", "rename"}
    assert set(weighed(made(saying("0.9")))) == {"none", "good"}
    assert [s for name, s in toy.asked if name == "rename"] == [1.0]


def test_what_is_open_counts_as_over_where_nothing_is_harmless(toy: Toy) -> None:
    unsure = saying("0.5", width="0.2")
    toy.offer("good", saying("0.1"))
    assert weighed(made(unsure))["good"][2]
    toy.asked.clear()
    toy.offer("rename", unsure, is_harmless=True)
    assert set(weighed(made(unsure))) == {"none", "rename"}
    assert [name for name, _ in toy.asked] == ["rename"]


def test_it_is_asked_for_more_strictly_until_it_holds(toy: Toy) -> None:
    over, fine = saying("0.6"), saying("0.5")
    toy.offer("slow", {1.0: over, 0.95: over, 0.9: fine, 0.8: fine, 0.6: fine, 0.4: fine})
    assert weighed(made())["slow"] == (0.8, "release", True)
    assert [s for _, s in toy.asked] == [1.0, 0.4, 0.95, 0.9]


def test_it_is_not_asked_again_if_the_strictest_is_over_as_well(toy: Toy) -> None:
    toy.offer("hopeless", saying("0.6"))
    assert weighed(made())["hopeless"] == (0.8, "protect first", False)
    assert [s for _, s in toy.asked] == [1.0, 0.4]


def test_it_is_not_asked_again_if_it_holds(toy: Toy) -> None:
    toy.offer("good", saying("0.5"))
    made()
    assert [s for _, s in toy.asked] == [1.0]


def test_a_stricter_one_is_kept_only_if_its_verdict_is_better(toy: Toy) -> None:
    unsure = {s: saying(f"0.5{k}", width="0.2") for k, s in enumerate((1.0, 0.95, 0.9, 0.8, 0.6, 0.4))}
    toy.offer("unsure", unsure)
    assert made().release.name == "level 0.50"
    assert [s for _, s in toy.asked] == [1.0, 0.95, 0.9, 0.8, 0.6, 0.4]
    toy.asked.clear()
    toy.offer("unsure", {**unsure, 0.9: None})
    made()
    assert [s for _, s in toy.asked] == [1.0, 0.95, 0.9], "where nothing can be made, nothing stricter can"


def test_a_bound_that_has_not_moved_is_not_asked_for_again(toy: Toy) -> None:
    stuck = saying("0.3", "0.9", method="bound")
    toy.offer("good", saying("0.3", "0.4", method="bound"))
    done = made(stuck)
    assert done.before["toy.level"].status == "open"
    assert next(s for _, s in toy.asked) == 1.0
    (level,) = (f for f in done.assessment.findings if f.id == "toy.level")
    assert (level.value, level.status) == (0.3, "open")
    toy.asked.clear()
    toy.offer("good", saying("0.3", "0.4"))
    made(stuck)
    assert [s for _, s in toy.asked] == [1.0]


def test_a_truncated_result_is_asked_for_again(toy: Toy) -> None:
    toy.offer("cut", saying("0.2", width="0.1", method="truncated"))
    made()
    assert [s for _, s in toy.asked] == [1.0, 0.95, 0.9, 0.8, 0.6, 0.4]


# ---- what stands in the way ------------------------------------------------------------------------------------------


def test_a_finding_that_is_gone_was_not_made_safe(toy: Toy) -> None:
    """The risk has no answer any more: that is no reason to release."""
    toy.offer("silent", saying(None, "0.1"), 0.9)
    toy.offer("honest", saying("0.4", "0.1"), 0.2)
    done = made(saying("0.9", "0.2"))
    assert weighed(done)["honest"][2] and not weighed(done)["silent"][2]
    toy.offers.pop("honest")
    stopped = made(saying("0.9", "0.2"))
    assert stopped.case is None
    assert (stopped.closest_method, stopped.blocking_findings) == ("silent", ("toy.level",))
    assert not any(w.chosen for w in stopped.assessment.protections)
    assert stopped.assessment.findings == stopped.before.findings
    with pytest.raises(UnveilError, match=r"meets the tolerances; still over: toy\.level"):
        _ = stopped.release


def test_a_finding_that_only_informs_may_go(toy: Toy) -> None:
    toy.offer("silent", saying("0.1", None), 0.9)
    policy = Policy(quasi=("sex",), tolerance={**OFF, "toy.other": None})
    done = made(saying("0.9", "0.9"), policy)
    assert weighed(done)["silent"][2] and done.blocking_findings == ()


def test_the_closest_leaves_the_fewest_in_the_way(toy: Toy) -> None:
    toy.offer("two", saying("0.9", "0.9"), 0.9)
    toy.offer("less useful", saying("0.2", "0.9"), 0.3)
    toy.offer("one", saying("0.9", "0.2"), 0.5)
    done = made(saying("0.9", "0.9"))
    assert (done.closest_method, done.blocking_findings) == ("one", ("toy.level",))
    toy.offers.pop("one")
    toy.offers.pop("less useful")
    assert made(saying("0.9", "0.9")).blocking_findings == ("toy.level", "toy.other")


def test_where_nothing_was_made_nothing_is_closest(toy: Toy) -> None:
    toy.offer("nothing", {})
    done = made()
    assert (done.case, done.closest_method, done.blocking_findings) == (None, None, ("toy.level",))
    assert done.advice == ("toy.level is over its tolerance, and no protection that was tried brings it within",)
    with pytest.raises(
        UnveilError, match=r"none of the protections tried meets the tolerances; still over: toy.level$"
    ):
        _ = done.release


def test_what_a_table_lacks_has_no_mapping(toy: Toy) -> None:
    toy.offer("good", saying("0.1"))
    with pytest.raises(UnveilError, match=r"level 0\.1: only baskets of items and graphs have a mapping"):
        made().mapping()


# ---- doubts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("usefulness", "decision"), [(0.0999, "your call"), (0.1, "release"), (0.0, "your call")])
def test_little_that_is_left_is_left_to_a_person(toy: Toy, usefulness: float, decision: str) -> None:
    toy.offer("harsh", saying("0.1"), usefulness)
    done = made()
    assert weighed(done)["harsh"] == (usefulness, decision, True)
    verdict = done.assessment.verdict
    assert verdict.decision == decision
    if decision == "your call":
        left = {0.0999: "9.99%", 0.0: "0%"}[usefulness]
        assert verdict.reasons == (f"The protected data keeps only {left} of its usefulness. Does harsh.",)
        assert verdict.sentence == verdict.reasons[0]


def test_doubts_come_after_those_of_the_assessment(toy: Toy) -> None:
    toy.offer("harsh", saying("0.5", width="0.1"), 0.05, doubt="It gives something away.")
    verdict = made().assessment.verdict
    assert verdict.reasons == (
        "Level: the interval includes the tolerance (at most 50%).",
        "It gives something away.",
        "The protected data keeps only 5% of its usefulness. Does harsh.",
    )
    assert verdict.because == "toy.level"


def test_doubts_do_not_soften_what_is_over(toy: Toy) -> None:
    toy.offer("harsh", saying("0.9"), 0.05, doubt="It gives something away.")
    assert weighed(made())["harsh"] == (0.05, "protect first", False)


# ---- the same attackers before and after -----------------------------------------------------------------------------


def test_what_is_left_is_attacked_with_what_is_left_of_the_policy(toy: Toy) -> None:
    rows = [{"sex": "fm"[k % 2], "age": str(30 + k % 3), "ill": "ab"[k % 2], "level": "0.1"} for k in range(30)]
    less = [{c: v for c, v in r.items() if c != "age"} | {"other": None, "width": "0", "method": ""} for r in rows]
    before = [r | {"level": "0.9", "other": None, "width": "0", "method": ""} for r in rows]
    toy.offer("columns", table(less, "less"))
    policy = Policy(
        quasi=(("sex", "age"), ("sex",), ("age",)),
        sensitive=("ill",),
        insensitive=("level", "other", "width", "method"),
        tolerance={"classes.l_distinct": 1},
        settings={"classes": {"ruled_out": {"ill": ["a"]}}},
    )
    done = unveil.protect(table(before, "before"), policy)
    assert done.release.name == "less"
    known = {f.known for f in done.assessment.findings if f.id == "classes.k"}
    assert known == {("sex",)}, "sets without the column that is gone, each once"
    assert "rule out the listed value" in done.assessment["classes.l_distinct"].sentence


def test_settings_for_columns_with_new_labels_go(toy: Toy) -> None:
    rows = [{"sex": "fm"[k % 2], "ill": "ab"[k // 2 % 2], "level": "0.9"} for k in range(30)]
    rows = [r | {"other": None, "width": "0", "method": ""} for r in rows]
    new = [r | {"ill": {"a": "A", "b": "B"}[r["ill"]], "level": "0.1"} for r in rows]
    toy.offer("labels", table(new, "new"))
    policy = Policy(quasi=("sex",), sensitive=("ill",), settings={"classes": {"ruled_out": {"ill": ["a"]}}})
    done = unveil.protect(table(rows, "before"), policy)
    assert "rule out the listed value" in done.before["classes.l_distinct"].sentence
    assert "rule out" not in done.assessment["classes.l_distinct"].sentence


def test_progress_says_what_is_tried(toy: Toy) -> None:
    toy.offer("slow", {1.0: saying("0.6"), 0.95: saying("0.5"), 0.4: saying("0.5")})
    said: list[str] = []
    made(progress=lambda doing, done: said.append(doing))
    assert [s for s in said if s.startswith("slow, aiming at")] == [
        "slow, aiming at 100%", "slow, aiming at 40%", "slow, aiming at 95%",
    ]  # fmt: skip


def test_reveal_and_exposed_are_passed_on(toy: Toy) -> None:
    toy.offer("good", saying("0.1", rows=4))
    policy = Policy(quasi=("sex",), tolerance={"classes.l_distinct": 1, "classes.k": 2})
    done = unveil.protect(saying("0.9", rows=3), policy, reveal=True, exposed=1, method="good")
    (e,) = done.before["classes.k"].exposed
    assert e.values == {"sex": "m"}
    assert unveil.protect(saying("0.9", rows=3), policy, exposed=0).before["classes.k"].exposed == ()
