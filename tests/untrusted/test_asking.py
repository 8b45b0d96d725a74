"""Test an untrusted component's requests to its run: by messages, under a principal of its own."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from untrusted_kit import elsewhere, problem, tool

from tea.cli.tree import tree
from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.policy import AllowTrusted, CallRequest, Decision
from tea.types import Untrusted
from tea.untrusted.worker import Worker

ASK = tool(
    "ask",
    "return (await ctx.tcp.invoke(name, arguments)).unwrap()",
    takes="ctx: Context, name: str, arguments: dict[str, Any]",
    gives="Any",
)
SIDE = tool(
    "side",
    """async with ctx.group() as group:
    parts = [group.spawn(ctx.tcp.invoke("double", {"number": n})) for n in range(5)]
ctx.note("parts", {"number": 5})
return [one.result().unwrap() for one in parts]""",
    takes="ctx: Context",
    gives="list[int]",
)
SERVE = tool(
    "serve",
    """from tea.web import code_host

found = []
for ask in (
    lambda: ctx.memory.recall(), lambda: ctx.state.load(), lambda: ctx.memory.record("a", {}), lambda: ctx.messages(),
    lambda: ctx.ask("p", {}), lambda: ctx.sandbox_terms(), lambda: ctx.web(),
    lambda: ctx.tcp.evaluate("", []), lambda: ctx.tcp.adopt("", [], "t"), lambda: ctx.acp.adopt({}, [], "t"),
    lambda: ctx.tcp.new(0), lambda: code_host(ctx, "github"),
):
    try:
        found.append(str(await ask()))
    except Exception as error:
        found.append(error.args[0])
return [found, await ctx.today(), (await ctx.tcp.info("double"))["name"], ctx.principal.name, ctx.workspace]""",
    takes="ctx: Context",
    gives="list[Any]",
)
CIRCLE = tool("circle", "return (await ctx.tcp.invoke('circle', {})).unwrap()", takes="ctx: Context", gives="Any")
STORM = tool(
    "storm",
    """import asyncio
await asyncio.gather(*(ctx.today() for _ in range(1000)))""",
    takes="ctx: Context",
)
DOUBLE = tool("double", "return number * 2", takes="number: int", gives="int", traits='effects="reads", network=False')
FETCH = tool("fetch_it", "return 1", gives="int", traits='effects="reads"')
SEND = tool("send", "return 1", gives="int", traits='effects="external", network=False')
PASS = tool(
    "pass_on", "return (await ctx.tcp.invoke('send', {})).unwrap()", takes="ctx: Context", gives="int",
    traits='effects="reads", network=False',
)  # fmt: skip
AGENT = '''
from tea import Agent, Context, Result, Task


class Asking(Agent):
    """Ask."""

    tools = ("ask",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Let the untrusted tool call what the task names."""
        given = await ctx.tcp.invoke("ask", {"name": task.text, "arguments": {"number": 4}})
        return Result(answer=given.value if given.ok else given.error["problem"])
'''


pytestmark = pytest.mark.asyncio(loop_scope="module")


class Watching(AllowTrusted):
    """Allow all, and keep the questions."""

    def __init__(self) -> None:
        self.seen: list[CallRequest] = []

    async def decide(self, request: CallRequest) -> Decision:
        self.seen.append(request)
        return "allow"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("asking")
    sources: Any = [("tool", one) for one in (ASK, SIDE, SERVE, CIRCLE, STORM)]
    async with elsewhere(folder, *sources, policy=Watching()) as mine:
        for one in (DOUBLE, FETCH, SEND, PASS):
            await mine.tcp.register(one)
        await mine.acp.register(AGENT)
        yield mine


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    """A platform with the default policy."""
    async with elsewhere(tmp_path_factory.mktemp("strict"), ("tool", ASK)) as mine:
        for one in (DOUBLE, FETCH, SEND, PASS):
            await mine.tcp.register(one)
        await mine.acp.register(AGENT)
        yield mine


async def test_its_calls_are_held_to_the_policy_as_its_own(tea: Platform) -> None:
    policy: Any = tea._policy  # pyright: ignore[reportPrivateUsage]
    policy.seen.clear()
    assert (await tea.tcp.invoke("ask", {"name": "double", "arguments": {"number": 4}})).unwrap() == 8
    assert (await tea.tcp.invoke("ask", {"name": "pass_on", "arguments": {}})).unwrap() == 1
    named = [(one.ref, one.principal.name, isinstance(one.principal, Untrusted)) for one in policy.seen]
    own = ("tool:ask@1.0.0", True)
    assert named == [
        ("tool:ask@1.0.0#call", "local", False),
        ("tool:double@1.0.0#call", *own),
        ("tool:ask@1.0.0#call", "local", False),
        ("tool:pass_on@1.0.0#call", *own),
        ("tool:send@1.0.0#call", *own),
    ]


@pytest.mark.parametrize("name", ["fetch_it", "send", "pass_on"])
async def test_a_person_is_asked_about_each_of_its_calls_that_may_leave_the_workspace(
    strict: Platform, name: str
) -> None:
    beyond = "send" if name == "pass_on" else name
    version = f"{(await strict.tcp.info(beyond)).digest}/external"
    strict.consents.grant(version, "consented for the person's own agents")
    with pytest.raises(ApprovalNeeded, match=f"tool:{beyond}@1.0.0.* for tool:ask@1.0.0, which is not trusted"):
        await strict.tcp.invoke("ask", {"name": name, "arguments": {}}, session="s")


async def test_what_stays_in_the_workspace_is_not_asked_about(strict: Platform) -> None:
    assert (await strict.tcp.invoke("ask", {"name": "double", "arguments": {"number": 1}})).unwrap() == 2


async def test_it_calls_side_by_side_and_notes(tea: Platform) -> None:
    assert (await tea.tcp.invoke("side", {})).unwrap() == [0, 2, 4, 6, 8]


async def test_services_that_hold_what_others_wrote_are_refused(tea: Platform) -> None:
    refused, today, name, principal, workspace = (await tea.tcp.invoke("serve", {})).unwrap()
    assert [one.partition(", so it has no ")[2] for one in refused[:4]] == ["memory.", "state.", "memory.", "messages."]
    assert "cannot ask a model" in refused[4]
    assert [one.partition(", so it has no ")[2] for one in refused[5:]] == [
        "sandbox.", "web.", "generated.", "generated.", "generated.", "new_tools.", "hosts.",
    ]  # fmt: skip
    assert (len(today), name, principal, workspace) == (10, "double", "tool:serve@1.0.0", "/workspace")


@pytest.mark.slow
async def test_components_that_call_each_other_in_a_circle_end(tea: Platform) -> None:
    assert "calls deep" in problem(await tea.tcp.invoke("circle", {}))


@pytest.mark.slow
async def test_asking_too_much_at_once_ends_the_call(tea: Platform) -> None:
    assert "was stopped in its sandbox" in problem(await tea.tcp.invoke("storm", {}))


async def test_an_agent_uses_it_and_a_replay_starts_no_worker(tea: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = await tea.run("double", agent="asking")
    assert outcome.answer == 8
    records = list(tea.tracer.records(outcome.run))
    assert ", sandboxed: bubblewrap]" in tree(records)

    async def begin(*_: Any) -> Any:
        raise AssertionError("a worker was started")

    monkeypatch.setattr(Worker, "begin", begin)
    assert (await tea.replay(outcome.run)).answer == 8
