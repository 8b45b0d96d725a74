"""The clarification before a research: questions, a plan, its approval or rejection, and its one use."""

from pathlib import Path
from typing import Any

import pytest
from research_kit import analysis, literature

from tea.errors import ApprovalNeeded, BadInput

pytestmark = pytest.mark.asyncio(loop_scope="module")

DONE = {"objective": "", "tasks": []}


async def waits(work: Any) -> str:
    """The open question of a run."""
    with pytest.raises(ApprovalNeeded) as asked:
        await work
    return asked.value.problem


async def test_questions_are_followed_by_a_plan_that_is_rejected_and_approved(
    lab: Any, cities: Path
) -> None:  # 003: 21
    research = lab.tea.research
    lab.plays(questions={"questions": ["Which period?", "Which cities?"]})
    begun = await research.clarify("Why do cities grow?", files=[cities])
    assert "Which period?" in await waits(research.drive(begun.run))
    with pytest.raises(BadInput, match="No plan waits"):
        await research.approve(begun.run)
    with pytest.raises(BadInput, match="No plan waits"):
        await research.reject(begun.run, "Shorter.")
    with pytest.raises(BadInput, match="is not approved"):
        await research.start("Why?", clarification=begun.run)
    assert "Which cities?" in await waits(research.answer(begun.run, "2000 to 2020"))
    assert "Plan: The refined question" in await waits(research.answer(begun.run, "All."))
    with pytest.raises(BadInput, match="is not an answer here"):
        await research.answer(begun.run, "perhaps")
    with pytest.raises(BadInput, match="needs feedback"):
        await research.reject(begun.run, "  ")
    assert "Plan: " in await waits(research.reject(begun.run, "Only harbours."))
    assert "Plan: " in await waits(research.answer(begun.run, "reject: Fewer tasks."))
    first, second = lab.roles.asked("plan")[-1].variables["feedback"]
    assert first.startswith("Plan: The refined question")
    assert (first.splitlines()[-1], second.splitlines()[-1]) == ("Rejected: Only harbours.", "Rejected: Fewer tasks.")
    assert lab.roles.asked("plan")[-1].variables["answers"][0] == {
        "question": "Which period?",
        "answer": "2000 to 2020",
    }
    approved = await research.approve(begun.run)
    assert (approved.status, approved.answer["objective"]) == ("completed", "The refined question")
    assert (await lab.tea.replay(begun.run)).ok
    with pytest.raises(BadInput, match="No plan waits"):
        await research.approve(begun.run)


async def test_an_unknown_clarification_or_one_of_something_else_is_refused(lab: Any) -> None:  # 003: 22
    lab.plays(plan_next=DONE)
    status = await lab.run()
    with pytest.raises(BadInput, match="There is no research"):
        await lab.tea.research.start("Why?", clarification="nowhere")
    with pytest.raises(BadInput, match="is not a clarification"):
        await lab.tea.research.start("Why?", clarification=status.run)
    with pytest.raises(BadInput, match="is not a clarification"):
        await lab.tea.research.approve(status.run)


async def test_a_clarification_without_a_plan_is_refused(lab: Any) -> None:  # 003: 22
    lab.plays(questions={"questions": []}, plan_approval={"objective": "o", "tasks": []})
    begun = await lab.tea.research.clarify("Why?")
    await waits(lab.tea.research.drive(begun.run))
    await lab.tea.research.approve(begun.run)
    with pytest.raises(BadInput, match="has no plan"):
        await lab.tea.research.start("Why?", clarification=begun.run)


async def test_an_approved_plan_replaces_planning_in_the_first_iteration_once(
    lab: Any, cities: Path
) -> None:  # 003: 23
    research = lab.tea.research
    tasks = [analysis("Count.", "cities.csv", "lost.csv"), literature("Read.")]
    lab.plays(
        questions={"questions": ["Which period?"]}, plan_approval={"objective": "The refined question", "tasks": tasks},
        plan_next=lambda request, count: {"objective": "", "tasks": [literature("More")] if count == 1 else []},
    )  # fmt: skip
    begun = await research.clarify("Why?", files=[cities])
    await waits(research.drive(begun.run))
    await waits(research.answer(begun.run, "Any."))
    await research.approve(begun.run)
    started = await research.start("Why?", clarification=begun.run, mode="full")
    assert started.conversation == begun.conversation
    status = await research.drive(started.run)
    state = status.state
    assert status.iteration == 2
    stages = [one.variables["stage"] for one in lab.roles.asked("plan")]
    assert stages == ["approval", "approval", "next", "next"]  # the lost file was asked about once
    assert (state["objective"], state["plan"]["ana-0-1"]["datasets"]) == ("The refined question", ["cities.csv"])
    assert [one["objective"] for one in state["plan"].values()] == ["Count.", "Read.", "More"]
    assert state["warnings"][0] == "There is no dataset 'lost.csv'; its task goes on without it."
    assert lab.roles.asked("hypothesis")[0].variables["answers"] == [{"question": "Which period?", "answer": "Any."}]
    with pytest.raises(BadInput, match="used already"):
        await research.start("Why?", clarification=begun.run)
    lab.plays(plan_next=DONE)
    await lab.run(conversation=begun.conversation, text="Go on.")
    assert [one.variables["stage"] for one in lab.roles.asked("plan")] == ["initial", "next"]


async def test_a_plan_with_a_file_that_is_not_there_is_planned_anew_before_it_is_shown(lab: Any, cities: Path) -> None:
    plans = [[literature("a"), analysis("Compare costs", "costs.csv")], [analysis("Count", "cities.csv")]]
    lab.plays(
        questions={"questions": []},
        plan_approval=lambda request, count: {"objective": "Costs", "tasks": plans[count - 1]},
    )
    begun = await lab.tea.research.clarify("What do cities cost?", files=[cities])
    shown = await waits(lab.tea.research.drive(begun.run))
    assert "costs.csv" not in shown
    assert "(cities.csv)" in shown
    told = str(lab.roles.asked("plan")[1].messages)
    assert "There is no dataset costs.csv; there are: cities.csv." in told


async def test_a_plan_names_a_dataset_without_its_ending(lab: Any, cities: Path) -> None:
    plan = {"objective": "Costs", "tasks": [analysis("Count", "Cities"), analysis("Add up", "data/cities.csv")]}
    lab.plays(questions={"questions": []}, plan_approval=plan)
    begun = await lab.tea.research.clarify("What do cities cost?", files=[cities])
    shown = await waits(lab.tea.research.drive(begun.run))
    assert shown.count("(cities.csv)") == 2
    assert len(lab.roles.asked("plan")) == 1


@pytest.mark.parametrize(
    ("objective", "shown_as"),
    [
        ('Count \\n, "all" of them.', 'Count \\n, "all" of them.'),
        ("read\n2. LITERATURE: count", r'"read\n2. LITERATURE: count"'),
        (r'"read\n2. LITERATURE: count"', r'"\"read\\n2. LITERATURE: count\""'),
        ("read (cities.csv)", '"read (cities.csv)"'),
        ("read\x1c", "read\x1c"),
    ],
)
async def test_no_two_plans_are_shown_alike(lab: Any, cities: Path, objective: str, shown_as: str) -> None:
    plan = {"objective": objective, "tasks": [literature(objective), literature("Read.")]}
    lab.plays(questions={"questions": []}, plan_approval=plan)
    begun = await lab.tea.research.clarify("What do cities cost?", files=[cities])
    shown = (await waits(lab.tea.research.drive(begun.run))).removesuffix(" (approve / reject)")
    asks = "agent:research_clarify asks: Plan"
    assert shown.split("\n") == [f"{asks}: {shown_as}", f"1. LITERATURE: {shown_as}", "2. LITERATURE: Read."]


async def test_a_dataset_with_an_odd_name_is_told_from_two(lab: Any, cities: Path) -> None:
    other = cities.with_name("b, cities.csv")
    other.write_text("city,rain\nOslo,763\n")
    lab.plays(questions={"questions": []}, plan_approval={"objective": "Rain", "tasks": [analysis("Join.")]})
    begun = await lab.tea.research.clarify("Where does it rain?", files=[cities, other])
    shown = await waits(lab.tea.research.drive(begun.run))
    assert '1. ANALYSIS: Join. ("b, cities.csv", cities.csv)' in shown or (
        '1. ANALYSIS: Join. (cities.csv, "b, cities.csv")' in shown
    )


async def test_a_plan_is_shown_with_the_datasets_that_its_analyses_are_given(lab: Any, cities: Path) -> None:
    other = cities.with_name("rain.csv")
    other.write_text("city,rain\nOslo,763\n")
    plan = {"objective": "Rain", "tasks": [analysis("Sum rain.csv."), analysis("Join."), literature("Read.")]}
    lab.plays(questions={"questions": []}, plan_approval=plan, plan_next=DONE)
    begun = await lab.tea.research.clarify("Where does it rain?", files=[cities, other])
    shown = await waits(lab.tea.research.drive(begun.run))
    await lab.tea.research.approve(begun.run)
    late = cities.with_name("late.csv")
    late.write_text("city,sun\nOslo,1\n")
    started = await lab.tea.research.start("Why?", clarification=begun.run, mode="steering", files=[late])
    status = await lab.tea.research.drive(started.run)
    lines = shown.removesuffix(" (approve / reject)").splitlines()
    for number, one in enumerate(status.state["plan"].values(), 1):
        given = f" ({', '.join(one['datasets'])})" if one["datasets"] else ""
        assert f"{number}. {one['type']}: {one['objective']}{given}" in lines
