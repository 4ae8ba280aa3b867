"""Which data a ledger is about, told by keyed hashes: of its content, and of the set of its people.

The hashes are made under the owner's key (:mod:`unveil.owner_key`), so that a ledger checks nobody's guesses at the
data.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from unveil.errors import UnveilError
from unveil.ledger.patience import Patience
from unveil.ledger.register import Register
from unveil.owner_key import OwnerKey, load_owner_key
from unveil.wording import safe_text

__all__ = ["DataDigests", "DataIdentity", "identify_data"]

_CLOCK_STEP_NS = 2_000_000_000  # the coarsest clock of a common file system


class DataDigests(NamedTuple):
    """Plain digests of a data set: of its content, and of the set of its people's ids; None if it has no ids."""

    content: str
    people: str | None = None


@dataclass(frozen=True)
class DataIdentity:
    """Keyed hashes of the content of a data set and of its people; without ids, its people are its content."""

    content: str
    people: str

    @property
    def hashes(self) -> tuple[str, str]:
        """Both, for the register."""
        return self.content, self.people


def identify_data(
    digest: Callable[[], DataDigests], path: Path | None = None, id_column: str | None = None
) -> DataIdentity:
    """The identity of data, which ``digest`` reads only if that is needed.

    If ``path`` is a file that has the same size, number, time of modification and time of change as when it was last
    read, it is taken to be the same. A file that changed in the last two seconds is not trusted: it may change again
    within the same step of the clock.
    """
    key = load_owner_key()
    before = None if path is None else _read_stamp(path)
    if path is None or before is None:
        return _identity_of(digest(), key)
    register = Register(Patience())
    name = key.hash_text(json.dumps(["unveil ledger: file", before, id_column]))
    if key.is_kept:
        with register.holding_facts() as facts:
            if name in facts.fingerprints:
                return DataIdentity(*facts.fingerprints[name])
    started = time.time_ns()
    identity = _identity_of(digest(), key)
    if _read_stamp(path) != before:
        raise UnveilError(f"{safe_text(path, 200)}: changed while it was read; try again when it is complete")
    if key.is_kept and max(before[3:]) < started - _CLOCK_STEP_NS:
        with register.holding_facts() as facts:
            facts.add_fingerprint(name, [*identity.hashes])
    return identity


def _identity_of(digests: DataDigests, key: OwnerKey) -> DataIdentity:
    content = key.hash_text(f"unveil ledger: content {digests.content}")
    return DataIdentity(
        content, content if digests.people is None else key.hash_text(f"unveil ledger: people {digests.people}")
    )


def _read_stamp(path: Path) -> list[int] | None:
    """What changes with the content of a file; None if it is no plain file."""
    with contextlib.suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
    return None
