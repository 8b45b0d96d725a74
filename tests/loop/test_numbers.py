"""Test which numbers of an answer follow from what was read: rows of numbers, labels and rounded quotients."""

from typing import Any

import pytest

from tea.loop.numbers import unfounded

FIBONACCI = "STDOUT:\n0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n55\n89\n144\n233\n377"
AREAS = {"columns": ["city", "area_km2"], "rows": [["Alda", 1482], ["Berk", 97], ["Cove", 210]]}
SQUARES = "81\n144\n225\n961"


@pytest.mark.parametrize(
    ("answer", "read", "unknown"),
    [
        ("It printed 0 1 1 2 3 5 8 13 21 34 55 89 144 233 377.", FIBONACCI, []),
        ("89 144 233 377, of which the last two make 610.", FIBONACCI, []),
        ("97 210 1482", AREAS, []),
        ("81 144 225 961", SQUARES, []),
        ("It printed 55 89 144 234 377.", FIBONACCI, ["89 144 234 377"]),
        ("81 144 225 916", SQUARES, ["81 144 225 916"]),
        ("97 201 1482", AREAS, ["97 201"]),
        ("In all 97,210 km2.", AREAS, ["97,210"]),
        ("In all 1 789 km2.", AREAS, []),
        ("In all 1 798 km2.", AREAS, ["1 798"]),
        ("Founded on 14 July 1845.", AREAS, ["14 July 1845"]),
    ],
)
def test_a_row_of_numbers_with_three_digits_is_known_by_each_of_them(
    answer: str, read: Any, unknown: list[str]
) -> None:
    assert unfounded(answer, "Which ones?", [read]) == unknown
