"""Describing: the work of describing classes again for each model, action and generic type with a field of them."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from tea.source.names import Names
from tea.source.text import ParsedFile, parsed_expression, refusal
from tea.source.written_types import MAKERS

_MOST_AGAIN = 200_000  # members described for all models, actions and generic types of a component together
_MOST_MADE = 5_000  # classes of a component, and types made by calls
_PLAIN = frozenset({"NamedTuple", "TypedDict"})  # bases of classes described anew by each model, as dataclasses
_ACTIONS = frozenset({"tea.action", "tea.tool"})
_ROOT = "RootModel"
_VALIDATORS = frozenset({"pydantic.field_validator"})


class Uses:
    """The uses of a component's classes and aliases in types, by name alone; those of one name count together.

    Args:
        files: All of its files.
        bases: Gives the names of a class's bases.
        weigh: Gives how much the classes of a name hold, inherited members included.
    """

    def __init__(
        self,
        files: Sequence[tuple[ParsedFile, Names]],
        bases: Callable[[ast.ClassDef, Names], set[str]],
        weigh: Callable[[str], int],
    ) -> None:
        self._weigh, self._effort = weigh, files[0][1].effort
        self._types: defaultdict[str, list[tuple[ast.expr, Names]]] = defaultdict(list)  # not yet read, by their holder
        self._used: defaultdict[str, set[str]] = defaultdict(set)
        self._made: defaultdict[str, list[str]] = defaultdict(list)  # before brackets, described anew each time
        self._validators: Counter[str] = Counter()
        self._bases: defaultdict[str, set[str]] = defaultdict(set)
        self._begun: list[str] = []
        self._made_types = 0
        plain, models = set[str](), set[str]()
        for file, names in files:
            for name, origin in names.imports.items():
                self._used[name].add(origin.rpartition(".")[2])
            for name, values in names.made.items():
                self._types[name] += [(one, names) for one in values if one is not None]
            for node in file.nodes:
                if isinstance(node, ast.ClassDef):
                    self._made_types += 1
                    own = bases(node, names)
                    is_plain = node.decorator_list or not own or own & _PLAIN or names.is_enum(node)
                    (plain if is_plain else models).add(node.name)
                    self._validators[node.name] += sum(_is_validator(one, names) for one in node.body)
                    self._bases[node.name] |= own
                    self._used[node.name] |= own
                    self._types[node.name] += [(one, names) for one in (*_annotations(node), *node.bases)]
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_marked(node, names, _ACTIONS):
                    self._types[f"{node.name}()"] += [(one, names) for one in _hints(node)]
                    self._begun.append(f"{node.name}()")
                elif isinstance(node, ast.Call):
                    self._made_types += names.origin(node.func) in MAKERS
        self._models = models - plain
        self._begun += models
        self._generic, built = list[str](), models | {_ROOT}
        for file, names in files:
            for node in file.nodes:
                if isinstance(node, ast.Subscript) and (name := _last(node.value, names)) in built:
                    self._generic.append(name)
                    self._types[key := f"[{len(self._generic)}]"].append((node.slice, names))
                    self._begun.append(key)

    def check(self) -> None:
        """Raise BadComponent for very many classes, or some described again very often.

        Raises:
            BadComponent: They are more than a component may have.
        """
        if self._made_types > _MOST_MADE:
            problem = f"The source makes more than {_MOST_MADE:,} classes and types."
            raise refusal(problem, "write fewer, or keep what they hold in a dict.")
        work = sum(map(self._weigh, self._generic))
        for name in self._begun:
            work += self._reached(name) + self._validated(name)
            if work > _MOST_AGAIN:
                problem = "The source's classes are described again for very many types with a field of them."
                raise refusal(problem, "write fewer or smaller classes, or keep what they hold in a dict.")

    def _validated(self, first: str) -> int:
        """Return how many fields all validators of a class, inherited ones included, may be applied to."""
        found, seen, waiting = 0, {first}, [first]
        while waiting:
            name = waiting.pop()
            self._effort.spend()
            found += self._validators[name]
            waiting += self._bases[name] - seen
            seen |= self._bases[name]
        return found * self._weigh(first)

    def _reached(self, first: str) -> int:
        """Return the members of all classes described with a model, each other model once, or with an action."""
        ends = frozenset[str]() if first.endswith("()") else self._models
        work, seen, waiting = 0, {first}, [first]
        while waiting:
            name = waiting.pop()
            self._read(name)
            self._effort.spend(1 + len(self._used[name]) + len(self._made[name]))
            made = (one for one in self._made[name] if one not in self._models)
            work += sum(map(self._weigh, made)) + (self._weigh(name) if name != first else 0)
            for one in self._used[name] - seen:
                seen.add(one)
                if one not in ends:
                    waiting.append(one)
        return work

    def _read(self, name: str) -> None:
        """Read the names used by the types of a holder, once."""
        for one, names in self._types.pop(name, ()):
            for part in _parts(one):
                if isinstance(part, ast.Subscript):
                    self._made[name].append(_last(part.value, names))
                elif isinstance(part, ast.Name | ast.Attribute):
                    self._used[name].add(_last(part, names))


def _is_validator(node: ast.stmt, names: Names) -> bool:
    return isinstance(node, ast.FunctionDef) and _is_marked(node, names, _VALIDATORS)


def _is_marked(node: ast.FunctionDef | ast.AsyncFunctionDef, names: Names, marks: frozenset[str]) -> bool:
    called = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return any(names.origin(one) in marks for one in called)


def _annotations(node: ast.ClassDef) -> Iterator[ast.expr]:
    return (one.annotation for one in node.body if isinstance(one, ast.AnnAssign))


def _hints(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterable[ast.expr]:
    given = node.args
    every = (*(one.annotation for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)), node.returns)
    return (one for one in every if one is not None)


def _parts(node: ast.expr) -> Iterator[ast.AST]:
    """Yield the parts of a type, also of the texts in it."""
    for part in ast.walk(node):
        yield part
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                yield from ast.walk(parsed_expression(part.value))


def _last(node: ast.expr, names: Names) -> str:
    """Return the name of a class without its module."""
    match node:
        case ast.Attribute(attr=name):
            return name
        case ast.Name(id=name):
            return names.imports.get(name, name).rpartition(".")[2]
        case _:
            return ""
