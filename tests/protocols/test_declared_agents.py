"""Test declared agents in the registry, with the prompt, tools and agents they bring along."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tea import Agent, Context, Result, Task, tool
from tea.components.manifest import Lineage
from tea.errors import BadComponent, UnknownComponent
from tea.platform import Platform
from tea.protocols.drafting import Proposal, adopt_agent
from tea.protocols.lock import lock_refs
from tea.refs import Ref
from tea.testing import platform


@tool(effects="reads", network=False)
async def founded(city: str) -> int:
    """Tell when a city was founded."""
    return len(city)


def people(city: str) -> int:
    """Count the people of a city."""
    return len(city)


def unhinted(city) -> int:  # type: ignore[no-untyped-def]
    """Count."""
    return len(city)


class Coded(Agent):
    """Work in a way of its own."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result(answer=task.text)


def capitals(**more: Any) -> Agent:
    facts = {"name": "capitals", "instructions": "Answer questions about capitals.", **more}
    return Agent(**facts)


@pytest_asyncio.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


async def versions(tea: Platform) -> dict[str, list[str]]:
    """Every version of the tests' components, by kind:name."""
    names = {"tool": ("people", "founded"), "prompt": ("capitals", "helper"), "agent": ("capitals", "helper")}
    found: dict[str, list[str]] = {}
    for kind, some in names.items():
        library: Any = tea.libraries[kind]  # type: ignore[index]
        for name in some:
            if not await library.missing([name]):
                found[f"{kind}:{name}"] = [one.version for one in await library.history(name)]
    return found


@pytest.mark.parametrize("how", ["hand", "generator"])
async def test_the_parts_of_an_agent_come_from_where_it_comes_from(tea: Platform, how: Any) -> None:
    helper = Agent(name="helper", instructions="Help.", tools=[people])
    if how == "generator":
        await tea.acp.register(helper)
    lineage = Lineage(how=how, parent="0.9.0", run="made")
    await tea.acp.register(capitals(tools=[founded], agents=[helper]), lineage=lineage)
    for kind, name in (("tool", "founded"), ("prompt", "capitals"), ("agent", "capitals")):
        found = await tea.libraries[kind].info(name)  # type: ignore[index]
        assert (found.lineage.how, found.lineage.run) == (how, "made")
        assert found.lineage.parent == ("0.9.0" if kind == "agent" else None)
        assert tea.trust(found.digest) is (how == "hand")


async def test_an_agent_is_registered_with_everything_it_brings_along(tea: Platform) -> None:
    helper = Agent(name="helper", instructions="Help.", tools=[people])
    made = await tea.acp.register(capitals(tools=[people, founded, "calculator"], agents=[helper, "analyzer"]))
    assert str(made.ref) == "agent:capitals@1.0.0"
    assert made.metadata["tools"] == ["people", "founded", "calculator"]
    assert made.metadata["agents"] == ["helper", "analyzer"]
    kept = ("tool:people", "tool:founded", "prompt:capitals", "prompt:helper", "agent:capitals", "agent:helper")
    assert await versions(tea) == {key: ["1.0.0"] for key in kept}
    assert (await tea.tcp.invoke("people", {"city": "Rome"})).value == 4
    prompt: Any = await tea.libraries["prompt"].get("capitals")
    assert prompt.modules == {"agent_profile": "Answer questions about capitals."}


async def test_the_same_declaration_again_writes_nothing(tea: Platform) -> None:
    first = await tea.acp.register(capitals(tools=[people]))
    before = await versions(tea)
    again = await tea.libraries["agent"].register(capitals(tools=[people]))
    assert again.ref == first.ref
    assert await versions(tea) == before


async def test_other_instructions_are_another_version_of_the_prompt_alone(tea: Platform) -> None:
    await tea.acp.register(capitals())
    await tea.acp.register(capitals(instructions="Answer questions about capitals. Be brief."))
    assert await versions(tea) == {"prompt:capitals": ["1.0.0", "1.0.1"], "agent:capitals": ["1.0.0"]}


async def test_a_restarted_program_does_not_undo_a_rollback_and_update_does(tea: Platform) -> None:
    first, second = capitals(), capitals(instructions="Answer questions about capitals. Be brief.")
    await tea.acp.register(first)
    await tea.acp.register(second)
    await tea.libraries["prompt"].rollback("capitals")
    await tea.acp.register(second)
    assert (await tea.libraries["prompt"].info("capitals")).version == "1.0.0"
    await tea.acp.update("capitals", second)
    assert (await tea.libraries["prompt"].info("capitals")).version == "1.0.1"


async def test_an_explicit_version_is_written(tea: Platform) -> None:
    await tea.acp.register(capitals())
    made = await tea.acp.register(capitals(), version="3.0.0", reason="again")
    assert (str(made.ref), made.reason) == ("agent:capitals@3.0.0", "again")
    assert (await versions(tea))["agent:capitals"] == ["1.0.0", "3.0.0"]


async def test_an_update_keeps_the_name(tea: Platform) -> None:
    await tea.acp.register(capitals())
    with pytest.raises(BadComponent, match="of 'helper', not 'capitals'"):
        await tea.acp.update("capitals", Agent(name="helper", instructions="Help."))
    with pytest.raises(UnknownComponent):
        await tea.acp.update("helper", Agent(name="helper", instructions="Help."))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"tools": [people, "calculatr"]}, "did you mean 'calculator'"),
        ({"agents": ["analyser"]}, "did you mean 'analyzer'"),
        ({"environments": ["worksplace"]}, "did you mean 'workspace'"),
        ({"memory": "notes"}, "No memory is named 'notes'"),
        ({"tools": [unhinted]}, "'city' of 'unhinted' has no type hint"),
        ({"agents": [Agent(name="helper", instructions="Help.", tools=["calculatr"])]}, "did you mean 'calculator'"),
        ({"agents": [Agent(name="capitals", instructions="Help.")]}, "called prompt:capitals, and they differ"),
        ({"output": object()}, "no JSON Schema"),
        ({"max_steps": "3"}, "max_steps of CapitalsAgent is '3'"),
    ],
)
async def test_what_is_wrong_is_said_before_anything_is_written(tea: Platform, facts: Any, said: str) -> None:
    with pytest.raises((BadComponent, UnknownComponent)) as caught:
        await tea.acp.register(capitals(**facts))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert await versions(tea) == {}


async def test_a_function_inside_of_another_may_not_rely_on_it(tea: Platform) -> None:
    secret = 4

    def inner(city: str) -> int:
        """Count."""
        return len(city) + secret

    with pytest.raises(BadComponent, match=r"'inner' refers to a value that cannot be written into its source: secret"):
        await tea.acp.register(capitals(tools=[inner]))


async def test_an_agent_is_no_tool_and_a_class_is_registered_as_before(tea: Platform) -> None:
    with pytest.raises(BadComponent, match="not a tool"):
        await tea.tcp.register(capitals())
    assert (await tea.acp.register(Coded)).name == "coded"
    with pytest.raises(BadComponent, match="not a component"):
        await tea.acp.register(Coded())


async def test_a_lock_holds_what_a_declared_agent_works_with(tea: Platform) -> None:
    await tea.acp.register(capitals(tools=[people], agents=["analyzer"]))
    locked = (await lock_refs(tea.libraries, [Ref.parse("agent:capitals")])).components
    assert {
        "agent:capitals",
        "prompt:capitals",
        "tool:people",
        "tool:done",
        "prompt:tool_calling",
        "agent:analyzer",
    } <= {*locked}


ODD = (
    "Pay \x1c\x85 12.\r", "Pay \x0b 12.\r\n", "\x1c\x85 Pay 12.", "Pay\n\x1d  the\n\x1d  rest",
    "Pay 12.\rNow.", "Pay.\r", "Pay.\r\r\nNow.",
)  # fmt: skip


async def drafted(tea: Platform, **facts: Any) -> Any:
    draft = {"name": "clerk", "description": "Pay all of the bills.", **facts}
    return await adopt_agent(tea.libraries, Proposal(draft=draft, tests=[], task="", run="made"), check=False)


@pytest.mark.parametrize("instructions", ODD)
async def test_instructions_lose_no_control_character_before_they_are_refused(tea: Platform, instructions: str) -> None:
    with pytest.raises(BadComponent, match=r"holds the character U\+00"):
        await tea.acp.register(capitals(instructions=instructions))
    found = await drafted(tea, instructions=instructions)
    assert (found["ok"], "holds the character U+00" in found["trouble"]) == (False, True)
    assert await tea.libraries["agent"].missing(["clerk"])


async def test_instructions_of_other_line_ends_are_the_same(tea: Platform) -> None:
    first = await tea.acp.register(capitals(instructions="Pay.\n\n    Wait.\nPay."))
    assert (await tea.acp.register(capitals(instructions="Pay.\r\n\r\n    Wait.\r\nPay.\r\n"))).digest == first.digest
    assert len((await versions(tea))["prompt:capitals"]) == 1


@pytest.mark.parametrize("description", ["Add numbers \x1c\x1d up.", "\x85Add numbers up.", "Add numbers\r up"])
async def test_a_description_of_a_workflow_loses_no_control_character(tea: Platform, description: str) -> None:
    steps = [{"name": "sum", "use": "tool:calculator", "arguments": {"expression": "{task}"}}]
    found = await drafted(tea, description=description, steps=steps)
    assert (found["ok"], "holds the character U+00" in found["trouble"]) == (False, True)
    assert (await drafted(tea, description="Add\r\n  numbers up", steps=steps))["ok"] is True


async def test_a_description_keeps_the_control_characters_that_are_written_as_escapes(tea: Platform) -> None:
    found = await tea.acp.register(capitals(description="\x1c\x85 Tell capitals.\n\x1d  All of them."))
    assert found.description == "\x1c\x85 Tell capitals.\n\x1d  All of them."
