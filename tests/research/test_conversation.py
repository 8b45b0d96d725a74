"""Conversations: lasting state, one run at a time, stale runs, failures, branches, quick questions."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from research_kit import ANALYZER_STEP, CITIES, RESEARCHER, Roles, analysis, literature

from tea.corpus.passages import OVERLAP, SIZE
from tea.errors import ApprovalNeeded, BadInput, Diverged, ProviderError
from tea.platform import Platform
from tea.research.conversation import Head, Reading, head_of, reading
from tea.research.guard import stale
from tea.research.research import Research
from tea.research.settings import ResearchSettings
from tea.runs.policy import AllowTrusted
from tea.search_service import SearchService

pytestmark = pytest.mark.asyncio(loop_scope="module")

DONE = {"objective": "", "tasks": []}


def only(count: int) -> Any:
    """Return a plan with a suggestion so many times, and then without."""
    return lambda request, number: (
        {"objective": "", "tasks": [literature(f"Question {number}")]} if number <= count else DONE
    )


def platform_at(folder: Path, model: Any) -> Platform:
    return Platform(folder / "home", model=model, policy=AllowTrusted(), state=folder / "state")


async def test_the_last_conversation_is_gone_on_with_by_that_word_as_it_is_found(lab: Any) -> None:
    lab.plays(plan_next=DONE)
    first = await lab.run(text="Why do cities grow?")
    second = await lab.run(text="And then?", conversation="last")
    assert second.conversation == first.conversation
    clarified = await lab.tea.research.clarify("How fast?", conversation="last")
    assert clarified.conversation == first.conversation


async def test_where_there_is_no_conversation_the_last_one_is_not_begun(tmp_path: Path) -> None:
    async with platform_at(tmp_path, Roles()) as tea:
        with pytest.raises(BadInput, match="There is no research yet"):
            await tea.research.start("Why do cities grow?", conversation="last")
        assert tea.tracer.runs() == []


async def test_what_is_known_persists_across_runs_and_processes(tmp_path: Path) -> None:  # 003: 10
    roles = Roles()
    data = tmp_path / "cities.csv"
    data.write_text(CITIES)
    async with platform_at(tmp_path, roles) as tea:
        await tea.acp.register(RESEARCHER)
        first = await tea.research.run("Why do cities grow?", mode="steering", files=[data], conversation="growth")
    data.unlink()
    roles.counts.clear()
    roles.plays = {"plan_next": DONE}
    async with platform_at(tmp_path, roles) as tea:
        assert (await tea.research.status("growth")).state == first.state
        second = await tea.research.run("Go on with harbours.", conversation="growth")
    state = second.state
    assert (state["mode"], state["objective"]) == ("steering", "Why do cities grow?")  # the stored mode is kept
    assert state["datasets"] == first.state["datasets"]
    assert [one["text"] for one in state["messages"] if one["who"] == "person"] == [
        "Why do cities grow?", "Go on with harbours.",
    ]  # fmt: skip
    assert state["messages"][1] == first.state["messages"][1]
    assert state["plan"]["lit-0-1"] == first.state["plan"]["lit-0-1"]
    asked = roles.asked("plan")
    assert asked[2].variables["said"] == ["Go on with harbours."]
    assert asked[2].variables["suggestions"] == first.state["suggestions"]
    assert [one["who"] for one in state["messages"]] == ["person", "scientist", "person", "scientist"]


async def test_a_fork_and_a_replay_leave_the_conversation_alone(lab: Any) -> None:
    lab.plays(plan_next=only(1))
    first = await lab.run("full")
    records = list(lab.tea.tracer.records(first.run))
    supposed = [one for one in records if one.kind == "start" and "research_hypothesis" in str(one.data)][-1]
    lab.plays(plan_next=DONE, hypothesis={"hypothesis": "Another one"})
    outcome = await lab.tea.fork(first.run, at=supposed.seq)
    forked = await lab.tea.research.status(outcome.run)
    assert (forked.status, forked.state["hypothesis"], forked.iteration) == ("completed", "Another one", 2)
    assert forked.state["plan"] == first.state["plan"]
    assert (await lab.tea.replay(outcome.run)).ok
    assert (await lab.tea.research.status(first.conversation)).state == first.state


async def test_datasets_are_described_once(lab: Any, tmp_path: Path) -> None:  # 003: 5
    import openpyxl
    from PIL import Image

    book = openpyxl.Workbook()
    book.active.append(["city", "people"])
    book.save(tmp_path / "book.xlsx")
    Image.new("RGB", (3, 2)).save(tmp_path / "map.png")
    texts = {"cities.csv": CITIES, "facts.json": '{"a": 1}', "notes.md": "# Notes\n\nWords.\n", "plain.txt": "Words.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in (*texts, "book.xlsx", "map.png")]
    lab.plays(plan_next=DONE)
    status = await lab.run(files=files)
    facts = {name: one["facts"] for name, one in status.state["datasets"].items()}
    assert sorted(facts) == sorted(path.name for path in files)
    assert "4 lines\ncolumns: city, people" in facts["cities.csv"]
    assert facts["book.xlsx"].startswith("xlsx, ")
    assert "people" in facts["book.xlsx"]
    assert facts["map.png"].startswith("png, ")
    assert "Words." in facts["notes.md"]
    assert status.state["datasets"]["cities.csv"]["description"] == "Three cities with their people."
    (asked,) = lab.roles.asked("datasets")
    assert len(asked.variables["datasets"]) == 6
    await lab.run(conversation=status.conversation, text="Go on.")
    assert len(lab.roles.asked("datasets")) == 1


async def test_a_dataset_of_any_size_is_read_as_a_stream_up_to_500_megabytes(
    lab: Any, tmp_path: Path
) -> None:  # 003: 5
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(500_000_001)
    with pytest.raises(BadInput, match="larger than 500 MB"):
        await lab.tea.research.start("Why?", files=[large])


async def test_a_hundred_starts_at_once_make_one_run(lab: Any) -> None:  # 003: 18
    lab.plays(plan_next=DONE)
    starts = (lab.tea.research.start(f"Question {one}", conversation="crowd") for one in range(100))
    found = await asyncio.gather(*starts)
    assert len({one.run for one in found}) == 1
    assert len({one.message for one in found}) == 1
    assert sum(not one.deduplicated for one in found) == 1
    assert len([one for one in await lab.tea.research.list() if one.conversation == "crowd"]) == 1
    status = await lab.tea.research.drive(found[0].run)
    assert status.state["messages"][0]["text"].startswith("Question ")
    assert not (await lab.tea.research.start("Another", conversation="crowd")).deduplicated


@pytest.mark.slow
async def test_starts_of_several_processes_make_one_run(tmp_path: Path) -> None:  # 003: 18
    line = [sys.executable, "-m", "tea.cli", "research", "start", "Why?", "--conversation", "c", "--detach", "--json"]
    line += ["--home", str(tmp_path / "home")]
    started = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = [await asyncio.to_thread(one.communicate) for one in started]
    found = [json.loads(out) for out, _ in told]
    assert len({one["message"] for one in found}) == 1
    assert sorted(one["deduplicated"] for one in found) == [False, True, True, True]


async def test_a_run_at_work_is_named_while_it_is_queued_running_or_waiting(lab: Any) -> None:  # 003: 18, 4
    research = lab.tea.research
    lab.plays(plan_next=DONE, reply=lambda request, count: {"text": "It is so."})
    queued = await research.start("Why?", conversation="states", mode="steering")
    assert (await research.status("states")).status == "queued"
    assert await research.start("Other", conversation="states") == type(queued)(
        run=queued.run, message=queued.message, conversation="states", status="queued", deduplicated=True
    )
    seen = []

    async def look() -> None:
        seen.append(await research.start("Other", conversation="states"))
        seen.append(await research.status("states"))

    async def slow(request: Any) -> Any:
        await look()
        return {"hypothesis": "h"}

    assert (await research.status("states")).latest is None

    lab.plays(plan_next=DONE, hypothesis=lambda request, count: slow(request))
    done = await research.drive(queued.run)
    again, status = seen
    assert (again.message, again.deduplicated, again.held) == (queued.message, True, True)
    assert (status.status, status.phase, status.iteration) == ("processing", "hypothesis", 1)
    assert done.status == "completed"
    assert (await research.status(queued.message)).reply["text"] == done.reply["text"]
    lab.plays(plan_next=DONE, hypothesis=lambda request, count: slow(request))
    await research.run("And harbours?", conversation="states")
    assert (seen[-1].reply, seen[-1].latest["text"]) == (None, done.reply["text"])  # the last one, while it works
    for unknown in ("nowhere", f"{queued.run}.9"):
        with pytest.raises(BadInput, match="There is no"):
            await research.status(unknown)


async def test_a_message_with_its_reply_is_completed_while_its_run_works_on_the_next(lab: Any) -> None:
    seen = []

    async def looking(request: Any) -> Any:
        seen.append(await lab.tea.research.status(f"{queued.run}.1"))
        return {"hypothesis": "h"}

    lab.plays(plan_next=only(1), hypothesis=lambda request, count: looking(request))
    queued = await lab.tea.research.start("Why?", conversation="two")
    await lab.tea.research.drive(queued.run)
    assert [(one.status, one.phase) for one in seen] == [("processing", "hypothesis"), ("completed", "")]


def at(lab: Any, hours: float) -> Research:
    """The research of the platform, so many hours later."""
    return Research(lab.tea, clock=lambda: datetime.now(UTC) + timedelta(hours=hours))


async def test_a_run_without_a_record_for_four_hours_is_given_up_for_a_new_one(lab: Any) -> None:  # 003: 19
    lab.plays(plan_next=DONE)
    old = await lab.tea.research.start("Why?", conversation="stale")
    assert (await at(lab, 3.9).start("Again", conversation="stale")).run == old.run
    new = await at(lab, 4.1).start("Again", conversation="stale")
    assert (new.deduplicated, new.recovered) == (False, old.run)
    status = await lab.tea.research.status(old.run)
    assert (status.status, status.error) == ("failed", "stale_recovered: it wrote no record for 4 hours")
    with pytest.raises(BadInput, match="has ended"):
        await lab.tea.resume(old.run)
    assert (await lab.tea.replay(old.run)).reason == status.error
    assert (await lab.tea.research.drive(new.run)).status == "completed"


async def test_a_stale_run_that_is_still_held_writes_nothing_any_more(lab: Any) -> None:  # 003: 19
    hanging = asyncio.Event()

    async def hangs(request: Any) -> Any:
        hanging.set()
        await release.wait()
        return {"hypothesis": "too late"}

    release = asyncio.Event()
    lab.plays(hypothesis=lambda request, count: hangs(request))
    old = await lab.tea.research.start("Why?", conversation="hangs")
    working = asyncio.ensure_future(lab.tea.research.drive(old.run))
    await hanging.wait()
    new = await at(lab, 5).start("Again", conversation="hangs")
    assert new.recovered == old.run
    records = len(list(lab.tea.tracer.records(old.run)))
    release.set()
    with pytest.raises(Exception, match="lease"):
        await working
    assert len(list(lab.tea.tracer.records(old.run))) == records
    assert (await lab.tea.replay(old.run)).reason.startswith("stale_recovered")
    other = await lab.tea.acp.update("researcher", RESEARCHER.replace("3 percent", "4 percent"))
    try:
        with pytest.raises(Diverged, match="now start"):
            await lab.tea.replay(old.run, use={"agent:researcher": other.version})
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)
    lab.plays(plan_next=DONE)
    status = await lab.tea.research.drive(new.run)
    assert [one["status"] for one in status.state["messages"]] == ["completed", "failed", "completed", "completed"]
    assert "stale_recovered" in status.state["messages"][1]["error"]


async def test_a_run_past_its_end_is_given_up_and_one_that_waits_for_a_person_never(lab: Any) -> None:  # 003: 19
    lab.plays()
    research = Research(lab.tea, clock=lambda: datetime.now(UTC) + timedelta(hours=80))
    old = await lab.tea.research.start("Why?", conversation="past")
    tight = ResearchSettings(stale=1_000.0)
    head = head_of(old.run, next(lab.tea.tracer.records(old.run)))
    run = reading(lab.tea.tracer, head)
    assert stale(run, tight, datetime.now(UTC) + timedelta(hours=80)) == "it is past its end of 72 hours"
    assert (await research.start("Again", conversation="past")).recovered == old.run

    asking = '''
from tea import Agent, Context, Result, Task


class Researcher(Agent):
    """Ask the person."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask."""
        return Result(answer=await ctx.person("Which harbour?"))
'''
    await lab.tea.acp.update("researcher", asking)
    try:
        waits = await lab.tea.research.start("Why?", conversation="waits", mode="steering")
        with pytest.raises(ApprovalNeeded):
            await lab.tea.research.drive(waits.run)
        status = await at(lab, 5_000).status("waits")
        assert (status.status, status.stale, status.questions[0].question) == ("waiting", "", "Which harbour?")
        again = await at(lab, 5_000).start("Again", conversation="waits")
        assert (again.run, again.deduplicated, again.status) == (waits.run, True, "waiting")
        lab.plays(plan_next=DONE)
        done = await lab.tea.research.answer("waits", "Oslo")
        assert done.state["plan"]["lit-0-1"]["output"].startswith("Oslo")
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)


async def test_the_time_of_waiting_for_a_person_does_not_count_towards_the_end_of_a_run(lab: Any) -> None:  # 003: 19
    head = Head(run="r", session="s", time="2026-01-01T00:00:00+00:00", agent="scientist", text="Why?")
    begun = datetime.fromisoformat(head.time)
    days = timedelta(days=10)
    run = Reading(head=head, status="processing", world={}, last=(begun + days).isoformat())
    assert stale(run, ResearchSettings(), begun + days) == "it is past its end of 72 hours"
    waited = replace(run, waited=timedelta(days=8).total_seconds())
    assert stale(waited, ResearchSettings(), begun + days) == ""
    lab.plays(plan_next=only(3), decision="no verdict")
    started = await lab.tea.research.start("Why?", mode="semi")
    with pytest.raises(ApprovalNeeded):
        await lab.tea.research.drive(started.run)
    await lab.tea.research.answer(started.run, "stop")
    records = list(lab.tea.tracer.records(started.run))
    [asked] = [one for one in records if one.kind == "waiting"]
    after = records[records.index(asked) + 1]
    spent = datetime.fromisoformat(after.time) - datetime.fromisoformat(asked.time)
    beginning = head_of(started.run, records[0])
    assert beginning is not None
    assert reading(lab.tea.tracer, beginning).waited == spent.total_seconds()


async def test_a_run_whose_process_died_is_taken_up(lab: Any) -> None:
    lab.plays(plan_next=DONE)
    one = await lab.tea.research.start("Why?", conversation="died")
    (taken,) = await lab.tea.research.resume("died")
    assert (taken.run, taken.status) == (one.run, "completed")
    assert await lab.tea.research.resume("died") == []


async def test_a_failure_is_the_runs_with_its_error_and_a_later_start_works(lab: Any) -> None:  # 003: 20
    lab.plays(reply=ProviderError("The model is gone.", fix="wait"))
    status = await lab.tea.research.run("Why?", mode="steering", conversation="fails")
    assert (status.status, status.error) == ("failed", "The model is gone.")
    lab.plays(plan_next=DONE)
    again = await lab.run(conversation="fails", text="Go on.")
    assert again.status == "completed"
    failed = again.state["messages"][1]
    assert (failed["status"], failed["error"]) == ("failed", "The model is gone.")
    assert "lit-0-1" in again.state["plan"]


async def test_only_the_run_at_work_writes_and_finishes(lab: Any) -> None:  # 003: 20
    lab.plays(plan_next=DONE)
    status = await lab.run()
    for action, arguments in (("finish", {}), ("suppose", {"hypothesis": "mine"})):
        response = await lab.tea.ecp.invoke(
            f"research#{action}", {"run": "f" * 32, **arguments}, session=status.conversation
        )
        assert "is not at work here" in response.error["problem"]


async def test_a_branch_copies_up_to_a_message_and_starts_nothing(lab: Any) -> None:  # 003: 29
    lab.plays(plan_next=only(2))
    origin = await lab.run("full")
    asked = len(lab.roles.requests)
    made = await lab.tea.research.branch(origin.conversation, 3)
    branch = await lab.tea.research.status(made.conversation)
    assert (len(lab.roles.requests), branch.status) == (asked, "completed")
    assert branch.state["messages"] == origin.state["messages"][:3]
    assert sorted(branch.state["plan"]) == ["lit-0-1", "lit-1-1"]
    assert branch.state["hypothesis"] == "Hypothesis 2"
    assert branch.state["branch"] == f"{origin.conversation}@3"
    lab.plays(plan_next=DONE)
    await lab.run(conversation=made.conversation, text="Another way.")
    assert (await lab.tea.research.status(origin.conversation)).state == origin.state
    with pytest.raises(BadInput, match="no message 9"):
        await lab.tea.research.branch(origin.conversation, 9)


async def test_what_is_pending_has_failed_in_a_branch(lab: Any) -> None:  # 003: 29
    seen = []

    async def slow(request: Any) -> Any:
        seen.append(await lab.tea.research.branch("forks"))
        return {"hypothesis": "h"}

    lab.plays(plan_next=DONE, hypothesis=lambda request, count: slow(request))
    await lab.tea.research.run("Why?", mode="steering", conversation="forks")
    branch = await lab.tea.research.status(seen[0].conversation)
    assert [one["status"] for one in branch.state["messages"]] == ["completed", "failed"]


async def test_a_quick_question_is_answered_beside_the_research_with_at_most_ten_calls(lab: Any) -> None:  # 003: 33
    lab.plays(plan_next=DONE)
    status = await lab.run()

    def call(count: int) -> Any:
        return {"name": "calculator", "arguments": {"expression": f"{count} + 1"}}

    done = {"name": "done", "arguments": {"answer": "It is two.", "evidence": []}}
    lab.plays(chat=lambda request, count: {**ANALYZER_STEP, "calls": [call(count) if count <= 10 else done]})
    turn = await lab.tea.research.ask(status.conversation, "How much is it?")
    assert turn.answer == "It is two."
    assert "Hypothesis 1" in lab.roles.asked("chat")[0].variables["known"]
    assert "in `evidence` the id of a task" in str(lab.roles.asked("chat")[0].messages)
    assert ".research.json" not in str(lab.roles.asked("chat")[0].messages)
    records = list(lab.tea.tracer.records(turn.run))
    made = [one for one in records if one.kind == "start" and str(one.data["target"]).startswith("tool:calculator")]
    assert (len(made), records[0].data["setting"]["call_seconds"]) == (10, 30.0)
    assert (await lab.tea.replay(turn.run)).ok
    lab.plays(chat=lambda request, count: {**ANALYZER_STEP, "calls": [call(count)]})
    turn = await lab.tea.research.ask(status.conversation, "And again?")
    assert not turn.ok
    assert len(lab.roles.asked("chat")) <= 12
    assert "It is two." in str(lab.roles.asked("chat")[0].messages)
    assert (await lab.tea.research.status(status.conversation)).state == status.state


async def test_a_quick_question_is_answered_at_once_from_what_the_research_found(lab: Any, tmp_path: Path) -> None:
    path = tmp_path / "towns.csv"
    path.write_text("town,people\n" + "".join(f"Town {number},{number * 7}\n" for number in range(900)))
    found = {"name": "done", "arguments": {"answer": "The slope is 6.38 per town.", "evidence": []}}
    plan = {"objective": "o", "tasks": [analysis("Fit.", "towns.csv")]}
    lab.plays(plan_next=DONE, plan_initial=plan, analyzer={**ANALYZER_STEP, "calls": [found]})
    status = await lab.run(files=[path])
    known = "It is 6.38 (ana-0-1)."
    evidence = [{"source": "ana-0-1", "quote": "The slope is 6.38 per town."}]
    done = {"name": "done", "arguments": {"answer": known, "evidence": evidence}}
    lab.plays(chat={**ANALYZER_STEP, "calls": [done]})
    turn = await lab.tea.research.ask(status.conversation, "How steep is it?")
    assert (turn.answer, turn.reason, len(lab.roles.asked("chat"))) == (known, "", 1)
    assert "jobs" not in lab.roles.asked("chat")[0].variables["known"]
    lab.plays(chat=known)
    turn = await lab.tea.research.ask(status.conversation, "How steep is it?")
    assert (turn.answer, len(lab.roles.asked("chat"))) == (known, 1)
    invented = {"name": "done", "arguments": {"answer": "It is 7.91.", "evidence": []}}
    lab.plays(chat={**ANALYZER_STEP, "calls": [invented]})
    await lab.tea.research.ask(status.conversation, "How steep is it?")
    assert len(lab.roles.asked("chat")) > 1


async def test_a_quick_question_to_the_last_conversation_knows_its_research(lab: Any) -> None:
    lab.plays(plan_next=DONE)
    status = await lab.run()
    await lab.tea.research.clarify("And why?", conversation=status.conversation)
    done = {"name": "done", "arguments": {"answer": "It is so.", "evidence": []}}
    lab.plays(chat={**ANALYZER_STEP, "calls": [done]})
    await lab.tea.research.ask("last", "How much is it?")
    assert "Hypothesis 1" in lab.roles.asked("chat")[0].variables["known"]
    branched = await lab.tea.research.branch("last")
    assert (await lab.tea.research.status(branched.conversation)).hypothesis == "Hypothesis 1"


async def test_knowledge_gives_the_best_five_of_twenty_passages(lab: Any, tmp_path: Path) -> None:  # 003: 32
    for number in range(30):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\nThe harbour number {number} has {number} ships.\n")
    root = (await lab.tea.corpus.add(str(tmp_path))).root
    try:
        asked: list[tuple[int, int]] = []
        passages = SearchService.passages

        async def counted(self: SearchService, query: str, found: int, kept: int) -> Any:
            asked.append((found, kept))
            return await passages(self, query, found, kept)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SearchService, "passages", counted)
            found = (await lab.tea.tcp.invoke("knowledge", question="How many ships has harbour number 17?")).unwrap()
    finally:
        await lab.tea.corpus.remove(root)
    assert (asked, SIZE, OVERLAP) == ([(20, 5)], 2_000, 200)
    assert len(found["passages"]) == 5
    assert "number 17" in found["passages"][0]["text"]
    assert found["label"] == "untrusted"
    scores = [one["score"] for one in found["passages"]]
    assert scores == sorted(scores, reverse=True)
    empty = (await lab.tea.tcp.invoke("knowledge", question="Anything?")).unwrap()
    assert empty["passages"] == []


async def test_limits_are_settings(tmp_path: Path) -> None:  # 003: 3
    home = tmp_path / "home"
    home.mkdir()
    (home / "tea.toml").write_text("[research]\nsemi = 2\nfull = 3\nstale = 0.5\n")
    async with platform_at(tmp_path, Roles()) as tea:
        assert tea.research.limits.limits == {"steering": 1, "semi": 2, "full": 3}
        await tea.acp.register(RESEARCHER)
        assert (await tea.research.run("Why?", mode="full")).iteration == 3
    for line in ("semi = 0", "full = 1.5", "semy = 3", 'stale = "4"'):
        (home / "tea.toml").write_text(f"[research]\n{line}\n")
        with pytest.raises(BadInput):
            platform_at(tmp_path, Roles())
