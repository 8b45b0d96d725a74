"""Consent: a person who is there is asked at once, with the call's arguments; else the run waits for them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tea import Platform
from tea.errors import ApprovalNeeded
from tea.runtime.policy import CallRequest, Decision

SEND = '''
from tea import tool

@tool(effects="external")
async def send(to: str, words: str) -> str:
    """Send words to somebody.

    Args:
        to: Who gets them.
        words: What they get.
    """
    return f"sent {words} to {to}"
'''

SENDER = '''
from tea import Agent, Context, Result, Task

class Sender(Agent):
    """Send two letters."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Send them one after the other."""
        told = []
        for to in ("Ann", "Bob"):
            response = await ctx.tcp.invoke("send", {"to": to, "words": "hello"})
            told.append(response.value if response.ok else response.error["code"])
        return Result(answer=told)
'''


class AskAboutLetters:
    async def decide(self, request: CallRequest) -> Decision:
        return "ask" if request.traits.effects == "external" else "allow"


class Somebody:
    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def __call__(self, question: str, choices: Sequence[str]) -> str | None:
        self.asked.append((question, tuple(choices)))
        return self.answers.pop(0)


def stage(folder: Path, somebody: Somebody | None) -> Platform:
    return Platform(folder / "home", policy=AskAboutLetters(), state=folder / "state", person=somebody)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (("allow", "deny"), ["sent hello to Ann", "Denied"]),
        (("deny", "she knows"), ["Denied", "she knows"]),
    ],
)
async def test_who_is_there_is_asked_with_the_arguments(tmp_path: Path, said: tuple[str, str], told: list[str]) -> None:
    somebody = Somebody(*said)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(SENDER)
        outcome = await tea.run("Go.", agent="sender")
        assert outcome.answer == told
        assert [choices for _, choices in somebody.asked] == [("allow", "deny")] * 2
        assert all(word in somebody.asked[1][0] for word in ("tool:send@1.0.0", '"to": "Bob"', '"words": "hello"'))
        assert (await tea.replay(outcome.run)).answer == told
        assert len(somebody.asked) == 2
        assert (await tea.inbox()).questions == ()


@pytest.mark.parametrize("gone", [None, "\udcff"])
async def test_a_run_waits_where_the_person_went_away(tmp_path: Path, gone: str | None) -> None:
    somebody = Somebody("allow", gone)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(SENDER)
        with pytest.raises(ApprovalNeeded, match="needs a person's consent"):
            await tea.run("Go.", agent="sender")
        (question,) = (await tea.inbox()).questions
        assert question.arguments == {"to": "Bob", "words": "hello"}
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert outcome.answer == ["sent hello to Ann", "sent hello to Bob"]
        assert len(somebody.asked) == 2


async def test_a_call_outside_of_any_run_asks_who_is_there_too(tmp_path: Path) -> None:
    somebody = Somebody("allow", "deny", None)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        letter = {"to": "Ann", "words": "hello"}
        assert (await tea.tcp.invoke("send", letter)).value == "sent hello to Ann"
        refused = await tea.tcp.invoke("send", letter)
        assert not refused.ok
        with pytest.raises(ApprovalNeeded, match="needs a person's consent"):
            await tea.tcp.invoke("send", letter)


PAY = '''
from tea import tool

@tool(effects="irreversible", idempotent=False, network=False)
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"
'''

PAYS = '''
from tea import Context, tool

@tool(effects="reads", idempotent=True, network=False)
async def pays(ctx: Context) -> str:
    """Pay the price of the moment."""
    prices = ctx.path("price.txt")
    amount = int(prices.read_text()) if prices.exists() else 5
    return (await ctx.tcp.invoke("pay", {"amount": amount})).unwrap()
'''

PAYER = '''
from tea import Agent, Context, Result, Task

class Payer(Agent):
    """Have it paid."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Pay."""
        return Result(answer=(await ctx.tcp.invoke("pays", {})).value)
'''


class AskAboutPayments:
    async def decide(self, request: CallRequest) -> Decision:
        return "ask" if "tool:pay@" in request.ref else "allow"


async def test_consent_is_to_the_call_that_was_shown_and_to_no_other(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", policy=AskAboutPayments(), state=tmp_path / "state") as tea:
        await tea.tcp.register(PAY)
        await tea.tcp.register(PAYS)
        await tea.acp.register(PAYER)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="payer")
        (cheap,) = (await tea.inbox()).questions
        (tea.home / "traces" / cheap.run / "workspace" / "price.txt").write_text("5000")
        with pytest.raises(ApprovalNeeded):
            await tea.resume("last", answers={cheap.key: "allow"})
        (dear,) = (await tea.inbox()).questions
        assert (cheap.key, cheap.arguments, dear.arguments) == (dear.key, {"amount": 5}, {"amount": 5000})
        assert (await tea.resume("last", answers={dear.key: "allow"})).answer == "paid 5000"


@pytest.mark.parametrize("written", ["('Ann', 'Bob')", "{1: 'Ann'}", "{'all': ('Ann',)}", "['Ann']"])
async def test_consent_counts_however_the_agent_wrote_the_arguments(tmp_path: Path, written: str) -> None:
    tool = SEND.replace("to: str", "to: object")
    agent = SENDER.replace('("Ann", "Bob")', f"({written},)")
    async with stage(tmp_path, None) as tea:
        await tea.tcp.register(tool)
        await tea.acp.register(agent)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender")
        (question,) = (await tea.inbox()).questions
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert outcome.answer == [f"sent hello to {question.arguments['to']}"]


async def test_nobody_changes_the_arguments_of_a_call_while_a_person_is_asked_about_it(tmp_path: Path) -> None:
    arguments = {"amounts": [1]}

    async def slow(question: str, choices: Sequence[str]) -> str:
        arguments["amounts"].append(99)
        return "allow"

    source = PAY.replace("amount: int", "amounts: list[int]").replace("{amount}", "{sum(amounts)}")
    async with Platform(tmp_path / "home", policy=AskAboutPayments(), state=tmp_path / "state", person=slow) as tea:
        await tea.tcp.register(source)
        assert (await tea.tcp.invoke("pay", arguments)).value == "paid 1"
