"""How inner loops are compiled: by numba, kept on disk, without the interpreter's lock.

The compiled code is kept beside the source or, where that cannot be written, in the user's cache directory; where
neither can, it is compiled anew in every process. Never in parallel: that takes numba ten times as long to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["inlined", "kernel"]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over numpy arrays when it is first called."""
    return _compiled(function, nogil=True, error_model="numpy")


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function into its callers."""
    return _compiled(function, nogil=True, error_model="numpy", inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # there is nowhere to keep the compiled code
        return numba.njit(**options)(function)
