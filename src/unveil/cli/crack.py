"""``unveil crack``: how likely each pseudonym of a matrix is to be cracked."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.telling import note, progress
from unveil.wording import number, percent, shown

if TYPE_CHECKING:
    from unveil.matching import Solution

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil crack candidates.csv
  unveil crack weights.csv --truth mapping.csv --format json
"""


@click.command("crack", epilog=_EPILOG)
@click.argument("matrix", type=click.Path(path_type=Path))
@click.option(
    "--truth", type=click.Path(path_type=Path), help="Lines entry,pseudonym; entry i has pseudonym i if not given."
)
@click.option("--may-be-wrong", is_flag=True, help="Allow a truth that the matrix excludes.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--riskiest", type=click.IntRange(min=0), default=10, show_default=True, help="How many entries to list.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is simulated.")
@click.option("--reveal", is_flag=True, help="Show the entries' labels. Do not pass that on.")
@click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")
def command(
    matrix: Path, truth: Path | None, may_be_wrong: bool, form: str, riskiest: int, seed: int, reveal: bool, quiet: bool
) -> None:
    """Say how many of the secret pairs an attacker finds who holds MATRIX.

    MATRIX is a square text table: a row per entry, a column per pseudonym, 1 where the pair is possible and 0 where it
    is not, or a weight. Labels in the first row and column are optional.
    """
    from unveil.cli.matrix import read_matrix, read_truth
    from unveil.matching import Candidates, solve
    from unveil.run import Run

    with progress(f"reading {shown(matrix)}", quiet) as told:
        weights, entries, pseudonyms = read_matrix(matrix)
        mapping = read_truth(truth, entries, pseudonyms) if truth else None
        candidates = Candidates.from_matrix(weights)
        solution = solve(candidates, mapping, Run(seed, progress=told), may_be_wrong=may_be_wrong)
    facts = _facts(solution, weights)
    order = sorted(range(len(entries)), key=lambda i: (-solution.crack[i], i))[:riskiest]
    names = [shown(entries[i]) if reveal else f"entry {i + 1}" for i in order]
    listed = list(zip(names, (float(solution.crack[i]) for i in order), strict=True))
    if form == "json":
        riskiest_entries = [{"entry": name, "risk": risk} for name, risk in listed]
        click.echo(json.dumps({**facts, "riskiest": riskiest_entries}, indent=2))
        return
    for name, fact in facts.items():
        click.echo(f"{name}: {_said(fact)}")
    for name, risk in listed:
        click.echo(f"  {name}: {percent(risk)}")
    if not solution.exact:
        note(quiet)("part of this was simulated; the interval says how far it can be off")


def _facts(solution: Solution, weights: Any) -> dict[str, Any]:
    from unveil.errors import UnveilError
    from unveil.matching.metrics import heuristic, o_estimate

    rungs = [p.rung for p in solution.parts]
    facts: dict[str, Any] = {
        "entries": solution.candidates.n,
        "expected cracks (psi)"
        if solution.candidates.weighted
        else "expected cracks (epsilon)": solution.expected_cracks,
        "method": "exact" if solution.exact else "simulation",
        "interval": None if solution.exact else list(solution.interval),
        "degree of anonymity (d)": _ends(solution.degree_of_anonymity),
        "ln permanent": _ends(solution.log_permanent),
        "O-estimate": o_estimate(solution.candidates),
    }
    try:
        facts["H (estimate)"] = heuristic(weights, solution.truth)
    except UnveilError:
        facts["H (estimate)"] = None  # only for doubly stochastic matrices
    return facts | {"blocks": {rung: rungs.count(rung) for rung in dict.fromkeys(rungs)}}


def _ends(interval: tuple[float, float]) -> float | list[float]:
    return interval[0] if interval[0] == interval[1] else list(interval)


def _said(fact: Any) -> str:
    if fact is None:
        return "–"
    if isinstance(fact, dict):
        return ", ".join(f"{count:,} by {rung}" for rung, count in fact.items()) or "none"
    if isinstance(fact, list):
        return " to ".join(map(number, fact))
    return number(fact) if isinstance(fact, (int, float)) and math.isfinite(fact) else str(fact)
