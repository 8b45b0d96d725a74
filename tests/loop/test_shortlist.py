"""Test the offer among very many components, and calls of those left out."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step

from tea.loop.offer import MOST_OFFERED
from tea.loop.shortlist import MOST_SCHEMAS
from tea.loop.toolset import MOST_FURTHER

MANY = range(50)
ROOM = '''
from tea import Environment, action


class Room(Environment):
    """A room."""

    name = "room"

    async def state(self) -> int:
        """Return nothing of interest."""
        return 0
'''
BROWSE = '''
    @action(effects="writes", idempotent=True)
    async def act{n}(self, number: int) -> int:
        """{words}

        Args:
            number: Which.
        """
        return number + {n}
'''
WORKER = '''
from tea import Agent, Context, Result, Task, work


class Worker(Agent):
    """Work in a room."""

    name = "worker"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return await work(ctx, task, prompt="tool_calling", environments=["room"], tools=["op99"])
'''
HELPER = '''
from tea import Agent, Context, Result, Task


class Helper(Agent):
    """Help with a task."""

    name = "helper_x"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Help."""
        return Result(answer="helped")
'''


def op(n: int, words: str = "Count a number up.") -> str:
    return f'''
from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def op{n}(number: int) -> int:
    """{words}

    Args:
        number: Which.
    """
    return number + {n}
'''


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open(*map(op, MANY), op(99, "Forecast the rain of a city.")) as stage:
        await stage.tea.transform("T2E", [f"op{n}" for n in MANY], name="box")
        await stage.tea.transform("E2A", "box", name="boxer")
        await stage.tea.transform("T2A", ["op1", "op2"], name="pair")
        yield stage


def offered(request: Any) -> list[str]:
    return [one["name"] for one in request.tools]


async def test_of_very_many_actions_those_nearest_to_the_task_are_offered(stage: Stage) -> None:
    outcome, model = await stage.play(
        step(("box_op7", {"number": 3})), step(done(10)), task="use op7 on 3", agent="boxer"
    )
    names = offered(model.requests[0])
    assert len(names) <= MOST_SCHEMAS
    assert {"done", "box_op7"} <= {*names}
    assert observations(model.requests[1])[0]["calls"][0]["value"] == 10
    assert (await stage.tea.replay(outcome.run)).answer == 10


async def test_an_own_action_that_was_not_offered_can_be_called(stage: Stage) -> None:
    _, model = await stage.play(step(done()), task="use op7 on 3", agent="boxer")
    left = next(n for n in MANY if f"box_op{n}" not in offered(model.requests[0]))
    outcome, model = await stage.play(
        step((f"box_op{left}", {"number": 1})), step(done(1)), task="use op7 on 3", agent="boxer"
    )
    call = observations(model.requests[1])[0]["calls"][0]
    assert (call["ok"], call["value"]) == (True, left + 1)
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_a_named_tool_that_was_not_offered_can_be_called(stage: Stage) -> None:
    tools = [f"op{n}" for n in MANY]
    _, model = await stage.play(step(done()), task="use op7 on 3", tools=tools)
    left = next(n for n in MANY if f"op{n}" not in offered(model.requests[0]))
    outcome, model = await stage.play(
        step((f"op{left}", {"number": 1})), step(done(1)), task="use op7 on 3", tools=tools
    )
    call = observations(model.requests[1])[0]["calls"][0]
    assert (call["ok"], call["value"]) == (True, left + 1)
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_an_own_agent_that_was_not_offered_can_be_called(stage: Stage) -> None:
    names = [f"helper_{chr(97 + n)}" for n in range(21)]
    for name in names:
        await stage.tea.acp.register(HELPER.replace("helper_x", name))
    await stage.tea.acp.register(WORKER.replace('environments=["room"]', f"agents={names}").replace("worker", "leader"))
    _, model = await stage.play(step(done()), agent="leader")
    (left,) = {*names} - {*offered(model.requests[0])}
    _, model = await stage.play(step((left, {"task": "help"})), step(done(1)), agent="leader")
    assert observations(model.requests[1])[0]["calls"][0]["ok"]


async def test_actions_do_not_crowd_out_the_tool_that_fits(stage: Stage) -> None:
    room = ROOM + "".join(BROWSE.format(n=n, words="Open a door of the house.") for n in MANY)
    await stage.tea.ecp.register(room)
    await stage.tea.acp.register(WORKER)
    _, model = await stage.play(step(done()), task="will it rain in the city tomorrow", agent="worker")
    names = offered(model.requests[0])
    assert len(names) <= MOST_SCHEMAS
    assert {"done", "op99"} <= {*names}


async def test_long_descriptions_leave_room_for_fewer(stage: Stage) -> None:
    words = "Open a door of the house. " + "It opens slowly. " * 60
    hall = ROOM + "".join(BROWSE.format(n=n, words=words) for n in MANY)
    await stage.tea.ecp.register(hall.replace("class Room", "class Hall").replace('"room"', '"hall"'))
    porter = WORKER.replace("class Worker", "class Porter").replace('"worker"', '"porter"').replace('"room"', '"hall"')
    await stage.tea.acp.register(porter)
    _, model = await stage.play(step(done()), task="open a door", agent="porter")
    shown = model.requests[0].tools
    assert 1 < len(shown) < MOST_SCHEMAS
    assert sum(len(json.dumps(one).encode()) for one in shown) / 4 <= 6_000


async def test_a_task_without_a_word_is_offered_what_comes_first(stage: Stage) -> None:
    outcome, model = await stage.play(step(done(1)), task="?!", agent="boxer")
    assert outcome.ok
    assert MOST_OFFERED <= len(offered(model.requests[0])) <= MOST_SCHEMAS
    outcome, model = await stage.play(step(done(1)), task="?!", tools=[f"op{n}" for n in MANY])
    assert outcome.ok
    assert "done" in offered(model.requests[0])


async def test_a_star_offers_a_registered_tool_that_nobody_named_and_a_replay_offers_it_again(stage: Stage) -> None:
    await stage.tea.transform("E2T", "workspace")
    wish = "will it rain in the city tomorrow"
    outcome, model = await stage.play(step(("op99", {"number": 1})), step(done(1)), task=wish, tools=["op3", "*"])
    names = offered(model.requests[0])
    assert len(names) <= MOST_SCHEMAS
    assert {"done", "calculator", "op3", "op99", "workspace_read"} <= {*names}
    assert observations(model.requests[1])[0]["calls"][0]["value"] == 100
    await stage.tea.tcp.register(op(98, "Forecast the rain of a city tomorrow."))
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_what_is_registered_is_offered_beside_the_planners_own_and_solvers_never(stage: Stage) -> None:
    outcome, model = await stage.play(step(done(1)), task="will it rain in the city tomorrow")
    names = offered(model.requests[0])
    assert {"op99", "done", "find_tools"} <= {*names}
    assert not {"answer_from_data", "plan_offline", "compose_report", "todo"} & {*names}
    assert len([name for name in names if name.startswith("op")]) <= MOST_FURTHER
    assert (await stage.tea.replay(outcome.run)).ok


async def test_what_a_star_reaches_is_callable_once_it_is_offered_or_found(stage: Stage) -> None:
    task: dict[str, Any] = {"task": "something", "tools": ["*"]}
    _, model = await stage.play(step(done()), **task)
    left = next(name for name in map("op{}".format, MANY) if name not in offered(model.requests[0]))
    own = (left, {"number": 1})
    strange = [(name, {"number": 1}) for name in ("nowhere", "*", "op1@1.0.0")]
    replies = [step(own, *strange), step(("find_tools", {"query": left})), step(own), step(done(1))]
    outcome, model = await stage.play(*replies, **task)
    refused, found, called = (observations(model.requests[n])[-1]["calls"] for n in (1, 2, 3))
    assert [one["error"]["code"] for one in refused] == ["UnknownComponent"] * 4
    assert all("find_tools" in one["error"]["fix"] for one in refused)
    assert left in found[0]["value"]
    assert called[0]["value"] == int(left[2:]) + 1, called
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_a_star_neither_offers_nor_finds_what_is_not_trusted(stage: Stage) -> None:
    digest, granted = (await stage.tea.tcp.info("op99")).digest, stage.tea.tcp.manager.services.trust.path
    lines = granted.read_text().splitlines(keepends=True)
    granted.write_text("".join(line for line in lines if not line.startswith(digest)))
    wish = "will it rain in the city tomorrow"
    calls = (("op99", {"number": 1}), ("find_tools", {"query": "op99: forecast the rain of a city"}))
    replies = [step(*calls), step(("op99", {"number": 1})), step(done(1))]
    _, model = await stage.play(*replies, task=wish, tools=["*"])
    assert "op99" not in offered(model.requests[0])
    assert "op99" not in offered(model.requests[2])
    refused = [one for n in (1, 2) for one in observations(model.requests[n])[-1]["calls"] if one["name"] == "op99"]
    assert [one["error"]["code"] for one in refused] == ["UnknownComponent"] * 2


async def test_a_star_gives_an_agent_that_was_made_of_tools_no_others(stage: Stage) -> None:
    _, model = await stage.play(step(("op3", {"number": 1})), step(done(1)), agent="pair", tools=["*"])
    assert {*offered(model.requests[0])} == {"op1", "op2", "done"}
    assert observations(model.requests[1])[0]["calls"][0]["error"]["code"] == "UnknownComponent"


async def test_what_a_task_names_beside_is_offered_beside_the_agents_own(stage: Stage) -> None:
    _, model = await stage.play(step(done(1)), task="something else", also=["op3"])
    assert {"op3", "shell_python", "find_tools"} <= {*offered(model.requests[0])}
    _, model = await stage.play(step(done(1)), task="something else", tools=["op4"], also=["op3"])
    assert {"op3", "op4"} <= {*offered(model.requests[0])}
    assert "shell_python" not in offered(model.requests[0])
