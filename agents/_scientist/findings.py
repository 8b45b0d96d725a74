"""The reply of an iteration without the words of a model: its knowledge, and the findings of each task."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MOST_CITED = 10  # sources of a task

_ID = re.compile(r"\b(?:lit|ana)-\d+-\d+\b")


def listed_findings(state: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return the findings of a research as they stand, with a remark on it.

    Args:
        state: The world.
        tasks: The tasks to tell of.
    """
    citations = {str(one["id"]): _citations(one) for one in tasks}
    claims = [str(one["claim"]) + f" ({', '.join(one['tasks'])})" for one in state["discoveries"]]
    listed = {"Hypothesis": [state["hypothesis"]], "Insights": state["insights"], "Discoveries": claims}
    parts = ["The reply could not be worded, so this is what was found, as it stands."]
    for heading, found in listed.items():
        lines = [f"- {one} {_cited(one, citations)}".rstrip() for one in found if one]
        parts += [f"## {heading}", "\n".join(lines)] if lines else []
    for one in tasks:
        parts += [f"## {one['id']}", f"Task: {one['objective']}"]
        parts += [f"It failed: {one['error']}"] if one["error"] else []
        parts += (
            [_block(str(one["output"])), f"Sources: {citations[str(one['id'])] or 'none'}"] if one["output"] else []
        )
        parts += [f"Files: {', '.join(one['artifacts'])}"] if one["artifacts"] else []
    return "\n\n".join(parts)


def _citations(task: Mapping[str, Any]) -> str:
    """Return the citations of a task: its sources without a doubt, and its datasets."""
    sources = [str(one["source"]) for one in task["sources"] if not one.get("doubt")]
    names = list(dict.fromkeys([*sources, *map(str, task["datasets"])]))[:MOST_CITED]
    return " ".join(f"[{number}](<{one}>)" for number, one in enumerate(names, 1))


def _cited(text: str, citations: Mapping[str, str]) -> str:
    return " ".join(found for one in dict.fromkeys(_ID.findall(text)) if (found := citations.get(one, "")))


def _block(text: str) -> str:
    """Return a text as a block of its own: headings and citations in it are none of the reply."""
    fence = "~" * max(3, 1 + max((len(one) for one in re.findall(r"~+", text)), default=0))
    return f"{fence}\n{text.strip()}\n{fence}"
