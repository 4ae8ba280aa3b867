"""Run any number of inputs: ``python -m fuzz --inputs 100000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from fuzz.families import make_input
from fuzz.harness import find_defects

_BATCH = 1000


def main() -> int:
    """Run the inputs, say how far it is, and list what went wrong."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Run unveil on made-up inputs.")
    parser.add_argument("--inputs", type=int, default=2000, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="where to begin: inputs are numbered from seed times 10⁸")
    parser.add_argument("--deep", type=float, default=0.1, help="the share of inputs that ask slow questions")
    parser.add_argument("--keep", type=Path, help="a folder for the files of those that went wrong")
    given = parser.parse_args()
    first, clock, found = given.seed * 10**8, time.monotonic(), []
    for start in range(first, first + given.inputs, _BATCH):
        numbers = range(start, min(start + _BATCH, first + given.inputs))
        defects = find_defects(partial(make_input, deep=given.deep), numbers, given.keep)
        for defect in defects:
            print(defect, flush=True)
        found += defects
        done = numbers[-1] + 1 - first
        print(f"{done:,} inputs, {len(found):,} defects, {time.monotonic() - clock:.0f} seconds", flush=True)
    for (family, what), count in Counter((d.given.family, d.what) for d in found).most_common():
        print(f"{count:6,}  {family}: {what}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
