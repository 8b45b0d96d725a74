"""Test journals of each recorded revision: others are readable, and not carried on."""

import json
from pathlib import Path
from typing import Any

import pytest

from tea.components.manifest import Manifest
from tea.journal.revision import REVISION
from tea.journal.tracer import Tracer
from tea.source.trust import Trust
from tea.store.journal import FileJournals

from .conftest import Tea, Warm, make
from .homes import ARITHMETIC, QUESTION, TABLE, revisions, unpack

EARLIER = range(1, REVISION)


class Kept:
    """The home of a revision, trusted as its writer trusted it.

    Args:
        tea: Calls `tea` in it.
        home: Its folder.
    """

    def __init__(self, tea: Tea, home: Path) -> None:
        self.tea, self.home = tea, home
        trust = Trust(tea.state)
        for path in home.glob("registry/*/*/versions/*.json"):
            found = Manifest.from_json(json.loads(path.read_text())["document"])
            trust.grant(found.digest, str(found.ref))
        journals = FileJournals(home / "traces")
        self.runs = {
            next(Tracer(journals).records(run)).data["task"]["task"]: run  # type: ignore[index, call-overload]
            for run in journals.runs()
        }

    def files(self) -> dict[str, bytes]:
        """Every file with its content."""
        return {str(path): path.read_bytes() for path in sorted(self.home.rglob("*")) if path.is_file()}

    def __call__(self, *line: str) -> Any:
        """Call `tea`."""
        return self.tea(*line, TEA_HOME=str(self.home))


@pytest.fixture
def kept(request: pytest.FixtureRequest, tmp_path: Path, warm: Warm) -> Kept:
    return Kept(make(tmp_path, warm), unpack(request.param, tmp_path))


def test_there_is_a_home_of_each_revision() -> None:
    assert revisions() == [*EARLIER, REVISION], "python tests/cli/homes.py"


@pytest.mark.slow
@pytest.mark.parametrize("kept", revisions(), indirect=True)
def test_what_any_revision_wrote_can_be_looked_at(kept: Kept) -> None:
    before = kept.files()
    shown = kept("runs")
    assert shown.code == 0
    assert all(task in shown.out for task in (TABLE, ARITHMETIC, QUESTION))
    assert kept("inbox", "--json").data["questions"][0]["question"] == QUESTION
    for task, run in kept.runs.items():
        for line in (("trace", run), ("trace", run, "-v"), ("trace", run, "--positions"), ("trace", "export", run)):
            assert kept(*line).code == 0, (task, line)
        assert kept("trace", run, "--json").data["run"] == run
    chats = kept("trace", "export", kept.runs[ARITHMETIC], "--format", "jsonl").out
    assert '"tool:calculator@' in chats
    for component in ("agent:planner", "tool:calculator", "agent:host"):
        assert kept("show", component).code == 0
    assert kept("trace", "diff", kept.runs[TABLE], kept.runs[ARITHMETIC]).code == 0
    assert kept.files() == before


@pytest.mark.parametrize("kept", EARLIER, indirect=True)
def test_what_another_revision_wrote_is_not_carried_on_and_says_so_in_one_line(kept: Kept) -> None:
    before = kept.files()
    (question,) = kept("inbox", "--json").data["questions"]
    waiting, ended = question["run"], kept.runs[TABLE]
    for line in (
        ("replay", ended),
        ("replay", ended, "--lenient"),
        ("replay", waiting),
        ("resume", waiting),
        ("resume", waiting, "--answer", f"{question['key']}=80"),
        ("fork", ended, "--at", "0"),
        ("fork", ended, "--use", "tool:calculator@1.0.0"),
    ):
        kept(*line).refused(7, "revision", f"this is {REVISION}", "tea trace", "run its task again")
    assert kept.files() == before


@pytest.mark.parametrize("kept", [REVISION], indirect=True)
def test_what_the_present_revision_wrote_replays_forks_and_goes_on(kept: Kept) -> None:
    for task in (TABLE, ARITHMETIC):
        replayed = kept("replay", kept.runs[task])
        assert (replayed.code, replayed.out.split(":")[0]) == (0, "identical"), replayed
        assert kept("fork", kept.runs[task], "--at", "0", "-q").code == 0
    (question,) = kept("inbox", "--json").data["questions"]
    answered = kept("resume", question["run"], "--answer", f"{question['key']}=80", "--json", "-q")
    assert answered.data["answer"] == "80"
    assert kept("replay", question["run"]).code == 0


def test_a_run_says_of_which_revision_it_is(tea: Tea) -> None:
    run = tea("run", "What is 2 + 3?", "--json", "-q").data["run"]
    head = json.loads((tea.folder / "traces" / run / "journal.jsonl").read_text().splitlines()[0])
    assert head["data"]["revision"] == REVISION
    assert tea("replay", run).code == 0
