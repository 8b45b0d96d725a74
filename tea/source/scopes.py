"""Scopes: names resolved by Python in a class otherwise than they read, so none of them is taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tea.source.bindings import bindings
from tea.source.names import KNOWN_NAMES, MANGLED, Names
from tea.source.text import ParsedFile


def check_scopes(file: ParsedFile, names: Names) -> None:
    """Raise BadComponent for a name with possibly another meaning to Python.

    A class body sees its own names, but only behind what binds them, and its comprehensions and lambdas see those of
    the file; names that begin with two underscores are changed in it. A builtin name that the file binds is Python's
    own until then. A property is one under every name, so a class does not read what it decorates.

    Raises:
        BadComponent: The error names the line.
    """
    shared = names.imports.keys() | names.definitions.keys() | KNOWN_NAMES
    rebound = names.bound & KNOWN_NAMES
    waiting: list[tuple[ast.AST, frozenset[str] | None]] = [(file.tree, None)]
    while waiting:
        node, own = waiting.pop()
        spelled = _spelled(node)
        if isinstance(node, ast.Name) and node.id in rebound and isinstance(node.ctx, ast.Load):
            problem = f"{node.id[:60]!r} is a name that Python defines, and the file binds it anew."
            raise file.refuse(problem, "give yours another name.", node)
        if any(map(MANGLED.match, spelled)) or (own is not None and any(map(_is_private, spelled))):
            problem = f"{spelled[0][:60]!r} stands for another name in a class."
            raise file.refuse(problem, "give it a name that does not begin with underscores.", node)
        if own and isinstance(node, ast.Name) and node.id in own and isinstance(node.ctx, ast.Load):
            problem = f"{node.id[:60]!r} is bound in a class and read in it, where it may stand for something else."
            raise file.refuse(problem, "give what it means there a name of its own.", node)
        if isinstance(node, ast.ClassDef):
            inner = frozenset(shared & {name for one in node.body for name in bindings(one)} | set(_decorated(node)))
            waiting += [(one, inner) for one in node.body]
        waiting += [(one, own) for one in _evaluated(node)]


def _decorated(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names of the decorated functions of a class."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.decorator_list:
            yield one.name


def _spelled(node: ast.AST) -> tuple[str, ...]:
    """Return the names bound or read by a part; those bound privately by a class are its own."""
    match node:
        case ast.Name(id=name, ctx=context):
            return () if isinstance(context, ast.Store) and _is_private(name) else (name,)
        case ast.Attribute(attr=name):
            return (name,)
        case ast.stmt():
            return tuple(name for name in bindings(node) if MANGLED.match(name))
        case _:
            return ()


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a part evaluated beside it: neither the bodies of functions nor those of classes."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from ast.iter_child_nodes(node)
        return
    body = set(map(id, node.body))
    for child in ast.iter_child_nodes(node):
        if id(child) not in body and not _names_a_part(child, node.name):
            yield child


def _names_a_part(node: ast.AST, name: str) -> bool:
    """Return whether a decorator is a part of a function's own property: `@x.setter`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
