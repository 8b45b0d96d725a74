"""A process with tea imported, forked for each command line: the real command, without its start.

What commands load on first use is loaded, too, and installed packages are asked for components;
`tests/test_imports.py` looks at what they load in fresh processes.

Reads one JSON object a line (`line`, `folder`, `environment`, `streams`) and answers with the exit code.
"""

import gc
import json
import os
import sys
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import tea.cli.app
import tea.cli.chat
import tea.components.json_schema
import tea.corpus.corpus
import tea.engine
import tea.evaluate.runner
import tea.evolve.campaign
import tea.loop.loop
import tea.platform
import tea.source.check

_ALSO = (
    "concurrent.futures.thread",
    "docstring_parser",
    "jinja2.sandbox",
    "jsonschema",
    "pydantic.dataclasses",
    "queue",
)


def serve() -> None:
    """Carry out requests until the input ends."""
    tea.cli.app.application()
    for name in _ALSO:
        import_module(name)
    tea.platform.entry_point_roots = cache(tea.platform.entry_point_roots)  # of its path alone, which does not change
    tea.platform.entry_point_roots()
    gc.freeze()  # a collection in a child copies no page of what is loaded
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
