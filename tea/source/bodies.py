"""Bodies of functions, left out of a source executed to be described."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import cast

_FUNCTIONS = (ast.AsyncFunctionDef, ast.FunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


def without_bodies(tree: ast.Module) -> ast.Module:
    """Return a file's tree with functions without their bodies, raising when called, changed in place.

    Signatures, documentation, decorators and kinds (`async`, generators) stay; a `lambda` gives None. No name stands in
    what is left, as a source may bind any.
    """
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            node.body = [*_documentation(node), _raising(node), *([_yielding(node)] if _yields(node) else [])]
        elif isinstance(node, ast.Lambda):
            node.body = ast.copy_location(ast.Constant(None), node.body)
    return tree


def _documentation(node: ast.AsyncFunctionDef | ast.FunctionDef) -> list[ast.stmt]:
    return node.body[:1] if ast.get_docstring(node, clean=False) is not None else []


def _raising(node: ast.AsyncFunctionDef | ast.FunctionDef) -> ast.stmt:
    problem = ast.Constant(f"{node.name} is called while it is described")
    return _located(ast.Assert(test=ast.Constant(False), msg=problem), node)


def _yielding(node: ast.AST) -> ast.stmt:
    return _located(ast.Expr(ast.Yield()), node)


def _located(made: ast.stmt, node: ast.AST) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _yields(node: ast.AsyncFunctionDef | ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for part in node.body for one in _own(part))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement in the scope of its function, so also defaults and decorators of inner ones."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += _around_body(one) if isinstance(one, _SCOPES) else ast.iter_child_nodes(one)


def _around_body(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a function or a class evaluated by its definition."""
    for name, value in ast.iter_fields(node):
        parts = cast("list[object]", value) if isinstance(value, list) else [value]
        yield from (one for one in parts if name != "body" and isinstance(one, ast.AST))
