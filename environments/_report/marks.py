"""Marks behind doubtful values: each behind its unit, and one note below a table with several."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MARK = " [?]"
MOST_IN_CELLS = 2  # marks of a table; of more there is one note below it
MOST_NOTED = 12  # values that the note of a table names

_UNIT = re.compile(
    r"[ \t\u00a0\u202f]?(?:[%‰€$£¥]|°[CF]?|(?:per\s?cent|EUR|USD|GBP|CHF|k[gmWB]|[cm]m|ms|[MG]B|m[²³23]|[ghmst])\b)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark of a doubtful value.

    Args:
        end: The place behind the value.
        value: The value, as the text has it.
        table: The place behind the last row of its table, negative outside of one.
    """

    end: int
    value: str
    table: int = -1


def marked(text: str, marks: Iterable[Mark]) -> str:
    """Return a text with its marks."""
    placed, tables = list[tuple[int, str]](), dict[int, list[Mark]]()
    for one in marks:
        if one.table >= 0:
            tables.setdefault(one.table, []).append(one)
        else:
            placed.append((_behind_unit(text, one.end), MARK))
    for end, found in tables.items():
        if len(found) <= MOST_IN_CELLS:
            placed += [(_behind_unit(text, one.end), MARK) for one in found]
        else:
            placed.append((end, _note(text[:end], [one.value for one in found])))
    at, pieces = 0, list[str]()
    for place, words in sorted(set(placed)):
        pieces += [text[at:place], words]
        at = place
    return "".join([*pieces, text[at:]])


def _behind_unit(text: str, end: int) -> int:
    unit = _UNIT.match(text, end)
    return unit.end() if unit else end


def _note(before: str, values: list[str]) -> str:
    unlike = list(dict.fromkeys(values))
    more = f" and {len(unlike) - MOST_NOTED} more" if len(unlike) > MOST_NOTED else ""
    gap = "\n" if before.endswith("\n") else "\n\n"
    return f"{gap}{MARK.strip()} In this table: {'; '.join(unlike[:MOST_NOTED])}{more}.\n"
