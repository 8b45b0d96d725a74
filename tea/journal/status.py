"""RunStatus: the status of a run from its records: questions to a person, their answers, uncertain calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Self, TypeVar

from tea.errors import BadInput, StorageError
from tea.journal.form import understood
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.tracer import Tracer
from tea.kernel.key import asked_in, effect_key, is_inside
from tea.types import JsonValue

ASKED = "asked"
_OUTCOMES = ("done", "failed")
_BEGUN, _ASKED, _ENDED = (b'"kind":"%b"' % kind.encode() for kind in ("run", ASKED, "end"))


class RunStatus:
    """The status of a run, after the given records.

    `asked` holds what a person was asked and nobody answered, by key, since it was asked first; `answers` what
    persons said, by key; `meant` what was asked last under a key, answered or not; `status` whether the run ended,
    waits for an answer, or was interrupted or goes on.
    """

    def __init__(self) -> None:
        self.asked: dict[str, TraceRecord] = {}
        self.answers: dict[str, str] = {}
        self.status: Literal["ended", "waiting", "unfinished"] = "unfinished"
        self.meant: dict[str, JsonValue] = {}
        self._first: dict[str, TraceRecord] = {}
        self._intents: set[str] = set()
        self._ended: set[str] = set()

    @classmethod
    def of(cls, records: Iterable[TraceRecord]) -> Self:
        """Return the status of a run after all of these records."""
        standing = cls()
        for one in records:
            standing.take(one)
        return standing

    def take(self, record: TraceRecord) -> None:
        """Process one more record; `understood` turns the exceptions from an invalid one into a clear error."""
        kind, key = record.kind, record.key
        if kind == ASKED:
            first = self._first.get(key)
            self.meant[key] = record.data
            self.answers.pop(key, None)
            self._drop({one for one in self.asked if _follows(one, key)})  # it waits at this question now
            self.asked[key] = self._first[key] = first if first is not None and first.data == record.data else record
        elif kind == "answer":
            self.asked.pop(key, None)
            self._first.pop(key, None)
            self.answers[key] = str(as_mapping(record.data)["answer"])
        elif kind == "intent":  # the call begins again, so it no longer waits at its question
            self._intents.add(key)
            self._ended.discard(key)
            self._drop({one for one in self.asked if is_inside(one, key)})
        elif kind == "evidence" and key in self._intents and _of_tool(record):
            self._ended.add(key)
        elif kind in _OUTCOMES:
            self._ended.add(key)
            self._drop({one for one in self.asked if effect_key(one) == key})
        elif kind == "waiting":
            still = as_mapping(record.data).get("open", ())
            self._drop({one for one in self.asked if effect_key(one) not in still})
        self.status = "ended" if kind == "end" else "waiting" if self.asked else "unfinished"

    @property
    def uncertain(self) -> frozenset[str]:
        """Keys of calls with an unknown outcome: begun, not ended, and not known to wait at a question."""
        begun = {key for key in self._intents if key not in self._ended}
        return frozenset(key for key in begun if not any(is_inside(one, key) for one in self.asked))

    @property
    def said(self) -> dict[str, str]:
        """Persons' answers still valid when the run resumes; about an uncertain call they have to be asked again."""
        uncertain = self.uncertain
        return {key: answer for key, answer in self.answers.items() if key not in uncertain}

    def _drop(self, keys: set[str]) -> None:
        for key in keys:
            del self.asked[key]


class StatusReader:
    """A filter for the lines relevant to the status of a run; outcomes are relevant only after a question."""

    def __init__(self) -> None:
        self._asked = False

    def __call__(self, line: bytes) -> bool:
        """Return whether a line may be relevant."""
        self._asked = self._asked or _ASKED in line
        return self._asked or _BEGUN in line or _ENDED in line


def _of_tool(record: TraceRecord) -> bool:
    """Return whether a record is evidence of a tool call's result, still valid when its effect begins again."""
    data = as_mapping(record.data)
    return data.get("kind") == "tool" and "target" in data


def _follows(key: str, other: str) -> bool:
    """Return whether a key belongs to the same call as another, and to a later question of it."""
    (call, number), (asking, when) = asked_in(key), asked_in(other)
    return call == asking and number > when > 0


T = TypeVar("T")


def beginnings(
    tracer: Tracer, runs: Iterable[str], read: Callable[[str, TraceRecord], T | None], problems: list[str] | None = None
) -> Iterator[T]:
    """Read the first record of each run, and yield the values in order; skip runs removed meanwhile.

    Args:
        tracer: Reads the journals.
        runs: Ids of the runs.
        read: Gives the meaning of a run's first record, None for a run to be left out.
        problems: Takes what is wrong with journals that cannot be read.
    """
    for run in runs:
        try:
            with understood(run):
                first = next(tracer.records(run), None)
                found = None if first is None else read(run, first)
        except BadInput:  # another process removed it meanwhile
            continue
        except StorageError as error:
            if problems is not None:
                problems.append(error.problem)
            continue
        if found is not None:
            yield found
