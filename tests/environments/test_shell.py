"""The environment `shell`: Python, bash and packages in a sandbox, through the platform's own door."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.errors import BadInput
from tea.loop.observation import MOST_CHARACTERS
from tea.platform import Platform
from tea.sandbox.session import limited_by
from tea.sandbox.settings import SandboxSettings
from tea.testing import ScriptedModel, platform

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUIET = "Executed successfully; there was no output."

WORKER = '''
from tea import Agent, Context, Result, Task


class Worker(Agent):
    """Work with code."""

    environments = ("shell",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count the lines, keep the number, and write it."""
        first = await ctx.ecp.invoke("shell#python", {"code": "n = len(open('data.csv').readlines())"})
        second = await ctx.ecp.invoke("shell#python", {"code": "open('n.txt', 'w').write(str(n)); n * 10"})
        third = await ctx.ecp.invoke("shell#bash", {"command": "cat n.txt"})
        return Result(answer=[first.unwrap(), second.unwrap(), third.unwrap(), ctx.sandbox])
'''
SIDE_BY_SIDE = '''
from tea import Agent, Context, Result, Task


class Part(Agent):
    """Do a part."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Keep a number, and read it again."""
        await ctx.ecp.invoke("shell#python", {"code": f"n = {task.text}"})
        await ctx.ecp.invoke("shell#bash", {"command": f"echo {task.text} >> all.txt"})
        return Result(answer=(await ctx.ecp.invoke("shell#python", {"code": "n"})).unwrap()["text"])


class Parts(Agent):
    """Have parts done side by side."""

    agents = ("part",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Start three."""
        async with ctx.group() as group:
            parts = [group.spawn(ctx.acp.invoke("part", Task(text=str(n)))) for n in range(3)]
        return Result(answer=[one.result().result.answer for one in parts])
'''


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


async def act(tea: Platform, name: str, session: str = "s", **arguments: Any) -> Any:
    return await tea.ecp.invoke(f"shell#{name}", arguments, session=session)


async def test_streams_and_result_are_labelled_and_the_level_is_told(tea: Platform) -> None:
    code = "import sys; print('a'); print('b', file=sys.stderr); 2**10"
    found = (await act(tea, "python", code=code)).unwrap()
    assert found["text"] == "STDOUT:\na\nSTDERR:\nb\nRESULT:\n1024"
    assert found["sandbox"] == "bubblewrap"
    assert "files" not in found


@pytest.mark.parametrize(
    ("action", "code", "text"),
    [
        ("python", "```python\n6 * 7\n```", "RESULT:\n42"),
        ("python", "\n```\nif True:\n    print(42)\n```\n", "STDOUT:\n42\n"),
        ("bash", "```bash\necho 42\n```", "STDOUT:\n42\n"),
        ("bash", "echo '```'\necho '```'", "STDOUT:\n```\n```\n"),
    ],
)
async def test_code_in_a_fence_is_run(tea: Platform, action: str, code: str, text: str) -> None:
    parameter = "code" if action == "python" else "command"
    response = await tea.ecp.invoke(f"shell#{action}", {parameter: code})
    assert response.unwrap()["text"].strip() == text.strip()


async def test_a_failing_command_is_told_with_its_exit_code(tea: Platform) -> None:
    assert (await act(tea, "bash", command="echo no >&2; exit 3")).unwrap()["text"] == "STDERR:\nno\nEXIT:\n3"


async def test_of_a_missing_package_the_installed_ones_are_named(tea: Platform) -> None:
    text = (await act(tea, "python", code="import no_such_plots.figures")).unwrap()["text"]
    installed = await tea.sandboxes.importable()
    others = f"installed are {', '.join(installed)}" if installed else "only the standard library is installed"
    assert text.endswith(f"NOTES:\n'no_such_plots' is not installed here; {others}.")


async def test_what_shows_nothing_says_so(tea: Platform) -> None:
    assert (await act(tea, "python", code="x = 1")).unwrap()["text"] == QUIET


async def test_the_middle_of_long_output_is_read_page_by_page(tea: Platform) -> None:  # 000: 25
    lines = "for number in range(12_000): print('line', number)"
    text = (await act(tea, "python", session="pages", code=lines)).unwrap()["text"]
    assert "line 6000\n" not in text
    (place,) = set(re.findall(r"/tmp/\S+\.txt", text))
    page = (await act(tea, "bash", session="pages", command=f"sed -n 6000,6002p {place}")).unwrap()
    assert page["text"] == "STDOUT:\nline 5999\nline 6000\nline 6001"


async def test_a_call_that_a_limit_stops_is_an_error_that_says_how_to_go_on(tea: Platform) -> None:
    answer = await act(tea, "python", code="import os; os._exit(3)")
    assert answer.error is not None
    assert "died (exit code 3)" in answer.error["problem"]
    assert answer.error["fix"]


async def test_long_output_is_shown_by_its_ends(tea: Platform) -> None:
    text = (await act(tea, "python", session="long", code="print('a' * 100_000 + 'z')")).unwrap()["text"]
    told = (
        "STDOUT (100,002 characters, of which 82,002 in the middle are left out; all of it is in /tmp/stdout-1.txt):\n"
    )
    assert text.startswith(told)
    assert "characters left out]" in text
    assert text.endswith("z")
    assert len(text) < 19_000


async def test_the_ends_of_two_long_streams_are_within_what_an_agent_is_shown(tea: Platform) -> None:
    both = "import sys; print('a' * 30_000 + 'y'); print('b' * 30_000 + 'z', file=sys.stderr); 7"
    text = (await act(tea, "python", session="both", code=both)).unwrap()["text"]
    assert [end in text for end in ("ay\nSTDERR", "bz\nRESULT:\n7")] == [True, True]
    assert [f"all of it is in /tmp/{name}-1.txt" in text for name in ("stdout", "stderr")] == [True, True]
    assert len(text) < MOST_CHARACTERS


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_one_long_stream_has_the_room_that_the_other_leaves(tea: Platform, stream: str) -> None:
    code = f"import sys; print('a' * 17_000, file=sys.{stream})"
    text = (await act(tea, "python", session=stream, code=code)).unwrap()["text"]
    assert text == f"{stream.upper()}:\n{'a' * 17_000}"


async def test_installing_without_a_folder_of_wheels_is_refused_with_the_remedy(tea: Platform) -> None:
    answer = await act(tea, "install", packages=["attrs"])
    assert "names no folder of wheels" in answer.error["problem"]


async def test_the_actions_can_be_called_as_tools(tea: Platform) -> None:
    await tea.transform("E2T", "shell")
    found = await tea.tcp.invoke("shell_python", {"code": "6 * 7"})
    assert found.unwrap()["text"] == "RESULT:\n42"


async def test_a_call_by_hand_has_a_folder_of_its_own(
    tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=secret")
    before = tmp_path.stat()
    monkeypatch.chdir(tmp_path)
    assert (await act(tea, "bash", command="ls -A; touch left")).unwrap()["text"] == QUIET
    assert sorted(one.name for one in tmp_path.iterdir()) == [".env"]
    assert tmp_path.stat().st_uid == before.st_uid


async def test_a_run_keeps_state_and_files_and_replays_without_a_sandbox(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n2\n")
    async with platform() as made:
        await made.acp.register(WORKER)
        outcome = await made.run("Count.", files=[tmp_path / "data.csv"], agent="worker")
        first, second, third, level = outcome.answer
        assert first["text"] == QUIET
        assert second["text"] == "RESULT:\n30"
        assert second["files"] == [{"name": "n.txt", "size": 1}]
        assert third["text"] == "STDOUT:\n3"
        assert level == "bubblewrap"
        assert (outcome.trace / "workspace" / "n.txt").read_text() == "3"
        records = list(made.tracer.records(outcome.run))
        claims = [one.data["data"] for one in records if one.kind == "evidence" and one.data["kind"] == "sandbox"]
        held = dict.fromkeys(("fs", "net", "pids", "memory", "syscalls"), True)
        assert claims[0] == {"level": "bubblewrap", **held, "limits": limited_by()}
        made.sandboxes.settings = SandboxSettings(packages=("nothing_of_that_name",))
        assert (await made.replay(outcome.run)).answer == outcome.answer


CHANGER = '''
from tea import Agent, Context, Result, Task


class Changer(Agent):
    """Run each line of a task as a command."""

    environments = ("shell",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Return what they print."""
        names = {"py:": ("python", "code")}
        texts = []
        for line in task.text.splitlines():
            action, argument = names.get(line[:3], ("bash", "command"))
            ran = await ctx.ecp.invoke(f"shell#{action}", {argument: line.removeprefix("py:")})
            texts.append(ran.unwrap()["text"])
        return Result(answer=texts)
'''
READ_ONLY = (
    "Files of the task are read-only for code: write one anew with `workspace_write`, or a copy under another name."
)


async def test_of_a_refused_change_of_a_file_of_the_task_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n2\n")
    refused = [
        "py:open('data.csv', 'w')",
        "py:import os; os.remove('data.csv')",
        "echo 3 >> data.csv",
        "sed -i s/1/3/ data.csv",
        "touch new.csv; mv new.csv data.csv",
        "cp new.csv data.csv",
        "rm -f data.csv",
    ]
    allowed = ["py:open('/usr/new.csv', 'w')", "echo 3 > /usr/new.csv", "sed s/1/3/ data.csv > new.csv", "cat data.csv"]
    async with platform() as made:
        await made.acp.register(CHANGER)
        outcome = await made.run("\n".join([*refused, *allowed]), files=[tmp_path / "data.csv"], agent="changer")
    told = [text.endswith(f"NOTES:\n{READ_ONLY}") for text in outcome.answer]
    assert told == [True] * len(refused) + [False] * len(allowed), outcome.answer


async def test_each_branch_has_an_interpreter_of_its_own_and_all_share_the_files() -> None:
    async with platform() as made:
        await made.acp.register(SIDE_BY_SIDE.replace("class Parts", "class Unused").split("class Unused")[0])
        await made.acp.register(
            SIDE_BY_SIDE.partition("class Part(")[0] + "class Parts" + SIDE_BY_SIDE.partition("class Parts")[2]
        )
        outcome = await made.run("Go.", agent="parts")
        assert outcome.answer == ["RESULT:\n0", "RESULT:\n1", "RESULT:\n2"]
        assert sorted((outcome.trace / "workspace" / "all.txt").read_text().split()) == ["0", "1", "2"]


async def test_the_planner_is_offered_code_where_a_level_is_accepted_and_not_else() -> None:
    model = ScriptedModel([{"calls": [{"name": "done", "arguments": {"answer": 1}}]}] * 3)
    async with platform(model=model) as made:
        await made.run("What do shell_python and shell_bash say?")
        offered = {one["name"] for one in model.requests[-1].tools}
        assert {"shell_python", "shell_bash"} <= offered

        async def none(mark: str = "") -> str:
            return ""

        await made.run("What do shell_python and shell_bash say with tools?", tools=["calculator"])
        assert not {one["name"] for one in model.requests[-1].tools if one["name"].startswith("shell")}
        made.sandboxes.name = none  # type: ignore[method-assign]
        await made.run("What do shell_python and shell_bash say now?")
        assert not {one["name"] for one in model.requests[-1].tools if one["name"].startswith("shell")}


async def test_a_run_that_waited_is_refused_where_the_sandbox_is_weaker_than_at_its_start() -> None:
    asker = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Ask."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask a person."""
        return Result(answer=(await ctx.ecp.invoke("human#ask", {"question": "Yes?"})).unwrap())
'''
    from tea.errors import ApprovalNeeded

    async with platform() as made:
        await made.acp.register(asker)
        with pytest.raises(ApprovalNeeded) as waiting:
            await made.run("Ask.", agent="asker")
        key = waiting.value.fix.partition("--answer ")[2].partition("=")[0].strip("'")
        kept = made.sandboxes.best

        async def nothing() -> None:
            return None

        made.sandboxes.best = nothing  # type: ignore[method-assign]
        with pytest.raises(BadInput, match="began with the sandbox bubblewrap"):
            await made.resume("last", answers={key: "yes"})
        made.sandboxes.best = kept
        assert (await made.resume("last", answers={key: "yes"})).answer == "yes"


async def test_a_file_called_by_its_path_elsewhere_is_named_as_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cities.csv").write_text("Lima")
    async with platform() as tea:
        assert "256 MB of new files" in str((await tea.ecp.state("shell", session="s")).unwrap())
        for action, given in (
            ("python", {"code": "open('/mnt/data/cities.csv')"}),
            ("bash", {"command": "cat /mnt/data/cities.csv"}),
        ):
            text = (await tea.ecp.invoke(f"shell#{action}", given, session="s")).unwrap()["text"]
            assert "'/mnt/data/cities.csv' is here as 'cities.csv'." in text
