"""Chat: a conversation of a person with agents; each turn is one run, or several after handovers between agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from tea.chat.transcript import Listed, Part, Turn, history_of, listed, part_of, parts_of, sessions_of, turns_of
from tea.chat.words import addressed, named_together, require_addressee, unknown_mentions
from tea.errors import BadInput
from tea.journal.header import Talk, TaskFile
from tea.journal.record import as_mapping
from tea.journal.recorder import Event, Watcher
from tea.journal.tracer import LAST, Tracer, new_run_id
from tea.kernel.key import run_and_key
from tea.memory.manager import MemoryManager
from tea.protocols.acp import ACPServer
from tea.refs import Ref, check_session
from tea.registry.row import CONVERSATION, INTERNAL
from tea.runs.outcome import Outcome
from tea.runs.task_file import find_files, make_task
from tea.source.seal import Seal
from tea.store.workspaces import FileWorkspaces
from tea.waiting import streamed

MOST_HANDOFFS = 10  # in one turn
MOST_FILES = 1_000
FIRST_AGENT = "planner"


class Host(Protocol):
    """The platform of a conversation."""

    @property
    def home(self) -> Path:
        """The folder of the registry and the journals."""
        ...

    @property
    def tracer(self) -> Tracer:
        """The reader of its journals."""
        ...

    @property
    def memory(self) -> MemoryManager:
        """The manager of its memory."""
        ...

    @property
    def seal(self) -> Seal:
        """The maker of this account's marks."""
        ...

    @property
    def acp(self) -> ACPServer:
        """The server of its agents."""
        ...

    async def execute(self, task: TaskFile, files: Mapping[str, Path], watch: Watcher | None = None) -> Outcome:
        """Run a task."""
        ...

    async def resume(
        self, run: str, *, answers: Mapping[str, str] | None = None, watch: Watcher | None = None
    ) -> Outcome:
        """Resume a run."""
        ...


class Sending:
    """A turn in progress: await it for the turn, or iterate over its events, with the turn at the end.

    Args:
        work: Carries the turn out, telling a watcher.
        watch: Told of each record beside the iteration.
    """

    def __init__(self, work: Callable[[Watcher | None], Coroutine[Any, Any, Turn]], watch: Watcher | None) -> None:
        self._work, self._watch = work, watch

    def __await__(self) -> Generator[Any, None, Turn]:
        """Run the turn."""
        return self._work(self._watch).__await__()

    def __aiter__(self) -> AsyncGenerator[Event | Turn]:
        """Yield the events of the turn as they happen, and the turn; closing it early stops the turn."""

        def work(tell: Watcher) -> Coroutine[Any, Any, Turn]:
            def watch(event: Event) -> None:
                tell(event)
                if self._watch is not None:
                    self._watch(event)

            return self._work(watch)

        return streamed(work)


class Chat:
    """A conversation: a session to be listed, continued and forked.

    Nothing is written before its first turn. A turn that was interrupted, by a cancellation or with its process, is
    gone on with by `proceed`, or left as it is by the next line.

    Args:
        host: The platform.
        session: Its id, an own one by default; one that exists is taken up where it stands.
        agent: Who is spoken to first: the last agent of a session that exists, else the planner.
        options: Further keys of the task file for each turn, for example `model` or `budget`.

    Example:
        chat = platform.chat()
        turn = await chat.send("How many rows has it?", files=["data.csv"])
        async for event in chat.send("And how many columns?"):
            ...
    """

    def __init__(
        self, host: Host, session: str | None = None, agent: str | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        self.session: str = check_session(session) or f"chat-{new_run_id()[:16]}"
        self._host, self._options = host, dict(options or {})
        make_task({"task": "chat", **self._options})
        self._agent = None if agent is None else Ref.parse(agent, kind="agent").name
        self._known: dict[str, Part] | None = None if session is not None else {}
        self._base: tuple[Part, ...] = ()
        self._note = ""
        self._sending = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Read the turns recorded so far."""
        await self._parts()
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Close the conversation; every turn is in its journal."""

    async def __aiter__(self) -> AsyncIterator[Turn]:
        """Yield its turns so far, oldest first."""
        for turn in await self.turns():
            yield turn

    async def turns(self) -> list[Turn]:
        """Return its turns, oldest first, those inherited from a forked one included.

        Raises:
            StorageError: A journal of it cannot be read.
        """
        return turns_of([*self._base, *await self._parts()])

    async def agent(self) -> str:
        """Return the name of the agent to receive the next line if it addresses no other."""
        if self._agent is None:
            parts = [*self._base, *await self._parts()]
            self._agent = parts[-1].agent if parts else FIRST_AGENT
            handed = parts[-1].handoff or "" if parts else ""
            if handed in await self._names():  # else it is a text of any form
                self._agent = handed
        return self._agent

    async def agents(self) -> dict[str, str]:
        """Return the descriptions of the agents to talk with, by name; those for a command alone are left out."""
        hidden = {*INTERNAL} - {CONVERSATION}
        return {one.name: one.description for one in await self._host.acp.manager.list() if one.category not in hidden}

    async def _names(self) -> set[str]:
        """Return the names of all agents; any of them can be addressed."""
        return {one.name for one in await self._host.acp.manager.list()}

    async def unknown(self, line: str) -> list[str]:
        """Return the names mentioned within a line and held by no agent.

        Raises:
            UnknownComponent: It begins with `@name` of no agent; the fix names the nearest.
        """
        names = await self._names()
        require_addressee(line, names, await self.agents())
        return unknown_mentions(line, names)

    async def named_together(self, line: str) -> list[str]:
        """Return the names of several agents in a line addressed to none of them; none for other lines."""
        return named_together(line, await self._names())

    async def address(self, agent: str) -> None:
        """Send the next lines to an agent.

        Raises:
            UnknownComponent: There is none of that name.
        """
        self._agent = (await self._host.acp.info(agent)).name

    def note(self, text: str) -> None:
        """Add a note for the next agent to the next line, e.g. about a call in flight when the turn before ended."""
        self._note = text

    def send(self, line: str, *, files: Sequence[str | Path] = (), watch: Watcher | None = None) -> Sending:
        """Run a turn: await it, or iterate over its events.

        Args:
            line: The words of the person; `@name` addresses an agent, who is also spoken to from then on, but not
                where a line names several together.
            files: Files that are added to those of the conversation.
            watch: Told of each record.

        Raises:
            BadTask: The line is empty or too long, or a file cannot be used; nothing is written.
            UnknownComponent: It begins with `@name` of no agent; nothing is written.
            ApprovalNeeded: A call waits for a person; `proceed` goes on after the answer.
            TeaError: A run could not be carried out; what it did is in its journal.
        """
        return Sending(lambda watcher: self._send(line, files, watcher), watch)

    def proceed(self, *, answers: Mapping[str, str] | None = None, watch: Watcher | None = None) -> Sending:
        """Continue the last turn, if it was interrupted or waits: await it, or iterate over its events.

        A call in flight that is not idempotent is asked about before it is made again.

        Args:
            answers: By the key of the call that waits: `allow`, `deny`, or text in place of its result.
            watch: Told of each record.

        Raises:
            BadInput: The last turn has ended.
        """
        return Sending(lambda watcher: self._continue_run(answers, watcher), watch)

    async def fork(self, at: int | None = None) -> Chat:
        """Return a new conversation continuing after a turn of this one; this one is not changed.

        It begins with the history, the files, the agents' memory and their states of that moment.

        Args:
            at: Number of the last turn to keep; all turns by default.

        Raises:
            BadInput: There is no such turn.
        """
        parts = [*self._base, *await self._parts()]
        kept = tuple(one for one in parts if at is None or one.talk.turn <= at)
        if not kept or (at is not None and kept[-1].talk.turn != at):
            numbers = sorted({one.talk.turn for one in parts})
            problem = f"The conversation {self.session} has no turn {at or ''}".rstrip()
            fix = f"its turns are {numbers[0]} to {numbers[-1]}." if numbers else "say something first."
            raise BadInput(f"{problem}.", fix=fix)
        new = Chat(self._host, options=self._options)
        new._base = kept
        return new

    @staticmethod
    async def listed(host: Host, problems: list[str]) -> list[Listed]:
        """Return all conversations of a platform, the latest first; add unreadable ones to `problems`."""
        return await asyncio.to_thread(listed, host.tracer, problems)

    @staticmethod
    async def find(host: Host, name: str) -> str:
        """Return the conversation with the given id, unique beginning of an id, or `last`.

        Raises:
            BadInput: None or several fit.
        """
        if name == LAST and (chats := await asyncio.to_thread(sessions_of, host.tracer)):
            return chats[await asyncio.to_thread(host.tracer.last, [*chats])]
        names = [one.session for one in await Chat.listed(host, [])]
        found = [one for one in names if one.startswith(name)]
        if name in names:
            return name
        if len(found) == 1:
            return found[0]
        count = len(found) or "No"
        problem = (
            "There is no conversation yet." if name == LAST else f"{count} conversations begin with {name[:80]!r}."
        )
        raise BadInput(problem, fix="`tea chat --list` lists them.")

    async def _send(self, line: str, files: Sequence[str | Path], watch: Watcher | None) -> Turn:
        async with self._sending:
            await self.unknown(line)
            agent, words = addressed(line, await self._names())
            agent = agent or await self.agent()
            before = [*self._base, *await self._parts()]
            number = before[-1].talk.turn + 1 if before else 1
            given = await asyncio.to_thread(find_files, make_task({"task": "chat"}), Path.cwd(), files)
            talk = Talk(turn=number, note=self._note, forked=self._forked())
            self._agent = agent
            part = await self._run(agent, words, talk, given, watch)
            self._note = ""
            return await self._followed(part, watch)

    async def _continue_run(self, answers: Mapping[str, str] | None, watch: Watcher | None) -> Turn:
        async with self._sending:
            parts = await self._parts()
            if not parts or turns_of(parts)[-1].status not in ("waiting", "interrupted"):
                raise BadInput("The last turn has ended.", fix="say something new.")
            part = parts[-1]
            if part.open:
                part = await self._read(await self._host.resume(part.run, answers=answers, watch=watch))
            return await self._followed(part, watch)

    async def _followed(self, part: Part, watch: Watcher | None) -> Turn:
        """Start the agents of a chain of handovers one after the other, and return the turn at its end."""
        known = await self._names()
        while part.handoff is not None:
            talk = part.talk
            fault = ""
            if talk.hop >= MOST_HANDOFFS:
                fault = f"The agents handed over more than {MOST_HANDOFFS} times."
            elif part.handoff not in known:
                fault = f"{part.agent} hands over to {part.handoff[:80]!r}, and there is no such agent."
            if fault:
                self._agent = part.agent
                return replace(await self._last(), status="failed", reason=fault)
            line = talk.line or part.task
            elsewhere = talk.elsewhere or not part.own
            after = Talk(turn=talk.turn, hop=talk.hop + 1, line=line, elsewhere=elsewhere)
            part = await self._run(part.handoff, part.handed or part.task, after, {}, watch)
        self._agent = part.agent
        return await self._last()

    async def _last(self) -> Turn:
        return turns_of(await self._parts())[-1]

    async def _run(self, agent: str, text: str, talk: Talk, files: Mapping[str, Path], watch: Watcher | None) -> Part:
        """Execute one run of a turn."""
        before = [*self._base, *await self._parts()]
        carried = {} if not before else await asyncio.to_thread(self._carried, before[-1])
        given = dict(
            [*files.items(), *((name, path) for name, path in carried.items() if name not in files)][:MOST_FILES]
        )
        placed = talk.model_copy(update={"history": history_of(before)})
        task = make_task({**self._options, "task": text, "agent": agent, "session": self.session})
        task = task.model_copy(update={"talk": placed})
        if self._base and not await self._parts():
            await asyncio.to_thread(self._inherit)
        begun: list[str] = []

        def see(event: Event) -> None:
            if event.kind == "run":
                begun.append(str(as_mapping(as_mapping(event.data)["setting"])["run"]))
                self._begun(begun[-1], agent, text, placed)
            if watch is not None:
                watch(event)

        return await self._read(await self._host.execute(task, given, see))

    def _begun(self, run: str, agent: str, text: str, talk: Talk) -> None:
        """Store a run as interrupted until its end is read."""
        assert self._known is not None
        self._known[run] = Part(run=run, session=self.session, time="", agent=agent, task=text, talk=talk, own=True)

    def _inherit(self) -> None:
        """Give a fork its own copy of the memory of the turns it keeps."""
        runs = {one.run for one in self._base}
        origin = self._base[-1].session

        def choose(changes: Sequence[str]) -> list[str | None]:
            return [one if run_and_key(one)[0] in runs else None for one in changes]

        owners = sorted({f"agent:{one.agent}" for one in self._base})
        self._host.memory.inherit(origin, self.session, owners, choose)

    def _forked(self) -> str:
        return f"{self._base[-1].session}@{self._base[-1].talk.turn}" if self._base else ""

    def _carried(self, part: Part) -> dict[str, Path]:
        """Return the files left by a run to the next: its given ones, and those written beside them."""
        kept = FileWorkspaces(self._host.home / "traces")
        folder = kept.path(part.run)
        names = [*part.inputs, *sorted(one.name for one in folder.iterdir())] if folder.is_dir() else []
        return kept.carried(part.run, [name for name in names if not name.startswith(".")])

    async def _parts(self) -> list[Part]:
        """Return the parts of this conversation; read the unfinished ones again."""
        if self._known is None:
            found = await asyncio.to_thread(parts_of, self._host.tracer, self.session, self._host.seal.made)
            self._known = {one.run: one for one in found}
        for run in [run for run, one in self._known.items() if one.open]:
            if (part := await asyncio.to_thread(self._part, run)) is not None:
                self._known[run] = part
        return list(self._known.values())

    async def _read(self, outcome: Outcome) -> Part:
        assert self._known is not None
        part = await asyncio.to_thread(self._part, outcome.run)
        assert part is not None
        self._known[outcome.run] = replace(part, outcome=outcome)
        return self._known[outcome.run]

    def _part(self, run: str) -> Part | None:
        return part_of(self._host.tracer, run, self._host.seal.made)
