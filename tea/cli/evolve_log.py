"""`tea evolve log`: the proposals for a component, and the decisions on them."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tea.characters import in_sentence
from tea.cli.command import Command
from tea.cli.fields import fields
from tea.cli.terminal import SENDER, one_line
from tea.errors import ResourceExhausted, StorageError
from tea.refs import SESSION, Ref, is_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tea.platform import Platform
    from tea.types import JsonObject

_SIDES = 2  # evaluations compared by one command


async def evolve_log(
    command: Command, ref: Annotated[str, typer.Argument(metavar="REF", help="A component: `kind:name`.")]
) -> None:
    """Show every proposal for a component: strategy, verdict, evidence and version, the oldest first.

    What this account did not write, as in a home from elsewhere, is shown as its sender says.
    """
    async with command.platform() as tea:
        name = str(Ref.parse(ref).at(None))
        await tea.libraries[Ref.parse(ref).kind].info(name)
        problems: list[str] = []
        found = await asyncio.to_thread(_lines, tea, name, problems)
        parents = {
            one.version: one.lineage.parent or ""
            for one in await tea.libraries[Ref.parse(ref).kind].history(Ref.parse(name).name)
            if is_version(one.lineage.parent or "")  # else it is what a sender says
        }
    shown = [line for one in found for line in (_text(one, name), _evidence(one, name, parents)) if line]
    text = "\n".join(shown) or "nothing was proposed for it yet"
    command.show(text, {"proposals": found, "problems": problems})
    for problem in problems:
        command.tell(f"skipped {one_line(problem, 250)}")


def _lines(tea: "Platform", name: str, problems: list[str]) -> "list[JsonObject]":
    """Return the lines of all readable campaigns about a component, by time; append errors of others to `problems`.

    `own` says of each whether this account wrote it.
    """
    from tea.evaluate.ledger import is_own
    from tea.source.seal import unmarked
    from tea.store.evaluations import read_ledger

    lines: list[JsonObject] = []
    for path in sorted((tea.home / "traces" / "evolution" / "ledgers").glob("*.jsonl")):
        try:
            lines += ({**unmarked(one), "own": is_own(path.stem, one, tea.seal)} for one in read_ledger(path))
        except ResourceExhausted:
            raise
        except StorageError as error:
            problems.append(error.problem)
    decided = {_candidate(one) for one in lines if one.get("what") == "verdict"}
    about = [
        one for one in lines
        if one.get("what") in ("refused", "test", "verdict")
        and name in fields(fields(one.get("proposal")).get("changes"))
        and (one.get("what") != "test" or _candidate(one) not in decided)
    ]  # fmt: skip
    return sorted(about, key=lambda one: str(one.get("time")))


def _candidate(line: "JsonObject") -> tuple[str, str, bool]:
    """Return the candidate of a line, by its campaign, its digest and whether this account wrote it."""
    return str(line.get("campaign")), str(line.get("digest")), bool(line["own"])


def _text(line: "JsonObject", name: str) -> str:
    from tea.journal.form import ODD

    try:
        return one_line(_words(line, name), 400) + ("" if line["own"] else SENDER)
    except ODD as error:
        return one_line(f"a line of the ledger cannot be read: {type(error).__name__} {error}", 200)


def _evidence(line: "JsonObject", name: str, parents: "Mapping[str, str]") -> str:
    """Return in one line the commands for the change, for the runs behind a decision, and for the proposing run.

    What is not the name of a run or an evaluation would look like a further command there, and is left out.
    """
    version, run = str(fields(line.get("use")).get(name, "")), str(fields(line.get("proposal")).get("run") or "")
    found: object = fields(line.get("verdict")).get("evaluations")
    evaluations = [str(one) for one in cast("list[object]", found)] if isinstance(found, list) else []
    evaluations = evaluations if all(map(SESSION.fullmatch, evaluations)) else []
    parts = [f"tea diff {name}@{parents[version]} {version}"] if version in parents else []
    parts += [f"tea eval diff {' '.join(evaluations)}"] if len(evaluations) == _SIDES else []
    parts += [f"tea trace {run}"] if SESSION.fullmatch(run) else []
    more = f"evaluations {' '.join(evaluations)}" if len(evaluations) > _SIDES else ""
    words = ", ".join([*(f"`{one}`" for one in parts), *([more] if more else [])])
    return f"    {one_line(words, 400)}{'' if line['own'] else SENDER}" if words else ""


def _words(line: "JsonObject", name: str) -> str:
    proposal: Any = line["proposal"]
    time, strategy, campaign = map(in_sentence, (str(line["time"])[:19], str(line["strategy"]), str(line["campaign"])))
    head = f"{time}  {strategy}  campaign {campaign}"
    if line["what"] == "refused":
        return f"{head}  refused: {line['reason']}"
    if line["what"] == "test":
        return f"{head}  test {line['test']}  {name}@{fields(line['use']).get(name, '?')}  not decided yet"
    verdict: Any = line["verdict"]
    said = "accepted" if verdict["accepted"] else "rejected"
    version = fields(line["use"]).get(name, "?")
    words = f"{head}  test {verdict['test']}  {name}@{version}  {said}: {verdict['reason']}"
    figures = f"gain {100 * verdict['gain']:+.1f} points, p {verdict['p']:.2g} at {verdict['level']:.2g}"
    return f"{words}; {figures}; {in_sentence(str(proposal['why']))}"
