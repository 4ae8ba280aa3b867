"""A process that sends itself a signal in the middle of a delivery."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from unveil.release import delivery

__all__ = ["signal_at_step"]

_COUNTED = ("delivery.py", "delivery_journal.py", "shutil.py")


def signal_at_step(step: int, number: int, counted: Path) -> None:
    """Send this process a signal before its delivery makes a call out of Python for the given time."""
    deliver, calls = delivery.deliver_files, 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event == "c_call" and frame.f_code.co_filename.endswith(_COUNTED):
            calls += 1
            if calls == step:
                os.kill(os.getpid(), number)

    def deliver_files(files: Sequence[delivery.OutputFile]) -> list[Path]:
        sys.setprofile(count_call)
        try:
            return deliver(files)
        finally:
            sys.setprofile(None)
            counted.write_text(str(calls))

    delivery.deliver_files = deliver_files
