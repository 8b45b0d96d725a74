"""Test questions to a person: the open ones, and the use of an answer."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from journals import rewrite, rewrite_in_place

from tea.errors import ApprovalNeeded, BadInput, Damaged
from tea.journal.inbox import Question
from tea.journal.tracer import Trace, Tracer
from tea.platform import Platform
from tea.refs import Kind
from tea.runs.policy import CallRequest, Decision
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

QUOTE = '''
from tea import Context, tool


@tool(effects="reads", idempotent=True, network=False)
async def book(ctx: Context) -> str:
    """Ask whether the price of the moment is right."""
    prices = ctx.path("price.txt")
    price = prices.read_text() if prices.exists() else "5"
    return f"{price}: {await ctx.person(f'Pay {price}?', ['yes', 'no'])}, {await ctx.person('Really?')}"
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
    """A policy asking for consent to every booking."""

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


async def booking(tea: Platform) -> str:
    """Have both questions of an unrepeatable booking answered; return the ended run."""
    await tea.tcp.register(BOOK.replace("EFFECTS", WRITES[0]).replace("IDEMPOTENT", WRITES[1]))
    await tea.acp.register(TRAVELLER)
    second = await answered(tea, await waits(tea), "Bern")
    return (await tea.resume("last", answers={second.key: "Oslo"})).run


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


async def test_an_answer_is_to_what_was_asked_and_to_nothing_that_takes_its_place() -> None:
    async with platform() as tea:
        await tea.tcp.register(QUOTE)
        await tea.acp.register(TRAVELLER)
        cheap = await waits(tea)
        prices = tea.home / "traces" / cheap.run / "workspace" / "price.txt"
        prices.write_text("5000")
        dear = await answered(tea, cheap, "yes")
        assert (cheap.key, cheap.question, dear.question) == (dear.key, "Pay 5?", "Pay 5000?")
        really = await answered(tea, dear, "yes")
        prices.write_text("6000")  # what was answered already is asked anew, too
        dearer = await answered(tea, really, "yes")
        assert (dearer.key, dearer.question) == (dear.key, "Pay 6000?")
        with pytest.raises(ApprovalNeeded, match="Pay 6000"):
            await tea.resume("last")
        assert (await answered(tea, dearer, "no")) == really  # it was asked anew before its answer was taken
        outcome = await tea.resume("last", answers={really.key: "yes"})
        assert outcome.answer == "6000: no, yes"
        assert (await tea.replay(outcome.run)).ok


async def test_who_takes_a_run_up_after_somebody_else_finished_it_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, state = tmp_path / "home", tmp_path / "state"
    async with Platform(home, state=state) as tea:
        await tea.acp.register(HASTY)
        question = await waits(tea, "hasty")

        async def elsewhere() -> None:
            async with Platform(home, state=state) as other:
                assert (await other.resume("last", answers={question.key: "Ada"})).answer == "Ada"

        def reopening(tracer: Tracer, run: str) -> Trace:
            monkeypatch.undo()
            asyncio.run(elsewhere())  # in the thread that would take the run up
            return tracer.reopen(run)

        monkeypatch.setattr(Tracer, "reopen", reopening)
        with pytest.raises(BadInput, match="has ended"):
            await tea.resume("last", answers={question.key: "Bob"})
        assert (await tea.replay("last")).answer == "Ada"


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
        other = crashed(tea, await booking(tea), "answer")
        assert await open_questions(tea, other) == []
        with pytest.raises(ApprovalNeeded, match="may have happened already"):
            await tea.resume(other)
        (unsure,) = (await tea.inbox(other)).questions
        again = await tea.resume(other, answers={unsure.key: "allow"})
        assert (again.answer, booked(tea, other)) == ("booked", "Bern Oslo;")


async def test_a_call_that_began_again_and_asked_nothing_may_have_happened() -> None:
    async with platform() as tea:
        other = crashed(tea, await booking(tea), "intent")
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
    """Cut a run behind the last record of a kind, as a crash could have left it, without its files; return its id."""

    def cut(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return kept[: max(place for place, one in enumerate(kept) if one["kind"] == kind) + 1]

    rewrite_in_place(tea.home, run, cut)
    workspace = tea.home / "traces" / run / "workspace"
    shutil.rmtree(workspace)
    workspace.mkdir()
    return run


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


TWO = '''
from tea import Agent, Context, Result, Task


class Two(Agent):
    """Ask two persons."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell both."""
        async with ctx.group() as group:
            first, second = group.spawn(ctx.person("One?")), group.spawn(ctx.person("Two?"))
        return Result(answer=[first.result(), second.result()])
'''


async def test_the_same_answer_given_again_after_a_kill_counts_once_and_another_is_refused() -> None:
    async with platform() as tea:
        await tea.acp.register(TWO)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="two")
        (one, _), (two, _) = await open_questions(tea)
        with pytest.raises(ApprovalNeeded):
            await tea.resume("last", answers={one: "Ada"})
        killed = crashed(tea, tea.tracer.find("last"), "answer")
        with pytest.raises(BadInput, match="answered already, with 'Ada'"):
            await tea.resume(killed, answers={one: "Bob"})
        with pytest.raises(ApprovalNeeded, match="Two"):
            await tea.resume(killed, answers={one: "Ada"})
        outcome = await tea.resume(killed, answers={one: "Ada", two: "Eve"})
        assert outcome.answer == ["Ada", "Eve"]
        assert (await tea.replay(killed)).answer == outcome.answer


async def test_an_answer_given_again_is_none_to_a_doubt_that_came_since(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", policy=AskAboutBookings(), state=tmp_path / "state") as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(TRAVELLER)
        question = await waits(tea, "traveller")
        await tea.resume("last", answers={question.key: "allow"})
        killed = crashed(tea, tea.tracer.find("last"), "intent")
        with pytest.raises(ApprovalNeeded, match="may have happened already"):
            await tea.resume(killed, answers={question.key: "allow"})
        assert booked(tea, killed) == ""


@pytest.mark.parametrize("answer", ["\ud800", 5, None, ["Ada"], True])
async def test_what_is_no_text_is_refused_as_an_answer_and_the_run_still_waits(answer: Any) -> None:
    async with platform() as tea:
        await tea.acp.register(HASTY)
        question = await waits(tea, "hasty")
        with pytest.raises(BadInput, match="is not text"):
            await tea.resume("last", answers={question.key: answer})
        assert (await tea.inbox()).questions == (question,)
        assert (await tea.resume("last", answers={question.key: "Ada"})).answer == "Ada"


async def test_a_person_who_gives_no_text_has_not_answered(tmp_path: Path) -> None:
    async def person(question: str, choices: Sequence[str]) -> str:
        return "\ud800"

    async with Platform(tmp_path / "home", state=tmp_path / "state", person=person) as tea:
        await tea.acp.register(HASTY)
        with pytest.raises(ApprovalNeeded, match="is not text: agent:hasty asks: Who"):
            await tea.run("Go.", agent="hasty")
        assert [question for _, question in await open_questions(tea)] == ["Who?"]


ODD: list[tuple[str, Any]] = [
    ("asked", None), ("asked", {"question": "a", "choices": 7}), ("waiting", {"open": 5}), ("answer", {}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data"), ODD)
async def test_records_that_no_run_writes_are_damage_and_hide_no_other_question(kind: str, data: Any) -> None:
    async with platform() as tea:
        await tea.acp.register(HASTY)
        question = await waits(tea, "hasty")

        def bent(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
            place = max(at for at, one in enumerate(kept) if one["kind"] == "asked")
            return [*kept[:place], *({**one, "kind": kind, "data": data} for one in (kept[place], kept[place]))]

        other = rewrite(tea.home, question.run, bent)
        (tea.home / "traces" / other / "workspace").mkdir()
        found = await tea.inbox()
        assert found.questions == (question,)
        assert [problem.partition(" holds")[0] for problem in found.problems] == [f"The journal of the run {other}"]
        with pytest.raises(Damaged, match="what no run writes"):
            await tea.inbox(other)
        with pytest.raises((Damaged, ApprovalNeeded)):  # going on, it asks anew
            await tea.resume(other)


async def test_an_inbox_looks_at_the_journals_of_runs_that_did_not_end_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with platform() as tea:
        await tea.acp.register(HASTY)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="hasty")
        ((key, _),) = await open_questions(tea)
        ended = await tea.resume("last", answers={key: "Ada"})
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="hasty")
        newest, read = tea.tracer.find("last"), list[str]()
        whole = FileJournals.read

        def reading(store: FileJournals, run: str, *options: Any) -> Any:
            read.append(run)
            return whole(store, run, *options)

        monkeypatch.setattr(FileJournals, "read", reading)
        assert [question for _, question in await open_questions(tea)] == ["Who?"]
        assert read == [newest] != [ended.run]


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
            with pytest.raises(BadInput, match="not a name of a session") as refused:
                await attempt
            said.add((refused.value.problem, refused.value.fix))
        assert len(said) == 1
        assert tea.tracer.runs() == []
