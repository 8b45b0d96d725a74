"""`tea corpus`: the folders and sites searched by `web_search` on this machine."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.characters import in_sentence
from tea.cli.command import Command
from tea.cli.left_out import tell_left_out
from tea.cli.terminal import SENDER, one_line, table
from tea.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from tea.corpus.corpus import Updated
    from tea.corpus.index import Match

_SHOWN = 240  # characters of a passage
_MOST_NAMED = 5  # documents that were left out

RootArgument = Annotated[
    str, typer.Argument(metavar="FOLDER|FILE|ADDRESS", help="A path, or an address with https://.")
]


async def ls(command: Command) -> None:
    """List the folders and sites of the corpus."""
    async with command.platform() as tea:
        found = await tea.corpus.sources()
    rows = [
        (
            in_sentence(root),
            f"{one['documents']:,} documents",
            f"{one['passages']:,} passages",
            f"{one['updated']}{'' if one['added_here'] else SENDER}",
        )
        for root, one in found.items()
    ]
    command.show(table(rows) if rows else "", {"sources": found})
    if not rows:
        command.tell("The corpus is empty; `tea corpus add FOLDER` adds to it.")


async def add(
    command: Command,
    roots: Annotated[
        list[str], typer.Argument(metavar="FOLDER|FILE|ADDRESS...", help="Paths, or addresses with https://.")
    ],
    pages: Annotated[int, typer.Option("--pages", help="Most pages of a site.", min=1, max=100_000)] = 500,
) -> None:
    """Index folders, files and sites; update those already in the corpus.

    HTML, Markdown, plain text, PDF, Office, EPUB, mail and notebooks are read, foreign formats in a sandbox. Of a site
    the pages below the address are read, as far as its robots.txt permits. Nothing leaves this machine when the corpus
    is searched.
    """
    async with command.platform() as tea:
        if not tea.home.is_dir():
            raise BadInput(f"There is no home {str(tea.home)[-150:]!r}.", fix="make one with `tea init`.")
        tell_left_out(command, tea)
        done = [await tea.corpus.add(root, pages=pages, tell=_teller(command)) for root in roots]
    _show(command, done)


async def update(
    command: Command,
    root: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="One source; all by default.")] = None,
) -> None:
    """Index the changes since the last update, and forget removed documents.

    Of a corpus that came with its home nothing is read but what is named here.
    """
    async with command.platform() as tea:
        tell_left_out(command, tea)
        done = await tea.corpus.update(root, tell=_teller(command))
    _show(command, done)


async def rm(command: Command, root: RootArgument) -> None:
    """Take a folder or site out of the corpus; its documents themselves stay."""
    async with command.platform() as tea:
        name = await tea.corpus.remove(root)
    command.show(f"removed {in_sentence(name)}", {"removed": name})


async def search(
    command: Command,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What is looked for.")],
    k: Annotated[int, typer.Option("-k", help="How many passages.", min=1, max=100)] = 5,
) -> None:
    """Show the passages of the corpus with the best fit to some words."""
    from tea.corpus.corpus import near_best

    async with command.platform() as tea:
        found = near_best(await tea.corpus.find(" ".join(words), k))
    command.show("\n".join(map(_text, found)), {"matches": [_document(one) for one in found]})
    if not found:
        command.tell("Nothing fits; `tea corpus ls` shows what is searched.")


def _teller(command: Command) -> "Callable[[str], None] | None":
    """Return the function that prints each document's name on a line, None without `-v`."""
    return (lambda name: command.tell(one_line(name))) if command.verbose else None


def _show(command: Command, done: "list[Updated]") -> None:
    lines = list[str]()
    for one in done:
        counts = f"{one.added} added, {one.changed} changed, {one.removed} removed, {one.same} the same"
        lines.append(f"{in_sentence(one.root)}: {counts}")
        lines += [
            f"  left out {in_sentence(url)}: {one_line(why)}" for url, why in list(one.problems.items())[:_MOST_NAMED]
        ]
        if len(one.problems) > _MOST_NAMED:
            lines.append(f"  and {len(one.problems) - _MOST_NAMED} more were left out (--json names them)")
    command.show("\n".join(lines), {"updated": [_counts(one) for one in done]})


def _counts(update: "Updated") -> dict[str, Any]:
    names = ("root", "added", "changed", "removed", "same", "problems")
    return {name: getattr(update, name) for name in names}


def _text(one: "Match") -> str:
    where = f"page {one.passage.page}" if one.passage.page else f"line {one.passage.line}"
    heading = f", {one.passage.heading}" if one.passage.heading else ""
    place = f"{in_sentence(one.url)} ({where}{one_line(heading)})"
    return f"{one.score:.3f}  {place}\n       {one_line(one.passage.text, _SHOWN)}"


def _document(one: "Match") -> dict[str, Any]:
    passage = one.passage
    return {
        "url": one.url, "title": one.title, "date": one.date, "score": one.score, "line": passage.line,
        "page": passage.page, "heading": passage.heading, "text": passage.text,
    }  # fmt: skip
