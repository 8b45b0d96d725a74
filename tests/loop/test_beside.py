"""Test ends beside calls whose results nobody has seen: taken only if they are the one value of the one result."""

from typing import Any

import pytest

from tea.loop.beside import is_told
from tea.loop.observation import Observation

SHOPS = {"columns": ["shop", "n"], "rows": [["Trondheim", 53], ["Oslo", 49], ["Stavanger", 47]]}


def gave(value: Any, ok: bool = True) -> Observation:
    return Observation(id="c", name="call", arguments={}, ok=ok, value=value)


@pytest.mark.parametrize(
    ("answer", "value", "told"),
    [
        (42, 42, True),
        ("42", {"text": "RESULT:\n42", "sandbox": "bubblewrap"}, True),
        (1250.5, {"columns": ["sum"], "rows": [[1250.5]]}, True),
        ("1,250.5", {"columns": ["sum"], "rows": [[1250.5]]}, True),
        ("Oslo.", {"text": "STDOUT:\nOslo\n", "sandbox": "bubblewrap"}, True),
        ("oslo", {"columns": ["shop"], "rows": [["Oslo"]]}, True),
        ("Oslo", {"answer": "Oslo", "ok": True}, True),
        ("Oslo", SHOPS, False),
        ("Oslo has 47 orders, the most of all", SHOPS, False),
        (47, SHOPS, False),
        (53, {"columns": ["shop", "n"], "rows": [["Trondheim", 53]]}, False),
        ("Oslo", {"text": "STDOUT:\nTrondheim\nOslo", "sandbox": "bubblewrap"}, False),
        ("Oslo has 47 orders, the most of all", {"columns": ["n"], "rows": [[47]]}, False),
        (43, 42, False),
        (4, 42, False),
        (True, True, False),
        ("", "", False),
        ("It is done.", {"name": "a.txt", "size": 5}, False),
    ],
)
def test_an_end_is_told_by_the_only_value_of_a_result(answer: Any, value: Any, told: bool) -> None:
    assert is_told(answer, [gave(value)]) is told


def test_an_end_is_told_by_no_failed_result_and_by_none_of_several() -> None:
    assert not is_told(42, [gave(42, ok=False)])
    assert not is_told(42, [gave(42), gave(42)])
    assert not is_told(42, [])
