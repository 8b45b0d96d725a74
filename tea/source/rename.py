"""Renaming a component in its own source, for a copy under another name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tea.components.component import Component, component_name
from tea.errors import BadComponent
from tea.source.text import ParsedFile
from tea.store.files import parse_json_strict
from tea.store.strict import dumps
from tea.types import as_object

_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n")
_FRONT_NAME = re.compile(r"^(name[ \t]*:[ \t]*)[^\r\n]*", re.MULTILINE)
_Edit = tuple[int, int, str]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = _Function | ast.Lambda


def renamed(source: str, files: Mapping[str, str], old: str, new: str) -> tuple[str, dict[str, str]]:
    """Return a component's source and files with another name in them, and otherwise unchanged.

    In Python the function's name, what refers to it, its examples and the folder `_<name>` of its helper files change,
    or the `name` that a class declares; in a prompt the front matter; in a document its `name`.

    Args:
        source: The source, which is known to define `old`.
        files: Its helper files by relative path.
        old: The name it has.
        new: The name it gets.

    Raises:
        BadComponent: It cannot be renamed.
    """
    if source.startswith("{"):
        return _document(source, new), dict(files)
    if _FRONT.match(source):
        return _FRONT_NAME.sub(rf"\g<1>{new}", source, count=1), dict(files)
    folder, wanted = f"_{old}", f"_{new}"
    moved = {_moved(path, folder, wanted): _imports(text, path, folder, wanted) for path, text in files.items()}
    return _imports(_python(source, old, new), "", folder, wanted), moved


def _document(source: str, new: str) -> str:
    data = as_object(parse_json_strict(source.encode(), "The document"))
    indent = 2 if "\n" in source.strip() else None
    return dumps({**data, "name": new}, indent=indent).decode() + source[len(source.rstrip()) :]


def _python(source: str, old: str, new: str) -> str:
    file = ParsedFile.read(source)
    classes = [node for node in file.tree.body if isinstance(node, ast.ClassDef)]
    functions = [node for node in file.tree.body if isinstance(node, _Function) and node.name == old]
    if functions and functions[0].decorator_list:
        return _changed(file.source, _function_edits(file, functions[0], old, new))
    named = [(node, _declared(node)) for node in classes]
    for value in (value for _, value in named if value is not None and value.value == old):
        return _changed(file.source, [(*_span(file.source, value), f'"{new}"')])
    for node, value in named:
        if value is None and component_name(type(node.name, (Component,), {})) == old:
            words = node.body[0]
            end = _offset(file.source, words.end_lineno or words.lineno, words.end_col_offset or 0)
            return _changed(file.source, [(end, end, f'\n\n{" " * words.col_offset}name = "{new}"')])
    raise BadComponent(f"{old!r} cannot be renamed.", fix='give its class a line `name = "..."`.')


def _function_edits(file: ParsedFile, node: _Function, old: str, new: str) -> Iterator[_Edit]:
    start = _offset(file.source, node.lineno, node.col_offset)
    match = re.compile(rf"def\s+{old}\b").search(file.source, start)
    if match is not None:
        yield match.end() - len(old), match.end(), new
    for use in _uses(file.tree, old):
        yield (*_span(file.source, use), new)
    words = node.body[0]
    if isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant) and isinstance(words.value.value, str):
        begin, end = _span(file.source, words)
        for example in re.finditer(r"^[ \t]*(?:>>>|\.\.\.) .*$", file.source[begin:end], re.MULTILINE):
            for call in re.finditer(rf"(?<![\w.]){old}(?=\()", example[0]):
                at = begin + example.start() + call.start()
                yield at, at + len(old), new


def _uses(node: ast.AST, name: str) -> Iterator[ast.Name]:
    """Yield the references to the module's `name`, leaving out functions with a binding of their own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Scope) and _binds(child, name):
            continue
        if isinstance(child, ast.Name) and child.id == name:
            yield child
        yield from _uses(child, name)


def _binds(scope: _Scope, name: str) -> bool:
    given = scope.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    stored = (one for one in ast.walk(scope) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return any(one is not None and one.arg == name for one in every) or any(one.id == name for one in stored)


def _declared(node: ast.ClassDef) -> ast.Constant | None:
    for inner in node.body:
        match inner:
            case ast.Assign(targets=[ast.Name(id="name")], value=ast.Constant() as value):
                return value
            case ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant() as value):
                return value
            case _:
                pass
    return None


def _imports(source: str, path: str, folder: str, wanted: str) -> str:
    """Return a file with its relative imports of the helper folder adapted to the new name."""
    file = ParsedFile.read(source, path)
    edits: list[_Edit] = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.ImportFrom) or node.level != path.count("/") + 1:
            continue
        begin, end = _span(file.source, node)
        if (node.module or "").partition(".")[0] == folder:
            at = file.source.index(folder, begin, end)
            edits.append((at, at + len(folder), wanted))
        for alias in node.names if node.module is None else ():
            if alias.name == folder:
                at = _offset(file.source, alias.lineno, alias.col_offset)
                edits.append((at, at + len(folder), wanted if alias.asname else f"{wanted} as {folder}"))
    return _changed(file.source, edits)


def _moved(path: str, folder: str, wanted: str) -> str:
    return wanted + path.removeprefix(folder) if path.startswith((f"{folder}/", f"{folder}.py")) else path


def _changed(source: str, edits: Iterator[_Edit] | list[_Edit]) -> str:
    for begin, end, text in sorted(set(edits), reverse=True):
        source = source[:begin] + text + source[end:]
    return source


def _span(source: str, node: ast.expr | ast.stmt) -> tuple[int, int]:
    return (
        _offset(source, node.lineno, node.col_offset),
        _offset(source, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
    )


def _offset(source: str, line: int, column: int) -> int:
    """Return the offset in `source` of a position in its syntax tree; columns count UTF-8 bytes."""
    lines = source.split("\n")
    before = sum(len(one) + 1 for one in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode())
