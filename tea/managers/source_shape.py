"""The top level of a component's file: imports, definitions and constants, and nothing that does work."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tea.managers.source_names import Names
from tea.managers.source_text import ParsedFile, words
from tea.managers.source_values import impure_part

DECORATORS = words(
    """
    abc.abstractmethod classmethod contextlib.asynccontextmanager contextlib.contextmanager
    dataclasses.dataclass enum.unique functools.cache functools.cached_property functools.lru_cache
    functools.total_ordering property pydantic.computed_field pydantic.field_validator pydantic.model_validator
    staticmethod tea.action tea.tool typing.final typing.overload typing.runtime_checkable
    typing_extensions.override
    """
)
_PROPERTY_PARTS = frozenset({"setter", "getter", "deleter"})
_HOOKS = frozenset(
    {"__class_getitem__", "__init_subclass__", "__prepare__", "__set_name__"}
)  # run while a class is made


def check_shape(file: ParsedFile, names: Names) -> None:
    """Refuse a file whose top level does more than import, define and name constants.

    Decorators are those of `DECORATORS` and a property's own; defaults, base classes, annotations and class bodies are
    held to the same rule as constants, because they too are evaluated when the file is imported.

    Raises:
        BadComponent: A statement does work; the error names its line.
    """
    _check_body(file, names, file.tree.body)


def _check_body(file: ParsedFile, names: Names, body: Sequence[ast.stmt]) -> None:
    for node in body:
        _check_statement(file, names, node)


def _check_statement(file: ParsedFile, names: Names, node: ast.stmt) -> None:
    match node:
        case ast.Import() | ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
            pass
        case ast.ImportFrom(names=imported):
            if imported[0].name == "*":
                raise file.refuse("imports everything with *.", "import each name.", node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _check_function(file, names, node)
        case ast.ClassDef():
            _check_class(file, names, node)
        case ast.Assign(targets=targets, value=value):
            _check_targets(file, targets)
            _check_values(file, names, [value])
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            _check_targets(file, [target])
            _check_values(file, names, [annotation, value])
        case ast.If(test=test, body=body, orelse=[]) if names.origin(test) == "typing.TYPE_CHECKING":
            _check_imports_only(file, body)
        case _ if type(node).__name__ == "TypeAlias":
            _check_values(file, names, [node.__dict__["value"]])
        case _:
            raise _work(file, node)


def _check_function(file: ParsedFile, names: Names, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    _check_decorators(file, names, node.decorator_list)
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [one.annotation for one in every if one is not None]
    _check_values(file, names, [*given.defaults, *given.kw_defaults, *annotations, node.returns])


def _check_class(file: ParsedFile, names: Names, node: ast.ClassDef) -> None:
    _check_decorators(file, names, node.decorator_list)
    for keyword in node.keywords:
        if keyword.arg == "metaclass" and names.origin(keyword.value) not in ("abc.ABCMeta", "enum.EnumMeta"):
            raise file.refuse("a class has a metaclass.", "derive from ordinary classes.", node)
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name in _HOOKS:
            raise file.refuse(f"{inner.name} runs while the file is imported.", "do without it.", inner)
    _check_values(file, names, [*node.bases, *(keyword.value for keyword in node.keywords)])
    _check_body(file, names, node.body)


def _check_decorators(file: ParsedFile, names: Names, decorators: Sequence[ast.expr]) -> None:
    for node in decorators:
        called = node.func if isinstance(node, ast.Call) else node
        own = (
            isinstance(called, ast.Attribute) and called.attr in _PROPERTY_PARTS and isinstance(called.value, ast.Name)
        )
        if names.origin(called) not in DECORATORS and not own:
            problem = f"the decorator {ast.unparse(called)[:60]} would run while the file is imported."
            raise file.refuse(
                problem, "use tool, action, dataclass, property, cache or another of the standard library.", node
            )
        if isinstance(node, ast.Call):
            _check_values(file, names, [*node.args, *(keyword.value for keyword in node.keywords)])


def _check_targets(file: ParsedFile, targets: Sequence[ast.expr]) -> None:
    for node in targets:
        match node:
            case ast.Name():
                pass
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                _check_targets(file, inner)
            case ast.Starred(value=inner):
                _check_targets(file, [inner])
            case _:
                raise file.refuse("the top level changes something else's attribute.", "name a new constant.", node)


def _check_values(file: ParsedFile, names: Names, values: Sequence[ast.expr | None]) -> None:
    found = impure_part(values, names)
    if found is not None:
        raise _work(file, found)


def _check_imports_only(file: ParsedFile, body: Sequence[ast.stmt]) -> None:
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            raise _work(file, node)


def _work(file: ParsedFile, node: ast.AST) -> Exception:
    what = "a call" if isinstance(node, ast.Call) else f"`{type(node).__name__.lower()}`"
    problem = f"{what} does work at the top level; only imports, definitions and constants may stand there."
    return file.refuse(problem, "move it into a function.", node)
