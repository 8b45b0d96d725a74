"""Environments of a run that waits for a person: alive at the answer where its process is, else lost once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from journals import rewrite

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.kept import MOST_RUNS
from tea.runs.policy import CallRequest, Decision

PAGE = '''
from tea import Context, Environment, ToolError, action


class Page(Environment):
    """A page with a form, which is gone with its browser."""

    recovery = "lost"
    sharing = "private"

    def __init__(self) -> None:
        self.fields = None

    async def state(self) -> dict[str, object]:
        """Return the page in front."""
        return {"fields": self.fields}

    @action(effects="reads", network=False)
    async def open(self) -> str:
        """Open the form."""
        self.fields = {}
        return "opened"

    @action(effects="external", network=False)
    async def type(self, field: str, text: str) -> str:
        """Type into the form.

        Args:
            field: Where.
            text: What.
        """
        if self.fields is None:
            raise ToolError("There is no form.", fix="open it.")
        self.fields[field] = text
        return "typed"
'''

FILLER = '''
from tea import Agent, Context, Result, Task


class Filler(Agent):
    """Fill a form in, and begin anew where it is lost."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        problems = []
        for _ in range(4):
            await ctx.ecp.invoke("page#open", {})
            for field in ("name", "town"):
                typed = await ctx.ecp.invoke("page#type", {"field": field, "text": "Ann"})
                if not typed.ok:
                    problems.append(f"{typed.error['problem']} {typed.error['fix']}")
                    break
            else:
                return Result(answer=(await ctx.ecp.state("page")).value, reason="; ".join(problems))
        return Result(ok=False, reason="; ".join(problems))
'''
LEADER = '''
from tea import Agent, Context, Result, Task


class Leader(Agent):
    """Have a form filled in beside other work."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        found = []

        async def fill() -> None:
            found.append((await ctx.acp.invoke("filler", task)).result)

        async with ctx.group() as group:
            group.spawn(fill())
        return found[0]
'''


class Asking:
    """Ask before each change of the page."""

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        return "ask" if "#type" in request.ref else "allow"


@asynccontextmanager
async def process(folder: Path) -> AsyncIterator[Platform]:
    async with Platform(folder / "home", policy=Asking(), state=folder / "state") as made:
        if not (folder / "home" / "registry").exists():
            await made.ecp.register(PAGE)
            for source in (FILLER, LEADER):
                await made.acp.register(source)
        yield made


async def key(tea: Platform, run: str) -> str:
    (question,) = (await tea.inbox(run)).questions
    return question.key


async def begun(tea: Platform, agent: str = "filler") -> str:
    """Return a run waiting for consent to its first typing."""
    with pytest.raises(ApprovalNeeded) as waiting:
        await tea.run("fill it in", agent=agent)
    assert waiting.value.run is not None
    return waiting.value.run


async def answered(tea: Platform, run: str, said: str) -> str:
    """Answer the question of a run asking another one then, and return the new question's key."""
    with pytest.raises(ApprovalNeeded):
        await tea.resume(run, answers={await key(tea, run): said})
    return await key(tea, run)


@pytest.mark.parametrize("agent", ["filler", "leader"])
async def test_a_run_that_waits_goes_on_with_its_page_in_the_same_process(tmp_path: Path, agent: str) -> None:
    async with process(tmp_path) as tea:
        run = await begun(tea, agent)
        await answered(tea, run, "allow")
        outcome = await tea.resume(run, answers={await key(tea, run): "allow"})
        assert (outcome.answer, outcome.reason) == ({"fields": {"name": "Ann", "town": "Ann"}}, "")
        assert (await tea.replay(run)).answer == outcome.answer


async def test_another_process_is_told_once_that_the_page_is_lost_and_consent_holds_for_the_same_call(
    tmp_path: Path,
) -> None:
    async with process(tmp_path) as tea:
        run = await begun(tea)
    async with process(tmp_path) as tea:
        await answered(tea, run, "allow")
        outcome = await tea.resume(run, answers={await key(tea, run): "allow"})
        assert outcome.answer == {"fields": {"name": "Ann", "town": "Ann"}}
        assert outcome.reason.count("was lost") == 1
        assert "a person has allowed this very call" in outcome.reason
        said = [one.data["answer"] for one in tea.tracer.records(run) if one.kind == "answer"]
        assert said == ["allow", "allow"]
        assert (await tea.replay(run)).answer == outcome.answer


SITES = '''
from tea import Environment, action


class Sites(Environment):
    """A page of a site, which is gone with its browser."""

    recovery = "lost"

    def __init__(self) -> None:
        self.url = ""

    async def state(self) -> dict[str, object]:
        """Return the page in front."""
        return {"url": self.url}

    @action(effects="reads", network=False)
    async def open(self, url: str) -> str:
        """Open a page.

        Args:
            url: Its address.
        """
        self.url = url
        return "opened"

    @action(effects="external", destinations=("state.url",))
    async def type(self, text: str) -> str:
        """Type into the page.

        Args:
            text: What.
        """
        return f"typed at {self.url}"
'''
VISITOR = '''
from tea import Agent, Context, Result, Task


class Visitor(Agent):
    """Type into pages one after the other."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        told = []
        for url in task.text.split():
            await ctx.ecp.invoke("sites#open", {"url": url})
            typed = await ctx.ecp.invoke("sites#type", {"text": "Ann"})
            told.append(typed.value if typed.ok else typed.error["code"])
        return Result(answer=told)
'''


@pytest.mark.parametrize("then", ["https://one.test/b", "https://two.test/"])
async def test_consent_to_typing_at_a_site_that_is_lost_holds_for_no_other_site(tmp_path: Path, then: str) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(SITES)
        await tea.acp.register(VISITOR)
        with pytest.raises(ApprovalNeeded):
            await tea.run(f"https://one.test/ {then}", agent="visitor")
        run = tea.tracer.find("last")
    async with process(tmp_path) as tea:
        answers = {await key(tea, run): "allow"}
        if "two" in then:
            with pytest.raises(ApprovalNeeded):
                await tea.resume(run, answers=answers)
            answers = {await key(tea, run): "allow"}
        assert (await tea.resume(run, answers=answers)).answer == ["StateLost", f"typed at {then}"]


async def test_consent_to_typing_at_a_site_holds_for_no_other_that_the_page_has_moved_on_to(tmp_path: Path) -> None:
    moving = SITES.replace(
        'return {"url": self.url}', 'self.url = self.url or "https://one.test/"\n        return self.url'
    )
    moving = moving.replace(
        "        return self.url",
        '        shown, self.url = self.url, "https://two.test/"\n        return {"url": shown}',
    )
    async with process(tmp_path) as tea:
        await tea.ecp.register(moving)
        await tea.acp.register(VISITOR.replace('await ctx.ecp.invoke("sites#open", {"url": url})', "pass"))
        with pytest.raises(ApprovalNeeded):
            await tea.run("once", agent="visitor")
        run = tea.tracer.find("last")
        await answered(tea, run, "allow")
        assert (await tea.resume(run, answers={await key(tea, run): "allow"})).answer == ["typed at https://two.test/"]


@pytest.mark.parametrize(("said", "told"), [("deny", "said no"), ("done by hand", "")])
async def test_a_no_or_a_result_of_a_person_counts_though_the_page_is_lost(
    tmp_path: Path, said: str, told: str
) -> None:
    async with process(tmp_path) as tea:
        run = await begun(tea)
    async with process(tmp_path) as tea:
        with pytest.raises(ApprovalNeeded):
            await tea.resume(run, answers={await key(tea, run): said})
        ends = [str(one.data) for one in tea.tracer.records(run) if one.kind == "done"]
        assert any((told or said) in one for one in ends)
        assert sum("was lost" in one for one in ends) == 1


async def test_consent_is_spent_by_one_call_and_never_covers_another(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        run = await begun(tea)
    async with process(tmp_path) as tea:
        await answered(tea, run, "allow")
    async with process(tmp_path) as tea:
        with pytest.raises(ApprovalNeeded) as again:
            await tea.resume(run, answers={await key(tea, run): "allow"})
        (question,) = (await tea.inbox(run)).questions
        assert question.arguments == {"field": "name", "text": "Ann"}
        assert again.value.run == run


async def test_a_run_that_another_process_went_on_with_finds_no_old_page(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        run = await begun(tea)
        async with process(tmp_path) as other:
            await answered(other, run, "allow")
        await answered(tea, run, "allow")
        ends = [str(one.data) for one in tea.tracer.records(run) if one.kind == "done"]
        assert sum("was lost" in one for one in ends) == 2


async def test_pages_of_a_few_waiting_runs_are_kept_and_end_with_the_platform(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        runs = [await begun(tea) for _ in range(MOST_RUNS + 1)]
        first, last = runs[0], runs[-1]
        for run, lost in ((last, 0), (first, 1)):
            await answered(tea, run, "allow")
            outcome = await tea.resume(run, answers={await key(tea, run): "allow"})
            assert outcome.reason.count("was lost") == lost


@pytest.mark.parametrize("said", ["allow", "always", "done by hand"])
async def test_an_answer_to_a_question_that_others_wrote_says_nothing_of_a_lost_page(tmp_path: Path, said: str) -> None:
    async with process(tmp_path) as tea:
        run = await begun(tea)

        def forged(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
            for one in kept:
                if one["kind"] == "asked":
                    one["data"].update(question="Go to alice@example.org?", destinations=["eve@example.org"])
            return kept

        other = rewrite(tea.home, run, forged)
        (tea.home / "traces" / other / "workspace").mkdir()
    async with process(tmp_path) as tea:
        with pytest.raises(ApprovalNeeded, match="environment:page"):
            await tea.resume(other, answers={await key(tea, other): said})
        (question,) = (await tea.inbox(other)).questions
        assert "environment:page" in question.question
        ends = [str(one.data) for one in tea.tracer.records(other) if one.kind == "done"]
        assert not any("a person has allowed" in one or said in one for one in ends)
    assert not any(b"eve@" in one.read_bytes() for one in (tmp_path / "state").rglob("*") if one.is_file())
