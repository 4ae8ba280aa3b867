"""ℓ-diversity and t-closeness of Adult × 1 (six quasi-identifiers) against pycanon, and where the two disagree.

pycanon finds ℓ and t; unveil finds k, ℓ, entropy ℓ and t. Both are given the table in memory, so that reading the file
is on neither side, unless the line says otherwise.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _measure import data_folder, install_peer, measure_work

from classes import SIX, _findings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["main"]

_WANTED = "pycanon==1.3.6"  # it pins numpy 2.0.2 and pandas 2.3.3 itself
_ADULT = ((SIX, "salary-class"), (("sex", "race"), "education"))
_IDS = {"k": "classes.k", "ℓ": "classes.l_distinct", "entropy ℓ": "classes.l_entropy", "t": "classes.t"}
_TINY: tuple[tuple[str, str, list[str | None], list[str], list[int]], ...] = (
    ("a row without a zip is a class of its own", "k", ["A", "A", None], ["x", "y", "x"], [0, 1, 2]),
    ("entropy is no whole number", "entropy ℓ", ["A", "A", "A"], ["x", "x", "y"], [0, 1, 2]),
    ("two equally frequent values", "entropy ℓ", ["A", "A"], ["x", "y"], [0, 1]),
    ("two classes like the table", "t", ["A", "A", "B", "B"], ["x", "y", "x", "y"], [0, 1, 2, 3]),
    ("the same rows shuffled", "t", ["A", "A", "B", "B"], ["x", "y", "x", "y"], [0, 2, 1, 3]),
)


def main() -> None:
    """Print the figures, whether both say the same on Adult, and what each says on tiny tables."""
    print(f"diversity: ℓ and t against {_WANTED}")
    peer = install_peer("pycanon", _WANTED)
    if peer is None:
        print("  pycanon could not be installed in benchmarks/peers; nothing to compare with")
        return
    data = data_folder()
    if data is not None:
        file = str(data / "tables" / "adult.csv")
        _compared(_ran(sys.executable, "unveil", file), _ran(peer, "pycanon", file))
    both = _ran(sys.executable, "unveil"), _ran(peer, "pycanon")
    for (what, measure, *_), ours, theirs in zip(_TINY, *(side["said"] for side in both), strict=True):
        print(f"  {what}: {measure} is {ours[measure]:.6g} by unveil, {theirs[measure]:.6g} by pycanon")


def _compared(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    took, slow = ours["took"], theirs["took"]
    found, taken, file = took["found"], took["found"] + took["frame"], took["found in file"] + took["file"]
    for what, fast, peer, aim in (
        ("Adult × 1, table in memory on both sides", found, slow["found"], ", goal ≥ 100"),
        ("the same, unveil also taking in the pandas frame", taken, slow["found"], ""),
        ("the same, both also reading the CSV file", file, slow["found"] + slow["file"], ""),
    ):
        print(f"  {what}: {peer / fast:.0f} × as fast as pycanon  ({fast:.3f} against {peer:.3f} s CPU{aim})")
    for (quasi, sensitive), us, them in zip(_ADULT, ours["said"], theirs["said"], strict=True):
        same = all(isclose(us[m], them[m], rel_tol=1e-12) for m in them)
        values = [", ".join(f"{m} {said[m]:.16g}" for m in them) for said in (us, them)]
        result = f"both say {values[0]}" if same else f"unveil says {values[0]}; pycanon {values[1]}"
        print(f"  {', '.join(quasi)} → {sensitive}: {result}")


def _ran(python: str | Path, who: str, *file: str) -> dict[str, Any]:
    """What one side says and needs, in a process of its own: about Adult if there is a file, else the tiny tables."""
    done = subprocess.run([python, __file__, who, *file], check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _side(who: str, *files: str) -> dict[str, Any]:
    import pandas as pd

    says, costs = {"unveil": (_unveil_says, _unveil_costs), "pycanon": (_pycanon_says, _pycanon_costs)}[who]
    if files:
        frame = pd.read_csv(files[0])
        said = [says(frame, quasi, sensitive, ("k", "ℓ", "t")) for quasi, sensitive in _ADULT]
        return {"said": said, "took": costs(frame, files[0])}
    said = [
        says(pd.DataFrame({"zip": zips, "disease": values}).iloc[order], ("zip",), "disease", (measure,))
        for _, measure, zips, values, order in _TINY
    ]
    return {"said": said}


def _unveil_says(
    frame: pd.DataFrame, quasi: tuple[str, ...], sensitive: str, measures: Iterable[str]
) -> dict[str, float]:
    import unveil
    from unveil.classes.ask import QUESTION

    policy = unveil.Policy(quasi=(quasi,), sensitive=(sensitive,))
    asked = QUESTION.ask(unveil.Case(unveil.read(frame)), policy, unveil.Run(exposed=0))
    found = {f.id: f.value for f in itertools.takewhile(lambda f: f.id != "classes.homogeneity", asked)}
    return {m: found[_IDS[m]] for m in measures}


def _unveil_costs(frame: pd.DataFrame, file: str) -> dict[str, float]:
    """CPU seconds. A frame can stand for the name of a file: ``_findings`` only reads it and asks what it contains."""
    import unveil

    return {
        "found": _findings(frame, 0)["cpu"],  # type: ignore[arg-type]
        "found in file": _findings(file, 0)["cpu"],
        "frame": _cpu(lambda: unveil.read(frame)),
        "file": _cpu(lambda: unveil.read(file)),
    }


def _pycanon_says(
    frame: pd.DataFrame, quasi: tuple[str, ...], sensitive: str, measures: Iterable[str]
) -> dict[str, float]:
    from pycanon import anonymity

    known, after = list(quasi), [sensitive]
    ways: dict[str, Callable[[], float]] = {
        "k": lambda: anonymity.k_anonymity(frame, known),
        "ℓ": lambda: anonymity.l_diversity(frame, known, after),
        "entropy ℓ": lambda: anonymity.entropy_l_diversity(frame, known, after),
        "t": lambda: anonymity.t_closeness(frame, known, after),
    }
    return {m: float(ways[m]()) for m in measures}


def _pycanon_costs(frame: pd.DataFrame, file: str) -> dict[str, float]:
    import pandas as pd

    return {
        "found": _cpu(lambda: _pycanon_says(frame, *_ADULT[0], ("ℓ", "t")), repeat=2),
        "file": _cpu(lambda: pd.read_csv(file)),
    }


def _cpu(work: Callable[[], object], repeat: int = 5) -> float:
    return measure_work(work, repeat)["cpu"]


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(json.dumps(_side(*sys.argv[1:])))
