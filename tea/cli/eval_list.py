"""`tea eval list`: the evaluations of a home."""

import asyncio
from typing import TYPE_CHECKING, Any

from tea.characters import in_sentence
from tea.cli.command import Command
from tea.cli.terminal import one_line, table
from tea.errors import ResourceExhausted, TeaError

if TYPE_CHECKING:
    from tea.store.evaluations import FileEvaluations


async def eval_list(command: Command) -> None:
    """List the evaluations of this home, the latest first."""
    from tea.store.evaluations import FileEvaluations

    async with command.platform() as tea:
        problems: list[str] = []
        store = FileEvaluations(tea.home / "traces" / "evaluations")
        heads = await asyncio.to_thread(_heads, store, problems)
    rows = [_row(one) for one in heads]
    data = {"evaluations": heads, "problems": problems}
    command.show(table(rows) if rows else "there is no evaluation yet", data)
    for problem in problems:
        command.tell(f"skipped {one_line(problem, 250)}")


def _heads(store: "FileEvaluations", problems: list[str]) -> list[Any]:
    """Return the heads of all readable evaluations, the latest first; append errors of the others to `problems`."""
    found: list[Any] = []
    for id in store.list():
        try:
            head: Any = store.head(id)
            _row(head)
        except ResourceExhausted:
            raise
        except TeaError as error:
            problems.append(f"{id}: {error.problem}")
        except (KeyError, TypeError) as error:
            problems.append(f"{id} is damaged: its head has no {error}.")
        else:
            found.append(head)
    return found


def _row(one: Any) -> tuple[str, ...]:
    whose, begun = one["plan"]["label"] or one["plan"]["agent"], str(one["begun"])[:16]
    state = "" if one["finished"] else "unfinished"
    return in_sentence(str(one["id"])), str(one["name"]), str(whose), f"{one['epochs']} epochs", begun, state
