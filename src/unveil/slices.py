"""Work in slices.

A compiled loop cannot be interrupted. So it is given no more at a time than takes about a tenth of a second, and the
run is asked in between whether it was cancelled. It works without the interpreter's lock: what takes longer is done on
several processors at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unveil.run import Run

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["STEPS", "THREADS", "pieces", "spread", "together"]

STEPS = 1 << 22  # entries in a slice
THREADS = 8  # at most
_T = TypeVar("_T")
_STRETCHES = 8  # for each thread, so that none waits long for the last


def pieces(begins: npt.NDArray[np.int64] | int, run: Run, steps: int | None = None) -> Iterator[tuple[int, int]]:
    """All of some lists in stretches of about so many ``steps``, where list k has the entries ``begins[k] … begins[k +
    1]``; or, given a number, as many entries.

    >>> list(pieces(np.array([0, 2, 3, 9, 9, 10]), Run(), 3))
    [(0, 2), (2, 3), (3, 5)]
    >>> list(pieces(7, Run(), 3))
    [(0, 3), (3, 6), (6, 7)]
    """
    steps, first = steps or STEPS, 0
    count = begins if isinstance(begins, int) else len(begins) - 1
    while first < count:
        run.check()
        last = min(first + steps, count)
        if not isinstance(begins, int):
            last = max(first + 1, min(last, int(np.searchsorted(begins, begins[first] + steps, "right")) - 1))
        yield first, last
        first = last


def spread(step: Callable[[int, int], int], count: int, doing: str, run: Run) -> None:
    """Have ``step(first, last)`` done for all of 0 … ``count``, where it does a slice and says how far it got. What is
    more than a slice is spread over processors, each with stretches of its own.

    >>> found = []
    >>> spread(lambda first, last: found.append(first) or first + 1, 3, "counting", Run())
    >>> sorted(found)
    [0, 1, 2]
    """
    run.check()
    begun = int(step(0, count)) if count else 0
    edges = np.linspace(begun, count, 1 + min(count - begun, _STRETCHES * _processors())).astype(np.int64).tolist()

    def stretch(edge: tuple[int, int], stop: Event) -> None:
        first, last = edge
        while first < last and not stop.is_set():
            run.check()
            first = int(step(first, last))

    together(list(pairwise(edges)), stretch, doing, run)


def together(tasks: Sequence[_T], task: Callable[[_T, Event], None], doing: str, run: Run) -> None:
    """Do tasks on several processors. Each is given what says that it should stop after its slice: another one failed,
    or someone interrupted."""
    stop = Event()
    if not tasks:
        return
    with ThreadPoolExecutor(min(_processors(), len(tasks))) as pool:
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


def _processors() -> int:
    return min(THREADS, os.cpu_count() or 1)
