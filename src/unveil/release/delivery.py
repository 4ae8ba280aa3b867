"""Write several files as one: all of them appear or none, whatever happens in between.

What a killed process began, the next run that reads or writes in the directory of the last file finishes;
:mod:`.delivery_journal` says how.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from unveil.errors import UnveilError
from unveil.release.delivery_journal import (
    COMMITTED,
    TAKING_BACK,
    Journal,
    deferred_signals,
    explain_os_errors,
    is_journal_name,
)
from unveil.wording import list_text, verb

__all__ = ["OutputFile", "deliver_files", "finish_deliveries", "open_atomic"]


@dataclass(frozen=True)
class OutputFile:
    """A file to be written. Only its owner can read a ``private`` one. One that is to ``keep_existing`` takes the first
    free name instead of overwriting."""

    path: str | Path
    content: bytes
    private: bool = False
    keep_existing: bool = False


def deliver_files(files: Sequence[OutputFile]) -> list[Path]:
    """Write all files or none, in this order, and return the names they got. Devices and pipes come last."""
    plain = {Path(os.path.realpath(file.path)): file for file in files if not _is_stream(file.path)}
    names = {}
    if plain:
        with deferred_signals():
            names = dict(zip((file.path for file in plain.values()), _deliver_together(plain), strict=True))
    for file in files:
        if _is_stream(file.path):
            written = f"; {list_text(name.name for name in names.values())} {verb(len(names), 'was', 'were')} written"
            with explain_os_errors(file.path, written if names else ""), _open_stream(file.path) as stream:
                stream.write(file.content)
    return [_shown_name(Path(file.path), names.get(file.path)) for file in files]


def _deliver_together(files: Mapping[Path, OutputFile]) -> list[Path]:
    """Write files to their targets, and return the names they got."""
    finish_deliveries(target.parent for target in files)
    last = list(files)[-1]
    with explain_os_errors(files[last].path):
        journal = Journal.create(last.parent)
    with contextlib.closing(journal):
        for target, file in files.items():
            with explain_os_errors(file.path), journal.stage(target, file.private, file.keep_existing) as staged:
                staged.write(file.content)
        return journal.commit()


def _shown_name(given: Path, name: Path | None) -> Path:
    """The name of a file as its user would write it."""
    if name is None or name == Path(os.path.realpath(given)):
        return given
    return given.with_name(name.name) if Path(os.path.realpath(given.parent)) == name.parent else name


@contextmanager
def open_atomic(path: str | Path, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only once everything is written; an interruption leaves nothing behind.

    A device such as ``/dev/null`` is written to directly. Only its owner can read a private file.
    """
    if _is_stream(path):
        with explain_os_errors(path, ""), _open_stream(path) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    with explain_os_errors(path):
        finish_deliveries([target.parent])
        with contextlib.closing(Journal.create(target.parent)) as journal:
            with journal.stage(target, private) as staged:
                yield staged
            journal.commit()


def finish_deliveries(directories: Iterable[str | Path]) -> list[str]:
    """Finish what killed processes of this user began to write in these directories; return notes on what was done.

    A delivery that was not committed is removed. One that was is completed; or taken back, if that is impossible or if
    someone else changed a target in the meantime.
    """
    notes = []
    for directory in dict.fromkeys(map(str, directories)):
        left = list[str]()
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            left = [e.path for e in entries if is_journal_name(e.name)]
        notes += [note for path in left for note in _finish_delivery(path)]
    return notes


def _finish_delivery(path: str) -> list[str]:
    """Finish one delivery, unless its process lives or its journal is not ours."""
    journal = Journal.adopt(path)
    if journal is None:
        return []
    with contextlib.closing(journal):
        names = list_text((os.path.basename(each.target) for each in journal.staged), 10)
        try:
            if journal.state == TAKING_BACK:
                journal.take_back()
            if journal.state != COMMITTED:
                return []
            journal.place_files()
        except UnveilError as error:
            return [f"an interrupted run that was to write {names} could not be finished: {error}"]
        return [f"finished what an interrupted run had begun: {names} {verb(len(journal.staged), 'is', 'are')} written"]


def _is_stream(path: str | Path) -> bool:
    """Whether this is a device, a pipe, or where standard output goes: what is written there cannot be taken back."""
    with contextlib.suppress(OSError):
        mode = os.stat(path).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _standard_stream(path) is not None
    return False


def _standard_stream(path: str | Path) -> int | None:
    """The number of the standard stream that goes to this place, if any does."""
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(number)):
                return number
    return None


def _open_stream(path: str | Path) -> BinaryIO:
    """Open a device or pipe; standard output is continued where it is."""
    number = _standard_stream(path)
    if number is None:
        return open(path, "wb")
    with contextlib.suppress(AttributeError, ValueError):  # there is none, or it is closed
        (sys.stdout if number == 1 else sys.stderr).flush()
    return open(os.dup(number), "wb")
