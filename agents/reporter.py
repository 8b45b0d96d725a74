"""The reporter: findings become a report with sources numbered, linked and compared with its claims.

Source: the paper, Appendix D.7: pieces are added, then completed as one text with one list of references.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from tea import Agent, Context, Result, Task, clipped, consult, conversation

from ._reporter.materials import Material, materials

TOPICS = "article briefing dossier memo paper report whitepaper bericht rapport informe"
MARK = 8  # characters of the marks around words of others
MOST_SAID, MOST_LISTED = 20, 200
MOST_VALUE = 40  # characters of a doubtful value that is named
MOST_CLAIMS, MOST_CLAIM = 3, 80  # claims without a source that are named, and characters of one
MOST_READ, MOST_FIND = 10, 4_000  # sources, and characters of the sentences that cite one
MOST_KNOWN = 200_000  # characters that the summary may rest on beside the report and its sources
MOST_TITLE, MOST_SUMMARY = 200, 600
NO_WORDS = ("#", "|", "```", "!")  # what begins a line of Markdown that is not a sentence
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
PAGE = re.compile(r"(?:https?|file)://", re.IGNORECASE)

_CITED = re.compile(r"(?<!!)\[\d{1,4}\]\(<?([^()<>\n]+)>?\)")
_SHOWN = re.compile(r"!\[[^\]\n]{0,500}\]\(<?([^()<>\n]+)>?\)")
_HEADING = re.compile(r"\s*#[ \t]+(\S[^\n]*)(?:\n|\Z)")
_NAME = re.compile(r"((?:\w[\w-]{0,60}/){0,3}\w[\w-]{0,60})(?:\.(?:md|html|pdf|txt))?")
_FACTS = re.compile(r"^```json[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class Reporter(Agent):
    """Write a report of findings, with numbered citations, into the workspace: Markdown, also HTML or PDF."""

    role = "Reporter"
    competencies = (
        "write a report of findings given in words, as JSON, or in files",
        "keep every claim with its source: citations as [n](source), each source once, numbered from 1",
        "tell which claims cite nothing, and which values their source does not contain",
    )
    objectives = ("say what was asked, what was found, how, and from where", "add nothing that was not found")
    relations = {"planner": "hierarchical"}
    tools = ("to_markdown", "table_query", "read_file", "fetch_page")
    environments = ("workspace", "report")
    metadata: ClassVar[Mapping[str, Any]] = {"takes": "findings", "topics": TOPICS}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Draft, number the references, check the claims, and write the report under a free name."""
        there = await _reports(ctx)
        given = await materials(ctx, task.files)
        findings = [one.model_dump(mode="json") for one in task.facts]
        variables = {
            "task": task.text, "before": conversation(task), "findings": findings, "locale": ctx.locale,
            "materials": [{"source": one.source, "content": one.content} for one in given if one.content],
            "unread": [f"{one.source}: {one.problem}" for one in given if one.problem],
        }  # fmt: skip
        if pictures := await _pictures(ctx, task.files):
            variables["pictures"] = pictures
        if findings:
            variables["mark"] = (await ctx.new_id())[:MARK]
        draft = await consult(ctx, "reporter", variables, lambda response: _titled(response.output, task.text))
        report = await ctx.new_id()  # reports that are written side by side do not mix
        cited = list(dict.fromkeys(_CITED.findall(draft["markdown"])))
        known = [*findings, *_facts_of(task.text), *_contents(given)]
        quoted = _quoted(known, cited)
        quoted += _heads(given, [one["source"] for one in quoted])
        told = await _told(ctx, task, cited)
        references = [*quoted, *told, *await _read_again(ctx, task, draft["markdown"])]
        await _act(ctx, "add", {"text": draft["markdown"], "references": references, "report": report})
        shown = [one.replace("%20", " ") for one in _SHOWN.findall(draft["markdown"])]
        for name in (one for one in pictures if one in task.files and one not in shown):
            await _act(ctx, "add", {"path": name, "report": report})
        told_of = [task.text, conversation(task), *map(_of_finding, findings), *(one.content for one in given)]
        written, trouble = await _completed(ctx, draft, report, there, "\n\n".join(told_of))
        _note(ctx, draft, written)
        answer = " ".join([draft["summary"], *_others(written["files"]), *trouble]).strip()
        return Result(answer=answer, report=written["files"][0], gaps=_gaps(given, written))


def _titled(draft: dict[str, Any], task: str) -> dict[str, Any]:
    """Return a draft with a title: one without is Markdown alone, with its title in its first line or in the task."""
    if draft["title"].strip():
        return draft
    heading = _HEADING.match(draft["markdown"])
    title = heading[1] if heading else _first_line(task)
    markdown = draft["markdown"][heading.end() :] if heading else draft["markdown"]
    summary = draft["summary"] or _first_line(markdown)
    return {**draft, "title": title[:MOST_TITLE], "summary": summary[:MOST_SUMMARY], "markdown": markdown or title}


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith(NO_WORDS)), "Report")


async def _pictures(ctx: Context, files: Sequence[str]) -> list[str]:
    """Return the pictures of the workspace fit for a report: those given first, then those made by the run."""
    listing = (await ctx.ecp.invoke("workspace#list_files", {"limit": MOST_LISTED})).unwrap()
    found = [one["name"] for one in listing["files"] if one["name"].lower().endswith(PICTURES)]
    given = [one for one in files if one.lower().endswith(PICTURES)]
    return list(dict.fromkeys([*given, *found]))[:MOST_SAID]


async def _act(ctx: Context, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return (await ctx.ecp.invoke(f"report#{action}", arguments)).unwrap()


async def _reports(ctx: Context) -> list[str]:
    """Return the names of the Markdown files of the workspace."""
    listing = (await ctx.ecp.invoke("workspace#list_files", {"limit": MOST_LISTED})).unwrap()
    return [one["name"] for one in listing["files"] if one["name"].lower().endswith(".md")]


async def _completed(
    ctx: Context, draft: dict[str, Any], report: str, there: Sequence[str], known: str
) -> tuple[dict[str, Any], list[str]]:
    """Write the report; if a form cannot be made, the Markdown is written, and the answer says why.

    An earlier report of a wished name is replaced if it was there at the beginning, and nobody changed it since.
    """
    formats = list(dict.fromkeys(["md", *draft.get("formats", ())]))
    # no other file is ever replaced, and reporters side by side take different names
    wished = str(draft.get("name", "")).strip()
    name = _name(wished)
    own = bool(wished) and f"{name}.md" in there
    wanted = {"title": draft["title"], "report": report, "name": name, "numbered": True, "own": own}
    wanted |= {"summary": draft["summary"], "known": known[:MOST_KNOWN]}
    response = await ctx.ecp.invoke("report#complete", {**wanted, "formats": formats})
    if response.ok or formats == ["md"] or response.error is None:
        return response.unwrap(), []
    trouble = f"{response.error['problem']} {response.error['fix']}".strip()
    return await _act(ctx, "complete", wanted), [trouble]


def _name(wished: str) -> str:
    """Return the wished name of the report's files, without ending; `report` without a usable one."""
    found = _NAME.fullmatch(wished.strip())
    return found[1] if found else "report"


def _others(files: list[str]) -> list[str]:
    """Return the names of all files of a report in brackets, if it has several."""
    return [f"({', '.join(files)})"] if len(files) > 1 else []


def _quoted(findings: list[dict[str, Any]], cited: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sources of findings with their quotations; no number of the draft stands for them.

    A result counts for each of its files and for each cited one that its call names, as code does; what was called,
    as a query, is known as well as its result.
    """
    return [
        {"number": 0, "source": source, "quote": f"{one['fact']}\n{one['quote']}" if _is_result(one) else one["quote"]}
        for one in findings
        if one.get("source") and one.get("quote")
        for source in dict.fromkeys([one["source"], *(_files_of(one, cited) if _is_result(one) else ())])
    ]


def _files_of(result: dict[str, Any], cited: Sequence[str]) -> list[str]:
    call = result["fact"].removesuffix(result["quote"])
    return [*result["source"].split(", "), *(one for one in cited if one in call)]


def _of_finding(finding: dict[str, Any]) -> str:
    return f"{finding['fact']}\n{finding['quote']}"


def _is_result(finding: dict[str, Any]) -> bool:
    """Return whether a finding is a call with its result."""
    return str(finding.get("fact", "")).endswith(f" gave: {finding['quote']}")


def _contents(materials: list[Material]) -> list[dict[str, Any]]:
    """Return the materials shown whole as quotations, because a converted file is not a text to compare with."""
    return [{"source": one.source, "quote": one.content} for one in materials if one.whole]


def _heads(materials: list[Material], compared: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sizes and counts of tables shown in part as quotations, where claims on them are compared at all."""
    heads = [one for one in materials if one.told and not one.whole and (one.plain or one.source in compared)]
    return [{"number": 0, "source": one.source, "quote": one.told} for one in heads]


async def _told(ctx: Context, task: Task, cited: Sequence[str]) -> list[dict[str, Any]]:
    """Return the cited sources named in the task's words, such as a tool: its claims about them are in those words.

    Of a file it is the file that counts, however the task speaks of it.
    """
    named = [one for one in cited if one in task.text and one not in task.files]
    if not named:
        return []
    listing = (await ctx.ecp.invoke("workspace#list_files", {"names": named, "limit": len(named)})).unwrap()
    files = [one["name"] for one in listing["files"]]
    return [{"number": 0, "source": one, "quote": task.text} for one in named if one not in files]


async def _read_again(ctx: Context, task: Task, markdown: str) -> list[dict[str, Any]]:
    """Return passages of cited pages and documents for the citing sentences, as quotations.

    A finding holds but a summary and some words of such a source, so alone it would bring true values into doubt.
    """
    known = [one.source for one in task.facts]
    claims: dict[str, list[str]] = {}
    for line in markdown.splitlines():
        for one in dict.fromkeys(_CITED.findall(line)):
            claims.setdefault(one, []).append(line)
    wanted = [one for one in claims if one in known and PAGE.match(one)][:MOST_READ]
    found: list[dict[str, Any]] = []
    for one in wanted:
        response = await ctx.tcp.invoke("fetch_page", {"url": one, "find": "\n".join(claims[one])[:MOST_FIND]})
        passages = response.value.get("excerpts", ()) if response.ok else ()
        found += [{"number": 0, "source": one, "quote": passage["text"]} for passage in passages]
    return found


def _facts_of(text: str) -> list[dict[str, Any]]:
    """Return the references in the block of JSON of a task; calculations stand in their quotes."""
    found = _FACTS.search(text)
    try:
        told: Any = json.loads(found[1]) if found else {}
    except (ValueError, RecursionError):
        told = {}
    findings: Any = cast("dict[str, Any]", told).get("findings") if isinstance(told, dict) else None
    listed = [one for one in _objects(findings) for one in _objects(one.get("references"))]
    return [{"source": str(one["source"]), "quote": _words(one)} for one in listed if one.get("source")]


def _objects(value: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in items if isinstance(one, dict)]


def _words(reference: dict[str, Any]) -> str:
    given = [reference[name] for name in ("detail", "quote") if reference.get(name)]
    return "\n".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in given)


def _gaps(materials: list[Material], written: dict[str, Any]) -> tuple[str, ...]:
    """Return unread files and the findings of the checks, in a line each."""
    found = [f"{one.source} was not read: {one.problem}" for one in materials if one.problem]
    if count := len(written["doubts"]):
        values = ", ".join(dict.fromkeys(one["value"][:MOST_VALUE] for one in written["doubts"][:MOST_SAID]))
        found.append(f"{count} value{'s' if count > 1 else ''} not found in the cited sources, marked [?]: {values}")
    if unsourced := written["unsourced"]:
        values = ", ".join(one[:MOST_VALUE] for one in written["unfounded"][:MOST_SAID])
        claims = (clipped(one.strip("| "), MOST_CLAIM) for one in unsourced[:MOST_CLAIMS])
        told = f"no source says {values}" if values else "; ".join(claims)
        found.append(f"{len(unsourced)} claim{'s' * (len(unsourced) > 1)} without a source: {told}")
    if unsaid := written["unsaid"]:
        values = ", ".join(one[:MOST_VALUE] for one in unsaid[:MOST_SAID])
        found.append(f"the summary says {values}, which neither the sources nor the report say")
    if missing := written["missing"]:
        found.append(f"cited files are not there: {', '.join(missing[:MOST_SAID])}")
    return tuple(found)


def _note(ctx: Context, draft: dict[str, Any], written: dict[str, Any]) -> None:
    ctx.note(
        "step",
        {
            "agent": ctx.agent,
            "step": 1,
            "observation": {},
            "thinking": "Lay out the findings, number and compare their sources, and write the report.",
            "evaluation": draft["summary"],
            "memory": f"The report is {written['files'][0]}.",
            "next_goal": "",
            "calls": [{"name": "report_complete", "arguments": {"title": draft["title"]}}],
            "results": [
                {
                    "name": "report_complete",
                    "ok": True,
                    "doubts": len(written["doubts"]),
                    "unsourced": len(written["unsourced"]),
                    "missing": written["missing"][:MOST_SAID],
                }
            ],
        },
    )
