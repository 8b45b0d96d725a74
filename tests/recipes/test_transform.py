"""Test the six transformations: products, kept parts of operands, and refusals."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transform_kit import ECHO, JOIN, PAD, called, chooser, furnish, script

from tea.components.manifest import Lineage, Manifest
from tea.errors import AlreadyRegistered, BadComponent, Damaged, TeaError, UnknownComponent
from tea.platform import Platform
from tea.refs import Kind, Ref
from tea.registry.head import Head
from tea.testing import FunctionModel, platform
from tea.types import ModelRequest


@pytest.fixture
async def stage() -> AsyncIterator[Platform]:
    async with platform(model=chooser()) as made:
        await furnish(made)
        yield made


def files(stage: Platform) -> set[Path]:
    return {path for path in stage.home.rglob("*") if path.is_file()}


def results(stage: Platform, run: str) -> list[tuple[str | None, Any]]:
    """Error code and value of the first call of each step."""
    notes = [one.data for one in stage.tracer.records(run) if one.kind == "note"]
    first = [one["data"]["results"][0] for one in notes if one["kind"] == "step"]
    return [(one["error"] and one["error"]["code"], one["value"]) for one in first]


async def test_an_agent_as_a_tool_is_called_with_its_task_and_keeps_its_state(stage: Platform) -> None:
    [tool] = await stage.tcp.transform("A2T", "echo", name="mirror")
    assert str(tool.ref) == "tool:mirror@1.0.0"
    assert tool.operations["call"].parameters == (await stage.acp.info("echo")).operations["run"].parameters
    assert (tool.description, tool.rules, tool.metadata["role"]) == (
        (await stage.acp.info("echo")).description,
        "Add nothing.",
        "Mirror",
    )
    given = await called(stage, *[("tool", "mirror", {"task": {"text": text}}) for text in ("a", "b", "no")])
    assert [(one["answer"], one["ok"]) for one in given] == [("a 0", True), ("b 1", True), ("no 2", False)]


async def test_an_environment_becomes_a_toolkit_whose_tools_share_its_instance(stage: Platform) -> None:
    tools = await stage.tcp.transform("E2T", "pad")
    assert [str(one.ref) for one in tools] == ["tool:pad_state@1.0.0", "tool:pad_write@1.0.0"]
    write = tools[1]
    assert write.metadata["toolkit"] == "pad"
    assert write.rules == "Write clearly."
    assert write.description.endswith("Before: the pad has room\nAfter: the line is on the pad")
    assert not write.operations["call"].traits.scope
    given = await called(
        stage,
        ("tool", "pad_write", {"line": "a", "times": 2}),
        ("environment", "pad#write", {"line": "b"}),
        ("tool", "pad_state", {}),
        ("tool", "pad_write", {"line": {"text": 3}}),
    )
    assert given == [2, 3, ["a", "a", "b"], "BadArguments"]


async def test_tools_become_an_environment_with_shared_variables_and_memory_of_what_they_did(stage: Platform) -> None:
    [place] = await stage.ecp.transform(
        "T2E", ["join"], name="talk", shared={"text": None, "times": 2}, rules="Be brief.", description="A talk."
    )
    assert (place.rules, place.description, place.recovery) == ("Be brief.", "A talk.", "durable")
    assert place.operations["join"].parameters.get("required") is None
    given = await called(
        stage,
        ("environment", "talk#join", {}),
        ("environment", "talk#join", {"text": "x"}),
        ("environment", "talk#join", {"times": 3}),
        ("environment", "talk#join", {}),
        ("environment", "talk#state", {}),
        ("environment", "talk#join", {"times": 10}),
    )
    assert given[:4] == ["BadArguments", "xx", "xxx", "xxx"]
    assert given[4]["variables"] == {"text": "x", "times": 3}
    assert given[5] == "CallFailed"


async def test_a_tool_can_observe_for_an_environment_made_of_tools(stage: Platform) -> None:
    await stage.tcp.transform("E2T", "pad")
    await stage.ecp.transform("T2E", ["pad_write", "pad_state"], name="desk", state="pad_state")
    given = await called(stage, ("environment", "desk#pad_write", {"line": "a"}), ("environment", "desk#state", {}))
    assert given == [1, {"variables": {}, "last": {"pad_write": 1}, "observed": ["a"]}]


async def test_tools_become_an_agent_that_uses_nothing_else() -> None:
    wishes = [{"name": name, "arguments": {"text": "ab"}} for name in ("other", "join")]
    async with platform(model=chooser(*([wish] for wish in wishes))) as made:
        await furnish(made)
        await made.tcp.register(JOIN.replace("def join", "def other"))
        [agent] = await made.acp.transform("T2A", ["join"], name="speaker", objectives=["say it"], role="Speaker")
        assert agent.metadata["tools"] == ["join"]
        assert agent.metadata["objectives"] == ["say it"]
        task = {"task": {"text": "Say ab.", "tools": ["other", "join"]}}
        [given] = await called(made, ("agent", "speaker", task))
        assert given["answer"] == "ab"
        outcome = await made.run("Say ab.", agent="speaker")
        assert [code for code, _ in results(made, outcome.run)] == ["UnknownComponent", None, None]


async def test_an_agent_becomes_an_environment_that_shows_its_rules_and_state(stage: Platform) -> None:
    await stage.ecp.transform("A2E", "echo", name="hall")
    given = await called(
        stage,
        ("environment", "hall#state", {}),
        ("environment", "hall#run", {"task": {"text": "a"}}),
        ("environment", "hall#state", {}),
    )
    rules = {"rules": "Add nothing.", "role": "Mirror", "competencies": ["repeat"]}
    assert given[0] == {**rules, "state": None}
    assert given[2] == {**rules, "state": {"asked": 1}}


async def test_the_reason_of_an_agent_stands_behind_the_words_of_the_action_that_it_is_asked_for(
    stage: Platform,
) -> None:
    source = ECHO.replace(
        'ok=task.text != "no", reason="" if task.text != "no" else "no"', 'ok=False, reason="Run `x`."'
    )
    await stage.acp.update("echo", source)
    await stage.ecp.transform("A2E", "echo", name="hall", actions={"shout": {"description": "Shout a word."}})
    refused = (await stage.ecp.invoke("hall#shout", {})).error
    assert refused is not None
    assert refused["problem"] == "'shout' did not succeed: Run `x`."


async def test_an_agent_as_an_environment_may_have_actions_with_their_own_schemas(stage: Platform) -> None:
    shout = {
        "description": "Shout a word.",
        "parameters": {"properties": {"word": {"type": "string"}}, "required": ["word"]},
    }
    [place] = await stage.ecp.transform("A2E", "echo", name="hall", actions={"shout": shout})
    assert sorted(place.operations) == ["shout", "state"]
    given = await called(
        stage,
        ("environment", "hall#shout", {"word": "hey"}),
        ("environment", "hall#shout", {"word": {"text": 3}}),
        ("environment", "hall#shout", {"word": "hey", "loud": True}),
    )
    assert given == ['{"action":"shout","arguments":{"word":"hey"}} 0', "BadArguments", "BadArguments"]
    refused = (await stage.ecp.invoke("hall#shout", {"wrod": "hey"})).error
    assert refused is not None
    assert refused["fix"] == "environment:hall says: did you mean 'word'? its parameters are word (string), needed."


GUARD = '''
from typing import Any

from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def referee(action: str, arguments: dict[str, Any], state: Any = None) -> str:
    """Refuse long lines, more than two lines, and rude tasks."""
    if action == "task":
        return "Be polite." if "stupid" in arguments["text"] else ""
    if len(state["pad"]) >= 2:
        return "The pad is full."
    return "Too long." if len(arguments.get("line", "")) > 3 else ""
'''


def line(text: str) -> list[dict[str, Any]]:
    return [{"name": "pad_write", "arguments": {"line": text}}]


async def test_an_environment_becomes_an_agent_that_enforces_rules_and_takes_the_initiative() -> None:
    texts: list[str] = []
    moves = script(line("abcdef"), line("abc"), line("abc"), line("abc"))

    def reply(request: Any) -> Any:
        texts.append(request.variables["task"])
        return moves(request)

    async with platform(model=FunctionModel(reply)) as made:
        await furnish(made)
        await made.tcp.register(GUARD)
        [agent] = await made.acp.transform("E2A", "pad", name="writer", guard="referee", initiative="Fill the pad.")
        assert agent.rules == "Write clearly."
        assert agent.metadata["environments"] == ["pad"]
        outcome = await made.run("tick", agent="writer")
        assert set(texts) == {"Fill the pad."}
        assert [code for code, _ in results(made, outcome.run)] == ["Denied", None, None, "Denied", None]
        assert [value for _, value in results(made, outcome.run)][1:3] == [1, 2]
        assert (await made.replay(outcome.run)).answer == outcome.answer
        refused = await made.run("Write, stupid.", agent="writer")
        assert (refused.status, refused.reason) == ("failed", "Be polite.")


@pytest.mark.parametrize(
    ("how", "operands", "options", "error", "words"),
    [
        ("A3T", "echo", {}, BadComponent, "not a transformation"),
        ("A2T", "nobody", {}, UnknownComponent, "nobody"),
        ("A2T", "tool:join", {}, BadComponent, "cannot transform a tool"),
        ("A2T", ["echo", "caller"], {"name": "both"}, BadComponent, "one operand"),
        ("A2T", [], {}, BadComponent, "nothing"),
        ("A2T", "echo", {"name": "join"}, AlreadyRegistered, "something else"),
        ("A2T", "echo", {"name": "Not a name"}, BadComponent, "^'Not a name' is not a name"),
        ("A2T", "echo", {"prompt": "planner"}, BadComponent, "not a recipe"),
        ("A2T", "echo", {"digest": float("nan")}, BadComponent, "not JSON"),
        ("A2T", "echo#run", {}, BadComponent, "operation"),
        ("E2T", "pad", {"name": "x" * 60}, BadComponent, "_state' is not a name"),
        ("E2T", "pad", {"description": "One for all."}, BadComponent, "of its own"),
        ("T2E", ["join", "join"], {"name": "twice"}, BadComponent, "twice"),
        ("T2E", ["join"], {"name": "e", "shared": {"volume": 1}}, BadComponent, "volume"),
        ("T2E", ["join"], {"name": "e", "shared": {"times": "often"}}, BadComponent, "does not fit 'join': times"),
        ("T2E", ["join"], {"name": "e", "state": "pad"}, BadComponent, "not an operand"),
        ("T2E", ["join"], {"name": "e", "state": "join"}, BadComponent, "needs 'text'"),
        ("T2A", ["join"], {"name": "echo"}, AlreadyRegistered, "something else"),
        ("T2A", ["join"], {"prompt": "nowhere"}, UnknownComponent, "nowhere"),
        ("T2A", ["join"], {"guard": "join"}, BadComponent, "'text'"),
        ("A2E", "echo", {"actions": {"state": {"description": "x"}}}, BadComponent, "cannot be called .state."),
        *(
            (
                "A2E",
                "echo",
                {"actions": {"a": {"description": "x", "parameters": {"type": kind}}}},
                BadComponent,
                f"not an object: .* '{kind}'",
            )
            for kind in ("array", "strin")
        ),
        (
            "A2E",
            "echo",
            {"actions": {"a": {"description": "x", "parameters": {"properties": 3}}}},
            BadComponent,
            "schema",
        ),
        *(
            (
                "A2E",
                "echo",
                {"actions": {"a": {"description": "x", "parameters": {"properties": {"it": bare}}}}},
                BadComponent,
                "'it' of action 'a' is not described by an object",
            )
            for bare in (True, False)
        ),
        (
            "A2E",
            "echo",
            {"actions": {"a": {"description": "x", "parameters": {"required": ["it"]}}}},
            BadComponent,
            "needs 'it', which is not one of its parameters",
        ),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_is_written(
    stage: Platform, how: str, operands: Any, options: Any, error: type[TeaError], words: str
) -> None:
    before = files(stage)
    with pytest.raises(error, match=words) as raised:
        await stage.transform(how, operands, **options)
    assert raised.value.fix
    assert files(stage) == before


async def test_actions_that_would_have_one_name_make_no_agent(stage: Platform) -> None:
    for name, action in (("pad_of", "lines"), ("pad", "of_lines")):
        await stage.ecp.register(PAD.replace('"pad"', f'"{name}"').replace("def write", f"def {action}"))
    with pytest.raises(BadComponent, match="would be called 'pad_of_lines'"):
        await stage.acp.transform("E2A", ["pad_of", "pad"], name="writer")


async def test_a_recipe_may_continue_its_name_and_a_repeated_one_is_no_new_version(stage: Platform) -> None:
    first = await stage.transform("A2T", "echo", name="mirror")
    assert await stage.transform("A2T", "echo", name="mirror") == first
    await stage.acp.update("echo", ECHO.replace("{before}", "{before}!"))
    [second] = await stage.transform("A2T", "echo", name="mirror")
    assert second.version == "1.0.1"
    assert second.metadata["recipe"]["operands"] == ["agent:echo@1.0.1"]
    with pytest.raises(AlreadyRegistered):
        await stage.transform("A2T", "caller", name="mirror")


async def test_what_is_made_of_the_same_in_many_ways_is_looked_at_once(stage: Platform) -> None:
    agent = "echo"
    for level in range(16):
        tools = [f"{side}{level}" for side in ("left", "right")]
        for tool in tools:
            await stage.tcp.transform("A2T", f"agent:{agent}", name=tool)
        agent = f"both{level}"
        await stage.acp.transform("T2A", tools, name=agent)
    with pytest.raises(BadComponent, match="made of itself"):
        await stage.acp.transform("T2A", ["left15", "right15"], name="both0")


async def test_what_is_made_by_many_at_once_is_made_once_and_a_name_goes_to_one(stage: Platform) -> None:
    made = await asyncio.gather(*(stage.transform("T2E", "join", name="same") for _ in range(6)))
    assert {str(one.ref) for (one,) in made} == {"environment:same@1.0.0"}
    wanted = (stage.transform("A2T", agent, name="wanted") for agent in ("echo", "caller"))
    first, second = await asyncio.gather(*wanted, return_exceptions=True)
    assert sum(isinstance(one, AlreadyRegistered) for one in (first, second)) == 1
    assert len(await stage.tcp.history("wanted")) == 1


async def test_nothing_is_made_of_itself(stage: Platform) -> None:
    await stage.transform("A2T", "echo", name="mirror")
    with pytest.raises(BadComponent, match="made of itself, by way of tool:mirror of agent:echo"):
        await stage.libraries["agent"].register(
            json.dumps(
                {
                    "transform": "T2A",
                    "name": "echo",
                    "operands": [{"ref": "tool:mirror@1.0.0", "digest": (await stage.tcp.info("mirror")).digest}],
                }
            )
        )


async def test_an_operand_stays_the_version_that_was_transformed(stage: Platform) -> None:
    await stage.transform("E2T", "pad")
    await stage.ecp.update("pad", PAD.replace("len(self.lines)", "-len(self.lines)"))
    assert await called(stage, ("tool", "pad_write", {"line": "a"}), ("environment", "pad#write", {"line": "a"})) == [
        1,
        -1,
    ]
    await stage.ecp.unregister("pad")
    assert await called(stage, ("tool", "pad_write", {"line": "a"})) == [1]


async def test_a_recipe_that_follows_is_made_anew_when_it_is_used_next(stage: Platform) -> None:
    await stage.transform("A2T", "echo", name="mirror", follow=True)
    await stage.transform("T2E", ["mirror"], name="hall", follow=True)
    await stage.acp.update("echo", ECHO.replace("{before}", "{before}!"))
    assert (await stage.tcp.info("mirror")).version == "1.0.0"
    given = await called(stage, ("environment", "hall#mirror", {"task": {"text": "a"}}))
    assert given[0]["answer"] == "a 0!"
    made = await stage.ecp.info("hall")
    assert (made.version, made.lineage.how, made.lineage.parent) == ("1.0.1", "follow", "1.0.0")
    assert made.reason == "follows tool:mirror@1.0.1"
    old = await stage.ecp.invoke("hall@1.0.0#mirror", {"task": {"text": "a"}})
    assert old.unwrap()["answer"] == "a 0"


async def test_many_that_use_a_recipe_at_once_make_one_version_of_it(stage: Platform) -> None:
    await stage.transform("A2T", "echo", name="mirror", follow=True)
    await stage.acp.update("echo", ECHO.replace("{before}", "{before}!"))
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(stage.tcp.invoke("mirror", {"task": {"text": "a"}})) for _ in range(5)]
    assert {call.result().unwrap()["answer"] for call in calls} == {"a 0!"}
    assert [one.version for one in await stage.tcp.history("mirror")] == ["1.0.0", "1.0.1"]


async def test_a_recipe_that_follows_can_be_taken_back_and_goes_back_with_its_operand(stage: Platform) -> None:
    async def used() -> tuple[str, str]:
        given = await stage.tcp.invoke("mirror", {"task": {"text": "a"}})
        return given.ref.partition("@")[2].partition("#")[0], given.unwrap()["answer"]

    await stage.transform("A2T", "echo", name="mirror", follow=True)
    await stage.acp.update("echo", ECHO.replace("{before}", "{before}!"))
    assert await used() == ("1.0.1", "a 0!")
    await stage.tcp.rollback("mirror")
    assert [await used(), await used()] == [("1.0.0", "a 0")] * 2
    await stage.acp.update("echo", ECHO.replace("{before}", "{before}?"))
    assert await used() == ("1.0.2", "a 0?")
    await stage.acp.restore("echo@1.0.1")
    assert await used() == ("1.0.1", "a 0!")
    assert len(await stage.tcp.history("mirror")) == 3


async def test_a_recipe_whose_operand_no_longer_fits_stays_as_it_is(stage: Platform) -> None:
    await stage.transform("E2T", "pad", follow=True)
    await stage.ecp.update("pad", PAD.replace("def write", "def scribble"))
    assert await called(stage, ("tool", "pad_write", {"line": "a"})) == [1]
    assert (await stage.tcp.info("pad_write")).version == "1.0.0"


async def test_recipes_that_would_follow_each_other_without_end_stay_as_they_are(stage: Platform) -> None:
    await stage.tcp.transform("E2T", "pad", follow=True)
    await stage.tcp.update("pad_write", JOIN.replace("def join", "def pad_write"))
    await stage.ecp.unregister("pad")
    await stage.ecp.transform("T2E", "pad_write", name="pad", follow=True)
    await stage.tcp.restore("pad_write@1.0.0")
    for _ in range(2):
        assert (await stage.tcp.invoke("pad_write", {"line": "a"})).unwrap() == 1
        assert (await stage.ecp.invoke("pad#pad_write", {"text": "a", "times": 2})).unwrap() == "aa"
    assert [str(one.ref) for one in await stage.ecp.history("pad")] == ["environment:pad@2.0.0"]


async def test_recipes_made_of_each_other_several_times_are_looked_at_once(
    stage: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, looked = ["one", "two"], list[str]()
    for name in names:
        await stage.tcp.register(JOIN.replace("def join", f"def {name}"))
    for place in range(7):
        await stage.transform("T2E", names, name=f"hall{place}", follow=True)
        tools = await stage.transform("E2T", f"hall{place}", name=f"kit{place}", follow=True)
        names = [one.name for one in tools if not one.name.endswith("state")]
    head = stage.versions.head

    def counted(kind: Kind, name: str) -> Head:
        looked.append(name)
        return head(kind, name)

    monkeypatch.setattr(stage.versions, "head", counted)
    await stage.tcp.manager.pin(names[0])
    assert max(looked.count(f"hall{place}") for place in range(7)) < 10


async def test_parts_of_many_recipes_are_read_once_where_nothing_may_be_made_of_itself(
    stage: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, names, looked = ["one", "two", "three"], list[str](), list[Ref]()
    for name in plain:
        await stage.tcp.register(JOIN.replace("def join", f"def {name}"))
    for place in range(6):
        await stage.transform("T2E", [*names, *plain], name=f"hall{place}")
        tools = await stage.transform("E2T", f"hall{place}", name=f"kit{place}")
        names = [one.name for one in tools if one.name.endswith("one")][:1]
    resolve = stage.versions.resolve

    def counted(ref: Ref, head: Head | None = None) -> Manifest | None:
        looked.append(ref)
        return resolve(ref, head)

    source = (await stage.tcp.info(names[0])).source
    text = stage.tcp.manager.draft(source, {})
    monkeypatch.setattr(stage.versions, "resolve", counted)
    await asyncio.to_thread(stage.tcp.manager.build, text, "1.0.0", Lineage(), "", "")
    assert max(looked.count(ref) for ref in looked if ref.name in plain) == 1
    with pytest.raises(BadComponent, match=r"by way of tool:kit5_.*one of environment:hall5 of tool:kit4_"):
        await stage.transform("T2E", names, name="hall0")


async def test_an_untrusted_recipe_is_read_and_an_untrusted_agent_in_it_works_in_a_sandbox(stage: Platform) -> None:
    [tool] = await stage.transform("A2T", "echo", name="mirror")
    echo = await stage.acp.info("echo")
    task = {"task": {"text": "a"}}
    stage.trust.path.write_text(f"{echo.digest} echo\n")
    assert (await stage.tcp.invoke("mirror", task)).ok
    stage.trust.path.write_text(f"{tool.digest} mirror\n")
    before = set(sys.modules)
    assert (await stage.tcp.invoke("mirror", task)).ok
    assert not [name for name in set(sys.modules) - before if name.startswith("_tea_")]


async def test_what_refers_to_a_version_is_known(stage: Platform) -> None:
    await stage.transform("A2T", "echo", name="mirror")
    await stage.transform("T2E", ["mirror"], name="hall")
    recipes = stage.tcp.manager.services.recipes
    echo = Ref.parse("agent:echo")
    assert [str(one.recipe) for one in recipes.referring(echo)] == ["tool:mirror@1.0.0"]
    assert [str(one.recipe) for one in recipes.referring(echo.at("1.0.0"))] == ["tool:mirror@1.0.0"]
    assert recipes.referring(echo.at("1.0.1")) == []
    assert [str(one.recipe) for one in recipes.referring(Ref.parse("tool:mirror"))] == ["environment:hall@1.0.0"]
    await stage.tcp.unregister("mirror")
    assert recipes.referring(echo) == []


async def test_a_recipe_is_copied_and_rewritten_like_every_component(stage: Platform) -> None:
    await stage.transform("T2E", ["join"], name="talk", rules="Be brief.")
    copied = await stage.ecp.copy("talk", name="chat")
    assert (copied.name, copied.rules, copied.lineage.how) == ("chat", "Be brief.", "copy")
    assert await called(stage, ("environment", "chat#join", {"text": "a"})) == ["a"]
    [source] = await stage.ecp.vars("chat")
    changed = await stage.ecp.setvars("chat", {"source": source.value.replace("Be brief.", "Take your time.")})
    assert (changed.version, changed.rules) == ("1.0.1", "Take your time.")
    assert (await stage.ecp.rollback("chat")).rules == "Be brief."
    with pytest.raises(BadComponent, match="not a recipe"):
        await stage.ecp.setvars("chat", {"source": source.value.replace("T2E", "T2Q")})


async def test_saved_recipes_of_saved_tools_work_elsewhere_in_a_sandbox(stage: Platform, tmp_path: Path) -> None:
    await stage.transform("T2E", ["join"], name="talk")
    await stage.tcp.save(tmp_path / "tools.json", ["join"])
    await stage.ecp.save(tmp_path / "environments.json", ["talk"])
    async with platform() as made:
        await made.ecp.load(tmp_path / "environments.json")
        assert [one.trusted for one in await made.ecp.list() if one.name == "talk"] == [False]
        refused = await made.ecp.invoke("talk#join", {"text": "a"})
        assert "made of tool:join@1.0.0, which is not in the registry" in str(refused.error)
        await made.tcp.load(tmp_path / "tools.json")
        assert (await made.ecp.invoke("talk#join", {"text": "a"})).unwrap() == "a"
        with pytest.raises(BadComponent, match="takes its words from what is not trusted"):
            await made.ecp.trust("talk")
        await made.tcp.trust("join")
        assert (await made.ecp.trust("talk")).name == "talk"
        assert (await made.ecp.invoke("talk#join", {"text": "a"})).unwrap() == "a"


async def test_a_recipe_that_says_of_itself_what_it_is_not_is_not_used(stage: Platform) -> None:
    [made] = await stage.transform("A2T", "echo", name="mirror")
    call = made.operations["call"]
    harmless = replace(call, traits=replace(call.traits, effects="reads"))
    with pytest.raises(Damaged, match="does not match its source"):
        await stage.tcp.manager.definition(replace(made, operations={"call": harmless}))


async def test_what_an_operand_is_may_be_purged_only_after_its_recipes(stage: Platform) -> None:
    await stage.transform("A2T", "echo", name="mirror")
    await stage.acp.unregister("echo")
    with pytest.raises(TeaError, match=r"is in use by tool:mirror@1\.0\.0"):
        await stage.acp.purge("echo")
    await stage.tcp.unregister("mirror")
    assert await stage.acp.purge("echo")


async def test_an_agent_made_of_many_tools_is_offered_those_that_fit_its_task() -> None:
    offered: list[int] = []
    wishes = script([{"name": "join_late", "arguments": {"text": "ab"}}])

    def reply(request: ModelRequest) -> dict[str, Any]:
        offered.append(len(request.variables["tools"]))
        return wishes(request)

    async with platform(model=FunctionModel(reply)) as made:
        names = [f"join_{number}" for number in range(45)] + ["join_late"]
        for name in names:
            words = "Say a text late in the evening." if name == "join_late" else "Say a text several times."
            await made.tcp.register(JOIN.replace("def join", f"def {name}").replace("Say a text several times.", words))
        await made.transform("T2A", names, name="speaker")
        outcome = await made.run("Say ab late in the evening.", agent="speaker")
        assert outcome.answer == "ab"
        assert max(offered) <= 41
        assert (await made.replay(outcome.run)).answer == "ab"


async def test_an_agent_that_acts_in_itself_is_told_so(stage: Platform) -> None:
    source = ECHO.replace(
        "return Result(", 'given = await ctx.ecp.invoke("hall#run", {"task": {"text": "x"}})\n        return Result('
    )
    source = source.replace('answer=f"{task.text} {before}"', "answer=(given.error or {}).get('problem', given.value)")
    await stage.acp.update("echo", source)
    await stage.transform("A2E", "echo", name="hall")
    [given] = await called(stage, ("environment", "hall#run", {"task": {"text": "a"}}))
    assert given["answer"] == "An agent cannot act in the environment that it is itself."
