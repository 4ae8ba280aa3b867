"""Standard output that says what is wrong with it, and that need not hold every character: what it lacks is written
with what it has."""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from typing import Any

__all__ = ["StandardOutputError", "open_output"]

_SPELLINGS = {
    "ℓ": "l", "α": "alpha", "β": "beta", "δ": "delta", "ε": "epsilon", "η": "eta", "κ": "kappa", "λ": "lambda",
    "σ": "sigma", "τ": "tau", "φ": "phi", "Θ": "Theta", "Ψ": "Psi", "–": "-", "−": "-", "—": "-", "─": "-", "·": "*",
    "×": "x", "…": "...", "≤": "<=", "≥": ">=", "→": "->", "∞": "infinite", "“": '"', "”": '"', "‘": "'", "’": "'",
}  # fmt: skip
_ASCII = "unveil_ascii"


class StandardOutputError(OSError):
    """Standard output cannot be written to."""


class _CheckedOutput(io.FileIO):
    """Standard output, whose errors are told from those of any other file."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise StandardOutputError(error.errno, error.strerror) from None


def open_output() -> None:
    """Let standard output and standard error replace characters that their encoding lacks, instead of failing. One that
    is closed stays unusable, but no file that is opened later takes its place."""
    codecs.register_error("unveil.degrade", _spell_out)
    codecs.register(_find_ascii)
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    encoding = _unmistakable_encoding(getattr(sys.stdout, "encoding", None) or "utf-8")
    buffer = io.BufferedWriter(_CheckedOutput(1, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(buffer, encoding, "unveil.degrade", line_buffering=buffer.raw.isatty())
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", line_buffering=True)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding=_unmistakable_encoding(sys.stderr.encoding), errors="unveil.degrade")


def _unmistakable_encoding(encoding: str) -> str:
    """ASCII by another name: click takes a stream called ASCII for a mistake, and writes UTF-8 to it."""
    return _ASCII if codecs.lookup(encoding).name == "ascii" else encoding


def _find_ascii(name: str) -> codecs.CodecInfo | None:
    if name != _ASCII:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode,
        known.decode,
        streamreader=known.streamreader,
        streamwriter=known.streamwriter,
        incrementalencoder=known.incrementalencoder,
        incrementaldecoder=known.incrementaldecoder,
        name=_ASCII,
    )


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    """How to write the characters that cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain_spelling, error.object[error.start : error.end])), error.end


def _plain_spelling(character: str) -> str:
    if character in _SPELLINGS:
        return _SPELLINGS[character]
    if "\u2581" <= character <= "\u2588":  # bars of a small chart, low to high
        return "_.:-=+*#"[ord(character) - 0x2581]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or "?"
