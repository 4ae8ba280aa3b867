"""What can go wrong that a user can mend, and how the rest is said.

An :class:`UnveilError` carries one line: what is wrong, where (file, row or column), and what to do about it.
The command line prints that line and exits with 2; no other exception is meant for a user's eyes. The line never
quotes a data value, so that an error message cannot leak what the report is careful to hide.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback

__all__ = ["Termination", "UnveilError", "describe_failure"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_MEMORY = (
    "allocate memory",
    "failed to map segment",
    "start new thread",
)  # how libraries that cannot be loaded say so


class UnveilError(Exception):
    """Bad usage or bad data, said in one line that names the place and the remedy."""


class Termination(KeyboardInterrupt):
    """The process was told to end by a signal other than Ctrl-C, so partial results are not used."""


def describe_failure(error: BaseException) -> str:
    """One line about an exception that nobody foresaw; its own message may quote data, so that is not repeated. With
    ``UNVEIL_DEBUG`` in the environment, the traceback goes to standard error."""
    if os.environ.get("UNVEIL_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    if _is_memory_shortage(error):
        return "not enough memory; lower --memory-limit so that the engine spills to disk"
    if isinstance(error, OSError) and error.errno in _FULL:
        return "no space left for temporary files; pass --spill with a directory on a larger disk"
    return f"internal error in unveil ({type(error).__name__}); set UNVEIL_DEBUG=1 to see the traceback"


def _is_memory_shortage(error: BaseException | None) -> bool:
    """Whether an exception, or one that led to it, comes from a lack of memory."""
    if error is None:
        return False
    short = isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)
    return short or _is_memory_shortage(error.__context__)
