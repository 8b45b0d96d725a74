"""Bindings: the names bound by statements of a top level or a class body, and by loops in an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def imported(nodes: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield each name bound by the imports among `nodes`, with its origin."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield (
                        alias.asname or alias.name.partition(".")[0],
                        (alias.name if alias.asname else alias.name.partition(".")[0]),
                    )
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    yield alias.asname or alias.name, f"{'.' * level}{module or ''}.{alias.name}"
            case _:
                pass


def bindings(node: ast.stmt) -> Iterator[str]:
    """Yield each name bound by a statement of a top level or a class body."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from (name for name, _ in imported([node]))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name
        case _ if type(node).__name__ == "TypeAlias":
            yield node.__dict__["name"].id
        case _:
            pass


def loop_names(loop: ast.comprehension) -> list[str]:
    """Return the variables of a loop."""
    return [one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)]


def loop_keys(loop: ast.comprehension) -> dict[str, ast.expr]:
    """Return the variable for the keys of a dict, with that dict, in a loop over its items."""
    match loop:
        case ast.comprehension(
            target=ast.Tuple(elts=[ast.Name(id=name), *_]),
            iter=ast.Call(func=ast.Attribute(value=value, attr="items"), args=[]),
        ):
            return {name: value}
        case _:
            return {}


def zipped_keys(node: ast.expr) -> ast.expr:
    """Return the expression of the keys of a dict made of zipped keys and values; any other expression itself."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[keys, *_]):
            return keys
        case _:
            return node
