"""The rule of the verdict and its exit code, as a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from unveil.finding import Finding
from unveil.verdict import decide_verdict


def finding(name: str, status: str, harmed: float = 0.0, decides: bool = True, method: Any = "simulation") -> Finding:
    """A finding with the wanted status against the tolerance .5."""
    value, interval = {
        "over": (0.8, (0.7, 0.9)),
        "within": (0.2, (0.1, 0.3)),
        "open": (0.5, (0.3, 0.7)),
        "failed": (None, None),
    }[status]
    return Finding(
        id=f"test.{name}",
        question="test",
        title=name,
        value=value,
        unit="share",
        method=None if value is None else method,
        interval=interval,
        subjects=100,
        share=(harmed, 1.0),
        tolerance=0.5,
        direction="lower",
        decides=decides,
        attacker="",
        sentence=f"sentence of {name}",
    )


OVER, WITHIN, OPEN = finding("over", "over", 0.3), finding("within", "within", 0.2), finding("open", "open", 0.1)


@pytest.mark.parametrize(
    ("findings", "doubts", "decision", "because", "code"),
    [
        ([WITHIN], (), "release", "test.within", 0),
        ([WITHIN, OVER], (), "protect first", "test.over", 1),
        ([OVER, OPEN], ("guessed",), "protect first", "test.over", 1),
        ([WITHIN, OPEN], (), "your call", "test.open", 3),
        ([WITHIN, finding("failed", "failed")], (), "your call", "test.failed", 3),
        ([WITHIN, finding("cut", "within", method="truncated")], (), "your call", "test.cut", 3),
        ([finding("cut", "over", 0.4, method="truncated")], (), "protect first", "test.cut", 1),
        ([WITHIN], ("guessed",), "your call", None, 3),
        ([WITHIN], ("unasked",), "your call", None, 3),
        ([], (), "your call", None, 3),
        # what does not decide does not decide
        ([WITHIN, finding("informs", "over", 0.9, decides=False)], (), "release", "test.informs", 0),
        ([finding("informs", "over", 0.9, decides=False)], (), "your call", None, 3),
        # the largest lower bound of subjects harmed decides
        ([OVER, finding("worse", "over", 0.6), finding("mild", "over", 0.1)], (), "protect first", "test.worse", 1),
        ([OPEN, finding("worse", "open", 0.6)], (), "your call", "test.worse", 3),
    ],
)
def test_rule(findings: list[Finding], doubts: Any, decision: str, because: str | None, code: int) -> None:
    verdict = decide_verdict(findings, doubts)
    assert (verdict.decision, verdict.because, verdict.exit_code) == (decision, because, code)


def test_release_never_reads_safe() -> None:
    verdict = decide_verdict([WITHIN])
    assert "within tolerance against these attackers" in verdict.sentence
    assert "safe" not in verdict.sentence


def test_every_doubt_is_named() -> None:
    reasons = decide_verdict([OPEN], ["Nobody knows."]).reasons
    assert reasons == ("open: the interval includes the tolerance (at most 50%).", "Nobody knows.")


def test_release_names_no_harm_where_there_is_none() -> None:
    assert decide_verdict([finding("none", "within", 0.0)]).because is None
