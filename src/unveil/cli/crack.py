"""``unveil crack``: how likely an attacker is to crack each pseudonym in a matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unveil.cli.holdings import files_read, holding_options, read_holdings
from unveil.cli.messages import note_printer
from unveil.cli.output import EXIT_CODES, assess_and_deliver, check_output_files, output_options
from unveil.cli.policy import make_policy, policy_options, renamed_option

__all__ = ["command"]

_EPILOG = f"""\b
{EXIT_CODES}

\b
Examples:
  unveil crack candidates.csv
  unveil crack weights.csv --truth mapping.csv --report cracks.html
  unveil crack candidates.csv --sets families.csv --tolerance matching.degree_of_anonymity=0.7
  unveil crack weights.csv --pattern-only --tolerance matching.expected_cracks=20% --format json
"""


@click.command("crack", epilog=_EPILOG)
@click.argument("matrix", type=click.Path())
@click.option("--truth", metavar="FILE", help="Lines entry,pseudonym; without it, entry i has pseudonym i.")
@holding_options("matching")
@policy_options("matching", kind="matrix")
@output_options
@renamed_option("weights", "pattern_only", "is the default; its opposite is")
def command(matrix: str, truth: str | None, **given: Any) -> int:
    """Say how many secret pairs an attacker who holds MATRIX finds.

    MATRIX is a square text table: a row per entry, a column per pseudonym, 1 where the pair is possible and 0 where it
    is not, or a weight. Labels in the first row and column are optional.
    """
    from unveil.case import Case
    from unveil.release import Matrix
    from unveil.release.matrix import read_truth
    from unveil.release.read import read

    policy = make_policy(given, note_printer(given["quiet"]))
    check_output_files([given["output"], given["report"]], [truth, *files_read(matrix, given, policy)])

    def read_candidates() -> Case:
        candidates = read(matrix, "matrix")
        assert isinstance(candidates, Matrix)
        mapping = read_truth(Path(truth), candidates) if truth else None
        return read_holdings(Case(candidates, truth=mapping), given)

    return assess_and_deliver(read_candidates, policy, matrix, given)
