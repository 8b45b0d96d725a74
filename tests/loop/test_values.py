"""Test values in proposed words: numbers, names, cells and passages of the texts read, in any language."""

from typing import Any

import pytest

from tea.loop.values import holds_value, shown_values

ROWS = {"columns": ["Region", "n"], "rows": [["Vik", 1200], ["Holm", 1145]], "row_count": 2}
BOOK = {"text": "The harbour was built in 1871 by Alida Brenn. The keeper lives there with his niece, in Oster."}
HEAD = shown_values("small.csv: table, 30 bytes\nplace,people\nhill,12\nlake,40")
TASK = "Which region sold most?"
BOTH = "Did Vik or Holm sell more?"


@pytest.mark.parametrize(
    ("text", "read", "task"),
    [
        ("Vik sold most.", ROWS, TASK),
        ("Holm sold more.", ROWS, BOTH),
        ("It sold 1,200.", ROWS, TASK),
        ("Zusammen 2345.", ROWS, TASK),
        ("The lake.", HEAD, TASK),
        ("It was Alida Brenn.", BOOK, TASK),
        ("the keeper lives there with his niece", BOOK, TASK),
        ("Written to notes.md.", {"name": "notes.md"}, "Write it down."),
        ("答案是北方地区。", {"rows": [["北方地区"]]}, "哪个地区？"),
    ],
)
def test_words_with_a_value_of_what_was_read_hold_one(text: str, read: Any, task: str) -> None:
    assert holds_value(text, task, [read])


@pytest.mark.parametrize("read", [ROWS, BOOK, HEAD])
@pytest.mark.parametrize(
    "text",
    [
        "Let me double-check the number with the other spelling of the region before I answer.",
        "Ich prüfe noch, ob die Region auch anders geschrieben wird, und zähle dann neu.",
        "Je vais d'abord vérifier l'autre orthographe de la région.",
        "我再检查一下另一种写法，然后回答。",
        "The answer holds.",
    ],
)
def test_words_about_the_next_step_hold_none(text: str, read: Any) -> None:
    assert not holds_value(text, TASK, [read])


def test_names_of_the_task_alone_are_no_value() -> None:
    assert not holds_value("Ich sehe noch nach, wie Vik sonst geschrieben wird.", BOTH, [ROWS])
