"""The real registry and journals driven by one operation a line, for a harness testing crashes and starvation.

    python -m tea.testing.crash_adapter batch --root DIR     operations on standard input, an answer for each line
    python -m tea.testing.crash_adapter once FILE --root DIR  one operation; exit code 0 done, 3 conflict, 2 failed
    python -m tea.testing.crash_adapter dump --root DIR      what is there, as one JSON object

`DIR` is a home: `tea doctor --home DIR` reads it too. Operations are `{"id", "op": "register", "name", "version",
"payload"}` and `{"id", "op": "append", "run", "payload"}`. Answers are `ok ID`, `conflict ID` and `err ID MESSAGE`, in
order, each only when the disk has confirmed everything; `-` stands for an id that cannot be used.

A payload is any JSON value. Its digest in `dump` is taken over the UTF-8 bytes of a text, and over the canonical JSON
(sorted keys, no spaces, UTF-8 as it is) of any other value. A version belongs to whoever first made it current, so
exactly one `register` is answered `ok`, also when the same bytes are sent twice; one whose writer died before that is
completed by the next that sends the same bytes. An `append` whose id the run holds already, with the same payload, is
`ok` and adds nothing; with another payload it is a conflict. A run that another process holds is waited for, at most
10 seconds.

`problems` of `dump` has a line for each file that is not what was written, or is missing. What a crash leaves is none.
"""

import argparse
import json
import os
import select
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from tea.errors import BadInput, TeaError
from tea.store.files import FILE_LIMIT, parse_json_strict, read_json_strict
from tea.testing.crash_home import Adapter, id_of
from tea.types import JsonValue

_LINE_LIMIT = 4 * FILE_LIMIT
_GRACE_SECONDS = 0.01
_INTERRUPTED = 130
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def main(arguments: list[str]) -> int:
    """Run the command line, and return the exit code."""
    parser = _Parser(
        prog="crash_adapter", usage="python -m tea.testing.crash_adapter batch|once|dump [FILE] --root DIR"
    )
    parser.add_argument("mode", choices=("batch", "once", "dump"))
    parser.add_argument("file", nargs="?", type=Path, help="the operation, for once")
    parser.add_argument("--root", type=Path, required=True, help="the home")
    given = parser.parse_intermixed_args(arguments)
    if (given.mode == "once") != (given.file is not None):
        parser.error("once takes a FILE, batch and dump take none")
    _close_gaps()
    adapter = Adapter(given.root)
    try:
        if given.mode == "batch":
            return _batch(adapter)
        if given.mode == "once":
            code, line = adapter.answer(lambda: read_json_strict(given.file, _LINE_LIMIT))
            _say(_STDERR if code else _STDOUT, line)
            return code
        _say(_STDOUT, json.dumps(adapter.dump(), ensure_ascii=False))
    except TeaError as error:
        return _failed(str(error), error.exit_code)
    except OSError as error:
        return _failed(f"{error}. Fix: look at its standard input and output.", BadInput.exit_code)
    except KeyboardInterrupt:
        return _failed("Interrupted. Fix: send what was not answered again.", _INTERRUPTED)
    finally:
        adapter.release()
    return 0


def _close_gaps() -> None:
    """Open the closed standard streams on `/dev/null`, so no file of the home gets their numbers and their output."""
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free


class _Parser(argparse.ArgumentParser):
    """A parser reporting command-line errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(_failed(f"{message}. Fix: {self.format_usage().strip()}", BadInput.exit_code))


def _failed(line: str, code: int) -> int:
    with suppress(OSError):  # nobody listens; the exit code tells
        _say(_STDERR, f"crash_adapter: {' '.join(line.split())}")
    return code


def _batch(adapter: Adapter) -> int:
    for line in _lines(_STDIN, adapter.release):
        _say(_STDOUT, adapter.answer(partial(_parsed, line), partial(_salvaged, line))[1])
    return 0


def _parsed(line: bytes) -> JsonValue:
    if len(line) > _LINE_LIMIT:
        raise BadInput(f"The operation has more than {_LINE_LIMIT:,} bytes.", fix="send a smaller payload.")
    return parse_json_strict(line, "The operation")


def _salvaged(line: bytes) -> JsonValue:
    """Return the id in a line of invalid JSON, if it can be found."""
    try:
        return id_of(json.loads(line[:_LINE_LIMIT]))
    except (TeaError, ValueError, RecursionError):
        return "-"


def _lines(descriptor: int, idle: Callable[[], object]) -> Generator[bytes]:
    """Yield the lines of a pipe as they come; before a long wait, call `idle` to release resources.

    Of a line longer than any operation, only so much is kept that it shows.
    """
    rest = bytearray()
    while True:
        if not select.select([descriptor], [], [], _GRACE_SECONDS)[0]:
            idle()
        part = os.read(descriptor, 2**16)
        if not part:
            break
        *ends, begin = part.split(b"\n")
        for end in ends:
            yield bytes(rest + end)
            rest.clear()
        if len(rest) <= _LINE_LIMIT:
            rest += begin
    if rest:
        yield bytes(rest)


def _say(descriptor: int, line: str) -> None:
    data = memoryview(line.encode() + b"\n")
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
