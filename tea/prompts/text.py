"""The text of a prompt file: front matter, and individually rewritable sections.

A file begins with YAML between two lines `---`. After it, each line that is exactly `# system`, `# message` or
`# module: NAME` begins a section, wherever it stands; all other headings are part of a section's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tea.characters import number
from tea.errors import BadComponent

SOURCE_LIMIT = 256 * 1024
FRONT_LIMIT = 64 * 1024
DEPTH_LIMIT = 32
_NUMBER_LIMIT = 64

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^# (system|message|module: ([a-z][a-z0-9_]{0,63}))[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_ALMOST = re.compile(r"^#[ \t]*(?:module[ \t]*:.*|(?:system|message)[ \t:]*)$", re.MULTILINE | re.IGNORECASE)
_BREAK = re.compile("[\x85\u2028\u2029]|\r(?!\n)")  # an end of a line for YAML, and for no reader
_TAG = "tag:yaml.org,2002:"
_TEXT = ("str", "timestamp", "value")
_PLAIN = ("null", "bool", "int", "float")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section of a source.

    Args:
        text: Its text, without the line ends around it, line ends as a bare newline.
        start: Where the text begins in the source.
        end: Where it ends.
    """

    text: str
    start: int
    end: int


def split(source: str) -> tuple[dict[str, Any], dict[str, Section]]:
    """Return the front matter as JSON, and the sections by name.

    Raises:
        BadComponent: The source is too large, or does not have that form.
    """
    front, begin = front_matter(source)
    return front, _sections(source, begin)


def front_matter(source: str, *, what: str = "The prompt", typed: bool = True) -> tuple[dict[str, Any], int]:
    """Return the front matter as JSON, and the position of the text after it.

    Args:
        source: The whole text.
        what: How an error names it.
        typed: Whether `1.0` is a number and `yes` true; otherwise they are text, as they were written.

    Raises:
        BadComponent: The source is too large, or has no front matter.
    """
    if "\0" in source or not _is_unicode(source):
        raise BadComponent(f"{what}'s source is not text.", fix="save it as UTF-8 text.")
    if len(source.encode()) > SOURCE_LIMIT:
        fix = "shorten it; give long texts as variables."
        raise BadComponent(f"{what}'s source is larger than 256 KiB.", fix=fix)
    match = _FRONT.match(source)
    if match is None:
        fix = "begin the file with `---`, the fields, and `---`, each fence on a line of its own."
        raise BadComponent(f"{what} has no front matter.", fix=fix)
    if len(match[1]) > FRONT_LIMIT:
        raise BadComponent("The front matter is larger than 64 KiB.", fix="shorten it.")
    return _front_matter(match[1], typed=typed), match.end()


def replaced(source: str, values: Mapping[str, str]) -> str:
    """Return `source` with other texts in the named sections, and every other byte as it was.

    Raises:
        BadComponent: A text would not stay inside its section.
    """
    _, sections = split(source)
    wanted = {name: _normal(text) for name, text in values.items()}
    parts, position = list[str](), 0
    for name, section in sections.items():
        if name in wanted and wanted[name] != section.text:
            parts += [source[position : section.start], _placed(source, section, wanted[name])]
            position = section.end
    result = "".join(parts) + source[position:]
    expected = {name: wanted.get(name, section.text) for name, section in sections.items()}
    if {name: section.text for name, section in split(result)[1].items()} != expected:
        raise BadComponent("A new text holds a line that begins a section.", fix="leave such lines out.")
    return result


def _placed(source: str, section: Section, text: str) -> str:
    if section.text:
        return text
    before = "" if source[: section.start].endswith("\n") else "\n"
    return f"{before}{text}\n"


def _sections(source: str, begin: int) -> dict[str, Section]:
    headings = list(_HEADING.finditer(source, begin))
    first = headings[0].start() if headings else len(source)
    if source[begin:first].strip():
        fix = "begin the text with `# system`, `# message` or `# module: NAME`, on a line of its own."
        raise BadComponent("The prompt has text before its first section.", fix=fix)
    found: dict[str, Section] = {}
    for index, heading in enumerate(headings):
        name = heading[2] or heading[1]
        stop = headings[index + 1].start() if index + 1 < len(headings) else len(source)
        if name in found or (heading[2] in ("system", "message")):
            raise BadComponent(f"The prompt has two sections {name!r}.", fix="rename or remove one.")
        found[name] = _section(source, heading.end(), stop)
        if almost := _ALMOST.search(found[name].text):
            fix = "write `# system`, `# message` or `# module: NAME`, or word the line in another way."
            raise BadComponent(f"{almost[0][:60]!r} looks like a section but is not one.", fix=fix)
    return found


def _section(source: str, start: int, stop: int) -> Section:
    body = source[start:stop]
    inner = body.strip("\r\n")
    if not inner:
        return Section(text="", start=start, end=start)
    begin = start + body.index(inner)
    return Section(text=_normal(inner), start=begin, end=begin + len(inner))


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _front_matter(text: str, *, typed: bool) -> dict[str, Any]:
    import yaml

    if found := _BREAK.search(text):
        line = text.count("\n", 0, found.start()) + 2
        problem = f"The front matter holds the character {number(found[0])} at line {line}."
        raise BadComponent(problem, fix="remove it, or write it as an escape in quotes: YAML would end a line there.")
    reader: Any = yaml
    loader = yaml.SafeLoader if typed else yaml.BaseLoader
    try:
        _check_events(reader.parse(text, Loader=loader))
        value = _value(reader.compose(text, Loader=loader), loader(""))
    except (yaml.YAMLError, LookupError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 2}" if mark else ""
        words = getattr(error, "problem", None) or str(error).partition("\n")[0] or type(error).__name__
        raise BadComponent(f"The front matter is not YAML{where}: {words[:120]}.", fix="correct it.") from error
    if not isinstance(value, dict):
        raise BadComponent("The front matter is not a list of fields.", fix="write `name: ...`, one field a line.")
    return cast("dict[str, Any]", value)


def _check_events(events: Iterable[Any]) -> None:
    """Refuse constructs able to expand a small text: references to other places, and deep nesting."""
    import yaml

    depth = 0
    for event in events:
        if getattr(event, "anchor", None):
            raise BadComponent("The front matter has anchors or aliases.", fix="write each value where it is used.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_LIMIT:
            raise BadComponent(f"The front matter nests deeper than {DEPTH_LIMIT}.", fix="make it flatter.")


def _value(node: Any, loader: Any) -> Any:
    """Return a YAML node as JSON; dates stay text, and no tag can name anything to build."""
    import yaml

    if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
        return _mapping(node, loader)
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
        return [_value(item, loader) for item in node.value]
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, loader)
    raise BadComponent("The front matter is empty, or has a tag.", fix="write plain fields, `name: ...`.")


def _mapping(node: Any, loader: Any) -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not _is_unicode(key.value):
            raise BadComponent("A key in the front matter is not a word.", fix="use plain words as keys.")
        if key.value in found:
            raise BadComponent(f"{key.value[:60]!r} stands twice in the front matter.", fix="remove one.")
        found[key.value] = _value(value, loader)
    return found


def _scalar(node: Any, loader: Any) -> Any:
    kind = node.tag.removeprefix(_TAG)
    if kind in _TEXT and _is_unicode(node.value):
        return node.value
    if kind not in _PLAIN or len(node.value) > _NUMBER_LIMIT:
        problem = f"The front matter has a value that JSON cannot carry ({node.value[:40]!r})."
        raise BadComponent(problem, fix="put it in quotes.")
    value = loader.construct_object(node)
    if value != value or value in (float("inf"), float("-inf")):
        raise BadComponent(f"{node.value!r} is not a number that JSON knows.", fix="put it in quotes.")
    return value
