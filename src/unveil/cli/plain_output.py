"""Print to a standard output that cannot hold every character: what it lacks is written with what it has."""

from __future__ import annotations

import codecs
import sys
import unicodedata

__all__ = ["degrade_output"]

_SPELLINGS = {
    "ℓ": "l", "α": "alpha", "β": "beta", "δ": "delta", "ε": "epsilon", "η": "eta", "κ": "kappa", "λ": "lambda",
    "σ": "sigma", "τ": "tau", "φ": "phi", "Θ": "Theta", "Ψ": "Psi", "–": "-", "−": "-", "—": "-", "─": "-", "·": "*",
    "×": "x", "…": "...", "≤": "<=", "≥": ">=", "→": "->", "∞": "infinite", "“": '"', "”": '"', "‘": "'", "’": "'",
}  # fmt: skip


_ASCII = "unveil_ascii"


def degrade_output() -> None:
    """Let standard output and standard error replace characters that their encoding lacks, instead of failing.

    ASCII goes by another name here: click takes a stream called ASCII for a mistake, and writes UTF-8 to it."""
    codecs.register_error("unveil.degrade", _spell_out)
    codecs.register(_find_ascii)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            reconfigure(encoding=_ASCII if is_ascii else None, errors="unveil.degrade")


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
