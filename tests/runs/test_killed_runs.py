"""Real runs of the bundled agents, killed at random moments: they go on, answer the same, and repeat nothing."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import KILLED, Killable, records

KILLS = int(os.environ.get("TEA_TEST_KILLS", "15"))
TASKS = {
    "planner": "How many rows does cities.csv have?",
    "analyzer": "Which city has the most people?",
    "reporter": "Write the report: Rome has 2800000 people, as cities.csv says.",
}


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory, machine: Path) -> Iterator[Killable]:
    killable = Killable(tmp_path_factory.mktemp("killed"), machine)
    yield killable
    killable.process.communicate(timeout=60)


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
        decided = {one["key"] for one in after if one["kind"] == "start" and one["data"]["kind"] == "policy"}
        assert not (ended - decided) & set(again), moment  # what permits work under way is asked again: nobody vouches
        keys = [(one["kind"], one["key"]) for one in after if one["kind"] in ("start", "done", "failed")]
        assert len(keys) == len(set(keys)), moment
        assert tea(home, "replay", "last", "-q")[0] == 0, moment


@pytest.mark.slow
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
