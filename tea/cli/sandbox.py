"""The sandbox part of `tea doctor`: the levels of this machine, and whether each holds its claims."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.terminal import one_line, table

if TYPE_CHECKING:
    from tea.sandbox.levels import Sandboxes

_BAD = 2


async def sandbox_facts(sandboxes: "Sandboxes") -> dict[str, Any]:
    """Return the levels, the strongest first, the one in force, and the least accepted one."""
    from tea.sandbox.session import limited_by

    found = await sandboxes.levels()
    levels = [{**asdict(one), "words": one.words()} for one in found]
    least, limits = sandboxes.settings.accepted, await asyncio.to_thread(limited_by)
    return {"in_force": await sandboxes.name(), "least": least, "limits": limits, "levels": levels}


def sandbox_rows(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts as rows for people."""
    rows: list[tuple[str, str]] = []
    for one in data["levels"]:
        marked = " (in force)" if one["name"] == data["in_force"] else ""
        rows.append(("sandbox", f"{one['name']}{marked}: {one_line(one['words'], 200)}"))
    rows.append(("sandbox", f"memory and processes of all levels but rlimits are held by {data['limits']}"))
    none = f"none is as strong as {data['least']}, the least that is accepted, so no code is run"
    return rows if data["in_force"] else [*rows, ("sandbox", none)]


async def check_sandboxes(command: Command, sandboxes: "Sandboxes") -> int:
    """Attack every level present; exit code 2 if one holds less than it claims."""
    from tea.sandbox.check import check

    facts = await sandbox_facts(sandboxes)
    checks: list[dict[str, Any]] = []
    for level in await sandboxes.levels():
        if not level.present:
            continue
        command.tell(f"{level.name}: attacking it; this takes up to a minute.")
        async for one in check(level):
            checks.append({**asdict(one), "agrees": one.agrees})
    wrong = [one for one in checks if not one["agrees"]]
    command.show(_text(facts, checks), {**facts, "checks": checks, "overstated": len(wrong)})
    return _BAD if wrong else 0


def _text(facts: Mapping[str, Any], checks: list[dict[str, Any]]) -> str:
    lines = [table(sandbox_rows(facts))]
    for level in dict.fromkeys(one["level"] for one in checks):
        mine = [one for one in checks if one["level"] == level]
        count = {kind: sum(one["outcome"] == kind for one in mine) for kind in ("held", "broke", "absent")}
        lines.append(
            f"{level}: {len(mine)} cases, {count['held']} held, {count['broke']} broke, {count['absent']} absent"
        )
        lines += [f"  {_line(one)}" for one in mine if one["outcome"] != "held"]
    wrong = sum(not one["agrees"] for one in checks)
    lines.append(f"{wrong} cases break what a level claims." if wrong else "Each level holds what it claims.")
    return "\n".join(lines)


def _line(one: Mapping[str, Any]) -> str:
    if one["outcome"] == "absent":
        return f"absent: {one['words']} ({one_line(one['detail'], 120)})"
    said = f"not claimed ({one['claim']})" if one["agrees"] else f"CLAIMED ({one['claim']})"
    return f"broke, {said}: {one['words']}: {one_line(one['detail'], 120)}"
