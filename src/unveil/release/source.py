"""Where a release comes from: a file on disk, opened safely.

Compression is told by content, not by name. Everything that can go wrong on the way to the first byte (no such file, a
directory, no permission, a broken archive) becomes one clear line.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from unveil.errors import UnveilError
from unveil.wording import shown

__all__ = ["Origin", "compression", "digest", "load", "peek", "stem", "stream"]

_CHUNK = 1 << 22
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_PACKED = {
    b"PK\x03\x04": "a spreadsheet or a zip archive; save what is in it as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document; save what is in it as CSV",
    b"%PDF": "a PDF; export its table as CSV",
    b"\xfd7zXZ\0": "packed with xz; unpack it first",
    b"BZh91AY&SY": "packed with bzip2; unpack it first",
}


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into one line."""
    name = shown(path.name or path)
    try:
        if stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            raise UnveilError(f"{name}: is not a file on a disk; save it as one first")
        str(path).encode()
        yield
    except FileNotFoundError:
        raise UnveilError(f"{shown(path, 200)}: no such file") from None
    except IsADirectoryError:
        raise UnveilError(f"{name}: is a directory; name the file inside it") from None
    except PermissionError:
        raise UnveilError(f"{name}: no permission to read it") from None
    except OSError as error:
        what = error.strerror or "the file is damaged or its compression is broken; get it again"
        raise UnveilError(f"{name}: cannot be read: {what}") from None
    except ValueError:  # not text, or a NUL in it
        raise UnveilError(f"{name}: cannot be read: the file's name is not text; rename it") from None


@dataclass(frozen=True)
class Origin:
    """A file as it was when it was read, to notice when it is not any more."""

    path: Path
    modified: int
    size: int

    @classmethod
    def of(cls, path: Path) -> Origin:
        """The file as it is now."""
        with _told(path):
            now = os.stat(path)
            return cls(path.resolve(), now.st_mtime_ns, now.st_size)

    def check(self) -> None:
        """Make sure that the file is still the one that was read."""
        if Origin.of(self.path) != self:
            raise UnveilError(f"{shown(self.path.name)}: the file has changed since it was read; read it again")


def stem(path: Path) -> str:
    """The lower-case ending that tells the format, without the compression's.

    >>> stem(Path("a/B.CSV.gz")), stem(Path("x.dat")), stem(Path("x"))
    ('.csv', '.dat', '')
    """
    endings = [s.lower() for s in path.suffixes]
    while endings and endings[-1] in _COMPRESSED:
        endings.pop()
    return endings[-1] if endings else ""


def compression(path: Path) -> str | None:
    """``gzip``, ``zstd`` or None, from the first bytes."""
    with _told(path), open(path, "rb") as file:
        head = file.read(10)
    if packed := next((said for magic, said in _PACKED.items() if head.startswith(magic)), None):
        raise UnveilError(f"{shown(path.name)}: is {packed}")
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def stream(path: Path) -> Iterator[bytes]:
    """The file's bytes, decompressed, in chunks."""
    import pyarrow as pa

    kind = compression(path)
    with _told(path), pa.input_stream(str(path), compression=kind) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def load(path: Path) -> bytes:
    """The whole file, decompressed."""
    return b"".join(stream(path))


def peek(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of the file, decompressed."""
    head = b""
    for chunk in stream(path):
        head += chunk
        if len(head) >= size:
            break
    return head[:size]


def digest(path: Path) -> str:
    """SHA-256 of the file as it lies on disk."""
    with _told(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
