"""Compiling: the work of Python's compiler for a syntax tree, found without compiling it.

A few lines may stand for gigabytes of code: each way out of a `try` copies its `finally`, and alternatives of a
pattern are put in order one name at a time. The tables of names take the product of functions and names around them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

_MOST_NAMED, _MOST_COPIES, _MOST_FOLDED = 5_000_000, 300_000, 2**25
_MOST_REPEATED, _ELEMENT = 4_096, 8  # the longest text made by `*` before a run, and the bytes of a tuple's element
_LARGE = 2**61 - 1  # whole numbers from here on may share their hash, and the compiler collects constants by it
_PATTERN_STEPS, _LARGE_STEPS = 8, 32  # of the cube of names in a pattern, and the square of large numbers, for one node
_ALIKE = 10  # elements, either -1 or -2, from which many different tuples with the same hash can be made
_PAIRS = 32  # of keywords that are compared in the time of one node
_LEAVING = {ast.With: 8, ast.AsyncWith: 20}  # instructions to leave one context, on each way out
_EXITS = (ast.Break, ast.Continue, ast.Return)
_FUNCTIONS = (ast.AsyncFunctionDef, ast.FunctionDef, ast.Lambda)
_LOOPS = (ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp)
_COPIED = (ast.match_case, *_LEAVING)
_PARAMETERS = tuple(
    getattr(ast, one) for one in ("ParamSpec", "TypeAlias", "TypeVar", "TypeVarTuple") if hasattr(ast, one)
)
_SCOPES = (*_FUNCTIONS, *_LOOPS, *_PARAMETERS, ast.ClassDef)
# Blocks in each other: newer compilers crash where a loop of an expression lies in more than these.
_MOST_BLOCKS = 20
_UNBOUND = (ast.Attribute, ast.Constant, ast.keyword)  # their texts name nothing in a scope


def is_short_code(nodes: Sequence[ast.AST]) -> bool:
    """Return whether the compiler makes little code of a tree, and compares few of its constants.

    Args:
        nodes: Those of the tree, each after the one around it.
    """
    copying = any(isinstance(node, _COPIED) or getattr(node, "finalbody", None) for node in nodes)
    made = _copied(nodes) if copying else len(nodes)
    compared = _large(nodes) ** 2 // _LARGE_STEPS + sum(_keywords(node) ** 2 for node in nodes) // _PAIRS
    return made + compared <= _MOST_COPIES + 2 * len(nodes) and _folded(nodes) <= _MOST_FOLDED


def is_few_names(nodes: Sequence[ast.AST]) -> bool:
    """Return whether the tables of names of a tree are made fast.

    Args:
        nodes: Those of the tree, the whole first.
    """
    scopes = sum(isinstance(node, _SCOPES) for node in nodes)
    declared = sum(len(node.names) for node in nodes if isinstance(node, ast.Global | ast.Nonlocal))
    return 3 * scopes * (len(nodes) + declared) <= _MOST_NAMED or _named(nodes[0]) <= _MOST_NAMED


def is_shallow(nodes: Sequence[ast.AST]) -> bool:
    """Return whether each loop of an expression lies in few others, and in few blocks.

    Args:
        nodes: Those of the tree, each after the one around it.
    """
    if sum(map(_blocks, nodes)) <= _MOST_BLOCKS:
        return True
    around = dict[int, int]()
    for node in nodes:
        depth = around.get(id(node), 0) + _blocks(node)
        if depth > _MOST_BLOCKS and isinstance(node, _LOOPS):
            return False
        inner = set(map(id, ast.iter_child_nodes(node))) if depth else set[int]()
        if inner and isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            inner -= set(map(id, node.body if isinstance(node.body, list) else [node.body]))
        around.update(dict.fromkeys(inner, depth))
    return True


def _copied(nodes: Sequence[ast.AST]) -> int:
    """Return how many nodes the compiler handles for a tree at most, each copy counted."""
    sizes, exits, captures = dict[int, int](), dict[int, int](), dict[int, int]()

    def total(measure: dict[int, int], some: Iterable[ast.AST]) -> int:
        return sum(measure[id(one)] for one in some)

    for node in reversed(nodes):
        inner = [*ast.iter_child_nodes(node)]
        size, ways = 1 + total(sizes, inner), int(isinstance(node, _EXITS)) + total(exits, inner)
        held = total(captures, inner) + _is_capture(node)
        if copied := getattr(node, "finalbody", None):
            copies = 1 + ways - total(exits, copied)
            size += copies * total(sizes, copied)
            ways += copies * total(exits, copied)
        if isinstance(node, ast.With | ast.AsyncWith):
            size += ways * len(node.items) * _LEAVING[type(node)]
        if isinstance(node, ast.match_case):
            size, held = size + held**3 // _PATTERN_STEPS, 0
        sizes[id(node)], captures[id(node)] = size, held
        exits[id(node)] = 0 if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else ways
    return sizes[id(nodes[0])]


def _blocks(node: ast.AST) -> int:
    """Return how many more blocks lie around a part than around its parent, at most."""
    match node:
        case ast.With(items=held) | ast.AsyncWith(items=held):
            return len(held)
        case ast.Try() | ast.TryStar():
            return 3
        case _:
            return int(isinstance(node, (*_LOOPS, ast.AsyncFor, ast.For, ast.While)))


def _named(tree: ast.AST) -> int:
    """Return how often names are copied at most: for each scope in another, all those around it."""
    names, parents, inside = [set[str]()], [0], [0]
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    bodies = {0: False}
    for node, at in waiting:
        if isinstance(node, _SCOPES):
            inside[at] += 1
            names.append(set())
            parents.append(at)
            inside.append(0)
            bodies[at := len(parents) - 1] = not isinstance(node, ast.ClassDef)
        if not isinstance(node, _UNBOUND):
            texts = {text for value in vars(node).values() for text in _texts(value)}
            names[at] |= texts
            if bodies[parents[at]] or isinstance(node, _SCOPES):  # so that a default, or a name, counts outside too
                names[parents[at]] |= texts
        waiting += [(one, at) for one in ast.iter_child_nodes(node)]
    work, around = 0, [0] * len(names)
    for at, own in enumerate(names):
        around[at] = len(own) + (around[parents[at]] if parents[at] else 0)
        work += inside[at] * max(around[at], inside[at] // 8)
    return work


def _texts(value: object) -> Iterable[str]:
    held = cast("list[object]", value) if isinstance(value, list) else [value]
    return (one for one in held if isinstance(one, str))


def _is_capture(node: ast.AST) -> int:
    named = isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
    return int(bool(named) or (isinstance(node, ast.MatchMapping) and bool(node.rest)))


def _large(nodes: Sequence[ast.AST]) -> int:
    """Return how many constants may share one hash: large numbers, those worked out, and tuples of -1 and -2."""
    count, alike = 0, dict[int, int]()
    for node in reversed(nodes):
        match node:
            case ast.Constant(value=int() as value) if value >= _LARGE:
                count += 1
            case ast.BinOp(left=ast.Constant(value=int() | float() | complex())):
                count += isinstance(node.right, ast.Constant | ast.BinOp | ast.UnaryOp)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as value)):
                alike[id(node)] = int(value in (1, 2))
            case ast.Tuple():
                alike[id(node)] = sum(alike.get(id(one), 0) for one in node.elts)
                count += alike[id(node)] >= _ALIKE
            case _:
                pass
    return count


def _keywords(node: ast.AST) -> int:
    """Return how many names of keywords of a node are compared with each other."""
    match node:
        case ast.Call() | ast.ClassDef():
            return len(node.keywords)
        case ast.MatchClass():
            return len(node.kwd_attrs)
        case _:
            return 0


def _folded(nodes: Sequence[ast.AST]) -> int:
    """Return the bytes of all texts and tuples put together by the compiler, each held until its end."""
    sizes, made = dict[int, int](), 0
    for node in reversed(nodes):
        match node:
            case ast.Constant(value=str() | bytes() as value):
                size = len(value)
            case ast.Tuple():
                size = _ELEMENT * len(node.elts)
            case ast.BinOp(op=ast.Add()):
                size = sizes.get(id(node.left), 0) + sizes.get(id(node.right), 0)
            case ast.BinOp(op=ast.Mult()):
                size = _repeated(node, sizes)
            case _:
                continue
        sizes[id(node)] = size
        made += size if isinstance(node, ast.BinOp) else 0
    return made


def _repeated(node: ast.BinOp, sizes: Mapping[int, int]) -> int:
    """Return the size of a text or tuple repeated by the compiler, 0 if it is too long for repeating."""
    size = sizes.get(id(node.left), 0) or sizes.get(id(node.right), 0)
    times = node.right if id(node.left) in sizes else node.left
    if size and isinstance(times, ast.Constant) and isinstance(times.value, int):
        size *= times.value
        return size if 0 <= size <= _MOST_REPEATED else 0
    return _MOST_REPEATED if size else 0
