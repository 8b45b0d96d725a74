"""Reports: what was found is added piece by piece, and completed with its sources numbered, linked and checked."""

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, ClassVar, Literal, NotRequired, TypedDict

from tea import Context, Environment, ToolError, action

from ._report.checks import Evidence, check
from ._report.compose import Composed, compose
from ._report.items import Item, Items, item_of
from ._report.output import digests_of, render, write_all

Format = Literal["md", "html", "pdf"]
SHOWN_ITEMS = 100


class Reference(TypedDict):
    """A source: an address or a file of the workspace, its description, and the words of it that claims rest on."""

    source: str
    number: NotRequired[int]
    description: NotRequired[str]
    quote: NotRequired[str]


class Added(TypedDict):
    """An added piece: its number in the report, its summary of two or three sentences, and its sources."""

    number: int
    content: str
    summary: str
    references: list[dict[str, Any]]


class Doubt(TypedDict):
    """A number, name or date that the cited sources do not contain, and its sentence."""

    value: str
    claim: str
    sources: list[int]


class Completed(TypedDict):
    """A finished report.

    `unsourced` are sentences without a citation, `unfounded` their numbers that stand in no source, `unresolved`
    citations without a source, `missing` cited files that are not there, `unchecked` numbers of the sources of which no
    text is known, `unsaid` numbers of the summary that neither the sources nor the report say.
    """

    files: list[str]
    references: list[dict[str, Any]]
    doubts: list[Doubt]
    unsourced: list[str]
    unfounded: list[str]
    unresolved: list[str]
    missing: list[str]
    unchecked: list[int]
    unsaid: list[str]
    notes: list[str]


class Compared(TypedDict):
    """Texts with a mark behind each doubtful value, and the doubts."""

    texts: list[str]
    doubts: list[Doubt]


class Report(Environment):
    """Collect findings with their sources, and write them as one report: Markdown, HTML or PDF.

    Each source has one number, from 1, however often and in whatever spelling it is cited.
    """

    name = "report"
    metadata: ClassVar[Mapping[str, Any]] = {"category": "part"}
    recovery = "durable"
    rules = """
        Add each finding with its sources, cited as `[n](address or file)`, then complete the report once. Quotes given
        with a source are what its claims are compared with. Side by side use a `report` name of your own.
    """

    async def state(self, ctx: Context) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the reports that were begun, with what was added to each."""
        return await asyncio.to_thread(Items.overview, ctx.path(""), SHOWN_ITEMS)

    @action(effects="writes", idempotent=True, network=False, after="the report holds the piece")
    async def add(
        self,
        ctx: Context,
        text: str = "",
        data: dict[str, Any] | None = None,
        path: str = "",
        summary: str = "",
        references: list[Reference] | None = None,
        report: str = "report",
    ) -> Added:
        """Add a piece to a report: a text, an object, or a file of the workspace; the same piece counts once.

        Args:
            text: Markdown with citations `[n](address or file)`.
            data: An object instead, with content, summary and references, or any other members.
            path: A file instead: text, JSON, or a picture, which becomes a figure.
            summary: Two or three sentences; the first ones of the piece by default.
            references: Its sources; `number` is what `[n]` in the text stands for, 0 for nothing.
            report: Name of the report.
        """
        given = [name for name, value in (("text", text.strip()), ("data", data), ("path", path)) if value]
        if len(given) != 1:
            problem = "Nothing was given to add." if not given else f"{' and '.join(given)} were given at once."
            raise ToolError(problem, fix="give one of text, data and path.")
        items = Items(ctx.path(""), report)
        found = await ctx.file(path) if path else None
        listed = [dict(one) for one in references or []]
        made = await asyncio.to_thread(item_of, text, data, found, path, summary, listed)
        number = await asyncio.to_thread(items.add, made)
        return Added(number=number, content=made.content, summary=made.summary, references=made.references)

    @action(effects="writes", idempotent=True, network=False, after="the files hold the report")
    async def complete(
        self,
        ctx: Context,
        title: str = "Report",
        formats: list[Format] | None = None,
        name: str = "",
        replace: bool = False,
        numbered: bool = False,
        own: bool = False,
        summary: str = "",
        known: str = "",
        report: str = "report",
    ) -> Completed:
        """Write a report of all that was added: sources numbered from 1, each once, and claims compared with them.

        Args:
            title: What it is about, in one line.
            formats: Files to write; Markdown by default.
            name: File name without its ending; the first free one of `report`, `report-2` by default.
            replace: Replace files of that name.
            numbered: Take the first free name like it where it is taken, as `name-2`.
            own: Replace files of that name where they are an earlier report as it was written.
            summary: What else is said of the report in a few sentences; its numbers are compared.
            known: What the summary may rest on beside the report and its sources.
            report: Name of the report.
        """
        items = Items(ctx.path(""), report)
        pieces: list[Item] = await asyncio.to_thread(items.read)
        if not pieces:
            raise ToolError(f"Nothing was added to the report {report[:60]!r}.", fix="add something first.")
        root, folder = ctx.path(""), PurePath(name).parent
        if name:
            ctx.path(f"{name}.md")
        up, capitals = "../" * len(folder.parts), ctx.locale.partition("-")[0] not in _CAPITAL_NOUNS
        beside = {"summary": summary, "known": known}
        composed = await asyncio.to_thread(compose, title, pieces, root, up=up, names=capitals, **beside)
        wanted = list(dict.fromkeys(formats or ["md"]))
        rendered, notes = await asyncio.to_thread(render, composed.markdown, title, root, folder, wanted)
        anyhow = numbered or not name
        again = replace or (own and await asyncio.to_thread(_is_own, root, [f"{name}.{one}" for one in wanted]))
        files = await asyncio.to_thread(write_all, root, name or "report", rendered, replace=again, numbered=anyhow)
        await asyncio.to_thread(lambda: items.note_written(digests_of(root, files)))
        return _completed(composed, files, notes)

    @action(effects="reads", idempotent=True, network=False)
    async def compare(self, ctx: Context, texts: list[str], references: list[Reference], known: str = "") -> Compared:
        """Compare the numbers and dates of texts with the sources they cite, and write nothing.

        Args:
            texts: Paragraphs with citations `[n]`.
            references: Each source with its number and, as its quote, all that is known of what it says.
            known: What sentences without a citation rest on; without it they are not compared.
        """
        return await asyncio.to_thread(_compared, texts, references, known)


_CAPITAL_NOUNS = ("de", "lb")  # languages that begin every noun with a capital


def _is_own(root: Path, names: list[str]) -> bool:
    """Return whether files of some names are there, all as reports of this workspace were written."""
    there = digests_of(root, names)
    return bool(there) and there.items() <= Items.all_written(root)


def _compared(texts: list[str], references: list[Reference], known: str) -> Compared:
    evidence = {one.get("number", 0): Evidence(one.get("quote", "")) for one in references}
    rest = Evidence(known) if known else None
    found = [check(one, evidence, names=False, rest=rest) for one in texts]
    doubts = [Doubt(value=d.value, claim=d.claim, sources=list(d.sources)) for one in found for d in one.doubts]
    return Compared(texts=[one.text for one in found], doubts=doubts)


def _completed(composed: Composed, files: list[str], notes: list[str]) -> Completed:
    return Completed(
        files=files,
        references=[
            {"number": one.number, "link": one.link, "description": one.description} for one in composed.references
        ],
        doubts=[Doubt(value=one.value, claim=one.claim, sources=list(one.sources)) for one in composed.doubts],
        unsourced=composed.unsourced,
        unfounded=composed.unfounded,
        unresolved=composed.unresolved,
        missing=composed.missing,
        unchecked=composed.unchecked,
        unsaid=composed.unsaid,
        notes=notes,
    )
