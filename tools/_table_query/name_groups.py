"""Groups by names in a statement, and the columns to tell equal names apart."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from .absent import unquoted
from .column_uses import COLUMN
from .joins import ASIDE, aliases_of, having_of, owner
from .words import norm, singular

_CLAUSE = re.compile(
    r'"(?:[^"]|"")*+"?|[(),]|\b(?:select|from|group\s++by|having|order\s++by|limit|window|union|except|intersect)\b',
    re.IGNORECASE,
)
_COLUMN = re.compile(rf"\s*+{COLUMN}\s*+", re.IGNORECASE)
_CALLED = re.compile(r'(.*?)\s++(?:as\s++)?("(?:[^"]|"")++"|[^\W\d]\w*+)\s*+', re.IGNORECASE | re.DOTALL)
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST, _LONGEST, _DIGITS = 20, 300, 3  # of what is read; characters of an item
_IDS = {"id", "key", "uuid", "guid", "ident"}
_KEYS = {*_IDS, "code", "no", "nr", "num", "number", "ref"}
_PARTS = {"first", "last", "given", "family", "middle", "surname", "forename", "firstname", "lastname"}
_NAMES = {"name", "title", "label", "full", "nom", "nombre", "nome", "naam", "navn", "namn", *_PARTS}


class NameGroup(NamedTuple):
    """Rows grouped by the name of the things in a table.

    Args:
        table: The table.
        columns: The columns of the name, one or its parts, and as the statement writes them.
        keys: Columns with a value for each of what is so named, and as the statement may write them.
        bare: Whether no word of the name tells what it names.
        groups: All it groups by, as the statement writes it.
        tables: What the statement says before it of tables of its own, beginning with WITH.
        rows: The part of the statement with its rows, from FROM on.
        shown: What its SELECT gives.
    """

    table: str
    columns: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]
    bare: bool
    groups: tuple[str, ...]
    tables: str
    rows: str
    shown: str

    def counts(self, key: str) -> str:
        """Return a statement for the names with several values of a key, each with their number."""
        names = ", ".join(written for _, written in self.columns)
        groups = ", ".join(self.groups)
        begin = f"{self.tables}SELECT {names}, count(DISTINCT {key}) AS n"
        return f"{begin} {self.rows} GROUP BY {groups} HAVING count(DISTINCT {key}) > 1 LIMIT 1000"


class _Select:
    """The places of the parts of a SELECT."""

    def __init__(self, at: int, start: int, *, within: bool) -> None:
        self.at, self.within = at, within
        self.start, self.rows, self.group, self.by, self.end = start, -1, -1, -1, -1
        self.commas = list[int]()


def name_groups(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[NameGroup]:
    """Yield the groups by names in a statement.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    plain = ASIDE.sub(lambda found: "'" + " " * (len(found[0]) - 2) + "'" if found[0][0] == "'" else " ", sql)
    if len(plain) != len(sql):  # with comments, which are left out
        sql = ASIDE.sub(lambda found: found[0] if found[0][0] == "'" else " ", sql)
    aliases, _ = aliases_of(plain, columns)
    having = having_of(aliases, columns)
    selects = _selects(plain)
    first = next((one.at for one in selects if not one.within), 0)
    for select in [one for one in selects if one.by >= 0 and one.end >= 0 and len(one.commas) <= _LONGEST][:_MOST]:
        ends = [*(at for at in select.commas if at < select.rows), select.rows]
        shown = [sql[start:end].strip(" ,\n\t") for start, end in zip([select.start, *ends], ends, strict=False)]
        ends = [*(at for at in select.commas if at > select.by), select.end]
        written = [sql[start:end].strip(" ,;\n\t") for start, end in zip([select.by, *ends], ends, strict=False)]
        groups = tuple(_meant(one, shown, having) for one in written)
        of_tables: dict[str, list[tuple[str, str]]] = {}
        for one in groups:
            found = _COLUMN.fullmatch(one)
            table = owner(found[1], found[2], aliases, having) if found else None
            if found is not None and table is not None:
                of_tables.setdefault(table, []).append((unquoted(found[2]), one))
        rows, listed = sql[select.rows : select.group].strip(), sql[select.start : select.rows]
        tables = "" if select.within else sql[:first]  # named by WITH
        for table, grouped in of_tables.items():
            called = [name for name, meant in aliases.items() if meant == table]
            if group := _named(table, grouped, columns[table], called):
                yield group._replace(groups=groups, tables=tables, rows=rows, shown=listed)


def joined_keys(group: NameGroup, sides: Sequence[tuple[str, tuple[str, ...]]]) -> list[tuple[str, str]]:
    """Return the keys of a group used to join its table.

    Args:
        group: The group.
        sides: The tables joined, each with its expressions.
    """
    joined = {keys[0] for table, keys in sides if table == group.table and len(keys) == 1}
    quoted = {name: '"' + name.replace('"', '""') + '"' for name, _ in group.keys}
    return [one for one in group.keys if quoted[one[0]] in joined or _is_compared(one[1], group.rows)]


def tells(name: str, key: str) -> bool:
    """Return whether the name of a column is that of a key beside another column: customer_id, customer."""
    words, named = set(_words(key)), set(_words(name))
    keys = _KEYS if named & _NAMES else _IDS  # a model has several model numbers
    return bool(words & keys) and bool(words - keys) and words - keys == named - _NAMES


def _is_compared(column: str, rows: str) -> bool:
    """Return whether a column is said to equal another one, perhaps of a table of the statement's own."""
    name = re.escape(column)
    return re.search(rf"{name}\s*+==?\s*+[\"\w]*+\.|\.[\"\w]++\s*+==?\s*+{name}(?!\w)", rows, re.IGNORECASE) is not None


def _named(
    table: str, grouped: Sequence[tuple[str, str]], columns: Sequence[str], called: Sequence[str]
) -> NameGroup | None:
    """Return the names among the grouped columns of a table, None without any."""
    parts = [one for one in grouped if _PARTS & set(_words(one[0]))]
    whole = [one for one in grouped if one not in parts and _is_name(one[0], table, columns)]
    names = whole[:1] or (parts if len(parts) > 1 else [])
    if not names or len(called) != 1:
        return None
    by = {name.casefold() for name, _ in grouped}
    before = names[0][1].rpartition(".")[0] or called[0]
    keys = tuple((one, f"{before}.{_quoted(one)}") for one in columns if one.casefold() not in by)
    bare = not set(_words(names[0][0])) - _NAMES
    return NameGroup(table, tuple(names), keys, bare, (), "", "", "")


def _is_name(column: str, table: str, columns: Sequence[str]) -> bool:
    """Return whether a column has the names of the things in its table, or of those with a key in another column."""
    words = set(_words(column))
    rest = words - _NAMES
    return not rest or rest == set(_words(table)) or any(tells(column, key) for key in columns)


def _words(name: str) -> list[str]:
    return singular(norm(_CAPITALS.sub(" ", name))).split()


def _meant(group: str, shown: Sequence[str], having: Mapping[str, set[str]]) -> str:
    """Return the meaning of a group told by its place in the SELECT, or by a name given there."""
    place = int(group) if group.isdecimal() and len(group) <= _DIGITS else 0
    if 0 < place <= len(shown):
        found = _CALLED.fullmatch(shown[place - 1][:_LONGEST])
        return found[1] if found and found[1] else shown[place - 1]
    if unquoted(group).casefold() in having:
        return group
    called = (_CALLED.fullmatch(one[:_LONGEST]) for one in shown[:_MOST])
    return next((one[1] for one in called if one and unquoted(one[2]).casefold() == unquoted(group).casefold()), group)


def _selects(plain: str) -> list[_Select]:
    """Return the SELECTs of a statement."""
    found, around = list[_Select](), list[_Select | None]([None])
    for token in chain(_CLAUSE.finditer(plain), [None]):
        word = "" if token is None else token[0].split()[0].casefold()
        at, open_ = len(plain) if token is None else token.start(), around[-1]
        if word == "(":
            around.append(None)
            continue
        if word == "select" and token is not None:
            around[-1] = _Select(at, token.end(), within=len(around) > 1)
            found.append(around[-1])
        elif word in ("", ")") or word in ("having", "order", "limit", "window", "union", "except", "intersect"):
            if open_ is not None and open_.by >= 0 > open_.end:
                open_.end = at
            if word == ")" and len(around) > 1:
                around.pop()
        elif open_ is not None and token is not None:
            if word == ",":
                open_.commas.append(at)
            elif word == "from" and open_.rows < 0:
                open_.rows = at
            elif word == "group" and open_.rows >= 0:
                open_.group, open_.by = at, token.end()
    return found


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else '"' + name.replace('"', '""') + '"'
