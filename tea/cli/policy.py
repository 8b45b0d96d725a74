"""`tea policy`: the rules for calls, the reason of a decision, and the lasting permissions of a person."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.call import given_arguments
from tea.cli.command import Command
from tea.cli.reference import CALLED, find
from tea.cli.terminal import one_line
from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.platform import Platform
    from tea.policy.verdict import Verdict
    from tea.runs.policy import CallRequest

_LINE = 300


async def policy(command: Command) -> None:
    """Show the rules for calls, with the lasting permissions of a person; further commands: check, list, revoke."""
    await list_rules(command)


async def list_rules(command: Command) -> None:
    """List the rules for calls: those of tea.toml, and the destinations allowed for good by a person."""
    async with command.platform() as tea:
        settings, granted = tea.settings.policy, tea.home_trust.granted or not tea.settings.policy.widening
        allowed = await asyncio.to_thread(tea.allowed.list)
    lines = [f"{name} = {said}" for name, said in settings.classes.items()]
    lines += [rule.words for rule in settings.rules]
    lines += [f"destination {pattern}" for pattern in settings.destinations]
    lines += [] if settings.provenance else ["provenance = false"]
    lines = [one_line(line, _LINE) for line in lines]
    if not granted:
        lines.append("What tea.toml allows is not in force: nobody granted it. `tea trust --home` shows it.")
    lines += [one_line(f"{id}  {ref} may always send to {place}", _LINE) for id, ref, place in allowed]
    data = {
        "classes": dict(settings.classes),
        "rules": [rule.to_json() for rule in settings.rules],
        "destinations": list(settings.destinations),
        "provenance": settings.provenance,
        "granted": granted,
        "allowed": [{"id": id, "operation": ref, "destination": place} for id, ref, place in allowed],
    }
    command.show(
        "\n".join(lines) or "The defaults decide: reads and writes are allowed, the rest is asked about.", data
    )


async def revoke(
    command: Command,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As `tea policy list` shows them.")],
) -> None:
    """Withdraw a person's lasting permissions."""
    async with command.platform() as tea:
        known = {id for id, _, _ in await asyncio.to_thread(tea.allowed.list)}
        if unknown := [id for id in ids if id not in known]:
            raise BadInput(f"Nothing is allowed under the id {unknown[0][:40]!r}.", fix="see `tea policy list`.")
        for id in ids:
            await asyncio.to_thread(tea.allowed.revoke, id)
    command.show("\n".join(f"revoked {id}" for id in ids), {"revoked": list(ids)})


async def check(
    command: Command,
    ref: Annotated[str | None, typer.Argument(metavar="[REF]", help="What would be called.")] = None,
    words: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Arguments by name.")] = None,
    arguments: Annotated[str | None, typer.Option("--args", help="All arguments as one JSON object.")] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="A run, to look at one of its calls.")] = None,
    call: Annotated[str | None, typer.Option("--call", metavar="KEY", help="The call of that run.")] = None,
) -> None:
    """Explain the rule deciding on a call, with its reason: of REF with arguments, or of any call of a run's journal.

    For REF it tells the decision before and after untrusted reading. For a call of a run it tells what the branch had
    read then; nothing is performed.
    """
    if (run is None) != (call is None) or (ref is None) == (run is None):
        raise BadInput("No call is named.", fix="give REF with arguments, or --run RUN --call KEY.")
    async with command.platform() as tea:
        if run is not None and call is not None:
            request, verdict = await tea.explain(run, call)
            command.show("\n".join(_lines(request, verdict)), {"call": request.ref, "key": call, **verdict.to_json()})
            return
        if words and arguments is not None:
            raise BadInput("Arguments were given twice.", fix="write NAME=VALUE, or --args JSON.")
        before = await _request(tea, str(ref), words or [], arguments)
        found = {name: await tea.judge(one) for name, one in (("before", before), ("after", _after(before)))}
        lines = [*_lines(before, found["before"]), "After untrusted reading:", *_lines(before, found["after"])[1:]]
    data: Mapping[str, Any] = {"call": before.ref, **{name: one.to_json() for name, one in found.items()}}
    command.show("\n".join(lines), data)


async def _request(tea: "Platform", ref: str, words: list[str], arguments: str | None) -> "CallRequest":
    from tea.runs.call import CallRequest
    from tea.types import Principal

    library, found = await find(tea, ref, CALLED, upto="operation")
    server = {"tool": tea.tcp, "environment": tea.ecp, "agent": tea.acp}[found.kind]
    operation, config = server.operation(found), await library.info(found)
    given = given_arguments(words, arguments, config.operation(operation).parameters)
    request = CallRequest.to(config, operation, Principal(), "", "", tea.sandboxes.settings.way_out.places)
    return request._replace(arguments=given)


def _after(request: "CallRequest") -> "CallRequest":
    from tea.policy.provenance import Known, Source

    return request._replace(known=Known(sources=(Source("read", "something untrusted"),)))


def _lines(request: "CallRequest", verdict: "Verdict") -> list[str]:
    lines = [one_line(request.ref, _LINE), f"  {verdict.decision}: {one_line(verdict.rule, _LINE)}"]
    if verdict.destinations:
        lines.append(f"  goes to: {one_line(', '.join(verdict.destinations), _LINE)}")
    if verdict.unnamed:
        lines.append(f"  named by nobody: {one_line(', '.join(verdict.unnamed), _LINE)}")
    lines += [f"  read before: {one_line(one.words, _LINE)}" for one in verdict.sources]
    if request.traits.scope and verdict.decision != "deny":
        lines.append("  the calls that it makes are decided one by one, and one of them may be asked about")
    return lines
