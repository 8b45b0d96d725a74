"""Fork: a run beginning with another's events and continuing with other versions or another model.

A run's program does what its events let it do, so a fork replays the events before a position, has its pins changed
by an event of its own (`forked`), and goes on live. The change comes before the last event that was delivered ahead
of the position, because all that the program does after that event is done anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tea.characters import in_sentence
from tea.components.manifest import Manifest
from tea.errors import BadInput
from tea.journal.header import RunConfig
from tea.journal.history import History, answers_of, pins_of
from tea.journal.pin import RESOLVE, asked_in, exact_of
from tea.journal.record import GATE_KINDS, TraceRecord, as_mapping, first_record, span_id
from tea.journal.recorder import answer_of, question_of
from tea.journal.status import ASKED
from tea.kernel.key import effect_key, outer
from tea.refs import Kind, Ref
from tea.runs.pins import require_used
from tea.source.seal import MARK, Seal, unmarked
from tea.types import JsonObject

_SPOKEN = frozenset({"start", "note"})
_FOR_GOOD, _MOST_TOLD = ("external", "irreversible"), 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The changes of a fork.

    Args:
        use: Other versions of components, by `kind:name`.
        model: Another model configuration, None for the same.
    """

    use: Mapping[str, Manifest] = field(default_factory=dict[str, Manifest])
    model: str | None = None

    def to_json(self) -> JsonObject:
        """Return its form in the journal."""
        use = {name: {"ref": str(one.ref), "digest": one.digest} for name, one in self.use.items()}
        return {"use": use, "model": self.model}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A position in a journal, and the initial records of a run continuing from there.

    Args:
        history: The journal.
        position: Number of the first record that is not kept; the program's words before it, back to the last event
            that it was told, are its own again.
        kept: The records that the fork begins with, without those of the head.
        change: What it does otherwise.
    """

    history: History
    position: int
    kept: tuple[TraceRecord, ...]
    change: Change

    @classmethod
    def of(cls, history: History, at: str | None, change: Change) -> Fork:
        """Return the fork of a run at a position.

        Args:
            history: Its journal.
            at: Number of a record, or key of an effect; the first touch of what changes if None.
            change: What is to be otherwise.

        Raises:
            BadInput: There is no such position, or the change cannot begin there.
        """
        position = _first_touch(history.records, change) if at is None else _position(history.records, at)
        events = [one for one in history.records[:position] if one.kind in GATE_KINDS - _SPOKEN]
        fork = cls(history=history, position=position, kept=_kept_records(history.records, events), change=change)
        fork._check()
        return fork

    @property
    def origin(self) -> JsonObject:
        """Its origin, in the form of the journal."""
        return {"run": self.history.run_config.run, "position": self.position, **self.change.to_json()}

    def run_config(self, run: str, workspace: str) -> RunConfig:
        """Return the fork's configuration: the pins of its origin and lock stay, but for the change.

        Args:
            run: Id of the fork, whose session is its own.
            workspace: The folder it works in.
        """
        old = self.history.run_config
        pinned = {
            pin.asked: pin.exact
            for pin in self.history.pins
            if "@" not in pin.asked and (not old.locked or pin.digest == old.use.get(pin.asked))
        }
        chosen = {name: exact_of(one) for name, one in self.change.use.items()}
        exact = {**pinned, **chosen}
        model = old.model if self.kept else self.change.model or old.model
        return replace(
            old,
            run=run,
            session=run,
            task=run,
            workspace=workspace,
            use={**old.use, **{name: digest for name, (_, digest) in exact.items()}},
            versions={**old.versions, **{name: version for name, (version, _) in exact.items()}},
            model=model,
        )

    def records(self, run_config: RunConfig, head: TraceRecord, time: str, seal: Seal) -> list[TraceRecord]:
        """Return the fork's first records: its head, the kept ones, and the change at its position.

        Args:
            run_config: The fork's configuration.
            head: Its first record.
            time: The present time, ISO 8601 in UTC.
            seal: Marks what this account asked and answered in the origin as the fork's.
        """
        if not self.kept:
            return [head]
        change = first_record("forked", time, {"data": self.origin})
        old, new = self.history.run_config.run, run_config.run
        moved = [_moved(one, old, new) for one in _marked(self.kept, old, new, seal)]
        return [head, *moved[:-1], change, moved[-1]]

    def remarks(self) -> list[str]:
        """Return remarks for a person before the fork continues."""
        used = Counter(name for name, _ in _touches([one for one in self.kept if not _looks_up(one)]))
        before = {pin.asked: pin.exact for pin in pins_of(self.kept) if pin.asked in self.change.use}
        told = [
            f"{name} was used {used[name]} time{'' if used[name] == 1 else 's'} before record {self.position}: what "
            f"came of that is kept, and {one.version} serves from there on."
            for name, one in self.change.use.items()
            if name in before and before[name] != exact_of(one) and used[name]
        ]
        pinned = {(pin.asked, pin.exact) for pin in self.history.pins}
        same = [one.ref for name, one in self.change.use.items() if (name, exact_of(one)) in pinned]
        return told + [f"{ref} is what the run used already." for ref in same] + self._reached()

    def later_calls(self) -> dict[tuple[Kind, str, str], str]:
        """Return the keys of the run's later calls, by kind, exact ref and digest: the fork may make them again."""
        ended = {one.key for one in self.kept if one.kind in ("done", "failed")}
        found: dict[tuple[Kind, str, str], str] = {}
        for one in self.history.records:
            data = as_mapping(one.data)
            if one.kind == "start" and data["kind"] in ("tool", "environment") and one.key not in ended:
                ref = Ref.parse(data["target"])
                found.setdefault((ref.kind, str(ref), as_mapping(data["data"])["digest"]), one.key)
        return found

    def _reached(self) -> list[str]:
        """Return a warning if the run had irreversible effects after the position: the fork may repeat them."""
        ended = {one.key for one in self.kept if one.kind in ("done", "failed")}
        intents = [one for one in self.history.records if one.kind == "intent" and effect_key(one.key) not in ended]
        found = {one.key: as_mapping(one.data) for one in intents}
        calls = [f"{one['target']} ({key})" for key, one in found.items() if one["effects"] in _FOR_GOOD]
        more = f" and {len(calls) - _MOST_TOLD} more" if len(calls) > _MOST_TOLD else ""
        if not calls:
            return []
        return [f"The run called {', '.join(calls[:_MOST_TOLD])}{more} later on; the fork may do so again, for real."]

    def _check(self) -> None:
        """Raise BadInput for a change of a component in the middle of its work.

        Raises:
            BadInput: An agent that changes is at work, or an environment has a state that only its old version knows.
        """
        open_scopes, before = _open_scopes(self.kept), {pin.asked: pin for pin in pins_of(self.kept)}
        for name, one in self.change.use.items():
            if name in before and before[name].exact == exact_of(one):
                continue
            if name in open_scopes:
                problem = f"{name} is at work at record {self.position}, with the version it began with."
                raise BadInput(problem, fix=f"fork where it begins: --at {open_scopes[name]}.")
            same = name in before and before[name].digest == one.digest
            if name.startswith("environment:") and not same and any(found == name for found, _ in _touches(self.kept)):
                problem = f"{name} was used before record {self.position}, and its state belongs to the old version."
                raise BadInput(problem, fix="leave --at out: the fork begins with its first use.")


def unread(records: Sequence[TraceRecord], change: Change) -> list[str]:
    """Return a warning for each changed prompt with a text no model read, because solvers answered.

    Args:
        records: The fork's whole journal.
        change: What it does otherwise.
    """
    answers: dict[str, set[str]] = {}
    asked: dict[str, str] = {}
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] == "model":
            asked[record.key] = as_mapping(data["data"])["prompt"]
        elif record.kind == "done" and record.key in asked:
            response = as_mapping(as_mapping(data["data"]).get("response"))
            answers.setdefault(asked[record.key], set()).add(str(response.get("answered_by", "")))
    refs = [str(one.ref) for name, one in change.use.items() if name.startswith("prompt:")]
    return [
        f"{ref} was answered by {'; '.join(map(in_sentence, sorted(answers[ref])))}: its text had no effect."
        for ref in refs
        if ref in answers and all(by.startswith("tool:") for by in answers[ref])
    ]


def _position(records: Sequence[TraceRecord], at: str) -> int:
    if at.isascii() and at.isdigit():
        if int(at) <= len(records):
            return int(at)
        problem = f"The run has {len(records)} records, and none with number {at[:20]}."
    else:
        found = next((one.seq for one in records if one.kind == "start" and one.key == effect_key(at)), None)
        if found is not None:
            return found
        problem = f"The run has no effect with the key {at[:80]!r}."
    raise BadInput(problem, fix="`tea trace RUN --positions` shows numbers and keys.")


def _first_touch(records: Sequence[TraceRecord], change: Change) -> int:
    """Return the position of the first use of a changed component."""
    starts = {one.key: one.seq for one in records if one.kind == "start"}
    found: dict[str, int] = {}
    for name, key in _touches(records):
        if name in change.use or (name == "model" and change.model is not None):
            found.setdefault(name, starts.get(key, 0))
    require_used(change.use, found)
    if change.model is not None and not found:
        raise BadInput("The run never asked a model.", fix="give --at, or a component with --use.")
    if not found:
        raise BadInput("Neither a position nor a change is given.", fix="give --at, --use or --model.")
    return min(found.values())


def _touches(records: Sequence[TraceRecord]) -> Iterator[tuple[str, str]]:
    """Yield each component touched by a record, as `kind:name`, with the key of the effect; models as `model`."""
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] in (RESOLVE, "tool", "environment"):
            yield from ((_named(target), record.key) for target in asked_in(data["target"]) or (data["target"],))
        elif record.kind == "start" and data["kind"] == "model":
            yield _named(as_mapping(data["data"])["prompt"]), record.key
        elif record.kind == "evidence" and "target" in data:
            yield _named(data["target"]), effect_key(record.key)


def _looks_up(record: TraceRecord) -> bool:
    return record.kind == "start" and as_mapping(record.data)["kind"] == RESOLVE


def _named(target: str) -> str:
    """Return `kind:name` of a ref; all model configurations share the name `model`."""
    return "model" if target.startswith("model:") else str(Ref.parse(target.partition("#")[0]).at(None))


def _open_scopes(records: Sequence[TraceRecord]) -> dict[str, int]:
    """Return the agents begun but not yet ended, with the record of the lookup of each."""
    looked_up: dict[str, int] = {}
    found: dict[str, list[int]] = {}
    for record in records:
        data = as_mapping(record.data)
        if _looks_up(record):
            for target in asked_in(data["target"]):
                looked_up.setdefault(_named(target), record.seq)
        elif record.kind == "note" and data["kind"] in ("enter", "exit"):
            name = _named(as_mapping(data["data"])["ref"])
            if data["kind"] == "enter":
                found.setdefault(name, []).append(looked_up.get(name, 0))
            else:
                found[name].pop()
    return {name: places[0] for name, places in found.items() if places}


def _kept_records(records: Sequence[TraceRecord], events: Sequence[TraceRecord]) -> tuple[TraceRecord, ...]:
    """Return the records of the gate up to the last event, with the questions, answers and evidence ended by then."""
    if not events:
        return ()
    last = events[-1]
    ended = {one.key for one in events}
    return tuple(
        one
        for one in records[: last.seq + 1]
        if one.kind in GATE_KINDS or (one.kind in (ASKED, "answer", "evidence") and effect_key(one.key) in ended)
    )


def _marked(records: Sequence[TraceRecord], old: str, new: str, seal: Seal) -> Iterator[TraceRecord]:
    """Yield records with the questions and answers of this account marked as another run's."""
    asked = dict[str, JsonObject]()
    given = {one.seq for one, _, own in answers_of(records, old, seal.made) if own}
    for one in records:
        data = as_mapping(one.data)
        if one.kind == ASKED:
            asked[one.key] = unmarked(data)
            content = partial(question_of, one.key, data)
            ours = seal.made(data.get(MARK), content(old))
        elif one.kind == "answer":
            content = partial(answer_of, one.key, asked.get(one.key), data)
            ours = one.seq in given
        else:
            yield one
            continue
        yield replace(one, data={**unmarked(data), MARK: seal(content(new))}) if ours else one


def _moved(record: TraceRecord, old: str, new: str) -> TraceRecord:
    """Return a record as one of another run, below the same scope there."""
    scope = record.key
    while scope and span_id(old, scope) != record.parent:
        scope = outer(scope)
    return replace(record, parent=span_id(new, scope) if scope else "")
