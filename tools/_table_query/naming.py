"""Names in SQL: meaningless ones in double quotes are found, and errors tell the nearest names."""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing

from tea import ToolError, nearest

from .dialect import around, instead_of_function
from .joins import ASIDE, aliases_of

_MOST_TOLD = 600
_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"((?:[^"]|"")*)"|\[[^\]]*(?:\]|\Z)|`(?:[^`]|``)*`|--[^\n]*|/\*.*?(?:\*/|\Z)|/""", re.DOTALL
)
_NO_NAME = re.compile(r"no such (column|table|function): (.*)", re.DOTALL)
_SIMPLE = re.compile(r"[^\W\d]\w*")
_NEAR = re.compile(r'near "(\w+)": syntax error')
_AMBIGUOUS = re.compile(r"ambiguous column name: (.*)", re.DOTALL)


def check_names(connection: sqlite3.Connection, sql: str) -> None:
    """Refuse meaningless names in double quotes: SQLite would take each for a text.

    It takes no name in backquotes for one, so the statement is compiled once with those.

    Raises:
        sqlite3.Error: A name means nothing, or the statement is wrong otherwise.
    """
    plain = _TOKEN.sub(_in_backquotes, sql)
    if plain != sql:
        connection.execute(f"EXPLAIN {plain}").close()


def columns_as_texts(sql: str, columns: Iterable[str]) -> str:
    """Return a warning about a text in single quotes equal to a column's name."""
    names = {name for name in columns if not _SIMPLE.fullmatch(name)}
    texts = {found[0][1:-1].replace("''", "'") for found in _TOKEN.finditer(sql) if found[0].startswith("'")}
    return "; ".join(f"{name!r} is a text here; the column is {_as_sql(name)}" for name in sorted(texts & names))


def with_decimals(sql: str) -> str:
    """Return a statement with every division one of decimals, also where both numbers are whole."""
    return _TOKEN.sub(lambda found: "* 1.0 /" if found[0] == "/" else found[0], sql)


def unknown_name(
    text: str, sql: str, tables: Mapping[str, Sequence[str]], functions: Iterable[str], sheets: Iterable[str] = ()
) -> ToolError | None:
    """Return the error about a name unknown, ambiguous or reserved to SQLite, None for other errors.

    Args:
        text: What SQLite says.
        sql: The statement.
        tables: The columns of each table, by its name.
        functions: The functions there are.
        sheets: Sheets of one row, which are not tables, in words.
    """
    if found := _AMBIGUOUS.fullmatch(text):
        having = [table for table, columns in tables.items() if _bare(found[1], tables) in columns]
        return ToolError(f"The column {found[1]!r} is in more than one table.", fix=f"name one: {', '.join(having)}.")
    if found := _NEAR.fullmatch(text):
        return _reserved_name(found[1], tables)
    if (found := _NO_NAME.fullmatch(text)) is None:
        return None
    kind, name = found[1], found[2]
    if kind == "table" and (single := [one for one in sheets if _is_of_sheet(one, name)]):
        problem = f"{name[:100]!r} is not a table, as it has one row, and no more than this: {single[0]!r}."
        return ToolError(problem, fix="take what it holds from there, or ask about a table.")
    function = name if kind == "function" else around(sql, name) if kind == "column" else ""
    if other := instead_of_function(function):
        return ToolError(f"There is no function {function[:100]!r}.", fix=f"use {other}.")
    if kind == "column" and (meant := _table_of(name, sql, tables)):
        tables = {meant: tables[meant], **tables}  # told first
        columns = dict.fromkeys(tables[meant])
    else:
        columns = dict.fromkeys(column for columns in tables.values() for column in columns)
    known = {"table": list(tables), "column": list(columns), "function": sorted(functions)}[kind]
    near = nearest(name, known) or (nearest(_bare(name, tables), known) if kind == "column" else None)
    shown = near if kind == "function" else '"' + (near or "").replace('"', '""') + '"'
    fixes = [f"did you mean {shown}?"] if near else []
    if kind == "column" and f'"{name}"' in sql:
        fixes.append("text stands in single quotes;")
    return ToolError(
        f"There is no {kind} {name[:100]!r}.", fix=" ".join([*fixes, f"{_names_in_words(kind, known, tables)}."])
    )


def _reserved_name(word: str, tables: Mapping[str, Sequence[str]]) -> ToolError | None:
    """Return the error about a column named as a word of SQL; None if the word is no column, or not one of SQL."""
    having = (one for columns in tables.values() for one in columns if one.casefold() == word.casefold())
    if (column := next(having, None)) is None or not _is_reserved(word):
        return None
    return ToolError(f"{column!r} is a word of SQL and a column.", fix=f"write the column as {_as_sql(column)}.")


def _is_reserved(word: str) -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f'SELECT {word} FROM (SELECT 1 AS "{word}")').close()
        except sqlite3.Error:
            return True
    return False


def _is_of_sheet(words: str, name: str) -> bool:
    return words.casefold().startswith(f"sheet {name.casefold()}, ")


def _in_backquotes(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return "`" + found[1].replace('""', '"').replace("`", "``") + "`"


def _table_of(name: str, sql: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return the table of a column with its name before it, empty if the statement does not tell it."""
    of, dot, _ = name.partition(".")
    aliases, _ = aliases_of(ASIDE.sub("''", sql), tables)
    return aliases.get(of.casefold(), "") if dot else ""


def _bare(name: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a column without a table or alias before it."""
    return name if any(name in columns for columns in tables.values()) else name.partition(".")[2] or name


def _names_in_words(kind: str, names: Sequence[str], tables: Mapping[str, Sequence[str]]) -> str:
    """Return the names of a kind, of the columns by table, as far as there is room."""
    if kind != "column":
        return f"the {kind}s are {_listed(names)}"
    share = _MOST_TOLD // max(1, min(len(tables), 4))
    return "; ".join(f"{table} has {_listed(columns, share)}" for table, columns in list(tables.items())[:4])


def _listed(names: Sequence[str], most: int = _MOST_TOLD) -> str:
    count, size = 0, 0
    while count < len(names) and (size := size + len(names[count]) + 2) <= most:
        count += 1
    more = f" and {len(names) - count} more" if count < len(names) else ""
    return ", ".join(map(_as_sql, names[:count])) + more


def _as_sql(name: str) -> str:
    """Return a name as a statement has to write it."""
    return name if _SIMPLE.fullmatch(name) and not _is_reserved(name) else '"' + name.replace('"', '""') + '"'
