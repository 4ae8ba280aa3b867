"""What a computation carries with it: randomness, progress, cancellation, and how much to show.

Measurement is seeded. Every finding draws from its own stream, derived from the seed and the finding's id, so that a
new question changes no old number.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Progress", "Run"]

Progress = Callable[[str, float | None], None]
"""Called with what is being done and the fraction done (None: unknown)."""


def _silent(doing: str, fraction: float | None) -> None:
    pass


@dataclass(frozen=True)
class Run:
    """One run of the questions.

    ``exposed`` is how many of the most exposed subjects a finding lists; ``reveal`` lets findings carry names and
    values; ``confidence`` is what each sampled deciding finding has to use (1 − .05/m for m of them).
    """

    seed: int = 0
    exposed: int = 10
    reveal: bool = False
    confidence: float = 0.95
    progress: Progress = _silent
    cancelled: threading.Event = field(default_factory=threading.Event)

    def rng(self, finding_id: str) -> np.random.Generator:
        """The random stream of one finding: a function of the seed and the id alone."""
        import numpy as np

        words = np.frombuffer(hashlib.sha256(finding_id.encode()).digest(), dtype="<u4")
        return np.random.default_rng(np.random.SeedSequence([self.seed, *words.tolist()]))

    def check(self) -> None:
        """Stop here if the run was cancelled; long loops call this between slices of work."""
        if self.cancelled.is_set():
            raise KeyboardInterrupt
