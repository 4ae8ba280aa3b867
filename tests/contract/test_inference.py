"""What a few facts tell, computed once more from the raw rows."""

from __future__ import annotations

import re
from math import ceil

import pytest

from contract.cases import CASES, TABLES, assessed
from contract.oracles import is_missing, tolerated
from reference import naive_basket_gains
from reference import naive_belief_gains as naive
from unveil import Finding
from unveil.inference.settings import InferenceSettings
from unveil.questions import find_risk


def series(name: str, f: Finding) -> list[list[tuple[float, bool]]]:
    """For everybody, by the number of facts: the largest gain, and whether their value is certain."""
    attacked = CASES[name]()
    policy, chosen = attacked.policy, attacked.policy.settings_for(InferenceSettings)
    rows = list(attacked.rows)
    if policy.missing_as == "excluded":
        rows = [r for r in rows if not any(is_missing(r[c]) for c in f.known or ())]
    facts = []
    for number, row in enumerate(rows):
        seen = [
            ("missing", number) if policy.missing_as == "wildcard" and is_missing(row[c]) else row[c]
            for c in f.known or ()
        ]
        facts.append(tuple(map(str, seen)))
    assert f.column is not None
    own = [None if is_missing(row[f.column]) else str(row[f.column]) for row in rows]
    people = None
    if policy.subject:
        people = [f"row {i}" if is_missing(r[policy.subject]) else str(r[policy.subject]) for i, r in enumerate(rows)]
    tolerance = tolerated(policy, find_risk("classes.k"))
    fewest = max(1, ceil(5 if tolerance is None else tolerance))
    known = min(chosen.facts_known, len(f.known or ()))
    return list(naive.gains(facts, own, known, fewest, people).values())


def of(name: str, risk: str) -> list[Finding]:
    """The findings of a risk in a case; a hierarchy of the sensitive column has a test of its own."""
    return [
        f
        for f in assessed(name).findings
        if f.id == f"inference.{risk}" and f.column not in CASES[name]().policy.hierarchy
    ]


@pytest.mark.parametrize("name", TABLES)
def test_what_is_learned(name: str) -> None:
    gain = CASES[name]().policy.settings_for(InferenceSettings).gain
    for f in of(name, "learned"):
        found = series(name, f)
        people = sum(s[-1][0] >= gain - 1e-12 for s in found)
        assert (f.value, f.subjects, f.method) == (pytest.approx(people / len(found)), len(found), "exact")
        assert not people or f"{people:,} of {len(found):,} " in f.sentence
        curve = f.curves[0]
        line = [y for y, label in zip(curve.y, curve.series or (), strict=True) if label == "learned"]
        wanted = [sum(s[k][0] >= gain - 1e-12 for s in found) / len(found) for k in range(len(line))]
        assert line == pytest.approx(wanted)


@pytest.mark.parametrize("name", TABLES)
def test_what_is_certain(name: str) -> None:
    for f in of(name, "certain"):
        found = series(name, f)
        assert f.value == pytest.approx(sum(s[-1][1] for s in found) / len(found))


@pytest.mark.parametrize("name", TABLES)
def test_how_few_facts_suffice(name: str) -> None:
    gain = CASES[name]().policy.settings_for(InferenceSettings).gain
    for f in of(name, "facts"):
        found = series(name, f)
        known = len(found[0]) - 1
        enough = [k for k in range(known + 1) if any(s[k][0] >= gain - 1e-12 for s in found)]
        more = known < len(f.known or ())  # columns that were not tried together
        assert f.value == (enough[0] if enough else known + 1 if more else float("inf"))
        assert f.method == ("exact" if enough or not more else "bound")
        assert enough or more or f.share == (0, 0)


@pytest.mark.parametrize("name", TABLES)
def test_the_exposed_are_given_away_by_the_facts_that_are_named(name: str) -> None:
    attacked = CASES[name]()
    if attacked.policy.subject or attacked.policy.missing_as != "value":
        return
    for f in of(name, "learned"):
        for e in f.exposed:
            row = attacked.rows[int(re.sub(r"\D", "", e.subject)) - 1]
            having, sharing, names = re.fullmatch(
                r"(\d+) of (\d+) rows? with the same (.*) have the same [^(]*(?:\(.* none recorded\))?", e.because
            ).groups()  # type: ignore[union-attr]
            columns = re.split(r", | and ", names)
            same = [r for r in attacked.rows if all(r[c] == row[c] for c in columns)]
            assert int(sharing) == sum(not is_missing(r[f.column]) for r in same)
            assert ("none recorded" in e.because) == (int(sharing) < len(same))
            assert int(having) == sum(r[f.column] == row[f.column] for r in same)
            assert e.risk == pytest.approx(int(having) / int(sharing))


def test_somebody_is_given_away_somewhere() -> None:
    """Otherwise the tests above would test nothing."""
    learned = [f for name in TABLES for f in of(name, "learned")]
    assert sum(f.value > 0 for f in learned) >= 3
    assert any(f.exposed for f in learned)


BASKET_CASES = [n for n in CASES if CASES[n]().case.release.kind == "transactions" and 0 < len(CASES[n]().rows) < 100]


@pytest.mark.parametrize("name", BASKET_CASES)
def test_what_items_tell(name: str) -> None:
    attacked = CASES[name]()
    chosen = attacked.policy.settings_for(InferenceSettings)
    tolerance = tolerated(attacked.policy, find_risk("classes.k"))
    rows = [frozenset(map(str, row)) for row in attacked.rows if row]
    wanted = naive_basket_gains.gains(rows, chosen.facts_known, max(1, ceil(5 if tolerance is None else tolerance)))
    found = {f.id: f for f in assessed(name).findings if f.question == "inference"}
    assert found["inference.learned"].value == sum(w[-1][0] >= chosen.gain - 1e-12 for w in wanted) / len(rows)
    assert found["inference.certain"].value == sum(w[-1][1] for w in wanted) / len(rows)


def test_some_baskets_are_looked_at() -> None:
    assert len(BASKET_CASES) >= 3
