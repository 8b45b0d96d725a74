"""`tea run`: working on a task now."""

import asyncio
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.ending import conclude, interruptible
from tea.cli.learning import learned
from tea.cli.left_out import tell_left_out
from tea.cli.progress import Progress
from tea.cli.server import LOCAL, BaseUrlOption, named, usable_model
from tea.cli.task_input import Additions, names_file, read_input, read_settings, read_uses, separate
from tea.cli.terminal import one_line
from tea.errors import BadInput
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.journal.header import TaskFile
    from tea.platform import Platform


UseOption = Annotated[
    list[str] | None, typer.Option("--use", metavar="KIND:NAME=VERSION", help="A version to use; repeatable.")
]

ToolOption = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="NAME", help="A tool to offer beside the agent's own; repeatable."),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="NAME", help="What may act beyond the workspace unasked; repeatable."),
]

PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="RULE",
        help="What calls may do: external=deny, NAME=ask, NAME(ARGUMENT=PATTERN)=allow; repeatable.",
    ),
]


WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="NAME,..", help="Agents, tools or environments to switch off; repeatable."),
]


ReflectOption = Annotated[
    int, typer.Option("--reflect", metavar="N", min=0, max=10, help="Most looks at an answer before it counts.")
]
EvolveOption = Annotated[
    bool, typer.Option("--evolve", help="Mend an own component that fails, once and for this run only.")
]
AttemptsOption = Annotated[
    int | None,
    typer.Option("--attempts", metavar="N", min=1, max=16, help="Work on it N times, and judge."),
]
SuccessiveOption = Annotated[
    bool, typer.Option("--successive", help="Begin each attempt from what the one before left, not side by side.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="AGENT.NAME=VALUE", help="A setting of an agent, such as debate.rounds=5; repeatable."
    ),
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Offer no solutions of earlier tasks.")]


async def run(
    command: Command,
    task: Annotated[str, typer.Argument(metavar="TASK", help='A task file, a question, or "-" for standard input.')],
    file: Annotated[list[Path] | None, typer.Option("--file", "-f", help="A file to work on; repeatable.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Who works on it: the planner if left out.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Which model answers: a configuration, or provider/model.")
    ] = None,
    base_url: BaseUrlOption = None,
    tool: ToolOption = None,
    allow: AllowOption = None,
    policy: PolicyOption = None,
    without: WithoutOption = None,
    session: Annotated[str | None, typer.Option("--session", help="The session it belongs to.")] = None,
    use: UseOption = None,
    locked: Annotated[
        bool, typer.Option("--locked", help="Use exactly the versions of tea.lock, and nothing else.")
    ] = False,
    max_steps: Annotated[int | None, typer.Option("--max-steps", help="Most model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="Most tokens of all model calls.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", help="Most US dollars.")] = None,
    unknown_price: Annotated[
        bool, typer.Option("--allow-unknown-price", help="With --max-cost, let models without a known price answer.")
    ] = False,
    seconds: Annotated[float | None, typer.Option("--timeout", help="Most seconds.")] = None,
    reflect: ReflectOption = 0,
    attempts: AttemptsOption = None,
    successive: SuccessiveOption = False,
    setting: SetOption = None,
    evolve: EvolveOption = False,
    fresh: FreshOption = False,
) -> int:
    """Run a task: a task file (JSON), or a question with its files.

    The answer goes to standard output, progress to standard error. Ctrl-C keeps what was done; `tea resume` goes on.
    """
    _check({"--max-cost": max_cost, "--timeout": seconds})
    options = {"agent": agent, "model": named(base_url, model), "session": session, "fresh": fresh or None}
    options |= {"reflect": reflect or None, "evolve": evolve or None, "attempts": attempts}
    options |= {"successive": successive or None, "settings": read_settings(setting or ()) or None}
    budget = {"steps": max_steps, "seconds": seconds, "tokens": max_tokens, "usd": max_cost} | _price(unknown_price)
    added = Additions(
        files=file or (),
        options=_given(options),
        budget=_given(budget),
        use=read_uses(use or ()),
        names={"also": tool or (), "allow": allow or (), "without": separate(without or ())},
    )
    read, files = await asyncio.to_thread(read_input, task, added)
    if names_file(task) and not task.endswith(".json"):  # a folder of others may hold a file that is called like words
        command.tell(f"tea: {one_line(repr(task), 200)} is a file here, so it is read as a task file.")
    async with command.platform() as tea:
        usable_model(tea, base_url, model)
        read = await _checked(command, tea, read, locked=locked)
        progress = Progress(command, opening=_opening(command, tea, read))
        async with interruptible(command, progress):
            outcome = await tea.execute(read, files, progress, locked=locked, rules=policy or ())
            outcome, more = await learned(command, tea, outcome, read, progress)
    return conclude(command, outcome, **more)


def _check(limits: Mapping[str, float | None]) -> None:
    """Raise BadInput for a limit other than a number.

    Raises:
        BadInput: It is refused.
    """
    for flag, value in limits.items():
        if value is not None and not math.isfinite(value):
            raise BadInput(f"{flag} {value} is not a limit.", fix="write a number, or leave it out.")


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _price(unknown: bool) -> dict[str, bool]:
    return {"unknown_price": True} if unknown else {}


async def _checked(command: Command, tea: "Platform", task: "TaskFile", *, locked: bool) -> "TaskFile":
    """Check the names switched off by a task, and return it, with the versions of the lock file if asked for.

    Raises:
        BadInput: The task wants another version than the lock file.
        UnknownComponent: A version of the lock file, or a name that is switched off, is missing.
    """
    if task.without:
        from tea.protocols.switched_off import check_switched_off

        await check_switched_off(tea.libraries, task.without)
    return await _locked(command, tea, task) if locked else task


async def _locked(command: Command, tea: "Platform", task: "TaskFile") -> "TaskFile":
    """Return the task with the versions of the lock file, and report the components in its agent's reach it lacks.

    Raises:
        BadInput: The task wants another version.
        UnknownComponent: A version of the lock file is missing.
    """
    from tea.protocols.lock import LOCK_FILE, Lock, lacking, verify

    lock = await asyncio.to_thread(Lock.read, tea.home / LOCK_FILE)
    for name, selector in task.use.items():
        one = lock.components.get(name)
        if one is None or selector not in (one.version, one.digest):
            problem = f"The task uses {name}@{selector[:80]}, and the lock file {one.version if one else 'none'}."
            raise BadInput(problem, fix="leave it out, or lock again with `tea lock`.")
    await verify(lock, tea.libraries)
    agent = Ref.parse(task.agent, kind="agent").at(None)
    if str(agent) in lock.components and (missing := await lacking(lock, tea.libraries, agent)):
        command.tell(
            one_line(
                f"tea: {LOCK_FILE} leaves out {', '.join(missing)}: the run ends where it needs one. "
                f"`tea lock {agent}` locks all that {agent} can reach.",
                300,
            )
        )
    return task.model_copy(update={"use": lock.use})


def _opening(command: Command, tea: "Platform", task: "TaskFile") -> str:
    """Report omitted settings; return the model in use, and advice if none was chosen and none is configured."""
    tell_left_out(command, tea)
    if task.model is None and tea.settings.model is None and tea.models.default == "offline":
        return "tea: no model is configured: offline solvers answer, see `tea doctor`."
    chosen = tea.models.config(task.model, Ref.parse(task.agent, kind="agent").name)
    named = chosen.model if chosen.name == LOCAL and chosen.model else chosen.name
    return f"tea: the model {named!r} answers."
