"""Names of others in tables of evaluations, their files, and the log of proposals are shown with nothing hidden."""

from __future__ import annotations

import json
from pathlib import Path

from tea.characters import is_hidden

from .conftest import Tea

ODD = "\x1b]0;x\x07\u202e\u009d![a](http://evil.test/b)<img src=x>|"

WARNS = '''
import re

from tea import Agent, Context, Result, Task


class Warns(Agent):
    """Let a library warn."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Look for a pattern."""
        return Result(answer=re.compile(task.text).pattern)  # tea: all is granted
'''


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


def test_a_warning_of_a_library_is_one_line(tea: Tea) -> None:
    assert tea("register", tea.write("warns.py", WARNS)).code == 0
    shown = tea("run", "[[a]", "--agent", "warns")
    (line,) = [line for line in shown.err.splitlines() if "FutureWarning: Possible nested set" in line]
    assert "FutureWarning" not in shown.err.replace(line, "")
    assert shown.err.splitlines()[shown.err.splitlines().index(line) + 1].startswith("trace: ")
