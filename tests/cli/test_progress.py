"""Test the progress shown of a run."""

import pytest

from tea.cli.command import Command
from tea.cli.progress import Progress
from tea.journal.recorder import Event


def test_a_phase_named_like_its_speaker_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"kind": "debate", "data": {"phase": "debate", "text": "all agree after round 1"}}
    Progress(Command())(Event(kind="note", key="0.1", agent="debate", data=data))
    assert capsys.readouterr().err == "debate: all agree after round 1\n"


@pytest.mark.parametrize(("ok", "told"), [(True, "comes to an end"), (False, "goes on")])
def test_a_step_that_ends_the_task_is_told_from_one_that_only_tried(
    capsys: pytest.CaptureFixture[str], *, ok: bool, told: str
) -> None:
    data = {"step": 1, "calls": [{"name": "done"}], "results": [{"name": "done", "ok": ok}]}
    Progress(Command(verbose=1))(Event(kind="note", key="0.1", agent="a", data={"kind": "step", "data": data}))
    assert capsys.readouterr().err == f"a: step 1: {told} (done)\n"
