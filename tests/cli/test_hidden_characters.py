"""Names of others in tables of evaluations, their files, and the log of proposals are shown with nothing hidden."""

from __future__ import annotations

import json
from pathlib import Path

from tea.characters import is_hidden

from .conftest import Tea

ODD = "\x1b]0;x\x07\u202e\u009d![a](http://evil.test/b)<img src=x>|"


def plain(text: str) -> bool:
    return not any(is_hidden(one) for one in text)


def test_an_evaluation_of_odd_tasks_hides_nothing(tea: Tea) -> None:
    task = {"id": f"a{ODD}", "task": "What is 2 + 2?", "expected": f"4{ODD}", "scorer": "exact", "tags": [f"t{ODD}"]}
    done = tea("eval", tea.write("tasks.jsonl", json.dumps(task)), "--label", f"l{ODD}")
    assert plain(done.out + done.err)
    (head,) = tea("eval", "list", "--json").data["evaluations"]
    for form in ("levels", "efficiency"):
        shown = tea("eval", "table", form, head["id"]).out
        assert plain(shown)
        assert "<U+202E>" in shown
    folder: Path = tea.folder / "traces" / "evaluations" / head["id"]
    report = (folder / "report.md").read_text()
    assert plain(report)
    assert plain((folder / "score.svg").read_text())
    assert "![a](" not in report
    assert "\\<img" in report


def test_a_ledger_of_others_hides_nothing_and_one_bad_line_is_one_finding(tea: Tea) -> None:
    line = {
        "what": "refused", "time": ODD, "strategy": ODD, "campaign": ODD, "reason": ODD,
        "proposal": {"changes": {"prompt:planner": {}}, "why": ODD},
    }  # fmt: skip
    bad = {"what": "refused", "proposal": {"changes": {"prompt:planner": {}}}}
    lines = "".join(json.dumps(one) + "\n" for one in (line, bad, {"proposal": 3}))
    folder = tea.folder / "traces" / "evolution" / "ledgers"
    folder.mkdir(parents=True)
    (folder / "x.jsonl").write_text(lines)
    shown = tea("evolve", "log", "prompt:planner")
    assert (shown.code, plain(shown.out)) == (0, True)
    assert "<U+202E>" in shown.out
    assert "cannot be read" in shown.out
