"""The cycle of a research: its order, its fields, its levels, its decisions and its replies."""

import asyncio
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from research_kit import ANALYZER_STEP, DECIDED, RESEARCHER, analysis, literature

from tea.errors import ApprovalNeeded, BadInput, ProviderError
from tea.research.conversation import states

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIGGERS = (
    "contradiction", "ambiguous_intent", "forked_paths", "irreversible", "research_convergence", "low_value",
    "disagreement", "complex_analysis", "error",
)  # fmt: skip


def only(count: int) -> Any:
    """Return a plan with a suggestion so many times, and then without."""
    return lambda request, number: {
        "objective": f"Next {number}", "tasks": [literature(f"Question {number}")] if number <= count else []
    }  # fmt: skip


def shown_to(request: Any) -> str:
    """Return the words of a request."""
    return "\n".join(part.text for one in request.messages for part in one.content if part.type == "text")


def changes(lab: Any, run: str) -> list[tuple[str, dict[str, Any]]]:
    """The changes of the world in a run: the action, and its fields."""
    targets: dict[str, str] = {}
    found = []
    for one in lab.tea.tracer.records(run):
        if one.kind == "start" and str(one.data.get("target", "")).startswith("environment:research@"):
            targets[one.key] = one.data["target"].rpartition("#")[2]
        elif one.kind == "done" and one.key in targets and "patch" in (one.data["data"].get("value") or {}):
            patch = one.data["data"]["value"]["patch"]
            found.append((targets[one.key], {name: value for name, value in patch.items() if name != "number"}))
    return found


async def test_an_iteration_goes_through_its_phases_in_order(lab: Any) -> None:  # 003: 6
    lab.plays(plan_initial={"objective": "o", "tasks": [literature("a"), literature("b")]}, plan_next=only(1))
    status = await lab.run("full")
    phases = [(one["phase"], one.get("task", "")) for one in lab.events(status.run)]
    first = phases[: phases.index(("reply", ""))]
    assert first[0] == ("planning", "")
    assert sorted(first[1:5]) == [(one, task) for one in ("worked", "working") for task in ("lit-0-1", "lit-0-2")]
    assert first[5:] == [("hypothesis", ""), ("reflection", ""), ("next plan", "")]
    second = phases[len(first) + 1 :]
    assert [one for one, _ in second] == [
        "working", "worked", "hypothesis", "reflection", "discovery", "next plan", "reply",
    ]  # fmt: skip


async def test_the_tasks_of_a_level_run_side_by_side_and_are_stamped(lab: Any) -> None:  # 003: 8
    lab.plays(plan_initial={"objective": "o", "tasks": [literature("a"), literature("b")]})
    status = await lab.run()
    one, other = status.state["plan"].values()
    assert max(one["start"], other["start"]) <= min(one["end"], other["end"])
    working = [each["phase"] for each in lab.events(status.run) if each.get("task")]
    assert working[:2] == ["working", "working"]


async def test_new_tasks_get_the_next_level_with_ids_of_their_own_and_none_is_lost(lab: Any) -> None:  # 003: 7
    two = {"objective": "o", "tasks": [literature("a"), analysis("b"), literature("c")]}
    lab.plays(plan_initial=two, plan_next=lambda request, count: two if count < 2 else {"objective": "", "tasks": []})
    status = await lab.run("full")
    plan = status.state["plan"]
    ids = [f"{kind}-{level}-{n}" for level in (0, 1) for kind, n in (("lit", 1), ("ana", 1), ("lit", 2))]
    assert sorted(plan) == sorted(ids)
    assert [plan[one]["level"] for one in sorted(plan)] == [0, 1, 0, 0, 1, 1]
    lab.plays(plan_next=only(0))
    again = await lab.run(conversation=status.conversation, text="And then?")
    assert sorted(again.state["plan"]) == sorted([*ids, "lit-2-1"])
    assert again.state["plan"]["lit-0-1"] == plan["lit-0-1"]  # what is done is not done again


async def test_a_failed_task_loses_no_other(lab: Any) -> None:
    lab.plays(plan_initial={"objective": "o", "tasks": [literature("this fails"), literature("b")]})
    status = await lab.run()
    failed, done = status.state["plan"].values()
    assert (status.status, failed["error"], failed["output"]) == ("completed", "nothing was found", "")
    assert failed["end"]
    assert done["output"].startswith("On b")


async def test_a_research_whose_every_task_failed_has_failed_and_another_start_goes_on(lab: Any) -> None:  # 003: 20
    lab.plays(
        plan_initial={"objective": "o", "tasks": [literature("this fails"), literature("that fails")]},
        reply={"text": "Nothing was found."},
    )
    status = await lab.run("semi")
    wanted = "every task failed (lit-0-1: nothing was found; lit-0-2: nothing was found)"
    assert (status.status, status.error, status.reply["status"]) == ("failed", wanted, "completed")
    assert "Nothing was found." in status.reply["text"]
    lab.plays(plan_next=only(0))
    again = await lab.run(conversation=status.conversation, text="Try again.")
    assert (again.status, sorted(again.state["plan"])) == ("completed", ["lit-0-1", "lit-0-2", "lit-1-1"])
    lab.plays(plan_initial={"objective": "o", "tasks": [literature("this fails")]}, plan_next=only(0))
    last = await lab.run(conversation=status.conversation, text="And this?")
    assert (last.status, last.error) == ("failed", "every task failed (lit-2-1: nothing was found)")


async def test_passages_of_documents_that_the_researcher_judged_are_left_out(lab: Any, tmp_path: Path) -> None:
    for name, words in (("growth", "grew by 12 percent in 2019"), ("decline", "shrank by 5 percent in 2020")):
        (tmp_path / f"{name}.md").write_text(f"# Harbour\n\nThe harbour of Oslo {words}.\n")
    root = (await lab.tea.corpus.add(str(tmp_path))).root
    read = RESEARCHER.replace("https://example.org/growth", f"{root}/growth.md")
    await lab.tea.acp.update("researcher", read)
    lab.plays(plan_next=only(0), plan_initial={"objective": "", "tasks": [literature("How did the harbour grow?")]})
    try:
        task = (await lab.run()).state["plan"]["lit-0-1"]
        await lab.tea.acp.update("researcher", RESEARCHER.replace('if "fails" in', 'if "harbour" in'))
        lab.plays(plan_next=only(0), plan_initial={"objective": "", "tasks": [literature("How did the harbour grow?")]})
        alone = (await lab.run()).state["plan"]["lit-0-1"]
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)
        await lab.tea.corpus.remove(root)
    assert "grew by 12 percent" not in task["output"]
    assert "was not judged:\n\n<passage" in task["output"]
    assert "shrank by 5 percent" in task["output"]
    assert [one["source"] for one in task["sources"]] == [f"{root}/growth.md", f"{root}/decline.md"]
    assert "grew by 12 percent" in alone["output"]  # the researcher found nothing, so all count


async def test_the_sources_of_a_task_are_shown_each_once_and_whole(lab: Any) -> None:
    many = "".join(
        f"Evidence(source='s', detail='Claim {n} of {'words ' * 20}end.', quote='q'), " * 2 for n in range(9)
    )
    told = f"return Result(answer='They grow.', evidence=({many}))"
    kept = RESEARCHER.partition("        source = Evidence")[0]
    await lab.tea.acp.update("researcher", f"{kept}        {told}\n")
    try:
        lab.plays(plan_next=only(0))
        await lab.run()
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)
    [shown] = lab.roles.asked("hypothesis")[0].variables["tasks"][0]["sources"]
    assert shown.startswith("s (Claim 0 of words")
    assert shown.count("Claim 0") == 1
    assert shown.endswith("end. | and 7 more)")


async def test_reflection_and_discovery_work_side_by_side(lab: Any) -> None:  # 003: 6
    both = asyncio.Barrier(2)

    async def met(answer: Any) -> Any:
        await asyncio.wait_for(both.wait(), 60)  # each waits for the other to be asked
        return answer

    names = ("title", "evolving_objective", "current_objective", "methodology")
    reflected = {**dict.fromkeys(names, "words"), "insights": []}
    lab.plays(
        plan_next=only(1),
        reflection=lambda request, count: met(reflected) if count == 2 else reflected,
        discovery=lambda request, count: met({"discoveries": []}),
    )
    status = await lab.run("full")
    assert (status.iteration, both.n_waiting, len(lab.roles.asked("discovery"))) == (2, 0, 1)


async def test_what_the_person_says_twice_is_shown_once(lab: Any) -> None:
    lab.plays(reply=ProviderError("The model is gone.", fix="wait"))
    first = await lab.tea.research.run("Why do cities grow?", mode="steering")
    for _ in range(2):
        lab.plays(reply=ProviderError("The model is gone.", fix="wait"))
        await lab.tea.research.run("Look at harbours.", conversation=first.conversation)
    assert lab.roles.asked("plan")[0].variables["said"] == ["Look at harbours."]


async def test_literature_joins_its_sources_and_an_analysis_gives_output_files_and_id(  # 003: 9
    lab: Any, cities: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "growth.md").write_text("# Growth\n\nThe harbour of Oslo grew by 12 percent in 2019.\n")
    root = (await lab.tea.corpus.add(str(notes))).root
    code = "open('ana-0-1/plot.svg', 'w').write('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')"
    source = {"source": "cities.csv", "detail": "all rows", "quote": "2800000"}
    steps = [
        {"name": "shell_python", "arguments": {"code": f"import os; os.makedirs('ana-0-1'); {code}"}},
        {"name": "done", "arguments": {"answer": "The largest has 2800000.", "evidence": [source]}},
    ]
    tasks = [literature("How did the harbour grow?"), analysis("Which is the largest?", "cities.csv")]
    lab.plays(
        plan_initial={"objective": "o", "tasks": tasks},
        analyzer=lambda request, count: {**ANALYZER_STEP, "calls": [steps[min(count, 2) - 1]]},
    )  # fmt: skip
    try:
        status = await lab.run(files=[cities])
    finally:
        await lab.tea.corpus.remove(root)
    found, counted = status.state["plan"].values()
    assert "cities grow by 3 percent" in found["output"]
    assert '<passage source="file://' in found["output"]  # nobody judged it, so it stands apart
    assert "grew by 12 percent" in found["output"]
    assert {one["source"] for one in found["sources"]} == {
        "https://example.org/growth", f"{root}/growth.md"
    }  # fmt: skip
    assert counted["output"] == "The largest has 2800000."
    assert counted["artifacts"] == ["ana-0-1/plot.svg"]
    assert len(counted["job"]) == 16
    assert counted["sources"][0]["quote"] == "2800000"
    asked = next(one for one in lab.roles.requests if "Which is the largest?" in shown_to(one))
    assert "only into a new folder `ana-0-1`" in shown_to(asked)  # nobody has made it


async def test_what_the_analyzer_remarks_on_its_answer_stands_in_the_output_of_its_task(lab: Any, cities: Path) -> None:
    given = {"answer": "There are 3 cities.", "reason": "One row has no name."}
    lab.plays(
        plan_initial={"objective": "o", "tasks": [analysis("Count.", "cities.csv")]},
        analyzer={**ANALYZER_STEP, "calls": [{"name": "done", "arguments": given}]},
    )
    status = await lab.run(files=[cities])
    assert status.state["plan"]["ana-0-1"]["output"] == "There are 3 cities.\n\nOne row has no name."


async def test_planning_writes_nothing_and_each_role_only_its_fields(lab: Any) -> None:  # 003: 11, 12
    lab.plays(plan_next=only(1))
    status = await lab.run("full")
    found = changes(lab, status.run)
    fields = {
        "iterate": {"messages"},
        "plan": {"plan", "level", "suggestions", "current_objective"},
        "promote": {"plan", "level", "suggestions"},
        "start_task": {"plan"},
        "end_task": {"plan"},
        "suppose": {"hypothesis"},
        "reflect": {"title", "evolving_objective", "current_objective", "insights", "methodology"},
        "discover": {"discoveries", "considered", "warnings"},
        "suggest": {"suggestions", "current_objective"},
        "decide": {"decision"},
        "reply": {"messages"},
        "finish": {"finished"},
    }
    for action, patch in found:
        assert set(patch) <= fields[action], action
    numbers = [one["number"] for one in states(lab.tea.tracer.records(status.run))]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert status.state["hypothesis"] == "Hypothesis 2"
    assert status.state["insights"] == ["insight 1", "insight 2"]


async def test_discoveries_begin_with_the_third_message_from_all_tasks_and_then_from_new_ones(
    lab: Any,
) -> None:  # 003: 13
    lab.plays(plan_next=only(2))
    status = await lab.run("full")
    asked = [[one["id"] for one in each.variables["tasks"]] for each in lab.roles.asked("discovery")]
    assert asked == [["lit-0-1", "lit-1-1"], ["lit-2-1"]]
    first, second = status.state["discoveries"]
    assert (first["claim"], first["tasks"], first["confidence"]) == ("Claim 1", ["lit-0-1", "lit-1-1"], "low")
    assert second["tasks"] == ["lit-2-1"]  # lit-9-9 does not exist
    assert any("Nowhere" in one for one in status.state["warnings"])


async def test_no_discovery_is_looked_for_without_an_output(lab: Any) -> None:  # 003: 13
    fails = {"objective": "o", "tasks": [literature("this fails")]}
    lab.plays(plan_initial=fails)
    status = await lab.run("full")
    for _ in range(2):
        status = await lab.run("full", conversation=status.conversation)
    assert status.rounds == 3
    assert lab.roles.asked("discovery") == []


async def test_a_discovery_can_be_revised_and_none_is_lost(lab: Any) -> None:
    def found(request: Any, count: int) -> Any:
        evidence = [{"task": "lit-0-1", "explanation": "it says so"}]
        revised = {"claim": f"Claim {count}", "evidence": evidence, "novelty": "", "confidence": ""}
        return {"discoveries": [{**revised, "replaces": 1 if count == 3 else 0}]}

    lab.plays(discovery=found, plan_next=only(3))
    status = await lab.run("full")
    assert [one["claim"] for one in status.state["discoveries"]] == ["Claim 3", "Claim 2"]


@pytest.mark.parametrize(("mode", "iterations"), [("steering", 1), ("semi", 5), ("full", 20)])
async def test_a_mode_has_a_limit(lab: Any, mode: str, iterations: int) -> None:  # 003: 3
    lab.plays(plan_initial={"objective": "", "tasks": [literature("a")]})
    status = await lab.run(mode)
    assert status.iteration == iterations
    assert len(lab.roles.asked("decision")) == (3 if mode == "semi" else 0)  # 003: 14


async def test_an_unknown_mode_is_refused_and_nothing_is_written(lab: Any) -> None:  # 003: 2
    before = lab.tea.tracer.runs()
    with pytest.raises(BadInput, match="'wild' is not a mode"):
        await lab.tea.research.start("Why?", mode="wild")
    assert lab.tea.tracer.runs() == before


async def test_nothing_suggested_is_convergence_in_every_mode(lab: Any) -> None:  # 003: 14
    for mode in ("steering", "semi", "full"):
        lab.plays(plan_next=only(0))
        decision = (await lab.run(mode)).state["decision"]
        assert (decision["go_on"], decision["trigger"], decision["by"]) == (False, "research_convergence", "rule")


@pytest.mark.parametrize("trigger", TRIGGERS)
async def test_each_reason_of_a_verdict_stops_and_is_recorded(lab: Any, trigger: str) -> None:  # 003: 15
    lab.plays(decision={**DECIDED, "go_on": False, "trigger": trigger, "reasoning": "Because."})
    status = await lab.run("semi")
    assert status.iteration == 2
    decision = status.state["decision"]
    assert (decision["go_on"], decision["trigger"], decision["by"]) == (False, trigger, "model")
    assert status.reply["decision"]["trigger"] == trigger


@pytest.mark.parametrize("verdict", ["no JSON at all", {"go_on": True}, ProviderError("gone", fix="wait")])
async def test_a_verdict_that_cannot_be_read_stops_and_the_person_decides(lab: Any, verdict: Any) -> None:  # 003: 14
    lab.plays(decision=verdict)
    research = lab.tea.research
    started = await research.start("Why do cities grow?", mode="semi")
    with pytest.raises(ApprovalNeeded, match="Shall the research go on"):
        await research.drive(started.run)
    waiting = await research.status(started.run)
    assert (waiting.status, waiting.iteration, waiting.stale) == ("waiting", 2, "")
    decision = waiting.state["decision"]
    assert (decision["go_on"], decision["trigger"], decision["by"]) == (False, "error", "error")
    assert "you decide" in lab.roles.asked("reply")[-1].variables["decision"]["reasoning"]
    assert "Reply 2" in waiting.reply["text"]
    assert not waiting.reply["final"]  # it is read before it is decided
    assert waiting.questions[0].choices == ("continue", "stop")
    with pytest.raises(BadInput, match="is not an answer here"):
        await research.answer(started.run, "perhaps")
    ended = await research.answer(started.run, "stop")
    decision = ended.state["decision"]
    assert (ended.status, decision["go_on"], decision["trigger"], decision["by"]) == (
        "completed", False, "error", "person",
    )  # fmt: skip
    assert (ended.reply["final"], ended.reply["decision"]) == (True, decision)
    assert (await lab.tea.replay(started.run)).ok


async def test_a_person_who_decides_to_go_on_gets_further_iterations(lab: Any) -> None:  # 003: 14
    lab.plays(decision=lambda request, count: "no JSON" if count == 1 else {**DECIDED, "go_on": False})
    research = lab.tea.research
    started = await research.start("Why do cities grow?", mode="semi")
    with pytest.raises(ApprovalNeeded):
        await research.drive(started.run)
    await research.tell(started.run, "Look at harbours.")
    ended = await research.answer(started.run, "continue")
    assert (ended.status, ended.iteration, ended.reply["final"]) == ("completed", 3, True)
    replies = [one for one in ended.state["messages"] if one["who"] == "scientist"]
    assert [one["final"] for one in replies] == [False, False, True]
    assert [one["decision"]["by"] for one in replies] == ["rule", "person", "model"]
    said = [one.variables["said"] for one in lab.roles.asked("plan")]
    assert ["Look at harbours."] in said  # what was said meanwhile is planned for
    assert (await lab.tea.replay(started.run)).ok


async def test_suggestions_become_the_next_level_and_are_cleared(lab: Any) -> None:  # 003: 16
    lab.plays(plan_next=only(1))
    status = await lab.run("full")
    found = dict(changes(lab, status.run))
    assert found["promote"]["suggestions"] == []
    assert found["promote"]["plan"]["lit-1-1"]["objective"] == "Question 1"
    assert status.state["suggestions"] == []


async def test_each_iteration_has_its_reply_and_the_last_is_flagged(lab: Any) -> None:  # 003: 16, 17
    lab.plays(plan_next=only(4))
    status = await lab.run("full")
    replies = [one for one in status.state["messages"] if one["who"] == "scientist"]
    assert [one["id"] for one in replies] == [f"{status.run}.{number}" for number in range(1, 6)]
    assert [one["final"] for one in replies] == [False] * 4 + [True]
    assert [one["next_steps"][0]["objective"] for one in replies[:4]] == [f"Question {n}" for n in range(1, 5)]
    for number, one in enumerate(replies, 1):
        assert f"Reply {number}" in one["text"]
    shown = [[one["id"] for one in each.variables["tasks"]] for each in lab.roles.asked("reply")]
    assert shown[0] == ["lit-0-1"]
    assert shown[-1] == ["lit-2-1", "lit-3-1", "lit-4-1"]  # of the last three levels


async def test_the_objective_of_the_next_iteration_is_not_called_that_of_the_one_replied_about(lab: Any) -> None:
    lab.plays(plan_next=only(1))
    await lab.run("full")
    asked = shown_to(lab.roles.asked("reply")[0])
    assert "<current_objective>\nNext 1\n</current_objective>" in asked
    assert "of_this_iteration" not in asked


async def test_an_objective_without_tasks_is_none_of_the_next_iteration(lab: Any) -> None:
    lab.plays(plan_next={"objective": "none", "tasks": []})
    status = await lab.run()
    assert status.state["current_objective"] == "Look at 1"
    assert "none" not in shown_to(lab.roles.asked("reply")[0]).split()


async def test_a_reply_has_numbered_sources_and_its_values_are_compared_with_them(lab: Any) -> None:  # 003: 17
    lab.plays(
        reply={
            "text": "They grow by 3 percent [4](https://example.org/growth) and by 9 percent [4](https://example.org/growth)."
        }
    )
    reply = (await lab.run()).reply
    assert "3 percent [1](https://example.org/growth)" in reply["text"]
    assert [(one["number"], one["link"]) for one in reply["references"]] == [(1, "https://example.org/growth")]
    assert [one["value"] for one in reply["doubts"]] == ["9"]
    assert reply["sources"][0]["quote"] == "Cities grow by 3 percent."


async def test_a_reply_may_tell_what_an_analysis_computed_of_a_dataset(lab: Any, cities: Path) -> None:
    done = {"name": "done", "arguments": {"answer": "On average 1263333 people.", "evidence": []}}
    lab.plays(
        plan_initial={"objective": "", "tasks": [analysis("Average?", "cities.csv")]},
        analyzer={**ANALYZER_STEP, "calls": [done]},
        reply={"text": "On average 1263333 people [1](cities.csv), or 1263334 [1](cities.csv)."},
    )
    reply = (await lab.run(files=[cities])).reply
    assert [one["value"] for one in reply["doubts"]] == ["1263334"]


async def test_a_message_is_taken_at_the_next_boundary_and_stands_in_the_state(lab: Any) -> None:
    lab.plays(plan_next=only(2))
    started = await lab.tea.research.start("Why do cities grow?", mode="full")
    await lab.tea.research.tell(started.conversation, "Look at harbours only.")
    status = await lab.tea.research.drive(started.run)
    said = [one["text"] for one in status.state["messages"] if one["who"] == "person"]
    assert said == ["Why do cities grow?", "Look at harbours only."]
    assert lab.roles.asked("plan")[1].variables["said"] == said[1:]  # the objective stands above it
    assert lab.roles.asked("plan")[2].variables["said"] == []  # it was answered by a reply
    assert (await lab.tea.replay(started.run)).ok


async def test_an_unreadable_role_leaves_its_fields_as_they_are(lab: Any) -> None:
    lab.plays(hypothesis="nothing", reflection="nothing", plan_next=only(1), discovery={"discoveries": "none"})
    status = await lab.run("full")
    assert (status.status, status.state["hypothesis"], status.state["insights"]) == ("completed", "", [])
    unread = [one["prompt"] for one in lab.events(status.run) if one["phase"] == "unreadable"]
    assert unread.count("research_hypothesis") == 2
    assert "No hypothesis could be read in the answers of the model" in status.state["warnings"][0]
    assert "research_discovery" in unread


PROSE = "**Hypothesis:** Cities grow by 3 percent (lit-0-1). It would be refuted by a census of another year."


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (PROSE, "Cities grow by 3 percent (lit-0-1). It would be refuted by a census of another year."),
        ({"hypothesis": {"claim": "Cities grow.", "rests_on": ["lit-0-1"]}}, "Cities grow. (lit-0-1)"),
        ("I cannot form any hypothesis from what these tasks found.", ""),
    ],
)
async def test_a_hypothesis_may_be_told_in_prose_or_in_parts(lab: Any, said: Any, kept: str) -> None:
    lab.plays(plan_next=only(0), hypothesis=said)
    status = await lab.run()
    assert status.state["hypothesis"] == kept
    assert len(lab.roles.asked("hypothesis")) == (1 if kept else 2)


@pytest.mark.parametrize(
    ("said", "described"),
    [
        ("The dataset cities.csv holds three cities.\n\nThe dataset towns.csv holds two towns.", "towns.csv holds"),
        ({"descriptions": {"cities.csv": "Three cities.", "towns.csv": "It holds two towns."}}, "It holds two towns."),
    ],
)
async def test_datasets_may_be_described_in_prose_or_by_name(lab: Any, cities: Path, said: Any, described: str) -> None:
    towns = cities.with_name("towns.csv")
    towns.write_text("town,people\nMoss,3\nRana,4\n")
    lab.plays(plan_next=only(0), datasets=said)
    status = await lab.run(files=[cities, towns])
    assert described in status.state["datasets"]["towns.csv"]["description"]
    assert len(lab.roles.asked("datasets")) == 1


@pytest.mark.parametrize("given", ["cities.csv, towns.csv", ["cities.csv, towns.csv"]])
async def test_datasets_of_a_task_may_stand_in_one_text(lab: Any, cities: Path, given: Any) -> None:
    towns = cities.with_name("towns.csv")
    towns.write_text("town,people\nMoss,3\nRana,4\n")
    task = {"type": "ANALYSIS", "objective": "Count.", "datasets": given}
    lab.plays(plan_next=only(0), plan_initial={"objective": "", "tasks": [task]})
    status = await lab.run(files=[cities, towns])
    assert status.state["plan"]["ana-0-1"]["datasets"] == ["cities.csv", "towns.csv"]


async def test_phases_and_the_reasoning_of_tasks_are_seen_while_they_run(lab: Any, cities: Path) -> None:  # 003: 25
    thinking = {**ANALYZER_STEP, "thinking": "I count the rows."}
    done = {"name": "done", "arguments": {"answer": "3", "evidence": []}}
    lab.plays(
        plan_initial={"objective": "", "tasks": [analysis("Count.", "cities.csv")]},
        analyzer={**thinking, "calls": [done]},
    )
    seen: list[tuple[str, str]] = []

    def watch(event: Any) -> None:
        if event.kind == "note" and event.data["kind"] in ("research", "step"):
            data = event.data["data"]
            seen.append((data.get("phase", ""), str(data.get("task") or data.get("thinking") or "")))

    await lab.tea.research.run("How many?", mode="steering", files=[cities], watch=watch)
    assert (
        seen.index(("working", "ana-0-1")) < seen.index(("", "I count the rows.")) < seen.index(("worked", "ana-0-1"))
    )


async def test_an_agent_run_without_the_service_researches_in_the_usual_mode(lab: Any) -> None:
    lab.plays(plan_next=only(0))
    outcome = await lab.tea.run("Why do cities grow?", agent="scientist")
    assert outcome.ok
    assert "Reply 1" in outcome.answer


async def test_insights_rest_on_tasks_that_are_there(lab: Any) -> None:
    given = ["Cities grow (lit-0-1, lit-9-9).", "Invented (lit-9-9).", "Told without a task."]
    reflected = {"title": "t", "evolving_objective": "o", "current_objective": "c", "methodology": "m"}
    lab.plays(plan_next=only(0), reflection={**reflected, "insights": given})
    status = await lab.run()
    assert status.state["insights"] == ["Cities grow (lit-0-1).", "Told without a task."]
    assert status.state["warnings"] == ["An insight rests on no task with an output: Invented (lit-9-9)."]


@pytest.mark.parametrize(
    ("given", "kept"), [("They grow (lit-0-1, lit-9-9).", "They grow (lit-0-1)."), ("Invented (lit-9-9).", "")]
)
async def test_a_hypothesis_rests_on_tasks_that_are_there(lab: Any, given: str, kept: str) -> None:
    lab.plays(plan_next=only(0), hypothesis={"hypothesis": given})
    status = await lab.run()
    assert status.state["hypothesis"] == kept
    wanted = [] if kept else ["The hypothesis rests on no task with an output: Invented (lit-9-9)."]
    assert status.state["warnings"] == wanted


async def test_a_reply_that_cites_what_no_task_has_is_refused_once_and_then_marked(lab: Any, cities: Path) -> None:
    text = "They are 3 [1](cities.csv), of them 99 % old [2](nowhere.csv). In all 41 [1](cities.csv)."
    plan = {"objective": "", "tasks": [analysis("Count.", "Cities")]}
    lab.plays(plan_next=only(0), plan_initial=plan, reply={"text": text})
    status = await lab.run(files=[cities])
    assert status.state["plan"]["ana-0-1"]["datasets"] == ["cities.csv"]  # named without its ending
    assert len(lab.roles.asked("reply")) == 2
    assert "No task has the source nowhere.csv." in str(lab.roles.asked("reply")[1].messages)
    assert "41 [?]" in status.reply["text"]
    assert status.reply["missing"] == ["nowhere.csv"]


async def test_a_plan_for_a_dataset_that_is_not_there_is_asked_about_once(lab: Any, cities: Path) -> None:
    plan = {"objective": "", "tasks": [analysis("Count.", "orders")]}
    lab.plays(plan_next=only(0), plan_initial=plan)
    status = await lab.run(files=[cities])
    asked = [one for one in lab.roles.asked("plan") if one.variables["stage"] == "initial"]
    assert "There is no dataset orders; there are: cities.csv." in str(asked[1].messages)
    assert status.state["warnings"] == ["There is no dataset 'orders'; its task goes on without it."]


async def test_what_is_said_while_the_last_reply_is_written_is_kept_for_the_next_start(lab: Any) -> None:
    async def said(request: Any) -> Any:
        await lab.tea.research.tell(begun.run, "Look at harbours.")
        with pytest.raises(BadInput, match=r"is at work. Fix: wait for it"):
            await lab.tea.replay(begun.run)
        return {"text": "It is so."}

    lab.plays(plan_next=only(0), reply=lambda request, count: said(request))
    begun = await lab.tea.research.start("Why?", mode="steering")
    status = await lab.tea.research.drive(begun.run)
    assert (status.answer.startswith("# "), status.reply["text"] == status.answer) == (True, True)
    assert status.unanswered == ["Look at harbours."]
    lab.plays(plan_next=only(0))
    await lab.run(conversation=status.conversation, text="Go on.")
    first = next(one for one in lab.roles.asked("plan") if one.variables["stage"] == "initial")
    assert first.variables["said"] == ["Look at harbours.", "Go on."]


async def test_facts_about_a_table_tell_rows_columns_and_all_sheets(lab: Any, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["city", "people"])
    for number in range(300):
        book.active.append([f"City {number}", number])
    notes = book.create_sheet("Years")
    for row in (["year", "note"], [2020, "first"], [2021, "second"]):
        notes.append(row)
    book.save(tmp_path / "book.xlsx")
    lab.plays(plan_next=only(0))
    facts = (await lab.run(files=[tmp_path / "book.xlsx"])).state["datasets"]["book.xlsx"]["facts"]
    assert "rows: 300" in facts
    assert "rows: 2" in facts
    assert "note" in facts
    assert re.search(r"\[lines \d+ to 3\d\d are not shown here\]", facts)


WRITER = '''
from tea import Agent, Context, Evidence, Result, Task


class Researcher(Agent):
    """Write a report."""

    environments = ("report",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Write it with its references."""
        source = Evidence(source="https://example.org/growth", quote="Cities grow by 3 percent.")
        reference = {"source": source.source, "number": 1, "description": "", "quote": source.quote}
        wanted = {"text": "## Growth\\n\\nCities grow by 3 percent [1](https://example.org/growth).", "report": "r"}
        (await ctx.ecp.invoke("report#add", {**wanted, "references": [reference]})).unwrap()
        made = (await ctx.ecp.invoke("report#complete", {"title": "Growth", "report": "r"})).unwrap()
        return Result(answer="They grow.", evidence=(source,), report=made["files"][0])
'''


async def test_a_report_of_the_researcher_is_the_output_of_its_task(lab: Any) -> None:
    await lab.tea.acp.update("researcher", WRITER)
    try:
        lab.plays(plan_next=only(0))
        status = await lab.run()
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)
    output = status.state["plan"]["lit-0-1"]["output"]
    assert "Cities grow by 3 percent [1](https://example.org/growth)." in output
    assert "References" not in output


async def test_a_reply_that_cannot_be_read_twice_is_replaced_by_what_was_found(lab: Any, cities: Path) -> None:
    both = {"objective": "o", "tasks": [literature("a"), literature("this fails"), analysis("b", "cities.csv")]}
    supposed = {"hypothesis": "Cities grow by 3 percent (lit-0-1)."}
    lab.plays(plan_initial=both, plan_next=only(1), hypothesis=supposed, reply={"words": 1})
    status = await lab.run(files=[cities])
    assert (status.status, len(lab.roles.asked("reply"))) == ("completed", 2)
    text = status.reply["text"]
    assert "The reply could not be worded" in text
    for words in ("Cities grow by 3 percent (lit-0-1). [1](https://example.org/growth)", "On a: cities grow",
                  "There are 3 cities.", "It failed: nothing was found"):  # fmt: skip
        assert words in text, words
    assert "Cities grow by 3 percent" not in text.partition("Claims without a source")[2]
    assert "unreadable" in [one["phase"] for one in lab.events(status.run)]


async def test_a_next_plan_that_cannot_be_read_twice_leads_to_the_reply(lab: Any) -> None:
    lab.plays(plan_next={"words": 1})
    status = await lab.run("semi")
    assert (status.status, status.iteration) == ("completed", 1)
    assert "Reply 1" in status.reply["text"]
    assert "could not be planned" in status.reply["decision"]["reasoning"]


async def test_a_confidence_in_words_counts_as_its_first_level(lab: Any) -> None:
    def discovered(request: Any, count: int) -> Any:
        evidence = [{"task": "lit-0-1", "explanation": "it says so"}]
        one = {"claim": f"Claim {count}", "evidence": evidence, "novelty": "", "replaces": 0}
        return {"discoveries": [{**one, "confidence": "Low to medium"}, {**one, "claim": "b", "confidence": "unsure"}]}

    lab.plays(plan_next=only(2), discovery=discovered, decision={**DECIDED, "confidence": "fairly high"})
    status = await lab.run("semi")
    assert [one["confidence"] for one in status.state["discoveries"]][:2] == ["low", ""]
    assert lab.roles.counts["discovery"] < 3
    decided = [patch["decision"]["confidence"] for action, patch in changes(lab, status.run) if action == "decide"]
    assert "high" in decided


async def test_a_reflection_keeps_what_it_does_not_give(lab: Any) -> None:
    whole = {
        "title": "Growth", "evolving_objective": "Why they grow", "current_objective": "Read", "insights": ["a"],
        "methodology": "Reading",
    }  # fmt: skip
    reflections = [whole, {"insights": ["b"]}]
    lab.plays(plan_next=only(1), reflection=lambda request, count: reflections[count - 1])
    status = await lab.run("full")
    state = status.state
    assert [state[name] for name in ("title", "evolving_objective", "methodology")] == [
        "Growth",
        "Why they grow",
        "Reading",
    ]
    assert state["insights"] == ["b"]
    assert lab.roles.counts["reflection"] == 2


async def test_an_analysis_of_an_absent_dataset_fails_without_being_asked(lab: Any, cities: Path) -> None:
    both = {"objective": "o", "tasks": [analysis("a", "orders.csv"), analysis("b", "cities.csv")]}
    lab.plays(plan_initial=both, plan_next=only(0))
    status = await lab.run(files=[cities])
    lost, done = status.state["plan"].values()
    assert (lost["error"], done["error"]) == ("There is no dataset orders.csv.", "")
    assert lab.roles.counts["analyzer"] == 1
    assert lost["end"]


async def test_an_iteration_whose_every_task_failed_goes_to_its_reply(lab: Any) -> None:
    lab.plays(plan_initial={"objective": "o", "tasks": [literature("this fails")]}, reply={"text": "Nothing."})
    status = await lab.run("full")
    assert [one["phase"] for one in lab.events(status.run)] == ["planning", "working", "worked", "reply"]
    assert status.reply["decision"]["reasoning"] == "Every task of this iteration failed."
    assert status.status == "failed"


async def test_nothing_is_planned_to_be_read_where_nothing_can_be_searched(lab: Any, cities: Path) -> None:
    needy = RESEARCHER.replace('say."""', 'say."""\n\n    metadata = {"needs": "search"}', 1)
    both = {"objective": "o", "tasks": [literature("a"), analysis("b", "cities.csv")]}
    await lab.tea.acp.update("researcher", needy)
    try:
        lab.plays(plan_initial=both, plan_next=only(0))
        status = await lab.run(files=[cities])
        first, second = lab.roles.asked("plan")[:2]
        lab.plays()
        nothing = await lab.run()
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)
    assert "LITERATURE" not in shown_to(first)
    assert "neither a search engine nor a collection of documents" in shown_to(first)
    assert "Nothing can be searched here" in str(second.messages)
    assert list(status.state["plan"]) == ["ana-0-1"]
    assert (nothing.status, lab.roles.requests) == ("failed", [])
    assert "there is nothing to look into" in nothing.error
    assert "tea corpus add FOLDER" in nothing.error


async def test_a_long_reason_for_a_failure_is_shown_to_models_by_its_first_sentences(lab: Any) -> None:
    advice = "No engine. " + "Set one of many keys " * 20
    await lab.tea.acp.update("researcher", RESEARCHER.replace("nothing was found", advice))
    try:
        lab.plays(plan_initial={"objective": "o", "tasks": [literature("this fails"), literature("b")]})
        status = await lab.run()
    finally:
        await lab.tea.acp.update("researcher", RESEARCHER)
    told = shown_to(lab.roles.asked("hypothesis")[0])
    assert "It failed: No engine.\n" in told
    assert status.state["plan"]["lit-0-1"]["error"].startswith(advice.strip())


async def test_pictures_and_files_of_tasks_are_found_by_the_last_part_of_their_names(lab: Any, cities: Path) -> None:
    code = "import os; os.makedirs('ana-0-1', exist_ok=True)"
    for name in ("scatter.png", "years.csv"):
        code += f"; open('ana-0-1/{name}', 'w').write('town,people,Oslo,700000')"
    drawn = {"name": "shell_python", "arguments": {"code": code}}
    done = {"name": "done", "arguments": {"answer": "There are 3 cities.", "evidence": []}}

    def played(request: Any, count: int) -> Any:
        return {**ANALYZER_STEP, "calls": [drawn if count == 1 else done]}

    text = "There are 3 cities [1](cities.csv). ![all of them](scatter.png)\n\nOslo has 700,000 [2](years.csv)."
    plan = {"objective": "", "tasks": [analysis("Count.", "cities.csv")]}
    lab.plays(plan_next=only(0), plan_initial=plan, analyzer=played, reply={"text": text})
    status = await lab.run(files=[cities])
    assert status.state["plan"]["ana-0-1"]["artifacts"] == ["ana-0-1/scatter.png", "ana-0-1/years.csv"]
    assert "![all of them](ana-0-1/scatter.png)" in status.reply["text"]
    assert "[2](ana-0-1/years.csv)" in status.reply["text"]
    assert status.reply["missing"] == []
