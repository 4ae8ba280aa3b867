"""Degrees with noise: sensitivities by looking at all small graphs, and what is made of the noisy numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from reference.exact_noise import chi_squared
from reference.naive_degree_noise import (
    Graph,
    all_graphs,
    best_falling,
    common_neighbours,
    degrees_of,
    edge_neighbours,
    node_neighbours,
    triangles_of,
)
from unveil.dp.mechanisms.degree_noise import (
    add_histogram_noise,
    add_sequence_noise,
    add_sorted_noise,
    add_triangle_noise,
    degree_sensitivity,
    nearest_falling,
    triangle_statistics,
)
from unveil.dp.mechanisms.laplace import laplace_probability
from unveil.errors import UnveilError

_ERROR_RATE = 1e-6
_MILLION = 10**6


def distance(one: list[int], other: list[int]) -> int:
    assert len(one) == len(other)
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def sorted_degrees(graph: Graph, length: int) -> list[int]:
    return [*sorted(degrees_of(graph), reverse=True), *[0] * length][:length]


def histogram(graph: Graph, top: int) -> list[int]:
    return np.bincount(np.minimum(degrees_of(graph), top), minlength=top + 1).tolist()


def pairs_by_edges(nodes: int, edges: int) -> Iterator[tuple[Graph, Graph]]:
    return ((graph, other) for graph in all_graphs(nodes) for other in edge_neighbours(graph, edges))


@pytest.mark.parametrize(("nodes", "edges"), [(4, 1), (5, 1), (4, 2)])
def test_sensitivities_under_edges_are_never_exceeded(nodes: int, edges: int) -> None:
    sequence = degree_sensitivity("sequence", edges=edges)
    bins = degree_sensitivity("histogram", edges=edges)
    attained = 0
    for graph, other in pairs_by_edges(nodes, edges):
        if other[0] == graph[0]:
            assert distance(degrees_of(graph), degrees_of(other)) <= sequence
        for length in (2, nodes, nodes + 1):
            assert distance(sorted_degrees(graph, length), sorted_degrees(other, length)) <= sequence
        for top in (1, nodes):
            changed = distance(histogram(graph, top), histogram(other, top))
            assert changed <= bins
            attained = max(attained, changed)
    assert attained == bins or (nodes, edges) == (4, 2)  # four bins must change twice, for which four nodes are too few


def test_two_edges_attain_the_sensitivity_of_the_histogram() -> None:
    """Two edges, each between a node of degree 0 and one of degree 2, in different places."""
    cycles = {(2, 3), (3, 4), (2, 4), (5, 6), (6, 7), (5, 7)}
    one = (8, frozenset(cycles))
    other = (8, frozenset(cycles | {(0, 2), (1, 5)}))
    assert distance(histogram(one, 8), histogram(other, 8)) == degree_sensitivity("histogram", edges=2) == 8
    assert distance(sorted_degrees(one, 8), sorted_degrees(other, 8)) == degree_sensitivity("sequence", edges=2) == 4


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_sensitivities_under_a_node_are_attained_and_never_exceeded(nodes: int) -> None:
    pairs = [(graph, other) for graph in all_graphs(nodes - 1) for other in node_neighbours(graph)]
    sequence = max(distance(sorted_degrees(a, nodes), sorted_degrees(b, nodes)) for a, b in pairs)
    bins = max(distance(histogram(a, nodes), histogram(b, nodes)) for a, b in pairs)
    assert sequence == degree_sensitivity("sequence", nodes=nodes)
    assert bins == degree_sensitivity("histogram", nodes=nodes)


def test_triangles_change_by_common_neighbours_and_those_by_one() -> None:
    for graph, other in (pair for nodes in (3, 4, 5) for pair in pairs_by_edges(nodes, 1)):
        assert abs(triangles_of(graph) - triangles_of(other)) <= common_neighbours(graph)
        assert abs(common_neighbours(graph) - common_neighbours(other)) <= 1


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 8), st.data())
def test_triangles_and_common_neighbours_are_counted(nodes: int, data: st.DataObject) -> None:
    pairs = [(u, v) for v in range(nodes) for u in range(v)]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    graph = nodes, frozenset(edges)
    assert triangle_statistics(edges, nodes) == (triangles_of(graph), common_neighbours(graph))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9))
def test_the_nearest_falling_sequence_is_that_of_the_formula(values: list[int]) -> None:
    assert nearest_falling(values).tolist() == pytest.approx([float(x) for x in best_falling(values)], abs=1e-9)


def test_noise_has_the_stated_scale() -> None:
    epsilon = Fraction(2)
    sequence = [z - 3 for z in add_sequence_noise([3] * 20_000, epsilon, edges=2)]
    assert chi_squared(sequence, lambda z: laplace_probability(z, 4, epsilon), range(-8, 9)) > _ERROR_RATE
    bins = add_histogram_noise([], 20_000, epsilon)
    assert chi_squared(bins, lambda z: laplace_probability(z, 4, epsilon), range(-8, 9)) > _ERROR_RATE


def test_inference_removes_most_noise_where_degrees_repeat() -> None:
    degrees = np.repeat([1, 2, 10], [600, 300, 100])
    true = np.sort(degrees)[::-1]
    released = add_sorted_noise(degrees, 1_000, Fraction(1))
    assert (np.diff(released) <= 0).all() and released.min() >= 0 and released.max() <= 999
    assert np.abs(released - true).mean() < 0.7  # noise of scale 2 alone: about 2


def test_lengths_and_tops_are_public() -> None:
    huge = Fraction(1000)
    assert add_sorted_noise([1, 5, 2], 5, huge).tolist() == [4, 2, 1, 0, 0]  # cut to what five nodes allow
    assert add_sorted_noise([1, 5, 2], 2, huge).tolist() == [1, 1]
    assert add_histogram_noise([0, 1, 1, 7], 2, huge) == [1, 2, 1]
    assert add_histogram_noise([], 1, huge) == [0, 0]
    assert add_sorted_noise([], 2, huge, edges=None, nodes=5).tolist() == [0, 0]


def test_triangles_have_noise_of_the_released_scale() -> None:
    epsilon, delta = Fraction(4), Fraction(1, 100)
    draws = [add_triangle_noise(500, 7, epsilon, delta) for _ in range(4_000)]
    above = sum(draw.scale >= 7 for draw in draws)
    assert binomtest(above, len(draws), 1 - float(delta), alternative="less").pvalue > _ERROR_RATE
    inside = sum(abs(draw.value - 500) <= 3 for draw in draws)
    chances = [
        sum(laplace_probability(z, draw.scale, epsilon * 3 / 4) for z in range(-3, 4)) for draw in draws
    ]  # given the released scale
    deviation = math.sqrt(sum(chance * (1 - chance) for chance in chances))
    assert abs(inside - sum(chances)) < 5 * deviation  # exceeded by chance once in a million runs
    assert np.median([draw.scale for draw in draws]) < 20


def test_impossible_parameters_are_refused() -> None:
    for degrees in ([0.5], [-1], [[1, 2]], ["1"]):
        with pytest.raises(UnveilError, match="degrees must"):
            add_sequence_noise(degrees, Fraction(1))
    for edges, nodes, complaint in (
        (None, None, "by edges or by a node"),
        (1, 5, "by edges or by a node"),
        (0, None, "number of edges must be at least 1"),
        (None, 1, "largest number of nodes must be at least 2"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            degree_sensitivity("sequence", edges=edges, nodes=nodes)
    with pytest.raises(UnveilError, match="epsilon must be above 0"):
        add_histogram_noise([1], 2, Fraction(0))
    with pytest.raises(UnveilError, match="delta must be above 0"):
        add_triangle_noise(1, 1, Fraction(1), Fraction(0))
    with pytest.raises(UnveilError, match="length must be at least 1"):
        add_sorted_noise([1], 0, Fraction(1))
