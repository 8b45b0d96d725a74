"""Test finding and mending crash debris, and telling damage to one file from everything else."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tea.errors import Damaged
from tea.store.events import FileEvents
from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry
from tea.store.repair import Finding, examine
from tea.store.scratch import Scratch
from tea.testing.crash_home import Adapter

from .crash_kit import append, carried_out, register

RECORDS: list[dict[str, Any]] = [{"kind": "effect", "n": n} for n in range(4)]


@pytest.fixture
def journals(tmp_path: Path) -> FileJournals:
    return FileJournals(tmp_path / "traces", "synced")


@pytest.fixture
def run(tmp_path: Path, journals: FileJournals) -> Path:
    with journals.create("run") as writer:
        writer.append(RECORDS)
    return tmp_path / "traces" / "run"


def problems(found: list[Finding]) -> list[str]:
    return [one.problem for one in found]


def test_a_home_in_order_or_not_there_has_nothing_to_mend(tmp_path: Path, run: Path) -> None:
    assert examine(tmp_path / "nothing", mend=True) == []
    assert examine(tmp_path, mend=True) == []
    assert not (tmp_path / "nothing").exists()
    assert sorted(path.name for path in run.iterdir()) == ["journal.jsonl", "lease"]


def test_a_torn_end_is_told_then_cut_off_and_kept_aside(tmp_path: Path, run: Path, journals: FileJournals) -> None:
    journal = run / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"seq":4,"half')
    (told,) = examine(tmp_path, mend=False)
    assert (told.mendable, told.mended) == (True, "")
    assert "journal.jsonl' ends with 14 bytes of an unfinished record" in told.problem
    assert journal.read_bytes() == whole + b'{"seq":4,"half'
    (mended,) = examine(tmp_path, mend=True)
    assert mended.mended.startswith("cut off, and kept in ")
    assert journal.read_bytes() == whole
    (aside,) = run.glob("torn-*")
    assert aside.read_bytes() == b'{"seq":4,"half'
    assert aside.name in mended.mended
    assert examine(tmp_path, mend=True) == []
    assert len(list(journals.read("run"))) == 4


def test_a_run_that_is_being_written_is_left_alone(tmp_path: Path, run: Path, journals: FileJournals) -> None:
    with journals.resume("run"), (run / "journal.jsonl").open("ab") as file:
        file.write(b"half")
        file.flush()
        assert journals.held("run")
        assert examine(tmp_path, mend=True) == []
    assert not journals.held("run")
    assert len(examine(tmp_path, mend=True)) == 1


def test_what_dead_writers_left_goes_and_what_living_ones_write_stays(tmp_path: Path, run: Path) -> None:
    (tmp_path / "traces" / ".tmp" / "dead").mkdir()
    (tmp_path / "traces" / ".tmp" / "dead" / "journal.jsonl").write_text("half")
    with Scratch(tmp_path / "traces").file() as (alive, _):
        (tmp_path / "traces" / ".tmp" / "dead again").write_text("half")
        (told,) = examine(tmp_path, mend=False)
        assert "dead again' was left by a writer that died" in told.problem
        assert [one.mended for one in examine(tmp_path, mend=True)] == ["removed"]
        assert alive.exists()
        assert examine(tmp_path, mend=False) == []


def cut_at_a_line(journal: Path) -> None:
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:3]))


def cut_to_nothing(journal: Path) -> None:
    journal.write_bytes(b"")


def lose(journal: Path) -> None:
    journal.unlink()


@pytest.mark.parametrize(
    ("harm", "words"),
    [(cut_at_a_line, "1 records are missing"), (cut_to_nothing, "4 records are missing"), (lose, "it is missing")],
)
def test_a_journal_that_lost_records_is_damaged_not_interrupted(
    tmp_path: Path, run: Path, journals: FileJournals, harm: Callable[[Path], None], words: str
) -> None:
    harm(run / "journal.jsonl")
    before = {path: path.read_bytes() for path in run.iterdir()}
    (found,) = examine(tmp_path, mend=True)
    assert (found.mendable, found.mended) == (False, "")
    assert words in found.problem
    assert {path: path.read_bytes() for path in run.iterdir() if path.name != "lease"} | before == before
    assert journals.runs() == ["run"]
    with pytest.raises(Damaged, match=words):
        list(journals.read("run"))
    with pytest.raises(Damaged, match=words):
        journals.resume("run")
    assert (run / "journal.jsonl").exists() == (harm is not lose)


def test_what_was_never_safe_on_disk_may_be_gone_without_being_damage(tmp_path: Path) -> None:
    journals = FileJournals(tmp_path / "traces")
    with journals.create("run") as writer:
        writer.append(RECORDS)
    cut_at_a_line(tmp_path / "traces" / "run" / "journal.jsonl")
    assert len(list(journals.read("run"))) == 3
    assert examine(tmp_path, mend=True) == []


def test_a_record_whose_last_byte_is_another_is_damaged_not_torn(tmp_path: Path) -> None:
    journals = FileJournals(tmp_path / "traces")
    with journals.create("run") as writer:
        writer.append(RECORDS)
    journal = tmp_path / "traces" / "run" / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-1] + b"\x0b")
    (found,) = examine(tmp_path, mend=True)
    assert (found.mendable, "line 4 is not what was written" in found.problem) == (False, True)
    with pytest.raises(Damaged, match="line 4 is not what was written"):
        journals.resume("run")
    journal.write_bytes(whole[:-1])
    assert [one.mendable for one in examine(tmp_path, mend=False)] == [True]


def test_a_damaged_lease_is_named_and_an_unfinished_one_is_not(tmp_path: Path, run: Path) -> None:
    lease = run / "lease"
    whole = lease.read_bytes()
    assert whole.count(b"\n") == 2
    for size in range(len(whole)):
        lease.write_bytes(whole[:size])
        assert problems(examine(tmp_path, mend=True)) == []
    for at in range(len(whole)):
        lease.write_bytes(whole[:at] + b"#" + whole[at + 1 :])
        (found,) = examine(tmp_path, mend=True)
        number = 1 + whole[:at].count(b"\n")
        assert not found.mendable
        assert f"lease' is damaged: line {number} " in found.problem
    lease.unlink()
    lease.mkdir()
    assert "lease' is damaged: it is not a regular file" in problems(examine(tmp_path, mend=True))[0]


def test_what_cannot_be_looked_at_hides_nothing_else(tmp_path: Path) -> None:
    for name in "ab":
        carried_out(Adapter(tmp_path), register(name, name, "1.0.0", name))
    carried_out(Adapter(tmp_path), append("1", "run", ""))
    good = Adapter(tmp_path).dump()
    versions = tmp_path / "registry" / "prompts" / "a" / "versions"
    versions.rename(tmp_path / "aside")
    versions.touch()
    found = Adapter(tmp_path).dump()
    assert found["records"] == [one for one in good["records"] if one[0] == "b"]
    assert (found["current"], found["traces"]) == (good["current"], good["traces"])
    assert all("/prompts/a/versions'" in one for one in found["problems"] + problems(examine(tmp_path, mend=True)))
    assert found["problems"]


def test_a_version_that_is_added_while_one_looks_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = Adapter(tmp_path)
    carried_out(adapter, register("1", "a", "1.0.0", "x"))
    newest = FileRegistry.newest

    def meanwhile(registry: FileRegistry, kind: str, name: str) -> int:
        with monkeypatch.context() as patch:
            patch.setattr(FileRegistry, "newest", newest)
            carried_out(adapter, register("2", "a", "1.0.1", "x"))
        return newest(registry, kind, name)

    monkeypatch.setattr(FileRegistry, "newest", meanwhile)
    assert examine(tmp_path, mend=False) == []


def test_a_run_that_was_never_begun_is_named(tmp_path: Path) -> None:
    journals = FileJournals(tmp_path / "traces")
    with journals.create("run"):
        assert examine(tmp_path, mend=True) == []
    (found,) = examine(tmp_path, mend=True)
    assert "holds no record" in found.problem


def test_missing_versions_damaged_heads_and_damaged_blobs_are_named(
    tmp_path: Path, run: Path, journals: FileJournals
) -> None:
    registry = FileRegistry(tmp_path / "registry")
    for version, number in (("1.0.0", 0), ("1.0.1", 1), ("1.0.2", 2)):
        registry.create("tool", "a", version, {})
        registry.advance("tool", "a", {"current": version}, number)
    digest = journals.blobs("run").put(b"pixels", "image/png")
    assert examine(tmp_path, mend=True) == []
    component = tmp_path / "registry" / "tools" / "a"
    (component / "versions" / "1.0.1.json").unlink()
    (component / "heads" / "000001.json").write_text("{}")
    blob = next((run / "blobs").rglob(digest[-64:]))
    blob.write_bytes(b"pixelz")
    found = examine(tmp_path, mend=True)
    assert [one.mendable for one in found] == [False] * 3
    for words, problem in zip(("heads/000001.json", "versions/1.0.1.json", digest[-64:]), problems(found), strict=True):
        assert words in problem
    (component / "versions").rename(component / "elsewhere")
    assert "it holds no version" in problems(examine(tmp_path, mend=True))[0]


def test_a_damaged_stream_of_memory_is_named_and_a_torn_one_is_not(tmp_path: Path) -> None:
    events = FileEvents(tmp_path / "traces" / "memory")
    for stream in ("a", "b"):
        events.append(stream, "key", {"n": 1})
    first, second = (tmp_path / "traces" / "memory" / f"{name}.jsonl" for name in "ab")
    first.write_bytes(first.read_bytes() + b'{"half')
    assert examine(tmp_path, mend=True) == []
    second.write_bytes(second.read_bytes().replace(b"{", b"[", 1))
    (found,) = examine(tmp_path, mend=True)
    assert "b.jsonl' is damaged: line 1" in found.problem


def flip(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def blank(data: bytes, chance: random.Random) -> bytes:
    return bytes(len(data))


@pytest.mark.parametrize("harm", [flip, cut, blank])
def test_damage_to_any_file_loses_only_that_file_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[bytes, random.Random], bytes]
) -> None:
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, os.fstat)
    adapter = Adapter(tmp_path)
    for name in "ab":
        for version in ("1.0.0", "1.0.1"):
            carried_out(adapter, register(f"{name}{version}", name, version, name * 50))
        for number in range(5):
            carried_out(adapter, append(f"{name}{number}", name, name * 50))
    good = adapter.dump()
    chance = random.Random(7)
    for path in [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]:
        content = path.read_bytes()
        for _ in range(8):
            path.write_bytes(harm(content, chance))
            check_local(good, adapter.dump(), path, [one.problem for one in examine(tmp_path, mend=False)])
        path.write_bytes(content)
    assert adapter.dump() == good


def check_local(good: dict[str, Any], found: dict[str, Any], path: Path, told: list[str]) -> None:
    """Trace every difference to this file, and find it reported."""
    lost = [one for one in good["records"] if one not in found["records"]]
    assert [one for one in found["records"] if one not in good["records"]] == []
    assert all((one[0], f"{one[1]}.json") == (path.parent.parent.name, path.name) for one in lost)
    moved = [name for name in good["current"] if found["current"].get(name) != good["current"][name]]
    assert all(name == path.parent.parent.name for name in moved)
    cut_short = [run for run in good["traces"] if found["traces"][run] != good["traces"][run]]
    assert all(run == path.parent.name and path.name == "journal.jsonl" for run in cut_short)
    for run in cut_short:
        ids = found["traces"][run]["ids"]
        assert good["traces"][run]["ids"][: len(ids)] == ids
    if lost or moved or cut_short:
        words = [*found["problems"], *told]
        assert any(path.name in one for one in words), words
