"""Form: the check of records as they are read, since a writer of journals may write anything."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from tea.characters import path_in_sentence
from tea.errors import BadRef, Damaged, ErrorRecord, words_of
from tea.kernel.entry import canonical
from tea.kernel.key import is_key
from tea.refs import NAME, SESSION, Ref
from tea.types import JsonObject, JsonValue

Object = dict[str, Any]
ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What code raises that is given data of another form than it was written for."""
_WORDS = 120
_LONGEST_KEY = 2_000  # characters; calls are nested less deep


def _is_moment(text: str) -> str:
    if not text or datetime.fromisoformat(text).tzinfo is not None:
        return text
    raise ValueError("it is not a moment in UTC")


def _is_key(text: str) -> str:
    if is_key(text):
        return text
    raise ValueError("it has a key that no run writes")


def _is_agent(text: str) -> str:
    if not text or NAME.fullmatch(text):
        return text
    raise ValueError("it has an agent whose name is not valid")


def _is_session(text: str) -> str:
    if not text or SESSION.fullmatch(text):
        return text
    raise ValueError("it has a session whose name is not valid")


def _is_operation(text: str) -> str:
    Ref.parse(text)
    return text


Moment = Annotated[str, Field(max_length=40), AfterValidator(_is_moment)]
Key = Annotated[str, Field(max_length=_LONGEST_KEY), AfterValidator(_is_key)]
AgentName = Annotated[str, AfterValidator(_is_agent)]
Session = Annotated[str, AfterValidator(_is_session)]
Operation = Annotated[str, AfterValidator(_is_operation)]
Count = Annotated[int, Field(ge=0, lt=10**18)]
Amount = Annotated[float, Field(ge=0, lt=1e18, allow_inf_nan=False)]


class _Record(TypedDict):
    """The fields of every record."""

    time: NotRequired[Moment]
    span: NotRequired[str]
    parent: NotRequired[str]
    session: NotRequired[Session]
    task: NotRequired[str]
    agent: NotRequired[AgentName]
    kind: NotRequired[str]
    key: NotRequired[Key]


class _File(TypedDict):
    name: str
    bytes: NotRequired[Count]
    sha256: NotRequired[str]


class _Changed(TypedDict):
    ref: str
    digest: str


class _Fork(TypedDict):
    run: str
    position: NotRequired[Count]
    use: NotRequired[dict[str, _Changed]]
    model: NotRequired[str | None]


class _Head(TypedDict):
    task: NotRequired[Object]
    setting: NotRequired[Object]
    files: NotRequired[list[_File]]
    tea: NotRequired[str]
    model: NotRequired[Object]
    fork: NotRequired[_Fork]


class _Digested(TypedDict):
    digest: str


class _Called(_Digested):
    arguments: NotRequired[Object]


class _Question(TypedDict):
    messages: list[Object]
    prompt: NotRequired[str]
    chain: NotRequired[str]
    parent: NotRequired[str]


class _Taken(TypedDict):
    run: str
    number: Count
    text: str
    mark: NotRequired[str]


class _Answered(TypedDict):
    response: Object | None
    error: Object | None


class _Entered(_Called):
    ref: str


class _Left(TypedDict):
    ref: str
    response: Object


class _Step(TypedDict):
    calls: NotRequired[list[Object]]
    results: NotRequired[list[Object]]


class _Inner(_Called):
    response: Object
    pin: NotRequired[str]


class _Asked(TypedDict):
    question: str
    choices: list[str]
    target: NotRequired[str]
    digest: NotRequired[str]
    once: NotRequired[str]


class _Reply(TypedDict):
    answer: str
    target: NotRequired[str]


class _Intent(TypedDict):
    target: Operation
    effects: str
    decision: NotRequired[str]


class _Waiting(TypedDict):
    open: NotRequired[list[str]]


class _Resumed(TypedDict):
    seconds: NotRequired[Amount]


class _Cost(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # pyright: ignore[reportGeneralTypeIssues]

    steps: NotRequired[Count]
    tokens: NotRequired[Count]
    usd: NotRequired[Amount | None]
    cached: NotRequired[Count]
    by: NotRequired[dict[str, Object]]
    unsettled: NotRequired[dict[str, Amount | None]]


class _End(TypedDict):
    status: Literal["done", "failed", "exhausted"]
    answer: Any
    reason: str
    evidence: NotRequired[list[Object]]
    cost: NotRequired[_Cost]
    error: NotRequired[ErrorRecord | None]
    handoff: NotRequired[str | None]


class _NoteEntry(TypedDict):
    """A note of the gate; its `data`, like that of a start, is checked according to its kind."""

    kind: str
    target: NotRequired[str]
    digest: NotRequired[str]


class _Begun(TypedDict):
    kind: str
    target: str
    digest: NotRequired[str]


class _Evidence(TypedDict):
    kind: str
    target: NotRequired[str]


class _Failed(TypedDict):
    data: ErrorRecord


class _Forked(TypedDict):
    data: _Fork


_FORMS: Mapping[str, Any] = {
    "run": _Head,
    "start": _Begun,
    "note": _NoteEntry,
    "done": Object,
    "failed": _Failed,
    "fired": Object,
    "message": Object,
    "cancelled": _Failed,
    "forked": _Forked,
    "asked": _Asked,
    "answer": _Reply,
    "intent": _Intent,
    "evidence": _Evidence,
    "resumed": _Resumed,
    "waiting": _Waiting,
    "end": _End,
    "secrets": dict[str, list[str]],
}
_STARTS: Mapping[str, Any] = {
    "tool": _Called,
    "environment": _Called,
    "policy": _Digested,
    "model": _Question,
    "resolve": Object,
    "messages": Object,
}
_NOTES: Mapping[str, Any] = {"enter": _Entered, "exit": _Left, "step": _Step}
_OUTCOMES: Mapping[str, Any] = {
    "tool": Object,
    "environment": Object,
    "policy": Object | None,
    "model": _Answered,
    "resolve": _Changed | list[_Changed] | Object,
    "messages": list[_Taken],
}


@contextmanager
def understood(run: str) -> Generator[None]:
    """Raise Damaged for intact records with content not written by any run.

    Args:
        run: Id of the run.

    Raises:
        Damaged: One of them lacks what is read of it, or has it in another form.
    """
    try:
        yield
    except ODD as error:
        raise strange(run, words_of(error)) from error


def strange(run: str, why: str) -> Damaged:
    """Return the error for a journal not written by a run."""
    problem = f"The journal of the run {run} holds what no run writes ({why[:_WORDS]})."
    return Damaged(problem, fix=f"bring back traces/{run} from a copy, or remove it.")


def note_fault(kind: str, data: JsonObject) -> str:
    """Return the problem of a note, empty if there is none; one in another form than its kind's damages its journal.

    Raises:
        BadArguments: It is not JSON.
    """
    try:
        if kind in _NOTES:
            _adapter(_NOTES[kind]).validate_json(canonical(data), strict=True)
    except ValidationError as error:
        return _place_words(error)
    return ""


class Form:
    """A check of one journal's records in their order, for the form of a run's own."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def fault(self, record: JsonObject) -> str:
        """Return the problem of a record, empty if there is none."""
        data = record.get("data")
        try:
            _adapter(_Record).validate_python(record, strict=True)
            kind = record.get("kind", "")
            if kind in _FORMS:
                _check(_FORMS[kind], data)
                self._inside(kind, record.get("key", ""), data)
        except BadRef as error:
            return error.problem
        except ValidationError as error:
            return _place_words(error)
        return ""

    def _inside(self, kind: str, key: str, data: Any) -> None:
        """Check a record of the gate, or evidence, against its effect."""
        said = data["kind"] if kind in ("start", "note", "evidence") else ""
        if kind == "start":
            self._kinds[key] = said
            _check(_STARTS.get(said), data.get("data"))
        elif kind == "note":
            _check(_NOTES.get(said), data.get("data"))
        elif kind == "done":
            _check(_OUTCOMES.get(self._kinds.pop(key, "")), data.get("data"))
        elif kind == "evidence" and "target" in data:
            _check(_Inner, data.get("data"))


def _place_words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = path_in_sentence(first["loc"])
    return f"{first['msg']} at {place}" if place else first["msg"]


def _check(form: Any, data: JsonValue) -> None:
    if form is not None:
        _adapter(form).validate_python(data, strict=True)


@cache
def _adapter(form: Any) -> TypeAdapter[Any]:
    return TypeAdapter(form)
