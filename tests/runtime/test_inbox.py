"""Questions to a person: what of them is open, and what an answer is good for."""

from pathlib import Path
from typing import Any

import pytest
from journals import rewrite

from tea.errors import ApprovalNeeded, BadInput
from tea.refs import Kind
from tea.runtime.inbox import Question
from tea.runtime.platform import Platform
from tea.runtime.policy import CallRequest, Decision
from tea.store.journal import FileJournals
from tea.testing import platform

BOOK = '''
from tea import Context, tool


@tool(effects="EFFECTS", idempotent=IDEMPOTENT, network=False)
async def book(ctx: Context) -> str:
    """Ask two things, then book."""
    answers = [await ctx.person("From?"), await ctx.person("To?", ["Rome", "Oslo"])]
    with ctx.path("booked.txt").open("a") as file:
        file.write(" ".join(answers) + ";")
    return "booked"
'''

TRAVELLER = '''
from tea import Agent, Context, Result, Task


class Traveller(Agent):
    """Have something booked."""

    tools = ("book",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Book, and tell."""
        return Result(answer=(await ctx.tcp.invoke("book", {})).unwrap())
'''

SEND = '''
from tea import Context, tool


@tool(effects="irreversible", idempotent=False, network=False)
async def book(ctx: Context) -> str:
    """Book."""
    with ctx.path("booked.txt").open("a") as file:
        file.write("booked;")
    return "booked"
'''

BOTH = '''
from tea import Agent, Context, Result, Task


class Both(Agent):
    """Ask, and book meanwhile."""

    tools = ("book",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Do both."""
        async with ctx.group() as group:
            who = group.spawn(ctx.person("Who?"))
            group.spawn(ctx.tcp.invoke("book", {}))
        return Result(answer=who.result())
'''

HASTY = '''
from tea import Agent, Context, Result, Task


class Hasty(Agent):
    """Ask, and do not wait for long."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask two things, the first of them in a race that it loses."""
        await ctx.race(ctx.person("Anybody?"), ctx.random())
        return Result(answer=await ctx.person("Who?"))
'''

WRITES = ("external", "False")


class AskAboutBookings:
    """A policy that wants consent to every booking."""

    async def decide(self, request: CallRequest) -> Decision:
        return "ask" if "book" in request.ref else "allow"


async def open_questions(tea: Platform, run: str | None = None) -> list[tuple[str, str]]:
    return [(one.key, one.question) for one in (await tea.inbox(run)).questions]


async def waits(tea: Platform, agent: str = "traveller") -> Question:
    """Run an agent until it waits, and return its only question."""
    with pytest.raises(ApprovalNeeded):
        await tea.run("Go.", agent=agent)
    (question,) = (await tea.inbox("last")).questions
    return question


async def answered(tea: Platform, question: Question, answer: str) -> Question:
    """Answer a question, and return the next one."""
    with pytest.raises(ApprovalNeeded):
        await tea.resume("last", answers={question.key: answer})
    (found,) = (await tea.inbox("last")).questions
    return found


def booked(tea: Platform, run: str) -> str:
    path = tea.home / "traces" / run / "workspace" / "booked.txt"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize(("effects", "idempotent"), [("reads", "True"), ("writes", "True"), WRITES])
async def test_a_call_gets_all_its_answers_and_none_of_them_is_its_result(effects: str, idempotent: str) -> None:
    async with platform() as tea:
        await tea.tcp.register(BOOK.replace("EFFECTS", effects).replace("IDEMPOTENT", idempotent))
        await tea.acp.register(TRAVELLER)
        first = await waits(tea)
        second = await answered(tea, first, "Bern")
        assert (first.question, second.question, second.choices) == ("From?", "To?", ("Rome", "Oslo"))
        assert (await answered(tea, second, "Mars")) == second
        outcome = await tea.resume("last", answers={second.key: "Oslo"})
        assert (outcome.answer, booked(tea, outcome.run)) == ("booked", "Bern Oslo;")
        assert (await tea.inbox()).questions == ()
        assert (await tea.replay(outcome.run)).ok


async def test_consent_is_asked_once_and_answers_nothing_else(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", policy=AskAboutBookings(), state=tmp_path / "state") as tea:
        await tea.tcp.register(BOOK.replace("EFFECTS", WRITES[0]).replace("IDEMPOTENT", WRITES[1]))
        await tea.acp.register(TRAVELLER)
        consent = await waits(tea)
        assert (consent.call, consent.choices, consent.arguments) == ("tool:book@1.0.0#call", ("allow", "deny"), {})
        first = await answered(tea, consent, "allow")
        second = await answered(tea, first, "Bern")
        assert (first.question, second.question) == ("From?", "To?")
        outcome = await tea.resume("last", answers={second.key: "Rome"})
        assert (outcome.answer, booked(tea, outcome.run)) == ("booked", "Bern Rome;")


async def test_a_call_that_a_crash_ended_after_its_answers_may_have_happened() -> None:
    async with platform() as tea:
        await tea.tcp.register(BOOK.replace("EFFECTS", WRITES[0]).replace("IDEMPOTENT", WRITES[1]))
        await tea.acp.register(TRAVELLER)
        second = await answered(tea, await waits(tea), "Bern")
        outcome = await tea.resume("last", answers={second.key: "Oslo"})
        other = crashed(tea, outcome.run, "answer")
        assert await open_questions(tea, other) == []
        with pytest.raises(ApprovalNeeded, match="may have happened already"):
            await tea.resume(other)
        (unsure,) = (await tea.inbox(other)).questions
        again = await tea.resume(other, answers={unsure.key: "allow"})
        assert (again.answer, booked(tea, other)) == ("booked", "Bern Oslo;")


async def test_a_call_that_began_again_and_asked_nothing_may_have_happened() -> None:
    async with platform() as tea:
        await tea.tcp.register(BOOK.replace("EFFECTS", WRITES[0]).replace("IDEMPOTENT", WRITES[1]))
        await tea.acp.register(TRAVELLER)
        second = await answered(tea, await waits(tea), "Bern")
        outcome = await tea.resume("last", answers={second.key: "Oslo"})
        other = crashed(tea, outcome.run, "intent")
        with pytest.raises(ApprovalNeeded, match="may have happened already"):
            await tea.resume(other, answers={})


async def test_consent_is_asked_anew_once_a_crash_left_what_it_was_for_uncertain(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", policy=AskAboutBookings(), state=tmp_path / "state") as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(TRAVELLER)
        consent = await waits(tea)
        outcome = await tea.resume("last", answers={consent.key: "allow"})
        other = crashed(tea, outcome.run, "intent")
        with pytest.raises(ApprovalNeeded, match="may have happened already"):
            await tea.resume(other)
        assert booked(tea, other) == ""


async def test_a_question_elsewhere_makes_no_call_certain() -> None:
    async with platform() as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(BOTH)
        with pytest.raises(ApprovalNeeded, match="Who"):
            await tea.run("Go.", agent="both")
        other = crashed(tea, tea.tracer.find("last"), "intent")
        assert [question for _, question in await open_questions(tea, other)] == ["Who?"]
        with pytest.raises(ApprovalNeeded):
            await tea.resume(other)
        assert [question for _, question in await open_questions(tea, other)][1].endswith("may have happened already.")
        assert booked(tea, other) == ""


def crashed(tea: Platform, run: str, kind: str) -> str:
    """Copy a run up to the last record of a kind, as a crash could have left it; return the copy's id."""

    def cut(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return kept[: max(place for place, one in enumerate(kept) if one["kind"] == kind) + 1]

    other = rewrite(tea.home, run, cut)
    (tea.home / "traces" / other / "workspace").mkdir()
    return other


async def test_a_question_that_nobody_waits_for_any_more_is_not_open() -> None:
    async with platform() as tea:
        await tea.acp.register(HASTY)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="hasty")
        asked = [one for one in tea.tracer.records(tea.tracer.find("last")) if one.kind == "asked"]
        ((key, question),) = await open_questions(tea)
        assert (question, len(asked)) == ("Who?", 2)
        with pytest.raises(BadInput, match="No call of the run") as refused:
            await tea.resume("last", answers={asked[0].key: "me"})
        assert refused.value.fix == f"answer {key}."
        assert (await tea.resume("last", answers={key: "Ada"})).answer == "Ada"


async def test_an_inbox_looks_at_the_journals_of_runs_that_did_not_end_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with platform() as tea:
        await tea.acp.register(HASTY)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="hasty")
        ((key, _),) = await open_questions(tea)
        ended = await tea.resume("last", answers={key: "Ada"})
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="hasty")
        read: list[str] = []
        whole = FileJournals.read

        def reading(store: FileJournals, run: str, *options: Any) -> Any:
            read.append(run)
            return whole(store, run, *options)

        monkeypatch.setattr(FileJournals, "read", reading)
        assert [question for _, question in await open_questions(tea)] == ["Who?"]
        assert read == [tea.tracer.find("last")] != [ended.run]


@pytest.mark.parametrize("session", ["", "../up", "a b", "-x", "x" * 129, "umläut", "a\n"])
@pytest.mark.parametrize("kind", ["tool", "environment", "agent"])
async def test_no_call_and_no_look_takes_a_session_that_no_run_could_have(kind: Kind, session: str) -> None:
    async with platform() as tea:
        said: set[tuple[str, str]] = set()
        with pytest.raises(BadInput) as refused:
            await tea.run("Go.", session=session)
        said.add((refused.value.problem, refused.value.fix))
        server = {"tool": tea.tcp, "environment": tea.ecp, "agent": tea.acp}[kind]
        for attempt in (server.invoke("any", session=session), tea.kept("planner", session)):
            with pytest.raises(BadInput, match="no name of a session") as refused:
                await attempt
            said.add((refused.value.problem, refused.value.fix))
        assert len(said) == 1
        assert tea.tracer.runs() == []
