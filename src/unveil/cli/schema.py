"""``unveil schema``: the JSON Schema of an assessment, of weighed protections or of a policy."""

from __future__ import annotations

import json

import click

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil schema > assessment.schema.json
  unveil schema policy > policy.schema.json
  unveil schema weighed > weighed.schema.json
"""


@click.command("schema", epilog=_EPILOG)
@click.argument("what", type=click.Choice(["assessment", "policy", "weighed"]), default="assessment")
def command(what: str) -> None:
    """Print the JSON Schema of every assessment in JSON, of what unveil weigh writes as JSON (weighed), or of policy
    files, which editors can use to complete them."""
    from unveil.report.schema import assessment_schema, policy_schema, weighed_schema

    schema = {"assessment": assessment_schema, "policy": policy_schema, "weighed": weighed_schema}[what]()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
