"""The small template language of prompts: Jinja2's output, `if` and `for` over JSON, and nothing else.

A template reads keys of objects, items of lists and facts about its loop; it calls nothing, computes nothing and
sets nothing. So a prompt that a model wrote can at most say something wrong, and its output, its loops and the
growth of each value are bounded. Everything that is not text is written as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from graphlib import CycleError, TopologicalSorter
from types import CodeType
from typing import Any, cast

from tea.errors import BadArguments, BadComponent
from tea.source.cache import SourceCache
from tea.types import JsonObject

OUTPUT_LIMIT = 4 * 2**20
LOOP_LIMIT = 100_000
WORK_LIMIT = 2**26
ITEM_WORK = 32  # what going through one item, or one element of a loop's body, counts beside a character
DEPTH_LIMIT = 24
SIZE_LIMIT = 5_000
_TEXT_LIMIT, _NUMBER_LIMIT = 32, 40
_TOO_MUCH = f"it goes through more than {WORK_LIMIT:,} characters, an item counted as {ITEM_WORK}"
_STEPS = "loop steps left"
_COMPILED = "compiled prompt with weighed loops"

_NODES = (
    "And", "Compare", "CondExpr", "Const", "Filter", "For", "Getattr", "Getitem", "If", "Keyword", "List", "Name",
    "Neg", "Not", "Operand", "Or", "Output", "Slice", "Template", "TemplateData", "Test", "Tuple",
)  # fmt: skip
_FIX = "show values with {{ name }}, decide with if, repeat with for; give the rest as variables."
_FILTERS = (
    "default", "dictsort", "first", "indent", "items", "join", "last", "length", "list", "lower", "map", "rejectattr",
    "selectattr", "sort", "title", "trim", "truncate", "unique", "upper",
)  # fmt: skip
_TESTS = (
    "boolean", "defined", "even", "float", "integer", "mapping", "none", "number", "odd", "sequence",
    "string", "undefined",
)  # fmt: skip
_INSTANT = ("default", "first", "last", "length")  # which take no longer for a long value
_work: ContextVar[list[int]] = ContextVar("work")  # the characters and items that may still be gone through
_LOOP = ("depth", "first", "index", "index0", "last", "length", "nextitem", "previtem", "revindex", "revindex0")


class Templates:
    """The compiled parts of one prompt.

    Args:
        parts: Template text by name; a part is shown in another by its name, like a variable.
        shown: Names of the parts that `render` returns.
        variables: Names that the templates may use beside the parts.
        kept: Where the compiled parts are kept for the next process.

    Raises:
        BadComponent: A template does not follow the language, uses an unknown name, or shows itself.
    """

    def __init__(
        self, parts: Mapping[str, str], shown: tuple[str, ...], variables: Iterable[str], kept: SourceCache
    ) -> None:
        self._shown = shown
        environment, known = _environment(), sorted(variables)
        with metered():
            self._compile(environment, parts, known, kept)

    def _compile(self, environment: Any, parts: Mapping[str, str], variables: list[str], kept: SourceCache) -> None:
        made_of = _COMPILED, json.dumps([parts, self._shown, variables], sort_keys=True), _compiler()
        found = kept.read(*made_of)
        if found is None:
            found = _codes(environment, parts, self._shown, variables)
            kept.keep(found, *made_of)
        codes, alone = found
        self._templates = {name: _template(environment, code) for name, code in codes.items()}
        self._constant = self._texts(alone)
        self._order = [name for name in codes if name not in self._constant]

    def render(self, variables: JsonObject) -> tuple[str, ...]:
        """Return the texts of the shown parts.

        Raises:
            BadArguments: A template uses what the variables do not hold, or there would be too much text.
        """
        values: dict[str, Any] = {**variables, **self._constant, _STEPS: [LOOP_LIMIT]}
        with metered():
            for name in self._order:
                try:
                    values[name] = _bounded_text(self._templates[name].generate(values))
                except Exception as error:  # a filter of Jinja2 may raise anything, AssertionError too
                    problem = f"The part {name!r} of the prompt cannot be written: {_first_line(error)}."
                    raise BadArguments(problem, fix="give variables that its template can show.") from error
        return tuple(values[name] for name in self._shown)

    def _texts(self, names: Iterable[str]) -> dict[str, str]:
        """Return the texts of parts without variables; one failing to render reports it on use."""
        found, values = dict[str, str](), {_STEPS: [LOOP_LIMIT]}
        for name in names:
            with suppress(Exception):
                found[name] = _bounded_text(self._templates[name].generate(values))
        return found


def check_template(name: str, text: str) -> None:
    """Check if `text` follows the language, with any names.

    Raises:
        BadComponent: It does not.
    """
    environment = _environment()
    with metered():
        _code(environment, name, _tree(environment, name, text))


def _codes(
    environment: Any, parts: Mapping[str, str], shown: tuple[str, ...], variables: Iterable[str]
) -> tuple[dict[str, CodeType], list[str]]:
    """Return the code of each shown part, after the code of its included parts, and the parts without variables."""
    trees = {name: _tree(environment, name, text) for name, text in parts.items()}
    uses = {name: _names(tree) for name, tree in trees.items()}
    order = _order(uses, shown, frozenset(variables))
    return {name: _code(environment, name, trees[name]) for name in order}, [one for one in order if not uses[one]]


def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.filters import FILTERS
    from jinja2.runtime import LoopContext
    from jinja2.sandbox import SandboxedEnvironment
    from jinja2.tests import TESTS

    class DataEnvironment(SandboxedEnvironment):
        """A Jinja2 environment limited to keys, items and loop facts: no attribute or method of any Python object."""

        def getitem(self, obj: Any, argument: Any) -> Any:
            return _reached(self, obj, argument)

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, LoopContext) and attribute in _LOOP:
                return getattr(obj, attribute)
            return _reached(self, obj, attribute)

    environment = DataEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, finalize=_shown_value
    )
    environment.globals.clear()
    environment.filters = {name: _guarded(FILTERS[name], instant=name in _INSTANT) for name in _FILTERS}
    environment.tests = {name: TESTS[name] for name in _TESTS}
    environment.filters |= {"tojson": _guarded(_json), "counted": _counted(), "weighed": _weighed}
    return environment


def _reached(environment: Any, obj: Any, key: Any) -> Any:
    """Return the value in JSON data at `key`, or an undefined value raising an error when used."""
    if isinstance(obj, Mapping) or (isinstance(obj, list | tuple | str) and not isinstance(key, str)):
        with suppress(LookupError, TypeError, ValueError):
            return cast(Any, obj)[key]
    return environment.undefined(obj=obj, name=key)


def _tree(environment: Any, name: str, text: str) -> Any:
    from jinja2 import TemplateError, nodes

    try:
        tree = environment.parse(text)
        _check(tree, 0)
    except _NotAllowed as error:
        raise BadComponent(f"The part {name!r} uses {error}, which prompts do not have.", fix=error.fix) from None
    except (TemplateError, RecursionError) as error:
        where = f" at line {line}" if (line := getattr(error, "lineno", None)) else ""
        problem = f"The part {name!r} is not a template{where}: {_first_line(error)}."
        raise BadComponent(problem, fix="correct it, or write {% raw %} around literal braces.") from error
    if sum(1 for _ in tree.find_all(nodes.Node)) > SIZE_LIMIT:
        raise BadComponent(f"The part {name!r} has more than {SIZE_LIMIT:,} elements.", fix="make it simpler.")
    for loop in list(tree.find_all(nodes.For)):
        size = nodes.Const(sum(1 for part in loop.body for _ in part.find_all(nodes.Node)), lineno=loop.lineno)
        loop.iter = nodes.Filter(loop.iter, "counted", [size], [], None, None, lineno=loop.lineno)
    for one in [held for node in tree.find_all(nodes.Compare) for held in (node, *node.ops)]:
        one.expr = nodes.Filter(one.expr, "weighed", [], [], None, None, lineno=one.lineno)
    for one in [node for node in tree.find_all(nodes.Getitem) if isinstance(node.arg, nodes.Slice)]:
        one.node = nodes.Filter(one.node, "weighed", [], [], None, None, lineno=one.lineno)
    return tree


class _NotAllowed(Exception):
    """A construct outside the language."""

    def __init__(self, what: str, fix: str = _FIX) -> None:
        super().__init__(what)
        self.fix = fix


def _check(node: Any, depth: int) -> None:
    """Refuse constructs outside the language."""
    kind = type(node).__name__
    if kind not in _NODES:
        raise _NotAllowed(repr(kind))
    if depth > DEPTH_LIMIT:
        raise _NotAllowed(f"nesting deeper than {DEPTH_LIMIT}", fix="make it simpler.")
    if kind == "Filter":
        _check_filter(node)
    if kind == "Test" and node.name not in _TESTS:
        raise _NotAllowed(f"the test {node.name[:40]!r}", fix=f"tests are {', '.join(_TESTS)}.")
    word: str = node.name if kind == "Name" else node.attr if kind == "Getattr" else ""
    if word.startswith("_") or (kind == "Name" and word == "self"):
        raise _NotAllowed(f"the name {word[:40]!r}")
    for child in node.iter_child_nodes():
        _check(child, depth + 1)


def _check_filter(node: Any) -> None:
    known = sorted((*_FILTERS, "tojson"))
    if node.name not in known:
        raise _NotAllowed(f"the filter {node.name[:40]!r}", fix=f"filters are {', '.join(known)}.")
    given = [*node.args, *(keyword.value for keyword in node.kwargs)]
    if node.dyn_args or node.dyn_kwargs or any(type(value).__name__ != "Const" for value in given):
        raise _NotAllowed(f"the filter {node.name!r} with an argument that is not written out")
    if any(_is_large(constant.value) for constant in given) and node.name != "truncate":
        raise _NotAllowed(f"the filter {node.name!r} with an argument that large")


def _is_large(value: Any) -> bool:
    return len(value) > _TEXT_LIMIT if isinstance(value, str) else abs(value or 0) > _NUMBER_LIMIT


def _names(tree: Any) -> set[str]:
    from jinja2.meta import find_undeclared_variables

    return find_undeclared_variables(tree)


def _order(uses: Mapping[str, set[str]], shown: tuple[str, ...], variables: frozenset[str]) -> list[str]:
    """Return the shown parts, each after its included parts."""
    if unknown := sorted({(part, name) for part, names in uses.items() for name in names - variables - uses.keys()}):
        part, name = unknown[0]
        known = ", ".join(sorted(variables | (uses.keys() - set(shown)))) or "none"
        problem = f"The part {part!r} uses {name[:60]!r}, which is neither a variable nor a module."
        raise BadComponent(problem, fix=f"declare it under variables; names are {known:.200}.")
    graph, waiting = dict[str, set[str]](), list(shown)
    while waiting:
        name = waiting.pop()
        if name not in graph:
            graph[name] = uses[name] & uses.keys()
            waiting += graph[name]
    try:
        return list(TopologicalSorter({name: sorted(graph[name]) for name in sorted(graph)}).static_order())
    except CycleError as error:
        raise BadComponent(
            f"The parts {' -> '.join(error.args[1]):.200} show each other.", fix="break the circle."
        ) from None


def _compiler() -> str:
    """Return an identifier of the installed Jinja2."""
    import jinja2

    facts = os.stat(str(jinja2.__file__))
    return f"{facts.st_size} {facts.st_mtime_ns}"


def _template(environment: Any, code: CodeType) -> Any:
    return environment.template_class.from_code(environment, code, environment.make_globals(None))


def _code(environment: Any, name: str, tree: Any) -> CodeType:
    try:
        return environment.compile(tree)
    except (SyntaxError, RecursionError, MemoryError) as error:
        problem = f"The part {name!r} cannot be compiled: {_first_line(error)}."
        raise BadComponent(problem, fix="make it simpler.") from error


@contextmanager
def metered() -> Generator[None]:
    """Bound the characters and items of all parts of a prompt together, and of all prompts of a bundle."""
    token = _work.set(_work.get(None) or [WORK_LIMIT])
    try:
        yield
    finally:
        _work.reset(token)


def _spend(value: Any) -> None:
    """Count the characters and items of a value, however deep, before something goes through them all."""
    left, waiting = _work.get(), [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            held = cast("Mapping[Any, Any]", one)
            waiting += [*held.keys(), *held.values()]
        elif isinstance(one, list | tuple):
            waiting += cast("list[Any]", one)
        left[0] -= ITEM_WORK + (len(one) if isinstance(one, str) else 0)
        if left[0] < 0:
            raise ValueError(_TOO_MUCH)


def _weighed(value: Any) -> Any:
    """Return a value about to be compared."""
    _spend(value)
    return value


def _guarded(function: Callable[..., Any], *, instant: bool = False) -> Callable[..., Any]:
    """Bound the values and the result of a filter, so a chain of them cannot grow or take long without end."""

    @wraps(function)
    def guarded(*given: Any, **named: Any) -> Any:
        if not instant:
            _spend([one for one in given if isinstance(one, str | list | tuple | Mapping)])
        value = function(*given, **named)
        if isinstance(value, Iterator):  # so that whoever goes through its items counts them
            value = list(cast("Iterator[Any]", value))
        if isinstance(value, str) and len(value) > OUTPUT_LIMIT:
            raise ValueError(f"a filter gave more than {OUTPUT_LIMIT:,} characters")
        return value

    return guarded


def _counted() -> Callable[..., Any]:
    from jinja2 import pass_context

    @pass_context
    def counted(context: Any, items: Iterable[Any], size: int) -> Iterator[Any]:
        left, work = context[_STEPS], _work.get()
        for item in items:
            left[0] -= 1
            work[0] -= size * ITEM_WORK
            if work[0] < 0:
                raise ValueError(_TOO_MUCH)
            if left[0] < 0:
                raise ValueError(f"its loops take more than {LOOP_LIMIT:,} steps")
            yield item

    return counted


def _bounded_text(chunks: Iterable[str]) -> str:
    found, size = list[str](), 0
    for chunk in chunks:
        _spend(chunk)
        size += len(chunk)
        if size > OUTPUT_LIMIT:
            raise ValueError(f"it has more than {OUTPUT_LIMIT:,} characters")
        found.append(chunk)
    return "".join(found).strip("\n")


def _shown_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    _spend(value)
    return _json(value)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=True, default=_refused)


def _refused(value: Any) -> Any:
    str(value)  # an undefined value says by itself what is missing
    raise TypeError(f"a {type(value).__name__} is not data")


def _first_line(error: BaseException) -> str:
    return (str(error).partition("\n")[0].strip() or type(error).__name__)[:160].rstrip(".")
