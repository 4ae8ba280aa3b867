"""Two assessments side by side: which way is better, what cannot be told apart, what must be said beside it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from report import samples
from unveil import Assessment, Finding, Policy, UnveilError, compare
from unveil.comparison import change_between
from unveil.report.markdown import escape_markdown
from unveil.verdict import decide_verdict

Unveil = Callable[..., CompletedProcess[str]]


def finding(low: float, high: float | None = None, direction: str = "lower", **more: Any) -> Finding:
    fields: dict[str, Any] = {
        "id": "test.one", "question": "test", "title": "T", "value": low, "unit": "share", "subjects": 10,
        "method": "exact" if high is None else "simulation", "interval": None if high is None else (low, high),
        "direction": direction, "decides": True, "tolerance": 0.5, "attacker": "", "sentence": "S.",
    }  # fmt: skip
    return Finding(**fields | more)


def holding(*findings: Finding, **more: Any) -> Assessment:
    made = replace(samples.hospital(), findings=findings, verdict=decide_verdict(findings))
    return replace(made, **more)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (finding(0.3), finding(0.2), "better"),
        (finding(0.2), finding(0.3), "worse"),
        (finding(0.2, direction="higher"), finding(0.3, direction="higher"), "better"),
        (finding(0.3, direction="higher"), finding(0.2, direction="higher"), "worse"),
        (finding(0.3), finding(0.3), "unchanged"),
        (finding(0.3), finding(0.3 + 1e-12), "unchanged"),
        (finding(0.3, 0.4), finding(0.35, 0.5), "not distinguishable"),
        (finding(0.3, 0.4), finding(0.4, 0.5), "not distinguishable"),
        (finding(0.3, 0.4), finding(0.41, 0.5), "worse"),
        (finding(0.3, 0.4), finding(0.2, 0.29), "better"),
        (finding(0.3, 0.4), finding(0.35), "not distinguishable"),
        (finding(0.3, method="estimate", decides=False), finding(0.1), "not comparable"),
        (finding(0.3, value=None, method=None), finding(0.1), "not comparable"),
        (finding(0.3, unit="items"), finding(0.1), "not comparable"),
    ],
)
def test_overlapping_intervals_were_a_change(before: Finding, after: Finding, change: str) -> None:
    assert change_between(before, after) == change


def test_better_is_said_only_if_every_pair_of_values_agrees() -> None:
    """By brute force: on a grid inside both intervals, every value after must lie on the same side of every value
    before."""
    rng = random.Random(1)
    for _ in range(500):
        ends = [sorted(rng.choices(range(12), k=2)) for _ in range(2)]
        direction = rng.choice(("lower", "higher"))
        grids = [range(low, high + 1) for low, high in ends]
        signs = {(y > x) - (y < x) for x in grids[0] for y in grids[1]}
        found = change_between(*(finding(low, high, direction, unit="items") for low, high in ends))
        if signs == {1}:
            assert found == ("worse" if direction == "lower" else "better")
        elif signs == {-1}:
            assert found == ("better" if direction == "lower" else "worse")
        else:
            assert found in ("unchanged", "not distinguishable")


def test_findings_of_one_assessment_alone_are_named() -> None:
    before = holding(finding(0.2), finding(0.4, id="test.two", title="Two"))
    after = holding(finding(0.2), finding(0.4, id="test.two", title="Two", known=("age",)))
    changes = {(c.finding.id, c.finding.known): c.change for c in compare(before, after).findings}
    assert changes == {
        ("test.one", None): "unchanged",
        ("test.two", ("age",)): "only after",
        ("test.two", None): "only before",
    }


def test_what_else_differs_is_said() -> None:
    one = holding(finding(0.2))
    made = replace(one.provenance, hmac_sha256="0" * 64)
    assert compare(one, one).caveats == ("Both assessments are of the same data.",)
    assert compare(one, replace(one, provenance=made)).caveats == ()
    for key in (None, "0" * 16):
        (caveat,) = compare(
            one, replace(one, provenance=replace(made, key_id=key, beside={"population": "1" * 64}))
        ).caveats
        assert (
            caveat == "Whether both assessments are of the same data cannot be told: they share no key that was kept."
        )
    plain = {"release": "2" * 64}
    both = [replace(one, provenance=replace(p, key_id=None, plain_sha256=plain)) for p in (one.provenance, made)]
    assert compare(*both).caveats == ("Both assessments are of the same data.",)
    policy = Policy.from_dict(one.provenance.policy)
    changed = replace(policy, tolerance={"classes.k": 3}, seed=9, settings={"linkage": {"known": 2}})
    other = replace(one, provenance=replace(made, policy=changed.to_dict(), seed=9, beside={}), not_asked=("items",))
    text = " ".join(compare(one, other).caveats)
    for said in (
        "The tolerances differ: classes.at_risk and classes.k.",
        "The policies differ in linkage.known;",
        "The seeds differ: 7 before, 9 after.",
        "Other files were read beside the release: population.",
        "Not the same questions were asked.",
    ):
        assert said in text
    assert "same data" not in text


def test_kinds_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(UnveilError, match="the first assessment is of a table, the second of transactions"):
        compare(samples.hospital(), samples.baskets())


def test_every_form_says_the_same() -> None:
    made = compare(holding(finding(0.7)), holding(finding(0.2), finding(3, id="test.two", title="[x]|y", unit="items")))
    plain = json.loads(made.to_json())
    assert [f["change"] for f in plain["findings"]] == ["better", "only after"]
    assert (plain["before"]["verdict"], plain["after"]["verdict"]) == ("protect first", "protect first")
    for text in (made.to_text(), made.to_markdown()):
        assert "70%, fails" in text and "20%, within tolerance" in text
        assert "1 better and 1 only after" in text
    assert escape_markdown("[x]|y") in made.to_markdown()


def test_compare_on_the_command_line(unveil: Unveil, tmp_path: Path) -> None:
    within, over = holding(finding(0.2)), holding(finding(0.7))
    for name, made in (("within.json", within), ("over.json", over), ("baskets.json", samples.baskets())):
        (tmp_path / name).write_text(made.to_json())
    (tmp_path / "old.json").write_text(within.to_json().replace('"schema_version": 3', '"schema_version": 1'))
    (tmp_path / "no.json").write_text("CANARY")
    assert unveil("compare", "over.json", "within.json").returncode == 0
    worse = unveil("compare", "within.json", "over.json")
    assert worse.returncode == 1 and "release before, protect first after" in worse.stdout
    assert unveil("compare", "within.json", "over.json", "--exit-zero", "--format", "markdown").returncode == 0
    assert json.loads(unveil("compare", "within.json", "over.json", "--format", "json").stdout)["caveats"]
    for other, said in (
        ("baskets.json", "cannot be compared"),
        ("old.json", "old.json: this assessment has schema version 1"),
        ("no.json", "no.json: this is not JSON"),
        ("missing.json", "missing.json"),
    ):
        refused = unveil("compare", "within.json", other, "-o", "out.txt")
        assert refused.returncode == 2 and said in refused.stderr
        assert "CANARY" not in refused.stderr and not (tmp_path / "out.txt").exists()
