"""Left out: telling the ungranted settings of a home, replaced by their defaults."""

from typing import TYPE_CHECKING

from tea.cli.command import Command
from tea.cli.terminal import one_line

if TYPE_CHECKING:
    from tea.platform import Platform


def tell_left_out(command: Command, tea: "Platform") -> None:
    """Report the settings ignored until the home is granted, one line each; the words of the home stand last."""
    for one in tea.home_trust.left_out:
        command.tell(
            f"tea: left out until `tea trust{command.at or ' --home'}` grants it: {one_line(one.words, 1_000)}"
        )
