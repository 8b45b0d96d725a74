"""`tea tools usage`: reuse of tools made by agents, and whether they help."""

import asyncio
from typing import TYPE_CHECKING

from tea.cli.command import Command
from tea.cli.terminal import table

if TYPE_CHECKING:
    from tea.platform import Platform
    from tea.retrieval.reuse import Made, Reuse


async def usage(command: Command) -> None:
    """Show the tools made by agents: how often other runs call them, and how those runs end.

    Counted from journals by lineage, all versions of a tool together; the run that made one does not count. `net` is
    the share of runs with it that ended well, less that of runs since without it whose tasks are like those that it
    served: half of their words or more are the same.
    """
    from tea.retrieval.reuse import reuse_of, run_facts

    async with command.platform() as tea:
        made = await generated(tea)
        runs = await asyncio.to_thread(run_facts, tea.tracer) if made else []
    found = reuse_of(made, runs)
    again = sum(one.runs > 0 for one in found)
    lines = [table([_HEAD, *map(_row, found)]), f"{again} of {len(found)} used again"] if found else []
    command.show("\n".join(lines) or "no tool was made by an agent", {"tools": [one.to_json() for one in found]})


async def generated(tea: "Platform") -> "list[Made]":
    """Return the generated tools of a home."""
    from tea.retrieval.reuse import Made

    found: list[Made] = []
    for row in await tea.tcp.list(state=None):
        versions = (
            [one for one in await tea.tcp.history(row.name) if one.lineage.how == "generator"] if row.version else []
        )
        if versions:
            runs = frozenset(one.lineage.run for one in versions if one.lineage.run)
            created = min(one.created for one in versions)
            found.append(
                Made(
                    name=row.name, version=row.version, versions=len(versions), created=created,
                    runs=runs, trusted=row.trusted,
                )
            )  # fmt: skip
    return found


_HEAD = ("tool", "versions", "calls", "failed", "runs", "ended well", "like, without", "net", "")


def _row(one: "Reuse") -> tuple[str, ...]:
    net = "-" if one.net is None else f"{100 * one.net:+.0f} %"
    with_it, without = f"{one.well} of {one.runs}", f"{one.others_well} of {one.others}"
    counts = (str(one.made.versions), str(one.calls), str(one.failed), str(one.runs))
    return (one.made.name, *counts, with_it, without, net, "trusted" if one.made.trusted else "sandboxed")
