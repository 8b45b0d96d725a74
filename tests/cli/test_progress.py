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


def test_a_step_of_an_odd_form_is_told_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"step": [], "calls": [{"name": []}], "results": [{"error": []}], "plan": [{"item": 1, "state": []}]}
    Progress(Command(verbose=1))(Event(kind="note", key="0.1", agent="a", data={"kind": "step", "data": data}))
    assert capsys.readouterr().err == "a: step []: goes on ([])\nplan: [?] 1. 1\n"


def test_what_is_left_of_one_step_is_told_in_the_singular(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(Command(verbose=1))
    progress(Event(kind="start", key="0.1", agent="a", data={"kind": "budget", "target": "", "data": {}}))
    progress(Event(kind="done", key="0.1", agent="a", data={"data": {"steps": 1, "tokens": 3000}}))
    progress(Event(kind="start", key="0.2", agent="a", data={"kind": "model", "target": "model:m", "data": {}}))
    assert capsys.readouterr().err == "a: asks m [left: 1 step, 3,000 tokens]\n"


def test_a_call_that_was_never_made_is_told_with_its_problem_and_one_that_failed_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(Command(verbose=1))
    failed, unknown = {"problem": "There is no such column."}, {"problem": "Nothing to call is named 'sql'."}
    progress(Event(kind="start", key="0.1", agent="a", data={"kind": "tool", "target": "tool:query@1.0.0", "data": {}}))
    progress(Event(kind="done", key="0.1", agent="a", data={"data": {"error": failed}}))
    results = [{"name": "query", "ok": False, "error": failed}, {"name": "sql", "ok": False, "error": unknown}]
    data = {"step": 1, "calls": [{"name": "query"}, {"name": "sql"}], "results": results}
    progress(Event(kind="note", key="0.2", agent="a", data={"kind": "step", "data": data}))
    assert capsys.readouterr().err.splitlines()[1:] == [
        "a: query failed: There is no such column.",
        "a: sql failed: Nothing to call is named 'sql'.",
        "a: step 1: goes on (query, sql)",
    ]
