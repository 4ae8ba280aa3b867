"""``unveil crack``: how likely each pseudonym of a matrix is to be cracked."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from unveil.cli.output import assessed, check_targets, output_options
from unveil.wording import shown

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted.

\b
Examples:
  unveil crack candidates.csv
  unveil crack weights.csv --truth mapping.csv --report cracks.html
  unveil crack weights.csv --pattern --tolerance 0.2 --format json
"""


@click.command("crack", epilog=_EPILOG)
@click.argument("matrix", type=click.Path())
@click.option("--truth", metavar="FILE", help="Lines entry,pseudonym; entry i has pseudonym i if not given.")
@click.option(
    "--weights/--pattern",
    default=True,
    help="Take numbers as weights, or only look at which are 0. Weights by default.",
)
@click.option("--may-be-wrong", is_flag=True, help="Allow a truth that the matrix excludes.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    help="The share of entries that may be cracked on average.  [default: 0.1]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is simulated.")
@output_options
def command(
    matrix: str,
    truth: str | None,
    weights: bool,
    may_be_wrong: bool,
    tolerance: float | None,
    seed: int,
    **given: Any,
) -> int:
    """Say how many of the secret pairs an attacker finds who holds MATRIX.

    MATRIX is a square text table: a row per entry, a column per pseudonym, 1 where the pair is possible and 0 where it
    is not, or a weight. Labels in the first row and column are optional.
    """
    from unveil.case import Case
    from unveil.policy import Policy
    from unveil.release.matrix import read_matrix, read_truth

    check_targets([given["output"], given["report"]], [matrix, truth])
    tolerated = {} if tolerance is None else {"matching.expected_cracks": tolerance}
    policy = Policy(tolerance=MappingProxyType(tolerated), may_be_wrong=may_be_wrong, seed=seed)

    def read() -> Case:
        candidates = read_matrix(Path(matrix))
        mapping = read_truth(Path(truth), candidates) if truth else None
        return Case(candidates if weights else candidates.pattern(), truth=mapping)

    return assessed(read, policy, f"reading {shown(matrix)}", given)
