"""Capture: a live tool, environment or agent back to standalone source text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, cast

from tea.components.component import Agent, Environment, Tool
from tea.errors import BadComponent
from tea.source.declared import declared_source
from tea.source.imports import VOCABULARY
from tea.source.live import Piece, definition, functions_of, postpones, statements
from tea.source.names import KNOWN_NAMES, used_names
from tea.source.requires import distribution_of
from tea.source.text import ParsedFile, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A captured source.

    Args:
        source: Its text; imports that the static check knows how to write in may be missing.
        requires: The distributions that its imports come from.
        changes: What was taken along, `with name`.
    """

    source: str
    requires: tuple[str, ...]
    changes: tuple[str, ...]


def captured(found: object) -> Captured:
    """Return the source of a live component with everything it refers to in its module.

    Raises:
        BadComponent: The source is not available, or a name it refers to cannot be written in.
    """
    declared = _declared(found)
    if declared is not None:
        return Captured(source=declared, requires=(), changes=())
    live = _live(found)
    own = definition(live)
    functions = functions_of(live)
    closed = sorted({name for one in functions for name in one.__code__.co_freevars} - {"__class__"})
    if closed:
        raise _lost(live.__name__, closed)
    if isinstance(found, FunctionType):
        own = Piece(file=own.file, line=own.line, text=f"@tool\n{own.text}")
    capture = _Capture(live.__name__, functions[0].__globals__)
    capture.add(live.__name__, own)
    postponed = any(one.__code__.co_flags & annotations.compiler_flag for one in functions)
    return capture.result(postponed=postponed or postpones(functions[0]))


def _declared(found: object) -> str | None:
    """Return the canonical source of an agent without code of its own; its text need not be looked up."""
    if isinstance(found, Agent):
        return declared_source(found)
    is_agent = isinstance(found, type) and issubclass(found, Agent) and found is not Agent
    return declared_source(cast("type[Agent]", found)) if is_agent else None


def _live(found: object) -> FunctionType | type:
    what = found.__name__ if isinstance(found, type) else type(found).__name__
    if isinstance(found, Tool):
        function: Any = cast("Tool[..., Any]", found).function
        return functions_of(function)[0] if isinstance(function, FunctionType) else _live(function)
    if isinstance(found, type) and issubclass(found, Environment | Agent):
        return found
    if isinstance(found, FunctionType):
        if not found.__name__.isidentifier():
            raise refusal("A lambda has no name to be called by.", "write `def NAME(...)`, with a docstring.")
        return found
    raise refusal(
        f"{what!r} is not a component.",
        "give a function, a declared agent, or a class derived from Environment or Agent.",
    )


def _lost(name: str, names: list[str]) -> BadComponent:
    shown = ", ".join(one[:40] for one in names[:8])
    problem = f"{name[:40]!r} refers to a value that cannot be written into its source: {shown}."
    return refusal(problem, "pass them as parameters, or define them at the top level of the same file.")


class _Capture:
    """A capture of one component, following its names through its module, with their live `values`."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self.values = values
        self.imports: dict[str, None] = {}
        self.roots: dict[str, None] = {}
        self.pieces: dict[tuple[str, int, str], Piece] = {}
        self.taken: dict[str, None] = {}
        self.lost: list[str] = []

    def add(self, name: str, piece: Piece) -> None:
        """Add a statement, after everything it refers to."""
        self.taken[name] = None
        for used in sorted(used_names(ParsedFile.read(piece.text))):
            if used in self.values and used not in self.taken and not _is_builtin(used, self.values[used]):
                self.taken[used] = None
                self._take(used, piece.file)
        self.pieces[piece.file, piece.line, piece.text] = piece

    def result(self, *, postponed: bool) -> Captured:
        """Join imports and statements, in the order of their file."""
        if self.lost:
            raise _lost(self.name, self.lost)
        pieces = list(self.pieces.values())
        if len({piece.file for piece in pieces}) == 1:
            pieces.sort(key=lambda piece: piece.line)
        future = ["from __future__ import annotations"] if postponed else []
        head = "\n".join([*future, *sorted(self.imports)])
        return Captured(
            source="\n\n\n".join(filter(None, [head, *(piece.text for piece in pieces)])) + "\n",
            requires=tuple(sorted(self.roots)),
            changes=tuple(f"with {other}" for other in sorted(self.taken) if other != self.name),
        )

    def _take(self, name: str, file: str) -> None:
        found = list(statements(file, self.values, name))
        for one in found:
            if isinstance(one, Piece):
                self.add(name, one)
            else:
                self._import(name, *one)
        if not found:
            self._take_value(name, self.values[name])

    def _take_value(self, name: str, value: Any) -> None:
        """Add a value put into the module by another notebook cell or file."""
        home = getattr(value, "__module__", None)
        own = getattr(value, "__name__", name)
        if isinstance(value, ModuleType):
            self._import(name, name, value.__name__)
        elif isinstance(value, FunctionType | type) and home == self.values.get("__name__"):
            self.add(name, definition(value))
        elif isinstance(home, str) and getattr(sys.modules.get(home), own, None) is value:
            self._import(name, name, f"{home}.{own}")
        elif _is_literal(value):
            self.add(name, Piece(file="", line=0, text=f"{name} = {value!r}"))
        else:
            self.lost.append(name)

    def _import(self, name: str, bound: str, origin: str) -> None:
        module, _, member = origin.rpartition(".")
        if origin.startswith("."):
            package = ".".join(str(self.values.get("__package__") or "").split(".")[: 1 - _level(origin) or None])
            module, _, member = f"{package}.{origin.lstrip('.')}".rpartition(".")
        if bound == origin or (isinstance(self.values[name], ModuleType) and self.values[name].__name__ == origin):
            line, root = f"import {origin}" + (f" as {bound}" if bound != origin else ""), origin.partition(".")[0]
        else:
            root = module.partition(".")[0]
            module = "tea" if root == "tea" and member in VOCABULARY else module
            line = f"from {module} import {member}" + (f" as {bound}" if bound != member else "")
        distribution = None if root == "tea" or root in sys.stdlib_module_names else distribution_of(root)
        if distribution is None and root != "tea" and root not in sys.stdlib_module_names:
            self.lost.append(name)
            return
        self.imports[line] = None
        if distribution:
            self.roots[distribution] = None


def _level(origin: str) -> int:
    return len(origin) - len(origin.lstrip("."))


def _is_builtin(name: str, value: object) -> bool:
    return name in KNOWN_NAMES and (name.startswith("__") or getattr(sys.modules["builtins"], name, None) is value)


def _is_literal(value: object) -> bool:
    try:
        return ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return False
