"""Test `tea doctor --repair`, and the display of damage in lists."""

import json

from tea.store.sealed import sealed

from .conftest import SHOUT, SLOW, Tea


def test_the_doctor_tells_what_a_crash_left_and_mends_it_when_asked(tea: Tea) -> None:
    tea("register", tea.write("slow.py", SLOW))
    tea("run", "0", "--agent", "slow")
    (journal,) = tea.folder.glob("traces/*/journal.jsonl")
    (tea.folder / "registry" / ".tmp" / "dead").write_text("half")
    whole = journal.read_bytes()
    journal.write_bytes(whole + b"half")
    told = tea("doctor")
    assert told.code == 2
    assert told.out.count("`tea doctor --repair` mends it.") == 2
    assert journal.read_bytes() == whole + b"half"
    mended = tea("doctor", "--repair", "--json")
    assert (mended.code, len(mended.data["mended"]), mended.data["mendable"], mended.data["damaged"]) == (0, 2, [], [])
    assert journal.read_bytes() == whole
    assert tea("doctor").code == 0
    assert "Nothing is damaged." in tea("doctor", "--repair").out
    assert tea("replay", "last").code == 0


def test_what_cannot_be_mended_is_named_and_left(tea: Tea) -> None:
    tea("register", tea.write("slow.py", SLOW))
    tea("register", tea.write("shout.py", SHOUT))
    tea("run", "0", "--agent", "slow")
    tea("run", "0", "--agent", "slow")
    journals = sorted(tea.folder.glob("traces/*/journal.jsonl"))
    journals[0].write_bytes(b"".join(journals[0].read_bytes().splitlines(keepends=True)[:-1]))
    version = tea.folder / "registry" / "tools" / "shout" / "versions" / "1.0.0.json"
    version.write_bytes(version.read_bytes()[:-30])
    before = tea.files()
    repaired = tea("doctor", "--repair")
    assert repaired.code == 2
    assert tea.files() == before
    assert "1 records are missing at its end" in repaired.out
    assert "1.0.0.json" in repaired.out
    runs = tea("runs")
    assert (runs.code, runs.out.count("damaged"), runs.out.count("done")) == (0, 1, 1)
    assert "journal.jsonl" in runs.err
    listed = tea("list")
    assert "agent:slow" in listed.out
    assert "1.0.0.json" in listed.out + listed.err
    assert tea("run", "0", "--agent", "slow", "-q").out == "awake\n"


def test_a_run_that_goes_on_is_told_from_one_that_was_killed(tea: Tea) -> None:
    tea("register", tea.write("slow.py", SLOW))
    with tea.started("run", "30", "--agent", "slow", "-v") as process:
        assert process.stderr is not None
        assert any("works on" in line for line in process.stderr)
        assert [one["status"] for one in tea("runs", "--json").data["runs"]] == ["running"]
        assert tea("doctor", "--repair").code == 0
        process.kill()
        process.wait(timeout=30)
    assert [one["status"] for one in tea("runs", "--json").data["runs"]] == ["unfinished"]
    assert tea("doctor").code == 0


def test_what_is_derived_is_looked_through_and_made_again(tea: Tea) -> None:
    tea("register", tea.write("slow.py", SLOW))
    tea("run", "0", "--agent", "slow")
    tea("run", "What is 12*7?")
    tea("retrieve", "arithmetic")
    database, vectors = tea.folder / "traces" / "usage" / "usage.sqlite", tea.folder / "registry" / ".vectors"
    catalogue = tea.folder / "registry" / ".catalogue" / "tools.json"
    for folder in (vectors, catalogue.parent):
        folder.mkdir(exist_ok=True)
    assert tea("doctor").code == 0
    whole = database.read_bytes()
    database.write_bytes(whole[:5000] + b"x" * (len(whole) - 5000))
    (vectors / "vectors.sqlite").write_bytes(b"no database at all, but long enough to be taken for one" * 20)
    catalogue.write_bytes(b"0" * 32 + b"\n{}")
    told = tea("doctor")
    assert told.code == 2
    for name in ("usage.sqlite", "vectors.sqlite", "tools.json"):
        assert [line for line in told.out.splitlines() if name in line and "--repair` mends it" in line], told.out
    mended = tea("doctor", "--repair", "--json")
    assert (mended.code, len(mended.data["mended"])) == (0, 3)
    assert not [one for one in (database, vectors / "vectors.sqlite", catalogue) if one.exists()]
    assert tea("retrieve", "arithmetic").code == 0
    assert database.exists()
    assert tea("doctor").code == 0


def test_a_head_that_points_at_no_version_is_one_finding(tea: Tea) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    (head,) = (tea.folder / "registry" / "tools" / "shout" / "heads").iterdir()
    document = json.loads(head.read_text())["document"]
    head.write_bytes(sealed({**document, "current": [1]}, int(head.stem)))
    told = tea("doctor")
    assert told.code == 2
    assert "current: Input should be a valid string" in told.out
