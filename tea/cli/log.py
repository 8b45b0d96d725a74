"""Log: messages of libraries and components on standard error, without secrets, and with hidden characters escaped."""

import logging
import sys
from typing import TYPE_CHECKING

from tea.cli.terminal import one_line, write

if TYPE_CHECKING:
    from tea.platform import Platform

_LONGEST = 1_000


class Log(logging.Handler):
    """A log handler for warnings and worse, a line each.

    Args:
        tea: Knows the operator's secrets.
    """

    def __init__(self, tea: "Platform") -> None:
        super().__init__(logging.WARNING)
        self._tea = tea

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            write(one_line(self._tea.mask.plain(self.format(record)), _LONGEST) + "\n", sys.stderr)
        except Exception:  # as every handler has it: what is logged ends nothing
            self.handleError(record)


def keep_log(tea: "Platform") -> None:
    """Write this process's log messages, replacing other handlers."""
    logging.getLogger().handlers = [Log(tea)]
