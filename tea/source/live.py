"""The text behind live functions and classes: in files, notebook cells, and all sources known to `linecache`."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any, cast

from tea.errors import BadComponent
from tea.source.bindings import imported
from tea.source.names import Definition
from tea.source.text import ParsedFile, first_line, refusal

_MOST_READ = 8  # files kept parsed; a program's functions lie in few


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A top-level statement of a captured source.

    Args:
        file: Where it comes from; empty for text that was made up from a value.
        line: Its first line there.
        text: Its text, without indentation.
    """

    file: str
    line: int
    text: str


def functions_of(live: FunctionType | type) -> list[FunctionType]:
    """Return a function itself, or all functions defined in a class's own body."""
    if isinstance(live, FunctionType):
        return [inspect.unwrap(cast("Callable[..., Any]", live), stop=_is_last)]  # pyright: ignore[reportReturnType]
    found = [one for value in vars(live).values() for one in _plain(value)]
    return [one for one in found if one.__qualname__.startswith(f"{live.__qualname__}.") and _lines(one)]


def definition(live: FunctionType | type) -> Piece:
    """Return the statement defining a live function or class.

    Raises:
        BadComponent: Its source is not available, for example because it was typed into a bare prompt.
    """
    functions = functions_of(live)
    if functions:
        code = functions[0].__code__
        lines = _lines(functions[0])
        kinds = ast.ClassDef if isinstance(live, type) else (ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(_parsed(code.co_filename, lines).tree) if lines else ():
            if isinstance(node, kinds) and node.name == live.__name__ and _holds(node, code.co_firstlineno, live):
                return _piece(code.co_filename, lines, node)
    problem = f"The source of {live.__name__[:60]!r} is not available."
    raise refusal(problem, "write it in a file or a notebook cell, or register its source text.")


def postpones(function: FunctionType) -> bool:
    """Return whether the text of a function's file postpones annotations, though it may be executed without."""
    return _parsed(function.__code__.co_filename, _lines(function)).postponed


def statements(filename: str, values: Mapping[str, Any], name: str) -> Iterator[Piece | tuple[str, str]]:
    """Yield the bindings of `name` at the top level of a file: statements, and for imports their origins."""
    lines = linecache.getlines(filename, dict(values))
    if not lines:
        return
    for node in _parsed(filename, lines).tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((own, origin) for own, origin in _whole_imports(node) if own.partition(".")[0] == name)
        elif name in _targets(node):
            yield _piece(filename, lines, node)


def _is_last(function: Any) -> bool:
    return not isinstance(getattr(function, "__wrapped__", None), FunctionType)


def _plain(value: Any) -> Iterator[FunctionType]:
    inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    if isinstance(inner, FunctionType):
        yield from functions_of(inner)


def _lines(function: FunctionType) -> list[str]:
    return linecache.getlines(function.__code__.co_filename, function.__globals__)


def _parsed(filename: str, lines: list[str]) -> ParsedFile:
    try:
        return _read("".join(lines))
    except BadComponent as error:
        problem = f"The file {filename[-60:]!r} cannot be read as Python."
        raise refusal(problem, "register the component's source text instead.") from error


@lru_cache(maxsize=_MOST_READ)
def _read(text: str) -> ParsedFile:
    """Return a parsed file, once for all names looked up in it; nothing changes its tree."""
    return ParsedFile.read(text)


def _holds(node: Definition, line: int, live: FunctionType | type) -> bool:
    first = first_line(node)
    return first <= line <= (node.end_lineno or line) if isinstance(live, type) else first == line


def _piece(filename: str, lines: list[str], node: ast.stmt) -> Piece:
    first = first_line(node)
    inside = {
        line
        for part in ast.walk(node)
        if isinstance(part, ast.Constant | ast.JoinedStr)
        for line in range(part.lineno + 1, (part.end_lineno or part.lineno) + 1)
    }  # the text of strings keeps its indentation
    margin = " " * node.col_offset
    taken = [
        line if number in inside else line.removeprefix(margin).removeprefix("\t" * node.col_offset)
        for number, line in enumerate(lines[first - 1 : node.end_lineno], start=first)
    ]
    return Piece(file=filename, line=first, text="".join(taken).rstrip("\n"))


def _whole_imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield names with origins; `import os.path` keeps its path, `("os.path", "os.path")`."""
    if isinstance(node, ast.Import):
        yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
    else:
        yield from imported([node])


def _targets(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
        case _ if type(node).__name__ == "TypeAlias":
            return {node.__dict__["name"].id}
        case _:
            return set()
