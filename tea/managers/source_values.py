"""What may stand at the top level of a component: expressions that only build constants and types."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tea.managers.source_names import Names
from tea.managers.source_text import words

_BUILTINS = """
    abs bool bytearray bytes chr complex dict enumerate float frozenset int len list max min object ord property range
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
    "functools": "partial",
    "inspect": "cleandoc",
    "itertools": "chain chain.from_iterable product",
    "logging": "getLogger",
    "math": "exp log log10 log2 sqrt",
    "operator": "attrgetter itemgetter methodcaller",
    "pathlib": "PurePath PurePosixPath",
    "pydantic": "ConfigDict Field TypeAdapter",
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
    bit_length casefold copy decode encode format fromhex fromkeys get items join keys lower lstrip maketrans
    removeprefix removesuffix replace rsplit rstrip split splitlines strip symmetric_difference title translate
    union upper values difference intersection
    """
)
_DATA_BASES = frozenset({"typing.NamedTuple", "typing.TypedDict"})
_CONSTRUCTION_HOOKS = frozenset({"__init__", "__new__", "__post_init__", "__setattr__"})
_PARTS = (
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict, ast.DictComp,
    ast.FormattedValue, ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.Lambda, ast.List, ast.ListComp, ast.Name,
    ast.Set, ast.SetComp, ast.Slice, ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp,
)  # fmt: skip
_SEQUENCES = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)
_MOST_LOOPS, _MOST_REPEATS, _MOST_RANGE, _MOST_POWER = 2, 1_000, 100_000, 64


def impure_part(nodes: Iterable[ast.AST | None], names: Names) -> ast.AST | None:
    """Return the first part of these expressions that could do more than build a constant.

    Pure are literals, names, attributes, subscripts, operators, comprehensions of at most two loops, lambdas that
    nothing calls, calls of `PURE_CALLS`, of the file's own dataclasses, and of `PURE_METHODS` on values of its own.
    """
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in nodes if node is not None]
    while waiting:
        node, called = waiting.pop()
        if isinstance(node, ast.expr) and not (isinstance(node, _PARTS) and _is_small(node)):
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
    """Tell whether a call only constructs a value."""
    origin = names.origin(node.func)
    if origin in PURE_CALLS:
        return not (origin in _BUILTINS.split() and any(_is_function(one, names) for one in _arguments(node)))
    match node.func:
        case ast.Name(id=name) if isinstance(found := names.definitions.get(name), ast.ClassDef):
            return is_data_class(found, names)
        case ast.Attribute(value=value, attr=attribute) if attribute in PURE_METHODS:
            return "." not in (names.origin(value) or "") and not _is_module(value, names)
        case _:
            return False


def is_data_class(node: ast.ClassDef, names: Names) -> bool:
    """Tell whether making an instance of this class runs nothing of the file's own."""
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    declared = any(names.origin(mark) == "dataclasses.dataclass" for mark in marks)
    derived = any(names.origin(base) in _DATA_BASES for base in node.bases)
    hooks = {one.name for one in node.body if isinstance(one, ast.FunctionDef)} & _CONSTRUCTION_HOOKS
    return (declared or derived) and not hooks


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _is_function(node: ast.expr, names: Names) -> bool:
    """Tell whether an argument is code of the file's own, which `sorted` or `max` would run."""
    match node:
        case ast.Lambda():
            return True
        case ast.Name(id=name):
            return isinstance(names.definitions.get(name), ast.FunctionDef | ast.AsyncFunctionDef)
        case _:
            return False


def _is_module(node: ast.expr, names: Names) -> bool:
    return isinstance(node, ast.Name) and node.id in names.imports


def _is_small(node: ast.expr) -> bool:
    """Tell whether evaluating takes no time and space to speak of: no towers of powers, no endless repetition."""
    match node:
        case ast.BinOp(op=ast.Pow() | ast.LShift(), right=right):
            return isinstance(right, ast.Constant | ast.UnaryOp) and abs(_number(right)) <= _MOST_POWER
        case ast.BinOp(op=ast.Mult(), left=left, right=right) if _is_sequence(left) or _is_sequence(right):
            times = right if _is_sequence(left) else left
            return isinstance(times, ast.Constant) and _number(times) <= _MOST_REPEATS
        case ast.Call(func=ast.Name(id="range"), args=arguments):
            return all(abs(_number(one)) <= _MOST_RANGE for one in arguments)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return len(node.generators) <= _MOST_LOOPS and not any(one.is_async for one in node.generators)
        case _:
            return True


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, _SEQUENCES) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _number(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case _:
            return float("inf")
