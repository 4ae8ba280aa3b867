"""``unveil schema``: the JSON Schema of an assessment or of a policy."""

from __future__ import annotations

import json

import click

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil schema > assessment.schema.json
  unveil schema policy > policy.schema.json
"""


@click.command("schema", epilog=_EPILOG)
@click.argument("what", type=click.Choice(["assessment", "policy"]), default="assessment")
def command(what: str) -> None:
    """Print the JSON Schema of every assessment in JSON, or of policy files, which editors can use to complete them."""
    from unveil.report.schema import assessment_schema, policy_schema

    click.echo(json.dumps(policy_schema() if what == "policy" else assessment_schema(), indent=2, ensure_ascii=False))
