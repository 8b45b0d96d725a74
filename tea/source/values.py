"""The values at the top level of a component: those evaluated before anybody granted the source.

The rule names what is allowed, and all else is refused: literals, names, types that are written out, and operations on
plain values, which are of builtin types and made here of nothing else. No class, function or object of the source is
ever asked, called, compared, iterated or formatted, so none of its code can run.
"""

from __future__ import annotations

import ast
import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

from pydantic import ConfigDict

from tea.source.names import Names, acts_when_read
from tea.source.text import words
from tea.source.weights import MOST, length, weight
from tea.source.written_types import MAKERS, no_type

# Plain, if all that they are given is.
_PLAIN_CALLS = words(
    """
    abs bool chr complex datetime.date datetime.date.fromisoformat datetime.datetime datetime.datetime.fromisoformat
    datetime.time datetime.timedelta datetime.timezone decimal.Decimal float fractions.Fraction int math.exp math.log
    math.log10 math.log2 math.sqrt max min ord pathlib.PurePath pathlib.PurePosixPath range re.escape round sorted str
    sum textwrap.dedent uuid.UUID
    """
)
_HOLDING_CALLS = words("dict enumerate frozenset len list reversed set tuple types.MappingProxyType zip")
# Nothing is done with what these make of plain values.
_OTHER_CALLS = words(
    """
    collections.namedtuple enum.auto logging.getLogger pydantic.ConfigDict pydantic.StringConstraints re.compile
    string.Template struct.Struct zoneinfo.ZoneInfo
    """
)
_METHODS = words(
    """
    casefold items join keys lower lstrip removeprefix removesuffix rsplit rstrip split splitlines strip title upper
    values
    """
)
_CLASS_METHODS = words("bytes.fromhex dict.fromkeys str.maketrans")
_CONFIG_KEYS = frozenset(ConfigDict.__annotations__)
_FIELDS = words("dataclasses.field pydantic.Field pydantic.PrivateAttr")
_VALIDATORS = words("pydantic.AfterValidator pydantic.BeforeValidator pydantic.PlainValidator pydantic.WrapValidator")
_FACTORIES = words("bool dict float frozenset int list set str tuple")
MOST_ASKED = 30  # parameters of a function, or fields of a class, that libraries ask for again for each field
_CONSTANTS = words("__debug__ __file__ __name__ datetime.UTC datetime.timezone.utc sys.maxsize") | {
    f"{module.__name__}.{name}"
    for module in (math, re, string)
    for name, value in vars(module).items()
    if isinstance(value, str | int | float)
}
_DATA_BASES = words("typing.NamedTuple typing.TypedDict typing.Generic")
_OF_CALLS = words("__call__ __init__ __new__")  # give the parameters of a class
_OF_MAKING = ("__", "_dflt_")  # begin the names that `dataclasses` calls in making an instance, beside its fields
_JOINING = (ast.Add, ast.BitOr)
_MODEL = "pydantic.RootModel"  # with brackets behind it, a class is made
_MOST_NAMED = 10_000  # fields of a named tuple that is made by a call, or letters of their names
_LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Kind(IntEnum):
    REFUSED = 0
    HELD = 1  # may be kept, passed on and read: a class, a function, an object
    HOLDING = 2  # a builtin collection, whatever it holds
    PLAIN = 3


_Local = Mapping[str, _Kind]


def impure_part(nodes: Iterable[ast.expr | None], names: Names) -> ast.AST | None:
    """Return the first of these expressions to do more than build a constant, by its innermost such part."""
    for node in nodes:
        reader = _Reader(names)
        if node is not None and reader.kind(node) is _Kind.REFUSED:
            return reader.fault or node
    return None


def is_plain(node: ast.expr, names: Names) -> bool:
    """Return whether a value is of builtin types, so its users run nothing of the source."""
    return _Reader(names).kind(node) is _Kind.PLAIN


def is_collection(node: ast.expr, names: Names) -> bool:
    """Return whether a value is a builtin collection or a plain value, so iterating it runs no code."""
    return _Reader(names).kind(node) >= _Kind.HOLDING


def parameters(given: ast.arguments) -> int:
    """Return how many parameters a function has."""
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


class _Reader:
    """A reader of the expressions of one file.

    Args:
        names: Those of the file.
        local: The kinds of the variables of loops around the expression.
    """

    def __init__(self, names: Names, local: _Local | None = None) -> None:
        self._names = names
        self._local: _Local = local or {}
        self.fault: ast.AST | None = None

    def kind(self, node: ast.expr) -> _Kind:
        """Return the kind of an expression's value, and remember the first refused part of it."""
        self._names.effort.spend()
        small = isinstance(node, ast.Name | ast.Attribute) or weight(node, self._names) <= MOST
        found = self._kind(node) if small else _Kind.REFUSED
        if found is _Kind.REFUSED:
            self.fault = self.fault or node
        return found

    def _kind(self, node: ast.expr) -> _Kind:
        match node:
            case ast.Constant():
                return _Kind.PLAIN
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute(value=value, attr=name):
                free = name not in self._names.properties and not acts_when_read(node, self._names)
                return self._attribute(node, value) if free and self.kind(value) else _Kind.REFUSED
            case ast.Lambda(args=given):
                return self._held(one for one in (*given.defaults, *given.kw_defaults) if one is not None)
            case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner):
                return self._display(inner)
            case ast.Dict(keys=keys, values=values):
                spread = [ast.Starred(one) if key is None else one for key, one in zip(keys, values, strict=True)]
                return self._display([*(key for key in keys if key is not None), *spread])
            case ast.Call():
                return self._call(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._loops(node)
            case ast.IfExp(test=test, body=left, orelse=right):
                found = min(self.kind(left), self.kind(right))
                return found if self.kind(test) is _Kind.PLAIN else _Kind.REFUSED
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operation(node, min(self.kind(left), self.kind(right)), operator)
            case ast.Subscript(value=value, slice=inner):
                return self._part(node, self.kind(value), self.kind(inner))
            case ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.JoinedStr() | ast.FormattedValue() | ast.Slice():
                inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
                return _Kind.PLAIN if self._are(_Kind.PLAIN, inner) else _Kind.REFUSED
            case _:
                return _Kind.REFUSED

    def _are(self, least: _Kind, nodes: Iterable[ast.expr]) -> bool:
        return all(self.kind(one) >= least for one in nodes)

    def _held(self, nodes: Iterable[ast.expr]) -> _Kind:
        return _Kind.HELD if self._are(_Kind.HELD, nodes) else _Kind.REFUSED

    def _holding(self, kinds: Iterable[_Kind]) -> _Kind:
        """Return the kind of a collection by those of its parts."""
        least = min(kinds, default=_Kind.PLAIN)
        return max(least, _Kind.HOLDING) if least else _Kind.REFUSED

    def _display(self, inner: Iterable[ast.expr]) -> _Kind:
        kinds = [self._spread(one.value) if isinstance(one, ast.Starred) else self.kind(one) for one in inner]
        return self._holding(kinds)

    def _spread(self, node: ast.expr) -> _Kind:
        """Return the kind of an iterated or unpacked value: anything but a collection is refused."""
        found = self.kind(node)
        if found < _Kind.HOLDING:
            self.fault = self.fault or node
            return _Kind.REFUSED
        return found

    def _name(self, node: ast.Name, name: str) -> _Kind:
        if name in self._local:
            return self._local[name]
        if acts_when_read(node, self._names):
            return _Kind.REFUSED
        return self.bound(name)

    def bound(self, name: str) -> _Kind:
        """Return the kind of a name of the file or of a class; reading a name is harmless."""
        return min(_Reader(one)._bound_in_scope(name) for one in self._names.scopes(name))

    def _bound_in_scope(self, name: str) -> _Kind:
        names = self._names
        origin = names.imports.get(name)
        if origin is not None:
            return _elsewhere(origin, names) if origin[0] == "." else self._constant(ast.Name(name))
        if name in names.definitions or name in names.defined:
            return _Kind.HELD
        whole = names.made.get(name, ())
        if not whole:
            return self._constant(ast.Name(name))
        names.effort.spend(len(whole))
        kinds = [
            _value(one, names, alone=alone is not None) for alone, one in zip(names.assigned[name], whole, strict=True)
        ]
        return max(_Kind.HELD, min(kinds))

    def _attribute(self, node: ast.Attribute, value: ast.expr) -> _Kind:
        """Return the kind of an attribute bound by a module of the component, or of Python."""
        if self._is_local(node):
            return _Kind.HELD
        origin = self._names.imports.get(value.id, "") if isinstance(value, ast.Name) else ""
        if origin[:1] == "." and _is_module(origin, self._names):
            return _elsewhere(f"{origin}.{node.attr}", self._names)
        return self._constant(node)

    def _constant(self, node: ast.expr) -> _Kind:
        """Return the kind of a module's member, or of a builtin."""
        origin = self._names.origin(node) or ""
        return _Kind.PLAIN if origin in _CONSTANTS else _Kind.HELD

    def _operation(self, node: ast.BinOp, kind: _Kind, operator: ast.operator) -> _Kind:
        if kind is _Kind.PLAIN or (kind is _Kind.HOLDING and isinstance(operator, _JOINING)):
            return kind
        united = kind and isinstance(operator, ast.BitOr) and no_type([node], self._names) is None
        return _Kind.HELD if united else _Kind.REFUSED

    def _part(self, node: ast.Subscript, value: _Kind, inner: _Kind) -> _Kind:
        if value >= _Kind.HOLDING and inner is _Kind.PLAIN:
            return value if value is _Kind.PLAIN or isinstance(node.slice, ast.Slice) else _Kind.HELD
        held = value and inner and not self._may_be_loop_model(node.value) and no_type([node], self._names) is None
        return _Kind.HELD if held else _Kind.REFUSED

    def _may_be_loop_model(self, node: ast.expr) -> bool:
        """Return whether a type before brackets may be a model, made in each round, among a loop's variables."""
        origin = None if self._is_local(node) else self._names.origin(node)
        return bool(self._local) and (origin is None or origin.startswith(".") or origin == _MODEL)

    def _loops(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> _Kind:
        inside = _Reader(self._names, self._local)
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for loop in node.generators:
            targets = _targets(loop.target)
            given = inside._spread(loop.iter)
            if given is _Kind.REFUSED or targets is None or loop.is_async:
                self.fault = inside.fault
                return _Kind.REFUSED
            taken = _Kind.PLAIN if given is _Kind.PLAIN else _Kind.HELD
            inside = _Reader(self._names, {**inside._local, **dict.fromkeys(targets, taken)})
            if not inside._are(_Kind.PLAIN, loop.ifs):
                self.fault = inside.fault
                return _Kind.REFUSED
        found = inside._holding([inside.kind(one) for one in made])
        self.fault = inside.fault
        return found

    def _call(self, node: ast.Call) -> _Kind:
        options = {one.arg: one.value for one in node.keywords}
        given = [*node.args, *options.values()]
        origin = None if self._is_local(node.func) else self._names.origin(node.func)
        if None in options or any(isinstance(one, ast.Starred) for one in given):
            return _Kind.REFUSED
        if origin in MAKERS and origin != "collections.namedtuple":
            named = self._are(_Kind.PLAIN, node.args[:1]) and no_type([node], self._names) is None
            return self._held(given) if named else _Kind.REFUSED
        if origin in _HOLDING_CALLS:
            found = [*map(self._spread, node.args), *map(self.kind, options.values())]
            return _Kind.PLAIN if origin == "len" and all(found) else self._holding(found)
        if origin == "dict.fromkeys" and not options:
            return self._holding([*map(self._spread, node.args[:1]), *map(self.kind, node.args[1:])])
        if origin in _FIELDS:
            return self._field(node.args, options)
        if origin in _VALIDATORS:
            return self._held(given) if len(given) == 1 and self._is_kept(given[0]) else _Kind.REFUSED
        if origin in _PLAIN_CALLS or origin in _CLASS_METHODS:
            return _Kind.PLAIN if self._are(_Kind.PLAIN, given) else _Kind.REFUSED
        if origin == "pydantic.ConfigDict" and not options.keys() <= _CONFIG_KEYS:
            return _Kind.REFUSED
        if origin == "collections.namedtuple" and (
            self._local or any(length(one, self._names) > _MOST_NAMED for one in given[1:])
        ):
            return _Kind.REFUSED
        if origin in _OTHER_CALLS:
            return _Kind.HELD if self._are(_Kind.PLAIN, given) else _Kind.REFUSED
        match node.func:
            case ast.Name(id=name) if name not in self._local and self._makes_data(name):
                return self._held(given)
            case ast.Attribute(value=value, attr=name) if name in _METHODS:
                return self._method(self.kind(value), name, given)
            case _:
                return _Kind.REFUSED

    def _method(self, value: _Kind, name: str, arguments: list[ast.expr]) -> _Kind:
        if value is _Kind.PLAIN and self._are(_Kind.PLAIN, arguments):
            return _Kind.PLAIN
        views = value is _Kind.HOLDING and name in ("items", "keys", "values") and not arguments
        return _Kind.HOLDING if views else _Kind.REFUSED

    def _field(self, arguments: list[ast.expr], options: Mapping[str | None, ast.expr]) -> _Kind:
        """Return the kind of a field: its default is kept, and so is its factory, called with an instance."""
        kept = [*arguments, *(options[name] for name in ("default", "default_factory") if name in options)]
        plain = [one for name, one in options.items() if name not in ("default", "default_factory")]
        factory = options.get("default_factory")
        known = factory is None or self._is_kept(factory)
        return self._held(kept) if known and self._are(_Kind.PLAIN, plain) else _Kind.REFUSED

    def _is_kept(self, node: ast.expr) -> bool:
        """Return whether a value is a function, for a library to keep until there is an instance."""
        found = not self._is_local(node) and _is_function(node, self._names)
        if not found:
            self.fault = self.fault or node
        return found

    def _makes_data(self, name: str) -> bool:
        """Return whether a name is a class of the file with instances made by Python alone."""
        top = self._names.top or self._names
        found = self._names.definitions.get(name)
        return isinstance(found, ast.ClassDef) and name not in top.made and _is_data_class(found, top)

    def _is_local(self, node: ast.expr) -> bool:
        return any(isinstance(one, ast.Name) and one.id in self._local for one in ast.walk(node))


def _value(node: ast.expr | None, names: Names, *, alone: bool = True) -> _Kind:
    """Return the kind of a value of the top level, worked out once; of one unpacked among others if not `alone`."""
    if node is None:
        return _Kind.HELD
    known, key = names.measures, ("kind", id(node))
    if key not in known:
        known[key] = _Kind.HELD  # as long as it is worked out: a value made of itself is none
        known[key] = _Reader(names).kind(node)
    found = _Kind(int(known[key]))
    return found if alone or found is _Kind.PLAIN else _Kind.HELD


def _elsewhere(origin: str, names: Names) -> _Kind:
    """Return the kind of a name of the component's other files: the least of all its bindings."""
    name = origin.rpartition(".")[2]
    if _may_be_module(name, names):
        return _Kind.HELD
    key = f"elsewhere {name}", 0
    if key not in names.measures:
        holders = names.holders(name)
        names.measures[key] = _Kind.HELD
        names.measures[key] = min((_Reader(one).bound(name) for one in holders), default=_Kind.HELD)
    return _Kind(int(names.measures[key]))


def _is_module(origin: str, names: Names) -> bool:
    """Return whether a relative import leads to a file, as nothing else of the component has its name."""
    name = origin.rpartition(".")[2]
    return not names.holders(name) and _may_be_module(name, names)


def _may_be_module(name: str, names: Names) -> bool:
    return any(name in one.path.removesuffix(".py").split("/") for one in names.files)


def _targets(node: ast.expr) -> list[str] | None:
    """Return the variables of a loop, or None if it changes something else."""
    parts = list(ast.walk(node))
    plain = all(isinstance(one, ast.Name | ast.Tuple | ast.List | ast.Starred | ast.expr_context) for one in parts)
    return [one.id for one in parts if isinstance(one, ast.Name)] if plain else None


def _is_data_class(node: ast.ClassDef, names: Names) -> bool:
    """Return whether creating an instance runs none of the file's code: a class of fields with plain defaults alone."""
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    bases = [names.origin(one.value if isinstance(one, ast.Subscript) else one) for one in node.bases]
    declared = any(names.origin(mark) == "dataclasses.dataclass" for mark in marks)
    plain = all(one in _DATA_BASES for one in bases) and len(marks) <= 1
    return (declared or bool(bases)) and plain and all(_is_field(one, names) for one in node.body)


def _is_field(node: ast.stmt, names: Names) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if not name.startswith(_OF_MAKING):
            return value is None or _is_default(value, names)
        case _:
            return False


def _is_default(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.Call(func=function, args=[], keywords=options) if names.origin(function) == "dataclasses.field":
            factories = [one.value for one in options if one.arg in (None, "default_factory")]
            others = [one.value for one in options if one.arg == "default"]
            plain = all(_value(one, names) is _Kind.PLAIN for one in others)
            return plain and all(_is_factory(one, names) for one in factories)
        case _:
            return _value(node, names) is _Kind.PLAIN


def _is_factory(node: ast.expr, names: Names) -> bool:
    """Return whether a factory is a builtin type, as `list` or `list[str]`."""
    return names.origin(node.value if isinstance(node, ast.Subscript) else node) in _FACTORIES


def _is_function(node: ast.expr, names: Names) -> bool:
    """Return whether a value is a function or a class: asked for its truth and its parameters alone, it runs nothing.

    One of a package, or of Python, counts as one whatever it is.
    """
    match node:
        case ast.Lambda(args=given):
            return parameters(given) <= MOST_ASKED
        case ast.Name(id=name):
            return all(_is_bound_to_function(name, one) for one in names.scopes(name))
        case ast.Subscript(value=value):
            return _is_function(value, names)
        case ast.Attribute():
            return (names.origin(node) or ".")[0] != "."
        case _:
            return False


def _is_bound_to_function(name: str, names: Names) -> bool:
    """Return whether a scope binds a name to nothing but functions and classes, of few parameters and fields."""
    names.effort.spend()
    origin, made, found = names.imports.get(name), names.made.get(name, ()), names.definitions.get(name)
    if origin is not None:
        last = origin.rpartition(".")[2]
        holders = () if origin[0] != "." or _may_be_module(last, names) else names.holders(last)
        return origin[0] != "." or (bool(holders) and all(_is_bound_to_function(last, one) for one in holders))
    if made:
        return found is None and all(isinstance(one, ast.Lambda) and _is_function(one, names) for one in made)
    if name in names.bound:
        return found is not None and _asked(found, names) <= MOST_ASKED
    return True


def _asked(node: ast.stmt, names: Names) -> int:
    """Return how many parameters a function may have, or a class with its bases."""
    waiting, seen, count = [node], set[int](), 0
    while waiting and count <= MOST_ASKED:
        match one := waiting.pop():
            case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given):
                count += parameters(given)
            case ast.ClassDef(bases=bases, body=body) if id(one) not in seen:
                seen.add(id(one))
                count += 1 + sum(isinstance(inner, ast.AnnAssign) for inner in body)
                made = [inner for inner in body if isinstance(inner, ast.FunctionDef) and inner.name in _OF_CALLS]
                waiting += [*made, *(cls for base in bases for cls in _classes(base, names))]
            case _:
                pass
    return count


def _classes(base: ast.expr, names: Names) -> Iterator[ast.stmt]:
    """Yield the component's classes of a base's name, from all of its files."""
    plain = base.value if isinstance(base, ast.Subscript) else base
    name = (names.origin(plain) or ast.unparse(plain)).rpartition(".")[2]
    yield from (one.definitions[name] for one in names.files if name in one.definitions)
