"""Untrusted operands of transformations: they work in sandboxes, also in homes after a load of saved files."""

from pathlib import Path
from typing import Any

import pytest
from test_agents import DOUBLE, agent
from untrusted_kit import elsewhere, problem

from tea.cli.tree import tree
from tea.errors import BadComponent
from tea.platform import Platform
from tea.refs import Kind
from tea.runs.policy import AllowTrusted
from tea.testing import ScriptedModel
from tea.types import Task
from tea.untrusted.programs import Program

PLACE = '''
from tea import Context, Environment, action


class Place(Environment):
    """Keep numbers."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    async def state(self) -> list[int]:
        """Return them."""
        return self.numbers

    @action(effects="writes", network=False, scope=True)
    async def keep(self, ctx: Context, number: int) -> list[int]:
        """Keep the double of a number.

        Args:
            number: Any.
        """
        async with ctx.timeout(30):
            self.numbers.append((await ctx.tcp.invoke("double", {"number": number})).unwrap())
        return self.numbers
'''
HELPER = agent("helper", 'return Result(answer=(await ctx.tcp.invoke("double", {"number": 21})).unwrap())')
ACTING = agent(
    "acting",
    """await ctx.ecp.invoke("place#keep", {"number": 1})
return Result(answer=(await ctx.ecp.invoke("place#keep", {"number": 2})).unwrap())""",
    facts='environments = ("place",)',
)
LISTENING = agent("listening", "return Result(answer=[await ctx.receive(), await ctx.receive()])")
KINDS: tuple[Kind, ...] = ("tool", "environment", "agent")
SOURCES: tuple[tuple[Kind, str], ...] = (
    ("tool", DOUBLE),
    ("agent", HELPER),
    ("agent", LISTENING),
    ("environment", PLACE),
)


async def used(tea: Platform) -> None:
    """Call the results of the transformations, in a sandbox each."""
    task = Task(text="x").model_dump(mode="json")
    assert (await tea.tcp.invoke("helping", {"task": task})).unwrap()["answer"] == 42
    assert (await tea.tcp.invoke("place_keep", {"number": 3}, session="t")).unwrap() == [6]
    assert (await tea.tcp.invoke("place_keep", {"number": 4}, session="t")).unwrap() == [6, 8]
    outcome = await tea.run("Double 4.", agent="doubler")
    assert outcome.answer == 8
    records = list(tea.tracer.records(outcome.run))
    assert "double" in tree(records)
    assert ", sandboxed: bubblewrap]" in tree(records)
    assert (await tea.replay(outcome.run)).answer == 8


async def test_what_is_made_of_untrusted_operands_works_here_and_in_other_homes(tmp_path: Path) -> None:
    calls: Any = [
        {"calls": [{"name": "double", "arguments": {"number": 4}}]},
        {"calls": [{"name": "done", "arguments": {"answer": 8}}]},
    ]
    mine = ScriptedModel(calls)
    async with elsewhere(tmp_path, *SOURCES, policy=AllowTrusted(), model=mine) as tea:
        await tea.transform("A2T", "helper", name="helping")
        await tea.transform("E2T", "place")
        await tea.transform("T2A", "double", name="doubler")
        await used(tea)
        for kind in KINDS:
            await tea.libraries[kind].save(tmp_path / f"{kind}s.json")
    folder, state = tmp_path / "third", tmp_path / "third_state"
    async with Platform(folder, state=state, policy=AllowTrusted(), model=ScriptedModel(calls)) as other:
        for kind in KINDS:
            await other.libraries[kind].load(tmp_path / f"{kind}s.json")
        for kind, name in zip(KINDS, ("double", "place", "helper"), strict=True):
            assert not other.trust((await other.libraries[kind].info(name)).digest)
        await used(other)


async def test_a_recipe_is_trusted_only_where_what_gives_it_its_words_is(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("tool", DOUBLE), policy=AllowTrusted()) as tea:
        (made,) = await tea.transform("T2E", "double", name="desk")
        more, *_ = await tea.transform("E2T", "environment:desk", name="from")
        assert not tea.trust(made.digest)
        assert not tea.trust(more.digest)
        with pytest.raises(BadComponent, match="takes its words from what is not trusted"):
            await tea.ecp.trust("desk")
        await tea.tcp.trust("double")
        await tea.ecp.trust("desk")
        assert tea.trust(made.digest)


async def test_a_scoped_action_is_one_effect_with_the_state_of_its_session(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, *SOURCES, policy=AllowTrusted()) as tea:
        await tea.acp.register(ACTING)
        outcome = await tea.run("x", agent="acting")
        assert outcome.answer == [2, 4]
        assert "place@1.0.0#keep" in (shown := tree(list(tea.tracer.records(outcome.run))))
        assert shown.count(", sandboxed: bubblewrap]") >= 2
        assert (await tea.replay(outcome.run)).answer == [2, 4]
        tea.trust.grant((await tea.ecp.info("place")).digest, "place")
        assert (await tea.replay(outcome.run)).answer == [2, 4]
    async with Platform(tmp_path / "home", state=tmp_path / "state", policy=AllowTrusted()) as again:
        assert (await again.replay(outcome.run)).answer == [2, 4]
        assert (await again.run("x", agent="acting")).answer == [2, 4]


async def test_an_action_with_a_scope_has_the_rights_of_its_kind(tmp_path: Path) -> None:
    asking = PLACE.replace('(await ctx.tcp.invoke("double", {"number": number})).unwrap()', "len(await ctx.messages())")
    async with elsewhere(tmp_path, ("environment", asking), policy=AllowTrusted()) as tea:
        assert "it has no messages" in problem(await tea.ecp.invoke("place#keep", {"number": 1}))


async def test_messages_to_its_run_reach_a_program_in_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    led = Program.run

    async def posted(program: Program) -> Any:
        for one in ("first", {"second": [2]}):
            program._gate.post(one)  # pyright: ignore[reportPrivateUsage]
        return await led(program)

    async with elsewhere(tmp_path, *SOURCES, policy=AllowTrusted()) as tea:
        with monkeypatch.context() as patched:
            patched.setattr(Program, "run", posted)
            outcome = await tea.run("x", agent="listening")
        assert outcome.answer == ["first", {"second": [2]}]
        assert (await tea.replay(outcome.run)).answer == outcome.answer
