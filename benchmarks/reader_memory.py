"""How much memory does reading take, as a multiple of the text that is read?

Each file of about 60 MB is read in a process of its own. What the process holds after reading a tiny file of the same
format is subtracted, so that libraries do not count. The goal is at most four times the decompressed size, for the
shortest labels as well.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _measure import peak_memory, print_figure, run_in_process

__all__ = ["main", "write_file"]

_SIZE = 60_000_000
_GOAL = 4.0
FORMATS = {  # the name of a file, and the length of its labels
    "one-digit.dat": 1,
    "baskets.dat": 4,
    "words.dat": 12,
    "baskets.dat.gz": 4,
    "one-digit.jsonl": 1,
    "baskets.jsonl": 4,
    "long.csv": 4,
    "one-digit.edges": 1,
    "friends.edges": 6,
    "friends.csv": 6,
}


def write_file(path: Path, size: int, length: int) -> int:
    """Write a file of random labels, and return its decompressed size."""
    draw, written = np.random.default_rng(0), 0
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        for part in _text_parts(path.name, draw, length):
            file.write(part)
            written += len(part)
            if written >= size:
                break
    return written


def _text_parts(name: str, draw: np.random.Generator, length: int) -> Iterator[bytes]:
    """Ever more lines in the format that the name of the file stands for."""
    low = 10 ** (length - 1)
    rows, width = 2000, 2 if "friends" in name or "edges" in name else 8
    if name.startswith("long"):
        yield b"basket,item\n"
    if name == "friends.csv":
        yield b"source,target\n"
    basket = 0
    while True:
        labels = draw.integers(low % 10**9, min(10**length, 10**9), (rows, width)).astype(str)
        if length > 9:
            labels = np.char.zfill(labels, length)
        if name.startswith("long"):
            lines = [f"{basket + k},{item}" for k, row in enumerate(labels) for item in row]
        elif ".jsonl" in name:
            lines = [json.dumps([*row]) for row in labels.tolist()]
        else:
            lines = [("," if name.endswith(".csv") else " ").join(row) for row in labels]
        basket += rows
        yield ("\n".join(lines) + "\n").encode()


def _read_in_this_process(path: str) -> None:
    import unveil

    unveil.read(path, "graph" if "edges" in path or "friends" in path else "transactions")
    print(json.dumps({"memory": peak_memory()}))


def main() -> None:
    """Print the peak memory of each reader."""
    print("memory for reading, without libraries")
    with tempfile.TemporaryDirectory() as folder:
        for name, length in FORMATS.items():
            tiny, whole = Path(folder, "tiny", name), Path(folder, "whole", name)
            for path in (tiny, whole):
                path.parent.mkdir(exist_ok=True)
            write_file(tiny, 20_000, length)
            size = write_file(whole, _SIZE, length) / 1e6
            base, peak = (run_in_process(__file__, str(path))["memory"] * 1.048576 for path in (tiny, whole))
            print_figure(name, peak - base, size, "the decompressed size", "MB", _GOAL)
            whole.unlink()


if __name__ == "__main__":
    _read_in_this_process(sys.argv[1]) if len(sys.argv) > 1 else main()
