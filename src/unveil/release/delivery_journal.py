"""The journal of a delivery: which files are to be put where, so that a killed process leaves nothing half done.

Every file is staged under a hidden name beside its target, and what it replaces is kept under another. The *journal*
beside the last target lists them. When everything is on disk, one byte in the journal *commits* the delivery, and the
files are put in their places one after another. A process that is killed before the commit has changed nothing;
after it, another process can finish the work. If a file cannot be put in its place, those before it are taken back.
A process keeps its journal locked for as long as it lives, so that nobody mistakes it for a dead one's.

How a file gets to its place:

* by renaming, which either happens or does not;
* by overwriting, where a file is mounted by itself and nothing can be renamed over it. Readers may then see half of
  it, until the work is finished;
* under the first free name (``a.csv``, ``a.2.csv``, …), if nothing may be overwritten.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from unveil.errors import UnveilError
from unveil.file_lock import try_lock
from unveil.wording import safe_text

__all__ = [
    "COMMITTED",
    "SETTLED",
    "STAGING",
    "TAKING_BACK",
    "Journal",
    "StagedFile",
    "deferred_signals",
    "explain_os_errors",
    "is_journal_name",
]

STAGING, COMMITTED, TAKING_BACK, SETTLED = "s", "c", "b", "d"
"""The states of a delivery: nothing is in place yet; all files are to be put in their places; those that are, are to be
taken back; nothing is left to do but to remove what is staged."""

_PREFIX, _ENDING = ".unveil-", ".journal"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

_Identity = list[int]
"""Device, number, time of change and size of a file: another file, or the same one changed, has another identity."""


@dataclass
class StagedFile:
    """A file on its way: complete as ``part``, what it replaces kept as ``old``. ``made`` and ``replaced`` are the
    identities of the two at the commit."""

    target: str
    part: str
    old: str
    keep_existing: bool
    made: _Identity | None = None
    replaced: _Identity | None = None


class Journal:
    """The list of staged files, locked for as long as its process lives.

    Its first character is the state of the delivery, a single byte that is overwritten, which a full disk allows and no
    kill can halve. The lines below list the files as they are staged, and all of them once more before the commit.
    """

    def __init__(self, path: str, handle: int, state: str, staged: list[StagedFile]) -> None:
        self.path, self._handle, self.state, self.staged = path, handle, state, staged

    @classmethod
    def create(cls, directory: Path) -> Journal:
        """A new journal in a directory."""
        while True:
            path = str(directory / f"{_PREFIX}{secrets.token_hex(8)}{_ENDING}")
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            try_lock(handle)
            if _is_same_file(handle, path):  # else someone took it for a dead one's before it was locked
                break
            os.close(handle)
        journal = cls(path, handle, STAGING, [])
        try:
            os.write(handle, f"{STAGING}\n".encode())
        except OSError:
            journal.close()
            raise
        return journal

    @classmethod
    def adopt(cls, path: str) -> Journal | None:
        """The journal of a dead process of this user; None if it is not one."""
        try:
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            return None
        own = os.fstat(handle)
        trusted = stat.S_ISREG(own.st_mode) and own.st_uid == os.geteuid() and not own.st_mode & 0o077
        if not (trusted and try_lock(handle) and _is_same_file(handle, path)):
            os.close(handle)
            return None
        with open(handle, encoding="utf-8", errors="replace", closefd=False) as file:
            state, *lines = file.read().splitlines() or [STAGING]
        staged = list[StagedFile]()
        for line in lines:
            try:
                entry = json.loads(line)
                staged = (
                    [StagedFile(**each) for each in entry]
                    if isinstance(entry, list)
                    else [*staged, StagedFile(**entry)]
                )
            except (ValueError, TypeError):  # the line was not written to its end
                break
        return cls(path, handle, state, staged)

    @contextmanager
    def stage(self, target: Path, private: bool = False, keep_existing: bool = False) -> Iterator[BinaryIO]:
        """Open a file that is to be delivered to ``target``; nobody but its owner can read it before."""
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        beside = str(target.parent / Path(self.path).stem)
        number = len(self.staged)
        each = StagedFile(str(target), f"{beside}-{number}.part", f"{beside}-{number}.old", keep_existing)
        self.staged.append(each)
        self._write_line(asdict(each))
        with open(os.open(each.part, _WRITE_NEW, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o600 if private else _file_mode(target))
            os.fsync(file.fileno())

    def commit(self) -> list[Path]:
        """Put every file in its place, and return the names they got. If one of them cannot be, none is."""
        for each in self.staged:
            with explain_os_errors(each.target):
                _back_up(each)
        with deferred_signals():
            with explain_os_errors(self.staged[-1].target):
                self._write_line([asdict(each) for each in self.staged])
                os.fsync(self._handle)
                self._set_state(COMMITTED)
            return [Path(name) for name in self.place_files()]

    def place_files(self) -> list[str]:
        """Put files in their places and return their names there; if one of them cannot be, take back the others.

        What has happened so far is seen from the files, so that this also finishes what another process began.
        """
        taken = {each.target for each in self.staged if not each.keep_existing}
        gone = [k for k, each in enumerate(self.staged) if not os.path.lexists(each.part)]
        done = gone[-1] + 1 if gone else 0  # files follow each other: those before a renamed one are in their places
        names = [each.target for each in self.staged[:done]]
        with deferred_signals():
            try:
                for each in self.staged[done:]:
                    with explain_os_errors(each.target):
                        names.append(_place_under_free_name(each, taken) if each.keep_existing else _place_file(each))
            except UnveilError:
                self.take_back()
                raise
            self._set_state(SETTLED)
        return names

    def take_back(self) -> None:
        """Restore what was there before."""
        with deferred_signals():
            self._set_state(TAKING_BACK)
            for each in reversed(self.staged):
                with explain_os_errors(each.target, "; it is incomplete until a run of unveil beside it finishes it"):
                    (_take_back_version if each.keep_existing else _take_back_file)(each)
            self._set_state(SETTLED)

    def _set_state(self, state: str) -> None:
        os.pwrite(self._handle, state.encode(), 0)
        os.fsync(self._handle)
        self.state = state

    def _write_line(self, entry: object) -> None:
        line = json.dumps(entry).encode() + b"\n"
        while line:
            line = line[os.write(self._handle, line) :]

    def close(self) -> None:
        """Remove what is staged, and then the journal; unless targets still need it."""
        with deferred_signals():
            staged = [path for each in self.staged for path in (each.old, each.part)]
            for path in (*staged, self.path) if self.state in (STAGING, SETTLED) else ():
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            os.close(self._handle)


def is_journal_name(name: str) -> bool:
    """Whether a file of this name is a journal."""
    return name.startswith(_PREFIX) and name.endswith(_ENDING)


def _back_up(each: StagedFile) -> None:
    """Keep what a file replaces: under a second name if there can be one, else as a copy."""
    each.made, each.replaced = _identity(each.part), _identity(each.target)
    if each.replaced is None:
        return
    try:
        os.link(each.target, each.old)
    except OSError as error:
        is_mounted = error.errno == errno.EXDEV
        if each.keep_existing and not (is_mounted and each.replaced[3] == 0):
            return
        each.keep_existing = False  # an empty file that is mounted by itself was made to be filled
        with open(each.target, "rb") as kept, open(os.open(each.old, _WRITE_NEW, 0o600), "wb") as copy:
            shutil.copyfileobj(kept, copy)
            os.fchmod(copy.fileno(), os.fstat(kept.fileno()).st_mode & 0o777)


def _file_mode(path: Path) -> int:
    """The permissions of the file, or those that a new one would get."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


# ---- putting files in their places -----------------------------------------------------------------------------------


def _place_file(each: StagedFile) -> str:
    """Put a file where it belongs, over what is there."""
    if _identity(each.target) != each.replaced and not _may_be_overwritten(each):
        raise OSError(errno.ESTALE, "another program changed it at the same time")
    try:
        os.replace(each.part, each.target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _overwrite(each.target, each.part)
    return each.target


def _may_be_overwritten(each: StagedFile) -> bool:
    """Whether the target is still the file that was there, of which a copy is kept because it cannot be renamed."""
    now, old = _identity(each.target), _identity(each.old)
    return bool(now and old and each.replaced and now[:2] == each.replaced[:2] != old[:2])


def _place_under_free_name(each: StagedFile, taken: set[str]) -> str:
    """Give a file the first name that is free."""
    for name in _versions(each.target):
        if name in taken:
            continue
        try:
            os.link(each.part, name)
            return name
        except FileExistsError:
            if os.path.samefile(each.part, name):
                return name
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with contextlib.suppress(FileExistsError):
                os.close(os.open(name, _WRITE_NEW, 0o600))  # it is ours now
                os.replace(each.part, name)
                return name
    raise AssertionError


def _versions(path: str) -> Iterator[str]:
    """``a.csv``, ``a.2.csv`` and so on."""
    stem, ending = os.path.splitext(path)
    return itertools.chain([path], (f"{stem}.{k}{ending}" for k in itertools.count(2)))


def _take_back_file(each: StagedFile) -> None:
    """Put what a file replaced in its place again; a file that someone else has put there since stays."""
    now, was_renamed = _identity(each.target), not os.path.lexists(each.part)
    if was_renamed and now == each.made:
        if each.replaced is None:
            os.unlink(each.target)
        else:
            os.replace(each.old, each.target)
    elif not was_renamed and _may_be_overwritten(each):
        _overwrite(each.target, each.old)


def _take_back_version(each: StagedFile) -> None:
    """Remove the name that a file was given."""
    folder = os.path.dirname(each.target)
    for name in (os.path.join(folder, name) for name in os.listdir(folder)):
        if name != each.part and _identity(name) == each.made:
            os.unlink(name)


def _overwrite(target: str, source: str) -> None:
    """Give a file the contents and the permissions of another. It shrinks last, so that what was there before would
    still fit on a full disk."""
    with open(source, "rb") as new, open(os.open(target, os.O_WRONLY | os.O_NOFOLLOW), "wb") as file:
        mode = os.fstat(new.fileno()).st_mode & 0o777
        if os.fstat(file.fileno()).st_mode & 0o777 != mode:
            os.fchmod(file.fileno(), mode)
        shutil.copyfileobj(new, file)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


# ---- the operating system --------------------------------------------------------------------------------------------


def _identity(path: str) -> _Identity | None:
    with contextlib.suppress(FileNotFoundError):
        found = os.lstat(path)
        return [found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size]
    return None


def _is_same_file(handle: int, path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    return False


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let signals that would interrupt wait until the end."""
    if threading.current_thread() is not threading.main_thread():  # signals interrupt the main thread alone
        yield
        return
    arrived = list[int]()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {n: signal.getsignal(n) for n in numbers}
    waiting = {n: handler for n, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in waiting:
        signal.signal(number, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in waiting.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


@contextmanager
def explain_os_errors(path: str | Path, written: str = "; nothing was written") -> Iterator[None]:
    """Say in one line why a file cannot be written, and what was written anyway."""
    try:
        yield
    except OSError as error:
        raise UnveilError(f"{safe_text(path, 200)}: {_describe_os_error(error)}{written}") from None


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
