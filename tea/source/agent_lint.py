"""The check of an agent's source for obstacles to replay: time, chance, input and output, hidden state.

A lint finds honest mistakes; it is not a boundary against source that means harm.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeGuard

from tea.source.bindings import bindings, imported
from tea.source.names import Names, used_names
from tea.source.reach import AGENT_MODULES
from tea.source.text import ParsedFile, words

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
    **dict.fromkeys(("getattr", "setattr", "delattr"), "name the attribute, `x.name`, or keep values in a dict."),
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "globals", "locals", "vars"), _CODE),
    **dict.fromkeys(("__builtins__", "__loader__", "__spec__"), _CODE),
}
_ATTRIBUTES = words(
    """
    __base__ __bases__ __builtins__ __class__ __closure__ __code__ __dict__ __func__ __getattribute__ __globals__
    __loader__ __mro__ __self__ __spec__ __subclasses__ __wrapped__ cr_frame f_back f_builtins f_globals f_locals
    gi_frame tb_frame
    """
)
_INSTEAD_OF_MEMBERS = {
    "operator.attrgetter": "name the attribute, `x.name`.",
    "operator.methodcaller": "call the method, `x.method()`.",
}
_OF_PYDANTIC = words("BaseModel ConfigDict Field computed_field field_validator model_validator")
_UNORDERED_USES = frozenset({"sorted", "len"})
_SORTED = "use dict.fromkeys(...), or sorted(...) around it: a set's order differs from run to run."
_KEPT = "a value that can change, shared by all runs, would make a replay differ"
_DECLARED = words("agents competencies environments metadata objectives output relations tools")
_CHANGES = words("add append clear discard extend insert pop popitem remove reverse setdefault sort update")


def lint_agent(file: ParsedFile, names: Names) -> None:
    """Raise BadComponent for an agent's file with work a replay would not repeat.

    Raises:
        BadComponent: With the line, and what to use instead.
    """
    _check_builtins(file)
    modules = {name: origin for name, origin in _all_imports(file.tree) if origin in AGENT_MODULES}
    _check_kept(file, names)
    _check_sets(file, names)
    _check_aliases(file, modules)
    for node in file.nodes:
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
            case ast.Attribute(value=ast.Name(id="ctx"), attr="path"):
                raise file.refuse("agents do not use ctx.path.", "reach files through tools and environments.", node)
            case ast.Attribute(attr="samples") if "statistics" in modules.values():
                raise file.refuse("agents do not draw samples.", "use ctx.random.", node)
            case _:
                pass


def _check_builtins(file: ParsedFile) -> None:
    for name in sorted(used_names(file) & set(_BUILTINS)):
        uses = [node for node in file.nodes if isinstance(node, ast.Name) and node.id == name]
        raise file.refuse(f"agents do not use {name}.", _BUILTINS[name], min(uses, key=lambda node: node.lineno))


def _check_member(file: ParsedFile, module: str, member: str, node: ast.AST) -> None:
    """Raise BadComponent for an undeclared member of a pure module, for example `json.codecs`."""
    if f"{module}.{member}" in _INSTEAD_OF_MEMBERS:
        raise file.refuse(f"agents do not use {module}.{member}.", _INSTEAD_OF_MEMBERS[f"{module}.{member}"], node)
    if module == "pydantic" and member not in _OF_PYDANTIC:
        fix = f"take {', '.join(sorted(_OF_PYDANTIC))} for the types of answers."
        raise file.refuse(f"agents do not use pydantic.{member[:40]}.", fix, node)
    holder = import_module(module)
    found = getattr(holder, member, None)
    if f"{module}.{member}" == "collections.abc":
        return
    if isinstance(found, ModuleType):
        raise file.refuse(f"agents do not use {module}.{member[:40]}, a module inside of another.", _CODE, node)
    public: Collection[str] = getattr(holder, "__all__", ())
    if member.startswith("_") or (public and hasattr(holder, member) and member not in public):
        raise file.refuse(f"{module}.{member[:40]} is not public.", f"use the public names of {module}.", node)


def _all_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    return imported([node for node in ast.walk(tree) if isinstance(node, ast.stmt)])


def _check_aliases(file: ParsedFile, modules: Mapping[str, str]) -> None:
    """Raise BadComponent for modules under other names, and changes to a module, a class or a constant of the file."""
    shared = set(modules) | {node.name for node in file.tree.body if isinstance(node, ast.ClassDef)}
    constants = {
        name for node in file.tree.body if isinstance(node, ast.Assign | ast.AnnAssign) for name in bindings(node)
    }
    functions = [node for node in file.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    local = {one.id for function in functions for one in ast.walk(function) if _is_stored(one)}
    local |= {one.arg for one in file.nodes if isinstance(one, ast.arg)}
    read = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
    for node in file.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in modules and name not in local and id(node) not in read:
                raise file.refuse(f"gives the module {name[:40]} another name.", "use it as it is imported.", node)
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in shared - local:
                raise file.refuse(f"changes {name[:40]}, which outlives a run.", "keep it in self.", node)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in constants - local:
                raise file.refuse(f"changes {name[:40]}, which outlives a run.", "keep it in self.", node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=change)) if (
                change in _CHANGES and name in constants - local
            ):
                raise file.refuse(f"changes {name[:40]}, which outlives a run.", "keep it in self.", node)
            case _:
                pass


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _check_kept(file: ParsedFile, names: Names) -> None:
    """Raise BadComponent for values of a class or a default argument kept from one run to the next."""
    for node in file.nodes:
        kept: list[ast.expr | None] = []
        match node:
            case ast.ClassDef(body=body):
                values = [one for one in body if isinstance(one, ast.Assign | ast.AnnAssign)]
                declared = _DECLARED if node.bases else frozenset[str]()  # by an agent, which has a base
                kept = [one.value for one in values if not declared.issuperset(bindings(one))]
            case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given) | ast.Lambda(args=given):
                kept = [*given.defaults, *given.kw_defaults]
            case _:
                pass
        for value in kept:
            if value is not None and _is_mutable(value, names):
                raise file.refuse(f"{_KEPT}.", "make it in __init__ or run, or write a tuple.", value)


def _is_mutable(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Tuple(elts=inner):
            return any(_is_mutable(one, names) for one in inner)
        case ast.Call(func=function):
            return names.origin(function) in ("dict", "list", "set")
        case _:
            return False


def _check_sets(file: ParsedFile, names: Names) -> None:
    """Raise BadComponent for sets outside order-independent places: `sorted`, `len`, and the right of `in`."""
    fine: set[int] = set()
    for node in file.nodes:
        for one in _unordered_places(node, names):
            fine.update(map(id, _operands(one, names)))
    for node in file.nodes:
        if isinstance(node, ast.expr) and _is_set(node, names) and id(node) not in fine:
            raise file.refuse("agents keep no sets.", _SORTED, node)


def _unordered_places(node: ast.AST, names: Names) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=function, args=[first, *_]) if names.origin(function) in _UNORDERED_USES:
            yield first
        case ast.Compare(ops=operators, comparators=right):
            for operator, one in zip(operators, right, strict=True):
                if isinstance(operator, ast.In | ast.NotIn):
                    yield one
        case _:
            pass


def _operands(node: ast.expr, names: Names) -> Iterator[ast.expr]:
    """Yield the sets in an expression: `set(a) & {b}` contains two."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (*_operands(left, names), *_operands(right, names))
        case ast.Call(args=[first, *_]) if _is_set(node, names):
            yield from (node, *_operands(first, names))
        case _:
            yield node


def _is_set(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=function):
            return names.origin(function) in ("set", "frozenset")
        case _:
            return False
