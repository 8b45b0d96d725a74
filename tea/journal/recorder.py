"""Recorder: the writing of a run's events to its journal, with their place in the tree of agents, and to watchers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from typing import cast

from tea.errors import ErrorRecord
from tea.journal.mask import Mask, Pieces
from tea.journal.record import TraceRecord, as_mapping, span_id
from tea.journal.status import ASKED
from tea.journal.tracer import Trace, quoted
from tea.kernel.entry import Entry, canonical
from tea.kernel.key import effect_key, innermost
from tea.models.manager import Delta, Listen
from tea.source.seal import MARK, unmarked
from tea.types import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a run, in the form for watchers.

    Args:
        kind: The record's kind; for gate records `start`, `note`, `done`, `failed` and so on; `delta` for a
            piece of a model's answer on its way, never written.
        key: Which effect or scope it belongs to.
        agent: Who was at work.
        data: What it says.
    """

    kind: str
    key: str
    agent: str
    data: JsonValue


def answering(run: str, key: str, answer: str) -> str:
    """Return the command for answering a run's question under a key."""
    return f"tea resume {run} --answer {quote(f'{key}={answer}')}"


def _asking(question: str, choices: Sequence[str], call: JsonObject) -> JsonObject:
    return {"question": question, "choices": list(choices), **call}


def answer_of(key: str, question: JsonValue, data: JsonObject, run: str) -> JsonObject:
    """Return the content of the mark of an answer: it counts in this run, for this question alone."""
    about = {name: value for name, value in unmarked(data).items() if name != "answer"}
    return {"run": run, "key": key, "question": question or about, "answer": data.get("answer")}


def question_of(key: str, data: JsonObject, run: str) -> JsonObject:
    """Return the content of the mark of a question."""
    return {"asks": run, "key": key, "question": unmarked(data)}


AGAIN = "again"
_CALLED = ("target", "digest", "data", "places")  # what a question says of the call that it is about
Watcher = Callable[[Event], None]
NO_SECRETS = Mask({})


class Recorder:
    """A writer of records; without a trace, it only notifies watchers (a call outside any run, or a replay).

    `repeats` tells whether what is done meanwhile was done before, and what persons said of it then still holds.
    """

    def __init__(
        self,
        trace: Trace | None,
        run: str,
        watch: Watcher | None = None,
        mask: Mask = NO_SECRETS,
        seal: Callable[[JsonValue], str] | None = None,
    ) -> None:
        self.mask = mask
        self._seal = seal
        self.trace = trace
        self.repeats = False
        self._run = run
        self._watch = watch
        self._scopes: dict[str, tuple[str, str]] = {}
        self._untold: list[Event] = []
        self._heard: dict[str, dict[str, Pieces]] = {}
        self._asked: set[str] = set()
        self.remedies = set[str]()  # for the questions that this process asked
        self._meant: dict[str, JsonValue] = {}
        self._before: Mapping[str, JsonObject] = {}
        self._marks: Mapping[str, JsonValue] = {}
        self._again: Mapping[str, int] = {}

    def ask(self, key: str, question: str, choices: Sequence[str], **call: JsonValue) -> None:
        """Record a question to a person, about a `call` or other data, and keep it open until `answered`."""
        self._asked.add(key)
        meant = self._meant[key] = self.mask.data(_asking(question, choices, call))
        mark = {MARK: self._seal(question_of(key, meant, self._run))} if self._seal is not None else {}
        self.write(ASKED, key, {**meant, **mark})

    def recall(self, before: Mapping[str, JsonValue], again: Mapping[str, int]) -> None:
        """Set the last questions of the run's earlier processes, by key, and the number of restarts of each call."""
        self._before = {key: unmarked(as_mapping(data)) for key, data in before.items()}
        self._marks = {key: as_mapping(data).get(MARK) for key, data in before.items()}
        self._again = again

    def again(self, key: str) -> int:
        """Record the repetition of a request to a model, and return the number of requests by earlier processes."""
        self.write(AGAIN, key, {})
        return 1 + self._again.get(key, 0)

    def same(self, key: str, question: str, choices: Sequence[str], **call: JsonValue) -> bool:
        """Return whether an answer under `key` fits this question: earlier processes asked no other one there.

        A tool that begins anew may ask something else in the place of what was answered. Where a call is repeated, the
        reason for the question may be another one now, and the call may not.
        """
        if key not in self._before:
            return True
        before, now = self._before[key], self.mask.data(_asking(question, choices, call))
        if self.repeats:
            before, now = ({name: one.get(name) for name in _CALLED} for one in (before, now))
        return canonical(before) == canonical(now)

    def asked_last(self, key: str) -> JsonObject:
        """Return the last question of this account under `key` in earlier processes; empty for none.

        A question that others wrote may say something else than what it is about.
        """
        asked = self._before.get(key, {})
        ours = self._seal is not None and self._marks.get(key) == self._seal(question_of(key, asked, self._run))
        return asked if ours else {}

    def asked_before(self, key: str, question: str, choices: Sequence[str], **call: JsonValue) -> bool:
        """Return whether an earlier process asked this under `key`, regardless of the call's arguments."""
        before = {name: value for name, value in self._before.get(key, {}).items() if name != "data"}
        return canonical(before) == canonical(self.mask.data(_asking(question, choices, call)))

    def answered(self, key: str, about: JsonObject, answer: str) -> None:
        """Record the answer of a person, with the mark of their account."""
        self._asked.discard(key)
        data = {**about, "answer": answer}
        if self._seal is not None:
            meant = self._meant.get(key, self._before.get(key))
            data[MARK] = self._seal(answer_of(key, meant, self.mask.data(data), self._run))
        self.write("answer", key, data)

    def suspended(self, error: ErrorRecord, awaited: Sequence[str]) -> ErrorRecord:
        """Record the wait of the run for a person, and return the reason, with all open questions in its text.

        Args:
            error: The first question.
            awaited: Keys of all that the program waits for.
        """
        self.write("waiting", "", {**error, "open": list(awaited)})
        masked = cast("ErrorRecord", self.mask.data(error))
        questions = sum(effect_key(key) in awaited for key in self._asked)
        if questions < 2:
            return masked
        return {**masked, "fix": f"{masked['fix']}; `tea inbox {self._run}` shows all {questions} questions."}

    def remedy(self, key: str, answer: str, more: str = "") -> str:
        """Return the remedy for a question under `key`: the command to answer it, or an agent to call it from."""
        if self.trace is None:
            return "call it from an agent: its run waits for the answer."
        fix = answering(self._run, key, answer) + more
        self.remedies.add(fix)
        return fix

    def enter(self, key: str, agent: str) -> None:
        """Assign everything below `key` to `agent`."""
        self._scopes[key] = span_id(self._run, key), agent

    def entry(self, entry: Entry) -> None:
        """Write an entry of the gate, with the next `flush`."""
        if entry.key in self._heard and entry.event != "start":
            self._heard_all(entry.key)
        span, agent = self._scope(entry.key)
        if self.trace is not None:
            fields = ""
            if entry.kind:
                named = f'"kind":{quoted(entry.kind)},"target":{quoted(entry.target)}'
                fields = f'{named},"digest":"{entry.digest}",'
            self.trace.append_text(entry.event, entry.key, fields, entry.text, agent=agent, parent=span)
        if self._watch is not None:
            said = {"kind": entry.kind, "target": entry.target, "digest": entry.digest} if entry.kind else {}
            self._untold.append(Event(kind=entry.event, key=entry.key, agent=agent, data={**said, "data": entry.data}))

    def flush(self) -> None:
        """Write the gate's entries in one write, to survive the death of this process, and notify the watcher."""
        if self.trace is not None:
            self.trace.flush()
        if self._watch is not None:
            untold, self._untold = self._untold, []
            for event in untold:
                self._watch(event)

    def write(self, kind: str, key: str, data: JsonValue) -> None:
        """Write one record from outside the gate."""
        self.flush()
        span, agent = self._scope(key)
        data = self.mask.data(data)
        if self.trace is not None:
            self.trace.append(kind, key, data, agent=agent, parent=span)
        if self._watch is not None:
            self._watch(Event(kind=kind, key=key, agent=agent, data=data))

    def begun(self, head: TraceRecord) -> None:
        """Notify the watcher of the run's first record, written at the journal's creation."""
        if self._watch is not None:
            self._watch(Event(kind=head.kind, key="", agent="", data=head.data))

    @contextmanager
    def silence(self) -> Generator[None]:
        """Suspend writing and notification: repeated work was recorded at its first time."""
        trace, watch = self.trace, self._watch
        self.trace = self._watch = None
        self.repeats = True
        try:
            yield
        finally:
            self.trace, self._watch = trace, watch
            self.repeats = False

    def listener(self, key: str) -> Listen | None:
        """Return a listener forwarding an answer's pieces to the watcher; they are not written."""
        watch, agent = self._watch, self._scope(key)[1]
        if watch is None:
            return None
        pieces = self._heard[key] = {}

        def tell(delta: Delta) -> None:
            if delta.type == "again":
                pieces.clear()
                text = self.mask.plain(delta.text)
            else:
                text = pieces.setdefault(delta.type, self.mask.pieces()).take(delta.text)
            if text or not delta.text:
                watch(Event(kind="delta", key=key, agent=agent, data={"type": delta.type, "text": text}))

        return tell

    def _heard_all(self, key: str) -> None:
        """Forward the pieces held back of a finished answer to the watcher."""
        for kind, pieces in self._heard.pop(key).items():
            if (text := pieces.rest()) and self._watch is not None:
                event = Event(kind="delta", key=key, agent=self._scope(key)[1], data={"type": kind, "text": text})
                self._watch(event)

    async def sync(self) -> None:
        """Make everything written so far durable."""
        if self.trace is not None:
            await self.trace.sync()

    def _scope(self, key: str) -> tuple[str, str]:
        """Return the span and the agent of the innermost scope around `key`."""
        return self._scopes.get(innermost(key, self._scopes), ("", ""))
