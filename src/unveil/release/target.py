"""Where results go: written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from unveil.errors import UnveilError
from unveil.wording import shown

__all__ = ["atomic"]


@contextmanager
def atomic(path: str | Path, private: bool = False) -> Iterator[BinaryIO]:
    """A file that appears under its name only when everything has been written; whatever interrupts leaves nothing.
    What is no file, such as ``/dev/null``, is written to as it is. A private file can be read by its owner alone."""
    path = Path(os.path.realpath(path))
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield file
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.chmod(0o600 if private else _mode(path))
            part.replace(path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
    except OSError as error:
        raise UnveilError(f"{shown(path, 200)}: {_said(error)}; nothing was written") from None


def _mode(path: Path) -> int:
    """The permissions the file has, or that a new one would get."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _said(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "the disk is full"
        case errno.ENOENT | errno.ENOTDIR:
            return "the directory does not exist"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return "no permission to write there"
        case errno.EISDIR:
            return "is a directory; name a file"
        case _:
            return f"cannot be written: {error.strerror or 'input/output error'}"
