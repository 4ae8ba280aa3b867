"""Gains in belief against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_belief_gains as naive
from unveil.inference import belief_gains
from unveil.inference.belief_gains import measure_gains


@st.composite
def people(draw: st.DrawFn) -> tuple[list[tuple[str, ...]], list[str | None], list[str] | None]:
    n, width = draw(st.integers(1, 14)), draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[st.sampled_from("abc")] * width), min_size=n, max_size=n))
    own = draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n))
    who = draw(st.none() | st.lists(st.sampled_from("pqrstu"), min_size=n, max_size=n))
    return rows, own, who


def codes(texts: list[str | None]) -> np.ndarray:
    place = {t: i for i, t in enumerate(sorted({t for t in texts if t is not None}))}
    return np.array([-1 if t is None else place[t] for t in texts], np.int32)


@pytest.mark.parametrize("dense", [True, False])
@settings(max_examples=300, deadline=None)
@given(people(), st.integers(0, 4), st.integers(1, 4), st.sampled_from([0.1, 0.25, 0.5]))
def test_gains_are_what_they_are_by_definition(dense, given, facts, fewest, gain) -> None:  # type: ignore[no-untyped-def]
    rows, own, who = given
    columns = [codes([row[c] for row in rows]) for c in range(len(rows[0]))]
    person = None if who is None else codes(list(who))
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            patch.setattr(belief_gains, "_MAX_COUNTS", 0)
        found = measure_gains(columns, codes(own), facts=facts, fewest=fewest, gain=gain, person=person)
    wanted = naive.gains(rows, own, min(facts, len(columns)), fewest, who)
    names = [str(i) for i in range(len(rows))] if who is None else sorted(set(who))
    for i, name in enumerate(names):
        for f, (best, certain) in enumerate(wanted[name]):
            assert found.best[f][i] == pytest.approx(best)
            assert found.certain[f][i] == certain
    exposed = sum(w[-1][0] >= gain - 1e-12 for w in wanted.values())
    assert found.share_of_people(facts, gain) == pytest.approx(exposed / len(names))
    assert bool(found.telling) == (exposed > 0)


def test_a_person_with_several_telling_rows_counts_once() -> None:
    """Both of p's rows give the value away, by different towns; p is one of three people, not two of four."""
    towns, own, who = ["A", "B", "A", "B", "C", "C"], ["x", "x", "x", "x", "y", "y"], ["p", "p", "q", "r", "s", "t"]
    found = measure_gains([codes(list(towns))], codes(list(own)), facts=1, fewest=2, gain=0.3, person=codes(list(who)))
    (towns_tell,) = (t for t in found.telling if t.columns == (0,))
    assert (towns_tell.people, towns_tell.sharing) == (5, 5)
