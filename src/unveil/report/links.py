"""Who may be whom becomes a static picture: a graph of two columns while there are few nodes, a matrix when there are
many.

Both stand in the reverse Cuthill–McKee order of the graph (George 1971), smoothed by barycentres (Sugiyama, Tagawa and
Toda 1981): those who share candidates stand together and lines cross little. The order never looks at the truth.

Conventions
- Lines and cells are the stronger the more probable the pair, on one scale from 0 to 100 %; a pair of probability 0
  is dashed in the graph and left out of the matrix.
- A cell of the matrix that covers several pairs shows the mean over those that are possible.
- Red is a true pair, there only when the owner revealed it.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import groupby
from typing import TYPE_CHECKING, Any

from unveil.finding import Links
from unveil.report._picture import BLUE, INK, RED, WIDTH, blank, clean
from unveil.report._plot import label, name, width
from unveil.wording import percent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["places", "svg"]

_NODES = 60  # up to so many are drawn as a graph
_CELLS = 120  # a matrix has at most so many rows and columns
_LEVELS = 12  # shades of a cell
_SWEEPS = 8
_NAME = 13  # characters of a name
_LETTER = 7.5  # pixels of a character, at most, as a rule
_TOP = 26  # the headings
_LINE = 20  # a line of the legend
_SAMPLE = 20  # a piece of line or a patch in the legend
_DOT = 3.5  # the radius of a node


def svg(links: Links) -> str:
    """Who may be whom as an SVG element with an accessible name, ready to be set into a page."""
    title, description = label(links.title, 200), label(links.reading, 400)
    nodes = len(links.left) + len(links.right)
    if not nodes:
        return blank(title, description)
    drawing = _graph(links) if nodes <= _NODES else _matrix(links)
    return clean(ET.tostring(drawing, encoding="unicode"), title, description)


def places(links: Links) -> tuple[Floats, Floats]:
    """Where each entry and each pseudonym (at least one of them) stands, from 0 to 1, so that neighbours are close."""
    n = len(links.left)
    ends, probability = _pairs(links)
    weights = 0.1 + probability  # even an impossible pair pulls a little
    left, right = _walk(ends, n, len(links.right))
    if n and left[0] > left[-1]:
        left, right = 1 - left, 1 - right
    for _ in range(_SWEEPS):
        right = _drawn_to(right, left, ends[:, ::-1], weights)
        left = _drawn_to(left, right, ends, weights)
    return left, right


def _pairs(links: Links) -> tuple[Ints, Floats]:
    """The two ends of each pair, and its probability."""
    import numpy as np

    ends = np.array([p[:2] for p in links.pairs], dtype=np.int64).reshape(-1, 2)
    return ends, np.array([p[2] for p in links.pairs], dtype=np.float64)


def _walk(ends: Ints, n: int, m: int) -> tuple[Floats, Floats]:
    """The places in the reverse Cuthill–McKee order of the whole graph."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows, columns = ends[:, 0], ends[:, 1] + n
    both = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
    graph = coo_array((np.ones(2 * len(ends)), both), shape=(n + m, n + m)).tocsr()
    walk = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    return _ranked(walk[walk < n]), _ranked(walk[walk >= n] - n)


def _drawn_to(own: Floats, others: Floats, ends: Ints, weights: Floats) -> Floats:
    """Each node moves to the mean place of its neighbours; who has none stays, and equals keep their numbers' order."""
    import numpy as np

    at, n = ends[:, 0], len(own)
    total = np.bincount(at, weights, n)
    pull = np.bincount(at, weights * others[ends[:, 1]], n)
    mean = np.divide(pull, total, out=own.copy(), where=total > 0)
    return _ranked(np.argsort(mean.round(9), kind="stable"))


def _ranked(order: Ints) -> Floats:
    """Places spread evenly from 0 to 1, in this order."""
    import numpy as np

    spread: Floats = np.empty(len(order))
    spread[order] = (np.arange(len(order)) + 0.5) / max(1, len(order))
    return spread


def _graph(links: Links) -> ET.Element:
    """Two columns of nodes and a line for each pair."""
    rows = max(len(links.left), len(links.right))
    tall = rows * min(30.0, max(14.0, 420 / rows))
    drawing = _sheet(_TOP + tall + 10 + _LINE * (1 + bool(links.true)))
    names, risks = [name(t, _NAME) for t in links.left], [percent(r) for r in links.risk]
    others = [name(t, _NAME) for t in links.right]
    heading = name(links.left_label, _NAME)
    risk_end = _widest([heading, *names]) + 14 + _widest(["risk", *risks])
    x1, x2 = risk_end + 8 + _DOT, WIDTH - _widest(others) - 8 - _DOT
    left, right = ([_TOP + tall * y for y in side] for side in places(links))
    _lines(drawing, links, [(x1, y) for y in left], [(x2, y) for y in right])
    _write(drawing, 0, 12, heading)
    _write(drawing, risk_end, 12, "risk", "end")
    _write(drawing, WIDTH, 12, name(links.right_label, _NAME), "end")
    for text, risk, y in zip(names, risks, left, strict=True):
        _write(drawing, 0, y + 4, text)
        _write(drawing, risk_end, y + 4, risk, "end")
        _dot(drawing, x1, y)
    for text, y in zip(others, right, strict=True):
        _dot(drawing, x2, y)
        _write(drawing, x2 + _DOT + 6, y + 4, text)
    _graph_legend(drawing, links, _TOP + tall + 10)
    return drawing


def _lines(
    drawing: ET.Element, links: Links, left: list[tuple[float, float]], right: list[tuple[float, float]]
) -> None:
    """The pairs, the probable over the improbable and the true over all."""
    for colour, pairs in ((BLUE, _untrue(links)), (RED, _true(links))):
        if not pairs:
            continue
        group = _shape(drawing, "g", stroke=colour)
        for (i, j), p in sorted(pairs.items(), key=lambda pair: (pair[1], pair[0])):
            (x1, y1), (x2, y2) = left[i], right[j]
            _shape(group, "line", x1=x1, y1=y1, x2=x2, y2=y2, **_stroke(p, colour))


def _untrue(links: Links) -> dict[tuple[int, int], float]:
    true = set(links.true or ())
    return {(i, j): p for i, j, p in links.pairs if (i, j) not in true}


def _true(links: Links) -> dict[tuple[int, int], float]:
    """The true pairs; one that nobody holds for possible has probability 0."""
    known = {(i, j): p for i, j, p in links.pairs}
    return {pair: known.get(pair, 0.0) for pair in links.true or ()}


def _stroke(p: float, colour: str) -> dict[str, Any]:
    """How a line of this probability looks."""
    dashed = {} if p else {"stroke_dasharray": "2 3"}
    return {"stroke_width": round(1 + 3 * p, 2), "stroke_opacity": _opacity(math.sqrt(p), colour, 0.35), **dashed}


def _opacity(strength: float, colour: str, least: float = 0.2) -> float:
    least = least if colour == BLUE else 0.6
    return round(least + (1 - least) * strength, 2)


def _graph_legend(drawing: ET.Element, links: Links, y: float) -> None:
    impossible = any(p == 0 for _, _, p in links.pairs) or 0.0 in _true(links).values()
    x = _write(drawing, 0, y + 14, "probability")
    for p in (*([0.0] if impossible else []), 0.1, 0.5, 1.0):
        _shape(drawing, "path", d=f"M{x} {y + 10}h{_SAMPLE}", stroke=BLUE, **_stroke(p, BLUE))
        x = _write(drawing, x + _SAMPLE + 5, y + 14, percent(p))
    if links.true:
        _shape(drawing, "path", d=f"M0 {y + 30}h{_SAMPLE}", stroke=RED, **_stroke(0.5, RED))
        _write(drawing, _SAMPLE + 5, y + 34, "true pair")


def _matrix(links: Links) -> ET.Element:
    """A row for each entry or group of entries, a column for each pseudonym or group, shaded by probability."""
    levels, true, covers = _cells(links)
    rows, columns = levels.shape
    side = math.floor(10 * (WIDTH - 2) / max(rows, columns)) / 10  # a tenth of a pixel is what clean() keeps
    high, wide = (max(side, math.ceil(40 / n)) for n in (rows, columns))
    notes = _notes(links, covers)
    drawing = _sheet(_TOP + high * rows + 14 + _LINE * (1 + len(notes)))
    down = f"{name(links.left_label, _NAME)} ↓ {len(links.left):,}"
    across = f"{name(links.right_label, _NAME)} → {len(links.right):,}"
    _write(drawing, 0, 12, down)
    _write(drawing, max(1 + wide * columns, _widest([down]) + _widest([across]) + 16), 12, across, "end")
    grid = _shape(drawing, "g", transform=f"translate(1,{_TOP}) scale({wide},{high})")
    for (red, level), runs in sorted(_runs(levels, true).items()):
        colour = RED if red else BLUE
        _shape(grid, "path", d=runs, stroke=colour, stroke_opacity=_opacity(level / _LEVELS, colour))
    frame = {"width": wide * columns, "height": high * rows, "fill": "none"}
    _shape(drawing, "rect", x=1, y=_TOP, **frame, stroke=INK, stroke_opacity=0.4)
    _matrix_legend(drawing, notes, _TOP + high * rows + 14)
    return drawing


def _cells(links: Links) -> tuple[Ints, NDArray[np.bool_], tuple[int, int]]:
    """The shade of each cell (0 for none), whether it holds a true pair, and how many rows and columns it covers."""
    import numpy as np

    left, right = places(links)
    down, covered = _groups(left)
    across, covering = _groups(right)
    shape = down.max(initial=0) + 1, across.max(initial=0) + 1
    total, count, true = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    ends, probability = _pairs(links)
    cell = down[ends[:, 0]], across[ends[:, 1]]
    np.add.at(total, cell, probability)
    np.add.at(count, cell, probability > 0)
    for i, j in links.true or ():
        true[down[i], across[j]] = True
    mean = np.divide(total, count, out=np.zeros(shape), where=count > 0)
    return np.ceil((_LEVELS * np.sqrt(mean)).round(6)).astype(np.int64), true, (covered, covering)


def _groups(side: Floats) -> tuple[Ints, int]:
    """The row or column of each node, and how many nodes share one."""
    import numpy as np

    size = max(1, math.ceil(len(side) / _CELLS))
    return (side * len(side)).astype(np.int64) // size, size


def _runs(levels: Ints, true: NDArray[np.bool_]) -> dict[tuple[bool, int], str]:
    """For each look, the cells that have it: neighbours of a row as one stroke, as thick as a cell is high."""
    looks: dict[tuple[bool, int], str] = {}
    for y, row in enumerate(zip(levels.tolist(), true.tolist(), strict=True)):
        x = 0
        for (level, red), run in groupby(zip(*row, strict=True)):
            length = len(list(run))
            if level or red:
                looks[red, level] = f"{looks.get((red, level), '')}M{x} {y}.5h{length}"
            x += length
    return looks


def _notes(links: Links, covers: tuple[int, int]) -> list[tuple[str, str]]:
    several = f"each cell is the mean of up to {covers[0]} × {covers[1]} pairs"
    truth = "true pair" if covers == (1, 1) else "cell with a true pair"
    return [*([("", several)] if covers != (1, 1) else []), *([(RED, truth)] if links.true else [])]


def _matrix_legend(drawing: ET.Element, notes: list[tuple[str, str]], y: float) -> None:
    x = _write(drawing, 0, y + 14, "probability")
    for p in (0.01, 0.1, 0.5, 1.0):
        _patch(drawing, x, y, math.sqrt(p), BLUE)
        x = _write(drawing, x + _SAMPLE + 5, y + 14, percent(p))
    for line, (colour, text) in enumerate(notes, start=1):
        if colour:
            _patch(drawing, 0, y + _LINE * line, 0.7, colour)
        _write(drawing, _SAMPLE + 5 if colour else 0, y + 14 + _LINE * line, text)


def _patch(parent: ET.Element, x: float, y: float, strength: float, colour: str) -> None:
    look = {"fill": colour, "fill_opacity": _opacity(strength, colour)}
    _shape(parent, "rect", x=x, y=y + 3, width=_SAMPLE, height=13, **look)


def _sheet(height: float) -> ET.Element:
    return ET.Element("svg", {"width": str(WIDTH), "height": str(math.ceil(height))})


def _shape(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    return ET.SubElement(parent, tag, {key.replace("_", "-"): str(value) for key, value in attributes.items()})


def _dot(parent: ET.Element, x: float, y: float) -> None:
    arc = f"a{_DOT} {_DOT} 0 1 0"
    _shape(parent, "path", d=f"M{x - _DOT} {y}{arc} {2 * _DOT} 0{arc} {-2 * _DOT} 0z", fill=INK)


def _write(parent: ET.Element, x: float, y: float, text: str, anchor: str = "start") -> float:
    """Set text, and say where what follows may begin."""
    look = {"text_anchor": anchor, "fill": INK, "font_size": "12px"}
    _shape(parent, "text", x=x, y=y, **look).text = text
    return x + 0.85 * _LETTER * width(text) + 16


def _widest(texts: list[str]) -> float:
    return _LETTER * max((width(t) for t in texts), default=0)
