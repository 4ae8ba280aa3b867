"""The run: what a computation carries with it, such as randomness, progress and cancellation.

Measurement is seeded. Every finding draws from its own stream, derived from the seed and the finding's id, so that a
new question changes no old number.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from unveil.risk import Risk

__all__ = ["Progress", "Run"]

_T = TypeVar("_T")

Progress = Callable[[str, float | None], None]
"""Called with a description of the work and the fraction done; None if that is unknown."""


def _no_progress(doing: str, fraction: float | None) -> None:
    pass


@dataclass(frozen=True)
class Run:
    """One run of the questions.

    ``exposed`` is how many of the most exposed subjects a finding lists. ``reveal`` lets findings carry names and
    values. ``confidence`` is the level for each sampled deciding finding: 1 − .05/m for m of them. ``only`` are the ids
    of the risks that are asked about; all of them by default. Without ``charts``, findings leave out what takes long
    and only explains their value: charts, and further attacks.
    """

    seed: int = 0
    exposed: int = 10
    reveal: bool = False
    confidence: float = 0.95
    progress: Progress = _no_progress
    only: frozenset[str] | None = None
    charts: bool = True
    cancelled: threading.Event = field(default_factory=threading.Event)
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def rng(self, finding_id: str) -> np.random.Generator:
        """The random stream of one finding, which depends on the seed and the id alone."""
        import numpy as np

        words = np.frombuffer(hashlib.sha256(finding_id.encode()).digest(), dtype="<u4")
        return np.random.default_rng(np.random.SeedSequence([self.seed, *words.tolist()]))

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """What ``make`` returns, made once per run and key: for what several findings or protections need."""
        if key not in self._kept:
            self._kept[key] = make()
        found: _T = self._kept[key]
        return found

    def asks(self, *risks: Risk) -> bool:
        """Whether any of these risks is asked about."""
        return self.only is None or any(risk.id in self.only for risk in risks)

    def check(self) -> None:
        """Raise KeyboardInterrupt if the run was cancelled. Long loops call this between slices of work."""
        if self.cancelled.is_set():
            raise KeyboardInterrupt
