"""Plain text as an answer: the only long text of a form, such as source code or Markdown, without JSON around it."""

from __future__ import annotations

import re
from typing import Any, cast

from tea.models.written_calls import answered
from tea.types import JsonObject, JsonSchema

LONG = 4_000  # characters that a text must at least be allowed to have
_LIMITED = frozenset({"enum", "const", "pattern", "format", "$ref"})
_FENCED = re.compile(r"```([\w+-]{0,20})[^\S\n]*\n(.*\n)?[^\S\n]*```", re.DOTALL)
_FENCE = re.compile(r"^[^\S\n]*```", re.MULTILINE)
_MARKDOWN = ("markdown", "md")


def sole_text(schema: JsonSchema) -> str:
    """Return the name of the only required member, if it is a long text of any form; else an empty name."""
    members = cast("dict[str, Any]", schema.get("properties") or {})
    needed = [name for name in schema.get("required") or () if "default" not in members.get(name, {})]
    if schema.get("type") != "object" or len(needed) != 1 or needed[0] not in members:
        return ""
    words = members[needed[0]]
    is_long = words.get("type") == "string" and words.get("maxLength", 0) >= LONG
    return needed[0] if is_long and not _LIMITED & words.keys() else ""


def as_sole_text(name: str, text: str) -> JsonObject | None:
    """Return an answer with plain text of several lines, in a fence or not, as its member `name`.

    A single line may say that there is no answer, and what is begun as JSON is broken: both give None.

    Args:
        name: What the member is called.
        text: All that a model said, not cut off.
    """
    said = answered(text).strip()
    begun = said.startswith(("{", "[")) or re.search(rf'"{re.escape(name)}"\s*:', said)
    if "\n" not in said or begun or len(_FENCE.findall(said)) % 2:
        return None
    fenced = _FENCED.fullmatch(said)
    if fenced and (fenced[1] in _MARKDOWN or not _FENCE.search(fenced[2] or "")):
        said = fenced[2] or ""
    return {name: said} if said.strip() else None
