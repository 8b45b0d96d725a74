"""Typed tables in a read-only in-memory SQLite database."""

import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

from tea import ToolError, nearest

from .absent import Comparison, OrderedTexts, comparisons, ordered_texts, unquoted
from .aggregates import Effort, Numbers, Pairs
from .as_dates import Dates, dates_of, days_between
from .as_numbers import NumberUse, Replaced, number_doubt, number_uses, replaced_doubt, replaced_uses
from .date_forms import FORMS, Iso
from .date_uses import DateUse, date_uses, subtracted_texts, with_forms, without_forms
from .describing import short
from .dialect import as_sqlite, instead_of_syntax
from .joins import Counting, Join, Side, counting, fans
from .measures import is_measure
from .name_groups import NameGroup, joined_keys, name_groups, tells
from .naming import check_names, unknown_name, with_decimals
from .number_texts import is_number
from .numbers import EITHER
from .results import MOST_RESULT, bounded_rows, counted
from .stored import StoredTable
from .suspects import Suspect, is_the_same, suspects
from .table_names import with_table_names
from .tables import Cell, Table
from .text_functions import ADDED, linear
from .words import quoted

SECONDS = 20.0
MOST_COMPARED = 20  # texts of a statement that are looked for in their columns
MOST_ABSENT = 3
MOST_JOINS = 4
MOST_NEAR = 2_000  # values of a column among which the nearest is told
LONGEST_NEAR = 40  # characters; the time to compare two grows with the square of them
LEAST_NAMES = 0.4  # share of different values of a column of names
MOST_BYTES = 10_000_000  # of one value, in a table or on the way to an answer
MOST_OF_PATTERN = 500  # bytes of LIKE and GLOB, whose time grows with those of text and pattern together
MOST_HEAP = 1_000_000_000  # bytes of SQLite in this process
_FEWEST_BYTES, _MOST_GIVEN = 100_000, 100  # of one value beside many, and the values given to `concat`
_SQL_TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "date": "TEXT"}
_FUNCTION_NAMES = """
abs avg ceil ceiling char coalesce concat concat_ws corr count cume_dist date datetime day dense_rank exp first_value
floor format glob group_concat has_item ifnull iif instr iso json json_array json_array_length json_extract
json_group_array json_group_object json_insert json_object json_quote json_remove json_replace json_set json_type
json_valid julianday lag last_value lead left length like ln log log10 log2 lower ltrim max median min mod month norm
nth_value ntile nullif percent_rank pi pow power printf quarter quote rank replace right round row_number rtrim sign
sqrt stddev stddev_pop strftime substr substring sum time total trim trunc typeof unicode unixepoch upper var_pop
variance year
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_CALLABLE = _FUNCTIONS | {"->", "->>"}
_NAME = r'"(?:[^"]|"")+"|\w+'
_JOINED = re.compile(rf"\bnorm\s*\([^()]*\)\s*==?\s*norm\s*\(\s*(?:({_NAME})\s*\.\s*)?({_NAME})\s*\)", re.IGNORECASE)
_EXPLAINED = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)
_CONCAT = re.compile(r"\bconcat", re.IGNORECASE)
_ISO_FORMS = f"write iso(date, form); forms are {FORMS}."
_ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """A query's rows.

    Args:
        columns: Their names.
        rows: As many as were wanted.
        more: Whether others follow.
        total: How many there are, with those that were skipped; None where nobody counted to the end.
    """

    columns: list[str]
    rows: list[list[Cell]]
    more: bool
    total: int | None


class Database:
    """The tables of one call; a context manager."""

    def __init__(self, tables: Sequence[Table | StoredTable]) -> None:
        self._effort, self._iso = Effort(), Iso()
        self._sheets = [line for one in tables if isinstance(one, Table) for line in one.sheets]
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, uri=True)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
        self._connection.execute(f"PRAGMA hard_heap_limit = {MOST_HEAP}")
        self._connection.execute(
            "SELECT 1 FROM json_each('[]'), json_tree('[]')"
        )  # made before only reading is allowed
        self._columns = {table.name: [column.name for column in table.columns] for table in tables}
        self._typed = {(table.name, one.name.casefold()): one for table in tables for one in table.columns}
        self._files = {table.name: table.file for table in tables}
        self._held = {table.name: table for table in tables if isinstance(table, Table)}
        for number, table in enumerate(tables):
            if isinstance(table, StoredTable):
                self._attach(table, f"stored{number}")
            else:
                self._load(table)
        self._add_functions()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def resolved(self, sql: str) -> str:
        """Return a statement in the dialect of SQLite, with its tables named as they are here.

        Args:
            sql: The statement.
        """
        self._connection.set_authorizer(_authorize)
        return with_table_names(self._connection, as_sqlite(sql), self._files)

    def select(self, sql: str, limit: int, offset: int = 0, *, count: bool = False) -> Selected:
        """Run one read-only statement.

        Args:
            sql: The statement.
            limit: Most rows to return.
            offset: Rows to skip.
            count: Whether to count those that follow.

        Raises:
            ToolError: The statement is wrong, is not a query, or takes too long.
        """
        deadline = time.monotonic() + SECONDS
        self._effort.begin(deadline)
        self._iso.begin()
        self._connection.set_progress_handler(lambda: time.monotonic() > deadline, 1_000)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MOST_OF_PATTERN)
        try:
            self._index(sql)
            check_names(self._connection, sql)
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._longest(sql))
            cursor = self._connection.execute(sql)
            if cursor.description is None:
                raise ToolError("The SQL is not a query.", fix="write one SELECT or WITH statement.")
            skipped = sum(1 for _ in islice(cursor, offset))
            rows = bounded_rows(cursor, limit + 1)
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise self._refusal(error, sql) from None
        names = [str(column[0]) for column in cursor.description]
        known = skipped + len(rows)
        shown = rows[:limit]
        total = counted(cursor, known) if count else None
        return Selected(columns=names, rows=shown, more=len(rows) > limit, total=total)

    def with_forms(self, sql: str) -> str:
        """Return a statement with the form of each column of dates given to `iso` alone, if all of it has one."""
        return with_forms(sql, self._columns, lambda table, name: self._typed[table, name.casefold()].form)

    def drops_decimals(self, sql: str, rows: Sequence[Sequence[Cell]], offset: int = 0) -> bool:
        """Return whether the rows of a statement differ from its own with decimals in divisions of whole numbers.

        It takes what is left of the statement's time; without an answer by then they count as equal.

        Args:
            sql: The statement that was just run.
            rows: Its rows.
            offset: The rows skipped before them.
        """
        if (exact := with_decimals(sql)) == sql or not rows:
            return False
        self._effort.begin(self._effort.deadline)
        try:
            cursor = self._connection.execute(exact)
            return bounded_rows(islice(cursor, offset, None), len(rows)) != rows
        except (sqlite3.Error, OverflowError, ToolError):
            return False

    def doubts(self, sql: str, rows: Sequence[Sequence[Cell]], offset: int = 0) -> list[str]:
        """Return a line about each misleading part of a statement.

        Args:
            sql: The statement that was just run.
            rows: Its rows.
            offset: The rows skipped before them.
        """
        about = (self.absent(sql), self.miscounted(sql), self.merged(sql, rows), self.mistyped(sql))
        return [*chain.from_iterable(about), *self.overcounted(sql, rows, offset)]

    def overcounted(self, sql: str, rows: Sequence[Sequence[Cell]], offset: int = 0) -> list[str]:
        """Return a line about the totals and equal rows of each table with an effect on a statement's rows.

        It takes what is left of the statement's time.

        Args:
            sql: The statement that was just run.
            rows: Its rows.
            offset: The rows skipped before them.
        """
        self._effort.begin(self._effort.deadline)
        try:
            found = suspects(self._connection, sql, self._held)
            return [
                one.words
                for one in found
                if not is_the_same(sql, rows, self._rows_without(one, sql, len(rows), offset))
            ]
        except (sqlite3.Error, OverflowError, ToolError):
            return []

    def _rows_without(self, one: Suspect, sql: str, most: int, offset: int) -> list[list[Cell]]:
        """Return the rows of a statement over a table without suspect ones: a view of the same name is asked."""
        name = quoted(one.table)
        self._connection.set_authorizer(None)
        self._connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} WHERE {one.left}")
        try:
            self._connection.set_authorizer(_authorize)
            return bounded_rows(islice(self._connection.execute(sql), offset, None), most)
        finally:
            self._connection.set_authorizer(None)
            self._connection.execute(f"DROP VIEW temp.{name}")
            self._connection.set_authorizer(_authorize)

    def absent(self, sql: str) -> list[str]:
        """Return a line about each text that a statement compares a column with, but that no cell of it has.

        It takes what is left of the statement's time.

        Args:
            sql: The statement that was just run.
        """
        self._effort.begin(self._effort.deadline)
        compared = dict.fromkeys(islice(comparisons(sql, self._columns), MOST_COMPARED))
        absent = (some[0] for some in compared if not some[0].ordered and not any(map(self._has, some)))
        try:
            return list(map(self._about, islice(absent, MOST_ABSENT)))
        except (sqlite3.Error, ToolError):
            return []

    def miscounted(self, sql: str) -> list[str]:
        """Return a line about each way of a counting statement to count rows several times, or leave them out.

        It takes what is left of the statement's time.

        Args:
            sql: The statement that was just run.
        """
        self._effort.begin(self._effort.deadline)
        if (found := counting(sql, self._columns)) is None:
            return []
        try:
            lines = chain(self._about_joins(found.joins[:MOST_JOINS], found), self._about_once(found))
            return list(dict.fromkeys(lines))
        except (sqlite3.Error, ToolError):
            return []

    def merged(self, sql: str, rows: Sequence[Sequence[Cell]]) -> list[str]:
        """Return a line about each group by a name of several things.

        It takes what is left of the statement's time.

        Args:
            sql: The statement that was just run.
            rows: Its rows.
        """
        self._effort.begin(self._effort.deadline)
        cells = [str(cell) for row in rows for cell in row if cell is not None][:MOST_NEAR]
        how = counting(sql, self._columns)
        sides = [] if how is None else [side for one in how.joins for side in one.sides]
        try:
            groups = islice(name_groups(sql, self._columns), MOST_JOINS)
            return list(dict.fromkeys(filter(None, (self._about_names(one, sides, cells) for one in groups))))
        except (sqlite3.Error, ToolError):
            return []

    def mistyped(self, sql: str) -> list[str]:
        """Return a line about each column of text taken for numbers, or for dates in order.

        It takes what is left of the statement's time.

        Args:
            sql: The statement that was just run.
        """
        self._effort.begin(self._effort.deadline)
        uses = islice(dict.fromkeys(number_uses(sql, self._columns)), MOST_COMPARED)
        compared = islice(ordered_texts(comparisons(sql, self._columns)), MOST_COMPARED)
        replaced = islice(dict.fromkeys(replaced_uses(sql, self._columns)), MOST_COMPARED)
        dated = islice(dict.fromkeys(date_uses(sql, self._columns)), MOST_COMPARED)
        try:
            lines = chain(
                self._iso.doubts(),
                map(self._about_numbers, uses),
                map(self._about_replaced, replaced),
                chain.from_iterable(map(self._about_ordered, compared)),
                map(self._about_dates, dated),
                _about_texts(sql),
            )
            return list(islice(dict.fromkeys(filter(None, lines)), MOST_ABSENT))
        except (sqlite3.Error, ToolError):
            return []

    def _about_numbers(self, use: NumberUse) -> str:
        """Return a line about a column of text taken for numbers, empty if all its values are plain numbers."""
        if self._typed[use.table, use.column.casefold()].kind != "text":
            return ""
        return "" if use.dated and self._dates(use.table, use.column) else number_doubt(self._connection, use)

    def _about_replaced(self, use: Replaced) -> str:
        """Return a line about a column whose texts are no numbers after their replacement either, empty without one."""
        if self._typed[use.table, use.column.casefold()].kind != "text":
            return ""
        return replaced_doubt(self._connection, use)

    def _about_ordered(self, some: OrderedTexts) -> Iterator[str]:
        """Yield lines about a column compared by order with texts: of dates written otherwise, or of numbers."""
        for table, column in some.columns:
            if dates := self._dates(table, column):
                yield from dates.doubts_beside(some.texts)
                return
        if (plain := all(map(is_number, some.texts))) or all(map(is_measure, some.texts)):
            for one in some.columns[:1]:
                yield self._about_numbers(NumberUse(*one, computes=False, orders=not plain))

    def _about_dates(self, use: DateUse) -> str:
        """Return a line about columns of dates subtracted, or ordered otherwise than by time."""
        found = [self._dates(table, column) for table, column in use.columns]
        dates = [one for one in found if one is not None]
        if use.read:
            return next(filter(None, (one.unclear for one in dates)), "")
        if use.subtracted:
            return days_between(*dates) if len(dates) == len(found) else ""
        return next(filter(None, (one.doubt() for one in dates)), "")

    def _about_forms(self, sql: str) -> str:
        """Return how to read a column of dates given to `iso` alone, empty for another one."""
        try:
            found = (self._dates(*one) for one in without_forms(sql, self._columns))
            dates = next((one for one in found if one is not None), None)
        except sqlite3.Error:
            return ""
        return "" if dates is None else f"write {dates.as_iso}{dates.perhaps}; iso(date, form) has the forms {FORMS}."

    def _dates(self, table: str, column: str) -> Dates | None:
        """Return a column of dates, None for another one."""
        typed, name = self._typed[table, column.casefold()], quoted(column)
        if typed.kind not in ("date", "text"):
            return None
        sql = f"SELECT DISTINCT {name} FROM {quoted(table)} WHERE {name} IS NOT NULL LIMIT {MOST_NEAR}"
        form = self._form_beside(table) if typed.ambiguous else typed.form
        return dates_of(name, [str(date) for (date,) in self._connection.execute(sql)], form)

    def _form_beside(self, table: str) -> str:
        """Return the form with day or month first in the other columns of a table, empty if they tell none or both."""
        forms = EITHER & {one.form for (of, _), one in self._typed.items() if of == table}
        return forms.pop() if len(forms) == 1 else ""

    def _about_joins(self, joins: Sequence[Join], how: Counting) -> Iterator[str]:
        """Yield lines about joined rows counted several times, or left out."""
        repeats = {side for side in {side for one in joins for side in one.sides} if self._repeats(*side)}
        fanned = fans(joins, repeats)
        for pair in fanned:
            yield _each_each(side for one in pair for side in one.sides if side[0] == one.many(repeats))
        for one in joins:
            yield from self._about_join(one, how, repeats, fanned=any(one in pair for pair in fanned))

    def _about_join(self, one: Join, how: Counting, repeats: Container[Side], *, fanned: bool) -> Iterator[str]:
        """Yield lines about the rows of two tables; counted rows of `fanned` ones are pairs."""
        if all(side in repeats for side in one.sides):
            yield _each_each(one.sides)
        elif many := one.many(repeats):
            few = one.right if many == one.left else one.left
            if few in how.summed:
                yield f"a row of {few} joins several of {many}, so its columns are summed several times"
            elif how.counts_other(many, few) and not fanned:
                yield f"it counts rows of {many}, not of {few}"
        for (table, keys), (other, others) in (one.sides, one.sides[::-1]):
            seen = (table, keys) in repeats or (other, others) not in repeats
            if seen and not how.keeps and (left := self._unmatched(table, keys, other, others)):
                yield f"{left} rows of {table} join none of {other}, and are left out; LEFT JOIN keeps them"

    def _about_once(self, how: Counting) -> Iterator[str]:
        """Yield lines about equal values of several rows, summed or averaged once."""
        fix = "sum before joining, or replace the join by IN (SELECT ...)" if how.joins else "leave DISTINCT out"
        for table, column in how.once[:MOST_JOINS]:
            if self._repeats(table, [quoted(column)]):
                yield f"DISTINCT takes equal {quoted(column)} of several rows of {table} once; {fix}"

    def _about_names(self, group: NameGroup, sides: Sequence[Side], cells: Sequence[str]) -> str:
        """Return a line about a name for several values of a key, empty without one among the cells."""
        if (key := self._key(group, sides)) is None or re.search(
            rf"\b{re.escape(key[0])}\b", group.shown, re.IGNORECASE
        ):
            return ""
        merged = {tuple(map(str, names)): n for *names, n in self._connection.execute(group.counts(key[1]))}
        order = {cell: place for place, cell in reversed(list(enumerate(cells)))}
        shown = [name for name in merged if all(part in order for part in name)]
        if not merged or (not shown and self._holds(group, cells)):
            return ""
        name = min(shown, key=lambda parts: order[parts[0]]) if shown else next(iter(merged))
        apart = f"GROUP BY {key[1]}, {', '.join(group.groups)} keeps them apart"
        return f"{short(' '.join(name))!r} stands for {merged[name]} {key[0]}, taken as one; {apart}"

    def _key(self, group: NameGroup, sides: Sequence[Side]) -> tuple[str, str] | None:
        """Return the key of the named things, None if no column is known for it."""
        table, name = quoted(group.table), quoted(group.columns[0][0])
        unique = [one for one in group.keys if not self._repeats(group.table, [quoted(one[0])])]
        joined = joined_keys(group, sides)
        for one in group.keys:
            if tells(group.columns[0][0], one[0]) and (one not in unique or one in joined):
                key = quoted(one[0])
                several = (
                    f"SELECT 1 FROM {table} WHERE {key} IS NOT NULL GROUP BY {key} HAVING min({name}) <> max({name})"
                )
                if self._connection.execute(several).fetchone() is None:
                    return one
        named = (one for one in joined if one in unique)
        return next(named, None) if not group.bare or self._hardly_repeats(table, name) else None

    def _hardly_repeats(self, table: str, column: str) -> bool:
        """Return whether most values of a column stand in one row or two."""
        sql = f"SELECT count(DISTINCT {column}) >= {LEAST_NAMES} * count({column}) FROM {table}"
        return bool(self._connection.execute(sql).fetchone()[0])

    def _holds(self, group: NameGroup, cells: Sequence[str]) -> bool:
        """Return whether one of some cells is a name."""
        some = list(dict.fromkeys(cells))[:MOST_COMPARED]
        there = ", ".join("?" * len(some))
        sql = f"SELECT 1 FROM {quoted(group.table)} WHERE {quoted(group.columns[0][0])} IN ({there}) LIMIT 1"
        return self._connection.execute(sql, some).fetchone() is not None

    def _repeats(self, table: str, keys: Sequence[str]) -> bool:
        """Return whether several rows of a table have the same values in some expressions."""
        there = " AND ".join(f"{key} IS NOT NULL" for key in keys)
        sql = f"SELECT 1 FROM {quoted(table)} WHERE {there} GROUP BY {', '.join(keys)} HAVING count(*) > 1 LIMIT 1"
        return self._connection.execute(sql).fetchone() is not None

    def _unmatched(self, table: str, keys: Sequence[str], other: str, others: Sequence[str]) -> int:
        """Return the number of rows of a table without an equal one in another."""
        there = f"SELECT {', '.join(others)} FROM {quoted(other)}"
        sql = f"SELECT count(*) FROM {quoted(table)} WHERE (({', '.join(keys)}) IN ({there})) IS NOT 1"
        return int(self._connection.execute(sql).fetchone()[0])

    def _has(self, one: Comparison) -> bool:
        """Return whether a cell compares so."""
        operator = "LIKE" if one.like else "="
        sql = f"SELECT 1 FROM {quoted(one.table)} WHERE {_side(one)} {operator} ? LIMIT 1"
        return self._connection.execute(sql, (one.text,)).fetchone() is not None

    def _about(self, one: Comparison) -> str:
        """Return a line about a text that is in no cell, with the nearest one, else with the first few."""
        side = _side(one)
        sql = (
            f"SELECT DISTINCT {side} FROM {quoted(one.table)} WHERE length({side}) <= {LONGEST_NEAR} LIMIT {MOST_NEAR}"
        )
        values = [str(value) for (value,) in self._connection.execute(sql)]
        near = nearest(one.text.replace("%", " "), values) if len(one.text) <= LONGEST_NEAR else None
        has = f"; it has {', '.join(repr(short(value)) for value in values[:3])}" if values else ""
        fix = f": did you mean {short(near)!r}?" if near else has
        return f"nothing in {side} is {'like ' if one.like else ''}{short(one.text)!r}{fix}"

    def _index(self, sql: str) -> None:
        """Let joins by normalised words look up their right column, which compares no cell with all of the left one.

        SQLite indexes columns on its own, but no values of functions.
        """
        self._connection.set_authorizer(None)
        try:
            for found in _JOINED.finditer(sql):
                of, column = (unquoted(name or "") for name in found.groups())
                for table in [of] if of in self._columns else self._held:
                    if table in self._held and column in self._columns[table]:
                        index, key = quoted(f"norm {table}.{column}"), quoted(column)
                        self._connection.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {quoted(table)} (norm({key}))")
        finally:
            self._connection.set_authorizer(_authorize)

    def _longest(self, sql: str) -> int:
        """Return the most bytes of one value, so that a row, and the values for one function, fit into memory."""
        steps = self._connection.execute(f"EXPLAIN {sql}") if not _EXPLAINED.match(sql) else ()
        columns = max((step[3] for step in steps if step[1] == "ResultRow"), default=1)
        together = max(columns, _MOST_GIVEN if _CONCAT.search(sql) else 1)
        return min(MOST_BYTES, max(MOST_RESULT // together, _FEWEST_BYTES))

    def _refusal(self, error: Exception, sql: str) -> ToolError:
        text = str(error)
        if named := unknown_name(text, sql, self._columns, _FUNCTIONS, self._sheets):
            return named
        if self._iso.unknown:
            return ToolError(f"iso knows no form {self._iso.unknown!r}.", fix=_ISO_FORMS)
        if "wrong number of arguments to function iso()" in text:
            return ToolError("iso takes a date and its form.", fix=self._about_forms(sql) or _ISO_FORMS)
        if self._effort.full:
            problem = "The SQL computes a median, deviation or correlation of too many numbers at once."
            return ToolError(problem, fix="ask about fewer rows, or about parts of them, one after another.")
        if "interrupted" in text or time.monotonic() > self._effort.deadline:
            return ToolError(f"The SQL takes longer than {SECONDS:.0f} seconds.", fix="ask for less.")
        if "not authorized" in text or "prohibited" in text:
            return ToolError(f"The SQL may only read: {text}.", fix="write one SELECT with ordinary functions.")
        if "one statement" in text:
            fix = "send one SELECT, and each of the others in a call of its own; UNION ALL joins rows."
            return ToolError("The SQL holds more than one statement.", fix=fix)
        if "malformed JSON" in text:
            return ToolError("Not all of it is JSON.", fix="take the rows WHERE json_valid(column).")
        if "vtable constructor failed" in text:
            fix = "of the functions in FROM only json_each and json_tree work; write a SELECT over the tables."
            return ToolError(f"The SQL fails: {text}.", fix=fix)
        other = instead_of_syntax(sql)
        fix = f"write {other}" if other else "check the syntax, which is that of SQLite"
        return ToolError(f"The SQL fails: {text.rstrip('.')}.", fix=f"{fix}; without sql the tables are described.")

    def _load(self, table: Table) -> None:
        columns = ", ".join(f"{quoted(column.name)} {_SQL_TYPES[column.kind]}" for column in table.columns)
        holes = ", ".join("?" * len(table.columns))
        try:
            self._connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns})")
            self._connection.executemany(
                f"INSERT INTO {quoted(table.name)} VALUES ({holes})", zip(*table.cells, strict=True)
            )
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise ToolError(f"{table.file!r} does not fit a database: {error}.", fix="use a simpler file.") from None

    def _attach(self, table: StoredTable, schema: str) -> None:
        """Show a table in a file of its own, under its name and with its columns' names."""
        columns = ", ".join(f"c{number} AS {quoted(one.name)}" for number, one in enumerate(table.columns))
        try:
            self._connection.execute(f"ATTACH DATABASE ? AS {schema}", (f"file:{table.path}?mode=ro&immutable=1",))
            self._connection.execute(f"CREATE TEMP VIEW {quoted(table.name)} AS SELECT {columns} FROM {schema}.t")
        except sqlite3.Error as error:
            raise ToolError(f"{table.file!r} cannot be read as a table: {error}.", fix="ask again.") from None

    def _add_functions(self) -> None:
        for name, count, function in (
            ("iso", 2, self._iso),
            *ADDED,
            *linear(MOST_BYTES),
        ):
            self._connection.create_function(name, count, self._timely(function), deterministic=True)
        for name in ("year", "quarter", "month", "day"):
            self._connection.create_function(name, -1, self._timely(self._iso.part(name)), deterministic=True)
        for name, (least, compute) in _OF_NUMBERS.items():
            self._connection.create_aggregate(name, 1, partial(Numbers, self._effort, least, compute))
        self._connection.create_aggregate("corr", 2, partial(Pairs, self._effort))

    def _timely(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function ending the statement at its deadline; SQLite itself only sees it between steps."""

        def timely(*values: Any) -> Any:
            self._effort.check()
            return function(*values)

        return timely


def _each_each(sides: Iterable[Side]) -> str:
    """Return a line about several rows of two tables for one row."""
    (one, keys), (other, others) = sorted(sides)
    same = ", ".join(dict.fromkeys((*keys, *others)))
    return f"several rows of {one} and of {other} have the same {same}: each joins each; sum or count each table first"


def _about_texts(sql: str) -> Iterator[str]:
    """Yield a line about a difference of dates as texts."""
    if name := subtracted_texts(sql):
        text = f"{name}(...)"
        days = f"julianday({text}) - julianday({text}) gives days"
        yield f"a difference of {text} is of texts, not of dates: {days}"


def _side(one: Comparison) -> str:
    """Return what a comparison compares with its text."""
    return f"{one.function}({quoted(one.column)})" if one.function else quoted(one.column)


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action in _ACTIONS or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _CALLABLE):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


_OF_NUMBERS = {  # the fewest numbers that have a value, and what computes it
    "median": (1, statistics.median),
    "stddev": (2, statistics.stdev),
    "variance": (2, statistics.variance),
    "stddev_pop": (1, statistics.pstdev),
    "var_pop": (1, statistics.pvariance),
}
