"""Locks that tell whether a process is still alive.

The operating system takes a lock from a process that ends, however it ends. A file that nobody has locked is therefore
left over from a dead process. Unlike a process number, this is never reused, and it holds between containers that
share a disk.
"""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Callable

__all__ = ["try_lock", "wait_for_lock"]

_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)


def try_lock(handle: int) -> bool:
    """Lock an open file until it is closed; False if someone else has locked it, or if the disk knows no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def wait_for_lock(handle: int, pause: Callable[[], None]) -> None:
    """Lock an open file until it is closed, and ``pause`` while someone else has locked it; an OSError means that the
    disk knows no locks."""
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        pause()
