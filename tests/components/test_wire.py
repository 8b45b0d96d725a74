"""The messages of a port as JSON, as a program in another process sends them."""

import json
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from loop_kit import done, step, sum_of

from tea.components.port import Invocation, ListComponents, Port, PortMessage, Question, SaveState
from tea.components.wire import WirePort, deliver, from_wire, to_wire
from tea.errors import BadArguments
from tea.runs.ports import AgentPort
from tea.runs.run import Run
from tea.testing import ScriptedModel, platform
from tea.types import TextPart, ToolCall, data_part, message

STATE = {"owner": "agent:a", "lasting": False, "document": 1}
HISTORY = (
    message("assistant", (data_part({"a": [1.5, None]}),), (ToolCall(id="1", name="add", arguments={"a": 1}),)),
    message("tool", (TextPart(text="3"),), call_id="1"),
)
REMEMBERS = '''
"""Uses all three messages."""
from tea import Agent, Context, Result, Task, TeaError


class Remembers(Agent):
    """Works with a tool, its memory, its state and another agent, in branches of its own."""

    async def run(self, task: Task, ctx: Context) -> Result:
        """Do a little of everything."""
        await ctx.memory.record("seen", {"text": task.text})
        async with ctx.group() as group:
            sums = [group.spawn(ctx.tcp.invoke("calculator", {"expression": f"{n} + 1"})) for n in (1, 2)]
        await ctx.state.save({"kept": [one.result().value for one in sums]})
        try:
            await ctx.tcp.info("nothing-like-this")
        except TeaError as error:
            ctx.note("missed", {"code": error.record()["code"]})
        helped = await ctx.acp.invoke("planner", Task(text="What is 6 * 7?"))
        return Result(answer={"state": await ctx.state.load(), "helped": helped.result.answer}, ok=True)
'''


class TextPort(WirePort):
    """A port with messages and answers as text on their way."""

    def __init__(self, run: Run, *given: Any) -> None:
        port: Port = AgentPort(run, *given)
        self.seen: list[str] = []

        async def send(data: Any) -> Any:
            self.seen.append(next(iter(data)))
            with self.place(run):
                return json.loads(json.dumps(await deliver(port, json.loads(json.dumps(data)))))

        super().__init__(send)

    def place(self, run: Run) -> AbstractContextManager[Any]:
        """Return the run's place for carrying out a message."""
        return nullcontext()


class ScopedTextPort(TextPort):
    """The same, with one key for each message, and those of its work below it."""

    def place(self, run: Run) -> AbstractContextManager[Any]:
        return run.gate.scope()


@pytest.mark.parametrize(
    "sent",
    [
        Invocation("tool", "add@1.0.0", {"a": 1, "b": [None, "x"]}),
        Question("answer", {"task": "x"}, HISTORY, "fast", {"type": "object"}, "required"),
        SaveState("agent:a", lasting=True, document={"a": [1]}),
        ListComponents("agent"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_message_survives_its_way_as_text(sent: PortMessage) -> None:
    assert from_wire(json.loads(json.dumps(to_wire(sent)))) == sent


async def test_an_agent_behind_text_leaves_the_journal_of_one_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[TextPort] = []

    def wired(*given: Any) -> TextPort:
        ports.append(TextPort(*given))
        return ports[-1]

    async with platform(model=ScriptedModel([step(sum_of("6 * 7")), step(done("42"))])) as stage:
        await stage.acp.register(REMEMBERS)
        with monkeypatch.context() as patched:
            patched.setattr("tea.runs.run.AgentPort", wired)
            outcome = await stage.run("Go.", agent="remembers")
        assert outcome.answer == {"state": {"kept": [2, 3]}, "helped": "42"}
        assert {one for port in ports for one in port.seen} == {"call", "serve", "model"}
        assert (await stage.replay(outcome.run)).answer == outcome.answer


async def test_messages_may_have_one_key_each_with_all_their_work_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.runs.run.AgentPort", ScopedTextPort)
    async with platform(model=ScriptedModel([step(sum_of("6 * 7")), step(done("42"))])) as stage:
        await stage.acp.register(REMEMBERS)
        outcome = await stage.run("Go.", agent="remembers")
        assert outcome.answer == {"state": {"kept": [2, 3]}, "helped": "42"}
        assert (await stage.replay(outcome.run)).answer == outcome.answer
        agents = {one.agent for one in stage.tracer.records(outcome.run) if one.kind == "start"}
        assert agents == {"", "remembers", "planner"}
        assert outcome.cost.steps == 2


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"serve": {"service": "state", "verb": "drop", "data": STATE}}, "The service 'state' has no 'drop'."),
        (
            {"serve": {"service": "memory", "verb": "forget_everything", "data": {}}},
            "The service 'memory' has no 'forget_everything'.",
        ),
        ({"call": {"kind": "disk", "ref": "a", "arguments": {}}}, "'kind' of call: Input should be 'tool', "),
        ({"call": {"kind": "tool", "ref": "a", "arguments": 1}}, "'arguments' of call: "),
        ({"model": {"prompt": "a", "variables": {}, "depth": 1}}, "'depth' of model: Unexpected keyword argument."),
        ({"model": None}, "'data' of model: "),
        ({"serve": {"service": "clock"}}, "This is not a message of a port."),
        ({"call": {}, "serve": {}}, "This is not a message of a port."),
        ({"note": {}}, "This is not a message of a port."),
        ({}, "This is not a message of a port."),
        ([], "This is not a message of a port."),
    ],
    ids=str,
)
async def test_what_is_no_message_is_answered_with_one_line_and_reaches_no_port(sent: Any, told: str) -> None:
    answer = await deliver(NoPort(), sent)
    assert (answer["error"]["code"], answer["error"]["problem"][: len(told)]) == ("BadArguments", told)
    assert "\n" not in answer["error"]["problem"]


def test_what_is_no_message_is_not_sent() -> None:
    no_message: Any = ("state", "drop")
    with pytest.raises(BadArguments, match="A run cannot serve a tuple"):
        to_wire(no_message)


class NoPort:
    """A port out of reach."""

    async def call(self, invocation: Invocation) -> Any:
        raise AssertionError(invocation)

    async def serve(self, request: Any) -> Any:
        raise AssertionError(request)

    async def model(self, question: Question) -> Any:
        raise AssertionError(question)
