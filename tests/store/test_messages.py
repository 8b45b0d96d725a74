"""Test the messages to a run: whole, durable, in one order, from any sender."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tea.errors import BadInput, Damaged
from tea.store.journal import FileJournals
from tea.store.messages import FileMessages

TIME = "2026-01-01T00:00:00.000Z"

ADDER = """
import sys
from pathlib import Path
from tea.store.journal import FileJournals
messages = FileJournals(Path(sys.argv[1])).messages("run")
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    messages.add("2026-01-01T00:00:00.000Z", f"{sys.argv[2]} {number}")
"""


@pytest.fixture
def journals(tmp_path: Path) -> FileJournals:
    found = FileJournals(tmp_path / "traces")
    with found.create("run") as writer:
        writer.append([{"n": 0}])
    return found


@pytest.fixture
def messages(journals: FileJournals) -> FileMessages:
    return journals.messages("run")


def texts(messages: FileMessages, after: int = 0) -> list[str]:
    return [one.text for one in messages.read(after)]


def test_messages_are_numbered_in_the_order_they_were_added(messages: FileMessages) -> None:
    assert not messages.waits(0)
    assert [messages.add(TIME, text) for text in ("a", "\u202eb\x00\n", "c")] == [1, 2, 3]
    assert (texts(messages), texts(messages, 2), texts(messages, 3)) == (["a", "\u202eb\x00\n", "c"], ["c"], [])
    assert [messages.waits(after) for after in range(4)] == [True, True, True, False]
    assert messages.read(2)[0].time == TIME


def test_of_many_who_add_at_once_none_is_lost_and_all_see_one_order(journals: FileJournals) -> None:
    def add(number: int) -> int:
        return journals.messages("run").add(TIME, str(number))

    with ThreadPoolExecutor(50) as threads:
        numbers = list(threads.map(add, range(50)))
    found = journals.messages("run").read(0)
    assert [one.number for one in found] == list(range(1, 51)) == sorted(numbers)
    assert {one.number: int(one.text) for one in found} == {number: at for at, number in enumerate(numbers)}


def test_of_processes_that_add_at_once_each_finds_its_own_order_kept(journals: FileJournals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ADDER, str(tmp_path / "traces")]
    pipe = subprocess.PIPE
    adders = [subprocess.Popen([*command, who], stdin=pipe, stdout=pipe, text=True) for who in "abc"]
    for one in adders:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in adders:
        one.communicate("go\n", timeout=60)
    found = texts(journals.messages("run"))
    for who in "abc":
        assert [one for one in found if one.startswith(who)] == [f"{who} {number}" for number in range(20)]
    assert len(found) == 60


def test_a_gap_that_a_loss_of_power_left_is_filled_before_anything_comes_behind_it(
    journals: FileJournals, messages: FileMessages, tmp_path: Path
) -> None:
    for text in "abc":
        messages.add(TIME, text)
    (tmp_path / "traces" / "run" / "messages" / "00000002.json").unlink()
    assert texts(messages) == ["a"]
    assert journals.messages("run").add(TIME, "d") == 2
    assert texts(messages) == ["a", "d", "c"]


def test_a_message_that_is_not_what_was_written_is_named(messages: FileMessages, tmp_path: Path) -> None:
    messages.add(TIME, "a")
    path = tmp_path / "traces" / "run" / "messages" / "00000001.json"
    for content in (b"", b"[1]", b'{"time": 1, "text": "a"}', b'{"time": "t"}'):
        path.write_bytes(content)
        with pytest.raises(Damaged, match=r"00000001\.json"):
            messages.read(0)


def test_a_run_that_was_removed_takes_no_message_and_does_not_come_back(
    journals: FileJournals, messages: FileMessages, tmp_path: Path
) -> None:
    messages.add(TIME, "a")
    assert journals.remove("run") > 0
    with pytest.raises(BadInput, match="was removed"):
        messages.add(TIME, "b")
    assert {path.name for path in (tmp_path / "traces").iterdir()} == {".tmp", ".counter"}
    with pytest.raises(BadInput, match="no run"):
        journals.messages("run")
