"""The ``unveil`` command: what it offers, and how it ends.

Exit codes: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted (143 by SIGTERM, 129 by
SIGHUP). Whatever goes wrong is said in one line on standard error.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
from types import FrameType
from typing import Any

import click

from unveil.cli.plain_output import StandardOutputError, open_output
from unveil.errors import Termination, UnveilError, describe_failure

__all__ = ["cli", "main"]

_LEAST_MEMORY = 512 << 20  # bytes; with less, libraries end the process while they are loaded, some with exit code 1
_LITTLE_MEMORY = 4 << 30  # bytes that the threads of OpenBLAS on a machine with many processors may use up

_last_signal = signal.SIGINT  # the one that interrupted the command, if any did


class _LazyGroup(click.Group):
    """A group that loads a command's file when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMAND_SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMAND_SUMMARIES:
            return None
        command: click.Command = importlib.import_module(f"unveil.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMAND_SUMMARIES.items()))


_COMMAND_SUMMARIES = {
    "assess": "Attack a release and say whether it may be released.",
    "protect": "Write a safer version of a release, and say what it costs.",
    "weigh": "Say what protections of a network cost at several goals, and whom they leave to be found.",
    "compare": "Say what changed between two assessments.",
    "intersect": "Say what several releases of the same people give away together.",
    "link": "Match the people in a file with the rows of a release.",
    "unmask": "Match the nodes of a network with those of another one that has names.",
    "query": "Answer questions about a table with noise, within a budget.",
    "budget": "Make, show and rebind the ledger of private answers.",
    "rules": "Find the smallest sets of values that imply another.",
    "lattice": "Show which values belong together, and what they follow from.",
    "describe": "Say what was read: kind, size, columns, missing values.",
    "hierarchy": "Show, build and check the hierarchy of a column.",
    "init": "Write a policy with suggested roles, to be edited.",
    "crack": "Say how likely an attacker is to crack each pseudonym in a matrix.",
    "theory": "Say what theorems guarantee an attacker before there is any data.",
    "demo": "Make five examples, assess them and write the report.",
    "schema": "Print the JSON Schema of assessments, weighed protections or policies.",
    "completion": "Print a shell completion script.",
}

_EPILOG = """\b
Examples:
  unveil assess patients.csv --quasi age,zip,sex --sensitive diagnosis --report report.html
  unveil protect baskets.dat --tolerance items.expected_cracks=10% -o safe.dat
  unveil demo
"""


@click.group(cls=_LazyGroup, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="unveil", message="unveil %(version)s")
def cli() -> None:
    """Just how safe is your anonymised data?

    unveil attacks a release before an attacker does: it says who can be found and what can be learned, compares that
    with what you tolerate, and tells you whether to release.
    """
    _check_memory_limits()


def _check_memory_limits() -> None:
    """Refuse limits under which libraries cannot even be loaded, and let them spare memory that is scarce."""
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    least = min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=_LITTLE_MEMORY)
    if least < _LEAST_MEMORY:
        raise UnveilError(
            f"memory is limited to {least // 10**6:,} MB, which is too little; raise the limit (ulimit -v or -d)"
        )
    if least < _LITTLE_MEMORY:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line and exit."""
    open_output()
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
                signal.signal(number, _interrupt)
        code = _run_command()
        _set_signals(signal.SIG_DFL)  # all that is left is to exit
    except KeyboardInterrupt:  # before the command had begun, or after it had ended
        code = 128 + _last_signal
    if code == 128 + _last_signal:  # the interpreter may remember an interrupt that was dealt with, and die of it at
        # its end; so may libraries whose threads are still at work when they clean up
        from unveil.spill_directory import remove_spill_directories

        _set_signals(signal.SIG_IGN)
        remove_spill_directories()
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _set_signals(handler: signal.Handlers) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does, but at once. A terminal that hung up takes no more messages."""
    global _last_signal
    _last_signal = signal.Signals(number)
    for stream in (1, 2) if number == signal.SIGHUP else ():
        if os.isatty(stream):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    raise Termination


def _run_command() -> int:
    try:
        code: Any = cli.main(prog_name="unveil", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except UnveilError as error:
        return _print_error(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        usage = error.ctx.get_usage() + "\n" if isinstance(error, click.UsageError) and error.ctx else ""
        return _print_error(error.format_message(), usage)
    except (KeyboardInterrupt, click.Abort):
        _print_error("interrupted; no file was left half-written")
        return 128 + _last_signal
    except SystemExit as leaving:  # click's own word for a closed pipe is exit code 1, which means something else here
        return 128 + signal.SIGPIPE if leaving.code == 1 else int(leaving.code or 0)
    except StandardOutputError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _print_error(f"standard output: {error.strerror}")
    except Exception as error:
        return _print_error(describe_failure(error))


def _print_error(line: str, usage: str = "") -> int:
    print(f"{usage}unveil: {line}", file=sys.stderr)
    return 2
