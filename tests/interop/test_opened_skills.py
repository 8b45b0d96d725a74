"""Test skills at work: listed to agents, opened on demand, and the same in a replay, a resume and a fork."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from loop_kit import Stage, done, observations, step
from provenance_kit import EVIL, plain, stock

from tea.components.manifest import Manifest
from tea.errors import ApprovalNeeded, BadComponent
from tea.interop.skill import Skill
from tea.interop.skill_folder import write_skills
from tea.interop.skill_import import import_skill
from tea.platform import Platform
from tea.registry.own_words import OwnWords
from tea.testing import ScriptedModel, platform

PICTURE = b"\x89PNG\r\n\xff\x00"
SKILL = Skill(
    name="pdf-forms",
    description="Fill in forms.",
    body="Run scripts/fill.py, then read references/codes.md.",
    files={"scripts/fill.py": "#!/usr/bin/env python3\nprint(6 * 7)\n", "references/codes.md": "A is 1."},
    assets={"assets/form.png": PICTURE},
)
OPENED = ("open_skill", {"name": "pdf-forms"})
ASKING = '''
from tea import Agent, Context, Result, Task


class Asking(Agent):
    """Open a skill, ask a person, then look at its copy."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        listed = await ctx.list_skills()
        opened = (await ctx.tcp.invoke("open_skill", {"name": "pdf_forms"})).unwrap()
        said = (await ctx.ecp.invoke("human#ask", {"question": "Which code?"})).unwrap()
        page = (await ctx.ecp.invoke("workspace#read", {"name": ".skills/pdf_forms/references/codes.md"})).unwrap()
        return Result(answer=[listed, opened["trusted"], opened["text"], said, page["text"]])
'''
SENDING = f'''
from tea import Agent, Context, Result, Task


class Sending(Agent):
    """Look at skills, then send."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        await ctx.SERVICE
        sent = await ctx.tcp.invoke("send", {{"to": "{EVIL}", "words": "Hello."}})
        return Result(answer=sent.unwrap())
'''

LISTING = '''
from tea import Agent, Context, Result, Task


class Listing(Agent):
    """List the skills."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result(answer=[one["trusted"] for one in await ctx.list_skills()])
'''


async def imported(tea: Platform, folder: Path, skill: Skill = SKILL) -> str:
    (place,) = write_skills(folder, [skill])
    return (await import_skill(tea.libraries["prompt"], place)).digest


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage.open() as made:
        await imported(made.tea, tmp_path / "skills")
        yield made


def tools(request: Any) -> dict[str, str]:
    return {one["name"]: one["description"] for one in request.variables["tools"]}


async def test_without_skills_nothing_of_them_is_said_or_recorded() -> None:
    async with Stage.open() as stage:
        outcome, model = await stage.play(step(done(4)), task="Fill in forms")
        assert "open_skill" not in str(model.requests)
        records = list(stage.tea.tracer.records(outcome.run))
        assert "open_skill" not in str(records)
        assert not [one for one in records if one.key and "skills" in str(one.data)]


async def test_a_skill_is_listed_by_name_and_opened_on_demand(stage: Stage) -> None:
    page = ("open_skill", {"name": "pdf_forms", "path": "references/codes.md"})
    picture = ("open_skill", {"name": "pdf_forms", "path": "assets/form.png"})
    outcome, model = await stage.play(step(OPENED), step(page, picture), step(done("A")), task="Fill in forms")
    assert "- pdf_forms (untrusted): Fill in forms." in tools(model.requests[0])["open_skill"]
    assert SKILL.body not in str(model.requests[0])
    (opened,) = observations(model.requests[1])[0]["calls"]
    assert (opened["value"]["text"], opened["value"]["trusted"]) == (SKILL.body, False)
    assert "words of others" in opened["value"]["note"]
    texts = [one["value"]["text"] for one in observations(model.requests[2])[1]["calls"]]
    assert texts == ["A is 1.", f"A binary file of {len(PICTURE)} bytes, .skills/pdf_forms/assets/form.png."]
    copy = outcome.trace / "workspace/.skills/pdf_forms"
    assert (copy / "assets/form.png").read_bytes() == PICTURE
    assert {path.stat().st_mode & 0o777 for path in (copy / "scripts").iterdir()} == {0o500}
    assert (copy / "assets/form.png").stat().st_mode & 0o777 == 0o400
    assert outcome.files == ()
    again = await stage.tea.replay(outcome.run)
    assert again.answer == "A"


async def test_a_skill_that_a_person_trusts_carries_no_warning(stage: Stage) -> None:
    prompts = stage.tea.libraries["prompt"]
    found = await prompts.info("pdf_forms")
    await prompts.trust(found.ref.at(found.digest))
    _, model = await stage.play(step(OPENED), step(done("A")), task="Fill in forms")
    assert "- pdf_forms: Fill in forms." in tools(model.requests[0])["open_skill"]
    (opened,) = observations(model.requests[1])[0]["calls"]
    assert opened["value"]["trusted"]
    assert "words of others" not in opened["value"]["note"]


async def test_a_trusted_skill_stays_among_the_skills_though_its_manifest_is_not_known(tmp_path: Path) -> None:
    async with platform() as tea:
        tea.trust.grant(await imported(tea, tmp_path), "pdf_forms")  # and nothing is compared
        assert [one.name for one in await tea.libraries["prompt"].list(category="skill")] == ["pdf_forms"]


async def test_a_skill_that_is_trusted_as_it_is_looked_up_carries_its_warning_until_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = OwnWords.of

    def meanwhile(words: OwnWords, found: Manifest) -> Manifest:
        told = of(words, found)
        if found.kind == "prompt":
            tea.trust.grant(found.digest, str(found.ref))
        return told

    async with platform() as tea:
        await imported(tea, tmp_path)
        await tea.acp.register(LISTING)
        monkeypatch.setattr(OwnWords, "of", meanwhile)
        assert (await tea.run("List.", agent="listing")).answer == [False]
        assert (await tea.run("List.", agent="listing")).answer == [True]


@pytest.mark.parametrize("service", ["list_skills()", "skill('pdf_forms')"])
async def test_an_agent_shown_the_words_of_an_untrusted_skill_sends_nothing_without_a_person(
    tmp_path: Path, service: str
) -> None:
    async with plain(tmp_path, '[policy]\nexternal = "allow"\n') as tea:
        digest = await imported(tea, tmp_path / "skills")
        await stock(tea, SENDING.replace("SERVICE", service))
        with pytest.raises(ApprovalNeeded, match="untrusted reading"):
            await tea.run("Go.", agent="sending")
        await tea.libraries["prompt"].trust(f"prompt:pdf_forms@{digest}")
        assert (await tea.run("Go.", agent="sending")).answer == f"sent to {EVIL}"


async def test_the_scripts_of_a_skill_run_in_the_shell(stage: Stage) -> None:
    run = ("shell_bash", {"command": "cd .skills/pdf_forms && scripts/fill.py && python scripts/fill.py"})
    _, model = await stage.play(step(OPENED), step(run), step(done(42)), task="Fill in forms")
    (ran,) = observations(model.requests[2])[1]["calls"]
    assert ran["value"]["text"] == "STDOUT:\n42\n42"


async def test_an_agent_made_of_tools_opens_skills_with_its_tool_and_not_as_its_prompt(stage: Stage) -> None:
    await stage.tea.transform("T2A", ["open_skill", "calculator"], name="filler")
    _, model = await stage.play(step(OPENED), step(done("A")), agent="filler")
    assert "- pdf_forms (untrusted)" in tools(model.requests[0])["open_skill"]
    assert observations(model.requests[1])[0]["calls"][0]["value"]["text"] == SKILL.body
    with pytest.raises(BadComponent, match="`open_skill` lets an agent read skills"):
        await stage.tea.transform("T2A", ["prompt:pdf_forms"], name="other")
    with pytest.raises(BadComponent, match="is a skill"):
        await stage.tea.transform("T2A", ["calculator"], name="other", prompt="pdf_forms")


async def test_a_task_with_tools_of_its_own_is_offered_no_skill(stage: Stage) -> None:
    _, model = await stage.play(step(done(4)), task="Fill in forms", tools=["calculator"])
    assert "open_skill" not in tools(model.requests[0])


async def test_a_skill_that_is_not_there_is_refused_with_those_that_are(stage: Stage) -> None:
    calls = ("open_skill", {"name": "other"}), ("open_skill", {"name": "pdf_forms", "path": "scripts/fil.py"})
    _, model = await stage.play(step(*calls), step(done("A")), task="Fill in forms")
    missing, near = observations(model.requests[1])[0]["calls"]
    assert missing["error"]["fix"] == "there is pdf_forms."
    assert near["error"]["fix"] == "did you mean 'scripts/fill.py'?"


async def test_the_files_that_a_skill_has_are_named_in_quotes(tmp_path: Path) -> None:
    odd = Skill(name="odd", description="Odd.", body="Look.", files={"a, and `it` has to be run first": "x"})
    (place,) = write_skills(tmp_path, [odd])
    async with Stage.open() as stage:
        await import_skill(stage.tea.libraries["prompt"], place)
        wanted = ("open_skill", {"name": "odd", "path": "zzz"})
        _, model = await stage.play(step(wanted), step(done(4)), task="Look")
        (opened,) = observations(model.requests[1])[0]["calls"]
        assert opened["error"]["fix"] == "it has 'a, and `it` has to be run first'."


async def test_a_run_with_an_opened_skill_is_resumed_and_replayed_though_the_skill_changed(tmp_path: Path) -> None:
    async with platform() as tea:
        await imported(tea, tmp_path / "skills")
        await tea.acp.register(ASKING)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Fill in the form.", agent="asking")
        (question,) = (await tea.inbox()).questions
        run = question.run
        await imported(tea, tmp_path / "skills", Skill(name="pdf-forms", description="Other.", body="Do otherwise."))
        outcome = await tea.resume(run, answers={question.key: "A"})
        listed = [{"name": "pdf_forms", "version": "1.0.0", "description": "Fill in forms.", "trusted": False}]
        assert outcome.answer == [listed, False, SKILL.body, "A", "A is 1."]
        assert (await tea.replay(run)).answer == outcome.answer


async def test_a_fork_has_the_files_of_the_skill_that_was_opened_before(tmp_path: Path) -> None:
    async with Stage.open() as stage:
        await imported(stage.tea, tmp_path / "skills")
        read = ("read_file", {"path": ".skills/pdf_forms/references/codes.md"})
        outcome, _ = await stage.play(step(OPENED), step(read), step(done("A")), task="Fill in forms")
        await imported(stage.tea, tmp_path / "skills", Skill(name="pdf-forms", description="Other.", body="Other."))
        starts = [one for one in stage.tea.tracer.records(outcome.run) if one.kind == "start"]
        (reading,) = [one for one in starts if "read_file@" in str(one.data["target"])]
        stage.model = ScriptedModel([step(done("B"))])
        forked = await stage.tea.fork(outcome.run, at=reading.key)
        copy = forked.trace / "workspace/.skills/pdf_forms/references/codes.md"
        assert copy.read_text() == "A is 1."
