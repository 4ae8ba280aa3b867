"""How much memory does reading take, as a multiple of the text that is read?

Each file of about 30 MB is read in a process of its own. What the process holds after reading a tiny file of the same
format is subtracted, so that libraries do not count. The goal is at most four times the decompressed size. What is kept
of a file whose baskets have one short label each is more than that: 4 bytes for the label and 4 for the basket.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from _measure import peak_memory, print_figure, run_in_process

__all__ = ["main", "write_file"]

_SIZE = 30_000_000
_GOAL = 4.0
_LETTERS = [
    f"{a}{b}{c}{d}{e}" for a in "bcdfghklmn" for b in "aeiou" for c in "prstvw" for d in "aeiou" for e in "lmnr"
]
DIGITS = {  # the name of a file of random digits, and the length of its labels
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


def _random_hex(draw: np.random.Generator, columns: int) -> str:
    rows = draw.integers(0, 2**28, (2000, columns)).tolist()
    return "".join(" ".join(f"{value:07x}" for value in row) + "\n" for row in rows)


def _unique_words(start: int, count: int) -> list[str]:
    return [f"{_LETTERS[k % len(_LETTERS)]}{k // len(_LETTERS):x}" for k in range(start, start + count)]


def _gml_records(start: int) -> str:
    nodes = "".join(f'node [\n  id {k}\n  label "n{k}"\n]\n' for k in range(start, start + 1000))
    return nodes + "".join(f"edge [\n  source {k}\n  target {start}\n]\n" for k in range(start, start + 1000))


def _graphml_records(start: int) -> str:
    nodes = "".join(f'<node id="n{k}"/>\n' for k in range(start, start + 1000))
    return nodes + "".join(f'<edge source="n{k}" target="n{start}"/>\n' for k in range(start, start + 1000))


Part = Callable[[np.random.Generator, int], str]
HARD: dict[str, tuple[str, Part, str]] = {  # how a file begins, goes on after so many parts, and ends
    "blank-lines.dat": ("a b\n", lambda draw, part: "\n" * 10_000, ""),
    "one-line.dat": ("", lambda draw, part: "a b c d " * 1000, "\n"),
    "one-label.dat": ("", lambda draw, part: "x" * 10_000, "\n"),
    "one-item.dat": ("", lambda draw, part: "a\n" * 1000, ""),
    "unique-item.dat": ("", lambda draw, part: "\n".join(_unique_words(1000 * part, 1000)) + "\n", ""),
    "random-hex.dat": ("", lambda draw, part: _random_hex(draw, 8), ""),
    "one-item.jsonl": ("", lambda draw, part: "[1]\n" * 1000, ""),
    "unique.jsonl": ("", lambda draw, part: json.dumps(_unique_words(10 * part, 10)) + "\n", ""),
    "one-array.jsonl": (
        '["a"]\n["a"',
        lambda draw, part: f",{json.dumps(_unique_words(part * 100, 100))[1:-1]}",
        "]\n",
    ),
    "new-basket.csv": (
        "basket,item\n",
        lambda draw, part: "".join(f"{k},{k % 997}\n" for k in range(1000 * part, 1000 * part + 1000)),
        "",
    ),
    "one-edge.edges": ("", lambda draw, part: "a b\n" * 1000, ""),
    "random-hex.edges": ("", lambda draw, part: _random_hex(draw, 2), ""),
    "graph.gml": ("graph [\n", lambda draw, part: _gml_records(1000 * part), "]\n"),
    "graph.graphml": ("<graphml><graph>\n", lambda draw, part: _graphml_records(1000 * part), "</graph></graphml>\n"),
}


def write_file(path: Path, size: int) -> int:
    """Write a file of random or hard labels, and return its decompressed size."""
    draw, written, last = np.random.default_rng(0), 0, b""
    if path.name in HARD:
        begin, make_part, end = HARD[path.name]
        texts = itertools.chain([begin], (make_part(draw, part) for part in itertools.count()))
        parts, last = (text.encode() for text in texts), end.encode()
    else:
        parts = _digit_parts(path.name, draw, DIGITS[path.name])
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        for data in parts:
            file.write(data)
            written += len(data)
            if written >= size:
                break
        file.write(last)
    return written + len(last)


def _digit_parts(name: str, draw: np.random.Generator, length: int) -> Iterator[bytes]:
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

    is_graph = any(part in path for part in ("edges", "friends", "graph."))
    unveil.read(path, "graph" if is_graph else "transactions")
    print(json.dumps({"memory": peak_memory()}))


def main() -> None:
    """Print the peak memory of each reader."""
    print("memory for reading, without libraries")
    with tempfile.TemporaryDirectory() as folder:
        for name in (*DIGITS, *HARD):
            tiny, whole = Path(folder, "tiny", name), Path(folder, "whole", name)
            for path in (tiny, whole):
                path.parent.mkdir(exist_ok=True)
            write_file(tiny, 20_000)
            size = write_file(whole, _SIZE) / 1e6
            base, peak = (run_in_process(__file__, str(path))["memory"] * 1.048576 for path in (tiny, whole))
            print_figure(name, peak - base, size, "the decompressed size", "MB", _GOAL)
            whole.unlink()


if __name__ == "__main__":
    _read_in_this_process(sys.argv[1]) if len(sys.argv) > 1 else main()
