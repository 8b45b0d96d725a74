"""The work of an agent with a screen: its beginning, what each step is told, and what it leaves."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.policy import CallRequest, Decision
from tea.testing import ScriptedModel
from tea.types import ModelResponse

pytestmark = pytest.mark.asyncio

PANEL = """
from typing import Any

from tea import Context, Environment, action


class Panel(Environment):
    '''A panel with one lever.'''

    name = "panel"

    def __init__(self) -> None:
        self.at = 0

    async def state(self, ctx: Context) -> dict[str, Any]:
        '''Return the place of the lever.'''
        return {"at": self.at, "screenshot": ""}

    @action(effects="reads", network=False)
    async def pull(self, ctx: Context, to: int) -> dict[str, Any]:
        '''Pull the lever.

        Args:
            to: Where to.
        '''
        self.at = to
        return {"at": self.at, "panel": "north", "made": [f"print-{to}.txt"] if to == 7 else []}
"""

WORKER = """
import re

from tea import Agent, Context, Operated, Result, Task, operate


class Worker(Agent):
    '''Work at the panel.'''

    environments = ("panel", "workspace#write", "report")

    async def run(self, ctx: Context, task: Task) -> Result:
        '''Work.'''
        panel = Operated(
            environment="panel", most=lambda done: 3, bounded=lambda state: state, picture="", title="Panel",
            files=lambda value: {name: "printed" for name in value["made"]},
            begins=lambda text, state: [
                {"action": "pull", "arguments": {"to": one}} for one in re.findall("from ([0-9a-z]+)", text)
            ],
        )
        return await operate(ctx, task, panel)
"""

PROMPT = """---
name: panel
description: Decides the next step at a panel.
variables:
  task: string
  files: {type: array, items: {type: string}, default: []}
  state: object
  steps: {type: array, items: {type: object}, default: []}
  left: integer
  sees: {type: boolean, default: false}
  locale: {type: string, default: en}
output: {type: object}
---
# system

Work.

# message

{{ task }} {{ state.at }} {{ left }}
"""


@pytest_asyncio.fixture
async def tea(tmp_path: Path) -> AsyncIterator[Platform]:
    async with Platform(tmp_path / "home", model=ScriptedModel([]), state=tmp_path / "state") as made:
        await made.ecp.register(PANEL)
        await made.acp.register(WORKER)
        await made.libraries["prompt"].register(PROMPT)
        yield made


async def worked(
    tea: Platform, task: str, *steps: dict[str, Any] | str | ModelResponse, **options: Any
) -> tuple[Any, list[dict[str, Any]]]:
    """Return the end of a task, and the variables of each question."""
    model = ScriptedModel(list(steps))
    async with Platform(tea.home, model=model, state=tea.home.parent / "state") as made:
        outcome = await made.run(task, agent="worker", **options)
        assert (await made.replay(outcome.run)).answer == outcome.answer
    return outcome, [request.variables for request in model.requests]


def pulled(*places: int, **more: Any) -> dict[str, Any]:
    words = {"evaluation": "", "memory": "", "next_goal": "pull"}
    return {**words, "actions": [{"action": "pull", "arguments": {"to": one}} for one in places], **more}


END = {"success": True, "answer": "It stands."}


async def test_a_result_tells_only_what_the_one_before_did_not(tea: Platform) -> None:
    _, (_, asked) = await worked(tea, "Pull it.", pulled(2, 2, 3), pulled(final=END))
    told = [one["result"] for one in asked["steps"][0]["results"]]
    assert told == ['{"at": 2, "panel": "north", "made": []}', "", '{"at": 3}']


async def test_what_a_task_begins_with_is_done_before_the_first_question_and_is_no_step(tea: Platform) -> None:
    steps = pulled(2), pulled(3), pulled(4), {"final": END}
    outcome, asked = await worked(tea, "Pull it from 1 on.", *steps)
    assert outcome.ok
    assert [(one["state"]["at"], one["left"]) for one in asked] == [(1, 3), (2, 2), (3, 1), (4, 0)]
    (begun,) = asked[0]["steps"]
    assert begun["next_goal"] == "Done for you, and not counted as a step"
    assert begun["results"] == [
        {"action": "pull", "ok": True, "result": '{"at": 1, "panel": "north", "made": []}'},
    ]


async def test_a_beginning_that_fails_is_told_and_not_counted_as_a_failure(tea: Platform) -> None:
    wrong = {"actions": [{"action": "none"}]}
    outcome, asked = await worked(tea, "Pull it from afar on.", wrong, wrong, pulled(2), pulled(final=END))
    assert (outcome.ok, outcome.answer) == (True, "It stands.")
    assert [one["ok"] for one in asked[0]["steps"][0]["results"]] == [False]
    assert "to" in asked[0]["steps"][0]["results"][0]["result"]


async def test_the_last_question_that_a_budget_allows_is_for_the_end_alone(tea: Platform) -> None:
    outcome, asked = await worked(tea, "Pull it.", pulled(2), pulled(7, final=END), budget={"steps": 2})
    assert (outcome.ok, outcome.answer, outcome.evidence) == (True, "It stands.", ())
    assert [(one["left"], one["state"]["at"]) for one in asked] == [(1, 0), (0, 2)]


async def test_a_budget_of_more_steps_allows_more(tea: Platform) -> None:
    steps = [*(pulled(one) for one in range(5)), pulled(final=END)]
    outcome, asked = await worked(tea, "Pull it.", *steps, budget={"steps": 6})
    assert (outcome.ok, outcome.answer) == (True, "It stands.")
    assert [one["left"] for one in asked] == [5, 4, 3, 2, 1, 0]


async def test_after_the_last_step_the_end_is_asked_for(tea: Platform) -> None:
    outcome, asked = await worked(tea, "Pull it.", *(pulled(one) for one in (1, 2, 3)), {"final": END})
    assert (outcome.ok, outcome.answer) == (True, "It stands.")
    assert [(one["left"], one["state"]["at"]) for one in asked] == [(3, 0), (2, 1), (1, 2), (0, 3)]
    outcome, asked = await worked(tea, "Pull it.", *(pulled(1) for _ in range(9)))
    assert (outcome.ok, outcome.reason, len(asked)) == (False, "The task was not done in 3 steps.", 4)


async def test_files_that_actions_bring_are_evidence_and_what_an_action_gave_is_no_answer(tea: Platform) -> None:
    outcome, _ = await worked(tea, "Pull it.", *(pulled(7) for _ in range(4)))
    assert [(one.source, one.detail) for one in outcome.evidence] == [("print-7.txt", "printed")]
    assert (outcome.ok, outcome.answer) == (False, None)


class Asking:
    """Ask before the lever is pulled to 2."""

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        return "ask" if request.arguments.get("to") == 2 else "allow"


async def test_what_goes_before_an_action_is_done_and_not_told(tea: Platform) -> None:
    ahead = 'before=lambda action, given, seen: [{"action": action, "arguments": {"to": seen["at"] + 40}}],'
    await tea.acp.register(WORKER.replace('picture="",', f'picture="", {ahead}'))
    outcome, (_, asked) = await worked(tea, "Pull it.", pulled(2, 3), {"final": END})
    begun = [str(one.data) for one in tea.tracer.records(outcome.run) if one.kind == "start"]
    assert re.findall(r"'to': (\d+)", " ".join(begun)) == ["40", "2", "42", "3"]
    assert [one["action"] for one in asked["steps"][0]["results"]] == ["pull", "pull"]


async def test_steps_that_a_loss_of_the_screen_took_are_not_counted(tmp_path: Path) -> None:
    def process(*steps: dict[str, Any]) -> Platform:
        model = ScriptedModel(list(steps))
        return Platform(tmp_path / "home", model=model, policy=Asking(), state=tmp_path / "state")

    async with process(pulled(1), pulled(2)) as tea:
        await tea.ecp.register(PANEL.replace('name = "panel"', 'name = "panel"\n    recovery = "lost"'))
        await tea.acp.register(WORKER)
        await tea.libraries["prompt"].register(PROMPT)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Pull it.", agent="worker")
        (question,) = (await tea.inbox("last")).questions
    async with process(pulled(1), pulled(2), pulled(final=END)) as tea:
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert (outcome.ok, outcome.answer) == (True, "It stands.")
        assert (await tea.replay(outcome.run)).answer == outcome.answer


@pytest.mark.parametrize(
    ("extracted", "final", "answer"),
    [
        ("The best of page 1 is 21.", "Farlow has the most, 25.", "Farlow has the most, 25."),
        ("The kettle costs 42, only in Prague.", "42", "42"),
        ("The kettle costs 42.", "", "The kettle costs 42."),
    ],
)
async def test_the_final_words_are_the_answer_and_without_any_what_was_extracted(
    tea: Platform, extracted: str, final: str, answer: str
) -> None:
    end = {"success": True, "answer": final}
    outcome, _ = await worked(tea, "Look at 21, 25 and 42.", pulled(2, extracted=extracted), pulled(final=end))
    assert (outcome.ok, outcome.answer, outcome.gaps) == (True, answer, ())


async def test_a_number_that_was_worked_out_is_told_beside_the_answer(tea: Platform) -> None:
    answer = "Two kettles cost 84, pot 7 costs 30."
    told = []
    for place in (7, 84):
        end = {"success": True, "answer": answer}
        steps = pulled(7, extracted="It costs 42."), pulled(place), pulled(final=end)
        outcome, _ = await worked(tea, "Look at 30.", *steps)
        assert (outcome.ok, outcome.answer) == (True, answer)
        told.append(outcome.gaps)
    assert told == [("Worked out from what was read, and standing nowhere in it: 84.",), ()]


ROOMS = {
    2: "| Sala 11 | 16 | Faro |\n| Sala 12 | 10 | Porto |",
    3: "| Sala 14 | 11 | Faro |\n| Sala 16 | 12 | Braga |\n| Sala 18 | 13 | Porto |",
}


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("| Sala 11 | 16 | Faro |", 2),
        ("Sala 11 | 16 | Faro", 2),
        ("| Sala 11 | 16 | Faro |\nSala 12, 10", 2),
        ("| Sala 14 | 11 | Faro |\n| Sala 18 | 13 | Porto |", 3),
        ("Sala", 3),
        ("| Sala 11 | 16 | Faro |\n| Sala 18 | 13 | Porto |", 0),
    ],
)
async def test_the_page_of_a_quote_is_one_with_its_lines_as_they_are(tea: Platform, words: str, page: int) -> None:
    await tea.acp.register(
        WORKER.replace(
            'picture="",',
            f'picture="", pages=lambda value: {{str(value["at"]): "Rooms"}},'
            f' read=lambda value: {ROOMS!r}.get(value["at"], ""),',
        )
    )
    outcome, _ = await worked(tea, "Look.", pulled(2, 3), {"extracted": words, "final": END})
    quotes = {one.source: one.quote for one in outcome.evidence}
    assert quotes == {"0": "", "2": "", "3": "", **({str(page): words} if page else {})}


async def test_a_number_near_to_one_that_was_read_is_asked_about_once(tea: Platform) -> None:
    wrong, right = ({"final": {**END, "answer": f"The reference is R-{one}."}} for one in (4731, 4713))
    for last, gaps in (right, 0), (wrong, 1):
        outcome, asked = await worked(tea, "Which reference?", pulled(4713), wrong, last)
        assert (outcome.ok, outcome.answer, len(outcome.gaps)) == (True, last["final"]["answer"], gaps)
        (held,) = asked[2]["steps"][-1]["results"]
        assert (held["action"], held["ok"], asked[2]["left"]) == ("final", False, 1)
        assert "4731 (4713 was read)" in held["result"]


async def test_a_number_near_to_none_that_was_read_is_asked_about_once(tea: Platform) -> None:
    wrong, right = ({"final": {**END, "answer": f"It costs {one}."}} for one in ("82.35", "47.13"))
    for last, gaps in (right, 0), (wrong, 1):
        outcome, asked = await worked(tea, "What does it cost? 47.13?", pulled(4713), wrong, last)
        assert (outcome.ok, outcome.answer, len(outcome.gaps), len(asked)) == (True, last["final"]["answer"], gaps, 3)
        assert "by simple arithmetic: 82.35. Mend it" in asked[2]["steps"][-1]["results"][0]["result"]


@pytest.mark.parametrize(
    "answer", ["R-4713 it is.", "Both are 9426.", "It is 4731, as you said.", "It is there.", "It is the 1 of 2."]
)
async def test_a_number_that_was_read_or_given_or_follows_is_not_asked_about(tea: Platform, answer: str) -> None:
    task = "Is it 4731?" if "said" in answer else "Which reference?"
    outcome, asked = await worked(tea, task, pulled(4713), {"final": {**END, "answer": answer}})
    assert (outcome.ok, outcome.answer, len(asked)) == (True, answer, 2)


async def test_a_near_number_is_not_asked_about_with_the_last_question(tea: Platform) -> None:
    wrong = {"final": {**END, "answer": "It is 4731."}}
    outcome, asked = await worked(tea, "Which?", pulled(4713), wrong, budget={"steps": 2})
    assert (outcome.answer, len(outcome.gaps), len(asked)) == ("It is 4731.", 1, 2)
    outcome, asked = await worked(tea, "Which?", pulled(4713), pulled(1), pulled(2), wrong)
    assert (outcome.answer, len(outcome.gaps), len(asked)) == ("It is 4731.", 1, 4)


async def test_an_answer_that_cannot_be_read_is_a_failed_step_and_the_work_goes_on(tea: Platform) -> None:
    steps = (pulled(1, extracted="It is at 1."), "I pull it.", "I did.", pulled(final=END))
    outcome, asked = await worked(tea, "Pull it.", *steps)
    assert (outcome.ok, outcome.answer) == (True, "It stands.")
    (result,) = asked[3]["steps"][-1]["results"]
    assert (result["action"], result["ok"]) == ("answer", False)
    assert "not JSON" in result["result"]


async def test_an_ending_without_words_beside_actions_is_ignored_and_the_work_goes_on(tea: Platform) -> None:
    vain = ({"answer": "", "success": False}, {"success": True}, {})
    outcome, asked = await worked(tea, "Pull it.", *(pulled(2, final=one) for one in vain[1:]), pulled(final=END))
    assert (outcome.ok, outcome.answer, len(asked)) == (True, "It stands.", 3)
    outcome, asked = await worked(tea, "Pull it.", pulled(2, final=vain[0]), pulled(final={"reason": "It is stuck."}))
    assert (outcome.ok, outcome.reason, len(asked)) == (False, "It is stuck.", 2)


async def test_an_ending_beside_actions_is_asked_for_again_once_their_results_are_told(tea: Platform) -> None:
    outcome, asked = await worked(tea, "Pull it.", pulled(2, final=END), {"final": {**END, "answer": "It is at 2."}})
    assert (outcome.ok, outcome.answer, outcome.gaps) == (True, "It is at 2.", ())
    (done,), (held,) = (one["results"] for one in asked[1]["steps"])
    assert (done["action"], done["ok"], held["action"], held["ok"]) == ("pull", True, "final", False)
    assert "nobody had seen" in held["result"]
    assert "It stands." in held["result"]
    assert asked[1]["state"]["at"] == 2


async def test_an_ending_beside_the_same_actions_again_is_taken_and_these_are_not_done_twice(tea: Platform) -> None:
    outcome, asked = await worked(tea, "Pull it.", pulled(3, 2, final=END), pulled(3, 2, final=END))
    assert (outcome.ok, outcome.answer, len(asked)) == (True, "It stands.", 2)
    begun = [str(one.data) for one in tea.tracer.records(outcome.run) if one.kind == "start"]
    assert sum("#pull" in one for one in begun) == 2
    outcome, asked = await worked(tea, "Pull it.", pulled(3, final=END), pulled(2, final=END), {"final": END})
    assert (outcome.answer, len(asked), asked[2]["state"]["at"]) == ("It stands.", 3, 2)


async def test_an_ending_beside_actions_with_the_last_question_of_a_budget_is_taken_with_a_gap(tea: Platform) -> None:
    outcome, asked = await worked(tea, "Pull it.", pulled(2, final=END), budget={"steps": 1})
    assert (outcome.ok, outcome.answer, len(asked)) == (True, "It stands.", 1)
    assert outcome.gaps == ("It was said before the results of the actions beside it were seen.",)


async def test_what_was_extracted_beside_a_failure_is_neither_its_end_nor_its_answer(tea: Platform) -> None:
    vain = {"answer": "", "success": False}
    outcome, asked = await worked(tea, "Pull it.", pulled(2, extracted="21", final=vain), {"final": vain})
    assert (outcome.ok, outcome.answer, len(asked)) == (False, None, 2)


async def test_an_ending_that_does_not_say_whether_it_succeeded_did_with_an_answer(tea: Platform) -> None:
    outcome, _ = await worked(tea, "Pull it.", pulled(2), {"final": {"answer": "It stands."}})
    assert (outcome.ok, outcome.answer) == (True, "It stands.")


async def test_a_step_without_an_action_and_an_end_is_asked_for_again(tea: Platform) -> None:
    outcome, asked = await worked(tea, "Pull it.", {"memory": "It stands."}, pulled(final=END))
    assert (outcome.ok, outcome.answer, len(asked)) == (True, "It stands.", 2)
    assert [one["left"] for one in asked] == [3, 3]


FORM = """output:
  type: object
  properties:
    memory: {type: string}
    actions:
      type: array
      items:
        type: object
        properties: {action: {enum: [pull]}, arguments: {type: object}}
        required: [action]
    extracted: {type: string}
    final:
      type: object
      properties: {answer: {type: string}, success: {type: boolean}, reason: {type: string}}
      additionalProperties: false
  additionalProperties: false
"""


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("It stands.", "It stands."),
        ("<think>It is at 2.</think>\n\nIt stands.", "It stands."),
        (json.dumps({"final": "It stands."}), "It stands."),
        (json.dumps({"final": str(END)}), "It stands."),
        (json.dumps({"final": json.dumps({**END, "success": "yes"})}), "It stands."),
        (json.dumps(END), "It stands."),
        (json.dumps({"final": {"answer": {"at": 2}}}), '{"at": 2}'),
        ('The panel says {"at": 2}.', 'The panel says {"at": 2}.'),
    ],
)
async def test_words_in_place_of_the_form_are_the_end_at_the_last_question(
    tea: Platform, said: str, answer: str
) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    outcome, asked = await worked(tea, "Pull it.", pulled(2), said, budget={"steps": 2})
    assert (outcome.ok, outcome.answer, len(asked)) == (True, answer, 2)
    outcome, asked = await worked(tea, "Pull it.", *(pulled(one) for one in (1, 2, 3)), said)
    assert (outcome.ok, outcome.answer, len(asked)) == (True, answer, 4)


async def test_words_are_the_end_at_the_only_question_of_a_budget(tea: Platform) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    outcome, asked = await worked(tea, "Pull it.", "It stands.", budget={"steps": 1})
    assert (outcome.ok, outcome.answer, len(asked)) == (True, "It stands.", 1)


@pytest.mark.parametrize("said", ["It is at 2.", json.dumps({"actions": [], "final": "It is at 2."})])
async def test_an_answer_in_words_is_the_end_before_the_last_question(tea: Platform, said: str) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    outcome, asked = await worked(tea, "Pull it.", pulled(2), said)
    assert (outcome.ok, outcome.answer, len(asked)) == (True, "It is at 2.", 2)


@pytest.mark.parametrize(
    "said",
    ["It is at 2. Now I pull it to 3.", "I cannot determine it from 2.", "It moved.", "Shall it be 3?", '{"final": 2}'],
)
async def test_words_about_a_further_step_or_none_are_not_the_end(tea: Platform, said: str) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    outcome, asked = await worked(tea, "Pull it.", pulled(2), said, {"final": END})
    assert (outcome.answer, len(asked)) == ("It stands.", 3)


async def test_words_before_any_action_are_not_the_end(tea: Platform) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    outcome, asked = await worked(tea, "Pull it.", "It is at 2.", {"final": END})
    assert (outcome.answer, len(asked)) == ("It stands.", 2)


async def test_steps_refused_for_their_form_are_not_counted_within_a_bound(tea: Platform) -> None:
    wrong = {"actions": [{"action": "pull", "arguments": {"to": "far"}}]}
    steps = [pulled(1), wrong, wrong, pulled(2), wrong, wrong]
    outcome, asked = await worked(tea, "Pull it.", *steps, {"final": END})
    assert (outcome.ok, outcome.answer) == (True, "It stands.")
    assert [one["left"] for one in asked] == [3, 2, 2, 2, 1, 1, 0]


@pytest.mark.parametrize("said", [json.dumps({"memory": "It stands."}), 'My step: {"memory": "It stands."}', "{"])
async def test_a_step_without_an_end_is_no_answer_at_the_last_question(tea: Platform, said: str) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    outcome, asked = await worked(tea, "Pull it.", pulled(2), said, budget={"steps": 2})
    assert (outcome.ok, outcome.answer, len(asked)) == (False, "", 2)


@pytest.mark.parametrize("finish", ["refusal", "length"])
async def test_a_refusal_or_words_cut_off_at_the_last_question_are_no_answer(tea: Platform, finish: Any) -> None:
    said = ModelResponse(text="It stands, as far as", finish=finish)
    outcome, asked = await worked(tea, "Pull it.", pulled(2), said, budget={"steps": 2})
    assert (outcome.ok, outcome.answer, len(asked)) == (False, "", 2)


async def test_a_reason_at_the_last_question_is_no_success(tea: Platform) -> None:
    await tea.libraries["prompt"].register(PROMPT.replace("output: {type: object}\n", FORM))
    said = json.dumps({"final": {"answer": None, "success": False, "reason": ["It is", "stuck."]}, "answer": {}})
    outcome, _ = await worked(tea, "Pull it.", pulled(2), said, budget={"steps": 2})
    assert (outcome.ok, outcome.exit_code) == (False, 1)
    assert "stuck." in outcome.reason


async def test_a_step_before_a_spent_budget_tells_its_arguments_and_what_it_gave(tea: Platform) -> None:
    outcome, _ = await worked(tea, "Pull it.", pulled(2), {"memory": "It stands."}, budget={"steps": 2})
    assert outcome.exit_code == 5
    (found,) = outcome.found
    assert found.startswith('panel_pull({"to": 2}) -> ')
    assert "north" in found
