"""Mending in the midst of a run: a failing own tool is repaired once, for this run alone."""

from pathlib import Path
from typing import Any

import pytest
from journals import records, rewrite

from tea import Platform
from tea.components.manifest import Lineage
from tea.evolve.mending import mend
from tea.loop.mending import NOTE
from tea.models.manager import CallTool, ModelConfig
from tea.refs import Ref
from tea.testing import platform
from tea.testing.desk.reflecting import Diagnosis
from tea.types import DataPart, ModelRequest, ModelResponse, ToolCall

BROKEN = '''
from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def halve(number: int) -> int:
    """Halve an even number.

    Args:
        number: An even number.
    """
    return number // (2 - 2)
'''
CRASHING = '''
from tea import Agent, Context, Result, Task


class Teller(Agent):
    """Tell how long the task is."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count."""
        return Result(answer=len(task.text) // (1 - 1))
'''
COUNTING = '''
from tea import Context, Environment, action


class Counter(Environment):
    """A counter, in a file of the workspace."""

    recovery = "durable"

    async def state(self, ctx: Context) -> dict[str, str]:
        """Say that it is there."""
        return {"counter": "there"}

    @action(effects="reads", idempotent=True, network=False)
    async def halve(self, ctx: Context, number: int) -> int:
        """Halve an even number.

        Args:
            number: An even number.
        """
        return number // (2 - 2)
'''
ASSISTANT = '''
from tea import Agent


class Assistant(Agent):
    """Answer by calling."""

    {calls}
'''
MENDED = BROKEN.replace("(2 - 2)", "2").lstrip("\n")
TASK = "Halve 84."


class Halving:
    """Call `halve` until it gives a number, then answer with it; reflect with a given text.

    Args:
        text: The new source proposed.
        named: What is mended.
        called: The function called; that of its name by default.
    """

    def __init__(self, text: str = MENDED, named: str = "halve", called: str = "") -> None:
        self.text, self.named, self.called, self.reflections = text, named, called or named, list[str]()

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        if "material" in request.variables:
            self.reflections.append(str(request.variables["material"]))
            component = self.named if ":" in self.named else f"tool:{self.named}"
            found = Diagnosis(component=component, variable="source", text=self.text, why="It divides by 0.")
            return ModelResponse(text="{}", output=found.to_json(), answered_by=config.name)
        given = [part.data for one in request.messages if one.role == "tool" for part in one.content
                 if isinstance(part, DataPart) and isinstance(part.data, dict)]  # fmt: skip
        last: Any = given[-1] if given else {}
        if last.get("ok") or len(given) > 2:
            value: Any = last.get("value")
            value = value["answer"] if isinstance(value, dict) else value
            arguments = {"answer": value} if last["ok"] else {"success": False, "reason": "It fails."}
            call = ToolCall(id=f"d{len(given)}", name="done", arguments=arguments)
        else:
            arguments = {"task": TASK} if self.named.startswith("agent:") else {"number": 84}
            call = ToolCall(id=f"h{len(given)}", name=self.called, arguments=arguments)
        return ModelResponse(calls=(call,), finish="calls", answered_by=config.name)


def notes(tea: Platform, run: str) -> list[Any]:
    found: list[Any] = [one.data for one in tea.tracer.records(run)]
    return [one["data"] for one in found if isinstance(one, dict) and one.get("kind") == NOTE]


async def worked(tea: Platform, **more: Any) -> Any:
    return await tea.run(TASK, tools=("halve",), evolve=True, **more)


async def assisted(tea: Platform, calls: str) -> Any:
    """Have an assistant with the given declaration work on the task."""
    await tea.acp.register(ASSISTANT.format(calls=calls))
    return await tea.run(TASK, agent="assistant", evolve=True)


async def check_mended(tea: Platform, outcome: Any, name: str, answer: int) -> None:
    """Check the repair of a component by a run for itself alone, and the same in its replay."""
    assert (outcome.ok, outcome.answer) == (True, answer), outcome.reason
    [note] = notes(tea, outcome.run)
    assert (note["before"], note["after"]) == (f"{name}@1.0.0", f"{name}@1.0.1")
    ref = Ref.parse(name)
    library = tea.libraries[ref.kind]
    assert (await library.info(ref.name)).version == "1.0.0"
    assert (await tea.replay(outcome.run)).answer == answer
    assert len(await library.history(ref.name)) == 2  # a replay stores nothing


async def test_a_failing_own_tool_is_mended_in_the_midst_of_a_run_and_called_again() -> None:
    model = Halving()
    async with platform(model=model) as tea:
        await tea.tcp.register(BROKEN)
        outcome = await worked(tea)
        await check_mended(tea, outcome, "tool:halve", 42)
        assert len(model.reflections) == 1
        assert "ZeroDivisionError" in model.reflections[0] or "division" in model.reflections[0]
        made = await tea.tcp.info("halve@1.0.1")
        assert (made.lineage.how, made.lineage.run, made.source) == ("reflection", outcome.run, MENDED)
        assert not tea.libraries["tool"].services.trust(made.digest)  # so it works in the sandbox


async def test_without_the_wish_nothing_is_mended() -> None:
    model = Halving()
    async with platform(model=model) as tea:
        await tea.tcp.register(BROKEN)
        outcome = await tea.run(TASK, tools=("halve",))
        assert not outcome.ok
        assert (model.reflections, notes(tea, outcome.run)) == ([], [])


async def test_a_tool_is_mended_once_though_it_fails_again() -> None:
    model = Halving(text=BROKEN.replace("(2 - 2)", "(3 - 3)"))
    async with platform(model=model) as tea:
        await tea.tcp.register(BROKEN)
        outcome = await worked(tea)
        assert not outcome.ok
        assert (len(model.reflections), len(notes(tea, outcome.run))) == (1, 1)


async def test_a_mend_that_breaks_the_contract_is_refused_and_the_run_goes_on() -> None:
    model = Halving(text=MENDED.replace("number: int", "figure: int").replace("return number", "return figure"))
    async with platform(model=model) as tea:
        await tea.tcp.register(BROKEN)
        outcome = await worked(tea)
        [note] = notes(tea, outcome.run)
        assert (note["after"], "breaks its contract" in note["problem"]) == ("", True)
        assert not outcome.ok
        assert (await tea.replay(outcome.run)).reason == outcome.reason


async def test_a_tool_from_elsewhere_is_not_mended(tmp_path: Path) -> None:
    async with platform() as other:
        await other.tcp.register(BROKEN)
        await other.libraries["tool"].save(tmp_path / "halve.json", ["halve"])
    model = Halving()
    async with platform(model=model) as tea:
        await tea.libraries["tool"].load(tmp_path / "halve.json")
        outcome = await tea.run(TASK, tools=("halve",), evolve=True)
        assert (outcome.ok, model.reflections) == (False, [])


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "more"), [("open", 1), ("open", 4), ("mend", 1), ("mend", 2), ("mend", 4)])
async def test_a_run_killed_anywhere_while_it_mends_goes_on_with_the_same_version(verb: str, more: int) -> None:
    async with platform(model=Halving()) as tea:
        await tea.tcp.register(BROKEN)
        outcome = await worked(tea)
        begun = next(n for n, one in enumerate(records(outcome.trace)) if (one["data"] or {}).get("target") == verb)
        other = rewrite(tea.home, outcome.run, lambda kept: kept[: begun + more])
        (tea.home / "traces" / other / "workspace").mkdir()
        assert (await tea.resume(other)).answer == 42
        assert (await tea.replay(other)).answer == 42
        assert [one["after"] for one in notes(tea, other)] == ["tool:halve@1.0.1"]
        assert len(await tea.tcp.history("halve")) == 2


async def test_a_fork_of_a_mended_run_keeps_its_version_and_mends_nothing_more() -> None:
    model = Halving()
    async with platform(model=model) as tea:
        await tea.tcp.register(BROKEN)
        outcome = await worked(tea)
        at = next(one["seq"] for one in records(outcome.trace) if (one["data"] or {}).get("kind") == NOTE)
        fork = await tea.fork(outcome.run, at=at + 1)
        assert (fork.ok, fork.answer, len(model.reflections)) == (True, 42, 1)
        again = await tea.fork(outcome.run, use={"tool:halve": "1.0.1"})
        assert (again.ok, again.answer, len(model.reflections)) == (True, 42, 1)


async def test_an_own_agent_that_crashes_is_mended_in_a_fork_of_its_run() -> None:
    model = Halving(text=CRASHING.replace("(1 - 1)", "1").lstrip("\n"), named="agent:teller")
    async with platform(model=model) as tea:
        await tea.acp.register(CRASHING)
        outcome = await tea.run(TASK, agent="teller")
        assert not outcome.ok
        mended = await mend(tea, outcome)
        assert mended is not None
        assert (mended.outcome.answer, str(mended.ref)) == (len(TASK), "agent:teller@1.0.1")
        begun = [one.data for one in tea.tracer.records(mended.outcome.run) if one.kind == "start"]
        assert any("'program'" in str(one) for one in begun)  # a sandboxed agent is led from the host
        assert (await tea.acp.info("teller")).version == "1.0.0"


async def test_a_mend_costs_no_more_than_its_run_left_of_a_limit_in_dollars() -> None:
    model = Halving(text=CRASHING.replace("(1 - 1)", "1").lstrip("\n"), named="agent:teller")
    async with platform(model=model) as tea:
        await tea.acp.register(CRASHING)
        outcome = await tea.run(TASK, agent="teller", budget={"usd": 0.5, "unknown_price": True})
        assert await mend(tea, outcome) is not None
        heads: list[Any] = [next(iter(tea.tracer.records(run))).data["task"] for run in tea.tracer.runs()]
    (budget,) = [one["budget"] for one in heads if one["agent"] == "reflector"]
    assert (budget["usd"], budget["unknown_price"]) == (0.5, True)


async def test_a_generated_tool_is_mended_too() -> None:
    model = Halving()
    async with platform(model=model) as tea:
        made = await tea.tcp.register(BROKEN, lineage=Lineage(how="generator"))
        tea.libraries["tool"].services.trust.adopted.grant(made.digest, "tool:halve")
        outcome = await worked(tea)
        assert (outcome.ok, outcome.answer, len(model.reflections)) == (True, 42, 1)


async def test_an_own_environment_with_its_state_outside_is_mended_in_the_midst_of_a_run() -> None:
    mended = COUNTING.replace("(2 - 2)", "2").lstrip("\n")
    model = Halving(text=mended, named="environment:counter", called="counter_halve")
    async with platform(model=model) as tea:
        await tea.ecp.register(COUNTING)
        outcome = await assisted(tea, 'environments = ("counter",)')
        await check_mended(tea, outcome, "environment:counter", 42)


async def test_an_own_environment_with_a_state_to_lose_is_not_mended_in_the_midst_of_a_run() -> None:
    model = Halving(named="environment:counter", called="counter_halve")
    async with platform(model=model) as tea:
        await tea.ecp.register(COUNTING.replace('"durable"', '"lost"'))
        outcome = await assisted(tea, 'environments = ("counter",)')
        assert (outcome.ok, model.reflections, notes(tea, outcome.run)) == (False, [], [])


async def test_an_own_agent_that_crashes_when_it_is_called_is_mended_in_the_midst_of_a_run() -> None:
    mended = CRASHING.replace("(1 - 1)", "1").lstrip("\n")
    model = Halving(text=mended, named="agent:teller", called="teller")
    async with platform(model=model) as tea:
        await tea.acp.register(CRASHING)
        outcome = await assisted(tea, 'agents = ("teller",)')
        await check_mended(tea, outcome, "agent:teller", len(TASK))


async def test_an_agent_that_says_it_has_no_answer_is_not_mended() -> None:
    model = Halving(named="agent:teller", called="teller")
    async with platform(model=model) as tea:
        await tea.acp.register(CRASHING.replace("answer=len(task.text) // (1 - 1)", 'ok=False, reason="No."'))
        outcome = await assisted(tea, 'agents = ("teller",)')
        assert (outcome.ok, model.reflections) == (False, [])


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "more"), [("open", 2), ("mend", 1), ("mend", 3)])
@pytest.mark.parametrize("kind", ["environment", "agent"])
async def test_a_run_killed_while_it_mends_an_environment_or_an_agent_goes_on_alike(
    kind: str, verb: str, more: int
) -> None:
    named, called, text, calls = (
        ("environment:counter", "counter_halve", COUNTING.replace("(2 - 2)", "2"), 'environments = ("counter",)')
        if kind == "environment"
        else ("agent:teller", "teller", CRASHING.replace("(1 - 1)", "1"), 'agents = ("teller",)')
    )
    async with platform(model=Halving(text=text.lstrip("\n"), named=named, called=called)) as tea:
        await tea.ecp.register(COUNTING)
        await tea.acp.register(CRASHING)
        await tea.acp.register(ASSISTANT.format(calls=calls))
        outcome = await tea.run(TASK, agent="assistant", evolve=True)
        assert outcome.ok, outcome.reason
        begun = next(n for n, one in enumerate(records(outcome.trace)) if (one["data"] or {}).get("target") == verb)
        other = rewrite(tea.home, outcome.run, lambda kept: kept[: begun + more])
        (tea.home / "traces" / other / "workspace").mkdir()
        assert (await tea.resume(other)).answer == outcome.answer
        assert (await tea.replay(other)).answer == outcome.answer
        assert [one["after"] for one in notes(tea, other)] == [f"{named}@1.0.1"]
        at = next(one["seq"] for one in records(outcome.trace) if (one["data"] or {}).get("kind") == NOTE)
        fork = await tea.fork(outcome.run, at=at + 1)
        assert (fork.ok, fork.answer) == (True, outcome.answer)
