"""Test the status of a run: its questions, and the calls with an unknown outcome, whatever its journal holds."""

import time

import pytest

from tea.journal.record import TraceRecord
from tea.journal.status import RunStatus
from tea.types import JsonObject

MANY = 20_000
SECONDS = 4.0  # of the processor; what grows with the square of the records takes minutes
OPEN: JsonObject = {"open": ["0.1"]}


def record(kind: str, key: str, data: JsonObject | None = None) -> TraceRecord:
    names = dict.fromkeys(("time", "span", "parent", "session", "task", "agent"), "")
    return TraceRecord(seq=0, kind=kind, key=key, data=data or {}, **names)


def asked(key: str) -> TraceRecord:
    return record("asked", key, {"question": "Which?", "choices": []})


def test_a_question_waits_until_its_call_begins_again_or_ends_or_asks_an_earlier_one_again() -> None:
    keys = ("0.1~1", "0.1!0~1", "0.1!0~2", "0.1!1", "0.2", "0.2?!0", "0.3~1", "0.30~1")
    for one, left in (
        (record("answer", "0.2", {"answer": "x"}), {*keys} - {"0.2"}),
        (record("intent", "0.1!0"), {*keys} - {"0.1!0~1", "0.1!0~2"}),
        (record("intent", "0.1"), {"0.2", "0.2?!0", "0.3~1", "0.30~1"}),
        (record("done", "0.2"), {*keys} - {"0.2", "0.2?!0"}),
        (record("waiting", "", OPEN), {"0.1~1", "0.1!0~1", "0.1!0~2", "0.1!1"}),
        (asked("0.1!0~1"), {*keys} - {"0.1!0~2"}),
    ):
        assert RunStatus.of([*map(asked, keys), one]).asked.keys() == left, one


def test_a_call_that_waits_at_a_question_is_not_uncertain() -> None:
    begun = [record("intent", key) for key in ("0.1", "0.1!0", "0.2", "0.20")]
    assert RunStatus.of([*begun, asked("0.1!0~1"), asked("0.2"), asked("0.20")]).uncertain == {"0.2", "0.20"}


@pytest.mark.parametrize(
    ("places", "further"),
    [
        ("0.{0}~1", [record("intent", "0.1!0")]),
        ("0.1~{0}", [record("waiting", "", OPEN)]),
        ("0.1!{0}", [record("intent", "0.1!0"), record("done", "0.2"), record("waiting", "", OPEN)]),
    ],
)
def test_the_status_of_a_run_with_many_questions_is_known_soon(places: str, further: list[TraceRecord]) -> None:
    keys = [places.format(number) for number in range(1, MANY)]
    begun = time.process_time()
    status = RunStatus.of(one for key in keys for one in (record("intent", key), asked(key), *further))
    assert len(status.asked) == len(keys)
    assert len(status.uncertain) >= len(keys)
    assert time.process_time() - begun < SECONDS
