"""Conversations from Python: turns, their events, history, handoffs and forks."""

from pathlib import Path
from typing import Any

import pytest

from tea.chat.chat import Chat
from tea.chat.transcript import Turn
from tea.errors import ApprovalNeeded, BadInput, BadRef, BadTask, Damaged, UnknownComponent
from tea.memory.manager import Scope
from tea.platform import Platform
from tea.testing import ScriptedModel, TestModel, platform
from tea.types import ModelRequest, TextPart

pytestmark = pytest.mark.asyncio


def shown(request: ModelRequest) -> str:
    """All words of a question."""
    parts = [part for message in request.messages for part in message.content]
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def decided(next: str, agent: str = "", task: str = "", answer: str = "") -> dict[str, str]:
    return {"next": next, "agent": agent, "task": task, "answer": answer}


DONE: dict[str, Any] = {**dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), "")}


def done(answer: Any) -> dict[str, Any]:
    return {**DONE, "calls": [{"name": "done", "arguments": {"answer": answer}}]}


ASK = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Ask the person."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask, and tell the answer."""
        return Result(answer=await ctx.person("Which?"))
'''


async def test_a_turn_takes_no_files_from_a_folder_that_the_one_before_links_to(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "diary").write_text("words")
    async with platform(model=ScriptedModel([done("one"), done("two")])) as tea:
        chat = tea.chat()
        folder = tea.home / "traces" / (await chat.send("Begin.")).run / "workspace"
        folder.rmdir()
        folder.symlink_to(tmp_path / "own")
        with pytest.raises(Damaged, match="a link to elsewhere"):
            await tea.chat(chat.session).send("Go on.")


@pytest.mark.parametrize(("end", "asked"), [("27.5 %", 1), (done("27.5 %"), 1), ("28.4 %", 2), (done("28.4 %"), 2)])
async def test_what_follows_from_the_conversation_needs_no_call(tmp_path: Path, end: Any, asked: int) -> None:
    (tmp_path / "a.csv").write_text("town,n\n" + "".join(f"T{n % 7},{n}\n" for n in range(100)))
    model = ScriptedModel([done("40"), done("There are 11 lamps."), end, end])
    async with platform(model=model) as tea:
        chat = tea.chat()
        await chat.send("Say 40.")
        await chat.send("Say 11.")
        turn = await chat.send("What share is that of the first, in percent?", files=[tmp_path / "a.csv"])
    assert (turn.ok, len(model.requests) - 2) == (True, asked)


@pytest.mark.parametrize(
    ("reply", "asked"), [("You asked which town has the most lamps.", 1), ("You asked which town has the least.", 2)]
)
async def test_what_was_said_in_the_conversation_needs_no_call(tmp_path: Path, reply: str, asked: int) -> None:
    (tmp_path / "a.csv").write_text("town,lamps\nOslo,40\nBergen,11\n")
    model = ScriptedModel([done("Oslo"), reply, reply])
    async with platform(model=model) as tea:
        chat = tea.chat()
        await chat.send("Which town has the most lamps?", files=[tmp_path / "a.csv"])
        turn = await chat.send("What did I ask first?")
    assert (turn.answer, len(model.requests) - 1) == (reply, asked)


async def test_a_model_sees_the_conversation_before_its_turn() -> None:
    model = ScriptedModel([done("a stork"), done("two")])
    async with platform(model=model) as tea:
        chat = tea.chat()
        assert await chat.turns() == []
        first = await chat.send("Name a bird.")
        second = await chat.send("How many legs has it?")
        assert (first.answer, second.answer, second.number, second.agent) == ("a stork", "two", 2, "planner")
        assert "Name a bird." not in shown(model.requests[1]).partition("<task>")[0]
        assert "person: Name a bird.\nplanner: a stork" in shown(model.requests[1])
        assert [turn async for turn in chat] == [first, second]
        async with tea.chat(chat.session) as again:
            assert [turn.answer for turn in await again.turns()] == ["a stork", "two"]
        for turn in (first, second):
            assert (await tea.replay(turn.run)).answer == turn.answer


REPORT = {"title": "Birds", "summary": "s", "markdown": "A stork."}
SEARCH = {"kind": "answer", "question": "q", "queries": ["q"], "needs": []}


@pytest.mark.parametrize(("agent", "answer"), [("planner", done("two")), ("reporter", REPORT), ("researcher", SEARCH)])
async def test_each_agent_gets_the_conversation_in_one_form(agent: str, answer: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    model = ScriptedModel([done("a stork"), answer])
    async with platform(model=model) as tea:
        chat = tea.chat()
        await chat.send("Name a bird.")
        await chat.send(f"@{agent} Say more.", files=[tmp_path / "a.txt"])
    before = "The conversation before this task, oldest first:\nperson: Name a bird.\nplanner: a stork"
    words = shown(model.requests[1])
    assert f"<conversation>\n{before}\n</conversation>" in words
    assert "From earlier work" not in words


async def test_a_turn_is_iterated_as_events_and_ends_with_itself(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    async with platform(model=TestModel(call_tools=[], answer="seen")) as tea:
        seen: list[str] = []
        chat = tea.chat(agent="analyzer", budget={"steps": 3})
        events = [
            one async for one in chat.send("Look.", files=[tmp_path / "a.txt"], watch=lambda one: seen.append(one.kind))
        ]
        assert isinstance(events[-1], Turn)
        assert (events[-1].answer, events[-1].agent) == ("seen", "analyzer")
        assert seen == [one.kind for one in events[:-1] if not isinstance(one, Turn)]
        assert (await chat.send("Again.")).parts[0].inputs == ("a.txt",)


@pytest.mark.parametrize(
    ("line", "reply", "questions"),
    [
        ("Thank you!", "You are welcome.", 1),
        ("And now the other one, please, as I said before?", "Which column do you mean?", 1),
        ("How many rows has it?", "It has very many of them.", 2),
        ("Sum the people.", "They are 99991.", 2),
    ],
)
async def test_talk_about_no_file_costs_one_question_though_the_conversation_has_files(
    tmp_path: Path, line: str, reply: str, questions: int
) -> None:
    (tmp_path / "a.csv").write_text("place,people\n" + "".join(f"town {one},{one * 7}\n" for one in range(3_000)))
    model = ScriptedModel([done("a table"), *[reply] * 4])
    async with platform(model=model) as tea:
        chat = tea.chat()
        await chat.send("What is in it?", files=[tmp_path / "a.csv"])
        turn = await chat.send(line)
        assert turn.answer == reply
        assert len(model.requests) == 1 + questions


async def test_a_question_back_ends_the_first_turn_of_a_conversation_and_no_run_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("place,people\n" + "".join(f"town {one},{one * 7}\n" for one in range(3_000)))
    model = ScriptedModel(["What would you like to know?"] * 3)
    async with platform(model=model) as tea:
        await tea.chat().send("Hello, here is a table.", files=[tmp_path / "a.csv"])
        assert len(model.requests) == 1
        await tea.run("Hello, here is a table.", files=[tmp_path / "a.csv"])
        assert len(model.requests) == 3


async def test_agents_for_a_command_alone_are_not_listed_and_can_be_addressed() -> None:
    async with platform(model=ScriptedModel([])) as tea:
        chat = tea.chat()
        listed = await chat.agents()
        assert {"planner", "analyzer", "triage", "debate"} <= {*listed}
        assert not {"optimiser", "reflector", "attempts", "judge", "research_paper"} & {*listed}
        await chat.address("judge")
        assert await chat.agent() == "judge"


async def test_a_line_to_an_agent_that_is_not_there_begins_no_run() -> None:
    async with platform(model=ScriptedModel([])) as tea:
        chat = tea.chat()
        with pytest.raises(UnknownComponent, match="There is no agent @analyser") as refused:
            await chat.send("@analyser How many?")
        assert "did you mean @analyzer" in refused.value.fix
        assert (await chat.turns(), list(tea.tracer.runs())) == ([], [])


async def test_the_triage_hands_over_and_the_specialist_sees_its_own_tools_only() -> None:
    model = ScriptedModel(
        [
            decided("hand_over", "analyzer", "Compute 2 + 3."),
            done(5),
            decided("case_resolved", answer="It was 5."),
            decided("case_not_resolved", answer="nobody can fly"),
        ]
    )
    async with platform(model=model) as tea:
        chat = tea.chat(agent="triage")
        turn = await chat.send("What is 2 + 3?")
        assert (turn.answer, [one.agent for one in turn.parts]) == (5, ["triage", "analyzer"])
        tools = {one["name"] for one in model.requests[1].variables["tools"]}
        assert "done" in tools
        assert tools.isdisjoint({"workspace_write", "find_tools"})
        assert "person: What is 2 + 3?\ntriage: hands over to analyzer: Compute 2 + 3." in shown(model.requests[1])
        assert await chat.agent() == "analyzer"
        assert (await chat.send("@triage What was it?")).answer == "It was 5."
        assert "analyzer: 5" in shown(model.requests[2])
        failed = await chat.send("Fly.")
        assert (failed.status, failed.reason, failed.answer) == ("failed", "nobody can fly", "")
        for run in [part.run for one in await chat.turns() for part in one.parts]:
            await tea.replay(run)


async def test_a_decision_of_the_triage_needs_only_the_fields_of_its_kind() -> None:
    model = ScriptedModel(
        [
            {"next": "hand_over", "agent": "analyzer", "task": "Compute 2 + 3."},
            done(5),
            {"next": "case_resolved", "answer": "It was 5."},
            {"next": "case_not_resolved"},
        ]
    )
    async with platform(model=model) as tea:
        chat = tea.chat(agent="triage")
        assert (await chat.send("What is 2 + 3?")).answer == 5
        assert (await chat.send("@triage What was it?")).answer == "It was 5."
        failed = await chat.send("@triage Fly.")
        assert (failed.status, failed.reason, len(model.requests)) == ("failed", "no agent fits the task", 4)


@pytest.mark.parametrize(
    "empty", [{"next": "hand_over"}, {"next": "hand_over", "agent": ""}, {"next": "case_resolved"}]
)
async def test_a_decision_of_the_triage_without_its_agent_or_answer_is_asked_for_again(empty: dict[str, str]) -> None:
    model = ScriptedModel([empty, decided("case_resolved", answer="It was 5.")])
    async with platform(model=model) as tea:
        assert (await tea.chat(agent="triage").send("What was it?")).answer == "It was 5."


async def test_the_triage_can_name_only_agents_that_are_there() -> None:
    wrong = decided("hand_over", "nobody", "x")
    model = ScriptedModel([wrong, decided("hand_over", "analyzer", "Go on."), done("gone on")])
    async with platform(model=model) as tea:
        turn = await tea.chat(agent="triage").send("Go on.")
        assert (turn.answer, turn.agent) == ("gone on", "analyzer")


async def test_a_turn_that_waits_for_a_person_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "asker.py"
    path.write_text(ASK)
    async with platform() as tea:
        await tea.acp.register(path)
        chat = tea.chat(agent="asker")
        with pytest.raises(ApprovalNeeded):
            await chat.send("Choose.")
        (turn,) = await chat.turns()
        assert turn.status == "waiting"
        (question,) = (await tea.inbox()).questions
        turn = await chat.proceed(answers={question.key: "this"})
        assert (turn.status, turn.answer) == ("done", "this")
        with pytest.raises(BadInput, match="has ended"):
            await chat.proceed()


async def test_a_fork_remembers_the_turns_that_it_keeps_and_leaves_the_other_untouched() -> None:
    async with platform(model=TestModel(call_tools=[], answer="yes")) as tea:
        chat = tea.chat("talk")
        await chat.send("First?")
        await chat.send("Second?")
        fork = await chat.fork(1)
        await fork.send("Other?")
        assert [turn.line for turn in await fork.turns()] == ["First?", "Other?"]
        assert [turn.line for turn in await chat.turns()] == ["First?", "Second?"]
        run = (await fork.turns())[-1].parts[0]
        assert [said.text for said in run.talk.history] == ["First?", "yes"]
        for session, lines in (("talk", ["First?", "Second?"]), (fork.session, ["First?", "Other?"])):
            events = await tea.memory.recall(Scope(session=session, agent="planner", task=""))
            assert [one["data"]["task"] for one in events if one["kind"] == "result"] == lines
        with pytest.raises(BadInput, match="no turn 7"):
            await chat.fork(7)
        with pytest.raises(BadInput, match="has no turn"):
            await tea.chat().fork()


async def test_what_cannot_begin_leaves_nothing_behind() -> None:
    async with platform() as tea:
        with pytest.raises(BadRef):
            tea.chat("../x")
        with pytest.raises(BadTask):
            tea.chat(budgets={})
        with pytest.raises(BadTask):
            await tea.chat().send(" ")
        with pytest.raises(BadTask):
            await tea.chat().send("x", files=["/nothing/there"])
        assert tea.tracer.runs() == []


async def test_the_last_conversation_is_none_that_another_account_began(tmp_path: Path) -> None:
    sessions = list[str]()
    for state in ("mine", "theirs"):
        async with Platform(tmp_path / "home", state=tmp_path / state) as tea:
            sessions.append((chat := tea.chat()).session)
            await chat.send("What is the wingspan of a penguin?")
            assert await Chat.find(tea, "last") == sessions[-1]
    async with Platform(tmp_path / "home", state=tmp_path / "mine") as tea:
        assert await Chat.find(tea, "last") == sessions[0]
        assert await Chat.find(tea, sessions[1]) == sessions[1]


async def test_a_run_from_elsewhere_in_a_conversation_does_not_make_another_one_the_last(tmp_path: Path) -> None:
    sessions = list[str]()
    async with Platform(tmp_path / "home", state=tmp_path / "mine") as tea:
        for _ in range(2):
            sessions.append((chat := tea.chat()).session)
            await chat.send("What is the wingspan of a penguin?")
    async with Platform(tmp_path / "home", state=tmp_path / "theirs") as tea:
        for session in (sessions[0], sessions[1], None):
            await tea.chat(session).send("What is the wingspan of a penguin?")
    async with Platform(tmp_path / "home", state=tmp_path / "mine") as tea:
        assert await Chat.find(tea, "last") == sessions[1]
