"""Compose the pieces of a report as one Markdown text, with one list of references and its checks."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from tea import RootedFolder, ToolError

from .checks import Checked, Doubt, Evidence, check
from .items import Item
from .marks import MARK
from .references import Reference, References
from .summary import unsaid

MOST_EVIDENCE = 4_000_000

# Code that is read as such by all viewers, targets of links, and addresses stay as they are.
_HTML = re.compile(
    r"^ {0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<![`\\])(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)"
    r"|\]\(<[^<>\n]*>"
    r"|<(?:https?://|mailto:)[^\s<>]*>"
    r"|(?P<before>(?<!\\)(?:\\\\)*)<(?=[A-Za-z/!?])",
    re.DOTALL | re.MULTILINE,
)
_FIGURE = re.compile(
    r"(?P<code>^```.*?^```|(?<!`)(?P<ticks>`+)(?!`).{1,5000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<begin>!\[[^\]\n]{0,500}\]\(<?)(?![a-z][a-z0-9+.-]*:|/)(?P<file>[^()<>\n]+)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A report before it is written.

    Args:
        markdown: All of it.
        references: Its sources, in the order of their numbers.
        doubts: Values that the cited sources do not contain.
        unsourced: Sentences without a citation.
        unfounded: The numbers of these sentences that stand in no source.
        unresolved: Citations without a source.
        missing: Cited files that are not there, and of which no words were given, and figures that are not there.
        unchecked: Numbers of the sources without a known text.
        unsaid: The numbers of the summary that neither a source nor the report says.
    """

    markdown: str
    references: list[Reference]
    doubts: list[Doubt] = field(default_factory=list[Doubt])
    unsourced: list[str] = field(default_factory=list[str])
    unfounded: list[str] = field(default_factory=list[str])
    unresolved: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    unchecked: list[int] = field(default_factory=list[int])
    unsaid: list[str] = field(default_factory=list[str])


def compose(
    title: str,
    items: list[Item],
    workspace: Path,
    *,
    up: str = "",
    names: bool = True,
    summary: str = "",
    known: str = "",
) -> Composed:
    """Return one report of all pieces.

    Args:
        title: What it is about.
        items: Its pieces.
        workspace: The folder that the report is for.
        up: The way to it from the folder of the report's file, such as `../`.
        names: Whether names are told by their capitals.
        summary: What is said of it elsewhere in a few sentences.
        known: What the summary may rest on beside the report and its sources.
    """
    sources = [ref["source"] for one in items for ref in one.references if ref["quote"]]
    references = References(str(workspace), lambda file: os.path.exists(workspace / file), up, sources)
    bodies = [
        references.body(one.content, [(ref["number"], ref["source"], ref["description"]) for ref in one.references])
        for one in items
    ]
    listed = list(references)
    missing = [one.file for one in listed if one.file and not one.link]
    files = {one.number: text for one in listed if one.file and (text := _text(workspace, one.file))}
    quotes = _quotes(items, references, files)
    lost = [one for one in listed if one.file in missing and one.number not in quotes | files]
    figures = _lost_figures(bodies, workspace)
    numbers = [one.number for one in listed if one in lost or one.number in quotes | files]
    evidence = {number: Evidence(quotes.get(number, ""), files.get(number, "")) for number in numbers}
    checked = check("\n\n".join(one for one in bodies if one), evidence, names=names)
    unchecked = [one for one in listed if one.number not in evidence]
    said = [Evidence(one) for one in (checked.text, known) if summary]
    unresolved = list(dict.fromkeys(references.unresolved))
    gone = [*(one.file for one in lost), *figures]
    found = _found(checked, gone, unresolved, unchecked)
    text = _FIGURE.sub(lambda one: one[0] if one["code"] else f"{one['begin']}{up}{one['file']}", checked.text)
    parts = [f"# {' '.join(title.split())}", text.strip(), found]
    parts += [references.section().strip()] if listed else []
    return Composed(
        markdown=without_html("\n\n".join(one for one in parts if one)) + "\n",
        references=listed,
        doubts=checked.doubts,
        unsourced=checked.unsourced,
        unfounded=checked.unfounded,
        unresolved=unresolved,
        missing=gone,
        unchecked=[one.number for one in unchecked],
        unsaid=unsaid(summary, [*evidence.values(), *said]) if summary else [],
    )


def _lost_figures(bodies: list[str], workspace: Path) -> list[str]:
    """Return the missing files of figures."""
    files = [one["file"].strip() for body in bodies for one in _FIGURE.finditer(body) if not one["code"]]
    named = dict.fromkeys(unquote(one).removeprefix("./") for one in files)
    return [one for one in named if not one.startswith("data:") and not os.path.exists(workspace / one)]


def without_html(markdown: str) -> str:
    """Return Markdown with each tag of HTML outside of code as text: others' words must not run in a viewer."""
    return _HTML.sub(lambda match: f"{match['before']}&lt;" if match["before"] is not None else match[0], markdown)


def _quotes(items: list[Item], references: References, files: Mapping[int, str]) -> dict[int, str]:
    """Return the quotes of each source, by its number; one that is the whole file says no more than the file."""
    texts: dict[int, str] = {}
    for given in (one for item in items for one in item.references if one["quote"]):
        found = references.find(given["source"], given["description"])
        if found is not None and given["quote"].strip() != files.get(found.number, "").strip():
            texts[found.number] = f"{texts.get(found.number, '')}\n{given['quote']}"
    return texts


def _text(workspace: Path, name: str) -> str:
    """Return the text of a file of the workspace, empty if it holds none; one from elsewhere is not read."""
    try:
        with RootedFolder(workspace) as files, files.reading(name) as file:
            text = file.read(MOST_EVIDENCE + 1)
            return text.decode() if len(text) <= MOST_EVIDENCE else ""
    except (OSError, UnicodeDecodeError, ToolError):
        return ""


def _found(checked: Checked, lost: list[str], unresolved: list[str], unchecked: list[Reference]) -> str:
    """Return the section about the checks' findings, empty without any."""
    lines: list[str] = []
    if lost:
        lines.append(f"Cited, and not there: {', '.join(lost)}.")
    if unresolved:
        lines.append(f"Citations without a source: {', '.join(unresolved)}.")
    if unchecked:
        named = ", ".join(f"[{one.number}] {one.description}" for one in unchecked)
        lines.append(f"Claims not compared, as the text of their source is not known here: {named}.")
    if checked.doubts:
        told = "neither stands in the cited source nor follows from what was computed from it"
        lines.append(f"Marked{MARK}: what {told}.")
        values: dict[str, list[str]] = {}
        for one in checked.doubts:
            values.setdefault(one.claim, []).append(one.value)
        lines.append("\n".join(f"- {'; '.join(some)}: {claim}" for claim, some in values.items()))
    if checked.unsourced:
        lines.append("Claims without a source:")
        lines.append("\n".join(f"- {one}" for one in checked.unsourced))
    return "\n\n".join(["## Checks", *lines]) if lines else ""
