"""A process with tea imported, forked for each command line: the real command, without its start.

Reads one JSON object a line (`line`, `folder`, `environment`, `streams`) and answers with the exit code.
"""

import json
import os
import sys
from typing import Any, NoReturn

import tea.cli.app
import tea.components.json_schema
import tea.platform


def serve() -> None:
    """Carry out requests until the input ends."""
    tea.cli.app.application()
    for request in sys.stdin:
        child = os.fork()
        if child == 0:
            carry_out(json.loads(request))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def carry_out(request: dict[str, Any]) -> NoReturn:
    """Become the command."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for number, path in enumerate(request["streams"]):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.argv = ["tea", *request["line"]]
    with open(0) as sys.stdin, open(1, "w") as sys.stdout, open(2, "w") as sys.stderr:
        try:
            tea.cli.app.main()
        except SystemExit as ended:
            sys.stdout.flush()
            os._exit(int(ended.code or 0))


if __name__ == "__main__":
    serve()
