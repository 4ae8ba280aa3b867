"""Slow, obvious readers of baskets and edges: split the text, keep Python lists."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["NaiveBaskets", "NaiveGraph", "naive_adjacency", "naive_edges", "naive_fimi", "naive_lines"]


class NaiveBaskets(NamedTuple):
    baskets: list[list[str]]
    empty: int
    repeated: int


class NaiveGraph(NamedTuple):
    labels: list[str]
    edges: set[tuple[str, str]]
    loops: int
    duplicates: int


def naive_lines(text: str) -> list[str]:
    """The lines of a text; what comes after the last line end is a line only if there is something."""
    lines = re.split("\r\n|\r|\n", text)
    return lines[:-1] if lines[-1] == "" else lines


def naive_words(line: str) -> list[str]:
    return [word for word in line.replace("\t", " ").split(" ") if word]


def naive_fimi(text: str) -> NaiveBaskets:
    baskets = []
    empty = repeated = 0
    for line in naive_lines(text):
        items = naive_words(line)
        unique = list(dict.fromkeys(items))
        repeated += len(items) - len(unique)
        if unique:
            baskets.append(unique)
        else:
            empty += 1
    return NaiveBaskets(baskets, empty, repeated)


def naive_edges(text: str, directed: bool) -> NaiveGraph:
    """The graph of a blank-separated edge list without header, every line of which has two words or more."""
    pairs = []
    for line in naive_lines(text):
        words = naive_words(line)
        if words and words[0][0] not in "#%":
            pairs.append((words[0], words[1]))
    return naive_adjacency(pairs, directed)


def naive_adjacency(pairs: list[tuple[str, str]], directed: bool) -> NaiveGraph:
    """Edges as pairs; an undirected edge is in rising order of labels."""
    edges: set[tuple[str, str]] = set()
    loops = duplicates = 0
    for source, target in pairs:
        edge = (source, target) if directed or source < target else (target, source)
        if source == target:
            loops += 1
        elif edge in edges:
            duplicates += 1
        else:
            edges.add(edge)
    return NaiveGraph(list(dict.fromkeys(end for pair in pairs for end in pair)), edges, loops, duplicates)
