"""From an async function to an operation: schema, words, examples, and strict calls."""

import asyncio
import math
import threading
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict, override

from tea.components.context import Context
from tea.components.json_schema import value_faults
from tea.components.operation import Example, Function, Operation, Traits
from tea.errors import BadArguments, BadComponent, CallFailed, ToolError
from tea.types import Principal, Result


class Point(TypedDict):
    x: float
    y: float


@dataclass(frozen=True)
class Box:
    corner: Point
    name: str = ""


class Colour(StrEnum):
    RED = "red"


class Model(BaseModel):
    number: float


async def plot(
    ctx: Context,
    points: list[Point],
    colour: Colour = Colour.RED,
    width: Annotated[int, Field(ge=1, le=9)] = 1,
    style: Literal["line", "dot"] | None = None,
) -> Box:
    """Draw points.

    The axes are chosen to fit.

    Args:
        points: Where they are.
        width: How wide
            the pen is.

    Returns:
        The box around them.

    Examples:
        One point:

        >>> await plot(points=[{"x": 1, "y": 2}])
        Box(corner={'x': 1, 'y': 2}, name='')

        >>> await plot(
        ...     points=[],
        ... )
        Box(corner={'x': 0, 'y': 0}, name='')
    """
    return Box(corner=points[0] if points else {"x": 0, "y": 0}, name=f"{ctx}{width}{colour}{style}")


def call(function: Function, arguments: Any = None, context: Any = None, **options: Any) -> Any:
    operation = Operation.of(function, **options)
    return asyncio.run(operation.executor(None, arguments or {}, context))


def test_the_signature_gives_the_schema_and_the_docstring_the_words() -> None:
    signature = Operation.of(plot).signature
    assert signature.description == "Draw points.\n\nThe axes are chosen to fit."
    properties = signature.parameters["properties"]
    assert list(properties) == ["points", "colour", "width", "style"]
    assert properties["points"]["description"] == "Where they are."
    assert properties["width"] == {
        "default": 1, "description": "How wide\nthe pen is.", "maximum": 9, "minimum": 1, "type": "integer",
    }  # fmt: skip
    assert properties["colour"]["default"] == "red"
    assert signature.parameters["required"] == ["points"]
    assert signature.parameters["additionalProperties"] is False
    assert set(signature.returns["properties"]) == {"corner", "name"}
    assert signature.examples == (
        Example(call='await plot(points=[{"x": 1, "y": 2}])', result="Box(corner={'x': 1, 'y': 2}, name='')"),
        Example(call="await plot(\n    points=[],\n)", result="Box(corner={'x': 0, 'y': 0}, name='')"),
    )
    assert signature.traits == Traits(effects="irreversible", idempotent=False, network=True)


def test_the_context_is_given_and_never_asked_for() -> None:
    found = call(plot, {"points": [{"x": 1, "y": 2}], "width": 3}, "here")
    assert found == {"corner": {"x": 1.0, "y": 2.0}, "name": "here3redNone"}
    with pytest.raises(BadArguments, match="ctx"):
        call(plot, {"points": [], "ctx": "mine"})


def test_the_context_may_stand_anywhere() -> None:
    async def last(text: str, ctx: Context) -> str:
        """Do it."""
        return f"{text} {ctx}"

    async def keyword(text: str, *, ctx: Context) -> str:
        """Do it."""
        return f"{text} {ctx}"

    assert call(last, {"text": "a"}, "b") == call(keyword, {"text": "a"}, "b") == "a b"


def taking(hint: Any) -> Function:
    async def take(value: Any) -> bool:
        """Take it."""
        return True

    take.__annotations__["value"] = hint
    return take


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "3"), (int, True), (int, 3.5), (int, None), (bool, 1), (bool, "true"), (str, 3), (str, b"a"),
        (float, "1"), (float, math.nan), (float, math.inf), (Any, math.nan), (Any, [{"a": -math.inf}]),
        (Any, object()), (Any, {1, 2}), (str, "\ud800"), (Any, "\udfff"), (list[int], "12"), (list[int], {"a": 1}),
        (dict[str, int], [["a", 1]]), (Point, {"x": 1}), (Point, {"x": 1, "y": "2"}), (Colour, "blue"),
        (Literal["a"], "b"), (int | None, "None"), (Any, {"a": 10**5000}),
    ],
)  # fmt: skip
def test_arguments_are_not_coerced(hint: Any, value: Any) -> None:
    with pytest.raises(BadArguments, match="'take' got bad arguments"):
        call(taking(hint), {"value": value})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("much", "value: Input should be a valid integer, not 'much'."),
        (True, "value: Input should be a valid integer, not true."),
        (None, "value: Input should be a valid integer, not null."),
        ({"a": "secret"}, "value: Input should be a valid integer, not an object."),
        ("x" * 100, "value: Input should be a valid integer, not a long text."),
    ],
)
def test_a_fault_of_an_argument_names_what_was_given(value: Any, told: str) -> None:
    with pytest.raises(BadArguments) as refused:
        call(taking(int), {"value": value})
    assert refused.value.problem.endswith(told)


def test_a_missing_and_a_strange_argument_are_named_without_a_value() -> None:
    with pytest.raises(BadArguments) as refused:
        call(taking(int), {"other": "x"})
    assert ", not" not in refused.value.problem


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, 3), (float, 3), (float, 3.5), (int | None, None), (list[int], [1]), (list[int], (1, 2)),
        (Any, {"a": [None]}),
        (tuple[int, str], [1, "a"]), (Colour, "red"), (Point, {"x": 1, "y": 2}), (Box, {"corner": {"x": 1, "y": 2}}),
        (bytes, "abc"), (Any, "😀"),
    ],
)  # fmt: skip
def test_json_is_read_as_the_types_it_names(hint: Any, value: Any) -> None:
    assert call(taking(hint), {"value": value}) is True


def test_arguments_that_are_missing_or_unknown_are_named() -> None:
    with pytest.raises(BadArguments, match="value: Missing"):
        call(taking(int))
    with pytest.raises(BadArguments, match="other: Unexpected"):
        call(taking(int), {"value": 1, "other": 2})
    with pytest.raises(BadArguments, match="and 7 more"):
        call(taking(int), {str(number): 1 for number in range(9)})


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (int, "integer"), (int | None, "integer or null"), (list[str], "array of string"), (Colour, "one of red"),
        (dict[str, int], "object of integer"), (Point, "{x: number, y: number}"), (Any, ""),
        (Literal[tuple(map(str, range(90)))], "string"),
    ],
)  # fmt: skip
def test_bad_arguments_are_answered_with_the_type_of_each_parameter(hint: Any, words: str) -> None:
    with pytest.raises(BadArguments) as refused:
        call(taking(hint))
    assert refused.value.fix == f"its parameters are value{f' ({words})' if words else ''}, needed."


def test_arguments_nested_without_end_are_bad_arguments() -> None:
    endless: list[Any] = []
    for _ in range(100_000):
        endless = [endless]
    with pytest.raises(BadArguments):
        call(taking(Any), {"value": endless})


def test_defaults_are_fresh_for_each_call() -> None:
    async def collect(into: list[int] = []) -> list[int]:  # noqa: B006
        """Collect."""
        into.append(1)
        return into

    executor = Operation.of(collect).executor
    assert [asyncio.run(executor(None, {}, None)) for _ in range(2)] == [[1], [1]]


def giving(hint: Any, value: Any) -> Function:
    async def give() -> Any:
        """Give it."""
        return value

    give.__annotations__["return"] = hint
    return give


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "three"), (int, None), (list[int], 3), (Point, {"x": 1}), (Any, object()), (float, math.nan),
        (Any, [math.nan]), (Model, Model(number=math.inf)), (Box, Box(corner={"x": math.nan, "y": 0})), (str, "\ud800"),
    ],
)  # fmt: skip
def test_a_result_is_what_its_annotation_promises(hint: Any, value: Any) -> None:
    with pytest.raises(CallFailed, match="'give' gave what its annotation does not promise"):
        call(giving(hint, value))


@pytest.mark.parametrize(
    ("hint", "value", "found"),
    [
        (Any, (1, 2), [1, 2]), (Model, Model(number=1), {"number": 1.0}), (Colour, Colour.RED, "red"),
        (None, None, None), (list[Box], [Box(corner={"x": 1, "y": 2})], [{"corner": {"x": 1.0, "y": 2.0}, "name": ""}]),
    ],
)  # fmt: skip
def test_a_result_is_json(hint: Any, value: Any, found: Any) -> None:
    assert call(giving(hint, value)) == found


@pytest.mark.parametrize("kind", [ValueError, KeyError, RecursionError, SystemExit])
def test_what_a_function_raises_is_one_line(kind: type[BaseException]) -> None:
    raised = kind("boom\nmore")

    async def fail() -> None:
        """Fail."""
        raise raised

    with pytest.raises(CallFailed, match=rf"'fail' raised {kind.__name__}: '?boom") as caught:
        call(fail)
    assert caught.value.__cause__ is raised


def test_of_a_value_that_does_not_fit_the_fields_are_named() -> None:
    async def fail() -> Any:
        """Fail."""
        return Result.model_validate({"answr": 1, "ok": "perhaps"})

    words = (
        "'fail' raised ValidationError: ok: Input should be a valid boolean.*; answr: Extra inputs are not permitted"
    )
    with pytest.raises(CallFailed, match=words):
        call(fail)


@pytest.mark.parametrize("words", [None, "\ud800"])
def test_what_cannot_be_told_of_an_exception_is_left_out(words: str | None) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            return words or str(1 / 0)

    async def fail() -> None:
        """Fail."""
        raise Odd

    with pytest.raises(CallFailed, match=r"'fail' raised Odd") as caught:
        call(fail)
    str(caught.value).encode()


def test_a_function_may_say_itself_what_is_wrong() -> None:
    async def fail() -> None:
        """Fail."""
        raise ToolError("No such file.", fix="name another.")

    with pytest.raises(ToolError, match="No such file"):
        call(fail)


def bad_declarations() -> dict[str, Callable[..., Any]]:
    def several() -> Any:
        """Do it."""
        yield 1

    async def silent() -> int:
        return 1

    async def rest(*values: int) -> int:
        """Do it."""
        return 1

    async def named(**values: int) -> int:
        """Do it."""
        return 1

    async def placed(value: int, /) -> int:
        """Do it."""
        return value

    async def unhinted(value) -> int:  # type: ignore[no-untyped-def]
        """Do it."""
        return value

    async def unknown(value: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
        """Do it."""
        return 1

    async def foreign(value: asyncio.Event) -> int:
        """Do it."""
        return 1

    async def gives_foreign() -> asyncio.Event:
        """Do it."""
        return asyncio.Event()

    async def callback(value: Callable[[], int]) -> int:
        """Do it."""
        return 1

    async def wrong_default(value: int = "a") -> int:  # type: ignore[assignment]
        """Do it."""
        return value

    async def none_default(value: int = None) -> int:  # type: ignore[assignment]  # noqa: RUF013
        """Do it."""
        return value

    async def odd_default(value: Any = object()) -> int:  # noqa: B008
        """Do it."""
        return 1

    async def bad_example() -> int:
        """Do it.

        Examples:
            >>>await bad_example()
            1
        """
        return 1

    async def stream() -> Any:
        """Do it."""
        yield 1

    return dict(locals())


def test_a_function_that_is_not_async_runs_in_a_thread_of_its_own() -> None:
    def where(name: str) -> list[str]:
        """Return its own place."""
        return [name, threading.current_thread().name]

    operation = Operation.of(where)
    assert operation.signature.parameters["required"] == ["name"]
    assert call(where, {"name": "a"}) == ["a", "tea-tool"]
    with pytest.raises(BadArguments):
        call(where, {"name": 1})


def test_what_is_not_async_may_be_no_method_and_no_scope() -> None:
    def plain(self: Any) -> int:
        """Do it."""
        return 1

    for options in ({"method": True}, {"traits": Traits(scope=True)}):
        with pytest.raises(BadComponent, match="'plain' is not async"):
            Operation.of(plain, **options)  # type: ignore[arg-type]


def test_a_function_that_is_not_async_knows_where_it_works_and_reaches_nothing(tmp_path: Path) -> None:
    def find(ctx: Context, name: str) -> str:
        """Find a file."""
        return str(ctx.path(name))

    def ask(ctx: Context) -> Any:
        """Note something."""
        ctx.note("odd", {})

    facts: Any = {"run": "", "session": "", "task": "", "agent": "", "workspace": str(tmp_path)}
    context = Context(port=cast(Any, None), flow=cast(Any, None), principal=Principal(), **facts)
    assert call(find, {"name": "a.txt"}, context) == str(tmp_path / "a.txt")
    with pytest.raises(ToolError, match="cannot use its context"):
        call(ask, {}, context)


@pytest.mark.parametrize("name", bad_declarations())
def test_a_bad_declaration_is_one_clear_error(name: str) -> None:
    with pytest.raises(BadComponent) as caught:
        Operation.of(bad_declarations()[name])
    assert len(str(caught.value)) <= 400
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("once", ["Once.", "\ufdd0 once \U000f0000."])
def test_a_docstring_keeps_white_space_that_is_no_blank_and_no_new_line(once: str) -> None:
    async def do(to: str) -> str:
        return to

    words = f"\x1c\u2028Pay.\n\n\x0c\x85\n\n\u2029{once}\x1f"
    do.__doc__ = f"{words}\n\nArgs:\n    to: \r\x1eWho.\x0b\n    "
    signature = Operation.of(do).signature
    assert signature.description == words
    assert signature.parameters["properties"]["to"]["description"] == "\r\x1eWho.\x0b"


def test_examples_keep_white_space_at_the_ends_of_their_results() -> None:
    async def pay(to: str) -> str:
        return to

    pay.__doc__ = "Pay.\n\nExamples:\n    >>> pay('bob')\n    \x1d\u202esent\x1f\n"
    (example,) = Operation.of(pay).signature.examples
    assert (example.call, example.result) == ("pay('bob')", "\x1d\u202esent\x1f")


def test_a_result_outside_of_the_indentation_of_its_example_is_refused() -> None:
    async def pay(to: str) -> str:
        return to

    pay.__doc__ = "Pay.\n\nExamples:\n    \x1dfirst\n        >>> pay('bob')\n    \x1d\u202eNOT sent\n"
    with pytest.raises(BadComponent, match="leading whitespace"):
        Operation.of(pay)


class Paying:
    async def pay(self, to: str) -> str:
        """\x1f\x85Pay somebody."""
        return to


class Till(Paying):
    @override
    async def pay(self, to: str) -> str:
        return to


def test_a_docstring_of_an_overridden_method_keeps_its_white_space() -> None:
    assert Operation.of(cast(Any, Till.pay), method=True).signature.description == "\x1f\x85Pay somebody."


def test_a_docstring_of_all_private_characters_is_refused() -> None:
    async def do(to: str) -> str:
        return to

    do.__doc__ = "Pay.\n\n" + "".join(map(chr, range(0xF0000, 0x10FFFE))) + "\x1f"
    with pytest.raises(BadComponent, match="too many private characters"):
        Operation.of(do)


@given(st.text(alphabet="Args:\n >.x()`-=E#\t", max_size=80) | st.text(max_size=200))
def test_any_docstring_is_read_or_refused(text: str) -> None:
    async def do(x: int) -> int:
        return x

    do.__doc__ = text
    try:
        said = Operation.of(do).signature.name
    except BadComponent as error:
        said = str(error)
    assert said == "do" or "\n" not in said


class Bag(TypedDict):
    inside: frozenset[str]


@pytest.mark.parametrize(("hint", "value"), [(set[int], [1, 1]), (frozenset[str], []), (Bag, {"inside": ["a", "a"]})])
def test_a_schema_promises_nothing_of_a_set_that_a_call_does_not_check(hint: Any, value: Any) -> None:
    parameters = Operation.of(taking(hint)).signature.parameters
    assert "uniqueItems" not in str(parameters)
    assert value_faults(parameters, {"value": value}) == []
    assert call(taking(hint), {"value": value}) is True


class Old(typing.TypedDict):
    y: int


@pytest.mark.parametrize("hint", [Annotated[Old, Field(description="D.")], list[Annotated[Old, Field()]]])
def test_words_stand_beside_a_typed_dict_of_the_standard_library(hint: Any) -> None:
    value = [{"y": 1}] if hint.__origin__ is list else {"y": 1}
    assert call(taking(hint), {"value": value}) is True


def test_traits_with_an_open_way_out_of_the_sandbox_are_those_of_the_network() -> None:
    code = Traits(effects="writes", network=False, sandbox_network="hosts", declared=True)
    assert code.opened({}) is code
    assert code.opened({"index"}) is code
    opened = code.opened({"hosts", "index"})
    assert (opened.effects, opened.network, opened.returns_untrusted, opened.declared) == ("external", True, True, True)
    install = Traits(effects="writes", network=False, sandbox_network="index").opened({"index"})
    assert (install.effects, install.network, install.returns_untrusted) == ("writes", True, True)
    worst = Traits(effects="irreversible", sandbox_network="hosts").opened({"hosts"})
    assert worst.effects == "irreversible"
    plain = Traits(effects="reads", network=False)
    assert plain.opened({"hosts", "index", ""}) is plain
