"""Test pages of long results: the part shown, and the place to read on from."""

from typing import Any

import pytest

from tea.loop.paging import fitted
from tea.models.rendering import rendered

LINES = [f"line {number}" for number in range(11, 61)]
PAGE: dict[str, Any] = {"total_lines": 99, "start": 11, "end": 60, "truncated": True, "text": "\n".join(LINES)}
ROWS: dict[str, Any] = {"columns": ["n"], "rows": [[n] for n in range(50)], "row_count": 50, "truncated": False}


@pytest.mark.parametrize("most", [120, 200, 300, 400])
@pytest.mark.parametrize("more", [{}, {"next_start": 61}])
def test_lines_that_fit_are_shown_with_their_own_end(most: int, more: dict[str, Any]) -> None:
    found: Any = fitted({**PAGE, **more}, {}, most)
    assert found["text"].split("\n") == LINES[: found["end"] - 10]
    assert (found["start"], found["next_start"], found["total_lines"]) == (11, found["end"] + 1, 99)
    assert most - 10 < len(rendered(found)) <= most


def test_what_was_whole_is_called_truncated_once_a_part_is_shown() -> None:
    found: Any = fitted({**PAGE, "total_lines": 60, "truncated": False}, {}, 200)
    assert found["truncated"] is True
    assert "truncated" not in (fitted({name: one for name, one in PAGE.items() if name != "truncated"}, {}, 200) or {})


@pytest.mark.parametrize(("more", "arguments"), [({}, {"offset": "7"}), ({"next_start": 1, "next_offset": 307}, {})])
def test_of_a_line_longer_than_the_room_a_part_is_shown(more: dict[str, Any], arguments: dict[str, Any]) -> None:
    page = {"start": 1, "end": 1, "truncated": bool(more), "text": "x" * 300, **more}
    found: Any = fitted(page, arguments, 200)
    before = 7 if arguments else 0
    assert (found["next_start"], found["next_offset"]) == (1, before + len(found["text"]))
    assert len(rendered(found)) <= 200


@pytest.mark.parametrize(
    ("page", "arguments", "first", "all"),
    [
        (ROWS, {}, 0, 50),
        (ROWS, {"offset": 10}, 10, 60),
        ({**ROWS, "truncated": True, "query_rows": 900, "next_offset": 60}, {"offset": "10"}, 10, 900),
        ({**ROWS, "truncated": True, "next_offset": 60}, {}, 10, None),
    ],
)
def test_rows_that_fit_are_counted(
    page: dict[str, Any], arguments: dict[str, Any], first: int, all: int | None
) -> None:
    found: Any = fitted(page, arguments, 150)
    count = found["row_count"]
    assert 0 < count == len(found["rows"]) < 50
    assert (found["next_offset"], found["truncated"], found.get("query_rows")) == (first + count, True, all)
    assert len(rendered(found)) <= 150


@pytest.mark.parametrize(
    "value",
    [
        "x" * 500, ["x" * 500], {"text": "x" * 500}, {**PAGE, "end": 20}, {**PAGE, "start": True}, {**PAGE, "text": 5},
        {**ROWS, "row_count": 3}, {**ROWS, "columns": "n"}, {**PAGE, "note": "x" * 500}, {**ROWS, "note": "x" * 500},
    ],
)  # fmt: skip
def test_what_is_no_page_or_has_no_room_for_a_line_is_left(value: Any) -> None:
    assert fitted(value, {}, 150) is None
