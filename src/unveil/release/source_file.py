"""The file on disk that a release comes from, opened safely.

Compression is detected from the content, not from the name. A compressed file may hold at most 100 times its own size
once that is more than 256 MB, and at most 64 GB, unless :func:`size_limit` says otherwise. Whatever goes wrong before
the first byte (no such file, a directory, no permission, a broken archive) becomes one clear line.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from unveil.errors import UnveilError
from unveil.settings import option_text
from unveil.wording import number_text, safe_text

__all__ = [
    "Origin",
    "check_unpacked_size",
    "detect_compression",
    "file_digest",
    "format_ending",
    "load_bytes",
    "peek_bytes",
    "raw_head",
    "size_limit",
    "stream_bytes",
]

_CHUNK = 1 << 18
_MAX_RATIO = 100
_MAX_SMALL_SIZE = 256_000_000  # up to which any ratio will do
_MAX_UNPACKED_SIZE = 64_000_000_000
_SIZE_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_COMPRESSION_ENDINGS = {".gz": "gzip", ".zst": "zstd"}
_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_UNSUPPORTED_MAGIC = {
    b"PK\x03\x04": "a spreadsheet or a zip archive; save its contents as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document; save its contents as CSV",
    b"%PDF": "a PDF; export its table as CSV",
    b"\xfd7zXZ\0": "compressed with xz; decompress it first",
    b"BZh91AY&SY": "compressed with bzip2; decompress it first",
}


_given_limit: ContextVar[int | None] = ContextVar("size limit", default=None)


@contextmanager
def size_limit(size: int | str | None) -> Iterator[None]:
    """While it lasts, compressed files may hold this many bytes (2,000,000,000 or ``"2GB"``) and no more."""
    token = _given_limit.set(None if size is None else _parse_size(size))
    try:
        yield
    finally:
        _given_limit.reset(token)


def _parse_size(size: int | str) -> int:
    found = re.fullmatch(r"\s*([0-9]+)\s*([KMGT]?)(i?)B?\s*", str(size), re.IGNORECASE)
    if found is None or not int(found[1]):
        raise UnveilError("max_size is not a size; write it as 4GB or 500MB")
    unit: int = (1024 if found[3] else 1000) ** _SIZE_UNITS[found[2].upper()]
    return int(found[1]) * unit


def check_unpacked_size(path: Path, size: int) -> None:
    """Refuse a compressed file that turns out to hold this many bytes, if that is too many."""
    given, stored = _given_limit.get(), path.stat().st_size
    limit = min(max(_MAX_SMALL_SIZE, _MAX_RATIO * stored), _MAX_UNPACKED_SIZE) if given is None else given
    if size <= limit:
        return
    raise UnveilError(
        f"{safe_text(path.name)}: holds more than {number_text(limit / 1e6)} MB when decompressed, from "
        f"{number_text(stored / 1e6)} MB; pass {option_text('max_size', 'SIZE')} to allow more, such as 100GB"
    )


@contextmanager
def _translate_os_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into one clear line."""
    name = safe_text(path.name or path)
    try:
        if stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            raise UnveilError(f"{name}: is not a regular file; save it to disk first")
        str(path).encode()
        yield
    except FileNotFoundError:
        raise UnveilError(f"{safe_text(path, 200)}: no such file") from None
    except IsADirectoryError:
        raise UnveilError(f"{name}: is a directory; name the file inside it") from None
    except PermissionError:
        raise UnveilError(f"{name}: no permission to read it; check its permissions") from None
    except OSError as error:
        what = error.strerror or "the file or its compression is damaged; get a fresh copy"
        raise UnveilError(f"{name}: cannot be read: {what}") from None
    except ValueError:  # the name is not text, or contains a NUL
        raise UnveilError(f"{name}: cannot be read: the file name is not valid text; rename the file") from None


@dataclass(frozen=True)
class Origin:
    """A file as it was when it was read, so that a later change is noticed."""

    path: Path
    modified: int
    size: int

    @classmethod
    def of_file(cls, path: Path) -> Origin:
        """The file as it is now."""
        with _translate_os_errors(path):
            now = os.stat(path)
            return cls(path.resolve(), now.st_mtime_ns, now.st_size)

    def check_unchanged(self) -> None:
        """Refuse a file that has changed since it was read."""
        if Origin.of_file(self.path) != self:
            raise UnveilError(f"{safe_text(self.path.name)}: the file has changed since it was read; read it again")


def format_ending(path: Path) -> str:
    """The lower-case ending that names the format, without that of the compression.

    >>> format_ending(Path("a/B.CSV.gz")), format_ending(Path("x.dat")), format_ending(Path("x"))
    ('.csv', '.dat', '')
    """
    endings = [s.lower() for s in path.suffixes]
    while endings and endings[-1] in _COMPRESSION_ENDINGS:
        endings.pop()
    return endings[-1] if endings else ""


def raw_head(path: Path, size: int = 64) -> bytes:
    """The first bytes of the file as stored on disk."""
    with _translate_os_errors(path), open(path, "rb") as file:
        return file.read(size)


def detect_compression(path: Path) -> str | None:
    """``gzip``, ``zstd`` or None, from the first bytes."""
    head = raw_head(path)
    if packed := next((said for magic, said in _UNSUPPORTED_MAGIC.items() if head.startswith(magic)), None):
        raise UnveilError(f"{safe_text(path.name)}: is {packed}")
    return next((kind for magic, kind in _COMPRESSION_MAGIC.items() if head.startswith(magic)), None)


def stream_bytes(path: Path) -> Iterator[bytes]:
    """The file's bytes, decompressed, in chunks."""
    import pyarrow as pa

    kind, size = detect_compression(path), 0
    with _translate_os_errors(path), pa.input_stream(str(path), compression=kind) as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            if kind:
                check_unpacked_size(path, size)
            yield chunk


def load_bytes(path: Path) -> bytes:
    """The whole file, decompressed."""
    return b"".join(stream_bytes(path))


def peek_bytes(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of the file, decompressed."""
    head = b""
    for chunk in stream_bytes(path):
        head += chunk
        if len(head) >= size:
            break
    return head[:size]


def file_digest(path: Path) -> str:
    """SHA-256 of the file as stored on disk."""
    with _translate_os_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
