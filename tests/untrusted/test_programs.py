"""The allowed requests of a program in a worker, and the end of one with any other request."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from untrusted_kit import elsewhere, tool

from tea.errors import ApprovalNeeded, Diverged
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.runs.policy import AllowTrusted, CallRequest, Decision
from tea.types import Untrusted
from tea.untrusted.workers import Workers

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAYS = '''
from tea import Agent, Context, Result, Task


class Says(Agent):
    """Say things."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Say nothing: the tests do."""
        return Result()
'''
DOUBLE = tool("double", "return number * 2", takes="number: int", gives="int", traits='effects="reads", network=False')
SEND = tool("send", "return 1", gives="int", traits='effects="external", network=False')
SOLVED = """---
name: solved
description: A test.
variables:
  number: integer
solver: tool:double
---
# system
Answer.

# message
{{ number }}
"""
TODAY = {"serve": {"service": "clock", "verb": "today", "data": {}}}
END = {"said": [], "end": {"value": {"answer": "end"}}}


class FakeWorker:
    """A worker with given answers."""

    digest, loaded, ref = "", False, "agent:says@1.0.0"

    def __init__(self, answers: list[Any]) -> None:
        self.answers, self.told = list(answers), list[Any]()
        self.claims: dict[str, Any] = {"level": "none"}

    async def load(self, *, anew: bool = False) -> None:
        self.loaded = True

    async def ask(self, message: Any) -> Any:
        self.told.append(message.get("event", message))
        return self.answers.pop(0)

    async def close(self) -> None:
        pass


class Watching(AllowTrusted):
    """Allows reads, and asks a person about the rest."""

    def __init__(self) -> None:
        self.seen: list[CallRequest] = []

    async def decide(self, request: CallRequest) -> Decision:
        self.seen.append(request)
        return "allow" if request.traits.effects in ("reads", "irreversible") else "ask"


POLICY = Watching()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    sources: Any = [("agent", SAYS)]
    async with elsewhere(tmp_path_factory.mktemp("programs"), *sources, policy=POLICY) as mine:
        for one in (DOUBLE, SEND):
            await mine.tcp.register(one)
        yield mine


async def said(tea: Platform, *answers: Any, **options: Any) -> tuple[Outcome, FakeWorker]:
    """Run the agent with a worker giving these answers."""
    made: list[FakeWorker] = []

    async def program(*_: Any) -> Any:
        made.append(FakeWorker(list(answers)))
        return made[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workers, "program", program)
        outcome = await tea.run("x", agent="says", **options)
        assert (await tea.replay(outcome.run)).answer == outcome.answer
    return outcome, made[0]


def call(name: str = "double", **arguments: Any) -> dict[str, Any]:
    return {"call": {"kind": "tool", "ref": name, "arguments": arguments}}


def nested() -> Any:
    found: list[Any] = []
    for _ in range(300):
        found = [found]
    return found


def state(verb: str, **data: Any) -> dict[str, Any]:
    return {"serve": {"service": "state", "verb": verb, "data": data}}


def start(key: str, message: Any = TODAY) -> dict[str, Any]:
    return {"start": key, "message": message}


async def test_events_are_given_one_at_a_time_in_the_order_of_the_journal(tea: Platform) -> None:
    begin = {"said": [start(f"0/{n}.0", call(number=n)) for n in range(3)]}
    outcome, worker = await said(tea, begin, {"said": []}, {"said": []}, END)
    assert outcome.answer == "end"
    assert worker.told[0]["do"] == "begin"
    found = {one["key"]: one["data"]["value"]["value"] for one in worker.told[1:4]}
    assert found == {"0/0.0": 0, "0/1.0": 2, "0/2.0": 4}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"said": [start("0.0"), start("0.0")]}, "is not a key of its own"),
        ({"said": [start("0")]}, "is not a key of its own"),
        ({"said": [start("1.0")]}, "is not a key of its own"),
        ({"said": [start("0.0.0")]}, "is not a key of its own"),
        ({"said": [start("0.-1")]}, "is not a key of its own"),
        ({"said": [start("0.00")]}, "is not a key of its own"),
        ({"said": [start("0.1!0")]}, "is not a key of its own"),
        ({"said": [start("../0.1")]}, "is not a key of its own"),
        ({"said": [start("0" + "/0" * 17 + ".0")]}, "is not a key of its own"),
        ({"said": [start(f"0.{n}") for n in range(1001)]}, "more is open or was begun"),
        ({"said": [{"start": "0.0", "wait": "sleep", "seconds": "1"}]}, "it says {'start': '0.0'"),
        ({"said": [{"start": "0.0", "wait": "for ever"}]}, "it says {'start'"),
        ({"said": [{"stop": "0.5"}]}, "it says {'stop': '0.5'}"),
        ({"said": [{"over": "0"}]}, "it says {'over': '0'}"),
        ({"said": [{"over": "../../0"}]}, "it says {'over'"),
        ({"said": [{"note": "enter", "data": {"ref": "agent:planner@1.0.0"}}]}, "'enter' is the platform's own word"),
        ({"said": [{"note": "step", "data": {"calls": 5}}]}, "The note 'step' has another form"),
        ({"said": [{"note": "step", "data": {"results": ["x"]}}]}, "The note 'step' has another form"),
        ({"said": [{"note": "x", "data": []}]}, "it says {'note'"),
        ({"said": [{"note": "", "data": {}}]}, "The note has no kind"),
        ({"said": [{"so_far": {"ok": "perhaps"}}]}, "it gives something other than a result"),
        ({"said": [{"answer": "allow", "key": "0.0"}]}, "it says {'answer'"),
        ({"said": ["x"]}, "it says something other than a message"),
        ({"said": {}}, "it says too much, or nothing"),
        ({}, "it says too much, or nothing"),
        ("x", "broke its protocol"),
        ({"said": [], "end": "x"}, "its end is not an end"),
        ({"said": []}, "waits for nothing"),
        ({"said": [{"part": nested()}]}, "says what cannot be recorded"),
        ({"said": [{"part": "\ud800"}]}, "says what cannot be recorded"),
        ({"said": [], "end": {"value": 5}}, "gave what its manifest does not promise"),
        ({"said": [], "end": {"value": {"handoff": "planner", "task": "x"}}}, "so it cannot hand over"),
        ({"said": [], "end": {"value": {"report": "../../journal.jsonl"}}}, "a report outside of the workspace"),
        ({"said": [], "end": {"cancelled": True}}, "cancelled itself"),
    ],
    ids=lambda one: str(one)[:60],
)
async def test_what_is_no_word_of_the_protocol_is_one_error_of_its_call(tea: Platform, answer: Any, words: str) -> None:
    outcome, _ = await said(tea, answer)
    assert outcome.error is not None
    assert (outcome.error["code"], words in outcome.error["problem"]) == ("CallFailed", True), outcome.error


async def test_a_replay_that_executes_something_else_says_where(tea: Platform) -> None:
    begin = {"said": [start("0.0", call(number=2))]}
    outcome, _ = await said(tea, begin, END)
    other = {"said": [], "end": {"value": {"answer": "other"}}}

    async def program(*_: Any) -> Any:
        return FakeWorker([begin, other])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workers, "program", program)
        with pytest.raises(Diverged, match=r"agent:says@1\.0\.0 does something else than recorded, after event 1 "):
            await tea.replay(outcome.run)


@pytest.mark.parametrize("code", ["ApprovalNeeded", "Diverged", "BudgetExceeded", "InternalError", "Uncertain"])
async def test_it_claims_no_error_that_it_was_not_given(tea: Platform, code: str) -> None:
    outcome, _ = await said(tea, {"said": [], "end": {"error": {"code": code, "problem": "p", "fix": "f"}}})
    assert outcome.error is not None
    assert outcome.error["code"] == "CallFailed"


async def test_its_problem_and_its_remedy_are_told_as_its_words(tea: Platform) -> None:
    outcome, _ = await said(tea, {"said": [], "end": {"error": {"code": "ToolError", "problem": "p", "fix": "f"}}})
    who = "agent:says@1.0.0 says: "
    assert outcome.error == {"code": "ToolError", "problem": f"{who}p", "fix": f"{who}f"}


async def test_it_passes_on_an_error_that_it_was_given(tea: Platform) -> None:
    question = {"prompt": "none", "variables": {}, "history": [], "model": None, "output": None, "tool_choice": "auto"}
    _, worker = await said(tea, {"said": [start("0.0", {"model": question})]}, END)
    given = worker.told[1]["data"]["error"]
    outcome, _ = await said(tea, {"said": [start("0.0", {"model": question})]}, {"said": [], "end": {"error": given}})
    assert (given["code"], outcome.error) == ("UnknownComponent", given)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"serve": {"service": "sandbox", "verb": "terms", "data": {}}}, "so it has no sandbox"),
        ({"serve": {"service": "sandbox", "verb": "cache", "data": {}}}, "so it has no sandbox"),
        ({"serve": {"service": "web", "verb": "settings", "data": {}}}, "so it has no web"),
        ({"serve": {"service": "search", "verb": "search", "data": {"queries": ["x"]}}}, "so it has no search"),
        (state("load", owner="agent:planner", lasting=False), "keeps its own state alone"),
        (state("load", owner="agent:says", lasting=True), "keeps its own state alone"),
        (state("claim", owner="agent:says", lasting=False, seconds=1.0), "so it has no state"),
        ({**call(number=1), "principal": "local"}, "not a message of a port"),
        ({"answer": {"0.0": "allow"}}, "not a message of a port"),
        ({"model": {"prompt": "x", "variables": {"a": [{"part": -1}]}, "history": []}}, "not a question to a model"),
        ({"model": {"prompt": "x", "variables": {}, "history": [7]}}, "not a question to a model"),
        ({"model": 5}, "not a question to a model"),
    ],
    ids=lambda one: str(one)[:60],
)  # fmt: skip
async def test_a_message_beyond_its_rights_is_answered_with_an_error(tea: Platform, message: Any, words: str) -> None:
    outcome, worker = await said(tea, {"said": [start("0.0", message)]}, END)
    assert words in worker.told[1]["data"]["error"]["problem"]
    assert outcome.ok


async def test_its_calls_are_held_to_the_policy_as_its_own_and_it_answers_no_question_about_them(
    tea: Platform,
) -> None:
    POLICY.seen.clear()
    asks = {"serve": {"service": "person", "verb": "ask", "data": {"question": "allow?", "choices": []}}}
    worker = FakeWorker([{"said": [start("0.0", call("send")), start("0.1", asks)]}])

    async def program(*_: Any) -> Any:
        return worker

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workers, "program", program)
        with pytest.raises(ApprovalNeeded) as waits:
            await tea.run("x", agent="says")
    asked = [one for one in POLICY.seen if one.ref == "tool:send@1.0.0#call"]
    assert [(type(one.principal), one.principal.name) for one in asked] == [(Untrusted, "agent:says@1.0.0")]
    questions = [one for one in tea.tracer.records(waits.value.run) if one.kind == "asked"]
    assert len({one.key for one in questions}) == 2
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workers, "program", program)
        key = next(one.key for one in questions if "target" not in str(one.data))
        worker.answers, worker.loaded = (
            [{"said": [start("0.0", call("send")), start("0.1", asks)]}, {"said": []}],
            False,
        )
        with pytest.raises(ApprovalNeeded):  # its question was answered, the call is not allowed by that
            await tea.resume(waits.value.run, answers={key: "allow"})


async def test_tools_that_a_solver_calls_for_it_are_called_in_its_name(tea: Platform) -> None:
    await tea.libraries["prompt"].register(SOLVED)
    POLICY.seen.clear()
    variables = {"number": [{"value": 4}]}
    question = {"prompt": "solved", "variables": variables, "history": [], "model": None, "output": None}
    await said(tea, {"said": [start("0.0", {"model": {**question, "tool_choice": "auto"}})]}, END)
    asked = [one.principal.name for one in POLICY.seen if one.ref == "tool:double@1.0.0#call"]
    assert asked == ["agent:says@1.0.0"]


async def test_a_wait_that_was_given_up_is_carried_out_no_longer(tea: Platform) -> None:
    begin = {"said": [{"start": "0.0", "wait": "sleep", "seconds": 30}, start("0/0.0")]}
    outcome, worker = await said(tea, begin, {"said": [{"stop": "0.0"}, start("0.1")]}, END)
    assert [one["key"] for one in worker.told[1:]] == ["0/0.0", "0.1"]
    assert outcome.answer == "end"


async def test_one_that_ignores_its_cancellation_is_ended(tea: Platform) -> None:
    waits = [{"said": [{"start": f"0.{n}", "wait": "sleep", "seconds": 0}]} for n in range(2000)]
    begin = {"said": [{"start": "0/0.0", "wait": "sleep", "seconds": 30}]}
    outcome, worker = await said(tea, begin, *waits, budget={"seconds": 0.05})
    assert (outcome.status, len(worker.answers) > 1700) == ("exhausted", True)


async def test_a_flood_of_words_ends_it(tea: Platform) -> None:
    flood = [{"said": [{"part": "x" * 900_000}, start(f"0.{n}")]} for n in range(80)]
    outcome, worker = await said(tea, *flood)
    assert outcome.error is not None
    assert ("it says too much" in outcome.error["problem"], len(worker.answers) > 5) == (True, True)


async def test_programs_side_by_side_are_bounded(tea: Platform) -> None:
    workers = Workers(lambda: pytest.fail("no sandbox was needed"))
    workers._programs = 32  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(Exception, match="Too many untrusted agents"):
        await workers.program(await tea.acp.info("says"), "s")
    await asyncio.sleep(0)
