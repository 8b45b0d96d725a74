"""The browser agent: works on a web site step by step, by elements or by pixels, and keeps a record of each step."""

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from tea import Agent, Context, Operated, Result, Task, addresses_in, operate

BY_ELEMENTS, BY_PIXELS = 5, 50
MOST_STATE = 24_000
BLANK = "about:blank"
TOPICS = "browser homepage site webpage website"
PIXELS = ("click_at", "drag")
WRITTEN = {"fill": ("fields",), "type": ("text",), "select": ("option",)}  # arguments that are texts for a page
INDEXES = ("index", "press")
TRUTHS = {"yes": True, "no": False}
TRUE = ("accept_dialogs", "new_tab", "clear", "close", "links")  # arguments that are truths
MONTHS = "january february march april may june july august september october november december"
DATE = re.compile(  # with the month in English words
    r"(?:[a-z]{3,6}day,? )?(?:(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?)?([a-z]{3,9})\.?"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?)?,? (\d{4})",
    re.ASCII | re.IGNORECASE,
)
DAYS = re.compile(r"\[(\d+)\]<input(?=[^\n>]*\stype=date[\s/>])")
SHOWN = ("title", "elements", "text", "said", "dialogs")
INDEX = re.compile(r"\[\d+\](?=<)")
GIVEN_INDEX = re.compile(r"\s*\*?\[?\s*(\d{1,9})\s*\]?\s*", re.ASCII)  # an index as a text, also as the page shows it
# An element, and the words in it, which stand one step further in; the words of a label are another element's.
WORDED = re.compile(r"^(\t*)[^\t\n\[]*\[(\d+)\]<(?!label\b)[^\n]*\n\1\t+([^\t\n][^\n]*)$", re.MULTILINE)


class BrowserUse(Agent):
    """Use web sites: find, read, click, fill in forms, choose, download; for interactive pages that need a browser."""

    name = "browser"
    role = "Browser operator"
    competencies = (
        "use a web site as a person does: navigate, click, type, choose, upload, download",
        "read pages that a plain fetch does not show, as those made by scripts or behind forms",
        "work by pixels where a page has no elements to name",
    )
    objectives = ("do what was asked and no more", "tell only what pages really showed", "few steps")
    relations = {"planner": "hierarchical"}
    environments = ("browser", "workspace#write", "report")
    metadata: ClassVar[Mapping[str, Any]] = {"takes": "web", "needs": "sandbox", "files": "pages", "topics": TOPICS}
    max_steps = BY_PIXELS

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in at most 5 steps by elements, 50 by pixels, or more if a budget says so; up to eight actions each."""
        links = _Links()
        browser = Operated(
            environment="browser",
            most=lambda done: BY_PIXELS if any(one in done for one in PIXELS) else BY_ELEMENTS,
            bounded=lambda state: {**state, "elements": state["elements"][:MOST_STATE]},
            picture="The page as it looks now, 1280 by 900 pixels; numbers are the indexes of its elements.",
            title="Work in the browser",
            pages=lambda state: {} if state["url"] == BLANK else {state["url"]: state["title"]},
            read=_read,
            files=_downloaded,
            completed=_completed,
            before=links.before,
            told=links.told,
            begins=_begins,
        )
        return await operate(ctx, task, browser)


class _Links:
    """The addresses of links on opened pages; the policy lets them be opened, as they count as read."""

    def __init__(self) -> None:
        self._given = set[str]()

    def told(self, value: dict[str, Any]) -> dict[str, Any]:
        """Note the links in the outcome of an action, and return the rest: the state shows them, too."""
        self._given.update(value.get("links", ()))
        return {name: part for name, part in value.items() if name != "links"}

    def before(self, action: str, given: dict[str, Any], seen: dict[str, Any]) -> list[dict[str, Any]]:
        """Read the links of the page in front before another address is opened: a click may have led to it."""
        known = action != "navigate" or seen["url"] == BLANK or str(given.get("url")) in self._given
        return [] if known else [{"action": "links", "arguments": {}}]


def _begins(text: str, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Open the address of a task with a single one, if the page in front is blank."""
    named = addresses_in(text)
    if len(named) != 1 or state["url"] != BLANK:
        return []
    return [{"action": "navigate", "arguments": {"url": named[0]}}]


def _completed(action: str, given: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an action: a path as a whole address of the site in front, other values as texts.

    An index may be a text, also in brackets; that of a button to press may be its words, if no other element has them.
    Fields may be a mapping of indexes to values, a truth `yes` or `no`, and a day for a field of days in words.
    """
    given = {name: _indexed(name, _meant(name, value), seen) for name, value in given.items()}
    if action in WRITTEN:
        written = {name: _written(value) if name in WRITTEN[action] else value for name, value in given.items()}
        return _dated(written, seen)
    url = given.get("url")
    if action != "navigate" or not isinstance(url, str) or not url.startswith("/") or url.startswith("//"):
        return given
    origin = "/".join(str(seen.get("url", "")).split("/")[:3])
    return {**given, "url": f"{origin}{url}"}


def _meant(name: str, value: Any) -> Any:
    """Return fields as a list, and a truth in a word as a truth; any other argument unchanged."""
    if name in TRUE and isinstance(value, str):
        return TRUTHS.get(value.strip().casefold(), value)
    if name != "fields":
        return value
    if isinstance(value, list):
        return [one for each in cast("list[Any]", value) for one in _fields(each)]
    return _fields(value) if isinstance(value, dict) else value


def _fields(value: Any) -> list[Any]:
    """Return the fields in a mapping of indexes to values; any other value alone."""
    if not isinstance(value, dict):
        return [value]
    members = cast("dict[str, Any]", value)
    if not members or any(isinstance(_index(name), str) for name in members):
        return [members]
    return [{"index": name, "value": one} for name, one in members.items()]


def _dated(given: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with days in words as `YYYY-MM-DD` for fields of days."""
    days = [int(one) for one in DAYS.findall(str(seen.get("elements", "")))]
    if given.get("index") in days and isinstance(given.get("text"), str):
        return {**given, "text": _day(given["text"])}
    fields = given.get("fields")
    if not days or not isinstance(fields, list):
        return given
    return {**given, "fields": [_field_dated(one, days) for one in cast("list[Any]", fields)]}


def _field_dated(field: Any, days: list[int]) -> Any:
    match field:
        case {"index": int(index), "value": str(value)} if index in days:
            return {**field, "value": _day(value)}
        case _:
            return field


def _day(words: str) -> str:
    """Return a day in English words as `YYYY-MM-DD`; any other text unchanged."""
    found = DATE.fullmatch(" ".join(words.split()))
    if found is None or bool(found[1]) is bool(found[3]):
        return words
    named = found[2].lower()
    months = [at for at, one in enumerate(MONTHS.split(), 1) if one.startswith(named)]
    return f"{found[4]}-{months[0]:02}-{int(found[1] or found[3]):02}" if months else words


def _indexed(name: str, value: Any, seen: dict[str, Any]) -> Any:
    """Return an argument with indexes as numbers; any other argument unchanged."""
    if name == "fields" and isinstance(value, list):
        return [_field(one) for one in cast("list[Any]", value)]
    if name not in INDEXES:
        return value
    index = _index(value)
    if isinstance(index, str):
        elements = WORDED.findall(str(seen.get("elements", "")))
        found = [int(number) for _, number, words in elements if _same(words, index)]
        return found[0] if len(found) == 1 else value
    return index


def _field(value: Any) -> Any:
    """Return a field of a form with its index as a number; one without an index unchanged."""
    match value:
        case {"index": index}:
            return {**value, "index": _index(index)}
        case _:
            return value


def _index(value: Any) -> Any:
    """Return the number of an index written as a text; any other value unchanged."""
    shown = GIVEN_INDEX.fullmatch(value) if isinstance(value, str) else None
    return int(shown[1]) if shown else value


def _same(words: str, others: str) -> bool:
    return words.casefold().split() == others.casefold().split()


def _written(value: Any) -> Any:
    """Return a number or truth value as the text for a field, also in the fields of a form."""
    match value:
        case bool():
            return "on" if value else "off"
        case int() | float():
            return json.dumps(value)
        case list():
            return [_written(one) for one in cast("list[Any]", value)]
        case {"value": one}:
            return {**value, "value": _written(one)}
        case _:
            return value


def _read(value: dict[str, Any]) -> str:
    """Return the words of a page in a state or an outcome, without the indexes of its elements."""
    return INDEX.sub("", "\n".join(str(value[name]) for name in SHOWN if name in value))


def _downloaded(value: dict[str, Any]) -> dict[str, str]:
    """Return the origins of the files brought by an action, by name."""
    return {one["name"]: f"downloaded from {one['url']}" for one in value.get("downloads", ()) if "name" in one}
