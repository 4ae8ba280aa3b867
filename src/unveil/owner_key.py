"""The owner's key: hashes of the data that only its owner can check.

A plain hash of a release is an oracle: whoever knows all but a few values tries every combination of them and sees
which one has the published hash. Provenance therefore holds HMAC-SHA-256 under a key that only the owner has (RFC
2104). The owner sees that two assessments are of the same data; nobody else learns anything from the hash.

The key is made once, from the operating system's randomness, in the file that ``UNVEIL_KEY`` names or in the user's
configuration folder. Only its owner can read it, from the moment it exists. Where no key can be kept, each process
makes its own, and its hashes cannot be compared with those of others.
"""

from __future__ import annotations

import functools
import hmac
import os
import re
import secrets
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from unveil.errors import UnveilError
from unveil.wording import safe_text

__all__ = ["OwnerKey", "config_folder", "load_owner_key"]

_VARIABLE = "UNVEIL_KEY"
_BYTES = 32
_ID_LENGTH = 16
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class OwnerKey:
    """A secret; ``is_kept``: later runs will have it as well. ``notes``: what its owner should know about it."""

    secret: bytes = field(repr=False)
    is_kept: bool
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str | None:
        """What tells whether two hashes were made with the same key, and nothing else; None if it is not kept."""
        return self.hash_text("unveil: which key is this?")[:_ID_LENGTH] if self.is_kept else None

    def hash_text(self, text: str) -> str:
        """The HMAC-SHA-256 of a text, such as the digest of a file."""
        return hmac.new(self.secret, text.encode(), "sha256").hexdigest()


def load_owner_key() -> OwnerKey:
    """The owner's key, made if there is none yet; one of this process alone if none can be kept."""
    named = os.environ.get(_VARIABLE)
    path = Path(named) if named else config_folder() / "key"
    try:
        if not path.exists():
            _make_key(path)
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # a pipe would be waited for
            raise OSError
        text = path.read_bytes()
    except OSError:
        if named:
            raise UnveilError(
                f"{safe_text(path, 200)}: the key that {_VARIABLE} names can be neither read nor made; name another "
                "regular file"
            ) from None
        return OwnerKey(_process_secret(), is_kept=False, notes=(_not_kept_text(path),))
    if not re.fullmatch(rb"[0-9a-fA-F]{%d}\s*" % (2 * _BYTES), text):
        raise UnveilError(f"{safe_text(path, 200)}: is not a key; move it away, or name another with {_VARIABLE}")
    notes = (_open_to_others_text(path),) if mode & _OTHERS else ()
    return OwnerKey(bytes.fromhex(text.decode()), is_kept=True, notes=notes)


def _not_kept_text(path: Path) -> str:
    return (
        f"{safe_text(path, 200)}: no key can be kept there, so the hashes of this run cannot be compared with those of "
        f"others; name a file for the key with {_VARIABLE}"
    )


def _open_to_others_text(path: Path) -> str:
    return f"{safe_text(path, 200)}: others may read or change the key of your hashes; restrict it with chmod 600"


def config_folder() -> Path:
    """Where programs keep what belongs to a user on this platform."""
    import click

    base = os.environ.get("XDG_CONFIG_HOME")
    return Path(base, "unveil") if base else Path(click.get_app_dir("unveil"))


def _make_key(path: Path) -> None:
    """Write a new key. It gets its name in one step, and only if no other process was faster: there is only ever one,
    and never half of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".key.")  # only its owner can read it
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(_BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        os.unlink(part)


@functools.cache
def _process_secret() -> bytes:
    return secrets.token_bytes(_BYTES)
