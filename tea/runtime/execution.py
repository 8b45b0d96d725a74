"""Execution: begins, replays and resumes runs; the journal's first and last records are written here."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, cast

from tea.context import Agents
from tea.errors import ApprovalNeeded, BadInput, BudgetExceeded, Damaged, Diverged, TeaError
from tea.managers.tracer import GATE_KINDS, Trace, Tracer, TraceRecord, as_mapping
from tea.protocols.instances import Instances
from tea.runtime.budget import Purse, check_price
from tea.runtime.entry import Entry
from tea.runtime.gate import Gate
from tea.runtime.outcome import Outcome
from tea.runtime.port import AgentPort
from tea.runtime.recorder import Recorder, Watcher
from tea.runtime.run import Equipment, Run, Setting
from tea.runtime.task_file import TaskFile
from tea.runtime.workspace import FOLDER, prepare
from tea.types import AgentResponse, JsonObject, Principal, Response, Task, failure

Mode = Literal["live", "replay", "resume"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a journal holds, sorted by what it is for.

    Args:
        task: The task file as run.
        setting: What the run was given.
        entries: What its gate recorded.
        pins: Digests by ref, of everything it touched.
        intents: Keys of calls that may have happened without an outcome.
        end: How it ended, empty if it did not.
        seconds: How long it was worked on.
    """

    task: TaskFile
    setting: Setting
    entries: list[Entry]
    pins: Mapping[str, str]
    intents: frozenset[str]
    end: JsonObject
    seconds: float


class Executions:
    """Starts and repeats the runs of one platform.

    Args:
        equipment: What its runs share.
        tracer: Opens and reads journals.
        traces: The folder of the journals.
        instances: The live environments; those of a session of one run end with it.
    """

    def __init__(self, equipment: Equipment, tracer: Tracer, traces: Path, instances: Instances) -> None:
        self._equipment, self._tracer, self._traces, self._instances = equipment, tracer, traces, instances

    async def begin(self, task: TaskFile, files: Mapping[str, Path], watch: Watcher | None = None) -> Outcome:
        """Run a task once.

        Raises:
            ProviderError: Its model is not configured; nothing is written.
            UnknownComponent: Its agent, or what it uses, is not there; nothing is written.
            ApprovalNeeded: A call waits for a person; the run can be resumed.
        """
        await self._check(task)
        trace = await asyncio.to_thread(self._tracer.create, task.session or "", task.id or "")
        try:
            folder = self._traces / trace.run
            inputs = await _prepared(folder, files)
            setting = Setting(
                run=trace.run,
                session=task.session or trace.run,
                task=task.id or trace.run,
                workspace=str(folder / FOLDER),
                model=task.model,
                use=task.use,
            )
            recorder = Recorder(trace, trace.run, watch)
            recorder.write("run", "", _header(task, setting, inputs))
            gate = Gate(write=recorder.entry)
            return await self._finish(self._run(setting, gate, recorder, task), task, folder, trace)
        finally:
            await self._close(trace, task)

    async def resume(self, run: str, answers: Mapping[str, str], watch: Watcher | None = None) -> Outcome:
        """Go on with a run that was interrupted, or waits for a person.

        Raises:
            BadInput: The run has ended.
            Conflict: Another process is at it.
        """
        past = await asyncio.to_thread(self._past, run)
        if past.end:
            raise BadInput(f"The run {run} has ended.", fix=f"look at it with `tea trace {run}`, or replay it.")
        _check_workspace(self._traces / run / FOLDER)
        trace = await asyncio.to_thread(self._tracer.reopen, run)
        try:
            recorder = Recorder(trace, run, watch)
            gate = Gate(write=recorder.entry, past=past.entries, mode="resume")
            recorder.write("resumed", "", {"seconds": past.seconds})
            one = self._run(past.setting, gate, recorder, past.task, answers, past.intents, past.seconds)
            await one.stock(past.pins)
            return await self._finish(one, past.task, self._traces / run, trace)
        finally:
            await self._close(trace, past.task)

    async def replay(
        self, run: str, *, lenient: bool = False, use: Mapping[str, str] | None = None, watch: Watcher | None = None
    ) -> Outcome:
        """Run the agents' code against the journal; nothing is performed, written or paid.

        Args:
            run: The run.
            lenient: Let data differ where call and place agree.
            use: Other versions of components, by `kind:name`, in place of those the run pinned.
            watch: Told of each record.

        Raises:
            Diverged: The code does not do what the journal holds.
        """
        past = await self._recorded(run)
        if not past.end:
            raise BadInput(f"The run {run} has not ended.", fix=f"`tea resume {run}` goes on with it.")
        setting = replace(past.setting, use={**past.setting.use, **(use or {})})
        recorder = Recorder(None, run, watch)
        gate = Gate(write=recorder.entry, past=past.entries, mode="replay", lenient=lenient)
        one = self._run(setting, gate, recorder, past.task)
        await _stocked(one, past)
        outcome = await self._outcome(one, past.task, self._traces / run)
        if not lenient and _ending(outcome) != past.end:
            problem = f"The run ended with {_short(past.end)}, now with {_short(_ending(outcome))}."
            raise Diverged(problem, fix="compare the versions it pinned with `tea trace`.")
        return outcome

    async def once(self, call: Callable[[Run], Awaitable[Response]], setting: Setting) -> Response:
        """Carry out one call from outside of any run, under the same gate, without a journal."""
        recorder = Recorder(None, setting.run)
        gate = Gate(write=recorder.entry)
        one = Run(setting, self._equipment, gate, recorder, Purse(TaskFile(task="call").budget))
        return await gate.run(lambda: call(one))

    async def _close(self, trace: Trace, task: TaskFile) -> None:
        trace.close()
        if task.session is None:
            await self._instances.close(trace.run)

    async def _recorded(self, run: str) -> Past:
        try:
            return await asyncio.to_thread(self._past, run)
        except Damaged as error:
            raise Diverged(error.problem, fix=error.fix) from error

    def _run(
        self,
        setting: Setting,
        gate: Gate,
        recorder: Recorder,
        task: TaskFile,
        answers: Mapping[str, str] | None = None,
        intents: frozenset[str] = frozenset(),
        passed: float = 0.0,
    ) -> Run:
        return Run(setting, self._equipment, gate, recorder, Purse(task.budget, passed), answers, intents)

    async def _check(self, task: TaskFile) -> None:
        await asyncio.to_thread(check_price, self._equipment.models.config(task.model), task.budget)
        await self._equipment.libraries["agent"].info(task.agent)
        for ref, selector in task.use.items():
            kind = cast(Any, ref.partition(":")[0])
            if kind not in self._equipment.libraries:
                raise BadInput(f"{ref!r} cannot be used in a task.", fix="name a tool, environment, agent or prompt.")
            await self._equipment.libraries[kind].info(f"{ref}@{selector}")
        for name in task.tools or ():
            await self._equipment.libraries["tool"].info(name)

    async def _finish(self, run: Run, task: TaskFile, folder: Path, trace: Trace) -> Outcome:
        try:
            outcome = await self._outcome(run, task, folder)
        except ApprovalNeeded as error:
            run.recorder.write("waiting", "", error.record())
            await trace.sync()
            raise
        run.recorder.write("end", "", _ending(outcome))
        await trace.sync()
        return outcome

    async def _outcome(self, run: Run, task: TaskFile, folder: Path) -> Outcome:
        names = tuple(Path(name).name for name in task.files)
        work = Task(text=task.task, files=names, answer=task.answer, tools=task.tools)
        response = await run.gate.run(lambda: _work(run, task, work))
        return Outcome.of(run.id, response, run.purse.spent, folder)

    def _past(self, run: str) -> Past:
        records = list(self._tracer.records(run))
        if not records or records[0].kind != "run":
            raise BadInput(f"The run {run} was never begun.", fix="start it again.")
        header = as_mapping(records[0].data)
        given: dict[str, Any] = {**header["setting"], "workspace": str(self._traces / run / FOLDER)}
        given["principal"] = Principal(**given["principal"])
        gate = [record for record in records if record.kind in GATE_KINDS]
        done = {record.key for record in gate if record.kind in ("done", "failed")}
        return Past(
            task=TaskFile.model_validate(header["task"]),
            setting=Setting(**given),
            entries=[_entry(record) for record in gate],
            pins=_pins(records),
            intents=frozenset(record.key for record in records if record.kind == "intent") - done,
            end=as_mapping(next((record.data for record in records if record.kind == "end"), None)),
            seconds=_seconds(records),
        )


async def _prepared(folder: Path, files: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Fill the workspace; a run that cannot even begin leaves nothing behind."""
    try:
        return await asyncio.to_thread(prepare, folder / FOLDER, files)
    except TeaError:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise


def _check_workspace(folder: Path) -> None:
    """Refuse a workspace that leads elsewhere: what was recorded of it would not be what is there.

    Raises:
        Damaged: It is no folder of its own.
    """
    if folder.is_symlink() or not folder.is_dir():
        problem = f"The workspace of run {folder.parent.name} is gone, or a link to elsewhere."
        raise Damaged(problem, fix="bring its folder back, or start the task again.")


async def _stocked(run: Run, past: Past) -> None:
    """Have what a replay runs at hand; source that is not what was pinned is its first divergence."""
    try:
        await run.stock(past.pins)
    except Damaged as error:
        raise Diverged(error.problem, fix=error.fix) from error


async def _work(run: Run, task: TaskFile, work: Task) -> AgentResponse:
    """Give the task to its agent, within the run's time."""
    agents = Agents(AgentPort(run, "", 0), "agent")
    if task.budget.seconds is None:
        return await agents.invoke(task.agent, work)
    try:
        async with run.gate.timeout(task.budget.seconds, run.purse.passed):
            return await agents.invoke(task.agent, work)
    except TimeoutError:
        problem = f"The budget of {task.budget.seconds:g} seconds is used up."
        error = BudgetExceeded(problem, fix="raise budget.seconds.")
        return cast(AgentResponse, failure(AgentResponse, f"agent:{task.agent}", error))


def _header(task: TaskFile, setting: Setting, inputs: list[dict[str, Any]]) -> JsonObject:
    given = {
        "run": setting.run,
        "session": setting.session,
        "task": setting.task,
        "principal": setting.principal.model_dump(mode="json"),
        "locale": setting.locale,
        "model": setting.model,
        "use": dict(setting.use),
        "call_seconds": setting.call_seconds,
    }
    return {"task": task.model_dump(mode="json"), "setting": given, "files": inputs, "tea": tea_version()}


def tea_version() -> str:
    """Return the version of tea that runs."""
    try:
        return version("tea-protocol")
    except PackageNotFoundError:
        return "unknown"


def _ending(outcome: Outcome) -> dict[str, Any]:
    data = outcome.to_json()
    return {name: data[name] for name in ("status", "answer", "reason", "evidence", "cost", "error")}


def _entry(record: TraceRecord) -> Entry:
    return Entry.of({"event": record.kind, "key": record.key, **as_mapping(record.data)})


def _pins(records: list[TraceRecord]) -> dict[str, str]:
    wanted: dict[str, str] = {}
    pins: dict[str, str] = {}
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] == "resolve" and not data["target"].startswith("model:"):
            wanted[record.key] = data["target"]
        elif record.kind == "done" and record.key in wanted:
            pins[wanted[record.key]] = as_mapping(data["data"])["digest"]
        elif record.kind == "evidence" and "target" in data:
            inner = as_mapping(data["data"])
            pins.setdefault(inner.get("pin", data["target"].partition("@")[0]), inner["digest"])
    return pins


def _seconds(records: list[TraceRecord]) -> float:
    """Return how long a run was worked on, without the time between its processes."""
    total, begun, last = 0.0, records[0].time, records[0].time
    for record in records:
        if record.kind == "resumed":
            total, begun = total + _between(begun, last), record.time
        last = record.time
    return total + _between(begun, last)


def _between(first: str, last: str) -> float:
    return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())


def _short(data: JsonObject) -> str:
    text = f"{data.get('status')}: {data.get('answer') or data.get('reason')!r}"
    return text if len(text) <= 90 else text[:87] + "..."
