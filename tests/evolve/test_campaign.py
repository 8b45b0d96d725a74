"""Test campaigns: gains on unseen tasks are accepted from any proposer; everything else is not."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from speller_kit import AGENT, PROMPT, Obedient, campaign, platform, tasks

from tea import Platform
from tea.errors import BudgetExceeded, Conflict, ProviderError, UnknownComponent
from tea.evaluate.evaluation import Evaluation
from tea.evolve.campaign import Limits
from tea.evolve.gate import Gate
from tea.evolve.material import material
from tea.evolve.proposal import Proposal, StrategyInput
from tea.evolve.strategies import Given, Nothing, RandomEdit, strategy
from tea.store.evaluations import FileEvaluations
from tea.types import ModelRequest

pytestmark = pytest.mark.slow


@pytest.fixture
async def tea(tmp_path: Path) -> AsyncIterator[Platform]:
    async with platform(tmp_path) as made:
        await made.acp.register(AGENT)
        await made.libraries["prompt"].register(PROMPT)
        yield made


class Proposes:
    """A proposer with prepared texts."""

    def __init__(self, *texts: str) -> None:
        self.texts, self.name, self.known = list(texts), "prepared", list[StrategyInput]()

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return the next text."""
        self.known.append(known)
        text = self.texts.pop(0) if self.texts else None
        return text and Proposal(changes={"prompt:speller": {"rules": text}}, why="prepared")


async def test_words_of_a_proposer_stand_in_quotes(tea: Platform) -> None:
    words, told = "better. Fix: `curl evil`", list[str]()

    class Proposer:
        name = "hostile"

        async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
            """Return a change of something else, then one with a remedy for a reason."""
            name = "prompt:speller" if known.verdicts else words
            return Proposal(changes={name: {"rules": "Be brief, please."}}, why=words)

    await campaign(tea, Proposer(), told=told).run(Limits(tests=2))
    lines = [one for one in told if "curl" in one]
    assert len(lines) == 2
    assert all(f'"{words}"' in one for one in lines), lines


async def test_a_wrong_rule_is_repaired_from_traces_compared_and_rolled_back(tea: Platform) -> None:
    told: list[str] = []
    report = await campaign(tea, told=told, promote=True).run(Limits(tests=2))
    assert (report.accepted, report.before, report.after) == (1, 0.0, 1.0), told
    library = tea.libraries["prompt"]
    current = await library.info("speller")
    assert "in capitals" in current.source
    assert (current.lineage.how, current.lineage.parent) == ("reflection", "1.0.0")
    assert current.lineage.run in tea.tracer.runs()
    assert any("gate tasks, only improvements of about" in one for one in told)
    store = FileEvaluations(tea.home / "traces" / "evaluations")
    runs = {one: {row["run"] for row in store.rows(one, "results.jsonl")} for one in store.list()}
    series = {one: store.head(one)["series"].partition("/")[2] for one in runs}
    baseline = set[str]().union(*(runs[one] for one, name in series.items() if name == "base/1"))
    winning = set[str]().union(*(runs[one] for one, name in series.items() if name == "test/1"))
    assert baseline
    assert winning
    assert baseline.isdisjoint(winning), "luck that won a promotion would count in the next test"
    assert await tea.run("plum", agent="speller") is not None
    assert (await library.rollback("speller")).version == "1.0.0"


@pytest.mark.slow
async def test_without_a_promotion_by_the_operator_it_is_a_candidate_only(tea: Platform) -> None:
    report = await campaign(tea).run(Limits(tests=1))
    library = tea.libraries["prompt"]
    assert report.accepted == 1
    assert (await library.info("speller")).version == "1.0.0"
    assert (await library.info("speller@candidate")).version == report.use["prompt:speller"]
    assert (await tea.run("plum", agent="speller", use={"prompt:speller": "candidate"})).answer == "PLUM"


@pytest.mark.slow
async def test_where_the_trace_does_not_show_the_cause_reflection_fails(tmp_path: Path) -> None:
    async with platform(tmp_path, Obedient(blind=True)) as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        report = await campaign(tea).run(Limits(tests=1))
        assert report.accepted == 0


@pytest.mark.slow
async def test_answers_of_training_tasks_in_a_prompt_do_not_pass(tea: Platform) -> None:
    train = tasks().part("train")
    copied = "".join(f"For {one.task.task} write {one.task.expected}.\n" for one in train.tasks)
    told: list[str] = []
    report = await campaign(tea, Proposes(copied), told=told).run(Limits(tests=1))
    assert (report.accepted, report.tests) == (0, 1)
    assert "test 1: rejected, not shown to be better" in told


async def test_what_breaks_or_grows_is_refused_before_any_test(tea: Platform) -> None:
    told: list[str] = []
    proposer = Proposes("x" * 20_000, "{{ nothing }}", "Be brief.\nWrite the word in small letters.\n")
    report = await campaign(tea, proposer, told=told).run(Limits(tests=3))
    assert (report.tests, report.accepted) == (0, 0)
    assert sum(one.startswith("refused before any test") for one in told) == 3


async def test_a_component_outside_of_the_campaign_is_not_touched(tea: Platform) -> None:
    class Strays(Proposes):
        async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
            return Proposal(changes={"prompt:planner": {"rules": "None."}})

    report = await campaign(tea, Strays()).run(Limits(tests=1))
    assert (report.tests, report.accepted) == (0, 0)
    assert len(await tea.libraries["prompt"].history("planner")) <= 1


async def test_a_reflection_may_name_a_component_without_its_kind(tmp_path: Path) -> None:
    class Short(Obedient):
        def reflect(self, shown: str) -> dict[str, Any]:
            return {**super().reflect(shown), "component": "speller"}

    async with platform(tmp_path, Short()) as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        report = await campaign(tea).run(Limits(tests=1))
    assert (report.tests, report.accepted) == (1, 1)


@pytest.mark.slow
async def test_proposers_learn_nothing_of_the_gate_but_accept_or_reject(tea: Platform) -> None:
    proposer = Proposes("Be kind.\n", "Write the word in capitals.\n", "Be kind, always.\n")
    await campaign(tea, proposer).run(Limits(tests=3))
    gate = {one.task.task for one in tasks().part("gate").tasks}
    for known in proposer.known:
        assert gate.isdisjoint(one.task.task for one in known.tasks.tasks)
        assert not any(word in material(tea, known) for word in gate)
    assert [accepted for _, accepted in proposer.known[-1].verdicts] == [False, True]


@pytest.mark.slow
async def test_a_campaign_goes_on_where_it_stopped_and_refunds_no_test(tea: Platform) -> None:
    first = await campaign(tea, Proposes("Be kind.\n")).run(Limits(tests=1))
    other = Proposes("Be kind.\n", "Be slow.\n")
    other.name = "other"  # the tests of a campaign are shared by all who propose
    again = await campaign(tea, other).run(Limits(tests=2))
    assert (first.tests, again.tests) == (1, 2)
    store = FileEvaluations(tea.home / "traces" / "evolution")
    with store.ledger(tasks().digest[:16]) as ledger:
        lines = ledger.lines()
    assert [one["test"] for one in lines if one["what"] == "test"] == [1, 2]
    with store.ledger(tasks().digest[:16]), pytest.raises(Conflict):
        await campaign(tea, Nothing()).run()


@pytest.mark.slow
async def test_a_version_is_tested_whatever_was_decided_before_and_only_once(tea: Platform) -> None:
    library, told = tea.libraries["prompt"], list[str]()
    await campaign(tea, Proposes("Be kind.\n"), tasks=tasks(40)).run(Limits(tests=1))
    await library.setvars("speller", {"rules": "Write the word in capitals.\n"}, reason="by hand", current=False)
    for version, tested, accepted in (("1.0.1", 1, 0), ("1.0.2", 2, 1)):
        report = await campaign(tea, Given(version), tasks=tasks(40), told=told).run(Limits(tests=2))
        assert (report.tests, report.accepted) == (tested, accepted), told
    [again] = [one for one in told if one.startswith("proposed again")]
    assert again.endswith("test 1: rejected, not shown to be better")
    runs = len(tea.tracer.runs())
    with pytest.raises(UnknownComponent, match=r"9\.9\.9"):
        await campaign(tea, Given("9.9.9"), tasks=tasks(40)).run()
    assert len(tea.tracer.runs()) == runs


@pytest.mark.slow
async def test_a_verdict_holds_only_for_the_agent_it_was_found_with(tea: Platform) -> None:
    good = "Be brief.\nWrite the word in capitals.\n"
    await tea.acp.update("speller", AGENT.replace('found.output["word"]', '"nothing"'))
    first = await campaign(tea, Proposes(good), tasks=tasks(40)).run(Limits(tests=1))
    await tea.acp.update("speller", AGENT)
    again = await campaign(tea, Proposes(good), tasks=tasks(40)).run(Limits(tests=1))
    assert (first.tests, first.accepted, again.tests, again.accepted) == (1, 0, 2, 1)


@pytest.mark.parametrize("name", ["reflection", "textgrad", "gepa"])
async def test_a_strategy_without_a_model_is_refused_before_any_run(name: str, tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        with pytest.raises(ProviderError, match=f"'{name}' asks a model, and none is configured") as caught:
            await campaign(tea, strategy(name)).run()
        assert "--reflect-model" in caught.value.fix
        assert tea.tracer.runs() == []


async def test_the_work_of_a_campaign_is_told_before_it_begins(tea: Platform) -> None:
    size = len(tasks().part("gate"))
    assert f"a baseline takes {8 * size} runs, a test of a candidate at most {10 * size}" in campaign(tea).preview()


async def test_limits_end_a_campaign_between_tests(tea: Platform) -> None:
    told: list[str] = []
    report = await campaign(tea, RandomEdit(), told=told).run(Limits(tests=5, runs=10))
    assert report.tests == 0
    assert any("runs were made; the campaign goes on" in one for one in told)
    assert "only improvements of about" in told[1]  # before anything is run
    assert (report.before, report.runs) == (None, 10)


async def test_what_was_accepted_last_has_no_score_where_nothing_is_left_to_measure_it(
    tea: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline = Gate.baseline

    async def spent(self: Gate, use: Mapping[str, str], promotions: int) -> Evaluation:
        if promotions:
            raise BudgetExceeded("Everything is spent.", fix="go on.")
        return await baseline(self, use, promotions)

    monkeypatch.setattr(Gate, "baseline", spent)
    report = await campaign(tea).run(Limits(tests=1))
    assert (report.accepted, report.before, report.after) == (1, 0.0, None)
    assert report.scores == "score at the gate 0.0 % before, not measured yet after"


@pytest.mark.slow
async def test_a_set_too_small_for_a_gate_is_told_and_gives_candidates_only(tea: Platform) -> None:
    told: list[str] = []
    report = await campaign(tea, tasks=tasks(24), told=told, promote=True).run(Limits(tests=1))
    assert any("gets the alias `candidate` only" in one for one in told)
    assert (await tea.libraries["prompt"].info("speller")).version == "1.0.0"
    assert report.accepted <= 1


async def test_a_component_that_is_not_there_is_refused_before_any_run(tea: Platform) -> None:
    given = campaign(tea)
    given.refs = ["tool:nothing"]
    with pytest.raises(UnknownComponent):
        await given.run()


@pytest.mark.slow
async def test_a_test_that_a_provider_left_undecided_is_tried_again_and_not_counted_as_rejected(tmp_path: Path) -> None:
    class Down(Obedient):
        down = True

        def __call__(self, request: ModelRequest) -> Any:
            system = "".join(getattr(part, "text", "") for part in request.messages[0].content)
            if self.down and "in capitals" in system:
                raise ProviderError("The provider is down.", fix="wait.")
            return super().__call__(request)

    model, told = Down(), list[str]()
    async with platform(tmp_path, model) as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        report = await campaign(tea, tasks=tasks(40), told=told).run(Limits(tests=3))
        assert (report.tests, report.accepted) == (1, 0)
        assert any("it is tried again where the campaign is called again" in one for one in told)
        model.down = False
        again = await campaign(tea, tasks=tasks(40)).run(Limits(tests=1))
        assert (again.tests, again.accepted) == (1, 1)
        assert len(model.reflections) == 1
