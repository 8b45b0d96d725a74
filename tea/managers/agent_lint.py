"""What would keep an agent's run from being replayed: time, chance, input and output, hidden state.

A lint finds honest mistakes; it is no boundary against source that means harm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from tea.managers.source_names import Names, imported, used_names
from tea.managers.source_reach import AGENT_MODULES
from tea.managers.source_text import ParsedFile, words

_CODE = "call a tool that does the work."
_BUILTINS = {
    "print": "use ctx.note.",
    "input": "use ctx.receive.",
    "open": "read and write through a tool or the workspace environment.",
    "id": "compare with `is`, or use ctx.new_id.",
    "hash": "compare the values themselves.",
    "breakpoint": "remove it.",
    "exit": "return a Result.",
    "quit": "return a Result.",
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "globals", "locals", "vars"), _CODE),
    **dict.fromkeys(("__builtins__", "__loader__", "__spec__"), _CODE),
}
_ATTRIBUTES = words(
    """
    __builtins__ __closure__ __code__ __globals__ __loader__ __mro__ __spec__ __subclasses__ cr_frame f_back
    f_builtins f_globals f_locals gi_frame tb_frame
    """
)
_ORDERED = frozenset({"list", "tuple", "enumerate", "iter", "zip", "map", "filter"})
_SORTED = "sort it first: a set's order differs from run to run."


def lint_agent(file: ParsedFile, names: Names) -> None:
    """Refuse a file of an agent that a replay would not repeat.

    Raises:
        BadComponent: With the line, and what to use instead.
    """
    _check_builtins(file)
    modules = {name: origin for name, origin in _all_imports(file.tree) if origin in AGENT_MODULES}
    for node in ast.walk(file.tree):
        match node:
            case ast.Global():
                raise file.refuse("agents keep no global state.", "keep it in self, or in ctx.memory.", node)
            case ast.Attribute(attr=attribute) if attribute in _ATTRIBUTES:
                raise file.refuse(f"agents do not use {attribute}.", _CODE, node)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in modules:
                _check_member(file, modules[name], attribute, node)
            case ast.ImportFrom(module=str() as module, names=members) if module in AGENT_MODULES:
                for alias in members:
                    _check_member(file, module, alias.name, node)
            case _ if any(_is_unordered(one, names) for one in _iterated(node)):
                raise file.refuse("agents do not go through a set in its own order.", _SORTED, node)
            case _:
                pass


def _check_builtins(file: ParsedFile) -> None:
    for name in sorted(used_names(file) & set(_BUILTINS)):
        uses = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and node.id == name]
        raise file.refuse(f"agents do not use {name}.", _BUILTINS[name], min(uses, key=lambda node: node.lineno))


def _check_member(file: ParsedFile, module: str, member: str, node: ast.AST) -> None:
    """Refuse the modules that a pure module happens to hold, for example `json.codecs`."""
    found = getattr(import_module(module), member, None)
    if isinstance(found, ModuleType) and found.__name__ not in AGENT_MODULES | {"collections.abc"}:
        raise file.refuse(f"agents do not use {module}.{member}, a module inside of another.", _CODE, node)


def _all_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    return imported([node for node in ast.walk(tree) if isinstance(node, ast.stmt)])


def _iterated(node: ast.AST) -> Iterator[ast.expr]:
    """Give what this node goes through where the order shows in the result."""
    match node:
        case ast.For(iter=found) | ast.Starred(value=found):
            yield found
        case ast.ListComp(generators=loops) | ast.DictComp(generators=loops):
            yield from (loop.iter for loop in loops)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _ORDERED:
            yield from arguments
        case ast.Call(func=ast.Attribute(attr="join"), args=arguments):
            yield from arguments
        case _:
            pass


def _is_unordered(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.Set(elts=[_, _, *_]) | ast.SetComp():
            return True
        case ast.GeneratorExp(generators=loops):
            return any(_is_unordered(loop.iter, names) for loop in loops)
        case ast.Call(func=function):
            return names.origin(function) in ("set", "frozenset")
        case _:
            return False
