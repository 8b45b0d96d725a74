"""The facts about a dataset in words: its tables with their columns, and how it begins."""

import json
from collections.abc import Mapping
from typing import Any

from tea import Context

MOST_COLUMNS = 4_000  # characters of all columns
MOST_READ = 100_000


def table_words(outline: Mapping[str, Any]) -> str:
    """Return the tables of a file with rows and columns, and the rest of the outline.

    Args:
        outline: What `table_query` tells of a file without a query.
    """
    lines = list[str]()
    for table in outline["tables"]:
        lines.append(", ".join(f"{key}: {_plain(one)}" for key, one in table.items() if key not in ("file", "columns")))
        lines += [f"- {_plain(column)}" for column in table["columns"]]
    lines += [f"{key}: {_plain(one)}" for key, one in outline.items() if one and key != "tables"]
    return beginning("\n".join(lines), MOST_COLUMNS)


def beginning(text: str, most: int, lines: int = 0) -> str:
    """Return the first whole lines of a text, with a mark if more follows.

    Args:
        text: The text, or its first part.
        most: Most characters of it; of a longer first line the beginning is shown.
        lines: How many lines the whole of it has; 0 where `text` is all.
    """
    count = _lines(text)
    if len(text) <= most and count >= lines:
        return text
    shown = text[:most].rpartition("\n")[0] if len(text) > most or count < lines else text
    if shown and lines:
        first = _lines(shown) + 1
        return f"{shown}\n[lines {first:,} to {lines:,} are not shown here]"
    shown = shown or text[:most]
    return f"{shown}\n[{len(text) - len(shown):,} more characters are not shown here]"


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


async def whole_text(ctx: Context, name: str) -> str:
    """Return a text file of the workspace, to its end or a limit."""
    text, offset = "", 0
    while len(text) < MOST_READ:
        page = (await ctx.ecp.invoke("workspace#read", {"name": name, "offset": offset})).unwrap()
        text += page["text"]
        if page["next_offset"] is None:
            break
        offset = page["next_offset"]
    return text


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
