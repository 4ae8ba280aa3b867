"""What is drawn and said of degrees as a whole, counted anew node by node."""

from __future__ import annotations

import re
from itertools import groupby

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import zeta

import unveil
from network.test_graph_measures import graphs
from unveil import Graph
from unveil.finding import Curve
from unveil.network.degree_chart import degree_chart
from unveil.network.measures.graph_facts import describe_graph
from unveil.network.measures.power_law import fit_power_law


def lines(curve: Curve) -> dict[str, list[tuple[float, float]]]:
    assert curve.series is not None
    points = zip(curve.series, curve.x, curve.y, strict=True)
    return {name: [(float(x), y) for _, x, y in some] for name, some in groupby(points, key=lambda p: p[0])}


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_every_degree_has_its_share_of_nodes(made: tuple[Graph, nx.Graph]) -> None:
    graph, other = made
    each = (
        {"outgoing connections": dict(other.out_degree), "incoming connections": dict(other.in_degree)}
        if graph.directed
        else {"connections": dict(other.degree)}
    )
    charts = degree_chart(graph)
    fits = {name: fit_power_law(np.array(list(d.values()))) for name, d in each.items()}
    assert len(charts) == any(fits.values()), "a chart exactly where a law can be fitted"
    for curve in charts:
        drawn = lines(curve)
        for name, degrees in each.items():
            expected = sorted({d for d in degrees.values() if d})
            shares = [sum(other >= d for other in degrees.values()) / graph.nodes for d in expected]
            points = drawn.get(name, [])
            assert [x for x, _ in points] == expected
            assert [y for _, y in points] == pytest.approx(shares)
            law = fits[name]
            assert (f"power law of {name}" in drawn) == (law is not None)
            if law is None:
                continue
            for x, y in drawn[f"power law of {name}"]:
                left = zeta(law.exponent, x) / zeta(law.exponent, law.x_min)
                assert x >= law.x_min and y == pytest.approx(law.values / graph.nodes * left)
            assert f"begins at {law.x_min:,} {name[: None if law.x_min > 1 else -1]}:" in curve.reading
            assert law.values == sum(d >= law.x_min for d in degrees.values())


def test_many_degrees_are_thinned_out_but_right() -> None:
    other = nx.barabasi_albert_graph(3_000, 20, seed=2)
    (curve,) = degree_chart(Graph.from_networkx(other))
    degrees = [d for _, d in other.degree]
    drawn = lines(curve)
    assert len(set(degrees)) > 100 and len(drawn["connections"]) <= 60
    assert {x for x, _ in drawn["connections"]} >= {min(degrees), max(degrees)}
    for x, y in drawn["connections"]:
        assert y == pytest.approx(sum(d >= x for d in degrees) / 3_000)
    assert curve.x_scale == curve.y_scale == "log"
    exponent = re.search(r"exponent ([\d.]+)", curve.reading)
    assert exponent and 2.5 < float(exponent[1]) < 3.5, "3 for this model"


def test_the_law_is_as_far_away_as_the_chart_says() -> None:
    """The largest difference of the shares at every whole number, just below it and at it."""
    graph = Graph.from_networkx(nx.barabasi_albert_graph(500, 3, seed=1))
    law = fit_power_law(graph.degrees)
    assert law is not None
    tail = graph.degrees[graph.degrees >= law.x_min]
    away = max(abs((tail >= x).mean() - law.share_from(x)) for x in range(law.x_min, int(tail.max()) + 2))
    assert law.distance == pytest.approx(away)
    said = re.search(r"at most ([\d.]+) percentage points", degree_chart(graph)[0].reading)
    assert said and float(said[1]) == pytest.approx(100 * away, rel=0.05)


@pytest.mark.parametrize("graph", [nx.empty_graph(4), nx.complete_graph(5), nx.path_graph(2), nx.cycle_graph(6)])
def test_equal_degrees_are_not_drawn(graph: nx.Graph) -> None:
    found = unveil.assess(Graph.from_networkx(graph), only=["network.degree_unique"])
    assert found["network.degree_unique"].curves == ()


def test_degrees_that_fall_off_too_steeply_follow_no_law() -> None:
    assert fit_power_law(np.repeat([50, 51], [10_000, 1])) is None


def test_unconnected_pairs_make_a_graph_in_parts_look_closer() -> None:
    together, apart = (
        describe_graph(Graph.from_edges(s, t, nodes=6))
        for s, t in (([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]), ([0, 3], [1, 4]))
    )
    (name,) = (name for name in apart if "which makes a graph in parts look closer" in name)
    assert apart[name] == pytest.approx(4 / 30) and together[name] == pytest.approx(70 / 30)
    assert apart["average distance of connected pairs"] == 1
    assert together["average distance of connected pairs"] == together[name]


def test_facts_say_which_way_connections_go() -> None:
    out = describe_graph(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], nodes=4, directed=True))
    assert out["most outgoing connections of a node"] == 3
    assert out["most incoming connections of a node"] == 2
    assert {"power law of outgoing connections, exponent", "power law of incoming connections, begins at"} <= set(out)
    assert "most connections of a node" not in out
