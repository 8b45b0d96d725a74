"""Test a component's reach, told from its source alone; and locks made from it."""

import pytest

from tea.components.manifest import Manifest
from tea.errors import Archived, BadInput
from tea.protocols.lock import lacking, lock_current, lock_refs
from tea.refs import Ref
from tea.testing import platform

HOP = '''
from tea import Context, tool


@tool(effects="reads")
async def NAME(ctx: Context, text: str) -> str:
    """Hop; the words todo and planner mean nothing here."""
    # neither does table_query
    said = "read_file is a word among others"
    return (await ctx.tcp.invoke("NEXT", {"text": text + said})).unwrap()
'''

PLAIN = '''
from tea import tool


@tool(effects="reads")
async def plain(text: str) -> str:
    """Reach nothing, whatever it says."""
    return "calculator"
'''

MANY = '''
from tea import Agent, Context, Result, Task, work

FURTHER = "environment:workspace#read"


class Many(Agent):
    """Reach by every way that a source has."""

    relations = {"reporter": "hierarchical"}
    tools = ("calculator",)
    memory = "notes"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        await ctx.ask("planner", {})
        call = ctx.tcp
        await call.invoke("first", {"text": ""})
        return await work(ctx, task, prompt="analyzer", tools=self.tools)
'''


async def test_a_lock_follows_what_sources_call_and_nothing_that_they_only_mention() -> None:
    async with platform() as tea:
        for name, then in (("first", "second"), ("second", "plain"), ("plain", "")):
            await tea.tcp.register(HOP.replace("NAME", name).replace("NEXT", then) if then else PLAIN)
        await tea.acp.register(MANY)
        for name in ("notes", "others"):
            await tea.libraries["memory"].register({"name": name})
        first = await lock_refs(tea.libraries, [Ref.parse("tool:first")])
        assert set(first.components) == {"tool:first", "tool:second", "tool:plain"}
        many = await lock_refs(tea.libraries, [Ref.parse("agent:many")])
        assert set(many.components) - set(first.components) == {
            "agent:many",
            "environment:workspace",
            "memory:notes",
            "prompt:analyzer",
            "prompt:fold",
            "prompt:planner",
            "prompt:tool_calling",
            "tool:answer_from_data",
            "tool:calculator",
            "tool:done",
            "tool:plan_offline",
        }
        assert await lacking(many, tea.libraries, Ref.parse("agent:many")) == []
        assert await lacking(first, tea.libraries, Ref.parse("tool:first")) == []
        del many.components["tool:second"]
        assert await lacking(many, tea.libraries, Ref.parse("agent:many")) == ["tool:second"]


async def test_a_recipe_is_locked_with_the_versions_it_is_made_of() -> None:
    async with platform() as tea:
        await tea.tcp.register(PLAIN)
        await tea.libraries["memory"].register({"name": "notes"})
        (made,) = await tea.transform("T2A", "tool:plain", name="chooser", memory="notes")
        await tea.tcp.update("plain", PLAIN.replace("whatever it says", "really"), version="1.1.0")
        lock = await lock_refs(tea.libraries, [made.ref.at(None)])
        assert lock.components["tool:plain"].version == "1.0.0"
        assert {"agent:chooser", "memory:notes", "prompt:tool_calling", "tool:done"} <= set(lock.components)
        with pytest.raises(BadInput, match=r"needed as 1\.\d\.0 and"):
            await lock_refs(tea.libraries, [made.ref.at(None), Ref.parse("tool:plain@1.1.0")])


async def test_a_tool_made_of_an_action_is_locked_with_its_environment() -> None:
    async with platform() as tea:
        await tea.tcp.register(PLAIN)
        await tea.transform("T2E", "plain", name="hall")
        await tea.transform("E2T", "hall", name="kit")
        lock = await lock_refs(tea.libraries, [Ref.parse("tool:kit_plain")])
        assert {"tool:kit_plain", "environment:hall", "tool:plain"} <= set(lock.components)
        del lock.components["tool:plain"]
        assert await lacking(lock, tea.libraries, Ref.parse("tool:kit_plain")) == ["tool:plain"]


async def test_recipes_made_of_each_other_several_times_are_locked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with platform() as tea:
        await tea.tcp.register(PLAIN)
        await tea.tcp.register(PLAIN.replace("def plain", "def other"))
        names, looked = ["plain", "other"], list[str]()
        for place in range(7):
            await tea.transform("T2E", names, name=f"hall{place}")
            tools = await tea.transform("E2T", f"hall{place}", name=f"kit{place}")
            names = [one.name for one in tools if not one.name.endswith("state")]
        usable = tea.tcp.manager.usable

        async def counted(ref: str | Ref) -> Manifest:
            looked.append(str(ref))
            return await usable(ref)

        monkeypatch.setattr(tea.tcp.manager, "usable", counted)
        assert len((await lock_refs(tea.libraries, [Ref.parse(f"tool:{names[0]}")])).components) > 14
        assert len(looked) < 60


async def test_what_is_deprecated_is_locked_and_what_is_archived_is_not() -> None:
    async with platform() as tea:
        await tea.tcp.register(HOP.replace("NAME", "first").replace("NEXT", "plain"))
        await tea.tcp.register(PLAIN)
        await tea.tcp.deprecate("plain")
        assert set((await lock_refs(tea.libraries, [Ref.parse("tool:first")])).components) == {
            "tool:first",
            "tool:plain",
        }
        assert "tool:plain" in (await lock_current(tea.libraries)).components
        await tea.tcp.archive("plain")
        assert "tool:plain" not in (await lock_current(tea.libraries)).components
        with pytest.raises(Archived, match=r"tool:plain@1\.0\.0"):
            await lock_refs(tea.libraries, [Ref.parse("tool:plain")])
