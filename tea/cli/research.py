"""`tea research`: a scientist's cycle on a question, over iterations, hours and interruptions."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import quote
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tea.cli.command import Command
from tea.cli.ending import reason_of
from tea.cli.failure import complain
from tea.cli.inbox import DECIDE, DECISIONS, asks_for_plan, question_lines
from tea.cli.left_out import tell_left_out
from tea.cli.progress import Progress
from tea.cli.server import BaseUrlOption, usable_model
from tea.cli.terminal import answer_text, brief, folded, one_line, painted, review, say, shown, table
from tea.components.files import files_in
from tea.errors import ApprovalNeeded, BadInput, BadOutput, CallFailed, Interrupted, TeaError, error_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tea.platform import Platform
    from tea.research.research import Started
    from tea.research.status import Status

FAMILY = """Research a question over iterations, hours and interruptions; alone, list the conversations.

`start` begins a conversation or goes on with it, `status` shows it with its last reply, `answer` gives what it asks.
`clarify` asks first, and has a plan approved. ID is the id of a conversation, run or message, a beginning of it, or
"last".
"""
_REPLY = re.compile(r"reply-[0-9a-f]+\.md")  # holds what is printed as the reply
_MOST_WARNINGS = 3
_WORDS = 70
_PLAN = f" ({' / '.join(DECISIONS)})"
_ASKED = "| "  # before the lines of a plan or a reply, none of which looks like a line that tea adds
_KINDS = {"research_clarify": "clarification", "research_paper": "paper"}
ResearchArgument = Annotated[
    str, typer.Argument(metavar="ID", help='A conversation, run or message, a beginning of its id, or "last".')
]
ModelOption = Annotated[str | None, typer.Option("--model", help="Which model answers; by default the conversation's.")]
FilesOption = Annotated[list[Path] | None, typer.Option("--file", "-f", help="A dataset; repeatable.")]


async def ls(command: Command) -> None:
    """List the conversations of research, the latest first."""
    problems: list[str] = []
    async with command.platform() as tea:
        found = await tea.research.list(problems)
    rows = [
        (one.conversation, one.status, one.mode or "-", f"{one.iteration}", brief(one.title, _WORDS)) for one in found
    ]
    text = table([("conversation", "status", "mode", "iteration", "about"), *rows]) if rows else "There is no research."
    command.show(text, {"conversations": [_brief(one) for one in found], "problems": problems})
    for problem in problems:
        command.tell(f"skipped {one_line(problem, 250)}")


async def start(
    command: Command,
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="What to find out, or what shall be done next; else of `clarify`."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            help="steering: one iteration, then you decide; semi (default): up to 5 if it makes sense; full: up to 20.",
        ),
    ] = None,
    file: FilesOption = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help='Go on with one, or "last"; or name a new one.')
    ] = None,
    clarification: Annotated[
        str | None, typer.Option("--clarification", metavar="ID", help="Use the approved plan of `clarify`.")
    ] = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", help="Most model calls.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", help="Most US dollars.")] = None,
    seconds: Annotated[float | None, typer.Option("--timeout", help="Most seconds.")] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Only create the run; `tea research resume` does the work.")
    ] = False,
) -> int:
    """Research a question: plan, read and analyse, suppose, reflect, discover, decide, reply; then again.

    Where the conversation is being researched already, nothing is started: the answer names the run at work, which is
    taken up if its process died. Ctrl-C keeps what was done; `tea research resume` goes on.
    """
    budget = {"steps": max_steps, "usd": max_cost, "seconds": seconds}
    given = {name: value for name, value in budget.items() if value is not None}
    async with command.platform() as tea:
        tell_left_out(command, tea)
        options = {**_answering(tea, base_url, model), **({"budget": given} if given else {})}
        asked = question if question is not None else await _clarified(tea, clarification)
        begun = await tea.research.start(
            asked, mode=mode, files=file or (), conversation=conversation, clarification=clarification, **options
        )
        _tell_start(command, begun)
        waiting = begun.status == "waiting"
        if detach or begun.held or waiting:
            command.show(begun.message, begun.to_json())
            if not begun.held:
                command.tell(f"to go on: tea research {'status' if waiting else 'resume'} {begun.run}")
            return 0
        return await _driven(command, tea, begun.run, begun.to_json())


async def clarify(
    command: Command,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What the research shall find out.")],
    file: FilesOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
) -> int:
    """Answer questions and approve a plan before a research begins; `start --clarification ID` uses it."""
    async with command.platform() as tea:
        tell_left_out(command, tea)
        begun = await tea.research.clarify(question, files=file or (), **_answering(tea, base_url, model))
        command.tell(f"clarification: {begun.run}")
        return await _driven(command, tea, begun.run, begun.to_json())


async def status(command: Command, research: ResearchArgument = "last") -> int:
    """Tell the status of a research, with its last reply."""
    async with command.platform() as tea:
        found = await tea.research.status(research)
    command.show(_status_lines(found, tea.home), found.to_json())
    return 0


async def tell(
    command: Command,
    research: ResearchArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to tell it.")],
) -> None:
    """Tell a research at work something; it is taken at the next boundary of its cycle."""
    async with command.platform() as tea:
        found = await tea.research.status(research)
        if found.status in ("completed", "failed"):
            fix = f'`tea research start "..." --conversation {found.conversation}` goes on with it.'
            raise BadInput(f"The run {found.run} has ended.", fix=fix)
        run = found.run
        number = await tea.research.tell(run, text)
        held = await asyncio.to_thread(tea.tracer.store.held, run)
    command.show(f"told run {run}: message {number}", {"message": number, "run": run, "held": held})
    if not (held or command.as_json):
        command.tell(f"nobody works on it now: tea research resume {run}")


async def answer(
    command: Command,
    research: ResearchArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The answer; of a plan `approve` or `reject: WHY`.")],
    feedback: Annotated[
        str | None, typer.Option("--feedback", help="With `reject`: what shall be otherwise (required).")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", help="Which question, where there are several.")] = None,
) -> int:
    """Answer the open question of a research, and go on."""
    async with command.platform() as tea:
        tell_left_out(command, tea)
        progress, run = Progress(command), (await tea.research.status(research)).run
        async with _stoppable(command, tea, progress, run):
            if feedback is not None or text == "reject":
                found = await tea.research.reject(research, feedback or "", watch=progress)
            else:
                found = await tea.research.answer(research, text, key=key, watch=progress)
    return _conclude(command, found, tea.home, {})


async def ask(
    command: Command,
    research: ResearchArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A quick question.")],
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
) -> int:
    """Ask a quick question beside the research: at most ten calls, and no iteration."""
    async with command.platform() as tea:
        tell_left_out(command, tea)
        progress = Progress(command)
        try:
            options = _answering(tea, base_url, model)
            turn = await tea.research.ask(research, question, watch=progress, **options)
        finally:
            progress.close()
    command.show(answer_text(turn.answer, sys.stdout), turn.to_json())
    if not turn.ok:
        problem = f"There is no answer{reason_of(turn)}"
        complain(CallFailed(problem, fix=f"`tea trace {turn.run}` shows what was tried."))
    return 0 if turn.ok else 1


async def branch(
    command: Command,
    research: ResearchArgument,
    at: Annotated[
        int | None,
        typer.Option("--at", min=1, help="Last message to copy: questions and replies are numbered alike, from 1."),
    ] = None,
) -> None:
    """Copy a conversation up to a message into a new one; nothing is started in it."""
    async with command.platform() as tea:
        made = await tea.research.branch(research, at)
    command.show(made.conversation, made.to_json())
    command.tell(f'to go on: tea research start "..." --conversation {made.conversation}')


async def paper(
    command: Command, research: ResearchArgument, model: ModelOption = None, base_url: BaseUrlOption = None
) -> int:
    """Write a paper on the findings of a research: PDF, and its sources."""
    async with command.platform() as tea:
        tell_left_out(command, tea)
        begun = await tea.research.paper(research, **_answering(tea, base_url, model))
        code = await _driven(command, tea, begun.run, begun.to_json())
        made: dict[str, Any] = (await tea.research.status(begun.run)).answer if code == 0 else {}
    if made and (count := made["doubts"]):
        command.tell(f"{count} mark{'s' * (count > 1)} [?]: values or citations not found in the sources")
    return code


async def resume(
    command: Command,
    research: Annotated[str | None, typer.Argument(metavar="[ID]", help="One research alone; else all.")] = None,
) -> int:
    """Resume the research of a dead process, and bring it to its end."""
    async with command.platform() as tea:
        tell_left_out(command, tea)
        progress = Progress(command)
        async with _stoppable(command, tea, progress, ""):
            found = await tea.research.resume(research, watch=progress)
    command.show(
        "\n".join(_status_lines(one, tea.home) for one in found), {"taken_up": [one.to_json() for one in found]}
    )
    if not found:
        command.tell("There is nothing to take up.")
    return max((_code(one) for one in found), default=0)


async def _clarified(tea: "Platform", clarification: str | None) -> str:
    """Return the question of a clarification.

    Raises:
        BadInput: None is named, or another account may have written its question, which counts as typed in the new run.
    """
    fix = 'say what to find out: tea research start "..."'
    if clarification is None:
        raise BadInput("There is no question.", fix=f"{fix}.")
    found = await tea.research.status(clarification)
    if not found.own:
        problem = f"The question of the clarification {found.run} was not asked on this account."
        raise BadInput(problem, fix=f"{fix} --clarification {found.run}.")
    return found.question


def _answering(tea: "Platform", base_url: str | None, model: str | None) -> dict[str, Any]:
    """Return the option naming the model, empty for the configured one."""
    name = usable_model(tea, base_url, model)
    return {} if name is None else {"model": name}


async def _driven(command: Command, tea: "Platform", run: str, more: dict[str, Any]) -> int:
    progress = Progress(command, run)
    async with _stoppable(command, tea, progress, run):
        found = await tea.research.drive(run, watch=progress)
    return _conclude(command, found, tea.home, more)


@asynccontextmanager
async def _stoppable(command: Command, tea: "Platform", progress: Progress, run: str) -> AsyncGenerator[None]:
    """Turn a stop, or a question to the person, into a message on how to go on.

    Raises:
        ApprovalNeeded: The run waits for an answer.
        Interrupted: It was stopped.
    """
    try:
        yield
    except ApprovalNeeded as error:
        progress.close()
        named, problem = error.run or run, error.problem
        is_plan = any(map(asks_for_plan, (await tea.research.status(named)).questions))
        if is_plan and not command.as_json:
            plan = folded(review(problem.removesuffix(_PLAN)), sys.stdout, len(_ASKED))
            say(indent(plan, _ASKED, bool))
            problem = "The plan waits for your decision."
        fix = f"tea research answer {named} {DECIDE if is_plan else 'TEXT'}"
        raise ApprovalNeeded(problem, fix=fix, run=named) from None
    except asyncio.CancelledError:
        named = progress.run or run
        fix = f"`tea research resume {named}` goes on with it."
        raise Interrupted(f"Interrupted; the research {named} is kept.", fix=fix, run=named) from None
    finally:
        progress.close()


def _tell_start(command: Command, begun: "Started") -> None:
    if begun.recovered:
        command.tell(f"the run {begun.recovered} was given up as stale")
    at_work = f"{begun.status}, nothing new is started" if begun.deduplicated else begun.status
    command.tell(f"research: {begun.conversation} (message {begun.message}, {at_work})")


def _conclude(command: Command, found: "Status", home: Path, more: dict[str, Any]) -> int:
    fault = _fault(found)
    if command.as_json:
        command.show("", {**more, **found.to_json(), "error": fault.record() if fault else None})
        return _code(found)
    text = found.reply["text"] if found.reply is not None else _result_words(found.answer)
    if text not in (None, ""):
        say(answer_text(text, sys.stdout))
    for line in [*_failed_lines(found), *_doubt_lines(found), *_file_lines(found, home, "files: ")]:
        command.tell(line)
    if fault is not None:
        complain(fault)
    further = f"start --clarification {found.run}" if _is_plan(found.answer) else f"status {found.conversation}"
    command.tell(painted(f"{further.split()[0]}: tea research {further}", "dim", sys.stderr))
    return _code(found)


def _is_plan(answer: Any) -> bool:
    return isinstance(answer, dict) and "tasks" in answer


def _result_words(answer: Any) -> Any:
    """Return the result of a run without a reply, for people: an approved plan, or the title of a paper."""
    if not isinstance(answer, dict):
        return answer
    found = cast("dict[str, Any]", answer)
    if not _is_plan(found):
        return found.get("title", found)
    from tea.research.conversation import objective_line

    tasks = [
        f"{number}. {one['type']}: {objective_line(one['objective'])}" for number, one in enumerate(found["tasks"], 1)
    ]
    return "\n".join([f"Approved: {objective_line(found['objective'])}", *tasks])


def _failed_lines(found: "Status") -> list[str]:
    """Describe the failed tasks of the last level, in a line each."""
    level = found.state.get("level", -1)
    failed = [one for one in found.tasks if one["level"] == level and one["error"]]
    return [f"task {one_line(str(one['id']), _WORDS)} failed: {one_line(one['error'], 300)}" for one in failed]


def _doubt_lines(found: "Status") -> list[str]:
    """Describe the doubtful values and missing files of a reply, in a line each."""
    about = found.reply or {}
    count, missing = len(about.get("doubts", ())), about.get("missing", ())
    lines = [f"{count} value{'s' if count > 1 else ''} not found in the cited sources, marked [?]"] if count else []
    lines += [f"cited files are not there: {one_line(', '.join(missing), 300)}"] if missing else []
    return [*lines, *(f"the research says: {one_line(one, 300)}" for one in _warnings(found))]


def _warnings(found: "Status") -> list[str]:
    """Return the latest warnings of a research, each once."""
    given: list[str] = found.state.get("warnings", [])
    return list(dict.fromkeys(given))[-_MOST_WARNINGS:]


def _fault(found: "Status") -> TeaError | None:
    if found.status != "failed":
        return None
    if found.fault is not None:
        is_unreadable = found.fault["code"] == BadOutput.__name__  # its remedy is for an agent that called this one
        return error_from({**found.fault, "fix": _again(found)} if is_unreadable else found.fault)
    fix = f"`tea trace {found.run}` shows what was tried; another start goes on from what is known."
    return CallFailed(f"The research failed, {_reason_of(found)}", fix=fix)


def _again(found: "Status") -> str:
    """Return the remedy after answers of a model in a wrong form: the command to try again."""
    words = {"research_paper": "paper {}", "research_clarify": 'clarify "..."'}
    command = words.get(found.agent, 'start "..." --conversation {}').format(found.conversation)
    return f"`tea research {command}` tries again from what is known; `--model NAME` asks another model."


def _reason_of(found: "Status") -> str:
    """Return the reason for a failure, with its author unless it is an error of tea."""
    return found.error if found.fault is not None else f"as its agent says: {found.error}"


def _code(found: "Status") -> int:
    fault = _fault(found)
    return 0 if fault is None else fault.exit_code


def _file_lines(found: "Status", home: Path, label: str) -> list[str]:
    """Name the paper of a run, or the files of its tasks and others written beside them, with their folder."""
    from tea.store.workspaces import FileWorkspaces

    folders = FileWorkspaces(home / "traces")
    folder = folders.path(found.run)
    made = cast("list[str]", found.answer["files"]) if found.agent == "research_paper" and found.answer else []
    names: list[str] = [*made, *(name for one in found.tasks for name in one["artifacts"])]
    if found.tasks and not made:
        given = {str(name) for name in found.state.get("datasets", ())}
        beside = (name for name, _ in files_in(folder) if name.partition("/")[0].removesuffix(".d") not in given)
        names += [name for name in beside if not _REPLY.fullmatch(name)]
    there = folders.inside(found.run, dict.fromkeys(names)) if names else {}
    return [f"{label}{one_line(', '.join(there), 300)}, in {one_line(str(folder))}"] if there else []


def _status_lines(found: "Status", home: Path) -> str:
    """Return the status of a research, for people."""
    lines = [
        f"conversation  {one_line(found.conversation)}",
        f"message       {one_line(found.message)}",
        f"status        {found.status}{f': {one_line(found.phase, _WORDS)}' if found.phase else ''}",
        _mode_line(found),
    ]
    if found.title:
        lines.append(f"about         {one_line(found.title, 200)}")
    if found.error:
        lines.append(f"error         {one_line(_reason_of(found), 300)}")
    if found.stale:
        lines.append(f"stale         {one_line(found.stale, 300)}; another start gives it up")
    for text in found.unanswered:
        lines.append(f"you said      {one_line(text, 300)} (no reply yet)")
    lines += _question_lines(found)
    if found.status in ("queued", "interrupted"):
        lines.append(f"to go on      tea research resume {found.run}")
    for task in found.tasks:
        words = f"{one_line(str(task['id']), _WORDS)} {_state_of(task)}: {one_line(task['objective'], 120)}"
        lines.append(f"task          {words}")
    lines += [f"hypothesis    {one_line(found.hypothesis, 400)}"] if found.hypothesis else []
    lines += [f"warning       {one_line(one, 300)}" for one in _warnings(found)]
    for number, claim in enumerate(found.discoveries, 1):
        lines.append(f"discovery {number:<3} {one_line(claim, 300)}")
    lines += _file_lines(found, home, "files         ")
    return "\n".join([*lines, *_result_lines(found)])


def _mode_line(found: "Status") -> str:
    if found.agent in _KINDS:
        return f"kind          {_KINDS[found.agent]}"
    counts = f"iteration {found.iteration} of this run, {found.rounds} in all"
    return f"mode          {one_line(found.mode, _WORDS) or '-'}, {counts}"


def _question_lines(found: "Status") -> list[str]:
    """Describe the open questions as `tea inbox` does, and how each is answered."""
    lines: list[str] = []
    for one in found.questions:
        key = f" --key {quote(one.key)}" if found.questions[1:] else ""
        text = "allow" if one.call else DECIDE if asks_for_plan(one) else "TEXT"
        lines += question_lines(one, f"tea research answer {found.run}{key} {text}")
    return lines


def _state_of(task: "Mapping[str, Any]") -> str:
    if task["error"]:
        return f"failed ({one_line(task['error'], 120)})"
    return "done" if task["end"] else "working" if task["start"] else "planned"


def _result_lines(found: "Status") -> list[str]:
    """Return the result of a run, with an empty line before it; of one at work the last reply of its conversation."""
    if found.agent in _KINDS:
        return ["", _quoted(_result_words(found.answer))] if found.answer else []
    if found.latest is None:
        return []
    number = one_line(str(found.latest["number"]))
    earlier = [] if found.latest is found.reply else [f"last reply, message {number}:", ""]
    return ["", *earlier, _quoted(found.latest["text"])]


def _quoted(result: object) -> str:
    """Return a reviewed result with a mark before each of its lines: none looks like a fact, or a command."""
    return indent(shown(result), _ASKED, lambda _: True)


def _brief(found: "Status") -> dict[str, Any]:
    names = ("conversation", "run", "message", "status", "mode", "iteration", "phase", "error")
    return {**{name: getattr(found, name) for name in names}, "title": found.title}
