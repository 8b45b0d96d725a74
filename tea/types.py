"""The vocabulary: JSON, effects, tasks, results, responses and model messages.

A record is validated where it comes in: from disk, the wire, a model, a component. Inside, thousands are made of parts
that were, and these make them without validating again:

- `data_part` and `message`: of JSON that the run itself decoded or wrote, as the loop's. What agents put together
  themselves is validated by the constructors, and refused by `tea.journal.conversation` where it is not JSON.
- `success`: of the value that an executor gave, who has checked it.
- `changed`: for fields that were worked out here, or checked by what gave them.
- `made`: for whatever else has all of its fields from such places; the others are made by it.

Their likes for text are `JsonText` and `assembled` in `tea.kernel.entry`: only of what `encode` or `canonical` wrote.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from tea.errors import ErrorRecord, TeaError, error_from

JsonValue: TypeAlias = Any
JsonObject: TypeAlias = Mapping[str, Any]
JsonSchema: TypeAlias = dict[str, Any]

Effects = Literal["reads", "writes", "external", "irreversible"]
State = Literal["active", "deprecated", "archived"]
EVERY = "*"  # among the names of tools: all that are active and trusted


_new = object.__new__
# What sets the four slots of a pydantic model: its fields, which of them were given, and what ours never have.
_fields, _given, _extra, _private = (
    BaseModel.__dict__[f"__{name}__"].__set__
    for name in ("dict", "pydantic_fields_set", "pydantic_extra", "pydantic_private")
)


class Record(BaseModel):
    """The base of all data crossing a boundary: frozen, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


R = TypeVar("R", bound=Record)


def made(kind: type[R], fields: dict[str, Any], given: set[str] | None = None) -> R:
    """Return a record with all of its fields, without validation: for values made of checked parts.

    Args:
        kind: What it is.
        fields: The values of all of its fields.
        given: Names of those that were given, by default all.
    """
    one = _new(kind)
    _fields(one, fields)
    _given(one, _names(kind) if given is None else given)
    _extra(one, None)
    _private(one, None)
    return one


def changed(one: R, **fields: Any) -> R:
    """Return a record with other fields, without validation: like `model_copy`, at a lower cost."""
    return made(type(one), {**one.__dict__, **fields})


@cache
def _names(kind: type[Record]) -> set[str]:
    """Return the names of a record's fields: one set for all of a kind, as none of them changes."""
    return set(kind.model_fields)


class Principal(Record):
    """The originator of a call."""

    name: str = "local"


class Untrusted(Principal):
    """An untrusted component, `kind:name@version`, as the originator of its calls."""


class Budget(Record):
    """The limits of a task; None means no limit of its own.

    Args:
        steps: Most questions to models.
        seconds: Most time.
        tokens: Most tokens of all questions and answers.
        usd: Most US dollars.
        unknown_price: Whether models without a known price may answer nonetheless where there is a limit in dollars.
    """

    steps: int | None = Field(default=None, ge=1, le=1_000_000)
    seconds: float | None = Field(default=None, gt=0, le=31_536_000, allow_inf_nan=False)
    tokens: int | None = Field(default=None, ge=1, le=10**12)
    usd: float | None = Field(default=None, ge=0, le=10**9, allow_inf_nan=False)
    unknown_price: bool = False


class Fact(Record):
    """A finding with its source.

    Args:
        fact: What is known, in one or two sentences.
        source: File, address or call it comes from; empty where it was given or derived.
        quote: The words or values themselves.
    """

    fact: str = Field(min_length=1)
    source: str = ""
    quote: str = ""


class Said(Record):
    """One contribution to a conversation.

    Args:
        who: `person`, the name of an agent (`agent:person` of that name), or empty for a remark about the conversation.
        text: The words.
    """

    who: str = ""
    text: str


class Task(Record):
    """An agent's task.

    Args:
        text: The task in words.
        files: Names of files inside the run's workspace.
        answer: JSON Schema of the wanted answer, or None for text.
        tools: Names of the only tools it may use, or None for the agent's own set; with `*`, all that are active and
            trusted, beside these and the agent's own.
        also: Names of tools that are offered to it for certain, beside those.
        budget: What it may use of what is left to whoever gives it away, or None for all of that.
        facts: What whoever gives it away knows already.
        history: The conversation before it, oldest first; recorded only where there is one.
        talk: Whether it is a line of a conversation, whose person goes on after the answer.
    """

    text: str = Field(min_length=1)
    files: tuple[str, ...] = ()
    answer: dict[str, Any] | None = None
    tools: tuple[str, ...] | None = None
    also: tuple[str, ...] = ()
    budget: Budget | None = None
    facts: tuple[Fact, ...] = ()
    history: tuple[Said, ...] = ()
    talk: bool = False

    @model_validator(mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_serializer(mode="wrap")
    def _sparse(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(whole(self), "history", "talk")


class Evidence(Record):
    """A source of an answer.

    Args:
        source: A file or address.
        detail: Which part of it.
        quote: Its words.
        doubt: Why it could not be confirmed from what the run has read; empty where it was, or was not checked.
    """

    source: str
    detail: str = ""
    quote: str = ""
    doubt: str = ""


class WorkState(Record):
    """The last state of the work on a task, for beginning it anew.

    Args:
        confidence: How sure it is of its answer, 0 to 100; None where it did not say.
        facts: What it knows, with sources.
        failed: What it tried in vain, one line each.
        leads: What it did not follow, one line each.
    """

    confidence: int | None = Field(default=None, ge=0, le=100)
    facts: tuple[Fact, ...] = ()
    failed: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()


class Attempted(Record):
    """One of several attempts at a task, as it ended.

    Args:
        answer: Its answer; empty when there is none.
        status: `done`, `failed`, `exhausted`, or `stopped` where another one had an answer that was sure enough.
        reason: Why it did not succeed, in one line.
        confidence: How sure it is of its answer, 0 to 100; None where it did not say.
        cost: What it used: `steps`, `tokens`, `usd`; empty where it was stopped.
        chosen: Whether its answer is that of the task.
        objection: Why the judge refuted it, empty where it did not.
    """

    answer: Any = ""
    status: Literal["done", "failed", "exhausted", "stopped"] = "done"
    reason: str = ""
    confidence: int | None = None
    cost: dict[str, Any] = Field(default_factory=dict[str, Any])
    chosen: bool = False
    objection: str = ""


class Result(Record):
    """An agent's result.

    Args:
        answer: The answer; empty when there is none.
        ok: Whether the task succeeded.
        reason: Why it did not, in one line.
        evidence: Where the answer comes from.
        report: Name of a Markdown report inside the workspace, if one was written.
        exhausted: Whether a budget ended before the work did; `answer` is then the best so far.
        handoff: Name of the agent to go on with the conversation; the chat starts it, nobody else does.
        task: The task of that agent, in words; without it the one that this agent had.
        gaps: What is not known, contradictory, or could not be looked at, one line each.
        partial: Whether the work stopped before it was complete, although the answer holds.
        state: The state in which the work ended, where it is one of several attempts.
        cost: What it used then: `steps`, `tokens`, `usd`.
        attempts: The attempts that it was chosen from.
    """

    answer: Any = ""
    ok: bool = True
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    report: str | None = None
    exhausted: bool = False
    handoff: str | None = None
    task: str | None = None
    gaps: tuple[str, ...] = ()
    partial: bool = False
    state: WorkState | None = None
    cost: dict[str, Any] | None = None
    attempts: tuple[Attempted, ...] = ()

    @model_serializer(mode="wrap")
    def _sparse(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(whole(self), "handoff", "task", "gaps", "partial", "state", "cost", "attempts")


class Response(Record):
    """A call's response: a value, or a structured error for the caller to act on.

    Args:
        ref: What answered, `kind:name@version#operation`.
        ok: Whether there is a value.
        value: The JSON value; beside an agent's error at most the cost of its work.
        error: The error when there is none.
    """

    ref: str
    ok: bool
    value: Any = None
    error: ErrorRecord | None = None

    def unwrap(self) -> Any:
        """Return the value.

        Raises:
            TeaError: The call failed; the error is of the type it names.
        """
        if self.error is not None:
            raise error_from(self.error)
        return self.value


class ToolResponse(Response):
    """A tool's response (paper, Definition 4)."""


class ActionResponse(Response):
    """A response of an environment's action (paper, Definition 7)."""


class AgentResponse(Response):
    """An agent's response (paper, Definition 10)."""

    @property
    def result(self) -> Result:
        """The agent's result; a failed call gives a result with `ok` false."""
        if self.error is not None:
            beside: dict[str, Any] = self.value or {}
            return Result(ok=False, reason=self.error["problem"], cost=beside.get("cost"))
        return Result.model_validate(self.value)


class TextPart(Record):
    """Text in a message."""

    type: Literal["text"] = "text"
    text: str


class MediaPart(Record):
    """An image, a sound or a file in a message, by its digest among the run's blobs."""

    type: Literal["image", "audio", "file"]
    digest: str
    media_type: str


class DataPart(Record):
    """Structured data in a message: solvers and programs read `data`, models its JSON text."""

    type: Literal["data"] = "data"
    data: Any


class ReasoningPart(Record):
    """The reasoning of a model before its answer.

    Args:
        text: The words that its provider shows, often a summary or nothing.
        origin: Which configuration it came from; no other provider is ever shown it.
        data: The provider's own block, with its signature, to be given back unchanged.
        at: Where it stood in its answer: 0 before all else, n + 1 after the words and the first n calls.
    """

    type: Literal["reasoning"] = "reasoning"
    text: str = ""
    origin: str = ""
    data: dict[str, Any] = Field(default_factory=dict[str, Any])
    at: int = 0


Part: TypeAlias = TextPart | MediaPart | DataPart | ReasoningPart
Finish = Literal["stop", "length", "calls", "refusal"]
ToolChoice = Literal["auto", "required", "none"]


class ToolCall(Record):
    """A model's request to call a tool.

    Args:
        id: Ties its result to it.
        name: The tool.
        arguments: What to call it with; empty where they could not be read.
        unreadable: Why the arguments could not be read, with their beginning; empty where they could.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    unreadable: str = ""


class Message(Record):
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant", "tool"]
    content: tuple[Part, ...]
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


def data_part(data: JsonValue) -> DataPart:
    """Return JSON as a part of a message; it is not checked."""
    return made(DataPart, {"type": "data", "data": data})


def message(
    role: Literal["system", "user", "assistant", "tool"],
    content: tuple[Part, ...],
    calls: tuple[ToolCall, ...] = (),
    call_id: str | None = None,
) -> Message:
    """Return a message of checked parts, without validation, as many are made in a run."""
    return made(Message, {"role": role, "content": content, "calls": calls, "call_id": call_id})


class ModelRequest(Record):
    """A request to a model, of one type for all providers.

    Args:
        model: Name of a configuration, or None for the run's default.
        prompt: The prompt's ref, with version.
        variables: What the prompt was rendered with.
        messages: The conversation so far, system message first.
        output: JSON Schema that the answer must fit, or None for text.
        tools: Function-calling schemas on offer, by name; where `output` has a member `calls`, what these may name.
        shown: Whether the messages say in words what these are, for models that have no functions.
        tool_choice: Whether a call is left to the model, wanted, or ruled out.
        parallel: Whether it may call several tools at once.
        max_output: Most tokens of the answer, None for the configuration's own limit.
        media: Contents of the media parts, by digest; never recorded with the request.
        solver: Ref of the tool that stands in when no model is there, from the prompt.
    """

    model: str | None = None
    prompt: str | None = None
    variables: dict[str, Any] = Field(default_factory=dict[str, Any])
    messages: tuple[Message, ...] = ()
    output: dict[str, Any] | None = None
    tools: tuple[dict[str, Any], ...] = ()
    shown: bool = True
    tool_choice: ToolChoice = "auto"
    parallel: bool = True
    max_output: int | None = None
    media: dict[str, bytes] = Field(default_factory=dict[str, bytes], exclude=True, repr=False)
    solver: str | None = None


class Usage(Record):
    """The usage of a model call.

    Args:
        input_tokens: Tokens of the question, with those that were cached.
        cached_tokens: Those of them that came from the provider's cache.
        written_tokens: Those of them that were put into the cache, where that has a price of its own.
        output_tokens: Tokens of the answer, with those of its reasoning.
        reasoning_tokens: Those of them that the reasoning took.
        usd: What it cost in US dollars, None when the price is unknown.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    usd: float | None = 0.0


class Attempt(Record):
    """A failed attempt within a model call.

    Args:
        model: The configuration that was tried.
        problem: What went wrong.
        status: The HTTP status, if there was a response.
        waited: Seconds waited before the next try; None where another model was tried next.
    """

    model: str
    problem: str
    status: int | None = None
    waited: float | None = None


class ModelResponse(Record):
    """One complete answer of a model.

    Args:
        text: The words of the answer.
        output: The answer as data, validated against the request's schema.
        calls: Tools the model wants called.
        reasoning: What it thought before.
        usage: What it used.
        finish: Why it stopped; a refusal's words are in `text`.
        answered_by: The configuration, or the solver tool where no model answered.
        model: The provider's own id of the model that answered.
        unusable: Why the answer cannot be used although it was paid for, in one line.
        attempts: What was tried before, and anything that had to change for another model.
    """

    text: str = ""
    output: Any = None
    calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[ReasoningPart, ...] = ()
    usage: Usage = Field(default_factory=Usage)
    finish: Finish = "stop"
    answered_by: str = ""
    model: str = ""
    unusable: str = ""
    attempts: tuple[Attempt, ...] = ()

    def message(self) -> Message:
        """Return the answer as a message for continuing the conversation."""
        text = (TextPart(text=self.text),) if self.text else ()
        return Message(role="assistant", content=(*self.reasoning, *text), calls=self.calls)


def success(response: type[Response], ref: str, value: JsonValue) -> Response:
    """Return a JSON value as a response of the given type, equal to the constructor's, without validation."""
    return made(response, {"ref": ref, "ok": True, "value": value, "error": None}, {"ref", "ok", "value"})


def failure(response: type[Response], ref: str, error: TeaError) -> Response:
    """Return `error` as a response of the given type."""
    return response(ref=ref, ok=False, error=error.record())


def without_empty(data: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a record's fields without the empty ones among the given names, so they are recorded if used."""
    return {name: value for name, value in data.items() if value or name not in names}


def merge_patch(document: JsonValue, patch: JsonValue) -> Any:
    """Return a document changed by a patch, as in JSON Merge Patch (RFC 7396); neither is changed.

    Args:
        document: What is changed.
        patch: Objects join, a member None removes, and all else replaces.
    """
    if not isinstance(patch, Mapping):
        return patch
    found = dict(cast("JsonObject", document)) if isinstance(document, Mapping) else {}
    for name, value in cast("JsonObject", patch).items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merge_patch(found.get(name), value)
    return found


def as_object(value: object) -> dict[str, Any]:
    """Return `value` as a JSON object; for JSON of an already checked shape."""
    return cast("dict[str, Any]", value)


def as_text(value: object) -> str:
    """Return a text as it is, and other data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def is_text(answer: object) -> bool:
    """Return whether a value is text suitable for a journal: without lone surrogates, as misread terminals give."""
    if not isinstance(answer, str):
        return False
    try:
        answer.encode()
    except UnicodeEncodeError:
        return False
    return True
