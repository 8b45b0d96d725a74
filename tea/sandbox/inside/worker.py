"""The interpreter of a session: runs one piece of Python after the other, and keeps their definitions."""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import site
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import CodeType

from tea.sandbox.inside import frames
from tea.sandbox.inside.show import MOST, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_FIGURES = 20


def serve(channel: int, path: list[str]) -> None:
    """Answer requests until the channel ends.

    Args:
        channel: Where requests come from and answers go to.
        path: Where modules are found beside the standard library.
    """
    sys.path[:] = ["", *sys.path, *(one for one in path if one not in sys.path)]
    forget()
    own, names = os.getpid(), begin()
    count = 0
    kept: dict[str, Any] = {}
    while True:
        try:
            request = frames.read(channel)
        except (frames.Broken, OSError):
            os._exit(0)
        count += 1
        if "hear" in request:
            continue  # it came too late for the call that asked
        if "module" in request:
            reply = converse(request, Line(channel, request["token"]), kept)
            frames.write(channel, {"reply": reply, "token": request["token"]})
            continue
        importlib.invalidate_caches()
        answer = run(request["code"], f"<call {count}>", names)
        if os.getpid() != own:
            os._exit(0)  # a copy that the code made of this process, and that came to the end of the code
        frames.write(channel, {**answer, "token": request["token"]})


def forget() -> None:
    """Remove the modules of tea from `sys.modules`; their places differ inside of the sandbox."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tea"]:
        del sys.modules[name]


def begin() -> dict[str, Any]:
    """Make the main module anew, and return its names, kept from call to call."""
    site.setquit()
    site.sethelper()
    sys.argv = [""]
    names = sys.modules["__main__"].__dict__
    names.clear()
    names.update({"__name__": "__main__", "__builtins__": __builtins__})
    return names


class Line:
    """The channel to the host during one call.

    Args:
        channel: The descriptor that leads there.
        token: Marks what belongs to the call.
        read: Reads a message from it.
        write: Writes one to it.
        new_loop: Makes the event loop of a module; None for the usual one.
    """

    def __init__(
        self,
        channel: int,
        token: str,
        read: Callable[[int], dict[str, Any]] = frames.read,
        write: Callable[[int, object], None] = frames.write,
        new_loop: Callable[[], Any] | None = None,
    ) -> None:
        self.channel, self.new_loop, self._token = channel, new_loop, token
        self._read, self._write = read, write

    def say(self, message: dict[str, Any]) -> None:
        """Send a message to the host."""
        self._write(self.channel, {"say": message, "token": self._token})

    def heard(self) -> dict[str, Any]:
        """Read the host's next message; one of an earlier call is empty."""
        message = self._read(self.channel)
        return message["hear"] if message.get("token") == self._token and "hear" in message else {}


def converse(request: dict[str, Any], line: Line, kept: dict[str, Any]) -> dict[str, Any]:
    """Pass a message of the host to a module, and the module's questions to the host.

    Args:
        request: The name of the module, and the message.
        line: The way to the host.
        kept: What the module keeps from call to call.
    """
    if "" in sys.path:
        sys.path.remove("")  # files of the workspace are not modules of a component
    return importlib.import_module(request["module"]).answer(request["message"], line, kept)


def run(code: str, name: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run one piece of code; return the last value in words, or how it failed.

    Args:
        code: The code.
        name: What tracebacks call it.
        names: What it finds defined, and adds to.
    """
    answer: dict[str, Any] = {}
    try:
        body, last = _compiled(code, name)
        exec(body, names)
        if last is not None and (value := eval(last, names)) is not None:
            names["_"] = value
            answer["result"] = shown(value)
    except SystemExit as end:
        answer["exit"] = end.code if isinstance(end.code, int) else int(end.code is not None)
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException as error:  # whatever the code raises is its answer
        answer["raised"] = type(error).__name__
        _complain(error)
    try:
        _save_figures()
    except Exception as error:
        _complain(error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    return answer


def _compiled(code: str, name: str) -> tuple[CodeType, CodeType | None]:
    """Return code for all but the last expression, and for the last expression."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(end := tree.body[-1], ast.Expr):
        last = compile(ast.Expression(end.value), name, "eval", dont_inherit=True)
        del tree.body[-1]
    return compile(tree, name, "exec", dont_inherit=True), last


def _complain(error: BaseException) -> None:
    """Write the error with the frames of the code, and the last one of a library it ended in."""
    try:
        found = traceback.TracebackException.from_exception(error, limit=None, compact=True)
        _trim(found)
        words = "".join(found.format())
    except BaseException as other:  # its own words may fail, too
        words = f"{type(error).__name__} (its text raises {type(other).__name__})\n"
    if len(words) > 2 * MOST:
        words = f"{words[:MOST]}\n...\n{words[-MOST:]}"
    with suppress(Exception):
        sys.stderr.write(words)


def _trim(found: traceback.TracebackException) -> None:
    """Leave out the frames of this file and those inside of libraries, in the raised error and in its causes."""
    seen: set[int] = set()
    left: list[traceback.TracebackException | None] = [found]
    while left:
        one = left.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            stack = [frame for frame in one.stack if frame.filename != __file__]
            kept = [frame for frame in stack if frame is stack[-1] or _is_of_code(frame.filename)]
            one.stack = traceback.StackSummary.from_list(kept)
            left += [one.__cause__, one.__context__, *(one.exceptions or ())]


def _is_of_code(name: str) -> bool:
    """Return whether a file is a call, or a module of the workspace."""
    if name.startswith("<"):
        return not name.startswith("<frozen ")
    try:
        return os.path.abspath(name).startswith(os.path.join(os.getcwd(), ""))
    except OSError:  # the code removed its folder
        return True


def _save_figures() -> None:
    """Write the open figures of matplotlib into files of the workspace, and close them."""
    plots: Any = sys.modules.get("matplotlib.pyplot")
    if plots is None:
        return
    for number in plots.get_fignums()[:_MOST_FIGURES]:
        index = 1
        while os.path.exists(name := f"figure-{index}.png"):
            index += 1
        plots.figure(number).savefig(name)
    plots.close("all")
