"""What becomes of distances, communities, the spread of things, and the most important nodes.

Large graphs are sampled, or not searched: the sentences say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import isnan

from unveil.arrays import Ints
from unveil.network.compared_graphs import ComparedGraphs, measure_both
from unveil.network.measures.path_lengths import affordable_sources, measure_path_lengths
from unveil.network.use.change_text import change_measure
from unveil.network.use.communities import adjusted_rand_index, find_communities
from unveil.network.use.page_rank import page_ranks, top_overlap, top_size
from unveil.network.use.spectrum import largest_singular_values, spectral_distance
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.usefulness.use_measure import UseMeasure
from unveil.wording import count_text, number_text, number_word, percent_text, range_text

__all__ = ["community_use", "distance_use", "page_rank_use", "spectrum_use"]
_MOST_EDGES = 1_000_000  # in which communities and singular values are searched
_FEW_EDGES = 100_000  # up to which communities are searched five times, beyond twice
_NOT_SEARCHED = f"not compared in networks of more than {_MOST_EDGES:,} connections"


# ---- distances -------------------------------------------------------------------------------------------------------


def distance_use(compared: ComparedGraphs, run: Run) -> Iterator[UseMeasure]:
    """How far apart nodes are: on average, counting 0 where no path leads, and at most."""
    sizes = [size for g in (compared.original, compared.released) if (size := affordable_sources(g)) is not None]
    sample = min(sizes, default=None)
    was, now = measure_both(
        compared,
        f"distances from {sample}",
        lambda graph: measure_path_lengths(graph, run, run.rng("network.use.distances"), sample),
        run,
    )
    along = ", along directions," if compared.original.directed else ""
    yield from _average_use(
        "distance",
        "Average distance",
        f"The average number of steps between two nodes that a path joins{along}",
        (was.over_reachable, now.over_reachable),
        None if now.is_exact else now.over_reachable_interval(),
        sample,
    )
    yield from _average_use(
        "distance_all",
        "Average distance (0 without a path)",
        f"With 0 for pairs that no path joins, the average number of steps between two nodes{along}",
        (was.over_all, now.over_all),
        None if now.is_exact else now.over_all_interval(),
        sample,
    )
    yield from _largest_use((was.diameter, now.diameter), along, sample)


def _average_use(
    measure_id: str,
    title: str,
    what: str,
    numbers: tuple[float, float],
    interval: tuple[float, float] | None,
    sample: int | None,
) -> list[UseMeasure]:
    """An average distance before and after, of all pairs of nodes or of those that begin at a sample."""
    before, after = numbers
    if sample is None:
        return change_measure(measure_id, title, numbers, what, "no path joins any two")
    if isnan(before) or isnan(after):
        return change_measure(measure_id, title, numbers, what, f"no path leads from {_sample_text(sample)}")
    now = number_text(after) if interval is None else range_text(after, interval, number_text)
    change = f"stays at {now}" if before == after else f"is {number_text(before)} before protection and {now} after"
    said = f"{what} {change}, measured from {_sample_text(sample)}."
    return [UseMeasure(measure_id, title, before, after, said, is_share=False, interval=interval)]


def _sample_text(sample: int) -> str:
    return f"{count_text(sample, 'node')} drawn at random"


def _largest_use(numbers: tuple[int, int], along: str, sample: int | None) -> list[UseMeasure]:
    if sample is None:
        what = f"The largest number of steps between two nodes that a path joins{along}"
        return change_measure("diameter", "Largest distance", numbers, what, "")
    what = f"The largest number of steps found from {_sample_text(sample)} (there may be larger ones)"
    return change_measure("diameter", "Largest distance found", numbers, what, "")


# ---- communities -----------------------------------------------------------------------------------------------------


def community_use(compared: ComparedGraphs, run: Run) -> list[UseMeasure]:
    """How far communities agree that are found before and after, beside those that are found twice before."""
    title, kept = "Agreement of communities", compared.place >= 0
    edges = _most_edges(compared)
    if edges > _MOST_EDGES:
        return [UseMeasure("communities", title, None, None, f"Communities are {_NOT_SEARCHED}.", is_share=False)]
    if kept.sum() < 2:
        return []
    searches = 5 if edges <= _FEW_EDGES else 2
    was, now = measure_both(
        compared, f"{searches} divisions", lambda graph: _find_repeatedly(graph, searches, run), run
    )
    places = compared.place[kept]
    before = _mean_agreement([found[kept] for found in was], [found[kept] for found in was])
    after = _mean_agreement([found[kept] for found in was], [found[places] for found in now])
    said = (
        f"Communities found before and after protection agree to {number_text(round(after, 2))} (1: the same, 0: by "
        f"chance), those found twice before to {number_text(round(before, 2))}; each search begins at random, and "
        f"{number_word(searches)} were made of each."
    )
    return [UseMeasure("communities", title, before, after, said, is_share=False)]


def _most_edges(compared: ComparedGraphs) -> int:
    return max(compared.original.edges, compared.released.edges)


def _find_repeatedly(graph: Graph, searches: int, run: Run) -> list[Ints]:
    found = []
    for k in range(searches):
        run.progress("comparing communities", k / searches)
        found.append(find_communities(graph, run.rng(f"network.use.communities.{k}"), run))
    return found


def _mean_agreement(first: list[Ints], second: list[Ints]) -> float:
    """The mean over pairs of searches that begin differently."""
    pairs = list(permutations(range(len(first)), 2))
    return sum(adjusted_rand_index(first[i], second[j]) for i, j in pairs) / len(pairs)


# ---- spread and importance -------------------------------------------------------------------------------------------


def spectrum_use(compared: ComparedGraphs, run: Run) -> UseMeasure:
    """How far the largest singular values differ."""
    what = "The ten largest singular values of the network, which say how things spread in it,"
    if _most_edges(compared) > _MOST_EDGES:
        return UseMeasure(
            "spectrum", "Spectral distance", None, None, f"{what} are {_NOT_SEARCHED}.", is_comparison=True
        )
    run.progress("comparing how things spread", None)
    rng_of = "network.use.spectrum"
    was, now = measure_both(
        compared, "singular values", lambda graph: largest_singular_values(graph, run.rng(rng_of), run), run
    )
    if was is None or now is None:
        said = f"{what} are not compared: finding them takes too long."
        return UseMeasure("spectrum", "Spectral distance", None, None, said, is_comparison=True)
    distance = spectral_distance(was, now)
    said = f"{what} differ by {percent_text(distance)} of the larger ones." if distance else f"{what} are as before."
    return UseMeasure("spectrum", "Spectral distance", 0.0, distance, said, is_comparison=True)


def page_rank_use(compared: ComparedGraphs, run: Run) -> UseMeasure:
    """How many of the most important nodes still are."""
    run.progress("comparing the most important nodes", None)
    ranks = measure_both(compared, "PageRank", lambda graph: page_ranks(graph, run), run)
    size = min(top_size(compared.original.nodes), compared.released.nodes)
    share = top_overlap(compared, *ranks, size)
    if size == 1:
        who = "The node with the highest PageRank, which says how important a node is,"
        same, other = "is the same as before", "is another one than before"
    else:
        who = f"The {size:,} nodes with the highest PageRank, which says how important a node is,"
        same, other = "are the same as before", "are others than before"
    partly = f"agree to {percent_text(share)} with those before"
    said = f"{who} {same if share == 1 else other if share == 0 else partly}."
    return UseMeasure("page_rank", "Most important nodes kept", 1.0, share, said, is_comparison=True)
