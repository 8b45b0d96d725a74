"""`tea history`: every version of a component."""

import asyncio
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.terminal import SENDER, table

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.registry.head import Head


async def history(command: Command, ref: RefArgument) -> None:
    """Show every version of a component, oldest first.

    `*` marks the current one; `-v` adds who changed what.
    """
    async with command.platform() as tea:
        library, found = await find(tea, ref, upto="component")
        versions: list[Manifest] = await library.history(found.name)
        current = (await library.info(found.at(None))).version
        changes = await asyncio.to_thread(tea.versions.heads, found.kind, found.name)
        ours = await asyncio.to_thread(lambda: {one.version for one in versions if library.recorded_here(one)})
    name = f"{found.kind}:{found.name}"
    head = changes[-1] if changes else None
    text = _versions(versions, current, head, ours) + (_changes(changes) if command.verbose else "")
    data = {"ref": name, "current": current, "versions": [_data(one, ours) for one in versions]}
    command.show(text, {**data, "changes": [{"number": one.number, **one.to_json()} for one in changes]})


def _versions(versions: "list[Manifest]", current: str, head: "Head | None", ours: set[str]) -> str:
    marks = dict(head.states) if head else {}
    aliases: dict[str, str] = {}
    for tag, version in sorted(head.aliases.items()) if head else ():
        aliases[version] = f"{aliases.get(version, '')} {tag}".strip()
    rows = [
        (
            "*" if one.version == current else " ",
            one.version,
            one.created or "not stored yet",
            one.lineage.how + ("" if one.version in ours else SENDER),
            " ".join(word for word in (marks.get(one.version, ""), aliases.get(one.version, ""), one.reason) if word),
        )
        for one in versions
    ]
    return table(rows)


def _changes(changes: "list[Head]") -> str:
    rows = [(f"{one.number}", one.time, one.author, one.current or "none", one.reason) for one in changes]
    return "\n\nchanges as the registry tells them: number, time, author, current version, reason\n" + table(rows)


def _data(one: "Manifest", ours: set[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {"version": one.version, "digest": one.digest, "created": one.created, "reason": one.reason}
    facts["recorded_here"] = one.version in ours
    return {**facts, "how": one.lineage.how, "parent": one.lineage.parent, "run": one.lineage.run}
