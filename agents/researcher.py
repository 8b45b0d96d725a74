"""The deep researcher: questions to the world, answered from quotations held against their sources.

Source: the paper, Appendix D.3: queries, engines side by side, completeness judged, at most three rounds, a report;
design/028-researcher.md.
"""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from tea import (
    Agent,
    BadOutput,
    BudgetExceeded,
    Context,
    Evidence,
    Result,
    Task,
    consult,
    conversation,
    numbers_following,
)

from ._researcher.enumeration import enumerated, row_schema
from ._researcher.evidence import Claim
from ._researcher.gathering import files
from ._researcher.research import PICTURES, Plan, Research
from ._researcher.sources import Source, unsaid
from ._researcher.writing import written

ROUNDS = 3
MOST_EXCERPTS = 5
MOST_EXCERPT = 1_000
MOST_LACKING = 5  # numbers of an answer that are named
NEEDED = 2  # questions to models without which a round makes no sense

IDLE = (
    "You judged `more`, and named no new query and no unread address. Name in `queries` or `read` what to look for, or "
    "judge `complete` or `absent`."
)
UNCITED = "The answer came in plain words without the numbers of its evidence, so all evidence is listed."
CITED = re.compile(r"\[(\d{1,3}(?:\s?,\s?\d{1,3})*)\]")
UNREADABLE = "The judgement of what was found could not be read, so the search stopped."
NO_MODEL = (
    "No model is configured, so nobody judges what was found; the passages nearest to the question are in the evidence."
)


class Researcher(Agent):
    """Research a question in the web and local documents: an answer, a report, or a list of all members of a group.

    In rounds of searching, reading and judging; it rests on quotations that stand in their sources.
    """

    role = "Researcher"
    competencies = (
        "find out what pages and documents say, in several rounds, each quotation held against its source",
        "list all of a kind, as rows with a source for each cell",
        "rank contradictions, say what is not known, and write reports with sources",
    )
    objectives = ("an answer that follows from sources", "contradictions shown", "no answer where they do not say it")
    relations = {"planner": "hierarchical"}
    tools = ("web_search", "fetch_page", "to_markdown")
    environments = ("workspace#write", "workspace#list_files", "report")
    metadata: ClassVar[Mapping[str, Any]] = {
        "takes": "question",
        "needs": "search",
        "files": "local",
        "topics": "internet literature news online research source study website",
        "settings": {
            "list_seconds": {"type": "integer", "minimum": 1},
            "list_queries": {"type": "integer", "minimum": 1},
            "list_tokens": {"type": "integer", "minimum": 1},
            "list_rounds": {"type": "integer", "minimum": 1},
            "list_unknown_after": {"type": "integer", "minimum": 1},
            "list_until_resolved": {"type": "boolean"},
        },
    }

    async def run(self, ctx: Context, task: Task) -> Result:
        """Plan, search, read and judge in at most three rounds, and answer; a list has rounds of its own."""
        model = await ctx.model()
        if model["solver"]:
            return await _excerpts(ctx, task)
        research = await Research.begin(ctx, task, model)
        named = research.gathering.named(task.text)
        if not (ctx.searches or task.files or named):
            await research.gathering.search(research.gathering.new([task.text]))  # for its error, which says what to do
            if research.gathering.problems:
                return research.without_answer(_unsaid(research))
        try:
            plan = await _planned(research)
            if plan.kind == "list":
                return await enumerated(research, plan)
            await _rounds(research, plan, named)
            return await _answered(research, plan)
        except BudgetExceeded as error:
            research.partial = error.problem
            return research.without_answer(error.problem, exhausted=True)


async def _planned(research: Research) -> Plan:
    """Return the needs of the task; if the plan is unreadable, the task's own words are searched for."""
    task, ctx = research.task, research.ctx
    variables = {
        "task": task.text, "files": list(task.files), "today": research.today, "locale": ctx.locale,
        "facts": [" ".join(filter(None, [one.fact, one.source])) for one in task.facts],
        "before": conversation(task),
        **({"answer": task.answer} if row_schema(task.answer) is not None else {}),  # else who writes it is shown it
    }  # fmt: skip
    try:
        plan = Plan.of(await consult(ctx, "researcher", variables, lambda response: response.output, research.pictures))
    except BadOutput:
        plan = Plan(kind="answer", question=task.text, queries=[task.text])
    if plan.kind == "list" and not plan.columns and row_schema(task.answer) is None:
        plan.kind = "answer"
    research.question = plan.question
    research.checkpoint(0, "planned", plan={"kind": plan.kind, "question": plan.question, "needs": plan.needs})
    return plan


async def _rounds(research: Research, plan: Plan, named: list[str]) -> None:
    """Search, read and judge until the evidence is complete, nothing is left to look for, or three rounds are over.

    Pages named by the task are read in the first round.
    """
    gathering, texts = research.gathering, [one for one in research.task.files if not one.lower().endswith(PICTURES)]
    gathering.problems += await files(research.ctx, texts, plan.question, gathering.sources)
    queries, wanted, number, repaired = plan.queries, named, 0, False
    lost = list[dict[str, str]]()
    while number < ROUNDS:
        number += 1
        left = await gathering.questions()
        if left is not None and left < NEEDED:
            research.partial = "The budget of questions ended before the search did."
            return
        known = [] if number == 1 else [one.number for one in gathering.sources.all()]
        given = number == 1 and not research.ctx.searches and gathering.sources.all()  # files may say all that is asked
        asked = [] if given else gathering.new(queries)
        await gathering.search(asked, plan.since)
        pages = gathering.chosen(wanted)
        await gathering.read(pages, plan.question)
        known = [one for one in known if all(one != page.number for page in pages)]
        again = [one.number for one in _meant(research, lost)]
        new = [one for one in gathering.sources.all() if one.number not in known or one.number in again]
        if not gathering.sources.all() and gathering.problems:
            return  # nothing can be searched: there is nothing to judge
        verdict, lost = await _judged(research, plan, number, new, lost)
        fault = _fault(research, number, verdict, lost)
        if verdict and fault is not None and not repaired and await gathering.affords(NEEDED):
            repaired, shown = True, new if fault else _meant(research, lost) or new
            second, still = await _judged(research, plan, number, shown, lost, fault)
            verdict, lost = (second, still) if second else (verdict, lost)
        if verdict is None:
            research.partial = UNREADABLE
        else:
            research.missing = [] if verdict["verdict"] == "complete" else list(verdict["missing"])
            queries, wanted = verdict["queries"], verdict["read"]
        research.checkpoint(number, "judged", verdict=verdict["verdict"] if verdict else "unreadable")
        _note(research, number, asked, pages, verdict)
        if verdict is None or (verdict["verdict"] != "more" and (research.store.claims or not lost)):
            return
        if not (lost or gathering.new(queries) or gathering.chosen(wanted)):
            break
    research.partial = f"After {number} round{'s' if number > 1 else ''} of searching the evidence is not complete."


def _fault(
    research: Research, number: int, verdict: Mapping[str, Any] | None, lost: list[dict[str, str]]
) -> str | None:
    """Return the words about a verdict to be given again, empty if lost claims say enough; None for a good one."""
    if verdict is None:
        return None
    more, gathering = verdict["verdict"] == "more" and number < ROUNDS, research.gathering
    if more and not lost and not (gathering.new(verdict["queries"]) or gathering.chosen(verdict["read"])):
        return IDLE
    return "" if lost and research.store.claims and not more else None


def _meant(research: Research, lost: list[dict[str, str]]) -> list[Source]:
    """Return the sources named by lost claims, and those with their quotations."""
    urls = [one[name] for one in lost for name in ("url", "stands_in")]
    return [one for one in research.gathering.sources.all() if one.url in urls]


async def _judged(
    research: Research, plan: Plan, number: int, new: list[Source], lost: list[dict[str, str]], fault: str | None = None
) -> tuple[dict[str, Any] | None, list[dict[str, str]]]:
    """Return the verdict on the findings, None if it is unreadable, and its claims absent from their sources.

    It is told which claims of the verdict before were left out, to quote them as they stand in the source.
    """
    store, first = research.store, len(research.store.claims) + 1
    variables = {
        "question": plan.question, "needs": plan.needs, "next": first, "mark": research.mark, "today": research.today,
        "evidence": [one.shown() for one in store.claims], "material": research.material(new),
        "problems": research.gathering.problems[-10:], "queries": research.gathering.queries, "left": ROUNDS - number,
        "lost": lost, **({"fault": fault} if fault else {}),
    }  # fmt: skip
    before = list(store.rejected)
    try:
        verdict: dict[str, Any] = await consult(
            research.ctx, "researcher_verdict", variables, lambda response: response.output
        )
    except BadOutput:
        return None, []
    given: dict[int, int] = {one.number: one.number for one in store.claims}
    for offset, one in enumerate(verdict["claims"]):
        if (claim := await _add_claim(research, one)) is not None:
            given[first + offset] = claim.number
    for conflict in verdict["conflicts"]:
        store.disagree(conflict["about"], [[given[n] for n in side if n in given] for side in conflict["sides"]])
    return verdict, [one for one in store.rejected if not any(one is old for old in before)]


async def _add_claim(research: Research, one: Mapping[str, Any]) -> Claim | None:
    """Add a claim if its quotation is found in its recorded source, else keep it as rejected."""
    sources, quote = research.gathering.sources, str(one["quote"])
    source = sources.of(one["source"])
    line = None if source is None else await research.gathering.holds(source, quote)
    if source is None or line is None:
        why = f"there is no source {one['source']}" if source is None else "the quotation does not stand in the source"
        other = next((each for each in sources.all() if each is not source and each.line_of(quote) is not None), None)
        why += f"; it stands in source {other.number}" if other else ""
        research.store.reject(source.url if source else "", one["claim"], quote, why, other.url if other else "")
        return None
    return research.store.add(source, one["about"], one["claim"], quote, line)


async def _answered(research: Research, plan: Plan) -> Result:
    """Answer from the evidence alone; without any, or if it does not say, the answer is "not known"."""
    task, store = research.task, research.store
    if not store.claims:
        return research.without_answer(_unsaid(research))
    report = plan.kind == "report"
    variables = {
        "task": task.text, "before": conversation(task), "question": plan.question,
        "evidence": [one.shown() for one in store.claims], "conflicts": research.conflicts,
        "missing": research.missing, "lost": research.store.rejected, "mark": research.mark, "report": report,
        "today": research.today, "locale": research.ctx.locale, **({"answer": task.answer} if task.answer else {}),
    }  # fmt: skip
    schema = _answer_schema(task.answer, report=report)
    try:
        draft = await consult(
            research.ctx, "researcher_answer", variables, lambda response: _supported(research, response.output),
            research.pictures, output=schema,
            plain_at_last=None if task.answer else partial(_in_words, research),
        )  # fmt: skip
    except BadOutput as error:
        research.partial = research.partial or "The answer could not be read."
        return research.without_answer(f"The answer could not be read: {error.problem}")
    claims = [one for number in dict.fromkeys(draft["evidence"]) if (one := store.of(number)) is not None]
    if not draft["supported"]:
        return research.without_answer(f"The sources do not say it: {draft['reason']}")
    said = json.dumps(draft["answer"], ensure_ascii=False)
    said = CITED.sub("", said) if isinstance(draft["answer"], str) else said
    told = " ".join([research.question, *(f"{one.claim} {one.quote} {one.date}" for one in claims)])
    follow = unsaid(" ".join(numbers_following(said, told)), "")
    if lacking := [one for one in unsaid(said, told) if one not in follow]:
        research.wrong.append(f"The evidence does not say {' and '.join(lacking[:MOST_LACKING])}, as the answer does.")
    research.ctx.so_far(research.result(draft["answer"], claims))
    name = await written(research, draft) if report else None
    return research.result(draft["answer"], claims, name)


def _supported(research: Research, draft: dict[str, Any]) -> dict[str, Any]:
    """Return a draft with an answer naming its evidence.

    Raises:
        BadOutput: It does not.
    """
    if draft["supported"] and not any(research.store.of(number) for number in draft["evidence"]):
        raise BadOutput("A supported answer names evidence by its numbers.", fix="list them, or set supported false.")
    if draft["supported"] and draft["answer"] in (None, ""):
        raise BadOutput("A supported answer is not empty.", fix="write it, or set supported false.")
    return draft


def _in_words(research: Research, words: str) -> dict[str, Any]:
    """Return a draft of an answer in plain words, resting on its cited evidence, or else on all of it."""
    cited = [int(one) for found in CITED.findall(words) for one in found.split(",")]
    known = [number for number in cited if research.store.of(number) is not None]
    research.missing += [] if known else [UNCITED]
    return {"answer": words, "supported": True, "evidence": known or [one.number for one in research.store.claims]}


def _unsaid(research: Research) -> str:
    sources = [one for one in research.gathering.sources.all() if one.state == "read"]
    if not research.gathering.sources.all():
        return f"Nothing was found: {(research.gathering.problems or ['no source fits the question'])[0]}"
    read = f"{len(sources)} source{'' if len(sources) == 1 else 's'} read"
    return (
        f"The sources do not say it ({read}): "
        f"{'; '.join(research.missing[:3]) or research.unheld or research.partial or 'nothing fits'}"
    )


def _answer_schema(answer: Mapping[str, Any] | None, *, report: bool) -> dict[str, Any]:
    """Return the schema of a draft around the form of the task's answer."""
    form: dict[str, Any] = {name: value for name, value in (answer or {}).items() if name not in ("$defs", "$schema")}
    number_list = {"type": "array", "items": {"type": "integer"}}
    properties: dict[str, Any] = {
        "answer": {"anyOf": [form, {"type": "null"}]} if answer else {"type": "string"},
        "supported": {"type": "boolean"},
        "evidence": number_list,
        "reason": {"type": "string", "default": ""},
    }
    if report:
        section = {"heading": {"type": "string"}, "says": {"type": "string"}, "evidence": number_list}
        items = {"type": "object", "properties": section, "required": [*section], "additionalProperties": False}
        properties |= {"title": {"type": "string"}, "sections": {"type": "array", "items": items}}
    kept = {"$defs": answer["$defs"]} if answer and "$defs" in answer else {}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False} | kept


async def _excerpts(ctx: Context, task: Task) -> Result:
    """Return the passages nearest to a question, without a model to judge them: never as an answer."""
    words = " ".join(re.findall(r"[\w'-]+", task.text))[:400]
    response = await ctx.tcp.invoke("web_search", {"queries": [words], "full": True}) if words else None
    if response is None or not response.ok:
        why = (response.error or {}).get("problem", "") if response else ""
        return Result(ok=False, reason=" ".join(["No model is configured, and nothing was found.", str(why)]).strip())
    found = [one for one in response.value["results"] if one["text"].strip()][:MOST_EXCERPTS]
    evidence = tuple(
        Evidence(source=one["url"], detail=one.get("place", "") or one["title"], quote=one["text"][:MOST_EXCERPT])
        for one in found
    )
    return Result(ok=False, reason=NO_MODEL, evidence=evidence)


def _note(
    research: Research, number: int, queries: list[str], pages: list[Source], verdict: dict[str, Any] | None
) -> None:
    """Write a round as a step, as the trace of every agent has them."""
    calls = [{"name": "web_search", "arguments": {"queries": queries}}] if queries else []
    results = [{"name": "web_search", "ok": True, "sources": len(research.gathering.sources.all())}] if queries else []
    research.ctx.note(
        "step",
        {
            "agent": research.ctx.agent,
            "step": number,
            "observation": {},
            "thinking": "",
            "evaluation": f"verdict: {verdict['verdict']}" if verdict else UNREADABLE,
            "memory": f"{len(research.store.claims)} claims hold, {len(research.store.rejected)} were rejected.",
            "next_goal": "; ".join(research.missing),
            "calls": [*calls, *({"name": "fetch_page", "arguments": {"url": one.url}} for one in pages)],
            "results": [*results, *({"name": "fetch_page", "ok": one.state == "read"} for one in pages)],
        },
    )
