"""Family: a command with others below it, such as `tea trace` and `tea trace diff`."""

from typing import Any

from typer.core import TyperGroup

SELF, LISTING = "show", "ls"


class Family(TyperGroup):
    """A command group passing names other than its subcommands', and options, to the command itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command itself, or the listing one, first if no subcommand is named."""
        own = LISTING if LISTING in self.commands else SELF
        return super().parse_args(ctx, args if args and args[0] in self.commands else [own, *args])
