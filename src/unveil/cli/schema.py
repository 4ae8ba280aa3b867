"""``unveil schema``: the JSON Schema of an assessment."""

from __future__ import annotations

import json

import click

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil schema > assessment.schema.json
  unveil schema | python -m json.tool
"""


@click.command("schema", epilog=_EPILOG)
def command() -> None:
    """Print the JSON Schema that every assessment in JSON obeys."""
    from unveil.report.schema import schema

    click.echo(json.dumps(schema(), indent=2, ensure_ascii=False))
