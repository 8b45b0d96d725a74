"""Text: the source of a future component, read and parsed, with the facts available without running it."""

from __future__ import annotations

import ast
import re
import symtable
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from tea.characters import forbidden, in_sentence, is_turned, on_one_line
from tea.components.content import content_fault
from tea.components.manifest import source_digest
from tea.errors import BadComponent
from tea.refs import Kind
from tea.source.at_once import evaluated_at_once, is_postponed
from tea.source.compiling import is_few_names, is_shallow, is_short_code

T = TypeVar("T")

MOST_BYTES = 1 << 20
MOST_FILES = 200
MOST_BRACES = 10_000  # a parser's time grows with the square of the fields of one f-string
_FORMATTED = re.compile(r"""\b(?:[fF][rR]?|[rR][fF])["']""")
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PARSING, _ATTEMPTS = threading.Lock(), 20
_LONGEST_PROBLEM, _LONGEST_FIX = 150, 140


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A component's source after the static check; nothing of it was executed.

    Args:
        kind: `tool`, `environment` or `agent`.
        name: The component's name.
        source: The complete source of its main file.
        files: Its helper files by relative path.
        requires: Distributions it needs.
        changes: What was written into it, for example imports that were missing.
        description: What its docstring says it is for.
        metadata: The paper's *m*, where it is written as a literal.
        evolvable: The paper's *g*.
    """

    kind: Kind
    name: str
    source: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    requires: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    evolvable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFile:
    r"""One file of a component, parsed.

    Args:
        path: Its relative path; empty for the main file.
        source: Its text, with line ends `\n` and no byte order mark.
        tree: Its syntax tree, with annotations evaluated where they stand.
        nodes: All nodes of that tree, which is walked once for all that look for some.
        table: Its symbol table.
        postponed: Whether its text postpones annotations.
    """

    path: str
    source: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    table: symtable.SymbolTable
    postponed: bool = False

    @classmethod
    def read(cls, source: str | bytes, path: str = "") -> ParsedFile:
        """Parse a file's text or bytes; nothing is executed.

        Raises:
            BadComponent: It is too large, is not UTF-8 text, or is not Python.
        """
        text = read_text(source, path)
        written = _understood(path, lambda: _one_at_a_time(lambda: ast.parse(text)))
        postponed = is_postponed(written)
        tree = _understood(path, lambda: evaluated_at_once(written))
        nodes = tuple(ast.walk(tree))
        _check_work(path, nodes)
        if is_turned(text):
            _check_names(path, nodes)
        table = _understood(path, lambda: _table(text))
        _understood(path, lambda: _one_at_a_time(lambda: compile(tree, "<source>", "exec", dont_inherit=True)))
        return cls(path=path, source=text, tree=tree, nodes=nodes, table=table, postponed=postponed)

    @classmethod
    def outline(cls, source: str, path: str = "") -> ParsedFile:
        """Parse a file of a source checked before, without its symbol table.

        Raises:
            BadComponent: It is not Python text.
        """
        text = read_text(source, path)
        tree = _understood(path, lambda: _one_at_a_time(lambda: ast.parse(text)))
        return cls(path=path, source=text, tree=tree, nodes=(), table=_table(""))

    def refuse(self, problem: str, fix: str, node: ast.AST | None = None) -> BadComponent:
        """Return the error for a problem, with the line of its node."""
        line = f"line {getattr(node, 'lineno', 1)}:" if node is not None else ""
        return refusal(_spaced(self.path, line, problem), fix)


def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a file, with its annotations evaluated at once, from any thread.

    Raises:
        SyntaxError: It is not Python.
    """
    return evaluated_at_once(_one_at_a_time(lambda: ast.parse(text)))


def parsed_expression(text: str) -> ast.expr:
    """Return the syntax tree of one expression, from any thread.

    Raises:
        SyntaxError: It is not an expression.
    """
    return _one_at_a_time(lambda: ast.parse(text.strip(), mode="eval").body)


def _understood(path: str, parse: Callable[[], T]) -> T:
    """Return the result of `parse`; raise BadComponent if the text is not Python."""
    try:
        return parse()
    except SyntaxError as error:
        line = f"line {error.lineno}:" if error.lineno else ""
        raise refusal(_spaced(path, line, f"this is not Python: {error.msg}."), "correct the syntax.") from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        problem = _spaced(path, f"cannot be parsed ({type(error).__name__}).")
        raise refusal(problem, "write simpler expressions and shorter literals.") from None


def _table(text: str) -> symtable.SymbolTable:
    return symtable.symtable(text, "<source>", "exec")


def _one_at_a_time(parse: Callable[[], T]) -> T:
    """Parse in one thread at a time, again if a thread outside tea interfered.

    CPython 3.11 counts the depth of syntax trees for all threads together, and two that parse at once may fail for no
    fault of their text.
    """
    for _ in range(_ATTEMPTS):
        try:
            with _PARSING:
                return parse()
        except SystemError:
            continue
    raise MemoryError("the parser is busy")


def refusal(problem: str, fix: str) -> BadComponent:
    """Return an error of one printable line of at most 300 characters."""
    return BadComponent(one_line(problem, _LONGEST_PROBLEM), fix=one_line(fix, _LONGEST_FIX))


def text_digest(text: SourceText) -> str:
    """Return the registry's digest of a checked source."""
    return source_digest(text.kind, text.name, text.source, text.files, text.requires)


def first_line(node: ast.stmt) -> int:
    """Return the number of a statement's first line, that of its first decorator included."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def words(text: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(text.split())


def one_line(text: str, longest: int) -> str:
    """Return `text` in one line of printable characters, cut to `longest`."""
    words = "".join(c if c.isprintable() else "?" for c in on_one_line(text[: longest * 4]))
    return words if len(words) <= longest else words[: longest - 3] + "..."


def read_text(source: str | bytes, path: str = "") -> str:
    r"""Return source text without byte order mark and with plain line ends.

    Raises:
        BadComponent: It is larger than 1 MiB, holds NUL or another carriage return than those of its line ends
            `\r\n`, is not UTF-8, or has f-strings of too many fields.
    """
    if len(source) > MOST_BYTES:
        raise refusal(_spaced(path, "is larger than 1 MiB."), "write a smaller component.")
    try:
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source.removeprefix("\ufeff")
        size = len(text.encode())
    except UnicodeError:
        raise refusal(_spaced(path, "is not UTF-8 text."), "save it as UTF-8.") from None
    if size > MOST_BYTES:
        raise refusal(_spaced(path, "is larger than 1 MiB."), "write a smaller component.")
    if "\0" in text:
        raise refusal(_spaced(path, "holds a NUL character."), "write \\0 as an escape, or remove it.")
    if "\r" in text:  # without a newline a terminal writes the next line over it
        check_characters("", {path: text})
    text = text.replace("\r\n", "\n")
    _check_coding(text, path)
    if text.count("{") > MOST_BRACES and _FORMATTED.search(text):
        problem = f"holds f-strings, and more than {MOST_BRACES:,} braces that open."
        raise refusal(_spaced(path, problem), "join texts, or read them from a file.")
    return text


def check_characters(source: str, files: Mapping[str, str] | None = None) -> None:
    r"""Raise BadComponent for source with characters hiding parts of it from a reviewer.

    Refused are control characters, but newline, tab, form feed and the carriage return of a line end `\r\n`, and those
    that change the direction of writing.

    Args:
        source: The main file's text.
        files: Its further files by relative path.

    Raises:
        BadComponent: With the place of the first one.
    """
    for path, text in {"": source, **(files or {})}.items():
        if found := forbidden(text):
            line, column, number = found
            problem = _spaced(path, f"line {line}:", f"column {column} holds the character {number}.")
            fix = (
                "remove it, or write it as an escape of Python or JSON: a terminal would obey it, or a reader miss it."
            )
            raise refusal(problem, fix)


def check_content(files: Iterable[str], requires: Iterable[str] = ()) -> None:
    """Raise BadComponent for paths or requirements a reviewer could take for something else.

    Args:
        files: Paths of further files: relative, inside the component, on one line, without hidden characters.
        requires: Distributions, each by name, perhaps with extras, versions or an address, and a marker.

    Raises:
        BadComponent: With the first one.
    """
    if fault := content_fault(files, requires):
        raise refusal(f"{fault}.", "write plain relative paths, and requirements such as openpyxl>=3.1.")


def check_texts(value: object) -> None:
    """Raise BadComponent for a decoded document with a text of such characters, at any depth.

    Args:
        value: What was read of a document, in which they may have been written as escapes.

    Raises:
        BadComponent: With the number of the first one.
    """
    if isinstance(value, str) and (found := forbidden(value)):
        problem = f"The source writes the character {found[2]} as an escape."
        raise refusal(problem, "remove it: it would hide or change what a reader sees.")
    if isinstance(value, Mapping):
        held = cast("Mapping[object, object]", value)
        check_texts([*held.keys(), *held.values()])
    elif isinstance(value, list | tuple):
        for one in cast("Sequence[object]", value):
            check_texts(one)


def _check_coding(text: str, path: str) -> None:
    for line in text.split("\n", 2)[:2]:
        declared = _CODING.match(line)
        if declared and declared[1].lower().replace("_", "-") not in {"utf-8", "utf8", "ascii", "us-ascii"}:
            problem = f"declares the encoding {declared[1][:40]!r}."
            raise refusal(_spaced(path, problem), "save it as UTF-8 and remove the declaration.")


def _check_work(path: str, nodes: Sequence[ast.AST]) -> None:
    """Raise BadComponent for a tree too much for Python's compiler."""
    if not is_few_names(nodes):
        raise refusal(_spaced(path, "defines too many names in one place."), "write a smaller component.")
    if not is_shallow(nodes):
        raise refusal(_spaced(path, "nests loops too deeply."), "write simpler expressions.")
    if not is_short_code(nodes):
        fix = "leave `with` and `finally` in fewer places, and write fewer names in one pattern or call, and constants."
        raise refusal(_spaced(path, "takes much memory to compile."), fix)


def _check_names(path: str, nodes: Iterable[ast.AST]) -> None:
    """Raise BadComponent for a name written from right to left: a terminal shows `a - b` of two such as `b - a`."""
    for node in nodes:
        held = [] if isinstance(node, ast.Constant) else [one for _, one in ast.iter_fields(node)]
        names = [each for one in held for each in (cast("list[object]", one) if isinstance(one, list) else [one])]
        if any(isinstance(one, str) and is_turned(one) for one in names):
            line = f"line {getattr(node, 'lineno', 1)}:"
            problem = "a name is written from right to left, so code beside it is shown in another order."
            raise refusal(_spaced(path, line, problem), "write names in letters that go from left to right.")


def _spaced(path: str, *parts: str) -> str:
    said = " ".join(part for part in parts if part)
    if path:
        return f"{in_sentence(path[:60])} {said}"
    return said if said.startswith(("line ", "The source")) else f"The source {said}"
