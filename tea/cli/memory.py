"""`tea memory`: the insights of agents in sessions, with the evidence for and against each."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.terminal import one_line
from tea.errors import BadInput, ResourceExhausted, StorageError

if TYPE_CHECKING:
    from tea.memory.insights import Insight
    from tea.platform import Platform
    from tea.types import JsonObject

SessionOption = Annotated[str | None, typer.Option("--session", help="Only what this session holds.")]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="An insight: its id, or a beginning of it.")]


async def ls(command: Command, session: SessionOption = None) -> None:
    """List the insights of all sessions: id, uses, confirmed and contradicted by outcomes, and the text.

    An insight is forgotten when a person says so, when at least three tasks that were told it failed and more than
    twice as many as succeeded, or when fifty tasks in a row did without it.
    """
    async with command.platform() as tea:
        problems: list[str] = []
        found = await asyncio.to_thread(_insights, tea, session, problems)
    data = {"insights": [one.to_json() for one in found], "problems": problems}
    command.show("\n".join(map(_line, found)) or "nothing was learned yet", data)
    for problem in problems:
        command.tell(f"skipped {one_line(problem, 250)}")


async def show(command: Command, insight: IdArgument, session: SessionOption = None) -> None:
    """Show an insight: text, source, uses, and whether it is still told."""
    async with command.platform() as tea:
        found = await asyncio.to_thread(_named, tea, insight, session)
    lines = [f"{name}: {one_line(str(value))}" for one in found for name, value in one.to_json().items() if value != ""]
    command.show("\n".join(lines), {"insights": [one.to_json() for one in found]})


async def forget(
    command: Command,
    insight: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="An insight; it is told again if recorded again.")
    ] = None,
    session: SessionOption = None,
) -> None:
    """Forget an insight; or with --session alone, permanently everything remembered in the session."""
    async with command.platform() as tea:
        if insight is None:
            if session is None:
                raise BadInput(
                    "No insight and no session is named.", fix="name an insight, or a session with --session."
                )
            events = await asyncio.to_thread(tea.memory.events, session)
            if not events and not await asyncio.to_thread(tea.environments.holds, session):
                raise _nothing(session)
            await asyncio.to_thread(tea.memory.forget, {session})
            return command.show(f"forgot {len(events)} events of the session {session}", {"events": len(events)})
        found = await asyncio.to_thread(_named, tea, insight, session)
        for one in found:
            await asyncio.to_thread(tea.memory.drop, one.session, one.id)
    return command.show("\n".join(f"forgot {one.id}" for one in found), {"forgotten": [one.id for one in found]})


async def export(
    command: Command,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; standard output if left out.")
    ] = None,
    session: SessionOption = None,
) -> None:
    """Export all events of sessions as JSON lines, each with its session; insights with their counts at the end."""
    from tea.store.bulk import write_whole

    async with command.platform() as tea:
        lines = await asyncio.to_thread(_exported, tea, session)
    text = "".join(f"{line}\n" for line in lines)
    if file is None:
        return command.show(text.rstrip("\n"), {"lines": len(lines), "text": text})
    await asyncio.to_thread(write_whole, file, text.encode())
    return command.show(f"wrote {len(lines)} lines to {file}", {"lines": len(lines), "file": str(file)})


def _insights(tea: "Platform", session: str | None, problems: list[str] | None = None) -> "list[Insight]":
    """Return the insights of a session, or of all; append errors of unreadable ones to `problems`."""
    if session is not None:
        _events(tea, session)
        return tea.memory.learned(session)
    found: list[Insight] = []
    for name in tea.memory.sessions():
        try:
            found += tea.memory.learned(name)
        except ResourceExhausted:
            raise
        except StorageError as error:
            if problems is None:
                raise
            problems.append(error.problem)
    return found


def _events(tea: "Platform", session: str) -> "list[JsonObject]":
    """Return the events of a session.

    Raises:
        BadInput: It has none.
    """
    if session not in tea.memory.sessions():
        raise _nothing(session)
    return tea.memory.events(session)


def _nothing(session: str) -> BadInput:
    return BadInput(
        f"No session {session[:60]!r} remembers anything.", fix="`tea memory ls` lists the insights of all sessions."
    )


def _named(tea: "Platform", insight: str, session: str | None) -> "list[Insight]":
    """Return an insight, once for each session with it.

    Raises:
        BadInput: There is none, or the beginning of an id stands for several.
    """
    found = [one for one in _insights(tea, session) if insight and one.id.startswith(insight)]
    if not found:
        raise BadInput(f"There is no insight {insight[:60]!r}.", fix="`tea memory ls` shows them.")
    if len({one.id for one in found}) > 1:
        raise BadInput(f"{insight[:60]!r} is the beginning of several ids.", fix="write more of it.")
    return found


def _exported(tea: "Platform", session: str | None) -> list[str]:
    from tea.store.strict import dumps

    sessions = tea.memory.sessions() if session is None else [session]
    events = [{"session": name, **one} for name in sessions for one in _events(tea, name)]
    learned = [{"insight": one.to_json()} for one in _insights(tea, session)]
    return [dumps(one).decode() for one in (*events, *learned)]


def _line(one: "Insight") -> str:
    figures = f"{one.id}  used {one.uses}, confirmed {one.confirmed}, contradicted {one.contradicted}"
    gone = f"(forgotten: {one.forgotten}) " if one.forgotten else ""  # before a text of any length
    return one_line(f"{figures}  {gone}{one.agent}: {one.text}", 300)
