"""Test every protocol's behaviour on all of them; each answer is asked again in another process."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from protocol_kit import Case, House

from tea import Agent, Context, Environment, Result, Task, action, tool
from tea.components.manifest import Lineage
from tea.errors import AlreadyRegistered, BadComponent, BadRef, RegistryError, TeaError, UnknownComponent
from tea.protocols.acp import ACPServer
from tea.protocols.ecp import ECPServer
from tea.protocols.tcp import TCPServer
from tea.types import ActionResponse, AgentResponse, ToolResponse


@tool
async def live_greeter(text: str) -> str:
    """Greet someone."""
    return "hello " + text


class LiveGreeterRoom(Environment):
    """Greet someone."""

    name = "live_greeter"

    async def state(self) -> int:
        """Return nothing of interest."""
        return 0

    @action
    async def greet(self, text: str) -> str:
        """Greet someone."""
        return "hello " + text


class LiveGreeterAgent(Agent):
    """Greet someone."""

    name = "live_greeter"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Greet the person named by the task."""
        return Result(answer="hello " + task.text)


LIVE: dict[str, object] = {"tool": live_greeter, "environment": LiveGreeterRoom, "agent": LiveGreeterAgent}


def greeting(case: Case, found: dict[str, Any]) -> Any:
    """A call's words; an agent says them in its answer."""
    assert found["ok"], found["error"]
    return found["value"]["answer"] if case.kind == "agent" else found["value"]


def public(kind: type) -> dict[str, inspect.Signature]:
    found = {name: value for name, value in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
    return {name: inspect.signature(value) for name, value in found.items()}


def test_all_protocols_have_the_same_signatures() -> None:
    tools, environments, agents = public(TCPServer), public(ECPServer), public(ACPServer)
    assert tools == agents
    assert {name: one for name, one in environments.items() if name not in ("state", "invoke")} == {
        name: one for name, one in tools.items() if name != "invoke"
    }
    assert [*environments["invoke"].parameters] == ["self", "ref", "action", "arguments", "session", "named"]
    assert [*tools["invoke"].parameters] == ["self", "ref", "arguments", "session", "named"]
    wanted = "init register get info list update restore rollback unregister invoke history diff argument_model"
    wanted += " copy vars setvars deprecate archive activate alias unalias trust purge save load"
    assert set(wanted.split()) <= set(tools)


async def test_source_becomes_a_first_version(case: Case, house: House) -> None:
    (made,) = await house.register()
    assert (str(made.ref), made.kind, made.description) == (f"{case.kind}:greeter@1.0.0", case.kind, "Greet someone.")
    assert await house.ask("info", "greeter") == made.to_json()
    assert await house.ask("list") == [["greeter", "1.0.0", "active", True, "registry"]]
    assert made.source == case.source()
    if case.operation:
        assert greeting(case, await house.invoke()) == "hello world"


async def test_a_file_becomes_a_component(case: Case, house: House, tmp_path: Path) -> None:
    path = tmp_path / ("greeter.md" if case.kind == "prompt" else "greeter.py")
    path.write_text(case.source())
    made = await house.door.register(path)
    assert made.source == case.source()
    assert await house.ask("info", "greeter@1.0.0") == made.to_json()


async def test_a_live_object_becomes_a_component_that_stands_alone(case: Case, house: House) -> None:
    if case.kind == "prompt":
        with pytest.raises(BadComponent):
            await house.door.register(live_greeter)
        return
    made = await house.door.register(LIVE[case.kind])
    assert made.name == "live_greeter"
    assert greeting(case, await house.invoke(name="live_greeter")) == "hello world"
    wrong = next(value for kind, value in LIVE.items() if kind != case.kind)
    with pytest.raises(BadComponent, match=f"not an? {case.kind}"):
        await house.door.register(wrong)


async def test_every_representation_is_there(case: Case, house: House) -> None:
    (made,) = await house.register()
    text = made.text()
    assert "greeter" in text
    assert "Greet" in text
    if not case.operation:
        return
    openai, anthropic = made.function_schemas("openai"), made.function_schemas("anthropic")
    names = ["greeter"] if case.kind != "environment" else ["greeter_greet", "greeter_state"]
    assert [one["function"]["name"] for one in openai] == [one["name"] for one in anthropic] == names
    schema = made.operation(case.operation).parameters
    assert openai[0]["function"]["parameters"] == anthropic[0]["input_schema"] == schema
    assert set(schema["required"]) == set(case.arguments())
    model = await house.door.argument_model(case.ref())
    assert set(model.model_fields) == set(case.arguments())
    assert model.model_validate(case.arguments(), strict=False)
    with pytest.raises(ValueError, match="1 validation error"):
        model.model_validate({})
    if case.kind == "tool":
        assert "- text (string, required): Whom to greet." in text
        assert 'await greeter("world")' in text


async def test_a_name_used_before_continues_at_its_next_version(case: Case, house: House) -> None:
    await house.register()
    second, third = await house.register(hello="good day"), await house.register(more=case.optional)
    assert [second[0].version, third[0].version] == ["1.0.1", "1.1.0"]
    assert [second[0].lineage.parent, third[0].lineage.parent] == ["1.0.0", "1.0.1"]
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.0", "1.0.1", "1.1.0"]
    assert (await house.ask("info", "greeter"))["version"] == "1.1.0"


async def test_a_version_can_be_chosen_and_is_never_given_twice(case: Case, house: House) -> None:
    assert (await house.door.register(case.source(), version="0.3.0")).version == "0.3.0"
    before = house.files()
    with pytest.raises(AlreadyRegistered, match=f"{case.kind}:greeter@0.3.0 exists"):
        await house.door.register(case.source(hello="bye"), version="0.3.0")
    with pytest.raises(BadRef):
        await house.door.register(case.source(hello="bye"), version="01.0.0")
    assert house.files() == before


@pytest.mark.parametrize("spoil", ["nothing", "syntax", "kind", "raises", "top"])
async def test_a_bad_source_writes_nothing(case: Case, house: House, spoil: str) -> None:
    await house.register("other")
    other = "from tea import tool\n" if case.kind != "tool" else "from tea import Agent\n"
    sources = {
        "nothing": "",
        "syntax": case.source() + "\n\ndef broken(:\n" if case.operation else case.source().replace("---", "--", 1),
        "kind": other,
        "raises": case.source(top="BAD = 1 // 0") if case.operation else case.source(body="{{ unknown }}"),
        "top": case.source(top='print("here")') if case.operation else case.source(body="{% if %}"),
    }
    before = house.files()
    with pytest.raises(BadComponent) as caught:
        await house.door.register(sources[spoil])
    assert len(str(caught.value)) <= 300
    with pytest.raises(TeaError):
        await house.door.update("other", sources[spoil])
    assert house.files() == before


async def test_a_component_is_found_by_name_version_alias_and_digest(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    versions = house.platform.versions
    versions.alias(first.ref, "prod")
    for selector, found in (("", second), ("@1.0.0", first), ("@prod", first), (f"@{first.digest}", first)):
        assert await house.ask("info", f"greeter{selector}") == found.to_json()
        assert await house.ask("info", f"{case.kind}:greeter{selector}") == found.to_json()
    versions.alias(second.ref, "prod")
    assert (await house.ask("info", "greeter@prod"))["version"] == "1.0.1"


async def test_what_is_unknown_is_answered_with_the_nearest(case: Case, house: House) -> None:
    await house.register("greeter", "other")
    unknown = await house.ask("info", "greter")
    assert unknown["code"] == "UnknownComponent"
    assert "'greeter'" in unknown["fix"]
    assert "1.0.0" in (await house.ask("info", "greeter@9.9.9"))["fix"]
    assert (await house.ask("info", "greeter@prod"))["code"] == "UnknownComponent"
    assert (await house.ask("info", f"greeter@sha256:{'0' * 64}"))["code"] == "UnknownComponent"
    assert (await house.ask("history", "greter"))["code"] == "UnknownComponent"
    other = "agent" if case.kind != "agent" else "tool"
    assert f"is not of kind {case.kind}" in (await house.ask("info", f"{other}:greeter"))["problem"]
    assert (await house.ask("info", "No Name"))["code"] == "BadRef"


async def test_a_list_is_sorted_and_filtered(case: Case, house: House) -> None:
    await house.register("zebra", "ant")
    await house.register("mole", category="rest")
    assert [one[0] for one in await house.ask("list")] == ["ant", "mole", "zebra"]
    assert [one.name for one in await house.door.list(category="rest")] == ["mole"]
    house.platform.versions.mark((await house.door.info("ant")).ref, "deprecated")
    assert [one[0] for one in await house.ask("list")] == ["mole", "zebra"]
    assert [one.name for one in await house.door.list(state="deprecated")] == ["ant"]
    assert [one.state for one in await house.door.list(state=None)] == ["deprecated", "active", "active"]


async def test_an_update_is_bumped_by_what_changed(case: Case, house: House) -> None:
    await house.register()
    steps = [
        ({"hello": "good day"}, "1.0.1"),
        ({"words": "Greet somebody."}, "1.0.2"),
        ({"more": case.optional}, "1.1.0"),
        ({"more": case.required}, "2.0.0"),
        ({"hello": "good night"}, "3.0.0" if case.operation or case.kind == "prompt" else ""),
    ]
    for change, version in steps:
        made = await house.door.update("greeter", case.source(**change), reason="better")
        assert (made.version, made.reason) == (version, "better")
    assert (await house.ask("info", "greeter"))["reason"] == "better"
    assert (await house.ask("diff", "greeter@1.0.0", "greeter@1.0.1"))[0] == "patch"
    assert (await house.ask("diff", "greeter@1.0.2", "greeter@1.1.0"))[0] == "minor"


async def test_an_update_keeps_the_name_and_needs_one(case: Case, house: House) -> None:
    await house.register()
    before = house.files()
    with pytest.raises(BadComponent, match="keep the name"):
        await house.door.update("greeter", case.source("other"))
    with pytest.raises(UnknownComponent, match="greeter"):
        await house.door.update("greter", case.source("greter"))
    with pytest.raises(BadRef):
        await house.door.update("no name", case.source())
    assert house.files() == before


async def test_restore_moves_the_pointer_and_history_only_grows(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    assert (await house.door.restore("greeter@1.0.0", reason="it was better")).digest == first.digest
    assert await house.ask("info", "greeter") == first.to_json()
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.0", "1.0.1"]
    heads = await house.ask("heads", "greeter")
    assert [one["current"] for one in heads] == ["1.0.0", "1.0.1", "1.0.0"]
    assert heads[-1]["reason"] == "it was better"
    before = house.files()
    with pytest.raises(UnknownComponent, match=r"it has 1\.0\.0, 1\.0\.1"):
        await house.door.restore("greeter@7.0.0")
    with pytest.raises(UnknownComponent, match="does not name a version"):
        await house.door.restore("greeter")
    assert house.files() == before
    assert (await house.door.update("greeter", case.source(hello="hi"))).version == "1.0.2"
    assert await house.ask("info", f"greeter@{second.digest}") == second.to_json()


async def test_each_of_two_versions_with_the_same_bytes_can_be_restored(case: Case, house: House) -> None:
    first, second = *(await house.register()), await house.door.register(case.source(), version="1.0.1")
    assert (first.version, second.version, first.digest) == ("1.0.0", "1.0.1", second.digest)
    await house.register(hello="good day")
    assert (await house.door.restore("greeter@1.0.1")).version == "1.0.1"
    assert (await house.ask("info", "greeter"))["version"] == "1.0.1"


async def test_rollback_goes_back_and_further_back_until_nothing_is_left(case: Case, house: House) -> None:
    for hello in ("one", "two", "three"):
        await house.register(hello=hello)
    assert [(await house.door.rollback("greeter")).version for _ in range(2)] == ["1.0.1", "1.0.0"]
    assert (await house.ask("info", "greeter"))["version"] == "1.0.0"
    before = house.files()
    with pytest.raises(RegistryError, match="not at another version before"):
        await house.door.rollback("greeter")
    with pytest.raises(UnknownComponent):
        await house.door.rollback("greter")
    assert house.files() == before
    await house.register(hello="four")
    assert (await house.door.rollback("greeter")).version == "1.0.0"
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.0", "1.0.1", "1.0.2", "1.0.3"]


async def test_what_is_unregistered_is_out_of_sight_but_its_bytes_are_not_lost(case: Case, house: House) -> None:
    await house.register("stays")
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    house.platform.versions.alias(first.ref, "prod")
    await house.door.unregister("greeter", reason="nobody needs it")
    assert [one[0] for one in await house.ask("list")] == ["stays"]
    for question in ("greeter", "greeter@1.0.0", "greeter@prod"):
        assert (await house.ask("info", question))["code"] == "UnknownComponent"
    assert (await house.ask("history", "greeter"))["code"] == "UnknownComponent"
    assert await house.ask("exact", "greeter@1.0.0", first.digest) == first.to_json()
    with pytest.raises(UnknownComponent):
        await house.door.unregister("greeter")
    with pytest.raises(UnknownComponent):
        await house.door.restore("greeter@1.0.0")
    (third,) = await house.register(hello="hi")
    assert (third.version, third.lineage.parent) == ("1.0.2", None)
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.2"]
    assert (await house.ask("info", "greeter@1.0.1"))["code"] == "UnknownComponent"
    assert await house.ask("exact", "greeter@1.0.1", second.digest) == second.to_json()


async def test_lineage_is_kept(case: Case, house: House) -> None:
    await house.register()
    lineage = Lineage(how="copy", parent="0.9.0", run="r1", before=0.25, after=0.5)
    made = await house.door.update("greeter", case.source(hello="hi"), lineage=lineage)
    assert made.lineage == lineage
    assert (await house.ask("info", "greeter"))["lineage"]["after"] == 0.5


async def test_what_no_person_wrote_is_listed_and_not_trusted(case: Case, house: House) -> None:
    await house.door.register(case.source(), lineage=Lineage(how="generator"))
    assert await house.ask("list") == [["greeter", "1.0.0", "active", False, "registry"]]
    if case.operation:
        with pytest.raises(RegistryError, match="not trusted"):
            await house.door.get("greeter")


async def test_a_live_instance_is_handed_out(case: Case, house: House) -> None:
    await house.register()
    found = await house.door.get("greeter")
    match case.kind:
        case "tool":
            assert await found("world") == "hello world"
        case "environment":
            assert await found.greet("world") == "hello world"
            assert await found.state() == ["world"]
            assert await (await house.door.get("greeter")).state() == []
        case "agent":
            assert (await found.run(None, Task(text="world"))).answer == "hello world"
        case _:
            assert found.variables["text"] == {"type": "string"}
    with pytest.raises(UnknownComponent):
        await house.door.get("greter")


def test_each_protocol_answers_in_its_own_type() -> None:
    assert [TCPServer.response, ECPServer.response, ACPServer.response] == [ToolResponse, ActionResponse, AgentResponse]
