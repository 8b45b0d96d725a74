"""The tool generator: tools reused, written, tested, refused and registered, by script."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from attempts_kit import shown
from journals import rewrite

from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.store.sealed import sealed, unsealed
from tea.testing import FunctionModel, platform
from tea.types import ModelRequest, ModelResponse, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = [
    {"arguments": {"text": "Tea and toast", "letters": "at"}, "returns": 6},
    {"arguments": {"text": "xyz", "letters": "aeiou"}, "returns": 0},
    {"arguments": {"text": "tea", "letters": ""}, "fails": True},
]
SPEC: dict[str, Any] = {
    "name": "count_letters",
    "description": "Count how often any of some letters stands in a text.",
    "parameters": [
        {"name": "text", "type": "str", "description": "The text."},
        {"name": "letters", "type": "str", "description": "The letters to count."},
    ],
    "returns": "int: how often",
    "refuses": "no letter",
    "plan": "Count them.",
    "input": {"text": "banana", "letters": "a"},
    "files": [],
}
SOURCE = '''
from tea import ToolError, tool


@tool(effects="reads", idempotent=True, network=False)
async def count_letters(text: str, letters: str) -> int:
    """Count how often any of some letters stands in a text, whatever their case.

    Args:
        text: The text.
        letters: The letters to count.

    Examples:
        >>> await count_letters("Tea", "a")
        1
    """
    if not letters:
        raise ToolError("There is no letter to count.", fix="give one.")
    return sum(one in letters.casefold() for one in text.casefold())
'''
NONE = {"use": "", "arguments": None, "why": "none of them counts letters"}
RIGHT = {"right": True, "why": "b-a-n-a-n-a has three"}
TASK = "How many a has banana?"


class Play:
    """A home with a model giving the replies of a script by prompt."""

    def __init__(self) -> None:
        self.replies: dict[str, list[Any]] = {}
        self.said: Callable[[ModelRequest], Any] | None = None
        self.requests: list[ModelRequest] = []
        self.tea: Platform

    def answer(self, request: ModelRequest) -> Any:
        name = str(request.prompt).removeprefix("prompt:").partition("@")[0]
        self.requests.append(request)
        if self.said is not None:
            return self.said(request)
        return self.replies[name].pop(0)

    async def make(self, *replies: Any, task: str = TASK, **options: Any) -> Outcome:
        """Give the tool generator a task."""
        self.replies, self.requests = {"tool_generator": list(replies)}, []
        return await self.tea.run(task, agent="tool_generator", **options)

    async def names(self) -> list[str]:
        """The tools made here."""
        rows = await self.tea.tcp.list()
        return [one.name for one in rows if one.origin == "registry"]


@pytest_asyncio.fixture(loop_scope="module")
async def play() -> AsyncIterator[Play]:
    made = Play()
    async with platform(model=FunctionModel(made.answer)) as made.tea:
        yield made


def code(source: str) -> dict[str, str]:
    return {"source": source}


def calls(**named: Any) -> ModelResponse:
    made = [ToolCall(id=name, name=name, arguments=arguments) for name, arguments in named.items()]
    return ModelResponse(calls=tuple(made), finish="calls")


def records(outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (outcome.trace / "journal.jsonl").read_text().splitlines()]


async def test_a_tool_is_made_from_words_tested_and_registered_with_its_lineage(play: Play) -> None:
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    assert outcome.answer == (
        "The tool 'count_letters' was made, passed its tests, and can be called with text, letters. "
        'text="banana", letters="a" gives 3.'
    )
    made = await play.tea.tcp.info("count_letters")
    assert (made.lineage.how, made.lineage.run, made.lineage.task) == ("generator", outcome.run, TASK)
    assert [dict(one) for one in made.lineage.tests] == CASES
    assert not play.tea.trust(made.digest)
    assert (await play.tea.tcp.invoke("count_letters", {"text": "noon", "letters": "o"})).unwrap() == 2


@pytest.mark.slow
async def test_the_tests_are_asked_for_without_any_code(play: Play) -> None:
    await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    (asked,) = [one for one in play.requests if one.variables["stage"] == "test"]
    assert "def count_letters" not in json.dumps([one.model_dump(mode="json") for one in asked.messages])
    assert "trials" not in asked.variables


@pytest.mark.slow
async def test_a_failed_trial_is_discarded_with_its_reason_and_mended(play: Play) -> None:
    wrong = SOURCE.replace("in text.casefold()", "in text")
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(wrong), code(SOURCE), RIGHT)
    assert outcome.ok
    shown = play.requests[4].variables["trials"]
    assert shown[0]["trouble"].startswith("it did not pass the stage tests: call(")
    steps = [one["data"]["data"] for one in records(outcome) if one["data"].get("kind") == "step"]
    said = [one["thinking"] for one in steps if one["calls"][0]["name"] == "evaluate"]
    assert "tests failed" in said[0]
    assert said[1].endswith("task passed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([{**one, "returns": 6} if "returns" in one else one for one in CASES], "a stub that always gives 6"),
        ([*CASES[:2], {"arguments": {"text": "a", "letters": "a"}, "returns": 1}], "no case gives wrong input"),
        ([{**CASES[0]}, {**CASES[0]}, CASES[1], CASES[2]], "two cases have the same arguments"),
    ],
)
async def test_tests_that_a_stub_would_pass_are_asked_for_again(play: Play, cases: Any, words: str) -> None:
    outcome = await play.make(SPEC, NONE, {"cases": cases}, {"cases": CASES}, code(SOURCE), RIGHT)
    assert outcome.ok
    assert words in play.requests[3].variables["trouble"]


async def test_few_candidates_are_shown_in_short(play: Play) -> None:
    assert (await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)).ok
    (chosen,) = [one for one in play.requests if one.variables["stage"] == "choose"]
    shown = chosen.variables["candidates"]
    assert 0 < len(shown) <= 3
    assert not any("\n\n" in one["description"] for one in shown)
    assert all(isinstance(json.loads(one["parameters"]), dict) and len(one["parameters"]) <= 400 for one in shown)


@pytest.mark.slow
async def test_a_tool_that_never_passes_is_not_registered_after_ten_questions(play: Play) -> None:
    constant = SOURCE.replace("return sum(", "return 1 or sum(")
    said = {"analyse": SPEC, "choose": NONE, "test": {"cases": CASES}, "write": code(constant)}
    play.said = lambda request: said.get(str(request.variables["stage"]), {**DOUBT, "wrong": "code"})
    outcome = await play.tea.run(TASK, agent="tool_generator")
    assert not outcome.ok
    assert outcome.reason.startswith("No tool was made within 10 questions: it did not pass the stage tests")
    assert (len(play.requests), await play.names()) == (10, [])


@pytest.mark.slow
async def test_a_doubt_that_cannot_be_read_leaves_the_test_and_ends_nothing(play: Play) -> None:
    constant = SOURCE.replace("return sum(", "return 1 or sum(")
    answers = [SPEC, NONE, {"cases": CASES}, code(constant), code(constant), {}, {}, code(SOURCE), RIGHT]
    outcome = await play.make(*answers)
    assert outcome.ok, outcome.reason


@pytest.mark.slow
async def test_a_wrong_result_on_the_tasks_own_input_is_refused(play: Play) -> None:
    wrong = {"right": False, "why": "it counts case"}
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), wrong, wrong, code(SOURCE), RIGHT)
    assert outcome.ok
    assert play.requests[6].variables["trials"][0]["trouble"] == (
        "it passed its tests, and on the task's own input it gave 3: it counts case"
    )


@pytest.mark.parametrize(("text", "judged"), [("banana", 0), pytest.param("anna", 1, marks=pytest.mark.slow)])
async def test_a_result_that_a_passed_test_wants_for_the_same_input_is_not_asked_about(
    play: Play, text: str, judged: int
) -> None:
    same = {"arguments": {**SPEC["input"], "text": text}, "returns": text.count("a")}
    made = SOURCE.replace("count_letters", f"count_marks_{judged}")
    spec = {**SPEC, "name": f"count_marks_{judged}"}
    outcome = await play.make(spec, NONE, {"cases": [*CASES, same]}, code(made), RIGHT)
    assert outcome.ok, outcome.reason
    assert "gives 3" in outcome.answer
    assert [one.variables["stage"] for one in play.requests].count("judge") == judged


async def test_a_result_judged_wrong_by_mistake_is_judged_again(play: Play) -> None:
    wrong = {"right": False, "why": "it counts case"}
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), wrong, RIGHT)
    assert outcome.ok, outcome.reason
    assert "you judged this result to be wrong: it counts case." in shown(play.requests[5])
    assert "Your last tests" not in shown(play.requests[5])


@pytest.mark.slow
async def test_a_tool_that_is_there_is_used_in_place_of_a_new_one(play: Play) -> None:
    await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    use = {"use": "count_letters", "arguments": {"text": "bbb", "letters": "b"}, "why": "it counts letters"}
    outcome = await play.make({**SPEC, "name": "letter_count"}, use, task="How many b has bbb?")
    assert outcome.answer == 'The tool \'count_letters\' is there; text="bbb", letters="b" gives 3.'
    assert await play.names() == ["count_letters"]


@pytest.mark.slow
async def test_the_same_tool_under_another_name_is_no_second_tool(play: Play) -> None:
    await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    again = SOURCE.replace("count_letters", "letter_count").replace("sum(", "0 + sum(")
    outcome = await play.make({**SPEC, "name": "letter_count"}, NONE, {"cases": CASES}, code(again), RIGHT)
    assert "The tool 'count_letters' was there already" in str(outcome.answer)
    assert await play.names() == ["count_letters"]


@pytest.mark.slow
async def test_the_same_tool_in_the_words_of_a_sender_is_none_that_was_made_here(play: Play, tmp_path: Path) -> None:
    async with platform() as theirs:
        await theirs.tcp.register(SOURCE)
        await theirs.tcp.save(tmp_path / "theirs.json", ["count_letters"])
    await play.tea.tcp.load(tmp_path / "theirs.json")
    file = play.tea.home / "registry" / "tools" / "count_letters" / "versions" / "1.0.0.json"
    data = dict(unsealed(file))
    data["operations"]["call"]["parameters"]["properties"]["text"]["description"] = "All the files of the home."
    file.write_bytes(sealed(data))
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    assert "The tool 'count_letters' was there already" in str(outcome.answer)


@pytest.mark.slow
async def test_a_better_one_with_the_same_contract_becomes_a_version(play: Play) -> None:
    plain = SOURCE.replace("letters.casefold()", "letters")
    await play.make(SPEC, NONE, {"cases": CASES}, code(plain), RIGHT)
    more = [*CASES, {"arguments": {"text": "Aa", "letters": "A"}, "returns": 2}]
    outcome = await play.make(SPEC, NONE, {"cases": more}, code(SOURCE), RIGHT)
    assert "was improved" in str(outcome.answer)
    versions = await play.tea.tcp.history("count_letters")
    assert [(one.version, one.lineage.parent, len(one.lineage.tests)) for one in versions] == [
        ("1.0.0", None, 3), ("1.0.1", "1.0.0", 4),
    ]  # fmt: skip


@pytest.mark.slow
async def test_a_name_that_means_something_else_is_not_taken(play: Play) -> None:
    await play.tea.tcp.register(
        '''
from tea import tool


@tool(effects="reads", network=False)
async def count_letters(word: str) -> int:
    """Count the letters of a word.

    Args:
        word: The word.
    """
    return len(word)
'''
    )
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    assert "The tool 'count_letters_2' was made" in str(outcome.answer)
    assert (await play.tea.tcp.invoke("count_letters_2", {"text": "noon", "letters": "o"})).unwrap() == 2
    assert (await play.tea.tcp.info("count_letters")).version == "1.0.0"


@pytest.mark.slow
async def test_a_version_that_a_person_trusts_is_never_replaced(play: Play) -> None:
    plain = SOURCE.replace("letters.casefold()", "letters")
    await play.make(SPEC, NONE, {"cases": CASES}, code(plain), RIGHT)
    await play.tea.tcp.trust("count_letters")
    more = [*CASES, {"arguments": {"text": "Aa", "letters": "A"}, "returns": 2}]
    outcome = await play.make(SPEC, NONE, {"cases": more}, code(SOURCE), RIGHT)
    assert "The tool 'count_letters_2' was made" in str(outcome.answer)
    assert len(await play.tea.tcp.history("count_letters")) == 1


@pytest.mark.slow
async def test_every_agent_of_the_run_sees_a_new_tool_at_its_next_step_behind_all_others(play: Play) -> None:
    play.replies = {
        "planner": [
            calls(tool_generator={"task": TASK}),
            calls(count_letters={"text": "banana", "letters": "n"}),
            *2 * [calls(done={"answer": "2", "success": True, "evidence": [], "reason": ""})],
        ],
        "tool_generator": [SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT],
    }
    play.requests = []
    outcome = await play.tea.run("How many n has banana? Use the tool generator.")
    assert (outcome.ok, outcome.answer) == (True, "2")
    asked = [one for one in play.requests if "planner" in str(one.prompt)]
    first, then, *_ = ([tool["name"] for tool in one.tools] for one in asked)
    assert then == [*first, "count_letters"]
    taken = [one for one in records(outcome) if one["data"].get("kind") == "new_tools"]
    assert len(taken) == 1


@pytest.mark.slow
async def test_other_runs_find_it_from_their_start(play: Play) -> None:
    await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    play.replies = {"planner": [calls(done={"answer": "x", "success": False, "evidence": [], "reason": "no"})]}
    play.requests = []
    await play.tea.run("Count how often the letters e and a stand in a text.")
    assert "count_letters" in [one["name"] for one in play.requests[0].tools]


async def test_other_runs_are_not_offered_it_for_a_task_of_another_kind(play: Play) -> None:
    await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    play.replies = {"planner": [calls(done={"answer": "x", "success": False, "evidence": [], "reason": "no"})]}
    play.requests = []
    await play.tea.run("What does the local document varnholm_heat_survey.md say about Foundry Road? Quote it.")
    assert "count_letters" not in [one["name"] for one in play.requests[0].tools]


@pytest.mark.slow
async def test_a_replay_registers_nothing_and_gives_the_same(play: Play) -> None:
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    await play.tea.tcp.unregister("count_letters")
    moves = play.tea.versions.store.moves
    again = await play.tea.replay(outcome.run)
    assert (again.answer, play.tea.versions.store.moves) == (outcome.answer, moves)


@pytest.mark.slow
async def test_a_run_killed_between_registering_and_recording_makes_no_second_version(play: Play) -> None:
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    killed = rewrite(play.tea.home, outcome.run, _up_to_adoption)
    (play.tea.home / "traces" / killed / "workspace").mkdir()
    resumed = await play.tea.resume(killed)
    assert resumed.answer == outcome.answer
    assert len(await play.tea.tcp.history("count_letters")) == 1
    assert await play.names() == ["count_letters"]


@pytest.mark.slow
async def test_a_fork_before_the_tool_was_written_finds_the_one_that_is_there(play: Play) -> None:
    outcome = await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    (adoption,) = [
        one["key"] for one in records(outcome) if one["data"].get("target") == "adopt" and one["kind"] == "start"
    ]
    forked = await play.tea.fork(outcome.run, at=adoption)
    assert forked.ok, forked.reason
    assert await play.names() == ["count_letters"]


@pytest.mark.slow
async def test_two_runs_side_by_side_make_one_tool(play: Play) -> None:
    said = {"analyse": SPEC, "choose": NONE, "test": {"cases": CASES}, "write": code(SOURCE), "judge": RIGHT}
    play.said = lambda request: said[str(request.variables["stage"])]
    one, other = await asyncio.gather(*(play.tea.run(TASK, agent="tool_generator") for _ in range(2)))
    assert (one.ok, other.ok) == (True, True)
    assert await play.names() == ["count_letters"]
    assert len(await play.tea.tcp.history("count_letters")) == 1


WRONG = [{**CASES[0], "returns": 5}, *CASES[1:]]  # six letters of them stand in "Tea and toast"
DOUBT = {"quote": "How many a", "steps": "T, a, a, t, a, t: 6", "wrong": "test", "returns": 6, "fails": False}


async def test_a_wrong_test_failed_twice_alike_is_replaced_by_a_value_from_the_task(play: Play) -> None:
    other = SOURCE.replace("sum(", "0 + sum(")
    outcome = await play.make(SPEC, NONE, {"cases": WRONG}, code(SOURCE), code(other), DOUBT, RIGHT)
    assert outcome.ok, outcome.reason
    (asked,) = [one for one in play.requests if one.variables["stage"] == "doubt"]
    assert asked.variables["case"] == WRONG[0]
    shown = json.dumps([one.model_dump(mode="json") for one in asked.messages])
    assert TASK in shown
    assert "gave 6, and 5 was wanted" in shown
    assert "def count_letters" not in shown
    made = await play.tea.tcp.info("count_letters")
    assert dict(made.lineage.tests[0]) == {
        **CASES[0],
        "why": "5 was wanted before; T, a, a, t, a, t: 6",
    }
    steps = [one["data"]["data"] for one in records(outcome) if one["data"].get("kind") == "step"]
    (doubt,) = [one["results"][0] for one in steps if one["calls"][0]["name"] == "doubt"]
    assert (doubt["case"]["returns"], doubt["replaced"]["returns"], doubt["quote"]) == (5, 6, "How many a")


async def test_words_that_do_not_stand_in_the_task_are_asked_for_once_more(play: Play) -> None:
    other, misquoted = SOURCE.replace("sum(", "0 + sum("), {**DOUBT, "quote": "How many an a"}
    outcome = await play.make(SPEC, NONE, {"cases": WRONG}, code(SOURCE), code(other), misquoted, DOUBT, RIGHT)
    assert outcome.ok, outcome.reason
    first, second = (one for one in play.requests if one.variables["stage"] == "doubt")
    assert "does not stand" not in first.variables["trouble"]
    assert "The quote 'How many an a' does not stand in the task" in second.variables["trouble"]


@pytest.mark.slow
async def test_a_doubted_test_stands_where_other_words_than_those_of_the_task_are_quoted(play: Play) -> None:
    doubts = [{**DOUBT, "quote": "The code gave 6."}] * 2
    outcome = await play.make(SPEC, NONE, {"cases": WRONG}, code(SOURCE), code(SOURCE), *doubts, *[code(SOURCE)] * 4)
    assert not outcome.ok
    assert "The test was looked at again, and stands" in play.requests[7].variables["trials"][0]["trouble"]
    assert await play.names() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "doubt",
    [
        {**DOUBT, "wrong": "code"},
        {**DOUBT, "returns": 5},
        {**DOUBT, "returns": "six"},
        {**DOUBT, "quote": "", "steps": " "},
        {**DOUBT, "returns": None, "fails": True},  # one value would be left, given by a constant
    ],
)
async def test_a_doubted_test_stands_without_words_of_the_task_against_it(play: Play, doubt: Any) -> None:
    outcome = await play.make(SPEC, NONE, {"cases": WRONG}, code(SOURCE), code(SOURCE), doubt, *[code(SOURCE)] * 4)
    assert not outcome.ok
    assert "The test was looked at again, and stands" in play.requests[6].variables["trials"][0]["trouble"]
    assert [one.variables["stage"] for one in play.requests].count("doubt") == 1
    assert await play.names() == []


@pytest.mark.slow
async def test_the_same_source_stands_once_among_the_trials(play: Play) -> None:
    await play.make(SPEC, NONE, {"cases": WRONG}, *[code(SOURCE)] * 2, {**DOUBT, "wrong": "code"}, *[code(SOURCE)] * 4)
    assert [len(one.variables.get("trials", ())) for one in play.requests[-2:]] == [1, 1]


async def test_a_file_shown_in_part_says_how_much_is_left_out(play: Play, tmp_path: Path) -> None:
    tea = tmp_path / "tea.txt"
    tea.write_text("a line of tea é\n" * 200, encoding="utf-8")
    await play.make(SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT, files=[tea])
    (material,) = play.requests[0].variables["materials"]
    shown, _, mark = material["content"].rpartition("\n")
    assert shown == "\n".join(["a line of tea é"] * 93)
    assert mark == f"[{3_200 - len(shown):,} more characters are not shown here]"


def _up_to_adoption(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of a process killed while it registers."""
    (start,) = [n for n, one in enumerate(kept) if one["kind"] == "start" and one["data"].get("target") == "adopt"]
    return kept[: start + 1]


async def test_a_doubted_test_falls_by_common_knowledge_worked_out_in_steps(play: Play) -> None:
    other, doubt = SOURCE.replace("sum(", "0 + sum("), {**DOUBT, "quote": "", "returns": "6"}
    outcome = await play.make(SPEC, NONE, {"cases": WRONG}, code(SOURCE), code(other), doubt, RIGHT)
    assert outcome.ok, outcome.reason
    assert dict((await play.tea.tcp.info("count_letters")).lineage.tests[0])["returns"] == 6


@pytest.mark.parametrize("given", [None, {}])
async def test_an_empty_input_is_none(play: Play, given: Any) -> None:
    outcome = await play.make({**SPEC, "input": given}, NONE, {"cases": CASES}, code(SOURCE))
    assert outcome.ok, outcome.reason
    assert [one.variables["stage"] for one in play.requests] == ["analyse", "choose", "test", "write"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": "banana"}, "it lacks letters"),
        ({"text": "banana", "letters": "a", "case": True}, "'case' is not a parameter of the tool"),
        ({"text": "banana", "letters": ["a"]}, "'letters' has to be of type str"),
    ],
)
async def test_an_input_that_does_not_fit_the_parameters_is_asked_for_once_more(
    play: Play, given: Any, told: str
) -> None:
    wrong = {**SPEC, "input": given}
    outcome = await play.make(wrong, SPEC, NONE, {"cases": CASES}, code(SOURCE), RIGHT)
    assert outcome.ok, outcome.reason
    assert told in play.requests[1].messages[-1].model_dump_json()
    outcome = await play.make(wrong, wrong, NONE, {"cases": CASES}, code(SOURCE), task="How many a has ananas?")
    assert outcome.ok, outcome.reason


MENDED = {"right": False, "why": "the task asks about banana"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "mended", "judged", "answer"),
    [
        (
            {"text": "ananas", "letters": "a"},
            {"text": "banana", "letters": "a"},
            [RIGHT],
            ' text="banana", letters="a" gives 3.',
        ),
        (
            {"text": "banana", "letters": ""},
            {"text": "banana", "letters": "a"},
            [RIGHT],
            ' text="banana", letters="a" gives 3.',
        ),
        ({"text": "ananas", "letters": "a"}, {}, [], ""),
    ],
)
async def test_a_wrong_input_of_the_task_is_mended_and_the_tool_is_kept(
    play: Play, given: Any, mended: Any, judged: list[Any], answer: str
) -> None:
    told = {**MENDED, "input": mended}
    outcome = await play.make({**SPEC, "input": given}, NONE, {"cases": CASES}, code(SOURCE), told, *judged)
    assert outcome.ok, outcome.reason
    assert str(outcome.answer).endswith(f"can be called with text, letters.{answer}")
    judge = next(one for one in play.requests if one.variables["stage"] == "judge")
    assert judge.variables["given"] == given


async def test_a_tool_with_passed_tests_and_a_wrong_result_is_not_said_to_have_failed_its_tests(play: Play) -> None:
    said = {"analyse": SPEC, "choose": NONE, "test": {"cases": CASES}, "write": code(SOURCE), "judge": MENDED}
    play.said = lambda request: said[str(request.variables["stage"])]
    outcome = await play.tea.run(TASK, agent="tool_generator")
    told = "No tool was made within 10 questions: it passed its tests, and on the task's own input it gave 3"
    assert outcome.reason.startswith(told)


async def test_values_are_read_in_the_types_of_the_described_tool(play: Play) -> None:
    spec = {**SPEC, "input": {"text": 101, "letters": 1}}
    cases = [{**CASES[0], "returns": "6"}, {"arguments": {"text": 2772, "letters": 7}, "returns": 2.0}, *CASES[1:]]
    outcome = await play.make(spec, NONE, {"cases": cases}, code(SOURCE), RIGHT)
    assert outcome.ok, outcome.reason
    assert play.requests[-1].variables["given"] == {"text": "101", "letters": "1"}
    tests = [dict(one) for one in (await play.tea.tcp.info("count_letters")).lineage.tests]
    assert tests[:2] == [CASES[0], {"arguments": {"text": "2772", "letters": "7"}, "returns": 2}]


async def test_tests_that_want_another_type_than_the_tool_returns_are_asked_for_again(play: Play) -> None:
    wrong = [{**CASES[0], "returns": "six"}, *CASES[1:]]
    outcome = await play.make(SPEC, NONE, {"cases": wrong}, {"cases": CASES}, code(SOURCE), RIGHT)
    assert outcome.ok, outcome.reason
    assert 'wants "six", and the tool returns a value of type int' in play.requests[3].variables["trouble"]


async def test_source_comes_in_a_fence_and_what_is_left_out_is_empty(play: Play) -> None:
    spec = {name: value for name, value in SPEC.items() if name not in ("refuses", "plan", "files")}
    said = f"The tool:\n```python\n{SOURCE}```\nIt counts."
    outcome = await play.make(spec, {"use": ""}, {"cases": CASES}, said, {"right": "yes"})
    assert outcome.ok, outcome.reason
