"""Written calls: calls given as JSON in the text of an answer, in any wrapping."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from tea.models.format import AnswerCalls
from tea.models.written_json import read_json
from tea.store.strict import Refused
from tea.types import JsonObject

CALLS = "calls"
_LISTS = (CALLS, "tool_calls")
_GIVEN = ("arguments", "parameters")
_NAMES = ("name", "tool", "tool_name", "function", "function_name", "action")  # as other libraries ask for them
_GIVENS = (*_GIVEN, "args", "params", "input", "action_input", "kwargs")
_BESIDE = frozenset((*_NAMES, *_GIVENS, "id", "type", "thought", "reasoning"))
_LINE_ENDS = re.compile(r"[ \t`]*(?:\n|\Z)")
_BEGINS = re.compile(r'\{\s*["}]')
_BEGINS_LOOSELY = re.compile(r"""\{\s*["'}]""")
_PIECE = re.compile(r"""[^"'{}]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?P<open>\{)|(?P<close>\})""", re.DOTALL)
_MOST_REPAIRED = 100_000  # characters of an object that is no strict JSON
# What models put before a call: a fence, a tag such as <tool_call>, a mark such as [TOOL_CALLS], a list.
_WRAPPED = re.compile(r"(?:\s|```\w*|<[^<>]{1,40}>|\[[A-Z_]{1,40}\]|\[)*\{")
_OBJECT = re.compile(r'\s*(?:```\w*\s*)?(\{\s*"[^"\n]{1,80}"\s*:)')
_WRAPPING = re.compile(
    r"```\w*|</?[\w|:]{0,40}(?:tool|function)[\w|]{0,40}>|\[/?TOOL_CALLS\]"
    r"|^[\s\[\],]+|(?<![\s\[\],])[\s\[\],]+$"
)
_SPEAKS_OF_CALLS = re.compile(r"""["'](?:tool_)?calls["']\s*:|["'](?:arguments|parameters|args)["']\s*:""")
_ACTION = re.compile(
    r"^[ \t>*]{0,8}Action[ \t*]{0,4}:[ \t*`]{0,6}([A-Za-z_][\w.-]{0,79})[ \t*`()]{0,6}\n\s{0,4}"
    r"[ \t>*]{0,8}Action[ _]Input[ \t*]{0,4}:[ \t*]{0,4}(?:\n?\s{0,4}```\w{0,10})?\s{0,4}",
    re.MULTILINE | re.IGNORECASE,
)
_TAGGED = re.compile(r"<function=([A-Za-z_][\w.-]{0,79})>(.*?)(?:</function>|\Z)", re.DOTALL)
_CLOSING = "</parameter>"
_PARAMETER = re.compile(rf"<parameter=([A-Za-z_][\w.-]{{0,79}})>\n?(.*?)\n?{_CLOSING}", re.DOTALL)
_INVOKED = re.compile(
    r"<(?:\w{1,20}:)?(invoke|function|function_call|tool|tool_call|tool_use)\s{1,9}name\s{0,9}=\s{0,9}"
    r"[\"']([A-Za-z_][\w.:#-]{0,79})[\"'][^<>]{0,80}>(.*?)(?:</(?:\w{1,20}:)?\1>|\Z)",
    re.DOTALL,
)
_NAMED = re.compile(
    r"<((?:\w{1,20}:)?(?:parameter|param|argument|arg))\s{1,9}name\s{0,9}=\s{0,9}"
    r"[\"']([A-Za-z_][\w.-]{0,79})[\"'][^<>]{0,80}>"
)
_MEMBER = re.compile(r"<(([A-Za-z_][\w.-]{0,79}))>")
_SPACE = re.compile(r"\s*")
_MARKED = re.compile(  # a mark of a call, a name, and what stands between it and its arguments
    r"(?:\[TOOL_CALLS\]|\bto=functions\.|<\uff5ctool\u2581sep\uff5c>|<tool_call>|<tool_use>\s{0,9}<name>)\s{0,9}"
    r"([A-Za-z_][\w.-]{0,79})"
    r"(?:\s|```\w{0,10}|\[ARGS\]|<\|\w{1,20}\|>|json\b|code\b|</name>|<(?:arguments|parameters|input)>){0,20}"
    r"(?=\{|<arg_key>)"
)
_MARKS = re.compile(
    r"<\|channel\|>\s{0,9}\w{1,20}|<\|\w{1,20}\|>(?:assistant\b)?|<\uff5c[^<>]{1,40}\uff5c>(?:function\b)?|</?tool_\w{1,9}>"
)
_CLOSED = re.compile(r"(?:\s{0,9}</\w{1,20}>){1,9}")
_PAIR = re.compile(r"\s{0,9}<arg_key>(.*?)</arg_key>\s{0,9}<arg_value>(.*?)(?:</arg_value>|\Z)", re.DOTALL)
_UNREAD_MARK = re.compile(
    r"\s*(?:<\|start\|>assistant)?(?:\[TOOL_CALLS\]|<\|channel\|>commentary|<\uff5ctool|<tool_(?:call|use)>|<tool\s)"
)
_AROUND = re.compile(r"\s*<(parameters|arguments|input)>(.*)</\1>\s*", re.DOTALL)
_OBSERVED = re.compile(r"^[ \t>*]{0,8}Observation[ \t*]{0,4}:", re.MULTILINE | re.IGNORECASE)
_CODE = re.compile(r"```(?:python|py|tool_code|tool_calls?)?[ \t]*\n(.*?)```", re.DOTALL)
_MOST_CODE = 20_000  # characters of code that is parsed for calls
_decode = json.JSONDecoder(strict=False).raw_decode  # models write line breaks into texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The calls in a text.

    Args:
        calls: Each as it was written.
        record: The object that they are a member of; empty where they stand alone.
        words: What the text says beside them.
    """

    calls: list[Any]
    record: dict[str, Any]
    words: str

    def read(self) -> AnswerCalls:
        """Return the calls, including unreadable ones."""
        made = AnswerCalls()
        for one in self.calls:
            name, arguments = _name_and_arguments(one)
            made.add(None, name, arguments)
        return made


def calls_in(text: str, functions: Collection[str] = ()) -> Written | None:
    """Return the calls in a text: those of its first record, else all separate ones; None if it contains none.

    Calls behind a mark such as `[TOOL_CALLS]NAME`, as `<function=NAME>`, as `<invoke name="NAME">`, as `<NAME>` of a
    function, as `Action:` and `Action Input:`, or as Python code that only calls functions, count where there are no
    others.

    Args:
        text: What a model said.
        functions: Names of the functions that code and tags may call; other code, and other tags, are an answer.
    """
    said = answered(text)
    found = list(_objects(said, loosely=True))
    for begin, end, one in found:
        for name in _LISTS:
            calls = one.get(name)
            if isinstance(calls, list) and any(isinstance(call, dict) for call in cast("list[Any]", calls)):
                return Written(
                    calls=[*map(_meant, cast("list[Any]", calls))],
                    record=one,
                    words=_unwrapped(said[:begin] + said[end:]),
                )
    meant = [(begin, end, one if _is_call(one) else _meant(one, functions)) for begin, end, one in found]
    alone = [one for one in meant if _is_call(one[2])]
    if not alone:
        return _marked(said) or _tagged(said) or _in_xml(said, functions) or _actions(said) or _coded(said, functions)
    words, at = "", 0
    for begin, end, _ in alone:
        words, at = words + said[at:begin], end
    return Written(calls=[one for _, _, one in alone], record={}, words=_unwrapped(words + said[at:]))


def _marked(text: str) -> Written | None:
    """Return the calls written as a mark, a name and arguments, an object or pairs of tags; None without any."""
    calls: list[Any] = []
    words, at = "", 0
    while one := _MARKED.search(text, at):
        words, begin, given = words + _closed(text[at : one.start()]), one.end(), dict[str, str]()
        if text.startswith("{", begin):
            found = _object_at(text, begin)
            if found is None:  # and what comes after it belongs to it
                calls.append({"name": one[1], "arguments": text[begin:].partition("\n")[0]})
                at = len(text)
                break
            calls.append({"name": one[1], "arguments": found[0]})
            at = found[1]
            continue
        while pair := _PAIR.match(text, begin):
            given[pair[1].strip()], begin = pair[2].strip("\n"), pair.end()
        calls.append({"name": one[1], "arguments": given})
        at = max(begin, one.end())
    return (
        Written(calls=calls, record={}, words=_unwrapped(_MARKS.sub("", words + _closed(text[at:])))) if calls else None
    )


def _closed(text: str) -> str:
    """Return a text without the tags closed at its beginning."""
    closed = _CLOSED.match(text)
    return text[closed.end() :] if closed else text


def _tagged(text: str) -> Written | None:
    """Return the calls written as `<function=NAME>`, with an object or with parameters as tags; None without any."""
    calls: list[Any] = []
    for one in _TAGGED.finditer(text):
        inner = one[2].strip()
        last = inner.rfind(_CLOSING) + len(_CLOSING)  # a parameter beginning behind it is not closed
        given = _leading_arguments(inner, 0) if inner.startswith("{") else dict(_PARAMETER.findall(inner, 0, last))
        calls.append({"name": one[1], "arguments": given if given or not inner else inner})
    return Written(calls=calls, record={}, words=_unwrapped(_TAGGED.sub("", text))) if calls else None


def _in_xml(text: str, functions: Collection[str]) -> Written | None:
    """Return the calls written as `<invoke name="NAME">`, or as elements called as functions are; None without any."""
    if calls := [_invoked(one[2], one[3]) for one in _INVOKED.finditer(text)]:
        return Written(calls=calls, record={}, words=_unwrapped(_INVOKED.sub("", text)))
    names = "|".join(re.escape(name) for name in functions if f"<{name}>" in text)
    if not names:
        return None
    element = re.compile(rf"<({names})>(.*?)(?:</\1>|\Z)", re.DOTALL)
    calls = [_invoked(one[1], one[2]) for one in element.finditer(text)]
    if not all(isinstance(one["arguments"], dict) for one in calls):  # the tag is only spoken of
        return None
    return Written(calls=calls, record={}, words=_unwrapped(element.sub("", text)))


def _invoked(name: str, inner: str) -> dict[str, Any]:
    """Return a call of an element: its content is an object, parameters as elements, or nothing; else unreadable."""
    around = _AROUND.fullmatch(inner)
    inner = (around[2] if around else inner).strip()
    given: Any = _leading_arguments(inner, 0) if inner.startswith("{") else _elements(inner)
    return {"name": name, "arguments": inner if given is None else given}


def _elements(text: str) -> dict[str, str] | None:
    """Return the XML elements of a text by name; None for an unclosed element, or for other text."""
    found, at = dict[str, str](), 0
    while at < len(text):
        begins = _NAMED.match(text, at) or _MEMBER.match(text, at)
        end = text.find(f"</{begins[1]}>", begins.end()) if begins else -1
        if begins is None or end < 0:
            return None
        found[begins[2]] = text[begins.end() : end].removeprefix("\n").removesuffix("\n")
        after = _SPACE.match(text, end + len(begins[1]) + 3)
        at = after.end() if after else len(text)
    return found


def _actions(text: str) -> Written | None:
    """Return the calls written as `Action:` and `Action Input:`, before any invented observation; None without any."""
    first = _ACTION.search(text)
    if first is None:
        return None
    invented = _OBSERVED.search(text, first.end())
    meant = text[: invented.start()] if invented else text
    begun = list(_ACTION.finditer(meant))
    ends = [*(one.start() for one in begun[1:]), len(meant)]
    given = [meant[one.end() : end].rstrip() for one, end in zip(begun, ends, strict=True)]
    calls = [{"name": one[1], "arguments": _leading_arguments(text, 0)} for one, text in zip(begun, given, strict=True)]
    return Written(calls=calls, record={}, words=_unwrapped(meant[: first.start()]))


def _coded(text: str, functions: Collection[str]) -> Written | None:
    """Return the calls of code made of nothing else, as `f(a=1)` or `[f(a=1), g(b="x")]`; None for other texts."""
    blocks = _CODE.findall(text)
    code = "\n".join(blocks) if blocks else text
    if len(code) > _MOST_CODE or not any(f"{name}(" in code for name in functions):
        return None
    try:
        statements = ast.parse(code.strip()).body
        calls = [_call_of(one) for statement in statements for one in _wanted(statement)]
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # it is not code, or more than calls
        return None
    if not calls or any(one["name"] not in functions for one in calls):
        return None
    return Written(calls=calls, record={}, words=_CODE.sub("", text).strip() if blocks else "")


def _wanted(statement: ast.stmt) -> list[ast.expr]:
    """Return the expressions of a statement expected to be calls: a list's members, or the arguments of `print`."""
    if not isinstance(statement, ast.Expr | ast.Assign):
        raise ValueError("it is more than calls")
    value = statement.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
        return value.args
    return value.elts if isinstance(value, ast.List) else [value]


def _call_of(node: ast.expr) -> dict[str, Any]:
    """Return a call with named arguments written out.

    Raises:
        ValueError: It is anything else.
    """
    if not isinstance(node, ast.Call) or node.args or any(argument.arg is None for argument in node.keywords):
        raise ValueError("it is more than a call")
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = {str(argument.arg): ast.literal_eval(argument.value) for argument in node.keywords}
    return {"name": name, "arguments": given}


def _leading_arguments(text: str, at: int) -> Any:
    """Return the arguments at the start of a text: an object, else the unchanged line."""
    if text.startswith("{", at) and (found := _object_at(text, at)) is not None:
        return found[0]
    return text[at:].partition("\n")[0]


def object_in(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text, an empty one if there is none."""
    return next((one for _, _, one in _objects(answered(text))), dict[str, Any]())


def object_alone(text: str) -> dict[str, Any] | None:
    """Return the JSON object making up a whole text, fenced or not; None if the text says anything else."""
    first = next(_objects(said := answered(text)), None)
    return None if first is None or _unwrapped(said[: first[0]] + said[first[1] :]) else first[2]


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects in a text that end their line, up to the first incomplete one: others are quoted."""
    said = answered(text)
    return [value for _, end, value in _objects(said) if _LINE_ENDS.match(said, end)]


def attempted(text: str) -> bool:
    """Return whether a text without calls was meant as one: it begins with a mark, or incomplete or malformed JSON."""
    said = answered(text)
    if _UNREAD_MARK.match(said) is not None:
        return True
    return _WRAPPED.match(said) is not None and _SPEAKS_OF_CALLS.search(said) is not None


def is_broken(text: str) -> bool:
    """Return whether a text begins with an unfinished JSON object."""
    said = answered(text)
    begins = _OBJECT.match(said)
    return begins is not None and next(_objects(said[begins.start(1) :]), (1,))[0] != 0


def answered(text: str) -> str:
    """Return a text without the thinking before it."""
    return text.rpartition("</think>")[2]


def _objects(text: str, *, loosely: bool = False) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the JSON objects in a text with their positions, up to the first incomplete one.

    Args:
        text: What a model said.
        loosely: Whether those count too that are JSON but for slips, or written as Python.
    """
    at, begins_at = 0, _BEGINS_LOOSELY if loosely else _BEGINS
    while begins := begins_at.search(text, at):
        found = _object_at(text, begins.start(), loosely=loosely)
        if found is None:
            return
        value, at = found
        yield begins.start(), at, value


def _object_at(text: str, at: int, *, loosely: bool = True) -> tuple[dict[str, Any], int] | None:
    """Return the JSON object at a place of a text, with its end; None without a whole one."""
    with suppress(ValueError, RecursionError):
        return _decode(text, at)
    depth, end = 0, at
    while loosely and end - at < _MOST_REPAIRED and (piece := _PIECE.match(text, end)):
        depth, end = depth + bool(piece["open"]) - bool(piece["close"]), piece.end()
        if depth == 0:
            with suppress(Refused):
                value = read_json(text[at:end])
                return (cast("dict[str, Any]", value), end) if isinstance(value, dict) else None
            return None
    return None


def _is_call(node: dict[str, Any]) -> bool:
    inner = _inner(node)
    return isinstance(inner.get("name"), str) and any(isinstance(inner.get(name), dict | str) for name in _GIVEN)


def _meant(call: Any, functions: Collection[str] | None = None) -> Any:
    """Return a call with `name` and `arguments` in place of other names for them; any other value unchanged.

    Args:
        call: A member of a list of calls, or an object that stands alone.
        functions: Names of functions of which an object that stands alone must name one; None for a member.
    """
    one = cast("dict[str, Any]", call) if isinstance(call, dict) else {}
    name = next((one[each] for each in _NAMES if isinstance(one.get(each), str)), "")
    given = next((one[each] for each in _GIVENS if isinstance(one.get(each), dict)), None)
    if not name or given is None or not one.keys() <= _BESIDE or (functions is not None and name not in functions):
        return cast("Any", call)
    return {"name": name, "arguments": given}


def _name_and_arguments(call: Any) -> tuple[Any, Any]:
    """Return the name and arguments of a call; the arguments are JSON again, to be read as strictly as others."""
    if not isinstance(call, dict):
        return None, call
    inner = _inner(cast("dict[str, Any]", call))
    given = next((inner[name] for name in _GIVEN if inner.get(name) is not None), None)
    if not isinstance(inner.get("name"), str) and not given:
        return None, cast("JsonObject", call)  # to be shown whole
    return inner.get("name"), _json(cast("JsonObject", given)) if isinstance(given, dict) else given


def _json(text: JsonObject) -> str:
    try:
        return json.dumps(text, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # a program made them
        return "(what is not JSON)"


def _inner(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call without OpenAI's envelope."""
    inner = call.get("function")
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else call


def _unwrapped(words: str) -> str:
    return _WRAPPING.sub("", words).strip()
