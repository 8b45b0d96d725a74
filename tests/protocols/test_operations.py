"""Test operations of every protocol: copy, rewrite, mark, alias, trust and purge."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elsewhere import open_platform
from protocol_kit import CASES, DOCUMENTS, Case, House

from tea.components.manifest import Lineage
from tea.errors import (
    AlreadyRegistered,
    BadComponent,
    BadInput,
    BadRef,
    NotEvolvable,
    Purged,
    Quarantined,
    RegistryError,
    UnknownComponent,
)


@pytest.fixture(params=[*CASES, *DOCUMENTS], ids=lambda case: case.kind)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


NOBODY = "sha256:" + "0" * 64


def piece(case: Case) -> str:
    """The variable of a greeter's words."""
    return "system" if case.kind == "prompt" else "source"


def text(case: Case, hello: str) -> str:
    return f"Say {hello}." if case.kind == "prompt" else case.source(hello=hello)


async def says(house: House, selector: str = "", name: str = "greeter") -> Any:
    """Return a call's words, in this process and another; for a part never called, its text."""
    if not house.case.operation:
        source = (await house.ask("info", f"{name}{selector}"))["source"]
        return "hello world" if "Say hello." in source or '"hello"' in source else "other"
    found = await house.invoke(selector, name=name)
    assert found["ok"], found["error"]
    return found["value"]["answer"] if house.case.kind == "agent" else found["value"]


async def test_a_copy_under_another_name_says_that_name_itself(case: Case, house: House) -> None:
    (made,) = await house.register()
    copy = await house.door.copy("greeter", name="welcomer", reason="for guests")
    assert (str(copy.ref), copy.reason) == (f"{case.kind}:welcomer@1.0.0", "for guests")
    assert (copy.lineage.how, copy.lineage.parent) == ("copy", str(made.ref))
    assert copy.source == case.source("welcomer")
    assert await says(house, name="welcomer") == "hello world"
    assert await house.ask("info", "greeter") == made.to_json()
    assert await house.ask("info", "welcomer") == copy.to_json()
    assert [one.ref for one in house.platform.versions.lineage(case.kind, "welcomer", "1.0.0")] == [copy.ref, made.ref]


async def test_a_copy_as_a_further_version_leaves_the_current_one(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    copy = await house.door.copy(f"greeter@{first.version}", reason="to try")
    chosen = await house.door.copy("greeter", version="3.0.0")
    assert [one.version for one in (copy, chosen)] == ["1.0.2", "3.0.0"]
    assert [one.digest for one in (copy, chosen)] == [first.digest, second.digest]
    assert (copy.lineage, copy.reason) == (Lineage(how="copy", parent="1.0.0"), "to try")
    assert (await house.ask("info", "greeter"))["version"] == "1.0.1"
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.0", "1.0.1", "1.0.2", "3.0.0"]
    assert await says(house, "@1.0.2") == "hello world"


async def test_what_cannot_be_copied_writes_nothing(case: Case, house: House) -> None:
    await house.register("greeter", "other")
    before = house.files()
    for problem, ref, options in (
        (AlreadyRegistered, "greeter", {"name": "other"}),
        (AlreadyRegistered, "greeter", {"version": "1.0.0"}),
        (BadRef, "greeter", {"name": "../up"}),
        (BadRef, "greeter", {"name": "welcomer", "version": "1"}),
        (UnknownComponent, "greter", {"name": "welcomer"}),
        (UnknownComponent, "greeter@9.0.0", {}),
    ):
        with pytest.raises(problem):
            await house.door.copy(ref, **options)
    assert house.files() == before
    house.distrust()
    before = house.files()
    with pytest.raises(Quarantined, match="not trusted"):
        await house.door.copy("greeter", name="welcomer")
    assert house.files() == before
    copy = await house.door.copy("greeter")
    assert not house.platform.trust(copy.digest), "a further version of what is not trusted is not trusted either"


async def test_text_is_shown_in_pieces_and_written_anew_as_a_version(case: Case, house: House) -> None:
    (first,) = await house.register()
    shown = {one["name"]: one for one in await house.ask("vars", "greeter")}
    assert shown[piece(case)]["value"] == text(case, "hello")
    assert shown[piece(case)]["kind"] == ("text" if case.kind == "prompt" else "source")
    assert shown[piece(case)]["trainable"]
    made = await house.door.setvars("greeter", {piece(case): text(case, "hi")}, reason="shorter")
    assert (made.version, made.reason, made.lineage) == ("1.0.1", "shorter", Lineage(how="hand", parent="1.0.0"))
    assert made.source == case.source(hello="hi")
    assert await house.ask("info", "greeter") == made.to_json()
    again = await house.door.setvars("greeter@1.0.0", {piece(case): text(case, "ho")})
    assert (again.version, again.lineage.parent) == ("1.0.2", "1.0.0")
    assert await says(house, "@1.0.0") == "hello world"
    assert await house.ask("info", "greeter@1.0.0") == first.to_json()


async def test_where_no_text_is_new_nothing_is_written(case: Case, house: House) -> None:
    await house.register()
    before = house.files()
    for values in ({}, {piece(case): text(case, "hello")}):
        with pytest.raises(BadInput, match=r"nothing to change in .*greeter@1\.0\.0"):
            await house.door.setvars("greeter", values)
    assert house.files() == before


async def test_what_a_machine_wrote_becomes_a_version_that_nobody_trusts(case: Case, house: House) -> None:
    await house.register()
    lineage = Lineage(how="textgrad", run="r1", before=0.25, after=0.5)
    example = "'hello world'"
    for hello in ("hi", "ho"):
        given = text(case, hello).replace(example, f"'{hello} world'")
        made = await house.door.setvars("greeter", {piece(case): given}, lineage=lineage)
        assert (made.lineage.how, made.lineage.run, made.lineage.after) == ("textgrad", "r1", 0.5)
        assert not house.platform.trust(made.digest)
    assert (made.version, made.lineage.parent) == ("1.0.2", "1.0.1")


@pytest.mark.parametrize("odd", [None, 3, ["text"], {"deep": 3}])
async def test_texts_to_set_are_texts_by_name(case: Case, house: House, odd: Any) -> None:
    await house.register()
    before = house.files()
    for values in ({piece(case): odd}, {3: "text"}, odd):
        with pytest.raises(BadInput, match="not texts by name"):
            await house.door.setvars("greeter", values)
    assert house.files() == before


@pytest.mark.parametrize("values", [{"colour": "red"}, {"": "x"}])
async def test_an_unknown_variable_is_refused_and_the_known_ones_are_named(
    case: Case, house: House, values: dict[str, str]
) -> None:
    await house.register()
    before = house.files()
    with pytest.raises(UnknownComponent, match=f"it has .*{piece(case)}"):
        await house.door.setvars("greeter", values)
    assert house.files() == before


async def test_what_may_not_evolve_stays_as_it_is(case: Case, house: House) -> None:
    fixed = {
        "tool": ("@tool(", "@tool(evolvable=False, "),
        "prompt": ("trainable:", "evolvable: false\ntrainable:"),
        **{one.kind: ('"evolvable":true', '"evolvable":false') for one in DOCUMENTS},
    }.get(case.kind, ('name = "greeter"', 'name = "greeter"\n    evolvable = False'))
    await house.door.register(case.source().replace(*fixed))
    assert not any(one["trainable"] for one in await house.ask("vars", "greeter"))
    with pytest.raises(NotEvolvable):
        await house.door.setvars("greeter", {piece(case): text(case, "hi")})
    if case.kind == "prompt":
        await house.register("open")
        with pytest.raises(NotEvolvable, match="'message'"):
            await house.door.setvars("open", {"message": "Hi."})


async def test_a_text_that_is_no_component_or_another_one_is_refused(case: Case, house: House) -> None:
    await house.register()
    before = house.files()
    bad = ["{{ unknown }}"] if case.kind == "prompt" else ["def broken(:", case.source("other")]
    for value in bad:
        with pytest.raises(BadComponent):
            await house.door.setvars("greeter", {piece(case): value})
    assert house.files() == before
    house.distrust()
    with pytest.raises(Quarantined):
        await house.door.setvars("greeter", {piece(case): text(case, "hi")})


async def test_a_deprecated_version_is_called_but_not_listed(case: Case, house: House) -> None:
    await house.register()
    head = await house.door.deprecate("greeter", reason="use welcomer")
    assert (head.reason, dict(head.states)) == ("use welcomer", {"1.0.0": "deprecated"})
    assert await house.ask("list") == []
    assert await house.ask("states") == [["greeter", "1.0.0", "deprecated"]]
    assert await says(house) == "hello world"
    await house.register(hello="good day")
    assert await house.ask("states") == [["greeter", "1.0.1", "active"]]
    await house.door.activate("greeter@1.0.0")
    assert (await house.ask("heads", "greeter"))[-1]["states"] == {}


async def test_bytes_that_are_current_are_registered_no_second_time(case: Case, house: House) -> None:
    (made,) = await house.register()
    before = house.files()
    assert await house.door.register(case.source(), reason="started again") == made
    assert await house.door.update("greeter", case.source(), reason="saved again") == made
    assert house.files() == before
    assert len(await house.ask("history", "greeter")) == 1


async def test_a_program_that_registers_at_its_start_undoes_no_rollback(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    await house.door.rollback("greeter")
    before = house.files()
    assert (await house.register(hello="good day")) == [second]
    assert house.files() == before
    assert (await house.ask("info", "greeter"))["version"] == first.version
    assert await says(house) == "hello world"


async def test_an_update_to_bytes_of_an_earlier_version_makes_that_current(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    assert await house.door.update("greeter", case.source(), reason="it was better", author="ada") == first
    (*_, newest) = await house.ask("heads", "greeter")
    assert [newest[key] for key in ("current", "reason", "author")] == [first.version, "it was better", "ada"]
    assert [one["version"] for one in await house.ask("history", "greeter")] == [first.version, second.version]
    assert (await house.door.rollback("greeter")).version == second.version


async def test_a_version_that_is_wanted_is_written_whatever_its_bytes(case: Case, house: House) -> None:
    (first,) = await house.register()
    for number, store in enumerate((house.door.register, house.door.update)):
        named = () if number == 0 else ("greeter",)
        made = await store(*named, case.source(), version=f"2.0.{number}")
        assert (made.version, made.digest) == (f"2.0.{number}", first.digest)
        assert (await house.ask("info", f"greeter@{made.version}")) == made.to_json()
    assert (await house.door.info("greeter")).version == "2.0.1"


async def test_a_person_who_registers_what_is_there_vouches_for_it(case: Case, house: House) -> None:
    (made,) = await house.register()
    house.distrust()
    assert not house.platform.trust(made.digest)
    assert await house.register() == [made]
    assert house.platform.trust(made.digest)


async def test_an_archived_version_is_kept_and_not_called(case: Case, house: House) -> None:
    (made,) = await house.register()
    await house.door.archive("greeter")
    assert await house.ask("list") == []
    assert await house.ask("info", "greeter") == made.to_json()
    assert await house.ask("exact", "greeter@1.0.0", made.digest) == made.to_json()
    if case.operation:
        for selector in ("", "@1.0.0", f"@{made.digest}"):
            found = await house.invoke(selector)
            assert (found["ok"], found["error"]["code"]) == (False, "Archived")
            assert f"{case.kind}:greeter@1.0.0 is archived" in found["error"]["problem"]
    await house.door.activate("greeter", reason="needed after all")
    assert (await house.door.list())[0].state == "active"
    for act in (house.door.archive, house.door.deprecate, house.door.activate):
        with pytest.raises(UnknownComponent):
            await act("greeter@7.0.0")


async def test_an_alias_stands_for_a_version_moves_and_goes(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    assert (await house.door.alias("greeter@1.0.0", "prod", reason="proved")).aliases == {"prod": "1.0.0"}
    assert await house.ask("info", "greeter@prod") == first.to_json()
    assert await says(house, "@prod") == "hello world"
    await house.door.alias("greeter", "prod")
    await house.door.alias("greeter@prod", "best")
    assert await house.ask("info", "greeter@best") == second.to_json()
    await house.door.unalias("greeter", "prod")
    assert (await house.ask("info", "greeter@prod"))["code"] == "UnknownComponent"
    before = house.files()
    for name, tag, problem in (
        ("greeter", "1.0.0", BadRef),
        ("greeter", "A b", BadRef),
        ("none", "x", UnknownComponent),
    ):
        with pytest.raises(problem):
            await house.door.alias(name, tag)
    with pytest.raises(UnknownComponent, match="it has best"):
        await house.door.unalias("greeter", "prod")
    assert house.files() == before


async def test_trust_is_granted_to_one_version_by_a_person(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    house.distrust()
    assert await house.ask("list") == [["greeter", "1.0.1", "active", False, "registry"]]
    if case.operation:
        with pytest.raises(Quarantined):
            await house.door.get("greeter")
    assert (await house.door.trust("greeter@1.0.0")).digest == first.digest
    assert [house.platform.trust(one.digest) for one in (first, second)] == [True, False]
    assert await says(house, "@1.0.0") == "hello world"
    await house.door.trust("greeter")
    assert await house.ask("list") == [["greeter", "1.0.1", "active", True, "registry"]]
    with pytest.raises(UnknownComponent):
        await house.door.trust("greter")


async def test_source_that_cannot_load_is_not_trusted_and_not_executed(case: Case, house: House) -> None:
    if case.operation == "":
        return
    (made,) = await house.register()
    for bad, line in (
        ("print('here')\n", "defines no component"),
        ("def broken(:\n", "line 1"),
        (f"{made.source}\nopen(3)\n", r"line \d+"),
    ):
        wrong = replace(made, source=bad)
        versions = house.platform.versions
        stored = versions.add(case.kind, "greeter", lambda version, one=wrong: replace(one, version=version))
        with pytest.raises(BadComponent, match=line):
            await house.door.trust("greeter")
        assert not house.platform.trust(stored.digest)


async def test_a_purged_version_leaves_its_number_and_says_who_and_why(case: Case, house: House) -> None:
    first, second = *(await house.register()), *(await house.register(hello="good day"))
    await house.door.alias("greeter@1.0.0", "prod")
    (stone,) = await house.door.purge("greeter@prod", reason="it held a secret", author="ada")
    assert (str(stone.ref), stone.digest) == (f"{case.kind}:greeter@1.0.0", first.digest)
    stored = json.loads((house.versions() / "1.0.0.json").read_text())["document"]
    assert stored["purged"]["author"] == "ada"
    assert "hello" not in (house.versions() / "1.0.0.json").read_text().replace("greeter", "")
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.1"]
    for question in ("greeter@1.0.0", "greeter@prod"):
        assert (await house.ask("info", question))["code"] == "UnknownComponent"
    gone = await house.ask("exact", "greeter@1.0.0", first.digest)
    assert gone["code"] == "Purged"
    assert "purged by ada" in gone["problem"]
    assert "it held a secret" in gone["problem"]
    with pytest.raises(AlreadyRegistered):
        await house.door.register(case.source(), version="1.0.0")
    with pytest.raises(Purged):
        await house.door.purge("greeter@1.0.0")
    assert (await house.register())[0].version == "1.0.2"
    again = await house.ask("exact", "greeter@1.0.2", first.digest)
    assert again == (await house.door.info("greeter@1.0.2")).to_json()
    assert await house.ask("info", "greeter@1.0.1") == second.to_json()


async def test_all_of_what_was_unregistered_can_be_purged_and_its_name_goes_on(case: Case, house: House) -> None:
    versions = [*(await house.register()), *(await house.register(hello="good day"))]
    await house.door.unregister("greeter")
    assert [one.version for one in await house.door.purge("greeter")] == ["1.0.0", "1.0.1"]
    for one in versions:
        assert (await house.ask("exact", f"greeter@{one.version}", one.digest))["code"] == "Purged"
    assert await house.ask("list") == []
    with pytest.raises(UnknownComponent):
        await house.door.purge("greeter")
    (third,) = await house.register(hello="hi")
    assert third.version == "1.0.2"
    assert [one["version"] for one in await house.ask("history", "greeter")] == ["1.0.2"]


async def test_what_is_in_use_is_not_purged(case: Case, house: House) -> None:
    await house.register()
    await house.register(hello="good day")
    before = house.files()
    for ref, problem in (
        ("greeter", RegistryError),
        ("greeter@1.0.1", RegistryError),
        ("greeter@7.0.0", UnknownComponent),
        (f"greeter@{NOBODY}", UnknownComponent),
        ("nobody", UnknownComponent),
    ):
        with pytest.raises(problem):
            await house.door.purge(ref)
    assert house.files() == before
    await house.door.purge("greeter@1.0.0")
    with pytest.raises(RegistryError, match="not at another version before"):
        await house.door.rollback("greeter")
    with pytest.raises(UnknownComponent):
        await house.door.restore("greeter@1.0.0")


CALLER = '''
from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Call a tool."""

    tools = ("greeter",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call it with what the task says."""
        return Result(answer=(await ctx.tcp.invoke("greeter", {"text": task.text})).unwrap())
'''


async def test_a_run_that_pinned_what_is_archived_replays_and_what_is_purged_says_so(tmp_path: Path) -> None:
    async with open_platform(tmp_path) as tea:
        await tea.tcp.register(CASES[0].source())
        await tea.acp.register(CALLER)
        outcome = await tea.run("world", agent="caller")
        assert outcome.answer == "hello world"
        await tea.tcp.archive("greeter")
        await tea.acp.archive("caller")
        assert (await tea.replay(outcome.run)).answer == "hello world"
        refused = await tea.run("world", agent="caller")
        assert (refused.ok, refused.status) == (False, "failed")
        assert "agent:caller@1.0.0 is archived" in refused.reason
        await tea.tcp.unregister("greeter")
        assert (await tea.replay(outcome.run)).answer == "hello world"
        await tea.tcp.purge("greeter", reason="it held a secret")
        with pytest.raises(Purged, match="it held a secret"):
            await tea.replay(outcome.run)


async def test_what_a_recipe_is_made_of_is_not_purged(tmp_path: Path) -> None:
    async with open_platform(tmp_path) as tea:
        await tea.acp.register(CALLER)
        [made] = await tea.transform("A2T", "caller", name="called")
        await tea.acp.update("caller", CALLER.replace("Call a tool.", "Call one tool."))
        with pytest.raises(RegistryError, match=r"is in use by tool:called@1\.0\.0"):
            await tea.acp.purge("caller@1.0.0")
        await tea.tcp.unregister("called")
        assert [str(one.ref) for one in await tea.acp.purge("caller@1.0.0")] == ["agent:caller@1.0.0"]
        assert made.name == "called"
