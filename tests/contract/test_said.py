"""Every word that unveil says about the small releases, as it was last read and approved by a person.

The other tests of this contract say what must be true; this one notices that something is said differently. After a
change that is meant, read the difference::

    UNVEIL_APPROVE=1 pytest tests/contract/test_said.py; git diff tests/contract/said
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contract.cases import CASES, assessed
from unveil import Finding
from unveil.finding import Curve, GraphChart, LatticeChart, LinkChart
from unveil.questions import QUESTIONS, all_risks, questions_about
from unveil.run import Run

SAID = Path(__file__).parent / "said"
READ = {
    "release": ("people", "guessed", "mild", "noisy"),
    "classes": ("mild", "visits", "single", "holes as wildcard", "holes as excluded", "guessed", "population", "sample",
                "survey", "weighted survey", "intersection", "icd", "unanswered", "baskets", "small baskets"),
    "inference": ("people", "alike", "visits", "holes as wildcard", "holes as excluded", "drawn 1", "icd", "telling",
                  "baskets", "small baskets"),
    "linkage": ("people", "visits", "intersection", "linked", "noisy", "ratings", "dated ratings",
                "holes as value", "alike"),
    "items": ("baskets", "plain baskets", "small baskets", "similar baskets"),
    "dp": ("answered",),
    "matching": ("weighted matrix", "matrix", "small matrix"),
    "network": ("directed graph", "graph", "small graph", "known network", "true matches"),
}  # fmt: skip


def points(curve: Curve) -> Iterator[str]:
    """A curve, point by point, with numbers that do not depend on the last digits."""
    for k, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        band = "" if curve.low is None or curve.high is None else f" ({curve.low[k]:.4g} to {curve.high[k]:.4g})"
        line = "" if curve.series is None else f"{curve.series[k]}: "
        yield f"{line}{x if isinstance(x, str) else f'{x:.4g}'} {y:.4g}{band}"


def lines(f: Finding, reveal: Finding) -> Iterator[str]:
    """All that a finding says."""
    about = " | ".join([f.id, *([f.column] if f.column else []), *([", ".join(f.known)] if f.known else [])])
    yield f"== {about}"
    yield f"{f.title}: {f.value_text} {f.unit_text}; {f.tolerance_text}"
    share = "" if f.share is None else f", share {f.share[0]:.4g} to {f.share[1]:.4g}"
    sure = "" if f.confidence is None else f", confidence {f.confidence:.6g}"
    guess = "" if f.baseline is None else f", guessing {f.baseline:.4g}"
    yield f"{f.method}, {f.status}, {f.subjects} subjects{share}{sure}{guess}"
    yield from (text for text in (f.sentence, f.attacker, f.missing, f.source) if text)
    for hidden, shown in zip(f.exposed[:3], reveal.exposed[:3], strict=True):
        values = ", ".join(f"{k} = {v}" for k, v in (shown.values or {}).items())
        if shown.subject != hidden.subject:  # if the truth is a secret, those at risk are not told
            values = f"({shown.subject}, {shown.risk:.4g}: {values})"
        yield f"- {hidden.subject}, {hidden.risk:.4g}: {hidden.because}; learns {', '.join(hidden.learns)}; {values}"
    for c in f.curves:
        yield f"~ {c.title} ({c.kind}): {c.reading}"
        if isinstance(c, LinkChart):
            yield f"  {c.left_label}, {c.right_label}, {len(c.pairs)} pairs"
            continue
        if isinstance(c, LatticeChart):
            yield f"  {len(c.sets)} sets, the last {' and '.join(c.sets[-1])}"
            continue
        if isinstance(c, GraphChart):
            yield f"  {c.inner} × {c.inner_label}, {c.outer} × {c.outer_label}, {len(c.edges)} links"
            continue
        mark = "" if c.mark is None else f", mark {c.mark:.4g} {c.mark_label}"
        levels = "".join(f", level {y:.4g} {text}" for y, text in c.levels)
        scales = c.x_scale if c.y_scale == "linear" else f"{c.x_scale}, {c.y_scale}"
        yield f"  {c.x_label}; {c.y_label}; {scales}{mark}{levels}: {', '.join(points(c))}"


@pytest.mark.parametrize("room", READ)
def test_what_is_said_is_what_was_approved(room: str) -> None:
    said: list[str] = []
    for name in READ[room]:
        said.append(f"#### {name}")
        for f, reveal in zip(assessed(name).findings, assessed(name, reveal=True).findings, strict=True):
            if f.question == room:
                said += [text for text in lines(f, reveal) if text not in said]
    _compare(room, said)


def test_what_is_advised_is_what_was_approved() -> None:
    """What an owner can do if no protection reaches what is tolerated, for every risk that was found. A room speaks of
    its own risks only, and never advises to tolerate more."""
    advised: list[str] = []
    for name in ("people", "intersection", "linked", "ratings", "baskets", "matrix", "graph"):
        attacked = CASES[name]()
        found = list(dict.fromkeys(f.id for f in assessed(name).findings))
        for policy in (attacked.policy, replace(attacked.policy, tolerance={})):
            for question in questions_about(attacked.case.release.kind):
                for risk in found:
                    hints = [h.replace(risk, "it") for h in question.hints(attacked.case, policy, [risk], Run())]
                    advised += [f"{question.name}: {h}" for h in hints if f"{question.name}: {h}" not in advised]
                    assert not hints or risk.startswith(f"{question.name}.")
                together = list(question.hints(attacked.case, policy, found, Run()))
                assert {r for r in all_risks() if any(r in h for h in together)} <= {r.id for r in question.risks}
                assert not [h for h in together if re.search(r"higher tolerance|\boff\b", h)]
                advised += [
                    f"{question.name}, all: {h}" for h in together if f"{question.name}, all: {h}" not in advised
                ]
    _compare("hints", advised)


def _compare(name: str, said: list[str]) -> None:
    approved = SAID / f"{name}.txt"
    if os.environ.get("UNVEIL_APPROVE"):
        approved.parent.mkdir(exist_ok=True)
        approved.write_text("\n".join(said) + "\n", encoding="utf-8")
    assert approved.read_text(encoding="utf-8").splitlines() == said


def test_every_room_is_read() -> None:
    assert {q.name for q in QUESTIONS} == set(READ)
    assert {name for names in READ.values() for name in names} <= set(CASES)
