"""What answers of a research may name: sources and datasets that are there; others are asked about once."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tea import BadOutput, named_file

MOST_NAMED = 20
UNSEARCHABLE = "Nothing can be searched here, so plan no LITERATURE task."

_TASK = re.compile(r"\b(?:lit|ana)-\d+-\d+\b")
_DIGITS = re.compile(r"\d+")
_CITED = re.compile(r"(?<![!\\])\[\d{1,4}\]\(<?([^()<>\s]*(?:\([^()\s]*\)[^()<>\s]*)*|[^()<>\n]*)>?\)")
_LINK = re.compile(r"(?<!\\)(?P<begin>!?\[[^\]\n]{0,500}\]\(<?)(?P<name>[^()<>\n]+)")


def quotes(tasks: Sequence[Mapping[str, Any]], datasets: Sequence[str]) -> list[dict[str, str]]:
    """Return the words under claims.

    Those quoted of sources, with the words of their places; of a source without a quote what its task says, and of
    datasets what was computed.

    Args:
        tasks: The tasks that an answer is written from.
        datasets: Names of all datasets; one that no analysis names rests on all of them.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    analyses = [one for one in tasks if one["type"] == "ANALYSIS"]
    named = [(str(one["source"]), str(one.get("quote") or task["output"])) for task in tasks for one in task["sources"]]
    named += [
        (str(one["source"]), _DIGITS.sub("", str(one.get("detail", ""))))  # the number of a line supports no claim
        for task in tasks
        for one in task["sources"]
        if one.get("quote") and not one.get("doubt")
    ]
    for name in datasets:
        own = [one for one in analyses if name in one["datasets"]]
        named += [(name, str(one["output"])) for one in own or analyses]
    for source, quote in named:
        if quote:
            found.setdefault((source, quote), {"source": source, "quote": quote})
    return list(found.values())


def sources_of(tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the sources of tasks, each place once."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in (each for task in tasks for each in task["sources"]):
        whole = {name: str(one.get(name, "")) for name in ("source", "detail", "quote", "doubt")}
        found.setdefault((whole["source"], whole["detail"], whole["quote"]), whole)
    return list(found.values())


def known_sources(tasks: Sequence[Mapping[str, Any]], datasets: Sequence[str]) -> list[str]:
    """Return the citable names: sources and files of tasks, and datasets."""
    found = [str(each["source"]) for one in tasks for each in one["sources"]]
    found += [str(name) for one in tasks for name in one["artifacts"]]
    # What documents of the operator say stands in the outputs, with the addresses.
    return list(dict.fromkeys([*datasets, *found, *(one["output"] for one in tasks)]))


def whole_names(text: str, names: Sequence[str]) -> str:
    """Return a text with the folders of files in its links and pictures.

    Args:
        text: Markdown, in which a file may be named by the last part of its name.
        names: The files that are there; the end of several stays as it is.
    """

    def whole(match: re.Match[str]) -> str:
        name = match["name"].strip().removeprefix("./")
        found = [name] if name in names else [one for one in names if one.endswith(f"/{name}")]
        return f"{match['begin']}{found[0]}" if len(found) == 1 else match[0]

    return _LINK.sub(whole, text)


def cites(names: Sequence[str]) -> Callable[[Any], str]:
    """Return the reading of a text with citations: the first one citing an unknown source is refused.

    Args:
        names: What may be cited; a text counts for all that stands in it.
    """
    refused = list[str]()

    def read(output: Any) -> str:
        text = str(output["text"])
        unknown = [one for one in dict.fromkeys(_CITED.findall(text)) if all(one not in each for each in names)]
        if unknown and not refused:
            refused.extend(unknown)
            named = ", ".join(unknown[:MOST_NAMED])
            problem = f"No task has the source {named}. Cite as a task does, or leave the claim out."
            raise BadOutput(problem, fix="ask another model.")
        return text

    return read


def tasks_for(datasets: Sequence[str], *, searchable: bool = True) -> Callable[[Any], Mapping[str, Any]]:
    """Return the reading of a plan: the first one with an impossible task is refused.

    A task without a type is an analysis if it names datasets, or where nothing can be searched. Of a later one
    literature is left out; its analyses of unknown datasets fail by themselves.

    Args:
        datasets: The names that are there; one without its ending counts.
        searchable: Whether there is any literature.
    """
    refused = list[str]()

    def read(plan: Mapping[str, Any]) -> Mapping[str, Any]:
        plan = {**plan, "tasks": [with_type(one, datasets, searchable=searchable) for one in plan["tasks"]]}
        named = dict.fromkeys(str(name) for one in plan["tasks"] for name in one.get("datasets", ()))
        unknown = [one for one in named if not named_file(one, datasets)]
        there = ", ".join(datasets[:MOST_NAMED]) or "none, so plan no analysis"
        wrong = [f"There is no dataset {', '.join(unknown[:MOST_NAMED])}; there are: {there}."] if unknown else []
        possible = [one for one in plan["tasks"] if searchable or one["type"] != "LITERATURE"]
        if len(possible) < len(plan["tasks"]):
            wrong.append(UNSEARCHABLE)
        if wrong and not refused:
            refused.extend(wrong)
            raise BadOutput(" ".join(wrong), fix="ask another model.")
        return {**plan, "tasks": possible}

    return read


def with_type(task: Mapping[str, Any], datasets: Sequence[str], *, searchable: bool) -> dict[str, Any]:
    """Return a planned task with its type; without one it follows from the named datasets.

    Several names in one text, with commas between them, are as many datasets.
    """
    given = [str(name) for name in task.get("datasets", ())]
    apart = [each for name in given for each in ([name] if named_file(name, datasets) else name.split(","))]
    task = {**task, "datasets": [one.strip() for one in apart]} if len(apart) > len(given) else task
    named = any(str(name) in str(task["objective"]) for name in datasets)
    is_analysis = bool(task.get("datasets")) or named or (bool(datasets) and not searchable)
    return {"type": "ANALYSIS" if is_analysis else "LITERATURE", **task}


def supporting(evidence: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the evidence of a discovery by the ids of its tasks; words beside an id are its explanation."""
    found = list[dict[str, str]]()
    for one in evidence:
        ids = list(dict.fromkeys(_TASK.findall(one["task"])))
        rest = _TASK.sub("", one["task"]).strip(" :,;()-\u2013\u2014") if len(ids) == 1 else one["task"] if ids else ""
        words = " ".join(each for each in (rest, one["explanation"]) if each)
        found += [{"task": id, "explanation": words} for id in ids or [one["task"]]]
    return found
