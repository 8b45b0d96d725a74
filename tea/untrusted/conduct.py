"""Conduct: the rules for the source of a generated tool; nothing of it is executed.

The sandbox is the wall. This refuses what no tool for data needs, so that a fault is named before a test can miss it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tea.source.text import ParsedFile

_NETWORK = "asyncore ftplib http httpx imaplib poplib requests smtplib socket socketserver ssl telnetlib urllib xmlrpc"
_PROCESSES = "_thread concurrent ctypes fcntl multiprocessing os.fork pty resource signal subprocess threading"
_MACHINE = "builtins gc getpass glob importlib inspect marshal pickle platform pwd runpy shelve shutil sys tempfile"
_MODULES: dict[str, str] = {
    **dict.fromkeys(_NETWORK.split(), "uses the network"),
    **dict.fromkeys(_PROCESSES.split(), "starts processes or threads"),
    **dict.fromkeys(_MACHINE.split(), "reaches into the machine"),
}
_ALLOWED_PARTS = frozenset({"urllib.parse", "http.HTTPStatus", "http"})
_CALLS: dict[str, str] = {
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), "executes text"),
    **dict.fromkeys(("globals", "locals", "vars", "setattr", "delattr", "breakpoint"), "reaches into its own module"),
    "input": "reads from a terminal",
    "print": "prints, which nobody sees",
}
_SLEEPS = frozenset({"time.sleep", "asyncio.sleep"})
_OS_PARTS = frozenset({"os.path", "os.linesep", "os.sep"})


def conduct_fault(source: str, name: str) -> str:
    """Return the broken rule of a generated tool's source, in one line; empty for none.

    Args:
        source: Its main file, which was checked.
        name: The name of the tool.
    """
    tree = ParsedFile.read(source).tree
    origins = dict(_imports(tree))
    for node in ast.walk(tree):
        if fault := _fault(node, origins):
            return f"line {getattr(node, 'lineno', 1)} {fault}"
    function = next((one for one in tree.body if isinstance(one, _FUNCTIONS) and one.name == name), None)
    return "" if function is None else _unused(function)


_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def _fault(node: ast.AST, origins: dict[str, str]) -> str:
    match node:
        case ast.Import() | ast.ImportFrom():
            return next((fault for one in _imported(node) if (fault := _module_fault(one))), "")
        case ast.Global() | ast.Nonlocal():
            return f"changes {node.names[0]!r} from inside a function, so calls depend on each other"
        case ast.Name(id=called) if called in _CALLS and called not in origins:
            return f"calls {called!r}: it {_CALLS[called]}"
        case ast.Attribute():
            return _attribute_fault(_dotted(node, origins))
        case _:
            return ""


def _module_fault(module: str) -> str:
    parts = module.split(".")
    if ".".join(parts[:2]) in _ALLOWED_PARTS:
        return ""
    why = _MODULES.get(parts[0])
    return f"imports {module!r}: it {why}" if why else _attribute_fault(module)


def _attribute_fault(dotted: str) -> str:
    if dotted in _SLEEPS:
        return f"uses {dotted!r}: it waits"
    if dotted.startswith("os.") and ".".join(dotted.split(".")[:2]) not in _OS_PARTS:
        return f"uses {dotted!r}: it reaches into the machine"
    if dotted.startswith("asyncio.") and dotted.split(".")[1] in (
        "subprocess",
        "create_subprocess_exec",
        "open_connection",
    ):
        return f"uses {dotted!r}: it starts processes or uses the network"
    return ""


def _unused(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return an unread parameter of a function."""
    given = function.args
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return next((f"ignores its argument {name!r}" for name in names if name not in used), "")


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the full names of imported ones, as `os.path` for `from os import path`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    first = one.name.partition(".")[0]
                    yield (one.asname, one.name) if one.asname else (first, first)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((one.asname or one.name, f"{module}.{one.name}") for one in names)
            case _:
                pass


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [f"{node.module}.{one.name}" for one in node.names]


def _dotted(node: ast.Attribute, origins: dict[str, str]) -> str:
    """Return an attribute by its full name, `os.fork` for `o.fork` after `import os as o`."""
    parts, at = [node.attr], node.value
    while isinstance(at, ast.Attribute):
        parts.append(at.attr)
        at = at.value
    first = origins.get(at.id, "") if isinstance(at, ast.Name) else ""
    return ".".join([first, *reversed(parts)]) if first else ""
