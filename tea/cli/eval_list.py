"""`tea eval list`: the evaluations of a home."""

import asyncio
from typing import Any

from tea.cli.command import Command
from tea.cli.terminal import table


async def eval_list(command: Command) -> None:
    """List the evaluations of this home, the latest first."""
    from tea.store.evaluations import FileEvaluations

    async with command.platform() as tea:
        store = FileEvaluations(tea.home / "traces" / "evaluations")
        heads: list[Any] = await asyncio.to_thread(lambda: [store.head(one) for one in store.list()])
    rows = [
        (
            one["id"],
            one["name"],
            one["plan"]["label"] or one["plan"]["agent"],
            f"{one['epochs']} epochs",
            one["begun"][:16],
            "" if one["finished"] else "unfinished",
        )
        for one in heads
    ]
    command.show(table(rows) if rows else "there is no evaluation yet", {"evaluations": heads})
