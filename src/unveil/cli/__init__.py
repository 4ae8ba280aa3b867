"""The command line. One file per command; heavy imports happen inside the commands."""

from unveil.cli.main import main

__all__ = ["main"]
