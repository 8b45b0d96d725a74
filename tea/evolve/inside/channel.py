"""Channel: one line of JSON for each message between a worker and its host."""

import json
import os
import sys
from typing import Any


class Channel:
    """The worker's side: standard input and output, taken away from the library, so it cannot write between lines."""

    def __init__(self) -> None:
        self._in = sys.stdin
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def read(self) -> Any:
        """Return the next message of the host.

        Raises:
            EOFError: The host is gone.
        """
        line = self._in.readline()
        if not line:
            raise EOFError("the host is gone")
        return json.loads(line)

    def write(self, message: Any) -> None:
        """Send a message."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def ask(self, message: Any) -> Any:
        """Send a question, and return the answer."""
        self.write(message)
        return self.read()
