"""Research: Deep Research in conversations; each start is one run, and all knowledge is read from its journal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from tea.chat.chat import Chat
from tea.chat.chat import Host as ChatHost
from tea.chat.transcript import Turn
from tea.clock import utc_now
from tea.errors import ApprovalNeeded, BadInput, Conflict
from tea.journal.header import TaskFile
from tea.journal.record import as_mapping
from tea.journal.recorder import Watcher
from tea.journal.tracer import LAST, Tracer, new_run_id
from tea.models.connect import offer_again
from tea.models.manager import ModelManager
from tea.refs import check_session
from tea.research.conversation import (
    AUTHOR,
    CLARIFIER,
    SCIENTIST,
    STALE,
    Head,
    Reading,
    at_message,
    heads,
    reading,
    readings,
)
from tea.research.guard import give_up, stale, turn
from tea.research.opening import OPENING, opening_file
from tea.research.settings import MODES, ResearchSettings
from tea.research.status import Status
from tea.runs.task_file import find_files, make_task
from tea.store.workspaces import FileWorkspaces

MOST_FILE = 500_000_000  # bytes
CHAT_SECONDS = 30.0  # of one call in a quick question
APPROVE, REJECT = "approve", "reject"
_REJECTION = re.compile(rf"{REJECT}\s*[:,;.–—-]\s*(?P<feedback>\S.*)", re.DOTALL | re.IGNORECASE)


class ResearchTable(Protocol):
    """The operator's settings, as far as research reads them."""

    @property
    def research(self) -> Mapping[str, Any]:
        """The table `[research]`, as written."""
        ...


class Host(ChatHost, Protocol):
    """The platform of the research."""

    @property
    def settings(self) -> ResearchTable:
        """The operator's settings."""
        ...

    @property
    def models(self) -> ModelManager:
        """The models to be asked."""
        ...

    async def create(self, task: TaskFile, files: Mapping[str, Path], *, locked: bool = False) -> str:
        """Write the header of a run, and return its id."""
        ...

    async def tell(self, run: str, text: str) -> int:
        """Send a message to a run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A start of research.

    Args:
        run: Id of the run.
        message: Id of its first iteration, whose status can be asked for.
        conversation: Id of the conversation.
        status: Where the run stands.
        deduplicated: Whether it was at work already, so that nothing new was started.
        recovered: Id of the run that was given up for it, empty for none.
        held: Whether a living process is at it.
    """

    run: str
    message: str
    conversation: str
    status: str
    deduplicated: bool = False
    recovered: str = ""
    held: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "run": self.run,
            "message": self.message,
            "conversation": self.conversation,
            "status": self.status,
            "deduplicated": self.deduplicated,
            **({STALE: self.recovered} if self.recovered else {}),
        }


class Research:
    """The research of a platform.

    A conversation is a session. `start` writes the header of a run and returns at once; `drive` does the work, here or
    in another process, and `status` tells where it stands.

    Args:
        host: The platform.
        clock: Gives the time, with its zone.

    Example:
        started = await platform.research.start("Why do cities grow?", mode="steering", files=["cities.csv"])
        status = await platform.research.drive(started.run)
        print(status.reply["text"])
    """

    def __init__(self, host: Host, clock: Callable[[], datetime] = utc_now) -> None:
        self._host, self._clock = host, clock

    @property
    def limits(self) -> ResearchSettings:
        """The operator's limits."""
        return ResearchSettings.of(self._host.settings.research)

    async def start(
        self,
        text: str,
        *,
        mode: str | None = None,
        files: Sequence[str | Path] = (),
        conversation: str | None = None,
        clarification: str | None = None,
        **options: Any,
    ) -> Started:
        """Start or continue the research of a question, unless a run of it is active.

        Args:
            text: The question, or what shall be done next.
            mode: `steering`, `semi` or `full`; by default that of the conversation, else `semi`.
            files: Datasets, beside those the conversation has.
            conversation: Its id, or `last` for the latest; a new one by default.
            clarification: Id of the run of `clarify` whose approved plan and datasets are used.
            **options: Further keys of the task file, for example `model` or `budget`; without a model, the one that
                the conversation was begun or gone on with last answers.

        Raises:
            BadInput: The mode, the clarification, the conversation or a file cannot be used; nothing is written.
            Conflict: Others were starting in this conversation for too long.
        """
        if mode is not None and mode not in MODES:
            raise BadInput(f"{mode[:40]!r} is not a mode.", fix=f"use one of {', '.join(MODES)}.")
        approved, session, clarified = await self._approved(clarification, await self._meant(conversation))
        named = check_session(session) or f"research-{new_run_id()[:16]}"
        task = make_task({**options, "task": text, "agent": SCIENTIST, "session": named})
        task = task if session is None else await asyncio.to_thread(self._continued, task)
        given = clarified | await asyncio.to_thread(_datasets, files)
        fresh = session is None
        async with nullcontext() if fresh else turn(self._turns, named, self.limits.wait):
            before = None if fresh else await asyncio.to_thread(self._newest, named)
            recovered = ""
            if before is not None and before.active:
                why = stale(before, self.limits, self._clock())
                if not why:
                    return self._going(before)
                await asyncio.to_thread(give_up, self._tracer, before.head.run, why)
                recovered = before.head.run
                before = await asyncio.to_thread(self._newest, named)
            opening = await asyncio.to_thread(self._opening, before, mode, approved)
            run = await self._create(task, before, given, opening)
        return Started(run=run, message=f"{run}.1", conversation=named, status="queued", recovered=recovered)

    async def drive(
        self, run: str, *, answers: Mapping[str, str] | None = None, watch: Watcher | None = None
    ) -> Status:
        """Continue a run until its end or a question for a person, and return its status.

        Args:
            run: Its id.
            answers: A person's answers, by the keys of the questions.
            watch: Told of each record.

        Raises:
            ApprovalNeeded: It waits for a person.
            Conflict: Another process is at it.
        """
        ended = await self._host.resume(run, answers=answers, watch=watch)
        found = await self.status(run)
        reason = ended.reason if found.error else ""
        return replace(found, fault=ended.error, error=reason or found.error)  # of others: told as their words

    async def run(self, text: str, *, watch: Watcher | None = None, **options: Any) -> Status:
        """Start research and bring it to its end; see `start` and `drive`."""
        started = await self.start(text, **options)
        return await self.drive(started.run, watch=watch)

    async def resume(self, name: str | None = None, *, watch: Watcher | None = None) -> list[Status]:
        """Resume the runs of dead processes, each until its end or a question for a person.

        Runs that are stale, wait for a person or have a living process are left alone.

        Args:
            name: A conversation, run or message; all that this account began by default.
            watch: Told of each record.
        """
        chosen = [await self._find(name)] if name is not None else await asyncio.to_thread(self._latest, [])
        idle = [one for one in chosen if (name or one.head.own) and one.status in ("queued", "interrupted")]
        left = [one.head.run for one in idle if not stale(one, self.limits, self._clock())]
        found = list[Status]()
        for run in left:
            try:
                found.append(await self.drive(run, watch=watch))
            except (ApprovalNeeded, Conflict):  # it waits now, or another process was first
                found.append(await self.status(run))
        return found

    async def status(self, name: str = LAST) -> Status:
        """Return the status of a research.

        Args:
            name: A conversation, run or message by its id or the beginning of it, or `last`.

        Raises:
            BadInput: There is none.
        """
        return Status.of(await self._find(name), name, self._clock(), self.limits)

    async def list(self, problems: list[str] | None = None) -> list[Status]:
        """Return the conversations, the latest first; add unreadable ones to `problems`."""
        found = await asyncio.to_thread(self._latest, problems if problems is not None else [])
        now, limits = self._clock(), self.limits
        return [Status.of(one, one.head.run, now, limits) for one in found]

    async def tell(self, name: str, text: str) -> int:
        """Send a message to a running research; the next boundary of its cycle takes it.

        Args:
            name: A conversation, run or message.
            text: What to say.

        Raises:
            BadInput: No run is at work there, or the text is empty.
        """
        return await self._host.tell((await self._find(name)).head.run, text)

    async def answer(self, name: str, text: str, *, key: str | None = None, watch: Watcher | None = None) -> Status:
        """Answer the open question of a run, and go on.

        Args:
            name: A conversation, run or message.
            text: The answer; a plan is also rejected by `reject: ` and what shall be otherwise.
            key: Which question, where there are several.
            watch: Told of each record.

        Raises:
            BadInput: It asks nothing, or several things and no key tells which.
            ApprovalNeeded: It asks something else now.
        """
        found = await self._find(name)
        if not found.questions:
            raise BadInput(
                f"The run {found.head.run} has no question.", fix="`tea research status` says where it stands."
            )
        chosen = [one for one in found.questions if key in (None, one.key)]
        if len(chosen) != 1:
            keys = ", ".join(one.key for one in found.questions)
            raise BadInput(
                f"The answer fits {len(chosen)} open questions.", fix=f"name the key of one of them: {keys}."
            )
        choices = chosen[0].choices
        if REJECT in choices and (rejection := _REJECTION.match(text)):
            return await self.reject(name, rejection["feedback"], watch=watch)
        if choices and text not in choices and not chosen[0].call:
            problem = f"{text[:60]!r} is not an answer here, but: {_choices(choices)}."
            raise BadInput(problem, fix="say one of these.")
        return await self.drive(found.head.run, answers={chosen[0].key: text}, watch=watch)

    async def clarify(
        self, text: str, *, files: Sequence[str | Path] = (), conversation: str | None = None, **options: Any
    ) -> Started:
        """Begin a clarification: questions, then a plan to approve or reject. `drive` and `answer` go on with it.

        Args:
            text: The question of the research.
            files: Its datasets.
            conversation: Its id, or `last` for the latest; a new one by default.
            **options: Further keys of the task file.
        """
        conversation = await self._meant(conversation)
        session = check_session(conversation) or f"research-{new_run_id()[:16]}"
        task = make_task({**options, "task": text, "agent": CLARIFIER, "session": session})
        task = task if conversation is None else await asyncio.to_thread(self._continued, task)
        run = await self._host.create(task, await asyncio.to_thread(_datasets, files))
        return Started(run=run, message=run, conversation=session, status="queued")

    async def approve(self, clarification: str, *, watch: Watcher | None = None) -> Status:
        """Approve the plan of a clarification.

        Raises:
            BadInput: There is no such clarification, or no plan to approve yet or any more.
        """
        await self._require_plan(clarification)
        return await self.answer(clarification, APPROVE, watch=watch)

    async def reject(self, clarification: str, feedback: str, *, watch: Watcher | None = None) -> Status:
        """Reject the plan of a clarification with feedback; another plan is made.

        Raises:
            BadInput: There is no feedback, or no plan to reject.
            ApprovalNeeded: The next plan waits.
        """
        if not feedback.strip():
            raise BadInput("A rejection needs feedback.", fix=f"say {_choices((REJECT,))}.")
        await self._require_plan(clarification)
        await self._asked_again(clarification, REJECT, watch)
        return await self.answer(clarification, feedback, watch=watch)

    async def ask(self, name: str, text: str, *, watch: Watcher | None = None, **options: Any) -> Turn:
        """Ask a quick question about a conversation, beside its research: at most ten calls of 30 seconds each.

        Args:
            name: A conversation, run or message.
            text: The question.
            watch: Told of each record.
            **options: Further keys of the task file.
        """
        found = await self._find_research(name)
        model = options.get("model") or await asyncio.to_thread(self._model, found.head.session)
        chosen = {"call_seconds": CHAT_SECONDS, **options, "model": model}
        chat = Chat(self._host, found.head.session, "research_chat", chosen)
        with opening_file({"state": found.world}) as path:
            return await chat.send(text, files=[path, *self._carried(found).values()], watch=watch)

    async def branch(self, name: str, at: int | None = None) -> Started:
        """Copy a conversation up to a message into a new one; pending messages fail there, nothing is started.

        Args:
            name: A conversation, run or message.
            at: Number of the last message to copy; all by default.

        Raises:
            BadInput: There is no such message.
        """
        found = await self._find_research(name)
        state, source = await asyncio.to_thread(self._at, found, at)
        origin = f"{found.head.session}@{len(state['messages'])}"
        session = f"research-{new_run_id()[:16]}"
        model = await asyncio.to_thread(self._model, found.head.session)
        task = make_task({"task": f"Branch {origin}", "agent": SCIENTIST, "session": session, "model": model})
        run = await self._create(task, source, {}, {"state": state, "branch": origin})
        await self._host.resume(run)
        return Started(run=run, message=f"{run}.0", conversation=session, status="completed")

    async def paper(self, name: str, **options: Any) -> Started:
        """Create the job of a paper of a conversation; `drive` writes it: a PDF, and its sources.

        Args:
            name: A conversation, run or message; of a paper or clarification its conversation counts.
            **options: Further keys of the task file.

        Raises:
            BadInput: There is no such research, or it has found nothing yet.
        """
        found = await self._find_research(name)
        if not any(one["output"] for one in found.world.get("plan", {}).values()):
            fix = f'go on with it: tea research start "..." --conversation {found.head.session}'
            raise BadInput(f"The research {name[:80]!r} has found nothing yet.", fix=fix)
        session = found.head.session
        about = str(found.world["title"] or found.world["objective"])
        task = make_task({**options, "task": f"Paper: {about}", "agent": AUTHOR, "session": session})
        task = await asyncio.to_thread(self._continued, task)
        figures = await asyncio.to_thread(self._figures, found)
        with opening_file({"state": found.world}) as path:
            run = await self._host.create(task, {**figures, OPENING: path})
        return Started(run=run, message=run, conversation=session, status="queued")

    def _figures(self, found: Reading) -> dict[str, Path]:
        """Return the files written by the tasks of a conversation, under names without folders."""
        folders = FileWorkspaces(self._host.home / "traces")
        wanted = {name for one in found.world["plan"].values() for name in one["artifacts"]}
        paths: dict[str, Path] = {}
        for one in heads(self._tracer, session=found.head.session):
            there = folders.inside(one.run, sorted(wanted)) if one.agent == SCIENTIST else {}
            for name, path in there.items():
                paths.setdefault(name.replace("/", "-"), path)
        return paths

    async def _asked_again(self, name: str, text: str, watch: Watcher | None) -> None:
        """Give an answer followed by another question."""
        with suppress(ApprovalNeeded):
            await self.answer(name, text, watch=watch)

    async def _require_plan(self, name: str) -> None:
        found = await self._find(name)
        if found.head.agent != CLARIFIER:
            raise BadInput(f"{name[:80]!r} is not a clarification.", fix="begin one with `tea research clarify`.")
        if all(APPROVE not in one.choices for one in found.questions):
            raise BadInput("No plan waits for a decision.", fix=f"`tea research status {name[:40]}` says what waits.")

    async def _approved(
        self, clarification: str | None, conversation: str | None
    ) -> tuple[dict[str, Any], str | None, dict[str, Path]]:
        """Return the approved plan of a clarification, its conversation, and its datasets.

        Raises:
            BadInput: There is no such clarification, its plan is not approved or was used, or it is of another one.
        """
        if clarification is None:
            return {}, conversation, {}
        found = await self._find(clarification)
        if found.head.agent != CLARIFIER:
            raise BadInput(f"{clarification[:80]!r} is not a clarification.", fix="name one of `tea research clarify`.")
        if found.status != "completed":
            fix = f"`tea research answer {found.head.run} ...` goes on with it."
            raise BadInput(f"The plan of {found.head.run} is not approved.", fix=fix)
        if not found.answer.get("tasks"):
            raise BadInput(f"The clarification {found.head.run} has no plan.", fix="begin another.")
        if not found.is_agreed(APPROVE, self._tracer, self._host.seal.made):
            raise BadInput(f"The plan of {found.head.run} was not approved on this account.", fix="begin another.")
        session = found.head.session
        if conversation not in (None, session):
            raise BadInput(f"The clarification is of the conversation {session}.", fix="leave the conversation out.")
        newest = await asyncio.to_thread(self._newest, session)
        used: Mapping[str, Any] = {} if newest is None else newest.world.get("clarification", {})
        if used.get("session") == found.head.run and used.get("used"):
            raise BadInput("The approved plan was used already.", fix="start without it.")
        files = await asyncio.to_thread(self._carried, found)
        return {**found.answer, "session": found.head.run, "used": False}, session, files

    async def _meant(self, conversation: str | None) -> str | None:
        """Return the id of a named conversation: that of the latest one for `last`, else the name itself.

        Raises:
            BadInput: It is `last`, and there is none yet.
        """
        return conversation if conversation != LAST else (await self._find(LAST)).head.session

    def _going(self, run: Reading) -> Started:
        return Started(
            run=run.head.run,
            message=f"{run.head.run}.1",
            conversation=run.head.session,
            status=run.status,
            deduplicated=True,
            held=run.status == "processing",
        )

    def _opening(self, before: Reading | None, mode: str | None, approved: Mapping[str, Any]) -> dict[str, Any]:
        """Return the start of a run, from the knowledge of the conversation."""
        state = dict[str, Any]() if before is None else before.known(APPROVE, self._tracer, self._host.seal.made)
        failures = {} if before is None or before.status != "failed" else _failures(before)
        return {
            "state": state,
            "mode": mode or "",
            "limits": self.limits.limits,
            "clarification": dict(approved),
            "failures": failures,
        }

    async def _create(
        self, task: TaskFile, before: Reading | None, datasets: Mapping[str, Path], opening: Mapping[str, Any]
    ) -> str:
        """Write the header of a run with its opening, its datasets and those of the conversation."""
        carried = {} if before is None else await asyncio.to_thread(self._carried, before)
        with opening_file(opening) as path:
            return await self._host.create(task, {**carried, **datasets, OPENING: path})

    def _carried(self, run: Reading) -> dict[str, Path]:
        """Return the datasets of a conversation, from the last run with any."""
        names = dict.fromkeys([*run.world.get("datasets", ()), *run.head.inputs])
        kept = FileWorkspaces(self._host.home / "traces")
        return kept.carried(run.head.run, [name for name in names if name != OPENING])

    def _continued(self, task: TaskFile) -> TaskFile:
        """Return a task with the model of its conversation, if it names none."""
        model = task.model or self._model(str(task.session))
        return task if model == task.model else task.model_copy(update={"model": model})

    def _model(self, session: str) -> str | None:
        """Return the model named last in a conversation, available again; None if none ever was."""
        found = list(heads(self._tracer, session=session))
        # Where this account began a run, one from elsewhere names none: it could name its sender's server.
        named = next((one for one in found if one.model and one.own == found[0].own), None)
        if named is None:
            return None
        offer_again(self._host.models, as_mapping(next(iter(self._tracer.records(named.run))).data))
        return named.model

    def _newest(self, session: str) -> Reading | None:
        """Return the newest run of research in a conversation.

        Where this account began a run, one from elsewhere counts as far as it has ended, and is not taken up.
        """
        found = list(heads(self._tracer, session=session))
        runs = (reading(self._tracer, one, self._host.seal.made) for one in found if one.agent == SCIENTIST)
        return next((one for one in runs if one.head.own or not (found[0].own and one.active)), None)

    def _latest(self, problems: list[str]) -> list[Reading]:
        """Return the newest run of each conversation, the latest first."""
        found: dict[str, Head] = {}
        for one in heads(self._tracer, problems):
            held = found.get(one.session)
            better = held is not None and one.agent == SCIENTIST != held.agent and one.own == held.own
            if held is None or better:
                found[one.session] = one
        return list(readings(self._tracer, found.values(), problems, self._host.seal.made))

    def _at(self, found: Reading, at: int | None) -> tuple[Mapping[str, Any], Reading]:
        """Return the world of a conversation at a message, and its run.

        Raises:
            BadInput: There is no such message.
        """
        if at is None and found.world:
            return found.world, found
        for one in heads(self._tracer, session=found.head.session):
            if one.agent == SCIENTIST:
                world = at_message(self._tracer, one.run, at or 0)
                if world is not None:
                    return world, reading(self._tracer, one, self._host.seal.made)
        count = len(found.world.get("messages", ()))
        raise BadInput(f"There is no message {at} to branch at.", fix=f"the conversation has {count} messages.")

    async def _find(self, name: str) -> Reading:
        """Return the run for a name: the run itself, a message's run, or a conversation's newest run.

        Raises:
            BadInput: None, or several.
        """
        return await asyncio.to_thread(self._found, name)

    async def _find_research(self, name: str) -> Reading:
        """Return the run for a name; for a paper or clarification the newest research of its conversation, if any."""
        found = await self._find(name)
        newest = None if found.head.agent == SCIENTIST else await asyncio.to_thread(self._newest, found.head.session)
        return newest or found

    def _found(self, name: str) -> Reading:
        wanted = name.partition(".")[0]
        all_heads = list(heads(self._tracer))
        exact = [one for one in all_heads if wanted in (one.run, one.session)]
        near = exact or [one for one in all_heads if one.run.startswith(wanted) or one.session.startswith(wanted)]
        near = all_heads[:1] if name == LAST else [one for one in near if one.own == near[0].own]  # own ones come first
        if not near:
            if name == LAST:
                raise BadInput("There is no research yet.", fix='`tea research start "..."` begins one.')
            raise BadInput(f"There is no research {name[:80]!r}.", fix="`tea research ls` lists it.")
        if near[0].run == wanted or (not exact and near[0].run.startswith(wanted) and name != LAST):
            chosen = near[0]
        else:
            chosen = next((one for one in near if one.agent == SCIENTIST), near[0])
        if len({one.session for one in near}) > 1:
            raise BadInput(f"Several conversations begin with {wanted[:60]!r}.", fix="write more of the id.")
        return reading(self._tracer, chosen, self._host.seal.made)

    @property
    def _tracer(self) -> Tracer:
        return self._host.tracer

    @property
    def _turns(self) -> Path:
        return self._host.home / "traces" / ".research"


def _choices(choices: Sequence[str]) -> str:
    """Return the accepted answers to the open question in quotes; a rejection includes its feedback."""
    named = (f"'{one}: ' and what shall be otherwise" if one == REJECT else repr(one) for one in choices)
    return " or ".join(named)


def _failures(run: Reading) -> dict[str, str]:
    pending = [one["id"] for one in run.world.get("messages", ()) if one["status"] == "pending"]
    return dict.fromkeys(pending, run.reason)


def _datasets(files: Sequence[str | Path]) -> dict[str, Path]:
    """Return files by name.

    Raises:
        BadInput: One is missing, or too large.
    """
    found = find_files(make_task({"task": "research"}), Path.cwd(), files)
    for name, path in found.items():
        if path.stat().st_size > MOST_FILE:
            raise BadInput(f"{name[:100]!r} is larger than {MOST_FILE // 10**6} MB.", fix="split the file.")
    return found
