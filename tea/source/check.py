"""The static check of a component's source: everything detectable and refusable before it runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tea.components.component import Component, component_name
from tea.components.docstring import cleaned, read_docstring, require_short
from tea.refs import NAME, Kind
from tea.source.agent_lint import lint_agent
from tea.source.checked import Checked
from tea.source.effort import Effort
from tea.source.facts import check_facts
from tea.source.imports import complete
from tea.source.inheritance import check_inheritance
from tea.source.names import Definition, Names
from tea.source.reach import Reach, check_paths, relative_paths
from tea.source.requires import requirements
from tea.source.shape import check_shape
from tea.source.text import MOST_BYTES, MOST_FILES, ParsedFile, SourceText, refusal

_MOST_ANCESTORS = 50
_BASES: dict[str, Kind] = {"tea.Environment": "environment", "tea.Agent": "agent"}


@dataclass(frozen=True, slots=True)
class _Component:
    kind: Kind
    name: str
    node: Definition
    literals: Mapping[str, Any]


def check_source(
    source: str | bytes, files: Mapping[str, str], kind: Kind | None, requires: Collection[str]
) -> Checked:
    """Read, complete and check a component's source; nothing of it is executed.

    Raises:
        BadComponent: It is not one component that only imports, defines and names constants.
    """
    try:
        return _checked(source, files, kind, requires)
    except (RecursionError, MemoryError):
        raise refusal("The source nests too deeply.", "write simpler expressions.") from None


def outlined(source: str, kind: Kind) -> SourceText:
    """Return the description of a source, from its main file alone; for source checked at its origin.

    Raises:
        BadComponent: It is not one component of that kind.
    """
    main = ParsedFile.outline(source)
    found = _only_component(main, Names.outline(main), kind)
    return SourceText(
        kind=found.kind,
        name=found.name,
        source=main.source,
        description=_description(main, found),
        metadata=found.literals.get("metadata") or {},
    )


def located(text: SourceText) -> Checked:
    """Return the facts needed for loading a source checked before, read without checking it again.

    Raises:
        BadComponent: It is not one component of its kind.
    """
    main = ParsedFile.outline(text.source)
    found = _only_component(main, Names.outline(main), text.kind)
    order = _order({path: ParsedFile.outline(source, path) for path, source in sorted(text.files.items())})
    return Checked(text=replace(text, name=found.name), binding=found.node.name, order=order)


def _checked(source: str | bytes, files: Mapping[str, str], kind: Kind | None, requires: Collection[str]) -> Checked:
    check_paths(files)
    if len(files) > MOST_FILES or len(source) + sum(map(len, files.values())) > MOST_BYTES:
        raise refusal(f"The files are more than {MOST_FILES} or larger than 1 MiB.", "write a smaller component.")
    main, changes = complete(ParsedFile.read(source))
    helpers: dict[str, ParsedFile] = {}
    for path in sorted(files):
        helpers[path], written = complete(ParsedFile.read(files[path], path))
        changes += tuple(f"{path}: {line}" for line in written)
    found = _only_component(main, Names.of(main), kind)
    needed = requirements(main.source, requires)
    reach = Reach.of(found.kind, helpers, needed)
    order = _order(helpers)
    every = (main, *helpers.values())
    effort = Effort(sum(len(file.nodes) for file in every))
    held = list(zip(every, Names.together([*map(Names.of, every)], effort), strict=True))
    for file, names in held:
        _check_file(file, names, reach)
    check_facts(held)
    check_inheritance(held)
    text = SourceText(
        kind=found.kind,
        name=found.name,
        source=main.source,
        files={path: file.source for path, file in helpers.items()},
        requires=needed,
        changes=changes,
        description=_description(main, found),
        metadata=found.literals.get("metadata") or {},
        evolvable=bool(found.literals.get("evolvable", True)),
    )
    return Checked(text=text, binding=found.node.name, order=order)


def _check_file(file: ParsedFile, names: Names, reach: Reach) -> None:
    for node in file.nodes:
        if isinstance(node, Definition):
            require_short(ast.get_docstring(node, clean=False) or "")
    reach.check(file, names)
    check_shape(file, names)
    if reach.kind == "agent":
        lint_agent(file, names)
    if file.path and (extra := next(_components(file, names), None)):
        raise file.refuse(f"{extra.name!r} is a component.", "keep components in main files.", extra.node)


def _only_component(file: ParsedFile, names: Names, kind: Kind | None) -> _Component:
    found = list(_components(file, names))
    if not found:
        fix = "write one `@tool` function (`from tea import tool`), or one class derived from Environment or Agent."
        raise file.refuse("The source defines no component.", fix)
    if len(found) > 1:
        shown = ", ".join(one.name[:40] for one in found[:5])
        raise file.refuse(f"The source defines {len(found)} components: {shown}.", "keep one in each source.")
    (one,) = found
    if kind not in (None, one.kind):
        raise file.refuse(f"{one.name!r} is of kind {one.kind}, not {kind}.", f"register it as {one.kind}.", one.node)
    if not NAME.fullmatch(one.name):
        fix = "use lower-case letters, digits and _, starting with a letter, at most 64."
        raise file.refuse(f"{one.name[:60]!r} is not a name for a component.", fix, one.node)
    return one


def _components(file: ParsedFile, names: Names) -> Iterator[_Component]:
    """Yield each tool, and each class of an environment or agent without subclasses in the file."""
    classes = [node for node in names.definitions.values() if isinstance(node, ast.ClassDef)]
    parents = {
        base.id for node in classes for base in node.bases if isinstance(base, ast.Name) and base.id != node.name
    }
    for node in file.tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if (mark := _tool_mark(node, names)) is not None:
                options = mark.keywords if isinstance(mark, ast.Call) else []
                yield _Component("tool", node.name, node, _literals({one.arg: one.value for one in options}))
            case ast.ClassDef() if node.name not in parents and (kind := _kind_of(node, names)):
                values = _class_values(node, names)
                yield _Component(kind, _class_name(file, node, values), node, _literals(values))
            case _:
                pass


def _tool_mark(node: ast.FunctionDef | ast.AsyncFunctionDef, names: Names) -> ast.expr | None:
    for mark in node.decorator_list:
        if names.origin(mark.func if isinstance(mark, ast.Call) else mark) == "tea.tool":
            return mark
    return None


def _lines_of_descent(node: ast.ClassDef, names: Names) -> Iterator[ast.ClassDef]:
    """Yield a class and its base classes in the same file, nearest first."""
    waiting, seen = [node], set[str]()
    while waiting and len(seen) < _MOST_ANCESTORS:
        found = waiting.pop(0)
        if found.name in seen:
            continue
        seen.add(found.name)
        yield found
        parents = [names.definitions.get(base.id) for base in found.bases if isinstance(base, ast.Name)]
        waiting += [parent for parent in parents if isinstance(parent, ast.ClassDef)]


def _kind_of(node: ast.ClassDef, names: Names) -> Kind | None:
    origins = [names.origin(base) or "" for one in _lines_of_descent(node, names) for base in one.bases]
    return next((_BASES[origin] for origin in origins if origin in _BASES), None)


def _class_values(node: ast.ClassDef, names: Names) -> dict[str | None, ast.expr]:
    values: dict[str | None, ast.expr] = {}
    for one in _lines_of_descent(node, names):
        for statement in one.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values.setdefault(name, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    values.setdefault(name, value)
                case _:
                    pass
    return values


def _class_name(file: ParsedFile, node: ast.ClassDef, values: Mapping[str | None, ast.expr]) -> str:
    declared = values.get("name")
    match declared:
        case None:
            return component_name(type(node.name, (Component,), {}))
        case ast.Constant(value=str() as name) if name:
            return name
        case _:
            raise file.refuse("the component's name is not text.", 'write it out, `name = "..."`.', declared)


def _literals(values: Mapping[str | None, ast.expr]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("metadata", "evolvable"):
        try:
            found[name] = ast.literal_eval(values[name])
        except (KeyError, ValueError, TypeError):
            continue
    return found


def _description(file: ParsedFile, found: _Component) -> str:
    words = cleaned(ast.get_docstring(found.node, clean=False) or "")
    if not words:
        raise file.refuse(
            f"{found.node.name[:60]!r} has no docstring.", "say in one sentence what it is for.", found.node
        )
    if found.kind != "tool":
        return words
    try:
        return read_docstring(words).description
    except ValueError as error:
        problem = f"{found.node.name[:60]!r} has a docstring that cannot be read: {error}."
        raise file.refuse(problem, "write it in Google's style.", found.node) from None


def _order(helpers: Mapping[str, ParsedFile]) -> tuple[str, ...]:
    """Return the helper files, each after those imported at its top level."""
    ordered: list[str] = []
    waiting = dict(helpers)
    needs = {path: _needs(file, helpers) - {path} for path, file in helpers.items()}
    while waiting:
        ready = [path for path in waiting if not needs[path] & waiting.keys()]
        if not ready:
            raise refusal(f"{min(waiting)[:60]!r} and others import each other in a circle.", "break the circle.")
        ordered += ready
        waiting = {path: file for path, file in waiting.items() if path not in ready}
    return tuple(ordered)


def _needs(file: ParsedFile, helpers: Mapping[str, ParsedFile]) -> set[str]:
    imports = [node for node in file.tree.body if isinstance(node, ast.ImportFrom) and node.level]
    there = frozenset(helpers)
    return {path for node in imports for path in relative_paths(file, node, there)}
