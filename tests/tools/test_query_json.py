"""Test queries over cells with JSON."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]

ORDERS: dict[str, str | bytes] = {
    "orders.json": json.dumps(
        [
            {
                "id": 1,
                "note": "early",
                "lines": [{"sku": "A", "n": 2, "price": 10}, {"sku": "B", "n": 1, "price": 5.5}],
            },
            {"id": 2, "note": "late", "lines": [{"sku": "A", "n": 1, "price": 10}]},
        ]
    )
}
EACH = "FROM orders o, json_each(o.lines) j"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (
            "SELECT json_extract(j.value, '$.sku') AS sku, SUM(json_extract(j.value, '$.n') * "
            f"json_extract(j.value, '$.price')) {EACH} GROUP BY sku",
            [["A", 30], ["B", 5.5]],
        ),
        (f"SELECT j.value ->> 'sku' {EACH} WHERE o.id = 2", [["A"]]),
        ("SELECT id, lines -> 0 ->> '$.sku', json_array_length(lines) FROM orders", [[1, "A", 2], [2, "A", 1]]),
        ("SELECT COUNT(*) FROM orders, json_tree(lines) WHERE key = 'sku'", [[3]]),
        ("SELECT json_group_array(id) FROM orders WHERE json_valid(lines)", [["[1,2]"]]),
    ],
)
async def test_functions_of_json_read_cells(ask_files: Ask, sql: str, rows: list[Any]) -> None:
    got = (await ask_files(ORDERS, sql=sql)).unwrap()
    assert (got["rows"], got.get("warning", "")) == (rows, "")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT json_extract(note, '$.sku') FROM orders", "Not all of it is JSON"),
        ("SELECT * FROM dbstat", "only json_each and json_tree work"),
        ("SELECT * FROM pragma_table_info('orders')", "may only read"),
        ("SELECT readfile('/etc/passwd') FROM orders", "no function 'readfile'"),
    ],
)
async def test_other_functions_and_texts_are_refused_with_a_fix(ask_files: Ask, sql: str, words: str) -> None:
    error = (await ask_files(ORDERS, sql=sql)).error
    assert error is not None
    told = error.get("fix", "")
    assert (words in f"{error['problem']} {told}", bool(told)) == (True, True)
