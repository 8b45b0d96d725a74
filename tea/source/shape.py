"""The top level of a component's file: imports, definitions and constants, and no executed work."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

from tea.components.docstring import require_short
from tea.source.bindings import bindings, imported
from tea.source.names import Names
from tea.source.scopes import check_scopes
from tea.source.text import ParsedFile, words
from tea.source.values import MOST_ASKED, impure_part, is_collection, is_plain, parameters
from tea.source.weights import MOST, is_modest, is_unpacked, weight
from tea.source.written_types import no_type, parameters_of

DECORATORS = words(
    """
    abc.abstractmethod classmethod contextlib.asynccontextmanager contextlib.contextmanager
    dataclasses.dataclass enum.unique functools.cache functools.cached_property functools.lru_cache
    functools.total_ordering property pydantic.computed_field pydantic.field_validator pydantic.model_validator
    staticmethod tea.action tea.tool typing.final typing.overload typing.runtime_checkable
    typing_extensions.override
    """
)
# Those that a class may have: others make of it something that is called when it is read.
_OF_CLASSES = words("dataclasses.dataclass enum.unique functools.total_ordering typing.final typing.runtime_checkable")
# Those with options; any other decorator that is called may call what it is given.
_OPTIONED = words(
    """
    dataclasses.dataclass functools.lru_cache pydantic.computed_field pydantic.field_validator
    pydantic.model_validator tea.action tea.tool
    """
)
_MOST_OPTIONS = 10_000  # the weight of a model's options, read for each field, and described with each derived model
_REREADING = "use_attribute_docstrings"
_END_OF_SIGNATURE = re.compile(r"^[ \t]*--[ \t]*$", re.MULTILINE)
_PROPERTY_PARTS = frozenset({"setter", "getter", "deleter"})
_METHODS = words(
    """
    __abs__ __add__ __aenter__ __aexit__ __aiter__ __and__ __anext__ __await__ __bool__ __bytes__ __call__ __ceil__
    __complex__ __contains__ __copy__ __deepcopy__ __del__ __delattr__ __delete__ __delitem__ __dir__ __divmod__
    __enter__ __eq__ __exit__ __float__ __floor__ __floordiv__ __format__ __fspath__ __ge__ __getattr__
    __getattribute__ __getitem__ __getstate__ __gt__ __hash__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__
    __imod__ __imul__ __index__ __init__ __int__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __iter__ __itruediv__
    __ixor__ __le__ __len__ __length_hint__ __lshift__ __lt__ __matmul__ __missing__ __mod__ __mul__ __ne__ __neg__
    __new__ __next__ __or__ __pos__ __post_init__ __pow__ __radd__ __rand__ __rdivmod__ __reduce__ __reduce_ex__
    __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__
    __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __set__ __setattr__ __setitem__ __setstate__ __sizeof__
    __str__ __sub__ __truediv__ __trunc__ __xor__
    """
)  # run on instances alone; others may run while a class is made or described, as `__get__` of a class in a typed dict
_OF_MODELS = words(
    """
    Config _field_defaults model_computed_fields model_config model_fields model_json_schema model_parametrized_name
    model_rebuild
    """
)  # what pydantic reads, or calls, while a class is made or described
_BOUND = frozenset({"property", "functools.cached_property", "pydantic.computed_field"})
_TYPE_OPTIONS = frozenset({"json_schema_input_type", "return_type"})
_EXTRA = "extra_items"  # the option of a typed dict that is a type, evaluated where it is a text
_FREE_DUNDERS = words("__all__ __author__ __doc__ __hash__ __license__ __match_args__ __slots__ __version__")
_OF_ENUMS = words("name value")  # what pydantic reads of members
_PURE = words("enum.Enum enum.Flag")
_OF_MIXED = frozenset({*dir(float), *dir(int), *dir(str)})  # what libraries call of texts and numbers
_DESCRIBED = 16  # of what a default weighs, described in the time of one step
_MOST_MEMBERS = 2**24  # the weight of all members together, each counted as often as there are any
_MOST_MEMBER = 10_000  # str or int is called with it, where an Enum derives from that
_MOST_IN_CLASS = 5_000  # of members: libraries write code for all fields of a class together
_ENUM_NAMES = words("Enum Flag IntEnum IntFlag ReprEnum StrEnum")
_ENUM_BASES = words("float int str enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.ReprEnum enum.StrEnum")


def check_shape(file: ParsedFile, names: Names) -> None:
    """Raise BadComponent for a file with more at its top level than imports, definitions and constants.

    Decorators are those of `DECORATORS` and a property's own; defaults, base classes, annotations and class bodies are
    held to the same rule as constants, because they too are evaluated when the file is imported.

    Raises:
        BadComponent: A statement does work; the error names its line.
    """
    check_scopes(file, names)
    _check_beside(file, names)
    _check_bound_once(file, file.tree.body)
    _check_properties(file, names, file.tree)
    _check_body(file, names, file.tree.body)
    if not is_modest(names):
        raise file.refuse("its constants take much memory to make.", "write fewer, or move them into functions.")


def _check_body(file: ParsedFile, names: Names, body: Sequence[ast.stmt]) -> None:
    for node in body:
        _check_special(file, names, node)
        _check_statement(file, names, node)


def _check_beside(file: ParsedFile, names: Names) -> None:
    """Raise BadComponent for a name of a file beside this one, until it is bound to something else."""
    for node in file.tree.body:
        origins = dict(imported([node]))
        for name in bindings(node):
            if name in names.beside and not origins.get(name, "").startswith("."):
                problem = f"{name[:60]!r} is the name of a file beside it, too."
                raise file.refuse(problem, "give one of them another name.", node)


def _check_bound_once(file: ParsedFile, body: list[ast.stmt]) -> None:
    """Raise BadComponent for an import or a class with its name bound twice, as other checks rely on the binding."""
    seen: dict[str, str] = {}
    imports = dict(imported(body))
    for node in body:
        origins = dict(imported([node]))
        for name in bindings(node):
            what = origins.get(name, type(node).__name__)
            single = name in imports or "ClassDef" in (what, seen.get(name))
            if name in seen and single and not (name in origins and seen[name] == what):
                raise file.refuse(f"{name[:60]!r} is bound twice.", "give the second another name.", node)
            seen[name] = what


def _check_special(file: ParsedFile, names: Names, node: ast.stmt) -> None:
    """Raise BadComponent for dunder names, as Python uses them implicitly; methods of classes are allowed."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node not in file.tree.body:
        return
    for name in bindings(node):
        if _is_special(name) and name not in _FREE_DUNDERS:
            raise file.refuse(f"{name[:60]} may run while the file is imported.", "do without it.", node)
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if _is_special(name) and (value is None or not is_plain(value, names)):
            raise file.refuse(f"{name[:60]} is not a plain value.", "write it out, with texts and numbers.", node)
        if name == "__doc__" and names.top and not isinstance(value, ast.Constant):
            raise file.refuse("the documentation of a class is put together.", "write it as a docstring.", node)


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
            if not all(isinstance(one, ast.Name) for one in targets):
                _check_unpacked(file, names, value)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            _check_targets(file, [target])
            _check_values(file, names, [annotation, value])
            _spend([value] if names.top else [], names)
            _check_types(file, names, [annotation])
        case ast.If(test=test, body=body, orelse=[]) if names.origin(test) == "typing.TYPE_CHECKING":
            _check_imports_only(file, body)
        case _ if type(node).__name__ == "TypeAlias":
            every = [node.__dict__["value"], *parameters_of(node)]
            _check_values(file, names, every)
            _check_types(file, names, every)
        case _:
            raise _work(file, node)


def _check_function(file: ParsedFile, names: Names, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    _check_decorators(file, names, node.decorator_list, DECORATORS if names.top else DECORATORS - _BOUND)
    given = node.args
    called = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    if parameters(given) > MOST_ASKED and any((names.origin(one) or "").startswith("pydantic.") for one in called):
        problem = f"a function that pydantic asks for its parameters has more than {MOST_ASKED}."
        raise file.refuse(problem, "give it fewer.", node)
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [one.annotation for one in every if one is not None]
    limits = [*parameters_of(node)]
    _check_values(file, names, [*given.defaults, *given.kw_defaults, *annotations, node.returns, *limits])
    _spend([*given.defaults, *given.kw_defaults], names)
    _check_types(file, names, [*annotations, node.returns, *limits])


def _check_class(file: ParsedFile, names: Names, node: ast.ClassDef) -> None:
    if len(node.body) > _MOST_IN_CLASS:
        raise file.refuse(f"a class has more than {_MOST_IN_CLASS:,} members.", "keep them in a dict.", node)
    _check_decorators(file, names, node.decorator_list, _OF_CLASSES)
    if _is_documented_by_python(node):
        problem = "a dataclass with slots has no documentation of its own, and what Python writes in its place is read"
        raise file.refuse(f"{problem} as a signature.", "write a docstring for it.", node)
    _check_rereading(file, node.keywords, node)
    for keyword in node.keywords:
        if keyword.arg == "metaclass" and names.origin(keyword.value) != "abc.ABCMeta":
            raise file.refuse("a class has a metaclass.", "derive from ordinary classes.", node)
    for inner in node.body:
        _check_member(file, names, node, inner)
        _check_words(file, node, inner)
    _check_bases(file, names, node)
    limits = [*parameters_of(node)]
    _check_values(file, names, [*node.bases, *(keyword.value for keyword in node.keywords), *limits])
    extra = [keyword.value for keyword in node.keywords if keyword.arg == _EXTRA]
    _check_types(file, names, [*node.bases, *extra, *limits])
    inside = names.inside(node)
    _check_bound_once(file, node.body)
    _check_properties(file, inside, node)
    _check_body(file, inside, node.body)


def _check_member(file: ParsedFile, names: Names, node: ast.ClassDef, inner: ast.stmt) -> None:
    """Raise BadComponent for members called or applied by Python or pydantic in creating or describing the class."""
    if isinstance(inner, ast.Import | ast.ImportFrom):
        raise file.refuse("a class imports.", "write the import at the top of the file, or into a function.", inner)
    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
        if _is_special(inner.name) and inner.name not in _METHODS:
            raise file.refuse(f"{inner.name[:60]} may run while the file is imported.", "do without it.", inner)
        origins = {names.origin(one.func if isinstance(one, ast.Call) else one) for one in inner.decorator_list}
        bound = origins & _BOUND or any(map(_is_property_part, inner.decorator_list))
        if bound and ("classmethod" in origins or _is_special(inner.name)):  # `inspect` gives `__init__` to its class
            fix = "write a plain method, or a constant."
            raise file.refuse("a property of a class runs while the file is imported.", fix, inner)
    for name in _OF_MODELS.intersection(bindings(inner)) - (set() if node.bases else {"Config"}):
        made = inner.value if isinstance(inner, ast.Assign) else None
        if name != "model_config" or not (isinstance(made, ast.Call) and _is_config(made, names)):
            fix = "write `model_config = ConfigDict(...)`, or give it another name."
            raise file.refuse(f"{name} is what pydantic obeys while the file is imported.", fix, inner)
        _check_rereading(file, made.keywords, inner)
        if weight(made, names) > _MOST_OPTIONS:
            raise file.refuse("the options of a model are large.", "write shorter ones.", inner)


def _check_rereading(file: ParsedFile, options: Sequence[ast.keyword], node: ast.AST) -> None:
    """Raise BadComponent for an option of pydantic to parse the whole file again for each class in a field."""
    if any(one.arg == _REREADING for one in options):
        fix = "write the words of each field into `Field(description=...)`."
        raise file.refuse(f"{_REREADING} has the file read again for each class.", fix, node)


def _check_words(file: ParsedFile, node: ast.ClassDef, inner: ast.stmt) -> None:
    """Raise BadComponent for documentation too long to be cleaned, or read as a signature, with its values, by Python.

    Args:
        file: The file.
        node: The class.
        inner: A part of its body, possibly its docstring, or its assigned documentation.
    """
    value = inner.value if isinstance(inner, ast.Assign | ast.AnnAssign | ast.Expr) else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        text = value.value
        require_short(text)
        if text.lstrip().startswith(f"{node.name}(") and _END_OF_SIGNATURE.search(text):
            problem = "the documentation of a class is written like a signature, which Python would evaluate."
            raise file.refuse(problem, "leave out the line `--`.", inner)


def _is_config(node: ast.Call, names: Names) -> bool:
    return names.origin(node.func) == "pydantic.ConfigDict"


def _check_bases(file: ParsedFile, names: Names, node: ast.ClassDef) -> None:
    for base in node.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        own = isinstance(plain, ast.Name) and isinstance(names.definitions.get(plain.id), ast.ClassDef)
        if not own and names.origin(plain) is None:
            raise file.refuse(
                "a base class is not a class's name.", "derive from classes that are defined or imported.", base
            )
    for keyword in node.keywords:
        if keyword.arg != "metaclass" and not isinstance(keyword.value, ast.Constant):
            raise file.refuse("an option of a class is not a constant.", "write it out.", node)
    origins = [names.origin(base.value if isinstance(base, ast.Subscript) else base) or "" for base in node.bases]
    if not all(names.is_own_class(one) for one in origins if one.startswith(".")):
        fix = "import it from where it is defined."
        raise file.refuse("a base class of another file is not defined in it.", fix, node)
    if any(one.rpartition(".")[2] in _ENUM_NAMES and "." in one and not one.startswith("enum.") for one in origins):
        raise file.refuse("an Enum comes from another module.", "take it from `enum`.", node)
    if any(one.startswith("enum.") for one in origins):
        _check_enum(file, names, node, frozenset(origins))


def _check_enum(file: ParsedFile, names: Names, node: ast.ClassDef, origins: Collection[str]) -> None:
    """Raise BadComponent for code running at the creation of an enum's members, or of a derived enum's, or as theirs.

    Members that are texts or numbers have no methods of these from the source, as a library may call them.
    """
    if not _ENUM_BASES.issuperset(origins):
        raise file.refuse("an Enum derives from another class.", "derive from Enum, or from str or int and Enum.", node)
    bound = [(name, inner) for inner in node.body for name in bindings(inner)]
    inside = names.inside(node)
    for name, inner in bound:
        made = inner.value if isinstance(inner, ast.Assign | ast.AnnAssign) else None
        plain = made is not None and is_plain(made, inside)
        read = (name in _OF_ENUMS and made is None) or not (made is None or plain or _is_still(inner, made, inside))
        if read or (name.startswith("_") and name.endswith("_") and name != "__doc__"):
            raise file.refuse(
                f"{name[:60]} of an Enum runs while the file is imported.", "write a plain method.", inner
            )
        if not plain and not _PURE.issuperset(origins) and name in _OF_MIXED:
            problem = f"{name[:60]} of an Enum may run while a component is described."
            raise file.refuse(problem, "give it another name.", inner)
    members = [inner for _, inner in bound if isinstance(inner, ast.Assign)]
    if not any(_is_member(name, inner, inside) for name, inner in bound):
        raise file.refuse("an Enum has no plain member.", "write one into it, a text or a number.", node)
    if large := next((one for one in members if weight(one.value, inside) > _MOST_MEMBER), None):
        raise file.refuse("a member of an Enum is large.", "keep it as a constant of its own.", large)
    made = [weight(one.value, inside) for one in members if not isinstance(one.value, ast.Constant)]
    if len(made) * sum(made) > _MOST_MEMBERS:  # each is compared with those before it
        raise file.refuse("an Enum has very many large members.", "write a dict of constants.", node)


def _is_member(name: str, node: ast.stmt, names: Names) -> bool:
    """Return whether a name of an Enum is surely a member, so no class derives from it.

    Python makes members with the methods of a derived class, and others of its own members. A function is not a member,
    and neither is a private name. A plain value is one; `auto()` and a collection are, where they are not unpacked.
    """
    if not isinstance(node, ast.Assign) or name.startswith("_"):
        return False
    whole = all(isinstance(one, ast.Name) for one in node.targets)
    auto = isinstance(node.value, ast.Call) and names.origin(node.value.func) == "enum.auto"
    return is_plain(node.value, names) or (whole and (auto or is_collection(node.value, names)))


def _is_still(node: ast.stmt, value: ast.expr, names: Names) -> bool:
    """Return whether a value of an Enum is surely no property of a library's class, as these call its methods."""
    if isinstance(node, ast.Assign) and not all(isinstance(one, ast.Name) for one in node.targets):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        calls = (one.func if isinstance(one, ast.Call) else one for one in parts if not isinstance(one, ast.Constant))
        return all(names.origin(one) == "enum.auto" for one in calls)
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.IfExp):
        own = isinstance(value, ast.Name) and (value.id in names.definitions or value.id in names.defined)
        inner = (names.origin(value) or "").split(".")[:-1]
        return own or (no_type([value], names) is None and not any(one[:1].isupper() for one in inner))
    return True


def _check_properties(file: ParsedFile, names: Names, node: ast.ClassDef | ast.Module) -> None:
    """Raise BadComponent for `@x.setter` without a property `x` as the only `x` before it in the same class."""
    seen: set[str] = set()
    for inner in node.body:
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            seen.difference_update(bindings(inner))
            continue
        for mark in inner.decorator_list:
            if _is_property_part(mark) and not (inner.name in seen and ast.unparse(mark).startswith(f"{inner.name}.")):
                raise file.refuse("a part of a property stands without it.", "write the property before it.", inner)
        made = any(names.origin(mark) == "property" or _is_property_part(mark) for mark in inner.decorator_list)
        if made and isinstance(node, ast.ClassDef):
            seen.add(inner.name)
        else:
            seen.discard(inner.name)


def _is_documented_by_python(node: ast.ClassDef) -> bool:
    """Return whether a class is made anew by `dataclasses`, with a documentation made of its defaults and types."""
    marks = [one for one in node.decorator_list if isinstance(one, ast.Call)]
    options = [option for mark in marks for option in mark.keywords if option.arg in (None, "slots")]
    slotted = any(not (isinstance(one.value, ast.Constant) and one.value.value is False) for one in options)
    bound = any("__doc__" in bindings(inner) for inner in node.body)
    return slotted and (bound or not ast.get_docstring(node, clean=False))


def _check_decorators(
    file: ParsedFile, names: Names, decorators: Sequence[ast.expr], allowed: Collection[str] = DECORATORS
) -> None:
    for node in decorators:
        called = node.func if isinstance(node, ast.Call) else node
        part = allowed is DECORATORS and _is_property_part(node)
        if names.origin(called) not in allowed and not part:
            problem = f"the decorator {ast.unparse(called)[:60]} would run while the file is imported."
            raise file.refuse(
                problem, "use tool, action, dataclass, property, cache or another of the standard library.", node
            )
        if isinstance(node, ast.Call):
            _check_values(file, names, [*node.args, *(keyword.value for keyword in node.keywords)])
            _check_options(file, names, node)


def _check_options(file: ParsedFile, names: Names, node: ast.Call) -> None:
    """Raise BadComponent for code called by a decorator in decorating, or by pydantic in describing a class."""
    origin = names.origin(node.func) or ""
    if origin not in _OPTIONED:
        raise file.refuse("a decorator without options is called.", "write it without brackets.", node)
    types = [one.value for one in node.keywords if one.arg in _TYPE_OPTIONS and origin.startswith("pydantic.")]
    _check_types(file, names, types)
    if any(one.arg is None for one in node.keywords):
        raise file.refuse("the options of a decorator are unpacked.", "write each out.", node)
    given = [*node.args, *(one.value for one in node.keywords if one.value not in types)]
    if not all(is_plain(one, names) for one in given):
        raise file.refuse("an option of a decorator is not a constant.", "write it out.", node)


def _is_property_part(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _PROPERTY_PARTS and isinstance(node.value, ast.Name)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


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


def _spend(values: Sequence[ast.expr | None], names: Names) -> None:
    """Count the work of describing defaults, repeated in schemas for each use."""
    names.effort.spend(sum(int(min(weight(one, names), MOST)) for one in values if one is not None) // _DESCRIBED)


def _check_unpacked(file: ParsedFile, names: Names, value: ast.expr) -> None:
    if not is_collection(value, names):
        raise file.refuse("a value that is unpacked is not a collection.", "write out what it holds.", value)
    if not is_unpacked(value, names):
        raise file.refuse("unpacking a value takes long or much memory.", "move it into a function.", value)


def _check_types(file: ParsedFile, names: Names, values: Sequence[ast.expr | None]) -> None:
    found = no_type(values, names)
    if found is not None:
        problem = "an annotation, or a base class, is not a type that is written out."
        fix = "write types, or names that stand for types."
        raise file.refuse(problem, fix, found)


def _check_imports_only(file: ParsedFile, body: Sequence[ast.stmt]) -> None:
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            raise _work(file, node)


def _work(file: ParsedFile, node: ast.AST) -> Exception:
    if isinstance(node, ast.expr) and not isinstance(node, ast.Call | ast.NamedExpr | ast.Await):
        problem = "a value at the top level is made of more than constants, or takes long or much memory to make."
        return file.refuse(problem, "write it out, or move it into a function.", node)
    what = "a call" if isinstance(node, ast.Call) else f"`{type(node).__name__.lower()}`"
    problem = f"{what} does work at the top level; only imports, definitions and constants may stand there."
    return file.refuse(problem, "move it into a function.", node)
