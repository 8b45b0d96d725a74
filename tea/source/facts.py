"""Facts: plain values read of a component while it is described; reading them runs nothing."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from tea.components.component import Agent, Environment
from tea.source.bindings import bindings
from tea.source.names import Names
from tea.source.text import ParsedFile, words
from tea.source.values import is_plain
from tea.source.weights import MOST, compiled_weight

_ROOTS = frozenset({"tea.Environment", "tea.Agent"})
# Modules with base classes that use nothing of what is in a class while it is made, or what the shape of files refuses.
_QUIET = words("abc builtins collections collections.abc enum tea typing typing_extensions")
_QUIET_CLASSES = words("pydantic.BaseModel pydantic.RootModel")  # others make schemas of what stands in a class
_PATTERNS = words("braceidpattern delimiter idpattern pattern")  # of `string.Template`
_COMPILED = 4  # of what a pattern weighs, compiled in the time of one step
_FACTS = frozenset(
    name
    for kind in (Environment, Agent)
    for one in kind.__mro__
    for name, value in vars(one).items()
    if not name.startswith("_") and not callable(value)
)


def check_facts(files: Sequence[tuple[ParsedFile, Names]]) -> None:
    """Raise BadComponent for a fact of an environment or agent with methods of its source.

    The facts of all classes that may be related to it count, in every file, as it may inherit them. So does all that
    stands in a class derived from one of another module, which may use it while the class is made.

    Raises:
        BadComponent: The error names the line.
    """
    groups = [group for file, names in files for group in _families(file, names)]
    described = _related(groups, _ROOTS)
    obeyed = _related(groups, {name for group in groups for name in group if _is_obeying(name)})
    for file, names in files:
        for node in file.nodes:
            if isinstance(node, ast.ClassDef) and node.name in described | obeyed:
                inside = names.inside(node)
                for inner in node.body:
                    bound = frozenset(bindings(inner))
                    _check_fact(file, inside, inner, bound if node.name in obeyed else bound & _FACTS)
                    if node.name in obeyed and bound & _PATTERNS:
                        _check_pattern(file, inside, inner)


def _is_obeying(name: str) -> bool:
    module, dot, _ = name.rpartition(".")
    return bool(dot) and module not in _QUIET and name not in _QUIET_CLASSES


def _check_fact(file: ParsedFile, names: Names, node: ast.stmt, facts: Collection[str]) -> None:
    if not facts or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if value is None or not is_plain(value, names):
        name = min(facts)
        raise file.refuse(f"{name} is not a plain value.", "write it out, with texts, numbers, lists and dicts.", node)


def _check_pattern(file: ParsedFile, names: Names, node: ast.stmt) -> None:
    """Count the work of compiling a part of a template's pattern, done while its class is made."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        work = compiled_weight(node.value, names)
        if work > MOST:
            raise file.refuse("a pattern of a class takes long to compile.", "write a shorter one.", node)
        names.effort.spend(int(work) // _COMPILED)


def _related(groups: Sequence[frozenset[str]], roots: Collection[str]) -> set[str]:
    """Return the names of all classes connected with some by base classes, taken by name alone."""
    members: dict[str, list[frozenset[str]]] = defaultdict(list)
    for group in groups:
        for name in group:
            members[name].append(group)
    found, waiting = set[str](), list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += frozenset[str]().union(*members.pop(name, ()))
    return found


def _families(file: ParsedFile, names: Names) -> Iterator[frozenset[str]]:
    """Yield each class of a file with its base classes, and each import of the component's own with its name there."""
    for node in file.nodes:
        if isinstance(node, ast.ClassDef):
            plain = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
            yield frozenset({node.name, *(_named(names.origin(base) or f".{ast.unparse(base)}") for base in plain)})
    for name, origin in names.imports.items():
        if origin.startswith("."):
            yield frozenset({name, _named(origin)})


def _named(origin: str) -> str:
    """Return the full name of a class from elsewhere, and the last part of one of the component."""
    return origin.rpartition(".")[2] if origin.startswith(".") else origin
