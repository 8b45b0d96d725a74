"""Execution: the start, fork, replay and resumption of runs, with the journal's first and last records."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tea.clock import timestamp
from tea.components.clients import Agents
from tea.errors import (
    ApprovalNeeded,
    Damaged,
    Diverged,
    Interrupted,
    NotLocked,
    ResourceExhausted,
    StorageError,
    TeaError,
)
from tea.journal.form import understood
from tea.journal.header import RunConfig, TaskFile
from tea.journal.history import REBUILT, History, pins_of
from tea.journal.mask import mask_file
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.recorder import Recorder, Watcher
from tea.journal.status import RunStatus
from tea.journal.tracer import Begin, Trace, Tracer
from tea.kernel.gate import Gate
from tea.loop.offer import DONE
from tea.loop.toolset import OWN
from tea.models.connect import offer_again
from tea.policy.verdict import Verdict
from tea.protocols.instances import Instances
from tea.refs import Ref
from tea.runs.admission import ATTEMPTS, Admitted, admit_model, header_record
from tea.runs.budget import BudgetAccount
from tea.runs.call import CallRequest
from tea.runs.deps import RunDeps
from tea.runs.descriptors import Descriptors
from tea.runs.kept import KeptEnvironments
from tea.runs.outcome import Outcome
from tea.runs.pins import require_used
from tea.runs.ports import AgentPort
from tea.runs.recovery import rebuild, recover
from tea.runs.rules import reasoned, recorded_call, run_policy
from tea.runs.run import Run
from tea.store.workspaces import WorkspaceStore
from tea.types import AgentResponse, JsonObject, Response, Task, as_text
from tea.waiting import completed

if TYPE_CHECKING:
    from tea.runs.fork import Change, Fork

Tell = Callable[[str], None]
T = TypeVar("T")
_MOST_TOLD = 3
_MOST_THREADS = 2  # with more, threads and event loop spend their time on taking turns


class Executions:
    """An executor of one platform's runs, new and repeated.

    Args:
        deps: What its runs share.
        tracer: Opens and reads journals.
        workspaces: Where the runs keep their files.
        instances: The live environments; those of a session of one run end with it.
    """

    def __init__(self, deps: RunDeps, tracer: Tracer, workspaces: WorkspaceStore, instances: Instances) -> None:
        self._deps, self._tracer, self._workspaces, self._instances = deps, tracer, workspaces, instances
        self._descriptors = Descriptors()
        self._threads = asyncio.Semaphore(_MOST_THREADS)
        self._kept = KeptEnvironments(instances)

    async def begin(
        self,
        task: TaskFile,
        files: Mapping[str, Path],
        watch: Watcher | None = None,
        *,
        locked: bool = False,
        rules: tuple[str, ...] = (),
    ) -> Outcome:
        """Run a task once: `create` its run and `drive` it.

        Args:
            task: The task.
            files: Its files, by the name they get.
            watch: Told of each record.
            locked: Whether nothing but what the task's `use` names may be used.
            rules: Rules of the operator for its calls, as the option `--policy` takes them.

        Raises:
            ApprovalNeeded: A call waits for a person; the run can be resumed.
            Interrupted: This machine lacks open files or disk space; the run can be resumed.
            TeaError: See `create`; nothing is written.
        """
        write = await self._admitted(task, files, locked=locked, rules=rules)
        async with self._descriptors.place():
            return await self._drive(*await write(), watch)

    async def create(
        self, task: TaskFile, files: Mapping[str, Path], *, locked: bool = False, rules: tuple[str, ...] = ()
    ) -> str:
        """Write the header of a run and return its id; `drive` does the work, in this process or another.

        Args:
            task: The task.
            files: Its files, by the name they get.
            locked: Whether nothing but what the task's `use` names may be used.
            rules: Rules of the operator for its calls, as the option `--policy` takes them.

        Raises:
            BadInput: A rule is not valid; nothing is written.
            ProviderError: Its model is not configured; nothing is written.
            UnknownComponent: Its agent, or what it uses, is not there; nothing is written.
            Quarantined: Its agent is not trusted; nothing is written.
            NotLocked: It is locked, and its agent or a tool that it names is not; nothing is written.
            ResourceExhausted: This machine lacks open files or disk space; nothing is written.
        """
        write = await self._admitted(task, files, locked=locked, rules=rules)
        async with self._descriptors.place():
            trace, _ = await write()
            trace.close()
        return trace.run

    async def _admitted(
        self, task: TaskFile, files: Mapping[str, Path], *, locked: bool, rules: tuple[str, ...]
    ) -> Callable[[], Awaitable[tuple[Trace, History]]]:
        """Check a task, and return the function to write the header of its run."""
        admitted = await Admitted.of(self._deps, task, locked=locked, rules=rules)

        def first(run: str, folder: Path) -> list[TraceRecord]:
            inputs = self._workspaces.prepare(folder, files)
            run_config = admitted.run_config(run, str(self._workspaces.path(run)))
            return [header_record(self._deps, admitted.task, run_config, inputs)]

        return partial(self._created, first, task.session or "", task.id or "")

    async def fork(self, run: str, at: str | None, change: Change, watch: Watcher | None, tell: Tell | None) -> Outcome:
        """Begin a run with the events of another up to a position, and continue live with a change.

        Args:
            run: The run, which is not touched.
            at: Number of a record, or key of an effect; the first touch of what changes if None.
            change: What is to be otherwise.
            watch: Told of each record.
            tell: Told, before the fork goes on and at its end, what a person should know of it.

        Raises:
            BadInput: There is no such position, or the state there cannot be brought back; nothing is written.
            Diverged: Another revision wrote it, or its agents do not do what the journal holds; nothing is written.
        """
        from tea.runs.fork import Fork, unread  # no other run needs it

        history = await self._history(run)
        with understood(run):
            fork = Fork.of(history, at, change)
            remarks = fork.remarks()
            offer_again(self._deps.models, history.records[0].data)
        task = history.task.model_copy(update={"session": None, "id": None})
        await admit_model(self._deps, change.model or task.model, task)
        again = await self._read_again(fork)

        def first(new: str, folder: Path) -> list[TraceRecord]:
            inputs = self._workspaces.inherit(folder, run, history.inputs)
            run_config = fork.run_config(new, str(self._workspaces.path(new)))
            head = header_record(self._deps, task, run_config, inputs, history, fork.origin)
            return fork.records(run_config, head, timestamp(), self._deps.seal)

        async with self._descriptors.place():
            trace, past = await self._created(first)
            told = partial(_told, tell, [*remarks, *again])
            outcome = await self._drive(trace, past, watch, origin=history, tell=told)
        records = await asyncio.to_thread(lambda: list(self._tracer.records(trace.run)))
        _told(tell, unread(records, change))
        return outcome

    async def drive(self, run: str, answers: Mapping[str, str] | None = None, watch: Watcher | None = None) -> Outcome:
        """Continue a run from the end of its journal, just created, interrupted or waiting, until the run's end.

        Args:
            run: The run.
            answers: The answers of a person, by the key of the waiting call.
            watch: Told of each record.

        Raises:
            BadInput: The run has ended, an answer is to no call that waits, an environment cannot be brought back, or
                the sandbox that it began with was stronger than what is here.
            Conflict: Another process is at it.
            Diverged: Another revision wrote it, or its agents do not do what the journal holds.
        """
        past = await self._history(run)
        past.accepted(run, answers or {}, self._deps.mask)
        await self._deps.sandboxes.require(past.run_config.sandbox)
        with understood(run):
            offer_again(self._deps.models, past.records[0].data)
        self._workspaces.check(run)
        async with self._descriptors.place():
            with _resumable(run):
                trace = await self._reopened(run)
            return await self._drive(trace, past, watch, answers=answers or {})

    async def _drive(
        self,
        trace: Trace,
        past: History,
        watch: Watcher | None,
        *,
        answers: Mapping[str, str] | None = None,
        origin: History | None = None,
        tell: Callable[[list[str]], None] = lambda remarks: None,
    ) -> Outcome:
        """Continue a run until its end, from any past, and release its journal.

        Args:
            trace: The journal, held by this process.
            past: Its contents.
            watch: Told of each record.
            answers: The answers of a person; None for a run of a moment ago.
            origin: The origin of a fork of a moment ago.
            tell: Told the remarks for a person.
        """
        recorder = Recorder(trace, trace.run, watch, self._deps.mask, self._deps.seal)
        waits = False
        try:
            await self._kept.take_up(trace.run, trace.position)
            if answers is None:
                one, remarks = await self._or_nothing(trace, self._prepared(past, recorder, {}, origin))
            else:
                with _resumable(trace.run):
                    if trace.position != len(past.records):  # another process went on with it before it was ours
                        past = await self._history(trace.run)
                    known = past.accepted(trace.run, answers, self._deps.mask)
                    one, remarks = await self._prepared(past, recorder, known, origin)
                    recorder.write("resumed", "", {"seconds": past.seconds})
            begun = trace.position
            tell(remarks)
            try:
                return await self._finish(one, past, trace)
            except ApprovalNeeded:
                waits = True
                raise
            except Diverged:
                if origin is not None and trace.position == begun:
                    await self._discard(trace)
                raise
        finally:
            position = trace.position
            trace.close()
            await self._kept.leave(trace.run, past.run_config.session, position, waits=waits)

    async def replay(
        self, run: str, *, lenient: bool = False, use: Mapping[str, str] | None = None, watch: Watcher | None = None
    ) -> Outcome:
        """Run the agents' code against the journal; nothing is performed, written or paid for.

        Args:
            run: The run.
            lenient: Let data differ where call and place agree.
            use: Other versions of components, by `kind:name`, in place of those the run pinned.
            watch: Told of each record.

        Raises:
            Diverged: Another revision wrote it, or the code does not do what the journal holds.
        """
        try:
            past = await self._history(run)
        except Damaged as error:
            raise Diverged(error.problem, fix=error.fix) from error
        if not past.end:
            raise await asyncio.to_thread(self._tracer.unended, run)
        require_used(use or (), {pin.asked.partition("@")[0] for pin in past.pins})
        recorder = Recorder(None, run, watch)
        gate = Gate(write=recorder.entry, past=past.entries, mode="replay", lenient=lenient, flush=recorder.flush)
        try:
            with understood(run):
                one = self._run(past, gate, recorder)
                await one.pins.stock(past.pins, use, past.sandboxed)
            with past.telling():
                outcome = await (self._given_up(one, past) if past.given_up else self._outcome(one, past.task))
        except Damaged as error:  # source that is not what was pinned is its first divergence
            raise Diverged(error.problem, fix=error.fix) from error
        if not (lenient or past.given_up) and _ending(outcome) != past.end:
            problem = f"The run ended with {_short(past.end)}, now with {_short(_ending(outcome))}."
            raise Diverged(problem, fix="compare the versions it pinned with `tea trace`.")
        from tea.untrusted.programs import again

        return replace(await self._whole(outcome, one, past), remarks=await again(one.flow.followed))

    async def explain(self, run: str, key: str) -> tuple[CallRequest, Verdict]:
        """Return a call of a run as its policy is asked about it, and the decision by the rules of now.

        What the branch had read is computed by walking through the journal again; nothing is performed or written.

        Raises:
            BadInput: The run has no such call.
            Diverged: The code does not do what the journal holds, before that call.
        """
        past = await self._history(run)
        recorder = Recorder(None, run)
        gate = Gate(write=recorder.entry, past=past.entries, mode="replay", flush=recorder.flush)
        with understood(run):
            one = self._run(past, gate, recorder)
            one.readings.ask(key)
            await one.pins.stock(past.pins, sandboxed=past.sandboxed)
            request = recorded_call(past, one.pins, key, self._deps.sandboxes.settings.way_out.places)
        try:
            await self._outcome(one, past.task)
        except Diverged:  # also the end of the journal of a run that waits
            if one.readings.found is None:
                raise
        request = request._replace(known=one.readings.found or request.known)
        return request, await reasoned(run_policy(self._deps.policy, past.run_config), request)

    async def once(self, call: Callable[[Run], Awaitable[Response]], run_config: RunConfig) -> Response:
        """Execute one call from outside any run, under the same gate, without a journal."""
        recorder = Recorder(None, run_config.run, mask=self._deps.mask)
        gate = Gate(write=recorder.entry, mask=recorder.mask.text, flush=recorder.flush)
        gate.on_branch_end(partial(self._instances.end_branch, run_config.run))
        one = Run(run_config, self._deps, gate, recorder, BudgetAccount(TaskFile(task="call").budget))
        return await gate.run(lambda: call(one))

    async def _created(self, begin: Begin, session: str = "", task: str = "") -> tuple[Trace, History]:
        """Create a journal with its first records, and return both; a cancellation leaves nothing behind."""

        def create() -> tuple[Trace, History]:
            given: list[TraceRecord] = []

            def first(run: str, folder: Path) -> list[TraceRecord]:
                given.extend(begin(run, folder))
                return given

            trace = self._tracer.create(session, task, first)
            return trace, self._past(trace.run, given)

        creating = asyncio.ensure_future(self._in_thread(create))
        try:
            return await completed(creating)
        except asyncio.CancelledError:
            if creating.done() and creating.exception() is None:
                await self._discard(creating.result()[0])
            raise

    async def _reopened(self, run: str) -> Trace:
        """Reopen a run's journal; a cancellation releases it."""
        opening = asyncio.ensure_future(asyncio.to_thread(self._tracer.reopen, run))
        try:
            return await completed(opening)
        except asyncio.CancelledError:
            if opening.done() and opening.exception() is None:
                opening.result().close()
            raise

    async def _prepared(
        self, past: History, recorder: Recorder, answers: Mapping[str, str], origin: History | None
    ) -> tuple[Run, list[str]]:
        """Return a run with the state left by its earlier processes restored, and remarks on it for a person."""
        if past.unprepared:
            return await self._rebuilt(past, recorder, answers, origin or await self._inherited(past))
        if len(past.records) == 1:
            recorder.begun(past.records[0])
        recorder.recall(past.status.meant, past.again)
        with understood(past.run_config.run):
            gate = _resumed(recorder, past, past.elapsed)
            known = {**past.status.said, **answers}
            one = self._run(past, gate, recorder, known, past.status.uncertain, past.seconds)
            await one.pins.stock(past.pins, sandboxed=past.sandboxed, goes_on=True)
            await recover(one, past.records, self._instances)
        return one, []

    async def _inherited(self, past: History) -> History:
        """Copy the files of a fork anew, after an interrupted preparation, and return its parent."""
        parent = past.checked_origin(await self._history(as_mapping(past.records[0].data)["fork"]["run"]))
        folder = self._workspaces.home(past.run_config.run)
        await asyncio.to_thread(self._workspaces.inherit, folder, parent.run_config.run, past.inputs)
        return parent

    async def _rebuilt(
        self, past: History, recorder: Recorder, answers: Mapping[str, str], parent: History
    ) -> tuple[Run, list[str]]:
        """Return a fork, with everything restored to its position, and remarks on it for a person."""
        kept = [one for one in past.records[1:] if one.kind != "forked"]
        await self._inherit(past.run_config, parent, kept)
        recorder.recall(RunStatus.of(kept).meant, {})
        known = {**past.status.answers, **answers}
        with understood(parent.run_config.run):
            one = self._run(past, _resumed(recorder, past), recorder, known)
            await one.pins.stock(pins_of(kept), sandboxed=past.sandboxed, goes_on=True)
            remarks = await rebuild(one, kept, self._instances, parent.records)
        recorder.begun(past.records[0])
        recorder.write(REBUILT, "", {})
        return one, remarks

    async def _read_again(self, fork: Fork) -> list[str]:
        """Return a remark if the run read over the network after the fork's position, as pages may have changed."""
        calls: list[str] = []
        for (kind, ref, digest), key in fork.later_calls().items():
            with suppress(TeaError, KeyError):  # a removed version has no traits to read
                config = await self._deps.libraries[kind].exact(ref, digest)
                traits = config.operations[Ref.parse(ref).operation or ""].traits
                calls += [f"{ref} ({key})"] if traits.network and traits.effects == "reads" else []
        if not calls:
            return []
        more = f" and {len(calls) - _MOST_TOLD} more" if len(calls) > _MOST_TOLD else ""
        named = f"{', '.join(calls[:_MOST_TOLD])}{more}"
        return [f"The run then read by {named}, over the network or free to; the fork may see another page."]

    async def _inherit(self, child: RunConfig, parent: History, kept: Sequence[TraceRecord]) -> None:
        """Give a fork its own copy of the content of the parent's session at the last event it keeps."""
        old, moment = parent.run_config, (kept or parent.records)[-1 if kept else 0].time
        from tea.runs.inheritance import Inheritance  # no other run needs it

        choose = Inheritance.of(self._tracer, old.run, child.run, moment, kept).choose
        agents = {f"agent:{one.name}" for one in await self._deps.libraries["agent"].list(state=None)}
        await asyncio.to_thread(self._deps.memory.inherit, old.session, child.session, sorted(agents), choose)

    async def _or_nothing(self, trace: Trace, preparing: Awaitable[Any]) -> Any:
        """Prepare a run; if that fails, remove its journal and its memory."""
        try:
            return await preparing
        except (TeaError, asyncio.CancelledError):
            await self._discard(trace)
            raise

    async def _discard(self, trace: Trace) -> None:
        def discard() -> None:
            self._tracer.remove(trace.run)
            self._deps.memory.forget({trace.run})

        trace.close()
        await completed(asyncio.to_thread(discard))

    async def _history(self, run: str) -> History:
        def read() -> History:
            return self._past(run, self._tracer.records(run))

        return await asyncio.to_thread(read)

    def _past(self, run: str, records: Iterable[TraceRecord]) -> History:
        return History.of(run, records, str(self._workspaces.path(run))).without_foreign(run, self._deps.seal.made)

    def _run(
        self,
        past: History,
        gate: Gate,
        recorder: Recorder,
        answers: Mapping[str, str] | None = None,
        intents: frozenset[str] = frozenset(),
        passed: float = 0.0,
    ) -> Run:
        gate.on_branch_end(partial(self._instances.end_branch, past.run_config.run))
        account = BudgetAccount(past.task.budget, passed)
        one = Run(past.run_config, self._deps, gate, recorder, account, answers, intents)
        one.readings.begin_with(past)
        return one

    async def _finish(self, run: Run, past: History, trace: Trace) -> Outcome:
        with _resumable(trace.run):
            try:
                with past.telling(run.recorder.remedies):
                    outcome = await self._outcome(run, past.task)
                    await run.attempts.hand_over(outcome)
            except ApprovalNeeded as error:
                record = run.recorder.suspended(error.record(), run.gate.open_keys())
                await trace.sync()
                raise ApprovalNeeded(record["problem"], fix=record["fix"], run=trace.run) from None
            if self._deps.mask:
                await asyncio.to_thread(self._mask_files, run, past.inputs)
            await self._deps.memory.sync(run.session)
            run.recorder.write("end", "", _ending(outcome))
        await trace.sync()
        return await self._whole(outcome, run, past)

    def _mask_files(self, run: Run, inputs: Iterable[JsonObject]) -> None:
        """Mask secrets in the texts written by a run into its folder, and record the masked ones."""
        mask, found = self._deps.mask, dict[str, list[str]]()
        if mask:
            folder = Path(run.run_config.workspace)
            for path in self._workspaces.written(run.id, inputs):
                if what := mask_file(path, mask):
                    found.setdefault(what, []).append(path.relative_to(folder).as_posix())
        if found:
            run.recorder.write("secrets", "", found)

    async def _outcome(self, run: Run, task: TaskFile) -> Outcome:
        names = tuple(Path(name).name for name in task.files)
        said = task.talk.said() if task.talk is not None else ()
        more: dict[str, Any] = {"answer": task.answer, "tools": task.tools, "also": task.also}
        work = Task(text=task.task, files=names, history=said, talk=task.talk is not None, **more)
        try:
            response = await run.gate.run(lambda: _work(run, task, work))
        except NotLocked as error:
            response = AgentResponse(ref=f"agent:{task.agent}", ok=False, error=error.record())
        return Outcome.of(run.id, response, run.accounts.root.total(), self._workspaces.home(run.id))

    async def _given_up(self, run: Run, past: History) -> Outcome:
        """Replay a run ended from outside as far as its journal goes, and return its recorded end."""
        try:
            await self._outcome(run, past.task)
        except Diverged:
            if not run.gate.exhausted:
                raise
        return Outcome.given_up(
            run.id, str(past.end["reason"]), run.accounts.root.total(), self._workspaces.home(run.id)
        )

    async def _in_thread(self, function: Callable[[], T]) -> T:
        """Return the result of a function in one of few threads."""
        async with self._threads:
            return await asyncio.to_thread(function)

    async def _whole(self, outcome: Outcome, run: Run, past: History) -> Outcome:
        """Return the outcome of a run with files, unheard messages, and doubts and results missing in its answer."""
        files, unheard = await self._in_thread(partial(self._left, run.id, run.services.delivery.last, past.inputs))
        error = None if outcome.error is None else past.attributed(outcome.error)
        told = "\n".join((as_text(outcome.answer), outcome.reason, *outcome.gaps))
        doubts = tuple(line for reason, line in run.doubts.items() if reason not in told)
        records = partial(self._tracer.records, outcome.run)
        left: dict[str, tuple[str, ...]] = {}
        if not outcome.ok:
            left = await self._in_thread(lambda: outcome.unfinished(records, (*OWN, DONE)))
        why = past.quoted(outcome.reason, run.untrusted)
        more = {"doubts": doubts, "made": tuple(run.services.generated.made), **left}
        more |= {} if past.own else {"remedies": ()}  # its journal may tell of errors that nobody gave
        return replace(outcome, reason=why, files=files, unheard=unheard, error=error, **more)

    def _left(self, run: str, last: int, inputs: Iterable[JsonObject]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        # The thread may hold what it was given for a moment longer, so it is given nothing of the run itself.
        messages = self._tracer.store.messages(run)
        try:
            unheard = [one.text for one in messages.read(last)] if messages.waits(last) else []
        except StorageError as error:
            unheard = [error.problem]
        return self._workspaces.left(run, inputs), tuple(unheard)


async def _work(run: Run, task: TaskFile, work: Task) -> AgentResponse:
    """Give the task to its agent, within the run's time."""
    agents = Agents(AgentPort(run, "", 0), "agent")
    name = ATTEMPTS if task.attempts > 1 else task.agent
    if task.budget.seconds is None:
        return await agents.invoke(name, work)
    try:
        async with run.gate.timeout(task.budget.seconds):
            return await agents.invoke(name, work)
    except TimeoutError:
        ended = run.accounts.root.out_of_time()
        return AgentResponse(ref=f"agent:{name}", ok=True, value=ended.model_dump(mode="json"))


def _resumed(recorder: Recorder, past: History, elapsed: Mapping[str, float] | None = None) -> Gate:
    return Gate(
        write=recorder.entry,
        past=past.entries,
        mode="resume",
        mask=recorder.mask.text,
        flush=recorder.flush,
        elapsed=elapsed,
        again=past.permitting,
    )


@contextmanager
def _resumable(run: str) -> Generator[None]:
    """Report a run stopped by a lack of open files or disk space on this machine as resumable.

    Raises:
        Interrupted: It did.
    """
    try:
        yield
    except ResourceExhausted as error:
        fix = f"{error.fix.rstrip('. ')}; then `tea resume {run}` goes on with it."
        raise Interrupted(f"{error.problem} The run {run} is kept.", fix=fix, run=run) from error


def _told(tell: Tell | None, *lines: Sequence[str]) -> None:
    for line in chain(*lines):
        if tell is not None:
            tell(line)


def _ending(outcome: Outcome) -> dict[str, Any]:
    data = outcome.to_json()
    names = ("status", "answer", "reason", "evidence", "cost", "error", "handoff", "task", "attempts")
    return {name: data[name] for name in names if name in data}


def _short(data: JsonObject) -> str:
    text = f"{data.get('status')}: {data.get('answer') or data.get('reason')!r}"
    return text if len(text) <= 90 else text[:87] + "..."
