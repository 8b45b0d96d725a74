"""Test the origin of versions: the record of this account counts, a manifest from elsewhere is its sender's word."""

from dataclasses import replace
from pathlib import Path
from time import time_ns
from typing import Any

import pytest
from homes import unpack

from tea.characters import numbered_in_source
from tea.cli.show import source_text
from tea.components.manifest import Lineage, ToolConfig
from tea.errors import BadComponent, Damaged
from tea.platform import Platform
from tea.registry.row import FORM, stored_facts
from tea.source.seal import Seal
from tea.store.catalogue import Catalogue, Described
from tea.store.scratch import Scratch
from tea.store.sealed import sealed, unsealed

SUMS = """from tea import tool


@tool(effects="reads")
async def calculator(expression: str) -> str:
    \"\"\"Calculate in our own way.\"\"\"
    return expression
"""


def edit(tea: Platform, path: str, **facts: Any) -> None:
    """Change facts of a stored manifest, as somebody with an editor would."""
    file = tea.home / "registry" / path
    document = unsealed(file)
    file.chmod(0o600)
    file.write_bytes(sealed({**document, **facts}))


def platform(folder: Path) -> Platform:
    (folder / "home").mkdir(exist_ok=True)
    return Platform(folder / "home", state=folder / "state")


async def test_an_origin_counts_as_it_was_recorded(tmp_path: Path) -> None:
    async with platform(tmp_path) as tea:
        made = await tea.tcp.register(SUMS.replace("calculator", "sums"), reason="for us")
        assert tea.libraries["tool"].recorded_here(made)
    for facts in ({"reason": "reviewed by security"}, {"created": "2020-01-01T00:00:00Z"}, {"changes": ["import os"]}):
        async with platform(tmp_path) as tea:
            found = await tea.tcp.info("sums")
            assert tea.libraries["tool"].recorded_here(found)
            edit(tea, "tools/sums/versions/1.0.0.json", **facts)
        async with platform(tmp_path) as tea:
            assert not tea.libraries["tool"].recorded_here(await tea.tcp.info("sums"))
            edit(tea, "tools/sums/versions/1.0.0.json", **{name: found.to_json()[name] for name in facts})


async def test_an_edited_version_does_not_become_one_that_ships_with_tea(tmp_path: Path) -> None:
    async with platform(tmp_path) as tea:
        own = await tea.tcp.register(SUMS)
        path = f"tools/calculator/versions/{own.version}.json"
        lineage = {**own.lineage.to_json(), "how": "bundled"}
        edit(tea, path, lineage=lineage)
    async with platform(tmp_path) as tea:
        found = await tea.tcp.info("calculator")
        assert (found.digest, found.lineage.how) == (own.digest, "imported")
        assert not tea.libraries["tool"].recorded_here(found)
        assert [one.lineage.how for one in await tea.tcp.history("calculator") if one.digest == own.digest] == [
            "imported"
        ]


async def test_a_list_does_not_say_of_a_version_that_it_ships_with_tea_where_its_manifest_alone_does(
    tmp_path: Path,
) -> None:
    async with platform(tmp_path) as tea:
        own = await tea.tcp.register(SUMS.replace("calculator", "sums"))
        edit(tea, "tools/sums/versions/1.0.0.json", lineage={**own.lineage.to_json(), "how": "bundled"})
    async with Platform(tmp_path / "home", state=tmp_path / "other") as tea:
        await tea.tcp.trust("sums")
        rows = {one.name: one.origin for one in await tea.tcp.list()}
        assert (rows["sums"], rows["calculator"]) == ("registry", "bundled")


async def test_what_an_earlier_tea_shipped_gives_way_to_what_ships_now(tmp_path: Path) -> None:
    home = unpack(1, tmp_path)
    (stored,) = (home / "registry" / "agents" / "planner" / "versions").glob("*.json")
    older = unsealed(stored)
    assert older["lineage"]["how"] == "bundled"
    async with Platform(home, state=tmp_path / "state") as tea:
        found = await tea.acp.info("planner")
        assert found.digest != older["digest"]
        assert tea.libraries["agent"].recorded_here(found)


async def test_what_ships_is_known_to_ship_stored_or_not(tmp_path: Path) -> None:
    async with platform(tmp_path) as tea:
        shipped = await tea.tcp.info("calculator")
        assert (shipped.lineage.how, tea.libraries["tool"].recorded_here(shipped)) == ("bundled", True)
        await tea.tcp.register(SUMS)
        stored = await tea.tcp.info(f"calculator@{shipped.version}")
        assert (stored.created != "", stored.lineage.how, tea.libraries["tool"].recorded_here(stored)) == (
            True,
            "bundled",
            True,
        )
    async with platform(tmp_path) as tea:
        assert (await tea.tcp.info(f"calculator@{shipped.version}")).lineage.how == "bundled"


async def test_a_version_from_elsewhere_has_the_origin_that_its_sender_says(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    async with platform(tmp_path / "one") as tea:
        made = await tea.tcp.register(SUMS.replace("calculator", "sums"), reason="reviewed")
        await tea.tcp.save(tmp_path / "sums.json", ["sums"])
    async with platform(tmp_path / "two") as tea:
        await tea.tcp.load(tmp_path / "sums.json")
        found = await tea.tcp.info("sums")
        assert (found.reason, tea.libraries["tool"].recorded_here(found)) == (made.reason, False)
        await tea.tcp.trust("sums")
        assert not tea.libraries["tool"].recorded_here(await tea.tcp.info("sums"))


async def test_who_registers_what_somebody_else_stored_already_did_not_write_that_version(tmp_path: Path) -> None:
    source = SUMS.replace("calculator", "sums")
    async with platform(tmp_path) as tea:
        await tea.tcp.register(source)
        edit(tea, "tools/sums/versions/1.0.0.json", changes=["reviewed by security"], created="2020-01-01T00:00:00Z")
    async with Platform(tmp_path / "home", state=tmp_path / "stranger") as tea:
        found = await tea.tcp.register(source)
        assert (tea.trust(found.digest), found.changes) == (True, ("reviewed by security",))
        assert not tea.libraries["tool"].recorded_here(found)
        assert tea.libraries["tool"].recorded_here(await tea.tcp.register(source, version="2.0.0"))


async def test_a_catalogue_of_somebody_else_tells_nothing_of_what_is_trusted(tmp_path: Path) -> None:
    async with platform(tmp_path) as tea:
        made = await tea.tcp.register(SUMS.replace("calculator", "sums"))
    root, forged = tmp_path / "home" / "registry", "Say what somebody else says."
    facts = stored_facts(made, "active")._replace(description=forged, text=forged, category="forged")
    theirs = Catalogue(root, Scratch(root), Seal(tmp_path / "theirs"), least=1, clock=lambda: time_ns() + 10**10)
    theirs.survey("tool", ["sums"], FORM, lambda _: Described(facts=facts, head=1, version=made.version))
    async with platform(tmp_path) as tea:
        (found,) = [one for one in await tea.tcp.list() if one.name == "sums"]
        assert (found.description, found.category, found.trusted) == (made.description, "", True)
        assert forged not in found.text


@pytest.mark.parametrize("mode", [0o777, 0o757, "link"])
@pytest.mark.parametrize("folder", ["", "heads", "versions"])
async def test_a_folder_of_the_registry_that_others_control_is_one_finding(
    tmp_path: Path, folder: str, mode: int | str
) -> None:
    async with platform(tmp_path) as tea:
        for name in ("sums", "more"):
            await tea.tcp.register(SUMS.replace("calculator", name))
        place = tea.home / "registry" / "tools" / "sums" / folder
        if isinstance(mode, int):
            place.chmod(mode)
        else:
            place.rename(tmp_path / "moved")
            place.symlink_to(tmp_path / "moved")
    async with platform(tmp_path) as tea:
        with pytest.raises(Damaged, match="is not used"):
            await tea.tcp.info("sums")
        assert (await tea.tcp.info("more")).name == "more"


MARKS = [
    "# file: a.py",
    "#\u00a0file: a.py",
    "#\u2003file\u3000: a.py",
    "#file: a.py",
    "\uff03 FILE: a.py",
    "# requires: x",
]
MARKS += ["#\u00a0requires: x", "# tool:sums@1.0.0 sha256:0", "#\u202ftool:sums@1.0.0\u00a0sha256:0"]


@pytest.mark.parametrize("line", MARKS)
def test_no_line_of_a_source_looks_like_one_of_ours(line: str) -> None:
    made = ToolConfig(kind="tool", name="sums", version="1.0.0", description="S.", source=f"A = 1\n{line}\nB = 2\n")
    shown = source_text(replace(made, lineage=Lineage())).split("\n")
    assert shown[1] == f"<U+{ord(line[0]):04X}>{numbered_in_source(line[1:])}"
    assert shown[-1].startswith("# tool:sums@1.0.0 sha256:")


@pytest.mark.parametrize("character", ["\\u202e", "\\u001b", "\\u009b", "\\u2066", "\\u0007"])
async def test_a_recipe_holds_no_character_that_misleads_also_as_an_escape(tmp_path: Path, character: str) -> None:
    async with platform(tmp_path) as tea:
        environments = tea.libraries["environment"]
        (made,) = await environments.transform("T2E", ["tool:calculator"], name="desk", description="Adds it up.")
        text = made.source.replace("it up.", f"{character}up.")
        with pytest.raises(BadComponent, match="as an escape"):
            await environments.register(text)
        with pytest.raises(BadComponent, match="as an escape"):
            await tea.libraries["prompt"].register(
                f'---\nname: p\ndescription: "Greets.{character}"\n---\n# system\nHi.\n\n# message\nHi.\n'
            )
