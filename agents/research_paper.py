"""The author: a paper of what a research found, in which every cited source was read in its conversation."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from tea import Agent, BadOutput, Context, Evidence, Result, Task, consult

FIGURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
MOST_OUTPUT = 6_000
MOST_QUOTE = 600
COUNTED = 13
MARK = " [?]"
MARKED = "Marked [?]: not found in the sources."
_BOLD = re.compile(r"(?<![*\\])\*\*(?=[^\s*])([^*\n]{1,500})(?<=[^\s*])\*\*(?!\*)")
_CITED = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")


class ResearchPaper(Agent):
    """Write a paper of the findings of a research: PDF, with its sources."""

    role = "Author"
    competencies = ("write up what a research found", "cite only what was read")
    objectives = ("a paper that says what was found, how, and how certain it is",)
    environments = ("research", "report")
    tools = ("typeset_paper",)
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "For `tea research paper`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Draft once, compare its numbers with what the tasks found, number what is cited, and typeset."""
        state = (await ctx.ecp.state("research")).unwrap()
        tasks = [one for one in state["plan"].values() if one["output"]]
        if not tasks:
            return Result(ok=False, reason="Nothing was found yet that a paper could tell.")
        sources = read_sources(tasks)
        figures = [name for name in task.files if name.lower().endswith(FIGURES)]
        variables = {**_known(state, tasks), "sources": sources, "figures": figures, "locale": ctx.locale}
        draft = await consult(ctx, "research_paper", variables, _cites([one["number"] for one in sources], figures))
        marked, doubts = await _compared(ctx, draft, sources, state)
        paper, cited = composed(marked, sources, figures)
        count = len(doubts) + _lost(draft, [one["number"] for one in sources])
        note = str(draft["words"].get("marked") or MARKED) if count else ""
        about = {"byline": f"{(await ctx.today())}", "language": ctx.locale, "note": note}
        made = await ctx.tcp.invoke("typeset_paper", {**paper, **about})
        files = made.unwrap()["files"]
        evidence = tuple(Evidence(source=one["source"], detail=one["detail"], quote=one["quote"]) for one in cited)
        gaps = (f"{count} mark{'s' if count > 1 else ''} [?]: values or citations not found in the sources",)
        answer = {"title": draft["title"], "pdf": files[0], "files": files, "doubts": count}
        return Result(answer=answer, evidence=evidence, gaps=gaps if count else ())


def read_sources(tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the sources read by the tasks, each once, with numbers from 1; no doubtful ones, no files they made."""
    found: dict[str, dict[str, Any]] = {}
    made = [str(name) for task in tasks for name in task["artifacts"]]
    for task in tasks:
        for one in task["sources"]:
            if not one.get("doubt") and one["source"] and one["source"] not in made:
                kept = found.setdefault(
                    one["source"],
                    {"number": len(found) + 1, "source": one["source"], "detail": "", "quote": "", "tasks": []},
                )
                kept["detail"] = kept["detail"] or one.get("detail", "")[:200]
                kept["quote"] = kept["quote"] or one.get("quote", "")[:MOST_QUOTE]
                kept["tasks"] = list(dict.fromkeys([*kept["tasks"], task["id"]]))
    return list(found.values())


def composed(
    draft: Mapping[str, Any], sources: Sequence[Mapping[str, Any]], figures: Sequence[str]
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Return a draft as data to typeset, and the cited sources in the order of their new numbers.

    Args:
        draft: Title, abstract and sections, with citations as `[n]` of the sources' numbers; others become `[?]`.
        sources: What was read.
        figures: Names of the pictures that are there.
    """
    known = {one["number"]: one for one in sources}
    numbers: dict[int, int] = {}

    def parts(text: str) -> list[dict[str, Any]]:
        text, found, begin = _marked(text, list(known)), list[dict[str, Any]](), 0
        for match in _CITED.finditer(text):
            found += _in_bold(text[begin : match.start()].rstrip())
            again = [numbers.setdefault(one, len(numbers) + 1) for one in dict.fromkeys(_numbers(match[1]))]
            found.append({"kind": "cite", "numbers": sorted(again)})
            begin = match.end()
        return [one for one in [*found, *_in_bold(text[begin:])] if one["kind"] == "cite" or one["text"]]

    abstract = [parts(one) for one in draft["abstract"]]
    sections = [
        {
            "heading": one["heading"],
            "paragraphs": [parts(each) for each in one["paragraphs"]],
            "figures": [
                {"file": name, "caption": parts(each["caption"])}
                for each in one["figures"]
                if (name := flat(each["file"])) in figures
            ],
        }
        for one in draft["sections"]
    ]
    cited = [known[one] for one in numbers]
    references = [  # a quotation stands for one claim of a source, which is cited for others too
        {"number": numbers[one["number"]], "source": one["source"], "detail": "" if one["quote"] else one["detail"]}
        for one in cited
    ]
    paper = {"title": draft["title"], "abstract": abstract, "sections": sections, "references": references}
    return {**paper, "words": draft["words"]}, cited


def _in_bold(text: str) -> Iterator[dict[str, Any]]:
    """Yield the words of a text, and those between two double asterisks in bold."""
    for number, one in enumerate(_BOLD.split(text)):
        yield {"kind": "strong" if number % 2 else "text", "text": one}


def flat(name: str) -> str:
    """Return the name of a task's file in the paper."""
    return name.replace("/", "-")


def _numbers(cited: str) -> list[int]:
    return [int(one) for one in re.split(r"\D+", cited) if one]


def _unknown(cited: str, numbers: Sequence[int]) -> list[int]:
    return [one for one in _numbers(cited) if one not in numbers]


def _lost(draft: Mapping[str, Any], numbers: Sequence[int]) -> int:
    """Return the number of citations of no source."""
    cited = (match for text in _texts(draft) for match in _CITED.findall(text))
    return sum(bool(_unknown(one, numbers)) for one in cited)


def _marked(text: str, numbers: Sequence[int]) -> str:
    """Return a text with a mark in place of each citation of no source."""

    def one(match: re.Match[str]) -> str:
        if not _unknown(match[1], numbers):
            return match[0]
        kept = ", ".join(str(number) for number in _numbers(match[1]) if number in numbers)
        return f"[{kept}]{MARK}" if kept else MARK.strip()

    return _CITED.sub(one, text)


def _cites(sources: Sequence[int], figures: Sequence[str]) -> Callable[[Any], Mapping[str, Any]]:
    """Return the reading of a draft: the first one naming a source or figure not listed is refused."""
    refused = list[str]()

    def read(response: Any) -> Mapping[str, Any]:
        draft: Mapping[str, Any] = response.output
        numbers = [one for text in _texts(draft) for match in _CITED.findall(text) for one in _unknown(match, sources)]
        files = [str(each["file"]) for one in draft["sections"] for each in one["figures"]]
        lost = [one for one in files if flat(one) not in figures]
        wrong: list[str] = []
        if numbers:
            named = ", ".join(f"[{one}]" for one in dict.fromkeys(numbers))
            wrong.append(f"No listed source has the number {named}. Cite one that is listed, or leave the claim out.")
        if lost:
            there = ", ".join(figures) or "none"
            wrong.append(f"There is no figure {', '.join(dict.fromkeys(lost))}; there are: {there}.")
        if wrong and not refused:
            refused.extend(wrong)
            raise BadOutput(" ".join(wrong), fix="ask another model.")
        return draft

    return read


def _texts(draft: Mapping[str, Any]) -> list[str]:
    told = [[*one["paragraphs"], *(each["caption"] for each in one["figures"])] for one in draft["sections"]]
    return [*draft["abstract"], *(text for one in told for text in one)]


async def _compared(
    ctx: Context, draft: Mapping[str, Any], sources: Sequence[Mapping[str, Any]], state: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Return a draft with its doubtful numbers marked, and these.

    A source says its detail, its quote and what its tasks found, a dataset also what was found when it was read.
    """
    tasks = [one for one in state["plan"].values() if one["output"]]
    facts = {str(name): f"{one['facts']}\n{one['description']}" for name, one in state["datasets"].items()}
    outputs = {str(one["id"]): str(one["output"]) for one in tasks}
    own = [f"{one['detail']}\n{one['quote']}" for one in sources]
    references = [
        {"source": one["source"], "number": one["number"]}
        | {"quote": "\n".join([said, facts.get(one["source"], ""), *(outputs[id] for id in _tasks_of(one, tasks))])}
        for one, said in zip(sources, own, strict=True)
    ]
    told = [f"{one['objective']}\n{one['output']}" for one in tasks]
    counts = " ".join(map(str, range(COUNTED)))  # figures, tasks and parts are counted in words of the paper's own
    asked = [f"{one['question']}\n{one['answer']}" for one in state["clarification"].get("answers", ())]
    known = "\n".join([counts, *told, *asked, *facts.values(), *own])
    numbers = [int(one["number"]) for one in sources]
    wanted = {"texts": [_marked(one, numbers) for one in _texts(draft)], "references": references, "known": known}
    found = (await ctx.ecp.invoke("report#compare", wanted)).unwrap()
    texts = iter(found["texts"])
    abstract = [next(texts) for _ in draft["abstract"]]
    sections = [
        {
            **one,
            "paragraphs": [next(texts) for _ in one["paragraphs"]],
            "figures": [{**each, "caption": next(texts)} for each in one["figures"]],
        }
        for one in draft["sections"]
    ]
    return {**draft, "abstract": abstract, "sections": sections}, found["doubts"]


def _tasks_of(source: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of the tasks with a source: those citing it, and those that analysed it."""
    analysed = [str(one["id"]) for one in tasks if source["source"] in one["datasets"]]
    return list(dict.fromkeys([*source["tasks"], *analysed]))


def _known(state: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = ("objective", "evolving_objective", "hypothesis", "insights", "methodology")
    discoveries = [
        {"number": number, "claim": one["claim"], "tasks": one["tasks"], "confidence": one["confidence"]}
        for number, one in enumerate(state["discoveries"], 1)
    ]
    shown: list[dict[str, Any]] = [
        {**{name: one[name] for name in ("id", "type", "objective", "error")}, "sources": []}
        | {"output": one["output"][:MOST_OUTPUT], "artifacts": [flat(each) for each in one["artifacts"]]}
        for one in tasks
    ]
    datasets = [{"name": name, "about": one["description"] or one["facts"]} for name, one in state["datasets"].items()]
    known = {"discoveries": discoveries, "tasks": shown, "datasets": datasets}
    return {**{name: state[name] for name in names}, **known, "answers": state["clarification"].get("answers", [])}
