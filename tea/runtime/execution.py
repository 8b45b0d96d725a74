"""Execution: begins, forks, replays and resumes runs; the journal's first and last records are written here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tea.context import Agents
from tea.errors import ApprovalNeeded, BadInput, Damaged, Diverged, TeaError, error_from
from tea.managers.tracer import GATE_KINDS, Trace, Tracer, TraceRecord
from tea.managers.version import timestamp
from tea.models.connect import offer_again
from tea.protocols.instances import Instances
from tea.runtime.budget import Purse, check_price
from tea.runtime.fork import Change, Fork, unread
from tea.runtime.gate import Gate
from tea.runtime.history import History, entry_of, head_of, pins_of
from tea.runtime.outcome import Outcome
from tea.runtime.port import AgentPort
from tea.runtime.recorder import Recorder, Watcher
from tea.runtime.recovery import rebuild, recorded_answers, recover
from tea.runtime.run import Equipment, Run, Setting
from tea.runtime.task_file import TaskFile
from tea.store.workspaces import WorkspaceStore
from tea.types import AgentResponse, JsonObject, Response, Result, Task

Tell = Callable[[str], None]


class Executions:
    """Starts and repeats the runs of one platform.

    Args:
        equipment: What its runs share.
        tracer: Opens and reads journals.
        workspaces: Where the runs keep their files.
        instances: The live environments; those of a session of one run end with it.
    """

    def __init__(self, equipment: Equipment, tracer: Tracer, workspaces: WorkspaceStore, instances: Instances) -> None:
        self._equipment, self._tracer, self._workspaces, self._instances = equipment, tracer, workspaces, instances

    async def begin(
        self, task: TaskFile, files: Mapping[str, Path], watch: Watcher | None = None, *, locked: bool = False
    ) -> Outcome:
        """Run a task once.

        Args:
            task: The task.
            files: Its files, by the name they get.
            watch: Told of each record.
            locked: Whether nothing but what the task's `use` names may be used.

        Raises:
            ProviderError: Its model is not configured; nothing is written.
            UnknownComponent: Its agent, or what it uses, is not there; nothing is written.
            ApprovalNeeded: A call waits for a person; the run can be resumed.
        """
        await self._check(task)
        task = TaskFile.model_validate(self._equipment.mask.data(task.model_dump(mode="json")))
        trace = await asyncio.to_thread(self._tracer.create, task.session or "", task.id or "")
        try:
            setting = Setting(
                run=trace.run,
                session=task.session or trace.run,
                task=task.id or trace.run,
                workspace=str(self._workspaces.path(trace.run)),
                model=task.model,
                use=task.use,
                locked=locked,
            )
            inputs = await self._or_nothing(trace, asyncio.to_thread(self._workspaces.prepare, trace.run, files))
            recorder = Recorder(trace, trace.run, watch, self._equipment.mask)
            recorder.write("run", "", self._head(task, setting, inputs))
            gate = Gate(write=recorder.entry, mask=recorder.mask.text)
            return await self._finish(self._run(setting, gate, recorder, task), task, trace)
        finally:
            await self._close(trace, task)

    async def fork(self, run: str, at: str | None, change: Change, watch: Watcher | None, tell: Tell | None) -> Outcome:
        """Begin a run with the events of another up to a position, and go on live, otherwise.

        Args:
            run: The run, which is not touched.
            at: Number of a record, or key of an effect; the first touch of what changes if None.
            change: What is to be otherwise.
            watch: Told of each record.
            tell: Told, before the fork goes on and at its end, what a person should know of it.

        Raises:
            BadInput: There is no such position, or the state there cannot be brought back; nothing is written.
            Diverged: The agents do not do what the journal holds; nothing is written.
        """
        history = await self._history(run)
        fork = Fork.of(history, at, change)
        offer_again(self._equipment.models, history.records[0].data)
        task = history.task.model_copy(update={"session": None, "id": None})
        await self._check_model(change.model or task.model, task)
        trace = await asyncio.to_thread(self._tracer.create)
        try:
            setting = fork.setting(trace.run, str(self._workspaces.path(trace.run)))
            recorder = Recorder(trace, trace.run, watch, self._equipment.mask)
            preparing = self._prepare(fork, setting, recorder, task)
            one, begun, remarks = await self._or_nothing(trace, preparing)
            _told(tell, remarks)
            try:
                outcome = await self._finish(one, task, trace)
            except Diverged:
                if trace.position == begun:
                    await self._discard(trace)
                raise
            records = await asyncio.to_thread(lambda: list(self._tracer.records(trace.run)))
            _told(tell, unread(records, change))
            return outcome
        finally:
            await self._close(trace, task)

    async def resume(self, run: str, answers: Mapping[str, str], watch: Watcher | None = None) -> Outcome:
        """Go on with a run that was interrupted, or waits for a person.

        Raises:
            BadInput: The run has ended, or an environment cannot be brought back.
            Conflict: Another process is at it.
        """
        past = await self._history(run)
        offer_again(self._equipment.models, past.records[0].data)
        if past.end:
            raise BadInput(f"The run {run} has ended.", fix=f"look at it with `tea trace {run}`, or replay it.")
        self._workspaces.check(run)
        trace = await asyncio.to_thread(self._tracer.reopen, run)
        try:
            recorder = Recorder(trace, run, watch, self._equipment.mask)
            gate = Gate(write=recorder.entry, past=past.entries, mode="resume", mask=recorder.mask.text)
            known = {**recorded_answers(past.records), **answers}
            one = self._run(past.setting, gate, recorder, past.task, known, past.intents, past.seconds)
            await one.stock(past.pins)
            await recover(one, past.records, self._instances)
            recorder.write("resumed", "", {"seconds": past.seconds})
            return await self._finish(one, past.task, trace)
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
        try:
            past = await self._history(run)
        except Damaged as error:
            raise Diverged(error.problem, fix=error.fix) from error
        if not past.end:
            raise BadInput(f"The run {run} has not ended.", fix=f"`tea resume {run}` goes on with it.")
        recorder = Recorder(None, run, watch)
        gate = Gate(write=recorder.entry, past=past.entries, mode="replay", lenient=lenient)
        one = self._run(past.setting, gate, recorder, past.task)
        try:
            await one.stock(past.pins, use)
        except Damaged as error:  # source that is not what was pinned is its first divergence
            raise Diverged(error.problem, fix=error.fix) from error
        outcome = await self._outcome(one, past.task)
        if not lenient and _ending(outcome) != past.end:
            problem = f"The run ended with {_short(past.end)}, now with {_short(_ending(outcome))}."
            raise Diverged(problem, fix="compare the versions it pinned with `tea trace`.")
        return outcome

    async def once(self, call: Callable[[Run], Awaitable[Response]], setting: Setting) -> Response:
        """Carry out one call from outside of any run, under the same gate, without a journal."""
        recorder = Recorder(None, setting.run, mask=self._equipment.mask)
        gate = Gate(write=recorder.entry)
        one = Run(setting, self._equipment, gate, recorder, Purse(TaskFile(task="call").budget))
        return await gate.run(lambda: call(one))

    async def _prepare(
        self, fork: Fork, setting: Setting, recorder: Recorder, task: TaskFile
    ) -> tuple[Run, int, list[str]]:
        """Bring everything to where a fork begins, and write what its journal begins with, in one piece."""
        origin = fork.history.setting.run
        inputs = await asyncio.to_thread(self._workspaces.inherit, setting.run, origin, fork.history.inputs)
        header = {**self._head(task, setting, inputs), "fork": fork.origin}
        records = fork.records(setting, header, timestamp())
        gate = Gate(write=recorder.entry, past=_entries(records), mode="resume", mask=recorder.mask.text)
        one = self._run(setting, gate, recorder, task, recorded_answers(fork.kept))
        await one.stock(pins_of(fork.kept))
        remarks = fork.remarks() + await rebuild(one, fork.kept, self._instances)
        recorder.adopt(records)
        return one, len(records), remarks

    async def _or_nothing(self, trace: Trace, preparing: Awaitable[Any]) -> Any:
        """Prepare a run; one that cannot even begin leaves nothing behind."""
        try:
            return await preparing
        except (TeaError, asyncio.CancelledError):
            await self._discard(trace)
            raise

    async def _discard(self, trace: Trace) -> None:
        trace.close()
        await asyncio.shield(asyncio.to_thread(self._tracer.remove, trace.run))

    async def _close(self, trace: Trace, task: TaskFile) -> None:
        trace.close()
        if task.session is None:
            await self._instances.close(trace.run)

    async def _history(self, run: str) -> History:
        def read() -> History:
            return History.of(run, self._tracer.records(run), str(self._workspaces.path(run)))

        return await asyncio.to_thread(read)

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

    def _head(self, task: TaskFile, setting: Setting, inputs: list[dict[str, Any]]) -> JsonObject:
        """Return what a journal begins with, and how its model was reached, which may be configured nowhere else."""
        return {**head_of(task, setting, inputs), "model": self._equipment.models.config(setting.model).to_json()}

    async def _check(self, task: TaskFile) -> None:
        await self._check_model(task.model, task)
        await self._equipment.libraries["agent"].info(task.agent)
        for ref, selector in task.use.items():
            kind = cast(Any, ref.partition(":")[0])
            if kind not in self._equipment.libraries:
                raise BadInput(f"{ref!r} cannot be used in a task.", fix="name a tool, environment, agent or prompt.")
            await self._equipment.libraries[kind].info(f"{ref}@{selector}")
        if task.tools:
            tools = self._equipment.libraries["tool"]
            active = {one.name for one in await tools.list()}
            for name in task.tools:
                if name not in active:
                    await tools.info(name)

    async def _check_model(self, model: str | None, task: TaskFile) -> None:
        config = self._equipment.models.config(model)
        if task.budget.usd is not None:
            await asyncio.to_thread(check_price, config, task.budget)

    async def _finish(self, run: Run, task: TaskFile, trace: Trace) -> Outcome:
        try:
            outcome = await self._outcome(run, task)
        except ApprovalNeeded as error:
            run.recorder.write("waiting", "", error.record())
            await trace.sync()
            raise error_from(run.recorder.mask.data(error.record())) from None
        run.recorder.write("end", "", _ending(outcome))
        await trace.sync()
        return outcome

    async def _outcome(self, run: Run, task: TaskFile) -> Outcome:
        names = tuple(Path(name).name for name in task.files)
        work = Task(text=task.task, files=names, answer=task.answer, tools=task.tools)
        response = await run.gate.run(lambda: _work(run, task, work))
        return Outcome.of(run.id, response, run.purse.spent, self._workspaces.home(run.id))


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
        ended = (run.best or Result()).model_copy(update={"ok": False, "reason": problem, "exhausted": True})
        return AgentResponse(ref=f"agent:{task.agent}", ok=True, value=ended.model_dump(mode="json"))


def _told(tell: Tell | None, lines: Sequence[str]) -> None:
    for line in lines:
        if tell is not None:
            tell(line)


def _ending(outcome: Outcome) -> dict[str, Any]:
    data = outcome.to_json()
    return {name: data[name] for name in ("status", "answer", "reason", "evidence", "cost", "error")}


def _entries(records: Sequence[TraceRecord]) -> list[Any]:
    return [entry_of(one) for one in records if one.kind in GATE_KINDS]


def _short(data: JsonObject) -> str:
    text = f"{data.get('status')}: {data.get('answer') or data.get('reason')!r}"
    return text if len(text) <= 90 else text[:87] + "..."
