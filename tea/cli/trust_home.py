"""`tea trust --home`: a person's review and grant of the places a home sends environment keys to."""

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from tea.characters import shell_word
from tea.cli.command import Command
from tea.cli.person import person
from tea.cli.terminal import folded, review, write
from tea.errors import ApprovalNeeded, BadInput

if TYPE_CHECKING:
    from tea.home_trust import HomeTrust

HERE = "--this-home"
_HOME = "--home"
_EXACT = "@"
_YES = "yes"
_SHORT = 60  # characters of a folder that leave room for the digest in an error


class HomeCommand(TyperCommand):
    """A command with an optional folder for `--home`: without one it means the home found."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Distinguish a bare `--home` from one with its folder."""
        return super().parse_args(ctx, [HERE if _is_bare(args, place) else one for place, one in enumerate(args)])


def _is_bare(args: list[str], place: int) -> bool:
    if args[place] != _HOME or "--" in args[:place]:
        return False
    return args[place + 1 : place + 2] == [] or args[place + 1].startswith(("-", f"{_EXACT}sha256:"))


async def trust_home(command: Command, exact: str | None) -> int | None:
    """Show the places a home sends environment keys to, and grant them with a person's agreement.

    Args:
        command: The command.
        exact: `@sha256:...` grants exactly that, without a question; None asks.

    Raises:
        BadInput: The home does something else than what was named, or the person does not agree.
    """
    async with command.platform() as tea:
        if not tea.home.is_dir():
            raise BadInput(f"There is no home {str(tea.home)[-150:]!r}.", fix="name the folder of a home with --home.")
        trust = tea.home_trust
        routes = [one.words for one in trust.routes]
        data = {"home": str(tea.home), "digest": trust.digest, "routes": routes, "granted": True}
        if exact is not None and exact != f"{_EXACT}{trust.digest}":
            problem = f"The home asks for {trust.digest or 'nothing'}, and not for {exact[:80]}."
            raise BadInput(problem, fix="look at it with `tea trust --home`.")
        words = "granted already" if trust.granted else "granted"
        if trust.routes and not trust.granted:
            if exact is None and not await _agreed(command, trust):
                return command.fail(_undecided(command, trust.digest), {**data, "granted": False})
            await asyncio.to_thread(trust.grant)
    words = f"{words} {trust.digest}" if trust.routes else "nothing in the home needs a grant"
    command.show(words, data)
    return None


async def _agreed(command: Command, trust: "HomeTrust") -> bool:
    """Show the requested grants on standard error; return whether a person agreed, False if none is there.

    Raises:
        BadInput: They did not agree.
    """
    routes = "\n".join(f"  {one.words}" for one in trust.routes)
    shown = f"The settings of the home {trust.place} want what is yours:\n{routes}\n  digest {trust.digest}\n"
    somebody = None if command.as_json else person()
    write("" if command.as_json else folded(review(shown), sys.stderr), sys.stderr)
    if somebody is None:
        return False
    question = f"Do you grant all of that to the home {trust.place}, {trust.digest}?"  # alone, as a long one is cut
    if await somebody(question, (_YES, "no")) != _YES:
        raise BadInput("Nothing was granted.", fix="mend tea.toml or .env, or leave the home alone.")
    return True


def _undecided(command: Command, digest: str) -> ApprovalNeeded:
    folder = shell_word(str(command.home)) if command.home is not None else ""
    place = f" {folder}" if 0 < len(folder) < _SHORT else ""
    fix = f"`tea trust {_HOME}{place} {_EXACT}{digest}` grants exactly that."
    return ApprovalNeeded("A person has to look at what the home does before it is granted.", fix=fix)
