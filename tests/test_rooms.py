"""The house: a room never calls another one, but for what is shared."""

from __future__ import annotations

import re
from pathlib import Path

ROOMS = ("classes", "items", "linkage", "network", "report", "cli", "demo")
SOURCE = Path(__file__).parents[1] / "src" / "unveil"


def test_no_room_calls_another() -> None:
    """The command line and the examples call rooms; that is what they are for."""
    asking = [room for room in ROOMS if room not in ("cli", "demo", "report")]
    looked_at = 0
    for room in asking:
        for path in (SOURCE / room).rglob("*.py"):
            looked_at += 1
            called = set(re.findall(r"(?:from|import) unveil\.(\w+)", path.read_text()))
            assert not called & ({*ROOMS} - {room}), path
    assert looked_at > 60
