"""What the owner's computer remembers about ledgers, beside the owner's key.

A ledger cannot tell that it is an older copy of itself, which would give budget back. For every ledger, the register
has a *mark*: how many records it had when it was last seen, and the seal of the last one. A ledger with fewer records,
or with another record in that place, is refused.

A second ledger about the same people would give budget back as well. The register therefore has keyed hashes of what
each ledger is about: of the ids of its people, and of the content of its file.

It also keeps the *fingerprints* of data files, so that a large file that did not change is not read for every answer.

A mark is overwritten in place, in one call and with its checksum, while it is locked. A process that is killed between
a record and its mark leaves the mark behind, which costs nothing: a mark says how many records there are *at least*.
What cannot be remembered is said in a note.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from unveil.errors import UnveilError
from unveil.file_lock import wait_for_lock
from unveil.ledger.patience import Patience
from unveil.owner_key import config_folder
from unveil.wording import safe_text

__all__ = ["Facts", "HeldMark", "KnownLedger", "Mark", "Register"]

_FINGERPRINTS_KEPT = 256


class Mark(NamedTuple):
    """How many records a ledger has at least, and the seal of the last of them."""

    records: int
    seal: str


class KnownLedger(NamedTuple):
    """A ledger that is about certain people, and since when."""

    ledger: str
    date: str


@dataclass
class Facts:
    """What is known about data: ``ledgers`` by keyed hashes of what they are about, and ``fingerprints`` of files by
    keyed hashes of what tells that a file has not changed."""

    ledgers: dict[str, list[KnownLedger]]
    fingerprints: dict[str, list[str]]

    def ledgers_about(self, hashes: Iterable[str], but: str | None = None) -> list[KnownLedger]:
        """The ledgers that are about data with one of these hashes, but for one ledger."""
        found = {known for hashed in hashes for known in self.ledgers.get(hashed, ()) if known.ledger != but}
        return sorted(found, key=lambda known: (known.date, known.ledger))

    def add_ledger(self, new: KnownLedger, hashes: Iterable[str]) -> None:
        """Remember what a ledger is about."""
        for hashed in hashes:
            known = self.ledgers.setdefault(hashed, [])
            if new.ledger not in (each.ledger for each in known):
                known.append(new)

    def add_fingerprint(self, file: str, hashes: list[str]) -> None:
        """Remember the hashes of a file; those of the files that were added first are forgotten."""
        self.fingerprints[file] = hashes
        for oldest in [*self.fingerprints][:-_FINGERPRINTS_KEPT]:
            del self.fingerprints[oldest]

    def to_json(self) -> str:
        """As the register keeps it."""
        return json.dumps({"ledgers": self.ledgers, "fingerprints": self.fingerprints}, indent=1)


class HeldMark(NamedTuple):
    """The mark of a ledger, None if it was not seen before, and the file that is locked."""

    mark: Mark | None
    handle: int


class Register:
    """The register in the owner's configuration folder. ``notes`` say what cannot be remembered."""

    def __init__(self, patience: Patience) -> None:
        self._folder, self._patience = config_folder() / "ledgers", patience
        self.notes: list[str] = []

    def read_mark(self, ledger: str) -> Mark | None:
        """The mark of a ledger as it is now, without waiting for those who are about to change it."""
        with self._noted_errors(_NO_MARK):
            try:
                return self._parse_mark(ledger, (self._folder / f"{ledger}.mark").read_bytes())
            except FileNotFoundError:
                return None
            except UnveilError:  # it may have been read while it was written
                with self.holding_mark(ledger) as held:
                    return held and held.mark
        return None

    @contextmanager
    def holding_mark(self, ledger: str) -> Iterator[HeldMark | None]:
        """Lock the mark of a ledger; None if it cannot be kept."""
        with contextlib.ExitStack() as stack:
            held = None
            with self._noted_errors(_NO_MARK):
                handle = self._lock(f"{ledger}.mark", stack)
                held = HeldMark(self._parse_mark(ledger, os.pread(handle, 4096, 0)), handle)
            yield held

    def advance(self, held: HeldMark | None, mark: Mark) -> None:
        """Remember that a ledger has more records now."""
        if held is not None and held.mark != mark:
            with self._noted_errors(_NO_MARK):
                os.pwrite(held.handle, _mark_line(mark), 0)

    @contextmanager
    def holding_facts(self) -> Iterator[Facts]:
        """Lock what the register knows about data, and keep what was added; what cannot be read is empty."""
        with contextlib.ExitStack() as stack:
            facts = Facts({}, {})
            with self._noted_errors(_NO_FACTS):
                self._lock("facts.lock", stack)
                facts = self._read_facts()
            before = facts.to_json()
            yield facts
            if facts.to_json() != before:
                with self._noted_errors(_NO_FACTS):
                    _replace_file(self._folder / "facts.json", facts.to_json())

    def _lock(self, name: str, stack: contextlib.ExitStack) -> int:
        """Open and lock a file until the stack is unwound."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        stack.callback(os.close, handle)
        wait_for_lock(handle, self._patience.pauses_for(safe_text(self._folder / name, 200)))
        return handle

    def _parse_mark(self, ledger: str, line: bytes) -> Mark | None:
        if not line.strip(b"\0"):  # the computer lost its power when it was made
            return None
        with contextlib.suppress(ValueError):
            records, seal, _ = line.decode("ascii").split()
            if _mark_line(Mark(int(records), seal)) == line:
                return Mark(int(records), seal)
        raise self._damaged(f"{ledger}.mark")

    def _read_facts(self) -> Facts:
        try:
            found = json.loads((self._folder / "facts.json").read_bytes())
            return Facts(
                {hashed: [KnownLedger(*each) for each in known] for hashed, known in found["ledgers"].items()},
                found["fingerprints"],
            )
        except FileNotFoundError:
            return Facts({}, {})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._damaged("facts.json") from None

    def _damaged(self, name: str) -> UnveilError:
        return UnveilError(
            f"{safe_text(self._folder / name, 200)}: is damaged; if you are sure that your ledgers are the newest "
            "copies, remove it"
        )

    @contextmanager
    def _noted_errors(self, consequence: str) -> Iterator[None]:
        try:
            yield
        except OSError:
            note = f"{safe_text(self._folder, 200)}: nothing can be kept there, so {consequence}"
            if note not in self.notes:
                self.notes.append(note)


_NO_MARK = "an older copy of the ledger that is put in its place will not be noticed"
_NO_FACTS = "a second ledger about the same people will not be noticed, and large files are read for every answer"


def _mark_line(mark: Mark) -> bytes:
    """A mark as it is kept: always of the same length."""
    text = f"{mark.records:020d} {mark.seal}"
    return f"{text} {hashlib.sha256(text.encode()).hexdigest()[:16]}\n".encode("ascii")


def _replace_file(path: Path, text: str) -> None:
    """Write a file that is replaced in one step."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".facts.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
