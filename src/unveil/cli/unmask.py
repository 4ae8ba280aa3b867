"""``unveil unmask``: which node of a released network is whom, for someone who holds another network with names."""

from __future__ import annotations

from typing import Any

import click

from unveil.case import Case
from unveil.cli.holdings import files_read, holding_options, read_holdings
from unveil.cli.messages import note_printer
from unveil.cli.output import EXIT_CODES, assess_and_deliver, check_output_files, check_secret_file, output_options
from unveil.cli.policy import make_policy, policy_options
from unveil.cli.reading import graph_reading_options, read_graph
from unveil.errors import UnveilError
from unveil.holding import MAPPING, ORIGINAL
from unveil.network.ask_unmask import KNOWN_NETWORK
from unveil.network.risks import UNMASKED

__all__ = ["command"]

_SHORT_NAME = "--known"

_EPILOG = f"""\b
{EXIT_CODES}
The verdict is about the nodes that are named; unveil assess with {KNOWN_NETWORK.option} FILE asks everything else as
well.

\b
Examples:
  unveil unmask anonymous.edges --known aux.edges
  unveil unmask anonymous.edges --known aux.edges --seeds pairs.csv --matches matches.csv
  unveil unmask anonymous.edges --known aux.edges --true-matches truth.csv --report unmasked.html
"""


@click.command("unmask", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@holding_options("network", other_names={KNOWN_NETWORK.name: _SHORT_NAME}, without=(ORIGINAL.name, MAPPING.name))
@click.option(
    "--matches",
    metavar="FILE",
    help="Write the names that the attacker gives to nodes to FILE, as CSV: label in the network held, label in the "
    "release, score, probability. Never publish it.",
)
@policy_options(None, kind="graph")
@graph_reading_options
@output_options
def command(file: str, matches: str | None, **given: Any) -> int:
    """Name the nodes of FILE with the help of another network, which has names (--known).

    Both networks show some of the same people. Their nodes are matched by structure alone, starting from pairs that are
    known beforehand (--seeds) or from none. How probable each match is to be right is found by rehearsing the attack.
    """
    if not given[KNOWN_NETWORK.name]:
        raise UnveilError(f"name the network that the attacker holds: {_SHORT_NAME} FILE")
    policy = make_policy(given, note_printer(given["quiet"]))
    check_secret_file(matches)
    check_output_files([given["output"], given["report"], matches], files_read(file, given, policy))

    def read() -> Case:
        return read_holdings(Case(read_graph(file, given)), given)

    return assess_and_deliver(
        read,
        policy,
        file,
        given,
        only=[UNMASKED.id],
        purpose=UNMASKED,
        secret=("matches", matches) if matches else None,
    )
