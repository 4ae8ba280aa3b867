"""How long to wait for other processes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from unveil.errors import UnveilError
from unveil.run import Run

__all__ = ["Patience"]

_LONGEST_PAUSE = 0.01


@dataclass(frozen=True)
class Patience:
    """For how many seconds to wait, and the run whose end ends the wait."""

    seconds: float = 60
    run: Run = field(default_factory=Run)

    def pauses_for(self, name: str) -> Callable[[], None]:
        """What to call between attempts to lock a file that others use: it sleeps a little, or gives up."""
        until = time.monotonic() + self.seconds

        def pause() -> None:
            self.run.check()
            if time.monotonic() > until:
                raise UnveilError(
                    f"{name}: other processes have been using it for {self.seconds:g} seconds; try again when they are "
                    "done"
                )
            time.sleep(random.uniform(0, _LONGEST_PAUSE))

        return pause
