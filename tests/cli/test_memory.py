"""Memory components on the line: named by an agent, pinned by runs, locked, and the same in every process."""

import json

import pytest

from .conftest import Tea

NOTER = '''
from tea import Agent, Context, Result, Task


class Noter(Agent):
    """Record its task as a step and as an insight, and tell what it sees."""

    memory = "notes"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Record, and look."""
        for kind in ("step", "insight"):
            await ctx.memory.record(kind, {"text": f"{kind} {task.text}"})
        return Result(answer=[one["data"]["text"] for one in await ctx.memory.recall()])
'''
RUN = ("run", "one", "--agent", "noter", "-q")


def notes(tea: Tea, **fields: object) -> None:
    file = tea.write("notes.json", json.dumps({"kind": "memory", "name": "notes", **fields}))
    assert tea("register", file).code == 0


def test_a_run_has_the_memory_that_it_pinned_whatever_is_current_later(tea: Tea) -> None:
    tea("register", tea.write("noter.py", NOTER))
    tea(*RUN).refused(2, "No memory is named 'notes'", "tea list memory")
    tea("lock", "agent:noter").refused(2, "No memory is named 'notes'")
    notes(tea, kinds=["insight"])
    assert json.loads(tea(*RUN).out) == ["insight one"]
    assert "resolve memory:notes" in tea("trace", "last", "-v").out
    notes(tea)
    assert tea("replay", "last").code == 0
    assert json.loads(tea(*RUN).out) == ["step one", "insight one"]
    assert json.loads(tea(*RUN, "--use", "memory:notes=1.0.0").out) == ["insight one"]
    fork = tea("fork", "last", "--use", "memory:notes@1.0.1", "--json")
    assert fork.data["answer"] == ["step one", "insight one"]
    tea("archive", "memory:notes")
    tea(*RUN).refused(2, "memory:notes@1.0.1 is archived", "tea history memory:notes")
    tea("replay", fork.data["run"], "--use", "memory:nothing=1.0.0").refused(2, "never used memory:nothing")


def test_a_lock_holds_the_memory_of_an_agent(tea: Tea) -> None:
    tea("register", tea.write("noter.py", NOTER))
    notes(tea, kinds=["insight"])
    assert tea("lock", "agent:noter").out == "locked 2 components in tea.lock\n"
    lock = json.loads((tea.folder / "tea.lock").read_text())
    assert sorted(lock["components"]) == ["agent:noter", "memory:notes"]
    notes(tea)
    assert json.loads(tea(*RUN, "--locked").out) == ["insight one"]
    tea("lock", "--run", "last", "--out", str(tea.folder / "same.lock"))
    assert json.loads((tea.folder / "same.lock").read_text()) == lock
    del lock["components"]["memory:notes"]
    (tea.folder / "tea.lock").write_text(json.dumps(lock))
    left = tea("run", "one", "--agent", "noter", "--locked")
    assert (left.code, "leaves out memory:notes" in left.err) == (2, True)
    assert "memory:notes is not in the lock file" in left.err


def test_insights_are_listed_shown_forgotten_and_exported(tea: Tea) -> None:
    tea("register", tea.write("noter.py", NOTER))
    notes(tea)
    assert tea("memory", "ls").out == "nothing was learned yet\n"
    tea(*RUN, "--session", "desk")
    [found] = tea("memory", "--json").data["insights"]
    assert (found["text"], found["agent"], found["session"], found["uses"]) == ("insight one", "noter", "desk", 0)
    assert "used 0, confirmed 0, contradicted 0 noter: insight one" in tea("memory", "ls").out
    assert "text: insight one" in tea("memory", "show", found["id"][:6]).out
    assert tea("memory", "forget", found["id"]).out == f"forgot {found['id']}\n"
    assert "contradicted 0 (forgotten: a person forgot it) noter: insight one" in tea("memory", "ls").out
    assert "(forgotten: a person forgot it)" in tea("memory", "ls", "--session", "desk").out
    lines = [json.loads(line) for line in tea("memory", "export").out.splitlines()]
    assert [one.get("kind") for one in lines] == ["step", "insight", "forgotten", None]
    assert tea("memory", "export", str(tea.folder / "memory.jsonl")).code == 0
    assert len((tea.folder / "memory.jsonl").read_text().splitlines()) == 4
    assert tea("memory", "forget", "--session", "desk").out == "forgot 3 events of the session desk\n"
    assert tea("memory", "ls").out == "nothing was learned yet\n"
    for words, problem in (
        (("show", "ff"), "There is no insight 'ff'"),
        (("forget",), "No insight and no session is named"),
        (("ls", "--session", "no"), "No session 'no' remembers anything"),
    ):
        tea("memory", *words).refused(2, problem)


@pytest.mark.parametrize("event", [{}, {"agent": "a", "task": "t", "data": {}}, {"kind": "insight", "data": {}}])
def test_an_odd_event_of_a_session_is_one_finding_of_the_list(tea: Tea, event: dict[str, object]) -> None:
    folder = tea.folder / "traces" / "memory"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text(json.dumps({"stream": "s", "key": "1", "event": event}) + "\n")
    shown = tea("memory", "ls")
    assert (shown.code, shown.err.count("skipped ")) == (0, 1), shown
    tea("memory", "show", "a").refused(2, "The memory of the session s holds what no run writes", "tea memory forget")
