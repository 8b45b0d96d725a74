"""Type hints of a component's functions, in a form readable by pydantic on every supported Python."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable
from functools import reduce
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

import typing_extensions

from tea.errors import BadComponent


def forget_types() -> None:
    """Empty the caches of `typing`, so that no type of another source is reused.

    To them `Literal["a", "b"]` and `Literal["b", "a"]` are equal, and so are unions, so `Optional` of one may give that
    of the other.
    """
    for forget in typing._cleanups:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        forget()


def read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return a function's type hints by parameter, with `return` for its result.

    Raises:
        BadComponent: A hint names what is not there.
    """
    forget_types()
    try:
        # With names of its own each text is evaluated anew: else `typing`, where `Optional["A"]` is one object for all
        # modules, gives what "A" meant in the first of them.
        hints = get_type_hints(function, localns={}, include_extras=True)
        made: dict[int, Any] = {}
        return {name: portable(hint, made) for name, hint in hints.items()}
    except (NameError, TypeError, SyntaxError, RecursionError) as error:
        problem = f"{function.__name__!r} has a type hint that cannot be read ({str(error)[:120]})."
        raise BadComponent(problem, fix="import every name that the hints use.") from error


def portable(hint: Any, made: dict[int, Any] | None = None) -> Any:
    """Return `hint` with typed dicts readable by pydantic: before Python 3.12 it refuses those of `typing`.

    Args:
        hint: The type.
        made: The typed dicts that were made before, by the identity of those they stand for, so each is made once.
    """
    made = {} if made is None else made
    if sys.version_info >= (3, 12):
        return hint
    if is_typeddict(hint) and type(hint).__module__ == "typing":
        if id(hint) not in made:
            fields = get_type_hints(hint, localns={}, include_extras=True)  # each among the names of its own file
            make: Any = typing_extensions.TypedDict
            made[id(hint)] = make(hint.__name__, {name: _field(hint, name, fields[name], made) for name in fields})
        return made[id(hint)]
    given: tuple[Any, ...] = get_args(hint)
    arguments: tuple[Any, ...] = tuple(portable(one, made) for one in given)
    if arguments == given or get_origin(hint) is typing.Literal:
        return hint
    if get_origin(hint) in (typing.Union, types.UnionType):
        return reduce(_or, arguments)
    if hasattr(hint, "copy_with") and get_origin(hint) is not Annotated:
        return hint.copy_with(arguments)
    return _subscribed(get_origin(hint), arguments)


def _field(owner: Any, name: str, hint: Any, made: dict[int, Any]) -> Any:
    bare = get_args(hint)[0] if get_origin(hint) in (typing.Required, typing.NotRequired) else hint
    required = name in owner.__required_keys__
    return (typing_extensions.Required if required else typing_extensions.NotRequired)[portable(bare, made)]


def _subscribed(origin: Any, arguments: tuple[Any, ...]) -> Any:
    return origin[arguments]


def _or(left: Any, right: Any) -> Any:
    return left | right
