"""Queries written as SQL over the tables as `table_query` names them."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from .query import AnyOf, Condition, Measure, Query, Where, columns_of
from .schema import Column, Link, Schema
from .tokens import DAYS, MONTHS, norm


class Unreachable(Exception):
    """A query needs tables without a link between them."""


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | int | float) -> str:
    """Return a value as SQL writes it."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def named(column: Column) -> str:
    """Return a column's full name; for a part of a date, its expression."""
    name = f"{quoted(column.table)}.{quoted(column.name)}"
    if not column.part:
        return name
    day = f"iso({name}, {literal(column.form)})"
    if column.part == "year":
        return f"substr({day}, 1, 4)"
    mark, first, names = ("%m", 1, MONTHS) if column.part == "month" else ("%w", 0, (*DAYS[-1:], *DAYS[:-1]))
    cases = (f"WHEN {number} THEN {literal(text.title())}" for number, text in enumerate(names, first))
    return f"CASE CAST(strftime({literal(mark)}, {day}) AS INTEGER) {' '.join(cases)} END"


class Writer:
    """Writes one query; joins tables along their links, from many rows to one."""

    def __init__(self, query: Query, schema: Schema) -> None:
        self.query = query
        self.schema = schema
        self.base = query.base or self._base()

    def write(self) -> str:
        """Return the SQL.

        Raises:
            Unreachable: The tables are not linked.
        """
        query = self.query
        writers: dict[str, Callable[[], str]] = {
            "scalar": self._scalar, "values": self._values, "top": self._top, "groups": self._groups,
            "share": self._share, "exists": self._exists, "check": self._check, "truth": self._truth,
            "place": self._place, "having": self._having
        }  # fmt: skip
        return writers[query.kind]() if query.kind in writers else self._pair()

    # tables

    def _base(self) -> str:
        """Return the table of the rows looked at, the start of all joins."""
        query = self.query
        main = [*query.select, *([query.group] if query.group else [])]
        if query.measure and query.measure.column:
            main.append(query.measure.column)
        counted = query.measure.table.name if query.measure and query.measure.table else ""
        needed = list(dict.fromkeys(column.table for column in main))
        if (
            query.table
            and query.kind in ("scalar", "groups", "share", "exists", "truth")
            and not (query.measure and query.measure.column)
        ):
            needed.insert(0, query.table.name)
        tested = [column.table for column in (*columns_of(query.where), *columns_of(query.part))]
        needed = list(dict.fromkeys([counted, *needed] if counted else needed)) or list(dict.fromkeys(tested))
        if not needed and query.table:
            needed = [query.table.name]
        for candidate in needed:
            if all(other == candidate or self.schema.path(candidate, other) for other in needed):
                return candidate
        raise Unreachable

    def _from(self, columns: Iterable[Column], where: Where) -> str:
        """Return FROM with the joins for columns and conditions, and WHERE."""
        tables = {column.table for column in columns} | {column.table for column in columns_of(where)}
        joins: list[str] = []
        tests: list[str] = []
        for other in sorted(tables - {self.base}):
            link = self.schema.path(self.base, other)
            if link:
                joins.append(f"JOIN {quoted(other)} ON {self._on(link)}")
            elif not self.schema.path(other, self.base):
                raise Unreachable
        for one in where:
            test = self._any(one) if isinstance(one, AnyOf) else self._test(one)
            tests.append(self._through(one, test))
        condition = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"FROM {quoted(self.base)}{''.join(' ' + join for join in joins)}{condition}"

    def _through(self, one: Condition | AnyOf, test: str) -> str:
        """Return a test on a table with many rows a row as a search for one fulfilling it."""
        tables = {column.table for column in columns_of((one,))} - {self.base}
        other = next(iter(tables), "")
        if not other or self.schema.path(self.base, other):
            return test
        link = self.schema.path(other, self.base)
        if link is None or len(tables) > 1:
            raise Unreachable
        none = isinstance(one, Condition) and (one.negated or one.operator == "missing")
        if none:
            test = self._positive(one)
        inner = f"SELECT norm({quoted(link.column)}) FROM {quoted(other)} WHERE {test}"
        return f"norm({quoted(self.base)}.{quoted(link.other_column)}) {'NOT ' * none}IN ({inner})"

    def _positive(self, one: Condition | AnyOf) -> str:
        """Return the condition no row of the other table may fulfil, joined to a row of this one."""
        assert isinstance(one, Condition)
        if one.operator == "missing":
            return f"{named(one.column)} IS NOT NULL"
        return self._test(replace(one, negated=False))

    @staticmethod
    def _on(link: Link) -> str:
        left = f"{quoted(link.table)}.{quoted(link.column)}"
        right = f"{quoted(link.other_table)}.{quoted(link.other_column)}"
        return f"norm({left}) = norm({right})"

    # conditions

    def _any(self, one: AnyOf) -> str:
        return "(" + " OR ".join(self._test(condition) for condition in one.conditions) + ")"

    def _test(self, one: Condition) -> str:
        test = self._plain_test(one)
        if one.negated:
            return f"({named(one.column)} IS NULL)" if one.operator == "present" else f"NOT ({test})"
        return test

    def _plain_test(self, one: Condition) -> str:
        name = named(one.column)
        match one.operator:
            case "missing":
                return f"{name} IS NULL"
            case "present":
                return f"{name} IS NOT NULL"
            case "holds":
                return "(" + " OR ".join(f"has_item({name}, {literal(value)})" for value in one.values) + ")"
            case "true" | "false":
                truths = one.column.truths or (0, 1)
                return f"{name} = {literal(truths[one.operator == 'true'])}"
            case "starts":
                return f"norm({name}) LIKE {literal(norm(str(one.values[0])) + '%')}"
            case "ends":
                return f"norm({name}) LIKE {literal('%' + norm(str(one.values[0])))}"
            case "contains":
                return f"norm({name}) LIKE {literal('%' + norm(str(one.values[0])) + '%')}"
            case _:
                return self._comparison(one)

    def _comparison(self, one: Condition) -> str:
        if one.other:
            return self._with_other(one)
        if one.column.kind == "date":
            return self._date_test(one)
        name, values = named(one.column), [literal(value) for value in one.values]
        if one.operator == "between":
            return f"{name} BETWEEN {values[0]} AND {values[1]}"
        if one.operator == "=" and len(values) > 1:
            return f"{name} IN ({', '.join(values)})"
        return f"{name} {one.operator} {values[0]}"

    def _with_other(self, one: Condition) -> str:
        other = one.other
        assert other is not None
        if one.row:
            value, test = self.day(other), self._test(one.row)
            single = f"SELECT min({value}) FROM {quoted(other.table)} WHERE {test} HAVING count(DISTINCT {value}) = 1"
            return f"{self.day(one.column)} {one.operator} ({single})"
        if one.mean:
            return f"{named(one.column)} {one.operator} (SELECT avg({quoted(other.name)}) FROM {quoted(other.table)})"
        return f"{named(one.column)} {one.operator} {named(other)}"

    def _date_test(self, one: Condition) -> str:
        """Return a test of dates against a day, a month or a year, each a prefix of ISO dates."""
        day = self.day(one.column)
        moments = [str(value) for value in one.values]
        if one.operator == "between":
            return f"{day} BETWEEN {literal(moments[0])} AND {literal(moments[1] + '~')}"
        if one.operator == "=":
            return "(" + " OR ".join(f"{day} LIKE {literal(moment + '%')}" for moment in moments) + ")"
        edge = moments[0] + ("~" if one.operator in (">", "<=") else "")
        return f"{day} {one.operator} {literal(edge)}"

    @staticmethod
    def day(column: Column) -> str:
        """Return a date column in ISO form."""
        return f"iso({named(column)}, {literal(column.form)})" if column.kind == "date" else named(column)

    # measures

    def measured(self, measure: Measure) -> str:
        """Return the expression of an aggregate."""
        if measure.column is None:
            return "count(*)"
        name = self.day(measure.column)
        if measure.function == "distinct":
            return f"count(DISTINCT {name})"
        if measure.function == "range":
            return f"max({name}) - min({name})"
        return f"{measure.function}({name})"

    def _scalar(self) -> str:
        query, measure = self.query, self.query.measure
        assert measure is not None
        columns = [column for column in (measure.column, query.group) if column]
        source = self._from(columns, query.where)
        if query.per and query.group:
            inner = f"SELECT {self.measured(measure)} AS amount {source} GROUP BY {named(query.group)}"
            return f"SELECT {query.per}(amount) AS answer FROM ({inner})"
        if measure.column and measure.column.kind == "date" and measure.function in ("max", "min"):
            direction = "DESC" if measure.function == "max" else "ASC"
            order = f"ORDER BY {self.day(measure.column)} {direction} LIMIT 1"
            rest = " AND " if " WHERE " in source else " WHERE "
            name = named(measure.column)
            return f"SELECT {name} AS answer, 1 AS used {source}{rest}{name} IS NOT NULL {order}"
        used = f"count({named(measure.column)})" if measure.column else "1"
        return f"SELECT {self.measured(measure)} AS answer, {used} AS used {source}"

    def _values(self) -> str:
        query = self.query
        shown = ", ".join(named(column) for column in query.select)
        present = " AND ".join(f"{named(column)} IS NOT NULL" for column in query.select[:1])
        source = self._from(query.select, query.where)
        joint = " AND " if " WHERE " in source else " WHERE "
        return f"SELECT DISTINCT {shown} {source}{joint}{present}"

    def _top(self) -> str:
        """Return a ranking; rows of equal rank all come, to show ties."""
        query, measure = self.query, self.query.measure
        assert measure is not None
        direction = "DESC" if query.descending else "ASC"
        columns = [*query.select, *([measure.column] if measure.column else [])]
        source = self._from(columns, query.where)
        shown = ", ".join(f"{named(column)} AS shown_{index}" for index, column in enumerate(query.select))
        key = self.day(measure.column) if query.group is None and measure.column else self.measured(measure)
        needed = [named(query.select[0])] + ([named(measure.column)] if measure.column else [])
        joint = " AND " if " WHERE " in source else " WHERE "
        present = joint + " AND ".join(f"{name} IS NOT NULL" for name in needed)
        grouping = f" GROUP BY {named(query.group)}" if query.group else ""
        inner = f"SELECT {shown}, {key} AS amount {source}{present}{grouping}"
        places = ", ".join(f"shown_{index}" for index in range(len(query.select)))
        ranked = f"SELECT DISTINCT {places}, amount, rank() OVER (ORDER BY amount {direction}) AS place FROM ({inner})"
        last = query.rank + query.count - 1
        return f"SELECT * FROM ({ranked}) WHERE place <= {last} ORDER BY place"

    def _place(self) -> str:
        """Return the place of a row among all measured ones."""
        query, column = self.query, self.query.measure.column if self.query.measure else None
        assert column is not None
        source = self._from([column, *columns_of(query.part)], query.where)
        joint = " AND " if " WHERE " in source else " WHERE "
        hit = " AND ".join(self._test(one) for one in query.part if isinstance(one, Condition))
        over = f"ORDER BY {self.day(column)} {'DESC' if query.descending else 'ASC'}"
        inner = f"SELECT {hit} AS hit, rank() OVER ({over}) AS place {source}{joint}{named(column)} IS NOT NULL"
        return f"SELECT DISTINCT place AS answer, 1 AS used FROM ({inner}) WHERE hit"

    def _groups(self) -> str:
        query, measure, group = self.query, self.query.measure, self.query.group
        assert measure is not None
        assert group is not None
        source = self._from([column for column in (measure.column, group) if column], query.where)
        joint = " AND " if " WHERE " in source else " WHERE "
        return (
            f"SELECT {named(group)} AS name, {self.measured(measure)} AS amount {source}{joint}"
            f"{named(group)} IS NOT NULL GROUP BY 1 ORDER BY 1"
        )

    def _having(self) -> str:
        """Return the groups with so many rows, or their number."""
        query, measure, group = self.query, self.query.measure, self.query.group
        assert measure is not None
        assert group is not None
        source = self._from([group], query.where)
        joint = " AND " if " WHERE " in source else " WHERE "
        test = f"{self.measured(measure)} {query.operator} {literal(query.number)}"
        inner = f"SELECT {named(group)} AS name {source}{joint}{named(group)} IS NOT NULL GROUP BY 1 HAVING {test}"
        return f"SELECT count(*) AS answer, 1 AS used FROM ({inner})" if query.per else f"{inner} ORDER BY 1"

    def _share(self) -> str:
        query, measure = self.query, self.query.measure
        assert measure is not None
        columns = [measure.column] if measure.column else []
        whole = f"SELECT {self.measured(measure)} {self._from(columns, query.where)}"
        part = f"SELECT {self.measured(measure)} {self._from(columns, (*query.where, *query.part))}"
        return f"SELECT {query.scale}.0 * ({part}) / ({whole}) AS answer, ({whole}) AS used"

    def _truth(self) -> str:
        query, measure = self.query, self.query.measure
        assert measure is not None
        source = self._from([measure.column] if measure.column else [], query.where)
        return f"SELECT {self.measured(measure)} {query.operator} {literal(query.number)} AS answer {source}"

    def _exists(self) -> str:
        return f"SELECT count(*) AS answer, 1 AS used {self._from((), self.query.where)}"

    def _check(self) -> str:
        query = self.query
        asked = f"SELECT count(*) {self._from((), (*query.where, *query.part))}"
        known = [f"{named(column)} IS NOT NULL" for column in columns_of(query.part)]
        everything = self._from(columns_of(query.part), query.where)
        joint = " AND " if " WHERE " in everything else " WHERE "
        return f"SELECT ({asked}) AS answer, (SELECT count(*) {everything}{joint}{' AND '.join(known)}) AS used"

    def _pair(self) -> str:
        query, measure = self.query, self.query.measure
        if measure is None:
            one, two = query.select
            source = self._from(query.select, query.where)
            return f"SELECT DISTINCT {self.day(one)}, 1, {self.day(two)}, 1 {source}"
        sides: list[str] = []
        for where in (query.where, query.part):
            columns = [measure.column] if measure.column else []
            source = self._from(columns, where)
            if measure.function == "value" and measure.column:
                name = self.day(measure.column)
                amount, used = f"min({name})", f"count(DISTINCT {name})"
            else:
                amount, used = self.measured(measure), "1"
            sides.append(f"(SELECT {amount} {source}), (SELECT {used} {source})")
        return f"SELECT {', '.join(sides)}"
