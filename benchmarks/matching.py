"""Exact matchings against one permanent of thewalrus, and against chains that only estimate."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from _measure import data_folder

from unveil import read
from unveil.matching import Candidates, solve
from unveil.matching.blocks import Block, feasible_flow, independent_blocks
from unveil.matching.chains import ChainWalk
from unveil.matching.column_subsets import matrix_marginals
from unveil.matching.diagnostics import effective_size, split_rhat

__all__ = ["main"]

_LONG = 20_000  # sweeps
_PEER = Path(__file__).parent / "peers" / "thewalrus"
_PEER_CODE = """
import json, sys, time, numpy as np
from thewalrus import perm
perm(np.random.default_rng(0).random((6, 6)))
best = {}
for n in map(int, sys.argv[1:]):
    a = np.random.default_rng(n).random((n, n)); times = []
    for _ in range(3):
        t = time.process_time(); perm(a); times.append(time.process_time() - t)
    best[n] = min(times)
print(json.dumps(best))
"""


def main() -> None:
    """Print the figures."""
    _dense()
    _windows()
    _sparse()
    print("matching: real data, intervals of one median gap")
    data = data_folder()
    if data is not None:
        _retail(data)
        _mushroom(data)


def _dense() -> None:
    """All n² marginals against one permanent."""
    print("matching: dense matrices, all marginals against one permanent of thewalrus")
    theirs = _thewalrus((20, 24))
    if theirs is None:
        print("  thewalrus could not be installed in benchmarks/peers; nothing to compare with")
        return
    for n, goal in ((20, 10), (24, 6)):
        matrix = np.random.default_rng(n).random((n, n))
        ours = min(_cpu(lambda m=matrix: matrix_marginals(m)) for _ in range(3))
        print(f"  n = {n}: {ours / theirs[str(n)]:.2f} × thewalrus.perm  ({ours:.3f} s, goal ≤ {goal})")


def _thewalrus(sizes: tuple[int, ...]) -> dict[str, float] | None:
    """CPU seconds of the peer, in a virtual environment of its own."""
    python = _PEER / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", _PEER], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "thewalrus==0.22.0"], check=True, capture_output=True)
        done = subprocess.run([python, "-c", _PEER_CODE, *map(str, sizes)], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _intervals(data: Path, name: str) -> Candidates:
    counts = read(data / "transactions" / f"{name}.dat").counts.astype(float)
    gap = np.median(np.diff(np.unique(counts)))
    return Candidates.from_intervals(counts - gap, counts + gap, counts)


def _whole(candidates: Candidates) -> Block:
    """All of it as one block, nothing pruned or split: what a chain without the ladder has to walk on."""
    edges = np.arange(len(candidates.groups))
    sizes = candidates.class_sizes, candidates.group_sizes
    return Block(candidates.edge_class, candidates.groups, candidates.weights, *sizes, edges, edges)


def _retail(data: Path) -> None:
    """Every item's probability exactly, against 300 sweeps of the chain on every block that needs one."""
    candidates = _intervals(data, "retail")
    solve(candidates)
    exact = min(_cpu(lambda: solve(candidates)) for _ in range(3))
    flow = feasible_flow(candidates, np.arange(candidates.n))
    swept = 0.0
    for block in independent_blocks(candidates, flow):
        if len(block.a) > 1:
            start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
            walk = ChainWalk(block, start, start.astype(float), np.random.default_rng(1))
            walk.rounds = np.array([block.n, 0, 0])  # as many swaps as entries
            swept += _cpu(lambda w=walk: w.advance(75))  # four chains of 75 sweeps each
    print(f"  retail: exact takes {exact / swept:.2f} × 300 sweeps of the local chain ({exact:.3f} s, goal < 1)")


def _windows() -> None:
    """The frontier on 130 items, each of which may be any of 21 neighbouring groups."""
    values = np.arange(130.0)
    candidates = Candidates.from_intervals(values - 10, values + 10, values)
    solve(candidates)
    ours = min(_cpu(lambda: solve(candidates)) for _ in range(3))
    print(f"matching: 130 items with windows of 21 groups, exact: {ours:.2f} s CPU at 184,756 states")


def _sparse() -> None:
    """Why there are tours: swaps or reshuffles alone on sparse graphs, from which they cannot reach everything."""
    rng = np.random.default_rng(0)
    graphs = {
        "0/1, 200 entries": ((rng.random((200, 200)) < 0.03) + np.eye(200) > 0) * 1.0,
        "weighted, 60 entries": np.where(rng.random((60, 60)) < 0.15, rng.random((60, 60)) ** 4, 0) + 0.1 * np.eye(60),
    }
    print("matching: expected cracks on sparse graphs, mean of each of four chains of 3,000 sweeps, and their split R̂")
    for name, weights in graphs.items():
        candidates = Candidates.from_matrix(weights)
        flow = feasible_flow(candidates, np.arange(candidates.n))
        block = max(independent_blocks(candidates, flow), key=lambda b: b.n)
        start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
        alone = (block.n, 0, 0) if (block.weights == 1).all() else (0, 0, block.n // 5)
        for said, rounds in (("with tours", None), ("alone", alone)):
            walk = ChainWalk(block, start, start.astype(float), np.random.default_rng(1))
            walk.rounds = walk.rounds if rounds is None else np.array(rounds)
            walk.advance(300)
            scores = walk.advance(3000)
            means = ", ".join(f"{mean:.2f}" for mean in scores.mean(axis=1))
            what = "swaps" if alone[0] else "reshuffles"
            print(f"  {name}: {what} {said}: {means} (R̂ {split_rhat(scores):.3f})")


def _mushroom(data: Path) -> None:
    """Effective samples per second: the local chain against the published one, which swaps two entries at random.

    Both on all of the data as one block, both with scores kept at no cost worth mentioning; sweeps of a chain differ in
    size, so only time counts. The fastest of five runs of each, taken in turns."""
    candidates = _intervals(data, "mushroom")
    block = _whole(candidates)
    start = feasible_flow(candidates, np.arange(candidates.n))
    score = start / (block.r[block.a] * block.c[block.b])
    walk = ChainWalk(block, start, start.astype(float), np.random.default_rng(2))
    walk.advance(500)
    local, published = [], []
    for _ in range(5):
        begun = time.process_time()
        chains = walk.advance(_LONG)
        local.append((time.process_time() - begun, chains))
        published.append(_published(block, walk, score, _LONG))
    ours, theirs = _per_second(local), _per_second(published)
    print(
        f"  mushroom: the local chain gives {ours / theirs:.1f} × the effective samples per second of the uniform-"
        f"pair chain ({ours:,.0f} against {theirs:,.0f}, goal ≥ 10)"
    )


def _per_second(runs: list[tuple[float, np.ndarray]]) -> float:
    """Effective samples per second: of all runs together, at the speed of the fastest."""
    return effective_size(np.concatenate([chains for _, chains in runs], axis=1)) / (
        len(runs) * min(seconds for seconds, _ in runs)
    )


def _published(block: Block, walk: ChainWalk, score: np.ndarray, sweeps: int) -> tuple[float, np.ndarray]:
    allowed, of_entry, of_slot = walk.graph.allowed, walk.graph.of_entry, walk.graph.of_slot
    worth = np.zeros(allowed.shape)
    worth[block.a, block.b] = score
    starts = [matching[0].copy() for matching in walk.matchings]
    scores = np.empty((len(starts), sweeps))
    rng = np.random.default_rng(3)
    _uniform(allowed, of_entry, of_slot, starts[0], worth, rng, scores[0, :1])
    begun = time.process_time()
    for held, found in zip(starts, scores, strict=True):
        _uniform(allowed, of_entry, of_slot, held, worth, rng, found)
    return time.process_time() - begun, scores


@numba.njit
def _uniform(allowed, of_entry, of_slot, held, worth, rng, scores):  # type: ignore[no-untyped-def]
    """The published chain: two entries picked at random swap if both can; a score after every sweep."""
    n = len(held)
    score = 0.0
    for e in range(n):
        score += worth[of_entry[e], of_slot[held[e]]]
    for sweep in range(len(scores)):
        for _ in range(n):
            i, k = int(rng.random() * n), int(rng.random() * n)
            a, b, c, d = of_entry[i], of_slot[held[i]], of_slot[held[k]], of_entry[k]
            if allowed[a, c] and allowed[d, b]:
                held[i], held[k] = held[k], held[i]
                score += worth[a, c] + worth[d, b] - worth[a, b] - worth[d, c]
        scores[sweep] = score


if __name__ == "__main__":
    main()
