"""The command line: one file for each command, and what they share."""

from tea.cli.app import main

__all__ = ["main"]
