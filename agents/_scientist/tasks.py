"""The carrying out of one task: literature by the researcher and the knowledge, analysis by the analyzer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tea import Context, Result, Task

from .facts import whole_text
from .mirror import UNJUDGED, Mirror

RESEARCHER, ANALYZER = "researcher", "analyzer"
REFERENCES = "\n## References"  # a task's sources are listed by themselves
MOST_FILES = 1_000
MOST_PASSAGE = 500
MOST_NAMED = 5  # failed tasks in a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of one task; `parts` are the pieces of an output of several, each complete in itself."""

    output: str = ""
    error: str = ""
    sources: Sequence[Mapping[str, str]] = ()
    artifacts: Sequence[str] = ()
    job: str = ""
    parts: Sequence[str] = ()


async def literature(ctx: Context, task: Mapping[str, Any], mirror: Mirror) -> Found:
    """Ask the researcher and the operator's documents side by side, and join their answers with the sources."""
    objective = str(task["objective"])
    async with ctx.group() as group:
        asked = [group.spawn(_engines(ctx, objective)), group.spawn(_knowledge(ctx, objective))]
    engines, documents = (one.result() for one in asked)
    found = [engines, _beside(documents, engines)]
    useful = [one for one in found if one.output]
    if not useful:
        return Found(error=" ".join(one.error for one in found if one.error) or "Nothing was found.")
    parts = dict.fromkeys(part for one in useful for part in one.parts or (one.output,))
    return Found(output="\n\n".join(parts), sources=_once([each for one in useful for each in one.sources]))


async def analysis(ctx: Context, task: Mapping[str, Any], mirror: Mirror) -> Found:
    """Have the analyzer work on the datasets of a task, with code if needed."""
    id = str(task["id"])
    job = await ctx.new_id()
    text = (
        f"{task['objective']}\n\nWrite files, such as figures, only into a new folder `{id}`. "
        "State each number that you rest on."
    )
    datasets = tuple(str(one) for one in task["datasets"])
    response = await ctx.acp.invoke(ANALYZER, Task(text=text, files=datasets))
    artifacts = await _written(ctx, f"{id}/")
    found = _found(response.result)
    return Found(output=found.output, error=found.error, sources=found.sources, artifacts=artifacts, job=job)


def lost(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return the reason for a failure if every one of the given tasks failed, empty for none."""
    if not tasks or any(one["output"] for one in tasks):
        return ""
    named = [f"{one['id']}: {str(one['error']).rstrip('.')}" for one in tasks[:MOST_NAMED]]
    more = [f"and {len(tasks) - MOST_NAMED} more"] if len(tasks) > MOST_NAMED else []
    return f"every task failed ({'; '.join([*named, *more])})"


def _beside(documents: Found, engines: Found) -> Found:
    """Return the passages beside the researcher's findings: those of documents it has not judged."""
    if not engines.output or engines.parts:
        return documents
    judged = [one["source"] for one in engines.sources]
    kept = [one for one in zip(documents.parts, documents.sources, strict=True) if one[1]["source"] not in judged]
    parts = [UNJUDGED, *(text for text, _ in kept)] if kept else []
    return replace(documents, output="\n".join(parts), parts=parts, sources=[source for _, source in kept])


async def _engines(ctx: Context, objective: str) -> Found:
    """Return the findings of the researcher; without a registered one, the results of a search."""
    known = await ctx.acp.list()
    if any(one["name"] == RESEARCHER for one in known):
        return await _reported(ctx, (await ctx.acp.invoke(RESEARCHER, Task(text=objective))).result)
    if not ctx.searches:
        return Found(error="No engine is configured, and there is no corpus.")
    response = await ctx.tcp.invoke("web_search", {"queries": [objective[:300]]})
    return _searched(response.value, response.error, "results")


async def _reported(ctx: Context, result: Result) -> Found:
    """Return the findings of the researcher: its report, if it wrote one, else its answer."""
    found = _found(result)
    if not result.ok or result.report is None:
        return found
    text = await whole_text(ctx, result.report)
    return replace(found, output=text.partition(REFERENCES)[0].strip() or found.output)


async def _knowledge(ctx: Context, objective: str) -> Found:
    """Return the best passages of the operator's documents."""
    if not ctx.searches:
        return Found()
    response = await ctx.tcp.invoke("knowledge", {"question": objective[:2_000]})
    return _searched(response.value, response.error, "passages")


def _searched(value: Mapping[str, Any] | None, error: Mapping[str, Any] | None, name: str) -> Found:
    if value is None:
        return Found(error="" if error is None else str(error["problem"]))
    results: list[dict[str, Any]] = value[name]
    lines = [f'<passage source="{one["url"]}">\n{_brief(one)}\n</passage>' for one in results]
    sources = [
        {"source": str(one["url"]), "detail": str(one.get("place", "")), "quote": str(one["text"])} for one in results
    ]
    return Found(output="\n".join(lines), sources=sources, parts=lines)


def _brief(passage: Mapping[str, Any]) -> str:
    """Return a passage for a task's output; nobody judged it, and its sources keep the whole of it."""
    text = f"{passage['title']}: {passage['text']}"
    return text if len(text) <= MOST_PASSAGE else f"{text[:MOST_PASSAGE]}..."


def _once(sources: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return each place of a source once, as engines and documents may give the same."""
    found: dict[tuple[str, str, str], Mapping[str, str]] = {}
    for one in sources:
        found.setdefault((one["source"], one.get("detail", ""), one.get("quote", "")), one)
    return list(found.values())


def _found(result: Result) -> Found:
    answer = result.answer if isinstance(result.answer, str) else json.dumps(result.answer, ensure_ascii=False)
    sources = [one.model_dump(mode="json") for one in result.evidence]
    if result.ok and answer:
        return Found(output=f"{answer}\n\n{result.reason}".rstrip(), sources=sources)
    reason = result.reason or "it gave no answer"
    return Found(output=answer if result.exhausted else "", error=reason, sources=sources if result.exhausted else ())


async def _written(ctx: Context, prefix: str) -> list[str]:
    response = await ctx.ecp.invoke("workspace#list_files", {"limit": MOST_FILES})
    files: list[dict[str, Any]] = response.value["files"] if response.ok else []
    return [str(one["name"]) for one in files if str(one["name"]).startswith(prefix)]
