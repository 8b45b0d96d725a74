"""Policies and transformations: a call is decided by all of its names; none of them leads past the answer."""

import shlex
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from transform_kit import called, chooser, furnish

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.refs import Ref
from tea.runs.policy import CallRequest, Decision
from tea.testing import platform

RUN, WRITE, JOIN = "agent:echo@1.0.0#run", "environment:pad@1.0.0#write", "tool:join@1.0.0#call"
GIVEN: dict[str, dict[str, Any]] = {RUN: {"task": {"text": "a"}}, WRITE: {"line": "a"}, JOIN: {"text": "a"}}
FORM = {"description": "Say it.", "parameters": {"properties": {"word": {"type": "string"}}}}

# What is transformed how, under which names; what acts in the end; and what is called, from the first call on.
WAYS: dict[str, tuple[list[tuple[str, str, str]], str, list[str]]] = {
    "A2T": ([("A2T", "echo", "t")], RUN, ["tool:t#call"]),
    "E2T": ([("E2T", "pad", "pad")], WRITE, ["tool:pad_write#call"]),
    "T2E": ([("T2E", "join", "e")], JOIN, ["environment:e#join"]),
    "A2E": ([("A2E", "echo", "e")], RUN, ["environment:e#run"]),
    "A2T-T2E": ([("A2T", "echo", "t"), ("T2E", "t", "e")], RUN, ["environment:e#t", "tool:t#call"]),
    "E2T-T2E": (
        [("E2T", "pad", "pad"), ("T2E", "pad_write", "e")],
        WRITE,
        ["environment:e#pad_write", "tool:pad_write#call"],
    ),
    "T2E-E2T": ([("T2E", "join", "e"), ("E2T", "e", "e")], JOIN, ["tool:e_join#call", "environment:e#join"]),
    "A2E-E2T": ([("A2E", "echo", "e"), ("E2T", "e", "e")], RUN, ["tool:e_run#call", "environment:e#run"]),
}


class Asked:
    """A policy remembering its questions, and deciding as told."""

    def __init__(self) -> None:
        self.requests: list[CallRequest] = []
        self.decision: Callable[[CallRequest], Decision] = lambda _: "allow"

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        self.requests.append(request)
        return self.decision(request)

    def said(self) -> list[tuple[str, ...]]:
        """Return all names of each call asked about, the actor first; then forget."""
        said: dict[str, list[str]] = {}
        for request in self.requests:
            assert {request.ref, *request.through} == {*request.names}
            said.setdefault(request.key, []).append(request.ref)
        self.requests.clear()
        return [tuple(names) for names in said.values()]


@asynccontextmanager
async def transformed(steps: list[tuple[str, str, str]], policy: Asked) -> AsyncGenerator[Platform]:
    """A platform after a chain of transformations."""
    async with platform(policy=policy) as stage:
        await furnish(stage)
        for how, operand, name in steps:
            await stage.transform(how, operand, name=name)
        yield stage


async def invoked(stage: Platform, ref: str, arguments: dict[str, Any]) -> Any:
    """Call it from outside of any run."""
    target = Ref.parse(ref)
    door = {"tool": stage.tcp, "environment": stage.ecp, "agent": stage.acp}[target.kind]
    return await door.invoke(ref, arguments, session="one")


def call_of(ref: str, arguments: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """The same as a call from inside of a run."""
    kind, _, name = ref.partition(":")
    return kind, name, arguments


def key_of(error: ApprovalNeeded) -> str:
    """The key named by a person's answer."""
    return shlex.split(error.fix)[4].partition("=")[0]


def exact(names: list[str]) -> tuple[str, ...]:
    """The names with their version."""
    return tuple(name.replace("#", "@1.0.0#") for name in names)


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_under_another_name_is_asked_about_by_each_of_its_names(way: str) -> None:
    steps, acts, names = WAYS[way]
    policy = Asked()
    async with transformed(steps, policy) as stage:
        policy.said()
        assert (await invoked(stage, names[0], GIVEN[acts])).ok
        request = policy.requests[0]
        assert (request.ref, request.through, request.names) == (acts, exact(names), (acts, *exact(names)))
        assert [one.ref for one in policy.requests] == [*request.names]
        config = await stage.libraries[Ref.parse(acts).kind].info(acts.partition("#")[0])
        for one in policy.requests:
            assert sorted(one.names) == sorted(request.names)
            assert {name: one.arguments[name] for name in GIVEN[acts]} == GIVEN[acts]
            assert one.traits == config.operation(acts.partition("#")[2]).traits
        policy.said()
        await called(stage, call_of(names[0], GIVEN[acts]))
        assert [said for said in policy.said() if said[0] != "agent:caller@1.0.0#run"] == [(acts, *exact(names))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("which", ["what acts", "any name of it"])
async def test_who_denies_what_acts_or_a_name_of_it_denies_the_call(way: str, which: str) -> None:
    steps, acts, names = WAYS[way]
    policy = Asked()
    async with transformed(steps, policy) as stage:
        for denied in [acts] if which == "what acts" else exact(names):
            policy.decision = lambda request, denied=denied: "deny" if request.ref == denied else "allow"
            found = await invoked(stage, names[0], GIVEN[acts])
            assert found.error is not None
            assert found.error["code"] == "Denied"
            assert denied in found.error["problem"]
        policy.decision = lambda _: "allow"
        if acts == RUN:
            assert (await invoked(stage, acts, GIVEN[acts])).value["answer"] == "a 0"
        if acts == WRITE:
            assert (await invoked(stage, acts, GIVEN[acts])).value == 1
        if way.startswith("T2E"):
            assert (await invoked(stage, "environment:e#state", {})).value["last"] == {}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("which", ["what acts", "names of it"])
async def test_a_person_is_asked_once_and_told_every_name(way: str, which: str) -> None:
    steps, acts, names = WAYS[way]
    policy = Asked()
    policy.decision = lambda request: "ask" if request.ref in decisive else "allow"
    decisive = (acts,) if which == "what acts" else exact(names)
    async with transformed(steps, policy) as stage:
        with pytest.raises(ApprovalNeeded) as waiting:
            await called(stage, call_of(names[0], GIVEN[acts]))
        assert all(name in waiting.value.problem for name in (acts, *exact(names)))
        key = key_of(waiting.value)
        outcome = await stage.resume("last", answers={key: "allow"})
        assert outcome.ok
        assert (await stage.replay("last")).to_json() == outcome.to_json()
        assert [one.key for one in stage.tracer.records(outcome.run) if one.kind == "answer"] == [key]


async def test_what_an_environment_shares_is_among_the_arguments_that_are_asked_about() -> None:
    policy = Asked()
    async with platform(policy=policy) as stage:
        await furnish(stage)
        await stage.ecp.transform("T2E", ["join"], name="e", shared={"text": "x", "times": 3})
        assert (await invoked(stage, "environment:e#join", {"times": 2})).value == "xx"
        assert [one.arguments for one in policy.requests] == [{"text": "x", "times": 2}] * 2


async def test_an_environment_of_tools_asks_about_its_state_or_about_the_tool_that_observes() -> None:
    policy = Asked()
    async with platform(policy=policy) as stage:
        await furnish(stage)
        await stage.tcp.transform("E2T", "pad")
        await stage.ecp.transform("T2E", ["join"], name="own")
        await stage.ecp.transform("T2E", ["pad_state"], name="seen", state="pad_state")
        await stage.ecp.transform("A2E", "echo", name="hall", actions={"say": FORM})
        for ref in ("own", "hall"):
            assert (await invoked(stage, f"environment:{ref}#state", {})).ok
            assert policy.said() == [(f"environment:{ref}@1.0.0#state",)]
        assert (await invoked(stage, "environment:seen#state", {})).ok
        [names] = policy.said()
        assert names == ("environment:pad@1.0.0#state", *exact(["environment:seen#state", "tool:pad_state#call"]))
        assert (await invoked(stage, "environment:hall#say", {"word": "a"})).ok
        request = policy.requests[0]
        assert request.names == (RUN, "environment:hall@1.0.0#say")
        assert request.arguments["task"]["text"] == '{"action":"say","arguments":{"word":"a"}}'


async def test_an_agent_that_chooses_is_asked_about_and_so_is_each_of_its_calls() -> None:
    for how, operand, wish in (("T2A", "join", "join"), ("E2A", "pad", "pad_write")):
        policy, acts = Asked(), JOIN if how == "T2A" else WRITE
        async with platform(policy=policy, model=chooser([{"name": wish, "arguments": GIVEN[acts]}])) as stage:
            await furnish(stage)
            await stage.acp.transform(how, operand, name="chooser")
            await stage.tcp.transform("A2T", "chooser", name="t")
            policy.said()
            assert (await invoked(stage, "tool:t", {"task": {"text": "Go."}})).value["ok"]
            said = [names for names in policy.said() if "tool:done@" not in names[0] and "#state" not in names[0]]
            assert said == [("agent:chooser@1.0.0#run", "tool:t@1.0.0#call"), (acts,)]


@pytest.mark.parametrize("way", [*WAYS, "agent"])
async def test_a_persons_words_stand_in_for_what_acts(way: str) -> None:
    steps, acts, names = WAYS.get(way, ([], RUN, [RUN]))
    policy = Asked()
    policy.decision = lambda request: "ask" if request.ref == acts else "allow"
    async with transformed(steps, policy) as stage:
        with pytest.raises(ApprovalNeeded) as waiting:
            await called(stage, call_of(names[0], GIVEN[acts]))
        outcome = await stage.resume("last", answers={key_of(waiting.value): "my words"})
        [given] = outcome.answer
        assert (given["answer"] if acts == RUN else given) == "my words"
        assert (await stage.replay("last")).answer == outcome.answer
