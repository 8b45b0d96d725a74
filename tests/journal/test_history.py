"""Test the history of a run: whose the answers in its journal are."""

from tea.journal.history import answers_of
from tea.journal.record import TraceRecord
from tea.types import JsonValue

MARKED = {"answer": "yes", "mark": "ours"}


def record(seq: int, kind: str, data: JsonValue) -> TraceRecord:
    return TraceRecord(
        seq=seq, time="", span="", parent="", session="", task="", agent="", kind=kind, key="0.1", data=data
    )


def test_of_many_answers_to_one_question_the_last_and_those_equal_to_it_count() -> None:
    looked: list[object] = []

    def made(mark: object, data: JsonValue) -> bool:
        looked.append(data)
        return mark == "ours"

    said: list[JsonValue] = [
        {"answer": "no", "mark": "ours"},
        *[{"answer": "x", "mark": "theirs"}] * 50,
        MARKED,
        MARKED,
    ]
    first = [record(at, "answer", one) for at, one in enumerate(said, 1)]
    second = [record(60, "asked", {"question": "And now?"}), record(61, "answer", {"answer": "go", "mark": "theirs"})]
    found = [*answers_of([record(0, "asked", {"question": "Well?"}), *first, *second], "run", made)]
    assert [one.seq for one, _, own in found if own] == [52, 53]
    assert [one.seq for one, _, own in found if not own] == [*range(1, 52), 61]
    assert {str(asked["question"]) for _, asked, own in found if own} == {"Well?"}
    assert len(looked) == 2
