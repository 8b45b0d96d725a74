"""The names in a source: bound ones, names used without a binding, and the origins of imports."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tea.source.bindings import bindings, imported
from tea.source.effort import Effort
from tea.source.text import ParsedFile, parsed_expression

_MODULE_NAMES = {
    "__annotations__", "__builtins__", "__doc__", "__file__", "__loader__", "__module__", "__name__", "__package__",
    "__path__", "__qualname__", "__spec__",
}  # fmt: skip
# What reads from outside, or loads native code, when it is looked at, iterated, or asked for a member.
ACTING = frozenset({"stdin", "__stdin__", "cdll", "pydll", "windll", "oledll", "pythonapi"})
MANGLED = re.compile(r"_[^\W_]\w*__\w")  # `__x` of a class `A` is `_A__x`
KNOWN_NAMES = frozenset(dir(builtins)) | _MODULE_NAMES

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Values = Mapping[str, tuple[ast.expr | None, ...]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Names:
    """The names bound at the top level of one file.

    Args:
        imports: Names bound by imports, with what they stand for: `{"np": "numpy", "Any": "typing.Any"}`.
        definitions: Functions and classes by name.
        bound: Every name that the module binds.
        methods: What classes define or assign, which a method's call may reach.
        properties: Functions of classes that are decorated, which reading an attribute may run.
        enum_names: What Enums bind: their members are values, and those of texts are evaluated in the place of a type.
        assigned: The values of names that are assigned, None for one that comes out of several.
        held: The same of the bodies of all its classes together.
        made: The whole values that names of the top level come out of.
        members: The same of the bodies of all its classes together.
        path: That of the file; empty for the main one.
        files: The names of all files of the component, this one's too.
        beside: The names that Python binds to files and folders, where the file is that of their package.
        top: Those of the file's top level, where these are a class body's.
        own: The names that the class body binds, where these are a class body's.
        defined: Those of them that its functions and classes bind.
        weights: What is known of how large values are, by the identity of their nodes; see `tea.source.weights`.
        measures: What else was worked out of a value, by what it is and the identity of its node.
        types: The names proven to stand for types; see `tea.source.written_types`.
        effort: The work left for following names, shared by all files of the component.
    """

    imports: dict[str, str]
    definitions: dict[str, Definition]
    bound: frozenset[str]
    methods: frozenset[str] = frozenset()
    properties: frozenset[str] = frozenset()
    enum_names: frozenset[str] = frozenset()
    assigned: Values = field(default_factory=dict[str, tuple[ast.expr | None, ...]])
    held: Values = field(default_factory=dict[str, tuple[ast.expr | None, ...]])
    made: Values = field(default_factory=dict[str, tuple[ast.expr | None, ...]])
    members: Values = field(default_factory=dict[str, tuple[ast.expr | None, ...]])
    path: str = ""
    files: Sequence[Names] = field(default=(), compare=False, repr=False)
    beside: frozenset[str] = frozenset()
    top: Names | None = field(default=None, compare=False, repr=False)
    own: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()
    weights: dict[int, float] = field(default_factory=dict[int, float], compare=False)
    measures: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float], compare=False)
    types: set[str] = field(default_factory=set[str], compare=False)
    effort: Effort = field(default_factory=Effort, compare=False, repr=False)

    @classmethod
    def outline(cls, file: ParsedFile) -> Names:
        """Read the imports and definitions of a file's top level: enough to find its components."""
        definitions = {node.name: node for node in file.tree.body if isinstance(node, Definition)}
        return cls(imports=dict(imported(file.tree.body)), definitions=definitions, bound=frozenset())

    @classmethod
    def of(cls, file: ParsedFile) -> Names:
        """Read a file's top level."""
        classes = [node for node in file.nodes if isinstance(node, ast.ClassDef)]
        held = [one for node in classes for one in node.body]
        functions = [one for one in held if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        found = cls.outline(file)
        return replace(
            found,
            bound=frozenset(_bound(file.table)),
            methods=frozenset(name for one in held for name in bindings(one)),
            properties=frozenset(one.name for one in functions if one.decorator_list),
            enum_names=frozenset(
                name for node in classes if found.is_enum(node) for one in node.body for name in bindings(one)
            ),
            assigned=assignments(file.tree.body),
            held=_joined(*(assignments(node.body) for node in classes)),
            made=assignments(file.tree.body, whole=True),
            members=_joined(*(assignments(node.body, whole=True) for node in classes)),
            path=file.path,
        )

    @staticmethod
    def together(every: Sequence[Names], effort: Effort) -> Sequence[Names]:
        """Return the names of each file of a component, each with the members of the classes of all, and all files."""
        methods = frozenset[str]().union(*(one.methods for one in every))
        enum_names = frozenset[str]().union(*(one.enum_names for one in every))
        properties = frozenset[str]().union(*(one.properties for one in every))
        files: list[Names] = []
        for one in every:
            beside = frozenset(_inside(one.path, [other.path for other in every]))
            imports = {**{name: f".{name}" for name in beside}, **one.imports}
            one = replace(one, imports=imports, bound=one.bound | beside, beside=beside)
            shared = replace(
                one, methods=methods, properties=properties, enum_names=enum_names, files=files, effort=effort
            )
            files.append(shared)
        return files

    def inside(self, node: ast.ClassDef) -> Names:
        """Return the names as seen in a class body: its own before the module's, and none of a class around it.

        The values are those of the class alone; see `scopes` for the others.
        """
        top = self.top or self
        own = frozenset(name for one in node.body for name in bindings(one))
        return replace(
            top,
            top=top,
            own=own,
            defined=frozenset(one.name for one in node.body if isinstance(one, Definition)),
            imports=_without(top.imports, own),
            definitions=_without(top.definitions, own),
            bound=top.bound | own,
            assigned=assignments(node.body),
            made=assignments(node.body, whole=True),
            measures={},
            types=set(),
        )

    def scopes(self, name: str) -> tuple[Names, ...]:
        """Return the scopes a name may be read in, each with its possible values there.

        A class body sees its own names and those of the file. What a name of the file stands for is worked out of the
        names of the file, whatever a class binds that uses it.
        """
        top = self.top
        if top is None or (name in self.own and name not in top.bound):
            return (self,)
        return (self, top) if name in self.own else (top,)

    def origin(self, node: ast.AST) -> str | None:
        """Return the full name of an expression such as `dt.date`, `datetime.date`, or None for the file's own."""
        match node:
            case ast.Name(id=name) if name in self.imports:
                return self.imports[name]
            case ast.Name(id=name):
                return None if name in self.bound else name
            case ast.Attribute(value=value, attr=attribute):
                base = self.origin(value)
                return None if base is None else f"{base}.{attribute}"
            case _:
                return None

    def is_enum(self, node: ast.ClassDef) -> bool:
        """Return whether a class derives from one of `enum`; Python lets none derive from a class with members."""
        return any((self.origin(base) or "").startswith("enum.") for base in node.bases)

    def is_taken(self, name: str) -> bool:
        """Return whether this file imports a name, unchanged, from another file of the component."""
        origin = self.imports.get(name, "")
        return origin.startswith(".") and origin.rpartition(".")[2] == name

    def holders(self, name: str) -> list[Names]:
        """Return the component's files with a name of their own, not taken from another of them."""
        self.effort.spend(len(self.files))
        return [one for one in self.files if name in one.bound and not one.is_taken(name)]

    def is_own_class(self, origin: str) -> bool:
        """Return whether a relative import leads to a class defined in a file, in every file with such a name."""
        waiting, seen = [origin], set[str]()
        while waiting:
            name = waiting.pop().rpartition(".")[2]
            if name in seen:
                continue
            seen.add(name)
            self.effort.spend(1 + len(self.files))
            holders = [one for one in self.files if name in one.bound]
            led = [
                one.imports.get(name, "") for one in holders if not isinstance(one.definitions.get(name), ast.ClassDef)
            ]
            if not holders or not all(one.startswith(".") for one in led):
                return False
            waiting += led
        return True


def declared(node: ast.stmt) -> Iterator[str]:
    """Yield each name bound, or annotated alone, by a statement of a class body."""
    yield from bindings(node)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def assignments(body: Sequence[ast.stmt], *, whole: bool = False) -> dict[str, tuple[ast.expr | None, ...]]:
    """Return the values assigned to each name by a top level or a class body, None for a name unpacked among others.

    Args:
        body: The statements.
        whole: Whether the value of a name unpacked among others is the whole that is unpacked.
    """
    found: dict[str, list[ast.expr | None]] = {}
    for node in body:
        for name in bindings(node):
            match node:
                case ast.Assign(targets=targets, value=value):
                    alone = whole or any(isinstance(one, ast.Name) and one.id == name for one in targets)
                    found.setdefault(name, []).append(value if alone else None)
                case ast.AnnAssign(value=ast.expr() as value):
                    found.setdefault(name, []).append(value)
                case _:
                    pass
        if type(node).__name__ == "TypeAlias":
            name = node.__dict__["name"].id
            found.setdefault(name, []).append(node.__dict__["value"])
    return {name: tuple(values) for name, values in found.items()}


def _inside(path: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the names of files and folders in a package, given its `__init__.py`; none for another file."""
    folder, slash, file = path.rpartition("/")
    if path and file != "__init__.py":
        return
    for other in paths:
        if other != path and other.startswith(folder + slash):
            yield other.removeprefix(folder + slash).partition("/")[0].removesuffix(".py")


def _without(names: Mapping[str, T], own: Iterable[str]) -> dict[str, T]:
    found = dict(names)  # copied as a whole: a file may have many names and many classes
    for name in own:
        found.pop(name, None)
    return found


def _joined(*every: Values) -> Values:
    names = dict.fromkeys(name for one in every for name in one)
    return {name: tuple(value for one in every for value in one.get(name, ())) for name in names}


def used_names(file: ParsedFile) -> set[str]:
    """Return the names a file takes from its module or the builtins without binding them itself."""
    bound = _bound(file.table)
    used = {symbol.get_name() for table in _tables(file.table) for symbol in table.get_symbols() if _is_used(symbol)}
    anywhere = {
        s.get_name() for t in _tables(file.table) for s in t.get_symbols() if s.is_assigned() or s.is_imported()
    }
    return (used - bound) | (
        {name.id for name in annotated_names(file.nodes)} - bound - anywhere - _parameters(file.nodes)
    )


def free_names(file: ParsedFile) -> set[str]:
    """Return the names used but not bound in a file, builtins excluded."""
    return used_names(file) - KNOWN_NAMES


def annotated_names(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """Yield the names in annotations, also those written as strings, as symbol tables leave them out."""
    for node in nodes:
        match node:
            case ast.arg(annotation=ast.expr() as found) | ast.AnnAssign(annotation=found):
                yield from _type_names(found)
            case ast.FunctionDef(returns=ast.expr() as found) | ast.AsyncFunctionDef(returns=ast.expr() as found):
                yield from _type_names(found)
            case _:
                pass


def acts_when_read(node: ast.expr, names: Names) -> bool:
    """Return whether an imported name, or an attribute, may act when it is read: `os.sys.stdin`, `ctypes.cdll`.

    What an attribute is taken from may be a module under any name. A name that another file of the component imports
    counts as what that file imports.
    """
    origin = names.origin(node)
    if origin is None:
        return isinstance(node, ast.Attribute) and node.attr in ACTING
    parts = origin.split(".")
    if origin.startswith("."):
        held = {one.imports[part] for one in names.files for part in parts if part in one.imports}
        parts += [part for one in held for part in one.split(".")]
    return not ACTING.isdisjoint(parts)


def dotted(node: ast.expr) -> tuple[str, ...]:
    """Return the parts of `a.b.c`, or nothing for another expression."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=attribute):
            base = dotted(value)
            return (*base, attribute) if base else ()
        case _:
            return ()


def _type_names(node: ast.expr) -> Iterator[ast.Name]:
    match node:
        case ast.Name():
            yield node
        case ast.Constant(value=str() as text):
            try:
                inner = parsed_expression(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return
            if not isinstance(inner, ast.Constant):
                yield from (ast.copy_location(name, node) for name in _type_names(inner))
        case ast.Subscript(value=value, slice=inner):
            yield from _type_names(value)
            base = (dotted(value) or ("",))[-1]
            if base == "Annotated" and isinstance(inner, ast.Tuple):
                yield from _type_names(inner.elts[0])
            elif base != "Literal":
                yield from _type_names(inner)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _type_names(child)


def _is_used(symbol: symtable.Symbol) -> bool:
    return symbol.is_referenced() and symbol.is_global()


def _bound(table: symtable.SymbolTable) -> set[str]:
    own = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    declared = {
        symbol.get_name()
        for inner in _tables(table)
        for symbol in inner.get_symbols()
        if symbol.is_declared_global() and symbol.is_assigned()
    }
    return own | declared


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = [table]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += found.get_children()


def _parameters(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of type parameters, present only on newer Pythons."""
    return {p.name for node in nodes for p in getattr(node, "type_params", ())}
