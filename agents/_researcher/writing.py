"""Writing: each section of a report from its own evidence alone, completed by the report environment."""

import re
from collections.abc import Sequence
from typing import Any

from tea import BadOutput, BudgetExceeded, TeaError, consult, conversation

from .evidence import Claim
from .research import Research
from .together import together

MOST_SECTIONS = 8
MOST_OF_PAGE = 10_000  # characters of lines that a report is compared with

_WORD = re.compile(r"\w+")


async def written(research: Research, draft: dict[str, Any]) -> str | None:
    """Write the sections of a draft side by side, and return the name of the report, None if it cannot be written.

    Raises:
        BudgetExceeded: The budget ended before the sections were written.
    """
    ctx, title = research.ctx, str(draft.get("title") or research.task.text)[:200]
    sections = _planned(research, draft)
    texts = await together(ctx, [_section(research, title, one) for one in sections])
    report = await ctx.new_id()
    pieces = [(f"## Summary\n\n{draft['answer']}", _claims(research, draft["evidence"]))]
    pieces += [(f"## {one['heading']}\n\n{text}", one["claims"]) for one, text in zip(sections, texts, strict=True)]
    if noted := _noted(research):
        pieces.append((noted, research.store.claims))
    pages = _pages(research, "\n".join(text for text, _ in pieces))
    try:
        for text, claims in pieces:
            wanted = {"text": text, "references": _references(claims, pages), "report": report}
            (await ctx.ecp.invoke("report#add", wanted)).unwrap()
        completed = (await ctx.ecp.invoke("report#complete", {"title": title, "report": report})).unwrap()
    except BudgetExceeded:
        raise
    except TeaError as error:
        research.missing.append(f"The report could not be written: {error.problem}")
        return None
    doubts = [f"The report says {one['value']!r}, which its source does not contain." for one in completed["doubts"]]
    said = str(draft["answer"])  # its numbers were compared with the evidence
    doubts += [
        f"The report says {one!r} without a source, and none says it."
        for one in completed["unfounded"]
        if one not in said
    ]
    research.wrong += doubts[:5]
    return str(completed["files"][0])


def _planned(research: Research, draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the sections with evidence of their own; one with all of it if none has any."""
    listed: list[dict[str, Any]] = draft.get("sections", [])[:MOST_SECTIONS]
    planned = [{**one, "claims": _claims(research, one["evidence"])} for one in listed]
    planned = [one for one in planned if one["claims"]]
    return planned or [{"heading": "Findings", "says": "", "claims": list(research.store.claims)}]


async def _section(research: Research, title: str, section: dict[str, Any]) -> str:
    """Return a section in a model's words; if they cannot be read, its claims unchanged."""
    claims: list[Claim] = section["claims"]
    numbers = _numbers(claims)
    own = [one.number for one in claims]
    conflicts = [
        research.store.told(one)
        for one in research.store.conflicts
        if any(number in own for side in one.sides for number in side)
    ]
    variables = {
        "task": research.task.text, "before": conversation(research.task), "question": research.question,
        "title": title, "heading": str(section["heading"]), "mark": research.mark,
        "says": str(section.get("says", "")), "conflicts": conflicts, "locale": research.ctx.locale,
        "evidence": [{**one.shown(), "reference": numbers[one.url]} for one in claims],
    }  # fmt: skip
    try:
        found = await consult(research.ctx, "researcher_section", variables, lambda response: response.output)
    except BadOutput:
        return "\n".join(f"- {one.claim} [{numbers[one.url]}](<{one.url}>)" for one in claims)
    return str(found["markdown"])


def _noted(research: Research) -> str:
    """Return the section about contradictions and gaps, with citations of both sides; empty for none."""
    numbers, lines = _numbers(research.store.claims), list[str]()
    for conflict in research.store.conflicts:
        order = f"ranked first is {conflict.why}" if conflict.why else "none is ranked first"
        lines.append(f"- Sources disagree about {conflict.about}; {order}:")
        held = [one for side in conflict.sides for one in research.store.claims if one.number in side]
        lines += [f"  - {one.claim} [{numbers[one.url]}](<{one.url}>) {one.date}".rstrip() for one in held]
    lines += [f"- {one}" for one in research.wrong]
    lines += [f"- Not found: {one}" for one in research.missing]
    lines += [f"- Not found as quoted, so left out: {one['claim']}" for one in research.store.rejected]
    return "\n".join(["## Contradictions and gaps\n", *lines]) if lines else ""


def _claims(research: Research, numbers: Sequence[object]) -> list[Claim]:
    return [one for number in dict.fromkeys(numbers) if (one := research.store.of(number)) is not None]


def _numbers(claims: Sequence[Claim]) -> dict[str, int]:
    """Return the number of each source in a piece."""
    return {url: number for number, url in enumerate(dict.fromkeys(one.url for one in claims), 1)}


def _pages(research: Research, text: str) -> dict[str, str]:
    """Return the lines of the sources with a name or a number of a text, by address."""
    values = [one.casefold() for one in _WORD.findall(text) if one[0].isupper() or one[0].isdecimal()]
    wanted, found = dict.fromkeys(values), dict[str, list[str]]()
    for one in research.gathering.sources.all():
        lines = [line for words in one.words for line in words.text.splitlines()]
        telling = [line for line in lines if any(word in wanted for word in _WORD.findall(line.casefold()))]
        found.setdefault(one.url, []).extend(telling)
    return {url: "\n".join(dict.fromkeys(lines))[:MOST_OF_PAGE] for url, lines in found.items()}


def _references(claims: Sequence[Claim], pages: dict[str, str]) -> list[dict[str, Any]]:
    """Return the sources of claims with their words; those of a page are taken out, as they are given once."""
    quotes: dict[str, list[str]] = {}
    for one in claims:
        heading = re.sub(r"\d+", "", one.position)  # the number of a line supports no claim
        quotes.setdefault(one.url, [one.title, pages.pop(one.url, "")]).extend([one.quote, heading])
        if one.date and one.date not in quotes[one.url]:
            quotes[one.url].append(one.date)  # the platform itself writes it beside claims
    titles = {one.url: one.title for one in claims}
    return [
        {"source": url, "number": number, "description": titles[url] or url, "quote": "\n".join(quotes[url])}
        for url, number in _numbers(claims).items()
    ]
