"""Locks that tell whether a process is still alive.

The operating system takes a lock from a process that ends, however it ends. A file that nobody has locked is therefore
left over from a dead process. Unlike a process number, this is never reused, and it holds between containers that
share a disk.
"""

from __future__ import annotations

import fcntl

__all__ = ["try_lock"]


def try_lock(handle: int) -> bool:
    """Lock an open file until it is closed; False if someone else has locked it, or if the disk knows no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
