"""Test calls from outside of any run: a ref's meaning is remembered, and never longer than it is true."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from tea.components.operation import Traits
from tea.platform import Platform
from tea.runs.direct import GLANCE
from tea.runs.policy import AllowTrusted, CallRequest, Decision
from tea.store.catalogue import Catalogue
from tea.store.registry import FileRegistry
from tea.store.scratch import Scratch
from tea.types import Principal, ToolResponse

TOOL = '''
from tea import Context, tool


@tool(effects="reads")
async def greet(name: str{more}) -> str:
    """Greet.

    Args:
        name: Whom.
    """
    {body}
'''


def tool(body: str, more: str = "") -> str:
    """A version of the tool."""
    return TOOL.format(body=body, more=more)


class Asked:
    """A policy remembering its questions, and deciding as told."""

    def __init__(self) -> None:
        self.requests: list[CallRequest] = []
        self.decision: Decision = "allow"
        self.asked = asyncio.Event()

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        self.requests.append(request)
        self.asked.set()
        return self.decision


class Settled(Asked):
    """A policy deciding about reading once and for all."""

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Decide about an operation."""
        return self.decision if traits.effects == "reads" else None


class House:
    """A platform with instant memory: its clock is ahead of the files' times."""

    def __init__(self, folder: Path, policy: Asked | None = None) -> None:
        self.policy, self.folder = policy or Asked(), folder
        self.platform, self.other = self.open(), self.open()
        root = folder / "home" / "registry"
        clock = lambda: time.time_ns() + 10**10  # noqa: E731
        store = cast(FileRegistry, self.platform.versions.store)
        store.catalogue = Catalogue(root, Scratch(root), clock=clock)

    def open(self) -> Platform:
        """Another platform at the same registry, as another process has one."""
        return Platform(self.folder / "home", state=self.folder / "state", policy=self.policy)

    async def call(self, ref: str = "greet", name: object = "Ann") -> ToolResponse:
        """Call the tool twice, the second time from memory; both answers must be equal."""
        self.tick()
        first = await self.platform.tcp.invoke(ref, {"name": name})
        assert await self.platform.tcp.invoke(ref, {"name": name}) == first
        return first

    def tick(self) -> None:
        """Let the clock of the file system tick, to give a change another time; looks are over by then."""
        until = time.monotonic() + GLANCE
        probe = self.folder / "probe"
        probe.touch()
        before = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns == before or time.monotonic() <= until:
            probe.write_text("now")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    house = House(tmp_path)
    await house.platform.tcp.register(tool('return f"hello {name}"'))
    yield house
    await house.platform.__aexit__(None, None, None)


def code(found: ToolResponse) -> str:
    """The sort of error."""
    assert found.error is not None
    return found.error["code"]


async def test_a_call_is_answered_from_memory_without_a_thread(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await house.call()).value == "hello Ann"
    monkeypatch.delattr(asyncio, "to_thread")
    found = await house.platform.tcp.invoke("greet", {"name": "Bob"})
    assert (found.value, found.ref) == ("hello Bob", "tool:greet@1.0.0#call")


async def test_what_changed_a_moment_ago_is_looked_up_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.other.tcp.invoke("greet", {"name": "Ann"})
    monkeypatch.delattr(asyncio, "to_thread")
    with pytest.raises(AttributeError):
        await house.other.tcp.invoke("greet", {"name": "Ann"})


async def test_another_process_moves_the_pointer_and_the_next_call_follows(house: House) -> None:
    assert (await house.call()).value == "hello Ann"
    await house.other.tcp.update("greet", tool('return f"bye {name}"'))
    assert (await house.call()).value == "bye Ann"
    assert (await house.call("greet@1.0.0")).value == "hello Ann"
    await house.other.tcp.rollback("greet")
    assert (await house.call()).value == "hello Ann"
    await house.other.tcp.unregister("greet")
    assert code(await house.call()) == "UnknownComponent"
    assert code(await house.call("greet@1.0.0")) == "UnknownComponent"


async def test_trust_that_is_taken_away_holds_from_the_next_call(house: House) -> None:
    await house.call()
    house.platform.trust.path.write_text("")
    assert (await house.call()).value == "hello Ann", "carried out in a sandbox"


async def test_a_purged_version_is_gone(house: House) -> None:
    await house.call("greet@1.0.0")
    await house.other.tcp.update("greet", tool('return f"bye {name}"'))
    await house.other.tcp.purge("greet@1.0.0")
    assert not (await house.call("greet@1.0.0")).ok


async def test_the_policy_is_asked_each_time(house: House) -> None:
    await house.call()
    assert [one.ref for one in house.policy.requests] == ["tool:greet@1.0.0#call"] * 2
    assert house.policy.requests[0].arguments == {"name": "Ann"}
    house.policy.decision = "deny"
    assert code(await house.call()) == "Denied"


@pytest.mark.parametrize(
    ("decision", "effects", "asked"), [("allow", "reads", 0), ("deny", "reads", 2), ("allow", "writes", 2)]
)
async def test_a_policy_that_allows_an_operation_once_is_not_asked_for_its_calls(
    tmp_path: Path, decision: Decision, effects: str, asked: int
) -> None:
    policy = Settled()
    policy.decision = decision
    house = House(tmp_path, policy)
    await house.platform.tcp.register(tool("return name").replace("reads", effects))
    found = await house.call()
    assert found.ok is (decision == "allow")
    assert len(policy.requests) == asked
    await house.platform.__aexit__(None, None, None)


async def test_a_policy_that_narrows_the_usual_one_is_asked_for_each_call(tmp_path: Path) -> None:
    class Narrow(AllowTrusted):
        async def decide(self, request: CallRequest) -> Decision:
            return "deny"

    async with Platform(tmp_path / "home", state=tmp_path / "state", policy=Narrow()) as made:
        await made.tcp.register(tool("return name"))
        assert code(await made.tcp.invoke("greet", {"name": "Ann"})) == "Denied"
        assert Narrow().standing("tool:greet@1.0.0#call", Traits(), Principal()) is None
    assert AllowTrusted().standing("tool:greet@1.0.0#call", Traits(), Principal()) == "allow"


async def test_what_this_platform_changes_counts_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.runs.direct.GLANCE", 1000.0)
    await house.platform.tcp.invoke("greet", {"name": "Ann"})
    for word in ("bye", "again"):
        await house.platform.tcp.update("greet", tool(f"return '{word} ' + name"))
        found = await house.platform.tcp.invoke("greet", {"name": "Ann"})
        assert found.value == f"{word} Ann"
    await house.platform.tcp.unregister("greet")
    assert code(await house.platform.tcp.invoke("greet", {"name": "Ann"})) == "UnknownComponent"


async def test_what_a_call_means_is_decided_once_it_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.runs.direct.GLANCE", 1000.0)
    house = House(tmp_path, Settled())
    await house.platform.tcp.register(tool("return name"))
    await house.platform.tcp.invoke("greet", {"name": "Ann"})
    later = house.platform.tcp.invoke("greet", {"name": "Ann"})
    await house.platform.tcp.unregister("greet")
    assert code(await later) == "UnknownComponent"
    await house.platform.__aexit__(None, None, None)


@pytest.mark.parametrize("name", [2.5, None, float("nan"), {1, 2}, "\ud800", object()])
async def test_arguments_are_validated_each_time(house: House, name: object) -> None:
    found = [await house.platform.tcp.invoke("greet", {"name": name}) for _ in range(2)]
    assert {code(one) for one in found} == {"BadArguments"}


@pytest.mark.parametrize("policy", [Asked, Settled])
async def test_a_policy_is_asked_about_what_is_done_in_the_types_of_the_schema(
    tmp_path: Path, policy: type[Asked]
) -> None:
    house = House(tmp_path, policy())
    await house.platform.tcp.register(tool('return f"hello {name!r}"'))
    assert (await house.call(name=3)).value == "hello '3'"
    assert all(request.arguments == {"name": "3"} for request in house.policy.requests)
    assert bool(house.policy.requests) == (policy is Asked)
    await house.platform.__aexit__(None, None, None)


async def test_a_failing_tool_gives_its_error_and_no_traceback(house: House) -> None:
    await house.platform.tcp.update("greet", tool("raise ValueError(name)"))
    found = await house.call()
    assert code(found) == "CallFailed"
    assert "Traceback" not in str(found.error)


async def test_a_tool_with_a_context_still_reaches_others(house: House) -> None:
    body = 'return (await ctx.tcp.invoke("greet@1.0.0", {"name": name.upper()})).unwrap()'
    await house.platform.tcp.update("greet", tool(body, ", ctx: Context"))
    assert (await house.call()).value == "hello ANN"


async def test_a_cancelled_call_is_cancelled(house: House) -> None:
    source = tool("import asyncio\n    await asyncio.Event().wait()\n    return name")
    await house.platform.tcp.update("greet", source)
    for _ in range(2):
        house.tick()
        task = asyncio.ensure_future(house.platform.tcp.invoke("greet", {"name": "Ann"}))
        await house.policy.asked.wait()
        house.policy.asked.clear()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
