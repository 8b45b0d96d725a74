"""Annotations evaluated at once, also in files with postponed ones.

`from __future__ import annotations` leaves texts behind, which libraries evaluate later, among names of other files, of
derived classes and of their own functions. So a component's annotations are evaluated with the definitions around them.
An annotation with a name defined later becomes a text, and is held to the rule of texts.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tea.source.bindings import bindings

_HOLDING = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_BUILTINS = frozenset(dir(builtins))


def evaluated_at_once(tree: ast.Module) -> ast.Module:
    """Return a file's tree with postponed annotations evaluated at once, changed in place; any other as it is."""
    if not is_postponed(tree):
        return tree
    bound = set(_BUILTINS)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and _postpones(node):
            for one in node.names:
                one.name, one.asname = "generator_stop", one.asname or one.name  # it is always on
        _settle(node, bound, frozenset())
        bound.update(bindings(node))
    return tree


def is_postponed(tree: ast.Module) -> bool:
    """Return whether a file postpones its annotations."""
    return any(map(_postpones, tree.body))


def _postpones(node: ast.stmt) -> bool:
    match node:
        case ast.ImportFrom(module="__future__", names=features):
            return any(one.name == "annotations" for one in features)
        case _:
            return False


def _settle(node: ast.stmt, around: set[str], own: frozenset[str]) -> None:
    """Change the annotations of a statement of the top level or of a class.

    Args:
        node: The statement.
        around: Names bound at the top level before it.
        own: Names bound in its class before it.
    """
    match node:
        case ast.AnnAssign(annotation=annotation):
            node.annotation = _settled(annotation, around | own)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _settle_function(node, around | own | _parameters(node))
            inner = [one for part in node.body for one in ast.walk(part)]
            for one in inner:
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    _settle_function(one, set())
        case ast.ClassDef():
            known = frozenset(_parameters(node))
            for one in node.body:
                _settle(one, around, known)
                known |= frozenset(bindings(one))
        case _:
            pass


def _settle_function(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: set[str]) -> None:
    for one in _arguments(node.args):
        if one.annotation is not None:
            one.annotation = _settled(one.annotation, bound)
    if node.returns is not None:
        node.returns = _settled(node.returns, bound)


def _arguments(given: ast.arguments) -> Iterator[ast.arg]:
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)
    yield from (one for one in (given.vararg, given.kwarg) if one is not None)


def _parameters(node: ast.AST) -> set[str]:
    """Return the names of type parameters, present only on newer Pythons."""
    return {one.name for one in getattr(node, "type_params", ())}


def _settled(node: ast.expr, bound: set[str]) -> ast.expr:
    """Return an annotation of names bound by now, with texts in place of types with later names."""
    if all(one.id in bound for one in ast.walk(node) if isinstance(one, ast.Name)):
        return node
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in _HOLDING & bound:
            parts = inner.elts if isinstance(inner, ast.Tuple | ast.List) else [inner]
            settled = [_settled(one, bound) for one in parts]
            node.slice = ast.copy_location(ast.Tuple(settled, ast.Load()), inner) if len(parts) > 1 else settled[0]
            return node
        case ast.Subscript(
            value=ast.Name(id="Annotated") | ast.Attribute(attr="Annotated"), slice=ast.Tuple() as inner
        ):
            rest = [one.id for part in inner.elts[1:] for one in ast.walk(part) if isinstance(one, ast.Name)]
            if bound.issuperset(rest):
                inner.elts[0] = _settled(inner.elts[0], bound)
                return node
        case _:
            pass
    return ast.copy_location(ast.Constant(ast.unparse(node)), node)
