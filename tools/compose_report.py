"""Draft a report without a model: findings laid out as Markdown with citations."""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from tea import tool

MOST_TITLE = 90
MOST_QUOTE = 400
MOST_REFERENCES = 20

_CITED = re.compile(r"\[\d+\]\(")
_OPENS = re.compile(r"^```json[ \t]*\n", re.MULTILINE)
_CLOSES = re.compile(r"^```[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A report before its references are numbered."""

    title: str
    summary: str
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding, its place, and the words or values themselves."""

    fact: str
    source: str = ""
    quote: str = ""

    def told(self) -> dict[str, Any]:
        """Return it as a finding of the block of JSON."""
        references = [{"source": self.source, "quote": self.quote}] if self.source else []
        return {"content": self.fact, "references": references}


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The content of a handed-over file."""

    source: str
    content: str


@tool(effects="reads", idempotent=True, network=False, metadata={"category": "solver"})
async def compose_report(
    task: str, materials: list[Material] | None = None, findings: list[Finding] | None = None
) -> Draft:
    """Lay findings out as the Markdown draft of a report, each with citations `[n](source)`.

    Args:
        task: Words, and where there are findings a block of JSON with question, answer, method, and findings, each
            with content and references (source, detail, quote).
        materials: Contents of the files that were handed over.
        findings: What is known already; left out where the task cites sources or has findings of its own.

    Examples:
        >>> (await compose_report("The sky is blue [1](sky.txt).")).markdown
        'The sky is blue [1](sky.txt).'
    """
    cites = _Citations()
    words, facts = _facts(task)
    sections: list[str] = []
    for name, heading in (("question", "Question"), ("answer", "Answer"), ("method", "How it was found")):
        if facts.get(name):
            sections.append(f"## {heading}\n\n{_text(facts[name]).strip()}")
    known = [] if _CITED.search(words) else [one.told() for one in findings or [] if one.source]
    told = _objects(facts.get("findings")) or known
    found = [cites.finding(one) for one in told]
    found += [f"{one.content.strip()} {cites.cite(one.source)}" for one in materials or []]
    if found:
        sections.append("## Findings\n\n" + "\n\n".join(found))
    question, answer = str(facts.get("question") or words or "Findings"), _text(facts.get("answer", ""))
    return Draft(
        title=_line(question, MOST_TITLE),
        summary=" ".join([_line(answer or question, 300), _count(len(found), len(cites))]).strip(),
        markdown="\n\n".join(sections) or words or task,
    )


class _Citations:
    """Number sources in order of citation."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def cite(self, source: str) -> str:
        number = self._numbers.setdefault(source, len(self._numbers) + 1)
        target = " ".join(source.replace("<", "").replace(">", "").split())
        return f"[{number}](<{target}>)" if re.search(r"[\s()]", target) else f"[{number}]({target})"

    def finding(self, one: dict[str, Any]) -> str:
        references = _objects(one.get("references"))[:MOST_REFERENCES]
        cited = dict.fromkeys(self.cite(_text(reference.get("source", ""))) for reference in references)
        lines = [" ".join([_text(one.get("content", "")).strip(), *cited]).strip()]
        for reference in references:
            detail, quote = _line(_text(reference.get("detail", "")), MOST_QUOTE), reference.get("quote", "")
            where = self.cite(_text(reference.get("source", "")))
            words = ": ".join(filter(None, (_code(detail), _code(_line(_text(quote), MOST_QUOTE)))))
            lines += [f"- {words} {where}"] if words else []
        return "\n\n".join([lines[0], "\n".join(lines[1:])]).strip()


def _facts(task: str) -> tuple[str, dict[str, Any]]:
    """Return the words of a task and the JSON object it holds."""
    begin = _OPENS.search(task)
    end = _CLOSES.search(task, begin.end()) if begin else None
    try:
        found: Any = json.loads(task[begin.end() : end.start()]) if begin and end else {}
    except (ValueError, RecursionError):
        found = {}
    if begin is None or end is None or not isinstance(found, dict) or not found:
        return task.strip(), {}
    words = f"{task[: begin.start()]}{task[end.end() :]}".strip()
    return words, cast("dict[str, Any]", found)


def _objects(value: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) if isinstance(one, dict) else {"content": _text(one)} for one in items]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


def _code(text: str) -> str:
    """Show text as it is, with any marks in it."""
    if not text:
        return ""
    ticks = max((len(run) for run in re.findall(r"`+", text)), default=0) + 1
    room = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{'`' * ticks}{room}{text}{room}{'`' * ticks}"


def _count(findings: int, sources: int) -> str:
    if not findings:
        return ""
    first = "One finding" if findings == 1 else f"{findings} findings"
    return f"{first} from {'one source' if sources == 1 else f'{sources} sources'}."
