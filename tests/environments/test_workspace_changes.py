"""Test the workspace environment: find, change, compare, undo and restore, through the platform's door."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.errors import Damaged
from tea.platform import Platform
from tea.testing import ScriptedModel, platform
from tea.types import ActionResponse

Act = Callable[..., Coroutine[Any, Any, ActionResponse]]
EDITOR = '''
from tea import Agent, Context, Result, Task


class Editor(Agent):
    """Change files, and take changes back."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Read a file by its first name, change it twice, and take one change back."""
        head = (await ctx.ecp.invoke("workspace#read", {"name": task.text})).unwrap()["text"]
        (await ctx.ecp.invoke("workspace#save_snapshot", {"name": "first"})).unwrap()
        change = {"name": task.text, "old": "one", "new": "two"}
        (await ctx.ecp.invoke("workspace#replace", change)).unwrap()
        (await ctx.ecp.invoke("workspace#append", {"name": "cities.csv", "text": "three"})).unwrap()
        (await ctx.ecp.invoke("workspace#undo", {})).unwrap()
        last = (await ctx.ecp.invoke("workspace#read", {"name": "cities.csv"})).unwrap()["text"]
        (await ctx.ecp.invoke("workspace#restore_snapshot", {"name": "first"})).unwrap()
        end = (await ctx.ecp.invoke("workspace#read", {"name": "cities.csv"})).unwrap()["text"]
        return Result(answer=[head, last, end])
'''
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a call from outside of a run is the current folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


@pytest.fixture
def act(tea: Platform, folder: Path) -> Act:
    async def act(action: str, **arguments: Any) -> ActionResponse:
        return await tea.ecp.invoke(f"workspace#{action}", arguments, session="s")

    return act


async def refused(response: Coroutine[Any, Any, ActionResponse]) -> str:
    """Return the words of an expected error."""
    error = (await response).error
    assert error is not None
    assert error["code"] == "ToolError", error
    return f"{error['problem']} {error['fix']}"


async def test_lines_are_found_by_text_and_by_pattern(act: Act, folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "a.txt").write_text("first\nThe Port is 8080\n")
    (folder / "b.txt").write_text("port 80\nnothing\n")
    (folder / "c.bin").write_bytes(b"port\0\xff")
    found = (await act("find", query="port")).unwrap()
    assert [(one["name"], one["line"]) for one in found["matches"]] == [("b.txt", 1), ("notes/a.txt", 2)]
    found = (await act("find", query=r"port \d+$", pattern=True)).unwrap()
    assert found == {"matches": [{"name": "b.txt", "line": 1, "text": "port 80"}], "more": False}
    assert (await act("find", query="port", name="notes")).unwrap()["matches"][0]["name"] == "notes/a.txt"
    (folder / "many.txt").write_text("port\n" * 60)
    many = (await act("find", query="port", name="many.txt")).unwrap()
    assert (len(many["matches"]), many["more"]) == (50, True)
    assert "not a regular expression" in await refused(act("find", query="(", pattern=True))
    assert "There is no file" in await refused(act("find", query="port", name="gone.txt"))


@pytest.mark.slow
async def test_a_pattern_that_takes_for_ever_is_ended(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("a" * 64 + "!")
    assert "took longer than" in await refused(act("find", query="(a+)+$", pattern=True))


async def test_a_passage_is_replaced_where_it_stands_once(act: Act, folder: Path) -> None:
    (folder / "a.py").write_text("def total(x):\n    return x\n\n\ndef other(x):\n    return x\n")
    assert "stands 2 times" in await refused(act("replace", name="a.py", old="return x", new="return 2"))
    assert "'def total(x):'" in await refused(act("replace", name="a.py", old="def totl(x):", new=""))
    assert (await act("replace", name="a.py", old="total(x):\n    return x", new="total(x):\n    return 2")).ok
    assert (folder / "a.py").read_text() == "def total(x):\n    return 2\n\n\ndef other(x):\n    return x\n"


async def test_a_diff_changes_makes_and_removes_files_or_nothing(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "gone.txt").write_text("x\n")
    diff = (
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -7,3 +1,3 @@\n one\n-two\n+2\n three\n"
        "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,2 @@\n+first\n+second\n"
        "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    wrong = diff + "--- a/a2.txt\n+++ b/a2.txt\n@@ -1 +1 @@\n-x\n+y\n"
    assert "There is no file 'a2.txt'" in await refused(act("patch", diff=wrong))
    misfit = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n one\n-too\n+2\n"
    assert "no line 'too'" in await refused(act("patch", diff=misfit))
    assert "Line 4 of the diff" in await refused(act("patch", diff="--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n*x\n"))
    assert "changes no file" in await refused(act("patch", diff="make it better"))
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "gone.txt"]
    assert [one["name"] for one in (await act("patch", diff=diff)).unwrap()] == ["a.txt", "new/b.txt"]
    assert (folder / "a.txt").read_text() == "one\n2\nthree\n"
    assert (folder / "new" / "b.txt").read_text() == "first\nsecond\n"
    assert not (folder / "gone.txt").exists()
    assert (await act("undo")).unwrap() == {"action": "patch", "files": ["a.txt", "gone.txt", "new/b.txt"]}
    assert (folder / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert (folder / "gone.txt").read_text() == "x\n"
    assert not (folder / "new" / "b.txt").exists()


TEXTS = st.lists(st.sampled_from(["a", "b", "", "  c", "-d", "+e"]), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "".join(f"{line}\n" for line in lines)])
)


@given(old=TEXTS, new=TEXTS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_what_git_says_is_different_makes_the_one_text_of_the_other(
    act: Act, folder: Path, old: str, new: str
) -> None:
    (folder / "a.txt").write_text(old)
    (folder / "b.txt").write_text(new)
    made = run(["git", "diff", "--no-index", "a.txt", "b.txt"], cwd=folder, capture_output=True, text=True, check=False)
    if "@@" in made.stdout:
        (folder / "b.txt").unlink()
        assert (await act("patch", diff=made.stdout.replace("b/b.txt", "b/a.txt"))).error is None
        assert (folder / "a.txt").read_text() == new


async def test_a_large_diff_costs_no_more_than_its_lines(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("x\n" * 2_000_000)
    began = time.monotonic()
    gaps = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n x\n" + "\n" * 900_000 + " y\n"
    assert "no line ''" in await refused(act("patch", diff=gaps))
    repeated = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n" + " x\n" * 300_000 + "-y\n"
    assert "no line 'y'" in await refused(act("patch", diff=repeated))
    hunks = "--- a.txt\n+++ a.txt\n" + "@@ -1 +1 @@\n x\n" * 5_001
    assert "more than 5,000 hunks" in await refused(act("patch", diff=hunks))
    assert time.monotonic() - began < 30


async def test_a_hunk_goes_to_the_nearest_of_equal_places(act: Act, folder: Path) -> None:
    for line, expected in ((1, "2x.x.x"), (3, "x.2x.x"), (5, "x.x.2x"), (2, "2x.x.x"), (99, "x.x.2x")):
        (folder / "a.txt").write_text("x\n.\nx\n.\nx\n")
        assert (await act("patch", diff=f"--- a.txt\n+++ a.txt\n@@ -{line} +1 @@\n-x\n+2x\n")).ok
        assert (folder / "a.txt").read_text().replace("\n", "") == expected


async def test_line_ends_of_windows_stay(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    assert (await act("patch", diff="--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")).ok
    assert (folder / "a.txt").read_bytes() == b"one\r\n2\r\n"


async def test_each_kind_of_change_is_taken_back_in_turn(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("0")
    for name, arguments in (
        ("write", {"name": "a.txt", "text": "1"}),
        ("append", {"name": "a.txt", "text": "2"}),
        ("replace", {"name": "a.txt", "old": "1", "new": "one "}),
        ("move", {"name": "a.txt", "new": "deep/b.txt"}),
        ("delete", {"name": "deep/b.txt"}),
        ("write", {"name": "new.txt", "text": "x"}),
    ):
        assert (await act(name, **arguments)).ok, name
    seen = []
    for _ in range(6):
        seen.append((await act("undo")).unwrap()["action"])
    assert seen == ["write", "delete", "move", "replace", "append", "write"]
    assert (folder / "a.txt").read_text() == "0"
    assert not (folder / "new.txt").exists()
    assert "no change to take back" in await refused(act("undo"))


async def test_what_something_else_changed_is_not_taken_back(act: Act, folder: Path) -> None:
    await act("write", name="a.txt", text="1")
    (folder / "a.txt").write_text("by a person")
    assert "changed by something else" in await refused(act("undo"))
    assert (folder / "a.txt").read_text() == "by a person"
    (folder / "a.txt").write_text("1")
    assert (await act("undo")).ok


async def test_a_move_replaces_nothing_and_stays_inside(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("a")
    (folder / "b.txt").write_text("b")
    (folder / "d").mkdir()
    assert "exists" in await refused(act("move", name="a.txt", new="b.txt"))
    assert "outside" in await refused(act("move", name="a.txt", new="../c.txt"))
    assert "inside of what is moved" in await refused(act("move", name="d", new="d/e"))
    assert "There is no file" in await refused(act("move", name="x.txt", new="y.txt"))
    assert (await act("move", name="a.txt", new="d/a.txt")).unwrap() == "d/a.txt"
    assert (await act("move", name="d", new="e")).unwrap() == "e"
    assert (folder / "e" / "a.txt").read_text() == "a"
    await act("undo")
    await act("undo")
    assert (folder / "a.txt").read_text() == "a"


async def test_a_snapshot_brings_every_file_back_and_can_be_undone(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("a\n")
    (folder / "b.txt").write_text("b\n")
    assert (await act("save_snapshot", name="first")).unwrap() == {"name": "first", "files": 2}
    assert "snapshot" in await refused(act("save_snapshot", name="first"))
    assert "not a name of a snapshot" in await refused(act("save_snapshot", name="../x"))
    await act("write", name="a.txt", text="changed\n")
    await act("delete", name="b.txt")
    await act("write", name="c.txt", text="c\n")
    diff = (await act("diff", name="a.txt", snapshot="first")).unwrap()["diff"]
    assert diff == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+changed"
    assert (await act("restore_snapshot", name="first")).unwrap() == {"changed": ["a.txt", "b.txt", "c.txt"]}
    assert (await act("restore_snapshot", name="first")).unwrap() == {"changed": []}
    assert sorted((path.name, path.read_text()) for path in folder.iterdir()) == [("a.txt", "a\n"), ("b.txt", "b\n")]
    await act("undo")
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "c.txt"]
    assert "there are: first" in await refused(act("restore_snapshot", name="second"))


async def test_differences_are_to_the_last_change_or_another_file(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("one\n")
    assert "No change of 'a.txt' is kept" in await refused(act("diff", name="a.txt"))
    await act("append", name="a.txt", text="two\n")
    assert "@@ -1 +1,2 @@\n one\n+two" in (await act("diff", name="a.txt")).unwrap()["diff"]
    await act("write", name="b.txt", text="one\n")
    assert (await act("diff", name="b.txt")).unwrap()["diff"] == "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+one"
    assert (await act("diff", name="a.txt", other="b.txt")).unwrap()["diff"].endswith("+two")


async def test_the_line_most_like_a_long_one_is_found_soon(act: Act, folder: Path) -> None:
    lines = ["".join(chr(0x4E00 + number * step % 127) for number in range(8_000)) for step in range(1, 60)]
    (folder / "a.txt").write_text("\n".join(lines))
    begun = time.process_time()
    assert "does not stand in" in await refused(act("replace", name="a.txt", old=lines[0][::-1], new="x"))
    assert time.process_time() - begun < 3


async def test_files_that_share_many_lines_are_compared_soon(act: Act, folder: Path) -> None:
    shared = [f"{number % 110}" for number in range(4_000)]
    (folder / "a.txt").write_text("\n".join(shared))
    (folder / "b.txt").write_text("\n".join(f"{one}\nx{number}" for number, one in enumerate(shared)))
    begun = time.process_time()
    assert (await act("diff", name="b.txt", other="a.txt")).unwrap()["more"]
    assert time.process_time() - begun < 5


async def test_a_file_called_by_its_path_elsewhere_is_its_copy(act: Act, folder: Path) -> None:
    (folder / "cities.csv").write_text("Oslo\n")
    for name in ("/data/2024/cities.csv", "C:\\data\\cities.csv", "file:///data/cities.csv", "data/cities.csv"):
        assert (await act("read", name=name)).unwrap()["text"] == "Oslo\n", name
    assert (await act("write", name="/data/cities.csv", text="Rome\n")).unwrap()["name"] == "cities.csv"
    assert "outside" in await refused(act("write", name="/data/towns.csv", text="x"))
    assert "did you mean" in await refused(act("delete", name="data/cities.csv"))
    assert (await act("delete", name="/data/cities.csv")).ok


async def test_a_run_reads_its_files_by_the_names_of_its_task_and_keeps_its_history(tmp_path: Path) -> None:
    table = tmp_path / "data" / "cities.csv"
    table.parent.mkdir()
    table.write_text("one\n")
    async with Platform(tmp_path / "home", state=tmp_path / "state") as stage:
        await stage.acp.register(EDITOR)
        outcome = await stage.run(str(table), files=[table], agent="editor")
        assert outcome.answer == ["one\n", "two\n", "one\n"]
        assert outcome.files == ()
        assert (await stage.replay(outcome.run)).answer == outcome.answer
        last = max(one.seq for one in stage.tracer.records(outcome.run) if one.kind == "done")
        assert (await stage.fork(outcome.run, at=last)).answer == outcome.answer
    assert table.read_text() == "one\n"


async def test_the_history_of_a_session_outlives_the_process(tmp_path: Path, folder: Path) -> None:
    """Each platform stands for a process: `tea call --session NAME` makes one for each call."""
    (folder / "a.txt").write_text("one\n")
    home = tmp_path / "home"

    async def call(action: str, session: str | None = "desk", **arguments: Any) -> ActionResponse:
        async with Platform(home, state=tmp_path / "state") as tea:
            return await tea.ecp.invoke(f"workspace#{action}", arguments, session=session)

    assert (await call("save_snapshot", name="first")).unwrap() == {"name": "first", "files": 1}
    (await call("write", name="a.txt", text="two\n")).unwrap()
    assert "-one\n+two" in (await call("diff", name="a.txt")).unwrap()["diff"]
    assert (await call("undo", session="other")).error is not None
    assert (await call("undo")).unwrap() == {"action": "write", "files": ["a.txt"]}
    assert (folder / "a.txt").read_text() == "one\n"
    (await call("append", name="a.txt", text="three\n")).unwrap()
    assert (await call("restore_snapshot", name="first")).unwrap() == {"changed": ["a.txt"]}
    assert (folder / "a.txt").read_text() == "one\n"
    assert not list(folder.glob(".tea*"))
    async with Platform(home, state=tmp_path / "state") as tea:
        tea.memory.forget({"desk"})
    lost = (await call("restore_snapshot", name="first")).error
    assert lost is not None
    assert "There is no snapshot 'first'." in lost["problem"]


async def test_a_deleted_link_is_brought_back(act: Act, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "a.txt").write_text("one")
    for name, target in (("near", "a.txt"), ("sub/far", "/etc/passwd"), ("gone", "nowhere")):
        (folder / name).symlink_to(target)
        (await act("delete", name=name)).unwrap()
        assert not (folder / name).is_symlink()
        assert (await act("undo")).unwrap() == {"action": "delete", "files": [name]}
        assert str((folder / name).readlink()) == target
    (await act("delete", name="near")).unwrap()
    (folder / "near").write_text("another")
    assert "changed by something else" in str((await act("undo")).error)
    assert (folder / "near").read_text() == "another"


async def test_a_history_is_not_kept_where_a_link_in_a_home_leads(tmp_path: Path, folder: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()

    async def write(text: str) -> ActionResponse:
        async with Platform(home, state=tmp_path / "state") as tea:
            return await tea.ecp.invoke("workspace#write", {"name": "a.txt", "text": text}, session="desk")

    (await write("one")).unwrap()
    (kept,) = (one for one in (home / "traces" / "memory").iterdir() if one.is_dir())
    kept.rename(tmp_path / "kept")
    kept.symlink_to(elsewhere)
    with pytest.raises(Damaged, match="is a link"):
        await write("two")
    assert list(elsewhere.iterdir()) == []
    async with Platform(home, state=tmp_path / "state") as tea:
        tea.memory.forget({"desk"})
    assert not kept.is_symlink()


async def test_processes_that_undo_at_once_take_back_one_change_each(tmp_path: Path, folder: Path) -> None:
    """Each platform stands for a process."""
    home, many = tmp_path / "home", 24
    async with AsyncExitStack() as stack:
        desks = [await stack.enter_async_context(Platform(home, state=tmp_path / "state")) for _ in range(6)]
        for number in range(many + 1):
            change = {"name": "a.txt", "text": f"{number}\n"}
            (await desks[number % 6].ecp.invoke("workspace#write", change, session="desk")).unwrap()
        undone = (desks[number % 6].ecp.invoke("workspace#undo", {}, session="desk") for number in range(many))
        assert [one.error for one in await asyncio.gather(*undone)] == [None] * many
    assert (folder / "a.txt").read_text() == "0\n"


async def test_a_history_from_elsewhere_is_not_taken_back_into_files(tmp_path: Path, folder: Path) -> None:
    """The history of another account, in a home that came from there, for the same folder and session."""

    async def call(state: str, action: str, **arguments: Any) -> ActionResponse:
        async with Platform(tmp_path / "home", state=tmp_path / state) as tea:
            return await tea.ecp.invoke(f"workspace#{action}", arguments, session="desk")

    for text in ("planted", "mine"):
        (await call("other", "write", name="a.txt", text=text)).unwrap()
    error = (await call("own", "undo")).error
    assert error is not None
    assert "no change to take back" in error["problem"]
    assert (folder / "a.txt").read_text() == "mine"


@pytest.mark.parametrize("action", ["undo", "save_snapshot", "restore_snapshot"])
async def test_a_call_without_a_session_promises_no_history(tea: Platform, folder: Path, action: str) -> None:
    arguments = {} if action == "undo" else {"name": "first"}
    error = (await tea.ecp.invoke(f"workspace#{action}", arguments)).error
    assert error is not None
    assert "session of its own" in error["problem"]
    assert "--session" in error["fix"]


async def test_the_history_is_out_of_reach(act: Act, folder: Path) -> None:
    for name in (".tea/x", "a/../.tea/x"):
        assert "belongs to the history" in await refused(act("write", name=name, text="x"))


async def test_what_a_model_is_told_of_all_actions_is_short(tea: Platform) -> None:
    functions = (await tea.ecp.info("workspace")).function_schemas()
    assert len(json.dumps([one["function"] for one in functions], separators=(",", ":"))) <= 4_500


async def test_its_actions_as_tools_share_the_history_of_one_session() -> None:
    step = {"thinking": "", "evaluation": "", "memory": "", "next_goal": ""}
    calls = [
        ("workspace_write", {"name": "note.txt", "text": "first\n"}),
        ("workspace_write", {"name": "note.txt", "text": "second\n"}),
        ("workspace_undo", {}),
        ("workspace_read", {"name": "note.txt"}),
        ("done", {"answer": "first", "evidence": [{"source": "note.txt", "detail": "", "quote": "first"}]}),
    ]
    replies = [{**step, "calls": [{"name": name, "arguments": given}]} for name, given in calls]
    async with platform(model=ScriptedModel(replies)) as fresh:
        await fresh.transform("E2T", "workspace")
        outcome = await fresh.run("Write `note.txt` twice, undo, and read it.")
        assert (outcome.answer, [one.doubt for one in outcome.evidence]) == ("first", [""]), outcome.reason
        assert (await fresh.replay(outcome.run)).to_json() == outcome.to_json()
