"""Write a file whole or not at all."""

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
from unveil.wording import safe_text

__all__ = ["open_atomic"]


@contextmanager
def open_atomic(path: str | Path, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only once everything is written; an interruption leaves nothing behind.

    A device such as ``/dev/null`` is written to directly. Only its owner can read a private file.
    """
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
            part.chmod(0o600 if private else _file_mode(path))
            part.replace(path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
    except OSError as error:
        raise UnveilError(f"{safe_text(path, 200)}: {_describe_os_error(error)}; nothing was written") from None


def _file_mode(path: Path) -> int:
    """The permissions of the file, or those that a new one would get."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _describe_os_error(error: OSError) -> str:
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
