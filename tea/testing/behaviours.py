"""Behaviours of imperfect models: each is a function of one turn of a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, cast, get_args

from tea.errors import ContextLengthExceeded, ProviderError
from tea.testing.schema_values import members_of, value_of, wrong_value
from tea.types import Finish, JsonObject, JsonSchema, ModelRequest, ModelResponse, ReasoningPart, ToolCall

Behaviour = Literal[
    "sense",
    "done",
    "prose",
    "half_json",
    "wrong_types",
    "missing_argument",
    "extra_argument",
    "unreadable",
    "unknown_tool",
    "misspelt_tool",
    "repeat",
    "early_done",
    "wrong_done",
    "false_evidence",
    "refusal",
    "empty",
    "only_reasoning",
    "cut_off",
    "long_text",
    "odd_characters",
    "odd_arguments",
    "same_ids",
    "many_calls",
    "provider_error",
    "context_length",
]
WEIGHTS: Mapping[Behaviour, float] = {
    **dict.fromkeys(get_args(Behaviour), 1.0),
    "sense": 10.0,
    "done": 2.0,
    "repeat": 0.5,
    "provider_error": 0.2,
    "context_length": 0.5,
}
_PROSE = (
    "Let me look at the files first.",
    "The answer is 42.",
    "I will now call the tool `calculator` with 6 * 7 and tell you what it gives.",
    '```json\n{"answer": 42}\n```',
    '<tool_call>{"name": "done", "arguments": {"answer": 42}}</tool_call>',
    "42",
)
_ODD = (
    "half of a character \ud83d",
    "\x00\x01\x1b[31m red \x7f",
    "\u202e backwards",
    "a\r\nb\u2028c\ufeff",
    "\udcff" * 3,
)
_EXPRESSIONS = ("6 * 7", "(3 + 4) / 2", "1 / 0", "2 ** 64")
_QUERIES = ("SELECT COUNT(*) AS n FROM {table}", "SELECT * FROM {table} LIMIT 3", 'SELECT AVG("no such") FROM {table}')
_PARTS = ("Count the rows.", "What is 6 * 7?", "Which row is the largest?")


@dataclass(slots=True)
class Conversation:
    """The state of the conversation about one task: requests so far, the last calls, pending repetitions."""

    asked: int = 0
    calls: tuple[tuple[str, JsonObject], ...] = ()
    stuck: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request, with the data for answering it."""

    request: ModelRequest
    random: Random
    conversation: Conversation

    @property
    def files(self) -> list[str]:
        """Names of the task's files."""
        return [str(name) for name in cast("list[Any]", self.request.variables.get("files") or [])]

    def function(self, name: str = "") -> JsonObject:
        """Return a function on offer, the named one if it is there; an unknown one if none is offered."""
        offered = self.request.tools
        named = [one for one in offered if one["name"] == name]
        others = [one for one in offered if one["name"] != "done"] or [{"name": "calculator", "parameters": {}}]
        return named[0] if named else self.random.choice(others)

    def arguments(self, function: JsonObject) -> dict[str, Any]:
        """Return arguments matching a function's schema, with typical values for its parameters."""
        schema = cast("JsonSchema", function.get("parameters", {}))
        given = cast("dict[str, Any]", value_of(schema, self.random) if schema else {})
        return {name: self._meant(name, value) for name, value in given.items()}

    def done(self, **changes: Any) -> tuple[str, dict[str, Any]]:
        """Return a call of `done` matching its schema, except for the changes."""
        form = members_of(self.function("done").get("parameters", {})).get("answer", {})
        given: dict[str, Any] = {"answer": value_of(form, self.random)}
        if self.files and self.random.random() < 0.5:
            given["evidence"] = [{"source": self.random.choice(self.files), "detail": "row 1"}]
        if self.random.random() < 0.2:
            given |= {"success": False, "reason": "It cannot be found out."}
        return "done", given | changes

    def call(self) -> tuple[str, dict[str, Any]]:
        """Return a valid call of a function on offer."""
        function = self.function()
        return str(function["name"]), self.arguments(function)

    def say(self, *calls: tuple[str, JsonObject], text: str = "", finish: Finish = "calls") -> ModelResponse:
        """Return calls with text, as function calls or written as the record of models without functions."""
        self.conversation.calls = calls
        by_record = self.request.shown and "calls" in members_of(self.request.output or {})
        if by_record and self.random.random() < 0.7:
            made = [{"name": name, "arguments": dict(arguments)} for name, arguments in calls]
            words = dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), text)
            return ModelResponse(text=json.dumps({**words, "calls": made}, ensure_ascii=False))
        made = [
            ToolCall(id=f"call_{self.conversation.asked}_{number}", name=name, arguments=dict(arguments))
            for number, (name, arguments) in enumerate(calls)
        ]
        return ModelResponse(text=text, calls=tuple(made), finish=finish)

    def _meant(self, name: str, value: Any) -> Any:
        files = self.files or ["none.csv"]
        match name:
            case "files" | "names":
                return files[: self.random.randint(1, len(files))]
            case "path" | "file" | "name":
                return self.random.choice(files)
            case "expression":
                return self.random.choice(_EXPRESSIONS)
            case "sql":
                return self.random.choice(_QUERIES).format(table=self.random.choice(files).partition(".")[0])
            case "task":
                return self.random.choice(_PARTS)
            case _:
                return value


def _sense(turn: Turn) -> ModelResponse:
    """Make valid calls, answer by the schema, and end after some steps."""
    if not turn.request.tools:
        return _plain(turn)
    if turn.random.random() < turn.conversation.asked / 12:
        return turn.say(turn.done())
    return turn.say(*(turn.call() for _ in range(turn.random.randint(1, 3))), text="One step further.")


def _done(turn: Turn) -> ModelResponse:
    return turn.say(turn.done()) if turn.request.tools else _plain(turn)


def _plain(turn: Turn) -> ModelResponse:
    """Return the expected answer to a request without functions."""
    output = turn.request.output
    if output is None:
        return ModelResponse(text=turn.random.choice(_PROSE))
    return ModelResponse(text=json.dumps(value_of(output, turn.random), ensure_ascii=False))


def _prose(turn: Turn) -> ModelResponse:
    return ModelResponse(text=turn.random.choice(_PROSE))


def _half_json(turn: Turn) -> ModelResponse:
    name, arguments = turn.call()
    text = json.dumps({"thinking": "t", "calls": [{"name": name, "arguments": arguments}]})
    return ModelResponse(text=text[: turn.random.randint(1, len(text) - 1)])


def _wrong_types(turn: Turn) -> ModelResponse:
    function = turn.function()
    members = members_of(function.get("parameters", {}))
    arguments = {name: wrong_value(members[name], turn.random) for name in turn.arguments(function) if name in members}
    return turn.say(turn.call(), (str(function["name"]), arguments))


def _missing_argument(turn: Turn) -> ModelResponse:
    name, arguments = turn.call()
    kept = list(arguments.items())[1:]
    return turn.say((name, dict(kept)), turn.call())


def _extra_argument(turn: Turn) -> ModelResponse:
    name, arguments = turn.call()
    return turn.say((name, {**arguments, "reason": "because", "limit_": 3}))


def _unreadable(turn: Turn) -> ModelResponse:
    good = turn.say(turn.call())
    told = 'its arguments are not JSON: {"task": "What is'
    bad = ToolCall(id="call_bad", name=str(turn.function()["name"]), arguments={}, unreadable=told)
    return ModelResponse(calls=(*good.calls, bad), finish="calls")


def _unknown_tool(turn: Turn) -> ModelResponse:
    name = turn.random.choice(("web_search", "python", "", "a b", "tool:calculator@9.9.9", "x" * 300, "../etc"))
    return turn.say((name, {"query": "anything"}), turn.call())


def _misspelt_tool(turn: Turn) -> ModelResponse:
    name, arguments = turn.call()
    wrong = turn.random.choice(("functions.{}", "{}s", "{}<|channel|>", "tool:{}", "{}()", "default_api.{}"))
    return turn.say((wrong.format(name), arguments))


def _repeat(turn: Turn) -> ModelResponse:
    """Make the last calls again, this time and for a while."""
    if not turn.conversation.stuck:
        turn.conversation.stuck = turn.random.randint(2, 30)
    return turn.say(*(turn.conversation.calls or (turn.call(),)))


def _early_done(turn: Turn) -> ModelResponse:
    calls = [turn.call(), turn.done(success=True)]
    turn.random.shuffle(calls)
    return turn.say(*calls)


def _wrong_done(turn: Turn) -> ModelResponse:
    wrong: tuple[dict[str, Any], ...] = (
        {"answer": {"not": ["what", "was", "asked"]}},
        {"success": False, "reason": ""},
        {"success": "yes", "evidence": "cities.csv"},
        {"answer": None},
    )
    return turn.say(turn.done(**turn.random.choice(wrong)))


def _false_evidence(turn: Turn) -> ModelResponse:
    invented = {"source": "no_such_file.csv", "detail": "row 99", "quote": "words that stand nowhere"}
    misquoted = {"source": (turn.files or ["cities.csv"])[0], "quote": "words that stand nowhere, 123456"}
    return turn.say(turn.done(success=True, evidence=[turn.random.choice((invented, misquoted))]))


def _refusal(turn: Turn) -> ModelResponse:
    return ModelResponse(text=turn.random.choice(("I cannot help with that.", "")), finish="refusal")


def _empty(turn: Turn) -> ModelResponse:
    return ModelResponse(text=turn.random.choice(("", " \n", "{}", "null", "[]")))


def _only_reasoning(turn: Turn) -> ModelResponse:
    return ModelResponse(reasoning=(ReasoningPart(text="I think about it.", origin="chaos", data={"signature": "s"}),))


def _cut_off(turn: Turn) -> ModelResponse:
    text = json.dumps({"thinking": "much to say " * 50, "calls": []})[:-20]
    calls = turn.say(turn.call()).calls if turn.random.random() < 0.5 else ()
    return ModelResponse(text=text, calls=calls, finish="length")


def _long_text(turn: Turn) -> ModelResponse:
    text = "All of it again, once more and at length. " * turn.random.choice((100, 2_000, 10_000))
    return turn.say(turn.call(), text=text) if turn.random.random() < 0.5 else ModelResponse(text=text)


def _odd_characters(turn: Turn) -> ModelResponse:
    odd = turn.random.choice(_ODD)
    name, arguments = turn.call()
    match turn.random.randrange(5):
        case 0:
            return ModelResponse(text=odd)
        case 1:
            return turn.say((name, arguments), text=odd)
        case 2:
            return turn.say((name, {one: odd if isinstance(value, str) else value for one, value in arguments.items()}))
        case 3:
            return turn.say(turn.done(answer=odd))
        case _:
            return turn.say((odd, arguments))


def _odd_arguments(turn: Turn) -> ModelResponse:
    deep: Any = "end"
    for _ in range(turn.random.choice((20, 400))):
        deep = [deep]
    odd = turn.random.choice((float("nan"), float("inf"), deep, 10**400, -0.0, "9" * 5_000))
    name, arguments = turn.call()
    return turn.say((name, dict.fromkeys(arguments, odd) or {"x": odd}), turn.call())


def _same_ids(turn: Turn) -> ModelResponse:
    said = turn.say(turn.call(), turn.call(), turn.call())
    return said.model_copy(update={"calls": tuple(one.model_copy(update={"id": "call"}) for one in said.calls)})


def _many_calls(turn: Turn) -> ModelResponse:
    return turn.say(*(turn.call() for _ in range(turn.random.randint(8, 60))))


def _provider_error(turn: Turn) -> ModelResponse:
    raise ProviderError("The provider is overloaded (HTTP 529).", fix="try again later.")


def _context_length(turn: Turn) -> ModelResponse:
    told = turn.random.choice(("This model's maximum context length is 8192 tokens.", "prompt is too long"))
    raise ContextLengthExceeded(told, fix="ask for less.")


BEHAVIOURS: Mapping[Behaviour, Callable[[Turn], ModelResponse]] = {
    "sense": _sense,
    "done": _done,
    "prose": _prose,
    "half_json": _half_json,
    "wrong_types": _wrong_types,
    "missing_argument": _missing_argument,
    "extra_argument": _extra_argument,
    "unreadable": _unreadable,
    "unknown_tool": _unknown_tool,
    "misspelt_tool": _misspelt_tool,
    "repeat": _repeat,
    "early_done": _early_done,
    "wrong_done": _wrong_done,
    "false_evidence": _false_evidence,
    "refusal": _refusal,
    "empty": _empty,
    "only_reasoning": _only_reasoning,
    "cut_off": _cut_off,
    "long_text": _long_text,
    "odd_characters": _odd_characters,
    "odd_arguments": _odd_arguments,
    "same_ids": _same_ids,
    "many_calls": _many_calls,
    "provider_error": _provider_error,
    "context_length": _context_length,
}
