"""Write the command reference, ``docs/cli.md``, from the commands' own ``--help``."""

from __future__ import annotations

from pathlib import Path

import click

from unveil.cli.main import cli

__all__ = ["reference"]

TARGET = Path(__file__).parent / "cli.md"


def reference() -> str:
    """The page."""
    parts = ["# Command reference", "", "Generated from `--help`; `make docs` writes it anew.", ""]
    top = click.Context(cli, info_name="unveil", max_content_width=100, terminal_width=100)
    parts += ["## unveil", "", "```text", cli.get_help(top), "```", ""]
    for name in cli.list_commands(top):
        command = cli.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top, max_content_width=100, terminal_width=100)
        parts += [f"## unveil {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
