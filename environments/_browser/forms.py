"""Forms: the options of lists, the ticks of boxes, and the values held by fields."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from tea import ToolError

from .driver import Driver
from .page import of_element

TICKS = {
    **dict.fromkeys(("on", "yes", "true", "checked"), True),
    **dict.fromkeys(("off", "no", "false", "unchecked"), False),
}
MOST_OPTIONS, MOST_OPTION = 2_000, 500  # options of a list, and characters of one
MOST_TOLD, MOST_WORDS = 20, 80  # options told of, and characters of one
MOST_MORE = 1_000  # characters that a field may hold beyond those typed
SEPARATORS = re.compile(r"[()/]|(?<=\w)-")  # put by pages into numbers of telephones, cards and days
TYPED = ("input", "textarea")
FORMATTED = ("date", "time", "datetime-local", "month", "week", "number")  # types of fields that take one form alone
OPTIONS = f"""(() => {{
  const text = given => typeof given === 'string' && given.length <= {MOST_OPTION} ? given : '';
  const found = [];
  for (let at = 0; at < this.options.length && at < {MOST_OPTIONS}; at++) {{
    const one = this.options[at];
    found[at] = {{text: text(one.text), value: text(one.value), selected: one.selected === true,
                  closed: one.matches(':disabled')}};
  }}
  return found;
}})()"""
HELD = """(() => {
  if (!this.isConnected) return false;
  const held = this.isContentEditable ? this.innerText : this.value;
  return typeof held === 'string' && held.length <= %d ? held : null;
})()"""


class Option(TypedDict):
    """An option of a list; a closed one cannot be chosen."""

    text: str
    value: str
    selected: bool
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value given to a field.

    Args:
        index: The field's index.
        node: The field.
        value: Words typed, an option chosen, or whether a box is ticked.
    """

    index: int
    node: Any
    value: str | bool | Option


def is_list(node: Any) -> bool:
    """Return whether an element is a list of options."""
    return node is not None and str(node.tag_name).lower() == "select"


async def options_of(driver: Driver, node: Any) -> list[Option]:
    """Return the options of a list."""
    return cast("list[Option]", await of_element(driver, node, OPTIONS) or [])


async def is_ticked(driver: Driver, node: Any) -> bool | None:
    """Return whether a box or a radio button is ticked, None if an element is neither."""
    if _attribute(node, "type") not in ("checkbox", "radio"):
        return None
    return bool(await of_element(driver, node, "this.checked"))


def tick(node: Any, value: str) -> bool:
    """Return the state of a box or a radio button meant by a word; its own value ticks it.

    Raises:
        ToolError: The word means neither; for a radio button, `no` may be an answer.
    """
    word, own = _folded(value), _attribute(node, "value")
    if word in ("on", "off"):
        return TICKS[word]
    is_off = TICKS.get(word) is False
    if word == own and not (is_off and _attribute(node, "type") == "checkbox"):
        return True
    if word not in TICKS or word == own or _attribute(node, "type") == "radio":
        raise ToolError(f"{value[:MOST_WORDS]!r} is not a value of a box.", fix="give on or off.")
    return TICKS[word]


def chosen(options: Sequence[Option], wanted: str) -> Option:
    """Return the option named by its words, by its value, or by the first whole words of no other.

    Raises:
        ToolError: There is no such option, or more than one, or it cannot be chosen.
    """
    words = _folded(wanted)
    begun = [one for one in options if words and f"{_folded(one['text'])} ".startswith(f"{words} ")]
    same = [one for one in options if one["text"] == wanted]
    alike = [one for one in options if _folded(one["text"]) == words]
    found = same or alike or [one for one in options if one["value"] == wanted] or begun
    opened = [one for one in found if not one["closed"]]
    if len({one["value"] for one in opened}) == 1:
        return opened[0]
    if opened:
        shown = [(one["text"][:MOST_WORDS], one["value"][:MOST_WORDS]) for one in opened[:MOST_TOLD]]
        values = ", ".join(f"{text!r} ({value!r})" for text, value in shown)
        problem = f"{wanted[:MOST_WORDS]!r} is more than one option of the list: {values}."
        raise ToolError(problem, fix="give all its words, or the value of one in the brackets.")
    if found:
        problem = f"The option {wanted[:MOST_WORDS]!r} is closed: the page lets nobody choose it."
        raise ToolError(problem, fix="choose another option, or end and say that it cannot be chosen.")
    told = " | ".join(one["text"][:MOST_WORDS] for one in options[:MOST_TOLD])
    more = f" | and {len(options) - MOST_TOLD} more, which `options` lists" if len(options) > MOST_TOLD else ""
    problem = f"{wanted[:MOST_WORDS]!r} is not an option of the list. Its options are: {told}{more}."
    raise ToolError(problem, fix="give the words of one of them.")


def unmistaken(option: Option, options: Sequence[Option]) -> str:
    """Return the words of an option, or its value if another option has the same words."""
    same = [one for one in options if _folded(one["text"]) == _folded(option["text"])]
    return option["text"] if option["text"] and len(same) == 1 else option["value"]


async def require_held(driver: Driver, given: Sequence[Given], *, pressing: bool) -> None:
    """Refuse to go on if a field does not hold its given value.

    Args:
        driver: The browser.
        given: What was given.
        pressing: Whether a button is to be pressed, so that fields gone with their page are a fault, too.
    """
    for one in given:
        try:
            problem = await _fault(driver, one, pressing)
        except Exception as error:  # foreign code: the field is gone
            if not pressing:
                return
            raise _not_held(one, "the page has replaced it") from error
        if problem:
            raise _not_held(one, problem)


async def require_taken(driver: Driver, given: Given) -> None:
    """Refuse to go on if a field for a day, a time or a number is empty after typing."""
    if given.node is None or _attribute(given.node, "type") not in FORMATTED:
        return
    held = None
    with suppress(Exception):  # foreign code: the field is gone, and the page has gone on
        held = await of_element(driver, given.node, HELD % MOST_MORE)
    if held == "":
        raise _not_held(given, f"it is empty, and not {str(given.value)[:MOST_WORDS]!r}")


def unfilled(error: ToolError, index: int, before: Sequence[int]) -> ToolError:
    """Return the failure of a form with its field, and with the fields filled in before."""
    done = f"filled in before: {', '.join(map(str, before))}; " if before else ""
    problem = f"The field {index} was not filled in: {error.problem}"
    return ToolError(problem, fix=f"{error.fix} ({done}nothing was pressed)")


async def _fault(driver: Driver, given: Given, pressing: bool) -> str:
    """Return the reason for a field without its given value; empty if it has it, or if nothing can be told of it."""
    value = given.value
    most = MOST_MORE + (2 * len(value) if isinstance(value, str) else MOST_OPTION)
    held = await of_element(driver, given.node, HELD % most)
    if held is False:
        return "the page has replaced it" if pressing else ""
    if isinstance(value, bool):
        return "" if await is_ticked(driver, given.node) is value else "it has not changed"
    if not isinstance(value, str):
        options = [one for one in await options_of(driver, given.node) if one["selected"]]
        if any((one["text"], one["value"]) == (value["text"], value["value"]) for one in options):
            return ""
        return f"the list has {', '.join(repr(one['text'][:MOST_WORDS]) for one in options) or 'nothing'} chosen"
    if str(given.node.tag_name).lower() not in TYPED and "contenteditable" not in (given.node.attributes or ()):
        return ""
    if held is not None and _is_same(str(held), value):
        return ""
    if _attribute(given.node, "type") == "password":
        return "it does not hold what was typed"
    return f"it holds {str(held)[:MOST_WORDS]!r} and not {value[:MOST_WORDS]!r}"


def _not_held(given: Given, problem: str) -> ToolError:
    fix = "look at the state, mind the format that it shows, and fill this field in otherwise; then press."
    return ToolError(f"The field {given.index} did not take its value: {problem}.", fix=fix)


def _is_same(held: str, typed: str) -> bool:
    """Return whether a field holds the typed words, but for blanks, case, and separators put in by the page."""
    first, second = ("".join(one.split()).casefold() for one in (held, typed))
    return first == second or (second.isalnum() and SEPARATORS.sub("", first) == second)


def _attribute(node: Any, name: str) -> str:
    """Return an attribute of an element as the page writes it, in small letters; empty without one."""
    attributes: dict[str, Any] = node.attributes or {}
    return _folded(str(attributes.get(name, "")))


def _folded(words: str) -> str:
    return " ".join(words.split()).casefold()
