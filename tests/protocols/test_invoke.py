"""Test calls through every protocol: a value, or an error with a remedy; never an exception."""

import asyncio
import json
import sys
from typing import Any, cast

import pytest
from protocol_kit import CASES, Case, House

from tea.components.context import Context
from tea.errors import BadArguments, CallFailed, Damaged, Quarantined
from tea.types import Principal, Response

CALLED = [one for one in CASES if one.operation]


@pytest.fixture(params=CALLED, ids=lambda case: case.kind)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def error(found: dict[str, Any], code: str) -> str:
    assert not found["ok"]
    assert found["value"] is None
    assert found["error"]["code"] == code
    assert "Traceback" not in str(found)
    return found["error"]["problem"]


async def test_an_exact_version_answers_in_the_protocols_own_type(case: Case, house: House) -> None:
    await house.register()
    found = await house.door.invoke(case.ref(), case.arguments())
    assert type(found) is house.door.response
    assert found.ref == f"{case.kind}:greeter@1.0.0#{case.operation}"
    await house.register(hello="good day")
    assert "good day" in str((await house.invoke())["value"])
    assert "hello" in str((await house.invoke("@1.0.0"))["value"])


@pytest.mark.parametrize("arguments", [{}, {"text": "world", "task": {"text": "a"}, "more": 1}, {"text": 3, "task": 3}])
async def test_bad_arguments_are_answered_with_the_reason(case: Case, house: House, arguments: dict[str, Any]) -> None:
    await house.register()
    problem = error(await house.ask("invoke", case.ref(), json.dumps(arguments)), "BadArguments")
    assert "bad arguments" in problem
    with pytest.raises(BadArguments):
        (await house.door.invoke(case.ref(), arguments)).unwrap()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), "\ud800", {"a": {1, 2}}])
async def test_arguments_that_are_not_json_are_bad_arguments(case: Case, house: House, value: Any) -> None:
    await house.register()
    found = await house.door.invoke(case.ref(), dict.fromkeys(case.arguments(), value))
    assert found.error["code"] == "BadArguments"


async def test_what_is_unknown_is_an_answer_too(case: Case, house: House) -> None:
    await house.register()
    assert "'greter'" in error(await house.invoke(name="greter"), "UnknownComponent")
    assert "9.9.9" in error(await house.invoke("@9.9.9"), "UnknownComponent")
    assert "'dance'" in error(await house.ask("invoke", "greeter#dance", "{}"), "UnknownComponent")
    error(await house.ask("invoke", "no name", "{}"), "BadRef")
    if case.kind == "environment":
        assert "no operation" in error(await house.ask("invoke", "greeter", "{}"), "UnknownComponent")


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ('raise ValueError("boom")', "CallFailed", "ValueError: boom"),
        ('raise ToolError("no such file", fix="name another")', "ToolError", "no such file"),
        ("raise SystemExit(3)", "CallFailed", "SystemExit: 3"),
        ('raise ExceptionGroup("many", [ValueError("boom")])', "CallFailed", "ExceptionGroup: ValueError: boom"),
        ("raise TimeoutError", "CallTimeout", "did not end in time"),
        ("return 3.5", "CallFailed", "does not promise"),
        ('return "\\ud800"', "CallFailed", "does not promise"),
    ],
)
async def test_a_component_that_fails_says_so(case: Case, house: House, body: str, code: str, said: str) -> None:
    if case.kind == "agent" and "ud800" in body:
        body = 'return Result(answer="\\ud800")'
    await house.register(body=body, top="from tea import ToolError")
    assert said in error(await house.invoke(), code)


async def test_a_component_that_cancels_itself_has_failed(case: Case, house: House) -> None:
    if case.kind == "agent":
        return
    await house.register(body="raise asyncio.CancelledError", top="import asyncio")
    assert "cancelled itself" in error(await house.invoke(), "CallFailed")


async def test_a_call_ends_at_its_deadline(case: Case, house: House) -> None:
    if case.kind == "agent":
        return
    (made,) = await house.register(body="await asyncio.Event().wait()", top="import asyncio")
    definition = await house.door.manager.definition(made)
    found: Response = await house.door.carry_out(
        str(made.ref), made, definition, case.operation, case.arguments(), nobody(), seconds=0.01
    )
    assert found.error is not None
    assert found.error["code"] == "CallTimeout"
    assert "within 0.01 s" in found.error["problem"]


async def test_a_call_that_is_called_off_stays_called_off(case: Case, house: House) -> None:
    if case.kind == "agent":
        return
    (made,) = await house.register(body="await asyncio.Event().wait()", top="import asyncio")
    definition = await house.door.manager.definition(made)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await house.door.carry_out(
                str(made.ref), made, definition, case.operation, case.arguments(), nobody(), seconds=60
            )


async def test_source_that_is_not_trusted_is_listed_and_never_executed_here(case: Case, house: House) -> None:
    await house.register()
    house.distrust()
    before = set(sys.modules)
    assert (await house.invoke())["ok"]
    assert not [name for name in set(sys.modules) - before if name.startswith("_tea_")]
    assert await house.ask("list") == [["greeter", "1.0.0", "active", False, "registry"]]
    made = await house.door.info("greeter")
    house.platform.trust.grant(made.digest, str(made.ref))
    assert (await house.invoke())["ok"]


async def test_a_registry_from_elsewhere_brings_no_trust(case: Case, house: House) -> None:
    """Write the files exactly as tea does, without registering them here."""
    await house.register()
    (house.folder / "state" / "trusted").unlink()
    with pytest.raises(Quarantined, match="not trusted"):
        await house.door.get("greeter")


async def test_a_changed_version_file_is_named_and_never_executed(case: Case, house: House) -> None:
    await house.register("other", "greeter")
    path = house.versions() / "1.0.0.json"
    path.write_text(path.read_text().replace("hello", "good day"))
    with pytest.raises(Damaged, match=r"1\.0\.0\.json"):
        await house.door.invoke(case.ref(), case.arguments())
    assert (await house.ask("info", "greeter"))["code"] == "Damaged"
    listed = await house.ask("list")
    assert [(one[0], one[1], one[3]) for one in listed] == [("greeter", "", False), ("other", "1.0.0", True)]
    assert (await house.invoke(name="other"))["ok"]
    (again,) = await house.register("fresh")
    assert again.version == "1.0.0"


async def test_a_version_file_of_another_component_is_damage(case: Case, house: House) -> None:
    await house.register("other", "greeter")
    (house.versions() / "1.0.0.json").write_bytes((house.versions("other") / "1.0.0.json").read_bytes())
    found = await house.ask("info", "greeter")
    assert found["code"] == "Damaged"
    assert f"{case.kind}:other@1.0.0" in found["problem"]


async def test_a_missing_current_version_is_damage(case: Case, house: House) -> None:
    await house.register(), await house.register(hello="good day")
    (house.versions() / "1.0.1.json").unlink()
    assert (await house.ask("info", "greeter"))["code"] == "Damaged"
    assert (await house.ask("info", "greeter@1.0.0"))["version"] == "1.0.0"
    assert [one[:2] for one in await house.ask("list")] == [["greeter", ""]]
    await house.door.restore("greeter@1.0.0")
    assert (await house.invoke())["ok"]


def nobody() -> Context:
    """The context of a component reaching for nothing."""
    names = dict.fromkeys(("run", "session", "task", "agent", "workspace"), "")
    return Context(port=cast(Any, None), flow=cast(Any, None), principal=Principal(), **names)


async def test_get_of_what_cannot_be_instantiated_is_one_clear_error(case: Case, house: House) -> None:
    if case.kind == "tool":
        return
    source = case.source().replace(
        '    name = "greeter"', '    name = "greeter"\n\n    def __init__(self):\n        1 // 0'
    )
    await house.door.register(source)
    assert "ZeroDivisionError" in error(await house.invoke(), "CallFailed")
    with pytest.raises(CallFailed, match="ZeroDivisionError"):
        await house.door.get("greeter")
