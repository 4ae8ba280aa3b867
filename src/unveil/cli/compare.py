"""``unveil compare``: say what changed between two assessments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unveil.cli.output import check_output_files
from unveil.errors import UnveilError
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.assessment import Assessment

__all__ = ["command"]

_EPILOG = """\b
Exit code: that of the second assessment: 0 release, 1 protect first, 3 your call; 2 bad usage, bad data or two kinds of
release.

\b
Examples:
  unveil assess patients.csv --format json -o before.json
  unveil assess safer.csv --format json -o after.json
  unveil compare before.json after.json
"""


@click.command("compare", epilog=_EPILOG)
@click.argument("before", type=click.Path())
@click.argument("after", type=click.Path())
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of standard output.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict.")
def command(before: str, after: str, form: str, output: str | None, exit_zero: bool) -> int:
    """Say what changed from the assessment BEFORE to the assessment AFTER, both written with --format json.

    Every risk is better, worse, unchanged, or not distinguishable where intervals overlap. Whatever else differs, such
    as tolerances, settings or the seed, is said as well.
    """
    from unveil.comparison import compare
    from unveil.release.delivery import open_atomic

    check_output_files([output], [before, after])
    compared = compare(*map(_read_assessment, (before, after)))
    text = {"text": compared.to_text, "json": compared.to_json, "markdown": compared.to_markdown}[form]()
    if output:
        with open_atomic(output) as written:
            written.write(text.encode())
    else:
        click.echo(text, nl=False)
    return 0 if exit_zero else compared.after.verdict.exit_code


def _read_assessment(path: str) -> Assessment:
    from unveil.assessment import Assessment
    from unveil.release.source_file import load_bytes

    name = safe_text(Path(path).name)
    try:
        return Assessment.from_json(load_bytes(Path(path)).decode())
    except UnicodeDecodeError:
        raise UnveilError(f"{name}: this is not JSON") from None
    except UnveilError as error:
        said = str(error)
        raise UnveilError(said if said.startswith(name) else f"{name}: {said}") from None
