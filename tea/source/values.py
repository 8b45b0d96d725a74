"""The values at the top level of a component: expressions building only constants and types."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tea.source.names import KNOWN_NAMES, Names, acts_when_read
from tea.source.text import words
from tea.source.weights import MOST, weight
from tea.source.written_types import MAKERS, no_type

_BUILTINS = """
    abs bool bytes chr complex dict enumerate float frozenset int len list max min object ord range
    reversed round set slice sorted str sum tuple type zip
    """
_CONSTRUCTORS = {
    "builtins": _BUILTINS,
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "contextvars": "ContextVar",
    "dataclasses": "field",
    "datetime": "date datetime time timedelta timezone date.fromisoformat datetime.fromisoformat",
    "decimal": "Decimal",
    "enum": "auto",
    "fractions": "Fraction",
    "inspect": "cleandoc",
    "itertools": "chain chain.from_iterable",
    "logging": "getLogger",
    "math": "exp log log10 log2 sqrt",
    "operator": "itemgetter",
    "pathlib": "PurePath PurePosixPath",
    "pydantic": "ConfigDict Field",
    "re": "compile escape",
    "string": "Template",
    "struct": "Struct",
    "textwrap": "dedent",
    "types": "MappingProxyType SimpleNamespace",
    "typing": "NamedTuple NewType ParamSpec TypeVar TypeVarTuple TypedDict cast get_args",
    "uuid": "UUID",
    "zoneinfo": "ZoneInfo",
}
PURE_CALLS = frozenset(
    name if module == "builtins" else f"{module}.{name}"
    for module, names in _CONSTRUCTORS.items()
    for name in names.split()
)
PURE_METHODS = words(
    """
    bit_length casefold copy decode encode fromhex fromkeys get items join keys lower lstrip maketrans
    removeprefix removesuffix rsplit rstrip split splitlines strip symmetric_difference title translate
    union upper values difference intersection
    """
)
_HOLDERS = frozenset({"object", "type", "types.SimpleNamespace", "typing.cast"})  # give back what they are given
# These call methods of what they are given by their names, which a class, a module or an instance may have too.
_ASKING = words(
    """
    collections.Counter collections.OrderedDict collections.defaultdict dict inspect.cleandoc textwrap.dedent uuid.UUID
    """
)
_ASKING_NAMED = frozenset({"inspect.cleandoc", "textwrap.dedent", "uuid.UUID"})  # also of named arguments
_PICKING = frozenset({"max", "min", "sum"})  # give back a part of what they are given
_CALLED_BACK = words("bool dict float frozenset int len list set str tuple abs")
_FIELD_CODE = words("discriminator exclude_if field_title_generator json_schema_extra")  # run where a schema is made
_CALLBACKS = {"max": "key", "min": "key", "sorted": "key"}
_UNFOLDED = frozenset({*_CALLBACKS, "type", "collections.defaultdict", "dataclasses.field", "types.SimpleNamespace"})
_DATA_BASES = frozenset({"typing.NamedTuple", "typing.TypedDict", "typing.Generic"})
_PARTS = (
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict, ast.DictComp,
    ast.FormattedValue, ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.Lambda, ast.List, ast.ListComp, ast.Name,
    ast.Set, ast.SetComp, ast.Slice, ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp,
)  # fmt: skip
_SEQUENCES = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)
_LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def impure_part(nodes: Iterable[ast.AST | None], names: Names) -> ast.AST | None:
    """Return the first part of these expressions able to do more than build a constant.

    Pure are literals, names, attributes, subscripts, operators, small comprehensions, lambdas that nothing calls, calls
    of `PURE_CALLS`, of the file's own dataclasses without methods, and of `PURE_METHODS` on values of its own.
    """
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in nodes if node is not None]
    while waiting:
        node, called = waiting.pop()
        if isinstance(node, ast.expr) and not (
            isinstance(node, _PARTS) and _is_small(node, names) and _is_quiet(node, names)
        ):
            return node
        if any(not _is_data(one, names) for one in _asked(node, names)):
            return node
        if isinstance(node, ast.Call):
            if not is_pure_call(node, names):
                return node
            called = (
                called
                or isinstance(node.func, ast.Attribute)
                or names.origin(node.func) in PURE_CALLS - {"dataclasses.field"}
            )
        if isinstance(node, ast.Lambda) and not called:
            waiting += [(default, called) for default in (*node.args.defaults, *node.args.kw_defaults) if default]
            continue
        waiting += [(child, called) for child in ast.iter_child_nodes(node)]
    return None


def is_pure_call(node: ast.Call, names: Names) -> bool:
    """Return whether a call only constructs a value."""
    origin = names.origin(node.func)
    if origin == "type" and len(node.args) != 1:
        return False
    if origin in MAKERS and no_type([node], names) is not None:
        return False
    if origin in PURE_CALLS:
        return not any(_is_called(origin, one, names) for one in [*node.args, *node.keywords])
    match node.func:
        case ast.Name(id=name) if isinstance(found := names.definitions.get(name), ast.ClassDef):
            return is_data_class(found, names.top or names)
        case ast.Attribute(value=value, attr=attribute) if attribute in PURE_METHODS:
            return names.origin(value) in _BUILTINS.split() or is_plain(value, names)
        case _:
            return False


def is_data_class(node: ast.ClassDef, names: Names) -> bool:
    """Return whether creating an instance runs none of the file's code: a class of annotated fields alone."""
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    bases = [names.origin(one.value if isinstance(one, ast.Subscript) else one) for one in node.bases]
    declared = any(names.origin(mark) == "dataclasses.dataclass" for mark in marks)
    plain = all(one in _DATA_BASES for one in bases) and len(marks) <= 1
    return (declared or bool(bases)) and plain and all(_is_field(one, names) for one in node.body)


def _is_field(node: ast.stmt, names: Names) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if not name.startswith("__"):
            return value is None or _is_default(value, names)
        case _:
            return False


def _is_default(node: ast.expr, names: Names) -> bool:
    """Return whether a default of a data class runs no code: no field, also under a name, has a factory of the file."""
    match node:
        case ast.Call(func=function, keywords=options) if names.origin(function) == "dataclasses.field":
            factories = [one.value for one in options if one.arg in (None, "default_factory")]
            return all(_is_factory(one, names) for one in factories)
        case ast.Call(func=ast.Name(id=name)) if isinstance(names.definitions.get(name), ast.ClassDef):
            return True
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.Lambda():
            return True
        case ast.Name(id=name):
            return _is_default_name(name, names)
        case ast.Attribute(value=ast.Name(id=name)) if isinstance(found := names.definitions.get(name), ast.ClassDef):
            return any((names.origin(base) or "").startswith("enum.") for base in found.bases)
        case ast.Attribute():
            return (names.origin(node) or ".")[0] != "."
        case _:
            return is_plain(node, names)


def _is_default_name(name: str, names: Names) -> bool:
    """Return whether a name stands for no such field, in every file of the component if it is imported from one."""
    origin = names.imports.get(name)
    if origin is not None and origin[0] == ".":
        found = origin.rpartition(".")[2]
        held = [one for one in names.files if found in one.bound]
        return bool(held) and all(found not in one.imports and _is_default_name(found, one) for one in held)
    values = names.assigned.get(name, ())
    if not values:
        return origin is not None or name in names.definitions or name not in names.bound
    return all(one is not None and _is_default_value(one, names) for one in values)


def _is_default_value(node: ast.expr, names: Names) -> bool:
    known, key = names.measures, ("default", id(node))
    if key not in known:
        names.effort.spend()
        known[key] = False  # as long as it is worked out: a value made of itself is none
        known[key] = _is_default(node, names)
    return bool(known[key])


def _is_called(function: str, node: ast.expr | ast.keyword, names: Names) -> bool:
    """Return whether a pure call may run its argument: a callback other than a plain builtin."""
    match node:
        case ast.keyword(arg=None) | ast.Starred():
            return function in _UNFOLDED or function.startswith("pydantic.")
        case ast.keyword(arg=name, value=value) if name == _CALLBACKS.get(function):
            return not _is_callback(value, names)
        case ast.keyword(value=value) if function == "pydantic.ConfigDict":
            return not isinstance(value, ast.Constant)
        case ast.keyword(arg="metadata", value=value) if function == "dataclasses.field":
            return not isinstance(value, ast.Dict) or not all(map(_is_inert, value.keys))
        case ast.keyword(arg=str() as name) if function == "types.SimpleNamespace":
            return name.startswith("__")
        case ast.expr() if function == "types.SimpleNamespace":
            return True
        case ast.keyword(arg="default_factory", value=value) if function == "pydantic.Field":
            return not _is_factory(value, names)
        case ast.keyword(arg=name, value=value) if function == "pydantic.Field":
            return name in _FIELD_CODE and not isinstance(value, ast.Constant | ast.Dict)
        case ast.keyword():
            return function == "type"
        case _ if function == "collections.defaultdict":
            return not (_is_factory(node, names) or isinstance(node, ast.Dict))
        case _ if function == "bytes":
            return not isinstance(node, ast.List | ast.Tuple) and not _is_sequence(node)
        case _:
            return function in _BUILTINS.split() and _is_function(node, names)


def _is_inert(key: ast.expr | None) -> bool:
    """Return whether pydantic executes no code from the value of a key in a field's metadata."""
    return isinstance(key, ast.Constant) and key.value not in (*_FIELD_CODE, "default_factory")


def _is_callback(node: ast.expr, names: Names) -> bool:
    called = names.origin(node.func) if isinstance(node, ast.Call) else None
    return names.origin(node) in _CALLED_BACK or called == "operator.itemgetter"


def _is_factory(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.Lambda(args=ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kwarg=None), body=body):
            return impure_part([body], names) is None
        case ast.Subscript(value=value):
            return names.origin(value) in _CALLED_BACK
        case _:
            return names.origin(node) in _CALLED_BACK


def _is_function(node: ast.expr, names: Names) -> bool:
    """Return whether an argument is code of the file's own."""
    match node:
        case ast.Lambda():
            return True
        case ast.Name(id=name):
            return isinstance(names.definitions.get(name), ast.FunctionDef | ast.AsyncFunctionDef)
        case _:
            return False


def _is_quiet(node: ast.expr, names: Names) -> bool:
    """Return whether an expression runs no property and rebinds no known name as a loop variable."""
    match node:
        case ast.Attribute(attr=attribute):
            return attribute not in names.properties and not acts_when_read(node, names)
        case ast.Name():
            return not acts_when_read(node, names)
        case ast.Subscript(value=value):
            return is_plain(value, names) or no_type([node], names) is None
        case ast.BinOp(op=ast.BitOr(), left=left, right=right) if _is_text(left) or _is_text(right):
            return no_type([node], names) is None
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            targets = [part for loop in node.generators for part in ast.walk(loop.target)]
            taken = names.imports.keys() | names.definitions.keys() | set(_BUILTINS.split())
            plain = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.expr_context)
            free = all(
                isinstance(one, plain) and not (isinstance(one, ast.Name) and one.id in taken) for one in targets
            )
            calls = any(
                any(_asked(one, names)) or (isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute))
                for one in ast.walk(node)
            )
            return free and (not calls or all(is_plain(loop.iter, names) for loop in node.generators))
        case _:
            return True


def is_plain(node: ast.expr, names: Names) -> bool:
    """Return whether a value is of the builtin types, and made here, without methods of the file's own."""
    known, key = names.measures, ("plain", id(node))
    if key not in known:
        names.effort.spend()
        known[key] = False  # as long as it is worked out: a value made of itself is none
        known[key] = _is_made_plain(node, names)
    return bool(known[key])


def _is_made_plain(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Name(id=name) if name in names.assigned:
            found = names.assigned[name]
            names.effort.spend(len(found))
            return name not in names.imports and all(one is not None and is_plain(one, names) for one in found)
        case ast.Name(id=name):
            return name not in names.bound and name not in names.imports and name not in KNOWN_NAMES
        case ast.Call(func=ast.Attribute(value=value, attr=attribute), args=given) if attribute in PURE_METHODS:
            return (names.origin(value) in _BUILTINS.split() or is_plain(value, names)) and all(
                is_plain(one, names) for one in given
            )
        case ast.Call(func=function, args=given, keywords=options):
            values = [
                *given,
                *(one.value for one in options if one.arg != _CALLBACKS.get(names.origin(function) or "")),
            ]
            makes = names.origin(function) in PURE_CALLS - _HOLDERS
            return makes and all(is_plain(one, names) for one in values)
        case ast.Attribute() | ast.Lambda():
            return False
        case _:
            inner = [one.iter if isinstance(one, ast.comprehension) else one for one in ast.iter_child_nodes(node)]
            return all(is_plain(one, names) for one in inner if isinstance(one, ast.expr))


def _asked(node: ast.AST, names: Names) -> list[ast.expr]:
    """Return the parts of an expression whose methods are called by their names: `{**x}`, `f(**x)`, `dict(x)`."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return [value for key, value in zip(keys, values, strict=True) if key is None]
        case ast.Call(func=function, args=given, keywords=options):
            origin = names.origin(function)
            spread = [one.value for one in options if one.arg is None or origin in _ASKING_NAMED]
            factory = origin == "collections.defaultdict"
            return [*(given[factory:] if origin in _ASKING else ()), *spread]
        case _:
            return []


def _is_data(node: ast.expr, names: Names) -> bool:
    """Return whether a value is itself no class, module, function or instance of the component, whatever it holds."""
    known, key = names.measures, ("data", id(node))
    if key not in known:
        names.effort.spend()
        known[key] = False  # as long as it is worked out: a value made of itself is none
        known[key] = _is_made_data(node, names)
    return bool(known[key])


def _is_made_data(node: ast.expr, names: Names) -> bool:
    match node:
        case ast.Dict() | ast.List() | ast.Set() | ast.Tuple():
            return True
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return True
        case ast.Starred(value=value):
            return is_plain(value, names)
        case ast.IfExp(body=left, orelse=right):
            return _is_data(left, names) and _is_data(right, names)
        case ast.BoolOp(values=values):
            return all(_is_data(one, names) for one in values)
        case ast.Name(id=name):
            return _is_data_name(name, names)
        case ast.Attribute() if (origin := names.origin(node)) is not None:
            return origin[0] != "." or _is_data_elsewhere(origin, names)
        case ast.Call(func=function) if names.origin(function) in PURE_CALLS - _HOLDERS - _PICKING:
            return True
        case _:
            return is_plain(node, names)


def _is_data_name(name: str, names: Names) -> bool:
    origin = names.imports.get(name)
    if origin is not None:
        return origin[0] != "." or _is_data_elsewhere(origin, names)
    if name in names.definitions:
        return False
    values = names.assigned.get(name, ())
    return all(one is not None and _is_data(one, names) for one in values) and (bool(values) or name not in names.bound)


def _is_data_elsewhere(origin: str, names: Names) -> bool:
    """Return whether what is imported from the component's own files is data, in every file with such a name."""
    name = origin.rpartition(".")[2]
    led = [one for one in names.files if not _leads_to(one.imports.get(name, ""), name)]
    held = [one for one in led if name in one.bound]
    return bool(held) and all(name not in one.imports and _is_data_name(name, one) for one in held)


def _leads_to(origin: str, name: str) -> bool:
    """Return whether an import takes a name, unchanged, from another file of the component."""
    return origin.startswith(".") and origin.rpartition(".")[2] == name


def _is_small(node: ast.expr, names: Names) -> bool:
    """Return whether evaluating takes negligible time and space: no towers of powers, no endless repetition."""
    loops = [loop for loop in node.generators if loop.is_async] if isinstance(node, _LOOPS) else []
    return not loops and (isinstance(node, ast.Name | ast.Attribute) or weight(node, names) <= MOST)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, _SEQUENCES) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
