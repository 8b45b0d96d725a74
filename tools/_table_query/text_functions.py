"""Functions of texts in SQL: those SQLite lacks, and those it computes in quadratic time without looking at a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .words import list_items, norm


def normalized(value: object) -> str | None:
    """Return the words of a value in their compared form."""
    return None if value is None else norm(str(value))


def has_item(value: object, item: object) -> int | None:
    """Return whether a value is an item, or a list with it, words in their compared form."""
    if value is None:
        return None
    wanted = norm(str(item))
    return int(norm(str(value)) == wanted or wanted in list_items(str(value)))


def concatenated(*values: object) -> str:
    """Return values one behind another, empty ones left out, as newer versions of SQLite do."""
    return "".join(_text(one) for one in values if one is not None)


def joined(between: object, *values: object) -> str | None:
    """Return values with a text between them, empty ones left out, as newer versions of SQLite do."""
    return None if between is None else _text(between).join(_text(one) for one in values if one is not None)


def first_letters(value: object, count: int | None) -> str | None:
    """Return the first letters of a value."""
    return None if value is None or count is None else _text(value)[: max(count, 0)]


def last_letters(value: object, count: int | None) -> str | None:
    """Return the last letters of a value."""
    if value is None or count is None:
        return None
    return _text(value)[-count:] if count > 0 else ""


def position(value: object, part: object) -> int | None:
    """Return the place of a part in a value, counted from 1; 0 if the value does not hold the part."""
    if value is None or part is None:
        return None
    if isinstance(value, bytes) and isinstance(part, bytes):
        return value.find(part) + 1
    return _text(value).find(_text(part)) + 1


def replacing(most: int) -> Callable[[object, object, object], str | None]:
    """Return a function to replace each occurrence of a part in a value by a text.

    Args:
        most: Characters of the longest result; a longer one raises OverflowError.
    """

    def replaced(value: object, part: object, other: object) -> str | None:
        if value is None or part is None or other is None:
            return None
        text, old, new = _text(value), _text(part), _text(other)
        if not old:
            return text
        if len(new) > len(old) and len(text) + text.count(old) * (len(new) - len(old)) > most:
            raise OverflowError("string or blob too big")
        return text.replace(old, new)

    return replaced


def trimmed(value: object, characters: object = " ") -> str | None:
    """Return a value without any of some characters at its beginning and end."""
    return at_start_trimmed(at_end_trimmed(value, characters), characters)


def at_start_trimmed(value: object, characters: object = " ") -> str | None:
    """Return a value without any of some characters at its beginning."""
    if value is None or characters is None:
        return None
    text, unwanted = _text(value), frozenset(_text(characters))
    return text[next((at for at, one in enumerate(text) if one not in unwanted), len(text)) :]


def at_end_trimmed(value: object, characters: object = " ") -> str | None:
    """Return a value without any of some characters at its end."""
    if value is None or characters is None:
        return None
    text, unwanted = _text(value), frozenset(_text(characters))
    return text[: next((at for at in range(len(text), 0, -1) if text[at - 1] not in unwanted), 0)]


Functions = Sequence[tuple[str, int, Callable[..., object]]]
ADDED: Functions = (
    ("norm", 1, normalized),
    ("has_item", 2, has_item),
    ("concat", -1, concatenated),
    ("concat_ws", -1, joined),
    ("left", 2, first_letters),
    ("right", 2, last_letters),
)
"""By name and number of values, functions that SQLite lacks."""


def linear(most: int) -> Functions:
    """Return functions in the place of SQLite's own, as its time may grow with the square of a text's length.

    Args:
        most: Characters of the longest result.
    """
    trims = (("trim", trimmed), ("ltrim", at_start_trimmed), ("rtrim", at_end_trimmed))
    both = [(name, count, function) for name, function in trims for count in (1, 2)]
    return [("instr", 2, position), ("replace", 3, replacing(most)), *both]


def _text(value: object) -> str:
    """Return a value as SQLite writes it."""
    if not isinstance(value, float):
        return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    mantissa, power, exponent = f"{value:.15g}".partition("e")
    return f"{mantissa if set(mantissa) & set('.n') else f'{mantissa}.0'}{power}{exponent}"
