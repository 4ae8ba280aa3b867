"""The verdict: which finding decides, in which order reasons are given, and what is left to a person."""

from __future__ import annotations

from typing import Any

import pytest

from contract.cases import CASES, assessed
from unveil import Finding, Verdict
from unveil.verdict import decide_verdict


def made(name: str, value: float | None, share: float | tuple[float, float] | None = 0.0, **more: Any) -> Finding:
    """A finding with the tolerance .5, of which lower is safer."""
    given = {
        "id": f"test.{name}", "question": "test", "title": name.capitalize().replace("_", " "), "value": value,
        "unit": "share", "method": None if value is None else "exact", "subjects": 10, "tolerance": 0.5,
        "direction": "lower", "decides": True, "attacker": "", "sentence": f"About {name}.",
        "share": (share, share) if isinstance(share, (int, float)) else share,
    }  # fmt: skip
    return Finding(**{**given, **more})


def opened(name: str, share: Any = 0.0, **more: Any) -> Finding:
    return made(name, 0.5, share, method="simulation", interval=(0.3, 0.7), **more)


def test_the_largest_lower_bound_of_harm_decides() -> None:
    """Neither the value, nor the upper bound, nor the order of findings does."""
    wide, narrow = made("wide", 0.9, (0.1, 1.0)), made("narrow", 0.6, (0.3, 0.4))
    for findings in ([wide, narrow], [narrow, wide]):
        verdict = decide_verdict(findings)
        assert (verdict.decision, verdict.because) == ("protect first", "test.narrow")
        assert verdict.sentence == "About narrow."
        assert verdict.reasons == ("Narrow: 60%, must be at most 50%", "Wide: 90%, must be at most 50%")


def test_without_a_share_nobody_is_harmed_for_certain() -> None:
    assert made("a", 0.9, None).harmed_share == 0
    assert decide_verdict([made("none", 0.9, None), made("some", 0.9, 0.01)]).because == "test.some"


def test_the_first_of_equals_decides() -> None:
    assert decide_verdict([made("a", 0.9, 0.2), made("b", 0.8, 0.2)]).because == "test.a"
    assert decide_verdict([opened("a", 0.2), opened("b", 0.2)]).because == "test.a"


def test_a_verdict_names_the_column_and_what_is_known() -> None:
    verdict = decide_verdict([made("a", 0.9, 0.1), made("b", 0.9, 0.2, column="ill", known=("age", "zip"))])
    assert (verdict.because, verdict.column, verdict.known) == ("test.b", "ill", ("age", "zip"))
    assert Verdict.from_dict(verdict.to_dict()) == verdict
    assert verdict.to_dict()["known"] == ["age", "zip"] and verdict.to_dict()["reasons"] == list(verdict.reasons)
    assert repr(verdict) == "protect first: About b."
    unnamed = decide_verdict([])
    assert (unnamed.known, unnamed.to_dict()["known"]) == (None, None)
    assert Verdict.from_dict(unnamed.to_dict()) == unnamed


def test_reasons_tell_value_unit_and_tolerance() -> None:
    k = made("k", 1, 1.0, unit="rows", tolerance=5, direction="higher")
    d = made("d", 2, 0.5, unit="", tolerance=1.5)
    bound = made("bound", 0.9, 0.1, method="bound", interval=(0.9, 1.0))
    assert decide_verdict([k, d, bound]).reasons == (
        "K: 1 row, must be at least 5",
        "D: 2, must be at most 1.5",
        "Bound: at least 90%, must be at most 50%",
    )


def test_your_call_for_what_is_open_failed_or_truncated() -> None:
    cut = made("cut", 0.2, 0.1, method="truncated", interval=(0.1, 0.3))
    failed = made("failed", None, None)
    within = made("within", 0.2, 0.9)
    verdict = decide_verdict([within, opened("open", 0.05), failed, cut], ["Somebody doubts it."])
    assert (verdict.decision, verdict.exit_code) == ("your call", 3)
    assert verdict.reasons == (
        "Open: the interval includes the tolerance (at most 50%).",
        "Failed: could not be measured.",
        "Cut: the search ran out of its work budget.",
        "Somebody doubts it.",
    )
    assert verdict.sentence == " ".join(verdict.reasons)
    assert verdict.because == "test.cut", "what is within its tolerance is no reason, however many it harms"
    assert decide_verdict([within, failed]).because == "test.failed"
    both = made("both", 0.5, 0.1, method="truncated", interval=(0.3, 0.7))
    assert decide_verdict([both]).reasons == ("Both: the search ran out of its work budget.",)


@pytest.mark.parametrize("status", [0.9, 0.5])
def test_what_only_informs_is_no_reason(status: float) -> None:
    informs = made("informs", status, 0.9, decides=False)
    assert decide_verdict([informs, made("within", 0.2, 0.1)]).decision == "release"
    alone = decide_verdict([informs, opened("open", 0.9, decides=False), made("failed", None, decides=False)])
    assert (alone.decision, alone.because) == ("your call", None)
    assert alone.reasons == ("Nothing was measured against a tolerance.",)


def test_nothing_measured_comes_after_other_doubts() -> None:
    assert decide_verdict([], ["First."]).reasons == ("First.", "Nothing was measured against a tolerance.")
    assert decide_verdict([], ["First."]).sentence == "First. Nothing was measured against a tolerance."


def test_doubts_do_not_excuse_what_is_over() -> None:
    verdict = decide_verdict([made("over", 0.9, 0.1), opened("open")], ["Somebody doubts it."])
    assert (verdict.decision, verdict.exit_code) == ("protect first", 1)
    assert verdict.reasons == ("Over: 90%, must be at most 50%",)


def test_release_says_what_it_stands_on() -> None:
    def told(n: int) -> str:
        return decide_verdict([made(f"risk_{k}", 0.1) for k in range(n)]).sentence

    assert told(1) == "The deciding finding is within tolerance against these attackers: Risk 0."
    assert told(2) == "Both deciding findings are within tolerance against these attackers: Risk 0; Risk 1."
    assert told(3).startswith("All 3 deciding findings are within tolerance")
    assert told(4).endswith("Risk 0; Risk 1; Risk 2; Risk 3.")
    assert told(6).endswith("Risk 0; Risk 1; Risk 2; Risk 3; and 2 more.")
    same = [made("risk", 0.1), made("risk", 0.1, known=("age",))]
    assert decide_verdict(same).sentence.endswith("attackers: Risk.")
    released = decide_verdict([made("a", 0.1, 0.1), made("b", 0.4, 0.3), made("c", 0.2, 0.2)])
    assert (released.because, released.exit_code, released.reasons) == ("test.b", 0, ())
    assert decide_verdict([made("a", 0.1, 0.0)]).because is None


@pytest.mark.parametrize("name", CASES)
def test_verdicts_of_all_cases_follow_the_rule(name: str) -> None:
    found = assessed(name)
    over = [f for f in found.findings if f.decides and f.status == "over"]
    assert (found.verdict.decision == "protect first") == bool(over)
    assert (found.deciding_finding is None) == (found.verdict.because is None)
    if over:
        most = max((f.share or (0, 0))[0] for f in over)
        chosen = found.deciding_finding
        assert chosen in over and (chosen.share or (0, 0))[0] == most
        assert chosen is next(f for f in over if (f.share or (0, 0))[0] == most)
        unreachable = (
            chosen.baseline is not None
            and chosen.tolerance is not None
            and chosen.baseline != chosen.tolerance
            and (chosen.baseline > chosen.tolerance) == (chosen.direction == "lower")
        )
        assert found.verdict.sentence.startswith(chosen.sentence)
        assert ("can meet this tolerance" in found.verdict.sentence) == unreachable
        assert len(found.verdict.reasons) == len(over)
        assert sorted(r.rpartition(", must be ")[0].partition(": ")[0] for r in found.verdict.reasons) == sorted(
            f.title.partition(": ")[0] for f in over
        )
