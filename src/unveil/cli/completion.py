"""``unveil completion``: completion of commands and options in a shell."""

from __future__ import annotations

import click

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil completion bash >> ~/.bashrc
  unveil completion fish > ~/.config/fish/completions/unveil.fish
"""


@click.command("completion", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes unveil's commands and options in SHELL."""
    from click.shell_completion import get_completion_class

    from unveil.cli.main import cli

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(cli, {}, "unveil", "_UNVEIL_COMPLETE").source())
