"""Real runs of the bundled agents, killed at random moments: they go on, answer the same, and repeat nothing."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tea.store.journal import FileJournals

KILLS = int(os.environ.get("TEA_TEST_KILLS", "15"))
CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
TASKS = {
    "planner": "How many rows does cities.csv have?",
    "analyzer": "Which city has the most people?",
    "reporter": "Write the report: Rome has 2800000 people, as cities.csv says.",
}
KILLED = -9


class Killable:
    """Runs `tea` in folders, to its end or to a moment in its life."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = [sys.executable, str(Path(__file__).with_name("killable.py"))]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, home: Path, *line: str, moment: tuple[int, float] | None = None) -> tuple[int, str]:
        """Return exit code and standard output."""
        home.mkdir(exist_ok=True)
        (home / "cities.csv").write_text(CITIES)
        streams = [home / name for name in ("in", "out", "err")]
        for path in streams:
            path.write_bytes(b"")
        request = {
            "line": line,
            "folder": str(home),
            "environment": {"PATH": os.environ["PATH"], "TEA_STATE": str(self.folder / "state")},
            "streams": list(map(str, streams)),
            "log": str(home / "performed"),
            "moment": moment,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()), streams[1].read_text()


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killable]:
    killable = Killable(tmp_path_factory.mktemp("killed"))
    yield killable
    killable.process.communicate(timeout=60)


def records(home: Path) -> list[Any]:
    (run,) = (path.parent.name for path in home.glob("traces/*/journal.jsonl"))
    return list(FileJournals(home / "traces").read(run))


@pytest.mark.slow
@pytest.mark.parametrize("agent", TASKS)
def test_a_killed_run_goes_on_to_the_same_answer_and_repeats_no_recorded_effect(tea: Killable, agent: str) -> None:
    line = ("run", TASKS[agent], "--agent", agent, "--file", "cities.csv", "--json", "-q")
    whole = tea.folder / agent
    code, out = tea(whole, *line)
    expected, length = json.loads(out), len(records(whole))
    assert (code, expected["status"]) == (0, "done"), out
    chance = random.Random(agent)
    for number in range(KILLS // len(TASKS)):
        moment = chance.randint(2, length), chance.choice((0.0, chance.uniform(0.0001, 0.03)))
        home = tea.folder / f"{agent}{number}"
        killed, _ = tea(home, *line, moment=moment)
        assert killed in (KILLED, 0), moment
        before = records(home)
        ended = {one["key"] for one in before if one["kind"] in ("done", "failed")}
        performed = (home / "performed").read_text().split()
        if killed == KILLED and before[-1]["kind"] != "end":
            if chance.random() < 0.3:
                tea(home, "resume", "last", moment=(chance.randint(1, length), 0.0))
                ended |= {one["key"] for one in records(home) if one["kind"] in ("done", "failed")}
                performed = (home / "performed").read_text().split()
            if records(home)[-1]["kind"] == "end":
                continue
            code, out = tea(home, "resume", "last", "--json", "-q")
            assert code == 0, (moment, out)
            found = json.loads(out)
            assert (found["status"], found["answer"]) == (expected["status"], expected["answer"]), moment
        after = records(home)
        assert after[: len(before)] == before, moment
        again = (home / "performed").read_text().split()[len(performed) :]
        assert not ended & set(again), moment
        keys = [(one["kind"], one["key"]) for one in after if one["kind"] in ("start", "done", "failed")]
        assert len(keys) == len(set(keys)), moment
        assert tea(home, "replay", "last", "-q")[0] == 0, moment


def test_a_run_killed_before_its_first_record_was_never_there(tea: Killable) -> None:
    home = tea.folder / "unborn"
    line = ("run", TASKS["planner"], "--file", "cities.csv", "--json", "-q")
    killed, _ = tea(home, *line, moment=(1, 0.0))
    assert (killed, list(home.glob("traces/*/journal.jsonl"))) == (KILLED, [])
    code, out = tea(home, "doctor", "--repair", "--json")
    assert (code, json.loads(out)["damaged"], json.loads(out)["runs"]) == (0, [], 0), out
    assert len(json.loads(out)["mended"]) == 1
    assert tea(home, *line)[0] == 0
    assert list(home.glob("traces/.tmp/*")) == []
