"""The typesetting of a paper: data through a fixed template to a PDF, with its sources beside it."""

import json
from typing import Any, Literal, NotRequired, TypedDict

from tea import Context, ToolError, tool

from ._typeset_paper.typesetting import typeset

FIGURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
MOST_FIGURE = 50_000_000  # bytes
LINKS = ("https://", "http://")


class Part(TypedDict):
    """A piece of a paragraph: words, words in bold, or the numbers of references."""

    kind: Literal["text", "strong", "cite"]
    text: NotRequired[str]
    numbers: NotRequired[list[int]]


class Figure(TypedDict):
    """A picture of the workspace with what it shows."""

    file: str
    caption: list[Part]


class Section(TypedDict):
    """A section: its heading, its paragraphs, and its figures."""

    heading: str
    paragraphs: list[list[Part]]
    figures: list[Figure]


class Reference(TypedDict):
    """An entry of the bibliography."""

    number: int
    source: str
    title: NotRequired[str]
    detail: NotRequired[str]


class Typeset(TypedDict):
    """The files of a paper, the PDF first."""

    files: list[str]


@tool(effects="writes", idempotent=True, network=False, evolvable=False, metadata={"category": "part"})
async def typeset_paper(
    ctx: Context,
    title: str,
    abstract: list[list[Part]],
    sections: list[Section],
    references: list[Reference],
    byline: str = "",
    language: str = "en",
    words: dict[str, str] | None = None,
    name: str = "paper",
    note: str = "",
) -> Typeset:
    """Write a paper as PDF, with its template and its data; all words are data, and nothing in them is evaluated.

    Args:
        title: Its title.
        abstract: Its abstract, by paragraphs.
        sections: Its sections.
        references: Its bibliography, in the order of its numbers; each cited number has to be there.
        byline: The line below the title.
        language: Language tag, for hyphenation.
        words: The words for `abstract`, `figure` and `references` in its language.
        name: File name without its ending.
        note: What stands below the last section, in small letters.
    """
    drawn, figures = list[dict[str, Any]](), list[str]()
    for section in sections:
        held = [{**one, "file": await _require_figure(ctx, one["file"])} for one in section["figures"]]
        drawn.append({**section, "figures": held})
        figures += [str(one["file"]) for one in held]
    _require_references([*abstract, *(one for section in sections for one in section["paragraphs"])], references)
    paper = {
        "title": title,
        "byline": byline,
        "language": language.partition("-")[0].lower() or "en",
        "words": {"abstract": "Abstract", "figure": "Figure", "references": "References", **(words or {})},
        "abstract": abstract,
        "sections": drawn,
        "note": note,
        "references": [_entry(one) for one in references],
    }
    files = [f"{name}.{ending}" for ending in ("pdf", "typ", "json")]
    if any(ctx.path(one).parent != ctx.path("") for one in files):
        raise ToolError(f"{name[:100]!r} is not a file name.", fix="leave out folders.")
    data = json.dumps(paper, ensure_ascii=False, indent=1).encode()
    await typeset(dict(await ctx.parser_terms()), ctx.path(""), name, data, figures)
    return Typeset(files=files)


async def _require_figure(ctx: Context, name: str) -> str:
    """Return the name of a picture of the workspace as it stands there.

    Raises:
        ToolError: It is not there, is not a picture, or is too large.
    """
    path = await ctx.file(name)
    if path.suffix.lower() not in FIGURES:
        raise ToolError(f"{name[:100]!r} is not a picture.", fix=f"use one of {', '.join(FIGURES)}.")
    if path.stat().st_size > MOST_FIGURE:
        raise ToolError(f"{name[:100]!r} is larger than {MOST_FIGURE // 10**6} MB.", fix="make it smaller.")
    return path.relative_to(ctx.path("")).as_posix()


def _require_references(paragraphs: list[list[Part]], references: list[Reference]) -> None:
    known = {one["number"] for one in references}
    cited = {number for parts in paragraphs for one in parts for number in one.get("numbers", ())}
    if lost := sorted(cited - known):
        raise ToolError(f"The citation [{lost[0]}] has no reference.", fix="give its reference, or leave it out.")


def _entry(reference: Reference) -> dict[str, Any]:
    source = reference["source"]
    link = source if source.lower().startswith(LINKS) else ""
    named = {"title": reference.get("title", ""), "detail": reference.get("detail", "")}
    return {"number": reference["number"], "source": source, "link": link, **named}
