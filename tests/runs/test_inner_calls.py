"""Test a tool's calls before its question: a new beginning does not repeat them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.runs.policy import AllowTrusted, CallRequest, Decision

SEND = '''
from tea import Context, tool

@tool(effects="EFFECTS", network=False)
async def send(ctx: Context, words: str) -> str:
    """Send words.

    Args:
        words: Which.
    """
    with ctx.path("sent.txt").open("a") as file:
        file.write(f"{words} ")
    return f"sent {words}"
'''

OUTER = '''
from tea import Context, tool

@tool(effects="EFFECTS", idempotent=True, network=False)
async def outer(ctx: Context) -> list[str]:
    """Send, ask, and send again."""
    BODY
'''

SEND_ASK_SEND = """
first = (await ctx.tcp.invoke("send", {"words": "hello"})).unwrap()
said = await ctx.person("What then?")
again = await ctx.person("Sure?")
return [first, said, again, (await ctx.tcp.invoke("send", {"words": said})).unwrap()]
"""

SEND_BOTH = """
await ctx.tcp.invoke("post", {})
async with ctx.group() as group:
    both = [group.spawn(ctx.tcp.invoke(name, {"words": name})) for name in ("send", "post")]
return [one.result().unwrap() for one in both]
"""

CALLER = '''
from tea import Agent, Context, Result, Task

class Caller(Agent):
    """Call the tool."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell what it gave."""
        return Result(answer=(await ctx.tcp.invoke("outer", {})).unwrap())
'''


class Asks:
    """A policy with scripted words on sending."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        return self.decision if "words" in request.arguments else "allow"


async def ended(folder: Path, policy: Asks, sources: Sequence[str], said: Mapping[str, str]) -> tuple[Outcome, str]:
    """Run to the end with all questions answered; return the end, and the sent mail."""
    asked: dict[str, object] = {}

    def process() -> Platform:
        return Platform(folder / "home", policy=policy, state=folder / "state")

    async with process() as tea:
        for source in sources:
            await tea.tcp.register(source)
        await tea.acp.register(CALLER)
        with pytest.raises(ApprovalNeeded):
            await tea.run("x", agent="caller")
    for _ in range(5):
        async with process() as tea:
            questions = (await tea.inbox()).questions
            assert not any("may have happened" in one.question for one in questions)
            assert all(asked.setdefault(one.key, one.arguments) == one.arguments for one in questions)
            try:
                answers = {one.key: said.get(one.question, "allow") for one in questions}
                outcome = await tea.resume("last", answers=answers)
            except ApprovalNeeded:
                continue
            assert (await tea.replay(outcome.run)).answer == outcome.answer
            sent = tea.home / "traces" / outcome.run / "workspace" / "sent.txt"
            return outcome, sent.read_text()
    raise AssertionError("It never ends.")


def sources(inner: str, outer: str, body: str) -> tuple[str, str]:
    """The two tools, with these effects and this body."""
    body = body.strip().replace("\n", "\n    ")
    return SEND.replace("EFFECTS", inner), OUTER.replace("EFFECTS", outer).replace("BODY", body)


@pytest.mark.parametrize("decision", ["allow", "ask"])
@pytest.mark.parametrize("inner", ["writes", "external"])
@pytest.mark.parametrize("outer", ["reads", "writes"])
async def test_a_call_that_ended_before_its_caller_waited_is_not_made_again(
    tmp_path: Path, outer: str, inner: str, decision: Decision
) -> None:
    said = {"What then?": "bye", "Sure?": "yes"}
    outcome, sent = await ended(tmp_path, Asks(decision), sources(inner, outer, SEND_ASK_SEND), said)
    assert (outcome.answer, sent) == (["sent hello", "bye", "yes", "sent bye"], "hello bye ")


async def test_calls_side_by_side_keep_their_keys_when_their_caller_begins_anew(tmp_path: Path) -> None:
    send, outer = sources("external", "reads", SEND_BOTH)
    outcome, sent = await ended(tmp_path, Asks("ask"), (send, send.replace("def send", "def post"), outer), {})
    assert (outcome.answer, sorted(sent.split())) == (["sent send", "sent post"], ["post", "send"])


COURIER = '''
from tea import Context, Environment, action

class Courier(Environment):
    """Have letters sent, and count them."""

    recovery = "rerun"

    def __init__(self) -> None:
        self.count = 0

    @action(effects="writes", network=False)
    async def order(self, ctx: Context, words: str) -> str:
        """Have words sent.

        Args:
            words: Which.
        """
        self.count += 1
        return (await ctx.tcp.invoke("send", {"words": words})).unwrap()

    async def state(self) -> int:
        """Return how many were sent."""
        return self.count
'''

CUSTOMER = '''
from tea import Agent, Context, Result, Task

class Customer(Agent):
    """Order, ask, and count."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell what came of it."""
        ordered = await ctx.ecp.invoke("courier#order", {"words": "hello"})
        said = await ctx.person("Content?")
        return Result(answer=[ordered.value, said, (await ctx.ecp.state("courier")).value])
'''


@pytest.mark.parametrize("effects", ["external", "writes"])
async def test_what_an_action_had_done_for_good_is_not_done_again_to_bring_its_environment_back(
    tmp_path: Path, effects: str
) -> None:
    def process() -> Platform:
        return Platform(tmp_path / "home", state=tmp_path / "state", policy=AllowTrusted())

    async with process() as tea:
        await tea.tcp.register(SEND.replace("EFFECTS", effects))
        await tea.ecp.register(COURIER)
        await tea.acp.register(CUSTOMER)
        with pytest.raises(ApprovalNeeded):
            await tea.run("x", agent="customer")
    async with process() as tea:
        (question,) = (await tea.inbox()).questions
        outcome = await tea.resume("last", answers={question.key: "yes"})
        assert outcome.answer == ["sent hello", "yes", 1]
        assert (tea.home / "traces" / outcome.run / "workspace" / "sent.txt").read_text() == "hello "
        state = next(
            one.key for one in tea.tracer.records(outcome.run) if one.kind == "start" and "#state" in str(one.data)
        )
        fork = await tea.fork(outcome.run, at=state)
        assert fork.answer == outcome.answer
        sent_by_fork = tea.home / "traces" / fork.run / "workspace" / "sent.txt"
        assert sent_by_fork.exists() == (effects == "writes")
