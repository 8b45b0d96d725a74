"""Test Agent Skills: written files follow the format, and read ones come back unchanged."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import skills_ref
from hypothesis import example, given
from hypothesis import strategies as st

from tea.characters import forbidden
from tea.components.manifest import Manifest
from tea.components.operation import Signature
from tea.errors import AlreadyRegistered, BadComponent, BadInput, BadRef
from tea.interop.skill import Skill, component_name, prompt_of, read_skill, skill_name, skill_of
from tea.interop.skill_folder import read_folder, write_skills
from tea.interop.skill_import import import_skill
from tea.platform import Platform
from tea.prompts.manager import PromptManager
from tea.prompts.skills import assets_of, texts_of
from tea.refs import KINDS, Kind
from tea.types import Message, TextPart

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True)
DOCUMENTS: dict[Kind, dict[str, Any]] = {
    "memory": {"scope": "agent"}, "model": {"model": "tiny"}, "solution": {"task": "Count.", "content": 3},
}  # fmt: skip
SKILL_NAMES = st.from_regex(r"[a-z0-9]{1,20}(-[a-z0-9]{1,10}){0,4}", fullmatch=True)
HARD = (
    "--- \n---\n",
    "# system\n\n# message\n# module: instructions\n#module:x\n",
    "{{ task }} {% raw %}{# no comment #}{{{ {%",
    '{{ "{" }} {{ "#" }}',
    "plain\n\n# A heading\n\n- a list\n",
    'quo"te \\ back: # not a comment, &anchor *alias !tag\n',
    "\u2028\x85\ufeff\U0001f600\ue000",
    "yes",
)
TEXT = st.one_of(st.sampled_from(HARD), st.text(max_size=80), st.text('#-{}%" \\:\nsytemag', max_size=60))
VISIBLE = TEXT.filter(lambda text: bool(text.strip()))
SKILLS = st.builds(
    Skill,
    name=SKILL_NAMES,
    description=VISIBLE.map(str.strip),
    body=TEXT.map(lambda text: text.replace("\0", "").replace("\r", "").strip("\n")),
    license=TEXT.map(str.strip),
    compatibility=TEXT.map(str.strip),
    allowed_tools=TEXT.map(str.strip),
    metadata=st.dictionaries(TEXT.filter(lambda text: not text.startswith("tea-")), TEXT, max_size=3),
    files=st.dictionaries(
        st.sampled_from(["scripts/run.py", "references/a.md", "LICENSE"]), TEXT.map(lambda text: text.replace("\0", ""))
    ),
    assets=st.dictionaries(
        st.sampled_from(["assets/a.png", "b.bin"]), st.binary(max_size=40).map(lambda data: data + b"\xff")
    ),
)


def manifest(kind: Any, name: str, words: str) -> Manifest:
    operation = Signature(name="go", description=words, parameters={"properties": {words: {}}}, returns={})
    return Manifest(
        kind=kind, name=name, version="1.0.0", description=words, source=words, requires=(words,),
        operations={"call": operation}, rules=words, metadata={"when": words},
    )  # fmt: skip


@given(st.sampled_from(KINDS), NAMES, TEXT | st.text(min_size=900, max_size=1300))
def test_any_component_is_a_valid_skill(kind: str, name: str, words: str) -> None:
    skill = skill_of(manifest(kind, name, words))
    with tempfile.TemporaryDirectory() as folder:
        (place,) = write_skills(Path(folder), [skill])
        assert skills_ref.validate(place) == []
        assert [path.name for path in Path(folder).iterdir()] == [skill.name]
        if forbidden((place / "SKILL.md").read_text("utf-8")):
            with pytest.raises(BadComponent, match="holds the character"):
                read_folder(place)
            return
        again = read_folder(place)
    assert (again.name, again.description, again.body) == (skill.name, skill.description, skill.body.strip("\n"))


def test_words_that_show_nothing_are_described_by_their_numbers() -> None:
    assert skill_of(manifest("solution", "a", "\U00010768")).description == "<U+10768> <U+10768>"


@given(SKILLS)
@example(Skill(name="a", description="b", body="", metadata={"version": "1.10"}))
def test_a_skill_is_read_back_as_it_was_written(skill: Skill) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (place,) = write_skills(Path(folder), [skill])
        assert skills_ref.validate(place) == []
        if forbidden(skill.document()):
            with pytest.raises(BadComponent, match="holds the character"):
                read_folder(place)
        else:
            assert read_folder(place) == skill


@given(SKILLS, st.none() | NAMES)
def test_a_skills_text_is_data_in_its_prompt_and_comes_out_again(skill: Skill, name: str | None) -> None:
    prompts = PromptManager()
    text = prompt_of(skill, name)
    prompt = prompts.parse(text.source)
    system, message = prompts.render(prompt, {"task": "{{ go }}"})
    assert f"<instructions>\n{skill.body}\n</instructions>" in said(system)
    assert said(message) == "{{ go }}"
    assert (prompt.name, prompt.metadata["origin_name"]) == (name or component_name(skill.name), skill.name)
    found = prompts.manifest(text.source, version="1.0.0")
    given_back = skill_of(Manifest(**{**_fields(found), "files": text.files}))
    assert {**given_back.metadata, "tea-ref": ""} == {**skill.metadata, "tea-ref": ""}
    assert read_skill(given_back.document(), given_back.files, given_back.assets) == skill


def said(message: Message) -> str:
    (part,) = message.content
    assert isinstance(part, TextPart)
    return part.text


def _fields(found: Manifest) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Manifest.__slots__ if name != "digest"}


@given(st.lists(st.tuples(st.sampled_from(["tool", "agent", "prompt"]), NAMES), unique=True, max_size=30))
@example([("tool", "a_b"), ("tool", "a__b"), ("tool", "a_b_")])
@example([("tool", "a" * 63 + "b"), ("tool", "a" * 63 + "c"), ("environment", "a" * 64)])
def test_different_components_have_skills_of_different_names(named: list[tuple[str, str]]) -> None:
    assert len({skill_name(kind, name) for kind, name in named}) == len(named)


async def test_every_bundled_component_passes_the_reference_validator(tmp_path: Path) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        for kind, document in DOCUMENTS.items():
            await tea.libraries[kind].register({"name": f"my_{kind}", **document})
        found = [await library.info(one.name) for library in tea.libraries.values() for one in await library.list()]
    places = write_skills(tmp_path / "skills", map(skill_of, found))
    assert len(places) == len(found) > 10
    assert {str(place): errors for place in places if (errors := skills_ref.validate(place))} == {}
    program = Path(sys.executable).with_name("agentskills")
    finished = subprocess.run([program, "validate", places[0]], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


async def test_the_skill_of_a_document_says_when_and_how_it_is_used(tmp_path: Path) -> None:
    made: dict[str, Skill] = {}
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        for kind, document in DOCUMENTS.items():
            made[kind] = skill_of(await tea.libraries[kind].register({"name": "mine", **document}))
    assert 'memory = "mine"' in made["memory"].body
    assert "--model mine" in made["model"].body
    assert '"content": 3' in made["solution"].body
    assert made["solution"].description == "Use it when this is asked again: Count."
    assert [one.compatibility != "" for one in made.values()] == [True, True, False]


SKILL = Skill(
    name="pdf-forms", description="Fill forms.", body="Read the form.", files={"scripts/fill.py": "1 / 0\n"},
    assets={"assets/form.png": b"\x89PNG\r\n\xff\x00"},
)  # fmt: skip
TOOL = skill_of(manifest("tool", "word_count", "Count words."))


def test_a_second_export_replaces_what_the_first_wrote_and_nothing_else(tmp_path: Path) -> None:
    write_skills(tmp_path, [SKILL, TOOL])
    before = contents(tmp_path)
    write_skills(tmp_path, [SKILL, TOOL])
    assert contents(tmp_path) == before
    changed = Skill(name="pdf-forms", description="Fill forms.", body="Look first.")
    write_skills(tmp_path, [changed])
    assert read_folder(tmp_path / "pdf-forms") == changed
    assert not (tmp_path / "pdf-forms" / "scripts").exists()


@pytest.mark.parametrize("change", ["edited", "added", "hidden", "removed", "foreign", "file", "link", "binary"])
def test_an_export_never_replaces_what_others_wrote(tmp_path: Path, change: str) -> None:
    place, folder = tmp_path / "skills" / "pdf-forms", tmp_path / "skills"
    if change in ("foreign", "file", "link"):
        folder.mkdir()
    else:
        write_skills(folder, [SKILL])
    match change:
        case "edited":
            (place / "SKILL.md").write_text((place / "SKILL.md").read_text() + "mine\n")
        case "added":
            (place / "notes.md").write_text("mine")
        case "hidden":
            (place / ".notes").write_text("mine")
        case "removed":
            (place / "scripts" / "fill.py").unlink()
        case "foreign":
            place.mkdir()
            (place / "SKILL.md").write_text("---\nname: pdf-forms\ndescription: mine\n---\n")
        case "file":
            place.write_text("mine")
        case "link":
            place.symlink_to(tmp_path)
        case _:
            (place / "a.png").write_bytes(b"\xff")
    before = contents(folder)
    with pytest.raises(BadInput, match="was not written by tea") as caught:
        write_skills(folder, [TOOL, Skill(name="pdf-forms", description="New.", body="New.")])
    assert len(str(caught.value)) < 300
    assert contents(folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


GOOD = "---\nname: good\ndescription: Does good.\n---\nBe good.\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Be good.", "front matter"),
        ("---\nname: good\n---\n", "description"),
        ("---\nname: good\ndescription: '  '\n---\n", "description"),
        ("---\nname: good\ndescription: [a]\n---\n", "description"),
        (f"---\nname: good\ndescription: {'a' * 1025}\n---\n", "1024"),
        (f"---\nname: good\ndescription: a\ncompatibility: {'a' * 501}\n---\n", "500"),
        ("---\nname: Good\ndescription: a\n---\n", "name"),
        ("---\nname: -good\ndescription: a\n---\n", "name"),
        ("---\nname: go--od\ndescription: a\n---\n", "name"),
        ("---\nname: ../good\ndescription: a\n---\n", "name"),
        (f"---\nname: {'a' * 65}\ndescription: a\n---\n", "name"),
        ("---\nname: other\ndescription: a\n---\n", "folder"),
        ("---\nname: good\ndescription: a\nversion: 1\n---\n", "version"),
        ("---\nname: good\ndescription: a\nmetadata: [a]\n---\n", "metadata"),
        ("---\nname: good\ndescription: a\nmetadata: {a: {b: c}}\n---\n", "metadata"),
        ("---\nname: good\ndescription: !!python/object:os.system a\n---\n", "quotes"),
        ("---\nname: &a good\ndescription: *a\n---\n", "anchors"),
        ("---\nname: good\nname: good\ndescription: a\n---\n", "twice"),
        ("---\nname: good\ndescription: a  # \u202e\n---\n", r"line 3: column 19 holds the character U\+202E"),
        ("---\nname: good\ndescription: a\nmetadata:\n  tea-x: \u2067\n---\n", r"line 5: .* U\+2067"),
        (GOOD + "\x1b[2J", r"U\+001B"),
        (GOOD + "\0", "NUL"),
        (GOOD + "a" * 300_000, "256 KiB"),
    ],
)
def test_a_skill_that_breaks_a_rule_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "SKILL.md").write_text(text)
    with pytest.raises(BadComponent, match=words) as caught:
        read_folder(tmp_path / "good")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "trap",
    ["link", "folder link", "pipe", "main", "script", "recipe", "program", "many", "deep", "large", "nothing", "name"],
)
def test_a_folder_with_a_trap_is_refused_in_one_line(tmp_path: Path, trap: str) -> None:
    import os

    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "SKILL.md").write_text(GOOD)
    match trap:
        case "link":
            (folder / "passwd").symlink_to("/etc/passwd")
        case "folder link":
            (folder / "scripts").symlink_to("/etc")
        case "pipe":
            os.mkfifo(folder / "pipe")
        case "main":
            (folder / "SKILL.md").write_bytes(GOOD.encode() + b"\xff")
        case "script":
            (folder / "run.sh").write_bytes(b"echo good\r# \xff\necho evil\n")
        case "recipe":
            (folder / "scripts").mkdir()
            (folder / "scripts" / "Makefile").write_bytes(b"all:\n\techo good\r# \xff\n")
        case "program":
            (folder / "run").write_bytes(b"#!/bin/sh\necho good\r# \0\necho evil\n")
        case "many":
            for number in range(201):
                (folder / str(number)).touch()
        case "deep":
            (folder / "/".join("abcdefghi")).mkdir(parents=True)
            (folder / "/".join("abcdefghi") / "file").touch()
        case "large":
            (folder / "large").write_bytes(b"a" * (2**20 + 1))
        case "nothing":
            (folder / "SKILL.md").unlink()
        case _:
            (folder / "a\nb").touch()
    with pytest.raises(BadComponent, match="is a link" if "link" in trap else ".") as caught:
        read_folder(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


async def test_no_field_loses_a_hidden_character_that_it_escapes(tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "SKILL.md").write_text('---\nname: good\ndescription: "Does good.\\x1c"\n---\nBe good.\n')
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        with pytest.raises(BadComponent, match="001C"):
            await import_skill(tea.libraries["prompt"], tmp_path / "good")


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85"])
def test_a_comment_beside_the_fields_holds_no_field(tmp_path: Path, end: str) -> None:
    (tmp_path / "good").mkdir()
    path = tmp_path / "good" / "SKILL.md"
    path.write_text(GOOD.replace("---\nBe", f"# a note{end}license: none\n---\nBe"), "utf-8")
    with pytest.raises(BadComponent, match=f"U\\+{ord(end):04X}"):
        read_folder(path.parent)


def test_what_is_hidden_is_left_out_and_fields_are_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "good" / ".git").mkdir(parents=True)
    (tmp_path / "good" / ".env").write_text("KEY=1")
    fields = "metadata:\n  version: 1.10\n  on: yes\nallowed-tools:\n  - Read\n  - Bash(git:*)\n"
    (tmp_path / "good" / "SKILL.md").write_text(GOOD.replace("---\nBe", f"{fields}---\nBe"))
    skill = read_folder(tmp_path / "good")
    assert (skill.files, skill.metadata) == ({}, {"version": "1.10", "on": "yes"})
    assert skill.allowed_tools == "Read Bash(git:*)"


async def test_the_odd_name_of_a_file_of_a_skill_is_quoted_in_its_refusal(tmp_path: Path) -> None:
    odd = Skill(name="odd", description="Odd.", body="Look.", files={"All is well: run `it`. On": "a\u202eb"})
    (place,) = write_skills(tmp_path / "skills", [odd])
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        with pytest.raises(BadComponent, match=r'^"All is well: run `it`\. On" line 1: column 2 holds') as caught:
            await import_skill(tea.libraries["prompt"], place)
        assert "well" not in caught.value.fix


async def test_an_imported_skill_is_a_version_that_nobody_trusts_or_executes(tmp_path: Path) -> None:
    (place,) = write_skills(tmp_path / "skills", [SKILL])
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        prompts = tea.libraries["prompt"]
        found = await import_skill(prompts, place)
        assert str(found.ref) == "prompt:pdf_forms@1.0.0"
        assert (found.lineage.how, found.metadata["origin_name"]) == ("imported", "pdf-forms")
        assert (texts_of(found), assets_of(found)) == (SKILL.files, SKILL.assets)
        assert not tea.trust(found.digest)
        assert (await import_skill(prompts, place)).version == "1.0.0"
        write_skills(tmp_path / "skills", [Skill(name="pdf-forms", description="Fill forms.", body="Look first.")])
        again = await import_skill(prompts, place)
        assert (again.lineage.how, again.lineage.parent) == ("imported", "1.0.0")
        assert [one.version for one in await prompts.history("pdf_forms")] == ["1.0.0", again.version]
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        back = await tea.libraries["prompt"].info("pdf_forms@1.0.0")
        (given_back,) = write_skills(tmp_path / "back", [skill_of(back)])
        assert read_folder(given_back) == SKILL


def test_skills_of_one_name_are_all_written(tmp_path: Path) -> None:
    longest = Skill(name="a" * 64, description="Long.", body="Long.")
    places = write_skills(tmp_path, [SKILL, longest, SKILL, longest, SKILL])
    assert [place.name for place in places] == [
        SKILL.name,
        "a" * 64,
        f"{SKILL.name}-2",
        "a" * 62 + "-2",
        f"{SKILL.name}-3",
    ]
    assert [read_folder(place).body for place in places] == [SKILL.body, "Long.", SKILL.body, "Long.", SKILL.body]


async def test_an_import_takes_nobody_elses_name(tmp_path: Path) -> None:
    (place,) = write_skills(tmp_path, [Skill(name="planner", description="Plan.", body="Obey me.")])
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        prompts = tea.libraries["prompt"]
        with pytest.raises(AlreadyRegistered, match="prompt:planner"):
            await import_skill(prompts, place)
        assert not (tmp_path / "home").exists()
        assert (await import_skill(prompts, place, name="other_planner")).name == "other_planner"
        with pytest.raises(BadRef, match="name"):
            await import_skill(prompts, place, name="Not A Name")


def test_a_written_skill_is_not_for_others_to_write_whatever_the_umask(tmp_path: Path) -> None:
    skill = Skill(name="a", description="b", body="c", files={"scripts/deep/run.py": "d"})
    before = os.umask(0)
    try:
        write_skills(tmp_path / "skills", [skill])
    finally:
        os.umask(before)
    made = [tmp_path / "skills", *(tmp_path / "skills").rglob("*")]
    assert {(one.name, oct(one.stat().st_mode & 0o777)) for one in made} == {
        ("skills", "0o755"),
        ("a", "0o755"),
        ("scripts", "0o755"),
        ("deep", "0o755"),
        ("SKILL.md", "0o644"),
        ("run.py", "0o644"),
    }
