"""Types as a source writes them: annotations are evaluated, and texts in them too, so both hold nothing but types.

What describes a component reads its annotations, whether they are expressions or texts, and a text is evaluated as an
expression wherever it stands for a type. So a type has to be written out: names and attributes that stand for types,
subscripts of generic types out of a closed set, `|`, and texts of the same form; no look into another object, no text
that is put together, kept under a name, or read from elsewhere.
A text is evaluated where it is read, which may be another file of the component: so it calls nothing at all, its
names stand for types in every file, and beside types it holds constants alone.
Libraries evaluate it among variables of their functions, too, so of names given by the source those of classes stand in
it, with a capital, and those of modules with types.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import sys
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TypeGuard

from tea.source.names import ACTING, KNOWN_NAMES, MANGLED, Names, assignments, dotted
from tea.source.text import parsed_expression, words
from tea.source.weights import expand

_TYPING = ("typing", "typing_extensions")
MAKERS = frozenset(
    f"{module}.{name}"
    for module in _TYPING
    for name in words("NamedTuple NewType ParamSpec TypeVar TypeVarTuple TypedDict")
) | {"collections.namedtuple"}
_DICT_OPTIONS = frozenset({"total", "closed"})
_LITERAL = frozenset(f"{module}.Literal" for module in _TYPING)
_ANNOTATED = frozenset(f"{module}.Annotated" for module in _TYPING)
# The types of the standard library named unlike classes, and those of its names in capitals that are types.
_ODD_TYPES = frozenset(
    words(
        """
    abc.ABC array.array ast.AST ast.alias ast.arg ast.arguments ast.boolop ast.cmpop ast.comprehension ast.expr
    ast.keyword ast.mod ast.operator ast.pattern ast.stmt ast.unaryop collections.defaultdict collections.deque
    contextlib.closing contextlib.nullcontext contextlib.suppress dataclasses.KW_ONLY datetime.date datetime.datetime
    datetime.time datetime.timedelta datetime.timezone datetime.tzinfo ftplib.FTP functools.cached_property
    functools.partial imaplib.IMAP4 itertools.chain itertools.count itertools.cycle memoryview mmap.mmap
    os.stat_result poplib.POP3 smtplib.SMTP socket.socket threading.local time.struct_time typing.IO
    typing_extensions.IO uuid.UUID weakref.finalize weakref.ref
    """
    )
)
# What may stand before brackets: these make types of types, and look nothing up.
_GENERICS = frozenset(
    words(
        """
    array.array asyncio.Future asyncio.Queue asyncio.Task builtins.dict builtins.frozenset builtins.list
    builtins.set builtins.slice builtins.tuple builtins.type collections.ChainMap collections.Counter
    collections.OrderedDict collections.UserDict collections.UserList collections.defaultdict collections.deque
    concurrent.futures.Future contextlib.AbstractAsyncContextManager contextlib.AbstractContextManager
    contextvars.ContextVar contextvars.Token ctypes.Array dataclasses.Field dataclasses.InitVar
    functools.cached_property functools.partial numpy.dtype numpy.ndarray numpy.typing.NDArray os.DirEntry
    os.PathLike pydantic.InstanceOf pydantic.Json pydantic.RootModel pydantic.Secret pydantic.SerializeAsAny
    pydantic.SkipValidation queue.LifoQueue queue.PriorityQueue queue.Queue queue.SimpleQueue re.Match re.Pattern
    subprocess.CompletedProcess subprocess.Popen tempfile.TemporaryDirectory types.MappingProxyType
    weakref.WeakKeyDictionary weakref.WeakSet weakref.WeakValueDictionary weakref.ref
    """
    )
) | {
    *(f"{module}.{name}" for module in _TYPING for name in vars(typing) if name[0].isupper()),
    *(f"typing_extensions.{name}" for name in words("NotRequired ReadOnly Required Self TypeForm TypeIs Unpack")),
    *(f"collections.abc.{name}" for name in vars(collections.abc) if name[0].isupper()),
}
_BUILTIN_TYPES = frozenset(name for name in dir(builtins) if isinstance(getattr(builtins, name), type))
_STILL = (
    ast.Attribute, ast.BinOp, ast.BitOr, ast.Constant, ast.List, ast.Name, ast.Starred, ast.Subscript, ast.Tuple,
    ast.UnaryOp, ast.USub, ast.expr_context,
)  # fmt: skip
_WRITTEN = (
    ast.BinOp, ast.Constant, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.UnaryOp, ast.expr_context, ast.operator,
    ast.unaryop,
)  # fmt: skip
_MADE, _MODEL = 300, "pydantic.RootModel"  # steps for brackets that make a class
_MOST_FOLLOWED = 5_000  # most texts parsed and names looked up for one component
# Names of pydantic with a capital that are not plain types: two functions, and a type that imports what it is given.
_CAPITAL_EXCEPTIONS = words("Field ImportString PrivateAttr")
_SMALL_LETTERED = words("dateutil numpy scipy torch")  # packages with types in small letters, such as `numpy.float64`
_PARAMETER_PARTS = frozenset({"args", "kwargs"})


def no_type(nodes: Iterable[ast.expr | None], names: Names) -> ast.expr | None:
    """Return the first of these annotations and base classes other than a written-out type.

    A text is evaluated in a class or outside of it, so each name stands for a type wherever the file binds it.
    """
    top = names.top or names
    for one in nodes:
        if one is not None and not _is_proven(one, top):
            return one
        if one is not None and ("type", id(one)) not in top.measures:
            top.measures["type", id(one)] = 1
            expand(one, top)
            _spend_on_models(one, top)
    return None


def _spend_on_models(node: ast.expr, names: Names) -> None:
    """Count the work of making a class for brackets possibly behind a model, or an alias of one, each type once."""
    for part in ast.walk(node):
        match part:
            case ast.Subscript(value=value) if (names.origin(value) or ".").startswith((".", _MODEL)):
                names.effort.spend(_MADE if _is_new(ast.unparse(part), names) else 0)
            case ast.Constant(value=str() as text) if _is_new(f"'{text}", names):
                for one in _expressions(text):
                    _spend_on_models(one, names)
            case _:
                pass


def _is_new(text: str, names: Names) -> bool:
    """Return whether a type of this text was not met in the file; it is from now on."""
    met = names.measures.setdefault((f"made {text}", 0), 0)
    names.measures[f"made {text}", 0] = 1
    return not met


def _is_proven(node: ast.expr, names: Names) -> bool:
    """Return whether an expression is a type; if so, all names on the way to it count as types from then on."""
    seen: dict[tuple[int, str], set[str]] = {}
    found = _Reader(names, seen).is_type(node)
    if found:
        for (_, name), known in seen.items():
            known.add(name)
    return found


def parameters_of(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the bounds and defaults of type parameters, present only on newer Pythons."""
    for parameter in getattr(node, "type_params", ()):
        for name in ("bound", "default_value"):
            found = getattr(parameter, name, None)
            if isinstance(found, ast.expr):
                yield found


class _Reader:
    """A reader following a type through the names of its component's files, each once.

    Args:
        names: Those of the file with the type in it.
        seen: The names followed so far, by file, with those that its file has proven.
        quoted: Whether the type is written in a text.
    """

    def __init__(self, names: Names, seen: dict[tuple[int, str], set[str]], *, quoted: bool = False) -> None:
        self._names = names
        self._seen = seen
        self._quoted = quoted

    def is_type(self, node: ast.expr) -> bool:
        """Return whether evaluating an expression gives a type, and evaluates no text but types."""
        self._names.effort.spend()
        if not self._quoted and ("type", id(node)) in self._names.measures:
            return True
        match node:
            case ast.Constant(value=str() as text):
                return self._is_type_text(text)
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return self._is_type_name(name) and not self._may_be_from_library(name)
            case ast.Attribute():
                return self._is_type_attribute(node)
            case ast.Subscript(value=value, slice=inner):
                return self.is_type(value) and self._is_generic(value) and self._is_inside(value, inner)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self.is_type(left) and self.is_type(right)
            case ast.IfExp(test=test, body=left, orelse=right):
                return self._is_beside(test) and self.is_type(left) and self.is_type(right)
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                return all(map(self.is_type, inner))
            case ast.Starred(value=value):
                return self.is_type(value)
            case ast.Call():
                return self._is_made(node)
            case _:
                return False

    def _is_type_text(self, text: str) -> bool:
        """Return whether a text is a type in every file; a text other than an expression is not."""
        if self._is_seen(f'"{text}'):
            return True
        if len(self._seen) > _MOST_FOLLOWED:
            return False
        found = _expressions(text)
        parts = [part for one in found for part in ast.walk(one)]
        words = {part.id for part in parts if isinstance(part, ast.Name)}
        return (
            bool(found)
            and all(isinstance(part, _STILL) for part in parts)
            and all(map(_Reader(self._names, self._seen, quoted=True).is_type, found))
            and all(map(self._is_type_elsewhere, words))
        )

    def _is_inside(self, value: ast.expr, inner: ast.expr) -> bool:
        """Return whether the content of a subscript's brackets consists of types, if it may hold types only."""
        if self._is_one_of(_LITERAL, value):
            return self._is_beside(inner)
        if self._is_one_of(_ANNOTATED, value) and isinstance(inner, ast.Tuple):
            return self.is_type(inner.elts[0]) and all(map(self._is_beside, inner.elts[1:]))
        return self.is_type(inner)

    def _is_beside(self, node: ast.expr) -> bool:
        """Return whether an expression beside types means the same wherever it is evaluated."""
        return not self._quoted or _is_constant(node)

    def _is_generic(self, node: ast.expr) -> bool:
        """Return whether brackets after a type make a type of it, in every file with such a name; else they look up."""
        if isinstance(node, ast.Subscript | ast.BinOp):
            return True
        at = _root(node)
        foreign = isinstance(node, ast.Name) and self._may_be_from_library(at)
        if foreign or any(at in one.held for one in self._names.files):
            return False
        others = [one for one in self._names.files if at in one.bound]
        return self._is_generic_here(node) and all(self._within(one)._is_generic_here(node) for one in others)

    def _is_generic_here(self, node: ast.expr) -> bool:
        origin = self._names.origin(node)
        if origin is not None and not origin.startswith("."):
            return origin in _GENERICS or f"builtins.{origin}" in _GENERICS
        name = (origin or "").rpartition(".")[2] or (node.id if isinstance(node, ast.Name) else "")
        if self._is_seen(f"[{name}"):
            return True
        if origin is not None:
            held = [one for one in self._names.files if name in one.bound]
            return bool(held) and all(self._within(one)._is_generic_here(ast.Name(id=name)) for one in held)
        match self._names.definitions.get(name):
            case ast.ClassDef(bases=bases) as found:
                return bool(getattr(found, "type_params", ())) or any(isinstance(one, ast.Subscript) for one in bases)
            case _:
                values = [one for one in self._names.assigned.get(name, ()) if one is not None]
                return bool(values) and all(map(self._is_generic, values))

    def _is_one_of(self, origins: frozenset[str], node: ast.expr) -> bool:
        """Return whether an expression has one of these origins here, and in every file with such a name."""
        at = _root(node)
        if isinstance(node, ast.Name) and self._may_be_from_library(at):
            return False
        if not self._names.methods.isdisjoint(dotted(node)):
            return False
        others = (one for one in self._names.files if at in one.bound)
        return all(one.origin(node) in origins for one in (self._names, *others))

    def _may_be_from_library(self, name: str) -> bool:
        """Return whether a function of a library may lend a name, given by the source or none, to a text."""
        origin = self._names.imports.get(name, "")
        own = name in self._names.bound or name not in KNOWN_NAMES
        renamed = origin.startswith(".") or origin.rpartition(".")[2] != name
        return self._quoted and own and renamed and not _is_capital(name)

    def _is_type_name(self, name: str) -> bool:
        if name.startswith("__") or MANGLED.match(name):
            return False
        if self._is_seen(name):
            return True
        names = self._names
        if isinstance(names.definitions.get(name), ast.FunctionDef | ast.AsyncFunctionDef):
            return False  # pydantic would read its annotations among the names of a class
        if name in names.imports and not self._is_type_import(names.imports[name]):
            return False
        held = name in names.bound or name not in KNOWN_NAMES or name in _BUILTIN_TYPES
        values = (*names.assigned.get(name, ()), *names.held.get(name, ()))
        return held and self._within(names)._are_types(values)

    def _is_type_attribute(self, node: ast.Attribute) -> bool:
        if node.attr.startswith("_") or node.attr in self._names.enum_names or _root(node) in self._names.methods:
            return False
        if self._may_be_from_library(_root(node)) and (not _is_capital(node.attr) or node.attr in _fields(self._names)):
            return False
        if self._quoted and (node.attr in self._names.properties or not self._is_type_everywhere(node.attr)):
            return False
        origin = self._names.origin(node)
        if origin is not None:
            return self._is_type_import(origin) and (origin[0] != "." or self._is_type_member(node))
        if node.attr in _PARAMETER_PARTS and isinstance(node.value, ast.Name):
            name = node.value.id
            return self._is_type_name(name) and all(
                _holds_parameters(name, one) for one in (self._names, *self._names.files)
            )
        return self._is_nested(node)

    def _is_nested(self, node: ast.Attribute) -> bool:
        """Return whether an attribute is a type defined in a class of the file."""
        chain: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            chain.append(at.attr)
            at = at.value
        holder = self._names.definitions.get(at.id) if isinstance(at, ast.Name) else None
        for name in reversed(chain):
            if not isinstance(holder, ast.ClassDef):
                return False
            held = assignments(holder.body).get(name)
            if held is not None:
                return name == chain[0] and self._within(self._names)._are_types(held)
            holder = next((one for one in holder.body if isinstance(one, ast.ClassDef) and one.name == name), None)
        return holder is not None

    def _is_type_import(self, origin: str) -> bool:
        """Return whether an imported name, by its origin, is a type; packages are taken to offer types."""
        if origin.startswith("."):
            return self._is_type_elsewhere(origin.rpartition(".")[2])
        parts = origin.split(".")
        if _may_be_function(parts) or ACTING.intersection(parts) or any(part.startswith("_") for part in parts):
            return False
        if parts[0] not in KNOWN_NAMES and sys.stdlib_module_names.isdisjoint(parts):
            return True
        return origin in _ODD_TYPES or (parts[-1][0].isupper() and not parts[-1].isupper())

    def _is_type_elsewhere(self, name: str) -> bool:
        """Return whether a name at the top level is a type, in every file of the component with such a name."""
        return all(self._within(file)._is_type_name(name) for file in self._names.files)

    def _is_type_member(self, node: ast.Attribute) -> bool:
        """Return whether each part of `w.K.A`, taken from another file, is a type in every class with such a name.

        A name that no file binds is what Python gives by itself, such as the value of an enum's member.
        """
        bound = any(node.attr in one.bound or node.attr in one.methods for one in self._names.files)
        inner = not isinstance(node.value, ast.Attribute) or self._is_type_member(node.value)
        return inner and bound and self._is_type_everywhere(node.attr)

    def _is_type_everywhere(self, name: str) -> bool:
        """Return whether a name is a type at the top level of every file, and in every class."""
        return self._is_type_elsewhere(name) and self._is_type_in_classes(name)

    def _is_type_in_classes(self, name: str) -> bool:
        """Return whether a name is a type in every class of the component that binds it."""
        return name not in self._names.methods or all(
            self._within(file)._are_types(file.held.get(name, ())) for file in self._names.files
        )

    def _within(self, file: Names) -> _Reader:
        """Return a reader of another file, with the references followed so far."""
        self._names.effort.spend()
        return _Reader(file, self._seen)

    def _is_seen(self, name: str) -> bool:
        """Return whether a name of this file was followed before; it is from now on."""
        proven = self._names.types
        if name in proven or (id(proven), name) in self._seen:
            return True
        self._seen[id(proven), name] = proven
        return False

    def _is_made(self, node: ast.Call) -> bool:
        """Return whether a call makes a type of types: `NewType("Id", int)`."""
        origin = self._names.origin(node.func)
        options = {one.arg: one.value for one in node.keywords}
        if not all(map(self._is_beside, (node.func, *node.args[:1]))):
            return False
        if origin == "collections.namedtuple":
            return all(map(self._is_beside, (*node.args[1:], *options.values())))
        if origin not in MAKERS or None in options or any(isinstance(one, ast.Starred) for one in node.args):
            return False
        if not any(map(_is_identifier, node.args[:1])):
            return False
        if origin.endswith(("Dict", "Tuple")) and not self._is_bound_as_named(node):
            return False
        fields = node.args[1:]
        if origin.endswith(".TypedDict"):
            rows = [one.values if _is_named(one) else (None,) for one in fields]
            known = options.keys() <= _DICT_OPTIONS and all(map(self._is_beside, options.values()))
            return known and all(map(self._are_types, rows))
        if origin.endswith(".NamedTuple"):
            rows = [row for one in fields for row in getattr(one, "elts", (None,))]
            return not options and all(self._is_row(row) for row in rows)
        return self._are_types([*fields, *options.values()])

    def _is_bound_as_named(self, node: ast.Call) -> bool:
        """Return whether the file binds the result of a call to the name given to it, lent to its annotations."""
        named = node.args[0] if node.args else None
        name = named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else ""
        made = (*self._names.assigned.get(name, ()), *self._names.held.get(name, ()))
        self._names.effort.spend(len(made))
        return any(one is node for one in made)

    def _is_row(self, node: ast.expr | None) -> bool:
        """Return whether a field of a named tuple is its name and its type."""
        match node:
            case ast.Tuple(elts=[ast.Constant(), kind]):
                return self.is_type(kind)
            case _:
                return False

    def _are_types(self, values: Sequence[ast.expr | None]) -> bool:
        return all(one is not None and self.is_type(one) for one in values)


def _is_capital(name: str) -> bool:
    """Return whether a name begins like the name of a class."""
    return name.lstrip("_")[:1].isupper()


def _fields(names: Names) -> frozenset[str]:
    """Return the names of the fields of a component's classes."""
    classes = [cls for one in names.files for cls in one.definitions.values() if isinstance(cls, ast.ClassDef)]
    names.effort.spend(len(names.files) + sum(len(one.body) for one in classes))
    fields = [one.target for cls in classes for one in cls.body if isinstance(one, ast.AnnAssign)]
    return frozenset(one.id for one in fields if isinstance(one, ast.Name))


def _is_constant(node: ast.expr) -> bool:
    """Return whether an expression is a constant, or several."""
    match node:
        case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Tuple(elts=inner):
            return all(map(_is_constant, inner))
        case _:
            return False


def _is_identifier(node: ast.expr) -> bool:
    """Return whether an expression is an identifier, written out: Python writes names of types into documentation.

    A dataclass with slots is made again with what `dataclasses` wrote of it, which may be read as its signature.
    """
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()


def _root(node: ast.expr) -> str:
    """Return the first name of an expression such as `dt.date`, empty for another."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_named(node: ast.expr) -> TypeGuard[ast.Dict]:
    """Return whether the fields of a typed dict are named by literal texts."""
    return isinstance(node, ast.Dict) and all(isinstance(one, ast.Constant) for one in node.keys)


def _holds_parameters(name: str, names: Names) -> bool:
    """Return whether a file gives a name to nothing but a `ParamSpec`."""
    made = names.assigned.get(name, ())
    calls = (names.origin(one.func) or "" if isinstance(one, ast.Call) else "" for one in made)
    return name not in names.bound or (bool(made) and all(one.endswith(".ParamSpec") for one in calls))


def _may_be_function(parts: Sequence[str]) -> bool:
    """Return whether a name of a package may be a function, or a type with imports.

    Pydantic reads the annotations of a function in the place of a type among the names of the class around it.
    """
    named = parts[-1] not in _CAPITAL_EXCEPTIONS and (parts[-1][0].isupper() or parts[0] in _SMALL_LETTERED)
    return not named and parts[0] not in KNOWN_NAMES and parts[0] not in sys.stdlib_module_names


def _expressions(text: str) -> list[ast.expr]:
    """Return the expressions Python may evaluate for a text in the place of a type; none for an invalid one."""
    found: list[ast.expr] = []
    for form in (text, f"({text},)[0]") if text.lstrip().startswith("*") else (text,):  # as `typing.ForwardRef` does
        with suppress(SyntaxError, ValueError):
            found.append(parsed_expression(form))
    return found
