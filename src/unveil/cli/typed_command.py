"""What was typed, so that a report can print commands that work when they are pasted in the same folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from unveil.assessment import TypedCommand
from unveil.cli.policy import secret_options
from unveil.cli.reading import READING_NAMES

__all__ = ["remember_command"]

_ABOUT_THIS_RUN = (
    frozenset(
        ("output", "report", "form", "details", "exposed", "reveal", "exit_zero", "quiet", "matches", "only", "method")
    )
    | {"mapping_file", "truth", "write_recipe", "recipe_file", "released", "unseen"}
    | {"goal", "methods", "releases", "attack_all"}
)


def remember_command(file: str, earlier: tuple[str, ...] = ()) -> TypedCommand:
    """The running command: its file, and the options that say how to read it, under which policy, and what an attacker
    holds. ``earlier`` are files that were not typed as an option but are one of another command."""
    context = click.get_current_context()
    typed = [
        option
        for option in context.command.params
        if isinstance(option, click.Option)
        and option.name in context.params
        and option.name not in _ABOUT_THIS_RUN
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    found = {option.opts[0]: tuple(_texts(option, context.params[option.name or ""])) for option in typed}
    if earlier:
        found["--earlier"] = tuple(f"--earlier {shlex.quote(name)}" for name in earlier)
    reading = [text for option in typed if option.name in READING_NAMES for text in found.pop(option.opts[0])]
    return TypedCommand(file, tuple(reading), found, any(option.name in secret_options() for option in typed))


def _texts(option: click.Option, value: Any) -> Iterator[str]:
    """An option as it is typed, once or several times."""
    if option.is_flag:
        yield (option.opts if value else option.secondary_opts)[0]
        return
    for each in value if option.multiple else [value]:
        yield f"{option.opts[0]} {shlex.quote(str(each))}"
