"""Test handed-over values: the permitted, recorded and executed ones are equal, after any later change."""

import json
from typing import Any

import pytest
from journals import records

from tea.runs.outcome import Outcome
from tea.runs.policy import CallRequest, Decision
from tea.testing import platform

KEEPS = '''
from typing import Any
from tea import tool

@tool(effects="reads", idempotent=True)
async def keeps(given: Any) -> Any:
    """Give back what it was given.

    Args:
        given: Anything.
    """
    return given
'''

CHANGES = '''
from tea import Agent, Context, Result, Task

class Changes(Agent):
    """Change what it handed over before anybody can have acted on it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Hand lists over, and add to them."""
        await ctx.tcp.invoke("keeps", {"given": 0})
        arguments, remembered = {"given": [1]}, {"seen": [1]}
        async with ctx.group() as group:
            called = group.spawn(ctx.tcp.invoke("keeps", arguments))
            kept = group.spawn(ctx.memory.record("note", remembered))

            async def change() -> None:
                arguments["given"].append(99)
                remembered["seen"].append(99)

            group.spawn(change())
        found = await ctx.memory.recall()
        return Result(answer=[called.result().value, [one["data"] for one in found if one["kind"] == "note"]])
'''


def handed_over(outcome: Outcome) -> list[Any]:
    """The arguments of the calls of tools, as the journal holds them."""
    starts = [one["data"] for one in records(outcome.trace) if one["kind"] == "start"]
    return [one["data"]["arguments"] for one in starts if one["kind"] == "tool"]


async def test_nobody_changes_what_they_handed_over() -> None:
    asked: list[object] = []

    class Looks:
        async def decide(self, request: CallRequest) -> Decision:
            if request.ref.startswith("tool:keeps"):
                asked.append(json.loads(json.dumps(request.arguments)))
            return "allow"

    async with platform(policy=Looks()) as stage:
        await stage.tcp.register(KEEPS)
        await stage.acp.register(CHANGES)
        outcome = await stage.run("x", agent="changes")
        assert outcome.answer == [[1], [{"seen": [1]}]]
        told = handed_over(outcome)
        assert asked == told == [{"given": 0}, {"given": [1]}]
        assert (await stage.replay(outcome.run)).answer == outcome.answer


@pytest.mark.parametrize("odd", ["float('nan')", "b'x'", "[[]] * 2", "(1, 2)", "{'a': {1: 2}}", "circle"])
async def test_odd_data_are_as_recorded_or_refused_in_one_line(odd: str) -> None:
    source = CHANGES.replace('"given": [1]', f'"given": {odd}').replace('arguments["given"].append(99)', "pass")
    source = source.replace(
        "        arguments,", "        circle = []\n        circle.append(circle)\n        arguments,", 1
    )
    async with platform() as stage:
        await stage.tcp.register(KEEPS)
        await stage.acp.register(source.replace("called.result().value", "called.result().model_dump(mode='json')"))
        outcome = await stage.run("x", agent="changes")
        response = outcome.answer[0]
        if response["ok"]:
            assert handed_over(outcome)[-1]["given"] == response["value"]
        else:
            assert response["error"]["code"] == "BadArguments"
            assert "\n" not in response["error"]["problem"]


ADDS = '''
from tea import tool

@tool(effects="reads", idempotent=True)
async def adds(numbers: list[int], twice: bool = False, note: str = "") -> str:
    """Add numbers.

    Args:
        numbers: Which.
        twice: Whether to count each twice.
        note: Words.
    """
    return f"{sum(numbers) * (2 if twice else 1)} {note!r}"
'''

ADDER = '''
from tea import Agent, Context, Result, Task, tool

class Adder(Agent):
    """Add as a model would ask for it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call with other types than those of the schema, with those, and with what cannot be meant."""
        given = ({"numbers": "[1, 2]", "twice": "true", "note": None}, {"numbers": [1]}, {"numbers": "one"})
        found = [await ctx.tcp.invoke(task.text, one) for one in given]
        return Result(answer=[one.value if one.ok else one.error["code"] for one in found])
'''

ASKS = '''
from typing import Any
from tea import Context, tool

@tool(effects="reads", idempotent=True)
async def asks(ctx: Context, numbers: Any, twice: Any = False, note: Any = "") -> Any:
    """Let another tool add.

    Args:
        numbers: Which.
        twice: Whether to count each twice.
        note: Words.
    """
    return (await ctx.tcp.invoke("adds", {"numbers": numbers, "twice": twice, "note": note})).unwrap()
'''


@pytest.mark.parametrize("tool", ["adds", "asks"])
async def test_what_a_schema_surely_means_is_permitted_recorded_and_done_and_what_was_handed_over_is_recorded(
    tool: str,
) -> None:
    asked: list[object] = []

    class Looks:
        async def decide(self, request: CallRequest) -> Decision:
            if request.ref.startswith("tool:adds"):
                asked.append(request.arguments)
            return "allow"

    async with platform(policy=Looks()) as stage:
        for source in (ADDS, ASKS):
            await stage.tcp.register(source)
        await stage.acp.register(ADDER)
        outcome = await stage.run(tool, agent="adder")
        assert outcome.answer == ["6 ''", "1 ''", "BadArguments"]
        kind = {"adds": "start", "asks": "evidence"}[tool]
        told = [one["data"] for one in records(outcome.trace) if one["kind"] == kind]
        begun = [one["data"] for one in told if one["kind"] == "tool" and one["target"].startswith("tool:adds")]
        used = [one["arguments"] for one in begun]
        assert used == asked
        assert used[0] == {"numbers": [1, 2], "twice": True}
        assert begun[0]["given"] == {"numbers": "[1, 2]", "twice": "true", "note": None}
        assert all("given" not in one for one in begun[1:])
        assert (await stage.replay(outcome.run)).answer == outcome.answer


GIVES = '''
from typing import Any
from tea import tool

@tool(effects="reads", idempotent=True)
async def gives(levels: int) -> Any:
    """Give back lists in lists.

    Args:
        levels: How many.
    """
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value
'''

GIVER = '''
from typing import Any
from tea import Agent, Context, Result, Task

class Giver(Agent):
    """Give what is asked for."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call a tool, note, remember, or answer; by the first word, with so many levels or characters."""
        how, number = task.text.split()
        value: Any = "x" * int(number) if how == "large" else 1
        for _ in range(int(number) if how != "large" else 0):
            value = [value]
        if how == "tool":
            response = await ctx.tcp.invoke("gives", {"levels": int(number)})
            return Result(answer=response.ok or str(response.error))
        if how == "agent":
            response = await ctx.acp.invoke("giver", Task(text=f"answer {number}"))
            return Result(answer=response.ok or str(response.error))
        if how == "note":
            ctx.note("seen", {"value": value})
        if how == "memory":
            await ctx.memory.record("seen", {"value": value})
        return Result(answer=value if how in ("answer", "large") else True)
'''


@pytest.mark.parametrize("levels", [160, 185, 195, 200, 250, 400])
@pytest.mark.parametrize("how", ["tool", "agent", "note", "memory", "answer"])
async def test_what_no_record_can_hold_fails_where_it_was_given_and_the_run_has_an_end(how: str, levels: int) -> None:
    async with platform() as stage:
        await stage.tcp.register(GIVES)
        await stage.acp.register(GIVER)
        outcome = await stage.run(f"{how} {levels}", agent="giver")
        assert records(outcome.trace)[-1]["kind"] == "end"
        held = outcome.answer is True if how in ("tool", "agent") else outcome.status == "done"
        assert held or levels > 160
        assert not held or levels < 200
        assert "\n" not in outcome.reason
        again = await stage.replay(outcome.run)
        assert (again.status, again.answer, again.reason) == (outcome.status, outcome.answer, outcome.reason)


async def test_an_answer_larger_than_a_line_of_the_journal_is_kept_whole() -> None:
    async with platform() as stage:
        await stage.acp.register(GIVER)
        outcome = await stage.run("large 17000000", agent="giver")
        assert len(outcome.answer) == 17_000_000
        assert (await stage.replay(outcome.run)).answer == outcome.answer
        journal = (outcome.trace / "journal.jsonl").stat().st_size
        assert journal < 1_000_000


KEEPER = '''
from typing import Any
from tea import Agent, Context, Result, Task, TeaError

class Keeper(Agent):
    """Keep something deep."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Keep it, and look at what is kept."""
        value: Any = 1
        for _ in range(int(task.text)):
            value = [value]
        try:
            await ctx.memory.record("note", {"value": value})
            await ctx.state.save({"value": value})
        except TeaError:
            return Result(answer="refused")
        return Result(answer=[len(await ctx.memory.recall()), bool(await ctx.state.load())])
'''


@pytest.mark.parametrize("levels", [100, 170, 178, 185, 190, 195])
async def test_what_is_kept_can_be_looked_at(levels: int) -> None:
    async with platform() as stage:
        await stage.acp.register(KEEPER)
        assert (await stage.run(f"{levels}", agent="keeper", session="s")).answer in ("refused", [1, True])
        assert (await stage.run("1", agent="keeper", session="s")).status == "done"
