"""Which protections no other beats, and what is said about them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from report.samples import protection_result as result
from unveil.protection_front import add_comparisons, unbeaten_protections

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])
BEST = "Nothing else that was tried keeps more without harming more."


@given(st.lists(st.tuples(SHARES, SHARES), max_size=7))
def test_the_front_is_what_nothing_else_beats(places: list[tuple[float, float]]) -> None:
    results = [result(f"p{i}", *place) for i, place in enumerate(places)]
    best = {
        f"p{i}"
        for i, (u, h) in enumerate(places)
        if not any((a >= u and b < h) or (a > u and b <= h) for a, b in places)
    }
    assert {p.id for p in unbeaten_protections(results)} == best
    for p in add_comparisons(results):
        assert (p.comparison == BEST) == (p.id in best)
        if p.id in best:
            continue
        named = re.fullmatch(r"“P(\d+)” keeps (as much|more) and harms (as few|fewer)\.", p.comparison)
        assert named
        (u, h), (a, b) = places[int(p.id[1:])], places[int(named[1])]
        assert (a > u if named[2] == "more" else a == u) and (b < h if named[3] == "fewer" else b == h)


def test_what_was_not_made_is_compared_with_nothing() -> None:
    results = [result("none", 1.0, 0.5), result("levels", None, None), result("local", 0.5, None)]
    assert [p.comparison for p in add_comparisons(results)] == [BEST, "", ""]
