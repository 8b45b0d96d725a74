"""Recovery: restoring the state left by calls of earlier processes, or of the forked run.

Environments come back as they declare: `durable` needs nothing; of `rerun` every recorded call is repeated and
compared; of `snapshot` the last recorded state is restored; `lost` cannot come back, which the next call says once.
A fork refuses where calls changed such an environment; where they only read, as one that opens a page, it says so too.
A fork has a workspace and a session of its own, so what calls that only write changed there is done again, too.
What is `external` or `irreversible` is never done again, nor inside of what is: its recorded result stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tea.components.manifest import Manifest
from tea.components.port import request_of
from tea.errors import ApprovalNeeded, BadInput, TeaError
from tea.journal.history import entry_of, pins_of
from tea.journal.pin import Pin
from tea.journal.record import TraceRecord, as_mapping
from tea.kernel.entry import Entry
from tea.kernel.key import effect_key, path_of
from tea.protocols.instances import JOINED, SNAPSHOT, Instances, Place
from tea.refs import Ref
from tea.runs.rules import state_before
from tea.runs.run import Run
from tea.types import JsonObject, JsonValue

_CALLS = ("tool", "environment")
_KEPT = {("memory", "record"), ("state", "save"), ("state", "merge"), ("state", "put"), ("state", "swap")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """A call ended with an outcome."""

    start: Entry
    agent: str
    outcome: JsonObject


async def recover(run: Run, records: Sequence[TraceRecord], instances: Instances) -> None:
    """Restore the environments of a run begun by another process; those still alive here stay unchanged.

    What it remembered is remembered again, which changes nothing but after a loss of power.

    Raises:
        BadInput: A repeated call gave something else than it gave then.
    """
    _enter(run, records)
    run.recall(_recorded_responses(records), anew=False)
    there = instances.alive(run.session)
    shared = {one["digest"] for one in _joined(records) if "state" not in one}
    lost: set[Place] = set()
    for place, config, changed in _used(run, records):
        rerun_in_vain = changed and config.recovery == "rerun" and place.digest in shared
        if place not in there and (rerun_in_vain or not _comes_back(config)):
            run.lose(place)
            lost.add(place)
    for one in _ended(records):
        if (one.start.kind, one.start.target) == ("memory", "record"):
            await _keep(run, one)
        config = _config(run, one) if one.start.kind == "environment" else None
        if config is not None and config.recovery == "rerun" and run.place(config, one.start.key) not in there | lost:
            await _repeat(run, one, state_before(records, one.start.key))
    for place, (config, found) in _snapshots(run, records).items():
        if place not in there | lost:
            await _restore(run, instances, place, config, found)


async def rebuild(
    run: Run, records: Sequence[TraceRecord], instances: Instances, origin: Sequence[TraceRecord]
) -> list[str]:
    """Restore workspace, session and environments of a fork to their state at its position.

    Args:
        run: The fork.
        records: What it begins with.
        instances: Where its environments live.
        origin: All records of the run that is forked.

    Returns:
        What was not done again, in words for people.

    Raises:
        BadInput: Something cannot be brought back; the error says what and why.
    """
    _enter(run, records)
    run.recall(_recorded_responses(records), anew=True)
    for place, config, changed in _used(run, records):
        if not changed and not _comes_back(config):
            run.lose(place)
        elif not _comes_back(config):
            problem = f"{config.ref} was changed before that record, and declares that its state is {config.recovery}."
            raise BadInput(problem, fix="fork before its first change, or give it another way of recovery.")
    found = await _found_environments(run, origin)
    outside: list[str] = []
    for one in _ended(records):
        if one.start.kind not in _CALLS:
            await _keep(run, one)
            continue
        effects = _config(run, one).operation(Ref.parse(one.start.target).operation or "").traits.effects
        recovery = _config(run, one).recovery if one.start.kind == "environment" else ""
        if recovery == "rerun" or (effects == "writes" and recovery != "snapshot"):
            await _repeat(run, one, state_before(records, one.start.key))
        elif effects != "reads":
            outside.append(f"{one.start.target} ({one.start.key}) is not done again; what it gave then stands.")
    for place, (config, held) in {**found, **_snapshots(run, records)}.items():
        await _restore(run, instances, place, config, held)
    return outside


def _pinned(run: Run, records: Sequence[TraceRecord]) -> dict[str, Manifest]:
    """Return the versions pinned by a run, by digest; versions with the same bytes share an environment."""
    return {pin.digest: run.pins.exact(pin.ref, pin.digest) for pin in pins_of(records)}


def _enter(run: Run, records: Sequence[TraceRecord]) -> None:
    """Restore the scopes of a run's agents: their branches and memory components."""
    pinned = {pin.exact for pin in pins_of(records)}
    for one in records:
        if one.kind == "note" and as_mapping(one.data)["kind"] == "enter":
            entered = as_mapping(as_mapping(one.data)["data"])
            ref, digest = str(entered.get("ref", "")), str(entered.get("digest", ""))
            if Pin(ref, ref.partition("#")[0], digest).exact in pinned:
                scope, config = path_of(one.key), run.pins.exact(ref, digest)
                run.memories.enter(scope, config)
                run.places.enter(scope, config)
                run.attempts.enter(scope, config)


async def _repeat(run: Run, one: _Done, state: JsonValue) -> None:
    what = f"{one.start.target} ({one.start.key})"
    try:
        response = await run.repeat(one.start, one.agent, state)
    except ApprovalNeeded as error:
        problem = f"{what} has to be done again, and the policy asks a person first."
        raise BadInput(problem, fix="fork before it.") from error
    except TeaError as error:
        raise BadInput(f"{what} cannot be done again: {error.problem}", fix=error.fix) from error
    if run.recorder.mask.data(response.model_dump(mode="json")) != one.outcome:
        problem = f"{what} gave something else when it was done again, so the state then cannot be brought back."
        raise BadInput(problem, fix="go on before it: `tea fork` with an earlier position.")


async def _keep(run: Run, one: _Done) -> None:
    """Repeat a write of the origin's session in the fork's own; lasting entries are shared and not repeated."""
    verb, data = one.start.target, one.start.data
    if (one.start.kind, verb) in _KEPT and not as_mapping(data).get("lasting"):
        request = request_of(one.start.kind, verb, as_mapping(data))
        await run.services.answer(request, one.agent, one.start.key)


def _ended(records: Sequence[TraceRecord]) -> Iterator[_Done]:
    """Yield the effects ended with a result, in the order of their delivery to the program."""
    starts: dict[str, TraceRecord] = {}
    for record in records:
        if record.kind == "start":
            starts[record.key] = record
        elif record.kind == "done":
            start = starts[record.key]
            yield _Done(
                start=entry_of(start), agent=start.agent, outcome=as_mapping(as_mapping(record.data).get("data"))
            )


def _recorded_responses(records: Sequence[TraceRecord]) -> dict[str, JsonObject]:
    """Return the recorded tool calls inside effects with their responses, by key."""
    evidence = {one.key: as_mapping(one.data) for one in records if one.kind == "evidence"}
    calls = {key: one for key, one in evidence.items() if one.get("kind") == "tool" and "target" in one}
    return {key: as_mapping(one["data"]) for key, one in calls.items()}


def _used(run: Run, records: Sequence[TraceRecord]) -> Iterator[tuple[Place, Manifest, bool]]:
    """Yield the environments used by calls, including calls inside other calls, and whether one changed them.

    Reads that are idempotent, as looks at the state are, do not count: they change nothing.
    """
    calls = [(one.start.key, one.start.kind, one.start.target, as_mapping(one.start.data)) for one in _ended(records)]
    inner = [(one.key, as_mapping(one.data)) for one in records if one.kind == "evidence"]
    calls += [(key, one["kind"], one["target"], as_mapping(one["data"])) for key, one in inner if "target" in one]
    found: dict[Place, tuple[Manifest, bool]] = {}
    for key, kind, target, data in calls:
        if kind == "environment":
            config = run.pins.exact(target, data["digest"])
            traits, place = config.operation(Ref.parse(target).operation or "").traits, run.place(config, key)
            if traits.effects != "reads" or not traits.idempotent:
                before = found[place][1] if place in found else False
                found[place] = config, before or traits.effects != "reads"
    for place, (config, changed) in found.items():
        yield place, config, changed


def _snapshots(run: Run, records: Sequence[TraceRecord]) -> dict[Place, tuple[Manifest, JsonObject]]:
    """Return the last note of each environment's state from an ended call, by its place."""
    configs = _pinned(run, records)
    ended = {one.key for one in records if one.kind in ("done", "failed")}
    notes = [(one.key, as_mapping(one.data)) for one in records if one.kind == "evidence"]
    found = [
        (key, as_mapping(note["data"]))
        for key, note in notes
        if effect_key(key) in ended and note["kind"] in (SNAPSHOT, JOINED)
    ]
    states = [(configs[one["digest"]], key, one) for key, one in found if "state" in one]
    return {run.place(config, key): (config, one) for config, key, one in states}


def _joined(records: Sequence[TraceRecord]) -> list[JsonObject]:
    """Return a run's findings on the environments used by other runs of its session, in order."""
    notes = [as_mapping(one.data) for one in records if one.kind == "evidence"]
    return [as_mapping(note["data"]) for note in notes if note["kind"] == JOINED]


async def _found_environments(run: Run, origin: Sequence[TraceRecord]) -> dict[Place, tuple[Manifest, JsonObject]]:
    """Return the environments found by a fork's origin in its session, each with the note of its state, by place.

    Raises:
        BadInput: There was one whose state nobody can tell.
    """
    states: dict[Place, tuple[Manifest, JsonObject]] = {}
    for one in _joined(origin):
        ref, digest = one["ref"], one["digest"]
        if run.run_config.use.get(str(Ref.parse(ref).at(None))) != digest:
            continue
        await run.pins.stock([Pin(ref, ref, digest)])
        config = run.pins.exact(ref, digest)
        if "state" in one:
            states.setdefault(Place(run.session, digest), (config, one))
        elif config.recovery != "durable":
            problem = f"{ref} held what other runs of its session had done, and its state is {config.recovery}."
            raise BadInput(problem, fix="fork the run of that session that used it first.")
    return states


async def _restore(run: Run, instances: Instances, place: Place, config: Manifest, found: JsonObject) -> None:
    definition, context = await run.outside(config, place.branch)
    with run.recorder.silence():
        await instances.restore(config, definition, context, found)


def _comes_back(config: Manifest) -> bool:
    return config.recovery != "lost"


def _config(run: Run, one: _Done) -> Manifest:
    return run.pins.exact(one.start.target, as_mapping(one.start.data)["digest"])
