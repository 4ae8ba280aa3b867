"""Private directories for work files, and the removal of those that dead processes left behind.

A spill directory can be read by its owner alone, and so can every file in it. It holds a locked file for as long as its
process lives (:mod:`unveil.file_lock`). At the next start, a directory of the same user whose lock nobody holds is
removed; one without a lock file is not, whatever its age: it may be someone's own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import struct
import tempfile
import weakref
from pathlib import Path

from unveil.errors import UnveilError
from unveil.file_lock import try_lock
from unveil.settings import option_text
from unveil.wording import safe_text

__all__ = ["make_spill_directory", "remove_spill_directories"]

_PREFIX = "unveil-spill-"
_LOCK = "in-use"
_ACL_VERSION = struct.pack("<I", 2)
_OWNER_ALONE = ((0x01, 0o7), (0x04, 0o0), (0x20, 0o0))  # tag and permissions of the owner, the group and all others

_made: dict[Path, int] = {}


def make_spill_directory(parent: str | Path | None, owner: object) -> Path:
    """A new private directory in ``parent``, by default the temporary directory; it is removed with its owner."""
    try:
        _remove_dead_directories(parent or tempfile.gettempdir())
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError as error:
        where = safe_text(parent, 200) if parent else "the temporary directory"
        raise UnveilError(
            f"{where}: no work files can be made there ({error.strerror}); pass {option_text('spill')} with another "
            "directory"
        ) from None
    _restrict_new_files(path)
    lock = path / f"{_LOCK}.new"
    _made[path] = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    if try_lock(_made[path]):  # it gets its name once it is locked: nobody ever sees it unlocked while we live
        lock.rename(path / _LOCK)
    weakref.finalize(owner, _remove_directory, path)
    return path


def remove_spill_directories() -> None:
    """Remove all spill directories of this process, for one that exits without closing its engines."""
    for path in list(_made):
        _remove_directory(path)


def _remove_directory(path: Path) -> None:
    handle = _made.pop(path, None)
    if handle is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _restrict_new_files(path: Path) -> None:
    """Let new files in a directory be readable by their owner alone, whatever the program that writes them asks for.

    This is a default access control list; where the disk has none, the directory's own permissions must do.
    """
    entries = b"".join(struct.pack("<HHI", tag, permissions, 0xFFFFFFFF) for tag, permissions in _OWNER_ALONE)
    with contextlib.suppress(OSError, AttributeError):
        os.setxattr(path, "system.posix_acl_default", _ACL_VERSION + entries)


def _remove_dead_directories(parent: str | Path) -> None:
    """Remove what dead processes of this user left in a directory."""
    left = list[str]()
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(_PREFIX)]
    for path in left:
        with contextlib.suppress(OSError):
            found = os.lstat(path)
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                _remove_if_dead(path)


def _remove_if_dead(path: str) -> None:
    handle = os.open(os.path.join(path, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
    try:
        if try_lock(handle):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)
