"""The scientist: a cycle of planning, work, hypothesis, reflection, discovery and decision, until a question rests.

The model suggests and judges; which field a role writes, which tasks run, and when the cycle ends is decided here.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from tea import Agent, Context, Evidence, Message, Result, Task, TeaError, consult, has_searches, named_file, show_files

from ._scientist.citing import cites, known_sources, quotes, sources_of, supporting, tasks_for, whole_names
from ._scientist.decision import Decision, all_failed, by_model, by_person, by_rule, level_of, unplanned, unreadable
from ._scientist.facts import beginning, table_words, whole_text
from ._scientist.findings import listed_findings
from ._scientist.mirror import BRIEF, Mirror
from ._scientist.prose import described_in, in_sentences
from ._scientist.tasks import RESEARCHER, Found, analysis, literature, lost

T = TypeVar("T")
DISCOVERS_FROM = 3  # the number of messages from which on discoveries are looked for
KEPT = ("title", "evolving_objective", "current_objective", "methodology")  # as they were where a reflection lacks them
LEVELS = 3  # latest levels that a reply is written from
GO_ON, STOP = "continue", "stop"
PAGES = "1-3"  # of a PDF file
OUTLINED = 100_000_000  # bytes of a table up to which its values are looked through, too
SHOWN: Mapping[str, str] = {  # the sense that a model needs for a file, by the ending of its name
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp"), "vision"),
    ".pdf": "files",
}
MOST_SHOWN = 10
NOTHING_THERE = (
    "there is nothing to look into: no dataset was given, no search engine is configured and there is no corpus. Give "
    "files with --file, index folders with `tea corpus add FOLDER`, or set the key of a search engine in .env"
)
UNSEEN = "not looked at: no model that sees was shown it"
NO_VERDICT = ("Abstained", "BadOutput", "ContextLengthExceeded", "ProviderError")
WORK: Mapping[str, Callable[[Context, Mapping[str, Any], Mirror], Coroutine[Any, Any, Found]]] = {
    "LITERATURE": literature,
    "ANALYSIS": analysis,
}


class Scientist(Agent):
    """Research a question over several iterations: plan, read, analyse, suppose, reflect, discover, decide."""

    role = "Scientist"
    competencies = (
        "plan literature and analysis tasks for a question, and have them done side by side",
        "form a hypothesis, draw insights, and note discoveries with the tasks that support them",
        "decide whether to go on, and tell a person after each iteration what was found",
    )
    objectives = ("claims that rest on tasks and sources", "nothing found is lost", "an end when nothing new comes")
    relations = {"researcher": "hierarchical", "analyzer": "hierarchical"}
    environments = ("research", "report", "workspace")
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "For `tea research`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Go through iterations until one decides to end, or the limit of the mode is reached."""
        files = [name for name in task.files if not name.startswith(".")]
        begun = await ctx.ecp.invoke("research#begin", {"text": task.text, "files": files, "time": await ctx.now()})
        mirror = Mirror(ctx, begun.unwrap())
        if mirror.state["branch"]:
            await mirror.act("finish")
            return Result(answer=f"This conversation goes on from {mirror.state['branch']}.")
        if not (
            mirror.state["datasets"] or mirror.outputs or await has_searches(ctx, RESEARCHER) or await _lacks_model(ctx)
        ):
            await mirror.act("finish")
            return Result(ok=False, reason=NOTHING_THERE)
        await self._describe(ctx, mirror)
        iteration, before = 1, int(mirror.state["level"])
        while await _scoped(ctx, self._iteration(ctx, mirror, iteration)):
            iteration += 1
        await self._hear(ctx, mirror)  # said during the last reply: the next start plans for it
        await mirror.act("finish")
        last = next(one for one in reversed(mirror.state["messages"]) if one["who"] != "person")
        evidence = tuple(Evidence(**one) for one in last["sources"])
        reason = lost(mirror.tasks(before + 1))
        return Result(
            ok=not reason, reason=reason, answer=last["text"], evidence=evidence, report=last["report"] or None
        )

    async def _iteration(self, ctx: Context, mirror: Mirror, number: int) -> bool:
        """Go through the cycle once, and return whether another iteration follows."""
        message = f"{mirror.run}.{number}"
        await mirror.act("iterate", message=message, iteration=number, time=await ctx.now())
        await self._plan(ctx, mirror, message, number)
        level = int(mirror.state["level"])
        done = await self._execute(ctx, mirror, message, level)
        failed = bool(lost(done))
        if done and not failed:
            await self._suppose(ctx, mirror, message, done)
            async with ctx.group() as group:
                group.spawn(self._reflect(ctx, mirror, message, done))
                group.spawn(self._discover(ctx, mirror, message))
        if await self._hear(ctx, mirror) or not failed:
            decision = await self._next(ctx, mirror, message, number)
        else:
            decision = all_failed()
            await mirror.act("decide", message=message, **decision)
        await self._reply(ctx, mirror, message, decision)
        if decision["by"] == "error":
            decision = await self._ask_person(ctx, mirror, message, decision)
        return decision["go_on"]

    async def _describe(self, ctx: Context, mirror: Mirror) -> None:
        """Describe the datasets not described yet, all with one question."""
        names = [one["name"] for one in mirror.state["datasets"].values() if not one["facts"]]
        if not names:
            return
        async with ctx.group() as group:
            surveys = [group.spawn(_facts(ctx, name)) for name in names]
        facts = {name: one.result() for name, one in zip(names, surveys, strict=True)}
        shown = await _showable(ctx, names)
        facts = {
            name: one if name in shown or not _needs_eyes(name) else f"{one}\n{UNSEEN}" for name, one in facts.items()
        }
        variables = {"datasets": [{"name": name, "facts": one} for name, one in facts.items()], "locale": ctx.locale}
        seen = await show_files(ctx, shown) if shown else ()
        found = await _try(
            ctx, "research_datasets", variables, lambda output: output["descriptions"], seen, described_in(names)
        )
        words = {named_file(str(one["name"]), names): str(one["description"]) for one in found or ()}
        described = {name: {"facts": one, "description": words.get(name, "")} for name, one in facts.items()}
        await mirror.act("describe", datasets=described)

    async def _plan(self, ctx: Context, mirror: Mirror, message: str, number: int) -> None:
        """Append the tasks of this iteration: those approved, those suggested, or those of a first plan."""
        level, approved = int(mirror.state["level"]), mirror.state["clarification"]
        if number > 1:
            await mirror.act("promote", level=level)
        elif approved.get("tasks") and not approved.get("used"):
            _tell(ctx, message, "planning", text="The approved plan is used.")
            await mirror.act("adopt", level=level)
        else:
            _tell(ctx, message, "planning")
            variables, read = await _planning(ctx, mirror, "initial")
            found = await consult(ctx, "research_plan", variables, lambda response: read(response.output))
            await mirror.act("plan", tasks=found["tasks"], objective=found["objective"], level=level)

    async def _execute(self, ctx: Context, mirror: Mirror, message: str, level: int) -> list[dict[str, Any]]:
        """Carry out the open tasks of a level, side by side, and return those of the level."""
        if level < 0:
            return []
        tasks = [one for one in mirror.tasks(level, level) if not one["end"]]
        async with ctx.group() as group:
            for one in tasks:
                group.spawn(_carry_out(ctx, mirror, message, one))
        ids = [one["id"] for one in tasks]
        return [mirror.state["plan"][id] for id in ids]

    async def _suppose(self, ctx: Context, mirror: Mirror, message: str, done: Sequence[dict[str, Any]]) -> None:
        _tell(ctx, message, "hypothesis")
        view = mirror.view(ctx.locale, done)
        found = await _try(
            ctx, "research_hypothesis", view, lambda output: str(output["hypothesis"]), plain=in_sentences
        )
        await mirror.act("suppose", hypothesis=found or "")

    async def _reflect(self, ctx: Context, mirror: Mirror, message: str, done: Sequence[dict[str, Any]]) -> None:
        _tell(ctx, message, "reflection")
        found = await _try(ctx, "research_reflection", mirror.view(ctx.locale, done), lambda output: output)
        if found is not None:
            kept = {name: found[name].strip() or mirror.state[name] for name in KEPT}
            await mirror.act("reflect", **{**found, **kept})

    async def _discover(self, ctx: Context, mirror: Mirror, message: str) -> None:
        """Look for discoveries in all tasks at first, later in the new ones alone; never without an output."""
        state = mirror.state
        tasks = [one for one in mirror.tasks(int(state["considered"]) + 1) if one["output"]]
        if len(state["messages"]) < DISCOVERS_FROM or not tasks:
            return
        _tell(ctx, message, "discovery")
        found = await _try(ctx, "research_discovery", mirror.view(ctx.locale, tasks), lambda output: output)
        if found is not None:
            discoveries = [
                {**one, "evidence": supporting(one["evidence"]), "confidence": level_of(one["confidence"])}
                for one in found["discoveries"]
            ]
            await mirror.act("discover", discoveries=discoveries, level=int(state["level"]))

    async def _hear(self, ctx: Context, mirror: Mirror) -> bool:
        """Take over the person's messages meanwhile, and return whether there were any."""
        texts = await ctx.messages()
        if texts:
            await mirror.act("hear", texts=texts, after=len(mirror.state["messages"]), time=await ctx.now())
        return bool(texts)

    async def _next(self, ctx: Context, mirror: Mirror, message: str, number: int) -> Decision:
        """Suggest the next tasks, and decide; again if the person has said something since."""
        planned = await self._suggest(ctx, mirror, message)
        decision = await self._decide(ctx, mirror, message, number, planned=planned)
        if await self._hear(ctx, mirror) and decision["go_on"]:
            planned = await self._suggest(ctx, mirror, message)
            decision = await self._decide(ctx, mirror, message, number, planned=planned)
        return decision

    async def _suggest(self, ctx: Context, mirror: Mirror, message: str) -> bool:
        """Suggest the tasks of the next iteration, and return whether the plan could be read."""
        _tell(ctx, message, "next plan")
        found = await _try(ctx, "research_plan", *(await _planning(ctx, mirror, "next")))
        plan: Mapping[str, Any] = found or {"tasks": [], "objective": ""}
        await mirror.act("suggest", tasks=plan["tasks"], objective=plan["objective"])
        return found is not None

    async def _decide(self, ctx: Context, mirror: Mirror, message: str, number: int, *, planned: bool) -> Decision:
        """Decide by rule, else by a model; an unreadable verdict stops, and the person decides."""
        decision = by_rule(mirror.state, number) if planned else unplanned()
        if decision is None:
            _tell(ctx, message, "decision")
            level = int(mirror.state["level"])
            variables = mirror.view(ctx.locale, mirror.tasks(level, level), BRIEF)
            try:
                response = await ctx.ask("research_decision", {**variables, "iteration": number})
                decision = by_model(response.output)
            except TeaError as error:
                if error.record()["code"] not in NO_VERDICT:
                    raise
                decision = unreadable(error.problem)
        await mirror.act("decide", message=message, **decision)
        return decision

    async def _ask_person(self, ctx: Context, mirror: Mirror, message: str, decision: Decision) -> Decision:
        """Have the person decide, whose answer the run waits for; what they said meanwhile is planned for."""
        _tell(ctx, message, "waiting")
        answer = await ctx.person(f"{decision['reasoning']} Shall the research go on?", (GO_ON, STOP))
        decided = by_person(decision, go_on=answer == GO_ON)
        await mirror.act("decide", message=message, **decided)
        await mirror.act("settle", message=message, final=not decided["go_on"])
        if decided["go_on"] and await self._hear(ctx, mirror):
            await self._suggest(ctx, mirror, message)
        return decided

    async def _reply(self, ctx: Context, mirror: Mirror, message: str, decision: Decision) -> None:
        """Write the reply of an iteration from the last three levels, with its sources numbered and compared."""
        _tell(ctx, message, "reply")
        shown = mirror.tasks(int(mirror.state["level"]) - LEVELS + 1)
        variables = {**mirror.view(ctx.locale, shown), "decision": dict(decision)}
        known = known_sources(mirror.tasks(0), mirror.state["datasets"])
        text = await _try(ctx, "research_reply", variables, cites(known)) or listed_findings(mirror.state, shown)
        made = [str(name) for one in mirror.tasks(0) for name in one["artifacts"]]
        text = whole_names(text, [*mirror.state["datasets"], *made])
        sources = sources_of(shown)
        report = await ctx.new_id()
        quoted = [{**one, "number": 0} for one in quotes(shown, mirror.state["datasets"])]
        await _report(ctx, "add", {"text": text, "references": quoted, "report": report})
        title = mirror.state["title"] or mirror.state["objective"][:150]
        written = await _report(ctx, "complete", {"title": title, "name": f"reply-{report}", "report": report})
        checked = await whole_text(ctx, written["files"][0])
        cited = [str(one["link"]) for one in written["references"]]
        about = {
            "next_steps": mirror.state["suggestions"],
            "decision": dict(decision),
            "references": written["references"],
            "sources": [one for one in sources if one["source"] in cited],
            "doubts": written["doubts"],
            "missing": written["missing"],
            "report": written["files"][0],
            "ended": await ctx.now(),
        }
        final = not decision["go_on"] and decision["by"] != "error"  # else the person decides about that
        await mirror.act("reply", message=message, text=checked, final=final, about=about)


async def _planning(
    ctx: Context, mirror: Mirror, stage: str
) -> tuple[dict[str, Any], Callable[[Any], Mapping[str, Any]]]:
    """Return the variables of a question for a plan, and the reading of its answer."""
    shown, searchable = mirror.tasks(int(mirror.state["level"]) - LEVELS + 1), await has_searches(ctx, RESEARCHER)
    variables = {**mirror.view(ctx.locale, shown, BRIEF), "stage": stage, "mode": mirror.state["mode"]}
    datasets = list(mirror.state["datasets"])
    return {**variables, "searchable": searchable}, tasks_for(datasets, searchable=searchable)


async def _carry_out(ctx: Context, mirror: Mirror, message: str, task: Mapping[str, Any]) -> None:
    """Carry out one task, and note its start and its end; a failure stays within it."""
    id = str(task["id"])
    await mirror.act("start_task", task=id, time=await ctx.now())
    _tell(ctx, message, "working", task=id, text=str(task["objective"]))
    lacks = str(task["error"])  # planned for a dataset that is not there
    found = Found(error=lacks) if lacks else await WORK[str(task["type"])](ctx, task, mirror)
    await mirror.act(
        "end_task",
        task=id,
        time=await ctx.now(),
        output=found.output,
        error=found.error,
        sources=[dict(one) for one in found.sources],
        artifacts=list(found.artifacts),
        job=found.job,
    )
    _tell(ctx, message, "worked", task=id, text=found.error or found.output[:300])


async def _lacks_model(ctx: Context) -> bool:
    """Return whether a model is missing; the first question says so, with the remedy."""
    return bool((await ctx.model())["solver"])


async def _facts(ctx: Context, name: str) -> str:
    """Return the facts about a file in words: those of its survey, and the beginning of its parsed text."""
    response = await ctx.ecp.invoke("research#survey", {"name": name})
    if not response.ok:
        return "" if response.error is None else response.error["problem"]
    found = response.value
    lines = [f"{found['kind']}, {found['bytes']:,} bytes"]
    lines += [f"{found['lines']:,} lines"] if found["lines"] else []
    lines += [f"columns: {', '.join(found['columns'])}"] if found["columns"] else []
    if found["family"] == "table" and found["bytes"] <= OUTLINED:
        outline = await ctx.tcp.invoke("table_query", {"files": [name]})
        lines += [table_words(outline.value)] if outline.ok else []
    lines += await _parsed(ctx, found) if found["parse"] else [beginning(str(found["head"]), BRIEF, found["lines"])]
    return "\n".join(lines)


async def _parsed(ctx: Context, surveyed: Mapping[str, Any]) -> list[str]:
    """Return a parser's findings in a file: its metadata, how it begins, and the letters in images and scans."""
    is_pdf = surveyed["kind"] == "pdf"
    wanted = {"source": surveyed["name"], **({"pages": PAGES} if is_pdf else {})}
    letters = {**wanted, "ocr": True} if is_pdf or surveyed["family"] == "image" else wanted
    parsed = await ctx.tcp.invoke("to_markdown", letters)
    if not parsed.ok and letters is not wanted:  # nothing here recognises letters
        parsed = await ctx.tcp.invoke("to_markdown", wanted)
    if not parsed.ok:
        return [f"not read: {parsed.error['problem']}"] if parsed.error is not None else []
    found = parsed.value
    facts = [f"{key}: {value}" for key, value in found.get("facts", {}).items()] if is_pdf else []
    title = [f"title: {found['title']}"] if found.get("title") else []
    return [
        *title,
        *facts,
        beginning(str(found["text"]), BRIEF, found["total_lines"]),
        *map(str, found.get("notes", ())),
    ]


async def _showable(ctx: Context, names: Sequence[str]) -> list[str]:
    """Return the files taken by the model as they are: images and PDF files, if it has the sense for them."""
    if not any(_ending(one) in SHOWN for one in names):
        return []
    senses = (await ctx.model())["senses"]
    return [one for one in names if SHOWN.get(_ending(one)) in senses][:MOST_SHOWN]


def _needs_eyes(name: str) -> bool:
    return SHOWN.get(_ending(name)) == "vision"


def _ending(name: str) -> str:
    return f".{name.lower().rpartition('.')[2]}"


async def _try(
    ctx: Context,
    prompt: str,
    variables: Mapping[str, Any],
    read: Callable[[Any], T],
    history: tuple[Message, ...] = (),
    plain: Callable[[str], T | None] = lambda text: None,
) -> T | None:
    """Ask for something the cycle can do without; None after two unreadable replies. Prose may be `plain` enough."""
    try:
        return await consult(ctx, prompt, variables, lambda response: read(response.output), history, plain=plain)
    except TeaError as error:
        if error.record()["code"] != "BadOutput":
            raise
        ctx.note("research", {"phase": "unreadable", "prompt": prompt, "text": error.problem})
        return None


async def _scoped(ctx: Context, work: Coroutine[Any, Any, T]) -> T:
    """Do work in a branch of its own, and raise its own error."""
    try:
        async with ctx.group() as group:
            handle = group.spawn(work)
    except ExceptionGroup as errors:
        raise _first(errors) from None
    return handle.result()


def _first(errors: Any) -> Exception:
    """Return the first error among those of groups inside groups."""
    found: Exception = errors.exceptions[0]
    return _first(found) if isinstance(found, ExceptionGroup) else found


def _tell(ctx: Context, message: str, phase: str, **more: str) -> None:
    ctx.note("research", {"message": message, "phase": phase, **more})


async def _report(ctx: Context, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return (await ctx.ecp.invoke(f"report#{action}", arguments)).unwrap()
