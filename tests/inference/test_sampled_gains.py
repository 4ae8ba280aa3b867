"""People drawn at random: each is exact, and what is said about everybody has an interval."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_belief_gains as naive
from unveil import Policy
from unveil.inference import belief_gains, sampled_gains
from unveil.inference.learned_values import find_rules
from unveil.inference.sampled_gains import measure_sampled_rows
from unveil.release.hierarchy import Hierarchy
from unveil.run import Run


def codes(texts: list[str | None]) -> np.ndarray:
    place = {t: i for i, t in enumerate(sorted({t for t in texts if t is not None}))}
    return np.array([-1 if t is None else place[t] for t in texts], np.int32)


ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from(["x", "y", None])),
    min_size=1,
    max_size=14,
)


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(1, 3), st.integers(1, 4))
def test_everybody_who_is_drawn_is_exact(rows: list[tuple[str, ...]], facts: int, fewest: int) -> None:
    assume(len(rows) >= fewest)
    own = [row[-1] for row in rows]
    columns = [codes([row[c] for row in rows]) for c in range(3)]
    drawn = np.arange(len(rows))[::2]
    found = measure_sampled_rows(columns, [codes(own)], drawn, facts=facts, fewest=fewest, gain=0.3, run=Run())
    wanted = naive.gains([row[:-1] for row in rows], own, facts, fewest)
    for place, row in enumerate(drawn.tolist()):
        assert found.best[:, place].tolist() == pytest.approx([best for best, _ in wanted[str(row)]])
        assert found.certain[:, place].tolist() == [certain for _, certain in wanted[str(row)]]


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(1, 4), st.sampled_from([0.1, 0.3]), st.booleans())
def test_rules_are_all_facts_that_tell_enough(rows, fewest: int, gain: float, several: bool) -> None:  # type: ignore[no-untyped-def]
    """Several: two rows in a row are one person."""
    columns, target = [codes([row[c] for row in rows]) for c in range(3)], codes([row[-1] for row in rows])
    who = [i // 2 if several else i for i in range(len(rows))]
    person = np.array(who, np.int32) if several else None
    found = find_rules((0, 2), columns, [target], fewest, gain, person)
    wanted = []
    recorded = {who[i] for i, row in enumerate(rows) if row[-1] is not None}
    for facts in sorted({(row[0], row[2]) for row in rows}):
        same = [i for i, row in enumerate(rows) if (row[0], row[2]) == facts]
        known = {who[i] for i in same if rows[i][-1] is not None}
        for value in "xy":
            having = {who[i] for i in same if rows[i][-1] == value}
            share = len({who[i] for i, row in enumerate(rows) if row[-1] == value}) / max(1, len(recorded))
            sharing = len({who[i] for i in same})
            if having and sharing >= fewest and len(having) / len(known) - share >= gain - 1e-12:
                wanted.append((facts, value, sharing, len(having)))
    told = [((rows[r.row][0], rows[r.row][2]), rows[r.row][-1], r.sharing, r.having) for r in found]
    assert sorted(told) == sorted(wanted)
    assert [r.having for r in found] == sorted((r.having for r in found), reverse=True)


def salaries() -> pa.Table:
    rng = np.random.default_rng(7)
    job, town = rng.integers(5, size=2000), rng.integers(6, size=2000)
    high = (job == 2) & (rng.random(2000) < 0.9) | (rng.random(2000) < 0.1)
    return pa.table(
        {"job": job.astype(str), "town": town.astype(str), "pay": np.where(high, "high", "low").astype(str)}
    )


def assess_salaries(reveal: bool = False) -> list[unveil.Finding]:
    policy = Policy(quasi=(("job", "town"),), sensitive=("pay",))
    return list(unveil.assess(unveil.read(salaries()), policy, only=["inference"], reveal=reveal).findings)


def test_a_sample_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = {f.id: f for f in assess_salaries()}
    monkeypatch.setattr(belief_gains, "_MAX_WORK", 2000)
    monkeypatch.setattr(sampled_gains, "_PEOPLE", (100, 400))
    found = {f.id: f for f in assess_salaries()}
    for name in ("inference.learned", "inference.certain"):
        drawn, true = found[name], exact[name].value
        assert drawn.method == "simulation" and drawn.interval is not None and true is not None
        assert drawn.interval[0] <= true <= drawn.interval[1]
        assert drawn.subjects == 2000 and exact[name].method == "exact"
    assert "of 2,000 rows" in found["inference.learned"].sentence
    assert "from 400 drawn at random)" in found["inference.learned"].sentence
    assert found["inference.rules"].value == exact["inference.rules"].value
    assert found["inference.rules"].method == "bound"
    assert found["inference.facts"].method == "bound"
    for e in found["inference.learned"].exposed:
        assert salaries().to_pylist()[int(e.subject.split()[1].replace(",", "")) - 1]["job"] == "2"


def test_too_few_affordable_people_leave_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_gains, "_MAX_WORK", 3 * 2000)
    monkeypatch.setattr(sampled_gains, "_MOST_WORDS", 0)
    learned = next(f for f in assess_salaries() if f.id == "inference.learned")
    assert learned.method == "bound" and learned.interval is not None and learned.interval[1] == 1
    assert learned.sentence.endswith("Sets of more than 1 fact were not tried.")


def test_values_are_named_in_rules_only_if_revealed() -> None:
    hidden, shown = ({f.id: f for f in assess_salaries(reveal)} for reveal in (False, True))
    assert "high" not in repr(hidden)
    rows = salaries().to_pylist()
    same = [row for row in rows if row["job"] == "2"]
    rich = sum(row["pay"] == "high" for row in same)
    first = next(e for e in shown["inference.rules"].exposed if e.values and "town" not in e.values)
    assert first.values == {"job": "2", "pay": "high"}
    assert first.because == f"{rich} of {len(same)} rows with the same job have the same pay"


def test_belief_is_shown_beside_what_was_believed_before() -> None:
    learned = next(f for f in assess_salaries() if f.id == "inference.learned")
    curve = next(c for c in learned.curves if "firmly" in c.title)
    rows = salaries().to_pylist()
    share = {value: sum(row["pay"] == value for row in rows) / len(rows) for value in ("high", "low")}
    lines = dict(zip(zip(curve.series or (), curve.x, strict=True), curve.y, strict=True))
    before = [y for (label, _), y in lines.items() if label == "without any"]
    assert before == pytest.approx([sum(share[r["pay"]] >= x / 20 - 1e-12 for r in rows) / 2000 for x in range(21)])
    wanted = naive.gains([(r["job"], r["town"]) for r in rows[:60]], [r["pay"] for r in rows[:60]], 2, 5)
    policy = Policy(quasi=(("job", "town"),), sensitive=("pay",))
    few = unveil.assess(unveil.read(salaries().slice(0, 60)), policy, only=["inference"]).findings[0]
    curve = next(c for c in few.curves if "firmly" in c.title)
    share = {v: sum(r["pay"] == v for r in rows[:60]) / 60 for v in ("high", "low")}
    beliefs = [share[r["pay"]] + wanted[str(i)][-1][0] for i, r in enumerate(rows[:60])]
    after = [y for y, label in zip(curve.y, curve.series or (), strict=True) if label != "without any"]
    assert after == pytest.approx([sum(b >= x / 20 - 1e-12 for b in beliefs) / 60 for x in range(21)])


def test_ranges_of_numbers_were_told_as_values() -> None:
    """Pay is cut into ranges of five: whoever shares a town has pay in the same range, not the same pay."""
    table = pa.table({"town": [str(i // 5) for i in range(40)], "pay": [1000 + i for i in range(40)]})
    policy = Policy(quasi=(("town",),), sensitive=("pay",))
    found = {f.id: f for f in unveil.assess(unveil.read(table), policy, only=["inference"], reveal=True).findings}
    learned = found["inference.learned"]
    assert learned.attacker.endswith("Pay is learned as a range.")
    assert learned.exposed[0].because == "5 of 5 rows with the same town have pay in the same range"
    ranges = {f"{low} to {low + 4}" for low in range(1000, 1040, 5)}
    assert {e.values["pay"] for e in learned.exposed if e.values} <= ranges
    assert {e.because for e in found["inference.rules"].exposed} == {learned.exposed[0].because}


def test_groups_of_values_were_told_as_values() -> None:
    rows = [("x", "flu"), ("x", "cold")] * 5 + [("y", "ulcer")] * 10
    groups = [["flu", "airways", "*"], ["cold", "airways", "*"], ["ulcer", "gut", "*"]]
    table = pa.table({"town": [r[0] for r in rows], "illness": [r[1] for r in rows]})
    case = unveil.Case(unveil.read(table), hierarchies={"illness": Hierarchy.from_rows(groups)})
    policy = Policy(quasi=(("town",),), sensitive=("illness",), settings={"inference": {"gain": 0.4}})
    found = unveil.assess(case, policy, only=["inference"], reveal=True).findings
    rule = next(e for f in found if f.id == "inference.rules" for e in f.exposed if "group" in e.because)
    assert rule.because == "10 of 10 rows with the same town have illness in the same group of values"
    assert rule.values in ({"town": "x", "illness": "airways"}, {"town": "y", "illness": "gut"})


def test_people_without_a_value_were_counted_among_those_with_another() -> None:
    """Two of three rows have flu and the third none: flu is certain, and both lists say two of two."""
    table = pa.table({"town": ["x"] * 3 + ["y"] * 4, "illness": ["flu", "flu", None, "a", "b", "a", "b"]})
    policy = Policy(quasi=(("town",),), sensitive=("illness",), tolerance={"classes.k": 2})
    found = {f.id: f for f in unveil.assess(unveil.read(table), policy, only=["inference"]).findings}
    assert found["inference.certain"].value == 2 / 7
    (first, *_) = found["inference.learned"].exposed
    assert (first.risk, first.because) == (
        1.0, "2 of 2 rows with the same town have the same illness (1 more has none recorded)",
    )  # fmt: skip
