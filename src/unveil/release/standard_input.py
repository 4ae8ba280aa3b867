"""Standard input as a file: data that is piped in is kept in a private file, because it is read more than once."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from unveil.errors import UnveilError
from unveil.settings import option_text

__all__ = ["STANDARD_INPUT", "STANDARD_INPUT_NAME", "spool_standard_input"]

STANDARD_INPUT = "-"
"""What stands for standard input where a file is named; a file of this name is ``./-``."""

STANDARD_INPUT_NAME = "standard input"  # which is what messages and reports call the release


def spool_standard_input(directory: Path) -> Path:
    """Copy standard input to a file in ``directory`` that nobody else can read."""
    source = getattr(sys.stdin, "buffer", None)  # a notebook has no bytes to read
    if source is None or sys.stdin.isatty():
        raise UnveilError("standard input is closed, or a terminal; pipe the data in, or name a file")
    path = Path(tempfile.mkdtemp(dir=directory)) / STANDARD_INPUT_NAME
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UnveilError(
            f"standard input: cannot be copied to the temporary directory ({error.strerror}); "
            f"pass {option_text('spill')} with a directory on a larger disk"
        ) from None
    if not path.stat().st_size:
        raise UnveilError("standard input: there is nothing to read; it is empty, or was read already")
    return path
