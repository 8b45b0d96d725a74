"""RunStatus: the status of a run from its records: questions to a person, their answers, uncertain calls."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Self, TypeVar

from tea.errors import BadInput, StorageError
from tea.journal.form import understood
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.tracer import Tracer
from tea.kernel.key import asked_in, effect_key, inside
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
        # The keys of the questions so far, sorted; by their effect; and with their numbers by the call that asks.
        self._keys: list[str] = []
        self._of_effect: defaultdict[str, set[str]] = defaultdict(set)
        self._numbered: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)

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
            self._drop(self._later(key))  # it waits at this question now
            self._of_effect[effect_key(key)].add(key)
            self._sort_in(key)
            self.asked[key] = self._first[key] = first if first is not None and first.data == record.data else record
        elif kind == "answer":
            self.asked.pop(key, None)
            self._first.pop(key, None)
            self.answers[key] = str(as_mapping(record.data)["answer"])
        elif kind == "intent":  # the call begins again, so it no longer waits at its question
            self._intents.add(key)
            self._ended.discard(key)
            for some in inside(key, self._keys):
                self._drop(self._keys[some])
                del self._keys[some]
        elif kind == "evidence" and key in self._intents and _of_tool(record):
            self._ended.add(key)
        elif kind in _OUTCOMES:
            self._ended.add(key)
            self._drop(self._of_effect.pop(key, ()))
        elif kind == "waiting":
            still = set(as_mapping(record.data).get("open", ()))
            for effect in self._of_effect.keys() - still:
                self._drop(self._of_effect.pop(effect))
        self.status = "ended" if kind == "end" else "waiting" if self.asked else "unfinished"

    @property
    def uncertain(self) -> frozenset[str]:
        """Keys of calls with an unknown outcome: begun, not ended, and not known to wait at a question."""
        begun = {key for key in self._intents if key not in self._ended}
        asked = sorted(self.asked)
        return frozenset(key for key in begun if not any(asked[some] for some in inside(key, asked)))

    @property
    def said(self) -> dict[str, str]:
        """Persons' answers still valid when the run resumes; about an uncertain call they have to be asked again."""
        uncertain = self.uncertain
        return {key: answer for key, answer in self.answers.items() if key not in uncertain}

    def _later(self, key: str) -> list[str]:
        """Return the later questions of the call that asks one, which is the last of that call from then on."""
        call, when = asked_in(key)
        if not when:
            return []
        numbered, later = self._numbered[call], list[str]()
        while numbered and numbered[-1][0] > when:
            later.append(numbered.pop()[1])
        numbered.append((when, key))
        return later

    def _sort_in(self, key: str) -> None:
        at = bisect_left(self._keys, key)
        if self._keys[at : at + 1] != [key]:
            self._keys.insert(at, key)

    def _drop(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.asked.pop(key, None)


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


T = TypeVar("T")


def beginnings(
    tracer: Tracer, runs: Iterable[str], read: Callable[[str, TraceRecord], T | None], problems: list[str] | None = None
) -> Iterator[T]:
    """Read the first record of each run, and yield the values in order; skip runs removed by then.

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
