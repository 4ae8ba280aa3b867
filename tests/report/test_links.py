"""Who may be whom: every pair is drawn, risks stand beside their entries, large pictures stay small."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from report import samples
from report.pictures import check_plain, smallest_text_size, svg_colours, svg_elements, svg_texts
from report.samples import ANSI, NASTY, OVERRIDE
from unveil.finding import LinkChart
from unveil.report import charts
from unveil.report.link_charts import links_svg, order_nodes
from unveil.wording import percent_text

RED, BLUE = "#c4533a", "#3a80bf"


def links(n: int, m: int, pairs: Any, **changes: Any) -> LinkChart:
    base: dict[str, Any] = {
        "title": "t",
        "left_label": "entry",
        "right_label": "pseudonym",
        "left": tuple(f"e{i}" for i in range(n)),
        "right": tuple(f"p{j}" for j in range(m)),
        "risk": (0.5,) * n,
        "pairs": tuple(pairs),
        "reading": "r",
    }
    return LinkChart(**{**base, **changes})


def dense(n: int, seed: int = 0) -> LinkChart:
    draw = random.Random(seed)
    return links(n, n, ((i, j, draw.random()) for i in range(n) for j in range(n)))


LINKS = {
    "five": samples.five_links(),
    "five, revealed": replace(samples.five_links(), true=((0, 2), (1, 3), (2, 4), (3, 0), (4, 1))),
    "the largest graph": samples.band_links(30, 3),
    "the smallest matrix": samples.band_links(31, 3),
    "a matrix of groups": samples.band_links(300, 12),
    "a truth nobody holds for possible": links(2, 2, [(0, 0, 1.0)], true=((1, 1),)),
    "one, a crowd": links(59, 1, ((i, 0, 0.1) for i in range(59))),
    "wide": links(5, 700, ((j % 5, j, 0.2) for j in range(700)), true=((0, 0), (1, 6))),
    "tall": links(700, 5, ((i, i % 5, 0.2) for i in range(700))),
    "nothing": links(0, 0, []),
    "entries alone": links(3, 0, []),
    "pseudonyms alone": links(0, 3, []),
    "no pair": links(2, 2, []),
    "many without a pair": links(70, 70, []),
    "many entries alone": links(70, 0, []),
    "wide letters": links(2, 2, [(0, 1, 0.5)], left=("名" * 60, "😀" * 9), right=("W" * 60, "")),
}


@pytest.mark.parametrize("name", LINKS)
def test_every_picture_is_plain_and_can_be_read(name: str) -> None:
    picture = charts.chart_svg(LINKS[name])
    check_plain(picture)
    root = svg_elements(picture)[0]
    assert root.get("role") == "img"
    assert root.findtext("title") == LINKS[name].title
    assert root.findtext("desc") == LINKS[name].reading
    assert {e.get("fill") for e in svg_elements(picture) if e.tag == "text"} == {"currentColor"}
    assert svg_colours(picture) <= {"none", "currentColor", BLUE, RED}
    assert (RED in svg_colours(picture)) == bool(LINKS[name].true)
    assert smallest_text_size(picture) >= 9
    assert not re.search("NaN|nan|inf", picture)


def drawn(picture: str) -> list[dict[str, str]]:
    return [e.attrib for e in svg_elements(picture) if e.tag == "line"]


@pytest.mark.parametrize("name", ["five", "five, revealed", "the largest graph", "one, a crowd", "no pair"])
def test_a_graph_has_a_line_for_each_pair(name: str) -> None:
    made = LINKS[name]
    lines = drawn(links_svg(made))
    assert len(lines) == len(made.pairs)
    assert len({(a["x1"], a["y1"], a["x2"], a["y2"]) for a in lines}) == len(lines)
    assert len({a["y1"] for a in lines}) == len({i for i, _, _ in made.pairs})
    assert len({a["y2"] for a in lines}) == len({j for _, j, _ in made.pairs})


def test_the_likelier_pair_is_the_stronger_line() -> None:
    lines = drawn(links_svg(links(4, 4, [(0, 0, 0.0), (1, 1, 0.1), (2, 2, 0.6), (3, 3, 1.0)])))
    for look in ("stroke-width", "stroke-opacity"):
        values = [float(a[look]) for a in lines]
        assert values == sorted(values)
        assert len(set(values)) == 4
        assert values[0] > 0.2
    assert [a.get("stroke-dasharray") is not None for a in lines] == [True, False, False, False]


def test_risks_stand_beside_their_entries() -> None:
    made = replace(samples.five_links(), left=("Flu", "Asthma", "Diabetes", "Cancer", "Migraine"))
    at = {e.text: float(e.get("y") or 0) for e in svg_elements(links_svg(made)) if e.tag == "text"}
    beside = {
        y: [e.text for e in svg_elements(links_svg(made)) if e.tag == "text" and float(e.get("y") or 0) == y]
        for y in at.values()
    }
    for entry, risk in zip(made.left, made.risk, strict=True):
        assert percent_text(risk) in beside[at[entry]]
    assert "44.4%" in beside[at["Cancer"]]


def test_true_pairs_are_red() -> None:
    made = LINKS["five, revealed"]
    red = next(e for e in svg_elements(links_svg(made)) if e.tag == "g" and e.get("stroke") == RED)
    assert len(red) == 5
    assert "true pair" in svg_texts(links_svg(made))
    assert "true pair" not in svg_texts(links_svg(LINKS["five"]))
    excluded = drawn(links_svg(LINKS["a truth nobody holds for possible"]))
    assert [a.get("stroke-dasharray") is not None for a in excluded] == [False, True]


def crossings(made: LinkChart, left: Any, right: Any) -> int:
    ends = [(left[i], right[j]) for i, j, _ in made.pairs]
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(ends, 2))


def shuffled(made: LinkChart, seed: int) -> LinkChart:
    draw = random.Random(seed)
    left, right = list(range(len(made.left))), list(range(len(made.right)))
    draw.shuffle(left)
    draw.shuffle(right)
    return replace(made, pairs=tuple((left[i], right[j], p) for i, j, p in made.pairs))


@pytest.mark.parametrize("seed", range(5))
def test_lines_cross_little(seed: int) -> None:
    made = shuffled(samples.band_links(25, 2), seed)
    straight = links(25, 25, ((i, j, 0.2) for i in range(25) for j in range(25) if abs(i - j) <= 2))
    assert crossings(made, *order_nodes(made)) <= 1.5 * crossings(straight, range(25), range(25))
    assert crossings(made, range(25), range(25)) > 5 * crossings(made, *order_nodes(made))


def test_blocks_stand_together() -> None:
    made = shuffled(links(40, 40, ((i, j, 0.25) for i in range(40) for j in range(40) if i // 4 == j // 4)), 1)
    left, right = order_nodes(made)
    assert all(abs(left[i] - right[j]) < 4 / 40 for i, j, _ in made.pairs)


def test_equals_keep_their_order() -> None:
    for side in order_nodes(links(90, 70, ((i, j, 0.1) for i in range(90) for j in range(70) if i % 3 == j % 3))):
        for alike in (side[0::3], side[1::3], side[2::3]):
            assert list(alike) == sorted(alike)


def test_the_first_stands_above_the_last() -> None:
    made = samples.band_links(25, 2)
    turned = replace(made, pairs=tuple((24 - i, j, p) for i, j, p in made.pairs))
    for left in (order_nodes(made)[0], order_nodes(turned)[0]):
        assert left[0] < left[-1]


@pytest.mark.parametrize("name", ["five", "the smallest matrix"])
def test_the_order_knows_nothing_of_the_truth(name: str) -> None:
    made = LINKS[name]
    told = replace(made, true=tuple((i, j) for i, j, _ in made.pairs[::4]))
    for side, other in zip(order_nodes(made), order_nodes(told), strict=True):
        assert side.tolist() == other.tolist()


@pytest.mark.parametrize("name", ["five, revealed", "the largest graph", "a matrix of groups"])
def test_the_same_pairs_in_any_order_give_the_same_bytes(name: str) -> None:
    made = LINKS[name]
    mixed = random.Random(3).sample(made.pairs, len(made.pairs))
    assert links_svg(replace(made, pairs=tuple(mixed))) == links_svg(made)


def runs(picture: str) -> list[tuple[int, int, int, str, float]]:
    """The runs of cells of a matrix: column, row, length, colour and opacity."""
    found = []
    for e in svg_elements(picture):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", e.get("d") or ""):
            look = e.get("stroke") or "", float(e.get("stroke-opacity") or 1)
            found.append((int(x), int(y), int(length), *look))
    return found


def test_beyond_sixty_nodes_a_matrix_shows_each_pair_in_its_cell() -> None:
    assert drawn(links_svg(LINKS["the largest graph"]))
    made = replace(LINKS["the smallest matrix"], true=tuple((i, 7 * i % 31) for i in range(31)))
    assert drawn(links_svg(made)) == []
    left, right = ((side * 31).astype(int) for side in order_nodes(made))
    cells = {(x + k, y): colour for x, y, length, colour, _ in runs(links_svg(made)) for k in range(length)}
    true = set(made.true or ())
    assert cells == {(right[j], left[i]): RED if (i, j) in true else BLUE for i, j, _ in made.pairs}


def test_neighbours_that_look_alike_are_one_stroke() -> None:
    picture = links_svg(links(40, 40, ((i, j, 0.25) for i in range(40) for j in range(40) if i // 20 == j // 20)))
    assert sorted(runs(picture)) == sorted((20 * (y // 20), y, 20, BLUE, 0.6) for y in range(40))


def test_a_cell_is_the_mean_of_what_is_possible_in_it() -> None:
    pairs = [(i, j, p) for i in range(0, 130, 2) for j, p in ((i, 0.4), (i + 1, 0.0))]
    pairs += [(i, j, p) for i in range(1, 130, 2) for j, p in ((i, 0.1), (i - 1, 0.0))]
    picture = links_svg(links(130, 130, pairs))  # cells of 2 × 2: (0.4 + 0.1) / 2 = 1/4, whose root is 1/2
    assert {(length, opacity) for _, _, length, _, opacity in runs(picture)} == {(1, 0.6)}
    assert len(runs(picture)) == 65
    assert "each cell is the mean of up to 2 × 2 pairs" in svg_texts(picture)


def test_darker_is_likelier() -> None:
    picture = links_svg(links(40, 40, ((i, i, i / 39) for i in range(40))))
    looks = {y: opacity for _, y, _, _, opacity in runs(picture)}
    left, _ = order_nodes(links(40, 40, ((i, i, i / 39) for i in range(40))))
    in_order = [looks[int(40 * left[i])] for i in range(1, 40)]
    assert len(runs(picture)) == 39, "what is impossible is left out"
    assert in_order == sorted(in_order)
    assert (in_order[0], in_order[-1]) == (0.33, 1.0)
    assert {"1%", "10%", "50%", "100%"} <= set(svg_texts(picture))


@pytest.mark.parametrize(
    ("made", "most"), [(samples.band_links(500, 9), 15_000), (dense(120), 150_000), (dense(500), 150_000)]
)
def test_large_pictures_stay_small(made: LinkChart, most: int) -> None:
    picture = links_svg(made)
    assert len(picture) < most
    assert len(svg_elements(picture)) < 60
    assert 0 < max(max(x + length, y + 1) for x, y, length, _, _ in runs(picture)) <= 120


def test_every_cell_is_drawn_once() -> None:
    cells = [(x + k, y) for x, y, length, _, _ in runs(links_svg(dense(120))) for k in range(length)]
    assert len(cells) == len(set(cells)) == 120 * 120


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize("nasty", [NASTY, "]]>", "\"'><svg onload=x>", OVERRIDE, ANSI, "&lt;", "\ufffe\uffff", "\x00"])
def test_names_stay_names(nasty: str, n: int) -> None:
    picture = links_svg(replace(samples.nasty_links([nasty] * n), title=nasty, left_label=nasty, right_label=nasty))
    check_plain(picture)
    visible = "".join(svg_texts(picture))
    assert not re.search("[\x00-\x1f\u202a-\u202e\ufffe\uffff]", visible)
    assert ("<script>" in visible) == (nasty == NASTY)
    assert "<script" not in picture


@pytest.mark.parametrize("name", ["nothing", "no pair", "many without a pair"])
def test_an_empty_picture_says_or_shows_that(name: str) -> None:
    picture = links_svg(LINKS[name])
    assert drawn(picture) == runs(picture) == []
    assert ("nothing to draw" in svg_texts(picture)) == (name == "nothing")


@st.composite
def any_links(draw: st.DrawFn) -> LinkChart:
    n, m = draw(st.integers(0, 45)), draw(st.integers(0, 45))
    ends = st.tuples(st.integers(0, max(0, n - 1)), st.integers(0, max(0, m - 1)))
    possible = draw(st.dictionaries(ends, st.floats(0, 1), max_size=40)) if n and m else {}
    true = draw(st.none() | st.lists(ends, unique=True, max_size=9)) if n and m else None
    names = st.lists(st.text(max_size=20), min_size=n + m, max_size=n + m)
    called = tuple(draw(names))
    return links(
        n, m, ((i, j, p) for (i, j), p in possible.items()), left=called[:n], right=called[n:],
        true=None if true is None else tuple(true),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(any_links())
def test_anything_can_be_drawn(made: LinkChart) -> None:
    check_plain(links_svg(made))
    for side in order_nodes(made) if made.left or made.right else ():
        assert sorted(side) == [(k + 0.5) / len(side) for k in range(len(side))]
