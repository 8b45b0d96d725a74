"""`tea contract`: the interfaces of components, as one document for each kind or as Agent Skills."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tea.characters import in_sentence
from tea.cli.command import Command
from tea.cli.reference import KEPT, find
from tea.cli.terminal import counted, one_line
from tea.errors import BadRef, UnknownComponent
from tea.refs import Kind, Ref, plural

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.errors import Quarantined
    from tea.platform import Platform


async def contract(
    command: Command,
    what: Annotated[str | None, typer.Argument(metavar="[KIND|REF]", help="A kind, or one component.")] = None,
    skills: Annotated[
        Path | None, typer.Option("--skills", metavar="FOLDER", help="Write each component as an Agent Skill there.")
    ] = None,
) -> None:
    """Print components' current interfaces: purpose, parameters, effects, examples and rules."""
    async with command.platform() as tea:
        chosen = await _chosen(tea, what)
        if skills is not None:
            await _write(command, tea, chosen, skills)
            return
        found = {kind: await tea.libraries[kind].contract(names=names) for kind, names in chosen.items()}
    command.show("\n".join(found.values()).rstrip("\n"), {"contracts": found})  # it escapes what it is told


async def _chosen(tea: "Platform", what: str | None) -> dict[Kind, list[str] | None]:
    """Return the names to show by kind; None means all."""
    kinds: list[Kind] = [kind for kind in KEPT if what in (None, kind, plural(kind))]
    if kinds or what is None:
        return dict.fromkeys(kinds)
    library, ref = await find(tea, what)
    return {library.kind: [str(ref)]}


async def _write(command: Command, tea: "Platform", chosen: dict[Kind, list[str] | None], folder: Path) -> None:
    import asyncio

    from tea.interop.skill import skill_of
    from tea.interop.skill_folder import MAIN, exported, write_skills
    from tea.source.text import check_characters
    from tea.source.trust import untrusted

    found: list[Manifest] = []
    left: list[str] = []
    refused: list[Quarantined] = []
    for kind, names in chosen.items():
        library = tea.libraries[kind]
        for row in [] if names else await library.list():
            one, trusted = await library.judged(row.name) if row.trusted else (None, False)
            if one is None or not trusted:
                left.append(f"{kind}:{row.name}")
            else:
                found.append(one)
        for name in names or ():
            one, trusted = await library.judged(name)
            found.append(one)
            refused += [] if trusted else [untrusted(one.ref)]
    made = [skill_of(one) for one in found]
    for one in made:
        check_characters("", {f"{one.name}/{MAIN}": one.document(), **one.files})
    for error in refused:  # the words of a sender are no skill of ours
        raise error
    written = await asyncio.to_thread(write_skills, folder, made)
    names = {path.name for path in written}
    ahead = await asyncio.to_thread(exported, folder)
    gone = [name for name, ref in ahead.items() if name not in names and not await _is_there(tea, ref)]
    data = {"skills": [str(path) for path in written], "left_out": left, "gone": gone}
    command.show(f"{counted(len(written), 'skill')} in {one_line(str(folder))}", data)
    if gone and not command.as_json:
        more = " and more" if len(gone) > 3 else ""
        command.tell(
            f"made of components that are gone here, remove them: {', '.join(map(in_sentence, gone[:3]))}{more}"
        )
    if left and not command.as_json:
        more = " and more" if len(left) > 3 else ""
        command.tell(f"left out, as nobody trusts them yet: {', '.join(left[:3])}{more}")


async def _is_there(tea: "Platform", ref: str) -> bool:
    try:
        parsed = Ref.parse(ref)
        await tea.libraries[parsed.kind].info(parsed.at(None))
    except (BadRef, UnknownComponent):
        return False
    return True
