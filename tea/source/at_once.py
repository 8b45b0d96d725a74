"""Annotations evaluated at once, also in files with postponed ones.

`from __future__ import annotations` leaves texts behind, which libraries evaluate later, among names of other files, of
derived classes and of their own functions. So a component's annotations are evaluated with the definitions around them.
An annotation with a name defined later becomes a text, and is held to the rule of texts.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from tea.source.bindings import bindings

_HOLDING = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_BUILTINS = frozenset(dir(builtins))

_Bound = tuple[set[str], ...]  # the names bound so far at the top level, in a class, and as type parameters


def evaluated_at_once(tree: ast.Module) -> ast.Module:
    """Return a file's tree with postponed annotations evaluated at once, changed in place; any other as it is."""
    if not is_postponed(tree):
        return tree
    bound = set(_BUILTINS)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and _postpones(node):
            for one in node.names:
                one.name, one.asname = "generator_stop", one.asname or one.name  # it is always on
        _evaluate_annotations(node, bound, set())
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


def _evaluate_annotations(node: ast.stmt, around: set[str], own: set[str]) -> None:
    """Change the annotations of a statement of the top level or of a class.

    Args:
        node: The statement.
        around: Names bound at the top level before it.
        own: Names bound in its class before it.
    """
    match node:
        case ast.AnnAssign(annotation=annotation):
            node.annotation = _evaluated(annotation, (around, own))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _evaluate_signature(node, (around, own, _parameters(node)))
            inner = [one for part in node.body for one in ast.walk(part)]
            for one in inner:
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    _evaluate_signature(one, ())
        case ast.ClassDef():
            known = _parameters(node)
            for one in node.body:
                _evaluate_annotations(one, around, known)
                known.update(bindings(one))
        case _:
            pass


def _evaluate_signature(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: _Bound) -> None:
    for one in _arguments(node.args):
        if one.annotation is not None:
            one.annotation = _evaluated(one.annotation, bound)
    if node.returns is not None:
        node.returns = _evaluated(node.returns, bound)


def _arguments(given: ast.arguments) -> Iterator[ast.arg]:
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)
    yield from (one for one in (given.vararg, given.kwarg) if one is not None)


def _parameters(node: ast.AST) -> set[str]:
    """Return the names of type parameters, present only on newer Pythons."""
    return {one.name for one in getattr(node, "type_params", ())}


def _evaluated(node: ast.expr, bound: _Bound) -> ast.expr:
    """Return an annotation of names bound by now, with texts in place of types with later names.

    Each part is looked at once, however deeply it is nested.
    """
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in _HOLDING and _are_bound(
            [node.value], bound
        ):
            if isinstance(inner, ast.Tuple):
                inner.elts = [_evaluated(one, bound) for one in inner.elts]
            else:
                node.slice = _evaluated(inner, bound)
            return node
        case ast.Subscript(
            value=ast.Name(id="Annotated") | ast.Attribute(attr="Annotated") as value, slice=ast.Tuple() as inner
        ) if _are_bound([value, *inner.elts[1:]], bound):
            inner.elts[:1] = [_evaluated(one, bound) for one in inner.elts[:1]]
            return node
        case _:
            return node if _are_bound([node], bound) else ast.copy_location(ast.Constant(ast.unparse(node)), node)


def _are_bound(nodes: Iterable[ast.expr], bound: _Bound) -> bool:
    """Return whether all names in some expressions are bound."""
    names = (one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return all(any(name in one for one in bound) for name in names)
