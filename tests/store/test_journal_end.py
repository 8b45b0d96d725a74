"""The last record of a journal, without reading the others."""

import gc
import os
from pathlib import Path
from typing import Any

import pytest

from tea.errors import BadInput, StorageError
from tea.store.journal import FileJournals
from tea.store.lines import JournalReading


@pytest.fixture
def journals(tmp_path: Path) -> FileJournals:
    return FileJournals(tmp_path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "journal.jsonl"


def write(journals: FileJournals, *records: dict[str, Any]) -> None:
    with journals.create("run") as writer:
        writer.append(records)


@pytest.mark.parametrize("size", [0, 1, 4000, 4096, 5000, 300_000])
@pytest.mark.parametrize("number", [1, 2, 3, 40])
def test_the_last_record_is_found_however_large_the_last_ones_are(
    journals: FileJournals, number: int, size: int
) -> None:
    write(journals, *({"n": n, "text": "é" * size} for n in range(number)))
    assert journals.last("run") == list(journals.read("run"))[-1]


def test_a_journal_is_looked_at_only_at_its_end(journals: FileJournals, monkeypatch: pytest.MonkeyPatch) -> None:
    write(journals, {"n": 1}, {"n": 2})
    monkeypatch.setattr(JournalReading, "__next__", lambda _: pytest.fail("it is read from its beginning"))
    found = journals.last("run")
    assert found is not None
    assert found["n"] == 2


def test_a_reading_left_in_the_middle_closes_its_file_at_once(journals: FileJournals, path: Path) -> None:
    write(journals, {"n": 1}, {"n": 2})
    gc.disable()
    try:
        assert next(journals.read("run"))["n"] == 1
        assert str(path) not in {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
    finally:
        gc.enable()


def test_what_was_cut_off_or_altered_at_the_end_is_no_record(journals: FileJournals, path: Path) -> None:
    write(journals, {"n": 1, "text": "one"}, {"n": 2, "text": "two"})
    whole = path.read_bytes()
    first, second = whole.splitlines(keepends=True)
    spoilt = [b"", whole[:-1], whole[:-5], whole.replace(b"two", b"tow"), second, second + first, first + b"\n"]
    spoilt += [first + first, whole + b"{}\n", first + b'{"seq":"1"}\n', first + b'{"seq":1}\n', first[-3:] + second]
    for content in spoilt:
        path.write_bytes(content)
        assert journals.last("run") is None, content
    path.write_bytes(first)
    found = journals.last("run")
    assert found is not None
    assert found["n"] == 1


def test_a_run_that_is_not_there_or_cannot_be_read_is_told(journals: FileJournals, path: Path) -> None:
    with pytest.raises(BadInput, match="no run"):
        journals.last("run")
    write(journals, {"n": 1})
    path.unlink()
    with pytest.raises(StorageError, match="missing"):
        journals.last("run")
