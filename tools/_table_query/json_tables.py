"""Tables inside JSON: objects in arrays, arrays in objects, objects in objects, one object a line."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from tea import ToolError

from .tables import Budget, Cell, RawTable, plain

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Record = Mapping[str, Json]
_MOST_VALUES = 10_000_000  # of a file
_BRACKET = 6  # values that take as much memory as an object or a list with nothing in it, once it is a row
_WRAPPERS = {"data", "rows", "records", "items", "results", "values", "features", "entries", "list", "objects"}


def read_json(text: str, name: str, file: str, budget: Budget) -> list[RawTable]:
    """Return the tables in a JSON text, most often one.

    Raises:
        ToolError: The text is not JSON, holds no table, or too much.
    """
    if text.count(",") + _BRACKET * sum(map(text.count, "[{")) > _MOST_VALUES:
        raise ToolError(f"{file!r} holds more than {_MOST_VALUES:,} values.", fix="split the file.")
    try:
        found = _tables(_parse(text, file), name)
        tables = [_raw(records, label, file, budget) for label, records in found]
    except RecursionError:
        raise ToolError(f"{file!r} is nested too deeply.", fix="flatten the file.") from None
    if not tables:
        raise ToolError(f"{file!r} holds no table.", fix="give an array of objects, or an object of them.")
    return tables


def _parse(text: str, file: str) -> Json:
    try:
        return cast(Json, json.loads(text))
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [cast(Json, json.loads(line)) for line in lines]
        except ValueError:
            raise ToolError(f"{file!r} is not JSON: {error}.", fix="repair the file.") from None


def _tables(value: Json, name: str) -> list[tuple[str, list[Record]]]:
    if records := _records(value):
        return [(name, records)]
    if not isinstance(value, Mapping):
        return []
    inner = {
        key: records for key, item in value.items() if not isinstance(item, Mapping) and (records := _records(item))
    }
    if inner:
        return [(name if len(inner) == 1 and key.lower() in _WRAPPERS else key, rows) for key, rows in inner.items()]
    lists = {key: item for key, item in value.items() if isinstance(item, list)}
    if lists and len(lists) == len(value) and len(set(map(len, lists.values()))) == 1:
        rows = zip(*lists.values(), strict=True)
        return [(name, [dict(zip(lists, row, strict=True)) for row in rows])]
    objects = {key: item for key, item in value.items() if isinstance(item, Mapping)}
    if len(objects) >= 2 and len(objects) == len(value):
        if all(item and all(isinstance(deep, Mapping) for deep in item.values()) for item in objects.values()):
            return [(key, _keyed(item)) for key, item in objects.items()]
        return [(name, _keyed(objects))]
    if len(objects) == 1:
        return _tables(next(iter(objects.values())), name)
    return []


def _records(value: Json) -> list[Record] | None:
    """Return an array of objects, or an array of arrays under a header, as records."""
    if not isinstance(value, list) or not value:
        return None
    items = value
    objects = [item for item in items if isinstance(item, Mapping)]
    if len(objects) == len(items):
        return objects
    rows = [item for item in items if isinstance(item, list)]
    if len(rows) == len(items) > 1 and rows[0] and all(isinstance(cell, str) for cell in rows[0]):
        header = [str(cell) for cell in rows[0]]
        return [dict(zip(header, row, strict=False)) for row in rows[1:]]
    return None


def _keyed(objects: Mapping[str, Json]) -> list[Record]:
    return [{"key": key, **item} for key, item in objects.items() if isinstance(item, Mapping)]


def _raw(records: list[Record], name: str, file: str, budget: Budget) -> RawTable:
    header: dict[str, None] = {}
    flat = [_flat(record) for record in records]
    for record in flat:
        header.update(dict.fromkeys(record))
    budget.take(file, len(header) * len(flat))
    rows = [[record.get(key) for key in header] for record in flat]
    return RawTable(name=name, file=file, header=list(header), rows=rows)


def _flat(record: Record) -> dict[str, Cell]:
    """Flatten one level of nesting with dots; deeper levels stay as JSON text."""
    cells: dict[str, Cell] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            cells.update({f"{key}.{inner}": _cell(item) for inner, item in value.items()})
        else:
            cells[key] = _cell(value)
    return cells


def _cell(value: Json) -> Cell:
    if value is None or isinstance(value, str | int | float):
        return plain(value)
    if isinstance(value, list):
        items = value
        if all(isinstance(item, str | int | float) for item in items):
            return ", ".join(str(item) for item in items)
    return json.dumps(value, ensure_ascii=False)
