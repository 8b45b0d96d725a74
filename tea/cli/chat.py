"""`tea chat`: a conversation with agents, on a terminal or line by line for programs."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.ending import about, reason_of
from tea.cli.failure import complain
from tea.cli.left_out import tell_left_out
from tea.cli.lines import Lines, dropped, file_at
from tea.cli.progress import Progress
from tea.cli.run import AllowOption, ToolOption, UseOption
from tea.cli.server import BaseUrlOption, usable_model
from tea.cli.task_input import read_uses
from tea.cli.terminal import (
    SENDER,
    answer_text,
    brief,
    counted,
    document,
    folded,
    one_line,
    painted,
    say,
    shown,
    table,
    write,
)
from tea.errors import BadInput, BudgetExceeded, CallFailed, Interrupted, TeaError

if TYPE_CHECKING:
    from tea.chat.chat import Chat, Sending
    from tea.chat.transcript import Listed, Turn
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

_WORDS, _FURTHER = 70, "\n   "
DEBATE = "debate"
SEVERAL = (
    "the line names {names}, so it goes to {who}, as before; begin a line with one of them to speak to it, or with "
    "@debate to have them argue"
)
_SETTLED = {"yes": "was carried out", "no": "was not carried out", "unknown": ""}
_HELP = """Write to the agent; @name addresses another. A path in a line gives the file to the conversation.
/file PATH   give a file with the next line     /agents      list the agents
/history     show the turns so far              /agent NAME  speak to another agent
/continue    go on with a turn that was stopped /new         begin another conversation
/fork [N]    go on from turn N in a new one     /quit        leave; `tea chat --resume last` comes back"""


async def chat(
    command: Command,
    agent: Annotated[
        str | None, typer.Option("--agent", help="Who is spoken to first: the planner if left out.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Which model answers.")] = None,
    base_url: BaseUrlOption = None,
    session: Annotated[str | None, typer.Option("--session", help="Its name; one that exists is gone on with.")] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="CHAT", help='Go on with one: its id, a beginning of it, or "last".'),
    ] = None,
    fork: Annotated[
        str | None, typer.Option("--fork", metavar="CHAT", help="Begin a new one with the turns of another.")
    ] = None,
    at: Annotated[int | None, typer.Option("--at", min=1, help="With --fork, the last turn to keep.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the conversations, and end.")] = False,
    file: Annotated[list[Path] | None, typer.Option("--file", "-f", help="A file to work on; repeatable.")] = None,
    tool: ToolOption = None,
    allow: AllowOption = None,
    use: UseOption = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", help="Most model calls of an agent's turn.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", help="Most US dollars of an agent's turn.")] = None,
    seconds: Annotated[float | None, typer.Option("--timeout", help="Most seconds of an agent's turn.")] = None,
) -> int:
    """Talk with agents: each line of standard input is a turn, and each turn a replayable run.

    Answers go to standard output, progress to standard error. Ctrl-C stops the turn, not the conversation; `/help`
    tells the commands. With --json each turn is one line of JSON.
    """
    if sum(one is not None for one in (session, resume, fork)) > 1:
        raise BadInput("--session, --resume and --fork exclude each other.", fix="give one of them.")
    if at is not None and fork is None:
        raise BadInput("--at needs --fork.", fix="name the conversation with --fork.")
    budget = {"steps": max_steps, "usd": max_cost, "seconds": seconds}
    options: dict[str, Any] = {
        "also": tool,
        "allow": allow,
        "use": read_uses(use or ()),
        "budget": {name: value for name, value in budget.items() if value is not None},
    }
    chosen = {name: value for name, value in options.items() if value}
    async with command.platform() as tea:
        if listing:
            return await _list(command, tea)
        tell_left_out(command, tea)
        if (answering := usable_model(tea, base_url, model)) is not None:
            chosen["model"] = answering
        return await _Talk(command, tea, await _opened(tea, session, resume, fork, at, agent, chosen), chosen).hold(
            file or []
        )


async def _opened(
    tea: "Platform",
    session: str | None,
    resume: str | None,
    fork: str | None,
    at: int | None,
    agent: str | None,
    options: dict[str, Any],
) -> "Chat":
    """Return the conversation asked for, with the agent asked for."""
    from tea.chat.chat import Chat

    if (name := resume or fork) is not None:
        session = await Chat.find(tea, name)
    chat = tea.chat(session, **options)
    chat = chat if fork is None else await chat.fork(at)
    if agent is not None:
        await chat.address(agent)
    return chat


async def _list(command: Command, tea: "Platform") -> int:
    from tea.chat.chat import Chat

    problems: list[str] = []
    found = await Chat.listed(tea, problems)
    rows = [(one.session, one.time, f"{one.turns}", one.agent, _about(one)) for one in found]
    data = [
        {"session": one.session, "time": one.time, "turns": one.turns, "agent": one.agent, "line": one.line}
        | {"forked": one.forked}
        for one in found
    ]
    text = table([("chat", "last", "turns", "agent", "began with"), *rows]) if rows else "There is no conversation yet."
    command.show(text, {"chats": data, "problems": problems})
    for problem in problems:
        command.tell(f"skipped {one_line(problem, 250)}")
    return 0


def _about(outcome: "Listed") -> str:
    return brief(f"{outcome.line} (from {outcome.forked})" if outcome.forked else outcome.line, _WORDS)


@dataclass(slots=True)
class _Talk:
    """The conversation at one terminal, or of one program."""

    command: Command
    tea: "Platform"
    chat: "Chat"
    options: dict[str, Any]
    files: list[Path] = field(default_factory=list[Path])
    code: int = 0
    asked: set[str] = field(default_factory=set[str])
    person: Lines | None = None

    async def hold(self, files: list[Path]) -> int:
        """Process lines until the end of the input, and return the exit code: for a pipe its last turn's."""
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise BadInput("There is no standard input.", fix="pipe lines into `tea chat`.")
        lines = Lines(sys.stdin.fileno())
        self.person = lines if sys.stdin.isatty() else None
        self.files += files
        await self._greet()
        while True:
            if self.person is not None:
                write(painted(f"{await self.chat.agent()}> ", "bold", sys.stderr), sys.stderr)
            line = await lines.next()
            if line is None or line.strip() == "/quit":
                return self.code if self.person is None else 0
            if line.strip():
                await self._take(line.strip())

    async def _greet(self) -> None:
        turns = await self.chat.turns()
        so_far = f"{counted(len(turns), 'turn')} so far" if turns else "/help tells the commands"
        self.command.tell(f"chat: {self.chat.session} ({so_far})")
        if turns and turns[-1].status in ("interrupted", "waiting"):
            said = "" if turns[-1].parts[-1].own else SENDER
            self.command.tell(f"the last turn was {turns[-1].status}{said}: /continue goes on with it")

    async def _take(self, line: str) -> None:
        """Process a line, a command or a turn; report a failure, and continue the conversation."""
        try:
            if line.startswith("/") and (act := self._command(line)) is not None:
                await act
            else:
                await self._say(line)
        except TeaError as error:
            self.code = self.command.fail(error, {"session": self.chat.session})

    def _command(self, line: str) -> Awaitable[None] | None:
        """Return the coroutine of a command, None for a line beginning with the path of a file."""
        name, _, rest = line[1:].partition(" ")
        acts: dict[str, Callable[[str], Coroutine[Any, Any, None]]] = {
            "help": self._help,
            "agents": self._agents,
            "agent": self._agent,
            "file": self._file,
            "files": self._file,
            "new": self._new,
            "fork": self._fork,
            "history": self._history,
            "continue": self._continue,
        }
        if name not in acts:
            if dropped(line, Path.cwd())[1]:
                return None
            raise BadInput(f"There is no command /{name[:40]}.", fix="`/help` tells them all.")
        return acts[name](rest.strip())

    async def _help(self, _: str) -> None:
        self.command.show(_HELP, {"help": _HELP})

    async def _agents(self, _: str) -> None:
        agents, now = await self.chat.agents(), await self.chat.agent()
        rows = [(f"{'*' if name == now else ' '} @{name}", about) for name, about in sorted(agents.items())]
        self.command.show(table(rows), {"agents": agents, "agent": now})

    async def _agent(self, name: str) -> None:
        await self.chat.address(name.removeprefix("@"))
        now = await self.chat.agent()
        self.command.tell(f"@{now} is spoken to")
        self.command.show("", {"agent": now})

    async def _file(self, text: str) -> None:
        """Attach a file to the next line; without a path, list the attached files."""
        if text:
            path = file_at(text, Path.cwd())
            paths = dropped(text, Path.cwd())[1] if path is None else [path]
            if not paths:
                raise BadInput(f"There is no file {text[-80:]!r}.", fix="check its path.")
            self.files += paths
        self.command.tell(f"files: {one_line(', '.join(map(str, self.files)), 400) or 'none'}")

    async def _new(self, _: str) -> None:
        self.chat, self.files = self.tea.chat(**self.options), []
        await self._greet()

    async def _fork(self, at: str) -> None:
        if at and not at.isdecimal():
            raise BadInput(f"{at[:40]!r} is not a turn number.", fix="`/history` shows the turns.")
        self.chat = await self.chat.fork(int(at) if at else None)
        await self._greet()

    async def _history(self, _: str) -> None:
        turns = await self.chat.turns()
        lines = [line for turn in turns for line in _turn_lines(turn)]
        text = "\n".join(lines) or "Nothing was said yet."
        self.command.show(text, {"session": self.chat.session, "turns": [turn.to_json() for turn in turns]})

    async def _continue(self, _: str) -> None:
        await self._carry_out(lambda progress: self.chat.proceed(watch=progress))

    async def _say(self, line: str) -> None:
        words, found = dropped(line, Path.cwd())
        for name in await self.chat.unknown(words):
            self.command.tell(f"there is no agent @{one_line(name, 70)}; /agents lists them")
        if (several := await self.chat.named_together(words)) and (who := await self.chat.agent()) != DEBATE:
            names = " and ".join(f"@{one}" for one in several)
            self.command.tell(SEVERAL.format(names=one_line(names, 300), who=one_line(who, 70)))
        if words.startswith("@") and not words.partition(" ")[2].strip():
            await self._agent(words)
            return
        files, self.files = list(dict.fromkeys([*self.files, *found])), []
        for path in found:
            self.command.tell(f"file: {one_line(str(path), 300)}")
        if self.person is not None:
            await self._ask_about_uncertain(self.person)
        await self._carry_out(lambda progress: self.chat.send(words, files=files, watch=progress))

    async def _carry_out(self, begin: "Callable[[Progress], Sending]") -> None:
        """Run a turn and show its end; Ctrl-C stops the turn."""
        progress = Progress(self.command)
        try:
            turn = await _stoppable(begin(progress))
        finally:
            progress.close()
        if turn is None:
            turns = await self.chat.turns()
            run = turns[-1].run if turns else progress.run  # a continued turn begins no run of its own
            stopped = f"The turn was stopped; the run {run} is kept."
            data = {"session": self.chat.session, **(turns[-1].to_json() if turns else {})}
            fix = "`/continue` goes on with it, or say something else."
            self.code = self.command.fail(Interrupted(stopped, fix=fix, run=run), data)
            return
        self._show(turn)

    def _show(self, turn: "Turn") -> None:
        fault = _fault(self.command, turn)
        self.code = 0 if fault is None else fault.exit_code
        if self.command.as_json:
            error = None if fault is None else fault.record()
            say(document({"session": self.chat.session, **turn.to_json(), **_left(turn), "error": error}))
            return
        for part in turn.parts:
            if part.handoff is not None:
                handed = f"{part.agent} hands over to {part.handoff}: {part.handed or part.task}"
                self.command.tell(painted(one_line(handed, 300), "cyan", sys.stderr))
        if turn.answer not in (None, ""):
            say(answer_text(turn.answer, sys.stdout))
        if fault is not None:
            complain(fault)
        for outcome in _outcomes(turn):
            for told in about(outcome, self.command.at, whole=bool(self.command.verbose)):
                self.command.tell(told)
        self.command.tell(painted(f"trace: tea trace {turn.run}{self.command.at}", "dim", sys.stderr))

    async def _ask_about_uncertain(self, lines: Lines) -> None:
        """Ask whether the calls in flight of a stopped turn were carried out, to tell the next agent."""
        turns = await self.chat.turns()
        if not turns or not turns[-1].uncertain or turns[-1].run in self.asked:
            return
        self.asked.add(turns[-1].run)
        notes: list[str] = []
        for call in turns[-1].uncertain:
            lines.forget()
            words = f"{one_line(call)} was in flight{'' if turns[-1].parts[-1].own else SENDER}: was it carried out?"
            question = folded(f"{words} [yes / no / unknown] > ", sys.stderr)
            answer = None
            while answer not in _SETTLED:
                write(question, sys.stderr)
                answer = (await lines.next() or "unknown").strip().lower()
            if said := _SETTLED[answer]:
                notes.append(f"{call} {said}.")
        self.chat.note(" ".join(notes))


async def _stoppable(turn: "Sending") -> "Turn | None":
    """Return a turn, None if Ctrl-C stopped it; a second one ends the command."""

    async def whole() -> "Turn":
        return await turn

    loop, work = asyncio.get_running_loop(), asyncio.ensure_future(whole())
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        loop.call_soon_threadsafe(work.cancel)

    signal.signal(signal.SIGINT, stop)
    try:
        await asyncio.wait({work})
        return None if work.cancelled() else work.result()
    finally:
        signal.signal(signal.SIGINT, before)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


def _fault(command: Command, turn: "Turn") -> TeaError | None:
    """Return the reason for a turn's failure, as an error."""
    if turn.ok:
        return None
    fix = f"`tea trace {turn.run}{command.at}` shows what was tried."
    if turn.status == "exhausted":
        return BudgetExceeded(
            f"The budget was exhausted first{reason_of(turn)}",
            fix="raise it, for example with --max-steps.",
        )
    return CallFailed(f"The turn did not succeed{reason_of(turn)}", fix=fix)


def _outcomes(turn: "Turn") -> "list[Outcome]":
    """Return the ends of a turn's runs, in order."""
    return [part.outcome for part in turn.parts if part.outcome is not None]


def _left(turn: "Turn") -> dict[str, Any]:
    """Return a turn's evidence and gaps, and the paths of its report and files, for programs."""
    ends = _outcomes(turn)
    return {
        "evidence": [one.model_dump(mode="json") for end in ends for one in end.evidence],
        "gaps": [gap for end in ends for gap in end.gaps],
        "report": next((str(end.report) for end in reversed(ends) if end.report is not None), None),
        "files": [str(end.trace / "workspace" / name) for end in ends for name in end.files],
    }


def _turn_lines(turn: "Turn") -> list[str]:
    """Return a turn as lines for a person; continued lines are indented, so they cannot look like another turn."""
    remark = f"(remark{'' if turn.parts[0].own else SENDER})"
    said = [f"{turn.number}. {one_line(one.who or remark)}: {shown(one.text)}" for one in turn.said()]
    return [one.replace("\n", _FURTHER) for one in said]
