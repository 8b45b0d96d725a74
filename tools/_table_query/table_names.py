"""Table names as models write them: names of files, or `data` for the only table, become those of the tables."""

import re
import sqlite3
from collections.abc import Mapping

_ABSENT = re.compile(r"no such table: (.*)|near \"(table)\": syntax error", re.DOTALL | re.IGNORECASE)
_WORDS = """
csv data dataframe dataset df file input input_table my_table rows sheet sheet1 t table tbl
"""
_ANY = frozenset(_WORDS.split())
_MOST_NAMES = 8
_OTHERS = r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*(?:\]|\Z)|`(?:[^`]|``)*`|--[^\n]*|/\*.*?(?:\*/|\Z)"""
_KEYWORDS = (
    "cross|except|full|group|having|inner|intersect|join|left|limit|natural|offset|on|order|outer|right|union|using"
    "|where|window"
)
_ALIAS = re.compile(rf"\s{{1,99}}(?!(?:{_KEYWORDS})\b)[\"\[`\w]", re.IGNORECASE)
_SIMPLE = re.compile(r"[^\W\d]\w*")


def with_table_names(connection: sqlite3.Connection, sql: str, files: Mapping[str, str]) -> str:
    """Return a statement with the tables in place of their files, and the only table in place of words for any.

    Names that SQLite knows stay.

    Args:
        connection: The tables.
        sql: The statement.
        files: The file of each table, by its name.
    """
    for _ in range(_MOST_NAMES):
        try:
            connection.execute(f"EXPLAIN {sql}").close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            found = _ABSENT.match(str(error))
            name = (found[1] or found[2]) if found else ""
            table = _meant(name, files)
            if not table or (changed := _replaced(sql, name, table)) == sql:
                return sql
            sql = changed
        else:
            return sql
    return sql


def _meant(name: str, files: Mapping[str, str]) -> str:
    """Return the only table meant by a name, empty if there is none or several."""
    last = _file_name(name)
    found = [table for table, file in files.items() if last and _file_name(file) == last]
    if not found and name.casefold() in _ANY:
        found = [*files]
    return found[0] if len(found) == 1 else ""


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path.casefold())[-1]


def _replaced(sql: str, name: str, table: str) -> str:
    """Return a statement with another name of a table; the name written stays as an alias if nothing else is one."""
    plain = re.escape(name)
    written = rf"'{plain}'|\"{plain}\"|\[{plain}\]|`{plain}`|{plain}(?![\w.(])"
    place = re.compile(rf"\b(from|join)\b(\s{{0,99}})(?:{written})|{_OTHERS}", re.DOTALL | re.IGNORECASE)

    def put(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        alias = f' AS "{name}"' if _SIMPLE.fullmatch(name) and not _ALIAS.match(sql, found.end()) else ""
        return f'{found[1]}{found[2] or " "}"{table.replace(chr(34), chr(34) * 2)}"{alias}'

    return place.sub(put, sql)
