"""Long loops in short slices, on several threads.

A compiled loop cannot be interrupted. So each call gets about a tenth of a second's work, and the run is checked for
cancellation in between. Kernels release the interpreter's lock, so longer work runs on several threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unveil.arrays import Ints
from unveil.run import Run

if TYPE_CHECKING:
    pass

__all__ = ["CHUNK_ENTRIES", "MAX_THREADS", "chunks", "parallel_for", "run_tasks"]

CHUNK_ENTRIES = 1 << 22  # entries per slice
MAX_THREADS = 8  # at most
_T = TypeVar("_T")
_TASKS_PER_THREAD = 8  # per thread: with small shares, no thread waits long for the last one


def chunks(begins: Ints | int, run: Run, steps: int | None = None) -> Iterator[tuple[int, int]]:
    """Split lists into chunks of about ``steps`` entries each.

    List k holds the entries ``begins[k]`` to ``begins[k + 1]``. An integer ``begins`` stands for that many single
    entries. The run is checked before each chunk.

    >>> list(chunks(np.array([0, 2, 3, 9, 9, 10]), Run(), 3))
    [(0, 2), (2, 3), (3, 5)]
    >>> list(chunks(7, Run(), 3))
    [(0, 3), (3, 6), (6, 7)]
    """
    steps, first = steps or CHUNK_ENTRIES, 0
    count = begins if isinstance(begins, int) else len(begins) - 1
    while first < count:
        run.check()
        last = min(first + steps, count)
        if not isinstance(begins, int):
            last = max(first + 1, min(last, int(np.searchsorted(begins, begins[first] + steps, "right")) - 1))
        yield first, last
        first = last


def parallel_for(step: Callable[[int, int], int], count: int, doing: str, run: Run) -> None:
    """Call ``step(first, last)`` until all of 0 to ``count`` is done.

    Each call does one slice and returns where it stopped. Work beyond the first slice runs on several threads.

    >>> found = []
    >>> parallel_for(lambda first, last: found.append(first) or first + 1, 3, "counting", Run())
    >>> sorted(found)
    [0, 1, 2]
    """
    run.check()
    begun = int(step(0, count)) if count else 0
    edges = (
        np.linspace(begun, count, 1 + min(count - begun, _TASKS_PER_THREAD * _thread_count())).astype(np.int64).tolist()
    )

    def run_slices(edge: tuple[int, int], stop: Event) -> None:
        first, last = edge
        while first < last and not stop.is_set():
            run.check()
            first = int(step(first, last))

    run_tasks(list(pairwise(edges)), run_slices, doing, run)


def run_tasks(tasks: Sequence[_T], task: Callable[[_T, Event], None], doing: str, run: Run) -> None:
    """Run ``task`` for each of ``tasks`` on several threads.

    Each call also gets an event. Once it is set, because another task failed or the user interrupted, the task should
    stop after its current slice.
    """
    stop = Event()
    if not tasks:
        return
    with ThreadPoolExecutor(min(_thread_count(), len(tasks))) as pool:
        futures = [pool.submit(task, given, stop) for given in tasks]
        try:
            for done, future in enumerate(as_completed(futures)):
                future.result()
                run.progress(doing, (done + 1) / len(tasks))
                run.check()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _thread_count() -> int:
    return min(MAX_THREADS, os.cpu_count() or 1)
