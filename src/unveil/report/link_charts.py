"""Draw candidate pairs (which pseudonym may be which entry) as a static picture.

Few nodes become a graph with two columns, many a matrix. Both use the reverse Cuthill–McKee order of the graph (George
1971), smoothed by barycentres (Sugiyama, Tagawa and Toda 1981), so that nodes with common candidates are close and few
lines cross. The order does not depend on the truth.

Conventions
- The more probable a pair, the stronger its line or cell, on one scale from 0% to 100%. A pair of probability 0 is
  dashed in the graph and absent from the matrix.
- A matrix cell that covers several pairs shows the mean over the possible ones.
- Red marks a true pair; it appears only if the owner revealed the truth.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import groupby
from typing import TYPE_CHECKING, Any

from unveil.finding import LinkChart
from unveil.report.plot_data import label_text, short_name
from unveil.report.svg_filter import BLUE, INK, PICTURE_WIDTH, RED, blank_svg, filter_svg
from unveil.report.svg_shapes import DOT_RADIUS, add_shape, blank_drawing, draw_dot, draw_text, widest_text
from unveil.wording import percent_text

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Ints


__all__ = ["links_svg", "order_nodes"]

_MAX_GRAPH_NODES = 60  # the most nodes that are drawn as a graph
_MAX_CELLS = 120  # the most rows or columns of a matrix
_SHADES = 12  # shades of a cell
_SWEEPS = 8
_MAX_NAME = 13  # the most characters of a name
_TOP_MARGIN = 26  # height of the headings
_LINE_HEIGHT = 20  # height of a legend line
_SAMPLE_WIDTH = 20  # width of a sample in the legend


def links_svg(links: LinkChart) -> str:
    """Candidate pairs as an SVG element with an accessible name, ready for a page."""
    title, description = label_text(links.title, 200), label_text(links.reading, 400)
    nodes = len(links.left) + len(links.right)
    if not nodes:
        return blank_svg(title, description)
    drawing = _draw_graph(links) if nodes <= _MAX_GRAPH_NODES else _draw_matrix(links)
    return filter_svg(ET.tostring(drawing, encoding="unicode"), title, description)


def order_nodes(links: LinkChart) -> tuple[Floats, Floats]:
    """The position of each entry and each pseudonym, from 0 to 1, such that neighbours are close.

    There must be at least one entry or pseudonym.
    """
    n = len(links.left)
    ends, probability = _pair_arrays(links)
    weights = 0.1 + probability  # even an impossible pair pulls a little
    left, right = _cuthill_mckee_places(ends, n, len(links.right))
    if n and left[0] > left[-1]:
        left, right = 1 - left, 1 - right
    for _ in range(_SWEEPS):
        right = _barycentre_places(right, left, ends[:, ::-1], weights)
        left = _barycentre_places(left, right, ends, weights)
    return left, right


def _pair_arrays(links: LinkChart) -> tuple[Ints, Floats]:
    """The two ends of each pair, and its probability."""
    import numpy as np

    ends = np.array([p[:2] for p in links.pairs], dtype=np.int64).reshape(-1, 2)
    return ends, np.array([p[2] for p in links.pairs], dtype=np.float64)


def _cuthill_mckee_places(ends: Ints, n: int, m: int) -> tuple[Floats, Floats]:
    """Positions in the reverse Cuthill–McKee order of the whole graph."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows, columns = ends[:, 0], ends[:, 1] + n
    both = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
    graph = coo_array((np.ones(2 * len(ends)), both), shape=(n + m, n + m)).tocsr()
    walk = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    return _even_places(walk[walk < n]), _even_places(walk[walk >= n] - n)


def _barycentre_places(own: Floats, others: Floats, ends: Ints, weights: Floats) -> Floats:
    """Move each node to the mean position of its neighbours. Nodes without neighbours stay, and ties keep their
    order."""
    import numpy as np

    at, n = ends[:, 0], len(own)
    total = np.bincount(at, weights, n)
    pull = np.bincount(at, weights * others[ends[:, 1]], n)
    mean = np.divide(pull, total, out=own.copy(), where=total > 0)
    return _even_places(np.argsort(mean.round(9), kind="stable"))


def _even_places(order: Ints) -> Floats:
    """Evenly spaced positions from 0 to 1, in this order."""
    import numpy as np

    spread: Floats = np.empty(len(order))
    spread[order] = (np.arange(len(order)) + 0.5) / max(1, len(order))
    return spread


def _draw_graph(links: LinkChart) -> ET.Element:
    """Two columns of nodes and a line for each pair."""
    rows = max(len(links.left), len(links.right))
    tall = rows * min(30.0, max(14.0, 420 / rows))
    drawing = blank_drawing(_TOP_MARGIN + tall + 10 + _LINE_HEIGHT * (1 + bool(links.true)))
    names, risks = [short_name(t, _MAX_NAME) for t in links.left], [percent_text(r) for r in links.risk]
    others = [short_name(t, _MAX_NAME) for t in links.right]
    heading = short_name(links.left_label, _MAX_NAME)
    risk_end = widest_text([heading, *names]) + 14 + widest_text(["risk", *risks])
    x1, x2 = risk_end + 8 + DOT_RADIUS, PICTURE_WIDTH - widest_text(others) - 8 - DOT_RADIUS
    left, right = ([_TOP_MARGIN + tall * y for y in side] for side in order_nodes(links))
    _draw_lines(drawing, links, [(x1, y) for y in left], [(x2, y) for y in right])
    draw_text(drawing, 0, 12, heading)
    draw_text(drawing, risk_end, 12, "risk", "end")
    draw_text(drawing, PICTURE_WIDTH, 12, short_name(links.right_label, _MAX_NAME), "end")
    for text, risk, y in zip(names, risks, left, strict=True):
        draw_text(drawing, 0, y + 4, text)
        draw_text(drawing, risk_end, y + 4, risk, "end")
        draw_dot(drawing, x1, y)
    for text, y in zip(others, right, strict=True):
        draw_dot(drawing, x2, y)
        draw_text(drawing, x2 + DOT_RADIUS + 6, y + 4, text)
    _draw_graph_legend(drawing, links, _TOP_MARGIN + tall + 10)
    return drawing


def _draw_lines(
    drawing: ET.Element, links: LinkChart, left: list[tuple[float, float]], right: list[tuple[float, float]]
) -> None:
    """Draw the pairs: the more probable above the less probable, true pairs on top."""
    for colour, pairs in ((BLUE, _false_pairs(links)), (RED, _true_pairs(links))):
        if not pairs:
            continue
        group = add_shape(drawing, "g", stroke=colour)
        for (i, j), p in sorted(pairs.items(), key=lambda pair: (pair[1], pair[0])):
            (x1, y1), (x2, y2) = left[i], right[j]
            add_shape(group, "line", x1=x1, y1=y1, x2=x2, y2=y2, **_line_attributes(p, colour))


def _false_pairs(links: LinkChart) -> dict[tuple[int, int], float]:
    true = set(links.true or ())
    return {(i, j): p for i, j, p in links.pairs if (i, j) not in true}


def _true_pairs(links: LinkChart) -> dict[tuple[int, int], float]:
    """The true pairs with their probabilities; 0 for a pair that is not a candidate."""
    known = {(i, j): p for i, j, p in links.pairs}
    return {pair: known.get(pair, 0.0) for pair in links.true or ()}


def _line_attributes(p: float, colour: str) -> dict[str, Any]:
    """The style of a line of this probability."""
    dashed = {} if p else {"stroke_dasharray": "2 3"}
    return {"stroke_width": round(1 + 3 * p, 2), "stroke_opacity": _shade_opacity(math.sqrt(p), colour, 0.35), **dashed}


def _shade_opacity(strength: float, colour: str, least: float = 0.2) -> float:
    least = least if colour == BLUE else 0.6
    return round(least + (1 - least) * strength, 2)


def _draw_graph_legend(drawing: ET.Element, links: LinkChart, y: float) -> None:
    impossible = any(p == 0 for _, _, p in links.pairs) or 0.0 in _true_pairs(links).values()
    x = draw_text(drawing, 0, y + 14, "probability")
    for p in (*([0.0] if impossible else []), 0.1, 0.5, 1.0):
        add_shape(drawing, "path", d=f"M{x} {y + 10}h{_SAMPLE_WIDTH}", stroke=BLUE, **_line_attributes(p, BLUE))
        x = draw_text(drawing, x + _SAMPLE_WIDTH + 5, y + 14, percent_text(p))
    if links.true:
        add_shape(drawing, "path", d=f"M0 {y + 30}h{_SAMPLE_WIDTH}", stroke=RED, **_line_attributes(0.5, RED))
        draw_text(drawing, _SAMPLE_WIDTH + 5, y + 34, "true pair")


def _draw_matrix(links: LinkChart) -> ET.Element:
    """A row per entry or group of entries and a column per pseudonym or group, shaded by probability."""
    levels, true, covers = _matrix_cells(links)
    rows, columns = levels.shape
    side = math.floor(10 * (PICTURE_WIDTH - 2) / max(rows, columns)) / 10  # clean() rounds to a tenth of a pixel
    high, wide = (max(side, math.ceil(40 / n)) for n in (rows, columns))
    notes = _legend_notes(links, covers)
    drawing = blank_drawing(_TOP_MARGIN + high * rows + 14 + _LINE_HEIGHT * (1 + len(notes)))
    down = f"{short_name(links.left_label, _MAX_NAME)} ↓ {len(links.left):,}"
    across = f"{short_name(links.right_label, _MAX_NAME)} → {len(links.right):,}"
    draw_text(drawing, 0, 12, down)
    draw_text(drawing, max(1 + wide * columns, widest_text([down]) + widest_text([across]) + 16), 12, across, "end")
    grid = add_shape(drawing, "g", transform=f"translate(1,{_TOP_MARGIN}) scale({wide},{high})")
    for (red, level), runs in sorted(_cell_strokes(levels, true).items()):
        colour = RED if red else BLUE
        add_shape(grid, "path", d=runs, stroke=colour, stroke_opacity=_shade_opacity(level / _SHADES, colour))
    frame = {"width": wide * columns, "height": high * rows, "fill": "none"}
    add_shape(drawing, "rect", x=1, y=_TOP_MARGIN, **frame, stroke=INK, stroke_opacity=0.4)
    _draw_matrix_legend(drawing, notes, _TOP_MARGIN + high * rows + 14)
    return drawing


def _matrix_cells(links: LinkChart) -> tuple[Ints, Bools, tuple[int, int]]:
    """The shade of each cell (0 for none), whether it holds a true pair, and how many entries and pseudonyms it
    covers."""
    import numpy as np

    left, right = order_nodes(links)
    down, covered = _group_nodes(left)
    across, covering = _group_nodes(right)
    shape = down.max(initial=0) + 1, across.max(initial=0) + 1
    total, count, true = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    ends, probability = _pair_arrays(links)
    cell = down[ends[:, 0]], across[ends[:, 1]]
    np.add.at(total, cell, probability)
    np.add.at(count, cell, probability > 0)
    for i, j in links.true or ():
        true[down[i], across[j]] = True
    mean = np.divide(total, count, out=np.zeros(shape), where=count > 0)
    return np.ceil((_SHADES * np.sqrt(mean)).round(6)).astype(np.int64), true, (covered, covering)


def _group_nodes(side: Floats) -> tuple[Ints, int]:
    """The row or column of each node, and how many nodes share one."""
    import numpy as np

    size = max(1, math.ceil(len(side) / _MAX_CELLS))
    return (side * len(side)).astype(np.int64) // size, size


def _cell_strokes(levels: Ints, true: Bools) -> dict[tuple[bool, int], str]:
    """SVG paths of the cells by colour and shade; adjacent cells of a row are one stroke."""
    looks: dict[tuple[bool, int], str] = {}
    for y, row in enumerate(zip(levels.tolist(), true.tolist(), strict=True)):
        x = 0
        for (level, red), run in groupby(zip(*row, strict=True)):
            length = len(list(run))
            if level or red:
                looks[red, level] = f"{looks.get((red, level), '')}M{x} {y}.5h{length}"
            x += length
    return looks


def _legend_notes(links: LinkChart, covers: tuple[int, int]) -> list[tuple[str, str]]:
    several = f"each cell is the mean of up to {covers[0]} × {covers[1]} pairs"
    truth = "true pair" if covers == (1, 1) else "cell with a true pair"
    return [*([("", several)] if covers != (1, 1) else []), *([(RED, truth)] if links.true else [])]


def _draw_matrix_legend(drawing: ET.Element, notes: list[tuple[str, str]], y: float) -> None:
    x = draw_text(drawing, 0, y + 14, "probability")
    for p in (0.01, 0.1, 0.5, 1.0):
        _draw_patch(drawing, x, y, math.sqrt(p), BLUE)
        x = draw_text(drawing, x + _SAMPLE_WIDTH + 5, y + 14, percent_text(p))
    for line, (colour, text) in enumerate(notes, start=1):
        if colour:
            _draw_patch(drawing, 0, y + _LINE_HEIGHT * line, 0.7, colour)
        draw_text(drawing, _SAMPLE_WIDTH + 5 if colour else 0, y + 14 + _LINE_HEIGHT * line, text)


def _draw_patch(parent: ET.Element, x: float, y: float, strength: float, colour: str) -> None:
    look = {"fill": colour, "fill_opacity": _shade_opacity(strength, colour)}
    add_shape(parent, "rect", x=x, y=y + 3, width=_SAMPLE_WIDTH, height=13, **look)
