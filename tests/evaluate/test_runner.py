"""Test evaluations: every task is a run, none is left out, nothing is paid twice, and stopped ones go on."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from journals import rewrite_in_place

from tea import Agent, Context, Platform, Result, Task, tool
from tea.errors import BadInput, BudgetExceeded, Conflict, Damaged, ProviderError, UnknownComponent
from tea.evaluate import Evaluation, Plan, ScoredRun, Spending, TaskSet, compare, evaluate, summarise
from tea.evaluate.evaluation import read_evaluation
from tea.evaluate.judge import Judging
from tea.evaluate.ledger import is_own
from tea.evaluate.outputs import figures_text
from tea.evaluate.report import comparison_of
from tea.evaluate.tables import table_of
from tea.source.seal import Seal
from tea.store.evaluations import FileEvaluations, read_ledger
from tea.testing import FunctionModel, TestModel
from tea.types import ModelRequest

STUB = '''
from tea import Agent, Context, Result, Task


class Stub(Agent):
    """Answer with the task, or fail as it says."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer at once."""
        word = task.text.partition(" ")[0]
        if word == "fail":
            return Result(answer=task.text, ok=False, reason="it did not work")
        if word == "crash":
            raise ValueError("broken")
        if word == "ask":
            return Result(answer=await ctx.person("really?"))
        return Result(answer=task.text{shout})
'''


def source(shout: str = "") -> str:
    return STUB.replace("{shout}", shout)


def tasks(*words: str, **fields: Any) -> TaskSet:
    return TaskSet.of([{"task": word, "expected": word, "scorer": "exact", **fields} for word in words], name="words")


@pytest.fixture
async def tea(tmp_path: Path) -> AsyncIterator[Platform]:
    async with Platform(tmp_path / "home", state=tmp_path / "state", model=TestModel()) as made:
        await made.acp.register(source())
        yield made


STUBBED = Plan(agent="stub")


def only(found: Evaluation) -> dict[str, ScoredRun]:
    return {one.answer or one.id: one for one in found.runs}


async def test_failed_runs_count_with_their_kind_whatever_they_answered(tea: Platform) -> None:
    found = await evaluate(tea, tasks("right", "fail now", "crash now", "ask now"), STUBBED)
    kinds = sorted(one.kind for one in found.runs)
    assert kinds == ["", "CallFailed", "failed", "waiting"]
    figures = summarise(found).whole
    assert (figures.score.mean, figures.runs) == (0.25, 4)
    assert figures.failures == {"failed": 1, "CallFailed": 1, "waiting": 1}
    assert next(one for one in found.runs if one.kind == "failed").answer == "fail now"
    assert all(one.run in tea.tracer.runs() for one in found.runs)


async def test_every_run_is_an_ordinary_run_with_its_pins_and_budget(tea: Platform) -> None:
    found = await evaluate(tea, tasks("right"), Plan(agent="stub", budget={"steps": 3}))
    head = next(tea.tracer.records(found.runs[0].run)).data
    assert head["task"]["budget"]["steps"] == 3
    assert head["task"]["use"]["agent:stub"] == found.components["agent:stub"]
    assert (await tea.replay(found.runs[0].run)).answer == "right"


async def test_nothing_is_run_twice_until_something_that_counts_changes(tea: Platform) -> None:
    first = await evaluate(tea, tasks("a", "b"), STUBBED)
    again = await evaluate(tea, tasks("a", "b"), STUBBED)
    more = await evaluate(tea, tasks("a", "b", "c"), STUBBED, epochs=2)
    assert (first.fresh, again.fresh, more.fresh) == (2, 0, 4)
    assert again.runs == first.runs
    assert again.id == first.id != more.id
    assert (await evaluate(tea, tasks("a"), STUBBED, series="other")).fresh == 1
    assert (await evaluate(tea, tasks("a"), Plan(agent="stub", budget={"steps": 9}))).fresh == 1
    await tea.acp.update("stub", source(" + '!'"))
    changed = await evaluate(tea, tasks("a", "b"), STUBBED)
    assert changed.fresh == 2
    assert changed.plan_digest != first.plan_digest
    chosen = await evaluate(tea, tasks("a", "b"), Plan(agent="stub", use={"agent:stub": "1.0.0"}))
    assert [one.score for one in chosen.runs] == [1.0, 1.0]
    assert (await evaluate(tea, tasks("a", "b"), Plan(agent="stub@1.0.0"))).components == chosen.components


async def test_another_scorer_scores_the_same_runs_anew(tea: Platform) -> None:
    first = await evaluate(tea, tasks("Right"), STUBBED)
    other = await evaluate(tea, tasks("Right", expected="right"), STUBBED)
    loose = await evaluate(tea, tasks("Right", expected="right", scorer="normalized"), STUBBED)
    assert [one.fresh for one in (first, other, loose)] == [1, 0, 0]
    assert [one.runs[0].score for one in (first, other, loose)] == [1.0, 0.0, 1.0]
    assert first.runs[0].run == loose.runs[0].run


async def test_a_cancelled_evaluation_goes_on_where_it_stopped(tmp_path: Path) -> None:
    waits, begun = asyncio.Event(), asyncio.Event()

    async def answer(request: ModelRequest) -> dict[str, Any]:
        if "slow" in str(request.variables):
            begun.set()
            await waits.wait()
        return {"word": "said"}

    asking = STUB.replace("return Result(answer=task.text{shout})", "return Result(answer=await self.said(ctx, task))")
    asking += '''
    async def said(self, ctx: Context, task: Task) -> str:
        """Ask the model."""
        reply = await ctx.ask("saying", {"text": task.text})
        return reply.output["word"]
'''
    prompt = (
        "---\nname: saying\ndescription: Says.\nvariables: {text: string}\n"
        "output: {type: object, properties: {word: {type: string}}, required: [word]}\n---\n"
        "# system\n\nSay.\n\n# message\n\n{{ text }}\n"
    )
    asked = TaskSet.of([{"task": word, "expected": "said"} for word in ("quick", "slow")])
    async with Platform(tmp_path / "home", state=tmp_path / "state", model=FunctionModel(answer)) as tea:
        await tea.libraries["prompt"].register(prompt)
        await tea.acp.register(asking)
        evaluating = asyncio.ensure_future(evaluate(tea, asked, STUBBED, concurrency=1))
        await begun.wait()
        evaluating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await evaluating
        before = set(tea.tracer.runs())
        await tea.acp.update("stub", source(" + '!'"))  # what is registered meanwhile does not mix in
        waits.set()
        found = await evaluate(tea, asked, STUBBED, concurrency=1)
    assert {one.run for one in found.runs} == before
    assert [one.score for one in found.runs] == [1.0, 1.0]
    assert found.fresh == 1


async def test_two_at_once_do_not_mix(tea: Platform) -> None:
    with (
        FileEvaluations(tea.home / "traces" / "evaluations").ledger(
            (await evaluate(tea, tasks("a"), STUBBED)).plan_digest
        ),
        pytest.raises(Conflict, match="Another process"),
    ):
        await evaluate(tea, tasks("b"), STUBBED)


async def test_a_line_cut_short_is_dropped_and_its_run_resumed(tea: Platform) -> None:
    first = await evaluate(tea, tasks("a", "b"), STUBBED, concurrency=1)
    ledger = tea.home / "traces" / "evaluations" / "ledgers" / f"{first.plan_digest}.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    ended = next(place for place, line in enumerate(lines) if b'"ended"' in line and first.runs[1].run.encode() in line)
    ledger.write_bytes(b"".join(lines[:ended]) + lines[ended][:20])
    again = await evaluate(tea, tasks("a", "b"), STUBBED)
    assert [one.run for one in again.runs] == [one.run for one in first.runs]
    assert [one.score for one in again.runs] == [1.0, 1.0]
    assert len(tea.tracer.runs()) == 2


async def test_an_interrupted_run_with_a_head_from_elsewhere_is_begun_anew(tea: Platform) -> None:
    first = await evaluate(tea, tasks("a"), STUBBED)
    path = ledger_of(tea, first)
    path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(keepends=True) if b'"begun"' in line))

    def unlimited(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        head = records[0]["data"]
        end = {**records[-1], "data": {**records[-1]["data"], "answer": "forged"}}
        return [{**records[0], "data": {**head, "task": {**head["task"], "budget": {}}}}, *records[1:-1], end]

    rewrite_in_place(tea.home, first.runs[0].run, unlimited)
    (again,) = (await evaluate(tea, tasks("a"), STUBBED)).runs
    assert again.run != first.runs[0].run
    assert (again.answer, again.score) == ("a", 1.0)


def ledger_of(tea: Platform, found: Evaluation) -> Path:
    return tea.home / "traces" / "evaluations" / "ledgers" / f"{found.plan_digest}.jsonl"


@pytest.mark.parametrize("what", ["graded", "ended", "begun"])
async def test_a_line_that_this_account_did_not_write_counts_for_nothing(tea: Platform, what: str) -> None:
    first = await evaluate(tea, tasks("a"), STUBBED)
    path = ledger_of(tea, first)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    other = await evaluate(tea, tasks("b"), STUBBED, series="x")
    changes = {"graded": {"score": 0.0}, "ended": {"answer": "forged"}, "begun": {"run": other.runs[0].run}}
    last = {"begun": 1, "ended": 2, "graded": 3}[what]
    kept = [{**one, **changes[what]} if one["what"] == what else one for one in lines[:last]]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in kept))
    told: list[str] = []
    again = await evaluate(tea, tasks("a"), STUBBED, tell=told.append)
    assert ([one.score for one in again.runs], [one.answer for one in again.runs]) == ([1.0], ["a"])
    assert told == ["1 line of the ledger was not written by this account, and does not count"]


async def test_a_line_counts_in_the_ledger_that_it_was_written_for_alone(tea: Platform) -> None:
    first = await evaluate(tea, tasks("a"), STUBBED)
    written = ledger_of(tea, first).read_bytes()
    await tea.acp.update("stub", source(" + '!'"))
    second = await evaluate(tea, tasks("b"), STUBBED)
    ledger_of(tea, second).write_bytes(ledger_of(tea, second).read_bytes() + written)
    found = await evaluate(tea, tasks("a"), STUBBED)
    assert [one.answer for one in found.runs] == ["a!"]


async def test_versions_of_an_evaluation_begun_elsewhere_are_not_used(tea: Platform) -> None:
    first = await evaluate(tea, tasks("a"), STUBBED)
    head = tea.home / "traces" / "evaluations" / first.id / "evaluation.json"
    head.write_text(json.dumps({**json.loads(head.read_text()), "finished": False}))
    await tea.acp.update("stub", source(" + '!'"))
    found = await evaluate(tea, tasks("a"), STUBBED)
    assert [one.answer for one in found.runs] == ["a!"]


async def test_the_last_evaluation_is_told_by_numbers_and_not_by_the_clock(tea: Platform) -> None:
    found = [await evaluate(tea, tasks("a"), STUBBED, series=one) for one in "xyz"]
    found.append(await evaluate(tea, tasks("a"), STUBBED, series="x"))  # looked at again
    store = FileEvaluations(tea.home / "traces" / "evaluations")
    for days, one in enumerate(found[1:]):
        os.utime(store.folder(one.id) / "evaluation.json", (10**9 - days, 10**9 - days))
    assert store.list() == [one.id for one in (found[0], found[2], found[1])]
    (tea.home / "traces" / "evaluations" / ".counter").unlink()
    last = await evaluate(tea, tasks("b"), STUBBED)
    assert store.find("last") == last.id
    (store.folder(last.id) / "evaluation.json").write_text("[]")
    assert store.find("last") == found[0].id
    assert (await evaluate(tea, tasks("b"), STUBBED)).runs == last.runs


async def test_a_plan_that_cannot_be_used_runs_nothing(tea: Platform) -> None:
    for plan in (Plan(agent="nobody"), Plan(agent="stub", use={"tool:none": "1.0.0"}), Plan(without=("none",))):
        with pytest.raises(UnknownComponent):
            await evaluate(tea, tasks("a"), plan)
    with pytest.raises(BadInput):
        await evaluate(tea, tasks("a"), Plan(agent="stub", budget={"steps": 0}))
    with pytest.raises(BadInput):
        await evaluate(tea, tasks("a"), STUBBED, epochs=0)
    assert tea.tracer.runs() == []


class Down:
    """A model out of reach until it is up."""

    up = False

    async def complete(self, request: ModelRequest, config: Any, call_tool: Any) -> Any:
        """Answer once it is up."""
        if not self.up:
            raise ProviderError("It is down.", fix="wait.")
        return await TestModel(answer="a").complete(request, config, call_tool)


WORKER = '''
from tea import Agent, Context, Result, Task, work


class Worker(Agent):
    """Work in the loop."""

    agents = ("helper",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return await work(ctx, task, prompt="tool_calling", tools=("done", "shout"), agents=self.agents)
'''


@tool(effects="reads", idempotent=True, network=False)
async def shout(text: str) -> str:
    """Say it louder.

    Args:
        text: What.
    """
    return text.upper()


class Helper(Agent):
    """Help with anything."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Help."""
        return Result(answer="helped")


async def test_what_a_provider_broke_is_told_apart_and_run_again_when_asked(tmp_path: Path) -> None:
    model = Down()
    async with Platform(tmp_path / "home", state=tmp_path / "state", model=model) as tea:
        await tea.tcp.register(shout)
        await tea.acp.register(Helper)
        await tea.acp.register(WORKER)
        plan = Plan(agent="worker")
        broken = await evaluate(tea, tasks("a"), plan)
        assert (broken.runs[0].infrastructure, broken.runs[0].kind) == (True, "ProviderError")
        told = "1 runs failed by a provider or this machine, and count; --retry runs them again"
        assert told in figures_text(broken, summarise(broken), tmp_path)
        model.up = True
        assert (await evaluate(tea, tasks("a"), plan)).runs[0].score == 0
        assert (await evaluate(tea, tasks("a"), plan, retry=True)).runs[0].score == 1


async def test_what_is_switched_off_is_neither_offered_nor_callable(tmp_path: Path) -> None:
    for without, offered in ((), {"helper", "shout"}), (("helper", "tool:shout"), set[str]()):
        model = TestModel(answer="a")
        async with Platform(tmp_path / f"home{len(without)}", state=tmp_path / "state", model=model) as tea:
            await tea.tcp.register(shout)
            await tea.acp.register(Helper)
            await tea.acp.register(WORKER)
            found = await evaluate(tea, tasks("help me shout a"), Plan(agent="worker", without=without))
        assert {str(one["name"]) for one in model.requests[0].tools} & {"helper", "shout"} == offered
        assert found.plan.without == without


CALLER = '''
from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Call a helper by name."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call."""
        response = await ctx.acp.invoke("helper", Task(text="x"))
        return Result(answer=str(response.error["code"] if response.error else response.result.answer))
'''


async def test_an_agent_that_calls_by_name_is_refused_what_is_switched_off(tea: Platform) -> None:
    await tea.acp.register(Helper)
    await tea.acp.register(CALLER)
    assert (await tea.run("x", agent="caller")).answer == "helped"
    outcome = await tea.run("x", agent="caller", without=["agent:helper"])
    assert outcome.answer == "UnknownComponent"
    assert (await tea.replay(outcome.run)).answer == "UnknownComponent"


@tool(effects="reads", idempotent=True, network=False)
async def closed_parts(ctx: Context) -> list[str]:
    """Return the closed parts of the web."""
    settings = await ctx.web()
    return [*settings["deny"], *settings["canaries"]]


ASKER = """
from tea import Agent, Context, Result, Task


class Asker(Agent):
    '''Tell what is closed.'''

    async def run(self, ctx: Context, task: Task) -> Result:
        '''Ask a tool.'''
        return Result(answer=(await ctx.tcp.invoke("closed_parts", {})).unwrap())
"""


async def test_the_hosts_and_canaries_of_a_set_are_closed_to_its_runs_alone(tea: Platform) -> None:
    await tea.tcp.register(closed_parts)
    await tea.acp.register(ASKER)
    row = {"task": "x", "expected": ["data.example", "mark-1"], "scorer": "list"}
    found = await evaluate(tea, TaskSet.of([row], deny=["data.example"], canaries=["mark-1"]), Plan(agent="asker"))
    assert found.runs[0].score == 1
    assert (await tea.run("x", agent="asker")).answer == []


async def test_a_judge_is_asked_once_for_each_answer_and_paid_apart(tmp_path: Path) -> None:
    asked: list[str] = []

    def judge(request: ModelRequest) -> str:
        asked.append(str(request.messages[0].content[0]))
        return "reasoning: fine\ncorrect: yes"

    async with Platform(tmp_path / "home", state=tmp_path / "state", model=FunctionModel(judge)) as tea:
        await tea.acp.register(source())
        judged = tasks("words", expected="other words", scorer="judge")
        first = await evaluate(tea, judged, STUBBED)
        await evaluate(tea, judged, STUBBED)
        assert len(asked) == 1
        await evaluate(tea, judged, STUBBED, judging=Judging(template="{criterion} {answer}"))
    assert first.runs[0].score == 1
    assert len(asked) == 2
    assert "other words words" in asked[1]


async def test_a_judge_that_fails_scores_nothing_and_the_runs_are_kept(tmp_path: Path) -> None:
    up = False

    def judge(request: ModelRequest) -> str:
        if not up:
            raise ProviderError("down", fix="wait")
        return "correct: yes"

    async with Platform(tmp_path / "home", state=tmp_path / "state", model=FunctionModel(judge)) as tea:
        await tea.acp.register(source())
        judged = tasks("a", "b", scorer="judge")
        with pytest.raises(ProviderError):
            await evaluate(tea, judged, STUBBED)
        runs = set(tea.tracer.runs())
        up = True
        found = await evaluate(tea, judged, STUBBED)
    assert (found.fresh, {one.run for one in found.runs}) == (0, runs)


async def test_an_evaluation_is_read_back_and_compared_with_the_runs_behind(tea: Platform) -> None:
    words = [f"word {number}" for number in range(12)]
    first = await evaluate(tea, tasks(*words, tags=["all"]), STUBBED, epochs=2)
    await tea.acp.update("stub", source(" if task.text != 'word 3' else 'x'"))
    second = await evaluate(tea, tasks(*words, "new", tags=["all"]), STUBBED, epochs=2)
    store = FileEvaluations(tea.home / "traces" / "evaluations")
    assert read_evaluation(store, first.id).runs == first.runs
    assert read_evaluation(store, "last").means() == second.means()
    found = compare(first, second)
    assert (found.tasks, found.worse, found.better, found.same) == (12, 1, 0, 11)
    assert found.difference.mean == pytest.approx(-1 / 12)
    (one,) = found.differences
    assert (one.before, one.after) == (1.0, 0.0)
    assert set(one.runs_after) <= set(tea.tracer.runs())
    assert found.new_failures == (one.id,)
    assert len(found.only_after) == 1
    assert "agent:stub" in found.changed
    back = compare(second, first)
    assert back.difference.mean == -found.difference.mean
    assert back.p == pytest.approx(found.p_worse)


async def test_two_tags_are_two_rows_at_the_end_of_an_evaluation(tea: Platform, tmp_path: Path) -> None:
    tags = ["a\u202e", "a<U+202E>"]
    found = await evaluate(tea, TaskSet.of([{"task": "Say word.", "expected": "word", "tags": tags}]), STUBBED)
    shown = figures_text(found, summarise(found), tmp_path)
    assert ("\na<U+202E> " in shown, "\na<U+003C>U+202E> " in shown) == (True, True)


async def test_a_task_in_words_keeps_its_control_characters(tea: Platform) -> None:
    before = await evaluate(tea, tasks("\x1cwords \n  of\x85\u2028 odd \x1f"), STUBBED)
    await tea.acp.update("stub", source("+ 'x'"))
    after = await evaluate(tea, tasks("\x1cwords \n  of\x85\u2028 odd \x1f"), STUBBED)
    shown = comparison_of(before, after, compare(before, after))
    assert "<U+001C>words of<U+0085><U+2028> odd <U+001F>" in shown


async def test_no_word_of_an_evaluation_makes_a_line_of_a_comparison_or_a_table(tea: Platform) -> None:
    found = await evaluate(tea, tasks("word"), STUBBED)
    odd = "a\n\n# 100 % better"
    told = replace(compare(found, found), only_after=(odd,), new_failures=(odd,))
    shown = comparison_of(found, found, told) + table_of(
        "strategies", [replace(found, plan=replace(found.plan, model=odd))]
    )
    assert shown.count("100 % better") == 3
    assert shown.count(': "a') == 2
    assert not any(line.startswith("# 100") for line in shown.splitlines())


@pytest.mark.parametrize(
    ("name", "value"),
    [("usd", "x"), ("score", "1"), ("epoch", 1.5), ("run", None), ("tags", [1]), ("judging", []), ("usd", 1e308),
     ("score", 1e308), ("seconds", 1e308), ("tokens", -1)],
)  # fmt: skip
async def test_results_of_other_types_are_damage_in_one_line(tea: Platform, name: str, value: object) -> None:
    found = await evaluate(tea, tasks("a"), STUBBED)
    path = tea.home / "traces" / "evaluations" / found.id / "results.jsonl"
    (row,) = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(json.dumps({**row, name: value}) + "\n")
    with pytest.raises(Damaged, match=rf"is damaged: {name}.* of a result: [^\n]+") as raised:
        read_evaluation(FileEvaluations(tea.home / "traces" / "evaluations"), found.id)
    assert "\n" not in raised.value.problem


@pytest.mark.parametrize(
    ("name", "value"),
    [("plan.label", 1), ("plan.agent", [1]), ("plan.model", {}), ("plan.use", []), ("name", 1), ("epochs", "x"),
     ("model", [1]), ("components", "x"), ("begun", None), ("plan", "x"), ("plan.closed", {"deny": 1})],
)  # fmt: skip
async def test_a_head_of_other_types_is_damage_in_one_line(tea: Platform, name: str, value: object) -> None:
    found = await evaluate(tea, tasks("a"), STUBBED)
    path = tea.home / "traces" / "evaluations" / found.id / "evaluation.json"
    head = json.loads(path.read_text())
    *outer, last = name.split(".")
    (head[outer[0]] if outer else head)[last] = value
    path.write_text(json.dumps(head))
    with pytest.raises(Damaged, match=rf"is damaged: {name}.* of its head: [^\n]+") as raised:
        read_evaluation(FileEvaluations(tea.home / "traces" / "evaluations"), found.id)
    assert "\n" not in raised.value.problem


async def test_odd_names_in_a_head_of_others_are_quoted(tea: Platform) -> None:
    found = await evaluate(tea, tasks("a"), STUBBED)
    path = tea.home / "traces" / "evaluations" / found.id / "evaluation.json"
    head = json.loads(path.read_text())
    head["plan"]["use"] = {"x. All is well, run `it`": 1}
    path.write_text(json.dumps(head))
    with pytest.raises(Damaged, match=r'is damaged: plan\.use\."x\. All is well, run `it`" of its head: '):
        read_evaluation(FileEvaluations(tea.home / "traces" / "evaluations"), found.id)


@pytest.mark.parametrize("form", ["levels", "benchmarks", "ablation", "strategies", "efficiency"])
async def test_an_evaluation_without_results_is_put_into_no_table(tea: Platform, form: str) -> None:
    found = await evaluate(tea, tasks("a"), STUBBED)
    with pytest.raises(BadInput, match=f"The evaluation {found.id} has no results"):
        table_of(form, [replace(found, runs=())])


async def test_what_is_written_is_json_line_by_line(tea: Platform) -> None:
    found = await evaluate(tea, tasks("a", "fail b"), STUBBED)
    path = tea.home / "traces" / "evaluations" / found.id / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["score"] for row in rows] == [1.0, 0.0]
    assert ScoredRun.from_json(rows[1]) == found.runs[1]


async def test_a_budget_ends_an_evaluation_cleanly_and_the_next_call_goes_on(tea: Platform) -> None:
    words = tasks(*(f"word {number}" for number in range(6)))
    for left in (4, 2):
        with pytest.raises(BudgetExceeded, match=f"2 runs; {left} of 6 runs are left"):
            await evaluate(tea, words, STUBBED, concurrency=1, spending=Spending(runs=2))
    found = await evaluate(tea, words, STUBBED, spending=Spending(runs=3))
    assert (found.fresh, len(found.runs)) == (2, 6)
    assert (await evaluate(tea, words, STUBBED, spending=Spending(runs=1))).fresh == 0


def test_lines_of_others_in_a_ledger_cost_next_to_nothing(tmp_path: Path) -> None:
    path, seal = tmp_path / "ledger.jsonl", Seal(tmp_path / "state")
    path.write_bytes(b"x\n" * 1_000_000 + b'{"mark":"a"}\n' * 200_000)
    begun = time.process_time()
    lines = read_ledger(path)
    assert not [one for one in lines if is_own(path.stem, one, seal)]
    assert (len(lines), time.process_time() - begun < 3) == (200_000, True)


@pytest.mark.parametrize("form", ["levels", "efficiency"])
async def test_a_table_of_as_many_tags_as_runs_is_made_in_linear_time(tea: Platform, form: str) -> None:
    one = await evaluate(tea, tasks("a"), STUBBED)
    many = replace(one, runs=tuple(replace(one.runs[0], tags=(f"t{number}",)) for number in range(10_000)))
    begun = time.process_time()
    assert "T9999" in table_of(form, [many]).replace("t9999", "T9999")
    assert time.process_time() - begun < 2
