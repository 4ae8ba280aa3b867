"""How fast are baskets read?

The baseline is ``numpy.fromstring(text, sep=" ", dtype=np.int64)``, numpy's fastest way from decimal text to integers.
It does less: it knows neither baskets nor labels, nor takes a digest. Both sides read the file; kernels are compiled
beforehand; the best of several runs counts.

The data is looked for in ``$UNVEIL_DATA``, else in ``../shared/data`` beside the repository.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from unveil.release import source_file
from unveil.release.transactions import read_fimi

__all__ = ["main"]

_RUNS = 25


def _data() -> Path:
    return Path(os.environ.get("UNVEIL_DATA") or Path(__file__).resolve().parents[1].parent / "shared" / "data")


def _numbers(path: Path) -> int:
    return int(np.fromstring(path.read_bytes(), sep=" ", dtype=np.int64).size)


def _best(jobs: list[Callable[[Path], object]], path: Path) -> list[float]:
    """The shortest time of each job; jobs take turns, so that a slow moment of the machine hits all of them."""
    times: list[list[float]] = [[] for _ in jobs]
    for job in jobs:
        job(path)
    for _ in range(_RUNS):
        for job, taken in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job(path)
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def main() -> None:
    """Print the figures, or that the data is absent."""
    path = _data() / "transactions" / "retail.dat"
    if not path.exists():
        print("reading: retail.dat is absent; set UNVEIL_DATA to the folder that has transactions/retail.dat")
        return
    tx = read_fimi(path)
    assert len(tx.items) == _numbers(path)
    ours, theirs, digest = _best([read_fimi, _numbers, source_file.file_digest], path)
    size = path.stat().st_size
    print(f"reading {path.name}: {tx.baskets:,} baskets, {len(tx.labels):,} items, {size / 1e6:.1f} MB")
    print(f"  numpy.fromstring        {theirs * 1e3:6.1f} ms")
    print(f"  unveil read_fimi        {ours * 1e3:6.1f} ms = {ours / theirs:.2f} × ({size / ours / 1e6:.0f} MB/s)")
    print(f"  of which sha256 digest  {digest * 1e3:6.1f} ms")


if __name__ == "__main__":
    main()
