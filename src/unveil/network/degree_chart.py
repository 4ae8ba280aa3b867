"""The chart of degrees: how many nodes have at least so many connections, and the power law nearest to that.

Both axes are logarithmic, on which a power law is a straight line. Where each node counts from its own degree down, no
bins have to be chosen. A directed graph has two lines, for outgoing and for incoming connections.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from unveil.finding import Curve
from unveil.release.graph import Graph
from unveil.wording import count_text, number_text, singular_noun

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.network.measures.power_law import PowerLaw

__all__ = ["degree_chart", "named_degrees"]

_MOST_POINTS = 60  # of a line


def named_degrees(graph: Graph) -> dict[str, Ints]:
    """The degrees of all nodes by what they count: connections, or outgoing and incoming ones."""
    if graph.directed:
        return {"outgoing connections": graph.degrees, "incoming connections": graph.in_degrees}
    return {"connections": graph.degrees}


def degree_chart(graph: Graph) -> tuple[Curve, ...]:
    """The chart, if a power law can be fitted: where nodes with connections have the same number of them, there is
    nothing to see."""
    from unveil.network.measures.power_law import fit_power_law

    points, readings = list[tuple[float, float, str]](), list[str]()
    for name, degrees in named_degrees(graph).items():
        shown, shares = _shares_at_least(degrees)
        points += [(x, y, name) for x, y in zip(shown, shares, strict=True)]
        law = fit_power_law(degrees)
        if law is not None:
            points += [(x, y, f"power law of {name}") for x, y in _points_of_law(law, shown, graph.nodes)]
            readings.append(_reading(law, name))
    if not readings:
        return ()
    x, y, series = zip(*points, strict=True)
    return (
        Curve(
            title="Nodes, by how many connections they have at least",
            kind="line",
            x_label="connections",
            y_label="share of nodes with at least so many",
            x=x,
            y=y,
            x_scale="log",
            y_scale="log",
            series=series,
            reading=" ".join(readings),
        ),
    )


def _shares_at_least(degrees: Ints) -> tuple[list[int], list[float]]:
    """Degrees from 1 on, and the share of nodes with at least so many; of many degrees, some at about equal ratios."""
    import numpy as np

    values = np.unique(degrees[degrees > 0])
    if len(values) > _MOST_POINTS:
        wanted = np.geomspace(values[0], values[-1], _MOST_POINTS)
        values = np.unique(values[np.minimum(np.searchsorted(values, wanted - 0.5), len(values) - 1)])
    ranked = np.sort(degrees)
    return values.tolist(), (1 - np.searchsorted(ranked, values) / len(ranked)).tolist()


def _points_of_law(law: PowerLaw, shown: list[int], nodes: int) -> list[tuple[float, float]]:
    """The law from where it was fitted on, as far as it expects a tenth of a node: the share of nodes there, times what
    it leaves from each degree on."""
    places = [law.x_min, *(x for x in shown if x > law.x_min)]
    points = [(x, law.values / nodes * law.share_from(x)) for x in places]
    return [(x, y) for x, y in points if y * nodes >= 0.1]


def _reading(law: PowerLaw, name: str) -> str:
    exponent, error, distance = (
        number_text(float(f"{x:.{digits}g}"))
        for x, digits in ((law.exponent, 3), (law.error, 2), (100 * law.distance, 2))
    )
    said = f" (standard error {error})" if isfinite(law.error) else ""
    return (
        f"The power law that comes nearest has the exponent {exponent}{said} and begins at "
        f"{count_text(law.x_min, singular_noun(name))}: the shares of the {count_text(law.values, 'node')} there "
        f"differ from it by at most {distance} percentage points. Other laws may fit as well."
    )
