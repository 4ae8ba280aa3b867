"""``unveil weigh``: what protections cost at several goals, and what they leave to attackers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.output import check_output_files, print_notes
from unveil.cli.policy import column_names, make_policy, parse_goal, policy_options
from unveil.cli.reading import graph_reading_options, read_graph, reading_text
from unveil.cli.typed_command import remember_command
from unveil.wording import safe_text

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0, 2 bad usage or bad data, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).

\b
Examples:
  unveil weigh friends.edges --goal network.degree_k=2,5,10,25 --report weighed.html
  unveil weigh friends.edges --goal network.degree_k=5,25 --methods degrees,supergraph,relaxed --releases 20
  unveil weigh friends.edges --goal network.degree_k=5,25 --only network.passive --format json -o weighed.json
"""


@click.command("weigh", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option(
    "--goal",
    required=True,
    metavar="FINDING=VALUE,VALUE",
    help="What must hold of the results: a finding about shared numbers of connections, and the values that are "
    "tried, such as network.degree_k=2,5,10,25.",
)
@click.option(
    "--methods",
    metavar="NAMES",
    help="The protections, at most six, comma-separated; by default those that unveil protect tries by itself. Its "
    "help describes them.",
)
@click.option(
    "--releases",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How many releases to make with a protection that draws at random, for mean and variance.",
)
@click.option("--attack-all", is_flag=True, help="Attack all of these releases, not only the first.")
@click.option(
    "--only",
    metavar="NAMES",
    help="Attack with these questions or findings only, comma-separated. Attackers that are left out by default "
    "because the network is large are tried if they are named.",
)
@policy_options(None, "network", kind="graph", protecting=True, verdict=False)
@graph_reading_options
@click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
@click.option("--details", is_flag=True, help="Text: show all measures.")
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of standard output.")
@click.option("--report", metavar="FILE", help="Also write an HTML report to FILE.")
@quiet_option
def command(
    file: str,
    goal: str,
    methods: str | None,
    releases: int,
    attack_all: bool,
    only: str | None,
    form: str,
    details: bool,
    output: str | None,
    report: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Weigh protections of the network in FILE against each other: what each costs at several goals, and who is still
    found.

    Nothing is released: unveil protect does that. Protections that draw at random are applied several times.
    """
    from unveil.case import Case
    from unveil.release.delivery import OutputFile, deliver_files
    from unveil.weigh import weigh

    tell = note_printer(quiet)
    risk, limits = parse_goal(goal)
    policy = make_policy(given, tell)
    check_output_files([output, report], [file])
    with progress_bar(reading_text(file), quiet) as report_progress:
        case = Case(read_graph(file, given))
        weighed = weigh(
            case,
            policy,
            goal=risk,
            limits=limits,
            methods=column_names(methods) if methods is not None else (),
            releases=releases,
            attack_all=attack_all,
            only=column_names(only) if only is not None else None,
            progress=report_progress,
        )
        weighed = replace(weighed, typed=remember_command(file))
        report_progress("writing", None)
        text = {"text": lambda: weighed.to_text(details), "json": weighed.to_json, "html": weighed.to_html}[form]()
        page = weighed.to_html() if report else ""
    print_notes(case, tell)
    shown = [(path, content) for path, content in ((report, page), (output, text)) if path]
    deliver_files([OutputFile(path, content.encode()) for path, content in shown])
    if report:
        tell(f"report written to {safe_text(report, 200)}")
    if not output:
        click.echo(text.encode() if form == "html" else text, nl=False)
