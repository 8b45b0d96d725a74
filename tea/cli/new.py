"""`tea new`: a tool, agent or workflow made from words."""

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.ending import conclude, cost_words, interruptible
from tea.cli.progress import Progress
from tea.cli.server import BaseUrlOption, usable_model
from tea.cli.terminal import one_line
from tea.errors import BadInput, ProviderError
from tea.refs import Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tea.components.manifest import Manifest
    from tea.platform import Platform
    from tea.types import JsonObject

MAKERS = {"tool": "tool_generator", "agent": "agent_generator", "workflow": "agent_generator"}
_STEPS = 60
_USED = {"tool": "--tool", "agent": "--agent"}  # options of `tea run`
_OF_FILES = re.compile(
    r"\b(?:csv|tsv|xlsx|excel|spreadsheets?|(?:given|named|two|all|each|every) files?)\b", re.IGNORECASE
)
_HOW = {"new": "made", "version": "improved", "reused": "there already:"}


async def new(
    command: Command,
    kind: Annotated[str, typer.Argument(metavar="tool|agent|workflow", help="What to make.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What it should do.")],
    model: Annotated[str | None, typer.Option("--model", help="Which model drafts, tests and judges it.")] = None,
    base_url: BaseUrlOption = None,
    file: Annotated[list[Path] | None, typer.Option("--file", "-f", help="A file it is tried on; repeatable.")] = None,
) -> int:
    """Have a model write a tool, an agent or a workflow; test it, and register it as untrusted.

    What is drafted has to pass tests made from the words alone. It runs in the sandbox until it was read and
    `tea trust` said so.
    """
    if kind not in MAKERS:
        raise BadInput(f"{kind[:40]!r} cannot be made from words.", fix=f"name one of {', '.join(MAKERS)}.")
    if not words.strip():
        raise BadInput("The description is empty.", fix="describe it in a sentence or two.")
    async with command.platform() as tea:
        model = usable_model(tea, base_url, model)
        _require_model(tea, model, MAKERS[kind])
        if not file and (lacking := _lacking(words)):
            command.tell(f"{lacking}: give a file to try it on with --file, else its tests have none.")
        progress = Progress(command)
        options: dict[str, Any] = {"model": model} if model else {}
        text = words if kind != "workflow" else f"A workflow of fixed steps: {words}"
        async with interruptible(command, progress):
            outcome = await tea.run(
                text, files=file or (), agent=MAKERS[kind], watch=progress, budget={"steps": _STEPS}, **options
            )
        found = await asyncio.to_thread(_adopted, tea, outcome.run)
        made = [await tea.libraries[one.kind].info(one) for one in map(Ref.parse, found.get("refs", ()))]
    if not outcome.ok or not made:
        return conclude(command, outcome)
    data = {"how": found["how"], "run": outcome.run, "made": [_facts(one) for one in made]}
    command.show("\n".join(_lines(made, str(found["how"]), command.at)), data)
    command.tell(f"trace: tea trace {outcome.run}{command.at} ({cost_words(outcome.cost)})")
    return 0


def _lacking(words: str) -> str:
    """Return words on the files read by a wish, empty if it seems to read none."""
    from tea.loop.naming import file_names, to_be_written

    names = [name for name in dict.fromkeys(file_names(words)) if name not in to_be_written(words)]
    if names:
        return f"the description names {one_line(', '.join(names), 120)}, and no file was given"
    return "the description speaks of files, and none was given" if _OF_FILES.search(words) else ""


def _adopted(tea: "Platform", run: str) -> "JsonObject":
    """Return the last adoption in a run, empty for none."""
    from tea.journal.record import as_mapping
    from tea.types import as_object

    keys: set[str] = set()
    found: JsonObject = {}
    for record in tea.tracer.records(run):
        data = as_mapping(record.data)
        if record.kind == "start" and data.get("kind") == "generated" and str(data.get("target")).startswith("adopt"):
            keys.add(record.key)
        elif record.kind == "done" and record.key in keys:
            found = as_object(data.get("data"))
    return found


def _lines(made: "Sequence[Manifest]", how: str, at: str) -> list[str]:
    """Return the registered component, its tests, and how to trust it or take it back."""
    lines: list[str] = []
    for one in made:
        lines += [
            f"{_HOW[how]} {one.ref}  {one.digest}",
            f"  says of itself: {one_line(one.description.partition(chr(10))[0])}",
        ]
    tests = "says of its tests" if how == "reused" else "passed"  # those of a reused one may be its sender's word
    lines += [f"  {tests}: {one_line(_test_words(test), 160)}" for test in made[-1].lineage.tests]
    last = made[-1]
    use = f'tea run "TASK" {_USED[last.kind]} {last.name}{at}' if last.kind in _USED else ""
    if how == "reused":
        return [*lines, f"to use it:   {use}"] if use else lines
    waits = any(one.kind == "prompt" for one in made)  # an untrusted prompt is never used
    lines += [f"to use it:   {use}"] if use and not waits else []
    names = [str(one.ref.at(None)) for one in made]
    for name in names:
        lines += [f"to trust it: tea show {name} --source{at}", f"  after that: tea trust {name}{at}"]
    lines += [f"then use it: {use}"] if use and waits else []
    undo = "rollback" if how == "version" else "unregister"
    return [*lines, *(f"to undo it:  tea {undo} {name}{at}" for name in names)]


def _test_words(test: "JsonObject") -> str:
    if "task" in test:
        return f"{test['task']} -> {test.get('wanted', '')}"
    from tea.journal.record import as_mapping

    given = as_mapping(test.get("arguments")).items()  # of a version of somebody else in any form
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given)
    wanted = "an error" if test.get("fails") else json.dumps(test.get("returns"), ensure_ascii=False)
    return f"{arguments} -> {wanted}"


def _facts(one: "Manifest") -> "JsonObject":
    return {"ref": str(one.ref), "digest": one.digest, "tests": list(one.lineage.tests)}


def _require_model(tea: "Platform", model: str | None, agent: str) -> None:
    """Raise ProviderError if nothing but the offline solvers would answer."""
    if tea.models.config(model, agent).name == "offline":
        fix = "name one with --model, or set it up as `tea models` shows."
        raise ProviderError("No model is configured, and a draft from words needs one.", fix=fix)
