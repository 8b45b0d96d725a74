"""`tea keep`: a verified answer as a solution for later tasks."""

from typing import Annotated

import typer

from tea.cli.command import Command
from tea.errors import BadInput


async def keep(
    command: Command,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run: its id, a beginning of it, or `last`.")],
    expected: Annotated[str | None, typer.Option("--expected", help="The right answer; lists as JSON.")] = None,
    scorer: Annotated[
        str, typer.Option("--scorer", help="How the answer is compared; see `tea eval score`.")
    ] = "exact",
    checked: Annotated[bool, typer.Option("--checked", help="You checked the answer yourself.")] = False,
    name: Annotated[str, typer.Option("--name", help="Name of the solution; made of the task if left out.")] = "",
) -> None:
    """Keep the answer of a run as a solution, offered to later tasks like its own; a wrong one is refused.

    `tea list solutions` shows them, `tea archive` takes one back; `tea run --fresh` does without.
    """
    from tea.evaluate.scoring import from_words
    from tea.evolve.solutions import Checked
    from tea.evolve.solutions import keep as keep_solution

    if (expected is None) is not checked:
        raise BadInput(
            "Exactly one of --expected and --checked is needed.", fix="give one; --checked if you checked it yourself."
        )
    given = Checked() if expected is None else Checked(scorer=scorer, expected=from_words(scorer, "", expected)[1])
    async with command.platform() as tea:
        kept = await keep_solution(tea, run, given, name)
    command.show(f"kept as {kept.ref}", {"ref": str(kept.ref), "task": kept.metadata["solution"]["task"]})
